//! `brief why`

use crate::{project, shop};

/// Issue: "each entry, in or out, with <file:line> and the deciding filter".
#[test]
fn each_entry_has_its_reason() {
    insta::assert_snapshot!(shop().run(&["why", "src/cart.py", "--on", "read", "--when", "before"]), @"
    src/cart.py, on read, when before

    + applies  AGENTS.yaml:3
               match `**` covers src/cart.py
               claude, codex, copilot, cursor: missing (no hook)
               > Speak plainly.

    - skipped  AGENTS.yaml:4
               applies only on edit, create
               > Prices are integers in cents.

    - skipped  AGENTS.yaml:9
               applies only after the action
               > Run the tests.

    + applies  AGENTS.yaml:14
               decision, match `src/**` covers src/cart.py
               claude, codex, copilot, cursor: manual
               > Money is integers

    + applies  AGENTS.yaml:24
               decision, match `**` covers src/cart.py
               claude, codex, copilot, cursor: manual
               > One repository

    + applies  src/AGENTS.yml:2
               match `cart.py` covers src/cart.py
               claude, codex, copilot, cursor: missing (no hook)
               > The cart is never empty here.

    - skipped  src/AGENTS.yml:6
               match `templates/` does not cover src/cart.py
               > Templates are not code.
    [EOF]
    ");
}

/// Every filter of the algorithm can be the reason, in the order of the document.
#[test]
fn every_filter_can_be_the_reason() {
    let yaml = "context:
  - {content: not covered, match: [\"*.md\", docs/]}
  - {content: excluded, match: [\"src/**\"], exclude: [\"**/cart.py\"], on: read}
  - {content: other action, on: [read, create], when: after}
  - {content: other timing, when: after}
  - {content: broken, when: during}
  - {content: covered, match: [\"nope\", \"src/*.py\"], on: edit, when: all}
";
    let project = project().with_file("AGENTS.yaml", yaml);
    let output = project.run(&["why", "src/cart.py", "--on", "edit", "--when", "before"]);
    insta::assert_snapshot!(output, @r#"
    src/cart.py, on edit, when before

    - skipped  AGENTS.yaml:2
               match `*.md`, `docs/` do not cover src/cart.py
               > not covered

    - skipped  AGENTS.yaml:3
               exclude `**/cart.py` covers src/cart.py
               > excluded

    - skipped  AGENTS.yaml:4
               applies only on read, create
               > other action

    - skipped  AGENTS.yaml:5
               applies only after the action
               > other timing

    - skipped  AGENTS.yaml:6
               invalid: invalid when "during" (must be before, after, or all)

    + applies  AGENTS.yaml:7
               match `src/*.py` covers src/cart.py
               claude, codex, copilot, cursor: missing (no hook)
               > covered
    ------- stderr -------
    error[agents-yaml/invalid-when]: AGENTS.yaml:6:29: context[4]: invalid when "during" (must be before, after, or all)
    [EOF]
    "#);
}

/// Directory queries have reasons of their own.
#[test]
fn a_directory_has_its_reasons_too() {
    let yaml = "context:
  - {content: exact, match: [src/]}
  - {content: inside, match: [\"src/**/*.py\"]}
  - {content: elsewhere, match: [\"tests/**\"]}
  - {content: emptied, exclude: [\"src/**\"]}
  - {content: partly, exclude: [\"src/*.md\"]}
  - {content: named, exclude: [src/]}
";
    let project = project().with_file("AGENTS.yaml", yaml).with_dir("src");
    insta::assert_snapshot!(project.run(&["why", "src"]), @"
    src (directory)

    + applies  AGENTS.yaml:2
               match `src/` covers src
               claude, codex, copilot, cursor: missing (no hook)
               > exact

    + applies  AGENTS.yaml:3
               match `src/**/*.py` can cover files in src
               claude, codex, copilot, cursor: missing (no hook)
               > inside

    - skipped  AGENTS.yaml:4
               match `tests/**` does not cover src
               > elsewhere

    - skipped  AGENTS.yaml:5
               exclude `src/**` covers everything in src
               > emptied

    + applies  AGENTS.yaml:6
               match `**` can cover files in src
               claude, codex, copilot, cursor: missing (no hook)
               > partly

    - skipped  AGENTS.yaml:7
               exclude `src/` covers src
               > named
    [EOF]
    ");
}

/// The interface: `--json` is the report of `brief context`, with what was left out.
#[test]
fn json_lists_what_was_left_out() {
    let shop = shop();
    let args = ["why", "README.md", "--on", "read", "--when", "before", "--json"];
    let report = shop.run(&args);
    insta::assert_snapshot!(report, @r#"
    {
      "kind": "why",
      "version": 2,
      "root": "$PROJECT",
      "query": {
        "root": "$PROJECT",
        "path": "README.md",
        "kind": "file",
        "on": "read",
        "when": "before",
        "client": null,
        "task": null
      },
      "items": [
        {
          "format": "agents-yaml",
          "kind": "context",
          "name": "context[0]",
          "source": {
            "path": "$PROJECT/AGENTS.yaml",
            "line": 3
          },
          "scope": "project",
          "trigger": null,
          "state": "active",
          "reason": "match `**` covers README.md",
          "description": "",
          "content": "Speak plainly.",
          "tokens": 3,
          "also": [],
          "package": null
        }
      ],
      "skipped": [
        {
          "format": "agents-yaml",
          "kind": "context",
          "name": "context[1]",
          "source": {
            "path": "$PROJECT/AGENTS.yaml",
            "line": 4
          },
          "reason": "match `**/*.py` does not cover README.md"
        },
        {
          "format": "agents-yaml",
          "kind": "context",
          "name": "context[2]",
          "source": {
            "path": "$PROJECT/AGENTS.yaml",
            "line": 9
          },
          "reason": "match `src/**` does not cover README.md"
        },
        {
          "format": "agents-yaml",
          "kind": "decision",
          "name": "decisions[0]",
          "source": {
            "path": "$PROJECT/AGENTS.yaml",
            "line": 14
          },
          "reason": "match `src/**` does not cover README.md"
        }
      ],
      "decisions": [
        {
          "decision": "One repository",
          "rationale": "One change, one review.",
          "alternatives": [],
          "revisit_when": null,
          "date": null,
          "source": {
            "path": "$PROJECT/AGENTS.yaml",
            "line": 24
          },
          "reason": "match `**` covers README.md"
        }
      ],
      "mcp_servers": {},
      "context_dir_config": {
        "includeFiles": [
          "*"
        ],
        "excludeFiles": [
          "context-config.json"
        ],
        "ignoreGlobalContext": false,
        "ignoreAncestorContext": false
      },
      "tokens": 3,
      "diagnostics": []
    }
    [EOF]
    "#);
    let context = [&["context"], &args[1..]].concat();
    let (mut why, mut context) = (report.json(), shop.run(&context).json());
    assert_eq!((why["kind"].take(), context["kind"].take()), ("why".into(), "context".into()));
    assert_eq!(why, context);
}

/// Every entry is in or out, exactly once.
#[test]
fn every_entry_is_mentioned_once() {
    let report = shop().run(&["why", "src/cart.py", "--on", "edit", "--json"]).json();
    let count = |list: &str| report[list].as_array().unwrap().len();
    assert_eq!(count("items") + count("skipped") + count("decisions"), 7);
}

/// Nothing found, and outside the root.
#[test]
fn without_candidates_there_is_nothing_to_explain() {
    insta::assert_snapshot!(project().run(&["why", "a"]), @"
    ------- stderr -------
    warning: no guidance found for a
    warning: `$PROJECT` is not in a git repository, so parent directories are not read
    hint: run `brief init` to create an AGENTS.yaml
    [EOF]
    ");
    let output = shop().run(&["why", "../a"]);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)), "{output}");
}

/// A broken file is reported beside the entries of a good one.
#[test]
fn a_broken_file_is_mentioned() {
    let project = project()
        .with_file("AGENTS.yaml", "context: {a: b}\n")
        .with_file("src/AGENTS.yaml", "context: [{content: GOOD}]\n");
    insta::assert_snapshot!(project.run(&["why", "src/a"]), @"
    src/a

    + applies  src/AGENTS.yaml:1
               match `**` covers src/a
               claude, codex, copilot, cursor: missing (no hook)
               > GOOD
    ------- stderr -------
    error[agents-yaml/wrong-type]: AGENTS.yaml:1:10: `context` must be a list of entries, not a mapping
    [EOF]
    ");
}

/// A wrong call is exit 2; `why` has no `--all`.
#[test]
fn a_wrong_call_is_refused() {
    for args in [&["why"][..], &["why", "--all"], &["why", "a", "b"], &["why", "a", "--on", "x"]] {
        let output = shop().run(args);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(2)), "{args:?}");
    }
}

/// U65: a hint does not name the command that was just run.
#[test]
fn why_does_not_send_to_itself() {
    let project = project().with_file("AGENTS.yaml", "context: []\n").with_file("a.py", "");
    let output = project.run(&["context", "a.py"]);
    assert!(output.stderr.contains("`brief why a.py`"), "{output}");
    let output = project.run(&["why", "a.py"]);
    assert!(output.stderr.contains("no context for a.py"), "{output}");
    assert!(!output.stderr.contains("brief why"), "{output}");
}
