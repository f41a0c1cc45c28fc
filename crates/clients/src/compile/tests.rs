//! The YAML writer: readers of either version get what was written.

use std::path::Path;
use std::sync::Arc;

use brief_dialects::portable::{self, CAPABILITIES, ItemKind};
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::{Node, Value as Read, Yaml};
use brief_syntax::{Root, Severity, Source};
use brief_system::MemorySystem;

use super::fields;
use super::yaml::{Map, YamlValue, merge_maps, of_node, render_yaml};
use super::{Compiled, OutputContent, compile_item};
use crate::profile::{FieldValue, From, ProfileOptions, Profiles, Shape};

fn written(text: &str) -> String {
    let line = render_yaml(&vec![(YamlValue::from_text("k"), YamlValue::from_text(text))]);
    line.strip_prefix("k: ").unwrap().strip_suffix('\n').unwrap().to_owned()
}

#[test]
fn texts_are_quoted_only_when_they_must_be() {
    for plain in [
        "word",
        "Use when reviewing code, or not",
        "src/api/**/*.ts",
        "a:b",
        "a#b",
        "it's",
        "say \"hi\"",
        "Bash(git *) Read",
        "3 ways to do it",
        "https://example.com",
        "é ü 漢字",
        "v1.2",
        "yes, please",
    ] {
        assert_eq!(written(plain), plain);
    }
    for quoted in [
        "", " a", "a ", "a: b", "a #b", "a:", "- a", "-a", "? a", "*", "**", "&a", "!a", "|", ">",
        "%a", "@a", "`a`", "[a]", "{a}", ",a", "#a", "'a'",
    ] {
        assert_eq!(written(quoted), format!("\"{quoted}\""));
    }
    assert_eq!(written("\"a\""), "'\"a\"'");
    assert_eq!(written("a: 'b' \\ \"c\""), "'a: ''b'' \\ \"c\"'");
    assert_eq!(written("a\nb\t\u{7}\u{2028}\"\\"), "\"a\\nb\\t\\u0007\\u2028\\\"\\\\\"");
}

/// The words of the type repository of YAML 1.1, and of the core schema of 1.2.
#[test]
fn what_is_no_text_to_somebody_is_quoted() {
    for word in [
        "~",
        "null",
        "Null",
        "NULL",
        "true",
        "True",
        "TRUE",
        "false",
        "yes",
        "Yes",
        "YES",
        "no",
        "on",
        "On",
        "off",
        "OFF",
        "y",
        "Y",
        "n",
        "N",
        "<<",
        "=",
        "...",
        "1",
        "+1",
        "-1",
        "0",
        "010",
        "0o10",
        "0x1F",
        "0b11",
        "1_000",
        "190:20:30",
        "1:30",
        "1.5",
        "1e3",
        ".5",
        "-.5",
        "1.",
        "6.8523015e+5",
        ".inf",
        "-.Inf",
        "+.INF",
        ".nan",
        ".NaN",
        "2026-01-01",
        "12:30:45",
        "2001-12-14t21:59:43.10-05:00",
        "2001-12-14 21:59:43.10 -5",
    ] {
        assert_eq!(written(word), format!("\"{word}\""));
    }
}

fn handed_on(text: &str) -> String {
    let yaml = Yaml::parse(text);
    match of_node(yaml.root().unwrap()) {
        YamlValue::Map(fields) => render_yaml(&fields),
        other => panic!("{other:?}"),
    }
}

/// N26: types stay, also where the two versions of YAML write them differently.
#[test]
fn values_keep_their_types() {
    for (given, expected) in [
        ("0.2", "0.2"),
        ("7", "7"),
        ("-7", "-7"),
        ("+7", "7"),
        ("007", "7"),
        ("0o17", "15"),
        ("0x1f", "31"),
        ("1e3", "1.0e+3"),
        ("-.5E-1", "-0.5e-1"),
        ("1.", "1.0"),
        (".inf", ".inf"),
        ("-.INF", "-.inf"),
        (".NaN", ".nan"),
        ("True", "true"),
        ("~", "null"),
        ("'7'", "\"7\""),
        ("\"true\"", "\"true\""),
        ("yes", "\"yes\""),
        ("1_000", "\"1_000\""),
        ("2026-01-01", "\"2026-01-01\""),
        ("1.2.3", "\"1.2.3\""),
        ("e3", "e3"),
        ("-", "\"-\""),
        ("[]", "[]"),
        ("{}", "{}"),
    ] {
        let line = if given == "-" { "k: '-'".to_owned() } else { format!("k: {given}") };
        assert_eq!(handed_on(&line), format!("k: {expected}\n"), "{given}");
    }
}

