//! What may follow from a broken rule: what its author wants, as far as the user agrees and the client obeys.
//!
//! A project's rule refuses nothing until the user has seen it (`brief trust --rules`); until then it warns. Consent is looked
//! up for broken rules alone, so that a call that keeps all rules pays nothing.

use brief_checks::rules::{BoundRule, Budget, run_examples};
use brief_dialects::Owner;
use brief_dialects::rule_check::{Enforcement, RuleCheck};
use brief_engine::System;
use brief_profiles::{Client, HookProfile};
use brief_runtime::{TrustProject, TrustStore, project_root};
use std::path::Path;

use super::CheckedEvent;

/// What follows from a broken rule in a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleStanding {
    pub enforcement: Enforcement,
    /// Why it is weaker than its author wants; `None` if it is not.
    pub reason: Option<StandingReason>,
}

/// Why a rule is enforced less than its author wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandingReason {
    /// The user has not agreed to the rules of the project, or not to this one as it is now.
    NotTrusted,
    /// An example does not show what it should.
    ExamplesFail,
    /// It has no example that is broken, or none that is kept.
    NoExamples,
    /// The client refuses no calls.
    ClientCannotRefuse,
    /// The client asks nobody: the call is refused instead.
    ClientCannotAsk,
}

impl StandingReason {
    /// Returns the words after the enforcement.
    pub fn as_str(self) -> &'static str {
        match self {
            StandingReason::NotTrusted => {
                "its project's rules only warn until you run `brief trust --rules`"
            }
            StandingReason::ExamplesFail => "one of its examples fails",
            StandingReason::NoExamples => "it needs one broken and one kept example",
            StandingReason::ClientCannotRefuse => "the client obeys no refusal",
            StandingReason::ClientCannotAsk => "the client cannot ask, so calls are blocked",
        }
    }
}

/// Returns what follows from a broken rule at an event.
pub(super) fn enforcement_of(event: &CheckedEvent<'_>, rule: &BoundRule) -> Enforcement {
    let standing =
        find_standing(event.system, event.opened.project.root().path(), rule, event.call.client);
    standing.enforcement
}

/// Returns what follows in a client from a broken rule of the project at `root`.
pub fn find_standing(
    system: &dyn System,
    root: &Path,
    rule: &BoundRule,
    client: &Client,
) -> RuleStanding {
    let check = &*rule.check;
    let weaker = |enforcement, reason| RuleStanding { enforcement, reason: Some(reason) };
    if check.enforce < Enforcement::Ask {
        return RuleStanding { enforcement: check.enforce, reason: None };
    }
    let examples = &check.examples;
    if check.enforce == Enforcement::Deny
        && (examples.broken.is_empty() || examples.kept.is_empty())
    {
        return weaker(Enforcement::Warn, StandingReason::NoExamples);
    }
    if !run_examples(rule, Budget::CALL).is_empty() {
        return weaker(Enforcement::Observe, StandingReason::ExamplesFail);
    }
    if check.owner == Owner::Project && !is_trusted(system, root, check) {
        return weaker(Enforcement::Warn, StandingReason::NotTrusted);
    }
    match client.hook.as_ref() {
        Some(hook) if hook.can_refuse() => limit_to_client(check.enforce, hook),
        _ => weaker(Enforcement::Warn, StandingReason::ClientCannotRefuse),
    }
}

fn limit_to_client(enforcement: Enforcement, hook: &HookProfile) -> RuleStanding {
    let cannot_ask = enforcement == Enforcement::Ask && hook.ask.is_empty();
    RuleStanding { enforcement, reason: cannot_ask.then_some(StandingReason::ClientCannotAsk) }
}

/// Returns whether the user has agreed that exactly this rule of the project refuses calls.
fn is_trusted(system: &dyn System, root: &Path, check: &RuleCheck) -> bool {
    let Ok(root) = project_root(system, root) else { return false };
    let Ok(project) = TrustProject::identify(system, &root) else { return false };
    let Ok(store) = TrustStore::open(system, &root) else { return false };
    store.is_rule_trusted(&project, &check.content())
}
