//! `brief registry fmt`

use std::path::PathBuf;

use brief_engine::portable::{self, CLIENTS, format};
use brief_syntax::render::path_below;
use clap::Args;
use serde::Serialize;

use crate::commands::whole::format_count;
use crate::error::{CommandError, Result, refuse_if};
use crate::session::Session;
use crate::surroundings::warn_of_wide_root;
use crate::ui::Ui;

/// Format the items of a registry
///
/// Comments and the order of fields stay. A body whose meaning would change keeps its layout.
#[derive(Debug, Args)]
pub(crate) struct FmtArgs {
    /// Directory or file to format
    #[arg(default_value = ".")]
    path: PathBuf,

    /// Check without writing; exit 1 if a file would change
    #[arg(long)]
    check: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Default, Serialize)]
struct FormatAnswer {
    files: usize,
    changed: Vec<String>,
    /// The files whose body keeps its layout.
    kept: Vec<UnformattedFile>,
}

#[derive(Debug, Serialize)]
struct UnformattedFile {
    path: String,
    reason: String,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &FmtArgs) -> Result {
    let root = session.repository_root()?;
    let system = session.system();
    let outside = || {
        let message = format!("`{}` is outside `{}`", args.path.display(), root.path().display());
        CommandError::refused(message).with_hint("pass `-C DIR` to choose another project")
    };
    let target = session.locate(&root, &args.path).ok_or_else(outside)?;
    let below = root.path().join(target.slashed());
    if system.resolve(&below).is_err() {
        return Err(CommandError::refused(format!("file not found: `{}`", args.path.display())));
    }
    warn_of_wide_root(ui, session, root.path())?;
    let registry = portable::read_registry(system, &root, &CLIENTS);
    let mut formatted = FormatAnswer::default();
    for file in format::format_registry(&registry) {
        let path = file.source.path();
        if !path.starts_with(&below) {
            continue;
        }
        formatted.files += 1;
        let shown = path_below(root.path(), path);
        if let Some(refusal) = &file.refused {
            let (path, reason) = (shown.to_string(), refusal.to_string());
            formatted.kept.push(UnformattedFile { path, reason });
        }
        if file.is_unchanged() {
            continue;
        }
        if !args.check {
            system.replace_file(path, file.text.as_bytes()).map_err(|error| {
                CommandError::refused(format!("cannot write `{shown}`: {error}"))
            })?;
        }
        formatted.changed.push(shown.into_owned());
    }
    let failed = args.check && !formatted.changed.is_empty();
    if args.json {
        let (root, body) = (root.path(), formatted);
        ui.print_json("registry fmt", root, &[], body)?;
    } else {
        print_formatted(ui, &formatted, args.check)?;
    }
    refuse_if(failed)
}

fn print_formatted(ui: &mut Ui, formatted: &FormatAnswer, is_check: bool) -> Result {
    for UnformattedFile { path, reason } in &formatted.kept {
        ui.print_warning(&format!("{path}: body not formatted: {reason}"))?;
    }
    for path in &formatted.changed {
        ui.print_line(path)?;
    }
    let verb = if is_check { "would change" } else { "changed" };
    let files = format_count(formatted.files, "file");
    ui.print_status(&format!("{} of {files} {verb}", formatted.changed.len()))
}
