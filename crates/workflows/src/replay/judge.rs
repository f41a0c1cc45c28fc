//! The verdicts of rules' checks about one recorded session. Pure: nothing is read here, and no text of today counts.
//!
//! A violation needs one proof. "Kept" needs one for everything that the rule is about: where a record may hide a change of
//! files, a rule about files is *unknown*.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use brief_checks::rules::{
    AddedRun, AddedText, BoundRule, Budget, FileChange, FileChangeKind, FindingPlace, Operation,
    PastEvent, ProjectTree, RuleSet, TreePath, Verdict, Work, WorkKind, added_runs,
};
use brief_clients::transcript::{
    CallKind, ChangeAction, ChangedText, EventBody, Outcome, RecordedChange, RecordedSession,
    ToolCall,
};
use brief_dialects::rule_check::{Demand, RunLimit, Subject, Verb};

/// The reason for what a record does not show.
const HIDDEN: &str = "a command may have changed files that the record does not show";

/// A verdict about one occasion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Occasion {
    /// The rule, as a place in its set.
    pub(super) rule: usize,
    /// The event, as a place in the session; of a turn its last call.
    pub(super) event: usize,
    pub(super) verdict: Verdict,
    /// What breaks the rule: the place and the words.
    pub(super) findings: Vec<(FindingPlace, String)>,
    /// True if a later change took it back.
    pub(super) is_fixed: bool,
    pub(super) unknown: Option<&'static str>,
}

/// The verdicts about a session.
#[derive(Debug, Default)]
pub(super) struct SessionVerdicts {
    pub(super) occasions: Vec<Occasion>,
    /// The event after which a record may hide changes of files, if there is one.
    pub(super) hidden: Option<usize>,
}

impl SessionVerdicts {
    /// Returns the reason why a rule without a violation cannot be called kept, if there is one.
    pub(super) fn hidden_reason(&self, rule: &BoundRule) -> Option<&'static str> {
        (self.hidden.is_some() && rule.check.demands.iter().any(is_about_files)).then_some(HIDDEN)
    }
}

/// Judges all calls and turns of a session.
pub(super) fn judge_session(
    session: &RecordedSession,
    rules: &RuleSet,
    root: &Path,
) -> SessionVerdicts {
    let mut judge = SessionJudge {
        tree: RecordedTree { root },
        base: session.directory.as_deref(),
        rules,
        past: Vec::new(),
        turn: Turn::default(),
        texts: BTreeMap::new(),
        verdicts: SessionVerdicts::default(),
    };
    for (index, event) in session.events.iter().enumerate() {
        match &event.body {
            EventBody::Prompt => judge.end_turn(),
            EventBody::Call(call) => judge.judge_call(index, call),
            EventBody::Loaded(_) | EventBody::Compaction => {}
        }
    }
    // A session that is still being written has not ended its turn.
    if !session.is_open() {
        judge.end_turn();
    }
    if session.gaps.may_hide_calls() {
        judge.verdicts.hidden.get_or_insert(0);
    }
    judge.mark_fixed();
    judge.verdicts
}

/// The turn of an agent so far.
#[derive(Default)]
struct Turn {
    files: BTreeMap<Arc<str>, FileChangeKind>,
    last_call: Option<usize>,
    is_hidden: bool,
}

struct SessionJudge<'j> {
    tree: RecordedTree<'j>,
    /// The directory that relative paths start at.
    base: Option<&'j Path>,
    rules: &'j RuleSet,
    past: Vec<PastEvent>,
    turn: Turn,
    /// The last known text of each file, and the event that left it so; `None` if it is not known, empty if it was deleted.
    texts: BTreeMap<Arc<str>, (usize, Option<String>)>,
    verdicts: SessionVerdicts,
}

