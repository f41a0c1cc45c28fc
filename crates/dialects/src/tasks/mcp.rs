//! The MCP server of a task or rule.

use brief_syntax::yaml::{Node, Value};

use crate::mcp::{Connection, McpServer, ServerKind};

/// Reads the fields that every client knows; `None` without a command and an address.
pub(super) fn parse_server(node: Node<'_>) -> Option<McpServer> {
    let Value::Mapping(fields) = node.value() else { return None };
    let text = |name| fields.get(name).and_then(Node::as_str);
    let kind = text("type").and_then(ServerKind::from_name);
    let disabled = matches!(text("disabled"), Some("true" | "True" | "TRUE"));
    let connection = match (text("command"), text("url")) {
        (Some(command), None) => Connection::Command {
            command: command.to_owned(),
            args: parse_texts(fields.get("args")),
            env: parse_pairs(fields.get("env")),
        },
        (_, Some(url)) => {
            Connection::Url { url: url.to_owned(), headers: parse_pairs(fields.get("headers")) }
        }
        (None, None) => return None,
    };
    // "All fields are preserved in the configuration."
    let custom =
        fields.effective_fields().into_iter().filter(|field| !KNOWN.contains(&field.name()));
    let custom = custom.filter_map(|field| {
        Some((field.name().to_owned(), serde_json::to_value(field.value).ok()?))
    });
    Some(McpServer { connection, kind, disabled, custom: custom.collect() })
}

/// The document's fields, and the switch that every client has.
const KNOWN: [&str; 7] = ["command", "args", "env", "type", "url", "headers", "disabled"];

fn parse_texts(node: Option<Node<'_>>) -> Vec<String> {
    match node.map(Node::value) {
        Some(Value::Sequence(list)) => {
            list.iter().filter_map(Node::as_str).map(str::to_owned).collect()
        }
        Some(Value::Scalar(text)) => vec![text.to_owned()],
        _ => Vec::new(),
    }
}

fn parse_pairs(node: Option<Node<'_>>) -> Vec<(String, String)> {
    let Some(Value::Mapping(fields)) = node.map(Node::value) else { return Vec::new() };
    let fields = fields.effective_fields().into_iter();
    let pairs = fields.map(|field| (field.name(), field.value.as_str().unwrap_or_default()));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
