//! `brief hook`

mod claude;
mod install;
mod settings_file;
mod uninstall;

use std::ffi::OsString;
use std::process::ExitCode;

use brief_serve::hook::{HookError, HookOptions, HookOutcome, answer_input};
use brief_syntax::limits;
use brief_syntax::system::Deadline;
use clap::{Args, Subcommand, ValueEnum};

use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) use settings_file::{LocalSettings, SettingsEdit};

/// Answer a client's hook, or set it up
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    command: HookCommand,
}

impl HookArgs {
    /// Parses the few forms in clients' settings; `None` for all others, valid or not.
    ///
    /// A client starts a hook many times a minute and should not pay for the definitions of all
    /// commands: they take more memory and time than the answer.
    pub(crate) fn as_clients_type(words: &[OsString]) -> Option<HookArgs> {
        let [hook, client, rest @ ..] = words else { return None };
        if hook != "hook" || client != "claude" {
            return None;
        }
        let (mut repeat, mut budget) = (false, None);
        let mut rest = rest.iter();
        while let Some(option) = rest.next() {
            match option.to_str()? {
                "--repeat" if !repeat => repeat = true,
                "--budget" if budget.is_none() => {
                    budget = Some(rest.next()?.to_str()?.parse().ok()?);
                }
                _ => return None,
            }
        }
        let budget = budget.unwrap_or(limits::HOOK_TOKENS);
        Some(HookArgs { command: HookCommand::Claude(claude::ClaudeArgs { repeat, budget }) })
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

/// Returns whether a hook delivers to a client.
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

/// Answers the call on standard input. After the deadline the process ends silently with exit code
/// 0, and the client continues without an answer.
pub(crate) fn answer(
    ui: &mut Ui,
    session: &Session,
    options: HookOptions,
) -> Result<HookOutcome, HookError> {
    let deadline = Deadline::start(brief_serve::hook::deadline(session.system()));
    let outcome = answer_input(session.shared_system(), ui.take_stdin(), options);
    deadline.lift();
    outcome
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::Cli;
    use crate::commands::Command;

    /// The whole command line reads every such call in the same way.
    #[test]
    fn a_hook_is_read_as_the_command_line_reads_it() {
        const WORDS: [&str; 9] =
            ["hook", "claude", "--repeat", "--budget", "7", "install", "-C", ".", "--help"];
        let mut known = 0;
        for number in 0..WORDS.len().pow(5) {
            let digits = (0..5).map(|place| number / WORDS.len().pow(place) % WORDS.len());
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
