//! A whole project at once: what there is, where it applies, what it costs.
//!
//! Made from what each dialect tells about its items and files ([`Catalog::collect_reach`]), not from an
//! answer for every file: a project may have a hundred thousand of them.

mod gaps;
#[cfg(test)]
mod tests;

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;

use brief_dialects::{
    Applied, Candidate, FileSet, Item, LeftOut, Level, Moment, Name, Owner, ProjectFiles, Reason,
    State, is_for_everybody,
};
use brief_syntax::{Target, TargetKind};
use serde::Serialize;

use crate::Catalog;
use crate::budget::{Count, item_cost};
use crate::repetition::Text;
use crate::sees::{ReasonWords, Sees, SeesTable, Total, Viewer};

pub use gaps::CoverageGap;
pub(crate) use gaps::MarkCounts;

/// A project's guidance, seen from above.
#[derive(Debug)]
pub struct Survey<'c> {
    /// Every item, general first. Repetitions are in it.
    pub items: Vec<SurveyedItem<'c>>,
    /// The items that are left out at every moment, with the reason.
    pub left_out: Vec<LeftOut<'c>>,
    /// The cost of delivering all items, the same text once.
    pub tokens: usize,
    /// The files of the project.
    pub files: &'c ProjectFiles,
    /// The tokens that each file gets, in the order of the files.
    pub costs: Vec<usize>,
    /// The files that something is for.
    covered: FileSet,
    /// For each item whose loading depends on the client, two of the files that it is for.
    examples: BTreeSet<usize>,
}

/// The number of files that an item keeps as examples.
pub const EXAMPLES: usize = 200;

/// An item of a project.
#[derive(Debug, Clone)]
pub struct SurveyedItem<'c> {
    /// The item, in the state that it has where it counts most.
    pub item: Item<'c>,
    /// The directory whose guidance it is, `/`-separated below the root; `None` for the user's own.
    pub directory: Option<String>,
    /// The cost of delivering it.
    pub tokens: usize,
    /// The number of files that it is for, without being mentioned.
    pub files: usize,
    /// The first of these files, by their places in the list of all.
    pub examples: Vec<usize>,
    /// True if it is for a directory of the project instead.
    pub has_directory: bool,
    /// True if there are files for which a user could mention it.
    pub is_manual: bool,
    /// True if an item before it has the same text, which counts once in what all of them cost.
    pub is_repeated: bool,
}

impl SurveyedItem<'_> {
    /// Returns whether nothing in the project gets it.
    pub fn is_idle(&self) -> bool {
        self.files == 0 && !self.has_directory && !self.is_manual
    }
}

/// A directory that has guidance of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SurveyedDirectory {
    /// The directory, `/`-separated below the root; `None` for the user's own guidance.
    pub path: Option<String>,
    /// The number of its own items.
    pub items: usize,
    /// Their cost.
    pub tokens: usize,
    /// The number of its files, those further down included.
    pub files: usize,
    /// The tokens of the file that gets least, from here and from above.
    pub least: Option<usize>,
    /// The tokens of the file that gets most.
    pub most: Option<usize>,
}

/// The guidance that a client has of a project, in tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The client.
    pub client: String,
    /// The texts that it loads by itself.
    pub loaded: usize,
    /// Names and descriptions.
    pub listed: usize,
    /// The texts that its hook delivers.
    pub delivered: usize,
    /// The items that apply and do not get to it.
    pub missing: usize,
}

/// The items of one dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DialectCost {
    /// The dialect.
    #[serde(rename = "format")]
    pub dialect: &'static str,
    /// The number of its items.
    pub items: usize,
    /// Their cost.
    pub tokens: usize,
}

impl DialectCost {
    /// Sums up the costs of items by dialect, the most expensive first.
    pub fn sum_by_dialect(items: impl Iterator<Item = (&'static str, usize)>) -> Vec<DialectCost> {
        let mut dialects: Vec<DialectCost> = Vec::new();
        for (dialect, tokens) in items {
            match dialects.iter_mut().find(|of| of.dialect == dialect) {
                Some(of) => {
                    of.items += 1;
                    of.tokens += tokens;
                }
                None => dialects.push(DialectCost { dialect, items: 1, tokens }),
            }
        }
        dialects.sort_by_key(|of| (std::cmp::Reverse(of.tokens), of.dialect));
        dialects
    }
}

type ItemKey<'c> = (&'c OsStr, usize, Name<'c>);

fn item_key<'c>(item: &Item<'c>) -> ItemKey<'c> {
    (item.path.as_os_str(), item.line, item.name)
}

