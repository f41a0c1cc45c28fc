//! Registries that mean no good: an error with a place, and all other items are as they were.

use std::time::{Duration, Instant};

use brief_dialects::portable::bundle::resolve_bundle;
use brief_dialects::portable::{ItemKind, Registry};
use brief_system::MemorySystem;

use super::support::{body_findings, empty, files, findings, good, item, read, the, with};

/// The registry of a system with a good rule `spared` beside what is in it.
fn beside_a_good_one(system: MemorySystem) -> Registry {
    let registry = read(&system.with_file("/p/rules/spared/RULE.md", good("spared")));
    let spared = item(&registry, ItemKind::Rule, "spared");
    assert!(spared.diagnostics().is_empty(), "{:?}", spared.diagnostics());
    registry
}

/// Names that would lead elsewhere are no names.
#[test]
fn a_name_that_escapes_is_refused() {
    for name in ["../../etc/passwd", "/etc", "..", ".", "a/b", "a\\b", "a\0b", "C:", "con", "a\nb"]
    {
        let text = with(&format!("{name:?}").replace("\\0", "\\u0000"), "", "## T\n");
        let registry = beside_a_good_one(files(&[("rules/x/RULE.md", &text)]));
        let found = findings(&registry);
        assert_eq!(
            found,
            ["rules/x/RULE.md:3 invalid-name", "rules/x/RULE.md:3 name-mismatch"],
            "{name:?}"
        );
    }
}

/// Names in a bundle are compared, never followed.
#[test]
fn a_bundle_cannot_reach_out() {
    let text =
        with("z", "items:\n  rules: [\"../spared\", \"/etc\"]\nrequires: [{name: ../x}]\n", "");
    let registry = beside_a_good_one(files(&[("z.bundle.md", &text)]));
    let mut found = findings(&registry);
    found.sort();
    assert_eq!(
        found,
        [
            "z.bundle.md:7 bundle-unresolved",
            "z.bundle.md:7 bundle-unresolved",
            "z.bundle.md:7 invalid-name",
            "z.bundle.md:7 invalid-name",
            "z.bundle.md:8 bundle-requires"
        ]
    );
    assert!(resolve_bundle(&registry, "z").is_err());
}

/// Two files that are one on some systems.
#[test]
fn names_that_differ_in_case_collide() {
    let registry = beside_a_good_one(files(&[
        ("skills/a/SKILL.md", &good("a")),
        ("skills/a/docs/Read.md", ""),
        ("skills/a/docs/read.md", ""),
        ("skills/a/Ä.md", ""),
        ("skills/a/ä.md", ""),
    ]));
    assert_eq!(findings(&registry), ["skills/a/SKILL.md:1 case-collision"; 2]);
    let registry = beside_a_good_one(files(&[
        ("skills/a/SKILL.md", &good("a")),
        ("skills/a/skill.md", ""),
        ("skills/a/Docs", ""),
        ("skills/a/docs/read.md", ""),
    ]));
    assert_eq!(findings(&registry), ["skills/a/SKILL.md:1 case-collision"; 2]);
}

/// Names that some system cannot hold.
#[test]
fn names_that_not_every_system_has_are_refused() {
    for name in ["nul.txt", "docs/COM1", "a:b", "a\\b", "end.", "end ", "a?", "a\nb", "a\u{1b}[31m"]
    {
        let registry = beside_a_good_one(
            files(&[("skills/a/SKILL.md", &good("a"))])
                .with_file(&format!("/p/skills/a/{name}"), ""),
        );
        assert_eq!(findings(&registry), ["skills/a/SKILL.md:1 unportable-file-name"], "{name:?}");
    }
}

/// Files of 10 MB are not read, as entrypoint, override or bundle.
#[test]
fn a_file_that_is_too_large_is_not_read() {
    let large = "x".repeat(10 * 1024 * 1024);
    for path in ["rules/a/RULE.md", "a.bundle.md"] {
        let registry = beside_a_good_one(files(&[(path, &large)]));
        assert_eq!(findings(&registry), [format!("{path}:1 unreadable")]);
    }
    let registry = beside_a_good_one(files(&[
        ("rules/a/RULE.md", &good("a")),
        ("rules/a/RULE.claude.md", &large),
    ]));
    assert_eq!(findings(&registry), ["rules/a/RULE.claude.md:1 unreadable"]);
    assert!(!item(&registry, ItemKind::Rule, "a").is_valid());
    let registry =
        beside_a_good_one(files(&[("rules/a/RULE.md", &good("a")), ("rules/a/data.bin", &large)]));
    assert_eq!(findings(&registry), [""; 0], "what lies beside it may be of any size");
}

/// Bytes that are no text.
#[test]
fn binary_files_are_no_obstacle() {
    let registry = beside_a_good_one(
        files(&[("skills/a/SKILL.md", &good("a"))])
            .with_file("/p/skills/a/logo.png", b"\x89PNG\r\n\x1a\n\0\xff")
            .with_file("/p/rules/b/RULE.md", b"\0\xff\xfe\x00---\n")
            .with_file("/p/z.bundle.md", b"---\n\xff: \x00\n---\n"),
    );
    assert!(item(&registry, ItemKind::Skill, "a").is_valid());
    assert!(!item(&registry, ItemKind::Rule, "b").is_valid());
    assert!(registry.all_diagnostics().any(|found| found.code() == "text/not-utf8"));
}

