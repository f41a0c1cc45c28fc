//! The document of task files from outside: what only a shell and real files can show.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use brief_testkit::Sandbox;

use crate::project;

fn with_task(text: &str) -> Sandbox {
    project().with_file(".agents/tasks/t.md", text)
}

/// Standard output of a run that succeeds without a word besides.
fn printed(project: &Sandbox, args: &[&str]) -> String {
    let output = project.run(args);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{args:?}");
    output.stdout
}

fn script(project: &Sandbox, path: &str, text: &str) {
    project.write(path, text);
    fs::set_permissions(project.path().join(path), fs::Permissions::from_mode(0o755)).unwrap();
}

/// "Command Expansion / Behavior": "Commands are executed using `sh -c`".
#[test]
fn commands_are_executed_with_a_shell() {
    let text = "!`printf '%s-%s' \"$GREETING\" $((1 + 2)) | tr a-z A-Z; exit 0`\n";
    let project = with_task(text).with_env("GREETING", "hello");
    assert_eq!(printed(&project, &["task", "t"]), "HELLO-3\n\n");
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
    let output = project.run(&["task", "t"]);
    assert_eq!((output.stdout.as_str(), output.code), ("R MADE\n\nT\n\n", Some(0)));
    assert!(output.stderr.contains("to stdout BUG-7") && output.stderr.contains("to stderr"));
}

/// Ruling T3: "`--no-frontmatter` drops it". Nothing else changes.
#[test]
fn the_front_matter_of_the_output_can_be_dropped() {
    let project = with_task("---\nmodel: gpt-4\n---\nT\n").with_file("CLAUDE.md", "R\n");
    let whole = printed(&project, &["task", "t"]);
    assert_eq!(whole, "---\nmodel: gpt-4\n---\nR\n\nT\n\n");
    let rest = printed(&project, &["task", "t", "--no-frontmatter"]);
    assert_eq!(format!("---\nmodel: gpt-4\n---\n{rest}"), whole);
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
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["db", "t"]);
    assert_eq!(servers["db"]["args"], serde_json::json!(["-m", "2"]));
    let config = project.run(&[&arguments[..], &["--mcp-config", "claude"]].concat()).json();
    let servers = config["mcpServers"].as_object().unwrap();
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["db", "t"]);
}

/// Ruling T10: "writes the rules where the agent reads them, between our own markers, keeps the
/// user's text, and a second run changes nothing".
#[test]
fn written_rules_keep_the_users_text_and_do_not_grow() {
    let project =
        with_task("---\nagent: claude\n---\nT\n").with_file(".agents/rules/r.md", "RULE\n");
    let file = project.home().join(".claude/CLAUDE.md");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "# Mine\n").unwrap();
    let mut texts = Vec::new();
    for _ in 0..3 {
        let output = project.run(&["task", "t", "-w"]);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(output.stdout.ends_with("T\n\n") && !output.stdout.contains("RULE"));
        texts.push(fs::read_to_string(&file).unwrap());
    }
    assert!(texts[0].starts_with("# Mine\n"), "{}", texts[0]);
    assert_eq!(texts[0].matches("RULE").count(), 1);
    assert_eq!((&texts[1], &texts[2]), (&texts[0], &texts[0]));
}

/// Ruling T10: "`-C dir` means \"as if started there\"", for paths, commands and scripts.
#[test]
fn another_directory_is_as_if_started_there() {
    let project = project()
        .with_file("sub/.agents/tasks/t.md", "!`basename \"$PWD\"` @f.txt\n")
        .with_file("sub/.agents/rules/r.md", "@made.txt\n")
        .with_file("sub/f.txt", "FILE");
    script(&project, "sub/.agents/rules/r-bootstrap", "#!/bin/sh\nprintf MADE > made.txt\n");
    assert_eq!(printed(&project, &["-C", "sub", "task", "t"]), "MADE\n\nsub\n FILE\n\n");
}

/// Ruling T10: "Flags may stand after the task name."
#[test]
fn flags_may_stand_after_the_name() {
    let project = with_task("${a}\n").with_file("CLAUDE.md", "R\n");
    assert_eq!(printed(&project, &["task", "t", "-r", "-p", "a=1"]), "1\n\n");
    let link = Sandbox::new(env!("CARGO_BIN_EXE_brief")).linked_as("coding-context");
    let link = link.with_file(".agents/tasks/t.md", "${a}\n").with_file("CLAUDE.md", "R\n");
    assert_eq!(link.run(&["t", "-r", "-p", "a=1"]).stdout, "1\n\n");
}

/// Ruling T10: "A missing `-d` directory is an error; a missing `-D` one a warning."
#[test]
fn a_missing_directory_is_an_error_or_a_warning() {
    let project = with_task("T\n");
    let given = project.run(&["task", "t", "-d", "nowhere"]);
    assert!(given.code != Some(0) && given.stdout.is_empty(), "{given}");
    assert!(given.stderr.contains("nowhere"));
    let fallback = project.run(&["task", "t", "-D", "nowhere"]);
    assert_eq!((fallback.code, fallback.stdout.as_str()), (Some(0), "T\n\n"));
    assert!(fallback.stderr.contains("nowhere") && fallback.stderr.contains("warning"));
}

/// Rulings G7, G8: lint, a list and an explanation run nothing.
#[test]
fn only_the_task_itself_executes() {
    let project = with_task("!`touch ran`\n").with_file(".agents/rules/r.md", "R\n");
    script(&project, ".agents/rules/r-bootstrap", "#!/bin/sh\ntouch ran\n");
    for args in [
        &["lint"][..],
        &["task", "list"],
        &["task", "t", "--explain"],
        &["task", "t", "--dry-run"],
        &["task", "t", "--no-exec"],
        &["context", "src/a.rs"],
        &["why", "src/a.rs"],
    ] {
        let _ = project.run(args);
        assert!(!project.path().join("ran").exists(), "{args:?} runs something");
    }
    let never = with_task("!`touch ran`\n").with_env("BRIEF_EXEC", "never");
    assert_eq!(never.run(&["task", "t"]).stdout, "!`touch ran`\n\n");
    assert!(!never.path().join("ran").exists());
    assert_eq!(project.run(&["task", "t"]).code, Some(0));
    assert!(project.path().join("ran").exists());
}
