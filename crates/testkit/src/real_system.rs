//! The real disk with a simulated environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use brief_syntax::system::{
    Call, Companion, Dir, Ending, Environment, FileLock, FileOwner, Files, Identity, Machine,
    OsSystem, Ownership, Processes, ReadError, Resolved, Stream, TemporaryDir,
};

/// Real files, with the test's own environment and current directory. Programs get that environment too, and
/// every call is recorded.
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

    fn held_calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for RealSystem {
    fn ownership(&self, path: &Path) -> io::Result<Ownership> {
        let real = OsSystem.ownership(path)?;
        let is_foreign = self.foreign.as_deref() == Some(path);
        Ok(if is_foreign { Ownership { owner: FileOwner::Other, ..real } } else { real })
    }

    fn resolve(&self, path: &Path) -> io::Result<Resolved> {
        OsSystem.resolve(path)
    }

    fn open_dir(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
        OsSystem.open_dir(path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        OsSystem.read(path, limit)
    }

    fn is_executable(&self, path: &Path) -> io::Result<bool> {
        OsSystem.is_executable(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Identity> {
        OsSystem.identity(path)
    }

    fn lock(&self, path: &Path) -> io::Result<FileLock> {
        OsSystem.lock(path)
    }

    fn temporary_dir(&self) -> io::Result<TemporaryDir> {
        OsSystem.temporary_dir()
    }

    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        OsSystem.modified(path)
    }

    fn create_private_dir(&self, path: &Path) -> io::Result<()> {
        OsSystem.create_private_dir(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        OsSystem.create_dir(path)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        OsSystem.append(path, bytes)
    }

    fn create_program(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        OsSystem.create_program(path, bytes)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        OsSystem.remove_file(path)
    }

    fn remove_empty_dir(&self, path: &Path) -> io::Result<()> {
        OsSystem.remove_empty_dir(path)
    }

    fn create_staging_dir(&self, parent: &Path) -> io::Result<(PathBuf, FileLock)> {
        OsSystem.create_staging_dir(parent)
    }

    fn is_abandoned(&self, path: &Path) -> bool {
        OsSystem.is_abandoned(path)
    }

    fn create_staged_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        OsSystem.create_staged_file(path, bytes)
    }

    fn create_link(&self, path: &Path, target: &Path) -> io::Result<()> {
        OsSystem.create_link(path, target)
    }

    fn rename_dir(&self, from: &Path, to: &Path) -> io::Result<()> {
        OsSystem.rename_dir(from, to)
    }

    fn remove_tree(&self, path: &Path) -> io::Result<()> {
        OsSystem.remove_tree(path)
    }
}

impl Processes for RealSystem {
    fn run(&self, call: &Call, output: &mut dyn FnMut(Stream, &[u8])) -> io::Result<Ending> {
        self.held_calls().push(call.clone());
        if self.has_no_programs {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut call = call.clone();
        if call.environment == Environment::Inherited {
            // The test's environment comes first, so that the call can remove variables.
            let env = self.env.iter().map(|(name, value)| (name.into(), Some(value.into())));
            call.env = env.chain(call.env).collect();
        }
        if call.environment == Environment::Path
            && let Some(path) = self.env.get("PATH")
        {
            call.env.insert(0, ("PATH".into(), Some(path.into())));
        }
        OsSystem.run(&call, output)
    }

    fn start(&self, call: &Call) -> io::Result<Box<dyn Companion>> {
        self.held_calls().push(call.clone());
        OsSystem.start(call)
    }

    fn own_program(&self) -> io::Result<PathBuf> {
        self.own_program.clone().map_or_else(|| OsSystem.own_program(), Ok)
    }
}

impl Machine for RealSystem {
    fn env(&self, name: &str) -> Option<OsString> {
        self.env.get(name).filter(|value| !value.is_empty()).map(OsString::from)
    }

    fn elapsed(&self) -> Duration {
        OsSystem.elapsed()
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(self.current_dir.clone())
    }

    fn random(&self) -> io::Result<[u8; 32]> {
        OsSystem.random()
    }

    fn machine_directory(&self) -> Option<PathBuf> {
        self.machine_directory.clone()
    }

    fn now(&self) -> SystemTime {
        OsSystem.now()
    }
}
