//! From servers to a client's text.

use brief_profiles::{ServerFormat, ServerProfile, ServerValue};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Protocol, Server, Transport};

/// A client's text, and what could not be said in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The content of the client's file.
    pub text: String,
    /// Servers that the client cannot have, with the reason.
    pub left_out: Vec<(String, &'static str)>,
}

/// Writes servers as the client wants them, in the order given.
pub fn write(profile: &ServerProfile, servers: &[Server]) -> Written {
    let mut entries = Vec::new();
    let mut left_out = Vec::new();
    for server in servers {
        match entry(profile, server) {
            Ok(entry) => entries.push((server.name.clone(), entry)),
            Err(reason) => left_out.push((server.name.clone(), reason)),
        }
    }
    let text = match profile.format {
        ServerFormat::Json => json(&profile.key, entries),
        ServerFormat::Toml => toml(&profile.key, &entries),
    };
    Written { text, left_out }
}

/// Writes one server as the client wants it, as JSON on one line; the error says why it cannot have it.
pub fn entry_json(profile: &ServerProfile, server: &Server) -> Result<String, &'static str> {
    let entry = entry(profile, server)?;
    serde_json::to_string(&entry).map_err(|_| "it cannot be written as JSON")
}

/// A value in a settings file. Maps keep their order, because people read these files.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Setting {
    Flag(bool),
    Text(String),
    List(Vec<String>),
    Map(Vec<(String, Setting)>),
    /// Whatever an author has added.
    Custom(serde_json::Value),
}

impl Setting {
    /// Returns whether any text in it, names included, holds `part`.
    fn holds(&self, part: &str) -> bool {
        match self {
            Setting::Flag(_) => false,
            Setting::Text(text) => text.contains(part),
            Setting::List(list) => list.iter().any(|text| text.contains(part)),
            // No escape of JSON hides what no escape is needed for.
            Setting::Custom(value) => value.to_string().contains(part),
            Setting::Map(fields) => {
                fields.iter().any(|(key, value)| key.contains(part) || value.holds(part))
            }
        }
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Setting::Flag(flag) => serializer.serialize_bool(*flag),
            Setting::Text(text) => serializer.serialize_str(text),
            Setting::List(list) => list.serialize(serializer),
            Setting::Custom(value) => value.serialize(serializer),
            Setting::Map(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (key, value) in fields {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

fn entry(profile: &ServerProfile, server: &Server) -> Result<Setting, &'static str> {
    let fields = match &server.transport {
        Transport::Stdio { .. } => &profile.stdio,
        Transport::Remote { protocol: Protocol::Http, .. } => &profile.http,
        Transport::Remote { protocol: Protocol::Sse, .. } if profile.sse.is_empty() => {
            return Err("the client has no server-sent events");
        }
        Transport::Remote { protocol: Protocol::Sse, .. } => &profile.sse,
    };
    let mut settings: Vec<(String, Setting)> = fields
        .iter()
        .filter_map(|field| Some((field.key.to_string(), setting(&field.from, &server.transport)?)))
        .collect();
    if server.disabled {
        match &profile.disabled_by {
            Some(key) => settings.push((key.to_string(), Setting::Flag(false))),
            None => return Err("it is disabled, which the client cannot say"),
        }
    }
    for (key, value) in &server.custom {
        if settings.iter().all(|(known, _)| known != key) {
            settings.push((key.clone(), Setting::Custom(value.clone())));
        }
    }
    let entry = Setting::Map(settings);
    // X12: a text of ours must not become more than it says.
    if let Some(opening) = &profile.inserts_files
        && (server.name.contains(&**opening) || entry.holds(opening))
    {
        return Err("the client would put a file in place of `{file:…}`");
    }
    Ok(entry)
}

fn setting(field: &ServerValue, transport: &Transport) -> Option<Setting> {
    let map = |pairs: &[(String, String)]| {
        let fields = pairs.iter().map(|(key, value)| (key.clone(), Setting::Text(value.clone())));
        (!pairs.is_empty()).then(|| Setting::Map(fields.collect()))
    };
    match (field, transport) {
        (ServerValue::Constant(text), _) => Some(Setting::Text(text.to_string())),
        (ServerValue::ConstantList(text), _) => Some(Setting::List(vec![text.to_string()])),
        (ServerValue::Command, Transport::Stdio { command, .. }) => {
            Some(Setting::Text(command.clone()))
        }
        (ServerValue::CommandLine, Transport::Stdio { command, args, .. }) => {
            Some(Setting::List(std::iter::once(command).chain(args).cloned().collect()))
        }
        (ServerValue::Args, Transport::Stdio { args, .. }) => Some(Setting::List(args.clone())),
        (ServerValue::Env, Transport::Stdio { env, .. }) => map(env),
        (ServerValue::HandedOn, Transport::Stdio { env, .. }) => {
            let names = env.iter().filter(|pair| is_handed_on(pair));
            let names: Vec<String> = names.map(|(name, _)| name.clone()).collect();
            (!names.is_empty()).then_some(Setting::List(names))
        }
        (ServerValue::FixedEnv, Transport::Stdio { env, .. }) => {
            let fixed: Vec<_> = env.iter().filter(|pair| !is_handed_on(pair)).cloned().collect();
            map(&fixed)
        }
        (ServerValue::Url, Transport::Remote { url, .. }) => Some(Setting::Text(url.clone())),
        (ServerValue::Headers, Transport::Remote { headers, .. }) => map(headers),
        _ => None,
    }
}

/// Returns whether a variable has the value that it has outside.
fn is_handed_on((name, value): &(String, String)) -> bool {
    let inner = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    inner == Some(name.as_str())
}

fn json(key: &str, entries: Vec<(String, Setting)>) -> String {
    let file = Setting::Map(vec![(key.to_owned(), Setting::Map(entries))]);
    let mut text = serde_json::to_string_pretty(&file).expect("texts, lists and maps are JSON");
    text.push('\n');
    text
}

fn toml(key: &str, entries: &[(String, Setting)]) -> String {
    let table = |(name, entry): &(String, Setting)| {
        let fields = serde_json::to_value(entry).expect("texts, lists and maps are JSON");
        crate::shared::toml::table(key, name, &fields)
    };
    entries.iter().map(table).collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::profile;
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

    fn written(client: &str) -> Written {
        write(profile(client).unwrap(), &servers())
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
            [("web.site".to_owned(), "it is disabled, which the client cannot say")]
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
            let opencode = write(profile("opencode").unwrap(), std::slice::from_ref(&server));
            assert!(!opencode.text.contains("file:"), "{}", opencode.text);
            let why = "the client would put a file in place of `{file:…}`";
            assert_eq!(opencode.left_out, [(server.name.clone(), why)]);
            assert!(entry_json(profile("opencode").unwrap(), &server).is_err());
            // To the others it is a text.
            assert!(entry_json(profile("claude").unwrap(), &server).is_ok());
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
        assert_eq!(codex.left_out, [("events".to_owned(), "the client has no server-sent events")]);
    }

    #[test]
    fn gemini_tells_the_protocols_apart_by_key() {
        let json: serde_json::Value = serde_json::from_str(&written("gemini").text).unwrap();
        assert_eq!(json["mcpServers"]["events"]["url"], "https://x.test/sse");
        let enabled: Vec<Server> =
            servers().into_iter().map(|server| Server { disabled: false, ..server }).collect();
        let gemini = write(profile("gemini").unwrap(), &enabled);
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
        assert!(super::super::clients().map(|(client, _)| client).is_sorted());
    }
}
