//! Servers that stand in the files of clients, those of a project and the user's.
//!
//! The files belong to the clients and to the user: they are read as far as they are understood, and
//! nothing in them is started.

use std::path::Path;

use brief_profiles::{BUILTIN, ServerFormat};
use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value as Json};
use toml_edit::TableLike;

use super::{Protocol, Server, Transport, files_in};
use crate::profile::ProfileScope;
use crate::{json_text, shared};

/// A file in which a client looks for servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerFile {
    /// The client, as people call it.
    pub client: &'static str,
    /// The client, as its own file is called.
    pub owner: &'static str,
    /// The path below the project or the home directory, with `/`.
    pub path: &'static str,
    /// The directory that it is below.
    pub scope: ProfileScope,
    format: ServerFormat,
    /// The key that holds the servers.
    key: &'static str,
    /// The key that holds a table for each project.
    projects: Option<&'static str>,
}

impl ServerFile {
    /// Returns the path for people.
    pub fn display_path(&self) -> String {
        match self.scope {
            ProfileScope::Project => self.path.to_owned(),
            ProfileScope::Home => format!("~/{}", self.path),
        }
    }
}

/// Returns the files of a project, or those of the user, by client.
pub fn server_files(scope: ProfileScope) -> impl Iterator<Item = ServerFile> {
    let clients = BUILTIN.clients.iter().filter_map(|client| Some((client, client.mcp.as_ref()?)));
    clients.flat_map(move |(client, servers)| {
        let owner = &*client.id;
        let client = servers.known_as.as_deref().unwrap_or(owner);
        let (usual, others) = files_in(servers, scope);
        let paths = usual.into_iter().chain(others);
        let (format, key) = (servers.format, &*servers.key);
        let projects = servers.home_projects.as_deref().filter(|_| scope == ProfileScope::Home);
        paths.map(move |path| ServerFile { client, owner, path, scope, format, key, projects })
    })
}

/// The files of tools that keep servers for several clients: rulesync 17 and ruler 0.3.
pub(crate) const PEER_FILES: [ServerFile; 3] = [
    peer_file("rulesync", ".rulesync/mcp.json", ServerFormat::Json, "mcpServers"),
    peer_file("ruler", ".ruler/ruler.toml", ServerFormat::Toml, "mcp_servers"),
    peer_file("ruler", ".ruler/mcp.json", ServerFormat::Json, "mcpServers"),
];

const fn peer_file(
    tool: &'static str,
    path: &'static str,
    format: ServerFormat,
    key: &'static str,
) -> ServerFile {
    let (client, owner, scope) = (tool, tool, ProfileScope::Project);
    ServerFile { client, owner, path, scope, format, key, projects: None }
}

/// A server, and the line that it begins on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundServer {
    pub server: Server,
    /// The line, from 1.
    pub line: usize,
    /// The fields that are not understood.
    pub others: Vec<String>,
    /// The clients that it is for, in the words of a tool that keeps servers for several.
    pub(crate) targets: Vec<String>,
}

/// The fields of servers that are understood, in any client's words.
const WORDS: [&str; 11] = [
    "command",
    "args",
    "env",
    "environment",
    "url",
    "httpUrl",
    "headers",
    "http_headers",
    "type",
    "disabled",
    "enabled",
];

/// Reads the servers of a client's file, in order: in a file of the user, those for `project` before those for every
/// project. A server that is not understood is passed over; the error says why the whole file is.
pub fn parse_servers(
    file: &ServerFile,
    text: &str,
    project: &Path,
) -> Result<Vec<FoundServer>, String> {
    let found =
        parse_entries(file, text, project)?.into_iter().filter_map(|(name, value, line)| {
            let fields = value.as_object()?;
            let others =
                fields.keys().filter(|key| !WORDS.contains(&key.as_str())).cloned().collect();
            let targets = find_texts(fields, "targets").unwrap_or_default();
            Some(FoundServer { server: parse_server(name, fields)?, line, others, targets })
        });
    Ok(found.collect())
}

/// Returns the names of all entries of a client's file, also of those that are not understood.
pub fn parse_server_names(file: &ServerFile, text: &str) -> Vec<String> {
    let entries = parse_entries(file, text, Path::new("")).unwrap_or_default();
    entries.into_iter().map(|(name, ..)| name).collect()
}

/// Returns the entries of a client's file: name, value, and the line that each begins on.
fn parse_entries(
    file: &ServerFile,
    text: &str,
    project: &Path,
) -> Result<Vec<(String, Json, usize)>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let line = |start: usize| text[..start].matches('\n').count() + 1;
    if file.format == ServerFormat::Toml {
        let document = toml_edit::Document::parse(text)
            .map_err(|error| format!("is not TOML: {}", error.message()))?;
        let servers = document.get(file.key).and_then(|item| item.as_table_like());
        let entries = servers.into_iter().flat_map(TableLike::iter).map(|(name, item)| {
            let start = item.span().map_or(0, |span| span.start);
            (name.to_owned(), shared::toml::to_json(item), line(start))
        });
        return Ok(entries.collect());
    }
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed.map_err(|error| format!("is not JSON: {error}"))?;
    let Some(Value::Object(top)) = parsed.value else {
        return Err("is not a JSON object".to_owned());
    };
    let of_project = || top.get_object(file.projects?)?.get_object(project.to_str()?);
    let tables = [of_project(), Some(&top)].into_iter().flatten();
    let servers = tables.filter_map(|table| table.get_object(file.key));
    let entries = servers.flat_map(|servers| &servers.properties).map(|property| {
        let name = property.name.as_str().to_owned();
        (name, json_text::to_json(&property.value), line(property.range().start))
    });
    Ok(entries.collect())
}

