//! Hook payloads of clients: reads a report of an event, and writes the answer.

mod call;
pub mod guard;
pub mod install;
pub mod installed;
pub mod news;
mod patch;
mod payload;
mod prompt;
pub mod proposal;
pub mod settings;
mod shell;

use std::path::PathBuf;

use brief_dialects::{Action, Timing};
use brief_profiles::{AnswerField, AnswerValue, Client, HookProfile, KnownClients, PayloadMarks};
use serde::ser::{Serialize, SerializeMap, Serializer};

pub(crate) use shell::find_shell_effects;
/// The beginning of a text with which an agent goes on at the end of its turn. Some clients report it as a prompt.
pub const GO_ON: &str = "Before you end your turn:";

/// An event that a client reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall<'c> {
    pub client: &'c Client,
    /// Its protocol, which decides the format of the answer.
    pub hook: &'c HookProfile,
    /// The name of the event.
    pub event: String,
    /// The current directory of the client; `None` for the root.
    pub cwd: Option<PathBuf>,
    /// The workspace, of a client that names no current directory.
    pub workspace: Option<PathBuf>,
    /// The session, if the client names one.
    pub session: Option<HookSession>,
    /// The session that this one is a fork of: its id is new, and it begins with a copy of the other one's messages.
    pub forked_from: Option<HookSession>,
    /// The client's time of the event, in milliseconds of its minute: equal for all hooks of one event.
    pub stamp: Option<u32>,
    /// The meaning of the event.
    pub moment: HookMoment,
    /// True if the agent is planning, so that decisions are due.
    pub wants_decisions: bool,
    /// The link to the client's own records.
    pub trace: CallTrace,
    /// The event or the tool that no fact is about.
    pub unknown: Option<news::UnknownName>,
    /// The time of an event about a shell command; `None` for other events.
    pub command: Option<Timing>,
    /// The tool of an event about one, whatever its text shows.
    pub tool: Option<ToolEvent>,
}

/// An event about a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolEvent {
    pub time: Timing,
    /// The client's name of the tool.
    pub name: String,
    /// True for a tool that the client's file knows to change nothing.
    pub only_reads: bool,
    /// True if the client says that the call failed.
    pub has_failed: bool,
}

/// The parts of a payload that find a call in the client's own records. Each text is as the client gave it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallTrace {
    /// The id of the tool call.
    pub call: Option<String>,
    /// The client's file with the conversation. It is never opened.
    pub transcript: Option<String>,
    /// The session that the client's files are named by, where it is another one.
    pub root_session: Option<String>,
    /// The mode of work, `plan` or `code`.
    pub mode: Option<&'static str>,
    /// The kind of the subagent.
    pub agent_type: Option<String>,
}

/// The meaning of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookMoment {
    /// A tool is about to run, or has run.
    Tool {
        /// The time of the event.
        time: Timing,
        /// The guidance that is due; `None` for both timings, where only one event carries a text.
        timing: Option<Timing>,
        /// The paths that the tool touches.
        touches: Vec<Touch>,
        /// True if the paths come from a shell command.
        is_shell: bool,
    },
    /// A subagent is about to begin, or has ended, in a client that names no agent in its events.
    Agent {
        /// The time of the event.
        time: Timing,
    },
    /// A conversation begins, or goes on without its earlier messages.
    Start {
        how: HookStart,
    },
    /// The user has said something that mentions these paths.
    Prompt {
        /// Words that look like paths.
        paths: Vec<String>,
        /// False for an event of a client that nobody has said anything for, and for a prompt that brief wrote.
        is_said: bool,
    },
    /// A subagent begins. It does not see the main agent's guidance.
    Subagent,
    /// A conversation is compacted: earlier guidance is forgotten.
    Compacted,
    /// The client has loaded a guidance file by itself.
    Loaded {
        file: PathBuf,
        reason: String,
    },
    /// The agent ends its turn.
    Stop,
    Other,
}

impl HookMoment {
    /// Returns the moment of a tool call.
    pub fn from_tool_call(
        hook: &HookProfile,
        time: Timing,
        touches: Vec<Touch>,
        is_shell: bool,
    ) -> Self {
        // A text goes out with the only event that carries it.
        let is_both = match time {
            Timing::Before => hook.events.after.is_empty(),
            Timing::After => !hook.events.before_carries,
        };
        HookMoment::Tool { time, timing: (!is_both).then_some(time), touches, is_shell }
    }
}

/// The kind of a beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookStart {
    /// A new conversation, or one that was cleared.
    New,
    /// A conversation that was compacted.
    Compacted,
    /// A conversation that the user resumed, in a client that does not keep all of it.
    Resumed,
    /// A request whose system prompt is made anew: the text does not stay in the conversation.
    Request,
}

/// A conversation with a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSession {
    /// The client's id of the session.
    pub id: String,
    /// The agent within it; a subagent does not see the main agent's guidance.
    pub agent: Option<String>,
}

/// A file or directory that a tool touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// The path as the client gave it.
    pub path: PathBuf,
    /// The effect on the path.
    pub how: ToolEffect,
    /// True if a program's own text names it, so that no client can take the call for a read of the file.
    pub is_hidden: bool,
}

impl Touch {
    pub fn new(path: impl Into<PathBuf>, how: ToolEffect) -> Touch {
        Touch { path: path.into(), how, is_hidden: false }
    }
}

/// The effect of a tool on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    Does(Action),
    /// A write: an edit if the file exists, else a creation.
    Writes,
    /// An unknown effect: everything may apply.
    Unknown,
}

impl ToolEffect {
    /// Returns whether the path is changed or made.
    pub fn is_change(self) -> bool {
        matches!(self, ToolEffect::Writes | ToolEffect::Does(Action::Edit | Action::Create))
    }
}

