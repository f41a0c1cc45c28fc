//! Globs: patterns for paths, with the semantics of the Go library doublestar.
//!
//! # Syntax
//!
//! | Pattern          | matches                                                                  |
//! |------------------|--------------------------------------------------------------------------|
//! | `*`              | any characters but `/`                                                   |
//! | `?`              | one character but `/`                                                    |
//! | `**`             | as a whole segment, any directories; as the last, all that is below too  |
//! | `[ab]`, `[a-z]`  | one character that is listed                                             |
//! | `[!ab]`, `[^ab]` | one character that is not listed                                         |
//! | `{a,b}`          | either alternative; braces may nest, be empty, and contain `/`           |
//! | `\*`             | the character itself                                                     |
//!
//! A character is a Unicode scalar value. Paths are relative and their separator is `/`.
//!
//! ```
//! use brief_syntax::glob::{Glob, covers_everything_inside};
//!
//! let python = Glob::new("src/**/*.{py,pyi}")?;
//! assert!(python.matches("src/api/server.py"));
//! assert!(python.could_match_inside("src/api"));
//! assert!(!python.could_match_inside("docs"));
//!
//! let vendored = Glob::new("**/vendor/**")?;
//! assert!(covers_everything_inside(&[&python, &vendored], "src/vendor"));
//! # Ok::<(), brief_syntax::glob::GlobError>(())
//! ```
//!
//! # Surprising rules
//!
//! The rules are those of doublestar's `Match` in version 4, including these:
//!
//! - `**` that is not a whole segment is a `*`. So is a longer run of stars.
//! - A class matches every character that it admits, even `/`: `a[!b]c` matches `a/c`.
//! - `src/**` matches `src` itself, and `*/**` every name.
//! - At the end of the path, the rest of the pattern has to be nothing, `*`, `**`, `/**`, `**/` or
//!   `/**/`, or braces one of whose alternatives makes it so together with the text after them.
//!   That is stricter than "can match nothing": `a***` does not match `a`, nor does `a*/**`, nor
//!   does `a*{,b}`.
//!
//! # Differences from doublestar
//!
//! - A pattern is validated when it is made; doublestar may find an error while matching, or never.
//! - `**` counts as a whole segment by the text with the alternatives substituted. doublestar takes
//!   the start of any alternative for the start of a segment, so that `a{**,b}` matches `a/c` there,
//!   and ignores the text in braces after the stars.
//! - A match is found if there is one. doublestar does not backtrack at the end of the path, so that
//!   `*b**/` does not match `bb` there although `*` could take the first `b` and leave `**/`.
//!
//! # Implementation
//!
//! A new [`Glob`] has only been scanned for errors. Patterns of the common shapes are matched on
//! their text, from both ends of the path (`segments`). All others, and all questions about
//! directories, use an automaton that is built on first use (`program`). It costs at most the
//! length of the pattern times that of the path.

mod alphabet;
mod cover;
mod error;
mod letters;
mod program;
mod reach;
mod scan;
mod segments;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

pub use error::{GlobError, GlobProblem};
pub use letters::LetterCase;

use program::GlobProgram;
use reach::MarkReach;
use segments::{GlobShape, SegmentMatcher};

/// The longest accepted pattern. It bounds the time of a match, and longer ones are not written by
/// hand; within it, braces may nest to any depth.
pub const MAX_PATTERN_BYTES: usize = 4096;

/// The separator of alternatives within braces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Alternatives {
    /// `{a,b}`, as in doublestar.
    #[default]
    Comma,
    /// `{a,b}` or `{a|b}`, also mixed.
    CommaOrBar,
}

impl Alternatives {
    fn separated_by(self, character: char) -> bool {
        match self {
            Alternatives::Comma => character == ',',
            Alternatives::CommaOrBar => matches!(character, ',' | '|'),
        }
    }
}

/// The options of a glob dialect. The default is doublestar's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GlobOptions {
    /// The treatment of upper and lower case.
    pub case: LetterCase,
    /// The separator of alternatives within braces.
    pub alternatives: Alternatives,
}

/// Returns the length of the literal start of a pattern, up to its first syntax. A `/` before that
/// is not counted, because `a/**` matches `a`.
fn literal_prefix(pattern: &str) -> usize {
    let end = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    pattern[..end].trim_end_matches('/').len()
}

/// A pattern for paths, described in the [module](self).
///
/// Two globs are equal if their texts and options are. A clone shares the compiled form of the
/// original.
#[derive(Clone)]
pub struct Glob {
    shared: Arc<CompiledGlob>,
}

struct CompiledGlob {
    pattern: Box<str>,
    options: GlobOptions,
    shape: GlobShape,
    /// The number of first bytes that every matching path has; most paths differ there.
    prefix: usize,
    program: OnceLock<GlobProgram>,
    reach: OnceLock<MarkReach>,
}

impl Glob {
    /// Compiles a glob by the rules of doublestar.
    pub fn new(pattern: &str) -> Result<Glob, GlobError> {
        Glob::with_options(pattern, GlobOptions::default())
    }

