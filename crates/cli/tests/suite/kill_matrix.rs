//! Every command that writes, killed at every step and refused every step.
//!
//! The program runs inside the test on a system that ends it, or that refuses a call. Each test prints its
//! line of the table in `docs/reference/kill-matrix.md`, and that page has to have it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use brief_system::STAGED;
use brief_testkit::snapshot::{Snapshot, collect, copy, differences, files, item, write};
use brief_testkit::{Captured, Fault, Faulty, RealSystem, Refusal, Sandbox, Streams, needs};

/// The number of pages whose steps are disturbed, of many that are written alike.
const PAGES_TRIED: usize = 3;

/// The page with the table.
const PAGE: &str = include_str!("../../../../docs/reference/kill-matrix.md");

/// A run of the program inside the test.
pub(crate) struct Ran {
    pub(crate) code: ExitCode,
    pub(crate) stderr: String,
    /// The steps that it took.
    pub(crate) steps: Vec<String>,
    /// True if the fault has happened.
    pub(crate) has_failed: bool,
}

/// Runs the program in a project, on a system with a fault.
pub(crate) fn in_process(project: &Sandbox, args: &[&str], fault: Fault) -> Ran {
    in_process_with(project, args, |real| Faulty::new(real, fault))
}

/// Runs the program in a project, on a system of the test's own.
pub(crate) fn in_process_with(
    project: &Sandbox,
    args: &[&str],
    make: impl FnOnce(RealSystem) -> Faulty,
) -> Ran {
    let (name, args) = match args {
        ["sctx", rest @ ..] => ("sctx", rest),
        args => ("brief", args),
    };
    let system = Arc::new(make(project.system("")));
    let said = Captured::default();
    let streams = Streams {
        stdin: Box::new(io::empty()),
        stdout: Box::new(io::sink()),
        stderr: Box::new(said.clone()),
    };
    let args = std::iter::once(&name).chain(args).map(OsString::from).collect();
    let code = crate::brief(args, streams, system.clone());
    let stderr = String::from_utf8_lossy(&said.bytes()).into_owned();
    Ran { code, stderr, steps: system.steps(), has_failed: system.has_failed() }
}

/// A project and a home directory before a run, and the run.
struct Case {
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

impl Case {
    fn new(
        name: &'static str,
        args: &'static [&'static str],
        prepare: impl FnOnce(&Sandbox),
    ) -> Case {
        let project = crate::project();
        prepare(&project);
        let saved = project.outside().join("saved");
        copy(&project.path(), &saved.join("project"));
        copy(&project.home(), &saved.join("home"));
        Case { name, args, project, saved, refusals: 1 }
    }

    /// Gives each step every refusal.
    fn thorough(self) -> Case {
        Case { refusals: Refusal::ALL.len(), ..self }
    }

    /// Puts everything back.
    fn reset(&self) {
        for (name, place) in [("project", self.project.path()), ("home", self.project.home())] {
            fs::remove_dir_all(&place).unwrap();
            copy(&self.saved.join(name), &place);
        }
    }

    fn run(&self, fault: Fault) -> Ran {
        in_process(&self.project, self.args, fault)
    }

