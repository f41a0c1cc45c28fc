//! The files beside the items of a project: MCP servers, hooks, permissions, and the records of other tools.
//!
//! Servers get a home in `[mcp]` of `brief.toml`. Everything else is named with the reason, so that nothing is lost in
//! silence: a hook runs programs, and a source that another tool has locked can be added instead of copied.
//! The records are those of `skills` 1 (`skills-lock.json`), rulesync 17 and apm 0.35, seen in public repositories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use brief_profiles::BUILTIN;
use brief_syntax::yaml::{Node, Value as YamlNode, Yaml};
use jsonc_parser::ast::Value as Setting;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use crate::mcp::{self, DeclaredServer, FoundServer, Server, ServerFile, Transport};
use crate::profile::{ProfileScope, Profiles};

use super::header::find_yaml_field;
use super::{ImportLoss, SkippedFile, peers, tool_clients};

/// A server of one or several clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectedServer {
    pub server: Server,
    /// The clients that have it; all, if there are none.
    pub clients: Vec<String>,
    /// The files that it stands in, below the project, with `/`.
    pub originals: Vec<String>,
}

/// The servers of a project, and files that are named.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub(super) servers: Vec<CollectedServer>,
    /// Files with something that is not imported, with the reason.
    pub(super) named: Vec<SkippedFile>,
    /// The clients that other tools write for, each once, and the files that name them.
    pub(super) clients: Vec<String>,
    pub(super) named_in: Vec<String>,
}

