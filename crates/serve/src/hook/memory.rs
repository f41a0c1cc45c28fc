//! The memory of a conversation: the entries that it was told.
//!
//! It is one small file per conversation in the user's state directory, with one line per delivered entry.
//! Lines are appended whole, and the first line of an entry decides which of several concurrent hooks
//! delivers it. A line can also say that the conversation lost entries, and which: nothing is erased, so that hooks
//! that run at the same time agree. The only effect of any failure here is a repeated entry.

mod replay;
mod work;

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use brief_clients::hook::{HookCall, HookMoment, HookSession, HookStart, Touch};
use brief_engine::{System, Timing};
use brief_profiles::{Client, DeliveryOrigin, Loading};
use brief_syntax::limits;
use brief_system::hash::sha256;
use brief_system::{ReadError, state_directory};

use replay::{BEFORE, CALLED, COMMAND, EVERYTHING, LOST, Replay, TOUCHED, WAITS};
pub(super) use work::WorkRecord;

/// The time after which a silent conversation is over.
const EXPIRY: Duration = Duration::from_hours(168);

/// The limit for old conversations removed at the start of a new one.
const CLEANED_AT_ONCE: usize = 256;

/// The limit for the files that are looked at again after a compaction.
const MOST_TOUCHED: usize = 8;

/// The milliseconds by which the time of a file may lag behind the clock.
const CLOCK_STEP: u64 = 10;

/// An event after which a conversation has lost entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LossEvent<'c> {
    /// The name of the event: two hooks of one client report the same one.
    name: &'static str,
    loss: Loss<'c>,
    stamp: Option<u32>,
}

/// The name of the event of a resumed conversation.
const RESUMED: &str = "resume";

/// The entries that a conversation has lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss<'c> {
    /// All of the session: it began.
    Session,
    /// All of one conversation, which was compacted. The files that it worked on stay.
    Conversation,
    Of(&'c [DeliveryOrigin]),
}

impl<'c> LossEvent<'c> {
    /// Returns what the conversation loses with this event; `None` if it keeps everything.
    pub(super) fn from_call(call: &'c HookCall<'_>) -> Option<LossEvent<'c>> {
        let event = |name, loss| Some(LossEvent { name, loss, stamp: call.stamp });
        match &call.moment {
            HookMoment::Start { how: HookStart::New } => event("new", Loss::Session),
            HookMoment::Start { how: HookStart::Compacted } | HookMoment::Compacted => {
                event("compact", Loss::Conversation)
            }
            HookMoment::Start { how: HookStart::Resumed } => {
                event(RESUMED, Loss::Of(call.hook.lost_on_resume(call.forked_from.is_some())))
            }
            // The text is part of a system prompt, which the client does not keep.
            HookMoment::Start { how: HookStart::Request } => {
                event("request", Loss::Of(&[DeliveryOrigin::Start]))
            }
            _ => None,
        }
    }

    /// Returns the line that records the event.
    fn render_line(&self, now: Duration) -> String {
        let lost = match self.loss {
            Loss::Session => format!("{EVERYTHING}{TOUCHED}"),
            Loss::Conversation => EVERYTHING.to_string(),
            Loss::Of(origins) => origins.iter().map(|origin| origin_letter(*origin)).collect(),
        };
        let stamp = self.stamp.map_or_else(|| "-".to_owned(), |stamp| stamp.to_string());
        format!("{LOST}{} {} {lost} {stamp}\n", self.name, now.as_millis())
    }
}

/// Returns the origin of the texts of a call.
fn delivery_origin(moment: &HookMoment) -> DeliveryOrigin {
    match moment {
        HookMoment::Prompt { .. } => DeliveryOrigin::Prompt,
        HookMoment::Tool { time: Timing::Before, .. } => DeliveryOrigin::Before,
        HookMoment::Tool { time: Timing::After, .. } => DeliveryOrigin::After,
        _ => DeliveryOrigin::Start,
    }
}

/// The letter of files that the client has attached.
const ATTACHED: char = 'l';

