//! Recognizes formatted texts that are so plain that one look at each line is enough.
//!
//! The formatter takes a thousand times as long as reading a text, and usually finds nothing to do:
//! guidance is headings, paragraphs, lists and code. This module knows these parts of Markdown, in
//! one notation each, and leaves all doubtful texts to the formatter. A property test compares the
//! two: the formatter leaves every plain text unchanged.

use crate::limits::{MARKDOWN_LINE_BYTES, MARKDOWN_PIECES};

/// Returns whether a text is surely formatted; `false` may mean either.
pub fn is_laid_out(text: &str) -> bool {
    let Some(body) = text.strip_suffix('\n') else { return false };
    let mut lines = PlainLines { rest: Some(body) };
    let mut before = PlainBlock::Other;
    while let Some(line) = lines.next() {
        let block = if line.starts_with('#') {
            is_heading(line).then_some(PlainBlock::Other)
        } else if let Some(info) = line.strip_prefix("```") {
            is_code(info, &mut lines).then_some(PlainBlock::Other)
        } else if let Some(marker) = Marker::from_line(line) {
            // Two lists in a row are one loose list, or need a separator.
            (before != PlainBlock::List && is_list(line, marker, &mut lines))
                .then_some(PlainBlock::List)
        } else {
            is_paragraph(line, &mut lines).then_some(PlainBlock::Other)
        };
        let Some(block) = block else { return false };
        before = block;
        match (lines.next(), lines.peek()) {
            (None, _) => return true,
            // One empty line between two blocks, none at the end.
            (Some(""), Some(_)) => {}
            _ => return false,
        }
    }
    false
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PlainBlock {
    List,
    Other,
}

/// The lines of a text, without their ends.
struct PlainLines<'t> {
    rest: Option<&'t str>,
}

impl<'t> PlainLines<'t> {
    fn split_line(&self) -> Option<(&'t str, Option<&'t str>)> {
        let rest = self.rest?;
        Some(match memchr::memchr(b'\n', rest.as_bytes()) {
            Some(end) => (&rest[..end], Some(&rest[end + 1..])),
            None => (rest, None),
        })
    }

    fn peek(&self) -> Option<&'t str> {
        self.split_line().map(|(line, _)| line)
    }

    fn next(&mut self) -> Option<&'t str> {
        let (line, rest) = self.split_line()?;
        self.rest = rest;
        Some(line)
    }

    /// Returns the next line, unless it is empty.
    fn next_full(&mut self) -> Option<&'t str> {
        let (line, rest) = self.split_line().filter(|(line, _)| !line.is_empty())?;
        self.rest = rest;
        Some(line)
    }
}

/// Returns whether a line is `## Words`.
fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let Some(text) = text.strip_prefix(' ') else { return false };
    let begins = text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '`');
    level <= 6 && begins && PlainPieces::default().add_line(text)
}

/// Returns whether lines of words follow, up to the next empty one.
fn is_paragraph(first: &str, lines: &mut PlainLines<'_>) -> bool {
    let mut pieces = PlainPieces::default();
    let mut next = Some(first);
    while let Some(line) = next {
        if !begins_plainly(line) || !pieces.add_line(line) {
            return false;
        }
        next = lines.next_full();
    }
    true
}

/// Returns whether code follows, up to its closing fence.
fn is_code(info: &str, lines: &mut PlainLines<'_>) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"+-_.".contains(&byte);
    if !info.bytes().all(is_word) || lines.peek().is_none_or(str::is_empty) {
        return false;
    }
    let mut last = "";
    while let Some(line) = lines.next() {
        if line == "```" {
            return !last.is_empty();
        }
        let is_mark = line.trim_start_matches(' ').starts_with("```");
        let is_long = line.len() > MARKDOWN_LINE_BYTES;
        if is_mark || is_long || line.ends_with(' ') || !line.chars().all(is_seen) {
            return false;
        }
        last = line;
    }
    false
}

/// Returns whether code may have a character: a visible one that is not a combining mark.
fn is_seen(character: char) -> bool {
    matches!(character, ' '..='~' | '\u{2500}'..='\u{257f}') || is_ordinary(character)
}

/// Returns whether prose may have a character beyond ASCII: Latin letters, dashes, quotes, an
/// arrow.
fn is_ordinary(character: char) -> bool {
    matches!(
        character,
        '\u{c0}'..='\u{d6}'
            | '\u{d8}'..='\u{f6}'
            | '\u{f8}'..='\u{17f}'
            | '\u{2013}'
            | '\u{2014}'
            | '\u{2018}'
            | '\u{2019}'
            | '\u{201c}'
            | '\u{201d}'
            | '\u{2026}'
            | '\u{2192}'
    )
}

