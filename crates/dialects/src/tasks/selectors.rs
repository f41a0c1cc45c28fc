//! Which files a task uses (ruling T5).
//!
//! A selector is a key with the values that are wanted. A file that says nothing about a key is
//! for everyone; one that does must name a wanted value. All keys count, any value of a key does,
//! and values are compared as they are written.

use std::fmt;

use brief_syntax::yaml::{Mapping, Node, Value};

use super::model::{Agent, Document, Kind};

/// What is wanted, key by key, in the order in which it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selectors {
    wanted: Vec<(String, Vec<String>)>,
}

/// Why a text is no selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid selector format: {text}")]
pub struct SelectorError {
    text: String,
}

impl Selectors {
    /// Adds a selector as it is typed: `key=value`.
    pub fn add_text(&mut self, text: &str) -> Result<(), SelectorError> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                self.add(key.trim(), value.trim());
                Ok(())
            }
            _ => Err(SelectorError { text: text.to_owned() }),
        }
    }

    /// Wants a value of a key, besides those that are wanted already.
    pub fn add(&mut self, key: &str, value: &str) {
        let key = canonical(key);
        let values = match self.wanted.iter().position(|(known, _)| known == key) {
            Some(index) => &mut self.wanted[index].1,
            None => {
                self.wanted.push((key.to_owned(), Vec::new()));
                let last = self.wanted.len() - 1;
                &mut self.wanted[last].1
            }
        };
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }

    /// Adds the `selectors` field of a task or command.
    pub fn add_field(&mut self, field: Option<Node<'_>>) {
        for (key, value, _) in selectors_of(field) {
            self.add(key, value);
        }
    }

    /// Returns the keys with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.wanted.iter().map(|(key, values)| (key.as_str(), values.as_slice()))
    }
}

/// Returns each key and value of a `selectors` field, with the value's node.
pub(super) fn selectors_of(field: Option<Node<'_>>) -> Vec<(&str, &str, Node<'_>)> {
    let Some(Value::Mapping(mapping)) = field.map(Node::value) else { return Vec::new() };
    let fields = mapping.effective_fields();
    let values = fields.iter().flat_map(|field| {
        let name = field.name();
        scalars(field.value).into_iter().map(move |node| (name, node))
    });
    values.filter_map(|(name, node)| Some((name, node.as_str()?, node))).collect()
}

/// `language` and `languages` are one key, and so are `task_name` and `task_names`.
pub(super) fn canonical(key: &str) -> &str {
    match key {
        "language" => "languages",
        "task_names" => "task_name",
        _ => key,
    }
}

/// What a task says about itself: metadata, which the document keeps apart from selectors (T12).
const METADATA: [&str; 5] = ["languages", "model", "single_shot", "timeout", "mcp_server"];

/// The fields that a key is about.
fn fields_of(key: &str) -> [&str; 2] {
    match key {
        "languages" => ["languages", "language"],
        "task_name" => ["task_names", "task_name"],
        _ => [key, key],
    }
}

/// The texts of a field: itself, or those of its list.
pub(super) fn scalars(node: Node<'_>) -> Vec<Node<'_>> {
    match node.value() {
        Value::Scalar(_) => vec![node],
        Value::Sequence(list) => list.iter().filter(|item| item.as_str().is_some()).collect(),
        // Nested fields are invisible to selectors.
        Value::Null | Value::Mapping(_) | Value::Broken(_) => Vec::new(),
    }
}

/// Returns what a document says about a key; nothing means that it is for everyone.
pub(super) fn values_of<'d>(document: &'d Document, key: &str) -> Vec<&'d str> {
    let Some(mapping) = document.fields() else { return Vec::new() };
    let [first, second] = fields_of(canonical(key));
    let mut values = texts(mapping, first);
    if second != first {
        values.extend(texts(mapping, second));
    }
    values
}

fn texts<'d>(mapping: Mapping<'d>, name: &str) -> Vec<&'d str> {
    let node = mapping.get(name);
    node.map(scalars).unwrap_or_default().into_iter().filter_map(Node::as_str).collect()
}

