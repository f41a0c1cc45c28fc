//! `sctx hook`

use brief_safety::settings::HookSettings;
use brief_serve::hook::{Guidance, HookOptions, Repeat};

use super::{warn_if_nothing_found, warn_of_diagnostics};
use crate::commands::hook;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session) -> Result {
    // The hooks of `sctx claude enable` do not report the compaction of a conversation, so nothing
    // may be left out as already known.
    let options = HookOptions {
        program: "sctx",
        repeat: Repeat::Always,
        guidance: Guidance::Structured,
        ..HookOptions::new("claude")
    };
    let settings = HookSettings::load(session.system());
    let outcome = hook::answer_hook_call(ui, session, &settings, options)
        .map_err(|error| CommandError::refused(error.to_string()))?;
    warn_of_diagnostics(ui, &outcome.diagnostics)?;
    warn_if_nothing_found(ui, outcome.found_nothing)?;
    if let Some(answer) = outcome.into_line() {
        ui.print_data(&answer)?;
    }
    Ok(())
}
