//! Text that is safe to show.
//!
//! A file can hold characters that move the cursor, reverse the reading order or show nothing at
//! all. They are data to us, but a terminal would obey them. Everything that is printed for people
//! goes through [`visible`]; JSON carries the text as it is.

use std::borrow::Cow;

/// Writes a number with commas: 1,048,576.
pub fn grouped(number: u64) -> String {
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

/// Code points that show nothing by themselves: Unicode's `Default_Ignorable_Code_Point` and the
/// other format controls, sorted. The joiners and the emoji presentation selector are left out,
/// because ordinary text in many scripts needs them.
const INVISIBLE: [(char, char); 26] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200b}'),
    ('\u{200e}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0e}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Returns whether a character would act on a terminal or show nothing.
pub fn is_hidden(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control() && !matches!(character, '\n' | '\t');
    }
    if character.is_control() {
        return true;
    }
    INVISIBLE
        .binary_search_by(|&(first, last)| {
            if last < character {
                std::cmp::Ordering::Less
            } else if first > character {
                std::cmp::Ordering::Greater
            } else {
                std::cmp::Ordering::Equal
            }
        })
        .is_ok()
}

/// Returns the offset of the first hidden character, if there is one.
pub fn first_hidden(text: &str) -> Option<(usize, char)> {
    // Without an early exit, this runs many bytes at a time; nearly every text ends here.
    let is_odd = |byte: u8| !matches!(byte, b' '..0x7f | b'\n' | b'\t');
    if !text.bytes().fold(false, |odd, byte| odd | is_odd(byte)) {
        return None;
    }
    text.char_indices().find(|&(_, character)| is_hidden(character))
}

/// Returns the first character of a whole file that a program reads and a person does not see, with
/// its offset. A byte order mark at the start and the line breaks of other systems are none.
pub fn first_unseen(text: &str) -> Option<(usize, char)> {
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    // Nearly every text ends here.
    let first = mark + first_hidden(&text[mark..])?.0;
    let mut rest = text[first..].char_indices();
    let found = rest.find(|&(_, character)| is_hidden(character) && character != '\r');
    found.map(|(offset, character)| (first + offset, character))
}

/// Returns a text as one line of at most `width` characters: line breaks and repeated blanks are one
/// blank, and what is cut off is an ellipsis.
pub fn fold(text: &str, width: usize) -> String {
    let mut folded = String::new();
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
        // What is behind the edge is cut off: a word of it shows that.
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

/// Returns `text` with every hidden character written as `\u{…}`. Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    let Some((first, _)) = first_hidden(text) else {
        return Cow::Borrowed(text);
    };
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(&text[..first]);
    for character in text[first..].chars() {
        if is_hidden(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Returns `text` on one line: as [`visible`], with line breaks and tabs escaped too.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        Cow::Borrowed(text) if !text.bytes().any(|byte| matches!(byte, b'\n' | b'\t')) => {
            Cow::Borrowed(text)
        }
        shown => Cow::Owned(shown.replace('\n', "\\n").replace('\t', "\\t")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_the_search() {
        assert!(INVISIBLE.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }

    /// Ruling G11: control, bidirectional and invisible characters never reach a terminal raw.
    #[test]
    fn no_code_point_that_acts_on_a_terminal_survives() {
        for character in (0..=0x0010_ffff).filter_map(char::from_u32) {
            let text = character.to_string();
            let shown = visible(&text);
            if character.is_control() && !matches!(character, '\n' | '\t') {
                assert!(shown.starts_with("\\u{"), "{character:?} is printed raw");
            }
            assert!(!shown.chars().any(is_hidden));
        }
        for bidi in ['\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{200f}', '\u{61c}'] {
            assert!(is_hidden(bidi), "{bidi:?}");
        }
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in ["plain\n\ttext", "naïve café", "日本語", "👩\u{200d}🚀 ❤\u{fe0f}", "עברית"]
        {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn one_line_stays_one_line() {
        assert_eq!(visible_line("a\nb\u{1b}[2J"), "a\\nb\\u{1b}[2J");
    }
}
