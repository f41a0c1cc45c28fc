//! `brief agent`

mod abilities;
mod call;
mod check;
mod command;
mod executing;
mod list;
mod new;
mod ready;
mod run;
mod serve;
mod show;

use std::path::{Path, PathBuf};

use brief_agent::remote_commands::{self, RemoteAccess};
use brief_engine::Root;
use brief_engine::agents::{self, Agent, AgentOptions, Loaded, load_agent};
use brief_safety::policy::SourcePlace;
use brief_syntax::Diagnostic;
use brief_syntax::near_miss::nearest_few;
use serde::Serialize;

use crate::agent::{AgentArgs, AgentCommand, AgentFileArgs, DebugCommand};
use crate::error::{CommandError, ErrorKind, Result};
use crate::session::Session;
use crate::ui::Ui;

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &AgentArgs) -> Result {
    match &args.command {
        AgentCommand::New(args) => new::run(ui, session, args),
        AgentCommand::List(args) => list::run(ui, session, args),
        AgentCommand::Show(args) => show::run(ui, session, args),
        AgentCommand::Check(args) => check::run(ui, session, args),
        AgentCommand::Run(args) => run::run(ui, session, args),
        AgentCommand::Serve(args) => serve::run(ui, session, args),
        AgentCommand::Debug { command: DebugCommand::Call(args) } => call::run(ui, session, args),
        AgentCommand::Debug { command: DebugCommand::Command(args) } => {
            command::run(ui, session, args)
        }
        AgentCommand::Debug { command: DebugCommand::Abilities(args) } => {
            abilities::run(ui, session, args)
        }
    }
}

/// Returns the path of an agent: the typed one, or that of the only agent of `brief agent list` with the typed name. A file
/// of that path comes first.
fn locate_agent(session: &Session, root: &Root, typed: &Path) -> Result<PathBuf> {
    let path = session.directory().join(typed);
    let name = typed.to_str().filter(|name| typed.components().count() == 1 && !name.contains('.'));
    let Some(name) = name.filter(|_| session.system().resolve(&path).is_err()) else {
        return Ok(path);
    };
    let known: Vec<PathBuf> = agents::list_agents(session.system(), root)
        .iter()
        .map(|(_, agent)| agent.path().to_owned())
        .collect();
    let names: Vec<String> = known.iter().map(|path| stem_of(path)).collect();
    let short = |stem: &str| stem.split_once('_').map_or(stem, |(_, name)| name).to_owned();
    let find = |is_it: &dyn Fn(&str) -> bool| -> Vec<&PathBuf> {
        known.iter().zip(&names).filter(|(_, stem)| is_it(stem)).map(|(path, _)| path).collect()
    };
    let whole = find(&|stem| stem == name);
    let found = if whole.is_empty() { find(&|stem| short(stem) == name) } else { whole };
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let refused = CommandError::refused(format!("no agent named `{name}`"));
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Err(match nearest_few(name, &names, 1).first() {
                Some(near) => refused.with_hint(format!("did you mean `{near}`?")),
                None => refused.with_hint("run `brief agent list` to see the agents"),
            })
        }
        several => {
            let paths = several.iter().map(|path| path.strip_prefix(root.path()).unwrap_or(path));
            let paths: Vec<String> = paths.map(|path| format!("`{}`", path.display())).collect();
            let message = format!("`{name}` is ambiguous: {}", paths.join(" or "));
            Err(CommandError::refused(message).with_hint("pass the path of the file"))
        }
    }
}

/// Returns the name of an agent's file without its ending.
fn stem_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".agent.md").unwrap_or(&name).to_owned()
}

/// Reads an agent that the user named.
fn read_agent(ui: &mut Ui, session: &Session, file: &AgentFileArgs) -> Result<Loaded> {
    let root = session.open_root()?;
    let path = locate_agent(session, &root, &file.file)?;
    let options = AgentOptions { root: Some(root.path()), ..AgentOptions::default() };
    let loaded = load_agent(session.system(), &path, &options);
    let Some(agent) = loaded.agent().filter(|agent| !agent.unresolved.is_empty()) else {
        return Ok(loaded);
    };
    let policy = session.load_policy()?;
    let forbidden = agent.unresolved.iter().find_map(|remote| {
        Some((remote, policy.find_source_rule(&SourcePlace::of_address(&remote.url))?))
    });
    let access = match (forbidden, file.fetch) {
        (Some((remote, decision)), true) => {
            let message = format!("cannot fetch `{}`: {decision}", remote.url);
            return Err(CommandError::refused(message));
        }
        (Some(_), false) => return Ok(loaded),
        (None, true) => RemoteAccess::Fetch,
        (None, false) => RemoteAccess::Kept,
    };
    let commands = remote_commands::resolve_remote_commands(session.system(), agent, access);
    for note in &commands.notes {
        ui.print_warning(note)?;
    }
    let options = AgentOptions { fetched: &commands.fetched, ..options };
    Ok(load_agent(session.system(), &path, &options))
}

/// Prints the JSON answer of the command `kind` about an agent.
fn print_json(
    ui: &mut Ui,
    session: &Session,
    kind: &'static str,
    diagnostics: &[Diagnostic],
    body: impl Serialize,
) -> Result {
    let root = session.open_root()?;
    ui.print_json(kind, root.path(), diagnostics, body)
}

/// Returns the agent of a file without errors; otherwise prints the diagnostics.
fn ensure_usable<'l>(ui: &mut Ui, session: &Session, loaded: &'l Loaded) -> Result<&'l Agent> {
    match loaded.agent() {
        Some(agent) => {
            // With JSON, they are part of the answer.
            if !ui.has_promised_json() {
                ui.print_diagnostic_lines(loaded.diagnostics(), session.open_root()?.path())?;
            }
            Ok(agent)
        }
        None => Err(refuse_agent(ui, session, loaded.diagnostics())?),
    }
}

/// Prints the reasons why an agent does not load, and returns the end of the command.
fn refuse_agent(
    ui: &mut Ui,
    session: &Session,
    diagnostics: &[Diagnostic],
) -> Result<CommandError> {
    ui.print_diagnostic_lines(diagnostics, session.open_root()?.path())?;
    Ok(CommandError::reported(ErrorKind::Refused))
}
