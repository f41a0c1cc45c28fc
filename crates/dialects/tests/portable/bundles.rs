//! Bundles (§2.2, §3.7).

use brief_dialects::portable::bundle::{BundleError, resolve_bundle};
use brief_system::MemorySystem;

use super::support::{NONE, empty, files, findings, findings_of, good, read, the, with};

fn bundle(name: &str, more: &str) -> String {
    with(name, more, "# Any text\n\n#### At all\n\n```\nx\n```\n")
}

/// A registry of bundles, each with further fields.
fn bundles(list: &[(&str, &str)]) -> MemorySystem {
    list.iter().fold(empty(), |system, (name, more)| {
        system.with_file(&format!("/p/{name}.bundle.md"), bundle(name, more))
    })
}

/// N08: the error names both.
#[test]
fn the_name_of_a_bundle_is_that_of_its_file() {
    let registry = read(&files(&[("foo.bundle.md", &bundle("bar", "items: {}\n"))]));
    assert_eq!(findings(&registry), ["foo.bundle.md:3 name-mismatch"]);
    let message = &the(&registry, "name-mismatch").message;
    assert!(message.contains("foo") && message.contains("bar"), "{message}");
}

/// N09, N10: where a bundle lies makes no difference.
#[test]
fn a_bundle_may_lie_anywhere() {
    let base = bundle("base", "items:\n  rules: [b]\n");
    let top = bundle("top", "items:\n  rules: [a]\nrequires: [{name: base}]\n");
    let mut answers = Vec::new();
    for place in ["", "content/", "content/rules/", "content/rules/a/", "bundles/", "x/y/z/"] {
        let registry = read(&files(&[
            ("content/rules/a/RULE.md", &good("a")),
            ("content/rules/b/RULE.md", &good("b")),
            (&format!("{place}top.bundle.md"), &top),
            ("other/base.bundle.md", &base),
        ]));
        assert_eq!(findings(&registry), NONE, "{place}");
        answers.push(resolve_bundle(&registry, "top").unwrap());
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].bundles, ["base", "top"]);
}

/// R39: a bundle that lists nothing and requires nothing installs nothing.
#[test]
fn a_bundle_without_items_is_an_error() {
    for (more, is_empty) in [
        ("items: {}\n", true),
        ("items:\n", true),
        ("items: {rules: [], skills: }\n", true),
        ("items: {}\nrequires: []\n", true),
        ("items: {rules: [a]}\n", false),
        ("items: {}\nrequires: [{name: base}]\n", false),
        // A newer version of the format may have more kinds.
        ("items: {plugins: [p]}\n", false),
        // These have an error of their own.
        ("", false),
        ("items: text\n", false),
        ("items: {rules: a}\n", false),
    ] {
        let registry = read(&bundles(&[("z", more)]));
        let found = registry.all_diagnostics().filter(|one| one.code() == "item/empty-bundle");
        assert_eq!(found.count(), usize::from(is_empty), "{more}");
    }
}

/// I09: `items` is a mapping of lists, and required.
#[test]
fn a_bundle_lists_its_items_by_kind() {
    assert_eq!(findings(&read(&bundles(&[("z", "")]))), ["z.bundle.md:1 missing-field"]);
    for items in ["items: [a]", "items: text", "items: {rules: a}", "items: {rules: [{a: b}]}"] {
        let found = findings(&read(&bundles(&[("z", &format!("{items}\n"))])));
        assert_eq!(found, ["z.bundle.md:6 wrong-type"], "{items}");
    }
    for items in ["items: {}", "items: {rules: [], skills: }"] {
        assert_eq!(findings(&read(&bundles(&[("z", &format!("{items}\n"))]))), NONE, "{items}");
    }
}

