//! `brief agent serve`

use brief_serve::mcp::{self, Served};
use clap::Args;

use super::executing::{ExecutionArgs, input_of, refuse_closed, through_gates};
use super::{AgentFileArgs, read, usable};
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Serve an agent to an MCP client
///
/// Offers its tools as tools, its commands as prompts and its system message as instructions, over standard input and
/// output. Runs the pre-flight checks first.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    file: AgentFileArgs,

    /// Use TEXT as `ctx.input` instead of the agent's own input
    #[arg(long, value_name = "TEXT")]
    input: Option<String>,

    #[command(flatten)]
    executing: ExecutionArgs,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &ServeArgs) -> Result {
    let grant = args.executing.abilities()?;
    let loaded = read(ui, session, &args.file)?;
    let agent = usable(ui, session, &loaded)?;
    refuse_closed(session, agent)?;
    let input = input_of(agent, args.input.as_deref());
    let mut tools = args.executing.tools(ui, session, agent, &input, &grant)?.tools;
    let system = session.system();
    let mut ready = through_gates(session, agent, &input, &grant, &mut tools)?;
    if ui.can_ask() {
        ui.status("waiting for an MCP client on standard input; Ctrl-C ends it")?;
        ui.hint("`brief agent run FILE` is for people")?;
    }
    ui.tell_remarks()?;
    let interruption = system.interruption()?;
    // Standard output belongs to the protocol; a closed standard error is ignored.
    let served = mcp::agent::serve(&mut ready, &interruption, &mut |line| drop(ui.status(line)));
    match served.map_err(|error| CommandError::refused(error.to_string()))? {
        Served::Closed => Ok(()),
        Served::Interrupted => Err(CommandError::interrupted()),
    }
}
