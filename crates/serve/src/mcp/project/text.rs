//! The text of an answer, for a model: what it says, each part with its place.
//!
//! A client shows a model this text, the JSON, or both. So the text leaves out what only programs need.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use brief_checks::lint::Findings;
use brief_engine::search::SearchHit;
use brief_engine::sees::{Sees, Viewer};
use brief_engine::structured::Decision;
use brief_engine::{BriefedItem, Briefing};
use brief_syntax::Diagnostic;
use brief_syntax::text::{format_count, visible_line};

use crate::frame::{FrameMark, indent_list_item, without_end_tags};

/// The limit for the characters of a text. Clients cut or refuse longer ones.
const MOST_CHARACTERS: usize = 60_000;

/// The limit for the characters of a description.
const LONGEST_DESCRIPTION: usize = 300;

fn render_location(root: &Path, path: &Path, line: usize) -> String {
    format!("{}:{line}", display_path(root, path))
}

/// Returns a path on one line, whatever its name is.
fn display_path(root: &Path, path: &Path) -> String {
    visible_line(&path.strip_prefix(root).unwrap_or(path).to_string_lossy()).into_owned()
}

/// Returns a text, or another one in place of an empty one, cut at a line if it is too long.
fn finish_text(mut text: String, otherwise: impl FnOnce() -> String) -> String {
    if text.is_empty() {
        text = otherwise();
    }
    if let Cow::Owned(kept) = without_end_tags(&text) {
        text = kept;
    }
    let end = text.char_indices().nth(MOST_CHARACTERS).map(|(end, _)| end);
    if let Some(end) = end {
        let end = text[..end].rfind('\n').unwrap_or(end);
        text.truncate(end);
        text.push_str("\n\n(Truncated: the answer is too long. Ask about a narrower path.)\n");
    }
    text
}

/// Returns a text on one line, cut to a limit.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(limit) {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// Writes the guidance for a path: the texts, then what may be asked for, then the decisions.
pub(super) fn render_context(briefing: &Briefing, frame: &FrameMark) -> String {
    let root = briefing.root();
    let mark = frame.as_str();
    let mut text = String::new();
    if !briefing.active.is_empty() {
        let _ = writeln!(text, "Guidance, marked {mark}\n");
    }
    for item in &briefing.active {
        let content = frame.kept_inside(item.content.trim_matches('\n').trim_end());
        let at = render_location(root, &item.path, item.line);
        let _ = writeln!(text, "## {mark} {}\n\n{content}\n", frame.kept_inside(&at));
    }
    let own = if text.is_empty() { String::new() } else { format!("{mark} ") };
    let lists = [
        (
            "Available: read a file below when its description matches your task",
            render_offers(root, &briefing.listed),
        ),
        ("Use only when the user mentions it", render_offers(root, &briefing.manual)),
        ("Decisions", decision_list(briefing)),
    ];
    for (heading, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
        let list = frame.kept_inside(list);
        let _ = writeln!(text, "## {own}{heading}\n\n{list}");
    }
    if briefing.count_cuts() > 0 {
        let cut = format_count(briefing.count_cuts(), "item");
        let _ = writeln!(text, "{own}Dropped {cut} to stay within the token budget.");
    }
    finish_text(text, || format!("No guidance applies to `{}`.\n", briefing.moment.slashed_path()))
}

fn render_offers(root: &Path, items: &[BriefedItem]) -> String {
    let mut text = String::new();
    for item in items {
        let description = one_line(&item.description, LONGEST_DESCRIPTION);
        let colon = if description.is_empty() { "" } else { ": " };
        let (name, path) = (visible_line(&item.name), display_path(root, &item.path));
        let _ = writeln!(text, "- {} {name}{colon}{description} ({path})", item.kind);
    }
    text
}

/// Writes each candidate with the reason for its state.
pub(super) fn render_reasons(briefing: &Briefing) -> String {
    let root = briefing.root();
    let mut text = String::new();
    for candidate in briefing.candidates() {
        let at = render_location(root, candidate.path, candidate.line);
        let reason = candidate.reason.seen_from(root);
        let reason = visible_line(&reason);
        let _ = writeln!(text, "{} {} {at}: {reason}", candidate.state.label(), candidate.kind);
        if let Some(line) = candidate.first_line {
            let _ = writeln!(text, "  > {}", one_line(line, LONGEST_DESCRIPTION));
        }
    }
    finish_text(text, || format!("No guidance found for `{}`.\n", briefing.moment.slashed_path()))
}

