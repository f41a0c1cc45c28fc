//! `brief hook uninstall`

use std::process::ExitCode;

use brief_clients::settings::{self, brief_hooks};
use clap::Args;

use super::ClientArg;
use super::settings_file::{Edited, SettingsFile};
use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

/// Remove a client's hook from this project
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
    let root = session.root()?;
    let hooks = brief_hooks(&args.command);
    let uninstall = |text: Option<&str>| match text {
        Some(text) => settings::uninstall(text, &hooks),
        None => Ok(None),
    };
    match SettingsFile::edit(session.system(), root.path(), uninstall)? {
        Edited::Changed => ui.status(&format!("removed the hook from {}", SettingsFile::NAME))?,
        Edited::Unchanged => {
            ui.status(&format!("the hook is not installed in {}", SettingsFile::NAME))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
