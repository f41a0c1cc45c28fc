//! A tree of files that is not on disk: all names at once, a content on request.
//!
//! The names are one text and an array of places in it, sorted, so that a tree of a hundred thousand
//! files costs a few allocations and a directory is a range of the array. Nothing can be written.
//! What was read is remembered: it is all that an answer can depend on.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::listing::{Listing, TreeFile, TreeFileKind};
use super::{
    Dir, DirEntry, FileContent, FileKind, Files, Machine, Permission, Processes, ReadError,
    Resolved,
};
use crate::hash::sha256;
use crate::paths::path_names;

/// The number of links that one path may go through, as on Linux.
const LINKS: usize = 40;

/// The contents of a tree.
pub trait TreeContents: Send + Sync {
    /// Reads a file, at most `limit` bytes of it.
    fn read_file(&self, file: &TreeFile<'_>, limit: u64) -> Result<Vec<u8>, ReadError>;

    /// Returns where a link leads: relative to its directory, or absolute.
    fn link_target(&self, link: &TreeFile<'_>) -> io::Result<PathBuf>;

    /// Returns whether a file may be started.
    fn permission(&self, file: &TreeFile<'_>) -> Permission {
        match file.kind {
            TreeFileKind::Program => Permission::Program,
            TreeFileKind::File | TreeFileKind::Link => Permission::Data,
        }
    }
}

/// The contents of a tree without files.
struct NoContents;

impl TreeContents for NoContents {
    fn read_file(&self, _: &TreeFile<'_>, _: u64) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::Missing)
    }

    fn link_target(&self, _: &TreeFile<'_>) -> io::Result<PathBuf> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// The target of a name in a tree.
#[derive(Debug, Clone)]
enum TreeNode {
    File(usize),
    Directory(TreeRange),
}

/// A directory: the files whose paths agree in the first `prefix` bytes.
#[derive(Debug, Clone)]
struct TreeRange {
    range: Range<usize>,
    prefix: usize,
}

/// A file whose content, or a link whose target, an answer may depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenFile {
    /// The file, absolute.
    pub path: PathBuf,
    /// The SHA-256 of what was read; `None` when it could not be read.
    pub digest: Option<String>,
    /// True if a link leads to it, so that it may count elsewhere, too.
    pub is_linked: bool,
}

#[derive(Debug, Default)]
struct TreeReads {
    digests: BTreeMap<usize, Option<String>>,
    /// The files that links have led to.
    linked: Vec<Range<usize>>,
}

struct SharedTree {
    mount: PathBuf,
    listing: Listing,
    contents: Box<dyn TreeContents>,
    env: BTreeMap<String, OsString>,
    record: Mutex<TreeReads>,
}

/// A system whose only files are those of one tree.
pub struct TreeSystem {
    shared: Arc<SharedTree>,
}

impl TreeSystem {
    /// Puts a tree at `mount`, an absolute path without links.
    pub fn new(
        mount: impl Into<PathBuf>,
        listing: Listing,
        contents: Box<dyn TreeContents>,
        env: BTreeMap<String, OsString>,
    ) -> TreeSystem {
        let (mount, listing) = (mount.into(), listing.into_sorted());
        let record = Mutex::default();
        TreeSystem { shared: Arc::new(SharedTree { mount, listing, contents, env, record }) }
    }

    /// Puts an empty tree at `mount`.
    pub fn empty(mount: impl Into<PathBuf>) -> TreeSystem {
        TreeSystem::new(mount, Listing::default(), Box::new(NoContents), BTreeMap::new())
    }

    /// Returns how many files there are.
    pub fn file_count(&self) -> usize {
        self.shared.listing.len()
    }

    /// Returns the files below a directory, absolute, `limit` at most: each with the object that has its content, where
    /// that is known.
    pub fn files_below(&self, directory: &Path, limit: usize) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let shared = &self.shared;
        let Ok(Some(TreeNode::Directory(TreeRange { range, .. }))) = shared.find_node(directory)
        else {
            return Vec::new();
        };
        let file = |index: usize| {
            let TreeFile { path, object, .. } = shared.listing.tree_file(index);
            let object = (!object.is_empty()).then(|| object.to_vec());
            (shared.mount.join(name_from(path)), object)
        };
        range.take(limit).map(file).collect()
    }

    /// Returns what was read so far, by path.
    pub fn seen_files(&self) -> Vec<SeenFile> {
        let shared = &self.shared;
        let record = shared.lock_record();
        let seen = record.digests.iter().map(|(&index, digest)| SeenFile {
            path: shared.mount.join(name_from(shared.listing.path(index))),
            digest: digest.clone(),
            is_linked: record.linked.iter().any(|linked| linked.contains(&index)),
        });
        seen.collect()
    }
}

impl SharedTree {
    fn lock_record(&self) -> MutexGuard<'_, TreeReads> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn top_range(&self) -> TreeRange {
        TreeRange { range: 0..self.listing.len(), prefix: 0 }
    }

    fn find_child(&self, directory: &TreeRange, name: &OsStr) -> Option<TreeNode> {
        let (name, TreeRange { range, prefix }) = (name.as_encoded_bytes(), directory);
        if let Some(index) = self.listing.find_exact(range, *prefix, name) {
            return Some(TreeNode::File(index));
        }
        let range = self.listing.range_below(range, *prefix, name);
        let prefix = prefix + name.len() + 1;
        (!range.is_empty()).then_some(TreeNode::Directory(TreeRange { range, prefix }))
    }

    fn kind(&self, index: usize) -> FileKind {
        match self.listing.kind(index) {
            TreeFileKind::File | TreeFileKind::Program => FileKind::File,
            TreeFileKind::Link => FileKind::Link,
        }
    }

    /// Returns what is at an absolute path without links; what lies above the tree is a directory
    /// with nothing else in it.
    fn find_node(&self, path: &Path) -> io::Result<Option<TreeNode>> {
        if path != self.mount && self.mount.starts_with(path) {
            return Ok(None);
        }
        let below = path.strip_prefix(&self.mount).map_err(|_| io::ErrorKind::NotFound)?;
        let mut node = TreeNode::Directory(self.top_range());
        for name in below {
            let TreeNode::Directory(directory) = &node else {
                return Err(io::ErrorKind::NotADirectory.into());
            };
            node = self.find_child(directory, name).ok_or(io::ErrorKind::NotFound)?;
        }
        Ok(Some(node))
    }

    fn resolve_path(&self, path: &Path) -> io::Result<(PathBuf, Option<TreeNode>)> {
        let mut links = Vec::new();
        let found = self.follow_links(path, &mut links);
        if !links.is_empty() {
            self.remember_links(&links, found.as_ref().ok());
        }
        found
    }

    /// Follows the links in a path, each of which is added to `links` with where it leads.
    fn follow_links(
        &self,
        path: &Path,
        links: &mut Vec<(usize, PathBuf)>,
    ) -> io::Result<(PathBuf, Option<TreeNode>)> {
        let mut pending = path_names(&self.mount.join(path));
        pending.reverse();
        let mut resolved = PathBuf::from("/");
        let mut node = self.find_node(&resolved)?;
        while let Some(name) = pending.pop() {
            if name == ".." {
                resolved.pop();
                node = self.find_node(&resolved)?;
                continue;
            }
            let next = resolved.join(&name);
            let found = match &node {
                Some(TreeNode::Directory(directory)) => {
                    Some(self.find_child(directory, &name).ok_or(io::ErrorKind::NotFound)?)
                }
                Some(TreeNode::File(_)) => return Err(io::ErrorKind::NotADirectory.into()),
                None if links.is_empty() => self.find_node(&next)?,
                // A tree does not tell what lies beside it.
                None => self.find_node(&next).map_err(|_| {
                    io::Error::other("is a symbolic link that points outside the repository")
                })?,
            };
            if let Some(TreeNode::File(index)) = found
                && self.kind(index) == FileKind::Link
            {
                if links.len() == LINKS {
                    return Err(io::Error::other("too many links"));
                }
                let target = self.contents.link_target(&self.listing.tree_file(index))?;
                if target.is_absolute() {
                    resolved = PathBuf::from("/");
                    node = self.find_node(&resolved)?;
                }
                pending.extend(path_names(&target).into_iter().rev());
                links.push((index, target));
                continue;
            }
            (resolved, node) = (next, found);
        }
        Ok((resolved, node))
    }

    fn remember_links(
        &self,
        links: &[(usize, PathBuf)],
        found: Option<&(PathBuf, Option<TreeNode>)>,
    ) {
        let mut record = self.lock_record();
        for (link, target) in links {
            // Where it leads in the end is the same however it was written.
            let target = found.map_or(target, |(resolved, _)| resolved);
            let digest = sha256(target.as_os_str().as_encoded_bytes());
            record.digests.insert(*link, Some(digest));
        }
        let linked = match found {
            Some((_, Some(TreeNode::File(index)))) => *index..index + 1,
            Some((_, Some(TreeNode::Directory(directory)))) => directory.range.clone(),
            _ => return,
        };
        if !record.linked.contains(&linked) {
            record.linked.push(linked);
        }
    }

    fn read_node(&self, node: &TreeNode, limit: u64) -> Result<Vec<u8>, ReadError> {
        let index = match *node {
            TreeNode::Directory(_) => return Err(ReadError::NotAFile(FileKind::Directory)),
            TreeNode::File(index) => index,
        };
        if self.kind(index) == FileKind::Link {
            return Err(ReadError::NotAFile(FileKind::Link));
        }
        let content = self.contents.read_file(&self.listing.tree_file(index), limit);
        let digest = content.as_ref().ok().map(|bytes| sha256(bytes));
        self.lock_record().digests.insert(index, digest);
        content
    }

    fn permission(&self, index: usize) -> Permission {
        self.contents.permission(&self.listing.tree_file(index))
    }
}

#[cfg(unix)]
fn name_from(bytes: &[u8]) -> Cow<'_, OsStr> {
    use std::os::unix::ffi::OsStrExt;

