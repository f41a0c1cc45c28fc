//! Messages with one byte after each: a line break for MCP, a NUL for a browser.

/// A message that is longer than its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

/// The bytes that have come and are no whole message yet.
#[derive(Debug, Clone)]
pub struct DelimitedInput {
    delimiter: u8,
    most: usize,
    bytes: Vec<u8>,
    /// The number of these bytes that are known to hold no delimiter.
    searched: usize,
}

impl DelimitedInput {
    /// Creates an empty input for messages of at most so many bytes.
    pub fn new(delimiter: u8, most: usize) -> DelimitedInput {
        DelimitedInput { delimiter, most, bytes: Vec::new(), searched: 0 }
    }

    /// Adds bytes that have come.
    pub fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
    }

    /// Takes the next whole message, without its delimiter; `None` until it is there.
    pub fn take_message(&mut self) -> Result<Option<Vec<u8>>, TooLong> {
        // Only new bytes are searched: a long message comes in thousands of pieces.
        let new = self.bytes.get(self.searched..).unwrap_or_default();
        if let Some(end) = memchr::memchr(self.delimiter, new) {
            let mut message: Vec<u8> = self.bytes.drain(..=self.searched + end).collect();
            message.pop();
            self.searched = 0;
            return Ok(Some(message));
        }
        self.searched = self.bytes.len();
        if self.searched > self.most { Err(TooLong) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_in_any_pieces() {
        let text = b"one\0\0three\0rest";
        for size in 1..text.len() {
            let mut input = DelimitedInput::new(0, 5);
            let mut found = Vec::new();
            for piece in text.chunks(size) {
                input.push(piece);
                while let Some(message) = input.take_message().unwrap() {
                    found.push(String::from_utf8(message).unwrap());
                }
            }
            assert_eq!(found, ["one", "", "three"], "{size}");
        }
    }

    #[test]
    fn a_message_without_an_end_is_too_long() {
        let mut input = DelimitedInput::new(b'\n', 4);
        input.push(b"1234");
        assert_eq!(input.take_message(), Ok(None));
        input.push(b"5");
        assert_eq!(input.take_message(), Err(TooLong));
    }
}
