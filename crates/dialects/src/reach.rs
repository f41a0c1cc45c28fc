//! The files that an item is for, over a whole project.
//!
//! A [`Resolution`] lists the items for one path; this module lists the paths for each item. The
//! default asks a dialect about every file in turn. A dialect that can match its patterns against
//! all files at once overrides [`crate::DialectGuidance::collect_reach`].

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use brief_syntax::{Target, TargetKind};

use crate::answer::{Item, LeftOut, Name, Reason, Resolution, State};
use crate::moment::Moment;
use crate::{DialectGuidance, ProjectFiles};

/// An item and the files that it is for.
#[derive(Debug)]
pub struct ItemReach<'s> {
    pub candidate: Candidate<'s>,
    /// The files, by their index in [`ProjectFiles::files`].
    pub files: FileSet,
    /// True if the item also applies to a directory of the project.
    pub has_directory: bool,
}

/// An item that reaches a file.
#[derive(Debug, Clone)]
pub enum Candidate<'s> {
    Item(Item<'s>),
    /// The client that asks loads it by itself.
    Loaded(LeftOut<'s>),
}

impl<'s> Candidate<'s> {
    /// Returns dialect, kind and name for renaming, and the item's file.
    pub fn identity_mut(
        &mut self,
    ) -> (&mut &'static str, &mut &'static str, &mut Name<'s>, &'s Path) {
        match self {
            Candidate::Item(Item { dialect, kind, name, path, .. })
            | Candidate::Loaded(LeftOut { dialect, kind, name, path, .. }) => {
                (dialect, kind, name, path)
            }
        }
    }
}

/// A set of files of a project, as a bit set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSet {
    words: Box<[u64]>,
}

/// The number of files per word of the set.
const WORD: usize = 64;

impl FileSet {
    /// Returns an empty set for a project of `files` files.
    pub fn new(files: usize) -> FileSet {
        FileSet { words: vec![0; files.div_ceil(WORD)].into() }
    }

    /// Returns an empty set for the same project.
    #[must_use]
    pub fn empty_like(other: &FileSet) -> FileSet {
        FileSet { words: vec![0; other.words.len()].into() }
    }

    pub fn insert(&mut self, file: usize) {
        if let Some(word) = self.words.get_mut(file / WORD) {
            *word |= 1 << (file % WORD);
        }
    }

    /// Adds a range of files.
    pub fn insert_all(&mut self, files: Range<usize>) {
        let end = files.end.min(self.words.len() * WORD);
        for (index, word) in
            self.words.iter_mut().enumerate().take(end.div_ceil(WORD)).skip(files.start / WORD)
        {
            let first = files.start.saturating_sub(index * WORD);
            let count = (end - index * WORD).min(WORD);
            *word |= (u64::MAX >> (WORD - count)) & (u64::MAX << first);
        }
    }

    /// Returns whether a file is in the set.
    pub fn contains(&self, file: usize) -> bool {
        self.words.get(file / WORD).is_some_and(|word| word & 1 << (file % WORD) != 0)
    }

    /// Adds all files of another set.
    pub fn union_with(&mut self, other: &FileSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Removes all files that another set does not have.
    pub fn intersect_with(&mut self, other: &FileSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    /// Removes all files of another set.
    pub fn difference_with(&mut self, other: &FileSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// Returns the number of files.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    pub fn first(&self) -> Option<usize> {
        let (index, word) = self.words.iter().enumerate().find(|(_, word)| **word != 0)?;
        Some(index * WORD + word.trailing_zeros() as usize)
    }

    pub fn last(&self) -> Option<usize> {
        let (index, word) = self.words.iter().enumerate().rfind(|(_, word)| **word != 0)?;
        Some(index * WORD + WORD - 1 - word.leading_zeros() as usize)
    }

    /// Returns the files in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.checked_sub(1)?;
                Some(index * WORD + bit)
            })
        })
    }
}

/// A record of the patterns that match a file. Files of one directory with equal records get the
/// same answer.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub struct MatchRecord {
    words: Vec<u64>,
    used: usize,
}

impl MatchRecord {
    /// Records whether the next pattern matches the file.
    pub fn record_match(&mut self, covers: bool) {
        if self.used.is_multiple_of(WORD) {
            self.words.push(0);
        }
        if let Some(word) = self.words.last_mut() {
            *word |= u64::from(covers) << (self.used % WORD);
        }
        self.used += 1;
    }

