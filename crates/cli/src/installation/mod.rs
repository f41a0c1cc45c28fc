//! The common parts of commands that install: the project, its `brief.toml`, and the report of a
//! run.

mod complete;
mod print;
mod refusal;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use brief_clients::compile::{Clients, ClientsInUse};
use brief_clients::profile::{ProfileScope, Section};
use brief_profiles::UnknownClient;
use brief_profiles::{FetchedClient, OwnClients, judge_fetched};
use brief_registry::install::{
    self, Finished, InstallError, InstallMode, InstallReport, InstallRequest, ProjectPaths,
};
use brief_registry::lock::Lock;
use brief_registry::manifest::{Manifest, ManifestEdit};
use brief_registry::{Event, Network};
use brief_safety::policy::Signer;
use brief_syntax::{Diagnostic, Source};
use brief_system::System;
use brief_system::paths::{cleaned, slashed};
use clap::Args;

use crate::error::{CommandError, ErrorKind, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

pub(crate) use complete::complete;
pub(crate) use print::{JsonSource, full_name, short, verb};
use print::{print_json, print_report};
pub(crate) use refusal::{refusal_of_typed, tell_unresolved};

/// The purpose of a command, which fails if it is not achieved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunPurpose {
    /// To write everything that is wanted.
    ToWrite,
    /// To remove something. Problems of other items are only reported.
    ToTakeAway,
}

/// The installation of a command.
#[derive(Debug, Args)]
pub(crate) struct InstallationArg {
    /// Use your user-level installation
    #[arg(long, short = 'g')]
    pub(crate) global: bool,
}

/// The common options of commands that write to an installation.
#[derive(Debug, Args)]
pub(crate) struct WritingArgs {
    /// Take over FILE (or a directory) and keep a backup
    #[arg(long, value_name = "FILE")]
    adopt: Vec<PathBuf>,

    /// Overwrite this edited output (or a directory) and keep a backup
    #[arg(long, value_name = "FILE")]
    force: Vec<PathBuf>,

    /// Accept hidden text or binary files in the item with this hash
    #[arg(long, value_name = "SHA256", value_parser = sha256)]
    accept: Vec<String>,

    /// Accept a new signer and record it in brief.lock
    #[arg(long, value_name = "SIGNER", value_parser = signer)]
    accept_signer: Vec<String>,

    #[command(flatten)]
    pub(crate) place: InstallationArg,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn sha256(text: &str) -> Result<String, String> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() == 64 && text.bytes().all(is_digit) {
        Ok(text.to_owned())
    } else {
        Err("a content has a SHA-256 of 64 digits; `brief sync` names it".to_owned())
    }
}

fn signer(text: &str) -> Result<String, String> {
    let problem =
        "a signer is `sha256:` and 64 digits, or an identity and its issuer; `brief sync` names it";
    Signer::parse(text).map(|signer| signer.to_string()).ok_or_else(|| problem.to_owned())
}

/// A project's installation, or the user's own.
pub(crate) struct Installation {
    pub(crate) project: ProjectPaths,
    pub(crate) clients: Clients,
    /// The manifest; `None` when there is no `brief.toml`.
    pub(crate) manifest: Option<Manifest>,
    /// True if it is not the current directory, and messages must name it.
    pub(crate) is_elsewhere: bool,
    /// The work of a killed run that was finished now.
    pub(crate) finished: Finished,
}

impl Installation {
    /// Finds the project and reads its `brief.toml`. Prints the problems.
    pub(crate) fn find(
        ui: &mut Ui,
        session: &Session,
        place: &InstallationArg,
    ) -> Result<Installation> {
        Installation::find_for(ui, session, place, InstallMode::Check)
    }

    /// Finds the project for a command that may write. The work of a killed run is finished first,
    /// because it could change everything that is read.
    pub(crate) fn find_for(
        ui: &mut Ui,
        session: &Session,
        place: &InstallationArg,
        mode: InstallMode,
    ) -> Result<Installation> {
        let scope = if place.global { ProfileScope::Home } else { ProfileScope::Project };
        let project = project(session, place)?;
        let finished = match mode {
            InstallMode::Write => install::finish(session.system(), &project),
            InstallMode::Check | InstallMode::Diff => Ok(Finished::default()),
        }?;
        let is_elsewhere = session.root()?.path() != project.outputs;
        let source = project.read_manifest(session.system())?;
        let own = OwnClients::below(session.system(), &project.outputs);
        let clients = Clients::read(source.as_ref(), &own, Section::Install, scope);
        let manifest = source.as_ref().map(Manifest::read).transpose();
        match (clients, manifest) {
            (Ok(clients), Ok(manifest)) => {
                let mut found = Installation { project, clients, manifest, is_elsewhere, finished };
                found.keep_layout(session.system());
                Ok(found)
            }
            (clients, manifest) => {
                let mut problems = clients.err().unwrap_or_default();
                problems.extend(manifest.err().unwrap_or_default());
                problems.sort_by_key(|found| found.span.start);
                problems.dedup();
                ui.print_diagnostics(&problems, &project.config)?;
                Err(CommandError::reported(ErrorKind::Usage))
            }
        }
    }

