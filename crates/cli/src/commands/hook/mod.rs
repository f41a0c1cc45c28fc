//! `brief hook`

mod claude;
mod install;
mod settings_file;
mod uninstall;

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};

use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) use settings_file::{Edited, SettingsFile};

/// Answer a client's hook, or set it up
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    command: HookCommand,
}

#[derive(Debug, Subcommand)]
enum HookCommand {
    Claude(claude::ClaudeArgs),
    Install(install::InstallArgs),
    Uninstall(uninstall::UninstallArgs),
}

/// The clients whose hooks can be set up.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ClientArg {
    /// Claude Code
    Claude,
}

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &HookArgs,
) -> Result<ExitCode, CommandError> {
    match &args.command {
        HookCommand::Claude(args) => claude::run(ui, session, args),
        HookCommand::Install(args) => install::run(ui, session, args),
        HookCommand::Uninstall(args) => uninstall::run(ui, session, args),
    }
}
