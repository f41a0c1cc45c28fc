//! The one parser of checks.
//!
//! A check with an error is not in force at all: half of a rule could forbid more than its author means. It is
//! reported, and the other checks stay in force.

use std::sync::Arc;

use brief_syntax::front_matter::FrontMatter;
use brief_syntax::near_miss::suggest_nearest;
use brief_syntax::yaml::{Node, Value};
use brief_syntax::{Diagnostic, Rule, Span, rules};

use super::{
    CheckExample, CheckGlob, CheckNode, CheckPattern, CheckPlace, CheckValue, Demand, Enforcement,
    ExampleKind, ExampleParts, Examples, MessageKind, MessageKinds, PathChange, PathCondition,
    RuleCheck, RunLimit, Subject, Verb,
};

/// The limit for the alternatives of one list.
const MOST_ALTERNATIVES: usize = 256;

/// The limit for the examples of one list; the rest is not run.
const MOST_EXAMPLES: usize = 1_000;

/// The limit for the bytes of an id.
const LONGEST_ID: usize = 100;

const CHECK_KEYS: [&str; 7] = ["forbid", "require", "in", "instead", "enforce", "examples", "id"];
const FORBID_KEYS: [&str; 8] =
    ["command", "text", "create", "change", "delete", "message", "on", "in"];
const REQUIRE_KEYS: [&str; 9] =
    ["change", "when", "run", "after", "before", "skill", "text", "message", "on"];
const EXAMPLES_KEYS: [&str; 2] = ["broken", "kept"];
const PART_KEYS: [&str; 8] =
    ["command", "text", "in", "create", "change", "delete", "skill", "message"];

/// The values of a rule that belong to its check.
#[derive(Debug, Clone, Default)]
pub struct CheckFields {
    pub check: Option<CheckNode>,
    pub id: Option<CheckNode>,
    pub enforce: Option<CheckNode>,
    pub examples: Option<CheckNode>,
}

impl CheckFields {
    /// Returns the fields of a header that has a check, or a part of one.
    pub fn from_front_matter(front: &FrontMatter) -> Option<CheckFields> {
        let Value::Mapping(top) = front.header.as_ref()?.yaml.root()?.value() else { return None };
        let mut fields = CheckFields::default();
        for field in top.fields() {
            fields.set(field.name(), field.value);
        }
        // `id`, `enforce` and `examples` are other tools' words, too.
        fields.check.is_some().then_some(fields)
    }

    /// Takes a field of a rule; false for one that belongs to no check. The first of equal ones counts.
    pub fn set(&mut self, name: &str, node: Node<'_>) -> bool {
        let slot = match name {
            "check" => &mut self.check,
            "id" => &mut self.id,
            "enforce" => &mut self.enforce,
            "examples" => &mut self.examples,
            _ => return false,
        };
        slot.get_or_insert_with(|| CheckNode::from_yaml(node));
        true
    }

    /// Returns the place of the first field.
    pub fn span(&self) -> Option<Span> {
        [&self.check, &self.enforce, &self.examples, &self.id]
            .into_iter()
            .flatten()
            .map(|node| node.span)
            .next()
    }
}

