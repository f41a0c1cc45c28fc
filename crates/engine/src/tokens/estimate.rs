//! A rough estimate of a text's tokens.
//!
//! A linear model over character classes, fitted on some 3,900 guidance files against the `o200k`
//! vocabulary: half of the files are within 3.3 %, nine in ten within 8.6 %. How far it is off on
//! the texts of this repository is measured by a test (`tests/estimate.rs`).

/// Estimates how many tokens `text` costs, in one pass.
pub fn estimate_tokens(text: &str) -> usize {
    let mut counts = Counts::default();
    let mut previous = Class::Space;
    let mut word_length = 0;
    let mut previous_is_lower = false;
    for character in text.chars() {
        let class = Class::from_char(character);
        match class {
            Class::Letter => {
                if previous == Class::Letter {
                    word_length += 1;
                    counts.long_letters += u32::from(word_length > 6);
                    counts.humps += u32::from(previous_is_lower && is_upper(character));
                } else {
                    word_length = 1;
                    counts.words += 1;
                }
            }
            Class::Digit => counts.digits += 1,
            Class::Punctuation => counts.punctuation += u32::from(previous != Class::Punctuation),
            Class::Newline => counts.newlines += 1,
            Class::Ideograph => counts.ideographs += 1,
            Class::Other => counts.others += 1,
            Class::Space => {}
        }
        previous_is_lower = is_lower(character);
        previous = class;
    }
    counts.tokens()
}

fn is_upper(character: char) -> bool {
    character.is_ascii_uppercase() || !character.is_ascii() && character.is_uppercase()
}

fn is_lower(character: char) -> bool {
    character.is_ascii_lowercase() || !character.is_ascii() && character.is_lowercase()
}

#[derive(Default)]
struct Counts {
    words: u32,
    long_letters: u32,
    digits: u32,
    punctuation: u32,
    newlines: u32,
    others: u32,
    ideographs: u32,
    humps: u32,
}

impl Counts {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a sum of counts is small and not negative"
    )]
    fn tokens(&self) -> usize {
        let sum = 0.998 * f64::from(self.words)
            + 0.072 * f64::from(self.long_letters)
            + 0.775 * f64::from(self.digits)
            + 0.728 * f64::from(self.punctuation)
            + 0.746 * f64::from(self.newlines)
            + 0.378 * f64::from(self.others)
            + 0.729 * f64::from(self.ideographs)
            + 0.282 * f64::from(self.humps);
        sum.round() as usize
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Punctuation,
    Newline,
    Space,
    Ideograph,
    Other,
}

/// The class of every ASCII character, because nearly all text is made of them.
const ASCII: [Class; 128] = {
    let mut table = [Class::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        table[byte as usize] = Class::of_ascii(byte);
        byte += 1;
    }
    table
};

impl Class {
    fn from_char(character: char) -> Class {
        match ASCII.get(character as usize) {
            Some(&class) => class,
            None => Class::beyond_ascii(character),
        }
    }

    const fn of_ascii(byte: u8) -> Class {
        match byte {
            b'\n' => Class::Newline,
            b' ' | b'\t' | b'\r' => Class::Space,
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            _ if byte.is_ascii_punctuation() => Class::Punctuation,
            _ => Class::Other,
        }
    }

    fn beyond_ascii(character: char) -> Class {
        match character {
            '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' => {
                Class::Ideograph
            }
            _ if character.is_alphabetic() => Class::Letter,
            _ => Class::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::estimate_tokens;

    #[test]
    fn short_words_are_a_token_each() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("hello world"), 2);
        assert_eq!(estimate_tokens("hello\n"), 2);
    }

    #[test]
    fn more_text_never_costs_less() {
        arbtest::arbtest(|bytes| {
            let (text, more): (String, String) = bytes.arbitrary()?;
            // One token of slack: the end of the first word may join the second.
            assert!(estimate_tokens(&format!("{text}{more}")) + 1 >= estimate_tokens(&text));
            Ok(())
        });
    }
}
