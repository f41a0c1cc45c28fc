//! One server of ours in a client's own file: added and removed without a trace.

use std::path::Path;

use brief_dialects::portable::output::{Foreign, Merge, SharedEntry};
use brief_profiles::ServerProfile;
use brief_system::System;

use super::{
    Server, ServerFile, Transport, entry_json, files_in, find_server_profile, parse_servers,
};
use crate::client_file::{ClientFile, ClientFileError};
use crate::profile::ProfileScope;
use crate::shared::merge_entries;

/// The name of the server that `brief mcp install` adds.
pub const OWN_NAME: &str = "brief";

/// The planned change of a file.
pub struct ServerEdit<'s> {
    /// The path below the base, for messages.
    pub shown: String,
    file: ClientFile<'s>,
    pub change: ServerChange,
}

/// The change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerChange {
    /// It is as it should be.
    None,
    Write(String),
    /// It held nothing else, and is removed.
    Remove,
    /// It has another server of that name, for this reason.
    Kept(&'static str),
}

/// A client's file that cannot be edited.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerFileError {
    /// The client has no such file that a program may write.
    #[error("the client has no user-level server file that other programs may write")]
    NoUserFile,
    /// The client cannot have the server.
    #[error("cannot configure the server for the client: {0}")]
    Unfit(&'static str),
    /// The file cannot be read or written.
    #[error("`{0}` {1}")]
    File(String, #[source] ClientFileError),
    /// The file is not what the client reads.
    #[error("`{0}` {1}")]
    Invalid(String, String),
}

/// Plans to add a server to the client's file below `base`, or to remove it with `wanted` false. `before` are the
/// forms that it may have had.
pub fn plan_server<'s>(
    system: &'s dyn System,
    base: &Path,
    (profile, scope): (&ServerProfile, ProfileScope),
    wanted: Option<&Server>,
    before: &[Server],
) -> Result<ServerEdit<'s>, ServerFileError> {
    let (usual, others) = files_in(profile, scope);
    let usual = usual.ok_or(ServerFileError::NoUserFile)?;
    let is_there = |path: &&brief_profiles::Text| system.resolve(&base.join(&***path)).is_ok();
    let shown = std::iter::once(usual).chain(others).find(is_there).unwrap_or(usual);
    let shown = shown.to_string();
    let file = ClientFile::open(system, base, &shown)
        .map_err(|error| ServerFileError::File(shown.clone(), error))?;
    let change = plan_change(profile, &shown, file.text(), wanted, before)?;
    Ok(ServerEdit { shown, file, change })
}

impl ServerEdit<'_> {
    pub fn apply(&self) -> Result<(), ServerFileError> {
        let text = match &self.change {
            ServerChange::None | ServerChange::Kept(_) => None,
            ServerChange::Remove => Some(""),
            ServerChange::Write(text) => Some(text.as_str()),
        };
        let done = self.file.write_text(text, false);
        done.map(drop).map_err(|error| ServerFileError::File(self.shown.clone(), error))
    }
}

/// Returns the text of a client's file without the servers that `brief mcp install` has added, whichever program they
/// start; `None` if it has none of them, and an empty text if nothing else is left. The error says why one stays.
pub fn remove_own_servers(
    file: &ServerFile,
    text: &str,
    root: &Path,
) -> Result<Option<String>, String> {
    let Some(profile) = find_server_profile(file.owner) else { return Ok(None) };
    let Ok(found) = parse_servers(file, text, root) else { return Ok(None) };
    let is_ours = |server: &Server| match &server.transport {
        Transport::Stdio { args, .. } => {
            server.name == OWN_NAME && args.iter().eq(["mcp", "--client", file.owner])
        }
        Transport::Remote { .. } => false,
    };
    let before: Vec<Server> = found
        .into_iter()
        .map(|found| found.server)
        .filter(is_ours)
        .map(|server| Server { disabled: false, custom: Vec::new(), ..server })
        .collect();
    if before.is_empty() {
        return Ok(None);
    }
    match plan_change(profile, file.path, Some(text), None, &before) {
        Ok(ServerChange::None) => Ok(None),
        Ok(ServerChange::Write(left)) => Ok(Some(left)),
        Ok(ServerChange::Remove) => Ok(Some(String::new())),
        Ok(ServerChange::Kept(reason)) => Err(format!("keeps the server `{OWN_NAME}`: {reason}")),
        Err(error) => Err(error.to_string()),
    }
}

