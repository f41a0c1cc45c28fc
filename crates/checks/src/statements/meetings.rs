//! The texts that an agent gets together: by the files that they are for, and by the clients that load them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use brief_dialects::native::is_elsewhere;
use brief_dialects::{Candidate, FileSet, Moment, ProjectFiles, Reason, State};
use brief_profiles::{KnownClients, OwnClients};
use brief_syntax::text::format_count;
use brief_syntax::{Root, Target, TargetKind};
use brief_system::System;

use super::TextDemands;
use crate::audience::skill_directory;
use crate::references::has_extension;
use brief_engine::Catalog;

/// The number of a text among those that are active for some file.
type TextNumber = usize;

/// A moment at which two texts come together.
#[derive(Debug, Clone)]
pub(super) struct Meeting {
    /// True if a client loads both by itself, or if both stand in one text.
    pub(super) is_loaded: bool,
    /// True if both are for much the same files.
    pub(super) is_alike: bool,
    pub(super) shown: String,
    /// The clients that load both.
    pub(super) clients: Vec<String>,
}

/// The briefing with the most instructions.
#[derive(Debug)]
pub(super) struct HeaviestBriefing {
    pub(super) file: String,
    pub(super) client: String,
    /// The texts by their index, and the instructions in each.
    pub(super) counts: Vec<(usize, usize)>,
}

/// The texts that one client gets for one file.
#[derive(Debug, Default)]
struct ClientView {
    client: String,
    loaded: HashSet<TextNumber>,
    seen: HashSet<TextNumber>,
}

pub(super) struct Meetings<'c> {
    catalog: &'c Catalog,
    root: &'c Root,
    files: &'c ProjectFiles,
    known: Cow<'static, KnownClients>,
    /// The texts of each file by their lines, and the files that each is active for.
    reach: HashMap<PathBuf, BTreeMap<usize, (TextNumber, FileSet)>>,
    views: RefCell<BTreeMap<usize, Rc<Vec<ClientView>>>>,
}

