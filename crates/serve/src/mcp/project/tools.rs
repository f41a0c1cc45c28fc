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
    Sees,
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
        description: "Guidance of this project for one file or directory: rules, conventions and what may be asked for. \
                      Call it before you read, edit or create a file. General guidance comes first, the most specific \
                      last. The file need not exist yet.",
    },
    ToolText {
        tool: ProjectTool::Why,
        name: "why",
        title: "Reasons for guidance",
        description: "Why guidance applies to a file or not: each candidate, in or out, with its place and the reason.",
    },
    ToolText {
        tool: ProjectTool::Sees,
        name: "sees",
        title: "Guidance by client",
        description: "What each AI client has for a file: loaded whole, listed by name, delivered by an installed hook, or missing, with the cause.",
    },
    ToolText {
        tool: ProjectTool::Decisions,
        name: "decisions",
        title: "Decisions for a file",
        description: "Decisions of this project that bind a file: what was decided, why, what was rejected and when to \
                      revisit it. Call it before you propose another design.",
    },
    ToolText {
        tool: ProjectTool::Search,
        name: "search",
        title: "Search guidance",
        description: "Full-text search over all guidance of this project: rules, skills, agents, commands, tasks and \
                      decisions, ranked. Use it when you do not know which file a question belongs to.",
    },
    ToolText {
        tool: ProjectTool::Lint,
        name: "lint",
        title: "Check guidance files",
        description: "Problems in the guidance files of this project, with file, line and a way out. Nothing is changed.",
    },
];

impl ProjectTool {
    /// Returns all tools as a client lists them.
    pub(super) fn list() -> Arc<[Tool]> {
        TOOLS.iter().map(ToolText::listed).collect()
    }

    pub(super) fn from_name(name: &str) -> Option<ProjectTool> {
        TOOLS.iter().find(|text| text.name == name).map(|text| text.tool)
    }

    pub(super) fn name(self) -> &'static str {
        TOOLS.iter().find(|text| text.tool == self).map_or("", |text| text.name)
    }

    fn parameters(self) -> Json {
        let path = json!({
            "type": "string",
            "description": "The file or directory, relative to the working directory or absolute; it need not exist",
        });
        let action = json!({
            "enum": ["read", "edit", "create", "all"], "default": "all",
            "description": "Only what is for this action",
        });
        let timing = json!({
            "enum": ["before", "after", "all"], "default": "all",
            "description": "Only what is for this timing",
        });
        let client = json!({
            "type": "string",
            "description": "The client that asks, such as `claude`: what it loads by itself is left out",
        });
        let cwd = json!({
            "type": "string",
            "description": "The client's working directory, if not the server's",
        });
        let texts = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
        let (properties, required) = match self {
            ProjectTool::Context | ProjectTool::Why => (
                json!({
                    "path": path,
                    "action": action,
                    "timing": timing,
                    "client": client,
                    "task": {"type": "string", "description": "The task that is being worked on"},
                    "mentions": texts("Names that the user mentions"),
                    "select": texts("Of rules, only what is for `key=value`, or for every key"),
                    "formats": {
                        "type": "array", "items": {"enum": dialect_names()},
                        "description": "Only these formats of guidance",
                    },
                    "budget": {
                        "type": "integer", "minimum": 0,
                        "description": "Cut what is most general until the rest costs at most this many tokens",
                    },
                    "workspace": {
                        "type": "string",
                        "description": "The directory that the client has open, if not the repository",
                    },
                    "cwd": cwd,
                }),
                json!(["path"]),
            ),
            ProjectTool::Sees => (
                json!({
                    "path": path,
                    "clients": texts("The clients; without them, those whose files the project has"),
                    "action": action,
                    "timing": timing,
                    "cwd": cwd,
                }),
                json!(["path"]),
            ),
            ProjectTool::Decisions => (json!({"path": path}), json!(["path"])),
            ProjectTool::Search => (
                json!({
                    "query": {"type": "string", "description": "Words to look for"},
                    "limit": {
                        "type": "integer", "minimum": 1, "maximum": MOST_RESULTS,
                        "default": USUAL_RESULTS, "description": "How many results at most",
                    },
                }),
                json!(["query"]),
            ),
            ProjectTool::Lint => (
                json!({"path": {
                    "type": "string", "default": ".",
                    "description": "The directory or file to check",
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
                flag("For programs: the answer as structured content besides the text"),
            );
            if matches!(self, ProjectTool::Context | ProjectTool::Why) {
                properties
                    .insert(LEFT_OUT.to_owned(), flag("In that JSON, also what was left out"));
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
    fn listed(&self) -> Tool {
        let parameters = Arc::new(object(self.tool.parameters()));
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

fn object(value: Json) -> JsonObject {
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
            let listed = serde_json::to_value(text.listed()).unwrap();
            assert_eq!(listed["annotations"]["readOnlyHint"], true);
            assert_eq!(listed["inputSchema"]["type"], "object");
            // A client shows its model the structured content of a tool with a schema, and not the text.
            assert!(listed.get("outputSchema").is_none());
        }
    }
}
