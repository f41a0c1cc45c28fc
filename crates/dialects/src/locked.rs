//! The files of each item in a `brief.lock`.
//!
//! Every tool call asks for them, so the form that `brief sync` writes is read line by line. A lock
//! in any other form goes through the TOML parser, with the same result. The crate `registry` reads
//! and checks the whole lock.

use std::ops::Range;
use std::str::Lines;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml_edit::de::Deserializer;
use toml_edit::{Document, Item};

use crate::dependencies::{Ecosystem, LockedDependency, PackageId};
use crate::portable::ItemKind;

/// The version of new locks. From this version on, every item has a list of capabilities.
pub const LOCK_VERSION: i64 = 2;

/// The oldest supported version of a lock.
const OLDEST_LOCK: i64 = 1;

/// An item of a lock and its written files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedFiles {
    pub kind: ItemKind,
    pub name: String,
    /// The clients of the item, where they share copies.
    pub clients: Vec<String>,
    /// The paths below the lock's directory, with `/`.
    pub files: Vec<String>,
}

/// A lock that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LockProblem {
    /// A newer program wrote it.
    #[error("has version {found}, but this version of brief supports {LOCK_VERSION}")]
    Version {
        /// The version of the lock.
        found: i64,
    },
    /// The file is not a valid lock.
    #[error("line {line}: {problem}")]
    Invalid {
        /// The line, from 1.
        line: usize,
        problem: String,
    },
}

/// The part of a lock that questions need.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LockedContents {
    /// The items with their files, in the order of the lock.
    pub items: Vec<LockedFiles>,
    /// The packages that the project has chosen.
    pub dependencies: Vec<LockedDependency>,
}

/// Reads the items of a lock, in its order, and the packages that the project has chosen.
pub fn locked_contents(text: &str) -> Result<LockedContents, LockProblem> {
    let items = match by_lines(text) {
        Some(items) => items,
        None => by_parser(text)?,
    };
    // Few projects choose packages, and the others pay no more than this.
    let has_chosen = text.contains("[[dependency]]");
    let dependencies = if has_chosen { parse_dependencies(text)? } else { Vec::new() };
    Ok(LockedContents { items, dependencies })
}

#[derive(Deserialize)]
struct ChosenText {
    #[serde(default)]
    dependency: Vec<DependencyText>,
}

/// A chosen package in the text of a lock.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DependencyText {
    ecosystem: String,
    name: String,
    version: String,
    #[serde(default)]
    from: String,
    sha256: String,
    capabilities: Vec<String>,
    files: Vec<String>,
}

impl DependencyText {
    /// Checks a chosen package. An error is a text to find the line by, and the problem.
    pub fn into_dependency(self) -> Result<LockedDependency, (String, String)> {
        let DependencyText { ecosystem, name, version, from, sha256, capabilities, files } = self;
        let Some(ecosystem) = Ecosystem::from_name(&ecosystem) else {
            let problem = format!("unknown package kind `{ecosystem}`");
            return Err((ecosystem, problem));
        };
        let split = |entry: String| match entry.rsplit_once(' ') {
            Some((path, sha256)) => Ok((path.to_owned(), sha256.to_owned())),
            None => Err((entry.clone(), format!("`{entry}` is not a path and a SHA-256"))),
        };
        let files = files.into_iter().map(split).collect::<Result<_, _>>()?;
        let id = PackageId { ecosystem, name, version };
        Ok(LockedDependency { id, from, sha256, capabilities, files })
    }
}

fn parse_dependencies(text: &str) -> Result<Vec<LockedDependency>, LockProblem> {
    let chosen =
        read_lock::<ChosenText>(text)?.dependency.into_iter().map(DependencyText::into_dependency);
    let chosen: Result<_, _> = chosen.collect();
    chosen.map_err(|(mark, problem): (String, String)| LockProblem::Invalid {
        line: line_with(text, &mark),
        problem,
    })
}

fn line_with(text: &str, mark: &str) -> usize {
    text.lines().position(|line| line.contains(mark)).unwrap_or(0) + 1
}

