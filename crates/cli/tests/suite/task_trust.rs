//! A project's own commands run when its user trusts the project, or says so for one run (X01, G7).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use brief_testkit::{Output, Sandbox};

use crate::{project_on_disk as project, trusted_project};

const TASK: &str = "Look:\n!`touch marker; echo ran`\n";

/// A project with everything that could run: a command, a bootstrap field, a script beside a rule, and a
/// command that a task calls.
fn clone() -> Sandbox {
    fill(project())
}

fn fill(project: Sandbox) -> Sandbox {
    let project = project
        .with_file(".agents/tasks/t.md", TASK)
        .with_file(".agents/tasks/calls.md", "/c\n")
        .with_file(".agents/commands/c.md", "!`touch marker`\n")
        .with_file(".agents/tasks/plain.md", "Nothing to run.\n")
        .with_file(".agents/rules/r.md", "---\ntask_names: [rules]\n---\nRule.\n")
        .with_file(
            ".agents/rules/s.md",
            "---\ntask_names: [field]\nbootstrap: |\n  touch marker\n---\nRule.\n",
        )
        .with_file(".agents/tasks/rules.md", "Task.\n")
        .with_file(".agents/tasks/field.md", "Task.\n");
    script(&project, ".agents/rules/r-bootstrap", "#!/bin/sh\ntouch marker\n");
    project
}

fn script(project: &Sandbox, path: &str, text: &str) {
    brief_testkit::write_program(&project.path().join(path), text);
}

fn ran(project: &Sandbox) -> bool {
    project.path().join("marker").exists()
}

#[track_caller]
fn assert_refused(project: &Sandbox, output: &Output, reason: &str) {
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{output}");
    assert!(output.stderr.contains(reason), "{output}");
    assert!(!ran(project), "{output}");
}

fn trust(project: &Sandbox) {
    let output = project.run_at_terminal(&["trust", "."], "y\n");
    assert_eq!(output.code, Some(0), "{output}");
}

