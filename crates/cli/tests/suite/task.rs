//! `brief task`: one prompt, and what the flags make of it. What applies when is tested with the
//! library, in `crates/dialects/tests/tasks`; this is about the program.

use std::fs;
use std::process::Stdio;

use brief_testkit::{Output, Sandbox};

use crate::project_on_disk as project;

/// A project with something of everything: a task that selects rules, calls a command and reads a
/// file; three rules of which two fit, an agent's own file, and a skill.
fn small() -> Sandbox {
    project()
        .with_file(
            ".agents/tasks/fix-bug.md",
            "---
description: Fix one bug
selectors:
  languages: go
---
# Fix ${issue}

/steps area=\"cart\"

See @notes.txt.
",
        )
        .with_file(".agents/commands/steps.md", "1. Reproduce it in ${area}.\n2. Fix it.\n")
        .with_file(".agents/rules/any.md", "Be brief.\n")
        .with_file(".agents/rules/go.md", "---\nlanguages: [go]\n---\nUse gofmt.\n")
        .with_file(".agents/rules/python.md", "---\nlanguages: python\n---\nUse black.\n")
        .with_file("CLAUDE.md", "Speak plainly.\n")
        .with_file(
            ".agents/skills/sql/SKILL.md",
            "---\nname: sql\ndescription: For queries & joins\n---\nNot in the prompt.\n",
        )
        .with_file("notes.txt", "a note")
}

/// A project with one task.
fn with_task(text: &str) -> Sandbox {
    project().with_file(".agents/tasks/t.md", text)
}

/// A run that printed this, said nothing, and ended well.
#[track_caller]
fn assert_prints(output: &Output, expected: &str) {
    assert_eq!(output.stdout, expected, "{output}");
    assert_eq!((output.stderr.as_str(), output.code), ("", Some(0)), "{output}");
}

