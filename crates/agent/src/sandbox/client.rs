//! The parent's side: starts a worker, communicates with it, and ends it when it exceeds its limits.
//!
//! A worker that was ended because of a call stays ended: the same call would have the same effect. A new
//! worker replaces it after an interruption, and when it reports that it cannot begin a call.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use brief_syntax::System;
use brief_syntax::system::{Call, Companion, Ending, Environment, Interruption, words};
use serde_json::Value;
use serde_json::value::RawValue;

use super::frame::{
    self, CallFault, FailureKind, Order, Unusable, UnusableKind, WorkerLimits, WorkerMessage,
};
use super::{Fences, Limits, LogLine, Returned, WorkerProgram};

/// The size of the read buffer.
const PIECE: usize = 16 * 1024;

/// The time for a worker to exit, once it has closed its pipe.
const LAST_BREATH: Duration = Duration::from_secs(1);

/// The factor between a worker's processor time and the time that it may be silent.
const SILENT_FACTOR: u32 = 2;

/// An addition to that time for work that the system does not count, such as starting the worker.
const SILENT_EXTRA: Duration = Duration::from_secs(1);

/// The interval of checks for an interruption while a worker computes.
const TICK: Duration = Duration::from_millis(20);

/// The limit for the bytes of a worker's messages in one call besides its requests: its log, with the
/// overhead of each line.
const CHATTER: usize = 1024 * 1024;

/// A request of a tool.
pub(crate) struct ToolQuestion<'a> {
    /// The ability that the request needs.
    pub(crate) ability: &'a str,
    /// The name of the call.
    pub(crate) call: &'a str,
    /// The arguments of the call.
    pub(crate) args: Vec<Value>,
    /// The time left for the tool's call.
    pub(crate) time_left: Duration,
}

/// A refused request, as the error that the tool gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefusedRequest {
    /// The name of the error.
    pub(crate) name: &'static str,
    /// The message of the error.
    pub(crate) message: String,
}

/// Answers the requests of tools.
pub(crate) trait Answers {
    /// Answers one request.
    fn answer(&mut self, question: ToolQuestion<'_>) -> Result<Value, RefusedRequest>;
}

/// Code that cannot be used.
#[derive(Debug)]
pub(crate) enum LoadFailure {
    /// The worker did not start, or ended.
    Worker(String),
    /// The code is not valid JavaScript.
    Syntax { message: String, place: Option<(u32, u32)> },
    /// The code threw, or exceeded a limit.
    Failed { message: String, place: Option<(u32, u32)> },
    /// The code returned a value that is not an object.
    NotAnObject { what: String },
    /// The code returned too many tools.
    TooMany,
    /// The system lacks these fences.
    MissingFence { missing: String },
}

/// A call without a result.
#[derive(Debug)]
pub(crate) enum CallFailure {
    /// The tool threw.
    Threw { message: String },
    /// The tool exceeded a limit, or its result is not JSON.
    Refused { message: String },
    /// The worker has ended.
    Ended { message: String },
}

/// A running worker.
pub(crate) struct Worker {
    companion: Box<dyn Companion>,
    system: Arc<dyn System>,
    limits: Limits,
    /// Bytes that were read and not parsed yet.
    input: Vec<u8>,
    log: Vec<LogLine>,
    /// The reason of its end.
    ended: Option<String>,
    /// Its inputs, for a replacement.
    start: WorkerInputs,
    /// The interruption that ends it.
    stop: Interruption,
    /// True if a new worker may replace it after its end.
    is_renewable: bool,
}

/// The result of a call from the worker.
enum WorkerReply {
    /// The tool has run.
    Outcome(Result<Value, CallFailure>),
    /// The tool has not run, because the worker cannot begin calls any more.
    Spent,
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
    ) -> Result<(Worker, Vec<Returned>, Fences), LoadFailure> {
        let mut call = Call::new(&program.program, "/", Duration::ZERO, 0);
        call.args.clone_from(&program.args);
        call.environment = Environment::Empty;
        let started = system.start(&call);
        let companion = started.map_err(|error| {
            LoadFailure::Worker(format!("the worker could not be started: {}", words(&error)))
        })?;
        let (input, log) = (Vec::with_capacity(PIECE), Vec::new());
        // A signal must not leave the worker behind.
        let stop = system.interruption().unwrap_or_default();
        let start =
            WorkerInputs { program: program.clone(), code: code.to_owned(), keys: Vec::new() };
        let (ended, is_renewable) = (None, false);
        let mut worker =
            Worker { companion, system, limits, input, log, ended, start, stop, is_renewable };
        let order = Order::Load {
            code: Cow::Borrowed(code),
            limits: WorkerLimits {
                memory: limits.memory,
                stack: limits.stack,
                cpu_micros: u64::try_from(limits.cpu.as_micros()).unwrap_or(u64::MAX),
                result: limits.result,
                log: limits.log,
            },
            missing_fence: program.missing_fence,
        };
        let (returned, fences) = worker.load(&order)?;
        worker.start.keys = returned.iter().map(|found| found.key.clone()).collect();
        Ok((worker, returned, fences))
    }

