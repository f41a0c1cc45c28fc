//! `brief agent`: its command line. The program `brief-agent` executes it.
#![expect(
    rustdoc::broken_intra_doc_links,
    reason = "`[repeatable]` is a part of the help, and no link"
)]

use std::ffi::OsString;
use std::path::PathBuf;

use brief_engine::agents::Ability;
use clap::{ArgGroup, Args, Subcommand};

use crate::agent_program;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Check, run and serve agent files
#[derive(Debug, Args)]
pub struct AgentArgs {
    #[command(subcommand)]
    pub command: AgentCommand,

    /// The words of the call after the name of the program.
    #[arg(skip)]
    pub words: Vec<OsString>,
}

/// The commands of `brief agent`.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    New(AgentNewArgs),
    List(AgentListArgs),
    Show(AgentShowArgs),
    Check(Box<AgentCheckArgs>),
    Run(Box<AgentRunArgs>),
    Serve(AgentServeArgs),
    /// Try the parts of an agent file
    Debug {
        #[command(subcommand)]
        command: DebugCommand,
    },
}

/// The commands that try the parts of an agent file.
#[derive(Debug, Subcommand)]
pub enum DebugCommand {
    Call(AgentCallArgs),
    Command(AgentCommandArgs),
    Abilities(AgentAbilitiesArgs),
}

/// The file of a command.
#[derive(Debug, Args)]
pub struct AgentFileArgs {
    /// Agent file, or its name such as `dev_review` or `review`
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Fetch remote commands, and record their content
    #[arg(long)]
    pub fetch: bool,
}

/// The operator's grants for an agent.
#[derive(Debug, Args)]
pub struct GrantArgs {
    /// Grant an ability that the file allows [repeatable] [any of: fs, network, browser, sh,
    /// sh:PROGRAM, env, mcp]
    #[arg(long = "grant", value_name = "ABILITY")]
    pub grants: Vec<String>,
}

impl GrantArgs {
    pub fn granted_abilities(&self) -> Result<Vec<Ability>> {
        parse_abilities("--grant", &self.grants)
    }
}

/// Parses the values of an option.
pub fn parse_abilities(option: &str, names: &[String]) -> Result<Vec<Ability>> {
    let parse = |name: &String| {
        name.parse::<Ability>().map_err(|error| {
            CommandError::usage(format!("`{option} {name}`: {error}")).with_hint(error.help())
        })
    };
    names.iter().map(parse).collect()
}

/// The fences around the code of an agent.
#[derive(Debug, Args)]
pub struct FenceArgs {
    /// Run tools even without Landlock or seccomp
    #[arg(long)]
    pub allow_weaker_sandbox: bool,
}

/// The options that name MCP servers.
const SERVER_SOURCES: &str = "server_sources";

/// The options for running an agent's code.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new(SERVER_SOURCES).args(["mcp_config", "servers"]).multiple(true)))]
pub struct ExecutionArgs {
    #[command(flatten)]
    pub granting: GrantArgs,

    #[command(flatten)]
    pub fencing: FenceArgs,

    /// Time out tool calls after SECONDS [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<f64>,

    /// Allow network and browser access to this private HOST or HOST:PORT
    #[arg(long = "allow-host", value_name = "HOST")]
    pub hosts: Vec<String>,

    /// Allow the MCP servers in this file, in the format of .mcp.json
    #[arg(long, value_name = "FILE")]
    pub mcp_config: Option<PathBuf>,

    /// Allow the project's MCP servers
    #[arg(long)]
    pub servers: bool,

    /// Start MCP servers this time, even in an untrusted project
    #[arg(long, requires = SERVER_SOURCES)]
    pub exec: bool,

    /// Log the tools' requests to FILE as JSON lines
    #[arg(long, value_name = "FILE")]
    pub audit: Option<PathBuf>,
}

impl ExecutionArgs {
    pub fn granted_abilities(&self) -> Result<Vec<Ability>> {
        self.granting.granted_abilities()
    }
}

/// The options of the pre-flight checks.
#[derive(Debug, Args)]
pub struct PreflightArgs {
    /// Run all pre-flight checks without calling the model
    #[arg(long)]
    pub preflight: bool,

    /// Fetch remote commands, and record their content
    #[arg(long, requires = "preflight")]
    pub fetch: bool,

    /// Use TEXT as `ctx.input` instead of the agent's own input
    #[arg(long, value_name = "TEXT", requires = "preflight")]
    pub input: Option<String>,

    #[command(flatten)]
    pub executing: ExecutionArgs,
}

