//! `browser`: the installed Chromium, driven through its `DevTools` protocol.
//!
//! One browser for a run, started by the first page, with a profile of its own that is removed with it. All that it
//! loads goes through one gate (`gate`), which has the rules of `network`. What pages do is theirs: the
//! calls here read them and act like a user, one call at a time.

mod files;
mod frames;
mod gate;
mod keys;
mod launch;
mod pages;
mod running;
mod tree;
mod wire;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use brief_syntax::limits;
use brief_system::{Interruption, System};
use serde_json::{Value, json};

use super::files::ToolFiles;
use super::network::{self, NetworkPolicy};
use super::{AbilityResult, create_failure, text_argument};
use gate::BrowserGate;
use pages::PageCall;
use running::RunningBrowser;

pub(crate) use gate::{PageConnection, ProxyHead};
pub use launch::{KEEPER_ARGUMENT, lacks_sandbox};

/// The browser of a run; none before the first page.
#[derive(Default)]
pub(super) struct Browsing {
    running: Option<Box<RunningBrowser>>,
    starts: usize,
    connections: Vec<PageConnection>,
}

/// The surroundings of a call.
pub(super) struct BrowserContext<'b> {
    pub(super) system: &'b Arc<dyn System>,
    pub(super) policy: &'b NetworkPolicy,
    /// The directories in which the program is found.
    pub(super) path: &'b [String],
    pub(super) stop: &'b Interruption,
    /// The files of the project, if tools may write to them.
    pub(super) files: Option<&'b ToolFiles>,
}

impl Browsing {
    /// Carries out a call. A browser that has ended is forgotten, with its pages.
    pub(super) fn answer_call(
        &mut self,
        context: &BrowserContext<'_>,
        call: &str,
        args: &[Value],
        time_left: Duration,
    ) -> AbilityResult {
        // The tool has to be told before its own time is up.
        let most = Duration::from_secs(limits::BROWSER_SECONDS);
        let patience = most.min(time_left.mul_f64(0.9));
        let deadline = context.system.elapsed() + patience;
        let outcome = self.fulfill_call(context, call, args, deadline);
        if let Some(browser) = &mut self.running {
            self.connections = browser.take_connections();
            if browser.has_ended() {
                self.running = None;
            }
        }
        outcome
    }

    /// Returns the connections of pages since the last call of this function.
    pub(super) fn take_connections(&mut self) -> Vec<PageConnection> {
        std::mem::take(&mut self.connections)
    }

    /// Ends the browser, and returns the connections since its last call.
    pub(super) fn end_browser(&mut self) -> Vec<PageConnection> {
        let last = self.running.take();
        last.map(|mut browser| browser.take_connections()).unwrap_or_default()
    }

    fn fulfill_call(
        &mut self,
        context: &BrowserContext<'_>,
        call: &str,
        args: &[Value],
        deadline: Duration,
    ) -> AbilityResult {
        if call == "open" {
            let address = text_argument(args, 0, "an address")?;
            let patience = deadline.saturating_sub(context.system.elapsed());
            // Refused before a browser is started for it.
            network::check_address(context.policy, address, patience)?;
            let browser = self.ensure_browser(context, deadline)?;
            browser.begin_call(context.stop, deadline)?;
            // Its start takes nothing of the caller's time for the page.
            return browser.open_page(address, &PageCall::new(context, (call, args), deadline)?);
        }
        let Some(browser) = &mut self.running else {
            return match call {
                "pages" => Ok(json!([])),
                "close" => Ok(Value::Null),
                _ => Err(create_failure("the browser has exited, and its pages are gone")),
            };
        };
        browser.begin_call(context.stop, deadline)?;
        browser.carry_out(&PageCall::new(context, (call, args), deadline)?)
    }

    fn ensure_browser(
        &mut self,
        context: &BrowserContext<'_>,
        deadline: Duration,
    ) -> AbilityResult<&mut RunningBrowser> {
        let running = match self.running.take() {
            Some(running) => running,
            None if self.starts >= limits::BROWSER_STARTS => {
                return Err(create_failure(format!(
                    "the browser has exited {} times in this run",
                    self.starts
                )));
            }
            None => {
                let gate = context.system.random_bytes();
                let gate =
                    gate.and_then(|chance| BrowserGate::open(context.policy.clone(), chance));
                let gate = gate.map_err(|error| {
                    create_failure(format!("cannot connect the browser to the network: {error}"))
                })?;
                let mut launched = launch::launch_browser(context.system, context.path, gate)?;
                launched.wire.stop = context.stop.clone();
                self.starts += 1;
                Box::new(RunningBrowser::prepare(launched, deadline)?)
            }
        };
        Ok(self.running.insert(running))
    }
}

/// Returns the subject of a call for the log: addresses without queries, selectors and paths, never a text.
pub(super) fn call_subject(call: &str, args: &[Value]) -> Value {
    let address = |place: usize| {
        let address = args.get(place).and_then(Value::as_str).unwrap_or_default();
        json!(network::render_request_target(address, None))
    };
    let own = match call {
        "open" => return address(0),
        "pages" => return Value::Null,
        "goto" => vec![address(2)],
        "text" | "fill" | "click" | "table" | "frame" => {
            args.iter().skip(2).take(1).cloned().collect()
        }
        "download" => args.iter().skip(2).take(2).cloned().collect(),
        "screenshot" | "pdf" => {
            args.get(2).and_then(|options| options.get("path")).into_iter().cloned().collect()
        }
        _ => Vec::new(),
    };
    let page = args.first().into_iter().filter(|page| page.is_u64()).cloned();
    page.chain(own.into_iter().filter(Value::is_string)).collect()
}

/// Runs this process as the keeper of a browser, which ends it and removes its profile when this program is killed.
/// The arguments are those after [`KEEPER_ARGUMENT`].
pub fn run_keeper(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match launch::supervise_browser(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
