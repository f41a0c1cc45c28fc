//! `brief.lock`: the resolved sources and the files that were written.
//!
//! The text is sorted, with one fact per line, and free of times, machine names and program versions. So two
//! branches that change different things merge without a conflict, and a run without changes writes nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use brief_dialects::dependencies::LockedDependency;
use brief_dialects::portable::output::SharedEntry;
use brief_dialects::portable::{
    DependencyText, ItemId, ItemKind, LOCK_VERSION, LockProblem, read_lock,
};
use serde::Deserialize;

use crate::manifest::ManifestPlace;
use crate::outputs::plan::key;
use crate::outputs::record::{FileRecord, ItemRecord, OutputRecord, is_output_path, is_plain_path};

/// The name of the file.
pub const FILE_NAME: &str = "brief.lock";

const HEADER: &str = "\
# What `brief sync` has resolved and written. Keep it in version control; do not edit it by hand.
";

/// A parsed `brief.lock`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lock {
    /// The sources by their names.
    pub sources: BTreeMap<String, LockedSource>,
    /// The installed items.
    pub items: BTreeMap<ItemId, LockedItem>,
    /// Our entries in files of the user, by path.
    pub shared: BTreeMap<String, Vec<SharedEntry>>,
    /// The chosen packages, sorted by name and directory.
    pub dependencies: Vec<LockedDependency>,
    /// True for a lock of an older version, whose items may lack their capabilities. Such a lock is never
    /// written.
    pub is_old: bool,
}

/// A resolved source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedSource {
    /// The address, in the words of the manifest.
    pub place: ManifestPlace,
    /// The commit; only for a repository.
    pub commit: Option<String>,
    /// The installed bundles of the source, with their versions.
    pub bundles: BTreeMap<String, Option<String>>,
}

/// An installed item.
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
    pub files: BTreeMap<String, LockedFile>,
}

/// A written file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedFile {
    /// The SHA-256 of the content.
    pub sha256: String,
    /// True for an executable file.
    pub program: bool,
}

/// An invalid lock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct LockError {
    /// The line, from one.
    pub line: usize,
    /// The defect.
    pub problem: String,
}

impl LockError {
    /// Creates the error for a written file, at the line of its path.
    pub(crate) fn at_file(text: &str, path: &str, problem: String) -> LockError {
        let quoted = quoted(&format!("{path} "));
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
    directory: Option<String>,
    commit: Option<String>,
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
    /// Parses a lock.
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
        raw.check().map_err(|(mark, problem)| LockError { line: line_with(&mark), problem })
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
            field(&mut text, "name", name);
            match &source.place {
                ManifestPlace::Git { git, reference, subpath } => {
                    field(&mut text, "git", git);
                    optional(&mut text, "ref", reference.as_deref());
                    optional(&mut text, "subpath", subpath.as_deref());
                }
                ManifestPlace::Directory(path) => field(&mut text, "directory", path),
            }
            optional(&mut text, "commit", source.commit.as_deref());
            let bundles = source.bundles.iter().map(|(name, version)| match version {
                Some(version) => format!("{name} {version}"),
                None => name.clone(),
            });
            lines(&mut text, "bundles", bundles.map(|bundle| quoted(&bundle)));
        }
        for (id, item) in &self.items {
            text.push_str("\n[[item]]\n");
            field(&mut text, "kind", id.kind.as_str());
            field(&mut text, "name", &id.name);
            field(&mut text, "source", &item.source);
            field(&mut text, "path", &item.path);
            optional(&mut text, "version", item.version.as_deref());
            field(&mut text, "sha256", &item.sha256);
            lines(&mut text, "bundles", item.bundles.iter().map(|name| quoted(name)));
            lines(&mut text, "clients", item.clients.iter().map(|name| quoted(name)));
            // An empty list is written too, so that the first capability adds one line.
            list(&mut text, "capabilities", item.capabilities.iter().map(|fact| quoted(fact)));
            let files = item.files.iter().map(|(path, file)| {
                let program = if file.program { " program" } else { "" };
                quoted(&format!("{path} {}{program}", file.sha256))
            });
            lines(&mut text, "files", files);
        }
        for (path, entries) in self.shared.iter().filter(|(_, entries)| !entries.is_empty()) {
            text.push_str("\n[[shared]]\n");
            field(&mut text, "path", path);
            lines(&mut text, "entries", entries.iter().map(shared_text));
        }
        self.dependencies.iter().for_each(|locked| write_dependency(&mut text, locked));
        text
    }

    /// Returns the files of the lock as a record.
    pub(crate) fn to_record(&self) -> OutputRecord {
        let mut record = OutputRecord::new(String::new());
        record.shared = self.shared.clone();
        for (id, item) in &self.items {
            let file = |file: &LockedFile| FileRecord {
                sha256: file.sha256.clone(),
                program: file.program,
            };
            let files = item.files.iter().map(|(path, one)| (path.clone(), file(one)));
            let one = ItemRecord {
                source: item.source.clone(),
                fingerprint: String::new(),
                files: files.collect(),
            };
            record.items.insert(key(id), one);
        }
        record
    }
}

