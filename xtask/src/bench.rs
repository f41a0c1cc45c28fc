//! Speed, as ratios in one run.
//!
//! `bench/run.py` makes the trees, starts the programs and reads the kernel's counters; this module
//! builds the programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{build_tested_program, run_cargo, run_command, workspace_root};

/// The smallest possible Rust program.
const FLOOR: &str = "fn main() {}\n";

/// Builds the smallest program in a directory.
fn build_floor(directory: &Path) -> Result<PathBuf, String> {
    fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let source = directory.join("floor.rs");
    fs::write(&source, FLOOR).map_err(|error| format!("{}: {error}", source.display()))?;
    let floor = directory.join("floor");
    let options = ["-O", "--edition=2024", "-Clto=fat", "-Cpanic=abort", "-Cstrip=symbols"];
    run_command(Command::new("rustc").args(options).arg(&source).arg("-o").arg(&floor))?;
    Ok(floor)
}

/// Builds the program as it ships and measures it beside its peers. The page is written when all workloads were run.
pub(crate) fn compare_with_peers(only: &[String], is_quick: bool) -> Result<(), String> {
    run_cargo(&["build", "--profile", "dist", "--package", "brief-cli"])?;
    let target = workspace_root().join("target");
    let directory = target.join("compare");
    let floor = build_floor(&directory)?;
    run_command(
        Command::new("python3")
            .arg(workspace_root().join("bench").join("compare.py"))
            .args(only.iter().flat_map(|word| ["--only", word]))
            .args(is_quick.then_some("--quick"))
            .arg("--brief")
            .arg(target.join("dist").join("brief"))
            .arg("--floor")
            .arg(floor)
            .arg("--work")
            .arg(directory.join("work"))
            .arg("--peers")
            .arg(directory.join("peers"))
            .arg("--out")
            .arg(workspace_root().join("docs/dev/benchmarks.md")),
    )
}

/// Counts the instructions of the hot paths in the program that the tests use, and compares or writes them.
pub(crate) fn count_instructions(is_update: bool) -> Result<(), String> {
    let program = build_tested_program()?;
    run_command(
        Command::new("python3")
            .arg(workspace_root().join("bench").join("instructions.py"))
            .arg("--brief")
            .arg(program)
            .args(is_update.then_some("--update")),
    )
}

/// Builds the program as it ships and the smallest one, and measures both.
pub(crate) fn run_all(runs: usize) -> Result<(), String> {
    run_cargo(&["build", "--profile", "dist", "--package", "brief-cli"])?;
    let directory = workspace_root().join("target").join("bench");
    let floor = build_floor(&directory)?;
    run_cargo(&[
        "run",
        "--profile",
        "dist",
        "--package",
        "brief-syntax",
        "--example",
        "hidden-speed",
    ])?;
    run_command(
        Command::new("python3")
            .arg(workspace_root().join("bench").join("run.py"))
            .arg("--brief")
            .arg(workspace_root().join("target").join("dist").join("brief"))
            .arg("--floor")
            .arg(&floor)
            .arg("--work")
            .arg(&directory)
            .arg("--runs")
            .arg(runs.to_string()),
    )
}

