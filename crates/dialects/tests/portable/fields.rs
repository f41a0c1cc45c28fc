//! Front matter of every kind (§3.1 to §3.3, §3.5, §3.6).

use brief_dialects::portable::{CLIENTS, ItemKind};
use brief_syntax::Severity;
use brief_syntax::yaml::{Node, Value};

use super::support::{
    NONE, field_findings, files, findings, findings_of, good, item, read, the, with,
};

/// I06: `schema`, `name` and `description` are required on every kind and on bundles.
#[test]
fn three_fields_are_required() {
    for field in ["schema", "name", "description"] {
        for (path, more) in [
            ("rules/a/RULE.md", ""),
            ("agents/a/AGENT.md", ""),
            ("skills/a/SKILL.md", ""),
            ("a.bundle.md", "items: {}\n"),
        ] {
            let text = with("a", more, "");
            let lines = text.lines().filter(|line| !line.starts_with(field));
            let text: String = lines.flat_map(|line| [line, "\n"]).collect();
            let registry = read(&files(&[(path, &text)]));
            // A skill without a schema is one of the open standard (R19).
            if field == "schema" && path.starts_with("skills") {
                assert_eq!(findings(&registry), ["skills/a/SKILL.md:1 foreign-skill"]);
                continue;
            }
            assert_eq!(findings(&registry), [format!("{path}:1 missing-field")]);
            assert!(the(&registry, "missing-field").message.contains(&format!("`{field}`")));
        }
    }
}

/// I06: fields have their types.
#[test]
fn fields_have_their_types() {
    for more in [
        "audience: claude\n",
        "audience: [{a: b}]\n",
        "metadata: text\n",
        "metadata: [a]\n",
        "license: [MIT]\n",
        "scope: src\n",
        "scope: {paths: src}\n",
        "scope: {paths: [{a: b}]}\n",
        "metadata: {version: [1]}\n",
    ] {
        let more = if more.starts_with("license") {
            let text = format!("---\nschema: 1\nname: a\ndescription: d\n{more}---\n");
            findings_of(&[("rules/a/RULE.md", &text)])
        } else {
            field_findings(ItemKind::Rule, more)
        };
        assert_eq!(more.len(), 1, "{more:?}");
        assert!(more[0].ends_with(" wrong-type"), "{more:?}");
    }
    for (field, value) in [("name", "[a]"), ("description", "{a: b}")] {
        let text = good("a").replace(&format!("{field}: "), &format!("{field}: {value} #"));
        assert!(findings_of(&[("rules/a/RULE.md", &text)])[0].ends_with(" wrong-type"));
    }
}

/// I06: a blank description is none.
#[test]
fn a_blank_description_is_missing() {
    for blank in ["", "\"\"", "\" \"", "~"] {
        let text = good("a").replace("Use when testing", blank);
        assert_eq!(findings_of(&[("rules/a/RULE.md", &text)]), ["rules/a/RULE.md:1 missing-field"]);
    }
}

/// N16: who is listed gets the item; without the list, everyone.
#[test]
fn an_audience_is_who_gets_the_item() {
    let registry = read(&files(&[
        ("rules/a/RULE.md", &with("a", "audience: [claude]\n", "## T\n")),
        ("rules/b/RULE.md", &good("b")),
    ]));
    assert_eq!(findings(&registry), NONE);
    for client in CLIENTS {
        assert_eq!(item(&registry, ItemKind::Rule, "a").is_for(client), client == "claude");
        assert!(item(&registry, ItemKind::Rule, "b").is_for(client));
    }
}

/// R29: no client, or an unknown one, is an error that lists the known ones.
#[test]
fn an_audience_has_known_clients_in_it() {
    assert_eq!(
        field_findings(ItemKind::Rule, "audience: []\n"),
        ["rules/a/RULE.md:6 empty-audience"]
    );
    let text = with("a", "audience:\n  - claude\n  - cursor\n", "## T\n");
    let registry = read(&files(&[("rules/a/RULE.md", &text)]));
    assert_eq!(findings(&registry), ["rules/a/RULE.md:8 unknown-client"]);
    let help = the(&registry, "unknown-client").help.as_ref().unwrap();
    assert!(help.contains("claude, copilot, opencode"));
}

