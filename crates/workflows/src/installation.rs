//! A project's installation, or the user's own: its `brief.toml`, its clients, its lock.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use brief_clients::compile::{Clients, ClientsInUse};
use brief_clients::permissions::permissions_from_checks;
use brief_clients::profile::{ProfileScope, Section};
use brief_dialects::Dialects;
use brief_engine::Project;
use brief_profiles::{FetchedClient, OwnClients, UnknownClient, judge_fetched};
use brief_registry::install::{self, Finished, InstallError, InstallMode, ProjectPaths};
use brief_registry::lock::Lock;
use brief_registry::manifest::{Manifest, ManifestEdit, find_newer_requirement};
use brief_syntax::{Diagnostic, Source};
use brief_system::System;

use crate::refusal::RequestRefusal;

/// Something that a workflow tells its user on the way, in order.
#[derive(Debug, Clone)]
pub enum Remark {
    Warning(String),
    /// Advice about the remark before it.
    Hint(String),
    Status(String),
    Problems {
        found: Vec<Diagnostic>,
        /// The directory that paths are shown relative to.
        base: PathBuf,
    },
}

/// An installation that cannot be opened.
#[derive(Debug)]
pub enum UnopenedInstallation {
    /// The work of a killed run cannot be finished, or a file cannot be read.
    Failed(InstallError),
    Invalid {
        problems: Vec<Diagnostic>,
        base: PathBuf,
    },
}

impl From<InstallError> for UnopenedInstallation {
    fn from(error: InstallError) -> Self {
        UnopenedInstallation::Failed(error)
    }
}

/// A project's installation, or the user's own.
pub struct Installation {
    pub project: ProjectPaths,
    pub clients: Clients,
    /// The manifest; `None` when there is no `brief.toml`.
    pub manifest: Option<Manifest>,
    /// The work of a killed run that was finished now.
    pub finished: Finished,
}

impl Installation {
    /// Reads the `brief.toml` of a project. Before a run that writes, the work of a killed one is finished, because it
    /// could change everything that is read.
    pub fn open(
        system: &dyn System,
        project: ProjectPaths,
        scope: ProfileScope,
        mode: InstallMode,
    ) -> Result<Installation, UnopenedInstallation> {
        let finished = match mode {
            InstallMode::Write => install::finish_killed_run(system, &project),
            InstallMode::Check | InstallMode::Diff => Ok(Finished::default()),
        }?;
        let source = project.read_manifest(system)?;
        if let Some(problem) = source.as_ref().and_then(find_newer_requirement) {
            let problems = vec![problem];
            return Err(UnopenedInstallation::Invalid { problems, base: project.config });
        }
        let own = OwnClients::read_project(system, &project.outputs);
        let clients = read_clients(system, &project, source.as_ref(), &own, scope);
        let manifest = source.as_ref().map(Manifest::parse).transpose();
        match (clients, manifest) {
            (Ok(clients), Ok(manifest)) => {
                let mut found = Installation { project, clients, manifest, finished };
                found.keep_layout(system);
                Ok(found)
            }
            (clients, manifest) => {
                let mut problems = clients.err().unwrap_or_default();
                problems.extend(manifest.err().unwrap_or_default());
                problems.sort_by_key(|found| found.span.start);
                problems.dedup();
                Err(UnopenedInstallation::Invalid { problems, base: project.config })
            }
        }
    }

    /// Takes servers over that edits of the manifest declare.
    pub fn declare_servers(
        &mut self,
        system: &dyn System,
        edits: &[ManifestEdit],
    ) -> Result<(), RequestRefusal> {
        if edits.is_empty() {
            return Ok(());
        }
        let path = self.project.manifest_path();
        let source = self.project.read_manifest(system)?;
        let text = source.as_ref().map_or("", |source| source.text());
        let edited = ManifestEdit::apply_edits(text, edits).map_err(|error| {
            RequestRefusal::refuse_request(format!("`{}`: {error}", path.display()))
        })?;
        let source = Arc::new(Source::new(path, edited));
        let own = OwnClients::read_project(system, &self.project.outputs);
        let scope = self.clients.scope();
        // Both were read before, and only servers that were read are new.
        if let Ok(clients) = read_clients(system, &self.project, Some(&source), &own, scope) {
            self.clients = clients;
            self.keep_layout(system);
        }
        Ok(())
    }