/// Returns the letter of an origin in the file. None of them is a hexadecimal digit.
fn origin_letter(origin: DeliveryOrigin) -> char {
    match origin {
        DeliveryOrigin::Start => 's',
        DeliveryOrigin::Prompt => 'p',
        DeliveryOrigin::Before => 't',
        DeliveryOrigin::After => 'r',
        DeliveryOrigin::Attached => ATTACHED,
    }
}

/// The memory of one conversation.
pub(super) struct Memory<'s> {
    system: &'s dyn System,
    directory: Option<PathBuf>,
    session: String,
    conversation: String,
    /// The origin of the entries that this call delivers.
    origin: DeliveryOrigin,
    /// True for a memory that is not written down.
    is_transient: bool,
}

#[derive(Debug, Default)]
pub(super) struct DeliveredEntries {
    seen: HashSet<String>,
    /// The tokens of these entries.
    pub(super) spent: usize,
    /// The files that entries were delivered for, in order.
    touched: Vec<String>,
    /// The hashes of files before a call that changes them, by the mark of the call and the file.
    before: HashMap<String, String>,
    /// True if the conversation was resumed, and nothing was delivered with a prompt or a tool since.
    pub(super) is_resumed: bool,
    /// True if the conversation lost something, and nothing in its file shows a call of a tool since.
    awaits_call: bool,
    commands: Vec<EndedCommand>,
    /// The entries that had no room in an earlier answer.
    waiting: HashSet<String>,
}

/// The time in which a command ran, in milliseconds since 1970, and the marks of the files that its events showed.
#[derive(Debug)]
struct EndedCommand {
    from: u64,
    to: u64,
    shown: Vec<String>,
}

impl DeliveredEntries {
    pub(super) fn contains(&self, fingerprint: &str) -> bool {
        self.seen.contains(fingerprint)
    }

    /// Returns the latest files that the conversation worked on, the last one last.
    pub(super) fn touched_paths(&self) -> impl Iterator<Item = &str> {
        let first = self.touched.len().saturating_sub(MOST_TOUCHED);
        self.touched[first..].iter().map(String::as_str)
    }

    /// Returns the hash of a file before the call with this mark; `-` for a file that was not there.
    pub(super) fn hash_before(&self, mark: &str) -> Option<&str> {
        self.before.get(mark).map(String::as_str)
    }

    /// Returns whether commands have ended.
    pub(super) fn has_commands(&self) -> bool {
        !self.commands.is_empty()
    }

    /// Returns whether a command ran at this time, in milliseconds since 1970, that showed no file with this mark.
    pub(super) fn has_unseen_command(&self, at: u64, mark: &str) -> bool {
        let covers = |run: &EndedCommand| {
            run.from <= at.saturating_add(CLOCK_STEP) && at <= run.to.saturating_add(CLOCK_STEP)
        };
        let mut runs = self.commands.iter();
        runs.any(|run| covers(run) && !run.shown.iter().any(|shown| shown == mark))
    }

    /// Returns whether an entry had no room in an earlier answer.
    pub(super) fn has_waited(&self, fingerprint: &str) -> bool {
        self.waiting.contains(fingerprint)
    }

    fn add_touched(&mut self, path: &str) {
        self.touched.retain(|known| known != path);
        self.touched.push(path.to_owned());
    }
}

/// An entry to deliver, and its cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) fingerprint: String,
    pub(super) tokens: usize,
}

impl<'s> Memory<'s> {
    /// Returns the memory of a conversation with a client: two clients may give one id to their sessions.
    pub(super) fn for_conversation(
        system: &'s dyn System,
        client: &Client,
        session: &HookSession,
    ) -> Self {
        let name = fingerprint_parts(&[&session.id, &client.id]);
        let agent =
            session.agent.as_deref().map_or("main".to_owned(), |agent| fingerprint_parts(&[agent]));
        Memory {
            system,
            directory: state_directory(system).map(|state| state.join("sessions")),
            conversation: format!("{name}.{agent}"),
            session: name,
            origin: DeliveryOrigin::Start,
            is_transient: false,
        }
    }

