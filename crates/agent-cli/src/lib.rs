//! The program that executes `brief agent`.
//!
//! Its command line is that of `brief agent`, which `brief` parses, too, before it hands over: help, completions and manual
//! pages are whole without this program. Three calls are not for people: a worker of the sandbox (see `main`), and the questions
//! of `brief lint` (the module `answers`).

mod answers;
mod commands;
mod line_editor;
mod mcp;

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;
use std::sync::Arc;

use brief_cli::agent_program::{FENCES_ARGUMENT, PARSE_ARGUMENT, RELEASE_ARGUMENT};
use brief_cli::{Ui, agent, error, session, ui};
use brief_system::System;

/// Runs the program with the given arguments, the first of which is its name.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    ui: &mut Ui,
    system: Arc<dyn System>,
) -> ExitCode {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let first = args.get(1).and_then(|arg| arg.to_str());
    if let Some(release) = first.and_then(|arg| arg.strip_prefix(RELEASE_ARGUMENT)) {
        let own = env!("CARGO_PKG_VERSION");
        if release != own {
            let message = format!("version mismatch: `brief` {release}, `brief-agent` {own}");
            let hint = "install both from the same release";
            return answers::print_error(error::CommandError::usage(message).with_hint(hint), ui);
        }
        args.remove(1);
    }
    match args.get(1).map(OsString::as_os_str).and_then(OsStr::to_str) {
        Some(PARSE_ARGUMENT) => answers::parse_code(ui, &system),
        Some(FENCES_ARGUMENT) => answers::list_missing_fences(ui, system),
        Some("--version" | "-V") => answers::print_version(ui),
        _ => brief_cli::run_agent(args, ui, &system, commands::run),
    }
}
