//! Hashes of content.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of some bytes in lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    to_hexadecimal(Sha256::digest(bytes))
}

/// The SHA-256 of bytes that arrive in pieces.
#[derive(Debug, Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds a piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Returns the SHA-256 of all pieces, in the form of [`sha256`].
    pub fn finish(self) -> String {
        to_hexadecimal(self.0.finalize())
    }
}

/// Returns bytes in lower-case hexadecimal digits.
pub fn to_hexadecimal(bytes: impl IntoIterator<Item = u8>) -> String {
    let mut text = String::with_capacity(64);
    for byte in bytes {
        for half in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(u32::from(half), 16));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    /// The published values for no bytes and for `abc`.
    #[test]
    fn known_values() {
        assert_eq!(
            super::sha256(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(
            super::sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn pieces_are_the_whole() {
        let mut hasher = super::Hasher::default();
        hasher.update(b"a");
        hasher.update(b"bc");
        assert_eq!(hasher.finish(), super::sha256(b"abc"));
    }
}
