//! An assembled prompt as JSON, in the shape that other programs rely on.

use std::borrow::Cow;
use std::path::Path;

use brief_dialects::tasks::{self, CodingAgent, Included, Prompt, TaskDocument};
use brief_syntax::yaml::Node;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::briefing::{PlaceReport, place_below};
use crate::tokens::estimate_tokens;

/// The JSON form of a prompt.
#[derive(Debug)]
pub struct PromptReport<'r> {
    /// The directory that paths are relative to.
    pub root: &'r Path,
    /// The prompt.
    pub prompt: &'r Prompt,
    /// Its text, as it would be printed.
    pub text: &'r [u8],
    /// The commands that it requested, in words.
    pub ran: Vec<RunReport<'r>>,
}

/// Something that the prompt asked to be run.
#[derive(Debug, Serialize)]
pub struct RunReport<'r> {
    /// `command` or `bootstrap`.
    pub kind: &'static str,
    /// The file that asks for it, relative to the root.
    pub path: Cow<'r, str>,
    /// The line of that file.
    pub line: usize,
    /// The command, or the script.
    pub text: &'r str,
    /// `ran`, `not run`, `not trusted`, or what went wrong.
    pub outcome: String,
}

impl Serialize for PromptReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PromptReport { root, prompt, .. } = *self;
        let commands = prompt.commands.iter().map(|included| build_item_report(root, included));
        let rules = prompt.rules.iter().map(|included| build_item_report(root, included));
        let skills = prompt.skills.iter().map(|skill| ItemReport {
            name: skill.name.clone(),
            state: "listed",
            reason: skill.reason.to_string(),
            description: &skill.description,
            content: Cow::Borrowed(""),
            tokens: estimate_tokens(&skill.description),
            ..build_document_report(root, &skill.document)
        });
        let left_out = prompt.left_out.iter().map(|left_out| LeftOutReport {
            dialect: tasks::NAME,
            kind: left_out.document.kind.as_str(),
            name: left_out.document.name(),
            source: place_below(root, left_out.document.path(), 1),
            reason: left_out.reason.to_string(),
        });
        let task = &prompt.task.document;
        let task = TaskReport {
            name: task.name(),
            source: place_below(root, task.path(), 1),
            scope: task.origin.scope(),
            agent: prompt.agent.map(CodingAgent::as_str),
            frontmatter: task.front_matter(),
        };
        let text = String::from_utf8_lossy(self.text);
        let mut report = serializer.serialize_struct("PromptReport", 7)?;
        report.serialize_field("task", &task)?;
        report
            .serialize_field("items", &rules.chain(skills).chain(commands).collect::<Vec<_>>())?;
        report.serialize_field("skipped", &left_out.collect::<Vec<_>>())?;
        report.serialize_field("mcp_servers", &Servers(prompt))?;
        report.serialize_field("ran", &self.ran)?;
        report.serialize_field("prompt", &text)?;
        report.serialize_field("tokens", &estimate_tokens(&text))?;
        report.end()
    }
}

#[derive(Serialize)]
struct TaskReport<'r> {
    name: String,
    source: PlaceReport<'r>,
    scope: &'static str,
    agent: Option<&'static str>,
    frontmatter: Option<Node<'r>>,
}

#[derive(Serialize)]
struct ItemReport<'r> {
    #[serde(rename = "format")]
    dialect: &'static str,
    kind: &'static str,
    name: String,
    source: PlaceReport<'r>,
    scope: &'static str,
    trigger: Option<&'static str>,
    state: &'static str,
    reason: String,
    description: &'r str,
    content: Cow<'r, str>,
    tokens: usize,
}

fn build_document_report<'r>(root: &Path, document: &'r TaskDocument) -> ItemReport<'r> {
    ItemReport {
        dialect: tasks::NAME,
        kind: document.kind.as_str(),
        name: document.name(),
        source: place_below(root, document.path(), 1),
        scope: document.origin.scope(),
        trigger: None,
        state: "active",
        reason: String::new(),
        description: document.description(),
        content: Cow::Borrowed(""),
        tokens: 0,
    }
}

fn build_item_report<'r>(root: &Path, included: &'r Included) -> ItemReport<'r> {
    let content = String::from_utf8_lossy(&included.text);
    ItemReport {
        reason: included.reason.to_string(),
        tokens: estimate_tokens(&content),
        content,
        ..build_document_report(root, &included.document)
    }
}

#[derive(Serialize)]
struct LeftOutReport<'r> {
    #[serde(rename = "format")]
    dialect: &'static str,
    kind: &'static str,
    name: String,
    source: PlaceReport<'r>,
    reason: String,
}

/// The servers as they are declared, all fields included.
struct Servers<'r>(&'r Prompt);

impl Serialize for Servers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.mcp_servers())
    }
}
