//! The refusals of an installation, for the author of the source.
//!
//! `brief lint` reads a project as an agent's guidance. This reads it as `brief add` does and looks into every file that
//! travels with an item, so that `lint` approves nothing that `add` refuses.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use brief_dialects::portable::{PortableItem, Registry, config};
use brief_safety::capability::CapabilityFinding;
use brief_syntax::{Diagnostic, Root, Severity, Source, limits};
use brief_system::System;

use super::gate;
use super::open::read_items;
use crate::elsewhere;
use crate::manifest::Manifest;
use crate::outputs::filter_errors;
use crate::outputs::item::{self, ItemFiles};

/// Returns what `brief add` of a directory refuses, by file; nothing if the directory offers no items of its own.
///
/// Contents that the registry's own `brief.toml` accepts are left out.
pub fn collect_refusals(system: &dyn System, root: &Root, clients: &[&str]) -> Vec<Diagnostic> {
    // The projects of its users are somewhere else.
    let registry = read_items(system, root, clients, false, Path::new("/"));
    if !is_registry(&registry) {
        return Vec::new();
    }
    let accepted = read_accepted_contents(system, root);
    // Other sources may have what is missing; `lint` reports that itself.
    let is_own = |found: &&Diagnostic| !elsewhere::OF_BUNDLES.contains(&found.rule);
    let found = filter_errors(registry.all_diagnostics()).filter(is_own);
    let mut found: Vec<Diagnostic> = found.cloned().collect();
    for item in registry.items.iter().filter(|item| item.is_valid()) {
        match ItemFiles::read(system, root, item) {
            Ok(files) => {
                let hash = item::content_hash(item, &files);
                if !accepted.contains(&hash) {
                    found.extend(collect_blocking_warnings(item, &files));
                }
            }
            Err(problem) => found.push(*problem),
        }
    }
    found
}

/// Returns whether a directory was made for others to install from: it has items of the format, bundles, or skills
/// outside the directories of clients.
fn is_registry(registry: &Registry) -> bool {
    let is_hidden =
        |item: &PortableItem| item.slashed().split('/').any(|name| name.starts_with('.'));
    let is_offered = |item: &PortableItem| !item.is_foreign() || !is_hidden(item);
    !registry.bundles.is_empty() || registry.items.iter().any(is_offered)
}

fn collect_blocking_warnings(item: &PortableItem, files: &ItemFiles) -> Vec<Diagnostic> {
    let findings = match gate::derive_capabilities(item, files) {
        Ok(findings) => findings,
        Err(problem) => return vec![*problem],
    };
    let blocking = findings.iter().filter(|found| found.capability.is_blocking());
    let warning = |found: &CapabilityFinding| {
        found.to_diagnostic().with_severity(Severity::Warning).with_help(
            "publish its content as text; otherwise `brief add` refuses it until each user accepts it",
        )
    };
    blocking.map(warning).collect()
}

/// Returns the contents that the registry's own configuration accepts.
fn read_accepted_contents(system: &dyn System, root: &Root) -> BTreeSet<String> {
    let path = root.path().join(config::FILE_NAME);
    let Ok(bytes) = system.read(&path, limits::FILE_BYTES) else { return BTreeSet::new() };
    let source = Arc::new(Source::from_bytes(path, bytes));
    Manifest::parse(&source).map(|manifest| manifest.accept).unwrap_or_default()
}
