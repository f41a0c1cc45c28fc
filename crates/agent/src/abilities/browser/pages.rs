//! The calls of tools to pages.

use std::time::Duration;

use brief_syntax::limits;
use brief_system::Interruption;
use serde_json::{Value, json};

use super::super::{AbilityRefusal, AbilityResult, create_failure, create_refusal, network};
use super::BrowserContext;
use super::frames::FrameHandle;
use super::keys::PressedKey;
use super::running::{LoadingState, RunningBrowser};
use super::wire::WireFault;

/// The time that a call waits for an element to come, unless it says otherwise.
const ELEMENT_TIME: Duration = Duration::from_secs(5);

/// The time in which the browser says that what it loads is a download.
const DOWNLOAD_TIME: Duration = Duration::from_millis(500);

/// A call to a page: its number, its frame or `null`, and what the call itself takes.
pub(super) struct PageCall<'c> {
    pub(super) context: &'c BrowserContext<'c>,
    pub(super) call: &'c str,
    pub(super) args: &'c [Value],
    /// The end of what the call waits for: that of its `timeout`, or its own.
    pub(super) deadline: Duration,
    /// The end of the call itself.
    end: Duration,
    /// True if it has a `timeout`.
    is_timed: bool,
}

impl<'c> PageCall<'c> {
    /// Begins a call that has to end by `end`. Its last argument may be an object with a `timeout`.
    pub(super) fn new(
        context: &'c BrowserContext<'c>,
        (call, args): (&'c str, &'c [Value]),
        end: Duration,
    ) -> AbilityResult<PageCall<'c>> {
        let until = parse_timeout(args)?.map(|time| context.system.elapsed().saturating_add(time));
        let deadline = until.map_or(end, |until| until.min(end));
        Ok(PageCall { context, call, args, deadline, end, is_timed: until.is_some() })
    }

    fn page_number(&self) -> AbilityResult<u64> {
        let page = self.args.first().and_then(Value::as_u64);
        page.ok_or_else(|| create_refusal("argument 1 must be a page"))
    }

    /// Returns an argument of the call itself.
    pub(super) fn own_argument(&self, place: usize) -> Option<&'c Value> {
        self.args.get(place + 2).filter(|value| !value.is_null())
    }

    /// Returns an argument that must be a string.
    pub(super) fn text_argument(&self, place: usize, what: &str) -> AbilityResult<&'c str> {
        self.own_argument(place)
            .and_then(Value::as_str)
            .ok_or_else(|| create_refusal(format!("argument {} must be {what}", place + 1)))
    }

    /// Returns an option of the last argument.
    pub(super) fn option(&self, place: usize, name: &str) -> Option<&'c Value> {
        self.own_argument(place)?.get(name).filter(|value| !value.is_null())
    }

    /// Returns the time until which an element is waited for.
    pub(super) fn element_deadline(&self) -> Duration {
        if self.is_timed {
            return self.deadline;
        }
        self.deadline.min(self.context.system.elapsed() + ELEMENT_TIME)
    }

    /// Returns the time until which a page may load; some is left to look at it.
    fn load_deadline(&self) -> Duration {
        let now = self.context.system.elapsed();
        let latest = now + self.end.saturating_sub(now).mul_f64(0.75);
        if self.is_timed {
            return latest.min(self.deadline);
        }
        latest.min(now + Duration::from_secs(limits::BROWSER_LOAD_SECONDS))
    }
}

/// Returns the option `timeout` of a call, in milliseconds. Zero is the longest one, as in other libraries for browsers.
fn parse_timeout(args: &[Value]) -> AbilityResult<Option<Duration>> {
    let written = args.last().and_then(|options| options.get("timeout"));
    let Some(written) = written.filter(|written| !written.is_null()) else { return Ok(None) };
    let time = written.as_f64().map(|milliseconds| milliseconds / 1000.0);
    match time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(Duration::ZERO) => Ok(Some(Duration::MAX)),
        Some(time) => Ok(Some(time)),
        None => Err(create_refusal("`timeout` must be a number of milliseconds")),
    }
}

