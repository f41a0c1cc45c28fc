//! Hostile tools: each ends within its limit, with a message, and the program survives.

use std::time::Duration;

use brief_agent::sandbox::{Landlock, Limits};
use brief_agent::{CallError, ToolsError};
use serde_json::json;

use super::endings::load_patiently;
use super::{call, failure, load, load_with, nothing, short, tool, tools};

#[test]
fn what_computes_for_ever_is_stopped() {
    for function in [
        "() => { while (true) {} }",
        "() => { try { while (true) {} } catch { return 'caught' } finally { while (true) {} } }",
        "() => { for (;;) { try { while (true) {} } catch {} } }",
        "() => /(a+)+$/.test('a'.repeat(60) + 'b')",
        "() => new Array(1e6).fill(0).sort(() => { while (true) {} })",
        "() => ({ toJSON() { while (true) {} } })",
        "() => ({ get a() { while (true) {} } })",
        "() => { throw { toJSON() { while (true) {} } } }",
        "() => ({ get then() { while (true) {} } })",
        "async () => { for (;;) await null }",
        "() => [...(function* () { for (;;) yield 1 })()].length && 1",
        "() => { const f = () => f(); for (;;) { try { f() } catch {} } }",
    ] {
        let text = failure(function);
        // A generator may also exhaust the memory first.
        let is_clear = text.contains("used more than 0.2 s of CPU time and was stopped")
            || text.contains("bytes of memory");
        assert!(is_clear, "{function}: {text}");
    }
}

/// A stopped call leaves nothing behind: the next one works.
#[test]
fn a_loop_that_was_stopped_does_not_end_the_tools() {
    let mut tools = load(&tools(&[("t", "() => { while (true) {} }"), ("u", "() => 1")])).unwrap();
    assert!(tools.call_tool("t", &json!({}), &json!({})).is_err());
    assert_eq!(tools.call_tool("u", &json!({}), &json!({})).unwrap(), json!(1));
}

/// Jobs that would run in the next call, on its budget, end the tools.
#[test]
fn jobs_that_never_end_do_not_run_on() {
    let mut tools = load(&tools(&[
        ("t", "() => { const f = async () => { for (;;) await null }; f(); f(); return 1 }"),
        ("u", "() => 1"),
    ]))
    .unwrap();
    let text = tools.call_tool("t", &json!({}), &json!({})).unwrap_err().to_string();
    assert!(text.contains("was stopped"), "{text}");
    let next = tools.call_tool("u", &json!({}), &json!({})).unwrap_err();
    assert!(matches!(next, CallError::Ended(_)), "{next}");
}

/// The engine cannot be interrupted inside its own functions: the whole worker is ended.
#[test]
fn a_search_that_cannot_be_interrupted_ends_the_worker() {
    // The processor time never comes first.
    let limits = Limits {
        wall: Duration::from_secs(3),
        cpu: Duration::from_mins(10),
        memory: 64 << 20,
        ..short()
    };
    let code = tools(&[
        ("t", "() => 'a'.repeat(2 ** 23).indexOf('a'.repeat(2 ** 13) + 'b')"),
        ("u", "() => 1"),
    ]);
    let mut tools = load_patiently(&code, limits);
    let text = tools.call_tool("t", &json!({}), &json!({})).unwrap_err().to_string();
    assert_eq!(text, "the tools have stopped: execution took longer than 3 s");
    assert_eq!(tools.call_tool("u", &json!({}), &json!({})).unwrap_err().to_string(), text);
}

/// If the parent does not end the worker, the system does.
#[test]
fn the_system_ends_what_computes_too_long() {
    let limits = Limits { memory: 64 << 20, ..short() };
    let code = tool("() => 'a'.repeat(2 ** 22).indexOf('a'.repeat(2 ** 11) + 'b')");
    let mut tools = load_with(&code, limits, nothing()).unwrap();
    let text = tools.call_tool("t", &json!({}), &json!({})).unwrap_err().to_string();
    assert_eq!(text, "the tools have stopped: execution used more than 0.2 s of CPU time");
}

