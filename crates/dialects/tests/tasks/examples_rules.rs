//! The document's examples of rules, scripts, front matter and special behaviors.

use brief_dialects::tasks::TaskError;
use brief_system::MemorySystem;

use super::support::{
    Scripted, failure, left_out, output, project, rule_texts, rules, run, run_live, warnings,
};

fn with_rule(text: &str) -> MemorySystem {
    project().with_file(".agents/rules/rule.md", text)
}

/// Which of the tasks include the one rule.
fn included_for<'t>(system: &MemorySystem, command_lines: &[&'t str]) -> Vec<&'t str> {
    let lines = command_lines.iter().copied();
    lines
        .filter(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let task = format!(".agents/tasks/{}.md", words[words.len() - 1]);
            let system = system.clone().with_file(&task, "T\n");
            !run(&system, &words).rules.is_empty()
        })
        .collect()
}

/// "Rule Files / Format": only the content is in the output.
#[test]
fn a_rule_is_front_matter_and_markdown() {
    let text = "---\nteam: backend\n---\n\n# Rule content in Markdown\n\nGuidelines, standards, or context for AI agents.\n";
    let system = with_rule(text).with_file(".agents/tasks/t.md", "T\n");
    assert_eq!(
        output(&run(&system, &["t"])),
        "\n# Rule content in Markdown\n\nGuidelines, standards, or context for AI agents.\n\nT\n\n"
    );
}

/// "`task_names`": the example for one task.
#[test]
fn a_rule_is_for_one_task() {
    let system =
        with_rule("---\ntask_names:\n  - fix-bug\n---\n# This rule only applies to 'fix-bug'\n");
    assert_eq!(
        included_for(&system, &["fix-bug", "/fix-bug", "refactor"]),
        ["fix-bug", "/fix-bug"]
    );
}

/// "`task_names` / Multiple tasks (OR logic)".
#[test]
fn a_rule_is_for_any_of_several_tasks() {
    let system = with_rule(
        "---\ntask_names:\n  - fix-bug\n  - implement-feature\n  - refactor\n---\n# Any of three\n",
    );
    assert_eq!(
        included_for(&system, &["fix-bug", "implement-feature", "refactor", "deploy"]),
        ["fix-bug", "implement-feature", "refactor"]
    );
}

/// "`task_names`": "Can be a string or array."
#[test]
fn task_names_can_be_a_string() {
    let system = with_rule("---\ntask_names: fix-bug\n---\n# One\n");
    assert_eq!(included_for(&system, &["fix-bug", "deploy"]), ["fix-bug"]);
}

/// "`task_names` / Behavior": "Rules without `task_names` are included for all tasks".
#[test]
fn a_rule_without_task_names_is_for_all_tasks() {
    let system = with_rule("---\nteam: backend\n---\n# All\n");
    assert_eq!(included_for(&system, &["fix-bug", "deploy"]), ["fix-bug", "deploy"]);
}

/// "`language` or `languages`": the examples and the first two behaviors; string, array, singular.
#[test]
fn a_rule_is_for_languages() {
    for header in ["languages:\n  - go", "languages: go", "language: go", "language:\n  - go"] {
        let system = with_rule(&format!("---\n{header}\n---\n# Go\n"));
        assert_eq!(
            included_for(&system, &["-s languages=go t", "-s languages=python t", "t"]),
            ["-s languages=go t", "t"],
            "{header}"
        );
    }
    let system = with_rule("---\nlanguages:\n  - go\n  - python\n  - javascript\n---\n# Any\n");
    assert_eq!(
        included_for(
            &system,
            &["-s languages=go t", "-s languages=javascript t", "-s languages=rust t"]
        ),
        ["-s languages=go t", "-s languages=javascript t"]
    );
    let generic = with_rule("# Generic\n");
    assert_eq!(included_for(&generic, &["-s languages=rust t"]), ["-s languages=rust t"]);
}

/// "`agent` (rule selector)": the example and its two behaviors.
#[test]
fn a_rule_is_for_an_agent() {
    let system = with_rule("---\nagent: cursor\n---\n# Rule specific to Cursor AI agent\n");
    assert_eq!(included_for(&system, &["-a cursor t", "-a copilot t", "t"]), ["-a cursor t", "t"]);
    let generic = with_rule("---\nteam: x\n---\n# Generic\n");
    assert_eq!(
        included_for(&generic, &["-a cursor t", "-a cursor -s team=y t"]),
        ["-a cursor t"],
        "generic rules are included unless other selectors exclude them"
    );
}

