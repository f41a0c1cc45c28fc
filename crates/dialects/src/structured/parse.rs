//! The parser of context files, entry by entry.
//!
//! A file is read as far as possible: an invalid entry is reported and not delivered, the others
//! are. Only a text that is not YAML is lost as a whole.

mod fields;

use std::fmt;
use std::sync::Arc;

use brief_syntax::diagnostic::{Edit, Fix};
use brief_syntax::near_miss::find_nearest;
use brief_syntax::source::Encoding;
use brief_syntax::yaml::{Mapping, Node, ProblemKind, Value, Yaml};
use brief_syntax::{Diagnostic, Rule, Severity, Source, Span, limits, rules};

use crate::answer::{Level, Name};
use crate::moment::{Actions, Timing};
use crate::rule_check::{
    CheckCoverage, CheckFields, CheckPlace, CheckScope, RuleCheck, parse_rule_check,
};
use crate::stewardship;

use super::model::{ContextEntry, Decision, EntryCoverage, InvalidEntry, StructuredFile};
use super::pattern::{Pattern, PatternCache};

const TOP_FIELDS: [&str; 2] = ["context", "decisions"];
const CONTEXT_FIELDS: [&str; 12] = [
    "content",
    "match",
    "exclude",
    "on",
    "when",
    "hold",
    "check",
    "enforce",
    "examples",
    "id",
    stewardship::OWNER,
    stewardship::REVIEW_BY,
];
const DECISION_FIELDS: [&str; 8] = [
    "decision",
    "rationale",
    "alternatives",
    "revisit_when",
    "date",
    "match",
    stewardship::OWNER,
    stewardship::REVIEW_BY,
];

/// The limit of problems reported for one file.
const REPORTED_PER_FILE: usize = 1_000;

/// Parses a context file in `directory` (below the root, with `/`), and returns it with its
/// diagnostics in file order.
pub fn parse_structured_file(
    source: &Arc<Source>,
    directory: &str,
    patterns: &mut PatternCache,
) -> (StructuredFile, Vec<Diagnostic>) {
    let file = StructuredFile {
        source: Arc::clone(source),
        directory: directory.to_owned(),
        level: Level::of_directory(source.path().parent().unwrap_or(source.path()), true),
        context: Vec::new(),
        decisions: Vec::new(),
        invalid: Vec::new(),
    };
    let (diagnostics, place) = (Vec::new(), FieldPlace::Top);
    let mut reader = ContextFileReader { file, patterns, diagnostics, place, failed: None };
    reader.parse_file();
    let ContextFileReader { file, mut diagnostics, .. } = reader;
    if diagnostics.len() > REPORTED_PER_FILE {
        diagnostics.truncate(REPORTED_PER_FILE);
        let message = format!("only the first {REPORTED_PER_FILE} problems of this file are shown");
        let rule = rules::agents_yaml::TOO_MANY_PROBLEMS;
        diagnostics.push(Diagnostic::new(rule, source, Span::empty_at(0), message));
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    (file, diagnostics)
}

struct ContextFileReader<'p> {
    file: StructuredFile,
    patterns: &'p mut PatternCache,
    diagnostics: Vec<Diagnostic>,
    /// The fields being read; diagnostics of fields begin with it.
    place: FieldPlace,
    /// The first error of the entry being read.
    failed: Option<String>,
}

/// The fields that are being read.
#[derive(Debug, Clone, Copy)]
enum FieldPlace {
    Top,
    Entry(Name<'static>),
    /// The fields of the alternative with this index.
    Alternative(Name<'static>, usize),
}

impl fmt::Display for FieldPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldPlace::Top => formatter.write_str("top level"),
            FieldPlace::Entry(name) => name.fmt(formatter),
            FieldPlace::Alternative(name, index) => {
                write!(formatter, "{name}.alternatives[{index}]")
            }
        }
    }
}

