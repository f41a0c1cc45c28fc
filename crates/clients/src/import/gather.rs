//! The files of a project that may become items, gathered during walks over its directories and over those that links lead
//! to.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use brief_dialects::portable::ItemKind;
use brief_syntax::walk::{Gap, IgnoreFiles, Visit};
use brief_syntax::{Root, Source, limits};
use brief_system::hash::sha256;
use brief_system::paths::{cleaned_below, to_slashed};
use brief_system::{FileContent, FileKind, Permission, ReadError, System};

use crate::profile::Profiles;

use super::collect::{Collector, ImportLoss, SkillFiles, join_path};
use super::found::{
    ImportSearch, find_unread_reason, is_among_skills, is_test_data, recognize_file,
};
use super::links::{LinkTarget, has_places, read_linked, resolve_link};
use super::{beside, modes};

/// The inputs of a collection.
pub(super) struct CollectRequest<'c> {
    pub(super) system: &'c dyn System,
    pub(super) root: &'c Root,
    pub(super) profiles: &'c Profiles,
    pub(super) search: ImportSearch,
    pub(super) is_wanted: &'c dyn Fn(&str) -> bool,
    pub(super) ours: &'c BTreeMap<String, String>,
    pub(super) ignored: &'c IgnoreFiles<'c>,
}

/// A file of a directory that is visited.
struct Entry<'e> {
    visit: &'e Visit<'e>,
    name: &'e str,
    /// The path by which a client finds it, below the project, with `/`.
    path: &'e str,
    at: EntryAt,
    request: &'e CollectRequest<'e>,
}

/// The content of an entry: in it, or at the end of its link.
enum EntryAt {
    Here(FileKind),
    Linked(String),
}

impl Entry<'_> {
    fn read_content(&self, limit: u64) -> Result<FileContent, ReadError> {
        match &self.at {
            EntryAt::Here(_) => self.visit.handle().read_file(OsStr::new(self.name), limit),
            EntryAt::Linked(target) => {
                read_linked(self.request.system, self.request.root, target, limit)
            }
        }
    }

    fn is_found(&self) -> bool {
        recognize_file(self.path, self.request.profiles, self.request.search).is_some()
    }

    /// Returns whether `brief` has written the file: here, or at the end of the link.
    fn is_ours(&self, bytes: &[u8]) -> bool {
        let real = match &self.at {
            EntryAt::Here(_) => join_path(self.visit.slashed(), self.name),
            EntryAt::Linked(target) => target.clone(),
        };
        let mut known =
            [self.path, real.as_str()].into_iter().filter_map(|own| self.request.ours.get(own));
        known.any(|own| *own == sha256(bytes))
    }
}

impl Collector {
    pub(super) fn report_gaps(&mut self, root: &Root, gaps: &[Gap]) {
        for gap in gaps {
            let path = to_slashed(gap.path.strip_prefix(root.path()).unwrap_or(&gap.path));
            self.skip_file(&path, gap.reason.to_string());
        }
    }

    /// Takes the files of a directory; `directory` is the path by which clients find it.
    pub(super) fn visit_directory(
        &mut self,
        visit: &Visit<'_>,
        directory: &str,
        request: &CollectRequest<'_>,
    ) {
        if self.is_output(visit) {
            return;
        }
        let above = self.skill_above(directory).map(str::to_owned);
        let mut entries: Vec<(&str, FileKind)> = visit
            .entries()
            .into_iter()
            .flatten()
            .filter_map(|entry| Some((entry.name.to_str()?, entry.kind)))
            .filter(|(_, kind)| *kind != FileKind::Directory)
            .collect();
        // A skill's entry file comes before the files that belong to it.
        entries.sort_by_key(|(name, _)| *name != ItemKind::Skill.entrypoint());
        let mut own_skill = above;
        // The skill of a directory that clients enter by a link.
        let is_of_skill =
            entries.first().is_some_and(|(name, _)| *name == ItemKind::Skill.entrypoint());
        for (name, kind) in entries {
            let path = join_path(directory, name);
            let kind = match kind {
                FileKind::Link => {
                    match self.follow_link(visit, name, &path, own_skill.as_deref(), request) {
                        Some(target) => EntryAt::Linked(target),
                        None => continue,
                    }
                }
                kind => EntryAt::Here(kind),
            };
            if !(request.is_wanted)(&path) {
                continue;
            }
            let entry = Entry { visit, name, path: &path, at: kind, request };
            match &own_skill {
                Some(skill) => self.add_to_skill(&skill.clone(), &entry),
                None if is_of_skill && name != ItemKind::Skill.entrypoint() && entry.is_found() => {
                    let reason = "belongs to the skill beside it";
                    self.skip_losing(ImportLoss::NoPortableForm, &path, reason);
                }
                None => own_skill = self.collect_file(&entry),
            }
        }
    }

