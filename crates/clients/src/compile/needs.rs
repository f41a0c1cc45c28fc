//! The entries in files of the user that make clients read our outputs.

use std::collections::{BTreeMap, BTreeSet};

use brief_profiles::{BUILTIN, PermissionProfile, Seat, ServerProfile, Unless};

use brief_dialects::portable::ItemKind;
use brief_dialects::portable::output::{AddedLine, Outputs, SharedEntry, SharedFile};

use crate::mcp;
use crate::permissions;
use crate::profile::{Bridge, ListEntry, Mention, Profile, ProfileScope, SharedFiles, Template};
use crate::shared::block::has_lines_of_user;

use super::Clients;
use super::body::relative_link_path;

/// A server that a client cannot get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedServer {
    /// The name of the client.
    pub client: String,
    /// The name of the server.
    pub server: String,
    pub why: &'static str,
}

/// The entries of each file, in order.
pub(super) type Entries = BTreeMap<String, Vec<SharedEntry>>;

impl Clients {
    /// Returns the servers that some clients cannot get, with the reason.
    pub fn left_out(&self, clients: &[&str]) -> Vec<UnsupportedServer> {
        let mut left_out = Vec::new();
        self.add_servers(clients, &BTreeSet::new(), &mut Entries::new(), &mut left_out);
        left_out
    }

    pub(super) fn shared_files(&self, project: &Outputs<'_>) -> Vec<SharedFile> {
        let mut entries = Entries::new();
        let mut present = project.present.clone();
        for (_, layout) in self.select_profiles(project.clients).flat_map(Profile::layouts) {
            if let Some(mention) = &layout.mention {
                let path = layout.path_in(self.scope());
                let named = |file: &'_ String| Some((file.clone(), path.name_in(file)?.to_owned()));
                let files: Vec<(String, String)> = project.files.iter().filter_map(named).collect();
                self.add_mention(mention, &files, project, &mut entries);
            }
        }
        // What is made now is there in the next run.
        present.extend(entries.keys().cloned());
        let project = &Outputs { present: &present, ..*project };
        for profile in self.select_profiles(project.clients) {
            for (_, layout) in profile.layouts() {
                let Some(listing) = &layout.listing else { continue };
                let path = layout.path_in(self.scope());
                if project.files.iter().any(|file| path.matches(file)) {
                    self.add_listing(listing, project.present, &mut entries);
                }
            }
            // A client without outputs needs no bridge.
            let gets = |path: &Template| project.files.iter().any(|file| path.matches(file));
            let is_served = profile.layouts().any(|(_, layout)| gets(layout.path_in(self.scope())));
            if let Some(bridge) = profile.bridge().filter(|_| is_served) {
                self.add_bridge(bridge, project, &mut entries);
            }
        }
        self.add_servers(project.clients, project.present, &mut entries, &mut Vec::new());
        self.add_permissions(project.clients, project.present, &mut entries, &mut Vec::new());
        entries.into_iter().map(|(path, entries)| SharedFile { path, entries }).collect()
    }

    /// Returns the lines that clients of the project's own add for an item of a kind.
    pub(super) fn lines_of(&self, kind: ItemKind, clients: &[&str]) -> Vec<AddedLine> {
        let mut added = Vec::new();
        for profile in self
            .select_profiles(clients)
            .filter(|profile| BUILTIN.find_client(profile.id()).is_none())
        {
            let mut add = |file: &str, line: &str| {
                let (client, file) = (profile.id().to_owned(), file.to_owned());
                added.push(AddedLine { client, file, line: line.to_owned() });
            };
            for layout in profile.layouts().filter(|(of, _)| *of == kind).map(|(_, layout)| layout)
            {
                if let Some(mention) = &layout.mention {
                    mention.intro.iter().for_each(|intro| add(&mention.file, intro));
                    add(&mention.file, &mention.line);
                }
                if let Some(listing) = &layout.listing {
                    add(&listing.files.usual, &listing.value);
                }
            }
            if let Some(bridge) = profile.bridge() {
                add(&bridge.files.usual, &bridge.text);
            }
        }
        added
    }

