//! `brief hook status`

use std::path::{Path, PathBuf};

use brief_clients::client_file::ClientFile;
use brief_engine::{Action, System};
use brief_profiles::{Client, HookInstall};
use brief_serve::hook::{HookOptions, rehearse};
use brief_syntax::limits;
use brief_syntax::system::resolved_home;
use brief_syntax::text::visible_line;
use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Show where hooks are set up, whether they are approved, and whether they answer
///
/// Nothing is executed: a client's version is read from its package, and the test call is made in this process.
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// The clients; all with a hook or a program here without one
    #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::hook_clients))]
    clients: Vec<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct HookStatus {
    client: String,
    name: String,
    /// The files with the hook.
    installed: Vec<InstalledHook>,
    program: Option<ClientProgram>,
    /// The version that our facts were seen in.
    seen: Option<String>,
    /// The result of a test call.
    answers: bool,
    problem: Option<String>,
}

#[derive(Serialize)]
struct InstalledHook {
    file: String,
    place: &'static str,
    commands: Vec<String>,
    /// `None` where the client does not ask, or keeps the answer to itself.
    approved: Option<bool>,
}

#[derive(Serialize)]
struct ClientProgram {
    path: String,
    version: Option<String>,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &StatusArgs) -> Result {
    let known = super::known_clients(session)?;
    let named: Vec<&Client> =
        args.clients.iter().map(|name| super::find(&known, name)).collect::<Result<_, _>>()?;
    let all = known.clients.iter();
    let all = all.filter(|client| super::install_of(client).is_some());
    let clients: Vec<&Client> = if named.is_empty() { all.collect() } else { named };
    let mut hooks = Vec::new();
    for client in clients {
        let status = status(session, client)?;
        if !args.clients.is_empty() || !status.installed.is_empty() || status.program.is_some() {
            hooks.push(status);
        }
    }
    if args.json {
        let root = session.repository()?;
        let body = json!({ "hooks": hooks });
        return ui.print_json("hook status", root.path(), &[], body);
    }
    if hooks.is_empty() {
        ui.status("no hook is installed, and no program of a client is on PATH")?;
        ui.hint("`brief hook install CLIENT` sets one up")?;
    }
    for status in &hooks {
        print(ui, status)?;
    }
    Ok(())
}

fn print(ui: &mut Ui, status: &HookStatus) -> Result {
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
    }
    if status.installed.is_empty() {
        ui.print_line(format_args!(
            "  not installed: `brief hook install {}` sets it up",
            status.client
        ))?;
    }
    let seen =
        status.seen.as_ref().map_or(String::new(), |seen| format!("; our facts are of {seen}"));
    match &status.program {
        Some(ClientProgram { path, version }) => {
            let version = version.as_deref().unwrap_or("of an unknown version");
            ui.print_line(format_args!("  program {} {version}{seen}", visible_line(path)))?;
        }
        None => ui.print_line(format_args!("  no program on PATH{seen}"))?,
    }
    match &status.problem {
        Some(problem) => ui.print_line(format_args!("  test call: {}", visible_line(problem)))?,
        None if status.answers => ui.print_line("  test call: answers")?,
        None => ui.print_line(
            "  test call: answers with nothing; there is no guidance for the whole project",
        )?,
    }
    Ok(())
}

fn status(session: &Session, client: &Client) -> Result<HookStatus> {
    let hook = client.hook.as_ref().expect("clients were chosen by their hooks");
    let install = hook.install.as_ref().expect("clients were chosen by their files");
    let root = session.repository()?;
    let home = resolved_home(session.system());
    let mut installed = Vec::new();
    let bases = [(Some(root.path()), false), (home.as_deref(), true)];
    for (base, is_global) in bases {
        let Some(base) = base else { continue };
        installed.extend(find(session, client, (base, is_global), root.path())?);
    }
    let options = HookOptions::new(&client.id);
    let file = root.path().join("README.md");
    let answer = rehearse(session.system(), client, root.path(), (&file, Action::Read), options);
    let (answers, problem) = match answer {
        Ok(events) => (events.iter().any(|event| event.text.is_some()), None),
        Err(error) => (false, Some(error.to_string())),
    };
    let seen = hook.seen.as_ref().unwrap_or(&client.seen).version.as_ref();
    Ok(HookStatus {
        client: client.id.to_string(),
        name: client.name.to_string(),
        installed,
        program: program(session.system(), install),
        seen: seen.map(ToString::to_string),
        answers,
        problem,
    })
}

/// Finds the files with the hook below one directory.
fn find(
    session: &Session,
    client: &Client,
    (base, is_global): (&Path, bool),
    root: &Path,
) -> Result<Vec<InstalledHook>> {
    let program = super::program(client, None);
    let all = super::possible_files(session, client, (base, is_global), &program)?;
    let mut found = Vec::new();
    for file in &all {
        let Ok(on_disk) = ClientFile::open(session.system(), base, &file.path) else { continue };
        let Some(text) = on_disk.text() else { continue };
        if !matches!(file.uninstall(text), Ok(Some(_))) {
            continue;
        }
        let path = base.join(&file.path);
        found.push(InstalledHook {
            approved: approved(session.system(), client, &path, root),
            file: if is_global { format!("~/{}", file.path) } else { file.path.clone() },
            place: if is_global { "all projects" } else { "this project" },
            commands: commands(text, &program),
        });
    }
    Ok(found)
}

/// Returns the commands of ours in a file, each once.
fn commands(text: &str, program: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (start, _) in text.match_indices(program) {
        let rest = &text[start..];
        let end = rest.find(['"', '\n']).unwrap_or(rest.len());
        let command = rest[..end].trim_end_matches('\\').to_owned();
        if !found.contains(&command) {
            found.push(command);
        }
    }
    found
}

fn approved(system: &dyn System, client: &Client, file: &Path, root: &Path) -> Option<bool> {
    let install = super::install_of(client)?;
    let mark = install.approval.as_ref()?;
    let home = resolved_home(system)?;
    // A user's own file needs no trust in a folder.
    if install.top_only && file.starts_with(&home) && !file.starts_with(root) {
        return None;
    }
    let text = system.read(&home.join(&*mark.file), limits::FILE_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let has = mark.has.replace("{file}", &file.to_string_lossy());
    let levels = if mark.inherits { usize::MAX } else { 1 };
    for directory in root.ancestors().take(levels) {
        let directory = directory.to_string_lossy();
        if text.contains(&has.replace("{project}", &directory)) {
            return Some(true);
        }
        // The nearest decision counts.
        if text.contains(&format!("\"{directory}\"")) {
            break;
        }
    }
    Some(false)
}

/// Finds the client's program, and its version in the package around it.
fn program(system: &dyn System, install: &HookInstall) -> Option<ClientProgram> {
    let name = install.program.as_ref()?;
    let path = system.env("PATH")?;
    let found = std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .find_map(|directory| system.resolve(&directory.join(&**name)).ok())?;
    let version = found.path.ancestors().skip(1).take(6).find_map(|directory| {
        let manifest = system.read(&directory.join("package.json"), limits::FILE_BYTES).ok()?;
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).ok()?;
        Some(manifest.get("version")?.as_str()?.to_owned())
    });
    let path: PathBuf = found.path;
    Some(ClientProgram { path: path.display().to_string(), version })
}
