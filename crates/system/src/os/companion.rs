//! A program that runs beside us on a real system.
//!
//! Both pipes are asked before they are used and never wait by themselves, so that a program that
//! neither reads nor writes can hold us only as long as we allow. Its standard error is read by a thread, so
//! that the program never waits for a reader.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the seam that everything else goes through"
)]

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;

use super::process::{end_process, prepare_command};
use crate::{Call, Companion, Ending};

/// The longest pause between two looks whether the program has ended.
const TICK: Duration = Duration::from_millis(5);

/// The limit for the bytes of standard error that are kept.
const MOST_ERRORS: usize = 64 * 1024;

pub(super) fn start_companion(call: &Call) -> io::Result<Box<dyn Companion>> {
    let mut command = prepare_command(call)?;
    let (input, to_program) = io::pipe()?;
    let (from_program, output) = io::pipe()?;
    command.stdin(input).stdout(output).stderr(Stdio::null());
    let errors = Arc::new(Mutex::new(Vec::new()));
    if call.keep_errors {
        let (from_program, errors_pipe) = io::pipe()?;
        command.stderr(errors_pipe);
        let kept = Arc::clone(&errors);
        let builder = std::thread::Builder::new().name("errors".to_owned());
        builder.spawn(move || collect_errors(from_program, &kept))?;
    }
    let flags = rustix::fs::fcntl_getfl(&to_program)?;
    rustix::fs::fcntl_setfl(&to_program, flags | OFlags::NONBLOCK)?;
    let child = command.spawn()?;
    Ok(Box::new(RunningCompanion { child, ended: None, to_program, from_program, errors }))
}

/// Keeps the newest part of what comes, until there is no more.
fn collect_errors(mut from_program: PipeReader, kept: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4096];
    loop {
        match from_program.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&piece[..count]);
                let excess = kept.len().saturating_sub(MOST_ERRORS);
                kept.drain(..excess);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

struct RunningCompanion {
    child: Child,
    ended: Option<Ending>,
    to_program: PipeWriter,
    from_program: PipeReader,
    errors: Arc<Mutex<Vec<u8>>>,
}

impl Companion for RunningCompanion {
    fn send(&mut self, mut bytes: &[u8], patience: Duration) -> io::Result<()> {
        let deadline = Instant::now() + patience;
        while !bytes.is_empty() {
            match self.to_program.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait_for_pipe(&self.to_program, PollFlags::OUT, deadline)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<usize> {
        wait_for_pipe(&self.from_program, PollFlags::IN, Instant::now() + patience)?;
        loop {
            match self.from_program.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }

    fn id(&self) -> u32 {
        self.child.id()
    }

    fn wait(&mut self, patience: Duration) -> io::Result<Ending> {
        if let Some(ending) = self.ended {
            return Ok(ending);
        }
        let deadline = Instant::now() + patience;
        let mut pause = Duration::from_micros(50);
        loop {
            if let Some(status) = self.child.try_wait()? {
                let ending = ending_from_status(status);
                self.ended = Some(ending);
                return Ok(ending);
            }
            if Instant::now() >= deadline {
                self.end();
                self.ended = Some(Ending::TimedOut);
                return Ok(Ending::TimedOut);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(TICK);
        }
    }

    fn end(&mut self) {
        if self.ended.is_none() {
            end_process(&mut self.child);
            self.ended = Some(Ending::Killed);
        }
    }

    fn take_errors(&mut self) -> Vec<u8> {
        std::mem::take(&mut *self.errors.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for RunningCompanion {
    fn drop(&mut self) {
        self.end();
    }
}

fn ending_from_status(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        // The system sends it to a program that has used up its time on the processor.
        (None, Some(signal_hook::consts::SIGXCPU)) => Ending::TimedOut,
        (None, _) => Ending::Killed,
    }
}

/// Waits until a pipe can be used, or until it is too late.
fn wait_for_pipe(pipe: &impl AsFd, what: PollFlags, deadline: Instant) -> io::Result<()> {
    loop {
        let patience = deadline.saturating_duration_since(Instant::now());
        let patience = Timespec::try_from(patience).unwrap_or_default();
        match rustix::event::poll(&mut [PollFd::new(pipe, what)], Some(&patience)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use brief_testkit::{Lifeline, PATIENCE, wait_until};

    use super::*;

    fn sh(script: &str) -> Box<dyn Companion> {
        let call = Call::new("sh", "/", Duration::ZERO, 0).arg("-c").arg(script);
        start_companion(&call).unwrap()
    }

    const LONG: Duration = PATIENCE;
    const SHORT: Duration = Duration::from_millis(100);

    #[test]
    fn both_pipes_and_the_end() {
        let mut program = sh("read line; echo \"got $line\"; exit 7");
        program.send(b"it\n", LONG).unwrap();
        let mut buffer = [0; 64];
        let count = program.receive(&mut buffer, LONG).unwrap();
        assert_eq!(&buffer[..count], b"got it\n");
        assert_eq!(program.receive(&mut buffer, LONG).unwrap(), 0);
        assert_eq!(program.wait(LONG).unwrap(), Ending::Exited(7));
        assert_eq!(program.wait(LONG).unwrap(), Ending::Exited(7));
    }

    #[test]
    fn a_program_that_neither_reads_nor_writes_does_not_block() {
        let mut program = sh("sleep 60");
        let mut buffer = [0; 64];
        let error = program.receive(&mut buffer, SHORT).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let error = program.send(&vec![0; 1 << 20], SHORT).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(program.wait(SHORT).unwrap(), Ending::TimedOut);
    }

    #[test]
    fn a_program_is_ended_with_all_that_it_started() {
        let directory = tempfile::tempdir().unwrap();
        let alive = directory.path().join("alive");
        let lifeline = Lifeline::create(&alive);
        let mut program =
            sh(&format!("exec 3>{}; sleep 600 & echo up; sleep 600", alive.display()));
        program.receive(&mut [0; 8], LONG).unwrap();
        drop(program);
        lifeline.wait_for_end();
    }

    /// A program that floods its standard error neither waits nor fills our memory.
    #[test]
    fn standard_error_is_kept_up_to_a_limit() {
        let script = "yes error | head -n 200000 >&2; echo last >&2; echo done";
        let call = Call::new("sh", "/", Duration::ZERO, 0).arg("-c").arg(script);
        let mut program = start_companion(&Call { keep_errors: true, ..call }).unwrap();
        assert_eq!(program.receive(&mut [0; 8], LONG).unwrap(), 5);
        program.wait(LONG).unwrap();
        let deadline = Instant::now() + LONG;
        let mut errors = Vec::new();
        while !errors.ends_with(b"last\n") && Instant::now() < deadline {
            errors.extend(program.take_errors());
        }
        assert!(errors.ends_with(b"error\nlast\n"), "{}", errors.len());
        assert!(program.take_errors().is_empty());
        let mut silent = sh("echo lost >&2");
        silent.wait(LONG).unwrap();
        assert!(silent.take_errors().is_empty());
    }

    #[test]
    fn a_program_that_has_gone_is_an_error_to_write_to() {
        let mut program = sh("exit 0");
        program.wait(LONG).unwrap();
        // A child that another thread starts at this moment holds the pipe until it becomes its program.
        wait_until("the pipe is closed", || program.send(b"hello", LONG).is_err());
    }
}
