//! Tests only: a project in a temporary directory, the program in an isolated environment, and its whole
//! output as one text.
#![expect(clippy::disallowed_methods, reason = "tests make real files and start the real program")]

#[cfg(unix)]
mod attack;
#[cfg(unix)]
mod chain;
pub mod conformance;
mod faulty;
mod in_process;
#[cfg(unix)]
pub mod kill;
pub mod markdownlint;
mod mcp_client;
mod mcp_process;
mod model_server;
mod real_system;
mod request;
pub mod schema;
pub mod sigstore;
#[cfg(unix)]
pub mod snapshot;
#[cfg(unix)]
mod terminal;
pub mod tools;
mod waiting;

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

#[cfg(unix)]
pub use attack::{Attack, Attacks};
#[cfg(unix)]
pub use chain::Chain;
pub use faulty::{Fault, Faulty, Lack, Refusal};
pub use in_process::{Captured, EntryPoint, Streams};
pub use markdownlint::run_markdownlint;
pub use mcp_client::TestClient;
pub use mcp_process::McpProcess;
pub use model_server::ModelServer;
pub use real_system::RealSystem;
pub use request::StubRequest;
pub use tools::TestTool;
pub use waiting::{Lifeline, PATIENCE, wait_for, wait_until};

/// The free memory that sandboxes need, in bytes.
#[cfg(target_os = "linux")]
const MEMORY: u64 = 1 << 30;

/// A project, a home directory, and a program to run in them.
pub struct Sandbox {
    directory: tempfile::TempDir,
    program: PathBuf,
    entry: Option<EntryPoint>,
    env: Vec<(String, String)>,
}

impl Sandbox {
    /// Creates an empty project for the program at `program`, in memory if the system has enough of it: writing
    /// waits for a disk, and tests have no power cut.
    pub fn new(program: impl Into<PathBuf>) -> Sandbox {
        Sandbox::create_in(program, &memory().unwrap_or_else(std::env::temp_dir))
    }

    /// Creates an empty project on the disk: for tests that refer to files by absolute paths, because memory is
    /// a directory of the system.
    pub fn on_disk(program: impl Into<PathBuf>) -> Sandbox {
        Sandbox::create_in(program, &std::env::temp_dir())
    }

    fn create_in(program: impl Into<PathBuf>, place: &Path) -> Sandbox {
        let directory = tempfile::tempdir_in(place).expect("a temporary directory can be made");
        let sandbox = Sandbox { directory, program: program.into(), entry: None, env: Vec::new() };
        fs::create_dir(sandbox.path()).expect("the directory is empty");
        fs::create_dir(sandbox.home()).expect("the directory is empty");
        sandbox
    }

    /// Lets [`Sandbox::run`] call the program as a function instead of starting a process.
    #[must_use]
    pub fn in_process(self, entry: EntryPoint) -> Sandbox {
        Sandbox { entry: Some(entry), ..self }
    }

    /// Runs the program under another name, as through a link.
    #[must_use]
    pub fn linked_as(mut self, name: &str) -> Sandbox {
        let link = self.directory.path().join(name);
        make_link(&self.program, &link);
        self.program = link;
        self
    }

