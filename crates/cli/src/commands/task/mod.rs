//! `brief task`

mod explain;
mod list;

use list::TaskListArgs;
pub(super) use list::complete_task;

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use brief_clients::mcp;
use brief_engine::tasks::{
    Amount, CodingAgent, HandEdits, Parameters, PromptLayout, RenderedPart, TaskFileKind,
};
use brief_engine::{PromptReport, RunReport};
use brief_runtime::assembly::{Convention, RulesFile, SearchDirectories};
use brief_runtime::{
    AssembledPrompt, Execution, ExecutionRequest, OffReason, PromptOptions, RequestOutcome, Wish,
};
use brief_syntax::render::path_below;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use super::mcp_servers::{self, servers_for};
use super::question::read_selectors;
use super::whole::format_count;
use crate::assembly::{self, assemble_prompt, print_prompt_diagnostics, write_rules};
use crate::error::{CommandError, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Assemble a prompt: a task with its rules, commands and skills
///
/// `brief task NAME` prints the prompt of a task, as `brief task run NAME` does; without a name, the tasks are listed.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TaskArgs {
    #[command(subcommand)]
    action: Option<TaskAction>,

    #[command(flatten)]
    running: TaskRunArgs,
}

/// Assemble the prompt of a task
///
/// Prints only the prompt, ready to be piped to an agent. Commands in the texts (!`command`) and bootstrap scripts of rules
/// run if you trust the project (see `brief trust`); --exec runs them this time, --dry-run shows them, --no-exec skips them.
#[derive(Debug, Default, PartialEq, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a user can set")]
struct TaskRunArgs {
    /// Name of the task, or NAMESPACE/NAME
    #[arg(add = clap_complete::ArgValueCompleter::new(list::complete_task))]
    name: Option<String>,

    /// Additional text for the agent
    prompt: Option<OsString>,

    /// Replace `${KEY}` with VALUE [repeatable]
    #[arg(
        short = 'p', long = "param", value_name = "KEY=VALUE",
        add = clap_complete::ArgValueCompleter::new(crate::complete::complete_parameters)
    )]
    parameters: Vec<OsString>,

    /// Include rules whose KEY is VALUE, or that do not set KEY [repeatable]
    #[arg(short = 's', long = "select", value_name = "KEY=VALUE")]
    selectors: Vec<String>,

    /// Use rules for this agent or for all agents; a task's `agent` wins
    #[arg(short = 'a', long, value_name = "AGENT", value_parser = agent_parser())]
    agent: Option<String>,

    /// Resume: select `resume=true`, and omit rules and skills
    #[arg(short = 'r', long)]
    resume: bool,

    /// Print the task alone: omit rules and skills, and run no bootstrap scripts
    #[arg(long)]
    skip_bootstrap: bool,

    #[command(flatten)]
    search: TaskSearch,

    /// Write the rules to the agent's project file, and print the rest
    #[arg(short = 'w', long)]
    write_rules: bool,

    /// With --write-rules: write to your user-level file instead
    #[arg(short = 'g', long, requires = "write_rules")]
    global: bool,

    /// With --write-rules: overwrite brief's part of the file even if edited
    #[arg(long, requires = "write_rules")]
    force: bool,

    /// Omit the task's frontmatter
    #[arg(long)]
    no_frontmatter: bool,

    /// Leave commands unexecuted
    #[arg(long)]
    no_exec: bool,

    /// Run commands and scripts this time, even in an untrusted project
    #[arg(long, conflicts_with_all = ["no_exec", "dry_run", "explain", "mcp_config"])]
    exec: bool,

    /// Pass this environment variable to commands and scripts [repeatable]
    #[arg(long = "env", value_name = "NAME", value_parser = parse_variable_name)]
    variables: Vec<String>,

    /// Show commands and scripts without running them
    #[arg(long, conflicts_with_all = ["explain", "mcp_config", "write_rules"])]
    dry_run: bool,

    /// Explain why each rule, command and skill is used or not
    #[arg(long, conflicts_with_all = ["json", "mcp_config", "write_rules"])]
    explain: bool,

    /// Print JSON
    #[arg(long, conflicts_with_all = ["mcp_config"])]
    json: bool,

    /// Print the MCP servers of the task in this client's format
    #[arg(
        long, value_name = "CLIENT", value_parser = mcp_servers::client_parser(),
        conflicts_with = "write_rules"
    )]
    mcp_config: Option<String>,

    /// Fail if a parameter, file or command is missing, or a command fails
    #[arg(long)]
    strict: bool,

    /// Time out commands and scripts after SECONDS [default: 30, scripts 120]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    time_limit: Option<u64>,
}

/// The directories to search, besides the project and home.
#[derive(Debug, Default, PartialEq, Args)]
pub(crate) struct TaskSearch {
    /// Search this directory or git URL first [repeatable]
    #[arg(short = 'd', long = "directory", value_name = "DIR|URL")]
    given: Vec<OsString>,

    /// Search this directory or git URL last [repeatable]
    #[arg(short = 'D', long = "fallback", value_name = "DIR|URL")]
    fallback: Vec<OsString>,

    /// Search the directories listed in this file, one per line
    #[arg(short = 'm', long, value_name = "FILE|URL")]
    manifest: Option<OsString>,

    /// Use only the cache
    #[arg(long)]
    offline: bool,
}

#[derive(Debug, Subcommand)]
enum TaskAction {
    Run(Box<TaskRunArgs>),
    List(TaskListArgs),
}

/// Reads the name of an environment variable.
fn parse_variable_name(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(['=', '\0']) {
        return Err("expected a name without a value".to_owned());
    }
    Ok(text.to_owned())
}

