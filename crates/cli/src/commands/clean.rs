//! `brief remove --all`

use brief_registry::install::{Extent, InstallRequest};

use crate::error::Result;
use crate::installation::{self, Installation, RunPurpose, WritingArgs};
use crate::session::Session;
use crate::ui::Ui;

/// Removes the installed files; brief.toml and brief.lock stay.
pub(super) fn run(ui: &mut Ui, session: &Session, is_dry: bool, writing: &WritingArgs) -> Result {
    let found = Installation::find(ui, session, &writing.place)?;
    // Where nothing was installed, there is nothing to write, not even our own directory.
    let is_empty = session.system().resolve(&found.project.own).is_err();
    let mode = installation::install_mode(is_dry || is_empty, false);
    let installation = Installation::find_for(ui, session, &writing.place, mode)?;
    let request = InstallRequest {
        mode,
        network: installation::network_mode(true),
        extent: Extent::Nothing,
        ..installation.create_request(session, writing, &[])
    };
    let asked = RunPurpose::ToTakeAway;
    installation.carry_out(ui, "remove", session, &request, writing, asked)?;
    Ok(())
}
