//! `sctx pi`

use std::ffi::OsString;
use std::io;

use brief_syntax::limits;

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

const EXTENSION: &str = include_str!("pi/sctx.ts");
const DIRECTORY: &str = ".pi";
const EXTENSIONS: &str = ".pi/extensions";
const NAME: &str = ".pi/extensions/sctx.ts";

/// Returns whether a file is the extension, in this or another version: each calls `sctx hook`.
fn is_ours(content: &[u8]) -> bool {
    let content = String::from_utf8_lossy(content);
    content == EXTENSION || content.contains("sctx") && content.contains("hook")
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &[OsString]) -> Result {
    let action = args.first().map(|action| action.to_string_lossy());
    let is_enable = match action.as_deref() {
        Some("enable") => true,
        Some("disable") => false,
        _ => return Err(CommandError::refused("usage: sctx pi <enable|disable>")),
    };
    let root = session
        .open_root()
        .map_err(|_| CommandError::refused("the current directory cannot be read"))?;
    let system = session.system();
    if system.resolve(&root.path().join(DIRECTORY)).is_err() {
        return Err(CommandError::refused(".pi/ directory not found — run this from a pi project"));
    }
    // A link may lead to another place in the project, but not out of it.
    for name in [DIRECTORY, EXTENSIONS, NAME] {
        let resolved = system.resolve(&root.path().join(name));
        if resolved.is_ok_and(|resolved| !resolved.path.starts_with(root.path())) {
            return Err(CommandError::refused(format!("{name} is outside the project")));
        }
    }
    let cannot = |error: io::Error| CommandError::refused(format!("{NAME}: {error}"));
    let path = root.path().join(NAME);
    if is_enable {
        system.create_dir(&root.path().join(EXTENSIONS)).map_err(cannot)?;
        match system.create_file(&path, EXTENSION.as_bytes()) {
            Ok(()) => ui.print_line(format!("sctx extension enabled at {NAME}"))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let found = system.read(&path, limits::FILE_BYTES);
                if !found.is_ok_and(|found| is_ours(&found)) {
                    return Err(CommandError::refused(format!(
                        "{NAME} is a file that is not sctx's and is in the way; move it, then run this again"
                    )));
                }
                ui.print_line(format!("sctx extension is already enabled at {NAME}"))?;
            }
            Err(error) => return Err(cannot(error)),
        }
    } else {
        match system.remove_file(&path) {
            Ok(()) => {
                // The directory stays if it is not empty.
                let _ = system.remove_empty_dir(&root.path().join(EXTENSIONS));
                ui.print_line(format!("sctx extension disabled at {NAME}"))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                ui.print_line(format!("sctx extension is not enabled at {NAME}"))?;
            }
            Err(error) => return Err(cannot(error)),
        }
    }
    Ok(())
}
