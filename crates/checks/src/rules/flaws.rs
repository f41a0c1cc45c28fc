//! What is wrong with checks: examples that fail, patterns that never or always match, rules that contradict each other.

use std::collections::HashMap;
use std::sync::Arc;

use brief_dialects::rule_check::{CheckGlob, Demand, Enforcement, MessageKind, Subject, Verb};
use brief_syntax::shell::parse_commands;
use brief_syntax::{Diagnostic, Rule, Span, rules};

use super::bind::{BoundRule, RuleSet};
use super::evaluate::{Budget, Judge, NoTree};
use super::patterns::CompiledPattern;
use super::work::{AddedRun, AddedText, FileChange, FileChangeKind, Work, WorkKind, WorkMessage};
use super::{ExampleProblem, Verdict, read_command_line, run_examples};

/// The most rules whose requirements are compared with what others forbid; more would take long.
const MOST_COMPARED: usize = 500;

/// Returns what is wrong with the checks of a project.
pub fn find_flaws(set: &RuleSet) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for rule in set.rules() {
        let mut finder = FlawFinder { rule, found: &mut found };
        finder.check_patterns();
        finder.check_reach();
        finder.check_examples();
    }
    check_ids(set, &mut found);
    check_contradictions(set, &mut found);
    found
}

impl BoundRule {
    /// Returns why the check is not enforced, whatever its rule asks for; `None` if it is. It runs the examples.
    pub fn why_not_enforced(&self) -> Option<&'static str> {
        if !self.broken_patterns().is_empty() {
            return Some("a pattern of its check does not compile");
        }
        let examples = &self.check.examples;
        let is_bare = examples.broken.is_empty() || examples.kept.is_empty();
        if self.check.enforce == Enforcement::Deny && is_bare {
            return Some("`enforce: deny` needs a broken and a kept example");
        }
        let has_failed = !run_examples(self, Budget::EXAMPLES).is_empty();
        has_failed.then_some("an example of its check fails")
    }
}

struct FlawFinder<'f> {
    rule: &'f BoundRule,
    found: &'f mut Vec<Diagnostic>,
}

