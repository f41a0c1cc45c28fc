//! The loop of a conversation: the user's message, the model's reply, its tool calls, and the end.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use brief_dialects::agents::Agent;
use brief_syntax::limits;
use brief_system::Interruption;
use serde_json::json;

use super::assembly::{Finish, ModelReply, Usage};
use super::clock::Clock;
use super::endpoint::Endpoint;
use super::exchange::{Exchange, ExchangeFailure};
use super::failure::TurnError;
use super::message::{ChatMessage, ModelCall, TokenCounting, build_request_body};
use super::ready::Ready;
use super::repeats::Repeats;
use super::transcript::{ReplyExtent, Transcript, TranscriptError};
use super::transport::ModelTransport;

/// The connections of a conversation.
pub struct Connections<'m> {
    /// The transport to the server.
    pub transport: Arc<dyn ModelTransport>,
    /// The server of the model.
    pub endpoint: Endpoint,
    /// The clock for limits and pauses.
    pub clock: &'m dyn Clock,
    /// The user's request to stop.
    pub interruption: Interruption,
}

impl Connections<'_> {
    /// Returns why a turn has to end now, if it has to.
    pub(super) fn find_ending(&self, deadline: Duration) -> Option<TurnEnding> {
        if self.interruption.is_raised() {
            Some(TurnEnding::Interrupted)
        } else {
            (self.clock.now() >= deadline).then_some(TurnEnding::Time)
        }
    }
}

/// The settings of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationSettings {
    /// The name of the model.
    pub model: String,
    /// The limits of one turn.
    pub limits: ConversationLimits,
}

/// The limits of one turn: from the user's message to the model's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversationLimits {
    /// The number of requests to the model.
    pub rounds: usize,
    /// The time for the whole turn.
    pub time: Duration,
    /// The bytes that the model may write, including arguments of tools.
    pub output: usize,
    /// The bytes of one tool's result that the model gets.
    pub result: usize,
}

impl Default for ConversationLimits {
    fn default() -> Self {
        ConversationLimits {
            rounds: limits::AGENT_ROUNDS,
            time: Duration::from_secs(limits::AGENT_TURN_SECONDS),
            output: limits::AGENT_OUTPUT_BYTES,
            result: limits::AGENT_RESULT_BYTES,
        }
    }
}

/// An event of a turn. All texts in it are untrusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEvent<'e> {
    /// The next piece of the model's text.
    Text(&'e str),
    /// A tool is about to be called.
    Called {
        /// The tool, as the model spells it.
        name: &'e str,
        /// The arguments, as the model wrote them.
        arguments: &'e str,
    },
    /// A tool has answered, or was not called.
    Answered {
        /// The name of the tool.
        name: &'e str,
        /// The result or the error.
        result: Result<&'e str, &'e str>,
    },
    /// A remark for the user.
    Notice(&'e str),
}

/// Receives the events of a turn.
pub type OnEvent<'o> = &'o mut dyn FnMut(TurnEvent<'_>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The model's last text, without earlier texts before tool calls.
    pub text: String,
    /// The cause of the end.
    pub ending: TurnEnding,
    /// The number of requests to the model.
    pub rounds: usize,
    /// The tokens of all requests, as far as the server counts them.
    pub usage: Usage,
}

/// The cause of a turn's end. Only `Answered` is a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnEnding {
    Answered,
    /// The model reached its own limit within the answer.
    Cut,
    /// The server withheld a part.
    Filtered,
    /// The turn reached its limit of requests.
    Rounds,
    /// The turn reached its time limit.
    Time,
    /// The turn reached its output limit.
    Output,
    /// The model repeated the same call.
    Repeating,
    /// The user interrupted the turn.
    Interrupted,
}

impl fmt::Display for TurnEnding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            TurnEnding::Answered => "the model has answered",
            TurnEnding::Cut => "answer cut off: the model reached its own limit",
            TurnEnding::Filtered => "the server withheld part of the answer",
            TurnEnding::Rounds => "stopped: too many rounds of tool calls",
            TurnEnding::Time => "stopped: time limit reached",
            TurnEnding::Output => "stopped: output limit reached",
            TurnEnding::Repeating => "stopped: the model kept repeating the same call",
            TurnEnding::Interrupted => "interrupted",
        })
    }
}

