//! `brief.toml`: the sources and items that a project wants.
//!
//! ```toml
//! [sources.guidance]
//! git = "acme/guidance"
//! ref = "v1.2.0"
//! bundles = ["platform-baseline"]
//! skills = ["create-endpoint"]
//!
//! [dependencies]
//! offer = ["@acme/ui"]
//! ```

mod edit;
mod required;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use brief_dialects::dependencies::PackageName;
use brief_dialects::portable::{ItemId, ItemKind, name_problem};
use brief_syntax::near_miss::find_nearest;
use brief_syntax::toml::{Table, TomlEntry, TomlProblem};
use brief_syntax::{Diagnostic, Source, Span, rules, toml};

use crate::address::redact_credentials;
use crate::lock::is_sha256;
use crate::oci::OciSource;

pub use edit::{EditError, ManifestEdit};
pub use required::find_newer_requirement;

/// The sections that a `brief.toml` may have.
const SECTIONS: [&str; 10] = [
    "build",
    "checks",
    "clients",
    "dependencies",
    "ignore",
    "install",
    "mcp",
    "permissions",
    required::KEY,
    "sources",
];

/// The keys of a table below `[sources]`.
const KEYS: [&str; 13] = [
    "agents",
    "all",
    "bundles",
    "clients",
    "commands",
    "directory",
    "exclude",
    "git",
    "oci",
    "ref",
    "rules",
    "skills",
    "subpath",
];

/// The sources and items that a project wants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manifest {
    /// The sources, each with a unique name.
    pub sources: Vec<WantedSource>,
    /// Accepted contents of items with hidden text or opaque files, each by its SHA-256.
    pub accept: BTreeSet<String>,
    /// The installed packages whose guidance is listed.
    pub dependencies: Vec<WantedDependency>,
}

/// A package whose guidance the project offers to agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedDependency {
    /// The name of the package.
    pub name: PackageName,
    /// The place of the name in the manifest.
    pub span: Span,
}

/// A source, and the items that the project wants from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedSource {
    /// The name of the source in the project.
    pub name: String,
    /// The address of the source.
    pub place: ManifestPlace,
    /// The items that the project wants from it.
    pub wanted: WantedItems,
    /// The clients of its items; `None` for those of the project.
    pub clients: Option<Vec<String>>,
    /// The place of the name in the manifest.
    pub span: Span,
}

/// The address of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ManifestPlace {
    /// A git repository, in a spelling that `brief add` accepts.
    Git {
        /// The repository without version and directory.
        git: String,
        /// A branch, a tag or a commit.
        reference: Option<String>,
        /// A directory in the repository.
        subpath: Option<String>,
    },
    /// An artifact in a container registry, or in a directory of the same layout.
    Oci {
        /// The repository without tag and digest, as `oci://HOST/PATH` or `oci-layout:DIRECTORY`.
        oci: String,
        /// A tag or a digest.
        reference: Option<String>,
    },
    /// A directory, relative to the manifest.
    Directory(String),
}

impl ManifestPlace {
    /// The keys of a place in the manifest and in the lock, in the order in which they are written.
    pub(crate) const KEYS: [&'static str; 5] = ["git", "oci", "directory", "ref", "subpath"];

    /// Returns the value of one of the `ManifestPlace::KEYS`.
    pub fn find_field(&self, key: &str) -> Option<&str> {
        let (form, address, reference, subpath) = match self {
            ManifestPlace::Git { git, reference, subpath } => ("git", git, reference, subpath),
            ManifestPlace::Oci { oci, reference } => ("oci", oci, reference, &None),
            ManifestPlace::Directory(path) => ("directory", path, &None, &None),
        };
        match key {
            "ref" => reference.as_deref(),
            "subpath" => subpath.as_deref(),
            key => (key == form).then_some(address),
        }
    }
}

/// The items that a project wants from a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WantedItems {
    /// True if the project wants every item.
    pub all: bool,
    pub bundles: BTreeSet<String>,
    pub items: BTreeSet<ItemId>,
    /// Items to leave out when the project wants every item.
    pub exclude: BTreeSet<ItemId>,
}

impl WantedItems {
    /// Returns whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        !self.all && self.bundles.is_empty() && self.items.is_empty()
    }
}

