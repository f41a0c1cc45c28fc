//! `brief schema`

use std::process::ExitCode;

use brief_engine::hosted;
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

/// The schema of a file, which lies in `docs/schemas/files`.
macro_rules! schema {
    ($name:literal) => {
        include_str!(concat!("../../../../docs/schemas/files/", $name, ".json"))
    };
}

impl SchemaArg {
    fn schema(self) -> &'static str {
        match self {
            SchemaArg::AgentsYaml => schema!("agents-yaml"),
            SchemaArg::BriefToml => schema!("brief-toml"),
            SchemaArg::Rule => schema!("rule"),
            SchemaArg::Skill => schema!("skill"),
            SchemaArg::Agent => schema!("agent"),
            SchemaArg::Command => schema!("command"),
            SchemaArg::Bundle => schema!("bundle"),
            SchemaArg::AgentFile => schema!("agent-file"),
            SchemaArg::Task => schema!("task"),
            SchemaArg::Hosted => hosted::CONFIG_SCHEMA,
            SchemaArg::Policy => schema!("policy"),
            SchemaArg::Client => schema!("client"),
        }
    }
}

pub(crate) fn run(ui: &mut Ui, args: &SchemaArgs) -> Result<ExitCode, CommandError> {
    ui.print_raw(args.kind.schema())?;
    Ok(ExitCode::SUCCESS)
}
