//! `brief agent list`

use std::path::Path;

use brief_cli::warn_of_wide_root;
use brief_engine::agents::{self, AgentOwner, Loaded};
use brief_syntax::render::path_below;
use serde_json::{Value, json};

use crate::agent::AgentListArgs;
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session, args: &AgentListArgs) -> Result {
    let root = session.open_root()?;
    warn_of_wide_root(ui, session, root.path())?;
    let found = agents::list_agents(session.system(), &root);
    if args.json {
        let root = root.path();
        let agents: Vec<Value> = found.iter().map(|found| agent_json(root, found)).collect();
        let body = json!({ "agents": agents });
        return ui.print_json("agent list", root, &[], body);
    }
    if found.is_empty() {
        ui.print_status(
            "no agent files (`agents/CATEGORY_NAME.agent.md`) in the project or the home directory",
        )?;
    }
    if let [first, rest @ ..] = &agents::portable_agents(session.system(), &root)[..] {
        let path = first.strip_prefix(root.path()).unwrap_or(first).display();
        let what = match rest.len() {
            0 => format!("`{path}` is a subagent item"),
            more => format!("`{path}` and {more} more are subagent items"),
        };
        ui.print_status(&format!(
            "{what} for `brief registry build`; `brief agent` runs only agent files"
        ))?;
    }
    for (_, loaded) in &found {
        let path = loaded.path().strip_prefix(root.path()).unwrap_or(loaded.path()).display();
        match loaded.agent() {
            Some(agent) => {
                let status = agent.status.as_str();
                ui.print_line(format!("{path}: {} {} ({status})", agent.icon, agent.title))?;
            }
            None => ui.print_line(format!("{path}: invalid; see `brief agent check`"))?,
        }
    }
    Ok(())
}

fn agent_json(root: &Path, (owner, loaded): &(AgentOwner, Loaded)) -> Value {
    let agent = loaded.agent();
    json!({
        "name": agent.map_or("", |agent| &agent.name.name),
        "category": agent.and_then(|agent| agent.name.category.as_deref()),
        "title": agent.map_or("", |agent| &agent.title),
        "description": agent.map_or("", |agent| &agent.description),
        "status": agent.map_or("", |agent| agent.status.as_str()),
        "scope": owner.as_str(),
        "path": path_below(root, loaded.path()),
        "ok": agent.is_some(),
    })
}
