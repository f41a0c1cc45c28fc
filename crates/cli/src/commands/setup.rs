//! `brief setup`: a teammate's first command in a project that others have set up.

use brief_engine::Moment;
use brief_engine::sees::{HookState, MissingCause};
use brief_profiles::find_program;
use brief_registry::install::{InstallMode, InstallRequest};
use brief_safety::capability::Capability;
use brief_workflows::delivery::find_viewers;
use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::hook::{detect_hook_clients, install_hook_files};
use crate::error::{Result, refuse_if};
use crate::installation::{self, Installation, InstallationArg, render_file_counts};
use crate::session::Session;
use crate::surroundings::refuse_no_project;
use crate::ui::Ui;

/// Set up a project for yourself: hooks, installed items, editor
///
/// Installs the hook of each detected client that has none that works, and writes the items of brief.lock. Run it again at any
/// time: it changes only what is missing.
#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// Show the plan without writing
    #[arg(long)]
    dry_run: bool,

    /// Use only the cache
    #[arg(long)]
    offline: bool,

    /// Print JSON: the steps
    #[arg(long)]
    json: bool,
}

/// One part of a setup.
#[derive(Debug, Serialize)]
struct SetupStep {
    part: &'static str,
    /// The client of a hook.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    state: StepState,
    detail: String,
    /// What is left for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    then: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum StepState {
    /// There was nothing to do.
    Ready,
    Done,
    /// It would be done without `--dry-run`.
    Planned,
    /// Only the user can do it.
    Yours,
    Failed,
}

/// Editors that can start the language server, by the names of their programs.
const EDITORS: [(&str, &str); 4] =
    [("code", "VS Code"), ("nvim", "Neovim"), ("hx", "Helix"), ("emacs", "Emacs")];

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &SetupArgs) -> Result {
    let root = session.repository_root()?;
    refuse_no_project(session, &root)?;
    let mut steps = Vec::new();
    add_hook_steps(session, args, &mut steps)?;
    steps.extend(sync_items(ui, session, args)?);
    steps.extend(describe_editors(session));
    let is_failed = steps.iter().any(|step| step.state == StepState::Failed);
    if args.json {
        ui.print_json("setup", root.path(), &[], json!({ "steps": steps }))?;
        return refuse_if(is_failed);
    }
    for step in &steps {
        let line = format!("{}: {}", step.part, step.detail);
        match step.state {
            StepState::Failed => ui.print_warning(&line)?,
            _ => ui.print_status(&line)?,
        }
        if let Some(then) = &step.then {
            ui.print_hint(then)?;
        }
    }
    let mut parts = steps.iter().filter(|step| step.part != "editor").peekable();
    if parts.peek().is_none() {
        ui.print_status("nothing to set up: no client with hooks detected, and no brief.toml")?;
        ui.print_hint("run `brief hook install CLIENT` to name a client")?;
    } else if parts.all(|step| step.state == StepState::Ready) {
        ui.print_status("already set up")?;
    }
    refuse_if(is_failed)
}