    /// Takes servers over that edits of the manifest declare.
    pub(crate) fn declare(&mut self, session: &Session, edits: &[ManifestEdit]) -> Result {
        if edits.is_empty() {
            return Ok(());
        }
        let path = self.project.manifest();
        let source = self.project.read_manifest(session.system())?;
        let text = source.as_ref().map_or("", |source| source.text());
        let edited = ManifestEdit::apply(text, edits)
            .map_err(|error| CommandError::refused(format!("`{}`: {error}", path.display())))?;
        let source = Arc::new(Source::new(path, edited));
        let own = OwnClients::below(session.system(), &self.project.outputs);
        let scope = self.clients.scope();
        // Both were read before, and only servers that were read are new.
        if let Ok(clients) = Clients::read(Some(&source), &own, Section::Install, scope) {
            self.clients = clients;
            self.keep_layout(session.system());
        }
        Ok(())
    }

    /// Keeps the layout of the files that are there.
    fn keep_layout(&mut self, system: &dyn System) {
        // The command that needs the lock reports an unreadable one.
        if let Ok(Some(lock)) = self.lock(system) {
            let items = lock.items.iter().map(|(id, item)| (id, &*item.clients, &item.files));
            let layout = self.clients.layout_of(items);
            self.clients = self.clients.clone().with_layout_of(layout);
        }
    }

