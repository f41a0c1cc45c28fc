//! The SHA-256 of content.

use std::fmt;

use brief_system::hash::sha256;

/// The SHA-256 of some content. Its text form is 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContentHash(String);

impl ContentHash {
    pub fn from_content(content: &[u8]) -> ContentHash {
        ContentHash(sha256(content))
    }

    /// Parses 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<ContentHash> {
        let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| ContentHash(text.to_ascii_lowercase()))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4, the example for "abc".
    #[test]
    fn a_hash_is_the_standards() {
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let hash = ContentHash::from_content(b"abc");
        assert_eq!(hash.to_string(), text);
        assert_eq!(ContentHash::parse(text), Some(hash.clone()));
        assert_eq!(ContentHash::parse(&text.to_uppercase()), Some(hash));
        assert_eq!(ContentHash::parse(&text[1..]), None);
        assert_eq!(ContentHash::parse(&text.replace('b', "g")), None);
        assert_eq!(ContentHash::parse(&"é".repeat(32)), None);
    }
}
