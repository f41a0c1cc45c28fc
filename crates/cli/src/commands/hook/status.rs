//! `brief hook status`

use std::path::Path;

use brief_checks::rules::RuleSet;
use brief_clients::client_file::{ClientFile, ClientFileError, FileEdit};
use brief_clients::hook::install::HookContent;
use brief_clients::hook::installed::{HookScope, InstalledHook, find_installed_hooks};
use brief_clients::hook::news::{self, UnknownName};
use brief_dialects::Dialects;
use brief_engine::{Action, System};
use brief_profiles::{Client, HookProfile, KnownClients, find_installed_version, find_program};
use brief_safety::settings::HookSettings;
use brief_serve::hook::{
    HookOptions, ReportedClient, RuleReport, rehearse_conversation, report_rules,
};
use brief_syntax::text::visible_line;
use brief_system::resolved_home;
use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::client_file_error;
use crate::commands::rule_effects::group_effects;
use crate::error::{Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Show installed hooks, and what keeps them from working
///
/// Read-only: reads a client's version from its package, and makes the test call in this process.
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Clients to show [default: all with a hook or program here]
    #[arg(value_name = "CLIENT", add = clap_complete::ArgValueCompleter::new(crate::complete::hook_clients))]
    clients: Vec<String>,

    /// Update hooks installed by an earlier version
    #[arg(long, conflicts_with = "json")]
    fix: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct HookStatus {
    client: String,
    name: String,
    /// The files with the hook.
    installed: Vec<ShownHook>,
    program: Option<ClientProgram>,
    /// The version that our facts were seen in.
    seen: Option<String>,
    /// The result of a test call.
    answers: bool,
    problem: Option<String>,
    /// Events and tools that the hook has met and that we have no facts about.
    unknown: Vec<UnknownName>,
    /// The step that the user has to take in the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// What the client lets pass although a rule forbids it.
    gaps: Vec<String>,
}

#[derive(Serialize)]
struct ShownHook {
    file: String,
    place: &'static str,
    commands: Vec<String>,
    /// `None` where the client does not ask, or keeps the answer to itself.
    approved: Option<bool>,
    /// False if a program that is missing or fails can stop the client.
    guarded: bool,
    /// The program that a shell would not find.
    missing: Option<String>,
    /// The setting that switches the client's hooks off.
    switched_off: Option<String>,
}

impl ShownHook {
    fn new(hook: &InstalledHook) -> ShownHook {
        ShownHook {
            file: hook.shown_file(),
            place: match hook.scope {
                HookScope::Project => "this project",
                HookScope::MainCheckout => "the main checkout, and this worktree of it",
                HookScope::Home => "all projects",
            },
            commands: hook.commands.clone(),
            approved: hook.approved,
            guarded: hook.is_guarded,
            missing: hook.missing_program().map(str::to_owned),
            switched_off: hook
                .switched_off
                .as_ref()
                .map(|off| format!("`{}` in {}", off.key, off.shown_file())),
        }
    }
}

#[derive(Serialize)]
struct ClientProgram {
    path: String,
    version: Option<String>,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &StatusArgs) -> Result {
    let known = super::known_clients(session)?;
    let named: Vec<&Client> = args
        .clients
        .iter()
        .map(|name| super::find_hook_client(&known, name))
        .collect::<Result<_, _>>()?;
    let all = known.clients.iter();
    let all = all.filter(|client| super::install_of(client).is_some());
    let clients: Vec<&Client> = if named.is_empty() { all.collect() } else { named };
    if args.fix {
        return fix_hooks(ui, session, &clients);
    }
    let settings = HookSettings::load(session.system());
    let mut hooks = Vec::new();
    for client in clients {
        let status = read_hook_status(session, client)?;
        if !args.clients.is_empty() || !status.installed.is_empty() || status.program.is_some() {
            hooks.push(status);
        }
    }
    let rules = report_project_rules(session, &known, &hooks)?;
    if args.json {
        let root = session.repository_root()?;
        let switches = json!({
            "delivery": settings.delivery_switch().map(ToString::to_string),
            "enforcement": settings.enforcement_switch().map(ToString::to_string),
        });
        let body = json!({ "hooks": hooks, "switched_off": switches, "rules": rules });
        return ui.print_json("hook status", root.path(), &settings.problems, body);
    }
    if hooks.is_empty() {
        ui.print_status("no hooks installed, and no client programs on PATH")?;
        ui.print_hint("run `brief hook install CLIENT` to install one")?;
    }
    for status in &hooks {
        print_hook_status(ui, status)?;
    }
    print_rules(ui, &rules, &hooks)?;
    print_hook_switches(ui, &settings)?;
    let mut installed = hooks.iter().flat_map(|status| &status.installed);
    if installed.any(|hook| !hook.guarded) {
        ui.print_hint(
            "run `brief hook status --fix` to update hooks that an earlier version installed",
        )?;
    }
    Ok(())
}

/// Says what switches hooks off, on this machine or for this user.
pub(super) fn print_hook_switches(ui: &mut Ui, settings: &HookSettings) -> Result {
    let delivery = settings.delivery_switch();
    let enforcement = settings.enforcement_switch().filter(|switch| Some(*switch) != delivery);
    let effects = [("deliver", delivery), ("enforce", enforcement)];
    for (effect, switch) in effects {
        let Some(switch) = switch else { continue };
        ui.print_warning(&format!("hooks {effect} nothing: {switch}"))?;
        ui.print_hint(&switch.find_fix())?;
    }
    ui.print_diagnostic_lines(&settings.problems, Path::new("/"))
}

/// Returns what becomes of the project's rules with a check in the clients that are shown.
fn report_project_rules(
    session: &Session,
    known: &KnownClients,
    hooks: &[HookStatus],
) -> Result<Vec<RuleReport>> {
    let project = session.open_project()?;
    let checks = project.read_project(Dialects::All).rule_checks();
    let clients = hooks.iter().filter_map(|status| {
        let works = |hook: &ShownHook| hook.missing.is_none() && hook.switched_off.is_none();
        let missing_hook =
            if status.installed.iter().any(works) { None } else { Some("no hook that works") };
        Some(ReportedClient { client: known.find_client(&status.client)?, missing_hook })
    });
    let clients: Vec<ReportedClient<'_>> = clients.collect();
    let root = project.root().path();
    Ok(report_rules(session.system(), root, &RuleSet::new(root, checks), &clients))
}

/// Prints what becomes of each rule, by client, and what passes.
fn print_rules(ui: &mut Ui, rules: &[RuleReport], hooks: &[HookStatus]) -> Result {
    if rules.is_empty() {
        return Ok(());
    }
    ui.print_heading("Rules with a check")?;
    for RuleReport { id, file, line, clients, .. } in rules {
        ui.print_line(visible_line(&format!("  {id} ({file}:{line})")))?;
        for (words, names) in group_effects(clients) {
            ui.print_line(visible_line(&format!("    {}: {words}", names.join(", "))))?;
        }
    }
    for status in hooks.iter().filter(|status| !status.installed.is_empty()) {
        for gap in &status.gaps {
            ui.print_line(format_args!("  {} does not stop {gap}", status.name))?;
        }
    }
    ui.print_line(
        "  no client stops what a command does not plainly show, such as a script, before it runs",
    )
}

/// Writes the files of hooks again that an earlier version installed without a guard.
fn fix_hooks(ui: &mut Ui, session: &Session, clients: &[&Client]) -> Result {
    super::check_policy(session)?;
    let root = session.repository_root()?;
    let home = resolved_home(session.system());
    let (mut updated, mut left) = (0, 0);
    for client in clients {
        let hooks = find_installed_hooks(session.system(), client, root.path(), home.as_deref());
        for hook in hooks.iter().filter(|hook| !hook.is_guarded) {
            let base = hook.base.as_path();
            let shown = hook.shown_file();
            let Some(file) = hook.current_file(session.system(), client, base) else {
                left += 1;
                ui.print_warning(&format!(
                    "cannot update {shown}: brief did not write its command"
                ))?;
                continue;
            };
            let failed = |error: ClientFileError| client_file_error(&shown, &error);
            let on_disk = ClientFile::open(session.system(), base, &file.path).map_err(failed)?;
            let text =
                file.install(on_disk.text()).map_err(|error| client_file_error(&shown, &error))?;
            let is_program = matches!(file.content, HookContent::Own { is_program: true, .. });
            if on_disk.write_text(text.as_deref(), is_program).map_err(failed)? == FileEdit::Changed
            {
                updated += 1;
                ui.print_status(&format!("updated the hook in {shown}"))?;
                if let (Some(then), Some(true)) = (
                    super::install_of(client).and_then(|install| install.then.as_ref()),
                    hook.approved,
                ) {
                    ui.print_hint(then)?;
                }
            }
        }
    }
    if updated + left == 0 {
        ui.print_status("all installed hooks are up to date")?;
    }
    refuse_if(left > 0)
}

fn print_hook_status(ui: &mut Ui, status: &HookStatus) -> Result {
    ui.print_heading(&format!("{} ({})", status.name, status.client))?;
    for hook in &status.installed {
        let approved = match hook.approved {
            Some(true) => ", approved",
            Some(false) => ", not approved",
            None => "",
        };
        ui.print_line(format_args!("  installed in {} ({}){approved}", hook.file, hook.place))?;
        for command in &hook.commands {
            ui.print_line(format_args!("    {}", visible_line(command)))?;
        }
        let mut problems: Vec<String> = Vec::new();
        if !hook.guarded {
            problems.push(format!(
                "installed by an earlier version: {} can stop working where `brief` is missing or fails",
                status.name
            ));
        }
        problems.extend(
            hook.missing
                .as_ref()
                .map(|name| format!("`{name}` is not on PATH: nothing is delivered")),
        );
        problems.extend(hook.switched_off.as_ref().map(|off| format!("switched off by {off}")));
        for problem in problems {
            ui.print_line(format_args!("    warning: {}", visible_line(&problem)))?;
        }
    }
    if status.installed.is_empty() {
        ui.print_line(format_args!("  not installed: run `brief hook install {}`", status.client))?;
    }
    let seen = status.seen.as_ref().map_or(String::new(), |seen| format!("; tested with {seen}"));
    match &status.program {
        Some(ClientProgram { path, version }) => {
            let version = version.as_deref().unwrap_or("(unknown version)");
            ui.print_line(format_args!("  program {} {version}{seen}", visible_line(path)))?;
        }
        None => ui.print_line(format_args!("  not on PATH{seen}"))?,
    }
    for UnknownName { kind, name } in &status.unknown {
        let what = kind.as_str();
        ui.print_line(format_args!(
            "  note: the client sent an unknown {what}, `{name}`; the hook delivers only guidance that certainly applies"
        ))?;
    }
    if let Some(note) = &status.note {
        ui.print_line(format_args!("  {note}"))?;
    }
    match &status.problem {
        Some(problem) => ui.print_line(format_args!("  test call: {}", visible_line(problem)))?,
        None if status.answers => ui.print_line("  test call: ok")?,
        None => ui.print_line("  test call: ok, no project-wide guidance")?,
    }
    Ok(())
}

fn read_hook_status(session: &Session, client: &Client) -> Result<HookStatus> {
    let hook = client.hook.as_ref().expect("clients were chosen by their hooks");
    let root = session.repository_root()?;
    let home = resolved_home(session.system());
    let installed = find_installed_hooks(session.system(), client, root.path(), home.as_deref());
    let options = HookOptions::new(&client.id);
    let file = root.path().join("README.md");
    let answer = rehearse_conversation(
        session.system(),
        client,
        root.path(),
        (&file, Action::Read),
        options,
    );
    let (answers, problem) = match answer {
        Ok(events) => (events.iter().any(|event| event.text.is_some()), None),
        Err(error) => (false, Some(error.to_string())),
    };
    let seen = hook.seen.as_ref().unwrap_or(&client.seen).version.as_ref();
    Ok(HookStatus {
        client: client.id.to_string(),
        name: client.name.to_string(),
        installed: installed.iter().map(ShownHook::new).collect(),
        program: find_client_program(session.system(), client),
        seen: seen.map(ToString::to_string),
        answers,
        problem,
        unknown: news::read_unknown_names(session.system(), client),
        note: client.loading.agents_need_approval.as_ref().map(|_| {
            format!("subagents: {} loads a project's subagent only after you approve it, again after each change", client.name)
        }),
        gaps: list_gaps(hook),
    })
}

/// Returns what the client lets pass although a rule forbids it, each as the end of "does not stop …".
fn list_gaps(hook: &HookProfile) -> Vec<String> {
    let Some(facts) = &hook.enforcement else {
        return vec![
            "calls as far as this was never tried: its answers are from its documents".to_owned(),
        ];
    };
    let mut gaps: Vec<String> = facts.gaps.iter().map(ToString::to_string).collect();
    if facts.reloads && hook.can_refuse() {
        gaps.push(
            "an agent that removes the hook with a command that does not show it; its next calls are not checked"
                .to_owned(),
        );
    }
    gaps
}

/// Finds the client's program, and its version in the package around it.
fn find_client_program(system: &dyn System, client: &Client) -> Option<ClientProgram> {
    let name = super::install_of(client)?.program.as_ref()?;
    let path = find_program(system, name)?.display().to_string();
    let version = find_installed_version(system, client).map(|version| version.to_string());
    Some(ClientProgram { path, version })
}
