//! `fs`: files below the project's root, through open directory handles.
//!
//! No link is followed, at the end of a path or before. Names on the exclusion list (ruling G10) and the
//! inside of `.git` are hidden from tools: `.git` holds programs that run later, and credentials.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use brief_safety::sensitive::{self, Leaf};
use brief_syntax::glob::Glob;
use brief_syntax::limits;
use brief_system::{Dir, DirEntry, FileKind, Permission, ReadError, System, render_io_error};
use serde_json::{Value, json};

use super::scope::HiddenEntry;
use super::{AbilityRefusal, AbilityResult, create_failure, create_refusal, text_argument};

/// The limit for the names that a search looks at.
const MOST_SEEN: usize = limits::TOOL_NAMES * 10;

/// The limit for the depth of directories below which names are hidden from a program.
const MOST_DEPTH: usize = 256;

pub(super) struct ToolFiles {
    handle: Box<dyn Dir>,
    root: PathBuf,
}

/// A directory below the root; `None` is the root itself.
type OpenedDir = Option<Box<dyn Dir>>;

/// The files that a new one may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replacing {
    Files,
    Never,
}

/// A path that a tool may use: plain names only.
struct ToolPath<'p> {
    names: Vec<&'p str>,
    shown: &'p str,
}

impl<'p> ToolPath<'p> {
    /// Returns the last name, and the names above it.
    fn split_name(&self) -> AbilityResult<(&'p str, &[&'p str])> {
        let split = self.names.split_last().map(|(name, above)| (*name, above));
        split.ok_or_else(|| create_refusal("the path must name a file"))
    }
}

