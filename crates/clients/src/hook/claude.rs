//! Claude Code, and the clients that send its payloads (Codex among them).

use std::path::PathBuf;

use brief_dialects::{Action, Timing};

use super::payload::{Payload, PayloadFields};
use super::{
    HookClient, HookEvent, HookSession, MemoryExtent, ToolCall, ToolEffect, Touch, patch, shell,
};

pub(super) fn event(payload: &Payload<'_>) -> HookEvent {
    let session = payload.session_id.as_deref().filter(|id| !id.is_empty()).map(|id| HookSession {
        id: id.to_owned(),
        agent: payload.agent_id.as_deref().filter(|id| !id.is_empty()).map(str::to_owned),
    });
    let timing = match payload.hook_event_name.as_deref() {
        Some("PreToolUse") => Timing::Before,
        Some("PostToolUse") => Timing::After,
        Some("SessionStart") => {
            return match payload.source.as_deref() {
                // The conversation continues with everything that was said.
                Some("resume") => HookEvent::Other,
                Some("compact") => {
                    HookEvent::Forget { session, extent: MemoryExtent::Conversation }
                }
                _ => HookEvent::Forget { session, extent: MemoryExtent::Session },
            };
        }
        Some("PreCompact" | "PostCompact") => {
            return HookEvent::Forget { session, extent: MemoryExtent::Conversation };
        }
        _ => return HookEvent::Other,
    };
    let touches = touches(payload, timing);
    if touches.is_empty() {
        return HookEvent::Other;
    }
    HookEvent::Tool(ToolCall {
        client: HookClient::Claude,
        cwd: payload.cwd.as_deref().filter(|cwd| !cwd.is_empty()).map(PathBuf::from),
        session,
        timing,
        touches,
        is_shell: payload.tool_name.as_deref() == Some("Bash"),
        // Both events of one call would repeat them.
        wants_decisions: payload.permission_mode.as_deref() == Some("plan")
            && timing == Timing::Before,
    })
}

fn touches(payload: &Payload<'_>, timing: Timing) -> Vec<Touch> {
    let input = &payload.tool_input;
    let file = file(input);
    match payload.tool_name.as_deref().unwrap_or_default() {
        "Read" | "NotebookRead" => one(file, ToolEffect::Does(Action::Read)),
        "Edit" | "MultiEdit" | "NotebookEdit" => one(file, ToolEffect::Does(Action::Edit)),
        "Write" => {
            // After the tool has run the file exists in any case; its response tells an edit from a creation.
            let created = payload.tool_response.kind.as_deref() == Some("create");
            let how = match timing {
                Timing::Before => ToolEffect::Writes,
                Timing::After if created => ToolEffect::Does(Action::Create),
                Timing::After => ToolEffect::Does(Action::Edit),
            };
            one(file, how)
        }
        // Searches are about a directory: the named one, or the current one.
        "Grep" | "Glob" | "LS" => {
            let path = input.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
            vec![Touch::new(path, ToolEffect::Does(Action::Read))]
        }
        "Bash" => shell::touches(input.command.as_deref().unwrap_or_default()),
        "apply_patch" => {
            let text = input.command.as_deref().or(input.input.as_deref());
            patch::touches(text.unwrap_or_default())
        }
        _ => one(file, ToolEffect::Unknown),
    }
}

fn file<'p>(input: &'p PayloadFields<'_>) -> Option<&'p str> {
    let path = input.file_path.as_deref().or(input.notebook_path.as_deref());
    path.filter(|path| !path.is_empty())
}

fn one(path: Option<&str>, how: ToolEffect) -> Vec<Touch> {
    path.into_iter().map(|path| Touch::new(path, how)).collect()
}
