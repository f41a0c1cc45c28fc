//! What an agent did in a session, as far as checks about a turn need it: files, commands, skills and held turns.
//!
//! The memory of the conversation keeps it in lines of their own, and nothing of it where no check asks. It is small: the
//! latest events count, and long commands are cut.

use brief_checks::rules::PastEvent;

use brief_clients::hook::HookSession;
use brief_engine::System;
use brief_profiles::Client;

use super::Memory;
use super::replay::{Replay, WORK};

/// The limit for the events that are looked at.
const MOST_EVENTS: usize = 400;

/// The limit for the bytes of one line.
const LONGEST: usize = 1_000;

/// The kinds of lines, by their first character.
const EDITED: char = 'e';
const RAN: char = 'r';
const FAILED: char = 'f';
const LOADED: char = 's';
const HELD: char = 'h';
const PROMPTED: char = 'p';

/// The work of a session.
#[derive(Debug, Default)]
pub(in crate::hook) struct SessionWork {
    /// The events, oldest first.
    pub(in crate::hook) events: Vec<PastEvent>,
    /// The place of the first event of this turn.
    turn: usize,
    /// How often the end of a turn was held since the user said something.
    pub(in crate::hook) held: usize,
}

impl SessionWork {
    pub(super) fn from_lines(lines: &[&str]) -> SessionWork {
        let mut work = SessionWork::default();
        let first = lines.len().saturating_sub(MOST_EVENTS);
        for line in &lines[first..] {
            let Some(kind) = line.chars().next() else { continue };
            let rest = unescape(&line[kind.len_utf8()..]);
            match kind {
                EDITED => work.events.push(PastEvent::Edited { path: rest.into() }),
                LOADED => work.events.push(PastEvent::Loaded { skill: rest.into() }),
                RAN | FAILED => work.events.push(PastEvent::Ran {
                    line: rest.into(),
                    directory: None,
                    has_succeeded: kind == RAN,
                }),
                HELD => work.held += 1,
                PROMPTED => (work.turn, work.held) = (work.events.len(), 0),
                _ => {}
            }
        }
        work
    }

    /// Returns the files of this turn, each once, in order.
    pub(in crate::hook) fn edited_in_turn(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = Vec::new();
        for event in self.events.iter().skip(self.turn) {
            if let PastEvent::Edited { path } = event
                && !paths.contains(&&**path)
            {
                paths.push(path);
            }
        }
        paths
    }
}

fn line_of(event: &PastEvent) -> String {
    let (kind, text) = match event {
        PastEvent::Edited { path } => (EDITED, &**path),
        PastEvent::Loaded { skill } => (LOADED, &**skill),
        PastEvent::Ran { line, has_succeeded: true, .. } => (RAN, &**line),
        PastEvent::Ran { line, .. } => (FAILED, &**line),
    };
    let text = &text[..text.floor_char_boundary(LONGEST)];
    format!("{WORK}{kind}{}\n", escape(text))
}

/// Returns a text as one line.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescape(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => found.push('\n'),
                Some('r') => found.push('\r'),
                Some(other) => found.push(other),
                None => {}
            },
            other => found.push(other),
        }
    }
    found
}

/// The record of a session's work: that of subagents is a part of it.
pub(in crate::hook) struct WorkRecord<'s> {
    memory: Memory<'s>,
}

impl<'s> WorkRecord<'s> {
    pub(in crate::hook) fn of_session(
        system: &'s dyn System,
        client: &Client,
        session: &HookSession,
    ) -> WorkRecord<'s> {
        let whole = HookSession { id: session.id.clone(), agent: None };
        WorkRecord { memory: Memory::for_conversation(system, client, &whole) }
    }

    pub(in crate::hook) fn read(&self) -> SessionWork {
        let Some(path) = self.memory.path() else { return SessionWork::default() };
        let text = self.memory.read_text(&path);
        SessionWork::from_lines(&Replay::parse(&text).work)
    }

    /// Records what the agent has done.
    pub(in crate::hook) fn note_events(&self, events: &[PastEvent]) {
        if !events.is_empty() {
            self.memory.append_lines(&events.iter().map(line_of).collect::<String>());
        }
    }

    /// Records that the end of a turn is held. Returns false if that cannot be recorded: then it is not held.
    pub(in crate::hook) fn note_held_turn(&self, before: usize) -> bool {
        self.memory.append_lines(&format!("{WORK}{HELD}\n"));
        self.read().held > before
    }

    /// Records that the user has said something: a new turn begins.
    pub(in crate::hook) fn note_turn(&self) {
        let work = self.read();
        if !work.events.is_empty() || work.held > 0 {
            self.memory.append_lines(&format!("{WORK}{PROMPTED}\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_read_back() {
        let events = vec![
            PastEvent::Edited { path: "a b.py".into() },
            PastEvent::Ran {
                line: "cat <<E\n\\n\r\nE".into(),
                directory: None,
                has_succeeded: true,
            },
            PastEvent::Ran { line: "false".into(), directory: None, has_succeeded: false },
            PastEvent::Loaded { skill: "release".into() },
        ];
        let text: String = events.iter().map(line_of).collect();
        let lines: Vec<&str> = text.lines().map(|line| line.strip_prefix(WORK).unwrap()).collect();
        assert_eq!(lines.len(), events.len());
        let work = SessionWork::from_lines(&lines);
        assert_eq!((work.events, work.held), (events, 0));
        let work = SessionWork::from_lines(&["ea", "h", "h", "p", "eb", "ec", "eb", "h", "", "x"]);
        assert_eq!((work.edited_in_turn(), work.held), (vec!["b", "c"], 1));
    }
}
