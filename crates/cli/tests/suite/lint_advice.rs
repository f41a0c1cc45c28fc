//! `brief lint`: advice that works, and files that were not looked at before.

use crate::project;

/// U62: each dead pattern has its one obvious repair as help.
#[test]
fn a_dead_pattern_has_its_repair() {
    for (pattern, help) in [
        ("src/api", "did you mean `src/api/**`?"),
        ("src/**.py", "did you mean `src/**/*.py`?"),
        ("SRC/**", "did you mean `src/**`?"),
        ("!src/api/x.py", "write it as `exclude: [\"src/api/x.py\"]`"),
        ("src/api/*.py, docs/*.md", "write one pattern each: \"src/api/*.py\", \"docs/*.md\""),
        ("src\\\\api\\\\*.py", "did you mean `src/api/*.py`?"),
    ] {
        let text = format!("context:\n  - content: x\n    match: [\"{pattern}\"]\n");
        let project = project().with_file("AGENTS.yaml", text).with_file("src/api/x.py", "");
        let output = project.with_file("docs/a.md", "").run(&["lint"]);
        assert!(output.stdout.contains("agents-yaml/unused-pattern"), "{pattern}: {output}");
        assert!(output.stdout.contains(help), "{pattern}: {output}");
    }
    let text = "context:\n  - content: x\n    match: [\"src/api/\"]\n";
    let project = project().with_file("AGENTS.yaml", text).with_file("src/api/x.py", "");
    let output = project.run(&["lint"]);
    assert!(output.stdout.contains("agents-yaml/directory-alone"), "{output}");
    assert!(output.stdout.contains("write `src/api/**` to match every file below it"), "{output}");
}

/// U61: a field that is almost one of ours has a suggestion, and --strict fails.
#[test]
fn a_field_that_is_almost_right_has_a_suggestion() {
    for (field, meant) in [("matches", "match"), ("globs", "match"), ("excludes", "exclude")] {
        let text = format!("context:\n  - content: x\n    {field}: [\"**\"]\n");
        let project = project().with_file("AGENTS.yaml", text);
        let output = project.run(&["lint", "--strict"]);
        assert_eq!(output.code, Some(1), "{field}: {output}");
        assert!(output.stdout.contains(&format!("did you mean `{meant}`?")), "{field}: {output}");
    }
}

/// U43: a broken `brief.toml` is a problem of the project.
#[test]
fn a_broken_configuration_is_found() {
    let project = project().with_file("brief.toml", "[sources\n");
    for args in [&["lint"][..], &["lint", "brief.toml"]] {
        let output = project.run(args);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stdout.contains("brief.toml:1"), "{output}");
        assert!(output.stderr.contains("1 error in 1 file"), "{output}");
    }
}

/// U43: "a bundle over two registries installs but can never lint clean". Names that a source of
/// `brief.toml` has are fine; others are not, and a source that is not here is named.
#[test]
fn a_bundle_may_name_what_another_source_has() {
    let rule = |name: &str| {
        format!(
            "---\nschema: 1\nname: {name}\ndescription: About {name}.\nmetadata:\n  version: \"1.0.0\"\n  license: MIT\n---\n\nText.\n"
        )
    };
    let bundle = "---\nschema: 1\nname: all\ndescription: Everything.\nitems:\n  rules:\n    - near\n    - far\nmetadata:\n  version: \"1.0.0\"\n---\n\nAll rules.\n";
    let project =
        project().with_file("rules/near/RULE.md", rule("near")).with_file("all.bundle.md", bundle);
    let other = project.outside_directory().join("other/rules/far");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("RULE.md"), rule("far")).unwrap();

    let alone = project.run(&["lint"]);
    assert!(alone.stdout.contains("item/bundle-unresolved"), "{alone}");
    project.write("brief.toml", "[sources.other]\ndirectory = \"../outside/other\"\n");
    let found = project.run(&["lint", "--strict", "--only", "mistakes"]);
    assert!(!found.stdout.contains("item/bundle-unresolved"), "{found}");
    assert_eq!(found.code, Some(0), "{found}");

    project.write("brief.toml", "[sources.gone]\ndirectory = \"../outside/gone\"\n");
    let gone = project.run(&["lint"]);
    assert!(gone.stdout.contains("item/bundle-unresolved"), "{gone}");
    assert!(gone.stdout.contains("the source `gone` of brief.toml is not fetched"), "{gone}");
}

/// U33: a rule of Cursor that is named by hand is checked, wherever it lies.
#[test]
fn a_client_file_elsewhere_can_be_named() {
    let rule = "---\nglobs: \"**/*.ts\"\n---\nText.\n";
    let project = project().with_file("rules/x.mdc", rule);
    let output = project.run(&["lint", "rules/x.mdc"]);
    assert!(output.stdout.contains("client/cursor-globs"), "{output}");
    assert!(!output.stderr.contains("no guidance files found"), "{output}");
}

/// Every problem of an entry is reported, not only the first.
#[test]
fn every_problem_of_an_entry_is_reported_once() {
    let yaml = "context:
  - {on: x, when: y, match: [\"[\"]}
decisions:
  - {decision: \"\", rationale: \"\"}
  - {rationale: \"\", match: [\"decision[\"]}
";
    let output = project().with_file("AGENTS.yaml", yaml).run(&["lint", "--format", "json"]);
    let mut messages: Vec<String> = output.json()["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| {
            let message = found["message"].as_str().unwrap();
            message.split([' ', '"']).take(3).collect::<Vec<_>>().join(" ")
        })
        .collect();
    messages.sort_unstable();
    assert_eq!(
        messages,
        [
            "context[0]: content is",
            "context[0]: invalid action",
            "context[0]: invalid match",
            "context[0]: invalid when",
            "decisions[0]: decision is",
            "decisions[0]: rationale is",
            "decisions[1]: decision is",
            "decisions[1]: invalid match",
            "decisions[1]: rationale is",
        ],
        "{output}"
    );
}
