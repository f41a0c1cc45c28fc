//! `brief mcp`: the project over MCP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use brief_testkit::Sandbox;
use brief_testkit::schema::{JsonSchema, Unnamed};
use serde_json::{Value, json};

use crate::agent_stop::Server;
use crate::project_on_disk as project;
use crate::workspace;

/// A project with something for every tool.
fn shop() -> Sandbox {
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
fn structured(project: &Sandbox, server: &mut Server, tool: &str, arguments: &Value) -> Value {
    let answer = server.ask(7, "tools/call", &json!({"name": tool, "arguments": arguments}));
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
    let mut server = Server::speak(&project, &["mcp"]);
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
            json!({"path": "src", "dialects": ["native"], "started": "src", "mentions": ["fix"], "task": "fix",
                "select": ["a=b"], "mounted": "src"}),
            "context src --only native --started src --mention fix --task fix -s a=b --mounted src",
        ),
        ("why", json!({"path": "src/a.py"}), "why src/a.py"),
        ("sees", json!({"path": "src/a.py"}), "sees src/a.py"),
        ("sees", json!({"path": "src/a.py", "clients": ["cursor"]}), "sees src/a.py cursor"),
        ("decisions", json!({"path": "src/a.py"}), "decisions src/a.py"),
        ("lint", json!({}), "lint"),
        ("lint", json!({"path": ".context"}), "lint .context"),
    ] {
        let args: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        let found = structured(&project, &mut server, tool, &arguments);
        assert_eq!(found, project.run(&args).json(), "{line}");
    }
    let found = structured(&project, &mut server, "search", &json!({"query": "schema"}));
    assert_eq!(found["items"][0]["name"], "migrate");
    let problems = JsonSchema::read(&schemas, "search.json", Unnamed::Forbidden).problems(&found);
    assert!(problems.is_empty(), "{problems:#?}");
}

/// The client of the command line counts for questions that name none.
#[test]
fn the_command_line_names_the_client() {
    let project = shop();
    let mut server = Server::speak(&project, &["mcp", "--client", "claude"]);
    let found = structured(&project, &mut server, "context", &json!({"path": "src/a.py"}));
    let args = ["context", "src/a.py", "--client", "claude", "--json"];
    assert_eq!(found, project.run(&args).json());
    let output = project.run(&["mcp", "--client", "claud"]);
    assert!(output.stderr.contains("did you mean `claude`?"), "{output}");
    assert_eq!(output.code, Some(2), "{output}");
}

/// The official Python SDK, which pip installs for this test, sees the same in every revision. It checks
/// structured answers against the schemas of the tools.
#[test]
fn the_official_sdk_lists_and_calls_what_is_served() {
    let project = shop();
    let serve = project.command("", &["mcp"]);
    let mut client = Command::new("python3");
    client
        .arg(workspace().join("conformance/agents/mcp-client.py"))
        .args(["--sdk", "mcp==2.3.0", "--mode", "auto", "--mode", "legacy", "--mode", "2026-07-28"])
        .args(["--prompt", "fix", "{\"issue\": \"X-1\"}"]);
    let calls = [
        ("context", "{\"path\": \"src/a.py\"}"),
        ("why", "{\"path\": \"src/a.py\"}"),
        ("sees", "{\"path\": \"src/a.py\"}"),
        ("decisions", "{\"path\": \"src/a.py\"}"),
        ("search", "{\"query\": \"cents\"}"),
        ("lint", "{}"),
    ];
    for (tool, arguments) in calls {
        client.args(["--call", tool, arguments]);
    }
    client
        .arg("--")
        .arg(serve.get_program())
        .args(serve.get_args())
        .current_dir(project.path())
        .env("MCP_CLIENT_VENV", workspace().join("target/mcp-client"));
    let output = client.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let sessions: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(sessions.len(), 3, "{said}");
    for session in sessions {
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
            assert!(instructions.contains("- migrate: Changes the schema"), "{instructions}");
        }
    }
}

/// A server over HTTP, with the address and the token that it prints.
struct HttpServer {
    child: std::process::Child,
    address: String,
    token: String,
}

