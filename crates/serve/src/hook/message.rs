//! The text for the model, within the client's limit and the budget of the conversation.
//!
//! A client cuts a text that is too long, and cuts it at the end, where the most specific guidance stands. So
//! the hook chooses whole entries, those of the nearest directory first. The others follow with the next calls of a
//! remembered conversation; an entry that is too long for any call is named with its file.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use brief_clients::hook::{self, ClientAnswer, HookCall, HookMoment, Words};
use brief_engine::receipts::ReceiptItem;
use brief_engine::{
    Action, BriefedDecision, BriefedItem, Briefing, Moment, MomentTool, ReasonKind,
    estimate_tokens, native,
};
use brief_profiles::TextUnit;
use brief_syntax::shell;
use brief_syntax::text::{group_digits, visible_line};

use super::memory::{Claim, DeliveredEntries, Memory, fingerprint_parts};
use super::receipt::{EntryOrigin, OriginItem};
use super::{Guidance, HookOptions, late, loaded_mark};
use crate::frame::{FrameMark, indent_list_item};

/// The longest text for a client that has no limit of its own, in units of UTF-16.
const MOST_UNITS: usize = 10_000;

/// The bytes that a client takes for a token.
const BYTES_OF_TOKEN: usize = 4;

/// The room for the line about missing entries.
const NOTICE_ROOM: usize = 500;

/// The limit for the characters of a path in notices and headings.
const LONGEST_PATH: usize = 200;

/// The limit for the characters of an listed item's description.
const LONGEST_DESCRIPTION: usize = 300;

/// The limit for the characters of file names in the first heading.
const NAMED_FILES: usize = 200;

/// The last line of a text that holds a call back.
const HELD: &str = "(Blocked once so that you read this. Repeat the same call to continue.)";

/// The room for the headings of all sections.
const HEADINGS_ROOM: usize = NAMED_FILES + 200;

/// The room for a mark with the blank after it, or with two line breaks before it.
const MARK_ROOM: usize = 12;

pub(super) struct Message<'m> {
    call: &'m HookCall<'m>,
    options: HookOptions<'m>,
    root: &'m Path,
    mark: FrameMark,
    entries: Vec<MessageEntry<'m>>,
    /// The fingerprints of the entries.
    seen: HashSet<String>,
    /// The targets with guidance, each with the action on it.
    about: Vec<(&'m str, Option<Action>)>,
    /// The length of another text in the same answer.
    taken: usize,
}

struct MessageEntry<'m> {
    origin: EntryOrigin<'m>,
    section: MessageSection,
    /// The display path of its file.
    place: String,
    text: String,
    /// The fingerprints of the entry: its own place, and the other places of the same text.
    fingerprints: Vec<String>,
    tokens: usize,
    /// The mark of its file in the memory of a client that loads some files by itself.
    loaded: Option<String>,
}

impl MessageEntry<'_> {
    /// Returns whether the conversation has it.
    fn is_known(&self, known: &DeliveredEntries) -> bool {
        let marks = self.fingerprints.first().into_iter().chain(&self.loaded);
        marks.into_iter().any(|mark| known.contains(mark))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageSection {
    Context,
    Decisions,
    Offers,
}

impl MessageSection {
    /// All sections, in the order of the text.
    const ALL: [MessageSection; 3] =
        [MessageSection::Context, MessageSection::Decisions, MessageSection::Offers];
}

/// The decision about an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Fits,
    /// The answer has no room for it.
    Later,
    /// The budget of the conversation has no room for it.
    OverBudget,
}

impl<'m> Message<'m> {
    pub(super) fn new(call: &'m HookCall<'m>, options: HookOptions<'m>, root: &'m Path) -> Self {
        let (entries, seen, about) = (Vec::new(), HashSet::new(), Vec::new());
        // Without a session, every answer is one of its own.
        let of_session = call
            .session
            .as_ref()
            .map_or_else(|| root.as_os_str().as_encoded_bytes(), |session| session.id.as_bytes());
        let mark = FrameMark::from_seed(of_session);
        Message { call, options, root, mark, entries, seen, about, taken: 0 }
    }

