//! A running browser: its pages, and the events that change them.
//!
//! Events are read while a call waits for its answer, and at the start of each call; no thread reads them.

use std::collections::BTreeMap;
use std::time::Duration;

use brief_syntax::limits;
use serde_json::{Value, json};

use super::super::{AbilityResult, create_failure, create_refusal};
use super::gate::{self, PageConnection};
use super::launch::{LaunchedBrowser, THIS_MACHINE_TOO};
use super::wire::WireFault;

/// The time in which a browser has to end by itself.
const EXIT_TIME: Duration = Duration::from_secs(2);

/// The time in which a navigation that a page asked for has to begin.
const EXPECTED: Duration = Duration::from_millis(500);

/// The documents of a page so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct LoadingState {
    /// The number of times that it has begun to load one.
    pub(super) begun: usize,
    /// The number of documents that it has shown.
    pub(super) shown: usize,
    /// True if the last one is an error page.
    pub(super) is_unreachable: bool,
}

#[derive(Debug, Default)]
pub(super) struct PageState {
    /// The browser's name for it, also that of its main frame.
    pub(super) target: String,
    pub(super) session: String,
    is_loading: bool,
    /// True if a navigation was asked for that has not begun.
    is_expected: bool,
    pub(super) loading: LoadingState,
    is_crashed: bool,
    /// The other processes of its frames: a session for each, with its topmost frame.
    pub(super) inner: BTreeMap<String, String>,
}

/// A download that the browser has begun.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct DownloadState {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) received: u64,
    /// `Some(true)` when it is complete, `Some(false)` when it was given up.
    pub(super) is_complete: Option<bool>,
}

/// A browser with its pages.
pub(super) struct RunningBrowser {
    pub(super) launched: LaunchedBrowser,
    pub(super) pages: BTreeMap<u64, PageState>,
    last_page: u64,
    /// The browser's name for what its pages share: cookies, and the way to the network.
    context: String,
    /// The first download since it was asked for.
    pub(super) download: Option<DownloadState>,
    /// The connections since the start of the call.
    connections: Vec<PageConnection>,
    earlier: Vec<PageConnection>,
}

impl Drop for RunningBrowser {
    fn drop(&mut self) {
        // In its own order first: a browser that is told to close removes what it has in memory elsewhere.
        let wire = &mut self.launched.wire;
        let deadline = wire.system.elapsed() + EXIT_TIME;
        if wire.post_command(None, "Browser.close", &json!({}), deadline).is_ok() {
            let _ = wire.companion.wait(EXIT_TIME);
        }
        wire.companion.end();
        // The keeper may have been ended before it had removed everything.
        let _ = wire.system.remove_tree(self.launched.profile.path());
    }
}

impl RunningBrowser {
    pub(super) fn prepare(
        launched: LaunchedBrowser,
        deadline: Duration,
    ) -> AbilityResult<RunningBrowser> {
        let mut browser = RunningBrowser {
            launched,
            pages: BTreeMap::new(),
            last_page: 0,
            context: String::new(),
            download: None,
            connections: Vec::new(),
            earlier: Vec::new(),
        };
        let ready = browser.send_request(
            None,
            "Target.setAutoAttach",
            &auto_attach_params("page"),
            deadline,
        );
        let ready = ready.and_then(|_| browser.create_context(deadline));
        ready.and_then(|()| browser.set_downloads(false, deadline)).map_err(
            |fault| match fault {
                WireFault::Interrupted => fault.into(),
                _ => create_failure(
                    "the browser did not start; run it with `--headless --dump-dom about:blank` to see why",
                ),
            },
        )?;
        Ok(browser)
    }

    fn create_context(&mut self, deadline: Duration) -> Result<(), WireFault> {
        let params = json!({
            "disposeOnDetach": true, "proxyBypassList": THIS_MACHINE_TOO,
            "proxyServer": format!("http://127.0.0.1:{}", self.launched.gate.port),
        });
        let created = self.send_request(None, "Target.createBrowserContext", &params, deadline)?;
        self.context = owned_text(&created["browserContextId"]);
        Ok(())
    }

