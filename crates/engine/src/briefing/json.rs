//! A briefing as JSON, in the shape that other programs rely on, inside of the
//! [envelope](brief_syntax::render::Envelope) that all answers have.
//!
//! Field order is fixed; what is absent is `null` or an empty list, never a missing key.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use brief_dialects::dependencies::PackageId;
use brief_dialects::hosted::{Config, ConfigPattern, ConfiguredServer, Connection, ServerKind};
use brief_dialects::{Action, Moment, Timing};
use brief_syntax::render::path_below;
use brief_syntax::{Target, TargetKind};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::{BriefedDecision, BriefedItem, Briefing, Explanation, ItemPlace, OmittedItem};

impl Serialize for Briefing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let items = self.items();
        let mut report = serializer.serialize_struct("Briefing", 7)?;
        report.serialize_field("moment", &moment(&self.moment))?;
        report.serialize_field("items", &Sequence(&items, |item| item_report(item)))?;
        report.serialize_field("left_out", &Sequence(&self.left_out, left_out))?;
        report.serialize_field("decisions", &Sequence(&self.decisions, decision))?;
        report.serialize_field("mcp_servers", &McpServersReport(&self.mcp_servers))?;
        report.serialize_field("hosted_config", &self.hosted_config.as_ref().map(config))?;
        report.serialize_field("tokens", &self.tokens)?;
        report.end()
    }
}

/// A list whose parts are put into their JSON shape one after the other while they are written.
struct Sequence<'r, T, R>(&'r [T], fn(&'r T) -> R);

impl<T, R: Serialize> Serialize for Sequence<'_, T, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(self.1))
    }
}

impl Serialize for Explanation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.end {
            None => serializer.serialize_str(&self.words),
            Some(_) => serializer.collect_str(self),
        }
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

fn moment(moment: &Moment) -> MomentReport<'_> {
    MomentReport {
        root: moment.root.path().to_string_lossy(),
        path: moment.target.as_ref().map(Target::slashed),
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

#[derive(Debug, Clone, Serialize)]
pub(crate) struct PlaceReport<'r> {
    path: Cow<'r, str>,
    line: usize,
}

impl PlaceReport<'_> {
    /// Returns the path and the line.
    pub(crate) fn parts(&self) -> (&str, usize) {
        (&self.path, self.line)
    }
}

impl fmt::Display for PlaceReport<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.path, self.line)
    }
}

fn place(path: &Path, line: usize) -> PlaceReport<'_> {
    PlaceReport { path: path.to_string_lossy(), line }
}

/// Returns a place whose path is relative to `root`, if it lies there.
pub(crate) fn place_below<'r>(root: &Path, path: &'r Path, line: usize) -> PlaceReport<'r> {
    PlaceReport { path: path_below(root, path), line }
}

#[derive(Serialize)]
struct ItemReport<'r> {
    dialect: &'static str,
    kind: &'static str,
    name: &'r str,
    source: PlaceReport<'r>,
    scope: &'static str,
    trigger: Option<&'static str>,
    state: &'static str,
    reason: &'r Explanation,
    description: &'r str,
    content: &'r str,
    tokens: usize,
    also: Sequence<'r, ItemPlace, OriginReport<'r>>,
    package: Option<&'r PackageId>,
}

#[derive(Serialize)]
struct OriginReport<'r> {
    dialect: &'static str,
    path: Cow<'r, str>,
    line: usize,
}

fn item_report(item: &BriefedItem) -> ItemReport<'_> {
    ItemReport {
        dialect: item.dialect,
        kind: item.kind,
        name: &item.name,
        source: place(&item.path, item.line),
        scope: item.scope,
        trigger: item.trigger,
        state: item.state.as_str(),
        reason: &item.reason,
        description: &item.description,
        content: &item.content,
        tokens: item.tokens,
        also: Sequence(&item.also, |place| OriginReport {
            dialect: place.dialect,
            path: place.path.to_string_lossy(),
            line: place.line,
        }),
        package: item.package.as_ref(),
    }
}

/// MCP servers by name, in order.
#[derive(Debug, Clone, Copy)]
pub struct McpServersReport<'r>(pub &'r [ConfiguredServer]);

impl Serialize for McpServersReport<'_> {
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
    name: &'r str,
    source: PlaceReport<'r>,
    reason: &'r Explanation,
}

fn left_out(omitted: &OmittedItem) -> LeftOutReport<'_> {
    LeftOutReport {
        dialect: omitted.dialect,
        kind: omitted.kind,
        name: &omitted.name,
        source: place(&omitted.path, omitted.line),
        reason: &omitted.reason,
    }
}

#[derive(Serialize)]
struct DecisionReport<'r> {
    decision: &'r str,
    rationale: &'r str,
    alternatives: Vec<AlternativeReport<'r>>,
    revisit_when: Option<&'r str>,
    date: Option<&'r str>,
    source: PlaceReport<'r>,
    reason: &'r Explanation,
}

#[derive(Serialize)]
struct AlternativeReport<'r> {
    option: &'r str,
    reason_rejected: &'r str,
}

fn decision(bound: &BriefedDecision) -> DecisionReport<'_> {
    let decision = &bound.decision;
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
        source: place(&bound.path, decision.line),
        reason: &bound.reason,
    }
}
