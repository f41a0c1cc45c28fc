//! One file in the place of another one.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the seam that everything else goes through"
)]

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

pub(super) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let mut staged = tempfile::Builder::new().prefix(".brief-").tempfile_in(directory)?;
    staged.write_all(bytes)?;
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            staged.as_file().set_permissions(metadata.permissions())?;
        }
        // A staged file is private; a new settings file is not a secret.
        #[cfg(unix)]
        Err(_) => staged.as_file().set_permissions(default_permissions())?,
        _ => {}
    }
    staged.as_file().sync_all()?;
    staged.persist(path).map_err(|error| error.error)?;
    // The rename is only safe on disk once the directory is. Not every file system can do
    // it, and the file itself is whole either way.
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
    Ok(())
}

/// The umask can only be read by setting it for the whole process, so a new file gets the usual mode
/// instead.
#[cfg(unix)]
fn default_permissions() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o644)
}
