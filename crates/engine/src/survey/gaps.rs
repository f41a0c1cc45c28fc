//! The files that nothing is for, by directory.

use std::collections::HashSet;
use std::path::Path;

use brief_dialects::FileSet;
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

/// The number of files of a certain kind before each index.
struct Tally(Vec<usize>);

impl Tally {
    fn new(files: usize, is_counted: impl Fn(usize) -> bool) -> Tally {
        let mut sums = Vec::with_capacity(files + 1);
        let mut sum = 0;
        sums.push(0);
        for file in 0..files {
            sum += usize::from(is_counted(file));
            sums.push(sum);
        }
        Tally(sums)
    }

    fn within(&self, start: usize, end: usize) -> usize {
        self.0[end] - self.0[start]
    }
}

/// The search, from the top down.
struct Search<'s, 'c> {
    files: &'c [String],
    bare: Tally,
    /// Files that guidance stands in need none.
    neutral: Tally,
    is_bare: &'s dyn Fn(usize) -> bool,
    gaps: Vec<CoverageGap<'c>>,
}

impl<'c> Survey<'c> {
    /// Returns the files below a directory that nothing is for: whole directories where it can be.
    /// Files that guidance stands in are not counted.
    pub fn gaps(&self, root: &Path, directory: &str) -> Vec<CoverageGap<'c>> {
        let files = self.files.files.as_slice();
        let sources = self.sources(root);
        let is_bare = |file: usize| !self.covered.contains(file) && !sources.contains(file);
        let mut search = Search {
            files,
            bare: Tally::new(files.len(), is_bare),
            neutral: Tally::new(files.len(), |file| sources.contains(file)),
            is_bare: &is_bare,
            gaps: Vec::new(),
        };
        let places = self.files.places_below(directory);
        search.look(directory, places.start, places.end);
        search.gaps
    }

    /// The files that guidance stands in.
    fn sources(&self, root: &Path) -> FileSet {
        let items = self.items.iter().map(|surveyed| surveyed.item.path);
        let paths = items.chain(self.left_out.iter().map(|left_out| left_out.path));
        let paths: HashSet<_> = paths.map(Path::as_os_str).collect();
        let mut sources = FileSet::new(self.files.files.len());
        let mut sorted: Vec<_> = paths.into_iter().collect();
        sorted.sort_unstable();
        for path in sorted {
            let Ok(below) = Path::new(path).strip_prefix(root) else { continue };
            let names: Vec<_> = below.iter().map(std::ffi::OsStr::to_string_lossy).collect();
            if let Ok(file) = self.files.files.binary_search(&names.join("/")) {
                sources.insert(file);
            }
        }
        sources
    }
}

impl Search<'_, '_> {
    /// Looks at a directory whose files stand between two places. A walk has no more levels than
    /// fit on the stack.
    fn look(&mut self, directory: &str, start: usize, end: usize) {
        let bare = self.bare.within(start, end);
        if bare == 0 {
            return;
        }
        let of = end - start - self.neutral.within(start, end);
        if bare == of {
            self.gaps.push(CoverageGap {
                directory: directory.to_owned(),
                is_deep: true,
                files: bare,
                of,
                names: Vec::new(),
            });
            return;
        }
        let prefix = if directory.is_empty() { 0 } else { directory.len() + 1 };
        let mut own = CoverageGap {
            directory: directory.to_owned(),
            is_deep: false,
            files: 0,
            of: 0,
            names: Vec::new(),
        };
        let mut below = Vec::new();
        let mut file = start;
        while file < end {
            let path = &self.files[file];
            match path[prefix..].find('/') {
                None => {
                    own.of += 1 - self.neutral.within(file, file + 1);
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
                    below.push((child, file, after));
                    file = after;
                }
            }
        }
        if own.files > 0 {
            self.gaps.push(own);
        }
        for (child, start, end) in below {
            self.look(child, start, end);
        }
    }
}
