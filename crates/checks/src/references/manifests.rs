//! The targets, scripts, tasks and packages that the files of a project define.
//!
//! Files are read when a text names something that they could define: nearest first, and the others only when
//! the nearest does not have it. A file that computes its names, or includes what cannot be found, is open:
//! nothing is missing in it.

mod formats;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;

use brief_dialects::ProjectFiles;
use brief_dialects::dependencies::manifests::{find_table, parse_toml};
use brief_syntax::near_miss::find_nearest;
use brief_syntax::walk::IgnoreFiles;
use brief_syntax::{Root, limits};
use brief_system::System;
use toml_edit::Document;

use super::commands::Runner;
use crate::words::split_words;
use formats::{
    json_keys, parse_justfile, parse_makefile, parse_noxfile, parse_taskfile, single_name,
    toml_keys,
};

/// The limit for files of one kind that are looked into; beyond it nothing is missing.
const MOST_FILES: usize = 500;

/// The depth and number of directories in which ignored files are looked for.
const MOST_DEPTH: usize = 3;
const MOST_DIRECTORIES: usize = 2_000;

/// Files that a makefile is made from.
const MAKERS: [&str; 9] = split_words(
    "Makefile.in Makefile.am makefile.am Makefile.pre.in GNUmakefile.in CMakeLists.txt configure \
     configure.ac meson.build",
);

/// Directories whose files define nothing for the project.
const OTHERS: [&str; 8] = split_words(
    "node_modules vendor third_party testdata fixtures __fixtures__ templates template",
);

/// The names that one file defines.
#[derive(Debug, Default)]
pub(crate) struct DefinedNames {
    names: BTreeSet<String>,
    /// Beginnings and ends of names, for rules with `%`.
    patterns: Vec<(String, String)>,
    /// True if there may be more.
    is_open: bool,
}

impl DefinedNames {
    fn open_ended() -> DefinedNames {
        DefinedNames { is_open: true, ..DefinedNames::default() }
    }

    fn contains_name(&self, name: &str) -> bool {
        let fits = |(start, end): &(String, String)| {
            name.len() >= start.len() + end.len()
                && name.starts_with(start.as_str())
                && name.ends_with(end.as_str())
        };
        self.names.contains(name) || self.patterns.iter().any(fits)
    }
}

/// The answer to "does the project have it?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// It has it, or its files do not tell.
    There,
    /// The nearest file does not define it, and another one does.
    Elsewhere {
        /// The nearest file, `/`-separated below the root.
        manifest: String,
        /// The first file that defines it.
        other: String,
    },
    Missing {
        manifest: String,
        /// A name that is probably meant.
        near: Option<String>,
    },
    /// There is no file that could define it.
    NoManifest,
}

/// Returns whether a file is in the part of a repository that a text of this directory is about; a client's directory, such as
/// `.claude/agents`, is about the one that holds it.
fn is_in_part(path: &str, directory: &str) -> bool {
    let part = match directory.split('/').position(|name| name.starts_with('.')) {
        Some(at) => directory.split('/').take(at).collect::<Vec<_>>().join("/"),
        None => directory.to_owned(),
    };
    Path::new(path).starts_with(part)
}

/// Reads the files of a project that define targets.
pub(crate) struct Manifests<'c> {
    pub(crate) system: &'c dyn System,
    pub(crate) root: &'c Root,
    pub(crate) files: &'c ProjectFiles,
    known: RefCell<HashMap<(Runner, String), Rc<DefinedNames>>>,
    listed: RefCell<BTreeMap<Runner, Rc<Vec<String>>>>,
    ignored: IgnoreFiles<'c>,
}

impl<'c> Manifests<'c> {
    pub(crate) fn new(system: &'c dyn System, root: &'c Root, files: &'c ProjectFiles) -> Self {
        let ignored = IgnoreFiles::new(system, root);
        let (known, listed) = (RefCell::default(), RefCell::default());
        Manifests { system, root, files, known, listed, ignored }
    }

