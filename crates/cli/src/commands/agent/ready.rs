//! `brief agent ready`

use clap::Args;
use serde_json::json;

use super::executing::{ExecutionArgs, input_of, refuse_closed, through_gates};
use super::{AgentFileArgs, print_json, read, usable};
use crate::error::{CommandError, ErrorKind, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Go through every gate up to the first question to a model, and make no request
///
/// Validation, status, environment, tools and the startup tool, in this order.
#[derive(Debug, Args)]
pub(super) struct ReadyArgs {
    #[command(flatten)]
    file: AgentFileArgs,

    /// Use this as `ctx.input`, instead of the agent's own
    #[arg(long, value_name = "TEXT")]
    input: Option<String>,

    #[command(flatten)]
    executing: ExecutionArgs,

    /// Print JSON: whether it is ready, and why not
    #[arg(long)]
    json: bool,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &ReadyArgs) -> Result {
    let grant = args.executing.abilities()?;
    let loaded = read(ui, session, &args.file)?;
    let agent = match loaded.agent() {
        Some(agent) => agent,
        None if args.json => {
            let body = json!({ "ok": false, "error": "the file is not valid" });
            print_json(ui, session, "agent ready", loaded.diagnostics(), body)?;
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
    if args.json {
        let ok = problem.is_none();
        let body = json!({ "ok": ok, "error": problem.map(|problem| problem.to_string()) });
        print_json(ui, session, "agent ready", loaded.diagnostics(), body)?;
        return refuse_if(!ok);
    }
    ui.mention(loaded.diagnostics(), session.root()?.path())?;
    match problem {
        None => ui.status("ready"),
        Some(problem) => Err(problem),
    }
}
