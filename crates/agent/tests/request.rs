//! A request over HTTP, as the stub servers of these tests read it.

use std::io::{BufRead, Result};

/// A request with its headers in small letters.
pub(crate) struct StubRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl StubRequest {
    pub(crate) fn read(reader: &mut impl BufRead) -> Result<StubRequest> {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut words = line.split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (mut headers, mut length) = (Vec::new(), 0);
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
            if name == "content-length" {
                length = value.parse().unwrap();
            }
            headers.push((name, value));
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(StubRequest { method, path, headers, body })
    }
}
