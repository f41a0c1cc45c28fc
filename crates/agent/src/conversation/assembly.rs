//! Assembles a model's reply from the pieces in which servers send it.
//!
//! Servers differ: some number the pieces of a call and some do not, some give every call the number 0, some
//! leave out the id, some write arguments as an object. Every unambiguous form is accepted.

use std::collections::BTreeMap;

use brief_syntax::limits;
use serde::Serialize;
use serde_json::Value as Json;

use super::exchange::ExchangeFailure;
use super::failure::TurnError;
use super::message::ModelCall;
use super::turn::TurnEnding;

/// The reason why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    Stop,
    /// The model waits for tools.
    Tools,
    /// The model reached its own limit.
    Length,
    /// The server withheld a part.
    Filtered,
    /// A reason of this server's own.
    Other(String),
}

impl Finish {
    fn parse(word: &str) -> Finish {
        match word {
            "stop" | "eos" | "end_turn" => Finish::Stop,
            "tool_calls" | "function_call" => Finish::Tools,
            "length" | "max_tokens" => Finish::Length,
            "content_filter" => Finish::Filtered,
            other => Finish::Other(other.to_owned()),
        }
    }

    /// Returns the word on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Finish::Stop => "stop",
            Finish::Tools => "tool_calls",
            Finish::Length => "length",
            Finish::Filtered => "content_filter",
            Finish::Other(word) => word,
        }
    }
}

/// The token counts of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// The tokens of the prompt.
    pub prompt_tokens: u64,
    /// The tokens of the reply.
    pub completion_tokens: u64,
}

impl Usage {
    fn from_json(json: &Json) -> Option<Usage> {
        let number = |name: &str| json.get(name).and_then(Json::as_u64);
        let (prompt, completion) = (number("prompt_tokens"), number("completion_tokens"));
        (prompt.is_some() || completion.is_some()).then(|| Usage {
            prompt_tokens: prompt.unwrap_or_default(),
            completion_tokens: completion.unwrap_or_default(),
        })
    }

    /// Adds another count to this one.
    pub(super) fn add(&mut self, other: Usage) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
    }
}

/// The reply of a model, complete or in part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ModelReply {
    pub(super) text: String,
    pub(super) calls: Vec<ModelCall>,
    pub(super) finish: Option<Finish>,
    pub(super) usage: Option<Usage>,
    /// The bytes of text, names and arguments.
    pub(super) bytes: usize,
}

#[derive(Debug)]
pub(super) struct Assembly {
    reply: ModelReply,
    /// The index of a call by the server's number.
    numbers: BTreeMap<u64, usize>,
    limit: usize,
}

impl Assembly {
    /// Creates an assembly for at most `limit` bytes of text, names and arguments.
    pub(super) fn new(limit: usize) -> Assembly {
        Assembly { reply: ModelReply::default(), numbers: BTreeMap::new(), limit }
    }

    /// Returns the reply so far, complete or not. Calls without an id get a unique one.
    pub(super) fn into_reply(mut self) -> ModelReply {
        for index in 0..self.reply.calls.len() {
            let (before, rest) = self.reply.calls.split_at_mut(index);
            let Some(call) = rest.first_mut() else { break };
            let is_taken = |id: &str| before.iter().any(|other| other.id == id);
            let mut number = index;
            while call.id.is_empty() || is_taken(&call.id) {
                call.id = format!("call_{number}");
                number += 1;
            }
        }
        self.reply
    }

    /// Returns whether the server has sent a finish reason.
    pub(super) fn is_finished(&self) -> bool {
        self.reply.finish.is_some()
    }

    /// Adds one piece of a stream, or a whole answer. New text goes to `on_text`.
    pub(super) fn add_piece(
        &mut self,
        json: &Json,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), ExchangeFailure> {
        if let Some(error) = json.get("error").filter(|error| !error.is_null()) {
            return Err(TurnError::Reported(extract_error_message(error)).into());
        }
        if !json.is_object() {
            let message = "an event is not an object".to_owned();
            return Err(TurnError::Strange(message).into());
        }
        self.reply.usage = json.get("usage").and_then(Usage::from_json).or(self.reply.usage);
        let choices = json.get("choices").and_then(Json::as_array).into_iter().flatten();
        // Requests ask for one choice, and two choices cannot form one reply.
        let is_first =
            |choice: &&Json| choice.get("index").and_then(Json::as_u64).unwrap_or(0) == 0;
        for choice in choices.filter(is_first) {
            let said = choice.get("delta").or_else(|| choice.get("message"));
            if let Some(said) = said {
                self.take_said(said, on_text)?;
            }
            if let Some(word) = choice.get("finish_reason").and_then(Json::as_str) {
                self.reply.finish = Some(Finish::parse(word));
            }
        }
        Ok(())
    }