/// N20, N41, N42: metadata is the author's: all of it stays, in its order, and none is required.
#[test]
fn metadata_keeps_unknown_keys_in_their_order() {
    let more =
        "metadata:\n  zeta: {b: [1, two], a: ~}\n  # why\n  alpha: true\n  version: \"1.0.0\"\n";
    let registry = read(&files(&[("rules/a/RULE.md", &with("a", more, "## T\n"))]));
    assert_eq!(findings(&registry), NONE);
    let document = item(&registry, ItemKind::Rule, "a").document();
    let Some(Value::Mapping(metadata)) = document.field("metadata").map(Node::value) else {
        panic!("a mapping")
    };
    let keys: Vec<&str> = metadata.fields().map(brief_syntax::yaml::Field::name).collect();
    assert_eq!(keys, ["zeta", "alpha", "version"]);
    assert!(document.header().unwrap().contains("  # why\n"));
    for more in ["", "metadata:\n", "metadata: {}\n", "metadata: {own: 1}\n"] {
        for kind in ItemKind::ALL {
            assert_eq!(field_findings(kind, more), NONE, "{more:?}");
        }
    }
}

/// N40, R17: a version that YAML takes for a number is a warning with a repair.
#[test]
fn a_version_is_quoted() {
    for version in ["1.0", "1", "2.10"] {
        let more = format!("metadata:\n  version: {version}\n");
        let registry = read(&files(&[("rules/a/RULE.md", &with("a", &more, "## T\n"))]));
        assert_eq!(findings(&registry), ["rules/a/RULE.md:7 unquoted-version"]);
        let found = the(&registry, "unquoted-version");
        assert_eq!(found.help.as_deref(), Some(format!("write `\"{version}\"`").as_str()));
        assert!(found.fix.is_some());
        assert!(registry.items[0].is_valid());
    }
    assert_eq!(field_findings(ItemKind::Rule, "metadata: {version: \"1.0.0\"}\n"), NONE);
}

/// N43.
#[test]
fn a_version_is_semantic() {
    for version in ["\"1\"", "\"1.0\"", "\"v1.0.0\"", "latest", "\"1.0.0.0\""] {
        let more = format!("metadata: {{version: {version}}}\n");
        let found = field_findings(ItemKind::Rule, &more);
        assert_eq!(found, ["rules/a/RULE.md:6 version-not-semver"], "{version}");
    }
    for version in ["\"1.0.0\"", "1.2.3", "\"1.0.0-rc.1+b\""] {
        let more = format!("metadata: {{version: {version}}}\n");
        assert_eq!(field_findings(ItemKind::Rule, &more), NONE, "{version}");
    }
}

/// N21: no patterns, or none that matter, means always.
#[test]
fn a_rule_may_be_scoped() {
    let scope = |more: &str| {
        let registry = read(&files(&[("rules/a/RULE.md", &with("a", more, "## T\n"))]));
        assert_eq!(findings(&registry), NONE, "{more:?}");
        let paths = registry.items[0].scope_paths().into_iter().map(str::to_owned);
        paths.collect::<Vec<String>>()
    };
    assert_eq!(
        scope("scope:\n  paths:\n    - \"src/api/**/*.ts\"\n    - \"src/handlers/**/*.ts\"\n"),
        ["src/api/**/*.ts", "src/handlers/**/*.ts"]
    );
    for always in ["", "scope:\n", "scope: {}\n", "scope: {paths: []}\n", "scope: {paths: }\n"] {
        assert_eq!(scope(always), NONE, "{always:?}");
    }
}

/// R30: patterns are joined by commas for one client.
#[test]
fn a_comma_in_braces_is_warned_of() {
    let more = "scope:\n  paths:\n    - \"src/{a,b}/**\"\n    - \"src/{c}/**\"\n";
    assert_eq!(field_findings(ItemKind::Rule, more), ["rules/a/RULE.md:8 comma-in-pattern"]);
}

/// X12: a comma outside of braces would be two patterns for a client that splits there.
#[test]
fn x12_a_comma_outside_of_braces_is_refused() {
    let more = "scope:\n  paths:\n    - 'src/a,**'\n    - '{b},c'\n";
    let found = field_findings(ItemKind::Rule, more);
    assert_eq!(found, ["rules/a/RULE.md:8 comma-in-pattern", "rules/a/RULE.md:9 comma-in-pattern"]);
}