    /// Sets an environment variable for all runs.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Sandbox {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes a file of the project. Creates the directories above it.
    #[must_use]
    pub fn with_file(self, path: &str, content: impl AsRef<[u8]>) -> Sandbox {
        self.write(path, content);
        self
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("directories can be made");
        }
        fs::write(path, content).expect("files can be written");
    }

    /// Reads a file of the project.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).expect("the file exists and is text")
    }

    /// Returns the project's directory, without links in it.
    pub fn path(&self) -> PathBuf {
        let directory = fs::canonicalize(self.directory.path());
        directory.expect("the directory exists").join("project")
    }

    /// Returns the path of the program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns the home directory.
    pub fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// Runs the program in the project, with nothing on standard input.
    #[must_use = "snapshot the output, or assert what it says"]
    pub fn run(&self, args: &[&str]) -> Output {
        self.run_with_input(args, "")
    }

    /// Runs the program in the project with text on standard input.
    #[must_use = "snapshot the output, or assert what it says"]
    pub fn run_with_input(&self, args: &[&str], input: impl AsRef<[u8]>) -> Output {
        self.run_in("", args, input)
    }

    /// Runs the program in a directory of the project.
    #[must_use = "snapshot the output, or assert what it says"]
    pub fn run_in(&self, directory: &str, args: &[&str], input: impl AsRef<[u8]>) -> Output {
        match self.entry {
            Some(entry) => self.call_program(entry, directory, args, input.as_ref().to_vec()),
            None => self.spawn_in(directory, args, input),
        }
    }

    /// Runs the program as [`Sandbox::run`] does, in a process of its own: for tests about a process, its
    /// descriptors, signals, memory or time.
    #[must_use = "snapshot the output, or assert what it says"]
    pub fn spawn(&self, args: &[&str]) -> Output {
        self.spawn_with_input(args, "")
    }

    /// Runs the program as [`Sandbox::run_with_input`] does, in a process of its own.
    #[must_use = "snapshot the output, or assert what it says"]
    pub fn spawn_with_input(&self, args: &[&str], input: impl AsRef<[u8]>) -> Output {
        self.spawn_in("", args, input)
    }

    /// Runs the program as [`Sandbox::run_in`] does, in a process of its own.
    #[must_use = "snapshot the output, or assert what it says"]
    pub fn spawn_in(&self, directory: &str, args: &[&str], input: impl AsRef<[u8]>) -> Output {
        let mut child =
            self.prepare_command(directory, args).spawn().expect("the program can be started");
        let mut stdin = child.stdin.take().expect("standard input is piped");
        let input = input.as_ref().to_vec();
        // A program that does not read its input must not block the test.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = self.wait_for_output(child, args);
        writer.join().expect("the writer ends");
        output
    }

    /// Runs the program as [`Sandbox::spawn_in`] does, through another program, such as one that takes privileges away.
    /// `None` if there is no such program.
    pub fn spawn_through(&self, other: &[&str], directory: &str, args: &[&str]) -> Option<Output> {
        let (name, options) = other.split_first()?;
        let output = Command::new(name)
            .args(options)
            .arg(&self.program)
            .args(args)
            .current_dir(self.path().join(directory))
            .env_clear()
            .envs(self.variables())
            .stdin(Stdio::null())
            .output()
            .ok()?;
        Some(self.create_output(&output.stdout, &output.stderr, output.status.code()))
    }

    /// Waits for the end of a run, up to the time limit.
    fn wait_for_output(&self, child: Child, args: &[&str]) -> Output {
        let id = child.id();
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        let Ok(output) = receiver.recv_timeout(PATIENCE) else {
            send_signal("TERM", id);
            panic!("{args:?} is still running after {} s", PATIENCE.as_secs());
        };
        let output = output.expect("the program ends");
        self.create_output(&output.stdout, &output.stderr, output.status.code())
    }

    fn create_output(&self, stdout: &[u8], stderr: &[u8], code: Option<i32>) -> Output {
        let path = self.path();
        let clean = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes).replace(&*path.to_string_lossy(), "$PROJECT")
        };
        Output { stdout: clean(stdout), stderr: clean(stderr), code }
    }

    /// Returns the environment of a run.
    fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let home = self.home().to_string_lossy().into_owned();
        let fixed = [
            ("HOME", home.as_str()),
            ("PATH", "/usr/bin:/bin"),
            ("COLUMNS", "100"),
            ("LC_ALL", "C.UTF-8"),
            ("TZ", "UTC"),
            // Many tests run at once on busy machines, and the hook's answers must not depend on that.
            ("BRIEF_HOOK_DEADLINE", "60000"),
        ];
        let fixed = fixed.map(|(name, value)| (name.to_owned(), value.to_owned()));
        fixed.into_iter().chain(self.env.iter().cloned())
    }
}

