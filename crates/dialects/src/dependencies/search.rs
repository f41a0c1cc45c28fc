//! Packages of a project: all that ship guidance, or one by its name.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use brief_system::System;

use super::cargo::{self, Crates};
use super::go::{self, GoModules};
use super::members;
use super::model::{Ecosystem, Package, PackageName};
use super::npm::{self, NodeModules};
use super::package_base::{PackageBase, PackageDir};
use super::python::{self, SitePackages};

/// The installed packages of one ecosystem and one directory.
pub(super) trait Packages {
    /// Returns the directory that the packages of the project must not leave.
    fn base(&self) -> &PackageBase<'_>;

    /// Returns the packages that are installed under a name: none, or one for each version.
    fn find_installed(&self, name: &str) -> Vec<Package>;

    /// Looks for the guidance that a package ships.
    fn search_guidance(&self, package: &mut Package) {
        self.base().search_guidance(package);
    }

    /// Returns every package that ships guidance.
    fn list_shipping_packages(&self) -> Vec<Package>;

    /// Returns the names that a user asked for, as far as the packages themselves tell.
    fn requested_names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The packages to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyExtent {
    /// Those that the project's own manifests name.
    Direct,
    All,
}

/// The packages that ship guidance.
#[derive(Debug, Default)]
pub struct DependencySurvey {
    /// The packages: direct ones first, then by ecosystem, name and version.
    pub packages: Vec<Package>,
    /// The number of packages that were looked at.
    pub looked_at: usize,
    /// Remarks about what was not read.
    pub notes: Vec<String>,
}

/// Lists the packages that ship guidance, seen from a directory of the project: those of the directories
/// above it, up to the root, and of the members of its workspace.
pub fn survey_dependencies(
    system: &dyn System,
    root: &Path,
    directory: &Path,
    extent: DependencyExtent,
) -> DependencySurvey {
    let base = PackageBase::new(system, root);
    let packages = PackageSearch::new(&base, directory).survey_packages(extent);
    let (notes, looked_at) = base.finish();
    DependencySurvey { packages, looked_at, notes }
}

/// Finds the packages of a name, seen from a directory of the project, with the guidance that they ship.
/// No other package is looked into.
pub fn find_named_packages(
    system: &dyn System,
    root: &Path,
    directory: &Path,
    name: &PackageName,
) -> DependencySurvey {
    let base = PackageBase::new(system, root);
    let search = PackageSearch::new(&base, directory);
    let mut packages = Vec::new();
    let mut seen = HashSet::new();
    for ecosystem in Ecosystem::ALL {
        if name.ecosystem.is_some_and(|wanted| wanted != ecosystem) {
            continue;
        }
        for owner in search.owners.iter().chain(&search.members) {
            let environment = search.environments.get(&(ecosystem, owner.path.clone()));
            let Some(environment) = environment else { continue };
            for mut package in environment.find_installed(&name.name) {
                base.count_packages(1);
                if seen.insert(place_of(&package)) {
                    environment.search_guidance(&mut package);
                    package.is_direct = search.is_direct(&package);
                    packages.push(package);
                }
            }
        }
    }
    drop(search);
    let (notes, looked_at) = base.finish();
    DependencySurvey { packages, looked_at, notes }
}

/// Finds one installed package, from a directory upwards, without a look for its guidance.
pub(super) fn find_installed_package<T>(
    base: &PackageBase<'_>,
    directory: &Path,
    (ecosystem, name): (Ecosystem, &str),
    mut wanted: impl FnMut(&dyn Packages, Vec<Package>) -> Option<T>,
) -> Option<T> {
    open_ancestors(base, directory).iter().find_map(|owner| {
        let environment = open_environment(ecosystem, base, owner)?;
        let found = environment.find_installed(name);
        if found.is_empty() { None } else { wanted(environment.as_ref(), found) }
    })
}

/// Opens a directory and those above it, up to the root.
fn open_ancestors(base: &PackageBase<'_>, directory: &Path) -> Vec<PackageDir> {
    let inside = directory.ancestors().take_while(|path| path.starts_with(&base.path));
    inside.filter_map(|path| base.open_directory(path)).collect()
}

/// Returns what tells an installed package from all others.
fn place_of(package: &Package) -> (PathBuf, String) {
    (package.directory.clone(), package.id.name.clone())
}

fn open_environment<'g>(
    ecosystem: Ecosystem,
    base: &'g PackageBase<'g>,
    owner: &PackageDir,
) -> Option<Box<dyn Packages + 'g>> {
    Some(match ecosystem {
        Ecosystem::Npm => Box::new(NodeModules::open(base, owner)?),
        Ecosystem::Pypi => Box::new(SitePackages::open(base, owner)?),
        Ecosystem::Cargo => Box::new(Crates::open(base, owner)?),
        Ecosystem::Go => Box::new(GoModules::open(base, owner)?),
    })
}

