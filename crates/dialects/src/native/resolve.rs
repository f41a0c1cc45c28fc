//! The guides that apply at a moment, and those of them that the client reads by itself.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;

use brief_profiles::{Client, Form, KnownClients, LoadingMode, Scoping, Unless};
use brief_syntax::{Target, TargetKind};

use crate::MatchRecord;
use crate::answer::{Applied, Item, LoadedPart, Name, Origin, Owner, Reason, Resolution, State};
use crate::moment::Moment;

use super::NAME;
use super::clients::{self, has_any};
use super::globs::Globs;
use super::loading::Loading;
use super::model::{Folder, Guide, Scope, Use};

/// A question to the client files.
pub(super) struct NativeQuestion<'a, 's> {
    /// The file or directory below the mounted one.
    pub(super) about: NativeTarget<'a>,
    /// The client that asks, and the name that it was asked for by.
    pub(super) client: Option<(&'s Client, &'s str)>,
    /// The directory it was started in; `None` for the mounted directory.
    pub(super) started: Option<&'a Path>,
    pub(super) moment: &'a Moment,
    /// The names that the user mentioned.
    pub(super) mentions: &'a [String],
    /// The mounted directory, absolute.
    pub(super) root: &'a Path,
}

impl<'a, 's> NativeQuestion<'a, 's> {
    pub(super) fn new(
        known: &'s KnownClients,
        moment: &'a Moment,
        about: NativeTarget<'a>,
        root: &'a Path,
    ) -> NativeQuestion<'a, 's> {
        let client = moment.client.as_deref().and_then(|name| {
            let client = known.find_client(name)?;
            Some((client, client.find_name(name)?))
        });
        NativeQuestion {
            about,
            client,
            started: moment.started.as_deref(),
            moment,
            mentions: &moment.mentions,
            root,
        }
    }
}

/// The file or directory of a question.
#[derive(Clone, Copy)]
pub(super) enum NativeTarget<'a> {
    /// All of the project, whatever the patterns say.
    Everything,
    Path(&'a str, TargetKind),
    /// Something outside: only what the user has can be about it.
    Elsewhere,
}

impl<'a> NativeTarget<'a> {
    pub(super) fn from_target(target: &'a Target) -> NativeTarget<'a> {
        NativeTarget::Path(target.slashed(), target.kind())
    }
}

/// A guide on the way to the path.
pub(super) struct Candidate<'s> {
    pub(super) folder: &'s Folder,
    pub(super) guide: &'s Guide,
    pub(super) verdict: PatternVerdict<'s>,
    pub(super) is_loaded: bool,
}

