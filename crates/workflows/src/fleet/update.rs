//! The effect of an update on the briefings of many repositories.
//!
//! Each repository is updated in a workshop of its own, as `brief update` would do it there; the guidance of both trees is compared as `brief diff` does.
//! Repositories with the same changes are told together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use brief_clients::compile::Clients;
use brief_clients::profile::{ProfileScope, Section};
use brief_engine::diff::{self, DiffQuestion, slashed_below};
use brief_engine::{Moment, System};
use brief_profiles::OwnClients;
use brief_registry::Durability;
use brief_registry::fleet::{
    FleetMember, FleetSource, FleetSourceForm, NewestByPlace, PlaceKey, UpdateWorkshop,
    WorkshopError,
};
use brief_registry::history::{Commit, HistoryError};
use brief_registry::install::{self, InstallError, InstallReport, InstallRequest, Refresh};
use brief_registry::manifest::{Manifest, ManifestEdit, ManifestPlace, WantedItems, WantedSource};
use brief_syntax::Severity;
use brief_syntax::text::visible_line;
use serde::Serialize;

use crate::revisions::{
    ComparedRevisions, change_heading, changed_lines, describe_cover, short_id,
};

/// An update that is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetUpdate {
    /// A source, by name or address, or a bundle or item of it.
    pub name: String,
    /// The branch, tag, commit or digest to move to; `None` for the newest of the wanted one.
    pub reference: Option<String>,
}

impl FleetUpdate {
    /// Parses `NAME` or `NAME@REF`. An address may hold `@`, so the last one counts, and only behind a name.
    pub fn parse(text: &str) -> Option<FleetUpdate> {
        let (name, reference) = match text.rsplit_once('@') {
            Some((name, reference)) if !name.is_empty() && !reference.contains(['/', ':']) => {
                (name, Some(reference))
            }
            // A digest has a colon.
            Some((name, digest)) if digest.starts_with("sha256:") => (name, Some(digest)),
            _ => (text, None),
        };
        if name.is_empty() || reference.is_some_and(str::is_empty) {
            return None;
        }
        Some(FleetUpdate { name: name.to_owned(), reference: reference.map(str::to_owned) })
    }

    /// Returns the sources of a member that the update moves. A directory has no versions.
    pub fn moving_sources<'m>(&self, member: &'m FleetMember) -> Vec<&'m FleetSource> {
        let mut sources = member.facts.sources_called(&self.name);
        sources.retain(|source| source.form != FleetSourceForm::Directory);
        sources
    }

    /// Returns the place of a source after the update.
    pub fn updated_place(&self, source: &FleetSource) -> ManifestPlace {
        match &self.reference {
            Some(reference) => source.manifest_place().with_reference(reference),
            None => source.manifest_place(),
        }
    }

    /// Returns the key of a place for [`NewestByPlace`].
    pub fn place_key(&self, source: &FleetSource) -> PlaceKey {
        let reference = self.reference.clone().or_else(|| source.reference.clone());
        (source.address.clone(), reference)
    }
}

const MESSAGE_LINES: usize = 400;

