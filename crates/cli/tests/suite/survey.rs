//! A whole project from above: `brief tokens`, `brief tokens --tree`, `brief coverage`.

use brief_testkit::Sandbox;
use serde_json::{Value, json};

use crate::{project, shop};

/// The shop in a repository, with something that nothing is for and something for nothing.
fn repository() -> Sandbox {
    shop()
        .with_dir(".git")
        .with_file("docs/a.md", "")
        .with_file("src/vendor/b.py", "")
        .with_file("src/templates/c.html", "")
}

/// A repository whose guidance leaves gaps.
fn gaps() -> Sandbox {
    let yaml = "context:
  - {content: Python, match: ['src/*.py']}
  - {content: Dead, match: ['lib/**', 'src/*.py']}
  - {content: Idle, match: ['src/*.py'], exclude: ['src/**']}
  - {content: Broken, when: sometimes}
";
    let mut project = project().with_file("AGENTS.yaml", yaml).with_dir(".git");
    for name in ["a.py", "b.md", "c.md"] {
        project = project.with_file(&format!("src/{name}"), "");
    }
    project.with_file("docs/x/y.md", "").with_file("docs/z.md", "")
}

/// With a path: what is delivered, in its order.
#[test]
fn tokens_of_a_path() {
    insta::assert_snapshot!(repository().run(&["tokens", "src/cart.py"]), @"
       ~3  ███         AGENTS.yaml:3  context[0]
      ~13  ██████████  AGENTS.yaml:4  context[1]
       ~4  ████        AGENTS.yaml:9  context[2]
       ~7  ██████      src/AGENTS.yml:2  context[0]

    by format
      ~27  ██████████  agents-yaml  4 items
    ------- stderr -------
    ~27 tokens in 4 items
    [EOF]
    ");
    let context = repository().run(&["context", "src/cart.py", "--json"]).json();
    let tokens = repository().run(&["tokens", "src/cart.py", "--json"]).json();
    assert_eq!(tokens["tokens"], context["tokens"]);
    assert_eq!(
        tokens["items"].as_array().unwrap().len(),
        context["items"].as_array().unwrap().len()
    );
    insta::assert_snapshot!(project().run(&["tokens", "a.py"]), @"
    ------- stderr -------
    warning: no guidance found for a.py
    warning: `$PROJECT` is not in a git repository, so parent directories are not read
    hint: run `brief init` to create an AGENTS.yaml
    [EOF]
    ");
}

/// Without a path: the whole repository.
#[test]
fn tokens_of_a_project() {
    insta::assert_snapshot!(repository().run(&["tokens"]), @"
    most expensive
      ~13  ██████████  AGENTS.yaml:4  context[1], for 2 files
       ~7  ██████      src/AGENTS.yml:2  context[0], for 1 file
       ~5  ████        src/AGENTS.yml:6  context[1], for directories
       ~4  ████        AGENTS.yaml:9  context[2], for 3 files
       ~3  ███         AGENTS.yaml:3  context[0], for 7 files

    by format
      ~32  ██████████  agents-yaml  5 items

    by directory, and what a file there gets
      ~20  ██████████  .  3 items, ~3 to ~27
      ~12  ██████      src/  2 items, ~7 to ~27

    by client: what it has and what is missing
      ~0              ~32 missing  aider, amp, antigravity, augment, claude, cline, codex, continue, copilot, copilot-cli, copilot-vscode, crush, cursor, droid, gemini, goose, junie, kilo, kiro, opencode, openhands, pi, qwen, roo, trae, warp, windsurf, zed
    ------- stderr -------
    ~32 tokens in 5 items for 7 files
    [EOF]
    ");
    let exact = repository().run(&["tokens", "--exact", "--client", "claude"]);
    assert!(!exact.stdout.contains('~') && exact.stdout.contains("claude"), "{exact}");
    assert!(!exact.stdout.contains("copilot"), "{exact}");
    insta::assert_snapshot!(project().run(&["tokens"]), @"
    ------- stderr -------
    warning: no guidance files found
    warning: `$PROJECT` is not in a git repository, so parent directories are not read
    [EOF]
    ");
}

/// From a directory further down, it is still the repository.
#[test]
fn a_repository_is_seen_from_anywhere_in_it() {
    let repository = repository();
    for args in
        [&["tokens", "--json"][..], &["tokens", "--tree", "--json"], &["coverage", "--json"]]
    {
        let below = repository.run_in("src", args, "");
        assert_eq!(below, repository.run(args), "{args:?}");
    }
}

/// Every dialect, and what each client loads by itself.
#[test]
fn every_dialect_is_seen_from_above() {
    let project = project()
        .with_dir(".git")
        .with_file("AGENTS.md", "Use tabs.\n")
        .with_file("CLAUDE.md", "Use tabs.\n")
        .with_file(".claude/rules/lib.md", "---\npaths: ['lib/**']\n---\nThe library.\n")
        .with_file(".context/py.md", "---\ntrigger: auto\nglobs: 'src/*.py'\n---\nPython.\n")
        .with_file(".context/notes.txt", "Only when asked.\n")
        .with_file("src/AGENTS.yaml", "context:\n  - content: Here.\n")
        .with_file("src/a.py", "")
        .with_file("b.txt", "");
    insta::assert_snapshot!(project.run(&["tokens"]), @"
    most expensive
      ~4  ██████████  .claude/rules/lib.md:4  lib, for 0 files
      ~3  ████████    AGENTS.md:1  AGENTS, for 8 files
      ~3  ████████    CLAUDE.md:1  CLAUDE, for 8 files
      ~2  █████       .context/py.md:5  py, for 1 file
      ~2  █████       src/AGENTS.yaml:2  context[0], for 2 files
      ~0              .context/notes.txt:1  notes, ~4 when mentioned

    by format
      ~7  ██████████  client-files  2 items
      ~2  ███         agents-yaml  1 item
      ~2  ███         context-dir  2 items

    by directory, and what a file there gets
      ~12  ██████████  .  5 items, ~3 to ~7
       ~2  ██          src/  1 item, ~5 to ~7

    by client: what it has and what is missing
      ~0              ~11 missing  aider, antigravity, gemini, trae
      ~3  █████       ~3 loaded, ~8 missing  amp, claude, cline, codex, continue, goose, junie, kilo, kiro, opencode, openhands, pi, qwen, roo, warp, windsurf, zed
      ~6  ██████████  ~6 loaded, ~8 missing  augment, copilot, copilot-cli, copilot-vscode, crush, cursor, droid
    ------- stderr -------
    ~11 tokens in 6 items for 8 files
    [EOF]
    ");
    insta::assert_snapshot!(project.run(&["tokens", "--tree"]), @"
    .  ~12
      ~3  AGENTS.md:1  AGENTS, client-files instructions, always
      ~3  CLAUDE.md:1  CLAUDE, client-files instructions, always
      ~0  .context/notes.txt:1  notes, context-dir context, manual  (~4 when mentioned)
      ~2  .context/py.md:5  py, context-dir context, auto
      ~4  .claude/rules/lib.md:4  lib, client-files rule, glob
      src/  ~2
        ~2  src/AGENTS.yaml:2  context[0], agents-yaml context, match **
    ------- stderr -------
    2 directories, 6 items, ~11 tokens (~14 with duplicates)
    [EOF]
    ");
    insta::assert_snapshot!(project.run(&["coverage", "--client", "claude"]), @r#"
    patterns that match nothing
      .claude/rules/lib.md:2  paths: "lib/**" matches no file in the project

    items that never apply
      .claude/rules/lib.md:4  lib: applies to no file or directory in the project
    ------- stderr -------
    2 findings; 0 of 8 files without guidance
    [EOF]
    "#);
}

/// Every key, in its order.
#[test]
fn tokens_as_json() {
    let json = repository().run(&["tokens", "--client", "claude", "--json"]);
    let keys =
        ["root", "path", "client", "exact", "items", "formats", "directories", "clients", "tokens"];
    assert_keys(&json.stdout, "  ", &keys);
    let json = json.json();
    assert_eq!(
        json["items"][0],
        json!({
            "format": "agents-yaml", "kind": "context", "name": "context[1]",
            "source": {"path": "AGENTS.yaml", "line": 4}, "scope": "project",
            "trigger": null, "state": "active", "patterns": ["**/*.py"], "directory": "",
            "files": 2, "tokens": 13
        })
    );
    assert_eq!(
        json["directories"][1],
        json!({"path": "src", "items": 2, "tokens": 12, "files": 4, "least": 7, "most": 27})
    );
    assert_eq!(
        json["clients"],
        json!([{"client": "claude", "loaded": 0, "listed": 0, "delivered": 0, "missing": 32}])
    );
    assert_eq!(json["tokens"], 32);
}

/// The keys of an answer, inside of the envelope.
fn assert_keys(text: &str, margin: &str, keys: &[&str]) {
    let found = text.lines().filter_map(|line| line.strip_prefix(margin)?.strip_prefix('"'));
    let found: Vec<&str> = found.filter_map(|line| line.split('"').next()).collect();
    let keys = [&["kind", "version"], keys, &["diagnostics"]].concat();
    assert_eq!(found, keys, "{text}");
}

/// Each directory with its own items, a directory before those in it.
#[test]
fn tree_shows_directories_with_their_items() {
    insta::assert_snapshot!(repository().run(&["tokens", "--tree"]), @"
    .  ~20
       ~3  AGENTS.yaml:3  context[0], agents-yaml context, match **
      ~13  AGENTS.yaml:4  context[1], agents-yaml context, match **/*.py
       ~4  AGENTS.yaml:9  context[2], agents-yaml context, match src/**
      src/  ~12
        ~7  src/AGENTS.yml:2  context[0], agents-yaml context, match cart.py
        ~5  src/AGENTS.yml:6  context[1], agents-yaml context, match templates/
    ------- stderr -------
    2 directories, 5 items, ~32 tokens
    [EOF]
    ");
    insta::assert_snapshot!(repository().run(&["tokens", "--tree", "src"]), @"
    src/  ~12
      ~7  src/AGENTS.yml:2  context[0], agents-yaml context, match cart.py
      ~5  src/AGENTS.yml:6  context[1], agents-yaml context, match templates/
    ------- stderr -------
    1 directory, 2 items, ~12 tokens
    [EOF]
    ");
    insta::assert_snapshot!(repository().run(&["tokens", "--tree", "--depth", "0"]), @"
    .  ~20
       ~3  AGENTS.yaml:3  context[0], agents-yaml context, match **
      ~13  AGENTS.yaml:4  context[1], agents-yaml context, match **/*.py
       ~4  AGENTS.yaml:9  context[2], agents-yaml context, match src/**
    ------- stderr -------
    1 directory, 3 items, ~20 tokens
    [EOF]
    ");
    let json = repository().run(&["tokens", "--tree", "--json"]);
    assert_keys(&json.stdout, "  ", &["root", "path", "exact", "directories", "items", "tokens"]);
    let json = json.json();
    assert_eq!((&json["items"], &json["directories"][1]["path"]), (&json!(5), &json!("src")));
}

/// A place that is not there, or not a directory, is said.
#[test]
fn a_place_must_be_a_directory_of_the_project() {
    for command in [&["tokens", "--tree"][..], &["coverage"]] {
        for (path, said) in [
            ("nowhere", "file not found: `nowhere`"),
            ("README.md", "`README.md` is not a directory"),
            ("..", "is outside"),
        ] {
            let output = repository().run(&[command, &[path]].concat());
            assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{output}");
            assert!(output.stderr.contains(said), "{output}");
        }
    }
}

/// Dead patterns, items that never apply, files without guidance.
#[test]
fn coverage_finds_what_misses() {
    insta::assert_snapshot!(gaps().run(&["coverage"]), @r#"
    patterns that match nothing
      AGENTS.yaml:3  context[1]: "lib/**" matches no file in the project

    items that never apply
      AGENTS.yaml:4  context[2]: applies to no file or directory in the project
      AGENTS.yaml:5  context[3]: invalid: invalid when "sometimes" (must be before, after, or all)

    files without guidance
      docs/**  2 files
      src/  2 of 3: b.md, c.md
    ------- stderr -------
    3 findings; 4 of 6 files without guidance
    [EOF]
    "#);
    insta::assert_snapshot!(gaps().run(&["coverage", "docs"]), @"
    files without guidance
      docs/**  2 files
    ------- stderr -------
    0 findings; 2 of 2 files without guidance
    [EOF]
    ");
    assert_eq!(gaps().run(&["coverage", "--strict"]).code, Some(1));
    assert_eq!(gaps().run(&["coverage", "docs", "--strict"]).code, Some(0));
    assert_eq!(gaps().run(&["coverage", "docs", "--strict", "--complete"]).code, Some(1));
}

/// An item that is for nearly every file and costs much is a finding.
/// R19: a pattern of a nested rule may count from the top of the repository, so the rule is not idle if it matches there.
#[test]
fn nested_rules_may_count_from_the_top() {
    let rule = |glob: &str| format!("---\nglobs: {glob}\nalwaysApply: false\n---\nUse tokens.\n");
    let idle = |glob: &str| {
        let project = project()
            .with_dir(".git")
            .with_file("packages/web/a.tsx", "")
            .with_file("packages/web/.cursor/rules/style.mdc", rule(glob));
        let answer = project.run(&["coverage", "--json"]).json();
        answer["never"].as_array().unwrap().len()
    };
    assert_eq!(idle("packages/web/**/*.tsx"), 0);
    assert_eq!(idle("*.tsx"), 0);
    assert_eq!(idle("packages/web/**/*.vue"), 1);
}

#[test]
fn coverage_finds_what_is_heavy() {
    let text = "word ".repeat(600);
    let project = project()
        .with_file("AGENTS.yaml", format!("context:\n  - content: {text}\n"))
        .with_file("a.py", "");
    insta::assert_snapshot!(project.run(&["coverage", "--strict"]), @"
    expensive items that apply to nearly every file
      AGENTS.yaml:2  context[0]: ~599 tokens, for 2 files
    ------- stderr -------
    1 finding; 0 of 2 files without guidance
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(project.run(&["coverage", "--strict", "--heavy", "600"]).code, Some(0));
}

/// Every key, in its order.
#[test]
fn coverage_as_json() {
    let output = gaps().run(&["coverage", "--json"]);
    let keys = [
        "root",
        "path",
        "client",
        "files",
        "without_guidance",
        "dead_patterns",
        "never",
        "everywhere",
        "gaps",
        "findings",
    ];
    assert_keys(&output.stdout, "  ", &keys);
    let found: Value = output.json();
    assert_eq!(
        found["gaps"],
        json!([
            {"path": "docs", "deep": true, "files": 2, "of": 2, "names": []},
            {"path": "src", "deep": false, "files": 2, "of": 3, "names": ["b.md", "c.md"]}
        ])
    );
    assert_eq!(
        (&found["files"], &found["without_guidance"], &found["findings"]),
        (&json!(6), &json!(4), &json!(3))
    );
}

/// Hidden characters in a name do not reach the terminal, and nothing is written.
#[test]
fn names_are_escaped_and_nothing_is_written() {
    let project = project()
        .with_file("a\u{1b}[31m/AGENTS.yaml", "context:\n  - {content: x, match: [nope]}\n")
        .with_file("b\u{202e}/c", "");
    for args in
        [&["tokens"][..], &["tokens", "--tree"], &["coverage"], &["tokens", "a\u{1b}[31m/x"]]
    {
        let output = project.run(args);
        let printed = format!("{}{}", output.stdout, output.stderr);
        assert!(!printed.contains(['\u{1b}', '\u{202e}']), "{args:?}");
    }
    assert_eq!(std::fs::read_dir(project.home()).unwrap().count(), 0);
}

/// U73: in a source registry the tree shows the items, and what each will cost those who install it.
#[test]
fn tree_shows_items_of_a_registry() {
    let rule = "---\nschema: 1\nname: money\ndescription: Money\n---\n\nPrices are integers.\n";
    let project = crate::project().with_file("rules/money/RULE.md", rule);
    let output = project.run(&["tokens", "--tree"]);
    assert_eq!(
        output.stdout,
        "rules/  ~0\n  ~0  rules/money/RULE.md:1  money, items rule, manual  (~5 when installed)\n",
        "{output}"
    );
    // They are not guidance for people who work on the registry.
    let context = project.run(&["context", "rules/money/RULE.md"]);
    assert!(!context.stdout.contains("integers"), "{context}");
}

/// U05: two totals have words; what a client loads by itself is not what is delivered to it, also where it
/// lies deeper or is for some files only.
#[test]
fn what_a_client_loads_is_not_delivered() {
    let project = crate::project()
        .with_file("CLAUDE.md", "Top words.\n")
        .with_file("src/CLAUDE.md", "Nested words.\n")
        .with_file(".claude/rules/py.md", "---\npaths: \"**/*.py\"\n---\nWords for Python.\n")
        .with_file("AGENTS.yaml", "context:\n  - content: Structured words.\n")
        .with_file("src/a.py", "x\n");
    let json = project.run(&["tokens", "--client", "claude", "--json"]).json();
    let share = &json["clients"][0];
    let of = |path: &str| {
        let items = json["items"].as_array().unwrap();
        let item = items.iter().find(|item| item["source"]["path"] == path);
        item.map_or(0, |item| item["tokens"].as_u64().unwrap())
    };
    assert_eq!(share["missing"].as_u64().unwrap(), of("AGENTS.yaml"), "{json}");
    assert_eq!(share["delivered"], 0, "{json}");
    assert!(share["loaded"].as_u64().unwrap() >= 3 * 2, "{json}");
}

/// U05: what stands in several places counts once in the sum, which says so.
#[test]
fn two_totals_have_words() {
    let text = "The same words, twice.\n";
    let project = crate::project()
        .with_file(".agents/rules/a.md", text)
        .with_file(".agents/rules/b.md", text);
    let output = project.run(&["tokens", "--tree"]);
    assert!(output.stderr.contains(" with duplicates)"), "{output}");
}