/// A record of another tool, and the reader of its sources.
type ToolRecord = (&'static str, fn(&str) -> Vec<String>);

const RECORDS: [ToolRecord; 4] = [
    ("skills-lock.json", of_skills),
    ("rulesync.lock", of_rulesync),
    ("apm.lock.yaml", of_apm_lock),
    ("apm.yml", of_apm),
];

const UNSAID: [(&str, &str); 2] = [
    (".rulesync/hooks.json", "contains rulesync hooks, which run programs; set them up by hand"),
    (
        ".rulesync/permissions.json",
        "contains permissions, which differ by client; set them up by hand",
    ),
];

/// Fields of a server that tools read and clients do not.
const OF_TOOLS: [&str; 2] = ["targets", "description"];

/// Returns whether a file of the project is looked at, though no item is made of it.
pub(super) fn is_one(path: &str) -> bool {
    // Every file of a project is asked about, and nearly none is one.
    static OF_SERVERS: LazyLock<BTreeSet<&str>> =
        LazyLock::new(|| server_files().map(|file| file.path).collect());
    OF_SERVERS.contains(path)
        || is_settings(path)
        || RECORDS.iter().any(|(name, _)| *name == path)
        || UNSAID.iter().any(|(name, _)| *name == path)
        || tool_clients::is_one(path)
}

fn server_files() -> impl Iterator<Item = ServerFile> {
    mcp::server_files(ProfileScope::Project).chain(mcp::PEER_FILES)
}

/// Returns whether a file may have hooks of a client.
fn is_settings(path: &str) -> bool {
    let hooks = BUILTIN.clients.iter().filter_map(|client| client.hook.as_ref()?.install.as_ref());
    let mut files = hooks.flat_map(|install| std::iter::once(&install.file).chain(&install.home));
    path.rsplit_once('.').is_some_and(|(_, ending)| ending == "json")
        && (files.any(|file| &**file == path) || path.starts_with(".github/hooks/"))
}

/// Reads the files, each with its path below the project.
pub(super) fn collect_beside_files(files: &[(String, Vec<u8>)], profiles: &Profiles) -> Beside {
    let mut beside = Beside::default();
    for (path, bytes) in files {
        if let Some((_, reason)) = UNSAID.iter().find(|(name, _)| name == path) {
            beside.skip_file(path, (*reason).to_owned());
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            beside.skip_file(path, super::ImportRefusal::NotUtf8.to_string());
            continue;
        };
        if let Some((_, sources)) = RECORDS.iter().find(|(name, _)| name == path) {
            for source in sources(text) {
                beside.skip_file(path, source);
            }
        }
        if is_settings(path) {
            beside.report_settings(path, text);
        }
        if tool_clients::is_one(path) {
            beside.add_clients(path, text, profiles);
        }
        for file in server_files().filter(|file| file.path == path) {
            let is_peer = mcp::PEER_FILES.contains(&file);
            match mcp::parse_servers(&file, text, Path::new("")) {
                Err(problem) => beside.skip_file(path, problem),
                Ok(found) => {
                    let names: Vec<String> =
                        found.iter().map(|found| found.server.name.clone()).collect();
                    for mut found in found {
                        let clients = if is_peer {
                            found.others.retain(|own| !OF_TOOLS.contains(&own.as_str()));
                            beside.resolve_targets(path, &found, profiles)
                        } else {
                            Some(vec![file.owner.to_owned()])
                        };
                        if let Some(clients) = clients {
                            beside.add_server(path, &clients, found, profiles);
                        }
                    }
                    for name in mcp::parse_server_names(&file, text)
                        .into_iter()
                        .filter(|own| !names.contains(own))
                    {
                        let reason = "has neither a command nor a URL";
                        beside.skip_file(
                            path,
                            format!("the server `{name}` is not imported: {reason}"),
                        );
                    }
                }
            }
        }
    }
    beside
}

impl Beside {
    fn skip_file(&mut self, path: &str, reason: String) {
        let loss = ImportLoss::NoPortableForm;
        self.named.push(SkippedFile { path: path.to_owned(), reason, loss });
    }

    fn refuse_server(&mut self, path: &str, server: &str, problem: &str) {
        let reason = format!("the server `{server}` is not imported: {problem}");
        self.skip_file(path, reason);
    }

    /// Takes the clients that another tool's settings name.
    fn add_clients(&mut self, path: &str, text: &str, profiles: &Profiles) {
        let (known, unknown) = tool_clients::parse_tool_clients(path, text, &profiles.ids());
        for name in unknown {
            self.skip_file(path, format!("unknown client `{name}`"));
        }
        if !known.is_empty() {
            self.named_in.push(path.to_owned());
        }
        let new = known.into_iter().filter(|own| !self.clients.contains(own));
        let new: Vec<String> = new.collect();
        self.clients.extend(new);
    }

    fn report_settings(&mut self, path: &str, text: &str) {
        let text = text.trim_start_matches('\u{feff}');
        let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
        let Ok(Some(Setting::Object(settings))) = parsed.map(|parsed| parsed.value) else {
            return;
        };
        let says = |key: &str| match settings.get(key).map(|property| &property.value) {
            Some(Setting::Object(fields)) => !fields.properties.is_empty(),
            Some(Setting::Array(list)) => !list.elements.is_empty(),
            _ => false,
        };
        if says("hooks") {
            let reason = "contains hooks, which run programs; brief does not import them";
            self.skip_file(path, reason.to_owned());
        }
        if says("permissions") {
            let reason = "contains permissions, which brief does not import; write them into `[permissions]` of brief.toml for all clients";
            self.skip_file(path, reason.to_owned());
        }
    }

    /// Returns the clients that a tool has a server for, none if it is for all; `None` for one that is for unknown ones
    /// alone.
    fn resolve_targets(
        &mut self,
        path: &str,
        found: &FoundServer,
        profiles: &Profiles,
    ) -> Option<Vec<String>> {
        if found.targets.is_empty() || found.targets.iter().any(|target| target == "*") {
            return Some(Vec::new());
        }
        let mut clients = Vec::new();
        for target in &found.targets {
            match peers::resolve_client_name(target, &profiles.ids()) {
                Some(client) => clients.push(client),
                None => {
                    let name = &found.server.name;
                    self.skip_file(path, format!("the server `{name}`: unknown client `{target}`"));
                }
            }
        }
        (!clients.is_empty()).then_some(clients)
    }

    /// Takes a server over for some clients, or for all, or says why not.
    fn add_server(
        &mut self,
        path: &str,
        clients: &[String],
        found: FoundServer,
        profiles: &Profiles,
    ) {
        let FoundServer { server, others, .. } = found;
        let unknown = clients.iter().find(|client| profiles.get(client).is_none());
        let name = server.name.clone();
        let problem = if !mcp::is_name(&name) {
            Some("its name has characters that `[mcp]` does not allow".to_owned())
        } else if let Some(unknown) = unknown {
            Some(format!("unknown client `{unknown}` in `[mcp]`"))
        } else if !others.is_empty() {
            Some(format!("`[mcp]` has no key for `{}`", others.join("`, `")))
        } else {
            let secret = find_secret(&server);
            secret.map(|field| format!("`{field}` may be a secret; write a variable such as `${{TOKEN}}` instead, and import again"))
        };
        if let Some(problem) = problem {
            return self.refuse_server(path, &name, &problem);
        }
        match self.servers.iter_mut().find(|known| known.server.name == name) {
            None => self.servers.push(CollectedServer {
                server,
                clients: clients.to_vec(),
                originals: vec![path.to_owned()],
            }),
            Some(known) if known.server == server => {
                if clients.is_empty() || known.clients.is_empty() {
                    known.clients.clear();
                } else {
                    let new = clients.iter().filter(|own| !known.clients.contains(own));
                    let new: Vec<String> = new.cloned().collect();
                    known.clients.extend(new);
                }
                known.originals.push(path.to_owned());
            }
            Some(known) => {
                let problem =
                    format!("`{}` has a different server with this name", known.originals[0]);
                self.refuse_server(path, &name, &problem);
            }
        }
    }

    /// Leaves out the servers that the project declares already. Another one of the same name is named.
    pub(super) fn leave_declared(&mut self, declared: &[DeclaredServer]) {
        for collected in std::mem::take(&mut self.servers) {
            let name = &collected.server.name;
            match declared.iter().find(|own| own.server.name == *name) {
                None => self.servers.push(collected),
                Some(own) if own.server == collected.server => {}
                Some(_) => {
                    let problem = format!("`[mcp.{name}]` of brief.toml is a different server");
                    for path in &collected.originals {
                        self.refuse_server(path, name, &problem);
                    }
                }
            }
        }
    }
}

/// Returns the field of a server that holds a secret, as far as names tell. `brief.toml` is for version control.
fn find_secret(server: &Server) -> Option<String> {
    const WORDS: [&str; 7] =
        ["token", "key", "secret", "password", "passwd", "authorization", "cookie"];
    let is_word = |name: &str| {
        let name = name.to_ascii_lowercase();
        WORDS.iter().any(|word| name.contains(word))
    };
    let is_literal = |value: &str| value.len() >= 8 && !value.contains(['$', '{']);
    let (pairs, texts): (&[(String, String)], Vec<&String>) = match &server.transport {
        Transport::Stdio { args, env, .. } => (env, args.iter().collect()),
        Transport::Remote { url, headers, .. } => (headers, vec![url]),
    };
    let pair = pairs.iter().find(|(name, value)| is_word(name) && is_literal(value));
    // `--api-key=…`, and `?token=…` of an address.
    let assigned = texts.into_iter().find(|text| {
        let parts = text.split(['?', '&']);
        let mut parts = parts.filter_map(|part| part.split_once('='));
        parts.any(|(name, value)| is_word(name) && is_literal(value))
    });
    pair.map(|(name, _)| name.clone()).or_else(|| {
        let (name, _) = assigned?.split_once('=')?;
        Some(name.to_owned())
    })
}

/// Returns the command that adds items from their source.
fn render_add_command(source: &str, names: &[String]) -> String {
    let names: Vec<&str> =
        std::iter::once(source).chain(names.iter().map(String::as_str)).collect();
    let typed = names.join(" ");
    format!("run `brief add {typed}` to get updates instead of a copy")
}

fn of_skills(text: &str) -> Vec<String> {
    let lock: Value = serde_json::from_str(text).unwrap_or_default();
    let skills = lock["skills"].as_object().into_iter().flatten();
    let mut sources: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, skill) in skills {
        if let Some(source) = skill["source"].as_str() {
            sources.entry(source).or_default().push(name.clone());
        }
    }
    sources.into_iter().map(|(source, names)| render_add_command(source, &names)).collect()
}

