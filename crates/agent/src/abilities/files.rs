//! `fs`: files below the project's root, through open directory handles.
//!
//! No link is followed, at the end of a path or before. Names on the exclusion list (ruling G10) and the
//! inside of `.git` are hidden from tools: `.git` holds programs that run later, and credentials.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use brief_dialects::sensitive::{self, Leaf};
use brief_syntax::glob::Glob;
use brief_syntax::system::{Dir, DirEntry, FileKind, Permission, ReadError, words};
use brief_syntax::{System, limits};
use serde_json::{Value, json};

use super::{AbilityRefusal, text};

/// The limit for the names that a search looks at.
const MOST_SEEN: usize = limits::TOOL_NAMES * 10;

pub(super) struct ToolFiles {
    handle: Box<dyn Dir>,
    root: PathBuf,
}

/// An open directory of the project; `None` is the root.
type Held = Option<Box<dyn Dir>>;

/// The files that a new one may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replacing {
    /// Regular files.
    Files,
    /// None.
    Never,
}

/// A path that a tool may use: plain names only.
struct ToolPath<'p> {
    names: Vec<&'p str>,
    shown: &'p str,
}

impl ToolFiles {
    pub(super) fn open(system: &dyn System, root: &Path) -> io::Result<ToolFiles> {
        let (handle, root) = system.open_root(root)?;
        Ok(ToolFiles { handle, root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn answer(&self, call: &str, args: &[Value]) -> Result<Value, AbilityRefusal> {
        match call {
            "readText" => self.read(&file(text(args, 0, "a file")?)?),
            "writeText" => {
                let path = text(args, 0, "a file")?;
                let text = text(args, 1, "the text")?;
                self.put(path, text.as_bytes(), limits::FILE_BYTES, Replacing::Files)
            }
            "list" => {
                let path = args.first().and_then(Value::as_str).unwrap_or(".");
                self.list(&way(path)?)
            }
            "stat" => self.stat(&way(text(args, 0, "a file")?)?),
            "glob" => self.glob(text(args, 0, "a pattern")?),
            _ => Err(AbilityRefusal::Refused(format!("there is no `{call}` in 'fs'"))),
        }
    }

    fn read(&self, way: &ToolPath<'_>) -> Result<Value, AbilityRefusal> {
        let (above, name) = self.above(way)?;
        let handle = above.as_deref().unwrap_or(self.handle.as_ref());
        let bytes = handle.read(OsStr::new(name), limits::FILE_BYTES).map_err(|error| {
            let failed = || AbilityRefusal::Failed(format!("`{}`: {error}", way.shown));
            match &error {
                ReadError::NotAFile(FileKind::Link) => AbilityRefusal::Refused(format!(
                    "`{}` is a link, and no link is followed",
                    way.shown
                )),
                _ => failed(),
            }
        })?;
        let text = String::from_utf8(bytes);
        text.map(Value::String)
            .map_err(|_| AbilityRefusal::Failed(format!("`{}` is not UTF-8 text", way.shown)))
    }

    /// Writes a file of the project, and the directories above it.
    pub(super) fn put(
        &self,
        path: &str,
        bytes: &[u8],
        most: u64,
        replacing: Replacing,
    ) -> Result<Value, AbilityRefusal> {
        let way = file(path)?;
        let failed = |error: &io::Error| explain(way.shown, error);
        if bytes.len() as u64 > most {
            let message = format!("`{}`: more than {most} bytes", way.shown);
            return Err(AbilityRefusal::Refused(message));
        }
        let mut held: Held = None;
        let Some((name, above)) = way.names.split_last() else {
            return Err(AbilityRefusal::Refused("a file has a name".to_owned()));
        };
        for directory in above {
            let handle = held.as_deref().unwrap_or(self.handle.as_ref());
            let directory = OsStr::new(directory);
            let made = handle.make_dir(directory).map_err(|error| {
                match handle.status(directory).map(|status| status.kind) {
                    Ok(FileKind::Link) => through_link(way.shown),
                    _ => failed(&error),
                }
            });
            held = Some(made?);
        }
        let handle = held.as_deref().unwrap_or(self.handle.as_ref());
        let name = OsStr::new(name);
        let mut permission = Permission::Data;
        match handle.status(name).map(|status| status.kind) {
            Err(_) => {}
            Ok(FileKind::File) if replacing == Replacing::Never => {
                let message = format!("`{}` is there already, so it is not replaced", way.shown);
                return Err(AbilityRefusal::Refused(message));
            }
            Ok(FileKind::File) => {
                let before = handle.read_file(name, limits::FILE_BYTES);
                permission = before.map(|before| before.permission).unwrap_or_default();
            }
            Ok(kind) => {
                let message = format!("`{}` is {}, so it is not replaced", way.shown, kind.noun());
                return Err(AbilityRefusal::Refused(message));
            }
        }
        handle.put_file(name, bytes, permission).map_err(|error| failed(&error))?;
        Ok(Value::Null)
    }

    fn list(&self, way: &ToolPath<'_>) -> Result<Value, AbilityRefusal> {
        let held = self.below(way)?;
        let handle = held.as_deref().unwrap_or(self.handle.as_ref());
        let mut entries = handle
            .first_entries(limits::TOOL_NAMES + 1)
            .map_err(|error| explain(way.shown, &error))?;
        if entries.len() > limits::TOOL_NAMES {
            let message = format!("`{}` has more than {} names", way.shown, limits::TOOL_NAMES);
            return Err(AbilityRefusal::Refused(message));
        }
        entries.sort();
        let above = way.names.join("/");
        let shown = entries.iter().filter_map(|entry| {
            let name = entry.name.to_str()?;
            is_for_tools(&join(&above, name), entry.kind)
                .then(|| json!({"name": name, "kind": word(entry.kind)}))
        });
        Ok(shown.collect())
    }

    fn stat(&self, way: &ToolPath<'_>) -> Result<Value, AbilityRefusal> {
        if way.names.is_empty() {
            return Ok(json!({"kind": "directory", "size": 0}));
        }
        let (above, name) = match self.above(way) {
            Ok(found) => found,
            Err(AbilityRefusal::Failed(_)) => return Ok(Value::Null),
            Err(refusal) => return Err(refusal),
        };
        let handle = above.as_deref().unwrap_or(self.handle.as_ref());
        match handle.status(OsStr::new(name)) {
            Ok(status) => {
                let size = if status.kind == FileKind::File { status.size } else { 0 };
                Ok(json!({"kind": word(status.kind), "size": size}))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Value::Null),
            Err(error) => Err(explain(way.shown, &error)),
        }
    }

    fn glob(&self, pattern: &str) -> Result<Value, AbilityRefusal> {
        let glob = Glob::new(pattern.trim_start_matches("./")).map_err(|error| {
            AbilityRefusal::Refused(format!("`{pattern}` is not a valid pattern: {error}"))
        })?;
        let mut search = NameSearch { glob: &glob, found: Vec::new(), seen: 0 };
        search.descend(self.handle.as_ref(), "", 0)?;
        search.found.sort_unstable();
        Ok(json!(search.found))
    }

    /// Opens the parent directory of a path.
    fn above<'p>(&self, way: &ToolPath<'p>) -> Result<(Held, &'p str), AbilityRefusal> {
        let Some((name, above)) = way.names.split_last() else {
            return Err(AbilityRefusal::Refused("a file has a name".to_owned()));
        };
        let above = ToolPath { names: above.to_vec(), shown: way.shown };
        Ok((self.below(&above)?, name))
    }

    fn below(&self, way: &ToolPath<'_>) -> Result<Held, AbilityRefusal> {
        if way.names.is_empty() {
            return Ok(None);
        }
        let path: PathBuf = way.names.iter().collect();
        let opened = self.handle.open_dir_below(&path);
        opened.map(Some).map_err(|error| explain(way.shown, &error))
    }
}

struct NameSearch<'g> {
    glob: &'g Glob,
    found: Vec<String>,
    seen: usize,
}

impl NameSearch<'_> {
    fn descend(
        &mut self,
        handle: &dyn Dir,
        above: &str,
        depth: usize,
    ) -> Result<(), AbilityRefusal> {
        let entries = handle.first_entries(MOST_SEEN.saturating_sub(self.seen) + 1);
        let mut entries = entries.map_err(|error| explain(above, &error))?;
        self.seen += entries.len();
        if self.seen > MOST_SEEN || self.found.len() > limits::TOOL_NAMES {
            let message = format!("`{}` has to look at too many names", self.glob.as_str());
            return Err(AbilityRefusal::Refused(message));
        }
        entries.sort();
        for DirEntry { name, kind } in entries {
            let Some(path) = name.to_str().map(|name| join(above, name)) else { continue };
            if !is_for_tools(&path, kind) {
                continue;
            }
            let may_hold = kind == FileKind::Directory && depth < limits::WALK_DEPTH;
            if may_hold && self.glob.could_match_inside(&path) {
                // It may have been removed meanwhile.
                if let Ok(handle) = handle.open_dir(&name) {
                    self.descend(handle.as_ref(), &path, depth + 1)?;
                }
            }
            if kind == FileKind::File && self.glob.matches(&path) {
                self.found.push(path);
            }
        }
        Ok(())
    }
}

