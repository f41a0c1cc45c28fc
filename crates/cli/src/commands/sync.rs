//! `brief sync`

use brief_registry::WatchedFiles;
use brief_registry::install::{InstallMode, InstallRequest, Locking};
use brief_registry::manifest::Manifest;
use clap::Args;

use crate::error::{Result, refuse_if};
use crate::installation::{self, Installation, RunPurpose, WritingArgs};
use crate::session::Session;
use crate::ui::Ui;
use crate::watching;

/// Make the project match brief.toml and brief.lock
///
/// Sources stay at the commits of brief.lock; `brief update` moves them. Only files that are recorded as
/// ours are replaced or removed, and of those only the unchanged ones. Exits with 1
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

    /// Write nothing; show what would be done
    #[arg(long)]
    dry_run: bool,

    /// Write nothing; show how each file would change
    #[arg(long)]
    diff: bool,

    /// Fetch nothing; use the cache
    #[arg(long)]
    offline: bool,

    /// Do it again whenever brief.toml or a source that is a directory changes, until ^C
    #[arg(long, conflicts_with_all = ["check", "dry_run", "diff", "json"])]
    watch: bool,

    #[command(flatten)]
    writing: WritingArgs,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &SyncArgs) -> Result {
    if !args.watch {
        return sync(ui, session, args);
    }
    let project = installation::project(session, &args.writing.place)?;
    watching::repeat(
        ui,
        session,
        |ui| sync(ui, session, args),
        || {
            let manifest = project.read_manifest(session.system()).ok().flatten();
            let manifest = manifest.and_then(|source| Manifest::read(&source).ok());
            WatchedFiles::of_project(session.system(), &project, manifest.as_ref())
        },
    )
}

fn sync(ui: &mut Ui, session: &Session, args: &SyncArgs) -> Result {
    let mode = installation::mode(args.check || args.dry_run, args.diff);
    let installation = Installation::find_for(ui, session, &args.writing.place, mode)?;
    let clients = installation.wanted(&[])?;
    let request = InstallRequest {
        mode,
        locking: if args.frozen { Locking::Frozen } else { Locking::Follow },
        network: installation::network(args.offline),
        ..installation.request(session, &args.writing, &clients)
    };
    let asked = RunPurpose::ToWrite;
    let report = installation.carry_out(ui, "sync", session, &request, &args.writing, asked)?;
    refuse_if(mode != InstallMode::Write && args.check && report.has_drift())
}
