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
/// Sources stay at the commits of brief.lock; `brief update` moves them. Files you edited are kept. Exits 1 if a part could
/// not be done; the rest is.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a user can set")]
pub(crate) struct SyncArgs {
    /// Write exactly what brief.lock records, or fail
    #[arg(long)]
    frozen: bool,

    /// Check without writing; list files that differ and exit 1
    #[arg(long)]
    check: bool,

    /// Show the plan without writing
    #[arg(long)]
    dry_run: bool,

    /// Show the changes of each file without writing
    #[arg(long)]
    diff: bool,

    /// Use only the cache
    #[arg(long)]
    offline: bool,

    /// Re-run whenever brief.toml or a local source changes
    #[arg(long, conflicts_with_all = ["check", "dry_run", "diff", "json"])]
    watch: bool,

    #[command(flatten)]
    writing: WritingArgs,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &SyncArgs) -> Result {
    if !args.watch {
        return sync_once(ui, session, args);
    }
    let project = installation::resolve_project_paths(session, &args.writing.place)?;
    watching::repeat_on_change(
        ui,
        session,
        |ui| sync_once(ui, session, args),
        || {
            let manifest = project.read_manifest(session.system()).ok().flatten();
            let manifest = manifest.and_then(|source| Manifest::parse(&source).ok());
            WatchedFiles::of_project(session.system(), &project, manifest.as_ref())
        },
    )
}

fn sync_once(ui: &mut Ui, session: &Session, args: &SyncArgs) -> Result {
    let mode = installation::install_mode(args.check || args.dry_run, args.diff);
    let installation = Installation::find_for(ui, session, &args.writing.place, mode)?;
    let clients = installation.wanted_clients(&[])?;
    let request = InstallRequest {
        mode,
        locking: if args.frozen { Locking::Frozen } else { Locking::Follow },
        network: installation::network_mode(args.offline),
        ..installation.create_request(session, &args.writing, &clients)
    };
    let asked = RunPurpose::ToWrite;
    let report = installation.carry_out(ui, "sync", session, &request, &args.writing, asked)?;
    refuse_if(mode != InstallMode::Write && args.check && report.has_drift())
}