/// The marker of a list's items.
#[derive(Clone, Copy)]
enum Marker {
    Dash,
    /// `1. ` and higher numbers.
    Number(u8),
}

impl Marker {
    /// Returns the marker that a list begins with.
    fn from_line(line: &str) -> Option<Marker> {
        match line.as_bytes() {
            [b'-', b' ', ..] => Some(Marker::Dash),
            [b'1', b'.', b' ', ..] => Some(Marker::Number(b'1')),
            _ => None,
        }
    }

    /// Returns the text of an item with this marker.
    fn text_of(self, line: &str) -> Option<&str> {
        match self {
            Marker::Dash => line.strip_prefix("- "),
            Marker::Number(digit) => line.strip_prefix(char::from(digit))?.strip_prefix(". "),
        }
    }

    /// Returns the marker of the next item. From ten on, texts are indented further.
    fn next(self) -> Option<Marker> {
        match self {
            Marker::Dash => Some(self),
            Marker::Number(digit) => (digit < b'9').then_some(Marker::Number(digit + 1)),
        }
    }

    /// Returns the indentation of further lines of an item.
    fn indent(self) -> &'static str {
        match self {
            Marker::Dash => "  ",
            Marker::Number(_) => "   ",
        }
    }
}

/// Returns whether a tight list follows, up to the next empty line; items may contain lists with
/// dashes.
fn is_list(first: &str, marker: Marker, lines: &mut PlainLines<'_>) -> bool {
    let mut next = Some(first);
    let mut wanted = Some(marker);
    let mut is_nested = false;
    let mut pieces = PlainPieces::default();
    while let Some(line) = next {
        let text = if let Some(text) = wanted.and_then(|marker| marker.text_of(line)) {
            wanted = wanted.and_then(Marker::next);
            is_nested = false;
            pieces = PlainPieces::default();
            text
        } else {
            let Some(below) = line.strip_prefix(marker.indent()) else { return false };
            if let Some(text) = below.strip_prefix("- ") {
                is_nested = true;
                pieces = PlainPieces::default();
                text
            } else if is_nested {
                let Some(text) = below.strip_prefix("  ") else { return false };
                text
            } else {
                below
            }
        };
        if !begins_plainly(text) || !pieces.add_line(text) {
            return false;
        }
        next = lines.next_full();
    }
    true
}

/// Returns whether a line begins with a word, and with no syntax.
fn begins_plainly(line: &str) -> bool {
    match line.as_bytes() {
        [b'a'..=b'z' | b'A'..=b'Z' | b'(' | b'"' | b'`' | b'[', ..] | [b'*', b'*', ..] => true,
        [b'0'..=b'9', ..] => {
            let after = line.trim_start_matches(|character: char| character.is_ascii_digit());
            !after.starts_with(['.', ')'])
        }
        _ => false,
    }
}

/// The number of words of one paragraph, as the formatter counts them.
#[derive(Default)]
struct PlainPieces {
    /// An upper bound: every marker begins two pieces, itself and the words after it.
    count: usize,
}

impl PlainPieces {
    /// Adds a line, and returns whether the formatter could not write anything in it in another
    /// way.
    fn add_line(&mut self, line: &str) -> bool {
        let marks = line.bytes().filter(|byte| !byte.is_ascii_alphanumeric() && *byte != b' ');
        self.count += 2 + 2 * marks.count();
        self.count <= MARKDOWN_PIECES
            && line.len() <= MARKDOWN_LINE_BYTES
            && line.chars().all(|character| character.is_ascii() || is_ordinary(character))
            && is_plain(line.as_bytes())
    }
}

/// Returns whether words have one space between them, and all markers are those of code, strong
/// text and links.
fn is_plain(line: &[u8]) -> bool {
    let at = |index: usize| line.get(index).copied();
    let before = |index: usize| index.checked_sub(1).and_then(at);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let mut is_strong = false;
    let mut index = 0;
    while let Some(byte) = at(index) {
        let length = match byte {
            byte if is_letter(byte) || b",;'\"()?/%-=".contains(&byte) => Some(1),
            b' ' => at(index + 1).is_some_and(|next| next != b' ').then_some(1),
            // Addresses may become links.
            b':' => (at(index + 1) != Some(b'/')).then_some(1),
            b'.' => {
                (!line[index.saturating_sub(3)..index].eq_ignore_ascii_case(b"www")).then_some(1)
            }
            b'`' => code_length(&line[index..]),
            b'[' if !matches!(before(index), Some(b'!' | b']')) => link_length(&line[index..]),
            b'*' if is_strong => closes_strong(&line[index..], before(index)).then_some(2),
            b'*' => opens_strong(&line[index..], before(index)).then_some(2),
            _ => None,
        };
        is_strong ^= byte == b'*';
        match length {
            Some(length) => index += length,
            None => return false,
        }
    }
    !is_strong
}

