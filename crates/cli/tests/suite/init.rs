//! `brief init`

use crate::project;

/// The file is written, says what to do next, and is delivered.
#[test]
fn init_writes_a_file_to_start_from() {
    let project = project();
    insta::assert_snapshot!(project.run(&["init"]), @"
    ------- stderr -------
    wrote AGENTS.yaml
    hint: edit it, then ask: brief why README.md
    [EOF]
    ");
    insta::assert_snapshot!(project.run(&["context", "a.py", "--on", "edit"]), @"
    AGENTS.yaml:6
      Run the tests before you say that something works.
    [EOF]
    ");
}

/// The file of `init` passes `lint`, also strictly, as soon as there is a Markdown file.
#[test]
fn the_starter_passes_lint() {
    let project = project().with_file("README.md", "");
    assert_eq!(project.run(&["init"]).code, Some(0));
    insta::assert_snapshot!(project.run(&["lint", "--strict"]), @"
    ------- stderr -------
    no problems in 1 file
    [EOF]
    ");
}

/// It never overwrites, whichever of the two names is taken, and whatever bears it.
#[test]
fn init_refuses_to_overwrite() {
    for name in ["AGENTS.yaml", "AGENTS.yml"] {
        let project = project().with_file(name, "mine");
        let output = project.run(&["init"]);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{output}");
        assert!(output.stderr.contains(&format!("`{name}` already exists")), "{output}");
        assert_eq!(project.read(name), "mine");
    }
    let project = project().with_dir("AGENTS.yaml");
    insta::assert_snapshot!(project.run(&["init"]), @"
    ------- stderr -------
    error: `AGENTS.yaml` already exists
    hint: `brief lint` checks it
    [exit status: 1]
    [EOF]
    ");
}

/// A link that leads nowhere is not followed: the file would appear somewhere else.
#[cfg(unix)]
#[test]
fn init_does_not_follow_a_link() {
    let project = project();
    let elsewhere = project.outside().join("target");
    let project = project.with_link("AGENTS.yaml", &elsewhere);
    assert_eq!(project.run(&["init"]).code, Some(1));
    assert!(!elsewhere.exists());
}

/// A wrong call is exit 2.
#[test]
fn a_wrong_call_is_refused() {
    for args in [["init", "x"], ["init", "--force"]] {
        let project = project();
        let output = project.run(&args);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(2)), "{args:?}");
        assert!(!project.path().join("AGENTS.yaml").exists());
    }
}
