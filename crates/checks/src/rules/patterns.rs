//! Texts and regular expressions, compiled when they are first needed.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use brief_dialects::rule_check::CheckPattern;
use brief_syntax::Span;
use memchr::memmem::Finder;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

/// The limit for the bytes of a regular expression.
const LONGEST_PATTERN: usize = 4_096;

/// The limit for the memory of a compiled pattern.
const MOST_MEMORY: usize = 1024 * 1024;

/// The steps that a byte of text costs in a search for a text, and for a regular expression. They are the ratio of the
/// measured speeds, about 8 and 0.3 GB/s.
pub(super) const TEXT_STEPS: u64 = 1;
pub(super) const REGEX_STEPS: u64 = 25;

/// The steps of compiling a regular expression, for each byte of it.
pub(super) const COMPILE_STEPS: u64 = 20_000;

/// A pattern, ready to search.
#[derive(Debug)]
pub(super) struct CompiledPattern {
    pub(super) written: Arc<str>,
    pub(super) span: Span,
    kind: PatternKind,
}

#[derive(Debug)]
enum PatternKind {
    Text(Box<Finder<'static>>),
    Regex { pattern: Arc<str>, ignores_case: bool, compiled: OnceLock<Result<Regex, String>> },
}

impl CompiledPattern {
    pub(super) fn new(pattern: &CheckPattern) -> CompiledPattern {
        let written: Arc<str> = pattern.to_string().into();
        let kind = match pattern {
            CheckPattern::Literal { text, .. } => {
                PatternKind::Text(Box::new(Finder::new(text.as_bytes()).into_owned()))
            }
            CheckPattern::Regex { pattern, ignores_case, .. } => PatternKind::Regex {
                pattern: Arc::clone(pattern),
                ignores_case: *ignores_case,
                compiled: OnceLock::new(),
            },
        };
        CompiledPattern { written, span: pattern.span(), kind }
    }

    /// Returns the text, for a pattern without syntax.
    pub(super) fn as_text(&self) -> Option<&str> {
        matches!(self.kind, PatternKind::Text(_)).then_some(&*self.written)
    }

    /// Returns why the pattern does not compile.
    pub(super) fn error(&self) -> Option<&str> {
        self.regex().and_then(|regex| regex.as_ref().err()).map(String::as_str)
    }

    /// Returns the steps of a search in a text of `bytes`.
    pub(super) fn cost(&self, bytes: usize) -> u64 {
        let bytes = bytes as u64;
        match &self.kind {
            PatternKind::Text(_) => bytes.saturating_mul(TEXT_STEPS),
            PatternKind::Regex { pattern, compiled, .. } => {
                let is_new = compiled.get().is_none();
                let compiling = if is_new { pattern.len() as u64 * COMPILE_STEPS } else { 0 };
                bytes.saturating_mul(REGEX_STEPS).saturating_add(compiling)
            }
        }
    }

    /// Returns the first match at or behind an offset. A pattern that does not compile matches nothing.
    pub(super) fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        match &self.kind {
            PatternKind::Text(finder) => {
                let start = from + finder.find(text.as_bytes().get(from..)?)?;
                Some(start..start + finder.needle().len())
            }
            PatternKind::Regex { .. } => {
                let regex = self.regex()?.as_ref().ok()?;
                let input = regex_automata::Input::new(text).range(from..text.len());
                regex.find(input).map(|found| found.range())
            }
        }
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.find(text, 0).is_some()
    }

    fn regex(&self) -> Option<&Result<Regex, String>> {
        match &self.kind {
            PatternKind::Text(_) => None,
            PatternKind::Regex { pattern, ignores_case, compiled } => {
                Some(compiled.get_or_init(|| compile_regex(pattern, *ignores_case)))
            }
        }
    }
}

/// Compiles a regular expression of Rust's syntax, in which `^` and `$` are the ends of a line.
fn compile_regex(pattern: &str, ignores_case: bool) -> Result<Regex, String> {
    if pattern.len() > LONGEST_PATTERN {
        return Err(format!("it has {} bytes, more than {LONGEST_PATTERN}", pattern.len()));
    }
    let config = Regex::config()
        .nfa_size_limit(Some(MOST_MEMORY))
        .hybrid_cache_capacity(MOST_MEMORY)
        .onepass_size_limit(Some(MOST_MEMORY));
    let syntax =
        syntax::Config::new().nest_limit(64).multi_line(true).case_insensitive(ignores_case);
    let built = Regex::builder().configure(config).syntax(syntax).build(pattern);
    built.map_err(|error| match error.size_limit() {
        Some(_) => "it is too large once compiled".to_owned(),
        None => explain_syntax(&error),
    })
}

/// Returns the one line of a syntax error that says what is wrong.
fn explain_syntax(error: &regex_automata::meta::BuildError) -> String {
    let cause = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
    let last = cause.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it is not valid");
    last.trim().trim_start_matches("error: ").to_owned()
}
