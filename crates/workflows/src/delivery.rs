//! The installed ways to a client, found on this machine: its hook, and its entry for the MCP server of `brief`.
//!
//! Every front end that says what a client has asks here, so that all of them say the same. Nothing is executed.

use std::path::Path;

use brief_clients::client_file::ClientFile;
use brief_clients::hook::installed::{
    HookScope, InstalledHook, find_approval, find_installed_hooks, is_program_on_path,
};
use brief_clients::mcp::{self, Server, Transport, parse_servers, server_files};
use brief_clients::profile::ProfileScope;
use brief_engine::sees::{Delivery, HookState, MissingCause, MissingHook, Viewer};
use brief_engine::{Moment, System};
use brief_profiles::{Client, HookInstall, KnownClients, OwnClients};
use brief_safety::settings::HookSettings;
use brief_system::resolved_home;

/// Returns a viewer for each client, with what is installed for it in the project at `root` and for the user.
pub fn find_viewers<S: AsRef<str>>(
    system: &dyn System,
    root: &Path,
    moment: &Moment,
    clients: &[S],
) -> Vec<Viewer> {
    let known = OwnClients::read_project(system, root).known_clients();
    let viewer = |client: &S| {
        let client = client.as_ref();
        let delivery = find_delivery(system, root, moment, &known, client);
        let mut viewer = Viewer::new(moment, client, delivery);
        viewer.moment.set_client(system, Some(client.to_owned()));
        viewer
    };
    clients.iter().map(viewer).collect()
}

/// Finds what is installed for a client.
fn find_delivery(
    system: &dyn System,
    root: &Path,
    moment: &Moment,
    known: &KnownClients,
    name: &str,
) -> Delivery {
    let Some(client) = known.find_client(name) else {
        let reason = format!("unknown client `{name}`");
        return Delivery::with_missing_hook(MissingCause::NotSupported, reason, None);
    };
    let home = resolved_home(system);
    let hook =
        find_hook(system, (known, client), (root, moment.started.as_deref()), home.as_deref());
    let (server, server_command) = match hook {
        // What is delivered need not be asked for.
        HookState::Works { .. } => (None, None),
        HookState::Missing(_) => {
            let server = find_server(system, client, root, home.as_deref());
            let can_install = server.is_none() && mcp::find_server_profile(&client.id).is_some();
            (server, can_install.then(|| format!("brief mcp install {}", client.id)))
        }
    };
    Delivery { hook, server, server_command }
}

fn find_hook(
    system: &dyn System,
    (known, client): (&KnownClients, &Client),
    (root, started): (&Path, Option<&Path>),
    home: Option<&Path>,
) -> HookState {
    let Some(hook) = &client.hook else {
        return missing_hook(
            MissingCause::NotSupported,
            format!("{} has no hooks that can add context", client.name),
            None,
        );
    };
    let Some(install) = &hook.install else {
        return missing_hook(
            MissingCause::NotSupported,
            format!("`brief` cannot install a hook for {}", client.name),
            None,
        );
    };
    if let Some(switch) = HookSettings::load(system).delivery_switch() {
        let reason = format!("hooks deliver nothing: {switch}");
        return missing_hook(MissingCause::SwitchedOff, reason, Some(switch.find_fix()));
    }
    let mut installed = find_installed_hooks(system, client, root, home);
    for other in install.also_runs.iter().filter_map(|other| known.find_client(other)) {
        // Of a project, and with the approval of the client that runs them.
        let mut others = find_installed_hooks(system, other, root, None);
        for hook in &mut others {
            hook.approved = find_approval(system, client, &root.join(&hook.file), root);
        }
        installed.extend(others);
    }
    if system.env("PATH").is_none() {
        // Only a machine with a search path can tell whether a program is found.
        let programs = installed.iter_mut().flat_map(|hook| &mut hook.programs);
        programs.for_each(|program| program.is_found = true);
    }
    let is_elsewhere = install.top_only && started.is_some_and(|started| started != root);
    let is_seen =
        |hook: &&InstalledHook| !(is_elsewhere && matches!(hook.scope, HookScope::Project));
    if let Some(works) = installed.iter().find(|hook| is_seen(hook) && hook.is_active()) {
        return HookState::Works { file: works.shown_file() };
    }
    if let Some(hook) = installed.iter().find(|hook| !is_seen(hook) && hook.is_active()) {
        return missing_hook(
            MissingCause::NoHook,
            format!(
                "{} reads {} only when started in the directory that contains it",
                client.name, hook.file
            ),
            Some(format!("run `brief hook install {} --global`", client.id)),
        );
    }
    let Some(broken) = installed.first() else {
        return missing_hook(
            MissingCause::NoHook,
            format!("no hook is installed for {}", client.name),
            Some(format!("run `brief hook install {}`", client.id)),
        );
    };
    broken_hook(client, install, broken)
}

/// Returns the state of a hook that is installed and does not run.
fn broken_hook(client: &Client, install: &HookInstall, hook: &InstalledHook) -> HookState {
    let file = hook.shown_file();
    if let Some(switch) = &hook.switched_off {
        let place = shown_file(switch.scope, &switch.file);
        return missing_hook(
            MissingCause::SwitchedOff,
            format!("`{}` in {place} disables the hooks of {}", switch.key, client.name),
            Some(format!("remove `{}` from {place}", switch.key)),
        );
    }
    if let Some(program) = hook.missing_program() {
        return missing_hook(
            MissingCause::ProgramNotFound,
            format!("the hook in {file} runs `{program}`, which is not found"),
            Some(format!("add `{program}` to PATH, or use `--command` to name another program")),
        );
    }
    let then = install.then.as_ref().map(ToString::to_string);
    missing_hook(MissingCause::NotApproved, format!("the hook in {file} is not approved"), then)
}

fn missing_hook(cause: MissingCause, reason: String, fix: Option<String>) -> HookState {
    HookState::Missing(MissingHook { cause, reason, fix })
}

/// Finds the file in which a client would start the MCP server of `brief`.
fn find_server(
    system: &dyn System,
    client: &Client,
    root: &Path,
    home: Option<&Path>,
) -> Option<String> {
    for (base, scope) in [(Some(root), ProfileScope::Project), (home, ProfileScope::Home)] {
        let Some(base) = base else { continue };
        for file in server_files(scope).filter(|file| file.owner == &*client.id) {
            let Ok(on_disk) = ClientFile::open(system, base, file.path) else { continue };
            let Some(text) = on_disk.text() else { continue };
            let found = parse_servers(&file, text, root).unwrap_or_default();
            if found.iter().any(|found| is_ours(system, &found.server, root)) {
                return Some(file.display_path());
            }
        }
    }
    None
}

/// Returns whether a server is `brief mcp`, and would start.
fn is_ours(system: &dyn System, server: &Server, root: &Path) -> bool {
    let Transport::Stdio { command, args, .. } = &server.transport else { return false };
    let is_brief = Path::new(command).file_stem().is_some_and(|name| name == "brief");
    let has_path = system.env("PATH").is_some();
    is_brief
        && !server.disabled
        && args.iter().any(|arg| arg == "mcp")
        && (!has_path || is_program_on_path(system, command, root))
}

fn shown_file(scope: HookScope, file: &str) -> String {
    match scope {
        HookScope::Project | HookScope::MainCheckout => file.to_owned(),
        HookScope::Home => format!("~/{file}"),
    }
}
