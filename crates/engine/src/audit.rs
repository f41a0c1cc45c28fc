//! An audit: what every item of a directory can do.
//!
//! One walk over the files. Everything in the directory of a skill, rule or agent belongs to that item;
//! another file that guides an agent is an item by itself. A directory without either is read whole,
//! because its user asked about it.

use std::collections::BTreeMap;
use std::path::Path;

use brief_dialects::portable::ItemKind;
use brief_safety::capability::{self, Capability, CapabilityFinding, Inventory};
use brief_syntax::walk::{self, Ignored, Visit};
use brief_syntax::{Diagnostic, Root, Target, limits};
use brief_system::{FileKind, ReadError, System};

use crate::catalog::gap_diagnostic;

/// The items of a directory and what they can do.
#[derive(Debug, Default)]
pub struct Audit {
    /// The items, sorted by path.
    pub items: Vec<AuditedItem>,
    /// The number of files that were read.
    pub files: usize,
    /// The parts of the directory that could not be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// An item and what it can do.
#[derive(Debug)]
pub struct AuditedItem {
    /// The kind: `skill`, `rule`, `agent`, `bundle`, `command`, `task`, `settings` or `file`.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// The directory or file below the root, with `/`.
    pub path: String,
    /// The findings, the gravest first.
    pub findings: Vec<CapabilityFinding>,
}

impl Audit {
    /// Audits a directory of a root and all below it, or one file in it.
    pub fn read(
        system: &dyn System,
        root: &Root,
        directory: &Target,
        file: Option<&str>,
        ignored: Ignored,
    ) -> Audit {
        let first = if file.is_some() { Choice::All } else { Choice::Guidance };
        let audit = read_audit(system, root, directory, file, ignored, first);
        if audit.items.is_empty() && first == Choice::Guidance {
            return read_audit(system, root, directory, file, ignored, Choice::All);
        }
        audit
    }

    /// Returns all findings.
    pub fn findings(&self) -> impl Iterator<Item = &CapabilityFinding> {
        self.items.iter().flat_map(|item| &item.findings)
    }

    /// Returns how many items have a capability.
    pub fn count_of(&self, capability: Capability) -> usize {
        let has =
            |item: &&AuditedItem| item.findings.iter().any(|found| found.capability == capability);
        self.items.iter().filter(has).count()
    }

    /// Returns the findings as diagnostics, after those about the directory.
    pub fn all_diagnostics(&self) -> Vec<Diagnostic> {
        let findings = self.findings().map(CapabilityFinding::to_diagnostic);
        self.diagnostics.iter().cloned().chain(findings).collect()
    }
}

/// The files that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Guidance,
    All,
}

fn read_audit(
    system: &dyn System,
    root: &Root,
    directory: &Target,
    file: Option<&str>,
    ignored: Ignored,
    choice: Choice,
) -> Audit {
    let mut collector = Collector { choice, file, items: BTreeMap::new(), files: 0 };
    let mut visitor = |visit: &Visit<'_>| collector.visit_directory(visit);
    let gaps = if file.is_some() {
        walk::walk_along(system, root, directory, &mut |visit| {
            if visit.slashed() == directory.slashed() {
                visitor(visit);
            }
        })
    } else {
        walk::walk_whole(system, root, directory, ignored, &mut visitor)
    };
    let Collector { items, files, .. } = collector;
    let items = items.into_iter().map(|(path, (kind, inventory))| {
        let name = name_of(&path, root.path());
        AuditedItem { kind, name, path, findings: inventory.finish() }
    });
    Audit { items: items.collect(), files, diagnostics: gaps.iter().map(gap_diagnostic).collect() }
}

struct Collector<'c> {
    choice: Choice,
    /// The only file that is wanted.
    file: Option<&'c str>,
    /// The items by their path, each with its kind.
    items: BTreeMap<String, (&'static str, Inventory)>,
    files: usize,
}

impl Collector<'_> {
    fn visit_directory(&mut self, visit: &Visit<'_>) {
        let slashed = visit.slashed();
        if let Some(name) = self.file {
            return self.read_file(visit, name, slashed);
        }
        let Some(entries) = visit.entries() else { return };
        let is_file = |kind: FileKind| kind == FileKind::File;
        let files: Vec<&str> = entries
            .iter()
            .filter(|entry| is_file(entry.kind))
            .filter_map(|entry| entry.name.to_str())
            .collect();
        let entrypoint = ItemKind::ALL.into_iter().find(|kind| files.contains(&kind.entrypoint()));
        if let Some(kind) = entrypoint
            && self.item_above(slashed).is_none()
        {
            let inventory = Inventory::new(kind.as_str());
            self.items.insert(slashed.to_owned(), (kind.as_str(), inventory));
        }
        for name in files {
            self.read_file(visit, name, slashed);
        }
    }

    /// Returns the path of the item whose directory holds a directory.
    fn item_above(&self, slashed: &str) -> Option<String> {
        let is_directory = |path: &&str| {
            self.items.get(*path).is_some_and(|(kind, _)| ItemKind::from_name(kind).is_some())
        };
        let above = std::iter::successors(Some(slashed), |path| {
            (!path.is_empty()).then(|| path.rsplit_once('/').map_or("", |(above, _)| above))
        });
        above.into_iter().find(is_directory).map(str::to_owned)
    }

    fn read_file(&mut self, visit: &Visit<'_>, name: &str, directory: &str) {
        let path =
            if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        let item = self.item_above(directory);
        if item.is_none() && self.choice == Choice::Guidance && !capability::is_guidance(&path) {
            return;
        }
        let below = match &item {
            Some(item) if item.is_empty() => path.clone(),
            Some(item) => path[item.len() + 1..].to_owned(),
            None => name.to_owned(),
        };
        let key = item.unwrap_or_else(|| path.clone());
        let (_, inventory) = self.items.entry(key).or_insert_with(|| {
            let kind = kind_of(&path);
            (kind, Inventory::new(kind))
        });
        let place = visit.path_of(name);
        match visit.handle().read_file(name.as_ref(), limits::SUPPORT_FILE_BYTES) {
            Ok(content) => {
                self.files += 1;
                inventory.scan_file(&below, &place, content.bytes, content.permission);
            }
            Err(ReadError::Missing) => {}
            Err(error) => inventory.add_unreadable(&below, &place, &error.to_string()),
        }
    }
}

/// Returns the kind of a file that is an item by itself.
fn kind_of(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_below = |folder: &str| path.split('/').rev().skip(1).any(|above| above == folder);
    let entrypoint = ItemKind::ALL.into_iter().find(|kind| kind.entrypoint() == name);
    let ending = name.rsplit('.').next().unwrap_or_default();
    if let Some(kind) = entrypoint {
        kind.as_str()
    } else if name.ends_with(".bundle.md") {
        "bundle"
    } else if name.ends_with(".agent.md") || name.ends_with(".chatmode.md") || is_below("agents") {
        "agent"
    } else if name.ends_with(".prompt.md") || is_below("commands") || is_below("prompts") {
        "command"
    } else if is_below("tasks") {
        "task"
    } else if matches!(ending, "json" | "toml") || is_below("hooks") {
        "settings"
    } else if matches!(ending, "md" | "mdc") {
        "rule"
    } else {
        "file"
    }
}

fn name_of(path: &str, root: &Path) -> String {
    let last = path.rsplit('/').next().filter(|name| !name.is_empty());
    let of_root = || root.file_name().map(|name| name.to_string_lossy().into_owned());
    last.map(str::to_owned).or_else(of_root).unwrap_or_default()
}
