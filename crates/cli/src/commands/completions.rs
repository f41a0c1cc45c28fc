//! `brief completions`

use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use crate::error::CommandError;
use crate::ui::Ui;

/// Print a completion script for a shell
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell to complete in
    shell: Shell,
}

pub(crate) fn run(ui: &mut Ui, args: &CompletionsArgs) -> Result<ExitCode, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "brief", &mut script);
    ui.print_raw(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