/// Reads the form that `brief sync` writes; `None` for any other form, valid or not.
fn by_lines(text: &str) -> Option<Vec<LockedFiles>> {
    let mut items: Vec<LockedFiles> = Vec::new();
    let (mut is_item, mut has_version) = (false, false);
    let (mut kind, mut name, mut clients) = (None, None, Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        match line {
            "" => {}
            "version = 1" | "version = 2" if !has_version => has_version = true,
            "[[item]]" => (is_item, kind, name, clients) = (true, None, None, Vec::new()),
            "[[source]]" | "[[shared]]" | "[[dependency]]" => is_item = false,
            "clients = [" if is_item => {
                parse_list(&mut lines, |text| clients.push(text.to_owned()))?;
            }
            "files = [" if is_item => {
                let mut files = Vec::new();
                parse_list(&mut lines, |text| files.push(path_of(text).to_owned()))?;
                let clients = std::mem::take(&mut clients);
                items.push(LockedFiles { kind: kind?, name: name.take()?, clients, files });
            }
            _ if line.starts_with('#') => {}
            _ => {
                let (key, value) = line.split_once(" = ")?;
                if value == "[" {
                    parse_list(&mut lines, |_| {})?;
                    continue;
                }
                let value = parse_plain_string(value)?;
                match key {
                    "kind" if is_item => kind = Some(ItemKind::from_name(value)?),
                    "name" if is_item => name = Some(value.to_owned()),
                    "clients" | "files" => return None,
                    _ => {}
                }
            }
        }
    }
    has_version.then_some(items)
}

/// Reads a list with one string or table per line, up to its closing bracket.
fn parse_list<'t>(lines: &mut Lines<'t>, mut take: impl FnMut(&'t str)) -> Option<()> {
    for line in lines.by_ref() {
        if line == "]" {
            return Some(());
        }
        let value = line.strip_prefix("  ")?.strip_suffix(',')?;
        match parse_plain_string(value) {
            Some(text) => take(text),
            // Tables occur only in lists that this reader skips.
            None if value.starts_with("{ ") && !value.contains("\"\"\"") => {}
            None => return None,
        }
    }
    None
}

/// Returns a quoted string without escapes.
fn parse_plain_string(value: &str) -> Option<&str> {
    let text = value.strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains(['"', '\\'])).then_some(text)
}

/// Returns the path of an entry; the SHA-256 follows it, and `program` for an executable file.
fn path_of(entry: &str) -> &str {
    let entry = entry.strip_suffix(" program").unwrap_or(entry);
    entry.rsplit_once(' ').map_or(entry, |(path, _)| path)
}

/// Reads a lock in any form of TOML, as the fields of `T`. A lock of another version has its own error, with any
/// content.
pub fn read_lock<T: DeserializeOwned>(text: &str) -> Result<T, LockProblem> {
    let at = |line: usize, problem: &str| {
        let problem = problem.replace('\n', ", ");
        LockProblem::Invalid { line: line + 1, problem }
    };
    if let Some(line) = text.lines().position(|line| line.starts_with("<<<<<<<")) {
        return Err(at(line, "has an unresolved merge conflict"));
    }
    let line_of = |span: Option<Range<usize>>| {
        let before = span.and_then(|span| text.get(..span.start)).unwrap_or_default();
        before.matches('\n').count()
    };
    let document =
        Document::parse(text).map_err(|error| at(line_of(error.span()), error.message()))?;
    match document.get("version").map(Item::as_integer) {
        Some(Some(OLDEST_LOCK..=LOCK_VERSION)) => {}
        Some(Some(found)) if found > LOCK_VERSION => return Err(LockProblem::Version { found }),
        Some(_) => return Err(at(line_of_version(text), "has an unknown `version`")),
        None => return Err(at(0, "has no `version`")),
    }
    T::deserialize(Deserializer::from(document))
        .map_err(|error| at(line_of(error.span()), error.message()))
}

fn line_of_version(text: &str) -> usize {
    text.lines().position(|line| line.starts_with("version")).unwrap_or_default()
}

#[derive(Deserialize)]
struct LockText {
    #[serde(default)]
    item: Vec<ItemText>,
}

#[derive(Deserialize)]
struct ItemText {
    kind: String,
    name: String,
    #[serde(default)]
    clients: Vec<String>,
    #[serde(default)]
    files: Vec<String>,
}

