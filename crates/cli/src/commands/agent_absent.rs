//! `brief agent`, in a program that was built without agents.

use std::ffi::OsString;

use clap::Args;

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Not available: built without agents
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

pub(crate) fn run(_: &mut Ui, _: &Session, _: &AgentArgs) -> Result {
    let error = CommandError::usage("this program was built without agents");
    Err(error.with_hint("install it with the feature `agent`, which is on by default"))
}
