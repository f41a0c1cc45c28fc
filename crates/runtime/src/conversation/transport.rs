//! The door to the network: one request, and an answer whose body is read as it comes.

use std::fmt;
use std::io::Read;
use std::time::Duration;

use super::endpoint::Key;

/// Something that can carry a request to a server. It is called on a thread of its own.
pub trait Transport: Send + Sync {
    /// Sends a request and returns as soon as the head of the answer is there.
    ///
    /// Every status is an answer. Nothing is followed elsewhere: the key is for this server alone.
    fn post(&self, post: &Post) -> Result<Answer, TransportError>;
}

/// A request: JSON, to be answered with events or with JSON.
#[derive(Debug, Clone)]
pub struct Post {
    /// The whole address.
    pub url: String,
    /// The key, when there is one.
    pub key: Option<Key>,
    /// The JSON.
    pub body: String,
    /// How long all of it may take, the body of the answer included.
    pub time: Duration,
}

/// The head of an answer, and its body.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// `content-type`; may be empty.
    pub content_type: String,
    /// `retry-after`.
    pub retry_after: Option<String>,
    /// The body.
    pub body: Box<dyn Read + Send>,
}

/// Why there was no answer, or no end of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransportError {
    /// What kind of reason it is.
    pub problem: TransportProblem,
    /// The reason, in words for people.
    pub message: String,
}

impl TransportError {
    /// Puts a reason into words.
    pub fn new(problem: TransportProblem, message: impl Into<String>) -> TransportError {
        TransportError { problem, message: message.into() }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for TransportError {}

/// What is done about a failure depends on its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportProblem {
    /// Nobody answered; the next try may find somebody.
    Unreachable,
    /// The connection ended too early.
    Broken,
    /// Time was up.
    TooSlow,
    /// No try will do better, such as with a certificate that nobody trusts.
    Hopeless,
}