    /// Returns what is in the project and the home directory.
    fn tree(&self) -> Snapshot {
        let mut found = Snapshot::new();
        collect(&self.project.path(), "project/", &mut found);
        collect(&self.project.home(), "home/", &mut found);
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
    fn all(&self) -> Line {
        let old = self.tree();
        let undisturbed = self.run(Fault::None);
        assert_eq!(undisturbed.code, ExitCode::SUCCESS, "{}", undisturbed.stderr);
        let new = self.tree();
        assert_ne!(old, new, "the run has something to do");
        assert!(new.keys().all(|path| !is_ours_for_now(path)), "{:?}", new.keys());
        let tried = self.steps_to_try(undisturbed.steps.len());
        let mut line = Line { points: tried.len(), ..Line::default() };
        for &at in &tried {
            self.reset();
            let killed = self.run(Fault::Dies { at });
            assert!(killed.has_failed, "{}: no step {at}", self.name);
            let why = format!("{}: killed at step {at}, {}", self.name, killed.steps[at]);
            let found = self.tree();
            let mut torn = torn(&found, &old, &new, &why);
            line.torn += usize::from(!torn.is_empty());
            line.problems.append(&mut torn);
            self.rerun(&found, &new, &mut line, &why);
        }
        for at in tried {
            for number in 0..self.refusals {
                let refusal = Refusal::ALL[(at + number) % Refusal::ALL.len()];
                self.refuse(at, refusal, (&old, &new), &mut line);
            }
        }
        line
    }

    /// Returns the steps that are disturbed: all, but of many pages that are written alike those of the first, the
    /// middle and the last one.
    fn steps_to_try(&self, steps: usize) -> Vec<usize> {
        let pages = self.pages();
        if pages <= PAGES_TRIED {
            return (0..steps).collect();
        }
        let (each, before) = (steps / pages, steps % pages);
        let of = |page: usize| (before + page * each)..(before + (page + 1) * each);
        (0..before).chain(of(0)).chain(of(pages / 2)).chain(of(pages - 1)).collect()
    }

    /// Counts the manual pages of the last run.
    fn pages(&self) -> usize {
        self.tree().keys().filter(|path| path.ends_with(".1")).count()
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
        let again = self.run(Fault::None);
        // Who asks for what is done already may be told so.
        let is_done = part(&without_ours(found)) == part(&without_ours(new));
        let is_fine = again.code == ExitCode::SUCCESS || is_done;
        let after = self.tree();
        line.left += usize::from(after.keys().any(|path| is_ours_for_now(path)));
        if is_fine && part(&after) == part(new) {
            line.converged += 1;
        } else {
            let changed = differences(&after, new);
            line.problems.push(format!("{why}: {}{changed:#?}", again.stderr));
        }
    }

    fn refuse(
        &self,
        at: usize,
        refusal: Refusal,
        (old, new): (&Snapshot, &Snapshot),
        line: &mut Line,
    ) {
        self.reset();
        let refused = self.run(Fault::Refuses { at, refusal });
        assert!(refused.has_failed);
        let why = format!("{}: {refusal:?} at step {at}, {}", self.name, refused.steps[at]);
        line.refused += 1;
        let found = self.tree();
        let is_told = refused.code == ExitCode::from(1) && is_clear(&refused.stderr, refusal);
        // An empty directory that cannot be removed stays, which does no harm.
        let is_done = refused.code == ExitCode::SUCCESS
            && files(&without_ours(&found)) == files(&without_ours(new));
        let mut again = Line { problems: torn(&found, old, new, &why), ..Line::default() };
        let is_torn = !again.problems.is_empty();
        self.rerun_by(&found, new, &mut again, &why, files);
        if is_torn || !(is_told || is_done) || again.converged != 1 {
            let changed = differences(&found, new);
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
fn torn(found: &Snapshot, old: &Snapshot, new: &Snapshot, why: &str) -> Vec<String> {
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

/// The directory that lines of tables are written to.
fn table() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kill-matrix");
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// Goes through all steps, and holds the line of the page.
fn check(case: &Case) {
    let line = case.all();
    let Line { points, torn, left, converged, refused, refused_wrongly, problems } = line;
    let name = case.name;
    assert_eq!(
        (torn, left, converged, refused_wrongly),
        (0, 0, points, 0),
        "{}",
        problems.join("\n")
    );
    // The number of pages is not a property of writing them.
    let pages = case.pages().clamp(1, PAGES_TRIED);
    let [points, converged, refused] = [points, converged, refused].map(|count| count / pages);
    let row = format!(
        "| `{name}` | {points} | {torn} | {left} | {converged} | {refused} | {refused_wrongly} |"
    );
    fs::write(table().join(format!("{name}.md")), format!("{row}\n")).unwrap();
    assert!(PAGE.lines().any(|line| line == row), "docs/reference/kill-matrix.md needs\n{row}");
}

const MANIFEST: &str = "[install]\nclients = [\"claude\", \"opencode\"]\n\n\
                        [sources.guidance]\ndirectory = \"../outside/source\"\nall = true\n";

/// A source beside the project, and files of the user in both places.
fn source(project: &Sandbox) {
    let source = project.outside().join("source");
    write(
        &source,
        &[
            ("rules/api/RULE.md", &item("api", "## One")),
            ("skills/ship/SKILL.md", &item("ship", "## One")),
            ("skills/ship/scripts/run.sh", "#!/bin/sh\n"),
        ],
    );
    let mine = [
        ("CLAUDE.md", "# Mine\n"),
        (".claude/rules/mine.md", "mine\n"),
        ("opencode.json", "{\n  // mine\n  \"theme\": \"dark\"\n}\n"),
    ];
    write(&project.path(), &mine);
    write(&project.home(), &mine);
}

/// The same, with a client of the source.
fn describing(project: &Sandbox) {
    source(project);
    let source = project.outside().join("source");
    write(&source, &[(".brief/clients/acme.toml", crate::own_clients::ACME)]);
}

/// The same, installed.
fn installed(project: &Sandbox) {
    source(project);
    project.write("brief.toml", MANIFEST);
    let user = MANIFEST.replace("../outside", &project.outside().to_string_lossy());
    write(&project.home(), &[(".config/brief/brief.toml", &user)]);
    for args in [&["sync"][..], &["sync", "-g"]] {
        let ran = in_process(project, args, Fault::None);
        assert_eq!(ran.code, ExitCode::SUCCESS, "{}", ran.stderr);
    }
}

/// The same, with a source that has moved on.
fn moved_on(project: &Sandbox) {
    installed(project);
    let source = project.outside().join("source");
    fs::remove_dir_all(source.join("rules/api")).unwrap();
    write(
        &source,
        &[
            ("skills/ship/SKILL.md", &item("ship", "## Two")),
            ("skills/fresh/SKILL.md", &item("fresh", "## New")),
        ],
    );
}

/// A registry of the project's own, not laid out.
fn registry(project: &Sandbox) {
    let text = item("api", "* One\n* Two");
    project.write("rules/api/RULE.md", &text);
    project.write("skills/ship/SKILL.md", item("ship", "* One\n* Two"));
    project.write("skills/ship/notes.txt", "mine\n");
}

fn nothing(project: &Sandbox) {
    project.write("README.md", "mine\n");
}

fn client_files(project: &Sandbox) {
    project.write(".claude/settings.json", "{}\n");
    project.write("brief.toml", "[build]\nout = \"out\"\n");
}

macro_rules! cases {
    ($($test:ident: $name:literal, $args:expr, $prepare:expr $(, $how:ident)?;)*) => {
        $(
            #[test]
            fn $test() {
                check(&Case::new($name, &$args, $prepare)$(.$how())?);
            }
        )*

        /// The page has no line of a command that is no longer tried.
        #[test]
        fn the_page_has_these_lines() {
            let names = [$($name),*];
            let lines = PAGE.lines().filter(|line| line.starts_with("| `"));
            let listed: Vec<&str> = lines.filter_map(|line| line.split('`').nth(1)).collect();
            assert_eq!(listed, names);
        }
    };
}

cases! {
    init: "init", ["init"], nothing, thorough;
    init_clients: "init, with clients", ["init"], client_files, thorough;
    new: "registry new skill", ["registry", "new", "skill", "ship"], nothing, thorough;
    fmt: "registry fmt", ["registry", "fmt"], registry, thorough;
    lint_fix: "lint --fix", ["lint", "--fix"], fixable, thorough;
    lint_baseline: "lint --update-baseline", ["lint", "--baseline", "--update-baseline"], fixable, thorough;
    hook_install: "hook install", ["hook", "install", "claude"], hooked, thorough;
    hook_programs: "hook install, programs", ["hook", "install", "cline"], hooked, thorough;
    hook_plugin: "hook install, a plugin", ["hook", "install", "opencode"], hooked, thorough;
    hook_uninstall: "hook uninstall", ["hook", "uninstall", "claude"], hook_is_there, thorough;
    mcp_install: "mcp install", ["mcp", "install", "codex"], mcp_servers, thorough;
    mcp_uninstall: "mcp uninstall", ["mcp", "uninstall", "codex"], mcp_is_there, thorough;
    trust: "trust", ["trust", "--deny", "run.sh"], script, thorough;
    trust_remove: "trust --remove", ["trust", "--remove", "run.sh"], denied, thorough;
    task: "task -w", ["task", "t", "-a", "claude", "-w"], task_rules, thorough;
    man: "man, each page", ["man", "pages"], nothing;
    pi_enable: "sctx pi enable", ["sctx", "pi", "enable"], pi, thorough;
    add: "add", ["add", "../outside/source", "--client", "claude"], source;
    add_client: "add, a client of the source", ["add", "../outside/source", "--client", "acme"], describing;
    add_global: "add -g", ["add", "-g", "../outside/source", "--client", "claude"], source;
    sync: "sync", ["sync"], moved_on;
    sync_global: "sync -g", ["sync", "-g"], moved_on;
    update: "update", ["update"], moved_on;
    update_global: "update -g", ["update", "-g"], moved_on;
    remove: "remove", ["remove", "ship"], installed;
    remove_global: "remove -g", ["remove", "-g", "ship"], installed;
    clean: "remove --all", ["remove", "--all"], installed;
    clean_global: "remove --all -g", ["remove", "--all", "-g"], installed;
    publish: "registry publish, to a directory", ["registry", "publish", "oci-layout:kept:v1"], registry;
    build: "registry build", ["registry", "build", "../outside/source", "--out", "built"], source;
    import: "import", ["import"], of_clients;
    import_replace: "import --replace", ["import", "--replace"], of_clients;
    agent_fetch: "agent show --fetch", ["agent", "show", "agents/dev_remote.agent.md", "--fetch"], crate::agent_remote::prepare, thorough;
    convert: "import --as --out", ["import", "--from", "claude", "--as", "copilot", "--out", "."], of_clients;
    view: "view --out", ["view", "--out", "pages"], of_clients;
    view_again: "view --out, again", ["view", "--out", "pages"], crate::view::with_pages;
    tokens_svg: "tokens --svg", ["tokens", "--svg", "tokens.svg"], of_clients, thorough;
}

/// Files of two clients.
fn of_clients(project: &Sandbox) {
    project.write(".claude/rules/api.md", "---\npaths: [src/**]\n---\nText.\n");
    project.write(".claude/skills/ship/SKILL.md", "---\nname: ship\ndescription: d\n---\nShip.\n");
    project.write(".claude/skills/ship/notes.txt", "mine\n");
}

fn fixable(project: &Sandbox) {
    let entry = "context:\n  - match: \"*.py\"\n    content: Use types.\n";
    project.write("AGENTS.yaml", entry);
    project.write("src/AGENTS.yaml", entry);
}

fn hooked(project: &Sandbox) {
    project.write(".claude/settings.local.json", "{\n  \"model\": \"mine\"\n}\n");
}

fn hook_is_there(project: &Sandbox) {
    hooked(project);
    let ran = in_process(project, &["hook", "install", "claude"], Fault::None);
    assert_eq!(ran.code, ExitCode::SUCCESS, "{}", ran.stderr);
}

fn mcp_servers(project: &Sandbox) {
    project.write(".codex/config.toml", "model = \"mine\"\n");
}

fn mcp_is_there(project: &Sandbox) {
    mcp_servers(project);
    let ran = in_process(project, &["mcp", "install", "codex"], Fault::None);
    assert_eq!(ran.code, ExitCode::SUCCESS, "{}", ran.stderr);
}

fn script(project: &Sandbox) {
    project.write("run.sh", "#!/bin/sh\n");
}

fn denied(project: &Sandbox) {
    script(project);
    let ran = in_process(project, &["trust", "--deny", "run.sh"], Fault::None);
    assert_eq!(ran.code, ExitCode::SUCCESS, "{}", ran.stderr);
}

fn task_rules(project: &Sandbox) {
    project.write(".agents/tasks/t.md", "Task.\n");
    project.write(".agents/rules/a.md", "First rule.\n");
    project.write(".claude/rules/mine.md", "mine\n");
}

fn pi(project: &Sandbox) {
    project.write(".pi/mine.json", "{}\n");
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

impl Case {
    /// Runs the program itself under `strace` with some more options, and returns whether it ended by itself.
    fn run_traced(&self, options: &[&str]) -> bool {
        let program = self.project.command("", &[]);
        let mut tracer = std::process::Command::new("strace");
        tracer.args(["-f", "-qq"]).args(options).arg(program.get_program()).args(self.args);
        tracer.current_dir(self.project.path()).env_clear();
        tracer.env("HOME", self.project.home()).env("PATH", "/usr/bin:/bin");
        let output = tracer.stdin(std::process::Stdio::null()).output();
        output.expect("`strace` starts").status.success()
    }

    /// Returns the calls that change something, each with its number among those of its name.
    fn calls(&self) -> Vec<(String, usize)> {
        let log = self.project.outside().join("log");
        let trace = format!("trace={}", MUTATING.join(","));
        assert!(self.run_traced(&["-o", log.to_str().unwrap(), "-e", &trace]), "{}", self.name);
        let mut counts = std::collections::BTreeMap::<String, usize>::new();
        let mut calls = Vec::new();
        for line in fs::read_to_string(log).unwrap().lines() {
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
}

/// The same with the program itself, ended by the system's own signal before every call that changes
/// something.
#[test]
fn the_program_may_be_killed_at_every_system_call() {
    needs!(Strace);
    let cases = [
        Case::new("init", &["init"], nothing),
        Case::new("fmt", &["registry", "fmt"], registry),
        Case::new("hook install", &["hook", "install", "claude"], hooked),
        Case::new("trust", &["trust", "--deny", "run.sh"], script),
        Case::new("remove -g", &["remove", "-g", "ship"], installed),
    ];
    let mut report = String::new();
    for case in cases {
        let old = case.tree();
        let calls = case.calls();
        let new = case.tree();
        assert!(calls.len() >= 6, "{}: {calls:?}", case.name);
        let mut line = Line::default();
        for (name, number) in &calls {
            case.reset();
            let inject = format!("inject={name}:signal=KILL:when={number}");
            let trace = format!("trace={name}");
            let has_ended = case.run_traced(&["-o", "/dev/null", "-e", &trace, "-e", &inject]);
            let why = format!("{}: killed at {name} {number}", case.name);
            assert!(!has_ended, "{why}");
            let found = case.tree();
            line.problems.append(&mut torn(&found, &old, &new, &why));
            case.rerun(&found, &new, &mut line, &why);
        }
        assert_eq!(line.problems, [""; 0], "{}", case.name);
        assert_eq!((line.left, line.converged), (0, calls.len()), "{}", case.name);
        report.push_str(&format!(
            "| `{}` | {} | 0 | 0 | {} |\n",
            case.name,
            calls.len(),
            line.converged
        ));
    }
    // How many calls there are depends on the system, so that no page can tell.
    fs::write(table().join("system-calls.txt"), report).unwrap();
}
