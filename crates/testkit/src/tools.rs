//! Tools that tests need besides Rust and git, and what becomes of a test on a machine that lacks one.
//!
//! A test names its tools in its first line: `needs!(Chromium);`. Without them it ends there, as skipped: it says so on
//! standard error and, for the total of `cargo xtask test`, in a file. On a machine that sets `CI=true` it fails instead,
//! because a check that did not run has found nothing.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::markdownlint;

/// The variable with the names of tools that count as missing, separated by commas. `cargo xtask test` sets it to what it
/// did not find, so that no test looks again.
pub const WITHOUT: &str = "BRIEF_TESTS_WITHOUT";

/// The variable with the file that gets a line for each skipped test.
pub const SKIPPED: &str = "BRIEF_TESTS_SKIPPED";

/// The version of pre-commit that pip installs.
const PRE_COMMIT: &str = "4.7.0";

/// The version of typos that pip installs.
const TYPOS: &str = "1.52.0";

/// The version of the official SDK of MCP for Python that pip installs.
pub const MCP_SDK: &str = "mcp==2.3.0";

/// Something that tests need besides Rust and git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestTool {
    /// The browser of the ability `browser`.
    Chromium,
    /// The linter of Rust.
    Clippy,
    /// Downloads releases in the install script.
    Curl,
    /// An OCI registry on this machine.
    DockerRegistry,
    /// Installs the Debian package.
    Dpkg,
    /// Reads its completion script.
    Fish,
    /// Reads the manual of the Debian package.
    Man,
    /// Checks generated Markdown.
    Markdownlint,
    /// The official SDK of MCP for Python.
    McpSdk,
    /// `unshare`, where the system allows namespaces of users and mounts.
    Namespaces,
    /// An editor for the language server.
    Neovim,
    /// Runs the patterns of the Renovate preset.
    Node,
    /// Installs the npm packages.
    Npm,
    /// Runs the hooks of pre-commit.
    PreCommit,
    /// Python 3.
    Python,
    /// The formatter of Rust.
    Rustfmt,
    /// Watches and kills at system calls.
    Strace,
    /// Checks spelling.
    Typos,
    /// Counts instructions.
    Valgrind,
    /// Python's virtual environments, with pip.
    Venv,
    /// Reads its completion script.
    Zsh,
}

impl TestTool {
    /// All tools, those first that others are installed with.
    pub const ALL: [TestTool; 21] = [
        TestTool::Rustfmt,
        TestTool::Clippy,
        TestTool::Chromium,
        TestTool::Curl,
        TestTool::DockerRegistry,
        TestTool::Dpkg,
        TestTool::Fish,
        TestTool::Man,
        TestTool::Namespaces,
        TestTool::Neovim,
        TestTool::Node,
        TestTool::Npm,
        TestTool::Python,
        TestTool::Strace,
        TestTool::Valgrind,
        TestTool::Venv,
        TestTool::Zsh,
        TestTool::Markdownlint,
        TestTool::McpSdk,
        TestTool::PreCommit,
        TestTool::Typos,
    ];

