//! Rust crates: vendored ones in the directory that `.cargo/config.toml` names, and fetched ones in the
//! registry of cargo, by the names and versions in `Cargo.lock`.

use std::path::{Path, PathBuf};

use brief_system::home_directory;

use super::manifests::{
    clean_name, collect_strings, find_table, parse_toml, table_entries, text_of,
};
use super::model::{Ecosystem, Package, PackageId, is_plain};
use super::package_base::{PackageBase, PackageDir};
use super::search::Packages;

/// The crates of one workspace.
pub(super) struct Crates<'g> {
    base: &'g PackageBase<'g>,
    owner: PathBuf,
    /// The directories of vendored crates. Where there are some, cargo fetches nothing.
    vendored: Vec<PackageDir>,
    /// The base of fetched crates, and its directories, one for each registry.
    fetched: Option<(PackageBase<'g>, Vec<PackageDir>)>,
    /// The names and versions of crates in `Cargo.lock`, sorted by name.
    locked: Vec<(String, String)>,
}

impl<'g> Crates<'g> {
    pub(super) fn open(base: &'g PackageBase<'g>, owner: &PackageDir) -> Option<Crates<'g>> {
        let lock = owner.read_text("Cargo.lock");
        let vendored = open_vendor_directories(base, owner);
        if lock.is_none() && vendored.is_empty() {
            return None;
        }
        let locked = lock.map(|lock| parse_cargo_lock(&lock)).unwrap_or_default();
        let fetched = if vendored.is_empty() { open_registry_cache(base) } else { None };
        Some(Crates { base, owner: owner.path.clone(), vendored, fetched, locked })
    }

    fn read_package(
        &self,
        base: &PackageBase<'_>,
        name: &str,
        version: &str,
        place: &PackageDir,
    ) -> Package {
        let manifest = place.read_toml("Cargo.toml");
        let package = manifest.as_ref().and_then(|manifest| find_table(manifest, &["package"]));
        let text = |key| package.and_then(|package| text_of(package, key));
        let version = match version {
            "" => text("version").unwrap_or_default(),
            version => version.to_owned(),
        };
        let (ecosystem, version) = (Ecosystem::Cargo, clean_name(&version));
        let id = PackageId { ecosystem, name: clean_name(name), version };
        let declared = text("name").filter(|declared| declared != name);
        let declared = declared.as_deref().map(clean_name);
        Package { declared, ..base.build_package(id, &self.owner, place) }
    }

    /// Reads a crate by the name of its vendored directory.
    fn vendored_package(&self, directory: &str, place: &PackageDir) -> Package {
        let mut package = self.read_package(self.base, directory, "", place);
        // `name-1.0.0` is the second version of `name`.
        let ending = format!("-{}", package.id.version);
        if let Some(name) = directory.strip_suffix(&ending) {
            package.id.name = clean_name(name);
            package.declared = package.declared.filter(|declared| declared != name);
        }
        package
    }

    fn in_vendored(&self, name: &str, version: &str) -> Option<Package> {
        self.vendored.iter().find_map(|vendor| {
            // Of two versions, cargo gives one the plain name and the other one its version.
            let versioned = format!("{name}-{version}");
            if let Some(place) = self.base.enter_directory(vendor, &versioned) {
                return Some(self.read_package(self.base, name, version, &place));
            }
            let place = self.base.enter_directory(vendor, name)?;
            let found = self.read_package(self.base, name, "", &place);
            (version.is_empty() || found.id.version == version || found.id.version.is_empty())
                .then_some(found)
        })
    }

    /// Opens the directory of a fetched crate.
    fn fetched_at(&self, name: &str, version: &str) -> Option<(&PackageBase<'g>, PackageDir)> {
        let (base, sources) = self.fetched.as_ref()?;
        let directory = format!("{name}-{version}");
        if !is_plain(&directory) || directory.contains('/') {
            return None;
        }
        Some((base, sources.iter().find_map(|source| base.enter_directory(source, &directory))?))
    }
}