pub(super) enum PatternVerdict<'s> {
    In(State, Reason<'s>),
    /// It stands for what it imports.
    Bridge(&'s str),
    Out(Reason<'s>),
}

/// Adds to `answer` what the folders say; they come parents first.
pub(super) fn resolve_folders<'s>(
    folders: impl Iterator<Item = &'s Folder>,
    asked: &NativeQuestion<'_, 's>,
    answer: &mut Resolution<'s>,
) {
    let all: Vec<&Folder> = folders.collect();
    let folders: Vec<&Folder> =
        all.iter().copied().filter(|folder| is_on_the_way(folder, asked)).collect();
    let mut candidates = collect_candidates(&folders, asked, answer.skip_left_out);
    let client = asked.client.map(|(_, name)| name);
    let loading = asked.client.map(|(client, _)| Loading::new(client, &folders, &all, asked));
    if let Some(loading) = &loading {
        loading.mark_loaded(&mut candidates);
    }
    let mode = loading.and_then(|loading| loading.mode);
    let links = collect_repeated_links(&candidates);
    let linked: BTreeMap<usize, Origin<'_>> =
        links.keys().map(|&index| (index, candidates[index].guide.origin())).collect();
    let listed = offered_texts(&candidates);
    let (mut items, mut left_out) = (Vec::new(), Vec::new());
    for (index, candidate) in candidates.into_iter().enumerate() {
        let Candidate { folder, guide, verdict, is_loaded } = candidate;
        let (state, reason, is_in) = match verdict {
            PatternVerdict::In(state, reason) => (state, reason, true),
            PatternVerdict::Bridge(words) => (State::Active, Reason::Stated(words), false),
            PatternVerdict::Out(reason) => (State::Active, reason, false),
        };
        let mut applied = Applied::new(build_item(folder, guide, state), reason);
        let part = asked
            .client
            .filter(|_| is_loaded)
            .map_or(LoadedPart::Whole, |(client, _)| loaded_part(client, folder, guide, state));
        if part.is_listing() {
            applied.item.content = &guide.description;
        }
        let same = listed.get(&index).or(links.get(&index)).copied();
        let reason = match (client, same) {
            (Some(client), _) if is_loaded => Reason::LoadedByClient { client, part },
            (Some(client), Some((origin, true))) => Reason::SameTextLoaded { client, origin },
            (_, Some((origin, _))) => Reason::SameText { origin },
            (Some(_), None) if is_in => match replacement_reason(folder, guide, asked, mode) {
                Some(words) => Reason::Composed(words),
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
    for (index, (kept, _)) in &links {
        let also = |applied: &&mut Applied<'_>| applied.origin() == *kept;
        if let Some(applied) = items.iter_mut().find(also) {
            applied.also.extend(linked.get(index));
        }
    }
    items.sort_by_key(|applied| applied.item.level);
    left_out.sort_by_key(|left_out| left_out.level);
    answer.items.append(&mut items);
    answer.left_out.append(&mut left_out);
}

/// Returns what a client that loads a guide has of it until it asks. One that ignores the guide's fields has all of it.
pub(super) fn loaded_part(
    client: &Client,
    folder: &Folder,
    guide: &Guide,
    state: State,
) -> LoadedPart {
    let place = guide.place.as_ref();
    let read = place.and_then(|place| clients::read_of(client, folder.owner, place));
    match state {
        State::Listed if read.is_none_or(|read| read.scoping != Scoping::Ignored) => {
            let is_agent = build_item(folder, guide, state).kind == "agent";
            if is_agent && client.loading.agents_need_approval.is_some() {
                LoadedPart::ListingOnceApproved
            } else {
                LoadedPart::Listing
            }
        }
        _ => LoadedPart::Whole,
    }
}

/// Notes which patterns on the way to a file cover it.
pub(super) fn record_matches(folders: &[Folder], file: &Target, record: &mut MatchRecord) {
    let about = NativeTarget::from_target(file);
    for folder in folders.iter().filter(|folder| is_about(folder, about)) {
        let Some(below) = folder.relative_path(file.slashed()) else { continue };
        for scope in folder.guides.iter().filter_map(|guide| guide.scope.as_ref()) {
            record.record_match(scope.globs.find_covering_pattern(below, file.kind()).is_some());
        }
    }
}

/// Returns the patterns that may decide differently about files right in a directory: of hundreds of files with
/// patterns, few concern one directory.
pub(super) fn undecided_in<'s>(
    folders: &'s [Folder],
    directory: &str,
) -> Vec<(&'s Folder, &'s Globs)> {
    let mut undecided = Vec::new();
    for folder in folders {
        let Some(below) = folder.relative_path(directory) else { continue };
        let scopes = folder.guides.iter().filter_map(|guide| guide.scope.as_ref());
        let open = scopes.map(|scope| &scope.globs).filter(|globs| !globs.is_same_in(below));
        undecided.extend(open.map(|globs| (folder, &**globs)));
    }
    undecided
}

fn is_on_the_way(folder: &Folder, asked: &NativeQuestion<'_, '_>) -> bool {
    match (folder.owner, asked.about) {
        // What the user has is not the project's; a client loads it in any.
        (Owner::User, NativeTarget::Everything) => asked.client.is_some(),
        _ => is_about(folder, asked.about),
    }
}

fn is_about(folder: &Folder, about: NativeTarget<'_>) -> bool {
    match (folder.owner, about) {
        (Owner::User, _) | (Owner::Project, NativeTarget::Everything) => true,
        (Owner::Project, NativeTarget::Elsewhere) => false,
        (Owner::Project, NativeTarget::Path(path, kind)) => match folder.relative_path(path) {
            Some("") => folder.directory.is_empty() || kind == TargetKind::Directory,
            below => below.is_some(),
        },
    }
}

/// Judges each file once: one that two ways lead to counts where it is found first.
fn collect_candidates<'s>(
    folders: &[&'s Folder],
    asked: &NativeQuestion<'_, '_>,
    skip_left_out: bool,
) -> Vec<Candidate<'s>> {
    let goes_by_itself = asked.client.is_some_and(|(client, _)| clients::goes_by_itself(client));
    // By their text: paths are found with one spelling, and comparing names one by one takes longer.
    let mut seen: HashSet<&OsStr> = HashSet::new();
    let mut candidates = Vec::new();
    for &folder in folders {
        for guide in &folder.guides {
            if !guide.is_shared || seen.insert(guide.path().as_os_str()) {
                let verdict = match_guide(folder, guide, asked);
                // A client may load what its fields leave out.
                let is_out = matches!(verdict, PatternVerdict::Out(_));
                if skip_left_out && is_out && !goes_by_itself {
                    continue;
                }
                candidates.push(Candidate { folder, guide, verdict, is_loaded: false });
            }
        }
    }
    candidates
}

fn match_guide<'s>(
    folder: &'s Folder,
    guide: &'s Guide,
    asked: &NativeQuestion<'_, '_>,
) -> PatternVerdict<'s> {
    let scoped = guide.scope.as_ref().map(|scope| {
        let Scope { field, globs } = scope;
        let covering = match asked.about {
            NativeTarget::Everything => return Ok(Reason::Listed),
            NativeTarget::Elsewhere => None,
            NativeTarget::Path(path, kind) => folder
                .relative_path(path)
                .and_then(|below| globs.find_covering_pattern(below, kind)),
        };
        match covering {
            Some(pattern) => Ok(Reason::Glob { field, pattern }),
            None => Err(Reason::NoGlob { field, patterns: &globs.written }),
        }
    });
    let (state, words) = match &guide.use_ {
        Use::Never(words) => return PatternVerdict::Out(Reason::Stated(words)),
        Use::Bridge(words) => return PatternVerdict::Bridge(words),
        Use::Manual => {
            let is_meant = |(key, _): &&(String, String)| {
                asked.mentions.iter().any(|mention| mention.trim_start_matches('@') == key)
            };
            match guide.mentions.iter().find(is_meant) {
                Some((_, words)) => {
                    return PatternVerdict::In(State::Active, Reason::Stated(words));
                }
                None => (State::Manual, "only when mentioned"),
            }
        }
        Use::Listed => (State::Listed, "listed by its description"),
        Use::Active(words) => (State::Active, &**words),
    };
    match scoped {
        Some(Err(reason)) => PatternVerdict::Out(reason),
        Some(Ok(reason)) => PatternVerdict::In(state, reason),
        None if matches!(asked.about, NativeTarget::Everything) => {
            PatternVerdict::In(state, Reason::Listed)
        }
        None => PatternVerdict::In(state, Reason::Stated(words)),
    }
}

