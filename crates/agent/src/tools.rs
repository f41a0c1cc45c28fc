//! The tools of one agent: checked results of its code, ready to be called.
//!
//! The dialect judges the results, and this module checks arguments, both in the parent process and on JSON.
//! So a tool cannot change them afterwards through its own objects.

mod schema;

use std::sync::Arc;

use brief_dialects::agents::{Evaluated, Scheme, ToolProblem, check_returned};
use brief_syntax::{Severity, limits, near_miss};
use brief_system::{Interruption, System};
use serde_json::Value;

use crate::abilities::{AbilityRefusal, AbilityRequest, Host};
use crate::sandbox::client::Worker;
use crate::sandbox::{Fences, Limits, LogLine, WorkerProgram};

pub use schema::{Schema, SchemaError, Unchecked};

/// Tools of an agent that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsError {
    /// The code is larger than [`limits::TOOL_CODE_BYTES`].
    #[error("the code has {0} bytes, more than {most}", most = limits::TOOL_CODE_BYTES)]
    TooLarge(usize),
    /// The worker did not start, or it had to be ended.
    #[error("{0}")]
    Worker(String),
    /// The code is not valid JavaScript.
    #[error("the code is not valid JavaScript: {message}{}", code_place(*.place))]
    Syntax {
        message: String,
        /// The line and column in the code, from 1.
        place: Option<(u32, u32)>,
        /// Advice, if there is any.
        help: Option<&'static str>,
    },
    /// The code threw, or exceeded a limit.
    #[error("the code failed: {message}{}", code_place(*.place))]
    Failed {
        /// The thrown message, or the limit.
        message: String,
        /// The line and column in the code, from 1.
        place: Option<(u32, u32)>,
    },
    /// The code returned nothing, or a value that is not an object.
    #[error("the code returns {0}, not an object of tools")]
    NotAnObject(String),
    /// The code returned more than [`limits::TOOLS`] tools.
    #[error("the code returns more than {most} tools", most = limits::TOOLS)]
    TooMany,
    /// The system lacks a fence for the worker, and the operator has not accepted that.
    #[error("the tools did not run: this system has no {0} to sandbox their code")]
    MissingFence(String),
    /// A tool is not `{ fn, scheme }`, its scheme is not valid, or two tools have the same name.
    #[error("{problem}")]
    Shape {
        /// The defect, with the key of the tool.
        problem: String,
        /// Advice, if there is any.
        help: Option<String>,
    },
}

impl ToolsError {
    /// Returns the line and the column of the defect in the code, from 1.
    pub fn location(&self) -> Option<(u32, u32)> {
        match self {
            ToolsError::Syntax { place, .. } | ToolsError::Failed { place, .. } => *place,
            _ => None,
        }
    }

    /// Returns the message without the place, for callers that show the place separately.
    pub fn without_place(&self) -> String {
        let mut error = self.clone();
        if let ToolsError::Syntax { place, .. } | ToolsError::Failed { place, .. } = &mut error {
            *place = None;
        }
        error.to_string()
    }

    /// Returns advice, if there is any.
    pub fn help(&self) -> Option<&str> {
        match self {
            ToolsError::Syntax { help, .. } => *help,
            ToolsError::Shape { help, .. } => help.as_deref(),
            ToolsError::MissingFence(_) => Some(
                "use `--allow-weaker-sandbox` to run code that you trust in the sandbox that this system has",
            ),
            ToolsError::NotAnObject(_) => Some("end the code with `return { … };`"),
            _ => None,
        }
    }
}

/// A call without a result. Its text form may be shown to a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The agent has no such tool.
    #[error("unknown tool `{name}`{}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        name: String,
        /// A tool with a similar name.
        nearest: Option<String>,
    },
    /// The arguments do not match the tool's schema. The tool was not called.
    #[error("invalid arguments for `{tool}`: {}", .problems.join("; "))]
    Arguments {
        /// The name of the tool.
        tool: String,
        /// The mismatches, each with its place.
        problems: Vec<String>,
    },
    /// The tool threw, or its promise was rejected.
    #[error("{0}")]
    Threw(String),
    /// The tool exceeded a limit, or its result is not JSON.
    #[error("tool `{tool}`: {message}")]
    Refused {
        /// The name of the tool.
        tool: String,
        /// The limit, or the defect of the result.
        message: String,
    },
    /// The worker was ended, in this call or before. No tool can be called any more.
    #[error("the tools have stopped: {0}")]
    Ended(String),
}

#[derive(Debug, Clone)]
pub struct Tool {
    /// The scheme, for the model.
    pub scheme: Scheme,
    checker: Schema,
    place: usize,
}

impl Tool {
    /// Returns the mismatches of arguments; an empty list when they fit (Y31).
    pub fn check_arguments(&self, args: &Value) -> Vec<String> {
        self.checker.check_value(args)
    }

    fn ensure_arguments(&self, args: &Value) -> Result<(), CallError> {
        match self.check_arguments(args) {
            problems if problems.is_empty() => Ok(()),
            problems => Err(CallError::Arguments { tool: self.scheme.name.clone(), problems }),
        }
    }
}

/// The record of a call besides its result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallReport {
    /// The abilities that the tool asked for and was refused, whatever it did with the refusal.
    pub denied: Vec<String>,
    /// The lines that it logged.
    pub log: Vec<LogLine>,
}

/// The results of an agent's code, before they are checked.
#[derive(Debug)]
pub struct Evaluation {
    worker: Worker,
    returned: Vec<Evaluated>,
    fences: Fences,
}

