//! The dialect as the engine sees it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_profiles::{BUILTIN, Form, KnownClients, OwnClients};
use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, Source, Target, TargetKind, limits, rules};
use brief_system::{Dir, DirEntry, System, resolved_home};

use crate::answer::{Owner, Resolution};
use crate::is_looked_at;
use crate::moment::Moment;
use crate::reach::by_asking;
use crate::rule_check::RuleCheck;
use crate::{
    CheckedClientFile, Dialect, DialectGuidance, FileMatcher, GuidanceText, ItemReach, LockRole,
    MatchRecord, ProjectFiles, Reader,
};

use super::client_files::ClientFiles;
use super::clients::read_of;
use super::model::{Folder, Guide, mark_shared, number_texts};
use super::parse;
use super::reach::collect_reaches;
use super::read::{Level, NativeReader};
use super::resolve::{NativeQuestion, NativeTarget, record_matches, resolve_folders, undecided_in};
use super::{NAME, check, settings};

/// The dialect of the files that clients read by themselves.
#[derive(Debug, Clone, Copy)]
pub struct Native;

impl Dialect for Native {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "Files that clients read by themselves, such as `CLAUDE.md`"
    }

    fn noun(&self) -> &'static str {
        "client files"
    }

    fn lock_role(&self) -> LockRole {
        LockRole::Holds
    }

    fn limit_of_rule(&self, below: &str, source: &Arc<Source>) -> Option<&'static str> {
        parse::limit_of_rule(below, source)
    }

    fn whole_reader(&self) -> Option<Box<dyn Reader>> {
        Some(Box::new(ProjectGuidance {
            folders: Vec::new(),
            diagnostics: Vec::new(),
            left: limits::NATIVE_BYTES,
            known: Cow::Borrowed(&BUILTIN),
            root: PathBuf::new(),
            strays: check::Strays::default(),
            client_files: ClientFiles::default(),
        }))
    }

    fn read_guidance(
        &self,
        system: &dyn System,
        moment: &Moment,
        top: Option<&dyn Dir>,
    ) -> Option<Box<dyn DialectGuidance>> {
        Some(Box::new(PathGuidance::read(system, moment, top)))
    }
}

/// The directory that holds a project's own clients, among others.
const OWN: &str = ".brief";

/// A directory with fewer names is listed once; in a larger one each name is asked for.
const LISTED: usize = 128;

/// The client files on the way to one path.
struct PathGuidance {
    folders: Vec<Folder>,
    target: Option<Target>,
    diagnostics: Vec<Diagnostic>,
    found: usize,
    /// The clients that are known in the project.
    known: Cow<'static, KnownClients>,
    /// The mounted directory, without links.
    root: PathBuf,
}

impl PathGuidance {
    fn read(system: &dyn System, moment: &Moment, top: Option<&dyn Dir>) -> PathGuidance {
        let mut guidance = PathGuidance {
            folders: Vec::new(),
            target: moment.mounted_target().cloned(),
            diagnostics: Vec::new(),
            found: 0,
            known: Cow::Borrowed(&BUILTIN),
            root: PathBuf::new(),
        };
        // Whether it can be read is for others to say, who are asked about the same directory.
        let opened;
        let (root, path) = match top {
            Some(top) => (top, moment.mounted_path().to_owned()),
            None => match system.open_root(moment.mounted_path()) {
                Ok((root, path)) => {
                    opened = root;
                    (opened.as_ref(), path)
                }
                Err(_) => return guidance,
            },
        };
        guidance.root.clone_from(&path);
        let entries = list_directory(root);
        let known = if entries.as_ref().is_none_or(|entries| is_listed(entries, OWN)) {
            let mut own = OwnClients::read(root, &path);
            guidance.diagnostics.append(&mut own.diagnostics);
            own.known_clients()
        } else {
            Cow::Borrowed(&BUILTIN)
        };
        if let Some((folder, reader)) = of_user(system, &known, &path) {
            guidance.folders.extend(folder);
            guidance.merge_reader(reader);
        }
        if let Some(target) = moment.mounted_target() {
            let mut reader = NativeReader::new(system, &known, path, limits::NATIVE_BYTES);
            guidance.walk_levels(&mut reader, root, entries, target);
            guidance.folders.extend(read_start(&mut reader, root, moment, target));
            guidance.merge_reader(reader);
        }
        guidance.known = known;
        mark_shared(&mut guidance.folders);
        guidance
    }

    fn merge_reader(&mut self, reader: NativeReader<'_>) {
        self.diagnostics.extend(reader.diagnostics);
        self.found += reader.found;
    }