    pub(super) fn set_downloads(
        &mut self,
        is_wanted: bool,
        deadline: Duration,
    ) -> Result<(), WireFault> {
        let place = self.launched.profile.path().join("downloads");
        let behavior = if is_wanted { "allowAndName" } else { "deny" };
        let params = json!({
            "behavior": behavior, "downloadPath": place, "eventsEnabled": true,
            "browserContextId": self.context,
        });
        self.send_request(None, "Browser.setDownloadBehavior", &params, deadline).map(drop)
    }

    /// Sends a command and waits for its answer.
    pub(super) fn send_request(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
        deadline: Duration,
    ) -> Result<Value, WireFault> {
        let number = self.launched.wire.post_command(session, method, params, deadline)?;
        loop {
            let mut message = self.launched.wire.receive_message(deadline)?;
            if message["id"].as_u64() == Some(number) {
                if let Some(problem) = message["error"]["message"].as_str() {
                    return Err(WireFault::Refused(problem.to_owned()));
                }
                return Ok(message["result"].take());
            }
            self.record_event(&message, deadline)?;
        }
    }

    /// Sends a command whose answer does not matter.
    pub(super) fn post_command(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
        deadline: Duration,
    ) -> Result<(), WireFault> {
        self.launched.wire.post_command(session, method, params, deadline).map(drop)
    }

    /// Reads the events that have come meanwhile.
    pub(super) fn catch_up(&mut self, deadline: Duration) -> Result<(), WireFault> {
        self.earlier = self.launched.gate.take_connections();
        self.connections.clear();
        while let Some(message) = self.launched.wire.receive_at_once()? {
            self.record_event(&message, deadline)?;
        }
        Ok(())
    }

    /// Returns the connections since the start of the call.
    pub(super) fn collect_connections(&mut self) -> &[PageConnection] {
        for new in self.launched.gate.take_connections() {
            gate::add_connection(&mut self.connections, new);
        }
        &self.connections
    }

    /// Returns all connections since the last call of this function.
    pub(super) fn take_connections(&mut self) -> Vec<PageConnection> {
        let mut all = std::mem::take(&mut self.earlier);
        self.collect_connections();
        for new in self.connections.drain(..) {
            gate::add_connection(&mut all, new);
        }
        all
    }

    /// Lets the browser ask for the credential of its gate; it keeps it then, for requests of every kind.
    pub(super) fn await_challenge(
        &mut self,
        session: &str,
        is_awaited: bool,
        deadline: Duration,
    ) -> Result<(), WireFault> {
        if is_awaited {
            let params = json!({"handleAuthRequests": true});
            return self.send_request(Some(session), "Fetch.enable", &params, deadline).map(drop);
        }
        self.post_command(Some(session), "Fetch.disable", &json!({}), deadline)
    }

    fn page_of(&mut self, session: &str) -> Option<&mut PageState> {
        self.pages.values_mut().find(|page| page.session == session)
    }