fn of_rulesync(text: &str) -> Vec<String> {
    let lock: Value = serde_json::from_str(text).unwrap_or_default();
    let sources = lock["sources"].as_object().into_iter().flatten();
    let source = |(source, locked): (&String, &Value)| {
        let skills = locked["skills"].as_object().into_iter().flatten();
        render_add_command(source, &skills.map(|(name, _)| name.clone()).collect::<Vec<String>>())
    };
    sources.map(source).collect()
}

fn of_apm_lock(text: &str) -> Vec<String> {
    let document = Yaml::parse(text);
    let dependencies = document.root().and_then(|root| find_yaml_field(root, "dependencies"));
    let text_at = |node: Node<'_>, key: &str, mark: &str| match find_yaml_field(node, key)?.value()
    {
        YamlNode::Scalar(text) => Some(format!("{mark}{text}")),
        _ => None,
    };
    let dependency = |dependency: Node<'_>| {
        let mut source = text_at(dependency, "repo_url", "")?;
        source.extend(text_at(dependency, "resolved_commit", "@"));
        source.extend(text_at(dependency, "virtual_path", ":"));
        Some(render_add_command(&source, &[]))
    };
    sequence_items(dependencies).into_iter().filter_map(dependency).collect()
}

fn of_apm(text: &str) -> Vec<String> {
    let document = Yaml::parse(text);
    let dependencies = document.root().and_then(|root| find_yaml_field(root, "dependencies"));
    let mut named = Vec::new();
    for dependency in sequence_items(dependencies.and_then(|own| find_yaml_field(own, "apm"))) {
        let YamlNode::Scalar(written) = dependency.value() else { continue };
        // `owner/repository/path#reference`
        let (path, reference) = match written.split_once('#') {
            Some((path, reference)) => (path, format!("@{reference}")),
            None => (written, String::new()),
        };
        let mut parts = path.splitn(3, '/');
        let repository: Vec<&str> = parts.by_ref().take(2).collect();
        let below = parts.next().map(|below| format!(":{below}")).unwrap_or_default();
        named.push(render_add_command(&format!("{}{reference}{below}", repository.join("/")), &[]));
    }
    if !sequence_items(dependencies.and_then(|own| find_yaml_field(own, "mcp"))).is_empty() {
        named.push("contains apm servers; write them into `[mcp]` of brief.toml".to_owned());
    }
    named
}

