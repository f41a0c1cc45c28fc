//! `brief schema`

use std::process::ExitCode;

use brief_serve::schemas::FileSchema;
use clap::{Args, ValueEnum};

use crate::error::CommandError;
use crate::ui::Ui;

/// Print the JSON Schema of a file that people write, for editors
///
/// The schema of a header is for the front matter between the two lines `---`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The file
    #[arg(value_name = "KIND")]
    kind: SchemaArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SchemaArg {
    /// `AGENTS.yaml`
    AgentsYaml,
    /// `brief.toml`
    BriefToml,
    /// The header of `RULE.md`, a portable rule
    Rule,
    /// The header of `SKILL.md`
    Skill,
    /// The header of `AGENT.md`, a portable agent
    Agent,
    /// The header of `COMMAND.md`, a portable command
    Command,
    /// The header of `NAME.bundle.md`
    Bundle,
    /// The header of `CATEGORY_NAME.agent.md`, an agent that `brief agent` runs
    AgentFile,
    /// The header of a task in `.agents/tasks`
    Task,
    /// `.context/context-config.json`
    Hosted,
    /// `policy.toml`, of the machine or the user
    Policy,
    /// `.brief/clients/NAME.toml`, an AI client
    Client,
}

impl SchemaArg {
    fn schema(self) -> FileSchema {
        match self {
            SchemaArg::AgentsYaml => FileSchema::AgentsYaml,
            SchemaArg::BriefToml => FileSchema::BriefToml,
            SchemaArg::Rule => FileSchema::Rule,
            SchemaArg::Skill => FileSchema::Skill,
            SchemaArg::Agent => FileSchema::Agent,
            SchemaArg::Command => FileSchema::Command,
            SchemaArg::Bundle => FileSchema::Bundle,
            SchemaArg::AgentFile => FileSchema::AgentFile,
            SchemaArg::Task => FileSchema::Task,
            SchemaArg::Hosted => FileSchema::Hosted,
            SchemaArg::Policy => FileSchema::Policy,
            SchemaArg::Client => FileSchema::Client,
        }
    }
}

pub(crate) fn run(ui: &mut Ui, args: &SchemaArgs) -> Result<ExitCode, CommandError> {
    ui.print_raw(args.kind.schema().text())?;
    Ok(ExitCode::SUCCESS)
}
