//! Scripts of the project that commands of hooks run.

use std::path::PathBuf;

use brief_profiles::{BUILTIN, Reaction};
use brief_syntax::shell::{ShellOrigin, ShellWord, WordForm, parse_commands};
use brief_syntax::{Span, rules};
use brief_system::paths::clean_path;

use super::values::{FileCheck, Spot};

/// Programs that run the script that they are given.
const INTERPRETERS: [&str; 16] = [
    "bash", "sh", "zsh", "dash", "python", "python3", "node", "bun", "deno", "ruby", "perl", "php",
    "pwsh", "source", ".", "tsx",
];

/// A command whose script is a file of the project: it has to be there. Only what is surely a path is looked at.
pub(super) fn check_script(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    let Some(wanted) = script_path(text) else { return };
    let path: PathBuf = clean_path(&check.base.join(&wanted));
    if !path.starts_with(check.base) || (check.is_there)(&path) {
        return;
    }
    let message = format!("the command runs `{wanted}`, which does not exist");
    check.report(rules::client::MISSING_FILE, span, &message, Reaction::Accepts);
    let help = spot.help.unwrap_or("correct the path, or add the script");
    check.add_advice(help.to_owned(), None);
}

/// Returns the path of the script that a command runs, below the project or the plugin. `None` where the shell does more
/// before it: a `cd`, a variable that is set, a test, a substitution.
fn script_path(text: &str) -> Option<String> {
    let commands = parse_commands(text);
    let command = commands.first()?;
    let is_first = command.span.start + text.trim_start().len() == text.len();
    // On Windows a backslash is a part of a path.
    if !is_first
        || command.origin != ShellOrigin::Text
        || !command.assignments.is_empty()
        || text.get(command.span.range())?.contains('\\')
    {
        return None;
    }
    let (first, rest) = command.words.split_first()?;
    let name = first.text.rsplit('/').next()?;
    // An option may take the next word; `-c` and `-m` run something else.
    let word = if INTERPRETERS.contains(&name) { rest.first()? } else { first };
    own_path(word)
}

/// Returns the path in a word that is surely below the project or the plugin.
fn own_path(word: &ShellWord) -> Option<String> {
    if let WordForm::Expansion = word.form {
        let rest = strip_base(&word.text)?.strip_prefix('/')?;
        return is_plain_path(rest).then(|| rest.to_owned());
    }
    let path = word.literal()?;
    let is_own = path.starts_with("./") || path.starts_with('.') && path[1..].contains('/');
    (is_own && !path.starts_with("..") && is_plain_path(path))
        .then(|| path.strip_prefix("./").unwrap_or(path).to_owned())
}

/// Returns what follows the variable of a client at the beginning of a path: `$NAME` or `${NAME}`.
fn strip_base(path: &str) -> Option<&str> {
    let variable = path.strip_prefix('$')?;
    let hooks = BUILTIN.clients.iter().filter_map(|client| client.hook.as_ref());
    hooks.flat_map(|hook| &hook.bases).find_map(|base| match variable.strip_prefix('{') {
        Some(braced) => braced.strip_prefix(&**base)?.strip_prefix('}'),
        None => variable.strip_prefix(&**base),
    })
}

fn is_plain_path(path: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
    !path.is_empty() && path.chars().all(is_plain) && !path.ends_with('/')
}

#[cfg(test)]
mod tests {
    use super::script_path;

    #[test]
    fn the_script_of_a_command() {
        let found = |command: &str| script_path(command);
        assert_eq!(found("./scripts/a.sh --x").as_deref(), Some("scripts/a.sh"));
        assert_eq!(
            found("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/a.sh").as_deref(),
            Some(".claude/hooks/a.sh")
        );
        assert_eq!(found("python3 .claude/hooks/a.py").as_deref(), Some(".claude/hooks/a.py"));
        for base in [
            "${CLAUDE_PLUGIN_ROOT}",
            "$GEMINI_PROJECT_DIR",
            "${extensionPath}",
            "$CURSOR_PROJECT_DIR",
        ] {
            assert_eq!(found(&format!("bash {base}/a.sh")).as_deref(), Some("a.sh"), "{base}");
        }
        for unsure in [
            "npm test",
            "bash -c './a.sh'",
            "cd x && ./a.sh",
            "X=1 ./a.sh",
            "~/a.sh",
            "/bin/a",
            "./$NAME.sh",
            "$NAME/a.sh",
            "${CLAUDE_PLUGIN_ROOT/a.sh",
            "../a.sh",
            "node_modules/.bin/x",
            "[ -f ./a ] && ./a",
            "`pwd`/a",
            "(./a.sh)",
            "if ./a.sh; then b; fi",
            "./a\\b.sh",
            "'$CLAUDE_PROJECT_DIR/a.sh'",
        ] {
            assert_eq!(found(unsure), None, "{unsure}");
        }
    }
}