/// Returns the length of `` `code` ``, with one backtick on each side.
fn code_length(line: &[u8]) -> Option<usize> {
    let inner = memchr::memchr(b'`', &line[1..])?;
    let code = &line[1..=inner];
    let is_seen = code.iter().all(|byte| matches!(byte, b' '..=b'~'));
    let is_plain = is_seen && !code.starts_with(b" ") && !code.ends_with(b" ");
    let is_alone = line.get(inner + 2) != Some(&b'`');
    // The formatter may change blanks in code that spans lines.
    let is_narrow = !code.windows(2).any(|two| two == b"  ");
    (!code.is_empty() && is_plain && is_narrow && is_alone).then_some(inner + 2)
}

/// Returns the length of `[words](place)`.
fn link_length(line: &[u8]) -> Option<usize> {
    let is_text = |byte: u8| byte.is_ascii_alphanumeric() || b" -.,".contains(&byte);
    let is_place = |byte: u8| byte.is_ascii_alphanumeric() || b"-./_#:".contains(&byte);
    let text = line[1..].iter().position(|&byte| !is_text(byte))?;
    let words = &line[1..=text];
    // One letter would be the checkbox of a task.
    let is_words = text > 1 && words[0] != b' ' && words[text - 1] != b' ';
    let after = line[1 + text..].strip_prefix(b"](")?;
    let place = after.iter().position(|&byte| !is_place(byte))?;
    let is_narrow = !words.windows(2).any(|two| two == b"  ");
    (is_words && is_narrow && place > 0 && after[place] == b')').then_some(text + place + 4)
}

/// Returns whether `**` opens strong text.
fn opens_strong(line: &[u8], before: Option<u8>) -> bool {
    let is_free = matches!(before, None | Some(b' ' | b'('));
    is_free
        && matches!(line, [b'*', b'*', next, ..] if next.is_ascii_alphanumeric() || *next == b'`')
}