/// X01: what would have run is named with its file and line, and so are the ways to allow it.
#[test]
fn a_clone_runs_nothing_and_names_what_it_would_have_run() {
    let project = clone();
    let told = |task: &str| {
        let output = project.run(&["task", task]);
        assert_refused(&project, &output, "hint: review them, then run `brief trust .`");
        output.stderr.lines().next().unwrap_or_default().to_owned()
    };
    insta::assert_snapshot!(project.run(&["task", "t"]), @"
    ------- stderr -------
    warning: not run: .agents/tasks/t.md:2: touch marker; echo ran
    error: the project `$PROJECT` is not trusted; nothing was run
    hint: review them, then run `brief trust .`, or pass `--exec` to run them once, `--no-exec` to skip them
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(told("rules"), "warning: not run: .agents/rules/r-bootstrap:1: the whole script");
    assert_eq!(told("field"), "warning: not run: .agents/rules/s.md:4: touch marker");
    assert_eq!(told("calls"), "warning: not run: .agents/commands/c.md:1: touch marker");
    let json = project.run(&["task", "calls", "--json"]);
    assert_refused(&project, &json, "would have run: .agents/commands/c.md:1: touch marker");
    assert!(json.stderr.starts_with("{\n  \"kind\": \"error\""), "{json}");
    assert!(!ran(&project));
    let plain = project.run(&["task", "plain"]);
    assert_eq!((plain.stdout.as_str(), plain.code), ("Nothing to run.\n\n", Some(0)), "{plain}");
}

/// X01: neither CI nor a terminal that is missing, nor anything in the project, says yes.
#[test]
fn no_variable_and_no_file_of_the_project_says_yes() {
    let project = clone()
        .with_env("CI", "true")
        .with_env("GITHUB_ACTIONS", "true")
        .with_env("BRIEF_TRUST", "yes")
        .with_env("YES", "1")
        .with_file("brief.toml", "trust = true\n")
        .with_file(".env", "BRIEF_EXEC=always\n")
        .with_file(".brief/trust", "project\n")
        .with_file(".context/context-config.json", r#"{"trust":true,"trustedPaths":["/"]}"#);
    for task in ["t", "rules", "field", "calls"] {
        let output = project.run_with_input(&["task", task], "y\n");
        assert_refused(&project, &output, "is not trusted");
    }
}

/// X01: `--exec` and `BRIEF_EXEC=always` are for one run and leave no trace.
#[test]
fn a_user_can_say_yes_for_one_run() {
    for task in ["t", "rules", "field", "calls"] {
        let project = clone();
        let output = project.run(&["task", task, "--exec"]);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(ran(&project), "{task}");
        fs::remove_file(project.path().join("marker")).unwrap();
        assert_refused(&project, &project.run(&["task", task]), "is not trusted");
        let project = project.with_env("BRIEF_EXEC", "always");
        assert_eq!(project.run(&["task", task]).code, Some(0), "{task}");
        assert!(ran(&project), "{task}");
    }
}

/// `BRIEF_EXEC=never` holds for a whole session, so no flag of one call turns it on again.
#[test]
fn never_wins_over_a_flag() {
    let project = clone().with_env("BRIEF_EXEC", "never");
    let output = project.run(&["task", "t", "--exec"]);
    assert_eq!(
        (output.stdout.as_str(), output.code),
        (format!("{TASK}\n").as_str(), Some(0)),
        "{output}"
    );
    assert!(!ran(&project));
    assert_eq!(clone().run(&["task", "t", "--exec", "--no-exec"]).code, Some(2));
}

/// X01: trust is asked for once, at a terminal; it is listed and can be revoked.
#[test]
fn a_project_is_trusted_once_and_trust_can_be_revoked() {
    let project = clone();
    insta::assert_snapshot!(project.run_at_terminal(&["trust", "."], "n\n"), @"
    ------- stderr -------
    the project $PROJECT
      .agents/tasks/t.md:2 would run:
        | touch marker; echo ran
      .agents/commands/c.md:1 would run:
        | touch marker
      .agents/rules/r-bootstrap would run as a whole
      .agents/rules/s.md:4 would run:
        | touch marker
    trust covers the project's own commands and scripts, including later changes; it does not cover installed items, or copies of the project elsewhere
    Trust this project? [y/N] nothing was recorded
    [exit status: 1]
    [EOF]
    ");
    assert_refused(&project, &project.run(&["task", "t"]), "is not trusted; nothing was run");
    trust(&project);
    insta::assert_snapshot!(project.run_at_terminal(&["trust", "."], ""), @"
    ------- stderr -------
    $PROJECT is already trusted
    [EOF]
    ");
    let output = project.run(&["task", "t"]);
    assert_eq!((output.stdout.as_str(), output.code), ("Look:\nran\n\n\n", Some(0)), "{output}");
    let listed = project.run(&["trust", "--list"]).stdout;
    assert!(listed.starts_with("project ") && listed.ends_with(" $PROJECT\n"), "{listed}");
    let json = project.run(&["trust", "--list", "--json"]).json();
    assert_eq!(json["entries"][0]["subject"], "project");
    assert_eq!(project.run(&["trust", "--remove", "."]).code, Some(0));
    fs::remove_file(project.path().join("marker")).unwrap();
    assert_refused(&project, &project.run(&["task", "t"]), "is not trusted; nothing was run");
}

/// A project can also be forgotten when it is gone, and by what the list shows.
#[test]
fn a_project_that_is_gone_can_be_forgotten() {
    let project = clone().with_dir("sub/.git");
    for by_hash in [true, false] {
        assert_eq!(project.run_at_terminal(&["trust", "sub"], "y\n").code, Some(0));
        let listed = project.run(&["trust", "--list"]).stdout;
        let hash = listed.split_whitespace().nth(1).unwrap().to_owned();
        fs::rename(project.path().join("sub"), project.path().join("gone")).unwrap();
        let what = if by_hash { hash.as_str() } else { "sub" };
        assert_eq!(project.run(&["trust", "--remove", what]).code, Some(0), "{listed}");
        assert_eq!(project.run(&["trust", "--list"]).stdout, "");
        fs::rename(project.path().join("gone"), project.path().join("sub")).unwrap();
    }
}

/// Trust is in the whole repository, wherever in it the user works, and in nothing that is nested in it.
#[test]
fn trust_covers_the_repository() {
    let project = fill(project().with_dir(".git"))
        .with_file("app/.agents/tasks/t.md", "!`echo here`")
        .with_file("other/.agents/tasks/t.md", "!`touch ../marker`")
        .with_dir("other/.git");
    assert_eq!(project.run_at_terminal(&["trust", "app"], "y\n").code, Some(0));
    let listed = project.run(&["trust", "--list"]).stdout;
    assert!(listed.ends_with(" $PROJECT\n"), "{listed}");
    assert_eq!(project.run(&["task", "t", "-C", "app"]).stdout, "here\n\n");
    let nested = project.run(&["task", "t", "-C", "other"]);
    assert_refused(&project, &nested, "the project `$PROJECT/other` is not trusted");
}

/// Bad input: a project that was moved, copied, or deleted and cloned anew to the same path is not the one
/// that was trusted.
#[test]
fn another_project_at_the_same_place_is_not_trusted() {
    let project = clone().with_dir("one/.git");
    let one = project.path().join("one");
    let write = |directory: &Path| {
        fs::create_dir_all(directory.join(".agents/tasks")).unwrap();
        fs::create_dir_all(directory.join(".git")).unwrap();
        fs::write(directory.join(".agents/tasks/t.md"), "!`touch ../marker`").unwrap();
    };
    write(&one);
    assert_eq!(project.run_at_terminal(&["trust", "one"], "y\n").code, Some(0));
    let task = |name: &str| project.run(&["task", "t", "-C", name]);
    let ok = task("one");
    assert_eq!(ok.code, Some(0), "{ok}");
    fs::remove_file(project.path().join("marker")).unwrap();

    let copied = Command::new("cp").arg("-a").arg(&one).arg(project.path().join("two")).status();
    assert!(copied.unwrap().success());
    assert_refused(&project, &task("two"), "is not trusted; nothing was run");

    fs::rename(&one, project.path().join("three")).unwrap();
    assert_refused(&project, &task("three"), "was trusted at `$PROJECT/one`");

    write(&one);
    assert_refused(
        &project,
        &task("one"),
        "a different directory or repository was trusted at this path",
    );

    // The directory is the same, its repository is another.
    fs::remove_dir_all(&one).unwrap();
    fs::rename(project.path().join("three"), &one).unwrap();
    assert_eq!(task("one").code, Some(0));
    fs::remove_file(project.path().join("marker")).unwrap();
    fs::remove_dir_all(one.join(".git")).unwrap();
    fs::create_dir(one.join(".git")).unwrap();
    assert_refused(
        &project,
        &task("one"),
        "a different directory or repository was trusted at this path",
    );
    fs::remove_dir_all(one.join(".git")).unwrap();
    assert_refused(
        &project,
        &task("one"),
        "a different directory or repository was trusted at this path",
    );
}

/// Bad input: a record that others could have written, that is damaged, or that the project brings along is
/// refused with the reason, also when the user says yes for this run.
#[test]
fn a_record_of_doubtful_origin_trusts_nothing() {
    let project = trusted_project();
    let project = fill(project);
    let state = project.home().join(".local/state/brief");
    let record = state.join("trust");
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    for flags in [&["task", "t"][..], &["task", "t", "--exec"]] {
        for (path, mode, usual) in [(&record, 0o666, 0o600), (&state, 0o777, 0o700)] {
            set(path, mode);
            assert_refused(&project, &project.run(flags), "other users may write");
            set(path, usual);
        }
        let whole = fs::read_to_string(&record).unwrap();
        fs::write(&record, format!("{whole}projct x\n")).unwrap();
        assert_refused(&project, &project.run(flags), "line 3 of");
        fs::write(&record, whole).unwrap();
    }
    let inside = project.path().join("state");
    let copied = Command::new("cp").arg("-a").arg(state.parent().unwrap()).arg(&inside).status();
    assert!(copied.unwrap().success());
    let project = project.with_env("XDG_STATE_HOME", inside.to_str().unwrap());
    assert_refused(&project, &project.run(&["task", "t"]), "is inside the project");
}

/// The user's own texts are the user's own, also in a project that is not trusted; before they run, it is
/// known that the project asks for nothing.
#[test]
fn the_users_own_texts_run_unless_the_project_asks_too() {
    let project = clone();
    let tasks = project.home().join(".agents/tasks");
    fs::create_dir_all(&tasks).unwrap();
    fs::write(tasks.join("mine.md"), "!`touch marker; echo mine`").unwrap();
    let output = project.run(&["task", "mine"]);
    assert_eq!((output.stdout.as_str(), output.code), ("mine\n\n", Some(0)), "{output}");
    fs::remove_file(project.path().join("marker")).unwrap();
    let typed = project.run(&["task", "plain", "!`touch marker; echo typed`"]);
    assert!(typed.stdout.ends_with("typed\n\n") && ran(&project), "{typed}");
    fs::remove_file(project.path().join("marker")).unwrap();
    fs::write(tasks.join("both.md"), "!`touch marker`\n/c\n").unwrap();
    assert_refused(&project, &project.run(&["task", "both"]), ".agents/commands/c.md:1");
}

/// A directory of this machine that the command line names is a project of its own.
#[test]
fn a_directory_that_is_named_is_a_project_of_its_own() {
    let project = trusted_project();
    let outside = project.outside_directory();
    fs::create_dir_all(outside.join(".agents/tasks")).unwrap();
    fs::write(outside.join(".agents/tasks/x.md"), "!`touch marker`").unwrap();
    let directory = outside.to_str().unwrap();
    let named = project.run(&["task", "x", "-d", directory]);
    assert_refused(&project, &named, "outside` is not trusted");
    assert_eq!(project.run_at_terminal(&["trust", directory], "y\n").code, Some(0));
    assert_eq!(project.run(&["task", "x", "-d", directory]).code, Some(0));
    assert!(ran(&project));
}

/// TRU-009: a denial wins over trust in the project and over `--exec`.
#[test]
fn a_denied_file_does_not_run_in_a_trusted_project() {
    let project = fill(trusted_project());
    for file in [".agents/tasks/t.md", ".agents/rules/r-bootstrap"] {
        assert_eq!(project.run(&["trust", "--deny", file]).code, Some(0));
    }
    for flags in [&["task", "t"][..], &["task", "rules", "--exec"]] {
        let output = project.run(flags);
        assert!(output.stderr.contains("you have denied its content"), "{output}");
        assert!(!ran(&project));
    }
}

/// The home directory is no project: trust in it would be trust in every clone below.
#[test]
fn the_home_directory_is_not_trusted_as_a_project() {
    let project = project();
    fs::create_dir(project.home().join(".git")).unwrap();
    let home = project.home();
    let output = project.run_at_terminal(&["trust", home.to_str().unwrap()], "y\n");
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("it contains your home directory"), "{output}");
    // What lies in it is the user's own.
    let tasks = home.join(".agents/tasks");
    fs::create_dir_all(&tasks).unwrap();
    fs::write(tasks.join("t.md"), "!`echo mine`").unwrap();
    let output = project.run(&["task", "t", "-C", home.to_str().unwrap()]);
    assert_eq!(output.stdout, "mine\n\n", "{output}");
    let clone = home.join("clone/.agents/tasks");
    fs::create_dir_all(&clone).unwrap();
    fs::write(clone.join("u.md"), "!`echo theirs`").unwrap();
    let output = project.run(&["task", "u", "-C", home.join("clone").to_str().unwrap()]);
    assert_eq!(output.code, Some(1), "{output}");
}

/// Servers that a file of the project names are programs of the project, too.
#[test]
fn servers_of_a_project_do_not_start_without_trust() {
    let agent = "---\nabilities:\n  allow: [tool, mcp]\n---\n# X\n\nAsks.\n\n## Tools\n\n```js\n\
        return { go: { fn: (args, ctx, host) => host.mcp.call(\"s\", \"t\", {}), \
        scheme: { name: \"go\", description: \"Goes\", parameters: { type: \"object\", properties: {} } } } };\n```\n";
    let servers = r#"{"mcpServers":{"s":{"command":"/bin/sh","args":["-c","touch marker"]}}}"#;
    let project = project().with_file("agents/x_y.agent.md", agent).with_file(".mcp.json", servers);
    let call = [
        "agent",
        "debug",
        "call",
        "agents/x_y.agent.md",
        "go",
        "{}",
        "--grant",
        "mcp",
        "--mcp-config",
        ".mcp.json",
    ];
    let output = project.spawn(&call);
    assert_refused(&project, &output, "cannot start the servers in `.mcp.json`");
    let exec: Vec<&str> = call.iter().copied().chain(["--exec"]).collect();
    let output = project.spawn(&exec);
    assert!(ran(&project), "{output}");
    // One that lies elsewhere is the operator's own.
    fs::remove_file(project.path().join("marker")).unwrap();
    let outside = project.outside_directory().join("mcp.json");
    fs::write(&outside, servers).unwrap();
    let own: Vec<&str> = call[..9].iter().copied().chain([outside.to_str().unwrap()]).collect();
    let output = project.spawn(&own);
    assert!(ran(&project), "{output}");
}
