//! A command that writes, killed at every step and refused every step.
//!
//! The program runs inside the test on a system that ends it, or that refuses a call. The result is a line of the table in
//! `docs/dev/kill-matrix.md`, and that page has to have it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use brief_system::STAGED;

use crate::snapshot::{
    Snapshot, collect_snapshot, copy_directory, describe_differences, files_only,
};
use crate::{Captured, EntryPoint, Fault, Faulty, RealSystem, Refusal, Sandbox, Streams};

/// The number of pages whose steps are disturbed, of many that are written alike.
const PAGES_TRIED: usize = 3;

/// A run of a program inside the test.
pub struct Ran {
    /// Its exit code.
    pub code: ExitCode,
    /// What it wrote to standard error.
    pub stderr: String,
    /// The steps that it took.
    pub steps: Vec<String>,
    /// True if the fault has happened.
    pub has_failed: bool,
}

/// Runs a program in a project, on a system with a fault.
pub fn run_with_fault(entry: EntryPoint, project: &Sandbox, args: &[&str], fault: Fault) -> Ran {
    run_on(entry, project, args, |real| Faulty::new(real, fault))
}

/// Runs a program in a project, on a system of the test's own.
pub fn run_on(
    entry: EntryPoint,
    project: &Sandbox,
    args: &[&str],
    make: impl FnOnce(RealSystem) -> Faulty,
) -> Ran {
    let (name, args) = match args {
        ["sctx", rest @ ..] => ("sctx", rest),
        args => ("brief", args),
    };
    let system = Arc::new(make(project.create_system("")));
    let said = Captured::default();
    let streams = Streams {
        stdin: Box::new(io::empty()),
        stdout: Box::new(io::sink()),
        stderr: Box::new(said.clone()),
    };
    let args = std::iter::once(&name).chain(args).map(OsString::from).collect();
    let code = entry(args, streams, system.clone());
    let stderr = String::from_utf8_lossy(&said.bytes()).into_owned();
    Ran { code, stderr, steps: system.steps(), has_failed: system.has_failed() }
}

/// A project and a home directory before a run, and the run.
pub struct KillCase {
    entry: EntryPoint,
    name: &'static str,
    args: &'static [&'static str],
    project: Sandbox,
    saved: PathBuf,
    /// The refusals that each step gets.
    refusals: usize,
}

/// A line of the table.
#[derive(Default)]
struct Line {
    points: usize,
    torn: usize,
    left: usize,
    converged: usize,
    refused: usize,
    refused_wrongly: usize,
    /// The problems, in words.
    problems: Vec<String>,
}

