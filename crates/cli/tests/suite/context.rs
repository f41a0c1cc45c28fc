//! `brief context`

use std::io::Read;

use serde_json::{Value, json};

use crate::{project, shop};

/// Document, File queries: everything that applies, parents first.
#[test]
fn a_file_gets_what_applies_to_it() {
    insta::assert_snapshot!(shop().run(&["context", "src/cart.py"]), @"
    AGENTS.yaml:3
      Speak plainly.

    AGENTS.yaml:4
      Prices are integers in cents.
      Never use floats for money.

    AGENTS.yaml:9
      Run the tests.

    src/AGENTS.yml:2
      The cart is never empty here.
    [EOF]
    ");
}

/// Document, Filter by action: "Keep entries where `on` includes the requested action (or is
/// `all`)".
#[test]
fn an_action_leaves_out_what_is_for_others() {
    let shop = shop();
    insta::assert_snapshot!(shop.run(&["context", "src/cart.py", "--on", "read"]), @"
    AGENTS.yaml:3
      Speak plainly.

    AGENTS.yaml:9
      Run the tests.

    src/AGENTS.yml:2
      The cart is never empty here.
    [EOF]
    ");
    insta::assert_snapshot!(shop.run(&["context", "src/cart.py", "--on", "create"]), @"
    AGENTS.yaml:3
      Speak plainly.

    AGENTS.yaml:4
      Prices are integers in cents.
      Never use floats for money.

    AGENTS.yaml:9
      Run the tests.
    [EOF]
    ");
}

/// Document, Filter by timing: "Keep entries where `when` matches the requested timing".
#[test]
fn a_timing_leaves_out_the_other() {
    let shop = shop();
    insta::assert_snapshot!(shop.run(&["context", "src/cart.py", "--when", "before"]), @"
    AGENTS.yaml:3
      Speak plainly.

    AGENTS.yaml:4
      Prices are integers in cents.
      Never use floats for money.

    src/AGENTS.yml:2
      The cart is never empty here.
    [EOF]
    ");
    insta::assert_snapshot!(shop.run(&["context", "src/cart.py", "--when", "after"]), @"
    AGENTS.yaml:9
      Run the tests.

    src/AGENTS.yml:2
      The cart is never empty here.
    [EOF]
    ");
}

/// Action and timing together, and `all` for each of them.
#[test]
fn filters_combine() {
    let shop = shop();
    let both = shop.run(&["context", "src/cart.py", "--on", "read", "--when", "after"]);
    insta::assert_snapshot!(both, @"
    AGENTS.yaml:9
      Run the tests.

    src/AGENTS.yml:2
      The cart is never empty here.
    [EOF]
    ");
    let all = shop.run(&["context", "src/cart.py", "--on", "all", "--when", "all"]);
    assert_eq!(all, shop.run(&["context", "src/cart.py"]));
}

/// The interface: every key is there, in this order, and absent means `null` or an empty list.
#[test]
fn json_has_every_key_in_its_order() {
    insta::assert_snapshot!(
        shop().run(&["context", "src/cart.py", "--on", "edit", "--when", "before", "--json"]),
        @r#"
    {
      "kind": "context",
      "version": 2,
      "root": "$PROJECT",
      "query": {
        "root": "$PROJECT",
        "path": "src/cart.py",
        "kind": "file",
        "on": "edit",
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
          "reason": "match `**` covers src/cart.py",
          "description": "",
          "content": "Speak plainly.",
          "tokens": 3,
          "also": [],
          "package": null
        },
        {
          "format": "agents-yaml",
          "kind": "context",
          "name": "context[1]",
          "source": {
            "path": "$PROJECT/AGENTS.yaml",
            "line": 4
          },
          "scope": "project",
          "trigger": null,
          "state": "active",
          "reason": "match `**/*.py` covers src/cart.py",
          "description": "",
          "content": "Prices are integers in cents.\nNever use floats for money.\n",
          "tokens": 13,
          "also": [],
          "package": null
        }
      ],
      "skipped": [
        {
          "format": "agents-yaml",
          "kind": "context",
          "name": "context[2]",
          "source": {
            "path": "$PROJECT/AGENTS.yaml",
            "line": 9
          },
          "reason": "applies only after the action"
        },
        {
          "format": "agents-yaml",
          "kind": "context",
          "name": "context[0]",
          "source": {
            "path": "$PROJECT/src/AGENTS.yml",
            "line": 2
          },
          "reason": "applies only on read"
        },
        {
          "format": "agents-yaml",
          "kind": "context",
          "name": "context[1]",
          "source": {
            "path": "$PROJECT/src/AGENTS.yml",
            "line": 6
          },
          "reason": "match `templates/` does not cover src/cart.py"
        }
      ],
      "decisions": [
        {
          "decision": "Money is integers",
          "rationale": "Floats lose cents.",
          "alternatives": [
            {
              "option": "Decimal",
              "reason_rejected": "slower, and JSON has none"
            },
            {
              "option": "Floats",
              "reason_rejected": "they lose cents"
            }
          ],
          "revisit_when": "We sell in a currency without cents.",
          "date": "2024-05-01",
          "source": {
            "path": "$PROJECT/AGENTS.yaml",
            "line": 14
          },
          "reason": "match `src/**` covers src/cart.py"
        },
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
          "reason": "match `**` covers src/cart.py"
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
      "tokens": 16,
      "diagnostics": []
    }
    [EOF]
    "#
    );
}

/// The interface: the shape stays when nothing applies; lists are empty, not missing.
#[test]
fn json_without_anything_has_the_same_keys() {
    let empty = project().with_file("AGENTS.yaml", "").run(&["context", "a.py", "--json"]);
    insta::assert_snapshot!(empty, @r#"
    {
      "kind": "context",
      "version": 2,
      "root": "$PROJECT",
      "query": {
        "root": "$PROJECT",
        "path": "a.py",
        "kind": "file",
        "on": "all",
        "when": "all",
        "client": null,
        "task": null
      },
      "items": [],
      "skipped": [],
      "decisions": [],
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
      "tokens": 0,
      "diagnostics": []
    }
    [EOF]
    "#);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&empty.json()), keys(&shop().run(&["context", "a.py", "--json"]).json()));
}

/// Document, Missing files: "tools should emit a warning and return gracefully".
#[test]
fn no_context_file_is_a_warning() {
    let project = project();
    insta::assert_snapshot!(project.run(&["context", "a.py"]), @"
    ------- stderr -------
    warning: no guidance found for a.py
    warning: `$PROJECT` is not in a git repository, so parent directories are not read
    hint: run `brief init` to create an AGENTS.yaml
    [EOF]
    ");
    insta::assert_snapshot!(project.run(&["context", "--all"]), @"
    ------- stderr -------
    warning: no guidance found in this project
    warning: `$PROJECT` is not in a git repository, so parent directories are not read
    hint: run `brief init` to create an AGENTS.yaml
    [EOF]
    ");
    let json = project.run(&["context", "a.py", "--json"]);
    assert_eq!(json.json()["items"], json!([]));
    assert!(json.stderr.starts_with("warning: no guidance found"), "{json}");
    assert_eq!(json.code, Some(0));
}

/// Nothing that applies is not an error either, and the way to find out is named.
#[test]
fn nothing_that_applies_is_no_error() {
    let project = project().with_file("AGENTS.yaml", "context:\n  - {content: X, match: [a]}\n");
    insta::assert_snapshot!(project.run(&["context", "b"]), @"
    ------- stderr -------
    no context for b
    hint: run `brief why b` to see why each item is skipped
    [EOF]
    ");
}

/// Ruling G4: "A target outside the root gets nothing from this root, and exit 0".
#[test]
fn outside_the_root_nothing_applies() {
    let shop = shop();
    let outside = shop.outside_directory();
    std::fs::write(outside.join("AGENTS.yaml"), "context: [{content: FOREIGN}]\n").unwrap();
    std::fs::write(shop.path().with_file_name("AGENTS.yaml"), "context: [{content: ABOVE}]\n")
        .unwrap();
    let absolute = outside.join("x.py");
    for path in ["../outside/x.py", "../x.py", "..", absolute.to_str().unwrap()] {
        let output = shop.run(&["context", path]);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)), "{path}");
        assert!(output.stderr.contains("is outside"), "{path}: {output}");
    }
    let json = shop.run(&["context", "../x.py", "--json"]);
    assert_eq!(json.json()["items"], json!([]), "the shape stays");
    assert_eq!(json.json()["query"]["path"], "../x.py");
    // Files above the root are never seen from inside either.
    let output = shop.run(&["context", "src/cart.py"]);
    assert!(!output.stdout.contains("ABOVE"), "{output}");
}

/// Document, Parse: "Emit warnings for invalid files but continue processing valid ones".
#[test]
fn a_broken_file_does_not_hide_a_good_one() {
    let project = project()
        .with_file("AGENTS.yaml", "context:\n  - content: [unclosed\n")
        .with_file("src/AGENTS.yaml", "context:\n  - content: GOOD\n");
    insta::assert_snapshot!(project.run(&["context", "src/a.py"]), @"
    src/AGENTS.yaml:2
      GOOD
    ------- stderr -------
    error[agents-yaml/invalid-yaml]: AGENTS.yaml:2:14: the file is not valid YAML: unclosed bracket '['
    [EOF]
    ");
}

/// Ruling S3: an invalid entry is not delivered, with file, line and entry; its siblings are.
#[test]
fn a_broken_entry_does_not_hide_its_siblings() {
    let yaml = "context:\n  - content: FIRST\n  - content: BAD\n    on: edti\n  - content: LAST\n";
    let project = project().with_file("AGENTS.yaml", yaml);
    insta::assert_snapshot!(project.run(&["context", "a.py"]), @r#"
    AGENTS.yaml:2
      FIRST

    AGENTS.yaml:5
      LAST
    ------- stderr -------
    error[agents-yaml/invalid-on]: AGENTS.yaml:4:9: context[1]: invalid action "edti" (must be read, edit, create, or all)
    [EOF]
    "#);
}

/// Ruling G6: a link that stays inside the root is followed; one that leaves it never is.
#[cfg(unix)]
#[test]
fn links_are_followed_inside_the_root_only() {
    let project = project()
        .with_file("shared/rules.yaml", "context:\n  - content: LINKED\n")
        .with_link("AGENTS.yaml", "shared/rules.yaml")
        .with_link("real-file.py", "a.py");
    let outside = project.outside_directory().join("rules.yaml");
    std::fs::write(&outside, "context:\n  - content: FOREIGN\n").unwrap();
    let project = project.with_link("src/AGENTS.yaml", &outside);
    insta::assert_snapshot!(project.run(&["context", "src/a.py"]), @"
    AGENTS.yaml:2
      LINKED
    ------- stderr -------
    error[agents-yaml/unreadable]: src/AGENTS.yaml: cannot read the file: is a symbolic link that leaves the project
    [EOF]
    ");
}

/// Ruling G4: two spellings of one file are one file.
#[cfg(unix)]
#[test]
fn a_linked_directory_is_the_directory_it_leads_to() {
    let project = project()
        .with_file("real/AGENTS.yaml", "context:\n  - content: REAL\n    match: [a.py]\n")
        .with_file("real/a.py", "")
        .with_link("alias", "real");
    let through_link = project.run(&["context", "alias/a.py"]);
    assert_eq!(through_link, project.run(&["context", "real/a.py"]));
    assert!(through_link.stdout.contains("REAL"), "{through_link}");
}

/// Ruling G4: a directory that leads out of the root is outside, whatever its name says.
#[cfg(unix)]
#[test]
fn a_directory_that_links_out_is_outside() {
    let project = project().with_file("AGENTS.yaml", "context: [{content: ROOT}]\n");
    let outside = project.outside_directory();
    let project = project.with_link("way-out", &outside);
    let output = project.run(&["context", "way-out/a.py"]);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)), "{output}");
}

/// Document, Directory queries: "Discovery starts from the directory itself".
#[test]
fn a_directory_is_asked_about_as_a_directory() {
    let project = project()
        .with_file(
            "AGENTS.yaml",
            "context:
  - {content: DIRECTORY, match: [src/]}
  - {content: FILES-INSIDE, match: [\"src/**\"]}
  - {content: ELSEWHERE, match: [\"tests/*\"]}
  - {content: DEEPER, match: [src/api/]}
",
        )
        .with_file("src/AGENTS.yaml", "context:\n  - {content: OWN, match: [\"./\"]}\n");
    insta::assert_snapshot!(project.run(&["context", "src"]), @"
    AGENTS.yaml:2
      DIRECTORY

    AGENTS.yaml:3
      FILES-INSIDE

    src/AGENTS.yaml:2
      OWN
    [EOF]
    ");
    assert_eq!(project.run(&["context", "src"]), project.run(&["context", "src/"]));
    // What does not exist is a directory when it is written like one.
    let unborn = project.run(&["context", "tests/"]);
    assert!(unborn.stdout.contains("ELSEWHERE"), "{unborn}");
    let file = project.run(&["context", "tests"]);
    assert!(!file.stdout.contains("ELSEWHERE"), "{file}");
}

/// `--all`: what the whole project says, whatever the patterns; the filters hold.
#[test]
fn all_lists_the_whole_project() {
    let shop = shop();
    insta::assert_snapshot!(shop.run(&["context", "--all"]), @"
    AGENTS.yaml:3  match **
      Speak plainly.

    AGENTS.yaml:4  match **/*.py
      Prices are integers in cents.
      Never use floats for money.

    AGENTS.yaml:9  match src/**
      Run the tests.

    src/AGENTS.yml:2  match cart.py
      The cart is never empty here.

    src/AGENTS.yml:6  match templates/
      Templates are not code.
    [EOF]
    ");
    insta::assert_snapshot!(shop.run(&["context", "--all", "--when", "after"]), @"
    AGENTS.yaml:9  match src/**
      Run the tests.

    src/AGENTS.yml:2  match cart.py
      The cart is never empty here.
    [EOF]
    ");
    let json = shop.run(&["context", "--all", "--json"]).json();
    assert_eq!(json["query"]["path"], Value::Null);
    assert_eq!(json["query"]["kind"], "project");
    assert_eq!(json["items"].as_array().unwrap().len(), 5);
}

/// Same bytes, same answer (ruling G3).
#[test]
fn the_answer_is_the_same_each_time() {
    let shop = shop();
    let first = shop.run(&["context", "--all", "--json"]);
    for _ in 0..5 {
        assert_eq!(shop.run(&["context", "--all", "--json"]), first);
    }
}

/// Exit code 2 is for a wrong call.
#[test]
fn a_wrong_call_is_refused() {
    let shop = shop();
    insta::assert_snapshot!(shop.run(&["context"]), @"
    ------- stderr -------
    error: the following required arguments were not provided:
      <PATH|--all>

    Usage: brief context <PATH|--all>

    For more information, try '--help'.
    [exit status: 2]
    [EOF]
    ");
    insta::assert_snapshot!(shop.run(&["context", "a", "--all"]), @"
    ------- stderr -------
    error: the argument '[PATH]' cannot be used with '--all'

    Usage: brief context <PATH|--all>

    For more information, try '--help'.
    [exit status: 2]
    [EOF]
    ");
    insta::assert_snapshot!(shop.run(&["context", "a", "--on", "edti"]), @"
    ------- stderr -------
    error: invalid value 'edti' for '--on <ACTION>'
      [possible values: read, edit, create, all]

      tip: a similar value exists: 'edit'

    For more information, try '--help'.
    [exit status: 2]
    [EOF]
    ");
    for args in [
        ["context", "a", "--on", "Edit"],
        ["context", "a", "--when", "during"],
        ["context", "a", "--bogus", "x"],
        ["context", "a", "b", "c"],
    ] {
        let output = shop.run(&args);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(2)), "{args:?}");
        assert!(output.stderr.starts_with("error: "), "{output}");
    }
}

/// `-C` to a place that is not a directory is a wrong call.
#[test]
fn a_root_that_is_no_directory_is_refused() {
    let shop = shop();
    for place in ["nowhere", "AGENTS.yaml"] {
        let output = shop.run(&["-C", place, "context", "a"]);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(2)), "{output}");
    }
}

/// Names with spaces and other scripts are names like any other.
#[test]
fn any_name_can_be_asked_about() {
    let project = project().with_file(
        "AGENTS.yaml",
        "context:\n  - {content: HIT, match: [\"**/naïve café/*.py\"]}\n",
    );
    for path in ["naïve café/日本.py", "a/naïve café/x y.py"] {
        let output = project.run(&["context", path]);
        assert!(output.stdout.contains("HIT"), "{path}: {output}");
    }
    // Two dots at the start of a name are not the directory above.
    let project = project.with_file("b/AGENTS.yaml", "context: [{content: DOTS}]\n");
    let output = project.run(&["context", "b/..data/x"]);
    assert!(output.stdout.contains("DOTS"), "{output}");
}

/// Exit code 0 when the reader went away: `brief context --all | head -1`.
#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let entry = format!("  - content: {}\n", "x".repeat(900));
    let project = project().with_file("AGENTS.yaml", format!("context:\n{}", entry.repeat(1_000)));
    for args in [&["context", "--all"][..], &["context", "a", "--json"][..]] {
        let mut child = project.prepare_command("", args).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let mut start = [0; 10];
        stdout.read_exact(&mut start).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

/// N29: "`content` starts with an empty line": the one after front matter is not part of a text.
#[test]
fn a_text_begins_with_its_first_line() {
    let rule = "---\nalwaysApply: true\n---\n\n\n    indented\ntext\n";
    let output =
        project().with_file(".cursor/rules/a.mdc", rule).run(&["context", "a.py", "--json"]);
    assert_eq!(output.json()["items"][0]["content"], "    indented\ntext\n", "{output}");
}
