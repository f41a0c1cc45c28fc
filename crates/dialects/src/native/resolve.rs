//! What applies when, and what of it the client that asks reads by itself.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;

use brief_syntax::{Target, TargetKind, limits};

use crate::Likeness;
use crate::answer::{Answer, Applied, Item, Name, Origin, Owner, Reason, State};

use super::NAME;
use super::model::{Folder, Guide, Use};
use super::places::{self, CLIENTS, Place, Unless};

/// What is asked.
pub(super) struct Asked<'a> {
    /// The file or directory below the mounted one.
    pub(super) about: About<'a>,
    /// The client that asks.
    pub(super) client: Option<&'a str>,
    /// What the user mentioned.
    pub(super) mentions: Vec<&'a str>,
}

/// What a question is about.
#[derive(Clone, Copy)]
pub(super) enum About<'a> {
    /// All of the project, whatever the patterns say.
    Everything,
    /// A file or directory.
    Path(&'a str, TargetKind),
    /// Something outside: only what the user has can be about it.
    Elsewhere,
}

impl<'a> About<'a> {
    pub(super) fn target(target: &'a Target) -> About<'a> {
        About::Path(target.slashed(), target.kind())
    }
}

/// A guide on the way to the path.
struct Candidate<'s> {
    folder: &'s Folder,
    guide: &'s Guide,
    verdict: Verdict<'s>,
    is_loaded: bool,
}

enum Verdict<'s> {
    In(State, Reason<'s>),
    /// It stands for what it imports.
    Bridge(&'s str),
    Out(Reason<'s>),
}

/// Adds to `answer` what the folders say; they come parents first.
pub(super) fn resolve<'s>(
    folders: impl Iterator<Item = &'s Folder>,
    asked: &Asked<'_>,
    answer: &mut Answer<'s>,
) {
    let folders: Vec<&Folder> = folders.filter(|folder| is_on_the_way(folder, asked)).collect();
    let mut candidates = candidates(&folders, asked, answer.is_short);
    let client = asked.client.and_then(|name| CLIENTS.iter().find(|known| **known == name));
    if let Some(client) = client {
        mark_loaded(&folders, client, asked.about, &mut candidates);
    }
    let offered = offered_texts(&candidates);
    let (mut items, mut left_out) = (Vec::new(), Vec::new());
    for (index, candidate) in candidates.into_iter().enumerate() {
        let Candidate { folder, guide, verdict, is_loaded } = candidate;
        let (state, reason, is_in) = match verdict {
            Verdict::In(state, reason) => (state, reason, true),
            Verdict::Bridge(words) => (State::Active, Reason::Stated(words), false),
            Verdict::Out(reason) => (State::Active, reason, false),
        };
        let mut applied = Applied::new(item(folder, guide, state), reason);
        if is_loaded && state == State::Offered {
            // What the client has of it until it asks.
            applied.item.content = &guide.description;
        }
        let same = offered.get(&index).copied();
        let reason = match (client, same) {
            (Some(client), _) if is_loaded => Reason::LoadedByClient { client },
            (Some(client), Some((origin, true))) => Reason::SameTextLoaded { client, origin },
            (_, Some((origin, _))) => Reason::SameText { origin },
            (Some(client), None) if is_in => match replacement(folder, guide, client) {
                Some(words) => Reason::Stated(words),
                None => {
                    items.push(applied);
                    continue;
                }
            },
            _ if is_in => {
                items.push(applied);
                continue;
            }
            _ => applied.reason.clone(),
        };
        left_out.push(applied.leave_out(reason));
    }
    items.sort_by_key(|applied| applied.item.level);
    left_out.sort_by_key(|left_out| left_out.level);
    answer.items.append(&mut items);
    answer.left_out.append(&mut left_out);
}

/// Notes which patterns on the way to a file cover it.
pub(super) fn liken(folders: &[Folder], file: &Target, likeness: &mut Likeness) {
    let about = About::target(file);
    for folder in folders.iter().filter(|folder| is_about(folder, about)) {
        let Some(below) = folder.below(file.slashed()) else { continue };
        for scope in folder.guides.iter().filter_map(|guide| guide.scope.as_ref()) {
            likeness.note(scope.globs.covering(below, file.kind()).is_some());
        }
    }
}

fn is_on_the_way(folder: &Folder, asked: &Asked<'_>) -> bool {
    match (folder.owner, asked.about) {
        // What the user has is not the project's; a client loads it in any.
        (Owner::User, About::Everything) => asked.client.is_some(),
        _ => is_about(folder, asked.about),
    }
}

fn is_about(folder: &Folder, about: About<'_>) -> bool {
    match (folder.owner, about) {
        (Owner::User, _) | (Owner::Project, About::Everything) => true,
        (Owner::Project, About::Elsewhere) => false,
        (Owner::Project, About::Path(path, kind)) => match folder.below(path) {
            Some("") => folder.directory.is_empty() || kind == TargetKind::Directory,
            below => below.is_some(),
        },
    }
}

/// Judges each file once: one that two ways lead to counts where it is found first.
fn candidates<'s>(folders: &[&'s Folder], asked: &Asked<'_>, is_short: bool) -> Vec<Candidate<'s>> {
    // By their text: paths are found with one spelling, and comparing names one by one takes longer.
    let mut seen: HashSet<&OsStr> = HashSet::new();
    let mut candidates = Vec::new();
    for &folder in folders {
        for guide in &folder.guides {
            if !guide.is_shared || seen.insert(guide.path().as_os_str()) {
                let verdict = judge(folder, guide, asked);
                if is_short && matches!(verdict, Verdict::Out(_)) {
                    continue;
                }
                candidates.push(Candidate { folder, guide, verdict, is_loaded: false });
            }
        }
    }
    candidates
}

