//! The JavaScript engine of a worker.
//!
//! Values of tools are handled only with functions of the engine itself: a tool may replace everything that
//! JavaScript can reach. Everything that runs foreign code, even reading a field, runs within the budget of
//! the call. There are no timers, so a promise that is open when no job is left can never be resolved, and
//! nothing of a call runs after its end.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use brief_dialects::agents::Evaluated;
use brief_syntax::limits;
use rquickjs::context::EvalOptions;
use rquickjs::function::Rest;
use rquickjs::object::Filter;
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Exception, Function, Object, Persistent, Runtime, Value};
use serde_json::value::RawValue;

use super::Limits;
use super::channel::Channel;
use super::confine;
use super::failure::{self, CODE_NAME, to_unusable};
use super::frame::{CallFault, FailureKind, LogLine, Order, Unusable, UnusableKind, WorkerMessage};
use super::prelude::Prelude;

/// The memory that the engine may use before it collects cycles.
const COLLECT_AFTER: usize = 4 * 1024 * 1024;

/// The cost of a log line besides its text, so that empty lines count, too.
const LINE: usize = 32;

pub(super) struct Engine {
    shared: Rc<CallState>,
    /// The code, which every realm runs.
    code: String,
    /// The form of the code, once it is known.
    form: Cell<Option<CodeForm>>,
    /// The keys that the first run returned.
    keys: Vec<String>,
    /// The realm of the next call, in which the code has run.
    realm: Option<JsRealm>,
    prelude: Prelude,
    runtime: Runtime,
}

/// The two forms of the code of tools (Y27).
#[derive(Clone, Copy)]
enum CodeForm {
    Expression,
    Body,
}

/// The globals of one call: changes to them do not reach the next call.
struct JsRealm {
    // Tools are dropped before their context.
    tools: Rc<RealmTools>,
    context: Context,
}

/// The functions of a realm that Rust calls.
#[derive(Default)]
struct RealmTools {
    functions: RefCell<Vec<Persistent<Function<'static>>>>,
    /// Creates the `host` object of a tool.
    make_host: RefCell<Option<Persistent<Function<'static>>>>,
}

impl Drop for JsRealm {
    /// Breaks a cycle that the engine's collector cannot see: a function of the realm holds the tools, and
    /// they hold the realm.
    fn drop(&mut self) {
        self.tools.functions.take();
        self.tools.make_host.take();
    }
}

/// The state for the functions that tools can call.
struct CallState {
    channel: Rc<RefCell<Channel>>,
    limits: Limits,
    /// The processor time of this process at which the call ends.
    until: Cell<Duration>,
    /// The processor time in seconds at which the system kills this process.
    ends_after: Cell<u64>,
    is_over: Cell<bool>,
    has_lost_parent: Cell<bool>,
    logged: Cell<usize>,
    /// True while no call is active, when the parent expects no messages.
    is_quiet: Cell<bool>,
    ctx_json: RefCell<String>,
    rejected: RefCell<Vec<Rejection>>,
}

/// A promise that was rejected without a handler.
struct Rejection {
    promise: Persistent<Value<'static>>,
    reason: Persistent<Value<'static>>,
}

type CallResult<T> = Result<T, CallFault>;

impl Engine {
    pub(super) fn new(channel: Rc<RefCell<Channel>>, limits: Limits) -> rquickjs::Result<Engine> {
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(limits.memory);
        runtime.set_max_stack_size(limits.stack);
        runtime.set_gc_threshold(COLLECT_AFTER);
        // The binding keeps the prototype of Rust functions from the realm of the first one, and with it the
        // realm. So the first realm is one in which no tool runs.
        let first = Context::full(&runtime)?;
        first.with(|ctx| Function::new(ctx, || ()).map(drop))?;
        let prelude = Prelude::compile(&runtime, &first)?;
        let shared = Rc::new(CallState {
            channel,
            limits,
            until: Cell::new(Duration::MAX),
            ends_after: Cell::new(u64::MAX),
            is_over: Cell::new(false),
            has_lost_parent: Cell::new(false),
            logged: Cell::new(0),
            is_quiet: Cell::new(false),
            ctx_json: RefCell::new("{}".to_owned()),
            rejected: RefCell::new(Vec::new()),
        });
        let watch = Rc::clone(&shared);
        runtime.set_interrupt_handler(Some(Box::new(move || watch.must_stop())));
        let watch = Rc::clone(&shared);
        runtime.set_host_promise_rejection_tracker(Some(Box::new(
            move |ctx, promise, reason, is_handled| {
                watch.note_rejection(&ctx, promise, reason, is_handled);
            },
        )));
        let (code, form, keys) = (String::new(), Cell::new(None), Vec::new());
        Ok(Engine { shared, code, form, keys, realm: None, prelude, runtime })
    }

