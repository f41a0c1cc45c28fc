//! The name of content: its SHA-256.

use std::fmt;

use sha2::{Digest, Sha256};

/// The SHA-256 of some content. Its text form is 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Hashes content.
    pub fn of(content: &[u8]) -> ContentHash {
        ContentHash(Sha256::digest(content).into())
    }

    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<ContentHash> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |at: usize| char::from(pair[at]).to_digit(16);
            *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
        }
        Some(ContentHash(hash))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4, the example for "abc".
    #[test]
    fn a_hash_is_the_standards() {
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let hash = ContentHash::of(b"abc");
        assert_eq!(hash.to_string(), text);
        assert_eq!(ContentHash::parse(text), Some(hash));
        assert_eq!(ContentHash::parse(&text.to_uppercase()), Some(hash));
        assert_eq!(ContentHash::parse(&text[1..]), None);
        assert_eq!(ContentHash::parse(&text.replace('b', "g")), None);
        assert_eq!(ContentHash::parse(&"é".repeat(32)), None);
    }
}
