//! `brief fleet status`

mod branch;
mod print;

use std::collections::BTreeSet;
use std::path::PathBuf;

use brief_registry::fleet::{
    self, FleetError, FleetMember, FleetReading, FleetState, KnownMembers, NewestByPlace, PlaceKey,
    UpdateWorkshop, WorkshopError,
};
use brief_registry::install::InstallReport;
use brief_registry::manifest::ManifestPlace;
use brief_workflows::fleet::{
    FleetReport, FleetRow, FleetUpdate, MemberUpdate, UpdateOutcome, UpdateReport, most_tokens,
    update_member,
};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use super::log::GroupArg;
use crate::error::{CommandError, Result, refuse_if};
use crate::installation;
use crate::session::Session;
use crate::ui::Ui;

/// Compare and update many repositories
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    command: FleetCommand,
}

#[derive(Debug, Subcommand)]
enum FleetCommand {
    Status(StatusArgs),
    Branch(branch::BranchArgs),
}

/// Show installed items and versions in many repositories
///
/// Reads brief.lock and the written files of one commit of each repository, as git objects, without a checkout. Uses
/// the network only with `--ask`, and for repositories given as URLs. The cache remembers each commit, so an interrupted
/// run continues.
#[derive(Debug, Args)]
struct StatusArgs {
    #[command(flatten)]
    which: FleetSources,

    /// Show the effect of updating this source, bundle or item
    #[arg(long, value_name = "NAME[@REF]", value_parser = parse_update, conflicts_with_all = ["csv", "jsonl"])]
    update: Option<FleetUpdate>,

    /// Compare with the newest version of each source, from its server
    #[arg(long)]
    ask: bool,

    /// Report files that get more than N tokens
    #[arg(long, value_name = "N")]
    budget: Option<usize>,

    /// Show only repositories in this state [repeatable]
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = state_parser())]
    only: Vec<FleetState>,

    /// Group repositories by the owner of their guidance
    #[arg(long, value_name = "GROUP", conflicts_with_all = ["csv", "jsonl", "json"])]
    by: Option<GroupArg>,

    /// Exit 1 if a repository is in one of these states
    #[arg(long)]
    exit_code: bool,

    #[command(flatten)]
    format: FleetFormat,
}

/// The formats besides text.
#[derive(Debug, Args)]
struct FleetFormat {
    /// Print CSV, one line per item and repository
    #[arg(long, conflicts_with_all = ["json", "jsonl"])]
    csv: bool,

    /// Print JSON lines, one per item and repository
    #[arg(long, conflicts_with = "json")]
    jsonl: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The repositories of a command.
#[derive(Debug, Args)]
pub(crate) struct FleetSources {
    /// Repositories, directories of them, git URLs, or files listing these
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<PathBuf>,

