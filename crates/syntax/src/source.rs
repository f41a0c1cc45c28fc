//! Source text and spans in it.
//!
//! Offsets are bytes in the decoded text. Lines and columns are computed on demand, because most
//! files have no diagnostics.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A range of bytes in a [`Source`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// Returns the span from `start` up to, not including, `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start, end: end.max(start) }
    }

    /// Returns the empty span at `offset`.
    pub fn empty_at(offset: usize) -> Self {
        Span { start: offset, end: offset }
    }

    /// Returns the span `by` bytes further on: that of a part, in the whole text.
    pub(crate) fn shifted_by(self, by: usize) -> Self {
        Span { start: self.start + by, end: self.end + by }
    }

    /// Returns the span as a range, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A line and a column for people. Both start at 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// The text of one file and its path.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    text: String,
    encoding: Encoding,
    /// The bytes as read, if they differ from the text.
    raw: Option<Vec<u8>>,
    /// The start of every [`STRIDE`]th line: a file of short lines would need more memory for all
    /// starts than for its text.
    landmarks: OnceLock<Vec<usize>>,
}

/// The number of lines between two landmarks.
const STRIDE: usize = 64;

/// The validity of a file's bytes as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Valid UTF-8.
    Utf8,
    /// The byte at this offset was not UTF-8; it and others like it are decoded as U+FFFD.
    Invalid {
        /// The offset of the first invalid byte.
        offset: usize,
    },
}

impl Source {
    /// Wraps text that is already decoded, such as an unsaved buffer.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Source {
            path: path.into(),
            text: text.into(),
            encoding: Encoding::Utf8,
            raw: None,
            landmarks: OnceLock::new(),
        }
    }

    /// Decodes the bytes of a file. Never fails: see [`Source::encoding`].
    pub fn from_bytes(path: impl Into<PathBuf>, bytes: Vec<u8>) -> Self {
        let (text, encoding, raw) = match String::from_utf8(bytes) {
            Ok(text) => (text, Encoding::Utf8, None),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                (text, Encoding::Invalid { offset }, Some(error.into_bytes()))
            }
        };
        Source { path: path.into(), text, encoding, raw, landmarks: OnceLock::new() }
    }

    /// Makes a source for a file whose text could not be read.
    pub fn without_text(path: impl Into<PathBuf>) -> Self {
        Source::new(path, "")
    }

    /// Returns the path that the text was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the whole text, byte order mark included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the bytes as read, from the line that begins at `offset` of the text.
    ///
    /// It serves callers that pass a text on unchanged: bytes that are not UTF-8 stay.
    pub fn bytes_from_line(&self, offset: usize) -> &[u8] {
        let Some(raw) = &self.raw else {
            return self.text.as_bytes().get(offset..).unwrap_or_default();
        };
        // Line breaks are the same in both; invalid bytes have other lengths.
        let breaks = self.line_number(offset) - 1;
        let start = match breaks.checked_sub(1) {
            Some(last) => memchr::memchr_iter(b'\n', raw).nth(last).map_or(raw.len(), |at| at + 1),
            None => offset.min(raw.len()),
        };
        &raw[start..]
    }

    /// Returns whether the bytes were valid UTF-8.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns the text in `span`; empty if the span is not on character boundaries.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// Returns the line and column of a byte offset. An offset past the end means the end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let (line, start) = self.line_around(offset);
        Position { line, column: self.text[start..offset].chars().count() + 1 }
    }

    /// Returns the line number of a byte offset, from 1.
    pub fn line_number(&self, offset: usize) -> usize {
        self.line_around(offset.min(self.text.len())).0
    }

    /// Returns the span of a line (from 1) without its line break.
    pub fn line_span(&self, line: usize) -> Span {
        let index = line.saturating_sub(1);
        let landmark = self.landmarks().get(index / STRIDE).copied().unwrap_or(self.text.len());
        let start = match index % STRIDE {
            0 => landmark,
            further => {
                let mut breaks = memchr::memchr_iter(b'\n', &self.text.as_bytes()[landmark..]);
                breaks.nth(further - 1).map_or(self.text.len(), |offset| landmark + offset + 1)
            }
        };
        let rest = &self.text[start..];
        let content = rest.split('\n').next().unwrap_or_default().trim_end_matches('\r');
        Span::new(start, start + content.len())
    }

    /// Returns the number of the line around an offset, and its start.
    fn line_around(&self, offset: usize) -> (usize, usize) {
        let landmarks = self.landmarks();
        let nearest = landmarks.partition_point(|&start| start <= offset) - 1;
        let landmark = landmarks[nearest];
        let mut found = (nearest * STRIDE + 1, landmark);
        for end in memchr::memchr_iter(b'\n', &self.text.as_bytes()[landmark..offset]) {
            found = (found.0 + 1, landmark + end + 1);
        }
        found
    }

    fn landmarks(&self) -> &[usize] {
        self.landmarks.get_or_init(|| {
            let breaks = memchr::memchr_iter(b'\n', self.text.as_bytes());
            let starts = std::iter::once(0).chain(breaks.map(|offset| offset + 1));
            starts.step_by(STRIDE).collect()
        })
    }
}

/// Two sources are equal if path and text are.
impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.text == other.text
    }
}

impl Eq for Source {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_counts_characters_from_one() {
        let source = Source::new("a.md", "é\nab\n");
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.position(2), Position { line: 1, column: 2 });
        assert_eq!(source.position(4), Position { line: 2, column: 2 });
        assert_eq!(source.position(99), Position { line: 3, column: 1 });
    }

    #[test]
    fn a_line_has_no_line_break() {
        let source = Source::new("a.md", "one\r\ntwo\nthree");
        assert_eq!(source.slice(source.line_span(1)), "one");
        assert_eq!(source.slice(source.line_span(2)), "two");
        assert_eq!(source.slice(source.line_span(3)), "three");
        assert_eq!(source.slice(source.line_span(4)), "");
    }

    /// X05: lines are found although not every start is kept.
    #[test]
    fn lines_between_landmarks_are_found() {
        for lines in [1, STRIDE - 1, STRIDE, STRIDE + 1, 3 * STRIDE + 5] {
            let text = "line\n".repeat(lines);
            let source = Source::new("a.md", text.as_str());
            let mut start = 0;
            for (index, line) in text.split('\n').enumerate() {
                let expected = Span::new(start, start + line.len());
                assert_eq!(source.line_span(index + 1), expected);
                for offset in start..=start + line.len() {
                    let expected = Position { line: index + 1, column: offset - start + 1 };
                    assert_eq!(source.position(offset), expected);
                    assert_eq!(source.line_number(offset), index + 1);
                }
                start += line.len() + 1;
            }
            assert!(source.landmarks().len() <= lines / STRIDE + 1);
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_kept_readable() {
        let source = Source::from_bytes("a.md", b"caf\xe9!".to_vec());
        assert_eq!(source.text(), "caf\u{fffd}!");
        assert_eq!(source.encoding(), Encoding::Invalid { offset: 3 });
        assert_eq!(source.bytes_from_line(0), b"caf\xe9!");
    }

    #[test]
    fn bytes_of_a_later_line_are_what_was_read() {
        let source = Source::from_bytes("a.md", b"\xff\xfe: x\n---\nb\xe9\n".to_vec());
        let body = source.text().find('b').unwrap();
        assert_eq!(source.bytes_from_line(body), b"b\xe9\n");
    }
}
