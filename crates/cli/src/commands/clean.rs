//! `brief clean`

use std::collections::BTreeMap;
use std::process::ExitCode;

use brief_registry::install::{Extent, Locking, Refresh, Request};
use clap::Args;

use crate::error::{CommandError, ErrorKind};
use crate::installation::{self, Conflicts, Installation, Where};
use crate::session::Session;
use crate::ui::Ui;

/// Remove what was installed, and nothing else
///
/// Files that were changed by hand stay, and what a file of ours has taken the place of comes back.
/// brief.toml and brief.lock stay as they are: `brief sync` brings everything back.
#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// Write nothing; tell what would be done
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    conflicts: Conflicts,

    #[command(flatten)]
    place: Where,

    /// Print JSON: files, and what is wrong
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &CleanArgs,
) -> Result<ExitCode, CommandError> {
    let installation = match Installation::find(ui, session, &args.place)? {
        Ok(installation) => installation,
        Err(code) => return Ok(code),
    };
    let mode = installation::mode(args.dry_run, false);
    let request = Request {
        edits: &[],
        refresh: Refresh::None,
        commits: BTreeMap::new(),
        mode,
        locking: Locking::Follow,
        network: installation::network(true),
        clients: &[],
        adopt: installation.chosen(session, &args.conflicts.adopt),
        force: installation.chosen(session, &args.conflicts.force),
        extent: Extent::Nothing,
    };
    let report = match installation.sync(ui, session, &request)? {
        Ok(report) => report,
        Err(code) => return Ok(code),
    };
    if args.json {
        installation::print_json(ui, &installation.project.outputs, &report)?;
    } else {
        installation::print_report(ui, &installation, &report, mode)?;
    }
    let failed = report.has_errors();
    Ok(if failed { ErrorKind::Refused.exit_code() } else { ExitCode::SUCCESS })
}
