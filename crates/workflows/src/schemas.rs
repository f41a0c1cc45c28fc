//! The JSON Schemas of the files that people write, which lie in `docs/schemas/files`.

use std::path::Path;

use brief_dialects::hosted;

/// A file with a schema. The schema of a header is for the front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSchema {
    /// The name on the command line.
    pub name: &'static str,
    pub file: &'static str,
    pub text: &'static str,
}

macro_rules! schema {
    ($name:literal, $file:literal) => {
        FileSchema {
            name: $name,
            file: $file,
            text: include_str!(concat!("../../../docs/schemas/files/", $name, ".json")),
        }
    };
}

impl FileSchema {
    /// All schemas, in the order of the help.
    pub const ALL: [FileSchema; 13] = [
        schema!("agents-yaml", "`AGENTS.yaml`"),
        schema!("brief-toml", "`brief.toml`"),
        schema!("rule", "The frontmatter of `RULE.md`, a rule"),
        schema!("skill", "The frontmatter of `SKILL.md`"),
        schema!("agent", "The frontmatter of `AGENT.md`, a subagent"),
        schema!("command", "The frontmatter of `COMMAND.md`, a command"),
        schema!("bundle", "The frontmatter of `NAME.bundle.md`"),
        schema!(
            "agent-file",
            "The frontmatter of `CATEGORY_NAME.agent.md`, an agent that `brief agent` runs"
        ),
        schema!("task", "The frontmatter of a task in `.agents/tasks`"),
        FileSchema {
            name: "context-config",
            file: "`.context/context-config.json`",
            text: hosted::CONFIG_SCHEMA,
        },
        schema!("policy", "`policy.toml`, of the machine or the user"),
        schema!("settings", "`settings.toml`, of the machine or the user"),
        schema!("client", "`.brief/clients/NAME.toml`, an AI client"),
    ];

    /// Returns the schema of this name.
    pub fn from_name(name: &str) -> Option<FileSchema> {
        let name = if name == "hosted" { "context-config" } else { name };
        FileSchema::ALL.into_iter().find(|schema| schema.name == name)
    }

    /// Returns the schema of a YAML file or header by its path.
    pub fn of_yaml(path: &Path) -> Option<FileSchema> {
        let name = path.file_name()?.to_str()?;
        let is_task = || {
            let mut above = path.ancestors().skip(1).filter_map(Path::file_name);
            above.any(|name| name == "tasks") && path.iter().any(|part| part == ".agents")
        };
        FileSchema::from_name(match name {
            "AGENTS.yaml" | "AGENTS.yml" => "agents-yaml",
            "RULE.md" => "rule",
            "SKILL.md" => "skill",
            "AGENT.md" => "agent",
            "COMMAND.md" => "command",
            name if name.ends_with(".bundle.md") => "bundle",
            name if name.ends_with(".agent.md") && name.contains('_') => "agent-file",
            _ if is_task() && path.extension()? == "md" => "task",
            _ => return None,
        })
    }
}
