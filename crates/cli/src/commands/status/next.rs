//! The next commands: the most useful one first.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use brief_engine::sees::MissingCause;
use brief_engine::survey::Survey;
use brief_safety::capability::Capability;
use brief_system::paths::relative_path;

use super::{ClientStatus, NextCommand, State, Status};
use crate::session::Session;

/// Extensions of files that people work on.
const CODE: [&str; 32] = [
    "c", "cc", "clj", "cpp", "cs", "css", "dart", "ex", "exs", "go", "h", "hpp", "hs", "html",
    "java", "jl", "js", "jsx", "kt", "lua", "php", "py", "r", "rb", "rs", "scala", "sh", "sql",
    "svelte", "swift", "ts", "tsx",
];

/// Chooses the commands for a state. An example of a file is in the list already, if the project has one.
pub(super) fn choose_next_commands(session: &Session, status: &mut Status) {
    let example = std::mem::take(&mut status.next);
    let problems = status.errors + status.warnings;
    let lint = (problems > 0).then(|| {
        let effect = if problems > status.problems.len().min(super::SHOWN_PROBLEMS) {
            "show all problems"
        } else {
            "show the details"
        };
        NextCommand::new("brief lint", effect)
    });
    let mut next = Vec::new();
    match status.state {
        State::Outside => {
            next.push(NextCommand::new("brief -C DIR", "look at a project"));
            next.push(NextCommand::new("brief help", "show commands"));
        }
        State::NoGuidance => {
            next.extend(lint);
            next.push(NextCommand::new("brief init", "create an AGENTS.yaml"));
            next.push(NextCommand::new("brief add SOURCE", "use rules from another repository"));
        }
        State::Guidance => {
            let is_broken = status.errors > 0;
            let (first, second) = (lint, find_delivery_command(session, &status.clients));
            // A hook would deliver what is in error, too.
            let both = if is_broken { [first, second] } else { [second, first] };
            next.extend(both.into_iter().flatten());
            next.extend(example);
        }
    }
    status.next = next;
}

/// The most clients that a command names; `brief hook install` alone asks about all of them.
const MOST_NAMED: usize = 4;

/// Returns the command that brings most to the clients that miss something.
fn find_delivery_command(session: &Session, clients: &[ClientStatus]) -> Option<NextCommand> {
    let is_forbidden = session
        .load_policy()
        .is_ok_and(|policy| policy.find_capability_rule(Capability::Hooks).is_some());
    let mut lacking: Vec<&ClientStatus> =
        clients.iter().filter(|client| client.missing > 0).collect();
    lacking.sort_by_key(|client| Reverse(client.missing));
    lacking.iter().find_map(|client| {
        let name = &client.client;
        let items = if client.missing == 1 { "item" } else { "items" };
        match client.cause? {
            MissingCause::NoHook if is_forbidden => None,
            MissingCause::NoHook => Some(install_hooks(&lacking)),
            MissingCause::SwitchedOff
            | MissingCause::ProgramNotFound
            | MissingCause::NotApproved => Some(NextCommand::new(
                format!("brief hook status {name}"),
                "see why the hook does not run",
            )),
            MissingCause::NotSupported => client.server_command.as_ref().map(|command| {
                NextCommand::new(command, format!("let {name} ask for the missing {items}"))
            }),
        }
    })
}

/// Returns one command for all clients that lack nothing but a hook.
fn install_hooks(lacking: &[&ClientStatus]) -> NextCommand {
    let without_hook =
        lacking.iter().filter(|client| matches!(client.cause, Some(MissingCause::NoHook)));
    let names: Vec<&str> = without_hook.clone().map(|client| client.client.as_str()).collect();
    let command = match names.len() {
        0..=MOST_NAMED => format!("brief hook install {}", names.join(" ")),
        _ => "brief hook install".to_owned(),
    };
    let is_one = names.len() == 1 && without_hook.clone().all(|client| client.missing == 1);
    let items = if is_one { "item" } else { "items" };
    NextCommand::new(command, format!("deliver the missing {items}"))
}

/// Returns a file to ask about: in the project's main language, with much guidance, not far below the top.
pub(super) fn find_example(survey: &Survey<'_>) -> Option<String> {
    let plain = || survey.files.files.iter().zip(&survey.costs).filter(|(path, _)| is_plain(path));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, _) in plain() {
        if let Some(extension) = code_extension(path) {
            *counts.entry(extension).or_default() += 1;
        }
    }
    let main = counts.into_iter().max_by_key(|(_, count)| *count).map(|(extension, _)| extension);
    let chosen = plain().min_by_key(|(path, cost)| {
        let extension = code_extension(path);
        let is_main = extension.is_some() && extension == main;
        let depth = path.matches('/').count();
        (**cost == 0, !is_main, Reverse(**cost), depth == 0, depth, path.len(), *path)
    });
    chosen.map(|(path, _)| path.clone())
}

/// Returns the extension of a file that people work on; `None` for any other.
fn code_extension(path: &str) -> Option<&str> {
    let (_, extension) = path.rsplit_once('.')?;
    CODE.contains(&extension).then_some(extension)
}

/// Returns whether a path can be typed as it is, and is not hidden.
fn is_plain(path: &str) -> bool {
    path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
        && path.split('/').all(|name| !name.starts_with(['.', '-']))
}

/// Returns the command that shows what clients get for a file.
pub(super) fn create_show_command(session: &Session, root: &Path, file: &str) -> NextCommand {
    let path = relative_path(session.directory(), &root.join(file));
    NextCommand::new(format!("brief show {path}"), "see what each client gets for a file")
}
