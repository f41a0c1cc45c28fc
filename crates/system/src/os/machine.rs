//! The real environment, clock and chance.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the seam that everything else goes through"
)]

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use super::OsSystem;
use crate::Machine;

/// The directory for settings of the whole machine. It is not looked up in the environment, which a
/// project can have a hand in.
const MACHINE_DIRECTORY: &str = if cfg!(windows) {
    "C:\\ProgramData\\brief"
} else if cfg!(target_os = "macos") {
    "/Library/Application Support/brief"
} else {
    "/etc/brief"
};

impl Machine for OsSystem {
    fn current_dir(&self) -> io::Result<PathBuf> {
        env::current_dir()
    }

    fn env(&self, name: &str) -> Option<OsString> {
        env::var_os(name).filter(|value| !value.is_empty())
    }

    fn machine_directory(&self) -> Option<PathBuf> {
        Some(MACHINE_DIRECTORY.into())
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random_bytes(&self) -> io::Result<[u8; 32]> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(bytes)
    }

    fn elapsed(&self) -> Duration {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }
}