    /// Leaves room for another text in the same answer.
    pub(super) fn leave_room(&mut self, length: usize) {
        self.taken = length;
    }

    /// Adds the answer for one file.
    pub(super) fn add_briefing(&mut self, briefing: &'m Briefing) {
        let before = self.entries.len();
        briefing.active.iter().for_each(|item| self.add_context(item, &briefing.moment));
        briefing.listed.iter().for_each(|item| self.add_offer(item, &briefing.moment));
        if self.call.wants_decisions {
            for bound in &briefing.decisions {
                self.add_decision(bound, &briefing.moment);
            }
        }
        if self.entries.len() > before {
            self.about.push((briefing.moment.slashed_path(), briefing.moment.action));
        }
    }

    fn add_context(&mut self, item: &'m BriefedItem, moment: &'m Moment) {
        let origin = EntryOrigin { moment, item: OriginItem::Context(item) };
        let ahead = match item.reason.kind {
            ReasonKind::Ahead(on) => format!("Before {}: ", on.with_articles()),
            _ => String::new(),
        };
        let content = item.content.trim_matches('\n').trim_end();
        let kept = self.mark.kept_inside(content);
        let mut text = if origin.is_document() {
            kept.into_owned()
        } else {
            indent_list_item(&format!("{ahead}{kept}"))
        };
        let place = self.display_path(&item.path);
        if self.options.guidance == Guidance::All
            && self.entry_length(&place, &text) > self.available_length()
        {
            let tokens = group_digits(estimate_tokens(content) as u64);
            let line =
                if item.line > 1 { format!(" from line {} on", item.line) } else { String::new() };
            text = format!("{ahead}Too long to show here ({tokens} tokens): read {place}{line}.");
        }
        let places = std::iter::once(&item.path).chain(item.also.iter().map(|place| &place.path));
        let fingerprints = places
            .map(|path| fingerprint_parts(&["context", &path.to_string_lossy(), content]))
            .collect();
        self.push_entry(text, fingerprints, origin);
    }

    fn add_offer(&mut self, item: &'m BriefedItem, moment: &'m Moment) {
        let description: Vec<&str> = item.description.split_whitespace().collect();
        let mut description = description.join(" ");
        if let Some((end, _)) = description.char_indices().nth(LONGEST_DESCRIPTION) {
            description.truncate(end);
            description.push('…');
        }
        let place = self.display_path(&item.path);
        let colon = if description.is_empty() { "" } else { ": " };
        let line = format!("{}{colon}{description}", item.name);
        let line = self.mark.kept_inside(&line);
        let text = format!("{} (read {place})", visible_line(&line));
        let fingerprints =
            vec![fingerprint_parts(&["offer", &item.path.to_string_lossy(), &item.description])];
        self.push_entry(text, fingerprints, EntryOrigin { moment, item: OriginItem::Offer(item) });
    }

    fn add_decision(&mut self, bound: &'m BriefedDecision, moment: &'m Moment) {
        let BriefedDecision { path, decision, .. } = bound;
        let mut text = indent_list_item(&decision.decision);
        let mut line = |label: &str, value: &str| {
            let _ = write!(text, "\n  {label}{}", indent_list_item(value));
        };
        line("Rationale: ", &decision.rationale);
        for alternative in &decision.alternatives {
            match alternative.reason_rejected.trim() {
                "" => line(&format!("Considered {}, rejected", alternative.option), ""),
                reason => line(&format!("Considered {}, rejected: ", alternative.option), reason),
            }
        }
        if let Some(revisit_when) = &decision.revisit_when {
            line("Revisit when: ", revisit_when);
        }
        let text = self.mark.kept_inside(&text).into_owned();
        let fingerprints = vec![fingerprint_parts(&["decision", &path.to_string_lossy(), &text])];
        self.push_entry(
            text,
            fingerprints,
            EntryOrigin { moment, item: OriginItem::Decision(bound) },
        );
    }

