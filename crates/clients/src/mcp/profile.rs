//! The table of clients: where their servers stand, and what each field is called.

/// How one client writes MCP servers.
#[derive(Debug)]
pub struct Profile {
    /// The client's name on our command line.
    pub client: &'static str,
    /// The file in a project that it reads them from.
    pub file: &'static str,
    /// Other names of that file; one that is there is used when the usual one is not.
    pub or: &'static [&'static str],
    /// The same below a user's home directory; `None` where the file is the client's own, which writes it
    /// whenever it runs.
    pub home: Option<(&'static str, &'static [&'static str])>,
    /// The format of that file.
    pub format: Format,
    /// The key that holds the servers.
    pub key: &'static str,
    /// The fields of a program to start.
    pub(super) stdio: &'static [(&'static str, Field)],
    /// The fields of a server over streamable HTTP.
    pub(super) http: &'static [(&'static str, Field)],
    /// The fields of a server over server-sent events; `None` when the client has no such thing.
    pub(super) sse: Option<&'static [(&'static str, Field)]>,
    /// How it says that a server is switched off.
    pub(super) disabled: Disabled,
    /// The opening of a text that the client replaces by the content of a file.
    pub(super) inserts_files: Option<&'static str>,
}

/// The format of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    Json,
    /// TOML, one table per server.
    Toml,
}

/// Where the value of a field comes from. Empty lists and maps are left out.
#[derive(Debug, Clone, Copy)]
pub(super) enum Field {
    /// The same for every server.
    Constant(&'static str),
    /// The same list of one for every server.
    ConstantList(&'static str),
    /// The program.
    Command,
    /// The program and its arguments as one list.
    CommandLine,
    /// The arguments.
    Args,
    /// The environment.
    Env,
    /// The address.
    Url,
    /// The headers.
    Headers,
}

/// How a client says that a server is switched off.
#[derive(Debug, Clone, Copy)]
pub(super) enum Disabled {
    /// With this key, set to `false`.
    FalseKey(&'static str),
    /// It has no way to; the server is left out.
    LeftOut,
}

use Field::{Args, Command, CommandLine, Constant, ConstantList, Env, Headers, Url};

/// Every client that we can write for, by name.
pub const PROFILES: [Profile; 6] = [
    Profile {
        client: "claude",
        file: ".mcp.json",
        or: &[],
        home: None,
        format: Format::Json,
        key: "mcpServers",
        stdio: &[("command", Command), ("args", Args), ("env", Env)],
        // Without `type`, the client takes a `url` for a program.
        http: &[("type", Constant("http")), ("url", Url), ("headers", Headers)],
        sse: Some(&[("type", Constant("sse")), ("url", Url), ("headers", Headers)]),
        disabled: Disabled::LeftOut,
        inserts_files: None,
    },
    Profile {
        client: "codex",
        file: ".codex/config.toml",
        or: &[],
        home: Some((".codex/config.toml", &[])),
        format: Format::Toml,
        key: "mcp_servers",
        stdio: &[("command", Command), ("args", Args), ("env", Env)],
        http: &[("url", Url), ("http_headers", Headers)],
        sse: None,
        disabled: Disabled::FalseKey("enabled"),
        inserts_files: None,
    },
    Profile {
        client: "copilot",
        file: ".github/mcp.json",
        or: &[],
        home: Some((".copilot/mcp-config.json", &[])),
        format: Format::Json,
        key: "mcpServers",
        // The client wants `args` and `tools` even when there is nothing to say.
        stdio: &[
            ("type", Constant("local")),
            ("command", Command),
            ("args", Args),
            ("env", Env),
            ("tools", ConstantList("*")),
        ],
        http: &[
            ("type", Constant("http")),
            ("url", Url),
            ("headers", Headers),
            ("tools", ConstantList("*")),
        ],
        sse: Some(&[
            ("type", Constant("sse")),
            ("url", Url),
            ("headers", Headers),
            ("tools", ConstantList("*")),
        ]),
        disabled: Disabled::LeftOut,
        inserts_files: None,
    },
    Profile {
        client: "cursor",
        file: ".cursor/mcp.json",
        or: &[],
        home: Some((".cursor/mcp.json", &[])),
        format: Format::Json,
        key: "mcpServers",
        stdio: &[("command", Command), ("args", Args), ("env", Env)],
        http: &[("url", Url), ("headers", Headers)],
        sse: Some(&[("url", Url), ("headers", Headers)]),
        disabled: Disabled::LeftOut,
        inserts_files: None,
    },
    Profile {
        client: "gemini",
        file: ".gemini/settings.json",
        or: &[],
        home: Some((".gemini/settings.json", &[])),
        format: Format::Json,
        key: "mcpServers",
        stdio: &[("command", Command), ("args", Args), ("env", Env)],
        http: &[("httpUrl", Url), ("headers", Headers)],
        sse: Some(&[("url", Url), ("headers", Headers)]),
        disabled: Disabled::LeftOut,
        inserts_files: None,
    },
    Profile {
        client: "opencode",
        file: "opencode.json",
        or: &["opencode.jsonc"],
        home: Some((".config/opencode/opencode.json", &[".config/opencode/opencode.jsonc"])),
        format: Format::Json,
        key: "mcp",
        stdio: &[("type", Constant("local")), ("command", CommandLine), ("environment", Env)],
        http: &[("type", Constant("remote")), ("url", Url), ("headers", Headers)],
        sse: Some(&[("type", Constant("remote")), ("url", Url), ("headers", Headers)]),
        disabled: Disabled::FalseKey("enabled"),
        // Anywhere in its settings, whatever the text is for.
        inserts_files: Some("{file:"),
    },
];
