//! One reader for each form of records.
//!
//! Each knows which keys it needs, and adds what a record says to the [`Recorder`]. What a form does not record is left
//! unknown there.

mod content_blocks;
mod database;
mod document;
mod events;
mod message_tree;
mod messages;
mod parts;
mod rollout;
mod tool_calls;

use brief_profiles::TranscriptForm;

use super::model::Outcome;
use super::node::{Keys, Node};
use super::recorder::Recorder;

pub(super) use database::read_database;
pub(super) use document::{KEYS as DOCUMENT_KEYS, read_document};

/// A form whose files have one record to a line.
#[derive(Clone, Copy)]
pub(super) struct LineForm {
    pub(super) keys: Keys,
    /// Returns whether a line needs no parsing.
    pub(super) skips: fn(&[u8]) -> bool,
    pub(super) read: fn(&mut Recorder<'_>, &Node<'_>),
}

/// Returns the reader of a form with lines; `None` for the others.
pub(super) fn find_line_form(form: TranscriptForm) -> Option<LineForm> {
    type SkipsLine = fn(&[u8]) -> bool;
    type ReadRecord = fn(&mut Recorder<'_>, &Node<'_>);

    let (keys, skips, read): (_, SkipsLine, ReadRecord) = match form {
        TranscriptForm::ContentBlocks => {
            (content_blocks::KEYS, content_blocks::skips_line, content_blocks::read_record)
        }
        TranscriptForm::Rollout => (rollout::KEYS, rollout::skips_line, rollout::read_record),
        TranscriptForm::ToolCalls => (tool_calls::KEYS, |_| false, tool_calls::read_record),
        TranscriptForm::Parts => (parts::KEYS, |_| false, parts::read_record),
        TranscriptForm::Events => (events::KEYS, events::skips_line, events::read_record),
        TranscriptForm::MessageTree => (message_tree::KEYS, |_| false, message_tree::read_record),
        TranscriptForm::Messages => (messages::KEYS, |_| false, messages::read_record),
        TranscriptForm::Database | TranscriptForm::Document => return None,
    };
    Some(LineForm { keys, skips, read })
}

/// Returns whether a text, or the texts in a list, have some words.
fn has_words(node: &Node<'_>, words: &[&str]) -> bool {
    match node {
        Node::Text(text) => words.iter().any(|word| text.contains(word)),
        Node::List(list) => list.iter().any(|node| has_words(node, words)),
        Node::Object(_) => has_words(node.get("text"), words),
        _ => false,
    }
}

/// Returns the texts of a text, or of the blocks in a list.
fn joined_text<'n>(node: &'n Node<'_>) -> std::borrow::Cow<'n, str> {
    match node {
        Node::Text(text) => std::borrow::Cow::Borrowed(text),
        Node::List(list) => {
            let texts: Vec<&str> = list
                .iter()
                .filter_map(|node| node.text().or_else(|| node.find_text("text")))
                .collect();
            texts.join("\n").into()
        }
        _ => "".into(),
    }
}

fn failed_with(exit: Option<i32>) -> Outcome {
    Outcome::Failed { exit }
}
