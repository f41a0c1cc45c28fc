//! Every command that writes, killed at every step and refused every step.
//!
//! Each test has a line of the table in `docs/dev/kill-matrix.md`. Those of `brief-agent` are in its own suite.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use brief_testkit::kill::{KillCase, Ran, run_on, run_with_fault};
use brief_testkit::snapshot::{render_item, write_files};
use brief_testkit::{Fault, Faulty, RealSystem, Sandbox, needs};

/// The page with the table.
const PAGE: &str = include_str!("../../../../docs/dev/kill-matrix.md");

/// Runs the program in a project, on a system with a fault.
pub(crate) fn in_process(project: &Sandbox, args: &[&str], fault: Fault) -> Ran {
    run_with_fault(crate::brief, project, args, fault)
}

/// Runs the program in a project, on a system of the test's own.
pub(crate) fn in_process_with(
    project: &Sandbox,
    args: &[&str],
    make: impl FnOnce(RealSystem) -> Faulty,
) -> Ran {
    run_on(crate::brief, project, args, make)
}

/// Prepares a project for a run of the program.
fn case(
    name: &'static str,
    args: &'static [&'static str],
    prepare: impl FnOnce(&Sandbox),
) -> KillCase {
    let project = crate::project();
    prepare(&project);
    KillCase::new(crate::brief, project, name, args)
}

const MANIFEST: &str = "[install]\nclients = [\"claude\", \"opencode\"]\n\n\
                        [sources.guidance]\ndirectory = \"../outside/source\"\nall = true\n";

/// A source beside the project, and files of the user in both places.
fn source(project: &Sandbox) {
    let source = project.outside_directory().join("source");
    write_files(
        &source,
        &[
            ("rules/api/RULE.md", &render_item("api", "## One")),
            ("skills/ship/SKILL.md", &render_item("ship", "## One")),
            ("skills/ship/scripts/run.sh", "#!/bin/sh\n"),
        ],
    );
    let mine = [
        ("CLAUDE.md", "# Mine\n"),
        (".claude/rules/mine.md", "mine\n"),
        ("opencode.json", "{\n  // mine\n  \"theme\": \"dark\"\n}\n"),
    ];
    write_files(&project.path(), &mine);
    write_files(&project.home(), &mine);
}

/// The same, with a client of the source.
fn describing(project: &Sandbox) {
    source(project);
    let source = project.outside_directory().join("source");
    write_files(&source, &[(".brief/clients/acme.toml", crate::own_clients::ACME)]);
}

/// The same, installed.
fn installed(project: &Sandbox) {
    source(project);
    project.write("brief.toml", MANIFEST);
    let user = MANIFEST.replace("../outside", &project.outside_directory().to_string_lossy());
    write_files(&project.home(), &[(".config/brief/brief.toml", &user)]);
    for args in [&["sync"][..], &["sync", "-g"]] {
        let ran = in_process(project, args, Fault::None);
        assert_eq!(ran.code, ExitCode::SUCCESS, "{}", ran.stderr);
    }
}

/// The same, with a source that has moved on.
fn moved_on(project: &Sandbox) {
    installed(project);
    let source = project.outside_directory().join("source");
    fs::remove_dir_all(source.join("rules/api")).unwrap();
    write_files(
        &source,
        &[
            ("skills/ship/SKILL.md", &render_item("ship", "## Two")),
            ("skills/fresh/SKILL.md", &render_item("fresh", "## New")),
        ],
    );
}

/// The same, installed, with hooks and a server.
fn used(project: &Sandbox) {
    installed(project);
    hook_is_there(project);
    for args in [&["hook", "install", "claude", "--global"][..], &["mcp", "install", "codex"]] {
        let ran = in_process(project, args, Fault::None);
        assert_eq!(ran.code, ExitCode::SUCCESS, "{}", ran.stderr);
    }
}

/// A registry of the project's own, not laid out.
fn registry(project: &Sandbox) {
    let text = render_item("api", "* One\n* Two");
    project.write("rules/api/RULE.md", &text);
    project.write("skills/ship/SKILL.md", render_item("ship", "* One\n* Two"));
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
                case($name, &$args, $prepare)$(.$how())?.check(PAGE, env!("CARGO_TARGET_TMPDIR"));
            }
        )*

        /// The page has no line of a command that is no longer tried.
        #[test]
        fn the_page_has_these_lines() {
            let names = [$($name),*];
            let lines = PAGE.lines().filter(|line| line.starts_with("| `"));
            let listed = lines.filter_map(|line| line.split('`').nth(1));
            let listed: Vec<&str> = listed.filter(|name| !name.starts_with("agent ")).collect();
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
    eject: "eject", ["eject"], used;
    eject_global: "eject -g", ["eject", "-g"], used;
    clean: "remove --all", ["remove", "--all"], installed;
    clean_global: "remove --all -g", ["remove", "--all", "-g"], installed;
    publish: "registry publish, to a directory", ["registry", "publish", "oci-layout:kept:v1"], registry;
    build: "registry build", ["registry", "build", "../outside/source", "--out", "built"], source;
    import: "import", ["import"], of_clients;
    import_replace: "import --replace", ["import", "--replace"], of_clients;
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

/// The same with the program itself, ended by the system's own signal before every call that changes
/// something.
#[test]
fn the_program_may_be_killed_at_every_system_call() {
    needs!(Strace);
    let cases = [
        case("init", &["init"], nothing),
        case("fmt", &["registry", "fmt"], registry),
        case("hook install", &["hook", "install", "claude"], hooked),
        case("trust", &["trust", "--deny", "run.sh"], script),
        case("remove -g", &["remove", "-g", "ship"], installed),
    ];
    let mut report = String::new();
    for case in cases {
        let (name, calls) = case.kill_at_system_calls();
        report.push_str(&format!("| `{name}` | {calls} | 0 | 0 | {calls} |\n"));
    }
    // How many calls there are depends on the system, so that no page can tell.
    let table = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kill-matrix");
    fs::create_dir_all(&table).unwrap();
    fs::write(table.join("system-calls.txt"), report).unwrap();
}
