//! The parent's side: starts a worker, communicates with it, and ends it when it exceeds its limits.
//!
//! A worker that was ended because of a call stays ended: the same call would have the same effect. A new
//! worker replaces it after an interruption, and when it reports that it cannot begin a call.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use brief_dialects::agents::Evaluated;
use brief_system::{Call, Companion, Ending, Environment, Interruption, System, render_io_error};
use serde_json::Value;
use serde_json::value::RawValue;

use super::frame::{self, CallFault, FailureKind, Order, Unusable, UnusableKind, WorkerMessage};
use super::{Fences, Limits, LogLine, WorkerProgram};
use crate::abilities::{AbilityRequest, AbilityResult};
use crate::tools::{CallError, ToolsError};

/// The size of the read buffer.
const PIECE: usize = 16 * 1024;

/// The time for a worker to exit, once it has closed its pipe.
const EXIT_TIME: Duration = Duration::from_secs(1);

/// The factor between a worker's processor time and the time that it may be silent.
const SILENT_FACTOR: u32 = 2;

/// An addition to that time for work that the system does not count, such as starting the worker.
const SILENT_EXTRA: Duration = Duration::from_secs(1);

/// The interval of checks for an interruption while a worker computes.
const TICK: Duration = Duration::from_millis(20);

/// The limit for the bytes of a worker's messages in one call besides its requests: its log, with the
/// overhead of each line.
const MOST_LOGGED: usize = 1024 * 1024;

/// Answers a request of a tool.
pub(crate) type AnswerRequest<'a> = &'a mut dyn FnMut(AbilityRequest<'_>) -> AbilityResult;

pub(crate) struct Worker {
    companion: Box<dyn Companion>,
    system: Arc<dyn System>,
    limits: Limits,
    /// Bytes that were read and not parsed yet.
    input: Vec<u8>,
    log: Vec<LogLine>,
    ended: Option<String>,
    /// Its inputs, for a replacement.
    start: WorkerInputs,
    stop: Interruption,
    /// True if a new worker may replace it after its end.
    is_renewable: bool,
}

/// The inputs of a worker, and the keys that its code returned.
struct WorkerInputs {
    program: WorkerProgram,
    code: String,
    keys: Vec<String>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("Worker");
        text.field("id", &self.companion.id()).field("ended", &self.ended).finish_non_exhaustive()
    }
}

impl Worker {
    /// Starts a worker and lets it run the code.
    pub(crate) fn start(
        system: Arc<dyn System>,
        program: &WorkerProgram,
        code: &str,
        limits: Limits,
    ) -> Result<(Worker, Vec<Evaluated>, Fences), ToolsError> {
        let mut worker = Worker::open(system, program, code, limits)?;
        let code = Cow::Borrowed(code);
        let order = Order::Load { code, limits, missing_fence: program.missing_fence };
        let (returned, fences) = worker.load_code(&order)?;
        worker.start.keys = returned.iter().map(|found| found.key.clone()).collect();
        Ok((worker, returned, fences))
    }

    /// Starts a worker and lets it parse the code, which does not run.
    pub(crate) fn parse_code(
        system: Arc<dyn System>,
        program: &WorkerProgram,
        code: &str,
        limits: Limits,
    ) -> Result<(), ToolsError> {
        let mut worker = Worker::open(system, program, code, limits)?;
        let deadline = worker.system.elapsed() + limits.wall;
        let order = Order::Parse { code: Cow::Borrowed(code), limits };
        let sent =
            worker.send_order(&order, deadline).and_then(|()| worker.receive_message(deadline));
        let message = sent.map_err(|message| ToolsError::Worker(worker.give_up(message)))?;
        let outcome = match parse_message(&message) {
            Some(WorkerMessage::Parsed) => Ok(()),
            Some(WorkerMessage::Unusable(unusable)) => Err(worker.explain_unusable(unusable)),
            _ => return Err(ToolsError::Worker(worker.give_up(invalid_message()))),
        };
        worker.companion.end();
        outcome
    }

    fn open(
        system: Arc<dyn System>,
        program: &WorkerProgram,
        code: &str,
        limits: Limits,
    ) -> Result<Worker, ToolsError> {
        let mut call = Call::new(&program.program, "/", Duration::ZERO, 0);
        call.args.clone_from(&program.args);
        call.environment = Environment::Empty;
        let started = system.start_program(&call);
        let companion = started.map_err(|error| {
            ToolsError::Worker(format!("cannot start the worker: {}", render_io_error(&error)))
        })?;
        let (input, log) = (Vec::with_capacity(PIECE), Vec::new());
        // A signal must not leave the worker behind.
        let stop = system.interruption().unwrap_or_default();
        let start =
            WorkerInputs { program: program.clone(), code: code.to_owned(), keys: Vec::new() };
        let (ended, is_renewable) = (None, false);
        Ok(Worker { companion, system, limits, input, log, ended, start, stop, is_renewable })
    }

