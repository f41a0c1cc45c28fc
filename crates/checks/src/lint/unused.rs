//! The findings of a survey as problems of files: items that reach nothing, and what costs much or lacks guidance.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use brief_dialects::native;
use brief_syntax::text::format_count;
use brief_syntax::{Diagnostic, Severity, Source, Span, rules};

use super::parts::is_dead_pattern;
use crate::coverage::{Coverage, HEAVY};
use brief_engine::Catalog;
use brief_engine::survey::{CoverageGap, Survey};
use brief_engine::tokens::Counter;

/// The findings about reach that are reported on request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct UnusedOptions {
    /// The cost from which an item for nearly every file is a problem.
    pub(super) heavy: Option<usize>,
    /// True if files without guidance are a problem.
    pub(super) is_complete: bool,
}

/// The number of names of files in a message.
const NAMES: usize = 3;

/// Returns what a survey shows. `found` are the problems that are known: one problem is reported once.
pub(super) fn check_reach(
    catalog: &Catalog,
    root: &Path,
    survey: &Survey<'_>,
    found: &[Diagnostic],
    options: UnusedOptions,
) -> Vec<Diagnostic> {
    let mut sources: HashMap<&Path, &Arc<Source>> = HashMap::new();
    catalog.each_known_source(&mut |source| {
        sources.entry(source.path()).or_insert(source);
    });
    let place = |path: &Path, line: usize| match sources.get(path) {
        Some(source) => (Arc::clone(source), first_word(source, line)),
        None => (Arc::new(Source::without_text(path)), Span::empty_at(0)),
    };
    let report = |rule, path: &Path, line, message: String| {
        let (source, span) = place(path, line);
        Diagnostic::new(rule, &source, span, message)
    };
    let reach = Coverage::from_survey(found, root, "", survey, options.heavy.unwrap_or(HEAVY));
    let mut problems = Vec::new();
    let mut lines: HashMap<&Path, Vec<usize>> = HashMap::new();
    for surveyed in &survey.items {
        lines.entry(surveyed.item.path).or_default().push(surveyed.item.line);
    }
    // Clients' own files have rules of their own, which know a collection for other projects.
    for idle in reach.idle.iter().filter(|idle| idle.dialect != native::NAME) {
        // The lines of its file up to the next item are its own.
        let next = lines.get(idle.path).into_iter().flatten().filter(|line| **line > idle.line);
        let next = next.min().copied().unwrap_or(usize::MAX);
        let first = lines.get(idle.path).and_then(|lines| lines.iter().min());
        // What comes before the first item, such as front matter, belongs to it.
        let start = if first.is_none_or(|first| *first >= idle.line) { 0 } else { idle.line };
        let is_known = found.iter().any(|one| {
            let line = one.position().line;
            one.path() == idle.path
                && (start..next).contains(&line)
                && (is_dead_pattern(one.code()) || one.severity == Severity::Error)
        });
        if !is_known {
            let message = format!("`{}` is never used: {}", idle.name, idle.reason);
            problems.push(
                report(rules::guidance::UNUSED_ITEM, idle.path, idle.line, message)
                    .with_help("correct its patterns, or remove it"),
            );
        }
    }
    let counter = Counter::estimate();
    for heavy in &reach.heavy {
        let (item, tokens) = (&heavy.item, counter.render_tokens(heavy.tokens));
        let files = format_count(heavy.files, "file");
        let message = format!("`{}` costs {tokens} tokens and applies to {files}", item.name);
        let found = report(rules::guidance::COSTLY_ITEM, item.path, item.line, message)
            .with_help("limit it to the files that need it, or shorten it");
        let is_asked = options.heavy.is_some();
        problems.push(if is_asked { found } else { found.with_severity(Severity::Note) });
    }
    if options.is_complete {
        problems.extend(reach.gaps.iter().map(|gap| report_gap(root, gap)));
    }
    problems
}

fn report_gap(root: &Path, gap: &CoverageGap<'_>) -> Diagnostic {
    let source = Arc::new(Source::without_text(root.join(&gap.directory)));
    let message = if gap.is_deep {
        format!(
            "no guidance applies to {} in this directory and below",
            format_count(gap.files, "file")
        )
    } else {
        let (named, more) = gap.names.split_at(gap.names.len().min(NAMES));
        let more = if more.is_empty() { "" } else { ", …" };
        format!(
            "no guidance applies to {} of {}: {}{more}",
            gap.files,
            format_count(gap.of, "file"),
            named.join(", ")
        )
    };
    Diagnostic::new(rules::guidance::UNCOVERED_FILES, &source, Span::empty_at(0), message)
        .with_help("write guidance for them, or omit `--complete`")
}

/// Returns the text of a line without the blanks around it.
fn first_word(source: &Source, line: usize) -> Span {
    let whole = source.line_span(line);
    let text = source.slice(whole);
    let start = whole.start + (text.len() - text.trim_start().len());
    Span::new(start, start + text.trim().len())
}
