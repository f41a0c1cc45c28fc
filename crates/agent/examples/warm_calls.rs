//! Measures the sandbox: the time until tools are ready, and the cost of a call then.
//!
//! `cargo run --profile dist -p brief-runtime --example warm_calls [PROGRAM]` prints one line of JSON.
//! With `PROGRAM`, its hidden worker is measured instead of this example's own.
#![expect(clippy::disallowed_methods, reason = "this measures real processes")]
#![expect(clippy::print_stdout, reason = "this talks to a person or a script")]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use brief_agent::sandbox::{self, Limits, WORKER_ARGUMENT, WorkerProgram};
use brief_agent::{Grants, Host, ToolBox};
use brief_system::{OsSystem, System};
use serde_json::json;

const CODE: &str = "
const scheme = (name) => ({ name, description: 'd', parameters: { type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] } });
return {
  add: { fn: async ({ a, b }) => ({ sum: a + b }), scheme: scheme('add') },
  denied: { fn: async (args, ctx, host) => { try { host.env('X') } catch {} }, scheme: scheme('denied') },
};";

const STARTS: usize = 40;
const CALLS: usize = 4_000;

/// The shortest pause between two calls of a client; a model takes far longer. The worker is ready again
/// then.
const PAUSE: Duration = Duration::from_millis(2);

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some(WORKER_ARGUMENT) {
        return Ok(sandbox::run_worker());
    }
    let system: Arc<dyn System> = Arc::new(OsSystem);
    let program = match argument {
        Some(program) => {
            let program = system.resolve(program.as_ref())?.path;
            let args = vec![WORKER_ARGUMENT.into()];
            WorkerProgram { program, args, missing_fence: sandbox::MissingFence::Refuse }
        }
        None => WorkerProgram::from_own_program(system.as_ref())?,
    };
    let load = || {
        let host = Host::new(Arc::clone(&system), Grants::none());
        ToolBox::load(Arc::clone(&system), &program, CODE, Limits::default(), host)
    };
    let mut ready = Vec::new();
    for _ in 0..STARTS {
        let start = Instant::now();
        let tools = load()?;
        ready.push(start.elapsed());
        drop(tools);
    }
    let mut tools = load()?;
    let mut calls =
        |name: &str, count: usize, pause: Duration| -> Result<Vec<Duration>, Box<dyn Error>> {
            let (args, ctx) = (json!({"a": 2, "b": 3}), json!({"input": ""}));
            let mut times = Vec::with_capacity(count);
            for _ in 0..count {
                let start = Instant::now();
                tools.call_tool(name, &args, &ctx)?;
                times.push(start.elapsed());
                if !pause.is_zero() {
                    std::thread::sleep(pause);
                }
            }
            Ok(times)
        };
    calls("add", 100, Duration::ZERO)?;
    let warm = calls("add", CALLS, PAUSE)?;
    let asking = calls("denied", CALLS / 4, PAUSE)?;
    let row = calls("add", CALLS, Duration::ZERO)?;
    let before = computed(system.as_ref(), tools.worker_id());
    for _ in 0..CALLS {
        tools.call_tool("add", &json!({"a": 2, "b": 3}), &json!({"input": ""}))?;
    }
    let computed = computed(system.as_ref(), tools.worker_id()).saturating_sub(before);
    let status = system.read(format!("/proc/{}/status", tools.worker_id()).as_ref(), 65_536);
    let status = status.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let status = status.unwrap_or_default();
    let memory = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map(|line| line.trim_matches([':', '\t', ' ']).to_owned())
    };
    println!(
        "{}",
        json!({
            "fences": format!("{:?}", tools.fences()),
            "ready_ms": summary(ready, 1_000.0),
            "warm_call_us": summary(warm, 1_000_000.0),
            "call_in_a_row_us": summary(row, 1_000_000.0),
            // With the globals of the next call, on a busy machine too.
            "worker_cpu_a_call_us": computed.as_micros() / CALLS as u128,
            "call_with_question_us": summary(asking, 1_000_000.0),
            "worker_rss": memory("VmRSS"),
            "worker_rss_most": memory("VmHWM"),
        })
    );
    Ok(ExitCode::SUCCESS)
}

/// Returns the processor time of a process on Linux.
fn computed(system: &dyn System, id: u32) -> Duration {
    let text = system.read(format!("/proc/{id}/schedstat").as_ref(), 4096).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let nanos = text.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

/// Returns the minimum, the median and a high percentile of some times.
fn summary(mut times: Vec<Duration>, unit: f64) -> serde_json::Value {
    times.sort_unstable();
    let at = |part: usize| {
        let time = times.get(times.len() * part / 100).copied().unwrap_or_default();
        (time.as_secs_f64() * unit * 100.0).round() / 100.0
    };
    json!({"min": at(0), "median": at(50), "p95": at(95)})
}
