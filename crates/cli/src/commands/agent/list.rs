//! `brief agent list`

use std::process::ExitCode;

use brief_engine::agents::{self, Loaded, Owner};
use clap::Args;
use serde::Serialize;

use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

/// Show the agents of the project and of the home directory
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Print JSON: each agent with its file, title, status, and whether it loads
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct JsonAgent<'a> {
    name: &'a str,
    category: Option<&'a str>,
    title: &'a str,
    description: &'a str,
    status: &'static str,
    scope: &'static str,
    path: String,
    ok: bool,
}

pub(super) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &ListArgs,
) -> Result<ExitCode, CommandError> {
    let root = session.root()?;
    let found = agents::list(session.system(), &root);
    if args.json {
        let all: Vec<JsonAgent<'_>> = found.iter().map(json).collect();
        ui.print_json(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    if found.is_empty() {
        ui.status("there are no agents: `agents/CATEGORY_NAME.agent.md`, or the same at home")?;
    }
    for (_, loaded) in &found {
        let path = loaded.path().strip_prefix(root.path()).unwrap_or(loaded.path()).display();
        match loaded.agent() {
            Some(agent) => {
                let status = agent.status.as_str();
                ui.print_line(format!("{path}: {} {} ({status})", agent.icon, agent.title))?;
            }
            None => ui.print_line(format!("{path}: does not load; see `brief agent check`"))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn json((owner, loaded): &(Owner, Loaded)) -> JsonAgent<'_> {
    let agent = loaded.agent();
    JsonAgent {
        name: agent.map_or("", |agent| &agent.name.name),
        category: agent.and_then(|agent| agent.name.category.as_deref()),
        title: agent.map_or("", |agent| &agent.title),
        description: agent.map_or("", |agent| &agent.description),
        status: agent.map_or("", |agent| agent.status.as_str()),
        scope: owner.as_str(),
        path: loaded.path().to_string_lossy().into_owned(),
        ok: agent.is_some(),
    }
}
