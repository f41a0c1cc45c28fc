//! All files of a project that can be imported, as items.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use brief_dialects::is_in_dependency;
use brief_dialects::portable::{ItemKind, is_sound, name_problem};
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::walk::{self, IgnoreFiles, Ignored, Visit};
use brief_syntax::{Root, Source, Target, TargetKind};
use brief_system::hash::sha256;
use brief_system::{FileContent, FileKind, Permission, System};
use serde::Serialize;

use crate::compile::yaml::{self, YamlValue, text_of};
use crate::mcp::{self, DeclaredServer};
use crate::profile::Profiles;

use super::apart::ProjectFiles;
use super::beside::{self, Beside, CollectedServer};
use super::found::{ImportCandidate, ImportSearch};
use super::gather::CollectRequest;
use super::generated::{GeneratedFile, ToolSources};
use super::header::Header;
use super::item::ImportedItem;
use super::links::{LinkedDirectories, LinkedDirectory};
use super::unite::unite_items;
use super::{ImportNote, OriginalFile, import_file, item_slug, modes};

/// The items and servers that the files of a project can become.
#[derive(Debug, Default)]
pub struct Collection {
    /// The items, by kind and name.
    pub items: Vec<CollectedItem>,
    /// Files that were left out, with the reason.
    pub skipped: Vec<SkippedFile>,
    pub servers: Vec<CollectedServer>,
    /// The number of files that were looked at.
    pub files: usize,
    /// Directories that clients read by a link, below the project, with `/`.
    pub linked: Vec<String>,
    /// Files that other tools have written from sources that are imported.
    pub generated: Vec<GeneratedFile>,
    /// Files of servers that another tool has written entries into.
    pub shared: BTreeSet<String>,
    /// The clients that other tools write for.
    pub clients: Vec<String>,
    /// The settings that name these clients, below the project, with `/`.
    pub clients_from: Vec<String>,
}

/// An item and its files.
#[derive(Debug)]
pub struct CollectedItem {
    pub kind: ItemKind,
    pub name: String,
    /// The files that it was made from, below the project, with `/`.
    pub originals: Vec<String>,
    /// The clients that it is for; all, if there are none.
    pub clients: Vec<String>,
    /// The files below the directory of its kind, with `/`: `NAME/RULE.md` first.
    pub files: Vec<ItemFile>,
    /// Everything that it does not say in the words of the format.
    pub notes: Vec<ImportNote>,
    /// The item; `None` for a skill that is taken as it is.
    pub item: Option<ImportedItem>,
}

/// A file of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemFile {
    /// The path below the directory of the item's kind, with `/`.
    pub path: String,
    pub bytes: Vec<u8>,
    /// The permission to start it.
    pub permission: Permission,
}

/// A file that is not imported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SkippedFile {
    /// The path below the project, with `/`.
    pub path: String,
    pub reason: String,
    #[serde(skip)]
    pub loss: ImportLoss,
}

/// The loss when a file is not imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImportLoss {
    /// Its text is in no item.
    Text,
    /// The format has no such thing. The file stays, and its client reads it as before.
    NoPortableForm,
    /// Nothing: its text is somewhere else, or `brief` has written it.
    Nothing,
}

/// The files of a project that were read so far.
#[derive(Default)]
pub(super) struct Collector {
    pub(super) entries: Vec<(String, ImportCandidate, Arc<Source>)>,
    pub(super) skills: BTreeMap<String, SkillFiles>,
    skipped: Vec<SkippedFile>,
    /// Directories that we have written.
    pub(super) outputs: Vec<String>,
    /// Files of settings, servers and records, with their content.
    pub(super) beside: Vec<(String, Vec<u8>)>,
    /// Links to directories, to be walked.
    pub(super) links: LinkedDirectories,
    pub(super) files: usize,
}

pub(super) struct SkillFiles {
    pub(super) found: ImportCandidate,
    pub(super) files: Vec<(String, FileContent)>,
}

