//! Combines an agent file and a worker: finds its tools and calls them.

use std::sync::Arc;
use std::time::Duration;

use brief_dialects::agents::{Agent, AgentValue, CodeProblem, Effective, Scheme, check_tools};
use brief_mcp_client::ServerTool;
use brief_syntax::{Diagnostic, Severity, Span, limits, rules};
use brief_system::{Interruption, System};
use serde_json::{Value, json};

use crate::abilities::{AbilityRequest, GrantError, Grants, Host};
use crate::conversation::ReadyTools;
use crate::gates;
use crate::sandbox::{Fences, Limits, MissingFence, Worker, WorkerProgram};
use crate::tools::{CallError, Evaluation, Schema, ToolBox, ToolsError, Unchecked};

/// The tools that an agent's code defines, before any ability is granted.
#[derive(Debug, Default)]
pub struct AgentCode {
    /// The schemes of the tools, for the model.
    pub schemes: Vec<Scheme>,
    /// The problems. With an error among them, the agent must not run.
    pub diagnostics: Vec<Diagnostic>,
    evaluation: Option<Evaluation>,
}

impl AgentCode {
    /// Runs the code of an agent in a worker, without any ability. An agent without tools starts no worker.
    pub fn evaluate(
        system: Arc<dyn System>,
        agent: &Agent,
        limits: Limits,
        missing_fence: MissingFence,
    ) -> AgentCode {
        let Some(tools) = &agent.tools else {
            let (schemes, diagnostics) = check_tools(agent, &[]);
            return AgentCode { schemes, diagnostics, evaluation: None };
        };
        let evaluation = own_worker(system.as_ref(), missing_fence)
            .and_then(|program| Evaluation::run_code(system, &program, &tools.code, limits));
        match evaluation {
            Ok(evaluation) => {
                let (schemes, mut diagnostics) = check_tools(agent, evaluation.returned());
                let span = tools.heading;
                diagnostics.extend(
                    schemes.iter().flat_map(|scheme| check_tool_schema(agent, span, scheme)),
                );
                AgentCode { schemes, diagnostics, evaluation: Some(evaluation) }
            }
            Err(error) => {
                let problem = agent.diagnose_code(code_problem(&error));
                AgentCode { diagnostics: vec![problem], ..AgentCode::default() }
            }
        }
    }

    /// Parses the code of an agent as [`parse_code`] does, and returns what is wrong with its syntax.
    pub fn parse(system: Arc<dyn System>, agent: &Agent) -> Result<Option<Diagnostic>, ToolsError> {
        let Some(tools) = &agent.tools else { return Ok(None) };
        let problem = parse_code(system, &tools.code)?;
        Ok(problem.map(|problem| agent.diagnose_code(problem)))
    }

    /// Returns whether the agent may run.
    pub fn is_valid(&self) -> bool {
        self.diagnostics.iter().all(|found| found.severity != Severity::Error)
    }

    /// Returns the kernel's fences round the worker; `None` when no code was run.
    pub fn fences(&self) -> Option<Fences> {
        self.evaluation.as_ref().map(Evaluation::fences)
    }

    /// Makes the tools callable. `host` answers their requests for abilities; `input` becomes `ctx.input`.
    pub fn into_tools(self, host: Host, input: &AgentValue) -> Result<AgentTools, ToolsError> {
        let code = match self.evaluation {
            Some(evaluation) => {
                let tool_box = evaluation.into_judged(&self.schemes, host)?;
                Code::Tools(Box::new(tool_box))
            }
            None => Code::None(Box::new(host)),
        };
        let ctx = json!({ "input": input });
        Ok(AgentTools { schemes: self.schemes, code, ctx, server_tools: Vec::new() })
    }
}

/// Parses code in a worker, and returns what is wrong with its syntax. Nothing of it runs. The error is that of a worker that
/// does not start.
pub fn parse_code(system: Arc<dyn System>, code: &str) -> Result<Option<CodeProblem>, ToolsError> {
    if code.len() > limits::TOOL_CODE_BYTES {
        return Ok(Some(code_problem(&ToolsError::TooLarge(code.len()))));
    }
    let program = own_worker(system.as_ref(), MissingFence::Accept)?;
    match Worker::parse_code(system, &program, code, Limits::default()) {
        Ok(()) => Ok(None),
        Err(error @ ToolsError::Syntax { .. }) => Ok(Some(code_problem(&error))),
        Err(error) => Err(error),
    }
}

fn code_problem(error: &ToolsError) -> CodeProblem {
    CodeProblem {
        message: error.without_place(),
        place: error.location(),
        help: error.help().map(str::to_owned),
    }
}

/// Returns the problems of a tool's argument schema, and the parts of it that are not checked.
fn check_tool_schema(agent: &Agent, span: Span, scheme: &Scheme) -> Vec<Diagnostic> {
    let name = &scheme.name;
    let parameters = match Schema::for_arguments(&scheme.parameters) {
        Ok(parameters) => parameters,
        Err(error) => {
            let message =
                format!("`parameters` of the tool `{name}` is not a valid JSON Schema: {error}");
            return vec![Diagnostic::new(
                rules::agent_file::TOOL_SHAPE,
                &agent.source,
                span,
                message,
            )];
        }
    };
    let warning = |unchecked: &Unchecked| {
        let message = format!("the tool `{name}`: {unchecked}");
        Diagnostic::new(rules::agent_file::SCHEMA_UNCHECKED, &agent.source, span, message)
            .with_help(unchecked.help())
    };
    parameters.unchecked().iter().map(warning).collect()
}