fn judge<'s>(folder: &'s Folder, guide: &'s Guide, asked: &Asked<'_>) -> Verdict<'s> {
    let scoped = guide.scope.as_ref().map(|scope| {
        let field = scope.field;
        match asked.about {
            About::Everything => Ok(Reason::Listed),
            About::Elsewhere => Err(Reason::NoGlob { field, patterns: scope.globs.written() }),
            About::Path(path, kind) => {
                let covering =
                    folder.below(path).and_then(|below| scope.globs.covering(below, kind));
                match covering {
                    Some(pattern) => Ok(Reason::Glob { field, pattern }),
                    None => Err(Reason::NoGlob { field, patterns: scope.globs.written() }),
                }
            }
        }
    });
    let (state, words) = match &guide.use_ {
        Use::Never(words) => return Verdict::Out(Reason::Stated(words)),
        Use::Bridge(words) => return Verdict::Bridge(words),
        Use::Manual => {
            let is_meant = |(key, _): &&(String, String)| {
                asked.mentions.iter().any(|mention| mention.trim_start_matches('@') == key)
            };
            match guide.mentions.iter().find(is_meant) {
                Some((_, words)) => return Verdict::In(State::Active, Reason::Stated(words)),
                None => (State::Manual, "only when mentioned"),
            }
        }
        Use::Offered => (State::Offered, "offered by its description"),
        Use::Active(words) => (State::Active, &**words),
    };
    match scoped {
        Some(Err(reason)) => Verdict::Out(reason),
        Some(Ok(reason)) => Verdict::In(state, reason),
        None if matches!(asked.about, About::Everything) => Verdict::In(state, Reason::Listed),
        None => Verdict::In(state, Reason::Stated(words)),
    }
}

