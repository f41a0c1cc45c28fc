//! Starting a program on a real system.
//!
//! The program leads a process group of its own, so that ending it ends all that it started, and
//! nothing that it leaves behind can make us wait: when it has ended, a pipe that some grandchild
//! still holds is no reason to read on.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the seam that everything else goes through"
)]

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::search::SearchPath;
use crate::Interruption;
use crate::{Call, Ending, Environment, OverLimit, Stream};

/// The interval of looking for the program's end while nothing comes through its pipes.
const TICK: Duration = Duration::from_millis(50);

/// Bytes read from a pipe at once: as many as it holds mostly.
const PIECE: usize = 64 * 1024;

pub(super) fn run_program(
    call: &Call,
    output: &mut dyn FnMut(Stream, &[u8]),
) -> io::Result<Ending> {
    let interrupted = interruption_flag()?;
    let mut command = prepare_command(call)?;
    command.stdin(create_input(&call.input)?);
    let mut pipes = Vec::with_capacity(2);
    let (reader, writer) = io::pipe()?;
    if call.merge_streams {
        command.stderr(writer.try_clone()?);
    } else {
        let (reader, writer) = io::pipe()?;
        command.stderr(writer);
        pipes.push((Stream::Stderr, reader));
    }
    command.stdout(writer);
    pipes.push((Stream::Stdout, reader));

    let deadline = Instant::now() + call.time_limit;
    let child = command.spawn()?;
    // The writing ends live in `command`; a pipe ends when the last of them is closed.
    drop(command);
    let stop = &call.interruption;
    let mut running = RunningProgram { child, deadline, interrupted, stop };
    let early = running.read_pipes(&mut pipes, call, output)?;
    match early {
        Some(ending) => {
            running.end();
            Ok(ending)
        }
        None => running.wait_for_end(),
    }
}

/// Starts a program in the foreground, through the shell because users give it options, and writes a text
/// to it. A program that ends before it has read all of it has shown enough.
pub(super) fn show_in_pager(command: &OsStr, text: &[u8]) -> io::Result<()> {
    // The shell looks for the pager by name, too.
    let search = SearchPath::outside_project(None, Path::new("."));
    let mut shell = Command::new(search.find_program(OsStr::new("sh"))?);
    shell.arg("-c").arg(command).env("PATH", search.to_path()).stdin(Stdio::piped());
    // What `less` is told by git, too: end at once when all fits, keep colors, leave the screen as it is.
    if std::env::var_os("LESS").is_none() {
        shell.env("LESS", "FRX");
    }
    let mut child = shell.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(text);
    }
    let status = child.wait()?;
    // The shell's word for a program that is not there.
    if status.code() == Some(127) {
        return Err(io::Error::new(io::ErrorKind::NotFound, "cannot start the pager"));
    }
    Ok(())
}

/// Descriptors from here on are no standard streams.
const FIRST_OTHER: i32 = 3;

/// Prepares a program with all that every program is started with. It leads a process group of its own, and
/// has no descriptor besides its streams: what our own starter left open may be a socket or a secret.
///
/// A bare name is looked up outside the project ([`SearchPath`]); what the program starts by name in its
/// turn is, too, unless the call sets a `PATH` itself.
pub(super) fn prepare_command(call: &Call) -> io::Result<Command> {
    close_fds::set_fds_cloexec_threadsafe(FIRST_OTHER, &[]);
    let set = call.env.iter().rev().find(|(name, _)| name == "PATH");
    let path = set.map(|(_, path)| path.as_os_str()).or(call.search_path.as_deref());
    let search = || SearchPath::outside_project(path, &call.directory);
    let is_bare = !call.program.as_encoded_bytes().contains(&b'/');
    let mut command = if is_bare {
        Command::new(search().find_program(&call.program)?)
    } else {
        Command::new(&call.program)
    };
    command.args(&call.args).current_dir(&call.directory).process_group(0);
    if call.environment != Environment::Inherited {
        command.env_clear();
    }
    if call.environment != Environment::Empty && set.is_none() {
        command.env("PATH", search().to_path());
    }
    command.envs(call.env.iter().map(|(name, value)| (name, value)));
    Ok(command)
}