    fn walk_levels(
        &mut self,
        reader: &mut NativeReader<'_>,
        root: &dyn Dir,
        top: Option<Vec<DirEntry>>,
        target: &Target,
    ) {
        let names = target.directories();
        let levels = names.len() + 1;
        let mut path = reader.root().to_owned();
        let mut directory = String::new();
        let mut below: Option<Box<dyn Dir>> = None;
        let mut top = Some(top);
        let mut is_closed = false;
        if levels > limits::NATIVE_LEVELS {
            let limit = limits::NATIVE_LEVELS;
            let message = format!(
                "more than {limit} directories deep: client files of the directories in between are skipped"
            );
            reader.report_path(&path, rules::client::LIMIT, message);
        }
        for depth in 0..=names.len() {
            let handle = below.as_deref().unwrap_or(root);
            if is_looked_at(depth, levels, limits::NATIVE_LEVELS) && !is_closed {
                let listed = top.take().unwrap_or_else(|| list_directory(handle));
                let has =
                    |name: &str| listed.as_ref().is_none_or(|entries| is_listed(entries, name));
                let level = Level {
                    handle,
                    path: &path,
                    directory: &directory,
                    owner: Owner::Project,
                    has: &has,
                };
                self.folders.extend(reader.read_folder(root, level));
            }
            let Some(name) = names.get(depth) else { break };
            path.push(name);
            let next = match path.strip_prefix(reader.root()) {
                // Behind a directory that may be passed and not listed.
                Ok(below) if is_closed => root.open_dir_below(below),
                _ => handle.open_dir(name),
            };
            match next {
                Ok(next) => {
                    below = Some(next);
                    is_closed = false;
                }
                Err(error) if error.kind() == ErrorKind::PermissionDenied => is_closed = true,
                Err(_) => break,
            }
            if !directory.is_empty() {
                directory.push('/');
            }
            directory.push_str(&name.to_string_lossy());
        }
    }
}

/// Reads the settings of the start directory of a client, if it is not on the way to the target.
fn read_start(
    reader: &mut NativeReader<'_>,
    root: &dyn Dir,
    moment: &Moment,
    target: &Target,
) -> Option<Folder> {
    let client = reader.known.find_client(moment.client.as_deref()?)?;
    let started = moment.started.as_deref().filter(|_| settings::has_workspace(client))?;
    let below = started.strip_prefix(reader.root()).ok()?;
    let is_passed =
        target.directories().iter().map(OsStr::new).collect::<PathBuf>().starts_with(below);
    if is_passed { None } else { reader.read_workspace_settings(root, started) }
}

/// Lists a directory, sorted; `None` when it is large.
fn list_directory(handle: &dyn Dir) -> Option<Vec<DirEntry>> {
    let mut entries = handle.first_entries(LISTED).ok().filter(|found| found.len() < LISTED)?;
    entries.sort_unstable();
    Some(entries)
}

fn is_listed(entries: &[DirEntry], name: &str) -> bool {
    entries.binary_search_by(|entry| entry.name.as_os_str().cmp(OsStr::new(name))).is_ok()
}

/// Reads what the user has at home, unless home is the project itself.
fn of_user<'s>(
    system: &'s dyn System,
    known: &'s KnownClients,
    mounted: &Path,
) -> Option<(Option<Folder>, NativeReader<'s>)> {
    let home = resolved_home(system).filter(|home| home != mounted)?;
    let handle = system.open_dir(&home).ok()?;
    let listed = list_directory(handle.as_ref());
    let has = |name: &str| listed.as_ref().is_none_or(|entries| is_listed(entries, name));
    let mut reader = NativeReader::new(system, known, home.clone(), limits::NATIVE_BYTES);
    let level = Level {
        handle: handle.as_ref(),
        path: &home,
        directory: "",
        owner: Owner::User,
        has: &has,
    };
    let folder = reader.read_folder(handle.as_ref(), level);
    Some((folder, reader))
}

impl DialectGuidance for PathGuidance {
    fn resolve_items<'s>(&'s self, moment: &Moment, answer: &mut Resolution<'s>) {
        let about = self.target.as_ref().map_or(NativeTarget::Elsewhere, NativeTarget::from_target);
        let asked = NativeQuestion::new(&self.known, moment, about, &self.root);
        resolve_folders(self.folders.iter(), &asked, answer);
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn file_count(&self) -> usize {
        self.found
    }
}

/// The client files of a whole project.
struct ProjectGuidance {
    /// Parents first, and the user's in front.
    folders: Vec<Folder>,
    diagnostics: Vec<Diagnostic>,
    /// Bytes that may still be read.
    left: usize,
    /// The clients that are known in the project.
    known: Cow<'static, KnownClients>,
    /// The project, once the walk has begun.
    root: PathBuf,
    /// Files with the name of a client's file that lie elsewhere.
    strays: check::Strays,
    /// Settings and other files that configure a client.
    client_files: ClientFiles,
}