/// Collects the files of a project. `is_wanted` is asked about every path, with `/`; `ours` are the hashes of
/// the files that we have written.
pub fn collect_project_files(
    system: &dyn System,
    root: &Root,
    profiles: &Profiles,
    search: ImportSearch,
    is_wanted: &dyn Fn(&str) -> bool,
    ours: &BTreeMap<String, String>,
) -> Collection {
    let mut collector = Collector::default();
    let ignored = &IgnoreFiles::new(system, root);
    let request = CollectRequest { system, root, profiles, search, is_wanted, ours, ignored };
    let top = Target::from_slashed("", TargetKind::Directory);
    // A package is imported when it is named.
    let is_skipped = |path: &str| search == ImportSearch::AtPlaces && is_in_dependency(path);
    let mut visitor =
        |visit: &Visit<'_>| collector.visit_directory(visit, visit.slashed(), &request);
    let gaps = walk::whole_except(system, root, &top, Ignored::Skip, &is_skipped, &mut visitor);
    collector.report_gaps(root, &gaps);
    while let Some(LinkedDirectory { path, real }) = collector.links.next() {
        let start = Target::from_slashed(&real, TargetKind::Directory);
        let inside = |slashed: &str| {
            let below = slashed.strip_prefix(&*real).unwrap_or_default();
            format!("{path}{below}")
        };
        // What the link itself goes through counts for nothing: the client enters it.
        let is_skipped =
            |slashed: &str| search == ImportSearch::AtPlaces && is_in_dependency(&inside(slashed));
        let mut visitor = |visit: &Visit<'_>| {
            collector.visit_directory(visit, &inside(visit.slashed()), &request);
        };
        let gaps =
            walk::whole_except(system, root, &start, Ignored::Skip, &is_skipped, &mut visitor);
        collector.report_gaps(root, &gaps);
    }
    let list = || {
        let mut files = Vec::new();
        let mut visitor = |visit: &Visit<'_>| {
            let entries = visit.entries().into_iter().flatten();
            let names = entries.filter(|entry| entry.kind == FileKind::File);
            files.extend(
                names.filter_map(|entry| Some(join_path(visit.slashed(), entry.name.to_str()?))),
            );
        };
        walk::whole_except(system, root, &top, Ignored::Skip, &is_skipped, &mut visitor);
        files
    };
    collector.finish(profiles, ProjectFiles::new(&list))
}