    Cow::Borrowed(OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn name_from(bytes: &[u8]) -> Cow<'_, OsStr> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => Cow::Borrowed(OsStr::new(text)),
        Cow::Owned(text) => Cow::Owned(text.into()),
    }
}

struct TreeDir {
    shared: Arc<SharedTree>,
    directory: TreeRange,
}

impl TreeDir {
    fn find_child(&self, name: &OsStr) -> io::Result<TreeNode> {
        self.shared.find_child(&self.directory, name).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Dir for TreeDir {
    fn open_dir(&self, name: &OsStr) -> io::Result<Box<dyn Dir>> {
        match self.find_child(name)? {
            TreeNode::Directory(directory) => {
                Ok(Box::new(TreeDir { shared: Arc::clone(&self.shared), directory }))
            }
            TreeNode::File(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn read(&self, name: &OsStr, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.shared.read_node(&self.find_child(name)?, limit)
    }

    fn read_file(&self, name: &OsStr, limit: u64) -> Result<FileContent, ReadError> {
        let node = self.find_child(name)?;
        let bytes = self.shared.read_node(&node, limit)?;
        let permission = match node {
            TreeNode::File(index) => self.shared.permission(index),
            TreeNode::Directory(_) => Permission::Data,
        };
        Ok(FileContent { bytes, permission })
    }

    fn first_entries(&self, limit: usize) -> io::Result<Vec<DirEntry>> {
        let (listing, TreeRange { range, prefix }) = (&self.shared.listing, &self.directory);
        let mut entries = Vec::new();
        let mut index = range.start;
        while index < range.end && entries.len() < limit {
            let rest = &listing.path(index)[*prefix..];
            let (name, kind) = match memchr::memchr(b'/', rest) {
                None => {
                    let kind = self.shared.kind(index);
                    index += 1;
                    (rest, kind)
                }
                Some(end) => {
                    index = listing.range_below(&(index..range.end), *prefix, &rest[..end]).end;
                    // A tree that was made to confuse has a file and a directory of one name.
                    if listing.find_exact(range, *prefix, &rest[..end]).is_some() {
                        continue;
                    }
                    (&rest[..end], FileKind::Directory)
                }
            };
            entries.push(DirEntry { name: name_from(name).into_owned(), kind });
        }
        Ok(entries)
    }
}

impl Files for TreeSystem {
    fn resolve(&self, path: &Path) -> io::Result<Resolved> {
        let (path, node) = self.shared.resolve_path(path)?;
        let kind = match node {
            Some(TreeNode::File(index)) => self.shared.kind(index),
            Some(TreeNode::Directory(_)) | None => FileKind::Directory,
        };
        Ok(Resolved { path, kind })
    }

    fn open_dir(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
        match self.shared.resolve_path(path)?.1 {
            Some(TreeNode::Directory(directory)) => {
                Ok(Box::new(TreeDir { shared: Arc::clone(&self.shared), directory }))
            }
            Some(TreeNode::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let (_, node) = self.shared.resolve_path(path)?;
        self.shared.read_node(&node.ok_or(ReadError::NotAFile(FileKind::Directory))?, limit)
    }

    fn is_executable(&self, path: &Path) -> io::Result<bool> {
        Ok(match self.shared.resolve_path(path)?.1 {
            Some(TreeNode::File(index)) => self.shared.permission(index) == Permission::Program,
            _ => false,
        })
    }

    fn modified_time(&self, path: &Path) -> io::Result<SystemTime> {
        self.resolve(path).map(|_| SystemTime::UNIX_EPOCH)
    }
}

impl Processes for TreeSystem {}

impl Machine for TreeSystem {
    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(self.shared.mount.clone())
    }

    fn env(&self, name: &str) -> Option<OsString> {
        self.shared.env.get(name).cloned().filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each content is its own object.
    struct Own;

    impl TreeContents for Own {
        fn read_file(&self, file: &TreeFile<'_>, limit: u64) -> Result<Vec<u8>, ReadError> {
            if file.object.len() as u64 > limit {
                return Err(ReadError::TooLarge { limit });
            }
            Ok(file.object.to_vec())
        }

        fn link_target(&self, link: &TreeFile<'_>) -> io::Result<PathBuf> {
            Ok(PathBuf::from(String::from_utf8_lossy(link.object).as_ref()))
        }
    }

    fn tree(files: &[(&str, &str)]) -> TreeSystem {
        let mut text = Vec::new();
        let mut places = Vec::new();
        for (path, content) in files {
            let start = text.len();
            text.extend(path.bytes());
            let middle = text.len();
            text.extend(content.bytes());
            places.push((start..middle, middle..text.len()));
        }
        let mut listing = Listing::new(text);
        for ((path, object), (_, content)) in places.into_iter().zip(files) {
            let is_link = content.starts_with("../") || content.starts_with("/m/");
            let kind = if is_link { TreeFileKind::Link } else { TreeFileKind::File };
            listing.add_file(path, object, kind);
        }
        TreeSystem::new("/m/tree", listing, Box::new(Own), BTreeMap::new())
    }

    fn names(system: &TreeSystem, path: &str) -> Vec<String> {
        let entries = system.open_dir(Path::new(path)).unwrap().entries().unwrap();
        let mark = |kind| if kind == FileKind::Directory { "/" } else { "" };
        entries
            .iter()
            .map(|entry| format!("{}{}", entry.name.to_string_lossy(), mark(entry.kind)))
            .collect()
    }

    #[test]
    fn directories_are_ranges_whatever_the_names_around_them() {
        let system = tree(&[
            ("a/x", "1"),
            ("a-b/y", "2"),
            ("a", "file"),
            ("a0", "3"),
            ("b/c/d", "4"),
            ("b/c.d", "5"),
            ("b/c/e", "6"),
        ]);
        assert_eq!(names(&system, "/m/tree"), ["a", "a-b/", "a0", "b/"]);
        assert_eq!(names(&system, "b"), ["c.d", "c/"]);
        assert_eq!(names(&system, "/m/tree/b/c"), ["d", "e"]);
        assert_eq!(system.read(Path::new("b/c/e"), 9).unwrap(), b"6");
        assert!(matches!(system.read(Path::new("b/c"), 9), Err(ReadError::NotAFile(_))));
        assert!(matches!(system.read(Path::new("b/c/f"), 9), Err(ReadError::Missing)));
        assert!(matches!(system.read(Path::new("a0/f"), 9), Err(ReadError::Missing)));
    }

    #[test]
    fn names_that_lead_elsewhere_are_no_names() {
        let system = tree(&[("../x", ""), ("a//b", ""), ("/etc", ""), ("a/./b", ""), ("ok", "")]);
        assert_eq!((names(&system, "."), system.file_count()), (vec!["ok".to_owned()], 1));
    }

    #[test]
    fn links_are_followed_by_path_and_remembered() {
        let system = tree(&[
            ("d/link", "../real"),
            ("real", "text"),
            ("absolute", "/m/tree/d/link"),
            ("out", "../../other"),
            ("loop", "../tree/loop"),
        ]);
        let handle = system.open_dir(Path::new("/m/tree/d")).unwrap();
        assert!(matches!(
            handle.read("link".as_ref(), 9),
            Err(ReadError::NotAFile(FileKind::Link))
        ));
        assert_eq!(system.seen_files(), []);
        assert_eq!(system.read(Path::new("absolute"), 9).unwrap(), b"text");
        let error = |path| system.resolve(Path::new(path)).unwrap_err().to_string();
        assert_eq!(error("out"), "is a symbolic link that points outside the repository");
        assert_eq!(error("loop"), "too many links");
        let seen: Vec<_> =
            system.seen_files().into_iter().map(|seen| (seen.path, seen.is_linked)).collect();
        assert_eq!(
            seen,
            [
                ("/m/tree/absolute".into(), false),
                ("/m/tree/d/link".into(), false),
                ("/m/tree/loop".into(), false),
                ("/m/tree/out".into(), false),
                ("/m/tree/real".into(), true)
            ]
        );
    }

    #[test]
    fn above_the_tree_is_nothing_else() {
        let system = tree(&[("f", "")]);
        assert_eq!(system.resolve(Path::new("/m")).unwrap().kind, FileKind::Directory);
        assert!(system.resolve(Path::new("/m/other")).is_err());
        assert!(system.open_dir(Path::new("/m")).is_err());
        assert!(system.create_staged_file(Path::new("g"), b"").is_err());
    }

    #[test]
    fn what_is_too_large_is_seen_all_the_same() {
        let system = tree(&[("f", "0123456789")]);
        assert!(matches!(system.read(Path::new("f"), 9), Err(ReadError::TooLarge { limit: 9 })));
        assert_eq!(system.seen_files()[0].digest, None);
    }
}
