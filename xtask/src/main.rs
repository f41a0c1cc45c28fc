//! Work on the project itself: `cargo xtask test`, `generate`, `spelling`, `names`, `bench`, `compare`, `instructions`, `clients`, `oracles`, `fuzz`, `order`, `view`,
//! `vscode`, `dist`, `release` and `book`.
#![expect(clippy::disallowed_methods, reason = "this tool works on the source tree")]
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "this tool talks to a person")]

mod bench;
mod book;
mod clients;
mod dist;
mod generate;
mod names;
mod release;
mod source;
mod test;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run all checks that a change has to pass
    Test(test::TestArgs),
    /// Write the generated files, or check that they are in sync
    Generate {
        /// Fail when a file would change, and write nothing
        #[arg(long)]
        check: bool,
    },
    /// Check that every file is in US English
    Spelling,
    /// Count names of functions that say too little, and print the worst
    Names(names::NamesArgs),
    /// Measure speed as ratios in one run
    Bench {
        /// The number of runs of each command
        #[arg(long, default_value_t = 20)]
        runs: usize,
    },
    /// Measure the program beside its peers in one run, and write docs/dev/benchmarks.md (needs python3, npm, ripgrep and 10 GB)
    Compare {
        /// Only workloads with this word in their name, and their parts of the page
        #[arg(long)]
        only: Vec<String>,
        /// Fewer rounds, and nothing above 100,000 files; the page is not written
        #[arg(long)]
        quick: bool,
    },
    /// Count the instructions of the hot paths, and fail when one is more than 3 % from bench/instructions.json (needs
    /// python3 and valgrind)
    Instructions {
        /// Write the counts anew
        #[arg(long)]
        update: bool,
    },
    /// Feed mutated conformance cases to every parser; failing inputs are saved below
    /// `target/fuzzing`
    Fuzz {
        /// The targets (`fuzz/src/targets.rs`) [default: all]
        targets: Vec<String>,
        /// Minutes for each target
        #[arg(long, default_value = "1")]
        minutes: String,
        /// Stop a target at this many executions, those of earlier runs included
        #[arg(long)]
        executions: Option<u64>,
    },
    /// Install pinned clients, run sessions of every shape with their hooks against a scripted model, and write
    /// bench/clients.json and docs/dev/clients.md (needs python3, npm and 3 GB)
    Clients {
        /// The clients, NAME or NAME@VERSION for another version than the pinned one [default: all]
        clients: Vec<String>,
        /// Only sessions of this shape, such as `resume` or `faults`; repeatable
        #[arg(long)]
        shape: Vec<String>,
    },
    /// Let pinned clients and `brief lint` judge the same mutated files, and write docs/dev/oracles.md (needs python3 and npm)
    Oracles {
        /// A client [default: all, and the page is written]
        #[arg(long)]
        client: Vec<String>,
        /// The mutations of each client, at least
        #[arg(long, default_value_t = 1000)]
        count: usize,
    },
    /// Install the dependencies of the extension for VS Code, test it against the real program and package it as
    /// `editors/vscode/briefing.vsix` (needs npm)
    Vscode,
    /// Run Claude Code with the same prompt before and after `brief hook install claude`, against a scripted model, and draw the picture of
    /// the README (needs python3 and npm)
    Demo,
    /// Open every page of `brief view` in Chromium, with axe-core, measure it, and take the pictures of docs/pictures
    /// (needs python3, npm and Debian's chromium)
    View,
    /// Build the program as it ships and make its packages: archive, `.deb`, wheel, npm, checksums, bill of materials
    Dist {
        /// Package this binary instead of building one
        #[arg(long, value_name = "FILE")]
        binary: Option<PathBuf>,
        /// The directory of the packages [default: target/packages]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Make everything that a release consists of, up to the upload, and print what is left for a person
    Release(release::ReleaseArgs),
    /// Build the documentation as a site in target/book/html (needs mdbook)
    Book {
        /// Open the site in Chromium at two widths, search it, and take pictures in target/book/pictures (needs python3 and chromium)
        #[arg(long)]
        open: bool,
    },
    /// Trace a hook and write the order of its functions for the linker (needs valgrind)
    Order,
}

