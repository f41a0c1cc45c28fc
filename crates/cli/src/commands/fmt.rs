//! `brief fmt`

use std::path::PathBuf;
use std::process::ExitCode;

use brief_engine::portable::{self, CLIENTS, format};
use clap::Args;

use crate::error::{CommandError, ErrorKind};
use crate::session::Session;
use crate::ui::Ui;

/// Lay out the items of a source registry: front matter and body
///
/// What the files say does not change: comments and the order of fields stay, and a body whose
/// meaning would change keeps its layout.
#[derive(Debug, Args)]
pub(crate) struct FmtArgs {
    /// The directory or file to lay out
    #[arg(default_value = ".")]
    path: PathBuf,

    /// Write nothing; exit with 1 when a file would change
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &FmtArgs,
) -> Result<ExitCode, CommandError> {
    let root = session.root()?;
    let system = session.system();
    let outside = || {
        let message = format!("`{}` is outside `{}`", args.path.display(), root.path().display());
        CommandError::refused(message).with_hint("`-C DIR` sets the root")
    };
    let target = session.locate(&root, &args.path).ok_or_else(outside)?;
    let below = root.path().join(target.slashed());
    if system.resolve(&below).is_err() {
        return Err(CommandError::refused(format!("`{}` does not exist", args.path.display())));
    }
    let registry = portable::read(system, &root, &CLIENTS);
    let (mut changed, mut count) = (0, 0);
    for file in format::files(&registry) {
        let path = file.source.path();
        if !path.starts_with(&below) {
            continue;
        }
        count += 1;
        let shown = path.strip_prefix(root.path()).unwrap_or(path).display();
        if let Some(refusal) = &file.refused {
            ui.warning(&format!("{shown}: the body keeps its layout: {refusal}"))?;
        }
        if file.is_unchanged() {
            continue;
        }
        changed += 1;
        ui.print_line(&shown)?;
        if !args.check {
            system.replace_file(path, file.text.as_bytes()).map_err(|error| {
                CommandError::refused(format!("`{shown}` cannot be written: {error}"))
            })?;
        }
    }
    let verb = if args.check { "would change" } else { "changed" };
    ui.status(&format!("{changed} of {count} files {verb}"))?;
    let failed = args.check && changed > 0;
    Ok(if failed { ErrorKind::Refused.exit_code() } else { ExitCode::SUCCESS })
}