    pub(super) fn watched_files(&self) -> Vec<String> {
        let mut watched: BTreeSet<&str> = BTreeSet::new();
        // A single possible file decides nothing.
        let files = self.listings().filter_map(|listing| self.files_of(listing));
        watched.extend(files.filter(|files| !files.others.is_empty()).flat_map(SharedFiles::iter));
        for profile in self.profiles.iter() {
            if let Some(bridge) = profile.bridge().filter(|_| self.scope() == ProfileScope::Project)
            {
                watched.insert(&bridge.from);
                watched.extend(bridge.files.iter());
            }
            let mentions = profile.layouts().filter_map(|(_, layout)| layout.mention.as_ref());
            for mention in mentions.filter(|_| self.scope() == ProfileScope::Project) {
                watched.insert(&mention.file);
                watched.extend(mention.unless.iter().map(String::as_str));
            }
            let files =
                mcp::find_server_profile(profile.id()).map(|known| self.server_files(known));
            watched.extend(files.filter(|files| files.len() > 1).into_iter().flatten());
            let permissions = permissions::find_permission_profile(profile.id());
            let is_open = |known: &&PermissionProfile| {
                self.scope() == ProfileScope::Project && !known.or.is_empty()
            };
            if let Some(known) = permissions.filter(is_open) {
                watched.extend(known.file_names());
            }
        }
        watched.into_iter().map(str::to_owned).collect()
    }

    /// Returns the address of the schema with which a new file begins.
    pub(super) fn schema_of(&self, path: &str) -> Option<&str> {
        let is_it = |listing: &&ListEntry| {
            self.files_of(listing).is_some_and(|files| files.iter().any(|file| file == path))
        };
        self.listings().find(is_it).and_then(|listing| listing.schema.as_deref())
    }

    fn add_listing(&self, listing: &ListEntry, present: &BTreeSet<String>, entries: &mut Entries) {
        let Some(files) =
            self.files_of(listing).filter(|_| !self.is_left(listing.setting.as_deref()))
        else {
            return;
        };
        let value = match self.scope() {
            ProfileScope::Project => &listing.value,
            ProfileScope::Home => &listing.home_value,
        };
        let entry = SharedEntry::Listed { key: listing.list.clone(), value: value.clone() };
        add_entry(entries, choose_present_file(&files.usual, files.iter(), present), entry);
    }

    fn add_bridge(&self, bridge: &Bridge, project: &Outputs<'_>, entries: &mut Entries) {
        let Outputs { present, clients, .. } = project;
        let is_needed = self.scope() == ProfileScope::Project
            && present.contains(&bridge.from)
            && (!bridge.is_for_present || bridge.files.iter().any(|file| present.contains(file)))
            && !self.is_left(bridge.setting.as_deref());
        if !is_needed {
            return;
        }
        let line_in = |file: &str| {
            let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
            bridge.text.replace("{path}", &relative_link_path(directory, &bridge.from))
        };
        // The user has written it.
        let has_line =
            |file: &str| Some(has_lines_of_user(project.texts.get(file)?, &line_in(file)));
        if bridge.files.iter().any(|file| has_line(file) == Some(true)) {
            return;
        }
        // Another client that follows the line in that file, too, would have the text twice.
        let doubles = |file: &str| clients.iter().any(|id| follows_import(id, file, &bridge.from));
        let apart = || bridge.files.iter().filter(|file| !doubles(file));
        let path = apart()
            .find(|file| present.contains(*file))
            .or_else(|| apart().next().filter(|_| doubles(&bridge.files.usual)))
            .unwrap_or_else(|| {
                choose_present_file(&bridge.files.usual, bridge.files.iter(), present)
            });
        add_lines(entries, path, &[line_in(path)]);
    }

    fn add_mention(
        &self,
        mention: &Mention,
        files: &[(String, String)],
        Outputs { present, scopes, .. }: &Outputs<'_>,
        entries: &mut Entries,
    ) {
        let Mention { file, unless, intro, line, setting, .. } = mention;
        // A new file would take the place of one that a client reads only without it.
        let is_hiding = !present.contains(file) && unless.iter().any(|one| present.contains(one));
        let is_wanted = self.scope() == ProfileScope::Project && !is_hiding;
        if files.is_empty() || !is_wanted || self.is_left(setting.as_deref()) {
            return;
        }
        let mut lines: Vec<String> = intro.iter().cloned().collect();
        lines.extend(files.iter().map(|(path, name)| {
            let scope = scopes.get(path).map(|patterns| in_words(patterns)).unwrap_or_default();
            let line = line.replace("{name}", name).replace("{path}", path);
            line.replace("{scope}", &scope)
        }));
        add_lines(entries, file, &lines);
    }

    fn add_servers(
        &self,
        clients: &[&str],
        present: &BTreeSet<String>,
        entries: &mut Entries,
        left_out: &mut Vec<UnsupportedServer>,
    ) {
        for profile in self.select_profiles(clients) {
            let client = profile.id();
            for declared in self.servers.iter().filter(|declared| declared.is_for(client)) {
                let server = &declared.server;
                match self.server_entry(client, server, present) {
                    Ok((path, entry)) => add_entry(entries, path, entry),
                    Err(why) => left_out.push(UnsupportedServer {
                        client: client.to_owned(),
                        server: server.name.clone(),
                        why,
                    }),
                }
            }
        }
    }