impl MemberUpdate {
    /// Returns the message of a commit with the update: what moves, and how the guidance changes.
    pub fn commit_message(&self, update: &FleetUpdate) -> String {
        let subject = match &update.reference {
            Some(reference) => format!("Update {} to {reference}", update.name),
            None => format!("Update {}", update.name),
        };
        let short = |commit: &Option<String>| {
            let text = commit.as_deref().unwrap_or("none");
            short_id(text.strip_prefix("sha256:").unwrap_or(text)).to_owned()
        };
        let mut lines = Vec::new();
        for SourceMove { source, from, to } in &self.moves {
            lines.push(format!("{source}: {} -> {}", short(from), short(to)));
        }
        lines.push(String::new());
        if self.changes.is_empty() {
            lines.push("The guidance for agents is the same.".to_owned());
        } else {
            lines.push("The guidance for agents changes:".to_owned());
        }
        for (change, files) in self.changes.iter().zip(&self.files) {
            lines.extend([String::new(), change.heading.clone(), format!("  {files}")]);
            lines.extend(change.lines.iter().map(|line| format!("    {line}")));
        }
        let more = lines.len().saturating_sub(MESSAGE_LINES);
        lines.truncate(MESSAGE_LINES);
        if more > 0 {
            lines.push(format!("… and {more} more lines"));
        }
        let lines: Vec<_> = lines.iter().map(|line| visible_line(line).into_owned()).collect();
        format!("{}\n\n{}\n", visible_line(&subject), lines.join("\n"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceMove {
    /// The name in the repository.
    pub source: String,
    /// The locked commit or digest.
    pub from: Option<String>,
    pub to: Option<String>,
}

/// A change of the guidance of a repository, which may be the same in others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FleetChange {
    /// The kind of change, as in `brief diff`.
    pub kind: &'static str,
    /// The dialect of the item.
    #[serde(rename = "format")]
    pub dialect: &'static str,
    /// The kind of the item.
    pub item_kind: &'static str,
    /// The name of the item.
    pub name: String,
    /// The tokens before.
    pub tokens_before: usize,
    /// The tokens after.
    pub tokens_after: usize,
    /// The change in one line.
    pub heading: String,
    pub lines: Vec<String>,
}

/// The effect of an update on one repository.
pub struct MemberUpdate {
    pub moves: Vec<SourceMove>,
    /// The changes of its guidance.
    pub changes: Vec<FleetChange>,
    /// For each change, the files that it concerns, in few words.
    pub files: Vec<String>,
    /// The files of the repository that the update writes or removes, sorted.
    pub written: Vec<String>,
}

/// The outcome for one repository.
pub enum UpdateOutcome<T> {
    /// It has nothing of that name.
    Without,
    /// It is up to date.
    Current,
    /// The update changes something; the second part was made of it.
    Changes(MemberUpdate, T),
    /// It cannot be updated from outside, or the update fails: the reason.
    Problem(String),
    /// The user interrupted the run.
    Interrupted,
}

impl<T> UpdateOutcome<T> {
    /// Returns whether the user interrupted the run before or while it was updated.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, UpdateOutcome::Interrupted)
    }
}

/// Updates one member in a workshop, and hands the result over before the workshop is removed.
pub fn update_member<T>(
    system: &Arc<dyn System>,
    member: &FleetMember,
    update: &FleetUpdate,
    newest: &NewestByPlace,
    finish: impl FnOnce(&MemberUpdate, &UpdateWorkshop, &InstallReport) -> Result<T, WorkshopError>,
) -> UpdateOutcome<T> {
    let sources = update.moving_sources(member);
    if sources.is_empty() {
        return match &member.problem {
            Some(problem) => UpdateOutcome::Problem(problem.clone()),
            None => UpdateOutcome::Without,
        };
    }
    let moves = |source: &&&FleetSource| {
        let newest = newest.get(&update.place_key(source));
        let is_other = update.reference.is_some() && update.reference != source.reference;
        is_other || newest.is_some_and(|newest| Some(&newest.commit) != source.commit.as_ref())
    };
    let moving: Vec<&FleetSource> = sources.iter().filter(moves).copied().collect();
    if let Some(source) =
        sources.iter().find(|source| !newest.contains_key(&update.place_key(source)))
    {
        let problem = match UpdateWorkshop::lay_out(system, member) {
            Err(error @ WorkshopError::Local(_)) => error.to_string(),
            _ => format!("the newest version of `{}` is not known", source.name),
        };
        return UpdateOutcome::Problem(problem);
    }
    if moving.is_empty() {
        return UpdateOutcome::Current;
    }
    match run_update(system, member, update, &moving, newest, finish) {
        Ok(Some((found, made))) => UpdateOutcome::Changes(found, made),
        Ok(None) => UpdateOutcome::Current,
        Err(UpdateFailure::Interrupted) => UpdateOutcome::Interrupted,
        Err(UpdateFailure::Problem(problem)) => {
            UpdateOutcome::Problem(visible_line(&problem).into_owned())
        }
    }
}

enum UpdateFailure {
    Problem(String),
    Interrupted,
}

impl From<WorkshopError> for UpdateFailure {
    fn from(error: WorkshopError) -> UpdateFailure {
        match error {
            WorkshopError::History(HistoryError::Interrupted) => UpdateFailure::Interrupted,
            error => UpdateFailure::Problem(error.to_string()),
        }
    }
}

impl From<HistoryError> for UpdateFailure {
    fn from(error: HistoryError) -> UpdateFailure {
        WorkshopError::History(error).into()
    }
}

impl From<InstallError> for UpdateFailure {
    fn from(error: InstallError) -> UpdateFailure {
        match error {
            InstallError::Unresolved(problems) => {
                let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                UpdateFailure::Problem(problems.join("; "))
            }
            error => UpdateFailure::Problem(error.to_string()),
        }
    }
}

fn run_update<T>(
    system: &Arc<dyn System>,
    member: &FleetMember,
    update: &FleetUpdate,
    moving: &[&FleetSource],
    newest: &NewestByPlace,
    finish: impl FnOnce(&MemberUpdate, &UpdateWorkshop, &InstallReport) -> Result<T, WorkshopError>,
) -> Result<Option<(MemberUpdate, T)>, UpdateFailure> {
    let workshop = UpdateWorkshop::lay_out(system, member)?;
    let report = install_update(system.as_ref(), &workshop, update, moving, newest)?;
    if let Some(found) =
        report.diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error)
    {
        let path = slashed_below(&workshop.project().outputs, found.path());
        return Err(UpdateFailure::Problem(format!("`{path}`: {}", found.message)));
    }
    let Some(tree) = workshop.preview_tree(&report)? else { return Ok(None) };
    let repository = workshop.preview_repository()?;
    let commit = |id: &str| Commit { revision: id.to_owned(), id: id.to_owned() };
    let compared =
        ComparedRevisions::read_commits(&repository, &commit(workshop.commit()), &commit(&tree))?;
    let (changes, files) = compare_guidance(&compared);
    let moves = report.sources.iter().filter(|source| source.before != source.commit);
    let moves = moves.map(|source| SourceMove {
        source: source.name.clone(),
        from: source.before.clone(),
        to: source.commit.clone(),
    });
    let mut written: Vec<String> =
        report.changes.iter().map(|change| change.path.clone()).collect();
    written.extend(report.lock.map(|_| "brief.lock".to_owned()));
    written.extend(report.manifest.map(|_| "brief.toml".to_owned()));
    written.sort();
    let moves = moves.collect();
    let found = MemberUpdate { moves, changes, files, written };
    let made = finish(&found, &workshop, &report)?;
    Ok(Some((found, made)))
}

/// Runs the update in the workshop.
fn install_update(
    system: &dyn System,
    workshop: &UpdateWorkshop,
    update: &FleetUpdate,
    moving: &[&FleetSource],
    newest: &NewestByPlace,
) -> Result<InstallReport, UpdateFailure> {
    let project = workshop.project();
    let source = project.read_manifest(system)?;
    let own = OwnClients::read_project(system, &project.outputs);
    let wrong = |_| {
        UpdateFailure::Problem("`brief.toml` is invalid; run `brief lint` for details".to_owned())
    };
    let clients =
        Clients::from_configuration(source.as_ref(), &own, Section::Install, ProfileScope::Project)
            .map_err(wrong)?;
    let manifest = source.as_ref().map(Manifest::parse).transpose().map_err(wrong)?;
    let manifest = manifest.unwrap_or_default();
    let lock = project.read_lock(system)?.unwrap_or_default();
    // A source that only the manifest names was never reviewed here, and its items would become part of the branch.
    let is_locked = |wanted: &WantedSource| {
        lock.sources.get(&wanted.name).is_some_and(|locked| locked.place == wanted.place)
    };
    if !manifest.sources.iter().all(is_locked) {
        let problem =
            "`brief.toml` and `brief.lock` name different sources; run `brief sync` first";
        return Err(UpdateFailure::Problem(problem.to_owned()));
    }
    let items = lock.items.iter().map(|(id, item)| (id, &*item.clients, &item.files));
    let layout = clients.layout_of(items);
    let clients = clients.with_layout_of(layout);
    let wanted =
        clients.resolve_clients(&[]).map_err(|error| UpdateFailure::Problem(error.to_string()))?;
    let mut edits = Vec::new();
    let mut commits = BTreeMap::new();
    let mut names = BTreeSet::new();
    for source in moving {
        let Some(own) = manifest.find_source(&source.name) else {
            let problem =
                format!("no source `{}` in `brief.toml`; run `brief sync` first", source.name);
            return Err(UpdateFailure::Problem(problem));
        };
        if let Some(reference) = &update.reference {
            let (name, wanted) = (source.name.clone(), WantedItems::default());
            let place = own.place.with_reference(reference);
            edits.push(ManifestEdit::Want { source: name, place, wanted, clients: None });
        }
        if let Some(newest) = newest.get(&update.place_key(source)) {
            commits.insert(source.name.clone(), newest.commit.clone());
        }
        names.insert(source.name.clone());
    }
    let request = InstallRequest {
        edits: &edits,
        refresh: Refresh::Named(names),
        commits,
        durability: Durability::Passing,
        ..InstallRequest::new(&wanted)
    };
    Ok(install::sync_project(system, &clients, &project, &request, &|_| {})?)
}

/// Compares the guidance of both trees.
fn compare_guidance(compared: &ComparedRevisions) -> (Vec<FleetChange>, Vec<String>) {
    let moment = Moment::default();
    let asked = DiffQuestion { moment: &moment, changed: &compared.changed, within: &[] };
    let (before, after) = (&compared.before.catalog, &compared.after.catalog);
    let comparison = diff::compare_catalogs(before, after, &asked);
    let mut found = Vec::new();
    for change in &comparison.changes {
        let piece = change.piece();
        let (tokens_before, tokens_after) = change.tokens();
        let told = FleetChange {
            kind: change.kind.as_str(),
            dialect: piece.dialect,
            item_kind: piece.kind,
            name: piece.name.to_string(),
            tokens_before,
            tokens_after,
            heading: change_heading(&compared.root, change),
            lines: changed_lines(change),
        };
        found.push((told, describe_cover(change, &comparison.cover_change(change))));
    }
    found.into_iter().unzip()
}
