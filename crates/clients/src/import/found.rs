//! Recognizes the client, the kind and the name of a file by its path.
//!
//! All of it is in the clients' files: the places that they read, and the paths of their outputs.

use brief_dialects::portable::ItemKind;
use brief_profiles::{BUILTIN, Client, ClientPlace, Form, PlaceShape};

use crate::profile::{Layout, Profile, Profiles, Template};

use super::collect::join_path;
use super::{modes, peers};

/// A file that could be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportCandidate {
    /// The client that it is for; `None` for one that several read.
    pub client: Option<String>,
    pub kind: ItemKind,
    /// The form of its front matter.
    pub form: Form,
    /// The directory that it is about, with `/`; empty for the whole project.
    pub about: String,
    /// The name of its file without ending, or of its directory.
    pub stem: String,
    /// The directory of a skill, whose other files belong to it.
    pub directory: Option<String>,
    /// The tool that wrote it, where it is not a client's.
    pub peer: Option<&'static str>,
}

impl ImportCandidate {
    fn new(client: Option<String>, kind: ItemKind, form: Form, stem: &str) -> ImportCandidate {
        let (about, stem) = (String::new(), stem.to_owned());
        ImportCandidate { client, kind, form, about, stem, directory: None, peer: None }
    }
}

/// The files to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportSearch {
    /// Those at the places of clients and of other tools.
    AtPlaces,
    /// Those, and others whose names tell: `x.mdc`, `agents/x.md`, `x.instructions.md`.
    Anywhere,
}

/// Recognizes a file by its path, with `/`; `None` for a file that belongs to no client.
pub fn recognize_file(
    path: &str,
    profiles: &Profiles,
    search: ImportSearch,
) -> Option<ImportCandidate> {
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    for start in starts {
        let (about, rest) = (path[..start].trim_end_matches('/'), &path[start..]);
        let first = rest.split('/').next().unwrap_or(rest);
        if let Some(found) = peers::recognize_peer_file(about, rest) {
            return Some(found);
        }
        if !BUILTIN.is_beginning(first) && !is_start_of_output(first, profiles) {
            continue;
        }
        if is_portable(about, rest) {
            return None;
        }
        if let Some(found) = at_place(about, rest, profiles) {
            return Some(found);
        }
    }
    if search == ImportSearch::Anywhere { by_name(path, profiles) } else { None }
}

/// Returns whether a file is an item of a registry, such as `agents/reviewer/AGENT.md`: portable already, although clients
/// read a file of its name elsewhere.
fn is_portable(about: &str, rest: &str) -> bool {
    let mut above = about.rsplit('/');
    let folder = above.nth(1).and_then(ItemKind::of_folder);
    folder.is_some_and(|kind| kind.entrypoint() == rest)
}

fn is_start_of_output(first: &str, profiles: &Profiles) -> bool {
    first.starts_with('.')
        && profiles.iter().any(|profile| {
            let mut layouts = profile.layouts();
            layouts.any(|(_, layout)| layout.path.first_name() == first)
        })
}

