//! `brief lint` on tasks, rules, commands and skills, and on the files around them. What is a finding
//! and what is none is tested with the library, in `crates/dialects/tests/tasks`; this is about what a
//! person sees, and about real files.

use std::fs;

use brief_testkit::Sandbox;

use crate::project_on_disk as project;

/// The findings of a project, one in each line: severity, code, place, message, and the way out.
#[track_caller]
fn findings(project: &Sandbox) -> Vec<String> {
    let output = project.run(&["lint", "--format", "json"]);
    assert!(matches!(output.code, Some(0 | 1)), "{output}");
    let json = output.json();
    let found = json["diagnostics"].as_array().unwrap().iter().map(|found| {
        let text = |key: &str| found[key].as_str().unwrap_or_default().replace("$PROJECT/", "");
        let (line, column) = (&found["line"], &found["column"]);
        let help = found["help"].as_str().map_or(String::new(), |help| format!(" ({help})"));
        format!(
            "{}[{}] {}:{line}:{column} {}{help}",
            text("severity"),
            text("code"),
            text("path"),
            text("message")
        )
    });
    found.collect()
}

fn with_task(text: &str) -> Sandbox {
    project().with_file(".agents/tasks/t.md", text)
}

fn with_rule(text: &str) -> Sandbox {
    with_task("T\n").with_file(".agents/rules/r.md", text)
}

