//! `brief trust`

use std::fs;

use brief_testkit::Sandbox;

use crate::project_on_disk as project;

const SCRIPT: &str = "#!/bin/sh\n\techo hello\n";

fn with_script() -> Sandbox {
    project().with_file("setup.sh", SCRIPT)
}

fn listed(project: &Sandbox) -> String {
    project.run(&["trust", "--list"]).stdout
}

/// Ruling G8: "No terminal or `CI=true` is never a yes". Attack case TRU-011.
#[test]
fn without_a_terminal_nothing_is_trusted() {
    let with_variables = with_script()
        .with_env("CI", "true")
        .with_env("YES", "1")
        .with_env("BRIEF_TRUST", "yes")
        .with_env("BRIEF_EXEC", "always");
    for project in [with_script(), with_variables] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(project.run_with_input(&["trust", "setup.sh"], "y\n"), @"
            ------- stderr -------
            error: cannot grant trust without a terminal
            hint: run `brief trust` in a terminal; scripts cannot grant trust
            [exit status: 1]
            [EOF]
            ");
        }
        assert_eq!(fs::read_dir(project.home()).unwrap().count(), 0);
    }
    for flag in ["--yes", "-y", "--force"] {
        assert_eq!(with_script().run(&["trust", flag, "setup.sh"]).code, Some(2), "{flag}");
    }
}

