//! Random scripts in a worker: none may end the program that started it (goal S9).
//!
//! `cargo run --release -p brief-runtime --example random_scripts -- COUNT [SEED]` builds scripts from pieces
//! of the language, runs several in each call, starts a new worker whenever one was ended, and prints the
//! results. Of a call that was ended, one script counts. The status is 1 when a worker ended in a way that no
//! limit explains.
#![expect(clippy::disallowed_methods, reason = "its arguments are its own")]
#![expect(clippy::print_stdout, reason = "the numbers are its output")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use brief_agent::sandbox::{self, Limits, WORKER_ARGUMENT, WorkerProgram};
use brief_agent::{CallError, Grants, Host, ToolBox};
use brief_system::{OsSystem, System};
use serde_json::json;

/// The grammar of scripts: `E` is an expression, `S` a statement, `N` a number, `T` a text.
const EXPRESSIONS: &str = "N|T|[E, E]|({ a: E, [E]: E })|(E + E)|(E * E)|(E, E)|E.a|E[E]|E?.[E]|new Array(E)|\
    E.length|[...E]|E.map((x) => E)|E.sort(() => E)|E.concat(E)|E.join(E)|E.repeat(N)|E.split(E)|E.replace(E, E)|\
    JSON.stringify(E)|JSON.parse(T)|new RegExp(T)|/(a|b)*c/.exec(E)|new Proxy({}, { get: () => E })|\
    Object.create(E)|Object.defineProperty({}, E, { get() { return E } })|Object.assign({}, E)|new Map([[E, E]])|\
    new Set(E)|new Uint8Array(N)|new ArrayBuffer(N)|new DataView(new ArrayBuffer(8)).getInt32(N)|Symbol(E)|\
    BigInt(N) ** 3n|Reflect.apply(E, E, [E])|Reflect.construct(Array, [E])|Promise.resolve(E).then(() => E)|\
    (function* () { yield E })().next()|(async () => E)()|eval(T)|Function(T)|(() => { S })()|x|y|globalThis|this|\
    Array.prototype|Object.prototype|E.constructor|E.__proto__|typeof E|void E|await E|`${E}`|E ?? E|E in {}|\
    structuredClone|new WeakRef({})|Atomics.add(new Int32Array(4), 0, N)|new Date(E)|Date.parse(T)|E.normalize()|\
    Array.from({ length: N }, () => E)|String.raw`${E}`|Number(E)|parseInt(E, N)|escape(E)|encodeURIComponent(E)";

const STATEMENTS: &str = "x = E;|let y = E;|var z = E;|if (E) { S } else { S }|for (let i = 0; i < 9; i++) { S }|\
    for (const x of E) { S }|for (const y in E) { S }|try { S } catch (e) { S } finally { S }|throw E;|return E;|\
    while (E) { S break }|do { S } while (!x);|switch (E) { case E: S default: S }|function f(a) { S } f(E);|\
    class C { constructor() { S } get x() { return E } static #y = E; } new C();|delete E.a;|S S|E;|l: { break l }|\
    Object.prototype.a = E;|Array.prototype[Symbol.iterator] = E;|with (E) { S }|[x, x] = E;|({ a: x } = E);|\
    const { a, ...rest } = E;|x &&= E;|x ||= E;|label: for (;;) { break label }|debugger;|for (;;) { S break }";

const NUMBERS: &str = "0|1|-1|7|1e3|1e6|2**31|2**32|2**53|-0|NaN|Infinity|0.5|10n";

const TEXTS: &str = "''|'a'|'\\u0000'|'\\ud800'|'1+1'|'[1,2]'|'(a+)+$'|'x'.repeat(100)|'__proto__'|'length'|'{'|\
    'return 1'|'\\u{1f600}'";

/// The number of scripts in one call.
const BATCH: u64 = 25;

