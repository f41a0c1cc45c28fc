//! `brief agent check`

use std::path::PathBuf;

use brief_agent::agent::AgentCode;
use brief_engine::agents::{self, AgentOptions, AgentOwner, Loaded, load_agent};
use brief_syntax::render::path_below;
use brief_syntax::text::format_count;
use brief_syntax::{Diagnostic, Severity};
use serde_json::json;

use super::locate_agent;
use super::ready;
use crate::agent::AgentCheckArgs;
use crate::error::{CommandError, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session, args: &AgentCheckArgs) -> Result {
    if args.preflight.preflight {
        let [file] = args.files.as_slice() else {
            return Err(CommandError::usage("`--preflight` needs exactly one agent file"));
        };
        return ready::run(ui, session, file, &args.preflight, args.json);
    }
    let root = session.open_root()?;
    let options = AgentOptions { root: Some(root.path()), ..AgentOptions::default() };
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    let all: Vec<Loaded> = if args.files.is_empty() {
        let found = agents::list_agents(session.system(), &root).into_iter();
        found.filter(|(owner, _)| *owner == AgentOwner::Project).map(|(_, loaded)| loaded).collect()
    } else {
        let load =
            |file| Ok(load_agent(session.system(), &locate_agent(session, &root, file)?, &options));
        args.files.iter().map(|file: &PathBuf| load(file)).collect::<Result<_>>()?
    };
    for loaded in &all {
        diagnostics.extend(loaded.diagnostics().iter().cloned());
        match loaded.agent().map(|agent| AgentCode::parse(session.shared_system(), agent)) {
            Some(Ok(problem)) => diagnostics.extend(problem),
            Some(Err(error)) => {
                let path = path_below(root.path(), loaded.path());
                ui.print_warning(&format!("the code of `{path}` was not checked: {error}"))?;
            }
            None => {}
        }
    }
    if args.json {
        let body = json!({ "files": all.len() });
        let (root, diagnostics) = (root.path(), &diagnostics);
        ui.print_json("agent check", root, diagnostics, body)?;
    } else {
        ui.print_diagnostics(&diagnostics, root.path())?;
        let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
        let warnings = diagnostics.len() - errors;
        if all.is_empty() {
            ui.print_status("no agent files in this project")?;
            return ui.print_hint("run `brief agent new CATEGORY_NAME` to create one");
        }
        ui.print_status(&format!(
            "{} checked: {}, {}",
            format_count(all.len(), "file"),
            format_count(errors, "error"),
            format_count(warnings, "warning")
        ))?;
    }
    let is_bad = |found: &Diagnostic| args.strict || found.severity == Severity::Error;
    refuse_if(diagnostics.iter().any(is_bad))
}
