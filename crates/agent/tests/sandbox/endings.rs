//! S9, X11: everything that a tool can do ends by its deadline, and immediately after an interruption.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use brief_agent::sandbox::Limits;
use brief_system::Interruption;
use brief_testkit::{PATIENCE, wait_for, wait_until};
use serde_json::json;

use super::{load_with, nothing, tool, tools};

/// The deadline of each script.
const DEADLINE: Duration = Duration::from_millis(250);

/// The processor time of a worker in hundredths of a second: its start, the deadline, and 250 ms. A busy machine does not
/// change it.
const MOST_TICKS: u64 = 100;

/// The memory limit of a worker in all, in KiB.
const MOST_KIB: u64 = 160 * 1024;

/// Hostile functions, by class. Each may end in any way, in time.
const SCRIPTS: [&str; 82] = [
    // Loops.
    "() => { while (true) {} }",
    "() => { for (;;) {} }",
    "() => { do {} while (1) }",
    "() => { for (let i = 0; i > -1; i++) {} }",
    "() => { l: for (;;) { continue l } }",
    "() => { for (;;) { try { throw 1 } catch {} } }",
    "() => { try { for (;;) {} } finally { for (;;) {} } }",
    "() => { for (const x of { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }) {} }",
    "() => { const f = () => { for (;;) {} }; return [1].map(f) }",
    "() => [3, 1, 2].sort(() => { for (;;) {} })",
    // Regular expressions.
    "() => /^(a+)+$/.test('a'.repeat(40) + '!')",
    "() => /(a|a)*b/.test('a'.repeat(40))",
    "() => /(.*)*x/.exec('y'.repeat(50))",
    "() => 'a'.repeat(50000).replace(/(a*)*b/g, '')",
    "() => /((a?){30})*b/.test('a'.repeat(60))",
    "() => new RegExp('(' + 'a?'.repeat(30) + ')' + 'a'.repeat(30)).test('a'.repeat(30) + 'b')",
    "() => 'x'.repeat(1e6).split(/(?:)/u).length",
    "() => { for (;;) 'aaaa'.match(/a+?b|a*c/g) }",
    // Memory.
    "() => { const a = []; for (;;) a.push(new Array(1e6).fill(7)) }",
    "() => { const a = []; for (;;) a.push({}) }",
    "() => { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) }",
    "() => { const m = new Map(); for (let i = 0; ; i++) m.set(i, [i]) }",
    "() => { const s = new Set(); for (let i = 0; ; i++) s.add({ i }) }",
    "() => new ArrayBuffer(2 ** 40)",
    "() => new ArrayBuffer(2 ** 31)",
    "() => new Float64Array(2 ** 28)",
    "() => Array.from({ length: 2 ** 32 - 1 })",
    "() => new Array(2 ** 31).join('abcdefgh')",
    "() => [].concat(...Array(1e5).fill(Array(1e4).fill(1)))",
    "() => { const o = {}; for (let i = 0; ; i++) o['k' + i] = i }",
    "() => { const w = []; for (;;) w.push(new WeakRef({})) }",
    // Recursion.
    "() => { const f = () => f(); return f() }",
    "() => { const f = () => { try { f() } finally { f() } }; return f() }",
    "() => { const f = (n) => [1].map(() => f(n + 1)); return f(0) }",
    "() => { const a = []; a.toString = () => '' + a; return '' + a }",
    "() => { class A { get x() { return this.x } } return new A().x }",
    "() => { let f = () => 1; for (let i = 0; i < 1e6; i++) f = f.bind(null); return f() }",
    "() => { const f = () => eval('f()'); return f() }",
    "() => new Function('f', 'return f(f)')((f) => f(f))",
    "() => { let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return a }",
    "() => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a.flat(Infinity) }",
    // Promises.
    "async () => { await new Promise(() => {}) }",
    "async () => { for (;;) await null }",
    "() => { const f = () => Promise.resolve().then(f); return f() }",
    "() => { const t = { then(r) { r(t) } }; return t }",
    "async () => { const f = async () => { await Promise.all([f(), f()]) }; await f() }",
    "() => Promise.all(Array.from({ length: 1e7 }, () => Promise.resolve()))",
    "() => Promise.reject({ get message() { for (;;) {} } })",
    "() => { Promise.prototype.then = () => { for (;;) {} }; return Promise.resolve(1) }",
    // Proxies.
    "() => { let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x }",
    "() => new Proxy({}, { ownKeys() { for (;;) {} } })",
    "() => new Proxy({}, { get() { for (;;) {} } })",
    "() => new Proxy([], { get: (t, k) => k === 'length' ? 2 ** 53 - 1 : 1 })",
    "() => { const p = new Proxy(function () {}, { apply: (t, s, a) => p(...a) }); return p() }",
    "() => { const p = new Proxy({}, { getPrototypeOf: () => p }); return p instanceof Object }",
    "() => Object.create(new Proxy({}, { has() { for (;;) {} } }), {}) in {}",
    // Getters and conversions.
    "() => ({ get a() { for (;;) {} } })",
    "() => ({ toJSON() { for (;;) {} } })",
    "() => ({ valueOf() { for (;;) {} } }) + 1",
    "() => `${{ [Symbol.toPrimitive]() { for (;;) {} } }}`",
    "() => { throw { get message() { for (;;) {} }, get name() { for (;;) {} } } }",
    "() => { throw { toString() { for (;;) {} } } }",
    "() => { const a = {}; a.a = a; return a }",
    "() => ({ a: 10n })",
    // Generators.
    "() => { function* g() { for (;;) yield } for (const x of g()) {} }",
    "() => { function* g() { yield* g() } for (const x of g()) {} }",
    "() => [...(function* () { for (;;) yield 'x'.repeat(1e5) })()]",
    "async () => { async function* g() { for (;;) yield } for await (const x of g()) {} }",
    // Huge strings and arrays.
    "() => 'x'.repeat(2 ** 30)",
    "() => { let s = 'x'; for (;;) s += s }",
    "() => 'x'.repeat(10 << 20)",
    "() => { const s = new Array(1e6).fill('a').join(''); let c = 0; for (let i = 0; i < 1e5; i++) c += s.indexOf('b'); return c }",
    "() => 'a'.repeat(1 << 22).indexOf('a'.repeat(1 << 11) + 'b')",
    "() => 'a'.repeat(1e6).replaceAll('a', 'b'.repeat(1000))",
    "() => new Array(1e7).fill(0).map(String).sort().reverse().join()",
    "() => '\\u0130'.repeat(1e7).toLowerCase().normalize('NFKD')",
    "() => 2n ** (2n ** 40n)",
    "() => { let n = 3n; for (;;) n *= n }",
    // JSON.
    "() => JSON.parse('['.repeat(1e6))",
    "() => JSON.stringify(Array(1e7).fill('x'))",
    "() => JSON.parse('[' + '1,'.repeat(1e7) + '1]', () => { for (;;) {} })",
    "() => { let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o }",
];