/// What is running.
#[derive(Debug, Clone, Default)]
pub(super) struct Running {
    /// The task's name, without and with its namespace.
    pub(super) task_names: Vec<String>,
    /// Its namespace; empty when it has none. `None` while the task is still looked for.
    pub(super) namespace: Option<String>,
    /// The agent that the prompt is for.
    pub(super) agent: Option<Agent>,
}

/// Whether a file is used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It names what is wanted.
    Matches {
        /// The keys and the values, such as `languages=go`.
        found: Vec<String>,
    },
    /// Nothing that was asked for concerns it.
    Generic,
    /// It is for something else.
    Excluded {
        /// The key.
        key: String,
        /// What the file says.
        said: Vec<String>,
        /// What is wanted.
        wanted: Vec<String>,
    },
    /// The task takes only what names something wanted, and it does not.
    Unmatched,
}

impl Verdict {
    /// Returns whether the file is used.
    pub fn is_in(&self) -> bool {
        matches!(self, Verdict::Matches { .. } | Verdict::Generic)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Matches { found } => write!(formatter, "it is for {}", found.join(", ")),
            Verdict::Generic => formatter.write_str("it is for everything"),
            Verdict::Excluded { key, said, wanted } => {
                let said = said.join(", ");
                match wanted.join(" or ").as_str() {
                    "" => write!(formatter, "it is for {key}={said}, and none is wanted"),
                    wanted => write!(formatter, "it is for {key}={said}, not for {wanted}"),
                }
            }
            Verdict::Unmatched => {
                formatter.write_str("no selector matches it, and the task wants only what matches")
            }
        }
    }
}

/// Judges a document by the selectors and by what is running.
pub(super) fn judge(document: &Document, selectors: &Selectors, running: &Running) -> Verdict {
    let mut judgement = Judgement { document, found: Vec::new() };
    // The task's name and namespace are selectors that nobody has to write.
    let names: Vec<String> = running.task_names.clone();
    let automatic = [
        ("task_name", (!names.is_empty()).then_some(names)),
        ("namespace", running.namespace.clone().map(|namespace| vec![namespace])),
    ];
    for (key, wanted) in automatic {
        let Some(mut wanted) = wanted else { continue };
        let asked = selectors.iter().find(|(asked, _)| *asked == key);
        wanted.extend(asked.into_iter().flat_map(|(_, values)| values.iter().cloned()));
        if let Some(verdict) = judgement.exclusion(key, &wanted) {
            return verdict;
        }
    }
    if let (Kind::Rule, Some(agent)) = (document.kind, running.agent)
        && let Some(verdict) = judgement.exclusion("agent", &[agent.as_str().to_owned()])
    {
        return verdict;
    }
    for (key, wanted) in selectors.iter() {
        let is_done = running.namespace.is_some() && matches!(key, "task_name" | "namespace");
        if let Some(verdict) = (!is_done).then(|| judgement.exclusion(key, wanted)).flatten() {
            return verdict;
        }
    }
    match judgement.found {
        found if found.is_empty() => Verdict::Generic,
        found => Verdict::Matches { found },
    }
}

struct Judgement<'d> {
    document: &'d Document,
    found: Vec<String>,
}

impl Judgement<'_> {
    /// Looks at one key: remembers a match, and returns the verdict when the document is for
    /// something else.
    fn exclusion(&mut self, key: &str, wanted: &[String]) -> Option<Verdict> {
        let document = self.document;
        let said = match key {
            "rule_name" if document.kind == Kind::Rule => vec![document.stem()],
            // A name of rules says nothing about others; the name in a task or command file is
            // what it calls itself, not what it is for.
            "rule_name" => return None,
            "task_name" if matches!(document.kind, Kind::Task) => return None,
            key if document.kind == Kind::Task && METADATA.contains(&key) => return None,
            "task_name" if matches!(document.kind, Kind::Command) => {
                texts(document.fields()?, "task_names")
            }
            _ => values_of(document, key),
        };
        if said.is_empty() {
            return None;
        }
        match said.iter().find(|value| wanted.iter().any(|wanted| wanted == *value)) {
            Some(value) => {
                self.found.push(format!("{key}={value}"));
                None
            }
            None => Some(Verdict::Excluded {
                key: key.to_owned(),
                said: said.iter().map(|&value| value.to_owned()).collect(),
                wanted: wanted.to_vec(),
            }),
        }
    }
}
