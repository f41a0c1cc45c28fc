//! From servers to a client's text.

use brief_profiles::{ServerFormat, ServerProfile, ServerValue};
use serde_json::{Map, Value as Json};

use super::{Protocol, Server, Transport};
use crate::shared::toml::render_table;

/// A client's text, and what could not be said in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenServers {
    /// The content of the client's file.
    pub text: String,
    /// Servers that the client cannot have, with the reason.
    pub left_out: Vec<(String, &'static str)>,
}

/// Writes servers as the client wants them, in the order given.
pub fn render_servers(profile: &ServerProfile, servers: &[Server]) -> WrittenServers {
    let mut entries = Map::new();
    let mut left_out = Vec::new();
    for server in servers {
        match build_entry(profile, server) {
            Ok(entry) => drop(entries.insert(server.name.clone(), entry)),
            Err(reason) => left_out.push((server.name.clone(), reason)),
        }
    }
    let key = &*profile.key;
    let text = match profile.format {
        ServerFormat::Json => format!("{:#}\n", serde_json::json!({ key: entries })),
        ServerFormat::Toml => {
            let tables = entries.iter().map(|(name, fields)| render_table(key, name, fields));
            tables.collect::<Vec<String>>().join("\n")
        }
    };
    WrittenServers { text, left_out }
}

/// Writes one server as the client wants it, as JSON on one line; the error says why it cannot have it.
pub fn entry_json(profile: &ServerProfile, server: &Server) -> Result<String, &'static str> {
    build_entry(profile, server).map(|entry| entry.to_string())
}

fn build_entry(profile: &ServerProfile, server: &Server) -> Result<Json, &'static str> {
    let fields = match &server.transport {
        Transport::Stdio { .. } => &profile.stdio,
        Transport::Remote { protocol: Protocol::Http, .. } => &profile.http,
        Transport::Remote { protocol: Protocol::Sse, .. } if profile.sse.is_empty() => {
            return Err("the client does not support server-sent events");
        }
        Transport::Remote { protocol: Protocol::Sse, .. } => &profile.sse,
    };
    let mut settings: Map<String, Json> = fields
        .iter()
        .filter_map(|field| {
            Some((field.key.to_string(), build_setting(&field.from, &server.transport)?))
        })
        .collect();
    if server.disabled {
        match &profile.disabled_by {
            Some(key) => settings.insert(key.to_string(), Json::Bool(false)),
            None => return Err("is disabled, which the client cannot express"),
        };
    }
    for (key, value) in &server.custom {
        settings.entry(key.as_str()).or_insert_with(|| value.clone());
    }
    let entry = Json::Object(settings);
    // X12: a text of ours must not become more than it says. JSON escapes nothing of an opening.
    if let Some(opening) = &profile.inserts_files
        && (server.name.contains(&**opening) || entry.to_string().contains(&**opening))
    {
        return Err("the client would replace `{file:…}` with the content of a file");
    }
    Ok(entry)
}

fn build_setting(field: &ServerValue, transport: &Transport) -> Option<Json> {
    let map = |pairs: &mut dyn Iterator<Item = &(String, String)>| {
        let fields: Map<String, Json> =
            pairs.map(|(key, value)| (key.clone(), Json::from(value.as_str()))).collect();
        (!fields.is_empty()).then_some(Json::Object(fields))
    };
    match (field, transport) {
        (ServerValue::Constant(text), _) => Some(Json::from(&**text)),
        (ServerValue::ConstantList(text), _) => Some(Json::from_iter([&**text])),
        (ServerValue::Command, Transport::Stdio { command, .. }) => {
            Some(Json::from(command.as_str()))
        }
        (ServerValue::CommandLine, Transport::Stdio { command, args, .. }) => {
            Some(std::iter::once(command).chain(args).cloned().collect())
        }
        (ServerValue::Args, Transport::Stdio { args, .. }) => Some(args.iter().cloned().collect()),
        (ServerValue::Env, Transport::Stdio { env, .. }) => map(&mut env.iter()),
        (ServerValue::HandedOn, Transport::Stdio { env, .. }) => {
            let names = env.iter().filter(|pair| is_handed_on(pair));
            let names: Vec<Json> = names.map(|(name, _)| Json::from(name.as_str())).collect();
            (!names.is_empty()).then_some(Json::Array(names))
        }
        (ServerValue::FixedEnv, Transport::Stdio { env, .. }) => {
            map(&mut env.iter().filter(|pair| !is_handed_on(pair)))
        }
        (ServerValue::Url, Transport::Remote { url, .. }) => Some(Json::from(url.as_str())),
        (ServerValue::Headers, Transport::Remote { headers, .. }) => map(&mut headers.iter()),
        _ => None,
    }
}

