//! The servers of `brief mcp-servers --check`.

use std::time::Duration;

use brief_serve::mcp::check_servers;
use brief_serve::mcp::configured::ServerSearch;

use crate::commands::mcp_servers::CheckedServer;
use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

/// The time for a server to start, and again for its list.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts each configured server, lists its tools, and ends it.
pub(in crate::commands) fn check(
    ui: &mut Ui,
    session: &Session,
    is_allowed: bool,
) -> Result<Vec<CheckedServer>, CommandError> {
    let search = ServerSearch { is_allowed, without: None };
    let servers = super::servers(ui, session, search)?;
    let stop = session.system().interruption().map_err(CommandError::from)?;
    let system = session.shared_system();
    let checks = check_servers(&system, session.directory(), &servers, PATIENCE, &stop);
    if stop.is_raised() {
        return Err(CommandError::interrupted());
    }
    let checked = checks.into_iter().map(|check| {
        let (tools, problem) = match check.tools {
            Ok(tools) => (Some(tools), None),
            Err(problem) => (None, Some(problem)),
        };
        CheckedServer { name: check.name, place: check.place, tools, problem }
    });
    Ok(checked.collect())
}
