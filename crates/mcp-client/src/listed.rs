//! Tools of servers under names of ours.
//!
//! A name begins with the label that the operator's configuration gives a server, never with one that the server gives
//! itself (ruling M5).

use std::collections::BTreeSet;
use std::time::Duration;

use brief_dialects::agents::Scheme;
use brief_syntax::limits;
use brief_syntax::text::visible_line;
use serde_json::{Value, json};

use crate::{ConfiguredServers, ListedTools};

/// The separator of a server's label and the name of its tool or prompt.
pub const SEPARATOR: &str = "__";

/// The limit for the characters of a server's label.
const LONGEST_LABEL: usize = 40;

/// The longest tool name that servers of models accept.
const LONGEST_NAME: usize = 64;

/// The limit for the bytes of a tool's description and schemas.
pub const LARGEST_OFFER: usize = 64 * 1024;

/// Makes a label of a server's name: letters, digits, `-` and `_`, and no two alike.
pub fn server_label(name: &str, taken: &mut BTreeSet<String>) -> String {
    let base: String = name.chars().take(LONGEST_LABEL).map(sanitize_letter).collect();
    // Two underscores in a row would be taken for the separator.
    let mut base = base.trim_matches('_').to_owned();
    while base.contains(SEPARATOR) {
        base = base.replace(SEPARATOR, "_");
    }
    if base.is_empty() {
        base.push_str("server");
    }
    let mut label = base.clone();
    let mut number = 2;
    while !taken.insert(label.clone()) {
        label = format!("{base}-{number}");
        number += 1;
    }
    label
}

fn sanitize_letter(letter: char) -> char {
    if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' }
}

/// A tool of a server, as a model gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerTool {
    /// The declaration, under our name.
    pub scheme: Scheme,
    /// The server, by its name in the configuration.
    pub server: String,
    /// The tool, by the server's own name.
    pub tool: String,
}

impl ServerTool {
    /// Starts each server and lists its tools. Returns a message for each server that fails, and for tools that
    /// no model could call.
    pub fn list(
        servers: &mut ConfiguredServers,
        patience: Duration,
    ) -> (Vec<ServerTool>, Vec<String>) {
        let names: Vec<String> = servers.names().map(str::to_owned).collect();
        let (mut found, mut problems) = (Vec::new(), Vec::new());
        let (mut labels, mut taken) = (BTreeSet::new(), BTreeSet::new());
        for server in names {
            let label = server_label(&server, &mut labels);
            match servers.list_tools(&server, patience) {
                Ok(ListedTools { tools, held_back }) => {
                    problems.extend(held_back.iter().map(|tool| held_back_note(&server, tool)));
                    let all = tools.len();
                    let fit =
                        tools.iter().filter_map(|tool| create_server_tool(&label, &server, tool));
                    let fit: Vec<ServerTool> =
                        fit.filter(|tool| taken.insert(tool.scheme.name.to_lowercase())).collect();
                    if fit.len() < all {
                        let left_out = all - fit.len();
                        problems.push(format!(
                            "{left_out} of {all} tools of the server `{server}` have no usable name or are too large"
                        ));
                    }
                    found.extend(fit);
                }
                Err(problem) => problems.push(problem),
            }
        }
        if found.len() > limits::TOOLS {
            problems.push(format!("brief lists only the first {} tools of servers", limits::TOOLS));
            found.truncate(limits::TOOLS);
        }
        (found, problems)
    }
}

/// Returns the message about a tool that the user has not accepted.
pub fn held_back_note(server: &str, tool: &str) -> String {
    let tool = visible_line(tool);
    format!(
        "the tool `{tool}` of the server `{server}` is blocked: it is new or has changed since you accepted its tools; \
         run `brief mcp servers --check --accept` to review it"
    )
}

/// Puts a tool under our name; `None` for one that no model could call.
fn create_server_tool(label: &str, server: &str, offer: &Value) -> Option<ServerTool> {
    let tool = offer["name"].as_str().filter(|name| !name.is_empty())?.to_owned();
    let own: String = tool.chars().map(sanitize_letter).collect();
    let name = format!("{label}{SEPARATOR}{own}");
    if name.len() > LONGEST_NAME || offer.to_string().len() > LARGEST_OFFER {
        return None;
    }
    let about = offer["description"].as_str().unwrap_or_default();
    let description = format!("[{label}] {about}").trim_end().to_owned();
    let parameters = match offer.get("inputSchema") {
        Some(schema @ Value::Object(_)) => schema.clone(),
        _ => json!({"type": "object"}),
    };
    let scheme = Scheme { name, description, parameters };
    Some(ServerTool { scheme, server: server.to_owned(), tool })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_fit_for_names_and_differ() {
        let mut taken = BTreeSet::new();
        let names = ["files", "files", "my server", "__x__y__", "größe", "///"];
        let labels: Vec<String> = names.iter().map(|name| server_label(name, &mut taken)).collect();
        assert_eq!(labels, ["files", "files-2", "my_server", "x_y", "gr_e", "server"]);
    }

    /// Ruling E3: names of letters, digits, `_` and `-`, at most 64.
    #[test]
    fn a_tool_gets_a_name_that_models_can_call() {
        let name = |offer: Value| create_server_tool("s", "S", &offer).map(|tool| tool.scheme.name);
        assert_eq!(name(json!({"name": "a.b/c"})).as_deref(), Some("s__a_b_c"));
        assert_eq!(name(json!({"name": "x".repeat(62)})), None);
        assert_eq!(name(json!({"name": ""})), None);
        assert_eq!(name(json!({"name": 3})), None);
        assert_eq!(name(json!([])), None);
        assert_eq!(name(json!({"name": "a", "description": "x".repeat(70_000)})), None);
        let tool = create_server_tool("s", "S", &json!({"name": "a.b", "inputSchema": 3})).unwrap();
        assert_eq!((tool.server.as_str(), tool.tool.as_str()), ("S", "a.b"));
        assert_eq!(tool.scheme.parameters, json!({"type": "object"}));
        assert_eq!(tool.scheme.description, "[s]");
    }
}