/// Installs the hooks that are missing.
fn add_hook_steps(session: &Session, args: &SetupArgs, steps: &mut Vec<SetupStep>) -> Result {
    let system = session.system();
    let root = session.repository_root()?;
    let forbidden = session.load_policy()?.find_capability_rule(Capability::Hooks);
    let known = super::hook::known_clients(session)?;
    let clients = detect_hook_clients(session, &known)?;
    let names: Vec<&str> = clients.iter().map(|client| &*client.id).collect();
    let started = Some(root.path().to_owned());
    let moment = Moment { root: root.clone(), started, ..Moment::default() };
    let viewers = find_viewers(system, root.path(), &moment, &names);
    for (client, viewer) in clients.into_iter().zip(viewers) {
        let name = &client.name;
        let mut step = SetupStep {
            part: "hook",
            client: Some(client.id.to_string()),
            state: StepState::Ready,
            detail: String::new(),
            then: None,
        };
        match viewer.delivery.hook {
            HookState::Works { file } => step.detail = format!("{name} runs it from {file}"),
            HookState::Missing(missing) if missing.cause == MissingCause::NoHook => {
                if let Some(decision) = &forbidden {
                    step.state = StepState::Yours;
                    step.detail = format!("not installed for {name}: {decision}");
                } else {
                    match install_hook_files(session, client, args.dry_run) {
                        Ok(files) => {
                            let (state, verb) = if args.dry_run {
                                (StepState::Planned, "would install it")
                            } else {
                                (StepState::Done, "installed it")
                            };
                            step.state = state;
                            step.detail = format!("{verb} for {name} in {}", files.join(", "));
                            let install = super::hook::install_of(client);
                            let then = install.and_then(|install| install.then.as_ref());
                            step.then = Some(then.map_or_else(
                                || format!("restart {name} to use it"),
                                ToString::to_string,
                            ));
                        }
                        Err(error) if error.ends_everything() => return Err(error),
                        Err(error) => {
                            step.state = StepState::Failed;
                            step.detail = format!("not installed for {name}: {error}");
                        }
                    }
                }
            }
            HookState::Missing(missing) => {
                step.state = StepState::Yours;
                step.detail = format!("{name}: {}", missing.reason);
                step.then = missing.fix;
            }
        }
        steps.push(step);
    }
    Ok(())
}

/// Writes the items that the project locks, as `brief sync` does; `None` for a project without sources.
fn sync_items(ui: &mut Ui, session: &Session, args: &SetupArgs) -> Result<Option<SetupStep>> {
    let mode = installation::install_mode(args.dry_run, false);
    let place = InstallationArg { global: false };
    let found = Installation::find_for(ui, session, &place, InstallMode::Check)?;
    let is_empty = found
        .manifest
        .as_ref()
        .is_none_or(|manifest| manifest.sources.is_empty() && manifest.dependencies.is_empty());
    if is_empty {
        return Ok(None);
    }
    let found = Installation::find_for(ui, session, &place, mode)?;
    let clients = found.wanted_clients(&[])?;
    let network = installation::network_mode(args.offline);
    let request = InstallRequest { mode, network, ..InstallRequest::new(&clients) };
    let (state, detail) = match found.sync(ui, session, &request) {
        Err(error) if error.ends_everything() => return Err(error),
        Err(error) if error.is_reported() => (StepState::Failed, "not installed".to_owned()),
        Err(error) => (StepState::Failed, format!("not installed: {error}")),
        Ok(report) if report.has_errors() => {
            ui.print_diagnostics(&report.diagnostics, &found.project.outputs)?;
            (StepState::Failed, format!("{} of {} not installed", report.failed, report.count))
        }
        Ok(report) if report.changes.is_empty() => (StepState::Ready, "up to date".to_owned()),
        Ok(report) => {
            let count_of = |kind| report.count_of(kind);
            let rest = (report.unchanged, report.kept);
            let state = if args.dry_run { StepState::Planned } else { StepState::Done };
            (state, render_file_counts(&count_of, rest, !args.dry_run))
        }
    };
    let then = (state == StepState::Failed).then(|| "run `brief sync` for details".to_owned());
    Ok(Some(SetupStep { part: "items", client: None, state, detail, then }))
}

/// Names the editors of this machine that can show problems while the user types.
fn describe_editors(session: &Session) -> Option<SetupStep> {
    let is_there = |program: &str| find_program(session.system(), program).is_some();
    let found: Vec<&str> =
        EDITORS.iter().filter(|(program, _)| is_there(program)).map(|(_, name)| *name).collect();
    (!found.is_empty()).then(|| SetupStep {
        part: "editor",
        client: None,
        state: StepState::Yours,
        detail: format!("{} can check guidance while you type", found.join(", ")),
        then: Some(
            "start `brief lsp` as the language server for Markdown, YAML and TOML".to_owned(),
        ),
    })
}
