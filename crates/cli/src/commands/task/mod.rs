//! `brief task`

mod explain;
mod list;

pub(super) use list::complete;

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
use super::whole::counted;
use crate::assembly::{self, assemble, mention, write_rules};
use crate::error::{CommandError, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Assemble a prompt: a task, the rules chosen for it, its commands and skills
///
/// Prints the prompt and nothing else, ready to be piped to an agent. Commands in the texts
/// (!`command`) and bootstrap scripts of rules are run when you trust the project (see brief trust);
/// --exec runs them this time, --dry-run shows which, --no-exec leaves them out.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a user can set")]
pub(crate) struct TaskArgs {
    #[command(subcommand)]
    action: Option<TaskAction>,

    /// The task: the name of its file, or NAMESPACE/NAME
    #[arg(add = clap_complete::ArgValueCompleter::new(list::complete))]
    name: Option<String>,

    /// An additional text for the agent
    prompt: Option<OsString>,

    /// Fill `${KEY}` with VALUE
    #[arg(
        short = 'p', long = "param", value_name = "KEY=VALUE",
        add = clap_complete::ArgValueCompleter::new(crate::complete::parameters)
    )]
    parameters: Vec<OsString>,

    /// Use only what is for KEY=VALUE, or for every KEY
    #[arg(short = 's', long = "select", value_name = "KEY=VALUE")]
    selectors: Vec<String>,

    /// Use only what is for this agent, or for every one; the task's own `agent` wins
    #[arg(short = 'a', long, value_name = "AGENT", value_parser = agents())]
    agent: Option<String>,

    /// Continue: select `resume=true`, and leave out rules and skills
    #[arg(short = 'r', long)]
    resume: bool,

    /// Leave out rules and skills, and run no bootstrap script
    #[arg(long)]
    skip_bootstrap: bool,

    #[command(flatten)]
    search: TaskSearch,

    /// Write the rules to a file of the project that the agent reads, and print the rest
    #[arg(short = 'w', long)]
    write_rules: bool,

    /// With --write-rules: write to your own file instead, which the agent reads in every project
    #[arg(short = 'g', long, requires = "write_rules")]
    global: bool,

    /// With --write-rules: replace our part of that file even if it was edited by hand
    #[arg(long, requires = "write_rules")]
    force: bool,

    /// Do not print the task's front matter
    #[arg(long)]
    no_frontmatter: bool,

    /// Run nothing; commands stay as written
    #[arg(long)]
    no_exec: bool,

    /// Run the project's commands and scripts this time, although the project is not trusted
    #[arg(long, conflicts_with_all = ["no_exec", "dry_run", "explain", "mcp_config"])]
    exec: bool,

    /// Pass this variable of your environment to commands and scripts, besides PATH, HOME and the like
    #[arg(long = "env", value_name = "NAME", value_parser = variable)]
    variables: Vec<String>,

    /// Show what would be run, and run nothing
    #[arg(long, conflicts_with_all = ["explain", "mcp_config", "write_rules"])]
    dry_run: bool,

    /// Show each rule, command and skill, in or out, and the reason; run nothing
    #[arg(long, conflicts_with_all = ["json", "mcp_config", "write_rules"])]
    explain: bool,

    /// Print JSON: the prompt, its parts, and what was left out
    #[arg(long, conflicts_with_all = ["mcp_config"])]
    json: bool,

    /// Print the MCP servers of the task and its rules as this client wants them; run nothing
    #[arg(
        long, value_name = "CLIENT", value_parser = mcp_servers::clients(),
        conflicts_with = "write_rules"
    )]
    mcp_config: Option<String>,

    /// Fail, and print no prompt, when a parameter, a file or a command is missing, or when a command fails
    #[arg(long)]
    strict: bool,

    /// End a command or script that takes longer [default: 30, scripts 120]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    time_limit: Option<u64>,
}

