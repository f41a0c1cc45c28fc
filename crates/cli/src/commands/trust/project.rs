//! Trust in a whole project.

use std::path::{Path, PathBuf};

use brief_engine::tasks::{Author, Library, SearchOrigin, SearchRoot};
use brief_runtime::review::{ExecutablePart, Review};
use brief_runtime::{Standing, TrustError, TrustProject, TrustStore, project_root};

use crate::error::{CommandError, ErrorKind, Result};
use crate::session::Session;
use crate::ui::Ui;

/// The number of commands and scripts in the text output.
const SHOWN: usize = 40;

/// Shows the commands of a project, asks, and records the answer.
pub(super) fn trust_project(
    ui: &mut Ui,
    session: &Session,
    mut store: TrustStore<'_>,
    directory: &Path,
) -> Result {
    let system = session.system();
    let root = resolve_project_root(session, directory)?;
    let project = TrustProject::identify(system, &root)?;
    let path = root.display();
    if store.project_standing(&project) == Standing::Trusted {
        return ui.print_status(&format!("{path} is already trusted"));
    }
    ui.print_status(&format!("the project {path}"))?;
    print_project_commands(ui, session, &root)?;
    ui.print_status(
        "trust covers the project's own commands and scripts, including later changes; \
         it does not cover installed items, or copies of the project elsewhere",
    )?;
    if !ui.confirm("Trust this project?")? {
        ui.print_status("nothing was recorded")?;
        return Err(CommandError::reported(ErrorKind::Refused));
    }
    store.record_project(&project)?;
    ui.print_status(&format!("trusted {path}"))
}

/// Removes the record of a project, with any content at its path.
pub(super) fn remove_project(
    session: &Session,
    store: &mut TrustStore<'_>,
    directory: &Path,
) -> Result<usize, TrustError> {
    let system = session.system();
    let directory = session.directory().join(directory);
    let place = system.resolve_dir(&directory).unwrap_or_else(|_| directory.clone());
    let root = project_root(system, &directory).unwrap_or_else(|_| directory.clone());
    store.remove_projects(|entry| entry.was_at(&root) || entry.was_at(&place))
}

fn resolve_project_root(session: &Session, directory: &Path) -> Result<PathBuf> {
    project_root(session.system(), &session.directory().join(directory)).map_err(|error| {
        CommandError::refused(format!("cannot open `{}`: {error}", directory.display()))
    })
}

/// Shows the commands of the texts at the root of the project.
fn print_project_commands(ui: &mut Ui, session: &Session, root: &Path) -> Result {
    let search = SearchRoot {
        path: root.to_owned(),
        origin: SearchOrigin::Project,
        author: Author::Project,
    };
    let library = Library::open(session.system(), &[search]);
    let mut left = SHOWN;
    let mut more = 0_usize;
    for document in library.read_all_documents() {
        let path = document.path().strip_prefix(root).unwrap_or(document.path()).display();
        let parts = match Review::from_content(document.path(), document.source.bytes_from_line(0))
        {
            Review::Parts(parts) => parts,
            Review::Whole(_) | Review::Binary { .. } => Vec::new(),
        };
        for ExecutablePart { line, text } in parts {
            if left == 0 {
                more += 1;
                continue;
            }
            left -= 1;
            ui.print_status(&format!("  {path}:{line} would run:"))?;
            ui.print_quote(&text)?;
        }
        if let Some(script) = &document.script {
            let script = script.strip_prefix(root).unwrap_or(script).display();
            ui.print_status(&format!("  {script} would run as a whole"))?;
            left = left.saturating_sub(1);
        }
    }
    if left == SHOWN && more == 0 {
        ui.print_status("  nothing in it would run now")?;
    } else if more > 0 {
        ui.print_status(&format!("  and {more} more"))?;
    }
    Ok(())
}
