//! The ability `browser`, with Debian's Chromium and pages that the tests serve on this machine.

mod acting;
mod endings;
mod files;
mod limits;
mod site;
mod walls;

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use brief_agent::sandbox::{Limits, MissingFence, WorkerProgram};
use brief_agent::{AbilityAudit, CallError, Grants, Host, NetworkPolicy, ToolBox};
use brief_testkit::RealSystem;
use serde_json::{Value, json};

use site::Site;

const PROGRAM: &str = env!("CARGO_BIN_EXE_test-js-worker");

/// One test at a time has a browser: several would take the processor from tests that measure time.
static TURN: Mutex<()> = Mutex::new(());

thread_local! {
    /// The turn of this test, until its thread ends.
    static HELD: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// A run of an agent with a browser.
struct Run {
    directory: tempfile::TempDir,
    lines: Arc<Mutex<Vec<String>>>,
    wall: Duration,
    hosts: Vec<String>,
    env: Vec<(&'static str, String)>,
}

/// Lists the hosts that pages have asked for, with the verdict of each.
fn hosts(log: &str) -> Vec<(String, String)> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let connections = lines.filter(|line| line["event"] == "connection");
    let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found: Vec<_> =
        connections.map(|line| (said(&line["target"]), said(&line["verdict"]))).collect();
    found.dedup();
    found
}

impl Run {
    /// Creates a run that may reach a site by the name `localhost`.
    fn at(site: &Site) -> Run {
        HELD.with_borrow_mut(|held| {
            held.get_or_insert_with(|| TURN.lock().unwrap_or_else(PoisonError::into_inner));
        });
        Run {
            directory: tempfile::tempdir().unwrap(),
            lines: Arc::default(),
            wall: brief_testkit::PATIENCE,
            hosts: vec![format!("localhost:{}", site.port)],
            env: Vec::new(),
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join("root").join(path)
    }

    /// Returns the log.
    fn log(&self) -> String {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    /// Loads tools, each an `async` function of `(args, ctx, host)`.
    fn tools(&self, grants: &[&str], list: &[(&str, &str)]) -> ToolBox {
        std::fs::create_dir_all(self.path("")).unwrap();
        let mut system = RealSystem::new("/");
        system.own_program = Some(PROGRAM.into());
        for (name, value) in &self.env {
            system.env.insert((*name).to_owned(), value.clone());
        }
        let policy = NetworkPolicy {
            private_hosts: self.hosts.iter().cloned().collect(),
            ..NetworkPolicy::default()
        };
        let host = Host::new(Arc::new(system), Grants::new(grants.iter().copied(), []).unwrap())
            .with_root(&self.path(""))
            .unwrap()
            .with_network(policy)
            .with_audit(AbilityAudit::to_memory(Arc::clone(&self.lines)));
        let limits = Limits { wall: self.wall, ..Limits::default() };
        let worker = WorkerProgram {
            program: PROGRAM.into(),
            args: Vec::new(),
            missing_fence: MissingFence::Refuse,
        };
        let fields: Vec<String> = list
            .iter()
            .map(|(name, body)| {
                format!(
                    "{name}: {{ fn: async (args, ctx, host) => {{ {body} }}, scheme: {{ name: '{name}', \
                     description: 'd', parameters: {{ type: 'object' }} }} }}"
                )
            })
            .collect();
        let code = format!("return {{ {} }};", fields.join(",\n"));
        ToolBox::load(Arc::new(RealSystem::new("/")), &worker, &code, limits, host).unwrap()
    }

    /// Runs the body of one tool, with `page` opened at `/` of the site.
    fn try_on(&self, grants: &[&str], site: &Site, body: &str) -> Result<Value, CallError> {
        let body = format!(
            "const base = {}; const page = await host.browser.open(base + '/'); {body}",
            json!(site.base())
        );
        self.tools(grants, &[("t", &body)]).call_tool("t", &json!({}), &json!({}))
    }

    fn on(&self, site: &Site, body: &str) -> Value {
        self.try_on(&["browser"], site, body).unwrap_or_else(|error| panic!("{error}\n{body}"))
    }

    fn error(&self, site: &Site, body: &str) -> String {
        self.try_on(&["browser"], site, body).expect_err(body).to_string()
    }
}
