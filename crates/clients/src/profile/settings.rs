//! The settings for compiling in a project's `brief.toml`: `[build]` and `[install]`.

use std::collections::BTreeSet;
use std::sync::Arc;

use brief_syntax::near_miss::nearest;
use brief_syntax::{Diagnostic, Source};

use super::Profiles;
use brief_dialects::portable::toml::{self, Table, TomlEntry, TomlProblem};

/// The options of compiling for every client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProfileOptions {
    /// The heading that a body begins with.
    pub first_heading: FirstHeading,
    /// The treatment of the licence.
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
    /// Those of a project.
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
    fn layout(self) -> Sharing {
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
    /// None.
    Never,
}

/// The treatment of the licence.
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
    /// They are handed on.
    #[default]
    Extended,
    /// They are left out.
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
    /// The options of compiling.
    pub options: ProfileOptions,
    /// The settings of files of the user that say `leave`.
    pub left: BTreeSet<String>,
}

/// The keys of all sections; `out` is for `[build]` alone, `accept` for `[install]`.
pub(super) const KEYS: [&str; 8] =
    ["out", "accept", "clients", "h1", "license", "agent-skills", "layout", "profile"];

impl ProfileSettings {
    /// Reads `[build]` of a project's `brief.toml`.
    pub fn read(
        configuration: &Arc<Source>,
        profiles: &Profiles,
    ) -> Result<ProfileSettings, Vec<Diagnostic>> {
        ProfileSettings::read_section(Section::Build, configuration, profiles)
    }

    /// Reads a section of a project's `brief.toml`. A project that installs for some clients is built for them,
    /// unless `[build]` names others.
    pub fn read_section(
        section: Section,
        configuration: &Arc<Source>,
        profiles: &Profiles,
    ) -> Result<ProfileSettings, Vec<Diagnostic>> {
        let mut diagnostics = Vec::new();
        let mut settings = ProfileSettings::default();
        let Some(document) = toml::parse(configuration, &mut diagnostics) else {
            return Err(diagnostics);
        };
        let top = Table { source: configuration, content: document.as_table(), prefix: "" };
        let mut installed = None;
        for entry in top.entries() {
            let is_own = entry.key == section.as_str();
            if !is_own && entry.key != Section::Install.as_str() {
                continue;
            }
            match entry.table() {
                Ok(table) => {
                    for entry in table.entries() {
                        if is_own {
                            let outcome = settings.set(section, &entry, profiles);
                            diagnostics.extend(outcome.err().map(|problem| *problem));
                        } else if entry.key == "clients" {
                            // A mistake in it is for the commands that install.
                            installed = clients(&entry, profiles).ok();
                        }
                    }
                }
                Err(problem) if is_own => diagnostics.push(*problem),
                Err(_) => {}
            }
        }
        settings.clients = settings.clients.or(installed);
        settings.options.sharing = settings.layout.unwrap_or(section.layout());
        if diagnostics.is_empty() { Ok(settings) } else { Err(diagnostics) }
    }

    fn set(
        &mut self,
        section: Section,
        entry: &TomlEntry<'_>,
        profiles: &Profiles,
    ) -> Result<(), TomlProblem> {
        match entry.key {
            "out" if section == Section::Build => self.out = Some(out(entry)?),
            "clients" => self.clients = Some(clients(entry, profiles)?),
            // What is accepted is for those who install.
            "accept" if section == Section::Install => drop(entry.texts()?),
            // It is in the profiles already.
            "profile" => drop(super::read::variant(entry)?),
            "h1" => {
                let words = [("name", FirstHeading::Name), ("never", FirstHeading::Never)];
                self.options.first_heading = entry.word(&words)?;
            }
            "license" => {
                let words = [("strip", License::Strip), ("keep", License::Keep)];
                self.options.license = entry.word(&words)?;
            }
            "agent-skills" => {
                let words = [("extended", AgentSkills::Extended), ("strict", AgentSkills::Strict)];
                self.options.agent_skills = entry.word(&words)?;
            }
            "layout" => {
                let words = [("separate", Sharing::Separate), ("shared", Sharing::Shared)];
                self.layout = Some(entry.word(&words)?);
            }
            _ => return self.set_shared(section, entry, profiles),
        }
        Ok(())
    }

    /// Reads what becomes of a file of the user; which settings there are is for the profiles to say.
    fn set_shared(
        &mut self,
        section: Section,
        entry: &TomlEntry<'_>,
        profiles: &Profiles,
    ) -> Result<(), TomlProblem> {
        let settings = if section == Section::Install { shared_settings(profiles) } else { vec![] };
        let Some((_, word)) = settings.iter().find(|(key, _)| *key == entry.key) else {
            let is_here = |key: &&str| match *key {
                "out" => section == Section::Build,
                "accept" => section == Section::Install,
                _ => true,
            };
            let own = settings.iter().map(|(key, _)| *key);
            let known: Vec<&str> = KEYS.into_iter().filter(is_here).chain(own).collect();
            return Err(entry.unknown(&known));
        };
        if entry.word(&[(word, false), ("leave", true)])? {
            self.left.insert(entry.key.to_owned());
        }
        Ok(())
    }
}

/// The keys for files of the user, with the word for what is done to them.
fn shared_settings(profiles: &Profiles) -> Vec<(&str, &'static str)> {
    let mut settings = Vec::new();
    for profile in profiles.iter() {
        let bridge = profile.bridge().and_then(|bridge| bridge.setting.as_deref());
        settings.extend(bridge.map(|key| (key, "bridge")));
        for (_, layout) in profile.layouts() {
            let listing = layout.listing.as_ref().and_then(|listing| listing.setting.as_deref());
            settings.extend(listing.map(|key| (key, "merge")));
            let mention = layout.mention.as_ref().and_then(|mention| mention.setting.as_deref());
            settings.extend(mention.map(|key| (key, "mention")));
        }
    }
    settings
}

/// A file of the project does not say where else to write: only the command line does.
fn out(entry: &TomlEntry<'_>) -> Result<String, TomlProblem> {
    let text = entry.text()?;
    let is_plain = |name: &str| !matches!(name, "" | "..") && !name.contains(['\\', ':']);
    if text.split('/').all(is_plain) {
        return Ok(text.to_owned());
    }
    let help = "write a path below this file; `--out` may name any directory";
    Err(entry.wrong("it does not lie in the registry", help))
}

fn clients(entry: &TomlEntry<'_>, profiles: &Profiles) -> Result<Vec<String>, TomlProblem> {
    let clients = entry.texts()?;
    let known = profiles.ids();
    if clients.is_empty() {
        return Err(
            entry.wrong("the list is empty", "name a client, or remove the key to mean all")
        );
    }
    if let Some(client) = clients.iter().find(|client| profiles.get(client).is_none()) {
        let help = match nearest(client, &known) {
            Some(near) => format!("did you mean `{near}`? known clients: {}", known.join(", ")),
            None => format!("known clients: {}", known.join(", ")),
        };
        return Err(entry.wrong(&format!("unknown client `{client}`"), &help));
    }
    Ok(clients)
}
