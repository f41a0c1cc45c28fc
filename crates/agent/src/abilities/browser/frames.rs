//! Frames of a page, and functions that run in them.

use std::time::Duration;

use brief_syntax::limits;
use serde_json::{Value, json};

use super::super::{AbilityResult, create_failure};
use super::running::RunningBrowser;
use super::wire::WireFault;

/// The function that reads a page.
const READER: &str = include_str!("page.js");

/// The interval of looking whether something is there now.
const TICK: Duration = Duration::from_millis(30);

/// A frame, with the session that reaches it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FrameHandle {
    pub(super) session: String,
    pub(super) id: String,
    pub(super) url: String,
    pub(super) name: String,
    /// The frame around it; empty for the main frame.
    pub(super) parent: String,
}

impl RunningBrowser {
    /// Lists the frames of a page, the main frame first.
    pub(super) fn list_frames(
        &mut self,
        page: u64,
        deadline: Duration,
    ) -> AbilityResult<Vec<FrameHandle>> {
        let state = self.find_page(page)?;
        let mut sessions = vec![(state.session.clone(), state.target.clone())];
        sessions
            .extend(state.inner.iter().map(|(session, frame)| (session.clone(), frame.clone())));
        let mut found: Vec<FrameHandle> = Vec::new();
        for (session, root) in &sessions {
            let tree =
                match self.send_request(Some(session), "Page.getFrameTree", &json!({}), deadline) {
                    Ok(tree) => tree,
                    // It has gone meanwhile.
                    Err(WireFault::Refused(_)) => continue,
                    Err(fault) => return Err(fault.into()),
                };
            let mut left = vec![&tree["frameTree"]];
            while let Some(node) = left.pop() {
                let text = |name: &str| node["frame"][name].as_str().unwrap_or_default().to_owned();
                let id = text("id");
                let is_elsewhere = sessions.iter().any(|(_, other)| *other == id && other != root);
                if !is_elsewhere && found.len() < limits::BROWSER_ELEMENTS {
                    let (url, name, parent) = (text("url"), text("name"), text("parentId"));
                    found.push(FrameHandle { session: session.clone(), id, url, name, parent });
                }
                left.extend(node["childFrames"].as_array().into_iter().flatten().rev());
            }
        }
        Ok(found)
    }

    /// Returns a frame by its identity, or the main frame.
    pub(super) fn find_frame(
        &mut self,
        page: u64,
        id: Option<&str>,
        deadline: Duration,
    ) -> AbilityResult<FrameHandle> {
        let state = self.find_page(page)?;
        if id.is_none_or(|id| id == state.target) {
            let (session, id) = (state.session.clone(), state.target.clone());
            return Ok(FrameHandle { session, id, ..FrameHandle::default() });
        }
        let frames = self.list_frames(page, deadline)?;
        let found = frames.into_iter().find(|frame| Some(frame.id.as_str()) == id);
        found.ok_or_else(|| create_failure("the frame no longer exists"))
    }

    /// Calls the reading function in a frame, in a world that the page's scripts cannot reach.
    fn evaluate_in_frame(
        &mut self,
        frame: &FrameHandle,
        operation: &str,
        args: &Value,
        by_value: bool,
        deadline: Duration,
    ) -> Result<Value, WireFault> {
        let session = Some(frame.session.as_str());
        let world = json!({"frameId": frame.id, "worldName": "brief"});
        let world = self.send_request(session, "Page.createIsolatedWorld", &world, deadline)?;
        let call = json!({
            "functionDeclaration": READER,
            "executionContextId": world["executionContextId"],
            "arguments": [{"value": operation}, {"value": args}],
            "returnByValue": by_value,
        });
        let answer = self.send_request(session, "Runtime.callFunctionOn", &call, deadline)?;
        if answer.get("exceptionDetails").is_some() {
            return Err(WireFault::Refused("cannot read the page".to_owned()));
        }
        Ok(answer["result"].clone())
    }

