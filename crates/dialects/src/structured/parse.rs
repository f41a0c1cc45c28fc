//! The parser of context files, entry by entry.
//!
//! A file is read as far as possible: an invalid entry is reported and not delivered, the others
//! are. Only a text that is not YAML is lost as a whole.

use std::fmt::Display;
mod fields;

use std::sync::Arc;

use brief_syntax::diagnostic::{Edit, Fix};
use brief_syntax::near_miss::nearest;
use brief_syntax::source::Encoding;
use brief_syntax::yaml::{Mapping, Node, ProblemKind, Sequence, Value, Yaml};
use brief_syntax::{Diagnostic, Rule, Severity, Source, Span, limits, rules};

use crate::answer::{Level, Name};
use crate::moment::{Actions, Timing};

use super::model::{ContextEntry, Decision, InvalidEntry, StructuredFile, When};
use super::pattern::{Pattern, PatternCache};

/// A context file and its diagnostics.
#[derive(Debug)]
pub struct ParsedStructured {
    /// The file.
    pub file: StructuredFile,
    /// The diagnostics, in file order.
    pub diagnostics: Vec<Diagnostic>,
}

const TOP_FIELDS: [&str; 2] = ["context", "decisions"];
const CONTEXT_FIELDS: [&str; 6] = ["content", "match", "exclude", "on", "when", "hold"];
const DECISION_FIELDS: [&str; 6] =
    ["decision", "rationale", "alternatives", "revisit_when", "date", "match"];

/// The limit of problems reported for one file.
const REPORTED_PER_FILE: usize = 1_000;

/// Parses a context file in `directory` (below the root, with `/`).
pub fn parse(
    source: &Arc<Source>,
    directory: &str,
    patterns: &mut PatternCache,
) -> ParsedStructured {
    let file = StructuredFile {
        source: Arc::clone(source),
        directory: directory.to_owned(),
        level: Level::of_directory(source.path().parent().unwrap_or(source.path()), true),
        context: Vec::new(),
        decisions: Vec::new(),
        invalid: Vec::new(),
    };
    let mut reading = ContextFileReader { file, patterns, diagnostics: Vec::new(), failed: None };
    reading.read();
    let ContextFileReader { file, mut diagnostics, .. } = reading;
    if diagnostics.len() > REPORTED_PER_FILE {
        diagnostics.truncate(REPORTED_PER_FILE);
        let message = format!("only the first {REPORTED_PER_FILE} problems of this file are shown");
        diagnostics.push(Diagnostic::new(
            rules::structured::TOO_MANY_PROBLEMS,
            source,
            Span::at(0),
            message,
        ));
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    ParsedStructured { file, diagnostics }
}

struct ContextFileReader<'p> {
    file: StructuredFile,
    patterns: &'p mut PatternCache,
    diagnostics: Vec<Diagnostic>,
    /// The first error of the entry being read.
    failed: Option<String>,
}

