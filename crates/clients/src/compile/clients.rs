//! The clients of a project: profiles, settings and servers of its `brief.toml`.
//!
//! The code that writes files uses them through [`Compiler`] and knows no client.

use std::fmt::Write as _;
use std::sync::Arc;

use brief_dialects::portable::PortableItem;
use brief_dialects::portable::output::{
    AddedLine, Compiled, Compiler, Merge, MergedOutput, Outputs, SharedFile,
};
use brief_profiles::{OwnClients, UnknownClient};
use brief_syntax::{Diagnostic, Source};
use brief_system::hash::sha256;

use crate::mcp::{self, DeclaredServer};
use crate::permissions::{self, PermissionRule, ProjectPermissions};
use crate::profile::{Profile, ProfileScope, ProfileSettings, Profiles, Section, Sharing};
use crate::shared;

use super::compile_for;

/// The clients of a project, with its options for compiling.
#[derive(Debug, Clone)]
pub struct Clients {
    pub(super) profiles: Profiles,
    pub(super) settings: ProfileSettings,
    pub(super) servers: Vec<DeclaredServer>,
    pub(super) permissions: ProjectPermissions,
    fingerprint: String,
}

impl Clients {
    /// Parses a `brief.toml`, for the clients that are built in and the project's own. Without one, all
    /// settings have their defaults.
    pub fn from_configuration(
        configuration: Option<&Arc<Source>>,
        own: &OwnClients,
        section: Section,
        scope: ProfileScope,
    ) -> Result<Clients, Vec<Diagnostic>> {
        let none = Arc::new(Source::new("brief.toml", ""));
        let source = configuration.unwrap_or(&none);
        let profiles = Profiles::with_overrides(source, own, section)?;
        let settings = ProfileSettings::parse_section(section, source, &profiles);
        let servers = mcp::parse_declared_servers(source, &profiles.ids());
        let permissions = permissions::parse_permissions(source);
        let (mut settings, servers, permissions) = match (settings, servers, permissions) {
            (Ok(settings), Ok(servers), Ok(permissions)) => (settings, servers, permissions),
            (settings, servers, permissions) => {
                let problems = settings.err().into_iter().chain(servers.err());
                return Err(problems.chain(permissions.err()).flatten().collect());
            }
        };
        settings.options.scope = scope;
        let fingerprint = hash_shared_inputs(&profiles, &settings);
        Ok(Clients { profiles, settings, servers, permissions, fingerprint })
    }

    /// Returns whether the project wants the checks of its rules in its clients' own policies.
    pub fn wants_checks(&self) -> bool {
        self.permissions.from_checks
    }

    /// Adds rules to those of the project. One that it has already stays as it is.
    pub fn add_permissions_of_checks(&mut self, rules: Vec<PermissionRule>) {
        let known = &mut self.permissions.rules;
        for rule in rules {
            if !known.contains(&rule) {
                known.push(rule);
            }
        }
        known.sort_by_key(|rule| rule.decision);
    }

    /// Keeps the layout of the files that were written before, unless the project chooses one.
    #[must_use]
    pub fn with_layout_of(mut self, written: Sharing) -> Clients {
        if self.settings.layout.is_none() {
            self.settings.options.sharing = written;
            self.fingerprint = hash_shared_inputs(&self.profiles, &self.settings);
        }
        self
    }

    /// Returns the profiles of all known clients.
    pub fn profiles(&self) -> &Profiles {
        &self.profiles
    }

    /// Returns the settings of the section `[clients]`.
    pub fn settings(&self) -> &ProfileSettings {
        &self.settings
    }

    /// Returns the servers that the project declares.
    pub fn servers(&self) -> &[DeclaredServer] {
        &self.servers
    }

    /// Returns the scope of outputs: the project or the user.
    pub fn scope(&self) -> ProfileScope {
        self.settings.options.scope
    }

    /// Returns the clients to compile for: the named ones, else those of the section, else those of the
    /// document and of the project. They come in the order of the profiles.
    pub fn resolve_clients(&self, named: &[String]) -> Result<Vec<String>, UnknownClient> {
        if let Some(name) = named.iter().find(|name| self.profiles.get(name).is_none()) {
            return Err(UnknownClient::new(name, &self.profiles.ids()));
        }
        let listed = if named.is_empty() { self.settings.clients.as_deref() } else { Some(named) };
        let is_wanted = |profile: &&Profile| match listed {
            Some(listed) => listed.iter().any(|own| own == profile.id()),
            None => profile.is_usual(),
        };
        let wanted = self.profiles.iter().filter(is_wanted);
        Ok(wanted.map(|profile| profile.id().to_owned()).collect())
    }

    /// Returns the profiles of some clients, in order.
    pub(super) fn select_profiles<'c>(
        &'c self,
        clients: &'c [&str],
    ) -> impl Iterator<Item = &'c Profile> + 'c {
        self.profiles.iter().filter(|profile| clients.contains(&profile.id()))
    }
}

/// Returns the hash of the inputs that all items share.
fn hash_shared_inputs(profiles: &Profiles, settings: &ProfileSettings) -> String {
    let mut text = format!("brief {}\n", env!("CARGO_PKG_VERSION"));
    let _ = write!(text, "{profiles:?}\n{:?}", settings.options);
    sha256(text.as_bytes())
}

impl Compiler for Clients {
    fn clients(&self) -> Vec<&str> {
        self.profiles.ids()
    }

    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn compile(&self, item: &PortableItem, clients: &[&str]) -> Compiled {
        let profiles: Vec<&Profile> = self.select_profiles(clients).collect();
        compile_for(item, &profiles, &self.settings.options, &self.profiles.ids())
    }

    fn could_write(&self, path: &str) -> bool {
        self.matches_any_layout(path)
    }

    fn could_share(&self, path: &str) -> bool {
        self.may_share(path)
    }

    fn watched_paths(&self) -> Vec<String> {
        self.watched_files()
    }

    fn list_shared_files(&self, project: &Outputs<'_>) -> Vec<SharedFile> {
        self.shared_files(project)
    }

    fn added_lines(&self, item: &PortableItem, clients: &[&str]) -> Vec<AddedLine> {
        self.lines_of(item.kind(), clients)
    }

    fn merge_entries(&self, request: &Merge<'_>) -> Result<MergedOutput, String> {
        shared::merge_entries(request, self.schema_of(request.path))
    }
}
