//! `brief task list`

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use brief_engine::tasks::{Library, TaskDocument};
use brief_syntax::render::path_below;
use brief_syntax::text::visible_line;
use brief_system::OsSystem;
use clap::Args;
use clap_complete::CompletionCandidate;
use serde_json::json;

use super::TaskSearch;
use crate::assembly::{print_prompt_diagnostics, search_roots, tasks_here};
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// List tasks
#[derive(Debug, Default, Args)]
pub(super) struct TaskListArgs {
    #[command(flatten)]
    search: TaskSearch,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &TaskListArgs) -> Result {
    let root = session.open_root()?.path().to_owned();
    let roots = search_roots(ui, session, &args.search.search_directories())?;
    let library = Library::open(session.system(), &roots);
    let mut tasks = library.all_tasks();
    tasks.sort_by_key(TaskDocument::name);
    if args.json {
        let entries = tasks.iter().map(|task| {
            json!({
                "name": task.name(),
                "description": task.description(),
                "path": path_below(&root, task.path()),
                "scope": task.origin.scope(),
            })
        });
        let body = json!({ "tasks": entries.collect::<Vec<_>>() });
        let diagnostics = &library.take_diagnostics();
        return ui.print_json("task list", &root, diagnostics, body);
    }
    print_prompt_diagnostics(ui, &library.take_diagnostics(), &root)?;
    for task in &tasks {
        let path = task.path().strip_prefix(&root).unwrap_or(task.path()).display();
        ui.print_heading(&format!("{}  {path}", task.name()))?;
        let about = first_line(task);
        if !about.is_empty() {
            ui.print_line(format!("  {}", visible_line(&about)))?;
        }
    }
    if tasks.is_empty() {
        ui.print_status("no tasks here; a task is a file `.agents/tasks/NAME.md`")?;
    }
    Ok(())
}

/// Returns the error of a call without the name of a task: it lists the tasks that are here. They never go to standard
/// output, which may be the input of an agent.
pub(super) fn refuse_without_name(session: &Session) -> CommandError {
    let mut names: Vec<String> = tasks_here(session).iter().map(TaskDocument::name).collect();
    names.sort();
    names.dedup();
    let error = CommandError::usage("missing task name");
    match names.as_slice() {
        [] => error.with_hint("create a task as `.agents/tasks/NAME.md`"),
        names => error.with_hint(format!("tasks here: {}", names.join(", "))),
    }
}

/// Returns the description of a task, or else its first line.
fn first_line(task: &TaskDocument) -> String {
    let body = String::from_utf8_lossy(task.body());
    let line = body.lines().map(|line| line.trim_start_matches('#').trim());
    match task.description() {
        "" => line.into_iter().find(|line| !line.is_empty()).unwrap_or_default().to_owned(),
        description => description.lines().next().unwrap_or_default().to_owned(),
    }
}

/// Completes the name of a task in the current directory of the shell.
pub(in crate::commands) fn complete_task(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Ok(session) = Session::start(Arc::new(OsSystem), None::<&Path>) else { return Vec::new() };
    let typed = typed.to_string_lossy();
    let mut tasks = tasks_here(&session);
    tasks.retain(|task| task.name().starts_with(typed.as_ref()));
    tasks.sort_by_key(TaskDocument::name);
    tasks.dedup_by_key(|task| task.name());
    let candidate = |task: &TaskDocument| {
        let about = first_line(task);
        let help = (!about.is_empty()).then(|| visible_line(&about).into_owned().into());
        CompletionCandidate::new(visible_line(&task.name()).into_owned()).help(help)
    };
    tasks.iter().map(candidate).collect()
}