    /// Takes note of an event.
    fn record_event(&mut self, message: &Value, deadline: Duration) -> Result<(), WireFault> {
        let Some(method) = message["method"].as_str() else { return Ok(()) };
        let params = &message["params"];
        let session = message["sessionId"].as_str().unwrap_or_default();
        match method {
            "Target.attachedToTarget" => return self.attach_target(session, params, deadline),
            "Target.detachedFromTarget" => {
                let gone = params["sessionId"].as_str().unwrap_or_default();
                self.pages.retain(|_, page| page.session != gone);
                for page in self.pages.values_mut() {
                    page.inner.remove(gone);
                }
            }
            "Target.targetCrashed" | "Inspector.targetCrashed" => {
                let target = params["targetId"].as_str().unwrap_or_default();
                let crashed = self
                    .pages
                    .values_mut()
                    .find(|page| page.session == session || page.target == target);
                if let Some(page) = crashed {
                    (page.is_crashed, page.is_loading) = (true, false);
                }
            }
            "Page.javascriptDialogOpening" => {
                // A person would read the message and go on; nothing is confirmed on their behalf.
                let kind = params["type"].as_str().unwrap_or_default();
                let accept = json!({"accept": matches!(kind, "alert" | "beforeunload")});
                let session = (!session.is_empty()).then_some(session);
                self.post_command(session, "Page.handleJavaScriptDialog", &accept, deadline)?;
            }
            "Fetch.requestPaused" => {
                let params = json!({"requestId": params["requestId"]});
                self.post_command(Some(session), "Fetch.continueRequest", &params, deadline)?;
            }
            "Fetch.authRequired" => {
                // A server that asks for a password gets none.
                let answer = if params["authChallenge"]["source"] == "Proxy" {
                    let password = &self.launched.gate.password;
                    json!({"response": "ProvideCredentials", "username": gate::USER, "password": password})
                } else {
                    json!({"response": "CancelAuth"})
                };
                let params =
                    json!({"requestId": params["requestId"], "authChallengeResponse": answer});
                self.post_command(Some(session), "Fetch.continueWithAuth", &params, deadline)?;
            }
            "Browser.downloadWillBegin" => self.download_begins(params, deadline)?,
            "Browser.downloadProgress" => {
                let id = params["guid"].as_str().unwrap_or_default();
                if let Some(download) = self.download.as_mut().filter(|known| known.id == id) {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "the protocol counts bytes in floating point"
                    )]
                    let received = params["receivedBytes"].as_f64().unwrap_or_default() as u64;
                    download.received = received;
                    download.is_complete = match params["state"].as_str() {
                        Some("completed") => Some(true),
                        Some("canceled") => Some(false),
                        _ => None,
                    };
                }
            }
            _ => self.record_navigation(method, session, params),
        }
        Ok(())
    }

    /// Takes note of an event about loading.
    fn record_navigation(&mut self, method: &str, session: &str, params: &Value) {
        let Some(page) = self.page_of(session) else { return };
        let frame = params["frameId"].as_str().or_else(|| params["frame"]["id"].as_str());
        if frame != Some(page.target.as_str()) {
            return;
        }
        match method {
            "Page.frameRequestedNavigation" => {
                page.is_expected = params["disposition"] == "currentTab";
            }
            "Page.frameClearedScheduledNavigation" => page.is_expected = false,
            "Page.frameStartedLoading" => {
                (page.is_loading, page.is_expected) = (true, false);
                page.loading.begun += 1;
            }
            "Page.frameStoppedLoading" => page.is_loading = false,
            "Page.frameNavigated" => {
                page.loading.shown += 1;
                page.loading.is_unreachable = params["frame"].get("unreachableUrl").is_some();
            }
            _ => {}
        }
    }

    fn attach_target(
        &mut self,
        parent: &str,
        params: &Value,
        deadline: Duration,
    ) -> Result<(), WireFault> {
        let info = &params["targetInfo"];
        let (session, target) = (owned_text(&params["sessionId"]), owned_text(&info["targetId"]));
        match info["type"].as_str() {
            Some("page") if self.pages.len() >= limits::BROWSER_PAGES => {
                let params = json!({"targetId": target});
                return self.post_command(None, "Target.closeTarget", &params, deadline);
            }
            Some("page") => {
                self.last_page += 1;
                let page = PageState { target, session: session.clone(), ..PageState::default() };
                self.pages.insert(self.last_page, page);
            }
            Some("iframe") => {
                let owner = self
                    .pages
                    .values_mut()
                    .find(|page| page.session == parent || page.inner.contains_key(parent));
                let Some(page) = owner else { return Ok(()) };
                page.inner.insert(session.clone(), target);
            }
            _ => return Ok(()),
        }
        let session = Some(session.as_str());
        self.post_command(session, "Page.enable", &json!({}), deadline)?;
        self.post_command(session, "Target.setAutoAttach", &auto_attach_params("iframe"), deadline)
    }

    fn download_begins(&mut self, params: &Value, deadline: Duration) -> Result<(), WireFault> {
        let id = owned_text(&params["guid"]);
        if self.download.is_none() {
            let name = owned_text(&params["suggestedFilename"]);
            self.download = Some(DownloadState { id, name, ..DownloadState::default() });
            return Ok(());
        }
        // One for each call.
        let params = json!({"guid": id, "browserContextId": self.context});
        self.post_command(None, "Browser.cancelDownload", &params, deadline)
    }

    /// Gives up the download of this call.
    pub(super) fn cancel_download(&mut self, id: &str, deadline: Duration) {
        let params = json!({"guid": id, "browserContextId": self.context});
        // One that has ended meanwhile needs no end.
        let _ = self.send_request(None, "Browser.cancelDownload", &params, deadline);
    }

    /// Opens an empty page and returns its number.
    pub(super) fn new_page(&mut self, deadline: Duration) -> AbilityResult<u64> {
        if self.pages.len() >= limits::BROWSER_PAGES {
            let most = limits::BROWSER_PAGES;
            return Err(create_refusal(format!("{most} pages are open, the maximum; close one")));
        }
        let params = json!({"url": "about:blank", "browserContextId": self.context});
        let created = self.send_request(None, "Target.createTarget", &params, deadline)?;
        let target = owned_text(&created["targetId"]);
        loop {
            let found = self.pages.iter().find(|(_, page)| page.target == target);
            if let Some((number, _)) = found {
                return Ok(*number);
            }
            let message = self.launched.wire.receive_message(deadline)?;
            self.record_event(&message, deadline)?;
        }
    }

    /// Returns a page that can be used.
    pub(super) fn find_page(&self, number: u64) -> AbilityResult<&PageState> {
        match self.pages.get(&number) {
            Some(page) if page.is_crashed => Err(create_failure("the page has crashed; close it")),
            Some(page) => Ok(page),
            None => Err(create_failure("the page is closed")),
        }
    }

    pub(super) fn close_page(&mut self, number: u64, deadline: Duration) -> Result<(), WireFault> {
        let Some(page) = self.pages.remove(&number) else { return Ok(()) };
        let params = json!({"targetId": page.target});
        match self.send_request(None, "Target.closeTarget", &params, deadline) {
            // It has closed itself meanwhile.
            Ok(_) | Err(WireFault::Refused(_)) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    /// Waits until a page has loaded; returns whether it has before `deadline`.
    pub(super) fn wait_until_loaded(
        &mut self,
        number: u64,
        deadline: Duration,
    ) -> Result<bool, WireFault> {
        let system = std::sync::Arc::clone(&self.launched.wire.system);
        let begun = system.elapsed() + EXPECTED;
        loop {
            let Some(page) = self.pages.get(&number) else { return Ok(true) };
            let until = match (page.is_loading, page.is_expected) {
                (true, _) => deadline,
                (false, true) => deadline.min(begun),
                (false, false) => return Ok(true),
            };
            match self.launched.wire.receive_message(until) {
                Ok(message) => self.record_event(&message, deadline)?,
                Err(WireFault::TimedOut) => {
                    if let Some(page) = self.pages.get_mut(&number) {
                        page.is_expected = false;
                        if page.is_loading {
                            return Ok(false);
                        }
                    }
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Returns the documents of a page so far.
    pub(super) fn loading_state(&self, number: u64) -> LoadingState {
        self.pages.get(&number).map(|page| page.loading).unwrap_or_default()
    }

    /// Reads events until `deadline`, as long as `is_done` says no.
    pub(super) fn wait_until(
        &mut self,
        deadline: Duration,
        mut is_done: impl FnMut(&RunningBrowser) -> bool,
    ) -> Result<bool, WireFault> {
        while !is_done(self) {
            match self.launched.wire.receive_message(deadline) {
                Ok(message) => self.record_event(&message, deadline)?,
                Err(WireFault::TimedOut) => return Ok(false),
                Err(fault) => return Err(fault),
            }
        }
        Ok(true)
    }
}

/// Returns the parameters for sessions of all new targets of a kind.
fn auto_attach_params(kind: &str) -> Value {
    json!({
        "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true,
        "filter": [{"type": kind, "exclude": false}, {"exclude": true}],
    })
}

fn owned_text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
