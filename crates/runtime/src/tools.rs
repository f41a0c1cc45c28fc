//! The tools of one agent: what its code returned, checked, and ready to be called.
//!
//! What was returned is judged by the dialect, and arguments are checked here, both in the parent, on JSON:
//! nothing that a tool does to its own objects can change it afterwards.

mod schema;

use std::fmt;
use std::sync::Arc;

use brief_dialects::agents::{Evaluated, Scheme, ToolProblem, check_returned};
use brief_syntax::system::Interruption;
use brief_syntax::{Severity, System, limits, near_miss};
use serde_json::Value;

use crate::abilities::{Asked, Host};
use crate::sandbox::client::{self, Answers, LoadFailure, Question, Refused, Worker};
use crate::sandbox::{Fences, Limits, LogLine, Returned, WorkerProgram};

pub use schema::{Schema, SchemaError, Unchecked};

/// Why the tools of an agent cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsError {
    /// The code is larger than [`limits::TOOL_CODE_BYTES`].
    #[error("the code has {0} bytes, more than {most}", most = limits::TOOL_CODE_BYTES)]
    TooLarge(usize),
    /// The worker did not start, or it had to be ended.
    #[error("{0}")]
    Worker(String),
    /// The code is no JavaScript.
    #[error("the code is no JavaScript: {message}{}", At(*.place))]
    Syntax {
        /// What the engine says.
        message: String,
        /// Line and column in the code, from 1.
        place: Option<(u32, u32)>,
        /// What to write instead, if that is known.
        help: Option<&'static str>,
    },
    /// The code threw, or went over a limit.
    #[error("the code failed: {message}{}", At(*.place))]
    Failed {
        /// What was thrown, or which limit it was.
        message: String,
        /// Line and column in the code, from 1.
        place: Option<(u32, u32)>,
    },
    /// The code returned nothing, or something that is no object.
    #[error("the code returns {what}, not an object of tools")]
    NotAnObject {
        /// What it returned.
        what: String,
    },
    /// The code returned more than [`limits::TOOLS`] tools.
    #[error("the code returns more than {most} tools", most = limits::TOOLS)]
    TooMany,
    /// The system lacks a fence for the worker, and nobody has accepted that.
    #[error(
        "this system has no {missing}, which keeps the code of tools in, so the code was not run"
    )]
    MissingFence {
        /// The fences, by their usual names.
        missing: String,
    },
    /// A tool is not `{ fn, scheme }`, its scheme is not what it must be, or two have one name.
    #[error("{problem}")]
    Shape {
        /// What is wrong, with the key of the tool.
        problem: String,
        /// What to write instead, if that is known.
        help: Option<String>,
    },
}

impl ToolsError {
    /// Returns the line and the column of the code, from 1, that it is about.
    pub fn place(&self) -> Option<(u32, u32)> {
        match self {
            ToolsError::Syntax { place, .. } | ToolsError::Failed { place, .. } => *place,
            _ => None,
        }
    }

    /// Returns it in words, for who shows the place otherwise.
    pub fn without_place(&self) -> String {
        let mut error = self.clone();
        if let ToolsError::Syntax { place, .. } | ToolsError::Failed { place, .. } = &mut error {
            *place = None;
        }
        error.to_string()
    }

    /// Returns what to do about it, if that is known.
    pub fn help(&self) -> Option<&str> {
        match self {
            ToolsError::Syntax { help, .. } => *help,
            ToolsError::Shape { help, .. } => help.as_deref(),
            ToolsError::MissingFence { .. } => Some(
                "`--accept-missing-fence` runs it behind the fences that are there; do so for code that you trust",
            ),
            ToolsError::NotAnObject { .. } => Some("end the code with `return { … };`"),
            _ => None,
        }
    }
}

/// Why a call has no result. Its text form is what a model may be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// There is no such tool.
    #[error("there is no tool `{name}`{}", DidYouMean(.nearest.as_deref()))]
    Unknown {
        /// What was asked for.
        name: String,
        /// A tool with a similar name.
        nearest: Option<String>,
    },
    /// The arguments do not fit the tool's schema. It was not called.
    #[error("the arguments of `{tool}` do not fit: {}", .problems.join("; "))]
    Arguments {
        /// The tool.
        tool: String,
        /// What is wrong with them, each with its place.
        problems: Vec<String>,
    },
    /// The tool threw, or its promise was rejected.
    #[error("{message}")]
    Threw {
        /// What it threw.
        message: String,
    },
    /// The tool went over a limit, or its result is no JSON.
    #[error("tool `{tool}`: {message}")]
    Refused {
        /// The tool.
        tool: String,
        /// Which limit, or what is wrong with the result.
        message: String,
    },
    /// The worker had to be ended, in this call or before. No tool can be called any more.
    #[error("the tools have ended: {message}")]
    Ended {
        /// Why.
        message: String,
    },
}