impl<'c> Meetings<'c> {
    pub(super) fn from_catalog(
        catalog: &'c Catalog,
        system: &dyn System,
        root: &'c Root,
    ) -> Option<Meetings<'c>> {
        let files = catalog.files()?;
        let mut reach: HashMap<PathBuf, BTreeMap<usize, (TextNumber, FileSet)>> = HashMap::new();
        let mut next = 0;
        let moment = Moment { root: root.clone(), ..Moment::default() };
        catalog.collect_reach(&moment, &mut |reached| {
            if let Candidate::Item(item) = &reached.candidate
                && item.state == State::Active
            {
                let own = reach.entry(item.path.to_owned()).or_default();
                match own.entry(item.line) {
                    Entry::Occupied(mut known) => known.get_mut().1.union_with(&reached.files),
                    Entry::Vacant(place) => {
                        place.insert((next, reached.files));
                        next += 1;
                    }
                }
            }
        });
        let known = OwnClients::read_project(system, root.path()).known_clients();
        Some(Meetings { catalog, root, files, known, reach, views: RefCell::default() })
    }

    /// Returns the number of a text, and the files that it is active for.
    fn files_of(&self, text: &TextDemands) -> Option<(TextNumber, &FileSet)> {
        let own = self.reach.get(text.path())?;
        let (number, files) = match text.line {
            Some(line) => own.get(&line)?,
            None => own.first_key_value()?.1,
        };
        Some((*number, files))
    }

    /// Returns the number of the text that stands at a line.
    fn find_text_number(&self, path: &Path, line: usize) -> Option<TextNumber> {
        self.reach.get(path)?.get(&line).map(|(number, _)| *number)
    }

    /// Returns how two texts meet; `None` if they never do.
    pub(super) fn of_texts(&self, one: &TextDemands, other: &TextDemands) -> Option<Meeting> {
        let ((first, left), (second, right)) = (self.files_of(one)?, self.files_of(other)?);
        if first == second {
            return Some(Meeting {
                is_loaded: true,
                is_alike: true,
                shown: String::new(),
                clients: Vec::new(),
            });
        }
        // The same file under two names is one text.
        if one.real == other.real && one.line == other.line {
            return None;
        }
        let mut common = left.clone();
        let mut outside = left.clone();
        outside.difference_with(right);
        common.difference_with(&outside);
        // A file that someone works on shows it best.
        let is_plain = |file: &usize| {
            let path = &self.files.files[*file];
            !path.starts_with('.') && !path.contains("/.") && !has_extension(path, &["md"])
        };
        let file = common.iter().find(is_plain).or_else(|| common.first())?;
        let views = self.client_views(file);
        let seen: Vec<&ClientView> = views
            .iter()
            .filter(|view| view.seen.contains(&first) && view.seen.contains(&second))
            .collect();
        let loading = seen
            .iter()
            .filter(|view| view.loaded.contains(&first) && view.loaded.contains(&second));
        let clients: Vec<String> = loading.map(|view| view.client.clone()).collect();
        if seen.is_empty() {
            return None;
        }
        let example = &self.files.files[file];
        let shown = match clients.as_slice() {
            [] => format!("the hook delivers both for `{example}`"),
            [client] => format!("{client} gets both for `{example}`"),
            clients => format!("{} get both for `{example}`", join_names(clients)),
        };
        let is_alike = common.count() * 2 >= left.count().max(right.count());
        Some(Meeting { is_loaded: !clients.is_empty(), is_alike, shown, clients })
    }

    /// Returns the texts of each client for a file.
    fn client_views(&self, file: usize) -> Rc<Vec<ClientView>> {
        let mut known = self.views.borrow_mut();
        let views = known.entry(file).or_insert_with(|| {
            let target = Target::from_slashed(&self.files.files[file], TargetKind::File);
            let view = |client: &brief_profiles::Client| {
                let moment = Moment {
                    root: self.root.clone(),
                    target: Some(target.clone()),
                    client: Some(client.id.to_string()),
                    skip_left_out: true,
                    ..Moment::default()
                };
                let answer = self.catalog.collect_candidates(&moment);
                let mut view =
                    ClientView { client: client.name.to_string(), ..ClientView::default() };
                let items = answer.items.iter().map(|applied| &applied.item);
                for item in items.filter(|item| item.state == State::Active) {
                    let Some(number) = self.find_text_number(item.path, item.line) else {
                        continue;
                    };
                    // Entries of our own formats come by the hook alone, and to every client.
                    if brief_dialects::is_for_everybody(item.dialect) {
                        view.loaded.insert(number);
                    }
                    view.seen.insert(number);
                }
                for left_out in &answer.left_out {
                    if matches!(left_out.reason, Reason::LoadedByClient { .. })
                        && let Some(number) = self.find_text_number(left_out.path, left_out.line)
                    {
                        view.loaded.insert(number);
                        view.seen.insert(number);
                    }
                }
                view
            };
            Rc::new(self.known.clients.iter().map(view).collect())
        });
        Rc::clone(views)
    }

    /// Returns the file and the client with the most instructions, and those of each text.
    pub(super) fn find_heaviest(&self, texts: &[TextDemands]) -> Option<HeaviestBriefing> {
        let mut sums = vec![0_usize; self.files.files.len()];
        for text in texts {
            if let Some((_, files)) = self.files_of(text).filter(|_| text.instructions > 0) {
                files.iter().for_each(|file| sums[file] += text.instructions);
            }
        }
        // No agent works on a file of a skill or a template under the rules of its readers.
        let is_work = |(file, _): &(usize, &usize)| {
            let path = &self.files.files[*file];
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            !path.starts_with('.')
                && !path.contains("/.")
                && !is_elsewhere(Path::new(path))
                && skill_directory(directory, self.files).is_none()
        };
        let work = sums.iter().enumerate().rev().filter(is_work);
        // Of equally heavy files one that is no guidance itself is the better example.
        let (file, most) = work
            .max_by_key(|(file, sum)| (**sum, !has_extension(&self.files.files[*file], &["md"])))?;
        if *most <= super::MOST_INSTRUCTIONS {
            return None;
        }
        let views = self.client_views(file);
        let numbers: Vec<Option<TextNumber>> =
            texts.iter().map(|text| Some(self.files_of(text)?.0)).collect();
        let counts = |view: &ClientView| -> Vec<(usize, usize)> {
            let mut real = HashSet::new();
            let all = texts.iter().zip(&numbers).enumerate();
            let loaded = all.filter(|(_, (text, number))| {
                number.is_some_and(|number| view.loaded.contains(&number))
                    && real.insert((text.real.as_os_str(), text.line))
            });
            loaded.map(|(index, (text, _))| (index, text.instructions)).collect()
        };
        let sum = |view: &ClientView| counts(view).iter().map(|(_, count)| count).sum::<usize>();
        let view = views.iter().rev().max_by_key(|view| sum(view))?;
        let (file, client) = (self.files.files[file].clone(), view.client.clone());
        Some(HeaviestBriefing { file, client, counts: counts(view) })
    }
}

/// Returns a few names, and how many more there are.
fn join_names(names: &[String]) -> String {
    match names {
        [one, other] => format!("{one} and {other}"),
        [one, other, rest @ ..] if !rest.is_empty() => {
            format!("{one}, {other} and {}", format_count(rest.len(), "more client"))
        }
        names => names.join(", "),
    }
}
