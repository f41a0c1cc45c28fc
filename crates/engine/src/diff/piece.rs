//! A piece of guidance as it is delivered.

use std::borrow::Cow;
use std::path::Path;

use brief_dialects::structured;
use brief_dialects::{BindingDecision, Item, Name, State};

use crate::tokens::estimate_tokens;

/// A piece of guidance as it is delivered.
#[derive(Debug, Clone)]
pub struct DiffPiece<'c> {
    /// The dialect that it is written in.
    pub dialect: &'static str,
    /// Its kind, such as `context` or `decision`.
    pub kind: &'static str,
    /// Its name, or its place in its file when it has none.
    pub name: Name<'c>,
    /// The file it stands in, absolute.
    pub path: &'c Path,
    /// The line it begins on, from 1.
    pub line: usize,
    /// Its state: delivered, on offer or waiting to be mentioned.
    pub state: State,
    /// The description, where the dialect has such a field.
    pub description: &'c str,
    /// The text.
    pub text: Cow<'c, str>,
    /// Its index in the catalog.
    address: usize,
}

impl<'c> DiffPiece<'c> {
    pub(super) fn of_item(item: &Item<'c>) -> DiffPiece<'c> {
        let &Item { dialect, kind, name, path, line, state, content, description, .. } = item;
        let address = content.as_ptr().addr();
        let text = Cow::Borrowed(content);
        DiffPiece { dialect, kind, name, path, line, state, description, text, address }
    }

    pub(super) fn of_decision(bound: &BindingDecision<'c>) -> DiffPiece<'c> {
        let decision = bound.decision;
        DiffPiece {
            dialect: structured::NAME,
            kind: "decision",
            name: Name::Entry { list: "decisions", index: decision.index },
            path: bound.path,
            line: decision.line,
            state: State::Active,
            description: "",
            text: Cow::Owned(in_words(decision)),
            address: std::ptr::from_ref(decision).addr(),
        }
    }

    /// Returns the estimated tokens of the text.
    pub fn tokens(&self) -> usize {
        estimate_tokens(&self.text)
    }

    /// Returns numbers that no other piece of the same catalog has.
    pub(super) fn identity(&self) -> [usize; 4] {
        let path = self.path.as_os_str().as_encoded_bytes().as_ptr().addr();
        [self.address, path, self.line, self.state as usize]
    }
}

fn in_words(decision: &structured::Decision) -> String {
    let mut text = decision.decision.trim_end().to_owned();
    let mut add = |label: &str, value: &str| {
        text.push_str(&format!("\n{label}: {}", value.trim_end()));
    };
    add("rationale", &decision.rationale);
    for alternative in &decision.alternatives {
        let rejected = match alternative.reason_rejected.trim() {
            "" => alternative.option.clone(),
            reason => format!("{}: {reason}", alternative.option),
        };
        add("rejected", &rejected);
    }
    if let Some(when) = &decision.revisit_when {
        add("revisit when", when);
    }
    if let Some(date) = &decision.date {
        add("date", date);
    }
    text
}
