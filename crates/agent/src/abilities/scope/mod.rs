//! The arguments that `sh:<command>` allows.
//!
//! Many programs start others, or read and write any file, when an option tells them to. So a listed program
//! gets only listed arguments: its commands, its options by their full names, and paths in the project.
//! Everything else is refused. An abbreviated long option (`--up` for `--upload-pack`) is refused, because
//! programs expand it differently.
//!
//! An unlisted program gets its arguments unchecked: a grant of `sh:deploy` covers all that `deploy` does.
//! [`runs_anything`] recognizes programs that are as powerful as a shell.

mod git;
mod grammar;
mod programs;
#[cfg(test)]
#[cfg(unix)]
mod tests;
#[cfg(test)]
#[cfg(unix)]
mod tests_of_reading;
mod trees;

pub(super) use git::{git_environment, is_harmless_setting};
pub(super) use trees::{HiddenEntry, NarrowedArguments, ProjectTree, exclude_hidden};

/// Programs that run any command: a grant of one is a grant of `sh`.
const WIDE: [&str; 72] = [
    "ash", "awk", "bash", "bun", "bundle", "busybox", "cargo", "cmake", "composer", "csh", "curl",
    "dash", "dd", "deno", "docker", "ed", "emacs", "env", "ex", "expect", "fish", "gawk", "gdb",
    "gem", "gh", "go", "gradle", "java", "just", "ksh", "kubectl", "less", "lua", "make", "man",
    "mawk", "more", "mvn", "nano", "nice", "node", "nohup", "npm", "npx", "parallel", "perl",
    "php", "pip", "pipx", "pnpm", "podman", "python", "rsync", "ruby", "scp", "setsid", "sh",
    "ssh", "stdbuf", "strace", "su", "sudo", "tcsh", "time", "timeout", "uv", "vi", "vim", "watch",
    "wget", "xargs", "yarn",
];

/// Other names of listed programs.
const ALIASES: [(&str, &str); 9] = [
    ("bsdtar", "tar"),
    ("egrep", "grep"),
    ("fdfind", "fd"),
    ("fgrep", "grep"),
    ("gfind", "find"),
    ("ggrep", "grep"),
    ("gsed", "sed"),
    ("gsort", "sort"),
    ("gtar", "tar"),
];

/// Returns whether a program runs any command, so that `sh:<it>` grants as much as `sh`.
pub fn runs_anything(program: &str) -> bool {
    let program = program.to_ascii_lowercase();
    let name = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    WIDE.iter().any(|wide| *wide == program || *wide == name)
}

/// Returns whether the arguments of a program are checked against a list.
pub fn is_listed(program: &str) -> bool {
    let program = known_name(program);
    ["find", "git"].contains(&program.as_str()) || programs::find_grammar(&program).is_some()
}

/// Checks a path among the arguments. The error is the reason of the refusal.
pub(super) type CheckPath<'c> = &'c dyn Fn(&str) -> Result<(), String>;

#[derive(Clone, Copy)]
pub(super) struct Checks<'c> {
    /// The check for a path of the project.
    pub(super) path: CheckPath<'c>,
    /// The check for a word that may be a path, a revision, or both with a `:` in between.
    pub(super) revision: CheckPath<'c>,
}

/// Returns the arguments to start a program with under a scope, or the reason of the refusal.
pub(super) fn scope_arguments(
    program: &str,
    args: &[String],
    checks: Checks<'_>,
) -> Result<Vec<String>, String> {
    let name = known_name(program);
    match (name.as_str(), programs::find_grammar(&name)) {
        ("git", _) => git::scope_git_arguments(args, checks),
        ("find", _) => programs::find_words(args, checks),
        (_, Some(grammar)) => grammar.scope_arguments(program, args, checks),
        (_, None) => Ok(args.to_vec()),
    }
}

/// Returns whether a program is `git`, in any case.
pub(super) fn is_git(program: &str) -> bool {
    known_name(program) == "git"
}

/// Returns the listed name of a program. Some file systems take `Git` for `git`.
fn known_name(program: &str) -> String {
    let program = program.to_ascii_lowercase();
    let alias = ALIASES.iter().find(|(alias, _)| *alias == program);
    alias.map_or(program.clone(), |(_, name)| (*name).to_owned())
}