impl Reader for ProjectGuidance {
    fn visit_directory(&mut self, visit: &Visit<'_>) {
        self.strays.visit(visit);
        self.client_files.visit(visit);
        if self.root.as_os_str().is_empty() {
            visit.root().clone_into(&mut self.root);
            let mut own = OwnClients::read(visit.top(), visit.root());
            self.diagnostics.append(&mut own.diagnostics);
            self.known = own.known_clients();
            // Its mistakes are not the project's.
            let user = of_user(visit.system(), &self.known, visit.root());
            self.folders.extend(user.and_then(|(folder, _)| folder));
        }
        let entries = visit.entries().unwrap_or_default();
        let is_there = |name: &str| {
            is_listed(entries, name)
                || visit.ignored_entries().iter().any(|entry| entry.name == name)
        };
        let mut all = entries.iter().chain(visit.ignored_entries());
        let is_beginning =
            |name: &str| self.known.is_beginning(name) || settings::is_beginning(name);
        if !all.any(|entry| entry.name.to_str().is_some_and(is_beginning)) {
            return;
        }
        let mut reader =
            NativeReader::new(visit.system(), &self.known, visit.root().to_owned(), self.left);
        let level = Level {
            handle: visit.handle(),
            path: &visit.path(),
            directory: visit.slashed(),
            owner: Owner::Project,
            has: &is_there,
        };
        self.folders.extend(reader.read_folder(visit.top(), level));
        check::keep_for_clients(&mut reader.diagnostics);
        self.diagnostics.append(&mut reader.diagnostics);
        self.left = reader.bytes;
    }

    fn finish(mut self: Box<Self>) -> Box<dyn DialectGuidance> {
        mark_shared(&mut self.folders);
        number_texts(&mut self.folders);
        self
    }
}

impl DialectGuidance for ProjectGuidance {
    fn resolve_items<'s>(&'s self, moment: &Moment, answer: &mut Resolution<'s>) {
        let about =
            moment.target.as_ref().map_or(NativeTarget::Everything, NativeTarget::from_target);
        let asked = NativeQuestion::new(&self.known, moment, about, &self.root);
        resolve_folders(self.folders.iter(), &asked, answer);
    }

    fn collect_reach<'s>(
        &'s self,
        moment: &Moment,
        files: &ProjectFiles,
        tell: &mut dyn FnMut(ItemReach<'s>),
    ) {
        let some_file = NativeTarget::Path("", TargetKind::File);
        let asked = NativeQuestion::new(&self.known, moment, some_file, &self.root);
        if !moment.mentions.is_empty() || !collect_reaches(&self.folders, &asked, files, tell) {
            by_asking(self, moment, files, tell);
        }
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn record_matches(&self, file: &Target, record: &mut MatchRecord) {
        record_matches(&self.folders, file, record);
    }

    fn matcher_in<'s>(&'s self, directory: &str) -> FileMatcher<'s> {
        let undecided = undecided_in(&self.folders, directory);
        Box::new(move |file, record| {
            for (folder, globs) in &undecided {
                if let Some(below) = folder.relative_path(file.slashed()) {
                    record.record_match(globs.find_covering_pattern(below, file.kind()).is_some());
                }
            }
        })
    }

    fn loads_by_file(&self, client: &str) -> bool {
        let Some(client) = self.known.find_client(client) else { return false };
        let is_read = |folder: &Folder, guide: &Guide| {
            let place = guide.place.as_ref();
            (guide.scope.is_some() || !folder.directory.is_empty())
                && place.is_some_and(|place| read_of(client, folder.owner, place).is_some())
        };
        // Settings may name any file.
        self.folders.iter().any(|folder| {
            !folder.settings.is_empty() || folder.guides.iter().any(|guide| is_read(folder, guide))
        })
    }

    fn check_against(&self, files: &ProjectFiles) -> Vec<Diagnostic> {
        check::check_client_files(&self.folders, &self.strays, files)
    }

    fn client_files<'s>(&'s self, tell: &mut dyn FnMut(CheckedClientFile<'s>)) {
        self.client_files.each_checked(tell);
    }

    fn visit_checks<'s>(&'s self, tell: &mut dyn FnMut(&'s Arc<RuleCheck>)) {
        let guides = self.folders.iter().flat_map(|folder| &folder.guides);
        guides.filter_map(|guide| guide.check.as_ref()).for_each(tell);
    }

    fn visit_texts<'s>(&'s self, tell: &mut dyn FnMut(GuidanceText<'s>)) {
        let project = self.folders.iter().filter(|folder| folder.owner == Owner::Project);
        let mut told = HashSet::new();
        for guide in project.flat_map(|folder| &folder.guides) {
            let form = guide.place.as_ref().map(|place| place.form);
            told.insert(guide.source.path());
            tell(GuidanceText {
                dialect: NAME,
                source: &guide.source,
                body_start: guide.body_start,
                is_skill: form == Some(Form::Skill),
                entry: None,
            });
        }
        // Commands and prompts are guidance once someone calls them.
        let texts = self.client_files.texts_with_header();
        for (source, body_start) in texts.filter(|(source, _)| !told.contains(source.path())) {
            tell(GuidanceText { dialect: NAME, source, body_start, is_skill: false, entry: None });
        }
    }

    fn each_file<'s>(&'s self, tell: &mut dyn FnMut(&'s Path)) {
        let project = self.folders.iter().filter(|folder| folder.owner == Owner::Project);
        project.flat_map(|folder| &folder.guides).for_each(|guide| tell(guide.source.path()));
        let unread = |diagnostic: &&Diagnostic| diagnostic.rule == rules::client::UNREADABLE;
        self.diagnostics.iter().filter(unread).for_each(|diagnostic| tell(diagnostic.path()));
        self.strays.each_file(tell);
        self.client_files.each_file(tell);
    }
}
