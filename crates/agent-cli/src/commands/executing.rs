//! The common parts of commands that run an agent's code: grants, the host, and the gates.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use brief_agent::abilities::{
    AbilityAudit, Host, NetworkPolicy, is_listed, lacks_sandbox, runs_anything,
};
use brief_agent::agent::{AgentCode, AgentTools, effective_grants};
use brief_agent::conversation::Ready;
use brief_agent::sandbox::{Limits, MissingFence};
use brief_cli::{find_project_servers, trust_command};
use brief_engine::agents::{Ability, Agent, AgentValue, Base, Effective, Loaded, collect_refusals};
use brief_mcp_client::{ConfiguredServers, ServerAddress, ServerTool, SharedServers};
use brief_runtime::{Consent, Execution, Wish, project_of};
use brief_serve::mcp::GatewayServer;
use brief_serve::mcp::configured::ServerSearch;
use brief_syntax::limits;

use super::refuse_agent;
use crate::agent::{ExecutionArgs, FenceArgs};
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Returns the treatment of a missing fence.
fn missing_fence(args: &FenceArgs) -> MissingFence {
    if args.allow_weaker_sandbox { MissingFence::Accept } else { MissingFence::Refuse }
}

/// The time for a server to start, and again for its list.
const SERVER_PATIENCE: Duration = Duration::from_secs(30);

/// The tools of an agent, and the MCP servers that they may reach. No server has started.
pub(super) struct ExecutedTools {
    pub(super) tools: AgentTools,
    pub(super) servers: Option<SharedServers>,
}

fn read_limits(args: &ExecutionArgs) -> Result<Limits> {
    let limits = Limits::default();
    let Some(seconds) = args.time_limit else { return Ok(limits) };
    let wall = Duration::try_from_secs_f64(seconds).ok().filter(|wall| !wall.is_zero());
    let wall = wall.filter(|wall| *wall <= limits.wall).ok_or_else(|| {
        let most = limits.wall.as_secs();
        CommandError::usage(format!(
            "`--time-limit {seconds}` is not a number between 0 and {most}"
        ))
        .with_hint("write a number of seconds, such as `--time-limit 2.5`")
    })?;
    Ok(Limits { wall, cpu: limits.cpu.min(wall), ..limits })
}

/// Returns the host, which answers the tools' requests.
fn make_host(
    args: &ExecutionArgs,
    ui: &mut Ui,
    session: &Session,
    agent: &Agent,
    grant: &[Ability],
    servers: Option<SharedServers>,
) -> Result<Host> {
    let effective = Effective::new(grant, &agent.abilities);
    let grants = effective_grants(&effective, agent)
        .map_err(|error| CommandError::usage(error.to_string()))?;
    for program in grants.programs().filter(|program| !is_listed(program)) {
        ui.print_warning(&if runs_anything(program) {
            format!("`sh:{program}` can start any program: it is not a security boundary")
        } else {
            format!(
                "`sh:{program}` allows everything `{program}` can do: brief does not check its options"
            )
        })?;
    }
    if grants.contains("browser") && lacks_sandbox() {
        ui.print_warning("as root, the browser runs without its own sandbox: use another account")?;
    }
    let audit = match &args.audit {
        Some(path) => {
            AbilityAudit::to_file(session.shared_system(), session.directory().join(path))
        }
        None => AbilityAudit::none(),
    };
    let private_hosts = args.hosts.iter().map(|host| host.to_lowercase()).collect();
    let root = session.open_root()?;
    let mut host = Host::new(session.shared_system(), grants)
        .with_env(agent.required.env.iter().cloned())
        .with_network(NetworkPolicy { private_hosts, ..NetworkPolicy::default() })
        .with_audit(audit);
    if let Some(servers) = servers {
        host = host.with_mcp(Box::new(servers));
    }
    let host = host.with_root(root.path());
    host.map_err(|error| CommandError::refused(format!("cannot open the project: {error}")))
}

/// Evaluates the tools of a valid agent and makes them callable. Prints the problems.
pub(super) fn load_tools(
    args: &ExecutionArgs,
    ui: &mut Ui,
    session: &Session,
    agent: &Agent,
    input: &AgentValue,
    grant: &[Ability],
) -> Result<ExecutedTools> {
    if let (Execution::Off(off), Some(_)) = (session.decide_execution(None)?, &agent.tools) {
        let message = format!("cannot run the agent's tools because of {off}");
        return Err(CommandError::refused(message));
    }
    let (system, limits) = (session.shared_system(), read_limits(args)?);
    let code = AgentCode::evaluate(system, agent, limits, missing_fence(&args.fencing));
    if let Some(fences) = code.fences().filter(|fences| !fences.missing_fences().is_empty()) {
        let missing = fences.missing_fences().join(" and ");
        ui.print_warning(&format!(
            "the tools run without {missing} because of `--allow-weaker-sandbox`"
        ))?;
    }
    if !code.is_valid() {
        return Err(refuse_agent(ui, session, &code.diagnostics)?);
    }
    ui.print_diagnostic_lines(&code.diagnostics, session.open_root()?.path())?;
    let servers = find_servers(args, ui, session)?.map(SharedServers::new);
    let host = make_host(args, ui, session, agent, grant, servers.clone())?;
    let tools = code.into_tools(host, input);
    let tools = tools.map_err(|error| CommandError::refused(error.to_string()))?;
    Ok(ExecutedTools { tools, servers })
}

