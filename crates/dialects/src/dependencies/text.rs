//! The texts that a package ships, and what they can do.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::front_matter::FrontMatter;
use brief_syntax::text::fold_line;
use brief_syntax::yaml::Value;
use brief_syntax::{Source, limits};
use brief_system::hash::{Hasher, sha256};
use brief_system::{Dir, FileKind, Permission, ReadError, System};

use super::model::{Package, ShippedFile, ShippedKind};
use crate::{TextDescription, describe_file};
use brief_safety::capability::{CapabilityFinding, Inventory};
use brief_safety::sensitive::Leaf;
use brief_safety::{capability, sensitive};

/// The longest description of a text that has no field for it, in characters.
const DESCRIPTION: usize = 200;

/// The directories of a skill that are looked at, one below the other.
const SKILL_DEPTH: usize = 8;

/// A text that a package ships.
#[derive(Debug, Clone)]
pub struct ShippedText {
    pub file: ShippedFile,
    /// Its path, absolute.
    pub path: PathBuf,
    /// Its text; empty if it could not be read.
    pub source: Arc<Source>,
    /// The offset of the text after the front matter.
    pub body_start: usize,
    /// Its name: that of the skill or of the file.
    pub name: String,
    /// Its description, or its first line.
    pub description: String,
    /// The SHA-256 of the file.
    pub sha256: String,
    /// The reason why it cannot be listed.
    pub problem: Option<String>,
}

impl ShippedText {
    /// Returns the text without the front matter.
    pub fn body(&self) -> &str {
        self.source.text().get(self.body_start..).unwrap_or_default()
    }
}

/// The guidance of a package, with everything that it can do.
#[derive(Debug)]
pub struct PackageContent {
    /// The texts, in the order of the files.
    pub texts: Vec<ShippedText>,
    /// The findings, the most severe first.
    pub findings: Vec<CapabilityFinding>,
    /// The SHA-256 of all texts, and of the files beside them.
    pub sha256: String,
}

impl PackageContent {
    /// Reads the guidance of a package. A file with the name of a secret is never opened.
    pub fn read(system: &dyn System, package: &Package) -> PackageContent {
        let texts = read_texts(system, package);
        let mut content = PackageContent { texts, findings: Vec::new(), sha256: String::new() };
        let mut hash = Hasher::default();
        let mut piece = |path: &str, sha256: &str| {
            hash.update(format!("{path}\0{sha256}\n").as_bytes());
        };
        for text in &content.texts {
            let slashed = &text.file.slashed;
            let mut inventory = Inventory::new(text.file.kind.item_kind());
            match &text.problem {
                Some(problem) => inventory.add_unreadable(slashed, &text.path, problem),
                None => {
                    let bytes = text.source.bytes_from_line(0).to_vec();
                    inventory.scan_file(slashed, &text.path, bytes, Permission::Data);
                }
            }
            piece(slashed, &text.sha256);
            if text.file.kind == ShippedKind::Skill
                && let Some((directory, _)) = slashed.rsplit_once('/')
                && let Some(handle) = open_package_directory(system, package, directory)
            {
                let mut files = SkillFiles {
                    inventory: &mut inventory,
                    piece: &mut piece,
                    top: package.directory.clone(),
                    left: limits::SKILL_FILES,
                };
                files.read_directory(handle.as_ref(), directory, true, SKILL_DEPTH);
            }
            content.findings.extend(inventory.finish());
        }
        content.findings.sort_by_key(|found| found.capability);
        content.sha256 = hash.finish();
        content
    }

    /// Returns the capabilities as `brief.lock` records them.
    pub fn capabilities(&self) -> Vec<String> {
        capability::render_facts(&self.findings)
    }
}

/// Opens a directory of a package, which is never left.
fn open_package_directory(
    system: &dyn System,
    package: &Package,
    slashed: &str,
) -> Option<Box<dyn Dir>> {
    let path = package.directory.join(slashed);
    let below = path.strip_prefix(&package.base).ok()?;
    system.open_dir_below(&package.base, below).ok()
}

/// Reads the texts of a package, in the order of its files.
pub(super) fn read_texts(system: &dyn System, package: &Package) -> Vec<ShippedText> {
    let Some(handle) = open_package_directory(system, package, "") else { return Vec::new() };
    let texts = package.files.iter().filter_map(|file| read_text(handle.as_ref(), package, file));
    texts.collect()
}

