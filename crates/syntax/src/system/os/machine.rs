//! What this process knows of itself and may start.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the seam that everything else goes through"
)]

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The directory for settings of the whole machine. It is not looked up in the environment, which a
/// project can have a hand in.
pub(super) const MACHINE_DIRECTORY: &str = if cfg!(windows) {
    "C:\\ProgramData\\brief"
} else if cfg!(target_os = "macos") {
    "/Library/Application Support/brief"
} else {
    "/etc/brief"
};

pub(super) fn elapsed() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

pub(super) fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn own_program() -> io::Result<PathBuf> {
    // The kernel's own link leads to the program also after its file was replaced.
    #[cfg(target_os = "linux")]
    if std::fs::symlink_metadata("/proc/self/exe").is_ok() {
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe()
}

#[cfg(unix)]
pub(super) fn is_executable(path: &Path) -> io::Result<bool> {
    use rustix::fs::{Access, AtFlags, CWD};
    match rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::ACCESS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
pub(super) fn is_executable(path: &Path) -> io::Result<bool> {
    std::fs::metadata(path).map(|metadata| metadata.is_file())
}