fn own_worker(
    system: &dyn System,
    missing_fence: MissingFence,
) -> Result<WorkerProgram, ToolsError> {
    let program = WorkerProgram::from_own_program(system)
        .map_err(|error| ToolsError::Worker(format!("cannot start the worker: {error}")))?;
    Ok(WorkerProgram { missing_fence, ..program })
}

/// Starts a worker and returns the kernel's fences that it has on this system.
pub fn fences_here(system: Arc<dyn System>) -> Result<Fences, ToolsError> {
    let program = own_worker(system.as_ref(), MissingFence::Accept)?;
    let evaluation = Evaluation::run_code(system, &program, "return {};", Limits::default())?;
    Ok(evaluation.fences())
}

/// Converts an agent's effective abilities to the grants for its host.
pub fn effective_grants(effective: &Effective<'_>, agent: &Agent) -> Result<Grants, GrantError> {
    let allowed: Vec<String> = effective.list_abilities().iter().map(ToString::to_string).collect();
    let denied: Vec<String> = agent.abilities.deny.iter().map(ToString::to_string).collect();
    Grants::new(allowed.iter().map(String::as_str), denied.iter().map(String::as_str))
}

/// The callable tools of an agent.
pub struct AgentTools {
    schemes: Vec<Scheme>,
    code: Code,
    ctx: Value,
    server_tools: Vec<ServerTool>,
}

/// The code of an agent, and what answers its requests.
enum Code {
    Tools(Box<ToolBox>),
    None(Box<Host>),
}

impl AgentTools {
    /// Calls a tool. Names are compared without case.
    pub fn call_json(&mut self, name: &str, arguments: &Value) -> Result<Value, CallError> {
        match &mut self.code {
            Code::Tools(tool_box) => tool_box.call_tool(name, arguments, &self.ctx),
            Code::None(_) => Err(CallError::Unknown { name: name.to_owned(), nearest: None }),
        }
    }

    /// Calls a tool of a server. The error is a message.
    fn call_server(&mut self, found: &ServerTool, arguments: Value) -> Result<Value, String> {
        let host = match &mut self.code {
            Code::Tools(tool_box) => tool_box.host(),
            Code::None(host) => host,
        };
        let asked = AbilityRequest {
            tool: &found.scheme.name,
            ability: "mcp",
            call: "call",
            args: vec![json!(found.server), json!(found.tool), arguments],
            time_left: Duration::from_secs(limits::TOOL_SECONDS),
        };
        let no_tools = &mut |name: &str, _: &Value| Err(format!("unknown tool `{name}`"));
        host.answer_request(asked, no_tools).map_err(|refusal| refusal.to_string())
    }
}

impl ReadyTools for AgentTools {
    fn schemes(&self) -> &[Scheme] {
        &self.schemes
    }

    fn call_tool(&mut self, name: &str, arguments: &str) -> Result<String, String> {
        let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
        let arguments: Value = serde_json::from_str(arguments)
            .map_err(|error| format!("the arguments of `{name}` are not valid JSON: {error}"))?;
        let server_tool = self.server_tools.iter().find(|tool| tool.scheme.is_called(name));
        let result = match server_tool.cloned() {
            Some(found) => self.call_server(&found, arguments)?,
            None => self.call_json(name, &arguments).map_err(|error| error.to_string())?,
        };
        Ok(match result {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    fn take_denied(&mut self) -> Vec<String> {
        match &mut self.code {
            Code::Tools(tool_box) => tool_box.take_denied(),
            Code::None(_) => Vec::new(),
        }
    }

    /// Adds tools of MCP servers. A call of one is a request for the ability `mcp`, checked and logged as that of
    /// a tool. One whose name the agent uses itself is not added.
    fn add_server_tools(&mut self, tools: Vec<ServerTool>) {
        for tool in tools {
            if self.schemes.iter().all(|known| !known.is_called(&tool.scheme.name)) {
                self.schemes.push(tool.scheme.clone());
                self.server_tools.push(tool);
            }
        }
    }

    fn interrupt_by(&mut self, stop: &Interruption) {
        match &mut self.code {
            Code::Tools(tool_box) => tool_box.interrupt_by(stop),
            Code::None(host) => host.interrupt_by(stop),
        }
    }

    fn call_startup_tool(&mut self, name: &str) -> Result<(), String> {
        let Code::Tools(tool_box) = &mut self.code else {
            return Err("unknown tool".to_owned());
        };
        gates::run_startup(tool_box, name, &self.ctx).map(drop).map_err(|error| match error {
            // The caller's message names the tool.
            gates::GateError::Failed { error, .. } => error.to_string(),
            other => other.to_string(),
        })
    }
}
