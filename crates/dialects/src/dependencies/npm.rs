//! Packages in `node_modules`, as npm, pnpm and yarn lay them out.
//!
//! npm and yarn put packages there as directories, some inside others. pnpm links each of them into
//! `node_modules/.pnpm`. Packages that yarn keeps in archives are not read.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::PathBuf;

use brief_syntax::system::FileKind;
use brief_syntax::yaml::{self, Node, Yaml};
use serde_json::Value;

use super::manifests::{cleaned, json};
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
        let Some(modules) = base.enter(owner, MODULES) else {
            if owner.read(".pnp.cjs").is_some() {
                let place = base.shown(&owner.path.join(".pnp.cjs"));
                base.note(format!(
                    "{place}: Plug'n'Play keeps packages in archives, which are not read; \
                     `nodeLinker: node-modules` lays them out"
                ));
            }
            return None;
        };
        Some(NodeModules { base, owner: owner.path.clone(), modules })
    }

    fn package(&self, name: &str, place: &PackageDir) -> Package {
        let manifest = place.read("package.json").and_then(|bytes| json(&bytes));
        let text = |key: &str| manifest.as_ref().and_then(|manifest| manifest.get(key)?.as_str());
        let declared = text("name").filter(|declared| *declared != name).map(cleaned);
        Package {
            id: PackageId {
                ecosystem: Ecosystem::Npm,
                name: name.to_owned(),
                version: text("version").map(cleaned).unwrap_or_default(),
            },
            declared,
            is_direct: false,
            owner: self.owner.clone(),
            base: self.base.path.clone(),
            directory: place.path.clone(),
            code: vec![place.path.clone()],
            files: Vec::new(),
        }
    }
}

impl Packages for NodeModules<'_> {
    fn find(&self, name: &str) -> Vec<Package> {
        let place = self.base.enter_below(&self.modules, name);
        place.map(|place| self.package(name, &place)).into_iter().collect()
    }

    fn search(&self, package: &mut Package) {
        self.base.search(package);
    }

    fn all(&self) -> Vec<Package> {
        let every = Every { modules: self, seen: RefCell::default(), found: RefCell::default() };
        every.in_modules(&self.modules, DEPTH, Links::Followed);
        every.found.into_inner()
    }
}

/// The treatment of links in a `node_modules`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Followed,
    /// In the store of pnpm, a link leads to another package of the store, which has its own place.
    Skipped,
}

/// A look at every package of a `node_modules`.
struct Every<'e, 'g> {
    modules: &'e NodeModules<'g>,
    seen: RefCell<HashSet<PathBuf>>,
    found: RefCell<Vec<Package>>,
}

impl Every<'_, '_> {
    fn in_modules(&self, modules: &PackageDir, depth: usize, links: Links) {
        for entry in modules.entries() {
            let is_link = entry.kind == FileKind::Link;
            if !(entry.kind == FileKind::Directory || is_link && links == Links::Followed) {
                continue;
            }
            let Some(name) = entry.name.to_str() else { continue };
            if name == ".pnpm" {
                self.in_store(modules, depth);
            } else if name.starts_with('@') {
                let Some(scope) = self.modules.base.enter(modules, name) else { continue };
                for entry in scope.entries() {
                    let is_wanted = match entry.kind {
                        FileKind::Directory => true,
                        FileKind::Link => links == Links::Followed,
                        _ => false,
                    };
                    if let (Some(below), true) = (entry.name.to_str(), is_wanted) {
                        self.one(&scope, below, &format!("{name}/{below}"), depth);
                    }
                }
            } else if !name.starts_with('.') {
                self.one(modules, name, name, depth);
            }
        }
    }

    fn in_store(&self, modules: &PackageDir, depth: usize) {
        let Some(store) = self.modules.base.enter(modules, ".pnpm") else { return };
        for name in store.directories() {
            let inside = self.modules.base.enter_below(&store, &format!("{name}/{MODULES}"));
            if let Some(inside) = inside {
                self.in_modules(&inside, depth, Links::Skipped);
            }
        }
    }

    fn one(&self, above: &PackageDir, entry: &str, name: &str, depth: usize) {
        let Some(place) = self.modules.base.enter(above, entry) else { return };
        if !self.seen.borrow_mut().insert(place.path.clone()) {
            return;
        }
        self.modules.base.count(1);
        let Shipping { files, has_modules, is_cut } = shipping::look(place.handle.as_ref());
        if !files.is_empty() {
            let mut package = self.modules.package(name, &place);
            self.modules.base.note_cut(&package, is_cut);
            package.files = files;
            self.found.borrow_mut().push(package);
        }
        if has_modules
            && depth > 0
            && let Some(inside) = self.modules.base.enter(&place, MODULES)
        {
            self.in_modules(&inside, depth - 1, Links::Followed);
        }
    }
}

/// Returns the names of the direct dependencies in a `package.json`.
pub(super) fn direct(place: &PackageDir) -> Vec<String> {
    let Some(manifest) = place.read("package.json").and_then(|bytes| json(&bytes)) else {
        return Vec::new();
    };
    let sections = ["dependencies", "devDependencies", "optionalDependencies"];
    let sections = sections.into_iter().filter_map(|section| manifest.get(section)?.as_object());
    sections.flat_map(|section| section.keys().cloned()).collect()
}

/// Returns the patterns that name the members of a workspace.
pub(super) fn workspaces(place: &PackageDir) -> Vec<String> {
    let texts = |value: &Value| -> Vec<String> {
        let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let manifest = place.read("package.json").and_then(|bytes| json(&bytes));
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
    let text = |node: Node<'_>| match node.value() {
        yaml::Value::Scalar(text) => Some(text.to_owned()),
        _ => None,
    };
    list.iter().filter_map(text).collect()
}
