//! Warnings about a root that is no repository: what was not read, and what is no project.

use std::path::Path;

use brief_engine::{Root, RootKind, guidance_above};
use brief_syntax::WideDirectory;

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// The way out for a root that is no project.
const START_ELSEWHERE: &str = WideDirectory::HELP;

/// Warns of a root that is no project, and of guidance above it that was not read.
pub(crate) fn warn_of_root(ui: &mut Ui, session: &Session, root: &Root) -> Result {
    let shown = root.path().display();
    match RootKind::from_root(session.system(), root) {
        RootKind::Repository => Ok(()),
        RootKind::LostRepository => {
            ui.print_warning(&format!(
                "no git history here: the file `{shown}/.git` does not point to a repository"
            ))?;
            ui.print_hint("run `git worktree repair` if the worktree was moved")
        }
        RootKind::BareRepository => {
            ui.print_warning(&format!(
                "`{shown}` is a bare git repository, without a working tree"
            ))?;
            ui.print_hint("run `git worktree add` to create a working tree")
        }
        RootKind::Wide(wide) => {
            ui.print_warning(&format!("`{shown}` is {}, not a project", wide.as_str()))?;
            ui.print_hint(START_ELSEWHERE)
        }
        RootKind::Directory => {
            let Some(above) = guidance_above(session.system(), root) else { return Ok(()) };
            let above = above.display();
            ui.print_warning(&format!("not a git repository, so `{above}` does not apply here"))?;
            ui.print_hint(
                "run `git init` in the top directory of the project, or start there with `-C DIR`",
            )
        }
    }
}

/// Warns as [`warn_of_root`] before a walk over the whole project; of a root that is no project, it says that nothing below is read.
pub(crate) fn warn_of_whole_root(ui: &mut Ui, session: &Session, root: &Root) -> Result {
    match RootKind::from_root(session.system(), root) {
        RootKind::Wide(_) => warn_of_wide_root(ui, session, root.path()),
        _ => warn_of_root(ui, session, root),
    }
}

/// Warns as [`warn_of_root`] before a walk whose findings say that a root is no project.
pub(crate) fn warn_of_checked_root(ui: &mut Ui, session: &Session, root: &Root) -> Result {
    match RootKind::from_root(session.system(), root) {
        RootKind::Wide(_) => Ok(()),
        _ => warn_of_root(ui, session, root),
    }
}

/// Warns of a directory, given without links, that is no project, so that a walk reads nothing below it.
pub fn warn_of_wide_root(ui: &mut Ui, session: &Session, directory: &Path) -> Result {
    let Some(wide) = WideDirectory::from_directory(session.system(), directory) else {
        return Ok(());
    };
    let shown = directory.display();
    ui.print_warning(&format!("`{shown}` is {}, {}", wide.as_str(), WideDirectory::UNREAD))?;
    ui.print_hint(START_ELSEWHERE)
}

/// Refuses to write guidance into a directory that is no project: it would be about everything in it.
pub(crate) fn refuse_no_project(session: &Session, root: &Root) -> Result {
    let what = match RootKind::from_root(session.system(), root) {
        RootKind::Wide(wide) => wide.as_str(),
        RootKind::BareRepository => "a bare git repository",
        RootKind::Repository | RootKind::LostRepository | RootKind::Directory => return Ok(()),
    };
    let shown = root.path().display();
    Err(CommandError::refused(format!("`{shown}` is {what}, not a project"))
        .with_hint(START_ELSEWHERE))
}

/// Tells a user for whom nothing was found that directories above a root without a repository were not read.
pub(crate) fn mention_unread_parents(ui: &mut Ui, session: &Session, root: &Root) -> Result {
    let system = session.system();
    let is_told = RootKind::from_root(system, root) != RootKind::Directory;
    if is_told || guidance_above(system, root).is_some() {
        return Ok(());
    }
    let shown = root.path().display();
    ui.print_warning(&format!(
        "`{shown}` is not in a git repository, so parent directories are not read"
    ))
}
