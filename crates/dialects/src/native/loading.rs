//! The files that a client loads by itself at one moment, by the directory it was started in.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use brief_profiles::{
    Client, ClientPlace, ClientRead, Form, LoadingMode, Scoping, Seat, Text, Unless,
};
use brief_syntax::limits;

use crate::answer::{Owner, State};

use super::clients::{has_any, read_of, reads_of};
use super::globs::Globs;
use super::model::{Folder, Guide, Use};
use super::resolve::{Candidate, NativeQuestion, NativeTarget, PatternVerdict};
use super::settings::{Setting, slashed_below};
use super::{modes, passing, workspace};

/// A client in its place.
pub(super) struct Loading<'l> {
    client: &'l Client,
    asked: &'l NativeQuestion<'l, 'l>,
    /// The directories that are asked about, each with where it lies.
    folders: Vec<(&'l Folder, Seat)>,
    /// The directories beside the start directory in which the client looks, too.
    workspace: Vec<PathBuf>,
    /// True if the client takes the path for one of its own.
    is_near: bool,
    /// The mode that its settings put it in.
    pub(super) mode: Option<&'static LoadingMode>,
}

impl<'l> Loading<'l> {
    /// Looks where the directories lie, seen from the one that the client was started in. `all` are these and those that have
    /// settings alone to do with the path.
    pub(super) fn new(
        client: &'l Client,
        folders: &[&'l Folder],
        all: &[&Folder],
        asked: &'l NativeQuestion<'l, 'l>,
    ) -> Loading<'l> {
        let workspace = workspace::collect_directories(client, all, asked);
        let folders: Vec<(&Folder, Seat)> =
            folders.iter().map(|&folder| (folder, folder_seat(folder, asked.started))).collect();
        let at_start = folders.iter().filter(|(_, seat)| seat.is_at_start());
        let mode = modes::in_force(client, at_start.flat_map(|(folder, _)| &folder.settings));
        let is_near = match (asked.started, asked.about) {
            (Some(started), NativeTarget::Path(path, _)) if client.loading.scoped_below_start => {
                started == asked.root || asked.root.join(path).starts_with(started)
            }
            (Some(_), NativeTarget::Elsewhere) => !client.loading.scoped_below_start,
            _ => true,
        };
        Loading { client, asked, folders, workspace, is_near, mode }
    }

