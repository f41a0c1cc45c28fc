//! A payload in our terms, by the names in the client's file.

use std::path::{Path, PathBuf};

use brief_dialects::{Action, Timing};
use brief_profiles::{Client, HookEvents, HookProfile};

use super::news::{UnknownKind, UnknownName};
use super::payload::Payload;
use super::{
    CallTrace, GO_ON, HookCall, HookMoment, HookSession, HookStart, ToolEffect, ToolEvent, Touch,
    patch, prompt, shell,
};

/// The tool for patches of Codex. It is known in every client's payloads, because the plain hook of `sctx` takes the payloads of all.
pub(super) const PATCH_TOOL: &str = "apply_patch";

/// Reads a payload of `client`, whose protocol is `hook`. `event` is the event that the command names; a payload
/// without a name of its own is about that one.
pub(super) fn parse_call<'c>(
    payload: &Payload<'_>,
    (client, hook): (&'c Client, &'c HookProfile),
    event: Option<&str>,
) -> HookCall<'c> {
    let session = find_session(payload);
    let forked_from = find_forked_session(payload, session.as_ref());
    let event = event.or(payload.event.as_deref()).unwrap_or_default();
    let moment = classify_moment(payload, hook, event, forked_from.is_some());
    let unknown = find_unknown_name(payload, hook, event, &moment);
    let command = find_command_timing(payload, hook, event);
    let tool = find_tool_event(payload, hook, event);
    // Both events of one call would repeat the decisions of a plan.
    let is_planning = payload.permission_mode.as_deref() == Some("plan")
        && matches!(moment, HookMoment::Tool { timing: Some(Timing::Before), .. });
    HookCall {
        client,
        hook,
        event: event.to_owned(),
        cwd: nonempty_text(payload.cwd.as_deref()).map(PathBuf::from),
        workspace: nonempty_text(payload.workspace.as_deref()).map(PathBuf::from),
        session,
        forked_from,
        stamp: payload.stamp,
        moment,
        wants_decisions: payload.include_decisions || is_planning,
        trace: build_trace(payload),
        unknown,
        command,
        tool,
    }
}

/// Returns the conversation of an event. Cline gives a session that is resumed a new task and a new agent: what stays is the session
/// that its files are named by, in which the agent without a parent is the main one (3.0.65, run on 2026-11-19).
fn find_session(payload: &Payload<'_>) -> Option<HookSession> {
    let root = nonempty_text(payload.root_session.as_deref());
    let id = root.or_else(|| nonempty_text(payload.session.as_deref()))?;
    let is_main = root.is_some() && nonempty_text(payload.parent_agent.as_deref()).is_none();
    let agent = nonempty_text(payload.agent.as_deref()).filter(|_| !is_main);
    Some(HookSession { id: id.to_owned(), agent: agent.map(str::to_owned) })
}

/// Returns the session whose messages this one began with, if it is another one.
fn find_forked_session(
    payload: &Payload<'_>,
    session: Option<&HookSession>,
) -> Option<HookSession> {
    let id = nonempty_text(payload.previous_session.as_deref())?;
    let is_other = session.is_some_and(|session| session.id != id);
    is_other.then(|| HookSession { id: id.to_owned(), agent: None })
}

/// Returns the time of an event about a shell command, whatever its text shows.
fn find_command_timing(payload: &Payload<'_>, hook: &HookProfile, event: &str) -> Option<Timing> {
    let time = match event {
        event if hook.events.before.contains_text(event) => Timing::Before,
        event if hook.events.after.contains_text(event) => Timing::After,
        _ => return None,
    };
    hook.tools.shell.contains_text(find_tool_name(payload)).then_some(time)
}

/// Returns the tool of an event about one.
fn find_tool_event(payload: &Payload<'_>, hook: &HookProfile, event: &str) -> Option<ToolEvent> {
    let time = match event {
        event if hook.events.before.contains_text(event) => Timing::Before,
        event if hook.events.after.contains_text(event) => Timing::After,
        _ => return None,
    };
    let name = find_tool_name(payload);
    let tools = &hook.tools;
    let readers = [&tools.read, &tools.search, &tools.agent];
    Some(ToolEvent {
        time,
        name: name.to_owned(),
        only_reads: readers.into_iter().any(|names| names.contains_text(name)),
        has_failed: has_failed(payload, hook),
    })
}

fn has_failed(payload: &Payload<'_>, hook: &HookProfile) -> bool {
    hook.failed.as_ref().is_some_and(|mark| payload.response.has_failed(&mark.key))
}

/// Returns the event or the tool that no fact is about, as far as it matters: an event of any name, and a tool that names a
/// file. The tools of MCP servers are not the client's.
fn find_unknown_name(
    payload: &Payload<'_>,
    hook: &HookProfile,
    event: &str,
    moment: &HookMoment,
) -> Option<UnknownName> {
    if !event.is_empty() && !hook.events.all_names().any(|name| **name == *event) {
        return Some(UnknownName { kind: UnknownKind::Event, name: event.to_owned() });
    }
    let HookMoment::Tool { touches, .. } = moment else { return None };
    let tool = find_tool_name(payload);
    let is_new = touches.iter().any(|touch| touch.how == ToolEffect::Unknown)
        && !tool.is_empty()
        && !tool.contains("__")
        && !tool.starts_with("mcp");
    is_new.then(|| UnknownName { kind: UnknownKind::Tool, name: tool.to_owned() })
}

fn build_trace(payload: &Payload<'_>) -> CallTrace {
    let owned = |text: &Option<std::borrow::Cow<'_, str>>| {
        nonempty_text(text.as_deref()).map(str::to_owned)
    };
    let mode = nonempty_text(payload.permission_mode.as_deref());
    CallTrace {
        call: owned(&payload.call),
        transcript: owned(&payload.transcript),
        root_session: owned(&payload.root_session),
        // The other words say what runs without a question, and not what the agent is to do.
        mode: mode.map(|mode| if mode == "plan" { "plan" } else { "code" }),
        agent_type: owned(&payload.agent_type),
    }
}

