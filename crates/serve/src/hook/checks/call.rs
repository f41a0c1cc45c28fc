//! Checks of one tool call, before and after it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_checks::rules::{
    Operation, PastEvent, ProjectTree, Replacement, RuleSet, TreePath, Work,
};
use brief_clients::hook::proposal::{Proposal, ProposalKind, ProposedChange, read_proposal};
use brief_clients::hook::{AnswerEffect, HookCall, HookMoment};
use brief_dialects::rule_check::{Enforcement, RuleCheck, RunLimit, Subject};
use brief_engine::Project;
use brief_engine::receipts::{CheckOutcome, ReceiptCheck};
use brief_runtime::AllowedRule;
use brief_syntax::limits;
use brief_system::FileKind;

use super::{BrokenRule, CheckAnswer, CheckedEvent, find_broken, guard, hidden, session_of, words};
use crate::hook::memory::{Claim, DeliveredEntries, WorkRecord, fingerprint_parts};

/// Returns whether checks may be about an event, as far as its kind tells.
pub(in crate::hook) fn concerns_checks(call: &HookCall<'_>) -> bool {
    match &call.moment {
        HookMoment::Stop => true,
        _ => call.tool.as_ref().is_some_and(|tool| !tool.only_reads),
    }
}

/// The files of a project, as an event sees them.
pub(in crate::hook) struct PathTree<'t> {
    pub(in crate::hook) project: &'t Project<'t>,
    pub(in crate::hook) directory: &'t Path,
}

impl ProjectTree for PathTree<'_> {
    fn locate(&self, directory: Option<&Path>, path: &Path) -> Option<TreePath> {
        let path = directory.unwrap_or(self.directory).join(path);
        let target = self.project.locate(&path)?;
        let found = self.project.system().resolve(&path).ok();
        let is_directory = found.as_ref().is_some_and(|found| found.kind == FileKind::Directory);
        let path = Arc::from(target.slashed());
        Some(TreePath { path, exists: found.is_some(), is_directory })
    }

    fn read_text(&self, path: &str) -> Option<String> {
        let root = self.project.root();
        let handle = self.project.system().open_dir(root.path()).ok()?;
        let bytes = handle.read_below(Path::new(path), limits::FILE_BYTES).ok()?;
        String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
    }
}

/// The changes of a call, in the words of the evaluator.
struct CallOperations {
    proposal: Proposal,
    directory: PathBuf,
}

impl CallOperations {
    fn read(event: &CheckedEvent<'_>) -> CallOperations {
        let directory = event.opened.directory.clone();
        let tool = event.call.tool.as_ref();
        let proposal = tool.map(|tool| read_proposal(event.input, event.call.hook, tool));
        CallOperations { proposal: proposal.unwrap_or_default(), directory }
    }

    fn list(&self) -> Vec<Operation<'_>> {
        let lines = self.proposal.commands.iter();
        let shell = lines.map(|line| Operation::Shell { line, directory: Some(&self.directory) });
        self.proposal.changes.iter().map(operation_of).chain(shell).collect()
    }
}

fn operation_of(change: &ProposedChange) -> Operation<'_> {
    let path = change.path.as_path();
    match (change.kind, change.edits.as_slice()) {
        (ProposalKind::Delete, _) => Operation::Delete { path },
        (ProposalKind::Write | ProposalKind::Create, [only]) if only.old.is_empty() => {
            Operation::Write { path, text: Some(Cow::Borrowed(&only.new)) }
        }
        (ProposalKind::Write | ProposalKind::Create, []) => Operation::Write { path, text: None },
        (_, edits) => {
            let replacements = edits.iter().map(|edit| Replacement {
                old: Cow::Borrowed(edit.old.as_str()),
                new: Cow::Borrowed(edit.new.as_str()),
                replaces_all: edit.is_everywhere,
            });
            Operation::Edit { path, replacements: replacements.collect() }
        }
    }
}

/// Returns what happened before in the session, if a rule asks for it.
fn past_events(event: &CheckedEvent<'_>, rules: &RuleSet) -> Vec<PastEvent> {
    match session_of(event.call) {
        Some(session) if rules.rules().iter().any(|rule| needs_past(&rule.check)) => {
            WorkRecord::of_session(event.system, event.call.client, session).read().events
        }
        _ => Vec::new(),
    }
}

/// Returns whether a check about a call asks for what happened before it.
fn needs_past(check: &RuleCheck) -> bool {
    check.demands.iter().any(|demand| match &demand.subject {
        Subject::Skill { .. } => true,
        Subject::Run { before, .. } => *before == RunLimit::Commit,
        _ => false,
    })
}

