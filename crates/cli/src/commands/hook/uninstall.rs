//! `brief hook uninstall`

use std::process::ExitCode;

use brief_clients::settings::{self, brief_hooks};
use clap::Args;

use super::ClientArg;
use super::install::shown;
use super::settings_file::{LocalSettings, SettingsEdit};
use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

/// Remove a client's hook from this repository
///
/// Removes what `brief hook install` added, and nothing else.
#[derive(Debug, Args)]
pub(super) struct UninstallArgs {
    /// The client
    client: ClientArg,

    /// The command that was installed
    #[arg(long, value_name = "COMMAND", default_value = "brief hook claude")]
    command: String,
}

pub(super) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &UninstallArgs,
) -> Result<ExitCode, CommandError> {
    let ClientArg::Claude = args.client;
    let hooks = brief_hooks(&args.command);
    let uninstall = |text: Option<&str>| match text {
        Some(text) => settings::uninstall(text, &hooks),
        None => Ok(None),
    };
    // The top of the repository, and the directory itself, where an earlier version installed it.
    let (root, here) = (session.repository()?, session.root()?);
    let others = Some(&here).filter(|here| here.path() != root.path());
    let mut is_removed = false;
    for root in std::iter::once(&root).chain(others) {
        if LocalSettings::edit(session.system(), root.path(), uninstall)? == SettingsEdit::Changed {
            is_removed = true;
            ui.status(&format!("removed the hook from {}", shown(session, root)?))?;
        }
    }
    if !is_removed {
        ui.status(&format!("the hook is not installed in {}", shown(session, &root)?))?;
    }
    Ok(ExitCode::SUCCESS)
}
