//! The files that a command reads and writes, as far as its text shows.
//!
//! Everything that is not certain (variables, substitutions, patterns, unknown programs) is ignored. `programs` knows the
//! effect of a program on its operands, `diff` and `python` read what a program is given as its input.

mod diff;
mod programs;
mod python;

use std::path::{Path, PathBuf};

use super::{RedirectKind, SimpleCommand};

/// A file that a command uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEffect {
    /// The path, relative to the start of the shell unless it is absolute.
    pub path: PathBuf,
    /// What the command does with it.
    pub how: FileUse,
    /// True if a program in the command's text opens it, and not the command itself.
    pub is_hidden: bool,
}

/// What a command does with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileUse {
    /// It reads a file, or lists a directory.
    Read,
    /// It changes a file that is there.
    Edit,
    /// It creates a file that was not there.
    Create,
    /// It creates the file, or writes it anew.
    Write,
    /// It removes a file, or a directory with everything in it.
    Delete,
}

/// Returns the files that a command plainly uses, in order.
pub fn collect_file_effects(command: &SimpleCommand) -> Vec<FileEffect> {
    let mut effects = Vec::new();
    let mut add = |path: &str, how: FileUse, directory: Option<&Path>, is_hidden: bool| {
        if path.is_empty() || path == "-" || path.starts_with("/dev/") {
            return;
        }
        let path = match directory {
            Some(directory) => directory.join(path),
            None if Path::new(path).is_absolute() => PathBuf::from(path),
            None => return,
        };
        effects.push(FileEffect { path, how, is_hidden });
    };
    if let Some(run) = command.direct_invocation()
        && let Some(program) = run.program()
    {
        let is_hidden = python::is_python(program);
        for (path, how) in programs::collect_program_effects(program, run.operands(), command) {
            add(&path, how, run.directory.as_deref(), is_hidden);
        }
    }
    for redirect in &command.redirects {
        let how = match redirect.kind {
            RedirectKind::Read => FileUse::Read,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => FileUse::Write,
        };
        if let Some(path) = redirect.target.literal() {
            add(path, how, command.directory.as_deref(), false);
        }
    }
    effects
}
