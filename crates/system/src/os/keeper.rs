//! A process between us and a program that must leave nothing behind.
//!
//! We may be killed at any time, and could not end the program and remove its files then. The keeper waits for
//! both: for the end of the program, and for the end of its own parent, which closes a pipe ([`keep`]) or is looked
//! for by its number ([`run_for`], where all streams are the program's). It stays in one process group with the
//! program, so that one signal ends both.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the seam that everything else goes through"
)]

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::FdFlags;
use rustix::process::{Pid, Signal};

use super::process::prepare_command;
use crate::{Call, Ending};

/// The interval of looking whether the program has ended, where the system does not tell. The end of the parent is
/// noticed at once.
const TICK: Duration = Duration::from_millis(200);

/// The pauses between attempts to remove the directory: helpers of the program may still write to it.
const PAUSE: Duration = Duration::from_millis(50);

/// The number of attempts to remove the directory.
const ATTEMPTS: usize = 40;

/// Starts the program with our streams, and returns its end, or kills our process group when our parent has ended.
pub(super) fn run_for(parent: u32, call: &Call) -> io::Result<Ending> {
    let parent = i32::try_from(parent).ok().and_then(Pid::from_raw);
    let parent = parent.ok_or(io::ErrorKind::InvalidInput)?;
    let group = rustix::process::getpgrp();
    // A group that others are in, too, is not ours to kill.
    if group != rustix::process::getpid() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let ended = watch(parent);
    if has_ended(parent) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut command = prepare_command(call)?;
    command.process_group(group.as_raw_nonzero().get());
    let mut child = command.spawn()?;
    std::thread::Builder::new().name("parent".to_owned()).spawn(move || {
        let tick = Timespec::try_from(TICK).unwrap_or_default();
        while !has_ended(parent) {
            match &ended {
                Some(ended) => {
                    let mut polled = [PollFd::new(ended, PollFlags::IN)];
                    let _ = rustix::event::poll(&mut polled, Some(&tick));
                }
                None => std::thread::sleep(TICK),
            }
        }
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    })?;
    let status = child.wait()?;
    if status.code().is_none() {
        // The parent sees the end of its program as if we were the program.
        let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
    }
    Ok(status.code().map_or(Ending::Killed, Ending::Exited))
}

/// Returns whether a process is no longer our parent: an orphan gets another one.
fn has_ended(parent: Pid) -> bool {
    rustix::process::getppid() != Some(parent)
}

/// Starts the program with our standard input as its descriptor 3 and our standard output as its descriptor 4,
/// waits until it or our parent has ended, and removes the directory. Ends with the process group.
pub(super) fn supervise_program(call: &Call, directory: &Path) -> io::Result<()> {
    let kept = start_program(call).map(|mut child| {
        wait_for_end(&mut child);
        let _ = child.kill();
        let _ = child.wait();
    });
    for _ in 0..ATTEMPTS {
        match fs::remove_dir_all(directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(PAUSE),
            _ => break,
        }
    }
    kept?;
    // What the program has started and not ended is in our group.
    Ok(rustix::process::kill_process_group(rustix::process::getpgrp(), Signal::KILL)?)
}

fn start_program(call: &Call) -> io::Result<Child> {
    let mut command = prepare_command(call)?;
    let group = rustix::process::getpgrp().as_raw_nonzero().get();
    command.process_group(group).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _input = duplicate_descriptor(rustix::stdio::stdin(), 3)?;
    let _output = duplicate_descriptor(rustix::stdio::stdout(), 4)?;
    let child = command.spawn()?;
    // The parent sees the end of the program when no other process holds the pipe.
    let nowhere = fs::OpenOptions::new().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    Ok(child)
}

/// Makes a descriptor that the program gets, with the number that it knows it by.
fn duplicate_descriptor(stream: impl AsFd, number: i32) -> io::Result<OwnedFd> {
    let copy = rustix::io::fcntl_dupfd_cloexec(stream, number)?;
    if copy.as_raw_fd() != number {
        return Err(io::Error::other(format!("descriptor {number} is in use")));
    }
    rustix::io::fcntl_setfd(&copy, FdFlags::empty())?;
    Ok(copy)
}

/// Waits until the program has ended, or until our parent has closed its end of the pipe.
fn wait_for_end(child: &mut Child) {
    let tick = Timespec::try_from(TICK).unwrap_or_default();
    let ended = watch(Pid::from_child(child));
    while matches!(child.try_wait(), Ok(None)) {
        let stdin = rustix::stdio::stdin();
        let mut polled = vec![PollFd::new(&stdin, PollFlags::empty())];
        polled.extend(ended.iter().map(|ended| PollFd::new(ended, PollFlags::IN)));
        let found = rustix::event::poll(&mut polled, Some(&tick));
        let is_closed = polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR);
        if found.is_ok() && is_closed {
            return;
        }
    }
}

/// Returns a descriptor that can be read when the process has ended.
#[cfg(target_os = "linux")]
fn watch(process: Pid) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(process, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn watch(_: Pid) -> Option<OwnedFd> {
    None
}