fn at_place(about: &str, rest: &str, profiles: &Profiles) -> Option<ImportCandidate> {
    let found = |client, kind, form, stem: &str| ImportCandidate {
        about: about.to_owned(),
        ..ImportCandidate::new(client, kind, form, stem)
    };
    // The longest place counts: `.clinerules/skills` before `.clinerules`.
    let places =
        BUILTIN.project.iter().filter_map(|place| Some((place, path_inside_place(place, rest)?)));
    let place = places.max_by_key(|(place, _)| place.path.len());
    if let Some((place, inside)) = place {
        let owner = find_place_owner(place, profiles);
        match (&place.shape, place.form) {
            (PlaceShape::Skills, _) => {
                let (above, file) = inside.rsplit_once('/')?;
                let stem = above.rsplit('/').next()?;
                let directory = join_path(about, &format!("{}/{above}", place.path));
                return (file == ItemKind::Skill.entrypoint()).then(|| ImportCandidate {
                    directory: Some(directory),
                    ..found(owner, ItemKind::Skill, Form::Skill, stem)
                });
            }
            (_, form) => {
                let kind = if form == Form::Agent { ItemKind::Agent } else { ItemKind::Rule };
                let file = rest.rsplit('/').next().unwrap_or(rest);
                return Some(found(owner, kind, form, file_stem(file)));
            }
        }
    }
    if skipped_by(rest).is_some() && !is_command(rest, profiles) {
        return None;
    }
    // Commands, and whatever else no client loads by itself. The longest path counts: `.clinerules/workflows/x.md` is a
    // workflow, and no rule.
    let mut nearest: Option<(usize, ImportCandidate)> = None;
    for profile in profiles.iter() {
        for (kind, layout) in profile.layouts().filter(|(kind, _)| *kind != ItemKind::Skill) {
            let templates = std::iter::once(&layout.path).chain(&layout.also_read);
            for template in templates {
                let Some(stem) = template.stem_in(rest) else { continue };
                let length = template.directory_prefix().len();
                if nearest.as_ref().is_none_or(|(longest, _)| length > *longest) {
                    let form = layout.pattern_form().unwrap_or(Form::Plain);
                    let client = Some(profile.id().to_owned());
                    nearest = Some((length, found(client, kind, form, stem)));
                }
            }
        }
    }
    nearest.map(|(_, found)| found)
}

/// Returns whether a path is where a client has commands.
fn is_command(rest: &str, profiles: &Profiles) -> bool {
    profiles.iter().any(|profile| {
        let layout = profile.layout(ItemKind::Command);
        layout.is_some_and(|layout| {
            let mut templates = std::iter::once(&layout.path).chain(&layout.also_read);
            templates.any(|template| template.stem_in(rest).is_some())
        })
    })
}

/// Returns the directory of a client's rules that a file lies in without being read there, and the directory in it that
/// the client skips, if it is in one.
fn skipped_by(rest: &str) -> Option<(&'static str, Option<&str>)> {
    let mut found = None;
    for place in &BUILTIN.project {
        let below = rest.strip_prefix(&*place.path).and_then(|below| below.strip_prefix('/'));
        let Some(below) = below else { continue };
        if path_inside_place(place, rest).is_some() {
            return None;
        }
        if let PlaceShape::Tree(names) = &place.shape {
            let mut parts = below.split('/');
            let skipped = parts.find(|part| names.skipped.iter().any(|own| **own == **part));
            found = Some((&*place.path, skipped));
        }
    }
    found
}

/// Returns the reason why a file in a directory of a client is none that clients read; `None` for a file elsewhere.
pub(super) fn find_unread_reason(path: &str, profiles: &Profiles) -> Option<String> {
    if let Some(client) = find_ignoring_client(path) {
        return Some(format!("lists files for {client} to ignore; brief does not import it"));
    }
    if modes::is_rule_of_mode(path) {
        return Some("applies to one mode of Roo Code, which other clients do not have".to_owned());
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.starts_with('.') {
        return None;
    }
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    for rest in starts.map(|start| &path[start..]) {
        let first = rest.split('/').next().unwrap_or(rest);
        if !BUILTIN.is_beginning(first) && !is_start_of_output(first, profiles) {
            continue;
        }
        match skipped_by(rest) {
            Some((place, Some(skipped))) => {
                return Some(format!("is not a rule: clients ignore `{skipped}` in `{place}`"));
            }
            Some((place, None)) => {
                return Some(format!("no client reads a file with this name in `{place}`"));
            }
            None => {}
        }
        let is_in = |place: &&ClientPlace| {
            place.shape == PlaceShape::Skills
                && rest.strip_prefix(&*place.path).is_some_and(|below| below.starts_with('/'))
        };
        if let Some(place) = BUILTIN.project.iter().find(is_in) {
            return Some(format!("does not belong to a skill in `{}`", place.path));
        }
        let second = rest.split('/').nth(1).unwrap_or_default();
        let is_text = [".md", ".mdc", ".prompt"].iter().any(|end| name.ends_with(end));
        if first.starts_with('.')
            && GUIDANCE.contains(&second)
            && second != name
            && is_text
            && !is_test_data(path)
        {
            return Some(format!(
                "no client is known to read it from `{first}/{second}`; brief does not import it"
            ));
        }
        // A rule of Cursor in a directory where clients read `.md` alone.
        let is_near = rest
            .strip_suffix(".mdc")
            .is_some_and(|stem| at_place("", &format!("{stem}.md"), profiles).is_some());
        if is_near {
            return Some("no client reads a `.mdc` file here; name it to import it".to_owned());
        }
    }
    None
}

/// Returns the client that is told by the file at the top of a project which files to leave alone.
fn find_ignoring_client(path: &str) -> Option<&'static str> {
    let is_it = |client: &&Client| client.ignores.iter().any(|own| **own == *path);
    BUILTIN.clients.iter().find(is_it).map(|client| &*client.name)
}

