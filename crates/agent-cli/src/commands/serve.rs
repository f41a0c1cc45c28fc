//! `brief agent serve`

use brief_serve::mcp::Served;

use super::executing::{input_of, load_tools, refuse_closed, through_gates};
use super::{ensure_usable, read_agent};
use crate::agent::AgentServeArgs;
use crate::error::{CommandError, Result};
use crate::mcp;
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session, args: &AgentServeArgs) -> Result {
    let grant = args.executing.granted_abilities()?;
    let loaded = read_agent(ui, session, &args.file)?;
    let agent = ensure_usable(ui, session, &loaded)?;
    refuse_closed(session, agent)?;
    let input = input_of(agent, args.input.as_deref());
    let mut tools = load_tools(&args.executing, ui, session, agent, &input, &grant)?.tools;
    let system = session.system();
    let mut ready = through_gates(session, agent, &input, &grant, &mut tools)?;
    if ui.can_ask() {
        ui.print_status("waiting for an MCP client on standard input; press Ctrl-C to stop")?;
        ui.print_hint("run `brief agent run FILE` to use the agent yourself")?;
    }
    ui.tell_remarks()?;
    let interruption = system.interruption()?;
    // Standard output belongs to the protocol; a closed standard error is ignored.
    let served =
        mcp::serve_agent(&mut ready, &interruption, &mut |line| drop(ui.print_status(line)));
    match served.map_err(|error| CommandError::refused(error.to_string()))? {
        Served::Closed => Ok(()),
        Served::Interrupted => Err(CommandError::interrupted()),
    }
}