/// Returns the servers that the operator names: those of the file, and those of the project.
fn find_servers(
    args: &ExecutionArgs,
    ui: &mut Ui,
    session: &Session,
) -> Result<Option<ConfiguredServers>> {
    if args.mcp_config.is_none() && !args.servers {
        return Ok(None);
    }
    let mut servers: Vec<(String, ServerAddress)> = Vec::new();
    let mut decisions = BTreeMap::new();
    if args.servers {
        let search = ServerSearch { is_allowed: args.exec, without: None };
        let found = find_project_servers(ui, session, search)?;
        for GatewayServer { name, address, decisions: known, .. } in found {
            decisions.insert(name.clone(), known);
            servers.push((name, address));
        }
    }
    // The operator's own file is the last word.
    if let Some(path) = &args.mcp_config {
        let named = read_servers(args, session, path)?;
        for (name, _) in &named {
            decisions.remove(name);
        }
        servers.extend(named);
    }
    let root = session.open_root()?;
    let servers = ConfiguredServers::new(session.shared_system(), root.path(), servers);
    Ok(Some(servers.with_decisions(decisions)))
}

/// Reads the operator's servers. A file of a project names programs of the project, which start
/// only if it is trusted.
fn read_servers(
    args: &ExecutionArgs,
    session: &Session,
    path: &Path,
) -> Result<Vec<(String, ServerAddress)>> {
    let refused = |problem: String| {
        let message = format!("cannot use `{}`: {problem}", path.display());
        CommandError::usage(message)
            .with_hint("write `{\"mcpServers\": {\"name\": {\"command\": \"…\", \"args\": []}}}`")
    };
    let system = session.system();
    let file = session.directory().join(path);
    let bytes = system.read(&file, limits::FILE_BYTES);
    let bytes = bytes.map_err(|error| refused(error.to_string()))?;
    let project = project_of(system, session.directory(), &file);
    if let Some(project) = project.map_err(|error| refused(error.to_string()))? {
        let wish = args.exec.then_some(Wish::Execute);
        let execution = session.decide_execution(wish.as_ref())?;
        let mut consent = Consent::new(system, session.directory(), execution);
        consent.check_project(&project).map_err(|refusal| {
            let message = format!("cannot start the servers in `{}`: {refusal}", path.display());
            let trust = trust_command(session.directory(), &refusal.root);
            CommandError::refused(message).with_hint(format!(
                "review the file, then run `{trust}`, or pass `--exec` to start them once"
            ))
        })?;
    }
    ConfiguredServers::parse_configuration(&bytes).map_err(refused)
}

/// Starts the servers and lists their tools, if the agent may call them. Prints the problems. The agent has passed every
/// gate: a server runs a program of its own.
pub(super) fn offered_by(
    ui: &mut Ui,
    servers: &SharedServers,
    effective: &Effective<'_>,
) -> Result<Vec<ServerTool>> {
    let mut servers = servers.lock();
    let names: Vec<&str> = servers.names().collect();
    if names.is_empty() {
        ui.print_warning("no MCP servers are configured here")?;
        return Ok(Vec::new());
    }
    if !effective.has_ability(&Ability::Base(Base::Mcp)) {
        ui.print_warning(
            "the agent cannot call the MCP servers: it does not have the ability `mcp`",
        )?;
        ui.print_hint("add `mcp` to `allow` in the agent file, and pass `--grant mcp`")?;
        return Ok(Vec::new());
    }
    ui.print_status(&format!("starting {}", names.join(", ")))?;
    let (tools, problems) = ServerTool::list(&mut servers, SERVER_PATIENCE);
    problems.iter().try_for_each(|problem| ui.print_warning(problem))?;
    Ok(tools)
}

/// Refuses a disabled agent and one with missing requirements, before any of its code runs.
pub(super) fn refuse_closed(session: &Session, agent: &Agent) -> Result {
    let refusals = collect_refusals(session.system(), agent);
    if refusals.is_empty() {
        return Ok(());
    }
    let reasons: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    Err(CommandError::refused(reasons.join("; ")))
}

/// Passes an agent through the last gates: texts, names, and the startup tool.
pub(super) fn through_gates<'r>(
    session: &Session,
    agent: &'r Agent,
    input: &AgentValue,
    grant: &[Ability],
    tools: &'r mut AgentTools,
) -> Result<Ready<'r>> {
    let effective = Effective::new(grant, &agent.abilities);
    Ready::pass_gates(session.system(), agent, Some(input), &effective, tools)
        .map_err(|error| CommandError::refused(error.to_string()))
}

/// Returns the input of an agent: the typed one, or its own.
pub(super) fn input_of(agent: &Agent, typed: Option<&str>) -> AgentValue {
    match typed {
        Some(text) => AgentValue::Text(text.to_owned()),
        None => agent.input.clone(),
    }
}

/// Returns all diagnostics of an agent, its code included, and its tools. Without execution the
/// tools are unknown.
pub(super) fn examine_agent(
    ui: &mut Ui,
    session: &Session,
    loaded: &Loaded,
    fencing: &FenceArgs,
) -> Result<AgentCode> {
    let Some(agent) = loaded.agent() else { return Ok(AgentCode::default()) };
    if let (Execution::Off(off), Some(_)) = (session.decide_execution(None)?, &agent.tools) {
        ui.print_warning(&format!("the tools were not checked because of {off}"))?;
        return Ok(AgentCode::default());
    }
    let missing = missing_fence(fencing);
    Ok(AgentCode::evaluate(session.shared_system(), agent, Limits::default(), missing))
}