    /// Follows a link of a client. Returns the file that it leads to; a directory is walked later, and anything else is
    /// skipped with the reason.
    fn follow_link(
        &mut self,
        visit: &Visit<'_>,
        name: &str,
        path: &str,
        skill: Option<&str>,
        request: &CollectRequest<'_>,
    ) -> Option<String> {
        let is_file = skill.is_some()
            || recognize_file(path, request.profiles, request.search).is_some()
            || beside::is_one(path);
        let is_directory = skill.is_some() || has_places(path, request.profiles);
        if !is_file && !is_directory {
            return None;
        }
        let outcome = resolve_link(request.system, request.root, &visit.path_of(name));
        let outcome = outcome.and_then(|target| match target {
            LinkTarget::File(target) if is_file => Ok(Some(target)),
            LinkTarget::Directory(real) if is_directory => {
                if request.ignored.is_ignored(Path::new(&real)) {
                    return Err(format!("points to `{real}`, which version control ignores"));
                }
                self.links.add_link(path, &real, visit.slashed()).map(|()| None)
            }
            _ => Ok(None),
        });
        match outcome {
            Ok(target) => target,
            Err(reason) => {
                if (request.is_wanted)(path) {
                    self.skip_losing(ImportLoss::NoPortableForm, path, reason);
                }
                None
            }
        }
    }

    /// Takes one file; returns the directory of the skill that it begins.
    fn collect_file(&mut self, entry: &Entry<'_>) -> Option<String> {
        let Entry { visit, name, path, request, .. } = *entry;
        let is_file = matches!(entry.at, EntryAt::Here(FileKind::File) | EntryAt::Linked(_));
        if is_file
            && (beside::is_one(path) || path == modes::FILE)
            && let Ok(bytes) = visit.read_file(name)
        {
            self.beside.push((path.to_owned(), bytes));
        }
        let Some(found) = recognize_file(path, request.profiles, request.search) else {
            if let Some(reason) = find_unread_reason(path, request.profiles) {
                self.skip_losing(ImportLoss::NoPortableForm, path, reason);
            }
            return None;
        };
        self.files += 1;
        if request.search == ImportSearch::AtPlaces && is_test_data(&found.about) {
            let reason = "is test data or a template; name it to import it";
            self.skip_losing(ImportLoss::NoPortableForm, path, reason);
            return None;
        }
        if request.search == ImportSearch::AtPlaces && is_among_skills(&found) {
            let reason =
                "is in a skills directory, where clients look for no rules; name it to import it";
            self.skip_losing(ImportLoss::NoPortableForm, path, reason);
            return None;
        }
        match &entry.at {
            EntryAt::Here(FileKind::File) | EntryAt::Linked(_) => {}
            EntryAt::Here(kind) => {
                self.skip_file(path, format!("is {}", kind.noun()));
                return None;
            }
        }
        match entry.read_content(limits::FILE_BYTES) {
            Ok(content) if entry.is_ours(&content.bytes) => {
                self.skip_losing(ImportLoss::Nothing, path, "was written by brief");
                None
            }
            Ok(content) if found.kind == ItemKind::Skill => {
                let key = found.directory.clone().unwrap_or_default();
                let content = FileContent { permission: Permission::Data, ..content };
                let files = vec![(name.to_owned(), content)];
                self.skills.insert(key.clone(), SkillFiles { found, files });
                Some(key)
            }
            Ok(content) => {
                let bytes = read_imported(request, path, &content.bytes)
                    .or_else(|| without_taken_imports(request, path, &content.bytes))
                    .unwrap_or(content.bytes);
                let source = Source::from_bytes(request.root.path().join(path), bytes);
                self.entries.push((path.to_owned(), found, Arc::new(source)));
                None
            }
            Err(error) => {
                self.skip_file(path, error.to_string());
                None
            }
        }
    }