pub(super) fn join_path(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

impl Collector {
    pub(super) fn skip_file(&mut self, path: &str, reason: impl Into<String>) {
        self.skip_losing(ImportLoss::Text, path, reason);
    }

    pub(super) fn skip_losing(&mut self, loss: ImportLoss, path: &str, reason: impl Into<String>) {
        self.skipped.push(SkippedFile { path: path.to_owned(), reason: reason.into(), loss });
    }

    fn finish(mut self, profiles: &Profiles, mut files: ProjectFiles<'_>) -> Collection {
        let clients = profiles.ids();
        let mut items = Vec::new();
        let entries = std::mem::take(&mut self.entries);
        let generated = self.leave_generated(&entries);
        for (path, found, source) in &entries {
            if generated.iter().any(|file| file.path == *path) {
                continue;
            }
            let file = OriginalFile {
                client: found.client.as_deref().and_then(|client| profiles.get(client)),
                kind: found.kind,
                form: found.form,
                about: &found.about,
                stem: &found.stem,
                peer: found.peer,
                source,
            };
            match import_file(&file, &clients).map(|item| item.into_sound_item(profiles, &clients))
            {
                Ok(Some(mut item)) => {
                    files.record_original(source.path(), path);
                    if is_page(found) {
                        let note = "its client loads it like any other rule, although its name suggests a page about rules";
                        item.add_note(None, note);
                    }
                    items.push(item);
                }
                Ok(None) => self.skip_file(
                    path,
                    "the format cannot express it; `brief lint` would report errors in it",
                ),
                Err(refusal) => self.skip_file(path, refusal.to_string()),
            }
        }
        items.extend(self.collect_modes(&clients, &mut files));
        let mut names = TakenNames::default();
        let mut collected: Vec<CollectedItem> = Vec::new();
        for mut item in unite_items(items, profiles, &files) {
            let member = &item.members[0];
            let apart = [member.about.as_str(), member.client.as_deref().unwrap_or("all")];
            let wanted = item.name.clone();
            let name = names.reserve_name(item.kind, &wanted, &apart);
            if name != wanted {
                item.rename(name);
                item.add_note(Some("name"), format!("another {} is named `{wanted}`", item.kind));
                // The name is a field, so that blocks have to be made anew.
                item.settle_all(profiles, &clients);
            }
            let originals =
                item.members.iter().filter_map(|member| files.find_original(&member.path));
            let originals = originals.map(str::to_owned).collect();
            collected.push(CollectedItem::from_imported(item, originals));
        }
        collected.extend(self.collect_skills(&mut names));
        collected.sort_by(|left, right| (left.kind, &left.name).cmp(&(right.kind, &right.name)));
        let beside = beside::collect_beside_files(&self.beside, profiles);
        self.skipped.extend(beside.named);
        self.skipped.sort();
        self.skipped.dedup();
        let is_peer = |path: &String| mcp::PEER_FILES.iter().any(|file| file.path == path);
        let of_peers = beside.servers.iter().filter(|own| own.originals.iter().any(is_peer));
        let shared = of_peers.flat_map(|own| &own.originals).filter(|path| !is_peer(path));
        Collection {
            items: collected,
            skipped: self.skipped,
            shared: shared.cloned().collect(),
            servers: beside.servers,
            files: self.files,
            linked: self.links.into_real(),
            generated,
            clients: beside.clients,
            clients_from: beside.named_in,
        }
    }

    /// Leaves out what other tools have written from their own sources.
    fn leave_generated(
        &mut self,
        entries: &[(String, ImportCandidate, Arc<Source>)],
    ) -> Vec<GeneratedFile> {
        let sources = ToolSources::new(entries, &self.skills);
        let mut generated = Vec::new();
        let mut left = Vec::new();
        for (path, found, source) in entries {
            if let Some((tool, reason)) = sources.find_writer(found, Some(source)) {
                left.push((path.clone(), reason));
                generated.push(GeneratedFile { path: path.clone(), tool });
            }
        }
        self.skills.retain(|directory, skill| {
            let Some((tool, reason)) = sources.find_writer(&skill.found, None) else { return true };
            left.push((format!("{directory}/{}", ItemKind::Skill.entrypoint()), reason));
            generated.push(GeneratedFile { path: directory.clone(), tool });
            false
        });
        for (path, reason) in left {
            self.skip_losing(ImportLoss::Nothing, &path, reason);
        }
        generated
    }

    /// Takes the agents of a list.
    fn collect_modes(
        &mut self,
        clients: &[&str],
        files: &mut ProjectFiles<'_>,
    ) -> Vec<ImportedItem> {
        let mut items = Vec::new();
        let lists: Vec<(String, Vec<u8>)> =
            self.beside.extract_if(.., |(path, _)| path == modes::FILE).collect();
        for (path, bytes) in lists {
            self.files += 1;
            let refused = super::ImportRefusal::NotUtf8.to_string();
            let text = std::str::from_utf8(&bytes).map_err(|_| refused);
            match text.and_then(|text| modes::parse_modes(Path::new(&path), text)) {
                Ok(found) => {
                    let (sound, others): (Vec<_>, Vec<_>) = found
                        .into_iter()
                        .partition(|item| is_sound(&item.to_portable_item(), clients));
                    for item in &sound {
                        files.record_original(&item.members[0].path, &path);
                    }
                    for item in others {
                        self.skip_file(
                            &path,
                            format!("the format cannot express the mode `{}`", item.name),
                        );
                    }
                    items.extend(sound);
                }
                Err(reason) => self.skip_file(&path, reason),
            }
        }
        items
    }

    /// Takes skills as they are; the same one in several places is one.
    fn collect_skills(&mut self, names: &mut TakenNames) -> Vec<CollectedItem> {
        let mut taken: Vec<CollectedItem> = Vec::new();
        // A collection has thousands, so that each is compared with those of its own content only.
        let mut known: BTreeMap<Vec<(String, String, bool)>, usize> = BTreeMap::new();
        // The name that each was called by, and the clients that read its directories.
        let mut readers: Vec<(String, Vec<String>)> = Vec::new();
        // Names of skills in directories that several clients read.
        let mut shared: BTreeSet<String> = BTreeSet::new();
        for (directory, mut skill) in std::mem::take(&mut self.skills) {
            skill.files[1..].sort_by(|(left, _), (right, _)| left.cmp(right));
            let entry = format!("{directory}/{}", ItemKind::Skill.entrypoint());
            let stem = own_name(&skill.files[0].1.bytes)
                .unwrap_or_else(|| item_slug(&skill.found.stem, ItemKind::Skill));
            let refusal = match std::str::from_utf8(&skill.files[0].1.bytes) {
                Err(_) => Some(super::ImportRefusal::NotUtf8),
                Ok(text) if text.trim().is_empty() => Some(super::ImportRefusal::NoText),
                Ok(_) => None,
            };
            if let Some(refusal) = refusal {
                self.skip_file(&entry, refusal.to_string());
                continue;
            }
            let content = |(path, file): &(String, FileContent)| {
                (path.clone(), sha256(&file.bytes), file.permission == Permission::Program)
            };
            let content = skill.files.iter().map(content).collect();
            if let Some(same) = known.get(&content).and_then(|place| taken.get_mut(*place)) {
                same.originals.push(entry);
                match skill.found.client {
                    Some(client) => readers[known[&content]].1.push(client),
                    None => _ = shared.insert(stem),
                }
                continue;
            }
            known.insert(content, taken.len());
            let apart =
                [skill.found.about.as_str(), skill.found.client.as_deref().unwrap_or("all")];
            let name = names.reserve_name(ItemKind::Skill, &stem, &apart);
            let mut notes = Vec::new();
            readers.push((stem.clone(), skill.found.client.clone().into_iter().collect()));
            if skill.found.client.is_none() {
                shared.insert(stem.clone());
            }
            if name != stem {
                let message = format!("another skill is named `{stem}`");
                notes.push(ImportNote::new(Some("name"), message));
                set_field(&mut skill.files[0].1.bytes, "name", &name);
            }
            if !has_description(&skill.files[0].1.bytes) {
                let message = "is missing, which is an error in a registry; write one";
                notes.push(ImportNote::new(Some("description"), message));
            }
            taken.push(CollectedItem {
                kind: ItemKind::Skill,
                originals: vec![entry],
                clients: Vec::new(),
                files: skill
                    .files
                    .into_iter()
                    .map(|(path, FileContent { bytes, permission })| ItemFile {
                        path: format!("{name}/{path}"),
                        bytes,
                        permission,
                    })
                    .collect(),
                notes,
                item: None,
                name,
            });
        }
        limit_to_readers(&mut taken, &readers, &shared);
        taken
    }
}

/// Limits different skills of one name to the clients that read them, where each directory is that of one client: a client
/// would get two skills for one.
fn limit_to_readers(
    taken: &mut [CollectedItem],
    readers: &[(String, Vec<String>)],
    shared: &BTreeSet<String>,
) {
    let mut namesakes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, (stem, _)) in readers.iter().enumerate() {
        namesakes.entry(stem).or_default().push(place);
    }
    for (stem, places) in namesakes {
        let clients: Vec<&String> = places.iter().flat_map(|place| &readers[*place].1).collect();
        let different: BTreeSet<&&String> = clients.iter().collect();
        if places.len() < 2 || shared.contains(stem) || different.len() < clients.len() {
            continue;
        }
        for place in places {
            let (Some(item), clients) = (taken.get_mut(place), &readers[place].1) else { continue };
            let Some(entry) = item.files.first_mut() else { continue };
            if set_field(&mut entry.bytes, "audience", &format!("[{}]", clients.join(", "))) {
                item.clients.clone_from(clients);
                let message = format!(
                    "only {}: other clients have another skill `{stem}`",
                    clients.join(", ")
                );
                item.notes.push(ImportNote::new(Some("audience"), message));
            }
        }
    }
}