/// Returns the model to ask: the operator's, or the first one that the agent recommends.
pub fn choose_model(agent: &Agent, given: Option<&str>) -> Option<String> {
    let recommended = agent.recommended.models.first().map(String::as_str);
    given.or(recommended).map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// An agent in conversation with a model.
pub struct Conversation<'c> {
    ready: Ready<'c>,
    connections: Connections<'c>,
    settings: ConversationSettings,
    history: Vec<ChatMessage>,
    transcript: Option<Transcript<'c>>,
    counting: TokenCounting,
}

/// The resources that a turn has used.
#[derive(Default)]
struct TurnResources {
    deadline: Duration,
    bytes: usize,
    repeats: Repeats,
    /// True once the model was warned that it repeats itself.
    is_warned: bool,
    usage: Usage,
    rounds: usize,
}

impl TurnResources {
    fn to_turn(&self, text: String, ending: TurnEnding) -> Turn {
        Turn { text, ending, rounds: self.rounds, usage: self.usage }
    }
}

impl<'c> Conversation<'c> {
    /// Starts a conversation. Nothing is sent before the first message.
    pub fn new(
        ready: Ready<'c>,
        connections: Connections<'c>,
        settings: ConversationSettings,
        transcript: Option<Transcript<'c>>,
    ) -> Result<Conversation<'c>, TranscriptError> {
        let system = ready.system_message();
        if let Some(transcript) = &transcript {
            transcript.record_message("system", &system)?;
        }
        let history = vec![ChatMessage::System(system)];
        let counting = TokenCounting::Asked;
        Ok(Conversation { ready, connections, settings, history, transcript, counting })
    }

    pub fn agent(&self) -> &'c Agent {
        self.ready.agent()
    }

    /// Returns whether the user wants to stop.
    pub fn is_interrupted(&self) -> bool {
        self.connections.interruption.is_raised()
    }

    /// Sends a message to the model and continues until it has answered.
    ///
    /// After an error the conversation can go on: the message is dropped unless the model has already acted
    /// on it.
    pub fn send_message(&mut self, text: &str, on: OnEvent<'_>) -> Result<Turn, TurnError> {
        let before = self.history.len();
        self.history.push(ChatMessage::User(text.to_owned()));
        self.record_transcript(on, |transcript| transcript.record_message("user", text));
        let result = self.run_turn(on);
        let note = match &result {
            Ok(turn) if turn.ending == TurnEnding::Answered => None,
            Ok(turn) => Some(turn.ending.to_string()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(note) = note {
            self.record_transcript(on, |transcript| transcript.record_message("note", &note));
        }
        // Some models refuse two messages of the user in a row.
        if self.history.len() == before + 1 {
            self.history.pop();
        }
        result
    }

    fn run_turn(&mut self, on: OnEvent<'_>) -> Result<Turn, TurnError> {
        let deadline = self.connections.clock.now() + self.settings.limits.time;
        let mut spent = TurnResources { deadline, ..TurnResources::default() };
        loop {
            spent.rounds += 1;
            let (reply, result) = self.request_reply(&spent, on);
            spent.bytes = spent.bytes.saturating_add(reply.bytes);
            spent.usage.add(reply.usage.unwrap_or_default());
            if let Err(failure) = result {
                // The calls of an incomplete reply are not made: a part may be missing.
                let reply = ModelReply { calls: Vec::new(), ..reply };
                if !reply.text.is_empty() {
                    self.remember_reply(&reply, ReplyExtent::Partial, on);
                }
                return match failure {
                    ExchangeFailure::Stopped(ending) => Ok(spent.to_turn(reply.text, ending)),
                    ExchangeFailure::Failed(error) => Err(error),
                };
            }
            self.remember_reply(&reply, ReplyExtent::Whole, on);
            if reply.calls.is_empty() {
                let ending = match reply.finish {
                    Some(Finish::Length) => TurnEnding::Cut,
                    Some(Finish::Filtered) => TurnEnding::Filtered,
                    _ => TurnEnding::Answered,
                };
                if reply.text.trim().is_empty() && ending == TurnEnding::Answered {
                    on(TurnEvent::Notice("the model returned no text"));
                }
                return Ok(spent.to_turn(reply.text, ending));
            }
            if let Some(ending) = self.call_all(&reply.calls, &mut spent, on) {
                return Ok(spent.to_turn(reply.text, ending));
            }
        }
    }

    fn request_reply(
        &mut self,
        spent: &TurnResources,
        on: OnEvent<'_>,
    ) -> (ModelReply, Result<(), ExchangeFailure>) {
        let exchange = Exchange {
            connections: &self.connections,
            deadline: spent.deadline,
            bytes: self.settings.limits.output.saturating_sub(spent.bytes),
        };
        let (model, history, listed) = (&self.settings.model, &self.history, self.ready.listed());
        let body = |counting| build_request_body(model, history, listed, counting);
        exchange.send_request(&body, &mut self.counting, on)
    }

    fn remember_reply(&mut self, reply: &ModelReply, extent: ReplyExtent, on: OnEvent<'_>) {
        let (text, calls) = (reply.text.clone(), reply.calls.clone());
        self.history.push(ChatMessage::Assistant { text, calls });
        self.record_transcript(on, |transcript| transcript.record_reply(reply, extent));
    }

    /// Makes the calls of one reply, in order. Every call gets an answer, even if it is not made: models
    /// refuse a history with unanswered calls.
    fn call_all(
        &mut self,
        calls: &[ModelCall],
        spent: &mut TurnResources,
        on: OnEvent<'_>,
    ) -> Option<TurnEnding> {
        let is_last = spent.rounds >= self.settings.limits.rounds;
        let mut ending = is_last.then_some(TurnEnding::Rounds);
        let mut has_repeated = false;
        for call in calls {
            ending = ending.or_else(|| self.connections.find_ending(spent.deadline));
            let result = if let Some(ending) = ending {
                Err(format!("not called: {ending}"))
            } else if spent.repeats.is_too_often(&call.name, &call.arguments) {
                has_repeated = true;
                Err(format!(
                    "not called: you already made this call {} times, and repeating it changes nothing; \
                     continue with what you know",
                    limits::AGENT_SAME_CALLS
                ))
            } else {
                on(TurnEvent::Called { name: &call.name, arguments: &call.arguments });
                self.call_tool(call)
            };
            self.add_answer(call, result, on);
        }
        // The first warning may be enough.
        if has_repeated && std::mem::replace(&mut spent.is_warned, true) {
            ending = ending.or(Some(TurnEnding::Repeating));
        }
        ending.or_else(|| self.connections.find_ending(spent.deadline))
    }

    fn call_tool(&mut self, call: &ModelCall) -> Result<String, String> {
        // Some models leave out the arguments of a tool without parameters.
        let arguments = match call.arguments.trim() {
            "" => "{}",
            _ => call.arguments.as_str(),
        };
        self.ready.call_tool(&call.name, arguments).unwrap_or_else(|| {
            let names: Vec<String> =
                self.ready.listed().iter().map(|scheme| format!("`{}`", scheme.name)).collect();
            let known = if names.is_empty() {
                "no tools are available".to_owned()
            } else {
                format!("available tools: {}", names.join(", "))
            };
            Err(format!("unknown tool `{}`; {known}", call.name))
        })
    }

    fn add_answer(&mut self, call: &ModelCall, result: Result<String, String>, on: OnEvent<'_>) {
        // No tool's result may carry the server's key to the model.
        let (limit, endpoint) = (self.settings.limits.result, &self.connections.endpoint);
        let shown = |text: String| cut_result(endpoint.hide_key(&text).into_owned(), limit);
        let result = result.map(shown).map_err(shown);
        let shown = result.as_deref().map_err(String::as_str);
        on(TurnEvent::Answered { name: &call.name, result: shown });
        // A tool may catch a refusal and answer as if nothing had happened.
        let denied = self.ready.take_denied();
        if !denied.is_empty() && shown.is_ok() {
            let name = &call.name;
            on(TurnEvent::Notice(&format!("`{name}` was denied: {}", denied.join(", "))));
        }
        self.record_transcript(on, |transcript| {
            transcript.record_answer(&call.id, &call.name, shown)
        });
        let content = result.unwrap_or_else(|text| json!({"error": text}).to_string());
        self.history.push(ChatMessage::Tool { id: call.id.clone(), content });
    }

    /// Appends to the transcript. After a failure the user is told once, and the conversation goes on.
    fn record_transcript(
        &mut self,
        on: OnEvent<'_>,
        write: impl FnOnce(&Transcript<'c>) -> Result<(), TranscriptError>,
    ) {
        if let Some(Err(error)) = self.transcript.as_ref().map(write) {
            on(TurnEvent::Notice(&error.to_string()));
            self.transcript = None;
        }
    }
}

/// Cuts a result for the model, with a line that says so.
fn cut_result(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push_str(&format!("\n[truncated: more than {limit} bytes]"));
    }
    text
}
