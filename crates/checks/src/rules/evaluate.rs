//! The verdicts.

use std::sync::Arc;

use brief_dialects::Owner;
use brief_dialects::rule_check::{
    CheckGlob, Demand, MessageKinds, PathChange, PathCondition, RunLimit, Subject, Verb,
};

use brief_syntax::glob::covers_everything_inside;

use super::bind::{BoundRule, RuleSet};
use super::call::{ProjectTree, TreePath};
use super::commands::{CommandMatch, match_command, read_command_line};
use super::patterns::CompiledPattern;
use super::work::{AddedText, FileChange, FileChangeKind, PastEvent, Work, WorkKind};
use super::{Finding, FindingPlace, RuleVerdict, Verdict, shorten};

/// The limit for the findings that are listed for one rule.
const MOST_FINDINGS: usize = 20;

/// The steps of comparing a glob with a path, and a command with a pattern.
const COMPARE_STEPS: u64 = 600;

/// The reason for what did not fit into the budget.
const TOO_MUCH: &str = "the change is too large to check in time";

/// The work that an evaluation may do, in steps. A step is about the eighth of a nanosecond.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    pub(super) steps: u64,
}

impl Budget {
    /// The budget of one call: about 20 milliseconds.
    pub const CALL: Budget = Budget { steps: 120_000_000 };

    /// The budget of the examples of one rule.
    pub const EXAMPLES: Budget = Budget { steps: 1_200_000_000 };

    /// The budget of a change set: a few seconds.
    pub const CHANGE_SET: Budget = Budget { steps: 24_000_000_000 };

    /// Takes steps; false if they are not left.
    fn take(&mut self, steps: u64) -> bool {
        match self.steps.checked_sub(steps) {
            Some(rest) => {
                self.steps = rest;
                true
            }
            None => {
                self.steps = 0;
                false
            }
        }
    }
}

impl RuleSet {
    /// Judges work. The verdicts are in the order of the rules, one for each.
    pub fn evaluate(&self, work: &Work<'_>, mut budget: Budget) -> Vec<RuleVerdict> {
        let rules = self.rules.iter().enumerate();
        rules.map(|(index, rule)| Judge::new(rule, work, &mut budget).judge(index)).collect()
    }
}

/// Judges one rule.
pub(super) struct Judge<'j, 'w> {
    rule: &'j BoundRule,
    work: &'j Work<'w>,
    budget: &'j mut Budget,
    /// False in an example that names no file: the rule's scope does not count then.
    pub(super) keeps_scope: bool,
    findings: Vec<Finding>,
    count: usize,
    unknown: Option<&'static str>,
    /// True if one of the demands is about the work.
    has_occasion: bool,
}

impl<'j, 'w> Judge<'j, 'w> {
    pub(super) fn new(rule: &'j BoundRule, work: &'j Work<'w>, budget: &'j mut Budget) -> Self {
        Judge {
            rule,
            work,
            budget,
            keeps_scope: true,
            findings: Vec::new(),
            count: 0,
            unknown: None,
            has_occasion: false,
        }
    }

    pub(super) fn judge(mut self, index: usize) -> RuleVerdict {
        let rule = self.rule;
        for (number, demand) in rule.check.demands.iter().enumerate() {
            self.judge_demand(number, demand, &rule.patterns[number]);
        }
        let verdict = if self.count > 0 {
            Verdict::Broken
        } else if self.unknown.is_some() {
            Verdict::Unknown
        } else if self.has_occasion {
            Verdict::Kept
        } else {
            Verdict::NoOccasion
        };
        let unknown = self.unknown.filter(|_| verdict == Verdict::Unknown);
        RuleVerdict { rule: index, verdict, findings: self.findings, count: self.count, unknown }
    }

