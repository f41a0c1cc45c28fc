//! Projects with installed packages.

use std::path::Path;

use brief_dialects::dependencies::{
    DependencyChoice, DependencyExtent, LockedDependency, Package, PackageContent, PackageGuidance,
    PackageName, find_named_packages, survey_dependencies,
};
use brief_dialects::{DialectGuidance, Moment, PackageQuestion, Resolution};
use brief_syntax::Root;
use brief_system::MemorySystem;

/// Returns the packages that ship guidance, one line each.
pub(crate) fn listed(
    system: &MemorySystem,
    directory: &str,
    extent: DependencyExtent,
) -> Vec<String> {
    let found = survey_dependencies(system, Path::new("/p"), Path::new(directory), extent);
    found.packages.iter().map(line).collect()
}

pub(crate) fn line(package: &Package) -> String {
    let files: Vec<&str> = package.files.iter().map(|file| file.slashed.as_str()).collect();
    let direct = if package.is_direct { "direct " } else { "" };
    format!("{direct}{}:{} {}", package.id.ecosystem, package.id, files.join(" "))
}

/// Accepts a package as it is installed now.
pub(crate) fn accepted(system: &MemorySystem, name: &str) -> LockedDependency {
    let name = PackageName::parse(name).unwrap();
    let found = find_named_packages(system, Path::new("/p"), Path::new("/p"), &name);
    let package = found.packages.into_iter().next().unwrap();
    let content = PackageContent::read(system, &package);
    let files = content.texts.iter().map(|text| (text.file.slashed.clone(), text.sha256.clone()));
    LockedDependency {
        from: String::new(),
        files: files.collect(),
        capabilities: content.capabilities(),
        sha256: content.sha256,
        id: package.id,
    }
}

/// The answer about a path: what is listed, what is left out with its reason, and the codes of problems.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) listed: Vec<String>,
    pub(crate) left_out: Vec<String>,
    pub(crate) problems: Vec<String>,
}

pub(crate) fn ask(
    system: &MemorySystem,
    path: &str,
    recorded: &[LockedDependency],
    choice: &DependencyChoice,
) -> Answer {
    let root = Path::new("/p");
    let mut locks = recorded.iter().map(|locked| (root, locked));
    let asked = PackageQuestion { root, directory: root, recorded: &mut locks, choice };
    let Some(guidance) = PackageGuidance::read(system, asked) else {
        return Answer::default();
    };
    let opened = Root::open(system, root).unwrap();
    let moment = Moment::from_path(system, opened, root, Path::new(path));
    let mut answer = Resolution::default();
    guidance.resolve_items(&moment, &mut answer);
    assert_eq!(answer.active_items().count(), 0, "nothing of a package is active");
    let listed = answer.listed_items().map(|applied| applied.item.name.to_string());
    let left_out = answer.left_out.iter();
    Answer {
        listed: listed.collect(),
        left_out: left_out
            .map(|one| format!("{}: {}", one.name, one.reason.display_with_path("")))
            .collect(),
        problems: guidance
            .diagnostics()
            .iter()
            .map(|found| format!("{}: {}", found.code(), found.message))
            .collect(),
    }
}

pub(crate) fn named(names: &[&str]) -> DependencyChoice {
    DependencyChoice::Named(names.iter().map(|name| PackageName::parse(name).unwrap()).collect())
}
