//! The addresses of documents: `file:` URIs.

use std::path::{Path, PathBuf};

/// Returns the path of a `file:` URI of this machine; `None` for any other.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(rest.len());
    let mut rest = rest.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            b'?' | b'#' => break,
            byte => byte,
        });
    }
    if bytes.contains(&0) {
        return None;
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Returns the URI of an absolute path.
pub(super) fn uri_of(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_addresses_are_translated() {
        let path = Path::new("/a b/ü#?%/C.md");
        assert_eq!(uri_of(path), "file:///a%20b/%C3%BC%23%3F%25/C.md");
        assert_eq!(path_of(&uri_of(path)).as_deref(), Some(path));
        for other in
            ["untitled:Untitled-1", "file://host/a", "file:///%", "file:///%zz", "file:///%00"]
        {
            assert_eq!(path_of(other), None, "{other}");
        }
    }
}