/// Reads one text; `None` for one that says of itself that it is not to be used.
pub(super) fn read_text(
    handle: &dyn Dir,
    package: &Package,
    file: &ShippedFile,
) -> Option<ShippedText> {
    let path = package.directory.join(&file.slashed);
    let name = file.slashed.rsplit('/').next().unwrap_or(&file.slashed).to_owned();
    let (sha256, source, problem) =
        match handle.read_below(Path::new(&file.slashed), limits::FILE_BYTES) {
            Ok(bytes) => (sha256(&bytes), Source::from_bytes(&path, bytes), None),
            Err(ReadError::Missing) => return None,
            Err(error) => (sha256(b""), Source::without_text(&path), Some(error.to_string())),
        };
    let (file, source) = (file.clone(), Arc::new(source));
    let (body_start, description) = (0, String::new());
    let text = ShippedText { file, path, source, body_start, name, description, sha256, problem };
    if text.problem.is_some() { Some(text) } else { describe_text(text) }
}

/// Finds the name and the description of a text.
fn describe_text(mut text: ShippedText) -> Option<ShippedText> {
    match text.file.kind {
        ShippedKind::Skill => {
            let front = FrontMatter::from_source(&text.source);
            text.body_start = front.body_start;
            let said = |field: &str| match front.get(field)?.value() {
                Value::Scalar(said) => Some(said.trim().to_owned()).filter(|said| !said.is_empty()),
                _ => None,
            };
            let directory = text.file.slashed.rsplit('/').nth(1).unwrap_or_default();
            text.name = said("name").unwrap_or_else(|| directory.to_owned());
            text.description = said("description").unwrap_or_default();
        }
        ShippedKind::Context | ShippedKind::AgentsYaml => {
            let described = describe_file(&text.file.slashed, &text.source).unwrap_or_default();
            let TextDescription { is_disabled, body_start, description } = described;
            if is_disabled {
                return None;
            }
            (text.body_start, text.description) = (body_start, description);
            if text.file.kind == ShippedKind::Context {
                text.name = text.file.slashed.rsplit(".context/").next()?.to_owned();
            }
        }
        ShippedKind::AgentsMd | ShippedKind::LlmsTxt => {
            text.body_start = FrontMatter::from_source(&text.source).body_start;
        }
    }
    if text.description.trim().is_empty() {
        text.description = first_words(text.file.kind, text.body());
    }
    text.name = fold_line(&text.name, DESCRIPTION);
    text.description = fold_line(&text.description, DESCRIPTION);
    Some(text)
}

/// Returns the words that say what a text is about: its summary or its first line.
fn first_words(kind: ShippedKind, text: &str) -> String {
    // A comment at the start, such as a license, says nothing about the text.
    let mut text = text.trim_start();
    while let Some((_, rest)) = text.strip_prefix("<!--").and_then(|rest| rest.split_once("-->")) {
        text = rest.trim_start();
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    // `llms.txt` has its summary in a quotation.
    let summary = lines.next().and_then(|line| line.strip_prefix('>'));
    let line = match (kind, summary) {
        (ShippedKind::LlmsTxt, Some(summary)) => summary,
        _ => first.trim_start_matches('#'),
    };
    line.trim().to_owned()
}

/// The files that a skill brings beside its text.
struct SkillFiles<'b> {
    inventory: &'b mut Inventory,
    piece: &'b mut dyn FnMut(&str, &str),
    top: PathBuf,
    left: usize,
}

impl SkillFiles<'_> {
    fn read_directory(&mut self, directory: &dyn Dir, slashed: &str, is_top: bool, depth: usize) {
        let mut entries = directory.first_entries(limits::SKILL_FILES).unwrap_or_default();
        entries.sort_unstable();
        for entry in entries {
            let Some(name) = entry.name.to_str() else { continue };
            let below = format!("{slashed}/{name}");
            if is_top && name == "SKILL.md" {
                continue;
            }
            match entry.kind {
                FileKind::Directory if depth > 0 => {
                    if let Ok(child) = directory.open_dir(&entry.name) {
                        self.read_directory(child.as_ref(), &below, false, depth - 1);
                    }
                }
                FileKind::File if self.left > 0 => {
                    self.left -= 1;
                    self.read_file(directory, &entry.name, &below);
                }
                FileKind::File | FileKind::Directory => {
                    self.add_unread(&below, "is beyond the limit for one skill");
                }
                FileKind::Link | FileKind::Other => self.add_unread(&below, entry.kind.noun()),
            }
        }
    }

    fn read_file(&mut self, directory: &dyn Dir, name: &OsStr, below: &str) {
        if sensitive::find_below("", below, Leaf::File).is_some() {
            return self.add_unread(below, "has the name of a secret, so it is not read");
        }
        match directory.read_file(name, limits::SUPPORT_FILE_BYTES) {
            Ok(content) => {
                (self.piece)(below, &sha256(&content.bytes));
                let path = self.top.join(below);
                self.inventory.scan_file(below, &path, content.bytes, content.permission);
            }
            Err(error) => self.add_unread(below, &error.to_string()),
        }
    }

    fn add_unread(&mut self, below: &str, why: &str) {
        (self.piece)(below, why);
        self.inventory.add_unreadable(below, &self.top.join(below), why);
    }
}
