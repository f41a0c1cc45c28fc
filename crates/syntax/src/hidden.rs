//! Hidden characters, and the places where ordinary text needs them.
//!
//! Lint, the terminal, the audit and the installation all use this module. [`class_of`] classifies
//! a code point by itself; [`hidden_characters`] looks at the neighbors, too, and leaves out those that a
//! script or an emoji needs: the presentation selectors of a pictograph, joiners between letters of
//! a script that joins them, the tags of the three subdivision flags. ASCII text costs one pass
//! over many bytes at a time.

mod payload;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use table::{CLASSES, JOINING, PICTOGRAPHS};

use crate::rules::Rule;
use crate::{Diagnostic, Source, Span};

/// The advice for a finding.
pub const HELP: &str = "delete it: agents read it, but reviewers cannot see it";

/// The class of an invisible character, or of one that acts on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HiddenClass {
    /// C0, DEL and C1, except tab and line feed.
    Control,
    /// Changes the reading direction.
    Bidirectional,
    /// A space or joiner without a width.
    ZeroWidth,
    /// Chooses the shape of the character before it.
    Variation,
    /// One U+FE0F at the place of an emoji that was removed: after a space, or after an opening mark.
    Leftover,
    /// A copy of ASCII that is never shown.
    Tag,
    /// A letter without a shape.
    Filler,
    /// Another format control, or reserved for one.
    Format,
    /// A line or paragraph separator of Unicode.
    Separator,
}

impl HiddenClass {
    /// Returns whether characters of this class can hide a message from a review (ruling G21).
    pub fn hides_message(self) -> bool {
        !matches!(self, HiddenClass::Control | HiddenClass::Leftover)
    }
}

impl fmt::Display for HiddenClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            HiddenClass::Control => "control character",
            HiddenClass::Bidirectional => "bidirectional control",
            HiddenClass::ZeroWidth => "zero-width character",
            HiddenClass::Variation => "variation selector",
            HiddenClass::Leftover => "presentation selector whose emoji was removed",
            HiddenClass::Tag => "tag character",
            HiddenClass::Filler => "invisible letter",
            HiddenClass::Format => "format control",
            HiddenClass::Separator => "line separator",
        })
    }
}

/// Returns the class of an invisible character, or of one that acts on a terminal, at any place.
pub fn class_of(character: char) -> Option<HiddenClass> {
    if character.is_ascii() {
        let is_control = character.is_ascii_control() && !matches!(character, '\n' | '\t');
        return is_control.then_some(HiddenClass::Control);
    }
    if character.is_control() {
        return Some(HiddenClass::Control);
    }
    let place = CLASSES.partition_point(|&(_, last, _)| last < character);
    let &(first, _, class) = CLASSES.get(place)?;
    (first <= character).then_some(class)
}

/// Returns whether a character is invisible or acts on a terminal, at any place.
pub fn is_hidden(character: char) -> bool {
    class_of(character).is_some()
}

/// A hidden character of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenCharacter {
    /// Its offset in bytes.
    pub offset: usize,
    /// The character.
    pub character: char,
    /// Its kind.
    pub class: HiddenClass,
}

/// Returns the hidden characters of a text that no script and no sequence needs at their places.
///
/// A carriage return and a byte order mark count: a terminal acts on the first and drops the
/// second. [`HiddenText::find`] leaves them out where files have them.
pub fn hidden_characters(text: &str) -> impl Iterator<Item = HiddenCharacter> {
    let mut next = 0;
    std::iter::from_fn(move || {
        loop {
            let offset = next + first_odd(text.as_bytes().get(next..)?)?;
            let character = text[offset..].chars().next()?;
            next = offset + character.len_utf8();
            if let Some(class) = class_of(character)
                && !is_needed(text, offset, character)
            {
                let is_left = is_leftover(text, offset, character);
                let class = if is_left { HiddenClass::Leftover } else { class };
                return Some(HiddenCharacter { offset, character, class });
            }
        }
    })
}

/// The number of bytes that are checked together. A piece has no early exit, so that the compiler
/// can vectorise it.
const PIECE: usize = 64;

/// Returns the offset of the first byte that is not plain.
fn first_odd(bytes: &[u8]) -> Option<usize> {
    let is_odd = |byte: &u8| !is_plain(*byte);
    let (pieces, rest) = bytes.as_chunks::<PIECE>();
    let plain =
        pieces.iter().take_while(|piece| !piece.iter().fold(false, |odd, byte| odd | is_odd(byte)));
    let skipped = plain.count() * PIECE;
    let left = if skipped == bytes.len() - rest.len() { rest } else { &bytes[skipped..] };
    left.iter().position(is_odd).map(|at| skipped + at)
}

/// Returns whether a byte is a visible character, a line feed or a tab.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..0x7f | b'\n' | b'\t')
}

/// The flags of England, Scotland and Wales: the only tag sequences that Unicode recommends.
const FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// The length of the longest sequence that begins with a black flag, in characters.
const FLAG_LENGTH: usize = 7;

