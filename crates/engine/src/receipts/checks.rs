//! What checks said about a call, as a receipt keeps it.

use serde::{Deserialize, Serialize};

/// A verdict about a rule that somebody was told, or that nobody could reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptCheck {
    /// The id of the rule; empty where no rule was looked at.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// What followed.
    pub outcome: CheckOutcome,
    /// What breaks the rule, or why nobody knows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub finding: String,
}

/// What followed from a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// The call was refused.
    Refused,
    /// The user was asked.
    Asked,
    /// The agent was told after the call.
    Warned,
    /// The turn went on.
    Held,
    /// The user had allowed it.
    Allowed,
    /// It was recorded alone.
    Observed,
    /// Nobody knows whether the rule was kept.
    NotChecked,
}

impl CheckOutcome {
    /// Returns the words in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            CheckOutcome::Refused => "refused",
            CheckOutcome::Asked => "asked",
            CheckOutcome::Warned => "warned",
            CheckOutcome::Held => "held",
            CheckOutcome::Allowed => "allowed",
            CheckOutcome::Observed => "observed",
            CheckOutcome::NotChecked => "not checked",
        }
    }
}
