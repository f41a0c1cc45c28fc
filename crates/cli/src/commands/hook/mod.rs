//! `brief hook`

mod claude;
mod install;
mod settings_file;
mod uninstall;

use std::ffi::OsString;
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

impl HookArgs {
    /// Reads the few words that a client's settings have; `None` for everything else, right or wrong.
    ///
    /// A client starts a hook many times a minute, and should not pay for the definitions of all commands:
    /// reading them takes more memory and longer than the answer.
    pub(crate) fn as_clients_type(words: &[OsString]) -> Option<HookArgs> {
        let repeat = match words {
            [hook, client, rest @ ..] if hook == "hook" && client == "claude" => match rest {
                [] => false,
                [option] if option == "--repeat" => true,
                _ => return None,
            },
            _ => return None,
        };
        Some(HookArgs { command: HookCommand::Claude(claude::ClaudeArgs { repeat }) })
    }
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

/// Returns whether there is a hook that delivers to a client.
pub(crate) fn delivers_to(client: &str) -> bool {
    <ClientArg as ValueEnum>::from_str(client, false).is_ok()
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::Cli;
    use crate::commands::Command;

    /// Whatever is read here, the whole command line reads in the same way.
    #[test]
    fn a_hook_is_read_as_the_command_line_reads_it() {
        const WORDS: [&str; 7] = ["hook", "claude", "--repeat", "install", "-C", ".", "--help"];
        let mut known = 0;
        for number in 0..WORDS.len().pow(4) {
            let digits = (0..4).map(|place| number / WORDS.len().pow(place) % WORDS.len());
            let typed: Vec<OsString> = digits.map(|digit| WORDS[digit].into()).collect();
            for length in 0..=typed.len() {
                let Some(read) = HookArgs::as_clients_type(&typed[..length]) else { continue };
                let whole =
                    Cli::try_parse_from([OsString::from("brief")].iter().chain(&typed[..length]));
                let Command::Hook(whole) = whole.unwrap().command else { panic!("{typed:?}") };
                assert_eq!(format!("{read:?}"), format!("{whole:?}"), "{typed:?}");
                known += 1;
            }
        }
        assert!(known > 0);
    }
}