/// A text that stands in more than one place, and the files that get it.
struct SharedText {
    tokens: usize,
    delivered: FileSet,
    loaded: FileSet,
}

struct SharedTexts<'c> {
    places: HashMap<Text<'c>, usize>,
    texts: Vec<SharedText>,
}

impl<'c> SharedTexts<'c> {
    fn ensure_text(&mut self, text: Text<'c>, files: usize) -> &mut SharedText {
        let place = *self.places.entry(text).or_insert(self.texts.len());
        if place == self.texts.len() {
            let none = || FileSet::new(files);
            self.texts.push(SharedText { tokens: 0, delivered: none(), loaded: none() });
        }
        &mut self.texts[place]
    }
}

impl<'c> Survey<'c> {
    /// Looks at a project that was read with [`Catalog::read_project`]; `None` for any other. The target
    /// of the moment does not count.
    pub fn from_catalog(
        catalog: &'c Catalog,
        root: &Path,
        moment: &Moment,
        count: Count<'_>,
    ) -> Option<Survey<'c>> {
        let files = catalog.files()?;
        let moment = Moment { target: None, ..moment.clone() };
        let listed = catalog.collect_candidates(&moment);
        let mut survey = Survey {
            items: Vec::with_capacity(listed.items.len()),
            left_out: listed.left_out,
            tokens: 0,
            files,
            costs: vec![0; files.files.len()],
            covered: FileSet::new(files.files.len()),
            examples: BTreeSet::new(),
        };
        let mut known: HashMap<ItemKey<'c>, usize> = HashMap::new();
        // What stands in one place only need not be held against anything.
        let mut places: HashMap<Text<'c>, usize> = HashMap::new();
        for Applied { item, .. } in listed.items {
            // A file of one format that a client's own file imports is listed as both, and is one item.
            if let Entry::Vacant(new) = known.entry(item_key(&item)) {
                new.insert(survey.items.len());
                *places.entry(Text::from_content(item.content)).or_default() += 1;
                survey.push_item(root, item, count);
            }
        }
        for left_out in &survey.left_out {
            if matches!(left_out.reason, Reason::LoadedByClient { .. }) {
                *places.entry(Text::from_content(left_out.content)).or_default() += 1;
            }
        }
        let mut shared = SharedTexts { places: HashMap::new(), texts: Vec::new() };
        let number = files.files.len();
        catalog.collect_reach(&moment, &mut |mut reached| {
            if !is_for_everybody(reached.candidate.identity_mut().0) {
                survey.examples.extend(reached.files.first());
                survey.examples.extend(reached.files.last());
            }
            match reached.candidate {
                Candidate::Loaded(left_out) => {
                    survey.covered.union_with(&reached.files);
                    shared
                        .ensure_text(Text::from_content(left_out.content), number)
                        .loaded
                        .union_with(&reached.files);
                }
                Candidate::Item(item) => {
                    let place = *known.entry(item_key(&item)).or_insert(survey.items.len());
                    if place == survey.items.len() {
                        survey.push_item(root, item.clone(), count);
                    }
                    let text = Text::from_content(item.content);
                    let is_alone = places.get(&text) == Some(&1);
                    let (state, has_directory) = (item.state, reached.has_directory);
                    let tokens =
                        survey.add_reach(place, &item, &reached.files, has_directory, count);
                    match state {
                        State::Active if is_alone => survey.add_costs(&reached.files, tokens),
                        State::Active => {
                            let shared = shared.ensure_text(text, number);
                            shared.tokens = shared.tokens.max(tokens);
                            shared.delivered.union_with(&reached.files);
                        }
                        State::Listed | State::Manual => survey.add_costs(&reached.files, tokens),
                    }
                }
            }
        });
        for SharedText { tokens, mut delivered, loaded } in shared.texts {
            delivered.difference_with(&loaded);
            survey.add_costs(&delivered, tokens);
        }
        survey.find_repetitions();
        let counted = survey.items.iter().filter(|surveyed| !surveyed.is_repeated);
        survey.tokens = counted.map(|surveyed| surveyed.tokens).sum();
        Some(survey)
    }

    fn push_item(&mut self, root: &Path, item: Item<'c>, count: Count<'_>) {
        let directory = directory_of(root, item.path, item.level);
        let tokens = item_cost(&item, count);
        self.items.push(SurveyedItem {
            item,
            directory,
            tokens,
            files: 0,
            examples: Vec::new(),
            has_directory: false,
            is_manual: false,
            is_repeated: false,
        });
    }

    /// Adds what is known of an item, and returns what it costs there.
    fn add_reach(
        &mut self,
        place: usize,
        item: &Item<'c>,
        files: &FileSet,
        has_directory: bool,
        count: Count<'_>,
    ) -> usize {
        let surveyed = &mut self.items[place];
        let number = files.count();
        let is_known = item.state == surveyed.item.state;
        let tokens = if is_known { surveyed.tokens } else { item_cost(item, count) };
        if item.state == State::Manual {
            surveyed.is_manual |= number > 0;
            return tokens;
        }
        self.covered.union_with(files);
        // A list does not know whether an item would be active; a file does.
        if number > 0 && (surveyed.files == 0 || item.state < surveyed.item.state) {
            surveyed.item.state = item.state;
            surveyed.tokens = tokens;
        }
        surveyed.files += number;
        let more = EXAMPLES.saturating_sub(surveyed.examples.len());
        surveyed.examples.extend(files.iter().take(more));
        surveyed.has_directory |= has_directory;
        tokens
    }

    fn add_costs(&mut self, files: &FileSet, tokens: usize) {
        if tokens > 0 {
            files.iter().for_each(|file| self.costs[file] += tokens);
        }
    }

    fn find_repetitions(&mut self) {
        let mut seen: HashSet<Text<'c>> = HashSet::new();
        for surveyed in &mut self.items {
            let item = &surveyed.item;
            surveyed.is_repeated =
                item.state == State::Active && !seen.insert(Text::from_content(item.content));
        }
    }

    /// Returns the items by dialect. The same text counts once.
    pub fn dialect_costs(&self) -> Vec<DialectCost> {
        let distinct = self.items.iter().filter(|surveyed| !surveyed.is_repeated);
        DialectCost::sum_by_dialect(
            distinct.map(|surveyed| (surveyed.item.dialect, surveyed.tokens)),
        )
    }

    /// Returns how many files there are below a directory.
    pub fn file_count(&self, directory: &str) -> usize {
        self.files.places_below(directory).len()
    }

    /// Returns whether an item is for nine in ten files of the project at least.
    pub fn is_everywhere(&self, surveyed: &SurveyedItem<'_>) -> bool {
        surveyed.files > 0 && surveyed.files * 10 >= self.files.files.len() * 9
    }

    /// Returns the directories that have guidance of their own, the user's first, then by path.
    pub fn surveyed_directories(&self) -> Vec<SurveyedDirectory> {
        let mut places: Vec<SurveyedDirectory> = Vec::new();
        let mut of: Vec<&SurveyedItem<'c>> = self.items.iter().collect();
        of.sort_by(|left, right| left.directory.cmp(&right.directory));
        for own in of.chunk_by(|left, right| left.directory == right.directory) {
            let path = own[0].directory.clone();
            let below = self.files.places_below(path.as_deref().unwrap_or_default());
            let costs = &self.costs[below];
            places.push(SurveyedDirectory {
                path,
                items: own.len(),
                tokens: own.iter().map(|surveyed| surveyed.tokens).sum(),
                files: costs.len(),
                least: costs.iter().min().copied(),
                most: costs.iter().max().copied(),
            });
        }
        places
    }

    /// Passes on what reaches a client: by a few of the files that each item is for, because asking about every file
    /// takes as long as the survey itself. A project with many items is asked as a whole. Nothing is passed on for a
    /// client that loads the same for every file.
    fn each_example<'v>(
        &self,
        catalog: &'v Catalog,
        moment: &Moment,
        tell: &mut dyn FnMut(Candidate<'v>),
    ) {
        if !catalog.loads_by_file(moment.client.as_deref().unwrap_or_default()) {
            return;
        }
        if self.examples.len() * self.items.len() > 4 * self.files.files.len() {
            let moment = Moment { target: None, ..moment.clone() };
            return catalog.collect_reach(&moment, &mut |reached| tell(reached.candidate));
        }
        for &file in &self.examples {
            let target = Some(Target::from_slashed(&self.files.files[file], TargetKind::File));
            let moment = Moment { target, skip_left_out: true, ..moment.clone() };
            let answer = catalog.collect_candidates(&moment);
            answer.items.into_iter().for_each(|applied| tell(Candidate::Item(applied.item)));
            answer
                .left_out
                .into_iter()
                .filter(is_loaded)
                .for_each(|own| tell(Candidate::Loaded(own)));
        }
    }

    /// Returns how clients come to the items, whatever file is worked on. A client that loads an item for some files has
    /// it by itself.
    pub fn tabulate_sees<'v>(
        &'v self,
        catalog: &'v Catalog,
        root: &'v Path,
        viewers: &'v [Viewer],
        count: Count<'_>,
    ) -> Sees<'v> {
        self.tabulate_items(catalog, root, viewers, count, ReasonWords::Written)
    }

    /// Returns [`Survey::tabulate_sees`] without the reasons, which cost more than all the rest.
    pub fn tabulate_arrivals<'v>(
        &'v self,
        catalog: &'v Catalog,
        root: &'v Path,
        viewers: &'v [Viewer],
        count: Count<'_>,
    ) -> Sees<'v> {
        self.tabulate_items(catalog, root, viewers, count, ReasonWords::Skipped)
    }

    fn tabulate_items<'v>(
        &'v self,
        catalog: &'v Catalog,
        root: &'v Path,
        viewers: &'v [Viewer],
        count: Count<'_>,
        words: ReasonWords,
    ) -> Sees<'v> {
        let mut table = SeesTable::from_catalog(catalog, root, viewers, count, words);
        for (column, viewer) in viewers.iter().enumerate() {
            for SurveyedItem { item, files, has_directory, .. } in &self.items {
                if is_for_everybody(item.dialect) && (*files > 0 || *has_directory) {
                    table.add_item(column, item, count);
                }
            }
            self.each_example(catalog, &viewer.moment, &mut |candidate| match candidate {
                Candidate::Item(item) => table.add_item(column, &item, count),
                Candidate::Loaded(own) => table.put_left_out(column, &own, count),
            });
        }
        table.finish(count)
    }

    /// Returns what each of some clients has of the project, in tokens: the sums of [`Survey::tabulate_sees`].
    pub fn client_shares(
        &self,
        catalog: &Catalog,
        root: &Path,
        viewers: &[Viewer],
        count: Count<'_>,
    ) -> Vec<Share> {
        let sees = self.tabulate_items(catalog, root, viewers, count, ReasonWords::Skipped);
        let share = |(viewer, total): (&Viewer, Total)| Share {
            client: viewer.client.clone(),
            loaded: total.loaded,
            listed: total.listed,
            delivered: total.delivered,
            missing: total.missing,
        };
        viewers.iter().zip(sees.totals).map(share).collect()
    }
}

fn is_loaded(left_out: &LeftOut<'_>) -> bool {
    matches!(left_out.reason, Reason::LoadedByClient { .. })
}

/// Returns the directory whose guidance something is: as deep as its level says, on the way to its
/// file. What lies above the root holds for all of it.
pub fn directory_of(root: &Path, path: &Path, level: Level) -> Option<String> {
    if level.owner == Owner::User {
        return None;
    }
    let directory: std::path::PathBuf = path.components().take(level.depth).collect();
    let below = directory.strip_prefix(root).unwrap_or(Path::new(""));
    let names: Vec<_> = below.iter().map(OsStr::to_string_lossy).collect();
    Some(names.join("/"))
}
