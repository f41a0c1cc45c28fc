//! For which files the guidance changes from one state of a project to another, and how.
//!
//! Both states are whole catalogs, and the files are those of the newer one: what is said about a file
//! that is gone concerns no one, and a new file is compared with what would have been said about it.
//! Most files get the same answer as their neighbors, so each distinct pair of answers is compared
//! once, whatever the number of files.

mod cover;
mod pairing;
mod piece;
mod report;
mod skill_file;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use brief_dialects::{MatchRecord, Moment, ProjectFiles, Resolution, State, structured};
use brief_syntax::{Target, TargetKind};
use brief_system::SeenFile;

pub use cover::{Cover, CoverPart};
pub use piece::DiffPiece;
pub use report::{DiffReport, Side};
pub use skill_file::{SkillFileChange, SkillFileChangeKind};

use crate::catalog::Catalog;
use crate::repetition;
use pairing::find_changed_pairs;

/// A file that both states read, or one of them, and that is not the same in both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path below the root, with `/` between names.
    pub path: String,
    /// True if it counts elsewhere than where it lies, as far as one can tell.
    pub is_linked: bool,
}

/// Returns the files that two states have read and that are not the same in both.
pub fn find_changed_files(
    root: &Path,
    before: &[SeenFile],
    after: &[SeenFile],
) -> Vec<ChangedFile> {
    let mut old: BTreeMap<&Path, &SeenFile> =
        before.iter().map(|seen| (seen.path.as_path(), seen)).collect();
    let mut found = Vec::new();
    for new in after {
        match old.remove(new.path.as_path()) {
            // What cannot be read is the same nowhere.
            Some(old) if old.digest == new.digest && new.digest.is_some() => {}
            Some(old) => found.push((new, old.is_linked || new.is_linked)),
            None => found.push((new, new.is_linked)),
        }
    }
    found.extend(old.into_values().map(|old| (old, old.is_linked)));
    let mut changed: Vec<ChangedFile> = found
        .into_iter()
        .map(|(seen, is_linked)| ChangedFile {
            path: slashed_below(root, &seen.path),
            // A file outside is read because of a link inside.
            is_linked: is_linked || !seen.path.starts_with(root),
        })
        .collect();
    changed.sort_by(|left, right| left.path.cmp(&right.path));
    changed
}

/// Returns a path as a person writes it: below the root, with `/` between names.
pub fn slashed_below(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let names: Vec<_> = below.iter().map(|name| name.to_string_lossy()).collect();
    names.join("/").replacen("//", "/", 1)
}

/// A question about two revisions.
#[derive(Debug, Clone, Copy)]
pub struct DiffQuestion<'q> {
    /// The moment, for whatever file: its own target does not count.
    pub moment: &'q Moment,
    /// The files that are not the same; only what they can reach is looked at.
    pub changed: &'q [ChangedFile],
    /// The files and directories to look at, below the root; none means all.
    pub within: &'q [String],
}

/// The change of a piece of guidance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemChangeKind {
    /// It is delivered, and was not.
    Added,
    /// It was delivered, and is not.
    Removed,
    /// Its text or its description is another one.
    Text,
    /// It is in the briefing, listed or waiting to be mentioned, and was something else of these.
    State,
    /// The same text comes from another place.
    Moved,
    /// It stands before or after other guidance than it did.
    Order,
}

impl ItemChangeKind {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            ItemChangeKind::Added => "added",
            ItemChangeKind::Removed => "removed",
            ItemChangeKind::Text => "text",
            ItemChangeKind::State => "state",
            ItemChangeKind::Moved => "moved",
            ItemChangeKind::Order => "order",
        }
    }
}

/// A change for some files.
#[derive(Debug)]
pub struct ItemChange<'c> {
    /// The kind of change.
    pub kind: ItemChangeKind,
    /// The piece that was delivered; `None` for a new one.
    pub before: Option<DiffPiece<'c>>,
    /// The piece that is delivered now; `None` for a removed one.
    pub after: Option<DiffPiece<'c>>,
    /// The groups of files that it concerns.
    groups: Vec<u32>,
}