/// One tool.
#[derive(Debug, Clone)]
pub struct Tool {
    /// What a model is told of it.
    pub scheme: Scheme,
    checker: Schema,
    place: usize,
}

impl Tool {
    /// Returns what is wrong with arguments; nothing when they fit (Y31).
    pub fn check(&self, args: &Value) -> Vec<String> {
        self.checker.check(args)
    }
}

/// What a call was, besides its result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallReport {
    /// The abilities that the tool asked for in vain, whatever it made of that.
    pub denied: Vec<String>,
    /// What it logged.
    pub log: Vec<LogLine>,
}

/// Code that has run: what it returned, before anybody has judged it.
#[derive(Debug)]
pub struct Evaluation {
    worker: Worker,
    returned: Vec<Evaluated>,
    fences: Fences,
}

impl Evaluation {
    /// Starts a worker and runs the code in it. No ability is there while it runs, whatever is granted
    /// later, so that the same code always has the same tools.
    pub fn run(
        system: Arc<dyn System>,
        program: &WorkerProgram,
        code: &str,
        limits: Limits,
    ) -> Result<Evaluation, ToolsError> {
        if code.len() > limits::TOOL_CODE_BYTES {
            return Err(ToolsError::TooLarge(code.len()));
        }
        match Worker::start(system, program, code, limits) {
            Ok((worker, returned, fences)) => {
                let returned = returned.into_iter().map(evaluated).collect();
                Ok(Evaluation { worker, returned, fences })
            }
            Err(LoadFailure::MissingFence { missing }) => Err(ToolsError::MissingFence { missing }),
            Err(LoadFailure::Worker(message)) => Err(ToolsError::Worker(message)),
            Err(LoadFailure::Syntax { message, place }) => {
                let help = code.contains("export default").then_some(
                    "the code is the body of a function: write `return { … };` instead of `export default`",
                );
                Err(ToolsError::Syntax { message, place, help })
            }
            Err(LoadFailure::Failed { message, place }) => {
                Err(ToolsError::Failed { message, place })
            }
            Err(LoadFailure::NotAnObject { what }) => {
                let what = match what.as_str() {
                    "undefined" => "nothing".to_owned(),
                    "array" | "int" | "object" => format!("an {what}"),
                    _ => format!("a {what}"),
                };
                Err(ToolsError::NotAnObject { what })
            }
            Err(LoadFailure::TooMany) => Err(ToolsError::TooMany),
        }
    }

    /// Returns the fences of the kernel round the worker.
    pub fn fences(&self) -> Fences {
        self.fences
    }

    /// Returns what the code returned, in the order of its keys.
    pub fn returned(&self) -> &[Evaluated] {
        &self.returned
    }

    /// Checks what was returned, and makes it callable.
    pub fn into_tools(self, host: Host) -> Result<ToolBox, ToolsError> {
        let (schemes, problems) = check_returned(&self.returned);
        let mut warnings = Vec::new();
        for ToolProblem { severity, message, help, .. } in problems {
            if severity == Severity::Error {
                return Err(ToolsError::Shape { problem: message, help: Some(help) });
            }
            warnings.push(format!("{message}; {help}"));
        }
        let mut tools = self.into_judged(&schemes, host)?;
        tools.warnings.splice(0..0, warnings);
        Ok(tools)
    }

    /// Makes tools callable that somebody has checked: `schemes` is what was found without an error.
    pub(crate) fn into_judged(self, schemes: &[Scheme], host: Host) -> Result<ToolBox, ToolsError> {
        let Evaluation { worker, returned, fences } = self;
        let mut warnings = Vec::new();
        let mut tools = Vec::with_capacity(schemes.len());
        for scheme in schemes {
            let key = &scheme.name;
            let wrong = |problem| ToolsError::Shape { problem, help: None };
            let place = returned.iter().position(|found| found.key.trim() == key);
            let place = place.ok_or_else(|| wrong(format!("the code returns no tool `{key}`")))?;
            // What arguments are checked with, which asks more of a schema than that it looks like one.
            let checker = Schema::for_arguments(&scheme.parameters).map_err(|error| {
                wrong(format!("`parameters` of the tool `{key}` is no JSON Schema: {error}"))
            })?;
            warnings.extend(checker.unchecked().iter().map(|what| format!("tool `{key}`: {what}")));
            tools.push(Tool { scheme: scheme.clone(), checker, place });
        }
        Ok(ToolBox { worker, tools, warnings, host, fences, report: CallReport::default() })
    }
}

fn evaluated(found: Returned) -> Evaluated {
    let Returned { key, has_function, scheme, fields } = found;
    Evaluated { key, has_function, scheme, fields }
}

