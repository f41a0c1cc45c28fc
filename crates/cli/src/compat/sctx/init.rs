//! `sctx init`

use crate::commands::{StarterError, write_starter};
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session) -> Result {
    let name =
        write_starter(session.system(), session.directory()).map_err(|error| match error {
            StarterError::Exists(name) => {
                CommandError::refused(format!("file already exists: {name}"))
            }
            StarterError::Io(error) => {
                CommandError::refused(format!("writing AGENTS.yaml: {error}"))
            }
        })?;
    ui.print_line(format!("Created {name}"))
}
