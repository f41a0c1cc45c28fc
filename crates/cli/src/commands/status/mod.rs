//! `brief status`, and `brief` alone: what is here, what each client gets, what is wrong, and the next command.

mod debug;
mod next;
mod print;

use std::path::{Path, PathBuf};

use brief_checks::lint::{Findings, Lint};
use brief_engine::sees::{Arrival, Delivery, MissingCause, Sees, Viewer};
use brief_engine::survey::Survey;
use brief_engine::tokens::Counter;
use brief_engine::{Moment, Project, RootKind, System};
use brief_profiles::{BUILTIN, KnownClients, OwnClients};
use brief_syntax::render::path_below;
use brief_syntax::{Diagnostic, Severity};
use brief_system::resolved_home;
use brief_workflows::delivery::find_viewers;
use brief_workflows::history::LazyHistory;
use clap::Args;
use serde::Serialize;

use super::lint::ProjectChecks;
use crate::clock::with_clock;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Show clients, hooks, problems and the next command
///
/// Read-only: the same as `brief` alone. Exits with 0 even if there are problems; `brief lint` is for scripts.
#[derive(Debug, Default, Args)]
pub(crate) struct StatusArgs {
    /// Print JSON: items, clients, problems and the next commands
    #[arg(long)]
    json: bool,

    /// Print a block for a problem report, without names, paths or content
    #[arg(long, conflicts_with = "json")]
    debug: bool,
}

/// The number of problems that are shown.
const SHOWN_PROBLEMS: usize = 3;

#[derive(Debug, Serialize)]
struct Status {
    state: State,
    /// The name of the project's directory.
    name: String,
    /// True if the project is a repository.
    repository: bool,
    /// A sentence about a directory that is not a project.
    #[serde(skip)]
    remark: Option<String>,
    items: usize,
    tokens: usize,
    files: usize,
    clients: Vec<ClientStatus>,
    errors: usize,
    warnings: usize,
    #[serde(skip)]
    problems: Vec<Diagnostic>,
    /// The user's own guidance, where the project has none to show.
    own: Option<OwnGuidance>,
    next: Vec<NextCommand>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Guidance,
    NoGuidance,
    /// This is not a project.
    Outside,
}

/// A client, what it loads, and what it lacks.
#[derive(Debug, Serialize)]
struct ClientStatus {
    client: String,
    /// `works`, or why it does not.
    hook: &'static str,
    /// The tokens that it loads by itself.
    loads: usize,
    /// The tokens that its hook delivers.
    delivers: usize,
    /// The number of items that apply and do not get to it.
    missing: usize,
    #[serde(skip)]
    cause: Option<MissingCause>,
    #[serde(skip)]
    server_command: Option<String>,
}

#[derive(Debug, Default, Serialize)]
struct OwnGuidance {
    items: usize,
    tokens: usize,
    files: Vec<String>,
}

/// A command, and what it is for.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct NextCommand {
    command: String,
    effect: String,
}

impl NextCommand {
    fn new(command: impl Into<String>, effect: impl Into<String>) -> NextCommand {
        NextCommand { command: command.into(), effect: effect.into() }
    }
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &StatusArgs) -> Result {
    let session = &session.with_memory();
    let project = session.open_project()?;
    let root = project.root().path().to_owned();
    let kind = RootKind::from_root(session.system(), project.root());
    let checks = ProjectChecks::new(session, false);
    let mut status = match kind {
        // All of these hold projects, and none of them is one.
        RootKind::Wide(_) | RootKind::BareRepository => Status::new(&root, kind),
        RootKind::Repository | RootKind::LostRepository | RootKind::Directory => {
            with_clock(ui, "reading the project", || read_status(session, &project, kind, &checks))?
        }
    };
    if status.state == State::Outside {
        status.own = Some(find_own(session.system(), &project));
    }
    if args.debug {
        return debug::print_debug_block(ui, session, &status);
    }
    next::choose_next_commands(session, &mut status);
    checks.mention_unparsed(ui, &root)?;
    if args.json {
        return ui.print_json("status", &root, worst_problems(&status.problems), &status);
    }
    print::print_status(ui, &status, &root)
}

