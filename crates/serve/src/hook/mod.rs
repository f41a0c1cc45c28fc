//! The hook: answers a client's tool call with the guidance for it.
//!
//! It asks the same question as `brief context --client …` and leaves out the entries that the conversation
//! was told before. It runs many times a minute, so it reads only files along the path to the target, starts
//! no async runtime and walks no tree. It never breaks its client: its output approves or denies nothing, and
//! after its deadline it prints nothing.

mod memory;
mod message;
mod notice;
mod question;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use brief_clients::hook::{self, HookEvent, ToolCall, Words};
use brief_engine::{Briefing, System};
use brief_syntax::system::Remembered;
use brief_syntax::{Diagnostic, diagnostic, limits};

use memory::Memory;
use message::Message;

/// The default time limit of a hook. A client waits for it before each tool call.
const DEADLINE: Duration = Duration::from_millis(250);

/// The variable with another limit, in milliseconds.
const DEADLINE_VARIABLE: &str = "BRIEF_HOOK_DEADLINE";

/// Returns the time limit of a hook.
pub fn deadline(system: &dyn System) -> Duration {
    let limit = system.env(DEADLINE_VARIABLE);
    let limit = limit.and_then(|limit| limit.to_str()?.parse().ok());
    limit.map_or(DEADLINE, Duration::from_millis)
}

/// The options of a hook.
#[derive(Debug, Clone, Copy)]
pub struct HookOptions {
    /// The program that a reader should run to see all guidance.
    pub program: &'static str,
    /// The treatment of entries that this conversation was told before.
    pub repeat: Repeat,
    /// The guidance to answer from.
    pub guidance: Guidance,
    /// The token budget of one conversation; [`limits::HOOK_TOKENS`] by default. It has an effect only where
    /// the conversation is remembered.
    pub budget: usize,
}

/// The guidance that a hook answers from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guidance {
    /// All guidance for the client, from its repository down.
    All,
    /// `AGENTS.yaml` files at or below the client's working directory, as their specification says.
    Structured,
}

/// The treatment of repeated entries within one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// An entry is delivered each time it applies.
    Always,
    /// An entry is delivered once, until the conversation is compacted or started again.
    Once,
}

/// The output of a hook.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HookOutcome {
    /// One line of JSON for the client; `None` for an empty answer.
    pub answer: Option<String>,
    /// The problems of the files that were read.
    pub diagnostics: Vec<Diagnostic>,
    /// True if a file was asked about and no guidance file of any kind was found on its path.
    pub found_nothing: bool,
}

/// A hook without an answer. It never stops the client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// The input is not JSON.
    #[error("the hook's input is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The input exceeds the size limit.
    #[error("the hook's input is larger than {0} bytes")]
    TooLarge(u64),
    /// The input could not be read.
    #[error("the hook's input could not be read: {0}")]
    Input(#[source] std::io::Error),
    /// The working directory cannot be opened.
    #[error("the working directory `{path}` cannot be read: {source}")]
    Root {
        /// The directory.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
}

/// Reads one call of a hook and answers it.
pub fn answer_input(
    system: Arc<dyn System>,
    input: impl Read,
    options: HookOptions,
) -> Result<HookOutcome, HookError> {
    answer(&Remembered::new(system), &read_all(input)?, options)
}

fn read_all(input: impl Read) -> Result<Vec<u8>, HookError> {
    let mut bytes = Vec::new();
    let limit = limits::HOOK_INPUT_BYTES;
    input.take(limit + 1).read_to_end(&mut bytes).map_err(HookError::Input)?;
    if bytes.len() as u64 > limit { Err(HookError::TooLarge(limit)) } else { Ok(bytes) }
}

/// Answers one call of a hook.
pub fn answer(
    system: &dyn System,
    input: &[u8],
    options: HookOptions,
) -> Result<HookOutcome, HookError> {
    match hook::read_event(input).map_err(HookError::NotJson)? {
        HookEvent::Tool(call) => answer_tool_call(system, &call, options),
        HookEvent::Forget { session, extent } => {
            if let (Some(session), Repeat::Once) = (session, options.repeat) {
                Memory::of(system, &session).forget(extent);
            }
            Ok(HookOutcome::default())
        }
        HookEvent::Other => Ok(HookOutcome::default()),
    }
}

fn answer_tool_call(
    system: &dyn System,
    call: &ToolCall,
    options: HookOptions,
) -> Result<HookOutcome, HookError> {
    let memory = match (&call.session, options.repeat) {
        (Some(session), Repeat::Once) => Some(Memory::of(system, session)),
        _ => None,
    };
    let mut known = memory.as_ref().map(Memory::recall).unwrap_or_default();
    let (root, briefings) =
        question::ask(system, call, options.guidance, memory.as_ref(), &mut known)?;
    let mut outcome = HookOutcome {
        answer: None,
        diagnostics: diagnostics(&briefings),
        found_nothing: briefings.iter().any(|briefing| briefing.files == 0),
    };
    let mut message = Message::new(call, options, &root);
    for briefing in &briefings {
        message.add(briefing);
    }
    let context = message.finish(memory.as_ref(), &mut known);
    let notice = match (&call.session, options.repeat) {
        (Some(session), Repeat::Once) => {
            notice::about(system, session, &outcome.diagnostics, &root)
        }
        _ => None,
    };
    if context.is_some() || notice.is_some() {
        let words = Words { context: context.as_deref(), notice: notice.as_deref() };
        outcome.answer = Some(hook::answer(call.hook, call.timing, words));
    }
    Ok(outcome)
}

/// Returns the problems in the files that were read, each once.
fn diagnostics(briefings: &[Briefing]) -> Vec<Diagnostic> {
    let mut diagnostics: Vec<Diagnostic> =
        briefings.iter().flat_map(|briefing| briefing.diagnostics.iter().cloned()).collect();
    if briefings.len() > 1 {
        diagnostic::sort(&mut diagnostics);
        diagnostics.dedup();
    }
    diagnostics
}
