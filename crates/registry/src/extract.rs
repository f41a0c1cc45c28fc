//! Writes the files of a commit to a directory.
//!
//! git checks nothing out, so that attributes, filters and hooks play no part. This module lists the tree,
//! validates every name, and writes the contents to a directory that no other process uses. Links come last,
//! so that nothing is ever written through one.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use brief_syntax::hidden::is_hidden;
use brief_syntax::limits;
use brief_syntax::text::group_digits;
use brief_system::TreeFileKind;

use crate::address::one_line;
use crate::error::FetchError;
use crate::git::{Git, GitOutcome, GitRequest};
use crate::guidance;
use crate::staged::io_error;

/// The limit for the bytes of a listing: some hundred thousand files.
const LISTING_BYTES: usize = 64 * 1024 * 1024;

/// The limit for the bytes of contents in one call, unless one file alone has more.
const BATCH_BYTES: u64 = 8 * 1024 * 1024;

/// The limit for the bytes of a link, the same as on Linux.
const LINK_BYTES: u64 = 4095;

/// The limit for the file names in notes.
const NAMED: usize = 20;

/// The tree of a commit, and the directory to write it to.
pub(crate) struct Extraction<'a> {
    pub(crate) git: Git<'a>,
    /// The repository with the commit.
    pub(crate) repository: &'a Path,
    pub(crate) commit: &'a str,
    pub(crate) subpath: Option<&'a str>,
    /// The target directory, which does not exist yet.
    pub(crate) root: &'a Path,
}

#[derive(Debug, PartialEq, Eq)]
struct TreeEntry {
    kind: TreeFileKind,
    object: String,
    size: u64,
    /// The path from the root of the tree.
    path: PathBuf,
}

/// Notes about the files that were left out.
#[derive(Default)]
struct OmittedFiles {
    named: Vec<String>,
    more: usize,
}

impl OmittedFiles {
    fn add_omitted(&mut self, path: &Path, reason: &str) {
        if self.named.len() == NAMED {
            self.more += 1;
            return;
        }
        let path = one_line(&path.to_string_lossy());
        self.named.push(format!("skipped `{path}`: {reason}"));
    }

    /// Adds an entry that this system cannot hold. Other errors are returned: a file must not be lost silently.
    fn add_failed(&mut self, entry: &TreeEntry, outcome: io::Result<()>) -> io::Result<()> {
        use io::ErrorKind::{AlreadyExists, IsADirectory, NotADirectory, Unsupported};
        match outcome {
            // Some file systems ignore case, and a hostile tree can hold one name twice.
            Err(error) if matches!(error.kind(), AlreadyExists | IsADirectory | NotADirectory) => {
                self.add_omitted(&entry.path, "another file has this name");
            }
            Err(error) if error.kind() == Unsupported && entry.kind == TreeFileKind::Link => {
                self.add_omitted(&entry.path, "is a link, which this system does not support");
            }
            outcome => return outcome,
        }
        Ok(())
    }

    fn into_lines(mut self) -> Vec<String> {
        if self.more > 0 {
            self.named.push(match self.more {
                1 => "skipped 1 more file".to_owned(),
                more => format!("skipped {more} more files"),
            });
        }
        self.named
    }
}

