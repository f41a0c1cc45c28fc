//! Checks at the end of a turn: what had to run, or to change, before it.
//!
//! A client asks again after a turn that goes on, some without an end, so the memory of the session counts: a turn goes on
//! at most twice.

use std::borrow::Cow;
use std::sync::Arc;

use brief_checks::rules::{
    AddedText, FileChange, FileChangeKind, ProjectTree, RuleSet, Work, WorkKind,
};
use brief_clients::hook::{AnswerEffect, HookCall, HookMoment};
use brief_dialects::rule_check::Enforcement;
use brief_engine::System;
use brief_engine::receipts::CheckOutcome;

use super::{BrokenRule, CheckAnswer, CheckedEvent, PathTree, find_broken, session_of, words};
use crate::hook::memory::WorkRecord;

/// How often one turn goes on.
const MOST_HELD: usize = 2;

/// Notes that the user has said something, so that a new turn begins.
pub(in crate::hook) fn note_prompt(system: &dyn System, call: &HookCall<'_>) {
    let HookMoment::Prompt { is_said: true, .. } = call.moment else { return };
    if let Some(session) = session_of(call) {
        WorkRecord::of_session(system, call.client, session).note_turn();
    }
}

/// Checks the work of a turn at its end.
pub(super) fn check_turn(event: &CheckedEvent<'_>, rules: &RuleSet) -> CheckAnswer {
    let Some(session) = session_of(event.call) else { return CheckAnswer::default() };
    let record = WorkRecord::of_session(event.system, event.call.client, session);
    let done = record.read();
    let tree = PathTree { project: &event.opened.project, directory: &event.opened.directory };
    let files = done.edited_in_turn().into_iter().map(|path| describe_file(path, &tree)).collect();
    let work = Work {
        kind: WorkKind::TurnEnd,
        files,
        past: Cow::Borrowed(&done.events),
        ..Work::default()
    };
    let mut receipts = Vec::new();
    let broken = find_broken(event, rules, &work, &mut receipts);
    // A rule about single calls was judged with them.
    let mut broken: Vec<BrokenRule<'_>> =
        broken.into_iter().filter(|rule| rule.check().is_about_turns()).collect();
    receipts.clear();
    broken.retain(|rule| {
        let is_told = rule.enforcement > Enforcement::Observe;
        if !is_told {
            receipts.push(rule.receipt(CheckOutcome::Observed));
        }
        is_told
    });
    // A rule that only warns is told once.
    let most =
        if broken.iter().any(|rule| rule.enforcement >= Enforcement::Ask) { MOST_HELD } else { 1 };
    if broken.is_empty() || event.call.hook.stop.is_empty() || done.held >= most {
        receipts.extend(broken.iter().map(|rule| rule.receipt(CheckOutcome::Observed)));
        return CheckAnswer { receipts, ..CheckAnswer::default() };
    }
    if !record.note_held_turn(done.held) {
        return CheckAnswer { receipts, ..CheckAnswer::default() };
    }
    receipts.extend(broken.iter().map(|rule| rule.receipt(CheckOutcome::Held)));
    let text = words::render_go_on(event, &broken);
    let notice = Some(words::render_notice(event, &broken, CheckOutcome::Held));
    CheckAnswer { said: Some((AnswerEffect::GoOn, text)), notice, receipts }
}

/// Describes a file that was changed in the turn, as it is now.
fn describe_file<'f>(path: &str, tree: &PathTree<'_>) -> FileChange<'f> {
    let place: Arc<str> = path.into();
    let exists = tree.project.system().resolve(&tree.project.root().path().join(path)).is_ok();
    if !exists {
        return FileChange::of_path(place, FileChangeKind::Delete);
    }
    let final_text = tree.read_text(path).map(Cow::Owned);
    FileChange {
        added: AddedText::Runs(Vec::new()),
        final_text,
        ..FileChange::of_path(place, FileChangeKind::Change)
    }
}
