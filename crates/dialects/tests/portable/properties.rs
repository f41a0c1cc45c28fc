//! Properties that hold for any text.

use arbtest::arbitrary::{Result, Unstructured};
use brief_dialects::portable::{CLIENTS, Registry, directives};
use brief_syntax::diagnostic::apply_safe_fixes;

use super::support::{files, read, shown, with};

/// Lines of front matter, good and bad.
const FIELDS: [&str; 26] = [
    "schema: 1",
    "schema: 2",
    "schema: \"1\"",
    "name: a",
    "name: Bad_Name",
    "description: Use when: asked",
    "description: >-",
    "  folded",
    "audience: [claude]",
    "audience: []",
    "audience:",
    "  - cursor",
    "metadata:",
    "  version: 1.0",
    "  version: &v 2",
    "metadata: {version: 3.1}",
    "metadata: {version: 1.0, other: *v}",
    "scope: {paths: [\"{a,b}\"]}",
    "globs: **/*.ts",
    "mode: main",
    "tools: [Read, read]",
    "preload-skills: [x]",
    "items: {rules: [a]}",
    "requires: [b, {name: c, version: 1}]",
    "- item",
    "\tkey: [",
];

/// Lines of bodies, good and bad.
const LINES: [&str; 32] = [
    "",
    "# One",
    "## Two",
    "### Three",
    "###### Six",
    "One",
    "===",
    "---",
    "```",
    "```  ",
    "~~~",
    "````",
    "```sh",
    "- item",
    "  ```",
    "> ```",
    "> # One",
    "- # One",
    "1. ```",
    "    indented",
    "<!-- @client:claude -->",
    "<!-- @client:!claude,copilot -->",
    "<!-- @client:cursor -->",
    "<!-- @endclient -->",
    "<!-- @end-client -->",
    "<!--",
    "-->",
    "Use $1, @docs/a.md and #tool:x",
    "[a](./b.md) [c](../d)",
    "Use the `Read` tool; mcp__a__b",
    "| a | b |",
    "<details>",
];

fn lines(bytes: &mut Unstructured<'_>, choices: &[&str], odd: bool) -> Result<String> {
    let mut text = String::new();
    for _ in 0..bytes.int_in_range(0..=12)? {
        if odd && bytes.ratio(1, 8)? {
            text.push_str(bytes.arbitrary::<&str>()?);
        } else {
            text.push_str(bytes.choose(choices)?);
        }
        text.push_str(if bytes.ratio(1, 16)? { "\r\n" } else { "\n" });
    }
    Ok(text)
}

/// A file: any text, or fields and a body that are almost right.
fn document(bytes: &mut Unstructured<'_>) -> Result<String> {
    if bytes.ratio(1, 8)? {
        return bytes.arbitrary();
    }
    let lead = if bytes.ratio(1, 16)? { "\u{feff}" } else { "" };
    let fields = if bytes.ratio(1, 2)? { "schema: 1\nname: a\ndescription: d\n" } else { "" };
    let fields = format!("{fields}{}", lines(bytes, &FIELDS, true)?);
    let body = lines(bytes, &LINES, true)?;
    Ok(format!("{lead}---\n{fields}---\n\n{body}"))
}

fn places_are_inside(registry: &Registry) {
    for found in registry.all_diagnostics() {
        let text = found.source.text();
        assert!(text.get(found.span.range()).is_some(), "{found:?}");
        for edit in found.fix.iter().flat_map(|fix| &fix.edits) {
            assert!(text.get(edit.span.range()).is_some(), "{found:?}");
        }
    }
}

/// Any text is read, and every place is in it.
#[test]
fn any_text_is_read_and_every_place_is_in_it() {
    arbtest::arbtest(|bytes| {
        let text = document(bytes)?;
        let own = lines(bytes, &LINES, true)?;
        let registry = read(&files(&[
            ("rules/a/RULE.md", &text),
            ("rules/a/RULE.claude.md", &own),
            ("skills/a/SKILL.md", &text),
            ("agents/a/AGENT.md", &text),
            ("a.bundle.md", &text),
            ("b.bundle.yaml", &text),
        ]));
        assert_eq!((registry.items.len(), registry.bundles.len()), (3, 2));
        places_are_inside(&registry);
        for item in &registry.items {
            for client in CLIENTS {
                item.body_for(client, &CLIENTS);
            }
        }
        Ok(())
    });
}