/// N24: characters are counted after YAML is decoded.
#[test]
fn descriptions_have_1024_characters_at_most() {
    for (letter, width) in [("é", 1), ("\\u00e9", 1), ("😀", 1), ("ab", 2)] {
        let described = |count: usize| {
            let text = format!("\"{}\"", letter.repeat(count / width));
            let text = good("a").replace("Use when testing", &text);
            findings_of(&[("rules/a/RULE.md", &text)])
        };
        assert_eq!(described(1024), NONE, "{letter}");
        assert_eq!(described(1026), ["rules/a/RULE.md:4 description-too-long"], "{letter}");
    }
    let text = good("a").replace("Use when testing", &"a".repeat(1025));
    assert_eq!(
        findings_of(&[("skills/a/SKILL.md", &text)]),
        ["skills/a/SKILL.md:4 description-too-long"]
    );
}

/// N25: of skills, about 200 are enough; others may go on.
#[test]
fn a_long_description_of_a_skill_is_warned_of() {
    for kind in ItemKind::ALL {
        let path = format!("{}/a/{}", kind.folder(), kind.entrypoint());
        let described = |count: usize| {
            findings_of(&[(&path, &good("a").replace("Use when testing", &"a".repeat(count)))])
        };
        assert_eq!(described(200), NONE);
        match kind {
            ItemKind::Skill => {
                assert_eq!(described(201), ["skills/a/SKILL.md:4 long-skill-description"]);
            }
            _ => assert_eq!(described(201), NONE),
        }
    }
}

/// N26, N27: fields of the open standard and unknown ones stay on a skill, with their types.
#[test]
fn a_skill_may_have_other_fields() {
    let more = "allowed-tools: [Read, Bash]\nwhen_to_use: later\ndisable-model-invocation: true\n\
                context: fork\nagent: x\nargument-hint: \"[a]\"\npaths: \"**/*.ts\"\nfoo: {a: 1}\n";
    let registry = read(&files(&[("skills/a/SKILL.md", &with("a", more, "## T\n"))]));
    assert_eq!(findings(&registry), NONE);
    let document = registry.items[0].document();
    assert_eq!(document.field_list("allowed-tools").unwrap(), ["Read", "Bash"]);
    assert_eq!(document.field_text("paths"), Some("**/*.ts"));
    assert!(matches!(document.field("foo").unwrap().value(), Value::Mapping(_)));
}

/// §3.5: "Implementations MUST NOT validate the contents of passthrough blocks". A name that leads to another directory
/// is refused as a path (attack case TRV-007).
#[test]
fn a_clients_own_block_may_say_what_the_item_says() {
    for fields in [
        "copilot: {name: \"Security Reviewer\"}",
        "claude: {name: other}",
        "tools: [read]\nopencode: {permission: {bash: ask}}",
        "tools: [read]\nopencode: {permission: allow}",
        "tools: [read]\nclaude: {tools: [Bash]}",
        "tools: [read]\ncopilot: {tools: [execute]}",
    ] {
        let found = field_findings(ItemKind::Agent, &format!("{fields}\n"));
        assert_eq!(found, NONE, "{fields}");
    }
    let found = field_findings(ItemKind::Rule, "scope: {paths: [a]}\ncopilot: {applyTo: b}\n");
    assert_eq!(found, NONE);
    for name in ["../x", "a/b", "..", "a\\\\b", "/etc/passwd"] {
        let found = field_findings(ItemKind::Agent, &format!("claude: {{name: \"{name}\"}}\n"));
        assert!(found.iter().any(|found| found.ends_with("passthrough-conflict")), "{found:?}");
    }
}

/// §3.2, "Glob patterns": what is not one is reported, and so is what clients read in different ways.
#[test]
fn a_pattern_of_a_scope_is_a_glob() {
    for pattern in ["", " ", "src/[", "a{b", "../x/**", "a/../../b", "!test/**"] {
        let found = field_findings(ItemKind::Rule, &format!("scope: {{paths: [\"{pattern}\"]}}\n"));
        assert!(
            found.iter().any(|found| found.ends_with("invalid-pattern")),
            "{pattern}: {found:?}"
        );
    }
    for pattern in
        ["**", "src/**/*.ts", "*.py", "/src/**", "app/[id]/page.tsx", "a..b/*.md", "**/.env*"]
    {
        let found = field_findings(ItemKind::Rule, &format!("scope: {{paths: [\"{pattern}\"]}}\n"));
        assert_eq!(found, NONE, "{pattern}");
    }
}

