//! The errors of a glob's text, with advice for its author.

use super::MAX_PATTERN_BYTES;

/// A pattern that is not a glob, with the place and the problem.
///
/// The error's text is complete by itself. A caller that underlines the place in the source uses
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

    /// Returns the byte of the pattern at which the problem starts.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the same error for a longer text, in which the pattern begins after `bytes` bytes.
    #[must_use]
    pub fn shifted_by(self, bytes: usize) -> GlobError {
        GlobError { offset: self.offset + bytes, ..self }
    }

    /// Returns the problem; its text includes the advice.
    pub fn problem(&self) -> GlobProblem {
        self.problem
    }
}

/// The problems of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobProblem {
    /// `[` without its `]`.
    #[error(r"unclosed '[' (write '\[' for a literal bracket)")]
    UnclosedClass,
    /// `[]` or `[!]`; a `]` that directly follows the bracket closes it, unlike in a shell.
    #[error(r"nothing between '[' and ']' (write '\]' for a literal bracket inside them)")]
    EmptyClass,
    /// A character that ends an alternative, inside a class within braces. Braces are split before
    /// classes are read, so this would cut the class in two.
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
