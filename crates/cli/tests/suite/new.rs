//! `brief new`

use crate::project;

/// Every kind of item is written where it belongs, and passes lint and fmt as it is.
#[test]
fn new_items_pass_every_check() {
    let project = project();
    for (kind, path) in [
        ("rule", "rules/demo/RULE.md"),
        ("skill", "skills/demo/SKILL.md"),
        ("agent", "agents/demo/AGENT.md"),
        ("bundle", "demo.bundle.md"),
    ] {
        let output = project.run(&["new", kind, "demo"]);
        assert_eq!((output.stdout.as_str(), output.code), (format!("{path}\n").as_str(), Some(0)));
    }
    let lint = project.run(&["lint", "--strict"]);
    assert_eq!((lint.stdout.as_str(), lint.code), ("", Some(0)), "{lint}");
    let format = project.run(&["fmt", "--check"]);
    assert_eq!((format.stdout.as_str(), format.code), ("", Some(0)), "{format}");
}

/// Nothing is overwritten, and a bad name is refused before anything is written.
#[test]
fn nothing_is_overwritten() {
    let project = project().with_file("content/rules/demo/RULE.md", "mine\n");
    insta::assert_snapshot!(project.run(&["new", "rule", "demo", "--in", "content"]), @"
    ------- stderr -------
    error: `content/rules/demo/RULE.md` exists already
    hint: choose another name, or edit it
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(project.read("content/rules/demo/RULE.md"), "mine\n");
    for name in ["Bad_Name", "../x", "-a", "con"] {
        let output = project.run(&["new", "rule", "--", name]);
        assert_eq!(output.code, Some(2), "{name}: {output}");
    }
    assert!(!project.path().join("rules").exists());
}

/// I02: a project that uses items of registries holds none of its own; a registry that uses others is one
/// all the same.
#[test]
fn a_project_that_uses_items_gets_none_of_its_own() {
    for (file, text, proof) in [
        ("brief.lock", "version = 1\n", "it has a brief.lock"),
        (
            "brief.toml",
            "[sources.guidance]\ngit = \"acme/guidance\"\nall = true\n",
            "its brief.toml has `[sources]`",
        ),
    ] {
        let project = project().with_file(file, text);
        for args in [&["new", "rule", "demo"][..], &["new", "bundle", "demo", "--in", "content"]] {
            let output = project.run(args);
            assert_eq!(output.code, Some(1), "{output}");
            let words = format!(
                "`$PROJECT` installs items of registries ({proof}); it is not a source registry"
            );
            assert!(output.stderr.contains(&words), "{output}");
            assert!(output.stderr.contains("hint: write the item in the registry"), "{output}");
        }
        assert!(!project.path().join("rules").exists());
        assert!(!project.path().join("content").exists());
        let rule = "---\nschema: 1\nname: old\ndescription: Old\n---\n\nOld.\n";
        project.write("content/rules/old/RULE.md", rule);
        let output = project.run(&["new", "rule", "demo", "--in", "content"]);
        assert_eq!(output.code, Some(0), "{output}");
    }
    let registry = project().with_file("brief.toml", "[build]\nclients = [\"claude\"]\n");
    assert_eq!(registry.run(&["new", "rule", "demo"]).code, Some(0));
}
