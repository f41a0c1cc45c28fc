//! `sctx claude`

use std::ffi::OsString;
use std::process::ExitCode;

use brief_clients::settings::{self, Hook, SettingsError};

use super::{Outcome, SctxFailure};
use crate::commands::hook::{LocalSettings, SettingsEdit};
use crate::session::Session;
use crate::ui::Ui;

const TOOLS: Option<&str> = Some("Read|Write|Edit|MultiEdit");
const HOOKS: [Hook<'_>; 2] = [
    Hook { event: "PreToolUse", matcher: TOOLS, command: "sctx hook" },
    Hook { event: "PostToolUse", matcher: TOOLS, command: "sctx hook" },
];

pub(super) fn run(ui: &mut Ui, session: &Session, args: &[OsString]) -> Outcome {
    type Edit = fn(Option<&str>) -> Result<Option<String>, SettingsError>;
    let action = args.first().map(|action| action.to_string_lossy());
    let (edit, done, nothing): (Edit, _, _) = match action.as_deref() {
        Some("enable") => {
            (|text| settings::install(text, &HOOKS), "enabled", "are already enabled")
        }
        Some("disable") => (
            |text| text.map_or(Ok(None), |text| settings::uninstall(text, &HOOKS)),
            "disabled",
            "are not enabled",
        ),
        _ => return Err(SctxFailure::new("usage: sctx claude <enable|disable>")),
    };
    let root =
        session.root().map_err(|_| SctxFailure::new("the current directory cannot be read"))?;
    if session.system().resolve(&root.path().join(LocalSettings::DIRECTORY)).is_err() {
        return Err(SctxFailure::new(
            ".claude/ directory not found — run this from a Claude Code project",
        ));
    }
    let edited = LocalSettings::edit(session.system(), root.path(), edit)
        .map_err(|error| SctxFailure::new(format!("{} {error}", LocalSettings::NAME)))?;
    let outcome = match edited {
        SettingsEdit::Changed => done,
        SettingsEdit::Unchanged => nothing,
    };
    ui.print_line(format!("sctx hooks {outcome} in {}", LocalSettings::NAME))?;
    Ok(ExitCode::SUCCESS)
}
