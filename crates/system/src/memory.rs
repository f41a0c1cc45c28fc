//! A system in memory, for tests and for buffers that are not on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::{
    Access, Dir, DirEntry, DirPlace, FileContent, FileKind, Files, Machine, NodeStamp, Permission,
    Processes, ReadError, Resolved, STAGED, StagedFile, Stamp,
};
use crate::paths::path_names;

/// The number of links that one path may go through, as on Linux.
const LINKS: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
enum MemoryNode {
    File(Vec<u8>),
    Directory,
    Link(PathBuf),
    Fifo,
}

#[derive(Debug, Default)]
struct State {
    nodes: BTreeMap<PathBuf, MemoryNode>,
    /// The files that may be executed.
    programs: BTreeSet<PathBuf>,
    env: BTreeMap<String, OsString>,
    current_dir: PathBuf,
    machine_directory: Option<PathBuf>,
    now: Duration,
}

/// A whole system in memory: absolute `/`-paths, files, links, FIFOs, environment and a clock that
/// stands still.
#[derive(Debug, Clone, Default)]
pub struct MemorySystem {
    state: Arc<Mutex<State>>,
}

impl MemorySystem {
    /// Returns an empty system whose current directory is `current_dir`.
    pub fn new(current_dir: &str) -> Self {
        let mut state = State { current_dir: PathBuf::from(current_dir), ..State::default() };
        state.make_directories(Path::new(current_dir));
        MemorySystem { state: Arc::new(Mutex::new(state)) }
    }

