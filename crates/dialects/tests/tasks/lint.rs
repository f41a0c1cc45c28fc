//! Findings of lint in these files, and none in good ones.

use std::path::Path;

use brief_dialects::Dialect;
use brief_dialects::tasks::Tasks;
use brief_syntax::project::{Root, Target, TargetKind};
use brief_syntax::walk::{self, Ignored};
use brief_syntax::{Diagnostic, Severity};
use brief_system::MemorySystem;

use super::support::{project, shown};

/// Everything that is wrong with the project `/p`.
fn lint(system: &MemorySystem) -> Vec<Diagnostic> {
    let mut reader = Tasks.whole_reader().unwrap();
    let root = Root::open(system, Path::new("/p")).unwrap();
    let top = Target::from_slashed("", TargetKind::Directory);
    walk::walk_whole(system, &root, &top, Ignored::Skip, &mut |visit| {
        reader.visit_directory(visit);
    });
    reader.finish().diagnostics().to_vec()
}

/// The findings: `file:line code message`.
fn findings(system: &MemorySystem) -> Vec<String> {
    let found = lint(system);
    let shown = found.iter().map(|note| {
        let (path, line) = (shown(note.path()), note.position().line);
        format!("{path}:{line} {} {}", note.code(), note.message)
    });
    shown.collect()
}

/// The ways out that the findings offer.
fn help(system: &MemorySystem) -> Vec<String> {
    lint(system).into_iter().filter_map(|note| note.help).collect()
}

fn with_task(text: &str) -> MemorySystem {
    project().with_file(".agents/tasks/t.md", text)
}

fn with_rule(text: &str) -> MemorySystem {
    with_task("T\n").with_file(".agents/rules/r.md", text)
}

/// A project that has everything that the document names, and nothing wrong.
fn clean() -> MemorySystem {
    project()
        .with_file(
            ".agents/tasks/fix-bug.md",
            "---\ntask_name: fix-bug\nlanguages:\n  - go\nsingle_shot: true\ntimeout: 1h30m\nagent: cursor\nmodel: gpt-4\nmcp_server:\n  command: python\n  args: [\"-m\", \"server\"]\n  custom_config:\n    port: 5432\nenvironment: production\nselectors:\n  languages: [go, python]\n  rule_name: style\nexpand: true\n---\n\n# Fix ${issue_key}\n\n!`git log -1`\n\n@docs/api.md and @my\\ file.txt, then\n\n/deploy env=\"production\" now\n\n/usr/bin/env is a path\n// a comment\nask user@example.com or @somebody\n",
        )
        .with_file(".agents/commands/deploy.md", "---\nexpand: true\n---\nDeploy to ${env} ${2} ${ARGUMENTS}\n")
        .with_file(".agents/rules/style.md", "---\ntask_names:\n  - fix-bug\nlanguages: [go, python]\nagent: cursor\nteam: backend\n---\nR\n")
        .with_program(".agents/rules/style-bootstrap", "#!/bin/sh\n")
        .with_file(".cursor/rules/ts.mdc", "---\ndescription: TypeScript\nglobs: \"**/*.ts\"\nalwaysApply: false\n---\n@decorator ${notOurs}\n")
        .with_file(".agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files\nlicense: MIT\n---\nx\n")
        .with_file("CLAUDE.md", "# Claude\n\n@README.md\n/help\n")
        .with_file(".opencode/command/review.md", "Review ${1}\n")
        .with_file("docs/api.md", "")
        .with_file("my file.txt", "")
}

#[test]
fn a_clean_project_has_no_finding() {
    assert_eq!(findings(&clean()), [""; 0]);
}

/// Each example of the document is free of findings, too: custom fields are the author's own.
#[test]
fn custom_fields_are_no_findings() {
    for header in [
        "environment: production\nregion: us-east-1",
        "key: value\nanother_key: another value\nnumeric_key: 123\nboolean_key: true",
        "priority: 1\nenabled: true\nlanguages:\n  - go",
        "metadata:\n  language: go\n  stage: testing",
        "stage: implementation\npriority: high\nteam: backend\nmode: fast",
    ] {
        assert_eq!(findings(&with_task(&format!("---\n{header}\n---\n"))), [""; 0], "{header}");
        assert_eq!(findings(&with_rule(&format!("---\n{header}\n---\n"))), [""; 0], "{header}");
    }
}

