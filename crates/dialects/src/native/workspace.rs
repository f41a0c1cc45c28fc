//! Directories that a client takes for parts of its workspace, beside the one that it was started in.
//!
//! Gemini CLI looks for its files of instructions as if it had been started in each of them, too: those of the directory and of each
//! one above it come at the start, those below it with a file there. Skills, agents and settings stay those of the start directory
//! (0.61.0, run on 2026-11-20).

use std::path::{Path, PathBuf};

use brief_profiles::{Client, Seat};
use brief_system::paths::clean_path;

use crate::answer::Owner;

use super::model::Folder;
use super::resolve::NativeQuestion;
use super::settings::Setting;

/// Returns the directories that the settings of the user and of the start directory name for a client, absolute.
pub(super) fn collect_directories(
    client: &Client,
    folders: &[&Folder],
    asked: &NativeQuestion<'_, '_>,
) -> Vec<PathBuf> {
    let started = asked.started.unwrap_or(asked.root);
    let mut found = Vec::new();
    for folder in folders {
        if folder.owner != Owner::User && folder.path != started {
            continue;
        }
        for setting in &folder.settings {
            if let Setting::Workspace { client: of, directories } = setting
                && *of == &*client.id
            {
                found.extend(directories.iter().map(|path| clean_path(&started.join(path))));
            }
        }
    }
    found
}

/// Returns where a directory of the project lies, seen from these directories; `None` if it is in none of them and above none.
pub(super) fn find_seat(folder: &Folder, directories: &[PathBuf]) -> Option<Seat> {
    let is_any = |is_so: &dyn Fn(&Path) -> bool| directories.iter().any(|path| is_so(path));
    if is_any(&|path| path.starts_with(&folder.path)) {
        Some(Seat::Between)
    } else if is_any(&|path| folder.path.starts_with(path)) {
        Some(Seat::Below)
    } else {
        None
    }
}
