//! Every example of the document's section "Task Files", as it is printed there.

use brief_dialects::tasks::{CodingAgent, Prompt};
use brief_syntax::yaml::{Node, Value};
use brief_system::MemorySystem;

use super::support::{output, project, rules, run, task_text, warnings};

/// A project with one task.
fn with_task(name: &str, text: &str) -> MemorySystem {
    project().with_file(&format!(".agents/tasks/{name}.md"), text)
}

/// Rules whose names say what they are for.
fn with_rules(system: MemorySystem, rules: &[(&str, &str)]) -> MemorySystem {
    rules.iter().fold(system, |system, (name, fields)| {
        let text = format!("---\n{fields}\n---\n# {name}\n");
        system.with_file(&format!(".agents/rules/{name}.md"), text)
    })
}

/// The names of the rules that are in.
fn names(prompt: &Prompt) -> Vec<&str> {
    let files = rules(prompt).into_iter();
    files.map(|file| file.strip_prefix(".agents/rules/").unwrap().trim_end_matches(".md")).collect()
}

/// "Task Files / Format".
#[test]
fn a_task_is_front_matter_and_markdown() {
    let system = with_task(
        "t",
        "---\nmodel: gpt-4\n---\n\n# Task content in Markdown\n\nContent can include ${parameter_placeholders}.\n",
    );
    assert_eq!(
        output(&run(&system, &["-p", "parameter_placeholders=values", "t"])),
        "---\nmodel: gpt-4\n---\n\n# Task content in Markdown\n\nContent can include values.\n\n"
    );
}

