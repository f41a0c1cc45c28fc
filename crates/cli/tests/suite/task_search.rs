//! `brief task`: where tasks are looked for, and what is said when there is none.

use std::fs;

use brief_testkit::{Output, Sandbox};

use crate::project_on_disk as project;

/// A project with one task, and a rule in each of three directories beside it.
fn roots() -> Sandbox {
    project()
        .with_file("app/.agents/tasks/t.md", "Task.\n")
        .with_file("app/.agents/rules/r.md", "Rule of the project.\n")
        .with_file("one/.agents/rules/r.md", "Rule one.\n")
        .with_file("two/.agents/rules/r.md", "Rule two.\n")
        .with_file("three/.agents/rules/r.md", "Rule three.\n")
}

/// Writes a file in the home directory.
fn at_home(project: &Sandbox, path: &str, content: &str) {
    let path = project.home().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// A run that printed nothing and ended with this code; returns what it said.
#[track_caller]
fn refusal(output: &Output, code: i32) -> &str {
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(code)), "{output}");
    &output.stderr
}

#[track_caller]
fn assert_prints(output: &Output, expected: &str) {
    assert_eq!((output.stdout.as_str(), output.code), (expected, Some(0)), "{output}");
    assert_eq!(output.stderr, "", "{output}");
}

/// Ruling T6: "search roots in the order `-d` (as given), project, home, `-D`, manifest".
#[test]
fn roots_come_in_their_order() {
    let project = roots().with_file("list", "three\n");
    at_home(&project, ".agents/rules/r.md", "Rule at home.\n");
    let args =
        ["task", "t", "-C", "app", "-m", "../list", "-D", "../two", "-d", "../one", "-d", "../two"];
    assert_prints(
        &project.run(&args),
        "Rule one.\n\nRule two.\n\nRule of the project.\n\nRule at home.\n\nRule three.\n\nTask.\n\n",
    );
}

/// Ruling T2: "A project file does not clash with a home file: the project wins." A task at home
/// is one all the same.
#[test]
fn the_first_root_has_the_task() {
    let project = roots().with_file("one/.agents/tasks/t.md", "Task one.\n");
    at_home(&project, ".agents/tasks/t.md", "Task at home.\n");
    at_home(&project, ".agents/tasks/mine.md", "Only at home.\n/c\n");
    at_home(&project, ".agents/commands/c.md", "home command\n");
    at_home(&project, ".cursor/commands/other.md", "not ours\n");
    let run = |args: &[&str]| project.run_in("app", &[&["task", "-r"], args].concat(), "");
    assert_prints(&run(&["t"]), "Task.\n\n");
    assert_prints(&run(&["t", "-d", "../one"]), "Task one.\n\n");
    assert_prints(&run(&["t", "-D", "../one"]), "Task.\n\n");
    assert_prints(&run(&["mine"]), "Only at home.\nhome command\n\n");
    assert!(refusal(&run(&["other"]), 1).contains("no task found: other"));
}