    /// Returns the memory for a call, whose entries have the origin of its event.
    pub(super) fn for_call(
        system: &'s dyn System,
        call: &HookCall<'_>,
        session: &HookSession,
    ) -> Self {
        Memory {
            origin: delivery_origin(&call.moment),
            ..Memory::for_conversation(system, call.client, session)
        }
    }

    /// Returns a memory that is not written down.
    pub(super) fn transient(system: &'s dyn System) -> Self {
        Memory {
            system,
            directory: None,
            session: String::new(),
            conversation: String::new(),
            origin: DeliveryOrigin::Start,
            is_transient: true,
        }
    }

    pub(super) fn read_delivered(&self) -> DeliveredEntries {
        let mut known = DeliveredEntries::default();
        let Some(path) = self.path() else { return known };
        if self.is_expired(&path) {
            let _ = self.system.remove_file(&path);
            return known;
        }
        let text = self.read_text(&path);
        let Replay { told, touched, before, event, is_used, has_calls, commands, waiting, .. } =
            Replay::parse(&text);
        known.before = before.into_iter().map(|(mark, hash)| (mark.into(), hash.into())).collect();
        known.awaits_call = event.is_some() && !is_used && !has_calls;
        known.is_resumed = !is_used && event.is_some_and(|event| event.name == RESUMED);
        known.waiting = waiting.into_iter().map(str::to_owned).collect();
        known.commands = commands
            .into_iter()
            .map(|run| {
                let shown = run.shown.split_whitespace().map(str::to_owned).collect();
                EndedCommand { from: run.from, to: run.to, shown }
            })
            .collect();
        for path in touched {
            known.add_touched(path);
        }
        for line in told.into_values() {
            known.spent = known.spent.saturating_add(line.tokens);
            known.seen.insert(line.fingerprint.to_owned());
        }
        known
    }

    /// Returns the marks of files that the client has attached in this session, and does not attach again here: before a
    /// compaction, or for another agent.
    pub(super) fn attached_before(&self, loading: &Loading) -> HashSet<String> {
        let mut marks = HashSet::new();
        let Some(directory) = &self.directory else { return marks };
        if loading.not_after_compaction.is_some() {
            let text = self.path().map(|path| self.read_text(&path)).unwrap_or_default();
            marks.extend(Replay::parse(&text).detached.into_iter().map(str::to_owned));
        }
        let main = format!("{}.main", self.session);
        if loading.not_in_subagents.is_some() && main != self.conversation {
            let text = self.read_text(&directory.join(main));
            let Replay { told, detached, .. } = Replay::parse(&text);
            let attached = told.into_values().filter(|line| line.origin_letter() == Some(ATTACHED));
            marks.extend(attached.map(|line| line.fingerprint.to_owned()));
            marks.extend(detached.into_iter().map(str::to_owned));
        }
        marks
    }

    /// Records entries that are about to be delivered, and the files that they are for. Returns the
    /// fingerprints that no other hook has claimed first.
    pub(super) fn claim_entries(
        &self,
        claims: &[Claim],
        touched: &[&str],
        known: &mut DeliveredEntries,
    ) -> HashSet<String> {
        self.claim_from(self.origin, claims, touched, known)
    }

    /// Records the hashes of files before a call that changes them.
    pub(super) fn note_before(&self, files: &[(String, String)]) {
        let lines = files.iter().map(|(mark, hash)| format!("{BEFORE}{mark} {hash}\n"));
        self.append_lines(&lines.collect::<String>());
    }

    /// Records a call of a tool after a loss: the next event of this kind is another one then, however soon it comes.
    pub(super) fn note_call(&self, known: &DeliveredEntries) {
        if known.awaits_call {
            self.append_lines(&format!("{CALLED}\n"));
        }
    }

    /// Takes over the files that another conversation worked on, for a fork of it. They are written down, for a fork of the fork.
    pub(super) fn adopt_touched(&self, other: &Memory<'_>, known: &mut DeliveredEntries) {
        let mut lines = String::new();
        for path in other.read_delivered().touched_paths() {
            if !known.touched.iter().any(|had| had == path) {
                known.add_touched(path);
                lines.push_str(&touched_line(path));
            }
        }
        if !lines.is_empty() {
            self.append_lines(&lines);
        }
    }

