//! Fake workers: whatever one sends or withholds, the parent ends it with a reason.

use std::time::Duration;

use brief_agent::sandbox::{Limits, MissingFence, WorkerProgram};
use brief_agent::{CallError, ToolBox, ToolsError};
use brief_system::{Call, Ending, Stream};
use brief_testkit::{PATIENCE, wait_for};
use serde_json::{Value, json};

use super::{nothing, short, system, worker};

/// A shell that acts as the worker.
fn shell(script: &str) -> WorkerProgram {
    WorkerProgram {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        missing_fence: MissingFence::Refuse,
    }
}

/// Returns a message in the form of `printf`.
fn message(value: &Value) -> String {
    raw(&value.to_string())
}

fn raw(text: &str) -> String {
    let length = u32::try_from(text.len()).unwrap().to_be_bytes();
    let mut command = "printf '".to_owned();
    for byte in length.into_iter().chain(text.bytes()) {
        command.push_str(&format!("\\{byte:03o}"));
    }
    command + "'"
}

fn ready() -> String {
    let scheme = json!({"name": "t", "description": "d", "parameters": {}});
    let tool = json!({"key": "t", "has_function": true, "scheme": scheme, "fields": []});
    message(
        &json!({"ready": {"returned": [tool], "fences": {"landlock": "full", "seccomp": true}}}),
    )
}

/// A second for a worker that says nothing; others end by themselves.
fn limits(script: &str) -> Limits {
    let is_silent = script.contains("sleep");
    let wall = if is_silent { Duration::from_secs(1) } else { PATIENCE };
    Limits { wall, cpu: Duration::from_secs(1), ..short() }
}

fn load(script: &str) -> Result<ToolBox, ToolsError> {
    // It reads the order first, so that the parent does not write to a closed pipe.
    let script = format!("head -c 4 >/dev/null; {script}");
    ToolBox::load(system(), &shell(&script), "return {};", limits(&script), nothing())
}

#[test]
fn what_does_not_become_ready() {
    for (script, words) in [
        ("exit 3".to_owned(), "the worker ended with status 3"),
        ("kill -9 $$".to_owned(), "the system killed the worker"),
        ("sleep 60".to_owned(), "execution took longer than 1 s"),
        ("printf '\\377\\377\\377\\377'".to_owned(), "a message of 4294967295 bytes"),
        (raw("not JSON"), "sent an invalid message"),
        (raw("{\"nobody\": 1}"), "sent an invalid message"),
        (raw("{\"done\": {\"value\": 1}}"), "sent an invalid message"),
        (raw(&"[".repeat(20_000)), "sent an invalid message"),
        ("printf '\\000\\000\\001\\000half'".to_owned(), "the worker ended with status 0"),
        ("printf '\\000\\000\\001\\000half'; sleep 60".to_owned(), "longer than 1 s"),
        ("yes".to_owned(), "bytes"),
    ] {
        let error = load(&script).unwrap_err().to_string();
        assert!(error.contains(words), "{script}: {error}");
    }
    let nobody = WorkerProgram { program: "/no/such/program".into(), ..worker() };
    let error = ToolBox::load(system(), &nobody, "", limits(""), nothing()).unwrap_err();
    assert!(error.to_string().contains("cannot start the worker"), "{error}");
}

#[test]
fn what_does_not_answer_a_call() {
    let log = message(&json!({"log": {"level": "log", "text": "x".repeat(1_000)}}));
    let ask = message(&json!({"ask": {"ability": "no", "call": "such", "args": []}}));
    let spent = message(&json!("spent"));
    for (script, words) in [
        ("exit 0".to_owned(), "the worker ended with status 0"),
        ("sleep 60".to_owned(), "longer than 1 s"),
        (format!("while :; do {log}; done"), "exceeded its limit for the log"),
        (format!("{ask}; exit 9"), "status 9"),
        (ready(), "sent an invalid message"),
        // The second worker fails in the same way.
        (spent.clone(), "sent an invalid message"),
        (format!("{log}; {spent}"), "sent an invalid message"),
        (raw("{\"failed\": {}}"), "sent an invalid message"),
    ] {
        let script = format!("{}; head -c 4 >/dev/null; {script}", ready());
        let mut tools = wait_for("the worker becomes ready", || load(&script).ok());
        let error = tools.call_tool("t", &json!({}), &json!({})).unwrap_err();
        assert!(matches!(error, CallError::Ended(_)), "{script}: {error}");
        // A shell that ends during our write looks like any other end.
        let text = error.to_string();
        assert!(text.contains(words) || text.contains("the worker ended"), "{script}: {text}");
    }
}

/// A worker that reads nothing cannot block its parent.
#[test]
fn arguments_that_nobody_reads_do_not_hold_us() {
    let script = format!("{}; sleep 60", ready());
    let mut tools = wait_for("the worker becomes ready", || load(&script).ok());
    let error = tools.call_tool("t", &json!({"a": "x".repeat(1 << 20)}), &json!({})).unwrap_err();
    assert!(error.to_string().contains("longer than 1 s"), "{error}");
    let large = json!({"a": "x".repeat(20 << 20)});
    let mut tools = super::load(&super::tool("() => 1")).unwrap();
    let error = tools.call_tool("t", &large, &json!({})).unwrap_err().to_string();
    assert_eq!(error, "tool `t`: the arguments are too large");
    assert_eq!(tools.call_tool("t", &json!({}), &json!({})).unwrap(), json!(1));
}

/// The worker ends with its parent, and sends nothing to a parent that has ended.
#[test]
fn a_worker_ends_with_its_parent() {
    let load = json!({"code": "return {};", "missing_fence": "refuse", "limits": limits("")});
    let load = json!({"load": load}).to_string();
    let mut order = u32::try_from(load.len()).unwrap().to_be_bytes().to_vec();
    order.extend_from_slice(load.as_bytes());
    for (input, ending, says) in [
        (order.clone(), Ending::Exited(0), true),
        (order[..order.len() - 3].to_vec(), Ending::Exited(1), false),
        (b"hello there".to_vec(), Ending::Exited(1), false),
        (Vec::new(), Ending::Exited(1), false),
    ] {
        let mut call = Call::new(worker().program, "/", PATIENCE, 1 << 20);
        call.input = input;
        let mut output = Vec::new();
        let ended = system().run_program(&call, &mut |stream, piece| {
            assert_eq!(stream, Stream::Stdout);
            output.extend_from_slice(piece);
        });
        assert_eq!(ended.unwrap(), ending);
        assert_eq!(!output.is_empty(), says);
    }
}
