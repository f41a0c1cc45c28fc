//! The common parts of `tokens`, `tokens --tree` and `coverage`: a whole project, and the output of its
//! items.

use std::path::Path;

use brief_dialects::portable::REGISTRY_SCOPE;
use brief_engine::survey::{Survey, SurveyedItem};
use brief_engine::tokens::Counter;
use brief_engine::{BriefedItem, Catalog, Dialects, Item, Moment, Root, State, TargetKind};
use brief_syntax::render::path_below;
use brief_syntax::{Diagnostic, limits, rules};
use serde::Serialize;

use super::question::shown_place;
pub(crate) use brief_syntax::text::format_count;

use crate::clock::with_clock;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::surroundings::{mention_unread_parents, warn_of_whole_root};
use crate::ui::Ui;

/// A project that was read as a whole.
pub(crate) struct WholeProject {
    pub(crate) root: Root,
    pub(crate) catalog: Catalog,
    /// The directory of the question, `/`-separated below the root.
    pub(crate) part: String,
}

impl WholeProject {
    /// Reads the repository. Guidance above the directory of the question holds in it, too.
    pub(crate) fn read(
        ui: &mut Ui,
        session: &Session,
        part: Option<&Path>,
        dialects: Dialects,
    ) -> Result<WholeProject> {
        let session = &session.with_memory();
        let project = session.open_project()?;
        let root = project.root().clone();
        let part = match part {
            Some(path) => resolve_directory(session, &root, path)?,
            None => String::new(),
        };
        warn_of_whole_root(ui, session, &root)?;
        let catalog = with_clock(ui, "reading the project", || project.read_project(dialects));
        let whole = WholeProject { root, catalog, part };
        if !ui.has_promised_json() {
            let mut unread = whole.unread_diagnostics();
            // The warning before has said it.
            unread.retain(|found| found.rule != rules::project::NO_PROJECT);
            ui.print_diagnostic_lines(&unread, whole.root.path())?;
        }
        if whole.catalog.is_empty() {
            ui.print_warning("no guidance files found")?;
            mention_unread_parents(ui, session, &whole.root)?;
        }
        Ok(whole)
    }

    pub(crate) fn survey(&self, moment: &Moment, counter: &Counter<'_>) -> Result<Survey<'_>> {
        let count = |text: &str| counter.count(text);
        Survey::from_catalog(&self.catalog, self.root.path(), moment, &count).ok_or_else(|| {
            CommandError::refused("cannot summarize the project: brief did not read all of it")
        })
    }

    pub(crate) fn render_place(&self, item: &Item<'_>) -> String {
        shown_place(self.root.path(), item.path, item.line)
    }

    /// Prints the JSON answer of the command `kind`.
    pub(crate) fn print_json(
        &self,
        ui: &mut Ui,
        kind: &'static str,
        body: impl Serialize,
    ) -> Result {
        let (root, diagnostics) = (self.root.path(), &self.unread_diagnostics());
        ui.print_json(kind, root, diagnostics, body)
    }

    /// Returns the diagnostics of files and directories that were not read; `brief lint` reports the others.
    fn unread_diagnostics(&self) -> Vec<Diagnostic> {
        let mut unread = self.catalog.diagnostics();
        unread.retain(|diagnostic| {
            diagnostic.code().starts_with("project/") || is_unread(diagnostic)
        });
        unread
    }
}

/// Returns whether a problem says that a file or directory cannot be read.
pub(crate) fn is_unread(diagnostic: &Diagnostic) -> bool {
    diagnostic.code().split('/').next_back().is_some_and(|name| name.starts_with("unreadable"))
}

/// Writes a picture where the user wants it. A file that is no picture is left alone.
pub(crate) fn write_picture(ui: &mut Ui, session: &Session, file: &Path, picture: &str) -> Result {
    let (system, path, shown) = (session.system(), session.directory().join(file), file.display());
    if let Ok(found) = system.read(&path, limits::FILE_BYTES)
        && !found.starts_with(b"<svg ")
    {
        let refused =
            CommandError::refused(format!("`{shown}` already exists and is not an SVG file"));
        return Err(refused.with_hint("choose a new file"));
    }
    system
        .replace_file(&path, picture.as_bytes())
        .map_err(|error| CommandError::refused(format!("cannot write `{shown}`: {error}")))?;
    ui.print_status(&format!("wrote {shown}"))
}

/// Returns the path of a directory relative to another one, if it is below.
pub(crate) fn strip_directory_prefix<'p>(part: &str, directory: &'p str) -> Option<&'p str> {
    let rest = directory.strip_prefix(part)?;
    match rest.strip_prefix('/') {
        Some(rest) if !part.is_empty() => Some(rest),
        _ if part.is_empty() || rest.is_empty() => Some(rest),
        _ => None,
    }
}