fn find_texts(fields: &Map<String, Json>, key: &str) -> Option<Vec<String>> {
    let text = |value: &Json| match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    };
    Some(fields.get(key)?.as_array()?.iter().filter_map(text).collect())
}

/// Reads a server in any client's words; `None` for one that says neither what to start nor where it is.
fn parse_server(name: String, fields: &Map<String, Json>) -> Option<Server> {
    let text = |key: &str| fields.get(key)?.as_str().map(str::to_owned);
    let flag = |key: &str| fields.get(key).and_then(Json::as_bool);
    let pairs = |key: &str| -> Vec<(String, String)> {
        let table = fields.get(key).and_then(Json::as_object).into_iter().flatten();
        table.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
    };
    let either = |left: &str, right: &str| match pairs(left) {
        none if none.is_empty() => pairs(right),
        pairs => pairs,
    };
    let line = find_texts(fields, "command").filter(|line| !line.is_empty());
    let program = match line {
        Some(line) => Some((line[0].clone(), line[1..].to_vec())),
        None => {
            text("command").map(|command| (command, find_texts(fields, "args").unwrap_or_default()))
        }
    };
    let transport = if let Some((command, args)) = program {
        Transport::Stdio { command, args, env: either("env", "environment") }
    } else {
        let (http, url) = (text("httpUrl"), text("url"));
        let is_sse = http.is_none() && text("type").as_deref() == Some("sse");
        let protocol = if is_sse { Protocol::Sse } else { Protocol::Http };
        let headers = either("headers", "http_headers");
        Transport::Remote { protocol, url: http.or(url)?, headers }
    };
    let disabled = flag("disabled") == Some(true) || flag("enabled") == Some(false);
    Some(Server { name, transport, disabled, custom: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str, text: &str) -> Vec<String> {
        let file = server_files(ProfileScope::Project).find(|file| file.path == path).unwrap();
        let found = parse_servers(&file, text, Path::new("/p")).unwrap();
        let words = |found: FoundServer| {
            let way = match found.server.transport {
                Transport::Stdio { command, args, env } => format!("{command} {args:?} {env:?}"),
                Transport::Remote { protocol, url, headers } => {
                    format!("{protocol:?} {url} {headers:?}")
                }
            };
            format!("{}:{} {way} {}", found.server.name, found.line, found.server.disabled)
        };
        found.into_iter().map(words).collect()
    }

    /// `claude mcp add` writes a server for one project unless it is told otherwise (2.1.325, run).
    #[test]
    fn a_users_servers_for_one_project_come_first() {
        let text = r#"{"mcpServers": {"a": {"command": "everywhere"}},
            "projects": {"/p": {"mcpServers": {"a": {"command": "here"}}}, "/q": {"mcpServers": {"b": {"command": "x"}}}, "/r": 1}}"#;
        let mut files = server_files(ProfileScope::Home);
        let file = files.find(|file| file.path == ".claude.json").unwrap();
        let commands = |project: &str| -> Vec<String> {
            let found = parse_servers(&file, text, Path::new(project)).unwrap();
            let command = |found: FoundServer| match found.server.transport {
                Transport::Stdio { command, .. } => format!("{}:{command}", found.server.name),
                Transport::Remote { url, .. } => url,
            };
            found.into_iter().map(command).collect()
        };
        assert_eq!(commands("/p"), ["a:here", "a:everywhere"]);
        assert_eq!(commands("/p/sub"), ["a:everywhere"]);
        assert_eq!(commands("/r"), ["a:everywhere"]);
    }

    /// U08: each client has its own words.
    #[test]
    fn servers_are_read_from_every_clients_file() {
        for (path, text, expected) in [
            (
                ".mcp.json",
                "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"npx\", \"args\": [\"x\"], \"env\": {\"K\": \"v\"}},\n    \"b\": {\"type\": \"sse\", \"url\": \"https://b\"}\n  }\n}\n",
                &["a:3 npx [\"x\"] [(\"K\", \"v\")] false", "b:4 Sse https://b [] false"][..],
            ),
            (
                ".vscode/mcp.json",
                "{\"servers\": {\"a\": {\"url\": \"https://a\", \"headers\": {\"H\": \"1\"}}}}",
                &["a:1 Http https://a [(\"H\", \"1\")] false"],
            ),
            (
                ".gemini/settings.json",
                "{\"theme\": 1, \"mcpServers\": {\"a\": {\"httpUrl\": \"https://a\"}}}",
                &["a:1 Http https://a [] false"],
            ),
            (
                "opencode.jsonc",
                "{// mine\n\"mcp\": {\"a\": {\"type\": \"local\", \"command\": [\"npx\", \"x\"], \"enabled\": false}}}",
                &["a:2 npx [\"x\"] [] true"],
            ),
            (
                ".codex/config.toml",
                "model = \"x\"\n[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"x\", 3]\n",
                &["a:2 npx [\"x\", \"3\"] [] false"],
            ),
            (".cursor/mcp.json", "{\"mcpServers\": {\"a\": 1, \"b\": {}}}", &[]),
            (".cursor/mcp.json", "{}", &[]),
        ] {
            assert_eq!(names(path, text), expected, "{path}");
        }
        for (client, text) in [("claude", "not JSON"), ("claude", "[]"), ("codex", "x = ")] {
            let file =
                server_files(ProfileScope::Project).find(|file| file.client == client).unwrap();
            assert!(parse_servers(&file, text, Path::new("/p")).is_err(), "{client}");
        }
    }
}
