//! The mutation fuzzer: a worker process that makes and runs inputs, and a parent that survives it.
//!
//! The worker ends by itself when an input computes for too long, and the system ends it when an
//! input takes too much memory or stack. The parent finds the input by running the batch once more
//! with a note of each.

use std::fs;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::mutate;
use crate::seeds::{self, Seed};
use crate::target::Target;
use crate::{UNIT_BYTES, UNIT_SECONDS, crate_directory};

/// The exit code of a worker whose input computed for too long.
const TOO_SLOW: u8 = 77;

/// The number of inputs per worker.
const BATCH: u64 = 250_000;

/// The memory of the program itself, the code of all parsers included, in bytes.
const PROGRAM_BYTES: u64 = 192 * 1024 * 1024;

/// The limits of a campaign.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// The longest duration.
    pub time: Duration,
    /// The largest number of inputs.
    pub executions: u64,
}

/// The result of a campaign.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The number of inputs that were run.
    pub executions: u64,
    /// The saved inputs that failed.
    pub findings: Vec<PathBuf>,
}

/// Returns the seeds of a target, with the inputs found for it earlier.
pub fn seeds_of(target: &Target, all: &[Seed]) -> Vec<Vec<u8>> {
    let chosen = all.iter().filter(|seed| (target.seed)(&seed.path));
    let mut list: Vec<Vec<u8>> = chosen.map(|seed| seed.content.clone()).collect();
    list.extend(target.own_seeds.iter().map(|seed| seed.as_bytes().to_vec()));
    list.extend(seeds::read_found_inputs(target.name).into_iter().map(|(_, content)| content));
    list
}

/// Runs a target from input number `first` on, in workers of the program at `program`.
pub fn run_target(
    program: &Path,
    target: &Target,
    first: u64,
    budget: Budget,
    findings: &Path,
) -> io::Result<Outcome> {
    let started = Instant::now();
    let mut outcome = Outcome::default();
    let mut next = first;
    let last = first.saturating_add(budget.executions);
    // A target that fails at every other input is known by now.
    while next < last && started.elapsed() < budget.time && outcome.findings.len() < 20 {
        let end = last.min(next + BATCH);
        let worker = worker_of(program, target, next, end, findings);
        if { worker }.status()?.success() {
            outcome.executions += end - next;
            next = end;
            continue;
        }
        let note = findings.join("current");
        let traced = worker_of(program, target, next, end, findings).arg(&note).status()?;
        let index = fs::read_to_string(&note).ok().and_then(|text| text.parse::<u64>().ok());
        let index = index.unwrap_or(next);
        if !traced.success() {
            let mut buffer = Vec::new();
            let seeds = seeds_of(target, &seeds::read_all_seeds());
            mutate::create_input(&seeds, target.dictionary, index, target.longest, &mut buffer);
            outcome.findings.push(save_input(findings, &buffer)?);
        }
        outcome.executions += index + 1 - next;
        next = index + 1;
    }
    for entry in fs::read_dir(findings)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "panic") {
            outcome.findings.push(path);
        }
    }
    Ok(outcome)
}

fn worker_of(program: &Path, target: &Target, from: u64, to: u64, findings: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("worker").arg(target.name).arg(from.to_string()).arg(to.to_string()).arg(findings);
    command
}

/// Runs the inputs `from..to` in this process, within the limits of one input. Panics are saved and
/// skipped; everything else ends the process.
pub fn run_inputs(target: &Target, from: u64, to: u64, findings: &Path, note: Option<&Path>) {
    let seeds = seeds_of(target, &seeds::read_all_seeds());
    let room = Some(UNIT_BYTES + PROGRAM_BYTES);
    // On a system without this limit, the one for time holds.
    let _ = rustix::process::setrlimit(Resource::As, Rlimit { current: room, maximum: room });
    panic::set_hook(Box::new(|_| {}));
    let current = Arc::new(AtomicU64::new(from));
    watch_time(Arc::clone(&current));
    let mut buffer = Vec::with_capacity(target.longest * 2);
    for index in from..to {
        current.store(index, Ordering::Relaxed);
        if let Some(note) = note {
            let _ = fs::write(note, index.to_string());
        }
        mutate::create_input(&seeds, target.dictionary, index, target.longest, &mut buffer);
        let run = AssertUnwindSafe(|| (target.run)(&buffer));
        if panic::catch_unwind(run).is_err()
            && let Ok(path) = save_input(findings, &buffer)
        {
            let _ = fs::rename(&path, path.with_extension("panic"));
        }
    }
}

/// Ends the process when one input computes for more than a second. The time of other processes
/// does not count.
fn watch_time(current: Arc<AtomicU64>) {
    std::thread::spawn(move || {
        let (mut index, mut since) = (u64::MAX, Duration::ZERO);
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let (now, computed) = (current.load(Ordering::Relaxed), cpu_time());
            if now != index {
                (index, since) = (now, computed);
            } else if computed.saturating_sub(since) > Duration::from_secs(UNIT_SECONDS) {
                #[expect(
                    clippy::exit,
                    reason = "the thread that computes cannot be stopped otherwise"
                )]
                std::process::exit(i32::from(TOO_SLOW));
            }
        }
    });
}

/// Returns the CPU time of this process.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(u64::try_from(time.tv_sec).unwrap_or_default(), nanoseconds)
}

/// Saves an input under the hash of its bytes.
fn save_input(findings: &Path, input: &[u8]) -> io::Result<PathBuf> {
    let path = findings.join(&brief_system::hash::sha256(input)[..16]);
    fs::write(&path, input)?;
    Ok(path)
}

/// Returns the directory for the findings of a run: outside the source tree, until a person has
/// reviewed them.
pub fn findings_of(target: &Target) -> PathBuf {
    crate_directory().with_file_name("target").join("fuzzing").join(target.name)
}
