//! Private parsers, exported for the targets in `fuzz/` only.

use brief_syntax::Diagnostic;

use crate::client_files::check_as_each;

/// Checks a text as each of the clients' own files.
pub fn client_files(text: &str) -> Vec<Diagnostic> {
    check_as_each(text)
}
