//! `brief.lock`: the resolved sources and the files that were written.
//!
//! The text is sorted, with one fact per line, and free of times, machine names and program versions. So two
//! branches that change different things merge without a conflict, and a run without changes writes nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use brief_dialects::dependencies::LockedDependency;
use brief_dialects::locked::{DependencyText, LOCK_VERSION, LockProblem, read_lock};
use brief_dialects::portable::output::SharedEntry;
use brief_dialects::portable::{ItemId, ItemKind};
use brief_safety::policy::Signer;
use serde::Deserialize;

use crate::manifest::ManifestPlace;
pub use crate::outputs::record::FileRecord;
use crate::outputs::record::{ItemRecord, OutputRecord, is_output_path, is_plain_path};

/// The name of the file.
pub const FILE_NAME: &str = "brief.lock";

const HEADER: &str = "\
# What `brief sync` has resolved and written. Keep it in version control; do not edit it by hand.
";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lock {
    /// The sources by their names.
    pub sources: BTreeMap<String, LockedSource>,
    pub items: BTreeMap<ItemId, LockedItem>,
    /// Our entries in files of the user, by path.
    pub shared: BTreeMap<String, Vec<SharedEntry>>,
    /// The chosen packages, sorted by name and directory.
    pub dependencies: Vec<LockedDependency>,
    /// True for a lock of an older version, whose items may lack their capabilities. Such a lock is never
    /// written.
    pub is_old: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedSource {
    /// The address, in the words of the manifest.
    pub place: ManifestPlace,
    /// The commit of a repository, or the digest of an artifact.
    pub commit: Option<String>,
    /// The signer of an artifact; another one is refused until it is accepted.
    pub signer: Option<String>,
    /// The time of an artifact, as its publisher says; an older one is refused.
    pub created: Option<String>,
    /// The installed bundles of the source, with their versions.
    pub bundles: BTreeMap<String, Option<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedItem {
    /// The name of the source.
    pub source: String,
    /// The item's directory in the source, with `/`.
    pub path: String,
    /// The version, if the item has one.
    pub version: Option<String>,
    /// The hash of the item's content.
    pub sha256: String,
    /// The bundles that include the item.
    pub bundles: Vec<String>,
    /// The clients of the item; recorded only if one of them reads another client's copy.
    pub clients: Vec<String>,
    /// The capabilities, sorted, one fact each (`hosts api.example.com`).
    pub capabilities: Vec<String>,
    /// The written files by path.
    pub files: BTreeMap<String, FileRecord>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct LockError {
    pub line: usize,
    pub problem: String,
}

impl LockError {
    /// Creates the error for a written file, at the line of its path.
    pub(crate) fn at_file(text: &str, path: &str, problem: String) -> LockError {
        let quoted = quote_string(&format!("{path} "));
        // In the list the SHA-256 follows the path, and then the quotation mark.
        let mark = quoted.strip_suffix(['"', '\'']).unwrap_or(&quoted);
        let line = text.lines().position(|line| line.contains(mark)).map_or(1, |line| line + 1);
        LockError { line, problem }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLock {
    version: i64,
    #[serde(default)]
    source: Vec<RawSource>,
    #[serde(default)]
    item: Vec<RawItem>,
    #[serde(default)]
    shared: Vec<RawShared>,
    #[serde(default)]
    dependency: Vec<DependencyText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSource {
    name: String,
    git: Option<String>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    subpath: Option<String>,
    oci: Option<String>,
    directory: Option<String>,
    commit: Option<String>,
    digest: Option<String>,
    signer: Option<String>,
    created: Option<String>,
    #[serde(default)]
    bundles: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawItem {
    kind: String,
    name: String,
    source: String,
    path: String,
    version: Option<String>,
    sha256: String,
    #[serde(default)]
    bundles: Vec<String>,
    #[serde(default)]
    clients: Vec<String>,
    capabilities: Option<Vec<String>>,
    #[serde(default)]
    files: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawShared {
    path: String,
    #[serde(default)]
    entries: Vec<RawEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    list: Option<String>,
    value: Option<String>,
    table: Option<String>,
    key: Option<String>,
    json: Option<String>,
    block: Option<String>,
}

impl Lock {
    pub fn parse(text: &str) -> Result<Lock, LockError> {
        let line_with = |mark: &str| {
            text.lines().position(|line| line.contains(mark)).map_or(1, |line| line + 1)
        };
        let raw: RawLock = read_lock(text).map_err(|problem| match problem {
            LockProblem::Invalid { line, problem } => LockError { line, problem },
            newer => LockError {
                line: line_with("version ="),
                problem: format!("{newer}; upgrade `brief`"),
            },
        })?;
        raw.into_lock().map_err(|(mark, problem)| LockError { line: line_with(&mark), problem })
    }

    /// Returns whether the lock has no sources, items or shared entries.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
            && self.items.is_empty()
            && self.shared.is_empty()
            && self.dependencies.is_empty()
    }

    /// Returns the lock as text. Equal locks give equal texts.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}version = {LOCK_VERSION}\n");
        for (name, source) in &self.sources {
            text.push_str("\n[[source]]\n");
            write_field(&mut text, "name", name);
            for key in ManifestPlace::KEYS {
                write_optional_field(&mut text, key, source.place.find_field(key));
            }
            let is_oci = matches!(source.place, ManifestPlace::Oci { .. });
            let key = if is_oci { "digest" } else { "commit" };
            write_optional_field(&mut text, key, source.commit.as_deref());
            write_optional_field(&mut text, "signer", source.signer.as_deref());
            write_optional_field(&mut text, "created", source.created.as_deref());
            let bundles = source.bundles.iter().map(|(name, version)| match version {
                Some(version) => format!("{name} {version}"),
                None => name.clone(),
            });
            write_optional_list(&mut text, "bundles", bundles.map(|bundle| quote_string(&bundle)));
        }
        for (id, item) in &self.items {
            text.push_str("\n[[item]]\n");
            write_field(&mut text, "kind", id.kind.as_str());
            write_field(&mut text, "name", &id.name);
            write_field(&mut text, "source", &item.source);
            write_field(&mut text, "path", &item.path);
            write_optional_field(&mut text, "version", item.version.as_deref());
            write_field(&mut text, "sha256", &item.sha256);
            write_optional_list(
                &mut text,
                "bundles",
                item.bundles.iter().map(|name| quote_string(name)),
            );
            write_optional_list(
                &mut text,
                "clients",
                item.clients.iter().map(|name| quote_string(name)),
            );
            // An empty list is written too, so that the first capability adds one line.
            write_list(
                &mut text,
                "capabilities",
                item.capabilities.iter().map(|fact| quote_string(fact)),
            );
            let files = item.files.iter().map(|(path, file)| {
                let program = if file.program { " program" } else { "" };
                quote_string(&format!("{path} {}{program}", file.sha256))
            });
            write_optional_list(&mut text, "files", files);
        }
        for (path, entries) in self.shared.iter().filter(|(_, entries)| !entries.is_empty()) {
            text.push_str("\n[[shared]]\n");
            write_field(&mut text, "path", path);
            write_optional_list(&mut text, "entries", entries.iter().map(shared_text));
        }
        self.dependencies.iter().for_each(|locked| write_dependency(&mut text, locked));
        text
    }

    /// Returns the files of the lock as a record.
    pub(crate) fn to_record(&self) -> OutputRecord {
        let mut record = OutputRecord::new(String::new());
        record.shared = self.shared.clone();
        for (id, item) in &self.items {
            let (source, files) = (item.source.clone(), item.files.clone());
            let item = ItemRecord { source, fingerprint: String::new(), files };
            record.items.insert(id.full_name(), item);
        }
        record
    }
}

/// A defect: a text from which to find the line, and the problem.
type Wrong = (String, String);

impl RawLock {
    fn into_lock(self) -> Result<Lock, Wrong> {
        let is_old = self.version < LOCK_VERSION;
        let mut lock = Lock { is_old, ..Lock::default() };
        for source in self.source {
            let name = source.name.clone();
            let found = source.into_locked_source()?;
            if lock.sources.insert(name.clone(), found).is_some() {
                return Err((quote_string(&name), format!("the source `{name}` is duplicated")));
            }
        }
        for item in self.item {
            let (id, found) = item.into_locked_item(is_old)?;
            if !lock.sources.contains_key(&found.source) {
                let problem =
                    format!("the {id} comes from `{}`, which is not a source", found.source);
                return Err((quote_string(&found.source), problem));
            }
            let problem = format!("the {id} is duplicated");
            let mark = quote_string(&id.name);
            if lock.items.insert(id, found).is_some() {
                return Err((mark, problem));
            }
        }
        for shared in self.shared {
            let mark = quote_string(&shared.path);
            if !is_plain_path(&shared.path) {
                return Err((mark, format!("`{}` is not a path in the project", shared.path)));
            }
            let entries: Option<Vec<SharedEntry>> =
                shared.entries.into_iter().map(RawEntry::into_shared_entry).collect();
            let entries = entries.ok_or((
                mark,
                "an entry must be a list value, a table key or a block".to_owned(),
            ))?;
            // A file without entries of ours needs no line.
            if !entries.is_empty() {
                lock.shared.insert(shared.path, entries);
            }
        }
        for dependency in self.dependency {
            lock.dependencies.push(dependency.into_dependency()?);
        }
        Ok(lock)
    }
}

impl RawSource {
    fn into_locked_source(self) -> Result<LockedSource, Wrong> {
        let mark = quote_string(&self.name);
        let place = match (self.git, self.oci, self.directory) {
            (Some(git), None, None) => {
                ManifestPlace::Git { git, reference: self.reference, subpath: self.subpath }
            }
            (None, Some(oci), None) => ManifestPlace::Oci { oci, reference: self.reference },
            (None, None, Some(directory)) => ManifestPlace::Directory(directory),
            _ => {
                return Err((
                    mark,
                    "a source must have exactly one of `git`, `oci` and `directory`".to_owned(),
                ));
            }
        };
        if matches!(place, ManifestPlace::Git { .. }) != self.commit.is_some() {
            return Err((
                mark,
                "a source with `git` must have a `commit`, and no other source may have one"
                    .to_owned(),
            ));
        }
        let is_oci = matches!(place, ManifestPlace::Oci { .. });
        if is_oci != self.digest.is_some()
            || (!is_oci && (self.signer.is_some() || self.created.is_some()))
        {
            let problem = "a source with `oci` must have a `digest`, and no other source may have a `digest` or `signer`";
            return Err((mark, problem.to_owned()));
        }
        if let Some(text) = self.digest.as_ref().filter(|text| !crate::oci::is_digest(text)) {
            return Err((text.clone(), format!("`{text}` is not a digest")));
        }
        if let Some(text) = self.signer.as_ref().filter(|text| Signer::parse(text).is_none()) {
            return Err((quote_string(text), format!("`{text}` is not a signer")));
        }
        if let Some(commit) = self.commit.as_deref().filter(|text| !crate::extract::is_commit(text))
        {
            return Err((commit.to_owned(), format!("`{commit}` is not a commit")));
        }
        let bundles = self.bundles.into_iter().map(|text| match text.split_once(' ') {
            Some((name, version)) => (name.to_owned(), Some(version.to_owned())),
            None => (text, None),
        });
        Ok(LockedSource {
            place,
            commit: self.commit.or(self.digest),
            signer: self.signer,
            created: self.created,
            bundles: bundles.collect(),
        })
    }
}

impl RawItem {
    fn into_locked_item(self, is_old: bool) -> Result<(ItemId, LockedItem), Wrong> {
        let Some(kind) = ItemKind::from_name(&self.kind) else {
            return Err((quote_string(&self.kind), format!("unknown kind `{}`", self.kind)));
        };
        if !is_sha256(&self.sha256) {
            return Err((
                quote_string(&self.sha256),
                format!("`{}` is not a SHA-256", self.sha256),
            ));
        }
        if self.capabilities.is_none() && !is_old {
            let problem = format!("the {kind} `{}` has no list of capabilities", self.name);
            return Err((quote_string(&self.name), problem));
        }
        let mut files = BTreeMap::new();
        for text in self.files {
            let (rest, program) = match text.strip_suffix(" program") {
                Some(rest) => (rest, true),
                None => (text.as_str(), false),
            };
            let known = rest.rsplit_once(' ').filter(|(_, sha256)| is_sha256(sha256));
            let Some((path, sha256)) = known else {
                return Err((text.clone(), format!("`{text}` is not a path and a SHA-256")));
            };
            // A later run removes files by these paths.
            if !is_output_path(path) {
                return Err((text.clone(), format!("`{path}` is not the path of an output")));
            }
            files.insert(path.to_owned(), FileRecord { sha256: sha256.to_owned(), program });
        }
        let item = LockedItem {
            source: self.source,
            path: self.path,
            version: self.version,
            sha256: self.sha256,
            bundles: self.bundles,
            clients: self.clients,
            capabilities: self.capabilities.unwrap_or_default(),
            files,
        };
        Ok((ItemId { kind, name: self.name }, item))
    }
}

impl RawEntry {
    fn into_shared_entry(self) -> Option<SharedEntry> {
        match self {
            RawEntry { list: Some(key), value: Some(value), .. } => {
                Some(SharedEntry::Listed { key, value })
            }
            RawEntry { table: Some(key), key: Some(name), json: Some(json), .. } => {
                Some(SharedEntry::Keyed { key, name, json })
            }
            RawEntry { block: Some(text), .. } => Some(SharedEntry::Block { text }),
            _ => None,
        }
    }
}

fn write_dependency(text: &mut String, locked: &LockedDependency) {
    text.push_str("\n[[dependency]]\n");
    write_field(text, "ecosystem", locked.id.ecosystem.as_str());
    write_field(text, "name", &locked.id.name);
    write_field(text, "version", &locked.id.version);
    write_optional_field(text, "from", Some(locked.from.as_str()).filter(|from| !from.is_empty()));
    write_field(text, "sha256", &locked.sha256);
    write_list(text, "capabilities", locked.capabilities.iter().map(|fact| quote_string(fact)));
    let files = locked.files.iter().map(|(path, sha256)| quote_string(&format!("{path} {sha256}")));
    write_list(text, "files", files);
}

fn shared_text(entry: &SharedEntry) -> String {
    match entry {
        SharedEntry::Listed { key, value } => {
            format!("{{ list = {}, value = {} }}", quote_string(key), quote_string(value))
        }
        SharedEntry::Keyed { key, name, json } => {
            let (key, name, json) = (quote_string(key), quote_string(name), quote_string(json));
            format!("{{ table = {key}, key = {name}, json = {json} }}")
        }
        SharedEntry::Block { text } => format!("{{ block = {} }}", quote_string(text)),
    }
}

fn write_field(text: &mut String, key: &str, value: &str) {
    let _ = writeln!(text, "{key} = {}", quote_string(value));
}

fn write_optional_field(text: &mut String, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        write_field(text, key, value);
    }
}

/// Writes a list with one value per line, so that two changes to it merge.
fn write_optional_list(text: &mut String, key: &str, values: impl Iterator<Item = String>) {
    let mut values = values.peekable();
    if values.peek().is_some() {
        write_list(text, key, values);
    }
}

fn write_list(text: &mut String, key: &str, values: impl Iterator<Item = String>) {
    let _ = writeln!(text, "{key} = [");
    for value in values {
        let _ = writeln!(text, "  {value},");
    }
    text.push_str("]\n");
}

fn quote_string(text: &str) -> String {
    // Most values are names, paths and digits, which need no escapes.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" -_./:@+".contains(&byte);
    if text.bytes().all(is_plain) {
        return format!("\"{text}\"");
    }
    toml_edit::Value::from(text).to_string()
}

pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests;
