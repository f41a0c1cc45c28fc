//! The real disk up to a certain step: from there on the process is killed, or the disk refuses.
//!
//! Every call with an effect on the disk is a step. A test repeats a run for each step, which covers every
//! point at which a process can be killed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use brief_system::{
    Access, Below, Call, Dir, DirEntry, DirPlace, Ending, FileContent, FileLock, Files, Machine,
    Permission, Processes, ReadError, Resolved, STAGED, StagedFile, Status, Stream, TemporaryDir,
};

use crate::RealSystem;

/// The fault to inject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fault {
    /// No fault; steps are only counted.
    #[default]
    None,
    /// The process is killed in this step, counted from 0: half of its bytes reach the disk. Nothing changes
    /// afterwards, whatever the code tries.
    Dies {
        /// The number of the step.
        at: usize,
    },
    /// The system refuses this step, and no other.
    Refuses {
        /// The number of the step.
        at: usize,
        /// The error of the system.
        refusal: Refusal,
    },
}

/// The error of a refused step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The disk is full.
    Full,
    /// The disk is broken.
    Broken,
    /// The file system is mounted read-only.
    ReadOnly,
    /// The user lacks the permission.
    Forbidden,
    /// The user's disk quota is exhausted.
    Quota,
    /// A signal interrupted the call.
    Interrupted,
    /// The process has too many open files.
    TooManyFiles,
}

impl Refusal {
    /// All refusals.
    pub const ALL: [Refusal; 7] = [
        Refusal::Full,
        Refusal::Broken,
        Refusal::ReadOnly,
        Refusal::Forbidden,
        Refusal::Quota,
        Refusal::Interrupted,
        Refusal::TooManyFiles,
    ];

    /// Returns the error with its usual number on Unix; that of a quota differs between systems.
    fn to_error(self) -> io::Error {
        io::Error::from_raw_os_error(match self {
            Refusal::Full => 28,
            Refusal::Broken => 5,
            Refusal::ReadOnly => 30,
            Refusal::Forbidden => 13,
            Refusal::Quota if cfg!(target_os = "linux") => 122,
            Refusal::Quota => 69,
            Refusal::Interrupted => 4,
            Refusal::TooManyFiles => 24,
        })
    }
}

/// A missing feature of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lack {
    /// Nothing is missing.
    #[default]
    Nothing,
    /// Two files cannot be exchanged.
    Exchange,
    /// Directories called `.brief`, with all their files, are on another file system.
    OneDevice,
}

/// The real system with an injected fault.
#[derive(Debug)]
pub struct Faulty {
    real: RealSystem,
    log: Log,
}

#[derive(Debug, Clone)]
struct Log(Arc<Mutex<FaultState>>);

#[derive(Debug, Default)]
struct FaultState {
    fault: Fault,
    steps: Vec<String>,
    /// The most bytes of a single step.
    largest: usize,
    lack: Lack,
    /// The directories on the other file system.
    away: BTreeSet<u64>,
    /// The order of listings; 0 is that of the system.
    order: u64,
}

/// The extent to which a step happens.
enum StepExtent {
    /// The whole step happens.
    Whole,
    /// The process is killed in this step.
    Half,
}

impl Log {
    fn lock_state(&self) -> MutexGuard<'_, FaultState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a step. Fails if it does not happen at all.
    fn count_step(&self, what: &str, name: &OsStr) -> io::Result<StepExtent> {
        let mut state = self.lock_state();
        let number = state.steps.len();
        state.steps.push(format!("{what} {}", name.to_string_lossy()));
        match state.fault {
            Fault::Dies { at } if number == at => Ok(StepExtent::Half),
            Fault::Dies { at } if number > at => Err(process_gone_error()),
            Fault::Refuses { at, refusal } if number == at => Err(refusal.to_error()),
            _ => Ok(StepExtent::Whole),
        }
    }

    /// Runs a step that happens as a whole or not at all.
    fn run_whole_step<T>(
        &self,
        what: &str,
        name: &OsStr,
        call: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        match self.count_step(what, name)? {
            StepExtent::Whole => call(),
            StepExtent::Half => Err(process_gone_error()),
        }
    }