/// Writes the decisions that bind a path.
pub(super) fn render_decisions(briefing: &Briefing) -> String {
    finish_text(decision_list(briefing), || {
        format!("No decisions apply to `{}`.\n", briefing.moment.slashed_path())
    })
}

fn decision_list(briefing: &Briefing) -> String {
    let mut text = String::new();
    for bound in &briefing.decisions {
        let Decision { decision, rationale, alternatives, revisit_when, date, line, .. } =
            &bound.decision;
        let at = render_location(briefing.root(), &bound.path, *line);
        let _ = writeln!(text, "- {} ({at})", indent_list_item(decision));
        let _ = writeln!(text, "  Rationale: {}", indent_list_item(rationale));
        for alternative in alternatives {
            let reason = match alternative.reason_rejected.trim() {
                "" => String::new(),
                reason => format!(": {}", indent_list_item(reason)),
            };
            let _ = writeln!(text, "  Rejected: {}{reason}", indent_list_item(&alternative.option));
        }
        if let Some(when) = revisit_when {
            let _ = writeln!(text, "  Revisit when: {}", indent_list_item(when));
        }
        if let Some(date) = date {
            let _ = writeln!(text, "  Decided: {date}");
        }
    }
    text
}

/// Writes each item that applies for a client, with the way in which it comes to each client.
pub(super) fn render_sees(root: &Path, viewers: &[Viewer], sees: &Sees<'_>) -> String {
    let mut text = String::new();
    for item in sees.items.iter().filter(|item| !item.is_skipped()) {
        let ways: Vec<String> = viewers
            .iter()
            .zip(&item.seen)
            .map(|(viewer, sight)| format!("{} {}", viewer.client, sight.label()))
            .collect();
        let at = render_location(root, item.path, item.line);
        let (name, ways) = (item.name.to_string(), ways.join(", "));
        let name = visible_line(&name);
        let _ = writeln!(text, "{at} {name} ({} tokens): {ways}", item.tokens);
    }
    for (viewer, total) in viewers.iter().zip(&sees.totals) {
        let parts = total.parts().map(|(name, tokens)| format!("{tokens} {name}"));
        let _ = writeln!(text, "{} total, in tokens: {}", viewer.client, parts.join(", "));
        if let Some(reason) = viewer.delivery.missing_reason().filter(|_| total.missing > 0) {
            let _ = writeln!(text, "{reason}");
        }
    }
    finish_text(text, String::new)
}

/// Writes the results of a search, best first.
pub(super) fn render_search(query: &str, found: &[SearchHit<'_>]) -> String {
    let mut text = String::new();
    for hit in found {
        let line = format!("- {} {} ({})", hit.kind, hit.name, hit.location());
        let _ = writeln!(text, "{}", visible_line(&line));
        for line in [hit.description, &hit.excerpt] {
            if !line.is_empty() {
                let _ = writeln!(text, "  {}", one_line(line, LONGEST_DESCRIPTION));
            }
        }
    }
    finish_text(text, || format!("No guidance matches `{query}`.\n"))
}

/// Writes the problems of a check, one on a line.
pub(super) fn render_findings(found: &Findings, root: &Path) -> String {
    let mut text = String::new();
    for diagnostic in &found.diagnostics {
        text.push_str(&render_problem(diagnostic, root));
    }
    finish_text(text, || format!("No problems in {}.\n", format_count(found.files, "file")))
}

fn render_problem(diagnostic: &Diagnostic, root: &Path) -> String {
    let position = diagnostic.position();
    let path = diagnostic.shown_path(root);
    let help = diagnostic.help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default();
    let others = diagnostic.other_places(root).map(|others| format!("; {others}"));
    format!(
        "{path}:{}:{} {}[{}]: {}{}{help}\n",
        position.line,
        position.column,
        diagnostic.severity,
        diagnostic.code(),
        diagnostic.message,
        others.unwrap_or_default(),
    )
}
