//! Messages with headers, as in the language server protocol: their length, an empty line, one message.

use std::io::{self, BufRead, Read};

use serde_json::Value as Json;

/// The limit for the bytes of a message. An editor sends a whole file in one.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The limit for the bytes of all headers of a message.
const MOST_HEADER_BYTES: u64 = 8 * 1024;

/// One frame.
#[derive(Debug, PartialEq)]
pub enum HeadedFrame {
    /// Valid JSON.
    Message(Json),
    /// A body that is not JSON, with the reason.
    Wrong(String),
}

/// Reads a frame; `None` at the end. After an error the next frame cannot be found.
pub fn read_headed_frame(reader: &mut impl BufRead) -> io::Result<Option<HeadedFrame>> {
    let Some(length) = read_length(reader)? else { return Ok(None) };
    if length > MOST_BYTES {
        let message = format!("a message has at most {MOST_BYTES} bytes, not {length}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let mut body = Vec::new();
    reader.take(length as u64).read_to_end(&mut body)?;
    if body.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(match serde_json::from_slice(&body) {
        Ok(message) => HeadedFrame::Message(message),
        Err(error) => HeadedFrame::Wrong(error.to_string()),
    }))
}

/// Reads the headers, and returns the length of the body; `None` at the end.
fn read_length(reader: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut headers = reader.take(MOST_HEADER_BYTES);
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if headers.read_until(b'\n', &mut line)? == 0 || line.last() != Some(&b'\n') {
            let is_end = line.is_empty() && length.is_none() && headers.limit() > 0;
            return if is_end { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        let line = String::from_utf8_lossy(&line);
        let Some((name, value)) = line.trim_end().split_once(':') else {
            if !line.trim_end().is_empty() {
                let message = format!("`{}` is not a header", line.trim_end());
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            let missing =
                || io::Error::new(io::ErrorKind::InvalidData, "a message without a length");
            return length.ok_or_else(missing).map(Some);
        };
        if name.eq_ignore_ascii_case("content-length") {
            let wrong =
                |_| io::Error::new(io::ErrorKind::InvalidData, "a message length is not a number");
            length = Some(value.trim().parse().map_err(wrong)?);
        }
    }
}

/// Returns the bytes of a message.
pub fn frame_with_headers(message: &Json) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn frames_are_read_one_after_the_other() {
        let text = "Content-Length: 2\r\nContent-Type: x\r\n\r\n{}content-length:4\r\n\r\nnullContent-Length: 1\r\n\r\n{";
        let mut reader = text.as_bytes();
        assert_eq!(read_headed_frame(&mut reader).unwrap(), Some(HeadedFrame::Message(json!({}))));
        assert_eq!(read_headed_frame(&mut reader).unwrap(), Some(HeadedFrame::Message(Json::Null)));
        assert!(matches!(read_headed_frame(&mut reader).unwrap(), Some(HeadedFrame::Wrong(_))));
        assert_eq!(read_headed_frame(&mut reader).unwrap(), None);
    }

    #[test]
    fn nonsense_is_an_error_and_needs_no_memory() {
        for text in [
            "Content-Length: 99999999999999\r\n\r\n",
            "Content-Length: -1\r\n\r\n",
            "Content-Length: 5\r\n\r\n{}",
            "Content-Length: 5",
            "hello\r\n\r\n",
            "X: y\r\n\r\n",
            &"X: y\r\n".repeat(10_000),
            &"x".repeat(1 << 20),
        ] {
            let shown = &text[..text.len().min(40)];
            assert!(read_headed_frame(&mut text.as_bytes()).is_err(), "{shown}");
        }
    }

    #[test]
    fn any_input_comes_to_an_end() {
        arbtest::arbtest(|unstructured| {
            let parts: [&[u8]; 6] = [b"Content-Length: ", b"2", b"\r\n", b"{}", b":", b"\xff"];
            let mut input = Vec::new();
            for _ in 0..unstructured.int_in_range(0..=20)? {
                input.extend_from_slice(unstructured.choose(&parts)?);
            }
            let mut reader = input.as_slice();
            while let Ok(Some(_)) = read_headed_frame(&mut reader) {}
            Ok(())
        })
        .budget_ms(300);
    }
}