#[test]
fn slips_in_field_names_are_found() {
    for (field, meant) in [
        ("selector", "selectors"),
        ("selecters", "selectors"),
        ("singleshot", "single_shot"),
        ("time_out", "timeout"),
        ("mcp_servers", "mcp_server"),
        ("exapnd", "expand"),
        ("langauges", "languages"),
        ("Agent", "agent"),
    ] {
        let system = with_task(&format!("---\na: b\n{field}: x\n---\n"));
        let expected = format!(".agents/tasks/t.md:3 tasks/unknown-field unknown field `{field}`");
        assert_eq!(findings(&system), [expected]);
        assert_eq!(help(&system), [format!("did you mean `{meant}`?")]);
    }
}

/// The document: "The field name is `task_names` (plural)".
#[test]
fn the_singular_task_name_of_a_rule_is_found() {
    let system = with_rule("---\ntask_name: t\n---\n");
    assert_eq!(help(&system), ["did you mean `task_names`?"]);
}

#[test]
fn missing_commands_are_found() {
    let system = with_task("---\na: b\n---\nx\n/depoly now\n/deploy\n```\n/code\n```\n")
        .with_file(".agents/commands/deploy.md", "D");
    assert_eq!(
        findings(&system),
        [".agents/tasks/t.md:5 tasks/unknown-command unknown command `/depoly`"]
    );
    assert_eq!(help(&system), ["did you mean `/deploy`?"]);
}

/// Commands at home are at hand too.
#[test]
fn commands_at_home_are_no_findings() {
    let system = with_task("/deploy\n").with_file("/h/.agents/commands/deploy.md", "D");
    assert_eq!(findings(&system), [""; 0]);
}

/// A command of a namespace is there for its tasks, and for no other.
#[test]
fn commands_of_a_namespace_are_there_for_its_tasks() {
    let system = with_task("/own\n")
        .with_file(".agents/namespaces/team/tasks/x.md", "/own\n")
        .with_file(".agents/namespaces/team/commands/own.md", "O");
    assert_eq!(
        findings(&system),
        [".agents/tasks/t.md:1 tasks/unknown-command unknown command `/own`"]
    );
}

#[test]
fn placeholders_that_nothing_can_fill_are_found() {
    let system = with_task("${1}\n${ no name }\n/c one\n${fine} ${fine.too}\n")
        .with_file(".agents/commands/c.md", "${0} ${1}\n${2}\n${ARGUMENTS} ${key}\n");
    assert_eq!(
        findings(&system),
        [
            ".agents/tasks/t.md:1 tasks/placeholder-unfillable nothing can fill `${1}`: only commands have arguments by position",
            ".agents/tasks/t.md:2 tasks/placeholder-unfillable nothing can fill `${ no name }`: it is not a parameter name",
            ".agents/commands/c.md:1 tasks/placeholder-unfillable nothing can fill `${0}`: arguments are counted from 1",
            ".agents/commands/c.md:2 tasks/placeholder-unfillable nothing can fill `${2}`: no call has more than 1 argument",
        ]
    );
    assert_eq!(findings(&with_task("---\nexpand: false\n---\n${1} ${ x }\n")), [""; 0]);
}

/// A file that is used as a task and as a command has arguments by position.
#[test]
fn a_file_that_is_task_and_command_has_arguments() {
    let system = project().with_file(".cursor/commands/review.md", "Review ${1} @gone.txt\n");
    assert_eq!(findings(&system), [""; 0], "it is Cursor's, too, and checked as such");
}

#[test]
fn files_that_are_missing_or_secret_are_found() {
    let system = with_task("@gone/file.txt\n@there.txt.\n@.env\n@mention and a@b.c\n")
        .with_file("there.txt", "")
        .with_file(".env", "");
    assert_eq!(
        findings(&system),
        [
            ".agents/tasks/t.md:1 tasks/missing-file file not found: `@gone/file.txt`",
            ".agents/tasks/t.md:3 tasks/sensitive-file such files hold secrets and are never read (`.env`)",
        ]
    );
}

