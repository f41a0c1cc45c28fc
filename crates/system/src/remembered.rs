//! A system that follows the links of one path only once.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::{
    Call, Companion, Dir, Ending, FileKind, Files, Interruption, Machine, Processes, ReadError,
    Resolved, Stream, System, TemporaryDir,
};

/// Remembers what paths resolve to, for the length of one question: several dialects ask about the
/// same few. Everything else goes through.
pub struct Remembered {
    system: Arc<dyn System>,
    known: Mutex<BTreeMap<PathBuf, Result<Resolved, io::ErrorKind>>>,
    has_user: bool,
}

impl Remembered {
    /// Starts with nothing remembered.
    pub fn new(system: Arc<dyn System>) -> Self {
        Remembered { system, known: Mutex::new(BTreeMap::new()), has_user: true }
    }

    /// Hides the environment, and with it the home directory: the answer is about the project alone.
    #[must_use]
    pub fn without_user(self) -> Self {
        Remembered { has_user: false, ..self }
    }
}

impl Files for Remembered {
    fn files_behind<'p>(&self, path: &'p Path) -> Option<(&dyn Files, Cow<'p, Path>)> {
        Some((self.system.as_ref(), Cow::Borrowed(path)))
    }

    fn resolve(&self, path: &Path) -> io::Result<Resolved> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(resolved) = known.get(path) {
            return resolved.clone().map_err(io::Error::from);
        }
        let resolved = self.system.resolve(path);
        let remembered = resolved.as_ref().map(Clone::clone).map_err(io::Error::kind);
        known.insert(path.to_owned(), remembered);
        resolved
    }

    fn resolve_dir(&self, path: &Path) -> io::Result<PathBuf> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(path) {
            Some(Ok(Resolved { path, kind: FileKind::Directory })) => Ok(path.clone()),
            Some(Ok(_)) => Err(io::ErrorKind::NotADirectory.into()),
            Some(&Err(kind)) => Err(kind.into()),
            None => {
                let resolved = self.system.resolve_dir(path);
                match &resolved {
                    Ok(found) => {
                        let found = Resolved { path: found.clone(), kind: FileKind::Directory };
                        known.insert(path.to_owned(), Ok(found));
                    }
                    // "Not a directory" does not say what it is.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        known.insert(path.to_owned(), Err(error.kind()));
                    }
                    Err(_) => {}
                }
                resolved
            }
        }
    }

    fn open_dir(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
        self.system.open_dir(path)
    }

    fn open_dir_below(&self, base: &Path, below: &Path) -> io::Result<Box<dyn Dir>> {
        self.system.open_dir_below(base, below)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.system.read(path, limit)
    }

    fn modified_time(&self, path: &Path) -> io::Result<SystemTime> {
        self.system.modified_time(path)
    }

    fn temporary_dir(&self) -> io::Result<TemporaryDir> {
        self.system.temporary_dir()
    }
}

impl Processes for Remembered {
    fn work_in(&self, directory: &Path) {
        self.system.work_in(directory);
    }

    fn run_program(
        &self,
        call: &Call,
        output: &mut dyn FnMut(Stream, &[u8]),
    ) -> io::Result<Ending> {
        self.system.run_program(call, output)
    }

    fn start_program(&self, call: &Call) -> io::Result<Box<dyn Companion>> {
        self.system.start_program(call)
    }

    fn own_program(&self) -> io::Result<PathBuf> {
        self.system.own_program()
    }

    fn interruption(&self) -> io::Result<Interruption> {
        self.system.interruption()
    }
}

impl Machine for Remembered {
    fn machine_behind(&self) -> Option<&dyn Machine> {
        Some(self.system.as_ref())
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        self.system.current_dir()
    }

    fn env(&self, name: &str) -> Option<OsString> {
        if self.has_user { self.system.env(name) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemorySystem;

    #[test]
    fn a_path_is_followed_once() {
        let system = MemorySystem::new("/p").with_file("a", "");
        let remembered = Remembered::new(Arc::new(system.clone()));
        let before = remembered.resolve(Path::new("/p/a")).unwrap();
        system.remove_file(Path::new("/p/a")).unwrap();
        assert_eq!(remembered.resolve(Path::new("/p/./a")).unwrap(), before);
        assert!(remembered.resolve(Path::new("/p/b")).is_err());
    }
}
