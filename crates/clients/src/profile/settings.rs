//! The settings for compiling in a project's `brief.toml`: `[build]` and `[install]`.

use std::collections::BTreeSet;
use std::sync::Arc;

use brief_profiles::UnknownClient;
use brief_syntax::toml::{Table, TableReader, TomlEntry, TomlProblem};
use brief_syntax::{Diagnostic, Source, toml};

use super::Profiles;

/// The options of compiling for every client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProfileOptions {
    /// The heading that a body begins with.
    pub first_heading: FirstHeading,
    /// The treatment of the license.
    pub license: License,
    /// The treatment of fields that the open standard for skills does not have.
    pub agent_skills: AgentSkills,
    /// The files of a client that reads another one's places.
    pub sharing: Sharing,
    /// The scope of the places that files go to.
    pub scope: ProfileScope,
}

/// The scope of the places that files go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProfileScope {
    #[default]
    Project,
    /// Those of a user, below the home directory.
    Home,
}

/// The table of a `brief.toml` that options come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// `[build]`: a registry is compiled into a directory.
    Build,
    /// `[install]`: items of registries are put into a project.
    Install,
}

impl Section {
    /// Returns the name of the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Section::Build => "build",
            Section::Install => "install",
        }
    }

    /// Returns the layout where the project names none. Each client's part of a build is read alone, so
    /// that it has to be whole; what is installed lies in one project, where clients find it together.
    fn default_sharing(self) -> Sharing {
        match self {
            Section::Build => Sharing::Separate,
            Section::Install => Sharing::Shared,
        }
    }
}

/// The heading that a body begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FirstHeading {
    /// The item's name, as it is.
    #[default]
    Name,
    Never,
}

/// The treatment of the license.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum License {
    /// It stays in the source.
    #[default]
    Strip,
    /// Skills keep it; for the other kinds no client has such a field.
    Keep,
}

/// The treatment of a skill's fields that the open standard does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgentSkills {
    #[default]
    Extended,
    Strict,
}

/// The files of a client that reads another one's places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// It does, and may read the same thing twice.
    #[default]
    Separate,
    /// It does not, where what it would get is there already, word for word.
    Shared,
}

/// The clients that a project builds for, and the options.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProfileSettings {
    /// The output directory, below the registry.
    pub out: Option<String>,
    /// The clients to build for; `None` for all.
    pub clients: Option<Vec<String>>,
    /// The layout that the project chooses; `None` for the section's own.
    pub layout: Option<Sharing>,
    pub options: ProfileOptions,
    /// The settings of files of the user that say `leave`.
    pub left: BTreeSet<String>,
}

/// The keys of all sections; `out` is for `[build]` alone, `accept` for `[install]`.
pub(super) const KEYS: [&str; 8] =
    ["out", "accept", "clients", "h1", "license", "agent-skills", "layout", "profile"];

impl ProfileSettings {
    /// Reads a section of a project's `brief.toml`. A project that installs for some clients is built for them,
    /// unless `[build]` names others.
    pub fn parse_section(
        section: Section,
        configuration: &Arc<Source>,
        profiles: &Profiles,
    ) -> Result<ProfileSettings, Vec<Diagnostic>> {
        let mut diagnostics = Vec::new();
        let mut settings = ProfileSettings::default();
        let Some(document) = toml::parse_toml(configuration, &mut diagnostics) else {
            return Err(diagnostics);
        };
        let top = Table { source: configuration, content: document.as_table(), prefix: "" };
        let table_of = |section: Section| top.entries().find(|own| own.key == section.as_str());
        if let Some(entry) = table_of(section) {
            match entry.table() {
                Ok(table) => {
                    let mut keys = TableReader::new(table.entries());
                    settings.read_keys(section, &mut keys, profiles);
                    diagnostics.extend(keys.problems().map(|problem| *problem));
                }
                Err(problem) => diagnostics.push(*problem),
            }
        }
        if let (None, Some(install)) = (&settings.clients, table_of(Section::Install))
            && let Ok(table) = install.table()
        {
            // A mistake in it is for the commands that install.
            let named = table.entries().find(|entry| entry.key == "clients");
            settings.clients = named.and_then(|entry| parse_clients(&entry, profiles).ok());
        }
        settings.options.sharing = settings.layout.unwrap_or(section.default_sharing());
        if diagnostics.is_empty() { Ok(settings) } else { Err(diagnostics) }
    }

