//! A payload in our terms, by the names in the client's file.

use std::path::PathBuf;

use brief_dialects::{Action, Timing};
use brief_profiles::{Client, HookProfile};

use super::payload::Payload;
use super::{HookEvent, HookSession, MemoryExtent, ToolCall, ToolEffect, Touch, patch, shell};

/// Reads the event of a payload of `client`, whose protocol is `hook`.
pub(super) fn event(
    payload: &Payload<'_>,
    client: &'static Client,
    hook: &'static HookProfile,
) -> HookEvent {
    let session = given(payload.session_id.as_deref()).map(|id| HookSession {
        id: id.to_owned(),
        agent: given(payload.agent_id.as_deref()).map(str::to_owned),
    });
    let name = payload.hook_event_name.as_deref().or(payload.event.as_deref());
    let timing = match name.unwrap_or_default() {
        name if name == &*hook.events.before => Timing::Before,
        name if name == &*hook.events.after => Timing::After,
        name if hook.events.start.has(name) => {
            return match payload.source.as_deref() {
                // The conversation continues with everything that was said.
                Some("resume") => HookEvent::Other,
                Some("compact") => {
                    HookEvent::Forget { session, extent: MemoryExtent::Conversation }
                }
                _ => HookEvent::Forget { session, extent: MemoryExtent::Session },
            };
        }
        name if hook.events.compacted.has(name) => {
            return HookEvent::Forget { session, extent: MemoryExtent::Conversation };
        }
        _ => return HookEvent::Other,
    };
    let touches = touches(payload, hook, timing);
    if touches.is_empty() {
        return HookEvent::Other;
    }
    HookEvent::Tool(ToolCall {
        client,
        hook,
        cwd: given(payload.cwd.as_deref()).map(PathBuf::from),
        session,
        timing,
        touches,
        is_shell: payload.tool_name.as_deref().is_some_and(|tool| hook.tools.shell.has(tool)),
        // Both events of one call would repeat the decisions of a plan.
        wants_decisions: payload.include_decisions.0
            || payload.permission_mode.as_deref() == Some("plan") && timing == Timing::Before,
    })
}

fn touches(payload: &Payload<'_>, hook: &HookProfile, timing: Timing) -> Vec<Touch> {
    let inputs = [&payload.tool_input, &payload.input];
    let text = |key: &str| inputs.iter().find_map(|input| given(input.text(key)));
    let one = |effect| {
        let path = hook.paths.iter().find_map(|key| text(key));
        path.into_iter().map(|path| Touch::new(path, effect)).collect()
    };
    let (tool, tools) = (payload.tool_name.as_deref().unwrap_or_default(), &hook.tools);
    if tools.read.has(tool) {
        one(ToolEffect::Does(Action::Read))
    } else if tools.edit.has(tool) {
        one(ToolEffect::Does(Action::Edit))
    } else if tools.write.has(tool) {
        // After the tool has run the file exists in any case; its response tells an edit from a creation.
        let is_created = payload.tool_response.text("type") == Some("create");
        one(match timing {
            Timing::Before => ToolEffect::Writes,
            Timing::After if is_created => ToolEffect::Does(Action::Create),
            Timing::After => ToolEffect::Does(Action::Edit),
        })
    } else if tools.search.has(tool) {
        // A search is about a directory: the named one, or the current one.
        vec![Touch::new(text("path").unwrap_or("."), ToolEffect::Does(Action::Read))]
    } else if tools.shell.has(tool) {
        shell::touches(text("command").unwrap_or_default())
    } else if tools.patch.has(tool) {
        patch::touches(text("command").or_else(|| text("input")).unwrap_or_default())
    } else {
        one(ToolEffect::Unknown)
    }
}

fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}