impl RunningBrowser {
    /// Begins a call: takes note of what has happened since the last one.
    pub(super) fn begin_call(
        &mut self,
        stop: &Interruption,
        deadline: Duration,
    ) -> AbilityResult<()> {
        self.launched.wire.stop = stop.clone();
        self.catch_up(deadline)?;
        self.download = None;
        Ok(())
    }

    /// Returns whether the browser has closed its pipe.
    pub(super) fn has_ended(&mut self) -> bool {
        matches!(self.launched.wire.receive_at_once(), Err(WireFault::Ended(_)))
    }

    /// Opens a page in a window of its own.
    pub(super) fn open_page(&mut self, address: &str, call: &PageCall<'_>) -> AbilityResult {
        let page = self.new_page(call.end)?;
        let opened = self.visit_address(page, address, call);
        if opened.is_err() {
            // The tool does not know its number.
            let _ = self.close_page(page, call.end);
        }
        opened
    }

    /// Lets a page load an address.
    fn visit_address(&mut self, page: u64, address: &str, call: &PageCall<'_>) -> AbilityResult {
        let session = self.find_page(page)?.session.clone();
        let until = call.load_deadline();
        let params = json!({"url": address});
        let is_stranger = !self.launched.gate.knows_browser();
        if is_stranger {
            self.await_challenge(&session, true, call.deadline)?;
        }
        let answer = self.send_request(Some(&session), "Page.navigate", &params, call.deadline);
        if is_stranger {
            self.await_challenge(&session, false, call.end)?;
        }
        let answer = match answer {
            Ok(answer) => answer,
            Err(WireFault::TimedOut) => {
                // While it waits for an answer, a page answers nothing else.
                self.post_command(Some(&session), "Page.stopLoading", &json!({}), call.end)?;
                return Err(create_failure(format!(
                    "{} did not answer in time",
                    render_address(address)
                )));
            }
            Err(fault) => return Err(fault.into()),
        };
        if answer["isDownload"] == true || self.download.is_some() {
            return Err(not_here());
        }
        if let Some(problem) = answer["errorText"].as_str() {
            return Err(self.unreachable_error(address, problem));
        }
        let is_loaded = self.wait_until_loaded(page, until)?;
        self.read_page_state(page, is_loaded, call.end)
    }

    /// Returns the error for a page that does not load, with the requests that were refused for it.
    fn unreachable_error(&mut self, address: &str, problem: &str) -> AbilityRefusal {
        let place = render_address(address);
        match (self.said_refusals(), problem) {
            (Some(reasons), _) => create_refusal(format!("{place} does not load: {reasons}")),
            (None, "net::ERR_ABORTED") => create_failure(format!("{place} has no content to show")),
            (None, problem) => {
                let problem = problem.trim_start_matches("net::");
                create_failure(format!("{place} does not load: {problem}"))
            }
        }
    }

    /// Returns what a tool gets to know about a page.
    fn read_page_state(&mut self, page: u64, is_loaded: bool, deadline: Duration) -> AbilityResult {
        let frame = self.find_frame(page, None, deadline)?;
        let mut state = self.read_frame(&frame, "state", json!({}), deadline)?;
        state["page"] = json!(page);
        state["loaded"] = json!(is_loaded);
        Ok(state)
    }

