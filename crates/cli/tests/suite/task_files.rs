//! The document of task files from outside: what only a shell and real files can show.

use brief_testkit::Sandbox;

use crate::{project_on_disk as project, trusted_project};

fn with_task(text: &str) -> Sandbox {
    trusted_project().with_file(".agents/tasks/t.md", text)
}

/// Standard output of a run that succeeds without a word besides.
fn printed(project: &Sandbox, args: &[&str]) -> String {
    let output = project.run(args);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{args:?}");
    output.stdout
}

fn script(project: &Sandbox, path: &str, text: &str) {
    brief_testkit::write_program(&project.path().join(path), text);
}

/// "Command Expansion / Behavior": "Commands are executed using `sh -c`".
#[test]
fn commands_are_executed_with_a_shell() {
    let text = "!`printf '%s-%s' \"$GREETING\" $((1 + 2)) | tr a-z A-Z; exit 0`\n";
    let project = with_task(text).with_env("GREETING", "hello");
    assert_eq!(printed(&project, &["task", "t", "--env", "GREETING"]), "HELLO-3\n\n");
}

/// "Command Expansion": each example of the document, run for real.
#[test]
fn the_documents_commands_run() {
    let project = with_task("Current date: !`date +%Y-%m-%d`\nFailing: !`false`\nRest\n");
    let output = project.run(&["task", "t"]);
    let lines: Vec<&str> = output.stdout.lines().collect();
    let date = lines[0].strip_prefix("Current date: ").unwrap();
    assert!(date.len() == 10 && date.starts_with("20"), "{date}");
    assert_eq!(lines[1..], ["", "Failing: !`false`", "Rest", ""]);
    assert!(output.stderr.contains("`false`") && output.stderr.contains(".agents/tasks/t.md:2"));
}

/// "Output Handling": the output of a script "goes to stderr, not the main context"; "Environment
/// Access"; "Requirements 1".
#[test]
fn scripts_write_to_standard_error() {
    let project = with_task("T\n").with_file(".agents/rules/r.md", "R @made.txt\n");
    script(
        &project,
        ".agents/rules/r-bootstrap",
        "#!/bin/sh\necho \"to stdout $JIRA_ISSUE_KEY\"\necho to stderr >&2\nprintf MADE > made.txt\nexit 3\n",
    );
    let project = project.with_env("JIRA_ISSUE_KEY", "BUG-7");
    let output = project.run(&["task", "t", "--env", "JIRA_ISSUE_KEY"]);
    assert_eq!((output.stdout.as_str(), output.code), ("R MADE\n\nT\n\n", Some(0)));
    assert!(output.stderr.contains("to stdout BUG-7") && output.stderr.contains("to stderr"));
}

/// Ruling T3: "all of them, by name, in `--json` and `--mcp-config CLIENT`".
#[test]
fn servers_of_task_and_rules_are_told_by_name() {
    let server =
        |port: u16| format!("mcp_server:\n  command: python\n  args: [\"-m\", \"{port}\"]\n");
    let project = with_task(&format!("---\n{}---\nT\n", server(1)))
        .with_file(".agents/rules/db.md", format!("---\n{}---\nR\n", server(2)))
        .with_file(".agents/rules/out.md", format!("---\nstage: x\n{}---\nR\n", server(3)));
    let arguments = ["task", "t", "-s", "stage=y"];
    let json = project.run(&[&arguments[..], &["--json"]].concat()).json();
    let servers = json["mcp_servers"].as_object().unwrap();
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["t", "db"]);
    assert_eq!(servers["db"]["args"], serde_json::json!(["-m", "2"]));
    let config = project.run(&[&arguments[..], &["--mcp-config", "claude"]].concat()).json();
    let servers = config["mcpServers"].as_object().unwrap();
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["t", "db"]);
}

/// Ruling T10: "`-C dir` means \"as if started there\"", for commands and scripts as for paths.
#[test]
fn commands_and_scripts_run_in_that_directory_too() {
    let project = project()
        .with_file("sub/.agents/tasks/t.md", "!`basename \"$PWD\"` @f.txt\n")
        .with_file("sub/.agents/rules/r.md", "@made.txt\n")
        .with_file("sub/f.txt", "FILE");
    script(&project, "sub/.agents/rules/r-bootstrap", "#!/bin/sh\nprintf MADE > made.txt\n");
    assert_eq!(printed(&project, &["-C", "sub", "task", "t", "--exec"]), "MADE\n\nsub\n FILE\n\n");
}

/// Ruling T11 with T10: flags may stand after the task's name through the link too.
#[test]
fn flags_may_stand_after_the_name_through_the_link() {
    let link = project().linked_as("coding-context").with_file("CLAUDE.md", "R\n");
    let link = link.with_file(".agents/tasks/t.md", "${a}\n");
    assert_eq!(link.run(&["t", "-r", "-p", "a=1"]).stdout, "1\n\n");
}