/// N44: by kind and name.
#[test]
fn items_are_found_by_kind_and_name() {
    let text = bundle("z", "items:\n  rules: [a]\n  skills: [a]\n  agents: [a]\n");
    let registry = read(&files(&[
        ("rules/a/RULE.md", &good("a")),
        ("skills/a/SKILL.md", &good("a")),
        ("agents/a/AGENT.md", &good("a")),
        ("z.bundle.md", &text),
    ]));
    assert_eq!(findings(&registry), NONE);
    assert_eq!(resolve_bundle(&registry, "z").unwrap().items.len(), 3);
}

/// N45: the error names the bundle, the kind and the item, and there is nothing to install.
#[test]
fn an_item_that_does_not_exist_is_an_error() {
    let text = bundle("z", "items:\n  rules:\n    - a\n  skills:\n    - a\n");
    let registry = read(&files(&[("rules/a/RULE.md", &good("a")), ("z.bundle.md", &text)]));
    assert_eq!(findings(&registry), ["z.bundle.md:10 bundle-unresolved"]);
    let message = &the(&registry, "bundle-unresolved").message;
    assert!(message.contains("`z`") && message.contains("skill `a`"), "{message}");
    assert!(matches!(
        resolve_bundle(&registry, "z").unwrap_err()[..],
        [BundleError::Unresolved { .. }]
    ));
}

/// N46: all the way, each bundle after those that it needs, items once.
#[test]
fn bundles_are_followed_all_the_way() {
    let system = [("a", "d"), ("b", "c"), ("c", "a"), ("d", "")]
        .iter()
        .fold(empty(), |system, (name, needs)| {
            let needs = if needs.is_empty() {
                String::new()
            } else {
                format!("requires: [{{name: {needs}}}]\n")
            };
            let text = bundle(name, &format!("items:\n  rules: [r-{name}, shared]\n{needs}"));
            system
                .with_file(&format!("/p/{name}.bundle.md"), text)
                .with_file(&format!("/p/rules/r-{name}/RULE.md"), good(&format!("r-{name}")))
        })
        .with_file("/p/rules/shared/RULE.md", good("shared"));
    let registry = read(&system);
    assert_eq!(findings(&registry), NONE);
    let closure = resolve_bundle(&registry, "b").unwrap();
    assert_eq!(closure.bundles, ["d", "a", "c", "b"]);
    let names: Vec<&str> = closure.items.iter().map(|id| id.name.as_str()).collect();
    assert_eq!(names, ["r-a", "r-b", "r-c", "r-d", "shared"]);
    assert_eq!(
        closure,
        resolve_bundle(&read(&system), "b").unwrap(),
        "the order is always the same"
    );
}

/// N47: an item that two bundles list is one item; two of one name are an error.
#[test]
fn sharing_an_item_is_no_conflict() {
    let list = "items:\n  rules: [a]\n";
    let both = format!("{list}requires: [{{name: x}}, {{name: y}}]\n");
    let base = [
        ("rules/a/RULE.md", good("a")),
        ("x.bundle.md", bundle("x", list)),
        ("y.bundle.md", bundle("y", list)),
        ("top.bundle.md", bundle("top", &both)),
    ];
    let base: Vec<(&str, &str)> = base.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let registry = read(&files(&base));
    assert_eq!(findings(&registry), NONE);
    assert_eq!(resolve_bundle(&registry, "top").unwrap().items.len(), 1);
    let other = good("a");
    let found = findings_of(&[base.as_slice(), &[("other/rules/a/RULE.md", &other)]].concat());
    assert_eq!(found, ["rules/a/RULE.md:1 duplicate-item"]);
    let other = bundle("x", "items: {}\n");
    let found = findings_of(&[base.as_slice(), &[("z/x.bundle.md", &other)]].concat());
    assert_eq!(found, ["z/x.bundle.md:1 duplicate-item"]);
}

