//! A fast reader for the common subset of YAML.
//!
//! The subset has block mappings and lists, plain and quoted scalars on one line, lists in brackets
//! on one line, literal blocks, and comments on lines of their own. Everything else (anchors, tags,
//! escapes, continued lines, empty values, tabs, CRLF, anything in doubt) is left to the parser:
//! [`parse`] then returns `None`, which costs only time. The parser reads every accepted text as
//! the same tree; a test compares the two on generated documents.

use crate::limits;
use crate::source::Span;

use super::Yaml;
use super::build::YamlBuilder;

/// Reads `text`, which begins `shift` bytes into its file, if it is in the subset.
pub(super) fn parse_subset(text: &str, shift: usize) -> Option<Yaml> {
    if !text.ends_with('\n') || !is_ordinary(text) || has_odd_character(text) {
        return None;
    }
    let mut reader = QuickReader {
        text,
        bytes: text.as_bytes(),
        at: 0,
        shift,
        builder: YamlBuilder::new(text, shift),
    };
    let line = reader.next_line()?;
    if line.indent != 0 {
        return None;
    }
    reader.read_block(line)?;
    // Further text does not belong to the first block.
    if reader.next_line().is_some() { None } else { Some(reader.builder.finish()) }
}

/// Returns whether the text has no control characters except line breaks. It has no early exit, so
/// that the compiler can vectorise it.
fn is_ordinary(text: &str) -> bool {
    let is_odd = |byte: u8| matches!(byte, 0..=b'\t' | 0x0b..=0x1f | 0x7f);
    !text.bytes().fold(false, |odd, byte| odd | is_odd(byte))
}

/// Returns whether the text has characters beyond ASCII that YAML treats specially, or forbids.
fn has_odd_character(text: &str) -> bool {
    !text.is_ascii()
        && text.chars().any(|character| {
            matches!(character, '\u{80}'..='\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}'..='\u{ffff}')
        })
}

/// Returns whether a line has nothing that ends a plain scalar: neither `: ` nor ` #`.
fn is_plain_text(line: &[u8]) -> bool {
    let mut previous = b' ';
    for &byte in line {
        if byte == b' ' && previous == b':' || byte == b'#' && previous == b' ' {
            return false;
        }
        previous = byte;
    }
    previous != b':'
}

/// A line that is not blank.
#[derive(Clone, Copy)]
struct QuickLine {
    /// Spaces before the first character.
    indent: usize,
    /// The offset of the first character.
    start: usize,
}

struct QuickReader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    /// The offset up to which the text has been read: between two entries always the start of a
    /// line.
    at: usize,
    shift: usize,
    builder: YamlBuilder,
}

impl<'t> QuickReader<'t> {
    /// Finds the next line that is neither blank nor a comment, and moves to its beginning.
    fn next_line(&mut self) -> Option<QuickLine> {
        loop {
            let rest = &self.bytes[self.at..];
            let indent = rest.iter().position(|&byte| byte != b' ')?;
            match rest[indent] {
                b'\n' => self.at += indent + 1,
                b'#' => self.at = self.line_end(self.at + indent) + 1,
                _ => return Some(QuickLine { indent, start: self.at + indent }),
            }
        }
    }

    /// Returns the offset of the line break of the line at `offset`. The text ends in one.
    fn line_end(&self, offset: usize) -> usize {
        let rest = &self.bytes[offset..];
        offset + memchr::memchr(b'\n', rest).unwrap_or(rest.len())
    }

