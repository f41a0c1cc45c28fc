//! The places of items and bundles (§2.1, §2.2, §2.4).

use brief_dialects::portable::{CLIENTS, ItemId, ItemKind, PortableItem};

use super::support::{
    NONE, body_findings, empty, field_findings, files, findings, findings_of, good, item, read,
    read_for, the, with,
};

/// N01: a client is a name that is passed in; where it is legal, it is legal everywhere.
#[test]
fn another_client_is_legal_everywhere_at_once() {
    let body = "## T\n\n<!-- @client:cursor -->\n\nx\n\n<!-- @endclient -->\n";
    let more = "audience: [cursor]\ncursor:\n  alwaysApply: true\n";
    let system =
        files(&[("rules/a/RULE.md", &with("a", more, body)), ("rules/a/RULE.cursor.md", "## T\n")]);
    let four = [CLIENTS.as_slice(), &["cursor"]].concat();
    let registry = read_for(&system, &four);
    assert_eq!(findings(&registry), NONE);
    let rule = item(&registry, ItemKind::Rule, "a");
    assert!(rule.is_for("cursor") && !rule.is_for("claude"));
    assert_eq!(rule.body_for("cursor", &four), "## T\n");
    assert!(rule.passthrough("cursor").is_some());
    assert_eq!(
        findings(&read(&system)),
        [
            "rules/a/RULE.cursor.md:1 unknown-client",
            "rules/a/RULE.md:13 unknown-client",
            "rules/a/RULE.md:6 unknown-client",
        ]
    );
}

/// N02: the error names both.
#[test]
fn the_name_is_that_of_the_directory() {
    for kind in ItemKind::ALL {
        let path = format!("{}/dir/{}", kind.folder(), kind.entrypoint());
        let registry = read(&files(&[(&path, &good("other"))]));
        let found = the(&registry, "name-mismatch");
        assert!(found.message.contains("`dir`") && found.message.contains("`other`"));
        assert_eq!(found.position().line, 3);
        assert!(!registry.items[0].is_valid());
    }
}

/// N03, N04: letters, digits, and hyphens between them.
#[test]
fn names_have_no_other_characters_and_no_hyphen_at_an_end() {
    for name in ["Bad_Name", "a.b", "é", "a b", "-lead", "trail-", "-", "A"] {
        let path = format!("rules/{name}/RULE.md");
        let found = findings_of(&[(&path, &with(&format!("\"{name}\""), "", "## T\n"))]);
        assert_eq!(found, [format!("{path}:3 invalid-name")], "{name}");
    }
}

/// N05.
#[test]
fn names_have_64_characters_at_most() {
    let (longest, longer) = ("a".repeat(64), "a".repeat(65));
    assert_eq!(findings_of(&[(&format!("rules/{longest}/RULE.md"), &good(&longest))]), NONE);
    let path = format!("rules/{longer}/RULE.md");
    assert_eq!(findings_of(&[(&path, &good(&longer))]), [format!("{path}:3 invalid-name")]);
}

/// N06: any item root.
#[test]
fn items_are_found_under_any_root() {
    let registry = read(&files(&[
        ("rules/a/RULE.md", &good("a")),
        ("content/rules/b/RULE.md", &good("b")),
        ("x/y/z/skills/c/SKILL.md", &good("c")),
        ("x/agents/d/AGENT.md", &good("d")),
    ]));
    assert_eq!(findings(&registry), NONE);
    let places: Vec<&str> = registry.items.iter().map(PortableItem::slashed).collect();
    assert_eq!(places, ["rules/a", "content/rules/b", "x/y/z/skills/c", "x/agents/d"]);
}