/// Create an agent file from a template
///
/// The file has one command and one tool, and passes `brief agent check --preflight`. `brief agent check` reports leftover
/// template text.
#[derive(Debug, Args)]
pub struct AgentNewArgs {
    /// Category and name, such as `dev_review`
    pub name: String,

    /// Directory that contains `agents`
    #[arg(long = "in", value_name = "DIR", default_value = ".")]
    pub above: PathBuf,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// List agent files of the project and the home directory
#[derive(Debug, Args)]
pub struct AgentListArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Show an agent with its defaults and tools
///
/// Evaluates the code of its tools in the sandbox, without any ability.
#[derive(Debug, Args)]
pub struct AgentShowArgs {
    #[command(flatten)]
    pub file: AgentFileArgs,

    /// Render templates in the system message and rules
    #[arg(long)]
    pub render: bool,

    /// Use TEXT as `ctx.input` instead of the agent's own input
    #[arg(long, value_name = "TEXT", requires = "render")]
    pub input: Option<String>,

    #[command(flatten)]
    pub fencing: FenceArgs,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Check agent files without running their code
///
/// Parses the code of their tools; `brief agent show` evaluates it. Exits 1 if there is an error.
#[derive(Debug, Args)]
#[command(mut_group("ExecutionArgs", |group| group.requires("preflight")))]
pub struct AgentCheckArgs {
    /// Agent files, or their names [default: all in the project]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Treat warnings as errors
    #[arg(long, conflicts_with = "preflight")]
    pub strict: bool,

    #[command(flatten)]
    pub preflight: PreflightArgs,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Run an agent: a conversation with a model that can call its tools
///
/// Works with any server for chat completions: set `OPENAI_BASE_URL` and `OPENAI_API_KEY`. On a terminal the conversation
/// continues until /quit; with --input, or with text on standard input, it is one turn. Otherwise an agent with its own
/// `input` starts with that. Runs the pre-flight checks first.
#[derive(Debug, Args)]
pub struct AgentRunArgs {
    #[command(flatten)]
    pub file: AgentFileArgs,

    /// Send TEXT and exit after the answer; also `ctx.input` if the agent has no input
    #[arg(long, value_name = "TEXT")]
    pub input: Option<String>,

    /// Model to use [default: the first recommended by the agent]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,

    #[command(flatten)]
    pub executing: ExecutionArgs,

    /// Append the conversation to FILE as JSON lines
    #[arg(long, value_name = "FILE")]
    pub transcript: Option<PathBuf>,
}

/// Serve an agent to an MCP client
///
/// Offers its tools as tools, its commands as prompts and its system message as instructions, over standard input and
/// output. Runs the pre-flight checks first.
#[derive(Debug, Args)]
pub struct AgentServeArgs {
    #[command(flatten)]
    pub file: AgentFileArgs,

    /// Use TEXT as `ctx.input` instead of the agent's own input
    #[arg(long, value_name = "TEXT")]
    pub input: Option<String>,

    #[command(flatten)]
    pub executing: ExecutionArgs,
}

/// Call a tool of an agent in the sandbox
///
/// Runs the pre-flight checks first, as `run` and `serve` do.
#[derive(Debug, Args)]
pub struct AgentCallArgs {
    #[command(flatten)]
    pub file: AgentFileArgs,

    /// Name of the tool
    #[arg(value_name = "TOOL")]
    pub tool: String,

    /// Arguments as a JSON object
    #[arg(value_name = "JSON", default_value = "{}")]
    pub arguments: String,

    #[command(flatten)]
    pub executing: ExecutionArgs,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Print a command of an agent with its arguments filled in
#[derive(Debug, Args)]
pub struct AgentCommandArgs {
    /// Print JSON; give this flag before FILE
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub file: AgentFileArgs,

    /// Name of the command, then values for `$1`, `$2` … and `$ARGUMENTS`
    #[arg(
        value_names = ["NAME", "ARG"], num_args = 1.., required = true, trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<String>,
}

/// Show the effective abilities of an agent
#[derive(Debug, Args)]
pub struct AgentAbilitiesArgs {
    #[command(flatten)]
    pub file: AgentFileArgs,

    #[command(flatten)]
    pub granting: GrantArgs,

    /// Check this ability [repeatable] [default: all without a scope]
    #[arg(long = "want", value_name = "ABILITY")]
    pub wants: Vec<String>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &AgentArgs) -> Result {
    ui.flush()?;
    agent_program::hand_over(session, &args.words)
}
