//! `brief task` runs what the texts ask for: real processes, their limits, and every way to leave
//! them alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::{Receiver, channel};

use brief_testkit::{Output, PATIENCE, Sandbox, make_fifo, send_signal, write_program};

use crate::trusted_project;

/// The time to wait for something that should have happened already.
fn with_task(text: &str) -> Sandbox {
    trusted_project().with_file(".agents/tasks/t.md", text)
}

/// Writes a program of the project.
fn script(project: &Sandbox, path: &str, text: &str) {
    write_program(&project.path().join(path), text);
}

/// A project with a task, a rule, and a script beside the rule.
fn with_bootstrap(rule: &str, text: &str) -> Sandbox {
    let project = with_task("Task.\n").with_file(".agents/rules/r.md", rule);
    script(&project, ".agents/rules/r-bootstrap", text);
    project
}

fn ran(project: &Sandbox) -> bool {
    project.path().join("marker").exists()
}

#[track_caller]
fn assert_prints(output: &Output, expected: &str) {
    assert_eq!((output.stdout.as_str(), output.code), (expected, Some(0)), "{output}");
    assert_eq!(output.stderr, "", "{output}");
}

/// Document, "Command Expansion": "included as-is (including any trailing newlines)", "executed
/// using `sh -c`".
#[test]
fn a_command_stands_for_its_output() {
    let project = with_task(
        "Here: !`pwd`. There: !`printf '%s' \"$HELLO\"`!\n!`printf 'a\\n\\n'`!`cat`!`exit 0`\n",
    )
    .with_env("HELLO", "hello there");
    let expected = "Here: $PROJECT\n. There: hello there!\na\n\n\n\n";
    assert_prints(&project.run(&["task", "t", "--env", "HELLO"]), expected);
    let nested = project.with_file("app/.agents/tasks/t.md", "!`pwd`");
    assert_prints(&nested.run(&["task", "t", "-C", "app", "--exec"]), "$PROJECT/app\n\n");
}

/// A command's standard error is for people.
#[test]
fn standard_error_of_a_command_is_not_in_the_prompt() {
    let output = with_task("!`echo out; echo err >&2`").run(&["task", "t"]);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("out\n\n", "err\n"));
}

/// Ruling T7: "Parameters are in a command's environment, never in its text."
#[test]
fn a_parameter_is_never_shell_language() {
    let project = with_task("!`echo \"${p}|$BRIEF_PARAM_p\"; echo $PATH`");
    let args = ["task", "t", "-p", "p=\"; touch marker; `touch marker`", "-p", "PATH=/nowhere"];
    let expected = "|\"; touch marker; `touch marker`\n/usr/bin:/bin\n\n";
    let output = project.run(&args);
    assert_eq!((output.stdout.as_str(), output.code), (expected, Some(0)), "{output}");
    assert!(output.stderr.contains("tasks/parameter-in-command"), "{output}");
    let project = with_task("!`echo ${p}`\n${p}\n");
    let output = project.run(&["task", "t", "-p", "p=; touch marker"]);
    assert_eq!(output.stdout, "\n\n; touch marker\n\n", "{output}");
    let hostile = project.run(&["task", "t", "-p", "p=x", "-p", "a b=1", "-p", "x;y=2"]);
    assert_eq!(hostile.code, Some(0), "{hostile}");
    assert!(!ran(&project));
}

/// Document: "If the command fails, the original syntax remains unchanged […] and a warning is
/// logged"; ruling T7: with its line.
#[test]
fn a_failing_command_stays_as_written() {
    let project = with_task("---\nmodel: m\n---\nOne\n!`echo x; exit 3`, !`nosuchprogram 2>&-`\n");
    insta::assert_snapshot!(project.run(&["task", "t", "--no-frontmatter"]), @"
    One
    !`echo x; exit 3`, !`nosuchprogram 2>&-`

    ------- stderr -------
    warning[tasks/command-failed]: .agents/tasks/t.md:5:1: the command `echo x; exit 3` stays as written: exited with status 3
    warning[tasks/command-failed]: .agents/tasks/t.md:5:20: the command `nosuchprogram 2>&-` stays as written: exited with status 127
    [EOF]
    ");
    let output = with_task("!`kill -9 $$`").run(&["task", "t"]);
    assert!(output.stderr.contains("killed by a signal"), "{output}");
}

/// A pipe that stays open for as long as some program lives that a command has started.
struct Alive {
    messages: Receiver<&'static str>,
}

impl Alive {
    /// Makes the pipe `alive` in the project; `exec 3>alive` holds it.
    fn watch(project: &Sandbox) -> Alive {
        let path = project.path().join("alive");
        make_fifo(&path);
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut pipe = fs::File::open(path).unwrap();
            sender.send("started").unwrap();
            std::io::copy(&mut pipe, &mut std::io::sink()).unwrap();
            let _ = sender.send("ended");
        });
        Alive { messages }
    }

    #[track_caller]
    fn expect(&self, message: &str) {
        assert_eq!(self.messages.recv_timeout(PATIENCE), Ok(message));
    }
}

