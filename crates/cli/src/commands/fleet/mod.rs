//! `brief fleet`

mod print;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use brief_registry::fleet::{
    self, FleetError, FleetMember, FleetReading, FleetState, KnownMembers, NewestByPlace,
};
use brief_serve::fleet::{FleetReport, FleetRow, most_tokens};
use brief_syntax::render::Envelope;
use clap::{Args, ValueEnum};

use crate::error::{CommandError, ErrorKind};
use crate::installation;
use crate::session::Session;
use crate::ui::Ui;

/// Show what many repositories have installed, and at which version
///
/// Reads brief.lock and the written files of one commit of each repository, as git objects: nothing is checked out and
/// nothing of a repository is executed. No server is asked, except for repositories that are named by address, and with
/// `--ask`. A commit that was read once is remembered in the cache, so that an interrupted run goes on.
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    #[command(flatten)]
    which: FleetSources,

    /// Ask for the newest commit or digest of each source, once, and compare with that instead of the newest in the fleet
    #[arg(long)]
    ask: bool,

    /// Count tokens, and tell where a file gets more than this many
    #[arg(long, value_name = "N")]
    budget: Option<usize>,

    /// Only repositories in one of these states; with commas, or several times
    #[arg(long, value_name = "STATE", value_delimiter = ',')]
    only: Vec<StateArg>,

    /// Exit with 1 when a repository is in one of the states, or in one that `--only` names
    #[arg(long)]
    exit_code: bool,

    #[command(flatten)]
    format: FleetFormat,
}

/// The formats besides text.
#[derive(Debug, Args)]
struct FleetFormat {
    /// Print CSV: a line for each item of each repository
    #[arg(long, conflicts_with_all = ["json", "jsonl"])]
    csv: bool,

    /// Print a JSON object on a line for each item of each repository, always with the same columns
    #[arg(long, conflicts_with = "json")]
    jsonl: bool,

    /// Print JSON: each repository with its sources, items and drifted files
    #[arg(long)]
    json: bool,
}

/// The repositories of a command.
#[derive(Debug, Args)]
pub(crate) struct FleetSources {
    /// Repositories (bare ones too), directories of them, git URLs, or files with a path or a git URL on each line
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<PathBuf>,

    /// Read this branch, tag or commit instead of HEAD
    #[arg(long, value_name = "REV")]
    rev: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StateArg {
    Behind,
    Drifted,
    Unsigned,
    OverBudget,
    NoGuidance,
    Unreadable,
}

impl StateArg {
    fn state(self) -> FleetState {
        match self {
            StateArg::Behind => FleetState::Behind,
            StateArg::Drifted => FleetState::Drifted,
            StateArg::Unsigned => FleetState::Unsigned,
            StateArg::OverBudget => FleetState::OverBudget,
            StateArg::NoGuidance => FleetState::NoGuidance,
            StateArg::Unreadable => FleetState::Unreadable,
        }
    }
}

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &FleetArgs,
) -> Result<ExitCode, CommandError> {
    let only: Vec<FleetState> = args.only.iter().map(|only| only.state()).collect();
    if only.contains(&FleetState::OverBudget) && args.budget.is_none() {
        let message = "`--only over-budget` needs a budget";
        return Err(CommandError::usage(message).with_hint("`--budget N` sets it"));
    }
    let members = args.which.read(ui, session, args.budget.is_some())?;
    let newest = if args.ask { ask(ui, session, &members)? } else { NewestByPlace::new() };
    let report = FleetReport::of(session.directory(), members, &newest, args.budget, &only);
    if args.format.json {
        let root = session.directory();
        ui.print_json(&Envelope { kind: "fleet", root, diagnostics: &[], body: &report })?;
    } else if args.format.csv || args.format.jsonl {
        if args.format.csv {
            ui.print_data(&FleetRow::csv_header())?;
        }
        for row in report.rows() {
            if args.format.csv {
                ui.print_line(row.csv_line())?;
            } else {
                ui.print_data(&row.json_line())?;
            }
        }
    } else {
        print::print(ui, &report)?;
    }
    let has_failed = args.exit_code && report.has_findings();
    Ok(if has_failed { ErrorKind::Refused.exit_code() } else { ExitCode::SUCCESS })
}

impl FleetSources {
    /// Finds and reads the repositories.
    fn read(
        &self,
        ui: &mut Ui,
        session: &Session,
        is_counted: bool,
    ) -> Result<Vec<FleetMember>, CommandError> {
        let (system, base) = (session.system(), session.directory());
        let places = fleet::find(system, base, &self.sources).map_err(|error| refusal(&error))?;
        let known = KnownMembers::of(system, base, &self.sources);
        let of = places.len();
        let members = print::with_bar(ui, "Reading", of, |observer| {
            let reading = FleetReading {
                revision: self.rev.as_deref(),
                measure: is_counted.then_some(&most_tokens),
                known: &known,
                observer,
            };
            fleet::read(&session.shared_system(), &places, &reading)
        })?;
        let members = members.map_err(|error| refusal(&error))?;
        known.tidy(system, &members);
        Ok(members)
    }
}

fn refusal(error: &FleetError) -> CommandError {
    match error {
        FleetError::Interrupted => CommandError::interrupted(),
        FleetError::Revision { .. } => CommandError::usage(error.to_string()),
        _ => CommandError::refused(error.to_string()),
    }
}

/// Asks each source once. One that does not answer is a warning.
fn ask(
    ui: &mut Ui,
    session: &Session,
    members: &[FleetMember],
) -> Result<NewestByPlace, CommandError> {
    let mut newest = NewestByPlace::new();
    let mut asked = BTreeSet::new();
    for source in members.iter().flat_map(|member| &member.facts.sources) {
        let key = source.key();
        if !asked.insert(key.clone()) {
            continue;
        }
        let answer = installation::watched(ui, |observer| {
            fleet::newest_of(session.system(), &source.place(), observer)
        })?;
        match answer {
            Some(Ok(commit)) => {
                newest.insert(key, commit);
            }
            Some(Err(problem)) => ui.warning(&format!("{}: {problem}", key.0))?,
            None => {}
        }
    }
    Ok(newest)
}
