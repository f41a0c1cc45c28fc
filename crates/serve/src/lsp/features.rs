//! Answers about an open document: reach, fixes, places, layout.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use brief_checks::links::GuidanceLink;
use brief_dialects::portable::{self, format};
use brief_dialects::{State, portable::CLIENTS};
use brief_engine::Root;
use brief_syntax::diagnostic::{Applicability, Edit, apply_safe_fixes};
use brief_syntax::text::format_count;
use brief_syntax::{Diagnostic, Span};
use brief_system::FileKind;
use serde_json::{Value as Json, json};

use super::checker::{PlacedItem, folder_of, in_front_of};
use super::complete::describe_check_key;
use super::server::{DocumentQuestion, LanguageServer};
use super::text::{LineText, TextPosition, TextRange};
use super::uri::uri_of;

/// Tells what is known about the item at a position: who gets it, when, how many files, how many tokens.
pub(super) fn answer_hover(server: &LanguageServer, asked: &DocumentQuestion<'_>) -> Json {
    let Some(position) = asked.position else { return Json::Null };
    if let Some((key, meaning)) = describe_check_key(asked) {
        let value = format!("**{key}**: {meaning}");
        return json!({"contents": {"kind": "markdown", "value": value}});
    }
    let items = server.items(asked.path);
    let before = items.partition_point(|item| item.line <= position.line);
    // The header of a file stands before its first item.
    let Some(item) = items.get(before.saturating_sub(1)) else { return Json::Null };
    json!({"contents": {"kind": "markdown", "value": render_item(item)}})
}

fn render_item(item: &PlacedItem) -> String {
    let state = match item.state {
        State::Active => "delivered automatically",
        State::Listed => "listed: the agent reads it when the description fits",
        State::Manual => "delivered only when a user mentions it",
    };
    let mut text = format!("**{}** `{}`: {state}\n\n{}", item.kind, item.name, render_reach(item));
    if !item.patterns.is_empty() {
        let patterns: Vec<String> =
            item.patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
        let _ = write!(text, "\n\nfor {}", patterns.join(", "));
    }
    if !item.examples.is_empty() {
        let files: Vec<String> = item.examples.iter().map(|file| format!("- `{file}`")).collect();
        let more = item.files.saturating_sub(item.examples.len());
        let more = if more == 0 { String::new() } else { format!("\n- {more} more") };
        let _ = write!(text, "\n\n{}{more}", files.join("\n"));
    }
    if !item.loaded_by.is_empty() {
        let _ = write!(text, "\n\nloaded directly by {}", item.loaded_by.join(", "));
    }
    text
}

fn render_reach(item: &PlacedItem) -> String {
    let tokens = format!("about {}", format_count(item.tokens, "token"));
    match item.files {
        0 if item.is_reached_otherwise => tokens,
        files => format!("applies to {} · {tokens}", format_count(files, "file")),
    }
}

/// Shows the reach of every item above its first line.
pub(super) fn answer_code_lenses(server: &LanguageServer, asked: &DocumentQuestion<'_>) -> Json {
    let lens = |item: &PlacedItem| {
        let title = match item.loaded_by.len() {
            0 => render_reach(item),
            clients => {
                format!("{} · loaded by {}", render_reach(item), format_count(clients, "client"))
            }
        };
        // A command without a name is shown and does nothing.
        let command = json!({"title": title, "command": ""});
        json!({"range": first_line(item), "command": command})
    };
    server.items(asked.path).iter().map(lens).collect()
}

fn first_line(item: &PlacedItem) -> TextRange {
    let start = TextPosition { line: item.line, character: 0 };
    TextRange { start, end: start }
}

/// Lists the items of a file.
pub(super) fn answer_symbols(server: &LanguageServer, asked: &DocumentQuestion<'_>) -> Json {
    /// The protocol's number for a string.
    const STRING: usize = 15;
    let text = &asked.document.text;
    let items = server.items(asked.path);
    let symbol = |(place, item): (usize, &PlacedItem)| {
        let next = items.get(place + 1).map(|next| next.line);
        let last = next.map_or(text.text().len(), |line| {
            text.offset(TextPosition { line, character: 0 }, server.unit)
        });
        let start = TextPosition { line: item.line, character: 0 };
        let range = TextRange { start, end: text.position(last, server.unit) };
        let end = TextPosition { character: usize::from(u16::MAX), ..start };
        let end = text.position(text.offset(end, server.unit), server.unit);
        json!({
            "name": item.name,
            "detail": item.kind,
            "kind": STRING,
            "range": range,
            "selectionRange": TextRange { start, end },
        })
    };
    items.iter().enumerate().map(symbol).collect()
}