    /// Adds a file, and the directories above it.
    #[must_use]
    pub fn with_file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.with_node(path, MemoryNode::File(content.as_ref().to_vec()))
    }

    /// Adds a file that may be executed.
    #[must_use]
    pub fn with_program(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let (mut state, absolute) = self.state_at(Path::new(path));
        state.programs.insert(absolute);
        drop(state);
        self.with_file(path, content)
    }

    /// Adds a directory.
    #[must_use]
    pub fn with_dir(self, path: &str) -> Self {
        self.with_node(path, MemoryNode::Directory)
    }

    /// Adds a symbolic link.
    #[must_use]
    pub fn with_link(self, path: &str, target: &str) -> Self {
        self.with_node(path, MemoryNode::Link(PathBuf::from(target)))
    }

    /// Adds a FIFO.
    #[must_use]
    pub fn with_fifo(self, path: &str) -> Self {
        self.with_node(path, MemoryNode::Fifo)
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn with_env(self, name: &str, value: &str) -> Self {
        self.lock_state().env.insert(name.to_owned(), value.into());
        self
    }

    /// Sets the directory for settings of the whole machine.
    #[must_use]
    pub fn with_machine_directory(self, path: &str) -> Self {
        self.lock_state().machine_directory = Some(PathBuf::from(path));
        self
    }

    /// Moves the clock forward.
    pub fn advance_clock(&self, by: Duration) {
        self.lock_state().now += by;
    }

    /// Moves the clock backward, as far as it goes.
    pub fn turn_back(&self, by: Duration) {
        let mut state = self.lock_state();
        state.now = state.now.saturating_sub(by);
    }

    fn with_node(self, path: &str, node: MemoryNode) -> Self {
        let (mut state, path) = self.state_at(Path::new(path));
        if let Some(parent) = path.parent() {
            state.make_directories(parent);
        }
        state.nodes.insert(path, node);
        drop(state);
        self
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state, and the absolute form of a path.
    fn state_at(&self, path: &Path) -> (MutexGuard<'_, State>, PathBuf) {
        let state = self.lock_state();
        let path = state.current_dir.join(path);
        (state, path)
    }
}

impl State {
    fn make_directories(&mut self, path: &Path) {
        for directory in path.ancestors() {
            self.nodes.entry(directory.to_owned()).or_insert(MemoryNode::Directory);
        }
    }

    fn node(&self, path: &Path) -> io::Result<&MemoryNode> {
        self.nodes.get(path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        Ok(match self.node(path)? {
            MemoryNode::File(_) => FileKind::File,
            MemoryNode::Directory => FileKind::Directory,
            MemoryNode::Link(_) => FileKind::Link,
            MemoryNode::Fifo => FileKind::Other,
        })
    }

    fn resolve_path(&self, path: &Path) -> io::Result<PathBuf> {
        let mut links = 0;
        let mut pending: Vec<OsString> = path_names(&self.current_dir.join(path));
        pending.reverse();
        let mut resolved = PathBuf::from("/");
        while let Some(name) = pending.pop() {
            if name == ".." {
                resolved.pop();
                continue;
            }
            let next = resolved.join(&name);
            match self.node(&next)? {
                MemoryNode::Link(target) => {
                    links += 1;
                    if links > LINKS {
                        return Err(io::Error::other("too many links"));
                    }
                    if target.is_absolute() {
                        resolved = PathBuf::from("/");
                    }
                    pending.extend(path_names(target).into_iter().rev());
                }
                MemoryNode::Directory => resolved = next,
                _ if pending.is_empty() => resolved = next,
                _ => return Err(io::ErrorKind::NotADirectory.into()),
            }
        }
        Ok(resolved)
    }

    /// Returns the state of a node. Nothing has a time here, so that its content stands for it.
    fn stamp(&self, path: &Path) -> io::Result<NodeStamp> {
        let mut hasher = DefaultHasher::new();
        let (mode, size) = match self.node(path)? {
            MemoryNode::File(content) => {
                content.hash(&mut hasher);
                (u32::from(self.programs.contains(path)), content.len())
            }
            MemoryNode::Directory => {
                let names = self.nodes.keys().filter(|below| below.parent() == Some(path));
                names.for_each(|below| below.hash(&mut hasher));
                (2, 0)
            }
            MemoryNode::Link(target) => {
                target.hash(&mut hasher);
                (3, 0)
            }
            MemoryNode::Fifo => (4, 0),
        };
        let (number, size) = ((0, hasher.finish()), size as u64);
        Ok(NodeStamp { mode, owner: (0, 0), number, size, changed: Duration::ZERO })
    }

    fn read_file(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        match self.node(path)? {
            MemoryNode::File(bytes) if bytes.len() as u64 > limit => {
                Err(ReadError::TooLarge { limit })
            }
            MemoryNode::File(bytes) => Ok(bytes.clone()),
            _ => Err(ReadError::NotAFile(self.kind(path)?)),
        }
    }
}

struct MemoryDir {
    system: MemorySystem,
    path: PathBuf,
}

/// A file that is not in its place yet.
struct MemoryStaged {
    system: MemorySystem,
    path: PathBuf,
}

impl io::Write for MemoryStaged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.system.append(&self.path, bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl StagedFile for MemoryStaged {
    fn sync_content(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Dir for MemoryDir {
    fn open_dir(&self, name: &OsStr) -> io::Result<Box<dyn Dir>> {
        let path = self.path.join(name);
        match self.system.lock_state().kind(&path)? {
            FileKind::Directory => Ok(Box::new(MemoryDir { system: self.system.clone(), path })),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn read(&self, name: &OsStr, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.system.lock_state().read_file(&self.path.join(name), limit)
    }

    fn read_file(&self, name: &OsStr, limit: u64) -> Result<FileContent, ReadError> {
        let path = self.path.join(name);
        let state = self.system.lock_state();
        let is_program = state.programs.contains(&path);
        let permission = if is_program { Permission::Program } else { Permission::Data };
        state.read_file(&path, limit).map(|bytes| FileContent { bytes, permission })
    }

    fn make_dir(&self, name: &OsStr) -> io::Result<Box<dyn Dir>> {
        let path = self.path.join(name);
        self.system.lock_state().nodes.entry(path).or_insert(MemoryNode::Directory);
        self.open_dir(name)
    }

    fn stage_file(&self, access: Access) -> io::Result<Box<dyn StagedFile>> {
        let (system, path) = (self.system.clone(), self.path.join(STAGED));
        {
            let mut state = system.lock_state();
            match access {
                Access::Program => state.programs.insert(path.clone()),
                Access::Data | Access::Private => state.programs.remove(&path),
            };
            state.nodes.insert(path.clone(), MemoryNode::File(Vec::new()));
        }
        Ok(Box::new(MemoryStaged { system, path }))
    }

    fn take_file(&self, from: &dyn Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
        let Some(DirPlace::Path(from)) = from.dir_place() else { return super::read_only() };
        let (from, to) = (from.join(name), self.path.join(target));
        let mut state = self.system.lock_state();
        if matches!(state.nodes.get(&to), Some(MemoryNode::Directory)) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let node = state.nodes.remove(&from).ok_or(io::ErrorKind::NotFound)?;
        if state.programs.remove(&from) {
            state.programs.insert(to.clone());
        } else {
            state.programs.remove(&to);
        }
        state.nodes.insert(to, node);
        Ok(())
    }

    fn take_new_file(&self, from: &dyn Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
        if self.system.lock_state().nodes.contains_key(&self.path.join(target)) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.take_file(from, name, target)
    }

    fn dir_place(&self) -> Option<DirPlace<'_>> {
        Some(DirPlace::Path(&self.path))
    }

    fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        self.system.remove_file(&self.path.join(name))
    }

    fn remove_empty_dir(&self, name: &OsStr) -> io::Result<()> {
        self.system.remove_empty_dir(&self.path.join(name))
    }

    fn first_entries(&self, limit: usize) -> io::Result<Vec<DirEntry>> {
        let state = self.system.lock_state();
        let children = state.nodes.keys().filter(|path| path.parent() == Some(&self.path));
        children
            .filter_map(|path| path.file_name().map(|name| (path, name)))
            .take(limit)
            .map(|(path, name)| Ok(DirEntry { name: name.to_owned(), kind: state.kind(path)? }))
            .collect()
    }
}

impl Files for MemorySystem {
    fn resolve(&self, path: &Path) -> io::Result<Resolved> {
        let state = self.lock_state();
        let path = state.resolve_path(path)?;
        let kind = state.kind(&path)?;
        Ok(Resolved { path, kind })
    }

    fn open_dir(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
        let Resolved { path, kind } = self.resolve(path)?;
        match kind {
            FileKind::Directory => Ok(Box::new(MemoryDir { system: self.clone(), path })),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let path = self.resolve(path)?.path;
        self.lock_state().read_file(&path, limit)
    }

    fn is_executable(&self, path: &Path) -> io::Result<bool> {
        let path = self.resolve(path)?.path;
        Ok(self.lock_state().programs.contains(&path))
    }

    fn modified_time(&self, path: &Path) -> io::Result<SystemTime> {
        self.resolve(path).map(|_| SystemTime::UNIX_EPOCH)
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        let state = self.lock_state();
        let own = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => state.resolve_path(parent)?.join(name),
            _ => state.resolve_path(path)?,
        };
        let is_link = matches!(state.node(&own)?, MemoryNode::Link(_));
        let target = if is_link { state.resolve_path(path).ok() } else { None };
        let target = target.map(|target| state.stamp(&target)).transpose()?;
        Ok(Stamp { own: state.stamp(&own)?, target })
    }

    fn create_private_dir(&self, path: &Path) -> io::Result<()> {
        self.create_dir(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let (mut state, path) = self.state_at(path);
        state.make_directories(&path);
        Ok(())
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let (mut state, path) = self.state_at(path);
        // As on disk, a file needs its directory.
        if path.parent().is_some_and(|directory| !state.nodes.contains_key(directory)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        match state.nodes.entry(path).or_insert_with(|| MemoryNode::File(Vec::new())) {
            MemoryNode::File(content) => {
                content.extend_from_slice(bytes);
                Ok(())
            }
            _ => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn create_staged_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let (mut state, path) = self.state_at(path);
        if state.nodes.contains_key(&path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.nodes.insert(path, MemoryNode::File(bytes.to_vec()));
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let (mut state, path) = self.state_at(path);
        state.nodes.remove(&path).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn remove_empty_dir(&self, path: &Path) -> io::Result<()> {
        let (mut state, path) = self.state_at(path);
        if state.nodes.keys().any(|other| other.parent() == Some(&path)) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        state.nodes.remove(&path).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Processes for MemorySystem {}

impl Machine for MemorySystem {
    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(self.lock_state().current_dir.clone())
    }

    fn env(&self, name: &str) -> Option<OsString> {
        self.lock_state().env.get(name).cloned().filter(|value| !value.is_empty())
    }

    fn machine_directory(&self) -> Option<PathBuf> {
        self.lock_state().machine_directory.clone()
    }

    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.lock_state().now
    }
}
