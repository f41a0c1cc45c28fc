//! Problems in the user's files, as data.
//!
//! A diagnostic is collected, never thrown, so that one bad file does not hide the others. What it
//! looks like on a terminal, in JSON or in SARIF is decided in [`crate::render`].

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::rules::Rule;
use crate::source::{Position, Source, Span};

/// Its severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something is not delivered, or would be delivered wrongly.
    Error,
    /// Everything works, but probably not as meant.
    Warning,
    /// Everything works. Said once, it helps to understand the rest; it never makes a check fail.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        })
    }
}

/// One problem, with its place and a way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule that it breaks.
    pub rule: Rule,
    /// The severity here: the rule's, unless [`Diagnostic::with_severity`] changed it.
    pub severity: Severity,
    /// The file it is about.
    pub source: Arc<Source>,
    /// The text it is about; empty at the start when it is about the whole file.
    pub span: Span,
    /// The problem, in one line without a full stop.
    pub message: String,
    /// The advice.
    pub help: Option<String>,
    /// A change to the text that would solve it.
    pub fix: Option<Fix>,
    /// The other places of the same cause, where findings are grouped by cause.
    pub also: Vec<OtherPlace>,
}

/// Another place of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherPlace {
    /// The file.
    pub source: Arc<Source>,
    /// The text in it.
    pub span: Span,
    /// The problem there, in the words of [`Diagnostic::message`].
    pub message: String,
}

impl OtherPlace {
    /// Returns the file and the line, as people read them: relative to `root`.
    pub fn render_location(&self, root: &Path) -> String {
        let path = crate::render::path_below(root, self.source.path());
        format!("{path}:{}", self.source.line_number(self.span.start))
    }
}

/// The number of other places that are named where there is room for a line.
const SHOWN_PLACES: usize = 3;

impl Diagnostic {
    /// Reports that the text at `span` breaks a rule, with the rule's own severity.
    pub fn new(rule: Rule, source: &Arc<Source>, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            rule,
            severity: rule.severity(),
            source: Arc::clone(source),
            span,
            message: message.into(),
            help: None,
            fix: None,
            also: Vec::new(),
        }
    }

    /// Returns the stable name of its rule, `<area>/<problem>`, that a user can look up.
    pub fn code(&self) -> &'static str {
        self.rule.code()
    }

    /// Reports it under another rule, with that rule's severity.
    #[must_use]
    pub fn with_rule(self, rule: Rule) -> Self {
        Diagnostic { rule, severity: rule.severity(), ..self }
    }

    /// Gives it another severity than its rule has. The page of the rule names it as `also`.
    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a change that solves it.
    #[must_use]
    pub fn with_fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }

    /// Returns the message and the advice, each on a line of its own.
    pub fn message_and_help(&self) -> String {
        match &self.help {
            Some(help) => format!("{}\n{help}", self.message),
            None => self.message.clone(),
        }
    }

    /// Returns how many other places have the same cause, with the first of them; `None` if there are none.
    pub fn other_places(&self, root: &Path) -> Option<String> {
        let (first, more) = self.also.split_at(self.also.len().min(SHOWN_PLACES));
        let first: Vec<String> = first.iter().map(|place| place.render_location(root)).collect();
        let more = if more.is_empty() { "" } else { ", …" };
        let count = self.also.len();
        (count > 0).then(|| format!("{count} more with the same cause: {}{more}", first.join(", ")))
    }

    /// Returns the message, the other places and the advice, each on a line of its own.
    pub fn message_in_full(&self, root: &Path) -> String {
        let lines = [Some(self.message.clone()), self.other_places(root), self.help.clone()];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// Returns the file that the problem is in.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Returns the file's path for people: relative to `root`, which itself is `.`.
    pub fn shown_path(&self, root: &Path) -> Cow<'_, str> {
        crate::render::path_below(root, self.path())
    }

    /// Returns the line and column where the problem starts.
    pub fn position(&self) -> Position {
        self.source.position(self.span.start)
    }
}

/// A change to the source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The change as an instruction: "quote the pattern".
    pub title: String,
    /// The edits, which do not overlap.
    pub edits: Vec<Edit>,
    /// The confidence in the change.
    pub applicability: Applicability,
}

impl Fix {
    /// A fix that means the same to every reader, made by `lint --fix`.
    pub fn safe(title: impl Into<String>, edits: Vec<Edit>) -> Self {
        Fix { title: title.into(), edits, applicability: Applicability::Safe }
    }

    /// A fix that is probably meant: shown, and made by `lint --fix=suggested` only.
    pub fn suggested(title: impl Into<String>, edits: Vec<Edit>) -> Self {
        Fix { title: title.into(), edits, applicability: Applicability::Suggested }
    }
}