/// Ruling T3: "the task's front matter as YAML between `---` lines […], the rules, the skills block,
/// the task body. Nothing else". Rules in the order of ruling T6.
#[test]
fn a_prompt_is_front_matter_rules_skills_and_task() {
    insta::assert_snapshot!(small().run(&["task", "fix-bug", "-p", "issue=SHOP-1"]), @"
    ---
    description: Fix one bug
    selectors:
      languages: go
    ---
    Be brief.

    Use gofmt.

    Speak plainly.


    # Skills

    You have access to the following skills. Only their names and descriptions are listed here: when the work at hand calls for one of them, read the file at its location first and follow it.

    <available_skills>
      <skill>
        <name>sql</name>
        <description>For queries &amp; joins</description>
        <location>$PROJECT/.agents/skills/sql/SKILL.md</location>
      </skill>
    </available_skills>

    # Fix SHOP-1

    1. Reproduce it in cart.
    2. Fix it.

    See a note.

    [EOF]
    ");
}

/// Ruling T3: "`--no-frontmatter` drops it".
#[test]
fn front_matter_can_be_left_out() {
    let project = with_task("---\nmodel: m # as written\nagent:   cursor\n---\nDo it.\n");
    let output = project.run(&["task", "t"]);
    assert_prints(&output, "---\nmodel: m # as written\nagent:   cursor\n---\nDo it.\n\n");
    assert_prints(&project.run(&["task", "t", "--no-frontmatter"]), "Do it.\n\n");
    assert_prints(&with_task("Do it.").run(&["task", "t"]), "Do it.\n");
}

/// Document, "Parameter Expansion": a parameter that is not found stays, "and a warning is logged".
#[test]
fn parameters_fill_placeholders() {
    let project = with_task("${a}, ${b_2}, ${a}\n${c}\n");
    let output = project.run(&["task", "t", "-p", "a=1=2", "--param", "b_2=two words", "-p", "c="]);
    assert_prints(&output, "1=2, two words, 1=2\n\n\n");
    insta::assert_snapshot!(project.run(&["task", "t", "-p", "a=1"]), @"
    1, ${b_2}, 1
    ${c}

    ------- stderr -------
    warning[tasks/missing-parameter]: .agents/tasks/t.md:1:7: `${b_2}` stays as written: no parameter `b_2` was given
    warning[tasks/missing-parameter]: .agents/tasks/t.md:2:1: `${c}` stays as written: no parameter `c` was given
    [EOF]
    ");
}

/// Document, "Security": "Expanded content is never re-processed".
#[test]
fn what_is_put_in_is_not_looked_at_again() {
    let project = with_task("${a} ${b} @f.txt\n").with_file("f.txt", "${a} !`touch marker` @f.txt");
    let args = ["task", "t", "-p", "a=!`touch marker`", "-p", "b=@f.txt ${a}\n/c"];
    let expected = "!`touch marker` @f.txt ${a}\n/c ${a} !`touch marker` @f.txt\n\n";
    assert_prints(&project.run(&args), expected);
    assert!(!project.path().join("marker").exists());
}

/// Ruling T5: AND over keys, OR within a key, a missing key matches.
#[test]
fn selectors_choose_rules() {
    let project = with_task("Do it.")
        .with_file(".agents/rules/a.md", "---\nstage: build\nteam: web\n---\nA\n")
        .with_file(".agents/rules/b.md", "---\nstage: [test, build]\n---\nB\n")
        .with_file(".agents/rules/c.md", "---\nstage: deploy\n---\nC\n")
        .with_file(".agents/rules/d.md", "D\n");
    for (args, rules) in [
        (&[][..], "A\n\nB\n\nC\n\nD\n\n"),
        (&["-s", "stage=build"], "A\n\nB\n\nD\n\n"),
        (&["--select", "stage=deploy", "-s", "stage=test"], "B\n\nC\n\nD\n\n"),
        (&["-s", "stage=build", "-s", "team=app"], "B\n\nD\n\n"),
        (&["-s", "rule_name=d"], "D\n\n"),
        (&["-s", "stage=nothing"], "D\n\n"),
    ] {
        let output = project.run(&[&["task", "t"], args].concat());
        assert_prints(&output, &format!("{rules}Do it.\n"));
    }
}

/// Ruling T5: "`agent` (task field or `-a`; the task's wins) keeps rules with that agent or none".
#[test]
fn an_agent_chooses_rules() {
    let project = with_task("Do it.")
        .with_file(".agents/tasks/own.md", "---\nagent: cursor\n---\nDo it.")
        .with_file(".agents/rules/a.md", "---\nagent: cursor\n---\nA\n")
        .with_file(".agents/rules/b.md", "---\nagent: claude\n---\nB\n")
        .with_file(".agents/rules/c.md", "C\n");
    for (args, rules) in [
        (&["t"][..], "A\n\nB\n\nC\n\n"),
        (&["t", "-a", "claude"], "B\n\nC\n\n"),
        (&["t", "--agent", "gemini"], "C\n\n"),
        (&["own", "--no-frontmatter"], "A\n\nC\n\n"),
        (&["own", "-a", "claude", "--no-frontmatter"], "A\n\nC\n\n"),
    ] {
        let output = project.run(&[&["task"], args].concat());
        assert_prints(&output, &format!("{rules}Do it.\n"));
    }
}

/// Ruling T4: `-r` "sets the selector `resume=true` and skips rules, skills and bootstraps; `-s
/// resume=true` only selects. `--skip-bootstrap` skips […] without selecting".
#[test]
fn a_task_can_be_resumed() {
    let project = project()
        .with_file(".agents/tasks/start/t.md", "---\nresume: false\n---\nStart.\n")
        .with_file(".agents/tasks/again/t.md", "---\nresume: true\n---\nGo on.\n")
        .with_file(".agents/tasks/u.md", "U\n")
        .with_file(".agents/rules/a.md", "A\n")
        .with_file(".agents/skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\n");
    for flag in ["-r", "--resume"] {
        assert_prints(&project.run(&["task", "t", flag]), "---\nresume: true\n---\nGo on.\n\n");
        assert_prints(&project.run(&["task", "u", flag]), "U\n\n");
    }
    let selected = project.run(&["task", "t", "-s", "resume=true"]);
    assert!(selected.stdout.starts_with("---\nresume: true\n---\nA\n\n"), "{selected}");
    assert!(selected.stdout.contains("<name>s</name>"), "{selected}");
    assert_prints(&project.run(&["task", "u", "--skip-bootstrap"]), "U\n\n");
    let ambiguous = project.run(&["task", "t", "--skip-bootstrap"]);
    assert_eq!((ambiguous.stdout.as_str(), ambiguous.code), ("", Some(1)), "{ambiguous}");
}

/// Reference: the second argument "is put below the task, after a line `---`, and expands as the
/// task does".
#[test]
fn the_user_can_add_a_text() {
    let project = with_task("Do it.\n")
        .with_file(".agents/tasks/short.md", "Do it.")
        .with_file(".agents/tasks/plain.md", "---\nexpand: false\n---\nDo it.\n")
        .with_file(".agents/commands/c.md", "Command ${1}.\n")
        .with_file("f.txt", "content");
    let text = "Also ${a}, @f.txt\n/c one";
    assert_prints(
        &project.run(&["task", "t", text, "-p", "a=1"]),
        "Do it.\n---\nAlso 1, content\nCommand one.\n\n",
    );
    assert_prints(&project.run(&["task", "short", "More."]), "Do it.\n---\nMore.\n");
    let output = project.run(&["task", "plain", "${a}", "-p", "a=1", "--no-frontmatter"]);
    assert_prints(&output, "Do it.\n---\n${a}\n");
}

/// Ruling T1: "`ns/name` looks in `.agents/namespaces/ns/` first (commands, rules and skills too),
/// then in the global places".
#[test]
fn a_namespace_comes_first() {
    let project = project()
        .with_file(".agents/namespaces/web/tasks/t.md", "Web task.\n/c\n/d\n")
        .with_file(".agents/namespaces/web/commands/c.md", "web command\n")
        .with_file(".agents/namespaces/web/rules/r.md", "Web rule.\n")
        .with_file(".agents/tasks/t.md", "Common task.\n/c\n")
        .with_file(".agents/tasks/only.md", "Only here.\n")
        .with_file(".agents/commands/c.md", "common command\n")
        .with_file(".agents/commands/d.md", "other command\n")
        .with_file(".agents/rules/r.md", "Common rule.\n");
    assert_prints(
        &project.run(&["task", "web/t"]),
        "Web rule.\n\nCommon rule.\n\nWeb task.\nweb command\nother command\n\n",
    );
    assert_prints(
        &project.run(&["task", "/t"]),
        "Common rule.\n\nCommon task.\ncommon command\n\n",
    );
    let common = project.run(&["task", "web/only", "-s", "rule_name=none"]);
    assert_prints(&common, "Only here.\n\n");
}

/// Ruling T10: "Flags may stand after the task name."
#[test]
fn flags_may_stand_anywhere() {
    let project = small();
    let first = project.run(&["task", "-p", "issue=1", "--no-frontmatter", "fix-bug", "Now."]);
    assert_eq!(first.code, Some(0), "{first}");
    for args in [
        ["task", "fix-bug", "Now.", "-p", "issue=1", "--no-frontmatter"],
        ["task", "fix-bug", "-p", "issue=1", "Now.", "--no-frontmatter"],
        ["task", "--no-frontmatter", "/fix-bug", "-p", "issue=1", "Now."],
    ] {
        assert_eq!(project.run(&args), first, "{args:?}");
    }
    let after_dashes = project.run(&["task", "-p", "issue=1", "--", "fix-bug", "-p"]);
    assert!(after_dashes.stdout.ends_with("See a note.\n---\n-p\n"), "{after_dashes}");
}

/// Ruling T10: "`-C dir` means \"as if started there\"": files, commands and relative `-d` too.
#[test]
fn another_directory_is_as_if_started_there() {
    let project = project()
        .with_dir(".git")
        .with_file("app/.agents/tasks/t.md", "@f.txt @../g.txt\n")
        .with_file("app/f.txt", "inner")
        .with_file("app/extra/.agents/rules/r.md", "R\n")
        .with_file("f.txt", "outer")
        .with_file("g.txt", "above");
    let there = project.run_in("app", &["task", "t", "-d", "extra"], "");
    assert_prints(&there, "R\n\ninner above\n\n");
    assert_eq!(project.run(&["task", "t", "-C", "app", "-d", "extra"]), there);
    assert_eq!(project.run(&["-C", "app", "task", "t", "-d", "extra"]), there);
    let missing = project.run(&["task", "t", "-C", "nowhere"]);
    assert_eq!((missing.stdout.as_str(), missing.code), ("", Some(2)), "{missing}");
}

/// Ruling G3: "Same bytes, same answer".
#[test]
fn two_runs_print_the_same_bytes() {
    let project = small().with_dir("elsewhere");
    for index in 0..20 {
        project.write(&format!(".agents/rules/{index}/r{index}.md"), format!("Rule {index}\n"));
        project.write(&format!(".agents/rules/s{index}.mdc"), format!("Rule s{index}\n"));
    }
    for mode in [&[][..], &["--json"], &["--explain"], &["--dry-run"]] {
        let args = [&["task", "fix-bug", "-p", "issue=1"], mode].concat();
        let first = project.run(&args);
        assert_eq!(first.code, Some(0), "{first}");
        assert_eq!(project.run(&args), first);
        let from_elsewhere = project.run_in("elsewhere", &[&args[..], &["-C", ".."]].concat(), "");
        assert_eq!(from_elsewhere, first, "{mode:?}");
    }
}

/// Reference: "All other text comes out byte for byte."
#[test]
fn bytes_that_are_no_text_survive() {
    let latin = b"caf\xe9 \xff\xfe\0 ${a}\r\n\x1b[31m @f.bin /x\n";
    let project = project()
        .with_file(".agents/tasks/t.md", latin)
        .with_file(".agents/rules/r.md", b"---\nname: r\n---\n\xf0\x28 rule\r\n")
        .with_file(".agents/commands/c.md", b"\xe9")
        .with_file("f.bin", [0, 159, 146, 150, 255]);
    let run = |args: &[&str]| {
        let child = project.prepare_command("", args).stdin(Stdio::null()).output().unwrap();
        assert_eq!(child.status.code(), Some(0), "{}", String::from_utf8_lossy(&child.stderr));
        child.stdout
    };
    let expected = [
        &b"\xf0\x28 rule\r\n\n"[..],
        b"caf\xe9 \xff\xfe\0 1\r\n\x1b[31m ",
        &[0, 159, 146, 150, 255],
        b" /x\n\n",
    ];
    assert_eq!(run(&["task", "t", "-p", "a=1"]), expected.concat());
    project.write(".agents/tasks/u.md", b"\xff\n/c\n\xfe");
    assert!(run(&["task", "u"]).ends_with(b"\xff\n\xe9\n\xfe\n"));
}

/// Ruling G1: byte order marks and CRLF are accepted; the header and the body stay as written.
#[test]
fn line_breaks_of_another_system_stay() {
    let project = with_task("---\r\nmodel: m\r\n---\r\nOne ${a}\r\n\r\n/c\r\nTwo\r\n")
        .with_file(".agents/commands/c.md", "command\r\n");
    let output = project.run(&["task", "t", "-p", "a=1"]);
    assert!(output.stdout.contains("\nmodel: m\r\n---"), "{output:?}");
    assert!(output.stdout.ends_with("One 1\r\n\r\ncommand\r\nTwo\r\n\n"), "{output:?}");
}

/// A prompt that is piped into something that stops reading brings no complaint.
#[cfg(unix)]
#[test]
fn a_reader_may_go_away() {
    let project = with_task(&"x".repeat(1_000_000));
    let mut child = project.prepare_command("", &["task", "t"]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// Ruling G8: assembling writes nothing, neither in the project nor at home.
#[test]
fn nothing_is_written() {
    let project = small();
    let names = |project: &Sandbox| {
        let mut names: Vec<_> =
            fs::read_dir(project.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names(&project);
    assert_eq!(project.run(&["task", "fix-bug", "-p", "issue=1"]).code, Some(0));
    assert_eq!(names(&project), before);
    assert_eq!(fs::read_dir(project.home()).unwrap().count(), 0);
}

/// N18: a rule that its client loads for some files only, or by its description, is not part of a prompt without files. What
/// `brief why` says of it, and the document's own rules and tool, stay as they are.
#[test]
fn rules_that_a_client_limits_are_left_out() {
    let project = project()
        .with_file(".agents/tasks/t.md", "TASK\n")
        .with_file(".agents/rules/own.md", "---\ndescription: About us\n---\nOWN\n")
        .with_file(".cursor/rules/web.mdc", "---\nglobs: web/src/**\n---\nWEB\n")
        .with_file(".cursor/rules/idea.mdc", "---\ndescription: Use for ideas\n---\nIDEA\n")
        .with_file(".cursor/rules/wide.mdc", "---\nglobs: \"**\"\n---\nWIDE\n")
        .with_file(".cursor/rules/all.mdc", "---\nalwaysApply: true\n---\nALL\n")
        .with_file(".cursor/rules/go.mdc", "---\nglobs: \"**/*.go\"\nlanguages: go\n---\nGO\n");
    let prompt = project.run(&["task", "t"]).stdout;
    for (text, is_in) in [
        ("OWN", true),
        ("ALL", true),
        ("WIDE", true),
        ("WEB", false),
        ("IDEA", false),
        ("GO", false),
    ] {
        assert_eq!(prompt.contains(text), is_in, "{text}: {prompt}");
    }
    let explained = project.run(&["task", "t", "--explain"]).stdout;
    for reason in
        ["applies only to some files, and a task names none", "is only listed by its description"]
    {
        assert!(explained.contains(reason), "{reason}: {explained}");
    }
    assert!(project.run(&["task", "t", "-s", "languages=go"]).stdout.contains("GO"));
    let document = project.linked_as("coding-context").run(&["t"]);
    for text in ["WEB", "IDEA", "GO"] {
        assert!(document.stdout.contains(text), "{text}: {document}");
    }
}

/// N35: "`brief task`: "<NAME> not provided" instead of listing tasks".
#[test]
fn a_call_without_a_name_lists_the_tasks() {
    let project = project()
        .with_file(".agents/tasks/review.md", "R\n")
        .with_file(".agents/tasks/fix-bug.md", "F\n");
    let output = project.run(&["task"]);
    assert!(output.stdout.contains("fix-bug") && output.stdout.contains("review"), "{output}");
    assert_eq!(output, project.run(&["task", "list"]));
    let none = crate::project().run(&["task"]);
    assert!(none.stderr.contains(".agents/tasks/NAME.md"), "{none}");
}
