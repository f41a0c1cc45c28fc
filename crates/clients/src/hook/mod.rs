//! Parses hook payloads: a client's report of a tool call.

mod claude;
mod patch;
mod payload;
mod pi;
mod shell;

use std::path::PathBuf;

use brief_dialects::{Action, Timing};
use serde::Serialize;

/// The longest text from a hook that Claude Code passes to the model, in characters. It replaces longer ones
/// by a preview.
pub const CLAUDE_OUTPUT_LIMIT: usize = 10_000;

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
    /// The client, which decides the format of the answer.
    pub client: HookClient,
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

/// The client that asks, which decides the format of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookClient {
    /// Claude Code, and clients that speak its hook protocol.
    Claude,
    /// The pi coding agent.
    Pi,
}

/// A file or directory that a tool touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// The path as the client gave it.
    pub path: PathBuf,
    /// The effect on the path.
    pub how: ToolEffect,
}

impl HookClient {
    /// Returns the name of the client, as in its own files.
    pub fn name(self) -> &'static str {
        match self {
            HookClient::Claude => "claude",
            HookClient::Pi => "pi",
        }
    }
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

/// Parses a payload.
pub fn read_event(json: &[u8]) -> Result<HookEvent, serde_json::Error> {
    let payload: payload::Payload<'_> = serde_json::from_slice(json)?;
    if payload.source.as_deref().is_some_and(|source| source.eq_ignore_ascii_case("pi")) {
        Ok(pi::event(&payload))
    } else {
        Ok(claude::event(&payload))
    }
}

/// The answer for Claude Code.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeAnswer<'a> {
    /// The message for the user; the model does not see it (Claude Code 2.1.325, seen 2026-11-16).
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<ClaudeOutput<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeOutput<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// The answer for our extension for pi.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PiAnswer<'a> {
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

/// Returns the JSON answer with `words` for `client`.
///
/// It never contains a permission decision: context must not approve a tool call.
pub fn answer(client: HookClient, timing: Timing, words: Words<'_>) -> String {
    let hook_event_name = match timing {
        Timing::Before => "PreToolUse",
        Timing::After => "PostToolUse",
    };
    let Words { context, notice } = words;
    let json = match client {
        HookClient::Claude => serde_json::to_string(&ClaudeAnswer {
            system_message: notice,
            hook_specific_output: context
                .map(|context| ClaudeOutput { hook_event_name, additional_context: context }),
        }),
        HookClient::Pi => {
            serde_json::to_string(&PiAnswer { additional_context: context.unwrap_or_default() })
        }
    };
    json.expect("a struct of texts is always JSON")
}
