//! Skills as the Skills extension of MCP describes them (SEP-2640): each file with its digest and size.
//!
//! A client compares a file that it reads with the digest that was listed. For an installed skill that is the
//! digest in the lock, so that a client refuses a file which was changed after its installation.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_engine::BriefedItem;
use brief_registry::install::ProjectPaths;
use brief_registry::lock::Lock;
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::text::percent_encoded;
use brief_syntax::{Source, limits};
use brief_system::hash::sha256;
use brief_system::{Dir, FileKind, System};
use serde::Serialize;
use serde_json::{Value as Json, json};

/// The name of a skill's main file.
const MAIN: &str = "SKILL.md";

/// A skill with its files, as a client lists it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct OfferedSkill {
    /// The URI of the main file.
    pub(super) uri: String,
    #[serde(rename = "frontmatter")]
    front_matter: Json,
    /// The files; the main file is the first.
    #[serde(rename = "resources")]
    pub(super) files: Vec<SkillFile>,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct SkillFile {
    pub(super) uri: String,
    /// The path below the skill's directory.
    #[serde(skip)]
    pub(super) below: PathBuf,
    pub(super) digest: String,
    pub(super) size: u64,
    #[serde(skip)]
    is_text: bool,
}

impl OfferedSkill {
    /// Returns the URI of the skill's directory.
    pub(super) fn directory_uri(&self) -> &str {
        self.uri.strip_suffix(MAIN).map_or(self.uri.as_str(), |uri| uri.trim_end_matches('/'))
    }
}

pub(super) struct SkillReader<'s> {
    system: &'s dyn System,
    /// The digests of installed files, by path.
    locked: BTreeMap<PathBuf, String>,
    project: PathBuf,
}

impl<'s> SkillReader<'s> {
    /// Reads the locks of the project, which is the first base, and of the user.
    pub(super) fn new(system: &'s dyn System, bases: &[PathBuf]) -> SkillReader<'s> {
        let mut locked = BTreeMap::new();
        let project = bases.first().cloned().unwrap_or_default();
        let places =
            [Some(ProjectPaths::find_enclosing(system, &project)), ProjectPaths::of_user(system)];
        for place in places.into_iter().flatten() {
            let Ok(bytes) = system.read(&place.lock_path(), limits::BUILD_RECORD_BYTES) else {
                continue;
            };
            let Ok(lock) = Lock::parse(&String::from_utf8_lossy(&bytes)) else { continue };
            for (path, file) in lock.items.into_values().flat_map(|item| item.files) {
                locked.insert(place.outputs.join(path), file.sha256);
            }
        }
        SkillReader { system, locked, project }
    }

    /// Reads the files of a skill; `None` for one that the extension cannot describe: one without a name, or
    /// with too many or too large files. Links are not followed.
    pub(super) fn read_skill(&self, item: &BriefedItem, base: &Path) -> Option<OfferedSkill> {
        if item.path.file_name() != Some(OsStr::new(MAIN)) {
            return None;
        }
        let directory = item.path.parent()?;
        let below = directory.strip_prefix(base).ok()?;
        let handle = self.system.open_dir(base).ok()?;
        let handle = if below.as_os_str().is_empty() {
            handle
        } else {
            handle.open_dir_below(below).ok()?
        };
        let mut found = FoundFiles { reader: self, directory, files: Vec::new(), bytes: 0 };
        found.add_file(handle.as_ref(), MAIN, Path::new(MAIN))?;
        let main = handle.read(OsStr::new(MAIN), limits::FILE_BYTES).ok()?;
        found.add_directory(handle.as_ref(), Path::new(""), 0)?;
        let front_matter = front_matter(&item.path, main)?;
        let prefix = self.directory_uri(base, below, front_matter["name"].as_str()?);
        let mut files = found.files;
        for file in &mut files {
            let path = file.below.to_string_lossy().replace('\\', "/");
            file.uri = format!("{prefix}/{}", percent_encoded(&path));
        }
        let uri = files.first()?.uri.clone();
        Some(OfferedSkill { uri, front_matter, files })
    }

    /// Returns the URI of a skill's directory. Its last segment is the name; the path to it keeps skills of
    /// one name apart.
    fn directory_uri(&self, base: &Path, below: &Path, name: &str) -> String {
        let whose = if base == self.project { "project" } else { "user" };
        let is_named = below.file_name() == Some(OsStr::new(name));
        let path = if is_named { below.parent().unwrap_or(below) } else { below };
        let path = percent_encoded(&path.to_string_lossy().replace('\\', "/"));
        let slash = if path.is_empty() { "" } else { "/" };
        // A name is one segment.
        let name = percent_encoded(name).replace('/', "%2F");
        format!("skill://{whose}{slash}{path}/{name}")
    }
}

/// Returns the front matter as JSON, if it is an object.
fn front_matter(path: &Path, bytes: Vec<u8>) -> Option<Json> {
    let front = FrontMatter::from_source(&Arc::new(Source::from_bytes(path, bytes)));
    let root = front.header.as_ref()?.yaml.root()?;
    serde_json::to_value(root).ok().filter(Json::is_object)
}

/// The files of a skill so far.
struct FoundFiles<'r, 's> {
    reader: &'r SkillReader<'s>,
    directory: &'r Path,
    files: Vec<SkillFile>,
    bytes: u64,
}

impl FoundFiles<'_, '_> {
    /// Adds all files of a directory; `None` when there are too many.
    fn add_directory(&mut self, handle: &dyn Dir, below: &Path, depth: usize) -> Option<()> {
        if depth > limits::WALK_DEPTH {
            return None;
        }
        let mut entries = handle.first_entries(limits::SKILL_FILES + 1).ok()?;
        entries.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        for entry in entries {
            let path = below.join(&entry.name);
            match entry.kind {
                FileKind::Directory => {
                    let inner = handle.open_dir(&entry.name).ok()?;
                    self.add_directory(inner.as_ref(), &path, depth + 1)?;
                }
                FileKind::File if path != Path::new(MAIN) => {
                    self.add_file(handle, &entry.name, &path)?;
                }
                _ => {}
            }
        }
        Some(())
    }

