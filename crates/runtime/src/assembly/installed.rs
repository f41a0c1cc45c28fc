//! The files of a search root that came from a registry.
//!
//! An installed rule is among the rules of the project, but another author wrote it: its commands
//! run only if its exact content is trusted (ruling G7), and all its copies for clients are one
//! item (ruling G14). The locks name these files.

use brief_dialects::tasks::{Author, FromElsewhere, SearchOrigin, SearchRoot};
use brief_registry::install::ProjectPaths;
use brief_registry::lock::Lock;
use brief_syntax::limits;
use brief_system::{ReadError, System};

use super::{AssemblyEvent, AssemblyObserver, PromptAssembly};

impl PromptAssembly<'_> {
    /// Returns the installed files of all search roots. A root with an unreadable lock counts as remote
    /// from then on, so nothing in it executes.
    pub(super) fn installed_files(
        &self,
        roots: &mut [SearchRoot],
        observer: &mut AssemblyObserver<'_>,
    ) -> FromElsewhere {
        let mut installed = FromElsewhere::default();
        for root in roots.iter_mut().filter(|root| root.author != Author::Remote) {
            let project = match root.origin {
                SearchOrigin::Project => {
                    ProjectPaths::find_enclosing(self.system, self.root.path())
                }
                SearchOrigin::Home => match ProjectPaths::of_user(self.system) {
                    Some(user) => user,
                    None => continue,
                },
                _ => ProjectPaths::from_root(&root.path),
            };
            if let Err(problem) = add_installed_files(self.system, &project, &mut installed) {
                let (lock, path) = (project.lock_path(), root.path.display());
                observer(AssemblyEvent::Warning(&format!(
                    "cannot read `{}`: {problem}; brief executes nothing in `{path}`",
                    lock.display()
                )));
                root.author = Author::Remote;
            }
        }
        installed
    }
}

/// Adds the files of a project's lock, if there is one.
fn add_installed_files(
    system: &dyn System,
    project: &ProjectPaths,
    installed: &mut FromElsewhere,
) -> Result<(), String> {
    let bytes = match system.read(&project.lock_path(), limits::BUILD_RECORD_BYTES) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let text = String::from_utf8_lossy(&bytes);
    let lock = Lock::parse(&text).map_err(|error| error.to_string())?;
    let top = system.resolve_dir(&project.outputs).map_err(|error| error.to_string())?;
    let paths = lock.items.values().flat_map(|item| item.files.keys());
    installed.files.extend(paths.map(|path| top.join(path)));
    installed.items.add_lock(&top, &text).map_err(|error| error.to_string())
}
