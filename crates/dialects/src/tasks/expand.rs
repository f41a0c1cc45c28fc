//! One pass over a text: `${name}`, `` !`command` ``, `@path` (ruling T7).
//!
//! The parts of a text are found before anything is replaced, so no value, output or file can
//! become an expansion. Everything is bytes, because text without expansions must stay byte for
//! byte.

use memchr::{memchr, memchr2};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextPart<'t> {
    Text(&'t [u8]),
    Parameter {
        name: &'t [u8],
    },
    Command {
        command: &'t [u8],
    },
    Path {
        /// The text after the `@`, up to white space; `\ ` is part of it.
        path: &'t [u8],
    },
}

/// Splits a text; each part comes with its offset and its bytes.
pub(crate) fn split_text_parts(text: &[u8]) -> TextParts<'_> {
    TextParts { text, at: 0, name_end: 0, command_end: 0 }
}

pub(crate) struct TextParts<'t> {
    text: &'t [u8],
    at: usize,
    /// The end of the last search for the end of a name or command. An expansion that begins before
    /// it stops there too, so that a text full of openings is still read once.
    name_end: usize,
    command_end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlacedPart<'t> {
    pub(crate) offset: usize,
    pub(crate) whole: &'t [u8],
    pub(crate) part: TextPart<'t>,
}

impl<'t> Iterator for TextParts<'t> {
    type Item = PlacedPart<'t>;

    fn next(&mut self) -> Option<PlacedPart<'t>> {
        let start = self.at;
        if start == self.text.len() {
            return None;
        }
        let mut at = start;
        loop {
            let Some(found) = memchr::memchr3(b'$', b'!', b'@', &self.text[at..]) else {
                return Some(self.take_text_until(self.text.len()));
            };
            at += found;
            if let Some((part, length)) = self.parse_expansion(at) {
                if at > start {
                    return Some(self.take_text_until(at));
                }
                let whole = &self.text[at..at + length];
                self.at = at + length;
                return Some(PlacedPart { offset: at, whole, part });
            }
            at += 1;
        }
    }
}

impl<'t> TextParts<'t> {
    fn take_text_until(&mut self, end: usize) -> PlacedPart<'t> {
        let offset = std::mem::replace(&mut self.at, end);
        let whole = &self.text[offset..end];
        PlacedPart { offset, whole, part: TextPart::Text(whole) }
    }

    /// Returns the expansion that begins at `at`, and its length.
    fn parse_expansion(&mut self, at: usize) -> Option<(TextPart<'t>, usize)> {
        match &self.text[at..] {
            [b'$', b'{', inner @ ..] => {
                if self.name_end < at + 2 {
                    // A brace on another line belongs to other text.
                    let end = memchr2(b'}', b'\n', inner);
                    self.name_end = end.map_or(self.text.len(), |end| at + 2 + end);
                }
                let name = &self.text[at + 2..self.name_end];
                let is_name = !name.is_empty() && self.text.get(self.name_end) == Some(&b'}');
                is_name.then_some((TextPart::Parameter { name }, name.len() + 3))
            }
            [b'!', b'`', inner @ ..] => {
                if self.command_end < at + 2 {
                    let end = memchr(b'`', inner);
                    self.command_end = end.map_or(self.text.len(), |end| at + 2 + end);
                }
                let command = &self.text[at + 2..self.command_end];
                let is_closed = self.command_end < self.text.len();
                let is_command = is_closed && !command.trim_ascii().is_empty();
                is_command.then_some((TextPart::Command { command }, command.len() + 3))
            }
            [b'@', inner @ ..] if self.begins_word(at) => {
                let path = &inner[..word_length(inner)];
                (!path.is_empty()).then_some((TextPart::Path { path }, path.len() + 1))
            }
            _ => None,
        }
    }

    /// Returns whether a path can begin here: at the start of the text or of a word.
    fn begins_word(&self, at: usize) -> bool {
        let before = &self.text[..at];
        matches!(before, [] | [.., b' ' | b'\t' | b'\r' | b'\n']) || before == "\u{feff}".as_bytes()
    }
}

