//! The common parts of commands that install: the project, its `brief.toml`, and the report of a
//! run.

mod clients;
mod complete;
mod print;
mod refusal;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use brief_clients::compile::{Clients, UnknownClient};
use brief_clients::profile::{ProfileScope, Section};
use brief_profiles::OwnClients;
use brief_registry::install::{self, Finished, InstallError, Mode, Project, Report, Request};
use brief_registry::lock::Lock;
use brief_registry::manifest::Manifest;
use brief_registry::{Event, Network};
use brief_syntax::Source;
use brief_syntax::system::{ReadError, System, config_directory, state_directory};
use clap::Args;

use crate::error::{CommandError, ErrorKind};
use crate::session::Session;
use crate::ui::Ui;

pub(crate) use clients::FoundClients;
pub(crate) use complete::complete;
pub(crate) use print::{JsonSource, short};
use print::{print_json, print_report};
pub(crate) use refusal::{refusal, refusal_of_typed, tell_unresolved};

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
pub(crate) struct Where {
    /// Work on the user's own installation, in the home directory, instead of the project's
    #[arg(long, short = 'g')]
    pub(crate) global: bool,
}

/// The common options of commands that write to an installation.
#[derive(Debug, Args)]
pub(crate) struct Writing {
    /// Replace this file, which `brief` did not write, and keep a copy; a directory means everything in it
    #[arg(long, value_name = "FILE")]
    adopt: Vec<PathBuf>,

    /// Replace this output although it was changed by hand, and keep a copy; a directory means everything in it
    #[arg(long, value_name = "FILE")]
    force: Vec<PathBuf>,

    /// Install the item with this content although it holds hidden text or opaque files; brief.toml records it
    #[arg(long, value_name = "SHA256", value_parser = sha256)]
    accept: Vec<String>,

    #[command(flatten)]
    pub(crate) place: Where,

    /// Print JSON: sources, items, files and diagnostics
    #[arg(long)]
    json: bool,
}

fn sha256(text: &str) -> Result<String, String> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() == 64 && text.bytes().all(is_digit) {
        Ok(text.to_owned())
    } else {
        Err("a content has a SHA-256 of 64 digits; `brief sync` names it".to_owned())
    }
}

