//! The hook: answers a client's event with the guidance for it.
//!
//! It asks the same question as `brief context --client …` and leaves out the entries that the conversation
//! was told before. It runs many times a minute, so it reads only files along the path to the target, starts
//! no async runtime and walks no tree. It never breaks its client: its output approves nothing, it holds a
//! call back only where the user chose that, and after its deadline it prints nothing.

mod changes;
pub(crate) mod fuzzing;
mod late;
mod memory;
mod message;
mod notice;
mod question;
mod receipt;
mod rehearsal;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use brief_clients::hook::{self, HookCall, HookMoment, HookStart, Words};
use brief_engine::receipts::ReceiptItem;
use brief_engine::{Briefing, ReasonKind, Root, System, Timing};
use brief_profiles::{BUILTIN, KnownClients, OwnClients};
use brief_syntax::{Diagnostic, diagnostic, limits};
use brief_system::Remembered;

use memory::{Claim, DeliveredEntries, LossEvent, Memory, fingerprint_parts};
use message::Message;
use question::EventBriefings;
pub use rehearsal::{RehearsedEvent, rehearse_conversation};

/// The default time limit of a hook. A client waits for it before each tool call.
const DEADLINE: Duration = Duration::from_millis(250);

/// The variable with another limit, in milliseconds.
const DEADLINE_VARIABLE: &str = "BRIEF_HOOK_DEADLINE";

/// Returns the time limit of a hook.
pub fn hook_deadline(system: &dyn System) -> Duration {
    let limit = system.env(DEADLINE_VARIABLE);
    let limit = limit.and_then(|limit| limit.to_str()?.parse().ok());
    limit.map_or(DEADLINE, Duration::from_millis)
}

/// The options of a hook.
#[derive(Debug, Clone, Copy)]
pub struct HookOptions<'o> {
    /// The client that the command names. The payload may be another's.
    pub client: &'o str,
    /// The event that the command names, for clients whose payloads do not.
    pub event: Option<&'o str>,
    /// The program that a reader should run to see all guidance.
    pub program: &'static str,
    /// The treatment of entries that this conversation was told before.
    pub repeat: Repeat,
    /// The guidance to answer from.
    pub guidance: Guidance,
    /// The token budget of one conversation; [`limits::HOOK_TOKENS`] by default. It has an effect only where
    /// the conversation is remembered.
    pub budget: usize,
    /// The calls that are held back.
    pub hold: HoldPolicy,
    /// False if a policy turns delivery off.
    pub delivers: bool,
}

