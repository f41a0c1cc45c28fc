//! The answer as JSON, in the shape that other programs rely on, inside of the
//! [envelope](brief_syntax::render::Envelope) that all answers have.
//!
//! Field order is fixed; what is absent is `null` or an empty list, never a missing key. Parts are
//! put into words while they are written, because an answer can have thousands of them.

use std::borrow::Cow;
use std::cell::Cell;
use std::path::Path;

use brief_dialects::hosted::{Config, ConfigPattern, ConfiguredServer, Connection, ServerKind};
use brief_dialects::{
    Action, Answer, Applied, Decision, LeftOut, Moment, Name, Origin, Reason, Timing,
};
use brief_syntax::render::path_below;
use brief_syntax::{Target, TargetKind};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::budget::{Count, cost};
use crate::tokens::estimate_tokens;

/// The JSON form of an answer.
pub struct Report<'r> {
    root: &'r Path,
    moment: &'r Moment,
    answer: &'r Answer<'r>,
    count: Count<'r>,
}

impl<'r> Report<'r> {
    /// Puts an answer into its JSON shape.
    pub fn new(root: &'r Path, moment: &'r Moment, answer: &'r Answer<'r>) -> Self {
        Report { root, moment, answer, count: &estimate_tokens }
    }

    /// Counts tokens in another way than by estimating them.
    #[must_use]
    pub fn counted_by(self, count: Count<'r>) -> Self {
        Report { count, ..self }
    }

    fn path(&self) -> Option<&'r str> {
        self.moment.target.as_ref().map(Target::slashed)
    }
}

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let about = self.path().unwrap_or_default();
        let tokens = Cell::new(0);
        let answer = self.answer;
        let items = answer.items.iter().map(|applied| {
            tokens.set(tokens.get() + cost(&applied.item, self.count));
            item(applied, about, self.count)
        });
        let left_out = answer.left_out.iter().map(|candidate| left_out(candidate, about));
        let decisions = answer.decisions.iter().map(|bound| decision(bound, about));
        let mut report = serializer.serialize_struct("Report", 7)?;
        report.serialize_field("moment", &moment(self))?;
        report.serialize_field("items", &Sequence::new(items))?;
        report.serialize_field("left_out", &Sequence::new(left_out))?;
        report.serialize_field("decisions", &Sequence::new(decisions))?;
        let servers = answer.hosted.map(|hosted| hosted.mcp_servers.as_slice()).unwrap_or_default();
        report.serialize_field("mcp_servers", &McpServers(servers))?;
        report.serialize_field(
            "hosted_config",
            &answer.hosted.map(|hosted| config(&hosted.config)),
        )?;
        report.serialize_field("tokens", &tokens.get())?;
        report.end()
    }
}

/// A list whose parts are made one after the other while they are written.
struct Sequence<I>(Cell<Option<I>>);

impl<I> Sequence<I> {
    fn new(parts: I) -> Self {
        Sequence(Cell::new(Some(parts)))
    }
}

impl<I: Iterator<Item: Serialize>> Serialize for Sequence<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.take().into_iter().flatten())
    }
}

#[derive(Serialize)]
struct MomentReport<'r> {
    root: Cow<'r, str>,
    path: Option<&'r str>,
    kind: &'static str,
    on: &'static str,
    when: &'static str,
    client: Option<&'r str>,
    task: Option<&'r str>,
}

fn moment<'r>(report: &Report<'r>) -> MomentReport<'r> {
    let moment = report.moment;
    MomentReport {
        root: report.root.to_string_lossy(),
        path: report.path(),
        kind: match moment.target.as_ref().map(Target::kind) {
            Some(TargetKind::File) => "file",
            Some(TargetKind::Directory) => "directory",
            None => "project",
        },
        on: moment.action.map_or("all", Action::as_str),
        when: moment.timing.map_or("all", Timing::as_str),
        client: moment.client.as_deref(),
        task: moment.task.as_deref(),
    }
}

#[derive(Serialize)]
pub(crate) struct Place<'r> {
    path: Cow<'r, str>,
    line: usize,
}

pub(crate) fn place(path: &Path, line: usize) -> Place<'_> {
    Place { path: path.to_string_lossy(), line }
}

/// Returns a place whose path is relative to `root`, if it lies there.
pub(crate) fn place_below<'r>(root: &Path, path: &'r Path, line: usize) -> Place<'r> {
    Place { path: path_below(root, path), line }
}

/// A name in words.
struct NameText<'r>(Name<'r>);

impl Serialize for NameText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A reason in words.
struct ReasonText<'r> {
    reason: &'r Reason<'r>,
    about: &'r str,
}

impl Serialize for ReasonText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.reason.about(self.about))
    }
}

