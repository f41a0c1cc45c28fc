//! The memory of a conversation: the entries that it was told.
//!
//! It is one small file per conversation in the user's state directory, with one line per delivered entry.
//! Lines are appended whole, and the first line of an entry decides which of several concurrent hooks
//! delivers it. A line can also say that the conversation lost entries, and which: nothing is erased, so that hooks
//! that run at the same time agree. The only effect of any failure here is a repeated entry.

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

/// The time after which a silent conversation is over.
const EXPIRY: Duration = Duration::from_hours(168);

/// The limit for old conversations removed at the start of a new one.
const CLEANED_AT_ONCE: usize = 256;

/// The limit for the files that are looked at again after a compaction.
const MOST_TOUCHED: usize = 8;

/// The time within which equal events with one time stamp are one event that several hooks report.
const SAME_STAMP: Duration = Duration::from_secs(10);

/// The same for events of clients that send no time.
const SAME_EVENT: Duration = Duration::from_secs(5);

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
    /// Those of these origins.
    Of(&'c [DeliveryOrigin]),
}

impl<'c> LossEvent<'c> {
    /// Returns what the conversation loses with this event; `None` if it keeps everything.
    pub(super) fn of(call: &'c HookCall<'_>) -> Option<LossEvent<'c>> {
        let event = |name, loss| Some(LossEvent { name, loss, stamp: call.stamp });
        match &call.moment {
            HookMoment::Start { how: HookStart::New } => event("new", Loss::Session),
            HookMoment::Start { how: HookStart::Compacted } | HookMoment::Compacted => {
                event("compact", Loss::Conversation)
            }
            HookMoment::Start { how: HookStart::Resumed } => {
                event(RESUMED, Loss::Of(call.hook.lost_on_resume()))
            }
            // The text is part of a system prompt, which the client does not keep.
            HookMoment::Start { how: HookStart::Request } => {
                event("request", Loss::Of(&[DeliveryOrigin::Start]))
            }
            _ => None,
        }
    }

    /// Returns the line that records the event.
    fn line(&self, now: Duration) -> String {
        let lost = match self.loss {
            Loss::Session => format!("{EVERYTHING}{TOUCHED}"),
            Loss::Conversation => EVERYTHING.to_string(),
            Loss::Of(origins) => origins.iter().map(|origin| letter(*origin)).collect(),
        };
        let stamp = self.stamp.map_or_else(|| "-".to_owned(), |stamp| stamp.to_string());
        format!("{LOST}{} {} {lost} {stamp}\n", self.name, now.as_millis())
    }
}

