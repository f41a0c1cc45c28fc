//! `cargo xtask test`: everything that a change has to pass.
//!
//! Before the tests start, it says which tools the machine lacks. It installs them where it may, and otherwise names the
//! tests that are skipped for it; `brief_testkit::tools` says what each tool is.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use brief_testkit::{TestTool, tools};
use clap::Args;

use crate::{bench, run_cargo, run_command, workspace_root};

/// Directories with tests.
const TESTED: [&str; 3] = ["crates", "fuzz", "xtask"];

/// Modules of the command line's suite that `--quick` leaves out: each starts processes by the dozen, or waits.
const SLOW_MODULES: [&str; 16] = [
    "artifact_identity",
    "artifact_trust",
    "artifacts",
    "attacks",
    "fleet",
    "hook_memory",
    "hostile",
    "install_races",
    "kill_matrix",
    "mcp",
    "mcp_gateway",
    "observed",
    "pages",
    "security",
    "task_hostile",
    "view",
];

/// Crates whose unit tests start processes and wait for them; `--quick` leaves them out.
const SLOW_CRATES: [&str; 5] =
    ["brief-agent", "brief-mcp-client", "brief-fuzz", "brief-testkit", "xtask"];

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Run unit tests and the quick tests of the command line only: needs Rust and git, and takes less than a minute
    #[arg(long)]
    quick: bool,
    /// Install missing tools with `sudo apt-get` [default: as root, with `apt-get`]
    #[arg(long, conflicts_with = "quick")]
    install: bool,
    /// Install nothing: skip the tests whose tools are missing
    #[arg(long, conflicts_with_all = ["quick", "install"])]
    no_install: bool,
}

pub(crate) fn run_tests(args: &TestArgs) -> Result<(), String> {
    if args.quick {
        return run_quick_tests();
    }
    let mut lacks = find_missing(&TestTool::ALL);
    let needs = find_needs()?;
    report_missing(&lacks, &needs);
    if !lacks.is_empty() && !args.no_install && (args.install || is_root()) {
        let missing: Vec<TestTool> = lacks.into_iter().map(|(tool, _)| tool).collect();
        install_tools(&missing);
        lacks = find_missing(&missing);
        report_missing(&lacks, &needs);
    }
    let missing: Vec<TestTool> = lacks.into_iter().map(|(tool, _)| tool).collect();
    if tools::is_ci() && !missing.is_empty() {
        return Err(format!("`CI=true`, so nothing may be skipped: {}", join_names(&missing)));
    }
    let mut skips = Skips::new(&missing)?;
    if skips.may_run(&[TestTool::Rustfmt], "cargo fmt --check") {
        run_cargo(&["fmt", "--all", "--check"])?;
    }
    if skips.may_run(&[TestTool::Typos], "cargo xtask spelling") {
        check_spelling()?;
    }
    if skips.may_run(&[TestTool::Clippy], "cargo clippy") {
        run_cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])?;
    }
    // Links between comments outlive what they lead to.
    eprintln!("+ cargo doc --workspace --no-deps");
    run_command(
        Command::new(env!("CARGO"))
            .args(["doc", "--workspace", "--no-deps", "--quiet"])
            .env("RUSTDOCFLAGS", "-D warnings")
            .envs(share_clippy_results()),
    )?;
    // A test of this crate checks the generated files.
    // Tests that start programs wait half of their time.
    let threads = 2 * std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    eprintln!("+ cargo test --workspace -- --test-threads={threads}");
    run_command(
        Command::new(env!("CARGO"))
            .args(["test", "--workspace"])
            .env("RUST_TEST_THREADS", threads.to_string())
            .env(tools::WITHOUT, skips.missing_names())
            .env(tools::SKIPPED, &skips.file),
    )?;
    if skips.may_run(&[TestTool::Python, TestTool::Valgrind], "cargo xtask instructions") {
        bench::count_instructions(false)?;
    }
    skips.print_skips()
}

/// Returns the environment in which `cargo doc` takes the crates that `cargo clippy` has just checked, instead of checking
/// each again: Cargo tells the results of the two apart by the wrapper, and Clippy by its arguments. If either form
/// changes, the crates are checked again.
fn share_clippy_results() -> Vec<(&'static str, OsString)> {
    let driver = Path::new(env!("CARGO")).with_file_name("clippy-driver");
    if !driver.is_file() {
        return Vec::new();
    }
    let arguments = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";
    vec![("RUSTC_WORKSPACE_WRAPPER", driver.into()), ("CLIPPY_ARGS", arguments.into())]
}

/// Checks the spelling of all files; `typos.toml` names what is left out.
pub(crate) fn check_spelling() -> Result<(), String> {
    eprintln!("+ typos");
    run_command(Command::new(tools::install_typos()?).current_dir(workspace_root()))
}