    /// Returns the name that people know it by.
    pub fn name(self) -> &'static str {
        match self {
            TestTool::Chromium => "chromium",
            TestTool::Clippy => "clippy",
            TestTool::Curl => "curl",
            TestTool::DockerRegistry => "docker-registry",
            TestTool::Dpkg => "dpkg",
            TestTool::Fish => "fish",
            TestTool::Man => "man",
            TestTool::Markdownlint => "markdownlint-cli2",
            TestTool::McpSdk => "mcp",
            TestTool::Namespaces => "unshare",
            TestTool::Neovim => "nvim",
            TestTool::Node => "node",
            TestTool::Npm => "npm",
            TestTool::PreCommit => "pre-commit",
            TestTool::Python => "python3",
            TestTool::Rustfmt => "rustfmt",
            TestTool::Strace => "strace",
            TestTool::Typos => "typos",
            TestTool::Valgrind => "valgrind",
            TestTool::Venv => "python3-venv",
            TestTool::Zsh => "zsh",
        }
    }

    /// Returns the packages of Debian that contain it.
    pub fn packages(self) -> &'static [&'static str] {
        match self {
            TestTool::Chromium => &["chromium"],
            TestTool::Curl => &["curl"],
            TestTool::DockerRegistry => &["docker-registry"],
            TestTool::Dpkg => &["dpkg"],
            TestTool::Fish => &["fish"],
            TestTool::Man => &["man-db"],
            TestTool::Namespaces => &["util-linux"],
            TestTool::Neovim => &["neovim"],
            TestTool::Node => &["nodejs"],
            TestTool::Npm => &["nodejs", "npm"],
            TestTool::Python => &["python3"],
            TestTool::Strace => &["strace"],
            TestTool::Valgrind => &["valgrind"],
            TestTool::Venv => &["python3", "python3-venv"],
            TestTool::Zsh => &["zsh"],
            TestTool::Clippy
            | TestTool::Markdownlint
            | TestTool::McpSdk
            | TestTool::PreCommit
            | TestTool::Rustfmt
            | TestTool::Typos => &[],
        }
    }

    /// Returns what it is installed with, for a tool that is in no package.
    pub fn installer(self) -> Option<&'static str> {
        match self {
            TestTool::Clippy | TestTool::Rustfmt => Some("rustup"),
            TestTool::Markdownlint => Some("npm"),
            TestTool::McpSdk | TestTool::PreCommit | TestTool::Typos => Some("pip"),
            _ => None,
        }
    }

    /// Returns how a person gets it.
    pub fn hint(self) -> String {
        match self {
            TestTool::Namespaces => "namespaces of users have to be allowed".to_owned(),
            TestTool::Clippy | TestTool::Rustfmt => format!("rustup component add {}", self.name()),
            TestTool::Markdownlint => "npm installs it; it needs Node.js 20 or newer".to_owned(),
            TestTool::McpSdk | TestTool::PreCommit | TestTool::Typos => {
                "pip installs it into a virtual environment below `target`".to_owned()
            }
            _ => format!("apt-get install {}", self.packages().join(" ")),
        }
    }

    /// Looks for it. Tools that npm and pip install are installed below `target` by this call.
    ///
    /// # Errors
    ///
    /// Returns the reason why it cannot be used.
    pub fn check_available(self) -> Result<(), String> {
        static FOUND: LazyLock<Mutex<BTreeMap<TestTool, Result<(), String>>>> =
            LazyLock::new(Mutex::default);
        let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        found.entry(self).or_insert_with(|| self.check_again()).clone()
    }

    /// Looks for it again, whatever was found before.
    ///
    /// # Errors
    ///
    /// Returns the reason why it cannot be used.
    pub fn check_again(self) -> Result<(), String> {
        if env::var(WITHOUT).is_ok_and(|names| names.split(',').any(|name| name == self.name())) {
            return Err(format!("`{WITHOUT}` names it"));
        }
        match self {
            // The program looks for a browser only where packages put it.
            TestTool::Chromium => {
                let is_there = Path::new("/usr/bin/chromium").exists();
                is_there.then_some(()).ok_or_else(|| "no `/usr/bin/chromium`".to_owned())
            }
            TestTool::Clippy => try_command(Command::new("cargo").args(["clippy", "--version"])),
            TestTool::Rustfmt => try_command(Command::new("cargo").args(["fmt", "--version"])),
            TestTool::Namespaces => try_command(Command::new("unshare").args([
                "--map-root-user",
                "--mount",
                "mount",
                "-t",
                "tmpfs",
                "none",
                "/etc",
            ])),
            TestTool::Venv => {
                try_command(Command::new("python3").args(["-c", "import ensurepip, venv"]))
            }
            TestTool::Markdownlint => markdownlint::find_markdownlint().map(drop),
            TestTool::McpSdk => python_with_sdk().map(drop),
            TestTool::PreCommit => pre_commit().map(drop),
            TestTool::Typos => install_typos().map(drop),
            program => find_program(program.name()).map(drop),
        }
    }
}

/// Ends a test here, as skipped, on a machine without the tools that it needs.
#[macro_export]
macro_rules! needs {
    ($($tool:ident),+ $(,)?) => {{
        fn here() {}
        let test = std::any::type_name_of_val(&here);
        if $crate::tools::is_skipped(&[$($crate::TestTool::$tool),+], env!("CARGO_PKG_NAME"), test) {
            return;
        }
    }};
}