    /// Runs the code, and returns what it defines.
    pub(super) fn load_code(&mut self, code: &str) -> Result<Vec<Evaluated>, Unusable> {
        code.clone_into(&mut self.code);
        let (realm, returned) = self.create_realm()?;
        self.realm = Some(realm);
        self.keys = returned.iter().map(|found| found.key.clone()).collect();
        Ok(returned)
    }

    /// Creates the realm for the next call in advance. Afterwards there may be none.
    pub(super) fn prepare_realm(&mut self) {
        self.realm = None;
        // Jobs that writing a result left behind would run here, after their call.
        if self.runtime.is_job_pending() {
            return;
        }
        // The last realm is garbage now. The engine itself would collect it only when more memory is in use,
        // which may be more than the limit.
        self.runtime.run_gc();
        self.shared.is_quiet.set(true);
        self.realm = self.create_realm().ok().and_then(|(realm, returned)| {
            let keys = returned.iter().map(|found| &found.key);
            keys.eq(&self.keys).then_some(realm)
        });
        self.shared.is_quiet.set(false);
    }

    /// Creates a realm and runs the code in it.
    fn create_realm(&self) -> Result<(JsRealm, Vec<Evaluated>), Unusable> {
        let broken = |error: rquickjs::Error| {
            to_unusable(failure::create_fault(FailureKind::Memory, "", &error.to_string()))
        };
        let context = Context::full(&self.runtime).map_err(broken)?;
        self.shared.begin_call();
        let realm = JsRealm { tools: Rc::default(), context };
        let returned = self.evaluate_code(&realm)?;
        Ok((realm, returned))
    }

    fn evaluate_code(&self, realm: &JsRealm) -> Result<Vec<Evaluated>, Unusable> {
        realm.context.with(|ctx| {
            let installed = self.install_host(&ctx, &realm.tools);
            installed.map_err(|error| to_unusable(failure::catch_fault(&ctx, &error)))?;
            let function = self.compile_code(&ctx)?;
            let value = self.await_value(&ctx, function.call(())).map_err(to_unusable)?;
            let tools = match value.as_object() {
                Some(object) if !object.is_array() && !object.is_function() => object.clone(),
                _ => {
                    let message = value.type_name().to_owned();
                    let kind = UnusableKind::NotAnObject;
                    return Err(Unusable { kind, message, place: None });
                }
            };
            let returned = self.take_tools(&ctx, &tools, &realm.tools);
            let returned = returned.map_err(|error| to_unusable(self.to_fault(&ctx, &error)))?;
            if returned.len() > limits::TOOLS {
                let message = returned.len().to_string();
                return Err(Unusable { kind: UnusableKind::TooMany, message, place: None });
            }
            Ok(returned)
        })
    }

    /// Parses the code in both forms, without running it: the script ends with its first statement.
    pub(super) fn parse_code(&mut self, code: &str) -> Result<(), Unusable> {
        let broken = |error: rquickjs::Error| {
            to_unusable(failure::create_fault(FailureKind::Memory, "", &error.to_string()))
        };
        let context = Context::full(&self.runtime).map_err(broken)?;
        self.shared.begin_call();
        context.with(|ctx| {
            let attempt = |form: CodeForm| {
                let source = format!("throw null; {}", form.render_source(code));
                let thrown = evaluate_source(&ctx, source).map(drop).err()?;
                let failure = failure::catch_fault(&ctx, &thrown);
                (failure.name == "SyntaxError").then_some(failure)
            };
            if attempt(CodeForm::Expression).is_none() {
                return Ok(());
            }
            match attempt(CodeForm::Body) {
                None => Ok(()),
                Some(CallFault { message, place, .. }) => {
                    Err(Unusable { kind: UnusableKind::Syntax, message, place })
                }
            }
        })
    }