    fn add_file(&mut self, handle: &dyn Dir, name: impl AsRef<OsStr>, below: &Path) -> Option<()> {
        let room = limits::SKILL_BYTES - self.bytes;
        let bytes = handle.read(name.as_ref(), room).ok()?;
        self.bytes += bytes.len() as u64;
        if self.files.len() == limits::SKILL_FILES || self.bytes > limits::SKILL_BYTES {
            return None;
        }
        let locked = self.reader.locked.get(&self.directory.join(below)).cloned();
        let digest = locked.unwrap_or_else(|| sha256(&bytes));
        self.files.push(SkillFile {
            uri: String::new(),
            below: below.to_owned(),
            digest: format!("sha256:{digest}"),
            size: bytes.len() as u64,
            is_text: std::str::from_utf8(&bytes).is_ok(),
        });
        Some(())
    }
}

/// Returns the direct children of a directory of a skill, as `resources/directory/read` lists them; `None`
/// for a URI that is not a directory.
pub(super) fn list_directory(skills: &[OfferedSkill], uri: &str) -> Option<Vec<Json>> {
    let below = format!("{}/", uri.trim_end_matches('/'));
    let is_inside = |skill: &&OfferedSkill| {
        format!("{}/", skill.directory_uri()).starts_with(&below)
            || below.starts_with(&format!("{}/", skill.directory_uri()))
    };
    let mut children: BTreeMap<String, Json> = BTreeMap::new();
    for file in skills.iter().filter(is_inside).flat_map(|skill| &skill.files) {
        let Some(rest) = file.uri.strip_prefix(&below) else { continue };
        match rest.split_once('/') {
            Some((name, _)) => {
                let uri = format!("{below}{name}");
                let name = name.to_owned();
                children.entry(uri.clone()).or_insert_with(
                    || json!({"uri": uri, "name": name, "mimeType": "inode/directory"}),
                );
            }
            None => {
                let mime = mime_type(&file.below, file.is_text);
                let child =
                    json!({"uri": file.uri, "name": rest, "mimeType": mime, "size": file.size});
                children.insert(file.uri.clone(), child);
            }
        }
    }
    (!children.is_empty()).then(|| children.into_values().collect())
}

/// Returns the media type of a file by its name, as far as it matters to a client.
pub(super) fn mime_type(path: &Path, is_text: bool) -> &'static str {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "md" | "mdc" => "text/markdown",
        "json" => "application/json",
        "yaml" | "yml" => "application/yaml",
        "toml" => "application/toml",
        "html" | "htm" => "text/html",
        "csv" => "text/csv",
        "py" => "text/x-python",
        "sh" => "text/x-shellscript",
        "js" | "mjs" => "text/javascript",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "pdf" => "application/pdf",
        _ if is_text => "text/plain",
        _ => "application/octet-stream",
    }
}
