//! Selectors (ruling T5), in every corner.

use brief_dialects::tasks::{PromptReason, SelectorVerdict, Selectors, TaskError};
use brief_system::MemorySystem;

use super::support::{failure, left_out, project, rules, run, skills, task_text};

/// A project with the task `t` and one rule with this front matter.
fn rule(fields: &str) -> MemorySystem {
    project()
        .with_file(".agents/tasks/t.md", "T\n")
        .with_file(".agents/rules/r.md", format!("---\n{fields}\n---\nR\n"))
}

fn is_in(system: &MemorySystem, arguments: &[&str]) -> bool {
    !run(system, arguments).rules.is_empty()
}

fn selected(fields: &str, selector: &str) -> bool {
    is_in(&rule(fields), &["-s", selector, "t"])
}

/// T5 "any array element counts".
#[test]
fn any_element_of_an_array_counts() {
    let fields = "languages: [python, go, rust]";
    for value in ["python", "go", "rust"] {
        assert!(selected(fields, &format!("languages={value}")), "{value}");
    }
    assert!(!selected(fields, "languages=java"));
    assert!(!selected(fields, "languages=python, go, rust"));
}

/// T5 "a missing key matches"; so does one without a value, with an empty list or with a mapping.
#[test]
fn a_missing_key_matches() {
    for fields in [
        "other: x",
        "stage:",
        "stage: ~",
        "stage: null",
        "stage: []",
        "stage:\n  a: b",
        "# nothing",
    ] {
        assert!(selected(fields, "stage=testing"), "{fields}");
    }
}

/// T5 "values compared as strings exactly as written in the file".
#[test]
fn values_are_compared_as_written() {
    for (fields, matching, others) in [
        ("v: 1.0", "v=1.0", ["v=1", "v=1.00"]),
        ("v: 007", "v=007", ["v=7", "v=0o7"]),
        ("v: 1e3", "v=1e3", ["v=1000", "v=1E3"]),
        ("v: 0x10", "v=0x10", ["v=16", "v=0X10"]),
        ("v: True", "v=True", ["v=true", "v=1"]),
        ("v: yes", "v=yes", ["v=true", "v=Yes"]),
        ("v: on", "v=on", ["v=true", "v=ON"]),
        ("v: n", "v=n", ["v=false", "v=no"]),
        ("v: 2025-12-11", "v=2025-12-11", ["v=2025-12-11T00:00:00Z", "v=2025"]),
        ("v: Go", "v=Go", ["v=go", "v=GO"]),
        ("v: \"1\"", "v=1", ["v=\"1\"", "v='1'"]),
        ("v: 'a b'", "v=a b", ["v=a", "v='a b'"]),
        ("v: a=b", "v=a=b", ["v=a", "v=b"]),
        ("v: 1_000", "v=1_000", ["v=1000", "v=1"]),
        ("v: [1, true, 2.50]", "v=2.50", ["v=2.5", "v=[1, true, 2.50]"]),
    ] {
        assert!(selected(fields, matching), "{fields} and {matching}");
        for other in others {
            assert!(!selected(fields, other), "{fields} and {other}");
        }
    }
}

/// G12: names are compared exactly.
#[test]
fn keys_have_case() {
    assert!(selected("Stage: testing", "stage=other"), "`Stage` is another key");
    assert!(!selected("Stage: testing", "Stage=other"));
}

/// T5 "AND over keys, OR within a key"; on the command line too, where a key may stand twice.
#[test]
fn keys_are_anded_and_values_ored() {
    let system = rule("languages: [go]\nstage: testing");
    let both = |one: &str, two: &str| is_in(&system, &["-s", one, "-s", two, "t"]);
    assert!(both("languages=go", "stage=testing"));
    assert!(!both("languages=go", "stage=building"));
    assert!(!both("languages=rust", "stage=testing"));
    assert!(both("languages=rust", "languages=go"));
    assert!(both("stage=building", "stage=testing"));
}

/// T5: a key in the task's `selectors` and on the command line is one key, so any of its values
/// counts.
#[test]
fn one_key_in_task_and_command_line_is_an_or() {
    let system = rule("stage: testing")
        .with_file(".agents/tasks/t.md", "---\nselectors:\n  stage: building\n---\nT\n");
    assert!(!is_in(&system, &["t"]));
    assert!(is_in(&system, &["-s", "stage=testing", "t"]));
}

/// T5 "`language` and `languages` are one key", in rules and in selectors.
#[test]
fn language_and_languages_are_one_key() {
    for field in ["language", "languages"] {
        for key in ["language", "languages"] {
            assert!(selected(&format!("{field}: go"), &format!("{key}=go")), "{field} {key}");
            assert!(!selected(&format!("{field}: go"), &format!("{key}=rust")), "{field} {key}");
        }
    }
    assert!(selected("language: go\nlanguages: [rust]", "languages=go"));
    let system = rule("languages: go")
        .with_file(".agents/tasks/t.md", "---\nselectors:\n  language: rust\n---\nT\n");
    assert!(!is_in(&system, &["t"]));
    assert!(is_in(&system, &["-s", "languages=go", "t"]));
}

