//! A comparison as JSON, in the shape that other programs rely on.
//!
//! Paths are those below the root: a revision has no place on disk.

use std::path::Path;

use brief_dialects::{Action, Moment, Timing};
use brief_syntax::Diagnostic;
use brief_syntax::render::JsonDiagnostics;
use serde::{Serialize, Serializer};

use super::{Comparison, DiffPiece, ItemChange, slashed_below};
use crate::tokens::estimate_tokens;

/// One of the states that are compared.
#[derive(Debug, Clone, Copy)]
pub struct Side<'r> {
    /// The revision as typed; `None` for the working tree.
    pub revision: Option<&'r str>,
    /// The commit; `None` for the working tree.
    pub commit: Option<&'r str>,
    /// The problems of the files that changed.
    pub diagnostics: &'r [Diagnostic],
}

#[derive(Serialize)]
struct JsonSide<'r> {
    revision: Option<&'r str>,
    commit: Option<&'r str>,
    diagnostics: JsonDiagnostics<'r>,
}

fn json_side<'r>(root: &'r Path, side: Side<'r>) -> JsonSide<'r> {
    let Side { revision, commit, diagnostics } = side;
    JsonSide { revision, commit, diagnostics: JsonDiagnostics { root, list: diagnostics } }
}

/// The JSON form of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct DiffReport<'r> {
    /// The root, absolute.
    pub root: &'r Path,
    /// The older state.
    pub from: Side<'r>,
    /// The newer state.
    pub to: Side<'r>,
    /// The moment that was asked about.
    pub moment: &'r Moment,
    /// The differences.
    pub comparison: &'r Comparison<'r>,
}

#[derive(Serialize)]
struct JsonReport<'r> {
    from: JsonSide<'r>,
    to: JsonSide<'r>,
    on: &'static str,
    when: &'static str,
    client: Option<&'r str>,
    changes: Vec<JsonChange<'r>>,
    changed_files: usize,
    files: usize,
}

impl Serialize for DiffReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let DiffReport { root, from, to, moment, comparison } = *self;
        let changes = comparison.changes.iter();
        let report = JsonReport {
            from: json_side(root, from),
            to: json_side(root, to),
            on: moment.action.map_or("all", Action::as_str),
            when: moment.timing.map_or("all", Timing::as_str),
            client: moment.client.as_deref(),
            changes: changes.filter_map(|change| json_change(root, comparison, change)).collect(),
            changed_files: comparison.changed_file_count(),
            files: comparison.file_count(),
        };
        report.serialize(serializer)
    }
}

#[derive(Serialize)]
struct JsonChange<'r> {
    kind: &'static str,
    dialect: &'static str,
    item_kind: &'static str,
    name: String,
    before: Option<JsonPiece<'r>>,
    after: Option<JsonPiece<'r>>,
    file_count: usize,
    files: Vec<String>,
    files_left_out: usize,
}

#[derive(Serialize)]
struct JsonPiece<'r> {
    source: Place,
    state: &'static str,
    description: &'r str,
    text: &'r str,
    tokens: usize,
}

#[derive(Serialize)]
struct Place {
    path: String,
    line: usize,
}

fn json_change<'r>(
    root: &Path,
    comparison: &Comparison<'_>,
    change: &'r ItemChange<'r>,
) -> Option<JsonChange<'r>> {
    let piece = change.piece()?;
    let cover = comparison.cover(change);
    Some(JsonChange {
        kind: change.kind.as_str(),
        dialect: piece.dialect,
        item_kind: piece.kind,
        name: piece.name.to_string(),
        before: change.before.as_ref().map(|piece| json_piece(root, piece)),
        after: change.after.as_ref().map(|piece| json_piece(root, piece)),
        file_count: cover.file_count,
        files: cover.parts.into_iter().map(|part| part.path).collect(),
        files_left_out: cover.left_out,
    })
}

fn json_piece<'r>(root: &Path, piece: &'r DiffPiece<'r>) -> JsonPiece<'r> {
    JsonPiece {
        source: Place { path: slashed_below(root, piece.path), line: piece.line },
        state: piece.state.as_str(),
        description: piece.description,
        text: &piece.text,
        tokens: estimate_tokens(&piece.text),
    }
}
