//! Line editing at a terminal.
//!
//! It serves terminals only: other standard input is one text and no conversation. The history is
//! kept until the end of the process, in memory only.

use std::io;

use brief_agent::conversation::LineSource;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Behavior, Config, Context, Editor, Helper};

const PROMPT: &str = "> ";

/// The lines that a person types at a terminal.
pub(crate) struct TypedLines {
    editor: Editor<Commands, MemHistory>,
}

impl TypedLines {
    /// Takes over the terminal. Command names complete after a slash.
    pub(crate) fn new(commands: impl IntoIterator<Item = String>) -> io::Result<TypedLines> {
        // Standard output may be redirected while a person is at the terminal.
        let config = Config::builder().behavior(Behavior::PreferTerm).auto_add_history(true);
        let mut editor =
            Editor::with_history(config.build(), MemHistory::new()).map_err(io::Error::other)?;
        let names = commands.into_iter().chain(["help".to_owned(), "quit".to_owned()]);
        editor.set_helper(Some(Commands { names: names.collect() }));
        Ok(TypedLines { editor })
    }
}

impl LineSource for TypedLines {
    fn next_line(&mut self) -> io::Result<Option<String>> {
        match self.editor.readline(PROMPT) {
            Ok(line) => Ok(Some(line)),
            Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

/// The commands of an agent, for completion.
struct Commands {
    names: Vec<String>,
}

impl Commands {
    /// Returns the commands that begin with the text before the cursor.
    fn matching_commands(&self, typed: &str) -> Vec<String> {
        let Some(start) = typed.strip_prefix('/') else { return Vec::new() };
        let start = start.to_lowercase();
        let names = self.names.iter().filter(|name| name.to_lowercase().starts_with(&start));
        names.map(|name| format!("/{name} ")).collect()
    }
}

impl Completer for Commands {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((0, self.matching_commands(line.get(..position).unwrap_or_default())))
    }
}

impl Hinter for Commands {
    type Hint = String;
}

impl Highlighter for Commands {}

impl Validator for Commands {}

impl Helper for Commands {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_complete_after_a_slash() {
        let commands = Commands { names: vec!["Test".to_owned(), "teach".to_owned()] };
        assert_eq!(commands.matching_commands("/te"), ["/Test ", "/teach "]);
        assert_eq!(commands.matching_commands("/TES"), ["/Test "]);
        assert!(commands.matching_commands("te").is_empty());
        assert!(commands.matching_commands("/test it").is_empty());
    }
}
