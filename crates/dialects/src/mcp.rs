//! MCP servers, as every dialect that declares them understands them.

/// How to reach an MCP server. Nothing here is ever started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// The program or the address.
    pub connection: Connection,
    /// The value of `type`, if it is set.
    pub kind: Option<ServerKind>,
    /// Whether it is listed only.
    pub disabled: bool,
    /// What else its author says, in the order written: fields that a format lets anybody add.
    pub custom: Vec<(String, serde_json::Value)>,
}

/// The two forms of a server entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// A program.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment, in the order written.
        env: Vec<(String, String)>,
    },
    /// An address.
    Url {
        /// The address.
        url: String,
        /// The headers of each request, in the order written.
        headers: Vec<(String, String)>,
    },
}

/// The value of a server's `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerKind {
    /// Standard input and output.
    Stdio,
    /// Server-sent events.
    Sse,
    /// Streamable HTTP.
    Http,
}

impl ServerKind {
    /// All kinds, in the order in which the document lists them.
    pub const ALL: [ServerKind; 3] = [ServerKind::Stdio, ServerKind::Sse, ServerKind::Http];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            ServerKind::Stdio => "stdio",
            ServerKind::Sse => "sse",
            ServerKind::Http => "http",
        }
    }

    /// Finds the kind of that name. Case counts.
    pub fn from_name(name: &str) -> Option<ServerKind> {
        ServerKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}