/// Runs what needs nothing but Rust and git, and takes less than a minute when it is built.
fn run_quick_tests() -> Result<(), String> {
    let all: Vec<TestTool> = TestTool::ALL.to_vec();
    let skips = Skips::new(&all)?;
    let mut units = vec!["test", "--quiet", "--workspace", "--lib"];
    units.extend(SLOW_CRATES.iter().flat_map(|name| ["--exclude", name]));
    let modules: Vec<String> = SLOW_MODULES.iter().map(|name| format!("{name}::")).collect();
    let mut suite = vec!["test", "--quiet", "--package", "brief-cli", "--test", "suite", "--"];
    suite.extend(modules.iter().flat_map(|name| ["--skip", name.as_str()]));
    for args in [units, suite] {
        eprintln!("+ cargo {}", args.join(" "));
        // A developer's machine is no judge of changes, whatever its environment says.
        run_command(
            Command::new(env!("CARGO"))
                .args(&args)
                .env(tools::WITHOUT, skips.missing_names())
                .env(tools::SKIPPED, &skips.file)
                .env_remove("CI"),
        )?;
    }
    skips.print_skips()?;
    eprintln!(
        "not run (`cargo xtask test` runs it): format, lints, documentation tests, generated files, instruction counts; the \
         crates {}; integration tests of the other crates; of the command line's suite: {}",
        SLOW_CRATES.join(", "),
        SLOW_MODULES.join(", ")
    );
    Ok(())
}

/// Returns the tools that are missing, each with the reason. Those of npm and pip are installed below `target` by the look.
fn find_missing(tools: &[TestTool]) -> Vec<(TestTool, String)> {
    tools.iter().filter_map(|tool| Some((*tool, tool.check_again().err()?))).collect()
}

/// Installs packages by name, components of Rust, and below `target` what npm and pip have.
fn install_tools(missing: &[TestTool]) {
    let components: Vec<&str> = missing
        .iter()
        .filter(|tool| tool.installer() == Some("rustup"))
        .map(|tool| tool.name())
        .collect();
    if !components.is_empty() && tools::find_program("rustup").is_ok() {
        // Fails where components cannot be fetched; then the ones installed have to do.
        let _ = run_shown(Command::new("rustup").args(["component", "add"]).args(components));
    }
    let packages: BTreeSet<&str> =
        missing.iter().flat_map(|tool| tool.packages().iter().copied()).collect();
    if packages.is_empty() || tools::find_program("apt-get").is_err() {
        return;
    }
    let program: &[&str] = if is_root() { &["apt-get"] } else { &["sudo", "apt-get"] };
    for args in [&["update", "-qq"][..], &["install", "-y", "-qq"]] {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).args(args).env("DEBIAN_FRONTEND", "noninteractive");
        if args[0] == "install" {
            command.args(&packages);
        }
        // A package that cannot be had is reported with the tests that need it.
        if let Err(problem) = run_shown(&mut command) {
            eprintln!("warning: {problem}");
        }
    }
}

fn run_shown(command: &mut Command) -> Result<(), String> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(std::ffi::OsStr::to_string_lossy).collect();
    eprintln!("+ {}", words.join(" "));
    run_command(command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()))
}

/// Returns whether packages may be installed without asking.
fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

fn join_names(tools: &[TestTool]) -> String {
    tools.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(", ")
}

/// Says what is missing, how to get it, and which tests are skipped without it.
fn report_missing(lacks: &[(TestTool, String)], needs: &BTreeMap<TestTool, Vec<String>>) {
    if lacks.is_empty() {
        return;
    }
    eprintln!("missing on this machine (`cargo xtask test --install` installs what it can):");
    for (tool, reason) in lacks {
        let tests = needs.get(tool).map_or(&[][..], Vec::as_slice);
        eprintln!("  {}: {reason} ({})", tool.name(), tool.hint());
        if !tests.is_empty() {
            eprintln!("    needed by {}", tests.join(", "));
        }
    }
}

/// Finds, for each tool, the tests whose first line asks for it.
fn find_needs() -> Result<BTreeMap<TestTool, Vec<String>>, String> {
    let mut needs = BTreeMap::<TestTool, Vec<String>>::new();
    let mut waiting: Vec<PathBuf> = TESTED.iter().map(|name| workspace_root().join(name)).collect();
    while let Some(directory) = waiting.pop() {
        let describe = |error| format!("{}: {error}", directory.display());
        for entry in fs::read_dir(&directory).map_err(describe)? {
            let path = entry.map_err(describe)?.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).map_err(describe)?;
                collect_needs(&path, &text, &mut needs);
            }
        }
    }
    for tests in needs.values_mut() {
        tests.sort();
    }
    Ok(needs)
}