    fn load_code(&mut self, order: &Order<'_>) -> Result<(Vec<Evaluated>, Fences), ToolsError> {
        let gone =
            |worker: &mut Worker, message: String| ToolsError::Worker(worker.give_up(message));
        let deadline = self.system.elapsed() + self.limits.wall;
        self.send_order(order, deadline).map_err(|message| gone(self, message))?;
        let mut logged = 0;
        loop {
            let message = self.receive_message(deadline).map_err(|message| gone(self, message))?;
            match parse_message(&message) {
                Some(WorkerMessage::Ready { returned, fences }) => return Ok((returned, fences)),
                Some(WorkerMessage::Unusable(unusable)) => {
                    self.companion.end();
                    return Err(self.explain_unusable(unusable));
                }
                Some(WorkerMessage::Log(line)) if logged + message.len() < MOST_LOGGED => {
                    logged += message.len();
                    self.log.push(line);
                }
                // Abilities are for calls: the list of tools never depends on the outside.
                Some(WorkerMessage::Ask { .. }) => {
                    let message =
                        "tools cannot use abilities while the code defines them".to_owned();
                    self.send_refusal("AbilityDenied", message, deadline)
                        .map_err(|message| gone(self, message))?;
                }
                _ => return Err(gone(self, invalid_message())),
            }
        }
    }

    /// Lets `stop` end the worker from now on, besides signals.
    pub(crate) fn interrupt_by(&mut self, stop: &Interruption) {
        self.stop = stop.or(&self.system.interruption().unwrap_or_default());
    }

    /// Starts a worker that replaces one that was interrupted or could not begin a call: the next call may
    /// succeed. A worker that exceeded a limit stays ended.
    pub(crate) fn renew(&mut self) -> Result<(), String> {
        if !self.is_renewable {
            return Ok(());
        }
        let WorkerInputs { program, code, keys } = &self.start;
        let again = Worker::start(Arc::clone(&self.system), program, code, self.limits);
        match again {
            Ok((worker, ..)) if worker.start.keys == *keys => {
                let stop = self.stop.clone();
                // The first run of the code has logged the same lines.
                *self = Worker { stop, log: Vec::new(), ..worker };
                Ok(())
            }
            Ok(_) => Err("the code returned different tools than before".to_owned()),
            Err(_) => Err("cannot restart the tools".to_owned()),
        }
    }

    /// Calls the tool at an index of the returned tools.
    pub(crate) fn call_tool(
        &mut self,
        (place, tool): (usize, &str),
        args: &Value,
        ctx: &Value,
        answer: AnswerRequest<'_>,
    ) -> Result<Value, CallError> {
        if let Some(reason) = &self.ended {
            return Err(CallError::Ended(reason.clone()));
        }
        let deadline = self.system.elapsed() + self.limits.wall;
        let mut reply = self.exchange_call((place, tool), args, ctx, answer, deadline);
        if matches!(reply, Ok(None)) {
            self.give_up("the code failed when it was run again".to_owned());
            self.is_renewable = true;
            self.renew().map_err(CallError::Ended)?;
            reply = self.exchange_call((place, tool), args, ctx, answer, deadline);
        }
        let message = match reply {
            Ok(Some(outcome)) => return outcome,
            // A new worker has a realm.
            Ok(None) => invalid_message(),
            Err(message) => message,
        };
        Err(CallError::Ended(self.give_up(message)))
    }

