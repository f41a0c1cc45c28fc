//! The hook: a client tells what it is about to do, and gets what it should know.
//!
//! It runs many times a minute, so it reads only what lies on the way to the file, starts no
//! runtime and walks no tree. It never breaks its client: nothing it prints approves or denies
//! anything, and past its deadline it says nothing.

mod memory;
mod message;
mod promise;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use brief_clients::hook::{self, HookEvent, How, ToolCall, Touch};
use brief_engine::{Action, Applied, Catalog, Decision, Moment, Resolution, Root, System, Target};
use brief_syntax::{Diagnostic, limits};

use memory::Memory;
use message::Message;
use promise::{NoAnswer, promise};

/// How long a hook may take in all. A client waits for it before each tool call.
pub const DEADLINE: Duration = Duration::from_secs(1);

/// How the hook was called.
#[derive(Debug, Clone, Copy)]
pub struct HookOptions {
    /// The program that a reader should run to see what was left out.
    pub program: &'static str,
    /// Whether to leave out what this conversation was told before.
    pub repeat: Repeat,
}

/// Whether an entry is delivered again within one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Each time it applies.
    Always,
    /// Once, until the conversation is compacted or started again.
    Once,
}

/// What to print.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HookOutcome {
    /// One line of JSON for the client; `None` when there is nothing to say.
    pub answer: Option<String>,
    /// What is wrong with the files that were read.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether a question was asked and no guidance file of any kind was found on its way.
    pub found_nothing: bool,
}

/// Why a hook had nothing to say. Never a reason to stop the client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// The payload is not what a client sends.
    #[error("the hook's input is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The payload is larger than any client's.
    #[error("the hook's input is larger than {0} bytes")]
    TooLarge(u64),
    /// The input could not be read.
    #[error("the hook's input could not be read: {0}")]
    Input(#[source] std::io::Error),
    /// The root is not a directory.
    #[error("the working directory `{path}` cannot be read: {source}")]
    Root {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Time is up.
    #[error("no answer within {} ms", .0.as_millis())]
    TooSlow(Duration),
    /// A defect of ours.
    #[error("the hook ended without an answer")]
    Died,
}

/// Answers one call of a hook, or gives up when `deadline` has passed.
pub fn answer_within(
    deadline: Duration,
    system: Arc<dyn System>,
    input: Box<dyn Read + Send>,
    options: HookOptions,
) -> Result<HookOutcome, HookError> {
    let (promised, expected) = promise();
    // The thread is left behind when it is late; it can only be waiting for the system, and ends
    // with the process.
    thread::spawn(move || {
        let outcome = read_all(input).and_then(|input| answer(system.as_ref(), &input, options));
        promised.keep(outcome);
    });
    expected.wait(deadline).unwrap_or_else(|why| match why {
        NoAnswer::Late => Err(HookError::TooSlow(deadline)),
        NoAnswer::Broken => Err(HookError::Died),
    })
}

fn read_all(input: Box<dyn Read + Send>) -> Result<Vec<u8>, HookError> {
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
    let cwd = match &call.cwd {
        Some(cwd) => cwd.clone(),
        None => system.current_dir().unwrap_or_else(|_| PathBuf::from(".")),
    };
    let root = find_root(system, &cwd)?;
    let mut outcome = HookOutcome::default();
    let mut catalogs = Vec::new();
    for touch in &call.touches {
        // A target outside the root gets nothing from this root.
        let Some(target) = root.locate(system, &cwd, &touch.path) else { continue };
        let catalog = Catalog::along(system, &root, &target);
        outcome.diagnostics.extend(catalog.diagnostics());
        outcome.found_nothing |= catalog.is_empty();
        let moment = Moment {
            action: action(system, &cwd, touch),
            timing: Some(call.timing),
            target: Some(target),
            ..Moment::default()
        };
        catalogs.push((catalog, moment));
    }
    outcome.diagnostics.dedup();
    let mut message = Message::new(call.client, call.timing, options.program);
    let memory = match (&call.session, options.repeat) {
        (Some(session), Repeat::Once) => Some(Memory::of(system, session)),
        _ => None,
    };
    let known = memory.as_ref().map(Memory::recall).unwrap_or_default();
    let resolutions: Vec<(Resolution<'_>, &Moment)> =
        catalogs.iter().map(|(catalog, moment)| (catalog.candidates(moment), moment)).collect();
    for (resolution, moment) in &resolutions {
        let target = moment.target.as_ref().map(Target::slashed).unwrap_or_default();
        for Applied { item, .. } in &resolution.items {
            message.add_context(&item.path.to_string_lossy(), item.content, target, moment.action);
        }
        if call.wants_decisions {
            for Decision { decision, path, .. } in &resolution.decisions {
                message.add_decision(&path.to_string_lossy(), decision, target, moment.action);
            }
        }
    }
    if let Some((answer, delivered)) = message.finish(&known) {
        outcome.answer = Some(answer);
        if let Some(memory) = memory {
            memory.remember(&delivered);
        }
    }
    Ok(outcome)
}

/// The root is where the client works, or where it was started if that is further up: an agent
/// that changed into a directory still works on the same project.
fn find_root(system: &dyn System, cwd: &Path) -> Result<Root, HookError> {
    let root = Root::open(system, cwd)
        .map_err(|source| HookError::Root { path: cwd.to_owned(), source })?;
    let started = system.env("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    match started.and_then(|started| Root::open(system, &started).ok()) {
        Some(started) if root.path().starts_with(started.path()) => Ok(started),
        _ => Ok(root),
    }
}

fn action(system: &dyn System, cwd: &Path, touch: &Touch) -> Option<Action> {
    match touch.how {
        How::Does(action) => Some(action),
        How::Writes if system.resolve(&cwd.join(&touch.path)).is_ok() => Some(Action::Edit),
        How::Writes => Some(Action::Create),
        How::Unknown => None,
    }
}
