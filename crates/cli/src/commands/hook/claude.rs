//! `brief hook claude`

use std::process::ExitCode;

use brief_serve::hook::{Guidance, HookOptions, Repeat};
use brief_syntax::limits;
use clap::Args;

use crate::error::{CommandError, ErrorKind};
use crate::session::Session;
use crate::ui::Ui;

/// Answer Claude Code's hook: JSON on standard input, JSON on standard output
///
/// The answer is what `brief context --client claude` says about the file, less what this
/// conversation was told before. Exits with 0, or with 1 when the input makes no sense. It never blocks a tool call and never
/// approves one.
#[derive(Debug, Args)]
pub(crate) struct ClaudeArgs {
    /// Deliver an entry each time it applies, not once per conversation
    #[arg(long)]
    pub(super) repeat: bool,

    /// Deliver at most N tokens in one conversation
    #[arg(long, value_name = "N", default_value_t = limits::HOOK_TOKENS)]
    pub(super) budget: usize,
}

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &ClaudeArgs,
) -> Result<ExitCode, CommandError> {
    if ui.can_ask() {
        ui.status("waiting for the JSON that Claude Code writes to this program's standard input")?;
        ui.hint("`brief hook install claude` sets that up; `brief context PATH` answers a person")?;
    }
    let repeat = if args.repeat { Repeat::Always } else { Repeat::Once };
    let options =
        HookOptions { program: "brief", repeat, guidance: Guidance::All, budget: args.budget };
    match super::answer(ui, session, options) {
        Ok(outcome) => {
            // Few people read this; the answer is what counts.
            ui.mention(&outcome.diagnostics, session.directory())?;
            if outcome.found_nothing {
                ui.warning("no guidance found on the way to the file")?;
            }
            if let Some(answer) = outcome.answer {
                ui.print_data(&answer)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            ui.error(&error.to_string())?;
            Ok(ErrorKind::Refused.exit_code())
        }
    }
}
