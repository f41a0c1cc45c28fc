//! `brief task` with bad input: what can be had is there, the rest is named, and nothing hangs.

use std::fs;

use brief_testkit::{Output, Sandbox};

use crate::{project_on_disk as project, trusted_project};

/// A project with a good task and a good rule.
fn good() -> Sandbox {
    project()
        .with_file(".agents/tasks/t.md", "GOOD-TASK\n")
        .with_file(".agents/rules/good.md", "GOOD-RULE\n")
}

/// Runs in every way there is: the good files are there, the bad one is named with its code, and
/// lint knows it too.
#[track_caller]
fn assert_survives(project: &Sandbox, place: &str, code: &str) {
    let text = project.run(&["task", "t"]);
    assert_eq!(
        (text.stdout.as_str(), text.code),
        ("GOOD-RULE\n\nGOOD-TASK\n\n", Some(0)),
        "{text}"
    );
    let warning = format!("warning[{code}]: {place}");
    assert_eq!(text.stderr.matches(&warning).count(), 1, "{text}");
    let json = project.run(&["task", "t", "--json"]).json();
    assert_eq!(json["prompt"].as_str(), Some(text.stdout.as_str()));
    assert_eq!(json["diagnostics"][0]["code"], code);
    for args in [&["task", "t", "--explain"][..], &["task", "list"], &["task", "t", "--dry-run"]] {
        let output = project.run(args);
        assert_eq!(output.code, Some(0), "{args:?}: {output}");
    }
    let lint = project.run(&["lint"]);
    // A client's own file is reported under the client's code.
    let problem = code.rsplit('/').next().unwrap();
    assert!(lint.stdout.contains(place) && lint.stdout.contains(problem), "{lint}");
}

/// Ruling G5: "regular files only (no FIFO, device, socket)".
#[cfg(unix)]
#[test]
fn a_fifo_is_not_waited_for() {
    let fifo = |path: &str| {
        let project = good();
        let path = project.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        brief_testkit::make_fifo(&path);
        project
    };
    for place in [".agents/rules/bad.md", "CLAUDE.md", ".agents/skills/s/SKILL.md"] {
        assert_survives(&fifo(place), place, "tasks/unreadable");
    }
    let output = fifo(".agents/tasks/bad.md").run(&["task", "bad"]);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{output}");
    assert!(output.stderr.contains(".agents/tasks/bad.md: the file was not read"), "{output}");
    let output = fifo(".agents/commands/bad.md").with_file(".agents/tasks/u.md", "/bad\n");
    let output = output.run(&["task", "u", "-r"]);
    assert_eq!((output.stdout.as_str(), output.code), ("/bad\n\n", Some(0)), "{output}");

    let project =
        fifo("pipe").with_file(".agents/tasks/u.md", "@pipe and @/dev/zero and @.agents\n");
    let output = project.run(&["task", "u", "-r"]);
    assert_eq!(output.stdout, "@pipe and @/dev/zero and @.agents\n\n", "{output}");
    assert_eq!(output.stderr.matches("warning[tasks/unreadable-file]").count(), 2, "{output}");
    assert_eq!(output.stderr.matches("warning[tasks/system-file]").count(), 1, "{output}");
    let output = project.run(&["task", "t", "-m", "pipe"]);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{output}");
}

/// Ruling G5: "1 MiB per text file", not a byte less.
#[test]
fn a_large_file_is_not_read() {
    let limit = 1024 * 1024;
    let project = good().with_file(".agents/rules/bad.md", "x".repeat(2 * limit));
    assert_survives(&project, ".agents/rules/bad.md", "tasks/unreadable");
    let project = good().with_file(".agents/rules/large.md", "x".repeat(limit));
    let output = project.run(&["task", "t"]);
    assert_eq!(output.stdout.len(), limit + "GOOD-RULE\n\n\nGOOD-TASK\n\n".len());
    let project = project.with_file("f", "y".repeat(limit)).with_file("g", "z".repeat(limit + 1));
    project.write(".agents/tasks/u.md", "@f @g");
    let output = project.run(&["task", "u", "-r"]);
    assert_eq!(output.stdout.len(), limit + " @g\n".len());
    assert!(output.stderr.contains("warning[tasks/unreadable-file]"), "{}", output.stderr);
}

/// Limits: "names in one directory […] 10,000".
#[test]
fn a_directory_of_too_many_files_is_not_searched() {
    let project = good();
    let many = project.path().join(".agents/rules/many");
    fs::create_dir_all(&many).unwrap();
    for number in 0..10_001 {
        fs::write(many.join(format!("{number}.md")), "").unwrap();
    }
    assert_survives(&project, ".agents/rules/many", "tasks/too-many-files");
    fs::remove_file(many.join("0.md")).unwrap();
    let output = project.run(&["task", "t"]);
    assert_eq!((output.stderr.as_str(), output.code), ("", Some(0)));
    assert_eq!(output.stdout.lines().count(), 10_000 + 4);
}