impl Sandbox {
    /// Returns a prepared command, for tests that need the process itself.
    pub fn prepare_command(&self, directory: &str, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .current_dir(self.path().join(directory))
            .env_clear()
            .envs(self.variables())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Creates a symbolic link in the project.
    #[must_use]
    pub fn with_link(self, path: &str, target: impl AsRef<Path>) -> Sandbox {
        let path = self.path().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("directories can be made");
        }
        make_link(target.as_ref(), &path);
        self
    }

    /// Creates a directory of the project.
    #[must_use]
    pub fn with_dir(self, path: &str) -> Sandbox {
        fs::create_dir_all(self.path().join(path)).expect("directories can be made");
        self
    }

    /// Returns a directory beside the project, from which nothing may be read.
    pub fn outside_directory(&self) -> PathBuf {
        let outside = self.path().with_file_name("outside");
        fs::create_dir_all(&outside).expect("directories can be made");
        outside
    }
}

/// Returns a directory in memory that is large enough and from which programs can be started.
#[cfg(target_os = "linux")]
fn memory() -> Option<PathBuf> {
    let memory = PathBuf::from("/dev/shm");
    let found = rustix::fs::statvfs(&memory).ok()?;
    let is_large = found.f_bavail.saturating_mul(found.f_frsize) >= MEMORY;
    let is_fit = is_large && !found.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC);
    (is_fit && tempfile::tempdir_in(&memory).is_ok()).then_some(memory)
}

#[cfg(not(target_os = "linux"))]
fn memory() -> Option<PathBuf> {
    None
}

/// The output and exit code of a run. Its text form shows all of it, for snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
}

impl Output {
    /// Replaces `$PROJECT` by the real path of the project.
    #[must_use]
    pub(crate) fn with_project(mut self, path: &Path) -> Output {
        for text in [&mut self.stdout, &mut self.stderr] {
            *text = text.replace("$PROJECT", &path.to_string_lossy());
        }
        self
    }

    /// Parses standard output as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("not JSON: {error}\n{self}"))
    }
}

impl fmt::Display for Output {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.stdout)?;
        if !self.stderr.is_empty() {
            write!(formatter, "------- stderr -------\n{}", self.stderr)?;
        }
        match self.code {
            Some(0) => {}
            Some(code) => writeln!(formatter, "[exit status: {code}]")?,
            None => writeln!(formatter, "[ended by a signal]")?,
        }
        write!(formatter, "[EOF]")
    }
}

/// Creates a named pipe: reading it would wait for ever.
pub fn make_fifo(path: &Path) {
    let status = Command::new("mkfifo").arg(path).status().expect("mkfifo can be started");
    assert!(status.success());
}

/// Sends a signal to a process. The shell does it, because the program `kill` is a package of its own.
pub fn send_signal(name: &str, process: u32) {
    let line = format!("kill -{name} {process}");
    let status = Command::new("sh").args(["-c", &line]).status().expect("sh can be started");
    assert!(status.success(), "{line}");
}

/// Writes a program that this process will start. Another process writes it: a file that this one has open for writing is
/// open in every child that another thread starts meanwhile, and the system refuses to start it ("Text file busy").
pub fn write_program(path: &Path, text: impl AsRef<[u8]>) {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).expect("directories can be made");
    }
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", "rm -f \"$0\"; cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped());
    let mut writer = shell.spawn().expect("sh can be started");
    let mut stdin = writer.stdin.take().expect("standard input is piped");
    stdin.write_all(text.as_ref()).expect("the shell reads");
    drop(stdin);
    assert!(writer.wait().expect("the shell ends").success(), "{}", path.display());
}

/// Creates a symbolic link at `path`; on systems without links, a copy.
pub fn make_link(target: &Path, path: &Path) {
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, path).expect("a link can be made");
    #[cfg(not(unix))]
    fs::copy(target, path).expect("the file can be copied");
}

/// Replaces every text of a JSON value, the keys of objects among them.
fn with_texts(value: &serde_json::Value, replace: &dyn Fn(&str) -> String) -> serde_json::Value {
    use serde_json::Value;

    match value {
        Value::String(text) => replace(text).into(),
        Value::Array(list) => list.iter().map(|item| with_texts(item, replace)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, item)| (replace(name), with_texts(item, replace))).collect()
        }
        other => other.clone(),
    }
}
