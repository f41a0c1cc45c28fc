//! Programs on a real system: which file is one, and what starts and ends it.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the seam that everything else goes through"
)]

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::OsSystem;
#[cfg(unix)]
use super::{companion, keeper, process, search};
use crate::Processes;
#[cfg(unix)]
use crate::{Call, Companion, Ending, Interruption, Stream};

impl Processes for OsSystem {
    #[cfg(unix)]
    fn work_in(&self, directory: &Path) {
        search::avoid_directory(directory);
    }

    fn own_program(&self) -> io::Result<PathBuf> {
        // The kernel's own link leads to the program also after its file was replaced.
        #[cfg(target_os = "linux")]
        if std::fs::symlink_metadata("/proc/self/exe").is_ok() {
            return Ok(PathBuf::from("/proc/self/exe"));
        }
        std::env::current_exe()
    }

    #[cfg(unix)]
    fn run_program(
        &self,
        call: &Call,
        output: &mut dyn FnMut(Stream, &[u8]),
    ) -> io::Result<Ending> {
        process::run_program(call, output)
    }

    #[cfg(unix)]
    fn start_program(&self, call: &Call) -> io::Result<Box<dyn Companion>> {
        companion::start_companion(call)
    }

    #[cfg(unix)]
    fn supervise_program(&self, call: &Call, directory: &Path) -> io::Result<()> {
        keeper::supervise_program(call, directory)
    }

    #[cfg(unix)]
    fn run_for(&self, parent: u32, call: &Call) -> io::Result<Ending> {
        keeper::run_for(parent, call)
    }

    #[cfg(unix)]
    fn hand_over(&self, program: &OsStr, args: &[OsString]) -> io::Result<u8> {
        Err(process::hand_over(program, args))
    }

    #[cfg(not(unix))]
    fn hand_over(&self, program: &OsStr, args: &[OsString]) -> io::Result<u8> {
        // A bare name would be looked up in the project, too.
        if Path::new(program).is_relative() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let status = std::process::Command::new(program).args(args).status()?;
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }

    #[cfg(unix)]
    fn show_in_pager(&self, command: &OsStr, text: &[u8]) -> io::Result<()> {
        process::show_in_pager(command, text)
    }

    #[cfg(unix)]
    fn interruption(&self) -> io::Result<Interruption> {
        process::shared_interruption()
    }
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