    /// Compiles the code to a function.
    ///
    /// The expression form is tried first: a body with `return` is not a valid expression, while an
    /// expression as a body would return nothing.
    fn compile_code<'js>(&self, ctx: &Ctx<'js>) -> Result<Function<'js>, Unusable> {
        let mut form = self.form.get().unwrap_or(CodeForm::Expression);
        let mut function = evaluate_source(ctx, form.render_source(&self.code));
        if function.is_err() && self.form.get().is_none() {
            ctx.catch();
            form = CodeForm::Body;
            function = evaluate_source(ctx, form.render_source(&self.code));
        }
        let function = function.map_err(|error| {
            let failure = failure::catch_fault(ctx, &error);
            if failure.name == "SyntaxError" {
                let CallFault { message, place, .. } = failure;
                Unusable { kind: UnusableKind::Syntax, message, place }
            } else {
                to_unusable(failure)
            }
        })?;
        self.form.set(Some(form));
        Ok(function)
    }

    /// Calls a tool with arguments and context as JSON, and returns its result as JSON. Without a realm,
    /// nothing is called.
    pub(super) fn call_tool(
        &mut self,
        tool: usize,
        args: &str,
        ctx_json: &str,
    ) -> Option<CallResult<Box<RawValue>>> {
        let realm = self.realm.take()?;
        self.shared.begin_call();
        ctx_json.clone_into(&mut self.shared.ctx_json.borrow_mut());
        let outcome = realm.context.with(|ctx| {
            let started = run_tool(&ctx, &self.shared, &realm.tools, (tool, args, 0));
            let value = self.await_value(&ctx, started)?;
            self.render_json(&ctx, &value)
        });
        self.shared.rejected.borrow_mut().clear();
        Some(outcome.map_err(|failure| CallFault {
            // Remaining jobs would run in the next call, on its budget.
            is_last: self.shared.has_lost_parent.get() || self.runtime.is_job_pending(),
            ..failure
        }))
    }

    /// Installs the functions behind the `host` object.
    fn install_host<'js>(&self, ctx: &Ctx<'js>, tools: &Rc<RealmTools>) -> rquickjs::Result<()> {
        let prelude = self.prelude.import_function(ctx)?;
        let shared = Rc::clone(&self.shared);
        let ask = Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, ability: String, call: String, args: Value<'js>| {
                request_ability(&ctx, &shared, &ability, &call, args)
            },
        )?;
        let shared = Rc::clone(&self.shared);
        let print = Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, level: String, values: Rest<Value<'js>>| {
                shared.send_log(&ctx, level, &values);
            },
        )?;
        let (shared, entered) = (Rc::clone(&self.shared), Rc::clone(tools));
        let enter = Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, tool: usize, args: Value<'js>, depth: usize| {
                call_other_tool(&ctx, &shared, &entered, (tool, args, depth))
            },
        )?;
        let make_host: Function<'_> = prelude.call((ask, enter, print, limits::TOOL_DEPTH))?;
        *tools.make_host.borrow_mut() = Some(Persistent::save(ctx, make_host));
        Ok(())
    }

    /// Runs jobs until none is left, and returns the settled value of a function that has returned.
    fn await_value<'js>(
        &self,
        ctx: &Ctx<'js>,
        value: rquickjs::Result<Value<'js>>,
    ) -> CallResult<Value<'js>> {
        let value = value.map_err(|error| self.to_fault(ctx, &error))?;
        let outcome = (|| {
            let (promise, resolve, _) = ctx.promise()?;
            resolve.call::<_, ()>((value,))?;
            // Unawaited jobs run too, so that nothing of a call runs after its end.
            while !self.shared.is_over.get() && ctx.execute_pending_job() {}
            Ok(promise)
        })();
        if let Some(overrun) = self.find_overrun() {
            return Err(overrun);
        }
        let promise = outcome.map_err(|error: rquickjs::Error| self.to_fault(ctx, &error))?;
        let value = match (promise.state(), promise.result::<Value<'js>>()) {
            (PromiseState::Pending, _) | (_, None) => {
                return Err(failure::create_fault(FailureKind::Pending, "", ""));
            }
            (_, Some(Ok(value))) => value,
            (_, Some(Err(error))) => return Err(self.to_fault(ctx, &error)),
        };
        match self.shared.rejected.borrow_mut().pop() {
            None => Ok(value),
            Some(rejection) => {
                let reason = rejection.reason.restore(ctx);
                let reason = reason.map_err(|error| self.to_fault(ctx, &error))?;
                let failure = failure::fault_from_thrown(ctx, &reason);
                let failure = CallFault { kind: FailureKind::Unhandled, ..failure };
                Err(self.find_overrun().unwrap_or(failure))
            }
        }
    }

    /// Writes a result as JSON.
    fn render_json<'js>(&self, ctx: &Ctx<'js>, value: &Value<'js>) -> CallResult<Box<RawValue>> {
        let not_json = |message: &str| failure::create_fault(FailureKind::NotJson, "", message);
        if value.is_function() || value.is_symbol() {
            return Err(not_json(value.type_name()));
        }
        let text = match ctx.json_stringify(value.clone()) {
            Ok(Some(text)) => text.to_string(),
            // The result of a function without `return`.
            Ok(None) => Ok("null".to_owned()),
            Err(error) => Err(error),
        };
        let text = text.map_err(|error| {
            let failure = failure::catch_fault(ctx, &error);
            self.find_overrun().unwrap_or(match failure.kind {
                FailureKind::Threw => {
                    not_json(&failure::join_error(&failure.name, &failure.message))
                }
                _ => failure,
            })
        })?;
        if text.len() > self.shared.limits.result {
            return Err(failure::create_fault(FailureKind::TooLarge, "", &text.len().to_string()));
        }
        RawValue::from_string(text).map_err(|error| not_json(&error.to_string()))
    }

    /// Takes the tools from the returned object: keeps their functions, and returns the rest.
    fn take_tools<'js>(
        &self,
        ctx: &Ctx<'js>,
        tools: &Object<'js>,
        slot: &RealmTools,
    ) -> rquickjs::Result<Vec<Evaluated>> {
        let mut returned = Vec::new();
        let mut functions = Vec::new();
        for key in tools.own_keys::<String>(Filter::new().string().enum_only()) {
            let key = key?;
            if returned.len() > limits::TOOLS {
                break;
            }
            let tool: Value<'_> = tools.get(key.as_str())?;
            let mut found =
                Evaluated { key, has_function: false, scheme: None, fields: Vec::new() };
            let mut function = None;
            if let Some(tool) = tool.as_object() {
                for field in tool.own_keys::<String>(Filter::new().string().enum_only()).take(64) {
                    found.fields.push(field?);
                }
                let value: Value<'_> = tool.get("fn")?;
                function = value.as_function().cloned();
                let scheme: Value<'_> = tool.get("scheme")?;
                if scheme.is_object() && !scheme.is_function() {
                    found.scheme = self.json_of(ctx, scheme)?;
                }
            }
            found.has_function = function.is_some();
            // The index needs an entry; a tool without a function is never called.
            let function = match function {
                Some(function) => function,
                None => Function::new(ctx.clone(), || ())?,
            };
            functions.push(Persistent::save(ctx, function));
            returned.push(found);
        }
        *slot.functions.borrow_mut() = functions;
        Ok(returned)
    }

    /// Returns a value as JSON, if possible. Errors of the conversion are ignored, except for a limit of the
    /// call.
    fn json_of<'js>(
        &self,
        ctx: &Ctx<'js>,
        value: Value<'js>,
    ) -> rquickjs::Result<Option<serde_json::Value>> {
        let text = ctx
            .json_stringify(value)
            .and_then(|text| text.map(|text| text.to_string()).transpose());
        match text {
            Err(error) if self.shared.is_over.get() => Err(error),
            Err(_) => {
                ctx.catch();
                Ok(None)
            }
            Ok(text) => Ok(text.and_then(|text| serde_json::from_str(&text).ok())),
        }
    }

    fn find_overrun(&self) -> Option<CallFault> {
        self.shared.is_over.get().then(|| failure::create_fault(FailureKind::Cpu, "", ""))
    }

    /// Describes an error. If the call has exceeded its time, that is the cause.
    fn to_fault(&self, ctx: &Ctx<'_>, error: &rquickjs::Error) -> CallFault {
        // Reading the error may take the rest of the time.
        let failure = failure::catch_fault(ctx, error);
        self.find_overrun().unwrap_or(failure)
    }
}