fn plan_change(
    profile: &ServerProfile,
    path: &str,
    text: Option<&str>,
    wanted: Option<&Server>,
    before: &[Server],
) -> Result<ServerChange, ServerFileError> {
    let entry = |server: &Server| {
        let json = entry_json(profile, server).map_err(ServerFileError::Unfit)?;
        Ok(SharedEntry::Keyed { key: profile.key.to_string(), name: server.name.clone(), json })
    };
    let wanted = wanted.map(entry).transpose()?;
    let before = before.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    let (wanted, foreign) = (wanted.as_slice(), Foreign::Keep);
    let merged = merge_entries(&Merge { path, text, wanted, before: &before, foreign }, None);
    let merged = merged.map_err(|problem| ServerFileError::Invalid(path.to_owned(), problem))?;
    if let Some((_, reason)) = merged.kept.first() {
        return Ok(ServerChange::Kept(reason));
    }
    Ok(match (merged.text, text) {
        (Some(new), Some(old)) if new == old => ServerChange::None,
        (Some(new), _) => ServerChange::Write(new),
        (None, Some(_)) => ServerChange::Remove,
        (None, None) => ServerChange::None,
    })
}

#[cfg(test)]
mod tests {
    use brief_system::MemorySystem;

    use super::*;

    fn server(client: &str) -> Server {
        Server {
            name: "brief".to_owned(),
            transport: Transport::Stdio {
                command: "brief".to_owned(),
                args: ["mcp", "--client", client].map(str::to_owned).to_vec(),
                env: Vec::new(),
            },
            disabled: false,
            custom: Vec::new(),
        }
    }

    fn planned<'s>(system: &'s MemorySystem, client: &str, is_wanted: bool) -> ServerEdit<'s> {
        let servers = (find_server_profile(client).unwrap(), ProfileScope::Project);
        let (ours, base) = (server(client), Path::new("/p"));
        let wanted = is_wanted.then_some(&ours);
        plan_server(system, base, servers, wanted, std::slice::from_ref(&ours)).unwrap()
    }

    /// A server that is installed and removed leaves the file as it was, byte for byte.
    #[test]
    fn every_file_is_left_as_it_was() {
        for (client, text) in [
            (
                "claude",
                "{\n  // mine\n  \"mcpServers\": {\"db\": {\"command\": \"db\"}},\n  \"z\": 1e3\n}\n",
            ),
            ("opencode", "{\"$schema\": \"x\", \"theme\": \"dark\"}\n"),
            ("codex", "# mine\nmodel = \"o\"\n\n[mcp_servers.db]\ncommand = \"db\" # theirs\n"),
            ("codex", "model = \"o\"\n"),
        ] {
            let path = find_server_profile(client).unwrap().file.as_ref().unwrap().to_string();
            let system = MemorySystem::new("/p").with_file(&path, text);
            let ServerChange::Write(added) = planned(&system, client, true).change else {
                panic!("{client} is not changed")
            };
            assert!(added.contains("--client"), "{added}");
            let system = MemorySystem::new("/p").with_file(&path, &added);
            assert_eq!(planned(&system, client, true).change, ServerChange::None);
            assert_eq!(
                planned(&system, client, false).change,
                ServerChange::Write(text.to_owned())
            );
        }
    }

    #[test]
    fn a_new_file_goes_again_and_a_foreign_server_stays() {
        for client in ["claude", "codex", "cursor", "copilot", "gemini"] {
            let system = MemorySystem::new("/p");
            let edit = planned(&system, client, true);
            let ServerChange::Write(text) = edit.change else { panic!("{client}") };
            let system = MemorySystem::new("/p").with_file(&edit.shown, &text);
            assert_eq!(planned(&system, client, false).change, ServerChange::Remove, "{client}");
            let other = text.replace("mcp", "own");
            let other =
                other.replace("own_servers", "mcp_servers").replace("ownServers", "mcpServers");
            let system = MemorySystem::new("/p").with_file(&edit.shown, &other);
            for is_wanted in [true, false] {
                let change = planned(&system, client, is_wanted).change;
                assert!(matches!(change, ServerChange::Kept(_)), "{client} {change:?}");
            }
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (client, text) in
            [("claude", "{bad"), ("claude", "[]"), ("codex", "= ="), ("codex", "mcp_servers = 1\n")]
        {
            let path = find_server_profile(client).unwrap().file.as_ref().unwrap().to_string();
            let system = MemorySystem::new("/p").with_file(&path, text);
            let (servers, ours) =
                ((find_server_profile(client).unwrap(), ProfileScope::Project), server(client));
            let edit = plan_server(&system, Path::new("/p"), servers, Some(&ours), &[]);
            assert!(matches!(edit, Err(ServerFileError::Invalid(..))), "{text}");
        }
        let outside = MemorySystem::new("/p")
            .with_file("/q/x.json", "{}")
            .with_link(".mcp.json", "/q/x.json");
        let (servers, ours) =
            ((find_server_profile("claude").unwrap(), ProfileScope::Project), server("claude"));
        let edit = plan_server(&outside, Path::new("/p"), servers, Some(&ours), &[]);
        assert!(matches!(edit, Err(ServerFileError::File(_, ClientFileError::Outside))));
        let user = (find_server_profile("claude").unwrap(), ProfileScope::Home);
        let edit = plan_server(&outside, Path::new("/p"), user, Some(&ours), &[]);
        assert!(matches!(edit, Err(ServerFileError::NoUserFile)));
    }
}
