//! The packages of `[dependencies]`: checks the guidance that they ship, and records it.
//!
//! Nothing of a package is written. The lock gets its version, its files and its capabilities, and answers
//! offer what the lock records.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use brief_dialects::dependencies::{
    self, LockedDependency, Package, PackageContent, PackageId, PackageName,
};
use brief_syntax::project::repository_around;
use brief_syntax::{Diagnostic, Severity, Source, rules};
use brief_system::paths;
use serde::Serialize;

use super::run::Run;
use super::state::ProjectState;
use super::{ItemCapabilities, gate};
use crate::lock::Lock;
use crate::manifest::WantedDependency;
use crate::outputs::ChangeKind;

/// A new, changed or removed package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DependencyReport {
    #[serde(rename = "package")]
    pub id: PackageId,
    /// The version that was accepted before.
    pub before: Option<String>,
    pub change: ChangeKind,
    /// The number of files of guidance.
    #[serde(skip)]
    pub files: usize,
    #[serde(flatten)]
    pub capabilities: ItemCapabilities,
}

/// Chooses the packages of a run.
pub(super) struct PackageSelector<'w> {
    pub(super) run: &'w Run<'w>,
    pub(super) old: &'w ProjectState,
}

impl PackageSelector<'_> {
    /// Looks at the packages that the manifest names, and returns what the lock is to record. A package that
    /// is not installed here, or is refused, keeps its old record.
    pub(super) fn choose_packages(
        &self,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<LockedDependency> {
        let manifest = &self.old.manifest;
        if manifest.dependencies.is_empty() {
            return Vec::new();
        }
        let path = self.run.project.manifest_path();
        let source = Arc::new(Source::new(path, self.old.manifest_text.as_str()));
        let mut locked: Vec<LockedDependency> = Vec::new();
        for wanted in &manifest.dependencies {
            let mut report = |severity, message: String, help: &str| {
                let rule = rules::project::DEPENDENCY_MISSING;
                let found = Diagnostic::new(rule, &source, wanted.span, message).with_help(help);
                diagnostics.push(found.with_severity(severity));
            };
            if self.run.project.outputs != self.run.project.config {
                let help = "move `[dependencies]` to the brief.toml of a project";
                let message = "only projects can have packages".to_owned();
                report(Severity::Error, message, help);
                continue;
            }
            let found = self.find_package(wanted, &mut report);
            let known = self.old.lock.dependencies.iter();
            let known = known.filter(|known| wanted.name.matches(&known.id));
            let new = match found {
                PackageSearch::Found(package) => self.accept_package(&package, diagnostics),
                PackageSearch::Empty => continue,
                PackageSearch::Unknown => None,
            };
            match new {
                Some(new) => locked.push(new),
                None => locked.extend(known.cloned()),
            }
        }
        locked.sort_by(|left, right| dependency_key(left).cmp(&dependency_key(right)));
        locked.dedup_by(|left, right| dependency_key(left) == dependency_key(right));
        locked
    }

    fn find_package(
        &self,
        wanted: &WantedDependency,
        report: &mut dyn FnMut(Severity, String, &str),
    ) -> PackageSearch {
        let directory = &self.run.project.outputs;
        let root = repository_around(self.run.system, directory).unwrap_or(directory);
        let found =
            dependencies::find_named_packages(self.run.system, root, directory, &wanted.name);
        let name = &wanted.name;
        for note in found.notes {
            report(Severity::Warning, note, "");
        }
        let ecosystems: BTreeSet<_> =
            found.packages.iter().map(|package| package.id.ecosystem).collect();
        if ecosystems.len() > 1 {
            let named: Vec<String> = ecosystems
                .iter()
                .map(|&ecosystem| {
                    let name = PackageName { ecosystem: Some(ecosystem), name: name.name.clone() };
                    format!("`{name}`")
                })
                .collect();
            let message = format!("several packages are named `{name}`");
            let help = format!("write {}", named.join(" or "));
            report(Severity::Error, message, &help);
            return PackageSearch::Unknown;
        }
        let Some(package) = found.packages.into_iter().next() else {
            let message = format!("package `{name}` is not installed");
            report(Severity::Warning, message, "install it, then run `brief sync` again");
            return PackageSearch::Unknown;
        };
        if let Some(declared) = &package.declared {
            let place =
                package.directory.strip_prefix(root).unwrap_or(&package.directory).display();
            let message = format!("the package in {place} declares the name `{declared}`");
            let help = "make sure that this is the package you want";
            report(Severity::Warning, message, help);
        }
        if package.files.is_empty() {
            let message = format!("{} ships no guidance", package.id);
            report(
                Severity::Warning,
                message,
                "run `brief list --packages` to list packages with guidance",
            );
            return PackageSearch::Empty;
        }
        PackageSearch::Found(Box::new(package))
    }

    /// Reads what a package ships; `None` if it is refused.
    fn accept_package(
        &self,
        package: &Package,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<LockedDependency> {
        let content = PackageContent::read(self.run.system, package);
        let accepted = &self.old.manifest.accept;
        let mut refused = gate::check_acceptance(&content.findings, &content.sha256, accepted);
        refused.extend(gate::check_policy(&content.findings, self.run.policy));
        if !refused.is_empty() {
            diagnostics.extend(refused);
            return None;
        }
        let files =
            content.texts.iter().map(|text| (text.file.slashed.clone(), text.sha256.clone()));
        Some(LockedDependency {
            id: package.id.clone(),
            from: self.from(&package.owner),
            files: files.collect(),
            capabilities: content.capabilities(),
            sha256: content.sha256,
        })
    }

    /// Returns the directory of the workspace that depends on a package.
    fn from(&self, owner: &Path) -> String {
        owner.strip_prefix(&self.run.project.outputs).map(paths::to_slashed).unwrap_or_default()
    }
}

enum PackageSearch {
    Found(Box<Package>),
    /// It is installed, and ships nothing.
    Empty,
    /// It is not installed here, or several packages could be meant.
    Unknown,
}

fn dependency_key(locked: &LockedDependency) -> (&str, &str, &str) {
    (locked.id.ecosystem.as_str(), &locked.id.name, &locked.from)
}

/// Returns the new, changed and removed packages.
pub(super) fn compare_dependencies(before: &Lock, after: &Lock) -> Vec<DependencyReport> {
    let mut told = Vec::new();
    for locked in &after.dependencies {
        let known = before
            .dependencies
            .iter()
            .find(|known| dependency_key(known) == dependency_key(locked));
        if known == Some(locked) {
            continue;
        }
        let facts = known.map(|known| known.capabilities.as_slice());
        told.push(DependencyReport {
            id: locked.id.clone(),
            before: known.map(|known| known.id.version.clone()),
            change: if known.is_some() { ChangeKind::Updated } else { ChangeKind::Created },
            files: locked.files.len(),
            capabilities: ItemCapabilities::new(&locked.capabilities, facts),
        });
    }
    let is_gone = |known: &&LockedDependency| {
        !after.dependencies.iter().any(|locked| dependency_key(locked) == dependency_key(known))
    };
    told.extend(before.dependencies.iter().filter(is_gone).map(|known| DependencyReport {
        id: known.id.clone(),
        before: Some(known.id.version.clone()),
        change: ChangeKind::Removed,
        files: known.files.len(),
        capabilities: ItemCapabilities::new(&[], None),
    }));
    told
}

/// Returns a sentence for each package that is not as it was locked.
pub(super) fn describe_dependency_changes(before: &Lock, after: &Lock) -> Vec<String> {
    let told = compare_dependencies(before, after).into_iter();
    let sentence = |report: DependencyReport| match (report.change, report.before) {
        (ChangeKind::Created, _) => format!("the package {} is not locked", report.id),
        (ChangeKind::Removed, _) => {
            format!("the package {} is locked but no longer requested", report.id)
        }
        (_, Some(before)) if before != report.id.version => {
            format!("the package {} is installed, but {before} is locked", report.id)
        }
        _ => format!("the package {} differs from the locked content", report.id),
    };
    told.map(sentence).collect()
}