impl ContextFileReader<'_> {
    fn parse_file(&mut self) {
        let source = Arc::clone(&self.file.source);
        if let Encoding::Invalid { offset } = source.encoding() {
            let problem = "the file is not UTF-8 from here on";
            self.report(
                rules::agents_yaml::NOT_UTF8,
                Span::empty_at(offset),
                problem,
                "save it as UTF-8",
            );
        }
        let yaml = Yaml::parse(source.text());
        self.report_yaml_problems(&yaml);
        let Some(root) = yaml.root() else { return };
        match root.value() {
            Value::Null => {}
            Value::Mapping(top) => self.read_top(top),
            other => {
                let problem = format!("a context file must be a mapping, not {}", other.noun());
                let help = "start with `context:` and a list of entries";
                self.report(rules::agents_yaml::WRONG_TYPE, root.span(), problem, help);
            }
        }
    }

    fn report_yaml_problems(&mut self, yaml: &Yaml) {
        for problem in yaml.problems() {
            let message = problem.message.clone();
            let (rule, message, help) = match problem.kind {
                ProblemKind::Syntax => (
                    rules::agents_yaml::INVALID_YAML,
                    format!("the file is not valid YAML: {message}"),
                    "fix it: nothing in this file is delivered until then",
                ),
                // It is reported with its field, where a fix is known.
                ProblemKind::UnknownAlias => continue,
                ProblemKind::AliasBomb => {
                    (rules::agents_yaml::ALIAS_BOMB, message, "write the values out")
                }
                ProblemKind::DuplicateKey => {
                    (rules::agents_yaml::DUPLICATE_KEY, message, "remove or rename one")
                }
                ProblemKind::ExtraDocument => (
                    rules::agents_yaml::EXTRA_DOCUMENT,
                    message,
                    "put everything above the second `---`",
                ),
            };
            self.report(rule, problem.span, message, help);
        }
    }

    fn read_top(&mut self, top: Mapping<'_>) {
        for field in top.effective_fields() {
            self.place = FieldPlace::Top;
            match field.name() {
                "context" => self.read_list(field.value, "context", Self::read_entry),
                "decisions" => self.read_list(field.value, "decisions", Self::read_decision),
                // Fields for a team's own anchors.
                name if name.starts_with("x-") => {}
                _ => self.unknown_field(field.key, &TOP_FIELDS),
            }
        }
    }

    fn read_list(
        &mut self,
        node: Node<'_>,
        list: &'static str,
        read: fn(&mut Self, usize, usize, Node<'_>) -> Option<()>,
    ) {
        let limit = limits::ENTRIES_PER_FILE;
        let entries = match node.value() {
            Value::Null => return,
            Value::Sequence(entries) => entries,
            other => {
                let problem = format!("`{list}` must be a list of entries, not {}", other.noun());
                let help = format!("write `{list}:` with one `- ` line per entry below it");
                return self.report(rules::agents_yaml::WRONG_TYPE, node.span(), problem, help);
            }
        };
        if entries.len() > limit {
            let problem = format!("`{list}` has more than {limit} entries: the rest is skipped");
            self.report(
                rules::agents_yaml::TOO_MANY_ENTRIES,
                node.span(),
                problem,
                "split the file",
            );
        }
        for (index, node) in entries.iter().take(limit).enumerate() {
            let name = Name::Entry { list, index };
            let line = self.file.source.line_number(node.span().start);
            self.place = FieldPlace::Entry(name);
            self.failed = None;
            if read(self, index, line, node).is_none() {
                let kind = if list == "context" { "context" } else { "decision" };
                let problem = self.failed.take().unwrap_or_default();
                self.file.invalid.push(InvalidEntry { kind, name, line, problem });
            }
        }
    }

    /// Reads an entry of `context`; `None` for an invalid one.
    fn read_entry(&mut self, index: usize, line: usize, node: Node<'_>) -> Option<()> {
        let fields = self.fields_of(node, "content")?;
        // The outer option tells whether the field is there.
        let mut content = None;
        let (mut patterns, mut pattern_spans, mut exclude) = (Vec::new(), Vec::new(), Vec::new());
        let (mut on, mut when) = (Actions::ALL, Some(Timing::Before));
        let mut hold = false;
        let mut checks = CheckFields::default();
        for field in fields.effective_fields() {
            match field.name() {
                "content" => content = Some(self.parse_text(field.value, "content")),
                "match" => (patterns, pattern_spans) = self.pattern_list(field.value, "match"),
                "exclude" => (exclude, _) = self.pattern_list(field.value, "exclude"),
                "on" => on = self.parse_actions(field.value),
                "when" => when = self.parse_timing(field.value),
                "hold" => hold = self.parse_hold(field.value),
                name if checks.set(name, field.value) => {}
                // `stewardship` reads them, for whoever asks.
                stewardship::OWNER | stewardship::REVIEW_BY => {}
                _ => self.unknown_field(field.key, &CONTEXT_FIELDS),
            }
        }
        if content.is_none() {
            self.report_missing_field(node, "content");
        }
        let content = content.flatten().filter(|_| self.failed.is_none())?;
        let patterns = self.or_everything(patterns);
        let check = self.parse_check(&checks, &content, (&patterns, &exclude));
        self.file.context.push(ContextEntry {
            index,
            line,
            content,
            patterns,
            pattern_spans,
            exclude,
            on,
            when,
            hold,
            check,
        });
        Some(())
    }

    /// Reads the check of an entry.
    fn parse_check(
        &mut self,
        fields: &CheckFields,
        content: &str,
        (patterns, exclude): (&[Pattern], &[Pattern]),
    ) -> Option<Arc<RuleCheck>> {
        fields.span()?;
        let is_wide = exclude.is_empty() && patterns.iter().any(Pattern::is_everything);
        let coverage = (!is_wide).then(|| -> Arc<dyn CheckCoverage> {
            let (patterns, exclude) = (patterns.to_vec(), exclude.to_vec());
            Arc::new(EntryCoverage { patterns, exclude })
        });
        let source = Arc::clone(&self.file.source);
        let base = source.path().parent().unwrap_or(source.path()).into();
        let scope = &CheckScope { base, coverage };
        let place =
            CheckPlace { source: &source, scope, owner: self.file.level.owner, text: content };
        parse_rule_check(fields, place, &mut self.diagnostics)
    }

    /// Reads an entry of `decisions`; `None` for an invalid one.
    fn read_decision(&mut self, index: usize, line: usize, node: Node<'_>) -> Option<()> {
        let fields = self.fields_of(node, "decision")?;
        let (mut decision, mut rationale) = (None, None);
        let (mut revisit_when, mut date) = (None, None);
        let (mut patterns, mut pattern_spans, mut alternatives) =
            (Vec::new(), Vec::new(), Vec::new());
        for field in fields.effective_fields() {
            match field.name() {
                "decision" => decision = Some(self.parse_text(field.value, "decision")),
                "rationale" => rationale = Some(self.parse_text(field.value, "rationale")),
                "alternatives" => alternatives = self.parse_alternatives(field.value),
                "revisit_when" => revisit_when = self.optional_text(field.value, "revisit_when"),
                "date" => date = self.parse_date(field.value),
                "match" => (patterns, pattern_spans) = self.pattern_list(field.value, "match"),
                stewardship::OWNER | stewardship::REVIEW_BY => {}
                _ => self.unknown_field(field.key, &DECISION_FIELDS),
            }
        }
        for (value, field) in [(&decision, "decision"), (&rationale, "rationale")] {
            if value.is_none() {
                self.report_missing_field(node, field);
            }
        }
        let decision = decision.flatten().filter(|_| self.failed.is_none())?;
        let rationale = rationale.flatten()?;
        let patterns = self.or_everything(patterns);
        self.file.decisions.push(Decision {
            index,
            line,
            decision,
            rationale,
            alternatives,
            revisit_when,
            date,
            patterns,
            pattern_spans,
        });
        Some(())
    }

    /// Returns the default of `match` for an empty list.
    fn or_everything(&mut self, patterns: Vec<Pattern>) -> Vec<Pattern> {
        if patterns.is_empty() { self.patterns.get("**").into_iter().collect() } else { patterns }
    }

    /// Returns the fields of an entry; reports an entry that is no mapping.
    fn fields_of<'y>(&mut self, node: Node<'y>, required: &str) -> Option<Mapping<'y>> {
        let value = node.value();
        if let Value::Mapping(fields) = value {
            return Some(fields);
        }
        let problem = format!("an entry must be a mapping, not {}", value.noun());
        let is_content = matches!(value, Value::Scalar(_)) && required == "content";
        let fix = is_content.then(|| {
            let edit = Edit::replace(Span::empty_at(node.span().start), "content: ");
            Fix::suggested("make it the content of an entry", vec![edit])
        });
        let diagnostic = self.field_error(rules::agents_yaml::WRONG_TYPE, node.span(), problem);
        let help = Some(format!("write `- {required}: …`"));
        self.diagnostics.push(Diagnostic { help, fix, ..diagnostic });
        None
    }

    fn report_missing_field(&mut self, node: Node<'_>, field: &str) {
        let span = self.first_line(node.span());
        let help = format!("add `{field}: …`, or remove the entry");
        self.report_field_error(
            rules::agents_yaml::MISSING_FIELD,
            span,
            format!("{field} is required"),
            help,
        );
    }

    fn unknown_field(&mut self, key: Node<'_>, known: &[&str]) {
        let (rule, span, place) = (rules::agents_yaml::UNKNOWN_FIELD, key.span(), self.place);
        let Some(field) = key.as_str() else {
            let problem = format!("{place}: a field name must be text, not {}", key.value().noun());
            return self.report(rule, span, problem, "is ignored");
        };
        let problem = format!("{place}: unknown field \"{field}\"");
        let meant = find_nearest(field, known)
            .or_else(|| find_field_synonym(field).filter(|word| known.contains(word)));
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("known here: {}", known.join(", ")),
        };
        let fix = meant.map(|meant| {
            Fix::suggested(format!("write `{meant}`"), vec![Edit::replace(span, meant)])
        });
        let diagnostic = Diagnostic::new(rule, &self.file.source, span, problem);
        self.diagnostics.push(Diagnostic { help: Some(help), fix, ..diagnostic });
    }

    /// Returns an error about a field, which makes the entry invalid.
    fn field_error(&mut self, rule: Rule, span: Span, problem: String) -> Diagnostic {
        let message = format!("{}: {problem}", self.place);
        self.failed.get_or_insert(problem);
        Diagnostic::new(rule, &self.file.source, span, message)
    }

    /// Reports an error about a field, which makes the entry invalid.
    fn report_field_error(
        &mut self,
        rule: Rule,
        span: Span,
        problem: String,
        help: impl Into<String>,
    ) {
        let diagnostic = self.field_error(rule, span, problem).with_help(help);
        self.diagnostics.push(diagnostic);
    }

    fn report(
        &mut self,
        rule: Rule,
        span: Span,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) {
        let diagnostic = Diagnostic::new(rule, &self.file.source, span, problem);
        self.diagnostics.push(diagnostic.with_help(help));
    }

    /// Warns of an optional field that has the wrong shape.
    fn report_ignored_field(&mut self, span: Span, problem: &str) {
        let problem = format!("{}: {problem}", self.place);
        let diagnostic =
            Diagnostic::new(rules::agents_yaml::WRONG_TYPE, &self.file.source, span, problem);
        let diagnostic = diagnostic.with_severity(Severity::Warning);
        self.diagnostics.push(diagnostic.with_help("the field is ignored"));
    }

    /// Returns the first line of a span: a whole entry is too long to underline.
    fn first_line(&self, span: Span) -> Span {
        let text = self.file.source.slice(span);
        let length = text.find(['\n', '\r']).unwrap_or(text.len());
        Span::new(span.start, span.start + length)
    }
}

/// Returns the field for another format's name.
fn find_field_synonym(field: &str) -> Option<&'static str> {
    match field.to_ascii_lowercase().as_str() {
        "glob" | "globs" | "path" | "paths" | "pattern" | "patterns" | "file" | "files"
        | "include" | "includes" | "applyto" => Some("match"),
        "ignore" | "not" | "except" => Some("exclude"),
        "text" | "body" | "message" | "instruction" | "instructions" | "rule" => Some("content"),
        "action" | "actions" | "event" => Some("on"),
        "timing" => Some("when"),
        "reason" | "why" | "because" => Some("rationale"),
        _ => None,
    }
}