impl SessionJudge<'_> {
    fn judge_call(&mut self, index: usize, call: &ToolCall) {
        let has_run = !matches!(call.outcome, Outcome::Denied(_));
        if !has_run {
            return;
        }
        self.turn.last_call = Some(index);
        let directory = call.directory.as_deref().or(self.base);
        let located: Vec<(Arc<str>, &RecordedChange)> = call
            .changes
            .known()
            .iter()
            .filter_map(|change| {
                let place = self.tree.locate(directory, &change.path)?;
                Some((place.path, change))
            })
            .collect();
        let past = std::mem::take(&mut self.past);
        let operations: Vec<Operation<'_>> =
            call.commands.iter().map(|line| Operation::Shell { line, directory }).collect();
        let mut work = Work::from_operations(&operations, &self.tree, &past);
        // What ran for certain is judged; a command of which nobody knows whether it ran is not.
        let is_certain = !matches!(call.outcome, Outcome::Unfinished);
        if !is_certain {
            work.commands.clear();
            work.messages.clear();
        }
        self.evaluate_call(index, work, &located);
        self.past = past;
        self.record_past(index, call, directory, &located);
        if !call.changes.is_exact() {
            self.verdicts.hidden.get_or_insert(index);
            self.turn.is_hidden = true;
        }
    }

    fn evaluate_call<'w>(
        &mut self,
        index: usize,
        mut work: Work<'w>,
        located: &'w [(Arc<str>, &'w RecordedChange)],
    ) {
        // A write may have been a creation or a change: a verdict has to hold for both.
        let is_ambiguous = located.iter().any(|(_, change)| change.action == ChangeAction::Write);
        let has_parts =
            located.iter().any(|(_, change)| matches!(change.text, ChangedText::Parts(_)));
        let files = |write: FileChangeKind| -> Vec<FileChange<'w>> {
            located.iter().map(|(path, change)| describe_change(path, change, write)).collect()
        };
        work.files = files(FileChangeKind::Change);
        if work.files.is_empty() && work.commands.is_empty() && work.messages.is_empty() {
            return;
        }
        let mut verdicts = self.rules.evaluate(&work, Budget::CALL);
        if is_ambiguous {
            work.files = files(FileChangeKind::Create);
            let others = self.rules.evaluate(&work, Budget::CALL);
            for (verdict, other) in verdicts.iter_mut().zip(others) {
                if verdict.verdict != other.verdict {
                    verdict.verdict = Verdict::Unknown;
                    verdict.unknown = Some("the record does not show whether the file was new");
                    verdict.findings.clear();
                }
            }
        }
        for verdict in verdicts {
            let number = verdict.rule;
            let Some(rule) = self.rules.get(number) else { continue };
            let demands = &rule.check.demands;
            if demands.iter().all(is_about_turns) {
                continue;
            }
            let findings: Vec<_> = verdict
                .findings
                .into_iter()
                .filter(|finding| !demands.get(finding.demand).is_some_and(is_about_turns))
                .map(|finding| (finding.place, finding.message))
                .collect();
            let (mut verdict, mut unknown) = (verdict.verdict, verdict.unknown);
            if verdict == Verdict::Broken && findings.is_empty() {
                verdict = Verdict::Kept;
            }
            // A part of a line says nothing about the rest of it.
            if verdict == Verdict::Kept && has_parts && rule.check.needs_text() {
                verdict = Verdict::Unknown;
                unknown = Some("the record shows only parts of the lines that were changed");
            }
            self.add_occasion(verdict_of(verdict, (number, index), findings, unknown));
        }
    }

    fn add_occasion(&mut self, occasion: Option<Occasion>) {
        self.verdicts.occasions.extend(occasion);
    }

    fn record_past(
        &mut self,
        index: usize,
        call: &ToolCall,
        directory: Option<&Path>,
        located: &[(Arc<str>, &RecordedChange)],
    ) {
        for (path, change) in located {
            let kind = kind_of(change.action, FileChangeKind::Write);
            let known = self.turn.files.get(path).copied();
            let merged = match (known, kind) {
                (Some(FileChangeKind::Create), FileChangeKind::Delete) => None,
                (Some(FileChangeKind::Create), _) => Some(FileChangeKind::Create),
                _ => Some(kind),
            };
            match merged {
                Some(kind) => drop(self.turn.files.insert(Arc::clone(path), kind)),
                None => drop(self.turn.files.remove(path)),
            }
            let text = match (&change.text, change.action) {
                (_, ChangeAction::Delete) => Some(String::new()),
                (ChangedText::Whole { after, .. }, _) => Some(after.clone()),
                _ => None,
            };
            self.texts.insert(Arc::clone(path), (index, text));
            self.past.push(PastEvent::Edited { path: Arc::clone(path) });
        }
        let below = directory
            .and_then(|directory| self.tree.locate(None, directory))
            .map(|place| place.path);
        for line in &call.commands {
            self.past.push(PastEvent::Ran {
                line: line.as_str().into(),
                directory: below.clone(),
                has_succeeded: call.outcome == Outcome::Ok,
            });
        }
        if let Some(skill) = &call.skill
            && call.outcome == Outcome::Ok
        {
            self.past.push(PastEvent::Loaded { skill: skill.as_str().into() });
        }
    }

    fn end_turn(&mut self) {
        let turn = std::mem::take(&mut self.turn);
        let Some(index) = turn.last_call else { return };
        let texts = &self.texts;
        let files = turn.files.iter().map(|(path, kind)| FileChange {
            added: AddedText::Runs(Vec::new()),
            final_text: texts.get(path).and_then(|(_, text)| text.as_deref()).map(Cow::Borrowed),
            ..FileChange::of_path(Arc::clone(path), *kind)
        });
        let work = Work {
            kind: WorkKind::TurnEnd,
            files: files.collect(),
            past: Cow::Borrowed(&self.past),
            ..Work::default()
        };
        let mut found = Vec::new();
        for verdict in self.rules.evaluate(&work, Budget::CALL) {
            let number = verdict.rule;
            let Some(rule) = self.rules.get(number) else { continue };
            let demands = &rule.check.demands;
            if !demands.iter().any(is_about_turns) {
                continue;
            }
            let findings: Vec<_> = verdict
                .findings
                .into_iter()
                .filter(|finding| demands.get(finding.demand).is_some_and(is_about_turns))
                .map(|finding| (finding.place, finding.message))
                .collect();
            let (mut verdict, mut unknown) = (verdict.verdict, verdict.unknown);
            if verdict == Verdict::Broken && findings.is_empty() {
                continue;
            }
            // What is missing may have been written by a command.
            let is_about_changes =
                demands.iter().any(|demand| matches!(demand.subject, Subject::Change { .. }));
            if turn.is_hidden && is_about_changes && verdict == Verdict::Broken {
                (verdict, unknown) = (Verdict::Unknown, Some(HIDDEN));
            }
            found.push(verdict_of(verdict, (number, index), findings, unknown));
        }
        drop(work);
        for occasion in found {
            self.add_occasion(occasion);
        }
    }

    /// Marks violations that the session itself took back.
    fn mark_fixed(&mut self) {
        let last_turn: BTreeMap<usize, (usize, Verdict)> = self
            .verdicts
            .occasions
            .iter()
            .map(|occasion| (occasion.rule, (occasion.event, occasion.verdict)))
            .collect();
        for occasion in &mut self.verdicts.occasions {
            if occasion.verdict != Verdict::Broken {
                continue;
            }
            let Some(rule) = self.rules.get(occasion.rule) else { continue };
            if rule.check.demands.iter().all(is_about_turns) {
                let last = last_turn.get(&occasion.rule);
                occasion.is_fixed = last.is_some_and(|(event, verdict)| {
                    *event > occasion.event && *verdict == Verdict::Kept
                });
                continue;
            }
            let is_gone = |(place, message): &(FindingPlace, String)| match place {
                FindingPlace::Line { path, text, .. } => {
                    let last = self.texts.get(path).filter(|(event, _)| *event > occasion.event);
                    let known = last.and_then(|(_, after)| after.as_deref());
                    known.is_some_and(|after| !after.lines().any(|line| line.trim() == text.trim()))
                }
                FindingPlace::File { path } if message.starts_with("create") => {
                    let last = self.texts.get(path).filter(|(event, _)| *event > occasion.event);
                    last.is_some_and(|(_, after)| after.as_deref() == Some(""))
                }
                _ => false,
            };
            occasion.is_fixed =
                !occasion.findings.is_empty() && occasion.findings.iter().all(is_gone);
        }
    }
}

