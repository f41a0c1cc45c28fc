//! The fields of a hook's JSON that we use.
//!
//! Each field has the names that clients give it. A payload can be large (`Write` carries the whole file), so
//! all other fields are skipped without being stored, and a field with an unexpected type counts as absent.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The limit for the files or commands in one list.
const MOST_LISTED: usize = 16;

type PayloadText<'p> = Option<Cow<'p, str>>;

#[derive(Debug, Default)]
pub(super) struct Payload<'p> {
    pub(super) is_object: bool,
    /// The names of all fields.
    pub(super) keys: Vec<Cow<'p, str>>,
    pub(super) session: PayloadText<'p>,
    /// The session that this one was copied from.
    pub(super) previous_session: PayloadText<'p>,
    pub(super) agent: PayloadText<'p>,
    /// The agent that started this one.
    pub(super) parent_agent: PayloadText<'p>,
    pub(super) event: PayloadText<'p>,
    pub(super) tool: PayloadText<'p>,
    pub(super) cwd: PayloadText<'p>,
    /// The first directory of the workspace.
    pub(super) workspace: PayloadText<'p>,
    pub(super) permission_mode: PayloadText<'p>,
    pub(super) prompt: PayloadText<'p>,
    /// The client's own name, or the reason why a conversation starts.
    pub(super) source: PayloadText<'p>,
    /// The time of the event, in milliseconds of its minute: clients write it as a number or as a text.
    pub(super) stamp: Option<u32>,
    /// The reason why the client loaded a file.
    pub(super) load_reason: PayloadText<'p>,
    /// The file that an event is about.
    pub(super) file: PayloadText<'p>,
    pub(super) input: PayloadFields<'p>,
    pub(super) response: PayloadFields<'p>,
    pub(super) include_decisions: bool,
    /// The id of the tool call.
    pub(super) call: PayloadText<'p>,
    pub(super) transcript: PayloadText<'p>,
    /// The session that the client's own files are named by, where it is another one.
    pub(super) root_session: PayloadText<'p>,
    pub(super) agent_type: PayloadText<'p>,
}

impl<'p> Payload<'p> {
    pub(super) fn contains_key(&self, key: &str) -> bool {
        self.keys.iter().any(|known| known == key)
    }

    fn add_field<A: MapAccess<'p>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let text = match key {
            "session_id" | "sessionId" | "sessionID" | "conversation_id" | "taskId" => {
                &mut self.session
            }
            "previous_session_id" => &mut self.previous_session,
            "agent_id" => &mut self.agent,
            "parent_agent_id" => &mut self.parent_agent,
            "agent_type" => &mut self.agent_type,
            "tool_use_id" | "tool_call_id" | "call_id" => &mut self.call,
            "transcript_path" => &mut self.transcript,
            "sessionContext" => {
                let fields: PayloadFields<'p> = map.next_value()?;
                self.root_session = fields.into_text("rootSessionId");
                return Ok(());
            }
            "hook_event_name" | "hookEventName" | "hookName" | "event" => &mut self.event,
            "tool_name" | "toolName" => &mut self.tool,
            "cwd" => &mut self.cwd,
            "workspaceRoots" | "workspace_roots" => {
                let Listed(roots) = map.next_value()?;
                self.workspace = roots.into_iter().next();
                return Ok(());
            }
            "permission_mode" => &mut self.permission_mode,
            "prompt" => &mut self.prompt,
            "source" => &mut self.source,
            "file_path" => &mut self.file,
            "load_reason" => &mut self.load_reason,
            "tool_input" | "toolArgs" | "input" => {
                self.input = map.next_value()?;
                return Ok(());
            }
            "tool_call" => {
                self.input = map.next_value()?;
                self.call = self.input.texts[ID].take().or(self.call.take());
                return Ok(());
            }
            "tool_result" => {
                self.response = map.next_value()?;
                self.call = self.call.take().or_else(|| self.response.texts[ID].take());
                return Ok(());
            }
            "tool_response" | "toolResult" => {
                self.response = map.next_value()?;
                return Ok(());
            }
            "timestamp" => {
                self.stamp = match map.next_value()? {
                    Scalar::Number(milliseconds) => u32::try_from(milliseconds % 60_000).ok(),
                    Scalar::Text(time) => stamp_of(&time),
                    _ => None,
                };
                return Ok(());
            }
            "include_decisions" => {
                self.include_decisions = matches!(map.next_value()?, Scalar::Flag(true));
                return Ok(());
            }
            _ => return map.next_value::<IgnoredAny>().map(|_| ()),
        };
        if let Scalar::Text(found) = map.next_value()? {
            *text = Some(found);
        }
        Ok(())
    }
}