/// Reads the check of a rule. Without one, and with an error in it, there is none; errors are reported.
pub fn parse_rule_check(
    fields: &CheckFields,
    place: CheckPlace<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Arc<RuleCheck>> {
    let before = diagnostics.len();
    let mut parser = CheckParser { place, diagnostics, has_failed: false };
    let check = parser.read_check(fields)?;
    let has_failed = parser.has_failed;
    debug_assert!(!has_failed || diagnostics.len() > before, "a failure is reported");
    (!has_failed).then(|| Arc::new(check))
}

struct CheckParser<'p, 'd> {
    place: CheckPlace<'p>,
    diagnostics: &'d mut Vec<Diagnostic>,
    has_failed: bool,
}

/// The parts that a check and the rule around it may both have.
#[derive(Default)]
struct Settings {
    id: Option<Arc<str>>,
    enforce: Option<Enforcement>,
    instead: Option<Arc<str>>,
    examples: Option<Examples>,
    within: Vec<CheckGlob>,
}

impl CheckParser<'_, '_> {
    fn report(&mut self, rule: Rule, span: Span, message: String, help: impl Into<String>) {
        self.has_failed = true;
        let diagnostic = Diagnostic::new(rule, self.place.source, span, message);
        self.diagnostics.push(diagnostic.with_help(help));
    }

    fn report_shape(&mut self, node: &CheckNode, key: &str, wanted: &str, help: &str) {
        let message = format!("`{key}` is {wanted}, not {}", node.noun());
        self.report(rules::check::INVALID, node.span, message, help);
    }

    fn read_check(&mut self, fields: &CheckFields) -> Option<RuleCheck> {
        let Some(check) = &fields.check else {
            let (key, node) = [("enforce", &fields.enforce), ("examples", &fields.examples)]
                .into_iter()
                .find_map(|(key, node)| Some((key, node.as_ref()?)))?;
            let message = format!("`{key}` has no effect without `check`");
            self.report(rules::check::INVALID, node.span, message, "add `check: …`, or remove it");
            return None;
        };
        let mut settings = Settings::default();
        if let Some(node) = &fields.id {
            settings.id = self.read_id(node);
        }
        if let Some(node) = &fields.enforce {
            settings.enforce = self.read_enforcement(node);
        }
        if let Some(node) = &fields.examples {
            settings.examples = self.read_examples(node);
        }
        let mut demands = Vec::new();
        match &check.value {
            CheckValue::List(list) => {
                for node in list {
                    self.read_part(node, &mut settings, &mut demands);
                }
            }
            _ => self.read_part(check, &mut settings, &mut demands),
        }
        if demands.is_empty() && !self.has_failed {
            let message = "the check forbids and requires nothing".to_owned();
            let help = "write `forbid: …` or `require: …`";
            self.report(rules::check::INVALID, check.span, message, help);
        }
        let CheckPlace { source, scope, owner, text } = self.place;
        Some(RuleCheck {
            own_id: settings.id,
            demands,
            enforce: settings.enforce.unwrap_or_default(),
            instead: settings.instead,
            examples: settings.examples.unwrap_or_default(),
            text: text.trim().into(),
            scope: scope.clone(),
            owner,
            source: Arc::clone(source),
            span: check.span,
        })
    }

    /// Reads one mapping with `forbid` or `require`.
    fn read_part(&mut self, node: &CheckNode, settings: &mut Settings, demands: &mut Vec<Demand>) {
        let CheckValue::Map(fields) = &node.value else {
            let help = "write `check: {forbid: {command: npm}}`";
            return self.report_shape(node, "check", "a mapping", help);
        };
        let first = demands.len();
        settings.within.clear();
        for (name, key, value) in fields {
            match name.as_str() {
                "forbid" => self.read_forbid(value, demands),
                "require" => self.read_require(value, demands),
                "in" => settings.within = self.read_globs(value, "in"),
                "instead" => settings.instead = self.read_text(value, "instead"),
                "id" => settings.id = self.read_id(value),
                "enforce" => settings.enforce = self.read_enforcement(value),
                "examples" => settings.examples = self.read_examples(value),
                _ => {
                    let help = suggest_nearest(name, &CHECK_KEYS).unwrap_or_else(|| {
                        "write `forbid: …` for what must not be, or `require: …` for what must be"
                            .to_owned()
                    });
                    let message = format!("unknown verb `{name}` in `check`");
                    self.report(rules::check::UNKNOWN_VERB, *key, message, help);
                }
            }
        }
        for demand in &mut demands[first..] {
            demand.within.extend(settings.within.iter().cloned());
        }
    }

    fn read_forbid(&mut self, node: &CheckNode, demands: &mut Vec<Demand>) {
        let Some(fields) = self.fields_of(node, Verb::Forbid, &FORBID_KEYS) else { return };
        let within = self.read_within(fields);
        let on = self.read_message_kinds(fields);
        for (name, _, value) in fields {
            let subject = match name.as_str() {
                "command" => Subject::Command { patterns: self.read_patterns(value, name) },
                "text" => Subject::Text { patterns: self.read_patterns(value, name) },
                "message" => Subject::Message { patterns: self.read_patterns(value, name), on },
                _ => {
                    let change = PathChange::ALL.into_iter().find(|one| one.as_str() == name);
                    let Some(change) = change else { continue };
                    Subject::Path { change, globs: self.read_globs(value, name) }
                }
            };
            let within = within.clone();
            demands.push(Demand { verb: Verb::Forbid, subject, within, span: value.span });
        }
        self.require_demand(node, Verb::Forbid, demands);
    }

    fn read_require(&mut self, node: &CheckNode, demands: &mut Vec<Demand>) {
        let known = [&REQUIRE_KEYS[..], &["in"]].concat();
        let Some(fields) = self.fields_of(node, Verb::Require, &known) else { return };
        let within = self.read_within(fields);
        let on = self.read_message_kinds(fields);
        let find = |key: &str| fields.iter().find(|(name, ..)| name == key).map(|(.., node)| node);
        for (name, _, value) in fields {
            let subject = match name.as_str() {
                "text" => Subject::Text { patterns: self.read_patterns(value, name) },
                "message" => Subject::Message { patterns: self.read_patterns(value, name), on },
                "change" => {
                    let globs = self.read_globs(value, name);
                    let when = find("when").map(|when| self.read_conditions(when));
                    if when.is_none() {
                        let message = "`require: {change: …}` has no `when`".to_owned();
                        let help = "add `when: GLOB`, the files whose change requires it";
                        self.report(rules::check::INVALID, value.span, message, help);
                    }
                    Subject::Change { globs, when: when.unwrap_or_default() }
                }
                "run" => {
                    let commands = self.read_patterns(value, name);
                    let after = find("after").map(|after| self.read_after(after));
                    let before = find("before").map_or(RunLimit::Stop, |before| {
                        let words = [("stop", RunLimit::Stop), ("commit", RunLimit::Commit)];
                        self.read_word(before, "before", &words).unwrap_or(RunLimit::Stop)
                    });
                    Subject::Run { commands, after: after.unwrap_or_default(), before }
                }
                "skill" => {
                    if let Some(before) = find("before") {
                        self.read_word(before, "before", &[("edit", ())]);
                    }
                    Subject::Skill { names: self.read_texts(value, name, MOST_ALTERNATIVES) }
                }
                _ => continue,
            };
            let within = within.clone();
            demands.push(Demand { verb: Verb::Require, subject, within, span: value.span });
        }
        self.require_demand(node, Verb::Require, demands);
        let partners =
            [("when", &["change"][..]), ("after", &["run"]), ("before", &["run", "skill"])];
        for (key, partners) in partners {
            if let Some(node) = find(key)
                && partners.iter().all(|partner| find(partner).is_none())
            {
                let message =
                    format!("`{key}` has no effect without `{}`", partners.join("` or `"));
                self.report(rules::check::INVALID, node.span, message, "remove it");
            }
        }
    }

    /// Reports a verb whose fields are all conditions.
    fn require_demand(&mut self, node: &CheckNode, verb: Verb, demands: &[Demand]) {
        let is_there = demands.iter().any(|demand| demand.verb == verb);
        if !is_there && !self.has_failed {
            let verb = verb.as_str();
            let message = format!("`{verb}` says nothing to {verb}");
            let help = format!("write `{verb}: {{text: …}}`, or one of its other keys");
            self.report(rules::check::INVALID, node.span, message, help);
        }
    }

    fn fields_of<'n>(
        &mut self,
        node: &'n CheckNode,
        verb: Verb,
        known: &[&str],
    ) -> Option<&'n [(String, Span, CheckNode)]> {
        let CheckValue::Map(fields) = &node.value else {
            let help = match verb {
                Verb::Forbid => "write `forbid: {command: npm}` or `forbid: {text: …}`",
                Verb::Require => "write `require: {text: …}` or `require: {run: …}`",
            };
            self.report_shape(node, verb.as_str(), "a mapping", help);
            return None;
        };
        for (name, key, _) in fields {
            if known.contains(&name.as_str()) {
                continue;
            }
            let verb = verb.as_str();
            let help = suggest_nearest(name, known)
                .unwrap_or_else(|| format!("`{verb}` has the keys {}", known.join(", ")));
            let message = format!("unknown key `{name}` in `{verb}`");
            self.report(rules::check::UNKNOWN_VERB, *key, message, help);
        }
        Some(fields)
    }

    fn read_within(&mut self, fields: &[(String, Span, CheckNode)]) -> Vec<CheckGlob> {
        let node = fields.iter().find(|(name, ..)| name == "in");
        node.map(|(.., node)| self.read_globs(node, "in")).unwrap_or_default()
    }

    /// Reads `on`. Without it, all messages are meant.
    fn read_message_kinds(&mut self, fields: &[(String, Span, CheckNode)]) -> MessageKinds {
        let mut kinds = MessageKinds { commit: true, pull_request: true };
        let Some((.., node)) = fields.iter().find(|(name, ..)| name == "on") else { return kinds };
        if fields.iter().all(|(name, ..)| name != "message") {
            let message = "`on` has no effect without `message`".to_owned();
            self.report(rules::check::INVALID, node.span, message, "remove it");
        }
        kinds = MessageKinds { commit: false, pull_request: false };
        for item in items_of(node) {
            match self.read_message_kind(item) {
                Some(MessageKind::Commit) => kinds.commit = true,
                Some(MessageKind::PullRequest) => kinds.pull_request = true,
                None => {}
            }
        }
        kinds
    }

    fn read_message_kind(&mut self, node: &CheckNode) -> Option<MessageKind> {
        let words = [("commit", MessageKind::Commit), ("pr", MessageKind::PullRequest)];
        self.read_word(node, "on", &words)
    }

    fn read_word<T: Copy>(
        &mut self,
        node: &CheckNode,
        key: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let written = node.as_text().unwrap_or_default();
        let found = words.iter().find(|(word, _)| *word == written).map(|(_, value)| *value);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let help = suggest_nearest(written, &known).unwrap_or_else(|| {
                format!("write `{key}: {}`", known.join(&format!("` or `{key}: ")))
            });
            let message = format!("unknown value of `{key}`: `{written}`");
            self.report(rules::check::INVALID, node.span, message, help);
        }
        found
    }

    /// Reads `after`: `edit`, or the files that an edit of counts.
    fn read_after(&mut self, node: &CheckNode) -> Vec<CheckGlob> {
        match &node.value {
            CheckValue::Text(word) if word == "edit" => Vec::new(),
            CheckValue::Map(fields) if fields.len() == 1 && fields[0].0 == "edit" => {
                self.read_globs(&fields[0].2, "edit")
            }
            _ => {
                let message = "`after` is `edit`, or `{edit: GLOB}`".to_owned();
                self.report(rules::check::INVALID, node.span, message, "write `after: edit`");
                Vec::new()
            }
        }
    }

    /// Reads `when`: globs for any change, or the changes by name.
    fn read_conditions(&mut self, node: &CheckNode) -> Vec<PathCondition> {
        let CheckValue::Map(fields) = &node.value else {
            let globs = self.read_globs(node, "when").into_iter();
            return globs.map(|glob| PathCondition { change: None, glob }).collect();
        };
        let mut conditions = Vec::new();
        for (name, key, value) in fields {
            let change = PathChange::ALL.into_iter().find(|one| one.as_str() == name);
            if change.is_none() {
                let message = format!("unknown key `{name}` in `when`");
                let help = "use `create`, `change` or `delete`, or write the globs without a key";
                self.report(rules::check::UNKNOWN_VERB, *key, message, help);
            }
            let globs = self.read_globs(value, name).into_iter();
            conditions.extend(globs.map(|glob| PathCondition { change, glob }));
        }
        conditions
    }

    fn read_globs(&mut self, node: &CheckNode, key: &str) -> Vec<CheckGlob> {
        let mut globs = Vec::new();
        for (text, span) in self.text_items(node, key, MOST_ALTERNATIVES) {
            match CheckGlob::new(&text, span) {
                Ok(glob) => globs.push(glob),
                Err(error) => {
                    let message = format!("`{text}` in `{key}` is not a valid pattern: {error}");
                    let help =
                        "patterns are doublestar globs: `src/**/*.ts`; `\\[` is a literal bracket";
                    self.report(rules::check::BAD_PATTERN, span, message, help);
                }
            }
        }
        globs
    }

    fn read_patterns(&mut self, node: &CheckNode, key: &str) -> Vec<CheckPattern> {
        let items = self.text_items(node, key, MOST_ALTERNATIVES);
        items.into_iter().map(|(text, span)| CheckPattern::new(&text, span)).collect()
    }

    fn read_texts(&mut self, node: &CheckNode, key: &str, most: usize) -> Vec<Arc<str>> {
        let items = self.text_items(node, key, most);
        items.into_iter().map(|(text, _)| text.into()).collect()
    }

    fn read_text(&mut self, node: &CheckNode, key: &str) -> Option<Arc<str>> {
        let text = node.as_text();
        if text.is_none() {
            self.report_shape(node, key, "text", "write it as text");
        }
        text.map(|text| text.trim().into())
    }

    /// Returns one text or a list of texts, none of which may be empty.
    fn text_items(&mut self, node: &CheckNode, key: &str, most: usize) -> Vec<(String, Span)> {
        let list = items_of(node);
        if list.is_empty() || matches!(node.value, CheckValue::Null) {
            let message = format!("`{key}` has no value");
            self.report(rules::check::INVALID, node.span, message, "write a value, or remove it");
            return Vec::new();
        }
        if list.len() > most {
            let message = format!("`{key}` has {} values, more than {most}", list.len());
            let help = "use a glob or a regular expression for many alternatives";
            self.report(rules::check::INVALID, node.span, message, help);
            return Vec::new();
        }
        let mut texts = Vec::with_capacity(list.len());
        for item in list {
            match item.as_text() {
                Some(text) if !text.trim().is_empty() => texts.push((text.to_owned(), item.span)),
                Some(_) => {
                    let message = format!("an empty text in `{key}` matches everything");
                    self.report(rules::check::INVALID, item.span, message, "remove it");
                }
                None => {
                    self.report_shape(item, key, "a text or a list of texts", "write it as text");
                }
            }
        }
        texts
    }

    fn read_id(&mut self, node: &CheckNode) -> Option<Arc<str>> {
        let text = self.read_text(node, "id")?;
        let is_name = |letter: char| letter.is_alphanumeric() || "-_./#:@".contains(letter);
        if text.is_empty() || text.len() > LONGEST_ID || !text.chars().all(is_name) {
            let message = format!("`{text}` is not a valid id");
            let help =
                format!("use letters, digits, `-`, `_`, `.` and `/`, at most {LONGEST_ID} of them");
            self.report(rules::check::INVALID, node.span, message, help);
            return None;
        }
        Some(text)
    }

    fn read_enforcement(&mut self, node: &CheckNode) -> Option<Enforcement> {
        let words = Enforcement::ALL.map(|enforce| (enforce.as_str(), enforce));
        self.read_word(node, "enforce", &words)
    }

    fn read_examples(&mut self, node: &CheckNode) -> Option<Examples> {
        let CheckValue::Map(fields) = &node.value else {
            let help = "write `examples: {broken: […], kept: […]}`";
            self.report_shape(node, "examples", "a mapping", help);
            return None;
        };
        let mut examples = Examples::default();
        for (name, key, value) in fields {
            match name.as_str() {
                "broken" => examples.broken = self.read_example_list(value, name),
                "kept" => examples.kept = self.read_example_list(value, name),
                _ => {
                    let help = suggest_nearest(name, &EXAMPLES_KEYS)
                        .unwrap_or_else(|| "use `broken` and `kept`".to_owned());
                    let message = format!("unknown key `{name}` in `examples`");
                    self.report(rules::check::UNKNOWN_VERB, *key, message, help);
                }
            }
        }
        Some(examples)
    }

    fn read_example_list(&mut self, node: &CheckNode, key: &str) -> Vec<CheckExample> {
        let list = items_of(node);
        if list.len() > MOST_EXAMPLES {
            let message =
                format!("`{key}` has {} examples: only {MOST_EXAMPLES} are run", list.len());
            let found =
                Diagnostic::new(rules::check::TOO_MANY, self.place.source, node.span, message);
            self.diagnostics.push(found.with_help("keep the ones that say something new"));
        }
        let mut examples = Vec::with_capacity(list.len().min(MOST_EXAMPLES));
        for item in list.iter().take(MOST_EXAMPLES) {
            let kind = match &item.value {
                CheckValue::Text(text) => ExampleKind::Plain(text.as_str().into()),
                CheckValue::Map(fields) => match self.read_parts(fields) {
                    Some(parts) => ExampleKind::Parts(parts),
                    None => continue,
                },
                CheckValue::Null => ExampleKind::Plain("".into()),
                _ => {
                    let help = "write it as text, or as `{text: …, in: PATH}`";
                    self.report_shape(item, key, "a text or a mapping", help);
                    continue;
                }
            };
            examples.push(CheckExample { kind, span: item.span });
        }
        examples
    }

    fn read_parts(&mut self, fields: &[(String, Span, CheckNode)]) -> Option<ExampleParts> {
        let mut parts = ExampleParts::default();
        for (name, key, value) in fields {
            match name.as_str() {
                "command" => parts.commands = self.read_texts(value, name, MOST_EXAMPLES),
                "text" => parts.text = self.read_text(value, name),
                "in" => parts.within = self.read_text(value, name),
                "create" => parts.create = self.read_texts(value, name, MOST_EXAMPLES),
                "change" => parts.change = self.read_texts(value, name, MOST_EXAMPLES),
                "delete" => parts.delete = self.read_texts(value, name, MOST_EXAMPLES),
                "skill" => parts.skills = self.read_texts(value, name, MOST_EXAMPLES),
                "message" => parts.message = self.read_text(value, name),
                "on" => parts.on = self.read_message_kind(value),
                _ => {
                    let help = suggest_nearest(name, &PART_KEYS)
                        .unwrap_or_else(|| format!("use {}", PART_KEYS.join(", ")));
                    let message = format!("unknown key `{name}` in an example");
                    self.report(rules::check::UNKNOWN_VERB, *key, message, help);
                    return None;
                }
            }
        }
        Some(parts)
    }
}

/// Returns the items of a list, or the one value.
fn items_of(node: &CheckNode) -> &[CheckNode] {
    match &node.value {
        CheckValue::List(list) => list,
        _ => std::slice::from_ref(node),
    }
}
