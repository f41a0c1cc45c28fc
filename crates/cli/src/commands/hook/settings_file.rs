//! A client's settings file on disk: read, changed in memory, replaced in one step.

use std::io;
use std::path::{Path, PathBuf};

use brief_clients::settings::{NEW_FILE, SettingsError};
use brief_engine::System;
use brief_syntax::limits;
use brief_syntax::system::ReadError;

use crate::error::CommandError;

/// `.claude/settings.local.json` of a project.
pub(crate) struct LocalSettings {
    /// The file to write: the file itself, or the target of a link inside the project.
    path: PathBuf,
    text: Option<String>,
}

/// The result of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingsEdit {
    Changed,
    Unchanged,
}

/// The reason why a settings file was not changed.
pub(crate) enum SettingsFileError {
    /// It is outside the project.
    Outside,
    /// It cannot be read.
    Read(ReadError),
    /// It is not UTF-8.
    NotText,
    /// It cannot be written.
    Write(io::Error),
    /// Its content is not a valid settings file.
    Settings(SettingsError),
}

impl From<SettingsFileError> for CommandError {
    fn from(error: SettingsFileError) -> Self {
        CommandError::refused(format!("`{}` {error}", LocalSettings::NAME))
            .with_hint("the file was left as it is")
    }
}

impl std::fmt::Display for SettingsFileError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SettingsFileError::Outside => formatter.write_str("leads out of the project"),
            SettingsFileError::Read(error) => write!(formatter, "cannot be read: {error}"),
            SettingsFileError::NotText => formatter.write_str("is not UTF-8"),
            SettingsFileError::Write(error) => write!(formatter, "cannot be written: {error}"),
            SettingsFileError::Settings(error) => write!(formatter, "{error}"),
        }
    }
}

impl LocalSettings {
    pub(crate) const DIRECTORY: &'static str = ".claude";
    pub(crate) const NAME: &'static str = ".claude/settings.local.json";

    /// Reads the settings of the project at `root`.
    fn open(system: &dyn System, root: &Path) -> Result<LocalSettings, SettingsFileError> {
        let directory = root.join(Self::DIRECTORY);
        // A link may lead to another place in the project, but not out of it.
        for path in [&directory, &root.join(Self::NAME)] {
            if system.resolve(path).is_ok_and(|resolved| !resolved.path.starts_with(root)) {
                return Err(SettingsFileError::Outside);
            }
        }
        let path = root.join(Self::NAME);
        let path = system.resolve(&path).map_or(path, |resolved| resolved.path);
        let text = match system.read(&path, limits::FILE_BYTES) {
            Ok(bytes) => Some(String::from_utf8(bytes).map_err(|_| SettingsFileError::NotText)?),
            Err(ReadError::Missing) => None,
            Err(error) => return Err(SettingsFileError::Read(error)),
        };
        Ok(LocalSettings { path, text })
    }

    /// Changes the settings of the project at `root`: `edit` gets the text, if there is any, and
    /// returns the new one. An empty file of ours is removed. Returns whether anything changed.
    pub(crate) fn edit(
        system: &dyn System,
        root: &Path,
        edit: impl FnOnce(Option<&str>) -> Result<Option<String>, SettingsError>,
    ) -> Result<SettingsEdit, SettingsFileError> {
        let file = LocalSettings::open(system, root)?;
        match edit(file.text()).map_err(SettingsFileError::Settings)? {
            Some(text) if text == NEW_FILE => {
                system.remove_file(&file.path).map_err(SettingsFileError::Write)?;
                Ok(SettingsEdit::Changed)
            }
            Some(text) => file.write(system, &text).map(|()| SettingsEdit::Changed),
            None => Ok(SettingsEdit::Unchanged),
        }
    }

    /// Returns the text, if the file exists.
    fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Replaces the file and creates its directory if needed.
    fn write(&self, system: &dyn System, text: &str) -> Result<(), SettingsFileError> {
        if let Some(directory) = self.path.parent() {
            system.create_dir(directory).map_err(SettingsFileError::Write)?;
        }
        system.replace_file(&self.path, text.as_bytes()).map_err(SettingsFileError::Write)
    }
}
