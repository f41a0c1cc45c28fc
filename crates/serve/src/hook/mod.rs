//! The hook: answers a client's event with the guidance for it.
//!
//! It asks the same question as `brief context --client …` and leaves out the entries that the conversation
//! was told before. It runs many times a minute, so it reads only files along the path to the target, starts
//! no async runtime and walks no tree. It never breaks its client: its output approves nothing, it holds a
//! call back only where the user chose that or agreed to a rule that forbids it, and after its deadline the call passes,
//! unless the user chose otherwise.

mod changes;
mod checks;
pub(crate) mod fuzzing;
mod late;
mod memory;
mod message;
mod notice;
mod overdue;
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

use brief_clients::hook::{
    self, AnswerEffect, ClientAnswer, HookCall, HookMoment, HookStart, Words,
};
use brief_engine::receipts::ReceiptItem;
use brief_engine::{Briefing, Catalog, ReasonKind, Root, System, Timing};
use brief_profiles::{BUILTIN, KnownClients, OwnClients};
use brief_syntax::{Diagnostic, diagnostic, limits};
use brief_system::Remembered;

use checks::{CheckAnswer, CheckedEvent};
pub use checks::{
    ReportedClient, RuleEffect, RuleInClient, RuleReport, RuleStanding, StandingReason,
    find_standing, report_rules,
};
use memory::{Claim, DeliveredEntries, LossEvent, Memory, fingerprint_parts};
use message::Message;
pub use overdue::CheckWatch;
use question::{EventBriefings, OpenedEvent};
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
    /// False if the user, the machine or a policy turns enforcement off.
    pub enforces: bool,
    /// The record of an event whose rules are not judged yet, for the end of the hook's time.
    pub watch: Option<&'o CheckWatch>,
    /// True if a call is refused whose rules cannot be checked in time.
    pub fails_closed: bool,
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
            enforces: true,
            watch: None,
            fails_closed: false,
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
    /// The answer for the client; `None` for an empty one.
    pub answer: Option<ClientAnswer>,
    /// The problems of the files that were read.
    pub diagnostics: Vec<Diagnostic>,
    /// True if a file was asked about and no guidance file of any kind was found on its path.
    pub found_nothing: bool,
}

impl HookOutcome {
    /// Returns the line on standard output.
    pub fn into_line(self) -> Option<String> {
        self.answer.and_then(ClientAnswer::into_line)
    }
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
            answer_call(system, &call, input, options)
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
    input: &[u8],
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
    let asked = question::open_event(system, call, options, memory.as_ref(), &mut known)?;
    let conversation = (memory.as_ref(), &known);
    let (checked, asked) = check_call(system, call, input, options, conversation, asked)?;
    let is_decided = checked.decides();
    let told = match asked {
        Some(asked) if !is_decided => {
            let room = checked.said.as_ref().map_or(0, |(_, text)| text.len());
            Some(answer_event(asked, call, (options, room), memory.as_ref(), &mut known))
        }
        Some(asked) => Some(EventAnswer::empty(&asked)),
        None => None,
    };
    let Some(told) = told else {
        let (root, directory) = match question::open_project(system, call, options) {
            Ok(opened) if !checked.receipts.is_empty() => {
                (opened.project.root().path().to_owned(), opened.directory)
            }
            _ => (PathBuf::new(), PathBuf::new()),
        };
        let told = EventAnswer { root, directory, ..EventAnswer::default() };
        return Ok(finish_answer(system, call, options, memory.as_ref(), &known, checked, told));
    };
    Ok(finish_answer(system, call, options, memory.as_ref(), &known, checked, told))
}

/// Lets the checks of rules judge a call. Returns their answer, and the event.
fn check_call<'s>(
    system: &'s dyn System,
    call: &HookCall<'_>,
    input: &[u8],
    options: HookOptions<'_>,
    (memory, known): (Option<&Memory<'_>>, &DeliveredEntries),
    asked: Option<OpenedEvent<'s>>,
) -> Result<(CheckAnswer, Option<OpenedEvent<'s>>), HookError> {
    checks::note_prompt(system, call);
    if !options.enforces
        || options.guidance == Guidance::Structured
        || !checks::concerns_checks(call)
    {
        return Ok((CheckAnswer::default(), asked));
    }
    let opened = match &asked {
        Some(_) => None,
        None => Some(question::open_project(system, call, options)?),
    };
    let more = question::read_for_checks(
        system,
        call,
        opened.as_ref().or(asked.as_ref().map(|asked| &asked.opened)),
    );
    let catalogs: Vec<&Catalog> =
        asked.iter().flat_map(OpenedEvent::catalogs).chain(&more).collect();
    let Some(opened) = opened.as_ref().or(asked.as_ref().map(|asked| &asked.opened)) else {
        return Ok((CheckAnswer::default(), asked));
    };
    let watch = options.watch;
    let event =
        CheckedEvent { system, call, input, opened, catalogs: &catalogs, watch, memory, known };
    let answer = checks::check_event(&event);
    Ok((answer, asked))
}

