//! `brief agent check`

use std::path::PathBuf;

use brief_agent::agent::AgentCode;
use brief_engine::agents::{AgentOptions, load};
use brief_syntax::{Diagnostic, Severity};
use clap::Args;
use serde_json::json;

use crate::commands::whole::counted;
use crate::error::{Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Report all problems of agent files, without running their code
///
/// The code of their tools is parsed; `brief agent show` evaluates it. Exits with 1 when there is an error.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The agent files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Warnings are errors
    #[arg(long)]
    strict: bool,

    /// Print JSON: the diagnostics
    #[arg(long)]
    json: bool,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &CheckArgs) -> Result {
    let root = session.root()?;
    let options = AgentOptions { root: Some(root.path()), ..AgentOptions::default() };
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for file in &args.files {
        let loaded = load(session.system(), &session.directory().join(file), &options);
        diagnostics.extend(loaded.diagnostics().iter().cloned());
        match loaded.agent().map(|agent| AgentCode::parse(session.shared_system(), agent)) {
            Some(Ok(problem)) => diagnostics.extend(problem),
            Some(Err(error)) => {
                ui.warning(&format!("the code of `{}` is not parsed: {error}", file.display()))?;
            }
            None => {}
        }
    }
    if args.json {
        let body = json!({ "files": args.files.len() });
        let (root, diagnostics) = (root.path(), &diagnostics);
        ui.print_json("agent check", root, diagnostics, body)?;
    } else {
        ui.print_diagnostics(&diagnostics, root.path())?;
        let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
        let warnings = diagnostics.len() - errors;
        ui.status(&format!(
            "{} checked: {}, {}",
            counted(args.files.len(), "file"),
            counted(errors, "error"),
            counted(warnings, "warning")
        ))?;
    }
    let is_bad = |found: &Diagnostic| args.strict || found.severity == Severity::Error;
    refuse_if(diagnostics.iter().any(is_bad))
}