    fn push_entry(&mut self, text: String, fingerprints: Vec<String>, origin: EntryOrigin<'m>) {
        // Two files of one call share the guidance of their directories.
        if !self.seen.contains(&fingerprints[0]) {
            self.seen.extend(fingerprints.iter().cloned());
            let section = match origin.item {
                OriginItem::Context(_) => MessageSection::Context,
                OriginItem::Offer(_) => MessageSection::Offers,
                OriginItem::Decision(_) => MessageSection::Decisions,
            };
            let path = origin.path();
            let (tokens, place) = (estimate_tokens(&text), self.display_path(path));
            // A file that the client attaches to some files or actions only may be there from an earlier call.
            let is_own =
                matches!(origin.item, OriginItem::Context(item) if item.dialect == native::NAME);
            let may_be_there = self.call.client.attaches_by_read()
                || origin.moment.tool != MomentTool::Own
                || self.call.client.loading.scoped_below_start && is_own;
            let loaded = may_be_there.then(|| loaded_mark(path));
            let entry = MessageEntry { origin, section, place, text, fingerprints, tokens, loaded };
            self.entries.push(entry);
        }
    }

    /// Returns whether guidance is due that the conversation does not have: any, or only what is marked.
    pub(super) fn has_new(&self, known: &DeliveredEntries, only_marked: bool) -> bool {
        let said = self.entries.iter().filter(|entry| entry.section == MessageSection::Context);
        let mut due = said.filter(|entry| entry.origin.is_marked() || !only_marked);
        due.any(|entry| !entry.is_known(known))
    }

    /// Returns the text of the answer without the `known` entries, and records the delivered ones.
    pub(super) fn finish(
        mut self,
        memory: Option<&Memory<'_>>,
        known: &mut DeliveredEntries,
        holds: bool,
    ) -> Option<(String, Vec<ReceiptItem>)> {
        if let Some(memory) = memory {
            // The same text of another file was told with it.
            let told = self.entries.iter().filter(|entry| entry.is_known(known));
            let marks =
                told.flat_map(|entry| &entry.fingerprints).filter(|mark| !known.contains(mark));
            let marks = marks.map(|mark| Claim { fingerprint: mark.clone(), tokens: 0 });
            memory.claim_entries(&marks.collect::<Vec<Claim>>(), &[], known);
        }
        self.entries.retain(|entry| !entry.is_known(known));
        if self.entries.is_empty() {
            return None;
        }
        let budget = match memory {
            Some(_) => self.options.budget.saturating_sub(known.spent),
            None => usize::MAX,
        };
        let fits = self
            .choose_entries(budget, if holds { self.encoded_length(HELD) + MARK_ROOM } else { 0 });
        let count = |sought: Fit| fits.iter().filter(|fit| **fit == sought).count();
        let (later, over_budget) = (count(Fit::Later), count(Fit::OverBudget));
        if let (Some(memory), true) = (memory, later > 0) {
            let waiting = self.entries.iter().zip(&fits).filter(|(_, fit)| **fit == Fit::Later);
            memory.note_waiting(waiting.map(|(entry, _)| &*entry.fingerprints[0]), known);
        }
        let mut fits = fits.into_iter();
        self.entries.retain(|_| fits.next() == Some(Fit::Fits));
        let spent = fingerprint_parts(&["budget"]);
        let mut tells_budget = over_budget > 0 && !known.contains(&spent);
        if let Some(memory) = memory {
            let mut claims: Vec<Claim> = Vec::new();
            for MessageEntry { fingerprints, tokens, .. } in &self.entries {
                let of_first = [*tokens].into_iter().chain(std::iter::repeat(0));
                let pairs = fingerprints.iter().cloned().zip(of_first);
                claims.extend(pairs.map(|(fingerprint, tokens)| Claim { fingerprint, tokens }));
            }
            if tells_budget {
                claims.push(Claim { fingerprint: spent.clone(), tokens: 0 });
            }
            let about = self.about.iter().map(|(path, _)| *path);
            let touched: Vec<&str> = about.filter(|path| !path.is_empty()).collect();
            let ours = memory.claim_entries(&claims, &touched, known);
            self.entries.retain(|entry| ours.contains(&entry.fingerprints[0]));
            tells_budget &= ours.contains(&spent);
        }
        if self.entries.is_empty() && !tells_budget {
            return None;
        }
        let mut text = self.render();
        if later > 0 && !self.entries.is_empty() {
            self.add_notice(&mut text, later, memory.is_some());
        }
        if tells_budget {
            self.add_budget_notice(&mut text);
        }
        if holds {
            self.add_own_line(&mut text, HELD);
        }
        let mut items: Vec<ReceiptItem> = Vec::new();
        for section in MessageSection::ALL {
            let said = self.entries.iter().filter(|entry| entry.section == section);
            items.extend(said.map(|entry| {
                let item = entry.origin.receipt_item(entry.place.clone(), entry.tokens, self.root);
                let has_waited = known.has_waited(&entry.fingerprints[0]);
                let late = late::of_call(self.call, &entry.origin, holds, has_waited);
                ReceiptItem { late, ..item }
            }));
        }
        Some((text, items))
    }

