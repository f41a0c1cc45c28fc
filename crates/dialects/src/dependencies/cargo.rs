//! Rust crates: vendored ones in the directory that `.cargo/config.toml` names, and fetched ones in the
//! registry of cargo, by the names and versions in `Cargo.lock`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use brief_syntax::system::home_directory;

use super::manifests::{cleaned, table, text_of, texts, toml};
use super::model::{Ecosystem, Package, PackageId, is_plain};
use super::package_base::{PackageBase, PackageDir};
use super::search::Packages;
use super::shipping;

/// The crates of one workspace.
pub(super) struct Crates<'g> {
    base: &'g PackageBase<'g>,
    owner: PathBuf,
    /// The directories of vendored crates. Where there are some, cargo fetches nothing.
    vendored: Vec<PackageDir>,
    /// The base of fetched crates, and its directories, one for each registry.
    fetched: Option<(PackageBase<'g>, Vec<PackageDir>)>,
    /// The versions of each crate in `Cargo.lock`.
    locked: BTreeMap<String, Vec<String>>,
}

impl<'g> Crates<'g> {
    pub(super) fn open(base: &'g PackageBase<'g>, owner: &PackageDir) -> Option<Crates<'g>> {
        let lock = owner.read_text("Cargo.lock");
        let vendored = vendored(base, owner);
        if lock.is_none() && vendored.is_empty() {
            return None;
        }
        let locked = lock.map(|lock| locked(&lock)).unwrap_or_default();
        let fetched = if vendored.is_empty() { registry(base) } else { None };
        Some(Crates { base, owner: owner.path.clone(), vendored, fetched, locked })
    }

    fn package(
        &self,
        base: &PackageBase<'_>,
        name: &str,
        version: &str,
        place: &PackageDir,
    ) -> Package {
        let manifest = place.read_text("Cargo.toml").and_then(|text| toml(&text));
        let package = manifest.as_ref().and_then(|manifest| table(manifest, &["package"]));
        let text = |key| package.and_then(|package| text_of(package, key));
        let declared = text("name").filter(|declared| declared != name);
        let version = match version {
            "" => text("version").unwrap_or_default(),
            version => version.to_owned(),
        };
        Package {
            id: PackageId {
                ecosystem: Ecosystem::Cargo,
                name: cleaned(name),
                version: cleaned(&version),
            },
            declared: declared.as_deref().map(cleaned),
            is_direct: false,
            owner: self.owner.clone(),
            base: base.path.clone(),
            directory: place.path.clone(),
            code: vec![place.path.clone()],
            files: Vec::new(),
        }
    }

    /// Returns the names of a crate in the lock, which may spell it with `_` or `-`.
    fn versions<'c>(&'c self, name: &'c str) -> impl Iterator<Item = (&'c str, &'c str)> {
        let same =
            self.locked.iter().filter(move |(known, _)| Ecosystem::Cargo.is_same(known, name));
        same.flat_map(|(name, versions)| {
            versions.iter().map(|version| (name.as_str(), version.as_str()))
        })
    }

    fn in_vendored(&self, name: &str, version: &str) -> Option<Package> {
        self.vendored.iter().find_map(|vendor| {
            // Of two versions, cargo gives one the plain name and the other one its version.
            let versioned = format!("{name}-{version}");
            if let Some(place) = self.base.enter(vendor, &versioned) {
                return Some(self.package(self.base, name, version, &place));
            }
            let place = self.base.enter(vendor, name)?;
            let found = self.package(self.base, name, "", &place);
            (version.is_empty() || found.id.version == version || found.id.version.is_empty())
                .then_some(found)
        })
    }

    fn in_fetched(&self, name: &str, version: &str) -> Option<Package> {
        let (base, sources) = self.fetched.as_ref()?;
        let directory = format!("{name}-{version}");
        if !is_plain(&directory) || directory.contains('/') {
            return None;
        }
        let place = sources.iter().find_map(|source| base.enter(source, &directory))?;
        Some(self.package(base, name, version, &place))
    }
}