#[test]
fn findings_show_their_place() {
    let project = project()
        .with_file(
            ".agents/tasks/fix-bug.md",
            "---
selector:
  stage: build
expand: maybe
agent: cursr
timeout: 10 minutes
mcp_server: {args: []}
---
",
        )
        .with_file(".agents/tasks/deploy.md", "Read @docs/api.md and @.env first.\n\n/deplyo now\n")
        .with_file(".agents/commands/deploy.md", "Deploy ${a b}.\n")
        .with_file(".env", "TOKEN=x\n");
    insta::assert_snapshot!(project.run(&["lint"]), @r"
    warning[tasks/placeholder-unfillable]: nothing can fill `${a b}`: it is not a parameter name
     --> .agents/commands/deploy.md:1:8
      |
    1 | Deploy ${a b}.
      |        ^^^^^^
      |
      = help: to keep it as text, set `expand: false`

    warning[tasks/missing-file]: file not found: `@docs/api.md`
     --> .agents/tasks/deploy.md:1:6
      |
    1 | Read @docs/api.md and @.env first.
      |      ^^^^^^^^^^^^
      |
      = help: paths are relative to the project's root

    warning[tasks/sensitive-file]: such files hold secrets and are never read (`.env`)
     --> .agents/tasks/deploy.md:1:23
      |
    1 | Read @docs/api.md and @.env first.
      |                       ^^^^^

    warning[tasks/unknown-command]: unknown command `/deplyo`
     --> .agents/tasks/deploy.md:3:1
      |
    3 | /deplyo now
      | ^^^^^^^
      |
      = help: did you mean `/deploy`?

    warning[tasks/unknown-field]: unknown field `selector`
     --> .agents/tasks/fix-bug.md:2:1
      |
    2 | selector:
      | ^^^^^^^^
      |
      = help: did you mean `selectors`?

    warning[tasks/wrong-type]: `expand` must be `true` or `false`, not text
     --> .agents/tasks/fix-bug.md:4:9
      |
    4 | expand: maybe
      |         ^^^^^

    error[tasks/unknown-agent]: unknown agent: cursr (supported: cursor, copilot, claude, gemini, opencode, augment, windsurf, codex)
     --> .agents/tasks/fix-bug.md:5:8
      |
    5 | agent: cursr
      |        ^^^^^
      |
      = help: did you mean `cursor`?

    warning[tasks/invalid-timeout]: `10 minutes` is not a duration
     --> .agents/tasks/fix-bug.md:6:10
      |
    6 | timeout: 10 minutes
      |          ^^^^^^^^^^
      |
      = help: write `30s`, `10m` or `1h30m`

    warning[tasks/mcp-server-invalid]: the MCP server has neither `command` nor `url`
     --> .agents/tasks/fix-bug.md:7:13
      |
    7 | mcp_server: {args: []}
      |             ^^^^^^^^^^

    ------- stderr -------
    1 error and 8 warnings in 3 files
    [exit status: 1]
    [EOF]
    ");
}

/// Only what cannot be run is an error.
#[test]
fn warnings_fail_only_when_asked_to() {
    let project = with_task("@docs/api.md\n");
    assert_eq!(project.run(&["lint"]).code, Some(0));
    assert_eq!(project.run(&["lint", "--strict"]).code, Some(1));
}

#[test]
fn selectors_and_names_that_lead_nowhere() {
    let task = "---\nselectors:\n  stage: biuld\n  rule_name: [r, x]\n---\n";
    let project = with_task(task)
        .with_file(".agents/tasks/fix-bug.md", "")
        .with_file(".agents/rules/r.md", "---\nstage: build\ntask_names: [fix-bgu, t]\n---\n");
    assert_eq!(
        findings(&project),
        [
            "warning[tasks/unknown-task] .agents/rules/r.md:3:14 unknown task `fix-bgu` (did \
             you mean `fix-bug`?)",
            "warning[tasks/selector-matches-nothing] .agents/tasks/t.md:3:10 the selector \
             `stage=biuld` matches no rule and no skill (give a rule the field `stage: biuld`)",
            "warning[tasks/selector-matches-nothing] .agents/tasks/t.md:4:18 the selector \
             `rule_name=x` matches no rule and no skill (it selects by file name: `x.md`)",
        ]
    );
}

/// "`${3}` in a command that is called with two".
#[test]
fn placeholders_that_no_call_fills() {
    let project = with_task("${1}\n/c one two\n/c one\n/d\n")
        .with_file(".agents/commands/c.md", "${1} ${2} ${3} ${0} ${ARGUMENTS} ${name}\n")
        .with_file(".agents/commands/d.md", "${1}\n")
        .with_file(".agents/commands/uncalled.md", "${9}\n");
    let text = "(to keep it as text, set `expand: false`)";
    let code = "warning[tasks/placeholder-unfillable]";
    assert_eq!(
        findings(&project),
        [
            format!(
                "{code} .agents/commands/c.md:1:11 nothing can fill `${{3}}`: no call has more \
                 than 2 arguments {text}"
            ),
            format!(
                "{code} .agents/commands/c.md:1:16 nothing can fill `${{0}}`: arguments are \
                 counted from 1 {text}"
            ),
            format!(
                "{code} .agents/commands/d.md:1:1 nothing can fill `${{1}}`: no call has \
                 arguments {text}"
            ),
            format!(
                "{code} .agents/tasks/t.md:1:1 nothing can fill `${{1}}`: only commands have \
                 arguments by position {text}"
            ),
        ]
    );
}

/// Real rules quote templates of a language in code, name packages of npm in prose, and are called `.mdc` although Cursor
/// does not read them there.
#[test]
fn code_and_packages_are_left_alone() {
    let project = with_task("T\n").with_file(
        ".agents/rules/sql.mdc",
        "---\nglobs: [\"src/**\"]\n---\n# @repo/build policy (use @internal/sql/types)\n\n```ts\nreturn `${quote(alias)}`\n```\n\n\
         See @docs/none.md and ${a b}.\n",
    );
    let found = findings(&project);
    let codes: Vec<&str> = found.iter().map(|one| one.split(' ').next().unwrap()).collect();
    assert_eq!(
        codes,
        ["warning[tasks/missing-file]", "warning[tasks/placeholder-unfillable]"],
        "{found:#?}"
    );
}

/// The script beside a rule: "it has no executable bit, is no file, or a link that leaves its
/// directory".
#[cfg(unix)]
#[test]
fn scripts_that_cannot_be_started() {
    use std::os::unix::fs::PermissionsExt;
    let project = with_task("T\n")
        .with_file(".agents/rules/a.md", "A\n")
        .with_file(".agents/rules/a-bootstrap", "#!/bin/sh\n")
        .with_file(".agents/rules/b.md", "B\n")
        .with_dir(".agents/rules/b-bootstrap")
        .with_file(".agents/rules/c.md", "C\n")
        .with_file(".agents/rules/d.md", "---\nbootstrap: 'true'\n---\n")
        .with_file(".agents/rules/d-bootstrap", "#!/bin/sh\n")
        .with_file(".agents/rules/e.md", "E\n")
        .with_file(".agents/rules/e-bootstrap", "#!/bin/sh\n");
    let outside = project.outside_directory().join("script");
    for script in [&outside, &project.path().join(".agents/rules/e-bootstrap")] {
        fs::write(script, "#!/bin/sh\n").unwrap();
        fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let project = project.with_link(".agents/rules/c-bootstrap", &outside);
    let code = "warning[tasks/bootstrap-not-executable]";
    assert_eq!(
        findings(&project),
        [
            format!(
                "{code} .agents/rules/a.md:1:1 the script `a-bootstrap` is not executable, so it \
                 does not run (run `chmod +x $PROJECT/.agents/rules/a-bootstrap`)"
            ),
            format!(
                "{code} .agents/rules/b.md:1:1 the script `b-bootstrap` is a directory, so it \
                 does not run"
            ),
            format!(
                "{code} .agents/rules/c.md:1:1 the script `c-bootstrap` is a symbolic link that \
                 leaves its directory, so it does not run"
            ),
        ]
    );
}

#[test]
fn tasks_that_nobody_can_tell_apart() {
    let project = project()
        .with_file(".agents/tasks/a/fix.md", "A\n")
        .with_file(".agents/tasks/b/fix.md", "B\n")
        .with_file(".agents/tasks/a/known.md", "---\nstage: build\n---\n")
        .with_file(".agents/tasks/b/known.md", "---\nstage: test\n---\n")
        .with_file(".agents/tasks/copy.md", "Same\n")
        .with_file(".cursor/commands/copy.md", "Same\n");
    assert_eq!(
        findings(&project),
        ["warning[tasks/ambiguous-task] .agents/tasks/b/fix.md:1:1 the task `fix` is also in \
          .agents/tasks/a/fix.md, and no selector can tell them apart (rename one, or give both a \
          field with different values)"]
    );
}

#[test]
fn skills_that_nobody_would_find() {
    let long = format!("Writes bills for {}", "x".repeat(1008));
    let project = project()
        .with_file(".agents/skills/a/SKILL.md", "No front matter.\n")
        .with_file(".agents/skills/b/SKILL.md", "---\ndescription: Writes bills for orders\n---\n")
        .with_file(
            ".claude/skills/c/SKILL.md",
            format!("---\nname: {}\ndescription: {long}\n---\n", "n".repeat(65)),
        )
        .with_file(".agents/skills/d/README.md", "No skill.\n");
    let found = findings(&project);
    let beginnings = [
        "warning[client/skill-field-missing] .agents/skills/a/SKILL.md:1:1 the skill has no \
         frontmatter, so no `name` and no `description`",
        "warning[client/skill-field-missing] .agents/skills/b/SKILL.md:2:1 the skill has no `name`",
        "warning[client/skill-too-long] .claude/skills/c/SKILL.md:2:7 `name` has 65 characters; \
         the limit is 64",
        "warning[client/skill-too-long] .claude/skills/c/SKILL.md:3:14 `description` has 1025 \
         characters; the limit is 1024",
    ];
    assert_eq!(found.len(), beginnings.len(), "{found:#?}");
    for (found, beginning) in found.iter().zip(beginnings) {
        assert!(found.starts_with(beginning), "{found}");
    }
}

/// "two lines of dashes with prose between them are no front matter".
#[test]
fn prose_between_dashes_is_text() {
    let project = with_rule("---\nJust a sentence.\n---\nText.\n");
    let found = findings(&project);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("warning[tasks/no-fields] .agents/rules/r.md:"), "{found:#?}");
    let output = project.run(&["task", "t"]);
    assert!(output.stdout.starts_with("---\nJust a sentence.\n---\nText.\n"), "{output}");
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_found() {
    let project = with_task("T\n");
    let outside = project.outside_directory();
    fs::write(outside.join("x.md"), "X\n").unwrap();
    let project = project.with_link(".agents/rules", &outside);
    assert_eq!(
        findings(&project),
        [
            "warning[tasks/link-outside] .agents/rules:1:1 the file was not read: is a symbolic link \
          that leaves its directory (run `brief task -d DIR` to also read the directory that it points to)"
        ]
    );
}

/// Ruling G1: "`lint --fix` writes the quotes", and nothing else changes.
#[test]
fn quotes_are_repaired() {
    let rule = "---\r\ndescription: Notes: how to\r\npaths: **/*\r\n---\r\nBody: ${x}\r\n";
    let task = "---\nargument-hint: [a] [b]\n---\nT\n";
    let project = with_task(task).with_file(".claude/rules/r.md", rule).with_file("a.ts", "");
    let found = findings(&project);
    let [found] = &found[..] else { panic!("{found:#?}") };
    assert!(found.starts_with("warning[frontmatter-repaired] .agents/tasks/t.md:2:"), "{found}");
    let others = "2 more with the same cause: .claude/rules/r.md:2, .claude/rules/r.md:3";
    assert!(project.run(&["lint"]).stdout.contains(others));
    let before = project.run(&["task", "t", "-p", "x=1"]);
    assert!(before.stdout.contains("Body: 1\r\n"), "{before}");
    let fixed = project.run(&["lint", "--fix"]);
    assert!(fixed.stderr.contains("; 3 fixed"), "{fixed}");
    assert_eq!(project.read(".agents/tasks/t.md").replace(['"', '\''], ""), task);
    assert_eq!(project.read(".claude/rules/r.md").replace(['"', '\''], ""), rule);
    assert_eq!(findings(&project), [""; 0]);
    let after = project.run(&["task", "t", "-p", "x=1", "--no-frontmatter"]);
    assert_eq!((after.stderr.as_str(), after.code), ("", Some(0)), "{after}");
}

/// "a field of your own that a selector uses is never reported".
#[test]
fn a_field_that_a_selector_uses_is_meant() {
    let rule = "---\nagents: x\nlangages: y\n---\n";
    let found = findings(&with_rule(rule));
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found.iter().all(|found| found.starts_with("warning[tasks/unknown-field]")));
    let task = "---\nselectors: {agents: x, langages: y}\n---\n";
    let project = with_task(task).with_file(".agents/rules/r.md", rule);
    assert_eq!(findings(&project), [""; 0]);
}

/// Home is not the project's, but its commands, rules and tasks are at hand too.
#[test]
fn what_is_at_home_counts() {
    let task = "---\nselectors: {stage: build}\n---\n/mine\n";
    let rule = "---\ntask_names: at-home\n---\n";
    let project = with_task(task).with_file(".agents/rules/r.md", rule);
    assert_eq!(findings(&project).len(), 3);
    for (path, text) in [
        (".agents/commands/mine.md", "Mine\n"),
        (".agents/rules/h.md", "---\nstage: build\nselectr: this is not the project's\n---\n"),
        (".agents/tasks/at-home.md", "T\n"),
    ] {
        let path = project.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    assert_eq!(findings(&project), [""; 0]);
}

#[test]
fn a_project_without_such_files_has_no_findings() {
    let project = project()
        .with_file("AGENTS.yaml", "context: [{content: A}]\n")
        .with_file("src/tasks/t.md", "@missing.md ${a b}\n/nothing\n");
    insta::assert_snapshot!(project.run(&["lint"]), @"
    ------- stderr -------
    No problems in 1 file
    [EOF]
    ");
}

/// Ruling G8: "linting […] never execute".
#[cfg(unix)]
#[test]
fn lint_runs_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let project = with_task("!`touch marker`\n")
        .with_file(".agents/rules/a.md", "---\nbootstrap: touch marker\n---\n!`touch marker`\n")
        .with_file(".agents/rules/b.md", "B\n")
        .with_file(".agents/rules/b-bootstrap", "#!/bin/sh\ntouch marker\n");
    let script = project.path().join(".agents/rules/b-bootstrap");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    for args in [&["lint"][..], &["lint", "--fix"], &["lint", "--format", "sarif"]] {
        assert_eq!(project.run(args).code, Some(0), "{args:?}");
        assert!(!project.path().join("marker").exists(), "{args:?}");
    }
}

/// A directory or a file of them can be checked alone, from the project that it belongs to.
#[test]
fn a_part_can_be_checked_alone() {
    let project = project()
        .with_file("app/.agents/tasks/t.md", "/c\n/deplyo\n")
        .with_file("app/.agents/commands/c.md", "@missing.md\n")
        .with_file("app/.agents/commands/deploy.md", "D\n")
        .with_file("app/.cursor/rules/r.mdc", "---\nglobs: *.ts\n---\n")
        .with_file("app/a.ts", "")
        .with_file("app/CLAUDE.md", "---\nagent: cursr\n---\n[x](docs/gone.md)\n")
        .with_file("AGENTS.yaml", "contxt: []\n");
    for (path, codes) in [
        ("app/.agents/tasks/t.md", &["tasks/unknown-command"][..]),
        ("app/.agents/tasks", &["tasks/unknown-command"]),
        ("app/.agents", &["tasks/missing-file", "tasks/unknown-command"]),
        ("app/.agents/commands/deploy.md", &[]),
        ("app/.cursor/rules/r.mdc", &[]),
        ("app/CLAUDE.md", &["client/broken-link"]),
    ] {
        let output = project.run(&["lint", path, "--format", "json"]);
        let json = output.json();
        let found: Vec<&str> = json["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| found["code"].as_str().unwrap())
            .collect();
        assert_eq!(found, codes, "{path}: {output}");
        assert!(json["files"].as_u64().unwrap() > 0, "{path}: {output}");
        assert!(!output.stderr.contains("found"), "{path}: {output}");
    }
}
