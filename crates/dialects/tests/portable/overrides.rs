//! Bodies for single clients (§2.3).

use brief_dialects::portable::{CLIENTS, ItemKind};

use super::support::{NONE, files, findings, findings_of, good, item, read, the, with};

/// N11: three kinds, three clients.
#[test]
fn every_kind_has_files_for_every_client() {
    for kind in ItemKind::ALL {
        for client in CLIENTS {
            let entrypoint = format!("{}/a/{}", kind.folder(), kind.entrypoint());
            let own = format!("{}/a/{}.{client}.md", kind.folder(), kind.stem());
            let registry = read(&files(&[(&entrypoint, &good("a")), (&own, "## Own\n")]));
            assert_eq!(findings(&registry), NONE);
            let item = &registry.items[0];
            assert!(item.files().is_empty(), "it is no supporting file");
            for reader in CLIENTS {
                let expected = if reader == client { "## Own\n" } else { "\n## Title\n\nText.\n" };
                assert_eq!(item.body_for(reader, &CLIENTS), expected);
            }
        }
    }
}

/// I03: such a file is taken as it is; the directives in it are text.
#[test]
fn a_file_for_one_client_is_taken_as_it_is() {
    let own = "## Own\n\n\n<!-- @client:copilot -->\nx\n<!-- @endclient -->\n";
    let registry =
        read(&files(&[("rules/a/RULE.md", &good("a")), ("rules/a/RULE.claude.md", own)]));
    assert_eq!(item(&registry, ItemKind::Rule, "a").body_for("claude", &CLIENTS), own);
}

/// I03: directives of the canonical body are not carried out for a client with a file of its own.
#[test]
fn the_canonical_body_is_for_the_others() {
    let body = "## T\n\n<!-- @client:claude -->\nc\n<!-- @endclient -->\n<!-- @client:!claude -->\no\n<!-- @endclient -->\n";
    let registry = read(&files(&[
        ("rules/a/RULE.md", &with("a", "", body)),
        ("rules/a/RULE.claude.md", "## Own\n"),
    ]));
    let rule = item(&registry, ItemKind::Rule, "a");
    assert_eq!(rule.body_for("claude", &CLIENTS), "## Own\n");
    assert_eq!(rule.body_for("opencode", &CLIENTS), "## T\n\no\n");
}

/// N12, I04: fields are in the entrypoint alone. A line of dashes at the top is no front matter.
#[test]
fn a_file_for_one_client_has_no_front_matter() {
    let with_own = |own: &str| {
        findings_of(&[("rules/a/RULE.md", &good("a")), ("rules/a/RULE.claude.md", own)])
    };
    assert_eq!(
        with_own("---\nname: b\n---\n\n## T\n"),
        ["rules/a/RULE.claude.md:2 override-frontmatter"]
    );
    for own in ["---\n\n## T\n", "---\n\nA sentence.\n\n---\n\n## T\n", "", "\u{feff}## T\n"] {
        assert_eq!(with_own(own), NONE, "{own:?}");
    }
    let registry = read(&files(&[
        ("rules/a/RULE.md", &good("a")),
        ("rules/a/RULE.claude.md", "---\ndescription: other\n---\n"),
    ]));
    assert_eq!(registry.items[0].description(), "Use when testing");
}

/// N13: the error lists those that are known.
#[test]
fn a_file_for_an_unknown_client_is_an_error() {
    let registry =
        read(&files(&[("rules/a/RULE.md", &good("a")), ("rules/a/RULE.cursor.md", "## T\n")]));
    assert_eq!(findings(&registry), ["rules/a/RULE.cursor.md:1 unknown-client"]);
    let found = the(&registry, "unknown-client");
    assert!(found.message.contains("cursor"));
    assert!(found.help.as_ref().unwrap().contains("claude, copilot, opencode"));
}

/// §2.3: the entrypoint is always required.
#[test]
fn a_file_for_one_client_needs_an_entrypoint() {
    assert_eq!(
        findings_of(&[("rules/a/RULE.claude.md", "## T\n"), ("rules/b/RULE.md", &good("b"))]),
        ["rules/a/RULE.claude.md:1 missing-entrypoint"]
    );
    assert_eq!(
        findings_of(&[("rules/a/RULE.md", &good("a")), ("rules/a/SKILL.claude.md", "## T\n")]),
        ["rules/a/SKILL.claude.md:1 missing-entrypoint"]
    );
    assert_eq!(findings_of(&[("docs/SKILL.notes.md", "# Notes\n")]), NONE);
}

/// N59, N53, N57: the body of such a file keeps to the rules of bodies.
#[test]
fn a_file_for_one_client_is_a_body() {
    let own = "# One\n\n```\nx\n```\n\n[a](missing.md) [b](../b)\n";
    assert_eq!(
        findings_of(&[("skills/a/SKILL.md", &good("a")), ("skills/a/SKILL.claude.md", own)]),
        [
            "skills/a/SKILL.claude.md:1 first-level-heading",
            "skills/a/SKILL.claude.md:3 fence-language",
            "skills/a/SKILL.claude.md:7 link-outside",
            "skills/a/SKILL.claude.md:7 missing-file",
        ]
    );
}
