//! The patterns of checks: texts, regular expressions and globs.

use std::fmt;
use std::sync::Arc;

use brief_syntax::Span;
use brief_syntax::glob::{Glob, GlobError};

/// A text or a regular expression, `/…/`.
#[derive(Debug, Clone)]
pub enum CheckPattern {
    Literal {
        text: Arc<str>,
        span: Span,
    },
    Regex {
        /// What stands between the slashes.
        pattern: Arc<str>,
        /// True with `i` behind the last slash: upper and lower case are the same.
        ignores_case: bool,
        span: Span,
    },
}

impl CheckPattern {
    /// Reads a pattern as it is written. A text in slashes, and possibly an `i` behind them, is a regular expression.
    pub fn new(written: &str, span: Span) -> CheckPattern {
        let inner = written.strip_prefix('/').and_then(|rest| {
            let (rest, ignores_case) = match rest.strip_suffix("/i") {
                Some(rest) => (rest, true),
                None => (rest.strip_suffix('/')?, false),
            };
            (!rest.is_empty()).then_some((rest, ignores_case))
        });
        match inner {
            Some((pattern, ignores_case)) => {
                CheckPattern::Regex { pattern: pattern.into(), ignores_case, span }
            }
            None => CheckPattern::Literal { text: written.into(), span },
        }
    }

    /// Returns the place of the pattern.
    pub fn span(&self) -> Span {
        match self {
            CheckPattern::Literal { span, .. } | CheckPattern::Regex { span, .. } => *span,
        }
    }
}

impl fmt::Display for CheckPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckPattern::Literal { text, .. } => formatter.write_str(text),
            CheckPattern::Regex { pattern, ignores_case, .. } => {
                write!(formatter, "/{pattern}/{}", if *ignores_case { "i" } else { "" })
            }
        }
    }
}

/// A glob, relative to the directory of its rule, or to the root of the project with a `/` before it.
#[derive(Debug, Clone)]
pub struct CheckGlob {
    written: Arc<str>,
    glob: Glob,
    /// True if it counts from the root of the project.
    pub is_from_root: bool,
    pub span: Span,
}

impl CheckGlob {
    /// Compiles a glob.
    pub fn new(written: &str, span: Span) -> Result<CheckGlob, GlobError> {
        let (rest, is_from_root) = match written.strip_prefix('/') {
            Some(rest) => (rest, true),
            None => (written, false),
        };
        let mut stripped = rest;
        while let Some(rest) = stripped.strip_prefix("./") {
            stripped = rest;
        }
        let glob = Glob::new(stripped)?;
        Ok(CheckGlob { written: written.into(), glob, is_from_root, span })
    }

    /// Returns the glob as it is written.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Returns the compiled glob, which is relative to the directory that it counts from.
    pub fn glob(&self) -> &Glob {
        &self.glob
    }

    /// Returns the path as this glob sees it, of a path below the root and the rule's directory below the root; `None`
    /// if the path is elsewhere.
    pub fn relative_path<'p>(&self, path: &'p str, directory: &str) -> Option<&'p str> {
        if self.is_from_root || directory.is_empty() {
            return Some(path);
        }
        let rest = path.strip_prefix(directory)?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }

    /// Returns whether it matches a path below the root, for a rule of a directory below the root.
    pub fn matches(&self, path: &str, directory: &str) -> bool {
        self.relative_path(path, directory).is_some_and(|path| self.glob.matches(path))
    }

    /// Returns whether it could match a file below a directory, which may be above that of the rule.
    pub fn could_match_inside(&self, below: &str, directory: &str) -> bool {
        if let Some(below) = self.relative_path(below, directory) {
            return self.glob.could_match_inside(below);
        }
        below.is_empty() || directory.strip_prefix(below).is_some_and(|rest| rest.starts_with('/'))
    }
}
