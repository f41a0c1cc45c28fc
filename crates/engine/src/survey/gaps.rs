//! The files that nothing is for, by directory.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use brief_dialects::FileSet;
use brief_system::paths::to_slashed;
use serde::Serialize;

use super::Survey;

/// Files that get no guidance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CoverageGap<'c> {
    /// Their directory, `/`-separated below the root.
    #[serde(rename = "path")]
    pub directory: String,
    /// True if it is about everything further down, too.
    #[serde(rename = "deep")]
    pub is_deep: bool,
    /// The number of files that get none.
    pub files: usize,
    /// The number of all files.
    pub of: usize,
    /// Their names, unless there is none in the directory that gets any.
    pub names: Vec<&'c str>,
}

/// The number of marked files before each index.
pub(crate) struct MarkCounts(Vec<usize>);

impl MarkCounts {
    pub(crate) fn new(files: usize, is_marked: impl Fn(usize) -> bool) -> MarkCounts {
        let sums = (0..files).scan(0, |sum, file| {
            *sum += usize::from(is_marked(file));
            Some(*sum)
        });
        MarkCounts(std::iter::once(0).chain(sums).collect())
    }

    pub(crate) fn count_in_range(&self, files: Range<usize>) -> usize {
        self.0[files.end] - self.0[files.start]
    }
}

/// The search for files without guidance, from the top down.
struct GapSearch<'s, 'c> {
    files: &'c [String],
    bare: MarkCounts,
    /// Files that guidance stands in need none.
    neutral: MarkCounts,
    is_bare: &'s dyn Fn(usize) -> bool,
    gaps: Vec<CoverageGap<'c>>,
}

impl<'c> Survey<'c> {
    /// Returns the files below a directory that nothing is for: whole directories where it can be.
    /// Files that guidance stands in are not counted.
    pub fn find_gaps(&self, root: &Path, directory: &str) -> Vec<CoverageGap<'c>> {
        let files = self.files.files.as_slice();
        let sources = self.source_files(root);
        let is_bare = |file: usize| !self.covered.contains(file) && !sources.contains(file);
        let mut search = GapSearch {
            files,
            bare: MarkCounts::new(files.len(), is_bare),
            neutral: MarkCounts::new(files.len(), |file| sources.contains(file)),
            is_bare: &is_bare,
            gaps: Vec::new(),
        };
        let places = self.files.places_below(directory);
        search.search_directory(directory, places);
        search.gaps
    }

    /// Returns the files that guidance stands in.
    fn source_files(&self, root: &Path) -> FileSet {
        let items = self.items.iter().map(|surveyed| surveyed.item.path);
        let paths = items.chain(self.left_out.iter().map(|left_out| left_out.path));
        let mut sources = FileSet::new(self.files.files.len());
        // As bytes: paths are compared part by part.
        for path in paths.map(Path::as_os_str).collect::<BTreeSet<_>>() {
            let Ok(below) = Path::new(path).strip_prefix(root) else { continue };
            if let Ok(file) = self.files.files.binary_search(&to_slashed(below)) {
                sources.insert(file);
            }
        }
        sources
    }
}

impl GapSearch<'_, '_> {
    /// Looks at a directory with the places of its files. A walk has no more levels than
    /// fit on the stack.
    fn search_directory(&mut self, directory: &str, places: Range<usize>) {
        let Range { start: mut file, end } = places;
        let files = self.bare.count_in_range(places.clone());
        if files == 0 {
            return;
        }
        let of = places.len() - self.neutral.count_in_range(places);
        let (directory, names) = (directory.to_owned(), Vec::new());
        if files == of {
            self.gaps.push(CoverageGap { directory, is_deep: true, files, of, names });
            return;
        }
        let prefix = if directory.is_empty() { 0 } else { directory.len() + 1 };
        let mut own = CoverageGap { directory, is_deep: false, files: 0, of: 0, names };
        let mut below = Vec::new();
        while file < end {
            let path = &self.files[file];
            match path[prefix..].find('/') {
                None => {
                    own.of += 1 - self.neutral.count_in_range(file..file + 1);
                    if (self.is_bare)(file) {
                        own.files += 1;
                        own.names.push(&path[prefix..]);
                    }
                    file += 1;
                }
                Some(length) => {
                    let child = &path[..prefix + length];
                    let inside = |other: &String| {
                        other.strip_prefix(child).is_some_and(|rest| rest.starts_with('/'))
                    };
                    let after = file + self.files[file..end].partition_point(inside);
                    below.push((child, file..after));
                    file = after;
                }
            }
        }
        if own.files > 0 {
            self.gaps.push(own);
        }
        for (child, places) in below {
            self.search_directory(child, places);
        }
    }
}
