//! Which task a name means (ruling T2, and T1 for names).

use brief_dialects::tasks::{TaskError, TaskName};

use super::support::{failure, left_out, project, run, task_text};

/// T2: "error `multiple tasks found with task_name: X` listing the files", whatever directory of
/// the project they lie in.
#[test]
fn two_files_of_one_name_are_an_error() {
    let system = project()
        .with_file(".opencode/command/x.md", "1")
        .with_file(".agents/tasks/x.mdc", "2")
        .with_file(".cursor/commands/x.md", "3");
    let error = failure(&system, &["x"]);
    assert_eq!(error.to_string(), "multiple tasks found with task_name: x");
    let TaskError::Ambiguous { files, .. } = error else { panic!("{error:?}") };
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    assert_eq!(
        files,
        ["/p/.agents/tasks/x.mdc", "/p/.cursor/commands/x.md", "/p/.opencode/command/x.md"]
    );
}

/// T2: "A project file does not clash with a home file: the project wins."
#[test]
fn the_project_wins_over_home() {
    let system = project()
        .with_file(".agents/tasks/x.md", "PROJECT\n")
        .with_file("/h/.agents/tasks/x.md", "HOME\n");
    let prompt = run(&system, &["x"]);
    assert_eq!(task_text(&prompt), "PROJECT\n");
    assert_eq!(
        left_out(&prompt),
        [(
            "/h/.agents/tasks/x.md",
            "is overridden by /p/.agents/tasks/x.md, which has the same name".to_owned()
        )]
    );
}

/// T2 with T6: of the search roots the first that has the task wins.
#[test]
fn the_first_root_wins() {
    let system = project()
        .with_file("/d/.agents/tasks/x.md", "GIVEN\n")
        .with_file(".agents/tasks/x.md", "PROJECT\n")
        .with_file("/f/.agents/tasks/x.md", "FALLBACK\n");
    assert_eq!(task_text(&run(&system, &["-D", "/f", "x"])), "PROJECT\n");
    assert_eq!(task_text(&run(&system, &["-D", "/f", "-d", "/d", "x"])), "GIVEN\n");
}

/// T2: selectors decide first, so a task at home is used when the project's is for something else.
#[test]
fn selectors_decide_before_roots() {
    let system = project()
        .with_file(".agents/tasks/x.md", "---\nstage: a\n---\nPROJECT\n")
        .with_file("/h/.agents/tasks/x.md", "---\nstage: b\n---\nHOME\n");
    assert_eq!(task_text(&run(&system, &["-s", "stage=b", "x"])), "HOME\n");
    assert_eq!(task_text(&run(&system, &["-s", "stage=a", "x"])), "PROJECT\n");
}

/// T2: "None left: `no task found: X`, with the nearest names."
#[test]
fn a_name_that_is_not_there_has_near_ones() {
    let system = project()
        .with_file(".agents/tasks/fix-bug.md", "")
        .with_file(".agents/tasks/fix-bugs.md", "")
        .with_file(".cursor/commands/deploy.md", "")
        .with_file("/h/.agents/tasks/review.md", "")
        .with_file(".agents/namespaces/team/tasks/release.md", "");
    for (typed, near) in [
        ("fix-bgu", &["fix-bug"][..]),
        ("Deploy", &["deploy"]),
        ("reveiw", &["review"]),
        ("team/relaese", &["team/release"]),
        ("entirely-different", &[]),
    ] {
        let error = failure(&system, &[typed]);
        assert_eq!(error.to_string(), format!("no task found: {typed}"));
        let TaskError::NotFound { nearest, excluded, .. } = error else { panic!("{error:?}") };
        assert_eq!(nearest.first().map(String::as_str), near.first().copied(), "{typed}");
        assert!(excluded.is_empty());
    }
}

/// A task that selectors exclude is told with the reason, when another task is used.
#[test]
fn a_task_for_something_else_is_left_out_with_the_reason() {
    let system = project()
        .with_file(".agents/tasks/a/x.md", "---\nstage: a\n---\nA\n")
        .with_file(".agents/tasks/b/x.md", "---\nstage: b\n---\nB\n");
    let prompt = run(&system, &["-s", "stage=b", "x"]);
    assert_eq!(left_out(&prompt), [(".agents/tasks/a/x.md", "requires stage=a, not b".to_owned())]);
}

/// Our ruling T2: "unless one is a copy, word for word, in another tool's directory"; bytes that
/// are no text count too.
#[test]
fn copies_of_one_task_do_not_clash() {
    let copies = |one: &[u8], two: &[u8]| {
        project().with_file(".cursor/commands/x.md", one).with_file(".opencode/command/x.md", two)
    };
    let prompt = run(&copies(b"same\n", b"same\n"), &["x"]);
    assert_eq!(task_text(&prompt), "same\n");
    assert_eq!(left_out(&prompt).len(), 1);
    let error = failure(&copies(b"\xff\n", b"\xfe\n"), &["x"]);
    assert!(matches!(error, TaskError::Ambiguous { .. }));
    let in_one_place = project()
        .with_file(".agents/tasks/a/x.md", "same\n")
        .with_file(".agents/tasks/b/x.md", "same\n");
    assert!(matches!(failure(&in_one_place, &["x"]), TaskError::Ambiguous { .. }));
}

/// A link and its target are one task, not two (T6).
#[test]
fn a_link_to_a_task_does_not_clash_with_it() {
    let system = project()
        .with_file(".agents/tasks/x.md", "X\n")
        .with_link(".cursor/commands/x.md", "../../.agents/tasks/x.md");
    assert_eq!(task_text(&run(&system, &["x"])), "X\n");
}

/// T1: "A leading `/` on the name is accepted"; reference 1.1: the texts of what is no name.
#[test]
fn names_are_read() {
    for (typed, name) in [("x", "x"), ("/x", "x"), ("team/x", "team/x"), ("/team/x", "team/x")] {
        assert_eq!(TaskName::parse(typed).unwrap().to_string(), name);
    }
    for (typed, problem) in [
        (
            "a/b/c",
            "invalid task name \"a/b/c\": only one level of namespacing is supported (expected \"namespace/task\")",
        ),
        ("team/", "invalid task name \"team/\": task base name must not be empty"),
        ("//x", "invalid task name \"//x\": namespace must not be empty"),
    ] {
        assert_eq!(TaskName::parse(typed).unwrap_err().to_string(), problem);
    }
}

/// Reference 1.10: "`../task` is accepted as namespace `..`"; a name never leads out.
#[test]
fn a_name_leads_nowhere_else() {
    for typed in ["../x", "..", ".", "./x", "x/..", "/..", "a\\..\\x", "x\0"] {
        assert!(TaskName::parse(typed).is_err(), "{typed:?}");
    }
}

/// Names are names, not patterns: dots, blanks and other scripts are part of them.
#[test]
fn any_stem_is_a_name() {
    for stem in ["v1.2", "fix bug", "наладить", "-r", "*", "x=y"] {
        let system = project().with_file(&format!(".agents/tasks/{stem}.md"), "X\n");
        let name = TaskName::parse(stem).unwrap();
        assert_eq!(name.base(), stem);
        if stem != "-r" {
            assert_eq!(task_text(&run(&system, &[stem])), "X\n", "{stem}");
        }
    }
}