    /// Carries out a call to a page.
    pub(super) fn carry_out(&mut self, call: &PageCall<'_>) -> AbilityResult {
        let deadline = call.deadline;
        if call.call == "pages" {
            let numbers: Vec<u64> = self.pages.keys().copied().collect();
            let mut found = Vec::new();
            for number in numbers {
                match self.read_page_state(number, true, call.element_deadline()) {
                    Ok(state) => found.push(state),
                    Err(refusal) if self.has_ended() => return Err(refusal),
                    // It has crashed, closes just now, or does not answer.
                    Err(_) => {}
                }
            }
            return Ok(json!(found));
        }
        let page = call.page_number()?;
        if call.call == "close" {
            return Ok(self.close_page(page, deadline).map(|()| Value::Null)?);
        }
        let main = self.find_page(page)?.session.clone();
        let frame = self.find_frame(page, call.args.get(1).and_then(Value::as_str), deadline)?;
        match call.call {
            "goto" => {
                let address = call.text_argument(0, "an address")?;
                let patience = deadline.saturating_sub(call.context.system.elapsed());
                network::check_address(call.context.policy, address, patience)?;
                self.visit_address(page, address, call)
            }
            "state" => self.read_page_state(page, true, deadline),
            "text" => self.read_page_text(page, &frame, call),
            "links" => {
                let found = self.read_frame(&frame, "links", json!({}), deadline)?;
                check_complete(&found, "links").map(|()| found["links"].clone())
            }
            "table" => {
                let selector = call.own_argument(0).and_then(Value::as_str).unwrap_or("table");
                let args = json!({"selector": selector});
                let found = self.read_frame(&frame, "table", args, call.element_deadline())?;
                check_complete(&found, "cells").map(|()| found["table"].clone())
            }
            "tree" => self.read_accessibility_tree(&frame, deadline),
            "frame" => {
                let selector = call.text_argument(0, "a selector of a frame")?;
                let found = self.inner_frame(page, &frame, selector, call.element_deadline())?;
                Ok(json!({"frame": found.id, "url": found.url, "name": found.name}))
            }
            "frames" => {
                let frames = self.list_frames(page, deadline)?;
                let inner = frames.iter().filter(|one| one.id != frame.id);
                let shown =
                    inner.map(|one| json!({"frame": one.id, "url": one.url, "name": one.name}));
                Ok(shown.collect())
            }
            "fill" => self.fill_field(&frame, call),
            "click" => {
                let before = self.loading_state(page);
                self.press_mouse(page, &frame, call)?;
                self.wait_for_effect(page, before, call)
            }
            "press" => {
                let written = call.text_argument(0, "a key")?;
                let key = PressedKey::parse(written).ok_or_else(|| {
                    create_refusal("unknown key; write `Enter`, `a`, `F5` or `Control+A`")
                })?;
                let before = self.loading_state(page);
                for event in key.key_events() {
                    self.send_request(Some(&main), "Input.dispatchKeyEvent", &event, deadline)?;
                }
                self.wait_for_effect(page, before, call)
            }
            "wait" => self.wait_for_condition(page, &frame, call),
            "cookies" => self.read_cookies(&main, deadline),
            "screenshot" => self.take_screenshot(&frame, call),
            "pdf" => self.print_pdf(&main, call),
            "download" => self.keep_file(page, &frame, call),
            other => Err(create_refusal(format!("unknown function `host.browser.{other}`"))),
        }
    }

    /// Returns the text of a page with its frames, or of one element.
    fn read_page_text(
        &mut self,
        page: u64,
        frame: &FrameHandle,
        call: &PageCall<'_>,
    ) -> AbilityResult {
        let selector = call.own_argument(0).and_then(Value::as_str);
        let args = json!({"selector": selector});
        let until = if selector.is_some() { call.element_deadline() } else { call.deadline };
        let mut text = self.read_text(frame, args, until)?;
        if selector.is_some() || !frame.parent.is_empty() {
            return Ok(json!(text));
        }
        for inner in self.list_frames(page, call.deadline)?.iter().skip(1) {
            // One that is gone or does not answer has no text.
            let until = call.element_deadline();
            let Ok(more) = self.read_text(inner, json!({"selector": null}), until) else {
                continue;
            };
            if text.len() + more.len() > limits::BROWSER_TEXT {
                text.push_str("\n[truncated: text of more frames]");
                break;
            }
            if !more.trim().is_empty() {
                text.push_str("\n\n");
                text.push_str(&more);
            }
        }
        Ok(json!(text))
    }

