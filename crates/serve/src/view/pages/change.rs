//! The difference between two revisions: for which files the guidance changes, and how.

use brief_engine::Moment;
use brief_engine::diff::{self, Comparison, DiffQuestion, ItemChange, slashed_below};
use maud::{Markup, html};

use super::super::address::PageAddress;
use super::super::layout::{Page, display_line, render_link, render_number};
use super::{PageContext, ROWS};
use brief_workflows::revisions::{ComparedRevisions, changed_lines, different_lines};

/// The limit for the lines of one difference on the page.
const MOST_LINES: usize = 400;

/// The number of paths of one change.
const PATHS: usize = 20;

pub(super) fn render_changes_page(asked: &PageContext<'_>, from: &str, to: &str) -> Page {
    let to_revision = Some(to).filter(|to| !to.is_empty());
    let read = super::read_revisions(asked.view, asked.snapshot, from, to_revision);
    let main = match &read {
        Ok(compared) => render_changes(asked, compared),
        Err(error) => html! {
            p { "Cannot compare the revisions: " (display_line(&error.to_string())) "." }
            p { "Enter a branch, tag or commit of this repository." }
        },
    };
    Page::new(
        "Changes",
        html! {
            h1 { "Changes for agents" }
            @if asked.links.is_served() {
                form method="get" action=(asked.links.link_to_file("change")) {
                    label for="from" { "From" }
                    input type="text" id="from" name="from" value=(display_line(from));
                    label for="to" { "to" }
                    input type="text" id="to" name="to" value=(display_line(to)) placeholder="the working tree";
                    button type="submit" { "Compare" }
                }
            }
            (main)
        },
    )
}

fn render_changes(asked: &PageContext<'_>, compared: &ComparedRevisions) -> Markup {
    let ComparedRevisions { root, before, after, changed, .. } = compared;
    let moment = Moment::default();
    let question = DiffQuestion { moment: &moment, changed, within: &[] };
    let comparison = diff::compare_catalogs(&before.catalog, &after.catalog, &question);
    let skill_files = compared.skill_files(&moment, &[]);
    html! {
        p {
            "Between " strong { (display_line(&before.name())) } " and " strong { (display_line(&after.name())) } ": "
            span id="changes" { (render_number(comparison.changes.len())) } " changes for "
            span id="changed-files" { (render_number(comparison.changed_file_count())) } " of " (render_number(comparison.file_count())) " files."
        }
        @if comparison.changes.is_empty() && skill_files.is_empty() { p { "The guidance is unchanged." } }
        @for (index, change) in comparison.changes.iter().take(ROWS).enumerate() {
            (shown_change(asked, root, &comparison, change, index))
        }
        @if comparison.changes.len() > ROWS {
            p { (render_number(comparison.changes.len() - ROWS)) " more; run " code { "brief diff" } " to see all." }
        }
        @if !skill_files.is_empty() {
            h2 { "Skill files" }
            p { "An agent that opens the skill can read these files." }
            @for change in skill_files.iter().take(ROWS) {
                article class="change" data-change=(change.kind.as_str()) data-place=(display_line(&change.path)) {
                    h3 { span class="badge" { (change.kind.as_str()) } " " (display_line(&change.path)) }
                    p { "Part of the skill " (display_line(&change.skill)) "." }
                    (render_difference(change.before.as_deref().unwrap_or_default(), change.after.as_deref().unwrap_or_default()))
                }
            }
            @if skill_files.len() > ROWS {
                p { (render_number(skill_files.len() - ROWS)) " more; run " code { "brief diff" } " to see all." }
            }
        }
    }
}

fn shown_change(
    asked: &PageContext<'_>,
    root: &std::path::Path,
    comparison: &Comparison<'_>,
    change: &ItemChange<'_>,
    index: usize,
) -> Markup {
    let piece = change.piece();
    let place = slashed_below(root, piece.path);
    let (before, after) = change.tokens();
    let cover = comparison.cover_change(change);
    let lines = changed_lines(change);
    html! {
        article class="change" data-change=(change.kind.as_str()) data-place={ (display_line(&place)) ":" (piece.line) } {
            h2 { span class="badge" { (change.kind.as_str()) } " " (display_line(&piece.name.to_string())) }
            p {
                span class="path" { (display_line(&place)) ":" (piece.line) } ", " (piece.dialect) ", "
                (render_number(before)) " → " (render_number(after)) " tokens, "
                @if change.is_on_demand() { "for agents that open it" }
                @else { (render_number(cover.file_count)) " files" }
            }
            details id={ "files-" (index) } {
                summary { "Files" }
                ul class="files" {
                    @for part in cover.parts.iter().take(PATHS) {
                        li {
                            @if part.path.ends_with('/') { (display_line(&part.path)) " " (render_number(part.file_count)) }
                            @else { (render_link(asked.links, &PageAddress::file(&part.path), html! { (display_line(&part.path)) })) }
                        }
                    }
                    @if cover.parts.len() > PATHS { li { (render_number(cover.parts.len() - PATHS)) " more" } }
                }
            }
            (line_list(&lines))
        }
    }
}

/// Returns the lines of two texts that differ.
pub(super) fn render_difference(before: &str, after: &str) -> Markup {
    line_list(&different_lines(before, after))
}

fn line_list(lines: &[String]) -> Markup {
    if lines.is_empty() {
        return html! {};
    }
    let mark = |line: &str| match line.as_bytes().first() {
        Some(b'+') => "added",
        Some(b'-') => "removed",
        _ => "kept",
    };
    html! {
        pre class="difference" {
            @for line in lines.iter().take(MOST_LINES) {
                span class=(mark(line)) { (display_line(line)) "\n" }
            }
        }
        @if lines.len() > MOST_LINES { p class="note" { (render_number(lines.len() - MOST_LINES)) " more lines." } }
    }
}
