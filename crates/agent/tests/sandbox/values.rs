//! Values that a tool may return or throw.

use std::time::Duration;

use brief_agent::sandbox::Limits;
use serde_json::json;

use super::{call, failure, load, load_with, nothing, short, tool, tools};

#[test]
fn results_are_json() {
    for (function, result) in [
        ("() => {}", json!(null)),
        ("async () => undefined", json!(null)),
        ("() => NaN", json!(null)),
        ("() => [NaN, Infinity, -0, undefined, () => 1]", json!([null, null, 0, null, null])),
        ("() => ({ a: undefined, b: null })", json!({"b": null})),
        ("() => new Date(0)", json!("1970-01-01T00:00:00.000Z")),
        ("() => 'ä\\u0000\\u{1F600}'", json!("ä\u{0}\u{1F600}")),
        ("() => new Map([[1, 2]])", json!({})),
        ("() => 9007199254740993", json!(9_007_199_254_740_992_u64)),
        ("() => ({ toJSON: () => 'mine' })", json!("mine")),
        ("() => ({ then: (resolve) => resolve('late') })", json!("late")),
        ("async () => { await null; return await new Promise(r => r(7)) }", json!(7)),
        ("() => Object.create(null)", json!({})),
        ("() => new Proxy({ a: 1 }, {})", json!({"a": 1})),
        ("() => ({ get a() { return 1 } })", json!({"a": 1})),
    ] {
        assert_eq!(call(function).unwrap(), result, "{function}");
    }
}

#[test]
fn what_is_no_json_is_refused() {
    for (function, part) in [
        ("() => { const a = {}; a.a = a; return a }", "circular"),
        ("() => 1n", "BigInt"),
        ("() => () => 1", "function"),
        ("() => Symbol('x')", "symbol"),
        ("() => ({ toJSON() { throw new Error('mine') } })", "mine"),
        ("() => ({ get a() { throw new Error('getter') } })", "getter"),
        ("() => '\\ud800'", "not JSON"),
    ] {
        let text = failure(function);
        assert!(text.starts_with("tool `t`: "), "{function}: {text}");
        assert!(text.contains("JSON") && text.contains(part), "{function}: {text}");
    }
}

#[test]
fn a_result_has_a_size() {
    let text = failure("() => 'x'.repeat(2 ** 21)");
    assert_eq!(text, "tool `t`: its result has 2097154 bytes, more than 1048576");
    let text = failure("() => { let a = []; for (let i = 0; i < 500; i++) a = [a]; return a }");
    assert!(text.contains("the result is not JSON that can be used"), "{text}");
}

#[test]
fn what_is_thrown_is_told() {
    for (function, message) in [
        ("() => { throw new Error('no luck') }", "no luck (line 1 of the tools)"),
        ("async () => { throw new TypeError('no') }", "TypeError: no (line 1 of the tools)"),
        ("() => Promise.reject('text')", "text"),
        ("() => { throw { code: 1 } }", "{\"code\":1}"),
        ("() => { throw undefined }", "undefined"),
        ("() => { throw new Error() }", "Error (line 1 of the tools)"),
        ("() => { const e = new Error('m'); e.name = ''; e.stack = ''; throw e }", "m"),
        (
            "() => { const e = new Error(''); e.stack = ''; Object.defineProperty(e, 'name', \
             { get() { throw 1 } }); throw e }",
            "an error without a message",
        ),
        ("() => { throw () => 1 }", "function"),
    ] {
        assert_eq!(failure(function), message, "{function}");
    }
    assert!(failure("() => { throw null }").starts_with("null"));
    assert!(failure("() => { throw new Error('x'.repeat(100000)) }").len() < 5_000);
    assert!(failure("() => nothing.at.all").contains("ReferenceError"));
}

/// A failed tool does not affect the others.
#[test]
fn the_next_call_works() {
    let mut tools = load(&tools(&[
        ("bad", "() => { throw new Error('no luck') }"),
        ("lost", "() => { Promise.reject(new Error('nobody waits')); return 1 }"),
        ("caught", "() => { Promise.reject(1).catch(() => {}); return 2 }"),
        ("open", "() => new Promise(() => {})"),
        ("good", "() => 3"),
    ]))
    .unwrap();
    let mut call = |name: &str| tools.call_tool(name, &json!({}), &json!({}));
    for _ in 0..2 {
        assert!(call("bad").is_err());
        let lost = call("lost").unwrap_err().to_string();
        assert!(lost.contains("unhandled promise rejection: nobody waits"), "{lost}");
        assert_eq!(call("caught").unwrap(), json!(2));
        let open = call("open").unwrap_err().to_string();
        assert!(open.contains("its promise can never resolve"), "{open}");
        assert_eq!(call("good").unwrap(), json!(3));
    }
}

#[test]
fn the_log_is_kept_and_bounded() {
    // A debug build needs more than the usual time for a hundred thousand lines.
    let limits = Limits { cpu: Duration::from_secs(5), ..short() };
    let code = tool(
        "() => { console.log('a', 1, { b: [2] }, new Error('e')); console.warn(); \
         for (let i = 0; i < 100000; i++) console.log('x'.repeat(100)); return 1 }",
    );
    let mut tools = load_with(&code, limits, nothing()).unwrap();
    assert_eq!(tools.call_tool("t", &json!({}), &json!({})).unwrap(), json!(1));
    let log = &tools.last_call().log;
    assert_eq!((log[0].level.as_str(), log[0].text.as_str()), ("log", "a 1 {\"b\":[2]} Error: e"));
    assert_eq!((log[1].level.as_str(), log[1].text.as_str()), ("warn", ""));
    let bytes: usize = log.iter().map(|line| line.text.len()).sum();
    assert!((45_000..70_000).contains(&bytes), "{bytes}");
    assert!(log.last().unwrap().text.ends_with("[truncated]"));
}