    /// Returns whether a directory was written by `brief registry build` or `brief import --as`: it, or one above it, has our records
    /// and no `brief.toml`.
    fn is_output(&mut self, visit: &Visit<'_>) -> bool {
        let directory = visit.slashed();
        let is_below = |own: &String| {
            directory
                .strip_prefix(&**own)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if self.outputs.iter().any(is_below) {
            return true;
        }
        let has = |name: &str, kind: FileKind| {
            let mut entries = visit.entries().into_iter().flatten();
            entries.any(|entry| entry.name == *name && entry.kind == kind)
        };
        let is_output = !directory.is_empty()
            && has(".brief", FileKind::Directory)
            && !has("brief.toml", FileKind::File);
        if is_output {
            self.outputs.push(directory.to_owned());
        }
        is_output
    }

    fn skill_above(&self, directory: &str) -> Option<&str> {
        let mut above = directory;
        loop {
            if let Some((key, _)) = self.skills.get_key_value(above) {
                return Some(key);
            }
            above = above.rsplit_once('/')?.0;
        }
    }

    fn add_to_skill(&mut self, skill: &str, entry: &Entry<'_>) {
        let path = entry.path;
        let inside = path.strip_prefix(skill).unwrap_or(path).trim_start_matches('/').to_owned();
        if let EntryAt::Here(kind) = entry.at
            && kind != FileKind::File
        {
            return self.skip_file(path, format!("is {}, which brief does not copy", kind.noun()));
        }
        match (entry.read_content(limits::SUPPORT_FILE_BYTES), self.skills.get_mut(skill)) {
            (Ok(content), Some(skill)) => skill.files.push((inside, content)),
            (Err(ReadError::Missing), _) | (Ok(_), None) => {}
            (Err(error), _) => self.skip_file(path, error.to_string()),
        }
    }
}

/// Reads the file that a text imports, if it says nothing else: a `CLAUDE.md` that is `@AGENTS.md` is the same text at
/// another place, as a link is. What such an import leads to from an item would be another file.
fn read_imported(request: &CollectRequest<'_>, path: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let target = pointed_at(path, bytes)?;
    let found = read_linked(request.system, request.root, &target, limits::FILE_BYTES).ok()?;
    // Nothing behind a second import is looked at.
    pointed_at(&target, &found.bytes).is_none().then_some(found.bytes)
}

/// Returns the path that a text at `path` imports, `/`-separated below the root, if the import is all of it.
pub fn pointed_at(path: &str, bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    let target = text.strip_prefix('@')?;
    if target.is_empty() || target.contains(char::is_whitespace) || target.starts_with(['/', '~']) {
        return None;
    }
    let directory = Path::new(path).parent()?;
    Some(to_slashed(&cleaned_below(&directory.join(target))?))
}

/// Leaves out the lines of a text that import a file which becomes an item itself. `None` if there are none.
fn without_taken_imports(
    request: &CollectRequest<'_>,
    path: &str,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_taken = |line: &str| {
        pointed_at(path, line.as_bytes()).is_some_and(|target| {
            recognize_file(&target, request.profiles, request.search).is_some()
                && read_linked(request.system, request.root, &target, limits::FILE_BYTES).is_ok()
        })
    };
    let has_one = text.lines().any(|line| line.starts_with('@') && is_taken(line));
    let kept =
        || text.split_inclusive('\n').filter(|line| !line.starts_with('@') || !is_taken(line));
    has_one.then(|| kept().collect::<String>().trim_start_matches('\n').as_bytes().to_vec())
}
