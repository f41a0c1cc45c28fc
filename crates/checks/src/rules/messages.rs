//! The messages of commits and pull requests in a command line.

use std::borrow::Cow;

use brief_dialects::rule_check::MessageKind;
use brief_syntax::shell::{ShellOrigin, ShellWord, SimpleCommand, parse_commands};

use super::work::WorkMessage;

/// The options of a program that give a message, in the order in which they become a text.
struct MessageOptions {
    program: &'static str,
    words: &'static [&'static str],
    kind: MessageKind,
    /// The options with a text, letters and long names.
    texts: &'static [&'static str],
    /// The options with a file, `-` for the input.
    files: &'static [&'static str],
    /// The options that keep the message of another commit.
    kept: &'static [&'static str],
}

const PROGRAMS: &[MessageOptions] = &[
    MessageOptions {
        program: "git",
        words: &["commit"],
        kind: MessageKind::Commit,
        texts: &["-m", "--message"],
        files: &["-F", "--file"],
        kept: &["--no-edit", "-C", "--reuse-message"],
    },
    MessageOptions {
        program: "gh",
        words: &["pr", "create"],
        kind: MessageKind::PullRequest,
        texts: &["-t", "--title", "-b", "--body"],
        files: &["-F", "--body-file"],
        kept: &["-f", "--fill", "--fill-first", "--fill-verbose"],
    },
    MessageOptions {
        program: "gh",
        words: &["pr", "edit"],
        kind: MessageKind::PullRequest,
        texts: &["-t", "--title", "-b", "--body"],
        files: &["-F", "--body-file"],
        kept: &[],
    },
    MessageOptions {
        program: "glab",
        words: &["mr", "create"],
        kind: MessageKind::PullRequest,
        texts: &["-t", "--title", "-d", "--description"],
        files: &[],
        kept: &["-f", "--fill"],
    },
];

/// Finds the messages that a command line gives.
pub(super) fn find_messages<'w>(line: &str) -> Vec<WorkMessage<'w>> {
    let is_candidate = ["commit", "pr", "mr"].iter().any(|word| line.contains(word));
    if !is_candidate {
        return Vec::new();
    }
    let commands = parse_commands(line);
    let reader = MessageReader { line, commands: &commands };
    commands.iter().filter_map(|command| reader.read_message(command)).collect()
}

struct MessageReader<'l> {
    line: &'l str,
    commands: &'l [SimpleCommand],
}

impl MessageReader<'_> {
    fn read_message<'w>(&self, command: &SimpleCommand) -> Option<WorkMessage<'w>> {
        let run = command.direct_invocation()?;
        let program = run.program()?;
        let words = run.operands();
        let options = PROGRAMS
            .iter()
            .find(|known| known.program == program && has_first_words(words, known.words))?;
        let mut parts = Vec::new();
        let mut is_known = true;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if options.kept.contains(&word.text.as_str()) {
                is_known = false;
                continue;
            }
            let Some((name, value)) = split_option(&word.text) else { continue };
            let is_text = options.texts.contains(&name.as_str());
            if !is_text && !options.files.contains(&name.as_str()) {
                continue;
            }
            let value = match value {
                Some(value) => word.literal().map(|_| value.to_owned()),
                None => match words.next() {
                    Some(value) if is_text => self.word_text(value),
                    Some(value) if value.text == "-" => command
                        .input
                        .as_ref()
                        .filter(|input| input.is_literal)
                        .map(|input| input.text.clone()),
                    _ => None,
                },
            };
            is_known &= value.is_some();
            parts.extend(value);
        }
        // Without a message, an editor asks for it.
        let text = (is_known && !parts.is_empty()).then(|| Cow::Owned(parts.join("\n\n")));
        Some(WorkMessage { kind: options.kind, text })
    }

    /// Returns the text of a word: what is written, or the here-document in `$(cat <<'EOF' …)`.
    fn word_text(&self, word: &ShellWord) -> Option<String> {
        if let Some(text) = word.literal() {
            return Some(text.to_owned());
        }
        let inner = word.text.trim();
        let is_whole = inner.starts_with("$(") && inner.ends_with(')');
        if !is_whole || self.line.get(word.span.range()).is_none() {
            return None;
        }
        let is_inside = |command: &&SimpleCommand| {
            command.origin == ShellOrigin::Substitution
                && word.span.start <= command.span.start
                && command.span.end <= word.span.end
        };
        let mut inside = self.commands.iter().filter(is_inside);
        let (only, none) = (inside.next()?, inside.next());
        let is_cat = only.words.len() == 1 && only.words[0].literal() == Some("cat");
        let input = only.input.as_ref()?;
        (none.is_none() && is_cat && input.is_literal).then(|| input.text.clone())
    }
}

/// Returns whether the first words that are no options are these.
fn has_first_words(words: &[ShellWord], expected: &[&str]) -> bool {
    let mut words = words.iter();
    let mut expected = expected.iter();
    let mut next = expected.next();
    while let (Some(wanted), Some(word)) = (next, words.next()) {
        match word.text.as_str() {
            "-C" | "-c" | "-R" | "--repo" | "--git-dir" | "--work-tree" => {
                words.next();
            }
            text if text.starts_with('-') => {}
            text if text == *wanted => next = expected.next(),
            _ => return false,
        }
    }
    next.is_none()
}

/// Returns the name of an option and its value: `--message=x`, `-mx`, and `-am`, whose last letter takes the next word.
fn split_option(text: &str) -> Option<(String, Option<&str>)> {
    if text.starts_with("--") {
        return Some(match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value)),
            None => (text.to_owned(), None),
        });
    }
    let cluster = text.strip_prefix('-').filter(|cluster| !cluster.is_empty())?;
    let at = cluster.find(['m', 'F', 't', 'b', 'd'])?;
    let is_cluster = cluster[..at].chars().all(|letter| letter.is_ascii_alphabetic());
    let (name, rest) = (format!("-{}", &cluster[at..=at]), &cluster[at + 1..]);
    is_cluster.then_some((name, (!rest.is_empty()).then_some(rest)))
}
