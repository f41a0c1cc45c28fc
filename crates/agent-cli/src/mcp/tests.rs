//! The protocol from the client's side, line by line.

use std::ops::{Deref, DerefMut};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use brief_agent::conversation::{Ready, ReadyTools};
use brief_engine::agents::{Agent, AgentOptions, Effective, Scheme, load_text};
use brief_serve::mcp::{ServeError, Served};
use brief_syntax::Source;
use brief_system::{Interruption, MemorySystem};
use brief_testkit::TestClient;
use serde_json::{Value as Json, json};

use super::serve_over;

const AGENT: &str = "---\nversion: 1.2.3\ncommands:\n  - name: test\n    description: Writes tests\n    \
    argument-hint: \"[target-name] [framework]\"\n    body: Test $1 with $2.\n  - name: all\n    \
    description: Says it\n    body: \"Say $ARGUMENTS\"\n  - name: second\n    description: d\n    \
    body: \"Only $2 and all: $ARGUMENTS\"\n  - name: listed\n    description: d\n    \
    argument-hint: [a, b]\n    body: \"$ARGUMENTS\"\n---\n# Helper\n\nHelps with tests.\n\n## System\n\n\
    You help.\n\n## Rules\n\nBe brief.\n";

/// Tools that add, fail, and wait until they are released.
struct Fake {
    schemes: Vec<Scheme>,
    calls: Arc<Mutex<Vec<String>>>,
    started: Sender<()>,
    go: Receiver<()>,
}

impl ReadyTools for Fake {
    fn schemes(&self) -> &[Scheme] {
        &self.schemes
    }

    fn call_tool(&mut self, name: &str, arguments: &str) -> Result<String, String> {
        self.calls.lock().unwrap().push(name.to_owned());
        let json: Json = serde_json::from_str(arguments).unwrap();
        match name {
            "Add" => {
                Ok((json["a"].as_i64().unwrap_or(0) + json["b"].as_i64().unwrap_or(0)).to_string())
            }
            "wait" => {
                self.started.send(()).unwrap();
                self.go.recv_timeout(Duration::from_mins(2)).map_err(|error| error.to_string())?;
                Ok("done".to_owned())
            }
            _ => Err("no luck".to_owned()),
        }
    }
}

/// The client's side of a session with [`Fake`] tools.
struct AgentClient {
    client: TestClient,
    started: Receiver<()>,
    go: Sender<()>,
}

impl Deref for AgentClient {
    type Target = TestClient;

    fn deref(&self) -> &TestClient {
        &self.client
    }
}

impl DerefMut for AgentClient {
    fn deref_mut(&mut self) -> &mut TestClient {
        &mut self.client
    }
}

fn agent() -> Agent {
    let source = Arc::new(Source::from_bytes("/p/agents/dev_helper.agent.md", AGENT.into()));
    let loaded = load_text(&MemorySystem::new("/p"), &source, &AgentOptions::default());
    loaded.agent().unwrap_or_else(|| panic!("{:?}", loaded.diagnostics())).clone()
}

/// The results of a session.
struct SessionOutcome {
    served: Result<Served, ServeError>,
    calls: Vec<String>,
    log: Vec<String>,
}

/// Serves an agent to a scripted client, which disconnects at the end.
fn session(client: impl FnOnce(&mut AgentClient) + Send + 'static) -> SessionOutcome {
    session_until(&Interruption::default(), client)
}

fn session_until(
    interruption: &Interruption,
    script: impl FnOnce(&mut AgentClient) + Send + 'static,
) -> SessionOutcome {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let ((started_sender, started), (go, go_receiver)) = (channel(), channel());
    let client = thread::spawn(move || {
        script(&mut AgentClient { client: TestClient::new(theirs), started, go });
    });
    let agent = agent();
    let scheme = |name: &str| Scheme {
        name: name.to_owned(),
        description: format!("does {name}"),
        parameters: json!({"properties": {"a": {"type": "number"}}}),
    };
    let calls = Arc::new(Mutex::new(Vec::new()));
    let mut tools = Fake {
        schemes: ["Add", "boom", "wait"].map(scheme).to_vec(),
        calls: Arc::clone(&calls),
        started: started_sender,
        go: go_receiver,
    };
    let effective = Effective::new(&[], &agent.abilities);
    let system = MemorySystem::new("/p");
    let mut ready = Ready::pass_gates(&system, &agent, None, &effective, &mut tools).unwrap();
    let mut log = Vec::new();
    let streams = move || tokio::io::split(ours);
    let served =
        serve_over(&mut ready, streams, interruption, &mut |line| log.push(line.to_owned()));
    client.join().unwrap();
    let calls = calls.lock().unwrap().clone();
    SessionOutcome { served, calls, log }
}

