//! Packages in `node_modules`, as npm, pnpm and yarn lay them out.
//!
//! npm and yarn put packages there as directories, some inside others. pnpm links each of them into
//! `node_modules/.pnpm`. Packages that yarn keeps in archives are not read.

use std::collections::HashSet;
use std::path::PathBuf;

use brief_syntax::yaml::{self, Node, Yaml};
use brief_system::{DirEntry, FileKind};
use serde_json::Value;

use super::manifests::clean_name;
use super::model::{Ecosystem, Package, PackageId};
use super::package_base::{PackageBase, PackageDir};
use super::search::Packages;
use super::shipping::{self, Shipping};

const MODULES: &str = "node_modules";

/// The packages inside of packages that are looked at, one below the other.
const DEPTH: usize = 16;

/// The packages of one `node_modules`.
pub(super) struct NodeModules<'g> {
    base: &'g PackageBase<'g>,
    owner: PathBuf,
    modules: PackageDir,
}

impl<'g> NodeModules<'g> {
    pub(super) fn open(base: &'g PackageBase<'g>, owner: &PackageDir) -> Option<NodeModules<'g>> {
        let Some(modules) = base.enter_directory(owner, MODULES) else {
            if owner.read_file(".pnp.cjs").is_some() {
                let place = base.display_path(&owner.path.join(".pnp.cjs"));
                base.add_note(format!(
                    "{place}: brief does not read Plug'n'Play archives; set \
                     `nodeLinker: node-modules` to unpack them"
                ));
            }
            return None;
        };
        Some(NodeModules { base, owner: owner.path.clone(), modules })
    }

    fn read_package(&self, name: &str, place: &PackageDir) -> Package {
        let manifest = place.read_json("package.json");
        let text = |key: &str| manifest.as_ref().and_then(|manifest| manifest.get(key)?.as_str());
        let version = text("version").map(clean_name).unwrap_or_default();
        let id = PackageId { ecosystem: Ecosystem::Npm, name: name.to_owned(), version };
        let declared = text("name").filter(|declared| *declared != name).map(clean_name);
        Package { declared, ..self.base.build_package(id, &self.owner, place) }
    }
}

impl Packages for NodeModules<'_> {
    fn base(&self) -> &PackageBase<'_> {
        self.base
    }

    fn find_installed(&self, name: &str) -> Vec<Package> {
        let place = self.base.enter_below(&self.modules, name);
        place.map(|place| self.read_package(name, &place)).into_iter().collect()
    }

    fn list_shipping_packages(&self) -> Vec<Package> {
        let mut walk = ModulesWalk { modules: self, seen: HashSet::new(), found: Vec::new() };
        walk.walk_modules(&self.modules, DEPTH, LinkTreatment::Follow);
        walk.found
    }
}

/// The treatment of links in a `node_modules`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkTreatment {
    Follow,
    /// In the store of pnpm, a link leads to another package of the store, which has its own place.
    Skip,
}

impl LinkTreatment {
    /// Returns the names in a directory that may be packages.
    fn candidate_names(self, directory: &PackageDir) -> impl Iterator<Item = String> {
        let may_be = move |entry: &DirEntry| {
            entry.kind == FileKind::Directory
                || entry.kind == FileKind::Link && self == LinkTreatment::Follow
        };
        let entries = directory.entries().into_iter().filter(may_be);
        entries.filter_map(|entry| entry.name.into_string().ok())
    }
}

/// A walk over every package of a `node_modules`.
struct ModulesWalk<'e, 'g> {
    modules: &'e NodeModules<'g>,
    seen: HashSet<PathBuf>,
    found: Vec<Package>,
}

impl ModulesWalk<'_, '_> {
    fn walk_modules(&mut self, modules: &PackageDir, depth: usize, links: LinkTreatment) {
        for name in links.candidate_names(modules) {
            if name == ".pnpm" {
                self.walk_pnpm_store(modules, depth);
            } else if name.starts_with('@') {
                let Some(scope) = self.modules.base.enter_directory(modules, &name) else {
                    continue;
                };
                for below in links.candidate_names(&scope) {
                    self.collect_package(&scope, &below, &format!("{name}/{below}"), depth);
                }
            } else if !name.starts_with('.') {
                self.collect_package(modules, &name, &name, depth);
            }
        }
    }

    fn walk_pnpm_store(&mut self, modules: &PackageDir, depth: usize) {
        let Some(store) = self.modules.base.enter_directory(modules, ".pnpm") else { return };
        for name in store.directory_names() {
            let inside = self.modules.base.enter_below(&store, &format!("{name}/{MODULES}"));
            if let Some(inside) = inside {
                self.walk_modules(&inside, depth, LinkTreatment::Skip);
            }
        }
    }

    fn collect_package(&mut self, above: &PackageDir, entry: &str, name: &str, depth: usize) {
        let Some(place) = self.modules.base.enter_directory(above, entry) else { return };
        if !self.seen.insert(place.path.clone()) {
            return;
        }
        self.modules.base.count_packages(1);
        let Shipping { files, has_modules, is_cut } =
            shipping::collect_shipped_files(place.handle.as_ref());
        if !files.is_empty() {
            let package = Package { files, ..self.modules.read_package(name, &place) };
            self.modules.base.note_cut(&package, is_cut);
            self.found.push(package);
        }
        if has_modules
            && depth > 0
            && let Some(inside) = self.modules.base.enter_directory(&place, MODULES)
        {
            self.walk_modules(&inside, depth - 1, LinkTreatment::Follow);
        }
    }
}

/// Returns the names of the direct dependencies in a `package.json`.
pub(super) fn read_npm_dependencies(place: &PackageDir) -> Vec<String> {
    let Some(manifest) = place.read_json("package.json") else { return Vec::new() };
    let sections = ["dependencies", "devDependencies", "optionalDependencies"];
    let sections = sections.into_iter().filter_map(|section| manifest.get(section)?.as_object());
    sections.flat_map(|section| section.keys().cloned()).collect()
}

/// Returns the patterns that name the members of a workspace.
pub(super) fn npm_workspace_patterns(place: &PackageDir) -> Vec<String> {
    let texts = |value: &Value| -> Vec<String> {
        let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let manifest = place.read_json("package.json");
    let listed = manifest.as_ref().and_then(|manifest| manifest.get("workspaces"));
    let mut patterns = match listed {
        Some(list @ Value::Array(_)) => texts(list),
        Some(table) => table.get("packages").map(texts).unwrap_or_default(),
        None => Vec::new(),
    };
    if let Some(text) = place.read_text("pnpm-workspace.yaml") {
        patterns.extend(yaml_list(&text, "packages"));
    }
    patterns
}

/// Returns a list of texts in a YAML file.
fn yaml_list(text: &str, key: &str) -> Vec<String> {
    let yaml = Yaml::parse(text);
    let Some(yaml::Value::Mapping(top)) = yaml.root().map(Node::value) else { return Vec::new() };
    let Some(yaml::Value::Sequence(list)) = top.get(key).map(Node::value) else {
        return Vec::new();
    };
    list.iter().filter_map(|node| node.as_str().map(str::to_owned)).collect()
}
