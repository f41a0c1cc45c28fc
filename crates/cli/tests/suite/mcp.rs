//! `brief mcp`: the project over MCP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;

use brief_testkit::schema::{JsonSchema, Unnamed};
use brief_testkit::{McpProcess, PATIENCE, Sandbox, needs, tools};
use serde_json::{Value, json};

use crate::project_on_disk as project;
use crate::workspace;

/// A project with something for every tool.
pub(crate) fn shop() -> Sandbox {
    project()
        .with_file(
            "AGENTS.yaml",
            "context:\n  - {content: Prices are cents., match: ['**/*.py']}\n  - {content: Never., match: ['x/**']}\n\
             decisions:\n  - {decision: Use PostgreSQL., rationale: One database for all.}\n",
        )
        .with_file("CLAUDE.md", "Be brief.\n")
        .with_file("src/a.py", "")
        .with_file(".claude/skills/migrate/SKILL.md", "---\nname: migrate\ndescription: Changes the schema\n---\nStep one.\n")
        .with_file(".agents/tasks/fix.md", "---\ndescription: Fixes it\n---\nFix ${issue}.\n")
        .with_file(".context/broken.md", "---\ntrigger: sometimes\n---\nx\n")
}

/// Calls a tool and returns its structured answer, with the path of the project replaced.
fn structured(project: &Sandbox, server: &mut McpProcess, tool: &str, arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    (arguments["json"], arguments["skipped"]) = (true.into(), true.into());
    let answer =
        server.request_answer(7, "tools/call", &json!({"name": tool, "arguments": arguments}));
    let result = &answer["result"];
    assert_eq!(result["isError"], false, "{answer}");
    assert!(!result["content"][0]["text"].as_str().unwrap().is_empty());
    let text = result["structuredContent"].to_string();
    serde_json::from_str(&text.replace(&*project.path().to_string_lossy(), "$PROJECT")).unwrap()
}

/// Issue 17: the tools answer as the commands of the same name, in their documented shapes.
#[test]
fn each_tool_answers_as_its_command() {
    let project = shop();
    let mut server = McpProcess::start(&project, &["mcp"]);
    let schemas = workspace().join("docs/schemas");
    for (tool, arguments, line) in [
        ("context", json!({"path": "src/a.py"}), "context src/a.py"),
        (
            "context",
            json!({"path": "src/a.py", "action": "edit", "timing": "before", "client": "claude", "budget": 3}),
            "context src/a.py --on edit --when before --client claude --budget 3",
        ),
        (
            "context",
            json!({"path": "src", "formats": ["client-files"], "cwd": "src", "mentions": ["fix"], "task": "fix",
                "select": ["a=b"], "workspace": "src"}),
            "context src --only client-files --cwd src --mention fix --task fix -s a=b --workspace src",
        ),
        ("why", json!({"path": "src/a.py"}), "why src/a.py"),
        ("show", json!({"path": "src/a.py"}), "show src/a.py"),
        ("show", json!({"path": "src/a.py", "clients": ["cursor"]}), "show src/a.py cursor"),
        ("decisions", json!({"path": "src/a.py"}), "context --decisions src/a.py"),
        // The setup belongs to the machine of the user, and is not the agent's.
        ("lint", json!({}), "lint --only mistakes,stale,unused"),
        ("lint", json!({"path": ".context"}), "lint .context --only mistakes,stale,unused"),
    ] {
        let args: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        let found = structured(&project, &mut server, tool, &arguments);
        assert_eq!(found, project.run(&args).json(), "{line}");
    }
    let found = structured(&project, &mut server, "search", &json!({"query": "schema"}));
    assert_eq!(found["items"][0]["name"], "migrate");
    let problems =
        JsonSchema::read(&schemas, "search.json", Unnamed::Forbidden).find_problems(&found);
    assert!(problems.is_empty(), "{problems:#?}");
}

