//! The assembly of a prompt, for every command line that offers it.

mod installed;
mod roots;
mod rules_file;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use brief_engine::tasks::{
    Amount, Author, CodingAgent, HiddenInPrompt, Library, Parameters, Prompt, PromptRequest,
    SearchRoot, Selectors, TaskError, TaskName,
};
use brief_runtime::{
    Asked, AskedKind, Execution, Outcome, ProjectRefusal, PromptRunner, ShellLimits, Wish,
    project_root,
};
use brief_syntax::Diagnostic;
use brief_syntax::system::Passed;

use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) use roots::{Directories, Tool, search_roots};
pub(crate) use rules_file::{RulesFile, write_rules};

/// The number of diagnostics with one code that are printed one by one; `brief lint` shows all.
const TOLD: usize = 10;

/// The user's options for a prompt.
#[derive(Debug, Default)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) prompt: Option<OsString>,
    pub(crate) parameters: Parameters,
    pub(crate) selectors: Selectors,
    pub(crate) agent: Option<CodingAgent>,
    /// Leaves out rules and skills, which the agent has already.
    pub(crate) task_alone: bool,
    pub(crate) directories: Directories,
    /// The choice of the command line about execution.
    pub(crate) wish: Option<Wish>,
    /// Additional variables for commands.
    pub(crate) variables: Vec<String>,
    /// The time limit of each command and script.
    pub(crate) time_limit: Option<Duration>,
}

/// A prompt, and the circumstances of its assembly.
pub(crate) struct Assembled {
    pub(crate) prompt: Prompt,
    pub(crate) ran: Vec<Asked>,
    pub(crate) execution: Execution,
    /// The project, for paths that people read.
    pub(crate) root: PathBuf,
}

/// Assembles the requested prompt.
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
    let execution = session.execution(call.wish.as_ref())?;
    let mut limits = ShellLimits::default();
    if let Some(limit) = call.time_limit {
        (limits.command, limits.bootstrap) = (limit, limit);
    }
    let prompt = call.prompt.as_deref().map(OsStr::as_encoded_bytes);
    let prompt = prompt.filter(|prompt| !prompt.is_empty());
    let project = project_root(system, &root).unwrap_or_else(|_| root.clone());
    let request = PromptRequest {
        name: &name,
        prompt,
        parameters: &call.parameters,
        selectors: &call.selectors,
        agent: call.agent,
        amount: if call.task_alone { Amount::TaskAlone } else { Amount::Everything },
        hidden: match call.directories.tool {
            Tool::CodingContext => HiddenInPrompt::Kept,
            Tool::Brief => HiddenInPrompt::LeftOut,
        },
        directory: &root,
        project: &project,
    };
    let passed = match call.directories.tool {
        Tool::CodingContext => Passed::All,
        Tool::Brief => Passed::Usual(call.variables.clone()),
    };
    let projects = roots.iter().filter(|root| root.author == Author::Project);
    let projects: Vec<PathBuf> = projects.map(|root| root.path.clone()).collect();
    let mut perform = |is_rehearsed: bool| {
        // If standard error is closed, only the commands' words for people are lost.
        let mut output = |piece: &[u8]| drop(ui.pass_on(piece));
        let mut runner = PromptRunner::new(system, &root, execution.clone(), limits, &mut output)
            .with_environment(passed.clone())
            .with_projects(projects.clone());
        if is_rehearsed {
            runner = runner.after_rehearsal();
        }
        let prompt = brief_engine::tasks::assemble(&library, &request, &mut runner);
        (prompt, runner.is_rehearsal(), runner.refusal().cloned(), runner.into_record())
    };
    let (mut prompt, is_rehearsal, mut refused, mut ran) = perform(false);
    if is_rehearsal {
        library.take_diagnostics();
        (prompt, _, refused, ran) = perform(true);
    }
    if let Some(refused) = refused {
        return Err(refuse_project(ui, &refused, &ran, &root)?);
    }
    match prompt {
        Ok(prompt) => Ok(Assembled { prompt, ran, execution, root }),
        Err(error) => {
            let mut diagnostics = library.take_diagnostics();
            // The error itself says the same.
            if let TaskError::Header { path, .. } = &error {
                diagnostics.retain(|found| found.path() != path);
            }
            mention(ui, &diagnostics, &root)?;
            Err(refusal(&error, &root, &roots))
        }
    }
}

/// Prints the diagnostics of a prompt: one line each, and of many alike only the first.
pub(crate) fn mention(
    ui: &mut Ui,
    diagnostics: &[Diagnostic],
    root: &Path,
) -> Result<(), CommandError> {
    let mut told: Vec<(&str, usize)> = Vec::new();
    for diagnostic in diagnostics {
        let index = told.iter().position(|(code, _)| *code == diagnostic.code());
        let index = index.unwrap_or_else(|| {
            told.push((diagnostic.code(), 0));
            told.len() - 1
        });
        told[index].1 += 1;
        if told[index].1 > TOLD {
            continue;
        }
        ui.mention(std::slice::from_ref(diagnostic), root)?;
        // `lint --fix` applies repairs, so they need no advice here.
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

/// The number of requests of an untrusted project that are listed one by one.
const NAMED: usize = 20;

/// Lists the commands that an untrusted project would have run, and the ways to allow them.
fn refuse_project(
    ui: &mut Ui,
    refused: &ProjectRefusal,
    ran: &[Asked],
    root: &Path,
) -> Result<CommandError, CommandError> {
    let asked = ran.iter().filter(|asked| asked.outcome == Outcome::ProjectNotTrusted);
    let shown = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let mut wishes: Vec<String> = asked
        .map(|Asked { kind, path, line, text, .. }| match kind {
            AskedKind::ScriptFile => {
                format!("{}:1: the whole script", shown(Path::new(text)))
            }
            _ => format!("{}:{line}: {}", shown(path), text.trim_end()),
        })
        .collect();
    if wishes.len() > NAMED {
        let more = wishes.len() - NAMED;
        wishes.truncate(NAMED);
        wishes.push(format!("and {more} more"));
    }
    let mut message = format!("{refused}; nothing was run");
    if ui.has_promised_json() {
        message.push_str(&format!("; it would have run {}", wishes.join("; ")));
    } else {
        for wish in &wishes {
            ui.warning(&format!("not run: {wish}"))?;
        }
    }
    let trust = trust_command(root, &refused.root);
    let ways = "`--exec` runs them this time, `--no-exec` leaves them out";
    Ok(CommandError::refused(message)
        .with_hint(format!("read them first; `{trust}` trusts the project, {ways}")))
}

/// Returns the command that trusts a project, to be typed in `directory`.
pub(crate) fn trust_command(directory: &Path, project: &Path) -> String {
    if directory.starts_with(project) {
        "brief trust .".to_owned()
    } else {
        format!("brief trust {}", project.display())
    }
}

/// Returns the error for a call without an agent to write rules for.
pub(crate) fn no_agent_to_write_for() -> CommandError {
    let problem = "-w flag requires an agent to be specified (via task 'agent' field or -a flag)";
    CommandError::refused(problem)
        .with_hint(format!("agents are {}", CodingAgent::names().join(", ")))
}

fn refusal(error: &TaskError, root: &Path, roots: &[SearchRoot]) -> CommandError {
    let shown = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
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
