//! A briefing as JSON, in the shape that other programs rely on, inside of the
//! [envelope](brief_syntax::render::Envelope) that all answers have.
//!
//! Field order is fixed; what is absent is `null` or an empty list, never a missing key.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use brief_dialects::hosted::{Config, ConfigPattern, ConfiguredServer};
use brief_dialects::mcp::{Connection, McpServer, ServerKind};
use brief_dialects::{Action, Moment, Timing};
use brief_syntax::render::path_below;
use brief_syntax::{Target, TargetKind};
use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};

use super::{BriefedDecision, BriefedItem, Briefing, Explanation, OmittedItem};

impl Serialize for Briefing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut report = serializer.serialize_struct("Briefing", 7)?;
        report.serialize_field("query", &MomentReport(&self.moment))?;
        report.serialize_field("items", &self.items())?;
        report.serialize_field("skipped", &self.left_out)?;
        report.serialize_field("decisions", &self.decisions)?;
        report.serialize_field("mcp_servers", &McpServersReport(&self.mcp_servers))?;
        report.serialize_field(
            "context_dir_config",
            &self.hosted_config.as_ref().map(ConfigReport),
        )?;
        report.serialize_field("tokens", &self.tokens)?;
        report.end()
    }
}

impl Serialize for BriefedItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut report = serializer.serialize_struct("BriefedItem", 13)?;
        report.serialize_field("format", self.dialect)?;
        report.serialize_field("kind", self.kind)?;
        report.serialize_field("name", &self.name)?;
        report.serialize_field("source", &build_place_report(&self.path, self.line))?;
        report.serialize_field("scope", self.scope)?;
        report.serialize_field("trigger", &self.trigger)?;
        report.serialize_field("state", self.state.as_str())?;
        report.serialize_field("reason", &self.reason)?;
        report.serialize_field("description", &self.description)?;
        report.serialize_field("content", &self.content)?;
        report.serialize_field("tokens", &self.tokens)?;
        report.serialize_field("also", &self.also)?;
        report.serialize_field("package", &self.package)?;
        report.end()
    }
}

impl Serialize for OmittedItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut report = serializer.serialize_struct("OmittedItem", 5)?;
        report.serialize_field("format", self.dialect)?;
        report.serialize_field("kind", self.kind)?;
        report.serialize_field("name", &self.name)?;
        report.serialize_field("source", &build_place_report(&self.path, self.line))?;
        report.serialize_field("reason", &self.reason)?;
        report.end()
    }
}

impl Serialize for BriefedDecision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let decision = &self.decision;
        let mut report = serializer.serialize_struct("BriefedDecision", 7)?;
        report.serialize_field("decision", &decision.decision)?;
        report.serialize_field("rationale", &decision.rationale)?;
        report.serialize_field("alternatives", &decision.alternatives)?;
        report.serialize_field("revisit_when", &decision.revisit_when)?;
        report.serialize_field("date", &decision.date)?;
        report.serialize_field("source", &build_place_report(&self.path, decision.line))?;
        report.serialize_field("reason", &self.reason)?;
        report.end()
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

struct MomentReport<'r>(&'r Moment);

impl Serialize for MomentReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Moment { root, target, action, timing, client, task, .. } = self.0;
        let kind = match target.as_ref().map(Target::kind) {
            Some(TargetKind::File) => "file",
            Some(TargetKind::Directory) => "directory",
            None => "project",
        };
        let mut report = serializer.serialize_struct("Moment", 7)?;
        report.serialize_field("root", &root.path().to_string_lossy())?;
        report.serialize_field("path", &target.as_ref().map(Target::slashed))?;
        report.serialize_field("kind", kind)?;
        report.serialize_field("on", action.map_or("all", Action::as_str))?;
        report.serialize_field("when", timing.map_or("all", Timing::as_str))?;
        report.serialize_field("client", client)?;
        report.serialize_field("task", task)?;
        report.end()
    }
}

/// A file and a line of it.
#[derive(Debug, Clone, Serialize)]
pub struct PlaceReport<'r> {
    /// The path, as JSON has it.
    pub path: Cow<'r, str>,
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Display for PlaceReport<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.path, self.line)
    }
}

fn build_place_report(path: &Path, line: usize) -> PlaceReport<'_> {
    PlaceReport { path: path.to_string_lossy(), line }
}

/// Returns a place whose path is relative to `root`, if it lies there.
pub fn place_below<'r>(root: &Path, path: &'r Path, line: usize) -> PlaceReport<'r> {
    PlaceReport { path: path_below(root, path), line }
}

/// Writes a path, also one that is not UTF-8.
pub(super) fn lossy<S: Serializer>(path: &Arc<Path>, serializer: S) -> Result<S::Ok, S::Error> {
    path.to_string_lossy().serialize(serializer)
}

/// MCP servers by name, in order.
#[derive(Debug, Clone, Copy)]
pub struct McpServersReport<'r>(pub &'r [ConfiguredServer]);

impl Serialize for McpServersReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let servers = self.0.iter();
        serializer.collect_map(servers.map(|one| (&one.name, ServerReport(&one.server))))
    }
}

struct ServerReport<'r>(&'r McpServer);

impl Serialize for ServerReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let McpServer { connection, kind, disabled, .. } = self.0;
        let kind = kind.map(ServerKind::as_str);
        let mut report = serializer.serialize_map(None)?;
        match connection {
            Connection::Command { command, args, env } => {
                report.serialize_entry("command", command)?;
                report.serialize_entry("type", &kind)?;
                report.serialize_entry("args", args)?;
                report.serialize_entry("env", &Pairs(env))?;
            }
            Connection::Url { url, headers } => {
                report.serialize_entry("url", url)?;
                report.serialize_entry("type", &kind)?;
                report.serialize_entry("headers", &Pairs(headers))?;
            }
        }
        report.serialize_entry("disabled", disabled)?;
        report.end()
    }
}

/// A map that keeps its order.
struct Pairs<'r>(&'r [(String, String)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

struct ConfigReport<'r>(&'r Config);

impl Serialize for ConfigReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn texts(patterns: &[ConfigPattern]) -> Vec<&str> {
            patterns.iter().map(|pattern| pattern.pattern.as_str()).collect()
        }
        let config = self.0;
        let mut report = serializer.serialize_struct("Config", 4)?;
        report.serialize_field("includeFiles", &texts(&config.include_files))?;
        report.serialize_field("excludeFiles", &texts(&config.exclude_files))?;
        report.serialize_field("ignoreGlobalContext", &config.ignore_global_context.value)?;
        report.serialize_field("ignoreAncestorContext", &config.ignore_ancestor_context.value)?;
        report.end()
    }
}
