//! `sctx claude`

use std::ffi::OsString;

use brief_clients::client_file::{ClientFile, ClientFileError, FileEdit};
use brief_clients::hook::install::{HookContent, HookFile};
use brief_clients::hook::settings::{Hook, HookTable};

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

const DIRECTORY: &str = ".claude";
const NAME: &str = ".claude/settings.local.json";
const COMMAND: &str = "sctx hook";

fn create_hook_file() -> HookFile {
    let hook = |event: &str| Hook {
        event: event.to_owned(),
        matcher: Some("Read|Write|Edit|MultiEdit".to_owned()),
        program: COMMAND.to_owned(),
        handler: HookTable::command_handler(COMMAND),
    };
    let hooks = vec![hook("PreToolUse"), hook("PostToolUse")];
    let content = HookContent::Settings { table: HookTable::Groups, hooks };
    HookFile { path: NAME.to_owned(), content }
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &[OsString]) -> Result {
    let action = args.first().map(|action| action.to_string_lossy());
    let (is_enable, done, nothing) = match action.as_deref() {
        Some("enable") => (true, "enabled", "are already enabled"),
        Some("disable") => (false, "disabled", "are not enabled"),
        _ => return Err(CommandError::refused("usage: sctx claude <enable|disable>")),
    };
    let root = session
        .open_root()
        .map_err(|_| CommandError::refused("the current directory cannot be read"))?;
    if session.system().resolve(&root.path().join(DIRECTORY)).is_err() {
        return Err(CommandError::refused(
            ".claude/ directory not found — run this from a Claude Code project",
        ));
    }
    let failed = |error: ClientFileError| CommandError::refused(format!("{NAME} {error}"));
    let file = create_hook_file();
    let on_disk = ClientFile::open(session.system(), root.path(), NAME).map_err(failed)?;
    let text = if is_enable {
        file.install(on_disk.text())
    } else {
        on_disk.text().map_or(Ok(None), |text| file.uninstall(text))
    };
    let text = text.map_err(|error| CommandError::refused(format!("{NAME} {error}")))?;
    let outcome = match on_disk.write_text(text.as_deref(), false).map_err(failed)? {
        FileEdit::Changed => done,
        FileEdit::Unchanged => nothing,
    };
    ui.print_line(format!("sctx hooks {outcome} in {NAME}"))
}
