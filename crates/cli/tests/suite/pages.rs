//! The pages for users, run as they stand: what the program prints is what they show.
//!
//! A page says with a comment, which no reader sees, what becomes of the fence below it:
//!
//! | comment | meaning |
//! | --- | --- |
//! | `<!-- test: file PATH -->` | the fence is written to that file of a scratch project |
//! | `<!-- test: new project -->` | from here on in another scratch project |
//! | `<!-- test: skip REASON -->` | the fence is not run |
//!
//! Each page also says what its commands lead to (`page_outcomes.rs`).
//!
//! In a `console` fence a line `$ command` is a command, and the lines up to the next one are what it
//! prints; `…` stands for any lines. Without such a line, each line is a command. A command that shows
//! nothing only has to work. `cd` counts for the commands after it. `cargo run --` and `cargo run -q --` are the program; programs that a test cannot have (other
//! people's clients) are stood in for by scripts that do nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use brief_testkit::{ModelServer, Sandbox};
use serde_json::json;

use crate::install::{Remote, consumer, git, item, write_all};
use crate::page_outcomes;
use crate::workspace;

/// Pages that [`plain_pages_run_as_written`] runs.
const PLAIN_PAGES: [&str; 16] = [
    "docs/how-to/check-in-ci.md",
    "docs/how-to/cut-token-costs.md",
    "docs/how-to/deliver-by-hook.md",
    "docs/how-to/keep-a-rule.md",
    "docs/tutorials/first-steps.md",
    "docs/tutorials/installing.md",
    "docs/how-to/migrate.md",
    "docs/how-to/scope-a-rule.md",
    "docs/how-to/set-up-a-team.md",
    "docs/how-to/prompts-in-ci.md",
    "docs/how-to/why-ignored.md",
    "docs/tutorials/share-rules.md",
    "docs/reference/capabilities.md",
    "docs/reference/portable.md",
    "docs/reference/stability.md",
    "docs/reference/task-files.md",
];

/// The author of the commits that a page makes.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "You"),
    ("GIT_AUTHOR_EMAIL", "you@example.com"),
    ("GIT_COMMITTER_NAME", "You"),
    ("GIT_COMMITTER_EMAIL", "you@example.com"),
];

/// Stands in for ruler: it removes what the page says that ruler has written.
const RULER: &str = "#!/bin/sh\n[ \"$1\" = revert ] && rm CLAUDE.md\n";

/// Programs that are not there when a page is run.
const STAND_INS: [&str; 1] = ["claude"];

/// True if a command that shows nothing must print nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Silence {
    Counts,
    IsShort,
}

/// A page, and the project that its next command is run in.
struct Page<'p> {
    path: &'p str,
    silence: Silence,
    project: Sandbox,
    /// The directory of the project that the page has changed to with `cd`.
    directory: PathBuf,
    /// Makes a project.
    scene: &'p dyn Fn() -> Sandbox,
    /// Is told about each command before it is run.
    before: &'p dyn Fn(&Sandbox, &str),
}

/// A part of a page.
struct Fence<'t> {
    line: usize,
    info: &'t str,
    marks: Vec<&'t str>,
    body: Vec<&'t str>,
}

/// Finds the fences of a page, each with the comments right before it.
fn fences(text: &str) -> Vec<Fence<'_>> {
    let mut fences = Vec::new();
    let mut marks: Vec<&str> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(mark) = line.strip_prefix("<!-- test: ") {
            let mark = mark.strip_suffix(" -->").expect("a comment ends on its line");
            if page_outcomes::is_outcome(mark) {
                let (line, info) = (number + 1, "outcome");
                fences.push(Fence { line, info, marks: vec![mark], body: Vec::new() });
            } else {
                marks.push(mark);
            }
            continue;
        }
        let ticks = line.len() - line.trim_start_matches('`').len();
        if ticks < 3 {
            if !line.is_empty() {
                assert!(marks.is_empty(), "line {}: a comment stands before a fence", number + 1);
            }
            continue;
        }
        let fence = &line[..ticks];
        let body = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != fence).collect();
        let marks = std::mem::take(&mut marks);
        fences.push(Fence { line: number + 1, info: &line[ticks..], marks, body });
    }
    fences
}