/// A project's installation, or the user's own.
pub(crate) struct Installation {
    pub(crate) project: Project,
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
        place: &Where,
    ) -> Result<Result<Installation, ExitCode>, CommandError> {
        Installation::find_for(ui, session, place, Mode::Check)
    }

    /// Finds the project for a command that may write. The work of a killed run is finished first,
    /// because it could change everything that is read.
    pub(crate) fn find_for(
        ui: &mut Ui,
        session: &Session,
        place: &Where,
        mode: Mode,
    ) -> Result<Result<Installation, ExitCode>, CommandError> {
        let (project, scope) = if place.global {
            (user_project(session.system())?, ProfileScope::Home)
        } else {
            (Project::at(&project_root(session)?), ProfileScope::Project)
        };
        let finished = match mode {
            Mode::Write => install::finish(session.system(), &project),
            Mode::Check | Mode::Diff => Ok(Finished::default()),
        };
        let finished = finished.map_err(|error| refusal(&error))?;
        let is_elsewhere = session.root()?.path() != project.outputs;
        let source = read_manifest(session.system(), &project)?;
        let own = OwnClients::below(session.system(), &project.outputs);
        let clients = Clients::read(source.as_ref(), &own, Section::Install, scope);
        let manifest = source.as_ref().map(Manifest::read).transpose();
        match (clients, manifest) {
            (Ok(clients), Ok(manifest)) => {
                let mut found = Installation { project, clients, manifest, is_elsewhere, finished };
                // The command that needs the lock reports an unreadable one.
                if let Ok(Some(lock)) = found.lock(session.system()) {
                    let layout = clients::layout_of(&found.clients, &lock);
                    found.clients = found.clients.with_layout_of(layout);
                }
                Ok(Ok(found))
            }
            (clients, manifest) => {
                let mut problems = clients.err().unwrap_or_default();
                problems.extend(manifest.err().unwrap_or_default());
                problems.sort_by_key(|found| found.span.start);
                problems.dedup();
                ui.print_diagnostics(&problems, &project.config)?;
                Ok(Err(ErrorKind::Usage.exit_code()))
            }
        }
    }

    /// Returns the clients of the items.
    pub(crate) fn wanted(&self, named: &[String]) -> Result<Vec<String>, CommandError> {
        self.clients.wanted(named).map_err(|error| unknown_client(&error))
    }

    /// Reads the lock; `None` when there is none.
    pub(crate) fn lock(&self, system: &dyn System) -> Result<Option<Lock>, CommandError> {
        let path = self.project.lock();
        let bytes = match system.read(&path, brief_syntax::limits::BUILD_RECORD_BYTES) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => return Ok(None),
            Err(error) => {
                let problem = error.to_string();
                return Err(refusal(&InstallError::Unreadable { path, problem }));
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        let lock = Lock::parse(&text).map_err(|error| InstallError::Lock { path, error });
        lock.map(Some).map_err(|error| refusal(&error))
    }

    /// Returns files by their paths in the project.
    pub(crate) fn chosen(&self, session: &Session, paths: &[PathBuf]) -> BTreeSet<String> {
        let top = normal(&self.project.outputs);
        let named = paths.iter().map(|path| normal(&session.directory().join(path)));
        named.map(|path| slashed(path.strip_prefix(&top).unwrap_or(&path))).collect()
    }

    /// Starts a request with the user's options.
    pub(crate) fn request<'r>(
        &self,
        session: &Session,
        writing: &Writing,
        clients: &'r [String],
    ) -> Request<'r> {
        Request {
            adopt: self.chosen(session, &writing.adopt),
            force: self.chosen(session, &writing.force),
            accept: writing.accept.iter().cloned().collect(),
            ..Request::new(clients)
        }
    }

    /// Runs the request of the command `kind` and prints the report; a failure is exit code 1.
    pub(crate) fn carry_out(
        &self,
        ui: &mut Ui,
        kind: &'static str,
        session: &Session,
        request: &Request<'_>,
        writing: &Writing,
        asked: RunPurpose,
    ) -> Result<Result<Report, ExitCode>, CommandError> {
        let mut report = match self.sync(ui, session, request)? {
            Ok(report) => report,
            Err(code) => return Ok(Err(code)),
        };
        report.notes.splice(0..0, self.finished.notes.iter().cloned());
        if asked == RunPurpose::ToTakeAway {
            report.excuse();
        }
        if writing.json {
            print_json(ui, kind, &self.project.outputs, &report)?;
        } else {
            print_report(ui, self, &report, request.mode)?;
        }
        let failed = ErrorKind::Refused.exit_code();
        Ok(if report.has_errors() { Err(failed) } else { Ok(report) })
    }

    /// Makes the project match its manifest.
    fn sync(
        &self,
        ui: &mut Ui,
        session: &Session,
        request: &Request<'_>,
    ) -> Result<Result<Report, ExitCode>, CommandError> {
        let outcome = watched(ui, |observer| {
            install::sync(session.system(), &self.clients, &self.project, request, observer)
        })?;
        match outcome {
            Ok(report) => Ok(Ok(report)),
            Err(InstallError::Manifest(diagnostics)) => {
                ui.print_diagnostics(&diagnostics, &self.project.config)?;
                Ok(Err(ErrorKind::Usage.exit_code()))
            }
            Err(InstallError::Unresolved(problems)) => {
                tell_unresolved(ui, &problems)?;
                Ok(Err(ErrorKind::Refused.exit_code()))
            }
            Err(error) => Err(refusal(&error)),
        }
    }
}

