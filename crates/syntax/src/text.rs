//! Text that is safe to show.
//!
//! A file can contain characters that move the cursor, reverse the reading order or are invisible.
//! To this program they are data, but a terminal would obey them. All output for people goes
//! through [`visible_text`]; JSON carries the text unchanged, or through [`visible_json`] at a terminal.

use std::borrow::Cow;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};

use crate::hidden::hidden_characters;

/// Returns a hash that is the same for texts whose lines differ in blanks at their ends only.
pub fn hash_lines(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    for line in text.lines() {
        hasher.write(line.trim_end().as_bytes());
        hasher.write_u8(b'\n');
    }
    hasher.finish()
}

/// Formats a number with commas: 1,048,576.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a text as one line of at most `width` characters: line breaks and repeated blanks become
/// one blank, and an ellipsis marks a cut.
pub fn fold_line(text: &str, width: usize) -> String {
    let mut folded = String::new();
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
        // One word beyond the edge is enough to show the cut.
        if folded.len() > width.saturating_mul(4) {
            break;
        }
    }
    if folded.chars().count() <= width {
        return folded;
    }
    let mut cut: String = folded.chars().take(width.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// Breaks each line of a text at spaces, so that it fits into `width` columns. A longer word, such as a path, stays whole. What
/// follows a break is indented like the line, and by `hanging` more.
pub fn wrap_lines(text: &str, width: usize, hanging: usize) -> Cow<'_, str> {
    if text.lines().all(|line| line.chars().count() <= width) {
        return Cow::Borrowed(text);
    }
    let mut wrapped = String::with_capacity(text.len() + 16);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            wrapped.push('\n');
        }
        let own = line.chars().take_while(|letter| *letter == ' ').count();
        let indent = " ".repeat((own + hanging).min(width / 2));
        let mut column = 0;
        for (index, word) in line.split(' ').enumerate() {
            let length = word.chars().count();
            let is_first = index <= own;
            if !is_first && column + 1 + length > width && column > indent.len() {
                wrapped.truncate(wrapped.trim_end_matches(' ').len());
                wrapped.push('\n');
                wrapped.push_str(&indent);
                column = indent.len();
            } else if index > 0 {
                wrapped.push(' ');
                column += 1;
            }
            wrapped.push_str(word);
            column += length;
        }
    }
    Cow::Owned(wrapped)
}

/// Returns `text` with every hidden character written as `\u{…}`. Line breaks and tabs stay, and so
/// do characters that a script or an emoji needs ([`crate::hidden`]).
pub fn visible_text(text: &str) -> Cow<'_, str> {
    let mut hidden = hidden_characters(text).peekable();
    if hidden.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut copied = 0;
    for found in hidden {
        shown.push_str(&text[copied..found.offset]);
        shown.extend(found.character.escape_unicode());
        copied = found.offset + found.character.len_utf8();
    }
    shown.push_str(&text[copied..]);
    Cow::Owned(shown)
}

/// Returns a JSON text with every hidden character written as `\uXXXX`, which means the same to a parser.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    let mut hidden = hidden_characters(json).peekable();
    if hidden.peek().is_none() {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    let mut copied = 0;
    for found in hidden {
        shown.push_str(&json[copied..found.offset]);
        for unit in found.character.encode_utf16(&mut [0; 2]) {
            // Writing to a text does not fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
        copied = found.offset + found.character.len_utf8();
    }
    shown.push_str(&json[copied..]);
    Cow::Owned(shown)
}

/// Returns `text` on one line: like [`visible_text`], with line breaks and tabs escaped too.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    match visible_text(text) {
        Cow::Borrowed(text) if !text.bytes().any(|byte| matches!(byte, b'\n' | b'\t')) => {
            Cow::Borrowed(text)
        }
        shown => Cow::Owned(shown.replace('\n', "\\n").replace('\t', "\\t")),
    }
}

/// Encodes a path with `/` between its names for a URI (RFC 3986).
pub fn percent_encoded(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Formats a number with a noun.
pub fn format_count(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hidden::is_hidden;

    /// A break is between words, and a path is never cut.
    #[test]
    fn lines_break_between_words() {
        let text = "  error: the file `server/api/orders.py` does not define it";
        assert_eq!(
            wrap_lines(text, 30, 2),
            "  error: the file\n    `server/api/orders.py`\n    does not define it"
        );
        assert_eq!(wrap_lines("short", 30, 2), "short");
        let path = "a/very/long/path/that/is/wider/than/the/terminal.md:12";
        assert_eq!(wrap_lines(path, 20, 2), path);
        assert_eq!(wrap_lines("one two\nthree four", 8, 0), "one two\nthree\nfour");
        assert_eq!(wrap_lines("a  b", 2, 0), "a\nb");
    }

    /// Ruling G11, goal S11: no invisible character and none that acts on a terminal reaches it
    /// raw, at any place of a line.
    #[test]
    fn no_code_point_that_acts_on_a_terminal_survives() {
        for character in (0..=0x0010_ffff).filter_map(char::from_u32) {
            let is_shown = !is_hidden(character);
            for text in [character.to_string(), format!("a{character}b")] {
                let shown = visible_text(&text);
                assert_eq!(shown == text, is_shown, "{character:?}");
                assert_eq!(shown.contains("\\u{"), !is_shown, "{character:?}");
            }
        }
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in ["plain\n\ttext", "naïve café", "日本語", "👩\u{200d}🚀 ❤\u{fe0f}", "עברית"]
        {
            assert_eq!(visible_text(text), text);
        }
    }

    /// Y06: JSON for a terminal has no such code point either, and says the same.
    #[test]
    fn y06_json_for_a_terminal_says_the_same() {
        for character in (0_u32..0x11_0000).filter_map(char::from_u32) {
            let text = format!("a{character}b");
            let json = serde_json::to_string(&text).unwrap();
            let shown = visible_json(&json);
            assert!(crate::hidden::hidden_characters(&shown).next().is_none(), "{character:?}");
            assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }
    }

    /// X15: joiners and the emoji selector are escaped where nothing needs them.
    #[test]
    fn joiners_without_a_reason_are_escaped() {
        assert_eq!(visible_text("a\u{200c}b\u{200d}c\u{fe0f}"), "a\\u{200c}b\\u{200d}c\\u{fe0f}");
    }

    #[test]
    fn one_line_stays_one_line() {
        assert_eq!(visible_line("a\nb\u{1b}[2J"), "a\\nb\\u{1b}[2J");
    }
}