    fn judge_demand(&mut self, number: usize, demand: &Demand, patterns: &[CompiledPattern]) {
        if patterns.iter().any(|pattern| self.is_broken_pattern(pattern)) {
            self.unknown = Some("a pattern of the check does not compile");
            return;
        }
        match (&demand.subject, demand.verb) {
            (Subject::Command { .. }, _) => self.judge_commands(number, demand, patterns),
            (Subject::Text { .. }, Verb::Forbid) => self.judge_added(number, demand, patterns),
            (Subject::Text { .. }, Verb::Require) => self.judge_final(number, demand, patterns),
            (Subject::Path { change, globs }, _) => {
                self.judge_paths(number, demand, *change, globs);
            }
            (Subject::Change { globs, when }, _) => {
                self.judge_companions(number, demand, globs, when);
            }
            (Subject::Run { after, before, .. }, _) => {
                self.judge_run(number, demand, patterns, (after, *before));
            }
            (Subject::Skill { names }, _) => self.judge_skill(number, demand, names),
            (Subject::Message { on, .. }, verb) => {
                self.judge_messages(number, verb, patterns, *on);
            }
        }
    }

    /// Returns whether a pattern does not compile, if there is a budget to compile it.
    fn is_broken_pattern(&mut self, pattern: &CompiledPattern) -> bool {
        pattern.as_text().is_none()
            && self.budget.take(pattern.cost(0))
            && pattern.error().is_some()
    }

