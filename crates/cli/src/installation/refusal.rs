//! The errors of an installation, as those of a command.

use brief_profiles::UnknownClient;
use brief_registry::install::{InstallError, Unresolved};
use brief_workflows::refusal::RequestRefusal;

use crate::error::{CommandError, Result};
use crate::ui::Ui;

impl From<InstallError> for CommandError {
    fn from(error: InstallError) -> Self {
        RequestRefusal::from(error).into()
    }
}

impl From<UnknownClient> for CommandError {
    fn from(error: UnknownClient) -> Self {
        RequestRefusal::from(error).into()
    }
}

/// Returns the error for a typed source, which may not be one of the project.
pub(crate) fn refusal_of_typed(error: InstallError) -> CommandError {
    brief_workflows::refusal::refusal_of_typed(error).into()
}

/// Prints every unresolved name, each with advice.
pub(crate) fn tell_unresolved(ui: &mut Ui, problems: &[Unresolved]) -> Result {
    for problem in problems {
        ui.print_error(&problem.to_string())?;
        if let Some(help) = problem.help() {
            ui.print_hint(&help)?;
        }
    }
    ui.print_status("nothing was changed")
}