impl KillCase {
    /// Keeps a project that was prepared for a run.
    pub fn new(
        entry: EntryPoint,
        project: Sandbox,
        name: &'static str,
        args: &'static [&'static str],
    ) -> KillCase {
        let saved = project.outside_directory().join("saved");
        copy_directory(&project.path(), &saved.join("project"));
        copy_directory(&project.home(), &saved.join("home"));
        KillCase { entry, name, args, project, saved, refusals: 1 }
    }

    /// Gives each step every refusal.
    #[must_use]
    pub fn thorough(self) -> KillCase {
        KillCase { refusals: Refusal::ALL.len(), ..self }
    }

    /// Puts everything back.
    fn reset(&self) {
        for (name, place) in [("project", self.project.path()), ("home", self.project.home())] {
            fs::remove_dir_all(&place).expect("the directory exists");
            copy_directory(&self.saved.join(name), &place);
        }
    }

    fn run_once(&self, fault: Fault) -> Ran {
        run_with_fault(self.entry, &self.project, self.args, fault)
    }

    /// Returns what is in the project and the home directory.
    fn read_tree(&self) -> Snapshot {
        let mut found = Snapshot::new();
        collect_snapshot(&self.project.path(), "project/", &mut found);
        collect_snapshot(&self.project.home(), "home/", &mut found);
        // What keeps runs apart is empty, and stays.
        found.retain(|path, one| !(path.ends_with("lock") && one.0.as_deref() == Some(b"")));
        // Nor does it matter which run has made the key of journals, as long as it is a whole one.
        let is_key = |path: &str, (content, mode): &(Option<Vec<u8>>, u32)| {
            path.ends_with("/brief/journal.key")
                && *mode == 0o600
                && content.as_ref().is_some_and(|key| key.len() == 64)
        };
        let is_state = |path: &str| "home/.local/state/brief/".starts_with(path) && path != "home/";
        found.retain(|path, one| !is_key(path, one) && !is_state(path));
        found
    }

    /// Goes through all steps, and returns the line of the table.
    fn try_all_steps(&self) -> Line {
        let old = self.read_tree();
        let undisturbed = self.run_once(Fault::None);
        assert_eq!(undisturbed.code, ExitCode::SUCCESS, "{}", undisturbed.stderr);
        let new = self.read_tree();
        assert_ne!(old, new, "the run has something to do");
        assert!(new.keys().all(|path| !is_ours_for_now(path)), "{:?}", new.keys());
        let tried = self.steps_to_try(undisturbed.steps.len());
        let mut line = Line { points: tried.len(), ..Line::default() };
        for &at in &tried {
            self.reset();
            let killed = self.run_once(Fault::Dies { at });
            assert!(killed.has_failed, "{}: no step {at}", self.name);
            let why = format!("{}: killed at step {at}, {}", self.name, killed.steps[at]);
            let found = self.read_tree();
            let mut torn = find_torn_files(&found, &old, &new, &why);
            line.torn += usize::from(!torn.is_empty());
            line.problems.append(&mut torn);
            self.rerun(&found, &new, &mut line, &why);
        }
        for at in tried {
            for number in 0..self.refusals {
                let refusal = Refusal::ALL[(at + number) % Refusal::ALL.len()];
                self.refuse_step(at, refusal, (&old, &new), &mut line);
            }
        }
        line
    }

    /// Returns the steps that are disturbed: all, but of many pages that are written alike those of the first, the
    /// middle and the last one.
    fn steps_to_try(&self, steps: usize) -> Vec<usize> {
        let pages = self.count_pages();
        if pages <= PAGES_TRIED {
            return (0..steps).collect();
        }
        let (each, before) = (steps / pages, steps % pages);
        let of = |page: usize| (before + page * each)..(before + (page + 1) * each);
        (0..before).chain(of(0)).chain(of(pages / 2)).chain(of(pages - 1)).collect()
    }

    /// Counts the manual pages of the last run.
    fn count_pages(&self) -> usize {
        self.read_tree().keys().filter(|path| path.ends_with(".1")).count()
    }

    /// Runs it again, which has to come to the new state.
    fn rerun(&self, found: &Snapshot, new: &Snapshot, line: &mut Line, why: &str) {
        self.rerun_by(found, new, line, why, Snapshot::clone);
    }

    fn rerun_by(
        &self,
        found: &Snapshot,
        new: &Snapshot,
        line: &mut Line,
        why: &str,
        part: impl Fn(&Snapshot) -> Snapshot,
    ) {
        let again = self.run_once(Fault::None);
        // Who asks for what is done already may be told so.
        let is_done = part(&without_ours(found)) == part(&without_ours(new));
        let is_fine = again.code == ExitCode::SUCCESS || is_done;
        let after = self.read_tree();
        line.left += usize::from(after.keys().any(|path| is_ours_for_now(path)));
        if is_fine && part(&after) == part(new) {
            line.converged += 1;
        } else {
            let changed = describe_differences(&after, new);
            line.problems.push(format!("{why}: {}{changed:#?}", again.stderr));
        }
    }

    fn refuse_step(
        &self,
        at: usize,
        refusal: Refusal,
        (old, new): (&Snapshot, &Snapshot),
        line: &mut Line,
    ) {
        self.reset();
        let refused = self.run_once(Fault::Refuses { at, refusal });
        assert!(refused.has_failed);
        let why = format!("{}: {refusal:?} at step {at}, {}", self.name, refused.steps[at]);
        line.refused += 1;
        let found = self.read_tree();
        let is_told = refused.code == ExitCode::from(1) && is_clear(&refused.stderr, refusal);
        // An empty directory that cannot be removed stays, which does no harm.
        let is_done = refused.code == ExitCode::SUCCESS
            && files_only(&without_ours(&found)) == files_only(&without_ours(new));
        let mut again =
            Line { problems: find_torn_files(&found, old, new, &why), ..Line::default() };
        let is_torn = !again.problems.is_empty();
        self.rerun_by(&found, new, &mut again, &why, files_only);
        if is_torn || !(is_told || is_done) || again.converged != 1 {
            let changed = describe_differences(&found, new);
            let Ran { code, stderr, .. } = refused;
            line.problems.append(&mut again.problems);
            line.problems.push(format!("{why}: {code:?}\n{stderr}{changed:#?}"));
            line.refused_wrongly += 1;
        }
    }
}

/// Returns whether a message says what the system said.
fn is_clear(stderr: &str, refusal: Refusal) -> bool {
    let words = match refusal {
        Refusal::Full => "No space left on device",
        Refusal::Broken => "Input/output error",
        Refusal::ReadOnly => "Read-only file system",
        Refusal::Forbidden => "ermission denied",
        Refusal::Quota => "quota exceeded",
        Refusal::Interrupted => "Interrupted system call",
        Refusal::TooManyFiles => "Too many open files",
    };
    stderr.contains("error: ") && stderr.contains(words)
}

/// Returns whether a path is one that a run has for itself, and removes.
fn is_ours_for_now(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name == STAGED || path.contains("/staged/") || name == "journal.json"
}

/// Leaves out what only runs look at.
fn without_ours(tree: &Snapshot) -> Snapshot {
    let places = ["/.brief/", "/.local/", "/.cache/"];
    let is_ours = |path: &str| places.iter().any(|place| path.contains(place));
    let rest = tree.iter().filter(|(path, _)| !is_ours(path));
    rest.map(|(path, one)| (path.clone(), one.clone())).collect()
}