impl<'c> ItemChange<'c> {
    /// Returns the piece as it is now, or was at last.
    pub fn piece(&self) -> &DiffPiece<'c> {
        let piece = self.after.as_ref().or(self.before.as_ref());
        piece.expect("a change has a piece before it or after it")
    }

    /// Returns whether it concerns only agents that open the item: its name and description, which all others see, are
    /// the same.
    pub fn is_on_demand(&self) -> bool {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return false };
        let is_offered = |piece: &DiffPiece<'_>| piece.state == State::Listed;
        self.kind == ItemChangeKind::Text
            && is_offered(before)
            && is_offered(after)
            && (before.name, before.description) == (after.name, after.description)
    }

    /// Returns the tokens before and after.
    pub fn tokens(&self) -> (usize, usize) {
        let tokens = |piece: &Option<DiffPiece<'_>>| piece.as_ref().map_or(0, DiffPiece::tokens);
        (tokens(&self.before), tokens(&self.after))
    }
}

/// All that changes.
#[derive(Debug)]
pub struct Comparison<'c> {
    /// The changes, by file and place.
    pub changes: Vec<ItemChange<'c>>,
    /// The files of the newer state, sorted.
    files: &'c [String],
    /// The group of each file: the files of a group get the same answers.
    groups: Vec<u32>,
}

/// The group of the files outside the question.
const UNASKED: u32 = u32::MAX;

impl Comparison<'_> {
    /// Returns how many files the newer state has.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// Returns how many files get another answer than before.
    pub fn changed_file_count(&self) -> usize {
        let mut changed = vec![false; self.group_count()];
        let of_files = self.changes.iter().filter(|change| !change.is_on_demand());
        for &group in of_files.flat_map(|change| &change.groups) {
            changed[group as usize] = true;
        }
        self.groups.iter().filter(|&&group| is_in(&changed, group)).count()
    }

    /// Returns the files that a change concerns, whole directories in one; none for one that is on demand.
    pub fn cover_change(&self, change: &ItemChange<'_>) -> Cover {
        let mut concerned = vec![false; self.group_count()];
        let groups = change.groups.iter().filter(|_| !change.is_on_demand());
        for &group in groups {
            concerned[group as usize] = true;
        }
        cover::cover_files(self.files, &|index| is_in(&concerned, self.groups[index]))
    }

    fn group_count(&self) -> usize {
        let groups = self.groups.iter().filter(|&&group| group != UNASKED);
        groups.max().map_or(0, |&group| group as usize + 1)
    }
}

fn is_in(set: &[bool], group: u32) -> bool {
    set.get(group as usize).copied().unwrap_or(false)
}

/// Compares what two states of a project, read whole, say about the files of the newer one.
pub fn compare_catalogs<'c>(
    before: &'c Catalog,
    after: &'c Catalog,
    asked: &DiffQuestion<'c>,
) -> Comparison<'c> {
    let files = after.files().map(|files| files.files.as_slice()).unwrap_or_default();
    let mut comparison = Comparison { changes: Vec::new(), files, groups: Vec::new() };
    let Some(project) = after.files().filter(|_| !asked.changed.is_empty()) else {
        comparison.groups = vec![UNASKED; files.len()];
        return comparison;
    };
    let is_asked = asked_files(project, asked);
    let client = asked.moment.client.as_deref();
    let mut moment = Moment { skip_left_out: true, ..asked.moment.clone() };
    let mut groups: HashMap<Vec<usize>, u32> = HashMap::new();
    let mut changes = Changes::default();
    // The groups of the directory that was looked at last: files that are alike are in one.
    let mut directory = None;
    let mut alike: HashMap<MatchRecord, u32> = HashMap::new();
    let mut record = MatchRecord::default();
    for (file, is_asked) in files.iter().zip(is_asked) {
        if !is_asked {
            comparison.groups.push(UNASKED);
            continue;
        }
        let parent = file.rsplit_once('/').map_or("", |(parent, _)| parent);
        if directory.replace(parent) != Some(parent) {
            alike.clear();
        }
        let target = Target::from_slashed(file, TargetKind::File);
        record.clear();
        before.record_matches(&target, &mut record);
        after.record_matches(&target, &mut record);
        if let Some(&group) = alike.get(&record) {
            comparison.groups.push(group);
            continue;
        }
        moment.target = Some(target);
        let (old, new) = (before.collect_candidates(&moment), after.collect_candidates(&moment));
        let mut key = Vec::new();
        push_identity(&old, &mut key);
        key.push(usize::MAX);
        push_identity(&new, &mut key);
        let next = u32::try_from(groups.len()).unwrap_or(UNASKED);
        let group = *groups.entry(key).or_insert_with(|| {
            changes.compare_answers(
                delivered_pieces(old, client),
                delivered_pieces(new, client),
                next,
            );
            next
        });
        alike.insert(record.clone(), group);
        comparison.groups.push(group);
    }
    comparison.changes = changes.into_sorted();
    comparison
}

