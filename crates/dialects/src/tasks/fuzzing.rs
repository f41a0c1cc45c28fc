//! The expander and the reader of slash commands, for [`crate::fuzzing`].

use super::expand::{TextPart, parts, readings};
use super::slash::pieces;

/// Splits a text, and each path in it.
pub(crate) fn expansions(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    parts(text).map(|placed| {
        if let TextPart::Path { path } = placed.part {
            readings(path).for_each(drop);
        }
        (placed.offset, placed.whole)
    })
}

/// Splits a text at its slash commands.
pub(crate) fn slash_calls(text: &[u8]) {
    drop(pieces(text));
}