/// Finds files that are neither old nor new, or that are touched and should stay.
fn find_torn_files(found: &Snapshot, old: &Snapshot, new: &Snapshot, why: &str) -> Vec<String> {
    let is_file = |(_, one): &(&String, &(Option<Vec<u8>>, u32))| one.0.is_some();
    let mut problems = Vec::new();
    for (path, one) in found.iter().filter(is_file).filter(|(path, _)| !is_ours_for_now(path)) {
        if old.get(path) != Some(one) && new.get(path) != Some(one) {
            problems.push(format!("{why}: `{path}` is neither old nor new"));
        }
    }
    for (path, one) in old.iter().filter(|(path, one)| new.get(*path) == Some(one)) {
        if found.get(path) != Some(one) {
            problems.push(format!("{why}: `{path}` should not have been touched"));
        }
    }
    problems
}

impl KillCase {
    /// Goes through all steps, and holds the line of the `page`. The line is also written below `scratch`.
    pub fn check(&self, page: &str, scratch: &str) {
        let case = self;
        let line = case.try_all_steps();
        let Line { points, torn, left, converged, refused, refused_wrongly, problems } = line;
        let name = case.name;
        assert_eq!(
            (torn, left, converged, refused_wrongly),
            (0, 0, points, 0),
            "{}",
            problems.join("\n")
        );
        // The number of pages is not a property of writing them.
        let pages = case.count_pages().clamp(1, PAGES_TRIED);
        let [points, converged, refused] = [points, converged, refused].map(|count| count / pages);
        let row = format!(
            "| `{name}` | {points} | {torn} | {left} | {converged} | {refused} | {refused_wrongly} |"
        );
        let table = Path::new(scratch).join("kill-matrix");
        fs::create_dir_all(&table).expect("directories can be made");
        fs::write(table.join(format!("{name}.md")), format!("{row}\n"))
            .expect("files can be written");
        assert!(page.lines().any(|line| line == row), "docs/dev/kill-matrix.md needs\n{row}");
    }
}

/// The calls of the system that change something.
const MUTATING: [&str; 18] = [
    "openat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "write",
    "rename",
    "renameat",
    "renameat2",
    "linkat",
    "unlink",
    "unlinkat",
    "fsync",
    "syncfs",
    "ftruncate",
    "fchmod",
    "fchmodat",
    "flock",
    "chmod",
];

impl KillCase {
    /// Runs the program itself under `strace` with some more options, and returns whether it ended by itself.
    fn run_traced(&self, options: &[&str]) -> bool {
        let program = self.project.prepare_command("", &[]);
        let mut tracer = std::process::Command::new("strace");
        tracer.args(["-f", "-qq"]).args(options).arg(program.get_program()).args(self.args);
        tracer.current_dir(self.project.path()).env_clear();
        tracer.env("HOME", self.project.home()).env("PATH", "/usr/bin:/bin");
        let output = tracer.stdin(std::process::Stdio::null()).output();
        output.expect("`strace` starts").status.success()
    }

    /// Returns the calls that change something, each with its number among those of its name.
    fn list_calls(&self) -> Vec<(String, usize)> {
        let log = self.project.outside_directory().join("log");
        let trace = format!("trace={}", MUTATING.join(","));
        assert!(self.run_traced(&["-o", &log.to_string_lossy(), "-e", &trace]), "{}", self.name);
        let mut counts = std::collections::BTreeMap::<String, usize>::new();
        let mut calls = Vec::new();
        for line in fs::read_to_string(log).expect("`strace` writes").lines() {
            let Some((_, call)) = line.split_once(' ') else { continue };
            let Some((name, rest)) = call.trim_start().split_once('(') else { continue };
            let count = counts.entry(name.to_owned()).or_default();
            *count += 1;
            let is_change = match name {
                "openat" => rest.contains("O_CREAT"),
                "write" => !rest.starts_with("1,") && !rest.starts_with("2,"),
                _ => true,
            };
            if is_change {
                calls.push((name.to_owned(), *count));
            }
        }
        calls
    }

    /// Ends the program itself by the system's own signal before every call that changes something. Returns the name of the
    /// case, and the number of calls.
    pub fn kill_at_system_calls(&self) -> (&'static str, usize) {
        let case = self;
        let old = case.read_tree();
        let calls = case.list_calls();
        let new = case.read_tree();
        assert!(calls.len() >= 6, "{}: {calls:?}", case.name);
        let mut line = Line::default();
        for (name, number) in &calls {
            case.reset();
            let inject = format!("inject={name}:signal=KILL:when={number}");
            let trace = format!("trace={name}");
            let has_ended = case.run_traced(&["-o", "/dev/null", "-e", &trace, "-e", &inject]);
            let why = format!("{}: killed at {name} {number}", case.name);
            assert!(!has_ended, "{why}");
            let found = case.read_tree();
            line.problems.append(&mut find_torn_files(&found, &old, &new, &why));
            case.rerun(&found, &new, &mut line, &why);
        }
        assert_eq!(line.problems, [""; 0], "{}", case.name);
        assert_eq!((line.left, line.converged), (0, calls.len()), "{}", case.name);
        (case.name, calls.len())
    }
}
