//! The selectors of a task's files (ruling T5).
//!
//! A selector is a key with wanted values. A file without the key is for every task; one with the
//! key must have a wanted value. All keys must match, any value of a key is enough, and values are
//! compared as written.

use std::fmt;

use brief_syntax::yaml::{Mapping, Node, Value};

use crate::rule_check::CHECK_FIELDS;

use super::model::{CodingAgent, TaskDocument, TaskFileKind, TaskName};

/// The wanted values by key, in the order given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selectors {
    wanted: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid selector format: {text}")]
pub struct SelectorError {
    text: String,
}

impl Selectors {
    /// Adds a selector as typed: `key=value`.
    pub fn add_text(&mut self, text: &str) -> Result<(), SelectorError> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                self.add_selector(key.trim(), value.trim());
                Ok(())
            }
            _ => Err(SelectorError { text: text.to_owned() }),
        }
    }

    /// Adds a wanted value of a key.
    pub fn add_selector(&mut self, key: &str, value: &str) {
        let (key, value) = (canonical_key(key), value.to_owned());
        match self.wanted.iter_mut().find(|(known, _)| known == key) {
            None => self.wanted.push((key.to_owned(), vec![value])),
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
        }
    }

    /// Adds the `selectors` field of a task or command.
    pub fn add_field(&mut self, field: Option<Node<'_>>) {
        for (key, value, _) in selectors_of(field) {
            self.add_selector(key, value);
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
        collect_scalars(field.value).into_iter().map(move |node| (name, node))
    });
    values.filter_map(|(name, node)| Some((name, node.as_str()?, node))).collect()
}

/// Returns the one form of a key: `language` for `languages`, `task_name` for `task_names`.
pub(super) fn canonical_key(key: &str) -> &str {
    match key {
        "language" => "languages",
        "task_names" => "task_name",
        _ => key,
    }
}

/// A task's fields that are metadata, which the document keeps apart from selectors (T12).
const METADATA: [&str; 5] = ["languages", "model", "single_shot", "timeout", "mcp_server"];

/// Returns whether a rule has a check, whose fields select nothing.
fn has_check(document: &TaskDocument) -> bool {
    document.fields().is_some_and(|fields| fields.get("check").is_some())
}

/// Returns the strings of a field: itself, or those of its list.
pub(super) fn collect_scalars(node: Node<'_>) -> Vec<Node<'_>> {
    match node.value() {
        Value::Scalar(_) => vec![node],
        Value::Sequence(list) => list.iter().filter(|item| item.as_str().is_some()).collect(),
        // Selectors do not see nested fields.
        Value::Null | Value::Mapping(_) | Value::Broken(_) => Vec::new(),
    }
}

/// Returns the values of a document for a key; none means that it is for every task.
pub(super) fn values_of<'d>(document: &'d TaskDocument, key: &str) -> Vec<&'d str> {
    let Some(mapping) = document.fields() else { return Vec::new() };
    let names: &[&str] = match canonical_key(key) {
        "languages" => &["languages", "language"],
        "task_name" => &["task_names", "task_name"],
        _ => &[key],
    };
    names.iter().flat_map(|name| field_texts(mapping, name)).collect()
}

fn field_texts<'d>(mapping: Mapping<'d>, name: &str) -> Vec<&'d str> {
    let node = mapping.get(name);
    node.map(collect_scalars).unwrap_or_default().into_iter().filter_map(Node::as_str).collect()
}

#[derive(Debug, Clone, Default)]
pub(super) struct RunningTask {
    /// The task's name, without and with its namespace.
    pub(super) task_names: Vec<String>,
    /// Its namespace; empty if it has none. `None` before the task is found.
    pub(super) namespace: Option<String>,
    pub(super) agent: Option<CodingAgent>,
    /// The names of a client that is none of the document's agents. A rule for another agent is not for it.
    pub(super) other: Vec<String>,
}

impl RunningTask {
    pub(super) fn new(task: &TaskName, agent: Option<CodingAgent>) -> RunningTask {
        let mut task_names = vec![task.base().to_owned()];
        task_names.extend(task.namespace().map(|_| task.to_string()));
        let namespace = Some(task.namespace().unwrap_or_default().to_owned());
        RunningTask { task_names, namespace, agent, other: Vec::new() }
    }
}

