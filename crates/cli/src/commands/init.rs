//! `brief init`

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use brief_engine::System;
use brief_engine::structured::FILE_NAMES;
use brief_syntax::render::{Envelope, path_below};
use clap::Args;
use serde::Serialize;

use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

/// Write an AGENTS.yaml from a template
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Print JSON: the file that was written
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Created<'p> {
    created: [Cow<'p, str>; 1],
}

/// A file that explains itself, passes lint, and applies to everything until it is edited.
const STARTER: &str = include_str!("init/AGENTS.yaml");

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &InitArgs,
) -> Result<ExitCode, CommandError> {
    let root = session.root()?;
    let written = write_starter(session.system(), root.path()).map_err(|error| match error {
        StarterError::Exists(name) => CommandError::refused(format!("`{name}` already exists"))
            .with_hint("`brief lint` checks it"),
        StarterError::Io(error) => {
            CommandError::refused(format!("`AGENTS.yaml` cannot be written: {error}"))
        }
    })?;
    if args.json {
        return print_created(ui, session, "init", &root.path().join(written));
    }
    ui.status(&format!("wrote {written}"))?;
    ui.hint("edit it, then ask: brief why README.md")?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the JSON answer with the file that the command `kind` wrote.
pub(super) fn print_created(
    ui: &mut Ui,
    session: &Session,
    kind: &'static str,
    path: &Path,
) -> Result<ExitCode, CommandError> {
    let root = session.root()?;
    let body = Created { created: [path_below(root.path(), path)] };
    ui.print_json(&Envelope { kind, root: root.path(), diagnostics: &[], body })?;
    Ok(ExitCode::SUCCESS)
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
    let taken = system.open_dir(directory).and_then(|handle| handle.entries());
    for name in FILE_NAMES {
        if taken.as_ref().is_ok_and(|entries| entries.iter().any(|entry| entry.name == name)) {
            return Err(StarterError::Exists(name));
        }
    }
    let name = FILE_NAMES[0];
    match system.create_file(&directory.join(name), STARTER.as_bytes()) {
        Ok(()) => Ok(name),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(StarterError::Exists(name))
        }
        Err(error) => Err(StarterError::Io(error)),
    }
}