/// Writes a field with a value of one line into the header of a skill. Returns false if there is no header, or if the field has
/// more lines.
fn set_field(bytes: &mut Vec<u8>, field: &str, value: &str) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let end = if text.starts_with("---\r\n") { "\r\n" } else { "\n" };
    let Some(header) = text.strip_prefix("---").and_then(|rest| rest.strip_prefix(end)) else {
        return false;
    };
    let start = text.len() - header.len();
    let mut at = start;
    let mut replaced = None;
    let mut lines = header.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if line.trim_end() == "---" {
            let written = format!("{field}: {value}{end}");
            let (from, to) = replaced.unwrap_or((start, start));
            *bytes = [&text[..from], &written, &text[to..]].concat().into_bytes();
            return true;
        }
        if line.strip_prefix(field).is_some_and(|rest| rest.starts_with(':')) {
            if lines
                .peek()
                .is_some_and(|next| next.starts_with([' ', '\t', '-']) && next.trim_end() != "---")
            {
                return false;
            }
            replaced = Some((at, at + line.len()));
        }
        at += line.len();
    }
    false
}

/// Returns whether a rule has the name of a page or a template: `README.md`, `_template.md`.
fn is_page(found: &ImportCandidate) -> bool {
    found.kind == ItemKind::Rule
        && (found.stem.eq_ignore_ascii_case("readme") || found.stem.starts_with('_'))
}

