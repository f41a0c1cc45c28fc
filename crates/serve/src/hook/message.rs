//! The text for the model, within what the client passes on.
//!
//! A client cuts a text that is too long, and cuts it where the most specific guidance stands. So
//! we choose ourselves: whole entries, the most specific first, and one line that says how many
//! are missing and how to see them.

use std::collections::HashSet;
use std::fmt::Write as _;

use brief_clients::hook::{self, CLAUDE_OUTPUT_LIMIT, Client};
use brief_engine::structured::Decision;
use brief_engine::{Action, Timing};

use super::memory::fingerprint;

/// Room kept for the line that says what is missing.
const NOTICE_ROOM: usize = 500;

/// Paths longer than this are not spelled out in the notice.
const NOTICE_PATH: usize = 200;

pub(super) struct Message<'m> {
    client: Client,
    timing: Timing,
    program: &'static str,
    entries: Vec<Entry>,
    /// The fingerprints of the entries.
    seen: HashSet<String>,
    /// For the notice: the first target and action that had anything to say.
    about: Option<(&'m str, Option<Action>)>,
}

struct Entry {
    section: Section,
    text: String,
    fingerprint: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Context,
    Decisions,
}

impl Section {
    fn heading(self) -> &'static str {
        match self {
            Section::Context => "## Structured Context\n",
            Section::Decisions => "\n## Architectural Decisions\n",
        }
    }
}

impl<'m> Message<'m> {
    pub(super) fn new(client: Client, timing: Timing, program: &'static str) -> Self {
        Message { client, timing, program, entries: Vec::new(), seen: HashSet::new(), about: None }
    }

    pub(super) fn add_context(
        &mut self,
        path: &str,
        content: &str,
        target: &'m str,
        action: Option<Action>,
    ) {
        let text = list_item(content);
        self.add(Section::Context, path, text, (target, action));
    }

    pub(super) fn add_decision(
        &mut self,
        path: &str,
        decision: &Decision,
        target: &'m str,
        action: Option<Action>,
    ) {
        let mut text = list_item(&decision.decision);
        let mut line = |label: &str, value: &str| {
            let _ = write!(text, "\n  {label}{}", indented(value.trim_end()));
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
        self.add(Section::Decisions, path, text, (target, action));
    }

    fn add(
        &mut self,
        section: Section,
        path: &str,
        text: String,
        about: (&'m str, Option<Action>),
    ) {
        let fingerprint = fingerprint(&[path, section.heading(), &text]);
        // Two files of one call share what their directories say.
        if self.seen.insert(fingerprint.clone()) {
            self.entries.push(Entry { section, text, fingerprint });
            self.about.get_or_insert(about);
        }
    }

    /// Returns the answer and the fingerprints of what is in it, leaving out what is `known`.
    pub(super) fn finish(mut self, known: &HashSet<String>) -> Option<(String, Vec<String>)> {
        self.entries.retain(|entry| !known.contains(&entry.fingerprint));
        if self.entries.is_empty() {
            return None;
        }
        let fits = self.choose();
        let chosen = |section| {
            let pairs = self.entries.iter().zip(&fits);
            pairs
                .filter(move |(entry, fits)| **fits && entry.section == section)
                .map(|(entry, _)| entry)
        };
        let mut text = String::new();
        for section in [Section::Context, Section::Decisions] {
            for (index, entry) in chosen(section).enumerate() {
                if index == 0 {
                    text.push_str(section.heading());
                }
                text.push_str("\n- ");
                text.push_str(&entry.text);
            }
        }
        let missing = fits.iter().filter(|fits| !**fits).count();
        if missing > 0 {
            self.add_notice(&mut text, missing);
        }
        let delivered = [Section::Context, Section::Decisions]
            .into_iter()
            .flat_map(chosen)
            .map(|entry| entry.fingerprint.clone())
            .collect();
        Some((hook::answer(self.client, self.timing, &text), delivered))
    }

    /// Decides which entries fit: from the most specific, which comes last, to the most general.
    fn choose(&self) -> Vec<bool> {
        let envelope = json_length(&hook::answer(self.client, self.timing, ""));
        let headings =
            json_length(Section::Context.heading()) + json_length(Section::Decisions.heading());
        let cost = |entry: &Entry| json_length(&entry.text) + json_length("\n- ");
        let total: usize = self.entries.iter().map(cost).sum();
        let limit = CLAUDE_OUTPUT_LIMIT - envelope - headings;
        if total <= limit {
            return vec![true; self.entries.len()];
        }
        let mut room = limit - NOTICE_ROOM;
        let mut fits = vec![false; self.entries.len()];
        for (entry, fits) in self.entries.iter().zip(&mut fits).rev() {
            if cost(entry) <= room {
                room -= cost(entry);
                *fits = true;
            }
        }
        fits
    }

    fn add_notice(&self, text: &mut String, missing: usize) {
        let entries = if missing == 1 { "entry was" } else { "entries were" };
        let _ = write!(
            text,
            "\n\n({missing} more {entries} left out to fit; see all with: {} context ",
            self.program
        );
        match self.about {
            Some(("", _)) => text.push('.'),
            Some((target, _)) if target.len() <= NOTICE_PATH => {
                text.push_str(&shell_quoted(target));
            }
            _ => text.push_str("PATH"),
        }
        if let Some((_, Some(action))) = self.about {
            let _ = write!(text, " --on {}", action.as_str());
        }
        let _ = write!(text, " --when {})", self.timing.as_str());
    }
}

/// A list item stays one item: the lines after the first are indented.
fn list_item(content: &str) -> String {
    indented(content.trim_end())
}

fn indented(text: &str) -> String {
    let mut lines = text.split('\n');
    let mut item = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        item.push('\n');
        if !line.trim().is_empty() {
            item.push_str("  ");
            item.push_str(line);
        }
    }
    item
}

fn shell_quoted(path: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "/._-".contains(character);
    if path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

/// How many characters a text takes in JSON, as a client written in JavaScript counts them.
fn json_length(text: &str) -> usize {
    text.chars()
        .map(|character| match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            control if control < ' ' => 6,
            other => other.len_utf16(),
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
            assert_eq!(json_length(&text) + 2, encoded.encode_utf16().count());
            Ok(())
        });
    }

    /// Ruling S6: the answer fits, the most specific survive, and the rest is counted.
    #[test]
    fn the_answer_fits_whatever_the_entries_are() {
        arbtest::arbtest(|bytes| {
            let contents: Vec<String> = bytes.arbitrary()?;
            let repeat = bytes.int_in_range(1..=400)?;
            let mut message = Message::new(Client::Claude, Timing::Before, "brief");
            for (index, content) in contents.iter().enumerate() {
                let content = content.repeat(repeat);
                message.add_context(&format!("f{index}"), &content, "src/a.py", None);
            }
            message.add_context("last", "MOST-SPECIFIC", "src/a.py", None);
            let total = message.entries.len();
            let (answer, delivered) = message.finish(&HashSet::new()).unwrap();
            assert!(answer.encode_utf16().count() <= CLAUDE_OUTPUT_LIMIT);
            assert!(answer.contains("MOST-SPECIFIC"));
            if delivered.len() < total {
                assert!(answer.contains(&format!("({} more entr", total - delivered.len())));
            }
            Ok(())
        });
    }

    #[test]
    fn a_text_of_several_lines_stays_one_item() {
        assert_eq!(list_item("first\n- second\n\nthird\n"), "first\n  - second\n\n  third");
    }
}