/// The tools of one agent, in a worker that waits to call them.
#[derive(Debug)]
pub struct ToolBox {
    worker: Worker,
    tools: Vec<Tool>,
    warnings: Vec<String>,
    host: Host,
    fences: Fences,
    report: CallReport,
}

impl ToolBox {
    /// Runs the code in a new worker, checks what it returned, and makes it callable.
    pub fn load(
        system: Arc<dyn System>,
        program: &WorkerProgram,
        code: &str,
        limits: Limits,
        host: Host,
    ) -> Result<ToolBox, ToolsError> {
        Evaluation::run(system, program, code, limits)?.into_tools(host)
    }

    /// Returns the tools, in the order of their keys.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Returns the tool of a name, in any case.
    pub fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.scheme.is_called(name))
    }

    /// Returns all tools in the form that models are told them in (A56).
    pub fn functions(&self) -> Vec<Value> {
        self.tools.iter().map(|tool| tool.scheme.to_function()).collect()
    }

    /// Returns what could be better about the tools, one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the fences of the kernel round the worker.
    pub fn fences(&self) -> Fences {
        self.fences
    }

    /// Returns the number that the system knows the worker by.
    pub fn worker_id(&self) -> u32 {
        self.worker.id()
    }

    /// Has `stop` end what a call does from now on, besides signals. The worker is ended with it, and started
    /// again for the next call.
    pub fn interrupt_by(&mut self, stop: &Interruption) {
        self.worker.interrupt_by(stop);
        self.host.interrupt_by(stop);
    }

    /// Calls a tool. `ctx` is its second argument; the abilities are its third.
    ///
    /// After [`CallError::Ended`] every call fails, unless the worker was interrupted or could not begin the
    /// call: then the next call starts another one. Any other error leaves the tools as they are.
    pub fn call(&mut self, name: &str, args: &Value, ctx: &Value) -> Result<Value, CallError> {
        self.report = CallReport::default();
        let tool = find(&self.tools, name)?;
        let problems = tool.check(args);
        if !problems.is_empty() {
            return Err(CallError::Arguments { tool: tool.scheme.name.clone(), problems });
        }
        self.worker.renew().map_err(|message| CallError::Ended { message })?;
        let mut desk = Desk {
            tools: &self.tools,
            host: &mut self.host,
            tool: &tool.scheme.name,
            denied: &mut self.report.denied,
        };
        let outcome = self.worker.call(tool.place, args, ctx, &mut desk);
        self.report.log = self.worker.take_log();
        let tool = tool.scheme.name.clone();
        outcome.map_err(|failure| match failure {
            client::CallFailure::Threw { message } => CallError::Threw { message },
            client::CallFailure::Refused { message } => CallError::Refused { tool, message },
            client::CallFailure::Ended { message } => CallError::Ended { message },
        })
    }

    /// Returns what the last call was, besides its result.
    pub fn last_call(&self) -> &CallReport {
        &self.report
    }
}

fn find<'t>(tools: &'t [Tool], name: &str) -> Result<&'t Tool, CallError> {
    tools.iter().find(|tool| tool.scheme.is_called(name)).ok_or_else(|| {
        let names: Vec<&str> = tools.iter().map(|tool| tool.scheme.name.as_str()).collect();
        let nearest = near_miss::nearest(name, &names).map(str::to_owned);
        CallError::Unknown { name: name.to_owned(), nearest }
    })
}

/// Answers the questions of one call.
struct Desk<'b> {
    tools: &'b [Tool],
    host: &'b mut Host,
    tool: &'b str,
    denied: &'b mut Vec<String>,
}

impl Answers for Desk<'_> {
    fn answer(&mut self, question: Question<'_>) -> Result<Value, Refused> {
        let asked = Asked {
            tool: self.tool,
            ability: question.ability,
            call: question.call,
            args: question.args,
            time_left: question.time_left,
        };
        let tools = self.tools;
        let answer = self.host.answer(asked, &mut |name, args| {
            let tool = find(tools, name).map_err(|error| error.to_string())?;
            let problems = tool.check(args);
            if problems.is_empty() {
                Ok(tool.place)
            } else {
                let tool = tool.scheme.name.clone();
                Err(CallError::Arguments { tool, problems }.to_string())
            }
        });
        answer.map_err(|refusal| {
            if refusal.is_denial() {
                self.denied.push(question.ability.to_owned());
            }
            Refused { name: refusal.name(), message: refusal.to_string() }
        })
    }
}

struct At(Option<(u32, u32)>);

impl fmt::Display for At {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((line, column)) => write!(formatter, " (line {line}, column {column})"),
            None => Ok(()),
        }
    }
}

struct DidYouMean<'n>(Option<&'n str>);

impl fmt::Display for DidYouMean<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(formatter, "; did you mean `{name}`?"),
            None => Ok(()),
        }
    }
}
