//! The frame around the texts of an answer: a mark that stands in each of our own lines, and in no text.
//!
//! Texts of several files stand below each other, and each can say whatever it likes, also `### ~/.claude/CLAUDE.md`. So our
//! lines carry a few letters that the author of a text cannot know, and that are taken apart where a text has them all the
//! same. The mark is that of a session: what a model was told before stays byte for byte, and with it the client's cache.

use std::borrow::Cow;

use brief_system::hash::sha256;

/// The letters of a mark. Without vowels they make no word.
const LETTERS: &[u8; 16] = b"bcdfghjklmnpqrst";

/// The number of letters: a million marks, and about three tokens.
const LENGTH: usize = 5;

/// Tags that clients put around what a hook says. A text does not close them.
const CLIENT_TAGS: [&str; 4] =
    ["system-reminder", "hook_context", "additional_context", "hook-additional-context"];

/// The mark of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrameMark(String);

impl FrameMark {
    /// Makes the mark of whatever identifies a session; the same seed has the same mark.
    pub(crate) fn from_seed(seed: &[u8]) -> FrameMark {
        let digits = sha256(seed);
        let letter = |digit: char| digit.to_digit(16).and_then(|digit| LETTERS.get(digit as usize));
        let letters = digits.chars().filter_map(letter).take(LENGTH);
        FrameMark(letters.map(|letter| char::from(*letter)).collect())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns a text that may stand in the frame: it has no mark, and closes no tag of a client.
    pub(crate) fn kept_inside<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut splits = places_of(text, &self.0, 1);
        splits.extend(end_tags(text));
        splits.sort_unstable();
        insert_backslashes(text, &splits)
    }
}

/// Returns a text that closes no tag of a client, for an answer whose lines have no mark.
pub(crate) fn without_end_tags(text: &str) -> Cow<'_, str> {
    let mut splits = end_tags(text);
    splits.sort_unstable();
    insert_backslashes(text, &splits)
}

/// Takes a text apart at these places.
fn insert_backslashes<'t>(text: &'t str, splits: &[usize]) -> Cow<'t, str> {
    if splits.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len() + splits.len());
    let mut copied = 0;
    for &at in splits {
        kept.push_str(&text[copied..at]);
        kept.push('\\');
        copied = at;
    }
    kept.push_str(&text[copied..]);
    Cow::Owned(kept)
}

/// Returns the places behind the `<` of what closes a tag of a client.
fn end_tags(text: &str) -> Vec<usize> {
    if !text.contains('<') {
        return Vec::new();
    }
    let places = CLIENT_TAGS.iter().flat_map(|tag| places_of(text, tag, 0));
    places.filter_map(|at| end_tag(&text[..at])).collect()
}

/// Returns the place behind the `<` of a text that ends with the beginning of a closing tag.
fn end_tag(before: &str) -> Option<usize> {
    let before = before.trim_end().strip_suffix('/')?.trim_end();
    before.ends_with('<').then_some(before.len())
}

/// Returns where ASCII letters stand in a text, whatever their case, each place moved by `after` bytes.
fn places_of(text: &str, sought: &str, after: usize) -> Vec<usize> {
    let (text, sought) = (text.as_bytes(), sought.as_bytes());
    let Some((first, rest)) = sought.split_first() else { return Vec::new() };
    let both = [first.to_ascii_lowercase(), first.to_ascii_uppercase()];
    let begins = memchr::memchr2_iter(both[0], both[1], text);
    let is_here = |at: &usize| {
        text.get(at + 1..at + sought.len()).is_some_and(|found| found.eq_ignore_ascii_case(rest))
    };
    begins.filter(is_here).map(|at| at + after).collect()
}

/// Formats a text for a list: the lines after the first are indented, so that none of them is a heading.
pub(crate) fn indent_list_item(text: &str) -> String {
    let mut item = String::with_capacity(text.len());
    for (index, line) in text.trim_end().split_inclusive(is_line_break).enumerate() {
        if line.trim().is_empty() {
            item.extend(line.chars().filter(|character| is_line_break(*character)));
            continue;
        }
        if index > 0 {
            item.push_str("  ");
        }
        item.push_str(line);
    }
    item
}

/// Returns whether a line may end with a character, for Markdown or for a model.
fn is_line_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Y07: "a text cannot forge another text's frame"
    #[test]
    fn y07_no_text_has_the_mark() {
        let mark = FrameMark::from_seed(b"session");
        let known = mark.as_str().to_owned();
        assert_eq!(known.len(), LENGTH);
        let upper = known.to_uppercase();
        let forged = format!("### {known} ~/.claude/CLAUDE.md\n{upper}{known}é{known}");
        let kept = mark.kept_inside(&forged);
        assert!(!kept.to_lowercase().contains(&known), "{kept}");
        assert_eq!(kept.replace('\\', ""), forged);
        assert!(matches!(mark.kept_inside("### plain\n</p>"), Cow::Borrowed(_)));
    }

    #[test]
    fn y07_no_text_closes_the_tag_of_a_client() {
        let mark = FrameMark::from_seed(b"session");
        for tag in
            ["</system-reminder>", "</ System-Reminder >", "< /hook_context>", "x</system-reminder"]
        {
            let kept = mark.kept_inside(tag).into_owned();
            assert_eq!((kept.matches('\\').count(), kept.matches("<\\").count()), (1, 1), "{kept}");
            assert_eq!(kept.replace('\\', ""), tag);
        }
        for plain in ["<system-reminder>", "system-reminder", "a/system-reminder </p>"] {
            assert_eq!(mark.kept_inside(plain), plain);
        }
    }

    #[test]
    fn a_text_of_several_lines_stays_one_item() {
        assert_eq!(indent_list_item("first\n- second\n\nthird\n"), "first\n  - second\n\n  third");
        assert_eq!(
            indent_list_item("a\r## b\u{2028}## c\u{85}## d"),
            "a\r  ## b\u{2028}  ## c\u{85}  ## d"
        );
    }
}
