//! A client's own file: read, changed in memory, replaced in one step.

use std::io;
use std::path::{Path, PathBuf};

use brief_syntax::limits;
use brief_system::{ReadError, System};

/// A file below a project or the home directory.
pub struct ClientFile<'f> {
    system: &'f dyn System,
    base: PathBuf,
    /// The file to write: the file itself, or the target of a link below the same base.
    path: PathBuf,
    text: Option<String>,
}

/// The result of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileEdit {
    /// The file has another text, or is gone.
    Changed,
    /// The file is as it was.
    Unchanged,
}

/// A client's file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientFileError {
    /// A link leads out of the base.
    #[error("points outside its directory")]
    Outside,
    #[error("cannot be read: {0}")]
    Read(#[source] ReadError),
    /// It is not UTF-8.
    #[error("is not UTF-8")]
    NotText,
    #[error("cannot be written: {0}")]
    Write(#[source] io::Error),
}

impl<'f> ClientFile<'f> {
    /// Reads the file `name` below `base`, which has no links. A missing file has no text.
    pub fn open(
        system: &'f dyn System,
        base: &Path,
        name: &str,
    ) -> Result<ClientFile<'f>, ClientFileError> {
        let path = base.join(name);
        // A link may lead to another place below the base, but not out of it.
        for above in path.ancestors().take_while(|above| *above != base) {
            if system.resolve(above).is_ok_and(|resolved| !resolved.path.starts_with(base)) {
                return Err(ClientFileError::Outside);
            }
        }
        let path = system.resolve(&path).map_or(path, |resolved| resolved.path);
        let text = match system.read(&path, limits::FILE_BYTES) {
            Ok(bytes) => Some(String::from_utf8(bytes).map_err(|_| ClientFileError::NotText)?),
            Err(ReadError::Missing) => None,
            Err(error) => return Err(ClientFileError::Read(error)),
        };
        Ok(ClientFile { system, base: base.to_owned(), path, text })
    }

    /// Returns the path of the file itself, with its links followed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the text, if the file exists.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Replaces the text; an empty text removes the file and directories that are empty then, and `None` changes
    /// nothing. A new file is a program if `is_program` is true.
    pub fn write_text(
        &self,
        text: Option<&str>,
        is_program: bool,
    ) -> Result<FileEdit, ClientFileError> {
        let Some(text) = text else { return Ok(FileEdit::Unchanged) };
        let written =
            if text.is_empty() { self.remove_file() } else { self.replace_file(text, is_program) };
        written.map_err(ClientFileError::Write)?;
        Ok(FileEdit::Changed)
    }

    fn remove_file(&self) -> io::Result<()> {
        self.system.remove_file(&self.path)?;
        let is_below =
            |directory: &&Path| *directory != self.base && directory.starts_with(&self.base);
        for directory in self.path.ancestors().skip(1).take_while(is_below) {
            // A directory that holds something else stays, and so do those above it.
            if self.system.remove_empty_dir(directory).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn replace_file(&self, text: &str, is_program: bool) -> io::Result<()> {
        if let Some(directory) = self.path.parent() {
            self.system.create_dir(directory)?;
        }
        if is_program {
            self.system.replace_program(&self.path, text.as_bytes())
        } else {
            self.system.replace_file(&self.path, text.as_bytes())
        }
    }
}