impl ToolFiles {
    pub(super) fn open(system: &dyn System, root: &Path) -> io::Result<ToolFiles> {
        let (handle, root) = system.open_root(root)?;
        Ok(ToolFiles { handle, root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn answer_call(&self, call: &str, args: &[Value]) -> AbilityResult {
        match call {
            "readText" => self.read_file(&file_path(text_argument(args, 0, "a file")?)?),
            "writeText" => {
                let path = text_argument(args, 0, "a file")?;
                let text = text_argument(args, 1, "the text")?;
                self.write_file(path, text.as_bytes(), limits::FILE_BYTES, Replacing::Files)
            }
            "list" => {
                let path = args.first().and_then(Value::as_str).unwrap_or(".");
                self.list_directory(&tool_path(path)?)
            }
            "stat" => self.stat_path(&tool_path(text_argument(args, 0, "a file")?)?),
            "glob" => self.glob_paths(text_argument(args, 0, "a pattern")?),
            _ => Err(create_refusal(format!("unknown function `host.fs.{call}`"))),
        }
    }

    fn handle<'d>(&'d self, opened: &'d OpenedDir) -> &'d dyn Dir {
        opened.as_deref().unwrap_or(self.handle.as_ref())
    }

    fn read_file(&self, target: &ToolPath<'_>) -> AbilityResult {
        let (above, name) = self.open_parent(target)?;
        let bytes =
            self.handle(&above).read(OsStr::new(name), limits::FILE_BYTES).map_err(|error| {
                match error {
                    ReadError::NotAFile(FileKind::Link) => create_refusal(format!(
                        "`{}` is a link, and tools cannot follow links",
                        target.shown
                    )),
                    error => create_failure(format!("`{}`: {error}", target.shown)),
                }
            })?;
        String::from_utf8(bytes)
            .map(Value::String)
            .map_err(|_| create_failure(format!("`{}` is not UTF-8 text", target.shown)))
    }

    /// Writes a file of the project, and the directories above it.
    pub(super) fn write_file(
        &self,
        path: &str,
        bytes: &[u8],
        most: u64,
        replacing: Replacing,
    ) -> AbilityResult {
        let target = file_path(path)?;
        if bytes.len() as u64 > most {
            return Err(create_refusal(format!("`{}` is larger than {most} bytes", target.shown)));
        }
        let mut opened: OpenedDir = None;
        let (name, above) = target.split_name()?;
        for directory in above {
            let handle = self.handle(&opened);
            let directory = OsStr::new(directory);
            let made = handle.make_dir(directory).map_err(|error| {
                match handle.status(directory).map(|status| status.kind) {
                    Ok(FileKind::Link) => through_link(target.shown),
                    _ => explain_error(target.shown, &error),
                }
            });
            opened = Some(made?);
        }
        let handle = self.handle(&opened);
        let name = OsStr::new(name);
        let mut permission = Permission::Data;
        match handle.status(name).map(|status| status.kind) {
            Err(_) => {}
            Ok(FileKind::File) if replacing == Replacing::Never => {
                return Err(create_refusal(format!(
                    "not replaced: `{}` already exists",
                    target.shown
                )));
            }
            Ok(FileKind::File) => {
                let before = handle.read_file(name, limits::FILE_BYTES);
                permission = before.map(|before| before.permission).unwrap_or_default();
            }
            Ok(kind) => {
                return Err(create_refusal(format!(
                    "not replaced: `{}` is {}",
                    target.shown,
                    kind.noun()
                )));
            }
        }
        handle
            .put_file(name, bytes, permission)
            .map_err(|error| explain_error(target.shown, &error))?;
        Ok(Value::Null)
    }

    fn list_directory(&self, target: &ToolPath<'_>) -> AbilityResult {
        let opened = self.open_below(&target.names, target.shown)?;
        let mut entries = self
            .handle(&opened)
            .first_entries(limits::TOOL_NAMES + 1)
            .map_err(|error| explain_error(target.shown, &error))?;
        if entries.len() > limits::TOOL_NAMES {
            return Err(create_refusal(format!(
                "`{}` has more than {} names",
                target.shown,
                limits::TOOL_NAMES
            )));
        }
        entries.sort();
        let above = target.names.join("/");
        let shown = entries.iter().filter_map(|entry| {
            let name = entry.name.to_str()?;
            is_for_tools(&join_path(&above, name), entry.kind)
                .then(|| json!({"name": name, "kind": kind_name(entry.kind)}))
        });
        Ok(shown.collect())
    }

    fn stat_path(&self, target: &ToolPath<'_>) -> AbilityResult {
        if target.names.is_empty() {
            return Ok(json!({"kind": "directory", "size": 0}));
        }
        let (above, name) = match self.open_parent(target) {
            Ok(found) => found,
            Err(AbilityRefusal::Failed(_)) => return Ok(Value::Null),
            Err(refusal) => return Err(refusal),
        };
        match self.handle(&above).status(OsStr::new(name)) {
            Ok(status) => {
                let size = if status.kind == FileKind::File { status.size } else { 0 };
                Ok(json!({"kind": kind_name(status.kind), "size": size}))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Value::Null),
            Err(error) => Err(explain_error(target.shown, &error)),
        }
    }

    fn glob_paths(&self, pattern: &str) -> AbilityResult {
        let glob = Glob::new(pattern.trim_start_matches("./")).map_err(|error| {
            create_refusal(format!("`{pattern}` is not a valid pattern: {error}"))
        })?;
        let mut search = NameSearch { glob: &glob, found: Vec::new(), seen: 0 };
        search.search_directory(self.handle.as_ref(), "", 0)?;
        search.found.sort_unstable();
        Ok(json!(search.found))
    }

    /// Opens the parent directory of a path, and returns the last name.
    fn open_parent<'p>(&self, target: &ToolPath<'p>) -> AbilityResult<(OpenedDir, &'p str)> {
        let (name, above) = target.split_name()?;
        Ok((self.open_below(above, target.shown)?, name))
    }

    fn open_below(&self, names: &[&str], shown: &str) -> AbilityResult<OpenedDir> {
        if names.is_empty() {
            return Ok(None);
        }
        let opened = self.handle.open_dir_below(&names.iter().collect::<PathBuf>());
        opened.map(Some).map_err(|error| explain_error(shown, &error))
    }
}

struct NameSearch<'g> {
    glob: &'g Glob,
    found: Vec<String>,
    seen: usize,
}

impl NameSearch<'_> {
    fn search_directory(
        &mut self,
        handle: &dyn Dir,
        above: &str,
        depth: usize,
    ) -> AbilityResult<()> {
        let entries = handle.first_entries(MOST_SEEN.saturating_sub(self.seen) + 1);
        let mut entries = entries.map_err(|error| explain_error(above, &error))?;
        self.seen += entries.len();
        if self.seen > MOST_SEEN || self.found.len() > limits::TOOL_NAMES {
            return Err(create_refusal(format!(
                "`{}` matches against too many names",
                self.glob.as_str()
            )));
        }
        entries.sort();
        for DirEntry { name, kind } in entries {
            let Some(path) = name.to_str().map(|name| join_path(above, name)) else { continue };
            if !is_for_tools(&path, kind) {
                continue;
            }
            let may_hold = kind == FileKind::Directory && depth < limits::WALK_DEPTH;
            if may_hold && self.glob.could_match_inside(&path) {
                // It may have been removed meanwhile.
                if let Ok(handle) = handle.open_dir(&name) {
                    self.search_directory(handle.as_ref(), &path, depth + 1)?;
                }
            }
            if kind == FileKind::File && self.glob.matches(&path) {
                self.found.push(path);
            }
        }
        Ok(())
    }
}

