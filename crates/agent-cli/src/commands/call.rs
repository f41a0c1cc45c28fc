//! `brief agent debug call`

use serde_json::{Value as Json, json};

use super::executing::{load_tools, refuse_closed, through_gates};
use super::{ensure_usable, print_json, read_agent};
use crate::agent::AgentCallArgs;
use crate::error::{CommandError, ErrorKind, Result};
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session, args: &AgentCallArgs) -> Result {
    let arguments: Json = serde_json::from_str(&args.arguments).map_err(|error| {
        CommandError::usage(format!("cannot parse the arguments as JSON: {error}"))
            .with_hint("write an object, such as '{\"name\": \"value\"}'")
    })?;
    let grant = args.executing.granted_abilities()?;
    let loaded = read_agent(ui, session, &args.file)?;
    let agent = ensure_usable(ui, session, &loaded)?;
    let refused = |ui: &mut Ui, error: CommandError| {
        if !args.json {
            return Err(error);
        }
        let body = json!({ "ok": false, "error": error.to_string() });
        print_json(ui, session, "agent debug call", loaded.diagnostics(), body)?;
        Err(CommandError::reported(ErrorKind::Refused))
    };
    if let Err(closed) = refuse_closed(session, agent) {
        return refused(ui, closed);
    }
    let mut tools = load_tools(&args.executing, ui, session, agent, &agent.input, &grant)?.tools;
    let may_call =
        through_gates(session, agent, &agent.input, &grant, &mut tools).and_then(|ready| {
            if ready.may_call() {
                return Ok(());
            }
            Err(CommandError::refused("the agent is not allowed to call its tools")
                .with_hint("add `tool` to `allow` in the agent file, or remove it from `deny`"))
        });
    if let Err(closed) = may_call {
        return refused(ui, closed);
    }
    match tools.call_json(&args.tool, &arguments) {
        Ok(result) => {
            if args.json {
                let body = json!({ "ok": true, "result": result });
                print_json(ui, session, "agent debug call", loaded.diagnostics(), body)?;
            } else {
                match result {
                    Json::String(text) => ui.print_line(text)?,
                    other => ui.print_line(format!("{other:#}"))?,
                }
            }
            Ok(())
        }
        Err(_) if session.system().interruption().is_ok_and(|stop| stop.is_raised()) => {
            Err(CommandError::interrupted())
        }
        Err(error) => refused(ui, CommandError::refused(error.to_string())),
    }
}