/// N07: a source in `.agents` is warned of; what is written for clients is no source.
#[test]
fn generated_trees_are_no_source() {
    let generated = "---\nname: a\ndescription: d\n---\n\n# a\n";
    let registry = read(&files(&[
        (".agents/skills/a/SKILL.md", generated),
        (".agents/rules/a/RULE.md", generated),
        (".claude/skills/a/SKILL.md", &good("other")),
        (".github/skills/a/SKILL.md", &good("other")),
        (".opencode/agents/a/AGENT.md", &good("other")),
        ("sub/.claude/skills/a/SKILL.md", generated),
    ]));
    assert!(registry.items.is_empty());
    assert_eq!(findings(&registry), NONE);
    let registry = read(&files(&[(".agents/rules/a/RULE.md", &good("a"))]));
    assert_eq!(findings(&registry), [".agents/rules/a/RULE.md:1 item-root-agents"]);
    assert!(registry.items[0].is_valid(), "it is a warning");
}

/// I01: directory and entrypoint agree on the kind.
#[test]
fn an_entrypoint_in_a_directory_of_another_kind_is_an_error() {
    for (path, text) in [
        ("rules/a/SKILL.md", good("a")),
        ("skills/a/AGENT.md", good("a")),
        ("agents/a/RULE.md", good("a")),
    ] {
        assert_eq!(findings_of(&[(path, &text)]), [format!("{path}:1 kind-mismatch")]);
    }
    let foreign = "---\nname: a\ndescription: d\n---\n";
    assert_eq!(
        findings_of(&[("rules/a/SKILL.md", foreign), ("rules/b/RULE.md", &good("b"))]),
        ["rules/a/SKILL.md:1 foreign-skill", "rules/a/SKILL.md:1 kind-mismatch"]
    );
}

/// I01: an item has a directory of its own, and an entrypoint elsewhere does not swallow others.
#[test]
fn an_entrypoint_beside_items_hides_none_of_them() {
    let registry = read(&files(&[
        ("rules/RULE.md", &good("rules")),
        ("rules/a/RULE.md", &good("a")),
        ("SKILL.md", &good("p")),
        ("skills/SKILL.md", "---\nname: skills\ndescription: an index\n---\n"),
        ("skills/b/SKILL.md", &good("b")),
        ("agents/agents/AGENT.md", &good("agents")),
    ]));
    assert_eq!(
        findings(&registry),
        ["SKILL.md:1 misplaced-item", "rules/RULE.md:1 misplaced-item"]
    );
    let names: Vec<&str> = registry.items.iter().map(PortableItem::name).collect();
    assert_eq!(names, ["a", "b", "agents"]);
}

/// R31: an item is told by kind and name.
#[test]
fn two_items_of_one_kind_and_name_are_an_error() {
    let registry = read(&files(&[
        ("a/rules/x/RULE.md", &good("x")),
        ("b/rules/x/RULE.md", &good("x")),
        ("skills/x/SKILL.md", &good("x")),
    ]));
    assert_eq!(findings(&registry), ["b/rules/x/RULE.md:1 duplicate-item"]);
    assert!(the(&registry, "duplicate-item").message.contains("a/rules/x"));
}

/// R32: the layout of a later draft is read as well.
#[test]
fn items_without_a_directory_for_their_kind_are_read() {
    let bundle = "schema: 1\nname: z\ndescription: d\nlicense: MIT\nitems:\n  rules: [a]\n";
    let registry = read(&files(&[
        ("content/a/RULE.md", &good("a")),
        ("content/b/SKILL.md", &good("b")),
        ("content/b/AGENT.md", &good("b")),
        ("notes/RULE.md", "No item: it has no schema.\n"),
        ("z.bundle.yaml", bundle),
    ]));
    assert_eq!(findings(&registry), NONE);
    assert_eq!(registry.items.len(), 3);
    assert_eq!(registry.bundles[0].items().count(), 1);
}

/// R32: what is wrong in a bundle of YAML alone has its place in that file, and so has the repair.
#[test]
fn a_bundle_of_yaml_alone_has_true_places() {
    for lead in ["", "---\n", "\u{feff}"] {
        let text = format!(
            "{lead}schema: 1\nname: z\ndescription: d\nlicense: MIT\nitems: {{}}\nmetadata:\n  version: 1.0\n"
        );
        let registry = read(&files(&[("z.bundle.yaml", &text)]));
        let found = the(&registry, "unquoted-version");
        assert_eq!(&text[found.span.range()], "1.0");
        assert_eq!(found.source.text(), text);
        let fixed = brief_syntax::diagnostic::apply_safe_fixes(&text, [found]).text;
        assert_eq!(fixed, text.replace("1.0", "\"1.0\""));
    }
}

