//! The pi coding agent.

use std::path::PathBuf;

use brief_dialects::{Action, Timing};

use super::payload::Payload;
use super::{HookClient, HookEvent, ToolCall, ToolEffect, Touch, shell};

pub(super) fn event(payload: &Payload<'_>) -> HookEvent {
    let timing = match payload.event.as_deref() {
        Some("tool_call") => Timing::Before,
        Some("tool_result") => Timing::After,
        _ => return HookEvent::Other,
    };
    let path = payload.input.path.as_deref().filter(|path| !path.is_empty());
    let one = |how| path.into_iter().map(|path| Touch::new(path, how)).collect();
    let touches: Vec<Touch> = match payload.tool_name.as_deref().unwrap_or_default() {
        "read" => one(ToolEffect::Does(Action::Read)),
        "edit" => one(ToolEffect::Does(Action::Edit)),
        "write" => one(ToolEffect::Writes),
        "bash" => shell::touches(payload.input.command.as_deref().unwrap_or_default()),
        _ => one(ToolEffect::Unknown),
    };
    if touches.is_empty() {
        return HookEvent::Other;
    }
    HookEvent::Tool(ToolCall {
        client: HookClient::Pi,
        cwd: payload.cwd.as_deref().filter(|cwd| !cwd.is_empty()).map(PathBuf::from),
        session: None,
        timing,
        touches,
        is_shell: payload.tool_name.as_deref() == Some("bash"),
        wants_decisions: payload.include_decisions.0,
    })
}