/// A defect: a text from which to find the line, and the problem.
type Wrong = (String, String);

impl RawLock {
    fn check(self) -> Result<Lock, Wrong> {
        let is_old = self.version < LOCK_VERSION;
        let mut lock = Lock { is_old, ..Lock::default() };
        for source in self.source {
            let name = source.name.clone();
            let found = source.check()?;
            if lock.sources.insert(name.clone(), found).is_some() {
                return Err((quoted(&name), format!("the source `{name}` is duplicated")));
            }
        }
        for item in self.item {
            let (id, found) = item.check(is_old)?;
            if !lock.sources.contains_key(&found.source) {
                let problem =
                    format!("the {id} comes from `{}`, which is not a source", found.source);
                return Err((quoted(&found.source), problem));
            }
            let problem = format!("the {id} is duplicated");
            let mark = quoted(&id.name);
            if lock.items.insert(id, found).is_some() {
                return Err((mark, problem));
            }
        }
        for shared in self.shared {
            let mark = quoted(&shared.path);
            if !is_plain_path(&shared.path) {
                return Err((mark, format!("`{}` is not a path in the project", shared.path)));
            }
            let entries: Option<Vec<SharedEntry>> =
                shared.entries.into_iter().map(RawEntry::check).collect();
            let entries = entries.ok_or((
                mark,
                "an entry is neither a value of a list, a key of a table nor a block".to_owned(),
            ))?;
            // A file without entries of ours needs no line.
            if !entries.is_empty() {
                lock.shared.insert(shared.path, entries);
            }
        }
        for dependency in self.dependency {
            lock.dependencies.push(dependency.check()?);
        }
        Ok(lock)
    }
}

impl RawSource {
    fn check(self) -> Result<LockedSource, Wrong> {
        let mark = quoted(&self.name);
        let place = match (self.git, self.directory) {
            (Some(git), None) => {
                ManifestPlace::Git { git, reference: self.reference, subpath: self.subpath }
            }
            (None, Some(directory)) => ManifestPlace::Directory(directory),
            _ => return Err((mark, "a source has `git` or `directory`".to_owned())),
        };
        if matches!(place, ManifestPlace::Git { .. }) != self.commit.is_some() {
            return Err((mark, "a repository has a `commit`, a directory has none".to_owned()));
        }
        if let Some(commit) = self.commit.as_deref().filter(|text| !crate::extract::is_commit(text))
        {
            return Err((commit.to_owned(), format!("`{commit}` is not a commit")));
        }
        let bundles = self.bundles.into_iter().map(|text| match text.split_once(' ') {
            Some((name, version)) => (name.to_owned(), Some(version.to_owned())),
            None => (text, None),
        });
        Ok(LockedSource { place, commit: self.commit, bundles: bundles.collect() })
    }
}

