//! Names in a project's bundles that its other sources have.

use std::path::PathBuf;
use std::sync::Arc;

use brief_dialects::portable;
use brief_syntax::{Diagnostic, Root, Rule, Source, Span, limits, rules};
use brief_system::System;

use crate::install::{ProjectPaths, SourceInventory};
use crate::lock::Lock;
use crate::manifest::Manifest;

/// Rules about names in a bundle that its own registry does not have.
pub(crate) const OF_BUNDLES: [Rule; 2] =
    [rules::item::BUNDLE_UNRESOLVED, rules::item::BUNDLE_REQUIRES];

/// Removes the findings about names in bundles that the other sources of `brief.toml` have, as an
/// installation finds them. Sources are read at their locked commits, from disk; the help of the other
/// findings names the sources that were never fetched.
pub fn remove_resolved_findings(
    system: &dyn System,
    root: &Root,
    diagnostics: &mut Vec<Diagnostic>,
) {
    if !diagnostics.iter().any(|found| OF_BUNDLES.contains(&found.rule)) {
        return;
    }
    let project = ProjectPaths::from_root(root.path());
    let read = |path: PathBuf| system.read(&path, limits::FILE_BYTES).ok();
    let Some(manifest) = read(project.manifest_path()) else { return };
    let configuration = Arc::new(Source::from_bytes(project.manifest_path(), manifest));
    let Ok(manifest) = Manifest::parse(&configuration) else { return };
    let lock = read(project.lock_path()).and_then(|bytes| String::from_utf8(bytes).ok());
    let lock = lock.and_then(|text| Lock::parse(&text).ok()).unwrap_or_default();
    let inventory = SourceInventory::read(system, &project, &manifest, &lock, &[]);
    let others: Vec<&portable::Registry> =
        inventory.sources.values().filter_map(|source| source.as_ref().ok()).collect();
    let own = portable::read_registry(system, root, &[]);
    let elsewhere = portable::bundle::found_elsewhere(&own, &others);
    diagnostics.retain(|found| {
        let is_there = |(source, span): &(Arc<Source>, Span)| {
            source.path() == found.path() && *span == found.span
        };
        !(OF_BUNDLES.contains(&found.rule) && elsewhere.iter().any(is_there))
    });
    let unread: Vec<&str> = inventory
        .sources
        .iter()
        .filter_map(|(name, source)| source.is_err().then_some(name.as_str()))
        .collect();
    if !unread.is_empty() {
        let help = format!(
            "the source `{}` of brief.toml is not fetched; run `brief sync`",
            unread.join("`, `")
        );
        let of_bundles = diagnostics.iter_mut().filter(|found| OF_BUNDLES.contains(&found.rule));
        of_bundles.for_each(|found| found.help = Some(help.clone()));
    }
}
