//! Prompts for people: what happens while one is assembled, and why one is not.

use std::path::{Path, PathBuf};

use brief_engine::tasks::{
    CodingAgent, HandEdits, Library, Prompt, SearchRoot, TaskDocument, TaskError,
};
use brief_runtime::assembly::{RulesFile, RulesFileError, SearchDirectories, SearchError};
use brief_runtime::{
    AskedKind, AssembledPrompt, AssemblyError, AssemblyEvent, ExecutionRequest, ProjectRefusal,
    PromptOptions, RequestOutcome,
};
use brief_syntax::Diagnostic;
use brief_syntax::text::format_count;

use crate::error::{CommandError, Result};
use crate::installation::show_progress;
use crate::session::Session;
use crate::ui::Ui;

/// The number of diagnostics with one code that are printed one by one; `brief lint` shows all.
const TOLD: usize = 10;

pub(crate) fn assemble_prompt(
    ui: &mut Ui,
    session: &Session,
    options: &PromptOptions,
) -> Result<AssembledPrompt> {
    let assembly = session.open_assembly()?;
    let outcome = assembly.assemble(options, &mut |event| print_assembly_event(ui, event));
    ui.end_progress()?;
    match outcome {
        Ok(assembled) => Ok(assembled),
        Err(AssemblyError::Search(error)) => Err(search_error(error)),
        Err(AssemblyError::Policy(error)) => Err(error.into()),
        Err(AssemblyError::Project { refusal, asked }) => {
            Err(refuse_project(ui, &refusal, &asked, session.open_root()?.path())?)
        }
        Err(AssemblyError::Task { error, diagnostics, roots }) => {
            let root = session.open_root()?;
            print_prompt_diagnostics(ui, &diagnostics, root.path())?;
            Err(task_error(&error, root.path(), &roots))
        }
        Err(error) => Err(CommandError::refused(error.to_string())),
    }
}

pub(crate) fn search_roots(
    ui: &mut Ui,
    session: &Session,
    directories: &SearchDirectories,
) -> Result<Vec<SearchRoot>> {
    let assembly = session.open_assembly()?;
    let roots = assembly.search_roots(directories, &mut |event| print_assembly_event(ui, event));
    ui.end_progress()?;
    roots.map_err(search_error)
}

/// Returns the tasks of the project and of home, for completion.
pub(crate) fn tasks_here(session: &Session) -> Vec<TaskDocument> {
    let roots = search_roots(&mut Ui::silent(), session, &SearchDirectories::default());
    roots.map_or_else(|_| Vec::new(), |roots| Library::open(session.system(), &roots).all_tasks())
}

/// Shows a step. A closed output must not stop the work.
fn print_assembly_event(ui: &mut Ui, event: AssemblyEvent<'_>) {
    if let AssemblyEvent::Step(step) = event {
        return show_progress(ui, step);
    }
    let _ = ui.end_progress().and_then(|()| match event {
        AssemblyEvent::Warning(problem) => ui.print_warning(problem),
        AssemblyEvent::Output(piece) => ui.pass_on(piece),
        AssemblyEvent::Fetched { directory, name } => {
            ui.name_directory(directory, name);
            Ok(())
        }
        _ => Ok(()),
    });
}

fn search_error(error: SearchError) -> CommandError {
    match error {
        SearchError::Policy(error) => error.into(),
        error if error.is_interruption() => CommandError::interrupted(),
        error => CommandError::refused(error.to_string()),
    }
}

/// Writes the rules of a prompt into a file that the agent reads.
pub(crate) fn write_rules(
    ui: &mut Ui,
    session: &Session,
    agent: CodingAgent,
    prompt: &Prompt,
    place: RulesFile,
    edits: HandEdits,
) -> Result {
    let written = session.open_assembly()?.write_rules(agent, prompt, place, edits);
    let written = written.map_err(|error| {
        let refused = CommandError::refused(error.to_string());
        match error {
            RulesFileError::NoHome => refused.with_hint("set `HOME`"),
            RulesFileError::EditedByHand { .. } => {
                refused.with_hint("move your text out of the marked block, or use `--force`")
            }
            _ => refused,
        }
    })?;
    if let Some(written) = written {
        ui.print_status(&format!(
            "wrote {} to {}",
            format_count(written.count, "rule"),
            written.file
        ))?;
    }
    Ok(())
}

/// Prints the diagnostics of a prompt: one line each, and of many alike only the first.
pub(crate) fn print_prompt_diagnostics(
    ui: &mut Ui,
    diagnostics: &[Diagnostic],
    root: &Path,
) -> Result {
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
        ui.print_diagnostic_lines(std::slice::from_ref(diagnostic), root)?;
        // `lint --fix` applies repairs, so they need no advice here.
        if let Some(help) = diagnostic.help.as_deref().filter(|_| diagnostic.fix.is_none()) {
            ui.print_advice(help)?;
        }
    }
    for (code, count) in told.into_iter().filter(|(_, count)| *count > TOLD) {
        let more = count - TOLD;
        ui.print_warning(&format!("and {more} more like it ({code})"))?;
    }
    Ok(())
}

/// The number of requests of an untrusted project that are listed one by one.
const NAMED: usize = 20;

/// Lists the commands that an untrusted project would have run, and the ways to allow them.
fn refuse_project(
    ui: &mut Ui,
    refused: &ProjectRefusal,
    ran: &[ExecutionRequest],
    root: &Path,
) -> Result<CommandError> {
    let asked = ran.iter().filter(|asked| asked.outcome == RequestOutcome::ProjectNotTrusted);
    let shown = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let mut wishes: Vec<String> = asked
        .map(|ExecutionRequest { kind, path, line, text, .. }| match kind {
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
        message.push_str(&format!("; would have run: {}", wishes.join("; ")));
    } else {
        for wish in &wishes {
            ui.print_warning(&format!("not run: {wish}"))?;
        }
    }
    let trust = trust_command(root, &refused.root);
    let ways = "or pass `--exec` to run them once, `--no-exec` to skip them";
    Ok(CommandError::refused(message).with_hint(format!("review them, then run `{trust}`, {ways}")))
}

/// Returns the command that trusts a project, to be typed in `directory`.
pub fn trust_command(directory: &Path, project: &Path) -> String {
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
        .with_hint(format!("known agents: {}", CodingAgent::list_names().join(", ")))
}

fn task_error(error: &TaskError, root: &Path, roots: &[PathBuf]) -> CommandError {
    let shown = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    match error {
        TaskError::NotFound { nearest, excluded, .. } => {
            let mut message = error.to_string();
            for (path, verdict) in excluded {
                message.push_str(&format!("; skipped {}: {verdict}", shown(path)));
            }
            let refused = CommandError::refused(message);
            if !nearest.is_empty() {
                let names: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
                refused.with_hint(format!("did you mean {}?", names.join(" or ")))
            } else if excluded.is_empty() {
                let places: Vec<String> = roots.iter().map(|root| shown(root)).collect();
                let places: Vec<&str> = places
                    .iter()
                    .map(|place| if place.is_empty() { "." } else { place.as_str() })
                    .collect();
                refused.with_hint(format!(
                    "create the task as `.agents/tasks/NAME.md`; brief searched {}",
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