    /// Looks a name up from a directory, `/`-separated below the root.
    pub(crate) fn look_up(&self, runner: Runner, name: &str, directory: &str) -> Lookup {
        let files = self.manifest_files(runner);
        if files.is_empty() {
            return Lookup::NoManifest;
        }
        if files.len() > MOST_FILES {
            return Lookup::There;
        }
        let depth = |path: &str| {
            let own = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            let own = own.strip_suffix(".cargo").map_or(own, |own| own.trim_end_matches('/'));
            let is_above = own.is_empty()
                || directory == own
                || directory.strip_prefix(own).is_some_and(|rest| rest.starts_with('/'));
            is_above.then_some(own.len())
        };
        let above = files.iter().filter_map(|path| Some((depth(path)?, path)));
        let manifest = above.max_by_key(|(depth, _)| *depth).map(|(_, path)| path);
        // What only other parts of the repository define says nothing of this one.
        let is_of_part = |path: &String| is_in_part(path, directory);
        let is_project_wide = runner.facts().is_project_wide;
        if manifest.is_none() && !is_project_wide && !files.iter().any(is_of_part) {
            return Lookup::There;
        }
        let manifest = manifest.unwrap_or(&files[0]);
        // A slip of a name that the nearest file has is not meant for another, whatever that computes.
        if self.is_made(runner, directory, manifest) {
            return Lookup::There;
        }
        let nearest_file = self.defined_names(runner, manifest);
        let own: Vec<&str> = nearest_file.names.iter().map(String::as_str).collect();
        let is_slip = !nearest_file.is_open
            && !nearest_file.contains_name(name)
            && find_nearest(name, &own).is_some();
        let mut names = BTreeSet::new();
        let mut elsewhere = None;
        for path in files.iter() {
            let defined = self.defined_names(runner, path);
            if defined.is_open && !is_slip || defined.contains_name(name) && path == manifest {
                return Lookup::There;
            }
            let has =
                if is_slip { defined.names.contains(name) } else { defined.contains_name(name) };
            elsewhere = elsewhere.or(has.then_some(path));
            names.extend(defined.names.iter().cloned());
        }
        if let Some(other) = elsewhere {
            if is_project_wide || depth(manifest).is_none() {
                return Lookup::There;
            }
            return Lookup::Elsewhere { manifest: manifest.clone(), other: other.clone() };
        }
        // Examples and templates are no part of the project, and a text may speak of them all the same.
        let set_apart = self
            .files
            .files
            .iter()
            .filter(|path| is_called_manifest(runner, path) && !is_manifest(runner, path));
        let mut set_apart = set_apart.take(MOST_FILES);
        if set_apart.any(|path| self.defined_names(runner, path).contains_name(name)) {
            return Lookup::There;
        }
        if self.is_defined_in_ignored(runner, name) {
            return Lookup::There;
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let near = find_nearest(name, &names).map(str::to_owned);
        Lookup::Missing { manifest: manifest.clone(), near }
    }

    /// Returns whether a file that version control is told to ignore, and that is there all the same, defines a name: it may
    /// be part of the project.
    fn is_defined_in_ignored(&self, runner: Runner, name: &str) -> bool {
        let is_near = |path: &&String| path.matches('/').count() < MOST_DEPTH;
        let directories = self.files.directories.iter().filter(is_near).take(MOST_DIRECTORIES);
        let mut places = directories.flat_map(|directory| {
            runner.facts().manifests.iter().map(move |own| format!("{directory}/{own}"))
        });
        places.any(|place| {
            self.files.files.binary_search(&place).is_err()
                && self.system.resolve(&self.root.path().join(&place)).is_ok()
                && self.defined_names(runner, &place).contains_name(name)
        })
    }

    /// Returns whether the file that defines names for a directory may be made, and so is not in the tree.
    fn is_made(&self, runner: Runner, directory: &str, nearest: &str) -> bool {
        let above = nearest.rsplit_once('/').map_or("", |(above, _)| above);
        let mut here = directory;
        loop {
            let join = |name: &str| match here {
                "" => name.to_owned(),
                here => format!("{here}/{name}"),
            };
            let is_there = |name: &str| self.files.files.binary_search(&join(name)).is_ok();
            let is_ignored =
                |name: &&str| !is_there(name) && self.ignored.is_ignored(Path::new(&join(name)));
            if runner.facts().manifests.iter().any(is_ignored)
                || runner == Runner::Make && MAKERS.iter().any(|name| is_there(name))
            {
                return true;
            }
            if here.is_empty() || here == above && !nearest.is_empty() {
                return false;
            }
            here = here.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }

    /// Returns whether a text of a file defines a name.
    pub(crate) fn defines_name(&self, runner: Runner, path: &str, text: &str, name: &str) -> bool {
        self.parse_names(runner, path, text).contains_name(name)
    }

    /// Returns the files that can define names for a runner.
    fn manifest_files(&self, runner: Runner) -> Rc<Vec<String>> {
        let mut listed = self.listed.borrow_mut();
        let found = listed.entry(runner).or_insert_with(|| {
            let is_one = |path: &&String| is_manifest(runner, path);
            Rc::new(self.files.files.iter().filter(is_one).cloned().collect())
        });
        Rc::clone(found)
    }

    fn defined_names(&self, runner: Runner, path: &str) -> Rc<DefinedNames> {
        let key = (runner, path.to_owned());
        if let Some(known) = self.known.borrow().get(&key) {
            return Rc::clone(known);
        }
        let text = self.read_text(path);
        let defined =
            Rc::new(text.map_or_else(DefinedNames::open_ended, |text| {
                self.parse_names(runner, path, &text)
            }));
        self.known.borrow_mut().insert(key, Rc::clone(&defined));
        defined
    }

    /// Reads a file of the project; `None` for one that cannot be read or leads out of it.
    pub(crate) fn read_text(&self, path: &str) -> Option<String> {
        let path = self.root.path().join(path);
        let real = self.system.resolve(&path).ok()?.path;
        if !real.starts_with(self.root.path()) {
            return None;
        }
        let bytes = self.system.read(&real, limits::FILE_BYTES).ok()?;
        String::from_utf8(bytes).ok()
    }

    fn parse_names(&self, runner: Runner, path: &str, text: &str) -> DefinedNames {
        let name = path.rsplit('/').next().unwrap_or(path);
        match runner {
            Runner::Make => parse_makefile(text, &|included| self.is_known(included)),
            Runner::Just => parse_justfile(text, &|included| self.is_known(included)),
            Runner::Task => parse_taskfile(text),
            Runner::Package | Runner::Composer => json_keys(text, "scripts"),
            Runner::Deno if name == "package.json" => json_keys(text, "scripts"),
            Runner::Deno => json_keys(text, "tasks"),
            Runner::Mise if !has_extension(name, &["toml"]) => single_name(name.split('.').next()),
            Runner::Mise => toml_keys(text, &["tasks"], &["task_config"]),
            Runner::Poe if name == "pyproject.toml" => {
                toml_keys(text, &["tool", "poe", "tasks"], &["tool", "poe", "include"])
            }
            Runner::Poe => toml_keys(text, &["tasks"], &["include"]),
            Runner::Nox => parse_noxfile(text),
            Runner::CargoAlias if name.starts_with("config") => {
                toml_keys(text, &["alias"], &["include"])
            }
            _ => self.parse_cargo(runner, path, text),
        }
    }

    /// Returns whether a file that is included is read as a file of its own.
    fn is_known(&self, included: &str) -> bool {
        let end = included.trim_start_matches("./");
        self.files.files.iter().any(|path| {
            path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        }) && [".mk", ".just", "akefile", "ustfile"].iter().any(|known| end.ends_with(known))
    }

    fn parse_cargo(&self, runner: Runner, path: &str, text: &str) -> DefinedNames {
        let Some(document) = parse_toml(text) else { return DefinedNames::open_ended() };
        let mut found = DefinedNames::default();
        let package =
            find_table(&document, &["package"]).and_then(|package| package.get("name")?.as_str());
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        if path.ends_with("Cargo.lock") {
            let packages = document.get("package").and_then(|list| list.as_array_of_tables());
            let names = packages.into_iter().flatten().filter_map(|one| one.get("name")?.as_str());
            found.names.extend(names.map(str::to_owned));
            return found;
        }
        match runner {
            Runner::CargoAlias | Runner::CargoPackage => {
                found.names.extend(package.map(str::to_owned));
            }
            Runner::CargoFeature => {
                let keys = ["features", "dependencies"].map(|key| find_table(&document, &[key]));
                let keys = keys.into_iter().flatten().flat_map(|table| table.iter());
                found.names.extend(keys.map(|(name, _)| name.to_owned()));
                found.names.extend([String::from("default")]);
            }
            Runner::CargoBinary => {
                found.names.extend(package.map(str::to_owned));
                self.cargo_files(&mut found, &document, "bin", directory, "src/bin");
            }
            Runner::CargoExample => {
                self.cargo_files(&mut found, &document, "example", directory, "examples");
            }
            _ => self.cargo_files(&mut found, &document, "test", directory, "tests"),
        }
        found
    }

    /// Adds the names of the tables of a kind, and of the files in the directory for it.
    fn cargo_files(
        &self,
        found: &mut DefinedNames,
        document: &Document<String>,
        kind: &str,
        directory: &str,
        place: &str,
    ) {
        let tables = document.get(kind).and_then(|list| list.as_array_of_tables());
        let names = tables.into_iter().flatten().filter_map(|one| one.get("name")?.as_str());
        found.names.extend(names.map(str::to_owned));
        let below =
            if directory.is_empty() { place.to_owned() } else { format!("{directory}/{place}") };
        let stems = self.files.files_below(&below).filter_map(|path| match path.split_once('/') {
            None => path.strip_suffix(".rs"),
            Some((name, "main.rs")) => Some(name),
            Some(_) => None,
        });
        found.names.extend(stems.map(str::to_owned));
    }
}

fn is_manifest(runner: Runner, path: &str) -> bool {
    !path.split('/').any(|part| OTHERS.contains(&part)) && is_called_manifest(runner, path)
}

/// Returns whether a file is called like one that defines names for a runner.
fn is_called_manifest(runner: Runner, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_other = || match runner {
        Runner::Make => has_extension(name, &["mk"]),
        Runner::Just => name == "JUSTFILE" || has_extension(name, &["just"]),
        Runner::Task => {
            let lower = name.to_ascii_lowercase();
            lower.starts_with("taskfile.") && has_extension(&lower, &["yml", "yaml"])
        }
        Runner::Deno => name == "package.json",
        Runner::Mise => {
            name == "mise.local.toml"
                || path.contains("mise-tasks/")
                || path.contains("mise/tasks/")
        }
        Runner::Poe => name == "poe_tasks.toml",
        Runner::CargoAlias => {
            path.ends_with(".cargo/config.toml") || path.ends_with(".cargo/config")
        }
        Runner::CargoPackage => name == "Cargo.lock",
        _ => false,
    };
    runner.facts().manifests.contains(&name) || is_other()
}

/// Returns whether a name ends in one of these after its last dot.
pub(crate) fn has_extension(name: &str, extensions: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
}
