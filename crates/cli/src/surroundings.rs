//! Warnings about a root that is no repository: what was not read, and what is no project.

use brief_engine::{Root, RootKind, guidance_above};

use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// The way out for a root that is no project.
const START_ELSEWHERE: &str = "start in a project, or name one with `-C DIR`";

/// Warns of a root that is no project, and of guidance above it that was not read.
pub(crate) fn warn_of_root(ui: &mut Ui, session: &Session, root: &Root) -> Result {
    let shown = root.path().display();
    match RootKind::of(session.system(), root) {
        RootKind::Repository => Ok(()),
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
