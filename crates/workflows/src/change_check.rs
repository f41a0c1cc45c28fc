//! A change set judged by the project's rules: what `brief check` tells.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use brief_checks::rules::{
    AddedText, BoundRule, Budget, ExceptionState, FileChange, FileChangeKind, Finding,
    FindingPlace, RuleException, RuleSet, RuleVerdict, Verdict, Work, WorkKind, WorkMessage,
    added_runs, find_exception, find_exceptions, find_flaws,
};
use brief_dialects::RuleCheck;
use brief_dialects::rule_check::{Enforcement, MessageKind};
use brief_engine::{Catalog, System};
use brief_registry::history::{
    ChangeSelection, ChangedContent, CommitMessage, HistoryError, Repository, RevisedFile,
    Revisions,
};
use brief_syntax::{Diagnostic, Root, Severity, Source, Span, limits, rules};
use brief_system::paths::to_slashed;
use serde::Serialize;

/// What to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedChange {
    /// The working tree with the newest commit.
    Working,
    /// What is staged with the newest commit.
    Staged,
    /// A revision with the working tree, or two revisions with each other.
    Revisions(Revisions),
}

/// Returns the date of a machine in UTC, such as `2026-11-20`.
pub fn date_of_today(system: &dyn System) -> String {
    let time = humantime::format_rfc3339_seconds(system.now()).to_string();
    time.split('T').next().unwrap_or_default().to_owned()
}

/// A change set, read.
#[derive(Debug, Clone)]
pub struct ReadChange {
    pub files: Vec<RevisedFile>,
    pub messages: Vec<CommitMessage>,
    /// The way from the top of the repository to the project, with a `/` at its end unless it is empty.
    prefix: String,
}

impl ReadChange {
    /// Reads the files of a change set. Contents are read only if a rule needs them.
    pub fn read(
        system: Arc<dyn System>,
        root: &Path,
        asked: &AskedChange,
        rules: &RuleSet,
    ) -> Result<ReadChange, HistoryError> {
        let repository = Repository::find_enclosing(system, root)?;
        let top = repository.top().unwrap_or(root);
        let below = root.strip_prefix(top).map(to_slashed).unwrap_or_default();
        let prefix = if below.is_empty() { below } else { format!("{below}/") };
        let mut messages = Vec::new();
        let selection = match asked {
            AskedChange::Working => ChangeSelection::Working(repository.find_head()?),
            AskedChange::Staged => ChangeSelection::Staged(repository.find_head()?),
            AskedChange::Revisions(Revisions::Working(revision)) => {
                let base = repository.resolve_commit(revision)?;
                if let Some(head) = repository.find_head()? {
                    messages = repository.messages_between(&base, &head)?;
                }
                ChangeSelection::Working(Some(base))
            }
            AskedChange::Revisions(
                Revisions::Two(first, second) | Revisions::SinceBase(first, second),
            ) => {
                let (first, second) =
                    (repository.resolve_commit(first)?, repository.resolve_commit(second)?);
                let base = match asked {
                    AskedChange::Revisions(Revisions::SinceBase(..)) => {
                        repository.merge_base(&first, &second)?
                    }
                    _ => first,
                };
                messages = repository.messages_between(&base, &second)?;
                ChangeSelection::Commits(base, second)
            }
        };
        let is_wanted =
            |path: &str| path.strip_prefix(&prefix).is_some_and(|path| rules.needs_text_of(path));
        let files = repository.changed_files(&selection, &is_wanted)?;
        Ok(ReadChange { files, messages, prefix })
    }
}

/// A change set with its verdicts.
#[derive(Debug)]
pub struct CheckedChange {
    pub rules: RuleSet,
    pub verdicts: Vec<RuleVerdict>,
    /// What is wrong: broken rules, exceptions that do not apply, and checks that are not in force.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of files in the change.
    pub files: usize,
    /// The number of findings that an exception takes back.
    pub excepted: usize,
}

/// A text that changed, with its exceptions.
struct ChangedText {
    source: Arc<Source>,
    exceptions: Vec<RuleException>,
}

