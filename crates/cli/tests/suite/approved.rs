//! `lint` approves nothing that `add` refuses (P01, P10): one property over made registries, and the cases behind it.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use arbtest::arbitrary::{Result, Unstructured};
use brief_profiles::COMPILED;
use brief_testkit::Sandbox;

use crate::install::{bundle, item, run};
use crate::project;

/// Places of items below a registry.
const PLACES: [&str; 9] =
    ["", "", "", "content/", "teams/web/", ".agents/", "vendor/", "node_modules/x/", "dist/"];

const KINDS: [(&str, &str); 4] =
    [("rules", "RULE"), ("skills", "SKILL"), ("agents", "AGENT"), ("commands", "COMMAND")];

const NAMES: [&str; 6] = ["a", "b-c", "x1", "a--b", "con", "Odd_Name"];

/// Fields beside the required ones.
const FIELDS: [&str; 22] = [
    "",
    "",
    "",
    "",
    "audience: [claude]\n",
    "audience: [cursor, zed]\n",
    "audience: []\n",
    "audience: [claude, acme]\n",
    "metadata:\n  version: \"1.0.0\"\n",
    "metadata:\n  version: 1.0\n",
    "scope:\n  paths: [\"src/**/*.{ts,tsx}\", \"*.md\"]\n",
    "scope:\n  paths: [\"a,b.ts\"]\n",
    "scope:\n  paths: [\"\"]\n",
    "claude:\n  name: Other name\n  x: {y: [1, {z: 2}]}\n",
    "copilot: null\n",
    "opencode:\n  permission: {bash: ask}\n",
    "tools: [read, web-fetch]\n",
    "tools: []\n",
    "mode: primary\nmodel: openai/gpt-5\n",
    "preload-skills: [a]\n",
    "unknown: {a: b}\n",
    "schema: 2\n",
];

/// Parts of bodies.
const PARTS: [&str; 20] = [
    "Text.",
    "### Two\n\n- a\n- b",
    "```text\ncode\n```",
    "<!-- @client:claude -->\n\nOnly one.\n\n<!-- @endclient -->",
    "<!-- @client:!opencode -->\nx\n<!-- @endclient -->",
    "See [a](a%281%29.md), [b](a\\(1\\).md) and [c](<sp ace.md>).",
    "<img src=\"p.png\" alt=\"p\">",
    "<a href='nope.md'>gone</a>",
    "| a | b |\n| - | - |\n| 1 | 2 |",
    "$5 and $1.50",
    "Use $ARGUMENTS.",
    "See @docs/x.md.",
    "a\u{200b}b",
    "Ünïcödé 日本 🎉",
    "Use `mcp__a__b` and `#tool:x`.",
    "a\r\nb",
    "#### Skipped",
    "~~~\nno language\n~~~",
    "&amp; \\# \\*",
    "---\n\nAfter a rule.",
];

