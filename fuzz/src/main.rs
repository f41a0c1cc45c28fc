//! The mutation fuzzer as a program; `cargo xtask fuzz` builds and starts it.
#![expect(clippy::disallowed_methods, reason = "this tool starts itself and keeps a record")]
#![expect(clippy::print_stdout, reason = "this tool talks to a person")]

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use brief_fuzz::campaign::{self, Budget};
use brief_fuzz::target::{Backing, Target};
use brief_fuzz::targets::{self, TARGETS};
use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
struct Fuzz {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run targets, one after the other
    Run {
        /// The targets [default: all]
        targets: Vec<String>,
        /// Minutes for each target
        #[arg(long, default_value_t = 1.0)]
        minutes: f64,
        /// Stop a target at this many executions, those of earlier runs included
        #[arg(long, default_value_t = u64::MAX)]
        executions: u64,
    },
    /// Run some inputs in this process
    #[command(hide = true)]
    Worker { target: String, from: u64, to: u64, findings: PathBuf, note: Option<PathBuf> },
}

fn main() -> ExitCode {
    let outcome = match Fuzz::parse().task {
        Task::Run { targets, minutes, executions } => {
            run_targets(&targets, Duration::from_secs_f64(minutes * 60.0), executions)
        }
        Task::Worker { target, from, to, findings, note } => match targets::by_name(&target) {
            Some(target) => {
                campaign::run_inputs(target, from, to, &findings, note.as_deref());
                Ok(true)
            }
            None => Ok(false),
        },
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run_targets(names: &[String], time: Duration, most: u64) -> io::Result<bool> {
    let mut chosen: Vec<&Target> = Vec::new();
    for name in names {
        let Some(target) = targets::by_name(name) else {
            let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            println!("error: there is no target `{name}`; there are {}", known.join(", "));
            return Ok(false);
        };
        chosen.push(target);
    }
    if chosen.is_empty() {
        chosen.extend(TARGETS);
    }
    let program = std::env::current_exe()?;
    let mut clean = true;
    for target in chosen {
        let findings = campaign::findings_of(target);
        fs::create_dir_all(&findings)?;
        let record = findings.join("executions");
        let before = read_executed_count(&record);
        let left = most.saturating_sub(before);
        let started = Instant::now();
        let budget = Budget { time, executions: left };
        let outcome = campaign::run_target(&program, target, before, budget, &findings)?;
        let total = before + outcome.executions;
        fs::write(&record, total.to_string())?;
        println!(
            "{:<18} {:<8} {:>12} executions ({total} in all) in {:.0} s, {} findings",
            target.name,
            match target.backing {
                Backing::Own => "own",
                Backing::Library => "library",
            },
            outcome.executions,
            started.elapsed().as_secs_f64(),
            outcome.findings.len(),
        );
        let distinct: BTreeSet<&PathBuf> = outcome.findings.iter().collect();
        for path in distinct {
            println!("  {}", path.display());
        }
        clean &= outcome.findings.is_empty();
    }
    Ok(clean)
}

/// Returns the number of inputs in earlier runs, so that the next run makes other ones.
fn read_executed_count(record: &Path) -> u64 {
    fs::read_to_string(record).ok().and_then(|text| text.trim().parse().ok()).unwrap_or_default()
}