/// T5 "`task_names` (string or list) is matched against the running task's name, with and without
/// namespace".
#[test]
fn task_names_are_matched_with_and_without_namespace() {
    for (names, matches) in [
        ("t", true),
        ("team/t", true),
        ("[other, team/t]", true),
        ("other/t", false),
        ("team", false),
        ("/t", false),
        ("T", false),
    ] {
        let system = rule(&format!("task_names: {names}"))
            .with_file(".agents/namespaces/team/tasks/t.md", "T\n");
        assert_eq!(is_in(&system, &["team/t"]), matches, "{names}");
    }
    assert!(!is_in(&rule("task_names: team/t"), &["t"]), "the task is in no namespace");
}

/// The document, "`task_names`": the task's name is "automatically added as a selector
/// `task_name=fix-bug` (singular)", so a rule with the singular field is matched by it too.
#[test]
fn the_singular_task_name_of_a_rule_is_the_same_key() {
    assert!(is_in(&rule("task_name: t"), &["t"]));
    assert!(!is_in(&rule("task_name: other"), &["t"]));
}

/// T1 "`task_name` never hides a task", whatever is selected.
#[test]
fn task_name_of_a_task_is_never_selected_by() {
    let system = project().with_file(".agents/tasks/t.md", "---\ntask_name: x\n---\nT\n");
    for arguments in [&["t"][..], &["-s", "task_name=t", "t"], &["-s", "task_name=y", "t"]] {
        assert_eq!(task_text(&run(&system, arguments)), "T\n", "{arguments:?}");
    }
}

/// T5 "`rule_name` matches the rule's file stem and therefore also filters rules without front
/// matter"; "base filename (without extension)".
#[test]
fn rule_name_filters_rules_without_front_matter() {
    let system = project()
        .with_file(".agents/tasks/t.md", "T\n")
        .with_file(".agents/rules/deep/a.md", "A\n")
        .with_file(".cursor/rules/a.mdc", "A2\n")
        .with_file(".agents/rules/b.v2.md", "B\n")
        .with_file("CLAUDE.md", "C\n");
    let chosen = |name: &str| {
        let selector = format!("rule_name={name}");
        rules(&run(&system, &["-s", &selector, "t"])).join(" ")
    };
    assert_eq!(chosen("a"), ".agents/rules/deep/a.md .cursor/rules/a.mdc");
    assert_eq!(chosen("b.v2"), ".agents/rules/b.v2.md");
    assert_eq!(chosen("CLAUDE"), "CLAUDE.md");
    assert_eq!(chosen("a.md"), "");
    assert_eq!(chosen("none"), "");
}

/// Our ruling T5: "`rule_name` and `agent` (of the task or `-a`) are about rules only".
#[test]
fn rule_name_and_agent_filter_nothing_else() {
    let system = project()
        .with_file(".agents/tasks/t.md", "/c\n")
        .with_file(".agents/commands/c.md", "---\nrule_name: x\n---\nC\n")
        .with_file(
            ".agents/skills/s/SKILL.md",
            "---\nname: s\ndescription: d\nagent: codex\n---\n",
        );
    let prompt = run(&system, &["-s", "rule_name=r", "-a", "cursor", "t"]);
    assert_eq!(task_text(&prompt), "C\n");
    assert_eq!(skills(&prompt), [".agents/skills/s/SKILL.md"]);
}

/// T5 "`agent` (task field or `-a`; the task's wins)".
#[test]
fn the_agent_of_the_task_wins() {
    let system = rule("agent: cursor")
        .with_file(".agents/tasks/t.md", "---\nagent: codex\n---\nT\n")
        .with_file(".agents/rules/c.md", "---\nagent: codex\n---\nC\n");
    assert_eq!(rules(&run(&system, &["-a", "cursor", "t"])), [".agents/rules/c.md"]);
}

/// T5: "keeps rules with that agent or none"; a list of agents has it too.
#[test]
fn a_rule_may_be_for_several_agents() {
    let system = rule("agent: [cursor, codex]");
    assert!(is_in(&system, &["-a", "codex", "t"]));
    assert!(!is_in(&system, &["-a", "claude", "t"]));
}

/// The document lists the agents that are supported.
#[test]
fn an_unknown_agent_in_a_task_is_an_error() {
    let system = project().with_file(".agents/tasks/t.md", "---\na: b\nagent: curser\n---\nT\n");
    let error = failure(&system, &["t"]);
    assert_eq!(
        error.to_string(),
        "unknown agent: curser (supported: cursor, copilot, claude, gemini, opencode, augment, windsurf, codex)"
    );
    let TaskError::UnknownAgent { line, .. } = error else { panic!("{error:?}") };
    assert_eq!(line, 3);
}