/// Returns whether a test cannot run here, after saying so. `place` is the path of a function within the test.
///
/// # Panics
///
/// Where `CI=true`: there, a skipped test is a failure.
pub fn is_skipped(tools: &[TestTool], package: &str, place: &str) -> bool {
    let missing =
        tools.iter().find_map(|tool| tool.check_available().err().map(|reason| (*tool, reason)));
    let Some((tool, reason)) = missing else { return false };
    let test = place.strip_suffix("::here").unwrap_or(place);
    let test = test.split_once("::").map_or(test, |(_, test)| test);
    let name = tool.name();
    assert!(!is_ci(), "`{name}` is missing and `CI=true`: {reason} ({})", tool.hint());
    // The harness shows what a passed test prints only if it is written like this.
    let note = format!("skipped {package} {test}: needs `{name}` ({})\n", tool.hint());
    let _ = std::io::stderr().write_all(note.as_bytes());
    if let Some(path) = env::var_os(SKIPPED) {
        let file = OpenOptions::new().create(true).append(true).open(path);
        // One write, because tests of other threads and programs append, too.
        let line = format!("{name}\t{package} {test}\n");
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the list can be written");
    }
    true
}

/// Returns whether this machine checks changes for others, where a check that is left out counts as failed.
pub fn is_ci() -> bool {
    env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// Returns the path of a program: where `PATH` says, or where packages put programs.
///
/// # Errors
///
/// Returns a sentence that names the program.
pub fn find_program(name: &str) -> Result<PathBuf, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories = env::split_paths(&path).chain(["/usr/bin".into(), "/bin".into()]);
    let mut places = directories.map(|directory| directory.join(name));
    places.find(|place| place.is_file()).ok_or_else(|| format!("no program `{name}` on `PATH`"))
}

/// Returns the directory of what is built and installed for tests.
pub fn target_directory() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let workspace = workspace.expect("this crate is two directories below the workspace");
    match env::var_os("CARGO_TARGET_DIR") {
        Some(target) => workspace.join(target),
        None => workspace.join("target"),
    }
}

/// Returns a Python that has the official SDK of MCP. Installs it below `target`, once.
///
/// # Errors
///
/// Returns what pip says.
pub fn python_with_sdk() -> Result<PathBuf, String> {
    install_with_pip(&target_directory().join("mcp-client"), MCP_SDK)?;
    Ok(target_directory().join("mcp-client/bin/python"))
}

/// Returns pre-commit. Installs it below `target`, once.
///
/// # Errors
///
/// Returns what pip says.
pub fn pre_commit() -> Result<PathBuf, String> {
    install_with_pip(&target_directory().join("pre-commit"), &format!("pre-commit=={PRE_COMMIT}"))?;
    Ok(target_directory().join("pre-commit/bin/pre-commit"))
}

/// Returns typos. Installs it below `target`, once.
///
/// # Errors
///
/// Returns what pip says.
pub fn install_typos() -> Result<PathBuf, String> {
    install_with_pip(&target_directory().join("typos"), &format!("typos=={TYPOS}"))?;
    Ok(target_directory().join("typos/bin/typos"))
}

/// Creates a virtual environment with one package, unless it is there.
fn install_with_pip(environment: &Path, package: &str) -> Result<(), String> {
    let describe = |error| format!("`{}`: {error}", environment.display());
    fs::create_dir_all(environment).map_err(describe)?;
    // Test programs run in parallel, and the first one installs for all.
    let lock = File::create(environment.with_extension("lock")).map_err(describe)?;
    lock.lock().map_err(describe)?;
    let done = environment.join("installed");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == package)
        && try_command(Command::new(environment.join("bin/python")).arg("--version")).is_ok()
    {
        return Ok(());
    }
    let mut venv = Command::new("python3");
    try_command(venv.args(["-m", "venv", "--clear"]).arg(environment))?;
    let mut pip = Command::new(environment.join("bin/pip"));
    try_command(pip.args(["install", "--quiet", "--disable-pip-version-check", package]))?;
    fs::write(done, package).map_err(describe)
}

/// Runs a command that only has to succeed.
fn try_command(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    Err(format!("`{program}` failed, {}: {last}", output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tools_are_listed_once_and_can_be_installed() {
        let mut names: Vec<&str> = TestTool::ALL.iter().map(|tool| tool.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TestTool::ALL.len());
        for tool in TestTool::ALL {
            assert_ne!(tool.packages().is_empty(), tool.installer().is_none(), "{}", tool.name());
        }
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let problem = find_program("no-such-program").expect_err("there is no such program");
        assert_eq!(problem, "no program `no-such-program` on `PATH`");
        assert!(find_program("sh").is_ok());
    }
}