/// N14: anything may lie in an item, whatever it is called.
#[test]
fn an_item_may_hold_any_files() {
    for kind in ItemKind::ALL {
        let place = format!("/p/{}/a", kind.folder());
        let system = empty()
            .with_file(&format!("{place}/{}", kind.entrypoint()), good("a"))
            .with_file(&format!("{place}/logo.png"), b"\x89PNG\0\xff")
            .with_program(&format!("{place}/scripts/run.sh"), "#!/bin/sh\n")
            .with_file(&format!("{place}/a/b/c/d.txt"), "")
            .with_file(&format!("{place}/template/.github/workflows/ci.yml"), "on: push\n")
            .with_file(&format!("{place}/template/.claude/rules/x.md"), "x\n")
            .with_file(&format!("{place}/examples/rules/b/RULE.md"), good("b"));
        let registry = read(&system);
        assert_eq!(findings(&registry), NONE);
        assert_eq!(registry.items.len(), 1);
        let paths: Vec<&str> =
            registry.items[0].files().iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "logo.png",
                "a/b/c/d.txt",
                "examples/rules/b/RULE.md",
                "scripts/run.sh",
                "template/.claude/rules/x.md",
                "template/.github/workflows/ci.yml",
            ]
        );
    }
}

/// I02: what clients were given is not taken for what authors wrote.
#[test]
fn a_consumer_project_holds_no_items() {
    let registry = read(&files(&[
        (".claude/rules/a.md", "# a\n"),
        (".claude/agents/a.md", "---\nname: a\n---\n"),
        (".github/instructions/a.instructions.md", "---\napplyTo: \"**\"\n---\n"),
        (".agents/rules/a/RULE.md", "---\nname: a\ndescription: d\n---\n\n# a\n"),
        ("AGENT.md", "# Notes for agents\n"),
    ]));
    assert!(registry.items.is_empty() && registry.bundles.is_empty());
    assert_eq!(findings(&registry), NONE);
}

/// I05: an entrypoint begins with front matter.
#[test]
fn a_file_without_front_matter_is_an_error() {
    for text in ["## T\n", "", "\n---\nschema: 1\n---\n", "---\n- a\n---\n", "---\n---\n"] {
        let found = findings_of(&[("rules/a/RULE.md", text)]);
        assert!(
            found.contains(&"rules/a/RULE.md:1 no-frontmatter".to_owned()),
            "{text:?} {found:?}"
        );
    }
    let found = findings_of(&[("rules/a/RULE.md", "---\nschema: 1\nname: a\n\n## T\n")]);
    assert_eq!(
        found,
        ["rules/a/RULE.md:1 frontmatter-unclosed", "rules/a/RULE.md:1 no-frontmatter"]
    );
    let found = findings_of(&[("skills/a/SKILL.md", "## T\n")]);
    assert_eq!(found, ["skills/a/SKILL.md:1 foreign-skill", "skills/a/SKILL.md:1 missing-field"]);
}

/// I05: spellings of the dashes that are accepted everywhere are accepted here.
#[test]
fn a_byte_order_mark_and_windows_line_ends_are_accepted() {
    let text = good("a");
    for text in [format!("\u{feff}{text}"), text.replace('\n', "\r\n")] {
        let registry = read(&files(&[("rules/a/RULE.md", &text)]));
        assert_eq!(findings(&registry), NONE);
        assert!(registry.items[0].document().body().trim_start().starts_with("## Title"));
    }
}