/// Offers the fixes of the problems in a range, and one that makes all safe ones.
pub(super) fn answer_code_actions(server: &LanguageServer, asked: &DocumentQuestion<'_>) -> Json {
    let text = &asked.document.text;
    let all = server.collect_problems(asked.path, asked.document);
    let current: Vec<&Diagnostic> = all
        .iter()
        .filter(|problem| problem.is_current && matches_text(&problem.diagnostic, text))
        .map(|problem| &problem.diagnostic)
        .collect();
    let wanted = asked.range.map(|range| {
        Span::new(text.offset(range.start, server.unit), text.offset(range.end, server.unit))
    });
    let is_here = |diagnostic: &&&Diagnostic| {
        wanted.is_none_or(|wanted| {
            diagnostic.span.start <= wanted.end && wanted.start <= diagnostic.span.end
        })
    };
    let mut actions: Vec<Json> = current
        .iter()
        .filter(is_here)
        .filter_map(|diagnostic| {
            let fix = diagnostic.fix.as_ref()?;
            let edit = |edit: &Edit| create_text_edit(server, text, edit.span, &edit.replacement);
            let edits: Vec<Json> = fix.edits.iter().map(edit).collect();
            Some(json!({
                "title": fix.title,
                "kind": "quickfix",
                "isPreferred": fix.applicability == Applicability::Safe,
                "edit": create_workspace_edit(asked, &edits),
            }))
        })
        .collect();
    let fixed = apply_safe_fixes(text.text(), current.iter().copied());
    if fixed.applied > 0 {
        let edits = [create_full_edit(server, text, &fixed.text)];
        actions.push(json!({
            "title": format!("fix {} (safe fixes only)", format_count(fixed.applied, "problem")),
            "kind": "source.fixAll",
            "edit": create_workspace_edit(asked, &edits),
        }));
    }
    Json::Array(actions)
}

/// Returns whether the edits of a fix are for this text.
fn matches_text(diagnostic: &Diagnostic, text: &LineText) -> bool {
    diagnostic.source.text() == text.text()
}

/// Returns an edit in the words of the protocol.
pub(super) fn create_text_edit(
    server: &LanguageServer,
    text: &LineText,
    span: Span,
    new: &str,
) -> Json {
    json!({"range": text.range(span, server.unit), "newText": new})
}

fn create_full_edit(server: &LanguageServer, text: &LineText, new: &str) -> Json {
    create_text_edit(server, text, Span::new(0, text.text().len()), new)
}

fn create_workspace_edit(asked: &DocumentQuestion<'_>, edits: &[Json]) -> Json {
    json!({"changes": {&asked.document.uri: edits}})
}

/// Finds the file that the text at a position names: an import, a link, a path.
pub(super) fn answer_definition(server: &LanguageServer, asked: &DocumentQuestion<'_>) -> Json {
    let Some(path) = asked.position.and_then(|position| file_at(server, asked, position)) else {
        return Json::Null;
    };
    let beginning = TextPosition { line: 0, character: 0 };
    let range = TextRange { start: beginning, end: beginning };
    json!({"uri": uri_of(&path), "range": range})
}

/// Lists the places in guidance that name the file at a position, or else this file.
pub(super) fn answer_references(server: &LanguageServer, asked: &DocumentQuestion<'_>) -> Json {
    let named = asked.position.and_then(|position| file_at(server, asked, position));
    let target = named.as_deref().unwrap_or(asked.path);
    let place = |link: &GuidanceLink| {
        let text = LineText::new(link.source.text().to_owned());
        let range = text.range(link.span, server.unit);
        json!({"uri": uri_of(link.source.path()), "range": range})
    };
    server.links_to(target).iter().map(place).collect()
}

pub(super) fn file_at(
    server: &LanguageServer,
    asked: &DocumentQuestion<'_>,
    position: TextPosition,
) -> Option<PathBuf> {
    let text = &asked.document.text;
    let line = text.line(position.line);
    let start = text.offset(TextPosition { line: position.line, character: 0 }, server.unit);
    let column = text.offset(position, server.unit) - start;
    let named = path_at(line, column)?;
    let directory = asked.path.parent().unwrap_or(Path::new("/"));
    let bases = std::iter::once(directory).chain(server.folders.iter().map(PathBuf::as_path));
    for base in bases {
        let path = base.join(named.trim_start_matches('/'));
        let Ok(found) = server.system.resolve(&path) else { continue };
        let is_inside = server.folders.iter().any(|folder| found.path.starts_with(folder));
        if found.kind == FileKind::File && is_inside {
            return Some(found.path);
        }
    }
    None
}

/// Returns the path at a column of a line, as texts of guidance write it.
fn path_at(line: &str, column: usize) -> Option<&str> {
    let is_end = |character: char| {
        character.is_whitespace()
            || matches!(
                character,
                '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '<' | '>' | ',' | '{' | '}'
            )
    };
    let start = line[..column]
        .rfind(is_end)
        .map_or(0, |place| place + line[place..].chars().next().map_or(1, char::len_utf8));
    let end = line[column..].find(is_end).map_or(line.len(), |place| column + place);
    let word = line.get(start..end)?;
    let word = word.strip_prefix('@').unwrap_or(word);
    let word = word.split(['#', '?']).next().unwrap_or_default();
    let word = word.trim_end_matches(['.', ':', ';', '!']);
    (!word.is_empty() && !word.contains("://")).then_some(word)
}

/// Lays out a file of a registry, as `brief registry fmt` does.
pub(super) fn answer_formatting(server: &LanguageServer, asked: &DocumentQuestion<'_>) -> Json {
    let folder = folder_of(&server.folders, asked.path);
    let text = &asked.document.text;
    let system = in_front_of(&server.system, asked.path, text.text());
    let (Some(folder), Some(system)) = (folder, system) else { return Json::Null };
    let Ok(root) = Root::open(&system, folder) else { return Json::Null };
    let registry = portable::read_registry(&system, &root, &CLIENTS);
    let formatted = format::format_registry(&registry)
        .into_iter()
        .find(|file| file.source.path() == asked.path);
    match formatted {
        Some(file) if !file.is_unchanged() => json!([create_full_edit(server, text, &file.text)]),
        Some(_) => json!([]),
        None => Json::Null,
    }
}
