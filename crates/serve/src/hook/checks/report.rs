//! What becomes of each rule with a check in each client, for people.

use std::path::Path;

use brief_checks::rules::RuleSet;
use brief_dialects::rule_check::Enforcement;
use brief_engine::System;
use brief_profiles::Client;
use serde::Serialize;

use super::consent::{RuleStanding, StandingReason, find_standing};

/// A rule with a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleReport {
    pub id: String,
    /// The file, below the root or absolute.
    pub file: String,
    pub line: usize,
    /// The first line of its text.
    pub title: String,
    /// What its author wants.
    pub enforce: Enforcement,
    pub clients: Vec<RuleInClient>,
}

/// What becomes of a rule in one client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleInClient {
    pub client: String,
    pub effect: RuleEffect,
    /// Why it is less than its author wants.
    pub reason: Option<String>,
}

/// What follows from a broken rule in a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleEffect {
    /// The call is refused, or the user is asked.
    Enforced,
    /// The agent is told after the call.
    Warned,
    /// It is recorded.
    Recorded,
    /// Nothing looks at the call.
    Advice,
}

impl RuleEffect {
    /// Returns the word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            RuleEffect::Enforced => "enforced",
            RuleEffect::Warned => "warned",
            RuleEffect::Recorded => "recorded",
            RuleEffect::Advice => "advice",
        }
    }
}

impl RuleInClient {
    /// Returns it in words: `warned (the reason)`.
    pub fn render(&self) -> String {
        let effect = self.effect.as_str();
        self.reason
            .as_ref()
            .map_or_else(|| effect.to_owned(), |reason| format!("{effect} ({reason})"))
    }
}

/// A client, and why its hook does not work, if it does not.
#[derive(Debug, Clone, Copy)]
pub struct ReportedClient<'c> {
    pub client: &'c Client,
    pub missing_hook: Option<&'c str>,
}

/// Returns what becomes of each rule in each client.
pub fn report_rules(
    system: &dyn System,
    root: &Path,
    rules: &RuleSet,
    clients: &[ReportedClient<'_>],
) -> Vec<RuleReport> {
    let report = |rule: &brief_checks::rules::BoundRule| {
        let check = &*rule.check;
        let path = check.source.path();
        let in_client = |reported: &ReportedClient<'_>| {
            let (effect, reason) = match reported.missing_hook {
                Some(missing) => (RuleEffect::Advice, Some(missing.to_owned())),
                None => describe_standing(find_standing(system, root, rule, reported.client)),
            };
            RuleInClient { client: reported.client.id.to_string(), effect, reason }
        };
        RuleReport {
            id: rule.id.to_string(),
            file: path.strip_prefix(root).unwrap_or(path).display().to_string(),
            line: check.line(),
            title: check.title().to_owned(),
            enforce: check.enforce,
            clients: clients.iter().map(in_client).collect(),
        }
    };
    rules.rules().iter().map(report).collect()
}

fn describe_standing(standing: RuleStanding) -> (RuleEffect, Option<String>) {
    let RuleStanding { enforcement, reason } = standing;
    let effect = match enforcement {
        Enforcement::Deny | Enforcement::Ask => RuleEffect::Enforced,
        Enforcement::Warn => RuleEffect::Warned,
        Enforcement::Observe => RuleEffect::Recorded,
    };
    (effect, reason.map(StandingReason::as_str).map(str::to_owned))
}