    /// Takes over clients that the project does not know and a source describes, and returns their files. Only a
    /// project has clients of its own. Prints the problems of these files.
    pub(crate) fn take_clients(
        &mut self,
        ui: &mut Ui,
        session: &Session,
        described: &OwnClients,
        named: &[String],
    ) -> Result<Vec<Arc<Source>>> {
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
            ui.print_diagnostics(&unread, &self.project.outputs)?;
            let message =
                "the source describes a client in a file that cannot be read; nothing was changed";
            return Err(CommandError::refused(message));
        }
        let taken: Vec<Arc<Source>> = described.sources.iter().filter(is_new).cloned().collect();
        if taken.is_empty() || self.clients.scope() == ProfileScope::Home {
            return Ok(Vec::new());
        }
        for source in &taken {
            let FetchedClient { problems, lines } = judge_fetched(source);
            if !problems.is_empty() {
                ui.print_diagnostics(&problems, &self.project.outputs)?;
                let message = "the source describes a client that writes files of others";
                return Err(CommandError::refused(message));
            }
            let name = source.path().file_stem().unwrap_or_default().to_string_lossy();
            for line in lines {
                ui.warning(&format!("the client `{name}` adds to `AGENTS.md`: `{line}`"))?;
            }
        }
        let own = OwnClients::below(session.system(), &self.project.outputs);
        // `lint` reports the problems of the project's other clients.
        let mut own = OwnClients { diagnostics: Vec::new(), ..own };
        for source in &taken {
            own.add(Arc::clone(source));
        }
        let scope = self.clients.scope();
        let manifest = self.project.read_manifest(session.system())?;
        let problems = match Clients::read(manifest.as_ref(), &own, Section::Install, scope) {
            Ok(clients) if own.diagnostics.is_empty() => {
                self.clients = clients;
                self.keep_layout(session.system());
                return Ok(taken);
            }
            Ok(_) => own.diagnostics,
            Err(problems) => problems,
        };
        ui.print_diagnostics(&problems, &self.project.outputs)?;
        Err(CommandError::refused("the source describes a client that cannot be used"))
    }

    /// Returns the clients of the items.
    pub(crate) fn wanted(&self, named: &[String]) -> Result<Vec<String>> {
        Ok(self.clients.wanted(named)?)
    }

    /// Reads the lock; `None` when there is none.
    pub(crate) fn lock(&self, system: &dyn System) -> Result<Option<Lock>> {
        Ok(self.project.read_lock(system)?)
    }

    /// Returns files by their paths in the project.
    pub(crate) fn chosen(&self, session: &Session, paths: &[PathBuf]) -> BTreeSet<String> {
        let top = cleaned(&self.project.outputs);
        let named = paths.iter().map(|path| cleaned(&session.directory().join(path)));
        named.map(|path| slashed(path.strip_prefix(&top).unwrap_or(&path))).collect()
    }

    /// Starts a request with the user's options.
    pub(crate) fn request<'r>(
        &self,
        session: &Session,
        writing: &WritingArgs,
        clients: &'r [String],
    ) -> InstallRequest<'r> {
        InstallRequest {
            adopt: self.chosen(session, &writing.adopt),
            force: self.chosen(session, &writing.force),
            accept: writing.accept.iter().cloned().collect(),
            accept_signers: writing.accept_signer.iter().cloned().collect(),
            ..InstallRequest::new(clients)
        }
    }

    /// Runs the request of the command `kind` and prints the report; a failure is exit code 1.
    pub(crate) fn carry_out(
        &self,
        ui: &mut Ui,
        kind: &'static str,
        session: &Session,
        request: &InstallRequest<'_>,
        writing: &WritingArgs,
        asked: RunPurpose,
    ) -> Result<InstallReport> {
        let mut report = self.sync(ui, session, request)?;
        report.notes.splice(0..0, self.finished.notes.iter().cloned());
        let clients: Vec<&str> = request.clients.iter().map(String::as_str).collect();
        report.notes.extend(self.clients.unsaid_by_client(&clients));
        if asked == RunPurpose::ToTakeAway {
            report.excuse();
        }
        if writing.json {
            print_json(ui, kind, &self.project.outputs, &report)?;
        } else {
            print_report(ui, self, &report, request.mode)?;
        }
        refuse_if(report.has_errors())?;
        Ok(report)
    }

    /// Makes the project match its manifest.
    pub(crate) fn sync(
        &self,
        ui: &mut Ui,
        session: &Session,
        request: &InstallRequest<'_>,
    ) -> Result<InstallReport> {
        let outcome = watched(ui, |observer| {
            install::sync(session.system(), &self.clients, &self.project, request, observer)
        })?;
        match outcome {
            Ok(report) => Ok(report),
            Err(InstallError::Manifest(diagnostics)) => {
                ui.print_diagnostics(&diagnostics, &self.project.config)?;
                Err(CommandError::reported(ErrorKind::Usage))
            }
            Err(InstallError::Unresolved(problems)) => {
                tell_unresolved(ui, &problems)?;
                Err(CommandError::reported(ErrorKind::Refused))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Runs a task that may take long, and shows its progress.
pub(crate) fn watched<T>(ui: &mut Ui, work: impl FnOnce(&dyn Fn(Event<'_>)) -> T) -> Result<T> {
    let shared = RefCell::new(&mut *ui);
    let outcome = work(&|event| show_progress(&mut shared.borrow_mut(), event));
    ui.end_progress()?;
    Ok(outcome)
}

/// Names the clients that files of the project or of the user show to be in use.
pub(crate) fn mention_clients(ui: &mut Ui, found: &ClientsInUse) -> Result {
    let (used, signs) = (found.clients.join(", "), found.signs.join(", "));
    ui.status(&format!(
        "clients: {used} (found {signs}); `install.clients` in brief.toml lists them"
    ))
}

/// Shows a step that may take long. A closed output must not stop the work.
pub(crate) fn show_progress(ui: &mut Ui, event: Event<'_>) {
    let _ = match event {
        Event::Asking { repository } => ui.progress(&format!("Asking {repository}")),
        Event::Fetching { repository, commit } => {
            ui.progress(&format!("Fetching {repository} at {}", short(commit)))
        }
        Event::Item { number, of } if number % 50 == 0 => {
            ui.detail(&format!("Compiling {number} of {of} items"))
        }
        _ => Ok(()),
    };
}

/// Returns the mode for the options of a command.
pub(crate) fn mode(is_dry: bool, is_diff: bool) -> InstallMode {
    match (is_dry, is_diff) {
        (_, true) => InstallMode::Diff,
        (true, false) => InstallMode::Check,
        (false, false) => InstallMode::Write,
    }
}

pub(crate) fn network(is_offline: bool) -> Network {
    if is_offline { Network::Offline } else { Network::Online }
}

impl From<UnknownClient> for CommandError {
    fn from(error: UnknownClient) -> Self {
        CommandError::usage(error.to_string()).with_hint(error.hint())
    }
}

/// Returns the project of a command, or the user's own installation.
pub(crate) fn project(session: &Session, place: &InstallationArg) -> Result<ProjectPaths> {
    if place.global { user_project(session) } else { session.installed_project() }
}

fn user_project(session: &Session) -> Result<ProjectPaths> {
    ProjectPaths::of_user(session.system()).ok_or_else(|| {
        CommandError::refused("there is no home directory")
            .with_hint("set `HOME` to an absolute path")
    })
}
