//! The mark that proves that this machine wrote a journal or a record.
//!
//! A journal lists files to move and to remove, and a downloaded project may contain one. So a journal has a
//! mark that only this user can make: a hash of its text and its directory with a key from the user's state
//! directory.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use brief_system::hash::sha256;
use brief_system::{FileOwner, System, Writers, render_io_error, state_directory};

/// The file with the key, in the user's state directory.
const KEY: &str = "journal.key";

/// The length of a key in hexadecimal digits.
const KEY_BYTES: usize = 64;

/// Returns the mark of a text for a directory. Returns `None` without a writable state directory; later runs
/// never carry out a journal without a mark.
pub(crate) fn create_mark(
    system: &dyn System,
    directory: &Path,
    text: &[u8],
) -> io::Result<Option<String>> {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};

    let Some(state) = state_directory(system) else { return Ok(None) };
    if read_key(system).is_none() {
        match create_key(system, &state) {
            Err(error) if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) => {}
            Err(error) => {
                let path = state.join(KEY);
                let message = format!("`{}`: {}", path.display(), render_io_error(&error));
                return Err(io::Error::new(error.kind(), message));
            }
            Ok(()) => {}
        }
    }
    Ok(read_key(system).map(|key| hash(system, &key, directory, text)))
}

/// Returns whether a mark fits a text and a directory.
pub(crate) fn is_valid(system: &dyn System, mark: &str, directory: &Path, text: &[u8]) -> bool {
    read_key(system).is_some_and(|key| hash(system, &key, directory, text) == mark)
}

fn hash(system: &dyn System, key: &str, directory: &Path, text: &[u8]) -> String {
    let directory = system.resolve_dir(directory).unwrap_or_else(|_| directory.to_owned());
    let place = sha256(directory.as_os_str().as_encoded_bytes());
    // Two rounds, so that a text cannot be extended without the key.
    let inner = sha256(format!("{key}\n{place}\n{}", sha256(text)).as_bytes());
    sha256(format!("{key}\n{inner}").as_bytes())
}

/// Reads the key. A key that another user could have written does not count.
fn read_key(system: &dyn System) -> Option<String> {
    let path = state_directory(system)?.join(KEY);
    let ownership = system.ownership(&path).ok()?;
    if ownership.owner == FileOwner::Other || ownership.writers != Writers::Owner {
        return None;
    }
    let key = String::from_utf8(system.read(&path, KEY_BYTES as u64).ok()?).ok()?;
    (key.len() == KEY_BYTES && key.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(key)
}

fn create_key(system: &dyn System, state: &Path) -> io::Result<()> {
    let key = sha256(&system.random_bytes()?);
    system.create_private_dir(state)?;
    match system.open_dir(state)?.put_private_file(OsStr::new(KEY), key.as_bytes()) {
        // Another run created it first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        outcome => outcome,
    }
}
