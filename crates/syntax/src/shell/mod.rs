//! Reads command lines of a shell: which programs run, with which words, files, input and directory.
//!
//! This is a reader and not a shell: it expands and runs nothing. A text that it understands only in part (a quote
//! that is never closed, a nesting without end) gives what stands before, and says so ([`ShellScript::is_complete`]).
//! `reader` finds the commands, `redirect` their files and input, `word` reads one word, `wrapper` knows the programs
//! that run another program; [`effects`] knows the files that a command uses.
//!
//! The arguments of slash commands are no shell: a quote counts there at the beginning of a word only, so that `don't` is
//! one word. Their documents say so, and `brief_dialects::tasks` and an agent's conversation read them.
//!
//! **Why it is our own.** Hooks read the command line of each call of an agent, lint marks words in documents, and
//! both need the byte span of a word and an answer for lines that are no valid program. Measured on eight lines of
//! agents, release build:
//!
//! | reader | packages | build, CPU | program | a line | a line that is not finished |
//! | --- | --- | --- | --- | --- | --- |
//! | this module | 0 | 2 s | +63 KB | 1.9 µs | read as far as it goes |
//! | `brush-parser` 0.4 | 94 | 50 s | +228 KB | 3.5 µs | an error and no tree; on 100,000 parentheses it did not end in 170 s |
//! | `tree-sitter-bash` 0.25 | 26, and a C compiler | 24 s | +1.4 MB | 8.6 µs | a tree with error nodes |
//!
//! `yash-syntax` is under the GPL; `shlex` splits words and gives neither spans nor commands. Compared with bash 5.2,
//! 1,493 random lines have the same words, and 249 random scripts run the same commands in the same directories.

pub mod effects;
mod reader;
mod redirect;
#[cfg(test)]
mod tests;
mod word;
mod wrapper;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use crate::Span;

pub use wrapper::{Invocation, InvokedThrough};

/// The most commands that are read from one text.
const MOST_COMMANDS: usize = 4_096;

/// The most substitutions and inner command lines around each other.
const MOST_NESTED: usize = 16;

/// The longest directory that `cd` is followed to, in bytes.
const LONGEST_DIRECTORY: usize = 4_096;

/// The commands of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellScript {
    /// The commands, each after those in its words: `a $(b)` is `b`, `a`. Inner lines follow their command.
    pub commands: Vec<SimpleCommand>,
    /// The directory of the shell at the end, relative to its start; `None` if it is not known.
    pub directory: Option<Arc<Path>>,
    /// False if a quote or a bracket is not closed, or the text is nested too deeply or has too many commands.
    pub is_complete: bool,
}

/// A program with its words and files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The variables that are set before the program, or by themselves.
    pub assignments: Vec<ShellAssignment>,
    /// The program and its arguments. Empty for assignments alone, and for the redirections of a group.
    pub words: Vec<ShellWord>,
    /// The files that are connected to it.
    pub redirects: Vec<ShellRedirect>,
    /// Its input, if the text has it: a here-document or a here-string.
    pub input: Option<HereText>,
    /// Its place in the text.
    pub span: Span,
    /// The directory that it runs in, relative to the start of the shell; `None` if it is not known.
    pub directory: Option<Arc<Path>>,
    /// What joins it to the command before it.
    pub connector: Connector,
    /// The place where it stands.
    pub origin: ShellOrigin,
    /// The number of substitutions and inner lines around it.
    pub depth: usize,
    /// False in an inner line with escapes, in which every span is that of the whole line.
    pub has_exact_spans: bool,
}

/// What joins a command to the one before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Connector {
    /// `;`, `&`, a line break, a keyword, or nothing.
    #[default]
    Sequence,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`: its input is the output of the command before it.
    Pipe,
}

/// The place where a command stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ShellOrigin {
    /// The text itself.
    #[default]
    Text,
    /// `$(…)`, backticks, `<(…)` or `>(…)`.
    Substitution,
    /// A word or an input that a shell runs: `bash -c '…'`, `eval '…'`, `sh <<EOF`.
    InnerLine,
}

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellWord {
    /// The text without quotes and escapes. Expansions stand in it as written.
    pub text: String,
    /// Its place in the text, quotes included.
    pub span: Span,
    /// How certain the text is.
    pub form: WordForm,
    /// True if any part of it is quoted or escaped.
    pub is_quoted: bool,
    /// The offset at which its text stands as it is.
    verbatim: Option<usize>,
}

/// How certain the text of a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WordForm {
    /// The text is what the program gets.
    Literal,
    /// The shell replaces it by names of files, or by several words: `*`, `?`, `[…]`, `{a,b}`.
    Pattern,
    /// The shell replaces a part of it by a text that is not known: `$x`, `$(…)`, `~`.
    Expansion,
}

/// A variable that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellAssignment {
    /// The name of the variable.
    pub name: String,
    /// The whole, `NAME=value`.
    pub word: ShellWord,
}

/// A file that is connected to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellRedirect {
    /// What is done with it.
    pub kind: RedirectKind,
    /// The file.
    pub target: ShellWord,
}

/// What a redirection does with its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
}

/// The text of a here-document or a here-string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HereText {
    /// The text; of a here-document as it stands there, without the tabs that `<<-` removes.
    pub text: String,
    /// False if the shell replaces parts of it.
    pub is_literal: bool,
}

/// Returns the commands of a text, those of substitutions and inner lines included.
pub fn parse_commands(text: &str) -> Vec<SimpleCommand> {
    parse_script(text, Some(Path::new("").into())).commands
}

/// Reads a text that a shell in `directory` runs; `None` if the directory is not known.
pub fn parse_script(text: &str, directory: Option<Arc<Path>>) -> ShellScript {
    reader::read_shell_script(text, directory)
}

/// Returns a text as one word of a shell, in quotes if it needs them.
pub fn quote_shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-@:".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
    }
}

impl ShellWord {
    /// Returns the text, if it is what the program gets.
    pub fn literal(&self) -> Option<&str> {
        (self.form == WordForm::Literal).then_some(self.text.as_str())
    }

    /// Returns whether the program takes it for an option, as far as its beginning shows.
    pub fn is_option(&self) -> bool {
        self.text.starts_with('-') && self.text.len() > 1
    }

    /// Returns the name in `NAME=value`, `NAME+=value` or `NAME[0]=value`.
    fn assigned_name(&self) -> Option<&str> {
        let end =
            self.text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')?;
        let (name, rest) = self.text.split_at(end);
        let rest = match rest.strip_prefix('[') {
            Some(index) => index.split_once(']')?.1,
            None => rest,
        };
        let is_name = !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit());
        (is_name && (rest.starts_with('=') || rest.starts_with("+="))).then_some(name)
    }
}

impl SimpleCommand {
    /// Returns whether its input is the output of another command.
    pub fn is_piped_into(&self) -> bool {
        self.connector == Connector::Pipe
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty()
            && self.assignments.is_empty()
            && self.redirects.is_empty()
            && self.input.is_none()
    }
}
