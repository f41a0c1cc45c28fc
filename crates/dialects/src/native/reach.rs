//! The files that each guide is for, found from its patterns.
//!
//! A guide's place among the others depends on the files that it covers, and for nearly all clients on nothing else. So
//! each guide is judged once, and not once for each file.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;

use brief_profiles::Client;
use brief_syntax::limits;

use crate::name_index::NameIndex;
use crate::{Applied, Candidate, FileSet, ItemReach, LoadedPart, ProjectFiles, Reason, State};

use super::clients;
use super::loading::{Loading, is_counted};
use super::model::{ComparedText, Folder, Guide, Use};
use super::resolve::{NativeQuestion, build_item, loaded_part, replacement_reason};

/// Returns the index of the files that the patterns of some directories name.
pub(super) fn name_index<'f, 's>(
    folders: impl Iterator<Item = &'s Folder>,
    project: &'f ProjectFiles,
) -> NameIndex<'f> {
    let scopes = folders.flat_map(|folder| &folder.guides).filter_map(|guide| guide.scope.as_ref());
    NameIndex::new(project, scopes.flat_map(|scope| scope.globs.compiled_globs()))
}

/// A guide and the files that it has to do with.
struct GuideFiles<'s> {
    folder: &'s Folder,
    guide: &'s Guide,
    /// The files that are asked about it: those of its directory, unless another way leads there first.
    asked: FileSet,
    /// The files that it is about.
    covered: FileSet,
    /// The files for which the client loads it.
    loaded: FileSet,
}

/// Finds the files of each guide that applies to some; the directories come parents first.
///
/// Returns false for a client whose choice depends on more than a guide and a file.
pub(super) fn collect_reaches<'s>(
    folders: &'s [Folder],
    asked: &NativeQuestion<'_, 's>,
    project: &ProjectFiles,
    tell: &mut dyn FnMut(ItemReach<'s>),
) -> bool {
    let loading = match asked.client {
        Some((client, _)) if !is_plain(folders, client, asked) => return false,
        Some((client, _)) => {
            let all: Vec<&Folder> = folders.iter().collect();
            Some((Loading::new(client, &all, &all, asked), clients::goes_by_itself(client)))
        }
        None => None,
    };
    let mode = loading.as_ref().and_then(|(loading, _)| loading.mode);
    let index = name_index(folders.iter(), project);
    let none = FileSet::new(project.files.len());
    let mut taken = Taken::new(folders, &none);
    let mut guides = find_files(folders, &index, &mut taken, &none);
    if let Some((loading, goes_by_itself)) = &loading {
        mark_loaded(loading, *goes_by_itself, &mut guides, &index, &none);
    }
    for GuideFiles { guide, covered, loaded, .. } in &guides {
        // What the client has itself is listed in place of all that says the same.
        if let Some(taken) = taken.texts.get_mut(&guide_offer(guide))
            && guide.state() == Some(State::Listed)
        {
            taken.union_with(&intersect_file_sets(covered, loaded));
        }
    }
    let mut reached: Vec<(bool, ItemReach<'s>)> = Vec::new();
    for GuideFiles { folder, guide, mut covered, loaded, .. } in guides {
        if let (Some(first), Some((client, name))) = (loaded.first(), asked.client) {
            let state = guide.state().filter(|_| covered.contains(first));
            let mut applied = Applied::new(
                build_item(folder, guide, state.unwrap_or(State::Active)),
                Reason::Listed,
            );
            let part =
                state.map_or(LoadedPart::Whole, |state| loaded_part(client, folder, guide, state));
            if part.is_listing() {
                applied.item.content = &guide.description;
            }
            let left_out = applied.leave_out(Reason::LoadedByClient { client: name, part });
            let candidate = Candidate::Loaded(left_out);
            reached
                .push((true, ItemReach { candidate, files: loaded.clone(), has_directory: false }));
        }
        let Some(state) = guide.state() else { continue };
        match state {
            State::Active => taken.leave_links(guide, &mut covered),
            State::Listed => {
                covered.difference_with(&loaded);
                leave_to_first(taken.texts.get_mut(&guide_offer(guide)), &mut covered);
            }
            State::Manual => {}
        }
        covered.difference_with(&loaded);
        if !covered.is_empty() && replacement_reason(folder, guide, asked, mode).is_none() {
            let candidate = Candidate::Item(build_item(folder, guide, state));
            reached.push((false, ItemReach { candidate, files: covered, has_directory: false }));
        }
    }
    // In the order in which the files would be asked about.
    reached.sort_by_key(|(is_loaded, reached)| {
        let level = match &reached.candidate {
            Candidate::Item(item) => item.level,
            Candidate::Loaded(left_out) => left_out.level,
        };
        (reached.files.first(), *is_loaded, level)
    });
    for (_, reached) in reached {
        tell(reached);
    }
    true
}

/// Returns whether a client chooses by the guide and the file alone: it was started at the top, the settings that it
/// reads lie there, and all that it may load is less than the most that it loads.
fn is_plain(folders: &[Folder], client: &Client, asked: &NativeQuestion<'_, '_>) -> bool {
    let counted = folders.iter().flat_map(|folder| {
        folder
            .guides
            .iter()
            .filter(|guide| is_counted(folder, guide))
            .map(|guide| guide.source.text().len())
    });
    asked.started.is_none_or(|started| started == asked.root)
        && folders.iter().all(|folder| folder.directory.is_empty() || folder.settings.is_empty())
        && client.loading.most_bytes.is_none_or(|most| counted.sum::<usize>() <= most)
}

fn find_files<'s>(
    folders: &'s [Folder],
    index: &NameIndex<'_>,
    taken: &mut Taken<'s>,
    none: &FileSet,
) -> Vec<GuideFiles<'s>> {
    let mut found = Vec::new();
    for folder in folders {
        let below = index.files_below(&folder.directory);
        for guide in &folder.guides {
            let mut asked = none.clone();
            asked.insert_all(below.range());
            leave_to_first(taken.paths.get_mut(guide.path()), &mut asked);
            let mut covered = none.clone();
            match (&guide.scope, guide.state()) {
                (_, None) => {}
                (None, Some(_)) => covered.union_with(&asked),
                (Some(scope), Some(_)) => {
                    scope.globs.add_covered_files(&below, &mut covered);
                    covered.intersect_with(&asked);
                }
            }
            found.push(GuideFiles { folder, guide, asked, covered, loaded: none.clone() });
        }
    }
    found
}

