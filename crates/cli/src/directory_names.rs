//! Readable names of directories.
//!
//! Fetched files are in the cache, below the hash of their address and their commit. Such a path
//! fills four lines of a message; `acme/guidance:rules/money/RULE.md` names the source of the file.

use std::borrow::Cow;
use std::path::{MAIN_SEPARATOR, Path};

#[derive(Debug, Default)]
pub(crate) struct DirectoryNames {
    known: Vec<(String, String)>,
}

impl DirectoryNames {
    /// Names a directory; the name ends in `:` and replaces the path of the directory.
    pub(crate) fn add(&mut self, directory: &Path, name: &str) {
        let directory = directory.to_string_lossy().into_owned();
        if !self.known.iter().any(|(known, _)| *known == directory) {
            self.known.push((directory, name.to_owned()));
        }
    }

    /// Replaces paths by names in a message. A path that the user should type stays.
    pub(crate) fn replace_paths<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for (directory, name) in &self.known {
            let mut pieces = text.split(directory.as_str());
            let mut named = pieces.next().unwrap_or_default().to_owned();
            if named.len() == text.len() {
                continue;
            }
            for piece in pieces {
                if named.trim_end_matches('\'').ends_with(TYPED) {
                    named.push_str(directory);
                    named.push_str(piece);
                    continue;
                }
                match piece.strip_prefix(MAIN_SEPARATOR) {
                    Some(below) => named.extend([name.as_str(), below]),
                    None => named.extend([name.trim_end_matches([':', '/']), piece]),
                }
            }
            text = Cow::Owned(named);
        }
        text
    }
}

/// The text before a path that the user should type.
const TYPED: &str = "`brief trust ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_called_by_its_name() {
        let mut names = DirectoryNames::default();
        names.add(Path::new("/cache/1a2b"), "acme/rules:");
        assert_eq!(names.replace_paths("`/cache/1a2b/a/x.md`: no"), "`acme/rules:a/x.md`: no");
        assert_eq!(names.replace_paths("looked in /cache/1a2b, /p"), "looked in acme/rules, /p");
        assert_eq!(names.replace_paths("/p/x.md"), "/p/x.md");
        let typed = "/cache/1a2b/x.md: run `brief trust /cache/1a2b/x.md`";
        assert_eq!(
            names.replace_paths(typed),
            "acme/rules:x.md: run `brief trust /cache/1a2b/x.md`"
        );
    }
}
