//! The command line: it parses arguments, calls the library, and prints.
//!
//! Every command is one file in `commands`, with its arguments (`…Args`) and a function that runs
//! it. Called through a link with another tool's name, the program takes that tool's command line
//! instead (`compat`).

pub mod agent_program;
mod assembly;
mod clock;
mod commands;
mod compat;
mod complete;
mod directory_names;
pub mod error;
mod explain;
mod help;
mod installation;
mod json_buffer;
mod nushell;
mod output_options;
mod paging;
mod renamed;
pub mod session;
mod styles;
mod surroundings;
pub mod ui;
mod watching;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use brief_syntax::text::visible_text;
use brief_system::System;
use clap::{Args, CommandFactory, FromArgMatches, Parser};

pub use assembly::trust_command;
pub use commands::agent;
use commands::agent::AgentArgs;
use commands::{Command, StatusArgs};
pub use commands::{find_project_servers, print_created, write_new};
use error::{CommandError, ErrorKind, Result};
use help::Overview;
use output_options::{ColorArg, OutputOptions};
use session::Session;
pub use surroundings::warn_of_wide_root;
pub use ui::Ui;

/// Find out what your coding agents are told about a file, and why
#[derive(Debug, Parser)]
#[command(name = "brief", version, max_term_width = 100)]
struct GlobalOptions {
    /// Run as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true, help_heading = "Global options")]
    directory: Option<std::path::PathBuf>,

    #[command(flatten)]
    showing: OutputOptions,
}

/// A call, as it was typed.
#[derive(Debug)]
struct Cli {
    options: GlobalOptions,
    command: Command,
}

impl Cli {
    /// Parses the command line in today's words. The definitions of all commands take longer to build than many answers, so the
    /// command that is named is tried alone. Help, suggestions and messages come from the whole definition.
    fn parse_arguments(args: &[OsString], help_width: usize) -> Result<Cli, clap::Error> {
        if let Some(overview) = Overview::from_arguments(args) {
            return Err(overview.render(help_width));
        }
        let mut words = args.iter().skip(1).filter_map(|arg| arg.to_str());
        let alone = words.find_map(Command::definition).and_then(|command| {
            GlobalOptions::command().subcommand(command).try_get_matches_from(args).ok()
        });
        let matches = match alone {
            Some(matches) => matches,
            None if is_version(args) => GlobalOptions::command().try_get_matches_from(args)?,
            None if let Some(status) = Cli::read_status(args) => return Ok(status),
            None => {
                let matches =
                    build_command_line().term_width(help_width).try_get_matches_from(args);
                matches.map_err(|mut error| {
                    renamed::suggest_command(&mut error, args);
                    error
                })?
            }
        };
        let options = GlobalOptions::from_arg_matches(&matches)?;
        match Command::read(&matches)? {
            Some(Command::Agent(agent)) => {
                let words = args[1..].to_vec();
                Ok(Cli { options, command: Command::Agent(AgentArgs { words, ..agent }) })
            }
            Some(command) => Ok(Cli { options, command }),
            None => Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand)),
        }
    }
}

impl Cli {
    /// Reads a call without a command, which shows the status; `None` for any other call.
    fn read_status(args: &[OsString]) -> Option<Cli> {
        let definition = StatusArgs::augment_args(GlobalOptions::command());
        let matches = definition.try_get_matches_from(args).ok()?;
        let options = GlobalOptions::from_arg_matches(&matches).ok()?;
        let status = StatusArgs::from_arg_matches(&matches).ok()?;
        Some(Cli { options, command: Command::Status(status) })
    }
}

/// Returns whether the call asks for the version and nothing else.
fn is_version(args: &[OsString]) -> bool {
    matches!(args, [_, only] if only == "--version" || only == "-V")
}

/// Returns the definition of the whole command line.
pub fn build_command_line() -> clap::Command {
    let commands = Command::NAMES.iter().filter_map(|name| Command::definition(name));
    help::with_all_groups(GlobalOptions::command().subcommands(commands))
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
    let outcome = run_brief(&args, ui, Arc::clone(&system));
    let refuses = outcome.as_ref().is_err_and(CommandError::is_refused_call);
    let code = error::exit_code(outcome, ui);
    // If standard error is closed, only the exit code is left.
    let _ = ui.finish(system.as_ref(), code != ExitCode::SUCCESS);
    if commands::hook::is_clients_call(&args, ui) && !refuses { ExitCode::SUCCESS } else { code }
}

pub type AgentCommands = fn(&mut Ui, &Session, &AgentArgs) -> Result;