/// Returns the problems to show.
fn worst_problems(problems: &[Diagnostic]) -> &[Diagnostic] {
    &problems[..problems.len().min(SHOWN_PROBLEMS)]
}

impl Status {
    fn new(root: &Path, kind: RootKind) -> Status {
        let shown = root.display();
        let remark = match kind {
            RootKind::Repository | RootKind::LostRepository => None,
            RootKind::Wide(wide) => Some(format!("`{shown}` is {}, not a project.", wide.as_str())),
            RootKind::BareRepository => {
                Some(format!("`{shown}` is a bare git repository, without a working tree."))
            }
            RootKind::Directory => Some(
                "Not in a git repository, so brief reads this directory but not its parents."
                    .to_owned(),
            ),
        };
        let name = root
            .file_name()
            .map_or_else(|| shown.to_string(), |name| name.to_string_lossy().into_owned());
        Status {
            state: State::Outside,
            name,
            repository: matches!(kind, RootKind::Repository | RootKind::LostRepository),
            remark,
            items: 0,
            tokens: 0,
            files: 0,
            clients: Vec::new(),
            errors: 0,
            warnings: 0,
            problems: Vec::new(),
            own: None,
            next: Vec::new(),
        }
    }
}

/// Reads a project once, for everything that is said about it.
fn read_status(
    session: &Session,
    project: &Project<'_>,
    kind: RootKind,
    checks: &ProjectChecks<'_>,
) -> Result<Status> {
    let (system, root) = (session.system(), project.root().path());
    let mut status = Status::new(root, kind);
    let history = LazyHistory::with_recent_commits(session.shared_system(), root);
    let lint = Lint::new(project, root)
        .map_err(|_| CommandError::refused("the directory no longer exists"))?;
    let lint = lint.configured_by(checks).with_history(&history);
    let catalog = lint.read_project();
    let started = Some(project.started().to_owned());
    let moment = Moment { root: project.root().clone(), started, ..Moment::default() };
    let counter = Counter::estimate();
    let count = |text: &str| counter.count(text);
    let survey = Survey::from_catalog(&catalog, root, &moment, &count);
    let found = lint.check_all(&catalog, survey.as_ref());
    status.add_problems(found);
    status.files = catalog.file_count();
    let is_empty = catalog.is_empty() && status.problems.is_empty();
    if let Some(survey) = survey {
        let distinct = survey.items.iter().filter(|surveyed| !surveyed.is_repeated);
        (status.items, status.tokens) = (distinct.count(), survey.tokens);
        if !catalog.is_empty() {
            let clients = detect_clients(system, root);
            let viewers = find_viewers(system, root, &moment, &clients);
            // As if nothing were installed: the rest is what a hook delivers.
            let bare = |viewer: &Viewer| {
                let nothing =
                    Delivery::with_missing_hook(MissingCause::NoHook, String::new(), None);
                Viewer::new(&moment, &viewer.client, nothing)
            };
            let bare: Vec<Viewer> = viewers.iter().map(bare).collect();
            let sees = survey.tabulate_arrivals(&catalog, root, &bare, &count);
            status.clients = client_rows(&viewers, &sees);
        }
        let file = next::find_example(&survey);
        status.next =
            file.map(|file| next::create_show_command(session, root, &file)).into_iter().collect();
    }
    status.state = match (catalog.is_empty(), kind) {
        (false, _) => State::Guidance,
        (true, RootKind::Directory) if is_empty => State::Outside,
        (true, _) => State::NoGuidance,
    };
    Ok(status)
}

