//! A time limit for the whole process.
//!
//! A client waits for its hook, so a hook must end in time whatever it is doing: reading from a pipe that stays
//! open, or from a disk that does not answer. A timer of the kernel does that for two system calls. A thread
//! that waits costs a stack and a second heap, a tenth of a hook's memory, and is only the second choice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Ends this process with exit code 0 when its time is up, unless it is lifted before.
///
/// What was not written by then is lost.
#[derive(Debug)]
pub struct Deadline {
    is_armed: Arc<AtomicBool>,
    #[cfg(target_os = "linux")]
    _timer: Option<nix::sys::timer::Timer>,
}

impl Deadline {
    /// Starts the clock.
    pub fn start(limit: Duration) -> Deadline {
        let is_armed = Arc::new(AtomicBool::new(true));
        #[cfg(target_os = "linux")]
        {
            let timer = start_timer(limit, &is_armed).ok();
            if timer.is_none() {
                start_thread(limit, Arc::clone(&is_armed));
            }
            Deadline { is_armed, _timer: timer }
        }
        #[cfg(not(target_os = "linux"))]
        {
            start_thread(limit, Arc::clone(&is_armed));
            Deadline { is_armed }
        }
    }

    /// Lifts the limit.
    pub fn lift(self) {
        self.is_armed.store(false, Ordering::SeqCst);
    }
}

#[cfg(target_os = "linux")]
fn start_timer(
    limit: Duration,
    is_armed: &Arc<AtomicBool>,
) -> std::io::Result<nix::sys::timer::Timer> {
    use nix::sys::signal::{SigEvent, SigSet, SigevNotify, Signal};
    use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
    use nix::time::ClockId;

    signal_hook::flag::register_conditional_shutdown(
        signal_hook::consts::SIGALRM,
        0,
        Arc::clone(is_armed),
    )?;
    // A client may have started us with the signal blocked.
    SigSet::from(Signal::SIGALRM).thread_unblock()?;
    let event = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGALRM, si_value: 0 });
    let mut timer = Timer::new(ClockId::CLOCK_MONOTONIC, event)?;
    timer.set(Expiration::OneShot(limit.into()), TimerSetTimeFlags::empty())?;
    Ok(timer)
}

#[expect(clippy::exit, reason = "the main thread may wait for the system and cannot return")]
fn start_thread(limit: Duration, is_armed: Arc<AtomicBool>) {
    let wait = move || {
        thread::sleep(limit);
        if is_armed.load(Ordering::SeqCst) {
            std::process::exit(0);
        }
    };
    // Without a thread there is no limit, and still an answer.
    let _ = thread::Builder::new().name("deadline".to_owned()).spawn(wait);
}
