//! Runs the program as a function of the test's own process.
//!
//! Most cases of the command line are about output and exit codes, and starting a process for each takes longer
//! than the command itself. The function gets what a process would have: arguments, streams, an environment and a
//! current directory, all of the sandbox.

use std::any::Any;
use std::ffi::OsString;
use std::io::{self, Cursor, Read, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use brief_system::{Machine, OsSystem, Processes, System};

use crate::{Output, PATIENCE, RealSystem, Sandbox};

/// The program as a function. The first argument is its name.
pub type EntryPoint = fn(Vec<OsString>, Streams, Arc<dyn System>) -> ExitCode;

/// The standard streams of a run.
pub struct Streams {
    /// Standard input.
    pub stdin: Box<dyn Read + Send>,
    /// Standard output.
    pub stdout: Box<dyn Write>,
    /// Standard error.
    pub stderr: Box<dyn Write>,
}

/// The stack of a run: as much as the main thread of a process has, and more than threads of tests have.
const STACK: usize = 8 << 20;

/// The bytes that a run has written to a stream.
#[derive(Debug, Clone, Default)]
pub struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    /// Returns the bytes so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sandbox {
    /// Returns the system that a run in a directory of the project has: the real files, with the sandbox's
    /// environment.
    pub fn create_system(&self, directory: &str) -> RealSystem {
        let mut system =
            RealSystem::new(self.path().join(directory)).with_env(self.variables().collect());
        system.machine_directory = OsSystem.machine_directory();
        system.own_program = Some(self.program.clone());
        system
    }

    /// Calls the program. A panic in it fails the test.
    pub(crate) fn call_program(
        &self,
        entry: EntryPoint,
        directory: &str,
        args: &[&str],
        input: Vec<u8>,
    ) -> Output {
        let system = self.create_system(directory);
        // A process takes no program from the directory that it is started in.
        OsSystem.work_in(&system.current_dir);
        let words = std::iter::once(self.program.clone().into_os_string());
        let words = words.chain(args.iter().map(OsString::from)).collect();
        let (stdout, stderr) = (Captured::default(), Captured::default());
        let streams = (stdout.clone(), stderr.clone());
        let (sender, ended) = mpsc::channel::<()>();
        let run = thread::Builder::new().name("brief".to_owned()).stack_size(STACK);
        let run = run.spawn(move || {
            // Dropped at the end of the run, also of one that panics.
            let _sender = sender;
            let (stdout, stderr) = streams;
            let stdin = Box::new(Cursor::new(input));
            let streams = Streams { stdin, stdout: Box::new(stdout), stderr: Box::new(stderr) };
            entry(words, streams, Arc::new(system))
        });
        let run = run.expect("a thread can be started");
        if let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PATIENCE) {
            panic!("{args:?} is still running after {} s", PATIENCE.as_secs());
        }
        let code = run.join().unwrap_or_else(|payload| panic!("{args:?}: {}", words_of(&*payload)));
        self.create_output(&stdout.bytes(), &stderr.bytes(), Some(exit_number(code)))
    }
}

/// Returns the message of a panic.
fn words_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic")
}

/// Returns the number of an exit code, which has no accessor.
fn exit_number(code: ExitCode) -> i32 {
    let is_it = |number: &u8| ExitCode::from(*number) == code;
    (0..=u8::MAX).find(is_it).map_or(-1, i32::from)
}
