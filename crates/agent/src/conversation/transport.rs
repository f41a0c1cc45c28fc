//! The network as a trait: one request, and an answer whose body is read as it comes.

use std::io::Read;
use std::time::Duration;

use super::endpoint::ApiKey;

/// Sends a request to a server. It is called on its own thread. Tests answer without a network.
pub trait ModelTransport: Send + Sync {
    /// Sends a request and returns once the head of the answer has come.
    ///
    /// Every status is an answer. Redirects are not followed: the key is for this server alone.
    fn post(&self, post: &Post) -> Result<ModelAnswer, TransportError>;
}

/// A JSON request, to be answered with events or with JSON.
#[derive(Debug, Clone)]
pub struct Post {
    pub url: String,
    /// The key, if there is one.
    pub key: Option<ApiKey>,
    pub body: String,
    /// The time limit for all of it, including the body of the answer.
    pub time: Duration,
}

/// The head of an answer, and its body.
pub struct ModelAnswer {
    pub status: u16,
    /// The field `content-type`; may be empty.
    pub content_type: String,
    pub retry_after: Option<String>,
    /// The body as a stream.
    pub body: Box<dyn Read + Send>,
}

/// A missing or incomplete answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TransportError {
    /// The kind of the problem.
    pub problem: TransportProblem,
    /// The message for the operator.
    pub message: String,
}

impl TransportError {
    /// Creates an error with a message.
    pub fn new(problem: TransportProblem, message: impl Into<String>) -> TransportError {
        TransportError { problem, message: message.into() }
    }
}

/// The kind of a problem, which decides about a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportProblem {
    /// The server does not answer; a retry may succeed.
    Unreachable,
    Broken,
    /// The time limit was reached.
    TooSlow,
    /// A retry cannot succeed, for example with an untrusted certificate.
    Hopeless,
}
