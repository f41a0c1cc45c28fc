//! `brief hook uninstall`

use std::process::ExitCode;

use brief_clients::settings::{self, brief_hooks};
use clap::Args;

use super::ClientArg;
use super::settings_file::{SettingsFile, SettingsFileError};
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
    let failed = |error: SettingsFileError| {
        CommandError::refused(format!("`{}` {error}", SettingsFile::NAME))
            .with_hint("the file was left as it is")
    };
    let file = SettingsFile::open(session.system(), root.path()).map_err(failed)?;
    let left = match file.text() {
        Some(text) => settings::uninstall(text, &brief_hooks(&args.command)),
        None => Ok(None),
    };
    match left.map_err(SettingsFileError::Settings).map_err(failed)? {
        Some(text) => {
            file.write(session.system(), &text).map_err(failed)?;
            ui.status(&format!("removed the hook from {}", file.name))?;
        }
        None => ui.status(&format!("the hook is not installed in {}", file.name))?,
    }
    Ok(ExitCode::SUCCESS)
}
