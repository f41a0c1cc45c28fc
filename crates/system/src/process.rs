//! Programs: starting one, with limits on its time and its output.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Interruption, unsupported_error};

/// The programs that run for us, and this one.
pub trait Processes: Send + Sync {
    /// Tells that the user works in a directory: no program is taken from the project around it.
    fn work_in(&self, _directory: &Path) {}

    /// Starts a program and waits for its end; what it writes is handed on as it comes.
    ///
    /// An error means that it did not start.
    fn run_program(
        &self,
        _call: &Call,
        _output: &mut dyn FnMut(Stream, &[u8]),
    ) -> io::Result<Ending> {
        unsupported_error("this system cannot start programs")
    }

    /// Starts a program that runs beside us, with pipes to its standard input and from its standard
    /// output. [`Call::input`] and the limits of the call are for [`Processes::run_program`] and do not count.
    fn start_program(&self, _call: &Call) -> io::Result<Box<dyn Companion>> {
        unsupported_error("this system cannot start programs")
    }

    /// Starts a program with our standard input as its descriptor 3 and our standard output as its descriptor
    /// 4, waits until it or our own parent has ended, removes `directory` and ends this process, with all that the
    /// program has started. An error means that it did not start.
    fn supervise_program(&self, _call: &Call, _directory: &Path) -> io::Result<()> {
        unsupported_error("this system cannot start programs")
    }

    /// Starts a program with our streams in our process group, and waits for its end; a signal that ends it ends us, too.
    /// When the process that started us, `parent`, ends first, the whole group is killed. An error means that the program
    /// did not start.
    fn run_for(&self, _parent: u32, _call: &Call) -> io::Result<Ending> {
        unsupported_error("this system cannot start programs")
    }

    /// Becomes a program, with our streams, environment, directory and terminal; the program is a path, or a name to look up
    /// in the directories of `PATH` outside the project. Where a process cannot become another program, it waits for the end
    /// and returns the exit code. An error means that the program did not start.
    fn hand_over(&self, _program: &OsStr, _args: &[OsString]) -> io::Result<u8> {
        unsupported_error("this system cannot start programs")
    }

    /// Starts a program of the user's own at the terminal that we are at, gives it a text, and waits for its
    /// end: a pager.
    fn show_in_pager(&self, _command: &OsStr, _text: &[u8]) -> io::Result<()> {
        unsupported_error("this system has no terminal")
    }

    /// Returns a path that starts this very program again.
    fn own_program(&self) -> io::Result<PathBuf> {
        unsupported_error("this program has no file here")
    }

    /// Returns the flag that ^C raises. From now on ^C does nothing else: the caller ends by itself
    /// when the flag is raised.
    fn interruption(&self) -> io::Result<Interruption> {
        Ok(Interruption::default())
    }
}

/// A program to start. Its standard input is [`Call::input`].
#[derive(Debug, Clone)]
pub struct Call {
    /// The program: a path, or a name to look up in the directories of `PATH` outside the project.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The directory to start it in.
    pub directory: PathBuf,
    /// Its environment before [`Call::env`].
    pub environment: Environment,
    /// Environment variables to set.
    pub env: Vec<(OsString, OsString)>,
    /// The `PATH` to look programs up in, if it is not that of this process. The program gets as much of it
    /// as leads outside the project, unless [`Call::env`] sets another.
    pub search_path: Option<OsString>,
    /// Its standard input; mostly nothing.
    pub input: Vec<u8>,
    /// True if both output streams are one, in the order of writing. They arrive as
    /// [`Stream::Stdout`].
    pub merge_streams: bool,
    /// True if the standard error of a [`Companion`] is kept for [`Companion::take_errors`].
    pub keep_errors: bool,
    /// The time limit.
    pub time_limit: Duration,
    /// Bytes of its output that are handed on.
    pub output_limit: usize,
    /// The reaction to more output.
    pub when_over_limit: OverLimit,
    /// Ends it and all that it started when it is raised, as ^C does.
    pub interruption: Interruption,
}

/// The environment that a program starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Environment {
    /// Ours.
    Inherited,
    /// Our `PATH`, as far as it leads outside the project, and nothing else.
    Path,
    /// Nothing.
    Empty,
}

/// The reaction to a program that writes more than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverLimit {
    /// It is ended, with all that it started.
    EndIt,
    /// It goes on; what it writes from then on is read and thrown away, so that it never waits for
    /// a reader.
    Discard,
}

impl Call {
    /// Starts `program` in `directory` without arguments.
    pub fn new(
        program: impl Into<OsString>,
        directory: impl Into<PathBuf>,
        time_limit: Duration,
        output_limit: usize,
    ) -> Call {
        Call {
            program: program.into(),
            args: Vec::new(),
            directory: directory.into(),
            environment: Environment::Inherited,
            env: Vec::new(),
            search_path: None,
            input: Vec::new(),
            merge_streams: false,
            keep_errors: false,
            time_limit,
            output_limit,
            when_over_limit: OverLimit::EndIt,
            interruption: Interruption::default(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Call {
        self.args.push(arg.into());
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Call {
        self.env.push((name.into(), value.into()));
        self
    }
}

/// The stream of a piece of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The end of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this status.
    Exited(i32),
    /// By a signal that we did not send.
    Killed,
    /// We ended it and all that it started, because it took longer than it may.
    TimedOut,
    /// We ended it and all that it started, because it wrote more than it may.
    TooMuchOutput,
    /// The user interrupted us, and we ended it and all that it started.
    Interrupted,
}

/// A program that runs beside us. We write to its standard input and read its standard output; what
/// it writes to standard error is thrown away, unless [`Call::keep_errors`] asks for it. When this is dropped, it
/// is ended.
pub trait Companion: Send {
    /// Writes all of it. Takes no longer than `patience`: [`io::ErrorKind::TimedOut`].
    fn send(&mut self, bytes: &[u8], patience: Duration) -> io::Result<()>;

    /// Reads what there is, but waits for the first of it no longer than `patience`:
    /// [`io::ErrorKind::TimedOut`]. Nothing read means that the program has closed its output.
    fn receive(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<usize>;

    /// Returns the number that the system knows it by.
    fn id(&self) -> u32;

    /// Waits for its end, but no longer than `patience`: then it and all that it started are ended.
    fn wait(&mut self, patience: Duration) -> io::Result<Ending>;

    /// Ends it and all that it started, at once.
    fn end(&mut self);

    /// Returns what it has written to standard error since the last call: the newest part of it, if that is
    /// much.
    fn take_errors(&mut self) -> Vec<u8> {
        Vec::new()
    }
}
