//! `brief completions`
//!
//! The script asks the program itself for candidates, so that names of tasks and of installed items
//! complete, too.

use std::ffi::OsString;

use brief_system::System;
use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::env::{Bash, Elvish, Fish, Powershell, Shells, Zsh};

use crate::error::{CommandError, Result};
use crate::nushell::Nushell;
use crate::session::Session;
use crate::ui::Ui;

/// The variable that a completion script sets; its value names the shell.
const VARIABLE: &str = "BRIEF_COMPLETE";

const NAME: &str = "brief";

/// The shells that have a script.
const SHELLS: Shells<'_> = Shells(&[&Bash, &Elvish, &Fish, &Nushell, &Powershell, &Zsh]);

/// Print a completion script for a shell
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Name of the shell
    #[arg(value_parser = shell_parser())]
    shell: String,
}

fn shell_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(SHELLS.names().collect::<Vec<_>>())
}

pub(crate) fn run(ui: &mut Ui, _: &Session, args: &CompletionsArgs) -> Result {
    let mut script = Vec::new();
    if let Some(shell) = SHELLS.completer(&args.shell) {
        shell.write_registration(VARIABLE, NAME, NAME, NAME, &mut script)?;
    }
    ui.print_raw(&String::from_utf8_lossy(&script))
}

/// Offers `sync` and its alias, of which the shell would otherwise get only one.
fn with_both_names(command: clap::Command) -> clap::Command {
    let Some(sync) = command.find_subcommand("sync") else { return command };
    let named = |name: &'static str| {
        let about = sync.get_about().cloned().unwrap_or_default();
        clap::Command::new(name).about(about).args(sync.get_arguments().cloned())
    };
    let (plain, other) = (named("sync"), named("install"));
    command.mut_subcommand("sync", |_| plain).subcommand(other)
}

/// Answers a completion script; `None` if none asks.
pub(crate) fn answer_completion(
    ui: &mut Ui,
    system: &dyn System,
    args: &[OsString],
) -> Option<Result> {
    let shell = system.env(VARIABLE)?;
    let shell = SHELLS.completer(shell.to_str()?)?;
    // The words of the line follow `--`.
    let words = args.iter().skip_while(|arg| *arg != "--").skip(1).cloned().collect();
    let mut candidates = Vec::new();
    let written = shell.write_complete(
        &mut with_both_names(crate::build_command_line()),
        words,
        system.current_dir().ok().as_deref(),
        &mut candidates,
    );
    let written = written.map_err(CommandError::from);
    Some(written.and_then(|()| ui.print_raw(&String::from_utf8_lossy(&candidates))))
}