/// "`mcp_server` (rule metadata)": "Does not filter rules"; not in the text, but among the servers.
#[test]
fn a_rule_may_need_an_mcp_server() {
    let text = "---\nmcp_server:\n  command: python\n  args: [\"-m\", \"server\"]\n  env:\n    PYTHON_PATH: /usr/bin/python3\n  custom_config:\n    host: localhost\n    port: 5432\n---\n# Metadata indicating required MCP server\n";
    let system = with_rule(text).with_file(".agents/tasks/t.md", "T\n");
    let prompt = run(&system, &["t"]);
    assert_eq!(output(&prompt), "# Metadata indicating required MCP server\n\nT\n\n");
    let servers = prompt.mcp_servers();
    assert_eq!(servers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["rule"]);
}

/// "Rule Files / `expand`": the example and its command line.
#[test]
fn expand_false_in_a_rule_preserves_its_template() {
    let text = "---\nlanguages:\n  - go\nexpand: false\n---\n\nUse version ${version} when building the project.\n";
    let system = with_rule(text).with_file(".agents/tasks/my-task.md", "T ${version}\n");
    let prompt = run(&system, &["-p", "version=1.2.3", "my-task"]);
    assert_eq!(
        output(&prompt),
        "\nUse version ${version} when building the project.\n\nT 1.2.3\n\n"
    );
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// "Other common fields": all of them at once.
#[test]
fn a_rule_matches_when_each_of_its_fields_does() {
    let system = with_rule(
        "---\nlanguages:\n  - go\nstage: implementation\npriority: high\nteam: backend\nagent: cursor\n---\n# X\n",
    );
    let matching =
        "-s languages=go -s stage=implementation -s priority=high -s team=backend -a cursor t";
    assert_eq!(
        included_for(
            &system,
            &[
                matching,
                "-s languages=go -s team=frontend t",
                "-s priority=low t",
                "-a codex t",
                "-s unrelated=x t"
            ]
        ),
        [matching, "-s unrelated=x t"]
    );
}

/// "Supported Extensions".
#[test]
fn rules_are_md_and_mdc_files() {
    let system = project()
        .with_file(".agents/tasks/t.md", "T\n")
        .with_file(".agents/rules/a.md", "A")
        .with_file(".agents/rules/b.mdc", "B")
        .with_file(".agents/rules/c.txt", "C")
        .with_file(".agents/rules/d.markdown", "D")
        .with_file(".agents/rules/md", "E")
        .with_file(".agents/rules/f.MD", "F");
    assert_eq!(rules(&run(&system, &["t"])), [".agents/rules/a.md", ".agents/rules/b.mdc"]);
}

/// "Bootstrap Scripts / Naming Convention": the example; before the rule is processed.
#[test]
fn the_script_beside_a_rule_runs_before_it_is_processed() {
    let system = project()
        .with_file(".agents/tasks/t.md", "T\n")
        .with_file(".agents/rules/jira-context.md", "Issue: @issue.txt\n")
        .with_program(".agents/rules/jira-context-bootstrap", "#!/bin/bash\n");
    let script = "/p/.agents/rules/jira-context-bootstrap";
    let mut live = Scripted::default().makes(&system, script, "/p/issue.txt", "BUG-1");
    let prompt = run_live(&system, &["t"], &mut live);
    assert_eq!(live.bootstraps, [script]);
    assert_eq!(rule_texts(&prompt), ["Issue: BUG-1\n"]);
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// "Valid Frontmatter": texts, a number, a boolean; each can be selected by.
#[test]
fn front_matter_has_texts_numbers_and_booleans() {
    let header = "key: value\nanother_key: another value\nnumeric_key: 123\nboolean_key: true\n";
    let system = with_rule(&format!("---\n{header}---\nR\n"))
        .with_file(".agents/tasks/t.md", format!("---\n{header}---\nT\n"));
    let selectors = [
        "-s",
        "key=value",
        "-s",
        "another_key=another value",
        "-s",
        "numeric_key=123",
        "-s",
        "boolean_key=true",
        "t",
    ];
    let prompt = run(&system, &selectors);
    assert_eq!(output(&prompt), format!("---\n{header}---\nR\n\nT\n\n"));
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// "Limitations": "Selectors match top-level only", "`-s metadata.language=go` won't match".
#[test]
fn nested_fields_are_not_selected_by() {
    let top = with_rule("---\nlanguages:\n  - go\nstage: testing\n---\nR\n");
    assert_eq!(
        included_for(&top, &["-s languages=go fix-bug", "-s languages=rust fix-bug"]),
        ["-s languages=go fix-bug"]
    );
    // A nested field is neither a match nor an exclusion: to a selector it is not there.
    let nested = with_rule("---\nmetadata:\n  language: go\n  stage: testing\n---\nR\n");
    let lines = [
        "-s metadata.language=go fix-bug",
        "-s metadata.language=rust fix-bug",
        "-s language=rust fix-bug",
        "-s metadata=go fix-bug",
    ];
    assert_eq!(included_for(&nested, &lines), lines);
    let system = nested.with_file(".agents/tasks/t.md", "---\ninclude_unmatched: false\n---\nT\n");
    let prompt = run(&system, &["-s", "metadata.language=go", "t"]);
    assert_eq!(rules(&prompt), [""; 0], "it does not count as a match");
    assert_eq!(left_out(&prompt).len(), 1);
}

/// "Data Types": "All values are matched as strings".
#[test]
fn values_are_matched_as_strings() {
    let system = with_rule("---\npriority: 1\nenabled: true\nlanguages:\n  - go\n---\nR\n");
    assert_eq!(
        included_for(
            &system,
            &[
                "-s priority=1 task",
                "-s enabled=true task",
                "-s languages=go task",
                "-s priority=2 task",
                "-s enabled=false task",
                "-s languages=rust task",
            ]
        ),
        ["-s priority=1 task", "-s enabled=true task", "-s languages=go task"]
    );
}

/// "Multiple Tasks with Same `task_name`": without selectors, with one that decides, with one that
/// no task matches, with one that several match.
#[test]
fn of_two_tasks_with_one_name_selectors_choose() {
    let system = project()
        .with_file(".agents/tasks/a/deploy.md", "---\nenvironment: staging\n---\nA\n")
        .with_file(".agents/tasks/b/deploy.md", "---\nenvironment: production\n---\nB\n");
    let error = failure(&system, &["deploy"]);
    assert_eq!(error.to_string(), "multiple tasks found with task_name: deploy");
    let TaskError::Ambiguous { files, .. } = error else { panic!("{error:?}") };
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    assert_eq!(files, ["/p/.agents/tasks/a/deploy.md", "/p/.agents/tasks/b/deploy.md"]);
    let prompt = run(&system, &["-s", "environment=production", "deploy"]);
    assert_eq!(prompt.task.text, b"B\n");
    let error = failure(&system, &["-s", "environment=test", "deploy"]);
    assert_eq!(error.to_string(), "no task found: deploy");
    let error = failure(&system, &["-s", "unrelated=x", "deploy"]);
    assert_eq!(error.to_string(), "multiple tasks found with task_name: deploy");
    let error =
        failure(&system, &["-s", "environment=staging", "-s", "environment=production", "deploy"]);
    assert_eq!(error.to_string(), "multiple tasks found with task_name: deploy");
}

/// "Rules Without Frontmatter": "included in every context assembly".
#[test]
fn a_rule_without_front_matter_is_always_included() {
    let system = with_rule("# General Standards\n\nThese standards apply to all projects.\n");
    let lines = ["t", "-s languages=go t", "-a cursor t", "-s resume=true t"];
    assert_eq!(included_for(&system, &lines), lines);
    assert_eq!(included_for(&system, &["-r t"]), [""; 0], "unless resume mode is active");
}

/// "Resume Mode Special Handling": both of its effects, and that `-s resume=true` has only one.
#[test]
fn resuming_skips_rules_and_selects() {
    let system = with_rule("R\n")
        .with_file(".agents/tasks/new/fix-bug.md", "---\nresume: false\n---\nNEW\n")
        .with_file(".agents/tasks/old/fix-bug.md", "---\nresume: true\n---\nRESUMED\n");
    let header = "---\nresume: true\n---\n";
    assert_eq!(output(&run(&system, &["-r", "fix-bug"])), format!("{header}RESUMED\n\n"));
    assert_eq!(
        output(&run(&system, &["-s", "resume=true", "fix-bug"])),
        format!("{header}R\n\nRESUMED\n\n")
    );
}

/// "Validation": what is not validated is no error: content, parameter references, script success.
#[test]
fn content_and_parameters_and_scripts_are_not_validated() {
    let system = project()
        .with_file(".agents/tasks/t.md", "not # markdown ]( ${nowhere}\n")
        .with_file(".agents/rules/r.md", "R\n")
        .with_program(".agents/rules/r-bootstrap", "exit 1");
    let mut live = Scripted::default().refuse_script(
        "/p/.agents/rules/r-bootstrap",
        brief_dialects::tasks::NotRun::Failed("exit status 1".to_owned()),
    );
    let prompt = run_live(&system, &["t"], &mut live);
    assert_eq!(output(&prompt), "R\n\nnot # markdown ]( ${nowhere}\n\n");
}