impl Packages for Crates<'_> {
    fn base(&self) -> &PackageBase<'_> {
        self.base
    }

    fn find_installed(&self, name: &str) -> Vec<Package> {
        if name.contains('/') {
            return Vec::new();
        }
        let same = self.locked.iter().filter(|(known, _)| Ecosystem::Cargo.is_same(known, name));
        let found = same.filter_map(|(name, version)| match self.fetched_at(name, version) {
            Some((base, place)) => Some(self.read_package(base, name, version, &place)),
            None => self.in_vendored(name, version),
        });
        let mut found: Vec<Package> = found.collect();
        if self.locked.is_empty() {
            found.extend(self.in_vendored(name, ""));
        }
        found
    }

    fn list_shipping_packages(&self) -> Vec<Package> {
        let mut found = Vec::new();
        for vendor in &self.vendored {
            for directory in vendor.directory_names() {
                let Some(place) = self.base.enter_directory(vendor, &directory) else { continue };
                self.base.count_packages(1);
                let package = || self.vendored_package(&directory, &place);
                found.extend(self.base.shipping_package(&place, package));
            }
        }
        if self.fetched.is_some() {
            self.base.count_packages(self.locked.len());
            found.extend(self.locked.iter().filter_map(|(name, version)| {
                let (base, place) = self.fetched_at(name, version)?;
                let package = || self.read_package(base, name, version, &place);
                self.base.shipping_package(&place, package)
            }));
        }
        found
    }
}

/// Returns the directories of vendored crates that the configuration names.
fn open_vendor_directories(base: &PackageBase<'_>, owner: &PackageDir) -> Vec<PackageDir> {
    let Some(configuration) = base.enter_directory(owner, ".cargo") else { return Vec::new() };
    let text = configuration.read_text("config.toml").or_else(|| configuration.read_text("config"));
    let Some(document) = text.and_then(|text| parse_toml(&text)) else { return Vec::new() };
    let places = table_entries(&document, &["source"]).filter_map(|(_, source)| {
        let directory = text_of(source.as_table_like()?, "directory")?;
        let path = Path::new(&directory);
        if path.is_absolute() {
            return base.open_directory(path);
        }
        is_plain(&directory).then(|| base.enter_below(owner, &directory)).flatten()
    });
    places.collect()
}

/// Returns where cargo keeps the sources of fetched crates.
fn open_registry_cache<'g>(base: &PackageBase<'g>) -> Option<(PackageBase<'g>, Vec<PackageDir>)> {
    let system = base.system;
    let home = system.env("CARGO_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = home.or_else(|| Some(home_directory(system)?.join(".cargo")))?;
    let (base, top) = PackageBase::open_cache(system, &home.join("registry/src"))?;
    let sources = top.directory_names();
    let sources = sources.iter().filter_map(|name| base.enter_directory(&top, name)).collect();
    Some((base, sources))
}

/// Returns the crates of registries in a `Cargo.lock`, line by line: the file has one form, and may be long.
fn parse_cargo_lock(lock: &str) -> Vec<(String, String)> {
    let mut crates = Vec::new();
    let (mut name, mut version) = ("", "");
    for line in lock.lines() {
        let value = |key: &str| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"');
        if line == "[[package]]" {
            (name, version) = ("", "");
        } else if let Some(text) = value("name") {
            name = text;
        } else if let Some(text) = value("version") {
            version = text;
        } else if value("source").is_some() && !name.is_empty() && !version.is_empty() {
            crates.push((name.to_owned(), version.to_owned()));
        }
    }
    crates.sort_by(|left, right| left.0.cmp(&right.0));
    crates
}

/// Returns the names of the direct dependencies in a `Cargo.toml`.
pub(super) fn read_cargo_dependencies(place: &PackageDir) -> Vec<String> {
    let Some(document) = place.read_toml("Cargo.toml") else { return Vec::new() };
    let mut names = Vec::new();
    let mut take = |section: &dyn toml_edit::TableLike| {
        for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let listed = section.get(key).and_then(|listed| listed.as_table_like());
            for (name, dependency) in listed.into_iter().flat_map(|listed| listed.iter()) {
                let renamed = dependency.as_table_like();
                let renamed = renamed.and_then(|dependency| text_of(dependency, "package"));
                names.push(renamed.unwrap_or_else(|| name.to_owned()));
            }
        }
    };
    take(document.as_table());
    let targets = table_entries(&document, &["target"]);
    let targets = targets.filter_map(|(_, target)| target.as_table_like());
    find_table(&document, &["workspace"]).into_iter().chain(targets).for_each(take);
    names
}

/// Returns the patterns that name the members of a workspace.
pub(super) fn cargo_workspace_patterns(place: &PackageDir) -> Vec<String> {
    let Some(document) = place.read_toml("Cargo.toml") else { return Vec::new() };
    let Some(workspace) = find_table(&document, &["workspace"]) else { return Vec::new() };
    let list = |key| workspace.get(key).map(collect_strings).unwrap_or_default();
    let without = list("exclude").into_iter().map(|pattern| format!("!{pattern}"));
    list("members").into_iter().chain(without).collect()
}