fn read_direct_dependencies(ecosystem: Ecosystem, owner: &PackageDir) -> Vec<String> {
    match ecosystem {
        Ecosystem::Npm => npm::read_npm_dependencies(owner),
        Ecosystem::Pypi => python::read_python_dependencies(owner),
        Ecosystem::Cargo => cargo::read_cargo_dependencies(owner),
        Ecosystem::Go => go::read_go_dependencies(owner),
    }
}

/// A search from one directory.
struct PackageSearch<'g> {
    base: &'g PackageBase<'g>,
    /// The directory and those above it, the nearest first.
    owners: Vec<PackageDir>,
    /// The members of the workspaces of the directory.
    members: Vec<PackageDir>,
    /// The packages of each directory.
    environments: BTreeMap<(Ecosystem, PathBuf), Box<dyn Packages + 'g>>,
    /// The names of direct dependencies, each with the directory that names it.
    direct: Vec<(Ecosystem, PathBuf, String)>,
}

impl<'g> PackageSearch<'g> {
    fn new(base: &'g PackageBase<'g>, directory: &Path) -> PackageSearch<'g> {
        let owners = open_ancestors(base, directory);
        let mut members: Vec<PackageDir> = Vec::new();
        if let Some(owner) = owners.first() {
            for (patterns, manifest) in [
                (npm::npm_workspace_patterns(owner), "package.json"),
                (cargo::cargo_workspace_patterns(owner), "Cargo.toml"),
            ] {
                for member in members::expand_workspace_patterns(base, owner, &patterns, manifest) {
                    if members.iter().all(|known| known.path != member.path) {
                        members.push(member);
                    }
                }
            }
        }
        let mut environments = BTreeMap::new();
        let mut direct_names = Vec::new();
        for owner in owners.iter().chain(&members) {
            for ecosystem in Ecosystem::ALL {
                if let Some(environment) = open_environment(ecosystem, base, owner) {
                    environments.insert((ecosystem, owner.path.clone()), environment);
                }
                let names = read_direct_dependencies(ecosystem, owner).into_iter();
                direct_names.extend(names.map(|name| (ecosystem, owner.path.clone(), name)));
            }
        }
        // Without a manifest, Python's packages know what a user asked for.
        if direct_names.iter().all(|(ecosystem, ..)| *ecosystem != Ecosystem::Pypi) {
            for ((ecosystem, owner), environment) in &environments {
                let names = environment.requested_names().into_iter();
                direct_names.extend(names.map(|name| (*ecosystem, owner.clone(), name)));
            }
        }
        PackageSearch { base, owners, members, environments, direct: direct_names }
    }

    fn is_direct(&self, package: &Package) -> bool {
        let ecosystem = package.id.ecosystem;
        self.direct.iter().any(|(named, _, name)| {
            *named == ecosystem && ecosystem.is_same(name, &package.id.name)
        })
    }

    fn survey_packages(&self, extent: DependencyExtent) -> Vec<Package> {
        let mut packages: Vec<Package> = Vec::new();
        let mut seen: HashSet<(PathBuf, String)> = HashSet::new();
        let mut asked: HashSet<(Ecosystem, &Path, &str)> = HashSet::new();
        for (ecosystem, owner, name) in &self.direct {
            if !asked.insert((*ecosystem, owner, name)) {
                continue;
            }
            // A package of a member may lie with the workspace.
            let nearest = owner.ancestors().find_map(|place| {
                let environment = self.environments.get(&(*ecosystem, place.to_owned()))?;
                let found = environment.find_installed(name);
                (!found.is_empty()).then_some((environment, found))
            });
            let Some((environment, found)) = nearest else { continue };
            for mut package in found {
                if seen.insert(place_of(&package)) {
                    environment.search_guidance(&mut package);
                    (package.is_direct, package.owner) = (true, owner.clone());
                    packages.push(package);
                }
            }
        }
        let looked_at = packages.len();
        packages.retain(|package| !package.files.is_empty());
        if extent == DependencyExtent::All {
            for environment in self.environments.values() {
                let others = environment.list_shipping_packages().into_iter();
                packages.extend(others.filter(|package| seen.insert(place_of(package))));
            }
        } else {
            self.base.count_packages(looked_at);
        }
        packages.sort_by_cached_key(|package| {
            (!package.is_direct, package.id.clone(), package.directory.clone())
        });
        packages
    }
}
