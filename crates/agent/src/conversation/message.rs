//! The messages of a conversation, and their form on the wire.

use brief_dialects::agents::Scheme;
use serde::Serialize;
use serde_json::{Value as Json, json};

/// A tool call that a model asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct ModelCall {
    /// The id that the answer refers to.
    pub(super) id: String,
    /// The tool, as the model spells it.
    pub(super) name: String,
    /// The arguments, which may not be valid JSON.
    pub(super) arguments: String,
}

impl ModelCall {
    pub(super) fn to_json(&self) -> Json {
        let function = json!({"name": self.name, "arguments": self.arguments});
        json!({"id": self.id, "type": "function", "function": function})
    }
}

/// A message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChatMessage {
    System(String),
    User(String),
    Assistant {
        text: String,
        calls: Vec<ModelCall>,
    },
    /// The answer to one call.
    Tool {
        id: String,
        content: String,
    },
}

impl ChatMessage {
    fn to_json(&self) -> Json {
        match self {
            ChatMessage::System(text) => json!({"role": "system", "content": text}),
            ChatMessage::User(text) => json!({"role": "user", "content": text}),
            ChatMessage::Assistant { text, calls } if calls.is_empty() => {
                json!({"role": "assistant", "content": text})
            }
            ChatMessage::Assistant { text, calls } => {
                let content = (!text.is_empty()).then_some(text);
                let calls: Vec<Json> = calls.iter().map(ModelCall::to_json).collect();
                json!({"role": "assistant", "content": content, "tool_calls": calls})
            }
            ChatMessage::Tool { id, content } => {
                json!({"role": "tool", "tool_call_id": id, "content": content})
            }
        }
    }
}

/// The request for token counts in a stream. Some servers refuse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenCounting {
    Asked,
    Left,
}

/// Builds the body of a request.
pub(super) fn build_request_body(
    model: &str,
    history: &[ChatMessage],
    schemes: &[Scheme],
    counting: TokenCounting,
) -> String {
    let messages: Vec<Json> = history.iter().map(ChatMessage::to_json).collect();
    let mut body = json!({"model": model, "messages": messages, "stream": true});
    if counting == TokenCounting::Asked {
        body["stream_options"] = json!({"include_usage": true});
    }
    // Some servers refuse an empty list.
    if !schemes.is_empty() {
        body["tools"] = schemes.iter().map(Scheme::to_function).collect();
    }
    body.to_string()
}
