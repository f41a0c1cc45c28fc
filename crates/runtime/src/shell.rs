//! Runs the commands and scripts of one prompt.
//!
//! Every process starts in one directory with a few variables of our environment and an empty input, and is
//! killed with all its children when it takes too long. A failure is a value with a message for a warning: a
//! prompt is still useful without the output of one command.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use brief_syntax::limits;
use brief_system::{Call, Ending, FileOwner, OverLimit, Passed, Stream, System};

mod shebang;

/// The attempts to start a script that is still open for writing. Another thread that forks at the same
/// moment holds it open briefly.
const BUSY_TRIES: u32 = 500;

/// The pause between these attempts.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// The limits for the commands and scripts of one prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShellLimits {
    /// The time limit of one command.
    pub(crate) command: Duration,
    /// The time limit of one bootstrap script.
    pub(crate) bootstrap: Duration,
    /// The limit for the bytes that one command or script writes.
    pub(crate) output: usize,
    /// The limit for the number of commands; scripts are not counted.
    pub(crate) commands: usize,
}

impl Default for ShellLimits {
    fn default() -> Self {
        ShellLimits {
            command: Duration::from_secs(limits::COMMAND_SECONDS),
            bootstrap: Duration::from_secs(limits::BOOTSTRAP_SECONDS),
            output: limits::COMMAND_OUTPUT_BYTES,
            commands: limits::PROMPT_COMMANDS,
        }
    }
}

/// A failed command or script. Its text form is a phrase for a warning about it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunFailure {
    /// It could not be started.
    #[error("cannot start: {0}")]
    NotStarted(io::Error),
    /// It exited with a status other than 0.
    #[error("exited with status {0}")]
    Status(i32),
    /// A signal from elsewhere ended it.
    #[error("killed by a signal")]
    Killed,
    /// It exceeded the time limit.
    #[error("timed out after {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It exceeded the output limit.
    #[error("stopped after more than {0} bytes of output")]
    TooMuchOutput(usize),
    /// The prompt has reached its limit of commands.
    #[error("a prompt runs at most {0} commands")]
    TooManyCommands(usize),
    /// The user interrupted the program. Nothing runs after that.
    #[error("was interrupted")]
    Interrupted,
}

/// Runs the commands and scripts of one prompt.
pub(crate) struct Shell<'s> {
    system: &'s dyn System,
    directory: PathBuf,
    limits: ShellLimits,
    /// The variables of our environment that everything gets.
    pub(crate) passed: Passed,
    commands: usize,
    interrupted: bool,
}

impl<'s> Shell<'s> {
    /// Creates a shell that runs everything in `directory`; a relative one starts at the current directory.
    pub(crate) fn new(system: &'s dyn System, directory: &Path, limits: ShellLimits) -> Self {
        // The program's own path must not depend on the directory where it is started.
        let directory = match system.current_dir() {
            Ok(current) => current.join(directory),
            Err(_) => directory.to_owned(),
        };
        let passed = Passed::default();
        Shell { system, directory, limits, passed, commands: 0, interrupted: false }
    }

    /// Runs `sh -c TEXT` and returns its standard output unchanged. Its standard error is forwarded as it
    /// comes.
    ///
    /// Values for the command go in `env`, never in `text`, which is shell language.
    pub(crate) fn run_command(
        &mut self,
        text: &OsStr,
        env: &[(OsString, OsString)],
        on_stderr: &mut dyn FnMut(&[u8]),
    ) -> Result<Vec<u8>, RunFailure> {
        if self.commands >= self.limits.commands {
            return Err(RunFailure::TooManyCommands(self.limits.commands));
        }
        self.commands += 1;
        let call = self.build_call("sh", self.limits.command).arg("-c").arg("--").arg(text);
        let call = with_env(call, env);
        let mut stdout = Vec::new();
        self.run_call(&call, &mut |stream, piece| match stream {
            Stream::Stdout => stdout.extend_from_slice(piece),
            Stream::Stderr => on_stderr(piece),
        })?;
        Ok(stdout)
    }

