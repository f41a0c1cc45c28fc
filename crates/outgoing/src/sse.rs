//! A parser for server-sent events.
//!
//! It accepts any bytes: it splits them at line ends and ignores unknown fields, as the standard says. Only
//! the size of an event is limited.

use std::time::Duration;

/// An event of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEvent {
    /// The field `event`; mostly empty.
    pub kind: String,
    pub data: String,
}

/// The place in a stream up to which its events have come.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct StreamPlace {
    /// The field `id` of the last event that has one: a server can go on after it.
    pub last_id: Option<String>,
    /// The pause before the stream is asked for again.
    pub retry: Option<Duration>,
}

/// An event above the size limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// Parses events from a stream that comes in pieces.
#[derive(Debug)]
pub struct Events {
    limit: usize,
    line: Vec<u8>,
    /// The data of the current event so far.
    data: Option<Vec<u8>>,
    kind: Vec<u8>,
    /// The `id` of the current event.
    id: Option<String>,
    place: StreamPlace,
    /// True after a carriage return, which a line feed may complete.
    after_return: bool,
    is_first_line: bool,
}

impl Events {
    /// Creates a parser for events and lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Events {
        Events {
            limit,
            line: Vec::new(),
            data: None,
            kind: Vec::new(),
            id: None,
            place: StreamPlace::default(),
            after_return: false,
            is_first_line: true,
        }
    }

    /// Returns the place after the last complete event.
    pub fn place(&self) -> &StreamPlace {
        &self.place
    }

    /// Parses a piece and adds the events that it completes.
    pub fn feed(&mut self, piece: &[u8], events: &mut Vec<ServerEvent>) -> Result<(), TooLarge> {
        let mut rest = piece;
        while let Some((&first, after)) = rest.split_first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                rest = after;
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + part.len() > self.limit {
                return Err(TooLarge);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            self.end_line(events)?;
        }
        Ok(())
    }

    /// Returns the event at the end of the stream. The standard drops it, but some servers omit the last
    /// empty line.
    pub fn finish(mut self) -> Option<ServerEvent> {
        // An incomplete line is ignored, unless it is the end mark.
        if self.line.trim_ascii_end().ends_with(b"[DONE]") {
            self.end_line(&mut Vec::new()).ok()?;
        }
        self.take_event()
    }

    fn end_line(&mut self, events: &mut Vec<ServerEvent>) -> Result<(), TooLarge> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_first_line) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        if line.is_empty() {
            // Also after an event without data.
            self.place.last_id = self.id.take().or(self.place.last_id.take());
            events.extend(self.take_event());
            return Ok(());
        }
        let colon = line.iter().position(|&byte| byte == b':');
        let (name, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (&line[..], &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                let data = match &mut self.data {
                    Some(data) => {
                        data.push(b'\n');
                        data
                    }
                    none => none.insert(Vec::new()),
                };
                if data.len() + value.len() > self.limit {
                    return Err(TooLarge);
                }
                data.extend_from_slice(value);
            }
            b"event" => self.kind = value.to_vec(),
            b"id" => {
                let id = std::str::from_utf8(value).ok().filter(|id| !id.contains('\0'));
                self.id = id.map(str::to_owned).or(self.id.take());
            }
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                let milliseconds =
                    std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                self.place.retry = milliseconds.map(Duration::from_millis).or(self.place.retry);
            }
            _ => {}
        }
        Ok(())
    }

    fn take_event(&mut self) -> Option<ServerEvent> {
        let kind = std::mem::take(&mut self.kind);
        let data = self.data.take()?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Some(ServerEvent { kind: text(kind), data: text(data) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let (mut reader, mut found) = (Events::new(1_000), Vec::new());
        for piece in pieces {
            reader.feed(piece, &mut found).unwrap();
        }
        found.extend(reader.finish());
        found.into_iter().map(|event| (event.kind, event.data)).collect()
    }

    fn data(text: &str) -> Vec<String> {
        events(&[text.as_bytes()]).into_iter().map(|(_, data)| data).collect()
    }

    #[test]
    fn lines_end_in_three_ways() {
        for text in
            ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r"]
        {
            assert_eq!(data(text), ["a", "b"], "{text:?}");
        }
    }

    #[test]
    fn what_is_no_data_is_passed_by() {
        assert_eq!(data(": still there\n\nid: 1\nretry: 5\ndata:x\n\nnonsense\n\n"), ["x"]);
        assert_eq!(data("data: a\ndata: b\ndata\n\n"), ["a\nb\n"]);
        assert_eq!(data("\u{feff}data: a\n\n"), ["a"]);
        assert_eq!(
            events(&[b"event: error\ndata: {}\n\n"]),
            [("error".to_owned(), "{}".to_owned())]
        );
    }

    /// HTML standard, 9.2.6: an `id` counts when its event is complete, with data or without.
    #[test]
    fn a_stream_has_a_place() {
        for (text, last_id, retry) in [
            ("data: a\n\n", None, None),
            ("id: 1\nretry: 500\ndata: \n\n", Some("1"), Some(500)),
            ("id: 1\n\nid: 2\ndata: cut", Some("1"), None),
            ("id: 1\ndata: a\n\ndata: b\n\n", Some("1"), None),
            ("id: 1\n\nid\n\n", Some(""), None),
            ("id: a\0b\n\nretry: 5s\n\nretry: 99999999999999999999999\n\n", None, None),
        ] {
            let mut reader = Events::new(1_000);
            reader.feed(text.as_bytes(), &mut Vec::new()).unwrap();
            let place = reader.place();
            assert_eq!(place.last_id.as_deref(), last_id, "{text:?}");
            assert_eq!(place.retry, retry.map(Duration::from_millis), "{text:?}");
        }
    }

    #[test]
    fn the_end_needs_no_empty_line() {
        assert_eq!(data("data: a\n\ndata: [DONE]"), ["a", "[DONE]"]);
        assert_eq!(data("data: a\n"), ["a"]);
        assert_eq!(data("data: {\"cut"), Vec::<String>::new());
    }

    #[test]
    fn an_event_has_a_limit() {
        let long = vec![b'x'; 2_000];
        assert_eq!(Events::new(1_000).feed(&long, &mut Vec::new()), Err(TooLarge));
        let lines = "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n".repeat(50);
        assert_eq!(Events::new(1_000).feed(lines.as_bytes(), &mut Vec::new()), Err(TooLarge));
    }

    /// Any bytes in any pieces: no panic, and the same events.
    #[test]
    fn any_bytes_in_any_pieces() {
        arbtest::arbtest(|u| {
            let mut bytes = Vec::new();
            while !u.is_empty() && bytes.len() < 500 {
                let words: [&[u8]; 10] = [
                    b"data: ",
                    b"data:",
                    b"event: x",
                    b"\n",
                    b"\r",
                    b"\r\n",
                    b":",
                    b"[DONE]",
                    b"\xef\xbb\xbf",
                    b"{}",
                ];
                if u.ratio(4, 5)? {
                    bytes.extend_from_slice(u.choose(&words)?);
                } else {
                    bytes.push(u.arbitrary()?);
                }
            }
            let whole = events(&[&bytes]);
            let cut = u.int_in_range(0..=bytes.len())?;
            let second = u.int_in_range(cut..=bytes.len())?;
            assert_eq!(events(&[&bytes[..cut], &bytes[cut..second], &bytes[second..]]), whole);
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(events(&single), whole);
            Ok(())
        });
    }
}