    /// Records that a command begins or has ended, and the marks of the files that the event shows.
    pub(super) fn note_command(&self, time: Timing, shown: &[String]) {
        let now = self.system.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let kind = if time == Timing::Before { 'b' } else { 'a' };
        let mut line = format!("{COMMAND}{kind} {}", now.as_millis());
        for mark in shown {
            line.push(' ');
            line.push_str(mark);
        }
        line.push('\n');
        self.append_lines(&line);
    }

    /// Records the entries that had no room in an answer, once.
    pub(super) fn note_waiting<'e>(
        &self,
        entries: impl Iterator<Item = &'e str>,
        known: &DeliveredEntries,
    ) {
        let mut lines = String::new();
        for mark in entries.filter(|mark| !known.has_waited(mark)) {
            lines.push(WAITS);
            lines.push_str(mark);
            lines.push('\n');
        }
        if !lines.is_empty() {
            self.append_lines(&lines);
        }
    }

    fn append_lines(&self, lines: &str) {
        let (Some(directory), Some(path)) = (&self.directory, self.path()) else { return };
        if self.system.append(&path, lines.as_bytes()).is_err() {
            let _ = self.system.create_private_dir(directory);
            let _ = self.system.append(&path, lines.as_bytes());
        }
    }

    /// Records the files that the client has loaded by itself.
    pub(super) fn claim_loaded(&self, claims: &[Claim], known: &mut DeliveredEntries) {
        self.claim_from(DeliveryOrigin::Attached, claims, &[], known);
    }

    fn claim_from(
        &self,
        origin: DeliveryOrigin,
        claims: &[Claim],
        touched: &[&str],
        known: &mut DeliveredEntries,
    ) -> HashSet<String> {
        let all = || claims.iter().map(|claim| claim.fingerprint.clone());
        known.seen.extend(all());
        let (Some(directory), Some(path)) = (&self.directory, self.path()) else {
            return all().collect();
        };
        if claims.is_empty() {
            return HashSet::new();
        }
        let owner = format!("{}{}", origin_letter(origin), self.claim_owner(claims));
        let mut added = String::new();
        for Claim { fingerprint, tokens } in claims {
            added.push_str(&format!("{fingerprint} {tokens} {owner}\n"));
        }
        for path in touched {
            if known.touched.last().map(String::as_str) != Some(path) {
                added.push_str(&touched_line(path));
            }
        }
        if self.system.append(&path, added.as_bytes()).is_err() {
            let _ = self.system.create_private_dir(directory);
            if self.system.append(&path, added.as_bytes()).is_err() {
                return all().collect();
            }
        }
        let text = self.read_text(&path);
        let Replay { told, .. } = Replay::parse(&text);
        let is_ours =
            |claimed: &str| told.get(claimed).is_none_or(|line| line.owner == Some(owner.as_str()));
        // If the file cannot be read back, the entry is delivered: a repetition is better than a gap.
        all().filter(|claimed| is_ours(claimed)).collect()
    }

    /// Records that a call on these files is held back. Returns false if it was held back before, or if that
    /// cannot be recorded: then it passes.
    pub(super) fn hold_back(&self, touches: &[Touch], known: &mut DeliveredEntries) -> bool {
        let changed = touches.iter().filter(|touch| touch.how.is_change());
        let paths: Vec<String> =
            changed.map(|touch| touch.path.to_string_lossy().into_owned()).collect();
        let parts: Vec<&str> =
            std::iter::once("held").chain(paths.iter().map(String::as_str)).collect();
        let mark = fingerprint_parts(&parts);
        if known.contains(&mark) {
            return false;
        }
        let claims = [Claim { fingerprint: mark.clone(), tokens: 0 }];
        let is_ours = self.claim_entries(&claims, &[], known).contains(&mark);
        is_ours && (self.is_transient || self.read_delivered().contains(&mark))
    }

    /// Returns a unique name for this call.
    fn claim_owner(&self, claims: &[Claim]) -> String {
        let now = self.system.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        // Addresses differ between processes, and between threads of one.
        format!("{:x}-{:x}", now.as_nanos(), claims.as_ptr().addr())
    }

    fn read_text(&self, path: &Path) -> String {
        let bytes = self.system.read(path, limits::FILE_BYTES).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Records that the conversation has lost entries. With a new session, its other conversations and a few expired ones are
    /// removed.
    pub(super) fn record_loss(&self, event: LossEvent<'_>) {
        let (Some(directory), Some(path)) = (&self.directory, self.path()) else { return };
        let text = self.system.read(&path, limits::FILE_BYTES / 2);
        if matches!(text, Err(ReadError::TooLarge { .. })) || self.is_expired(&path) {
            let _ = self.system.remove_file(&path);
        }
        let now = self.system.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.append_lines(&event.render_line(now));
        if event.loss != Loss::Session {
            return;
        }
        let entries = self.system.open_dir(directory).and_then(|handle| handle.entries());
        let mut cleaned = 0;
        for entry in entries.unwrap_or_default() {
            let path = directory.join(&entry.name);
            let is_subagent = belongs_to(&entry.name, &self.session)
                && entry.name.to_str() != Some(&*self.conversation);
            if is_subagent || (cleaned < CLEANED_AT_ONCE && self.is_expired(&path)) {
                let _ = self.system.remove_file(&path);
                cleaned += 1;
            }
        }
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(&self.conversation))
    }

    fn is_expired(&self, path: &Path) -> bool {
        let age = |modified| self.system.now().duration_since(modified).unwrap_or_default();
        self.system.modified_time(path).is_ok_and(|modified| age(modified) > EXPIRY)
    }
}