impl CallState {
    /// Starts the clock of a call.
    fn begin_call(&self) {
        let until = confine::processor_time() + self.limits.cpu;
        self.until.set(until);
        self.is_over.set(false);
        self.logged.set(0);
        if self.ends_after.replace(until.as_secs()) != until.as_secs() {
            confine::end_after(until);
        }
    }

    fn must_stop(&self) -> bool {
        if confine::has_lost_parent() {
            self.has_lost_parent.set(true);
        }
        if self.has_lost_parent.get() || confine::processor_time() >= self.until.get() {
            self.is_over.set(true);
        }
        self.is_over.get()
    }

    fn note_rejection<'js>(
        &self,
        ctx: &Ctx<'js>,
        promise: Value<'js>,
        reason: Value<'js>,
        is_handled: bool,
    ) {
        let Ok(mut rejected) = self.rejected.try_borrow_mut() else { return };
        if is_handled {
            rejected.retain(|known| {
                known.promise.clone().restore(ctx).is_ok_and(|known| known != promise)
            });
        } else if rejected.len() < limits::TOOL_REQUESTS {
            let promise = Persistent::save(ctx, promise);
            rejected.push(Rejection { promise, reason: Persistent::save(ctx, reason) });
        }
    }

    /// Sends a log line, within the limit.
    fn send_log<'js>(&self, ctx: &Ctx<'js>, level: String, values: &[Value<'js>]) {
        let left = self.limits.log.saturating_sub(self.logged.get());
        if left == 0 || self.is_quiet.get() {
            return;
        }
        let words: Vec<String> =
            values.iter().map(|value| failure::render_value(ctx, value)).collect();
        let mut text = words.join(" ");
        if text.len() + LINE >= left {
            text.truncate(text.floor_char_boundary(left));
            text.push_str("… [truncated]");
        }
        self.logged.set(self.logged.get() + text.len() + LINE);
        self.send_message(&WorkerMessage::Log(LogLine { level, text }));
    }

    fn send_message(&self, word: &WorkerMessage<'_>) {
        if self.channel.borrow_mut().send_message(word).is_err() {
            self.has_lost_parent.set(true);
        }
    }
}

