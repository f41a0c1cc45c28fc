//! `brief init`

use std::borrow::Cow;
use std::io;
use std::path::Path;

use brief_clients::client_file::{ClientFile, FileEdit};
use brief_clients::compile::ClientsInUse;
use brief_dialects::portable::config;
use brief_engine::structured::FILE_NAMES;
use brief_engine::{Dialects, Moment, System};
use brief_registry::install::InstallMode;
use brief_registry::manifest::ManifestEdit;
use brief_syntax::render::path_below;
use brief_system::resolved_home;
use clap::Args;
use serde_json::json;

use crate::error::{CommandError, Result};
use crate::installation::{Installation, InstallationArg, mention_clients};
use crate::session::Session;
use crate::surroundings::refuse_no_project;
use crate::ui::Ui;

/// Create an AGENTS.yaml and detect your clients
///
/// Clients are detected by their files in the project, else in the home directory. `add` and `registry build` write for
/// them.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A file that explains itself, passes lint, and applies to everything until it is edited.
const STARTER: &str = include_str!("init/AGENTS.yaml");

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &InitArgs) -> Result {
    let root = session.open_root()?;
    let refused = |error| match error {
        StarterError::Exists(name) => CommandError::refused(format!("`{name}` already exists"))
            .with_hint("run `brief lint` to check it"),
        StarterError::Io(error) => {
            CommandError::refused(format!("cannot write `AGENTS.yaml`: {error}"))
        }
    };
    refuse_no_project(session, &root)?;
    refuse_taken(session.system(), root.path()).map_err(refused)?;
    let existing = first_guidance(session)?;
    let place = InstallationArg { global: false };
    let installation = Installation::find_for(ui, session, &place, InstallMode::Write)?;
    let manifest = installation.project.manifest_path();
    let had_manifest = installation.manifest.is_some();
    // The starter comes last: while it is missing, the next run does all of this again.
    let found = found_clients(session, &installation)?;
    let recorded =
        found.as_ref().map(|found| record_clients(session, &installation, found)).transpose()?;
    let text = match existing {
        Some(_) => Cow::from(without_entries(STARTER)),
        None => Cow::from(STARTER),
    };
    let starter = Cow::from(write_text(session.system(), root.path(), &text).map_err(refused)?);
    let manifest = path_below(root.path(), &manifest);
    let (created, updated): (Vec<_>, Vec<_>) = match recorded {
        Some(FileEdit::Changed) if had_manifest => (vec![starter], vec![manifest]),
        Some(FileEdit::Changed) => (vec![manifest, starter], vec![]),
        Some(FileEdit::Unchanged) | None => (vec![starter], vec![]),
    };
    if args.json {
        let clients = found.map(|found| found.clients).unwrap_or_default();
        let body = json!({ "created": created, "updated": updated, "clients": clients });
        return ui.print_json("init", root.path(), &[], body);
    }
    if let Some(found) = &found {
        mention_clients(ui, found)?;
    }
    let written: Vec<Cow<'_, str>> = updated.into_iter().chain(created).collect();
    ui.print_status(&format!("wrote {}", written.join(", ")))?;
    if let Some(existing) = existing {
        ui.print_hint(&format!(
            "edit it: every entry is a comment, because the project already has guidance, such as {existing}"
        ))?;
        return ui.print_hint("then run `brief why README.md`");
    }
    ui.print_hint("edit it, then run `brief why README.md`")
}

/// Returns the path of the project's first text of guidance.
fn first_guidance(session: &Session) -> Result<Option<String>> {
    let project = session.open_project()?;
    let catalog = project.read_project(Dialects::All);
    let moment = Moment { root: project.root().clone(), ..Moment::default() };
    let found = catalog.collect_candidates(&moment);
    let texts = found.items.iter().filter(|applied| applied.item.scope != "user");
    let path =
        texts.map(|applied| applied.item.path).find(|path| path.starts_with(project.root().path()));
    Ok(path.map(|path| path_below(project.root().path(), path).into_owned()))
}

/// Turns the entries of the starter into comments.
fn without_entries(starter: &str) -> String {
    let comment = |line: &str| match line {
        "" => "#\n".to_owned(),
        line if line.starts_with('#') => format!("{line}\n"),
        line => format!("# {line}\n"),
    };
    starter.lines().map(comment).collect()
}

/// Finds the clients of a project that names none and has installed nothing.
fn found_clients(session: &Session, installation: &Installation) -> Result<Option<ClientsInUse>> {
    let system = session.system();
    let is_named = installation.clients.settings().clients.is_some();
    let has_sources =
        installation.manifest.as_ref().is_some_and(|manifest| !manifest.sources.is_empty());
    if is_named || has_sources || installation.read_lock(system)?.is_some() {
        return Ok(None);
    }
    let home = resolved_home(system);
    let project = &installation.project.outputs;
    Ok(installation.clients.in_use_or_at_home(system, project, home.as_deref()))
}

/// Names the clients in the project's `brief.toml`.
fn record_clients(
    session: &Session,
    installation: &Installation,
    found: &ClientsInUse,
) -> Result<FileEdit> {
    let name = config::FILE_NAME;
    let ClientsInUse { clients, signs } = found.clone();
    let file = ClientFile::open(session.system(), &installation.project.config, name)
        .map_err(|error| CommandError::refused(format!("`{name}` {error}")))?;
    let edits = [ManifestEdit::FirstClients { clients, signs }];
    let text = ManifestEdit::apply_edits(file.text().unwrap_or_default(), &edits)
        .map_err(|error| CommandError::refused(format!("`{name}`: {error}")))?;
    file.write_text(Some(&text), false)
        .map_err(|error| CommandError::refused(format!("`{name}` {error}")))
}

/// Prints the JSON answer with the file that the command `kind` wrote.
pub fn print_created(ui: &mut Ui, session: &Session, kind: &'static str, path: &Path) -> Result {
    let root = session.open_root()?;
    let body = json!({ "created": [path_below(root.path(), path)] });
    ui.print_json(kind, root.path(), &[], body)
}

/// The reason why the starter was not written.
pub(crate) enum StarterError {
    Exists(&'static str),
    Io(io::Error),
}

/// Writes the starter, unless the directory has a context file under either name.
pub(crate) fn write_starter(
    system: &dyn System,
    directory: &Path,
) -> Result<&'static str, StarterError> {
    write_text(system, directory, STARTER)
}

fn write_text(
    system: &dyn System,
    directory: &Path,
    text: &str,
) -> Result<&'static str, StarterError> {
    refuse_taken(system, directory)?;
    let name = FILE_NAMES[0];
    match system.create_file(&directory.join(name), text.as_bytes()) {
        Ok(()) => Ok(name),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(StarterError::Exists(name))
        }
        Err(error) => Err(StarterError::Io(error)),
    }
}

fn refuse_taken(system: &dyn System, directory: &Path) -> Result<(), StarterError> {
    let taken = system.open_dir(directory).and_then(|handle| handle.entries());
    let is_taken = |name: &&str| {
        taken.as_ref().is_ok_and(|entries| entries.iter().any(|entry| entry.name == **name))
    };
    FILE_NAMES.into_iter().find(is_taken).map_or(Ok(()), |name| Err(StarterError::Exists(name)))
}
