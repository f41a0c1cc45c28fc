//! `brief sync`

use std::collections::BTreeMap;
use std::process::ExitCode;

use brief_registry::install::{Extent, Locking, Mode, Refresh, Request};
use clap::Args;

use crate::error::{CommandError, ErrorKind};
use crate::installation::{self, Conflicts, Installation, Where};
use crate::session::Session;
use crate::ui::Ui;

/// Make the project what brief.toml and brief.lock say
///
/// Sources stay at the commits of brief.lock; `brief update` moves them. Only files that are recorded as
/// ours are replaced or removed, and of those only the ones that nobody has changed since. Exits with 1
/// when something could not be done; the rest is.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a user can set")]
pub(crate) struct SyncArgs {
    /// Refuse to change brief.lock: what is written is exactly what is locked, or nothing
    #[arg(long)]
    frozen: bool,

    /// Write nothing; exit with 1 when something is not as it should be, and name each file and why
    #[arg(long)]
    check: bool,

    /// Write nothing; tell what would be done
    #[arg(long)]
    dry_run: bool,

    /// Write nothing; show how each file would change
    #[arg(long)]
    diff: bool,

    /// Fetch nothing; use what was fetched before
    #[arg(long)]
    offline: bool,

    #[command(flatten)]
    conflicts: Conflicts,

    #[command(flatten)]
    place: Where,

    /// Print JSON: sources, items, files, and what is wrong
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &SyncArgs,
) -> Result<ExitCode, CommandError> {
    let installation = match Installation::find(ui, session, &args.place)? {
        Ok(installation) => installation,
        Err(code) => return Ok(code),
    };
    let clients = installation.wanted(&[])?;
    let mode = installation::mode(args.check || args.dry_run, args.diff);
    let request = Request {
        edits: &[],
        refresh: Refresh::None,
        commits: BTreeMap::new(),
        mode,
        locking: if args.frozen { Locking::Frozen } else { Locking::Follow },
        network: installation::network(args.offline),
        clients: &clients,
        adopt: installation.chosen(session, &args.conflicts.adopt),
        force: installation.chosen(session, &args.conflicts.force),
        extent: Extent::Manifest,
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
    let is_stale = mode != Mode::Write && args.check && report.has_drift();
    let failed = report.has_errors() || is_stale;
    Ok(if failed { ErrorKind::Refused.exit_code() } else { ExitCode::SUCCESS })
}
