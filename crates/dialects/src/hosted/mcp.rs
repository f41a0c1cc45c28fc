//! The `mcpServers` of a configuration: parsed, checked and merged, never started.

use brief_syntax::rules;
use std::collections::BTreeMap;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;

use super::config::{ConfigReport, MergedConfig, json_value_noun};
use super::model::{
    ConfiguredServer, Connection, HostedOrigin, HostedScope, McpServer, ServerKind,
};

/// A server entry of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpEntry {
    Server(McpServer),
    /// `{"disabled": true}` alone: turns the inherited entry off.
    Disable,
}

const COMMAND_KEYS: [&str; 5] = ["command", "type", "args", "env", "disabled"];
const URL_KEYS: [&str; 4] = ["url", "type", "headers", "disabled"];

/// Parses one entry; `None` with a diagnostic when it is invalid.
pub(super) fn parse_mcp_entry(
    property: &ObjectProp<'_>,
    report: &mut ConfigReport<'_>,
) -> Option<McpEntry> {
    let name = property.name.as_str();
    let outcome = match &property.value {
        Value::Object(object) => read_entry(object),
        other => Err(format!("is {}, not an object", json_value_noun(other))),
    };
    let entry = match outcome {
        Ok(entry) => entry,
        Err(problem) => {
            let message = format!("server `{name}` is ignored: {problem}");
            let help =
                "a server has either `command` (with `args`, `env`) or `url` (with `headers`)";
            report.warn(
                rules::context_dir::MCP_INVALID_SERVER,
                property.name.range(),
                message,
                help,
            );
            return None;
        }
    };
    if let Value::Object(object) = &property.value {
        report.report_duplicate_keys(object);
        let known: &[&str] = match &entry {
            McpEntry::Server(McpServer { connection: Connection::Url { .. }, .. }) => &URL_KEYS,
            _ => &COMMAND_KEYS,
        };
        for field in &object.properties {
            if !known.contains(&field.name.as_str()) {
                report.unknown_key(field, known, None);
            }
        }
    }
    if let McpEntry::Server(McpServer { connection, kind: Some(kind), .. }) = &entry {
        let (form, fits) = match connection {
            Connection::Command { .. } => ("a `command`", *kind == ServerKind::Stdio),
            Connection::Url { .. } => ("a `url`", *kind != ServerKind::Stdio),
        };
        if !fits {
            let message = format!("server `{name}` has {form}, but type `{}`", kind.as_str());
            let help = "use `command` with `stdio`, and `url` with `sse` or `http`";
            report.warn(
                rules::context_dir::MCP_TYPE_MISMATCH,
                property.name.range(),
                message,
                help,
            );
        }
    }
    Some(entry)
}

fn read_entry(object: &Object<'_>) -> Result<McpEntry, String> {
    let disabled = match find_last_value(object, "disabled") {
        None => false,
        Some(Value::BooleanLit(flag)) => flag.value,
        Some(other) => {
            return Err(format!("`disabled` is {}, not a boolean", json_value_noun(other)));
        }
    };
    let named = |name: String| {
        let kind = ServerKind::from_name(&name);
        kind.ok_or_else(|| format!("`type` is `{name}`, not `stdio`, `sse` or `http`"))
    };
    let kind = parse_text_field(object, "type")?.map(named).transpose()?;
    let connection = match (parse_text_field(object, "command")?, parse_text_field(object, "url")?)
    {
        (Some(_), Some(_)) => return Err("has both `command` and `url`".to_owned()),
        (Some(command), None) => Connection::Command {
            command: ensure_filled("command", command)?,
            args: parse_text_list(object, "args")?,
            env: parse_text_map(object, "env")?,
        },
        (None, Some(url)) => Connection::Url {
            url: ensure_filled("url", url)?,
            headers: parse_text_map(object, "headers")?,
        },
        (None, None) if disabled && object.properties.len() == 1 => return Ok(McpEntry::Disable),
        (None, None) => return Err("has neither `command` nor `url`".to_owned()),
    };
    Ok(McpEntry::Server(McpServer { connection, kind, disabled, custom: Vec::new() }))
}