/// Returns whether a variable has the value that it has outside.
fn is_handed_on((name, value): &(String, String)) -> bool {
    let inner = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    inner == Some(name.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::find_server_profile;
    use super::*;

    fn servers() -> Vec<Server> {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        vec![
            Server {
                name: "files".to_owned(),
                transport: Transport::Stdio {
                    command: "mcp-files".to_owned(),
                    args: vec!["--root".to_owned(), "a \"b\"".to_owned()],
                    env: vec![pair("TOKEN", "${TOKEN}")],
                },
                disabled: false,
                custom: Vec::new(),
            },
            Server {
                name: "web.site".to_owned(),
                transport: Transport::Remote {
                    protocol: Protocol::Http,
                    url: "https://x.test/mcp".to_owned(),
                    headers: vec![pair("X-Key", "k")],
                },
                disabled: true,
                custom: Vec::new(),
            },
            Server {
                name: "events".to_owned(),
                transport: Transport::Remote {
                    protocol: Protocol::Sse,
                    url: "https://x.test/sse".to_owned(),
                    headers: Vec::new(),
                },
                disabled: false,
                custom: Vec::new(),
            },
        ]
    }

    fn written(client: &str) -> WrittenServers {
        render_servers(find_server_profile(client).unwrap(), &servers())
    }

    #[test]
    fn claude_needs_a_type_for_remote_servers() {
        let json: serde_json::Value = serde_json::from_str(&written("claude").text).unwrap();
        assert_eq!(
            json,
            serde_json::json!({"mcpServers": {
                "files": {"command": "mcp-files", "args": ["--root", "a \"b\""], "env": {"TOKEN": "${TOKEN}"}},
                "events": {"type": "sse", "url": "https://x.test/sse"},
            }})
        );
        assert_eq!(
            written("claude").left_out,
            [("web.site".to_owned(), "is disabled, which the client cannot express")]
        );
    }

    #[test]
    fn copilot_wants_args_and_tools() {
        let json: serde_json::Value = serde_json::from_str(&written("copilot").text).unwrap();
        assert_eq!(json["mcpServers"]["files"]["type"], "local");
        assert_eq!(json["mcpServers"]["files"]["tools"], serde_json::json!(["*"]));
        assert_eq!(json["mcpServers"]["events"]["tools"], serde_json::json!(["*"]));
    }

    #[test]
    fn opencode_has_one_command_list_and_can_switch_off() {
        let json: serde_json::Value = serde_json::from_str(&written("opencode").text).unwrap();
        assert_eq!(
            json["mcp"]["files"],
            serde_json::json!({
                "type": "local",
                "command": ["mcp-files", "--root", "a \"b\""],
                "environment": {"TOKEN": "${TOKEN}"},
            })
        );
        assert_eq!(json["mcp"]["web.site"]["enabled"], false);
        assert_eq!(json["mcp"]["events"]["type"], "remote");
    }

    /// X12: opencode puts a file in place of `{file:…}` before it reads its settings, so no text of ours may
    /// say that: not a name, an argument, a variable, an address, a header nor a field of the author's own.
    #[test]
    fn x12_no_text_becomes_a_file_for_opencode() {
        let marked = "{file:~/.ssh/id_ed25519}";
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let stdio = |command: &str, args: &[&str], env: &[(String, String)]| Transport::Stdio {
            command: command.to_owned(),
            args: args.iter().map(|&text| text.to_owned()).collect(),
            env: env.to_vec(),
        };
        let remote = |url: &str, headers: &[(String, String)]| Transport::Remote {
            protocol: Protocol::Http,
            url: url.to_owned(),
            headers: headers.to_vec(),
        };
        let custom = [("x".to_owned(), serde_json::json!({"y": [marked]}))];
        let plain = stdio("run", &[], &[]);
        let cases = [
            (marked, plain.clone(), &[][..]),
            ("s", stdio(marked, &[], &[]), &[]),
            ("s", stdio("run", &["--key", &format!("a{marked}")], &[]), &[]),
            ("s", stdio("run", &[], &[pair("A", marked)]), &[]),
            ("s", stdio("run", &[], &[pair(marked, "a")]), &[]),
            ("s", remote(&format!("https://x.test/?{marked}"), &[]), &[]),
            ("s", remote("https://x.test", &[pair("X", marked)]), &[]),
            ("s", plain, &custom),
        ];
        for (name, transport, custom) in cases {
            let (name, custom) = (name.to_owned(), custom.to_vec());
            let server = Server { name, transport, disabled: false, custom };
            let opencode = render_servers(
                find_server_profile("opencode").unwrap(),
                std::slice::from_ref(&server),
            );
            assert!(!opencode.text.contains("file:"), "{}", opencode.text);
            let why = "the client would replace `{file:…}` with the content of a file";
            assert_eq!(opencode.left_out, [(server.name.clone(), why)]);
            assert!(entry_json(find_server_profile("opencode").unwrap(), &server).is_err());
            // To the others it is a text.
            assert!(entry_json(find_server_profile("claude").unwrap(), &server).is_ok());
        }
    }

    #[test]
    fn codex_is_toml_without_server_sent_events() {
        let codex = written("codex");
        insta::assert_snapshot!(codex.text, @r#"
        [mcp_servers.files]
        command = "mcp-files"
        args = ["--root", "a \"b\""]
        env_vars = ["TOKEN"]

        [mcp_servers."web.site"]
        url = "https://x.test/mcp"
        http_headers = { X-Key = "k" }
        enabled = false
        "#);
        assert_eq!(
            codex.left_out,
            [("events".to_owned(), "the client does not support server-sent events")]
        );
    }

    #[test]
    fn gemini_tells_the_protocols_apart_by_key() {
        let json: serde_json::Value = serde_json::from_str(&written("gemini").text).unwrap();
        assert_eq!(json["mcpServers"]["events"]["url"], "https://x.test/sse");
        let enabled: Vec<Server> =
            servers().into_iter().map(|server| Server { disabled: false, ..server }).collect();
        let gemini = render_servers(find_server_profile("gemini").unwrap(), &enabled);
        let json: serde_json::Value = serde_json::from_str(&gemini.text).unwrap();
        assert_eq!(json["mcpServers"]["web.site"]["httpUrl"], "https://x.test/mcp");
    }

    #[test]
    fn cursor_has_plain_commands_and_urls() {
        let json: serde_json::Value = serde_json::from_str(&written("cursor").text).unwrap();
        assert_eq!(json["mcpServers"]["files"]["command"], "mcp-files");
        assert_eq!(json["mcpServers"]["events"], serde_json::json!({"url": "https://x.test/sse"}));
    }

    #[test]
    fn profiles_are_sorted_by_name() {
        assert!(super::super::server_clients().map(|(client, _)| client).is_sorted());
    }
}
