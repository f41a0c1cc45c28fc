//! Copies of what one of ours has taken the place of.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use brief_syntax::limits;
use brief_syntax::system::{Dir, Permission};

use super::disk::Disk;
use super::split;

/// The directory of copies of what was replaced, in the directory that is only for us.
pub(crate) const BACKUPS: &str = "backups";

/// Copies a file before it is replaced, and returns the name of the copy.
pub(super) fn back_up(disk: &mut Disk<'_>, own: &Disk<'_>, path: &str) -> io::Result<String> {
    let content = disk.read(path).map_err(io::Error::other)?;
    let mut directory = own.make_directory(BACKUPS)?;
    let (parent, name) = split(path);
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
                break;
            }
        }
    }
    Ok(if parent.is_empty() { copy } else { format!("{parent}/{copy}") })
}

pub(super) fn read_backup(own: &Disk<'_>, copy: &str) -> io::Result<Option<(Vec<u8>, Permission)>> {
    let Some(directory) = own.directory(BACKUPS)? else { return Ok(None) };
    let (parent, name) = split(copy);
    let below: Box<dyn Dir>;
    let place = if parent.is_empty() {
        directory.as_ref()
    } else {
        match directory.open_dir_below(Path::new(parent)) {
            Ok(handle) => below = handle,
            Err(_) => return Ok(None),
        }
        below.as_ref()
    };
    // A copy that somebody has removed does not come back.
    let content = place.read_file(OsStr::new(name), limits::SUPPORT_FILE_BYTES);
    Ok(content.ok().map(|content| (content.bytes, content.permission)))
}