impl FlawFinder<'_> {
    fn report(&mut self, kind: Rule, span: Span, message: String, help: impl Into<String>) {
        let diagnostic = Diagnostic::new(kind, &self.rule.check.source, span, message);
        self.found.push(diagnostic.with_help(help));
    }

    fn check_patterns(&mut self) {
        let broken: Vec<(Span, String)> = self
            .rule
            .broken_patterns()
            .into_iter()
            .map(|(span, error)| (span, format!("the pattern does not compile: {error}")))
            .collect();
        for (span, message) in broken {
            let help = "fix it; regular expressions have no look-around and no backreferences";
            self.report(rules::check::BAD_PATTERN, span, message, help);
        }
    }

    fn check_reach(&mut self) {
        let check = Arc::clone(&self.rule.check);
        for (number, demand) in check.demands.iter().enumerate() {
            match &demand.subject {
                Subject::Path { globs, .. } => {
                    self.check_globs(globs, true);
                    if demand.within.is_empty() && check.scope.coverage.is_none() {
                        self.check_wide_globs(globs, demand);
                    }
                }
                Subject::Change { globs, when } => {
                    self.check_globs(globs, true);
                    let when: Vec<CheckGlob> = when.iter().map(|one| one.glob.clone()).collect();
                    self.check_globs(&when, true);
                }
                Subject::Run { after, .. } => self.check_globs(after, true),
                _ => {}
            }
            self.check_globs(&demand.within, true);
            let rule = self.rule;
            for pattern in &rule.patterns[number] {
                self.check_pattern(demand, pattern);
            }
        }
    }

    /// Reports globs that match no file, whatever there is.
    fn check_globs(&mut self, globs: &[CheckGlob], is_file: bool) {
        for glob in globs {
            let written = glob.written();
            let is_directory = is_file && written.ends_with('/');
            let leaves = written.split('/').any(|name| name == "..");
            if is_directory || leaves || !glob.glob().could_match_inside("") {
                let message = format!("`{written}` never matches a file");
                let help = if is_directory {
                    format!("write `{written}**` for everything in it")
                } else {
                    "patterns count from the directory of the rule, or with a `/` before them from the root of the project".to_owned()
                };
                self.report(rules::check::NEVER_MATCHES, glob.span, message, help);
            }
        }
    }

    fn check_wide_globs(&mut self, globs: &[CheckGlob], demand: &Demand) {
        for glob in globs.iter().filter(|glob| matches!(glob.glob().as_str(), "**" | "**/*")) {
            let what = demand.subject.key();
            let message = format!("forbids to {what} any file");
            let help = "name the files, or narrow the rule with its own patterns or with `in`";
            self.report(rules::check::MATCHES_EVERYTHING, glob.span, message, help);
        }
    }

    fn check_pattern(&mut self, demand: &Demand, pattern: &CompiledPattern) {
        let is_command = matches!(demand.subject, Subject::Command { .. } | Subject::Run { .. });
        if let Some(text) = pattern.as_text() {
            let never = if is_command && parse_commands(text).len() != 1 {
                Some("a pattern for commands is one program with its first words")
            } else if !is_command
                && demand.verb == Verb::Forbid
                && matches!(demand.subject, Subject::Text { .. })
                && text.contains('\n')
            {
                Some("a line has no line break in it")
            } else {
                None
            };
            if let Some(reason) = never {
                let message = format!("`{}` never matches: {reason}", super::shorten(text));
                let help = "write several patterns as a list";
                self.report(rules::check::NEVER_MATCHES, pattern.span, message, help);
            }
            return;
        }
        let is_wide = pattern.error().is_none() && pattern.is_match("");
        if is_wide && demand.verb == Verb::Forbid {
            let message = format!("`{}` matches everything, even an empty text", pattern.written);
            let help = "remove `*` or `?` where it makes the whole pattern optional";
            self.report(rules::check::MATCHES_EVERYTHING, pattern.span, message, help);
        } else if is_wide {
            let message =
                format!("`{}` matches an empty text, so it requires nothing", pattern.written);
            self.report(rules::check::NEVER_MATCHES, pattern.span, message, "require some text");
        }
    }

    fn check_examples(&mut self) {
        let check = Arc::clone(&self.rule.check);
        let examples = &check.examples;
        if check.enforce == Enforcement::Deny
            && (examples.broken.is_empty() || examples.kept.is_empty())
        {
            let missing = match (examples.broken.is_empty(), examples.kept.is_empty()) {
                (true, true) => "no examples",
                (true, false) => "no broken example",
                _ => "no kept example",
            };
            let message = format!("the check is not enforced: it has {missing}");
            let help = "add `examples: {broken: […], kept: […]}`, one of each for `enforce: deny`";
            self.report(rules::check::MISSING_EXAMPLES, check.span, message, help);
        }
        for failure in run_examples(self.rule, Budget::EXAMPLES) {
            let wanted = match failure.problem {
                ExampleProblem::NotBroken => "breaks",
                ExampleProblem::NotKept => "keeps",
            };
            let is = match failure.verdict {
                Verdict::Broken => "it breaks it",
                Verdict::Kept => "it keeps it",
                Verdict::NoOccasion => "the rule is not about it",
                Verdict::Unknown => "that cannot be told",
            };
            let message =
                format!("the check is not enforced: this example {wanted} the rule, but {is}");
            self.report(
                rules::check::EXAMPLE_FAILS,
                failure.span,
                message,
                "fix the check or the example",
            );
        }
    }
}

/// Reports ids that two rules share: exceptions and records would mean both.
fn check_ids(set: &RuleSet, found: &mut Vec<Diagnostic>) {
    let mut known: HashMap<&str, &BoundRule> = HashMap::new();
    for rule in set.rules().iter().filter(|rule| rule.check.own_id.is_some()) {
        let Some(first) = known.insert(&rule.id, rule) else { continue };
        known.insert(&rule.id, first);
        let place = &first.check;
        let message = format!("two rules have the id `{}`", rule.id);
        let name = place.source.path().file_name().unwrap_or_default().to_string_lossy();
        let help = format!("rename one; the other is in {name}:{}", place.line());
        let check = &rule.check;
        let diagnostic =
            Diagnostic::new(rules::check::DUPLICATE_ID, &check.source, check.span, message);
        found.push(diagnostic.with_help(help));
    }
}

