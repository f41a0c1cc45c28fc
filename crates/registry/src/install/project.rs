//! The directories of an installation: where its project is, and the files that say what it wants and has.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::portable::config;
use brief_syntax::project::repository_around;
use brief_syntax::{Source, limits};
use brief_system::{Files, Machine, config_directory, home_directory, state_directory};

use super::InstallError;
use crate::lock::{self, Lock};
use crate::manifest::Manifest;
use crate::outputs::{if_there, record};

/// The directories of an installation, for a project or for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPaths {
    /// The directory for files of clients: the project, or the home directory.
    pub outputs: PathBuf,
    /// The directory of `brief.toml` and `brief.lock`.
    pub config: PathBuf,
    /// The directory for our own state.
    pub own: PathBuf,
}

impl ProjectPaths {
    /// Returns the directories of a project.
    pub fn from_root(root: &Path) -> ProjectPaths {
        ProjectPaths {
            outputs: root.to_owned(),
            config: root.to_owned(),
            own: root.join(record::DIRECTORY),
        }
    }

    /// Returns the directories of the project around `start`, a path without links: the nearest directory with
    /// a `brief.toml` inside the repository, else the top of the repository. Outside a repository it is
    /// `start` itself, because other users may own the directories above.
    pub fn find_enclosing(system: &dyn Files, start: &Path) -> ProjectPaths {
        let Some(top) = repository_around(system, start) else {
            return ProjectPaths::from_root(start);
        };
        let mut inside = start.ancestors().take_while(|directory| directory.starts_with(top));
        let nearest =
            inside.find(|directory| system.resolve(&directory.join(config::FILE_NAME)).is_ok());
        ProjectPaths::from_root(nearest.unwrap_or(top))
    }

    /// Returns the directories of the user; `None` where the environment names no home directory.
    pub fn of_user(system: &dyn Machine) -> Option<ProjectPaths> {
        Some(ProjectPaths {
            outputs: home_directory(system)?,
            config: config_directory(system)?,
            own: state_directory(system)?.join("installed"),
        })
    }

    /// Returns the path of the manifest.
    pub fn manifest_path(&self) -> PathBuf {
        self.config.join(config::FILE_NAME)
    }

    /// Returns the path of the lock.
    pub fn lock_path(&self) -> PathBuf {
        self.config.join(lock::FILE_NAME)
    }
    /// Reads the text of the manifest; `None` when there is none.
    pub fn read_manifest(&self, system: &dyn Files) -> Result<Option<Arc<Source>>, InstallError> {
        let path = self.manifest_path();
        let bytes = read_optional_file(system, &path, limits::FILE_BYTES)?;
        Ok(bytes.map(|bytes| Arc::new(Source::from_bytes(path, bytes))))
    }

    /// Reads the lock; `None` when there is none.
    pub fn read_lock(&self, system: &dyn Files) -> Result<Option<Lock>, InstallError> {
        let path = self.lock_path();
        let Some(bytes) = read_optional_file(system, &path, limits::BUILD_RECORD_BYTES)? else {
            return Ok(None);
        };
        let lock = Lock::parse(&String::from_utf8_lossy(&bytes));
        lock.map(Some).map_err(|error| InstallError::Lock { path, error })
    }

    /// Returns the evidence that the project installs items of registries; `None` if it does not.
    pub fn find_install_evidence(&self, system: &dyn Files) -> Option<&'static str> {
        if system.read(&self.lock_path(), limits::BUILD_RECORD_BYTES).is_ok() {
            return Some("has a brief.lock");
        }
        let source = self.read_manifest(system).ok().flatten()?;
        let manifest = Manifest::parse(&source).ok()?;
        (!manifest.sources.is_empty()).then_some("its brief.toml has `[sources]`")
    }
}

fn read_optional_file(
    system: &dyn Files,
    path: &Path,
    limit: u64,
) -> Result<Option<Vec<u8>>, InstallError> {
    if_there(system.read(path, limit)).map_err(|error| InstallError::Unreadable {
        path: path.to_owned(),
        problem: error.to_string(),
    })
}
