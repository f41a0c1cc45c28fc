//! `brief lint`

use serde_json::json;

use crate::{project, shop};

/// A file with one of everything that lint has to say about an entry.
const MESSY: &str = "# Ours.
contxt: []
context:
  - content: One   # keep this
    mach: [\"*.py\"]
  - content: Two
    match: [\"src/[\"]
  - content: Three
    on: edti
    when: during
  - match: [\"**\"]
decisions:
  - decision: Four
    rationale: Because
    date: 1.5.2024
    exclude: [a]
";

/// Everything is well: nothing on standard output, exit 0.
#[test]
fn a_clean_project_has_no_findings() {
    let shop = shop().with_file("src/templates/a.html", "");
    // A directory alone covers no file, which is worth a note.
    let entries = shop.read("src/AGENTS.yml");
    shop.write("src/AGENTS.yml", entries.replace("\"templates/\"", "\"templates/**\""));
    insta::assert_snapshot!(shop.run(&["lint"]), @"
    ------- stderr -------
    No problems in 2 files
    [EOF]
    ");
    insta::assert_snapshot!(shop.run(&["lint", "--format", "json"]), @r#"
    {
      "kind": "lint",
      "version": 2,
      "root": "$PROJECT",
      "checked": [
        "mistakes",
        "stale",
        "unused",
        "setup"
      ],
      "files": 2,
      "errors": 0,
      "warnings": 0,
      "fixed": 0,
      "ignored": 0,
      "known": 0,
      "diagnostics": []
    }
    [EOF]
    "#);
}

/// Document, Validation rules: each with line, column, the line itself and a way out.
#[test]
fn findings_show_their_place() {
    let project = project().with_file("AGENTS.yaml", MESSY).with_file("src/a.py", "");
    insta::assert_snapshot!(project.run(&["lint"]), @r#"
    warning[agents-yaml/unknown-field]: top level: unknown field "contxt"
     --> AGENTS.yaml:2:1
      |
    2 | contxt: []
      | ^^^^^^
      |
      = help: did you mean `context`?

    warning[agents-yaml/unknown-field]: context[0]: unknown field "mach"
     --> AGENTS.yaml:5:5
      |
    5 |     mach: ["*.py"]
      |     ^^^^
      |
      = help: did you mean `match`?

    error[agents-yaml/invalid-glob]: context[1]: invalid match glob "src/[": unclosed '[' (write '\[' for a literal bracket)
     --> AGENTS.yaml:7:18
      |
    7 |     match: ["src/["]
      |                  ^

    error[agents-yaml/invalid-on]: context[2]: invalid action "edti" (must be read, edit, create, or all)
     --> AGENTS.yaml:9:9
      |
    9 |     on: edti
      |         ^^^^
      |
      = help: did you mean `edit`?

    error[agents-yaml/invalid-when]: context[2]: invalid when "during" (must be before, after, or all)
      --> AGENTS.yaml:10:11
       |
    10 |     when: during
       |           ^^^^^^

    error[agents-yaml/missing-field]: context[3]: content is required
      --> AGENTS.yaml:11:5
       |
    11 |   - match: ["**"]
       |     ^^^^^^^^^^^^^
       |
       = help: add `content: …`, or remove the entry

    error[agents-yaml/invalid-date]: decisions[0]: invalid date "1.5.2024" (must be YYYY-MM-DD)
      --> AGENTS.yaml:15:11
       |
    15 |     date: 1.5.2024
       |           ^^^^^^^^
       |
       = help: the decision is delivered without its date

    warning[agents-yaml/unknown-field]: decisions[0]: unknown field "exclude"
      --> AGENTS.yaml:16:5
       |
    16 |     exclude: [a]
       |     ^^^^^^^
       |
       = help: known here: decision, rationale, alternatives, revisit_when, date, match, owner, review_by

    ------- stderr -------
    5 errors and 3 warnings in 1 file; 3 fixable with `--fix=suggested`
    [exit status: 1]
    [EOF]
    "#);
}

/// The interface: diagnostics have code, severity, path, line, column, message and help.
#[test]
fn json_has_every_key_in_its_order() {
    let yaml = "context:\n  - {content: A, on: edti}\n  - {content: B, color: red}\n";
    let project = project().with_file("AGENTS.yaml", yaml);
    insta::assert_snapshot!(project.run(&["lint", "--format", "json"]), @r#"
    {
      "kind": "lint",
      "version": 2,
      "root": "$PROJECT",
      "checked": [
        "mistakes",
        "stale",
        "unused",
        "setup"
      ],
      "files": 1,
      "errors": 1,
      "warnings": 1,
      "fixed": 0,
      "ignored": 0,
      "known": 0,
      "diagnostics": [
        {
          "code": "agents-yaml/invalid-on",
          "severity": "error",
          "path": "AGENTS.yaml",
          "line": 2,
          "column": 22,
          "message": "context[0]: invalid action \"edti\" (must be read, edit, create, or all)",
          "help": "did you mean `edit`?"
        },
        {
          "code": "agents-yaml/unknown-field",
          "severity": "warning",
          "path": "AGENTS.yaml",
          "line": 3,
          "column": 18,
          "message": "context[1]: unknown field \"color\"",
          "help": "known here: content, match, exclude, on, when, hold, check, enforce, examples, id, owner, review_by"
        }
      ]
    }
    [exit status: 1]
    [EOF]
    "#);
}

/// Document: "Unknown fields produce warnings, not errors".
#[test]
fn warnings_fail_only_when_asked_to() {
    let project = project().with_file("AGENTS.yaml", "context:\n  - {content: A, color: red}\n");
    assert_eq!(project.run(&["lint"]).code, Some(0));
    assert_eq!(project.run(&["lint", "--strict"]).code, Some(1));
    assert_eq!(project.run(&["lint", "--strict", "--format", "json"]).code, Some(1));
    let error = project.with_file("AGENTS.yaml", "context:\n  - {content: A, on: x}\n");
    assert_eq!(error.run(&["lint"]).code, Some(1));
}

/// Issue: near-miss hints, "did you mean `match`?".
#[test]
fn a_slip_gets_a_hint() {
    for (yaml, hint) in [
        ("context: [{content: A, mach: [a]}]", "did you mean `match`?"),
        ("context: [{contents: A}]", "did you mean `content`?"),
        ("context: [{content: A, Match: [a]}]", "did you mean `match`?"),
        ("context: [{content: A, exclud: [a]}]", "did you mean `exclude`?"),
        ("context: [{content: A, on: raed}]", "did you mean `read`?"),
        ("context: [{content: A, when: befor}]", "did you mean `before`?"),
        ("contexts: []", "did you mean `context`?"),
        ("decision: []", "did you mean `decisions`?"),
        ("decisions: [{decision: A, rational: B}]", "did you mean `rationale`?"),
        (
            "decisions: [{decision: A, rationale: B, revisit-when: C}]",
            "did you mean `revisit_when`?",
        ),
    ] {
        let output = project().with_file("AGENTS.yaml", yaml).run(&["lint"]);
        assert!(output.stdout.contains(hint), "{yaml}: {output}");
    }
    // What is near to nothing gets no guess.
    let output = project().with_file("AGENTS.yaml", "context: [{content: A, priority: 1}]");
    let output = output.run(&["lint"]);
    assert!(!output.stdout.contains("did you mean"), "{output}");
}

/// Issue: globs that match no file in the project.
#[test]
fn a_glob_that_matches_nothing_is_reported() {
    let yaml = "context:
  - {content: alive, match: [\"src/**\", \"src/\", \"./\"]}
  - {content: dead, match: [\"lib/**\", \"docs/\", \"*.rs\"]}
decisions:
  - {decision: dead, rationale: too, match: [\"**/*.go\"]}
";
    let project = project()
        .with_file("AGENTS.yaml", yaml)
        .with_file("src/a.py", "")
        .with_file("src/AGENTS.yaml", "context: [{content: A, match: [\"src/*.py\"]}]\n");
    insta::assert_snapshot!(project.run(&["lint"]), @r#"
    warning[agents-yaml/unused-pattern]: context[1]: "lib/**" matches no file in the project
     --> AGENTS.yaml:3:29
      |
    3 |   - {content: dead, match: ["lib/**", "docs/", "*.rs"]}
      |                             ^^^^^^^^
      |
      = help: patterns are relative to the directory of this file; ignored files are skipped

    warning[agents-yaml/unused-pattern]: context[1]: "docs/" matches no directory in the project
     --> AGENTS.yaml:3:39
      |
    3 |   - {content: dead, match: ["lib/**", "docs/", "*.rs"]}
      |                                       ^^^^^^^
      |
      = help: patterns are relative to the directory of this file; ignored files are skipped

    warning[agents-yaml/unused-pattern]: context[1]: "*.rs" matches no file in the project
     --> AGENTS.yaml:3:48
      |
    3 |   - {content: dead, match: ["lib/**", "docs/", "*.rs"]}
      |                                                ^^^^^^
      |
      = help: patterns are relative to the directory of this file; ignored files are skipped

    warning[agents-yaml/unused-pattern]: decisions[0]: "**/*.go" matches no file in the project
     --> AGENTS.yaml:5:46
      |
    5 |   - {decision: dead, rationale: too, match: ["**/*.go"]}
      |                                              ^^^^^^^^^
      |
      = help: patterns are relative to the directory of this file; ignored files are skipped

    warning[agents-yaml/unused-pattern]: context[0]: "src/*.py" matches no file in src
     --> src/AGENTS.yaml:1:32
      |
    1 | context: [{content: A, match: ["src/*.py"]}]
      |                                ^^^^^^^^^^
      |
      = help: patterns are relative to the directory of this file; ignored files are skipped

    ------- stderr -------
    5 warnings in 2 files
    [EOF]
    "#);
}

/// Patterns that can match nothing, whatever the project holds.
#[test]
fn a_glob_that_can_never_match_is_reported() {
    let yaml = "context: [{content: A, match: [\"/src/**\", \"../x\", \"\"]}]\n";
    let output = project().with_file("AGENTS.yaml", yaml).run(&["lint", "--format", "json"]);
    let codes: Vec<_> = output.json()["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["code"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(codes, ["agents-yaml/never-matches"; 3], "{output}");
}

/// Issue: `--fix` where the repair is sure. Comments and everything else stay byte for byte, and
/// the second run has nothing left to do.
#[test]
fn fix_repairs_what_is_sure_and_nothing_else() {
    let before = "# Kept.\r\ncontext:\n  - content:   A     # spaced oddly\n    match: *.py # why not\n    on: [ Edit, 'READ' ]\n\n  - {content: B, match: \"*.md\", mach: [x]}\n  - content: C\n    when: After";
    let after = "# Kept.\r\ncontext:\n  - content:   A     # spaced oddly\n    match: [\"*.py\"] # why not\n    on: [ edit, read ]\n\n  - {content: B, match: [\"*.md\"], mach: [x]}\n  - content: C\n    when: after";
    let project =
        project().with_file("AGENTS.yaml", before).with_file("a.py", "").with_file("a.md", "");
    insta::assert_snapshot!(project.run(&["lint", "--fix"]), @r#"
    warning[agents-yaml/unknown-field]: context[1]: unknown field "mach"
     --> AGENTS.yaml:7:35
      |
    7 |   - {content: B, match: ["*.md"], mach: [x]}
      |                                   ^^^^
      |
      = help: did you mean `match`?

    ------- stderr -------
    1 warning in 1 file; 6 fixed; 1 more with `--fix=suggested`
    [EOF]
    "#);
    assert_eq!(project.read("AGENTS.yaml"), after);
    let again = project.run(&["lint", "--fix"]);
    assert!(again.stderr.contains("; 0 fixed; 1 more with `--fix=suggested`"), "{again}");
    assert_eq!(project.read("AGENTS.yaml"), after);
}

/// Without `--fix`, nothing in the project is written (ruling G8).
#[test]
fn lint_alone_writes_nothing() {
    let before = "context: [{content: A, on: Edit}]\n";
    let project = project().with_file("AGENTS.yaml", before);
    let output = project.run(&["lint"]);
    assert!(output.stderr.contains("; 1 fixable with `--fix`"), "{output}");
    assert_eq!(project.read("AGENTS.yaml"), before);
    let names: Vec<_> = std::fs::read_dir(project.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

/// N17: "did you mean `match`?" is a fix as well, on request.
#[test]
fn suggested_fixes_are_made_on_request() {
    let project = project()
        .with_file("AGENTS.yaml", "context:\n  - content: A\n    mach: [\"*.py\"]\n    on: raed\n")
        .with_file("a.py", "");
    let safe = project.run(&["lint", "--fix"]);
    assert!(safe.stderr.contains("; 0 fixed; 2 more with `--fix=suggested`"), "{safe}");
    assert!(project.read("AGENTS.yaml").contains("mach:"), "{safe}");
    let all = project.run(&["lint", "--fix=suggested"]);
    assert_eq!((all.stdout.as_str(), all.code), ("", Some(0)), "{all}");
    assert!(all.stderr.contains("No problems in 1 file; 2 fixed"), "{all}");
    let fixed = "context:\n  - content: A\n    match: [\"*.py\"]\n    on: read\n";
    assert_eq!(project.read("AGENTS.yaml"), fixed);
}

/// A repair keeps what an anchor and its aliases mean.
#[test]
fn fix_leaves_shared_values_alone() {
    let yaml = "context:\n  - {content: A, match: &py \"*.py\"}\n  - {content: B, match: *py}\n";
    let project = project().with_file("AGENTS.yaml", yaml).with_file("a.py", "");
    let before = project.run(&["context", "a.py", "--json"]).json();
    let output = project.run(&["lint", "--fix"]);
    assert_eq!(output.code, Some(0), "{output}");
    let after = project.run(&["context", "a.py", "--json"]).json();
    for item in 0..2 {
        assert_eq!(after["items"][item]["content"], before["items"][item]["content"], "{output}");
    }
    let tagged = "context: [{content: A, match: !!str \"*.py\"}]\n";
    project.write("AGENTS.yaml", tagged);
    assert_eq!(project.run(&["lint", "--fix"]).code, Some(0));
    assert_eq!(project.read("AGENTS.yaml"), tagged);
}

/// A text that is not UTF-8 is reported, and never written back in another form.
#[test]
fn fix_does_not_touch_what_is_not_utf8() {
    let bytes = b"context: [{content: caf\xe9, on: Edit}]\n";
    let project = project().with_file("AGENTS.yaml", bytes);
    let output = project.run(&["lint", "--fix", "--format", "json"]);
    assert_eq!(std::fs::read(project.path().join("AGENTS.yaml")).unwrap(), bytes, "{output}");
    assert_eq!(output.json()["fixed"], 0);
}

/// A file of another user's making keeps its permissions when it is repaired.
#[cfg(unix)]
#[test]
fn fix_keeps_permissions_and_follows_links_inside() {
    use std::os::unix::fs::PermissionsExt;
    let project = project()
        .with_file("shared/rules.yaml", "context: [{content: A, on: Edit}]\n")
        .with_link("AGENTS.yaml", "shared/rules.yaml");
    let file = project.path().join("shared/rules.yaml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let output = project.run(&["lint", "--fix"]);
    assert_eq!(
        project.read("shared/rules.yaml"),
        "context: [{content: A, on: edit}]\n",
        "{output}"
    );
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    let link = std::fs::symlink_metadata(project.path().join("AGENTS.yaml")).unwrap();
    assert!(link.is_symlink());
}

/// Directories that version control ignores are left out, unless asked for.
#[test]
fn ignored_directories_are_left_out() {
    let project = project()
        .with_dir(".git")
        .with_file(".gitignore", "build/\n")
        .with_file("AGENTS.yaml", "context: [{content: A}]\n")
        .with_file("build/AGENTS.yaml", "context: [{content: A, on: x}]\n");
    insta::assert_snapshot!(project.run(&["lint"]), @"
    ------- stderr -------
    No problems in 1 file
    [EOF]
    ");
    let everything = project.run(&["lint", "--no-ignore"]);
    assert_eq!(everything.code, Some(1), "{everything}");
    assert!(everything.stdout.contains("build/AGENTS.yaml:1:28"), "{everything}");
}

/// A directory or a file can be named; then only it counts.
#[test]
fn a_part_of_the_project_can_be_checked() {
    let bad = "context: [{content: A, on: x}]\n";
    let project = project()
        .with_file("a/AGENTS.yaml", bad)
        .with_file("b/AGENTS.yaml", bad)
        .with_file("b/AGENTS.yml", "context: [{content: A}]\n");
    let files = |args: &[&str]| {
        let report = project.run(&[&["lint", "--format", "json"], args].concat()).json();
        (report["files"].clone(), report["errors"].clone())
    };
    assert_eq!(files(&[]), (json!(3), json!(2)));
    assert_eq!(files(&["a"]), (json!(1), json!(1)));
    assert_eq!(files(&["b/AGENTS.yml"]), (json!(1), json!(0)));
    assert_eq!(files(&["b/AGENTS.yaml"]), (json!(1), json!(1)));
}

/// A file that is a link is checked under the name that was typed.
#[cfg(unix)]
#[test]
fn a_linked_file_can_be_checked() {
    let project = project()
        .with_file("src/shared/rules.yaml", "context: [{content: A, on: x}]\n")
        .with_link("src/AGENTS.yaml", "shared/rules.yaml");
    let output = project.run(&["lint", "src/AGENTS.yaml"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains(" --> src/AGENTS.yaml:1:28"), "{output}");
    let sctx = project.linked_as("sctx").run(&["validate", "src/AGENTS.yaml"]);
    assert_eq!(sctx.code, Some(1), "{sctx}");
    assert!(sctx.stdout.contains("src/AGENTS.yaml:1: context[0]: invalid action"), "{sctx}");
}

/// A file of no format that we know was not checked, and does not count.
#[test]
fn a_file_of_another_kind_is_not_counted() {
    let output = shop().run(&["lint", "README.md", "--format", "json"]);
    assert_eq!((output.json()["files"].clone(), output.code), (json!(0), Some(0)), "{output}");
    let others = "warning: no guidance in `README.md`; 2 guidance files elsewhere in the project";
    assert!(output.stderr.contains(others), "{output}");
}

/// Document, Missing files: "tools should emit a warning and return gracefully".
#[test]
fn no_context_file_is_a_warning() {
    insta::assert_snapshot!(project().run(&["lint"]), @"
    ------- stderr -------
    No problems in 0 files
    warning: no guidance files found
    warning: `$PROJECT` is not in a git repository, so parent directories are not read
    [EOF]
    ");
}

/// A path that is missing, or outside the project, cannot be checked.
#[test]
fn a_wrong_place_is_refused() {
    let shop = shop();
    insta::assert_snapshot!(shop.run(&["lint", "nowhere"]), @"
    ------- stderr -------
    error: file not found: `nowhere`
    [exit status: 1]
    [EOF]
    ");
    let outside = shop.run(&["lint", ".."]);
    assert_eq!((outside.stdout.as_str(), outside.code), ("", Some(1)), "{outside}");
    assert!(outside.stderr.contains("is outside"), "{outside}");
}

/// A wrong call is exit 2.
#[test]
fn a_wrong_call_is_refused() {
    for args in [
        &["lint", "--format", "xml"][..],
        &["lint", "--bogus"],
        &["lint", "a", "--explain", "text/hidden"],
    ] {
        let output = shop().run(args);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(2)), "{args:?}");
    }
}