#[test]
fn nothing_is_recorded_at_first() {
    insta::assert_snapshot!(project().run(&["trust", "--list"]), @"
    ------- stderr -------
    nothing was recorded
    [EOF]
    ");
    insta::assert_snapshot!(project().run(&["trust", "--list", "--json"]), @r#"
    {
      "kind": "trust",
      "version": 2,
      "root": "$PROJECT",
      "entries": [],
      "diagnostics": []
    }
    [EOF]
    "#);
}

/// Denying and forgetting need no terminal: neither lets anything run.
#[test]
fn a_denial_can_be_recorded_and_forgotten() {
    let project = with_script();
    insta::assert_snapshot!(project.run(&["trust", "--deny", "setup.sh"]), @"
    ------- stderr -------
    denied $PROJECT/setup.sh
    [EOF]
    ");
    insta::assert_snapshot!(project.run(&["trust", "--list"]), @"
    denied  94a83987b97fa33c056218858223a232c8818c167e11888294b698a963b14e38 $PROJECT/setup.sh
    [EOF]
    ");
    insta::assert_snapshot!(project.run(&["trust", "--list", "--json"]), @r#"
    {
      "kind": "trust",
      "version": 2,
      "root": "$PROJECT",
      "entries": [
        {
          "subject": "content",
          "verdict": "denied",
          "sha256": "94a83987b97fa33c056218858223a232c8818c167e11888294b698a963b14e38",
          "path": "$PROJECT/setup.sh"
        }
      ],
      "diagnostics": []
    }
    [EOF]
    "#);
    insta::assert_snapshot!(project.run(&["trust", "--remove", "setup.sh"]), @"
    ------- stderr -------
    forgot setup.sh
    [EOF]
    ");
    assert_eq!(listed(&project), "");
    insta::assert_snapshot!(project.run(&["trust", "--remove", "setup.sh"]), @"
    ------- stderr -------
    error: no decision recorded for `setup.sh`
    hint: run `brief trust --list` to see all decisions
    [exit status: 1]
    [EOF]
    ");
}

/// A record can be forgotten when the file has changed or is gone, and by its hash.
#[test]
fn what_has_changed_can_be_forgotten() {
    let project = with_script();
    let deny = |file: &str| assert_eq!(project.run(&["trust", "--deny", file]).code, Some(0));
    let remove = |what: &str| {
        assert_eq!(project.run(&["trust", "--remove", what]).code, Some(0), "{what}");
        assert_eq!(listed(&project), "", "{what}");
    };
    deny("setup.sh");
    project.write("setup.sh", "something else");
    remove("setup.sh");
    deny("setup.sh");
    fs::remove_file(project.path().join("setup.sh")).unwrap();
    remove("setup.sh");
    project.write("setup.sh", SCRIPT);
    deny("setup.sh");
    let line = listed(&project);
    remove(line.split_whitespace().nth(1).unwrap());
}

#[test]
fn what_cannot_be_read_cannot_be_trusted() {
    let project = with_script().with_dir("directory");
    insta::assert_snapshot!(project.run(&["trust", "--deny", "setup.sh", "missing"]), @"
    ------- stderr -------
    error: cannot read `missing`: no such file
    [exit status: 1]
    [EOF]
    ");
    insta::assert_snapshot!(project.run(&["trust", "--deny", "directory"]), @"
    ------- stderr -------
    error: cannot read `directory`: is a directory
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(listed(&project), "", "all or nothing");
}

#[test]
fn a_call_needs_files_or_a_wish() {
    for args in [
        &["trust"][..],
        &["trust", "--deny"],
        &["trust", "--remove"],
        &["trust", "--list", "setup.sh"],
        &["trust", "--json", "setup.sh"],
        &["trust", "--deny", "--remove", "setup.sh"],
    ] {
        assert_eq!(with_script().run(args).code, Some(2), "{args:?}");
    }
}

/// Attack case TRU-008: a record that a project brings along is refused.
#[test]
fn a_record_inside_the_project_is_refused() {
    let project = with_script();
    let state = project.path().join("state");
    let project = project.with_env("XDG_STATE_HOME", state.to_str().unwrap());
    insta::assert_snapshot!(project.run(&["trust", "--list"]), @"
    ------- stderr -------
    error: cannot use the trust record: `$PROJECT/state/brief/trust` is inside the project
    hint: set `XDG_STATE_HOME` to a directory outside the project
    [exit status: 1]
    [EOF]
    ");
}

#[cfg(unix)]
mod at_a_terminal {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_yes_records_what_was_shown() {
        let project = with_script().with_file(
            "task.md",
            "---\nbootstrap: |\n  make deps\n  make all\n---\nSee !`git log -1`.\n",
        );
        let output = project.run_at_terminal(&["trust", "setup.sh", "task.md"], "y\n");
        insta::assert_snapshot!(output, @"
        ------- stderr -------
        $PROJECT/setup.sh
          sha256 94a83987b97fa33c056218858223a232c8818c167e11888294b698a963b14e38
          all of it would run:
            | #!/bin/sh
            | 	echo hello
        $PROJECT/task.md
          sha256 744d36c6d73c46abb290f193646d343beb8d3bffdf3f5d56e5daedc49082de2f
          line 3 would run:
            | make deps
            | make all
          line 6 would run:
            | git log -1
        trust covers the files as shown, not what they start or read
        Trust these? [y/N] trusted $PROJECT/setup.sh
        trusted $PROJECT/task.md
        [EOF]
        ");
        insta::assert_snapshot!(project.run(&["trust", "--list"]), @"
        trusted 94a83987b97fa33c056218858223a232c8818c167e11888294b698a963b14e38 $PROJECT/setup.sh
        trusted 744d36c6d73c46abb290f193646d343beb8d3bffdf3f5d56e5daedc49082de2f $PROJECT/task.md
        [EOF]
        ");
        insta::assert_snapshot!(project.run_at_terminal(&["trust", "setup.sh"], ""), @"
        ------- stderr -------
        $PROJECT/setup.sh is already trusted
        [EOF]
        ");
    }

    #[test]
    fn anything_but_a_yes_is_a_no() {
        for typed in ["\n", "n\n", "no\n", "yep\n", "Y e s\n", "\u{4}", "1\n"] {
            let project = with_script();
            let output = project.run_at_terminal(&["trust", "setup.sh"], typed);
            assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{typed:?}");
            assert!(output.stderr.ends_with("Trust these? [y/N] nothing was recorded\n"));
            assert_eq!(listed(&project), "", "{typed:?}");
        }
        for typed in ["Y\n", "yes\n", " YES \n"] {
            let project = with_script();
            let output = project.run_at_terminal(&["trust", "setup.sh"], typed);
            assert_eq!(output.code, Some(0), "{typed:?}");
        }
    }

    /// Attack case TRU-009.
    #[test]
    fn a_denial_wins() {
        let project = with_script();
        assert_eq!(project.run(&["trust", "--deny", "setup.sh"]).code, Some(0));
        insta::assert_snapshot!(project.run_at_terminal(&["trust", "setup.sh"], "y\n"), @"
        ------- stderr -------
        error: `$PROJECT/setup.sh` is denied
        hint: run `brief trust --remove $PROJECT/setup.sh` to forget the decision
        [exit status: 1]
        [EOF]
        ");
    }

    /// Ruling G11: what a file holds cannot hide behind control characters.
    #[test]
    fn hidden_characters_are_shown() {
        let project = project()
            .with_file("a.sh", "rm -rf x\rmake all\u{1b}[2K\n\u{202e}x\0")
            .with_file("b.sh", "rm -rf x\rmake all\u{1b}[2K\n\u{202e}x\n\n")
            .with_file("plain.md", "Nothing.\n");
        let output = project.run_at_terminal(&["trust", "a.sh", "b.sh", "plain.md"], "n\n");
        insta::assert_snapshot!(output, @r"
        ------- stderr -------
        $PROJECT/a.sh
          sha256 65cb8a54ddde7a776018c2a6bcafffcba3ef6a4554261b4e8241611d10470783
          all of it would run: 27 bytes that are not text
        $PROJECT/b.sh
          sha256 ebd409baa5633d91368160a017d272478d4d91431260bcd78b464667c8a83128
          all of it would run:
            | rm -rf x\u{d}make all\u{1b}[2K
            | \u{202e}x
        $PROJECT/plain.md
          sha256 d16be6060ce11adff97025fd01c9671660300ad798708d6545ed7d83ae6a7c84
          nothing in it would run
        trust covers the files as shown, not what they start or read
        Trust these? [y/N] nothing was recorded
        [exit status: 1]
        [EOF]
        ");
    }

    #[test]
    fn a_record_that_others_may_write_is_refused() {
        let project = with_script();
        assert_eq!(project.run_at_terminal(&["trust", "setup.sh"], "y\n").code, Some(0));
        let store = project.home().join(".local/state/brief/trust");
        fs::set_permissions(&store, fs::Permissions::from_mode(0o666)).unwrap();
        for args in [&["trust", "--list"][..], &["trust", "--deny", "setup.sh"]] {
            let output = project.run(args);
            assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)));
            assert!(output.stderr.contains("other users may write to"), "{output}");
            assert!(output.stderr.contains("chmod go-w"), "{output}");
        }
    }
}
