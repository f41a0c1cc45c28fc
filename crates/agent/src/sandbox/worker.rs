//! The worker process: carries out orders until its parent ends.

use std::cell::RefCell;
use std::io;
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::rc::Rc;

use super::Limits;
use super::channel::Channel;
use super::confine;
use super::engine::Engine;
use super::frame::{MissingFence, Order, Unusable, UnusableKind, WorkerMessage};

pub(super) fn run_worker() -> ExitCode {
    // An error needs no message: the parent sees the pipe close.
    match serve_orders() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve_orders() -> io::Result<()> {
    confine::end_with_parent();
    let mut channel = Channel::open();
    let (code, limits, missing_fence) = match channel.receive_order()? {
        Some(Order::Load { code, limits, missing_fence }) => (code, limits, missing_fence),
        Some(Order::Parse { code, limits }) => {
            let code = code.into_owned();
            return parse_code(channel, &code, limits);
        }
        _ => return Err(io::ErrorKind::InvalidData.into()),
    };
    let code = code.into_owned();
    let unusable = |kind, message| WorkerMessage::Unusable(Unusable { kind, message, place: None });
    let fences = match confine::confine_process(limits.memory) {
        Ok(fences) => fences,
        Err(error) => {
            return channel.send_message(&unusable(UnusableKind::Confinement, error.to_string()));
        }
    };
    let missing = fences.missing_fences();
    if missing_fence == MissingFence::Refuse && !missing.is_empty() {
        return channel.send_message(&unusable(UnusableKind::MissingFence, missing.join(" and ")));
    }
    let channel = Rc::new(RefCell::new(channel));
    // The engine is not dropped: the process ends with it, and the drop would only cost time.
    let engine = Engine::new(Rc::clone(&channel), limits).map_err(io::Error::other)?;
    let mut engine = ManuallyDrop::new(engine);
    let outcome = engine.load_code(&code);
    let word = match outcome {
        Ok(returned) => WorkerMessage::Ready { returned, fences },
        Err(unusable) => {
            return channel.borrow_mut().send_message(&WorkerMessage::Unusable(unusable));
        }
    };
    channel.borrow_mut().send_message(&word)?;
    loop {
        let (tool, args, ctx) = match channel.borrow_mut().receive_order()? {
            Some(Order::Call { tool, args, ctx }) => {
                (tool, args.get().to_owned(), ctx.get().to_owned())
            }
            Some(_) => return Err(io::ErrorKind::InvalidData.into()),
            None => return Ok(()),
        };
        let Some(outcome) = engine.call_tool(tool, &args, &ctx) else {
            return channel.borrow_mut().send_message(&WorkerMessage::Spent);
        };
        let is_last = outcome.as_ref().is_err_and(|failure| failure.is_last);
        match outcome {
            Ok(value) => {
                channel.borrow_mut().send_message(&WorkerMessage::Done { value: &value })?;
            }
            Err(failure) => channel.borrow_mut().send_message(&WorkerMessage::Failed(failure))?,
        }
        if is_last {
            return Ok(());
        }
        engine.prepare_realm();
    }
}

/// Parses the code. Nothing of it runs, so a system without fences is enough.
fn parse_code(mut channel: Channel, code: &str, limits: Limits) -> io::Result<()> {
    if let Err(error) = confine::confine_process(limits.memory) {
        let (kind, message) = (UnusableKind::Confinement, error.to_string());
        return channel.send_message(&WorkerMessage::Unusable(Unusable {
            kind,
            message,
            place: None,
        }));
    }
    let channel = Rc::new(RefCell::new(channel));
    let engine = Engine::new(Rc::clone(&channel), limits).map_err(io::Error::other)?;
    let word = match ManuallyDrop::new(engine).parse_code(code) {
        Ok(()) => WorkerMessage::Parsed,
        Err(unusable) => WorkerMessage::Unusable(unusable),
    };
    channel.borrow_mut().send_message(&word)
}
