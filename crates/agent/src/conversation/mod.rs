//! A conversation between an agent and a model, over the chat completions that most servers speak.
//!
//! [`Ready`] is the only entry, so that an agent with closed gates never reaches a model. From there a
//! [`Conversation`] sends the user's messages, runs the tools that the model asks for, and goes on until the
//! model has answered, or a limit or the user ends it. The texts of the agent, the model and the tools are
//! data: nothing here runs any of them.
//!
//! Network and clock are traits ([`ModelTransport`], [`Clock`]); only `http` knows a real network. The key of the
//! server is a [`ApiKey`], which cannot be printed.

mod assembly;
mod clock;
mod endpoint;
mod exchange;
mod failure;
mod http;
mod input;
mod interact;
mod message;
mod ready;
mod repeats;
mod transcript;
mod transport;
mod turn;

pub use assembly::{Finish, Usage};
pub use clock::{Clock, SystemClock};
pub use endpoint::{ApiKey, Endpoint, EndpointError};
pub use failure::TurnError;
pub use http::Http;
pub use input::{Input, InputError, read_line};
pub use interact::{LineSource, run_interactive};
pub use ready::{NotReady, Ready, ReadyTools};
pub use transcript::{Transcript, TranscriptError};
pub use transport::{ModelAnswer, ModelTransport, Post, TransportError, TransportProblem};
pub use turn::{
    Connections, Conversation, ConversationLimits, ConversationSettings, OnEvent, Turn, TurnEnding,
    TurnEvent, choose_model,
};