    fn read_text(
        &mut self,
        frame: &FrameHandle,
        args: Value,
        deadline: Duration,
    ) -> AbilityResult<String> {
        let found = self.read_frame(frame, "text", args, deadline)?;
        Ok(found["text"].as_str().unwrap_or_default().to_owned())
    }

    fn fill_field(&mut self, frame: &FrameHandle, call: &PageCall<'_>) -> AbilityResult {
        let selector = call.text_argument(0, "a selector")?;
        let typed = call.text_argument(1, "the text")?;
        let args = json!({"selector": selector, "text": typed});
        let found = self.read_frame(frame, "fill", args, call.element_deadline())?;
        if found["type"] == true {
            let session = Some(frame.session.as_str());
            if typed.is_empty() {
                for event in PressedKey::parse("Delete").iter().flat_map(PressedKey::key_events) {
                    self.send_request(session, "Input.dispatchKeyEvent", &event, call.deadline)?;
                }
            } else {
                let params = json!({"text": typed});
                self.send_request(session, "Input.insertText", &params, call.deadline)?;
            }
            self.read_frame(frame, "leave", json!({}), call.deadline)?;
        }
        Ok(Value::Null)
    }

    /// Clicks at the middle of an element.
    pub(super) fn press_mouse(
        &mut self,
        page: u64,
        frame: &FrameHandle,
        call: &PageCall<'_>,
    ) -> AbilityResult<()> {
        let selector = call.text_argument(0, "a selector")?;
        let args = json!({"selector": selector});
        let point = self.read_frame(frame, "point", args, call.element_deadline())?;
        let (left, top) = self.frame_offset(page, frame, call.deadline)?;
        let x = left + point["x"].as_f64().unwrap_or_default();
        let y = top + point["y"].as_f64().unwrap_or_default();
        let main = self.find_page(page)?.session.clone();
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let is_press = kind != "mouseMoved";
            let event = json!({
                "type": kind, "x": x, "y": y, "button": if is_press { "left" } else { "none" },
                "buttons": u8::from(kind == "mousePressed"), "clickCount": u8::from(is_press),
            });
            match self.send_request(Some(&main), "Input.dispatchMouseEvent", &event, call.deadline)
            {
                Ok(_) => {}
                // The click has closed the page or replaced it.
                Err(WireFault::Refused(_)) => break,
                Err(fault) => return Err(fault.into()),
            }
        }
        Ok(())
    }

    /// Waits for what a click or a key has started.
    fn wait_for_effect(
        &mut self,
        page: u64,
        before: LoadingState,
        call: &PageCall<'_>,
    ) -> AbilityResult {
        self.wait_for_echo(page, call.deadline)?;
        self.wait_until_loaded(page, call.load_deadline())?;
        let after = self.loading_state(page);
        if after.begun > before.begun && after.shown == before.shown {
            // What was loaded is no document; if it is a file, that is said a little later.
            let soon = call.deadline.min(call.context.system.elapsed() + DOWNLOAD_TIME);
            self.wait_until(soon, |browser| browser.download.is_some())?;
        }
        if self.download.is_some() {
            return Err(not_here());
        }
        if after.is_unreachable && after.shown > before.shown {
            let reason = self.said_refusals().unwrap_or_else(|| "no answer".to_owned());
            return Err(create_failure(format!("the next page does not load: {reason}")));
        }
        Ok(Value::Null)
    }

    /// Returns the reasons of refused requests since the start of the call.
    pub(super) fn said_refusals(&mut self) -> Option<String> {
        let refused = self.collect_connections().iter().filter_map(|one| one.refusal.as_ref());
        let refusals: Vec<String> = refused.map(ToString::to_string).collect();
        (!refusals.is_empty()).then(|| refusals.join("; "))
    }

    /// Waits until the page has carried out what it was sent: its events come before its answer.
    pub(super) fn wait_for_echo(&mut self, page: u64, deadline: Duration) -> AbilityResult<()> {
        let Ok(state) = self.find_page(page) else { return Ok(()) };
        let session = state.session.clone();
        let params = json!({"expression": "0"});
        match self.send_request(Some(&session), "Runtime.evaluate", &params, deadline) {
            // The document was replaced, or the page is closed.
            Ok(_) | Err(WireFault::Refused(_)) => Ok(()),
            Err(fault) => Err(fault.into()),
        }
    }

    /// Waits for milliseconds, an element, a text, an address, or the end of loading.
    fn wait_for_condition(
        &mut self,
        page: u64,
        frame: &FrameHandle,
        call: &PageCall<'_>,
    ) -> AbilityResult {
        let now = call.context.system.elapsed();
        let until = if call.is_timed { call.deadline } else { call.load_deadline() };
        let option = |name: &str| call.option(0, name).and_then(Value::as_str);
        match call.own_argument(0) {
            None => {
                if !self.wait_until_loaded(page, until)? {
                    return Err(create_failure("the page is still loading"));
                }
            }
            Some(Value::Number(milliseconds)) => {
                let time = Duration::from_millis(milliseconds.as_u64().unwrap_or_default());
                self.wait_until(call.deadline.min(now + time), |_| false)?;
            }
            Some(Value::String(selector)) => {
                self.read_frame(frame, "visible", json!({"selector": selector}), until)?;
            }
            Some(Value::Object(_)) => {
                let reads = [
                    ("selector", "visible", "selector"),
                    ("gone", "gone", "selector"),
                    ("text", "has", "text"),
                ];
                let asked = reads.into_iter().find_map(|(name, operation, field)| {
                    Some((operation, json!({field: option(name)?})))
                });
                if let Some((operation, args)) = asked {
                    self.read_frame(frame, operation, args, until)?;
                } else if let Some(part) = option("url") {
                    self.wait_for_address(page, part, until)?;
                } else {
                    return Err(create_refusal("wait for `selector`, `gone`, `text` or `url`"));
                }
            }
            Some(_) => {
                return Err(create_refusal(
                    "wait for milliseconds, a selector, or `{ selector, gone, text, url }`",
                ));
            }
        }
        Ok(Value::Null)
    }

    fn wait_for_address(&mut self, page: u64, part: &str, deadline: Duration) -> AbilityResult<()> {
        loop {
            let state = self.read_page_state(page, true, deadline)?;
            if state["url"].as_str().is_some_and(|url| url.contains(part)) {
                return Ok(());
            }
            self.wait_to_retry(deadline, "the page is at another address")?;
        }
    }

    fn read_cookies(&mut self, session: &str, deadline: Duration) -> AbilityResult {
        let found = self.send_request(Some(session), "Network.getCookies", &json!({}), deadline)?;
        let cookies = found["cookies"].as_array().cloned().unwrap_or_default();
        let shown = cookies.iter().map(|cookie| {
            json!({
                "name": cookie["name"], "value": cookie["value"], "domain": cookie["domain"],
                "path": cookie["path"], "secure": cookie["secure"], "httpOnly": cookie["httpOnly"],
            })
        });
        Ok(shown.collect())
    }
}

/// Returns the error for an address that is a file to keep.
fn not_here() -> AbilityRefusal {
    create_refusal("is a download: use `page.download`")
}

/// Returns an address for a message, without user and query.
fn render_address(address: &str) -> String {
    let shown = network::render_request_target(address, None);
    format!("`{}`", shown.trim_start_matches("GET "))
}

/// Refuses an answer that was cut.
fn check_complete(found: &Value, what: &str) -> AbilityResult<()> {
    if found["more"] == true {
        let most = limits::BROWSER_ELEMENTS;
        return Err(create_refusal(format!("more than {most} {what}")));
    }
    Ok(())
}
