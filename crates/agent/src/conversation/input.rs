//! Parses a user's line: a message to the model, or a command of the agent.

use brief_dialects::agents::{Agent, InvokeError};
use brief_syntax::near_miss::find_nearest;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    Nothing,
    /// A message to the model: the line, or the text of a command.
    Say(String),
    /// A request for the list of commands.
    Help,
    Quit,
}

/// A line that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The agent has no such command.
    #[error("unknown command `/{name}`")]
    Unknown {
        /// The name that the user typed.
        name: String,
        nearest: Option<String>,
    },
    /// The arguments of the command are not valid.
    #[error(transparent)]
    Invoke(#[from] InvokeError),
    /// A quote is not closed.
    #[error("unclosed quote")]
    Quote,
}

impl InputError {
    pub fn help(&self) -> String {
        match self {
            InputError::Unknown { nearest: Some(name), .. } => format!("did you mean `/{name}`?"),
            InputError::Unknown { .. } => {
                "type `/help` to list commands, or start with `//` to send text that begins with a slash"
                    .to_owned()
            }
            InputError::Invoke(_) => "give every argument; quote those with spaces".to_owned(),
            InputError::Quote => "close it, or put it inside a word".to_owned(),
        }
    }
}

/// Parses a line. `/name arguments` calls a command of the agent, `//` begins a text with a slash, and any
/// other line is a message. `/help` and `/quit` are ours, unless the agent has its own.
///
/// A path is not a command: a first word with another slash in it is text.
pub fn read_line(agent: &Agent, line: &str) -> Result<Input, InputError> {
    let text = line.trim();
    if text.is_empty() {
        return Ok(Input::Nothing);
    }
    let Some(command) = text.strip_prefix('/') else { return Ok(Input::Say(text.to_owned())) };
    if command.starts_with('/') {
        return Ok(Input::Say(command.to_owned()));
    }
    let (name, rest) = command.split_at(command.find(char::is_whitespace).unwrap_or(command.len()));
    if name.is_empty() || name.contains('/') {
        return Ok(Input::Say(text.to_owned()));
    }
    if let Some(command) = agent.find_command(name) {
        return Ok(Input::Say(command.invoke(&split_arguments(rest)?)?));
    }
    match name.to_lowercase().as_str() {
        "help" => Ok(Input::Help),
        "quit" | "exit" => Ok(Input::Quit),
        _ => {
            let names: Vec<&str> = agent
                .commands
                .iter()
                .map(|command| command.name.as_str())
                .chain(["help", "quit"])
                .collect();
            let nearest = find_nearest(name, &names).map(str::to_owned);
            Err(InputError::Unknown { name: name.to_owned(), nearest })
        }
    }
}

/// Splits arguments at blanks. A quote counts only at the beginning of a word, so that `don't` is one word;
/// in quotes, `\` escapes a quote or itself.
fn split_arguments(text: &str) -> Result<Vec<String>, InputError> {
    let mut words = Vec::new();
    let mut letters = text.chars().peekable();
    loop {
        while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
        let Some(&first) = letters.peek() else { return Ok(words) };
        let mut word = String::new();
        if first == '"' || first == '\'' {
            letters.next();
            loop {
                match letters.next().ok_or(InputError::Quote)? {
                    letter if letter == first => break,
                    '\\' if letters.peek().is_some_and(|&next| next == first || next == '\\') => {
                        word.extend(letters.next());
                    }
                    letter => word.push(letter),
                }
            }
        }
        while let Some(letter) = letters.next_if(|letter| !letter.is_whitespace()) {
            word.push(letter);
        }
        words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brief_dialects::agents::{AgentOptions, load_text};
    use brief_syntax::Source;
    use brief_system::MemorySystem;
    use std::sync::Arc;

    fn agent() -> Agent {
        let text = "---\ncommands:\n  - name: test\n    description: d\n    body: Test $1 with $2.\n  \
                    - name: all\n    description: d\n    body: \"All: $ARGUMENTS\"\n---\n# A\n";
        let source = Arc::new(Source::from_bytes("/p/agents/a_b.agent.md", text.into()));
        let loaded = load_text(&MemorySystem::new("/p"), &source, &AgentOptions::default());
        loaded.agent().unwrap().clone()
    }

    fn said(line: &str) -> String {
        match read_line(&agent(), line) {
            Ok(Input::Say(text)) => text,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_line_is_said_or_calls_a_command() {
        assert_eq!(said("  hello /test \n"), "hello /test");
        assert_eq!(said("/TEST parse jest extra"), "Test parse with jest.");
        assert_eq!(said("/test 'two words' \"a \\\"b\\\"\""), "Test two words with a \"b\".");
        assert_eq!(said("/all don't  stop"), "All: don't stop");
        assert_eq!(said("/all \"\" $1"), "All:  $1");
        assert_eq!(said("//test is a command"), "/test is a command");
        assert_eq!(said("/etc/hosts is broken"), "/etc/hosts is broken");
        assert_eq!(said("/ alone"), "/ alone");
        assert_eq!(read_line(&agent(), " \n"), Ok(Input::Nothing));
        assert_eq!(read_line(&agent(), "/help"), Ok(Input::Help));
        assert_eq!(read_line(&agent(), "/exit"), Ok(Input::Quit));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let error = |line: &str| read_line(&agent(), line).unwrap_err();
        assert_eq!(error("/test one").to_string(), "the command `test` needs `$2`");
        assert_eq!(error("/tset a b").help(), "did you mean `/test`?");
        assert_eq!(error("/test 'one two"), InputError::Quote);
    }
}