/// Notes the files for which the client loads each guide, and what that imports.
fn mark_loaded(
    loading: &Loading<'_>,
    goes_by_itself: bool,
    guides: &mut [GuideFiles<'_>],
    index: &NameIndex<'_>,
    none: &FileSet,
) {
    let mut importing: Vec<FileSet> = Vec::new();
    for GuideFiles { folder, guide, asked, covered, loaded } in guides.iter_mut() {
        let is_bridge = matches!(guide.use_, Use::Bridge(_));
        // A client that goes by itself may load what the guide's own fields leave out.
        let mut known = if goes_by_itself || is_bridge { asked.clone() } else { covered.clone() };
        let mut imports = none.clone();
        let is_in = is_bridge || matches!(guide.state(), Some(State::Active | State::Listed));
        for is_covered in [true, false] {
            let mut files = known.clone();
            match is_covered {
                _ if is_bridge && !is_covered => continue,
                true if !is_bridge => files.intersect_with(covered),
                _ => {}
            }
            known.difference_with(&files);
            if files.is_empty() {
                continue;
            }
            let choice = |in_cli: bool| {
                loading.resolve_loading(folder, guide, is_in && is_covered, &|_| in_cli)
            };
            let (in_cli, elsewhere) = (choice(true), choice(false));
            if in_cli != elsewhere
                && let Some(scope) = &guide.scope
            {
                let mut covered_in_cli = none.clone();
                scope.globs.cover_in_cli(&index.files_below(""), &mut covered_in_cli);
                let mut others = files.clone();
                others.difference_with(&covered_in_cli);
                files.intersect_with(&covered_in_cli);
                add_choice(elsewhere, &others, loaded, &mut imports);
            }
            add_choice(in_cli, &files, loaded, &mut imports);
        }
        importing.push(imports);
    }
    mark_imports(loading, goes_by_itself, guides, importing);
}

fn add_choice(choice: Option<bool>, files: &FileSet, loaded: &mut FileSet, imports: &mut FileSet) {
    if let Some(does_import) = choice {
        loaded.union_with(files);
        if does_import {
            imports.union_with(files);
        }
    }
}

/// Follows the imports of what is loaded, as often as clients do.
fn mark_imports(
    loading: &Loading<'_>,
    goes_by_itself: bool,
    guides: &mut [GuideFiles<'_>],
    mut importing: Vec<FileSet>,
) {
    if guides
        .iter()
        .zip(&importing)
        .all(|(one, files)| one.guide.imports.is_empty() || files.is_empty())
    {
        return;
    }
    let mut by_path: HashMap<&Path, Vec<usize>> = HashMap::new();
    for (number, GuideFiles { guide, .. }) in guides.iter().enumerate() {
        by_path.entry(guide.path()).or_default().push(number);
    }
    for _ in 0..limits::NATIVE_HOPS {
        let mut next: Vec<FileSet> = importing.iter().map(FileSet::empty_like).collect();
        for (number, files) in importing.iter().enumerate().filter(|(_, files)| !files.is_empty()) {
            let GuideFiles { folder, guide, .. } = guides[number];
            for path in guide.imports.iter().filter(|path| loading.may_import(folder, path)) {
                for &target in by_path.get(path.as_path()).into_iter().flatten() {
                    let GuideFiles { guide, asked, covered, loaded, .. } = &mut guides[target];
                    let is_asked = goes_by_itself || matches!(guide.use_, Use::Bridge(_));
                    let mut new =
                        intersect_file_sets(files, if is_asked { asked } else { covered });
                    new.difference_with(loaded);
                    loaded.union_with(&new);
                    next[target].union_with(&new);
                }
            }
        }
        if next.iter().all(FileSet::is_empty) {
            return;
        }
        importing = next;
    }
}

fn intersect_file_sets(one: &FileSet, other: &FileSet) -> FileSet {
    let mut both = one.clone();
    both.intersect_with(other);
    both
}

/// The kind, the name and the text of a guide: what is listed with the same is listed once.
type Offer<'s> = (&'static str, &'s str, ComparedText<'s>);

fn guide_offer(guide: &Guide) -> Offer<'_> {
    (guide.kind, guide.name.as_str(), guide.compared_text())
}