/// "`task_name` (optional)": "matched by filename \"fix-bug.md\"", not by the field. The
/// example's front matter is empty.
#[test]
fn task_name_is_optional_and_the_file_name_counts() {
    let system = with_task("fix-bug", "---\n---\n# Fix\n");
    let prompt = run(&system, &["fix-bug"]);
    assert_eq!(output(&prompt), "# Fix\n\n");
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// "`task_name`": "can be used in task frontmatter output", and does not hide the task.
#[test]
fn another_task_name_hides_nothing_and_is_in_the_output() {
    let system = with_task("fix-bug", "---\ntask_name: something-else\n---\n# Fix\n");
    assert_eq!(
        output(&run(&system, &["fix-bug"])),
        "---\ntask_name: something-else\n---\n# Fix\n\n"
    );
}

/// "`languages` (optional, standard field)": "does NOT filter rules", "appears in the task
/// frontmatter output"; array, several, singular, string.
#[test]
fn languages_of_a_task_are_metadata() {
    for header in [
        "languages:\n  - go\n",
        "languages:\n  - go\n  - python\n  - javascript\n",
        "language:\n  - go\n",
        "languages: go\n",
        "language: go\n",
    ] {
        let system = with_task("implement-feature", &format!("---\n{header}---\nT\n"));
        let system =
            with_rules(system, &[("ruby", "languages: [ruby]"), ("go", "languages: [go]")]);
        let prompt = run(&system, &["implement-feature"]);
        assert_eq!(names(&prompt), ["go", "ruby"], "{header}");
        assert_eq!(
            output(&prompt),
            format!("---\n{header}---\n# go\n\n# ruby\n\nT\n\n"),
            "{header}"
        );
        assert_eq!(warnings(&prompt), [""; 0], "{header}");
    }
}

/// "To filter rules by language, use selectors": in front matter and on the command line.
#[test]
fn rules_are_filtered_by_language_with_selectors() {
    let rules = [("go", "languages:\n  - go"), ("python", "languages:\n  - python")];
    let system = with_task("implement-feature", "---\nselectors:\n  languages: go\n---\nT\n");
    assert_eq!(names(&run(&with_rules(system, &rules), &["implement-feature"])), ["go"]);
    let system = with_rules(with_task("implement-feature", "T\n"), &rules);
    assert_eq!(names(&run(&system, &["-s", "languages=go", "implement-feature"])), ["go"]);
    // "Do NOT use `-p languages=go`": a parameter filters nothing.
    assert_eq!(
        names(&run(&system, &["-p", "languages=go", "implement-feature"])),
        ["go", "python"]
    );
}

/// "`single_shot`": metadata; `true` and `false`.
#[test]
fn single_shot_is_metadata() {
    for value in ["true", "false"] {
        let system = with_task("t", &format!("---\nsingle_shot: {value}\n---\nT\n"));
        let system = with_rules(system, &[("other", "single_shot: other")]);
        let prompt = run(&system, &["t"]);
        assert_eq!(output(&prompt), format!("---\nsingle_shot: {value}\n---\n# other\n\nT\n\n"));
        assert_eq!(warnings(&prompt), [""; 0]);
    }
}

/// "`timeout`": metadata, in each of the "common formats".
#[test]
fn timeout_is_metadata() {
    for value in ["10m", "30s", "5m", "1h", "1h30m"] {
        let system = with_task("t", &format!("---\ntimeout: {value}\n---\nT\n"));
        let system = with_rules(system, &[("other", "timeout: 1s")]);
        let prompt = run(&system, &["t"]);
        assert_eq!(output(&prompt), format!("---\ntimeout: {value}\n---\n# other\n\nT\n\n"));
        assert_eq!(warnings(&prompt), [""; 0]);
    }
}

const SERVER: &str = "\
mcp_server:
  command: python
  args: [\"-m\", \"server\"]
  env:
    PYTHON_PATH: /usr/bin/python3
  custom_config:
    host: localhost
    port: 5432
    ssl: true
";

/// "`mcp_server`": in the output, "all fields are preserved in the configuration", no selector.
#[test]
fn an_mcp_server_is_kept_with_its_custom_fields() {
    let system = with_task("t", &format!("---\n{SERVER}---\nT\n"));
    let system = with_rules(system, &[("other", "mcp_server: none")]);
    let prompt = run(&system, &["t"]);
    assert_eq!(output(&prompt), format!("---\n{SERVER}---\n# other\n\nT\n\n"));
    let servers = prompt.mcp_servers();
    assert_eq!(servers.len(), 1);
    let (name, node) = servers[0].clone();
    let Value::Mapping(server) = node.value() else { panic!("a mapping") };
    let fields: Vec<_> = server.fields().map(|field| field.name().to_owned()).collect();
    assert_eq!(
        (name, fields.join(" ")),
        ("t".to_owned(), "command args env custom_config".to_owned())
    );
    let Some(Value::Mapping(custom)) = server.get("custom_config").map(Node::value) else {
        panic!("custom_config is a mapping")
    };
    assert_eq!(custom.get("port").and_then(Node::as_str), Some("5432"));
    assert_eq!(custom.get("ssl").and_then(Node::as_str), Some("true"));
}

/// "`agent`": the three behaviors, in the task's field and as `-a`: "These are equivalent".
#[test]
fn an_agent_filters_rules() {
    let all = [("copilot", "agent: copilot"), ("cursor", "agent: cursor"), ("generic", "a: b")];
    let field = with_rules(with_task("implement-feature", "---\nagent: cursor\n---\nT\n"), &all);
    let flag = with_rules(with_task("implement-feature", "T\n"), &all);
    let by_field = run(&field, &["implement-feature"]);
    let by_flag = run(&flag, &["-a", "cursor", "implement-feature"]);
    for prompt in [&by_field, &by_flag] {
        assert_eq!(names(prompt), ["cursor", "generic"]);
        assert_eq!(prompt.agent, CodingAgent::from_name("cursor"));
        assert_eq!(warnings(prompt), [""; 0]);
    }
    assert_eq!(
        output(&by_field),
        format!("---\nagent: cursor\n---\n{}", output(&by_flag)),
        "the field is in the output too"
    );
    assert_eq!(names(&run(&flag, &["implement-feature"])), ["copilot", "cursor", "generic"]);
}

/// "Supported agents".
#[test]
fn all_eight_agents_are_supported() {
    let supported =
        ["cursor", "copilot", "claude", "gemini", "opencode", "augment", "windsurf", "codex"];
    assert_eq!(CodingAgent::list_names(), supported);
    for agent in supported {
        let system = with_task("t", &format!("---\nagent: {agent}\n---\nT\n"));
        let system = with_rules(system, &[("own", &format!("agent: {agent}"))]);
        assert_eq!(names(&run(&system, &["t"])), ["own"]);
    }
}

/// "`model`": with an agent; only the agent filters.
#[test]
fn a_model_filters_nothing() {
    for model in ["anthropic.claude-sonnet-4-20250514-v1-0", "gpt-4", "gpt-4-turbo", "gemini-pro"] {
        let header = format!("---\nagent: copilot\nmodel: {model}\n---\n");
        let system = with_rules(
            with_task("t", &format!("{header}T\n")),
            &[("other-model", "model: another"), ("other-agent", "agent: cursor")],
        );
        let prompt = run(&system, &["t"]);
        assert_eq!(output(&prompt), format!("{header}# other-model\n\nT\n\n"));
    }
}

/// "Custom Fields": the example's task is found with `-s environment=production -s
/// region=us-east-1`, and rules are filtered by both.
#[test]
fn custom_fields_are_selected_by() {
    let system =
        with_task("deploy", "---\nenvironment: production\nregion: us-east-1\n---\n# Deploy\n");
    let system = with_rules(
        system,
        &[
            ("both", "environment: production\nregion: us-east-1"),
            ("one", "environment: production"),
            ("staging", "environment: staging"),
            ("west", "environment: production\nregion: us-west-2"),
        ],
    );
    let arguments = ["-s", "environment=production", "-s", "region=us-east-1", "deploy"];
    let prompt = run(&system, &arguments);
    assert_eq!(names(&prompt), ["both", "one"]);
    assert!(output(&prompt).starts_with("---\nenvironment: production\nregion: us-east-1\n---\n"));
}

const SELECTABLE: [(&str, &str); 6] = [
    ("generic", "team: backend"),
    ("go-building", "languages: go\nstage: implementation"),
    ("go-high", "languages: go\npriority: high"),
    ("go-low", "languages: go\npriority: low"),
    ("go-testing", "languages: [go]\nstage: testing"),
    ("js-testing", "languages: [typescript, javascript]\nstage: testing"),
];

/// "`selectors`": "includes rules with languages=go AND stage=implementation"; "This is equivalent
/// to" two `-s`.
#[test]
fn selectors_of_a_task_are_those_of_the_command_line() {
    let text = "---\nselectors:\n  languages: go\n  stage: implementation\n---\nT\n";
    let in_file = with_rules(with_task("implement-feature", text), &SELECTABLE);
    let typed = with_rules(with_task("implement-feature", "T\n"), &SELECTABLE);
    let by_file = run(&in_file, &["implement-feature"]);
    let by_flags =
        run(&typed, &["-s", "languages=go", "-s", "stage=implementation", "implement-feature"]);
    assert_eq!(names(&by_file), ["generic", "go-building", "go-high", "go-low"]);
    assert_eq!(names(&by_flags), names(&by_file));
}

/// "OR Logic with Arrays".
#[test]
fn an_array_of_selectors_is_an_or() {
    let text = "---\nselectors:\n  languages: [go, python, javascript]\n  stage: testing\n---\nT\n";
    let system = with_rules(with_task("t", text), &SELECTABLE);
    assert_eq!(
        names(&run(&system, &["t"])),
        ["generic", "go-high", "go-low", "go-testing", "js-testing"]
    );
}

/// "Combining with Command-Line Selectors": "Rules must match languages=go AND priority=high".
#[test]
fn selectors_of_file_and_command_line_add_up() {
    let text = "---\nselectors:\n  languages: go\n---\nT\n";
    let system = with_rules(with_task("implement-feature", text), &SELECTABLE);
    assert_eq!(
        names(&run(&system, &["-s", "priority=high", "implement-feature"])),
        ["generic", "go-building", "go-high", "go-testing"]
    );
}

/// "Special Selector: `rule_name`": "only include the rules from `security-standards.md` and
/// `go-best-practices.md`", also when rules have no front matter (ruling T5).
#[test]
fn rule_name_selects_by_file_name() {
    let text = "---\nselectors:\n  rule_name: [security-standards, go-best-practices]\n---\nT\n";
    let system = with_rules(
        with_task("t", text),
        &[("go-best-practices", "a: b"), ("other", "a: b"), ("security-standards", "a: b")],
    )
    .with_file(".agents/rules/plain.md", "no front matter\n");
    let prompt = run(&system, &["t"]);
    assert_eq!(names(&prompt), ["go-best-practices", "security-standards"]);
}

/// "`expand`": the example with expansion disabled, and its output.
#[test]
fn expand_false_preserves_the_template() {
    let text = "---\nexpand: false\n---\n\nIssue: ${issue_number}\nTitle: ${issue_title}\n";
    let system = with_task("preserve-template", text);
    let arguments = ["-p", "issue_number=123", "-p", "issue_title=Bug", "preserve-template"];
    let prompt = run(&system, &arguments);
    assert_eq!(task_text(&prompt), "\nIssue: ${issue_number}\nTitle: ${issue_title}\n");
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// "Default behavior (expand: true or omitted)": the example has a comment for front matter.
#[test]
fn expand_defaults_to_true() {
    for header in ["# expand defaults to true\n", "expand: true\n", ""] {
        let text =
            format!("---\n{header}---\n\nIssue: ${{issue_number}}\nTitle: ${{issue_title}}\n");
        let system = with_task("normal-task", &text);
        let arguments = ["-p", "issue_number=123", "-p", "issue_title=Bug", "normal-task"];
        let prompt = run(&system, &arguments);
        assert_eq!(task_text(&prompt), "\nIssue: 123\nTitle: Bug\n", "{header}");
        assert_eq!(warnings(&prompt), [""; 0], "{header}");
    }
}

/// "File Location": the four directories.
#[test]
fn tasks_lie_in_four_directories() {
    for path in [
        ".agents/tasks/fix-bug.md",
        ".cursor/commands/fix-bug.md",
        ".opencode/command/fix-bug.md",
        "/h/.agents/tasks/fix-bug.md",
    ] {
        let system = project().with_file(path, "# Fix\n");
        assert_eq!(output(&run(&system, &["fix-bug"])), "# Fix\n\n", "{path}");
    }
}

/// "File Location": "a file named `fix-bug.md` is matched by the command `/fix-bug`, regardless of
/// whether it has `task_name` in its frontmatter".
#[test]
fn a_task_is_asked_for_with_or_without_a_slash() {
    for text in ["# Fix\n", "---\ntask_name: other\n---\n# Fix\n"] {
        let system = with_task("fix-bug", text);
        let (plain, slash) = (run(&system, &["fix-bug"]), run(&system, &["/fix-bug"]));
        assert_eq!(output(&plain), output(&slash));
        assert_eq!(task_text(&slash), "# Fix\n");
    }
}
