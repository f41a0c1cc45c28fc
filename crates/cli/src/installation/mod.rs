//! The common parts of commands that install: the project, its `brief.toml`, and the report of a
//! run.

mod complete;
mod print;
mod refusal;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

use brief_clients::compile::ClientsInUse;
use brief_clients::profile::ProfileScope;
use brief_registry::install::{
    self, InstallError, InstallMode, InstallReport, InstallRequest, ProjectPaths,
};
use brief_registry::{Event, Network};
use brief_safety::policy::Signer;
use brief_system::paths::{clean_path, to_slashed};
use brief_workflows::installation::{self, Remark, UnopenedInstallation, describe_clients};
use clap::Args;

use crate::error::{CommandError, ErrorKind, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

pub(crate) use complete::complete_installed_name;
pub(crate) use print::{JsonSource, change_verb, full_name, render_file_counts, short_commit};
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
    /// Work on the items of your user account instead of the project
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
    #[arg(long, value_name = "SHA256", value_parser = parse_sha256)]
    accept: Vec<String>,

    /// Accept a new signer and record it in brief.lock
    #[arg(long, value_name = "SIGNER", value_parser = parse_signer)]
    accept_signer: Vec<String>,

    #[command(flatten)]
    pub(crate) place: InstallationArg,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_sha256(text: &str) -> Result<String, String> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() == 64 && text.bytes().all(is_digit) {
        Ok(text.to_owned())
    } else {
        Err("expected a SHA-256 of 64 digits, as shown by `brief sync`".to_owned())
    }
}

fn parse_signer(text: &str) -> Result<String, String> {
    let problem =
        "expected `sha256:` and 64 digits, or an identity and its issuer, as shown by `brief sync`";
    Signer::parse(text).map(|signer| signer.to_string()).ok_or_else(|| problem.to_owned())
}

/// The installation of a command: a project's, or the user's own.
pub(crate) struct Installation {
    opened: installation::Installation,
    /// True if it is not the current directory, and messages must name it.
    pub(crate) is_elsewhere: bool,
}

impl Deref for Installation {
    type Target = installation::Installation;

    fn deref(&self) -> &Self::Target {
        &self.opened
    }
}

impl DerefMut for Installation {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.opened
    }
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
        let project = resolve_project_paths(session, place)?;
        match installation::Installation::open(session.system(), project, scope, mode) {
            Ok(opened) => {
                let is_elsewhere = session.open_root()?.path() != opened.project.outputs;
                Ok(Installation { opened, is_elsewhere })
            }
            Err(UnopenedInstallation::Failed(error)) => Err(error.into()),
            Err(UnopenedInstallation::Invalid { problems, base }) => {
                ui.print_diagnostics(&problems, &base)?;
                Err(CommandError::reported(ErrorKind::Usage))
            }
        }
    }

    /// Returns files by their paths in the project.
    pub(crate) fn relative_paths(&self, session: &Session, paths: &[PathBuf]) -> BTreeSet<String> {
        let top = clean_path(&self.project.outputs);
        let named = paths.iter().map(|path| clean_path(&session.directory().join(path)));
        named.map(|path| to_slashed(path.strip_prefix(&top).unwrap_or(&path))).collect()
    }

    /// Starts a request with the user's options.
    pub(crate) fn create_request<'r>(
        &self,
        session: &Session,
        writing: &WritingArgs,
        clients: &'r [String],
    ) -> InstallRequest<'r> {
        InstallRequest {
            adopt: self.relative_paths(session, &writing.adopt),
            force: self.relative_paths(session, &writing.force),
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
            report.downgrade_errors();
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
        let outcome = with_progress(ui, |observer| {
            install::sync_project(session.system(), &self.clients, &self.project, request, observer)
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
pub(crate) fn with_progress<T>(
    ui: &mut Ui,
    work: impl FnOnce(&dyn Fn(Event<'_>)) -> T,
) -> Result<T> {
    let shared = RefCell::new(&mut *ui);
    let outcome = work(&|event| show_progress(&mut shared.borrow_mut(), event));
    ui.end_progress()?;
    Ok(outcome)
}

/// Names the clients that files of the project or of the user show to be in use.
pub(crate) fn mention_clients(ui: &mut Ui, found: &ClientsInUse) -> Result {
    ui.print_status(&describe_clients(found))
}

/// Prints what a workflow told on its way.
pub(crate) fn print_remarks(ui: &mut Ui, remarks: &[Remark]) -> Result {
    for remark in remarks {
        match remark {
            Remark::Warning(message) => ui.print_warning(message)?,
            Remark::Hint(message) => ui.print_hint(message)?,
            Remark::Status(message) => ui.print_status(message)?,
            Remark::Problems { found, base } => ui.print_diagnostics(found, base)?,
        }
    }
    Ok(())
}

/// Shows a step that may take long. A closed output must not stop the work.
pub(crate) fn show_progress(ui: &mut Ui, event: Event<'_>) {
    let _ = match event {
        Event::Asking { repository } => ui.print_progress(&format!("Asking {repository}")),
        Event::Fetching { repository, commit } => {
            ui.print_progress(&format!("Fetching {repository} at {}", short_commit(commit)))
        }
        Event::Item { number, of } if number % 50 == 0 => {
            ui.print_detail(&format!("Compiling {number} of {of} items"))
        }
        _ => Ok(()),
    };
}

/// Returns the mode for the options of a command.
pub(crate) fn install_mode(is_dry: bool, is_diff: bool) -> InstallMode {
    match (is_dry, is_diff) {
        (_, true) => InstallMode::Diff,
        (true, false) => InstallMode::Check,
        (false, false) => InstallMode::Write,
    }
}

pub(crate) fn network_mode(is_offline: bool) -> Network {
    if is_offline { Network::Offline } else { Network::Online }
}

/// Returns the project of a command, or the user's own installation.
pub(crate) fn resolve_project_paths(
    session: &Session,
    place: &InstallationArg,
) -> Result<ProjectPaths> {
    if place.global { user_project(session) } else { session.installed_project() }
}

fn user_project(session: &Session) -> Result<ProjectPaths> {
    ProjectPaths::of_user(session.system()).ok_or_else(|| {
        CommandError::refused("cannot find the home directory")
            .with_hint("set `HOME` to an absolute path")
    })
}