#[test]
fn memory_has_an_end() {
    for function in [
        "() => new ArrayBuffer(2 ** 30).byteLength",
        "() => 'x'.repeat(2 ** 29).length",
        "() => { const a = []; for (;;) a.push(new Array(1000).fill(1)) }",
        "() => { let s = 'x'; for (;;) s = s + s }",
        "() => { const a = []; for (let i = 0; ; i++) a.push({ i }) }",
    ] {
        let text = failure(function);
        let is_clear = text.contains("used more than 16777216 bytes of memory")
            || text.contains("RangeError")
            || text.contains("string too long")
            || text.contains("was stopped")
            || text.starts_with("null (possibly");
        assert!(is_clear, "{function}: {text}");
    }
    let mut tools =
        load(&tools(&[("t", "() => new ArrayBuffer(2 ** 30)"), ("u", "() => 1")])).unwrap();
    assert!(tools.call_tool("t", &json!({}), &json!({})).is_err());
    assert_eq!(tools.call_tool("u", &json!({}), &json!({})).unwrap(), json!(1));
}

#[test]
fn the_stack_has_an_end() {
    let deep = "[".repeat(100_000);
    let text = load(&format!("return {deep}")).unwrap_err().to_string();
    assert!(text.contains("stack") || text.contains("JavaScript"), "{text}");
    for function in [
        "() => { const f = () => f() + 1; return f() }",
        "() => JSON.parse('['.repeat(100000))",
        "() => { let a = []; for (let i = 0; i < 100000; i++) a = [a]; return a }",
        "() => { let a = {}; for (let i = 0; i < 100000; i++) a = { a }; return JSON.stringify(a) }",
        "() => new RegExp('('.repeat(100000))",
    ] {
        let text = failure(function);
        assert!(!text.contains("the tools have stopped"), "{function}: {text}");
    }
}

/// Changes that a call makes to built-ins reach neither the program nor its list of tools.
#[test]
fn replaced_functions_are_nobody_elses() {
    let mut tools = load(&tools(&[
        (
            "spoil",
            "() => { Object.prototype.ok = false; Object.prototype.toJSON = () => 'spoiled'; \
             Array.prototype.map = Array.prototype.push = Array.prototype[Symbol.iterator] = () => { throw 1 }; \
             JSON.stringify = JSON.parse = () => { throw 1 }; Promise = undefined; \
             Function.prototype.call = () => { throw 1 }; globalThis.console = null; \
             String = Object = Error = undefined; return 1 }",
        ),
        ("clean", "() => { delete ({}).__proto__.toJSON; return 1 }"),
        ("t", "async (args) => [args.n, await 2]"),
        ("fs", "async (args, ctx, host) => host.fs.readText('x')"),
    ]))
    .unwrap();
    let mut call = |name: &str| tools.call_tool(name, &json!({"n": 1}), &json!({}));
    let _ = call("spoil");
    assert_eq!(call("clean").unwrap(), json!(1));
    assert_eq!(call("t").unwrap(), json!([1, 2]));
    let denied = call("fs").unwrap_err().to_string();
    assert!(denied.starts_with("AbilityDenied: "), "{denied}");
}

#[test]
fn a_prototype_is_data() {
    for (function, result) in [
        ("(args) => { Object.prototype.x = 1; return args.x === 1 }", json!(true)),
        ("() => ({}).x ?? null", json!(null)),
        (
            "() => { const o = JSON.parse('{\"__proto__\": {\"y\": 1}}'); return o.y ?? null }",
            json!(null),
        ),
        ("() => ({ ['__proto__']: { ok: false } })", json!({"__proto__": {"ok": false}})),
        ("() => Function('return this')() === globalThis", json!(true)),
        ("() => (0, eval)('1 + 1')", json!(2)),
        ("() => [].constructor.constructor('return typeof process')()", json!("undefined")),
    ] {
        assert_eq!(call(function).unwrap(), result, "{function}");
    }
    let mut polluted = load(&tools(&[
        ("a", "() => { Object.prototype.injected = 1 }"),
        ("b", "(args) => Object.keys(args)"),
    ]))
    .unwrap();
    polluted.call_tool("a", &json!({}), &json!({})).unwrap();
    assert_eq!(polluted.call_tool("b", &json!({"k": 1}), &json!({})).unwrap(), json!(["k"]));
}