/// The files that an earlier guide has in place of a later one, for guides that have something in common.
struct Taken<'s> {
    /// By the path that more than one way leads to.
    paths: HashMap<&'s Path, FileSet>,
    /// By the file itself: where a guide applies, and where the first one is for all files.
    links: HashMap<&'s Path, (FileSet, FileSet)>,
    texts: HashMap<Offer<'s>, FileSet>,
}

impl<'s> Taken<'s> {
    fn new(folders: &'s [Folder], none: &FileSet) -> Taken<'s> {
        let guides = || folders.iter().flat_map(|folder| &folder.guides);
        let listed = guides().filter(|guide| guide.state() == Some(State::Listed));
        Taken {
            paths: repeated_keys(guides().map(Guide::path), none),
            links: repeated_keys(guides().map(Guide::real_path), &(none.clone(), none.clone())),
            texts: repeated_keys(listed.map(guide_offer), none),
        }
    }

    /// Leaves out the files that have the same text by another link, if neither has a scope of its own.
    fn leave_links(&mut self, guide: &Guide, files: &mut FileSet) {
        let Some((any, for_all)) = self.links.get_mut(guide.real_path()) else { return };
        let whole = files.clone();
        if guide.scope.is_none() {
            let mut first = whole.clone();
            first.difference_with(any);
            files.difference_with(for_all);
            for_all.union_with(&first);
        }
        any.union_with(&whole);
    }
}

/// Returns the keys that occur more than once, each with a value.
fn repeated_keys<K: Eq + Hash, V: Clone>(
    keys: impl Iterator<Item = K>,
    value: &V,
) -> HashMap<K, V> {
    let mut counts: HashMap<K, usize> = HashMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1);
    counts.retain(|_, count| *count > 1);
    counts.into_keys().map(|key| (key, value.clone())).collect()
}

/// Leaves out the files that are taken, and takes the others.
fn leave_to_first(taken: Option<&mut FileSet>, files: &mut FileSet) {
    if let Some(taken) = taken {
        let all = files.clone();
        files.difference_with(taken);
        taken.union_with(&all);
    }
}
