//! Versions of the format (§8).

use brief_dialects::portable::SCHEMA;

use super::support::{NONE, files, findings, good, item, read, the, with};
use brief_dialects::portable::ItemKind;

/// The places of every kind of file.
const PATHS: [&str; 4] =
    ["rules/a/RULE.md", "skills/a/SKILL.md", "agents/a/AGENT.md", "a.bundle.md"];

fn of(path: &str, schema: &str) -> String {
    let more = if path.ends_with(".bundle.md") { "items: {}\n" } else { "" };
    with("a", more, "## T\n").replace("schema: 1", &format!("schema: {schema}"))
}

/// N17, N18, N73, N74: refused, with the file, what it needs, what there is, and the way out.
#[test]
fn a_newer_schema_is_refused_with_a_way_out() {
    for path in PATHS {
        for schema in ["2", "99", "100000000000000000000000000"] {
            let registry = read(&files(&[(path, &of(path, schema))]));
            assert_eq!(findings(&registry), [format!("{path}:2 unsupported-schema")], "{schema}");
            let found = the(&registry, "unsupported-schema");
            for part in [path, &format!("schema {schema}"), &format!("schema {SCHEMA}")] {
                assert!(found.message.contains(part), "{part} is not in {}", found.message);
            }
            assert!(found.help.as_ref().unwrap().contains("upgrade"));
            assert!(registry.items.iter().all(|item| !item.is_valid()));
        }
    }
}

/// N75.
#[test]
fn the_current_schema_is_accepted() {
    for path in PATHS {
        assert_eq!(findings(&read(&files(&[(path, &of(path, "1"))]))), NONE);
    }
}

/// R33: what was never published is no version.
#[test]
fn a_schema_is_a_published_number() {
    for path in PATHS {
        for schema in ["0", "-1", "\"1\"", "'1'", "1.5", "1.0", "one", "[1]", "{a: 1}", "true"] {
            let found = findings(&read(&files(&[(path, &of(path, schema))])));
            assert_eq!(found, [format!("{path}:2 invalid-schema")], "{schema}");
        }
    }
    for path in PATHS {
        let found = findings(&read(&files(&[(path, &of(path, ""))])));
        assert_eq!(found, [format!("{path}:1 missing-field")]);
    }
}

/// N77, N78: new optional fields appear without a new number.
#[test]
fn unknown_fields_are_ignored() {
    let more = "future: [1, {a: b}]\ntags: x\nx-own: ~\n";
    for path in PATHS {
        let items = if path.ends_with(".bundle.md") { "items: {plugins: [p]}\n" } else { "" };
        let text = with("a", &format!("{more}{items}"), "## T\n");
        assert_eq!(findings(&read(&files(&[(path, &text)]))), NONE, "{path}");
    }
}

/// N17: a file that is too new stands alone: the others are as they were.
#[test]
fn a_newer_file_spares_the_others() {
    let registry = read(&files(&[
        ("rules/a/RULE.md", &of("rules/a/RULE.md", "2")),
        ("rules/b/RULE.md", &good("b")),
    ]));
    assert!(!item(&registry, ItemKind::Rule, "a").is_valid());
    assert!(item(&registry, ItemKind::Rule, "b").is_valid());
}