fn main() -> ExitCode {
    let outcome = match Xtask::parse().task {
        Task::Test(args) => test::run_tests(&args),
        Task::Generate { check } => generate::generate_pages(check),
        Task::Spelling => test::check_spelling(),
        Task::Names(args) => names::print_names(&args),
        Task::Bench { runs } => bench::run_all(runs),
        Task::Compare { only, quick } => bench::compare_with_peers(&only, quick),
        Task::Fuzz { targets, minutes, executions } => run_fuzzer(&targets, &minutes, executions),
        Task::Clients { clients, shape } => bench::run_clients(&clients, &shape),
        Task::Oracles { client, count } => bench::ask_oracles(&client, count),
        Task::Demo => bench::draw_demo(),
        Task::View => bench::open_pages(),
        Task::Dist { binary, out } => dist::build_packages(binary.as_deref(), out.as_deref()),
        Task::Release(args) => release::prepare_release(&args),
        Task::Book { open } => {
            book::build_site().and_then(|()| if open { bench::open_site() } else { Ok(()) })
        }
        Task::Order => bench::write_order(),
        Task::Instructions { update } => bench::count_instructions(update),
        Task::Vscode => build_vscode_extension(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run_fuzzer(targets: &[String], minutes: &str, executions: Option<u64>) -> Result<(), String> {
    let executions = executions.map(|most| format!("--executions={most}"));
    let minutes = format!("--minutes={minutes}");
    let mut args = vec!["run", "--quiet", "--profile=fuzz", "--package=brief-fuzz", "--", "run"];
    args.push(&minutes);
    args.extend(executions.as_deref());
    args.extend(targets.iter().map(String::as_str));
    run_cargo(&args)
}

fn build_vscode_extension() -> Result<(), String> {
    let program = build_tested_program()?;
    // Its dependencies need no scripts of their own.
    for args in
        [&["ci", "--ignore-scripts", "--no-audit", "--no-fund"][..], &["test"], &["run", "package"]]
    {
        eprintln!("+ npm {}", args.join(" "));
        run_command(
            Command::new("npm")
                .args(args)
                .current_dir(workspace_root().join("editors/vscode"))
                .env("BRIEF", &program),
        )?;
    }
    Ok(())
}

fn run_cargo(args: &[&str]) -> Result<(), String> {
    eprintln!("+ cargo {}", args.join(" "));
    run_command(Command::new(env!("CARGO")).args(args))
}

/// Builds `brief` as the tests do, and returns its path. Cargo puts this profile into `debug`, like `dev`.
fn build_tested_program() -> Result<std::path::PathBuf, String> {
    run_cargo(&["build", "--profile", "test", "--workspace", "--bin", "brief"])?;
    Ok(workspace_root().join("target/debug/brief"))
}

fn run_command(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status =
        command.status().map_err(|error| format!("{program} cannot be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{program} failed: {status}")) }
}

/// Returns the top of the source tree.
fn workspace_root() -> &'static std::path::Path {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::Command;

    /// Returns each package of a build with its features.
    fn packages(selection: &[&str]) -> BTreeSet<String> {
        let mut tree = Command::new(env!("CARGO"));
        tree.args(["tree", "--offline", "--prefix=none", "--format={p} {f}"]).args(selection);
        let output = tree.current_dir(super::workspace_root()).output().expect("cargo is here");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).expect("names are text");
        lines.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
    }

    /// `cargo xtask test` builds this program, then the tests. A package that has other features in the two builds
    /// is built twice, and every crate above it too, which took two minutes.
    #[test]
    fn the_tests_share_the_build_of_this_program() {
        let program = packages(&["--package=xtask", "--edges=no-dev"]);
        let tests = packages(&["--workspace"]);
        assert!(program.len() > 100, "{program:?}");
        let own: Vec<&String> = program.difference(&tests).collect();
        assert!(own.is_empty(), "name their features in xtask/Cargo.toml: {own:?}");
    }
}
