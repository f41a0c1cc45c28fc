//! Go modules: vendored ones by `vendor/modules.txt`, and fetched ones in the module cache by `go.mod` and
//! `go.sum`.

use std::path::{Path, PathBuf};

use brief_system::home_directory;

use super::manifests::clean_name;
use super::model::{Ecosystem, Package, PackageId, is_plain};
use super::package_base::{PackageBase, PackageDir};
use super::search::Packages;

/// A module that a project requires.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Module {
    path: String,
    version: String,
    /// The module in whose place this one is read, by `replace`.
    replacement: Option<(String, String)>,
}

impl Module {
    fn new(path: &str, version: &str) -> Module {
        Module { path: path.to_owned(), version: version.to_owned(), replacement: None }
    }
}

/// The modules of one project.
pub(super) struct GoModules<'g> {
    base: &'g PackageBase<'g>,
    owner: PathBuf,
    vendored: Option<PackageDir>,
    /// The base of fetched modules, and its top.
    fetched: Option<(PackageBase<'g>, PackageDir)>,
    modules: Vec<Module>,
}

impl<'g> GoModules<'g> {
    pub(super) fn open(base: &'g PackageBase<'g>, owner: &PackageDir) -> Option<GoModules<'g>> {
        let (mut modules, _) = parse_go_mod(&owner.read_text("go.mod")?);
        let owner_path = owner.path.clone();
        let vendor = base.enter_directory(owner, "vendor");
        let listed = vendor.as_ref().and_then(|vendor| vendor.read_text("modules.txt"));
        if let Some(text) = listed {
            let modules = vendored_modules(&text);
            return Some(GoModules {
                base,
                owner: owner_path,
                vendored: vendor,
                fetched: None,
                modules,
            });
        }
        modules.extend(parse_go_sum(&owner.read_text("go.sum").unwrap_or_default(), &modules));
        Some(GoModules {
            base,
            owner: owner_path,
            vendored: None,
            fetched: open_module_cache(base),
            modules,
        })
    }

    fn find_module_directory(&self, module: &Module) -> Option<(PackageDir, &PackageBase<'g>)> {
        if let Some(vendor) = &self.vendored {
            let place = is_plain(&module.path).then(|| self.base.enter_below(vendor, &module.path));
            return Some((place??, self.base));
        }
        let (path, version) = match &module.replacement {
            Some((path, version)) => (path, version),
            None => (&module.path, &module.version),
        };
        let (base, top) = self.fetched.as_ref()?;
        let directory = format!("{}@{}", escape_module_path(path), escape_module_path(version));
        if !is_plain(&directory) || version.is_empty() {
            return None;
        }
        Some((base.enter_below(top, &directory)?, base))
    }

    fn read_package(&self, module: &Module, place: &PackageDir, base: &PackageBase<'_>) -> Package {
        let declared = place.read_text("go.mod").and_then(|text| parse_go_mod(&text).1);
        let expected = module.replacement.as_ref().map_or(&module.path, |(path, _)| path);
        let is_other = |declared: &String| *declared != module.path && declared != expected;
        let declared = declared.filter(is_other).as_deref().map(clean_name);
        let (name, version) = (clean_name(&module.path), clean_name(&module.version));
        let id = PackageId { ecosystem: Ecosystem::Go, name, version };
        Package { declared, ..base.build_package(id, &self.owner, place) }
    }
}

impl Packages for GoModules<'_> {
    fn base(&self) -> &PackageBase<'_> {
        self.base
    }

    fn find_installed(&self, name: &str) -> Vec<Package> {
        let same = self.modules.iter().filter(|module| module.path == name);
        let found = same.filter_map(|module| {
            let (place, base) = self.find_module_directory(module)?;
            Some(self.read_package(module, &place, base))
        });
        found.collect()
    }

    fn list_shipping_packages(&self) -> Vec<Package> {
        self.base.count_packages(self.modules.len());
        let found = self.modules.iter().filter_map(|module| {
            let (place, base) = self.find_module_directory(module)?;
            self.base.shipping_package(&place, || self.read_package(module, &place, base))
        });
        found.collect()
    }
}

/// Returns a path or a version as the module cache writes it: `!` before what was a capital letter, because
/// some systems take `A` and `a` for the same.
fn escape_module_path(text: &str) -> String {
    let escape = |character: char| {
        let mark = character.is_ascii_uppercase().then_some('!');
        mark.into_iter().chain([character.to_ascii_lowercase()])
    };
    text.chars().flat_map(escape).collect()
}

/// Returns where go keeps fetched modules.
fn open_module_cache<'g>(base: &PackageBase<'g>) -> Option<(PackageBase<'g>, PackageDir)> {
    let system = base.system;
    let absolute =
        |name: &str| system.env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let path = absolute("GOMODCACHE").or_else(|| {
        let paths = system.env("GOPATH")?;
        let first = paths.to_str()?.split(if cfg!(windows) { ';' } else { ':' }).next()?;
        Some(Path::new(first).join("pkg/mod")).filter(|path| path.is_absolute())
    });
    let path = path.or_else(|| Some(home_directory(system)?.join("go/pkg/mod")))?;
    PackageBase::open_cache(system, &path)
}

