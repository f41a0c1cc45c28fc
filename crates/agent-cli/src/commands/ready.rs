//! `brief agent check --preflight`

use std::path::Path;

use serde_json::json;

use super::executing::{input_of, load_tools, refuse_closed, through_gates};
use super::{ensure_usable, print_json, read_agent};
use crate::agent::{AgentFileArgs, PreflightArgs};
use crate::error::{CommandError, ErrorKind, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Validates the file, its status, its environment, its tools and the startup tool, in this order.
pub(super) fn run(
    ui: &mut Ui,
    session: &Session,
    file: &Path,
    args: &PreflightArgs,
    is_json: bool,
) -> Result {
    let file = AgentFileArgs { file: file.to_owned(), fetch: args.fetch };
    let grant = args.executing.granted_abilities()?;
    let loaded = read_agent(ui, session, &file)?;
    let agent = match loaded.agent() {
        Some(agent) => agent,
        None if is_json => {
            let body = json!({ "ok": false, "error": "the file is not valid" });
            print_json(ui, session, "agent check preflight", loaded.diagnostics(), body)?;
            return Err(CommandError::reported(ErrorKind::Refused));
        }
        None => ensure_usable(ui, session, &loaded)?,
    };
    let input = input_of(agent, args.input.as_deref());
    let mut problem = refuse_closed(session, agent).err();
    if problem.is_none() {
        let mut tools = load_tools(&args.executing, ui, session, agent, &input, &grant)?.tools;
        problem = through_gates(session, agent, &input, &grant, &mut tools).err();
    }
    if is_json {
        let ok = problem.is_none();
        let body = json!({ "ok": ok, "error": problem.map(|problem| problem.to_string()) });
        print_json(ui, session, "agent check preflight", loaded.diagnostics(), body)?;
        return refuse_if(!ok);
    }
    ui.print_diagnostic_lines(loaded.diagnostics(), session.open_root()?.path())?;
    match problem {
        None => ui.print_status("ready"),
        Some(problem) => Err(problem),
    }
}