    /// Returns the entries in the order in which they get room: those of the nearest directory first. Of one directory, entries
    /// that ask to hold a change back come first, then those of `AGENTS.yaml`, the last and most specific one leading; then whole
    /// files in the order of the text, those that stand in the directory itself, such as `AGENTS.md`, before those of
    /// `.agents/rules` and its like. Offers come last.
    fn order_entries(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        order.sort_by_key(|&index| {
            let entry = &self.entries[index];
            let path = entry.origin.path();
            let path = path.strip_prefix(self.root).unwrap_or(path);
            let is_hidden = |part: &std::path::Component<'_>| {
                part.as_os_str().as_encoded_bytes().starts_with(b".")
            };
            let parts = path.components().count().saturating_sub(1);
            let depth = path.components().take(parts).take_while(|part| !is_hidden(part)).count();
            let is_whole = entry.origin.is_document();
            let backwards = if is_whole { 0 } else { self.entries.len() - index };
            (
                entry.section == MessageSection::Offers,
                Reverse(depth),
                !entry.origin.is_marked(),
                is_whole,
                is_whole && depth < parts,
                backwards,
            )
        });
        order
    }

    fn choose_entries(&self, budget: usize, taken: usize) -> Vec<Fit> {
        let room = self.available_length().saturating_sub(taken);
        let all = self.choose_within(room + NOTICE_ROOM, budget);
        if all.iter().all(|fit| *fit == Fit::Fits) {
            return all;
        }
        self.choose_within(room, budget)
    }

    fn choose_within(&self, mut room: usize, mut tokens: usize) -> Vec<Fit> {
        let mut fits = vec![Fit::Later; self.entries.len()];
        let mut place = None;
        for index in self.order_entries() {
            let entry = &self.entries[index];
            // Adjacent entries from one file share its heading.
            let has_heading = self.options.guidance == Guidance::All
                && entry.section == MessageSection::Context
                && place != Some(&entry.place);
            let cost = self.entry_length(if has_heading { &entry.place } else { "" }, &entry.text);
            fits[index] = if entry.tokens > tokens {
                Fit::OverBudget
            } else if cost > room {
                Fit::Later
            } else {
                room -= cost;
                tokens -= entry.tokens;
                place = Some(&entry.place);
                Fit::Fits
            };
        }
        fits
    }

    /// Returns the characters for entries, without the notice.
    fn available_length(&self) -> usize {
        let empty = Words { context: Some(""), ..Words::default() };
        let envelope = hook::render_answer(self.call.hook, &self.call.event, empty);
        let envelope = envelope.and_then(ClientAnswer::into_line);
        let envelope = envelope.map_or(0, |envelope| self.encoded_length(&envelope));
        let headings: usize = match self.options.guidance {
            Guidance::Structured => {
                STRUCTURED.iter().map(|heading| self.encoded_length(heading)).sum()
            }
            Guidance::All => HEADINGS_ROOM,
        };
        let most = match &self.call.hook.limit {
            Some(limit) if limit.unit == TextUnit::Tokens => limit.most * BYTES_OF_TOKEN,
            Some(limit) => limit.most,
            None => MOST_UNITS,
        };
        most.saturating_sub(envelope + headings + NOTICE_ROOM + self.taken)
    }

    /// Returns the length of a text in JSON, in the unit of the client.
    fn encoded_length(&self, text: &str) -> usize {
        let unit = self.call.hook.limit.as_ref().map_or(TextUnit::Utf16, |limit| limit.unit);
        json_length(text, unit)
    }

    /// Returns the length of an entry, including a heading of its own.
    fn entry_length(&self, place: &str, text: &str) -> usize {
        let heading = if place.is_empty() {
            0
        } else {
            self.encoded_length(place) + self.encoded_length("\n\n### \n\n") + MARK_ROOM
        };
        self.encoded_length(text) + self.encoded_length("\n- ") + heading
    }

    fn render(&self) -> String {
        let mut text = String::new();
        for section in MessageSection::ALL {
            let mut place = "";
            let entries = self.entries.iter().filter(|entry| entry.section == section);
            for (index, entry) in entries.enumerate() {
                if index == 0 {
                    self.add_heading(&mut text, section);
                }
                let has_places =
                    self.options.guidance == Guidance::All && section == MessageSection::Context;
                if has_places && place != entry.place {
                    let lead = if index == 0 { "\n" } else { "\n\n" };
                    place = &entry.place;
                    let _ = writeln!(text, "{lead}### {} {place}", self.mark());
                } else if entry.origin.is_document() {
                    text.push('\n');
                }
                text.push_str(if entry.origin.is_document() { "\n" } else { "\n- " });
                text.push_str(&entry.text);
            }
        }
        text
    }

    fn add_heading(&self, text: &mut String, section: MessageSection) {
        if self.options.guidance == Guidance::Structured {
            text.push_str(STRUCTURED[usize::from(section != MessageSection::Context)]);
            return;
        }
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        let heading = match section {
            MessageSection::Context => {
                let (targets, mark) = (self.render_targets(), self.mark());
                let _ = writeln!(text, "## Guidance for {targets}, marked {mark}");
                return;
            }
            MessageSection::Decisions => "Architectural Decisions",
            MessageSection::Offers => {
                "Available: read a file below when its description matches your task"
            }
        };
        // Nothing stands above the first line, so no text can claim it.
        let mark = if text.is_empty() { String::new() } else { format!("{} ", self.mark()) };
        let _ = writeln!(text, "## {mark}{heading}");
    }

    fn mark(&self) -> &str {
        self.mark.as_str()
    }

    /// Adds a line that is no text of a file, such as a notice.
    fn add_own_line(&self, text: &mut String, line: &str) {
        if !text.is_empty() {
            text.push_str("\n\n");
            if self.options.guidance == Guidance::All {
                text.push_str(self.mark());
                text.push(' ');
            }
        }
        text.push_str(line);
    }

    /// Returns the names of the targets, as far as they are short.
    fn render_targets(&self) -> String {
        let mut named = String::new();
        let mut unnamed = 0;
        for (path, _) in &self.about {
            let path = if path.is_empty() { "this project" } else { path };
            let path = visible_line(path);
            let path = self.mark.kept_inside(&path);
            if self.encoded_length(&named) + self.encoded_length(&path) + 2 > NAMED_FILES {
                unnamed += 1;
                continue;
            }
            let comma = if named.is_empty() { "" } else { ", " };
            let _ = write!(named, "{comma}{path}");
        }
        match (named.is_empty(), unnamed) {
            (true, _) => "this work".to_owned(),
            (false, 0) => named,
            (false, more) => format!("{named} and {more} more"),
        }
    }

    fn add_notice(&self, text: &mut String, missing: usize, is_remembered: bool) {
        let items = if missing == 1 { "item" } else { "items" };
        let what = match (is_remembered, missing) {
            (true, _) => format!("{missing} more {items} will follow with your next calls"),
            (false, 1) => "1 more item was omitted to fit".to_owned(),
            (false, _) => format!("{missing} more items were omitted to fit"),
        };
        self.add_own_line(text, &format!("({what}; to see all, run: {})", self.context_command()));
    }

    fn add_budget_notice(&self, text: &mut String) {
        let tokens = group_digits(self.options.budget as u64);
        let command = self.context_command();
        let line = format!(
            "(You have used the {tokens} tokens of guidance for one conversation. To see the rest, run: {command})"
        );
        self.add_own_line(text, &line);
    }

    /// Returns the command that shows all guidance.
    fn context_command(&self) -> String {
        let mut command = format!("{} context ", self.options.program);
        match self.about.first() {
            Some(("", _)) => command.push('.'),
            Some((target, _)) if target.len() <= LONGEST_PATH => {
                let target = visible_line(target);
                command.push_str(&shell::quote_shell_word(&self.mark.kept_inside(&target)));
            }
            _ => command.push_str("PATH"),
        }
        if let Some((_, Some(action))) = self.about.first() {
            let _ = write!(command, " --on {}", action.as_str());
        }
        if let HookMoment::Tool { timing: Some(timing), .. } = self.call.moment {
            let _ = write!(command, " --when {}", timing.as_str());
        }
        if self.options.guidance == Guidance::All {
            let _ = write!(command, " --client {}", self.call.client.id);
        }
        command
    }

    /// Returns the display form of a path: relative to the root, if it lies there. Of a very long path only
    /// the end is shown.
    fn display_path(&self, path: &Path) -> String {
        let path = path.strip_prefix(self.root).unwrap_or(path).to_string_lossy();
        let path = visible_line(&path);
        // A name can be as hostile as a text.
        let path = self.mark.kept_inside(&path);
        match path.char_indices().rev().nth(LONGEST_PATH) {
            Some((start, _)) => format!("…{}", &path[start..]),
            None => path.into_owned(),
        }
    }
}

/// The headings of an answer from `AGENTS.yaml` alone.
const STRUCTURED: [&str; 2] = ["## Structured Context\n", "\n## Architectural Decisions\n"];

/// Returns the length of a text in JSON, in a unit.
fn json_length(text: &str, unit: TextUnit) -> usize {
    text.chars()
        .map(|character| match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            control if control < ' ' => 6,
            other => match unit {
                TextUnit::Utf16 => other.len_utf16(),
                TextUnit::Characters => 1,
                TextUnit::Bytes | TextUnit::Tokens => other.len_utf8(),
            },
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_encoded_text() {
        arbtest::arbtest(|bytes| {
            let text: String = bytes.arbitrary()?;
            let encoded = serde_json::to_string(&text).unwrap();
            assert_eq!(json_length(&text, TextUnit::Utf16) + 2, encoded.encode_utf16().count());
            assert_eq!(json_length(&text, TextUnit::Characters) + 2, encoded.chars().count());
            assert_eq!(json_length(&text, TextUnit::Bytes) + 2, encoded.len());
            assert_eq!(json_length(&text, TextUnit::Tokens) + 2, encoded.len());
            Ok(())
        });
    }
}