    fn read_keys<'t>(
        &mut self,
        section: Section,
        keys: &mut TableReader<'t>,
        profiles: &'t Profiles,
    ) {
        match section {
            Section::Build => self.out = keys.get("out", parse_output_directory),
            // What is accepted is for those who install.
            Section::Install => drop(keys.get("accept", TomlEntry::text_list)),
        }
        self.clients = keys.get("clients", |entry| parse_clients(entry, profiles));
        let options = &mut self.options;
        let headings = [("name", FirstHeading::Name), ("never", FirstHeading::Never)];
        keys.set_if_present("h1", &mut options.first_heading, |entry| entry.match_word(&headings));
        let licenses = [("strip", License::Strip), ("keep", License::Keep)];
        keys.set_if_present("license", &mut options.license, |entry| entry.match_word(&licenses));
        let skills = [("extended", AgentSkills::Extended), ("strict", AgentSkills::Strict)];
        keys.set_if_present("agent-skills", &mut options.agent_skills, |entry| {
            entry.match_word(&skills)
        });
        let layouts = [("separate", Sharing::Separate), ("shared", Sharing::Shared)];
        self.layout = keys.get("layout", |entry| entry.match_word(&layouts));
        // It is in the profiles already.
        keys.get("profile", super::read::parse_variant);
        if section == Section::Install {
            for (key, word) in shared_settings(profiles) {
                let words = [(word, false), ("leave", true)];
                if keys.get(key, |entry| entry.match_word(&words)) == Some(true) {
                    self.left.insert(key.to_owned());
                }
            }
        }
    }
}

/// Returns the keys for files of the user, with the word for what is done to them.
fn shared_settings<'p>(profiles: &'p Profiles) -> Vec<(&'p str, &'static str)> {
    let mut settings: Vec<(&'p str, &'static str)> = Vec::new();
    let mut add = |setting: Option<&'p Option<String>>, word| {
        if let Some(Some(key)) = setting
            && !settings.iter().any(|(own, _)| own == key)
        {
            settings.push((key, word));
        }
    };
    for profile in profiles.iter() {
        add(profile.bridge().map(|bridge| &bridge.setting), "bridge");
        for (_, layout) in profile.layouts() {
            add(layout.listing.as_ref().map(|listing| &listing.setting), "merge");
            add(layout.mention.as_ref().map(|mention| &mention.setting), "mention");
        }
    }
    settings
}

/// A file of the project does not say where else to write: only the command line does.
fn parse_output_directory(entry: &TomlEntry<'_>) -> Result<String, TomlProblem> {
    let text = entry.text()?;
    let is_plain = |name: &str| !matches!(name, "" | "..") && !name.contains(['\\', ':']);
    if text.split('/').all(is_plain) {
        return Ok(text.to_owned());
    }
    let help = "write a path below this file, or use `--out` for any other directory";
    Err(entry.value_problem("is outside the registry", help))
}

fn parse_clients(entry: &TomlEntry<'_>, profiles: &Profiles) -> Result<Vec<String>, TomlProblem> {
    let clients = entry.text_list()?;
    if clients.is_empty() {
        return Err(entry
            .invalid_value("the list is empty", "name a client, or remove the key to mean all"));
    }
    known_clients(entry, clients, &profiles.ids())
}

/// Refuses a list with an unknown client.
pub(crate) fn known_clients(
    entry: &TomlEntry<'_>,
    clients: Vec<String>,
    known: &[&str],
) -> Result<Vec<String>, TomlProblem> {
    match clients.iter().find(|client| !known.contains(&client.as_str())) {
        Some(client) => {
            let unknown = UnknownClient::new(client, known);
            Err(entry.invalid_value(&unknown.to_string(), &unknown.hint()))
        }
        None => Ok(clients),
    }
}
