//! A comparison as JSON, in the shape that other programs rely on.
//!
//! Paths are those below the root: a revision has no place on disk.

use std::path::Path;

use brief_dialects::{Action, Moment, Timing};
use brief_syntax::render::JsonDiagnostics;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::{Comparison, DiffPiece, ItemChange, SkillFileChange, slashed_below};
use crate::briefing::PlaceReport;

/// One of the states that are compared.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Side<'r> {
    /// The revision as typed; `None` for the working tree.
    pub revision: Option<&'r str>,
    /// The commit; `None` for the working tree.
    pub commit: Option<&'r str>,
    /// The problems of the files that changed.
    pub diagnostics: JsonDiagnostics<'r>,
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
    /// The changed files of skills.
    pub skill_files: &'r [SkillFileChange],
}

impl Serialize for DiffReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let DiffReport { root, from, to, moment, comparison, skill_files } = *self;
        let changes = comparison.changes.iter();
        let changes: Vec<_> =
            changes.map(|change| change_report(root, comparison, change)).collect();
        let mut report = serializer.serialize_struct("DiffReport", 9)?;
        report.serialize_field("from", &from)?;
        report.serialize_field("to", &to)?;
        report.serialize_field("on", moment.action.map_or("all", Action::as_str))?;
        report.serialize_field("when", moment.timing.map_or("all", Timing::as_str))?;
        report.serialize_field("client", &moment.client)?;
        report.serialize_field("changes", &changes)?;
        report.serialize_field("skill_files", skill_files)?;
        report.serialize_field("changed_files", &comparison.changed_file_count())?;
        report.serialize_field("files", &comparison.file_count())?;
        report.end()
    }
}

#[derive(Serialize)]
struct ChangeReport<'r> {
    kind: &'static str,
    #[serde(rename = "format")]
    dialect: &'static str,
    item_kind: &'static str,
    name: String,
    before: Option<PieceReport<'r>>,
    after: Option<PieceReport<'r>>,
    file_count: usize,
    files: Vec<String>,
    files_left_out: usize,
}

#[derive(Serialize)]
struct PieceReport<'r> {
    source: PlaceReport<'r>,
    state: &'static str,
    description: &'r str,
    text: &'r str,
    tokens: usize,
}

fn change_report<'r>(
    root: &Path,
    comparison: &Comparison<'_>,
    change: &'r ItemChange<'r>,
) -> ChangeReport<'r> {
    let piece = change.piece();
    let cover = comparison.cover_change(change);
    ChangeReport {
        kind: change.kind.as_str(),
        dialect: piece.dialect,
        item_kind: piece.kind,
        name: piece.name.to_string(),
        before: change.before.as_ref().map(|piece| piece_report(root, piece)),
        after: change.after.as_ref().map(|piece| piece_report(root, piece)),
        file_count: cover.file_count,
        files: cover.parts.into_iter().map(|part| part.path).collect(),
        files_left_out: cover.left_out,
    }
}

fn piece_report<'r>(root: &Path, piece: &'r DiffPiece<'r>) -> PieceReport<'r> {
    let path = slashed_below(root, piece.path).into();
    PieceReport {
        source: PlaceReport { path, line: piece.line },
        state: piece.state.as_str(),
        description: piece.description,
        text: &piece.text,
        tokens: piece.tokens(),
    }
}