    /// Read this branch, tag or commit [default: HEAD]
    #[arg(long, value_name = "REV")]
    rev: Option<String>,
}

fn state_parser() -> impl TypedValueParser<Value = FleetState> {
    PossibleValuesParser::new(FleetState::ALL.map(FleetState::as_str)).map(|name| {
        let named = FleetState::ALL.into_iter().find(|state| state.as_str() == name);
        named.expect("the parser takes these names only")
    })
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &FleetArgs) -> Result {
    match &args.command {
        FleetCommand::Status(args) => run_status(ui, session, args),
        FleetCommand::Branch(args) => branch::run(ui, session, args),
    }
}

fn run_status(ui: &mut Ui, session: &Session, args: &StatusArgs) -> Result {
    let only = args.only.as_slice();
    if only.contains(&FleetState::OverBudget) && args.budget.is_none() {
        let message = "`--only over-budget` needs a budget";
        return Err(CommandError::usage(message).with_hint("pass `--budget N` to set it"));
    }
    let members = args.which.read_members(ui, session, args.budget.is_some())?;
    let newest = if args.ask { ask_sources(ui, session, &members)? } else { NewestByPlace::new() };
    let effect = match &args.update {
        Some(update) => Some(preview_update(ui, session, &members, update)?),
        None => None,
    };
    let mut report =
        FleetReport::from_members(session.directory(), members, &newest, args.budget, only);
    report.update = effect;
    if args.format.json {
        let root = session.directory();
        ui.print_json("fleet status", root, &[], &report)?;
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
    } else if let Some(effect) = &report.update {
        print::print_effect(ui, effect)?;
    } else if args.by == Some(GroupArg::Owner) {
        print::print_owners(ui, &report)?;
    } else {
        print::print_fleet(ui, &report, !only.is_empty())?;
    }
    let is_unknown = report.update.as_ref().is_some_and(UpdateReport::is_without);
    refuse_if(is_unknown || args.exit_code && report.has_findings())
}

/// Reads repositories for a page: with their tokens, and without a question to a server.
pub(crate) fn read_fleet_report(
    ui: &mut Ui,
    session: &Session,
    sources: &[PathBuf],
) -> Result<FleetReport> {
    let which = FleetSources { sources: sources.to_vec(), rev: None };
    let members = which.read_members(ui, session, true)?;
    Ok(FleetReport::from_members(session.directory(), members, &NewestByPlace::new(), None, &[]))
}

impl FleetSources {
    /// Finds and reads the repositories.
    fn read_members(
        &self,
        ui: &mut Ui,
        session: &Session,
        is_counted: bool,
    ) -> Result<Vec<FleetMember>> {
        let (system, base) = (session.system(), session.directory());
        let places = fleet::find_repositories(system, base, &self.sources)?;
        let known = KnownMembers::load(system, base, &self.sources);
        let of = places.len();
        let members = print::with_bar(ui, "Reading", of, |observer| {
            let reading = FleetReading {
                revision: self.rev.as_deref(),
                measure: is_counted.then_some(&most_tokens),
                known: &known,
                observer,
            };
            fleet::read_members(&session.shared_system(), &places, &reading)
        })?;
        let members = members?;
        known.compact_record(system, &members);
        Ok(members)
    }
}

impl From<FleetError> for CommandError {
    fn from(error: FleetError) -> Self {
        match &error {
            FleetError::Interrupted => CommandError::interrupted(),
            FleetError::Revision { .. } => CommandError::usage(error.to_string()),
            _ => CommandError::refused(error.to_string()),
        }
    }
}

/// Asks each source once. One that does not answer is a warning.
fn ask_sources(ui: &mut Ui, session: &Session, members: &[FleetMember]) -> Result<NewestByPlace> {
    let sources = members.iter().flat_map(|member| &member.facts.sources);
    ask_all(ui, session, sources.map(|source| (source.place_key(), source.manifest_place())))
}

fn ask_all(
    ui: &mut Ui,
    session: &Session,
    places: impl Iterator<Item = (PlaceKey, ManifestPlace)>,
) -> Result<NewestByPlace> {
    let mut newest = NewestByPlace::new();
    let mut asked = BTreeSet::new();
    for (key, place) in places {
        if !asked.insert(key.clone()) {
            continue;
        }
        let answer = installation::with_progress(ui, |observer| {
            fleet::newest_of(session.system(), &place, observer)
        })?;
        match answer {
            Some(Ok(state)) => {
                newest.insert(key, state);
            }
            Some(Err(problem)) => ui.print_warning(&format!("{}: {problem}", key.0))?,
            None => {}
        }
    }
    Ok(newest)
}

fn parse_update(text: &str) -> Result<FleetUpdate, String> {
    FleetUpdate::parse(text).ok_or_else(|| "expected NAME or NAME@REF".to_owned())
}

/// Tells the effect of an update on each repository.
fn preview_update(
    ui: &mut Ui,
    session: &Session,
    members: &[FleetMember],
    update: &FleetUpdate,
) -> Result<UpdateReport> {
    let base = session.directory();
    let outcomes = update_all(ui, session, members, update, |_, _, _, _| Ok(()))?;
    if outcomes.iter().any(UpdateOutcome::is_interrupted) {
        return Err(CommandError::interrupted());
    }
    let outcomes = members.iter().map(|member| member.place.name(base)).zip(outcomes);
    Ok(UpdateReport::from_outcomes(outcomes))
}

/// Updates each repository in a workshop of its own, several at a time. Each source is asked once for its newest version. After an
/// interruption, the outcomes of the rest say so.
fn update_all<T: Send>(
    ui: &mut Ui,
    session: &Session,
    members: &[FleetMember],
    update: &FleetUpdate,
    finish: impl Fn(
        &FleetMember,
        &MemberUpdate,
        &UpdateWorkshop,
        &InstallReport,
    ) -> Result<T, WorkshopError>
    + Sync,
) -> Result<Vec<UpdateOutcome<T>>> {
    let sources = members.iter().flat_map(|member| update.moving_sources(member));
    let places = sources.map(|source| (update.place_key(source), update.updated_place(source)));
    let places: Vec<_> = places.collect();
    if places.is_empty() {
        ui.print_warning(&format!(
            "no repository has a source, bundle or item named `{}`",
            update.name
        ))?;
        ui.print_hint("run `brief fleet status --csv` to list them")?;
    }
    let newest = ask_all(ui, session, places.into_iter())?;
    let system = session.shared_system();
    let outcomes = print::with_bar(ui, "Comparing", members.len(), |observer| {
        fleet::in_parallel(members, observer, |member| {
            update_member(&system, member, update, &newest, |found, workshop, report| {
                finish(member, found, workshop, report)
            })
        })
    })?;
    Ok(outcomes)
}
