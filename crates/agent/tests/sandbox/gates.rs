//! The startup gate (Y32, Y33).

use brief_agent::gates::{check_startup, run_startup};
use serde_json::json;

use super::{load, tool};

fn outcome(function: &str) -> Result<serde_json::Value, String> {
    let mut tools = load(&tool(function)).unwrap();
    run_startup(&mut tools, "T", &json!({"input": "hello"})).map_err(|error| error.to_string())
}

#[test]
fn what_opens_the_gate() {
    for (function, result) in [
        ("() => true", json!(true)),
        ("() => {}", json!(null)),
        ("async (args, ctx) => [args, ctx.input]", json!([{}, "hello"])),
        ("() => ({ ok: true })", json!({"ok": true})),
        ("() => 0", json!(0)),
        ("() => 'false'", json!("false")),
        ("() => ({ ok: 0 })", json!({"ok": 0})),
    ] {
        assert_eq!(outcome(function).unwrap(), result, "{function}");
    }
}

#[test]
fn what_keeps_it_shut() {
    for (function, message) in [
        ("() => false", "the startup tool `t` refused: false"),
        (
            "async () => ({ ok: false, message: 'no' })",
            "refused: {\"ok\":false,\"message\":\"no\"}",
        ),
        ("() => { throw new Error('db down') }", "the startup tool `t` failed: db down"),
        ("() => Promise.reject(new Error('db down'))", "db down"),
        ("() => new Promise(() => {})", "its promise can never resolve"),
        ("() => { while (true) {} }", "of CPU time"),
        ("() => new ArrayBuffer(2 ** 30)", "failed"),
        ("async (a, c, host) => host.fs.readText('x')", "ability 'fs' is not granted"),
        (
            "async (a, c, host) => { try { await host.fetch('https://example.com') } catch {} return true }",
            "asked for `network`, which is not granted",
        ),
    ] {
        let error = outcome(function).unwrap_err();
        assert!(error.contains(message), "{function}: {error}");
    }
}

#[test]
fn a_startup_tool_is_there_and_needs_nothing() {
    let tools = load(
        "return { t: { fn() {}, scheme: { name: 't', description: 'd', \
         parameters: { type: 'object', required: ['x'] } } } };",
    )
    .unwrap();
    let error = check_startup(&tools, "t").unwrap_err().to_string();
    assert_eq!(error, "the startup tool `t` requires `x`, but is called without arguments");
    assert_eq!(check_startup(&tools, "u").unwrap_err().to_string(), "unknown startup tool `u`");
}
