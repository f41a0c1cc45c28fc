//! The programs that we start: found outside the project, whatever is on `PATH`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use brief_testkit::Sandbox;

use crate::install::{consumer, git, guidance};

/// Programs that commands of ours start, or that those start in turn.
const PROGRAMS: [&str; 6] = ["git", "sh", "cat", "sed", "ssh", "git-remote-https"];

/// Plants programs in the project that leave a mark, in each place that is on a user's `PATH`.
fn plant(project: &Sandbox) {
    let mark = project.outside_directory().join("mark");
    for place in ["", "bin", "node_modules/.bin"] {
        for name in PROGRAMS {
            let path = project.path().join(place).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("#!/bin/sh\necho {name} >> {}\n", mark.display())).unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        }
    }
}

/// The ways that a project gets onto `PATH`.
fn paths(project: &Sandbox) -> Vec<String> {
    let root = project.path();
    let root = root.display();
    let entries = [
        ".".to_owned(),
        String::new(),
        "node_modules/.bin".to_owned(),
        "./bin".to_owned(),
        format!("{root}"),
        format!("{root}/bin"),
        format!("{root}/../project/bin"),
    ];
    entries.iter().map(|entry| format!("{entry}:/usr/bin:/bin")).collect()
}

/// X03: with the project on `PATH`, its own `git` is not run by any command.
#[test]
fn x03_the_projects_git_is_not_started() {
    let project = consumer().with_file("AGENTS.yaml", "context:\n  - content: Text.\n");
    guidance(&project);
    git(&project.path(), &["add", "--all"]);
    git(&project.path(), &["commit", "--quiet", "-m", "message"]);
    plant(&project);
    for path in paths(&project) {
        for args in [
            &["diff"][..],
            &["diff", "HEAD"],
            &["add", "acme/guidance", "money"],
            &["list"],
            &["update", "--check"],
            &["stale"],
            &["update"],
            &["remove", "money"],
            &["context", "a.py"],
            &["lint"],
            &["doctor"],
        ] {
            let mut command = project.prepare_command("", args);
            let output = command.env("PATH", &path).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!project.outside_directory().join("mark").exists(), "{path} {args:?}: {said}");
            assert!(!said.contains("on `PATH` outside the project"), "{path} {args:?}: {said}");
        }
    }
}

/// X03: the same for a project that only `-C` names.
#[test]
fn x03_the_git_of_the_project_of_c_is_not_started() {
    let project = consumer().with_file("AGENTS.yaml", "context:\n  - content: Text.\n");
    guidance(&project);
    git(&project.path(), &["add", "--all"]);
    git(&project.path(), &["commit", "--quiet", "-m", "message"]);
    plant(&project);
    let root = project.path();
    let root = root.to_str().unwrap();
    let below = format!("{root}/bin");
    for path in paths(&project) {
        for directory in [root, &below] {
            for args in [
                &["diff", "HEAD"][..],
                &["add", "acme/guidance", "money"],
                &["list"],
                &["update"],
                &["remove", "money"],
            ] {
                let args = [&["-C", directory], args].concat();
                let mut command = project.prepare_command("", &args);
                command.current_dir(project.outside_directory()).env("PATH", &path);
                let said = command.output().unwrap().stderr;
                let said = String::from_utf8_lossy(&said).into_owned();
                assert!(
                    !project.outside_directory().join("mark").exists(),
                    "{path} {args:?}: {said}"
                );
                assert!(!said.contains("on `PATH` outside the project"), "{path} {args:?}: {said}");
            }
        }
    }
}

/// X03: when no `git` is left outside the project, the message says where one was looked for.
#[test]
fn x03_no_git_outside_the_project_is_said() {
    let project = consumer();
    plant(&project);
    for path in [".", "", "node_modules/.bin", &project.path().display().to_string()] {
        for (args, words) in [
            (&["diff"][..], "cannot read revisions: no `git` on `PATH` outside the project"),
            (&["add", "acme/guidance"], "no `git` on `PATH` outside the project"),
        ] {
            let output = project.prepare_command("", args).env("PATH", path).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains(words), "{path} {args:?}: {said}");
            assert_eq!(output.status.code(), Some(1), "{path} {args:?}: {said}");
        }
    }
    assert!(!project.outside_directory().join("mark").exists());
}

/// X03: the pager, and the shell that starts it, are looked up outside the project, too.
#[test]
fn x03_the_pager_is_found_outside_the_project() {
    let text = "line\n".repeat(200);
    let content = format!("context:\n  - content: |\n{}", text.replace("line", "      line"));
    for (pager, word) in [("cat", "line"), ("sed s/line/LINE/", "LINE")] {
        for path in [".:/usr/bin:/bin", ":/usr/bin:/bin", "node_modules/.bin:/usr/bin:/bin"] {
            let project = consumer()
                .with_file("AGENTS.yaml", &content)
                .with_env("BRIEF_PAGER", pager)
                .with_env("PATH", path);
            plant(&project);
            let seen = project.run_on_screen(&["context", "a.py"]);
            assert!(!project.outside_directory().join("mark").exists(), "{path} {pager}");
            assert!(seen.contains(word), "{path} {pager}: {seen}");
        }
    }
}