/// Becomes a program. Returns only if it does not start.
pub(super) fn hand_over(program: &OsStr, args: &[OsString]) -> io::Error {
    let is_bare = !program.as_encoded_bytes().contains(&b'/');
    let path = if is_bare {
        SearchPath::outside_project(None, Path::new(".")).find_program(program)
    } else {
        Ok(program.into())
    };
    path.map_or_else(|error| error, |path| Command::new(path).args(args).exec())
}

/// Ends a program and all that it started.
pub(super) fn end_process(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended meanwhile, which is as good.
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// A program that was started.
struct RunningProgram<'c> {
    child: Child,
    deadline: Instant,
    interrupted: &'static AtomicBool,
    stop: &'c Interruption,
}

impl RunningProgram<'_> {
    /// Hands on what the program writes until its pipes close, it has ended, or it must be ended.
    fn read_pipes(
        &mut self,
        pipes: &mut Vec<(Stream, PipeReader)>,
        call: &Call,
        output: &mut dyn FnMut(Stream, &[u8]),
    ) -> io::Result<Option<Ending>> {
        let mut buffer = vec![0; PIECE];
        let mut written = 0;
        let mut has_ended = false;
        while !pipes.is_empty() {
            if let Some(ending) = self.find_overrun() {
                return Ok(Some(ending));
            }
            let mut polled: Vec<PollFd<'_>> =
                pipes.iter().map(|(_, pipe)| PollFd::new(pipe, PollFlags::IN)).collect();
            let patience = TICK.min(self.deadline.saturating_duration_since(Instant::now()));
            let patience = if has_ended { Duration::ZERO } else { patience };
            let patience = Timespec::try_from(patience).unwrap_or_default();
            match rustix::event::poll(&mut polled, Some(&patience)) {
                // Something that it started may hold a pipe open for ever.
                Ok(0) if has_ended => return Ok(None),
                // It may have written between the look at its pipes and its end: they are looked at once more.
                Ok(0) => has_ended = self.child.try_wait()?.is_some(),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let ready: Vec<bool> = polled.iter().map(|fd| !fd.revents().is_empty()).collect();
            let mut ready = ready.into_iter();
            let mut too_much = false;
            let mut failure = None;
            pipes.retain_mut(|(stream, pipe)| {
                if too_much || !ready.next().unwrap_or(false) {
                    return true;
                }
                match pipe.read(&mut buffer) {
                    Ok(0) => false,
                    Ok(count) => {
                        let allowed = count.min(call.output_limit - written);
                        if allowed > 0 {
                            output(*stream, &buffer[..allowed]);
                        }
                        written += allowed;
                        too_much = allowed < count && call.when_over_limit == OverLimit::EndIt;
                        true
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => true,
                    Err(error) => {
                        failure = Some(error);
                        true
                    }
                }
            });
            if too_much {
                return Ok(Some(Ending::TooMuchOutput));
            }
            if let Some(error) = failure {
                return Err(error);
            }
        }
        Ok(None)
    }

    /// Waits for the end of a program that has closed its pipes, which mostly is now.
    fn wait_for_end(&mut self) -> io::Result<Ending> {
        let mut pause = Duration::from_micros(100);
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status.code().map_or(Ending::Killed, Ending::Exited));
            }
            if let Some(ending) = self.find_overrun() {
                self.end();
                return Ok(ending);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(TICK);
        }
    }

    fn find_overrun(&self) -> Option<Ending> {
        if self.interrupted.load(Ordering::Relaxed) || self.stop.is_raised() {
            Some(Ending::Interrupted)
        } else if Instant::now() >= self.deadline {
            Some(Ending::TimedOut)
        } else {
            None
        }
    }

    fn end(&mut self) {
        end_process(&mut self.child);
    }
}

/// A file without a name, so that no thread has to write while the program reads.
fn create_input(bytes: &[u8]) -> io::Result<Stdio> {
    if bytes.is_empty() {
        return Ok(Stdio::null());
    }
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(Stdio::from(file))
}

/// Returns the flag that an interruption raises. From the first program that we start on, ^C no
/// longer ends us at once: it would leave the program running.
fn interruption_flag() -> io::Result<&'static AtomicBool> {
    shared_flag().map(AsRef::as_ref)
}

/// As [`interruptions`], for those who keep it.
pub(super) fn shared_interruption() -> io::Result<Interruption> {
    shared_flag().map(|flag| Interruption::from_flag(Arc::clone(flag)))
}

