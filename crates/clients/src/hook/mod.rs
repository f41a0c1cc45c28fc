//! Hook payloads: what a client tells us about a tool call.

mod claude;
mod patch;
mod payload;
mod pi;
mod shell;

use std::path::PathBuf;

use brief_dialects::{Action, Timing};
use serde::Serialize;

/// The longest text that Claude Code passes to the model from a hook, in characters. Longer ones
/// are replaced by a preview.
pub const CLAUDE_OUTPUT_LIMIT: usize = 10_000;

/// What a client called us for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookEvent {
    /// A tool is about to run, or has run.
    Tool(ToolCall),
    /// The conversation was started, cleared or compacted: what was delivered before is gone.
    Forget {
        /// The conversation.
        session: Option<Session>,
        /// How much is gone.
        extent: Extent,
    },
    /// Nothing that concerns us.
    Other,
}

/// How much of a session's memory an event takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The session began or ended.
    Session,
    /// One conversation in it was compacted.
    Conversation,
}

/// A conversation with a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The client's name for it.
    pub id: String,
    /// The agent within it; a subagent does not see what the main one was told.
    pub agent: Option<String>,
}

/// A tool call, in our words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The client whose answer has to be written.
    pub client: Client,
    /// Where the client works now; the root, unless it says otherwise.
    pub cwd: Option<PathBuf>,
    /// The conversation.
    pub session: Option<Session>,
    /// Before or after the tool runs.
    pub timing: Timing,
    /// What it touches.
    pub touches: Vec<Touch>,
    /// Whether that was read from a shell command.
    pub is_shell: bool,
    /// Whether decisions are wanted: the agent is making plans.
    pub wants_decisions: bool,
}

/// Who asks, which decides the shape of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
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
    /// What happens to it.
    pub how: How,
}

impl Client {
    /// Returns the name of the client, by which its own files are known.
    pub fn name(self) -> &'static str {
        match self {
            Client::Claude => "claude",
            Client::Pi => "pi",
        }
    }
}

impl Touch {
    fn new(path: impl Into<PathBuf>, how: How) -> Touch {
        Touch { path: path.into(), how }
    }
}

/// What a tool does to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// One action.
    Does(Action),
    /// It writes: an edit if the file exists, else a creation.
    Writes,
    /// We do not know the tool: everything may apply.
    Unknown,
}

/// Reads a payload.
pub fn read_event(json: &[u8]) -> Result<HookEvent, serde_json::Error> {
    let payload: payload::Payload<'_> = serde_json::from_slice(json)?;
    if payload.source.as_deref().is_some_and(|source| source.eq_ignore_ascii_case("pi")) {
        Ok(pi::event(&payload))
    } else {
        Ok(claude::event(&payload))
    }
}

/// What Claude Code reads from a hook.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeAnswer<'a> {
    /// For the user; the model does not see it (Claude Code 2.1.325, seen 2026-11-16).
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

/// What our extension for pi reads.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PiAnswer<'a> {
    additional_context: &'a str,
}

/// What a hook has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Words<'w> {
    /// For the model.
    pub context: Option<&'w str>,
    /// For the user alone. A client without a place for it drops it.
    pub notice: Option<&'w str>,
}

/// Returns the JSON with which `client` passes `words` on.
///
/// There is never a permission decision in it: context must not approve a tool call.
pub fn answer(client: Client, timing: Timing, words: Words<'_>) -> String {
    let hook_event_name = match timing {
        Timing::Before => "PreToolUse",
        Timing::After => "PostToolUse",
    };
    let Words { context, notice } = words;
    let json = match client {
        Client::Claude => serde_json::to_string(&ClaudeAnswer {
            system_message: notice,
            hook_specific_output: context
                .map(|context| ClaudeOutput { hook_event_name, additional_context: context }),
        }),
        Client::Pi => {
            serde_json::to_string(&PiAnswer { additional_context: context.unwrap_or_default() })
        }
    };
    json.expect("a struct of texts is always JSON")
}
