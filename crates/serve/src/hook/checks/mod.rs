//! Checks of rules at a client's events: before a call, after it, and at the end of a turn.
//!
//! They come before the guidance, so that a call that a rule forbids is refused whatever else there is to say. What a
//! check says is data (`brief_checks::rules`); what follows from it depends on the client, whose file says which answers
//! it obeys, and on the user, who decides which rules may refuse at all (`consent`). No answer approves anything.

mod call;
mod consent;
mod guard;
mod hidden;
mod report;
mod turn;
mod words;

use std::sync::Arc;

use brief_checks::rules::{Budget, RuleSet, RuleVerdict, Verdict, Work};
use brief_clients::hook::{AnswerEffect, HookCall, HookMoment, HookSession};
use brief_dialects::rule_check::{Enforcement, RuleCheck};
use brief_engine::receipts::{CheckOutcome, ReceiptCheck};
use brief_engine::{Catalog, System, Timing};

use super::memory::{DeliveredEntries, Memory};
use super::overdue::CheckWatch;
use super::question::OpenedProject;

pub(super) use call::{PathTree, concerns_checks};
pub use consent::{RuleStanding, StandingReason, find_standing};
pub use report::{ReportedClient, RuleEffect, RuleInClient, RuleReport, report_rules};
pub(super) use turn::note_prompt;

/// The limit for the rules that one answer names.
const MOST_NAMED: usize = 5;

/// An event, as checks see it.
pub(super) struct CheckedEvent<'e> {
    pub(super) system: &'e dyn System,
    pub(super) call: &'e HookCall<'e>,
    /// The payload.
    pub(super) input: &'e [u8],
    pub(super) opened: &'e OpenedProject<'e>,
    /// What was read on the paths of the event.
    pub(super) catalogs: &'e [&'e Catalog],
    pub(super) watch: Option<&'e CheckWatch>,
    pub(super) memory: Option<&'e Memory<'e>>,
    pub(super) known: &'e DeliveredEntries,
}

/// What checks say about an event.
#[derive(Debug, Default)]
pub(super) struct CheckAnswer {
    /// The effect and the text for the model; `None` if nothing is to be said.
    pub(super) said: Option<(AnswerEffect, String)>,
    /// The line for the user.
    pub(super) notice: Option<String>,
    pub(super) receipts: Vec<ReceiptCheck>,
}

impl CheckAnswer {
    /// Returns whether the call does not happen now, or the turn goes on: guidance has to wait.
    pub(super) fn decides(&self) -> bool {
        matches!(&self.said, Some((effect, _)) if *effect != AnswerEffect::Inform)
    }
}

/// A rule that is broken, with what follows from it.
pub(super) struct BrokenRule<'r> {
    pub(super) set: &'r RuleSet,
    pub(super) verdict: RuleVerdict,
    pub(super) enforcement: Enforcement,
}

impl BrokenRule<'_> {
    pub(super) fn check(&self) -> &RuleCheck {
        &self.set.rules()[self.verdict.rule].check
    }

    pub(super) fn id(&self) -> &str {
        &self.set.rules()[self.verdict.rule].id
    }

    /// Returns what breaks the rule, in one line.
    pub(super) fn finding(&self) -> String {
        let finding = self.verdict.findings.first();
        finding.map_or_else(String::new, |one| format!("{}: {}", one.place, one.message))
    }

    fn receipt(&self, outcome: CheckOutcome) -> ReceiptCheck {
        ReceiptCheck { rule: self.id().to_owned(), outcome, finding: self.finding() }
    }
}

/// Checks an event. Nothing is said where no rule has a check.
pub(super) fn check_event(event: &CheckedEvent<'_>) -> CheckAnswer {
    let rules = collect_rules(event);
    if rules.is_empty() {
        return CheckAnswer::default();
    }
    let is_watched = rules.rules().iter().any(|rule| rule.check.enforce >= Enforcement::Ask);
    let watch = event.watch.filter(|_| is_watched);
    if let Some(watch) = watch {
        watch.begin(event.call, event.opened.project.root().path().to_owned());
    }
    let answer = match &event.call.moment {
        HookMoment::Stop => turn::check_turn(event, &rules),
        _ => match event.call.tool.as_ref().map(|tool| tool.time) {
            Some(Timing::Before) => call::check_before(event, &rules),
            Some(Timing::After) => call::check_after(event, &rules),
            None => CheckAnswer::default(),
        },
    };
    if let Some(watch) = watch {
        watch.is_checked();
    }
    answer
}

/// Returns the rules with a check on the paths of an event, each once.
fn collect_rules(event: &CheckedEvent<'_>) -> RuleSet {
    let mut checks: Vec<Arc<RuleCheck>> = Vec::new();
    for catalog in event.catalogs {
        for check in catalog.rule_checks() {
            let is_known = checks.iter().any(|known| {
                known.span == check.span && known.source.path() == check.source.path()
            });
            if !is_known {
                checks.push(check);
            }
        }
    }
    RuleSet::new(event.opened.project.root().path(), checks)
}

/// Returns the rules that work breaks, with what the user and the client let follow from that.
fn find_broken<'r>(
    event: &CheckedEvent<'_>,
    rules: &'r RuleSet,
    work: &Work<'_>,
    unknown: &mut Vec<ReceiptCheck>,
) -> Vec<BrokenRule<'r>> {
    let mut broken = Vec::new();
    for verdict in rules.evaluate(work, Budget::CALL) {
        let rule = &rules.rules()[verdict.rule];
        match verdict.verdict {
            Verdict::Broken => {
                let enforcement = consent::enforcement_of(event, rule);
                broken.push(BrokenRule { set: rules, verdict, enforcement });
            }
            Verdict::Unknown if rule.check.enforce > Enforcement::Observe => {
                unknown.push(ReceiptCheck {
                    rule: rule.id.to_string(),
                    outcome: CheckOutcome::NotChecked,
                    finding: verdict.unknown.unwrap_or_default().to_owned(),
                });
            }
            _ => {}
        }
    }
    broken
}

/// Returns the session of an event; without one nothing is remembered.
fn session_of<'c>(call: &'c HookCall<'_>) -> Option<&'c HookSession> {
    call.session.as_ref()
}