/// Returns why a client is to go without this file: it reads another one instead, or its user has said so.
pub(super) fn replacement_reason(
    folder: &Folder,
    guide: &Guide,
    asked: &NativeQuestion<'_, '_>,
    mode: Option<&LoadingMode>,
) -> Option<String> {
    let (client, name) = asked.client?;
    let place = guide.place.as_ref()?;
    let read = clients::read_of(client, folder.owner, place)?;
    if let Some(mode) = mode.filter(|mode| mode.nothing_at_start)
        && !matches!(place.form, Form::Skill | Form::Agent)
    {
        return Some(format!("is turned off by the settings of {name}: `{}`", mode.name));
    }
    match &read.unless {
        Unless::ReplacedBy(paths) if has_any(&folder.present, paths) => {
            paths.first().map(|path| format!("{name} reads {} instead", &**path))
        }
        _ => None,
    }
}

/// Finds the links to files that are there themselves, or by another link: each file is one item. Returns
/// the others, each with that one and whether the client has it.
fn collect_repeated_links<'s>(candidates: &[Candidate<'s>]) -> BTreeMap<usize, (Origin<'s>, bool)> {
    let mut repeated = BTreeMap::new();
    if candidates.iter().all(|found| found.guide.real.is_none()) {
        return repeated;
    }
    let is_in =
        |found: &Candidate<'_>| matches!(found.verdict, PatternVerdict::In(State::Active, _));
    let mut first: HashMap<&Path, usize> = HashMap::new();
    for (index, found) in candidates.iter().enumerate().filter(|(_, found)| is_in(found)) {
        let kept = *first.entry(found.guide.real_path()).or_insert(index);
        // What has a scope of its own is another item, whatever it is made of.
        let is_same = candidates[kept].guide.scope.is_none() && found.guide.scope.is_none();
        if kept != index && is_same {
            let Candidate { guide, is_loaded, .. } = &candidates[kept];
            repeated.insert(index, (guide.origin(), *is_loaded));
        }
    }
    repeated
}

/// Finds the skills and agents that stand in several places, as the ones of most projects do: one is
/// listed, that of the client itself where there is one. Returns the others, each with that one and
/// whether the client has it.
fn offered_texts<'s>(candidates: &[Candidate<'s>]) -> BTreeMap<usize, (Origin<'s>, bool)> {
    let mut first: BTreeMap<_, (Origin<'s>, bool)> = BTreeMap::new();
    let mut repeated = BTreeMap::new();
    let is_offered =
        |found: &Candidate<'_>| matches!(found.verdict, PatternVerdict::In(State::Listed, _));
    let listed = candidates.iter().enumerate().filter(|(_, found)| is_offered(found));
    let mut listed: Vec<_> = listed.collect();
    listed.sort_by_key(|(_, found)| !found.is_loaded);
    for (index, Candidate { guide, is_loaded, .. }) in listed {
        let key = (guide.kind, guide.name.as_str(), guide.compared_text());
        match first.get(&key) {
            Some(&(origin, is_first_loaded)) if !is_loaded => {
                repeated.insert(index, (origin, is_first_loaded));
            }
            Some(_) => {}
            None => {
                first.insert(key, (guide.origin(), *is_loaded));
            }
        }
    }
    repeated
}

pub(super) fn build_item<'s>(folder: &'s Folder, guide: &'s Guide, state: State) -> Item<'s> {
    Item {
        dialect: NAME,
        kind: guide.kind,
        name: Name::Text(&guide.name),
        path: guide.path(),
        line: guide.line,
        scope: folder.scope(),
        trigger: Some(guide.trigger()),
        holds: false,
        check: guide.check.as_ref(),
        is_for_after: false,
        state,
        content: guide.content(),
        description: &guide.description,
        patterns: &[],
        level: folder.level_of(guide),
        package: None,
    }
}