/// Custom fields of tasks are selected by (document, "`selectors`": "filter rules and tasks"): only
/// what the user types, because a task's own selectors are read after it was found.
#[test]
fn a_task_is_selected_by_what_the_user_types() {
    let text = "---\nstage: testing\nselectors:\n  stage: building\n---\nT\n";
    let system = project().with_file(".agents/tasks/t.md", text);
    assert_eq!(task_text(&run(&system, &["t"])), "T\n");
    assert_eq!(task_text(&run(&system, &["-s", "stage=testing", "t"])), "T\n");
    let error = failure(&system, &["-s", "stage=building", "t"]);
    let TaskError::NotFound { excluded, .. } = error else { panic!("{error:?}") };
    assert_eq!(excluded.len(), 1);
    assert_eq!(excluded[0].0.to_str(), Some("/p/.agents/tasks/t.md"));
    assert_eq!(excluded[0].1.to_string(), "requires stage=testing, not building");
}

/// Reference 1.4: "then `selectors` of every command the task uses".
#[test]
fn selectors_of_commands_count_too() {
    let system = project()
        .with_file(".agents/tasks/t.md", "/c\n")
        .with_file(".agents/commands/c.md", "---\nselectors:\n  stage: testing\n---\nC\n")
        .with_file(".agents/rules/a.md", "---\nstage: testing\n---\nA\n")
        .with_file(".agents/rules/b.md", "---\nstage: building\n---\nB\n");
    assert_eq!(rules(&run(&system, &["t"])), [".agents/rules/a.md"]);
}

/// Reference 1.4: "`include_unmatched: false`: files with no explicit match are dropped".
#[test]
fn a_task_may_take_only_what_matches() {
    let system = project()
        .with_file(
            ".agents/tasks/t.md",
            "---\ninclude_unmatched: false\nselectors:\n  stage: testing\n---\nT\n",
        )
        .with_file(".agents/rules/a.md", "---\nstage: testing\n---\nA\n")
        .with_file(".agents/rules/b.md", "B\n")
        .with_file(".agents/rules/c.md", "---\ntask_names: t\n---\nC\n");
    let prompt = run(&system, &["t"]);
    assert_eq!(rules(&prompt), [".agents/rules/a.md", ".agents/rules/c.md"]);
    assert_eq!(
        left_out(&prompt),
        [(
            ".agents/rules/b.md",
            "matches no selector, and the task includes only what matches".to_owned()
        )]
    );
}

/// Skills are chosen by the same selectors (reference 1.4).
#[test]
fn skills_are_selected_too() {
    let skill = |stage: &str| format!("---\nname: {stage}\ndescription: d\nstage: {stage}\n---\n");
    let system = project()
        .with_file(".agents/tasks/t.md", "T\n")
        .with_file(".agents/skills/a/SKILL.md", skill("testing"))
        .with_file(".agents/skills/b/SKILL.md", skill("building"));
    let prompt = run(&system, &["-s", "stage=testing", "t"]);
    assert_eq!(skills(&prompt), [".agents/skills/a/SKILL.md"]);
    assert_eq!(
        left_out(&prompt),
        [(".agents/skills/b/SKILL.md", "requires stage=building, not testing".to_owned())]
    );
}

/// A command that is for something else is as good as none, and the reason is told.
#[test]
fn commands_are_selected_too() {
    let system = project()
        .with_file(".agents/tasks/t.md", "/c x\n")
        .with_file(".agents/commands/c.md", "---\nstage: building\n---\nC\n");
    assert_eq!(task_text(&run(&system, &["-s", "stage=building", "t"])), "C\n");
    let prompt = run(&system, &["-s", "stage=testing", "t"]);
    assert_eq!(task_text(&prompt), "/c x\n");
    assert_eq!(left_out(&prompt).len(), 1);
    assert_eq!(prompt.diagnostics[0].code(), "tasks/unknown-command");
    assert!(prompt.diagnostics[0].message.contains("stage=building"));
}

/// Each file says why it is in.
#[test]
fn the_reason_names_what_matched() {
    let system =
        rule("languages: [go, rust]\ntask_names: t").with_file(".agents/rules/s.md", "S\n");
    let prompt = run(&system, &["-s", "languages=rust", "t"]);
    let found = vec!["task_name=t".to_owned(), "languages=rust".to_owned()];
    assert_eq!(prompt.rules[0].reason, PromptReason::Selected(SelectorVerdict::Matches { found }));
    assert_eq!(prompt.rules[1].reason, PromptReason::Selected(SelectorVerdict::Generic));
}

/// Reference 1.1: "key and value trimmed; `-s k=` = key present with empty value set (excludes
/// every file that has `k`)"; a text without a key is an error.
#[test]
fn selectors_are_key_and_value() {
    assert!(selected("stage: testing", " stage = testing "));
    assert!(!selected("stage: testing", "stage="));
    assert!(selected("other: x", "stage="));
    for text in ["stage", "=x", " =x", ""] {
        let error = Selectors::default().add_text(text).unwrap_err();
        assert_eq!(error.to_string(), format!("invalid selector format: {text}"));
    }
}
