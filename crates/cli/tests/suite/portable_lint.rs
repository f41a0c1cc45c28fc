//! `brief lint` on source registries, and what it explains.

use std::fs;

use brief_testkit::Sandbox;

use crate::{project, workspace};

fn rule(name: &str, more: &str, body: &str) -> String {
    format!(
        "---\nschema: 1\nname: {name}\ndescription: Use when testing\nlicense: MIT\n{more}---\n\n{body}"
    )
}

/// A registry with a rule, and two bundles of which one needs the other.
fn registry() -> Sandbox {
    let bundle = |name: &str, more: &str| {
        format!("---\nschema: 1\nname: {name}\ndescription: d\nlicense: MIT\n{more}---\n")
    };
    project()
        .with_file("content/rules/a/RULE.md", rule("a", "", "## A\n"))
        .with_file(
            "bundles/top.bundle.md",
            bundle("top", "items:\n  rules: [a]\nrequires: [{name: base}]\n"),
        )
        .with_file("base.bundle.md", bundle("base", "items: {rules: [a]}\n"))
}

/// Findings have their place and a way out.
#[test]
fn findings_in_items_show_their_place() {
    let text = rule("b", "audience: [claude, cursr]\n", "## A\n\nUse ${file}.\n");
    let project = project().with_file("rules/a/RULE.md", text);
    insta::assert_snapshot!(project.run(&["lint"]), @"
    error[item/name-mismatch]: the name is `b`, but the directory is named `a`
     --> rules/a/RULE.md:3:7
      |
    3 | name: b
      |       ^
      |
      = help: use the same name for the directory and the field

    error[item/unknown-client]: unknown client `cursr`
     --> rules/a/RULE.md:6:20
      |
    6 | audience: [claude, cursr]
      |                    ^^^^^
      |
      = help: did you mean `cursor`? known clients: aider, amp, antigravity, augment, claude, cline, codex, continue, copilot, crush, cursor, droid, gemini, goose, junie, kilo, kiro, opencode, openhands, pi, qwen, roo, trae, warp, windsurf, zed

    error[item/client-construct]: a variable that only copilot understands would reach claude
      --> rules/a/RULE.md:11:5
       |
    11 | Use ${file}.
       |     ^^^^^^^
       |
       = help: put it between `<!-- @client:copilot -->` and `<!-- @endclient -->`

    ------- stderr -------
    3 errors in 1 file
    [exit status: 1]
    [EOF]
    ");
}

/// N19: small things are shown to those who ask for them, and count then.
#[test]
fn a_missing_license_is_for_pedants() {
    let text = "---\nschema: 1\nname: a\ndescription: d\n---\n";
    let project = project().with_file("rules/a/RULE.md", text);
    assert_eq!(project.run(&["lint", "--strict"]).code, Some(0));
    let output = project.run(&["lint", "--pedantic"]);
    assert!(output.stdout.contains("warning[item/no-license]"), "{output}");
    assert_eq!(output.code, Some(0));
    assert_eq!(project.run(&["lint", "--pedantic", "--strict"]).code, Some(1));
}

/// R04, R17: what is only a warning fails when asked to.
#[test]
fn warnings_about_items_fail_when_strict() {
    let bare =
        "---\nschema: 1\nname: z\ndescription: d\nlicense: MIT\nitems: {}\nrequires: [base]\n---\n";
    let requires = registry().with_file("z.bundle.md", bare);
    let version =
        registry().with_file("rules/v/RULE.md", rule("v", "metadata:\n  version: 1.0\n", "## V\n"));
    for (project, code) in [(requires, "item/requires-string"), (version, "item/unquoted-version")]
    {
        let output = project.run(&["lint"]);
        assert!(output.stdout.contains(&format!("warning[{code}]")), "{output}");
        assert_eq!(output.code, Some(0));
        assert_eq!(project.run(&["lint", "--strict"]).code, Some(1));
    }
}

/// N20, N40, N53, N57: repairs change what they are for, and nothing else.
#[test]
fn fix_repairs_items() {
    let body = "# A\n\n## B\n\n```\nx\n```\n";
    let more = "metadata:\n  zeta: {b: [1, two]}   # ours\n  version: 1.0\n";
    let project = project().with_file("rules/a/RULE.md", rule("a", more, body));
    let output = project.run(&["lint", "--fix"]);
    assert_eq!(output.code, Some(0), "{output}");
    let fixed = rule("a", &more.replace("1.0", "\"1.0\""), "## A\n\n### B\n\n```text\nx\n```\n");
    assert_eq!(project.read("rules/a/RULE.md"), fixed);
    let again = project.run(&["lint", "--fix"]);
    assert!(again.stderr.contains("; 0 fixed"), "{again}");
    assert_eq!(project.read("rules/a/RULE.md"), fixed);
}

/// A bundle of YAML alone is repaired in place.
#[test]
fn fix_repairs_bundles_of_yaml() {
    let text = "schema: 1\nname: z\ndescription: d\nlicense: MIT\nitems: {rules: [a]}\nmetadata:\n  version: 1.0\n";
    let project = project()
        .with_file("z.bundle.yaml", text)
        .with_file("rules/a/RULE.md", rule("a", "", "## A\n"));
    assert_eq!(project.run(&["lint", "--fix"]).code, Some(0));
    assert_eq!(project.read("z.bundle.yaml"), text.replace("1.0", "\"1.0\""));
}

/// A part of a registry is checked against all of it.
#[test]
fn a_part_of_a_registry_is_checked_against_all_of_it() {
    let project = registry();
    for place in [
        ".",
        "bundles",
        "bundles/top.bundle.md",
        "content",
        "content/rules/a",
        "content/rules/a/RULE.md",
    ] {
        let output = project.run(&["lint", place]);
        assert_eq!(output.code, Some(0), "{place}\n{output}");
        assert!(
            output.stderr.starts_with("No problems in ") && !output.stderr.contains("no guidance"),
            "{output}"
        );
    }
    let project = project.with_file("content/rules/b/RULE.md", rule("c", "", "## A\n"));
    for (place, code) in [
        ("bundles", 0),
        ("content/rules/b", 1),
        ("content/rules/b/RULE.md", 1),
        ("content/rules/a", 0),
    ] {
        assert_eq!(project.run(&["lint", place]).code, Some(code), "{place}");
    }
}

/// N01: a client of the project's own, wherever the check begins.
#[test]
fn a_client_of_ones_own_is_known() {
    let project = project()
        .with_file("content/rules/a/RULE.md", rule("a", "audience: [acme]\n", "## A\n"))
        .with_file("content/rules/a/RULE.acme.md", "## A\n");
    assert_eq!(project.run(&["lint"]).code, Some(1));
    let project = project.with_file(
        "brief.toml",
        "[clients.acme.skill]\npath = \".acme/skills/{name}/SKILL.md\"\n\
         fields = [{ key = \"name\", from = \"name\" }]\n",
    );
    for place in [".", "content", "content/rules/a/RULE.md"] {
        let output = project.run(&["lint", place]);
        assert_eq!(output.code, Some(0), "{place}\n{output}");
    }
}

/// `--explain` prints the page of the documentation.
#[test]
fn a_code_is_explained_by_its_page() {
    for code in ["item/comma-in-pattern", "context-dir/unused-pattern", "frontmatter-repaired"] {
        let page = workspace().join(format!("docs/diagnostics/{code}.md"));
        let output = project().run(&["lint", "--explain", code]);
        assert_eq!(output.stdout, fs::read_to_string(page).unwrap(), "{code}");
        assert_eq!(output.code, Some(0));
    }
}

/// Exit 1, with the nearest codes.
#[test]
fn an_unknown_code_has_near_ones() {
    insta::assert_snapshot!(project().run(&["lint", "--explain", "item/fence-langauge"]), @"
    ------- stderr -------
    error: unknown rule `item/fence-langauge`
    hint: did you mean `item/fence-language`?
    [exit status: 1]
    [EOF]
    ");
    insta::assert_snapshot!(project().run(&["lint", "--explain", "unused-pattern"]), @"
    ------- stderr -------
    error: unknown rule `unused-pattern`
    hint: did you mean `client/unused-pattern` or `agents-yaml/unused-pattern` or `context-dir/unused-pattern`?
    [exit status: 1]
    [EOF]
    ");
    insta::assert_snapshot!(project().run(&["lint", "--explain", "nothing/like/it"]), @"
    ------- stderr -------
    error: unknown rule `nothing/like/it`
    hint: use the name in brackets, as in `error[yaml/duplicate-key]`
    [exit status: 1]
    [EOF]
    ");
}

/// Explaining is no check.
#[test]
fn explaining_goes_with_nothing_else() {
    for other in ["--fix", "--strict", "--pedantic", "."] {
        let output = project().run(&["lint", "--explain", "tasks/too-deep", other]);
        assert_eq!(output.code, Some(2), "{output}");
    }
}

/// Files of clients beside the items are counted for themselves, not against the items.
#[test]
fn items_beside_client_files_are_counted() {
    let project = project()
        .with_file("rules/plain/RULE.md", "---\nschema: 1\nname: plain\n---\nText.\n")
        .with_file("rules/CLAUDE.md", "One.\n")
        .with_file("rules/AGENTS.md", "Two.\n");
    for part in [&["lint"][..], &["lint", "rules"]] {
        let output = project.run(&[part, &["--format", "json"]].concat());
        assert_eq!(output.json()["files"], 3, "{part:?}: {output}");
    }
}