/// A deterministic random number generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % most
    }

    fn pick<'l>(&mut self, list: &'l str) -> &'l str {
        let count = list.split('|').count();
        list.split('|').nth(self.below(count)).unwrap_or_default()
    }

    fn script(&mut self) -> String {
        let mut text = String::new();
        self.write(STATEMENTS, 5, &mut text);
        text
    }

    /// Writes a random piece of the language, with smaller pieces in it.
    fn write(&mut self, list: &str, depth: usize, text: &mut String) {
        let piece = self.pick(list).to_owned();
        let mut before = ' ';
        let mut letters = piece.chars().peekable();
        while let Some(letter) = letters.next() {
            let is_alone = !before.is_alphanumeric()
                && letters.peek().is_none_or(|next| !next.is_alphanumeric());
            before = letter;
            match letter {
                'E' if is_alone && depth > 0 => self.write(EXPRESSIONS, depth - 1, text),
                'S' if is_alone && depth > 0 => self.write(STATEMENTS, depth - 1, text),
                'E' if is_alone => text.push('1'),
                'S' if is_alone => {}
                'N' if is_alone => text.push_str(self.pick(NUMBERS)),
                'T' if is_alone => text.push_str(self.pick(TEXTS)),
                letter => text.push(letter),
            }
        }
    }
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some(WORKER_ARGUMENT) => sandbox::run_worker(),
        count => {
            let count = count.and_then(|count| count.parse().ok()).unwrap_or(1_000);
            let seed = args.next().and_then(|seed| seed.parse().ok()).unwrap_or(1);
            run(count, seed)
        }
    }
}

fn load(system: &Arc<dyn System>, program: &WorkerProgram) -> Result<ToolBox, String> {
    let code = "return { run: { fn: async ({ scripts }) => { let x = 1; for (const code of scripts) { \
                try { await eval(`(async () => { ${code} })()`) } catch {} } return 1 }, \
                scheme: { name: 'run', description: 'd', parameters: {} } } };";
    let limits = Limits {
        cpu: Duration::from_millis(10),
        wall: Duration::from_secs(5),
        memory: 16 << 20,
        ..Limits::default()
    };
    let host = Host::new(Arc::clone(system), Grants::none());
    ToolBox::load(Arc::clone(system), program, code, limits, host)
        .map_err(|error| error.to_string())
}

/// The limit for late workers in a row; more is a failure.
const MOST_LATE: u32 = 20;

fn run(count: u64, seed: u64) -> ExitCode {
    let system: Arc<dyn System> = Arc::new(OsSystem);
    let Ok(program) = WorkerProgram::from_own_program(system.as_ref()) else {
        return ExitCode::FAILURE;
    };
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut ran, mut stopped, mut ended, mut strange, mut late) = (0, 0, 0, 0, 0);
    let mut tools = None;
    while ran < count {
        let scripts: Vec<String> = (0..BATCH).map(|_| random.script()).collect();
        let mut worker = match tools.take().map_or_else(|| load(&system, &program), Ok) {
            Ok(worker) => {
                late = 0;
                worker
            }
            // A busy machine can stop a worker at its limit before it is ready.
            Err(error) if error.contains("longer than") && late < MOST_LATE => {
                late += 1;
                continue;
            }
            Err(error) => {
                println!("no worker after {ran} scripts: {error}");
                return ExitCode::FAILURE;
            }
        };
        match worker.call_tool("run", &json!({ "scripts": scripts }), &json!({})) {
            Ok(_) => ran += BATCH,
            Err(CallError::Ended(message)) => {
                (ran, ended) = (ran + 1, ended + 1);
                // A native function that cannot be stopped, or a full realm, are limits.
                let is_limit = ["longer than", "cannot be called after", "too much memory"];
                if !is_limit.iter().any(|words| message.contains(words)) {
                    strange += 1;
                    println!("after {ran} scripts: {message}: {scripts:#?}");
                }
                continue;
            }
            Err(_) => (ran, stopped) = (ran + 1, stopped + 1),
        }
        tools = Some(worker);
    }
    println!(
        "{ran} scripts (seed {seed}): {stopped} calls stopped, {ended} workers ended, {strange} strange endings"
    );
    if strange == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