#[derive(Serialize)]
struct ItemReport<'r> {
    dialect: &'static str,
    kind: &'static str,
    name: NameText<'r>,
    source: Place<'r>,
    scope: &'static str,
    trigger: Option<&'static str>,
    state: &'static str,
    reason: ReasonText<'r>,
    description: &'r str,
    content: &'r str,
    tokens: usize,
    also: Vec<OriginReport<'r>>,
}

#[derive(Serialize)]
struct OriginReport<'r> {
    dialect: &'static str,
    path: Cow<'r, str>,
    line: usize,
}

fn item<'r>(applied: &'r Applied<'r>, about: &'r str, count: Count<'_>) -> ItemReport<'r> {
    let item = &applied.item;
    let also = applied.also.iter().map(|&Origin { dialect, path, line }| OriginReport {
        dialect,
        path: path.to_string_lossy(),
        line,
    });
    ItemReport {
        dialect: item.dialect,
        kind: item.kind,
        name: NameText(item.name),
        source: place(item.path, item.line),
        scope: item.scope,
        trigger: item.trigger,
        state: item.state.as_str(),
        reason: ReasonText { reason: &applied.reason, about },
        description: item.description,
        content: item.content,
        tokens: count(item.content),
        also: also.collect(),
    }
}

/// MCP servers by name, in order.
#[derive(Debug, Clone, Copy)]
pub struct McpServers<'r>(pub &'r [ConfiguredServer]);

impl Serialize for McpServers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let servers = self.0.iter();
        serializer.collect_map(servers.map(|configured| (&configured.name, server(configured))))
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum ServerReport<'r> {
    Command {
        command: &'r str,
        r#type: Option<&'static str>,
        args: &'r [String],
        env: Pairs<'r>,
        disabled: bool,
    },
    Url {
        url: &'r str,
        r#type: Option<&'static str>,
        headers: Pairs<'r>,
        disabled: bool,
    },
}

/// A map that keeps its order.
struct Pairs<'r>(&'r [(String, String)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

fn server(configured: &ConfiguredServer) -> ServerReport<'_> {
    let server = &configured.server;
    let (r#type, disabled) = (server.kind.map(ServerKind::as_str), server.disabled);
    match &server.connection {
        Connection::Command { command, args, env } => {
            ServerReport::Command { command, r#type, args, env: Pairs(env), disabled }
        }
        Connection::Url { url, headers } => {
            ServerReport::Url { url, r#type, headers: Pairs(headers), disabled }
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfigReport<'r> {
    include_files: Vec<&'r str>,
    exclude_files: Vec<&'r str>,
    ignore_global_context: bool,
    ignore_ancestor_context: bool,
}

fn config(config: &Config) -> ConfigReport<'_> {
    fn texts(patterns: &[ConfigPattern]) -> Vec<&str> {
        patterns.iter().map(|pattern| pattern.pattern.as_str()).collect()
    }
    ConfigReport {
        include_files: texts(&config.include_files),
        exclude_files: texts(&config.exclude_files),
        ignore_global_context: config.ignore_global_context.value,
        ignore_ancestor_context: config.ignore_ancestor_context.value,
    }
}

#[derive(Serialize)]
struct LeftOutReport<'r> {
    dialect: &'static str,
    kind: &'static str,
    name: NameText<'r>,
    source: Place<'r>,
    reason: ReasonText<'r>,
}

fn left_out<'r>(candidate: &'r LeftOut<'r>, about: &'r str) -> LeftOutReport<'r> {
    LeftOutReport {
        dialect: candidate.dialect,
        kind: candidate.kind,
        name: NameText(candidate.name),
        source: place(candidate.path, candidate.line),
        reason: ReasonText { reason: &candidate.reason, about },
    }
}

#[derive(Serialize)]
struct DecisionReport<'r> {
    decision: &'r str,
    rationale: &'r str,
    alternatives: Vec<AlternativeReport<'r>>,
    revisit_when: Option<&'r str>,
    date: Option<&'r str>,
    source: Place<'r>,
    reason: ReasonText<'r>,
}

#[derive(Serialize)]
struct AlternativeReport<'r> {
    option: &'r str,
    reason_rejected: &'r str,
}

fn decision<'r>(bound: &'r Decision<'r>, about: &'r str) -> DecisionReport<'r> {
    let decision = bound.decision;
    let alternatives = decision.alternatives.iter().map(|alternative| AlternativeReport {
        option: &alternative.option,
        reason_rejected: &alternative.reason_rejected,
    });
    DecisionReport {
        decision: &decision.decision,
        rationale: &decision.rationale,
        alternatives: alternatives.collect(),
        revisit_when: decision.revisit_when.as_deref(),
        date: decision.date.as_deref(),
        source: place(bound.path, decision.line),
        reason: ReasonText { reason: &bound.reason, about },
    }
}
