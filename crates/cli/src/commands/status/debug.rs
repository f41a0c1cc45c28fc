//! `brief status --debug`: one block to paste into a report.
//!
//! It has counts, codes, versions and states, and nothing that a user or a project is called: no path, no host, no name of an
//! item, a source or a client of the project's own.

use std::collections::BTreeMap;

use brief_clients::hook::installed::{HookScope, find_installed_hooks};
use brief_engine::receipts;
use brief_profiles::{BUILTIN, find_installed_version};
use brief_registry::install::{Drift, read_install_status};
use brief_registry::manifest::ManifestPlace;
use brief_safety::settings::{HookSettings, OffSwitch};
use brief_system::resolved_home;

use super::{ClientStatus, State, Status};
use crate::commands::version::ProgramBuild;
use crate::commands::whole::format_count;
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// The variables that change what `brief` does. Their values may be private.
const VARIABLES: [&str; 9] = [
    "BRIEF_DISABLE",
    "BRIEF_EXEC",
    "BRIEF_HOOK_DEADLINE",
    "BRIEF_RECEIPTS",
    "CLIENT_CONTEXT_PATH",
    "GLOBAL_CONTEXT_PATH",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
];

/// The days of receipts that are counted.
const DAYS: u64 = 7;

pub(super) fn print_debug_block(ui: &mut Ui, session: &Session, status: &Status) -> Result {
    let mut lines = vec![describe_program()];
    let mut line = |name: &str, text: String| lines.push(format!("{name:<11} {text}"));
    line("project", describe_project(status));
    line("problems", describe_problems(status));
    let settings = HookSettings::load(session.system());
    line("delivery", describe_switch(settings.delivery_switch()));
    line("enforcement", describe_switch(settings.enforcement_switch()));
    let (known, own): (Vec<_>, Vec<_>) =
        status.clients.iter().partition(|client| BUILTIN.find_client(&client.client).is_some());
    for client in known {
        line(&client.client, describe_client(session, client)?);
    }
    if !own.is_empty() {
        line("clients", format!("{} of the project's own", own.len()));
    }
    line("installed", describe_installation(session));
    line("receipts", describe_receipts(session));
    line(
        "policy",
        match session.load_policy() {
            Ok(policy) => match policy.files().len() {
                0 => "none".to_owned(),
                files => {
                    let rules = format_count(policy.list_rules().len(), "rule");
                    format!("{rules} in {}", format_count(files, "file"))
                }
            },
            Err(_) => "cannot be applied".to_owned(),
        },
    );
    let is_set = |name: &&str| session.system().env(name).is_some();
    let set: Vec<&str> = VARIABLES.into_iter().filter(is_set).collect();
    line("variables", if set.is_empty() { "none".to_owned() } else { set.join(", ") });
    ui.print_line("```text")?;
    for line in &lines {
        ui.print_line(line.trim_end())?;
    }
    ui.print_line("```")
}

fn describe_program() -> String {
    let program = ProgramBuild::current();
    let commit =
        program.commit.map_or("unknown commit", |commit| commit.get(..12).unwrap_or(commit));
    format!("brief {} ({commit}), {}", program.version, program.target)
}

fn describe_project(status: &Status) -> String {
    let kind = if status.repository { "repository" } else { "no repository" };
    match status.state {
        State::Outside => format!("{kind}, not a project"),
        State::NoGuidance => format!("{kind}, no guidance"),
        State::Guidance => format!(
            "{kind}, {} in {}, about {} tokens",
            format_count(status.items, "item"),
            format_count(status.files, "file"),
            status.tokens
        ),
    }
}

fn describe_problems(status: &Status) -> String {
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for problem in &status.problems {
        *codes.entry(problem.code()).or_default() += 1;
    }
    if codes.is_empty() {
        return "none".to_owned();
    }
    let codes: Vec<String> = codes.iter().map(|(code, count)| format!("{code} {count}")).collect();
    codes.join(", ")
}

fn describe_switch(switch: Option<&OffSwitch>) -> String {
    match switch {
        None => "on",
        Some(OffSwitch::Variable) => "off: BRIEF_DISABLE",
        Some(OffSwitch::Setting { .. }) => "off: settings.toml",
        Some(OffSwitch::Policy(_)) => "off: policy.toml",
        Some(OffSwitch::Unclear { .. }) => "off: a settings or policy file that cannot be applied",
    }
    .to_owned()
}

fn describe_client(session: &Session, status: &ClientStatus) -> Result<String> {
    let system = session.system();
    let Some(client) = BUILTIN.find_client(&status.client) else { return Ok(String::new()) };
    let version = find_installed_version(system, client);
    let version = version.map_or("version unknown".to_owned(), |version| version.to_string());
    let seen = client.hook.as_ref().and_then(|hook| hook.seen.as_ref()).unwrap_or(&client.seen);
    let seen = seen.version.as_ref().map_or(String::new(), |seen| format!(" (facts of {seen})"));
    let root = session.repository_root()?;
    let home = resolved_home(system);
    let hooks = find_installed_hooks(system, client, root.path(), home.as_deref());
    let places: Vec<String> = hooks
        .iter()
        .map(|hook| {
            let place = match hook.scope {
                HookScope::Home => "home",
                HookScope::MainCheckout => "main checkout",
                HookScope::Project if hook.is_shared => "project, shared",
                HookScope::Project => "project",
            };
            let guard = if hook.is_guarded { "" } else { ", not guarded" };
            format!("{place}{guard}")
        })
        .collect();
    let places =
        if places.is_empty() { String::new() } else { format!(" ({})", places.join("; ")) };
    Ok(format!(
        "{version}{seen}, hook {}{places}, loads {}, delivers {}, misses {}",
        status.hook, status.loads, status.delivers, status.missing
    ))
}

fn describe_installation(session: &Session) -> String {
    let status = session
        .installed_project()
        .ok()
        .and_then(|project| read_install_status(session.system(), &project).ok());
    let Some(status) = status else { return "cannot be read".to_owned() };
    let Some(lock) = &status.lock else { return "nothing".to_owned() };
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for source in lock.sources.values() {
        let kind = match source.place {
            ManifestPlace::Git { .. } => "git",
            ManifestPlace::Oci { .. } => "oci",
            ManifestPlace::Directory(_) => "directory",
        };
        *kinds.entry(kind).or_default() += 1;
    }
    let sources: Vec<String> =
        kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let missing = status.drift.values().filter(|drift| **drift == Drift::Missing).count();
    let pending = if status.is_pending { ", a run was interrupted" } else { "" };
    format!(
        "{} from sources: {}; {} files missing, {} changed{pending}",
        format_count(lock.items.len(), "item"),
        if sources.is_empty() { "none".to_owned() } else { sources.join(", ") },
        missing,
        status.drift.len() - missing,
    )
}

fn describe_receipts(session: &Session) -> String {
    let system = session.system();
    if !receipts::is_on(system) {
        return "off".to_owned();
    }
    let read = receipts::Receipts::read(system, DAYS);
    format!("on, {} in {DAYS} days", read.receipts.len())
}