#[test]
fn aliases_are_written_out_and_merges_are_followed() {
    let text = "base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\nlist: [*b]\n";
    assert_eq!(
        handed_on(text),
        "base:\n  x: 1\n  \"y\": 2\nuse:\n  \"y\": 3\n  x: 1\nlist:\n  - x: 1\n    \"y\": 2\n"
    );
}

/// Deeply nested aliases come to an end.
#[test]
fn nesting_by_aliases_ends() {
    let mut text = String::from("a0: &a0 x\n");
    for level in 1..2000 {
        text.push_str(&format!("a{level}: &a{level} [[*a{}]]\n", level - 1));
    }
    let yaml = Yaml::parse(&text);
    if let Some(root) = yaml.root() {
        let _ = of_node(root);
    }
}

#[test]
fn merging_is_deep_for_mappings_only() {
    let map = |text: &str| match of_node(Yaml::parse(text).root().unwrap()) {
        YamlValue::Map(fields) => fields,
        other => panic!("{other:?}"),
    };
    let mut under = map("a: 1\nm: {x: 1, l: [1, 2], s: {t: 1}}\nb: {c: 1}\n");
    merge_maps(&mut under, map("z: 0\nm: {l: [3], w: 2, s: {u: 2}}\na: 2\nb: text\n"));
    let expected: Map = map("a: 2\nm: {x: 1, l: [3], s: {t: 1, u: 2}, w: 2}\nb: text\nz: 0\n");
    assert_eq!(under, expected);
}

fn same(node: Node<'_>, value: &YamlValue) -> bool {
    match (node.value(), value) {
        (Read::Scalar(text), YamlValue::Text(expected)) => {
            text == expected && (!node.is_plain() || of_node(node) == *value)
        }
        (Read::Sequence(list), YamlValue::List(expected)) => {
            list.len() == expected.len()
                && list.iter().zip(expected).all(|(node, value)| same(node, value))
        }
        (Read::Mapping(fields), YamlValue::Map(expected)) => {
            let fields = fields.effective_fields();
            fields.len() == expected.len()
                && fields
                    .iter()
                    .zip(expected)
                    .all(|(field, (key, value))| same(field.key, key) && same(field.value, value))
        }
        _ => false,
    }
}

/// Any written value reads back unchanged.
#[test]
fn anything_survives_being_written() {
    fn any(
        bytes: &mut arbtest::arbitrary::Unstructured<'_>,
        depth: usize,
    ) -> arbtest::arbitrary::Result<YamlValue> {
        const WORDS: [&str; 20] = [
            "a", " ", ":", "#", "-", "\n", "'", "\"", "\\", "1", "e", "_", ".", "yes", "é",
            "\u{85}", "\t", "*", "\u{feff}", "~",
        ];
        Ok(match bytes.int_in_range(0..=if depth == 0 { 0 } else { 3 })? {
            1 => YamlValue::List(
                (0..bytes.int_in_range(0..=3)?)
                    .map(|_| any(bytes, depth - 1))
                    .collect::<Result<_, _>>()?,
            ),
            2 => {
                let mut fields: Map = Vec::new();
                for index in 0..bytes.int_in_range(0..=3)? {
                    let key = format!("{}{index}", bytes.choose(&WORDS)?);
                    fields.push((YamlValue::from_text(key), any(bytes, depth - 1)?));
                }
                YamlValue::Map(fields)
            }
            _ => {
                let mut text = String::new();
                for _ in 0..bytes.int_in_range(0..=6)? {
                    text.push_str(bytes.choose(&WORDS)?);
                }
                YamlValue::Text(text)
            }
        })
    }
    arbtest::arbtest(|bytes| {
        let fields: Map = vec![
            (YamlValue::from_text("k"), any(bytes, 3)?),
            (YamlValue::from_text("end"), YamlValue::from_text("x")),
        ];
        let text = render_yaml(&fields);
        let yaml = Yaml::parse(&text);
        assert!(yaml.problems().is_empty(), "{text}{:?}", yaml.problems());
        assert!(same(yaml.root().unwrap(), &YamlValue::Map(fields)), "{text}");
        Ok(())
    });
}

/// Compiles the only item of a registry for a client, and returns the front matter of its output.
fn compiled_for(client: &str, path: &str, text: &str) -> (Compiled, FrontMatter) {
    let system = MemorySystem::new("/r").with_file(path, text);
    let root = Root::open(&system, Path::new("/r")).unwrap();
    let profiles = Profiles::builtin();
    let clients = profiles.ids();
    let registry = portable::read_registry(&system, &root, &clients);
    let profile = profiles.get(client).unwrap();
    let compiled = compile_item(&registry.items[0], profile, &ProfileOptions::default(), &clients);
    let OutputContent::Text(text) = &compiled.files[0].content else { panic!("{client}: no text") };
    let front = FrontMatter::from_source(&Arc::new(Source::new("out.md", text.as_str())));
    (compiled, front)
}