impl<'o> HookOptions<'o> {
    /// Returns the options of a plain `brief hook CLIENT`.
    pub const fn new(client: &'o str) -> HookOptions<'o> {
        HookOptions {
            client,
            event: None,
            program: "brief",
            repeat: Repeat::Once,
            guidance: Guidance::All,
            budget: limits::HOOK_TOKENS,
            hold: HoldPolicy::Never,
            delivers: true,
        }
    }
}

/// The tool calls that are held back once, with guidance as the reason: the first edit or creation of a file with
/// guidance for before it that the conversation does not have. The same call passes when it is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HoldPolicy {
    /// No call is held back.
    #[default]
    Never,
    /// Calls for which an entry with `hold: true` is due.
    Marked,
    /// Calls for which any guidance is due.
    All,
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
    #[error("the hook input is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The input exceeds the size limit.
    #[error("the hook input is larger than {0} bytes")]
    TooLarge(u64),
    /// The input could not be read.
    #[error("cannot read the hook input: {0}")]
    Input(#[source] std::io::Error),
    /// The working directory cannot be opened.
    #[error("cannot read the working directory `{path}`: {source}")]
    Root {
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
}

/// Reads one call of a hook and answers it.
pub fn answer_input(
    system: Arc<dyn System>,
    input: impl Read,
    options: HookOptions<'_>,
) -> Result<HookOutcome, HookError> {
    answer_hook(&Remembered::new(system), &read_all(input)?, options)
}

fn read_all(input: impl Read) -> Result<Vec<u8>, HookError> {
    let mut bytes = Vec::new();
    let limit = limits::HOOK_INPUT_BYTES;
    input.take(limit + 1).read_to_end(&mut bytes).map_err(HookError::Input)?;
    if bytes.len() as u64 > limit { Err(HookError::TooLarge(limit)) } else { Ok(bytes) }
}

/// Answers one call of a hook.
pub fn answer_hook(
    system: &dyn System,
    input: &[u8],
    options: HookOptions<'_>,
) -> Result<HookOutcome, HookError> {
    let known = known_clients(system, options.client);
    let call = hook::read_call(input, &known, options.client, options.event);
    match call.map_err(HookError::NotJson)? {
        Some(mut call) => {
            find_subagent(system, &mut call);
            answer_call(system, &call, options)
        }
        None => Ok(HookOutcome::default()),
    }
}

/// Finds the subagent that an event is about, in a client that does not say so.
fn find_subagent(system: &dyn System, call: &mut HookCall<'_>) {
    let Some(session) = call.session.as_mut().filter(|session| session.agent.is_none()) else {
        return;
    };
    if call.hook.tools.agent.is_empty() {
        return;
    }
    memory::note_subagent(system, call.client, session, &call.moment);
    if matches!(call.moment, HookMoment::Tool { .. }) {
        session.agent = memory::running_subagent(system, call.client, session);
    }
}

/// Returns the clients that a payload may come from. A project's own are read only if the command names one.
fn known_clients(system: &dyn System, named: &str) -> Cow<'static, KnownClients> {
    if BUILTIN.find_client(named).is_some() {
        return Cow::Borrowed(&BUILTIN);
    }
    let root = system.current_dir().and_then(|here| Root::open(system, &here));
    match root.map(|root| root.into_repository(system)) {
        Ok(root) => OwnClients::read_project(system, root.path()).known_clients(),
        Err(_) => Cow::Borrowed(&BUILTIN),
    }
}

fn answer_call(
    system: &dyn System,
    call: &HookCall<'_>,
    options: HookOptions<'_>,
) -> Result<HookOutcome, HookError> {
    let memory = match (&call.session, options.repeat) {
        (Some(session), Repeat::Once) => Some(Memory::for_call(system, call, session)),
        _ => None,
    };
    if let (Some(memory), Some(event)) = (&memory, LossEvent::from_call(call)) {
        memory.record_loss(event);
    }
    if let Some(unknown) = &call.unknown {
        brief_clients::hook::news::record_unknown_name(system, call.client, unknown);
    }
    if let (HookMoment::Loaded { file, reason }, Some(session)) = (&call.moment, &call.session) {
        receipt::record_loaded(system, call, session, file, reason);
    }
    let mut known = memory.as_ref().map(Memory::read_delivered).unwrap_or_default();
    if let (Some(memory), Some(earlier), HookMoment::Start { how: HookStart::Resumed }) =
        (&memory, &call.forked_from, &call.moment)
    {
        let earlier = Memory::for_conversation(system, call.client, earlier);
        memory.adopt_touched(&earlier, &mut known);
    }
    if let Some(memory) = &memory {
        if matches!(call.moment, HookMoment::Tool { .. }) {
            memory.note_call(&known);
        }
        late::note_command(system, call, memory);
    }
    let Some(told) = answer_event(system, call, options, memory.as_ref(), &mut known)? else {
        return Ok(HookOutcome::default());
    };
    let EventAnswer { root, directory, diagnostics, found_nothing, context, holds } = told;
    if let (Some(memory), false) = (&memory, holds) {
        changes::record_file_hashes(system, call, &root, memory);
    }
    let changes = changes::collect_changed_files(system, call, &root, &known);
    let mut items = context.as_ref().map(|(_, items)| items.clone()).unwrap_or_default();
    late::mark_unseen(system, &root, &known, &mut items);
    if let (true, Some(session)) = (!items.is_empty() || !changes.is_empty(), &call.session) {
        receipt::record_receipt(system, call, session, (&root, &directory), holds, items, changes);
    }
    let notice = match (&call.session, options.repeat) {
        (Some(session), Repeat::Once) => {
            notice::render_problem_notice(system, call.client, session, &diagnostics, &root)
        }
        _ => None,
    };
    let context = context.as_ref().map(|(text, _)| text.as_str());
    let words = Words { context, holds, notice: notice.as_deref() };
    Ok(HookOutcome {
        answer: hook::render_answer(call.hook, &call.event, words),
        diagnostics,
        found_nothing,
    })
}

/// The answer to an event, before it is written in the client's words.
struct EventAnswer {
    root: PathBuf,
    directory: PathBuf,
    diagnostics: Vec<Diagnostic>,
    found_nothing: bool,
    /// The text for the model, and its items.
    context: Option<(String, Vec<ReceiptItem>)>,
    holds: bool,
}

/// Answers an event with what the conversation does not know; `None` if the event asks nothing.
fn answer_event(
    system: &dyn System,
    call: &HookCall<'_>,
    options: HookOptions<'_>,
    memory: Option<&Memory<'_>>,
    known: &mut DeliveredEntries,
) -> Result<Option<EventAnswer>, HookError> {
    let Some(answered) = question::collect_briefings(system, call, options, memory, known)? else {
        return Ok(None);
    };
    let EventBriefings { root, directory, briefings } = answered;
    // A start and a prompt are no reads.
    if let (Some(memory), HookMoment::Tool { .. }) = (memory, &call.moment) {
        note_loaded(&briefings, memory, known);
    }
    let mut message = Message::new(call, options, &root);
    for briefing in briefings.iter().filter(|_| options.delivers) {
        message.add_briefing(briefing);
    }
    let holds = decide_hold(call, options, memory, &message, known);
    let is_before = matches!(call.moment, HookMoment::Tool { time: Timing::Before, .. });
    let context = if holds || !is_before || call.hook.events.before_carries {
        message.finish(memory, known, holds)
    } else {
        None
    };
    let found_nothing = matches!(call.moment, HookMoment::Tool { .. })
        && briefings.iter().any(|briefing| briefing.files == 0);
    let diagnostics = collect_diagnostics(&briefings);
    Ok(Some(EventAnswer { root, directory, diagnostics, found_nothing, context, holds }))
}

/// Records the files that the client loads by itself with this tool. Clients load them with no shell command, and some
/// with no edit: a later call would deliver them again.
fn note_loaded(briefings: &[Briefing], memory: &Memory<'_>, known: &mut DeliveredEntries) {
    let loading = briefings.iter().filter(|briefing| briefing.moment.loads_with_tool());
    let left = loading.flat_map(|briefing| &briefing.left_out);
    let is_loaded = |kind| matches!(kind, ReasonKind::Loaded | ReasonKind::ListedByClient);
    let loaded = left.filter(|item| is_loaded(item.reason.kind));
    let mut claims: Vec<Claim> = loaded
        .map(|item| Claim { fingerprint: loaded_mark(&item.path), tokens: 0 })
        .filter(|claim| !known.contains(&claim.fingerprint))
        .collect();
    claims.dedup();
    memory.claim_loaded(&claims, known);
}

/// Returns the mark of a file that the client has loaded by itself.
fn loaded_mark(path: &Path) -> String {
    fingerprint_parts(&["loaded", &path.to_string_lossy()])
}

/// Decides whether the call is held back: never twice, and never without a memory that says so.
fn decide_hold(
    call: &HookCall<'_>,
    options: HookOptions<'_>,
    memory: Option<&Memory<'_>>,
    message: &Message<'_>,
    known: &mut DeliveredEntries,
) -> bool {
    let HookMoment::Tool { time: Timing::Before, touches, .. } = &call.moment else { return false };
    let changes = touches.iter().any(|touch| touch.how.is_change());
    let (true, Some(memory), false) = (changes, memory, call.hook.hold.is_empty()) else {
        return false;
    };
    let is_due = match options.hold {
        HoldPolicy::Never => false,
        HoldPolicy::Marked => message.has_new(known, true),
        HoldPolicy::All => message.has_new(known, false),
    };
    is_due && memory.hold_back(touches, known)
}

/// Returns the problems in the files that were read, each once.
fn collect_diagnostics(briefings: &[Briefing]) -> Vec<Diagnostic> {
    let mut diagnostics: Vec<Diagnostic> =
        briefings.iter().flat_map(|briefing| briefing.diagnostics.iter().cloned()).collect();
    if briefings.len() > 1 {
        diagnostic::sort_diagnostics(&mut diagnostics);
        diagnostics.dedup();
    }
    diagnostics
}
