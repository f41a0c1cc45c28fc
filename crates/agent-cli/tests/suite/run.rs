//! `brief agent run` against a scripted server, and `brief agent serve` as a client speaks to it.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use brief_testkit::{ModelServer, Sandbox, needs};
use serde_json::{Value, json};

use crate::project;

const FILE: &str = "agents/dev_adder.agent.md";

const AGENT: &str = "---\nrecommended:\n  models: [small]\ncommands:\n  - name: sum\n    description: Adds two numbers\n    body: Add $1 and $2.\n---\n# Adder\nAdds numbers.\n\n## System\n\nYou add.\n\n## Tools\n\n```js\nreturn {\n  add: {\n    fn: ({ a, b }) => a + b,\n    scheme: { name: \"add\", description: \"Adds\", parameters: { type: \"object\", properties: { a: { type: \"number\" }, b: { type: \"number\" } }, required: [\"a\", \"b\"] } },\n  },\n};\n```\n";

fn adder(server: &ModelServer) -> Sandbox {
    project()
        .with_file(FILE, AGENT)
        .with_env("OPENAI_BASE_URL", &server.url)
        .with_env("OPENAI_API_KEY", "sk-0123456789secret")
}

/// A call of a tool whose arguments come in fragments.
fn call_and_answer() -> Vec<Value> {
    vec![
        json!({"finish": "tool_calls", "deltas": [
            {"role": "assistant", "tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 6"}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": ", \"b\": 7}"}}]},
        ]}),
        json!({"finish": "stop", "deltas": [{"content": "It is "}, {"content": "13."}]}),
    ]
}

#[test]
fn a_turn_calls_tools_and_ends_with_the_answer() {
    let server = ModelServer::start(call_and_answer());
    let project = adder(&server);
    let args = ["run", FILE, "--input", "/sum 6 7", "--transcript", "talk.jsonl"];
    let output = project.run(&args);
    assert_eq!((output.stdout.as_str(), output.code), ("It is 13.\n", Some(0)), "{output}");
    let asked = server.request_bodies();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0]["model"], "small");
    assert_eq!(asked[0]["messages"][0]["role"], "system");
    assert!(asked[0]["messages"][0]["content"].as_str().unwrap().contains("You add."));
    assert_eq!(asked[0]["messages"][1]["content"], "Add 6 and 7.");
    assert_eq!(asked[0]["tools"][0]["function"]["name"], "add");
    let last = asked[1]["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((last["role"].as_str(), last["content"].as_str()), (Some("tool"), Some("13")));
    let talk = project.read("talk.jsonl");
    assert!(talk.contains("It is 13.") && !talk.contains("secret"), "{talk}");
    assert!(!output.to_string().contains("secret"), "{output}");
}

#[test]
fn what_is_piped_in_is_said() {
    let server =
        ModelServer::start(vec![json!({"finish": "stop", "deltas": [{"content": "Yes."}]})]);
    let output = adder(&server).run_with_input(&["run", FILE], "Are you there?\n");
    assert_eq!((output.stdout.as_str(), output.code), ("Yes.\n", Some(0)), "{output}");
    assert_eq!(server.request_bodies()[0]["messages"][1]["content"], "Are you there?");
}

/// A gate that is closed makes no request at all.
#[test]
fn a_closed_gate_makes_no_request() {
    let startup = "required:\n  startup: add\n";
    let gates = [
        ("disabled", AGENT.replace("---\nrec", "---\nstatus: disabled\nrec")),
        ("NOT_SET_HERE", AGENT.replace("---\nrec", "---\nrequired:\n  env: [NOT_SET_HERE]\nrec")),
        ("requires", AGENT.replace("---\nrec", &format!("---\n{startup}rec"))),
        ("JavaScript", AGENT.replace("return {", "return {{")),
    ];
    for (words, text) in gates {
        let server = ModelServer::start(call_and_answer());
        let project = adder(&server).with_file(FILE, text);
        let output = project.run(&["run", FILE, "--input", "Add."]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains(words), "{words}: {output}");
        assert_eq!(server.request_bodies().len(), 0, "{words}");
    }
}