/// Limits: "directories deep, for tasks, rules and commands: 64".
#[test]
fn directories_too_deep_are_not_searched() {
    let deep = |depth: usize| format!(".agents/rules/{}", vec!["d"; depth].join("/"));
    let project = good().with_file(&format!("{}/bad.md", deep(100)), "BAD\n");
    assert_survives(&project, &deep(64), "tasks/too-deep");
    let project = good().with_file(&format!("{}/fine.md", deep(63)), "FINE\n");
    assert_eq!(project.run(&["task", "t"]).stdout, "FINE\n\nGOOD-RULE\n\nGOOD-TASK\n\n");
}

/// Rulings T6: "a circle ends".
#[cfg(unix)]
#[test]
fn circles_of_links_end() {
    let project = good()
        .with_link(".agents/rules/self", ".")
        .with_link(".agents/rules/up", "../rules/a")
        .with_link(".agents/rules/a/b", "../../rules")
        .with_link(".agents/rules/a/c", "../a/c")
        .with_link(".agents/tasks/again", "../tasks")
        .with_link(".agents/skills/s", ".")
        .with_link("CLAUDE.md", "CLAUDE.md");
    for args in [&["task", "t"][..], &["task", "list"], &["lint"], &["task", "t", "--json"]] {
        let output = project.run(args);
        assert_eq!(output.code, Some(0), "{args:?}: {output}");
        assert!(output.stderr.lines().count() < 10, "{args:?}: {output}");
    }
    let output = project.run(&["task", "t"]);
    assert_eq!(output.stdout, "GOOD-RULE\n\nGOOD-TASK\n\n", "{output}");
}

/// A directory that the user may not read is reported. (The superuser may read everything.)
#[cfg(unix)]
#[test]
fn a_directory_without_permission_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let project = good().with_file(".agents/rules/closed/r.md", "");
    let closed = project.path().join(".agents/rules/closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
    let is_closed = fs::read_dir(&closed).is_err();
    if is_closed {
        assert_survives(&project, ".agents/rules/closed", "tasks/unreadable");
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    let file = project.path().join(".agents/rules/closed/r.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o0)).unwrap();
    if is_closed {
        assert_survives(&project, ".agents/rules/closed/r.md", "tasks/unreadable");
    }
}

/// Each thing is told once, however often a text asks for it.
#[cfg(unix)]
#[test]
fn a_text_of_beginnings_is_told_in_a_few_lines() {
    let body = "!` @a ".repeat(80_000);
    let project = trusted_project().with_file(".agents/tasks/t.md", &body);
    let off = project.run(&["task", "t", "--no-exec"]);
    assert_eq!((off.stdout.len(), off.code), (body.len() + 1, Some(0)));
    assert!(off.stdout.starts_with(&body));
    let warnings =
        |output: &Output| output.stderr.lines().filter(|line| line.starts_with("warning")).count();
    // The one file that is missing, and that nothing was run.
    assert_eq!(warnings(&off), 2, "{}", off.stderr);
    let on = project.run(&["task", "t"]);
    assert_eq!((on.stdout == off.stdout, on.code), (true, Some(0)));
    // The one command that fails, and the one file.
    assert_eq!(warnings(&on), 2, "{}", on.stderr);
}

/// Limits: "bytes of one prompt: 16,777,216", beyond which "there is no prompt, exit 1".
#[test]
fn a_prompt_that_would_be_too_large_is_none() {
    let project = project()
        .with_file("big.txt", "x".repeat(900_000))
        .with_file(".agents/tasks/t.md", "@big.txt ".repeat(10_000))
        .with_file(".agents/tasks/u.md", "@big.txt ".repeat(18));
    let output = project.run(&["task", "t"]);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)));
    assert_eq!(output.stderr, "error: the prompt would be larger than 16777216 bytes\n");
    let output = project.run(&["task", "u"]);
    assert_eq!((output.stdout.len(), output.code), (900_001 * 18 + 1, Some(0)));
    let rule = "${p}".repeat(10_000);
    let project = good().with_file(".agents/rules/r.md", rule);
    let output = project.run(&["task", "t", "-p", &format!("p={}", "x".repeat(100_000))]);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{}", output.stderr);
}

/// The same from a system that gives no more memory than a prompt needs.
#[cfg(target_os = "linux")]
#[test]
fn a_prompt_that_would_be_too_large_takes_little_memory() {
    let project = trusted_project()
        .with_file("big.txt", "x".repeat(900_000))
        .with_file(".agents/commands/c.md", "x".repeat(900_000))
        .with_file(".agents/tasks/files.md", "@big.txt ".repeat(10_000))
        .with_file(".agents/tasks/calls.md", "/c\n".repeat(10_000))
        .with_file(".agents/tasks/output.md", "!`cat big.txt` ".repeat(60));
    for task in ["files", "calls", "output"] {
        // 300 MB of addresses, where all of it would be 9 GB.
        let script = "ulimit -v 300000; exec \"$0\" task \"$1\"";
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_brief"), task]);
        command.current_dir(project.path()).env("HOME", project.home());
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(stderr, "error: the prompt would be larger than 16777216 bytes\n", "{task}");
        assert_eq!((output.stdout.as_slice(), output.status.code()), (&b""[..], Some(1)));
    }
}

