//! `brief agent check --preflight`

use std::path::Path;

use clap::Args;
use serde_json::json;

use super::executing::{ExecutionArgs, input_of, refuse_closed, through_gates};
use super::{AgentFileArgs, print_json, read, usable};
use crate::error::{CommandError, ErrorKind, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// The options of the pre-flight checks.
#[derive(Debug, Args)]
pub(super) struct PreflightArgs {
    /// Run all pre-flight checks without calling the model
    #[arg(long)]
    pub(super) preflight: bool,

    /// Fetch remote commands, and record their content
    #[arg(long, requires = "preflight")]
    fetch: bool,

    /// Use TEXT as `ctx.input` instead of the agent's own input
    #[arg(long, value_name = "TEXT", requires = "preflight")]
    input: Option<String>,

    #[command(flatten)]
    executing: ExecutionArgs,
}

/// Validates the file, its status, its environment, its tools and the startup tool, in this order.
pub(super) fn run(
    ui: &mut Ui,
    session: &Session,
    file: &Path,
    args: &PreflightArgs,
    is_json: bool,
) -> Result {
    let file = AgentFileArgs { file: file.to_owned(), fetch: args.fetch };
    let grant = args.executing.abilities()?;
    let loaded = read(ui, session, &file)?;
    let agent = match loaded.agent() {
        Some(agent) => agent,
        None if is_json => {
            let body = json!({ "ok": false, "error": "the file is not valid" });
            print_json(ui, session, "agent check preflight", loaded.diagnostics(), body)?;
            return Err(CommandError::reported(ErrorKind::Refused));
        }
        None => usable(ui, session, &loaded)?,
    };
    let input = input_of(agent, args.input.as_deref());
    let mut problem = refuse_closed(session, agent).err();
    if problem.is_none() {
        let mut tools = args.executing.tools(ui, session, agent, &input, &grant)?.tools;
        problem = through_gates(session, agent, &input, &grant, &mut tools).err();
    }
    if is_json {
        let ok = problem.is_none();
        let body = json!({ "ok": ok, "error": problem.map(|problem| problem.to_string()) });
        print_json(ui, session, "agent check preflight", loaded.diagnostics(), body)?;
        return refuse_if(!ok);
    }
    ui.mention(loaded.diagnostics(), session.root()?.path())?;
    match problem {
        None => ui.status("ready"),
        Some(problem) => Err(problem),
    }
}
