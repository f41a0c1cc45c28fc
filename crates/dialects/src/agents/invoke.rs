//! Calls of a command: its text with the arguments substituted once.

use std::collections::BTreeSet;

use brief_syntax::limits;

use super::model::Command;
use super::resolve::quote_names;

/// A call that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvokeError {
    /// The text uses arguments that were not given.
    #[error("the command `{command}` needs {}", quote_names(.missing))]
    Missing {
        command: String,
        /// The missing placeholders, as written, each once and in order.
        missing: Vec<String>,
    },
    /// The text would be too long.
    #[error("the text of the command `{command}` would exceed {limit} bytes")]
    TooLong {
        command: String,
        /// The limit in bytes.
        limit: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandPiece<'t> {
    Literal(&'t str),
    Positional(&'t str),
    All,
}

impl Command {
    /// Returns the text with the arguments. Their content is not expanded again.
    pub fn invoke(&self, arguments: &[String]) -> Result<String, InvokeError> {
        let mut text = String::with_capacity(self.body.len());
        let mut missing: BTreeSet<(usize, &str)> = BTreeSet::new();
        let all = arguments.join(" ");
        for piece in split_command_pieces(&self.body) {
            match piece {
                CommandPiece::Literal(literal) => text.push_str(literal),
                CommandPiece::All => text.push_str(&all),
                CommandPiece::Positional(digits) => match find_argument(arguments, digits) {
                    Some(value) => text.push_str(value),
                    // In the order of the numbers.
                    None => {
                        missing.insert((digits.len(), digits));
                    }
                },
            }
            if text.len() > limits::PROMPT_BYTES {
                let (command, limit) = (self.name.clone(), limits::PROMPT_BYTES);
                return Err(InvokeError::TooLong { command, limit });
            }
        }
        if missing.is_empty() {
            return Ok(text);
        }
        let missing = missing.into_iter().map(|(_, digits)| format!("${digits}")).collect();
        Err(InvokeError::Missing { command: self.name.clone(), missing })
    }

    /// Returns the highest position in the text; 0 without any.
    pub fn highest_argument(&self) -> usize {
        self.argument_positions().last().copied().unwrap_or_default()
    }

    /// Returns the positions in the text, each once and in order.
    pub fn argument_positions(&self) -> BTreeSet<usize> {
        let positions = split_command_pieces(&self.body).filter_map(|piece| match piece {
            CommandPiece::Positional(digits) => Some(digits.parse().unwrap_or(usize::MAX)),
            _ => None,
        });
        positions.collect()
    }

    /// Returns whether the text uses `$ARGUMENTS`, all arguments at once.
    pub fn takes_all(&self) -> bool {
        split_command_pieces(&self.body).any(|piece| piece == CommandPiece::All)
    }
}

fn find_argument<'a>(arguments: &'a [String], digits: &str) -> Option<&'a str> {
    let index = digits.parse::<usize>().ok()?.checked_sub(1)?;
    arguments.get(index).map(String::as_str)
}

/// Y40: splits a text at `$` with digits that do not begin with a zero, and at `$ARGUMENTS` without
/// a letter, digit or `_` after it.
fn split_command_pieces(text: &str) -> impl Iterator<Item = CommandPiece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, length) = match rest.strip_prefix('$') {
            Some(after) => {
                let digits =
                    after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                if digits > 0 && !after.starts_with('0') {
                    (CommandPiece::Positional(&after[..digits]), 1 + digits)
                } else if let Some(next) = after.strip_prefix("ARGUMENTS")
                    && !next.starts_with(is_word)
                {
                    (CommandPiece::All, "$ARGUMENTS".len())
                } else {
                    // Only the dollar sign: another placeholder may follow directly.
                    (CommandPiece::Literal("$"), 1)
                }
            }
            None => {
                let end = rest.find('$').unwrap_or(rest.len());
                (CommandPiece::Literal(&rest[..end]), end)
            }
        };
        rest = &rest[length..];
        Some(piece)
    })
}
