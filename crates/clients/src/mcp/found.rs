//! Servers that stand in the files of clients, those of a project and the user's.
//!
//! The files belong to the clients and to the user: they are read as far as they are understood, and
//! nothing in them is started.

use std::path::Path;

use brief_profiles::{BUILTIN, ServerFormat};
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{Protocol, Server, ServerScope, Transport};

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
    pub scope: ServerScope,
    format: ServerFormat,
    /// The key that holds the servers.
    key: &'static str,
    /// The key that holds a table for each project.
    projects: Option<&'static str>,
}

impl ServerFile {
    /// Returns the path for people.
    pub fn shown(&self) -> String {
        match self.scope {
            ServerScope::Project => self.path.to_owned(),
            ServerScope::User => format!("~/{}", self.path),
        }
    }
}

/// Returns the files of a project, or those of the user, by client.
pub fn server_files(scope: ServerScope) -> impl Iterator<Item = ServerFile> {
    let clients = BUILTIN.clients.iter().filter_map(|client| Some((client, client.mcp.as_ref()?)));
    clients.flat_map(move |(client, servers)| {
        let owner = &*client.id;
        let client = servers.known_as.as_deref().unwrap_or(owner);
        let (usual, others) = match scope {
            ServerScope::Project => (servers.file.as_ref(), &servers.or),
            ServerScope::User => (servers.home_file.as_ref(), &servers.home_or),
        };
        let paths = usual.into_iter().chain(others);
        let (format, key) = (servers.format, &*servers.key);
        let projects = servers.home_projects.as_deref().filter(|_| scope == ServerScope::User);
        paths.map(move |path| ServerFile { client, owner, path, scope, format, key, projects })
    })
}

/// The files of tools that keep servers for several clients: rulesync 17 and ruler 0.3.
pub(crate) const PEER_FILES: [ServerFile; 3] = [
    peer("rulesync", ".rulesync/mcp.json", ServerFormat::Json, "mcpServers"),
    peer("ruler", ".ruler/ruler.toml", ServerFormat::Toml, "mcp_servers"),
    peer("ruler", ".ruler/mcp.json", ServerFormat::Json, "mcpServers"),
];

const fn peer(
    tool: &'static str,
    path: &'static str,
    format: ServerFormat,
    key: &'static str,
) -> ServerFile {
    let (client, owner, scope) = (tool, tool, ServerScope::Project);
    ServerFile { client, owner, path, scope, format, key, projects: None }
}

/// A server, and the line that it begins on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundServer {
    /// The server.
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
pub fn find(file: &ServerFile, text: &str, project: &Path) -> Result<Vec<FoundServer>, String> {
    let text = text.trim_start_matches('\u{feff}');
    if file.format == ServerFormat::Toml {
        return find_toml(file, text);
    }
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed.map_err(|error| format!("it is not JSON: {error}"))?;
    let Some(Value::Object(top)) = parsed.value else {
        return Err("it is not a JSON object".to_owned());
    };
    let of_project = || {
        let projects = object(&top, file.projects?)?;
        object(projects, project.to_str()?)
    };
    let tables = [of_project(), Some(&top)].into_iter().flatten();
    let servers = tables.filter_map(|table| object(table, file.key));
    let found = servers.flat_map(|servers| &servers.properties).filter_map(|property| {
        let name = property.name.as_str().to_owned();
        let Value::Object(fields) = &property.value else { return None };
        let start = property.range().start;
        let line = text[..start].matches('\n').count() + 1;
        found_server(name, &Json(fields), line)
    });
    Ok(found.collect())
}

fn found_server(name: String, fields: &dyn Fields, line: usize) -> Option<FoundServer> {
    let others = fields.names().into_iter().filter(|name| !WORDS.contains(&name.as_str()));
    let (others, targets) = (others.collect(), fields.texts("targets").unwrap_or_default());
    Some(FoundServer { server: server(name, fields)?, line, others, targets })
}

/// Returns the names of all entries of a client's file, also of those that are not understood.
pub fn names(file: &ServerFile, text: &str) -> Vec<String> {
    let text = text.trim_start_matches('\u{feff}');
    if file.format == ServerFormat::Toml {
        let document = toml_edit::Document::parse(text.to_owned()).ok();
        let servers = document.as_ref().and_then(|document| document.get(file.key));
        let servers = servers.and_then(|item| item.as_table_like());
        return servers.map(|servers| Toml(servers).names()).unwrap_or_default();
    }
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let Ok(Some(Value::Object(top))) = parsed.map(|parsed| parsed.value) else { return Vec::new() };
    object(&top, file.key).map(|servers| Json(servers).names()).unwrap_or_default()
}

fn find_toml(file: &ServerFile, text: &str) -> Result<Vec<FoundServer>, String> {
    let document = toml_edit::Document::parse(text.to_owned());
    let document = document.map_err(|error| format!("it is not TOML: {}", error.message()))?;
    let servers = document.get(file.key).and_then(|item| item.as_table_like());
    let found =
        servers.into_iter().flat_map(toml_edit::TableLike::iter).filter_map(|(name, item)| {
            let line = item.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            let fields = item.as_table_like()?;
            found_server(name.to_owned(), &Toml(fields), line)
        });
    Ok(found.collect())
}