/// Reads a payload. `named` is the client that the command names, and `event` the event.
///
/// A payload with the marks of another client is that client's: one settings file may serve several. `None` if no
/// such client has a hook.
pub fn read_call<'c>(
    json: &[u8],
    known: &'c KnownClients,
    named: &str,
    event: Option<&str>,
) -> Result<Option<HookCall<'c>>, serde_json::Error> {
    let payload: payload::Payload<'_> = serde_json::from_slice(json)?;
    if !payload.is_object {
        return Err(serde::de::Error::custom("is not an object"));
    }
    let hooks = || known.clients.iter().filter_map(|client| Some((client, client.hook.as_ref()?)));
    let is_marked = |marks: &PayloadMarks| {
        let is_source = marks.source.as_ref().is_none_or(|source| {
            payload.source.as_deref().is_some_and(|found| found.eq_ignore_ascii_case(source))
        });
        is_source
            && marks.with.iter().all(|key| payload.contains_key(key))
            && !marks.without.iter().any(|key| payload.contains_key(key))
    };
    let marked = hooks().find(|(_, hook)| hook.recognized.as_ref().is_some_and(is_marked));
    let found = marked.or_else(|| hooks().find(|(client, _)| client.find_name(named).is_some()));
    Ok(found.map(|client| call::parse_call(&payload, client, event)))
}

/// The effect of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerEffect {
    /// The text reaches the model.
    #[default]
    Inform,
    /// The tool call is refused, with the text as the reason.
    Refuse,
    /// The client asks the user about the tool call, with the text as the reason.
    Ask,
    /// The agent goes on at the end of its turn, with the text as the reason.
    GoOn,
}

impl AnswerEffect {
    /// Returns the fields of the answer in a client; none where the client has no such answer.
    fn find_fields(self, hook: &HookProfile) -> &[AnswerField] {
        match self {
            AnswerEffect::Inform => &hook.answer,
            AnswerEffect::Refuse => &hook.hold,
            AnswerEffect::Ask => &hook.ask,
            AnswerEffect::GoOn => &hook.stop,
        }
    }
}

/// The texts of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Words<'w> {
    /// The text for the model.
    pub context: Option<&'w str>,
    pub effect: AnswerEffect,
    /// The text for the user alone. A client without a field for it drops it.
    pub notice: Option<&'w str>,
}

/// An answer in a client's own form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientAnswer {
    /// One line of JSON on standard output.
    Line(String),
    /// An exit status, which the line around the command turns into the client's own, with the reason on standard error and
    /// nothing on standard output.
    Status { status: u8, reason: String },
}

impl ClientAnswer {
    /// Returns the line of an answer in JSON.
    pub fn into_line(self) -> Option<String> {
        match self {
            ClientAnswer::Line(line) => Some(line),
            ClientAnswer::Status { .. } => None,
        }
    }
}

/// Returns the answer with `words` to an event, for a client with this protocol; `None` if it has no field for any of them.
///
/// It never approves a tool call: a client's file has no word for that.
pub fn render_answer(hook: &HookProfile, event: &str, words: Words<'_>) -> Option<ClientAnswer> {
    if let (AnswerEffect::Refuse, Some(_), Some(reason)) =
        (words.effect, hook.hold_status, words.context)
    {
        return Some(ClientAnswer::Status { status: guard::REFUSED, reason: reason.to_owned() });
    }
    let fields = words.effect.find_fields(hook);
    let notice = hook.notice.as_ref().zip(words.notice).map(|(key, text)| (&**key, text));
    let context = words.context.map(|text| (fields, text));
    if notice.is_none() && context.is_none_or(|(fields, _)| fields.is_empty()) {
        return None;
    }
    let answer = HookAnswer { notice, context, event };
    let line = serde_json::to_string(&answer).expect("texts with texts as keys are always JSON");
    Some(ClientAnswer::Line(line))
}

/// An answer: the user's text, and the fields around the model's text.
struct HookAnswer<'a> {
    notice: Option<(&'a str, &'a str)>,
    context: Option<(&'a [AnswerField], &'a str)>,
    event: &'a str,
}

impl Serialize for HookAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some((key, text)) = self.notice {
            map.serialize_entry(key, text)?;
        }
        let (fields, text) = self.context.unwrap_or_default();
        let is_one_object = |left: &AnswerField, right: &AnswerField| {
            split_key(left).zip(split_key(right)).is_some_and(|(left, right)| left.0 == right.0)
        };
        for fields in fields.chunk_by(is_one_object) {
            match split_key(&fields[0]) {
                Some((object, _)) => {
                    let inner = fields.iter().filter_map(|field| {
                        Some((split_key(field)?.1, self.field_value(field, text)))
                    });
                    map.serialize_entry(object, &InnerFields(inner.collect()))?;
                }
                None => map.serialize_entry(&*fields[0].key, self.field_value(&fields[0], text))?,
            }
        }
        map.end()
    }
}

impl<'a> HookAnswer<'a> {
    fn field_value(&self, field: &AnswerField, text: &'a str) -> &'a str {
        match field.value {
            AnswerValue::TheText => text,
            AnswerValue::TheEvent => self.event,
            AnswerValue::Deny => "deny",
            AnswerValue::Block => "block",
            AnswerValue::Ask => "ask",
        }
    }
}

/// Returns the object of a field and the key in it; `None` for a key at the top.
fn split_key(field: &AnswerField) -> Option<(&str, &str)> {
    field.key.split_once('.')
}

/// The fields of an object in an answer.
struct InnerFields<'a>(Vec<(&'a str, &'a str)>);

impl Serialize for InnerFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}