    /// Runs a step that writes. A process that is killed there writes the first half.
    fn run_writing_step<T>(
        &self,
        what: &str,
        name: &OsStr,
        bytes: &[u8],
        write: impl FnOnce(&[u8]) -> io::Result<T>,
    ) -> io::Result<T> {
        let extent = self.count_step(what, name)?;
        {
            let mut state = self.lock_state();
            state.largest = state.largest.max(bytes.len());
        }
        match extent {
            StepExtent::Whole => write(bytes),
            StepExtent::Half => {
                write(&bytes[..bytes.len() / 2]).and_then(|_| Err(process_gone_error()))
            }
        }
    }

    /// Wraps a directory that was opened below another one.
    fn wrap_dir(&self, real: Box<dyn Dir>, above: Option<&dyn Dir>, path: &Path) -> Box<dyn Dir> {
        let is_away = path.iter().any(|name| name == ".brief")
            || above.is_some_and(|above| self.is_away(above));
        if let (true, Some(number)) = (is_away, number(real.as_ref())) {
            self.lock_state().away.insert(number);
        }
        Box::new(FaultyDir { real, log: self.clone() })
    }

    fn is_away(&self, directory: &dyn Dir) -> bool {
        number(directory).is_some_and(|number| self.lock_state().away.contains(&number))
    }

    /// Fails if the file system lacks the feature.
    fn check_lack(&self, is_exchange: bool, from: &dyn Dir, to: &dyn Dir) -> io::Result<()> {
        let lack = self.lock_state().lack;
        match lack {
            Lack::Exchange if is_exchange => Err(io::ErrorKind::Unsupported.into()),
            Lack::OneDevice if self.is_away(from) != self.is_away(to) => {
                Err(io::ErrorKind::CrossesDevices.into())
            }
            _ => Ok(()),
        }
    }
}

/// Returns the inode number of a directory.
#[cfg(unix)]
fn number(directory: &dyn Dir) -> Option<u64> {
    match directory.dir_place()? {
        DirPlace::Descriptor(descriptor) => Some(rustix::fs::fstat(descriptor).ok()?.st_ino),
        _ => None,
    }
}

#[cfg(not(unix))]
fn number(_directory: &dyn Dir) -> Option<u64> {
    None
}

fn process_gone_error() -> io::Error {
    io::Error::other("the process is gone")
}

impl Faulty {
    /// Wraps a system.
    pub fn new(real: RealSystem, fault: Fault) -> Faulty {
        let state = FaultState { fault, ..FaultState::default() };
        Faulty { real, log: Log(Arc::new(Mutex::new(state))) }
    }

    /// Removes a feature of the file system.
    #[must_use]
    pub fn lacking(self, lack: Lack) -> Faulty {
        self.log.lock_state().lack = lack;
        self
    }

    /// Lists directories in another order.
    #[must_use]
    pub fn in_order(self, order: u64) -> Faulty {
        self.log.lock_state().order = order;
        self
    }

    /// Returns the steps so far, each with the name of its file.
    pub fn steps(&self) -> Vec<String> {
        self.log.lock_state().steps.clone()
    }

    /// Returns whether the fault has happened.
    pub fn has_failed(&self) -> bool {
        let state = self.log.lock_state();
        match state.fault {
            Fault::None => false,
            Fault::Dies { at } | Fault::Refuses { at, .. } => state.steps.len() > at,
        }
    }

    /// Returns the most bytes of a single step.
    pub fn largest_write(&self) -> usize {
        self.log.lock_state().largest
    }

    fn run_whole_step<T>(
        &self,
        what: &str,
        path: &Path,
        call: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        self.log.run_whole_step(what, path.file_name().unwrap_or_default(), call)
    }