fn by_parser(text: &str) -> Result<Vec<LockedFiles>, LockProblem> {
    let mut items = Vec::new();
    for ItemText { kind, name, clients, files } in read_lock::<LockText>(text)?.item {
        let Some(kind) = ItemKind::from_name(&kind) else {
            let (line, problem) = (line_with(text, &kind), format!("unknown kind `{kind}`"));
            return Err(LockProblem::Invalid { line, problem });
        };
        let files: Vec<String> = files.iter().map(|entry| path_of(entry).to_owned()).collect();
        if !files.is_empty() {
            items.push(LockedFiles { kind, name, clients, files });
        }
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "# A comment.\nversion = 2\n\n[[source]]\nname = \"acme\"\nbundles = [\n  \"base 1.0.0\",\n]\n\n\
                        [[item]]\nkind = \"skill\"\nname = \"pdf\"\nsource = \"acme\"\ncapabilities = [\n]\nfiles = [\n  \
                        \".claude/skills/pdf/SKILL.md 0a\",\n  \".claude/skills/pdf/run it.py 0b program\",\n]\n\n\
                        [[item]]\nkind = \"rule\"\nname = \"go\"\nclients = [\n  \"claude\",\n  \"copilot\",\n]\ncapabilities = [\n  \"commands git log --format='%h'\",\n  \"hosts api.example.com\",\n]\nfiles = [\n  \".claude/rules/go.md 0c\",\n]\n\n\
                        [[shared]]\npath = \"opencode.json\"\nentries = [\n  { list = \"instructions\", value = \"x\" },\n]\n";

    fn expected() -> Vec<LockedFiles> {
        let item = |kind, name: &str, clients: &[&str], files: &[&str]| LockedFiles {
            kind,
            name: name.to_owned(),
            clients: clients.iter().map(|&client| client.to_owned()).collect(),
            files: files.iter().map(|&path| path.to_owned()).collect(),
        };
        vec![
            item(
                ItemKind::Skill,
                "pdf",
                &[],
                &[".claude/skills/pdf/SKILL.md", ".claude/skills/pdf/run it.py"],
            ),
            item(ItemKind::Rule, "go", &["claude", "copilot"], &[".claude/rules/go.md"]),
        ]
    }

    /// U11: a list on one line, or in any other form of TOML, gives the same files.
    #[test]
    fn every_form_of_a_lock_says_the_same() {
        assert_eq!(by_lines(LOCK), Some(expected()), "our own form needs no parser");
        assert_eq!(by_parser(LOCK), Ok(expected()));
        let one_line = "files = [\".claude/rules/go.md 0c\"]\n";
        let joined = LOCK.replace("files = [\n  \".claude/rules/go.md 0c\",\n]\n", one_line);
        assert_ne!(joined, LOCK);
        assert_eq!(locked_contents(&joined).map(|lock| lock.items), Ok(expected()));
        for (from, to) in [
            ("\nfiles = [\n  ", "\nfiles = [\n    "),
            ("name = \"go\"", "name = 'go'"),
            ("name = \"go\"", "\"name\" = \"g\\u006f\""),
            ("kind = \"rule\"\nname = \"go\"\n", "name = \"go\"\nkind = \"rule\" # one\n"),
            ("\n", "\r\n"),
        ] {
            assert_eq!(
                locked_contents(&LOCK.replace(from, to)).map(|lock| lock.items),
                Ok(expected()),
                "{to}"
            );
        }
    }

    /// U11: a lock of a newer version has its own error, with any content.
    #[test]
    fn a_lock_from_a_newer_version_is_a_problem_of_its_own() {
        let newer = LOCK.replace("version = 2", "version = 3");
        assert_eq!(locked_contents(&newer), Err(LockProblem::Version { found: 3 }));
    }

    #[test]
    fn a_lock_of_an_older_version_says_the_same() {
        let older = LOCK.replace("version = 2", "version = 1");
        assert_eq!(by_lines(&older), Some(expected()));
        assert_eq!(by_parser(&older), Ok(expected()));
    }

    #[test]
    fn a_file_that_is_no_lock_is_a_problem_with_a_line() {
        for (text, line) in [
            ("", 1),
            ("files = [", 1),
            ("version = 1\n[[item]]\nname = \"x\"\nfiles = [\n  \"a.md 1\",\n]\n", 2),
            ("version = 1\n[[item]]\nname = \"x\"\nkind = \"y\"\n", 4),
            ("version = 1\n<<<<<<< x\n", 2),
            ("version = 1\nitem = 3\n", 2),
        ] {
            match locked_contents(text) {
                Err(LockProblem::Invalid { line: found, .. }) => assert_eq!(found, line, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