fn value<'o, 't>(object: &'o Object<'t>, key: &str) -> Option<&'o Value<'t>> {
    object.properties.iter().find(|property| property.name.as_str() == key).map(|own| &own.value)
}

fn object<'o, 't>(object: &'o Object<'t>, key: &str) -> Option<&'o Object<'t>> {
    match value(object, key)? {
        Value::Object(found) => Some(found),
        _ => None,
    }
}

/// The fields of a server, whatever the file is written in.
trait Fields {
    fn names(&self) -> Vec<String>;
    fn text(&self, key: &str) -> Option<String>;
    fn texts(&self, key: &str) -> Option<Vec<String>>;
    fn pairs(&self, key: &str) -> Vec<(String, String)>;
    fn flag(&self, key: &str) -> Option<bool>;
}

struct Json<'o, 't>(&'o Object<'t>);

impl Fields for Json<'_, '_> {
    fn names(&self) -> Vec<String> {
        self.0.properties.iter().map(|property| property.name.as_str().to_owned()).collect()
    }

    fn text(&self, key: &str) -> Option<String> {
        match value(self.0, key)? {
            Value::StringLit(text) => Some(text.value.to_string()),
            _ => None,
        }
    }

    fn texts(&self, key: &str) -> Option<Vec<String>> {
        let Value::Array(list) = value(self.0, key)? else { return None };
        let text = |value: &Value<'_>| match value {
            Value::StringLit(text) => Some(text.value.to_string()),
            Value::NumberLit(number) => Some(number.value.to_owned()),
            _ => None,
        };
        Some(list.elements.iter().filter_map(text).collect())
    }

    fn pairs(&self, key: &str) -> Vec<(String, String)> {
        let Some(Value::Object(object)) = value(self.0, key) else { return Vec::new() };
        let names = object.properties.iter().map(|property| property.name.as_str().to_owned());
        names.filter_map(|name| Some((name.clone(), Json(object).text(&name)?))).collect()
    }

    fn flag(&self, key: &str) -> Option<bool> {
        match value(self.0, key)? {
            Value::BooleanLit(flag) => Some(flag.value),
            _ => None,
        }
    }
}

struct Toml<'o>(&'o dyn toml_edit::TableLike);

impl Fields for Toml<'_> {
    fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.to_owned()).collect()
    }

    fn text(&self, key: &str) -> Option<String> {
        self.0.get(key)?.as_str().map(str::to_owned)
    }

    fn texts(&self, key: &str) -> Option<Vec<String>> {
        let list = self.0.get(key)?.as_array()?;
        Some(list.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect())
    }

    fn pairs(&self, key: &str) -> Vec<(String, String)> {
        let table = self.0.get(key).and_then(|item| item.as_table_like());
        let pairs = table.into_iter().flat_map(toml_edit::TableLike::iter);
        pairs
            .filter_map(|(name, item)| Some((name.to_owned(), item.as_str()?.to_owned())))
            .collect()
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.0.get(key)?.as_bool()
    }
}

/// Reads a server in any client's words; `None` for one that says neither what to start nor where it is.
fn server(name: String, fields: &dyn Fields) -> Option<Server> {
    let disabled = fields.flag("disabled") == Some(true) || fields.flag("enabled") == Some(false);
    let either = |left: Vec<(String, String)>, right: &str| {
        if left.is_empty() { fields.pairs(right) } else { left }
    };
    let line = fields.texts("command").filter(|line| !line.is_empty());
    let transport = if let Some(line) = line {
        let (command, args) = (line[0].clone(), line[1..].to_vec());
        Transport::Stdio { command, args, env: either(fields.pairs("env"), "environment") }
    } else if let Some(command) = fields.text("command") {
        let args = fields.texts("args").unwrap_or_default();
        Transport::Stdio { command, args, env: either(fields.pairs("env"), "environment") }
    } else {
        let (http, url) = (fields.text("httpUrl"), fields.text("url"));
        let is_sse = http.is_none() && fields.text("type").as_deref() == Some("sse");
        let protocol = if is_sse { Protocol::Sse } else { Protocol::Http };
        let headers = either(fields.pairs("headers"), "http_headers");
        Transport::Remote { protocol, url: http.or(url)?, headers }
    };
    Some(Server { name, transport, disabled, custom: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str, text: &str) -> Vec<String> {
        let file = server_files(ServerScope::Project).find(|file| file.path == path).unwrap();
        let found = find(&file, text, Path::new("/p")).unwrap();
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
        let mut files = server_files(ServerScope::User);
        let file = files.find(|file| file.path == ".claude.json").unwrap();
        let commands = |project: &str| -> Vec<String> {
            let found = find(&file, text, Path::new(project)).unwrap();
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
                "model = \"x\"\n[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"x\"]\n",
                &["a:2 npx [\"x\"] [] false"],
            ),
            (".cursor/mcp.json", "{\"mcpServers\": {\"a\": 1, \"b\": {}}}", &[]),
            (".cursor/mcp.json", "{}", &[]),
        ] {
            assert_eq!(names(path, text), expected, "{path}");
        }
        for (client, text) in [("claude", "not JSON"), ("claude", "[]"), ("codex", "x = ")] {
            let file =
                server_files(ServerScope::Project).find(|file| file.client == client).unwrap();
            assert!(find(&file, text, Path::new("/p")).is_err(), "{client}");
        }
    }
}
