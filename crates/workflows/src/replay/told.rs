//! When an agent could first see a rule: by what its client loads, and by the receipts of deliveries.
//!
//! Transcripts do not prove what was told: several clients leave out what a hook said. A text that comes with the result of
//! a call is seen by the next answer, so an edit in the same answer was not told.

use std::collections::HashMap;

use brief_clients::transcript::{EventBody, RecordedSession};
use brief_engine::receipts::{LateReason, Receipt, ReceiptKind, ReceiptStep};

use super::guidance::Rule;

/// The steps at which rules came into a conversation.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// For each rule, the steps that could first see it.
    steps: HashMap<usize, Vec<u32>>,
    /// The rules that the client itself keeps in the conversation.
    loaded: HashMap<usize, u32>,
    /// The steps before which earlier messages were replaced by a summary.
    compactions: Vec<u32>,
    /// The reasons why rules came late, by receipts.
    pub(super) late: HashMap<usize, LateReason>,
}

impl Told {
    /// Reads the receipts of a session.
    pub(super) fn from_receipts(
        session: &RecordedSession,
        receipts: &[&Receipt],
        rules: &[Rule],
    ) -> Told {
        let mut told = Told::default();
        for event in &session.events {
            if matches!(event.body, EventBody::Compaction) {
                told.compactions.push(event.step);
            }
        }
        for receipt in receipts {
            let step = first_visible_step(session, receipt);
            for item in &receipt.items {
                if !matches!(item.how, ReceiptKind::Delivered | ReceiptKind::Loaded) {
                    continue;
                }
                let named = rules.iter().enumerate().filter(|(_, rule)| {
                    rule.place == item.place
                        && (item.how == ReceiptKind::Loaded
                            || rule.name == item.name
                            || (!item.hash.is_empty() && rule.hash == item.hash))
                });
                for (rule, _) in named {
                    told.steps.entry(rule).or_default().push(step);
                    if let Some(reason) = item.late {
                        told.late.insert(rule, reason);
                    }
                }
            }
        }
        told
    }

    /// Adds a rule that the client loads by itself, which a step can first see.
    pub(super) fn add_loaded(&mut self, rule: usize, step: u32) {
        let known = self.loaded.entry(rule).or_insert(step);
        *known = step.min(*known);
    }

    /// Returns whether the answer of a step could see a rule.
    pub(super) fn is_told(&self, rule: usize, step: u32) -> bool {
        self.loaded.get(&rule).is_some_and(|loaded| *loaded <= step)
            || self.steps.get(&rule).is_some_and(|steps| {
                let lasts = |told: &&u32| {
                    // A summary need not repeat what came before it.
                    **told <= step && !self.compactions.iter().any(|at| **told <= *at && *at < step)
                };
                steps.iter().any(|told| lasts(&told))
            })
    }

    /// Returns whether the client loaded the rule by then.
    pub(super) fn is_loaded(&self, rule: usize, step: u32) -> bool {
        self.loaded.get(&rule).is_some_and(|loaded| *loaded <= step)
    }

    /// Returns whether a later answer could see the rule.
    pub(super) fn is_told_later(&self, rule: usize, step: u32) -> bool {
        self.steps.get(&rule).is_some_and(|steps| steps.iter().any(|told| *told > step))
    }

    /// Returns the steps at which receipts brought a rule.
    pub(super) fn delivered_steps(&self, rule: usize) -> &[u32] {
        self.steps.get(&rule).map_or(&[], Vec::as_slice)
    }
}

/// Returns the first answer that could see what a receipt records.
fn first_visible_step(session: &RecordedSession, receipt: &Receipt) -> u32 {
    let of_call = receipt.trace.call.as_deref().and_then(|id| {
        session.calls().find(|(_, call)| call.id == id).map(|(event, _)| event.step + 1)
    });
    if let Some(step) = of_call {
        return step;
    }
    if receipt.trace.step == Some(ReceiptStep::First) {
        return 1;
    }
    // Without an id, the time decides: the first call after it belongs to an answer that could see it, at the earliest. An
    // answer with several calls had begun before the first of them.
    let calls: Vec<_> = session.calls().map(|(event, _)| (event.at, event.step)).collect();
    let later = calls.iter().position(|(at, _)| at.is_some_and(|at| at > receipt.at));
    match later {
        Some(position) => {
            let step = calls[position].1;
            let has_begun = position > 0 && calls[position - 1].1 == step;
            step + u32::from(has_begun)
        }
        None => calls.last().map_or(1, |(_, step)| step + 1),
    }
}