/// Lists and calls everything once.
fn look_at_everything(client: &mut AgentClient) {
    let tools = client.request_result("tools/list", json!({}));
    let names: Vec<&Json> =
        tools["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["Add", "boom", "wait"]);
    assert_eq!(tools["tools"][0]["description"], "does Add");
    let schema = json!({"type": "object", "properties": {"a": {"type": "number"}}});
    assert_eq!(tools["tools"][0]["inputSchema"], schema);

    let sum =
        client.request_result("tools/call", json!({"name": "add", "arguments": {"a": 2, "b": 3}}));
    assert_eq!(sum["content"], json!([{"type": "text", "text": "5"}]));
    assert_eq!(sum["isError"], false);
    let failed = client.request_result("tools/call", json!({"name": "boom"}));
    assert_eq!(failed["content"][0]["text"], "no luck");
    assert_eq!(failed["isError"], true);
    let unknown = client.request_answer("tools/call", json!({"name": "teleport", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);

    let prompts = client.request_result("prompts/list", json!({}));
    assert_eq!(
        prompts["prompts"],
        json!([
            {"name": "test", "description": "Writes tests", "arguments": [
                {"name": "target-name", "required": true}, {"name": "framework", "required": true}]},
            {"name": "all", "description": "Says it", "arguments": [
                {"name": "arguments", "required": false}]},
            {"name": "second", "description": "d", "arguments": [
                {"name": "arg1", "required": false}, {"name": "arg2", "required": true},
                {"name": "arguments", "required": false}]},
            {"name": "listed", "description": "d", "arguments": [
                {"name": "a", "required": false}, {"name": "b", "required": false}]},
        ])
    );
    let mut text = |name: &str, arguments: Json| {
        let result =
            client.request_result("prompts/get", json!({"name": name, "arguments": arguments}));
        assert_eq!(result["messages"][0]["role"], "user");
        result["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
    };
    let given = json!({"target-name": "parse $2", "framework": "jest"});
    assert_eq!(text("test", given), "Test parse $2 with jest.");
    assert_eq!(text("ALL", json!({"arguments": "two words"})), "Say two words");
    assert_eq!(text("all", json!({})), "Say ");
    assert_eq!(text("second", json!({"arg2": "x"})), "Only x and all:  x");
    assert_eq!(text("listed", json!({"b": "x"})), "x");
    for (name, arguments, expected) in [
        ("test", json!({"target-name": "x"}), "the command `test` needs `framework`"),
        ("test", json!({}), "the command `test` needs `target-name`, `framework`"),
        ("nobody", json!({}), "unknown command `nobody`"),
        ("test", json!({"target-name": 1}), "argument `target-name` must be a string"),
    ] {
        let answer =
            client.request_answer("prompts/get", json!({"name": name, "arguments": arguments}));
        assert_eq!(answer["error"]["code"], -32602);
        assert_eq!(answer["error"]["message"], expected);
    }
}

#[test]
fn every_revision_with_initialize() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let outcome = session(move |client| {
            let hello = client.initialize(version);
            assert_eq!(hello["protocolVersion"], version);
            assert_eq!(hello["instructions"], "You help.\n\n## Rules\n\nBe brief.");
            assert_eq!(hello["serverInfo"]["name"], "helper");
            assert_eq!(hello["serverInfo"]["version"], "1.2.3");
            assert_eq!(hello["serverInfo"]["title"], "Helper");
            assert_eq!(hello["capabilities"], json!({"tools": {}, "prompts": {}}));
            client.request_result("ping", json!({}));
            look_at_everything(client);
        });
        assert!(matches!(outcome.served, Ok(Served::Closed)), "{:?}", outcome.served);
        assert_eq!(outcome.calls, ["Add", "boom"]);
        let expected = ["called `add`", "`boom` failed: no luck", "unknown tool `teleport`"];
        assert_eq!(outcome.log, expected);
    }
}

#[test]
fn the_newest_revision_without_initialize() {
    let outcome = session(|client| {
        client.speak_newest();
        let known = client.request_result("server/discover", json!({}));
        assert_eq!(known["instructions"], "You help.\n\n## Rules\n\nBe brief.");
        let versions = known["supportedVersions"].as_array().unwrap();
        assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2024-11-05")));
        look_at_everything(client);
    });
    assert!(matches!(outcome.served, Ok(Served::Closed)), "{:?}", outcome.served);
    // The first call needs no listing before it.
    session(|client| {
        client.speak_newest();
        let sum =
            client.request_result("tools/call", json!({"name": "Add", "arguments": {"a": 1}}));
        assert_eq!(sum["content"][0]["text"], "1");
    });
}

/// A client that asks for a revision from the future gets one that both know.
#[test]
fn revisions_are_negotiated() {
    session(|client| {
        assert_eq!(client.initialize("2030-01-01")["protocolVersion"], "2025-11-25");
    });
    session(|client| {
        assert_eq!(client.initialize("2026-07-28")["protocolVersion"], "2025-11-25");
    });
}

#[test]
fn a_slow_tool_holds_up_no_questions() {
    let outcome = session(|client| {
        client.initialize("2025-11-25");
        let slow = client.send_request("tools/call", json!({"name": "wait"}));
        client.started.recv_timeout(Duration::from_mins(2)).unwrap();
        let next = client.send_request("tools/call", json!({"name": "Add", "arguments": {"a": 1}}));
        client.request_result("ping", json!({}));
        assert_eq!(
            client.request_result("tools/list", json!({}))["tools"].as_array().unwrap().len(),
            3
        );
        client.go.send(()).unwrap();
        // One call after the other.
        assert_eq!(client.receive_message()["id"], slow);
        assert_eq!(client.receive_message()["id"], next);
    });
    assert_eq!(outcome.calls, ["wait", "Add"]);
}

#[test]
fn a_call_that_is_taken_back_is_not_made() {
    let outcome = session(|client| {
        client.initialize("2025-11-25");
        let slow = client.send_request("tools/call", json!({"name": "wait"}));
        client.started.recv_timeout(Duration::from_mins(2)).unwrap();
        let next = client.send_request("tools/call", json!({"name": "Add"}));
        let cancel = json!({"requestId": next, "reason": "never mind"});
        client.send_message(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel}),
        );
        client.request_result("ping", json!({}));
        client.go.send(()).unwrap();
        assert_eq!(client.receive_message()["id"], slow);
        client.request_result("ping", json!({}));
    });
    assert_eq!(outcome.calls, ["wait"]);
}