/// N59: a link leads to a file of the item, or there is a warning; out of it, an error.
#[test]
fn links_lead_to_files_that_travel() {
    let body = "## T\n\n[a](./a.txt) [b](sub/) [c](RULE.md) [d](https://x.example) [e](#t)\n";
    let system = files(&[
        ("rules/a/RULE.md", &with("a", "", body)),
        ("rules/a/a.txt", ""),
        ("rules/a/sub/x", ""),
    ]);
    assert_eq!(findings(&read(&system)), NONE);
    assert_eq!(body_findings("## T\n\n[a](./a.txt)\n"), ["rules/a/RULE.md:10 missing-file"]);
    for link in ["../b/x.md", "%2e%2e/x", "sub/../../x"] {
        let found = body_findings(&format!("## T\n\n[a]({link})\n"));
        assert_eq!(found, ["rules/a/RULE.md:10 link-outside"], "{link}");
    }
}

/// N19: a note that only `--pedantic` shows.
#[test]
fn a_missing_license_is_noted() {
    let text = "---\nschema: 1\nname: a\ndescription: d\n---\n";
    assert_eq!(findings_of(&[("rules/a/RULE.md", text)]), ["rules/a/RULE.md:1 no-license"]);
    for license in ["MIT", "proprietary", "LicenseRef-Own"] {
        let text = format!("---\nschema: 1\nname: a\ndescription: d\nlicense: {license}\n---\n");
        assert_eq!(findings_of(&[("rules/a/RULE.md", &text)]), NONE);
    }
    assert_eq!(field_findings(ItemKind::Rule, ""), NONE);
}

/// U48, §2.2: "MUST NOT depend on a specific bundle-root path": also where clients look.
#[test]
fn a_bundle_is_found_wherever_it_lies() {
    let bundle = |name: &str| {
        format!("---\n{}items:\n  rules: [a]\n---\n\nWords.\n", super::support::fields(name))
    };
    for directory in [".github/", ".claude/team/", ".opencode/", ".agents/", "", "bundles/deep/"] {
        let path = format!("{directory}base.bundle.md");
        let registry = read(&files(&[("rules/a/RULE.md", &good("a")), (&path, &bundle("base"))]));
        assert!(registry.find_bundle("base").is_some(), "{path}");
        assert_eq!(registry.items.len(), 1, "{path}");
    }
    let output = ".claude/skills/x/SKILL.md";
    let registry = read(&files(&[(output, &good("x"))]));
    assert!(registry.items.is_empty(), "what clients read is nobody's source");
}

/// U48: a bundle in the directory of an item is a bundle, and does not travel with the item.
#[test]
fn a_bundle_in_an_item_is_no_file_of_the_item() {
    let bundle =
        format!("---\n{}items:\n  skills: [a]\n---\n\nWords.\n", super::support::fields("b"));
    let registry = read(&files(&[
        ("skills/a/SKILL.md", &good("a")),
        ("skills/a/b.bundle.md", &bundle),
        ("skills/a/deep/c.txt", "c"),
    ]));
    let files = item(&registry, ItemKind::Skill, "a").files();
    assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["deep/c.txt"]);
    assert!(registry.find_bundle("b").is_some());
}

/// U36: a skill of the open standard is called what its front matter says, and found by either name.
#[test]
fn a_foreign_skill_has_the_name_of_its_front_matter() {
    let skill = |name: &str| format!("---\nname: {name}\ndescription: d\n---\n\nText.\n");
    let registry = read(&files(&[
        ("skills/pdf-tools/SKILL.md", &skill("pdf")),
        ("skills/Not a name/SKILL.md", &skill("fine")),
        ("skills/one/SKILL.md", &skill("same")),
        ("skills/two/SKILL.md", &skill("same")),
        ("skills/three/SKILL.md", &skill("No name")),
    ]));
    let names: Vec<&str> = registry.items.iter().map(PortableItem::name).collect();
    assert_eq!(names, ["fine", "one", "pdf", "three", "two"]);
    let found = |name: &str| {
        let id = ItemId { kind: ItemKind::Skill, name: name.to_owned() };
        registry.find_item(&id).map(PortableItem::name)
    };
    assert_eq!(found("pdf"), Some("pdf"));
    assert_eq!(found("pdf-tools"), Some("pdf"));
    assert_eq!(found("nothing"), None);
}