/// Marks what a client reads by itself at this moment, and what that imports.
fn mark_loaded(
    folders: &[&Folder],
    client: &str,
    about: About<'_>,
    candidates: &mut [Candidate<'_>],
) {
    let mut pending = Vec::new();
    for (index, candidate) in candidates.iter_mut().enumerate() {
        let Candidate { folder, guide, verdict, .. } = candidate;
        let is_used = match verdict {
            Verdict::In(State::Manual, _) | Verdict::Out(_) => false,
            // Without a path nothing is worked on yet: what is loaded is loaded at the start.
            Verdict::In(..) | Verdict::Bridge(_) if matches!(about, About::Everything) => {
                guide.scope.is_none() && folder.directory.is_empty()
            }
            Verdict::In(..) | Verdict::Bridge(_) => true,
        };
        if is_used && guide.place.is_some_and(|place| loads(folders, folder, place, client)) {
            candidate.is_loaded = true;
            if guide.place.is_some_and(|place| places::follows_imports(client, place)) {
                pending.push((index, 0));
            }
        }
    }
    if pending.iter().all(|&(index, _)| candidates[index].guide.imports.is_empty()) {
        return;
    }
    let by_path: HashMap<&OsStr, usize> = candidates
        .iter()
        .enumerate()
        .map(|(index, found)| (found.guide.path().as_os_str(), index))
        .collect();
    let mut next = 0;
    while let Some(&(index, hops)) = pending.get(next) {
        next += 1;
        if hops == limits::NATIVE_HOPS {
            continue;
        }
        let guide = candidates[index].guide;
        for path in &guide.imports {
            let Some(&target) = by_path.get(path.as_os_str()) else { continue };
            if !candidates[target].is_loaded {
                candidates[target].is_loaded = true;
                pending.push((target, hops + 1));
            }
        }
    }
}

fn loads(folders: &[&Folder], folder: &Folder, place: &Place, client: &str) -> bool {
    let Some(reading) = place.readings.iter().find(|reading| reading.client == client) else {
        return false;
    };
    if !folder.directory.is_empty() && !reading.is_nested {
        return false;
    }
    match reading.unless {
        Unless::Never => true,
        Unless::Beside(names) | Unless::Replaced(names, _) => !has_any(folder, names),
        Unless::OnTheWay(names) => {
            let mut project = folders.iter().filter(|folder| folder.owner == Owner::Project);
            !project.any(|folder| has_any(folder, names))
        }
    }
}

/// Returns why a client reads another file instead of this one.
fn replacement(folder: &Folder, guide: &Guide, client: &str) -> Option<&'static str> {
    let readings = guide.place?.readings;
    match readings.iter().find(|reading| reading.client == client)?.unless {
        Unless::Replaced(names, words) if has_any(folder, names) => Some(words),
        _ => None,
    }
}

fn has_any(folder: &Folder, names: &[&str]) -> bool {
    let places = match folder.owner {
        Owner::User => places::USER,
        Owner::Project => places::PROJECT,
    };
    let mut present =
        places.iter().enumerate().filter(|(index, _)| folder.present >> index & 1 == 1);
    present.any(|(_, place)| names.contains(&place.path))
}

/// Finds the skills and agents that stand in several places, as the ones of most projects do: one is
/// offered, that of the client itself where there is one. Returns the others, each with that one and
/// whether the client has it.
fn offered_texts<'s>(candidates: &[Candidate<'s>]) -> BTreeMap<usize, (Origin<'s>, bool)> {
    let mut first: BTreeMap<(&str, &str, &str), (usize, Origin<'s>, bool)> = BTreeMap::new();
    let mut repeated = BTreeMap::new();
    let is_offered =
        |found: &Candidate<'_>| matches!(found.verdict, Verdict::In(State::Offered, _));
    let offered = candidates.iter().enumerate().filter(|(_, found)| is_offered(found));
    let mut offered: Vec<_> = offered.collect();
    offered.sort_by_key(|(_, found)| !found.is_loaded);
    for (index, Candidate { guide, is_loaded, .. }) in offered {
        let key = (guide.kind, guide.name.as_str(), guide.content().trim());
        match first.get(&key) {
            Some(&(_, origin, is_first_loaded)) if !is_loaded => {
                repeated.insert(index, (origin, is_first_loaded));
            }
            Some(_) => {}
            None => {
                let origin = Origin { dialect: NAME, path: guide.path(), line: guide.line };
                first.insert(key, (index, origin, *is_loaded));
            }
        }
    }
    repeated
}

fn item<'s>(folder: &'s Folder, guide: &'s Guide, state: State) -> Item<'s> {
    Item {
        dialect: NAME,
        kind: guide.kind,
        name: Name::Text(&guide.name),
        path: guide.path(),
        line: guide.line,
        scope: folder.scope(),
        trigger: Some(guide.trigger()),
        state,
        content: guide.content(),
        description: &guide.description,
        patterns: &[],
        level: folder.level_of(guide),
    }
}