impl ContextFileReader<'_> {
    fn read(&mut self) {
        let source = Arc::clone(&self.file.source);
        if let Encoding::Invalid { offset } = source.encoding() {
            let problem = "the file is not UTF-8 from here on";
            self.report(rules::structured::NOT_UTF8, Span::at(offset), problem, "save it as UTF-8");
        }
        let yaml = Yaml::parse(source.text());
        self.report_yaml_problems(&yaml);
        let Some(root) = yaml.root() else { return };
        match root.value() {
            Value::Null => {}
            Value::Mapping(top) => self.read_top(top),
            other => {
                let problem = format!("a context file is a mapping, not {}", other.noun());
                let help = "start with `context:` and a list of entries";
                self.report(rules::structured::WRONG_TYPE, root.span(), problem, help);
            }
        }
    }

    fn report_yaml_problems(&mut self, yaml: &Yaml) {
        for problem in yaml.problems() {
            let span = problem.span;
            let message = problem.message.clone();
            match problem.kind {
                ProblemKind::Syntax => {
                    let message = format!("the file is not valid YAML: {message}");
                    self.report(
                        rules::structured::INVALID_YAML,
                        span,
                        message,
                        "nothing in this file is delivered until it is",
                    );
                }
                // It is reported with its field, where a fix is known.
                ProblemKind::UnknownAlias => {}
                ProblemKind::AliasBomb => {
                    self.report(
                        rules::structured::ALIAS_BOMB,
                        span,
                        message,
                        "write the values out",
                    );
                }
                ProblemKind::DuplicateKey => {
                    self.report(
                        rules::structured::DUPLICATE_KEY,
                        span,
                        message,
                        "remove or rename one",
                    );
                }
                ProblemKind::ExtraDocument => {
                    let help = "put everything above the second `---`";
                    self.report(rules::structured::EXTRA_DOCUMENT, span, message, help);
                }
            }
        }
    }

    fn read_top(&mut self, top: Mapping<'_>) {
        for field in top.effective_fields() {
            match field.name() {
                "context" => {
                    if let Some(list) = self.list_of_entries(field.value, "context") {
                        for (index, node) in list.iter().take(limits::ENTRIES_PER_FILE).enumerate()
                        {
                            self.read_entry(index, node);
                        }
                    }
                }
                "decisions" => {
                    if let Some(list) = self.list_of_entries(field.value, "decisions") {
                        for (index, node) in list.iter().take(limits::ENTRIES_PER_FILE).enumerate()
                        {
                            self.read_decision(index, node);
                        }
                    }
                }
                // Fields for a team's own anchors.
                name if name.starts_with("x-") => {}
                _ => self.unknown_field(field.key, &TOP_FIELDS, "top level"),
            }
        }
    }

    fn list_of_entries<'y>(&mut self, node: Node<'y>, name: &str) -> Option<Sequence<'y>> {
        match node.value() {
            Value::Null => None,
            Value::Sequence(list) => {
                if list.len() > limits::ENTRIES_PER_FILE {
                    let limit = limits::ENTRIES_PER_FILE;
                    let problem =
                        format!("`{name}` has more than {limit} entries; the rest is left out");
                    self.report(
                        rules::structured::TOO_MANY_ENTRIES,
                        node.span(),
                        problem,
                        "split the file",
                    );
                }
                Some(list)
            }
            other => {
                let problem = format!("`{name}` is a list of entries, not {}", other.noun());
                let help = format!("write `{name}:` and below it one `- ` for each entry");
                self.report(rules::structured::WRONG_TYPE, node.span(), problem, help);
                None
            }
        }
    }

    fn read_entry(&mut self, index: usize, node: Node<'_>) {
        let name = Name::Entry { list: "context", index };
        self.failed = None;
        let line = self.file.source.line(node.span().start);
        let Value::Mapping(fields) = node.value() else {
            self.not_an_entry(node, name, "content");
            return self.reject("context", name, line);
        };
        let (mut content, mut names_content) = (None, false);
        let (mut patterns, mut pattern_spans, mut exclude) = (Vec::new(), Vec::new(), Vec::new());
        let (mut on, mut when) = (Actions::ALL, When::Only(Timing::Before));
        let mut hold = false;
        for field in fields.effective_fields() {
            match field.name() {
                "content" => {
                    content = self.text(field.value, name, "content");
                    names_content = true;
                }
                "match" => {
                    (patterns, pattern_spans) = self.pattern_list(field.value, name, "match");
                }
                "exclude" => (exclude, _) = self.pattern_list(field.value, name, "exclude"),
                "on" => on = self.actions(field.value, name),
                "when" => when = self.timing(field.value, name),
                "hold" => hold = self.hold(field.value, name),
                _ => self.unknown_field(field.key, &CONTEXT_FIELDS, name),
            }
        }
        if !names_content {
            self.missing(node, name, "content");
        }
        match content {
            Some(content) if self.failed.is_none() => {
                let patterns = self.or_everything(patterns);
                let entry = ContextEntry {
                    index,
                    line,
                    content,
                    patterns,
                    pattern_spans,
                    exclude,
                    on,
                    when,
                    hold,
                };
                self.file.context.push(entry);
            }
            _ => self.reject("context", name, line),
        }
    }

    fn read_decision(&mut self, index: usize, node: Node<'_>) {
        let name = Name::Entry { list: "decisions", index };
        self.failed = None;
        let line = self.file.source.line(node.span().start);
        let Value::Mapping(fields) = node.value() else {
            self.not_an_entry(node, name, "decision");
            return self.reject("decision", name, line);
        };
        let (mut decision, mut rationale) = (None, None);
        let (mut names_decision, mut names_rationale) = (false, false);
        let (mut revisit_when, mut date) = (None, None);
        let (mut patterns, mut pattern_spans, mut alternatives) =
            (Vec::new(), Vec::new(), Vec::new());
        for field in fields.effective_fields() {
            match field.name() {
                "decision" => {
                    decision = self.text(field.value, name, "decision");
                    names_decision = true;
                }
                "rationale" => {
                    rationale = self.text(field.value, name, "rationale");
                    names_rationale = true;
                }
                "alternatives" => alternatives = self.alternatives(field.value, name),
                "revisit_when" => {
                    revisit_when = self.optional_text(field.value, name, "revisit_when");
                }
                "date" => date = self.date(field.value, name),
                "match" => {
                    (patterns, pattern_spans) = self.pattern_list(field.value, name, "match");
                }
                _ => self.unknown_field(field.key, &DECISION_FIELDS, name),
            }
        }
        for (is_named, field) in [(names_decision, "decision"), (names_rationale, "rationale")] {
            if !is_named {
                self.missing(node, name, field);
            }
        }
        match (decision, rationale) {
            (Some(decision), Some(rationale)) if self.failed.is_none() => {
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
            }
            _ => self.reject("decision", name, line),
        }
    }

    /// Returns the default of `match` for an empty list.
    fn or_everything(&mut self, patterns: Vec<Pattern>) -> Vec<Pattern> {
        if patterns.is_empty() { self.patterns.get("**").into_iter().collect() } else { patterns }
    }

    fn reject(&mut self, kind: &'static str, name: Name<'static>, line: usize) {
        let problem = self.failed.take().unwrap_or_default();
        self.file.invalid.push(InvalidEntry { kind, name, line, problem });
    }

    fn not_an_entry(&mut self, node: Node<'_>, name: impl Display, required: &str) {
        let value = node.value();
        let problem = format!("{name}: an entry is a mapping, not {}", value.noun());
        let help = format!("write `- {required}: …`");
        let fix = (matches!(value, Value::Scalar(_)) && required == "content").then(|| {
            let edit = Edit::replace(Span::at(node.span().start), "content: ");
            Fix::suggested("make it the content of an entry", vec![edit])
        });
        let diagnostic =
            self.fail(rules::structured::WRONG_TYPE, node.span(), problem).with_help(help);
        self.diagnostics.push(match fix {
            Some(fix) => diagnostic.with_fix(fix),
            None => diagnostic,
        });
    }

    fn missing(&mut self, node: Node<'_>, name: impl Display + Copy, field: &str) {
        let problem = format!("{name}: {field} is required");
        let span = self.first_line(node.span());
        let help = format!("add `{field}: …`, or remove the entry");
        let diagnostic = self.fail(rules::structured::MISSING_FIELD, span, problem).with_help(help);
        self.diagnostics.push(diagnostic);
    }

    fn unknown_field(&mut self, key: Node<'_>, known: &[&str], name: impl Display) {
        let Some(field) = key.as_str() else {
            let problem = format!("{name}: a field name is text, not {}", key.value().noun());
            return self.report(
                rules::structured::UNKNOWN_FIELD,
                key.span(),
                problem,
                "it is ignored",
            );
        };
        let problem = format!("{name}: unknown field \"{field}\"");
        let span = key.span();
        let diagnostic =
            Diagnostic::new(rules::structured::UNKNOWN_FIELD, &self.file.source, span, problem);
        let meant =
            nearest(field, known).or_else(|| synonym(field).filter(|word| known.contains(word)));
        self.diagnostics.push(match meant {
            Some(meant) => {
                let fix =
                    Fix::suggested(format!("write `{meant}`"), vec![Edit::replace(span, meant)]);
                diagnostic.with_help(format!("did you mean `{meant}`?")).with_fix(fix)
            }
            None => diagnostic.with_help(format!("known here: {}", known.join(", "))),
        });
    }

    /// Returns an error that makes the entry invalid.
    fn fail(&mut self, rule: Rule, span: Span, problem: String) -> Diagnostic {
        let short = problem.split_once(": ").map_or(problem.as_str(), |(_, rest)| rest);
        self.failed.get_or_insert_with(|| short.to_owned());
        Diagnostic::new(rule, &self.file.source, span, problem)
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
    fn ignored(&mut self, span: Span, problem: String) {
        let diagnostic =
            Diagnostic::new(rules::structured::WRONG_TYPE, &self.file.source, span, problem);
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
fn synonym(field: &str) -> Option<&'static str> {
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
