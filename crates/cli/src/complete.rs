//! Shell completion of names that the project, its repository or the program knows, besides
//! commands and flags.
//!
//! A completion prints no errors: unreadable files give no candidates.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use brief_clients::compile::Clients;
use brief_clients::profile::{ProfileScope as Places, Section};
use brief_profiles::{KnownClients, OwnClients};
use brief_registry::history::Repository;
use brief_syntax::rules;
use brief_syntax::text::visible_line;
use brief_system::OsSystem;
use clap_complete::CompletionCandidate;

use crate::assembly::tasks_here;
use crate::session::Session;

/// Returns a session in the current directory of the shell.
fn start_session() -> Option<Session> {
    Session::start(Arc::new(OsSystem), None::<&Path>).ok()
}

fn filter_candidates(
    names: impl IntoIterator<Item = String>,
    typed: &OsStr,
) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    let names: BTreeSet<String> = names.into_iter().collect();
    let names = names.into_iter().filter(|name| name.starts_with(&typed));
    names.map(|name| CompletionCandidate::new(visible_line(&name).into_owned())).collect()
}

/// Completes the code of a diagnostic.
pub(crate) fn complete_codes(typed: &OsStr) -> Vec<CompletionCandidate> {
    filter_candidates(rules::rule_codes().map(str::to_owned), typed)
}

/// Completes the name of a compile client, those of the project's brief.toml included.
pub(crate) fn complete_clients(typed: &OsStr) -> Vec<CompletionCandidate> {
    let source = start_session().and_then(|session| {
        let project = session.installed_project().ok()?;
        project.read_manifest(session.system()).ok().flatten()
    });
    let own = OwnClients::default();
    let read =
        |source| Clients::from_configuration(source, &own, Section::Build, Places::Project).ok();
    let clients = read(source.as_ref()).or_else(|| read(None));
    let Some(clients) = clients else { return Vec::new() };
    filter_candidates(clients.profiles().ids().into_iter().map(str::to_owned), typed)
}

/// Completes the name of a client, those that the project describes included.
pub(crate) fn known_clients(typed: &OsStr) -> Vec<CompletionCandidate> {
    clients_with(typed, |_, _| true)
}

/// Completes the name of a client whose hook can be set up.
pub(crate) fn hook_clients(typed: &OsStr) -> Vec<CompletionCandidate> {
    clients_with(typed, KnownClients::has_hook)
}

fn clients_with(
    typed: &OsStr,
    is_wanted: impl Fn(&KnownClients, &str) -> bool,
) -> Vec<CompletionCandidate> {
    let found = start_session().and_then(|session| {
        let root = session.repository_root().ok()?;
        Some(OwnClients::read_project(session.system(), root.path()))
    });
    let known = found.unwrap_or_default().known_clients();
    let names = known.names().into_iter().filter(|name| is_wanted(&known, name));
    filter_candidates(names.map(str::to_owned), typed)
}

/// Completes a branch or tag, also after the dots of a range.
pub(crate) fn complete_revisions(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = start_session().and_then(|session| {
        let root = session.open_root().ok()?;
        let repository = Repository::find_enclosing(session.shared_system(), root.path()).ok()?;
        repository.list_reference_names().ok()
    });
    let text = typed.to_string_lossy();
    let start = text.rfind("..").map_or(0, |dots| dots + 2);
    let before = &text[..start];
    let names = found.into_iter().flatten().map(|name| format!("{before}{name}"));
    filter_candidates(names, typed)
}

/// Completes the name of an item that is delivered only when mentioned.
pub(crate) fn complete_mentions(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(session) = start_session() else { return Vec::new() };
    let Ok(project) = session.open_project() else { return Vec::new() };
    let mut request = project.everything();
    request.moment.skip_left_out = true;
    filter_candidates(request.resolve().manual.into_iter().map(|item| item.name), typed)
}

/// Completes the name of an item of the project.
pub(crate) fn complete_items(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(session) = start_session() else { return Vec::new() };
    let Ok(project) = session.open_project() else { return Vec::new() };
    let mut request = project.everything();
    request.moment.skip_left_out = true;
    let briefing = request.resolve();
    let items = briefing.active.into_iter().chain(briefing.listed).chain(briefing.manual);
    filter_candidates(items.map(|item| item.name), typed)
}

/// Completes a parameter of the project's tasks: `name=`.
pub(crate) fn complete_parameters(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(session) = start_session() else { return Vec::new() };
    let mut names = BTreeSet::new();
    for task in tasks_here(&session) {
        let body = String::from_utf8_lossy(task.body()).into_owned();
        for rest in body.split("${").skip(1) {
            let Some((name, _)) = rest.split_once('}') else { continue };
            let is_name = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
            if !name.is_empty() && name.chars().all(is_name) {
                names.insert(format!("{name}="));
            }
        }
    }
    filter_candidates(names, typed)
}