fn sequence_items(node: Option<Node<'_>>) -> Vec<Node<'_>> {
    match node.map(Node::value) {
        Some(YamlNode::Sequence(list)) => list.iter().collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(path: &str, text: &str) -> Beside {
        collect_beside_files(&[(path.to_owned(), text.as_bytes().to_vec())], Profiles::builtin())
    }

    fn reasons(path: &str, text: &str) -> Vec<String> {
        assert!(is_one(path), "{path}");
        read_one(path, text).named.into_iter().map(|named| named.reason).collect()
    }

    /// The sources of other tools' records, in the words of `brief add`.
    #[test]
    fn records_of_other_tools_name_their_sources() {
        let skills = r#"{"version": 1, "skills": {
            "b": {"source": "o/r", "sourceType": "github", "computedHash": "0"},
            "a": {"source": "o/r", "sourceType": "github", "computedHash": "0"},
            "c": {"source": "https://gitlab.test/t/s", "sourceType": "git", "computedHash": "0"}}}"#;
        let rulesync = r#"{"lockfileVersion": 1, "sources": {
            "o/r:plugins/x/skills": {"requestedRef": "main", "skills": {"one": {"integrity": "i"}}}}}"#;
        let apm = "dependencies:\n  apm:\n    - o/r/skills/x#v1\n    - p/q\n  mcp:\n    - io.github.x/y\n";
        let lock = "lockfile_version: '1'\ndependencies:\n- repo_url: o/r\n  resolved_commit: abc\n  virtual_path: skills/x\n";
        for (path, text, expected) in [
            (
                "skills-lock.json",
                skills,
                &["brief add https://gitlab.test/t/s c`", "brief add o/r b a`"][..],
            ),
            ("rulesync.lock", rulesync, &["brief add o/r:plugins/x/skills one`"]),
            ("apm.yml", apm, &["brief add o/r@v1:skills/x`", "brief add p/q`", "apm servers"]),
            ("apm.lock.yaml", lock, &["brief add o/r@abc:skills/x`"]),
        ] {
            let found = reasons(path, text);
            assert_eq!(found.len(), expected.len(), "{path}: {found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.contains(expected), "{path}: {found}");
            }
            // Files of another shape say nothing, and stop nothing.
            for text in ["", "[]", "{\"skills\": 1, \"sources\": []}", "dependencies: x", "\u{0}"] {
                assert!(reasons(path, text).is_empty(), "{path}: {text:?}");
            }
        }
    }

    #[test]
    fn hooks_and_permissions_are_named() {
        let settings =
            r#"{"permissions": {"allow": ["Bash"]}, /* mine */ "hooks": {"Stop": [{}]}}"#;
        assert_eq!(reasons(".claude/settings.json", settings).len(), 2);
        assert!(reasons(".claude/settings.json", "{\"hooks\": {}}").is_empty());
        assert_eq!(reasons(".cursor/hooks.json", "{\"hooks\": {\"stop\": [{}]}}").len(), 1);
        assert_eq!(reasons(".rulesync/hooks.json", "{}").len(), 1);
        assert!(!is_one("src/settings.json") && !is_one("docs/.mcp.json"));
    }

    /// Servers of rulesync 17 and ruler 0.3, for the clients that they are for.
    #[test]
    fn servers_of_other_tools_are_taken_over() {
        let rulesync = r#"{"mcpServers": {
            "docs": {"description": "Docs", "type": "stdio", "command": "npx", "args": ["docs"]},
            "web": {"type": "http", "url": "https://web.test/mcp", "targets": ["claudecode", "cursor", "unheard"]},
            "odd": {"command": "x", "targets": ["unheard"]}, "star": {"command": "x", "targets": ["*", "unheard"]}}}"#;
        let ruler = "default_agents = [\"claude\"]\n[mcp]\nenabled = true\n[mcp_servers.git]\ncommand = \"uvx\"\nargs = [\"git\"]\n\
                     [mcp_servers.git.env]\nDEPTH = \"1\"\n[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\"docs\"]\n";
        let file = |path: &str, text: &str| (path.to_owned(), text.as_bytes().to_vec());
        let files = [file(".rulesync/mcp.json", rulesync), file(".ruler/ruler.toml", ruler)];
        let beside = collect_beside_files(&files, Profiles::builtin());
        let servers = beside.servers.iter();
        let servers: Vec<(&str, String, usize)> = servers
            .map(|own| (own.server.name.as_str(), own.clients.join(" "), own.originals.len()))
            .collect();
        let expected =
            [("docs", "", 2), ("web", "claude cursor", 1), ("star", "", 1), ("git", "", 1)];
        assert_eq!(servers, expected.map(|(name, own, number)| (name, own.to_owned(), number)));
        let named: Vec<&str> = beside.named.iter().map(|named| named.reason.as_str()).collect();
        let unknown = |name: &str| format!("the server `{name}`: unknown client `unheard`");
        assert_eq!(named, [unknown("web"), unknown("odd")]);
        assert_eq!(
            (beside.clients, beside.named_in),
            (vec!["claude".to_owned()], vec![".ruler/ruler.toml".to_owned()])
        );
        assert!(
            !crate::mcp::render_declaration(&beside.servers[0].server, &[]).contains("clients")
        );
    }

    #[test]
    fn a_server_of_several_clients_is_one_and_the_rest_is_named() {
        let claude = r#"{"mcpServers": {
            "docs": {"command": "npx", "args": ["docs"], "env": {"TOKEN": "${TOKEN}"}},
            "web": {"type": "http", "url": "https://web.test/mcp"},
            "key": {"command": "x", "env": {"API_KEY": "abcdefghijkl"}},
            "address": {"url": "https://web.test/mcp?token=abcdefghijkl"},
            "a b": {"command": "x"}, "nothing": {}, "more": {"command": "x", "timeout": 5}}}"#;
        let cursor = r#"{"mcpServers": {"docs": {"command": "npx", "args": ["docs"], "env": {"TOKEN": "${TOKEN}"}},
            "web": {"command": "other"}}}"#;
        let file = |path: &str, text: &str| (path.to_owned(), text.as_bytes().to_vec());
        let files = [file(".mcp.json", claude), file(".cursor/mcp.json", cursor)];
        let mut beside = collect_beside_files(&files, Profiles::builtin());
        let servers: Vec<(&str, String)> = beside
            .servers
            .iter()
            .map(|own| (own.server.name.as_str(), own.clients.join(" ")))
            .collect();
        assert_eq!(servers, [("docs", "claude cursor".to_owned()), ("web", "claude".to_owned())]);
        let named: Vec<&str> = beside.named.iter().map(|named| named.reason.as_str()).collect();
        for expected in [
            "`key` is not imported: `API_KEY` may be a secret",
            "`address` is not imported: `https://web.test/mcp?token` may be a secret",
            "`a b` is not imported: its name",
            "`nothing` is not imported: has neither",
            "`more` is not imported: `[mcp]` has no key for `timeout`",
            "`web` is not imported: `.mcp.json` has a different server",
        ] {
            assert!(named.iter().any(|named| named.contains(expected)), "{expected}: {named:#?}");
        }
        assert_eq!(named.len(), 6, "{named:#?}");
        let declared =
            |own: &CollectedServer| DeclaredServer { server: own.server.clone(), clients: None };
        let mut declared: Vec<DeclaredServer> = beside.servers.iter().map(declared).collect();
        declared[1].server.disabled = true;
        beside.leave_declared(&declared);
        assert!(beside.servers.is_empty());
        assert!(beside.named.last().unwrap().reason.contains("`[mcp.web]` of brief.toml"));
    }
}
