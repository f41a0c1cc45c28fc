//! `brief context --decisions`

use serde_json::{Value, json};

use crate::{project, shop};

/// Document, Decision entry fields: all of them are shown, with their place.
#[test]
fn decisions_show_every_field() {
    insta::assert_snapshot!(shop().run(&["context", "--decisions", "src/cart.py"]), @"
    AGENTS.yaml:14
      Money is integers
        why: Floats lose cents.
        not: Decimal, because slower, and JSON has none
        not: Floats, because they lose cents
        revisit when: We sell in a currency without cents.
        decided: 2024-05-01

    AGENTS.yaml:24
      One repository
        why: One change, one review.
    [EOF]
    ");
}

/// Document, Decision entry fields: `match` scopes to files; the default is `["**"]`.
#[test]
fn decisions_are_scoped_by_match() {
    let shop = shop();
    insta::assert_snapshot!(shop.run(&["context", "--decisions", "README.md"]), @"
    AGENTS.yaml:24
      One repository
        why: One change, one review.
    [EOF]
    ");
    let directory = shop.run(&["context", "--decisions", "src"]);
    assert!(directory.stdout.contains("Money is integers"), "{directory}");
}

/// The interface: the shape of `brief context --json`, with the decisions in it.
#[test]
fn json_has_every_key_in_its_order() {
    insta::assert_snapshot!(shop().run(&["context", "--decisions", "src/cart.py", "--json"]), @r#"
    {
      "kind": "context",
      "version": 2,
      "root": "$PROJECT",
      "query": {
        "root": "$PROJECT",
        "path": "src/cart.py",
        "kind": "file",
        "on": "all",
        "when": "all",
        "client": null,
        "task": null
      },
      "items": [],
      "skipped": [],
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
      "context_dir_config": null,
      "tokens": 0,
      "diagnostics": []
    }
    [EOF]
    "#);
}

/// The interface: absent fields are `null` or an empty list.
#[test]
fn absent_fields_are_there_in_json() {
    let yaml = "decisions:\n  - {decision: D, rationale: R}\n";
    let output =
        project().with_file("AGENTS.yaml", yaml).run(&["context", "--decisions", "a", "--json"]);
    let mut decision = output.json()["decisions"][0].clone();
    decision["source"]["path"] = "PATH".into();
    assert_eq!(
        decision,
        json!({
            "decision": "D", "rationale": "R", "alternatives": [], "revisit_when": null,
            "date": null, "source": {"path": "PATH", "line": 2},
            "reason": "match `**` covers a",
        })
    );
}

/// `--all`: the decisions of the whole project.
#[test]
fn all_lists_the_whole_project() {
    let shop = shop();
    insta::assert_snapshot!(shop.run(&["context", "--decisions", "--all"]), @"
    AGENTS.yaml:14
      Money is integers
        why: Floats lose cents.
        not: Decimal, because slower, and JSON has none
        not: Floats, because they lose cents
        revisit when: We sell in a currency without cents.
        decided: 2024-05-01

    AGENTS.yaml:24
      One repository
        why: One change, one review.
    [EOF]
    ");
    assert_eq!(
        shop.run(&["context", "--decisions", "--all", "--json"]).json()["query"]["path"],
        Value::Null
    );
}

/// Nothing found is exit 0, and says so.
#[test]
fn nothing_found_is_no_error() {
    let yaml = "decisions:\n  - {decision: D, rationale: R, match: [x]}\n";
    let project = project().with_file("AGENTS.yaml", yaml);
    insta::assert_snapshot!(project.run(&["context", "--decisions", "a"]), @"
    ------- stderr -------
    no decisions for a
    hint: run `brief why a` to see why each item is skipped
    [EOF]
    ");
    insta::assert_snapshot!(crate::project().run(&["context", "--decisions", "a"]), @"
    ------- stderr -------
    warning: no AGENTS.yaml files found for a
    warning: `$PROJECT` is not in a git repository, so parent directories are not read
    hint: run `brief init` to create an AGENTS.yaml
    [EOF]
    ");
}

/// Ruling G4: outside the root, exit 0 and nothing.
#[test]
fn outside_the_root_nothing_binds() {
    let shop = shop();
    let output = shop.run(&["context", "--decisions", "../x"]);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)), "{output}");
}

/// Document, Validation rules: `decision` and `rationale` are required; an entry without them is
/// not delivered, and a bad date costs only the date (ruling G2).
#[test]
fn a_broken_decision_does_not_hide_its_siblings() {
    let yaml = "decisions:
  - decision: no reason
  - rationale: no decision
  - {decision: DATED, rationale: R, date: 2024-02-30}
  - {decision: GOOD, rationale: R, date: 2024-02-29}
";
    let project = project().with_file("AGENTS.yaml", yaml);
    insta::assert_snapshot!(project.run(&["context", "--decisions", "a"]), @r#"
    AGENTS.yaml:4
      DATED
        why: R

    AGENTS.yaml:5
      GOOD
        why: R
        decided: 2024-02-29
    ------- stderr -------
    error[agents-yaml/missing-field]: AGENTS.yaml:2:5: decisions[0]: rationale is required
    error[agents-yaml/missing-field]: AGENTS.yaml:3:5: decisions[1]: decision is required
    error[agents-yaml/invalid-date]: AGENTS.yaml:4:43: decisions[2]: invalid date "2024-02-30" (must be YYYY-MM-DD)
    [EOF]
    "#);
}

/// `context --decisions` has no actions and no timings.
#[test]
fn a_wrong_call_is_refused() {
    let shop = shop();
    for args in [
        &["context", "--decisions"][..],
        &["context", "--decisions", "a", "--on", "edit"],
        &["context", "--decisions", "a", "--when", "after"],
        &["context", "--decisions", "a", "--all"],
        &["context", "--decisions", "a", "b"],
    ] {
        let output = shop.run(args);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(2)), "{args:?}");
    }
}

/// A text of several lines stays under its heading.
#[test]
fn long_texts_are_indented() {
    let yaml = "decisions:
  - decision: |
      First line
      second line
    rationale: |
      Because
      of this
";
    insta::assert_snapshot!(project().with_file("AGENTS.yaml", yaml).run(&["context", "--decisions", "a"]), @"
    AGENTS.yaml:2
      First line
      second line
        why: Because
        of this
    [EOF]
    ");
}