/// Hundreds of different problems are not hundreds of lines.
#[test]
fn many_problems_are_counted() {
    let body = (0..500)
        .map(|number| format!("${{p{number}}} @f{number}.txt\n"))
        .collect::<Vec<_>>()
        .concat();
    let project = project().with_file(".agents/tasks/t.md", &body);
    let output = project.run(&["task", "t"]);
    assert_eq!(output.stdout, format!("{body}\n"));
    assert!(output.stderr.lines().count() <= 24, "{output}");
    assert!(output.stderr.contains("and 490 more like it (tasks/missing-parameter)"), "{output}");
    assert!(output.stderr.contains("and 490 more like it (tasks/missing-file)"), "{output}");
    let json = project.run(&["task", "t", "--json"]).json();
    assert_eq!(json["diagnostics"].as_array().unwrap().len(), 1000);
}

/// Ruling G11: characters that act on a terminal never reach one raw, neither from a name nor from
/// a text.
#[cfg(unix)]
#[test]
fn names_cannot_act_on_a_terminal() {
    let evil = "a\u{1b}[2J\u{202e}b\nc";
    let project = good()
        .with_file(&format!(".agents/tasks/{evil}.md"), "---\ndescription: \"\\e[31mred\"\n---\n")
        .with_file(&format!(".agents/rules/{evil}.md"), format!("@{}x\n", '\u{1b}'))
        .with_file(".agents/rules/z.md", "---\nstage: \"\\e[31mred\"\n---\n${\u{1b}[31m}\n");
    for args in [
        &["task", "list"][..],
        &["task", "t", "--explain"],
        &["task", "t", "--explain", "-s", "stage=x"],
        &["task", "t", "--dry-run"],
        &["task", "nothing\u{1b}[2J"],
        &["lint"],
    ] {
        let output = project.run(args);
        assert!(!output.to_string().contains(['\u{1b}', '\u{202e}']), "{args:?}: {output:?}");
    }
    // A prompt that goes to a program is what it is; what is said about it is for people.
    for name in ["t", evil] {
        let output = project.run(&["task", name]);
        assert!(output.stdout.contains('\u{1b}'), "{output:?}");
        assert!(!output.stderr.contains(['\u{1b}', '\u{202e}']), "{output:?}");
        let mut lines = output.stderr.lines();
        assert!(lines.all(|line| line.starts_with("warning[tasks/")), "{output:?}");
        assert!(output.stderr.contains("warning[tasks/hidden-character]"), "{output:?}");
    }
}

/// Ruling G1: "Aliases are bounded; a bomb is a diagnostic", in any file; so is any other text.
#[test]
fn front_matter_of_any_kind_is_survived() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let list = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    let nested = format!("selectors: {}{}\n", "[".repeat(5_000), "]".repeat(5_000));
    let long = format!("x: {}\n", "y".repeat(500_000));
    let keys = (0..20_000).map(|number| format!("k{number}: v\n")).collect::<Vec<_>>().concat();
    for header in [&bomb, &nested, &long, &keys, "a: [\n", "\0\n", "? ? ?\n", "- a\n", "a: b: c\n"]
    {
        let text = format!("---\n{header}---\nBODY\n");
        let project = good()
            .with_file(".agents/rules/r.md", &text)
            .with_file(".agents/tasks/u.md", &text)
            .with_file(".agents/skills/s/SKILL.md", &text);
        for args in [&["task", "t"][..], &["task", "u"], &["task", "u", "--json"]] {
            let output = project.run(args);
            let beginning: String = header.chars().take(20).collect();
            // Ruling T12: the task that was asked for must be YAML; in other files it is reported.
            if output.stderr.contains("the frontmatter of the task is not valid YAML") {
                assert_eq!((args[1], output.code), ("u", Some(1)), "{beginning:?}: {output}");
                continue;
            }
            assert_eq!(output.code, Some(0), "{beginning:?}: {}", output.stderr);
            assert!(output.stdout.contains("GOOD-RULE"), "{beginning:?}");
            assert!(output.stdout.contains("BODY"), "{beginning:?}");
        }
        let lint = project.run(&["lint"]);
        assert!(matches!(lint.code, Some(0 | 1)), "{}", lint.stderr);
    }
}

/// Lint reads each file once, however much the files refer to each other.
#[test]
fn files_that_refer_to_each_other_are_read_once() {
    let calls = "/c one\n".repeat(10_000);
    let project = good()
        .with_file(".agents/commands/c.md", "${1} ".repeat(150_000))
        .with_file(".agents/tasks/u.md", format!("{calls}{}", "some text\n".repeat(60_000)));
    let many = project.path().join(".agents/tasks/many");
    fs::create_dir_all(&many).unwrap();
    for number in 0..5_000 {
        fs::write(many.join(format!("t{number}.md")), "x").unwrap();
    }
    let output = project.run(&["lint"]);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)), "{}", output.stderr);
}
