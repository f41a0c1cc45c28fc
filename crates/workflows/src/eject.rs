//! The way back: what `brief` has put into files of a project, or of a user, and the texts without it.
//!
//! Everything is planned from texts in memory, several additions to one file after each other, so that one transaction
//! brings all files to where they were.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use brief_clients::client_file::ClientFile;
use brief_clients::hook::installed::{HookScope, hook_command, possible_files};
use brief_clients::hook::settings::NEW_FILE;
use brief_clients::mcp::{remove_own_servers, server_files};
use brief_clients::profile::ProfileScope;
use brief_dialects::portable::output::{Compiler, Foreign, Merge};
use brief_dialects::tasks::{CodingAgent, HandEdits, Placed, update_managed_block};
use brief_profiles::KnownClients;
use brief_registry::install::{InstallError, LeftFile, ProjectPaths, read_installed_parts};
use brief_system::System;
use brief_system::paths::to_slashed;

use crate::installation::Installation;

/// The text of a settings file that `brief mcp install` has begun, without its entries.
const BARE_FILE: &str = "{\n}\n";

/// The texts without what is ours, and what stays.
#[derive(Debug)]
pub struct Ejection {
    /// The directories, with the top of all files as the output directory.
    pub project: ProjectPaths,
    pub files: Vec<LeftFile>,
    /// What stays of ours, with the reason: a file, and why.
    pub kept: Vec<(String, String)>,
    /// The files of items, which stay as plain files of clients.
    pub outputs: BTreeSet<String>,
}

/// Plans the way back. `base` is the repository, or the home directory.
pub fn plan_ejection(
    system: &dyn System,
    installation: &Installation,
    known: &KnownClients,
    base: &Path,
) -> Result<Ejection, InstallError> {
    let scope = installation.clients.scope();
    let mut texts =
        Texts { system, base: base.to_owned(), edits: BTreeMap::new(), kept: Vec::new() };
    let place = if scope == ProfileScope::Home { HookScope::Home } else { HookScope::Project };
    texts.remove_hooks(known, place);
    texts.remove_servers(scope);
    texts.remove_rules(scope);
    let project = &installation.project;
    let parts = read_installed_parts(system, project)?;
    let below = |path: &str| match project.outputs.strip_prefix(base) {
        Ok(directory) if !directory.as_os_str().is_empty() => {
            format!("{}/{path}", to_slashed(directory))
        }
        _ => path.to_owned(),
    };
    for (path, entries) in &parts.shared {
        texts.edit_text(&below(path), |text| {
            let merge = Merge {
                path,
                text: Some(text),
                wanted: &[],
                before: entries,
                foreign: Foreign::Keep,
            };
            let merged = installation.clients.merge_entries(&merge)?;
            match merged.kept.first() {
                Some((name, why)) => Err(format!("keeps `{name}`: {why}")),
                // A file that a server began has no schema, which entries of items would have begun it with.
                None => Ok(Some(merged.text.filter(|text| text != BARE_FILE).unwrap_or_default())),
            }
        });
    }
    let mut kept = std::mem::take(&mut texts.kept);
    kept.sort();
    kept.dedup();
    let outputs = parts.outputs.iter().map(|path| below(path)).collect();
    let project = ProjectPaths { outputs: base.to_owned(), ..project.clone() };
    Ok(Ejection { project, files: texts.finish(), kept, outputs })
}

/// Files that lose parts one after the other.
struct Texts<'t> {
    system: &'t dyn System,
    base: PathBuf,
    /// The text before and now, by the path below the base.
    edits: BTreeMap<String, (String, String)>,
    kept: Vec<(String, String)>,
}

impl Texts<'_> {
    /// Changes the text of a file that is there. `edit` returns the new text, empty for none, or `None` for no change.
    fn edit_text(&mut self, path: &str, edit: impl FnOnce(&str) -> Result<Option<String>, String>) {
        let opened = match ClientFile::open(self.system, &self.base, path) {
            Ok(opened) => opened,
            Err(error) => return self.kept.push((path.to_owned(), error.to_string())),
        };
        let Some(text) = opened.text() else { return };
        // A link leads to the file that changes.
        let real =
            opened.path().strip_prefix(&self.base).map_or_else(|_| path.to_owned(), to_slashed);
        let (_, now) = self.edits.entry(real).or_insert_with(|| (text.to_owned(), text.to_owned()));
        if now.is_empty() && !text.is_empty() {
            return;
        }
        match edit(now) {
            Ok(Some(left)) => *now = left,
            Ok(None) => {}
            Err(problem) => self.kept.push((path.to_owned(), problem)),
        }
    }

    fn remove_hooks(&mut self, known: &KnownClients, scope: HookScope) {
        for client in &known.clients {
            // Programs at other paths count as well.
            let program = hook_command(client);
            let files = possible_files(self.system, client, (&self.base, scope), &program);
            let files = match files {
                Ok(files) => files,
                Err((path, error)) => {
                    self.kept.push((path, error.to_string()));
                    continue;
                }
            };
            for file in &files {
                self.edit_text(&file.path, |text| {
                    // A file that cannot be parsed has no hook that its client runs.
                    Ok(file.uninstall(text).ok().flatten())
                });
            }
        }
    }

    fn remove_servers(&mut self, scope: ProfileScope) {
        let base = self.base.clone();
        for file in server_files(scope) {
            self.edit_text(file.path, |text| remove_own_servers(&file, text, &base));
        }
    }

    /// Removes the rules that `brief task --write-rules` has written.
    fn remove_rules(&mut self, scope: ProfileScope) {
        for agent in CodingAgent::list_all() {
            let (path, beginning) = match scope {
                ProfileScope::Project => agent.project_rules(),
                ProfileScope::Home => (agent.user_rules(), ""),
            };
            self.edit_text(path, |text| {
                match update_managed_block(text.as_bytes(), b"", HandEdits::Keep) {
                    Placed::Unchanged => Ok(None),
                    Placed::EditedByHand => {
                        Err("keeps rules of `brief task` that were edited by hand".to_owned())
                    }
                    Placed::New(left) => {
                        let left = String::from_utf8_lossy(&left).into_owned();
                        // The empty line that was put before the block.
                        let left = left
                            .strip_suffix("\n\n")
                            .map(|left| format!("{left}\n"))
                            .unwrap_or(left);
                        Ok(Some(if left.trim() == beginning.trim() { String::new() } else { left }))
                    }
                }
            });
        }
    }

    fn finish(self) -> Vec<LeftFile> {
        let files = self.edits.into_iter().filter(|(_, (before, now))| before != now);
        files
            .map(|(path, (before, now))| {
                // The text of a settings file that a hook began is no user's.
                let after = (!now.is_empty() && now != NEW_FILE).then_some(now);
                LeftFile { path, before, after }
            })
            .collect()
    }
}