/// A text for `sh` that holds the pipe open in a program that its own child has started.
const HANG: &str = "exec 3>alive; (sleep 300; touch marker) & sleep 300";

/// Ruling G7: "Each run has a time limit"; reference: "what takes longer is ended with all that it
/// started".
#[test]
fn a_hanging_command_is_ended_with_its_children() {
    let project = with_task(&format!("!`{HANG}`, !`echo next`"));
    let alive = Alive::watch(&project);
    let output = project.run(&["task", "t", "--time-limit", "1"]);
    assert_eq!(output.stdout, format!("!`{HANG}`, next\n\n"));
    assert_eq!(
        output.stderr,
        format!(
            "warning[tasks/command-failed]: .agents/tasks/t.md:1:1: the command `{HANG}` stays as written: timed out after 1 s\n"
        )
    );
    assert_eq!(output.code, Some(0));
    alive.expect("started");
    alive.expect("ended");
    assert!(!ran(&project));
}

/// Reference: "1 MiB of output".
#[test]
fn endless_output_is_cut_off() {
    insta::assert_snapshot!(with_task("A !`yes` B").run(&["task", "t"]), @"
    A !`yes` B
    ------- stderr -------
    warning[tasks/command-failed]: .agents/tasks/t.md:1:3: the command `yes` stays as written: stopped after more than 1048576 bytes of output
    [EOF]
    ");
    let output = with_task("!`yes | head -c 1048576`").run(&["task", "t"]);
    assert_eq!((output.stdout.len(), output.stderr.as_str()), (1_048_577, ""));
}

/// Reference: "One prompt runs 64 commands at most."
#[test]
fn a_prompt_runs_64_commands() {
    let text = (1..=70).map(|number| format!("!`printf {number}`\n")).collect::<Vec<_>>().concat();
    let output = with_task(&text).run(&["task", "t"]);
    let ran = (1..=64).map(|number| format!("{number}\n")).collect::<Vec<_>>().concat();
    let left = (65..=70).map(|number| format!("!`printf {number}`\n")).collect::<Vec<_>>().concat();
    assert_eq!(output.stdout, format!("{ran}{left}\n"), "{output}");
    let warnings: Vec<&str> = output.stderr.lines().collect();
    assert_eq!(warnings.len(), 6, "{output}");
    for (warning, number) in warnings.iter().zip(65..) {
        let place = format!(".agents/tasks/t.md:{number}:1: the command `printf {number}`");
        let beginning = format!("warning[tasks/command-failed]: {place}");
        assert!(warning.starts_with(&beginning), "{warning}");
        assert!(warning.contains("a prompt runs at most 64 commands"), "{warning}");
    }
}

/// Document, "Bootstrap Scripts": they "run before their associated rule file is processed", and
/// "can access all environment variables", which under the name `brief` are named; ruling T9: "After a script, its rule is read anew".
#[test]
fn a_script_prepares_its_rule() {
    let project = with_task("Task: @data.txt\n")
        .with_file(".agents/rules/a.md", "A: @data.txt\n")
        .with_file(".agents/rules/b.md", "B: @data.txt\n")
        .with_env("TOKEN", "t0");
    script(
        &project,
        ".agents/rules/b-bootstrap",
        "#!/bin/sh\nprintf \"$TOKEN $BRIEF_PARAM_p\" > data.txt\necho '# more' >> .agents/rules/b.md\n",
    );
    let output = project.run(&["task", "t", "-p", "p=1", "--env", "TOKEN"]);
    assert_eq!(output.stdout, "A: @data.txt\n\nB: t0 1\n# more\n\nTask: t0 1\n\n", "{output}");
    assert_eq!(
        output.stderr,
        "warning[tasks/missing-file]: .agents/rules/a.md:1:4: `@data.txt` stays as written: file not found\n"
    );
}

/// Document, "Output Handling": "Bootstrap script output goes to **stderr**, not the main context".
#[test]
fn what_a_script_prints_is_for_people() {
    let project = with_bootstrap("Rule.\n", "#!/bin/sh\necho out\necho err >&2\n");
    insta::assert_snapshot!(project.run(&["task", "t"]), @"
    Rule.

    Task.

    ------- stderr -------
    out
    err
    [EOF]
    ");
    // Without a first line that names a program, `sh` runs it.
    let project = with_bootstrap("Rule.\n", "echo from sh\n");
    assert_eq!(project.run(&["task", "t"]).stderr, "from sh\n");
    let project = with_bootstrap("Rule.\n", "#!/bin/sh\nyes | head -c 3000000\ntouch marker\n");
    let output = project.run(&["task", "t"]);
    assert_eq!((output.stdout.as_str(), output.code), ("Rule.\n\nTask.\n\n", Some(0)));
    assert!(output.stderr.ends_with("y\n\n[truncated: more than 1048576 bytes]\n"));
    assert!(ran(&project), "the script goes on");
}

/// Ruling T9: "failure warns and goes on".
#[test]
fn a_failing_script_is_a_warning() {
    let project = with_bootstrap("Rule.\n", "#!/bin/sh\necho bad luck\nexit 3\n");
    insta::assert_snapshot!(project.run(&["task", "t"]), @"
    Rule.

    Task.

    ------- stderr -------
    bad luck
    warning[tasks/bootstrap-failed]: .agents/rules/r.md:1:1: the script `r-bootstrap` failed: exited with status 3
    [EOF]
    ");
    let project = with_bootstrap("Rule.\n", "#!/no/such/program\n");
    let output = project.run(&["task", "t"]);
    assert_eq!(output.stdout, "Rule.\n\nTask.\n\n");
    assert!(output.stderr.contains("`r-bootstrap` failed: cannot start"), "{output}");
}

#[test]
fn a_hanging_script_is_ended_with_its_children() {
    let project = with_bootstrap("Rule.\n", &format!("#!/bin/sh\n{HANG}\n"));
    let alive = Alive::watch(&project);
    let output = project.run(&["task", "t", "--time-limit", "1"]);
    assert_eq!((output.stdout.as_str(), output.code), ("Rule.\n\nTask.\n\n", Some(0)), "{output}");
    assert!(output.stderr.contains("`r-bootstrap` failed: timed out after 1 s"), "{output}");
    alive.expect("started");
    alive.expect("ended");
}

/// Document, "Requirements": "Executable permission"; ruling T9: "executable bit required (else a
/// warning)", and "A link to a script is followed inside its search root only".
#[test]
fn a_script_that_cannot_be_started_is_a_warning() {
    let text = "#!/bin/sh\ntouch marker\n";
    let project = with_task("Task.\n")
        .with_file(".agents/rules/r.md", "Rule.\n")
        .with_file(".agents/rules/r-bootstrap", text);
    insta::assert_snapshot!(project.run(&["task", "t"]), @"
    Rule.

    Task.

    ------- stderr -------
    warning[tasks/bootstrap-not-executable]: .agents/rules/r.md:1:1: the script `r-bootstrap` was not run: is not executable
    hint: run `chmod +x $PROJECT/.agents/rules/r-bootstrap`
    [EOF]
    ");
    assert!(!ran(&project));

    let project = with_task("Task.\n").with_file(".agents/rules/r.md", "Rule.\n");
    let outside = project.outside_directory().join("script");
    write_program(&outside, text);
    let project = project.with_link(".agents/rules/r-bootstrap", &outside);
    // There is nothing to `chmod`.
    insta::assert_snapshot!(project.run(&["task", "t"]), @"
    Rule.

    Task.

    ------- stderr -------
    warning[tasks/bootstrap-not-executable]: .agents/rules/r.md:1:1: the script `r-bootstrap` was not run: is a symbolic link that leaves its directory
    [EOF]
    ");
    assert!(!ran(&project));

    let project = with_task("Task.\n")
        .with_file(".agents/rules/r.md", "Rule.\n")
        .with_dir(".agents/rules/r-bootstrap");
    let output = project.run(&["task", "t"]);
    assert!(output.stderr.contains("was not run: is a directory"), "{output}");

    let project = with_task("Task.\n")
        .with_file(".agents/rules/r.md", "Rule.\n")
        .with_link(".agents/rules/r-bootstrap", "../../scripts/setup");
    script(&project, "scripts/setup", text);
    assert_prints(&project.run(&["task", "t"]), "Rule.\n\nTask.\n\n");
    assert!(ran(&project), "a link inside the root is followed");
}

/// Ruling T9: "Front matter `bootstrap:` is run with `sh -c`", and reference: "runs instead".
#[test]
fn the_field_runs_instead_of_the_file() {
    let rule = "---\nbootstrap: |\n  printf field > data.txt\n  echo \"$0\" >&2\n---\n@data.txt\n";
    let project = with_bootstrap(rule, "#!/bin/sh\nprintf file > data.txt\n");
    let output = project.run(&["task", "t"]);
    assert_eq!(output.stdout, "field\n\nTask.\n\n", "{output}");
    assert!(output.stderr.ends_with("/sh\n"), "{output}");
    let project = with_bootstrap("---\nbootstrap: exit 4\n---\nRule.\n", "");
    let output = project.run(&["task", "t"]);
    assert_eq!(output.stdout, "Rule.\n\nTask.\n\n");
    assert!(
        output.stderr.starts_with("warning[tasks/bootstrap-failed]: .agents/rules/r.md:2:")
            && output.stderr.ends_with("failed: exited with status 4\n"),
        "{output}"
    );
}

/// Ruling T9: "not for excluded rules"; ruling T4: `-r` and `--skip-bootstrap` run none.
#[test]
fn a_rule_that_is_left_out_runs_nothing() {
    let rule = "---\nlanguages: go\n---\nRule. !`touch marker`\n";
    let project = with_bootstrap(rule, "#!/bin/sh\ntouch marker\n");
    for args in [&["-s", "languages=python"][..], &["-r"], &["--skip-bootstrap"]] {
        let output = project.run(&[&["task", "t"], args].concat());
        assert_prints(&output, "Task.\n\n");
        assert!(!ran(&project), "{args:?}");
    }
    let inline = "---\nagent: cursor\nbootstrap: touch marker\n---\n";
    let project = with_task("Task.\n").with_file(".agents/rules/r.md", inline);
    assert_prints(&project.run(&["task", "t", "-a", "claude"]), "Task.\n\n");
    assert!(!ran(&project));
    assert_prints(&project.run(&["task", "t", "-a", "cursor"]), "\nTask.\n\n");
    assert!(ran(&project));
}

/// A project in which everything that can run leaves a mark.
fn marking() -> Sandbox {
    let project = with_task("!`touch marker` ${p}\n/c\n")
        .with_file(".agents/commands/c.md", "Command: !`touch marker; echo x`.\n")
        .with_file(".agents/rules/a.md", "---\nbootstrap: touch marker\n---\nA !`touch marker`\n")
        .with_file(".agents/rules/b.md", "B\n")
        .with_file(".agents/tasks/off.md", "---\nexpand: false\n---\n!`touch marker`\n")
        .with_file(
            ".agents/skills/s/SKILL.md",
            "---\nname: s\ndescription: '!`touch marker`'\n---\n",
        );
    script(&project, ".agents/rules/b-bootstrap", "#!/bin/sh\ntouch marker\n");
    project
}

/// Ruling G7: "`--no-exec` and `BRIEF_EXEC=never` turn it off everywhere", which is said.
#[test]
fn execution_can_be_turned_off() {
    let project = marking();
    let output = project.run(&["task", "t", "-p", "p=1", "--no-exec"]);
    assert!(output.stdout.starts_with("A !`touch marker`\n\nB\n\n"), "{output}");
    let task = "!`touch marker` 1\nCommand: !`touch marker; echo x`.\n\n";
    assert!(output.stdout.ends_with(task), "{output}");
    let warning = "warning: 5 commands and scripts were not run, because of";
    assert_eq!(output.stderr, format!("{warning} `--no-exec`\n"));
    for value in ["never", "nevr", "ALWAYS"] {
        let project = marking().with_env("BRIEF_EXEC", value);
        let off = project.run(&["task", "t", "-p", "p=1"]);
        assert_eq!(off.stdout, output.stdout);
        assert_eq!(off.stderr, format!("{warning} `BRIEF_EXEC`\n"), "{value}");
        assert!(!ran(&project));
    }
    assert!(!ran(&project));
    assert_eq!(project.run(&["task", "t", "-p", "p=1"]).code, Some(0));
    assert!(ran(&project), "it runs when nothing says otherwise");
}

/// Reference: "`--dry-run` shows what would run."
#[test]
fn a_dry_run_shows_everything_and_runs_nothing() {
    let project = marking();
    project.write(".agents/rules/c.md", "---\nbootstrap: |\n  set -e\n  touch marker\n---\n");
    insta::assert_snapshot!(project.run(&["task", "t", "-p", "p=1", "--dry-run"]), @"
    bootstrap  .agents/rules/a.md:2
      touch marker
    command  .agents/rules/a.md:4
      touch marker
    bootstrap  .agents/rules/b.md:1
      .agents/rules/b-bootstrap
    bootstrap  .agents/rules/c.md:3
      set -e
      touch marker
    command  .agents/tasks/t.md:1
      touch marker
    command  .agents/commands/c.md:1
      touch marker; echo x
    [EOF]
    ");
    let json = project.run(&["task", "t", "-p", "p=1", "--dry-run", "--json"]).json();
    let outcomes: Vec<&str> = json["ran"]
        .as_array()
        .unwrap()
        .iter()
        .map(|asked| asked["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["not run"; 6]);
    insta::assert_snapshot!(project.run(&["task", "off", "-r", "--dry-run"]), @"
    ------- stderr -------
    nothing would run
    [EOF]
    ");
    assert!(!ran(&project));
}

/// Ruling G8: listing, explaining and linting never execute.
#[test]
fn a_look_runs_nothing() {
    let project = marking();
    for args in [
        &["task", "t", "--explain"][..],
        &["task", "t", "--mcp-config", "claude"],
        &["task", "t", "--json", "--no-exec"],
        &["task", "list"],
        &["task", "list", "--json"],
        &["lint"],
        &["why", "x"],
        &["context", "--all"],
        &["task", "off", "-r"],
    ] {
        let output = project.run(args);
        assert_eq!(output.code, Some(0), "{args:?}: {output}");
        assert!(!ran(&project), "{args:?}");
    }
    let explained = project.run(&["task", "t", "-p", "p=1", "--explain"]).stderr;
    assert_eq!(explained, "5 commands and scripts would run; their output is not counted\n");
}

/// Reference: "130: interrupted", and standard output is empty; what runs is ended.
#[test]
fn an_interruption_ends_what_runs() {
    let by_command = || with_task(&format!("Before.\n!`{HANG}`\n!`touch marker`\n"));
    let by_script = || with_bootstrap("Rule. !`touch marker`\n", &format!("#!/bin/sh\n{HANG}\n"));
    for project in [by_command(), by_script()] {
        let alive = Alive::watch(&project);
        let child = project.prepare_command("", &["task", "t"]).spawn().unwrap();
        alive.expect("started");
        send_signal("INT", child.id());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        assert_eq!(output.stdout, b"", "{stderr}");
        alive.expect("ended");
        assert!(!ran(&project), "nothing runs after an interruption");
    }
}

/// A script runs with our rights, so it must belong to the user, and run as the user.
#[test]
fn a_script_that_would_run_as_another_is_refused() {
    let project = with_bootstrap("Rule.\n", "#!/bin/sh\ntouch marker\n");
    let path = project.path().join(".agents/rules/r-bootstrap");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
    let output = project.run(&["task", "t"]);
    assert_eq!((output.stdout.as_str(), output.code), ("Rule.\n\nTask.\n\n", Some(0)), "{output}");
    assert!(output.stderr.contains("would run as another user or group"), "{output}");
    assert!(!ran(&project));
}