/// T9: the executable bit is required.
#[test]
fn scripts_without_the_executable_bit_are_found() {
    let system = with_rule("R").with_file(".agents/rules/r-bootstrap", "");
    assert_eq!(
        findings(&system),
        [
            ".agents/rules/r.md:1 tasks/bootstrap-not-executable the script `r-bootstrap` is not executable, so it does not run"
        ]
    );
}

#[test]
fn selectors_that_match_nothing_are_found() {
    let system = with_rule("---\nstage: testing\n---\nR").with_file(
        ".agents/tasks/t.md",
        "---\nselectors:\n  stage: testign\n  rule_name: [r, gone]\n  languages: go\n---\n",
    );
    assert_eq!(
        findings(&system),
        [
            ".agents/tasks/t.md:3 tasks/selector-matches-nothing the selector `stage=testign` matches no rule and no skill",
            ".agents/tasks/t.md:4 tasks/selector-matches-nothing the selector `rule_name=gone` matches no rule and no skill",
            ".agents/tasks/t.md:5 tasks/selector-matches-nothing the selector `languages=go` matches no rule and no skill",
        ]
    );
}

#[test]
fn tasks_that_a_rule_names_and_that_are_missing_are_found() {
    let system = with_rule("---\ntask_names: [t, fix-bgu, team/x]\n---\n")
        .with_file(".agents/tasks/fix-bug.md", "")
        .with_file(".agents/namespaces/team/tasks/x.md", "");
    assert_eq!(
        findings(&system),
        [".agents/rules/r.md:2 tasks/unknown-task unknown task `fix-bgu`"]
    );
    assert_eq!(help(&system), ["did you mean `fix-bug`?"]);
}

/// The document: "Supported agents". With an unknown one a task does not run at all.
#[test]
fn unknown_agents_are_errors() {
    let system = with_task("---\nagent: curser\n---\n");
    let found = lint(&system);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].code(), found[0].severity), ("tasks/unknown-agent", Severity::Error));
    assert_eq!(found[0].help.as_deref(), Some("did you mean `cursor`?"));
}

/// The document: "String (time.Duration format)".
#[test]
fn timeouts_that_are_no_durations_are_found() {
    for value in ["10", "10 minutes", "1d", "[10m]"] {
        let found = lint(&with_task(&format!("---\ntimeout: {value}\n---\n")));
        let codes: Vec<_> = found.iter().map(Diagnostic::code).collect();
        assert_eq!(codes, ["tasks/invalid-timeout"], "{value}");
    }
}

/// The document's types: boolean, object, map.
#[test]
fn values_of_the_wrong_type_are_found() {
    for header in [
        "expand: maybe",
        "expand: [true]",
        "single_shot: often",
        "selectors: languages",
        "selectors: [languages]",
        "languages:\n  go: yes",
        "mcp_server: python",
    ] {
        let found = lint(&with_task(&format!("---\n{header}\n---\n")));
        let codes: Vec<_> = found.iter().map(Diagnostic::code).collect();
        assert_eq!(codes, ["tasks/wrong-type"], "{header}");
    }
    for header in ["bootstrap: [date]", "task_names:\n  a: b", "expand: 1"] {
        let found = lint(&with_rule(&format!("---\n{header}\n---\n")));
        let codes: Vec<_> = found.iter().map(Diagnostic::code).collect();
        assert_eq!(codes, ["tasks/wrong-type"], "{header}");
    }
}

/// The document: `command`, or `url` for HTTP and SSE.
#[test]
fn servers_without_command_and_url_are_found() {
    let found = findings(&with_task("---\nmcp_server:\n  args: [x]\n---\n"));
    assert_eq!(
        found,
        [
            ".agents/tasks/t.md:3 tasks/mcp-server-invalid the MCP server has neither `command` nor `url`"
        ]
    );
}

/// T2: two tasks of one name that no selector can tell apart.
#[test]
fn ambiguous_tasks_are_found() {
    let system = with_task("one").with_file(".cursor/commands/t.md", "two");
    assert_eq!(
        findings(&system),
        [
            ".cursor/commands/t.md:1 tasks/ambiguous-task the task `t` is also in .agents/tasks/t.md, and no selector can tell them apart"
        ]
    );
    let told_apart = project()
        .with_file(".agents/tasks/a/t.md", "---\nresume: true\n---\n1")
        .with_file(".agents/tasks/b/t.md", "---\nresume: false\n---\n2");
    assert_eq!(findings(&told_apart), [""; 0]);
    let at_home = with_task("one").with_file("/h/.agents/tasks/t.md", "two");
    assert_eq!(findings(&at_home), [""; 0], "the project wins over home");
}