/// The first character of a line about a subagent that begins or ends.
const AGENT: char = '+';

/// The subagents of a conversation whose client names no agent in its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Subagents {
    begun: usize,
    running: usize,
}

impl Subagents {
    fn parse(text: &str) -> Subagents {
        let mut all = Subagents::default();
        for line in text.lines().filter_map(|line| line.strip_prefix(AGENT)) {
            match line {
                "begins" => all = Subagents { begun: all.begun + 1, running: all.running + 1 },
                "ends" => all.running = all.running.saturating_sub(1),
                _ => all.running = 0,
            }
        }
        all
    }
}

/// Notes what an event of the main agent says about subagents: one begins or ends, or the user has said something, so that
/// none is left.
pub(super) fn note_subagent(
    system: &dyn System,
    client: &Client,
    session: &HookSession,
    moment: &HookMoment,
) {
    let line = match moment {
        HookMoment::Agent { time: Timing::Before } => "begins",
        HookMoment::Agent { time: Timing::After } => "ends",
        HookMoment::Prompt { .. } => "none",
        _ => return,
    };
    let memory = Memory::for_conversation(system, client, session);
    let Some(path) = memory.path() else { return };
    if line == "none" && Subagents::parse(&memory.read_text(&path)).running == 0 {
        return;
    }
    memory.append_lines(&format!("{AGENT}{line}\n"));
}

/// Returns the name of the subagent that is at work, if one is. Several at once cannot be told apart, and share a conversation.
pub(super) fn running_subagent(
    system: &dyn System,
    client: &Client,
    session: &HookSession,
) -> Option<String> {
    let memory = Memory::for_conversation(system, client, session);
    let Subagents { begun, running } = Subagents::parse(&memory.read_text(&memory.path()?));
    (running > 0).then(|| format!("subagent-{}", begun + 1 - running))
}

fn touched_line(path: &str) -> String {
    format!("{TOUCHED}{}\n", path.replace(['\n', '\r'], " "))
}

fn belongs_to(name: &OsStr, session: &str) -> bool {
    name.to_str()
        .and_then(|name| name.strip_prefix(session))
        .is_some_and(|rest| rest.starts_with('.'))
}

/// Returns a hash of texts: the first half of a SHA-256, in hexadecimal.
pub(super) fn fingerprint_parts(parts: &[&str]) -> String {
    let mut whole = Vec::new();
    for part in parts {
        whole.extend_from_slice(&(part.len() as u64).to_le_bytes());
        whole.extend_from_slice(part.as_bytes());
    }
    sha256(&whole)[..32].to_owned()
}