    /// Runs a script that was read from the file `path`: exactly these bytes, as a private copy, so that a
    /// file that has changed since it was judged does not run. Its first line names the interpreter; without
    /// such a line, `sh` runs it. The file must be executable and must not belong to another user.
    ///
    /// `$0` is `path` in a script for a shell; other interpreters see the path of the copy. `BRIEF_SCRIPT` is
    /// `path` for all of them.
    ///
    /// Both streams go to `output`, in the order of writing. Output above the limit is dropped, with a line
    /// that says so, and the script goes on.
    pub(crate) fn run_file_script(
        &mut self,
        path: &Path,
        bytes: &[u8],
        env: &[(OsString, OsString)],
        output: &mut dyn FnMut(&[u8]),
    ) -> Result<(), RunFailure> {
        let path = self.directory.join(path);
        self.refuse_file(&path).map_err(RunFailure::NotStarted)?;
        let directory = self.system.temporary_dir().map_err(RunFailure::NotStarted)?;
        let copy = directory.path().join(path.file_name().unwrap_or(OsStr::new("script")));
        self.system.create_program(&copy, bytes).map_err(RunFailure::NotStarted)?;
        let mut env = env.to_vec();
        env.push(("BRIEF_SCRIPT".into(), path.clone().into()));
        let mut run = |shell: &mut Shell<'_>, words: &[OsString]| {
            let (program, args) = words.split_first().expect("a call names a program");
            let mut call = shell.build_call(program, shell.limits.bootstrap);
            call.args.extend_from_slice(args);
            shell.run_script(with_env(call, &env), output)
        };
        match shebang::shell_words(bytes) {
            Some(words) => run(self, &shebang::build_sourcing_call(words, &copy, &path)),
            None => match run(self, &[copy.clone().into()]) {
                Err(RunFailure::NotStarted(error)) if has_no_interpreter(&error) => {
                    run(self, &shebang::build_sourcing_call(vec!["sh".into()], &copy, &path))
                }
                ended => ended,
            },
        }
    }

    /// Runs `sh -c TEXT` as a script: both streams go to `output`, as in [`Shell::script`].
    pub(crate) fn inline_script(
        &mut self,
        text: &str,
        env: &[(OsString, OsString)],
        output: &mut dyn FnMut(&[u8]),
    ) -> Result<(), RunFailure> {
        let call = self.build_call("sh", self.limits.bootstrap).arg("-c").arg("--").arg(text);
        self.run_script(with_env(call, env), output)
    }

    /// Refuses a file that is not executable, a script of another user, which would run with our rights, and
    /// a script that would run with the rights of another user.
    fn refuse_file(&self, path: &Path) -> io::Result<()> {
        let ownership = self.system.ownership(path)?;
        let reason = if ownership.owner == FileOwner::Other {
            "belongs to another user"
        } else if ownership.sets_identity {
            "would run as another user or group"
        } else if !self.system.is_executable(path)? {
            "is not executable"
        } else {
            return Ok(());
        };
        Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
    }

    fn build_call(&self, program: impl Into<OsString>, time: Duration) -> Call {
        let call = Call::new(program, &self.directory, time, self.limits.output);
        self.passed.apply(self.system, call)
    }

    fn run_script(
        &mut self,
        mut call: Call,
        output: &mut dyn FnMut(&[u8]),
    ) -> Result<(), RunFailure> {
        let limit = self.limits.output;
        call.merge_streams = true;
        call.when_over_limit = OverLimit::Discard;
        // One byte more than the limit tells whether there was more.
        call.output_limit = limit.saturating_add(1);
        let mut written = 0;
        self.run_call(&call, &mut |_, piece| {
            let allowed = piece.len().min(limit - written);
            output(&piece[..allowed]);
            written += allowed;
            if allowed < piece.len() {
                output(format!("\n[truncated: more than {limit} bytes]\n").as_bytes());
            }
        })
    }

    fn run_call(
        &mut self,
        call: &Call,
        output: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<(), RunFailure> {
        if self.interrupted {
            return Err(RunFailure::Interrupted);
        }
        match self.start_call(call, output).map_err(RunFailure::NotStarted)? {
            Ending::Exited(0) => Ok(()),
            Ending::Exited(status) => Err(RunFailure::Status(status)),
            Ending::Killed => Err(RunFailure::Killed),
            Ending::TimedOut => Err(RunFailure::TimedOut(call.time_limit)),
            Ending::TooMuchOutput => Err(RunFailure::TooMuchOutput(call.output_limit)),
            Ending::Interrupted => {
                self.interrupted = true;
                Err(RunFailure::Interrupted)
            }
        }
    }

    fn start_call(&self, call: &Call, output: &mut dyn FnMut(Stream, &[u8])) -> io::Result<Ending> {
        for _ in 1..BUSY_TRIES {
            match self.system.run_program(call, output) {
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(BUSY_PAUSE);
                }
                ended => return ended,
            }
        }
        self.system.run_program(call, output)
    }
}

fn with_env(mut call: Call, env: &[(OsString, OsString)]) -> Call {
    call.env.extend(env.iter().cloned());
    call
}

/// Returns whether an executable file is neither a program nor names an interpreter.
#[cfg(unix)]
fn has_no_interpreter(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::NOEXEC)
}

#[cfg(not(unix))]
fn has_no_interpreter(_: &io::Error) -> bool {
    false
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
