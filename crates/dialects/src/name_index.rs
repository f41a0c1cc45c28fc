//! The files that a pattern may match, by the names on their paths.
//!
//! A project with a thousand scoped rules would otherwise match each pattern against each file. Most
//! patterns name a directory or a file, and few paths have that name.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use brief_syntax::glob::Glob;

use crate::ProjectFiles;

/// The files of a project by names on their paths. Upper and lower case are the same.
#[derive(Debug)]
pub(crate) struct NameIndex<'f> {
    project: &'f ProjectFiles,
    /// The numbers of the names that patterns have.
    names: HashMap<String, usize>,
    /// For each name, the ranges of files that have it.
    ranges: Vec<Vec<Range<usize>>>,
}

impl<'f> NameIndex<'f> {
    /// Reads the paths of a project once, for the names in some patterns.
    pub(crate) fn new<'g>(
        project: &'f ProjectFiles,
        globs: impl Iterator<Item = &'g Glob>,
    ) -> NameIndex<'f> {
        let mut names = HashMap::new();
        for glob in globs {
            for name in glob.literal_names() {
                let next = names.len();
                names.entry(fold_case(name).into_owned()).or_insert(next);
            }
        }
        let ranges = vec![Vec::new(); names.len()];
        let mut index = NameIndex { project, names, ranges };
        if !index.names.is_empty() {
            index.read_paths();
        }
        index
    }

    fn read_paths(&mut self) {
        // The names on the path before, each with the number that it has and the first file below it.
        let mut open: Vec<(&str, Option<usize>, usize)> = Vec::new();
        let files = &self.project.files;
        for (file, path) in files.iter().enumerate() {
            let names = path.split('/');
            let same = names.clone().zip(&open).take_while(|(name, (old, ..))| name == old).count();
            close_ranges(&mut self.ranges, &mut open, same, file);
            open.extend(
                names
                    .skip(same)
                    .map(|name| (name, self.names.get(&*fold_case(name)).copied(), file)),
            );
        }
        close_ranges(&mut self.ranges, &mut open, 0, files.len());
    }

    pub(crate) fn files_below(&self, directory: &str) -> FilesBelow<'_> {
        FilesBelow {
            index: self,
            range: self.project.places_below(directory),
            start: if directory.is_empty() { 0 } else { directory.len() + 1 },
        }
    }

    /// Returns the ranges of the name in the pattern that fewest files have; `None` for a pattern without names.
    fn ranges_of(&self, glob: &Glob) -> Option<&[Range<usize>]> {
        let numbers = glob.literal_names().filter_map(|name| self.names.get(&*fold_case(name)));
        let ranges = numbers.map(|&number| self.ranges[number].as_slice());
        ranges.min_by_key(|ranges| ranges.iter().map(ExactSizeIterator::len).sum::<usize>())
    }
}

/// Ends the ranges of all names on a path after the first ones.
fn close_ranges(
    ranges: &mut [Vec<Range<usize>>],
    open: &mut Vec<(&str, Option<usize>, usize)>,
    kept: usize,
    end: usize,
) {
    for (_, number, start) in open.drain(kept..) {
        if let Some(number) = number {
            ranges[number].push(start..end);
        }
    }
}

/// The files below a directory, relative to it.
#[derive(Debug)]
pub(crate) struct FilesBelow<'i> {
    index: &'i NameIndex<'i>,
    range: Range<usize>,
    /// The length of what all paths have in front.
    start: usize,
}