impl HttpServer {
    fn start(project: &Sandbox, args: &[&str]) -> HttpServer {
        let mut child = project.command("", args).spawn().unwrap();
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
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
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
    refused(&["mcp", "--http", "0.0.0.0:0"], 1, "can be reached from other machines");
    refused(&["mcp", "--http", "nowhere"], 2, "`nowhere` is not an address");
    refused(&["mcp", "--http", "0", "--token-file", "short"], 2, "16 or more printable characters");
    refused(&["mcp", "--http", "0", "--token-file", "none"], 2, "cannot be read");
    let mut server = HttpServer::start(&project, &["mcp", "--http", "0", "--token-file", "token"]);
    assert_eq!(server.ask(&[]).0, 401);
    server.token = "a-token-of-my-own-1234".to_owned();
    assert_eq!(server.ask(&[]).0, 200);
}

/// A project with servers: a second `brief mcp`, one that hangs, one that floods, one that ends at once and one that is not there.
fn with_servers(project: Sandbox) -> Sandbox {
    let program = project.command("", &[]).get_program().to_string_lossy().into_owned();
    let inner = project.outside().join("inner");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(inner.join("AGENTS.yaml"), "context:\n  - content: Inner guidance.\n").unwrap();
    std::fs::create_dir_all(inner.join(".agents/tasks")).unwrap();
    std::fs::write(inner.join(".agents/tasks/deep.md"), "Deep ${what}.\n").unwrap();
    let inner = inner.to_string_lossy().into_owned();
    let shell = |script: &str| json!({"command": "sh", "args": ["-c", script]});
    // It says who it is and what it has, and then only noise.
    let hello = "read a; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}}'; read b; \
        read c; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]}}'; \
        read d; echo '{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32601,\"message\":\"none\"}}';";
    let servers = json!({"mcpServers": {
        "inner": {"command": program, "args": ["-C", inner, "mcp"]},
        "mute": shell("sleep 1000"),
        "flood": shell(&format!("{hello} yes '{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}}'")),
        "crash": shell(&format!("{hello} exit 1")),
        "gone": {"command": "there-is-no-such-program"},
        "far": {"url": "https://example.com/mcp", "type": "http"},
    }});
    project.with_file(".mcp.json", servers.to_string())
}

/// Waits for the tools of the servers behind a gateway.
fn tools(server: &mut Server, wanted: &str) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let answer = server.ask(3, "tools/list", &json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap();
        let names: Vec<String> =
            tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        if names.iter().any(|name| name == wanted) {
            return names;
        }
        assert!(Instant::now() < deadline, "{wanted} is not in {names:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Issue 17: a second `brief mcp` behind the gateway; a hanging, flooding or crashing server hurts only itself.
#[test]
fn a_gateway_offers_the_servers_of_the_project() {
    let project = with_servers(shop());
    let mut server = Server::speak(&project, &["mcp", "--gateway", "--exec"]);
    tools(&mut server, "flood__t");
    let names = tools(&mut server, "inner__context");
    assert_eq!(&names[..2], ["context", "why"]);
    assert!(!names.iter().any(|name| name.starts_with("mute") || name.starts_with("gone")));
    let call = |server: &mut Server, name: &str, arguments: Value| {
        let answer = server.ask(9, "tools/call", &json!({"name": name, "arguments": arguments}));
        answer["result"].clone()
    };
    let inner = call(&mut server, "inner__context", json!({"path": "x.py"}));
    let items = inner["structuredContent"]["items"].as_array().unwrap();
    assert!(items.iter().any(|item| item["content"] == "Inner guidance."), "{inner}");
    assert_eq!(inner["isError"], false);
    let prompt = json!({"name": "inner__deep", "arguments": {"what": "sea"}});
    let prompt = server.ask(4, "prompts/get", &prompt);
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("Deep sea."), "{text}");
    // A server that has ended is told to the model, and the others go on.
    tools(&mut server, "crash__t");
    let crashed = call(&mut server, "crash__t", json!({}));
    assert_eq!(crashed["isError"], true, "{crashed}");
    // While one server floods, the others are as quick as ever.
    server.send(&json!({"jsonrpc": "2.0", "id": 11, "method": "tools/call",
        "params": {"name": "flood__t", "arguments": {}}}));
    let started = Instant::now();
    for _ in 0..5 {
        let own = call(&mut server, "context", json!({"path": "src/a.py"}));
        assert_eq!(own["isError"], false);
        let inner = call(&mut server, "inner__context", json!({"path": "x.py"}));
        assert_eq!(inner["isError"], false);
    }
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let unknown = server.ask(12, "tools/call", &json!({"name": "other__t", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);
}

/// Ruling G7: the servers of a project start only when the user trusts it, or says so.
#[test]
fn servers_of_a_project_that_is_not_trusted_do_not_start() {
    let project = with_servers(shop());
    let output = project.run(&["mcp", "--gateway"]);
    assert!(output.stderr.contains("is not trusted"), "{output}");
    assert!(output.stderr.contains("`brief trust .`"), "{output}");
    assert_eq!(output.code, Some(1), "{output}");
    let mut never = project.command("", &["mcp", "--gateway", "--exec"]);
    let never = never.env("BRIEF_EXEC", "never").output().unwrap();
    assert!(String::from_utf8_lossy(&never.stderr).contains("BRIEF_EXEC"), "{never:?}");
    let mut inside = project.command("", &["mcp", "--gateway", "--exec"]);
    let inside = inside.env("BRIEF_GATEWAY", "1").output().unwrap();
    let said = String::from_utf8_lossy(&inside.stderr);
    assert!(said.contains("a gateway does not start another one"), "{said}");
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
        let listed = project.run(&["mcp-servers", "--json"]).json();
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
    assert!(output.stderr.contains("was left as it is"), "{output}");
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

/// Issue 17: MCP, `brief context --json` and the library agree on random projects.
#[test]
fn mcp_the_command_line_and_the_library_agree() {
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
        let mut server = Server::speak(&scene, &["mcp"]);
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
            let (root, system) = (scene.path(), scene.system(""));
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