impl Extraction<'_> {
    /// Writes the files. Returns notes for the user about those that were left out.
    pub(crate) fn write_files(&self) -> Result<Vec<String>, FetchError> {
        let mut notes = OmittedFiles::default();
        let entries = self.list_entries(&mut notes)?;
        let (links, files): (Vec<TreeEntry>, Vec<TreeEntry>) =
            entries.into_iter().partition(|entry| entry.kind == TreeFileKind::Link);

        let mut directories = BTreeSet::new();
        self.create_dir(self.root, &mut directories).map_err(io_error(self.root))?;
        self.read_all(&files, |entry, bytes| {
            let path = self.root.join(&entry.path);
            let outcome = self.write_file(&path, entry.kind, bytes, &mut directories);
            notes.add_failed(entry, outcome).map_err(io_error(&path))
        })?;
        self.read_all(&links, |entry, bytes| {
            let Some(target) = path_from(bytes).filter(|target| stays_inside(&entry.path, target))
            else {
                notes.add_omitted(&entry.path, "is a link that points outside the directory");
                return Ok(());
            };
            let path = self.root.join(&entry.path);
            let outcome = self.write_link(&path, &target, &mut directories);
            notes.add_failed(entry, outcome).map_err(io_error(&path))
        })?;
        Ok(notes.into_lines())
    }

    fn puzzled_error(&self, what: &'static str) -> FetchError {
        FetchError::Puzzled { repository: self.git.repository.to_owned(), what }
    }

    fn too_large(&self, limit: u64, unit: &'static str) -> FetchError {
        FetchError::TooLarge { repository: self.git.repository.to_owned(), limit, unit }
    }

    /// Returns git's name of the tree. It resolves only for a commit.
    fn tree_name(&self) -> String {
        match self.subpath {
            Some(subpath) => format!("{}^{{commit}}:{subpath}", self.commit),
            None => format!("{}^{{commit}}^{{tree}}", self.commit),
        }
    }

    /// Returns the error for a missing tree, after another command has failed.
    fn check_tree(&self) -> Result<(), FetchError> {
        let question = format!("{}\n", self.tree_name());
        let request = GitRequest::for_repository(self.repository, "cat-file")
            .arg("--batch-check")
            .with_input(question);
        let output = self.git.expect_output(request)?;
        let output = String::from_utf8_lossy(&output);
        match output.trim_end().rsplit_once(" tree ") {
            Some((tree, _)) if is_commit(tree) => Ok(()),
            _ => Err(FetchError::SubpathMissing {
                repository: self.git.repository.to_owned(),
                subpath: one_line(self.subpath.unwrap_or(".")),
                commit: self.commit.to_owned(),
            }),
        }
    }

    /// Lists the entries to write.
    fn list_entries(&self, notes: &mut OmittedFiles) -> Result<Vec<TreeEntry>, FetchError> {
        let most = limits::REMOTE_GUIDANCE_FILES as u64;
        let request = GitRequest::for_repository(self.repository, "ls-tree")
            .args(["-r", "-z", "-l", "--full-tree", &self.tree_name()])
            .with_output_limit(LISTING_BYTES);
        let output = match self.git.run_request(request)? {
            GitOutcome::Done(output) => output,
            GitOutcome::TooMuch => return Err(self.too_large(most, "files")),
            GitOutcome::Failed(said) => {
                self.check_tree()?;
                return Err(FetchError::Git { repository: self.git.repository.to_owned(), said });
            }
        };
        let mut entries = Vec::new();
        for line in output.split(|&byte| byte == 0).filter(|line| !line.is_empty()) {
            let line = TreeLine::parse(line).ok_or_else(|| self.puzzled_error("ls-tree"))?;
            let path = safe_path(line.name).ok_or_else(|| FetchError::HostileName {
                repository: self.git.repository.to_owned(),
                name: one_line(&String::from_utf8_lossy(line.name)),
            })?;
            if line.mode == "160000" {
                notes.add_omitted(&path, "is a submodule, which brief does not fetch");
                continue;
            }
            let (Some(kind), Some(size)) = (line.kind(), line.size) else {
                return Err(self.puzzled_error("ls-tree"));
            };
            let is_link = kind == TreeFileKind::Link;
            let limit = if is_link { LINK_BYTES } else { limits::REMOTE_FILE_BYTES };
            if size > limit {
                notes.add_omitted(&path, &format!("is larger than {limit} bytes"));
                continue;
            }
            entries.push(TreeEntry { kind, object: line.object.to_owned(), size, path });
        }
        let bytes = |entries: &[TreeEntry]| entries.iter().map(|entry| entry.size).sum::<u64>();
        let is_large = |entries: &[TreeEntry]| {
            entries.len() > limits::REMOTE_FILES || bytes(entries) > limits::REMOTE_BYTES
        };
        if is_large(&entries) {
            // The limit is for files that are read; in a large repository those are guidance.
            let all = entries.len();
            guidance::retain_guidance(&mut entries, |entry| &entry.path);
            let (all, kept) = (group_digits(all as u64), group_digits(entries.len() as u64));
            notes
                .named
                .push(format!("is large: brief reads only the {kept} guidance files of {all}"));
        }
        if entries.len() > limits::REMOTE_GUIDANCE_FILES {
            return Err(self.too_large(most, "files"));
        }
        if bytes(&entries) > limits::REMOTE_BYTES {
            return Err(self.too_large(limits::REMOTE_BYTES, "bytes"));
        }
        Ok(entries)
    }

    /// Reads the contents of all entries in order, in batches.
    fn read_all(
        &self,
        mut entries: &[TreeEntry],
        mut visitor: impl FnMut(&TreeEntry, &[u8]) -> Result<(), FetchError>,
    ) -> Result<(), FetchError> {
        while let Some(first) = entries.first() {
            let mut bytes = first.size;
            let more = entries[1..].iter().take_while(|entry| {
                bytes += entry.size;
                bytes <= BATCH_BYTES
            });
            let (batch, rest) = entries.split_at(1 + more.count());
            entries = rest;
            let output = self.read_batch(batch)?;
            let mut output = output.as_slice();
            for entry in batch {
                let (content, rest) =
                    split_object(output, entry).ok_or_else(|| self.puzzled_error("cat-file"))?;
                visitor(entry, content)?;
                output = rest;
            }
        }
        Ok(())
    }

    fn read_batch(&self, batch: &[TreeEntry]) -> Result<Vec<u8>, FetchError> {
        let mut input = String::new();
        let mut expected = 0;
        for entry in batch {
            input.push_str(&entry.object);
            input.push('\n');
            // A header with the object's name, kind and size precedes the content.
            expected += usize::try_from(entry.size).unwrap_or(usize::MAX) + 128;
        }
        let request = GitRequest::for_repository(self.repository, "cat-file")
            .arg("--batch")
            .with_input(input)
            .with_output_limit(expected);
        self.git.expect_output(request)
    }

    fn create_dir(&self, path: &Path, known: &mut BTreeSet<PathBuf>) -> io::Result<()> {
        if !known.contains(path) {
            self.git.system.create_dir(path)?;
            known.insert(path.to_owned());
        }
        Ok(())
    }

    fn write_file(
        &self,
        path: &Path,
        kind: TreeFileKind,
        bytes: &[u8],
        directories: &mut BTreeSet<PathBuf>,
    ) -> io::Result<()> {
        self.create_dir(path.parent().unwrap_or(self.root), directories)?;
        match kind {
            TreeFileKind::Program => self.git.system.create_program(path, bytes),
            _ => self.git.system.create_staged_file(path, bytes),
        }
    }

    fn write_link(
        &self,
        path: &Path,
        target: &Path,
        directories: &mut BTreeSet<PathBuf>,
    ) -> io::Result<()> {
        let parent = path.parent().unwrap_or(self.root);
        // A directory with only links in it does not exist yet. If a link has its name, the open below fails.
        if !directories.contains(parent) {
            let mut real = self.git.system.open_dir(self.root)?;
            let below = parent.strip_prefix(self.root).map_err(|_| io::ErrorKind::InvalidInput)?;
            let mut so_far = self.root.to_owned();
            for name in below {
                so_far.push(name);
                if !directories.contains(&so_far) && real.open_dir(name).is_err() {
                    self.git.system.create_dir(&so_far)?;
                }
                real = real.open_dir(name).map_err(|_| io::ErrorKind::AlreadyExists)?;
                directories.insert(so_far.clone());
            }
        }
        self.git.system.create_link(path, target)
    }
}

