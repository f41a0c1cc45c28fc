//! Backups of files that our outputs have replaced.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use brief_syntax::limits;
use brief_system::{Dir, FileContent};

use super::disk::Disk;
use super::split_path;

/// The directory of backups, below the directory of our own state.
pub(crate) const BACKUPS: &str = "backups";

/// Copies a file before it is replaced, and returns the name of the copy.
pub(super) fn back_up(disk: &mut Disk<'_>, own: &Disk<'_>, path: &str) -> io::Result<String> {
    let content = disk.read_file(path).map_err(io::Error::other)?;
    // A private file stays private.
    let mut directory = own.make_private_directory(BACKUPS)?;
    let (parent, name) = split_path(path);
    for part in parent.split('/').filter(|part| !part.is_empty()) {
        directory = directory.make_dir(OsStr::new(part))?;
    }
    let mut copy = name.to_owned();
    for number in 2.. {
        match directory.read(OsStr::new(&copy), limits::SUPPORT_FILE_BYTES) {
            Ok(bytes) if bytes == content.bytes => break,
            Ok(_) => copy = format!("{name}.{number}"),
            Err(_) => {
                directory.put_file(OsStr::new(&copy), &content.bytes, content.permission)?;
                disk.share_permissions(directory.as_ref(), &copy, path)?;
                break;
            }
        }
    }
    Ok(if parent.is_empty() { copy } else { format!("{parent}/{copy}") })
}

/// The content of a backup.
pub(super) struct BackupFile {
    pub(super) content: FileContent,
    directory: Box<dyn Dir>,
    name: String,
}

impl BackupFile {
    /// Gives a staged file the permissions of the backup.
    pub(super) fn share_permissions(&self, stage: &dyn Dir, staged: &str) -> io::Result<()> {
        self.directory.share_permissions(stage, OsStr::new(staged), OsStr::new(&self.name))
    }
}

/// Reads a backup; `None` when it was removed.
pub(super) fn read_backup(own: &Disk<'_>, copy: &str) -> io::Result<Option<BackupFile>> {
    let Some(mut directory) = own.open_directory(BACKUPS)? else { return Ok(None) };
    let (parent, name) = split_path(copy);
    if !parent.is_empty() {
        match directory.open_dir_below(Path::new(parent)) {
            Ok(below) => directory = below,
            Err(_) => return Ok(None),
        }
    }
    let content = directory.read_file(OsStr::new(name), limits::SUPPORT_FILE_BYTES);
    Ok(content.ok().map(|content| BackupFile { content, directory, name: name.to_owned() }))
}