/// N48: the error prints the chain.
#[test]
fn bundles_do_not_need_each_other() {
    let registry = read(&bundles(&[
        ("a", "items: {}\nrequires: [{name: c}, {name: b}]\n"),
        ("b", "items: {}\nrequires:\n  - {name: a}\n"),
        ("c", "items: {}\n"),
    ]));
    assert_eq!(findings(&registry), ["b.bundle.md:8 bundle-cycle"]);
    assert!(the(&registry, "bundle-cycle").message.ends_with("a -> b -> a"));
    assert!(
        matches!(&resolve_bundle(&registry, "a").unwrap_err()[..], [BundleError::Circle { chain }] if *chain == ["a", "b", "a"])
    );
    assert!(resolve_bundle(&registry, "b").is_err() && resolve_bundle(&registry, "c").is_ok());
    let registry = read(&bundles(&[("a", "items: {}\nrequires: [{name: a}]\n")]));
    assert!(the(&registry, "bundle-cycle").message.ends_with("a -> a"));
}

/// N46: a bundle that is not there is an error where it is named.
#[test]
fn a_bundle_that_does_not_exist_is_an_error() {
    let registry = read(&bundles(&[("a", "items: {}\nrequires:\n  - {name: gone}\n")]));
    assert_eq!(findings(&registry), ["a.bundle.md:8 bundle-requires"]);
    assert!(the(&registry, "bundle-requires").message.contains("gone"));
    assert!(matches!(
        resolve_bundle(&registry, "a").unwrap_err()[..],
        [BundleError::Missing { .. }]
    ));
    assert!(resolve_bundle(&registry, "nobody").is_err());
}

/// I10: ranges are held against the version of the other bundle.
#[test]
fn a_version_is_a_range() {
    let base = "items: {}\nmetadata:\n  version: \"1.2.0\"\n";
    for (range, fits) in [
        ("^1.0.0", true),
        ("~1.2", true),
        (">=1.0.0, <2.0.0", true),
        ("1.2.0", true),
        ("*", true),
        ("^2.0.0", false),
        ("~1.1", false),
        ("=1.2.1", false),
        ("newest", false),
    ] {
        let top = format!("items: {{}}\nrequires:\n  - {{name: base, version: \"{range}\"}}\n");
        let registry = read(&bundles(&[("base", base), ("top", &top)]));
        let found = findings(&registry);
        if fits {
            assert_eq!(found, NONE, "{range}");
        } else {
            assert_eq!(found, ["top.bundle.md:8 bundle-requires"], "{range}");
        }
        assert_eq!(resolve_bundle(&registry, "top").is_ok(), fits, "{range}");
    }
}

/// R34: a version is needed, and there is none to hold it against.
#[test]
fn a_range_needs_a_version_on_the_other_side() {
    let top = "items: {}\nrequires:\n  - {name: base, version: \"^1.0.0\"}\n";
    let registry = read(&bundles(&[("base", "items: {}\n"), ("top", top)]));
    assert_eq!(findings(&registry), ["top.bundle.md:8 bundle-requires"]);
    assert!(the(&registry, "bundle-requires").message.contains("it has no version"));
}

/// R04, Appendix A.5: a bare name is read, with a warning.
#[test]
fn a_bare_name_is_read_with_a_warning() {
    let registry = read(&bundles(&[
        ("android", "items: {}\nrequires:\n  - platform-baseline\n"),
        ("platform-baseline", "items: {}\n"),
    ]));
    assert_eq!(findings(&registry), ["android.bundle.md:8 requires-string"]);
    assert_eq!(
        resolve_bundle(&registry, "android").unwrap().bundles,
        ["platform-baseline", "android"]
    );
    for wrong in [
        "requires: base",
        "requires: {name: base}",
        "requires: [[base]]",
        "requires: [{version: \"1.0.0\"}]",
    ] {
        let found = findings(&read(&bundles(&[("a", &format!("items: {{}}\n{wrong}\n"))])));
        assert_eq!(found, ["a.bundle.md:7 wrong-type"], "{wrong}");
    }
}

/// R05: the body of a bundle is documentation. (Every bundle here has a heading of the first level.)
#[test]
fn the_body_of_a_bundle_is_free() {
    assert_eq!(
        findings(&read(&bundles(&[("platform-baseline", "items: {}\nrequires: []\n")]))),
        NONE
    );
}
