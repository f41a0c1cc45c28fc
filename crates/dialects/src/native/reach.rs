//! The files that each guide is for, found from its patterns.
//!
//! Without a client, a guide's place among the others depends on the files that it covers, and on nothing else. So each
//! guide is judged once, and not once for each file.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;

use crate::name_index::NameIndex;
use crate::{Candidate, FileSet, ItemReach, ProjectFiles, State};

use super::model::{ComparedText, Folder, Guide};
use super::resolve::item;

/// Returns the index of the files that the patterns of some directories name.
pub(super) fn name_index<'f, 's>(
    folders: impl Iterator<Item = &'s Folder>,
    project: &'f ProjectFiles,
) -> NameIndex<'f> {
    let scopes = folders.flat_map(|folder| &folder.guides).filter_map(|guide| guide.scope.as_ref());
    NameIndex::new(project, scopes.flat_map(|scope| scope.globs.compiled()))
}

/// Finds the files of each guide that applies to some; the directories come parents first.
pub(super) fn reach<'s>(
    folders: &'s [Folder],
    project: &ProjectFiles,
    tell: &mut dyn FnMut(ItemReach<'s>),
) {
    let index = name_index(folders.iter(), project);
    let none = FileSet::new(project.files.len());
    let mut taken = Taken::new(folders, &none);
    let mut reached: Vec<ItemReach<'s>> = Vec::new();
    for folder in folders {
        let below = index.below(&folder.directory);
        for guide in &folder.guides {
            let mut files = none.clone();
            files.insert_all(below.range());
            leave_to_first(taken.paths.get_mut(guide.path()), &mut files);
            let Some(state) = guide.state() else { continue };
            if let Some(scope) = &guide.scope {
                let mut covered = none.clone();
                scope.globs.cover(&below, &mut covered);
                files.keep(&covered);
            }
            match state {
                State::Active => taken.leave_links(guide, &mut files),
                State::Offered => leave_to_first(taken.texts.get_mut(&offer(guide)), &mut files),
                State::Manual => {}
            }
            if !files.is_empty() {
                let candidate = Candidate::Item(item(folder, guide, state));
                reached.push(ItemReach { candidate, files, has_directory: false });
            }
        }
    }
    // In the order in which the files would be asked about.
    reached.sort_by_key(|reached| match &reached.candidate {
        Candidate::Item(item) => (reached.files.first(), item.level),
        Candidate::Loaded(left_out) => (reached.files.first(), left_out.level),
    });
    reached.into_iter().for_each(tell);
}

/// The kind, the name and the text of a guide: what is offered with the same is offered once.
type Offer<'s> = (&'static str, &'s str, ComparedText<'s>);

fn offer(guide: &Guide) -> Offer<'_> {
    (guide.kind, guide.name.as_str(), guide.compared())
}

/// The files that an earlier guide has in place of a later one, for guides that have something in common.
struct Taken<'s> {
    /// By the path that more than one way leads to.
    paths: HashMap<&'s Path, FileSet>,
    /// By the file itself: where a guide applies, and where the first one is for all files.
    links: HashMap<&'s Path, (FileSet, FileSet)>,
    /// By what is offered.
    texts: HashMap<Offer<'s>, FileSet>,
}

impl<'s> Taken<'s> {
    fn new(folders: &'s [Folder], none: &FileSet) -> Taken<'s> {
        let guides = || folders.iter().flat_map(|folder| &folder.guides);
        let offered = guides().filter(|guide| guide.state() == Some(State::Offered));
        Taken {
            paths: common(guides().map(Guide::path), none),
            links: common(guides().map(Guide::real), &(none.clone(), none.clone())),
            texts: common(offered.map(offer), none),
        }
    }

    /// Leaves out the files that have the same text by another link, if neither has a scope of its own.
    fn leave_links(&mut self, guide: &Guide, files: &mut FileSet) {
        let Some((any, for_all)) = self.links.get_mut(guide.real()) else { return };
        let whole = files.clone();
        if guide.scope.is_none() {
            let mut first = whole.clone();
            first.subtract(any);
            files.subtract(for_all);
            for_all.add(&first);
        }
        any.add(&whole);
    }
}

/// Returns the keys that occur more than once, each with a value.
fn common<K: Eq + Hash, V: Clone>(keys: impl Iterator<Item = K>, value: &V) -> HashMap<K, V> {
    let mut counts: HashMap<K, usize> = HashMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1);
    counts.retain(|_, count| *count > 1);
    counts.into_keys().map(|key| (key, value.clone())).collect()
}

/// Leaves out the files that are taken, and takes the others.
fn leave_to_first(taken: Option<&mut FileSet>, files: &mut FileSet) {
    if let Some(taken) = taken {
        let all = files.clone();
        files.subtract(taken);
        taken.add(&all);
    }
}