    /// Sends a call and returns its result; `None` when the tool has not run, because the worker cannot begin
    /// calls any more. The error is the reason why the worker must be ended.
    fn exchange_call(
        &mut self,
        (place, tool): (usize, &str),
        args: &Value,
        ctx: &Value,
        answer: AnswerRequest<'_>,
        deadline: Duration,
    ) -> Result<Option<Result<Value, CallError>>, String> {
        let refused =
            |message| Ok(Some(Err(CallError::Refused { tool: tool.to_owned(), message })));
        let (args, ctx) = (to_raw_json(args)?, to_raw_json(ctx)?);
        if args.get().len() + ctx.get().len() > frame::MOST / 2 {
            return refused("the arguments are too large".to_owned());
        }
        self.send_order(&Order::Call { tool: place, args: &args, ctx: &ctx }, deadline)?;
        let (mut logged, mut requests) = (0, 0);
        loop {
            let message = self.receive_message(deadline)?;
            match parse_message(&message).ok_or_else(invalid_message)? {
                WorkerMessage::Done { value } => match serde_json::from_str(value.get()) {
                    Ok(value) => return Ok(Some(Ok(value))),
                    Err(error) => {
                        return refused(format!(
                            "the result is not JSON that can be used: {error}"
                        ));
                    }
                },
                WorkerMessage::Failed(failure) => {
                    let is_last = failure.is_last;
                    let error = self.explain_fault(tool, failure);
                    if is_last {
                        self.give_up(
                            "the tools cannot be called after the last call failed".to_owned(),
                        );
                    }
                    return Ok(Some(Err(error)));
                }
                WorkerMessage::Ask { ability, call, args } => {
                    requests += 1;
                    let most = self.limits.requests;
                    if requests > most {
                        let message = format!("one call can make at most {most} requests");
                        self.send_refusal("RangeError", message, deadline)?;
                        continue;
                    }
                    let args = serde_json::from_str(args.get()).map_err(|_| invalid_message())?;
                    let time_left = deadline.saturating_sub(self.system.elapsed());
                    let (ability, call) = (ability.as_ref(), call.as_ref());
                    match answer(AbilityRequest { tool, ability, call, args, time_left }) {
                        Ok(value) => {
                            let value = to_raw_json(&value)?;
                            if value.get().len() > frame::MOST / 2 {
                                let message = "the answer is too large".to_owned();
                                self.send_refusal("RangeError", message, deadline)?;
                            } else {
                                self.send_order(&Order::Answer { value: &value }, deadline)?;
                            }
                        }
                        Err(refusal) => {
                            self.send_refusal(refusal.name(), refusal.to_string(), deadline)?;
                        }
                    }
                }
                WorkerMessage::Log(line) => {
                    logged += message.len();
                    if logged > MOST_LOGGED {
                        return Err("the worker exceeded its limit for the log".to_owned());
                    }
                    self.log.push(line);
                }
                // A call that has begun is never repeated.
                WorkerMessage::Spent if logged == 0 && requests == 0 => return Ok(None),
                WorkerMessage::Ready { .. }
                | WorkerMessage::Parsed
                | WorkerMessage::Unusable(_)
                | WorkerMessage::Spent => {
                    return Err(invalid_message());
                }
            }
        }
    }

    fn send_refusal(
        &mut self,
        name: &str,
        message: String,
        deadline: Duration,
    ) -> Result<(), String> {
        self.send_order(&Order::Refuse { name: name.into(), message: message.into() }, deadline)
    }

    /// Returns the lines that were logged since the last call of this function.
    pub(crate) fn take_log(&mut self) -> Vec<LogLine> {
        std::mem::take(&mut self.log)
    }

    /// Returns the process number of the worker.
    pub(crate) fn id(&self) -> u32 {
        self.companion.id()
    }

    fn send_order(&mut self, order: &Order<'_>, deadline: Duration) -> Result<(), String> {
        let bytes = frame::frame_message(order).map_err(|error| error.to_string())?;
        if bytes.len() > frame::MOST {
            return Err("a message to the worker is too large".to_owned());
        }
        let patience = deadline.saturating_sub(self.system.elapsed());
        self.companion.send(&bytes, patience).map_err(|error| self.explain_pipe(&error))
    }

    fn receive_message(&mut self, deadline: Duration) -> Result<Vec<u8>, String> {
        let mut wanted = frame::HEADER;
        let mut piece = [0; PIECE];
        // The worker counts its processor time, which passes slowly on a busy machine.
        let usual = self.limits.cpu * SILENT_FACTOR + SILENT_EXTRA;
        let silent_until = self.system.elapsed() + self.limits.silence.unwrap_or(usual);
        loop {
            if let Some(header) = self.input.first_chunk::<{ frame::HEADER }>() {
                let length = frame::message_length(*header);
                if length > frame::MOST {
                    return Err(format!("the worker sent a message of {length} bytes"));
                }
                wanted = frame::HEADER + length;
            }
            if self.input.len() >= wanted && wanted > frame::HEADER {
                let rest = self.input.split_off(wanted);
                let mut message = std::mem::replace(&mut self.input, rest);
                message.drain(..frame::HEADER);
                return Ok(message);
            }
            if self.stop.is_raised() {
                self.is_renewable = true;
                return Err("was interrupted".to_owned());
            }
            let now = self.system.elapsed();
            let until = deadline.min(silent_until);
            match self.companion.receive(&mut piece, TICK.min(until.saturating_sub(now))) {
                Ok(0) => return Err(self.explain_end()),
                Ok(count) => self.input.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::TimedOut && now < until => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut && now < deadline => {
                    let computed = render_seconds(self.limits.cpu);
                    return Err(format!("execution used more than {computed} of CPU time"));
                }
                Err(error) => return Err(self.explain_pipe(&error)),
            }
        }
    }