/// Reports what one rule requires and another forbids.
fn check_contradictions(set: &RuleSet, found: &mut Vec<Diagnostic>) {
    let all = set.rules();
    let requires =
        |rule: &&BoundRule| rule.check.demands.iter().any(|demand| demand.verb == Verb::Require);
    for rule in all.iter().filter(requires).take(MOST_COMPARED) {
        for (number, demand) in rule.check.demands.iter().enumerate() {
            if demand.verb != Verb::Require {
                continue;
            }
            let works = required_works(rule, number, demand);
            if works.is_empty() {
                continue;
            }
            for other in all.iter().take(MOST_COMPARED).filter(|other| overlaps(rule, other)) {
                let forbids = other.check.demands.iter().any(|demand| demand.verb == Verb::Forbid);
                // Only if every alternative is forbidden is there no way to keep both.
                if !forbids || !works.iter().all(|work| breaks(other, work)) {
                    continue;
                }
                let message = format!("requires what the rule `{}` forbids", other.id);
                let place = &other.check;
                let name = place.source.path().file_name().unwrap_or_default().to_string_lossy();
                let help = format!("change one of them; the other is in {name}:{}", place.line());
                let kind = rules::check::CONTRADICTION;
                let diagnostic = Diagnostic::new(kind, &rule.check.source, demand.span, message);
                found.push(diagnostic.with_help(help));
            }
        }
    }
}

/// Returns whether two rules are for some of the same files, as far as that is certain.
fn overlaps(rule: &BoundRule, other: &BoundRule) -> bool {
    let is_below = |inner: &str, outer: &str| {
        outer.is_empty()
            || inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let scopes = [rule, other].map(|one| format!("{:?}", one.check.scope.coverage));
    let is_wide = |one: &BoundRule| one.check.scope.coverage.is_none();
    is_below(&rule.directory, &other.directory)
        && (is_wide(other) || scopes[0] == scopes[1])
        && other.check.demands.iter().all(|demand| demand.within.is_empty())
}

fn breaks(rule: &BoundRule, work: &Work<'_>) -> bool {
    let mut budget = Budget::EXAMPLES;
    let mut judge = Judge::new(rule, work, &mut budget);
    judge.keeps_scope = false;
    judge.judge(0).verdict == Verdict::Broken
}

/// Returns work that does what a demand requires, for each alternative; nothing if that is not certain.
fn required_works<'w>(rule: &BoundRule, number: usize, demand: &Demand) -> Vec<Work<'w>> {
    let texts = || -> Option<Vec<String>> {
        let patterns = rule.patterns[number].iter();
        patterns.map(|pattern| pattern.as_text().map(str::to_owned)).collect()
    };
    let work = Work { kind: WorkKind::Call, ..Work::default() };
    let works = match &demand.subject {
        Subject::Text { .. } => texts().map(|texts| {
            let works = texts.into_iter().map(|text| {
                let run = AddedRun { first_line: Some(1), text: text.into() };
                let file = FileChange {
                    added: AddedText::Runs(vec![run]),
                    ..FileChange::of_path("example", FileChangeKind::Write)
                };
                Work { files: vec![file], ..work.clone() }
            });
            works.collect()
        }),
        Subject::Run { .. } => texts().map(|texts| {
            let commands = texts.iter().map(|text| read_command_line(text, None, &NoTree));
            commands.map(|commands| Work { commands, ..work.clone() }).collect()
        }),
        Subject::Message { on, .. } => texts().map(|texts| {
            let kind = if on.commit { MessageKind::Commit } else { MessageKind::PullRequest };
            let messages =
                texts.into_iter().map(|text| WorkMessage { kind, text: Some(text.into()) });
            messages.map(|message| Work { messages: vec![message], ..work.clone() }).collect()
        }),
        Subject::Change { globs, .. } => {
            let literal = |glob: &CheckGlob| {
                let path = glob.glob().as_str();
                let path = if glob.is_from_root || rule.directory.is_empty() {
                    path.to_owned()
                } else {
                    format!("{}/{path}", rule.directory)
                };
                glob.glob().is_literal().then_some(path)
            };
            let paths: Option<Vec<String>> = globs.iter().map(literal).collect();
            paths.map(|paths| {
                let file = |path: String| FileChange::of_path(path, FileChangeKind::Change);
                paths
                    .into_iter()
                    .map(|path| Work { files: vec![file(path)], ..work.clone() })
                    .collect()
            })
        }
        Subject::Skill { .. } | Subject::Command { .. } | Subject::Path { .. } => None,
    };
    works.unwrap_or_default()
}