fn classify_moment(
    payload: &Payload<'_>,
    hook: &HookProfile,
    event: &str,
    is_fork: bool,
) -> HookMoment {
    let HookEvents { before, after, start, prompt, subagent, compacted, loaded, stop, .. } =
        &hook.events;
    if before.contains_text(event) {
        tool_call(payload, hook, Timing::Before)
    } else if after.contains_text(event) {
        tool_call(payload, hook, Timing::After)
    } else if start.contains_text(event) {
        match payload.source.as_deref() {
            // The conversation continues with everything that was said.
            Some("resume") if hook.lost_on_resume(is_fork).is_empty() => HookMoment::Other,
            Some("resume") => HookMoment::Start { how: HookStart::Resumed },
            Some("compact") => HookMoment::Start { how: HookStart::Compacted },
            // Our own plugins say this.
            Some("request") => HookMoment::Start { how: HookStart::Request },
            _ => HookMoment::Start { how: HookStart::New },
        }
    } else if prompt.contains_text(event) {
        let said = payload.prompt.as_deref().unwrap_or_default();
        let is_said = !said.trim().is_empty() && !said.starts_with(GO_ON);
        HookMoment::Prompt { paths: prompt::collect_prompt_paths(said), is_said }
    } else if subagent.contains_text(event) {
        HookMoment::Subagent
    } else if compacted.contains_text(event) {
        HookMoment::Compacted
    } else if loaded.contains_text(event) {
        match nonempty_text(payload.file.as_deref()) {
            Some(file) => HookMoment::Loaded {
                file: PathBuf::from(file),
                reason: payload.load_reason.as_deref().unwrap_or_default().to_owned(),
            },
            None => HookMoment::Other,
        }
    } else if stop.contains_text(event) {
        HookMoment::Stop
    } else {
        HookMoment::Other
    }
}

fn tool_call(payload: &Payload<'_>, hook: &HookProfile, time: Timing) -> HookMoment {
    let tool = find_tool_name(payload);
    if hook.tools.agent.contains_text(tool) {
        return HookMoment::Agent { time };
    }
    if time == Timing::After && has_failed(payload, hook) {
        return HookMoment::Other;
    }
    let touches = collect_tool_touches(payload, hook, tool, time);
    if touches.is_empty() {
        return HookMoment::Other;
    }
    HookMoment::from_tool_call(hook, time, touches, hook.tools.shell.contains_text(tool))
}

fn find_tool_name<'p>(payload: &'p Payload<'_>) -> &'p str {
    let named = payload.tool.as_deref();
    let named = named
        .or_else(|| payload.input.find_text("name"))
        .or_else(|| payload.response.find_text("name"));
    named.unwrap_or_default()
}

fn collect_tool_touches(
    payload: &Payload<'_>,
    hook: &HookProfile,
    tool: &str,
    time: Timing,
) -> Vec<Touch> {
    let both = [&payload.input, &payload.response];
    let text = |key: &str| both.iter().find_map(|fields| fields.find_text(key));
    let files = |effect| -> Vec<Touch> {
        let path = hook.paths.iter().find_map(|key| text(key));
        let listed = both.iter().flat_map(|fields| &fields.files).map(|file| &**file);
        path.into_iter().chain(listed).map(|path| Touch::new(path, effect)).collect()
    };
    let tools = &hook.tools;
    if tools.read.contains_text(tool) {
        files(ToolEffect::Does(Action::Read))
    } else if tools.edit.contains_text(tool) {
        files(ToolEffect::Does(Action::Edit))
    } else if tools.create.contains_text(tool) {
        files(ToolEffect::Does(Action::Create))
    } else if tools.write.contains_text(tool) {
        // After the tool has run the file exists in any case; its response tells an edit from a creation.
        let is_created = hook.created.as_ref().map(|mark| {
            payload
                .response
                .find_text(&mark.key)
                .is_some_and(|text| text.starts_with(&*mark.begins))
        });
        files(match (time, is_created) {
            (Timing::Before, _) | (Timing::After, None) => ToolEffect::Writes,
            (Timing::After, Some(true)) => ToolEffect::Does(Action::Create),
            (Timing::After, Some(false)) => ToolEffect::Does(Action::Edit),
        })
    } else if tools.search.contains_text(tool) {
        // A search is about a directory: the named one, or the current one.
        let named = text("path").or_else(|| hook.paths.iter().find_map(|key| text(key)));
        vec![Touch::new(named.unwrap_or("."), ToolEffect::Does(Action::Read))]
    } else if tools.shell.contains_text(tool) {
        let line = text("command").or_else(|| text("cmd"));
        let listed = both.iter().flat_map(|fields| &fields.commands).map(|line| &**line);
        let mut found: Vec<Touch> =
            line.into_iter().chain(listed).flat_map(shell::collect_shell_touches).collect();
        // The client knows more than the text shows.
        for file in &payload.response.changed {
            if !found
                .iter()
                .any(|touch| touch.how.is_change() && Path::new(&**file).ends_with(&touch.path))
            {
                found.push(Touch::new(&**file, ToolEffect::Writes));
            }
        }
        found
    } else if tools.patch.contains_text(tool) || tool == PATCH_TOOL {
        let keys = ["command", "input", "patch"];
        patch::collect_patch_touches(keys.iter().find_map(|key| text(key)).unwrap_or_default())
    } else {
        files(ToolEffect::Unknown)
    }
}

fn nonempty_text(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}