impl<'p> Page<'p> {
    fn open(
        path: &'p str,
        silence: Silence,
        scene: &'p dyn Fn() -> Sandbox,
        before: &'p dyn Fn(&Sandbox, &str),
    ) -> Page<'p> {
        Page { path, silence, project: scene(), directory: PathBuf::new(), scene, before }
    }

    fn run(&mut self) {
        let text = fs::read_to_string(workspace().join(self.path)).unwrap();
        let (mut commands, mut outcomes) = (0, 0);
        for fence in fences(&text) {
            if fence.info == "outcome" {
                let place = format!("{}:{}", self.path, fence.line);
                let shell = |command: &str| self.prepare_shell("", command);
                page_outcomes::check(&self.project, fence.marks[0], &place, &shell);
                outcomes += 1;
                continue;
            }
            let mut is_skipped = false;
            for mark in &fence.marks {
                match mark.split_once(' ').unwrap_or((mark, "")) {
                    ("file", path) => {
                        self.project.write(path, format!("{}\n", fence.body.join("\n")));
                    }
                    ("new", "project") => {
                        self.project = (self.scene)();
                        self.directory = PathBuf::new();
                    }
                    ("skip", reason) if !reason.is_empty() => is_skipped = true,
                    _ => panic!("{}:{}: `{mark}` means nothing", self.path, fence.line),
                }
            }
            if fence.info == "console" && !is_skipped {
                commands += self.console(&fence);
            }
        }
        assert!(commands > 0, "{} runs nothing", self.path);
        assert!(outcomes > 0, "{} does not say what its commands lead to", self.path);
    }

    fn console(&mut self, fence: &Fence<'_>) -> usize {
        let is_shown = fence.body.iter().any(|line| line.starts_with("$ "));
        let mut exported = String::new();
        let mut count = 0;
        let mut lines = fence.body.iter().zip(fence.line + 1..).peekable();
        while let Some((line, number)) = lines.next() {
            let command = if is_shown { line.strip_prefix("$ ").unwrap() } else { line };
            if command.trim().is_empty() {
                continue;
            }
            let mut expected = Vec::new();
            while is_shown && lines.peek().is_some_and(|(line, _)| !line.starts_with("$ ")) {
                expected.extend(lines.next().map(|(line, _)| *line));
            }
            (self.before)(&self.project, command);
            let (code, printed) = self.shell(&exported, command);
            let place = format!("{}:{number}: `{command}`", self.path);
            assert!(
                code == Some(0) || !expected.is_empty(),
                "{place} ends with {code:?}:\n{printed}"
            );
            let printed: Vec<&str> = printed.lines().collect();
            if !expected.is_empty() || self.silence == Silence::Counts {
                assert!(
                    fits(&expected, &printed),
                    "{place} prints\n{}\nand not\n{}",
                    printed.join("\n"),
                    expected.join("\n")
                );
            }
            if command.starts_with("export ") {
                exported.push_str(&format!("{command}\n"));
            }
            match command.strip_prefix("cd ") {
                Some("..") => drop(self.directory.pop()),
                Some(directory) => self.directory.push(directory),
                None => {}
            }
            count += 1;
        }
        count
    }

    /// Returns a shell that runs a command in the project.
    fn prepare_shell(&self, exported: &str, command: &str) -> Command {
        let programs = self.project.outside_directory().join("programs");
        let script = format!("{exported}exec 2>&1\n{command}\n");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script])
            .current_dir(self.project.path().join(&self.directory))
            .env_clear()
            .envs(IDENTITY)
            .env("HOME", self.project.home())
            .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("COLUMNS", "100")
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .stdin(Stdio::null());
        shell
    }

    /// Runs a command and returns what a terminal would show of it.
    fn shell(&self, exported: &str, command: &str) -> (Option<i32>, String) {
        let output = self.prepare_shell(exported, command).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let text = text.replace(&*self.project.home().to_string_lossy(), "/home/you");
        let is_progress =
            |line: &&str| line.starts_with("Asking ") || line.starts_with("Fetching ");
        let lines = text.lines().filter(|line| !is_progress(line)).map(str::trim_end);
        let text = lines.collect::<Vec<_>>().join("\n");
        (output.status.code(), text.trim_end().to_owned())
    }
}

/// Returns whether lines are what a page shows; `…` stands for any number of them.
fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        ["…", rest @ ..] => (0..=printed.len()).any(|from| fits(rest, &printed[from..])),
        [line, rest @ ..] => {
            printed.first().is_some_and(|first| first == line) && fits(rest, &printed[1..])
        }
    }
}

