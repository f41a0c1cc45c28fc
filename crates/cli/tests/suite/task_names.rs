//! Directories from elsewhere, as people read of them.

use brief_testkit::Sandbox;

use crate::install::{Remote, consumer, run};

fn remote(project: &Sandbox) -> Remote {
    let remote = Remote::new(project, "github/acme/rules");
    remote.commit(&[
        (".agents/tasks/x.md", "Do ${missing} and @nowhere.md.\n"),
        (".agents/rules/r.md", "---\nbootstrap: echo hello\n---\nA rule.\n"),
        ("sub/.agents/tasks/y.md", "Do ${missing}.\n"),
    ]);
    remote
}

/// U67: what was fetched is called by its repository, not by its place in the cache.
#[test]
fn files_of_a_repository_are_called_by_its_name() {
    let project = consumer();
    let _remote = remote(&project);
    for args in [
        &["task", "x", "-d", "acme/rules"][..],
        &["task", "x", "-d", "acme/rules", "--explain"],
        &["task", "x", "-d", "acme/rules", "--dry-run"],
        &["task", "x", "-d", "https://github.com/acme/rules.git"],
        &["task", "list", "-d", "acme/rules"],
    ] {
        let output = run(&project, args);
        let told = format!("{}{}", output.stdout, output.stderr);
        // What is to be typed has to be found.
        let told: String = told.lines().filter(|line| !line.contains("`brief trust ")).collect();
        assert!(!told.contains(".cache"), "{args:?}: {output}");
        assert!(told.contains("acme/rules:.agents/"), "{args:?}: {output}");
    }
    let output = run(&project, &["task", "y", "-d", "acme/rules:sub"]);
    assert!(output.stderr.contains("acme/rules:sub/.agents/tasks/y.md:1"), "{output}");
    let output = project.run(&["task", "none", "-d", "acme/rules"]);
    assert!(output.stderr.contains("brief searched acme/rules, "), "{output}");
}

/// U67: fetching is told as `add` tells it, once; what is there already takes no time.
#[test]
fn fetching_shows_a_line() {
    let project = consumer();
    let _remote = remote(&project);
    let output = run(&project, &["task", "x", "-d", "acme/rules"]);
    assert!(output.stderr.contains("Fetching https://github.com/acme/rules.git at "), "{output}");
    let output = run(&project, &["task", "x", "-d", "acme/rules"]);
    assert!(!output.stderr.contains("Fetching"), "{output}");
}

/// U67: a short spelling is taken as `add` takes it; a directory that is there is meant.
#[test]
fn a_short_spelling_is_taken() {
    let project = consumer().with_file("acme/rules/.agents/tasks/x.md", "Here.\n");
    let _remote = remote(&project);
    let output = run(&project, &["task", "x", "-d", "acme/rules"]);
    assert!(output.stdout.contains("Here."), "{output}");
    let output = run(&project, &["task", "x", "-d", "github:acme/rules@main"]);
    assert!(output.stdout.contains("Do ${missing}"), "{output}");
    let output = project.run(&["task", "x", "-d", "nowhere"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("cannot search the directory `nowhere`"), "{output}");
}