/// Runs a task that may take long, and shows its progress.
pub(crate) fn watched<T>(
    ui: &mut Ui,
    work: impl FnOnce(&dyn Fn(Event<'_>)) -> T,
) -> Result<T, CommandError> {
    let ui = RefCell::new(ui);
    let observer = |event: Event<'_>| {
        let mut ui = ui.borrow_mut();
        // A closed output must not stop the work.
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
    };
    let outcome = work(&observer);
    ui.into_inner().end_progress()?;
    Ok(outcome)
}

/// Returns the mode for the options of a command.
pub(crate) fn mode(is_dry: bool, is_diff: bool) -> Mode {
    match (is_dry, is_diff) {
        (_, true) => Mode::Diff,
        (true, false) => Mode::Check,
        (false, false) => Mode::Write,
    }
}

pub(crate) fn network(is_offline: bool) -> Network {
    if is_offline { Network::Offline } else { Network::Online }
}

pub(crate) fn unknown_client(error: &UnknownClient) -> CommandError {
    let known = format!("known clients: {}", error.known.join(", "));
    let hint = match &error.near {
        Some(near) => format!("did you mean `{near}`? {known}"),
        None => known,
    };
    CommandError::usage(error.to_string()).with_hint(hint)
}

fn read_manifest(
    system: &dyn System,
    project: &Project,
) -> Result<Option<Arc<Source>>, CommandError> {
    let path = project.manifest();
    match system.read(&path, brief_syntax::limits::FILE_BYTES) {
        Ok(bytes) => Ok(Some(Arc::new(Source::from_bytes(path, bytes)))),
        Err(ReadError::Missing) => Ok(None),
        Err(error) => {
            let problem = error.to_string();
            Err(refusal(&InstallError::Unreadable { path, problem }))
        }
    }
}

/// Finds the project: the nearest directory with a `brief.toml` inside the repository, else the top
/// of the repository. Outside a repository it is the directory itself, because other users may own
/// the directories above.
pub(crate) fn project_root(session: &Session) -> Result<PathBuf, CommandError> {
    let system = session.system();
    let start = session.root()?.path().to_owned();
    let has = |directory: &Path, name: &str| system.resolve(&directory.join(name)).is_ok();
    let Some(top) = start.ancestors().find(|directory| has(directory, ".git")) else {
        return Ok(start);
    };
    let inside = start.ancestors().take_while(|directory| directory.starts_with(top));
    let nearest = inside.into_iter().find(|directory| has(directory, "brief.toml"));
    Ok(nearest.unwrap_or(top).to_owned())
}

/// Returns the evidence that a project installs items of registries; `None` if it does not.
pub(crate) fn consumes(system: &dyn System, project: &Project) -> Option<&'static str> {
    if system.read(&project.lock(), brief_syntax::limits::BUILD_RECORD_BYTES).is_ok() {
        return Some("it has a brief.lock");
    }
    let source = read_manifest(system, project).ok().flatten()?;
    let manifest = Manifest::read(&source).ok()?;
    (!manifest.sources.is_empty()).then_some("its brief.toml has `[sources]`")
}

pub(crate) fn user_project(system: &dyn System) -> Result<Project, CommandError> {
    let absolute = |name| system.env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = absolute("HOME").or_else(|| absolute("USERPROFILE"));
    let places = (home, config_directory(system), state_directory(system));
    let (Some(home), Some(config), Some(state)) = places else {
        return Err(CommandError::refused("there is no home directory")
            .with_hint("set `HOME` to an absolute path"));
    };
    Ok(Project::of_user(&home, &config, &state))
}

/// Removes `.` and `..` from a path without looking at the file system.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// Returns a relative path with `/`.
pub(crate) fn slashed(path: &Path) -> String {
    let names = path.components().filter(|part| !matches!(part, Component::RootDir));
    let names = names.map(|part| part.as_os_str().to_string_lossy().into_owned());
    names.collect::<Vec<_>>().join("/")
}