/// An MCP client over the standard streams, one line of JSON each.
#[test]
fn a_served_agent_has_tools_prompts_and_instructions() {
    let project = project().with_file(FILE, AGENT);
    let mut command = project.prepare_command("", &["serve", FILE]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |id: u32, method: &str, params: Value| -> Value {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{request}").unwrap();
        serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
    };
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let hello = ask(1, "initialize", client);
    assert!(hello["result"]["instructions"].as_str().unwrap().contains("You add."), "{hello}");
    let tools = ask(2, "tools/list", json!({}));
    assert_eq!(tools["result"]["tools"][0]["name"], "add", "{tools}");
    let called = ask(3, "tools/call", json!({"name": "add", "arguments": {"a": 2, "b": 3}}));
    assert_eq!(called["result"]["content"][0]["text"], "5", "{called}");
    let wrong = ask(4, "tools/call", json!({"name": "add", "arguments": {"a": "x"}}));
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    let prompts = ask(5, "prompts/list", json!({}));
    assert_eq!(prompts["result"]["prompts"][0]["name"], "sum", "{prompts}");
    let arguments = json!({"name": "sum", "arguments": {"arg1": "1", "arg2": "2"}});
    let prompt = ask(6, "prompts/get", arguments);
    let text = &prompt["result"]["messages"][0]["content"]["text"];
    assert_eq!(text, "Add 1 and 2.", "{prompt}");
    let missing = ask(7, "prompts/get", json!({"name": "sum", "arguments": {"arg1": "1"}}));
    assert!(missing["error"].is_object(), "{missing}");
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// A tool asks a server that the operator has configured: here another agent of ours, served.
#[test]
fn a_tool_asks_a_configured_server() {
    let asking = "---\nabilities:\n  allow: [mcp, tool]\n---\n# Asker\nAsks.\n\n## Tools\n\n```js\nreturn { ask: { fn: async (args, ctx, host) => host.mcp.call(args.server, \"add\", { a: 2, b: 3 }), scheme: { name: \"ask\", description: \"Asks\", parameters: { type: \"object\" } } } };\n```\n";
    let project = project()
        .with_env("BRIEF_EXEC", "always")
        .with_file(FILE, AGENT)
        .with_file("agents/dev_asker.agent.md", asking);
    let serve = project.prepare_command("", &["serve", FILE]);
    let program = serve.get_program().to_str().unwrap();
    let server = json!({"command": program, "args": ["serve", FILE]});
    project.write("servers.json", json!({"mcpServers": {"adder": server}}).to_string());
    let call = |server: &str, more: &[&str]| {
        let args = format!("{{\"server\": \"{server}\"}}");
        let call = ["debug", "call", "agents/dev_asker.agent.md", "ask", &args];
        project.run(&[&call[..], more].concat())
    };
    let granted = ["--grant", "mcp", "--mcp-config", "servers.json"];
    let output = call("adder", &granted);
    assert_eq!((output.stdout.trim_end(), output.code), ("5", Some(0)), "{output}");
    let output = call("other", &granted);
    assert!(output.stderr.contains("unknown server `other`"), "{output}");
    let output = call("adder", &["--mcp-config", "servers.json"]);
    assert!(output.stderr.contains("`--grant mcp`"), "{output}");
    let output = call("adder", &["--grant", "mcp"]);
    assert_eq!(output.code, Some(1), "{output}");
    let output = call("adder", &["--grant", "mcp", "--mcp-config", "none.json"]);
    assert_eq!(output.code, Some(2), "{output}");
}

/// The official Python SDK, which pip installs for this test, sees the same in every revision.
#[test]
fn the_official_sdk_lists_and_calls_what_is_served() {
    needs!(McpSdk);
    let project = project().with_file(FILE, AGENT);
    let workspace = crate::workspace();
    let serve = project.prepare_command("", &["serve", FILE]);
    let mut client = std::process::Command::new("python3");
    client
        .arg(workspace.join("conformance/agents/mcp-client.py"))
        .args([
            "--sdk",
            brief_testkit::tools::MCP_SDK,
            "--mode",
            "auto",
            "--mode",
            "legacy",
            "--mode",
            "2026-07-28",
        ])
        .args(["--call", "add", "{\"a\": 2, \"b\": 3}", "--prompt", "sum"])
        .args(["{\"arg1\": \"1\", \"arg2\": \"2\"}", "--"])
        .arg(serve.get_program())
        .args(serve.get_args())
        .current_dir(project.path())
        .env("MCP_CLIENT_VENV", brief_testkit::tools::target_directory().join("mcp-client"));
    let output = client.output().unwrap();
    let (said, problems) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    assert!(output.status.success(), "{said}{problems}");
    let sessions: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(sessions.len(), 3, "{said}");
    for session in sessions {
        assert_eq!(session["tools"][0]["name"], "add", "{session}");
        assert_eq!(session["prompts"][0]["name"], "sum", "{session}");
        assert_eq!(session["calls"][0]["text"], "5", "{session}");
        assert_eq!(session["texts"][0]["text"], "Add 1 and 2.", "{session}");
        // Without a handshake a client that asks for no description of the server gets none.
        if session["mode"] != "2026-07-28" {
            assert_eq!(session["instructions"], "You add.", "{session}");
        }
    }
}