    /// Returns the file and the entry that declare a server for a client.
    fn server_entry(
        &self,
        client: &str,
        server: &mcp::Server,
        present: &BTreeSet<String>,
    ) -> Result<(&'static str, SharedEntry), &'static str> {
        let known = mcp::find_server_profile(client)
            .ok_or("brief does not know the server file of the client")?;
        let files = self.server_files(known);
        let usual = files.first().ok_or(match self.scope() {
            ProfileScope::Project => "the client reads no server file of a project; use `--global`",
            ProfileScope::Home => {
                "the client manages its server file in the home directory; use its own command"
            }
        })?;
        let path = choose_present_file(usual, files.iter().copied(), present);
        if self.is_left_file(path) {
            return Err("`[install]` excludes the server file");
        }
        let json = mcp::entry_json(known, server)?;
        let entry =
            SharedEntry::Keyed { key: known.key.to_string(), name: server.name.clone(), json };
        Ok((path, entry))
    }

    /// Returns the files that servers may be written to, the usual one first; none if there is no such file.
    pub(super) fn server_files(&self, known: &'static ServerProfile) -> Vec<&'static str> {
        let (usual, others) = mcp::files_in(known, self.scope());
        let others = others.iter().filter(|_| usual.is_some());
        usual.into_iter().chain(others).map(|file| &**file).collect()
    }

    pub(super) fn files_of<'l>(&self, listing: &'l ListEntry) -> Option<&'l SharedFiles> {
        match self.scope() {
            ProfileScope::Project => Some(&listing.files),
            ProfileScope::Home => listing.home_files.as_ref(),
        }
    }

    fn listings(&self) -> impl Iterator<Item = &ListEntry> {
        let layouts = self.profiles.iter().flat_map(Profile::layouts);
        layouts.filter_map(|(_, layout)| layout.listing.as_ref())
    }

    fn is_left(&self, setting: Option<&str>) -> bool {
        setting.is_some_and(|setting| self.settings.left.contains(setting))
    }

    /// Returns whether the project excludes a file from edits.
    fn is_left_file(&self, path: &str) -> bool {
        self.listings().any(|listing| {
            let setting = listing.setting.as_deref();
            let files = self.files_of(listing).filter(|_| self.is_left(setting));
            files.is_some_and(|files| files.iter().any(|file| file == path))
        })
    }
}

/// Returns the files that a rule is for, as the end of a line.
fn in_words(patterns: &[String]) -> String {
    let is_plain = |pattern: &&String| !pattern.contains(['`', '\n', '\r']);
    let shown: Vec<String> =
        patterns.iter().filter(is_plain).map(|pattern| format!("`{pattern}`")).collect();
    if shown.is_empty() { String::new() } else { format!(" for {}", shown.join(", ")) }
}

/// Returns the first of some files that exists, else the usual one.
pub(super) fn choose_present_file<'f>(
    usual: &'f str,
    mut files: impl Iterator<Item = &'f str>,
    present: &BTreeSet<String>,
) -> &'f str {
    files.find(|file| present.contains(*file)).unwrap_or(usual)
}

/// Returns whether a client at the root of a project reads both files, and follows an import of the second in the first.
fn follows_import(id: &str, file: &str, imported: &str) -> bool {
    let Some(client) = BUILTIN.find_client(id) else { return false };
    let reads = |path: &str| {
        let mut places = client.reads.iter().filter(|read| *read.path == *path);
        places.any(|read| {
            read.seats.contains(Seat::Root)
                && !matches!(&read.unless, Unless::AtStartOrBeside(paths) if paths.contains_text(file))
        })
    };
    let name = file.rsplit('/').next().unwrap_or(file);
    client.loading.imports.contains_text(name) && reads(file) && reads(imported)
}

/// Adds lines to the block of a file, which all clients share.
pub(super) fn add_lines(entries: &mut Entries, path: &str, lines: &[String]) {
    let of_file = entries.entry(path.to_owned()).or_default();
    let known = of_file.iter_mut().find_map(|entry| match entry {
        SharedEntry::Block { text } => Some(text),
        _ => None,
    });
    let Some(text) = known else {
        of_file.push(SharedEntry::Block { text: lines.join("\n") });
        return;
    };
    for line in lines {
        if !text.lines().any(|own| own == line) {
            text.push_str(&format!("\n{line}"));
        }
    }
}

/// Adds an entry, unless another client needs the same one.
pub(super) fn add_entry(entries: &mut Entries, path: &str, entry: SharedEntry) {
    let of_file = entries.entry(path.to_owned()).or_default();
    if !of_file.iter().any(|own| own.name() == entry.name()) {
        of_file.push(entry);
    }
}
