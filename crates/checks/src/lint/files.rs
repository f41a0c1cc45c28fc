//! Findings about files that depend on the rest of the project: links in items, and files that no client reads by itself.

use std::collections::BTreeSet;
use std::path::Path;

use brief_dialects::portable;
use brief_engine::Catalog;
use brief_syntax::walk::IgnoreFiles;
use brief_syntax::{Diagnostic, Severity, rules};
use brief_system::paths::{cleaned_below, to_slashed};

use super::Lint;
use crate::uses::UsingTexts;

/// Files that a client loads from a directory, and that are no part of an item there.
const MAIN_TEXTS: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];

/// Returns whether an item cannot be installed because the content of one of its files is in Git LFS.
pub(super) fn is_large_file(found: &Diagnostic) -> bool {
    found.message.contains("Git LFS pointer")
}

impl Lint<'_> {
    /// Makes warnings of links to other files of the repository where nothing says that it is a registry: clients follow them,
    /// and only an installation of single items does not.
    pub(super) fn lower_links(&self, catalog: &Catalog, found: &mut Vec<Diagnostic>) {
        let root = self.root.path();
        let is_registry = catalog.files().is_some_and(|files| {
            let has = |names: &[String], name: &str| names.iter().any(|known| known == name);
            has(&files.files, portable::config::FILE_NAME) || has(&files.directories, "guidance")
        });
        if is_registry {
            return;
        }
        // Clients of a clone have the content of a file in Git LFS; what lies elsewhere is for an installation.
        let is_for_clients = |one: &Diagnostic| {
            let below = one.path().strip_prefix(root).unwrap_or(one.path());
            below.iter().any(|name| name.as_encoded_bytes().starts_with(b"."))
        };
        found.retain(|one| {
            one.rule != rules::item::UNREADABLE || !is_large_file(one) || !is_for_clients(one)
        });
        // `CLAUDE.md` beside a skill is for those who work on it.
        found.retain(|one| {
            let link = one.message.split('`').nth(1).unwrap_or_default();
            one.rule != rules::item::NOT_A_FILE || !MAIN_TEXTS.contains(&link)
        });
        for one in found.iter_mut().filter(|one| one.rule == rules::item::NOT_A_FILE) {
            let below = one.message.split('`').nth(1).unwrap_or_default();
            let link = one.path().parent().map(|item| self.system.resolve(&item.join(below)));
            if link.is_some_and(|link| link.is_ok_and(|link| link.path.starts_with(root))) {
                one.severity = Severity::Warning;
            }
        }
    }

    /// Removes imports of files that version control ignores: they are there for whoever has written one.
    pub(super) fn drop_ignored_imports(&self, found: &mut Vec<Diagnostic>) {
        let ignored = IgnoreFiles::new(self.system, &self.root);
        found.retain(|one| {
            if one.rule != rules::client::IMPORT_MISSING {
                return true;
            }
            let name = one.message.split('`').nth(1).and_then(|name| name.strip_prefix('@'));
            let above =
                one.path().parent().and_then(|above| above.strip_prefix(self.root.path()).ok());
            let below = name.zip(above).and_then(|(name, above)| cleaned_below(&above.join(name)));
            below.is_none_or(|below| !ignored.is_ignored(&below))
        });
    }

    /// Removes files that no client reads by itself and that something in the project uses: a workflow, a script, another page, a
    /// rule that leads to it. Of several in one directory, all have to be used.
    pub(super) fn drop_used_files(&self, catalog: &Catalog, found: &mut Vec<Diagnostic>) {
        let is_unread = |one: &Diagnostic| one.rule == rules::client::UNREAD_FILE;
        let (root, Some(files)) = (self.root.path(), catalog.files()) else { return };
        let below = |path: &Path| path.strip_prefix(root).map(to_slashed).unwrap_or_default();
        let directory_of =
            |path: &str| path.rsplit_once('/').map_or("", |(above, _)| above).to_owned();
        // A finding stands for all files of a directory whose names end alike.
        let alike = |one: &Diagnostic| -> Vec<String> {
            let path = below(one.path());
            if !one.message.contains(" more: ") {
                return vec![path];
            }
            let end = path.rsplit_once('.').map_or("", |(_, end)| end).to_owned();
            let is_alike = |other: &&String| {
                directory_of(other) == directory_of(&path)
                    && other.rsplit_once('.').is_some_and(|(_, other)| other == end)
            };
            files.files.iter().filter(is_alike).cloned().collect()
        };
        let unread: BTreeSet<String> =
            found.iter().filter(|one| is_unread(one)).flat_map(alike).collect();
        if unread.is_empty() {
            return;
        }
        let mut texts = UsingTexts::read(self.system, root);
        catalog.each_text(&mut |text| {
            let path = below(text.source.path());
            if !unread.contains(&path) {
                texts.add_text(&path, text.body().to_owned());
            }
        });
        found.retain(|one| !is_unread(one) || !alike(one).iter().all(|path| texts.name_file(path)));
    }
}