    /// Ends the worker for good.
    fn give_up(&mut self, reason: String) -> String {
        self.companion.end();
        self.input = Vec::new();
        self.ended.get_or_insert(reason).clone()
    }

    fn explain_pipe(&mut self, error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::TimedOut => {
                format!("execution took longer than {}", render_seconds(self.limits.wall))
            }
            io::ErrorKind::BrokenPipe => self.explain_end(),
            _ => format!("cannot reach the worker: {}", render_io_error(error)),
        }
    }

    /// Describes the end of a worker that has closed its pipe.
    fn explain_end(&mut self) -> String {
        match self.companion.wait(EXIT_TIME) {
            Ok(Ending::TimedOut) => {
                format!("execution used more than {} of CPU time", render_seconds(self.limits.cpu))
            }
            Ok(Ending::Exited(status)) => format!("the worker ended with status {status}"),
            _ => "the system killed the worker, perhaps because it used too much memory".to_owned(),
        }
    }

    fn explain_fault(&self, tool: &str, failure: CallFault) -> CallError {
        let CallFault { kind, name, message, place, .. } = failure;
        let thrown = || match (join_error(&name, &message), place) {
            (text, Some((line, _))) => format!("{text} (line {line} of the tools)"),
            (text, None) => text,
        };
        match kind {
            FailureKind::Threw => CallError::Threw(thrown()),
            FailureKind::Unhandled => {
                CallError::Threw(format!("unhandled promise rejection: {}", thrown()))
            }
            kind => CallError::Refused {
                tool: tool.to_owned(),
                message: self.render_limit(kind, &message),
            },
        }
    }

    fn render_limit(&self, kind: FailureKind, message: &str) -> String {
        match kind {
            FailureKind::Cpu => {
                format!(
                    "used more than {} of CPU time and was stopped",
                    render_seconds(self.limits.cpu)
                )
            }
            FailureKind::Memory => {
                format!("used more than {} bytes of memory", self.limits.memory)
            }
            FailureKind::Pending => "its promise can never resolve".to_owned(),
            FailureKind::NotJson => format!("cannot write its result as JSON: {message}"),
            FailureKind::TooLarge => {
                format!("its result has {message} bytes, more than {}", self.limits.result)
            }
            FailureKind::Threw | FailureKind::Unhandled => message.to_owned(),
        }
    }

    fn explain_unusable(&self, unusable: Unusable) -> ToolsError {
        let Unusable { kind, message, place } = unusable;
        match kind {
            UnusableKind::Syntax => {
                let help = self.start.code.contains("export default").then_some(
                    "the code is the body of a function: write `return { … };` instead of `export default`",
                );
                ToolsError::Syntax { message, place, help }
            }
            UnusableKind::Failed(kind) => {
                ToolsError::Failed { message: self.render_limit(kind, &message), place }
            }
            UnusableKind::NotAnObject => ToolsError::NotAnObject(match message.as_str() {
                "undefined" => "nothing".to_owned(),
                "array" | "int" | "object" => format!("an {message}"),
                _ => format!("a {message}"),
            }),
            UnusableKind::TooMany => ToolsError::TooMany,
            UnusableKind::MissingFence => ToolsError::MissingFence(message),
            UnusableKind::Confinement => {
                ToolsError::Worker(format!("cannot sandbox the worker: {message}"))
            }
        }
    }
}

fn parse_message(message: &[u8]) -> Option<WorkerMessage<'_>> {
    serde_json::from_slice(message).ok()
}

fn invalid_message() -> String {
    "the worker sent an invalid message".to_owned()
}

fn to_raw_json(value: &Value) -> Result<Box<RawValue>, String> {
    serde_json::value::to_raw_value(value).map_err(|error| error.to_string())
}

fn join_error(name: &str, message: &str) -> String {
    match (name, message) {
        ("", "") => "an error without a message".to_owned(),
        ("", text) | (text, "") => text.to_owned(),
        ("Error", message) => message.to_owned(),
        (name, message) => format!("{name}: {message}"),
    }
}

/// Formats a time: `5 s`, `0.2 s`.
pub(crate) fn render_seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}