/// G1: repairs are findings, each once, with their fix.
#[test]
fn repairs_are_found_once() {
    let header = "---\ndescription: Use when: x\n---\n";
    let system = project()
        .with_file(".cursor/commands/both.md", header)
        .with_file(".agents/rules/r.md", header)
        .with_file(".agents/namespaces/a/rules/r.md", header)
        .with_file(".agents/namespaces/b/rules/r.md", header);
    let found = lint(&system);
    assert!(found.iter().all(|note| note.fix.is_some()));
    let mut paths: Vec<&str> = found.iter().map(|note| shown(note.path())).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            ".agents/namespaces/a/rules/r.md",
            ".agents/namespaces/b/rules/r.md",
            ".agents/rules/r.md",
        ]
    );
}

#[test]
fn skills_that_cannot_be_offered_are_found() {
    let skill = ".agents/namespaces/a/skills/s/SKILL.md";
    let system = with_task("T").with_file(skill, "---\nname: s\n---\n");
    assert_eq!(
        findings(&system),
        [format!(
            "{skill}:1 tasks/skill-invalid the skill is not listed: skill missing required 'description' field"
        )]
    );
}

/// U35: what a client reads by itself is checked as its own, with its own codes.
#[test]
fn files_of_clients_are_left_to_their_clients() {
    let system = with_task("T")
        .with_file(".claude/skills/s/SKILL.md", "---\ncapability: x\n---\n")
        .with_file(".agents/skills/t/SKILL.md", "---\nnam: t\n---\n")
        .with_file(".claude/rules/r.md", "---\nagent: nobody\nlanguage: {}\n---\nA\u{200b}b\n")
        .with_file(".cursor/commands/c.md", "---\nexpand: maybe\n---\n/gone ${1} @gone.txt\n")
        .with_link("CLAUDE.md", "gone.md");
    assert_eq!(findings(&system), [""; 0]);
}

/// U35: a link that stays inside the project is no mistake; one that leaves it has advice that works.
#[test]
fn a_link_within_the_project_is_fine() {
    let system = project()
        .with_file("shared/r.md", "Shared.\n")
        .with_link("web/.agents/rules/r.md", "../../../shared/r.md");
    assert_eq!(findings(&system), [""; 0]);
    let outside =
        project().with_file("/out/r.md", "Out.\n").with_link(".agents/rules/r.md", "/out/r.md");
    let found = lint(&outside);
    assert_eq!(found.len(), 1);
    assert!(found[0].help.as_deref().unwrap().starts_with("run `brief task -d DIR`"));
}

/// Projects inside a project are looked at too, each for itself.
#[test]
fn nested_projects_are_checked_for_themselves() {
    let system = with_task("/c\n")
        .with_file(".agents/commands/c.md", "")
        .with_file("packages/web/.agents/tasks/x.md", "/c\n");
    assert_eq!(
        findings(&system),
        ["packages/web/.agents/tasks/x.md:1 tasks/unknown-command unknown command `/c`"]
    );
}

/// G5: what refers to much else is checked in one go; looking anew for each reference would take
/// minutes.
#[test]
fn many_references_are_checked_in_one_go() {
    let mut system = with_task(&"/c one\ntext\n".repeat(2_000))
        .with_file(".agents/commands/c.md", "${1} ${2}\n".repeat(10_000));
    for number in 0..500 {
        let rule = format!("---\nstage: s{number}\ntask_names: t\n---\n");
        let task = format!("---\nselectors:\n  stage: s{number}\n---\n/c\n");
        system = system
            .with_file(&format!(".agents/rules/r{number}.md"), rule)
            .with_file(&format!(".agents/tasks/x{number}.md"), task);
    }
    let found = lint(&system);
    assert_eq!(found.len(), 10_000);
    assert!(found.iter().all(|note| note.code() == "tasks/placeholder-unfillable"));
}

/// G8: linting runs nothing; there is nothing that could.
#[test]
fn commands_in_texts_are_no_findings() {
    assert_eq!(findings(&with_task("!`rm -rf /` !`false`\n")), [""; 0]);
}