/// The problems of an item do not depend on unrelated items.
#[test]
fn an_unrelated_item_changes_nothing() {
    arbtest::arbtest(|bytes| {
        let (mine, other) = (document(bytes)?, document(bytes)?);
        let of = |registry: &Registry| -> Vec<String> {
            let item = registry.items.iter().find(|item| item.slashed() == "rules/a").unwrap();
            item.diagnostics()
                .iter()
                .map(|found| format!("{} {}", shown(found), found.message))
                .collect()
        };
        let alone = read(&files(&[("rules/a/RULE.md", &mine)]));
        for path in [
            "rules/b/RULE.md",
            "skills/a/SKILL.md",
            "x/agents/a/AGENT.md",
            "z.bundle.md",
            "rules/RULE.md",
        ] {
            let both = read(&files(&[("rules/a/RULE.md", &mine), (path, &other)]));
            assert_eq!(of(&both), of(&alone), "{path}");
        }
        Ok(())
    });
}

/// Repairs until nothing changes; returns the text.
fn repaired(path: &str, text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..64 {
        let registry = read(&files(&[(path, &text)]));
        let fixed = apply_safe_fixes(&text, registry.all_diagnostics());
        if fixed.applied == 0 {
            return text;
        }
        assert_ne!(fixed.text, text, "a repair changes something");
        text = fixed.text;
    }
    panic!("repairs go in a circle: {text:?}");
}

/// A repair makes its finding go away, and a repaired file needs none.
#[test]
fn repairs_end_what_they_are_for() {
    arbtest::arbtest(|bytes| {
        let text = document(bytes)?;
        for path in ["rules/a/RULE.md", "a.bundle.md", "a.bundle.yaml"] {
            let fixed = repaired(path, &text);
            assert_eq!(repaired(path, &fixed), fixed);
            let left = read(&files(&[(path, &fixed)]));
            for code in ["item/unquoted-version", "item/fence-language"] {
                let found = left.all_diagnostics().find(|found| found.code() == code);
                assert!(found.is_none(), "{code} is still in {fixed:?}");
            }
        }
        Ok(())
    });
}

/// One repair of one finding, alone, makes that finding go away and brings no other error.
#[test]
fn a_repair_alone_brings_no_error() {
    arbtest::arbtest(|bytes| {
        let body = lines(bytes, &LINES, false)?;
        let text = with("a", "metadata:\n  version: 1.0\n", &body);
        let count = |text: &str, code: &str| {
            let registry = read(&files(&[("rules/a/RULE.md", text)]));
            registry.all_diagnostics().filter(|found| found.code() == code).count()
        };
        let registry = read(&files(&[("rules/a/RULE.md", &text)]));
        for found in registry.all_diagnostics().filter(|found| found.fix.is_some()) {
            let fixed = apply_safe_fixes(&text, [found]).text;
            let (before, after) = (count(&text, found.code()), count(&fixed, found.code()));
            assert!(after < before, "{} before {text:?} after {fixed:?}", found.code());
        }
        Ok(())
    });
}

/// For no client are lines left that are directives, nor two blank lines where a block was.
#[test]
fn no_directive_is_left() {
    arbtest::arbtest(|bytes| {
        let mut body = String::new();
        for _ in 0..bytes.int_in_range(0..=6)? {
            body.push_str(bytes.choose(&["a\n", "a\n\n", "b\n\n", "```sh\nx\n\n\ny\n```\n\n"])?);
            let client = bytes.choose(&["claude", "copilot", "!opencode", "claude,opencode"])?;
            let inner = bytes.choose(&["", "x\n", "\nx\n\n", "- x\n", "\n"])?;
            body.push_str(&format!("<!-- @client:{client} -->\n{inner}<!-- @endclient -->\n"));
            body.push_str(bytes.choose(&["", "\n", "c\n", "\nc\n"])?);
        }
        assert!(directives::parse_directives(&body, &CLIENTS).problems.is_empty());
        for client in CLIENTS {
            let rendered = directives::render_client_body(&body, client, &CLIENTS);
            assert!(!rendered.contains("<!--"), "{rendered:?}");
            let prose = rendered.replace("x\n\n\ny", "");
            assert!(!prose.contains("\n\n\n") && !prose.starts_with('\n'), "{rendered:?}");
        }
        Ok(())
    });
}