    /// Keeps the layout of the files that are there.
    fn keep_layout(&mut self, system: &dyn System) {
        // The command that needs the lock reports an unreadable one.
        if let Ok(Some(lock)) = self.read_lock(system) {
            let items = lock.items.iter().map(|(id, item)| (id, &*item.clients, &item.files));
            let layout = self.clients.layout_of(items);
            self.clients = self.clients.clone().with_layout_of(layout);
        }
    }

    /// Takes over clients that the project does not know and a source describes, and returns their files. Only a
    /// project has clients of its own. The remarks get the problems of these files.
    pub fn take_clients(
        &mut self,
        system: &dyn System,
        described: &OwnClients,
        named: &[String],
        remarks: &mut Vec<Remark>,
    ) -> Result<Vec<Arc<Source>>, RequestRefusal> {
        let base = self.project.outputs.clone();
        let show = |found: Vec<Diagnostic>, remarks: &mut Vec<Remark>| {
            remarks.push(Remark::Problems { found, base: base.clone() });
        };
        let is_new = |source: &&Arc<Source>| {
            let stem = source.path().file_stem().and_then(OsStr::to_str);
            stem.is_some_and(|stem| {
                named.iter().any(|name| name == stem) && self.clients.profiles().get(stem).is_none()
            })
        };
        let is_unread = |found: &&Diagnostic| {
            is_new(&&found.source)
                && described.sources.iter().all(|read| read.path() != found.path())
        };
        let unread: Vec<Diagnostic> =
            described.diagnostics.iter().filter(is_unread).cloned().collect();
        if !unread.is_empty() {
            show(unread, remarks);
            let message = "cannot read a client definition of the source; nothing was changed";
            return Err(RequestRefusal::refuse_request(message));
        }
        let taken: Vec<Arc<Source>> = described.sources.iter().filter(is_new).cloned().collect();
        if taken.is_empty() || self.clients.scope() == ProfileScope::Home {
            return Ok(Vec::new());
        }
        for source in &taken {
            let FetchedClient { problems, lines } = judge_fetched(source);
            if !problems.is_empty() {
                show(problems, remarks);
                let message = "a client definition of the source writes files of other clients";
                return Err(RequestRefusal::refuse_request(message));
            }
            let name = source.path().file_stem().unwrap_or_default().to_string_lossy();
            for line in lines {
                let message = format!("the client `{name}` adds to `AGENTS.md`: `{line}`");
                remarks.push(Remark::Warning(message));
            }
        }
        let own = OwnClients::read_project(system, &self.project.outputs);
        // `lint` reports the problems of the project's other clients.
        let mut own = OwnClients { diagnostics: Vec::new(), ..own };
        for source in &taken {
            own.add_source(Arc::clone(source));
        }
        let scope = self.clients.scope();
        let manifest = self.project.read_manifest(system)?;
        let problems = match read_clients(system, &self.project, manifest.as_ref(), &own, scope) {
            Ok(clients) if own.diagnostics.is_empty() => {
                self.clients = clients;
                self.keep_layout(system);
                return Ok(taken);
            }
            Ok(_) => own.diagnostics,
            Err(problems) => problems,
        };
        show(problems, remarks);
        Err(RequestRefusal::refuse_request("cannot use a client definition of the source"))
    }

    /// Returns the clients of the items.
    pub fn wanted_clients(&self, named: &[String]) -> Result<Vec<String>, UnknownClient> {
        self.clients.resolve_clients(named)
    }

    /// Reads the lock; `None` when there is none.
    pub fn read_lock(&self, system: &dyn System) -> Result<Option<Lock>, InstallError> {
        self.project.read_lock(system)
    }
}

/// Reads the clients of a project, with the policies that the checks of its rules ask for, if it wants them.
fn read_clients(
    system: &dyn System,
    project: &ProjectPaths,
    configuration: Option<&Arc<Source>>,
    own: &OwnClients,
    scope: ProfileScope,
) -> Result<Clients, Vec<Diagnostic>> {
    let mut clients = Clients::from_configuration(configuration, own, Section::Install, scope)?;
    if clients.wants_checks()
        && scope == ProfileScope::Project
        && let Ok(project) = Project::open_directory(system, &project.outputs)
    {
        let checks = project.read_project(Dialects::All).rule_checks();
        let rules = permissions_from_checks(project.root().path(), &checks);
        clients.add_permissions_of_checks(rules);
    }
    Ok(clients)
}

/// Names the clients that files of the project or of the user show to be in use.
pub fn describe_clients(found: &ClientsInUse) -> String {
    let (used, signs) = (found.clients.join(", "), found.signs.join(", "));
    format!("clients: {used} (found {signs}); `install.clients` in brief.toml lists them")
}
