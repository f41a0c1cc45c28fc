//! The document's examples of what is put into texts: "Content Expansion" and "Command Files".

use brief_dialects::tasks::NotRun;

use super::support::{Scripted, output, project, run, run_live, task_text, warnings};

/// "Parameter Expansion": the example and its command line.
#[test]
fn parameters_are_put_in() {
    let text = "# Fix Bug: ${issue_key}\n\nIssue: ${issue_key}\nDescription: ${description}\nSeverity: ${severity}\n";
    let system = project().with_file(".agents/tasks/fix-bug.md", text);
    let prompt = run(
        &system,
        &[
            "-p",
            "issue_key=BUG-123",
            "-p",
            "description=Crashes on startup",
            "-p",
            "severity=critical",
            "/fix-bug",
        ],
    );
    assert_eq!(
        output(&prompt),
        "# Fix Bug: BUG-123\n\nIssue: BUG-123\nDescription: Crashes on startup\nSeverity: critical\n\n"
    );
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// "Parameter Expansion / Behavior": "`${missing}` stays as `${missing}` and a warning is logged".
#[test]
fn a_missing_parameter_stays_and_is_reported() {
    let system = project().with_file(".agents/tasks/t.md", "---\na: b\n---\nx\n${missing}\n");
    let prompt = run(&system, &["t"]);
    assert_eq!(task_text(&prompt), "x\n${missing}\n");
    assert_eq!(
        warnings(&prompt),
        [
            ".agents/tasks/t.md:5 tasks/missing-parameter `${missing}` stays as written: no parameter `missing` was given"
        ]
    );
}

const SYSTEM_INFORMATION: &str = "# System Information\n\nCurrent date: !`date +%Y-%m-%d`\nCurrent user: !`whoami`\nGit branch: !`git rev-parse --abbrev-ref HEAD`\n";

/// "Command Expansion": the example, with its output.
#[test]
fn commands_are_run_and_their_output_put_in() {
    let system = project().with_file(".agents/tasks/t.md", SYSTEM_INFORMATION);
    let mut live = Scripted::default()
        .answer("date +%Y-%m-%d", "2025-12-11")
        .answer("whoami", "alex")
        .answer("git rev-parse --abbrev-ref HEAD", "main");
    let prompt = run_live(&system, &["t"], &mut live);
    assert_eq!(
        task_text(&prompt),
        "# System Information\n\nCurrent date: 2025-12-11\nCurrent user: alex\nGit branch: main\n"
    );
    assert_eq!(
        live.commands,
        ["date +%Y-%m-%d", "whoami", "git rev-parse --abbrev-ref HEAD"],
        "each once, in order, as written"
    );
}

/// "Command Expansion / Behavior": "included as-is (including any trailing newlines)".
#[test]
fn the_line_breaks_of_a_command_stay() {
    let system = project().with_file(".agents/tasks/t.md", SYSTEM_INFORMATION);
    let mut live = Scripted::default()
        .answer("date +%Y-%m-%d", "2025-12-11\n")
        .answer("whoami", "alex\n\n")
        .answer("git rev-parse --abbrev-ref HEAD", "main\r\n");
    assert_eq!(
        task_text(&run_live(&system, &["t"], &mut live)),
        "# System Information\n\nCurrent date: 2025-12-11\n\nCurrent user: alex\n\n\nGit branch: main\r\n\n"
    );
}

/// "Command Expansion / Behavior": "`` !`false` `` stays as `` !`false` ``) and a warning is
/// logged".
#[test]
fn a_failed_command_stays_and_is_reported() {
    let system = project().with_file(".agents/tasks/t.md", "a\nb !`false` c\n");
    let mut live = Scripted::default().refuse("false", NotRun::Failed("exit status 1".to_owned()));
    let prompt = run_live(&system, &["t"], &mut live);
    assert_eq!(task_text(&prompt), "a\nb !`false` c\n");
    assert_eq!(
        warnings(&prompt),
        [
            ".agents/tasks/t.md:2 tasks/command-failed the command `false` stays as written: exit status 1"
        ]
    );
}

/// "Path Expansion": the example. "File content is included verbatim."
#[test]
fn files_are_put_in() {
    let system = project()
        .with_file(
            ".agents/tasks/t.md",
            "# Current Configuration\n\n@config.yaml\n\n# API Documentation\n\n@docs/api.md\n",
        )
        .with_file("config.yaml", "---\na: 1\n---\n\n")
        .with_file("docs/api.md", "# API\r\n");
    let prompt = run(&system, &["t"]);
    assert_eq!(
        task_text(&prompt),
        "# Current Configuration\n\n---\na: 1\n---\n\n\n\n# API Documentation\n\n# API\r\n\n"
    );
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// "Path Expansion / With spaces in filenames".
#[test]
fn a_path_has_escaped_spaces() {
    let system = project()
        .with_file(".agents/tasks/t.md", "Content from file: @my\\ file\\ with\\ spaces.txt\n")
        .with_file("my file with spaces.txt", "SPACES");
    assert_eq!(task_text(&run(&system, &["t"])), "Content from file: SPACES\n");
}

/// "Path Expansion / Behavior": "`@missing.txt` stays as `@missing.txt`) and a warning is logged".
#[test]
fn a_missing_file_stays_and_is_reported() {
    let system = project().with_file(".agents/tasks/t.md", "a\n\n  @missing.txt here\n");
    let prompt = run(&system, &["t"]);
    assert_eq!(task_text(&prompt), "a\n\n  @missing.txt here\n");
    assert_eq!(
        warnings(&prompt),
        [".agents/tasks/t.md:3 tasks/missing-file `@missing.txt` stays as written: file not found"]
    );
}

/// "Path Expansion / Behavior": "Path can be absolute or relative to the current directory".
#[test]
fn a_path_is_absolute_or_relative() {
    let system = project()
        .with_file(".agents/tasks/t.md", "@/elsewhere/a.txt @sub/b.txt @./c.txt @../up.txt")
        .with_file("/elsewhere/a.txt", "A")
        .with_file("sub/b.txt", "B")
        .with_file("c.txt", "C")
        .with_file("/up.txt", "U");
    assert_eq!(task_text(&run(&system, &["t"])), "A B C U");
}

/// "Security: Single-Pass Expansion": its three examples.
#[test]
fn what_is_put_in_is_never_processed_again() {
    let system = project()
        .with_file(".agents/tasks/t.md", "!`print`\n@file.txt\n${value}\n")
        .with_file("file.txt", "!`command`")
        .with_file("path", "READ");
    let mut live = Scripted::default().answer("print", "${param}").answer("command", "RAN");
    let arguments = ["-p", "param=EXPANDED", "-p", "value=@path", "t"];
    let prompt = run_live(&system, &arguments, &mut live);
    assert_eq!(task_text(&prompt), "${param}\n!`command`\n@path\n");
    assert_eq!(live.commands, ["print"]);
}

/// "Command Files / Format": "This content will be substituted when the command is referenced."
#[test]
fn a_command_is_front_matter_and_markdown() {
    let text = "---\ndescription: x\n---\n\n# Command content in Markdown\n\nThis content will be substituted when the command is referenced.\n";
    let system = project()
        .with_file(".agents/tasks/t.md", "before\n/command-name\nafter\n")
        .with_file(".agents/commands/command-name.md", text);
    let prompt = run(&system, &["t"]);
    assert_eq!(
        task_text(&prompt),
        "before\n\n# Command content in Markdown\n\nThis content will be substituted when the command is referenced.\nafter\n"
    );
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// "Command Files / `expand`": the example, the task that uses it, and its output.
#[test]
fn expand_false_in_a_command_preserves_its_template() {
    let command = "---\nexpand: false\n---\n\nDeploy to ${environment} with version ${version}\n";
    let system = project()
        .with_file(".agents/tasks/my-task.md", "---\n---\n\n/deploy-steps\n")
        .with_file(".agents/commands/deploy-steps.md", command);
    let prompt = run(&system, &["-p", "environment=prod", "-p", "version=1.0", "my-task"]);
    assert_eq!(task_text(&prompt), "\n\nDeploy to ${environment} with version ${version}\n");
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// "Slash Command Syntax": the sequence. Blank lines around a command stay (ruling T8).
#[test]
fn a_sequence_of_commands_is_put_in_one_after_the_other() {
    let system = project()
        .with_file(
            ".agents/tasks/t.md",
            "# Deployment Steps\n\n/pre-deploy\n\n/deploy\n\n/post-deploy\n",
        )
        .with_file(".agents/commands/pre-deploy.md", "PRE\n")
        .with_file(".agents/commands/deploy.md", "DEPLOY\n")
        .with_file(".agents/commands/post-deploy.md", "POST\n");
    let prompt = run(&system, &["t"]);
    assert_eq!(task_text(&prompt), "# Deployment Steps\n\nPRE\n\nDEPLOY\n\nPOST\n");
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// "Commands can also receive inline parameters".
#[test]
fn commands_receive_inline_parameters() {
    let system = project()
        .with_file(
            ".agents/tasks/t.md",
            "/greet name=\"Alice\"\n/deploy env=\"production\" version=\"1.2.3\"\n",
        )
        .with_file(".agents/commands/greet.md", "Hello, ${name}!\n")
        .with_file(".agents/commands/deploy.md", "Deploy ${version} to ${env}.\n");
    let prompt = run(&system, &["t"]);
    assert_eq!(task_text(&prompt), "Hello, Alice!\nDeploy 1.2.3 to production.\n");
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// "Command Files / File Locations": the four directories.
#[test]
fn commands_lie_in_four_directories() {
    for path in [
        ".agents/commands/deploy.md",
        ".cursor/commands/deploy.md",
        ".opencode/command/deploy.md",
        "/h/.agents/commands/deploy.md",
    ] {
        let system =
            project().with_file(".agents/tasks/t.md", "/deploy\n").with_file(path, "DEPLOY\n");
        assert_eq!(task_text(&run(&system, &["t"])), "DEPLOY\n", "{path}");
    }
}
