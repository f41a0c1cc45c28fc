//! The patterns of `match` and `exclude`.
//!
//! A pattern that ends in `/` matches directories and is skipped in a question about a file; any
//! other matches files. A leading `./` is ignored.

use std::collections::HashMap;
use std::sync::Arc;

use brief_syntax::glob::{Glob, GlobError};

/// One pattern, relative to the directory of its context file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    written: Arc<str>,
    glob: Glob,
    kind: PatternKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternKind {
    Everything,
    File,
    Directory,
    /// `./` or a chain of `**/`: the directory of the context file itself matches, too.
    OwnDirectory,
}

impl AsRef<str> for Pattern {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Pattern {
    pub fn new(written: &str) -> Result<Pattern, GlobError> {
        let stripped = strip_dot_slash(written);
        let glob = Glob::new(stripped)
            .map_err(|error| error.shifted_by(written.len() - stripped.len()))?;
        let kind = if stripped == "**" {
            PatternKind::Everything
        } else if stripped.is_empty() && !written.is_empty()
            || stripped.ends_with('/') && stripped.split_terminator('/').all(|name| name == "**")
        {
            PatternKind::OwnDirectory
        } else if stripped.ends_with('/') {
            PatternKind::Directory
        } else {
            PatternKind::File
        };
        Ok(Pattern { written: written.into(), glob, kind })
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Returns the glob without its leading `./`.
    pub fn glob(&self) -> &Glob {
        &self.glob
    }

    /// Returns whether anything below its file could match. Paths are relative and have no `..`.
    pub fn can_match(&self) -> bool {
        let written = self.as_str();
        !written.is_empty()
            && !written.starts_with('/')
            && !written.starts_with("../")
            && written != ".."
    }

    /// Returns whether it matches every file.
    pub fn is_everything(&self) -> bool {
        self.kind == PatternKind::Everything
    }

    /// Returns whether it matches directories.
    pub fn is_directory(&self) -> bool {
        matches!(self.kind, PatternKind::Directory | PatternKind::OwnDirectory)
    }

    /// Returns whether it matches a file at `path`, relative to the context file's directory.
    pub fn matches_file(&self, path: &str) -> bool {
        match self.kind {
            PatternKind::Everything => true,
            PatternKind::File => self.glob.matches(path),
            PatternKind::Directory | PatternKind::OwnDirectory => false,
        }
    }

    /// Returns whether it is a directory pattern that names `path` exactly.
    pub fn matches_directory(&self, path: &str) -> bool {
        match self.kind {
            PatternKind::Everything | PatternKind::File => false,
            PatternKind::OwnDirectory if path.is_empty() => true,
            PatternKind::Directory if path.is_empty() => false,
            _ => self.glob.matches(&format!("{path}/")),
        }
    }

    /// Returns whether it is a file pattern that could match something inside `path`.
    pub fn could_match_inside(&self, path: &str) -> bool {
        match self.kind {
            PatternKind::Everything => true,
            PatternKind::File => self.glob.could_match_inside(path),
            PatternKind::Directory | PatternKind::OwnDirectory => false,
        }
    }
}

fn strip_dot_slash(mut pattern: &str) -> &str {
    while let Some(rest) = pattern.strip_prefix("./") {
        pattern = rest;
    }
    pattern
}

/// Compiled patterns by their text, because thousands of entries share a few patterns.
#[derive(Debug, Default)]
pub struct PatternCache {
    known: HashMap<Box<str>, Pattern>,
}

impl PatternCache {
    /// Returns the pattern for a text and compiles it only once.
    pub fn get(&mut self, written: &str) -> Result<Pattern, GlobError> {
        if let Some(pattern) = self.known.get(written) {
            return Ok(pattern.clone());
        }
        let pattern = Pattern::new(written)?;
        self.known.insert(written.into(), pattern.clone());
        Ok(pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn pattern(text: &str) -> Pattern {
        Pattern::new(text).unwrap()
    }

    /// Ruling S1: a leading `./` is ignored.
    #[test]
    fn a_leading_dot_slash_says_nothing() {
        assert!(pattern("./src/**").matches_file("src/a.py"));
        assert!(pattern("././a").matches_file("a"));
        assert!(pattern("./src/**").could_match_inside("src"));
    }

    #[test]
    fn directory_patterns_name_directories_exactly() {
        assert!(pattern("tests/").matches_directory("tests"));
        assert!(!pattern("tests/").matches_directory("tests/unit"));
        assert!(!pattern("tests/").matches_file("tests"));
        assert!(pattern("**/api/").matches_directory("src/v1/api"));
        assert!(pattern("*/").matches_directory("src"));
    }

    #[test]
    fn the_own_directory_is_named_by_dot_slash_and_double_stars() {
        for own in ["./", "**/", "./**/", "**/**/"] {
            assert!(pattern(own).matches_directory(""), "{own}");
        }
        for other in ["*/", "src/", "**/*/"] {
            assert!(!pattern(other).matches_directory(""), "{other}");
        }
        assert!(!pattern("./").matches_directory("src"));
        assert!(pattern("**/").matches_directory("src/a"));
    }
}