    fn run_writing_step(
        &self,
        what: &str,
        path: &Path,
        bytes: &[u8],
        write: impl FnOnce(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.log.run_writing_step(what, path.file_name().unwrap_or_default(), bytes, write)
    }
}

/// A directory of the real system.
struct FaultyDir {
    real: Box<dyn Dir>,
    log: Log,
}

/// A file that is written in pieces.
struct FaultyFile<W: ?Sized> {
    real: Box<W>,
    name: OsString,
    log: Log,
}

impl<W: Write + ?Sized> Write for FaultyFile<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let write = |part: &[u8]| self.real.write_all(part).map(|()| part.len());
        self.log.run_writing_step("write", &self.name, bytes, write)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.real.flush()
    }
}

impl StagedFile for FaultyFile<dyn StagedFile> {
    /// Counts a step, as for a directory.
    fn sync_content(&mut self) -> io::Result<()> {
        self.log.run_whole_step("settle", &self.name, || Ok(()))
    }
}

impl Dir for FaultyDir {
    fn open_dir(&self, name: &OsStr) -> io::Result<Box<dyn Dir>> {
        let opened = self.real.open_dir(name)?;
        Ok(self.log.wrap_dir(opened, Some(self), Path::new(name)))
    }

    fn open_dir_below(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
        Ok(self.log.wrap_dir(self.real.open_dir_below(path)?, Some(self), path))
    }

    fn read(&self, name: &OsStr, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.real.read(name, limit)
    }

    fn read_listed(&self, name: &OsStr, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.real.read_listed(name, limit)
    }

    fn read_file(&self, name: &OsStr, limit: u64) -> Result<FileContent, ReadError> {
        self.real.read_file(name, limit)
    }

    fn read_pieces(
        &self,
        name: &OsStr,
        limit: u64,
        piece: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Permission, ReadError> {
        self.real.read_pieces(name, limit, piece)
    }

    fn make_dir(&self, name: &OsStr) -> io::Result<Box<dyn Dir>> {
        let made = self.log.run_whole_step("make_dir", name, || self.real.make_dir(name))?;
        Ok(self.log.wrap_dir(made, Some(self), Path::new(name)))
    }

    /// A process that is killed there leaves an empty file.
    fn stage_file(&self, access: Access) -> io::Result<Box<dyn StagedFile>> {
        let extent = self.log.count_step("stage_file", OsStr::new(STAGED))?;
        let real = self.real.stage_file(access)?;
        match extent {
            StepExtent::Whole => {
                Ok(Box::new(FaultyFile { real, name: STAGED.into(), log: self.log.clone() }))
            }
            StepExtent::Half => Err(process_gone_error()),
        }
    }

    fn create_file(&self, name: &OsStr, permission: Permission) -> io::Result<Box<dyn Write>> {
        let real = self
            .log
            .run_whole_step("create_file", name, || self.real.create_file(name, permission))?;
        Ok(Box::new(FaultyFile { real, name: name.to_owned(), log: self.log.clone() }))
    }

    fn take_file(&self, from: &dyn Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
        self.log.run_whole_step("take_file", target, || {
            self.log.check_lack(false, from, self)?;
            self.real.take_file(from, name, target)
        })
    }

    fn take_new_file(&self, from: &dyn Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
        self.log
            .run_whole_step("take_new_file", target, || self.real.take_new_file(from, name, target))
    }

    fn exchange_file(&self, from: &dyn Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
        self.log.run_whole_step("exchange_file", target, || {
            self.log.check_lack(true, from, self)?;
            self.real.exchange_file(from, name, target)
        })
    }

    fn share_permissions(&self, to: &dyn Dir, name: &OsStr, model: &OsStr) -> io::Result<()> {
        self.log.run_whole_step("share_permissions", model, || {
            self.real.share_permissions(to, name, model)
        })
    }

    fn dir_place(&self) -> Option<DirPlace<'_>> {
        self.real.dir_place()
    }

    fn status(&self, name: &OsStr) -> io::Result<Status> {
        self.real.status(name)
    }

    /// Counts a step without waiting for the disk: tests have no power cut.
    fn sync_directory(&self) -> io::Result<()> {
        self.log.run_whole_step("settle", OsStr::new(""), || Ok(()))
    }

    fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        self.log.run_whole_step("remove_file", name, || self.real.remove_file(name))
    }

    fn remove_empty_dir(&self, name: &OsStr) -> io::Result<()> {
        self.log.run_whole_step("remove_empty_dir", name, || self.real.remove_empty_dir(name))
    }

    fn look_below(&self, path: &Path) -> Below {
        self.real.look_below(path)
    }

    fn first_entries(&self, limit: usize) -> io::Result<Vec<DirEntry>> {
        let mut entries = self.real.first_entries(limit)?;
        let order = self.log.lock_state().order;
        if order != 0 {
            let place = |entry: &DirEntry| {
                let mut hasher = DefaultHasher::new();
                (order, &entry.name).hash(&mut hasher);
                hasher.finish()
            };
            entries.sort_by_key(place);
        }
        Ok(entries)
    }
}

/// Whatever has an effect on the disk is a step; the rest goes to the real system.
impl Files for Faulty {
    fn files_behind<'p>(&self, path: &'p Path) -> Option<(&dyn Files, Cow<'p, Path>)> {
        Some((&self.real, Cow::Borrowed(path)))
    }

    fn resolve(&self, path: &Path) -> io::Result<Resolved> {
        self.real.resolve(path)
    }

    fn open_dir(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
        Ok(self.log.wrap_dir(self.real.open_dir(path)?, None, path))
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.real.read(path, limit)
    }

    fn lock(&self, path: &Path) -> io::Result<FileLock> {
        self.run_whole_step("lock", path, || self.real.lock(path))
    }

    fn temporary_dir(&self) -> io::Result<TemporaryDir> {
        self.run_whole_step("temporary_dir", Path::new(""), || self.real.temporary_dir())
    }

    fn modified_time(&self, path: &Path) -> io::Result<SystemTime> {
        self.real.modified_time(path)
    }

    fn create_private_dir(&self, path: &Path) -> io::Result<()> {
        self.run_whole_step("create_private_dir", path, || self.real.create_private_dir(path))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.run_whole_step("create_dir", path, || self.real.create_dir(path))
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.run_writing_step("append", path, bytes, |bytes| self.real.append(path, bytes))
    }

    fn create_program(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.run_writing_step("create_program", path, bytes, |bytes| {
            self.real.create_program(path, bytes)
        })
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.run_whole_step("remove_file", path, || self.real.remove_file(path))
    }

    fn remove_empty_dir(&self, path: &Path) -> io::Result<()> {
        self.run_whole_step("remove_empty_dir", path, || self.real.remove_empty_dir(path))
    }

    fn create_staging_dir(&self, parent: &Path) -> io::Result<(PathBuf, FileLock)> {
        self.run_whole_step("create_staging_dir", parent, || self.real.create_staging_dir(parent))
    }

    fn create_staged_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.run_writing_step("create_staged_file", path, bytes, |bytes| {
            self.real.create_staged_file(path, bytes)
        })
    }

    fn create_link(&self, path: &Path, target: &Path) -> io::Result<()> {
        self.run_whole_step("create_link", path, || self.real.create_link(path, target))
    }

    fn rename_dir(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run_whole_step("rename_dir", to, || self.real.rename_dir(from, to))
    }

    fn remove_tree(&self, path: &Path) -> io::Result<()> {
        self.run_whole_step("remove_tree", path, || self.real.remove_tree(path))
    }

    /// Counts a step, as for a directory.
    fn sync_file_system(&self, path: &Path) -> io::Result<()> {
        self.run_whole_step("settle", path, || Ok(()))
    }
}

impl Processes for Faulty {
    fn run_program(
        &self,
        call: &Call,
        output: &mut dyn FnMut(Stream, &[u8]),
    ) -> io::Result<Ending> {
        self.log.run_whole_step("run", &call.program, || self.real.run_program(call, output))
    }
}

impl Machine for Faulty {
    fn machine_behind(&self) -> Option<&dyn Machine> {
        Some(&self.real)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        self.real.current_dir()
    }

    fn env(&self, name: &str) -> Option<OsString> {
        self.real.env(name)
    }
}