#[test]
fn nothing_can_be_imported() {
    for function in
        ["() => import('fs')", "async () => await import('/etc/passwd')", "() => import('data:,1')"]
    {
        let text = failure(function);
        assert!(!text.contains("the tools have stopped"), "{function}: {text}");
    }
    assert!(load("import fs from 'fs'; return {};").is_err());
}

/// The object of tools may be anything, even a proxy.
#[test]
fn the_returned_object_may_be_a_trap() {
    for code in [
        "return { get t() { while (true) {} } };",
        "return new Proxy({}, { ownKeys() { while (true) {} } });",
        "return { t: { get fn() { while (true) {} } } };",
        "return { t: { fn() {}, scheme: { toJSON() { while (true) {} } } } };",
        "while (true) {}",
        "await new Promise(() => {}); return {};",
        "return { get t() { throw new Error('trap') } };",
        "const a = []; for (;;) a.push('x'.repeat(1000));",
        "return Object.fromEntries(Array.from({ length: 5000 }, (_, i) => ['t' + i, { fn() {}, scheme: {} }]));",
    ] {
        let error = load(code).unwrap_err();
        let is_clear = matches!(
            error,
            ToolsError::Failed { .. } | ToolsError::TooMany | ToolsError::Shape { .. }
        );
        assert!(is_clear, "{code}: {error}");
    }
    let changing = "let n = 0; return { t: { get fn() { n++; return () => n }, \
                    scheme: { name: 't', description: 'd', parameters: {} } } };";
    let mut tools = load(changing).unwrap();
    assert_eq!(tools.call_tool("t", &json!({}), &json!({})).unwrap(), json!(1));
}

#[test]
fn large_messages_are_refused_on_the_way() {
    let text = failure("async (a, c, host) => host.fs.writeText('x', 'y'.repeat(12 << 20))");
    assert!(text.contains("too large") || text.contains("memory"), "{text}");
    let code = format!("return {{}};//{}", "x".repeat(2 << 20));
    let error = load(&code).unwrap_err();
    assert!(matches!(error, ToolsError::TooLarge(_)), "{error}");
}

/// A tool that only sends requests is stopped, too.
#[test]
fn questions_are_counted() {
    let limits = Limits { requests: 10, cpu: Duration::from_secs(2), ..short() };
    let code = tool(
        "async (a, c, host) => { let n = 0, last; for (;;) { try { n++; host.env('X') } \
         catch (e) { if (e.name === 'RangeError') return [n, e.message] } } }",
    );
    let mut tools = load_with(&code, limits, nothing()).unwrap();
    let result = tools.call_tool("t", &json!({}), &json!({})).unwrap();
    assert_eq!(result, json!([11, "one call can make at most 10 requests"]));
}

/// The worker has no environment, no descriptors, and the kernel's fences where they exist.
#[cfg(target_os = "linux")]
#[test]
fn the_worker_has_given_everything_up() {
    let tools = load(&tool("() => 1")).unwrap();
    let proc = |name: &str| std::path::PathBuf::from(format!("/proc/{}/{name}", tools.worker_id()));
    let read = |name: &str| {
        let system = super::system();
        String::from_utf8_lossy(&system.read(&proc(name), 1 << 20).unwrap()).into_owned()
    };
    assert_eq!(read("environ"), "");
    let open = super::system().open_dir(&proc("fd")).unwrap().entries().unwrap();
    let mut open: Vec<_> = open.into_iter().map(|entry| entry.name).collect();
    open.sort();
    assert_eq!(open, ["0", "1", "2"]);
    let status = read("status");
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    assert!(status.contains("Seccomp:\t2"), "{status}");
    assert!(tools.fences().seccomp && tools.fences().landlock != Landlock::Missing);
    let limits = read("limits");
    assert!(limits.contains("Max open files            3                    3"), "{limits}");
}
