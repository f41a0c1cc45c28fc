//! Confinement: the worker gives up everything but two pipes.
//!
//! It does so before it has read any foreign code, and permanently. Each part stands alone, because some
//! systems lack some of them. The environment and the arguments of the worker are already empty.

use std::io;
use std::path::Path;
use std::time::Duration;

use brief_system::{Files, OsSystem};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Resource, Rlimit};
use rustix::time::ClockId;

use super::frame::{Fences, Landlock};

/// The number of kept descriptors: standard input, output and error.
const KEPT: i32 = 3;

/// The address space of the program itself, without the tools.
const OWN_SPACE: u64 = 192 * 1024 * 1024;

/// Gives up everything; `memory` is the limit for the tools.
pub(super) fn confine_process(memory: usize) -> io::Result<Fences> {
    close_inherited();
    let landlock = refuse_files();
    let memory = u64::try_from(memory).unwrap_or(u64::MAX);
    for (resource, most) in [
        // Files and sockets alike: three are open, and a fourth cannot be opened.
        (Resource::Nofile, u64::try_from(KEPT).unwrap_or_default()),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
        (Resource::Nproc, 0),
        (Resource::As, memory.saturating_mul(2).saturating_add(OWN_SPACE)),
    ] {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        match rustix::process::setrlimit(resource, limit) {
            // Some systems lack some of these limits.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // This comes last: the steps before need calls that are forbidden then.
    Ok(Fences { landlock, seccomp: restrict_calls() })
}

#[cfg(all(target_os = "linux", target_endian = "little"))]
fn restrict_calls() -> bool {
    super::calls::restrict_system_calls().is_ok()
}

#[cfg(not(all(target_os = "linux", target_endian = "little")))]
fn restrict_calls() -> bool {
    false
}

/// Lets the system kill this process when its parent ends, even if the parent is killed.
pub(super) fn end_with_parent() {
    // Without it, the closed pipe ends this process.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// Returns whether the other end of standard input is closed.
pub(super) fn has_lost_parent() -> bool {
    let stdin = rustix::stdio::stdin();
    let mut polled = [PollFd::new(&stdin, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let found = rustix::event::poll(&mut polled, Some(&at_once));
    found.is_ok() && polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

/// Closes descriptors that the parent inherited and left open. This process has opened none of them, so their
/// numbers are unknown.
fn close_inherited() {
    let list = |path: &str| OsSystem.open_dir(Path::new(path)).and_then(|names| names.entries());
    let Ok(names) = list("/proc/self/fd").or_else(|_| list("/dev/fd")) else { return };
    for name in names {
        let number = name.name.to_str().and_then(|name| name.parse::<i32>().ok());
        if let Some(number) = number.filter(|number| *number >= KEPT) {
            // One of them was the listing itself, and is closed by now.
            let _ = nix::unistd::close(number);
        }
    }
}

/// Lets the kernel refuse all files, the network, and other processes to this process.
#[cfg(target_os = "linux")]
fn refuse_files() -> Landlock {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
        RulesetStatus, Scope,
    };

    const KNOWN: ABI = ABI::V7;
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(KNOWN)))
        .and_then(|rules| rules.scope(Scope::from_all(KNOWN)))
        .and_then(Ruleset::create)
        // No rule allows anything.
        .and_then(landlock::RulesetCreated::restrict_self);
    match status.map(|status| status.ruleset) {
        Ok(RulesetStatus::FullyEnforced) => Landlock::Full,
        Ok(RulesetStatus::PartiallyEnforced) => Landlock::Partial,
        Ok(RulesetStatus::NotEnforced) | Err(_) => Landlock::Missing,
    }
}

#[cfg(not(target_os = "linux"))]
fn refuse_files() -> Landlock {
    Landlock::Missing
}

/// Returns the processor time of this process.
pub(super) fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Lets the system kill this process after `until` of processor time. The system counts in seconds, and the
/// engine's own limit comes first.
pub(super) fn end_after(until: Duration) {
    let maximum = rustix::process::getrlimit(Resource::Cpu).maximum;
    let limit = Rlimit { current: Some(until.as_secs() + 2), maximum };
    // Without it, the parent ends this process.
    let _ = rustix::process::setrlimit(Resource::Cpu, limit);
}
