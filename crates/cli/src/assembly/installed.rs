//! The files of a search root that came from a registry.
//!
//! An installed rule is among the rules of the project, but another author wrote it: its commands
//! run only if its exact content is trusted (ruling G7), and all its copies for clients are one
//! item (ruling G14). The locks name these files.

use std::path::Path;

use brief_engine::tasks::{Author, FromElsewhere, SearchOrigin, SearchRoot};
use brief_registry::lock::{FILE_NAME, Lock};
use brief_syntax::limits;
use brief_syntax::system::ReadError;

use crate::error::CommandError;
use crate::installation;
use crate::session::Session;
use crate::ui::Ui;

/// Returns the installed files of all search roots. A root with an unreadable lock counts as remote
/// from then on, so nothing in it executes.
pub(super) fn files(
    ui: &mut Ui,
    session: &Session,
    roots: &mut [SearchRoot],
) -> Result<FromElsewhere, CommandError> {
    let mut installed = FromElsewhere::default();
    let project = installation::project_root(session)?;
    for root in roots.iter_mut().filter(|root| root.author != Author::Remote) {
        let (outputs, lock) = match root.origin {
            SearchOrigin::Project => (project.clone(), project.join(FILE_NAME)),
            SearchOrigin::Home => match installation::user_project(session.system()) {
                Ok(user) => (user.outputs.clone(), user.lock()),
                Err(_) => continue,
            },
            _ => (root.path.clone(), root.path.join(FILE_NAME)),
        };
        if let Err(problem) = add(session, &outputs, &lock, &mut installed) {
            let path = lock.display();
            ui.warning(&format!(
                "`{path}` cannot be read: {problem}; nothing in `{}` is executed",
                root.path.display()
            ))?;
            root.author = Author::Remote;
        }
    }
    Ok(installed)
}

/// Adds the files of a lock, if there is one.
fn add(
    session: &Session,
    outputs: &Path,
    lock: &Path,
    installed: &mut FromElsewhere,
) -> Result<(), String> {
    let system = session.system();
    let bytes = match system.read(lock, limits::BUILD_RECORD_BYTES) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let text = String::from_utf8_lossy(&bytes);
    let lock = Lock::parse(&text).map_err(|error| error.to_string())?;
    let top = system.resolve_dir(outputs).map_err(|error| error.to_string())?;
    let paths = lock.items.values().flat_map(|item| item.files.keys());
    installed.files.extend(paths.map(|path| top.join(path)));
    installed.items.add(&top, &text).map_err(|error| error.to_string())
}
