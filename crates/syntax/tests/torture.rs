//! Front matter as people write it: 35 ugly files, and what each of them says.
#![expect(clippy::disallowed_methods, reason = "the files are compared with the folder")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use brief_syntax::diagnostic::apply_safe_fixes;
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::{Node, Value};
use brief_syntax::{Diagnostic, Source};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/torture");

/// The content of a file.
struct Expected {
    file: &'static str,
    /// Fields and their values, lists as `[a, b]` and mappings as `{k: v}`; `None` without a header.
    fields: Option<&'static [(&'static str, &'static str)]>,
    codes: &'static [&'static str],
}

const PLAIN: (&str, &str) = ("description", "A plain description");
const CLEAN: &[&str] = &[];
const REPAIRED: &[&str] = &["frontmatter-repaired"];

/// Reads top to bottom like the folder. The values are what ruling G1 makes of each file.
#[rustfmt::skip]
const FILES: [Expected; 35] = [
    Expected { file: "t01-plain", fields: Some(&[("name", "t01-plain"), PLAIN]), codes: CLEAN },
    Expected { file: "t02-colon", fields: Some(&[("name", "t02-colon"), ("description", "Use when: the user asks")]), codes: REPAIRED },
    // Valid YAML: what follows ` #` is a comment, and G1 parses strictly first.
    Expected { file: "t03-hash", fields: Some(&[("name", "t03-hash"), ("description", "Fix issue")]), codes: CLEAN },
    Expected { file: "t04-star", fields: Some(&[("name", "t04-star"), PLAIN, ("paths", "**/*.ts")]), codes: REPAIRED },
    Expected { file: "t05-bracket-hint", fields: Some(&[("name", "t05-bracket-hint"), PLAIN, ("argument-hint", "[a] | [b]")]), codes: REPAIRED },
    Expected { file: "t06-tools-star", fields: Some(&[("name", "t06-tools-star"), PLAIN, ("tools", "*")]), codes: REPAIRED },
    Expected { file: "t07-quoted-prefix", fields: Some(&[("name", "t07-quoted-prefix"), ("description", "\"quoted\" then more text")]), codes: REPAIRED },
    Expected { file: "t08-dashes-in-desc", fields: Some(&[("name", "t08-dashes-in-desc"), ("description", "one --- two")]), codes: CLEAN },
    Expected { file: "t09-bom", fields: Some(&[("name", "t09-bom"), PLAIN]), codes: CLEAN },
    Expected { file: "t10-crlf", fields: Some(&[("name", "t10-crlf"), PLAIN]), codes: CLEAN },
    Expected { file: "t11-leading-blank", fields: Some(&[("name", "t11-leading-blank"), PLAIN]), codes: CLEAN },
    // Anything but blank lines before the dashes makes them part of the body.
    Expected { file: "t12-comment-first", fields: None, codes: CLEAN },
    Expected { file: "t13-trailing-ws", fields: Some(&[("name", "t13-trailing-ws"), PLAIN]), codes: CLEAN },
    Expected { file: "t14-no-close", fields: None, codes: &["frontmatter-unclosed"] },
    Expected { file: "t15-dup-key", fields: Some(&[("name", "t15-dup-key"), PLAIN]), codes: &["yaml/duplicate-key"] },
    Expected { file: "t16-tab", fields: Some(&[("name", "t16-tab"), ("description", "x"), ("metadata", "{author: me}")]), codes: REPAIRED },
    Expected { file: "t17-anchor", fields: Some(&[("name", "t17-anchor"), ("description", "hello"), ("metadata", "{d: hello}")]), codes: CLEAN },
    Expected { file: "t18-flow-tools", fields: Some(&[("name", "t18-flow-tools"), PLAIN, ("allowed-tools", "[Read, Bash(git:*)]")]), codes: CLEAN },
    Expected { file: "t19-flow-multiline", fields: Some(&[("name", "t19-flow-multiline"), PLAIN, ("allowed-tools", "[Read, Write]")]), codes: CLEAN },
    Expected { file: "t20-numeric-name", fields: Some(&[("name", "12345"), PLAIN]), codes: CLEAN },
    // YAML 1.2: `yes` is a word.
    Expected { file: "t21-bool-desc", fields: Some(&[("name", "t21-bool-desc"), ("description", "yes")]), codes: CLEAN },
    Expected { file: "t22-at", fields: Some(&[("name", "t22-at"), ("description", "@mention start")]), codes: REPAIRED },
    Expected { file: "t23-backtick", fields: Some(&[("name", "t23-backtick"), ("description", "`code` start")]), codes: REPAIRED },
    Expected { file: "t24-percent", fields: Some(&[("name", "t24-percent"), ("description", "%percent start")]), codes: REPAIRED },
    Expected { file: "t25-folded", fields: Some(&[("name", "t25-folded"), ("description", "line one line two")]), codes: CLEAN },
    Expected { file: "t26-plain-multiline", fields: Some(&[("name", "t26-plain-multiline"), ("description", "line one line two continued")]), codes: CLEAN },
    Expected { file: "t27-dots-close", fields: Some(&[("name", "t27-dots-close"), PLAIN]), codes: CLEAN },
    // Ruling G12: names are compared exactly.
    Expected { file: "t28-uppercase-keys", fields: Some(&[("Name", "t28-uppercase-keys"), ("Description", "x")]), codes: CLEAN },
    Expected { file: "t29-latin1", fields: Some(&[("name", "t29-latin1"), ("description", "caf\u{fffd}")]), codes: &["text/not-utf8"] },
    // The text is data here; the code that prints it escapes it (ruling G11).
    Expected { file: "t30-hidden", fields: Some(&[("name", "t30-hidden"), ("description", "ok \u{e0041}\u{e0042} hidden")]), codes: CLEAN },
    Expected { file: "t31-yaml-bomb", fields: Some(&[("name", "t31-yaml-bomb"), PLAIN]), codes: &["yaml/alias-bomb"] },
    Expected { file: "t32-unterminated", fields: Some(&[("name", "t32-unterminated"), ("description", "\"never closed")]), codes: REPAIRED },
    Expected { file: "t33-nospace", fields: Some(&[("name", "t33-nospace"), ("description", "no space")]), codes: REPAIRED },
    Expected { file: "t34-js-fm", fields: None, codes: CLEAN },
    Expected { file: "t35-empty", fields: None, codes: CLEAN },
];