    fn take_said(
        &mut self,
        said: &Json,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), ExchangeFailure> {
        for name in ["content", "refusal"] {
            match said.get(name) {
                Some(Json::String(text)) => self.take_text(text, on_text)?,
                Some(Json::Array(parts)) => {
                    for part in parts {
                        if let Some(text) = part.get("text").and_then(Json::as_str) {
                            self.take_text(text, on_text)?;
                        }
                    }
                }
                _ => {}
            }
        }
        let calls = said.get("tool_calls").and_then(Json::as_array).into_iter().flatten();
        for piece in calls {
            self.take_call(piece)?;
        }
        Ok(())
    }

    fn take_text(
        &mut self,
        text: &str,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), ExchangeFailure> {
        if text.is_empty() {
            return Ok(());
        }
        let room = self.limit.saturating_sub(self.reply.bytes);
        let taken = &text[..text.floor_char_boundary(room)];
        self.reply.bytes += taken.len();
        self.reply.text.push_str(taken);
        if !taken.is_empty() {
            on_text(taken);
        }
        if taken.len() < text.len() { Err(TurnEnding::Output.into()) } else { Ok(()) }
    }

    fn take_call(&mut self, piece: &Json) -> Result<(), ExchangeFailure> {
        let function = piece.get("function").unwrap_or(&Json::Null);
        let text = |json: &Json, name: &str| {
            json.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
        };
        let (id, name) = (text(piece, "id"), text(function, "name"));
        let arguments = match function.get("arguments") {
            Some(Json::String(text)) => text.clone(),
            None | Some(Json::Null) => String::new(),
            Some(other) => other.to_string(),
        };
        self.reply.bytes = self.reply.bytes.saturating_add(name.len() + arguments.len() + id.len());
        if self.reply.bytes > self.limit {
            return Err(TurnEnding::Output.into());
        }
        let place = self.place_of(piece.get("index").and_then(Json::as_u64), &id, &name)?;
        let Some(call) = self.reply.calls.get_mut(place) else { return Ok(()) };
        if call.id.is_empty() {
            call.id = id;
        }
        // A name comes whole, and some servers repeat it with every piece.
        if call.name != name {
            call.name.push_str(&name);
        }
        call.arguments.push_str(&arguments);
        Ok(())
    }

    /// Finds the call that a piece belongs to, or creates one.
    fn place_of(
        &mut self,
        number: Option<u64>,
        id: &str,
        name: &str,
    ) -> Result<usize, ExchangeFailure> {
        let known = match number {
            Some(number) => self.numbers.get(&number).copied(),
            // Without a number, a piece with a name begins a call, and one without a name continues the last
            // call.
            None => self.reply.calls.len().checked_sub(1).filter(|_| name.is_empty()),
        };
        // Some servers give every call the same number; the id tells them apart.
        let is_other = |place: &usize| {
            let call = self.reply.calls.get(*place);
            call.is_some_and(|call| !id.is_empty() && !call.id.is_empty() && call.id != id)
        };
        if let Some(place) = known.filter(|place| !is_other(place)) {
            return Ok(place);
        }
        if self.reply.calls.len() >= limits::AGENT_CALLS {
            return Err(TurnEnding::Output.into());
        }
        let place = self.reply.calls.len();
        self.reply.calls.push(ModelCall::default());
        if let Some(number) = number {
            self.numbers.insert(number, place);
        }
        Ok(place)
    }
}

