//! The keys of `[hook]` in a client's file: its hook protocol.
//!
//! Names are data; the meaning of a shell command or of a patch is code (`brief_clients::hook`). The
//! build script includes this module, as it includes the model.

use serde::Deserialize;

use crate::constant::{List, Text};
use crate::model::Seen;

/// The hook protocol of a client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HookProfile {
    /// The version and the day that these facts were seen in, where it is not the client's.
    #[serde(default)]
    pub seen: Option<Seen>,
    /// The value of `source` by which a payload is recognised. The client without one gets all others.
    #[serde(default)]
    pub source: Option<Text>,
    /// The place of a text in the answer.
    pub answer: AnswerShape,
    /// The longest text that reaches the model, in characters.
    #[serde(default)]
    pub most_characters: Option<usize>,
    /// The names of events.
    pub events: HookEvents,
    /// The names of tools.
    pub tools: HookTools,
    /// The keys of a tool's input that name the file, the first one that is there.
    pub paths: List<Text>,
}

/// The names of a client's events, by their meaning.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HookEvents {
    /// A tool is about to run.
    pub before: Text,
    /// A tool has run.
    pub after: Text,
    /// A conversation begins.
    #[serde(default)]
    pub start: List<Text>,
    /// A conversation was compacted.
    #[serde(default)]
    pub compacted: List<Text>,
}

/// The names of a client's tools, by their effect. Any other tool with a path has an unknown effect.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HookTools {
    /// Tools that read a file.
    #[serde(default)]
    pub read: List<Text>,
    /// Tools that change a file.
    #[serde(default)]
    pub edit: List<Text>,
    /// Tools that write a file, whether it exists or not.
    #[serde(default)]
    pub write: List<Text>,
    /// Tools that search a directory.
    #[serde(default)]
    pub search: List<Text>,
    /// Tools that run a shell command.
    #[serde(default)]
    pub shell: List<Text>,
    /// Tools that apply a patch.
    #[serde(default)]
    pub patch: List<Text>,
}

/// The place of a text in the answer to a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerShape {
    /// `hookSpecificOutput.additionalContext` with the event's name; `systemMessage` for the user.
    HookSpecific,
    /// `additionalContext` at the top.
    TopLevel,
}