impl CheckedChange {
    /// Judges a change. `within` limits what is reported to these paths below the root; rules about the change as a whole
    /// see all of it. `today` is a date such as `2026-11-20`.
    pub fn judge(
        (root, catalog): (&Path, &Catalog),
        rules: RuleSet,
        change: &ReadChange,
        within: &[String],
        today: &str,
    ) -> CheckedChange {
        let mut texts: BTreeMap<Arc<str>, ChangedText> = BTreeMap::new();
        let mut files = Vec::with_capacity(change.files.len());
        for file in &change.files {
            let Some(path) = file.path.strip_prefix(&change.prefix) else { continue };
            let described = describe_file(path, file);
            if let Some(text) = &described.final_text {
                let source = Arc::new(Source::new(root.join(path), text.to_string()));
                let exceptions = find_exceptions(text, today);
                texts.insert(Arc::clone(&described.path), ChangedText { source, exceptions });
            }
            files.push(described);
        }
        let count = files.len();
        let messages = change.messages.iter().map(|message| WorkMessage {
            kind: MessageKind::Commit,
            text: Some(Cow::Borrowed(message.text.as_str())),
        });
        let work = Work {
            kind: WorkKind::ChangeSet,
            files,
            messages: messages.collect(),
            ..Work::default()
        };
        let mut verdicts = rules.evaluate(&work, Budget::CHANGE_SET);
        let mut diagnostics = find_flaws(&rules);
        diagnostics.extend(
            catalog.diagnostics().into_iter().filter(|found| found.code().starts_with("check/")),
        );
        let mut excepted = 0;
        for verdict in &mut verdicts {
            let Some(rule) = rules.get(verdict.rule) else { continue };
            let before = verdict.findings.len();
            verdict.findings.retain(|finding| {
                let is_within = finding.place.path().is_none_or(|path| is_below_any(path, within));
                is_within && !is_excepted(&texts, rule, finding)
            });
            let removed = before - verdict.findings.len();
            excepted += removed;
            verdict.count -= removed;
            if verdict.verdict == Verdict::Broken && verdict.count == 0 {
                verdict.verdict = Verdict::Kept;
            }
            let found = verdict.findings.iter();
            diagnostics.extend(found.map(|finding| describe_finding(root, &texts, rule, finding)));
        }
        let ids: BTreeSet<&str> = rules.rules().iter().map(|rule| &*rule.id).collect();
        for text in texts.values() {
            diagnostics.extend(check_exceptions(text, &ids));
        }
        brief_syntax::diagnostic::sort_diagnostics(&mut diagnostics);
        CheckedChange { rules, verdicts, diagnostics, files: count, excepted }
    }

    /// Returns the number of rules with a verdict.
    pub fn count_verdict(&self, verdict: Verdict) -> usize {
        self.verdicts.iter().filter(|one| one.verdict == verdict).count()
    }

    /// Returns whether a rule is broken, or a check is not in force because of an error.
    pub fn has_failed(&self) -> bool {
        self.count_verdict(Verdict::Broken) > 0
            || self.diagnostics.iter().any(|found| found.severity == Severity::Error)
    }

    /// Returns the verdicts for JSON.
    pub fn to_report(&self, root: &Path) -> CheckReport {
        let rules = self.verdicts.iter().filter_map(|verdict| {
            let rule = self.rules.get(verdict.rule)?;
            Some(RuleReport::of_verdict(root, rule, verdict))
        });
        CheckReport { rules: rules.collect(), files: self.files, excepted: self.excepted }
    }
}

/// The verdicts about a change, for JSON.
#[derive(Debug, Serialize)]
pub struct CheckReport {
    rules: Vec<RuleReport>,
    /// The number of files in the change.
    files: usize,
    /// The number of places that an exception takes back.
    excepted: usize,
}

#[derive(Debug, Serialize)]
struct RuleReport {
    rule: String,
    verdict: Verdict,
    places: Vec<PlaceReport>,
    /// The number of places, also of those that are not listed.
    count: usize,
    /// Why the verdict is unknown; `null` for the others.
    reason: Option<&'static str>,
    enforce: Enforcement,
    instead: Option<String>,
    /// The first line of the rule's text.
    text: String,
    source: SourceReport,
}

#[derive(Debug, Serialize)]
struct SourceReport {
    path: String,
    line: usize,
}

