//! MCP servers, in the one model for every dialect that declares them.

/// The declaration of an MCP server. This crate never starts one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// The program or the address.
    pub connection: Connection,
    /// The value of `type`, if it is set.
    pub kind: Option<ServerKind>,
    /// True for a server that is listed and never connected to.
    pub disabled: bool,
    /// Fields of the author that the format allows and does not define, in the order written.
    pub custom: Vec<(String, serde_json::Value)>,
}

/// The two forms of a server entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    Command {
        command: String,
        args: Vec<String>,
        /// Its environment, in the order written.
        env: Vec<(String, String)>,
    },
    Url {
        url: String,
        /// The headers of each request, in the order written.
        headers: Vec<(String, String)>,
    },
}

/// The value of a server's `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerKind {
    Stdio,
    Sse,
    Http,
}

impl ServerKind {
    /// All kinds, in the order in which the document lists them.
    pub const ALL: [ServerKind; 3] = [ServerKind::Stdio, ServerKind::Sse, ServerKind::Http];

    /// Returns the kind's name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            ServerKind::Stdio => "stdio",
            ServerKind::Sse => "sse",
            ServerKind::Http => "http",
        }
    }

    /// Finds a kind by its name, which is case-sensitive.
    pub fn from_name(name: &str) -> Option<ServerKind> {
        ServerKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}
