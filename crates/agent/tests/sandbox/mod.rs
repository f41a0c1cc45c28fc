//! Tools in the sandbox, above all hostile ones.

mod abilities;
mod endings;
mod gates;
mod hostile;
mod impostor;
mod loading;
mod network;
mod values;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use brief_agent::sandbox::{Limits, MissingFence, WorkerProgram};
use brief_agent::{CallError, Grants, Host, ToolBox, ToolsError};
use brief_system::{OsSystem, System};
use brief_testkit::PATIENCE;
use serde_json::{Value, json};

/// The worker program beside the tests.
fn worker() -> WorkerProgram {
    let program = env!("CARGO_BIN_EXE_test-js-worker").into();
    WorkerProgram { program, args: Vec::new(), missing_fence: MissingFence::Refuse }
}

fn system() -> Arc<dyn System> {
    Arc::new(OsSystem)
}

/// Little processor time, and much other time: on a busy machine the first one counts as on a quiet one.
fn short() -> Limits {
    Limits {
        cpu: Duration::from_millis(200),
        wall: PATIENCE,
        silence: Some(PATIENCE),
        memory: 16 * 1024 * 1024,
        ..Limits::default()
    }
}

fn nothing() -> Host {
    Host::new(system(), Grants::new(["tool"], []).unwrap())
}

fn load_with(code: &str, limits: Limits, host: Host) -> Result<ToolBox, ToolsError> {
    ToolBox::load(system(), &worker(), code, limits, host)
}

fn load(code: &str) -> Result<ToolBox, ToolsError> {
    load_with(code, short(), nothing())
}

/// Returns one tool with the given function, called `t`, which takes any arguments.
fn tool(function: &str) -> String {
    tools(&[("t", function)])
}

fn tools(list: &[(&str, &str)]) -> String {
    let fields: Vec<String> = list
        .iter()
        .map(|(name, function)| {
            format!(
                "{name}: {{ fn: {function}, scheme: {{ name: '{name}', description: 'd', \
                 parameters: {{ type: 'object' }} }} }}"
            )
        })
        .collect();
    format!("return {{ {} }};", fields.join(",\n"))
}

/// Loads one tool and calls it once.
fn call(function: &str) -> Result<Value, CallError> {
    load(&tool(function)).unwrap().call_tool("t", &json!({}), &json!({}))
}

/// Calls one tool that must fail, and returns its message.
fn failure(function: &str) -> String {
    call(function).unwrap_err().to_string()
}

/// Lines of an audit log in memory.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }
}