#[derive(Debug, Serialize)]
struct PlaceReport {
    /// The path below the root; `null` for a message.
    path: Option<String>,
    /// The line; `null` for a file as a whole.
    line: Option<usize>,
    column: Option<usize>,
    message: String,
    /// The line or the message, cut if it is long; empty for a file as a whole.
    text: String,
}

impl RuleReport {
    fn of_verdict(root: &Path, rule: &BoundRule, verdict: &RuleVerdict) -> RuleReport {
        let check = &rule.check;
        let path = check.source.path();
        RuleReport {
            rule: rule.id.to_string(),
            verdict: verdict.verdict,
            places: verdict.findings.iter().map(PlaceReport::of_finding).collect(),
            count: verdict.count,
            reason: verdict.unknown,
            enforce: check.enforce,
            instead: check.instead.as_deref().map(str::to_owned),
            text: check.title().to_owned(),
            source: SourceReport {
                path: path
                    .strip_prefix(root)
                    .map_or_else(|_| path.display().to_string(), to_slashed),
                line: check.line(),
            },
        }
    }
}

impl PlaceReport {
    fn of_finding(finding: &Finding) -> PlaceReport {
        let (column, text) = match &finding.place {
            FindingPlace::Line { column, text, .. } => (Some(*column), text.clone()),
            FindingPlace::Command { text } | FindingPlace::Message { text } => (None, text.clone()),
            FindingPlace::File { .. } | FindingPlace::Turn => (None, String::new()),
        };
        PlaceReport {
            path: finding.place.path().map(str::to_owned),
            line: finding.place.line(),
            column,
            message: finding.message.clone(),
            text,
        }
    }
}

/// Judges one text, all of it, by the checks of rules: an editor's marks. Returns what it breaks, and what is wrong with
/// checks in it.
pub fn judge_text(
    system: &dyn System,
    root: &Root,
    checks: Vec<Arc<RuleCheck>>,
    path: &Path,
) -> Vec<Diagnostic> {
    let rules = RuleSet::new(root.path(), checks);
    let mut found = find_flaws(&rules);
    found.retain(|flaw| flaw.path() == path);
    let Some(target) = root.locate_target(system, root.path(), path) else { return found };
    let Ok(bytes) = system.read(path, limits::FILE_BYTES) else { return found };
    let Some(text) = as_text(&bytes) else { return found };
    let exceptions = find_exceptions(&text, &date_of_today(system));
    let source = Arc::new(Source::new(path, text.to_string()));
    let kind = FileChangeKind::Write;
    let file = FileChange { kind, ..FileChange::of_new_text(target.slashed(), text) };
    let texts = BTreeMap::from([(Arc::clone(&file.path), ChangedText { source, exceptions })]);
    let work = Work { kind: WorkKind::Call, files: vec![file], ..Work::default() };
    for verdict in rules.evaluate(&work, Budget::CALL) {
        let Some(rule) = rules.get(verdict.rule) else { continue };
        let is_line = |finding: &&Finding| matches!(finding.place, FindingPlace::Line { .. });
        let lines = verdict.findings.iter().filter(is_line);
        let new = lines.filter(|finding| !is_excepted(&texts, rule, finding));
        found.extend(new.map(|finding| describe_finding(root.path(), &texts, rule, finding)));
    }
    found
}

fn describe_file<'c>(path: &str, file: &'c RevisedFile) -> FileChange<'c> {
    let kind = match (&file.old, &file.new) {
        (None, _) => FileChangeKind::Create,
        (Some(_), None) => FileChangeKind::Delete,
        _ => FileChangeKind::Change,
    };
    let unknown = FileChange::of_path(path, kind);
    let Some(ChangedContent::Bytes(new)) = &file.new else { return unknown };
    // A binary file has no lines.
    let Some(text) = as_text(new) else {
        return FileChange { added: AddedText::Runs(Vec::new()), ..unknown };
    };
    let old = match &file.old {
        None => Some(Cow::Borrowed("")),
        Some(ChangedContent::Bytes(old)) => as_text(old).or(Some(Cow::Borrowed(""))),
        Some(ChangedContent::Unread) => None,
    };
    let Some(old) = old else { return FileChange { final_text: Some(text), ..unknown } };
    let runs = added_runs(&old, &text).into_iter().map(|run| {
        let text = Cow::Owned(run.text.into_owned());
        brief_checks::rules::AddedRun { first_line: run.first_line, text }
    });
    let added = AddedText::Runs(runs.collect());
    FileChange { added, final_text: Some(text), ..unknown }
}