/// Returns whether a check asks for what a session did.
fn needs_record(check: &RuleCheck) -> bool {
    needs_past(check) || check.is_about_turns()
}

/// Checks a call before it runs.
pub(super) fn check_before(event: &CheckedEvent<'_>, rules: &RuleSet) -> CheckAnswer {
    let operations = CallOperations::read(event);
    if let Some(refusal) = guard::refuse_hook_change(event, rules, &operations.proposal) {
        return refusal;
    }
    let past = past_events(event, rules);
    let tree = PathTree { project: &event.opened.project, directory: &event.opened.directory };
    let listed = operations.list();
    let work = Work::from_operations(&listed, &tree, &past);
    let mut receipts = Vec::new();
    let broken = find_broken(event, rules, &work, &mut receipts);
    // What cannot be judged before the call is judged after it.
    receipts.clear();
    note_broken(event, &broken);
    let mut decided: Vec<BrokenRule<'_>> = Vec::new();
    let root = event.opened.project.root().path();
    for rule in broken.into_iter().filter(|rule| rule.enforcement >= Enforcement::Ask) {
        if (AllowedRule { root, id: rule.id() }).use_for_call(event.system) {
            receipts.push(rule.receipt(CheckOutcome::Allowed));
        } else {
            decided.push(rule);
        }
    }
    let Some(strongest) = decided.iter().map(|rule| rule.enforcement).max() else {
        return CheckAnswer { receipts, ..CheckAnswer::default() };
    };
    let can_ask = !event.call.hook.ask.is_empty();
    let (effect, outcome) = if strongest == Enforcement::Ask && can_ask {
        (AnswerEffect::Ask, CheckOutcome::Asked)
    } else {
        (AnswerEffect::Refuse, CheckOutcome::Refused)
    };
    receipts.extend(decided.iter().map(|rule| rule.receipt(outcome)));
    let text = words::render_refusal(event, &decided, effect);
    let is_silent = event.call.hook.enforcement.as_ref().is_none_or(|facts| facts.silent);
    let notice = is_silent.then(|| words::render_notice(event, &decided, outcome));
    CheckAnswer { said: Some((effect, text)), notice, receipts }
}

/// Checks a call after it has run: rules that warn, and what nobody could see before.
pub(super) fn check_after(event: &CheckedEvent<'_>, rules: &RuleSet) -> CheckAnswer {
    let operations = CallOperations::read(event);
    let has_failed = event.call.tool.as_ref().is_some_and(|tool| tool.has_failed);
    let tree = PathTree { project: &event.opened.project, directory: &event.opened.directory };
    let past = past_events(event, rules);
    let listed = operations.list();
    let after = AfterTree { tree: &tree, event, is_all_new: false };
    let mut work = Work::from_operations(&listed, &after, &past);
    let shown: Vec<Arc<str>> = work.files.iter().map(|file| Arc::clone(&file.path)).collect();
    let found = hidden::find_hidden_changes(event, rules, &operations.proposal, &shown);
    let mut receipts: Vec<ReceiptCheck> = Vec::new();
    if let Some(reason) = found.not_checked {
        receipts.push(ReceiptCheck {
            rule: String::new(),
            outcome: CheckOutcome::NotChecked,
            finding: reason.to_owned(),
        });
    }
    note_events(event, rules, &operations.proposal, (&work, &found.files), has_failed);
    if has_failed {
        return CheckAnswer { receipts, ..CheckAnswer::default() };
    }
    let mut told: Vec<BrokenRule<'_>> = Vec::new();
    let root = event.opened.project.root().path();
    let mut visible = find_broken(event, rules, &work, &mut receipts);
    if rules.rules().iter().any(|rule| was_broken(event, &rule.id)) {
        let tree = AfterTree { is_all_new: true, ..after };
        let all = Work::from_operations(&listed, &tree, &past);
        let all = find_broken(event, rules, &all, &mut Vec::new());
        visible.retain(|rule| !was_broken(event, rule.id()));
        visible.extend(all.into_iter().filter(|rule| was_broken(event, rule.id())));
        receipts.retain(|check| !was_broken(event, &check.rule));
    }
    work.files = found.files;
    work.commands.clear();
    work.messages.clear();
    let hidden = if work.files.is_empty() {
        Vec::new()
    } else {
        receipts.retain(|check| check.rule.is_empty());
        find_broken(event, rules, &work, &mut receipts)
    };
    let is_decided_before = |rule: &BrokenRule<'_>| {
        rule.enforcement >= Enforcement::Ask && !event.call.hook.events.before.is_empty()
    };
    for rule in visible.into_iter().filter(|rule| !is_decided_before(rule)).chain(hidden) {
        let outcome = match rule.enforcement {
            Enforcement::Observe => CheckOutcome::Observed,
            _ if (AllowedRule { root, id: rule.id() }).use_for_call(event.system) => {
                CheckOutcome::Allowed
            }
            _ => CheckOutcome::Warned,
        };
        receipts.push(rule.receipt(outcome));
        let is_new = !told.iter().any(|known| known.id() == rule.id());
        if outcome == CheckOutcome::Warned && is_new {
            told.push(rule);
        }
    }
    if told.is_empty() {
        return CheckAnswer { receipts, ..CheckAnswer::default() };
    }
    let text = words::render_warning(event, &told);
    let notice = Some(words::render_notice(event, &told, CheckOutcome::Warned));
    CheckAnswer { said: Some((AnswerEffect::Inform, text)), notice, receipts }
}

