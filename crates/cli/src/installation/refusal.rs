//! The errors of an installation, with advice.

use brief_registry::FetchError;
use brief_registry::install::{InstallError, Unresolved};
use brief_registry::manifest::EditError;
use brief_system::paths::cleaned;

use crate::error::{CommandError, Result};
use crate::ui::Ui;

impl From<InstallError> for CommandError {
    fn from(error: InstallError) -> Self {
        let message = error.to_string();
        match &error {
            InstallError::NoManifest { .. } => CommandError::refused(message)
                .with_hint("`brief add SOURCE` writes one; `owner/repository` is a source, and so is a directory"),
            InstallError::Policy(error) => CommandError::from(error.clone()),
            InstallError::Forbidden { .. } => CommandError::refused(message)
                .with_hint("ask the maintainer of this policy; `brief trust --policy` shows it"),
            InstallError::Required { item, .. } => CommandError::refused(message).with_hint(format!(
                "`brief add SOURCE {} --kind {}` adds it", item.name, item.kind
            )),
            InstallError::NoLock | InstallError::OldLock => CommandError::refused(message)
                .with_hint("run `brief sync` without `--frozen`, and keep `brief.lock` in version control"),
            InstallError::Frozen { differences } => {
                let message = format!("{message}: {}", differences.join("; "));
                CommandError::refused(message)
                    .with_hint("run `brief sync` without `--frozen`, and keep the new `brief.lock`")
            }
            InstallError::Lock { error, .. } if error.problem.contains("merge") => {
                CommandError::usage(message).with_hint(
                    "take either side, then run `brief sync`: it brings the lock up to date",
                )
            }
            InstallError::TooManyCapabilities { item, .. } => {
                CommandError::refused(format!("{message}; nothing was changed")).with_hint(format!(
                    "leave it out with `exclude = [\"{}\"]`, or ask its author to split it",
                    item.full_name()
                ))
            }
            // To remove the lock of a newer version would undo what that version has decided.
            InstallError::Lock { error, .. } if error.problem.contains("upgrade `brief`") => {
                CommandError::usage(message)
            }
            InstallError::Lock { .. } => CommandError::usage(message).with_hint(
                "restore it from version control, or remove it and run `brief sync`: what we wrote is recorded elsewhere, too",
            ),
            InstallError::Tampered { source_name, .. } => CommandError::refused(message).with_hint(
                format!("`brief.lock` or the cache has changed; `brief update {source_name}` accepts the new content"),
            ),
            InstallError::Edit { error: EditError::Outrun, .. } => CommandError::outrun(message),
            InstallError::Edit { .. } => CommandError::usage(message),
            InstallError::Source { .. } => {
                CommandError::usage(message).with_hint("correct its address in `brief.toml`")
            }
            InstallError::Fetch { error, .. } => {
                let refused = CommandError::refused(message);
                match error.as_ref() {
                    FetchError::NotCached { .. } => refused.with_hint("run it once without `--offline`"),
                    _ => refused,
                }
            }
            InstallError::Directory { .. } => CommandError::refused(message)
                .with_hint("correct `directory` in `brief.toml`, or `brief remove` the source"),
            InstallError::Signer { name, signers, .. } => {
                CommandError::refused(message).with_hint(match signers.first() {
                    Some(signer) => format!("ask its publisher; `--accept-signer '{signer}'` accepts this one"),
                    None => format!("ask its publisher; nothing accepts a missing signature but `brief remove {name}`"),
                })
            }
            InstallError::Older { name, .. } => CommandError::refused(message).with_hint(format!(
                "a registry may replay an old answer; `brief update {name}@sha256:…` goes back on purpose"
            )),
            InstallError::ForeignJournal { .. } => {
                CommandError::refused(message).with_hint("remove it, then run `brief sync`")
            }
            _ => CommandError::refused(message),
        }
    }
}

/// Returns the error for a typed source, which may not be one of the project.
pub(crate) fn refusal_of_typed(error: InstallError) -> CommandError {
    match error {
        InstallError::Fetch { error, .. } => CommandError::refused(error.to_string()),
        InstallError::Directory { path, error, .. } => {
            let (path, problem) = (cleaned(&path), brief_system::words(&error));
            let path = path.display();
            CommandError::refused(format!("the directory `{path}` cannot be opened: {problem}"))
                .with_hint(
                    "a repository on GitHub is `owner/name`; others are written as git has them",
                )
        }
        other => other.into(),
    }
}

/// Prints every unresolved name, each with advice.
pub(crate) fn tell_unresolved(ui: &mut Ui, problems: &[Unresolved]) -> Result {
    for problem in problems {
        ui.error(&problem.to_string())?;
        if let Some(help) = problem.help() {
            ui.hint(&help)?;
        }
    }
    ui.status("nothing was changed")
}