/// The client of the command line counts for questions that name none.
#[test]
fn the_command_line_names_the_client() {
    let project = shop();
    let mut server = McpProcess::start(&project, &["mcp", "--client", "claude"]);
    let found = structured(&project, &mut server, "context", &json!({"path": "src/a.py"}));
    let args = ["context", "src/a.py", "--client", "claude", "--json"];
    assert_eq!(found, project.run(&args).json());
    let output = project.run(&["mcp", "--client", "claud"]);
    assert!(output.stderr.contains("did you mean `claude`?"), "{output}");
    assert_eq!(output.code, Some(2), "{output}");
}

/// Asks with the official Python SDK, which pip installs, in every revision, and returns what each session saw.
fn with_the_sdk(asked: &[&str], target: &[&std::ffi::OsStr]) -> Vec<Value> {
    let mut client = Command::new("python3");
    client
        .arg(workspace().join("conformance/agents/mcp-client.py"))
        .args([
            "--sdk",
            tools::MCP_SDK,
            "--mode",
            "auto",
            "--mode",
            "legacy",
            "--mode",
            "2026-07-28",
        ])
        .args(asked)
        .args(target)
        .env("MCP_CLIENT_VENV", tools::target_directory().join("mcp-client"));
    let output = client.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let sessions: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(sessions.len(), 3, "{said}");
    sessions
}

/// The official Python SDK sees the same in every revision, over both transports: it lists, calls, reads, and is told of
/// changes.
#[test]
fn the_official_sdk_lists_and_calls_what_is_served() {
    needs!(McpSdk);
    let project = shop();
    let calls = [
        ("context", "{\"path\": \"src/a.py\"}"),
        ("why", "{\"path\": \"src/a.py\"}"),
        ("show", "{\"path\": \"src/a.py\"}"),
        ("decisions", "{\"path\": \"src/a.py\"}"),
        ("search", "{\"query\": \"cents\"}"),
        ("lint", "{}"),
    ];
    let skill = project.path().join(".claude/skills/migrate/SKILL.md");
    let mut asked = vec!["--prompt", "fix", "{\"issue\": \"X-1\"}", "--resource", "migrate"];
    for (tool, arguments) in calls {
        asked.extend(["--call", tool, arguments]);
    }
    let root = project.path().to_string_lossy().into_owned();
    let serve = project.prepare_command("", &["-C", &root, "mcp"]);
    let http = HttpServer::start(&project, &["mcp", "--http", "0"]);
    let url = format!("http://{}/mcp", http.address);
    let stdio =
        [std::ffi::OsStr::new("--"), serve.get_program()].into_iter().chain(serve.get_args());
    let over_http = ["--url", &url, "--token", &http.token].map(std::ffi::OsStr::new);
    for (place, target) in [stdio.collect::<Vec<_>>(), over_http.to_vec()].iter().enumerate() {
        let text =
            format!("---\nname: migrate\ndescription: Changed {place} MODE\n---\nStep two.\n");
        let change = ["--change", skill.to_str().unwrap(), &text];
        for session in with_the_sdk(&[&asked[..], &change].concat(), target) {
            for (index, (tool, _)) in calls.iter().enumerate() {
                assert_eq!(session["tools"][index]["name"], *tool, "{session}");
                assert_eq!(session["calls"][index]["is_error"], false, "{session}");
            }
            let text = session["calls"][0]["text"].as_str().unwrap();
            assert!(text.contains("Prices are cents."), "{text}");
            let text = session["texts"][0]["text"].as_str().unwrap();
            assert!(text.contains("Fix X-1."), "{text}");
            if session["mode"] != "2026-07-28" {
                let instructions = session["instructions"].as_str().unwrap();
                assert!(instructions.contains("- migrate: Change"), "{instructions}");
            }
            assert!(session["resources"][0]["text"].as_str().unwrap().contains("Step "));
            assert_eq!(session["told"], json!(["resource_list_changed", "resource_updated"]));
        }
    }
}

