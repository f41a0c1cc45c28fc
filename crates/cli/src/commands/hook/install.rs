//! `brief hook install`

use std::process::ExitCode;

use brief_clients::settings::{self, brief_hooks};
use brief_dialects::capability::Capability;
use brief_engine::Root;
use clap::Args;

use super::ClientArg;
use super::settings_file::{LocalSettings, SettingsEdit};
use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

/// Set up a client's hook in this repository, for you alone
///
/// For Claude Code: adds to `.claude/settings.local.json` at the top of the repository, and touches nothing else in it.
#[derive(Debug, Args)]
pub(super) struct InstallArgs {
    /// The client
    client: ClientArg,

    /// The command that the client runs, if `brief` is not on its PATH
    #[arg(long, value_name = "COMMAND", default_value = "brief hook claude")]
    command: String,
}

pub(super) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &InstallArgs,
) -> Result<ExitCode, CommandError> {
    let ClientArg::Claude = args.client;
    if let Some(decision) = session.policy()?.capability(Capability::Hooks) {
        return Err(CommandError::refused(format!("the hook is not installed: {decision}"))
            .with_hint("who wrote the policy can change it"));
    }
    // The client reads the settings of the repository from any directory in it.
    let root = session.repository()?;
    let hooks = brief_hooks(&args.command);
    let install =
        |text: Option<&str>| settings::install(Some(text.unwrap_or(settings::NEW_FILE)), &hooks);
    let shown = shown(session, &root)?;
    match LocalSettings::edit(session.system(), root.path(), install)? {
        SettingsEdit::Changed => {
            ui.status(&format!("installed the hook in {shown}"))?;
            ui.hint("it takes effect in the next session of Claude Code")?;
        }
        SettingsEdit::Unchanged => {
            ui.status(&format!("the hook is already installed in {shown}"))?;
        }
    }
    if args.command.starts_with("brief ") && !is_on_path(session) {
        ui.warning("`brief` is not on PATH, so Claude Code will not find it")?;
        ui.hint(
            "copy it to a directory on PATH, or pass --command \"/path/to/brief hook claude\"",
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the settings file for a message, absolute if it is outside the current directory.
pub(super) fn shown(session: &Session, root: &Root) -> Result<String, CommandError> {
    let is_here = session.root()?.path() == root.path();
    let path = root.path().join(LocalSettings::NAME);
    Ok(if is_here { LocalSettings::NAME.to_owned() } else { path.display().to_string() })
}

fn is_on_path(session: &Session) -> bool {
    let Some(path) = session.system().env("PATH") else { return false };
    let program = format!("brief{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path)
        .any(|directory| session.system().resolve(&directory.join(&program)).is_ok())
}