    fn is_item(&self, line: QuickLine) -> bool {
        self.bytes[line.start..].starts_with(b"- ")
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.shift + start, self.shift + end)
    }

    fn open_collection(&mut self, start: usize, is_mapping: bool) -> Option<()> {
        if self.builder.depth() >= limits::YAML_DEPTH / 2 {
            return None;
        }
        let span = self.span(start, start);
        self.builder.start_collection(0, span, is_mapping);
        Some(())
    }

    fn close_collection(&mut self) {
        let span = self.span(self.at, self.at);
        self.builder.end_collection(span);
    }

    /// Reads the collection that begins on `line`.
    fn read_block(&mut self, line: QuickLine) -> Option<()> {
        if self.is_item(line) { self.read_list(line) } else { self.read_mapping(line) }
    }

    /// Reads list items at the column of `line`.
    fn read_list(&mut self, line: QuickLine) -> Option<()> {
        self.open_collection(line.start, false)?;
        let column = line.indent;
        let mut next = Some(line);
        while let Some(line) = next {
            if line.indent != column || !self.is_item(line) {
                // A deeper line would continue an item.
                if line.indent > column {
                    return None;
                }
                break;
            }
            let spaces = self.bytes[line.start + 1..].iter().position(|&byte| byte != b' ')?;
            let start = line.start + 1 + spaces;
            let content = QuickLine { indent: column + 1 + spaces, start };
            if self.key_end(start).is_some() {
                self.read_mapping(content)?;
            } else {
                self.at = start;
                self.scalar_line(start, column)?;
            }
            next = self.next_line();
        }
        self.close_collection();
        Some(())
    }

    /// Reads fields at the column of `line`, the first of which may stand after a `- `.
    fn read_mapping(&mut self, line: QuickLine) -> Option<()> {
        self.open_collection(line.start, true)?;
        let column = line.indent;
        let mut next = Some(line);
        while let Some(line) = next {
            if line.indent != column {
                if line.indent > column {
                    return None;
                }
                break;
            }
            if self.is_item(line) {
                break;
            }
            let colon = self.key_end(line.start)?;
            let key = self.span(line.start, colon);
            self.builder.add_scalar(line.start..colon, true, key);
            let rest = &self.bytes[colon + 1..];
            let value = colon + 1 + rest.iter().position(|&byte| byte != b' ')?;
            if self.bytes[value] == b'\n' {
                self.at = value + 1;
                self.read_nested(column)?;
            } else {
                self.scalar_line(value, column)?;
            }
            next = self.next_line();
        }
        self.close_collection();
        Some(())
    }

    /// Reads the collection below a key: deeper, or a list at the key's own column.
    fn read_nested(&mut self, column: usize) -> Option<()> {
        let line = self.next_line()?;
        let belongs = line.indent > column || line.indent == column && self.is_item(line);
        if belongs { self.read_block(line) } else { None }
    }

    /// Returns the offset of the colon, if a simple key begins at `start`.
    fn key_end(&self, start: usize) -> Option<usize> {
        let rest = &self.bytes[start..];
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if !rest.first()?.is_ascii_alphabetic() {
            return None;
        }
        let length = rest.iter().position(|byte| !is_name(byte))?;
        let is_key = length <= 100
            && rest[length] == b':'
            && matches!(rest.get(length + 1), Some(b' ' | b'\n'));
        is_key.then_some(start + length)
    }

    /// Reads a value that ends on its line (or a literal block) and moves to the line after it.
    /// `column` is that of the collection that holds it.
    fn scalar_line(&mut self, start: usize, column: usize) -> Option<()> {
        let end = self.line_end(start);
        let line = self.text[start..end].trim_end_matches(' ');
        match *line.as_bytes().first()? {
            b'|' => return self.read_literal(line, end, column),
            b'[' => self.flow_list(start, line)?,
            quote @ (b'"' | b'\'') => {
                let inner = Self::find_quoted_text(&line[1..], quote)?;
                if inner.len() + 2 != line.len() {
                    return None;
                }
                let span = self.span(start, start + line.len());
                self.builder.add_scalar(start + 1..start + 1 + inner.len(), false, span);
            }
            first => {
                let can_start = first.is_ascii_alphanumeric()
                    || !first.is_ascii()
                    || matches!(first, b'_' | b'/' | b'.' | b'(');
                let is_plain =
                    can_start && is_plain_text(line.as_bytes()) && !line.starts_with("...");
                if !is_plain {
                    return None;
                }
                let span = self.span(start, start + line.len());
                self.builder.add_scalar(start..start + line.len(), true, span);
            }
        }
        self.at = end + 1;
        // A deeper line would continue the value.
        let next = self.next_line();
        if next.is_some_and(|next| next.indent > column) { None } else { Some(()) }
    }

    /// Returns the text before the closing quote, if it needs no decoding.
    fn find_quoted_text(text: &'t str, quote: u8) -> Option<&'t str> {
        let end = memchr::memchr2(quote, b'\\', text.as_bytes())?;
        let is_end = text.as_bytes()[end] == quote && text.as_bytes().get(end + 1) != Some(&quote);
        is_end.then(|| &text[..end])
    }

    /// Reads `[a, "b", 'c']`.
    fn flow_list(&mut self, start: usize, line: &'t str) -> Option<()> {
        self.open_collection(start, false)?;
        let bytes = line.as_bytes();
        let skip = |mut at: usize| {
            while bytes.get(at) == Some(&b' ') {
                at += 1;
            }
            at
        };
        let mut at = skip(1);
        while *bytes.get(at)? != b']' || bytes[at - 1] == b',' {
            let item = start + at;
            let (text, length, plain) = match *bytes.get(at)? {
                quote @ (b'"' | b'\'') => {
                    let inner = Self::find_quoted_text(&line[at + 1..], quote)?.len();
                    (item + 1..item + 1 + inner, inner + 2, false)
                }
                first if first.is_ascii_alphanumeric() || matches!(first, b'_' | b'/' | b'.') => {
                    let is_word =
                        |byte: u8| byte.is_ascii_alphanumeric() || b"_/.*?+~@%=-".contains(&byte);
                    let length = bytes[at..].iter().position(|&byte| !is_word(byte))?;
                    (item..item + length, length, true)
                }
                _ => return None,
            };
            let span = self.span(item, item + length);
            self.builder.add_scalar(text, plain, span);
            at = skip(at + length);
            match *bytes.get(at)? {
                b',' => {
                    at = skip(at + 1);
                    // A comma before the bracket is left to the parser.
                    if *bytes.get(at)? == b']' {
                        return None;
                    }
                }
                b']' => {}
                _ => return None,
            }
        }
        let span = self.span(start + at, start + at + 1);
        self.builder.end_collection(span);
        (at + 1 == line.len()).then_some(())
    }

    /// Reads a `|` block: every line deeper than the collection that holds it.
    fn read_literal(&mut self, header: &str, header_end: usize, column: usize) -> Option<()> {
        if header != "|" {
            return None;
        }
        let first = header_end + 1;
        let indent = self.bytes.get(first..)?.iter().position(|&byte| byte != b' ')?;
        if indent <= column || self.bytes[first + indent] == b'\n' {
            return None;
        }
        let mut text = String::new();
        let mut blank_lines = 0;
        let mut at = first;
        let mut end = first;
        while at < self.bytes.len() {
            let line_end = self.line_end(at);
            let line = &self.text[at..line_end];
            let spaces = line.bytes().take_while(|&byte| byte == b' ').count();
            if spaces == line.len() {
                // Blanks beyond the indentation are content.
                if spaces > indent {
                    return None;
                }
                blank_lines += 1;
            } else if spaces < indent {
                break;
            } else {
                text.extend(std::iter::repeat_n('\n', blank_lines));
                blank_lines = 0;
                text.push_str(&line[indent..]);
                text.push('\n');
                end = line_end;
            }
            at = line_end + 1;
        }
        let trimmed = self.text[first..end].trim_end().len();
        let span = self.span(first + indent, first + trimmed);
        self.builder.add_decoded(text, span);
        self.at = end + 1;
        let next = self.next_line();
        if next.is_some_and(|next| next.indent > column) { None } else { Some(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Node, Value};
    use super::*;

    /// Shows kinds, texts and spans, so that two trees can be compared.
    fn show(node: Node<'_>, text: &mut String) {
        let span = node.span();
        text.push_str(&format!("{}..{} ", span.start, span.end));
        match node.value() {
            Value::Scalar(scalar) => text.push_str(&format!("{scalar:?} {}\n", node.is_plain())),
            Value::Sequence(list) => {
                text.push_str("[\n");
                list.iter().for_each(|item| show(item, text));
                text.push_str("]\n");
            }
            Value::Mapping(mapping) => {
                text.push_str("{\n");
                for field in mapping.fields() {
                    show(field.key, text);
                    show(field.value, text);
                }
                text.push_str("}\n");
            }
            other => text.push_str(other.noun()),
        }
    }

    fn shown(yaml: &Yaml) -> String {
        let mut text = format!("{:?}\n", yaml.problems());
        if let Some(root) = yaml.root() {
            show(root, &mut text);
        }
        text
    }

    fn assert_same(text: &str) -> bool {
        let Some(quick) = parse_subset(text, 0) else { return false };
        let parsed = YamlBuilder::new(text, 0).parse(text);
        assert_eq!(shown(&quick), shown(&parsed), "{text}");
        true
    }

    #[test]
    fn what_people_write_is_read_quickly() {
        for text in [
            "context:\n  - content: Use tabs.\n    match: [\"**/*.py\", 'a b', src/x.py]\n    on: edit\n",
            "context:\n- content: \"quoted # : text\"\n  exclude: []\n- content: second\n",
            "# comment\n\ndecisions:\n  # inner\n  - decision: A\n    rationale: |\n      one\n\n        two\n      # three\n    date: 2025-10-20\n\n\n",
            "context:\n  - content: |\n      last line\n\n  - content: naïve — café\n",
            "a:\n  b:\n    c: 1\n  d: x:y\ne: http://x/#y\n",
            "- a\n- b: c\n  d: e\n- - x\n",
        ] {
            let accepted = assert_same(text);
            assert_eq!(accepted, !text.contains("- - "), "{text}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_parser() {
        for text in [
            "a: 1",
            "a: &x 1\n",
            "a: !t 1\n",
            "a: \"x\\n\"\n",
            "a: b\n  c\n",
            "a:\n",
            "a: [b, ]\n",
            "a: {b: c}\n",
            "a: >\n  x\n",
            "a: |-\n  x\n",
            "a: *x\n",
            "? a\n",
            "a: b: c\n",
            "a: b #c\n",
            "a:\tb\n",
            "a: 'it''s'\n",
            "---\na: 1\n",
            "a: 1\n---\nb: 2\n",
            "a: 1\n b: 2\n",
            "a:\n  - b\n c: d\n",
            "text\n",
            "a: b\r\n",
            "a: \u{85}\n",
            "a: [b\n",
            "a: [b: c]\n",
            "- a\nb: c\n",
            "a: |\n\n  x\n",
        ] {
            assert!(parse_subset(text, 0).is_none(), "{text:?}");
        }
    }

    /// Documents of valid and invalid pieces at random columns.
    #[test]
    fn both_readers_see_the_same_tree() {
        const PIECES: [&str; 28] = [
            "content: text",
            "match: [\"**\", a.b]",
            "on: edit",
            "- content: x",
            "- a",
            "context:",
            "key: |",
            "key: 'q'",
            "key: \"q\"",
            "# comment",
            "",
            "   ",
            "- ",
            "key:",
            "a b: c",
            "x: y: z",
            "- [a]",
            "more text",
            "key: [",
            "]",
            "- - a",
            "é: ü",
            "key: é",
            "k: |-",
            "k: a#b",
            "k: []",
            "k: [a,b]",
            "- |",
        ];
        let mut accepted = 0;
        arbtest::arbtest(|bytes| {
            let mut text = String::new();
            for _ in 0..bytes.int_in_range(1..=8)? {
                let columns = *bytes.choose(&[0, 0, 2, 2, 4, 4, 6, 1])?;
                text.push_str(&" ".repeat(columns));
                text.push_str(bytes.choose(&PIECES)?);
                text.push('\n');
            }
            accepted += usize::from(assert_same(&text));
            Ok(())
        })
        .budget_ms(2_000);
        assert!(accepted > 0, "the generator makes documents of the subset");
    }
}
