//! Servers that a project declares, in `[mcp.NAME]` of its `brief.toml`.

use std::sync::Arc;

use brief_syntax::toml::{Table, TableReader, TomlEntry, TomlProblem};
use brief_syntax::{Diagnostic, Source, toml};

use super::{Protocol, Server, Transport};
use crate::profile::known_clients;

/// A server, and who is to have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredServer {
    pub server: Server,
    /// The clients that it is for; `None` for all.
    pub clients: Option<Vec<String>>,
}

impl DeclaredServer {
    /// Returns whether the server is for a client.
    pub fn is_for(&self, client: &str) -> bool {
        self.clients.as_ref().is_none_or(|clients| clients.iter().any(|own| own == client))
    }
}

/// Reads the servers of a project's `brief.toml`, in order. `known` are the clients that exist.
pub fn parse_declared_servers(
    configuration: &Arc<Source>,
    known: &[&str],
) -> Result<Vec<DeclaredServer>, Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let mut servers = Vec::new();
    let Some(document) = toml::parse_toml(configuration, &mut diagnostics) else {
        return Err(diagnostics);
    };
    let top = Table { source: configuration, content: document.as_table(), prefix: "" };
    for all in top.entries().filter(|entry| entry.key == "mcp") {
        match all.table() {
            Ok(table) => {
                for entry in table.entries() {
                    match parse_declaration(&entry, known, &mut diagnostics) {
                        Ok(server) => servers.push(server),
                        Err(problem) => diagnostics.push(*problem),
                    }
                }
            }
            Err(problem) => diagnostics.push(*problem),
        }
    }
    if diagnostics.is_empty() { Ok(servers) } else { Err(diagnostics) }
}

/// Returns whether a server may have a name.
pub fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !name.is_empty() && name.bytes().all(is_plain)
}

/// Returns the content of the table `[mcp.NAME]` for a server and the clients that are to have it.
pub fn render_declaration(server: &Server, clients: &[String]) -> String {
    let mut table = toml_edit::Table::new();
    let list = |texts: &[String]| toml_edit::value(texts.iter().collect::<toml_edit::Array>());
    let pairs = |pairs: &[(String, String)]| {
        let pairs = pairs.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        toml_edit::value(pairs.collect::<toml_edit::InlineTable>())
    };
    let mut add = |key: &str, value: toml_edit::Item, is_said: bool| {
        if is_said {
            table.insert(key, value);
        }
    };
    match &server.transport {
        Transport::Stdio { command, args, env } => {
            add("command", toml_edit::value(command), true);
            add("args", list(args), !args.is_empty());
            add("env", pairs(env), !env.is_empty());
        }
        Transport::Remote { protocol, url, headers } => {
            add("url", toml_edit::value(url), true);
            add("type", toml_edit::value("sse"), *protocol == Protocol::Sse);
            add("headers", pairs(headers), !headers.is_empty());
        }
    }
    add("disabled", toml_edit::value(true), server.disabled);
    add("clients", list(clients), !clients.is_empty());
    table.to_string()
}

