//! The examples of a check: each is evaluated like work.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use brief_dialects::rule_check::{
    CheckExample, Demand, ExampleKind, ExampleParts, MessageKind, RunLimit, Subject, Verb,
};
use brief_syntax::Span;

use super::bind::BoundRule;
use super::call::{ProjectTree, TreePath};
use super::commands::read_command_line;
use super::evaluate::{Budget, Judge};
use super::work::{
    AddedRun, AddedText, FileChange, FileChangeKind, PastEvent, Work, WorkKind, WorkMessage,
};
use super::{Verdict, messages};

/// The file of an example that names none.
const SOME_FILE: &str = "example";

/// An example that does not show what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleFailure {
    pub span: Span,
    pub problem: ExampleProblem,
    /// The verdict about it.
    pub verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExampleProblem {
    /// It should break the rule, and does not.
    NotBroken,
    /// It should keep the rule, and does not.
    NotKept,
}

/// Runs the examples of a rule, and returns those that fail.
pub fn run_examples(rule: &BoundRule, mut budget: Budget) -> Vec<ExampleFailure> {
    let examples = &rule.check.examples;
    let broken = examples.broken.iter().map(|example| (example, ExampleProblem::NotBroken));
    let kept = examples.kept.iter().map(|example| (example, ExampleProblem::NotKept));
    let mut failures = Vec::new();
    for (example, problem) in broken.chain(kept) {
        let verdict = judge_example(rule, example, &mut budget);
        let is_right = match problem {
            ExampleProblem::NotBroken => verdict == Verdict::Broken,
            ExampleProblem::NotKept => matches!(verdict, Verdict::Kept | Verdict::NoOccasion),
        };
        if !is_right {
            failures.push(ExampleFailure { span: example.span, problem, verdict });
        }
    }
    failures
}

fn judge_example(rule: &BoundRule, example: &CheckExample, budget: &mut Budget) -> Verdict {
    match &example.kind {
        ExampleKind::Plain(text) => {
            let verdicts =
                rule.check.demands.iter().map(|demand| judge_plain(rule, demand, text, budget));
            verdicts.max().unwrap_or(Verdict::NoOccasion)
        }
        ExampleKind::Parts(parts) => judge_parts(rule, parts, budget),
    }
}

/// Judges a text as what a demand is about, wherever it would be.
fn judge_plain(rule: &BoundRule, demand: &Demand, text: &str, budget: &mut Budget) -> Verdict {
    let mut work = Work::default();
    let file = |kind| FileChange::of_path(text, kind);
    match &demand.subject {
        Subject::Command { .. } => work.commands = read_command_line(text, None, &AnyTree),
        Subject::Text { .. } => {
            let run = AddedRun { first_line: Some(1), text: Cow::Borrowed(text) };
            work.files = vec![FileChange {
                added: AddedText::Runs(vec![run]),
                final_text: Some(Cow::Borrowed(text)),
                ..FileChange::of_path(SOME_FILE, FileChangeKind::Create)
            }];
        }
        Subject::Path { change, .. } => {
            use brief_dialects::rule_check::PathChange;
            let kind = match change {
                PathChange::Create => FileChangeKind::Create,
                PathChange::Change => FileChangeKind::Change,
                PathChange::Delete => FileChangeKind::Delete,
            };
            work.files = vec![file(kind)];
        }
        Subject::Change { .. } => {
            work.kind = WorkKind::ChangeSet;
            let paths = text.split_ascii_whitespace();
            work.files =
                paths.map(|path| FileChange::of_path(path, FileChangeKind::Write)).collect();
        }
        Subject::Run { before, .. } => {
            let edit = PastEvent::Edited { path: SOME_FILE.into() };
            let ran = PastEvent::Ran { line: text.into(), directory: None, has_succeeded: true };
            work.past = Cow::Owned(vec![edit, ran]);
            match before {
                RunLimit::Stop => work.kind = WorkKind::TurnEnd,
                RunLimit::Commit => {
                    work.commands = read_command_line("git commit", None, &AnyTree);
                }
            }
        }
        Subject::Skill { .. } => {
            work.files = vec![FileChange::of_path(SOME_FILE, FileChangeKind::Change)];
            work.past = Cow::Owned(vec![PastEvent::Loaded { skill: text.into() }]);
        }
        Subject::Message { on, .. } => {
            let kind = if on.commit { MessageKind::Commit } else { MessageKind::PullRequest };
            work.messages = vec![WorkMessage { kind, text: Some(Cow::Borrowed(text)) }];
        }
    }
    let mut judge = Judge::new(rule, &work, budget);
    judge.keeps_scope = false;
    judge.judge(0).verdict
}

