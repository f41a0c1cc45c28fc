//! The records in the file of a conversation, read from the first line to the last.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use brief_profiles::DeliveryOrigin;

use super::{AGENT, ATTACHED, origin_letter};

/// The time within which equal events with one time stamp are one event that several hooks report.
const SAME_STAMP: Duration = Duration::from_secs(10);

/// The same for events of clients that send no time.
const SAME_EVENT: Duration = Duration::from_secs(5);

/// The records of a file, from the first line to the last.
#[derive(Default)]
pub(super) struct Replay<'t> {
    /// The first line of each entry that the conversation still has.
    pub(super) told: HashMap<&'t str, MemoryLine<'t>>,
    pub(super) touched: Vec<&'t str>,
    /// The latest hash of each file before a call.
    pub(super) before: HashMap<&'t str, &'t str>,
    /// The marks of files that the client attached before a compaction.
    pub(super) detached: Vec<&'t str>,
    /// The latest event with a loss.
    pub(super) event: Option<ReplayedEvent<'t>>,
    /// True if entries came with a prompt or a tool after that event.
    pub(super) is_used: bool,
    /// True if a tool was called after that event, whether anything came with it or not.
    pub(super) has_calls: bool,
    /// The commands that have ended.
    pub(super) commands: Vec<CommandRun<'t>>,
    /// The entries that had no room in an answer.
    pub(super) waiting: HashSet<&'t str>,
    /// What the agent did, for checks about a turn: each without its first character.
    pub(super) work: Vec<&'t str>,
    /// The beginning of a command that has not ended, in milliseconds since 1970.
    begun: Option<u64>,
    /// The latest call that wrote a line, and the time of the latest line that has one.
    latest: (Option<&'t str>, u64),
}

/// An event with a loss.
#[derive(Clone, Copy)]
pub(super) struct ReplayedEvent<'t> {
    pub(super) name: &'t str,
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
        // The hook that asked for the time first may be the second one to write.
        let between = Duration::from_millis(self.at.abs_diff(later.at));
        self.name == later.name && between < longest
    }
}

#[derive(Clone, Copy)]
pub(super) struct MemoryLine<'t> {
    pub(super) fingerprint: &'t str,
    pub(super) tokens: usize,
    /// The call that wrote the line; its first character is the letter of the origin.
    pub(super) owner: Option<&'t str>,
}

/// A time in which a command ran, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CommandRun<'t> {
    pub(super) from: u64,
    pub(super) to: u64,
    /// The marks of the files that its events showed, each after a blank.
    pub(super) shown: &'t str,
}

/// The first character of a line about a command.
pub(super) const COMMAND: char = '$';

/// The first character of a line about an entry that had no room.
pub(super) const WAITS: char = '?';

/// The first character of a line about what the agent did (`super::work`).
pub(super) const WORK: char = '%';

/// A line about the first call of a tool after a loss.
pub(super) const CALLED: char = '=';

/// The first character of a line that names a file.
pub(super) const TOUCHED: char = '@';

/// The first character of a line with the hash of a file before a call.
pub(super) const BEFORE: char = '~';

/// The first character of a line that says what was lost.
pub(super) const LOST: char = '!';

/// The letter for entries of any origin.
pub(super) const EVERYTHING: char = '*';

