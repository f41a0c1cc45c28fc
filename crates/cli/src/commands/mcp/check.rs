//! The servers of `brief mcp servers --check`.

use std::path::PathBuf;
use std::time::Duration;

use brief_mcp_client::held_back_note;
use brief_runtime::TrustStore;
use brief_runtime::trust::TrustVerdict;
use brief_serve::mcp::configured::ServerSearch;
use brief_serve::mcp::{GatewayServer, ServerCheck, check_servers};
use brief_syntax::text::visible_line;
use serde_json::Value;

use crate::commands::mcp_servers::CheckedServer;
use crate::error::{CommandError, ErrorKind, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// The time for a server to start, and again for its list.
const PATIENCE: Duration = Duration::from_secs(20);

fn looked_at(
    ui: &mut Ui,
    session: &Session,
    is_allowed: bool,
) -> Result<(Vec<GatewayServer>, Vec<ServerCheck>)> {
    let search = ServerSearch { is_allowed, without: None };
    let servers = super::find_project_servers(ui, session, search)?;
    let stop = session.system().interruption()?;
    let system = session.shared_system();
    let checks = check_servers(&system, session.directory(), &servers, PATIENCE, &stop);
    if stop.is_raised() {
        return Err(CommandError::interrupted());
    }
    Ok((servers, checks))
}

fn tool_name(tool: &Value) -> String {
    tool["name"].as_str().unwrap_or_default().to_owned()
}

/// Starts each configured server, lists its tools, and ends it.
pub(in crate::commands) fn check_project_servers(
    ui: &mut Ui,
    session: &Session,
    is_allowed: bool,
) -> Result<Vec<CheckedServer>> {
    let (_, checks) = looked_at(ui, session, is_allowed)?;
    for ServerCheck { name, tools, .. } in &checks {
        for tool in tools.iter().flat_map(|listed| &listed.held_back) {
            ui.print_warning(&held_back_note(name, tool))?;
        }
    }
    let checked = checks.into_iter().map(|check| {
        let ServerCheck { name: server, place, tools, .. } = check;
        let (tools, held_back, problem) = match tools {
            Ok(listed) => {
                (Some(listed.tools.iter().map(tool_name).collect()), listed.held_back, None)
            }
            Err(problem) => (None, Vec::new(), Some(problem)),
        };
        CheckedServer { name: server, place, tools, held_back, problem }
    });
    Ok(checked.collect())
}

/// Shows the tools that the user has not accepted, asks, and records the answer.
pub(in crate::commands) fn accept_tools(
    ui: &mut Ui,
    session: &Session,
    is_allowed: bool,
) -> Result {
    if !ui.can_ask() {
        return Err(CommandError::refused("cannot accept tools without a terminal")
            .with_hint("run the command in a terminal; scripts cannot accept tools"));
    }
    let (servers, checks) = looked_at(ui, session, is_allowed)?;
    let mut store = TrustStore::open(session.system(), session.directory())?;
    let mut new: Vec<(Vec<u8>, PathBuf)> = Vec::new();
    let mut has_failed = false;
    for (server, check) in servers.iter().zip(&checks) {
        if let Err(problem) = &check.tools {
            ui.print_warning(&format!("`{}` failed: {problem}", server.name))?;
            has_failed = true;
            continue;
        }
        let decisions = &server.decisions;
        let mut add = |content: Vec<u8>, path: String| {
            let is_new = store.verdict_on(&content) != Some(TrustVerdict::Trusted);
            new.extend(is_new.then(|| (content, PathBuf::from(path))));
            is_new
        };
        add(decisions.server_content(), format!("{} (tools)", decisions.origin()));
        for tool in &check.described {
            let path = format!("{}/{}", decisions.origin(), tool_name(tool));
            if add(decisions.tool_content(tool), path) {
                ui.print_status(&format!("{}  {}", server.name, visible_line(&tool_name(tool))))?;
                ui.print_quote(&serde_json::to_string_pretty(tool).unwrap_or_default())?;
            }
        }
    }
    if new.is_empty() {
        ui.print_status("all tools are already accepted")?;
        return refuse_if(has_failed);
    }
    ui.print_status(
        "afterwards, brief blocks new or changed tools of these servers until you accept them",
    )?;
    if !ui.confirm("Accept these tools?")? {
        ui.print_status("nothing was recorded")?;
        return Err(CommandError::reported(ErrorKind::Refused));
    }
    store.record_all(&new)?;
    ui.print_status("accepted")?;
    refuse_if(has_failed)
}