/// A line of `ls-tree -z`: `100644 blob 1a2b…\tpath`. With `-l` the size follows the object.
pub(crate) struct TreeLine<'t> {
    mode: &'t str,
    pub(crate) object: &'t str,
    pub(crate) size: Option<u64>,
    pub(crate) name: &'t [u8],
}

impl<'t> TreeLine<'t> {
    pub(crate) fn parse(line: &'t [u8]) -> Option<Self> {
        let tab = line.iter().position(|&byte| byte == b'\t')?;
        let mut words = std::str::from_utf8(&line[..tab]).ok()?.split_ascii_whitespace();
        let (mode, _, object) = (words.next()?, words.next()?, words.next()?);
        let size = words.next().and_then(|size| size.parse().ok());
        is_commit(object).then_some(TreeLine { mode, object, size, name: &line[tab + 1..] })
    }

    pub(crate) fn kind(&self) -> Option<TreeFileKind> {
        listed_kind(self.mode)
    }
}

/// Returns the kind of a file with a mode of git; `None` for a submodule. As in git, the user's bit decides.
pub(crate) fn listed_kind(mode: &str) -> Option<TreeFileKind> {
    match mode {
        "120000" => Some(TreeFileKind::Link),
        mode if mode.starts_with("100") && mode.ends_with("755") => Some(TreeFileKind::Program),
        mode => mode.starts_with("100").then_some(TreeFileKind::File),
    }
}

