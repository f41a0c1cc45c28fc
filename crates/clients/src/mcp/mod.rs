//! MCP servers in each client's own shape.
//!
//! What clients call the same things is data ([`profile`]): a client that changes its file is an
//! edit of one table. Nothing here starts a server.

mod found;
mod profile;
mod read;
mod write;

pub use found::{FoundServer, SERVER_FILES, ServerFile, find};
pub use profile::{Format, PROFILES, Profile};
pub use read::{Declared, read};
pub use write::{Written, entry_json, write};

/// A server, as any dialect declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The name that it goes by.
    pub name: String,
    /// How to reach it.
    pub transport: Transport,
    /// Whether it is declared but switched off.
    pub disabled: bool,
    /// What else is declared, in order.
    pub custom: Vec<(String, serde_json::Value)>,
}

/// How to reach a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A program to start, spoken to over its standard streams.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables for its environment, in order.
        env: Vec<(String, String)>,
    },
    /// A server elsewhere.
    Remote {
        /// Streamable HTTP, or the older event stream.
        protocol: Protocol,
        /// Where it is.
        url: String,
        /// Headers to send, in order.
        headers: Vec<(String, String)>,
    },
}

/// What a remote server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Streamable HTTP.
    Http,
    /// Server-sent events.
    Sse,
}

/// Returns the profile of the client of that name.
pub fn profile(client: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.client == client)
}
