//! Compares a client's file with the table of its checks.
//!
//! One walk over the file and the table together; every finding names the client, its version and its reaction. The
//! reaction decides how bad it is: an error where the client refuses or drops something and that was seen in a run, else
//! a warning. A key that is not known may be new, so it is reported only where the client refuses it, or where it is a
//! typing error of a known one.

use std::path::Path;
use std::sync::Arc;

use brief_profiles::{
    Bounds, CheckedFile, CheckedTable, ClientChecks, Evidence, Expected, FileFormat, Reaction,
};
use brief_syntax::diagnostic::{Edit, Fix};
use brief_syntax::near_miss::{find_nearest, find_sure_match};
use brief_syntax::{Diagnostic, Rule, Severity, Source, Span, rules};

use super::forms;
use super::names::{find_synonym, list_events};
use super::tree::{TreeField, TreeNode, TreeValue};

/// Named types may name others; more of them than this are a circle.
const NESTED: usize = 32;

/// A file that is being checked.
pub(super) struct FileCheck<'c> {
    pub(super) checks: &'c ClientChecks,
    pub(super) file: &'c CheckedFile,
    pub(super) source: &'c Arc<Source>,
    /// The directory that the file's places start at.
    pub(super) base: &'c Path,
    pub(super) is_there: &'c dyn Fn(&Path) -> bool,
    /// False if the text was repaired to be read, so that places in it are not exact.
    pub(super) may_fix: bool,
    pub(super) found: Vec<Diagnostic>,
}

/// The place of a value: what it is called, and what becomes of it when it is wrong.
#[derive(Clone, Copy)]
pub(super) struct Spot<'k> {
    /// The key; empty at the top.
    pub(super) name: &'k str,
    pub(super) span: Span,
    pub(super) reaction: Reaction,
    pub(super) help: Option<&'k str>,
    /// True if it is an element of the list that bears the name.
    is_element: bool,
    level: usize,
}

impl<'k> Spot<'k> {
    pub(super) fn top_level(span: Span, reaction: Reaction) -> Spot<'k> {
        Spot { name: "", span, reaction, help: None, is_element: false, level: 0 }
    }

    /// Returns the same place, where the client does something else about a wrong value.
    pub(super) fn with_reaction(self, reaction: Reaction) -> Spot<'k> {
        Spot { reaction, ..self }
    }
}