fn verdict_of(
    verdict: Verdict,
    (rule, event): (usize, usize),
    findings: Vec<(FindingPlace, String)>,
    unknown: Option<&'static str>,
) -> Option<Occasion> {
    let findings = if verdict == Verdict::Broken { findings } else { Vec::new() };
    (verdict != Verdict::NoOccasion).then_some(Occasion {
        rule,
        event,
        verdict,
        findings,
        is_fixed: false,
        unknown,
    })
}

/// Returns whether only the end of a turn shows what a demand is about.
fn is_about_turns(demand: &Demand) -> bool {
    match &demand.subject {
        Subject::Run { before, .. } => *before == RunLimit::Stop,
        Subject::Change { .. } => true,
        Subject::Text { .. } => demand.verb == Verb::Require,
        _ => false,
    }
}

/// Returns whether a change of files that nobody sees can break it.
fn is_about_files(demand: &Demand) -> bool {
    matches!(demand.subject, Subject::Text { .. } | Subject::Path { .. } | Subject::Change { .. })
}

fn kind_of(action: ChangeAction, write: FileChangeKind) -> FileChangeKind {
    match action {
        ChangeAction::Create => FileChangeKind::Create,
        ChangeAction::Edit => FileChangeKind::Change,
        ChangeAction::Delete => FileChangeKind::Delete,
        ChangeAction::Write => write,
    }
}

