//! The command line of `sctx`.

mod arguments;
mod claude;
mod context;
mod decisions;
mod hook;
mod init;
mod pi;
mod validate;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use brief_engine::System;
use brief_syntax::{Diagnostic, rules};

use crate::error::{CommandError, Result, exit_code, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

const USAGE: &str = "\
Usage: sctx <command>

Commands:
  hook                                  Answer an agent's hook: JSON on stdin, JSON on stdout
  context <path> [--on A] [--when T] [--json]
                                        Show the context entries for a file or directory
  context --all [--on A] [--when T] [--json]
                                        Show the context entries of the whole tree
  decisions <path> [--json]             Show the decisions for a file or directory
  decisions --all [--json]              Show the decisions of the whole tree
  validate [<dir>]                      Check the context files below a directory
  init                                  Write an AGENTS.yaml to start from
  claude enable|disable                 Set up or remove the hook in Claude Code
  pi enable|disable                     Set up or remove the extension in pi
  version                               Show the version
  help                                  Show this help
";

/// Runs `sctx` with the arguments after its name. An error is a message after `error: `, and exit code 1.
pub(crate) fn run(args: &[OsString], ui: &mut Ui, system: Arc<dyn System>) -> ExitCode {
    let outcome = dispatch_command(args, ui, system).and_then(|()| ui.flush());
    exit_code(outcome, ui)
}

fn dispatch_command(args: &[OsString], ui: &mut Ui, system: Arc<dyn System>) -> Result {
    let Some(command) = args.first() else {
        ui.warn_raw(USAGE)?;
        return refuse_if(true);
    };
    let rest = &args[1..];
    match command.to_string_lossy().as_ref() {
        "help" | "--help" | "-h" => {
            return ui.print_raw(USAGE);
        }
        "version" => {
            return ui.print_line(format!("sctx {}", env!("CARGO_PKG_VERSION")));
        }
        _ => {}
    }
    let session = Session::start(system, None)
        .map_err(|_| CommandError::refused("the current directory cannot be read"))?;
    match command.to_string_lossy().as_ref() {
        "hook" => hook::run(ui, &session),
        "context" => context::run(ui, &session, rest),
        "decisions" => decisions::run(ui, &session, rest),
        "validate" => validate::run(ui, &session, rest),
        "init" => init::run(ui, &session),
        "claude" => claude::run(ui, &session, rest),
        "pi" => pi::run(ui, &session, rest),
        other => {
            ui.warn_raw(&format!(
                "unknown command: {}\n\n",
                brief_syntax::text::visible_line(other)
            ))?;
            ui.warn_raw(USAGE)?;
            refuse_if(true)
        }
    }
}

/// Warns of problems in the files that were read, in the words of `sctx`.
fn warn_of_diagnostics(ui: &mut Ui, diagnostics: &[Diagnostic]) -> Result {
    for diagnostic in diagnostics {
        let path = diagnostic.path().display();
        let line = diagnostic.position().line;
        if diagnostic.rule == rules::agents_yaml::INVALID_YAML {
            ui.print_warning(&format!(
                "failed to parse {path}: line {line}: {}",
                yaml_error(diagnostic)
            ))?;
        } else {
            ui.print_warning(&format!("{path}:{line}: {}", diagnostic.message))?;
        }
    }
    Ok(())
}

fn warn_if_nothing_found(ui: &mut Ui, found_nothing: bool) -> Result {
    if found_nothing { ui.print_warning("no AGENTS.yaml files found") } else { Ok(()) }
}

/// Returns the parser's own message.
fn yaml_error(diagnostic: &Diagnostic) -> &str {
    diagnostic.message.split_once(": ").map_or(diagnostic.message.as_str(), |(_, error)| error)
}

/// Returns a path below the root with `/` between names.
fn slashed_path(path: &Path, root: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let names: Vec<_> = relative.iter().map(|name| name.to_string_lossy()).collect();
    names.join("/")
}