/// Links beside an entrypoint do not travel; an entrypoint is not read from elsewhere.
#[test]
fn links_do_not_travel() {
    let registry = beside_a_good_one(
        files(&[("skills/a/SKILL.md", &good("a")), ("other.txt", "")])
            .with_file("/secret/SKILL.md", good("b"))
            .with_link("/p/skills/a/inside", "/p/other.txt")
            .with_link("/p/skills/a/docs/outside", "/secret/SKILL.md")
            .with_fifo("/p/skills/a/pipe")
            .with_link("/p/skills/b/SKILL.md", "/secret/SKILL.md")
            .with_link("/p/skills/c", "/secret")
            .with_fifo("/p/rules/d/RULE.md"),
    );
    assert_eq!(
        findings(&registry),
        [
            "rules/d/RULE.md:1 unreadable",
            "skills/a/SKILL.md:1 not-a-file",
            "skills/a/SKILL.md:1 not-a-file",
            "skills/a/SKILL.md:1 not-a-file",
            "skills/b/SKILL.md:1 unreadable",
        ]
    );
}

/// A bomb of aliases and YAML of great depth.
#[test]
fn yaml_bombs_cost_nothing() {
    let mut bomb = "a0: &a0 [x, x]\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        bomb.push_str(&format!("a{level}: &a{level} [*a{below}, *a{below}]\n"));
    }
    let deep = format!("metadata: {}{}\n", "[".repeat(50_000), "]".repeat(50_000));
    let circle = "metadata: &m {self: *m}\n";
    let start = Instant::now();
    for more in [bomb.as_str(), &deep, circle, "? {a: b}\n: c\n", "name: again\n", "<<: *gone\n"] {
        let registry = beside_a_good_one(files(&[("rules/a/RULE.md", &with("a", more, "## T\n"))]));
        let shown = &more[..more.len().min(40)];
        assert_eq!(registry.items.len(), 2, "{shown}");
        for found in registry.all_diagnostics() {
            assert!(found.source.text().get(found.span.range()).is_some(), "{shown}");
        }
    }
    assert!(start.elapsed() < Duration::from_mins(2), "{:?}", start.elapsed());
}

/// Bodies that would take a careless reader the square of their length.
#[test]
fn long_bodies_are_read_in_time() {
    let start = Instant::now();
    let length = 400_000;
    for part in [
        "#file:",
        "mcp__-",
        "mcp__",
        "!`",
        "@a/",
        "$1 ",
        "`",
        "```\n",
        "> ",
        "- ",
        "[a](",
        "<!--",
        "<!-- @client:claude -->",
        "<!-- @client:claude -->\n$1\n<!-- @endclient -->\n",
        "# a\n",
        "#",
        "*a",
        "\0",
    ] {
        let body = part.repeat(length / part.len());
        let registry = beside_a_good_one(files(&[("rules/a/RULE.md", &with("a", "", &body))]));
        assert!(item(&registry, ItemKind::Rule, "a").diagnostics().len() <= 1_001, "{part:?}");
        assert!(start.elapsed() < Duration::from_mins(2), "{part:?} {:?}", start.elapsed());
    }
}

/// More problems than anyone reads: the first thousand, and what makes it an error among them.
#[test]
fn problems_are_limited() {
    let body = format!("{}\n\n[a](../b)\n", "Use the Read tool. ".repeat(2_000));
    let registry = beside_a_good_one(files(&[("rules/a/RULE.md", &with("a", "", &body))]));
    let rule = item(&registry, ItemKind::Rule, "a");
    assert_eq!(rule.diagnostics().len(), 1_001);
    assert!(!rule.is_valid());
    assert!(the(&registry, "too-many-problems").message.contains("1000"));
}

/// More bundles than a stack has room for, were they followed by recursion.
const LONG: usize = 10_000;

/// A registry of bundles, each of which needs the next one; the last needs `last`.
fn chain(last: &str) -> Registry {
    let mut system = empty();
    for number in 0..LONG {
        let needs = match number + 1 {
            LONG => last.to_owned(),
            next => format!("b{next}"),
        };
        let needs =
            if needs.is_empty() { needs } else { format!("requires: [{{name: {needs}}}]\n") };
        let name = format!("b{number}");
        let text = with(&name, &format!("items: {{}}\n{needs}"), "");
        system = system.with_file(&format!("/p/{name}.bundle.md"), text);
    }
    beside_a_good_one(system)
}

/// Bundles in a long row.
#[test]
fn long_chains_of_bundles_are_walked() {
    let registry = chain("");
    assert_eq!(findings(&registry), [""; 0]);
    assert_eq!(resolve_bundle(&registry, "b0").unwrap().bundles.len(), LONG);
}

/// Bundles in a long circle.
#[test]
fn a_long_circle_of_bundles_is_told_in_short() {
    let registry = chain("b0");
    assert_eq!(findings(&registry).len(), 1);
    assert!(the(&registry, "bundle-cycle").message.len() < 500);
    assert!(resolve_bundle(&registry, "b0").is_err());
}

/// Directories of great depth, in an item and around one.
#[test]
fn deep_directories_are_walked_as_far_as_any() {
    let deep = "d/".repeat(200);
    let registry = beside_a_good_one(
        files(&[("skills/a/SKILL.md", &good("a"))])
            .with_file(&format!("/p/skills/a/{deep}x.txt"), "")
            .with_file(&format!("/p/{deep}rules/b/RULE.md"), good("b")),
    );
    assert!(item(&registry, ItemKind::Skill, "a").is_valid());
}

/// Characters that show nothing, and control characters, in every place.
#[test]
fn odd_characters_are_no_obstacle() {
    for odd in ["\u{202e}", "\u{200b}", "\u{1b}]0;x\u{7}", "\u{feff}", "\u{2028}", "\r"] {
        body_findings(&format!(
            "## T{odd}\n\n<!-- @client:{odd}claude -->\n{odd}\n<!-- @endclient -->{odd}\n"
        ));
        let text = with("a", &format!("metadata: {{k: \"{odd}\"}}\n"), odd);
        beside_a_good_one(files(&[("rules/a/RULE.md", &text)]));
    }
}
