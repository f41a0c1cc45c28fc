//! A client's file on disk: read, changed in memory, replaced in one step.

use std::io;
use std::path::{Path, PathBuf};

use brief_clients::hook::install::HookFileError;
use brief_engine::System;
use brief_syntax::limits;
use brief_syntax::system::ReadError;

use crate::error::CommandError;

/// A file below a project or the home directory.
pub(crate) struct ClientFile<'f> {
    system: &'f dyn System,
    /// The path as it is shown, below its base.
    name: &'f str,
    /// The file to write: the file itself, or the target of a link below the same base.
    path: PathBuf,
    text: Option<String>,
}

/// The result of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileEdit {
    Changed,
    Unchanged,
}

/// The reason why a file was not changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientFileError {
    #[error("leads out of the project")]
    Outside,
    #[error("cannot be read: {0}")]
    Read(ReadError),
    #[error("is not UTF-8")]
    NotText,
    #[error("cannot be written: {0}")]
    Write(io::Error),
    #[error("{0}")]
    Content(#[from] HookFileError),
}

impl ClientFileError {
    /// Returns the error for a command.
    pub(crate) fn about(self, name: &str) -> CommandError {
        CommandError::refused(format!("`{name}` {self}")).with_hint("the file was left as it is")
    }
}

impl<'f> ClientFile<'f> {
    /// Reads a file below `base`.
    pub(crate) fn open(
        system: &'f dyn System,
        base: &Path,
        name: &'f str,
    ) -> Result<ClientFile<'f>, ClientFileError> {
        let path = base.join(name);
        // A link may lead to another place below the base, but not out of it.
        let below = path.ancestors().take_while(|path| *path != base);
        for path in below {
            if system.resolve(path).is_ok_and(|resolved| !resolved.path.starts_with(base)) {
                return Err(ClientFileError::Outside);
            }
        }
        let path = system.resolve(&path).map_or(path, |resolved| resolved.path);
        let text = match system.read(&path, limits::FILE_BYTES) {
            Ok(bytes) => Some(String::from_utf8(bytes).map_err(|_| ClientFileError::NotText)?),
            Err(ReadError::Missing) => None,
            Err(error) => return Err(ClientFileError::Read(error)),
        };
        Ok(ClientFile { system, name, path, text })
    }

    /// Returns the text, if the file exists.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Returns the path below the base.
    pub(crate) fn name(&self) -> &str {
        self.name
    }

    /// Replaces the text; an empty one removes the file. `None` changes nothing.
    pub(crate) fn put(
        &self,
        text: Option<String>,
        is_program: bool,
    ) -> Result<FileEdit, ClientFileError> {
        let Some(text) = text else { return Ok(FileEdit::Unchanged) };
        let system = self.system;
        let directory = self.path.parent();
        let written = if text.is_empty() {
            system.remove_file(&self.path)
        } else {
            directory.map_or(Ok(()), |directory| system.create_dir(directory)).and_then(|()| {
                if is_program {
                    system.replace_program(&self.path, text.as_bytes())
                } else {
                    system.replace_file(&self.path, text.as_bytes())
                }
            })
        };
        written.map_err(ClientFileError::Write)?;
        Ok(FileEdit::Changed)
    }
}