/// Directories of clients that are called like a kind of guidance.
const GUIDANCE: [&str; 8] =
    ["agents", "checks", "commands", "instructions", "modes", "prompts", "rules", "workflows"];

/// Directories whose files are made up, for tests or to be copied.
const TEST_DATA: [&str; 17] = [
    "archetype-resources",
    "boilerplate",
    "cookiecutter",
    "skeleton",
    "__fixtures__",
    "__tests__",
    "_template",
    "_templates",
    "fixture",
    "fixtures",
    "mocks",
    "snapshots",
    "test-data",
    "testdata",
    "test_data",
    "template",
    "templates",
];

/// Returns whether a directory holds test data or templates, which no agent of the project itself should follow.
pub fn is_test_data(directory: &str) -> bool {
    directory.split('/').any(|name| TEST_DATA.contains(&name))
}

/// Returns whether a rule is about a directory of skills of a client: a page of a skill or of a plugin that is linked there.
pub(super) fn is_among_skills(found: &ImportCandidate) -> bool {
    let mut names = found.about.split('/').peekable();
    let mut is_among = false;
    while let Some(name) = names.next() {
        is_among |= name.starts_with('.') && names.peek() == Some(&"skills");
    }
    is_among && found.kind == ItemKind::Rule
}

/// Returns the path inside a place; `None` for what its client does not read there.
fn path_inside_place<'r>(place: &ClientPlace, rest: &'r str) -> Option<&'r str> {
    let below = rest.strip_prefix(&*place.path)?;
    match &place.shape {
        PlaceShape::File => below.is_empty().then_some(below),
        PlaceShape::Skills => below.strip_prefix('/'),
        PlaceShape::Tree(names) => {
            let below = below.strip_prefix('/')?;
            let is_read = names.endings.iter().any(|ending| below.ends_with(&**ending));
            let is_near = names.is_deep || !below.contains('/');
            let mut parts = below.split('/');
            let is_skipped = parts.any(|part| names.skipped.iter().any(|own| &**own == part));
            (is_read && is_near && !is_skipped).then_some(below)
        }
    }
}

/// Returns the client whose own place it is: the one that is told by it.
fn find_place_owner(place: &ClientPlace, profiles: &Profiles) -> Option<String> {
    let is_sign = |client: &&Client| {
        let mut signs = client.signs.iter();
        signs.any(|sign| {
            place.path == *sign
                || place.path.strip_prefix(&**sign).is_some_and(|rest| rest.starts_with('/'))
        })
    };
    let mut reading = BUILTIN
        .clients
        .iter()
        .filter(|client| client.reads.iter().any(|read| read.path == place.key));
    let client = reading.clone().find(is_sign).or_else(|| {
        // A place that one client alone reads is its own.
        let only = reading.next();
        only.filter(|_| reading.next().is_none())
    })?;
    let id = client.items_of.as_ref().unwrap_or(&client.id);
    profiles.get(id).map(|profile| profile.id().to_owned())
}

