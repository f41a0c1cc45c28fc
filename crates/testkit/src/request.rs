//! A request over HTTP, as the stub servers of tests read it.

use std::io::{BufRead, Error, Result};

/// A request with its headers in small letters.
pub struct StubRequest {
    /// The method.
    pub method: String,
    /// The path and the query.
    pub path: String,
    /// The names and values of the headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl StubRequest {
    /// Reads a request with its body.
    pub fn read(reader: &mut impl BufRead) -> Result<StubRequest> {
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
                length = value.parse().map_err(Error::other)?;
            }
            headers.push((name, value));
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(StubRequest { method, path, headers, body })
    }
}
