//! `sctx claude`

use std::ffi::OsString;
use std::process::ExitCode;

use brief_clients::settings::{self, Hook, SettingsError};

use super::{Failure, Outcome};
use crate::commands::hook::{Edited, SettingsFile};
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
        _ => return Err(Failure::new("usage: sctx claude <enable|disable>")),
    };
    let root = session.root().map_err(|_| Failure::new("the current directory cannot be read"))?;
    if session.system().resolve(&root.path().join(SettingsFile::DIRECTORY)).is_err() {
        return Err(Failure::new(
            ".claude/ directory not found — run this from a Claude Code project",
        ));
    }
    let edited = SettingsFile::edit(session.system(), root.path(), edit)
        .map_err(|error| Failure::new(format!("{} {error}", SettingsFile::NAME)))?;
    let outcome = match edited {
        Edited::Changed => done,
        Edited::Unchanged => nothing,
    };
    ui.print_line(format!("sctx hooks {outcome} in {}", SettingsFile::NAME))?;
    Ok(ExitCode::SUCCESS)
}
