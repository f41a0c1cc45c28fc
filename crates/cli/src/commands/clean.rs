//! `brief clean`

use brief_registry::install::{Extent, InstallRequest};
use clap::Args;

use crate::error::Result;
use crate::installation::{self, Installation, RunPurpose, WritingArgs};
use crate::session::Session;
use crate::ui::Ui;

/// Remove the installed files, and nothing else
///
/// Files that were changed by hand stay, and what a file of ours has taken the place of comes back.
/// brief.toml and brief.lock stay as they are: `brief sync` brings everything back.
#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// Write nothing; show what would be done
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    writing: WritingArgs,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &CleanArgs) -> Result {
    let found = Installation::find(ui, session, &args.writing.place)?;
    // Where nothing was installed, there is nothing to write, not even our own directory.
    let is_empty = session.system().resolve(&found.project.own).is_err();
    let mode = installation::mode(args.dry_run || is_empty, false);
    let installation = Installation::find_for(ui, session, &args.writing.place, mode)?;
    let request = InstallRequest {
        mode,
        network: installation::network(true),
        extent: Extent::Nothing,
        ..installation.request(session, &args.writing, &[])
    };
    let asked = RunPurpose::ToTakeAway;
    installation.carry_out(ui, "clean", session, &request, &args.writing, asked)?;
    Ok(())
}
