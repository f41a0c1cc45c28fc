//! The files of an item, and the hashes of its content.
//!
//! Files are read in pieces. Small files stay in memory until the item is done, because every client gets a
//! copy; large files are read again for each client, so that memory does not grow with the size of an item.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use brief_dialects::portable::PortableItem;
use brief_dialects::portable::output::OutputContent;
use brief_syntax::limits;
use brief_syntax::{Diagnostic, Root, Source, Span, rules};
use brief_system::hash::{Hasher, sha256};
use brief_system::{Dir, Permission, ReadError, System};

use super::record::FileRecord;
use super::split_path;

/// The limit for the bytes of an item's files in memory.
const HELD: usize = 4 * 1024 * 1024;

/// The files beside an item's entrypoint.
pub(crate) struct ItemFiles {
    directory: Option<Box<dyn Dir>>,
    files: BTreeMap<String, ItemFile>,
}

struct ItemFile {
    record: FileRecord,
    /// The content, unless the file is large.
    bytes: Option<Vec<u8>>,
}

impl ItemFiles {
    /// Reads the files beside an item's entrypoint. Links are never followed.
    pub(crate) fn read(
        system: &dyn System,
        root: &Root,
        item: &PortableItem,
    ) -> Result<ItemFiles, Box<Diagnostic>> {
        let mut item_files = ItemFiles { directory: None, files: BTreeMap::new() };
        let Some(first) = item.files().first() else { return Ok(item_files) };
        let directory = system
            .open_dir_below(root.path(), Path::new(item.slashed()))
            .map_err(|error| unreadable_diagnostic(item, &first.path, &error.into()))?;
        let mut held: Option<(&str, Box<dyn Dir>)> = None;
        let mut space = HELD;
        for file in item.files() {
            let (parent, name) = split_path(&file.path);
            if !parent.is_empty() && held.as_ref().is_none_or(|(path, _)| *path != parent) {
                let handle = directory
                    .open_dir_below(Path::new(parent))
                    .map_err(|error| unreadable_diagnostic(item, &file.path, &error.into()))?;
                held = Some((parent, handle));
            }
            let place = match &held {
                Some((_, handle)) if !parent.is_empty() => handle.as_ref(),
                _ => directory.as_ref(),
            };
            let one = read_one(place, name, &mut space)
                .map_err(|error| unreadable_diagnostic(item, &file.path, &error))?;
            item_files.files.insert(file.path.clone(), one);
        }
        item_files.directory = Some(directory);
        Ok(item_files)
    }

    /// Returns the record of a file once it is written.
    pub(crate) fn find_record(&self, path: &str) -> Option<&FileRecord> {
        self.files.get(path).map(|file| &file.record)
    }

    /// Reads every file: its path, content and permission.
    pub(crate) fn read_each(&self, mut read: impl FnMut(&str, io::Result<Vec<u8>>, Permission)) {
        for (path, file) in &self.files {
            let mut content = Vec::new();
            let outcome = self.copy_file(path, &mut content);
            read(path, outcome.map(|()| content), file.record.permission());
        }
    }

    /// Writes the content of an output.
    pub(crate) fn write_content(
        &self,
        content: &OutputContent,
        target: &mut dyn Write,
    ) -> io::Result<()> {
        match content {
            OutputContent::Text(text) => target.write_all(text.as_bytes()),
            OutputContent::Copy(path) => self.copy_file(path, target),
        }
    }

    /// Writes the content of a file.
    fn copy_file(&self, path: &str, target: &mut dyn Write) -> io::Result<()> {
        let file = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        if let Some(bytes) = &file.bytes {
            return target.write_all(bytes);
        }
        let directory = self.directory.as_deref().ok_or(io::ErrorKind::NotFound)?;
        let (parent, name) = split_path(path);
        let below;
        let place = if parent.is_empty() {
            directory
        } else {
            below = directory.open_dir_below(Path::new(parent))?;
            below.as_ref()
        };
        let mut hasher = Hasher::default();
        let outcome =
            place.read_pieces(OsStr::new(name), limits::SUPPORT_FILE_BYTES, &mut |piece| {
                hasher.update(piece);
                target.write_all(piece)
            });
        outcome.map_err(io::Error::other)?;
        if hasher.finish() == file.record.sha256 {
            Ok(())
        } else {
            Err(io::Error::other(format!(
                "`{path}` of the source changed while brief was reading it"
            )))
        }
    }
}

/// The first bytes of a Git LFS pointer. No filter runs when a source is fetched, so the real content is
/// missing.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

const IS_POINTER: &str = "is a Git LFS pointer, and its content is not in the repository";

