//! The tools that a project's server offers, as a client lists them.
//!
//! The first words of a description count most: many clients show a model only those until it looks for a
//! tool.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value as Json, json};

use super::question::{MOST_RESULTS, USUAL_RESULTS, dialect_names};
use super::wish::{JSON, LEFT_OUT};

/// A tool of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProjectTool {
    Context,
    Why,
    Show,
    Decisions,
    Search,
    Lint,
}

/// The texts of a tool.
struct ToolText {
    tool: ProjectTool,
    /// The name, which is that of the command with the same answer.
    name: &'static str,
    title: &'static str,
    description: &'static str,
}

/// All tools, in the order of the list.
const TOOLS: [ToolText; 6] = [
    ToolText {
        tool: ProjectTool::Context,
        name: "context",
        title: "Guidance for a file",
        description: "Print the guidance for a file or directory: rules, conventions, and items to read on demand. Call \
                      this before you read, edit or create a file. Guidance is ordered from general to specific. The \
                      file need not exist yet.",
    },
    ToolText {
        tool: ProjectTool::Why,
        name: "why",
        title: "Reasons for guidance",
        description: "Explain why each item applies to a file or not, with its location.",
    },
    ToolText {
        tool: ProjectTool::Show,
        name: "show",
        title: "Guidance by client",
        description: "Show what each client gets for a file, and what it misses: loaded, listed, or delivered by a hook, and the reason.",
    },
    ToolText {
        tool: ProjectTool::Decisions,
        name: "decisions",
        title: "Decisions for a file",
        description: "Show the decisions for a file: what was decided, why, what was rejected, and when to revisit it. Call this \
                      before you propose another design.",
    },
    ToolText {
        tool: ProjectTool::Search,
        name: "search",
        title: "Search guidance",
        description: "Search all guidance of this project: rules, skills, agents, commands, tasks and decisions, best match first. Use this when \
                      you do not know which file a question belongs to.",
    },
    ToolText {
        tool: ProjectTool::Lint,
        name: "lint",
        title: "Check guidance files",
        description: "Find problems in the guidance files of this project, with location and fix. Read-only.",
    },
];

impl ProjectTool {
    /// Returns all tools as a client lists them.
    pub(super) fn list_tools() -> Arc<[Tool]> {
        TOOLS.iter().map(ToolText::to_tool).collect()
    }

    pub(super) fn from_name(name: &str) -> Option<ProjectTool> {
        // The name of `show` until the next release.
        let name = if name == "sees" { "show" } else { name };
        TOOLS.iter().find(|text| text.name == name).map(|text| text.tool)
    }

    pub(super) fn name(self) -> &'static str {
        TOOLS.iter().find(|text| text.tool == self).map_or("", |text| text.name)
    }

    /// Returns the kind of the JSON answer, which is that of the command with the same answer.
    pub(super) fn kind(self) -> &'static str {
        match self {
            ProjectTool::Decisions => ProjectTool::Context.name(),
            _ => self.name(),
        }
    }

    fn parameter_schema(self) -> Json {
        let path = json!({
            "type": "string",
            "description": "File or directory, relative to the working directory or absolute; it need not exist",
        });
        let action = json!({
            "enum": ["read", "edit", "create", "all"], "default": "all",
            "description": "Show only items for this action",
        });
        let timing = json!({
            "enum": ["before", "after", "all"], "default": "all",
            "description": "Show only items for this timing",
        });
        let client = json!({
            "type": "string",
            "description": "Omit items that this client loads itself, such as `claude`",
        });
        let cwd = json!({
            "type": "string",
            "description": "The client's start directory, if it differs from the server's",
        });
        let texts = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
        let (properties, required) = match self {
            ProjectTool::Context | ProjectTool::Why => (
                json!({
                    "path": path,
                    "action": action,
                    "timing": timing,
                    "client": client,
                    "task": {"type": "string", "description": "Include rules for this task"},
                    "mentions": texts("Names that the user mentioned"),
                    "select": texts("Select rules whose `key` is `value` or unset"),
                    "formats": {
                        "type": "array", "items": {"enum": dialect_names()},
                        "description": "Show only these formats",
                    },
                    "budget": {
                        "type": "integer", "minimum": 0,
                        "description": "Drop the most general items until the rest fits in this many tokens",
                    },
                    "workspace": {
                        "type": "string",
                        "description": "The client's workspace directory, if it is not the repository",
                    },
                    "cwd": cwd,
                }),
                json!(["path"]),
            ),
            ProjectTool::Show => (
                json!({
                    "path": path,
                    "clients": texts("Clients to show; by default, those with files in the project"),
                    "action": action,
                    "timing": timing,
                    "cwd": cwd,
                }),
                json!(["path"]),
            ),
            ProjectTool::Decisions => (json!({"path": path}), json!(["path"])),
            ProjectTool::Search => (
                json!({
                    "query": {"type": "string", "description": "Words to search for"},
                    "limit": {
                        "type": "integer", "minimum": 1, "maximum": MOST_RESULTS,
                        "default": USUAL_RESULTS, "description": "Maximum number of results",
                    },
                }),
                json!(["query"]),
            ),
            ProjectTool::Lint => (
                json!({"path": {
                    "type": "string", "default": ".",
                    "description": "Directory or file to check",
                }}),
                json!([]),
            ),
        };
        let mut properties = properties;
        if let Json::Object(properties) = &mut properties {
            let flag =
                |about: &str| json!({"type": "boolean", "default": false, "description": about});
            properties.insert(
                JSON.to_owned(),
                flag("For programs: also return the answer as structured content"),
            );
            if matches!(self, ProjectTool::Context | ProjectTool::Why) {
                properties.insert(
                    LEFT_OUT.to_owned(),
                    flag("Include skipped items in the structured content"),
                );
            }
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}

impl ToolText {
    fn to_tool(&self) -> Tool {
        let parameters = Arc::new(into_object(self.tool.parameter_schema()));
        let mut tool = Tool::new(self.name, self.description, parameters);
        tool.title = Some(self.title.to_owned());
        tool.annotations = Some(
            ToolAnnotations::new()
                .read_only(true)
                .destructive(false)
                .idempotent(true)
                .open_world(false),
        );
        tool
    }
}

fn into_object(value: Json) -> JsonObject {
    match value {
        Json::Object(fields) => fields,
        _ => JsonObject::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification: a name has 1 to 128 of these characters; schemas are objects; a client resolves no
    /// reference outside of the document.
    #[test]
    fn tools_are_valid() {
        for text in TOOLS {
            let tool = ProjectTool::from_name(text.name).unwrap();
            assert_eq!(tool.name(), text.name);
            let listed = serde_json::to_value(text.to_tool()).unwrap();
            assert_eq!(listed["annotations"]["readOnlyHint"], true);
            assert_eq!(listed["inputSchema"]["type"], "object");
            // A client shows its model the structured content of a tool with a schema, and not the text.
            assert!(listed.get("outputSchema").is_none());
        }
    }
}