impl RawItem {
    fn check(self, is_old: bool) -> Result<(ItemId, LockedItem), Wrong> {
        let Some(kind) = ItemKind::from_name(&self.kind) else {
            return Err((quoted(&self.kind), format!("there is no kind `{}`", self.kind)));
        };
        if !is_sha256(&self.sha256) {
            return Err((quoted(&self.sha256), format!("`{}` is not a SHA-256", self.sha256)));
        }
        if self.capabilities.is_none() && !is_old {
            let problem = format!("the {kind} `{}` has no list of capabilities", self.name);
            return Err((quoted(&self.name), problem));
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
            files.insert(path.to_owned(), LockedFile { sha256: sha256.to_owned(), program });
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
    fn check(self) -> Option<SharedEntry> {
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
    field(text, "ecosystem", locked.id.ecosystem.as_str());
    field(text, "name", &locked.id.name);
    field(text, "version", &locked.id.version);
    optional(text, "from", Some(locked.from.as_str()).filter(|from| !from.is_empty()));
    field(text, "sha256", &locked.sha256);
    list(text, "capabilities", locked.capabilities.iter().map(|fact| quoted(fact)));
    let files = locked.files.iter().map(|(path, sha256)| quoted(&format!("{path} {sha256}")));
    list(text, "files", files);
}

fn shared_text(entry: &SharedEntry) -> String {
    match entry {
        SharedEntry::Listed { key, value } => {
            format!("{{ list = {}, value = {} }}", quoted(key), quoted(value))
        }
        SharedEntry::Keyed { key, name, json } => {
            let (key, name, json) = (quoted(key), quoted(name), quoted(json));
            format!("{{ table = {key}, key = {name}, json = {json} }}")
        }
        SharedEntry::Block { text } => format!("{{ block = {} }}", quoted(text)),
    }
}

fn field(text: &mut String, key: &str, value: &str) {
    let _ = writeln!(text, "{key} = {}", quoted(value));
}

fn optional(text: &mut String, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        field(text, key, value);
    }
}

/// Writes a list with one value per line, so that two changes to it merge.
fn lines(text: &mut String, key: &str, values: impl Iterator<Item = String>) {
    let mut values = values.peekable();
    if values.peek().is_some() {
        list(text, key, values);
    }
}

fn list(text: &mut String, key: &str, values: impl Iterator<Item = String>) {
    let _ = writeln!(text, "{key} = [");
    for value in values {
        let _ = writeln!(text, "  {value},");
    }
    text.push_str("]\n");
}

fn quoted(text: &str) -> String {
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
mod tests {
    use brief_dialects::dependencies::{Ecosystem, PackageId};

    use super::*;

    #[test]
    fn texts_are_quoted_as_the_format_wants_it() {
        let plain: String = (0..=127_u8)
            .map(char::from)
            .filter(|c| " -_./:@+".contains(*c) || c.is_ascii_alphanumeric())
            .collect();
        for text in
            ["", " ", "a", "skills/a b", "1", "true", &plain, "\"", "'", "\\", "\n", "é", "\u{7f}"]
        {
            assert_eq!(quoted(text), toml_edit::Value::from(text).to_string(), "{text:?}");
        }
    }

    fn sample() -> Lock {
        let sha = |letter: char| letter.to_string().repeat(64);
        let place = ManifestPlace::Git {
            git: "acme/guidance".to_owned(),
            reference: Some("v1".to_owned()),
            subpath: None,
        };
        let file = |letter, program| LockedFile { sha256: sha(letter), program };
        let item = LockedItem {
            source: "guidance".to_owned(),
            path: "skills/a".to_owned(),
            version: Some("1.0.0".to_owned()),
            sha256: sha('a'),
            bundles: vec!["base".to_owned()],
            clients: vec!["claude".to_owned(), "copilot".to_owned()],
            capabilities: vec!["commands echo 'x'".to_owned(), "hosts é.example".to_owned()],
            files: BTreeMap::from([
                (".claude/skills/a/SKILL.md".to_owned(), file('b', false)),
                (".claude/skills/a/with space \"x\".sh".to_owned(), file('c', true)),
            ]),
        };
        let source = LockedSource {
            place,
            commit: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
            bundles: BTreeMap::from([("base".to_owned(), Some("1.2.0".to_owned()))]),
        };
        let local = LockedSource {
            place: ManifestPlace::Directory("../local".to_owned()),
            commit: None,
            bundles: BTreeMap::new(),
        };
        let entries = vec![
            SharedEntry::Listed { key: "instructions".to_owned(), value: "x/**".to_owned() },
            SharedEntry::Block { text: "@AGENTS.md\nsecond".to_owned() },
            SharedEntry::Keyed {
                key: "mcpServers".to_owned(),
                name: "files".to_owned(),
                json: "{\"command\":\"x\"}".to_owned(),
            },
        ];
        Lock {
            sources: BTreeMap::from([("guidance".to_owned(), source), ("local".to_owned(), local)]),
            items: BTreeMap::from([(ItemId { kind: ItemKind::Skill, name: "a".to_owned() }, item)]),
            shared: BTreeMap::from([("CLAUDE.md".to_owned(), entries)]),
            dependencies: vec![LockedDependency {
                id: PackageId {
                    ecosystem: Ecosystem::Npm,
                    name: "@acme/ui".to_owned(),
                    version: "2.1.0".to_owned(),
                },
                from: "packages/web".to_owned(),
                sha256: sha('d'),
                capabilities: vec!["hosts ui.example".to_owned()],
                files: vec![("skills/a b/SKILL.md".to_owned(), sha('e'))],
            }],
            is_old: false,
        }
    }

    #[test]
    fn what_was_written_is_read_again() {
        let text = sample().to_text();
        assert_eq!(Lock::parse(&text).unwrap(), sample(), "{text}");
        assert!(text.lines().all(|line| line.len() < 200), "{text}");
    }

    /// X14: a shared file without entries adds nothing, and the rewritten lock can be read.
    #[test]
    fn x14_a_shared_file_without_entries_can_be_rewritten() {
        for entries in ["entries = []\n", ""] {
            let text = format!("version = 2\n\n[[shared]]\npath = \"CLAUDE.md\"\n{entries}");
            let lock = Lock::parse(&text).unwrap();
            assert_eq!(Lock::parse(&lock.to_text()).unwrap(), lock);
        }
        let mut lock = sample();
        lock.shared.insert("AGENTS.md".to_owned(), Vec::new());
        assert_eq!(Lock::parse(&lock.to_text()).unwrap(), sample());
    }

    #[test]
    fn a_lock_that_was_edited_is_refused_with_its_line() {
        let text = sample().to_text();
        let cases = [
            ("version = 2", "version = 9", "upgrade"),
            ("version = 2", "version = 0", "upgrade"),
            ("kind = \"skill\"", "kind = \"skil\"", "no kind `skil`"),
            (".claude/skills/a/SKILL.md", "../../etc/passwd", "not the path of an output"),
            (".claude/skills/a/SKILL.md", "src/main.rs", "not the path of an output"),
            ("0123456789abcdef0123456789abcdef01234567", "--upload-pack", "not a commit"),
            ("source = \"guidance\"", "source = \"other\"", "which is not a source"),
            ("path = \"CLAUDE.md\"", "path = \"../CLAUDE.md\"", "not a path in the project"),
            ("[[item]]", "[[items]]", "unknown field"),
            ("\"npm\"", "\"nmp\"", "no kind of package `nmp`"),
        ];
        for (from, to, words) in cases {
            let edited = text.replace(from, to);
            let error = Lock::parse(&edited).unwrap_err();
            assert!(error.problem.contains(words), "{to}: {error}");
            let line = edited.lines().position(|line| line.contains(to)).unwrap() + 1;
            assert_eq!(error.line, line, "{to}: {error}\n{edited}");
        }
        let list = text.find("capabilities = [").unwrap();
        let end = list + text[list..].find("]\n").unwrap() + 2;
        let stripped = format!("{}{}", &text[..list], &text[end..]);
        let error = Lock::parse(&stripped).unwrap_err();
        assert!(error.problem.contains("no list of capabilities"), "{error}");
        let line = stripped.lines().position(|line| line == "name = \"a\"").unwrap() + 1;
        assert_eq!(error.line, line, "{stripped}");
        let old = Lock::parse(&stripped.replace("version = 2", "version = 1")).unwrap();
        assert!(old.is_old);
        let merged = text.replace("[[item]]", "<<<<<<< ours\n[[item]]");
        assert!(Lock::parse(&merged).unwrap_err().problem.contains("merge"));
    }
}