impl<'t> Replay<'t> {
    pub(super) fn parse(text: &'t str) -> Replay<'t> {
        let mut replay = Replay::default();
        for line in text.lines() {
            replay.parse_line(line);
        }
        replay
    }

    fn parse_line(&mut self, line: &'t str) {
        if line.starts_with(AGENT) {
            return;
        }
        if let Some(path) = line.strip_prefix(TOUCHED) {
            self.touched.push(path);
            return;
        }
        if let Some(work) = line.strip_prefix(WORK) {
            self.work.push(work);
            return;
        }
        // Every tool writes one of these, unless something else says that it was called.
        self.has_calls |= line.starts_with([CALLED, BEFORE, COMMAND]);
        if line.starts_with(CALLED) {
            return;
        }
        if let Some(noted) = line.strip_prefix(BEFORE) {
            self.before.extend(noted.split_once(' '));
            return;
        }
        if let Some(run) = line.strip_prefix(COMMAND) {
            self.parse_command(run);
            return;
        }
        if let Some(mark) = line.strip_prefix(WAITS) {
            self.waiting.insert(mark);
            return;
        }
        if let Some(event) = line.strip_prefix(LOST) {
            let mut fields = event.split(' ');
            let name = fields.next().unwrap_or_default();
            let at = fields.next().and_then(|at| at.parse().ok()).unwrap_or(0);
            let lost = fields.next().unwrap_or_default();
            let stamp = fields.next().filter(|stamp| *stamp != "-");
            self.apply_loss(ReplayedEvent { name, at, stamp }, lost);
            return;
        }
        let mut fields = line.split(' ');
        let line = MemoryLine {
            fingerprint: fields.next().unwrap_or_default(),
            tokens: fields.next().and_then(|tokens| tokens.parse().ok()).unwrap_or(0),
            owner: fields.next(),
        };
        self.latest.0 = line.owner.or(self.latest.0);
        self.is_used |= line.origin_letter() != Some(origin_letter(DeliveryOrigin::Start));
        self.told.entry(line.fingerprint).or_insert(line);
    }

    /// Takes the beginning (`b TIME`) or the end (`a TIME MARK…`) of a command.
    fn parse_command(&mut self, line: &'t str) {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (time, shown) = rest.split_once(' ').unwrap_or((rest, ""));
        let Ok(time) = time.parse() else { return };
        if kind == "b" {
            self.begun = Some(time);
        } else {
            // Without an event before it, it began at some time after the latest line.
            let from = self.begun.take().or_else(|| self.latest_time()).unwrap_or(time);
            self.commands.push(CommandRun { from, to: time, shown });
        }
        self.latest = (None, time);
    }

    /// Returns the time of the latest line that has one.
    fn latest_time(&self) -> Option<u64> {
        let (owner, time) = self.latest;
        let of_owner = owner.and_then(|owner| {
            let nanos = owner.get(1..)?.split('-').next()?;
            u64::try_from(u128::from_str_radix(nanos, 16).ok()? / 1_000_000).ok()
        });
        of_owner.or(Some(time)).filter(|time| *time > 0)
    }

    /// Removes what was lost with an event, unless another hook has reported the same event.
    fn apply_loss(&mut self, event: ReplayedEvent<'t>, lost: &str) {
        let is_used = self.is_used || self.has_calls;
        if self.event.is_some_and(|known| known.is_same(&event, is_used)) {
            return;
        }
        (self.event, self.is_used, self.has_calls) = (Some(event), false, false);
        self.latest = (None, event.at);
        if lost.contains(EVERYTHING) {
            self.waiting.clear();
        }
        if lost.contains(TOUCHED) {
            self.touched.clear();
            self.detached.clear();
            self.commands.clear();
            self.work.clear();
        } else if lost.contains(EVERYTHING) {
            let attached = self.told.values().filter(|line| line.origin_letter() == Some(ATTACHED));
            self.detached.extend(attached.map(|line| line.fingerprint));
        }
        // A line of an earlier version has no letter, and may be lost.
        let is_kept = |letter: Option<char>| letter.is_some_and(|letter| !lost.contains(letter));
        self.told.retain(|_, line| !lost.contains(EVERYTHING) && is_kept(line.origin_letter()));
    }
}

impl MemoryLine<'_> {
    /// Returns the letter of the origin; `None` for a line of an earlier version.
    pub(super) fn origin_letter(&self) -> Option<char> {
        self.owner?.chars().next().filter(|letter| !letter.is_ascii_hexdigit())
    }
}

#[cfg(test)]
mod tests {
    use super::Replay;

    /// L02: two hooks of one event write in any order, whatever the times that they have read before: the first line of an entry stays.
    #[test]
    fn l02_an_event_that_two_hooks_report_is_one_in_either_order() {
        for (first, second, owner) in [
            (1_000, 1_040, "s1-1"),
            (1_040, 1_000, "s1-1"),
            (1_000, 9_000, "s2-2"),
            (9_000, 1_000, "s2-2"),
        ] {
            let text = format!("!new {first} *@ -\nab 3 s1-1\n!new {second} *@ -\nab 3 s2-2\n");
            let told = Replay::parse(&text).told;
            assert_eq!(told["ab"].owner, Some(owner), "{text}");
        }
    }
}
