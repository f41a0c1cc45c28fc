//! Tools that do not end by themselves: signals, a client that leaves, and one that takes its call back.

use std::path::Path;

use brief_testkit::{Lifeline, McpProcess, Sandbox, wait_for, wait_until};
use serde_json::{Value, json};

use crate::project;

const AGENT: &str = "# T\n\nd\n\n## Tools\n\n```js\nconst scheme = (name) => ({ name, description: 'd', \
    parameters: { type: 'object' } });\nreturn {\n  loop: { fn() { for (;;) {} }, scheme: scheme('loop') },\n  \
    native: { fn: () => 'a'.repeat(1 << 22).indexOf('a'.repeat(1 << 11) + 'b'), scheme: scheme('native') },\n  \
    sleep: { fn: (a, c, host) => host.exec('sleep', ['600']), scheme: scheme('sleep') },\n  \
    one: { fn: () => 1, scheme: scheme('one') },\n};\n```\n";

fn agent() -> Sandbox {
    project().with_file("agents/dev_t.agent.md", AGENT)
}

/// Serves the agent with some more options.
fn start(project: &Sandbox, options: &[&str]) -> McpProcess {
    let mut args = vec!["serve", "agents/dev_t.agent.md"];
    args.extend(options);
    McpProcess::start(project, &args)
}

/// Waits until the worker of a server computes, and returns its number.
fn busy_worker(server: &McpProcess) -> u32 {
    wait_for("a worker computes", || children(server.id()).into_iter().find(|id| ticks(*id) > 10))
}

/// Fields of `/proc/ID/stat` behind the name of the program.
fn stat(id: u32) -> Vec<String> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let after = text.rsplit_once(')').map_or("", |(_, after)| after);
    after.split_whitespace().map(str::to_owned).collect()
}

fn children(parent: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    all.filter(|id| stat(*id).get(1) == Some(&parent.to_string())).collect()
}

/// Hundredths of a second that a process has computed.
fn ticks(id: u32) -> u64 {
    stat(id).get(11).and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

fn is_gone(id: u32) -> bool {
    let state = stat(id);
    state.is_empty() || state[0] == "Z" || !Path::new(&format!("/proc/{id}")).exists()
}

/// X11: SIGTERM, SIGINT and the end of standard input end a looping tool, its worker and the server.
#[test]
fn x11_signals_and_eof_end_a_looping_tool() {
    let project = agent();
    for tool in ["loop", "native"] {
        for end in ["TERM", "INT", "eof"] {
            let mut server = start(&project, &[]);
            server.send_tool_call(1, tool);
            let worker = busy_worker(&server);
            match end {
                "eof" => server.close_input(),
                signal => server.send_signal(signal),
            }
            server.await_end(&format!("{tool} {end}"));
            wait_until(&format!("the worker ends, {tool} {end}"), || is_gone(worker));
        }
    }
}

/// X11: a call that the client takes back ends, and the next one is answered.
#[test]
fn x11_a_cancelled_call_ends_and_the_next_works() {
    let mut server = start(&agent(), &[]);
    for (id, tool) in [(10, "loop"), (20, "native")] {
        server.send_tool_call(id, tool);
        let worker = busy_worker(&server);
        let params = json!({"requestId": id});
        server.send_message(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        );
        wait_until(&format!("the worker ends, {tool}"), || is_gone(worker));
        let answer =
            server.request_answer(id + 1, "tools/call", &json!({"name": "one", "arguments": {}}));
        assert_eq!(answer["result"]["content"][0]["text"], "1", "{answer}");
    }
}

/// A tool that writes `ready` when the granted program, and what that started, are on their way.
const HOLDING: &str = "# T\n\nd\n\n## Tools\n\n```js\nreturn { hold: { fn: (a, c, host) => host.exec('sh', ['-c', \
    'exec 3>alive; sleep 600 & echo > ready; sleep 600; true']), \
    scheme: { name: 'hold', description: 'd', parameters: { type: 'object' } } } };\n```\n";

/// A05: a granted program ends with `brief`, and so does what it has started, whichever signal ends `brief`.
#[test]
fn a05_a_granted_program_ends_with_a_killed_brief() {
    for signal in ["KILL", "TERM", "INT"] {
        for serves in [false, true] {
            let agent = format!("---\nallow: [tool, sh]\n---\n{HOLDING}");
            let project = project().with_file("agents/dev_t.agent.md", agent);
            let lifeline = Lifeline::create(&project.path().join("alive"));
            let server = if serves {
                let mut server = start(&project, &["--grant", "sh"]);
                server.send_tool_call(5, "hold");
                server
            } else {
                let args = ["debug", "call", "agents/dev_t.agent.md", "hold", "--grant", "sh"];
                let child = project.prepare_command("", &args).spawn().unwrap();
                McpProcess::from_child(child)
            };
            let ready = project.path().join("ready");
            wait_until("the program runs", || ready.exists());
            server.send_signal(signal);
            lifeline.wait_for_end();
        }
    }
}

/// X11: a program that a tool has started ends with the call, too.
#[test]
fn x11_a_cancelled_call_ends_its_programs() {
    let project = agent();
    project.write("agents/dev_t.agent.md", format!("---\nallow: [tool, sh]\n---\n{AGENT}"));
    let mut server = start(&project, &["--grant", "sh"]);
    server.send_tool_call(5, "sleep");
    let id = server.id();
    let asleep = || {
        let is_sleep = |id: &u32| {
            std::fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name == "sleep\n")
        };
        // Its keeper is between them.
        children(id).into_iter().flat_map(children).find(is_sleep)
    };
    let program = wait_for("the program starts", asleep);
    let params = json!({"requestId": 5});
    server.send_message(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
    );
    wait_until("the program ends", || is_gone(program));
}