/// Returns the number of bytes up to white space without a backslash before it.
fn word_length(text: &[u8]) -> usize {
    let mut length = 0;
    while let Some(&byte) = text.get(length) {
        match byte {
            b'\\' if text.get(length + 1) == Some(&b' ') => length += 2,
            b' ' | b'\t' | b'\r' | b'\n' => break,
            _ => length += 1,
        }
    }
    length
}

/// Returns the possible paths of a word after `@`, longest first, each with the number of its
/// bytes: the sentence may continue with `,.;:)` right after a path.
pub(crate) fn possible_paths(word: &[u8]) -> impl Iterator<Item = (Vec<u8>, usize)> {
    let mut next = Some(word.len());
    std::iter::from_fn(move || {
        let length = next?;
        let shorter = matches!(word[..length].last(), Some(b',' | b'.' | b';' | b':' | b')'));
        next = (shorter && length > 1).then(|| length - 1);
        Some((unescape_spaces(&word[..length]), length))
    })
}

fn unescape_spaces(word: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(word.len());
    let mut bytes = word.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' && bytes.peek() == Some(&b' ') {
            continue;
        }
        path.push(byte);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        split_text_parts(text.as_bytes())
            .map(|placed| {
                let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                match placed.part {
                    TextPart::Text(text) => show(text),
                    TextPart::Parameter { name } => format!("<param {}>", show(name)),
                    TextPart::Command { command } => format!("<run {}>", show(command)),
                    TextPart::Path { path } => format!("<file {}>", show(path)),
                }
            })
            .collect()
    }

    #[test]
    fn the_three_kinds_are_found() {
        assert_eq!(
            shown("a ${b} !`c d` @e f"),
            ["a ", "<param b>", " ", "<run c d>", " ", "<file e>", " f"]
        );
        assert_eq!(shown("@a\n@b\\ c"), ["<file a>", "\n", "<file b\\ c>"]);
        assert_eq!(shown("!`two\nlines`"), ["<run two\nlines>"]);
    }

    #[test]
    fn what_only_looks_like_one_is_text() {
        for text in [
            "$p $$ $(p) ${} ${never",
            "mail user@f.txt (@f.txt) @",
            "wow! `code` !`` !`never closed",
            "${one\ntwo}",
            "!` `",
        ] {
            assert_eq!(shown(text).concat(), text);
            assert_eq!(shown(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_sentence_may_end_after_a_path() {
        let readings: Vec<_> = possible_paths(b"a.txt).").map(|(path, _)| path).collect();
        assert_eq!(readings, [b"a.txt).".to_vec(), b"a.txt)".to_vec(), b"a.txt".to_vec()]);
        assert_eq!(super::possible_paths(b"a\\ b").next(), Some((b"a b".to_vec(), 4)));
        assert_eq!(super::possible_paths(b"...").count(), 3);
    }

    /// Round trip: the parts of any text, joined, are that text.
    #[test]
    fn parts_put_together_are_the_text() {
        arbtest::arbtest(|bytes| {
            let text: Vec<u8> = bytes.arbitrary()?;
            let mut at = 0;
            for placed in split_text_parts(&text) {
                assert_eq!(placed.offset, at);
                at += placed.whole.len();
                assert_eq!(&text[placed.offset..at], placed.whole);
                assert!(!placed.whole.is_empty());
            }
            assert_eq!(at, text.len());
            Ok(())
        });
    }

    #[test]
    fn many_beginnings_are_read_once() {
        // Ten megabytes; a new search for each end would take hours.
        for beginning in ["${ ", "${\n", "! !` ${", "@a "] {
            let text = beginning.repeat(10_000_000 / beginning.len());
            let length: usize =
                split_text_parts(text.as_bytes()).map(|placed| placed.whole.len()).sum();
            assert_eq!(length, text.len());
        }
    }
}
