//! Most tests call the program in their own process. It has to answer there as in a process of its own.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use brief_testkit::{Output, Sandbox};

use crate::{project, shop};

/// The input of each run: a hook's event.
fn event(project: &Sandbox) -> String {
    serde_json::json!({
        "session_id": "s",
        "cwd": project.path(),
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": project.path().join("src/cart.py")},
    })
    .to_string()
}

/// Everything below a directory.
fn files(directory: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.insert(path.to_str().unwrap().to_owned(), fs::read(path).unwrap());
        }
    }
}

/// The answer of a run and the project after it, without the path of the sandbox.
fn outcome(
    project: &Sandbox,
    run: impl FnOnce(&Sandbox) -> Output,
) -> (Output, BTreeMap<String, Vec<u8>>) {
    let mut output = run(project);
    let sandbox = project.home().parent().unwrap().to_string_lossy().into_owned();
    for text in [&mut output.stdout, &mut output.stderr] {
        *text = text.replace(&sandbox, "$SANDBOX");
    }
    let mut found = BTreeMap::new();
    files(&project.path(), &mut found);
    let top = project.path().to_string_lossy().into_owned();
    (output, found.into_iter().map(|(path, bytes)| (path.replace(&top, ""), bytes)).collect())
}

/// The same bytes, exit codes and files both ways: help, errors, text, JSON, standard input, `-C`, commands that write.
#[test]
fn a_call_and_a_process_agree() {
    let broken = || shop().with_file("lib/AGENTS.yaml", "context: [{content: A, on: x}]\n");
    for line in [
        "--help",
        "--version",
        "help add",
        "context --help",
        "",
        "bogus",
        "context --no-such-option --json",
        "context src/cart.py",
        "context src/cart.py --json",
        "context ../elsewhere",
        "-C src context cart.py --on edit",
        "-C nowhere context cart.py",
        "why src/cart.py --client claude",
        "show src/cart.py claude",
        "context --decisions src/cart.py",
        "tokens",
        "tokens --tree --color always",
        "lint",
        "lint --json",
        "lint --format sarif",
        "registry fmt --check",
        "registry fmt",
        "init",
        "registry new rule money",
        "schema client",
        "completions bash",
        "hook claude",
        "hook claude --no-such-option",
        "add ./nowhere",
        "task nothing",
        "trust .",
        "doctor",
    ] {
        let args: Vec<&str> = line.split_whitespace().collect();
        let (called, started) = (broken(), broken());
        let in_process = outcome(&called, |project| project.run_with_input(&args, event(project)));
        let apart = outcome(&started, |project| project.spawn_with_input(&args, event(project)));
        assert_eq!(in_process.0.to_string(), apart.0.to_string(), "{line}");
        assert_eq!(in_process, apart, "{line}");
    }
}

/// A program that the command starts has the environment of the sandbox, and nothing of the test's process.
#[cfg(unix)]
#[test]
fn commands_have_the_environment_of_the_sandbox() {
    let text = "!`pwd; env | grep -v '^_=' | sort`";
    let make = || {
        crate::trusted_project()
            .with_file(".agents/tasks/t.md", text)
            .with_dir("bin")
            .with_env("HELLO", "there")
    };
    let args = ["task", "t", "--env", "HELLO"];
    let with_path = |project: Sandbox| {
        let path = format!("{}:/usr/bin:/bin", project.path().join("bin").display());
        project.with_env("PATH", &path)
    };
    let (called, started) = (with_path(make()), with_path(make()));
    let in_process = outcome(&called, |project| project.run(&args)).0;
    assert_eq!(in_process.code, Some(0), "{in_process}");
    assert!(in_process.stdout.contains("HELLO=there\n"), "{in_process}");
    assert!(!in_process.stdout.contains("CARGO"), "{in_process}");
    assert_eq!(in_process, outcome(&started, |project| project.spawn(&args)).0);
}

/// A panic fails the test, as the exit code 101 of a process would.
#[test]
fn a_panic_fails_the_test() {
    let project = project().in_process(|_, _, _| panic!("out of order"));
    let failed = catch_unwind(AssertUnwindSafe(|| project.run(&["lint"]))).unwrap_err();
    assert_eq!(*failed.downcast_ref::<String>().unwrap(), "[\"lint\"]: out of order");
}