/// X11: a worker whose server is killed ends by itself.
#[test]
fn x11_a_worker_ends_with_a_killed_server() {
    for tool in ["loop", "native"] {
        let mut server = start(&agent(), &[]);
        server.send_tool_call(1, tool);
        let worker = busy_worker(&server);
        server.send_signal("KILL");
        server.wait();
        wait_until(&format!("the worker ends, {tool}"), || is_gone(worker));
    }
}

/// X11: `agent call` is ended by signals, and says so.
#[test]
fn x11_agent_call_is_ended_by_signals() {
    let project = agent();
    for signal in ["TERM", "INT"] {
        let args = ["debug", "call", "agents/dev_t.agent.md", "loop"];
        let child = project.prepare_command("", &args).spawn().unwrap();
        let mut server = McpProcess::from_child(child);
        let worker = busy_worker(&server);
        server.send_signal(signal);
        server.await_end(signal);
        wait_until(&format!("the worker ends, {signal}"), || is_gone(worker));
        let status = server.wait();
        assert_eq!(status.code(), Some(130), "{signal}");
    }
}

/// X11, MCP-001: what is no message gets an error of JSON-RPC, and the server goes on.
#[test]
fn x11_what_is_no_message_gets_an_error() {
    let mut server = start(&agent(), &[]);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_params = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x\",\"params\":{}1{}}}",
        "{\"a\":".repeat(5_000),
        "}".repeat(5_000)
    );
    let large = format!("{{\"jsonrpc\":\"2.0\",\"id\":8,\"x\":\"{}\"}}", "x".repeat(17 << 20));
    for (line, code) in [
        (&b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{{{{"[..], -32700),
        (b"hello", -32700),
        (b"{\"jsonrpc\":\"2.0\"", -32700),
        (b"\xff\xfe\x00", -32700),
        (deep.as_bytes(), -32700),
        (deep_params.as_bytes(), -32700),
        (large.as_bytes(), -32600),
        (b"[]", -32600),
        (b"42", -32600),
        (b"{}", -32600),
        (b"{\"id\":3}", -32600),
    ] {
        server.send_line(line);
        let answer = server.receive_message();
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
        assert_eq!(answer["jsonrpc"], "2.0", "{shown}: {answer}");
    }
    let unknown =
        server.request_answer(30, "resources/read", &json!({"uri": "file:///etc/passwd"}));
    assert!(
        unknown["error"]["code"].is_number() && !unknown.to_string().contains("root:"),
        "{unknown}"
    );
    let answer = server.request_answer(31, "tools/call", &json!({"name": "one", "arguments": {}}));
    assert_eq!(answer["result"]["content"][0]["text"], "1", "{answer}");
}

/// MCP-001, MCP-003: before a handshake, and without a line break at the end.
#[test]
fn x11_a_first_line_that_is_no_message_gets_an_error() {
    let project = agent();
    for input in [
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{{{{",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"file:///etc/passwd\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
    ] {
        let output = project.spawn_with_input(&["serve", "agents/dev_t.agent.md"], input);
        let answer: Value = serde_json::from_str(output.stdout.trim()).unwrap();
        assert!(answer["error"]["code"].is_number(), "{input}: {output}");
        assert!(!output.stdout.contains("root:"), "{output}");
        assert_eq!(output.code, Some(0), "{output}");
    }
}

/// A client that answers with nothing but nonsense is left in the end.
#[test]
fn x11_nonsense_without_end_is_left() {
    let mut server = start(&agent(), &[]);
    for _ in 0..100 {
        server.send_line(b"nonsense");
    }
    server.await_end("after nonsense");
}

/// JSS-001: an operator names the deadline of a call.
#[test]
fn a_time_limit_ends_a_call() {
    let project = agent();
    let args = ["debug", "call", "agents/dev_t.agent.md", "native", "--time-limit", "0.5"];
    let output = project.run(&args);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("execution took longer than 0.5 s"), "{output}");
    for wrong in ["0", "-1", "61", "nan"] {
        let limit = format!("--time-limit={wrong}");
        let output = project.run(&["debug", "call", "agents/dev_t.agent.md", "one", &limit]);
        assert_eq!(output.code, Some(2), "{wrong}: {output}");
    }
}
