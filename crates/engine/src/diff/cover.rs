//! Many paths in few words: a directory stands for all files in it.

use std::ops::Range;

use brief_syntax::limits;

use crate::survey::MarkCounts;

/// Some files of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cover {
    /// The number of files.
    pub file_count: usize,
    /// The files, and directories of which all files are meant, by path.
    pub parts: Vec<CoverPart>,
    /// Files that no part names, because there are too many.
    pub left_out: usize,
}

/// A part of a cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverPart {
    /// A file, or a directory that ends in `/`; `./` is the root.
    pub path: String,
    /// The number of files.
    pub file_count: usize,
}

/// Covers the files of a sorted list that are concerned.
pub(super) fn cover_files(files: &[String], is_concerned: &dyn Fn(usize) -> bool) -> Cover {
    let counts = MarkCounts::new(files.len(), is_concerned);
    let file_count = counts.count_in_range(0..files.len());
    let mut covering = Covering { files, counts, parts: Vec::new(), left_out: 0 };
    // Ranges whose paths agree in the first bytes, the next one last.
    let mut pending = vec![(0..files.len(), 0)];
    while let Some((range, prefix)) = pending.pop() {
        let first_child = pending.len();
        covering.cover_directory(range, prefix, &mut pending);
        pending[first_child..].reverse();
    }
    Cover { file_count, parts: covering.parts, left_out: covering.left_out }
}

struct Covering<'f> {
    files: &'f [String],
    counts: MarkCounts,
    parts: Vec<CoverPart>,
    left_out: usize,
}

impl Covering<'_> {
    /// Takes a directory as a whole, or adds what is in it to `pending`.
    fn cover_directory(
        &mut self,
        range: Range<usize>,
        prefix: usize,
        pending: &mut Vec<(Range<usize>, usize)>,
    ) {
        let count = self.counts.count_in_range(range.clone());
        if count == 0 {
            return;
        }
        let first = &self.files[range.start];
        if range.len() == 1 {
            return self.add_part(first.clone(), 1);
        }
        if count == range.len() {
            let path = if prefix == 0 { "./".to_owned() } else { first[..prefix].to_owned() };
            return self.add_part(path, count);
        }
        let mut index = range.start;
        while index < range.end {
            let file = &self.files[index];
            let child = match file[prefix..].find('/') {
                None => (index..index + 1, file.len()),
                Some(end) => {
                    let prefix = prefix + end + 1;
                    let rest = &self.files[index..range.end];
                    let end = rest.partition_point(|other| other.starts_with(&file[..prefix]));
                    (index..index + end, prefix)
                }
            };
            index = child.0.end;
            pending.push(child);
        }
    }

    fn add_part(&mut self, path: String, file_count: usize) {
        if self.parts.len() == limits::DIFF_PATHS {
            self.left_out += file_count;
        } else {
            self.parts.push(CoverPart { path, file_count });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(files: &[&str], concerned: &[&str]) -> Vec<String> {
        let mut sorted: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
        sorted.sort_unstable();
        let cover = cover_files(&sorted, &|index| concerned.contains(&sorted[index].as_str()));
        assert_eq!(cover.file_count, concerned.len());
        cover.parts.iter().map(|part| format!("{} {}", part.path, part.file_count)).collect()
    }

    #[test]
    fn whole_directories_stand_for_their_files() {
        let files = ["a", "b/c", "b/d/e", "b/d/f", "b-c/g", "b0"];
        assert_eq!(covered(&files, &files), ["./ 6"]);
        assert_eq!(covered(&files, &["b/c", "b/d/e", "b/d/f"]), ["b/ 3"]);
        assert_eq!(covered(&files, &["b/d/e", "b/d/f", "b0"]), ["b/d/ 2", "b0 1"]);
        assert_eq!(covered(&files, &["b-c/g", "b/c", "b/d/f"]), ["b-c/g 1", "b/c 1", "b/d/f 1"]);
        assert_eq!(covered(&files, &[]), Vec::<String>::new());
        assert_eq!(covered(&[], &[]), Vec::<String>::new());
    }

    #[test]
    fn endless_covers_are_cut_and_counted() {
        let files: Vec<String> = (0..5_000).map(|number| format!("{number:05}/f")).collect();
        let cover = cover_files(&files, &|index| index % 2 == 0);
        assert_eq!((cover.parts.len(), cover.left_out), (limits::DIFF_PATHS, 1_500));
    }
}