/// X12: Copilot splits `applyTo` at commas, so no pattern may contain one: alternatives become patterns, and
/// a pattern that cannot be split matches no file instead of all.
#[test]
fn x12_a_comma_in_a_pattern_widens_nothing() {
    for (pattern, expected) in [
        ("src/{a,**}/x.ts", "src/a/x.ts,src/**/x.ts"),
        ("{a,{b,c}d}/e{f}", "a/e{f},bd/e{f},cd/e{f}"),
        ("src/**", "src/**"),
        ("src/a[,]**", "!**"),
        ("{a,**", "!**"),
    ] {
        let text = format!(
            "---\nschema: 1\nname: r\ndescription: d\nscope:\n  paths:\n    - '{pattern}'\n---\n\nText.\n"
        );
        let (compiled, front) = compiled_for("copilot", "rules/r/RULE.md", &text);
        assert_eq!(front.get("applyTo").and_then(Node::as_str), Some(expected), "{pattern}");
        let is_refused = compiled.diagnostics.iter().any(|found| found.severity == Severity::Error);
        assert_eq!(is_refused, expected == "!**", "{pattern}");
    }
}

/// X12: some clients take patterns without quotes, and YAML would widen the meaning of a few. Those get
/// quotes, with which the rule matches no file of such a client.
#[test]
fn x12_a_bare_pattern_is_nothing_else_in_yaml() {
    let written = |pattern: &str| {
        let text = render_yaml(&vec![(
            YamlValue::from_text("globs"),
            fields::shape_parts(&[pattern], Shape::Bare),
        )]);
        text.strip_prefix("globs: ").and_then(|rest| rest.strip_suffix('\n')).unwrap().to_owned()
    };
    for bare in ["**/*.ts", "*", "src/**", "[a-z]/*.ts", "a#b", "src/{a}/x", "123"] {
        assert_eq!(written(bare), bare);
    }
    for wider in [
        "'**'",
        "\"**\"",
        "[\"**\"]",
        "[src]",
        "{src}",
        "&a src/**",
        "!t **",
        "!",
        "|",
        ">",
        "src/** #.ts",
        "src\u{2028}globs: x",
        "`**`",
    ] {
        let line = written(wider);
        let is_quoted = line.starts_with('"') || line.starts_with('\'');
        assert!(is_quoted && line != wider, "{wider:?} is written as {line}");
    }
}

/// R6: an agent that lists its tools never gets an unlisted one, for any client, even if the client has no
/// name for some.
#[test]
fn r6_dropped_tools_never_widen_access() {
    let profiles = Profiles::builtin();
    for chosen in 0..1_u32 << CAPABILITIES.len() {
        let listed: Vec<&str> = CAPABILITIES
            .iter()
            .enumerate()
            .filter(|(index, _)| chosen >> index & 1 == 1)
            .map(|(_, capability)| capability.0)
            .collect();
        let text = format!(
            "---\nschema: 1\nname: a\ndescription: d\ntools: [{}]\n---\n\nText.\n",
            listed.join(", ")
        );
        for profile in profiles.iter() {
            let Some(layout) = profile.layout(ItemKind::Agent) else { continue };
            let rule = layout
                .fields
                .iter()
                .find(|rule| matches!(rule.value, FieldValue::Item { from: From::Tools, .. }));
            let Some(rule) = rule else { continue };
            let (_, front) = compiled_for(profile.id(), "agents/a/AGENT.md", &text);
            let node = front.get(&rule.key);
            let node =
                node.unwrap_or_else(|| panic!("{}: no tools means all: {text}", profile.id()));
            let granted: Vec<&str> = match node.value() {
                Read::Scalar(text) => text.split(',').filter(|tool| !tool.is_empty()).collect(),
                Read::Sequence(list) => list.iter().filter_map(Node::as_str).collect(),
                Read::Mapping(fields) => fields
                    .fields()
                    .filter(|field| field.value.as_str() == Some("allow"))
                    .map(brief_syntax::yaml::Field::name)
                    .collect(),
                _ => panic!("{}: no list means all: {text}", profile.id()),
            };
            for tool in granted {
                let is_listed =
                    |name: &&&str| profile.tools.get(**name).is_some_and(|own| own == tool);
                assert!(
                    listed.iter().any(|name| is_listed(&name)),
                    "{}: {tool}: {text}",
                    profile.id()
                );
            }
        }
    }
}
