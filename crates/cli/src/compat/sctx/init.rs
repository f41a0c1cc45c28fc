//! `sctx init`

use std::process::ExitCode;

use super::{Outcome, SctxFailure};
use crate::commands::{StarterError, write_starter};
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session) -> Outcome {
    let name =
        write_starter(session.system(), session.directory()).map_err(|error| match error {
            StarterError::Exists(name) => SctxFailure::new(format!("file already exists: {name}")),
            StarterError::Io(error) => SctxFailure::new(format!("writing AGENTS.yaml: {error}")),
        })?;
    ui.print_line(format!("Created {name}"))?;
    Ok(ExitCode::SUCCESS)
}
