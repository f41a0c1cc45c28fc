//! Scripts of the project that commands of hooks run.

use std::path::PathBuf;

use brief_profiles::Reaction;
use brief_syntax::{Span, rules};
use brief_system::paths::cleaned;

use super::values::{FileCheck, Spot};

/// Programs that run the script that they are given.
const INTERPRETERS: [&str; 16] = [
    "bash", "sh", "zsh", "dash", "python", "python3", "node", "bun", "deno", "ruby", "perl", "php",
    "pwsh", "source", ".", "tsx",
];

/// Variables of clients that stand for the directory of the project or of the plugin.
const BASES: [&str; 8] = [
    "$CLAUDE_PROJECT_DIR",
    "${CLAUDE_PROJECT_DIR}",
    "$CLAUDE_PLUGIN_ROOT",
    "${CLAUDE_PLUGIN_ROOT}",
    "$GEMINI_PROJECT_DIR",
    "${GEMINI_PROJECT_DIR}",
    "${extensionPath}",
    "$CURSOR_PROJECT_DIR",
];

/// A command whose script is a file of the project: it has to be there. Only what is surely a path is looked at.
pub(super) fn check(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    let Some(wanted) = script_path(text) else { return };
    let path: PathBuf = cleaned(&check.base.join(&wanted));
    if !path.starts_with(check.base) || (check.is_there)(&path) {
        return;
    }
    let message = format!("the command runs `{wanted}`, which is not there");
    check.report(rules::client::MISSING_FILE, span, &message, Reaction::Accepts);
    let help = spot.help.unwrap_or("correct the path, or add the script");
    check.advise(help.to_owned(), None);
}

/// Returns the path of the script that a command runs, below the project or the plugin.
fn script_path(command: &str) -> Option<String> {
    let mut words = shell_words(command)?.into_iter();
    let first = words.next()?;
    let name = first.rsplit('/').next().unwrap_or(&first);
    let word = if INTERPRETERS.contains(&name) {
        // An option may take the next word; `-c` and `-m` run something else.
        let next = words.next()?;
        if next.starts_with('-') {
            return None;
        }
        next
    } else {
        first
    };
    for base in BASES {
        if let Some(rest) = word.strip_prefix(base) {
            let rest = rest.strip_prefix('/')?;
            return is_plain_path(rest).then(|| rest.to_owned());
        }
    }
    let is_own = word.starts_with("./") || word.starts_with('.') && word[1..].contains('/');
    (is_own && !word.starts_with("..") && is_plain_path(&word))
        .then(|| word.strip_prefix("./").unwrap_or(&word).to_owned())
}

fn is_plain_path(path: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
    !path.is_empty() && path.chars().all(is_plain) && !path.ends_with('/')
}

/// Splits the first command of a line into words; `None` where the shell does more than that before it: a `cd`, a
/// variable that is set, a test.
fn shell_words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for letter in command.trim().chars() {
        match (letter, quote) {
            ('"' | '\'', None) => quote = Some(letter),
            (_, Some(open)) if letter == open => quote = None,
            (';' | '&' | '|' | '>' | '<' | '\n', None) => break,
            (' ' | '\t', None) => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            ('\\' | '`', _) => return None,
            _ => word.push(letter),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    let first = words.first()?;
    let is_other =
        matches!(first.as_str(), "cd" | "if" | "test" | "[" | "[[" | "for" | "while" | "(")
            || first.contains('=');
    (quote.is_none() && !is_other).then_some(words)
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
        assert_eq!(found("bash ${CLAUDE_PLUGIN_ROOT}/a.sh").as_deref(), Some("a.sh"));
        for unsure in [
            "npm test",
            "bash -c './a.sh'",
            "cd x && ./a.sh",
            "X=1 ./a.sh",
            "~/a.sh",
            "/bin/a",
            "./$NAME.sh",
            "../a.sh",
            "node_modules/.bin/x",
            "[ -f ./a ] && ./a",
            "`pwd`/a",
        ] {
            assert_eq!(found(unsure), None, "{unsure}");
        }
    }
}