/// The directories to search, besides the project and home.
#[derive(Debug, Args)]
pub(crate) struct TaskSearch {
    /// Search this directory first; a git address is fetched and cached
    #[arg(short = 'd', long = "directory", value_name = "DIR|URL")]
    given: Vec<OsString>,

    /// Search this directory last, if it is there
    #[arg(short = 'D', long = "fallback", value_name = "DIR|URL")]
    fallback: Vec<OsString>,

    /// Search the directories that this file names, one in each line
    #[arg(short = 'm', long, value_name = "FILE|URL")]
    manifest: Option<OsString>,

    /// Fetch nothing; use what is cached
    #[arg(long)]
    offline: bool,
}

#[derive(Debug, Subcommand)]
enum TaskAction {
    List(list::TaskListArgs),
}

/// Reads the name of an environment variable.
fn variable(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(['=', '\0']) {
        return Err("a variable is named without a value".to_owned());
    }
    Ok(text.to_owned())
}

fn agents() -> PossibleValuesParser {
    PossibleValuesParser::new(CodingAgent::names())
}

impl TaskSearch {
    fn directories(&self) -> SearchDirectories {
        SearchDirectories {
            given: self.given.clone(),
            fallback: self.fallback.clone(),
            manifest: self.manifest.clone(),
            offline: self.offline,
            convention: Convention::Brief,
        }
    }
}

impl TaskArgs {
    fn options(&self) -> Result<PromptOptions> {
        let mut parameters = Parameters::default();
        for text in &self.parameters {
            let added = parameters.add_text(text.as_encoded_bytes());
            added.map_err(|error| CommandError::usage(error.to_string()))?;
        }
        let mut selectors = read_selectors(&self.selectors)?;
        if self.resume {
            selectors.add("resume", "true");
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
            directories: self.search.directories(),
            wish,
            variables: self.variables.clone(),
            time_limit: self.time_limit.map(Duration::from_secs),
        })
    }

    fn layout(&self) -> PromptLayout {
        let written = |is_out| if is_out { RenderedPart::LeftOut } else { RenderedPart::Written };
        let (front_matter, rules) = (written(self.no_frontmatter), written(self.write_rules));
        PromptLayout { front_matter, rules, skills: RenderedPart::Written }
    }
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &TaskArgs) -> Result {
    if let Some(TaskAction::List(list)) = &args.action {
        return list::run(ui, session, list);
    }
    if args.name.is_none() {
        return Err(list::refuse_without_name(session));
    }
    let options = args.options()?;
    let assembled = assemble(ui, session, &options)?;
    let AssembledPrompt { prompt, ran, execution, root } = &assembled;
    if !args.json {
        mention(ui, &prompt.diagnostics, root)?;
    }
    if !args.json && !args.dry_run && !args.explain {
        mention_not_run(ui, ran, execution)?;
    }
    let missing = if args.strict { prompt.missing_parts() } else { 0 };
    if missing > 0 && !args.json {
        let parts = counted(missing, "part");
        return Err(CommandError::refused(format!(
            "the prompt lacks {parts}, and --strict is set"
        ))
        .with_hint("each is named above"));
    }
    if args.explain {
        explain::print(ui, &assembled, args.layout())?;
    } else if let Some(profile) = args.mcp_config.as_deref().and_then(mcp::profile) {
        mcp_servers::print_for(ui, profile, &servers_for(prompt.known_mcp_servers()))?;
    } else if args.dry_run && !args.json {
        explain::print_runs(ui, ran, root)?;
    } else {
        let text = prompt.render(args.layout());
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
    let Some(cause) = execution.off() else { return Ok(()) };
    match (count, cause) {
        (0, _) | (_, OffReason::DryRun) => {}
        (1, _) => ui.warning(&format!("1 command or script was not run, because of {cause}"))?,
        _ => {
            ui.warning(&format!("{count} commands and scripts were not run, because of {cause}"))?;
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
