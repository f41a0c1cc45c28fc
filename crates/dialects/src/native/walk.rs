//! Walks over one directory of rules, skills or agents.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use brief_profiles::{ClientPlace, FileNames, PlaceShape};
use brief_syntax::limits;
use brief_system::{DirEntry, FileKind, ReadError};

use super::model::Folder;
use super::read::{NativeReader, NotRead, Opened};

/// The name of a skill's file.
pub(super) const SKILL_NAME: &str = "SKILL.md";

/// A walk over one directory of rules, skills or agents.
pub(super) struct Walk<'w> {
    place: &'w ClientPlace,
    folder: &'w mut Folder,
    entries: usize,
    files: usize,
    /// The directories that were entered, without links.
    entered: BTreeSet<PathBuf>,
    is_full: bool,
}

impl<'w> Walk<'w> {
    pub(super) fn new(place: &'w ClientPlace, folder: &'w mut Folder) -> Walk<'w> {
        Walk { place, folder, entries: 0, files: 0, entered: BTreeSet::new(), is_full: false }
    }

    /// Reads all that there is; says whether there was a file.
    pub(super) fn read_all(mut self, reader: &mut NativeReader<'_>, directory: &Opened) -> bool {
        match &self.place.shape {
            PlaceShape::Tree(names) => self.walk_tree(reader, directory, names, 0),
            _ => self.walk_skills(reader, directory),
        }
        self.files > 0
    }

    fn walk_tree(
        &mut self,
        reader: &mut NativeReader<'_>,
        directory: &Opened,
        names: &FileNames,
        depth: usize,
    ) {
        if !self.entered.insert(directory.real.clone()) {
            return;
        }
        for entry in self.list_entries(reader, directory) {
            if self.is_full {
                return;
            }
            let path = directory.path.join(&entry.name);
            let name = entry.name.to_string_lossy();
            let counts = names.endings.iter().any(|ending| name.ends_with(&**ending));
            match entry.kind {
                FileKind::File | FileKind::Link if counts => {
                    self.read_file(reader, directory, &entry);
                }
                FileKind::File | FileKind::Link
                    if let Some((ending, reason)) = &names.look_alike
                        && name.ends_with(&**ending) =>
                {
                    self.add_unread(reader, directory, &entry.name, reason);
                }
                FileKind::Directory | FileKind::Link
                    if names.is_deep && !names.skipped.contains_text(&name) =>
                {
                    if depth == limits::NATIVE_DEPTH {
                        let limit = limits::NATIVE_DEPTH;
                        reader.report_limit(&path, &format!("more than {limit} directories deep"));
                        continue;
                    }
                    if let Some(child) = reader.open_directory(directory.here(), &entry.name) {
                        self.walk_tree(reader, &child, names, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }

    fn walk_skills(&mut self, reader: &mut NativeReader<'_>, directory: &Opened) {
        for entry in self.list_entries(reader, directory) {
            if self.is_full {
                return;
            }
            if !matches!(entry.kind, FileKind::Directory | FileKind::Link) {
                continue;
            }
            let file = DirEntry { name: SKILL_NAME.into(), kind: FileKind::Other };
            if entry.kind == FileKind::Directory
                && self.read_skill(reader, directory, &Path::new(&entry.name).join(SKILL_NAME))
            {
                continue;
            }
            let Some(skill) = reader.open_directory(directory.here(), &entry.name) else {
                continue;
            };
            self.read_file(reader, &skill, &file);
        }
    }

    /// Reads the file of a skill in one step; says whether there is nothing left to do.
    fn read_skill(
        &mut self,
        reader: &mut NativeReader<'_>,
        directory: &Opened,
        below: &Path,
    ) -> bool {
        let path = directory.path.join(below);
        if reader.bytes == 0 || reader.refuse_secret(&path).is_err() {
            return false;
        }
        match directory.handle.read_below(below, limits::FILE_BYTES) {
            Ok(bytes) => {
                reader.charge_bytes(&bytes);
                if self.takes_one_more(reader, &path) {
                    reader.add_guide(path, (bytes, None), self.place, self.folder);
                }
                true
            }
            Err(error) => matches!(error, ReadError::Missing),
        }
    }

    fn read_file(&mut self, reader: &mut NativeReader<'_>, directory: &Opened, entry: &DirEntry) {
        let path = directory.path.join(&entry.name);
        match reader.read_as(directory.here(), &entry.name, entry.kind) {
            Ok(read) => {
                if self.takes_one_more(reader, &path) {
                    reader.add_guide(path, read, self.place, self.folder);
                    self.note_target(directory, &entry.name);
                }
            }
            Err(NotRead::Missing | NotRead::Directory) => {}
            Err(problem) if reader.bytes > 0 => reader.report_unreadable(&path, problem),
            Err(_) => self.is_full = true,
        }
    }

    fn add_unread(
        &mut self,
        reader: &mut NativeReader<'_>,
        directory: &Opened,
        name: &OsStr,
        reason: &str,
    ) {
        let path = directory.path.join(name);
        if self.takes_one_more(reader, &path) {
            reader.add_unread(path, self.place, reason, self.folder);
            self.note_target(directory, name);
        }
    }

    /// Notes what the last file is behind the links among its directories.
    fn note_target(&mut self, directory: &Opened, name: &OsStr) {
        if directory.real != directory.path
            && let Some(guide) = self.folder.guides.last_mut()
        {
            guide.behind = Some(directory.real.join(name));
        }
    }

    fn takes_one_more(&mut self, reader: &mut NativeReader<'_>, path: &Path) -> bool {
        self.files += 1;
        if self.files > limits::NATIVE_FILES && !self.is_full {
            self.is_full = true;
            let limit = limits::NATIVE_FILES;
            reader.report_limit(path, &format!("more than {limit} files"));
        }
        !self.is_full
    }

    fn list_entries(&mut self, reader: &mut NativeReader<'_>, directory: &Opened) -> Vec<DirEntry> {
        let room = limits::NATIVE_ENTRIES - self.entries;
        match directory.handle.first_entries(room + 1) {
            Ok(mut entries) => {
                entries.sort_unstable();
                if entries.len() > room {
                    let limit = limits::NATIVE_ENTRIES;
                    reader.report_limit(&directory.path, &format!("more than {limit} names"));
                    entries.truncate(room);
                }
                self.entries += entries.len();
                entries
            }
            Err(error) => {
                reader.report_unreadable(&directory.path, NotRead::Refused(error.to_string()));
                Vec::new()
            }
        }
    }
}
