//! The addresses of documents: `file:` URIs.

use std::path::{Path, PathBuf};

use brief_syntax::markdown::decoded_destination;
use brief_syntax::text::percent_encoded;

/// Returns the path of a `file:` URI of this machine; `None` for any other.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let path = decoded_destination(rest);
    (!path.contains(['\0', char::REPLACEMENT_CHARACTER])).then(|| PathBuf::from(path))
}

/// Returns the URI of an absolute path.
pub(super) fn uri_of(path: &Path) -> String {
    format!("file://{}", percent_encoded(&path.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_addresses_are_translated() {
        let path = Path::new("/a b/ü#?%/C.md");
        assert_eq!(uri_of(path), "file:///a%20b/%C3%BC%23%3F%25/C.md");
        assert_eq!(path_of(&uri_of(path)).as_deref(), Some(path));
        for other in ["untitled:Untitled-1", "file://host/a", "file:///%ff", "file:///%00"] {
            assert_eq!(path_of(other), None, "{other}");
        }
    }
}