/// Marks the files that a changed file can reach, as far as they are asked about.
fn asked_files(project: &ProjectFiles, asked: &DiffQuestion<'_>) -> Vec<bool> {
    let files = &project.files;
    let is_narrow = |changed: &ChangedFile| {
        let name = changed.path.rsplit('/').next().unwrap_or_default();
        !changed.is_linked && structured::FILE_NAMES.contains(&name)
    };
    let mut marked = vec![false; files.len()];
    if asked.changed.iter().all(is_narrow) {
        for changed in asked.changed {
            let directory = changed.path.rsplit_once('/').map_or("", |(directory, _)| directory);
            marked[project.places_below(directory)].fill(true);
        }
    } else {
        // Other formats read further files, from anywhere.
        marked.fill(true);
    }
    if asked.within.is_empty() {
        return marked;
    }
    let mut within = vec![false; files.len()];
    for path in asked.within {
        within[project.places_below(path)].fill(true);
        if let Ok(index) = files.binary_search(path) {
            within[index] = true;
        }
    }
    marked.iter().zip(within).map(|(&marked, within)| marked && within).collect()
}

/// Writes down what an answer consists of. Everything in it is borrowed from the catalog, so that the
/// same part is at the same address.
fn push_identity(answer: &Resolution<'_>, key: &mut Vec<usize>) {
    for applied in &answer.items {
        key.extend(DiffPiece::of_item(&applied.item).identity());
    }
    for bound in &answer.decisions {
        key.push(std::ptr::from_ref(bound.decision).addr());
    }
    for left_out in &answer.left_out {
        // What the client loads by itself decides about others: the same text is left out, too.
        key.extend([left_out.content.as_ptr().addr(), left_out.line]);
    }
}

fn delivered_pieces<'c>(mut answer: Resolution<'c>, client: Option<&'c str>) -> Vec<DiffPiece<'c>> {
    repetition::remove_repetitions(&mut answer, client);
    let items = answer.items.iter().map(|applied| DiffPiece::of_item(&applied.item));
    items.chain(answer.decisions.iter().map(DiffPiece::of_decision)).collect()
}

type ChangeIdentity = (ItemChangeKind, Option<[usize; 4]>, Option<[usize; 4]>);

#[derive(Default)]
struct Changes<'c> {
    found: Vec<ItemChange<'c>>,
    known: HashMap<ChangeIdentity, usize>,
}

impl<'c> Changes<'c> {
    /// Compares two answers.
    fn compare_answers(
        &mut self,
        before: Vec<DiffPiece<'c>>,
        after: Vec<DiffPiece<'c>>,
        group: u32,
    ) {
        for (kind, before, after) in find_changed_pairs(before, after) {
            let key = (
                kind,
                before.as_ref().map(DiffPiece::identity),
                after.as_ref().map(DiffPiece::identity),
            );
            let index = *self.known.entry(key).or_insert_with(|| {
                self.found.push(ItemChange { kind, before, after, groups: Vec::new() });
                self.found.len() - 1
            });
            self.found[index].groups.push(group);
        }
    }

    fn into_sorted(self) -> Vec<ItemChange<'c>> {
        let mut changes = self.found;
        changes.sort_by_key(|change| {
            let piece = change.piece();
            (piece.path, piece.line, change.kind)
        });
        changes
    }
}

#[cfg(test)]
mod tests;