    /// Reads from a frame; waits until what is asked for is there.
    pub(super) fn read_frame(
        &mut self,
        frame: &FrameHandle,
        operation: &str,
        mut args: Value,
        deadline: Duration,
    ) -> AbilityResult {
        args["most"] = json!(limits::BROWSER_TEXT);
        args["elements"] = json!(limits::BROWSER_ELEMENTS);
        let mut why = None;
        loop {
            match self.evaluate_in_frame(frame, operation, &args, true, deadline) {
                Ok(mut result) => {
                    let answer = result["value"].take();
                    match answer["why"].as_str() {
                        None => return Ok(answer),
                        Some(reason) if answer["wait"] != true => {
                            return Err(create_failure(reason));
                        }
                        Some(reason) => why = Some(reason.to_owned()),
                    }
                }
                // A document that was replaced in between.
                Err(WireFault::Refused(problem)) if is_passing(&problem) => {}
                Err(WireFault::TimedOut) if why.is_some() => {}
                Err(fault) => return Err(fault.into()),
            }
            self.wait_to_retry(deadline, why.as_deref().unwrap_or("the page kept changing"))?;
            if !self.pages.values().any(|page| {
                page.session == frame.session || page.inner.contains_key(&frame.session)
            }) {
                return Err(create_failure("the page is closed"));
            }
        }
    }

    /// Waits before the next look at a page; after `deadline`, `why` is the error.
    pub(super) fn wait_to_retry(&mut self, deadline: Duration, why: &str) -> AbilityResult<()> {
        let until = self.launched.wire.system.elapsed() + TICK;
        if until >= deadline {
            return Err(create_failure(why));
        }
        self.wait_until(until, |_| false)?;
        Ok(())
    }

    /// Finds the frame that an element of a frame holds.
    pub(super) fn inner_frame(
        &mut self,
        page: u64,
        frame: &FrameHandle,
        selector: &str,
        deadline: Duration,
    ) -> AbilityResult<FrameHandle> {
        let args = json!({"selector": selector});
        loop {
            let found = self.evaluate_in_frame(frame, "frame", &args, false, deadline)?;
            if let Some(object) = found["objectId"].as_str().filter(|_| found["subtype"] == "node")
            {
                let session = Some(frame.session.as_str());
                let params = json!({"objectId": object});
                let node = self.send_request(session, "DOM.describeNode", &params, deadline)?;
                let id = node["node"]["frameId"].as_str().map(str::to_owned);
                if let Ok(frame) = self.find_frame(page, id.as_deref(), deadline) {
                    return Ok(frame);
                }
            } else {
                // The reason, unless it has come in between.
                self.read_frame(frame, "frame", args.clone(), deadline)?;
            }
            self.wait_to_retry(deadline, "the frame does not load")?;
        }
    }

    /// Returns the place of a frame in the window: its content, from the top left.
    pub(super) fn frame_offset(
        &mut self,
        page: u64,
        frame: &FrameHandle,
        deadline: Duration,
    ) -> AbilityResult<(f64, f64)> {
        let main = self.find_page(page)?.session.clone();
        let (mut x, mut y) = (0.0, 0.0);
        let mut inner = frame.clone();
        let frames = self.list_frames(page, deadline)?;
        while !inner.parent.is_empty() || inner.session != main {
            let parent = frames.iter().find(|frame| frame.id == inner.parent);
            let Some(parent) = parent else { break };
            let session = Some(parent.session.as_str());
            self.send_request(session, "DOM.enable", &json!({}), deadline)?;
            let owner = json!({"frameId": inner.id});
            let owner = self.send_request(session, "DOM.getFrameOwner", &owner, deadline)?;
            let node = json!({"backendNodeId": owner["backendNodeId"]});
            let model = self.send_request(session, "DOM.getBoxModel", &node, deadline)?;
            self.send_request(session, "DOM.disable", &json!({}), deadline)?;
            let corner = &model["model"]["content"];
            x += corner[0].as_f64().unwrap_or_default();
            y += corner[1].as_f64().unwrap_or_default();
            // Places are told from the topmost frame of the session.
            let mut above = parent.clone();
            while let Some(next) = frames
                .iter()
                .find(|frame| frame.id == above.parent && frame.session == parent.session)
            {
                above = next.clone();
            }
            inner = above;
        }
        Ok((x, y))
    }
}

/// Returns whether a refusal tells that a document was replaced.
fn is_passing(problem: &str) -> bool {
    [
        "Cannot find context",
        "context with specified id",
        "navigated",
        "No frame",
        "Cannot find execution",
    ]
    .iter()
    .any(|part| problem.contains(part))
}
