//! The context of every command: the system, the directory, the root.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_engine::{Project, Root, System, Target, TargetKind};
use brief_registry::install;
use brief_runtime::PromptAssembly;
use brief_runtime::{Execution, Wish};
use brief_safety::policy::Policy;
use brief_system::Remembered;

use crate::error::{CommandError, Result};

/// One run of the program.
pub struct Session {
    system: Arc<dyn System>,
    directory: PathBuf,
}

impl Session {
    /// Starts in the current directory, or in `directory` relative to it.
    pub(crate) fn start(system: Arc<dyn System>, directory: Option<&Path>) -> Result<Session> {
        let current = system.current_dir().map_err(|error| {
            CommandError::usage(format!("cannot read the current directory: {error}"))
        })?;
        let directory = match directory {
            Some(typed) => {
                let directory = current.join(typed);
                if let Err(error) = system.resolve_dir(&directory) {
                    let typed = typed.display();
                    return Err(CommandError::usage(format!(
                        "cannot open directory `{typed}`: {error}"
                    ))
                    .with_hint("pass an existing directory to `-C`"));
                }
                system.work_in(&directory);
                directory
            }
            None => current,
        };
        Ok(Session { system, directory })
    }

    /// Returns the way to files, processes and the machine.
    pub fn system(&self) -> &dyn System {
        self.system.as_ref()
    }

    /// Returns the same session for one question: each path is resolved once.
    pub(crate) fn with_memory(&self) -> Session {
        let system = Arc::new(Remembered::new(self.shared_system()));
        Session { system, directory: self.directory.clone() }
    }

    /// Returns the system for another thread.
    pub fn shared_system(&self) -> Arc<dyn System> {
        Arc::clone(&self.system)
    }

    /// Returns the base of relative paths.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the start directory of the program, as a root.
    pub fn open_root(&self) -> Result<Root> {
        Root::open(self.system(), &self.directory).map_err(|error| self.directory_error(&error))
    }

    /// The project that questions are about: the repository around the directory (ruling G16).
    pub(crate) fn open_project(&self) -> Result<Project<'_>> {
        Project::open(self.system(), &self.directory).map_err(|error| self.directory_error(&error))
    }

    pub(crate) fn open_assembly(&self) -> Result<PromptAssembly<'_>> {
        PromptAssembly::open(self.system(), &self.directory)
            .map_err(|error| self.directory_error(&error))
    }

    /// The directories of the installation around the directory.
    pub(crate) fn installed_project(&self) -> Result<install::ProjectPaths> {
        Ok(install::ProjectPaths::find_enclosing(self.system(), self.open_root()?.path()))
    }

    /// The root of the project.
    pub(crate) fn repository_root(&self) -> Result<Root> {
        Ok(self.open_project()?.root().clone())
    }

    fn directory_error(&self, error: &std::io::Error) -> CommandError {
        let directory = self.directory.display();
        CommandError::usage(format!("cannot open directory `{directory}`: {error}"))
    }

    /// Returns the policies of the machine and of the user.
    pub fn load_policy(&self) -> Result<Policy> {
        Ok(Policy::load(self.system())?)
    }

    /// Decides about the execution of commands and scripts; a policy decides first.
    pub fn decide_execution(&self, wish: Option<&Wish>) -> Result<Execution> {
        Ok(Execution::under_policy(self.system(), wish)?)
    }

    /// Finds a typed path; `None` when it lies outside the root.
    pub(crate) fn locate(&self, root: &Root, path: &Path) -> Option<Target> {
        root.locate_target(self.system(), &self.directory, path)
    }

    /// Returns the root itself, as the start of a walk.
    pub(crate) fn root_target() -> Target {
        Target::from_slashed("", TargetKind::Directory)
    }
}
