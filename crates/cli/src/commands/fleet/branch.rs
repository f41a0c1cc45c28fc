//! `brief fleet branch`

use std::collections::BTreeMap;
use std::path::PathBuf;

use brief_registry::fleet::{BranchState, FleetMember, FleetPlace, UpdateBranch, WorkshopError};
use brief_workflows::fleet::{FleetUpdate, UpdateOutcome};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::print::warn_by_problem;
use super::{FleetSources, update_all};
use crate::error::{CommandError, Result, refuse_if};
use crate::installation::short_commit;
use crate::session::Session;
use crate::ui::Ui;

/// Create an update branch in each repository
///
/// The branch `brief/update-NAME` starts at HEAD (or `--rev`) and has one commit: the update, with the changed guidance as its
/// message. Working trees, indexes and other branches stay untouched. For a repository given as a URL, `--push` creates
/// the branch on its server.
#[derive(Debug, Args)]
pub(crate) struct BranchArgs {
    #[command(flatten)]
    which: FleetSources,

    /// Update this source, bundle or item, to REF if given
    #[arg(long, value_name = "NAME[@REF]", required = true, value_parser = super::parse_update)]
    update: FleetUpdate,

    /// Show the affected repositories without writing
    #[arg(long, conflicts_with = "push")]
    dry_run: bool,

    /// Also push each branch to `origin`
    #[arg(long)]
    push: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The problem of a repository that has no branch because of an interruption.
const INTERRUPTED: &str = "interrupted before the update";

#[derive(Serialize)]
struct BranchRow {
    path: String,
    state: &'static str,
    commit: Option<String>,
    pushed: bool,
    message: Option<String>,
    problem: Option<String>,
}

struct MadeBranch {
    state: BranchState,
    is_pushed: bool,
    message: String,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &BranchArgs) -> Result {
    let members = args.which.read_members(ui, session, false)?;
    let (update, base) = (&args.update, session.directory().to_owned());
    let name = UpdateBranch::new(&update.name, String::new()).name;
    let first = first_of_each(session, &members);
    let outcomes = update_all(ui, session, &members, update, |member, found, workshop, report| {
        if let Some(other) = member
            .shared_repository(session.shared_system().as_ref())
            .and_then(|repository| first.get(&repository))
            .filter(|other| **other != member.place)
        {
            let name = other.name(&base);
            return Err(WorkshopError::Branch(format!("shares its repository with `{name}`")));
        }
        let message = found.commit_message(update);
        let branch = UpdateBranch::new(&update.name, message.clone());
        let is_here = matches!(member.place, FleetPlace::Path(_));
        let mut state = if is_here && !args.dry_run {
            branch.write_branch(workshop, report)?
        } else {
            BranchState::Nothing
        };
        if args.push {
            let written = if is_here { state.commit() } else { None };
            state = branch.push_branch(workshop, report, &member.place, written)?;
        }
        Ok(MadeBranch { state, is_pushed: args.push, message })
    })?;
    let rest = outcomes.iter().filter(|outcome| outcome.is_interrupted()).count();
    let rows: Vec<BranchRow> = members
        .iter()
        .map(|member| member.place.name(session.directory()))
        .zip(outcomes)
        .map(|(path, outcome)| branch_row(path, outcome))
        .collect();
    let has_failed = rows.iter().any(|row| row.problem.is_some())
        || rows.iter().all(|row| row.state == "without");
    if args.json {
        let root = session.directory();
        let body = json!({ "branch": name, "repositories": rows });
        ui.print_json("fleet branch", root, &[], body)?;
    } else {
        print_branches(ui, &name, &rows, args.dry_run)?;
    }
    if rest > 0 {
        let made = rows.iter().filter(|row| row.commit.is_some()).count();
        ui.print_warning(&format!("interrupted: {made} done, {rest} left"))?;
        ui.print_hint("run the same command again to continue")?;
        return Err(CommandError::interrupted());
    }
    refuse_if(has_failed)
}

/// Returns the first working tree of each repository: a branch is written once.
fn first_of_each(session: &Session, members: &[FleetMember]) -> BTreeMap<PathBuf, FleetPlace> {
    let mut first = BTreeMap::new();
    for member in members {
        if let Some(repository) = member.shared_repository(session.system()) {
            first.entry(repository).or_insert_with(|| member.place.clone());
        }
    }
    first
}

fn branch_row(path: String, outcome: UpdateOutcome<MadeBranch>) -> BranchRow {
    let mut row = BranchRow {
        path,
        state: "up-to-date",
        commit: None,
        pushed: false,
        message: None,
        problem: None,
    };
    match outcome {
        UpdateOutcome::Without => row.state = "without",
        UpdateOutcome::Current => {}
        UpdateOutcome::Problem(problem) => {
            row.state = "failed";
            row.problem = Some(problem);
        }
        UpdateOutcome::Interrupted => {
            row.state = "failed";
            row.problem = Some(INTERRUPTED.to_owned());
        }
        UpdateOutcome::Changes(_, made) => {
            row.state = match &made.state {
                BranchState::Written(_) => "written",
                BranchState::Current(_) => "unchanged",
                BranchState::Nothing => "compared",
            };
            row.commit = made.state.commit().map(str::to_owned);
            row.pushed = made.is_pushed;
            row.message = Some(made.message);
        }
    }
    row
}

fn print_branches(ui: &mut Ui, branch: &str, rows: &[BranchRow], is_dry: bool) -> Result {
    let mut counts = [0; 3];
    let mut problems: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in rows {
        let commit = row.commit.as_deref().map_or("", short_commit);
        let words = match row.state {
            "written" if row.pushed => format!("{branch} {commit}, pushed"),
            "written" => format!("{branch} {commit}"),
            "unchanged" => format!("{branch} {commit}, unchanged"),
            "compared" if is_dry => format!("{branch} would be written"),
            "compared" => {
                "would change; pass `--push` to create the branch on its server".to_owned()
            }
            "failed" => {
                counts[2] += 1;
                let problem = row.problem.as_deref().unwrap_or_default();
                // One sentence at the end is about all of these.
                if problem == INTERRUPTED {
                    continue;
                }
                problems.entry(problem).or_default().push(row.path.clone());
                continue;
            }
            _ => {
                counts[1] += 1;
                continue;
            }
        };
        counts[0] += 1;
        ui.print_line(format!("{}: {words}", row.path))?;
    }
    warn_by_problem(ui, &problems)?;
    let [changed, same, failed] = counts;
    ui.print_status(&format!(
        "{changed} to update, {same} up to date or without it, {failed} not updated"
    ))
}