/// Returns the text of a file, with line breaks as git keeps them; `None` for a binary file.
fn as_text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let is_binary = bytes.iter().take(8_000).any(|&byte| byte == 0);
    let text = String::from_utf8_lossy(bytes);
    let text = if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { text };
    (!is_binary).then_some(text)
}

/// Returns whether a path is one of these or below one; any is, without them.
fn is_below_any(path: &str, within: &[String]) -> bool {
    within.is_empty()
        || within.iter().any(|above| {
            above.is_empty()
                || path
                    .strip_prefix(above.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

fn is_excepted(
    texts: &BTreeMap<Arc<str>, ChangedText>,
    rule: &BoundRule,
    finding: &Finding,
) -> bool {
    let text = finding.place.path().and_then(|path| texts.get(path));
    text.and_then(|text| find_exception(&text.exceptions, &rule.id, finding))
        .is_some_and(|exception| exception.state == ExceptionState::Valid)
}

fn check_exceptions(text: &ChangedText, ids: &BTreeSet<&str>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for exception in &text.exceptions {
        let rule = &exception.rule;
        let (kind, message, help) = match &exception.state {
            _ if !ids.contains(rule.as_str()) => (
                rules::check::INVALID_EXCEPTION,
                format!("the exception names no rule of the project: `{rule}`"),
                "run `brief check --json` to list the rules",
            ),
            ExceptionState::Valid => continue,
            ExceptionState::Expired(date) => (
                rules::check::EXPIRED_EXCEPTION,
                format!("the exception from `{rule}` was over on {date}"),
                "fix the line, or give the exception a new date",
            ),
            ExceptionState::Invalid(problem) => (
                rules::check::INVALID_EXCEPTION,
                format!("the exception from `{rule}` does not apply: it {problem}"),
                "write `brief-allow ID until 2027-01-31: REASON`",
            ),
        };
        let span = text.source.line_span(exception.line);
        found.push(Diagnostic::new(kind, &text.source, span, message).with_help(help));
    }
    found
}

/// Returns a finding as a diagnostic in the changed file, or in the file of the rule where there is none.
fn describe_finding(
    root: &Path,
    texts: &BTreeMap<Arc<str>, ChangedText>,
    rule: &BoundRule,
    finding: &Finding,
) -> Diagnostic {
    let check = &rule.check;
    let (source, span) = match &finding.place {
        FindingPlace::Line { path, line, column, length, .. } => {
            let source = texts.get(path).map(|text| Arc::clone(&text.source));
            let source =
                source.unwrap_or_else(|| Arc::new(Source::without_text(root.join(&**path))));
            let line = source.line_span(line.unwrap_or(1));
            let start = (line.start + column - 1).min(line.end);
            (source, Span::new(start, (start + length).min(line.end)))
        }
        FindingPlace::File { path } => {
            (Arc::new(Source::without_text(root.join(&**path))), Span::empty_at(0))
        }
        FindingPlace::Command { .. } | FindingPlace::Message { .. } | FindingPlace::Turn => {
            (Arc::clone(&check.source), check.span)
        }
    };
    let (id, what) = (&rule.id, &finding.message);
    let message = match &finding.place {
        FindingPlace::Message { text } => format!("{id}: the message `{text}` {what}"),
        _ => format!("{id}: {what}"),
    };
    let severity = match check.enforce {
        Enforcement::Ask | Enforcement::Deny => Severity::Error,
        Enforcement::Warn | Enforcement::Observe => Severity::Warning,
    };
    let title = check.title();
    let help = match &check.instead {
        Some(instead) => format!("{title} (instead: {instead})"),
        None => title.to_owned(),
    };
    Diagnostic::new(rules::check::BROKEN, &source, span, message)
        .with_severity(severity)
        .with_help(help)
}