/// Runs `brief agent` with what executes it. The first argument is the name of the program; the word `agent` may be left out.
pub fn run_agent(
    args: impl IntoIterator<Item = OsString>,
    ui: &mut Ui,
    system: &Arc<dyn System>,
    execute: AgentCommands,
) -> ExitCode {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if let Some(name) = args.first_mut() {
        *name = "brief".into();
    }
    if !names_agent(&args) {
        args.insert(args.len().min(1), "agent".into());
    }
    let renamed = renamed::rewrite_call(&args);
    let args = renamed.as_ref().map_or(&args, |call| &call.args);
    let noted = renamed.as_ref().map_or(Ok(()), |call| ui.print_note(&call.note));
    let outcome = noted.and_then(|()| run_agent_command(args, ui, Arc::clone(system), execute));
    let code = error::exit_code(outcome, ui);
    // If standard error is closed, only the exit code is left.
    let _ = ui.finish(system.as_ref(), code != ExitCode::SUCCESS);
    code
}

/// Returns whether a call names the command `agent`; a value of an option does not.
fn names_agent(args: &[OsString]) -> bool {
    let parses = |args: &[OsString]| GlobalOptions::command().try_get_matches_from(args).is_ok();
    (1..args.len()).any(|at| args[at] == "agent" && parses(&args[..at]))
}

fn run_agent_command(
    args: &[OsString],
    ui: &mut Ui,
    system: Arc<dyn System>,
    execute: AgentCommands,
) -> Result {
    if asks_for_json(args) {
        ui.promise_json();
    }
    let definition = AgentArgs::augment_args(clap::Command::new("agent"));
    let definition = GlobalOptions::command().subcommand(definition);
    let definition = definition.term_width(ui.help_width(system.as_ref()));
    let read = definition.try_get_matches_from(args).and_then(|matches| {
        let agent = matches.subcommand_matches("agent");
        let agent = agent.map(AgentArgs::from_arg_matches).transpose()?;
        let agent = agent.ok_or(clap::error::ErrorKind::MissingSubcommand);
        Ok((GlobalOptions::from_arg_matches(&matches)?, agent.map_err(clap::Error::new)?))
    });
    let (options, agent) = match read {
        Ok(read) => read,
        Err(error) => {
            ui.choose_color(ColorArg::from_arguments(args));
            return print_usage(&error, ui);
        }
    };
    ui.apply_options(&options.showing);
    let session = Session::start(system, options.directory.as_deref())?;
    let outcome = execute(ui, &session, &agent);
    if outcome.as_ref().err().is_none_or(CommandError::is_reported) {
        ui.flush()?;
    }
    outcome
}

/// Returns whether the caller wants JSON. An invalid call is answered in JSON, too, so this looks
/// at the words alone.
fn asks_for_json(args: &[OsString]) -> bool {
    let mut options = args.iter().take_while(|arg| *arg != "--");
    options.any(|arg| arg == "--json" || arg == "--format=json")
        || args.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}

fn run_brief(args: &[OsString], ui: &mut Ui, system: Arc<dyn System>) -> Result {
    if let Some(answer) = commands::completions::answer_completion(ui, system.as_ref(), args) {
        return answer;
    }
    if let Some(hook) = commands::hook::HookArgs::as_clients_type(args.get(1..).unwrap_or_default())
    {
        let session = Session::start(system, None)?;
        return commands::hook::run(ui, &session, &hook);
    }
    if asks_for_json(args) {
        ui.promise_json();
    }
    let renamed = renamed::rewrite_call(args);
    let args = renamed.as_ref().map_or(args, |call| &call.args);
    let cli = match Cli::parse_arguments(args, ui.help_width(system.as_ref())) {
        Ok(cli) => cli,
        Err(error) => {
            ui.choose_color(ColorArg::from_arguments(args));
            return print_usage(&error, ui);
        }
    };
    ui.apply_options(&cli.options.showing);
    if let Some(call) = &renamed {
        ui.print_note(&call.note)?;
    }
    if cli.command.is_an_answer()
        && !cli.options.showing.no_pager
        && let Some(pager) = output_options::find_pager(system.as_ref())
    {
        ui.page_with(pager);
    }
    let session = Session::start(system, cli.options.directory.as_deref())?;
    commands::run(ui, &session, &cli.command)
}

/// Help and version go to standard output, the error of an invalid call to standard error.
fn print_usage(error: &clap::Error, ui: &mut Ui) -> Result {
    let rendered = error.render();
    if error.use_stderr() && ui.has_promised_json() {
        let text = rendered.to_string();
        let mut paragraphs = text.split("\n\n").map(str::trim);
        let message = paragraphs.next().unwrap_or_default();
        ui.print_error(&one_line(message.strip_prefix("error: ").unwrap_or(message)))?;
        for paragraph in paragraphs {
            ui.print_hint(&one_line(paragraph.strip_prefix("tip: ").unwrap_or(paragraph)))?;
        }
        return Err(CommandError::reported(ErrorKind::Usage));
    }
    // An argument may be the name of a file, and is repeated as it is. Colors would hide among its characters.
    let plain = rendered.to_string();
    let text = match visible_text(&plain) {
        Cow::Borrowed(_) if ui.has_color() => rendered.ansi().to_string(),
        shown => shown.into_owned(),
    };
    if error.use_stderr() {
        ui.warn_raw(&text)?;
        Err(CommandError::reported(ErrorKind::Usage))
    } else {
        ui.print_raw(&text)
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