/// S9: each class ends by its deadline, within 160 MB, and the program survives.
#[test]
fn s9_every_script_ends_by_its_deadline() {
    end_in_time(SCRIPTS.iter().step_by(2));
}

/// The other half, so that two processors share them.
#[test]
fn s9_every_other_script_ends_by_its_deadline() {
    end_in_time(SCRIPTS.iter().skip(1).step_by(2));
}

fn end_in_time<'s>(scripts: impl Iterator<Item = &'s &'s str>) {
    for function in scripts {
        let (ticks, most) = end_one(function);
        assert!(most <= MOST_KIB, "{function}: {most} KiB");
        assert!(ticks <= MOST_TICKS, "{function}: {ticks} ticks");
    }
}

/// Calls a function; returns the worker's processor time in hundredths of a second, and its peak memory in KiB.
fn end_one(function: &str) -> (u64, u64) {
    let limits = Limits { cpu: DEADLINE, wall: DEADLINE, ..Limits::default() };
    let mut tools = load_patiently(&tool(function), limits);
    let worker = tools.worker_id();
    let status = format!("/proc/{worker}/status");
    let is_over = Arc::new(AtomicBool::new(false));
    let (most, computed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (over, seen, counted) = (Arc::clone(&is_over), Arc::clone(&most), Arc::clone(&computed));
    let sampler = std::thread::spawn(move || {
        while !over.load(Ordering::Relaxed) {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let peak = peak.and_then(|line| line.trim().split(' ').next()?.parse().ok());
            seen.fetch_max(peak.unwrap_or(0), Ordering::Relaxed);
            counted.fetch_max(count_ticks(worker), Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let _ = tools.call_tool("t", &json!({}), &json!({}));
    is_over.store(true, Ordering::Relaxed);
    sampler.join().unwrap();
    (computed.load(Ordering::Relaxed), most.load(Ordering::Relaxed))
}

/// Returns the hundredths of a second that a process has computed; 0 if it is gone.
fn count_ticks(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let times: Vec<u64> = fields.skip(11).take(2).filter_map(|time| time.parse().ok()).collect();
    times.iter().sum()
}

/// Loads the code with retries: starting a worker takes long on a busy machine, and is not measured.
pub(super) fn load_patiently(code: &str, limits: Limits) -> brief_agent::ToolBox {
    wait_for("the worker becomes ready", || load_with(code, limits, nothing()).ok())
}

/// JSS-010: changes of a call to built-ins, and its state, are gone in the next one.
#[test]
fn jss_010_each_call_has_a_realm_of_its_own() {
    let spoils = [
        "Object.prototype.name = 'pwn'; Object.prototype.fn = () => 1",
        "Object.defineProperty(Object.prototype, 'name', { value: 'pwn' })",
        "Object.freeze(Object.prototype); Object.freeze(globalThis)",
        "Array.prototype.map = JSON.stringify = Promise = undefined",
        "globalThis.secret = 1; globalThis.console = null",
        "kept.push(1)",
        "Object.setPrototypeOf(Array.prototype, null)",
        "throw new Error('x')",
    ];
    for spoil in spoils {
        let look = "() => [({}).name ?? null, typeof ({}).fn, typeof [].map, typeof JSON.stringify, \
                    typeof globalThis.secret, kept.length, typeof console, Object.isFrozen(Object.prototype), \
                    Object.getPrototypeOf(Array.prototype) === Object.prototype]";
        let code = format!(
            "const kept = []; {}",
            tools(&[("spoil", &format!("() => {{ {spoil} }}")), ("look", look)])
        );
        let limits = Limits { cpu: Duration::from_secs(2), ..super::short() };
        let mut tools = load_with(&code, limits, nothing()).unwrap();
        for _ in 0..3 {
            let _ = tools.call_tool("spoil", &json!({}), &json!({}));
            assert_eq!(
                tools.call_tool("look", &json!({}), &json!({})).unwrap(),
                json!([
                    null,
                    "undefined",
                    "function",
                    "function",
                    "undefined",
                    0,
                    "object",
                    false,
                    true
                ]),
                "{spoil}"
            );
        }
    }
}

/// A realm's memory is freed with it.
#[test]
fn many_calls_do_not_fill_the_memory() {
    let code = tool(
        "() => { const a = []; for (let i = 0; i < 1e4; i++) a.push({ a, i }); return a.length }",
    );
    let limits = Limits { cpu: Duration::from_secs(2), ..super::short() };
    let mut tools = load_with(&code, limits, nothing()).unwrap();
    for _ in 0..100 {
        assert_eq!(tools.call_tool("t", &json!({}), &json!({})).unwrap(), json!(10_000));
    }
    let code = tool("() => 1");
    let mut tools = load_with(&code, limits, nothing()).unwrap();
    let worker = tools.worker_id();
    for _ in 0..1000 {
        assert_eq!(tools.call_tool("t", &json!({}), &json!({})).unwrap(), json!(1));
    }
    // A worker without room for a realm would have been replaced.
    assert_eq!(tools.worker_id(), worker);
}

/// A call that exhausts the memory leaves garbage, and the next realm needs room: the next call still works.
#[test]
fn a_call_after_one_that_filled_the_memory_works() {
    let fill = "({ free }) => { const kept = []; kept.push(kept); globalThis.kept = kept; \
                try { for (;;) kept.push(new Uint8Array(1024)) } catch {} kept.length -= free; return 1 }";
    // It needs half of the memory, so the garbage must be gone.
    let half = "() => new Uint8Array(8 << 20).length";
    let code = tools(&[("fill", fill), ("half", half)]);
    let limits = Limits { cpu: Duration::from_secs(2), ..super::short() };
    for free in [2, 8, 32, 64, 128, 256, 512, 1024, 4096] {
        let mut tools = load_with(&code, limits, nothing()).unwrap();
        let worker = tools.worker_id();
        for _ in 0..3 {
            // With nearly no memory left it may fail itself.
            let _ = tools.call_tool("fill", &json!({ "free": free }), &json!({}));
            let after = tools.call_tool("half", &json!({}), &json!({}));
            assert_eq!(after.unwrap(), json!(8 << 20), "{free} KiB were left");
        }
        assert_eq!(tools.worker_id(), worker, "{free} KiB were left");
    }
}

/// Jobs that a result starts while it is written never run in a later call: another worker makes that call.
#[test]
fn jobs_that_a_result_leaves_run_in_no_later_call() {
    let leave = "(args, ctx, host) => ({ toJSON() { \
                 Promise.resolve().then(() => host.env('LATE')).catch(() => {}); return 1 } })";
    let code = tools(&[("leave", leave), ("one", "() => 1")]);
    let limits = Limits { cpu: Duration::from_secs(2), ..super::short() };
    let mut tools = load_with(&code, limits, nothing()).unwrap();
    for name in ["leave", "one", "leave", "leave", "one"] {
        assert_eq!(tools.call_tool(name, &json!({}), &json!({})).unwrap(), json!(1), "{name}");
        assert!(tools.last_call().denied.is_empty(), "{name}: {:?}", tools.last_call().denied);
    }
}

/// Code that fails in a second run ends one worker, and the tools go on with another one.
#[test]
fn a_worker_without_a_realm_is_replaced() {
    let code = format!("console.log('x'); if (Math.random() < 0.5) throw 1; {}", tool("() => 1"));
    let limits = Limits { cpu: Duration::from_secs(2), ..super::short() };
    let mut tools = load_patiently(&code, limits);
    // It has the log of the first run.
    tools.call_tool("t", &json!({}), &json!({})).unwrap();
    let mut workers = std::collections::BTreeSet::new();
    // Each realm fails with one half, so many calls use several workers.
    for _ in 0..100 {
        match tools.call_tool("t", &json!({}), &json!({})) {
            Ok(value) => assert_eq!(value, json!(1)),
            Err(error) => {
                let text = error.to_string();
                assert_eq!(text, "the tools have stopped: cannot restart the tools");
            }
        }
        assert!(tools.last_call().log.is_empty());
        workers.insert(tools.worker_id());
    }
    assert!(workers.len() > 3, "{workers:?}");
}

/// The log of a second run of the code is dropped: the first run has logged the same.
#[test]
fn running_the_code_again_says_nothing() {
    let code = format!("console.log('once'); {}", tool("() => { console.log('call'); return 1 }"));
    let mut tools = load_with(&code, super::short(), nothing()).unwrap();
    tools.call_tool("t", &json!({}), &json!({})).unwrap();
    for _ in 0..2 {
        tools.call_tool("t", &json!({}), &json!({})).unwrap();
        let log: Vec<&str> = tools.last_call().log.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(log, ["call"]);
    }
}

/// X11: an interrupted call ends immediately, and the next one works.
#[test]
fn x11_an_interrupted_call_ends_at_once() {
    let limits =
        Limits { cpu: PATIENCE, wall: PATIENCE, silence: Some(PATIENCE), ..Limits::default() };
    let code = tools(&[
        ("loop", "() => { for (;;) {} }"),
        ("native", "() => 'a'.repeat(1 << 22).indexOf('a'.repeat(1 << 11) + 'b')"),
        ("one", "() => 1"),
    ]);
    let mut tools = load_with(&code, limits, nothing()).unwrap();
    for name in ["loop", "native", "loop"] {
        let stop = Interruption::default();
        tools.interrupt_by(&stop);
        let before = tools.worker_id();
        let spent = count_ticks(before);
        let raiser = std::thread::spawn(move || {
            wait_until("the worker computes", || count_ticks(before) > spent + 10);
            stop.raise();
        });
        let error = tools.call_tool(name, &json!({}), &json!({})).unwrap_err().to_string();
        assert_eq!(error, "the tools have stopped: was interrupted");
        assert!(!std::path::Path::new(&format!("/proc/{before}")).exists(), "{name}");
        raiser.join().unwrap();
        tools.interrupt_by(&Interruption::default());
        assert_eq!(tools.call_tool("one", &json!({}), &json!({})).unwrap(), json!(1));
        assert_ne!(tools.worker_id(), before);
    }
}

/// X11: the wall clock ends a worker that only computes, too.
#[test]
fn x11_computing_has_a_limit_in_wall_time() {
    let limits = Limits { cpu: Duration::from_millis(300), wall: PATIENCE, ..Limits::default() };
    let code = tool("() => 'a'.repeat(1 << 22).indexOf('a'.repeat(1 << 11) + 'b')");
    let mut tools = load_patiently(&code, limits);
    let error = tools.call_tool("t", &json!({}), &json!({})).unwrap_err().to_string();
    assert_eq!(error, "the tools have stopped: execution used more than 0.3 s of CPU time");
}