fn file_path(path: &str) -> AbilityResult<ToolPath<'_>> {
    let target = tool_path(path)?;
    if target.names.is_empty() || path.ends_with('/') {
        return Err(create_refusal(format!("`{path}` does not name a file")));
    }
    Ok(target)
}

/// Refuses a path that leaves the project or is hidden from tools.
pub(super) fn check_path(path: &str) -> AbilityResult<()> {
    tool_path(path).map(drop)
}

/// Splits a path, and refuses one that leaves the project or is hidden from tools.
fn tool_path(path: &str) -> AbilityResult<ToolPath<'_>> {
    let unfit = |why: &str| Err(create_refusal(format!("`{path}` {why}")));
    if path.starts_with('/') || path.contains([':', '\\', '\0']) {
        return unfit("must be relative to the project, with `/` between names");
    }
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => return unfit("is outside the project"),
            name => names.push(name),
        }
    }
    if names.iter().any(|name| is_git(name)) {
        return unfit("is inside `.git`, which tools cannot access");
    }
    if let Some(found) = sensitive::find_sensitive_pattern(&names.join("/")) {
        return unfit(&format!(
            "may hold secrets (`{}`), so tools cannot access it",
            found.pattern
        ));
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

/// Returns the files and directories below a directory of the project that are hidden from tools, without what lies inside of them.
pub(super) fn hidden_below(root: &dyn Dir, directory: &str) -> Result<Vec<HiddenEntry>, String> {
    let ToolPath { names, .. } = tool_path(directory).map_err(|refusal| refusal.to_string())?;
    let mut search = HiddenSearch { found: Vec::new(), seen: 0 };
    let above = names.join("/");
    if names.is_empty() {
        search.search_directory(root, "", 0)?;
    } else {
        // A link that stays in the project is an operand that the program follows.
        let opened = root.open_dir_below(Path::new(&above));
        let opened =
            opened.map_err(|error| format!("`{directory}`: {}", render_io_error(&error)))?;
        search.search_directory(opened.as_ref(), &above, 0)?;
    }
    Ok(search.found)
}

struct HiddenSearch {
    found: Vec<HiddenEntry>,
    seen: usize,
}

impl HiddenSearch {
    fn search_directory(
        &mut self,
        handle: &dyn Dir,
        above: &str,
        depth: usize,
    ) -> Result<(), String> {
        let entries = handle.first_entries(limits::WALK_ENTRIES.saturating_sub(self.seen) + 1);
        let entries = entries.map_err(|error| format!("`{above}`: {}", render_io_error(&error)))?;
        self.seen += entries.len();
        if self.seen > limits::WALK_ENTRIES || depth > MOST_DEPTH {
            return Err(
                "the project has too many files to check which of them hold secrets".to_owned()
            );
        }
        for DirEntry { name, kind } in entries {
            let shown = join_path(above, &name.to_string_lossy());
            let is_directory = kind == FileKind::Directory;
            if !is_for_tools(&shown, kind) {
                if name.to_str().is_none() {
                    return Err(format!("`{shown}` may hold secrets, and its name is not UTF-8"));
                }
                self.found.push(HiddenEntry { path: shown, is_directory });
            } else if is_directory {
                match handle.open_dir(&name) {
                    Ok(handle) => self.search_directory(handle.as_ref(), &shown, depth + 1)?,
                    // It was removed meanwhile, or the program cannot open it either.
                    Err(error) if is_closed(&error) => {}
                    Err(error) => return Err(format!("`{shown}`: {}", render_io_error(&error))),
                }
            }
        }
        Ok(())
    }
}

fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

fn is_for_tools(path: &str, kind: FileKind) -> bool {
    let leaf = if kind == FileKind::Directory { Leaf::Directory } else { Leaf::File };
    let name = path.rsplit('/').next().unwrap_or(path);
    !is_git(name) && sensitive::find_below("", path, leaf).is_none()
}

fn join_path(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") }
}

fn kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Link => "link",
        FileKind::Other => "other",
    }
}

fn explain_error(path: &str, error: &io::Error) -> AbilityRefusal {
    if is_link(error) {
        return through_link(path);
    }
    create_failure(format!("`{path}`: {}", render_io_error(error)))
}

fn through_link(path: &str) -> AbilityRefusal {
    create_refusal(format!("`{path}` passes through a link, and tools cannot follow links"))
}

#[cfg(unix)]
fn is_link(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP)
}

#[cfg(not(unix))]
fn is_link(_: &io::Error) -> bool {
    false
}