/// Returns whether a skill's header says what the skill is for.
fn has_description(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let source = Arc::new(Source::new(ItemKind::Skill.entrypoint(), text));
    let header = Header::from_front_matter(&FrontMatter::from_source(&source), &source);
    header.get("description").and_then(text_of).is_some_and(|text| !text.trim().is_empty())
}

/// Returns the name in a skill's header, if the format allows it: the directory of a skill has to be called so.
fn own_name(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let source = Arc::new(Source::new(ItemKind::Skill.entrypoint(), text));
    let header = Header::from_front_matter(&FrontMatter::from_source(&source), &source);
    let name = header.get("name").and_then(text_of)?.to_owned();
    name_problem(&name).is_none().then_some(name)
}

impl CollectedItem {
    fn from_imported(item: ImportedItem, originals: Vec<String>) -> CollectedItem {
        let file = |name: String, text: &str| ItemFile {
            path: format!("{}/{name}", item.name),
            bytes: text.as_bytes().to_vec(),
            permission: Permission::Data,
        };
        let mut files = vec![file(item.kind.entrypoint().to_owned(), &item.render_text())];
        for (client, body) in &item.overrides {
            files.push(file(format!("{}.{client}.md", item.kind.stem()), body));
        }
        CollectedItem {
            kind: item.kind,
            name: item.name.clone(),
            originals,
            clients: item.clients.clone(),
            files,
            notes: item.notes.clone(),
            item: Some(item),
        }
    }
}

/// The names that are taken. They are in lower case, so that no file system takes two for one.
#[derive(Default)]
struct TakenNames(BTreeSet<(ItemKind, String)>);

impl TakenNames {
    /// Takes a name, or one like it that tells where the item comes from.
    fn reserve_name(&mut self, kind: ItemKind, wanted: &str, apart: &[&str]) -> String {
        let others = apart
            .iter()
            .filter(|word| !word.is_empty())
            .map(|word| item_slug(&format!("{word}-{wanted}"), kind));
        let numbered = (2..).map(|number| item_slug(&format!("{number}-{wanted}"), kind));
        let mut names = std::iter::once(wanted.to_owned()).chain(others).chain(numbered);
        let name = names
            .find(|name| !self.0.contains(&(kind, name.clone())))
            .unwrap_or_else(|| wanted.to_owned());
        self.0.insert((kind, name.clone()));
        name
    }
}

/// The longest text for an entry of `AGENTS.yaml`, in bytes.
const SMALL: usize = 2_000;

impl Collection {
    /// Leaves out the servers that the project declares already.
    pub fn leave_declared(&mut self, declared: &[DeclaredServer]) {
        let servers = std::mem::take(&mut self.servers);
        let named = std::mem::take(&mut self.skipped);
        let mut beside = Beside { servers, named, ..Beside::default() };
        beside.leave_declared(declared);
        (self.servers, self.skipped) = (beside.servers, beside.named);
    }

    /// Returns scoped rules that are short as an `AGENTS.yaml`, and their names.
    pub fn agents_yaml(&self) -> (String, BTreeSet<String>) {
        let mut entries = Vec::new();
        let mut names = BTreeSet::new();
        for item in self.items.iter().filter_map(|collected| collected.item.as_ref()) {
            let is_small =
                item.kind == ItemKind::Rule && !item.scope.is_empty() && item.body.len() <= SMALL;
            let is_plain = item.overrides.is_empty() && !item.body.contains("<!-- @client:");
            if is_small && is_plain {
                names.insert(item.name.clone());
                entries.push(item.build_entry());
            }
        }
        (
            yaml::render_yaml(&vec![(YamlValue::from_text("context"), YamlValue::List(entries))]),
            names,
        )
    }
}