/// Extracts the message from a reported failure.
pub(super) fn extract_error_message(error: &Json) -> String {
    let words = match error {
        Json::String(text) => Some(text.as_str()),
        other => ["message", "detail", "error", "msg"]
            .iter()
            .find_map(|name| other.get(name).and_then(Json::as_str)),
    };
    words.map_or_else(|| error.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn assemble(pieces: &[Json]) -> ModelReply {
        let mut assembly = Assembly::new(10_000);
        for piece in pieces {
            assembly.add_piece(piece, &mut |_| {}).unwrap();
        }
        assembly.into_reply()
    }

    fn delta(delta: &Json) -> Json {
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
    }

    fn calls(pieces: &[Json]) -> Vec<(String, String, String)> {
        let pieces: Vec<Json> =
            pieces.iter().map(|piece| delta(&json!({"tool_calls": [piece]}))).collect();
        let reply = assemble(&pieces);
        reply.calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
    }

    fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
        (id.to_owned(), name.to_owned(), arguments.to_owned())
    }

    #[test]
    fn text_comes_in_pieces_and_ends() {
        let reply = assemble(&[
            delta(&json!({"role": "assistant", "content": ""})),
            delta(&json!({"content": "Hel"})),
            delta(&json!({"content": [{"type": "text", "text": "lo"}]})),
            json!({"choices": [{"index": 1, "delta": {"content": "another choice"}}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
        ]);
        assert_eq!(reply.text, "Hello");
        assert_eq!(reply.finish, Some(Finish::Stop));
        assert_eq!(reply.usage, Some(Usage { prompt_tokens: 3, completion_tokens: 2 }));
    }

    #[test]
    fn calls_are_put_together_by_their_numbers() {
        let found = calls(&[
            json!({"index": 0, "id": "a", "function": {"name": "one", "arguments": ""}}),
            json!({"index": 1, "id": "b", "function": {"name": "two", "arguments": "{\"x\""}}),
            json!({"index": 0, "function": {"arguments": "{}"}}),
            json!({"index": 1, "function": {"arguments": ":1}"}}),
        ]);
        assert_eq!(found, [call("a", "one", "{}"), call("b", "two", "{\"x\":1}")]);
    }

    #[test]
    fn servers_spell_calls_in_their_own_ways() {
        let all_zero = calls(&[
            json!({"index": 0, "id": "a", "function": {"name": "one", "arguments": "{}"}}),
            json!({"index": 0, "id": "b", "function": {"name": "one", "arguments": "{}"}}),
        ]);
        assert_eq!(all_zero, [call("a", "one", "{}"), call("b", "one", "{}")]);
        let no_number = calls(&[
            json!({"function": {"name": "one", "arguments": {"x": 1}}}),
            json!({"function": {"name": "two", "arguments": "{"}}),
            json!({"function": {"arguments": "}"}}),
        ]);
        let expected = [call("call_0", "one", "{\"x\":1}"), call("call_1", "two", "{}")];
        assert_eq!(no_number, expected);
        let repeated = calls(&[
            json!({"index": 0, "id": "call_1", "function": {"name": "one", "arguments": "{"}}),
            json!({"index": 0, "id": "call_1", "function": {"name": "one", "arguments": "}"}}),
            json!({"index": 7, "function": {"name": "two"}}),
        ]);
        assert_eq!(repeated, [call("call_1", "one", "{}"), call("call_2", "two", "")]);
    }

    fn reported(message: &str) -> ExchangeFailure {
        TurnError::Reported(message.to_owned()).into()
    }

    #[test]
    fn failures_and_limits() {
        let take = |json: &Json| Assembly::new(4).add_piece(json, &mut |_| {});
        assert_eq!(take(&json!({"error": {"message": "overloaded"}})), Err(reported("overloaded")));
        assert_eq!(take(&json!({"error": "no"})), Err(reported("no")));
        assert!(matches!(take(&json!([1])), Err(ExchangeFailure::Failed(TurnError::Strange(_)))));
        assert_eq!(take(&json!({"error": null, "choices": null})), Ok(()));
        let mut said = String::new();
        let mut assembly = Assembly::new(4);
        let refused =
            assembly.add_piece(&delta(&json!({"content": "abcé"})), &mut |text| said += text);
        assert_eq!((refused, said.as_str()), (Err(TurnEnding::Output.into()), "abc"));
        let many: Vec<Json> = (0..100_000).map(|number| json!({"index": number})).collect();
        assert_eq!(take(&delta(&json!({"tool_calls": many}))), Err(TurnEnding::Output.into()));
    }

    fn any(
        u: &mut arbtest::arbitrary::Unstructured<'_>,
        names: &[&str],
        depth: u8,
    ) -> arbtest::arbitrary::Result<Json> {
        Ok(match u.int_in_range(0..=if depth == 0 { 3 } else { 6 })? {
            0 => Json::Null,
            1 => json!(u.arbitrary::<u64>()?),
            2 => json!(u.arbitrary::<String>()?),
            3 => json!(u.arbitrary::<bool>()?),
            4 => {
                let count = u.int_in_range(0..=3)?;
                Json::Array((0..count).map(|_| any(u, names, depth - 1)).collect::<Result<_, _>>()?)
            }
            _ => {
                let count = u.int_in_range(0..=4)?;
                let mut fields = serde_json::Map::new();
                for _ in 0..count {
                    let name = (*u.choose(names)?).to_owned();
                    fields.insert(name, any(u, names, depth - 1)?);
                }
                Json::Object(fields)
            }
        })
    }

    /// A server may send anything that is JSON.
    #[test]
    fn any_json_is_taken_or_refused() {
        arbtest::arbtest(|u| {
            let names = [
                "choices",
                "delta",
                "message",
                "content",
                "tool_calls",
                "index",
                "id",
                "function",
                "name",
                "arguments",
                "error",
                "usage",
                "finish_reason",
                "text",
            ];
            let mut assembly = Assembly::new(200);
            let mut said = String::new();
            for _ in 0..3 {
                let _ = assembly.add_piece(&any(u, &names, 6)?, &mut |text| said += text);
            }
            let reply = assembly.into_reply();
            assert_eq!(reply.text, said);
            let mut ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), reply.calls.len());
            Ok(())
        });
    }
}
