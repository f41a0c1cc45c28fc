//! Distributions in a virtual environment.
//!
//! A distribution is a `NAME-VERSION.dist-info` in `site-packages`; its `RECORD` lists every file that it
//! has installed, so that no directory has to be searched. What it calls its own begins in the directory
//! that all of its files share.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toml_edit::{Item, TableLike};

use super::manifests::{clean_name, collect_strings, find_table, table_entries};
use super::model::{Ecosystem, Package, PackageId, ShippedKind, is_plain, normalize_python_name};
use super::package_base::{PackageBase, PackageDir};
use super::search::Packages;
use super::shipping::Shipping;

const INFO: &str = ".dist-info";

/// The ending of a directory with files for other places.
const DATA: &str = ".data";

/// The ending of a file of requirements.
const REQUIREMENTS: &str = ".txt";

/// The usual directories of an environment in a project.
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];

/// The texts in a `RECORD` that may belong to guidance; most have none of them.
const MARKS: [&[u8]; 4] = [b"AGENTS.", b"SKILL.md", b"llms.txt", b".context/"];

/// The distributions of one environment.
pub(super) struct SitePackages<'g> {
    base: &'g PackageBase<'g>,
    owner: PathBuf,
    place: PackageDir,
    /// The distributions: the directory of each, by its name in the spelling to compare.
    distributions: BTreeMap<String, String>,
}

impl<'g> SitePackages<'g> {
    pub(super) fn open(base: &'g PackageBase<'g>, owner: &PackageDir) -> Option<SitePackages<'g>> {
        let usual = ENVIRONMENTS.iter().filter_map(|name| base.enter_directory(owner, name));
        let active = base.system.env("VIRTUAL_ENV").map(PathBuf::from);
        // One that lies elsewhere belongs to no project.
        let active = active.filter(|path| path.parent() == Some(owner.path.as_path()));
        let mut environments =
            active.and_then(|path| base.open_directory(&path)).into_iter().chain(usual);
        let place = environments.find_map(|environment| site_packages(base, &environment))?;
        let names = place.directory_names().into_iter();
        let distributions = names.filter_map(|directory| {
            let (name, _) = directory.strip_suffix(INFO)?.split_once('-')?;
            Some((normalize_python_name(name), directory))
        });
        let distributions = distributions.collect();
        Some(SitePackages { base, owner: owner.path.clone(), place, distributions })
    }

    /// Reads a distribution: its name and version, and what its list of files says.
    fn read_package(&self, directory: &str, wants_files: bool) -> Option<Package> {
        let stem = directory.strip_suffix(INFO)?;
        let (name, version) = stem.split_once('-')?;
        let info = self.base.enter_directory(&self.place, directory)?;
        let record = info.read_file("RECORD").unwrap_or_default();
        let (name, version) = (normalize_python_name(&clean_name(name)), clean_name(version));
        let id = PackageId { ecosystem: Ecosystem::Pypi, name, version };
        let mut package = self.base.build_package(id, &self.owner, &self.place);
        let is_shipping = MARKS.iter().any(|mark| memchr::memmem::find(&record, mark).is_some());
        if wants_files && !is_shipping {
            return Some(package);
        }
        let roots = collect_code_roots(&record);
        package.code = roots.iter().map(|root| self.place.path.join(root)).collect();
        package.declared = find_declared_name(&info, &package.id);
        if wants_files {
            let mut shipping = Shipping::default();
            for path in parse_record_paths(&record) {
                // A file counts in its directory of the distribution only.
                let kind = roots.iter().find_map(|root| {
                    ShippedKind::from_path(path.strip_prefix(root.as_str())?.strip_prefix('/')?)
                });
                if let Some(kind) = kind {
                    shipping.add_file(kind, path);
                }
            }
            shipping.files.sort_unstable();
            self.base.note_cut(&package, shipping.is_cut);
            package.files = shipping.files;
        }
        Some(package)
    }
}

impl Packages for SitePackages<'_> {
    fn base(&self) -> &PackageBase<'_> {
        self.base
    }

    fn find_installed(&self, name: &str) -> Vec<Package> {
        let directory = self.distributions.get(&normalize_python_name(name));
        directory.and_then(|directory| self.read_package(directory, false)).into_iter().collect()
    }

    fn search_guidance(&self, package: &mut Package) {
        let directory = self.distributions.get(&normalize_python_name(&package.id.name));
        if let Some(found) = directory.and_then(|directory| self.read_package(directory, true)) {
            package.files = found.files;
        }
    }

    fn list_shipping_packages(&self) -> Vec<Package> {
        let all = self.distributions.values().filter_map(|directory| {
            self.base.count_packages(1);
            self.read_package(directory, true)
        });
        all.filter(|package| !package.files.is_empty()).collect()
    }

    /// Returns what a user asked pip for, where no manifest says it.
    fn requested_names(&self) -> Vec<String> {
        let is_requested = |directory: &String| {
            let info = self.base.enter_directory(&self.place, directory);
            info.is_some_and(|info| info.read_file("REQUESTED").is_some())
        };
        let requested = self.distributions.iter().filter(|(_, directory)| is_requested(directory));
        requested.map(|(name, _)| name.clone()).collect()
    }
}

/// Returns the directory of packages in an environment.
fn site_packages(base: &PackageBase<'_>, environment: &PackageDir) -> Option<PackageDir> {
    if let Some(place) = base.enter_below(environment, "Lib/site-packages") {
        return Some(place);
    }
    let libraries = base.enter_directory(environment, "lib")?;
    let versions =
        libraries.directory_names().into_iter().filter(|name| name.starts_with("python"));
    versions
        .rev()
        .find_map(|version| base.enter_below(&libraries, &format!("{version}/site-packages")))
}