/// Files beside an item.
const FILES: [(&str, &[u8]); 24] = [
    ("notes.txt", b"x\n"),
    ("docs/deep/a.md", b"x\n"),
    ("run.sh", b"#!/bin/sh\necho\n"),
    ("p.png", b"\x89PNG\r\n\x1a\n\0\xff"),
    ("both.png", b"\x89PNG\r\n\x1a\n\0\xffPK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
    ("font.otf", b"OTTO\0\0\xff\xfe"),
    ("page.pdf", b"%PDF-1.4\n\xff"),
    ("text.docx", b"PK\x03\x04\xff\0\0"),
    ("all.zip", b"PK\x05\x06\0\0\xff"),
    ("latin.txt", b"caf\xe9\n"),
    ("wide.txt", b"\xff\xfea\0b\0"),
    ("nul.txt", b"a\0b"),
    ("hidden.md", "a\u{200b}b\n".as_bytes()),
    ("turned.md", "a\u{202e}b\n".as_bytes()),
    ("bell.txt", b"a\x07b\n"),
    ("mark.txt", b"\xef\xbb\xbfx\n"),
    ("pointer.bin", b"version https://git-lfs.github.com/spec/v1\noid sha256:x\nsize 1\n"),
    ("lib.so", b"\x7fELF\xff"),
    ("x.pyc", b"abc"),
    ("aux.txt", b"x\n"),
    ("a:b.txt", b"x\n"),
    ("node_modules/m.js", b"1\n"),
    ("vendor/v.js", b"1\n"),
    ("SKILL.md", b"---\nname: nested\ndescription: Nested\n---\nx\n"),
];

/// Files beside the items of a registry.
const OTHERS: [(&str, &str); 16] = [
    ("README.md", "# Registry\n"),
    (".claude/skills/own/SKILL.md", "---\nname: own\ndescription: Use when own\n---\nDo.\n"),
    (".claude/skills/bad/SKILL.md", "---\nname: bad\n---\nDo.\n"),
    (".claude/agents/rev.md", "---\nname: rev\ndescription: Reviews\n---\nYou.\n"),
    (".cursor/rules/r.mdc", "---\nglobs: *.ts\n---\nText\n"),
    (".github/instructions/r.instructions.md", "---\napplyTo: \"**/*.ts\"\n---\nText\n"),
    (".agents/rules/inst/RULE.md", "---\nname: inst\ndescription: d\n---\n\n# inst\n\nx\n"),
    ("skills/foreign/SKILL.md", "---\nname: foreign\ndescription: Use it\n---\n# Foreign\n\nDo.\n"),
    ("skills/silent/SKILL.md", "---\nname: silent\n---\nDo.\n"),
    ("agents/flat.md", "---\nname: flat\ndescription: Flat\n---\nYou are flat.\n"),
    ("commands/go.md", "---\ndescription: Go\n---\nGo $ARGUMENTS.\n"),
    (
        "brief.toml",
        "[clients.acme]\nname = \"Acme\"\n[clients.acme.rule]\npath = \".acme/rules/{name}.md\"\nfiles = \".acme/files/{name}\"\nfields = [{ key = \"description\", from = \"description\" }]\n",
    ),
    (".gitignore", "*.zip\ndist/\n"),
    ("dist/.claude/rules/a.md", "---\nname: a\ndescription: d\n---\n\n# a\n\nx\n"),
    ("plugin/.claude-plugin/plugin.json", "{\"name\": \"plug\", \"description\": \"d\"}"),
    ("rules/RULE.md", "---\nschema: 1\nname: rules\ndescription: d\n---\n\nx\n"),
];

fn write(directory: &Path, below: &str, content: &[u8]) {
    let path = directory.join(below);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Writes a registry: one to three items, mostly good ones, with files beside them and a bundle.
fn make(registry: &Path, bytes: &mut Unstructured<'_>) -> Result<()> {
    let mut names = Vec::new();
    for _ in 0..bytes.int_in_range(1..=3)? {
        let (folder, stem) = *bytes.choose(&KINDS)?;
        let name = *bytes.choose(&NAMES)?;
        let directory = format!("{}{folder}/{name}", bytes.choose(&PLACES)?);
        let field = *bytes.choose(&FIELDS)?;
        let schema = if field.starts_with("schema") { "" } else { "schema: 1\n" };
        let mut body = "\n## One\n".to_owned();
        for _ in 0..bytes.int_in_range(0..=2)? {
            body.push_str(&format!("\n{}\n", bytes.choose(&PARTS)?));
        }
        let entry = format!(
            "---\n{schema}name: {name}\ndescription: Use when testing\nlicense: MIT\n{field}---\n{body}"
        );
        write(registry, &format!("{directory}/{stem}.md"), entry.as_bytes());
        for (below, content) in [
            ("a(1).md", b"x\n".as_slice()),
            ("sp ace.md", b"x\n"),
            ("p.png", b"\x89PNG\r\n\x1a\n\0\xff"),
        ] {
            write(registry, &format!("{directory}/{below}"), content);
        }
        if bytes.ratio(1, 2)? {
            let (below, content) = *bytes.choose(&FILES)?;
            let below =
                if below == "SKILL.md" && stem == "SKILL" { "deep/SKILL.md" } else { below };
            write(registry, &format!("{directory}/{below}"), content);
        }
        if bytes.ratio(1, 6)? {
            let client = *bytes.choose(&["claude", "copilot", "cursor", "acme"])?;
            let own =
                *bytes.choose(&["## Own\n", "---\n---\n\n## Own\n", "", "Use $ARGUMENTS.\n"])?;
            write(registry, &format!("{directory}/{stem}.{client}.md"), own.as_bytes());
        }
        if folder == "rules" {
            names.push(name);
        }
    }
    if bytes.ratio(1, 3)? {
        names.extend(bytes.ratio(1, 5)?.then_some("nope"));
        let place = *bytes.choose(&["base", "bundles/base", ".claude/base", "vendor/x/base"])?;
        let text = bundle("base", "1.0.0", &names, &[]);
        write(
            registry,
            &format!("{place}.bundle.md"),
            text.replace("description:", "license: MIT\ndescription:").as_bytes(),
        );
    }
    if bytes.ratio(1, 3)? {
        let (below, text) = bytes.choose(&OTHERS)?;
        write(registry, below, text.as_bytes());
    }
    Ok(())
}

/// Whatever `lint --strict` passes, `add` installs for every client, from the directory and from its commit; and `sync
/// --frozen` finds it as the lock says.
#[test]
fn what_lint_passes_add_installs_for_every_client() {
    let (tried, passed) = (Cell::new(0), Cell::new(0));
    arbtest::arbtest(|bytes| {
        let project = project().with_dir("registry").with_dir("app/.git");
        let registry = project.path().join("registry");
        make(&registry, bytes)?;
        tried.set(tried.get() + 1);
        if project.run(&["-C", "registry", "lint", "--strict"]).code != Some(0) {
            return Ok(());
        }
        let listed = project.run(&["-C", "registry", "list", ".", "--json"]);
        if listed.code != Some(0) || listed.json()["items"].as_array().unwrap().is_empty() {
            return Ok(());
        }
        passed.set(passed.get() + 1);
        let mut args = vec!["-C", "app", "add", "../registry"];
        args.extend(COMPILED.iter().flat_map(|client| ["--client", client]));
        let output = project.run(&args);
        assert_eq!(output.code, Some(0), "{listed}\n{output}");
        run(&project, &["-C", "app", "sync", "--frozen"]);
        if project.run(&["-C", "registry", "registry", "build", "--out", "built"]).code == Some(1) {
            // Files for single clients are not built.
            return Ok(());
        }
        let again = project.run(&["-C", "registry", "lint", "--strict"]);
        assert!(!again.stdout.contains("[portable/"), "after a build: {again}");
        Ok(())
    })
    .budget_ms(4_000);
    assert!(passed.get() > 0, "none of {} registries passed `lint --strict`", tried.get());
}

fn registry(files: &[(&str, &[u8])]) -> Sandbox {
    let project = project().with_dir("app/.git").with_dir("registry");
    for (path, content) in files {
        write(&project.path().join("registry"), path, content);
    }
    project
}

fn licensed(name: &str, body: &str) -> String {
    item(name, body).replace("schema: 1\n", "schema: 1\nlicense: MIT\n")
}

/// P10: files that stop every consumer are named where their author looks; accepted ones are not.
#[test]
fn files_that_stop_an_installation_are_warnings() {
    let skill = licensed("x", "## X\n\nText.");
    for (name, content, code) in [
        ("text.docx", b"PK\x03\x04\xff\0".as_slice(), "capability/binary"),
        ("all.zip", b"PK\x05\x06\0\xff", "capability/binary"),
        ("lib.so", b"\x7fELF\xff", "capability/binary"),
        ("latin.txt", b"caf\xe9\n", "capability/hidden-text"),
        ("hidden.md", "a\u{200b}b\n".as_bytes(), "capability/hidden-text"),
        ("pointer.bin", b"version https://git-lfs.github.com/spec/v1\n", "item/unreadable"),
    ] {
        let file = format!("skills/x/{name}");
        let project = registry(&[("skills/x/SKILL.md", skill.as_bytes()), (&file, content)]);
        let linted = project.run(&["-C", "registry", "lint", "--strict"]);
        assert_eq!(linted.code, Some(1), "{name}: {linted}");
        assert_eq!(linted.stdout.matches(code).count(), 1, "{name}: {linted}");
        assert!(linted.stdout.contains(name), "{name}: {linted}");
        let added = project.run(&["-C", "app", "add", "../registry"]);
        assert_eq!(added.code, Some(1), "{name}: {added}");
        if code == "capability/binary" {
            let shown = format!("{added}");
            let hash = shown.split("--accept ").nth(1).unwrap().split('`').next().unwrap();
            let accept = format!("[install]\naccept = [\"{hash}\"]\n");
            write(&project.path().join("registry"), "brief.toml", accept.as_bytes());
            run(&project, &["-C", "registry", "lint", "--strict"]);
        }
    }
    // A client shows fonts and pictures, and runs nothing in them.
    for (name, content) in
        [("a.otf", b"OTTO\0\xff".as_slice()), ("p.png", b"\x89PNG\r\n\x1a\n\0\xff")]
    {
        let file = format!("skills/x/{name}");
        let project = registry(&[("skills/x/SKILL.md", skill.as_bytes()), (&file, content)]);
        run(&project, &["-C", "registry", "lint", "--strict"]);
        run(&project, &["-C", "app", "add", "../registry"]);
    }
}

/// A project that offers nothing is not checked as a source.
#[test]
fn skills_of_a_project_are_not_held_to_an_installation() {
    let project = project()
        .with_file(".claude/skills/x/SKILL.md", "---\nname: x\ndescription: Use when x\n---\nDo.\n")
        .with_file(".claude/skills/x/all.zip", b"PK\x05\x06\0\xff");
    let linted = project.run(&["lint", "--strict"]);
    assert_eq!(linted.code, Some(0), "{linted}");
}

/// P11: `lint`, `build`, `list` and `add` agree that directories of dependencies offer no items, and say so. In an item,
/// such a directory is a part of it (§2.4).
#[test]
fn directories_of_dependencies_offer_nothing() {
    let rule = licensed("v", "## V\n\nText.");
    for directory in ["vendor", "node_modules", "a/site-packages", ".venv"] {
        let file = format!("{directory}/rules/v/RULE.md");
        let project = registry(&[(&file, rule.as_bytes())]);
        let linted = project.run(&["-C", "registry", "lint"]);
        assert!(linted.stderr.contains("No problems in 0 files"), "{directory}: {linted}");
        for args in
            [&["-C", "registry", "registry", "build"][..], &["-C", "app", "add", "../registry"]]
        {
            let output = project.run(args);
            assert_eq!(output.code, Some(1), "{directory}: {output}");
            assert!(output.stderr.contains("no items"), "{directory}: {output}");
        }
        let shown = project.run(&["-C", "registry", "list", "."]);
        assert!(shown.stderr.contains("in a directory of dependencies"), "{directory}: {shown}");
    }
    let body = "## X\n\nSee [it](vendor/lib.txt).";
    let project = registry(&[
        ("rules/x/RULE.md", licensed("x", body).as_bytes()),
        ("rules/x/vendor/lib.txt", b"x\n"),
        ("rules/x/node_modules/m/m.txt", b"x\n"),
    ]);
    run(&project, &["-C", "registry", "lint", "--strict"]);
    run(&project, &["-C", "app", "add", "../registry"]);
    run(&project, &["-C", "registry", "registry", "build"]);
    for top in ["app", "registry/dist"] {
        for file in ["vendor/lib.txt", "node_modules/m/m.txt"] {
            assert_eq!(project.read(&format!("{top}/.agents/rules/x/{file}")), "x\n");
        }
    }
}

/// An item may be for a client that its registry describes in `brief.toml`, which its users do not know.
#[test]
fn an_audience_may_name_a_client_of_the_registry() {
    let rule =
        licensed("x", "## X\n\nText.").replace("license", "audience: [claude, acme]\nlicense");
    let project = registry(&[
        ("rules/x/RULE.md", rule.as_bytes()),
        (
            "brief.toml",
            b"[clients.acme]\nname = \"Acme\"\n[clients.acme.rule]\npath = \".acme/{name}.md\"\nfiles = \".acme/files/{name}\"\nfields = [{ key = \"description\", from = \"description\" }]\n",
        ),
    ]);
    run(&project, &["-C", "registry", "lint", "--strict"]);
    run(&project, &["-C", "app", "add", "../registry"]);
    assert!(project.read("app/.claude/rules/x.md").contains("# x"));
}

/// A skill that is shared by many clients stays so with the next `sync`.
#[test]
fn a_shared_skill_stays_where_it_is() {
    let project = registry(&[("skills/x/SKILL.md", licensed("x", "## X\n\nText.").as_bytes())]);
    let mut args = vec!["-C", "app", "add", "../registry"];
    args.extend(COMPILED.iter().flat_map(|client| ["--client", client]));
    run(&project, &args);
    run(&project, &["-C", "app", "sync", "--frozen"]);
    let output = run(&project, &["-C", "app", "sync"]);
    assert!(output.stderr.contains("up to date"), "{output}");
}