/// Installs what drives a browser, and returns its Python.
fn install_playwright() -> Result<PathBuf, String> {
    let environment = workspace_root().join("target").join("playwright");
    let python = environment.join("bin").join("python");
    run_command(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let install = ["-m", "pip", "install", "--quiet", "playwright==1.*"];
    run_command(Command::new(&python).args(install))?;
    Ok(python)
}

/// Opens the site of the documentation in Chromium, at two widths.
pub(crate) fn open_site() -> Result<(), String> {
    let book = workspace_root().join("target").join("book");
    run_command(
        Command::new(install_playwright()?)
            .arg(workspace_root().join("bench").join("book.py"))
            .arg("--site")
            .arg(book.join("html"))
            .arg("--pictures")
            .arg(book.join("pictures")),
    )
}

/// Opens the pages of `brief view` in Chromium, measures them, and takes the pictures of the documentation.
pub(crate) fn open_pages() -> Result<(), String> {
    run_cargo(&["build", "--profile", "dist", "--package", "brief-cli"])?;
    let directory = workspace_root().join("target").join("view");
    fs::create_dir_all(&directory).map_err(|error| format!("target/view: {error}"))?;
    let python = install_playwright()?;
    run_command(
        Command::new("npm")
            .args(["install", "--silent", "--no-save", "--prefix"])
            .arg(&directory)
            .arg("axe-core@4"),
    )?;
    run_command(
        Command::new(&python)
            .arg(workspace_root().join("bench").join("view.py"))
            .arg("--brief")
            .arg(workspace_root().join("target").join("dist").join("brief"))
            .arg("--axe")
            .arg(directory.join("node_modules").join("axe-core").join("axe.min.js"))
            .arg("--pictures")
            .arg(workspace_root().join("docs").join("pictures")),
    )
}

/// Traces a hook and writes the order of its functions for the linker.
pub(crate) fn write_order() -> Result<(), String> {
    let build = ["build", "--profile", "dist", "--package", "brief-cli"];
    run_command(Command::new(env!("CARGO")).args(build).env("CARGO_PROFILE_DIST_STRIP", "none"))?;
    run_command(
        Command::new("python3")
            .arg(workspace_root().join("bench").join("order.py"))
            .arg("--brief")
            .arg(workspace_root().join("target").join("dist").join("brief"))
            .arg("--out")
            .arg(workspace_root().join("crates").join("cli").join("hook.ld")),
    )
}

/// Runs real clients with their hooks. The page is written when all of them were run.
pub(crate) fn run_clients(clients: &[String], shapes: &[String]) -> Result<(), String> {
    run_cargo(&["build", "--release", "--package", "brief-cli"])?;
    let target = workspace_root().join("target");
    run_command(
        Command::new("python3")
            .arg(workspace_root().join("bench").join("clients.py"))
            .args(clients)
            .args(shapes.iter().flat_map(|shape| ["--shape", shape]))
            .arg("--brief")
            .arg(target.join("release").join("brief"))
            .arg("--into")
            .arg(target.join("clients"))
            .arg("--keep")
            .arg(target.join("client-sessions"))
            .arg("--results")
            .arg(workspace_root().join("bench").join("clients.json"))
            .arg("--out")
            .arg(workspace_root().join("docs/dev/clients.md")),
    )
}

/// Runs a real client before and after its hook is installed, and draws what the terminal shows.
pub(crate) fn draw_demo() -> Result<(), String> {
    run_cargo(&["build", "--package", "brief-cli"])?;
    let target = workspace_root().join("target");
    run_command(
        Command::new("python3")
            .arg(workspace_root().join("bench").join("demo.py"))
            .arg("--brief")
            .arg(target.join("debug").join("brief"))
            .arg("--into")
            .arg(target.join("clients"))
            .arg("--out")
            .arg(workspace_root().join("docs").join("pictures").join("demo.svg")),
    )
}

/// Compares `brief lint` with clients that check their own files. The page is written when all of them were asked.
pub(crate) fn ask_oracles(clients: &[String], count: usize) -> Result<(), String> {
    run_cargo(&["build", "--release", "--package", "brief-cli"])?;
    let target = workspace_root().join("target");
    run_command(
        Command::new("python3")
            .arg(workspace_root().join("bench").join("oracles.py"))
            .args(clients.iter().flat_map(|client| ["--client", client]))
            .arg("--count")
            .arg(count.to_string())
            .arg("--brief")
            .arg(target.join("release").join("brief"))
            .arg("--into")
            .arg(target.join("clients"))
            .arg("--out")
            .arg(workspace_root().join("docs/dev/oracles.md")),
    )
}