/// Returns the last of equal keys, as every JSON reader does.
fn find_last_value<'o, 'a>(object: &'o Object<'a>, name: &str) -> Option<&'o Value<'a>> {
    let found = object.properties.iter().rev().find(|property| property.name.as_str() == name);
    found.map(|property| &property.value)
}

fn ensure_filled(name: &str, value: String) -> Result<String, String> {
    if value.trim().is_empty() { Err(format!("`{name}` is empty")) } else { Ok(value) }
}

fn parse_text_field(object: &Object<'_>, name: &str) -> Result<Option<String>, String> {
    match find_last_value(object, name) {
        None => Ok(None),
        Some(Value::StringLit(text)) => Ok(Some(text.value.to_string())),
        Some(other) => Err(format!("`{name}` is {}, not text", json_value_noun(other))),
    }
}

fn parse_text_list(object: &Object<'_>, name: &str) -> Result<Vec<String>, String> {
    match find_last_value(object, name) {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) => list
            .elements
            .iter()
            .map(|element| match element {
                Value::StringLit(text) => Ok(text.value.to_string()),
                other => {
                    Err(format!("an element of `{name}` is {}, not text", json_value_noun(other)))
                }
            })
            .collect(),
        Some(other) => Err(format!("`{name}` is {}, not a list", json_value_noun(other))),
    }
}

fn parse_text_map(object: &Object<'_>, name: &str) -> Result<Vec<(String, String)>, String> {
    match find_last_value(object, name) {
        None => Ok(Vec::new()),
        Some(Value::Object(fields)) => {
            let mut places: BTreeMap<&str, usize> = BTreeMap::new();
            let mut pairs: Vec<(String, String)> = Vec::with_capacity(fields.properties.len());
            for field in &fields.properties {
                let key = field.name.as_str();
                let Value::StringLit(text) = &field.value else {
                    return Err(format!(
                        "`{name}.{key}` is {}, not text",
                        json_value_noun(&field.value)
                    ));
                };
                let value = text.value.to_string();
                match places.get(key) {
                    Some(&place) => pairs[place].1 = value,
                    None => {
                        places.insert(key, pairs.len());
                        pairs.push((key.to_owned(), value));
                    }
                }
            }
            Ok(pairs)
        }
        Some(other) => Err(format!("`{name}` is {}, not an object", json_value_noun(other))),
    }
}

/// Replaces the inherited entry as a whole, never field by field, so that a project's command never
/// runs with the user's secrets (X21).
pub(super) fn merge_server(
    merged: &mut MergedConfig,
    name: &str,
    entry: &McpEntry,
    origin: HostedOrigin,
) {
    let place = merged.places.get(name).copied();
    let known = place.and_then(|place| merged.servers.get_mut(place));
    match (entry, known) {
        (McpEntry::Server(server), None) => {
            merged.places.insert(name.to_owned(), merged.servers.len());
            merged.servers.push(ConfiguredServer {
                name: name.to_owned(),
                server: server.clone(),
                origin,
                disabled_by: None,
            });
        }
        (McpEntry::Server(server), Some(known)) => {
            if known.origin.scope == HostedScope::Global && origin.scope != HostedScope::Global {
                let message = format!(
                    "server `{name}` replaces the one in {}",
                    known.origin.path().display()
                );
                let help = "rename it unless it should replace the other one";
                let rule = rules::context_dir::MCP_SHADOWED;
                merged.diagnostics.push(origin.problem(rule, message, help));
            }
            known.server = server.clone();
            known.origin = origin;
            known.disabled_by = None;
        }
        (McpEntry::Disable, Some(known)) => {
            known.server.disabled = true;
            known.disabled_by = Some(origin.path().to_owned());
        }
        (McpEntry::Disable, None) => {}
    }
}