/// Returns the milliseconds of the minute of a time in UTC, such as `2026-11-18T21:31:39.466Z`.
fn stamp_of(time: &str) -> Option<u32> {
    let (_, seconds) = time.strip_suffix('Z')?.rsplit_once(':')?;
    let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let fraction = fraction.get(..3).filter(|part| part.len() == 3).unwrap_or("0");
    Some(seconds.parse::<u32>().ok()? % 60 * 1000 + fraction.parse::<u32>().ok()?)
}

/// The texts of a tool's input or response that tell what it touches.
#[derive(Debug, Default)]
pub(super) struct PayloadFields<'p> {
    /// The texts that were there, in the order of [`KEYS`].
    texts: [PayloadText<'p>; KEYS.len()],
    /// The paths in a list of files.
    pub(super) files: Vec<Cow<'p, str>>,
    /// The command lines in a list.
    pub(super) commands: Vec<Cow<'p, str>>,
    /// The files that the client says a shell command has changed.
    pub(super) changed: Vec<Cow<'p, str>>,
    /// The error of a call that failed.
    has_error: bool,
}

/// The keys of the texts that are kept. All others are skipped: one of them is the content of a file.
const KEYS: [&str; 16] = [
    "file_path",
    "filePath",
    "absolute_path",
    "notebook_path",
    "target_file",
    "path",
    "command",
    "cmd",
    "input",
    "patch",
    "type",
    "name",
    "llmContent",
    "exists",
    "id",
    "rootSessionId",
];

/// The position of `id` in [`KEYS`].
const ID: usize = 14;

impl<'p> PayloadFields<'p> {
    /// Returns the text with this key.
    pub(super) fn find_text(&self, key: &str) -> Option<&str> {
        let index = KEYS.iter().position(|known| *known == key)?;
        self.texts[index].as_deref().filter(|text| !text.is_empty())
    }

    /// Takes the text with this key.
    fn into_text(mut self, key: &str) -> PayloadText<'p> {
        let index = KEYS.iter().position(|known| *known == key)?;
        self.texts[index].take()
    }

    /// Returns whether there is a value with this key, which marks a call that failed.
    pub(super) fn has_failed(&self, key: &str) -> bool {
        if key == "error" { self.has_error } else { self.find_text(key).is_some() }
    }

    fn add_field<A: MapAccess<'p>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "files" => map.next_value().map(|Listed(files)| self.files = files),
            "commands" => map.next_value().map(|Listed(commands)| self.commands = commands),
            "changedFiles" => map.next_value().map(|Listed(files)| self.changed = files),
            "bashEditDiff" => map.next_value().map(|inner| {
                if let TextOr::Other(inner) = inner {
                    self.merge_fields(*inner);
                }
            }),
            "error" => map.next_value().map(|error: TextOr<'p>| self.has_error = !error.is_empty()),
            // Some clients put the tool's name and its input into one object.
            "input" => map.next_value().map(|inner| match inner {
                TextOr::Text(text) => self.texts[8] = Some(text),
                TextOr::Other(inner) => self.merge_fields(*inner),
                TextOr::Nothing => {}
            }),
            _ => {
                let Some(index) = KEYS.iter().position(|known| *known == key) else {
                    return map.next_value::<IgnoredAny>().map(|_| ());
                };
                self.texts[index] = match map.next_value()? {
                    Scalar::Text(text) => Some(text),
                    Scalar::Flag(flag) => Some(if flag { "true" } else { "false" }.into()),
                    Scalar::Number(_) | Scalar::Other => None,
                };
                Ok(())
            }
        }
    }

    fn merge_fields(&mut self, inner: PayloadFields<'p>) {
        for (text, found) in self.texts.iter_mut().zip(inner.texts) {
            if found.is_some() {
                *text = found;
            }
        }
        self.files.extend(inner.files);
        self.commands.extend(inner.commands);
        self.changed.extend(inner.changed);
    }
}