/// Returns the origin of the texts of a call.
fn origin(moment: &HookMoment) -> DeliveryOrigin {
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
fn letter(origin: DeliveryOrigin) -> char {
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

/// The delivered entries.
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
}

impl DeliveredEntries {
    pub(super) fn has(&self, fingerprint: &str) -> bool {
        self.seen.contains(fingerprint)
    }

    /// Returns the latest files that the conversation worked on, the last one last.
    pub(super) fn touched(&self) -> impl Iterator<Item = &str> {
        let first = self.touched.len().saturating_sub(MOST_TOUCHED);
        self.touched[first..].iter().map(String::as_str)
    }

    /// Returns the hash of a file before the call with this mark; `-` for a file that was not there.
    pub(super) fn before(&self, mark: &str) -> Option<&str> {
        self.before.get(mark).map(String::as_str)
    }

    fn touch(&mut self, path: &str) {
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
    pub(super) fn of(system: &'s dyn System, client: &Client, session: &HookSession) -> Self {
        let name = fingerprint(&[&session.id, &client.id]);
        let agent =
            session.agent.as_deref().map_or("main".to_owned(), |agent| fingerprint(&[agent]));
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
    pub(super) fn during(
        system: &'s dyn System,
        call: &HookCall<'_>,
        session: &HookSession,
    ) -> Self {
        Memory { origin: origin(&call.moment), ..Memory::of(system, call.client, session) }
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

    /// Returns the delivered entries.
    pub(super) fn recall(&self) -> DeliveredEntries {
        let mut known = DeliveredEntries::default();
        let Some(path) = self.path() else { return known };
        if self.is_expired(&path) {
            let _ = self.system.remove_file(&path);
            return known;
        }
        let text = self.text(&path);
        let Replay { told, touched, before, event, is_used, .. } = Replay::of(&text);
        known.before = before.into_iter().map(|(mark, hash)| (mark.into(), hash.into())).collect();
        known.is_resumed = !is_used && event.is_some_and(|event| event.name == RESUMED);
        for path in touched {
            known.touch(path);
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
            let text = self.path().map(|path| self.text(&path)).unwrap_or_default();
            marks.extend(Replay::of(&text).detached.into_iter().map(str::to_owned));
        }
        let main = format!("{}.main", self.session);
        if loading.not_in_subagents.is_some() && main != self.conversation {
            let text = self.text(&directory.join(main));
            let Replay { told, detached, .. } = Replay::of(&text);
            let attached = told.into_values().filter(|line| line.letter() == Some(ATTACHED));
            marks.extend(attached.map(|line| line.fingerprint.to_owned()));
            marks.extend(detached.into_iter().map(str::to_owned));
        }
        marks
    }

    /// Records entries that are about to be delivered, and the files that they are for. Returns the
    /// fingerprints that no other hook has claimed first.
    pub(super) fn claim(
        &self,
        claims: &[Claim],
        touched: &[&str],
        known: &mut DeliveredEntries,
    ) -> HashSet<String> {
        self.claim_from(self.origin, claims, touched, known)
    }

    /// Records the hashes of files before a call that changes them.
    pub(super) fn note_before(&self, files: &[(String, String)]) {
        let (Some(directory), Some(path)) = (&self.directory, self.path()) else { return };
        let mut lines = String::new();
        for (mark, hash) in files {
            lines.push_str(&format!("{BEFORE}{mark} {hash}\n"));
        }
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
        let owner = format!("{}{}", letter(origin), self.owner(claims));
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
        let text = self.text(&path);
        let Replay { told, .. } = Replay::of(&text);
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
        let mark = fingerprint(&parts);
        if known.has(&mark) {
            return false;
        }
        let claims = [Claim { fingerprint: mark.clone(), tokens: 0 }];
        let is_ours = self.claim(&claims, &[], known).contains(&mark);
        is_ours && (self.is_transient || self.recall().has(&mark))
    }

    /// Returns a unique name for this call.
    fn owner(&self, claims: &[Claim]) -> String {
        let now = self.system.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        // Addresses differ between processes, and between threads of one.
        format!("{:x}-{:x}", now.as_nanos(), claims.as_ptr().addr())
    }

    fn text(&self, path: &Path) -> String {
        let bytes = self.system.read(path, limits::FILE_BYTES).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Records that the conversation has lost entries. With a new session, its other conversations and a few expired ones are
    /// removed.
    pub(super) fn forget(&self, event: LossEvent<'_>) {
        let (Some(directory), Some(path)) = (&self.directory, self.path()) else { return };
        let text = self.system.read(&path, limits::FILE_BYTES / 2);
        if matches!(text, Err(ReadError::TooLarge { .. })) || self.is_expired(&path) {
            let _ = self.system.remove_file(&path);
        }
        let now = self.system.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        if self.system.append(&path, event.line(now).as_bytes()).is_err() {
            let _ = self.system.create_private_dir(directory);
            let _ = self.system.append(&path, event.line(now).as_bytes());
        }
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
        self.system.modified(path).is_ok_and(|modified| age(modified) > EXPIRY)
    }
}

/// The first character of a line about a subagent that begins or ends.
const AGENT: char = '+';

/// The subagents of a conversation whose client names no agent in its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Subagents {
    /// All that have begun.
    begun: usize,
    running: usize,
}

impl Subagents {
    fn of(text: &str) -> Subagents {
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
    let memory = Memory::of(system, client, session);
    let (Some(directory), Some(path)) = (&memory.directory, memory.path()) else { return };
    if line == "none" && Subagents::of(&memory.text(&path)).running == 0 {
        return;
    }
    let line = format!("{AGENT}{line}\n");
    if system.append(&path, line.as_bytes()).is_err() {
        let _ = system.create_private_dir(directory);
        let _ = system.append(&path, line.as_bytes());
    }
}

/// Returns the name of the subagent that is at work, if one is. Several at once cannot be told apart, and share a conversation.
pub(super) fn running_subagent(
    system: &dyn System,
    client: &Client,
    session: &HookSession,
) -> Option<String> {
    let memory = Memory::of(system, client, session);
    let Subagents { begun, running } = Subagents::of(&memory.text(&memory.path()?));
    (running > 0).then(|| format!("subagent-{}", begun + 1 - running))
}

/// The records of a file, from the first line to the last.
#[derive(Default)]
struct Replay<'t> {
    /// The first line of each entry that the conversation still has.
    told: HashMap<&'t str, MemoryLine<'t>>,
    touched: Vec<&'t str>,
    /// The latest hash of each file before a call.
    before: HashMap<&'t str, &'t str>,
    /// The marks of files that the client attached before a compaction.
    detached: Vec<&'t str>,
    /// The latest event with a loss.
    event: Option<ReplayedEvent<'t>>,
    /// True if entries came with a prompt or a tool after that event.
    is_used: bool,
}

/// An event with a loss.
#[derive(Clone, Copy)]
struct ReplayedEvent<'t> {
    name: &'t str,
    /// The time of the hook, in milliseconds since 1970.
    at: u64,
    /// The client's time of the event.
    stamp: Option<&'t str>,
}

impl ReplayedEvent<'_> {
    /// Returns whether two hooks have reported one event. Without a time of the client, that takes a conversation that is
    /// not used in between.
    fn is_same(&self, later: &ReplayedEvent<'_>, is_used: bool) -> bool {
        let longest = match (self.stamp, later.stamp) {
            (Some(one), Some(other)) if one == other => SAME_STAMP,
            (Some(_), Some(_)) => return false,
            _ if is_used => return false,
            _ => SAME_EVENT,
        };
        let passed = later.at.checked_sub(self.at).map(Duration::from_millis);
        self.name == later.name && passed.is_some_and(|passed| passed < longest)
    }
}

#[derive(Clone, Copy)]
struct MemoryLine<'t> {
    fingerprint: &'t str,
    tokens: usize,
    /// The call that wrote the line; its first character is the letter of the origin.
    owner: Option<&'t str>,
}

/// The first character of a line that names a file.
const TOUCHED: char = '@';

/// The first character of a line with the hash of a file before a call.
const BEFORE: char = '~';

/// The first character of a line that says what was lost.
const LOST: char = '!';

/// The letter for entries of any origin.
const EVERYTHING: char = '*';

impl<'t> Replay<'t> {
    fn of(text: &'t str) -> Replay<'t> {
        let mut replay = Replay::default();
        for line in text.lines() {
            replay.take(line);
        }
        replay
    }

    fn take(&mut self, line: &'t str) {
        if line.starts_with(AGENT) {
            return;
        }
        if let Some(path) = line.strip_prefix(TOUCHED) {
            self.touched.push(path);
            return;
        }
        if let Some(noted) = line.strip_prefix(BEFORE) {
            self.before.extend(noted.split_once(' '));
            return;
        }
        if let Some(event) = line.strip_prefix(LOST) {
            let mut fields = event.split(' ');
            let name = fields.next().unwrap_or_default();
            let at = fields.next().and_then(|at| at.parse().ok()).unwrap_or(0);
            let lost = fields.next().unwrap_or_default();
            let stamp = fields.next().filter(|stamp| *stamp != "-");
            self.lose(ReplayedEvent { name, at, stamp }, lost);
            return;
        }
        let mut fields = line.split(' ');
        let line = MemoryLine {
            fingerprint: fields.next().unwrap_or_default(),
            tokens: fields.next().and_then(|tokens| tokens.parse().ok()).unwrap_or(0),
            owner: fields.next(),
        };
        self.is_used |= line.letter() != Some(letter(DeliveryOrigin::Start));
        self.told.entry(line.fingerprint).or_insert(line);
    }

    /// Removes what was lost with an event, unless another hook has reported the same event.
    fn lose(&mut self, event: ReplayedEvent<'t>, lost: &str) {
        if self.event.is_some_and(|known| known.is_same(&event, self.is_used)) {
            return;
        }
        (self.event, self.is_used) = (Some(event), false);
        if lost.contains(TOUCHED) {
            self.touched.clear();
            self.detached.clear();
        } else if lost.contains(EVERYTHING) {
            let attached = self.told.values().filter(|line| line.letter() == Some(ATTACHED));
            self.detached.extend(attached.map(|line| line.fingerprint));
        }
        // A line of an earlier version has no letter, and may be lost.
        let is_kept = |letter: Option<char>| letter.is_some_and(|letter| !lost.contains(letter));
        self.told.retain(|_, line| !lost.contains(EVERYTHING) && is_kept(line.letter()));
    }
}

impl MemoryLine<'_> {
    /// Returns the letter of the origin; `None` for a line of an earlier version.
    fn letter(&self) -> Option<char> {
        self.owner?.chars().next().filter(|letter| !letter.is_ascii_hexdigit())
    }
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
pub(super) fn fingerprint(parts: &[&str]) -> String {
    let mut whole = Vec::new();
    for part in parts {
        whole.extend_from_slice(&(part.len() as u64).to_le_bytes());
        whole.extend_from_slice(part.as_bytes());
    }
    sha256(&whole)[..32].to_owned()
}