/// A server over HTTP, with the address and the token that it prints.
pub(crate) struct HttpServer {
    child: std::process::Child,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl HttpServer {
    pub(crate) fn start(project: &Sandbox, args: &[&str]) -> HttpServer {
        let mut child = project.prepare_command("", args).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut said = || lines.next().unwrap().unwrap();
        let serving = said();
        let address = serving.strip_prefix("serving at http://").unwrap();
        let address = address.split('/').next().unwrap().to_owned();
        let token = if args.contains(&"--token-file") { String::new() } else { said() };
        let token = token.rsplit(' ').next().unwrap().trim_end_matches('`').to_owned();
        HttpServer { child, address, token }
    }

    /// Sends a request and returns the status and the body.
    fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = format!("{method} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let length = body.len();
        stream
            .write_all(format!("{head}Content-Length: {length}\r\n\r\n{body}").as_bytes())
            .unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned()))
    }

    /// Asks for the guidance of a file, with these headers in place of the usual ones.
    fn ask(&self, changed: &[(&str, &str)]) -> (u16, String) {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}});
        let params = json!({"name": "context", "arguments": {"path": "src/a.py"}, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let bearer = format!("Bearer {}", self.token);
        let usual = [
            ("Host", self.address.as_str()),
            ("Authorization", &bearer),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "context"),
        ];
        let kept = usual.iter().filter(|(name, _)| changed.iter().all(|(other, _)| other != name));
        let headers: Vec<(&str, &str)> =
            kept.chain(changed).copied().filter(|(_, value)| !value.is_empty()).collect();
        self.send("POST /mcp", &headers, &body.to_string())
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Issue 17: over HTTP, only a client with the token, from this machine and under its own name, is answered.
#[test]
fn http_answers_who_has_the_token() {
    let project = shop();
    let server = HttpServer::start(&project, &["mcp", "--http", "0"]);
    assert!(server.token.len() == 64 && server.address.starts_with("127.0.0.1:"));
    let (status, body) = server.ask(&[]);
    assert!(status == 200 && body.contains("Prices are cents."), "{status} {body}");
    for (headers, expected) in [
        (&[("Authorization", "")][..], 401),
        (&[("Authorization", "Bearer ")], 401),
        (&[("Authorization", "Bearer 0123456789abcdef")], 401),
        (&[("Authorization", "Basic eDp5")], 401),
        (&[("Origin", "https://evil.example")], 403),
        (&[("Origin", "null")], 403),
        (&[("Host", "evil.example")], 403),
        (&[("Host", "localhost:1")], 403),
        (&[("Origin", "http://localhost:3000")], 200),
        (&[("Mcp-Name", "why")], 400),
        (&[("MCP-Protocol-Version", "1999-01-01")], 400),
    ] {
        assert_eq!(server.ask(headers).0, expected, "{headers:?}");
    }
    let bearer = format!("Bearer {}", server.token);
    let headers = [("Host", server.address.as_str()), ("Authorization", bearer.as_str())];
    assert_eq!(server.send("GET /", &headers, "").0, 404);
    let large = "x".repeat(5 * 1024 * 1024);
    assert_eq!(server.send("POST /mcp", &headers, &large).0, 413);
    assert_eq!(server.send("POST /mcp", &headers[..1], "{}").0, 401);
}

#[test]
fn http_listens_where_it_is_told() {
    let project = shop().with_file("token", "a-token-of-my-own-1234\n").with_file("short", "abc\n");
    let refused = |args: &[&str], code: i32, words: &str| {
        let output = project.run(args);
        assert!(output.code == Some(code) && output.stderr.contains(words), "{output}");
    };
    refused(&["mcp", "--http", "0.0.0.0:0"], 1, "other machines can reach `0.0.0.0:0`");
    refused(&["mcp", "--http", "nowhere"], 2, "invalid address `nowhere`");
    refused(&["mcp", "--http", "0", "--token-file", "short"], 2, "needs at least 16 characters");
    refused(&["mcp", "--http", "0", "--token-file", "none"], 2, "cannot read the token");
    let mut server = HttpServer::start(&project, &["mcp", "--http", "0", "--token-file", "token"]);
    assert_eq!(server.ask(&[]).0, 401);
    server.token = "a-token-of-my-own-1234".to_owned();
    assert_eq!(server.ask(&[]).0, 200);
}

/// `brief mcp install` and `uninstall`, for every client with a file that is known.
#[test]
fn a_client_gets_the_server_and_loses_it_again() {
    for client in ["claude", "codex", "copilot", "cursor", "gemini", "opencode"] {
        let project = shop();
        let before = project.run(&["mcp", "uninstall", client]);
        assert!(before.stderr.contains("the server is not in"), "{before}");
        let shown = project.run(&["mcp", "install", client, "--dry-run"]);
        assert!(shown.stdout.contains("--client") && shown.stdout.contains(client), "{shown}");
        let installed = project.run(&["mcp", "install", client]);
        assert_eq!(installed.code, Some(0), "{installed}");
        let file = shown.stderr.trim().rsplit(' ').next().unwrap().to_owned();
        assert_eq!(std::fs::read_to_string(project.path().join(&file)).unwrap(), shown.stdout);
        let again = project.run(&["mcp", "install", client]);
        assert!(again.stderr.contains("the server is already in"), "{again}");
        let listed = project.run(&["mcp", "servers", "--json"]).json();
        let servers = listed["client_servers"].as_array().unwrap();
        assert!(servers.iter().any(|server| server["name"] == "brief"), "{listed}");
        assert_eq!(project.run(&["mcp", "uninstall", client]).code, Some(0));
        assert!(!project.path().join(&file).exists(), "{client}");
    }
}

#[test]
fn a_global_server_goes_to_the_home_directory() {
    let project = shop();
    let output = project.run(&["mcp", "install", "cursor", "--global"]);
    assert!(output.stderr.contains("added the server to ~/.cursor/mcp.json"), "{output}");
    assert!(project.home().join(".cursor/mcp.json").exists());
    let output = project.run(&["mcp", "install", "claude", "--global"]);
    assert_eq!(output.code, Some(1), "{output}");
    let project =
        shop().with_file(".mcp.json", "{\"mcpServers\": {\"brief\": {\"command\": \"mine\"}}}\n");
    let output = project.run(&["mcp", "install", "claude"]);
    assert!(output.stderr.contains("did not change `brief`"), "{output}");
    assert_eq!(output.code, Some(1), "{output}");
}

/// A repeatable source of choices.
struct Choices(u64);

impl Choices {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn one<'c, T>(&mut self, of: &'c [T]) -> &'c T {
        &of[self.below(of.len())]
    }
}