fn agent_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(CodingAgent::list_names())
}

impl TaskSearch {
    fn search_directories(&self) -> SearchDirectories {
        SearchDirectories {
            given: self.given.clone(),
            fallback: self.fallback.clone(),
            manifest: self.manifest.clone(),
            offline: self.offline,
            convention: Convention::Brief,
        }
    }
}

impl TaskRunArgs {
    fn prompt_options(&self) -> Result<PromptOptions> {
        let mut parameters = Parameters::default();
        for text in &self.parameters {
            let added = parameters.add_text(text.as_encoded_bytes());
            added.map_err(|error| CommandError::usage(error.to_string()))?;
        }
        let mut selectors = read_selectors(&self.selectors)?;
        if self.resume {
            selectors.add_selector("resume", "true");
        }
        let wish = if self.dry_run || self.explain || self.mcp_config.is_some() {
            Some(Wish::Off(OffReason::DryRun))
        } else if self.no_exec {
            Some(Wish::Off(OffReason::Flag))
        } else {
            self.exec.then_some(Wish::Execute)
        };
        let is_alone = self.resume || self.skip_bootstrap;
        Ok(PromptOptions {
            name: self.name.clone().unwrap_or_default(),
            kind: TaskFileKind::Task,
            prompt: self.prompt.clone(),
            parameters,
            selectors,
            agent: self.agent.as_deref().and_then(CodingAgent::from_name),
            amount: if is_alone { Amount::TaskAlone } else { Amount::Everything },
            directories: self.search.search_directories(),
            wish,
            variables: self.variables.clone(),
            time_limit: self.time_limit.map(Duration::from_secs),
        })
    }

    fn prompt_layout(&self) -> PromptLayout {
        let written = |is_out| if is_out { RenderedPart::LeftOut } else { RenderedPart::Written };
        let (front_matter, rules) = (written(self.no_frontmatter), written(self.write_rules));
        PromptLayout { front_matter, rules, skills: RenderedPart::Written }
    }
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &TaskArgs) -> Result {
    match &args.action {
        Some(TaskAction::List(args)) => list::run(ui, session, args),
        Some(TaskAction::Run(args)) => run_task(ui, session, args),
        // With an option, a task is meant whose name is missing. Its prompt may be the input of an agent.
        None if args.running == TaskRunArgs::default() => {
            list::run(ui, session, &TaskListArgs::default())
        }
        None => run_task(ui, session, &args.running),
    }
}

fn run_task(ui: &mut Ui, session: &Session, args: &TaskRunArgs) -> Result {
    if args.name.is_none() {
        return Err(list::refuse_without_name(session));
    }
    let options = args.prompt_options()?;
    let assembled = assemble_prompt(ui, session, &options)?;
    let AssembledPrompt { prompt, ran, execution, root } = &assembled;
    if !args.json {
        print_prompt_diagnostics(ui, &prompt.diagnostics, root)?;
    }
    if !args.json && !args.dry_run && !args.explain {
        mention_not_run(ui, ran, execution)?;
    }
    let missing = if args.strict { prompt.missing_parts() } else { 0 };
    if missing > 0 && !args.json {
        let parts = format_count(missing, "part");
        return Err(CommandError::refused(format!("the prompt lacks {parts} (`--strict`)"))
            .with_hint("see the messages above"));
    }
    if args.explain {
        explain::print_explanation(ui, &assembled, args.prompt_layout())?;
    } else if let Some(profile) = args.mcp_config.as_deref().and_then(mcp::find_server_profile) {
        mcp_servers::print_for(ui, profile, &servers_for(prompt.known_mcp_servers()))?;
    } else if args.dry_run && !args.json {
        explain::print_runs(ui, ran, root)?;
    } else {
        let text = prompt.render(args.prompt_layout());
        if args.write_rules && options.amount == Amount::Everything {
            let agent = prompt.agent.ok_or_else(assembly::no_agent_to_write_for)?;
            let edits = if args.force { HandEdits::Replace } else { HandEdits::Keep };
            let place = if args.global { RulesFile::Home } else { RulesFile::Project };
            write_rules(ui, session, agent, prompt, place, edits)?;
        }
        if args.json {
            let ran = ran.iter().map(|asked| run_report(root, asked)).collect();
            let body = PromptReport { root, prompt, text: &text, ran };
            let diagnostics = &prompt.diagnostics;
            ui.print_json("task", root, diagnostics, body)?;
        } else {
            ui.print_text(&text)?;
        }
    }
    refuse_if(missing > 0)
}

/// Reports commands that the user turned off, because they stay as text in the prompt.
fn mention_not_run(ui: &mut Ui, ran: &[ExecutionRequest], execution: &Execution) -> Result {
    let count = ran.iter().filter(|asked| asked.outcome == RequestOutcome::NotAllowed).count();
    let Some(cause) = execution.off_reason() else { return Ok(()) };
    match (count, cause) {
        (0, _) | (_, OffReason::DryRun) => {}
        (1, _) => {
            ui.print_warning(&format!("1 command or script was not run, because of {cause}"))?;
        }
        _ => {
            ui.print_warning(&format!(
                "{count} commands and scripts were not run, because of {cause}"
            ))?;
        }
    }
    Ok(())
}

fn run_report<'r>(root: &Path, asked: &'r ExecutionRequest) -> RunReport<'r> {
    RunReport {
        kind: asked.kind.as_str(),
        path: path_below(root, &asked.path),
        line: asked.line,
        text: &asked.text,
        outcome: asked.outcome.to_string(),
    }
}
