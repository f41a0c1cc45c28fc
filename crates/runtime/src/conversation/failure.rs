//! Why a model could not be asked.

use std::time::Duration;

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// Nobody answered.
    #[error("the server cannot be reached: {message}")]
    Unreachable {
        /// The reason.
        message: String,
    },
    /// There is no talking to it.
    #[error("the server cannot be talked to: {message}")]
    Hopeless {
        /// The reason.
        message: String,
    },
    /// It refused.
    #[error("the server answered with status {status}: {message}")]
    Status {
        /// The status.
        status: u16,
        /// What it says.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
        /// Whether waiting helps.
        is_passing: bool,
    },
    /// The connection ended in the middle.
    #[error("the answer broke off: {message}")]
    Broken {
        /// The reason.
        message: String,
    },
    /// It reported a failure in the middle of an answer.
    #[error("the server reports a failure: {message}")]
    Reported {
        /// What it says.
        message: String,
    },
    /// It is something else that answers there.
    #[error("the answer is no chat completion: {message}")]
    Strange {
        /// What it is instead.
        message: String,
    },
}

impl TurnError {
    /// Returns what to do about it, where there is something.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            TurnError::Unreachable { .. } | TurnError::Strange { .. } => {
                Some("check `OPENAI_BASE_URL`, which mostly ends in `/v1`")
            }
            TurnError::Status { status: 401 | 403, .. } => Some("check `OPENAI_API_KEY`"),
            TurnError::Status { status: 404, .. } => {
                Some("check `OPENAI_BASE_URL` and the name of the model (`--model`)")
            }
            TurnError::Status { status: 300..=399, .. } => {
                Some("name the address that it leads to in `OPENAI_BASE_URL`")
            }
            _ => None,
        }
    }

    /// Returns whether the same request may go better later.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            TurnError::Unreachable { .. } | TurnError::Broken { .. } => true,
            TurnError::Status { is_passing, .. } => *is_passing,
            _ => false,
        }
    }

    /// Returns how long the server asks to wait.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            TurnError::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