    fn load(&mut self, order: &Order<'_>) -> Result<(Vec<Returned>, Fences), LoadFailure> {
        let gone =
            |worker: &mut Worker, message: String| LoadFailure::Worker(worker.give_up(message));
        let deadline = self.system.elapsed() + self.limits.wall;
        self.send(order, deadline).map_err(|message| gone(self, message))?;
        let mut chatter = 0;
        loop {
            let message = self.receive(deadline).map_err(|message| gone(self, message))?;
            match parse(&message) {
                Some(WorkerMessage::Ready { returned, fences }) => return Ok((returned, fences)),
                Some(WorkerMessage::Unusable(unusable)) => {
                    self.companion.end();
                    return Err(self.explain_unusable(unusable));
                }
                Some(WorkerMessage::Log(line)) if chatter + message.len() < CHATTER => {
                    chatter += message.len();
                    self.log.push(line);
                }
                // Abilities are for calls: the list of tools never depends on the outside.
                Some(WorkerMessage::Ask { .. }) => {
                    let name = Cow::Borrowed("AbilityDenied");
                    let message = "nothing can be asked for while the tools are defined".into();
                    let answer = Order::Refuse { name, message };
                    self.send(&answer, deadline).map_err(|message| gone(self, message))?;
                }
                _ => return Err(gone(self, nonsense())),
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
            Ok(_) => Err("the code returns other tools than before".to_owned()),
            Err(_) => Err("the tools could not be started again".to_owned()),
        }
    }

    /// Calls the tool at an index of the returned tools.
    pub(crate) fn call(
        &mut self,
        tool: usize,
        args: &Value,
        ctx: &Value,
        answers: &mut dyn Answers,
    ) -> Result<Value, CallFailure> {
        if let Some(reason) = &self.ended {
            return Err(CallFailure::Ended { message: reason.clone() });
        }
        let deadline = self.system.elapsed() + self.limits.wall;
        let mut reply = self.exchange(tool, args, ctx, answers, deadline);
        if matches!(reply, Ok(WorkerReply::Spent)) {
            self.give_up("the code failed when it was run again".to_owned());
            self.is_renewable = true;
            self.renew().map_err(|message| CallFailure::Ended { message })?;
            reply = self.exchange(tool, args, ctx, answers, deadline);
        }
        let message = match reply {
            Ok(WorkerReply::Outcome(outcome)) => return outcome,
            // A new worker has a realm.
            Ok(WorkerReply::Spent) => nonsense(),
            Err(message) => message,
        };
        Err(CallFailure::Ended { message: self.give_up(message) })
    }

    /// Sends a call and returns its result. The error is the reason why the worker must be ended.
    fn exchange(
        &mut self,
        tool: usize,
        args: &Value,
        ctx: &Value,
        answers: &mut dyn Answers,
        deadline: Duration,
    ) -> Result<WorkerReply, String> {
        let (args, ctx) = (raw(args)?, raw(ctx)?);
        if args.get().len() + ctx.get().len() > frame::MOST / 2 {
            let message = "the arguments are too large".to_owned();
            return Ok(WorkerReply::Outcome(Err(CallFailure::Refused { message })));
        }
        self.send(&Order::Call { tool, args: &args, ctx: &ctx }, deadline)?;
        let (mut chatter, mut requests) = (0, 0);
        loop {
            let message = self.receive(deadline)?;
            match parse(&message).ok_or_else(nonsense)? {
                WorkerMessage::Done { value } => {
                    return Ok(WorkerReply::Outcome(serde_json::from_str(value.get()).map_err(
                        |error| {
                            let message =
                                format!("the result is not JSON that can be used: {error}");
                            CallFailure::Refused { message }
                        },
                    )));
                }
                WorkerMessage::Failed(failure) => {
                    let is_last = failure.is_last;
                    let failure = self.explain(failure);
                    if is_last {
                        self.give_up(
                            "the tools cannot be called after the last call failed".to_owned(),
                        );
                    }
                    return Ok(WorkerReply::Outcome(Err(failure)));
                }
                WorkerMessage::Ask { ability, call, args } => {
                    requests += 1;
                    let answer = if requests > self.limits.requests {
                        let most = self.limits.requests;
                        let message = format!("one call may ask at most {most} times");
                        Err(RefusedRequest { name: "RangeError", message })
                    } else {
                        let args = serde_json::from_str(args.get()).map_err(|_| nonsense())?;
                        let time_left = deadline.saturating_sub(self.system.elapsed());
                        answers.answer(ToolQuestion {
                            ability: &ability,
                            call: &call,
                            args,
                            time_left,
                        })
                    };
                    self.answer(answer, deadline)?;
                }
                WorkerMessage::Log(line) => {
                    chatter += message.len();
                    if chatter > CHATTER {
                        return Err("the worker exceeded its limit for the log".to_owned());
                    }
                    self.log.push(line);
                }
                // A call that has begun is never repeated.
                WorkerMessage::Spent if chatter == 0 && requests == 0 => {
                    return Ok(WorkerReply::Spent);
                }
                WorkerMessage::Ready { .. } | WorkerMessage::Unusable(_) | WorkerMessage::Spent => {
                    return Err(nonsense());
                }
            }
        }
    }

    fn answer(
        &mut self,
        answer: Result<Value, RefusedRequest>,
        deadline: Duration,
    ) -> Result<(), String> {
        match answer {
            Ok(value) => {
                let value = raw(&value)?;
                if value.get().len() > frame::MOST / 2 {
                    let message = "the answer is too large".into();
                    return self
                        .send(&Order::Refuse { name: "RangeError".into(), message }, deadline);
                }
                self.send(&Order::Answer { value: &value }, deadline)
            }
            Err(RefusedRequest { name, message }) => {
                self.send(&Order::Refuse { name: name.into(), message: message.into() }, deadline)
            }
        }
    }

    /// Returns the lines that were logged since the last call of this function.
    pub(crate) fn take_log(&mut self) -> Vec<LogLine> {
        std::mem::take(&mut self.log)
    }

    /// Returns the process number of the worker.
    pub(crate) fn id(&self) -> u32 {
        self.companion.id()
    }

    fn send(&mut self, order: &Order<'_>, deadline: Duration) -> Result<(), String> {
        let bytes = frame::framed(order).map_err(|error| error.to_string())?;
        if bytes.len() > frame::MOST {
            return Err("a message to the worker is too large".to_owned());
        }
        let patience = deadline.saturating_sub(self.system.elapsed());
        self.companion.send(&bytes, patience).map_err(|error| self.explain_pipe(&error))
    }

    /// Reads one complete message.
    fn receive(&mut self, deadline: Duration) -> Result<Vec<u8>, String> {
        let mut wanted = frame::HEADER;
        let mut piece = [0; PIECE];
        // The worker counts its processor time, which passes slowly on a busy machine.
        let silent_until = self.system.elapsed() + self.limits.cpu * SILENT_FACTOR + SILENT_EXTRA;
        loop {
            if let Some(header) = self.input.first_chunk::<{ frame::HEADER }>() {
                let length = frame::length(*header);
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
                return Err("it was interrupted".to_owned());
            }
            let now = self.system.elapsed();
            let until = deadline.min(silent_until);
            match self.companion.receive(&mut piece, TICK.min(until.saturating_sub(now))) {
                Ok(0) => return Err(self.explain_end()),
                Ok(count) => self.input.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::TimedOut && now < until => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut && now < deadline => {
                    let computed = seconds(self.limits.cpu);
                    return Err(format!("it computed for longer than {computed} and was ended"));
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
                format!("it took longer than {} and was ended", seconds(self.limits.wall))
            }
            io::ErrorKind::BrokenPipe => self.explain_end(),
            _ => format!("the worker cannot be reached: {}", words(error)),
        }
    }

    /// Describes the end of a worker that has closed its pipe.
    fn explain_end(&mut self) -> String {
        match self.companion.wait(LAST_BREATH) {
            Ok(Ending::TimedOut) => {
                format!("it computed for longer than {} and was ended", seconds(self.limits.cpu))
            }
            Ok(Ending::Exited(status)) => format!("the worker ended with status {status}"),
            _ => "the worker was ended by the system, as when it needs too much memory".to_owned(),
        }
    }

    fn explain(&self, failure: CallFault) -> CallFailure {
        let CallFault { kind, name, message, place, .. } = failure;
        let message = match kind {
            FailureKind::Threw => {
                return CallFailure::Threw { message: with_place(joined(&name, &message), place) };
            }
            FailureKind::Unhandled => {
                let text = with_place(joined(&name, &message), place);
                let message = format!("a promise without a handler was rejected: {text}");
                return CallFailure::Threw { message };
            }
            kind => self.limit(kind, &message),
        };
        CallFailure::Refused { message }
    }

    fn limit(&self, kind: FailureKind, message: &str) -> String {
        match kind {
            FailureKind::Cpu => {
                format!("it computed for longer than {} and was stopped", seconds(self.limits.cpu))
            }
            FailureKind::Memory => {
                format!("it needed more than {} bytes of memory", self.limits.memory)
            }
            FailureKind::Pending => {
                "its promise is still open, and nothing is left that could resolve it".to_owned()
            }
            FailureKind::NotJson => format!("its result cannot be written as JSON: {message}"),
            FailureKind::TooLarge => {
                format!("its result has {message} bytes, more than {}", self.limits.result)
            }
            FailureKind::Threw | FailureKind::Unhandled => message.to_owned(),
        }
    }

    fn explain_unusable(&self, unusable: Unusable) -> LoadFailure {
        let Unusable { kind, message, place } = unusable;
        match kind {
            UnusableKind::Syntax => LoadFailure::Syntax { message, place },
            UnusableKind::Failed(kind) => {
                LoadFailure::Failed { message: self.limit(kind, &message), place }
            }
            UnusableKind::NotAnObject => LoadFailure::NotAnObject { what: message },
            UnusableKind::TooMany => LoadFailure::TooMany,
            UnusableKind::MissingFence => LoadFailure::MissingFence { missing: message },
            UnusableKind::Confinement => {
                LoadFailure::Worker(format!("the worker could not be confined: {message}"))
            }
        }
    }
}

fn parse(message: &[u8]) -> Option<WorkerMessage<'_>> {
    serde_json::from_slice(message).ok()
}

fn nonsense() -> String {
    "the worker sent an invalid message".to_owned()
}

fn raw(value: &Value) -> Result<Box<RawValue>, String> {
    serde_json::value::to_raw_value(value).map_err(|error| error.to_string())
}

fn joined(name: &str, message: &str) -> String {
    match (name, message) {
        ("", "") => "an error without a message".to_owned(),
        ("", text) | (text, "") => text.to_owned(),
        ("Error", message) => message.to_owned(),
        (name, message) => format!("{name}: {message}"),
    }
}

fn with_place(message: String, place: Option<(u32, u32)>) -> String {
    match place {
        Some((line, _)) => format!("{message} (line {line} of the tools)"),
        None => message,
    }
}

/// Formats a time: `5 s`, `0.2 s`.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}