impl<'i> FilesBelow<'i> {
    /// Returns the places of all of them.
    pub(crate) fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Returns all files with their places.
    pub(crate) fn list_files(&self) -> Box<dyn Iterator<Item = (usize, &'i str)> + 'i> {
        let (files, start) = (&self.index.project.files, self.start);
        Box::new(self.range().map(move |place| (place, &files[place][start..])))
    }

    /// Returns the files that a pattern may match, with their places: all that it does, and others. A file may come
    /// twice.
    pub(crate) fn likely_matches(
        &self,
        glob: &Glob,
        case: PathCase,
    ) -> impl Iterator<Item = (usize, &'i str)> + use<'i> {
        let range = match case {
            PathCase::Kept => self.beginning_with(glob.literal_prefix()),
            PathCase::Folded => self.range.clone(),
        };
        let everything = range.clone();
        let (some, all) = match self.index.ranges_of(glob) {
            Some(ranges) => (ranges, None),
            None => (&[][..], Some(everything)),
        };
        let common =
            move |other: &Range<usize>| other.start.max(range.start)..other.end.min(range.end);
        let files = &self.index.project.files;
        let start = self.start;
        some.iter()
            .map(common)
            .chain(all)
            .flatten()
            .map(move |place| (place, &files[place][start..]))
    }

    fn beginning_with(&self, prefix: &str) -> Range<usize> {
        let Range { start, end } = self.range;
        let files = &self.index.project.files[start..end];
        let first = files.partition_point(|file| &file[self.start..] < prefix);
        let count = files[first..].partition_point(|file| file[self.start..].starts_with(prefix));
        start + first..start + first + count
    }
}

/// The way in which paths are matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathCase {
    Kept,
    /// In lower case.
    Folded,
}

/// Returns a text without differences of case.
pub(crate) fn fold_case(text: &str) -> Cow<'_, str> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(text.to_lowercase()) }
}

#[cfg(test)]
mod tests {
    use brief_syntax::glob::Glob;

    use super::{NameIndex, PathCase};
    use crate::ProjectFiles;

    /// The paths of every shape that an index could lose: a name in the middle, as a file, twice on one path, in
    /// another case, at the start of another name.
    const FILES: [&str; 9] = [
        "README.md",
        "api/README.md",
        "api/src/api/x.py",
        "api/src/y.py",
        "srcs/src-old/z.py",
        "web/SRC/a.py",
        "web/src",
        "web/src2/b.py",
        "z.py",
    ];

    #[test]
    fn every_match_is_likely() {
        let files = FILES.map(str::to_owned).to_vec();
        let project = ProjectFiles { files, directories: Vec::new() };
        let patterns = [
            "**/src/**",
            "src/**",
            "api/**",
            "**/api/*.py",
            "*.py",
            "**/README.md",
            "{api,web}/src/**",
            "we*/src",
            "web/s*/b.py",
            "none/**",
            "**",
            "api/[a-z]*/y.py",
        ];
        let globs: Vec<Glob> = patterns.iter().map(|pattern| Glob::new(pattern).unwrap()).collect();
        let index = NameIndex::new(&project, globs.iter());
        for directory in ["", "api", "web"] {
            let below = index.files_below(directory);
            for glob in &globs {
                for case in [PathCase::Kept, PathCase::Folded] {
                    let seen = |path: &str| match case {
                        PathCase::Kept => path.to_owned(),
                        PathCase::Folded => path.to_lowercase(),
                    };
                    let found = |path: &str| glob.matches(&seen(path));
                    let likely = below.likely_matches(glob, case).filter(|(_, path)| found(path));
                    let mut likely: Vec<&str> = likely.map(|(_, path)| path).collect();
                    likely.sort_unstable();
                    likely.dedup();
                    let all: Vec<&str> =
                        project.files_below(directory).filter(|path| found(path)).collect();
                    assert_eq!(likely, all, "{} in {directory:?}, {case:?}", glob.as_str());
                }
            }
        }
    }

    #[test]
    fn a_name_leads_to_the_files_that_have_it() {
        let files = FILES.map(str::to_owned).to_vec();
        let project = ProjectFiles { files, directories: Vec::new() };
        let glob = Glob::new("**/src/api/**").unwrap();
        let index = NameIndex::new(&project, [&glob].into_iter());
        let likely: Vec<usize> = index
            .files_below("")
            .likely_matches(&glob, PathCase::Folded)
            .map(|(place, _)| place)
            .collect();
        // `api` and `src` are both on four paths; `web/src` is one for `src`.
        assert_eq!(likely.len(), 4, "{likely:?}");
    }
}