    fn find(&mut self, demand: usize, place: FindingPlace, message: impl FnOnce() -> String) {
        self.count += 1;
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(Finding { place, demand, message: message() });
        }
    }

    fn covers(&self, demand: &Demand, path: &str) -> bool {
        !self.keeps_scope || self.rule.covers_file(demand, path)
    }

    fn judge_commands(&mut self, number: usize, demand: &Demand, patterns: &[CompiledPattern]) {
        let work = self.work;
        if work.kind == WorkKind::ChangeSet {
            self.unknown = Some("a change set does not show the commands that ran");
            return;
        }
        let mut last: Option<&Arc<str>> = None;
        for call in &work.commands {
            let is_covered = match call.is_elsewhere {
                _ if !self.keeps_scope => Some(true),
                // A rule of the project is about the project, one of the user about all that an agent does.
                true => Some(self.rule.check.owner == Owner::User),
                false => self.rule.covers_directory(demand, call.directory.as_deref()),
            };
            if is_covered == Some(false) {
                continue;
            }
            if !self.budget.take(COMPARE_STEPS * patterns.len() as u64) {
                self.unknown = Some(TOO_MUCH);
                return;
            }
            self.has_occasion = true;
            let matches = patterns.iter().map(|pattern| (pattern, match_command(pattern, call)));
            let best = matches.max_by_key(|(_, found)| *found as u8);
            match best {
                Some((pattern, CommandMatch::Yes)) if is_covered == Some(true) => {
                    // `sudo npx tool` is one command, whichever of its programs is forbidden.
                    if last.is_some_and(|last| Arc::ptr_eq(last, &call.text)) {
                        continue;
                    }
                    last = Some(&call.text);
                    let place = FindingPlace::Command { text: call.text.to_string() };
                    self.find(number, place, || format!("runs `{}`", pattern.written));
                }
                Some((_, CommandMatch::Yes)) => {
                    self.unknown = Some("the directory of the command is not known");
                }
                _ if call.hides_more => {
                    self.unknown = Some("the command line does not show all that it runs");
                }
                Some((_, CommandMatch::Maybe)) => {
                    self.unknown = Some("the command line does not show what it runs");
                }
                _ => {}
            }
        }
    }

    fn judge_added(&mut self, number: usize, demand: &Demand, patterns: &[CompiledPattern]) {
        let work = self.work;
        self.mark_hidden_files();
        for file in &work.files {
            if file.kind == FileChangeKind::Delete
                || file.is_directory
                || !self.takes_file(demand, file)
            {
                continue;
            }
            let runs = match &file.added {
                AddedText::Runs(runs) => runs,
                AddedText::Unknown(reason) => {
                    self.has_occasion = true;
                    self.unknown = Some(reason);
                    continue;
                }
            };
            self.has_occasion |= !runs.is_empty();
            for run in runs {
                for pattern in patterns {
                    if !self.budget.take(pattern.cost(run.text.len())) {
                        self.unknown = Some(TOO_MUCH);
                        return;
                    }
                    self.search_run(number, file, (run.first_line, &run.text), pattern);
                }
            }
        }
    }

    fn search_run(
        &mut self,
        number: usize,
        file: &FileChange<'_>,
        (first_line, text): (Option<usize>, &str),
        pattern: &CompiledPattern,
    ) {
        let mut from = 0;
        // Lines are counted from the last match on.
        let (mut counted, mut line) = (0, first_line);
        while from <= text.len()
            && let Some(found) = pattern.find(text, from)
        {
            let breaks = memchr::memchr_iter(b'\n', &text.as_bytes()[counted..found.start]).count();
            line = line.map(|line| line + breaks);
            counted = found.start;
            let start = text[..found.start].rfind('\n').map_or(0, |at| at + 1);
            let end = text[found.start..].find('\n').map_or(text.len(), |at| found.start + at);
            let place = FindingPlace::Line {
                path: Arc::clone(&file.path),
                line,
                column: found.start - start + 1,
                length: found.end.min(end) - found.start,
                text: shorten(&text[start..end]),
            };
            self.find(number, place, || format!("adds `{}`", pattern.written));
            // One finding for each line is enough.
            from = end + 1;
            if self.count > MOST_FINDINGS && !self.budget.take(COMPARE_STEPS) {
                return;
            }
        }
    }

    fn judge_final(&mut self, number: usize, demand: &Demand, patterns: &[CompiledPattern]) {
        let work = self.work;
        for file in &work.files {
            if file.kind == FileChangeKind::Delete
                || file.is_directory
                || !self.takes_file(demand, file)
            {
                continue;
            }
            self.has_occasion = true;
            let Some(text) = &file.final_text else {
                self.unknown = Some("the text of a file after the change is not known");
                continue;
            };
            let mut has_text = false;
            for pattern in patterns {
                if !self.budget.take(pattern.cost(text.len())) {
                    self.unknown = Some(TOO_MUCH);
                    return;
                }
                has_text |= pattern.is_match(text);
            }
            if !has_text {
                let place = FindingPlace::File { path: Arc::clone(&file.path) };
                self.find(number, place, || format!("has no {}", list_patterns(patterns)));
            }
        }
    }

    fn mark_hidden_files(&mut self) {
        if self.work.hides_files {
            self.unknown = Some("the command line does not show all files that it writes");
        }
    }

    /// Returns whether a demand is about a file, and takes the steps of the question.
    fn takes_file(&mut self, demand: &Demand, file: &FileChange<'_>) -> bool {
        if !self.budget.take(COMPARE_STEPS) {
            self.unknown = Some(TOO_MUCH);
            return false;
        }
        if file.is_directory {
            return !self.keeps_scope
                || self.rule.covers_directory(demand, Some(&file.path)) == Some(true);
        }
        self.covers(demand, &file.path)
    }

    fn judge_paths(
        &mut self,
        number: usize,
        demand: &Demand,
        change: PathChange,
        globs: &[CheckGlob],
    ) {
        let work = self.work;
        self.mark_hidden_files();
        for file in &work.files {
            if !self.takes_file(demand, file) {
                continue;
            }
            let is_it = is_change_of(file.kind, change);
            self.has_occasion |= is_it;
            if !is_it {
                continue;
            }
            let found = if file.is_directory {
                self.match_directory(globs, &file.path)
            } else if globs.iter().any(|glob| self.matches_path(glob, &file.path)) {
                CommandMatch::Yes
            } else {
                CommandMatch::No
            };
            if found == CommandMatch::Maybe {
                self.unknown =
                    Some("the call does not show which files of a directory it is about");
            }
            if found == CommandMatch::Yes {
                let place = FindingPlace::File { path: Arc::clone(&file.path) };
                self.find(number, place, || format!("{}s it", change.as_str()));
            }
        }
    }

    /// Compares globs with everything in a directory: only where all of it matches is it certain that something does.
    fn match_directory(&self, globs: &[CheckGlob], path: &str) -> CommandMatch {
        let below = |glob: &CheckGlob| {
            let below = glob.relative_path(path, &self.rule.directory)?;
            Some((glob.glob().clone(), below.to_owned()))
        };
        let is_whole = |glob: &CheckGlob| {
            below(glob).is_some_and(|(glob, below)| {
                !below.is_empty() && covers_everything_inside(&[&glob], &below)
            })
        };
        let could = |glob: &CheckGlob| glob.could_match_inside(path, &self.rule.directory);
        if globs.iter().any(is_whole) || globs.iter().any(|glob| self.matches_path(glob, path)) {
            CommandMatch::Yes
        } else if globs.iter().any(could) {
            CommandMatch::Maybe
        } else {
            CommandMatch::No
        }
    }

    fn matches_path(&self, glob: &CheckGlob, path: &str) -> bool {
        glob.matches(path, &self.rule.directory)
    }

    fn judge_companions(
        &mut self,
        number: usize,
        demand: &Demand,
        globs: &[CheckGlob],
        when: &[PathCondition],
    ) {
        // A later call can still change the other file.
        if self.work.kind == WorkKind::Call {
            return;
        }
        let work = self.work;
        let mut trigger: Option<&FileChange<'_>> = None;
        let mut is_met = false;
        for file in &work.files {
            if !self.budget.take(COMPARE_STEPS * (globs.len() + when.len()) as u64) {
                self.unknown = Some(TOO_MUCH);
                return;
            }
            if globs.iter().any(|glob| self.matches_path(glob, &file.path)) {
                is_met |= file.kind != FileChangeKind::Delete;
                continue;
            }
            let is_meant = |condition: &PathCondition| {
                condition.change.is_none_or(|change| is_change_of(file.kind, change))
                    && self.matches_path(&condition.glob, &file.path)
            };
            if trigger.is_none() && self.covers(demand, &file.path) && when.iter().any(is_meant) {
                trigger = Some(file);
            }
        }
        let Some(trigger) = trigger else { return };
        self.has_occasion = true;
        if !is_met {
            let place = FindingPlace::File { path: Arc::clone(&trigger.path) };
            let globs: Vec<String> =
                globs.iter().map(|glob| format!("`{}`", glob.written())).collect();
            self.find(number, place, || format!("changes without {}", globs.join(" or ")));
        }
    }

    fn judge_run(
        &mut self,
        number: usize,
        demand: &Demand,
        patterns: &[CompiledPattern],
        (after, before): (&[CheckGlob], RunLimit),
    ) {
        let work = self.work;
        if work.kind == WorkKind::ChangeSet {
            self.unknown = Some("a change set does not show the commands that ran");
            return;
        }
        // The commands of this call that count, up to the commit.
        let own = match before {
            RunLimit::Stop if work.kind == WorkKind::TurnEnd => &work.commands[..],
            RunLimit::Stop => return,
            RunLimit::Commit => {
                let commit =
                    work.commands.iter().position(|call| call.is_call_of("git", &["commit"]));
                let Some(commit) = commit else { return };
                &work.commands[..commit]
            }
        };
        let is_meant = |path: &str| {
            self.covers(demand, path)
                && (after.is_empty() || after.iter().any(|glob| self.matches_path(glob, path)))
        };
        let is_edit =
            |event: &PastEvent| matches!(event, PastEvent::Edited { path } if is_meant(path));
        let Some(edit) = work.past.iter().rposition(is_edit) else { return };
        self.has_occasion = true;
        let mut best = CommandMatch::No;
        let mut has_failed = false;
        let calls_match = |calls: &[super::CommandCall]| {
            let all = calls
                .iter()
                .flat_map(|call| patterns.iter().map(|pattern| match_command(pattern, call)));
            all.max_by_key(|found| *found as u8).unwrap_or(CommandMatch::No)
        };
        for event in &work.past[edit + 1..] {
            let PastEvent::Ran { line, has_succeeded, .. } = event else { continue };
            if !self.budget.take(COMPARE_STEPS * (line.len() + patterns.len()) as u64) {
                self.unknown = Some(TOO_MUCH);
                return;
            }
            let found = calls_match(&read_command_line(line, None, &NoTree));
            if *has_succeeded {
                best = if found as u8 > best as u8 { found } else { best };
                has_failed &= found != CommandMatch::Yes;
            } else {
                has_failed |= found == CommandMatch::Yes;
            }
        }
        let found = calls_match(own);
        best = if found as u8 > best as u8 { found } else { best };
        match best {
            CommandMatch::Yes => {}
            CommandMatch::Maybe => {
                self.unknown = Some("the command line does not show what it runs");
            }
            CommandMatch::No => {
                let limit = match before {
                    RunLimit::Stop => "before the end of the turn",
                    RunLimit::Commit => "before the commit",
                };
                let how = if has_failed { "failed" } else { "did not run" };
                let names = list_patterns(patterns);
                self.find(number, FindingPlace::Turn, || {
                    format!("{names} {how} after the last edit and {limit}")
                });
            }
        }
    }

    fn judge_skill(&mut self, number: usize, demand: &Demand, names: &[Arc<str>]) {
        let work = self.work;
        if work.kind == WorkKind::ChangeSet {
            self.unknown = Some("a change set does not show the skills that were loaded");
            return;
        }
        if work.kind == WorkKind::TurnEnd {
            return;
        }
        let Some(file) = work.files.iter().find(|file| self.covers(demand, &file.path)) else {
            return;
        };
        self.has_occasion = true;
        let is_loaded = |event: &PastEvent| match event {
            PastEvent::Loaded { skill } => names.contains(skill),
            _ => false,
        };
        if !work.past.iter().any(is_loaded) {
            let place = FindingPlace::File { path: Arc::clone(&file.path) };
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let names = names.join(" or ");
            self.find(number, place, || format!("changes before the skill {names} was loaded"));
        }
    }

    fn judge_messages(
        &mut self,
        number: usize,
        verb: Verb,
        patterns: &[CompiledPattern],
        on: MessageKinds,
    ) {
        let work = self.work;
        for message in work.messages.iter().filter(|message| on.contains(message.kind)) {
            self.has_occasion = true;
            let Some(text) = &message.text else {
                self.unknown = Some("the command line does not show the message");
                continue;
            };
            let cost = patterns.iter().map(|pattern| pattern.cost(text.len())).sum();
            if !self.budget.take(cost) {
                self.unknown = Some(TOO_MUCH);
                return;
            }
            let found = patterns.iter().find(|pattern| pattern.is_match(text));
            let place = || FindingPlace::Message { text: shorten(text) };
            match (verb, found) {
                (Verb::Forbid, Some(pattern)) => {
                    self.find(number, place(), || format!("contains `{}`", pattern.written));
                }
                (Verb::Require, None) => {
                    let names = list_patterns(patterns);
                    self.find(number, place(), || format!("has no {names}"));
                }
                _ => {}
            }
        }
    }
}

/// Returns whether what happens to a file is this. A write may be a creation or a change.
fn is_change_of(kind: FileChangeKind, change: PathChange) -> bool {
    match change {
        PathChange::Create => matches!(kind, FileChangeKind::Create | FileChangeKind::Write),
        PathChange::Change => matches!(kind, FileChangeKind::Change | FileChangeKind::Write),
        PathChange::Delete => kind == FileChangeKind::Delete,
    }
}

fn list_patterns(patterns: &[CompiledPattern]) -> String {
    let names: Vec<String> =
        patterns.iter().map(|pattern| format!("`{}`", pattern.written)).collect();
    names.join(" or ")
}

/// A tree in which nothing is found: directories do not matter for what has run.
pub(super) struct NoTree;

impl ProjectTree for NoTree {
    fn locate(&self, _: Option<&std::path::Path>, _: &std::path::Path) -> Option<TreePath> {
        None
    }

    fn read_text(&self, _: &str) -> Option<String> {
        None
    }
}