/// A value that is read from any JSON: the visitor skips what it has no use for.
trait FromAny<'de>: Sized {
    fn from_text(_: Cow<'de, str>) -> Self {
        Self::from_other()
    }

    fn from_flag(_: bool) -> Self {
        Self::from_other()
    }

    fn from_number(_: u64) -> Self {
        Self::from_other()
    }

    fn from_other() -> Self;

    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::from_other())
    }

    fn from_object<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::from_other())
    }
}

struct AnyValue<T>(PhantomData<T>);

impl<'de, T: FromAny<'de>> Visitor<'de> for AnyValue<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::from_text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::from_text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<T, E> {
        Ok(T::from_flag(flag))
    }

    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::from_other())
    }

    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::from_number(number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::from_other())
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::from_other())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::from_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::from_object(map)
    }
}

macro_rules! deserialize_from_any {
    ($($type:ident),*) => {$(
        impl<'de> Deserialize<'de> for $type<'de> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(AnyValue(PhantomData))
            }
        }
    )*};
}

deserialize_from_any!(Payload, PayloadFields, Scalar, Listed, TextOr);

/// A value of which only texts, booleans and whole numbers matter.
enum Scalar<'p> {
    Text(Cow<'p, str>),
    Flag(bool),
    Number(u64),
    Other,
}

impl<'de> FromAny<'de> for Scalar<'de> {
    fn from_text(text: Cow<'de, str>) -> Self {
        Scalar::Text(text)
    }

    fn from_flag(flag: bool) -> Self {
        Scalar::Flag(flag)
    }

    fn from_number(number: u64) -> Self {
        Scalar::Number(number)
    }

    fn from_other() -> Self {
        Scalar::Other
    }
}

/// The texts of a list, and the paths of the objects in it.
struct Listed<'p>(Vec<Cow<'p, str>>);

impl<'de> FromAny<'de> for Listed<'de> {
    fn from_other() -> Self {
        Listed(Vec::new())
    }

    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut found = Vec::new();
        while let Some(element) = list.next_element::<TextOr<'de>>()? {
            let text = match element {
                TextOr::Text(text) => Some(text),
                TextOr::Other(mut fields) => fields.texts.iter_mut().take(6).find_map(Option::take),
                TextOr::Nothing => None,
            };
            found.extend(text.filter(|_| found.len() < MOST_LISTED));
        }
        Ok(Listed(found))
    }
}

/// A text, or the fields of an object.
enum TextOr<'p> {
    Text(Cow<'p, str>),
    Other(Box<PayloadFields<'p>>),
    Nothing,
}

impl TextOr<'_> {
    fn is_empty(&self) -> bool {
        match self {
            TextOr::Text(text) => text.is_empty(),
            TextOr::Other(_) => false,
            TextOr::Nothing => true,
        }
    }
}

impl<'de> FromAny<'de> for TextOr<'de> {
    fn from_text(text: Cow<'de, str>) -> Self {
        TextOr::Text(text)
    }

    fn from_other() -> Self {
        TextOr::Nothing
    }

    fn from_object<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        PayloadFields::from_object(map).map(|fields| TextOr::Other(Box::new(fields)))
    }
}

impl<'de> FromAny<'de> for PayloadFields<'de> {
    fn from_other() -> Self {
        PayloadFields::default()
    }

    fn from_object<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut fields = PayloadFields::default();
        while let Some(key) = map.next_key::<Scalar<'de>>()? {
            match key {
                Scalar::Text(key) => fields.add_field(&key, &mut map)?,
                Scalar::Flag(_) | Scalar::Number(_) | Scalar::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(fields)
    }
}

impl<'de> FromAny<'de> for Payload<'de> {
    fn from_other() -> Self {
        Payload::default()
    }

    fn from_object<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut payload = Payload { is_object: true, ..Payload::default() };
        while let Some(key) = map.next_key::<Scalar<'de>>()? {
            match key {
                Scalar::Text(key) => {
                    payload.add_field(&key, &mut map)?;
                    payload.keys.push(key);
                }
                Scalar::Flag(_) | Scalar::Number(_) | Scalar::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(payload)
    }
}
