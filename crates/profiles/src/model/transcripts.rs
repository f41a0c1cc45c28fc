//! The keys of `[transcripts]` in a client's file: where it records its conversations, and what the record shows.

use serde::Deserialize;

use super::Seen;
use super::constant::{List, Text};

/// The place and the form of a client's own records.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TranscriptProfile {
    /// The version and the day that these facts were seen in.
    pub seen: Seen,
    /// The directory, below the home directory.
    pub directory: Text,
    /// The files in it, as a glob.
    pub files: Text,
    pub form: TranscriptForm,
    /// Tools that run a shell command and have another name in the record than in the events of the hook.
    pub shell: List<Text>,
    /// Tools that load a skill.
    pub skill: List<Text>,
    /// The first version whose record names the files that a successful shell command changed; `None` if none does.
    pub shell_changes_since: Option<Text>,
    /// The number of days after which the client deletes its records, unless the user says otherwise.
    pub kept_days: Option<u16>,
}

/// The form of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptForm {
    /// Lines with messages of content blocks, and the result of a tool beside its block.
    ContentBlocks,
    /// Lines with the items of a conversation, and events with what really happened.
    Rollout,
    /// Lines with whole messages, each with its calls and their results; the same message comes again.
    ToolCalls,
    /// Lines with messages in parts, and the result of a call beside its part.
    Parts,
    /// A `SQLite` database with sessions, messages and parts.
    Database,
    /// Lines with events.
    Events,
    /// Lines with messages that name the message before them.
    MessageTree,
    /// One document with all messages.
    Document,
    /// Lines with messages of content blocks, in envelopes.
    Messages,
}