impl Status {
    /// Keeps the problems, the worst first.
    fn add_problems(&mut self, mut found: Findings) {
        found.group_causes();
        self.errors = found.count_severity(Severity::Error);
        self.warnings = found.count_severity(Severity::Warning);
        self.problems = found.diagnostics;
        self.problems.retain(|problem| problem.severity != Severity::Note);
        self.problems.sort_by_key(|problem| problem.severity);
    }
}

/// Returns the clients that a project shows signs of, then those with a hook in the home directory; or else those that the
/// user has.
fn detect_clients(system: &dyn System, root: &Path) -> Vec<String> {
    let known = OwnClients::read_project(system, root).known_clients();
    let mut found =
        owned_names(known.clients_in_project(|sign| system.resolve(&root.join(sign)).is_ok()));
    let at_home = clients_at_home(system, &known);
    let moment = Moment::default();
    let viewers = find_viewers(system, root, &moment, &at_home);
    let has_hook = |viewer: &Viewer| {
        viewer.delivery.missing_hook().is_none_or(|missing| {
            !matches!(missing.cause, MissingCause::NoHook | MissingCause::NotSupported)
        })
    };
    for viewer in viewers.into_iter().filter(has_hook) {
        if !found.contains(&viewer.client) {
            found.push(viewer.client);
        }
    }
    if found.is_empty() { at_home } else { found }
}

fn clients_at_home(system: &dyn System, known: &KnownClients) -> Vec<String> {
    let home = resolved_home(system);
    let is_there =
        |sign: &str| home.as_ref().is_some_and(|home| system.resolve(&home.join(sign)).is_ok());
    owned_names(known.shown_at_home(is_there))
}

fn owned_names(clients: Vec<&str>) -> Vec<String> {
    clients.into_iter().map(str::to_owned).collect()
}

fn client_rows(viewers: &[Viewer], sees: &Sees<'_>) -> Vec<ClientStatus> {
    let rows = viewers.iter().zip(&sees.totals).enumerate().map(|(column, (viewer, total))| {
        let is_lacking = |how: Arrival| how == Arrival::Missing;
        let lacking = sees.items.iter().filter(|item| is_lacking(item.seen[column].how)).count();
        let cause = viewer.delivery.missing_hook().map(|missing| missing.cause);
        ClientStatus {
            client: viewer.client.clone(),
            hook: cause.map_or("works", MissingCause::as_str),
            loads: total.loaded + total.listed,
            delivers: if cause.is_none() { total.missing } else { 0 },
            missing: if cause.is_none() { 0 } else { lacking },
            cause,
            server_command: viewer.delivery.server_command.clone(),
        }
    });
    rows.collect()
}

/// Finds what the user has for all projects, as the clients in the home directory see it.
fn find_own(system: &dyn System, project: &Project<'_>) -> OwnGuidance {
    let Some(home) = resolved_home(system) else { return OwnGuidance::default() };
    let request = project.briefing(project.root().path());
    let (catalog, root) = (request.read_catalog(), project.root().path());
    let clients = clients_at_home(system, &BUILTIN);
    let nothing = || Delivery::with_missing_hook(MissingCause::NoHook, String::new(), None);
    let viewers: Vec<Viewer> =
        clients.iter().map(|client| Viewer::new(&request.moment, client, nothing())).collect();
    let counter = Counter::estimate();
    let sees = Sees::from_catalog(&catalog, root, &viewers, &|text: &str| counter.count(text));
    let mut own = OwnGuidance::default();
    for item in sees.items.iter().filter(|item| item.is_of_user() && !item.is_skipped()) {
        own.items += 1;
        own.tokens += item.tokens;
        let below: PathBuf = item.path.strip_prefix(&home).unwrap_or(item.path).to_owned();
        let shown = path_below(root, &below).into_owned();
        let shown = if item.path.starts_with(&home) { format!("~/{shown}") } else { shown };
        if !own.files.contains(&shown) {
            own.files.push(shown);
        }
    }
    own
}
