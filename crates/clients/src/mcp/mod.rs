//! MCP servers in each client's own shape.
//!
//! Each client's file and field names stand in `[mcp]` of its profile. This module starts no server.

mod found;
mod install;
mod read;
mod write;

pub(crate) use found::PEER_FILES;
pub use found::{FoundServer, ServerFile, parse_server_names, parse_servers, server_files};
pub use install::{
    OWN_NAME, ServerChange, ServerEdit, ServerFileError, plan_server, remove_own_servers,
};
pub use read::{DeclaredServer, is_name, parse_declared_servers, render_declaration};
pub use write::{WrittenServers, entry_json, render_servers};

use brief_profiles::{BUILTIN, ServerProfile, Text};

use crate::profile::ProfileScope;

/// A server, as any dialect declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The name that it goes by.
    pub name: String,
    /// The way to reach it.
    pub transport: Transport,
    /// True if it is declared but switched off.
    pub disabled: bool,
    /// The other declared fields, in order.
    pub custom: Vec<(String, serde_json::Value)>,
}

/// The way to reach a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A program to start, spoken to over its standard streams.
    Stdio {
        command: String,
        args: Vec<String>,
        /// Variables for its environment, in order.
        env: Vec<(String, String)>,
    },
    Remote {
        /// Streamable HTTP, or the older event stream.
        protocol: Protocol,
        url: String,
        /// Headers to send, in order.
        headers: Vec<(String, String)>,
    },
}

/// The protocol of a remote server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Http,
    Sse,
}

/// Returns the clients that servers are written for, by name.
pub fn server_clients() -> impl Iterator<Item = (&'static str, &'static ServerProfile)> {
    let with_servers = |client: &'static brief_profiles::Client| {
        Some((&*client.id, client.mcp.as_ref().filter(|servers| !servers.stdio.is_empty())?))
    };
    BUILTIN.clients.iter().filter_map(with_servers)
}

/// Returns how servers are written for the client of that name.
pub fn find_server_profile(client: &str) -> Option<&'static ServerProfile> {
    server_clients().find(|(known, _)| *known == client).map(|(_, servers)| servers)
}

/// Returns the file that servers are written to, if there is one, and others that the client reads.
pub(crate) fn files_in(profile: &ServerProfile, scope: ProfileScope) -> (Option<&Text>, &[Text]) {
    match scope {
        ProfileScope::Project => (profile.file.as_ref(), &profile.or),
        ProfileScope::Home => (profile.home_file.as_ref(), &profile.home_or),
    }
}
