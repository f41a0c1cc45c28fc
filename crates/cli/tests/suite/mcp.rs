//! `brief mcp`: the project over MCP.

use std::process::Command;

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