impl Manifest {
    /// Parses a `brief.toml`. Reports all problems, not only the first one.
    pub fn parse(configuration: &Arc<Source>) -> Result<Manifest, Vec<Diagnostic>> {
        if let Some(problem) = find_newer_requirement(configuration) {
            return Err(vec![problem]);
        }
        let mut diagnostics = Vec::new();
        let Some(document) = toml::parse_toml(configuration, &mut diagnostics) else {
            return Err(diagnostics);
        };
        let top = Table { source: configuration, content: document.as_table(), prefix: "" };
        let mut manifest = Manifest::default();
        for entry in top.entries() {
            let outcome: Result<(), TomlProblem> = (|| {
                match entry.key {
                    "sources" => manifest.read_sources(entry.table()?, &mut diagnostics),
                    "dependencies" => manifest.read_dependencies(entry.table()?, &mut diagnostics),
                    // The other keys of the section are for the compiler.
                    "install" => {
                        let mut keys = entry.table().into_iter().flat_map(Table::entries);
                        if let Some(accept) = keys.find(|entry| entry.key == "accept") {
                            manifest.accept = parse_hashes(&accept)?;
                        }
                    }
                    required::KEY => required::parse_requirement(&entry).map(drop)?,
                    key if !SECTIONS.contains(&key) => return Err(entry.unknown_key(&SECTIONS)),
                    _ => {}
                }
                Ok(())
            })();
            diagnostics.extend(outcome.err().map(|problem| *problem));
        }
        manifest.sources.sort_by(|left, right| left.name.cmp(&right.name));
        if diagnostics.is_empty() { Ok(manifest) } else { Err(diagnostics) }
    }

    fn read_sources(&mut self, table: Table<'_>, diagnostics: &mut Vec<Diagnostic>) {
        for entry in table.entries() {
            let before = diagnostics.len();
            if let Some(problem) = name_problem(entry.key) {
                let help = "name a source with `a-z`, `0-9` and `-`";
                diagnostics.push(*entry.value_problem(problem, help));
            }
            match entry.table().map(|table| read_source(&entry, table, diagnostics)) {
                Ok(Some(source)) if diagnostics.len() == before => self.sources.push(source),
                Ok(_) => {}
                Err(problem) => diagnostics.push(*problem),
            }
        }
    }

    fn read_dependencies(&mut self, table: Table<'_>, diagnostics: &mut Vec<Diagnostic>) {
        for entry in table.entries() {
            let is_known = entry.key == "offer";
            let names =
                if is_known { entry.text_list() } else { Err(entry.unknown_key(&["offer"])) };
            let names = match names {
                Ok(names) => names,
                Err(problem) => {
                    diagnostics.push(*problem);
                    continue;
                }
            };
            let spans = entry.item.as_array().into_iter().flatten().map(toml_edit::Value::span);
            for (text, span) in names.iter().zip(spans) {
                let span = span.map_or(entry.span, |span| Span::new(span.start, span.end));
                let problem = match PackageName::parse(text) {
                    Err(problem) => {
                        let help = "write the name of an installed package, such as `@acme/ui` or `pypi:acme`";
                        entry.invalid_value(&problem, help)
                    }
                    Ok(name) if self.dependencies.iter().any(|known| known.name == name) => {
                        entry.invalid_value(&format!("duplicate `{name}`"), "")
                    }
                    Ok(name) => {
                        self.dependencies.push(WantedDependency { name, span });
                        continue;
                    }
                };
                diagnostics.push(Diagnostic { span, ..*problem });
            }
        }
    }

    /// Returns the source with this name.
    pub fn find_source(&self, name: &str) -> Option<&WantedSource> {
        self.sources.iter().find(|source| source.name == name)
    }
}

