//! `brief registry new`

use crate::project;

/// Every kind of item is written where it belongs and has its layout. `lint` finds what its author has to replace, and
/// nothing else.
#[test]
fn new_items_pass_every_check() {
    let project = project();
    for (kind, path) in [
        ("rule", "rules/demo/RULE.md"),
        ("skill", "skills/demo/SKILL.md"),
        ("agent", "agents/demo/AGENT.md"),
        ("bundle", "demo.bundle.md"),
    ] {
        let output = project.run(&["registry", "new", kind, "demo"]);
        assert_eq!((output.stdout.as_str(), output.code), (format!("{path}\n").as_str(), Some(0)));
    }
    let lint = project.run(&["lint", "--strict", "--json"]);
    assert_eq!(lint.code, Some(1), "{lint}");
    let report = lint.json();
    let found: Vec<(&str, &str)> = report["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["path"].as_str().unwrap(), one["code"].as_str().unwrap()))
        .collect();
    let files =
        ["agents/demo/AGENT.md", "demo.bundle.md", "rules/demo/RULE.md", "skills/demo/SKILL.md"];
    assert_eq!(found, files.map(|file| (file, "item/placeholder")), "{report:#}");
    let format = project.run(&["registry", "fmt", "--check"]);
    assert_eq!((format.stdout.as_str(), format.code), ("", Some(0)), "{format}");
}

/// A new bundle lists what there is; without items it says what is missing.
#[test]
fn a_new_bundle_lists_the_items() {
    let project = project();
    let output = project.run(&["registry", "new", "bundle", "empty", "--in", "other"]);
    assert!(output.stderr.contains("hint: add items to the bundle"), "{output}");
    for (kind, name) in [("rule", "money"), ("skill", "ship"), ("rule", "dates")] {
        assert_eq!(project.run(&["registry", "new", kind, name]).code, Some(0));
    }
    let output = project.run(&["registry", "new", "bundle", "base"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output}");
    let text = project.read("base.bundle.md");
    let lists = "items:\n  rules:\n    - dates\n    - money\n  skills:\n    - ship\nrequires: []\n";
    assert!(text.contains(lists), "{text}");
    assert_eq!(project.run(&["registry", "fmt", "--check"]).code, Some(0));
}

/// Nothing is overwritten, and a bad name is refused before anything is written.
#[test]
fn nothing_is_overwritten() {
    let project = project().with_file("content/rules/demo/RULE.md", "mine\n");
    insta::assert_snapshot!(project.run(&["registry", "new", "rule", "demo", "--in", "content"]), @"
    ------- stderr -------
    error: `content/rules/demo/RULE.md` already exists
    hint: choose another name, or edit it
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(project.read("content/rules/demo/RULE.md"), "mine\n");
    for name in ["Bad_Name", "../x", "-a", "con"] {
        let output = project.run(&["registry", "new", "rule", "--", name]);
        assert_eq!(output.code, Some(2), "{name}: {output}");
    }
    assert!(!project.path().join("rules").exists());
}

/// I02: a project that uses items of registries holds none of its own; a registry that uses others is one
/// all the same.
#[test]
fn a_project_that_uses_items_gets_none_of_its_own() {
    for (file, text, proof) in [
        ("brief.lock", "version = 1\n", "has a brief.lock"),
        (
            "brief.toml",
            "[sources.guidance]\ngit = \"acme/guidance\"\nall = true\n",
            "its brief.toml has `[sources]`",
        ),
    ] {
        let project = project().with_file(file, text);
        for args in [
            &["registry", "new", "rule", "demo"][..],
            &["registry", "new", "bundle", "demo", "--in", "content"],
        ] {
            let output = project.run(args);
            assert_eq!(output.code, Some(1), "{output}");
            let words = format!("`$PROJECT` is a project, not a registry ({proof})");
            assert!(output.stderr.contains(&words), "{output}");
            assert!(output.stderr.contains("hint: create the item in its registry"), "{output}");
        }
        assert!(!project.path().join("rules").exists());
        assert!(!project.path().join("content").exists());
        let rule = "---\nschema: 1\nname: old\ndescription: Old\n---\n\nOld.\n";
        project.write("content/rules/old/RULE.md", rule);
        let output = project.run(&["registry", "new", "rule", "demo", "--in", "content"]);
        assert_eq!(output.code, Some(0), "{output}");
    }
    let registry = project().with_file("brief.toml", "[build]\nclients = [\"claude\"]\n");
    assert_eq!(registry.run(&["registry", "new", "rule", "demo"]).code, Some(0));
}