/// Returns the lines of a `go.mod`, each with the word that it belongs to.
fn parse_go_directives(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut block = None;
    text.lines().filter_map(move |line| {
        let line = line.trim();
        if line.is_empty() || line.starts_with("//") {
            return None;
        }
        if let Some(word) = block {
            if line == ")" {
                block = None;
                return None;
            }
            return Some((word, line));
        }
        let (word, rest) = line.split_once(char::is_whitespace)?;
        if rest.trim() == "(" {
            block = Some(word);
            return None;
        }
        Some((word, rest.trim()))
    })
}

/// Returns the required modules of a `go.mod`, and its own name.
fn parse_go_mod(text: &str) -> (Vec<Module>, Option<String>) {
    let unquoted = |text: &str| text.trim_matches(['"', '`']).to_owned();
    let words = |line: &str| -> Vec<String> {
        let line = line.split("//").next().unwrap_or(line);
        line.split_whitespace().map(unquoted).collect()
    };
    let mut modules: Vec<Module> = Vec::new();
    let mut own = None;
    for (word, line) in parse_go_directives(text) {
        match (word, words(line).as_slice()) {
            ("module", [path]) => own = Some(path.clone()),
            ("require", [path, version]) => modules.push(Module::new(path, version)),
            _ => {}
        }
    }
    for (_, line) in parse_go_directives(text).filter(|(word, _)| *word == "replace") {
        let words = words(line);
        let Some(arrow) = words.iter().position(|word| word == "=>") else { continue };
        let (old, new) = (&words[..arrow], &words[arrow + 1..]);
        for module in &mut modules {
            let is_it = old.first() == Some(&module.path)
                && old.get(1).is_none_or(|version| *version == module.version);
            if is_it {
                // A directory in place of a module is code of the project's own.
                module.replacement = Some(match new {
                    [path, version] => (path.clone(), version.clone()),
                    _ => (String::new(), String::new()),
                });
            }
        }
    }
    (modules, own)
}

/// Returns the names of the direct dependencies in a `go.mod`.
pub(super) fn read_go_dependencies(place: &PackageDir) -> Vec<String> {
    let text = place.read_text("go.mod").unwrap_or_default();
    let required = parse_go_directives(&text).filter(|(word, _)| *word == "require");
    let direct = required.filter(|(_, line)| !line.contains("// indirect"));
    let names = direct.filter_map(|(_, line)| line.split_whitespace().next());
    names.map(|name| name.trim_matches('"').to_owned()).collect()
}

/// Returns the modules of a `vendor/modules.txt`.
fn vendored_modules(text: &str) -> Vec<Module> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("# "));
    let modules = lines.filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [path, version] | [path, version, "=>", ..] => Some(Module::new(path, version)),
            _ => None,
        }
    });
    modules.collect()
}

/// Returns the modules of a `go.sum` whose code was fetched and that `go.mod` does not name.
fn parse_go_sum(text: &str, known: &[Module]) -> Vec<Module> {
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (path, version) = (words.next()?, words.next()?);
        let is_known = known.iter().any(|module| module.path == path);
        (!version.ends_with("/go.mod") && !is_known).then(|| Module::new(path, version))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOD: &str = "module example.com/shop\n\ngo 1.22\n\nrequire github.com/Acme/UI v1.2.0\n\nrequire (\n\t\
        example.com/a v0.1.0 // indirect\n\texample.com/b/v2 v2.0.0\n\t// a comment\n)\n\n\
        replace example.com/a => example.com/fork v0.3.0\nreplace example.com/b/v2 => ./b\n";

    #[test]
    fn a_go_mod_names_modules_and_what_stands_in_for_them() {
        let (modules, own) = parse_go_mod(MOD);
        assert_eq!(own.as_deref(), Some("example.com/shop"));
        let shown: Vec<_> = modules
            .iter()
            .map(|module| {
                (module.path.as_str(), module.version.as_str(), module.replacement.clone())
            })
            .collect();
        let fork = Some(("example.com/fork".to_owned(), "v0.3.0".to_owned()));
        assert_eq!(
            shown,
            [
                ("github.com/Acme/UI", "v1.2.0", None),
                ("example.com/a", "v0.1.0", fork),
                ("example.com/b/v2", "v2.0.0", Some((String::new(), String::new()))),
            ]
        );
    }

    /// <https://go.dev/ref/mod#module-cache>: capital letters are written with an exclamation mark.
    #[test]
    fn capital_letters_are_escaped() {
        assert_eq!(escape_module_path("github.com/Acme/UI"), "github.com/!acme/!u!i");
    }

    #[test]
    fn sums_name_fetched_modules_only() {
        let (modules, _) = parse_go_mod(MOD);
        let text = "example.com/a v0.1.0 h1:x=\nexample.com/c v1.0.0 h1:x=\nexample.com/d v1.0.0/go.mod h1:x=\n";
        let paths: Vec<String> =
            parse_go_sum(text, &modules).into_iter().map(|module| module.path).collect();
        assert_eq!(paths, ["example.com/c"]);
    }
}
