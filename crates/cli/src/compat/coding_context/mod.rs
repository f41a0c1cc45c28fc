//! The command line of `coding-context`.

mod arguments;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use brief_engine::tasks::{Amount, HandEdits, PromptLayout, RenderedPart};
use brief_engine::{System, estimate_tokens};
use brief_runtime::AssembledPrompt;
use brief_runtime::assembly::RulesFile;

use crate::assembly::{self, assemble_prompt, print_prompt_diagnostics, write_rules};
use crate::error::{ErrorKind, Result, exit_code};
use crate::session::Session;
use crate::ui::Ui;

use arguments::{CodingContextArguments, Misuse};

const USAGE: &str = "\
Usage:
  coding-context [options] <task-name> [user-prompt]

Options:
  -C dir              Work as if started in dir
  -d dir|url          Search this directory first (repeatable)
  -D dir|url          Search this directory last, if it is there (repeatable)
  -m file|url         Search the directories that this file names, one in each line
  -p key=value        Fill ${key} with value (repeatable)
  -s key=value        Use only what is for key=value, or for every key (repeatable)
  -a agent            Use only what is for this agent, or for every one
  -A agent            The same as -a
  -r                  Continue: select resume=true, and leave out rules and skills
  --skip-bootstrap    Leave out rules and skills, and run no bootstrap script
  -w                  Write the rules to the file that the agent reads
  -h                  Show this help
";

/// Runs `coding-context` with the arguments after its name.
pub(crate) fn run(args: &[OsString], ui: &mut Ui, system: Arc<dyn System>) -> ExitCode {
    match CodingContextArguments::parse(args) {
        Ok(arguments) => {
            let printed = print_prompt(ui, system, &arguments).and_then(|()| ui.flush());
            exit_code(printed, ui)
        }
        // If standard error is closed, only the exit code is left.
        Err(Misuse::Help) => {
            let _ = ui.warn_raw(USAGE);
            ExitCode::SUCCESS
        }
        // The error comes last, where it is seen.
        Err(misuse) => {
            let _ = ui.warn_raw(USAGE).and_then(|()| ui.warn_raw("\n"));
            let _ = ui.print_error(&misuse.to_string());
            let kind = if misuse.is_about_flags() { ErrorKind::Usage } else { ErrorKind::Refused };
            kind.exit_code()
        }
    }
}

fn print_prompt(
    ui: &mut Ui,
    system: Arc<dyn System>,
    arguments: &CodingContextArguments,
) -> Result {
    let session = Session::start(system, arguments.directory.as_deref())?;
    let assembled = assemble_prompt(ui, &session, &arguments.options)?;
    let AssembledPrompt { prompt, root, .. } = &assembled;
    print_prompt_diagnostics(ui, &prompt.diagnostics, root)?;
    let mut layout = PromptLayout::WHOLE;
    if arguments.writes_rules {
        let agent = prompt.agent.ok_or_else(assembly::no_agent_to_write_for)?;
        (layout.rules, layout.skills) = (RenderedPart::LeftOut, RenderedPart::LeftOut);
        if arguments.options.amount == Amount::Everything {
            write_rules(ui, &session, agent, prompt, RulesFile::Home, HandEdits::Keep)?;
        }
    }
    let text = prompt.render(layout);
    let tokens = estimate_tokens(&String::from_utf8_lossy(&text));
    ui.print_status(&format!("Total estimated tokens: {tokens}"))?;
    ui.print_text(&text)
}