/// Returns whether `**` closes strong text.
fn closes_strong(line: &[u8], before: Option<u8>) -> bool {
    let is_end =
        matches!(before, Some(last) if last.is_ascii_alphanumeric() || b"`.:?)".contains(&last));
    let is_free =
        matches!(line, [b'*', b'*'] | [b'*', b'*', b' ' | b',' | b'.' | b':' | b';' | b')', ..]);
    is_end && is_free
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::format::format_thoroughly;

    fn assert_agreed(text: &str) {
        let formatted = format_thoroughly(text.into());
        assert_eq!(formatted.refused, None, "{text:?}");
        assert_eq!(formatted.text, text);
    }

    #[test]
    fn ordinary_guidance_is_plain() {
        for text in [
            "Words.\n",
            "# Title\n\nWords and more,\nin two lines.\n\n- One.\n- Two `code` and **strong** words.\n",
            "## Steps\n\n1. First, see [the guide](./docs/guide.md#a).\n2. Then: run `make all`.\n   It goes on.\n   - Below.\n3. **Done**\n\nText.\n",
            "- a\n  goes on\n  - below\n    goes on\n  - beside\n- b\n",
            "```sh\nmake  all\n\n  # comment\n```\n\nText (see \u{201c}that\u{201d}) \u{2014} done.\n\n```\nx\n```\n",
            "3 files, 100% of it; x = y/z?\n",
            "# 1. One\n\n## `two`\n",
        ] {
            assert!(is_laid_out(text), "{text:?}");
            assert_agreed(text);
        }
    }

    #[test]
    fn what_is_in_doubt_is_left_to_the_formatter() {
        for text in [
            "",
            "\n",
            "a",
            "a\n\n",
            "\na\n",
            "a\n\n\nb\n",
            "a \n",
            " a\n",
            "a  b\n",
            "a\tb\n",
            "* a\n",
            "+ a\n",
            "1) a\n",
            "2. a\n",
            "1. a\n3. b\n",
            "- a\n\n- b\n",
            "- a\n\n1. b\n",
            "- a\nb\n",
            "- a\n - b\n",
            "-\n",
            "a\n===\n",
            "a\n---\n",
            "# a\nb\n",
            "a\n# b\n",
            "#a\n",
            "# a #\n",
            "####### a\n",
            "a\\\nb\n",
            "*a*\n",
            "_a_\n",
            "a_b\n",
            "__a__\n",
            "**a\n",
            "a**b**\n",
            "**a**b\n",
            "** a**\n",
            "***a***\n",
            "``a``\n",
            "` a`\n",
            "`a\n",
            "![a b](c)\n",
            "[ab]\n",
            "[ab]: c\n",
            "[ab][c]\n",
            "[ab](<c>)\n",
            "[ab](c \"d\")\n",
            "[x](c)\n",
            "- [ ] a\n",
            "https://a.example\n",
            "see www.a.example\n",
            "a@b.example\n",
            "<b>\n",
            "&amp;\n",
            "a|b\n",
            "~~a~~\n",
            "> a\n",
            "---\n",
            "~~~\na\n~~~\n",
            "```\na\n",
            "```\n```\n",
            "```\n\na\n```\n",
            "```\na\n\n```\n",
            "```\na \n```\n",
            "```a b\nc\n```\n",
            "````\na\n````\n",
            "a\u{a0}b\n",
            "\u{feff}a\n",
            "a\u{301}\n",
            "日本語\n",
            "10. a\n",
            "a\r\n",
            "- 1. a\n",
            "- - a\n",
            "- # a\n",
        ] {
            assert!(!is_laid_out(text), "{text:?}");
        }
        assert!(!is_laid_out(&format!("{}\n", "a".repeat(MARKDOWN_LINE_BYTES + 1))));
        assert!(!is_laid_out(&"`a`\n".repeat(MARKDOWN_PIECES)));
    }

    const WORDS: [&str; 64] = [
        "a",
        "b",
        "word",
        "Words",
        "X",
        "1",
        "23",
        "1.",
        "2)",
        "3.5",
        "a.",
        "b,",
        "c;",
        "(d)",
        "\"e\"",
        "it's",
        "f?",
        "g/h",
        "i-j",
        "-",
        "--",
        "=",
        "==",
        "50%",
        "k:",
        ":l",
        "m:n",
        "`code`",
        "`a b`",
        "`*x*`",
        "`<b>`",
        "`|`",
        "`a`.",
        "(`a`)",
        "**strong**",
        "**two words**",
        "**a.**",
        "**`a`**",
        "(**b**)",
        "**c**,",
        "**d**:",
        "[ab](c)",
        "[two words](./a/b.md#c)",
        "[ab](https://a.example/b_c)",
        "([ab](c))",
        "[ab](c).",
        "é",
        "ü",
        "\u{2014}",
        "\u{2192}",
        "\u{201c}q\u{201d}",
        "\u{2026}",
        "www",
        "http:",
        "a.b",
        "README.md",
        "e.g.",
        "TODO:",
        "note:",
        "x=1",
        "n'",
        "'o'",
        "?",
        "%",
    ];

    const LINES: [&str; 22] = [
        "",
        "",
        "",
        "",
        "- ",
        "- ",
        "  ",
        "  - ",
        "    ",
        "   ",
        "   - ",
        "1. ",
        "2. ",
        "3. ",
        "# ",
        "## ",
        "###### ",
        "```",
        "```sh",
        "```\na  b\n```",
        "```js\n\tx\n```",
        "```\n  x\n\n- y\n```",
    ];

    /// Texts of mostly plain lines. The formatter leaves every text that is found plain unchanged.
    #[test]
    fn the_formatter_agrees() {
        let mut plain = 0_u32;
        let mut try_text = |bytes: &mut arbtest::arbitrary::Unstructured<'_>| {
            let mut text = String::new();
            for _ in 0..bytes.int_in_range(1..=8)? {
                let start = bytes.choose(&LINES)?;
                text.push_str(start);
                if !start.starts_with("```") {
                    let words = bytes.int_in_range(0..=4)?;
                    for number in 0..words {
                        text.push_str(if number == 0 { "" } else { " " });
                        text.push_str(bytes.choose(&WORDS)?);
                    }
                }
                text.push_str(bytes.choose(&["\n", "\n\n", "\n\n"])?);
            }
            let text = format!("{}\n", text.trim_end_matches('\n'));
            if is_laid_out(&text) {
                plain += 1;
                assert_agreed(&text);
            }
            Ok(plain)
        };
        // Until there were enough, however long that takes on a busy machine.
        let mut found = 0;
        while found <= 100 {
            arbtest::arbtest(|bytes| {
                found = try_text(bytes)?;
                Ok(())
            })
            .budget_ms(500);
        }
    }
}