fn parse_declaration(
    entry: &TomlEntry<'_>,
    known: &[&str],
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<DeclaredServer, TomlProblem> {
    if !is_name(entry.key) {
        return Err(entry.invalid_value("invalid server name", "use letters, digits, `_` and `-`"));
    }
    let table = entry.table()?;
    let mut keys = TableReader::new(table.entries());
    let command = keys.get("command", parse_nonempty_text);
    let args = keys.get("args", TomlEntry::text_list).unwrap_or_default();
    // Values that look like variables stay as they are: clients fill them in.
    let env = keys.get("env", TomlEntry::pairs).unwrap_or_default();
    let url = keys.get("url", parse_nonempty_text);
    let headers = keys.get("headers", TomlEntry::pairs).unwrap_or_default();
    let protocols = [("http", Protocol::Http), ("sse", Protocol::Sse)];
    let protocol = keys.get("type", |entry| entry.match_word(&protocols)).unwrap_or(Protocol::Http);
    let disabled = keys.get("disabled", TomlEntry::flag).unwrap_or_default();
    let clients = keys.get("clients", |entry| known_clients(entry, entry.text_list()?, known));
    diagnostics.extend(keys.problems().map(|problem| *problem));
    let refuse_mixed = |others: [&str; 2], own: &str| {
        let mixed = table.entries().find(|entry| others.contains(&entry.key));
        let problem = format!("is not allowed for a server with `{own}`");
        mixed.map_or(Ok(()), |entry| Err(entry.value_problem(&problem, "")))
    };
    let transport = match (command, url) {
        (Some(command), None) => {
            refuse_mixed(["headers", "type"], "command")?;
            Transport::Stdio { command, args, env }
        }
        (None, Some(url)) => {
            refuse_mixed(["args", "env"], "url")?;
            Transport::Remote { protocol, url, headers }
        }
        _ => {
            let help = "write `command` to start a program, or `url` for a running server";
            return Err(entry.value_problem("must have either `command` or `url`", help));
        }
    };
    let server = Server { name: entry.key.to_owned(), transport, disabled, custom: Vec::new() };
    Ok(DeclaredServer { server, clients })
}

fn parse_nonempty_text(entry: &TomlEntry<'_>) -> Result<String, TomlProblem> {
    match entry.text()? {
        "" => Err(entry.value_problem("is empty", "")),
        text => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<DeclaredServer>, Vec<Diagnostic>> {
        parse_declared_servers(&Arc::new(Source::new("brief.toml", text)), &["claude", "opencode"])
    }

    #[test]
    fn servers_are_read_in_order() {
        let text = "[mcp.files]\ncommand = \"npx\"\nargs = [\"-y\", \"x\"]\n\
                    env = { TOKEN = \"${TOKEN}\", A = \"b\" }\nclients = [\"claude\"]\n\
                    [mcp.docs]\nurl = \"https://x.test\"\ntype = \"sse\"\ndisabled = true\n\
                    [mcp.docs.headers]\nX-Key = \"k\"\n[mcp.web]\nurl = \"https://y.test\"\n";
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let [files, docs, web] = parse(text).unwrap().try_into().unwrap();
        assert_eq!(
            files.server.transport,
            Transport::Stdio {
                command: "npx".to_owned(),
                args: vec!["-y".to_owned(), "x".to_owned()],
                env: vec![pair("TOKEN", "${TOKEN}"), pair("A", "b")],
            }
        );
        assert!(files.is_for("claude") && !files.is_for("opencode") && docs.is_for("opencode"));
        assert_eq!(
            docs.server,
            Server {
                name: "docs".to_owned(),
                transport: Transport::Remote {
                    protocol: Protocol::Sse,
                    url: "https://x.test".to_owned(),
                    headers: vec![pair("X-Key", "k")],
                },
                disabled: true,
                custom: Vec::new(),
            }
        );
        let Transport::Remote { protocol, .. } = web.server.transport else { panic!() };
        assert_eq!(protocol, Protocol::Http);
        assert_eq!(parse("[install]\n").unwrap(), []);
    }

    #[test]
    fn a_declaration_is_read_back() {
        let text = "[mcp.files]\ncommand = \"n \\\"x\"\nargs = [\"-y\", \"é\"]\nenv = { \"A.B\" = \"${TOKEN}\" }\n\
                    [mcp.docs]\nurl = \"https://x.test\"\ntype = \"sse\"\ndisabled = true\nheaders = { X-Key = \"k\" }\n\
                    [mcp.bare]\ncommand = \"c\"\n";
        let clients = vec!["claude".to_owned()];
        for DeclaredServer { server, .. } in parse(text).unwrap() {
            let table = render_declaration(&server, &clients);
            let again = parse(&format!("[mcp.{}]\n{table}", server.name)).unwrap();
            assert_eq!(
                again,
                [DeclaredServer { server, clients: Some(clients.clone()) }],
                "{table}"
            );
        }
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let server = |line: &str| format!("[mcp.x]\ncommand = \"c\"\n{line}\n");
        for (text, line, message) in [
            ("mcp = 1\n", 1, "`mcp` must be a table"),
            ("mcp.x = 1\n", 1, "`mcp.x` must be a table"),
            ("[mcp.\"a b\"]\ncommand = \"c\"\n", 1, "invalid server name"),
            ("[mcp.x]\n", 1, "must have either `command` or `url`"),
            ("[mcp.x]\ncommand = \"\"\n", 2, "is empty"),
            ("[mcp.x]\nurl = \"u\"\nargs = []\n", 3, "not allowed for a server with `url`"),
            (&server("url = \"u\""), 1, "must have either `command` or `url`"),
            (&server("headers = {}"), 3, "not allowed for a server with `command`"),
            (&server("argz = []"), 3, "unknown key `mcp.x.argz`"),
            (&server("args = \"a\""), 3, "must be a list of strings"),
            (&server("env = { A = 1 }"), 3, "`mcp.x.env.A` must be a string"),
            (&server("type = \"htpp\""), 3, "unknown value `htpp`"),
            (&server("disabled = \"yes\""), 3, "must be `true` or `false`"),
            (&server("clients = [\"cluade\"]"), 3, "unknown client `cluade`"),
        ] {
            let problems = parse(text).unwrap_err();
            let problem = &problems[0];
            assert!(problem.message.contains(message), "{text}: {problems:?}");
            assert_eq!(problem.position().line, line, "{text}");
            assert_eq!(problem.code(), "item/invalid-config");
        }
        let problems = parse(&server("argz = []")).unwrap_err();
        assert_eq!(problems[0].help.as_deref(), Some("did you mean `args`?"));
    }
}