fn read_source(
    named: &TomlEntry<'_>,
    table: Table<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<WantedSource> {
    let (mut git, mut oci, mut directory) = (None, None, None);
    let (mut reference, mut subpath) = (None, None);
    let mut wanted = WantedItems::default();
    let mut clients = None;
    for entry in table.entries() {
        let outcome: Result<(), TomlProblem> = (|| {
            match entry.key {
                "git" => git = Some(parse_address(&entry)?),
                "oci" => oci = Some(parse_artifact_address(&entry)?),
                "ref" => reference = Some(parse_text(&entry)?),
                "subpath" => subpath = Some(parse_text(&entry)?),
                "directory" => directory = Some(parse_text(&entry)?),
                "clients" => clients = Some(entry.text_list()?),
                "all" => {
                    wanted.all = entry.item.as_bool().ok_or_else(|| {
                        entry.value_problem("must be `true` or `false`", "write it without quotes")
                    })?;
                }
                "bundles" => {
                    for name in entry.text_list()? {
                        check_name(&entry, &name)?;
                        wanted.bundles.insert(name);
                    }
                }
                "exclude" => {
                    for text in entry.text_list()? {
                        wanted.exclude.insert(item_id(&entry, &text)?);
                    }
                }
                key => {
                    let kind = ItemKind::of_folder(key).ok_or_else(|| entry.unknown_key(&KEYS))?;
                    for name in entry.text_list()? {
                        check_name(&entry, &name)?;
                        wanted.items.insert(ItemId { kind, name });
                    }
                }
            }
            Ok(())
        })();
        diagnostics.extend(outcome.err().map(|problem| *problem));
    }
    let mut refuse = |problem: &str, help: &str| {
        diagnostics.push(*named.value_problem(problem, help));
        None
    };
    let place = match (git, oci, directory) {
        (Some(git), None, None) => ManifestPlace::Git { git, reference, subpath },
        (None, Some(_), None) if subpath.is_some() => {
            return refuse(
                "cannot have a `subpath` with `oci`",
                "remove it: brief always installs the whole artifact",
            );
        }
        (None, Some(oci), None) => ManifestPlace::Oci { oci, reference },
        (None, None, Some(_)) if reference.is_some() || subpath.is_some() => {
            return refuse(
                "cannot have `ref` or `subpath` with `directory`",
                "name the directory itself; for a repository write `git` instead of `directory`",
            );
        }
        (None, None, Some(directory)) => ManifestPlace::Directory(directory),
        (None, None, None) => {
            let help = "write `git = \"…\"`, `oci = \"…\"` or `directory = \"…\"`";
            return refuse("has no address", help);
        }
        (Some(_), None, Some(_)) => {
            return refuse("has both `git` and `directory`", "remove one of them");
        }
        _ => return refuse("has `oci` and another address", "remove one of them"),
    };
    Some(WantedSource { name: named.key.to_owned(), place, wanted, clients, span: named.span })
}

fn parse_text(entry: &TomlEntry<'_>) -> Result<String, TomlProblem> {
    match entry.text()? {
        "" => Err(entry.value_problem("is empty", "remove the key, or give it a value")),
        text => Ok(text.to_owned()),
    }
}

/// Parses an address. It must not hold a password: the file and the lock, which repeats it, are shared.
fn parse_address(entry: &TomlEntry<'_>) -> Result<String, TomlProblem> {
    let text = parse_text(entry)?;
    if redact_credentials(&text) == text {
        return Ok(text);
    }
    // The message quotes the line, so its credentials are redacted.
    let (file, start) = (entry.source.text(), entry.span.start);
    let start = redact_credentials(file.get(..start).unwrap_or_default()).len();
    let shown = Arc::new(Source::new(entry.source.path(), redact_credentials(file)));
    let span = Span::new(start, start + entry.key.len());
    let message = format!("`{}` contains a password", entry.path);
    let problem = Diagnostic::new(rules::item::INVALID_CONFIG, &shown, span, message);
    Err(Box::new(problem.with_help(
        "remove the password: git asks your credential helper; change it if others may have seen it",
    )))
}

/// Parses the address of an artifact.
fn parse_artifact_address(entry: &TomlEntry<'_>) -> Result<String, TomlProblem> {
    let text = parse_address(entry)?;
    match OciSource::is_meant(&text).then(|| OciSource::parse(&text, Path::new("/"))) {
        Some(Ok(_)) => Ok(text),
        Some(Err(error)) => Err(entry.invalid_value(&error.to_string(), "")),
        None => Err(entry.invalid_value(
            &format!("invalid artifact address `{text}`"),
            "write `oci://HOST/PATH` or `oci-layout:DIRECTORY`",
        )),
    }
}

/// Parses a list of SHA-256 hashes.
fn parse_hashes(entry: &TomlEntry<'_>) -> Result<BTreeSet<String>, TomlProblem> {
    let hashes = entry.text_list()?;
    match hashes.iter().find(|text| !is_sha256(text)) {
        Some(text) => {
            let help = "write the 64 digits that `brief sync` prints";
            Err(entry.invalid_value(&format!("`{text}` is not a SHA-256"), help))
        }
        None => Ok(hashes.into_iter().collect()),
    }
}

fn check_name(entry: &TomlEntry<'_>, name: &str) -> Result<(), TomlProblem> {
    match name_problem(name) {
        Some(problem) => Err(entry.invalid_value(&format!("`{name}` {problem}"), "")),
        None => Ok(()),
    }
}

fn item_id(entry: &TomlEntry<'_>, text: &str) -> Result<ItemId, TomlProblem> {
    let Some((kind, name)) = text.split_once('/') else {
        return Err(entry.invalid_value(
            &format!("`{text}` has no kind"),
            &format!("write `rule/{text}`, `skill/{text}` or `agent/{text}`"),
        ));
    };
    let Some(kind) = ItemKind::from_name(kind) else {
        let kinds: Vec<&str> = ItemKind::ALL.iter().map(|kind| kind.as_str()).collect();
        let help = match find_nearest(kind, &kinds) {
            Some(near) => format!("did you mean `{near}/{name}`?"),
            None => format!("kinds are {}", kinds.join(", ")),
        };
        return Err(entry.invalid_value(&format!("unknown kind `{kind}`"), &help));
    };
    check_name(entry, name)?;
    Ok(ItemId { kind, name: name.to_owned() })
}
