//! `brief task`: what makes a prompt incomplete, and what must be well formed.

use brief_testkit::Sandbox;

use crate::trusted_project;

const TASK: &str = ".agents/tasks/t.md";

fn task(text: &str) -> Sandbox {
    trusted_project().with_file(TASK, text)
}

/// U45, T12. "YAML frontmatter is well-formed (if present)": a task that was asked for and whose header is
/// not YAML is an error, with its place; other files are reported and skipped.
#[test]
fn a_task_whose_header_is_not_yaml_is_an_error() {
    for header in ["a: [", "agent: claude\n\tx: : [", "- a\nb: 1"] {
        let project = task(&format!("---\n{header}\n---\nBody.\n"));
        for args in [&["task", "t"][..], &["task", "t", "--json"], &["task", "t", "--explain"]] {
            let output = project.run(args);
            assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{header}: {output}");
            assert!(output.stderr.contains(".agents/tasks/t.md:"), "{output}");
            assert!(output.stderr.contains("is not valid YAML"), "{output}");
        }
        let linked = task(&format!("---\n{header}\n---\nBody.\n")).linked_as("coding-context");
        assert_eq!(linked.run(&["t"]).code, Some(1), "{header}");
    }
    // What can be repaired is repaired (ruling G1), and prose between dashes is text (T3).
    for (text, printed) in [
        ("---\nglobs: **/*.ts\n---\nBody.\n", "Body."),
        ("---\nJust a line.\n---\nBody.\n", "Just a line."),
    ] {
        let output = task(text).run(&["task", "t"]);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(output.stdout.contains(printed), "{output}");
    }
    let rule = task("Body.\n").with_file(".agents/rules/r.md", "---\na: [\n---\nRule.\n");
    let output = rule.run(&["task", "t"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("Rule."), "{output}");
}

/// U46, T12. "It does not act as a selector": `languages`, `model`, `single_shot`, `timeout` and
/// `mcp_server` of a task never hide it; any other top-level field does.
#[test]
fn metadata_of_a_task_never_hides_it() {
    let header = "languages: [go]\nmodel: gpt-4\nsingle_shot: true\ntimeout: 10m\nmcp_server: x\nstage: plan\n";
    let project = task(&format!("---\n{header}---\nBody.\n"));
    for selector in [
        "languages=python",
        "language=python",
        "model=other",
        "single_shot=false",
        "timeout=1h",
        "mcp_server=y",
        "stage=plan",
        "other=1",
    ] {
        let output = project.run(&["task", "t", "-s", selector]);
        assert_eq!(output.code, Some(0), "{selector}: {output}");
    }
    let output = project.run(&["task", "t", "-s", "stage=build"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("stage=plan"), "{output}");
    // Rules are still chosen by it.
    let project = project
        .with_file(".agents/rules/go.md", "---\nlanguages: go\n---\nGo rule.\n")
        .with_file(".agents/rules/py.md", "---\nlanguages: python\n---\nPython rule.\n");
    let output = project.run(&["task", "t", "-s", "languages=python"]);
    assert!(
        output.stdout.contains("Python rule.") && !output.stdout.contains("Go rule."),
        "{output}"
    );
}

/// U63, T13: `--strict` prints no prompt that lacks something; without it everything stays a warning, as
/// the document says.
#[test]
fn strict_fails_on_whatever_is_missing() {
    for (text, named) in [
        ("Fix ${issue}.\n", "issue"),
        ("Read @docs/none.md\n", "docs/none.md"),
        ("/nothing\n", "/nothing"),
        ("Say !`exit 3`.\n", "exit 3"),
        ("Read @.env\n", ".env"),
    ] {
        let project = task(text).with_file(".env", "SECRET=1\n");
        let output = project.run(&["task", "t"]);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(output.stdout.contains(text.trim_end()), "{output}");
        let output = project.run(&["task", "t", "--strict"]);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{output}");
        assert!(output.stderr.contains(named), "{output}");
        assert!(output.stderr.contains("the prompt lacks 1 part"), "{output}");
        let output = project.run(&["task", "t", "--strict", "--json"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.json()["diagnostics"].to_string().contains("tasks/"), "{output}");
    }
    let whole = task("Fix ${issue}: @docs/a.md !`printf ok`\n").with_file("docs/a.md", "A.\n");
    let output = whole.run(&["task", "t", "--strict", "-p", "issue=7"]);
    assert_eq!((output.stdout.as_str(), output.code), ("Fix 7: A.\n ok\n\n", Some(0)), "{output}");
    // What the user turned off is not missing.
    let output = whole.run(&["task", "t", "--strict", "--no-exec", "-p", "issue=7"]);
    assert_eq!(output.code, Some(0), "{output}");
}

/// U63: an unused `-p` is named, with the placeholder that may be meant.
#[test]
fn an_unused_parameter_is_named() {
    let project = task("Fix ${issue}.\n");
    let output = project.run(&["task", "t", "-p", "isue=7"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("the parameter `isue` is never used"), "{output}");
    assert!(output.stderr.contains("did you mean `-p issue=…`?"), "{output}");
    for (text, args) in [
        ("Fix ${Issue}.\n", &["-p", "issue=7"][..]),
        ("Fix !`echo \"$BRIEF_PARAM_issue\"`.\n", &["-p", "issue=7"]),
    ] {
        let output = task(text).run(&[&["task", "t"][..], args].concat());
        assert_eq!(output.stderr, "", "{output}");
    }
    // A script may look at any of them.
    let scripted =
        task("Fix it.\n").with_file(".agents/rules/r.md", "---\nbootstrap: 'true'\n---\nR.\n");
    let output = scripted.run(&["task", "t", "-p", "issue=7"]);
    assert!(!output.stderr.contains("is never used"), "{output}");
}

/// U49: `${name}` in a command is the shell's, which puts nothing in its place.
#[test]
fn a_parameter_in_a_command_is_told() {
    for (text, args, is_told) in [
        ("Say !`echo ${issue}`.\n", &["-p", "issue=7"][..], true),
        ("Say !`echo ${issue}`.\n", &[], true),
        ("Say !`echo ${HOME}`.\n", &[], false),
        ("Say !`x=1; echo ${x}`.\n", &[], false),
        ("Say !`for f in a; do echo ${f}; done`.\n", &[], false),
        ("Say !`echo ${x:-1} ${#x}`.\n", &[], false),
    ] {
        let output = task(text).run(&[&["task", "t"][..], args].concat());
        assert_eq!(output.code, Some(0), "{output}");
        let told = output.stderr.contains("is a shell variable");
        assert_eq!(told, is_told, "{text}: {output}");
        if is_told {
            assert!(output.stderr.contains("$BRIEF_PARAM_issue"), "{output}");
            assert!(!output.stderr.contains("is never used"), "{output}");
        }
    }
}

/// U49. "All fields are preserved in the configuration": `--mcp-config` keeps an author's own.
#[test]
fn custom_fields_of_a_server_are_kept() {
    let header = "mcp_server:\n  command: python\n  args: [\"-m\", \"server\"]\n  custom_config:\n    port: 5432\n    host: localhost\n    ssl: true\n  monitoring: ~\n";
    let project = task(&format!("---\n{header}---\nBody.\n"));
    let output = project.run(&["task", "t", "--mcp-config", "claude"]);
    let server = &output.json()["mcpServers"]["t"];
    assert_eq!(server["command"], "python", "{output}");
    assert_eq!(server["custom_config"]["port"], 5432, "{output}");
    assert_eq!(server["custom_config"]["ssl"], true, "{output}");
    assert!(server["monitoring"].is_null() && server.get("monitoring").is_some(), "{output}");
    let output = project.run(&["task", "t", "--mcp-config", "codex"]);
    assert!(
        output.stdout.contains("custom_config = { port = 5432, host = \"localhost\", ssl = true }"),
        "{output}"
    );
    assert!(!output.stdout.contains("monitoring"), "{output}");
}
