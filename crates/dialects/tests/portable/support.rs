//! Helpers of the tests: a registry in memory, and findings as plain text.

use std::path::{Path, PathBuf};

use brief_dialects::portable::{self, CLIENTS, ItemKind, PortableItem, Registry};
use brief_syntax::{Diagnostic, Root, rules};
use brief_system::MemorySystem;

/// An empty registry `/p`.
pub(crate) fn empty() -> MemorySystem {
    MemorySystem::new("/p").with_dir("/p")
}

/// A registry with these files.
pub(crate) fn files(files: &[(&str, &str)]) -> MemorySystem {
    files.iter().fold(empty(), |system, (path, text)| system.with_file(&format!("/p/{path}"), text))
}

/// Reads a registry for the clients of the document.
pub(crate) fn read(system: &MemorySystem) -> Registry {
    read_for(system, &CLIENTS)
}

/// Reads a registry for other clients.
pub(crate) fn read_for(system: &MemorySystem, clients: &[&str]) -> Registry {
    let root = Root::open(system, Path::new("/p")).unwrap();
    portable::read_registry(system, &root, clients)
}

/// Everything that is wrong: `path:line code`, sorted, without the area of the code.
pub(crate) fn findings(registry: &Registry) -> Vec<String> {
    // That a command is one is told on request only. The document allows a bundle without items, and many bundles here have none
    // (`a_bundle_without_items_is_an_error` is about them).
    let others = [rules::item::COMMAND_EXTENSION, rules::item::EMPTY_BUNDLE];
    let is_told = |one: &&Diagnostic| !others.contains(&one.rule);
    let mut findings: Vec<String> = registry.all_diagnostics().filter(is_told).map(shown).collect();
    findings.sort_unstable();
    findings
}

/// A finding as the tests write it.
pub(crate) fn shown(diagnostic: &Diagnostic) -> String {
    let path = diagnostic.path().strip_prefix("/p").unwrap().to_str().unwrap();
    let code = diagnostic.code().strip_prefix("item/").unwrap_or(diagnostic.code());
    format!("{path}:{} {code}", diagnostic.position().line)
}

/// Returns the problems of these files.
pub(crate) fn findings_of(list: &[(&str, &str)]) -> Vec<String> {
    findings(&read(&files(list)))
}

/// The finding of a code; there must be just one.
pub(crate) fn the<'r>(registry: &'r Registry, code: &str) -> &'r Diagnostic {
    let found: Vec<_> = registry
        .all_diagnostics()
        .filter(|found| found.code().strip_prefix("item/") == Some(code))
        .collect();
    assert_eq!(found.len(), 1, "{code} in {:?}", findings(registry));
    found[0]
}

/// The item of a kind and name.
pub(crate) fn item<'r>(registry: &'r Registry, kind: ItemKind, name: &str) -> &'r PortableItem {
    let found = registry.items.iter().find(|item| item.kind() == kind && item.name() == name);
    found.unwrap_or_else(|| panic!("no {kind} `{name}`"))
}

/// The fields that every item has; the tests' own lines follow.
pub(crate) fn fields(name: &str) -> String {
    format!("schema: 1\nname: {name}\ndescription: Use when testing\nlicense: MIT\n")
}

/// An entrypoint with further fields (from line 6) and a body (two lines after the closing dashes).
pub(crate) fn with(name: &str, more: &str, body: &str) -> String {
    format!("---\n{}{more}---\n\n{body}", fields(name))
}

/// An entrypoint that nothing is wrong with.
pub(crate) fn good(name: &str) -> String {
    with(name, "", "## Title\n\nText.\n")
}

/// Returns the problems of the rule `a` with this body, which begins in line 8.
pub(crate) fn body_findings(body: &str) -> Vec<String> {
    findings_of(&[("rules/a/RULE.md", &with("a", "", body))])
}

/// Returns the problems of an item `a` of a kind with these further fields, which begin in line 6.
pub(crate) fn field_findings(kind: ItemKind, more: &str) -> Vec<String> {
    let path = format!("{}/a/{}", kind.folder(), kind.entrypoint());
    findings_of(&[(&path, &with("a", more, "## Title\n"))])
}

/// The directory of the project.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// No findings.
pub(crate) const NONE: [&str; 0] = [];
