//! The text of an open document, and the positions of the protocol in it.

use std::ops::Range;

use brief_syntax::Span;
use serde::{Deserialize, Serialize};

/// The unit of columns, which editor and server agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ColumnUnit {
    Utf8,
    #[default]
    Utf16,
}

impl ColumnUnit {
    pub(super) fn name(self) -> &'static str {
        match self {
            ColumnUnit::Utf8 => "utf-8",
            ColumnUnit::Utf16 => "utf-16",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct TextPosition {
    pub(super) line: usize,
    pub(super) character: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TextRange {
    pub(super) start: TextPosition,
    pub(super) end: TextPosition,
}

/// A replacement, in bytes of the text before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextReplacement {
    range: Range<usize>,
    length: usize,
}

impl TextReplacement {
    /// Moves a span to its place after the replacement; `None` if it was inside.
    pub(super) fn move_span(&self, span: Span) -> Option<Span> {
        if span.end <= self.range.start && span != Span::empty_at(self.range.start) {
            return Some(span);
        }
        if span.start < self.range.end {
            return None;
        }
        let start = span.start - self.range.end + self.range.start + self.length;
        Some(Span::new(start, start + (span.end - span.start)))
    }
}

/// A text with the starts of its lines.
#[derive(Debug, Clone, Default)]
pub(super) struct LineText {
    text: String,
    /// The first byte of each line. A line ends at `\n`, `\r\n` or `\r`.
    starts: Vec<usize>,
}

impl LineText {
    pub(super) fn new(text: String) -> LineText {
        let mut starts = vec![0];
        let bytes = text.as_bytes();
        for (place, byte) in bytes.iter().enumerate() {
            let is_end = match byte {
                b'\n' => true,
                b'\r' => bytes.get(place + 1) != Some(&b'\n'),
                _ => false,
            };
            if is_end {
                starts.push(place + 1);
            }
        }
        LineText { text, starts }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns a line without its end; empty after the last one.
    pub(super) fn line(&self, line: usize) -> &str {
        let Some(&start) = self.starts.get(line) else { return "" };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\r', '\n'])
    }

    /// Returns the byte of a position. One behind the end of its line or of the text means that end; one inside a
    /// character means its beginning.
    pub(super) fn offset(&self, position: TextPosition, unit: ColumnUnit) -> usize {
        let Some(&start) = self.starts.get(position.line) else { return self.text.len() };
        let line = self.line(position.line);
        let mut units = 0;
        for (place, character) in line.char_indices() {
            let width = match unit {
                ColumnUnit::Utf8 => character.len_utf8(),
                ColumnUnit::Utf16 => character.len_utf16(),
            };
            if units + width > position.character {
                return start + place;
            }
            units += width;
        }
        start + line.len()
    }

    pub(super) fn position(&self, offset: usize, unit: ColumnUnit) -> TextPosition {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        let before = &self.text[self.starts[line]..offset];
        let character = match unit {
            ColumnUnit::Utf8 => before.len(),
            ColumnUnit::Utf16 => before.chars().map(char::len_utf16).sum(),
        };
        TextPosition { line, character }
    }

    pub(super) fn range(&self, span: Span, unit: ColumnUnit) -> TextRange {
        TextRange { start: self.position(span.start, unit), end: self.position(span.end, unit) }
    }

    /// Replaces a part, or the whole text without a range.
    pub(super) fn replace(
        &mut self,
        range: Option<TextRange>,
        text: &str,
        unit: ColumnUnit,
    ) -> TextReplacement {
        let range = match range {
            None => 0..self.text.len(),
            Some(TextRange { start, end }) => {
                let start = self.offset(start, unit);
                start..self.offset(end, unit).max(start)
            }
        };
        let mut new = std::mem::take(&mut self.text);
        new.replace_range(range.clone(), text);
        *self = LineText::new(new);
        TextReplacement { range, length: text.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: usize, character: usize) -> TextPosition {
        TextPosition { line, character }
    }

    /// "UTF-16 positions, CRLF": the crab is two units and four bytes.
    #[test]
    fn columns_are_counted_in_the_unit_of_the_editor() {
        let text = LineText::new("a🦀b\r\nü\rlast".to_owned());
        let unit = ColumnUnit::Utf16;
        assert_eq!(text.offset(at(0, 3), unit), 5);
        assert_eq!(text.offset(at(0, 2), unit), 1, "inside the crab");
        assert_eq!(text.offset(at(0, 99), unit), 6, "behind the line");
        assert_eq!(text.offset(at(1, 1), unit), 10);
        assert_eq!(text.offset(at(2, 0), unit), 11);
        assert_eq!(text.offset(at(9, 0), unit), text.text().len());
        assert_eq!(text.position(5, unit), at(0, 3));
        assert_eq!(text.position(5, ColumnUnit::Utf8), at(0, 5));
        assert_eq!(text.position(8, unit), at(1, 0));
        assert_eq!((text.line(0), text.line(1), text.line(3)), ("a🦀b", "ü", ""));
    }

    #[test]
    fn an_edit_moves_what_stands_behind_it() {
        let mut text = LineText::new("one\ntwo\nthree".to_owned());
        let range = TextRange { start: at(1, 0), end: at(1, 3) };
        let replaced = text.replace(Some(range), "2\n2", ColumnUnit::Utf16);
        assert_eq!(text.text(), "one\n2\n2\nthree");
        assert_eq!(replaced.move_span(Span::new(0, 3)), Some(Span::new(0, 3)));
        assert_eq!(replaced.move_span(Span::new(8, 13)), Some(Span::new(8, 13)));
        assert_eq!(replaced.move_span(Span::new(5, 6)), None);
        let replaced = text.replace(None, "new", ColumnUnit::Utf16);
        assert_eq!((text.text(), replaced.move_span(Span::new(1, 2))), ("new", None));
    }

    /// Any edits give the text that the editor has, and every offset has one position.
    #[test]
    fn any_edits_keep_text_and_positions_together() {
        arbtest::arbtest(|unstructured| {
            let pieces = ["a", "🦀", "ü", "\r\n", "\n", "\r", "text"];
            let mut text = LineText::default();
            text.replace(None, "start", ColumnUnit::Utf16);
            for _ in 0..unstructured.int_in_range(0..=12)? {
                let unit = *unstructured.choose(&[ColumnUnit::Utf8, ColumnUnit::Utf16])?;
                let mut place = || -> arbtest::arbitrary::Result<TextPosition> {
                    Ok(at(unstructured.int_in_range(0..=5)?, unstructured.int_in_range(0..=9)?))
                };
                let (start, end) = (place()?, place()?);
                let new = unstructured.choose(&pieces)?;
                let range = TextRange { start: start.min(end), end: start.max(end) };
                text.replace(Some(range), new, unit);
                for (offset, _) in text.text().char_indices() {
                    let position = text.position(offset, unit);
                    let is_inside_end = text.text()[..offset].ends_with('\r')
                        && text.text()[offset..].starts_with('\n');
                    assert!(
                        is_inside_end || text.offset(position, unit) == offset,
                        "{text:?} {offset}"
                    );
                }
            }
            Ok(())
        })
        .budget_ms(500);
    }
}