    /// Clears the record for the next file.
    pub fn clear(&mut self) {
        self.words.clear();
        self.used = 0;
    }
}

/// A recorder of matches for the files of one directory.
pub type FileMatcher<'s> = Box<dyn Fn(&Target, &mut MatchRecord) + 's>;

/// Asks about every file in turn, and only once for files with equal records.
pub(crate) fn by_asking<'s>(
    guidance: &'s (impl DialectGuidance + ?Sized),
    moment: &Moment,
    files: &ProjectFiles,
    tell: &mut dyn FnMut(ItemReach<'s>),
) {
    let mut reached: Vec<ItemReach<'s>> = Vec::new();
    // Items are the same if path and line are: a path's address in memory compares faster than its
    // text.
    let mut known: HashMap<(usize, usize, usize, Option<State>), usize> = HashMap::new();
    let mut moment = moment.clone();
    let mut answer = Resolution { skip_left_out: true, ..Resolution::default() };
    // The items that reach the files of the last directory.
    let mut directory = None;
    let mut target = Target::from_slashed("", TargetKind::File);
    let mut alike: HashMap<MatchRecord, Vec<usize>> = HashMap::new();
    let mut record = MatchRecord::default();
    let mut record_matches = guidance.matcher_in("");
    for (file, path) in files.files.iter().enumerate() {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        if directory.replace(parent) == Some(parent) {
            target.set_name(name);
        } else {
            alike.clear();
            record_matches = guidance.matcher_in(parent);
            target = Target::from_slashed(path, TargetKind::File);
        }
        record.clear();
        record_matches(&target, &mut record);
        if let Some(places) = alike.get(&record) {
            for &place in places {
                reached[place].files.insert(file);
            }
            continue;
        }
        moment.target = Some(target.clone());
        guidance.resolve_items(&moment, &mut answer);
        let items = answer.items.drain(..).map(|applied| Candidate::Item(applied.item));
        let left_out = answer.left_out.drain(..);
        let is_loaded = |out: &LeftOut<'_>| matches!(out.reason, Reason::LoadedByClient { .. });
        let loaded = left_out.filter(is_loaded).map(Candidate::Loaded);
        let mut places = Vec::new();
        for candidate in items.chain(loaded) {
            let place = *known.entry(candidate_address(&candidate)).or_insert(reached.len());
            if place == reached.len() {
                let none = FileSet::new(files.files.len());
                reached.push(ItemReach { candidate, files: none, has_directory: false });
            }
            reached[place].files.insert(file);
            places.push(place);
        }
        alike.insert(record.clone(), places);
        answer.decisions.clear();
    }
    reached.into_iter().for_each(tell);
}

/// Returns the address of the path in memory, the line, the index in a list and the state.
fn candidate_address(candidate: &Candidate<'_>) -> (usize, usize, usize, Option<State>) {
    let (path, line, name, state) = match candidate {
        Candidate::Item(item) => (item.path, item.line, item.name, Some(item.state)),
        Candidate::Loaded(left_out) => (left_out.path, left_out.line, left_out.name, None),
    };
    let index = if let Name::Entry { index, .. } = name { index } else { 0 };
    (path.as_os_str().as_encoded_bytes().as_ptr().addr(), line, index, state)
}

#[cfg(test)]
mod tests {
    use super::FileSet;

    #[test]
    fn a_set_has_what_was_put_into_it() {
        let mut set = FileSet::new(130);
        set.insert_all(60..70);
        set.insert_all(70..70);
        set.insert(129);
        set.insert(1_000);
        assert_eq!(set.count(), 11);
        assert!(set.contains(69) && !set.contains(70) && !set.contains(1_000));
        assert_eq!(set.iter().collect::<Vec<_>>(), (60..70).chain([129]).collect::<Vec<_>>());
        let mut other = FileSet::new(130);
        other.insert_all(0..65);
        set.difference_with(&other);
        assert_eq!(set.iter().next(), Some(65));
        other.union_with(&set);
        assert_eq!(other.count(), 71);
        assert!(FileSet::new(0).is_empty() && FileSet::new(0).iter().next().is_none());
    }
}