impl Evaluation {
    /// Starts a worker and runs the code in it. No ability is available while it runs, even if granted later,
    /// so that the same code always returns the same tools.
    pub fn run_code(
        system: Arc<dyn System>,
        program: &WorkerProgram,
        code: &str,
        limits: Limits,
    ) -> Result<Evaluation, ToolsError> {
        if code.len() > limits::TOOL_CODE_BYTES {
            return Err(ToolsError::TooLarge(code.len()));
        }
        let (worker, returned, fences) = Worker::start(system, program, code, limits)?;
        Ok(Evaluation { worker, returned, fences })
    }

    /// Returns the kernel's fences round the worker.
    pub fn fences(&self) -> Fences {
        self.fences
    }

    /// Returns the results of the code, in the order of its keys.
    pub fn returned(&self) -> &[Evaluated] {
        &self.returned
    }

    /// Checks the results and makes them callable.
    pub fn into_tools(self, host: Host) -> Result<ToolBox, ToolsError> {
        let (schemes, problems) = check_returned(&self.returned);
        match problems.into_iter().find(|problem| problem.rule.severity() == Severity::Error) {
            Some(ToolProblem { message, help, .. }) => {
                Err(ToolsError::Shape { problem: message, help: Some(help) })
            }
            None => self.into_judged(&schemes, host),
        }
    }

    /// Makes results callable that the dialect has checked; `schemes` are those without an error.
    pub(crate) fn into_judged(self, schemes: &[Scheme], host: Host) -> Result<ToolBox, ToolsError> {
        let Evaluation { worker, returned, fences } = self;
        let mut tools = Vec::with_capacity(schemes.len());
        for scheme in schemes {
            let key = &scheme.name;
            let wrong = |problem| ToolsError::Shape { problem, help: None };
            let place = returned.iter().position(|found| found.key.trim() == key);
            let place = place.ok_or_else(|| wrong(format!("the code returns no tool `{key}`")))?;
            // The check of arguments needs a complete schema, not only one in the right form.
            let checker = Schema::for_arguments(&scheme.parameters).map_err(|error| {
                wrong(format!(
                    "`parameters` of the tool `{key}` is not a valid JSON Schema: {error}"
                ))
            })?;
            tools.push(Tool { scheme: scheme.clone(), checker, place });
        }
        Ok(ToolBox { worker, tools, host, fences, report: CallReport::default() })
    }
}

/// The tools of one agent, with the worker that calls them.
#[derive(Debug)]
pub struct ToolBox {
    worker: Worker,
    tools: Vec<Tool>,
    host: Host,
    fences: Fences,
    report: CallReport,
}

impl ToolBox {
    /// Runs the code in a new worker, checks its results, and makes them callable.
    pub fn load(
        system: Arc<dyn System>,
        program: &WorkerProgram,
        code: &str,
        limits: Limits,
        host: Host,
    ) -> Result<ToolBox, ToolsError> {
        Evaluation::run_code(system, program, code, limits)?.into_tools(host)
    }

    /// Returns the tools, in the order of their keys.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Returns the tool with this name, compared without case.
    pub fn find_tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.scheme.is_called(name))
    }

    /// Returns the kernel's fences round the worker.
    pub fn fences(&self) -> Fences {
        self.fences
    }

    /// Returns the process number of the worker.
    pub fn worker_id(&self) -> u32 {
        self.worker.id()
    }

    /// Lets `stop` end calls from now on, besides signals. The worker ends with the call, and the next call
    /// starts another one.
    pub fn interrupt_by(&mut self, stop: &Interruption) {
        self.worker.interrupt_by(stop);
        self.host.interrupt_by(stop);
    }

    /// Returns what answers the tools' requests for abilities.
    pub(crate) fn host(&mut self) -> &mut Host {
        &mut self.host
    }

    /// Calls a tool. `ctx` is its second argument; the abilities are its third.
    ///
    /// After [`CallError::Ended`] every call fails, unless the worker was interrupted or could not begin the
    /// call: then the next call starts another worker. After any other error the tools stay callable.
    pub fn call_tool(&mut self, name: &str, args: &Value, ctx: &Value) -> Result<Value, CallError> {
        let ToolBox { worker, tools, host, report, .. } = self;
        *report = CallReport::default();
        let tool = resolve_tool(tools, name)?;
        tool.ensure_arguments(args)?;
        worker.renew().map_err(CallError::Ended)?;
        let mut answer = |asked: AbilityRequest<'_>| {
            let ability = asked.ability.to_owned();
            let answer = host.answer_request(asked, &mut |name, args| {
                let tool = resolve_tool(tools, name)
                    .and_then(|tool| tool.ensure_arguments(args).map(|()| tool));
                tool.map(|tool| tool.place).map_err(|error| error.to_string())
            });
            if answer.as_ref().is_err_and(AbilityRefusal::is_denial) {
                report.denied.push(ability);
            }
            answer
        };
        let outcome = worker.call_tool((tool.place, &tool.scheme.name), args, ctx, &mut answer);
        report.log = worker.take_log();
        outcome
    }

    /// Returns the abilities that the last call was refused, and forgets them.
    pub(crate) fn take_denied(&mut self) -> Vec<String> {
        std::mem::take(&mut self.report.denied)
    }

    /// Returns the record of the last call.
    pub fn last_call(&self) -> &CallReport {
        &self.report
    }
}

fn resolve_tool<'t>(tools: &'t [Tool], name: &str) -> Result<&'t Tool, CallError> {
    tools.iter().find(|tool| tool.scheme.is_called(name)).ok_or_else(|| {
        let names: Vec<&str> = tools.iter().map(|tool| tool.scheme.name.as_str()).collect();
        let nearest = near_miss::find_nearest(name, &names).map(str::to_owned);
        CallError::Unknown { name: name.to_owned(), nearest }
    })
}

fn code_place(place: Option<(u32, u32)>) -> String {
    place.map(|(line, column)| format!(" (line {line}, column {column})")).unwrap_or_default()
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