#[test]
fn a_client_that_leaves_ends_it() {
    let outcome = session(|_| {});
    assert!(matches!(outcome.served, Ok(Served::Closed)), "{:?}", outcome.served);
    let outcome =
        session(|client| client.send_message(&json!({"jsonrpc": "2.0", "method": "nonsense"})));
    assert!(matches!(outcome.served, Err(ServeError::Protocol(_))), "{:?}", outcome.served);
}

#[test]
fn what_is_no_json_gets_an_error() {
    session(|client| {
        client.send_bytes(b"hello?\n\n\xff\xfe{\n");
        for _ in 0..2 {
            let answer = client.receive_message();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32700), &Json::Null));
        }
        client.initialize("2025-11-25");
        let answer = client.request_answer("resources/read", json!({"uri": "file:///etc/passwd"}));
        assert_eq!(answer["error"]["code"], -32601);
    });
}

#[test]
fn an_interruption_ends_it() {
    let interruption = Interruption::default();
    let raised = interruption.clone();
    let outcome = session_until(&interruption, move |client| {
        client.initialize("2025-11-25");
        raised.raise();
        let end = client.read_line(&mut String::new());
        assert_eq!(end, 0);
    });
    assert!(matches!(outcome.served, Ok(Served::Interrupted)), "{:?}", outcome.served);
}