/// The hook tells in a session that edits a file what MCP answers for that edit, and no other of the words.
fn hook_agrees(scene: &Sandbox, server: &mut McpProcess, path: &str) {
    const WORDS: [&str; 9] =
        ["One.", "Two.", "Three.", "Broken.", "Typed.", "Always.", "Tabs.", "Go.", "Be kind."];
    let told = scene.run(&["hook", "test", "claude", path, "--on", "edit"]);
    assert_eq!(told.code, Some(0), "{told}");
    let asked = json!({"path": path, "action": "edit", "client": "claude"});
    let found = structured(scene, server, "context", &asked);
    let items = found["items"].as_array().unwrap();
    for word in WORDS {
        let is_active = |item: &Value| {
            item["state"] == "active" && item["content"].as_str().unwrap().contains(word)
        };
        let is_found = items.iter().any(is_active);
        assert_eq!(told.stdout.contains(word), is_found, "{word} for {path}: {told}\n{found}");
    }
}

/// Issue 17: the hook, MCP, `brief context --json` and the library agree on random projects.
#[test]
fn the_hook_mcp_the_command_line_and_the_library_agree() {
    const FILES: [(&str, &str); 12] = [
        (
            "AGENTS.yaml",
            "context:\n  - {content: One., match: ['**/*.py'], on: edit}\n  - {content: Two., match: ['src/**'], when: after}\n",
        ),
        (
            "AGENTS.yaml",
            "context: [{content: Three.}]\ndecisions: [{decision: D., rationale: R.}]\n",
        ),
        ("AGENTS.yaml", "context: [{content: Broken., match: '['}, {contnt: x}]\n"),
        ("CLAUDE.md", "Be brief.\n"),
        ("AGENTS.md", "Say why.\n"),
        (".cursor/rules/x.mdc", "---\nglobs: '*.py'\n---\nTyped.\n"),
        (".context/always.md", "---\ntrigger: always\n---\nAlways.\n"),
        (".context/auto.md", "---\ntrigger: auto\nglobs: '**/*.ts'\n---\nTabs.\n"),
        (".claude/skills/s/SKILL.md", "---\nname: s\ndescription: Does s\n---\nS.\n"),
        (".agents/rules/r.md", "---\nlanguages: go\n---\nGo.\n"),
        (".github/copilot-instructions.md", "Be kind.\n"),
        ("agents/dev_x.agent.md", "---\nversion: 1.0.0\n---\n# X\nd\n"),
    ];
    let mut choices = Choices(17);
    for _ in 0..6 {
        let mut scene = project();
        for _ in 0..choices.below(8) {
            let (path, text) = choices.one(&FILES);
            let directory = choices.one(&["", "", "src/", "src/api/", "lib/"]);
            scene = scene.with_file(&format!("{directory}{path}"), text);
        }
        let scene = scene.with_file("src/api/a.py", "");
        let mut server = McpProcess::start(&scene, &["mcp"]);
        for path in ["src/api/a.py", "src/new.ts", "lib/x.go"] {
            hook_agrees(&scene, &mut server, path);
        }
        for _ in 0..6 {
            let path =
                *choices.one(&["src/api/a.py", "src/new.ts", "src", ".", "lib/x.go", "../else.py"]);
            let action = *choices.one(&["read", "edit", "create", "all"]);
            let timing = *choices.one(&["before", "after", "all"]);
            let client = choices
                .one(&[None, Some("claude"), Some("cursor"), Some("copilot")])
                .as_ref()
                .copied();
            let budget = choices.one(&[None, Some(2), Some(100)]).as_ref().copied();
            let mut asked = json!({"path": path, "action": action, "timing": timing});
            let mut args = vec!["context", path, "--on", action, "--when", timing, "--json"];
            let (root, system) = (scene.path(), scene.create_system(""));
            let library = brief_engine::Project::open(&system, &root).unwrap();
            let mut request = library.briefing(path);
            request.moment.action = match action {
                "read" => Some(brief_engine::Action::Read),
                "edit" => Some(brief_engine::Action::Edit),
                "create" => Some(brief_engine::Action::Create),
                _ => None,
            };
            request.moment.timing = match timing {
                "before" => Some(brief_engine::Timing::Before),
                "after" => Some(brief_engine::Timing::After),
                _ => None,
            };
            let tokens = budget.map(|tokens: usize| tokens.to_string());
            if let Some(client) = client {
                asked["client"] = json!(client);
                args.extend(["--client", client]);
                request = request.client(client);
            }
            if let Some(tokens) = &tokens {
                asked["budget"] = json!(budget);
                args.extend(["--budget", tokens]);
                request = request.budget(budget.unwrap());
            }
            let found = structured(&scene, &mut server, "context", &asked);
            assert_eq!(found, scene.run(&args).json(), "{args:?}");
            let briefing = request.resolve();
            let texts: Vec<Value> =
                briefing.items().iter().map(|item| json!(item.content)).collect();
            let items = found["items"].as_array().unwrap();
            let told: Vec<Value> = items.iter().map(|item| item["content"].clone()).collect();
            assert_eq!(told, texts, "{args:?}");
        }
    }
}