/// Puts the programs of a page in front of the system's.
fn with_programs(project: Sandbox, url: &str) -> Sandbox {
    let programs = project.outside_directory().join("programs");
    let program = project.prepare_command("", &[]).get_program().to_string_lossy().into_owned();
    // Whatever address a page exports, the model that answers is the test's own.
    let model = format!("export OPENAI_BASE_URL='{url}' OPENAI_API_KEY=key\n");
    let brief = format!("#!/bin/sh\n{model}exec '{program}' \"$@\"\n");
    let cargo = format!(
        "#!/bin/sh\ncase \"$1 $2 $3\" in\n'run -q --') shift 3 ;;\n'run -- '*) shift 2 ;;\n*) exit 9 ;;\nesac\nexec '{program}' \"$@\"\n"
    );
    let nothing = "#!/bin/sh\ncat > /dev/null\n";
    let mut scripts = vec![("brief", brief.as_str()), ("cargo", cargo.as_str()), ("ruler", RULER)];
    scripts.extend(STAND_INS.map(|name| (name, nothing)));
    for (name, script) in scripts {
        brief_testkit::write_program(&programs.join(name), script);
    }
    // Without a model it is the program itself, because a page links it under another name.
    if url.is_empty() {
        fs::remove_file(programs.join("brief")).unwrap();
        std::os::unix::fs::symlink(program, programs.join("brief")).unwrap();
    }
    project
}

/// A registry as the pages describe it, at several versions.
fn with_registry(project: Sandbox) -> Sandbox {
    let remote = Remote::new(&project, "github/acme/guidance");
    let money = "---\nschema: 1\nname: money\ndescription: Money is an integer number of cents\n\
        license: MIT\nmetadata:\n  version: \"1.0.0\"\n---\n\nMoney is an integer number of cents.\n";
    let baseline = "---\nschema: 1\nname: platform-baseline\ndescription: What every service needs\n\
        items:\n  rules: [money]\n  skills: [release-notes]\nmetadata:\n  version: \"1.2.0\"\n---\n\n\
        For services.\n";
    remote.commit(&[
        ("rules/money/RULE.md", money),
        ("skills/release-notes/SKILL.md", &item("release-notes", "Read the log.")),
        ("agents/reviewer/AGENT.md", &item("reviewer", "You review.")),
        ("platform-baseline.bundle.md", baseline),
    ]);
    remote.git(&["tag", "v1.0.0"]);
    let remote = Remote::new(&project, "github/acme/collection");
    remote.commit(&[
        (
            "agents/reviewer.md",
            "---\nname: code-reviewer\ndescription: Reviews code\ntools: Read\n---\nYou review.\n",
        ),
        (
            "rules/react.mdc",
            "---\ndescription: React components\nglobs: **/*.tsx\n---\nUse functions.\n",
        ),
        (
            "plugins/shipping/.claude-plugin/plugin.json",
            r#"{"name": "shipping", "version": "1.2.0", "description": "Ships things"}"#,
        ),
        (
            "plugins/shipping/commands/ship.md",
            "---\ndescription: Ships a version\n---\nShip $ARGUMENTS.\n",
        ),
        (
            "plugins/shipping/hooks/hooks.json",
            r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo done"}]}]}}"#,
        ),
    ]);
    project
}