/// Sends a request to the parent and waits for its answer.
fn request_ability<'js>(
    ctx: &Ctx<'js>,
    shared: &CallState,
    ability: &str,
    call: &str,
    args: Value<'js>,
) -> rquickjs::Result<Value<'js>> {
    let text = ctx.json_stringify(args)?.ok_or(rquickjs::Error::Unknown)?.to_string()?;
    if text.len() > shared.limits.memory.min(super::frame::MOST / 2) {
        return Err(Exception::throw_range(ctx, "the arguments are too large"));
    }
    let args = RawValue::from_string(text)
        .map_err(|error| Exception::throw_type(ctx, &error.to_string()))?;
    shared.send_message(&WorkerMessage::Ask {
        ability: ability.into(),
        call: call.into(),
        args: &args,
    });
    let mut channel = shared.channel.borrow_mut();
    match channel.receive_order() {
        Ok(Some(Order::Answer { value })) => {
            let text = value.get().to_owned();
            drop(channel);
            ctx.json_parse(text)
        }
        Ok(Some(Order::Refuse { name, message })) => {
            let (name, message) = (name.into_owned(), message.into_owned());
            drop(channel);
            let error = Exception::from_message(ctx.clone(), &message)?;
            error.set("name", name)?;
            Err(error.throw())
        }
        _ => {
            shared.has_lost_parent.set(true);
            Err(Exception::throw_message(ctx, "the parent has ended"))
        }
    }
}

/// Lets a tool call another one, after the parent has allowed it.
fn call_other_tool<'js>(
    ctx: &Ctx<'js>,
    shared: &CallState,
    tools: &RealmTools,
    (tool, args, depth): (usize, Value<'js>, usize),
) -> rquickjs::Result<Value<'js>> {
    // Passed as JSON, so that neither tool can change the other's objects.
    let args = ctx.json_stringify(args)?.ok_or(rquickjs::Error::Unknown)?.to_string()?;
    run_tool(ctx, shared, tools, (tool, &args, depth))
}

fn run_tool<'js>(
    ctx: &Ctx<'js>,
    shared: &CallState,
    tools: &RealmTools,
    (tool, args, depth): (usize, &str, usize),
) -> rquickjs::Result<Value<'js>> {
    let function = tools.functions.borrow().get(tool).cloned();
    let function = function.ok_or(rquickjs::Error::Unknown)?.restore(ctx)?;
    let make_host = tools.make_host.borrow().clone();
    let make_host = make_host.ok_or(rquickjs::Error::Unknown)?.restore(ctx)?;
    let args = ctx.json_parse(args)?;
    let context = ctx.json_parse(shared.ctx_json.borrow().as_str())?;
    let host: Value<'js> = make_host.call((depth,))?;
    function.call((args, context, host))
}

impl CodeForm {
    /// Returns the source of a function with the code, which begins on the second line, so that its columns
    /// are unchanged. The function has no parentheses around it: the engine would parse it twice.
    fn render_source(self, code: &str) -> String {
        match self {
            CodeForm::Expression => {
                let expression = code.trim_end_matches([';', ' ', '\t', '\r', '\n']);
                format!("0, async function () {{ return (\n{expression}\n) }}")
            }
            CodeForm::Body => format!("0, async function () {{\n{code}\n}}"),
        }
    }
}

fn evaluate_source<'js>(ctx: &Ctx<'js>, source: String) -> rquickjs::Result<Function<'js>> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(CODE_NAME.to_owned());
    ctx.eval_with_options(source, options)
}