/// The decision about a file, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelectorVerdict {
    /// It has the wanted values.
    Matches {
        /// The keys and values, such as `languages=go`.
        found: Vec<String>,
    },
    Generic,
    /// It is for other values.
    Excluded {
        key: String,
        /// The values of the file.
        said: Vec<String>,
        wanted: Vec<String>,
    },
    /// The task uses only files that match a selector, and this one matches none.
    Unmatched,
}

impl SelectorVerdict {
    /// Returns whether the file is used.
    pub fn is_in(&self) -> bool {
        matches!(self, SelectorVerdict::Matches { .. } | SelectorVerdict::Generic)
    }
}

impl fmt::Display for SelectorVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SelectorVerdict::Matches { found } => {
                write!(formatter, "matches {}", found.join(", "))
            }
            SelectorVerdict::Generic => formatter.write_str("applies to every task"),
            SelectorVerdict::Excluded { key, said, wanted } => {
                let said = said.join(", ");
                match wanted.join(" or ").as_str() {
                    "" => write!(formatter, "requires {key}={said}"),
                    wanted => write!(formatter, "requires {key}={said}, not {wanted}"),
                }
            }
            SelectorVerdict::Unmatched => {
                formatter.write_str("matches no selector, and the task includes only what matches")
            }
        }
    }
}

/// Decides about a document by the selectors, the task and the agent.
pub(super) fn match_selectors(
    document: &TaskDocument,
    selectors: &Selectors,
    running: &RunningTask,
) -> SelectorVerdict {
    let mut found = Vec::new();
    // The task's name and namespace are implicit selectors.
    let names: Vec<String> = running.task_names.clone();
    let automatic = [
        ("task_name", (!names.is_empty()).then_some(names)),
        ("namespace", running.namespace.clone().map(|namespace| vec![namespace])),
    ];
    for (key, wanted) in automatic {
        let Some(mut wanted) = wanted else { continue };
        let asked = selectors.iter().find(|(asked, _)| *asked == key);
        wanted.extend(asked.into_iter().flat_map(|(_, values)| values.iter().cloned()));
        if let Some(verdict) = find_exclusion(document, &mut found, key, &wanted) {
            return verdict;
        }
    }
    let agent = running.agent.map(|agent| vec![agent.as_str().to_owned()]);
    let names = agent.as_ref().unwrap_or(&running.other);
    if document.kind == TaskFileKind::Rule
        && !names.is_empty()
        && let Some(verdict) = find_exclusion(document, &mut found, "agent", names)
    {
        return verdict;
    }
    for (key, wanted) in selectors.iter() {
        let is_done = running.namespace.is_some() && matches!(key, "task_name" | "namespace");
        if !is_done && let Some(verdict) = find_exclusion(document, &mut found, key, wanted) {
            return verdict;
        }
    }
    if found.is_empty() { SelectorVerdict::Generic } else { SelectorVerdict::Matches { found } }
}

/// Checks one key: adds a match to `found`, and returns the decision if the document is for other
/// values.
fn find_exclusion(
    document: &TaskDocument,
    found: &mut Vec<String>,
    key: &str,
    wanted: &[String],
) -> Option<SelectorVerdict> {
    let said = match (document.kind, key) {
        (TaskFileKind::Rule, "rule_name") => vec![document.stem.as_str()],
        // A rule's name selects nothing else. The name in a task or command file is its own, not
        // that of a task it is for.
        (_, "rule_name") | (TaskFileKind::Task, "task_name") => return None,
        (TaskFileKind::Task, key) if METADATA.contains(&key) => return None,
        (TaskFileKind::Rule, key) if has_check(document) && CHECK_FIELDS.contains(&key) => {
            return None;
        }
        (TaskFileKind::Command, "task_name") => field_texts(document.fields()?, "task_names"),
        _ => values_of(document, key),
    };
    if said.is_empty() {
        return None;
    }
    if let Some(value) = said.iter().find(|value| wanted.iter().any(|wanted| wanted == *value)) {
        found.push(format!("{key}={value}"));
        return None;
    }
    let said = said.into_iter().map(str::to_owned).collect();
    Some(SelectorVerdict::Excluded { key: key.to_owned(), said, wanted: wanted.to_vec() })
}
