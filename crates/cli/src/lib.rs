//! The command line: it reads arguments, asks the library, and prints.
//!
//! Every command is one file in `commands`, with what was typed (`…Args`) and a function that runs
//! it. Invoked through a link that bears another tool's name, the program takes that tool's
//! command line instead (`compat`).

mod assembly;
mod commands;
mod compat;
mod error;
mod explain;
mod installation;
pub mod lines;
mod session;
mod ui;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use brief_syntax::System;
use clap::{CommandFactory, Parser};

use commands::Command;
use error::{CommandError, ErrorKind};
use session::Session;
pub use ui::Ui;

/// Give a coding agent exactly the guidance it needs, and show why
#[derive(Debug, Parser)]
#[command(name = "brief", version, max_term_width = 100)]
pub struct Cli {
    /// Work as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true)]
    directory: Option<std::path::PathBuf>,

    #[command(subcommand)]
    command: Command,
}

/// Returns the definition of the command line, for generated documentation.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the program with the given arguments, the first of which is its name.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    ui: &mut Ui,
    system: Arc<dyn System>,
) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let name = args.first().map(Path::new).and_then(Path::file_stem).unwrap_or_default();
    match name.to_str() {
        Some("sctx") => return compat::sctx::run(&args[1..], ui, system),
        Some("coding-context") => return compat::coding_context::run(&args[1..], ui, system),
        _ => {}
    }
    match run_brief(&args, ui, system) {
        Ok(code) => code,
        Err(error) => error.report(ui),
    }
}

fn run_brief(
    args: &[OsString],
    ui: &mut Ui,
    system: Arc<dyn System>,
) -> Result<ExitCode, CommandError> {
    if let Some(answer) = commands::completions::answer(ui, system.as_ref(), args) {
        return answer;
    }
    if let Some(hook) = commands::hook::HookArgs::as_clients_type(args.get(1..).unwrap_or_default())
    {
        let session = Session::start(system, None)?;
        return commands::hook::run(ui, &session, &hook);
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return print_usage(&error, ui),
    };
    let session = Session::start(system, cli.directory.as_deref())?;
    commands::run(ui, &session, &cli.command)
}

/// Help and version are data; a wrong call is not.
fn print_usage(error: &clap::Error, ui: &mut Ui) -> Result<ExitCode, CommandError> {
    let rendered = error.render();
    let text = if ui.has_colour() { rendered.ansi().to_string() } else { rendered.to_string() };
    if error.use_stderr() {
        ui.warn_raw(&text)?;
        Ok(ErrorKind::Usage.exit_code())
    } else {
        ui.print_raw(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}