impl FileCheck<'_> {
    /// Reports a problem: `message` is followed by the client's reaction.
    pub(super) fn report(&mut self, rule: Rule, span: Span, message: &str, reaction: Reaction) {
        self.report_phrase(rule, span, message, (reaction, reaction.phrase()));
    }

    /// Reports a problem of several names at once.
    pub(super) fn report_several(
        &mut self,
        rule: Rule,
        span: Span,
        message: &str,
        reaction: Reaction,
    ) {
        let phrase = reaction.phrase().replace(" it", " them");
        self.report_phrase(rule, span, message, (reaction, &phrase));
    }

    fn report_phrase(
        &mut self,
        rule: Rule,
        span: Span,
        message: &str,
        (reaction, phrase): (Reaction, &str),
    ) {
        let named = self.checks.versioned_name(self.file);
        let evidence = self.checks.seen_in(self.file).how;
        let message = match (reaction, evidence) {
            (Reaction::Standard, _) => {
                format!("{message}: {named} requires it, but some clients do not")
            }
            (_, Evidence::Documents) => {
                format!("{message}, according to the documentation of {named}")
            }
            (_, Evidence::Run) => format!("{message}: {named} {phrase}"),
        };
        let rule =
            if reaction == Reaction::Standard { rules::client::SKILL_STANDARD } else { rule };
        let is_doubtful = evidence == Evidence::Documents || !reaction.is_refusal();
        let severity = if is_doubtful { Severity::Warning } else { Severity::Error };
        let text = self.source.text();
        let start = text.floor_char_boundary(span.start);
        let span = Span::new(start, text.floor_char_boundary(span.end).max(start));
        let found = Diagnostic::new(rule, self.source, span, message);
        self.found.push(found.with_severity(severity));
    }

    /// Adds advice and a fix to the last problem.
    pub(super) fn add_advice(&mut self, help: String, fix: Option<Fix>) {
        if let Some(last) = self.found.last_mut() {
            last.help = Some(help);
            last.fix = fix.filter(|_| self.may_fix);
        }
    }

    pub(super) fn check_value(&mut self, node: &TreeNode, expected: &Expected, spot: Spot<'_>) {
        if spot.level > NESTED {
            return;
        }
        // A key of YAML without a value is the same as no key, unless the client refuses it.
        let is_yaml = self.file.format == FileFormat::FrontMatter;
        let is_missing = is_yaml && self.file.reaction != Reaction::RefusesFile;
        if is_missing && node.value == TreeValue::Null {
            return;
        }
        match (expected, &node.value) {
            (Expected::Any, _)
            | (Expected::Null, TreeValue::Null)
            | (Expected::Boolean, TreeValue::Boolean(_))
            | (_, TreeValue::Other) => {}
            (Expected::Named(name), _) => self.check_named(node, name, spot),
            (Expected::Form(form), TreeValue::Text(text)) => {
                forms::check_form(self, form, text, node.span, spot);
            }
            (Expected::Text(bounds), TreeValue::Text(text)) => {
                #[expect(clippy::cast_precision_loss, reason = "bounds of texts are small")]
                let length = text.chars().count() as f64;
                if !bounds.contains(length) {
                    self.out_of_bounds(node, *bounds, "characters", spot);
                }
            }
            (Expected::Integer(bounds), TreeValue::Number(number, true))
            | (Expected::Number(bounds), TreeValue::Number(number, _)) => {
                if !bounds.contains(*number) {
                    self.out_of_bounds(node, *bounds, "", spot);
                }
            }
            (Expected::EmptyList, TreeValue::List(nodes)) if nodes.is_empty() => {}
            (Expected::Literal(wanted), TreeValue::Text(text)) if wanted == text => {}
            (Expected::Literal(wanted), TreeValue::Text(_)) => {
                self.other_value(node, &[wanted.as_str()], spot);
            }
            (Expected::Flag(wanted), TreeValue::Boolean(flag)) if wanted == flag => {}
            (Expected::List(of), TreeValue::List(nodes))
                if matches!(&**of, Expected::Form(form) if form == "tool")
                    && nodes.iter().all(|node| node.text().is_some()) =>
            {
                let names = nodes.iter().map(|node| (node.text().unwrap_or_default(), node.span));
                forms::tool_names(self, names, spot);
            }
            (Expected::List(of), TreeValue::List(nodes)) => {
                for node in nodes {
                    let start = node.span.start;
                    let first = self.source.slice(node.span).chars().next();
                    let span = Span::new(start, start + first.map_or(0, char::len_utf8));
                    let below = Spot { span, is_element: true, level: spot.level + 1, ..spot };
                    self.check_value(node, of, below);
                }
            }
            (Expected::Map(of), TreeValue::Table(fields)) => {
                for field in fields {
                    let below = Spot { name: &field.name, span: field.key, ..spot };
                    let level = spot.level + 1;
                    self.check_value(&field.node, of, Spot { is_element: false, level, ..below });
                }
            }
            (Expected::Either(all), _) => self.check_either(node, all, spot),
            _ => self.other_kind(node, std::slice::from_ref(expected), spot),
        }
    }

    fn check_named(&mut self, node: &TreeNode, name: &str, spot: Spot<'_>) {
        let spot = Spot { level: spot.level + 1, ..spot };
        if let Some(table) = self.checks.tables.get(name) {
            self.check_table(node, table, spot);
        } else if let Some(expected) = self.named_type(name) {
            self.check_value(node, &expected, spot);
        }
    }

    fn named_type(&self, name: &str) -> Option<Expected> {
        Expected::parse(self.checks.types.get(name)?).ok()
    }

    fn check_either(&mut self, node: &TreeNode, all: &[Expected], spot: Spot<'_>) {
        let is_literal = |one: &&Expected| matches!(one, Expected::Literal(_) | Expected::Flag(_));
        let mut exact = all.iter().filter(is_literal);
        if exact.any(|one| self.matches_expected(node, one, 0)) {
            return;
        }
        if let Some(one) = all.iter().find(|one| self.matches_expected(node, one, 0)) {
            self.check_value(node, one, spot);
            return;
        }
        let literals: Vec<&str> = all
            .iter()
            .filter_map(|one| match one {
                Expected::Literal(text) => Some(text.as_str()),
                Expected::Flag(true) => Some("true"),
                Expected::Flag(false) => Some("false"),
                _ => None,
            })
            .collect();
        let is_text = matches!(node.value, TreeValue::Text(_));
        if is_text && !literals.is_empty() || literals.len() == all.len() {
            self.other_value(node, &literals, spot);
        } else {
            self.other_kind(node, all, spot);
        }
    }

    /// Returns whether a value is of the kind that is expected, whatever is in it.
    fn matches_expected(&self, node: &TreeNode, expected: &Expected, level: usize) -> bool {
        match (expected, &node.value) {
            (Expected::Any, _)
            | (Expected::Null, TreeValue::Null)
            | (Expected::Text(_) | Expected::Form(_), TreeValue::Text(_))
            | (Expected::Number(_), TreeValue::Number(..))
            | (Expected::Integer(_), TreeValue::Number(_, true))
            | (Expected::Boolean, TreeValue::Boolean(_))
            | (Expected::List(_), TreeValue::List(_))
            | (Expected::Map(_), TreeValue::Table(_)) => true,
            (Expected::EmptyList, TreeValue::List(nodes)) => nodes.is_empty(),
            (Expected::Literal(wanted), TreeValue::Text(text)) => wanted == text,
            (Expected::Flag(wanted), TreeValue::Boolean(flag)) => wanted == flag,
            (Expected::Either(all), _) => {
                all.iter().any(|one| self.matches_expected(node, one, level))
            }
            (Expected::Named(name), value) => {
                if self.checks.tables.contains_key(name) {
                    return matches!(value, TreeValue::Table(_));
                }
                level < NESTED
                    && self
                        .named_type(name)
                        .is_some_and(|one| self.matches_expected(node, &one, level + 1))
            }
            _ => false,
        }
    }

    fn other_kind(&mut self, node: &TreeNode, all: &[Expected], spot: Spot<'_>) {
        // That a client puts up with an empty list is no advice.
        let named = all.iter().filter(|one| **one != Expected::EmptyList);
        let mut wanted: Vec<&str> = named.map(|one| self.expected_noun(one, 0)).collect();
        wanted.dedup();
        let message =
            format!("{} must be {}, not {}", describe_spot(spot), wanted.join(" or "), node.noun());
        self.report(rules::client::WRONG_TYPE, node.span, &message, spot.reaction);
        let bare = match (node.text(), all) {
            (Some(text), [Expected::Boolean]) => {
                text.parse().ok().map(|flag: bool| flag.to_string())
            }
            (Some(text), [Expected::Number(_) | Expected::Integer(_)]) => {
                text.parse().ok().map(|number: u32| number.to_string())
            }
            _ => None,
        };
        if let Some(help) = spot.help {
            self.add_advice(help.to_owned(), None);
        } else if let Some(bare) = bare {
            let help = format!("write `{bare}` without quotes");
            let fix = Fix::safe(help.clone(), vec![Edit::replace(node.span, bare)]);
            self.add_advice(help, Some(fix));
        }
    }

    fn expected_noun(&self, expected: &Expected, level: usize) -> &'static str {
        match expected {
            Expected::Any => "anything",
            Expected::Null => "nothing",
            Expected::Text(_) | Expected::Form(_) | Expected::Literal(_) => "text",
            Expected::Number(_) => "a number",
            Expected::Integer(_) => "a whole number",
            Expected::Boolean | Expected::Flag(_) => "true or false",
            Expected::List(_) | Expected::EmptyList => "a list",
            Expected::Map(_) => "a table",
            Expected::Either(all) => {
                all.first().map_or("anything", |one| self.expected_noun(one, level))
            }
            Expected::Named(name) => match self.checks.types.get(name) {
                Some(text) if level < NESTED => Expected::parse(text)
                    .map_or("anything", |one| self.expected_noun(&one, level + 1)),
                _ => "a table",
            },
        }
    }

    fn out_of_bounds(&mut self, node: &TreeNode, bounds: Bounds, unit: &str, spot: Spot<'_>) {
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let wanted = match (bounds.least, bounds.most) {
            (Some(least), _) if bounds.is_above => format!("more than {least}{unit}"),
            (Some(least), Some(most)) => format!("{least} to {most}{unit}"),
            (Some(least), None) => format!("{least}{unit} or more"),
            (None, Some(most)) => format!("at most {most}{unit}"),
            (None, None) => return,
        };
        let message = format!("{} must be {wanted}", describe_spot(spot));
        self.report(rules::client::WRONG_VALUE, node.span, &message, spot.reaction);
        if let Some(help) = spot.help {
            self.add_advice(help.to_owned(), None);
        }
    }

    fn other_value(&mut self, node: &TreeNode, known: &[&str], spot: Spot<'_>) {
        let written = match &node.value {
            TreeValue::Text(text) => format!("`{text}`"),
            _ => node.noun().to_owned(),
        };
        let mut listed: Vec<String> = known.iter().take(8).map(|one| format!("`{one}`")).collect();
        if known.len() > 8 {
            listed.push("…".to_owned());
        }
        let one_of = if known.len() > 1 { "one of " } else { "" };
        let listed = listed.join(", ");
        let message = format!("{} must be {one_of}{listed}, not {written}", describe_spot(spot));
        self.report(rules::client::WRONG_VALUE, node.span, &message, spot.reaction);
        if let Some(help) = spot.help {
            self.add_advice(help.to_owned(), None);
        } else if let Some(meant) = node.text().and_then(|text| find_sure_match(text, known)) {
            let fix = self.rename_fix(node.span, meant);
            self.add_advice(format!("did you mean `{meant}`?"), Some(fix));
        }
    }

    /// Returns the edit that writes another name in the same quotes.
    pub(super) fn rename_fix(&self, span: Span, name: &str) -> Fix {
        let quote = match self.source.slice(span).chars().next() {
            Some(quote @ ('"' | '\'')) => quote.to_string(),
            _ => String::new(),
        };
        let edit = Edit::replace(span, format!("{quote}{name}{quote}"));
        Fix::safe(format!("write `{name}`"), vec![edit])
    }

    fn check_table(&mut self, node: &TreeNode, table: &CheckedTable, spot: Spot<'_>) {
        if !matches!(node.value, TreeValue::Table(_)) {
            self.other_kind(node, &[Expected::Map(Box::new(Expected::Any))], spot);
            return;
        }
        let mut spot = Spot { reaction: table.reaction.unwrap_or(spot.reaction), ..spot };
        let is_flag = |field: &TreeField| matches!(field.node.value, TreeValue::Boolean(_));
        if table.excused_by.as_deref().is_some_and(|key| node.get(key).is_some_and(is_flag)) {
            spot.reaction = Reaction::Accepts;
        }
        if let Some(by) = &table.by {
            self.check_case(node, table, by, spot);
            return;
        }
        for field in node.fields() {
            self.check_field(node, field, table, spot);
        }
        let noun = table.noun.as_deref().unwrap_or("the table");
        // The whole of an entry would hide what is wrong in it.
        let place = if spot.name.is_empty() { Span::empty_at(spot.span.start) } else { spot.span };
        for key in table.required.iter().filter(|key| !has_value(node, key)) {
            let message = format!("{noun} needs `{key}`");
            self.report(rules::client::MISSING_FIELD, place, &message, spot.reaction);
            let insert = table.insert.get(&**key);
            let help = match insert {
                Some(value) => format!("add `\"{key}\": \"{value}\"`"),
                None => format!("add `{key}`"),
            };
            let fix = insert.and_then(|value| self.insertion_fix(node, key, value));
            self.add_advice(help, fix);
        }
        if !table.one_of.is_empty() && !table.one_of.iter().any(|key| has_value(node, key)) {
            let keys = table.one_of.iter().map(|key| &**key);
            self.needs_one_of(noun, keys, place, spot.reaction);
        }
        for (first, second) in &table.exclusive {
            if let (Some(_), Some(second_field)) = (node.get(first), node.get(second)) {
                let message = format!("{noun} has both `{first}` and `{second}`");
                let span = second_field.key;
                self.report(rules::client::CONFLICTING_FIELDS, span, &message, spot.reaction);
                self.add_advice("keep only one of them".to_owned(), None);
            }
        }
        for (first, second) in &table.needs {
            if let Some(field) = node.get(first).filter(|_| !has_value(node, second)) {
                let message = format!("`{first}` does nothing without `{second}`");
                self.report(rules::client::NO_EFFECT, field.key, &message, spot.reaction);
                self.add_advice(format!("add `{second}`, or remove `{first}`"), None);
            }
        }
    }

    fn needs_one_of<'k>(
        &mut self,
        noun: &str,
        keys: impl Iterator<Item = &'k str>,
        span: Span,
        reaction: Reaction,
    ) {
        let keys: Vec<String> = keys.map(|key| format!("`{key}`")).collect();
        let message = format!("{noun} needs {}", keys.join(" or "));
        self.report(rules::client::MISSING_FIELD, span, &message, reaction);
        self.add_advice("add one of them".to_owned(), None);
    }

    /// Checks a table whose kind stands in one of its keys.
    fn check_case(&mut self, node: &TreeNode, table: &CheckedTable, by: &str, spot: Spot<'_>) {
        let chosen = match node.get(by) {
            Some(field) => {
                let text = field.node.text();
                let case = text.and_then(|text| table.cases.get(text));
                if case.is_none() {
                    let known: Vec<&str> = table.cases.keys().map(String::as_str).collect();
                    let below = Spot { name: by, span: field.key, is_element: false, ..spot };
                    self.other_value(&field.node, &known, below);
                }
                case
            }
            None => {
                let mut otherwise = table.otherwise.iter();
                let found = otherwise.find(|(key, _)| key.is_empty() || node.get(key).is_some());
                if found.is_none() {
                    let noun = table.noun.as_deref().unwrap_or("the table");
                    let others = table.otherwise.iter().map(|(key, _)| &**key);
                    let keys = std::iter::once(by).chain(others);
                    self.needs_one_of(noun, keys, spot.span, spot.reaction);
                }
                found.map(|(_, case)| case)
            }
        };
        let expected = chosen.and_then(|case| Expected::parse(case).ok());
        if let Some(Expected::Named(name)) = expected
            && let Some(case) = self.checks.tables.get(&name)
        {
            self.check_table(node, case, Spot { level: spot.level + 1, ..spot });
        }
    }

    fn check_field(
        &mut self,
        node: &TreeNode,
        field: &TreeField,
        table: &CheckedTable,
        spot: Spot<'_>,
    ) {
        let name = field.name.as_str();
        let level = spot.level + 1;
        let below = Spot { name, span: field.key, is_element: false, level, ..spot };
        if let Some(key) = table.keys.get(name) {
            let reaction = key.reaction.unwrap_or(spot.reaction);
            if key.no_effect {
                let message = format!("`{name}` has no effect here");
                self.report(rules::client::NO_EFFECT, field.key, &message, reaction);
                self.add_advice(key.help.as_deref().unwrap_or("remove it").to_owned(), None);
                return;
            }
            let below = Spot { reaction, help: key.help.as_deref(), ..below };
            if let Ok(expected) = Expected::parse(&key.expected) {
                self.check_value(&field.node, &expected, below);
            }
            return;
        }
        let noun = table.noun.as_deref().unwrap_or("the table");
        if let Some(help) = table.without_effect.get(name) {
            let message = format!("`{name}` does nothing in {noun}");
            let reaction = Reaction::IgnoresSilently;
            self.report(rules::client::NO_EFFECT, field.key, &message, reaction);
            self.add_advice(help.to_string(), None);
            return;
        }
        if table.reserved.contains_text(name) {
            let message = format!("the name `{name}` is reserved");
            self.report(rules::client::RESERVED_NAME, field.key, &message, spot.reaction);
            self.add_advice("choose another name".to_owned(), None);
            return;
        }
        let names = table.names.as_deref().and_then(|list| self.checks.lists.get(list));
        if let Some(each) = &table.each
            && names.is_none_or(|names| names.contains_text(name))
        {
            if let Ok(expected) = Expected::parse(each) {
                self.check_value(&field.node, &expected, below);
            }
            return;
        }
        let mut known: Vec<&str> = table.keys.keys().map(String::as_str).collect();
        known.extend(names.iter().flat_map(|names| names.iter()).map(|name| &**name));
        known.sort_unstable();
        known.dedup();
        // A list is no slip for a key that takes one text: `agents: [a, b]` is a field of the author's own.
        let takes_it = |meant: &str| {
            let expected =
                table.keys.get(meant).and_then(|key| Expected::parse(&key.expected).ok());
            !matches!(
                (&field.node.value, expected),
                (
                    TreeValue::List(_) | TreeValue::Table(_),
                    Some(Expected::Text(_) | Expected::Form(_) | Expected::Boolean)
                )
            )
        };
        let is_free = |meant: &&str| node.get(meant).is_none() && takes_it(meant);
        let meant = find_sure_match(name, &known).filter(is_free);
        let reaction = match (table.unknown, meant) {
            (Some(reaction), _) => reaction,
            (None, Some(_)) => Reaction::IgnoresSilently,
            (None, None) => return,
        };
        let (rule, message, help) = match names {
            Some(_) => (
                rules::client::UNKNOWN_EVENT,
                format!("unknown event `{name}`"),
                list_events(name, &known),
            ),
            None => (
                rules::client::UNKNOWN_KEY,
                format!("unknown key `{name}` in {noun}"),
                "remove it, or correct its name".to_owned(),
            ),
        };
        self.report(rule, field.key, &message, reaction);
        let near = meant.or_else(|| find_nearest(name, &known).filter(is_free));
        let near = near.or_else(|| find_synonym(name, &known).filter(is_free));
        let help = near.map_or(help, |near| format!("did you mean `{near}`?"));
        let fix = meant.map(|meant| self.rename_fix(field.key, meant));
        self.add_advice(help, fix);
    }

    /// Checks the name of a program that has to be called like an event. A page beside the programs is none.
    pub(super) fn event_of_program(&mut self) {
        let Some(events) = self.checks.lists.get("events") else { return };
        let name = self.source.path().file_name().and_then(|name| name.to_str());
        let stem = name.and_then(|name| name.split('.').next()).unwrap_or_default();
        let is_page =
            stem.is_empty() || self.source.path().extension().is_some_and(|ending| ending == "md");
        if is_page || events.contains_text(stem) {
            return;
        }
        let known: Vec<&str> = events.iter().map(|event| &**event).collect();
        let message = format!("unknown event `{stem}`");
        self.report(rules::client::UNKNOWN_EVENT, Span::empty_at(0), &message, self.file.reaction);
        let help = match find_nearest(stem, &known) {
            Some(near) => format!("rename it to `{near}`"),
            None => list_events(stem, &known),
        };
        self.add_advice(help, None);
    }

    /// Returns the edit that adds a field in front of the others of a JSON table.
    fn insertion_fix(&self, node: &TreeNode, key: &str, value: &str) -> Option<Fix> {
        let is_json = matches!(
            self.file.format,
            FileFormat::Json | FileFormat::JsonWithComments | FileFormat::Jsonc
        );
        let first = node.fields().first().filter(|_| is_json)?;
        let start = first.key.start;
        let before = self.source.text().get(node.span.start + 1..start)?;
        let gap = if before.trim().is_empty() && !before.is_empty() { before } else { " " };
        let text = format!("\"{key}\": \"{value}\",{gap}");
        let edit = Edit::replace(Span::empty_at(start), text);
        Some(Fix::safe(format!("add `\"{key}\": \"{value}\"`"), vec![edit]))
    }
}

/// Returns the words for the place of a value.
pub(super) fn describe_spot(spot: Spot<'_>) -> String {
    match spot.name {
        "" => "the file".to_owned(),
        name if spot.is_element => format!("an element of `{name}`"),
        name => format!("`{name}`"),
    }
}

fn has_value(node: &TreeNode, key: &str) -> bool {
    node.get(key).is_some_and(|field| field.node.value != TreeValue::Null)
}
