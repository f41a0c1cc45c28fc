//! Errors of asking a model.

use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The server does not answer.
    #[error("cannot reach the server: {0}")]
    Unreachable(String),
    /// No connection is possible, for example because of TLS.
    #[error("cannot connect to the server: {0}")]
    Hopeless(String),
    /// The server refused the request.
    #[error("the server answered with status {status}: {message}")]
    Status {
        status: u16,
        message: String,
        /// The wait that the server asks for.
        retry_after: Option<Duration>,
        /// True if a retry may succeed.
        is_passing: bool,
    },
    #[error("the answer was cut off: {0}")]
    Broken(String),
    /// The server reported a failure within an answer.
    #[error("the server reported an error: {0}")]
    Reported(String),
    /// The answer is not a chat completion.
    #[error("the answer is not a chat completion: {0}")]
    Strange(String),
}

impl TurnError {
    /// Returns advice, if there is any.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            TurnError::Unreachable(_) | TurnError::Strange(_) => {
                Some("check `OPENAI_BASE_URL`, which usually ends in `/v1`")
            }
            TurnError::Status { status: 401 | 403, .. } => Some("check `OPENAI_API_KEY`"),
            TurnError::Status { status: 404, .. } => {
                Some("check `OPENAI_BASE_URL` and the name of the model (`--model`)")
            }
            TurnError::Status { status: 300..=399, .. } => {
                Some("set `OPENAI_BASE_URL` to the address that it redirects to")
            }
            _ => None,
        }
    }

    /// Returns whether the same request may succeed later.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            TurnError::Unreachable(_) | TurnError::Broken(_) => true,
            TurnError::Status { is_passing, .. } => *is_passing,
            _ => false,
        }
    }

    /// Returns the wait that the server asks for.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            TurnError::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
