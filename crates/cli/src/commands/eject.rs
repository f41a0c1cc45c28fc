//! `brief eject`

use brief_clients::profile::ProfileScope;
use brief_engine::receipts;
use brief_registry::install::{EjectReport, InstallMode, LeftFile, eject_project};
use brief_runtime::TrustStore;
use brief_syntax::render::path_below;
use brief_system::{cache_directory, resolved_home, state_directory};
use brief_workflows::eject::{Ejection, plan_ejection};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::whole::format_count;
use crate::error::{CommandError, Result, refuse_if};
use crate::installation::{Installation, InstallationArg};
use crate::session::Session;
use crate::ui::Ui;

/// Remove brief, and leave plain client files
///
/// Takes hooks, servers and entries out of your own files byte for byte, and removes brief.toml, brief.lock and .brief. Files
/// that brief wrote as a whole stay, as plain files of your clients; so do files that you wrote, such as AGENTS.yaml.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct EjectArgs {
    /// Remove brief from your home directory instead of the project
    #[arg(long, short = 'g')]
    global: bool,

    /// Remove brief from the project and from your home directory
    #[arg(long, conflicts_with = "global")]
    all: bool,

    /// Show the plan without writing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was done in one place.
#[derive(Debug, Serialize)]
struct PlaceReport {
    place: &'static str,
    /// Files of the user without our part, and files of our own that are gone.
    changes: Vec<FileReport>,
    /// What stays of ours, with the reason.
    kept: Vec<KeptReport>,
    /// The number of files of items, which stay as plain files.
    left: usize,
}

#[derive(Debug, Serialize)]
struct FileReport {
    path: String,
    change: &'static str,
}

#[derive(Debug, Serialize)]
struct KeptReport {
    path: String,
    reason: String,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &EjectArgs) -> Result {
    let mut places = Vec::new();
    if !args.global {
        places.push(eject_place(ui, session, args, ProfileScope::Project)?);
    }
    if args.global || args.all {
        places.push(eject_place(ui, session, args, ProfileScope::Home)?);
    }
    let is_kept = places.iter().any(|place| !place.kept.is_empty());
    if args.json {
        let root = session.repository_root()?;
        let body = json!({ "dry_run": args.dry_run, "places": places });
        ui.print_json("eject", root.path(), &[], body)?;
        return refuse_if(is_kept);
    }
    for place in &places {
        print_place(ui, place, args.dry_run)?;
    }
    refuse_if(is_kept)
}

fn eject_place(
    ui: &mut Ui,
    session: &Session,
    args: &EjectArgs,
    scope: ProfileScope,
) -> Result<PlaceReport> {
    let system = session.system();
    let is_home = scope == ProfileScope::Home;
    let mode = if args.dry_run { InstallMode::Check } else { InstallMode::Write };
    let place = InstallationArg { global: is_home };
    let installation = Installation::find_for(ui, session, &place, mode)?;
    let base = if is_home {
        resolved_home(system).ok_or_else(|| {
            CommandError::refused("cannot find the home directory: `HOME` is not set")
        })?
    } else {
        session.repository_root()?.path().to_owned()
    };
    let known = super::hook::known_clients(session)?;
    let ejection = plan_ejection(system, &installation, &known, &base)?;
    let own = eject_project(system, &ejection.project, &ejection.files, args.dry_run)?;
    let mut report = PlaceReport::new(scope, &ejection, &own);
    if is_home {
        for directory in [state_directory(system), cache_directory(system)].into_iter().flatten() {
            if system.open_dir(&directory).is_err() {
                continue;
            }
            if !args.dry_run {
                system.remove_tree(&directory).map_err(|error| {
                    let directory = directory.display();
                    CommandError::refused(format!("cannot remove `{directory}`: {error}"))
                })?;
            }
            let path = format!("{}/", path_below(&base, &directory));
            report.changes.push(FileReport { path, change: "removed" });
        }
    } else if !args.dry_run {
        forget_project(session, &base)?;
    }
    Ok(report)
}

/// Removes what is recorded about a project in the user's state directory.
fn forget_project(session: &Session, root: &std::path::Path) -> Result {
    let system = session.system();
    let failed = |error: &dyn std::fmt::Display| {
        CommandError::refused(format!("cannot remove the records of this project: {error}"))
    };
    receipts::forget_project(system, root).map_err(|error| failed(&error))?;
    let mut store = TrustStore::open(system, root).map_err(|error| failed(&error))?;
    store.remove_projects(|entry| entry.was_at(root)).map_err(|error| failed(&error))?;
    Ok(())
}

impl PlaceReport {
    fn new(scope: ProfileScope, ejection: &Ejection, own: &EjectReport) -> PlaceReport {
        let change = |file: &LeftFile| FileReport {
            path: file.path.clone(),
            change: if file.after.is_some() { "updated" } else { "removed" },
        };
        let removed =
            own.removed.iter().map(|path| FileReport { path: path.clone(), change: "removed" });
        let kept = ejection.kept.iter();
        let kept = kept
            .map(|(path, reason)| KeptReport { path: path.clone(), reason: reason.clone() })
            .collect();
        let mut report = PlaceReport {
            place: if scope == ProfileScope::Home { "home" } else { "project" },
            changes: ejection.files.iter().map(change).chain(removed).collect(),
            kept,
            left: ejection.outputs.len(),
        };
        if own.backups {
            report.kept.push(KeptReport {
                path: ejection.project.own.join("backups").display().to_string(),
                reason: "holds copies of your files that installed items replaced".to_owned(),
            });
        }
        report
    }
}

fn print_place(ui: &mut Ui, place: &PlaceReport, is_dry: bool) -> Result {
    let (where_, prefix) = match place.place {
        "home" => ("your home directory", "~/"),
        _ => ("this project", ""),
    };
    for FileReport { path, change } in &place.changes {
        let verb = match (*change, is_dry) {
            ("updated", true) => "would restore",
            ("updated", false) => "restored",
            (_, true) => "would remove",
            (_, false) => "removed",
        };
        let prefix = if path.starts_with('/') { "" } else { prefix };
        ui.print_status(&format!("{verb} {prefix}{path}"))?;
    }
    for KeptReport { path, reason } in &place.kept {
        ui.print_warning(&format!("kept {path}: {reason}"))?;
    }
    if place.changes.is_empty() && place.kept.is_empty() {
        return ui.print_status(&format!("no trace of brief in {where_}"));
    }
    if place.left > 0 {
        ui.print_status(&format!(
            "{} stay as plain files of your clients",
            format_count(place.left, "installed file")
        ))?;
    }
    Ok(())
}
