//! The decoder of text in hidden characters.

use super::{HiddenCharacter, HiddenClass};
use crate::text::{fold_line, visible_line};
use brief_system::hash::to_hexadecimal;

/// The limit of decoded hidden characters.
const SYMBOLS: usize = 65_536;

/// The number of shown characters of a payload.
const SHOWN: usize = 160;

/// The least number of bits that are decoded: four letters.
const LEAST_BITS: usize = 28;

/// Collects hidden characters by their possible encoding.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// Tag characters: each encodes an ASCII character.
    tags: String,
    /// Variation selectors: each encodes a byte.
    bytes: Vec<u8>,
    /// All others: two different ones encode bits.
    symbols: Vec<char>,
    /// The offset of the first bidirectional control.
    bidirectional: Option<usize>,
}

impl Decoder {
    pub(super) fn add_character(&mut self, found: HiddenCharacter) {
        let code = u32::from(found.character);
        match (found.class, code) {
            (HiddenClass::Tag, 0xe0020..=0xe007e) if self.tags.len() < SYMBOLS => {
                self.tags.extend(char::from_u32(code - 0xe0000));
            }
            (HiddenClass::Tag, _) => {}
            (HiddenClass::Variation, 0xfe00..=0xfe0f) if self.bytes.len() < SYMBOLS => {
                self.bytes.extend(u8::try_from(code - 0xfe00));
            }
            (HiddenClass::Variation, 0xe0100..=0xe01ef) if self.bytes.len() < SYMBOLS => {
                self.bytes.extend(u8::try_from(code - 0xe0100 + 16));
            }
            (class, _) => {
                if class == HiddenClass::Bidirectional {
                    self.bidirectional.get_or_insert(found.offset);
                }
                if self.symbols.len() < SYMBOLS {
                    self.symbols.push(found.character);
                }
            }
        }
    }

    /// Returns the decoded text, on one line and without hidden characters of its own.
    pub(super) fn finish(self, text: &str) -> Option<String> {
        let spelled = if self.tags.len() > 1 {
            Some(self.tags)
        } else if self.bytes.len() > 1 {
            let digits = || to_hexadecimal(self.bytes.iter().copied().take(SHOWN));
            Some(decode_printable(&self.bytes).unwrap_or_else(digits))
        } else {
            decode_bits(&self.symbols)
        };
        let turned = || {
            let rest = text.get(self.bidirectional?..)?;
            rest.lines().next().map(str::to_owned)
        };
        let spelled = spelled.or_else(turned)?;
        Some(fold_line(&visible_line(&spelled), SHOWN))
    }
}

/// Returns bytes as text if they are printable.
fn decode_printable(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_shown = |character: char| !character.is_control() || character.is_whitespace();
    text.chars().all(is_shown).then(|| text.to_owned())
}

/// Decodes a series of two different characters as bits, eight or seven to a letter, with either as
/// one.
fn decode_bits(symbols: &[char]) -> Option<String> {
    let first = *symbols.first()?;
    let other = symbols.iter().copied().find(|&symbol| symbol != first)?;
    let is_binary = symbols.iter().all(|&symbol| symbol == first || symbol == other);
    if !is_binary || symbols.len() < LEAST_BITS {
        return None;
    }
    [8, 7].into_iter().find_map(|width| {
        [first, other].into_iter().find_map(|one| {
            let byte = |bits: &[char]| {
                bits.iter().fold(0_u8, |byte, &bit| byte << 1 | u8::from(bit == one))
            };
            let bytes: Vec<u8> = symbols.chunks_exact(width).map(byte).collect();
            decode_printable(&bytes)
        })
    })
}