fn resolve_directory(session: &Session, root: &Root, path: &Path) -> Result<String> {
    let shown = path.display();
    let Some(target) = session.locate(root, path) else {
        let message = format!("`{shown}` is outside `{}`", root.path().display());
        return Err(CommandError::refused(message).with_hint("pass `-C DIR` to choose the project"));
    };
    if session.system().resolve(&session.directory().join(path)).is_err() {
        return Err(CommandError::refused(format!("file not found: `{shown}`")));
    }
    if target.kind() == TargetKind::File {
        return Err(CommandError::refused(format!("`{shown}` is not a directory")));
    }
    Ok(target.slashed().to_owned())
}

/// Formats a directory for people.
pub(crate) fn shown_directory(directory: Option<&str>) -> String {
    match directory {
        None => "yours, in every project".to_owned(),
        Some("") => ".".to_owned(),
        Some(directory) => format!("{directory}/"),
    }
}

/// Returns the condition of an item that is delivered only on request; `None` for all others.
pub(crate) fn when_asked(item: &Item<'_>) -> Option<&'static str> {
    match (item.state, item.scope) {
        (State::Manual, REGISTRY_SCOPE) => Some("when installed"),
        (State::Manual, _) => Some("when mentioned"),
        _ => None,
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct JsonPlace {
    path: String,
    line: usize,
}

impl JsonPlace {
    /// Returns a place whose path is relative to `root`.
    pub(crate) fn new(root: &Path, path: &Path, line: usize) -> JsonPlace {
        JsonPlace { path: path_below(root, path).into_owned(), line }
    }
}

/// An item in the JSON of `tokens` and `tokens --tree`.
#[derive(Serialize)]
pub(crate) struct SurveyedRow<'s> {
    #[serde(rename = "format")]
    dialect: &'static str,
    kind: &'static str,
    name: String,
    source: JsonPlace,
    scope: &'static str,
    trigger: Option<&'static str>,
    state: &'static str,
    patterns: Vec<&'s str>,
    directory: Option<&'s str>,
    files: Option<usize>,
    tokens: usize,
}

impl<'s> SurveyedRow<'s> {
    pub(crate) fn from_briefed(root: &Path, item: &'s BriefedItem) -> SurveyedRow<'s> {
        SurveyedRow {
            dialect: item.dialect,
            kind: item.kind,
            name: item.name.clone(),
            source: JsonPlace::new(root, &item.path, item.line),
            scope: item.scope,
            trigger: item.trigger,
            state: item.state.as_str(),
            patterns: item.patterns.iter().map(String::as_str).collect(),
            directory: None,
            files: None,
            tokens: item.cost,
        }
    }

    pub(crate) fn from_surveyed(root: &Path, surveyed: &'s SurveyedItem<'_>) -> SurveyedRow<'s> {
        let item = &surveyed.item;
        SurveyedRow {
            dialect: item.dialect,
            kind: item.kind,
            name: item.name.to_string(),
            source: JsonPlace::new(root, item.path, item.line),
            scope: item.scope,
            trigger: item.trigger,
            state: item.state.as_str(),
            patterns: item.patterns.iter().map(AsRef::as_ref).collect(),
            directory: surveyed.directory.as_deref(),
            files: Some(surveyed.files),
            tokens: surveyed.tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::strip_directory_prefix;

    #[test]
    fn a_part_has_what_lies_in_it() {
        assert_eq!(strip_directory_prefix("", "a/b"), Some("a/b"));
        assert_eq!(strip_directory_prefix("", ""), Some(""));
        assert_eq!(strip_directory_prefix("a", "a"), Some(""));
        assert_eq!(strip_directory_prefix("a", "a/b"), Some("b"));
        assert_eq!(strip_directory_prefix("a", "ab"), None);
        assert_eq!(strip_directory_prefix("a/b", "a"), None);
    }
}