fn file(path: &str) -> Result<ToolPath<'_>, AbilityRefusal> {
    let way = way(path)?;
    if way.names.is_empty() || path.ends_with('/') {
        return Err(AbilityRefusal::Refused(format!("`{path}` does not name a file")));
    }
    Ok(way)
}

/// Refuses a path that leaves the project or is hidden from tools.
pub(super) fn check_path(path: &str) -> Result<(), AbilityRefusal> {
    way(path).map(drop)
}

/// Splits a path, and refuses one that leaves the project or is hidden from tools.
fn way(path: &str) -> Result<ToolPath<'_>, AbilityRefusal> {
    let refused = |why: &str| Err(AbilityRefusal::Refused(format!("`{path}` {why}")));
    if path.starts_with('/') || path.contains([':', '\\', '\0']) {
        return refused("is not relative to the project, with `/` between names");
    }
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => return refused("leaves the project"),
            name => names.push(name),
        }
    }
    if names.iter().any(|name| is_git(name)) {
        return refused("is inside `.git`, which is not for tools");
    }
    if let Some(found) = sensitive::find(&names.join("/")) {
        return refused(&format!("may hold secrets (`{}`), and is not for tools", found.pattern));
    }
    Ok(ToolPath { names, shown: path })
}

/// Returns whether some file system takes a name for `.git`: it may ignore case, final dots and invisible
/// characters.
fn is_git(name: &str) -> bool {
    let visible: String = name.chars().filter(char::is_ascii_graphic).collect();
    let name = visible.to_lowercase();
    matches!(name.trim_end_matches('.'), ".git" | "git~1")
}

fn is_for_tools(path: &str, kind: FileKind) -> bool {
    let leaf = if kind == FileKind::Directory { Leaf::Directory } else { Leaf::File };
    let name = path.rsplit('/').next().unwrap_or(path);
    !is_git(name) && sensitive::find_below("", path, leaf).is_none()
}

fn join(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") }
}

fn word(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Link => "link",
        FileKind::Other => "other",
    }
}

fn explain(path: &str, error: &io::Error) -> AbilityRefusal {
    if is_link(error) {
        return through_link(path);
    }
    AbilityRefusal::Failed(format!("`{path}`: {}", words(error)))
}

fn through_link(path: &str) -> AbilityRefusal {
    AbilityRefusal::Refused(format!("`{path}` leads through a link, and no link is followed"))
}

#[cfg(unix)]
fn is_link(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP)
}

#[cfg(not(unix))]
fn is_link(_: &io::Error) -> bool {
    false
}
