//! The fields of an entry: strings, patterns, actions, timings, alternatives, dates.

use brief_syntax::diagnostic::{Edit, Fix};
use brief_syntax::hidden::{self, HiddenText};
use brief_syntax::near_miss::find_nearest;
use brief_syntax::yaml::{Node, ProblemKind, Value};
use brief_syntax::{Diagnostic, Rule, Span, limits, rules};

use crate::moment::{Action, Actions, Timing};

use super::super::model::Alternative;
use super::super::pattern::Pattern;
use super::{ContextFileReader, FieldPlace};

const ALTERNATIVE_FIELDS: [&str; 2] = ["option", "reason_rejected"];
const ON_VALUES: [&str; 4] = ["read", "edit", "create", "all"];
const WHEN_VALUES: [&str; 3] = ["before", "after", "all"];

impl ContextFileReader<'_> {
    /// Reads a required string; `None` with a diagnostic when it is blank or of another type.
    pub(super) fn parse_text(&mut self, node: Node<'_>, field: &str) -> Option<String> {
        match node.value() {
            Value::Scalar(text) if !text.trim().is_empty() => {
                self.warn_of_hidden(node, text, field);
                return Some(text.to_owned());
            }
            Value::Scalar(_) | Value::Null => self.report_missing_field(node, field),
            other => {
                let problem = format!("{field} must be text, not {}", other.noun());
                let help = "quote it, or write it as a block after `|`";
                self.report_field_error(rules::agents_yaml::WRONG_TYPE, node.span(), problem, help);
            }
        }
        None
    }

    pub(super) fn optional_text(&mut self, node: Node<'_>, field: &str) -> Option<String> {
        match node.value() {
            Value::Null => None,
            Value::Scalar(text) => {
                self.warn_of_hidden(node, text, field);
                Some(text.to_owned()).filter(|text| !text.is_empty())
            }
            other => {
                self.report_ignored_field(
                    node.span(),
                    &format!("{field} must be text, not {}", other.noun()),
                );
                None
            }
        }
    }

    fn warn_of_hidden(&mut self, node: Node<'_>, text: &str, field: &str) {
        if let Some(found) = HiddenText::find(text) {
            let problem = format!("{}: {field}: {}", self.place, found.message());
            self.report(rules::agents_yaml::HIDDEN_CHARACTER, node.span(), problem, hidden::HELP);
        }
    }

    /// Reads patterns and their places.
    pub(super) fn pattern_list(
        &mut self,
        node: Node<'_>,
        field: &str,
    ) -> (Vec<Pattern>, Vec<Span>) {
        match node.value() {
            Value::Null => (Vec::new(), Vec::new()),
            Value::Sequence(list) => list
                .iter()
                .filter_map(|item| Some((self.parse_pattern(item, field)?, item.span())))
                .unzip(),
            Value::Scalar(_) | Value::Broken(_) => {
                let pattern = self.parse_pattern(node, field);
                if pattern.is_some() {
                    self.single_pattern(node, field);
                }
                pattern.into_iter().map(|pattern| (pattern, node.span())).unzip()
            }
            Value::Mapping(_) => {
                let problem = format!("{field} must be a list of patterns, not a mapping");
                let help = format!("write `{field}: [\"**/*.ext\"]`");
                self.report_field_error(rules::agents_yaml::WRONG_TYPE, node.span(), problem, help);
                (Vec::new(), Vec::new())
            }
        }
    }

    /// Reports `match: "*.py"`, which can only mean a list of one.
    fn single_pattern(&mut self, node: Node<'_>, field: &str) {
        let span = node.span();
        let (source, place) = (&self.file.source, self.place);
        let written = source.slice(span);
        let problem = format!(
            "{place}: {field} must be a list of patterns; brief reads a single string as a list of one"
        );
        let is_one_line = !written.is_empty() && !written.contains('\n');
        let fix = (is_one_line && !self.is_shared(span)).then(|| {
            Fix::safe("make it a list", vec![Edit::replace(span, format!("[{written}]"))])
        });
        let help = Some(format!("write `{field}: [{written}]`"));
        let diagnostic = Diagnostic::new(rules::agents_yaml::SINGLE_PATTERN, source, span, problem);
        self.diagnostics.push(Diagnostic { help, fix, ..diagnostic });
    }

    /// Returns whether a value has an anchor, an alias or a tag. A fix to a list would make a
    /// nested list at the alias, or contradict the tag.
    fn is_shared(&self, span: Span) -> bool {
        let before = self.file.source.slice(Span::new(0, span.start));
        let anchor = before.split_whitespace().next_back().unwrap_or_default();
        anchor.starts_with(['&', '!']) || self.file.source.slice(span).starts_with(['*', '&'])
    }

    fn parse_pattern(&mut self, node: Node<'_>, field: &str) -> Option<Pattern> {
        let span = node.span();
        let written = match node.value() {
            Value::Scalar(text) => text,
            Value::Broken(ProblemKind::UnknownAlias) => {
                self.unquoted_pattern(span, field);
                return None;
            }
            other => {
                let problem = format!("a {field} pattern must be text, not {}", other.noun());
                self.report_field_error(rules::agents_yaml::WRONG_TYPE, span, problem, "quote it");
                return None;
            }
        };
        match self.patterns.get(written) {
            Ok(pattern) => {
                self.warn_of_endless_miss(&pattern, span, field);
                Some(pattern)
            }
            Err(error) => {
                let problem = format!("invalid {field} glob \"{written}\": {}", error.problem());
                // In a scalar without escapes, an offset in the pattern is an offset in the file.
                let text = self.file.source.slice(span);
                let at = text.find(written).map(|start| span.start + start + error.offset());
                let span = at.map_or(span, |at| Span::new(at, at + 1));
                let diagnostic = self.field_error(rules::agents_yaml::INVALID_GLOB, span, problem);
                self.diagnostics.push(diagnostic);
                None
            }
        }
    }

    /// Reports `match: [*.py]`: to YAML, `*.py` refers to an anchor.
    fn unquoted_pattern(&mut self, span: Span, field: &str) {
        let written = self.file.source.slice(span).to_owned();
        let problem =
            format!("{field} pattern {written} must be quoted: YAML reads `*` as a reference");
        let diagnostic = self
            .field_error(rules::agents_yaml::UNQUOTED_GLOB, span, problem)
            .with_help(format!("write `\"{written}\"`"))
            .with_fix(Fix::safe("quote it", vec![Edit::replace(span, format!("\"{written}\""))]));
        self.diagnostics.push(diagnostic);
    }

    /// Warns of valid patterns that can never match anything below their file.
    fn warn_of_endless_miss(&mut self, pattern: &Pattern, span: Span, field: &str) {
        let written = pattern.as_str();
        let help = if written.is_empty() {
            "an empty pattern matches nothing; remove it, or write `**`"
        } else if written.starts_with('/') {
            "patterns are relative to the directory of this file; remove the leading `/`"
        } else if written.starts_with("../") || written == ".." {
            "a context file applies only below its directory; move the entry up"
        } else {
            return;
        };
        let problem = format!("{}: {field} pattern \"{written}\" can never match", self.place);
        self.report(rules::agents_yaml::NEVER_MATCHES, span, problem, help);
    }

    pub(super) fn parse_actions(&mut self, node: Node<'_>) -> Actions {
        match node.value() {
            Value::Null => Actions::ALL,
            Value::Sequence(list) if list.is_empty() => Actions::ALL,
            Value::Sequence(list) => {
                list.iter().fold(Actions::NONE, |actions, item| actions.or(self.parse_action(item)))
            }
            _ => self.parse_action(node),
        }
    }

    fn parse_action(&mut self, node: Node<'_>) -> Actions {
        match node.value() {
            Value::Scalar("all") => return Actions::ALL,
            Value::Scalar(word) => {
                if let Some(action) = Action::from_name(word) {
                    return Actions::NONE.with(action);
                }
                let problem =
                    format!("invalid action \"{word}\" (must be read, edit, create, or all)");
                self.invalid_word(rules::agents_yaml::INVALID_ON, node, word, problem, &ON_VALUES);
            }
            other => {
                let problem = format!("on must be a word or a list of words, not {}", other.noun());
                let help = "write `on: edit` or `on: [read, edit]`";
                self.report_field_error(rules::agents_yaml::INVALID_ON, node.span(), problem, help);
            }
        }
        Actions::NONE
    }

    /// Reads `when`; `None` for both timings.
    pub(super) fn parse_timing(&mut self, node: Node<'_>) -> Option<Timing> {
        match node.value() {
            Value::Null => {}
            Value::Scalar("all") => return None,
            Value::Scalar(word) => {
                let timing = Timing::from_name(word);
                if timing.is_some() {
                    return timing;
                }
                let problem = format!("invalid when \"{word}\" (must be before, after, or all)");
                self.invalid_word(
                    rules::agents_yaml::INVALID_WHEN,
                    node,
                    word,
                    problem,
                    &WHEN_VALUES,
                );
            }
            other => {
                let problem = format!("when must be one word, not {}", other.noun());
                self.report_field_error(
                    rules::agents_yaml::INVALID_WHEN,
                    node.span(),
                    problem,
                    "write `when: all` for both",
                );
            }
        }
        Some(Timing::Before)
    }

    /// Reads `hold`. Another value than a boolean does not make the entry invalid.
    pub(super) fn parse_hold(&mut self, node: Node<'_>) -> bool {
        match node.value() {
            Value::Scalar("true") => true,
            Value::Scalar("false") | Value::Null => false,
            _ => {
                let problem = format!("{}: hold must be `true` or `false`", self.place);
                self.report(rules::agents_yaml::INVALID_HOLD, node.span(), problem, "is ignored");
                false
            }
        }
    }

    fn invalid_word(
        &mut self,
        rule: Rule,
        node: Node<'_>,
        word: &str,
        problem: String,
        words: &[&str],
    ) {
        let span = node.span();
        let mut diagnostic = self.field_error(rule, span, problem);
        if let Some(meant) = find_nearest(word, words) {
            // Only a difference in case is certain.
            let is_certain = meant.eq_ignore_ascii_case(word);
            let fix = if is_certain { Fix::safe } else { Fix::suggested };
            let fix = fix(format!("write `{meant}`"), vec![Edit::replace(span, meant)]);
            diagnostic = diagnostic.with_help(format!("did you mean `{meant}`?")).with_fix(fix);
        }
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn parse_alternatives(&mut self, node: Node<'_>) -> Vec<Alternative> {
        let list = match node.value() {
            Value::Null => return Vec::new(),
            Value::Sequence(list) => list,
            other => {
                self.report_ignored_field(
                    node.span(),
                    &format!("`alternatives` must be a list, not {}", other.noun()),
                );
                return Vec::new();
            }
        };
        let outer = self.place;
        let mut alternatives = Vec::new();
        for (index, item) in list.iter().take(limits::ENTRIES_PER_FILE).enumerate() {
            if let FieldPlace::Entry(name) = outer {
                self.place = FieldPlace::Alternative(name, index);
            }
            alternatives.extend(self.parse_alternative(item));
        }
        self.place = outer;
        alternatives
    }

    fn parse_alternative(&mut self, node: Node<'_>) -> Option<Alternative> {
        let mut alternative = Alternative { option: String::new(), reason_rejected: String::new() };
        match node.value() {
            Value::Mapping(fields) => {
                for field in fields.effective_fields() {
                    let target = match field.name() {
                        "option" => &mut alternative.option,
                        "reason_rejected" => &mut alternative.reason_rejected,
                        _ => {
                            self.unknown_field(field.key, &ALTERNATIVE_FIELDS);
                            continue;
                        }
                    };
                    if let Some(text) = self.optional_text(field.value, field.name()) {
                        *target = text;
                    }
                }
            }
            Value::Scalar(text) => text.clone_into(&mut alternative.option),
            _ => {}
        }
        for (value, field) in
            [(&alternative.option, "option"), (&alternative.reason_rejected, "reason_rejected")]
        {
            if value.trim().is_empty() {
                let problem = format!("{}: {field} is missing", self.place);
                let help = "say what was considered and why it was rejected";
                let span = self.first_line(node.span());
                self.report(rules::agents_yaml::INCOMPLETE_ALTERNATIVE, span, problem, help);
            }
        }
        (!alternative.option.is_empty()).then_some(alternative)
    }

    /// Reads a date; an invalid one is reported and dropped, and the decision stays.
    pub(super) fn parse_date(&mut self, node: Node<'_>) -> Option<String> {
        let written = match node.value() {
            Value::Null => return None,
            Value::Scalar(text) if is_date(text) => return Some(text.to_owned()),
            Value::Scalar(text) => text,
            _ => self.file.source.slice(node.span()),
        };
        let problem = format!("{}: invalid date \"{written}\" (must be YYYY-MM-DD)", self.place);
        let help = "the decision is delivered without its date";
        self.report(rules::agents_yaml::INVALID_DATE, node.span(), problem, help);
        None
    }
}

/// Returns whether `text` is `YYYY-MM-DD` and a day of the calendar.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| -> Option<u32> {
        let part = text.get(range)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let (Some(year), Some(month), Some(day)) = (digits(0..4), digits(5..7), digits(8..10)) else {
        return false;
    };
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-' && (1..=days).contains(&day)
}
