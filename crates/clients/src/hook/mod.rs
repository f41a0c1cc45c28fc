//! Parses hook payloads: a client's report of a tool call.

mod call;
mod patch;
mod payload;
mod shell;

use std::path::PathBuf;

use brief_dialects::{Action, Timing};
use brief_profiles::{AnswerShape, BUILTIN, Client, HookProfile};
use serde::Serialize;

/// An event that a client reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookEvent {
    /// A tool is about to run, or has run.
    Tool(ToolCall),
    /// The conversation was started, cleared or compacted: earlier guidance is forgotten.
    Forget {
        /// The affected session.
        session: Option<HookSession>,
        /// The forgotten part.
        extent: MemoryExtent,
    },
    /// Any other event.
    Other,
}

/// The part of a session's memory that an event erases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryExtent {
    /// The whole session: it began or ended.
    Session,
    /// One conversation of it, which was compacted.
    Conversation,
}

/// A conversation with a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSession {
    /// The client's id of the session.
    pub id: String,
    /// The agent within it; a subagent does not see the main agent's guidance.
    pub agent: Option<String>,
}

/// A tool call in our terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The client.
    pub client: &'static Client,
    /// Its protocol, which decides the format of the answer.
    pub hook: &'static HookProfile,
    /// The current directory of the client; `None` for the root.
    pub cwd: Option<PathBuf>,
    /// The session, if the client names one.
    pub session: Option<HookSession>,
    /// The time of the event: before or after the tool runs.
    pub timing: Timing,
    /// The paths that the tool touches.
    pub touches: Vec<Touch>,
    /// True if the paths come from a shell command.
    pub is_shell: bool,
    /// True if the agent is planning, so that decisions are due.
    pub wants_decisions: bool,
}

/// A file or directory that a tool touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// The path as the client gave it.
    pub path: PathBuf,
    /// The effect on the path.
    pub how: ToolEffect,
}

impl Touch {
    fn new(path: impl Into<PathBuf>, how: ToolEffect) -> Touch {
        Touch { path: path.into(), how }
    }
}

/// The effect of a tool on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// A single action.
    Does(Action),
    /// A write: an edit if the file exists, else a creation.
    Writes,
    /// An unknown effect: everything may apply.
    Unknown,
}

/// Parses a payload. The client is recognised by it: one settings file may serve several.
pub fn read_event(json: &[u8]) -> Result<HookEvent, serde_json::Error> {
    let payload: payload::Payload<'_> = serde_json::from_slice(json)?;
    let source = payload.source.as_deref().unwrap_or_default();
    let hooks =
        || BUILTIN.clients.iter().filter_map(|client| Some((client, client.hook.as_ref()?)));
    let named = hooks().find(|(_, hook)| {
        hook.source.as_ref().is_some_and(|named| named.eq_ignore_ascii_case(source))
    });
    let found = named.or_else(|| hooks().find(|(_, hook)| hook.source.is_none()));
    Ok(found.map_or(HookEvent::Other, |(client, hook)| call::event(&payload, client, hook)))
}

/// An answer with its text below the event's name.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookSpecificAnswer<'a> {
    /// The message for the user; the model does not see it (Claude Code 2.1.325, seen 2026-11-16).
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<HookSpecificOutput<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookSpecificOutput<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// An answer with its text at the top.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TopLevelAnswer<'a> {
    additional_context: &'a str,
}

/// The texts of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Words<'w> {
    /// The text for the model.
    pub context: Option<&'w str>,
    /// The text for the user alone. A client without a field for it drops it.
    pub notice: Option<&'w str>,
}

/// Returns the JSON answer with `words` for a client with this protocol.
///
/// It never contains a permission decision: context must not approve a tool call.
pub fn answer(hook: &HookProfile, timing: Timing, words: Words<'_>) -> String {
    let Words { context, notice } = words;
    let json = match hook.answer {
        AnswerShape::HookSpecific => {
            let hook_event_name = match timing {
                Timing::Before => &*hook.events.before,
                Timing::After => &*hook.events.after,
            };
            serde_json::to_string(&HookSpecificAnswer {
                system_message: notice,
                hook_specific_output: context.map(|additional_context| HookSpecificOutput {
                    hook_event_name,
                    additional_context,
                }),
            })
        }
        AnswerShape::TopLevel => serde_json::to_string(&TopLevelAnswer {
            additional_context: context.unwrap_or_default(),
        }),
    };
    json.expect("a struct of texts is always JSON")
}