fn source(file: &str) -> Arc<Source> {
    let path = Path::new(FOLDER).join(file).join("SKILL.md");
    let bytes = std::fs::read(&path).expect("the file is in the folder");
    Arc::new(Source::from_bytes(path, bytes))
}

fn show(node: Node<'_>) -> String {
    match node.value() {
        Value::Null => "null".to_owned(),
        Value::Scalar(text) => text.to_owned(),
        Value::Sequence(list) => {
            format!("[{}]", list.iter().map(show).collect::<Vec<_>>().join(", "))
        }
        Value::Mapping(mapping) => {
            let fields = mapping.fields().map(|field| {
                let (key, value) = (show(field.key), show(field.value));
                format!("{key}: {value}")
            });
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Broken(_) => "broken".to_owned(),
    }
}

/// The codes of the diagnostics, each once.
fn codes(front: &FrontMatter) -> Vec<&'static str> {
    let codes: BTreeSet<_> = front.diagnostics.iter().map(Diagnostic::code).collect();
    codes.into_iter().collect()
}

fn assert_fields(front: &FrontMatter, expected: &Expected) {
    let file = expected.file;
    assert_eq!(front.header.is_some(), expected.fields.is_some(), "{file}: the header");
    for (name, value) in expected.fields.unwrap_or_default() {
        let found = front.get(name).map(show);
        assert_eq!(found.as_deref(), Some(*value), "{file}: {name}");
    }
}

/// Every file of the folder is in the table, and the other way round.
#[test]
fn no_file_is_forgotten() {
    let mut names: Vec<String> = std::fs::read_dir(FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, FILES.map(|expected| expected.file.to_owned()));
}

/// Ruling G1: parse strictly; on failure repair line by line, warn, and go on.
#[test]
fn each_file_says_what_its_author_meant() {
    for expected in &FILES {
        let front = FrontMatter::from_source(&source(expected.file));
        assert_fields(&front, expected);
        assert_eq!(codes(&front), expected.codes, "{}", expected.file);
    }
}

/// Ruling G1: the body begins after the closing line, whatever it looks like.
#[test]
fn the_body_begins_after_the_header() {
    for expected in &FILES {
        let source = source(expected.file);
        let body = &source.text()[FrontMatter::from_source(&source).body_start..];
        let wanted = match expected.file {
            "t12-comment-first" => "<!-- gen -->",
            "t14-no-close" | "t34-js-fm" => "---",
            "t35-empty" => "",
            "t09-bom" | "t10-crlf" | "t11-leading-blank" | "t13-trailing-ws" | "t27-dots-close"
            | "t28-uppercase-keys" | "t29-latin1" => "x",
            _ => "# Body",
        };
        assert!(body.trim_start().starts_with(wanted), "{}: {body:?}", expected.file);
    }
}

/// Ruling G1: `lint --fix` writes the quotes. The repaired file reads clean, with the same values.
#[test]
fn the_fix_makes_the_file_valid_and_changes_no_value() {
    for expected in FILES.iter().filter(|expected| expected.codes == REPAIRED) {
        let source = source(expected.file);
        let front = FrontMatter::from_source(&source);
        let fixed = apply_safe_fixes(source.text(), &front.diagnostics);
        assert_eq!(fixed.applied, front.diagnostics.len(), "{}", expected.file);
        let again =
            FrontMatter::from_source(&Arc::new(Source::new(source.path(), fixed.text.clone())));
        assert_eq!(codes(&again), CLEAN, "{}: {}", expected.file, fixed.text);
        assert_fields(&again, expected);
        let body = &source.text()[front.body_start..];
        assert_eq!(&fixed.text[again.body_start..], body, "{}: the body", expected.file);
    }
}

/// Diagnostics that come without a sure repair leave the file as it is.
#[test]
fn what_cannot_be_repaired_is_not_touched() {
    for expected in FILES.iter().filter(|expected| expected.codes != REPAIRED) {
        let source = source(expected.file);
        let front = FrontMatter::from_source(&source);
        let fixed = apply_safe_fixes(source.text(), &front.diagnostics);
        assert_eq!((fixed.applied, fixed.text.as_str()), (0, source.text()), "{}", expected.file);
    }
}

/// A diagnostic says where: the line of the field that was repaired.
#[test]
fn a_repair_names_its_line() {
    for (file, line) in [("t02-colon", 3), ("t04-star", 4), ("t16-tab", 5), ("t33-nospace", 3)] {
        let front = FrontMatter::from_source(&source(file));
        assert_eq!(front.diagnostics[0].position().line, line, "{file}");
    }
}
