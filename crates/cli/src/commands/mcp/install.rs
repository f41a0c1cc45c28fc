//! `brief mcp install` and `brief mcp uninstall`

use std::path::PathBuf;

use brief_clients::mcp::{
    self, Server, ServerChange, ServerEdit, ServerFileError, Transport, plan_server,
};
use brief_clients::profile::ProfileScope;
use brief_safety::capability::Capability;
use brief_system::resolved_home;
use clap::Args;

use crate::commands::mcp_servers::client_parser;
use crate::error::{CommandError, ErrorKind, Result};
use crate::session::Session;
use crate::surroundings::refuse_no_project;
use crate::ui::Ui;

/// The name of the server in clients' files.
const NAME: &str = "brief";

#[derive(Debug, Args)]
pub(super) struct InstallPlace {
    /// Client to configure
    #[arg(value_name = "CLIENT", value_parser = client_parser())]
    client: String,

    /// Use your user-level file, for all projects
    #[arg(long)]
    global: bool,

    /// Show the new file without writing
    #[arg(long)]
    dry_run: bool,

    /// Program that the client starts
    #[arg(long, value_name = "PROGRAM", default_value = "brief")]
    program: String,
}

impl InstallPlace {
    /// Returns our server, as this client starts it.
    fn server(&self) -> Server {
        let args = ["mcp", "--client", &self.client].map(str::to_owned).to_vec();
        let transport = Transport::Stdio { command: self.program.clone(), args, env: Vec::new() };
        Server { name: NAME.to_owned(), transport, disabled: false, custom: Vec::new() }
    }

    fn plan_edit<'s>(
        &self,
        session: &'s Session,
        wanted: Option<&Server>,
    ) -> Result<ServerEdit<'s>> {
        let profile = mcp::find_server_profile(&self.client).ok_or_else(|| {
            CommandError::usage(format!("`{}` has no MCP configuration file", self.client))
        })?;
        let (base, scope): (PathBuf, ProfileScope) = if self.global {
            let home = resolved_home(session.system()).ok_or_else(|| {
                CommandError::refused("cannot find the home directory").with_hint("set `HOME`")
            })?;
            (home, ProfileScope::Home)
        } else {
            (session.repository_root()?.path().to_owned(), ProfileScope::Project)
        };
        let ours = self.server();
        let before = std::slice::from_ref(&ours);
        plan_server(session.system(), &base, (profile, scope), wanted, before).map_err(|error| {
            let refused = CommandError::refused(error.to_string());
            match error {
                ServerFileError::NoUserFile => {
                    refused.with_hint("omit `--global` to use the project's file")
                }
                ServerFileError::Invalid(..) => {
                    refused.with_hint("correct the file; brief did not change it")
                }
                _ => refused,
            }
        })
    }

    /// Carries a change out, or shows it.
    fn apply_edit(
        &self,
        ui: &mut Ui,
        edit: &ServerEdit<'_>,
        (done, nothing): (&str, &str),
    ) -> Result {
        let shown = if self.global { format!("~/{}", edit.shown) } else { edit.shown.clone() };
        match &edit.change {
            ServerChange::None => ui.print_status(&format!("{nothing} {shown}"))?,
            ServerChange::Kept(reason) => {
                ui.print_warning(&format!("brief did not change `{NAME}` in {shown}: {reason}"))?;
                return Err(CommandError::reported(ErrorKind::Refused));
            }
            ServerChange::Write(text) if self.dry_run => {
                ui.print_text(text.as_bytes())?;
                ui.print_status(&format!("would write this to {shown}"))?;
            }
            ServerChange::Remove if self.dry_run => {
                ui.print_status(&format!("would remove {shown}, because it would be empty"))?;
            }
            ServerChange::Write(_) | ServerChange::Remove => {
                let applied = edit.apply();
                applied.map_err(|error| CommandError::refused(error.to_string()))?;
                ui.print_status(&format!("{done} {shown}"))?;
            }
        }
        Ok(())
    }
}

pub(super) fn install_server(ui: &mut Ui, session: &Session, place: &InstallPlace) -> Result {
    if let Some(decision) = session.load_policy()?.find_capability_rule(Capability::McpServers) {
        return Err(CommandError::refused(format!("cannot install the server: {decision}"))
            .with_hint(
                "run `brief trust --policy` to see the policy, and ask whoever maintains it",
            ));
    }
    if !place.global {
        refuse_no_project(session, &session.repository_root()?)?;
    }
    let edit = place.plan_edit(session, Some(&place.server()))?;
    let words = ("added the server to", "the server is already in");
    place.apply_edit(ui, &edit, words)?;
    if matches!(edit.change, ServerChange::Write(_)) && !place.dry_run {
        ui.print_hint("restart the client to use the server, and approve it if the client asks")?;
    }
    Ok(())
}

pub(super) fn uninstall_server(ui: &mut Ui, session: &Session, place: &InstallPlace) -> Result {
    let edit = place.plan_edit(session, None)?;
    place.apply_edit(ui, &edit, ("removed the server from", "the server is not in"))
}
