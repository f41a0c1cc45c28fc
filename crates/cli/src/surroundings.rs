//! Warnings about a root that is no repository: what was not read, and what is no project.

use brief_engine::{Root, RootKind, guidance_above};

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// The way out for a root that is no project.
const START_ELSEWHERE: &str = "start in a project, or name one with `-C DIR`";

/// Warns of a root that is no project, and of guidance above it that was not read.
pub(crate) fn warn_of_root(ui: &mut Ui, session: &Session, root: &Root) -> Result {
    let shown = root.path().display();
    match RootKind::of(session.system(), root) {
        RootKind::Repository => Ok(()),
        RootKind::LostRepository => {
            ui.warning(&format!(
                "`{shown}/.git` is a file that leads to no repository, so there is no history here"
            ))?;
            ui.hint("`git worktree repair` repairs a worktree that was moved")
        }
        RootKind::BareRepository => {
            ui.warning(&format!("`{shown}` is a bare git repository, without a working tree"))?;
            ui.hint("`git worktree add` makes a working tree")
        }
        RootKind::FileSystem => {
            ui.warning(&format!("`{shown}` is the whole file system, not a project"))?;
            ui.hint(START_ELSEWHERE)
        }
        RootKind::Home => {
            ui.warning(&format!("`{shown}` is your home directory, not a project"))?;
            ui.hint(START_ELSEWHERE)
        }
        RootKind::Directory => {
            let Some(above) = guidance_above(session.system(), root) else { return Ok(()) };
            let above = above.display();
            ui.warning(&format!("not a git repository, so `{above}` does not apply here"))?;
            ui.hint(
                "run `git init` in the top directory of the project, or start there with `-C DIR`",
            )
        }
    }
}

/// Refuses to write guidance into a directory that is no project: it would be about everything in it.
pub(crate) fn refuse_no_project(session: &Session, root: &Root) -> Result {
    let what = match RootKind::of(session.system(), root) {
        RootKind::FileSystem => "the whole file system",
        RootKind::Home => "your home directory",
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
    let is_told = RootKind::of(system, root) != RootKind::Directory;
    if is_told || guidance_above(system, root).is_some() {
        return Ok(());
    }
    let shown = root.path().display();
    ui.warning(&format!("`{shown}` is not in a git repository, so parent directories are not read"))
}