fn read_one(directory: &dyn Dir, name: &str, space: &mut usize) -> Result<ItemFile, ReadError> {
    let mut hasher = Hasher::default();
    let mut bytes = Some(Vec::new());
    let (mut is_first, mut is_pointer) = (true, false);
    let permission =
        directory.read_pieces(OsStr::new(name), limits::SUPPORT_FILE_BYTES, &mut |piece| {
            hasher.update(piece);
            is_pointer |= is_first && piece.starts_with(LFS_POINTER);
            is_first = false;
            match &mut bytes {
                Some(held) if held.len() + piece.len() <= *space => held.extend_from_slice(piece),
                _ => bytes = None,
            }
            Ok(())
        })?;
    if is_pointer {
        return Err(ReadError::Io(io::Error::other(IS_POINTER)));
    }
    *space -= bytes.as_ref().map_or(0, Vec::len);
    let record = FileRecord { sha256: hasher.finish(), program: permission == Permission::Program };
    Ok(ItemFile { record, bytes })
}

fn unreadable_diagnostic(item: &PortableItem, path: &str, error: &ReadError) -> Box<Diagnostic> {
    let source = Arc::new(Source::without_text(item.directory().join(path)));
    // Nothing is wrong with the file for its author, who has the content.
    if matches!(error, ReadError::Io(error) if error.to_string() == IS_POINTER) {
        let message = format!("`brief add` does not install this item: the file {IS_POINTER}");
        let problem = Diagnostic::new(rules::item::UNREADABLE, &source, Span::default(), message);
        let help = "commit the file itself, or move it out of the item";
        return Box::new(problem.with_help(help));
    }
    let message = format!("cannot read the file: {error}");
    let problem = Diagnostic::new(rules::item::UNREADABLE, &source, Span::default(), message);
    Box::new(problem.with_help("the files beside an item must be regular files of at most 16 MiB"))
}

/// Reports a file that could be read, and cannot be read again.
pub(crate) fn changed_file(item: &PortableItem, path: &str, error: &io::Error) -> Box<Diagnostic> {
    let problem =
        unreadable_diagnostic(item, path, &ReadError::Io(io::Error::other(error.to_string())));
    Box::new(problem.with_help("run the command again while the source does not change"))
}

/// Returns the hash of an item's content, which does not depend on its directory.
pub(crate) fn content_hash(item: &PortableItem, item_files: &ItemFiles) -> String {
    let mut parts = TextsHasher::default();
    parts.add_text(item.kind().as_str());
    parts.add_bytes(item.document().source().bytes_from_line(0));
    for own in item.overrides() {
        parts.add_text(&own.client);
        parts.add_bytes(own.source.bytes_from_line(0));
    }
    parts.add_text("files");
    for (path, file) in &item_files.files {
        parts.add_text(path);
        parts.add_text(&file.record.sha256);
        parts.add_text(if file.record.program { "program" } else { "data" });
    }
    parts.0.finish()
}

/// Returns the hash of everything that an item's outputs are made from. `context` stands for the inputs that
/// all items share: the program, the clients, the options.
pub(crate) fn fingerprint_item(
    context: &str,
    clients: &[&str],
    item: &PortableItem,
    hash: &str,
) -> String {
    sha256(format!("{context}\n{clients:?}\n{}\n{hash}", item.slashed()).as_bytes())
}

/// A hasher for lists of texts. It adds the length before each text, so that different lists never give the
/// same bytes.
#[derive(Default)]
struct TextsHasher(Hasher);

impl TextsHasher {
    fn add_text(&mut self, part: &str) {
        self.add_bytes(part.as_bytes());
    }

    fn add_bytes(&mut self, part: &[u8]) {
        self.0.update(part.len().to_string().as_bytes());
        self.0.update(b":");
        self.0.update(part);
    }
}

#[cfg(test)]
mod tests {
    use brief_system::OsSystem;

    use super::*;

    /// Issue 37, "Bad input": a large file that changes between reading and writing is not installed.
    #[test]
    fn a_large_file_that_changes_is_not_written() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("large");
        let text = |byte: u8| vec![byte; HELD + 1];
        let system: &dyn System = &OsSystem;
        system.replace_file(&path, &text(b'a')).unwrap();
        let directory = system.open_dir(place.path()).unwrap();
        let mut space = HELD;
        let file = read_one(directory.as_ref(), "large", &mut space).unwrap();
        let files = BTreeMap::from([("large".to_owned(), file)]);
        let item = ItemFiles { directory: Some(directory), files };
        let mut written = Vec::new();
        item.copy_file("large", &mut written).unwrap();
        assert_eq!(written, text(b'a'));
        system.replace_file(&path, &text(b'b')).unwrap();
        let refused = item.copy_file("large", &mut io::sink()).unwrap_err();
        assert_eq!(refused.to_string(), "`large` of the source changed while brief was reading it");
    }
}