/// The confidence in a fix, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applicability {
    /// The repair is sure.
    Safe,
    /// A person should look at it.
    Suggested,
}

/// One replacement in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The span to replace; empty to insert.
    pub span: Span,
    /// The new text.
    pub replacement: String,
}

impl Edit {
    /// Replaces the text in `span`.
    pub fn replace(span: Span, replacement: impl Into<String>) -> Self {
        Edit { span, replacement: replacement.into() }
    }
}

/// The outcome of applying fixes to one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// The new text.
    pub text: String,
    /// The number of applied fixes.
    pub applied: usize,
}

/// Applies every safe fix among `diagnostics` to `text`.
///
/// A fix is applied whole or not at all: one that overlaps an earlier fix waits for the next run.
pub fn apply_safe_fixes<'d>(
    text: &str,
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
) -> Fixed {
    apply_fixes(text, diagnostics, Applicability::Safe)
}

/// Applies every fix among `diagnostics` to `text` that is at least as sure as `least`, as [`apply_safe_fixes`] does.
pub fn apply_fixes<'d>(
    text: &str,
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    least: Applicability,
) -> Fixed {
    let mut edits: Vec<&Edit> = Vec::new();
    let mut applied = 0;
    for diagnostic in diagnostics {
        let Some(fix) = &diagnostic.fix else { continue };
        let fits = fix.applicability <= least
            && fix.edits.iter().all(|edit| {
                text.get(edit.span.range()).is_some()
                    && edits.iter().all(|taken| !spans_overlap(taken.span, edit.span))
            });
        if fits {
            edits.extend(&fix.edits);
            applied += 1;
        }
    }
    edits.sort_by_key(|edit| edit.span);
    Fixed { text: with_edits(text, edits), applied }
}

/// Returns the text with the edits, which are in order and do not overlap.
pub(crate) fn with_edits<'e>(text: &str, edits: impl IntoIterator<Item = &'e Edit>) -> String {
    let mut fixed = String::with_capacity(text.len() + 16);
    let mut copied = 0;
    for edit in edits {
        fixed.push_str(&text[copied..edit.span.start]);
        fixed.push_str(&edit.replacement);
        copied = edit.span.end;
    }
    fixed.push_str(&text[copied..]);
    fixed
}

/// Two insertions at one place count as overlapping, because their order would be a guess.
fn spans_overlap(left: Span, right: Span) -> bool {
    left == right || (left.start < right.end && right.start < left.end)
}

/// Sorts diagnostics as people read them: by file, place and code.
pub fn sort_diagnostics(diagnostics: &mut [Diagnostic]) {
    let file = |left: &Diagnostic, right: &Diagnostic| {
        // Most neighbors are of one file.
        let is_same = Arc::ptr_eq(&left.source, &right.source);
        if is_same { Ordering::Equal } else { left.path().cmp(right.path()) }
    };
    let place = |found: &Diagnostic| (found.span, found.code());
    diagnostics.sort_by(|left, right| {
        file(left, right)
            .then_with(|| place(left).cmp(&place(right)))
            .then_with(|| left.message.cmp(&right.message))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    fn fixing(span: Span, replacement: &str) -> Diagnostic {
        let source = Arc::new(Source::new("a", "abc"));
        Diagnostic::new(rules::FRONTMATTER_REPAIRED, &source, span, "m")
            .with_fix(Fix::safe("t", vec![Edit::replace(span, replacement)]))
    }

    #[test]
    fn fixes_apply_in_any_order_and_never_overlap() {
        let later = fixing(Span::new(2, 3), "C");
        let earlier = fixing(Span::new(0, 1), "A");
        let clash = fixing(Span::new(0, 2), "X");
        let fixed = apply_safe_fixes("abc", [&later, &earlier, &clash]);
        assert_eq!(fixed, Fixed { text: "AbC".into(), applied: 2 });
    }

    #[test]
    fn a_suggestion_is_applied_only_on_request() {
        let source = Arc::new(Source::new("a", "abc"));
        let edit = Edit::replace(Span::new(0, 1), "A");
        let suggested = Diagnostic::new(rules::FRONTMATTER_REPAIRED, &source, edit.span, "m")
            .with_fix(Fix::suggested("t", vec![edit]));
        assert_eq!(apply_safe_fixes("abc", [&suggested]).applied, 0);
        let asked = apply_fixes("abc", [&suggested], Applicability::Suggested);
        assert_eq!(asked, Fixed { text: "Abc".into(), applied: 1 });
    }
}