    /// Marks what the client loads, and what that imports.
    pub(super) fn mark_loaded(&self, candidates: &mut [Candidate<'_>]) {
        let mut pending = Vec::new();
        let mut room = self.client.loading.most_bytes;
        let covers_in_cli = |globs: &Globs| match self.asked.about {
            NativeTarget::Path(path, kind) => globs.is_covered_in_cli(path, kind),
            NativeTarget::Everything => true,
            NativeTarget::Elsewhere => false,
        };
        for (index, candidate) in candidates.iter_mut().enumerate() {
            let Candidate { folder, guide, verdict, .. } = candidate;
            let is_in =
                !matches!(verdict, PatternVerdict::In(State::Manual, _) | PatternVerdict::Out(_));
            let Some(imports) = self.resolve_loading(folder, guide, is_in, &covers_in_cli) else {
                continue;
            };
            if let Some(left) = room.filter(|_| is_counted(folder, guide)) {
                // What is cut is not there: what comes after it neither.
                let Some(left) = left.checked_sub(guide.source.text().len()) else {
                    room = Some(0);
                    continue;
                };
                room = Some(left);
            }
            candidate.is_loaded = true;
            if imports {
                pending.push((index, 0));
            }
        }
        self.mark_imports(pending, candidates);
    }

    fn mark_imports(&self, mut pending: Vec<(usize, usize)>, candidates: &mut [Candidate<'_>]) {
        if pending.iter().all(|&(index, _)| candidates[index].guide.imports.is_empty()) {
            return;
        }
        let by_path: HashMap<&OsStr, usize> = candidates
            .iter()
            .enumerate()
            .map(|(index, found)| (found.guide.path().as_os_str(), index))
            .collect();
        let mut next = 0;
        while let Some(&(index, hops)) = pending.get(next) {
            next += 1;
            if hops == limits::NATIVE_HOPS {
                continue;
            }
            let Candidate { folder, guide, .. } = candidates[index];
            for path in guide.imports.iter().filter(|path| self.may_import(folder, path)) {
                let Some(&target) = by_path.get(path.as_os_str()) else { continue };
                if !candidates[target].is_loaded {
                    candidates[target].is_loaded = true;
                    pending.push((target, hops + 1));
                }
            }
        }
    }

    pub(super) fn may_import(&self, folder: &Folder, path: &Path) -> bool {
        let started = self.asked.started.filter(|_| self.client.loading.imports_below_start);
        folder.owner == Owner::User || started.is_none_or(|started| path.starts_with(started))
    }

    /// Returns whether the client loads a guide and, if so, what the guide imports. `is_in` tells whether the guide's own
    /// pattern covers the path.
    pub(super) fn resolve_loading(
        &self,
        folder: &Folder,
        guide: &Guide,
        is_in: bool,
        covers_in_cli: &dyn Fn(&Globs) -> bool,
    ) -> Option<bool> {
        if matches!(guide.use_, Use::Never(_)) {
            return None;
        }
        let seat = self.seat_of(folder);
        let by_place = guide.place.as_ref().and_then(|place| {
            let known = read_of(self.client, folder.owner, place);
            let is_read = |read: &&ClientRead| {
                let is_scoped = is_used(guide, read, is_in, covers_in_cli);
                is_scoped.is_some_and(|is_scoped| {
                    self.is_in_mode(read, place.form, seat, is_scoped)
                        && self.is_read(folder, read, seat, is_scoped)
                        && passing::passed_over_reason(self.client, folder, guide, read).is_none()
                })
            };
            known.filter(is_read).or_else(|| self.find_named_read(folder, place).filter(is_read))
        });
        let name = match by_place {
            Some(read) => read.path.rsplit('/').next().unwrap_or(&read.path),
            // Only the settings of the client name it.
            None if self.is_instructed(guide) => "",
            None => return None,
        };
        Some(self.client.loading.imports.contains_text(name))
    }

    fn seat_of(&self, folder: &Folder) -> Seat {
        let mut folders = self.folders.iter();
        let found = folders.find(|(known, _)| std::ptr::eq(*known, folder));
        let seat = found.map_or(Seat::Beside, |(_, seat)| *seat);
        if seat.is_at_start() {
            return seat;
        }
        workspace::find_seat(folder, &self.workspace).unwrap_or(seat)
    }

    fn is_read(&self, folder: &Folder, read: &ClientRead, seat: Seat, is_scoped: bool) -> bool {
        if !read.seats.contains(seat) || !self.asked.moment.reaches_version(read) {
            return false;
        }
        if is_scoped || !seat.is_at_start() {
            let is_attached = match self.asked.about {
                // Nothing is worked on yet: what is loaded is loaded at the start.
                NativeTarget::Everything => false,
                _ => {
                    let attaches = read.attaches.filter(|_| !seat.is_at_start());
                    self.asked
                        .moment
                        .attaches_files(attaches.unwrap_or(self.client.loading.attaches))
                }
            };
            if !is_attached || is_scoped && !self.is_near {
                return false;
            }
        }
        let present = &folder.present;
        match &read.unless {
            _ if self.mode.is_some_and(|mode| mode.always.contains(&read.path)) => true,
            Unless::Never => true,
            Unless::Earlier => {
                let reads = reads_of(self.client, folder.owner).iter();
                let mut earlier = reads.take_while(|other| other.path != read.path);
                !earlier.any(|other| present.contains(&other.path))
            }
            Unless::AtStartOrBeside(paths) => !self.any_at_start(paths) && !has_any(present, paths),
            Unless::AtStartElseBeside(paths) if seat.is_at_start() => !self.any_at_start(paths),
            Unless::Beside(paths)
            | Unless::ReplacedBy(paths)
            | Unless::AtStartElseBeside(paths) => !has_any(present, paths),
        }
    }

    /// Returns whether the client reads a place in the mode that its settings put it in.
    fn is_in_mode(&self, read: &ClientRead, form: Form, seat: Seat, is_scoped: bool) -> bool {
        let Some(mode) = self.mode else { return true };
        if mode.never.contains(&read.path) {
            return false;
        }
        let is_at_start = seat.is_at_start() && !is_scoped;
        let is_offered = matches!(form, Form::Skill | Form::Agent);
        !(mode.nothing_at_start && is_at_start && !is_offered)
    }

    fn any_at_start(&self, paths: &[Text]) -> bool {
        let mut start = self
            .folders
            .iter()
            .filter(|(folder, seat)| folder.owner == Owner::Project && seat.is_at_start());
        start.any(|(folder, _)| has_any(&folder.present, paths))
    }

    /// Returns how the client reads a file by a name that its settings give.
    fn find_named_read(&self, folder: &Folder, place: &ClientPlace) -> Option<&'static ClientRead> {
        if place.form != Form::Instructions || folder.owner == Owner::User {
            return None;
        }
        self.settings().find_map(|(seat, setting)| match setting {
            Setting::Names { client, seats, names, read }
                if *client == &*self.client.id
                    && seats.contains(seat)
                    && names.iter().any(|name| *name == *place.path) =>
            {
                Some(*read)
            }
            _ => None,
        })
    }

    /// Returns whether the client's settings say that a file is always loaded.
    fn is_instructed(&self, guide: &Guide) -> bool {
        self.folders.iter().filter(|(_, seat)| seat.is_at_start()).any(|(folder, _)| {
            folder.settings.iter().any(|setting| match setting {
                Setting::Instructions { clients, globs } => {
                    clients.contains(&&*self.client.id)
                        && slashed_below(guide.path(), &folder.path)
                            .is_some_and(|path| globs.iter().any(|glob| glob.matches(&path)))
                }
                _ => false,
            })
        })
    }

    fn settings(&self) -> impl Iterator<Item = (Seat, &Setting)> {
        let folders = self.folders.iter();
        folders.flat_map(|(folder, seat)| folder.settings.iter().map(|setting| (*seat, setting)))
    }
}

/// Returns whether a client uses a file of a place, and if so, whether only for some files.
fn is_used(
    guide: &Guide,
    read: &ClientRead,
    is_in: bool,
    covers_in_cli: &dyn Fn(&Globs) -> bool,
) -> Option<bool> {
    let scope = guide.scope.as_ref();
    match (read.scoping, scope) {
        (Scoping::Own, _) => is_in.then_some(scope.is_some()),
        (Scoping::Ignored, _) | (Scoping::CopilotCli, None) => Some(false),
        (Scoping::Unscoped, scope) => (is_in && scope.is_none()).then_some(false),
        (Scoping::CopilotCli, Some(scope)) if scope.globs.is_everything() => Some(false),
        (Scoping::CopilotCli, Some(scope)) => covers_in_cli(&scope.globs).then_some(true),
    }
}

/// Returns whether a file counts for how much a client loads in all.
pub(super) fn is_counted(folder: &Folder, guide: &Guide) -> bool {
    let is_text = guide.place.as_ref().is_some_and(|place| place.form == Form::Instructions);
    folder.owner == Owner::Project && is_text
}

/// Returns where a directory lies, seen from the one that the client was started in. What the user has is
/// always there.
fn folder_seat(folder: &Folder, started: Option<&Path>) -> Seat {
    if folder.owner == Owner::User {
        return Seat::Root;
    }
    let is_root = folder.directory.is_empty();
    let started = match started {
        Some(started) if started != folder.path => started,
        None if !is_root => return Seat::Below,
        _ => return if is_root { Seat::Root } else { Seat::Start },
    };
    match (started.starts_with(&folder.path), is_root) {
        (true, true) => Seat::Top,
        (true, false) => Seat::Between,
        (false, _) if folder.path.starts_with(started) => Seat::Below,
        (false, _) => Seat::Beside,
    }
}