/// Puts the answers of checks and guidance together, and records what was told.
fn finish_answer(
    system: &dyn System,
    call: &HookCall<'_>,
    options: HookOptions<'_>,
    memory: Option<&Memory<'_>>,
    known: &DeliveredEntries,
    checked: CheckAnswer,
    told: EventAnswer,
) -> HookOutcome {
    let CheckAnswer { said, notice: check_notice, receipts } = checked;
    let EventAnswer { root, directory, diagnostics, found_nothing, context, holds } = told;
    let effect = match &said {
        Some((effect, _)) => *effect,
        None if holds => AnswerEffect::Refuse,
        None => AnswerEffect::Inform,
    };
    let is_stopped = matches!(effect, AnswerEffect::Refuse);
    if let (Some(memory), false) = (memory, is_stopped) {
        changes::record_file_hashes(system, call, &root, memory);
    }
    let changes = changes::collect_changed_files(system, call, &root, known);
    let mut items = context.as_ref().map(|(_, items)| items.clone()).unwrap_or_default();
    late::mark_unseen(system, &root, known, &mut items);
    let is_empty = items.is_empty() && changes.is_empty() && receipts.is_empty();
    if let (false, Some(session)) = (is_empty, &call.session) {
        let record = receipt::Record { held: is_stopped, items, changes, checks: receipts };
        receipt::record_receipt(system, call, session, (&root, &directory), record);
    }
    let notice = match (&call.session, options.repeat) {
        (Some(session), Repeat::Once) => {
            notice::render_problem_notice(system, call.client, session, &diagnostics, &root)
        }
        _ => None,
    };
    let notice = match (check_notice, notice) {
        (Some(check), Some(problem)) => Some(format!("{check}\n{problem}")),
        (one, other) => one.or(other),
    };
    let said = said.map(|(_, text)| text);
    let told = context.map(|(text, _)| text);
    let context = match (said, told) {
        (Some(said), Some(told)) => Some(format!("{said}\n\n{told}")),
        (said, told) => said.or(told),
    };
    let words = Words { context: context.as_deref(), effect, notice: notice.as_deref() };
    HookOutcome {
        answer: hook::render_answer(call.hook, &call.event, words),
        diagnostics,
        found_nothing,
    }
}

/// The answer to an event, before it is written in the client's words.
#[derive(Default)]
struct EventAnswer {
    root: PathBuf,
    directory: PathBuf,
    diagnostics: Vec<Diagnostic>,
    found_nothing: bool,
    /// The text for the model, and its items.
    context: Option<(String, Vec<ReceiptItem>)>,
    holds: bool,
}

impl EventAnswer {
    /// Returns the answer without guidance.
    fn empty(asked: &OpenedEvent<'_>) -> EventAnswer {
        EventAnswer {
            root: asked.opened.project.root().path().to_owned(),
            directory: asked.opened.directory.clone(),
            ..EventAnswer::default()
        }
    }
}

/// Answers an event with what the conversation does not know, and leaves `room` for another text.
fn answer_event(
    asked: OpenedEvent<'_>,
    call: &HookCall<'_>,
    (options, room): (HookOptions<'_>, usize),
    memory: Option<&Memory<'_>>,
    known: &mut DeliveredEntries,
) -> EventAnswer {
    let EventBriefings { root, directory, briefings } =
        question::resolve_event(asked, call, memory, known);
    // A start and a prompt are no reads.
    if let (Some(memory), HookMoment::Tool { .. }) = (memory, &call.moment) {
        note_loaded(&briefings, memory, known);
    }
    let mut message = Message::new(call, options, &root);
    message.leave_room(room);
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
    EventAnswer { root, directory, diagnostics, found_nothing, context, holds }
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
    let (true, Some(memory), true) = (changes, memory, call.hook.can_refuse()) else {
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