/// N36, N39: a client's own block may hold anything else, on every kind and for every client.
#[test]
fn a_clients_own_block_is_never_judged() {
    for kind in ItemKind::ALL {
        for client in CLIENTS {
            for content in [
                "{}",
                "{a: {b: [1, {c: ~}]}}",
                "{tools: 5, mode: nonsense}",
                "text",
                "[1]",
                "~",
                "5",
            ] {
                let found = field_findings(kind, &format!("{client}: {content}\n"));
                assert_eq!(found, NONE, "{client}: {content}");
            }
        }
    }
}

/// N37, N38: a block is there for its own client.
#[test]
fn a_clients_own_block_is_found_by_its_client() {
    let more = "copilot:\n  excludeAgent: code-review\n";
    let registry = read(&files(&[("rules/a/RULE.md", &with("a", more, "## T\n"))]));
    let rule = item(&registry, ItemKind::Rule, "a");
    let Some(Value::Mapping(own)) = rule.passthrough("copilot").map(Node::value) else {
        panic!("a mapping")
    };
    assert_eq!(own.get("excludeAgent").and_then(Node::as_str), Some("code-review"));
    assert!(rule.passthrough("claude").is_none() && rule.passthrough("opencode").is_none());
}

/// R19: a skill of the open standard is taken as it is, with a note.
#[test]
fn a_skill_without_a_schema_is_taken_as_it_is() {
    let body = "# Title\n\n#### Deep\n\n```\nx\n```\n\nUse $ARGUMENTS.\n<!-- @client:claude -->\n";
    let text = format!("---\nname: a\ndescription: d\n---\n{body}");
    let registry = read(&files(&[("skills/a/SKILL.md", &text)]));
    assert_eq!(findings(&registry), ["skills/a/SKILL.md:1 foreign-skill"]);
    let skill = item(&registry, ItemKind::Skill, "a");
    assert!(skill.is_foreign() && skill.is_valid());
    assert_eq!(skill.body_for("claude", &CLIENTS), body);
}

/// U34: a collection of such skills is said to be one, once, and nothing is wrong with it.
#[test]
fn skills_of_the_open_standard_are_noted_once() {
    let skill = "---\nname: a\ndescription: d\n---\n";
    let registry = read(&files(&[
        ("skills/a/SKILL.md", skill),
        ("skills/b/SKILL.md", skill),
        ("skills/ja/a/SKILL.md", skill),
    ]));
    assert_eq!(findings(&registry), ["skills/a/SKILL.md:1 foreign-skill"]);
    let note = the(&registry, "foreign-skill");
    assert_eq!(note.severity, Severity::Note);
    assert!(note.message.starts_with("3 skills"), "{}", note.message);
}

/// R19: it needs a description and a name that can be a file's all the same.
#[test]
fn a_skill_of_the_open_standard_needs_a_description_and_a_name() {
    assert_eq!(
        findings_of(&[("skills/a/SKILL.md", "---\nname: a\n---\n")]),
        ["skills/a/SKILL.md:1 foreign-skill", "skills/a/SKILL.md:1 missing-field"]
    );
    assert_eq!(
        findings_of(&[("skills/A b/SKILL.md", "---\nname: A b\ndescription: d\n---\n")]),
        ["skills/A b/SKILL.md:1 foreign-skill", "skills/A b/SKILL.md:1 invalid-name"]
    );
}

/// R20: two hyphens are a name here, and a warning for skills.
#[test]
fn two_hyphens_in_a_skill_are_warned_of() {
    assert_eq!(findings_of(&[("rules/a--b/RULE.md", &good("a--b"))]), NONE);
    assert_eq!(
        findings_of(&[("skills/a--b/SKILL.md", &good("a--b"))]),
        ["skills/a--b/SKILL.md:3 double-hyphen"]
    );
}