impl Packages for Crates<'_> {
    fn find(&self, name: &str) -> Vec<Package> {
        if name.contains('/') {
            return Vec::new();
        }
        if self.vendored.is_empty() {
            let found =
                self.versions(name).filter_map(|(name, version)| self.in_fetched(name, version));
            return found.collect();
        }
        let mut found: Vec<Package> = self
            .versions(name)
            .filter_map(|(name, version)| self.in_vendored(name, version))
            .collect();
        if self.locked.is_empty() {
            found.extend(self.in_vendored(name, ""));
        }
        found
    }

    fn search(&self, package: &mut Package) {
        self.base.or_fetched(self.fetched.as_ref(), package).search(package);
    }

    fn all(&self) -> Vec<Package> {
        let mut found = Vec::new();
        for vendor in &self.vendored {
            for directory in vendor.directories() {
                let Some(place) = self.base.enter(vendor, &directory) else { continue };
                self.base.count(1);
                let shipping = shipping::look(place.handle.as_ref());
                if shipping.files.is_empty() {
                    continue;
                }
                let mut package = self.package(self.base, &directory, "", &place);
                // `name-1.0.0` is the second version of `name`.
                let ending = format!("-{}", package.id.version);
                if let Some(name) = directory.strip_suffix(&ending) {
                    package.id.name = cleaned(name);
                    package.declared = package.declared.filter(|declared| declared != name);
                }
                self.base.note_cut(&package, shipping.is_cut);
                package.files = shipping.files;
                found.push(package);
            }
        }
        if let Some((base, sources)) = &self.fetched {
            for (name, version) in self
                .locked
                .iter()
                .flat_map(|(name, versions)| versions.iter().map(move |version| (name, version)))
            {
                self.base.count(1);
                let directory = format!("{name}-{version}");
                let place = sources.iter().find_map(|source| base.enter(source, &directory));
                let Some(place) = place.filter(|_| is_plain(&directory)) else { continue };
                let shipping = shipping::look(place.handle.as_ref());
                if !shipping.files.is_empty() {
                    let mut package = self.package(base, name, version, &place);
                    self.base.note_cut(&package, shipping.is_cut);
                    package.files = shipping.files;
                    found.push(package);
                }
            }
        }
        found
    }
}

/// Returns the directories of vendored crates that the configuration names.
fn vendored(base: &PackageBase<'_>, owner: &PackageDir) -> Vec<PackageDir> {
    let Some(configuration) = base.enter(owner, ".cargo") else { return Vec::new() };
    let text = configuration.read_text("config.toml").or_else(|| configuration.read_text("config"));
    let Some(document) = text.and_then(|text| toml(&text)) else { return Vec::new() };
    let sources = table(&document, &["source"]).into_iter().flat_map(|sources| sources.iter());
    let directories =
        sources.filter_map(|(_, source)| text_of(source.as_table_like()?, "directory"));
    let places = directories.filter_map(|directory| {
        let path = Path::new(&directory);
        if path.is_absolute() {
            return base.open(path);
        }
        is_plain(&directory).then(|| base.enter_below(owner, &directory)).flatten()
    });
    places.collect()
}

/// Returns where cargo keeps the sources of fetched crates.
fn registry<'g>(base: &PackageBase<'g>) -> Option<(PackageBase<'g>, Vec<PackageDir>)> {
    let system = base.system;
    let home = system.env("CARGO_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = home.or_else(|| Some(home_directory(system)?.join(".cargo")))?;
    let path = system.resolve_dir(&home.join("registry/src")).ok()?;
    let base = PackageBase::new(system, &path);
    let top = base.open(&path)?;
    let sources = top.directories();
    let sources = sources.iter().filter_map(|name| base.enter(&top, name)).collect();
    Some((base, sources))
}

/// Returns the crates of registries in a `Cargo.lock`, line by line: the file has one form, and may be long.
fn locked(lock: &str) -> BTreeMap<String, Vec<String>> {
    let mut crates: BTreeMap<String, Vec<String>> = BTreeMap::new();
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
            crates.entry(name.to_owned()).or_default().push(version.to_owned());
        }
    }
    crates
}

/// Returns the names of the direct dependencies in a `Cargo.toml`.
pub(super) fn direct(place: &PackageDir) -> Vec<String> {
    let Some(document) = place.read_text("Cargo.toml").and_then(|text| toml(&text)) else {
        return Vec::new();
    };
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
    if let Some(workspace) = table(&document, &["workspace"]) {
        take(workspace);
    }
    let targets = table(&document, &["target"]).into_iter().flat_map(|targets| targets.iter());
    targets.filter_map(|(_, target)| target.as_table_like()).for_each(take);
    names
}

/// Returns the patterns that name the members of a workspace.
pub(super) fn workspaces(place: &PackageDir) -> Vec<String> {
    let document = place.read_text("Cargo.toml").and_then(|text| toml(&text));
    let Some(document) = document else { return Vec::new() };
    let Some(workspace) = table(&document, &["workspace"]) else { return Vec::new() };
    let list = |key| workspace.get(key).map(texts).unwrap_or_default();
    let without = list("exclude").into_iter().map(|pattern| format!("!{pattern}"));
    list("members").into_iter().chain(without).collect()
}