/// A newer version of that registry.
fn publish(project: &Sandbox, version: &str) {
    let remote = Remote { path: project.outside_directory().join("github/acme/guidance.git") };
    let newer = "---\nschema: 1\nname: money\ndescription: Money is an integer number of cents\n\
        license: MIT\nmetadata:\n  version: \"1.1.0\"\n---\n\nMoney is cents, and never a float.\n";
    remote.commit(&[("rules/money/RULE.md", newer)]);
    remote.git(&["tag", version]);
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn nothing(_: &Sandbox, _: &str) {}

/// The page about registries has all that is printed.
#[test]
fn the_guide_to_registries_shows_what_is_printed() {
    let scene = || with_programs(with_registry(consumer()), "");
    let before = |project: &Sandbox, command: &str| {
        if command == "brief update --check" {
            publish(project, "v1.1.0");
        }
    };
    let path = "docs/how-to/use-a-registry.md";
    let silence = Silence::Counts;
    let mut page = Page::open(path, silence, &scene, &before);
    page.run();
    assert!(page.project.path().join("brief.lock").is_file());
}

/// The README, in the project of its picture.
#[test]
fn the_readme_runs_as_written() {
    let scene = || {
        let project = with_programs(consumer(), "");
        write_all(
            &project.path(),
            &[
                ("CLAUDE.md", "Prices are integers in cents.\n"),
                (
                    ".cursor/rules/payments.mdc",
                    "---\nglobs: src/api/**/*.py\n---\n\nNever log a whole card number. Log its last four digits.\n",
                ),
                ("src/api/pay.py", "def pay(card, cents): ...\n"),
            ],
        );
        project
    };
    let (path, silence) = ("README.md", Silence::Counts);
    Page::open(path, silence, &scene, &nothing).run();
}

/// The page about agents, against a model that always says the same.
#[test]
fn the_guide_to_agents_runs_as_written() {
    if !crate::has_brief_agent() {
        return;
    }
    let answer = json!({"finish": "stop", "deltas": [{"content": "It looks fine."}]});
    let server = ModelServer::start(vec![answer; 32]);
    let scene = || {
        let project = with_programs(consumer(), &server.url);
        project.write("src/orders.py", "def orders(): ...\n");
        git(&project.path(), &["add", "--all"]);
        git(&project.path(), &["commit", "--quiet", "-m", "orders"]);
        project.write("src/orders.py", "def orders(): return []\n");
        project
    };
    let (path, silence) = ("docs/how-to/run-agent-files.md", Silence::IsShort);
    Page::open(path, silence, &scene, &nothing).run();
    assert!(
        server.request_bodies().len() >= 3,
        "the page asks a model {} times",
        server.request_bodies().len()
    );
}

/// U60: the page about agent files has a complete example, which is checked, shown and called.
#[test]
fn the_reference_of_agent_files_runs_as_written() {
    if !crate::has_brief_agent() {
        return;
    }
    let scene = || with_programs(consumer(), "");
    let (path, silence) = ("docs/reference/agent-files.md", Silence::Counts);
    Page::open(path, silence, &scene, &nothing).run();
}

/// The page about reviewing, in a repository with a branch.
#[test]
fn the_guide_to_reviewing_runs_as_written() {
    let scene = || {
        let project = with_programs(consumer(), "");
        let top = project.path();
        let commit = |entries: &str, files: &[(&str, &str)]| {
            write_all(&top, &[("AGENTS.yaml", &format!("context:\n{entries}"))]);
            write_all(&top, files);
            git(&top, &["add", "--all"]);
            git(&top, &["commit", "--quiet", "-m", "guidance"]);
        };
        let price = |unit: &str| {
            format!("  - content: Prices are integers in {unit}.\n    match: [\"src/**\"]\n")
        };
        commit(&price("cents"), &[("src/a.py", ""), ("src/b.py", "")]);
        git(&top, &["checkout", "--quiet", "-b", "branch"]);
        let tests = "  - content: Write tests first.\n    match: [\"src/a.py\"]\n";
        commit(&format!("{tests}{}", price("euros")), &[]);
        project
    };
    let (path, silence) = ("docs/how-to/review-changes.md", Silence::Counts);
    Page::open(path, silence, &scene, &nothing).run();
}

#[test]
fn the_guide_to_mcp_runs_as_written() {
    let scene = || with_programs(consumer(), "");
    let (path, silence) = ("docs/how-to/deliver-by-mcp.md", Silence::Counts);
    Page::open(path, silence, &scene, &nothing).run();
}

#[test]
fn the_guide_to_pages_runs_as_written() {
    let scene = || with_programs(consumer(), "");
    let (path, silence) = ("docs/how-to/view.md", Silence::IsShort);
    Page::open(path, silence, &scene, &nothing).run();
}

/// The page about dependencies, in a project with an installed package.
#[test]
fn the_guide_to_dependencies_shows_what_is_printed() {
    let scene = || {
        let project = with_programs(consumer(), "");
        let package = "node_modules/@acme/ui";
        let skill = "---\nname: forms\ndescription: Make forms with the kit.\n---\n\nText.\n";
        write_all(
            &project.path(),
            &[
                (
                    &format!("{package}/package.json"),
                    "{\"name\": \"@acme/ui\", \"version\": \"2.1.0\"}",
                ),
                (&format!("{package}/AGENTS.md"), "# The kit\n\nSee https://ui.example.com.\n"),
                (&format!("{package}/skills/forms/SKILL.md"), skill),
            ],
        );
        project
    };
    let (path, silence) = ("docs/how-to/use-packages.md", Silence::Counts);
    Page::open(path, silence, &scene, &nothing).run();
}

#[test]
fn the_guide_to_importing_shows_what_is_printed() {
    let scene = || with_programs(consumer(), "");
    let (path, silence) = ("docs/how-to/import.md", Silence::Counts);
    Page::open(path, silence, &scene, &nothing).run();
}

/// Pages whose commands need nothing but a repository.
#[test]
fn plain_pages_run_as_written() {
    let scene = || {
        let project = with_programs(with_registry(consumer()), "");
        git(&project.path(), &["commit", "--quiet", "--allow-empty", "-m", "first"]);
        project
    };
    for path in PLAIN_PAGES {
        let silence = Silence::IsShort;
        Page::open(path, silence, &scene, &nothing).run();
    }
}

/// The page about rings, with 30 repositories: three in the canary, the others in the stable one.
#[test]
fn the_guide_to_rolling_out_runs_as_written() {
    let scene = || {
        let project = with_programs(consumer(), "");
        let settings = project.home().join(".gitconfig");
        let text = fs::read_to_string(&settings).unwrap();
        let user = "[user]\nname = You\nemail = you@example.com\n";
        fs::write(&settings, format!("{text}{user}")).unwrap();
        let remote = Remote::new(&project, "github/acme/guidance");
        let money = |version: &str, unit: &str| {
            format!(
                "---\nschema: 1\nname: money\ndescription: Use when working with prices\nlicense: MIT\n\
                 metadata:\n  version: \"{version}\"\n---\n\nPrices are {unit}.\n"
            )
        };
        remote.commit(&[("rules/money/RULE.md", &money("1.0.0", "integers"))]);
        remote.git(&["tag", "v1.0.0"]);
        remote.git(&["branch", "canary"]);
        remote.git(&["branch", "stable"]);
        remote.commit(&[("rules/money/RULE.md", &money("1.1.0", "cents"))]);
        remote.git(&["tag", "v1.1.0"]);
        let from = remote.path.to_string_lossy().into_owned();
        git(&project.path(), &["clone", "--quiet", &from, "guidance"]);
        let repositories = project.path().join("repositories");
        for (ring, numbers) in [("canary", 1..=3), ("stable", 4..=30)] {
            let member = |number: u32| repositories.join(format!("svc-{number:02}"));
            let first = member(*numbers.start());
            fs::create_dir_all(&first).unwrap();
            git(&first, &["init", "--quiet", "--initial-branch=main"]);
            let source = format!("acme/guidance@{ring}");
            let add =
                ["-C", first.to_str().unwrap(), "add", &source, "money", "--client", "claude"];
            let added = project.run(&add);
            assert_eq!(added.code, Some(0), "{added}");
            git(&first, &["add", "--all"]);
            git(&first, &["commit", "--quiet", "-m", "guidance"]);
            for number in numbers.skip(1) {
                copy_all(&first, &member(number));
            }
        }
        project
    };
    let (path, silence) = ("docs/how-to/roll-out.md", Silence::IsShort);
    Page::open(path, silence, &scene, &nothing).run();
}

/// A page whose commands need what no scratch project has: sessions that clients have recorded.
const NOT_RUN: &str = "docs/reference/replay.md";

/// Every tutorial and every how-to is run by a test of this file or of the runbook, and so is every other page with commands.
#[test]
fn every_page_with_commands_is_run() {
    let tests = concat!(
        include_str!("pages.rs"),
        include_str!("page_outcomes.rs"),
        include_str!("runbook.rs")
    );
    for (directory, has_tasks) in [
        ("docs/tutorials", true),
        ("docs/how-to", true),
        ("docs/explanation", false),
        ("docs/reference", false),
    ] {
        for entry in fs::read_dir(workspace().join(directory)).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            let page = fs::read_to_string(entry.path()).unwrap();
            let is_run = tests.contains(&format!("\"{directory}/{name}\""));
            let has_commands = has_tasks || page.contains("```console\n");
            let is_known = is_run || format!("{directory}/{name}") == NOT_RUN;
            assert!(is_known || !has_commands, "no test runs {directory}/{name}");
        }
    }
}

/// The runner notices when a page is wrong.
#[test]
fn any_lines_stand_for_any_lines() {
    assert!(fits(&["a", "…", "c"], &["a", "b", "b", "c"]));
    assert!(fits(&["a", "…"], &["a"]));
    assert!(!fits(&["a"], &["a", "b"]));
    assert!(!fits(&["a", "b"], &["a"]));
    assert!(fits(&[], &[]) && !fits(&[], &["a"]));
}