    /// Compiles a glob by the rules of a dialect.
    pub fn with_options(pattern: &str, options: GlobOptions) -> Result<Glob, GlobError> {
        if pattern.len() > MAX_PATTERN_BYTES {
            let offset = pattern.floor_char_boundary(MAX_PATTERN_BYTES);
            return Err(GlobError::new(offset, GlobProblem::TooLong));
        }
        let shape = GlobShape::from_pattern(pattern, options)?;
        let (program, reach) = (OnceLock::new(), OnceLock::new());
        let prefix = match options.case {
            LetterCase::Sensitive => literal_prefix(pattern),
            LetterCase::Insensitive => 0,
        };
        let shared =
            CompiledGlob { pattern: pattern.into(), options, shape, prefix, program, reach };
        Ok(Glob { shared: Arc::new(shared) })
    }

    /// Returns the text of the pattern.
    pub fn as_str(&self) -> &str {
        &self.shared.pattern
    }

    /// Returns the options of the pattern.
    pub fn options(&self) -> GlobOptions {
        self.shared.options
    }

    /// Returns whether the pattern matches the path, which is relative and separated by `/`.
    pub fn matches(&self, path: &str) -> bool {
        let CompiledGlob { pattern, options, shape, prefix, .. } = &*self.shared;
        if !path.starts_with(&pattern[..*prefix]) {
            return false;
        }
        match (shape, options.case) {
            (GlobShape::Literal, LetterCase::Sensitive) => **pattern == *path,
            (GlobShape::Literal, LetterCase::Insensitive) => {
                let mut characters = path.chars();
                let mut next_is = |literal| {
                    characters
                        .next()
                        .is_some_and(|character| options.case.is_same_letter(literal, character))
                };
                pattern.chars().all(&mut next_is) && characters.next().is_none()
            }
            (GlobShape::Segments, _) if !path.is_empty() && !path.ends_with('/') => {
                SegmentMatcher { pattern, options: *options, program: || self.program() }
                    .matches(path)
            }
            (GlobShape::Segments | GlobShape::General, _) => self.program().matches(path),
        }
    }

    /// Returns whether some file below the directory could match.
    ///
    /// The directory is a relative path without a final separator; the empty one is the directory
    /// that all paths start from. The answer is exact for all possible files, that is for every
    /// continuation by components none of which is empty, `.` or `..`.
    pub fn could_match_inside(&self, directory: &str) -> bool {
        let reach = self.shared.reach.get_or_init(|| MarkReach::from_program(self.program()));
        reach.is_hopeful(&self.marks_inside(directory))
    }

    /// Returns whether the first letters of the pattern allow that it matches a path below the directory, the directory
    /// or one above it. It costs one comparison; the answer `false` is certain.
    pub fn may_concern(&self, directory: &str) -> bool {
        let CompiledGlob { pattern, prefix, .. } = &*self.shared;
        let common = directory.len().min(*prefix);
        directory.as_bytes()[..common] == pattern.as_bytes()[..common]
    }

    /// Returns the letters that every matching path begins with.
    pub fn literal_prefix(&self) -> &str {
        let CompiledGlob { pattern, prefix, .. } = &*self.shared;
        &pattern[..*prefix]
    }

    /// Returns names that every matching path has among its components. There may be others.
    pub fn literal_names(&self) -> impl Iterator<Item = &str> {
        let CompiledGlob { pattern, options, shape, .. } = &*self.shared;
        let is_read = *shape != GlobShape::General && options.case == LetterCase::Sensitive;
        let segments = pattern.split('/').filter(move |_| is_read);
        segments.filter(|segment| !segment.is_empty() && scan::is_plain(segment))
    }

    /// Returns whether the pattern has no syntax, so that it matches only its own text.
    pub fn is_literal(&self) -> bool {
        self.shared.shape == GlobShape::Literal
    }

    fn program(&self) -> &GlobProgram {
        let CompiledGlob { pattern, options, program, .. } = &*self.shared;
        program.get_or_init(|| {
            GlobProgram::compile(pattern, options.case, options.alternatives)
                .expect("the pattern was read without problems when the glob was made")
        })
    }

    /// Returns the marks of the program for paths that continue below this directory.
    fn marks_inside(&self, directory: &str) -> Vec<u8> {
        let program = self.program();
        let mut marks = program.start_marks();
        if !directory.is_empty() {
            program.advance_over_text(&mut marks, directory.chars().chain(['/']));
        }
        marks
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = formatter.debug_tuple("Glob");
        tuple.field(&self.as_str());
        if self.options() != GlobOptions::default() {
            tuple.field(&self.options());
        }
        tuple.finish()
    }
}

impl PartialEq for Glob {
    fn eq(&self, other: &Glob) -> bool {
        self.as_str() == other.as_str() && self.options() == other.options()
    }
}

impl Eq for Glob {}

impl Hash for Glob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
        self.options().hash(state);
    }
}

/// Returns whether every possible file below the directory is matched by one of the globs.
///
/// Directories and files are as in [`Glob::could_match_inside`]. The answer `true` is always exact.
/// `false` is too, except for lists of globs so intricate that the answer would take too long:
/// those get `false` in any case.
pub fn covers_everything_inside(globs: &[&Glob], directory: &str) -> bool {
    let programs: Vec<&GlobProgram> = globs.iter().map(|glob| glob.program()).collect();
    let marks: Vec<Vec<u8>> = globs.iter().map(|glob| glob.marks_inside(directory)).collect();
    cover::covers_everything(&programs, &marks)
}
