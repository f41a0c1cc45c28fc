//! The one way in which a file gets its content.
//!
//! It is put together beside its place under the name [`STAGED`], made safe on disk, and put in place in
//! one step. So a reader sees the old file or the new one, and a run that is killed leaves the old file
//! and at most a staged one, which no listing shows and the next writer removes. Every step is one call
//! of [`Dir`], where a test can end the run or refuse the call.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::{Access, Dir, FileKind, Permission, STAGED, StagedFile, System};

/// The content that the place of a file may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Nothing: what is there stays, and the call fails with [`io::ErrorKind::AlreadyExists`].
    Nothing,
    /// A file or a link, which is replaced.
    Anything,
}

impl dyn Dir + '_ {
    /// Puts a file into this directory. A link is replaced, not followed.
    pub fn put_file(&self, name: &OsStr, bytes: &[u8], permission: Permission) -> io::Result<()> {
        let fill = &mut |file: &mut dyn StagedFile| file.write_all(bytes);
        self.put_filled_file(name, Over::Anything, permission.into(), fill)
    }

    /// Puts a file for the user alone into this directory, where nothing may be.
    pub fn put_private_file(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let fill = &mut |file: &mut dyn StagedFile| file.write_all(bytes);
        self.put_filled_file(name, Over::Nothing, Access::Private, fill)
    }

    /// Puts a file into this directory whose content `fill` writes.
    pub fn put_filled_file(
        &self,
        name: &OsStr,
        over: Over,
        access: Access,
        fill: &mut dyn FnMut(&mut dyn StagedFile) -> io::Result<()>,
    ) -> io::Result<()> {
        let staged = OsStr::new(STAGED);
        let mut target = self.stage_file(access)?;
        let filled = fill(target.as_mut()).and_then(|()| target.sync_content());
        let placed = filled.and_then(|()| match over {
            Over::Nothing => self.take_new_file(self, staged, name),
            Over::Anything => self.take_file(self, staged, name),
        });
        if placed.is_err() {
            // What went wrong is already known.
            let _ = self.remove_file(staged);
            return placed;
        }
        // The name is only safe on disk once the directory is. Without that the file is the old one or
        // the new one, and whole either way.
        let _ = self.sync_directory();
        Ok(())
    }
}

impl dyn System + '_ {
    /// Creates a file that must not exist yet. A link in the way counts as existing.
    pub fn create_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let (directory, name) = self.open_parent(path)?;
        let fill = &mut |file: &mut dyn StagedFile| file.write_all(bytes);
        directory.put_filled_file(name, Over::Nothing, Access::Data, fill)
    }

    /// Replaces the content of a file, or creates it. The file's permissions stay; a link at `path` is
    /// replaced, not followed.
    pub fn replace_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.replace_or_create(path, bytes, Access::Data)
    }

    /// Replaces a file as [`replace_file`](trait.System.html#method.replace_file) does; a new one is a program.
    pub fn replace_program(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.replace_or_create(path, bytes, Access::Program)
    }

    /// Replaces a file as [`replace_file`](trait.System.html#method.replace_file) does; a new one is for the
    /// user alone.
    pub fn replace_private_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.replace_or_create(path, bytes, Access::Private)
    }

    fn replace_or_create(&self, path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
        let (directory, name) = self.open_parent(path)?;
        let directory = directory.as_ref();
        directory.put_filled_file(name, Over::Anything, access, &mut |file| {
            // Before the first byte: it may be a secret.
            if directory.status(name).is_ok_and(|status| status.kind == FileKind::File) {
                directory.share_permissions(directory, OsStr::new(STAGED), name)?;
            }
            file.write_all(bytes)
        })
    }

    fn open_parent<'p>(&self, path: &'p Path) -> io::Result<(Box<dyn Dir>, &'p OsStr)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Ok((self.open_dir(parent.unwrap_or(Path::new(".")))?, name))
    }
}
