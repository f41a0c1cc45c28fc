//! The JSON Schemas of the files that people write, which lie in `docs/schemas/files`.

use std::path::Path;

use brief_dialects::hosted;

/// A file with a schema. The schema of a header is for the front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSchema {
    /// `AGENTS.yaml`
    AgentsYaml,
    /// `brief.toml`
    BriefToml,
    /// The header of a portable rule.
    Rule,
    /// The header of a skill.
    Skill,
    /// The header of a portable agent.
    Agent,
    /// The header of a portable command.
    Command,
    /// The header of a bundle.
    Bundle,
    /// The header of an agent that `brief agent` runs.
    AgentFile,
    /// The header of a task.
    Task,
    /// `.context/context-config.json`
    Hosted,
    /// `policy.toml`
    Policy,
    /// `.brief/clients/NAME.toml`
    Client,
}

macro_rules! schema {
    ($name:literal) => {
        include_str!(concat!("../../../docs/schemas/files/", $name, ".json"))
    };
}

impl FileSchema {
    /// All schemas, in the order of the help.
    pub const ALL: [FileSchema; 12] = [
        FileSchema::AgentsYaml,
        FileSchema::BriefToml,
        FileSchema::Rule,
        FileSchema::Skill,
        FileSchema::Agent,
        FileSchema::Command,
        FileSchema::Bundle,
        FileSchema::AgentFile,
        FileSchema::Task,
        FileSchema::Hosted,
        FileSchema::Policy,
        FileSchema::Client,
    ];

    /// Returns the name on the command line, and the file for people.
    pub fn name_and_file(self) -> (&'static str, &'static str) {
        match self {
            FileSchema::AgentsYaml => ("agents-yaml", "`AGENTS.yaml`"),
            FileSchema::BriefToml => ("brief-toml", "`brief.toml`"),
            FileSchema::Rule => ("rule", "The header of `RULE.md`, a portable rule"),
            FileSchema::Skill => ("skill", "The header of `SKILL.md`"),
            FileSchema::Agent => ("agent", "The header of `AGENT.md`, a portable agent"),
            FileSchema::Command => ("command", "The header of `COMMAND.md`, a portable command"),
            FileSchema::Bundle => ("bundle", "The header of `NAME.bundle.md`"),
            FileSchema::AgentFile => (
                "agent-file",
                "The header of `CATEGORY_NAME.agent.md`, an agent that `brief agent` runs",
            ),
            FileSchema::Task => ("task", "The header of a task in `.agents/tasks`"),
            FileSchema::Hosted => ("hosted", "`.context/context-config.json`"),
            FileSchema::Policy => ("policy", "`policy.toml`, of the machine or the user"),
            FileSchema::Client => ("client", "`.brief/clients/NAME.toml`, an AI client"),
        }
    }

    /// Returns the schema of this name.
    pub fn from_name(name: &str) -> Option<FileSchema> {
        FileSchema::ALL.into_iter().find(|schema| schema.name_and_file().0 == name)
    }

    /// Returns the schema.
    pub fn text(self) -> &'static str {
        match self {
            FileSchema::AgentsYaml => schema!("agents-yaml"),
            FileSchema::BriefToml => schema!("brief-toml"),
            FileSchema::Rule => schema!("rule"),
            FileSchema::Skill => schema!("skill"),
            FileSchema::Agent => schema!("agent"),
            FileSchema::Command => schema!("command"),
            FileSchema::Bundle => schema!("bundle"),
            FileSchema::AgentFile => schema!("agent-file"),
            FileSchema::Task => schema!("task"),
            FileSchema::Hosted => hosted::CONFIG_SCHEMA,
            FileSchema::Policy => schema!("policy"),
            FileSchema::Client => schema!("client"),
        }
    }

    /// Returns the schema of a YAML file or header by its path.
    pub fn of_yaml(path: &Path) -> Option<FileSchema> {
        let name = path.file_name()?.to_str()?;
        let is_task = || {
            let mut above = path.ancestors().skip(1).filter_map(Path::file_name);
            above.any(|name| name == "tasks") && path.iter().any(|part| part == ".agents")
        };
        Some(match name {
            "AGENTS.yaml" | "AGENTS.yml" => FileSchema::AgentsYaml,
            "RULE.md" => FileSchema::Rule,
            "SKILL.md" => FileSchema::Skill,
            "AGENT.md" => FileSchema::Agent,
            "COMMAND.md" => FileSchema::Command,
            name if name.ends_with(".bundle.md") => FileSchema::Bundle,
            name if name.ends_with(".agent.md") && name.contains('_') => FileSchema::AgentFile,
            _ if is_task() && path.extension()? == "md" => FileSchema::Task,
            _ => return None,
        })
    }
}
