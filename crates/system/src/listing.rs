//! The names of a tree: one text, and sorted places in it.

use std::ops::Range;

use super::STAGED;

/// A file of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeFile<'t> {
    /// The path below the top, with `/` between names.
    pub path: &'t [u8],
    /// Its key in the contents; empty when that is the path.
    pub object: &'t [u8],
    /// Its kind.
    pub kind: TreeFileKind,
}

/// The kind of a file in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeFileKind {
    /// A regular file.
    File,
    /// A regular file that may be started.
    Program,
    /// A symbolic link.
    Link,
}

/// A place in the text of a listing; `u32` because there are two per file.
type Piece = Range<u32>;

#[derive(Debug, Clone)]
struct Entry {
    path: Piece,
    object: Piece,
    kind: TreeFileKind,
}

/// The files of a tree, as places in one text.
#[derive(Debug, Default)]
pub struct Listing {
    text: Vec<u8>,
    entries: Vec<Entry>,
}

impl Listing {
    /// Starts a listing whose paths and objects stand in `text`.
    pub fn new(text: Vec<u8>) -> Listing {
        Listing { text, entries: Vec::new() }
    }

    /// Returns the text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Adds a file. What has no name that a file can have is passed by, and so is what stands beyond
    /// the text or 4 GiB, and what a killed writer has left.
    pub fn add_file(&mut self, path: Range<usize>, object: Range<usize>, kind: TreeFileKind) {
        let is_name = |name: &[u8]| !matches!(name, b"" | b"." | b"..") && !name.contains(&0);
        let is_path = |path: &[u8]| {
            path.split(|&byte| byte == b'/').all(is_name)
                && path.rsplit(|&byte| byte == b'/').next() != Some(STAGED.as_bytes())
        };
        if !self.text.get(path.clone()).is_some_and(is_path)
            || self.text.get(object.clone()).is_none()
        {
            return;
        }
        let piece = |range: Range<usize>| -> Option<Piece> {
            Some(u32::try_from(range.start).ok()?..u32::try_from(range.end).ok()?)
        };
        if let (Some(path), Some(object)) = (piece(path), piece(object)) {
            self.entries.push(Entry { path, object, kind });
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn kind(&self, index: usize) -> TreeFileKind {
        self.entries[index].kind
    }

    fn piece_bytes(&self, piece: &Piece) -> &[u8] {
        &self.text[piece.start as usize..piece.end as usize]
    }

    pub(super) fn path(&self, index: usize) -> &[u8] {
        self.piece_bytes(&self.entries[index].path)
    }

    pub(super) fn tree_file(&self, index: usize) -> TreeFile<'_> {
        let Entry { path, object, kind } = &self.entries[index];
        TreeFile { path: self.piece_bytes(path), object: self.piece_bytes(object), kind: *kind }
    }

    /// Brings the files into order, each once.
    pub(super) fn into_sorted(mut self) -> Listing {
        let mut entries = std::mem::take(&mut self.entries);
        // Mostly they are in order already.
        if !entries.is_sorted_by(|left, right| {
            self.piece_bytes(&left.path) < self.piece_bytes(&right.path)
        }) {
            entries.sort_by(|left, right| {
                self.piece_bytes(&left.path).cmp(self.piece_bytes(&right.path))
            });
            entries.dedup_by(|left, right| {
                self.piece_bytes(&left.path) == self.piece_bytes(&right.path)
            });
        }
        Listing { text: self.text, entries }
    }

    /// Returns the files whose path goes on with `name/` after the first `prefix` bytes, among those
    /// of `range`, which agree in these bytes.
    pub(super) fn range_below(
        &self,
        range: &Range<usize>,
        prefix: usize,
        name: &[u8],
    ) -> Range<usize> {
        let first_from = |after: u8| {
            let bound = || name.iter().copied().chain([after]);
            let entries = &self.entries[range.clone()];
            range.start
                + entries.partition_point(|entry| {
                    self.piece_bytes(&entry.path)[prefix..].iter().copied().lt(bound())
                })
        };
        // `0` is the character after `/`.
        first_from(b'/')..first_from(b'0')
    }

    /// Returns the file whose path ends with `name` after the first `prefix` bytes.
    pub(super) fn find_exact(
        &self,
        range: &Range<usize>,
        prefix: usize,
        name: &[u8],
    ) -> Option<usize> {
        let entries = &self.entries[range.clone()];
        let found = entries
            .binary_search_by(|entry| self.piece_bytes(&entry.path)[prefix..].cmp(name))
            .ok()?;
        Some(range.start + found)
    }
}