fn describe_change<'c>(
    path: &Arc<str>,
    change: &'c RecordedChange,
    write: FileChangeKind,
) -> FileChange<'c> {
    let plain = FileChange::of_path(Arc::clone(path), kind_of(change.action, write));
    match &change.text {
        ChangedText::Unknown => plain,
        ChangedText::Added(lines) => {
            let runs = lines.iter().map(|lines| AddedRun {
                first_line: lines.first,
                text: Cow::Borrowed(lines.text.as_str()),
            });
            FileChange { added: AddedText::Runs(runs.collect()), ..plain }
        }
        ChangedText::Whole { before: Some(before), after } => {
            let added = AddedText::Runs(added_runs(before, after));
            FileChange { added, final_text: Some(Cow::Borrowed(after)), ..plain }
        }
        ChangedText::Whole { before: None, after } => {
            let added = AddedText::Unknown("the record does not show the text before the change");
            FileChange { added, final_text: Some(Cow::Borrowed(after)), ..plain }
        }
        ChangedText::Parts(parts) => {
            let runs = parts
                .iter()
                .flat_map(|(old, new)| added_runs(old, new))
                .map(|run| AddedRun { first_line: None, ..run });
            FileChange { added: AddedText::Runs(runs.collect()), ..plain }
        }
    }
}

/// The project as a record sees it: by names alone, because the files of today are others.
struct RecordedTree<'r> {
    root: &'r Path,
}

impl ProjectTree for RecordedTree<'_> {
    fn locate(&self, directory: Option<&Path>, path: &Path) -> Option<TreePath> {
        let below = locate_below(self.root, directory, path)?;
        Some(TreePath { path: below.into(), exists: true, is_directory: false })
    }

    fn read_text(&self, _: &str) -> Option<String> {
        None
    }
}

/// Returns a path below the root, with `/` between names.
pub(super) fn locate_below(root: &Path, directory: Option<&Path>, path: &Path) -> Option<String> {
    let base = directory.filter(|directory| directory.is_absolute()).unwrap_or(root);
    let mut clean = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    let below = clean.strip_prefix(root).ok()?;
    let names: Vec<_> = below.iter().map(|name| name.to_string_lossy()).collect();
    Some(names.join("/"))
}

/// Returns the files that a call touches below the root, each with what it does.
pub(super) fn touched_files(
    session: &RecordedSession,
    call: &ToolCall,
    root: &Path,
) -> Vec<(String, brief_engine::Action)> {
    use brief_engine::Action;
    let directory = call.directory.as_deref().or(session.directory.as_deref());
    let mut all: Vec<(String, Action)> = Vec::new();
    let mut add = |path: &Path, action| {
        if let Some(path) = locate_below(root, directory, path).filter(|path| !path.is_empty())
            && !all.contains(&(path.clone(), action))
        {
            all.push((path, action));
        }
    };
    if call.kind != CallKind::Search {
        call.reads.iter().for_each(|path| add(path, Action::Read));
    }
    for change in call.changes.known() {
        let action = match change.action {
            ChangeAction::Create => Action::Create,
            _ => Action::Edit,
        };
        add(&change.path, action);
    }
    all
}
