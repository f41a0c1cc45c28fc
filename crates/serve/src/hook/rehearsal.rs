//! A rehearsal: what an agent would get for one action on a file, event by event, with nothing recorded.

use brief_clients::hook::{CallTrace, HookCall, HookMoment, HookStart, ToolEffect, Touch};
use brief_engine::{Action, System, Timing};
use brief_profiles::Client;
use serde::Serialize;

use super::memory::{DeliveredEntries, Memory};
use super::question::open_event;
use super::{EventAnswer, HookError, HookOptions, answer_event};

/// The answer to one event of a rehearsal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RehearsedEvent {
    /// The client's name of the event.
    pub event: String,
    /// True if the call would be held back with it.
    #[serde(rename = "held")]
    pub holds: bool,
    /// The text that the model would get; `None` for none.
    pub text: Option<String>,
}

/// Rehearses a new conversation of `client` in `directory` that does one thing to a file.
pub fn rehearse_conversation(
    system: &dyn System,
    client: &Client,
    directory: &std::path::Path,
    (path, action): (&std::path::Path, Action),
    options: HookOptions<'_>,
) -> Result<Vec<RehearsedEvent>, HookError> {
    let Some(hook) = &client.hook else { return Ok(Vec::new()) };
    let memory = Memory::transient(system);
    let mut known = DeliveredEntries::default();
    let events = &hook.events;
    let tool = |time: Timing| {
        let touches = vec![Touch::new(path, ToolEffect::Does(action))];
        HookMoment::from_tool_call(hook, time, touches, false)
    };
    let is_asked_before = events.before_carries || hook.can_refuse();
    let begin = if events.starts_with_prompt() {
        (events.prompt.first(), HookMoment::Prompt { paths: Vec::new(), is_said: true })
    } else {
        (events.start.first(), HookMoment::Start { how: HookStart::New })
    };
    let moments = [
        begin,
        (events.before.first().filter(|_| is_asked_before), tool(Timing::Before)),
        (events.after.first(), tool(Timing::After)),
    ];
    let mut told = Vec::new();
    for (event, moment) in moments {
        let Some(event) = event else { continue };
        let call = HookCall {
            client,
            hook,
            event: event.to_string(),
            cwd: Some(directory.to_owned()),
            workspace: None,
            forked_from: None,
            session: None,
            stamp: None,
            moment,
            wants_decisions: false,
            trace: CallTrace::default(),
            unknown: None,
            command: None,
            tool: None,
        };
        let asked = open_event(system, &call, options, Some(&memory), &mut known)?;
        let Some(asked) = asked else { continue };
        let EventAnswer { context, holds, .. } =
            answer_event(asked, &call, (options, 0), Some(&memory), &mut known);
        let text = context.map(|(text, _)| text);
        told.push(RehearsedEvent { event: event.to_string(), text, holds });
    }
    Ok(told)
}