/// Recognizes a file by its ending, or by the directory above it.
fn by_name(path: &str, profiles: &Profiles) -> Option<ImportCandidate> {
    let (above, file) = path.rsplit_once('/').unwrap_or(("", path));
    let found = |profile: &Profile, kind, form: Form, stem: &str| {
        ImportCandidate::new(Some(profile.id().to_owned()), kind, form, stem)
    };
    if file == ItemKind::Skill.entrypoint() {
        let stem = above.rsplit('/').next().filter(|stem| !stem.is_empty())?;
        let skill = ImportCandidate::new(None, ItemKind::Skill, Form::Skill, stem);
        return Some(ImportCandidate { directory: Some(above.to_owned()), ..skill });
    }
    // An item of a registry is portable already.
    if ItemKind::ALL.into_iter().any(|kind| kind.entrypoint() == file) {
        return None;
    }
    let layouts = || {
        profiles.iter().flat_map(|profile| {
            profile.layouts().map(move |(kind, layout)| (profile, kind, layout))
        })
    };
    let form = |layout: &Layout| layout.pattern_form().unwrap_or(Form::Plain);
    for (profile, kind, layout) in layouts() {
        let ending = layout
            .path
            .name_ending()
            .filter(|ending| ending.len() > ".toml".len() || *ending == ".mdc");
        if let Some(stem) = ending.and_then(|ending| file.strip_suffix(ending)) {
            return Some(found(profile, kind, form(layout), stem));
        }
    }
    let legacy = BUILTIN
        .project
        .iter()
        .find(|place| place.shape == PlaceShape::File && &*place.path == file);
    if let Some(place) = legacy {
        let profile = profiles.get(&find_place_owner(place, profiles)?)?;
        return Some(found(profile, ItemKind::Rule, place.form, file_stem(file)));
    }
    let stem = file.strip_suffix(".md")?;
    if matches!(stem, "README" | "CONTRIBUTING" | "LICENSE" | "CHANGELOG" | "INDEX" | "index") {
        return None;
    }
    // A collection sorts its files below a directory of their kind.
    let kind = above
        .split('/')
        .rev()
        .find_map(ItemKind::of_folder)
        .or_else(|| above.contains("categories").then_some(ItemKind::Agent))?;
    let (profile, _, layout) =
        layouts().find(|(profile, own, _)| *own == kind && profile.id() == "claude")?;
    (kind != ItemKind::Skill).then(|| found(profile, kind, form(layout), stem))
}

fn file_stem(file: &str) -> &str {
    let file = file.trim_start_matches('.');
    let endings = [
        ".instructions.md",
        ".agent.md",
        ".prompt.md",
        ".chatmode.md",
        ".mdc",
        ".md",
        ".txt",
        ".toml",
        ".yaml",
    ];
    let stem = endings.into_iter().find_map(|ending| file.strip_suffix(ending));
    stem.filter(|stem| !stem.is_empty()).unwrap_or(file)
}

impl Template {
    /// Returns the directory of all items, with a slash at its end, or the start of their names.
    fn directory_prefix(&self) -> &str {
        self.text().split("{name}").next().unwrap_or_default()
    }

    /// Returns the first name of the path.
    fn first_name(&self) -> &str {
        self.text().split('/').next().unwrap_or_default()
    }

    /// Returns what follows the name, if no directory does.
    fn name_ending(&self) -> Option<&str> {
        let (_, after) = self.text().rsplit_once("{name}")?;
        (!after.contains('/')).then_some(after)
    }

    /// Returns the name of a file at the path, in a directory of its own or not.
    fn stem_in<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (before, after) = self.text().split_once("{name}")?;
        let inside = path.strip_prefix(before)?.strip_suffix(after)?;
        (!inside.is_empty()).then(|| inside.rsplit('/').next().unwrap_or(inside))
    }
}