fn collect_needs(path: &Path, text: &str, needs: &mut BTreeMap<TestTool, Vec<String>>) {
    let mut function = "";
    for line in text.lines().map(str::trim) {
        let signature = line.strip_prefix("fn ").or_else(|| line.strip_prefix("pub(crate) fn "));
        if let Some((name, _)) = signature.and_then(|rest| rest.split_once('(')) {
            function = name;
        }
        let names = line.strip_prefix("needs!(").and_then(|rest| rest.strip_suffix(");"));
        for name in names.into_iter().flat_map(|names| names.split(", ")) {
            let found = TestTool::ALL.into_iter().find(|tool| format!("{tool:?}") == name);
            let module = path.file_stem().unwrap_or_default().to_string_lossy();
            if let Some(tool) = found {
                needs.entry(tool).or_default().push(format!("{module}::{function}"));
            }
        }
    }
}

/// What was skipped, and for which tool.
struct Skips {
    missing: Vec<TestTool>,
    steps: Vec<(TestTool, String)>,
    /// Tests add their names to it.
    file: PathBuf,
}

impl Skips {
    fn new(missing: &[TestTool]) -> Result<Skips, String> {
        let file = tools::target_directory().join("skipped-tests");
        let describe = |error| format!("{}: {error}", file.display());
        fs::create_dir_all(tools::target_directory()).map_err(describe)?;
        fs::write(&file, "").map_err(describe)?;
        Ok(Skips { missing: missing.to_vec(), steps: Vec::new(), file })
    }

    fn missing_names(&self) -> String {
        self.missing.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(",")
    }

    /// Returns whether a step has the tools that it needs, and remembers it otherwise.
    fn may_run(&mut self, needed: &[TestTool], step: &str) -> bool {
        let lack = needed.iter().find(|tool| self.missing.contains(tool));
        self.steps.extend(lack.map(|tool| (*tool, format!("`{step}`"))));
        lack.is_none()
    }

    /// Counts what was skipped, by tool and by name.
    fn print_skips(&self) -> Result<(), String> {
        let text = fs::read_to_string(&self.file)
            .map_err(|error| format!("{}: {error}", self.file.display()))?;
        eprint!("{}", self.render_summary(&text));
        Ok(())
    }

    fn render_summary(&self, tests: &str) -> String {
        let steps = self.steps.iter().map(|(tool, step)| (tool.name(), step.as_str()));
        let mut skipped = BTreeMap::<&str, BTreeSet<&str>>::new();
        for (tool, name) in tests.lines().filter_map(|line| line.split_once('\t')).chain(steps) {
            skipped.entry(tool).or_default().insert(name);
        }
        let count = |from: &BTreeSet<&str>| from.len();
        let total: usize = skipped.values().map(count).sum();
        let mut summary = match total {
            0 => return "nothing skipped\n".to_owned(),
            1 => "1 skipped:\n".to_owned(),
            _ => format!("{total} skipped:\n"),
        };
        for (tool, names) in skipped {
            let list: Vec<&str> = names.iter().copied().collect();
            summary.push_str(&format!("  {tool} ({}): {}\n", names.len(), list.join(", ")));
        }
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every program of the registry is one that a test or a step asks for, by its name.
    #[test]
    fn every_tool_is_needed_by_a_test_or_a_step() {
        let needs = find_needs().unwrap();
        let steps = [TestTool::Clippy, TestTool::Rustfmt, TestTool::Typos, TestTool::Valgrind];
        for tool in TestTool::ALL {
            let is_needed = needs.contains_key(&tool) || steps.contains(&tool);
            assert!(is_needed, "nothing needs {}", tool.name());
        }
        let markdown = &needs[&TestTool::Markdownlint];
        assert!(markdown.contains(&"build::generated_files_pass_markdownlint".to_owned()));
    }

    #[test]
    fn skips_are_counted_by_tool_and_name() {
        let mut skips = Skips {
            missing: vec![TestTool::Zsh, TestTool::Valgrind],
            steps: Vec::new(),
            file: PathBuf::new(),
        };
        assert_eq!(skips.render_summary(""), "nothing skipped\n");
        assert!(skips.may_run(&[TestTool::Python], "x"));
        assert!(
            !skips.may_run(&[TestTool::Python, TestTool::Valgrind], "cargo xtask instructions")
        );
        assert_eq!(skips.missing_names(), "zsh,valgrind");
        let tests = "zsh\tbrief-cli a::b\nzsh\tbrief-cli a::c\nzsh\tbrief-cli a::b\n";
        assert_eq!(
            skips.render_summary(tests),
            "3 skipped:\n  valgrind (1): `cargo xtask instructions`\n  zsh (2): brief-cli a::b, brief-cli a::c\n"
        );
    }

    /// `--quick` names modules and crates that exist.
    #[test]
    fn what_quick_leaves_out_exists() {
        for module in SLOW_MODULES {
            let file = workspace_root().join(format!("crates/cli/tests/suite/{module}.rs"));
            assert!(file.is_file(), "{module}");
        }
        for name in SLOW_CRATES {
            let directory = name.strip_prefix("brief-").unwrap_or(name);
            let places = [format!("crates/{directory}"), directory.to_owned()];
            assert!(places.iter().any(|place| workspace_root().join(place).is_dir()), "{name}");
        }
    }
}