/// Ruling T10: "A missing `-d` directory is an error; a missing `-D` one a warning."
#[test]
fn a_directory_that_is_not_there() {
    let project = roots().with_file("app/file", "");
    let run = |args: &[&str]| project.run_in("app", &[&["task", "t"], args].concat(), "");
    insta::assert_snapshot!(run(&["-d", "nowhere"]), @"
    ------- stderr -------
    error: cannot search the directory `nowhere`: does not exist
    [exit status: 1]
    [EOF]
    ");
    insta::assert_snapshot!(run(&["-D", "nowhere"]), @"
    Rule of the project.

    Task.

    ------- stderr -------
    warning: cannot search the directory `nowhere`: does not exist
    [EOF]
    ");
    insta::assert_snapshot!(run(&["-d", "file"]), @"
    ------- stderr -------
    error: `file` is not a directory
    [exit status: 1]
    [EOF]
    ");
    let list = project.run_in("app", &["task", "list", "-d", "nowhere"], "");
    assert!(refusal(&list, 1).contains("`nowhere`"));
    assert!(refusal(&run(&["-d", ""]), 1).contains("empty"));
}

/// Ruling T10: a manifest has one directory in each line; relative ones start at the manifest.
#[test]
fn a_manifest_names_directories() {
    let project = roots().with_file(
        "lists/all",
        "\u{feff}# ours\r\n\r\n  ../one  \r\n\t# ../two\r\nnowhere\r\n../three",
    );
    insta::assert_snapshot!(project.run(&["task", "t", "-C", "app", "-m", "../lists/all"]), @"
    Rule of the project.

    Rule one.

    Rule three.

    Task.

    ------- stderr -------
    warning: cannot search the directory `nowhere`: does not exist
    [EOF]
    ");
    let absolute = format!("{}\n", project.path().join("two").display());
    project.write("app/list", absolute);
    let output = project.run_in("app", &["task", "t", "--manifest", "list"], "");
    assert_prints(&output, "Rule of the project.\n\nRule two.\n\nTask.\n\n");
}

#[test]
fn a_manifest_that_cannot_be_read() {
    let project = roots().with_file("app/latin", b"caf\xe9\n").with_dir("app/folder");
    let run = |file| project.run_in("app", &["task", "t", "-m", file], "");
    insta::assert_snapshot!(run("nowhere"), @"
    ------- stderr -------
    error: failed to read the manifest `$PROJECT/app/nowhere`: no such file
    [exit status: 1]
    [EOF]
    ");
    assert!(refusal(&run("latin"), 1).contains("is not UTF-8"));
    assert!(refusal(&run("folder"), 1).contains("is a directory"));
}

/// Ruling T6: "A file reached twice counts once", also when the project is the home directory.
#[test]
fn the_project_may_be_the_home_directory() {
    let project = project()
        .with_file(".agents/tasks/t.md", "Task.\n")
        .with_file(".agents/rules/r.md", "Rule.\n")
        .with_file(".cursor/commands/u.md", "Command.\n")
        .with_file(
            ".agents/skills/s/SKILL.md",
            "---\nname: s\ndescription: d\ntask_names: other\n---\n",
        );
    let home = project.path();
    let project = project.with_env("HOME", home.to_str().unwrap());
    assert_prints(&project.run(&["task", "t"]), "Rule.\n\nTask.\n\n");
    assert_prints(&project.run(&["task", "t", "-d", ".", "-D", "."]), "Rule.\n\nTask.\n\n");
    assert_prints(&project.run(&["task", "u", "-r"]), "Command.\n\n");
    let list = project.run(&["task", "list"]);
    assert_prints(&list, "t  .agents/tasks/t.md\n  Task.\nu  .cursor/commands/u.md\n  Command.\n");
}

/// Two ways to one file, by links: it counts once, where it is found first.
#[cfg(unix)]
#[test]
fn a_linked_file_counts_once() {
    let project = project()
        .with_file(".agents/tasks/t.md", "Task.\n")
        .with_file("AGENTS.md", "Rule.\n")
        .with_link("CLAUDE.md", "AGENTS.md")
        .with_link(".agents/rules/again.md", "../../AGENTS.md")
        .with_link(".agents/rules/circle", ".");
    assert_prints(&project.run(&["task", "t"]), "Rule.\n\nTask.\n\n");
}

#[test]
fn no_home_directory_is_no_error() {
    let project = roots();
    for home in [None, Some(""), Some("nowhere")] {
        let mut command = project.prepare_command("app", &["task", "t"]);
        match home {
            None => command.env_remove("HOME"),
            Some(home) => command.env("HOME", home),
        };
        let output = command.output().unwrap();
        assert_eq!(output.stdout, b"Rule of the project.\n\nTask.\n\n", "{home:?}");
        assert_eq!((output.stderr.as_slice(), output.status.code()), (&b""[..], Some(0)));
    }
}

/// Ruling T2: "None left: `no task found: X`, with the nearest names."
#[test]
fn an_unknown_task_has_near_names() {
    let project = project()
        .with_file(".agents/tasks/fix-bug.md", "")
        .with_file(".agents/tasks/deep/fix-bugs.md", "")
        .with_file(".agents/tasks/release.md", "")
        .with_file(".agents/namespaces/web/tasks/deploy.md", "");
    insta::assert_snapshot!(project.run(&["task", "fix-bgu"]), @"
    ------- stderr -------
    error: no task found: fix-bgu
    hint: did you mean `fix-bug` or `fix-bugs`?
    [exit status: 1]
    [EOF]
    ");
    assert!(refusal(&project.run(&["task", "web/deplyo"]), 1).contains("`web/deploy`"));
    // Ruling T1: by file name, nothing else.
    project.write(".agents/tasks/other.md", "---\ntask_name: called\n---\n");
    assert!(refusal(&project.run(&["task", "called"]), 1).contains("no task found: called"));
    assert_eq!(project.run(&["task", "other"]).code, Some(0));
}

#[test]
fn an_empty_project_says_where_tasks_belong() {
    let output = project().run(&["task", "fix-bug"]);
    let said = refusal(&output, 1);
    assert!(said.starts_with("error: no task found: fix-bug\nhint: "), "{said}");
    assert!(said.contains("`.agents/tasks/NAME.md`"), "{said}");
}

/// Document, "Multiple Tasks": "If no task matches: \"no task found\"".
#[test]
fn a_task_that_selectors_leave_out_says_why() {
    let project = project().with_file(".agents/tasks/t.md", "---\nstage: [build, test]\n---\nT\n");
    insta::assert_snapshot!(project.run(&["task", "t", "-s", "stage=deploy"]), @"
    ------- stderr -------
    error: no task found: t; skipped .agents/tasks/t.md: requires stage=build, test, not deploy
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(project.run(&["task", "t", "-s", "stage=test"]).code, Some(0));
}

/// Document, "Multiple Tasks": without selectors an error, and ruling T2: "listing the files".
#[test]
fn two_tasks_of_one_name_are_an_error() {
    let project = project()
        .with_file(".agents/tasks/a/t.md", "---\nenvironment: staging\n---\nA\n")
        .with_file(".agents/tasks/b/t.md", "---\nenvironment: production\n---\nB\n")
        .with_file(".cursor/commands/t.md", "---\nenvironment: local\n---\nC\n");
    insta::assert_snapshot!(project.run(&["task", "t"]), @"
    ------- stderr -------
    error: multiple tasks found with task_name: t: .agents/tasks/a/t.md, .agents/tasks/b/t.md, .cursor/commands/t.md
    hint: choose one with `-s KEY=VALUE`, or rename one
    [exit status: 1]
    [EOF]
    ");
    let args = ["task", "t", "--no-frontmatter", "-s", "environment=production"];
    assert_prints(&project.run(&args), "B\n\n");
    let args = ["task", "t", "-s", "environment=production", "-s", "environment=local"];
    assert!(refusal(&project.run(&args), 1).contains("multiple tasks found"));
    // Ruling T2: "unless one is a copy, word for word, in another tool's directory".
    project.write(".agents/tasks/a/same.md", "Same.\n");
    project.write(".cursor/commands/same.md", "Same.\n");
    assert_prints(&project.run(&["task", "same"]), "Same.\n\n");
    project.write(".cursor/commands/same.md", "Not the same.\n");
    assert!(refusal(&project.run(&["task", "same"]), 1).contains("multiple tasks found"));
}

/// Ruling T1: "a namespace cannot lead elsewhere".
#[test]
fn a_name_cannot_lead_elsewhere() {
    let project = project()
        .with_file(".agents/tasks/x.md", "X")
        .with_file(".agents/namespaces/a/tasks/b/c.md", "C")
        .with_file("tasks/x.md", "outside");
    for name in ["a/b/c", "team/", "../x", "..", "a/..", "", "/", "//x", "a\\x", "/../x"] {
        let output = project.run(&["task", name]);
        let said = refusal(&output, 1);
        assert!(said.starts_with("error: invalid task name "), "{name}: {said}");
    }
    for name in ["x.md", "*", "tasks", "X"] {
        let output = project.run(&["task", name]);
        assert!(refusal(&output, 1).starts_with("error: no task found: "), "{name}");
    }
}

/// A task may be called like one of our own commands.
#[test]
fn a_slash_tells_a_task_from_a_command() {
    let project = project()
        .with_file(".agents/tasks/list.md", "A list.\n")
        .with_file(".agents/tasks/help.md", "Help.\n")
        .with_file(".agents/tasks/-x.md", "An x.\n");
    assert_prints(&project.run(&["task", "/list"]), "A list.\n\n");
    assert_prints(&project.run(&["task", "/help"]), "Help.\n\n");
    assert_prints(&project.run(&["task", "--", "-x"]), "An x.\n\n");
}

/// "2: the call is wrong." What is wrong, and how it is called, on one screen.
#[test]
fn a_wrong_call_is_told_on_one_screen() {
    let project = roots();
    for args in [
        &["t", "prompt", "third"][..],
        &["t", "--unknown"],
        &["t", "-a", "cursr"],
        &["t", "-s", "stage"],
        &["t", "-s", "=build"],
        &["t", "-p", "issue"],
        &["t", "-p", "=1"],
        &["t", "--time-limit", "0"],
        &["t", "--time-limit", "soon"],
        &["t", "--force"],
        &["t", "--mcp-config", "nobody"],
        &["t", "--json", "--explain"],
        &["t", "--json", "--mcp-config", "claude"],
        &["t", "--dry-run", "-w"],
        &["t", "--explain", "-w"],
        &["t", "--mcp-config", "claude", "-w"],
        &["list", "extra"],
    ] {
        let output = project.run_in("app", &[&["task"], args].concat(), "");
        let said = refusal(&output, 2);
        let start = if args.contains(&"--json") { "{\n  \"kind\": \"error\"" } else { "error: " };
        assert!(said.starts_with(start), "{args:?}: {said}");
        assert!(said.lines().count() <= 24, "{args:?}: {said}");
    }
    insta::assert_snapshot!(project.run(&["task", "t", "-s", "stage"]), @"
    ------- stderr -------
    error: invalid selector format: stage
    hint: write `-s key=value`
    [exit status: 2]
    [EOF]
    ");
}

/// A task for an unknown agent cannot be run.
#[test]
fn a_task_for_an_unknown_agent_is_refused() {
    let project = project().with_file(".agents/tasks/t.md", "---\nmodel: m\nagent: cursr\n---\n");
    insta::assert_snapshot!(project.run(&["task", "t"]), @"
    ------- stderr -------
    error: .agents/tasks/t.md:3: unknown agent: cursr (supported: cursor, copilot, claude, gemini, opencode, augment, windsurf, codex)
    [exit status: 1]
    [EOF]
    ");
}

/// A link out of a search root is not followed (ruling G6), which is said with its way out.
#[cfg(unix)]
#[test]
fn a_link_out_of_its_root_is_not_followed() {
    let project = project().with_file(".agents/tasks/t.md", "Task.\n");
    let outside = project.outside_directory();
    fs::write(outside.join("secret.md"), "SECRET\n").unwrap();
    let project = project
        .with_link(".agents/rules", &outside)
        .with_link(".cursor/rules/x.md", outside.join("secret.md"))
        .with_link("CLAUDE.md", outside.join("secret.md"))
        .with_link(".agents/skills/s", &outside);
    let output = project.run(&["task", "t"]);
    assert_eq!((output.stdout.as_str(), output.code), ("Task.\n\n", Some(0)), "{output}");
    for path in [".agents/rules", ".cursor/rules/x.md", "CLAUDE.md", ".agents/skills/s"] {
        let problem = "the file was not read: is a symbolic link that leaves";
        let warning = format!("warning[tasks/link-outside]: {path}: {problem}");
        assert!(output.stderr.contains(&warning), "{path}: {output}");
    }
    assert!(output.stderr.contains("`brief task -d DIR`"), "{output}");
}
