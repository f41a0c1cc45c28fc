//! The real disk with a simulated environment.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use brief_system::{
    Call, Companion, Dir, Ending, Environment, FileOwner, Files, Interruption, Machine, OsSystem,
    Ownership, Processes, ReadError, Resolved, Stream, TemporaryDir,
};

/// Real files, with the test's own environment and current directory, to which relative paths belong. Programs get
/// that environment too, and every call is recorded. Writing does not wait for the whole disk: tests have no power
/// cut.
#[derive(Debug, Default)]
pub struct RealSystem {
    /// The environment variables.
    pub env: BTreeMap<String, String>,
    /// The current directory.
    pub current_dir: PathBuf,
    /// A path that belongs to another user.
    pub foreign: Option<PathBuf>,
    /// The directory for settings of the whole machine.
    pub machine_directory: Option<PathBuf>,
    /// True if no program is installed.
    pub has_no_programs: bool,
    /// The program that starts itself anew, where the test is not that program.
    pub own_program: Option<PathBuf>,
    calls: Mutex<Vec<Call>>,
}

impl RealSystem {
    /// Creates a system in a directory, with an empty environment.
    pub fn new(current_dir: impl Into<PathBuf>) -> RealSystem {
        RealSystem { current_dir: current_dir.into(), ..RealSystem::default() }
    }

    /// Sets the whole environment.
    #[must_use]
    pub fn with_env(mut self, env: BTreeMap<String, String>) -> RealSystem {
        self.env = env;
        self
    }

    /// Returns the programs that were called, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.held_calls().clone()
    }

    /// Clears the recorded calls.
    pub fn forget_calls(&self) {
        self.held_calls().clear();
    }

    /// Records a call, and gives it the test's environment in the place of that of the process.
    fn prepare_call(&self, call: &Call) -> io::Result<Call> {
        self.held_calls().push(call.clone());
        if self.has_no_programs {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut call = call.clone();
        call.directory = self.absolute_path(&call.directory);
        call.search_path = self.env.get("PATH").map(OsString::from);
        if call.environment == Environment::Inherited {
            call.environment = Environment::Path;
            let inherited = self.env.iter().filter(|(name, _)| *name != "PATH");
            let inherited = inherited.map(|(name, value)| (name.into(), value.into()));
            // The environment comes first, so that the call can set its own.
            call.env = inherited.chain(call.env).collect();
        }
        Ok(call)
    }

    /// Returns the absolute form of a path.
    fn absolute_path(&self, path: &Path) -> PathBuf {
        self.current_dir.join(path)
    }

    fn held_calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for RealSystem {
    fn files_behind<'p>(&self, path: &'p Path) -> Option<(&dyn Files, Cow<'p, Path>)> {
        Some((&OsSystem, Cow::Owned(self.absolute_path(path))))
    }

    fn ownership(&self, path: &Path) -> io::Result<Ownership> {
        let real = OsSystem.ownership(&self.absolute_path(path))?;
        let is_foreign = self.foreign.as_deref() == Some(path);
        Ok(if is_foreign { Ownership { owner: FileOwner::Other, ..real } } else { real })
    }

    fn resolve(&self, path: &Path) -> io::Result<Resolved> {
        OsSystem.resolve(&self.absolute_path(path))
    }

    fn resolve_dir(&self, path: &Path) -> io::Result<PathBuf> {
        OsSystem.resolve_dir(&self.absolute_path(path))
    }

    fn open_root(&self, path: &Path) -> io::Result<(Box<dyn Dir>, PathBuf)> {
        OsSystem.open_root(&self.absolute_path(path))
    }

    fn open_dir_below(&self, base: &Path, below: &Path) -> io::Result<Box<dyn Dir>> {
        OsSystem.open_dir_below(&self.absolute_path(base), below)
    }

    fn open_dir(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
        OsSystem.open_dir(&self.absolute_path(path))
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        OsSystem.read(&self.absolute_path(path), limit)
    }

    fn temporary_dir(&self) -> io::Result<TemporaryDir> {
        OsSystem.temporary_dir()
    }

    fn modified_time(&self, path: &Path) -> io::Result<SystemTime> {
        OsSystem.modified_time(&self.absolute_path(path))
    }

    fn sync_file_system(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

impl Processes for RealSystem {
    fn work_in(&self, directory: &Path) {
        OsSystem.work_in(directory);
    }

    fn run_program(
        &self,
        call: &Call,
        output: &mut dyn FnMut(Stream, &[u8]),
    ) -> io::Result<Ending> {
        OsSystem.run_program(&self.prepare_call(call)?, output)
    }

    fn start_program(&self, call: &Call) -> io::Result<Box<dyn Companion>> {
        OsSystem.start_program(&self.prepare_call(call)?)
    }

    fn interruption(&self) -> io::Result<Interruption> {
        OsSystem.interruption()
    }

    fn own_program(&self) -> io::Result<PathBuf> {
        self.own_program.clone().map_or_else(|| OsSystem.own_program(), Ok)
    }
}

impl Machine for RealSystem {
    fn machine_behind(&self) -> Option<&dyn Machine> {
        Some(&OsSystem)
    }

    fn env(&self, name: &str) -> Option<OsString> {
        self.env.get(name).filter(|value| !value.is_empty()).map(OsString::from)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(self.current_dir.clone())
    }

    fn machine_directory(&self) -> Option<PathBuf> {
        self.machine_directory.clone()
    }
}