/// Returns whether the script or the sequence around a character needs it.
fn is_needed(text: &str, offset: usize, character: char) -> bool {
    let mut before = text[..offset].chars().rev();
    let mut after = text[offset + character.len_utf8()..].chars();
    match character {
        // U+FFFD stands for a pictograph that an earlier program lost.
        '\u{fe0e}' | '\u{fe0f}' => before.next().is_some_and(|base| match base {
            '0'..='9' | '#' | '*' => after.next() == Some('\u{20e3}'),
            base => is_pictograph(base) || base == '\u{fffd}',
        }),
        '\u{200c}' | '\u{200d}' => {
            let (previous, next) = (before.next(), after.next());
            let ends_emoji = match previous {
                Some('\u{fe0f}') => before.next().is_some_and(is_pictograph),
                Some(previous) => is_pictograph(previous) || is_skin_tone(previous),
                None => false,
            };
            let is_emoji = character == '\u{200d}' && ends_emoji && next.is_some_and(is_pictograph);
            let ends_word = |next: char| !next.is_alphanumeric() && !is_hidden(next);
            let is_script = previous.is_some_and(needs_joiners)
                && next.is_none_or(|next| needs_joiners(next) || ends_word(next));
            is_emoji || is_script
        }
        '\u{e0020}'..='\u{e007f}' => {
            let start = text[..offset].char_indices().rev().take(FLAG_LENGTH);
            let start = start.into_iter().find(|&(_, before)| before == '\u{1f3f4}');
            start.is_some_and(|(start, _)| {
                FLAGS
                    .iter()
                    .any(|flag| text[start..].starts_with(flag) && offset < start + flag.len())
            })
        }
        _ => false,
    }
}

/// Returns whether a character is all that is left of an emoji. It says as much as a second space would: whether it is there.
fn is_leftover(text: &str, offset: usize, character: char) -> bool {
    let opens = |before: char| before.is_whitespace() || "'\"`([{".contains(before);
    character == '\u{fe0f}'
        && text[..offset].chars().next_back().is_none_or(opens)
        && !text[offset + character.len_utf8()..]
            .starts_with(|next| next != '\r' && is_hidden(next))
}

fn is_pictograph(character: char) -> bool {
    is_in(&PICTOGRAPHS, character)
}

fn is_skin_tone(character: char) -> bool {
    matches!(character, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Returns whether a character belongs to a script whose spelling needs joiners.
fn needs_joiners(character: char) -> bool {
    is_in(&JOINING, character) && !is_hidden(character)
}

fn is_in(ranges: &[(char, char)], character: char) -> bool {
    let place = ranges.partition_point(|&(_, last)| last < character);
    ranges.get(place).is_some_and(|&(first, _)| first <= character)
}

/// All hidden characters of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenText {
    /// The first hidden character.
    pub first: HiddenCharacter,
    /// The number of hidden characters.
    pub count: usize,
    /// The text that they spell, with its own hidden characters escaped; `None` if they spell none.
    pub payload: Option<String>,
}

impl HiddenText {
    /// Finds hidden characters in the text of a whole file. A byte order mark at the start and the
    /// line breaks of other systems belong to the file.
    pub fn find(text: &str) -> Option<HiddenText> {
        HiddenText::find_of(text, |_| true)
    }

    /// Finds hidden characters of some classes, like [`HiddenText::find`].
    pub fn find_of(text: &str, is_wanted: impl Fn(HiddenClass) -> bool) -> Option<HiddenText> {
        let ordinary = |found: &HiddenCharacter| match found.character {
            '\u{feff}' => found.offset == 0,
            '\r' => text.as_bytes().get(found.offset + 1) == Some(&b'\n'),
            _ => false,
        };
        let mut found =
            hidden_characters(text).filter(|found| is_wanted(found.class) && !ordinary(found));
        let first = found.next()?;
        let mut payload = payload::Decoder::default();
        let mut count = 1;
        payload.add_character(first);
        for other in found {
            count += 1;
            payload.add_character(other);
        }
        Some(HiddenText { first, count, payload: payload.finish(text) })
    }

    /// Returns the message: the code point, its class, the number of characters and the text that
    /// they spell.
    pub fn message(&self) -> String {
        let HiddenCharacter { character, class, .. } = self.first;
        let code = u32::from(character);
        let mut message = format!("invisible character U+{code:04X} ({class})");
        if self.count > 1 {
            message.push_str(&format!(", the first of {}", self.count));
        }
        if let Some(payload) = &self.payload {
            message.push_str(&format!("; hidden text: `{payload}`"));
        }
        message
    }
}

/// Returns bytes of text without the hidden characters that can carry a message; `None` when they have none.
/// Control characters stay: none of them hides text from a review (ruling G21).
pub fn without_message(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.is_ascii() {
        return None;
    }
    let mut kept = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let text = chunk.valid();
        let mut from = 0;
        for found in hidden_characters(text).filter(|found| found.class != HiddenClass::Control) {
            kept.extend_from_slice(&text.as_bytes()[from..found.offset]);
            from = found.offset + found.character.len_utf8();
        }
        kept.extend_from_slice(&text.as_bytes()[from..]);
        kept.extend_from_slice(chunk.invalid());
    }
    (kept.len() < bytes.len()).then_some(kept)
}

/// Warns of hidden text in a file, once, at the first character.
pub fn check_hidden_text(rule: Rule, source: &Arc<Source>) -> Option<Diagnostic> {
    let found = HiddenText::find(source.text())?;
    let HiddenCharacter { offset, character, .. } = found.first;
    let span = Span::new(offset, offset + character.len_utf8());
    Some(Diagnostic::new(rule, source, span, found.message()).with_help(HELP))
}
