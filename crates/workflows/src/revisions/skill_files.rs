//! The files of skills that two revisions do not have in common.
//!
//! No catalog reads them, because a question needs none of them. Files that git knows to be the same are not read.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use brief_engine::Moment;
use brief_engine::diff::{SkillFileChange, SkillFileChangeKind, slashed_below};
use brief_syntax::limits;
use brief_system::Files;

use super::{ComparedRevisions, ComparedState};

/// The name of a skill's main file, whose changes are changes of the item.
const MAIN: &str = "SKILL.md";

impl ComparedRevisions {
    /// Returns the changed files of the skills that both revisions have, by path. With `within`, only those below one of
    /// these paths.
    pub fn skill_files(&self, moment: &Moment, within: &[String]) -> Vec<SkillFileChange> {
        let (old, new) = (self.before.skill_names(moment), self.after.skill_names(moment));
        let mut changes: BTreeMap<String, SkillFileChange> = BTreeMap::new();
        for (directory, name) in new.iter().filter(|(directory, _)| old.contains_key(*directory)) {
            for (file, kind) in self.differing_files(directory) {
                let path = slashed_below(&self.root, &file);
                if !within.is_empty()
                    && !within.iter().any(|part| Path::new(&path).starts_with(part))
                {
                    continue;
                }
                let text = |state: &ComparedState| {
                    String::from_utf8(state.tree.read(&file, limits::FILE_BYTES).ok()?).ok()
                };
                let (before, after) = (text(&self.before), text(&self.after));
                if kind == SkillFileChangeKind::Changed && before == after && before.is_some() {
                    continue;
                }
                let skill = name.clone();
                changes.insert(path.clone(), SkillFileChange { kind, skill, path, before, after });
            }
        }
        changes.into_values().collect()
    }

    /// Returns the files below a directory that git does not know to be the same.
    fn differing_files(&self, directory: &Path) -> Vec<(PathBuf, SkillFileChangeKind)> {
        let mut old: BTreeMap<PathBuf, Option<Vec<u8>>> =
            self.before.tree.files_below(directory, limits::SKILL_FILES).into_iter().collect();
        let mut found = Vec::new();
        for (file, object) in self.after.tree.files_below(directory, limits::SKILL_FILES) {
            match old.remove(&file) {
                Some(known) if known.is_some() && known == object => {}
                Some(_) => found.push((file, SkillFileChangeKind::Changed)),
                None => found.push((file, SkillFileChangeKind::Added)),
            }
        }
        found.extend(old.into_keys().map(|file| (file, SkillFileChangeKind::Removed)));
        found.retain(|(file, _)| file.file_name() != Some(OsStr::new(MAIN)));
        found
    }
}

impl ComparedState {
    /// Returns the names of the skills, by directory.
    fn skill_names(&self, moment: &Moment) -> BTreeMap<PathBuf, String> {
        let moment = Moment { target: None, ..moment.clone() };
        let items = self.catalog.collect_candidates(&moment).items;
        let skills = items.iter().map(|applied| &applied.item).filter(|item| item.kind == "skill");
        let directory = |path: &Path| {
            let is_main = path.file_name() == Some(OsStr::new(MAIN));
            path.parent().filter(|_| is_main).map(Path::to_owned)
        };
        skills.filter_map(|item| Some((directory(item.path)?, item.name.to_string()))).collect()
    }
}