/// Returns the paths of a `RECORD` that lie in `site-packages`.
fn parse_record_paths(record: &[u8]) -> impl Iterator<Item = &str> {
    let lines = record.split(|byte| *byte == b'\n');
    let paths = lines.filter_map(|line| {
        let line = std::str::from_utf8(line).ok()?;
        // A path with a comma is quoted.
        match line.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').map(|(path, _)| path),
            None => line.split(',').next(),
        }
    });
    paths.filter(|path| is_plain(path))
}

/// Returns the directories that hold the code of a distribution: for each first name, the directory that all
/// of its files share. Packages of one vendor share a first name, and keep apart below it.
fn collect_code_roots(record: &[u8]) -> Vec<String> {
    let mut roots: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in parse_record_paths(record) {
        let Some((directory, _)) = path.rsplit_once('/') else { continue };
        let names: Vec<&str> = directory.split('/').collect();
        let first = names[0];
        if first.ends_with(INFO) || first.ends_with(DATA) || names.contains(&"__pycache__") {
            continue;
        }
        // What is searched for lies in these directories, not beside them.
        let is_guidance = |name: &&&str| matches!(**name, ".context" | "skills" | ".agents");
        let end = names.iter().position(|name| is_guidance(&name)).unwrap_or(names.len());
        let names = &names[..end];
        roots
            .entry(first)
            .and_modify(|root| {
                let shared =
                    root.iter().zip(names).take_while(|(left, right)| left == right).count();
                root.truncate(shared);
            })
            .or_insert_with(|| names.to_vec());
    }
    roots.into_values().filter(|root| !root.is_empty()).map(|root| root.join("/")).collect()
}

/// Returns the name in a distribution's metadata, if it is another one.
fn find_declared_name(info: &PackageDir, id: &PackageId) -> Option<String> {
    let metadata = info.read_file("METADATA")?;
    let text = String::from_utf8_lossy(&metadata);
    let mut fields = text.lines().take_while(|line| !line.trim().is_empty());
    let name = fields.find_map(|line| line.strip_prefix("Name:"))?.trim();
    (normalize_python_name(name) != id.name).then(|| clean_name(name))
}

/// Returns the names of the direct dependencies in `pyproject.toml` and files of requirements.
pub(super) fn read_python_dependencies(place: &PackageDir) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(document) = place.read_toml("pyproject.toml") {
        let list =
            |keys: &[&str], key| find_table(&document, keys).and_then(|table| table.get(key));
        let project = list(&["project"], "dependencies").into_iter();
        let optional = table_entries(&document, &["project", "optional-dependencies"]);
        let groups = table_entries(&document, &["dependency-groups"]);
        let lists = project.chain(optional.chain(groups).map(|(_, list)| list));
        let lists =
            lists.chain(list(&["tool", "uv"], "dev-dependencies")).flat_map(collect_strings);
        names.extend(lists.filter_map(|text| parse_requirement_name(&text)));
        let groups = table_entries(&document, &["tool", "poetry", "group"]);
        let groups = groups.filter_map(|(_, group)| group.as_table_like());
        for section in find_table(&document, &["tool", "poetry"]).into_iter().chain(groups) {
            for key in ["dependencies", "dev-dependencies"] {
                let listed = section.get(key).and_then(Item::as_table_like);
                let listed = listed.into_iter().flat_map(TableLike::iter).map(|(name, _)| name);
                names.extend(listed.filter(|name| *name != "python").map(str::to_owned));
            }
        }
    }
    for entry in place.entries() {
        let Some(name) = entry.name.to_str() else { continue };
        if name.starts_with("requirements") && name.ends_with(REQUIREMENTS) {
            let text = place.read_text(name).unwrap_or_default();
            names.extend(text.lines().filter_map(parse_requirement_name));
        }
    }
    names
}

/// Returns the name in a requirement, such as `acme-ui[forms]>=2; python_version > "3.9"`.
fn parse_requirement_name(text: &str) -> Option<String> {
    let text = text.trim();
    let is_named = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let end = text.find(|character| !is_named(character)).unwrap_or(text.len());
    let name = &text[..end];
    let starts = name.starts_with(|character: char| character.is_ascii_alphanumeric());
    // `https://…` and `./local` are places, not names.
    let is_place = text[end..].starts_with([':', '/']);
    (starts && !is_place).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_begins_with_its_name() {
        for (text, name) in [
            ("acme-ui[forms]>=2; python_version > '3.9'", Some("acme-ui")),
            ("  Acme.Ui == 1", Some("Acme.Ui")),
            ("acme @ https://example.com/a.whl", Some("acme")),
            ("# a comment", None),
            ("-r other.txt", None),
            ("./local", None),
            ("https://example.com/a.whl", None),
            ("", None),
        ] {
            assert_eq!(parse_requirement_name(text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn the_directory_that_all_files_share_is_the_distributions_own() {
        let record = b"acme/cloud/ui/__init__.py,sha256=x,1\nacme/cloud/ui/AGENTS.md,,\n\
            acme/cloud/ui/skills/a/SKILL.md,,\nacme_ui-1.0.dist-info/RECORD,,\n../../../bin/ui,,\n\
            \"other/a,b.py\",,\nother/__pycache__/x.pyc,,\nsingle.py,,\n";
        assert_eq!(collect_code_roots(record), ["acme/cloud/ui", "other"]);
        let only_guidance = b"ui/skills/a/SKILL.md,,\nui/.context/x.md,,\n";
        assert_eq!(collect_code_roots(only_guidance), ["ui"]);
    }
}