/// Judges an example that names its parts, in the scope of the rule.
fn judge_parts(rule: &BoundRule, parts: &ExampleParts, budget: &mut Budget) -> Verdict {
    let below = |path: &str| -> Arc<str> {
        match rule.directory.as_str() {
            "" => path.into(),
            directory => format!("{directory}/{path}").into(),
        }
    };
    let mut files = Vec::new();
    for (paths, kind) in [
        (&parts.create, FileChangeKind::Create),
        (&parts.change, FileChangeKind::Change),
        (&parts.delete, FileChangeKind::Delete),
    ] {
        files.extend(paths.iter().map(|path| FileChange::of_path(below(path), kind)));
    }
    if let Some(text) = &parts.text {
        let path = below(parts.within.as_deref().unwrap_or(SOME_FILE));
        let is_there = |file: &&mut FileChange<'_>| file.path == path;
        if files.iter_mut().find(is_there).is_none() {
            files.push(FileChange::of_path(Arc::clone(&path), FileChangeKind::Create));
        }
        for file in files.iter_mut().filter(|file| file.path == path) {
            let run = AddedRun { first_line: Some(1), text: Cow::Owned(text.to_string()) };
            file.added = AddedText::Runs(vec![run]);
            file.final_text = Some(Cow::Owned(text.to_string()));
        }
    }
    let mut past: Vec<PastEvent> =
        parts.skills.iter().map(|skill| PastEvent::Loaded { skill: Arc::clone(skill) }).collect();
    past.extend(files.iter().map(|file| PastEvent::Edited { path: Arc::clone(&file.path) }));
    let mut commands = Vec::new();
    let mut found = Vec::new();
    for line in &parts.commands {
        let directory = Path::new(&rule.directory);
        commands.extend(read_command_line(line, Some(directory), &AnyTree));
        found.extend(messages::find_messages(line));
    }
    let kind = parts.on.unwrap_or(MessageKind::Commit);
    let given = parts
        .message
        .iter()
        .map(|text| WorkMessage { kind, text: Some(Cow::Owned(text.to_string())) });
    found.extend(given);
    let is_whole = rule.check.demands.iter().any(|demand| {
        matches!(demand.subject, Subject::Change { .. } | Subject::Run { .. })
            && demand.verb == Verb::Require
    });
    let kind = if is_whole { WorkKind::TurnEnd } else { WorkKind::Call };
    let past = Cow::Owned(past);
    let work = Work { kind, files, commands, messages: found, past, ..Work::default() };
    let mut judge = Judge::new(rule, &work, budget);
    judge.keeps_scope = parts.within.is_some()
        || !(parts.create.is_empty() && parts.change.is_empty() && parts.delete.is_empty());
    judge.judge(0).verdict
}

/// A tree in which every relative path is in the project, as written.
struct AnyTree;

impl ProjectTree for AnyTree {
    fn locate(&self, _: Option<&Path>, path: &Path) -> Option<TreePath> {
        let path: Arc<str> = path.to_string_lossy().as_ref().into();
        (!path.starts_with('/')).then_some(TreePath { path, exists: false, is_directory: false })
    }

    fn read_text(&self, _: &str) -> Option<String> {
        None
    }
}