/// Returns a fetched path, unless a part of it leads elsewhere or is a git directory.
pub(crate) fn safe_path(name: &[u8]) -> Option<PathBuf> {
    let is_safe = |name: &[u8]| {
        let lossy = String::from_utf8_lossy(name);
        let is_foreign = cfg!(windows) && lossy.contains(['\\', ':']);
        !matches!(name, b"" | b"." | b"..") && !is_foreign && !is_git_directory(&lossy)
    };
    let path = path_from(name)?;
    name.split(|&byte| byte == b'/').all(is_safe).then_some(path)
}

/// Returns whether some file system takes the name for `.git`. File systems may ignore case, invisible
/// characters, dots and spaces at the end and everything after a colon, and may have a short name for it.
pub(crate) fn is_git_directory(name: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    // Every path of a build is looked at, and nearly all are plain.
    let name = if name.bytes().all(is_usual) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.chars().filter(|&character| !is_ignored(character)).collect())
    };
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

/// Returns whether HFS+ ignores a character in names. Joiners are visible in text, but ignored in names.
fn is_ignored(character: char) -> bool {
    is_hidden(character) || matches!(character, '\u{200c}' | '\u{200d}')
}

/// Returns whether a link at `path` stays inside the directory that `path` starts at, whatever other links
/// there are. Its target may go up only at its beginning, and no higher than the link lies.
fn stays_inside(path: &Path, target: &Path) -> bool {
    use std::path::Component;

    let mut depth = path.components().count().saturating_sub(1);
    let mut is_down = false;
    for component in target.components() {
        match component {
            Component::ParentDir if !is_down && depth > 0 => depth -= 1,
            Component::CurDir => {}
            Component::Normal(_) => is_down = true,
            _ => return false,
        }
    }
    !target.as_os_str().is_empty()
}

/// Splits the first object from the output of `cat-file --batch`. Returns its content and the rest.
fn split_object<'t>(output: &'t [u8], entry: &TreeEntry) -> Option<(&'t [u8], &'t [u8])> {
    let end = output.iter().position(|&byte| byte == b'\n')?;
    let header = format!("{} blob {}", entry.object, entry.size);
    let size = usize::try_from(entry.size).ok()?;
    let (content, rest) = output[end + 1..].split_at_checked(size)?;
    (output[..end] == *header.as_bytes()).then_some((content, rest.strip_prefix(b"\n")?))
}

/// Returns whether a text is the full name of an object: 40 or 64 digits.
pub(crate) fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64)
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(unix)]
pub(crate) fn path_from(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;

    (!bytes.contains(&0)).then(|| PathBuf::from(OsString::from_vec(bytes.to_vec())))
}

#[cfg(not(unix))]
pub(crate) fn path_from(bytes: &[u8]) -> Option<PathBuf> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    Some(PathBuf::from(OsString::from(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_stay_inside() {
        for (path, target, expected) in [
            ("link", "file", true),
            ("link", "a/b", true),
            ("a/link", "../b", true),
            ("a/link", "./../b/./c", true),
            ("a/b/link", "../..", true),
            ("link", "..", false),
            ("a/link", "../../x", false),
            ("link", "/etc/passwd", false),
            // `a` may itself be a link, and then the target is above the root.
            ("link", "a/../b", false),
            ("x/link", "a/../b", false),
            ("link", "", false),
        ] {
            assert_eq!(
                stays_inside(Path::new(path), Path::new(target)),
                expected,
                "{path} {target}"
            );
        }
    }

    #[test]
    fn names_that_are_refused() {
        let object = "1".repeat(40);
        for (name, safe) in [
            ("a/b", true),
            (".github/x", true),
            (".gitattributes", true),
            ("git", true),
            ("a..b", true),
            ("../x", false),
            ("a/../b", false),
            ("/abs", false),
            ("a//b", false),
            ("a/.", false),
            (".git/config", false),
            ("a/.GiT", false),
            (".g\u{200c}it/x", false),
            (".git. /x", false),
            ("GIT~1/x", false),
            (".git::$INDEX_ALLOCATION/x", false),
        ] {
            let line = format!("100644 blob {object}       3\t{name}");
            let line = TreeLine::parse(line.as_bytes()).unwrap();
            assert_eq!(safe_path(line.name).is_some(), safe, "{name}");
        }
    }
}