/// Records what a call did, where a rule asks for it at the end of the turn or before a later call.
fn note_events(
    event: &CheckedEvent<'_>,
    rules: &RuleSet,
    proposal: &Proposal,
    (work, hidden): (&Work<'_>, &[brief_checks::rules::FileChange<'_>]),
    has_failed: bool,
) {
    let Some(session) = session_of(event.call) else { return };
    if !rules.rules().iter().any(|rule| needs_record(&rule.check)) {
        return;
    }
    let mut events: Vec<PastEvent> = Vec::new();
    if !has_failed {
        let files = work.files.iter().chain(hidden);
        events.extend(files.map(|file| PastEvent::Edited { path: Arc::clone(&file.path) }));
        events.extend(
            proposal.skill.iter().map(|skill| PastEvent::Loaded { skill: skill.as_str().into() }),
        );
    }
    let has_succeeded = !has_failed && !proposal.has_failed;
    events.extend(proposal.commands.iter().map(|line| PastEvent::Ran {
        line: line.as_str().into(),
        directory: None,
        has_succeeded,
    }));
    WorkRecord::of_session(event.system, event.call.client, session).note_events(&events);
}

/// Notes the rules that a call is about to break without being stopped: afterwards, a file that it has rewritten no longer
/// shows which of its lines are new.
fn note_broken(event: &CheckedEvent<'_>, broken: &[BrokenRule<'_>]) {
    let Some(memory) = event.memory else { return };
    let told = broken.iter().filter(|rule| rule.enforcement < Enforcement::Ask);
    let claim =
        |rule: &BrokenRule<'_>| Claim { fingerprint: broken_mark(event, rule.id()), tokens: 0 };
    let claims: Vec<Claim> = told.map(claim).collect();
    if !claims.is_empty() {
        memory.claim_entries(&claims, &[], &mut DeliveredEntries::default());
    }
}

/// Returns whether a rule was broken by this call before it ran.
fn was_broken(event: &CheckedEvent<'_>, id: &str) -> bool {
    event.known.contains(&broken_mark(event, id))
}

/// Returns the mark of a rule and a call. Not every client names its calls.
fn broken_mark(event: &CheckedEvent<'_>, id: &str) -> String {
    let call = event.call.trace.call.as_deref().unwrap_or_default();
    let touches = match &event.call.moment {
        HookMoment::Tool { touches, .. } => touches.as_slice(),
        _ => &[],
    };
    let paths: Vec<&str> = touches.iter().filter_map(|touch| touch.path.to_str()).collect();
    fingerprint_parts(&["broken", call, &paths.join("\n"), id])
}

/// The files of a project after a call. An edit no longer applies to them: its own lines are what it added.
#[derive(Clone, Copy)]
struct AfterTree<'t> {
    tree: &'t PathTree<'t>,
    event: &'t CheckedEvent<'t>,
    /// True if every file counts as one that the call has made.
    is_all_new: bool,
}

impl ProjectTree for AfterTree<'_> {
    fn locate(&self, directory: Option<&Path>, path: &Path) -> Option<TreePath> {
        let place = self.tree.locate(directory, path)?;
        let path = self.event.opened.directory.join(path);
        let mark = fingerprint_parts(&["created", &path.to_string_lossy()]);
        let is_new = self.is_all_new || self.event.known.contains(&mark);
        Some(TreePath { exists: place.exists && !is_new, ..place })
    }

    fn read_text(&self, _: &str) -> Option<String> {
        None
    }
}
