//! Assembling a prompt, for every command line that can ask for one.

mod installed;
mod roots;
mod rules_file;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use brief_engine::tasks::{
    Agent, Amount, Library, Parameters, Prompt, Request, SearchRoot, Selectors, TaskError, TaskName,
};
use brief_runtime::{Asked, Execution, Off, PromptRunner, ShellLimits};
use brief_syntax::Diagnostic;

use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) use roots::{Directories, Spelling, search_roots};
pub(crate) use rules_file::{RulesFile, write_rules};

/// Diagnostics of one code that are told one by one; who wants all of them runs `brief lint`.
const TOLD: usize = 10;

/// Everything that a user can say about a prompt.
#[derive(Debug, Default)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) prompt: Option<OsString>,
    pub(crate) parameters: Parameters,
    pub(crate) selectors: Selectors,
    pub(crate) agent: Option<Agent>,
    /// Whether the agent has rules and skills already.
    pub(crate) task_alone: bool,
    pub(crate) directories: Directories,
    /// What turns execution off.
    pub(crate) off: Option<Off>,
    /// How long each command and script may take.
    pub(crate) time_limit: Option<Duration>,
}

/// A prompt, and what it took.
pub(crate) struct Assembled {
    pub(crate) prompt: Prompt,
    pub(crate) ran: Vec<Asked>,
    /// The project, for paths that people read.
    pub(crate) root: PathBuf,
}

/// Assembles the prompt that was called for.
pub(crate) fn assemble(
    ui: &mut Ui,
    session: &Session,
    call: &Call,
) -> Result<Assembled, CommandError> {
    let name =
        TaskName::parse(&call.name).map_err(|error| CommandError::refused(error.to_string()))?;
    let system = session.system();
    let root = session.root()?.path().to_owned();
    let mut roots = search_roots(ui, session, &call.directories)?;
    let installed = installed::files(ui, session, &mut roots)?;
    let library = Library::open(system, &roots).with_installed(installed);
    let execution = Execution::decide(system, call.off);
    let mut limits = ShellLimits::default();
    if let Some(limit) = call.time_limit {
        (limits.command, limits.bootstrap) = (limit, limit);
    }
    let prompt = call.prompt.as_deref().map(OsStr::as_encoded_bytes);
    let prompt = prompt.filter(|prompt| !prompt.is_empty());
    let request = Request {
        name: &name,
        prompt,
        parameters: &call.parameters,
        selectors: &call.selectors,
        agent: call.agent,
        amount: if call.task_alone { Amount::TaskAlone } else { Amount::Everything },
        directory: &root,
    };
    // When even standard error is gone, what commands say to people is lost, and nothing else.
    let mut output = |piece: &[u8]| drop(ui.pass_on(piece));
    let mut runner = PromptRunner::new(system, &root, execution, limits, &mut output);
    let prompt = brief_engine::tasks::assemble(&library, &request, &mut runner);
    let ran = runner.into_record();
    match prompt {
        Ok(prompt) => Ok(Assembled { prompt, ran, root }),
        Err(error) => {
            let mut diagnostics = library.take_diagnostics();
            // What the error itself says is not said twice.
            if let TaskError::Header { path, .. } = &error {
                diagnostics.retain(|found| found.path() != path);
            }
            mention(ui, &diagnostics, &root)?;
            Err(refusal(&error, &root, &roots))
        }
    }
}

/// Says what there is to say about a prompt: each thing in a line, and of many alike the first.
pub(crate) fn mention(
    ui: &mut Ui,
    diagnostics: &[Diagnostic],
    root: &std::path::Path,
) -> Result<(), CommandError> {
    let mut told: Vec<(&str, usize)> = Vec::new();
    for diagnostic in diagnostics {
        let index = told.iter().position(|(code, _)| *code == diagnostic.code);
        let index = index.unwrap_or_else(|| {
            told.push((diagnostic.code, 0));
            told.len() - 1
        });
        told[index].1 += 1;
        if told[index].1 > TOLD {
            continue;
        }
        ui.mention(std::slice::from_ref(diagnostic), root)?;
        // A repair is what `lint --fix` is for; it needs no advice at each file.
        if let Some(help) = diagnostic.help.as_deref().filter(|_| diagnostic.fix.is_none()) {
            ui.advise(help)?;
        }
    }
    for (code, count) in told.into_iter().filter(|(_, count)| *count > TOLD) {
        let more = count - TOLD;
        ui.warning(&format!("and {more} more like it ({code})"))?;
    }
    Ok(())
}

/// Rules are written for somebody.
pub(crate) fn no_agent_to_write_for() -> CommandError {
    let problem = "-w flag requires an agent to be specified (via task 'agent' field or -a flag)";
    CommandError::refused(problem).with_hint(format!("agents are {}", Agent::names()))
}

fn refusal(error: &TaskError, root: &std::path::Path, roots: &[SearchRoot]) -> CommandError {
    let shown =
        |path: &std::path::Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    match error {
        TaskError::NotFound { nearest, excluded, .. } => {
            let mut message = error.to_string();
            for (path, verdict) in excluded {
                message.push_str(&format!("; {} is left out: {verdict}", shown(path)));
            }
            let refused = CommandError::refused(message);
            if !nearest.is_empty() {
                let names: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
                refused.with_hint(format!("did you mean {}?", names.join(" or ")))
            } else if excluded.is_empty() {
                let places: Vec<String> = roots.iter().map(|root| shown(&root.path)).collect();
                let places: Vec<&str> = places
                    .iter()
                    .map(|place| if place.is_empty() { "." } else { place.as_str() })
                    .collect();
                refused.with_hint(format!(
                    "tasks are files `.agents/tasks/NAME.md`; looked in {}",
                    places.join(", ")
                ))
            } else {
                refused
            }
        }
        TaskError::Ambiguous { files, .. } => {
            let files: Vec<String> = files.iter().map(|path| shown(path)).collect();
            CommandError::refused(format!("{error}: {}", files.join(", ")))
                .with_hint("choose one with `-s KEY=VALUE`, or rename one")
        }
        TaskError::UnknownAgent { path, line, .. } => {
            CommandError::refused(format!("{}:{line}: {error}", shown(path)))
        }
        TaskError::Header { path, line, .. } => {
            CommandError::refused(format!("{}:{line}: {error}", shown(path)))
                .with_hint("correct that line, or quote the value")
        }
        TaskError::Interrupted => CommandError::interrupted(),
        _ => CommandError::refused(error.to_string()),
    }
}
