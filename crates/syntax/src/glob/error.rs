//! What can be wrong with the text of a glob, said so that its author can fix it.

use super::MAX_PATTERN_BYTES;

/// A pattern that is not a glob: where it goes wrong, and why.
///
/// The text of the error reads on its own. A caller that underlines the place in the source takes
/// [`offset`](GlobError::offset) and [`problem`](GlobError::problem) instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}, at byte {offset}")]
pub struct GlobError {
    offset: usize,
    problem: GlobProblem,
}

impl GlobError {
    pub(super) fn new(offset: usize, problem: GlobProblem) -> GlobError {
        GlobError { offset, problem }
    }

    /// The byte of the pattern at which the problem starts.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The same problem in a longer text, of which the pattern was cut off after `bytes` bytes.
    #[must_use]
    pub fn shifted(self, bytes: usize) -> GlobError {
        GlobError { offset: self.offset + bytes, ..self }
    }

    /// What is wrong there; its text also says what to write instead.
    pub fn problem(&self) -> GlobProblem {
        self.problem
    }
}

/// The ways in which a pattern fails to be a glob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobProblem {
    /// `[` without its `]`.
    #[error(r"unclosed '[' (write '\[' for a literal bracket)")]
    UnclosedClass,
    /// `[]` or `[!]`; a `]` that directly follows the bracket closes it, unlike in a shell.
    #[error(r"nothing between '[' and ']' (write '\]' for a literal bracket inside them)")]
    EmptyClass,
    /// A character that ends an alternative, inside a class that itself stands inside braces.
    /// Braces are divided before classes are read, so this would cut the class in two.
    #[error(r"'{0}' inside '[...]' inside braces (write '\{0}' for a literal '{0}')")]
    ClassCutByBraces(char),
    /// `{` without its `}`.
    #[error(r"unclosed '{{' (write '\{{' for a literal brace)")]
    UnclosedBraces,
    /// `}` outside braces.
    #[error(r"'}}' without a '{{' before it (write '\}}' for a literal brace)")]
    StrayClosingBrace,
    /// `\` with nothing after it to escape.
    #[error(r"nothing after the last '\' (write '\\' for a literal backslash)")]
    TrailingBackslash,
    /// The pattern is longer than [`MAX_PATTERN_BYTES`].
    #[error("a glob may be at most {MAX_PATTERN_BYTES} bytes long (write several shorter ones)")]
    TooLong,
}
