//! Runs the program at a pseudo terminal.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::{Output, Sandbox};

impl Sandbox {
    /// Runs the program in the project with a pseudo terminal as its standard input, on which `typed` is
    /// typed. The output streams are pipes, as in other runs.
    #[must_use = "snapshot the output, or assert what it says"]
    pub fn run_at_terminal(&self, args: &[&str], typed: &str) -> Output {
        let (person, terminal) = pseudo_terminal();
        let mut command = self.prepare_command("", args);
        let child = command.stdin(Stdio::from(terminal)).spawn();
        // The terminal must stay open here until the run has ended, or the typed text would be lost.
        let mut person = std::fs::File::from(person);
        person.write_all(typed.as_bytes()).expect("a terminal takes what is typed");
        self.wait_for_output(child.expect("the program can be started"), args)
    }

    /// Runs the program in the project with a pseudo terminal as its standard output, and returns its output.
    pub fn run_on_screen(&self, args: &[&str]) -> String {
        self.run_before_viewer(args, |command, screen| {
            command.stdout(screen);
        })
    }

    /// Runs the program in the project with a pseudo terminal as its standard error, and returns what it shows there.
    pub fn run_watched(&self, args: &[&str]) -> String {
        self.run_watched_through(&[], args)
    }

    /// Runs the program as [`Sandbox::run_watched`] does, started by another one with its options.
    pub fn run_watched_through(&self, other: &[&str], args: &[&str]) -> String {
        let run = self.prepare_command("", args);
        let command = match other {
            [] => run,
            [name, options @ ..] => {
                let mut command = Command::new(name);
                command.args(options).arg(run.get_program()).args(run.get_args());
                command.current_dir(self.path()).env_clear();
                command.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
                command
            }
        };
        self.show_command(command, args, |command, screen| {
            command.stdout(Stdio::null()).stderr(screen);
        })
    }

    fn run_before_viewer(&self, args: &[&str], place: impl FnOnce(&mut Command, Stdio)) -> String {
        self.show_command(self.prepare_command("", args), args, place)
    }

    fn show_command(
        &self,
        mut command: Command,
        args: &[&str],
        place: impl FnOnce(&mut Command, Stdio),
    ) -> String {
        let (viewer, screen) = pseudo_terminal();
        place(command.stdin(Stdio::null()), Stdio::from(screen));
        let child = command.spawn();
        let child = child.expect("the program can be started");
        // The last handle of the terminal must close with the program, or reading does not end.
        drop(command);
        let mut seen = Vec::new();
        // Reading a terminal without writers is an error.
        let _ = std::fs::File::from(viewer).read_to_end(&mut seen);
        let _ = self.wait_for_output(child, args);
        String::from_utf8_lossy(&seen).into_owned()
    }
}

/// Returns the user's end of a new pseudo terminal, and the program's.
fn pseudo_terminal() -> (OwnedFd, OwnedFd) {
    let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY);
    let user = user.expect("the system has pseudo terminals");
    grantpt(&user).expect("a new pseudo terminal is ours");
    unlockpt(&user).expect("a new pseudo terminal is ours");
    let name = ptsname(&user, Vec::new()).expect("a pseudo terminal has a name");
    let program = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty());
    (user, program.expect("a pseudo terminal can be opened"))
}