fn shared_flag() -> io::Result<&'static Arc<AtomicBool>> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if FLAG.get().is_none() {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // A second signal ends us at once, also where no code looks at the flag, as in tests.
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        let _ = FLAG.set(flag);
    }
    FLAG.get().ok_or_else(|| io::Error::other("no flag"))
}

#[cfg(test)]
mod tests {
    use brief_testkit::{Lifeline, PATIENCE};

    use super::*;

    fn sh(script: &str) -> Call {
        Call::new("sh", "/", PATIENCE, 1 << 20).arg("-c").arg(script)
    }

    fn collect(call: &Call) -> (Ending, String, String) {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let ending = run_program(call, &mut |stream, piece| match stream {
            Stream::Stdout => stdout.extend_from_slice(piece),
            Stream::Stderr => stderr.extend_from_slice(piece),
        })
        .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (ending, text(stdout), text(stderr))
    }

    #[test]
    fn output_status_and_environment() {
        let call = sh("printf \"out $VALUE\"; printf err >&2; exit 3").with_env("VALUE", "v");
        assert_eq!(collect(&call), (Ending::Exited(3), "out v".into(), "err".into()));
    }

    #[test]
    fn merged_streams_keep_their_order() {
        let mut call = sh("echo 1; echo 2 >&2; echo 3");
        call.merge_streams = true;
        assert_eq!(collect(&call), (Ending::Exited(0), "1\n2\n3\n".into(), String::new()));
    }

    #[test]
    fn input_is_read_to_its_end() {
        let mut call = sh("cat");
        call.input = b"x".repeat(300_000);
        let (ending, stdout, _) = collect(&call);
        assert_eq!((ending, stdout.len()), (Ending::Exited(0), 300_000));
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_all_that_it_started() {
        let directory = tempfile::tempdir().unwrap();
        let alive = directory.path().join("alive");
        let lifeline = Lifeline::create(&alive);
        let mut call = sh(&format!("exec 3>{}; sleep 600 & sleep 600", alive.display()));
        call.time_limit = Duration::from_millis(200);
        assert_eq!(collect(&call).0, Ending::TimedOut);
        lifeline.wait_for_end();
    }

    #[test]
    fn endless_output_ends_at_the_limit() {
        let mut call = sh("yes");
        call.output_limit = 100_000;
        let (ending, stdout, _) = collect(&call);
        assert_eq!((ending, stdout.len()), (Ending::TooMuchOutput, 100_000));
    }

    #[test]
    fn output_over_the_limit_can_be_thrown_away() {
        let mut call = sh("yes | head -c 3000000; echo the end; exit 4");
        call.output_limit = 100_000;
        call.when_over_limit = OverLimit::Discard;
        let (ending, stdout, _) = collect(&call);
        assert_eq!((ending, stdout.len()), (Ending::Exited(4), 100_000));
    }

    #[test]
    fn what_stays_in_the_background_does_not_hold_us() {
        // If it held us, the time limit would come first.
        let mut call = sh("echo done; sleep 60 &");
        call.time_limit = Duration::from_secs(30);
        let (ending, stdout, _) = collect(&call);
        assert_eq!((ending, stdout.as_str()), (Ending::Exited(0), "done\n"));
    }

    /// X03: the directory that a program starts in brings no program, nor does it reach its children.
    #[test]
    fn x03_a_bare_name_is_looked_up_outside() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        for name in ["sh", "cat"] {
            let path = directory.path().join(name);
            std::fs::write(&path, "#!/bin/sh\necho planted\n").unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        let here = directory.path().display().to_string();
        for entry in [".", "", here.as_str()] {
            let mut call = sh("echo real").with_env("PATH", format!("{entry}:/usr/bin:/bin"));
            call.directory = directory.path().to_owned();
            assert_eq!(collect(&call).1, "real\n", "{entry}");
        }
    }

    /// X13: a descriptor that is open and would be inherited is closed in the program.
    #[test]
    fn open_descriptors_are_not_inherited() {
        let file = tempfile::tempfile().unwrap();
        rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&file);
        let call =
            sh(&format!("if (true <&{number}) 2>/dev/null; then echo open; else echo closed; fi"));
        assert_eq!(collect(&call).1, "closed\n");
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let call = Call::new("/no/such/program", "/", Duration::from_secs(1), 1);
        assert_eq!(run_program(&call, &mut |_, _| {}).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
