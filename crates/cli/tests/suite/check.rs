//! `brief check`: whether a change keeps the rules.

use std::path::Path;

use brief_testkit::{Output, Sandbox};
use serde_json::{Value, json};

use crate::diff::{commit, git};
use crate::project;

const RULES: &str = "context:
  - content: Ant Design comes through our components.
    match: ['src/**']
    id: no-antd
    check:
      forbid: { text: \"from 'antd'\" }
      instead: our components
    enforce: deny
    examples: { broken: [\"import a from 'antd'\"], kept: [\"import a from './ui'\"] }
  - content: Generated files are generated.
    id: generated
    check:
      forbid: { change: 'gen/**', create: 'gen/**', delete: 'gen/**' }
    enforce: warn
  - content: A change has a changeset.
    id: changeset
    check:
      require: { change: '.changeset/*.md', when: 'src/**' }
  - content: Use pnpm.
    id: pnpm
    check:
      forbid: { command: npm }
  - content: Commits say what they are.
    id: kind
    check:
      require: { message: '/^(feat|fix): /', on: commit }
";

fn repository() -> Sandbox {
    let project = project()
        .with_file("AGENTS.yaml", RULES)
        .with_file("src/old.ts", "import x from 'antd'\n")
        .with_file("gen/a.ts", "a\n");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    project
}

fn report(output: &Output) -> Value {
    output.json()
}

/// The verdicts by rule, and the places of the broken ones.
fn verdicts(output: &Output) -> Vec<Value> {
    let json = report(output);
    let rules = json["rules"].as_array().unwrap().iter();
    let place = |place: &Value| match (place["path"].as_str(), place["line"].as_u64()) {
        (Some(path), Some(line)) => json!(format!("{path}:{line}")),
        (Some(path), None) => json!(path),
        _ => place["text"].clone(),
    };
    let rule = |rule: &Value| {
        let places: Vec<Value> = rule["places"].as_array().unwrap().iter().map(place).collect();
        json!([rule["rule"], rule["verdict"], places])
    };
    rules.map(rule).collect()
}

/// Only added lines count: a line that was there before breaks nothing.
#[test]
fn the_working_tree_is_compared_with_the_newest_commit() {
    let project = repository();
    let clean = project.run(&["check"]);
    assert_eq!(clean.code, Some(0), "{clean}");
    assert!(clean.stderr.contains("No rule broken in 0 changed files"), "{clean}");
    project.write("src/old.ts", "import x from 'antd'\nexport {}\n");
    project.write("src/new.ts", "ok\nimport y from 'antd'\n");
    project.write("gen/a.ts", "b\n");
    let output = project.run(&["check", "--json"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(
        verdicts(&output),
        [
            json!(["no-antd", "broken", ["src/new.ts:2"]]),
            json!(["generated", "broken", ["gen/a.ts"]]),
            json!(["changeset", "broken", ["src/new.ts"]]),
            json!(["pnpm", "unknown", []]),
            json!(["kind", "no_occasion", []]),
        ]
    );
    let text = project.run(&["check"]);
    assert!(text.stdout.contains("src/new.ts:2:"), "{text}");
    assert!(text.stdout.contains("no-antd: adds `from 'antd'`"), "{text}");
    assert!(text.stderr.contains("3 rules broken in 3 changed files"), "{text}");
    // A part of the change.
    let part = project.run(&["check", "gen"]);
    assert!(part.stdout.contains("generated") && !part.stdout.contains("no-antd"), "{part}");
    // With its changeset, the change is whole.
    project.write(".changeset/a.md", "x\n");
    assert_eq!(verdicts(&project.run(&["check", "--json"]))[2], json!(["changeset", "kept", []]));
}

#[test]
fn staged_files_and_revisions_are_checked() {
    let project = repository();
    project.write("src/new.ts", "import y from 'antd'\n");
    let staged = project.run(&["check", "--staged"]);
    assert_eq!(staged.code, Some(0), "{staged}");
    git(&project, &["add", "src/new.ts"]);
    // What is staged counts, and not what lies on disk.
    project.write("src/new.ts", "fine\n");
    let staged = project.run(&["check", "--staged", "--json"]);
    assert_eq!(verdicts(&staged)[0], json!(["no-antd", "broken", ["src/new.ts:1"]]));
    git(&project, &["commit", "--quiet", "-m", "add a file"]);
    let range = project.run(&["check", "--diff", "HEAD~1..HEAD", "--json"]);
    assert_eq!(range.code, Some(1), "{range}");
    let found = verdicts(&range);
    assert_eq!(found[0], json!(["no-antd", "broken", ["src/new.ts:1"]]));
    assert_eq!(found[4], json!(["kind", "broken", ["add a file"]]));
    let unknown = project.run(&["check", "--diff", "nope"]);
    assert!(unknown.stderr.contains("unknown revision `nope`"), "{unknown}");
}

#[test]
fn a_message_is_checked() {
    let project = repository();
    project.write("message", "Add a thing\n# comment\n");
    let output = project.run(&["check", "--staged", "--message", "message", "--json"]);
    assert_eq!(verdicts(&output)[4], json!(["kind", "broken", ["Add a thing"]]));
    let output = project.run_with_input(&["check", "--staged", "--message", "-"], "fix: a thing\n");
    assert_eq!(output.code, Some(0), "{output}");
}

/// An exception has a date and a reason; one that is over is reported.
#[test]
fn a_comment_excepts_a_line() {
    let project = repository();
    project.write(".changeset/a.md", "x\n");
    let line = "import y from 'antd'";
    let with = |comment: &str| {
        project.write("src/new.ts", format!("// {comment}\n{line}\n"));
        project.run(&["check"])
    };
    let excepted = with("brief-allow no-antd until 2199-01-31: nothing else");
    assert_eq!(excepted.code, Some(0), "{excepted}");
    assert!(excepted.stderr.contains("1 excepted"), "{excepted}");
    for (comment, code) in [
        ("brief-allow no-antd until 2020-01-31: nothing else", "check/expired-exception"),
        ("brief-allow no-antd until 2199-01-31", "check/invalid-exception"),
        ("brief-allow no-antd: nothing else", "check/invalid-exception"),
        ("brief-allow no-ant until 2199-01-31: nothing else", "check/invalid-exception"),
    ] {
        let output = with(comment);
        assert_eq!(output.code, Some(1), "{comment}: {output}");
        assert!(output.stdout.contains(code), "{comment}: {output}");
        assert!(output.stdout.contains("check/broken"), "{comment}: {output}");
    }
}

/// Other programs read the same findings.
#[test]
fn every_format_has_the_finding() {
    let project = repository();
    project.write("src/new.ts", "import y from 'antd'\n");
    for (format, expected) in [
        ("sarif", "\"ruleId\": \"check/broken\""),
        ("github", "::error file=src/new.ts,line=1,col=10"),
        ("gitlab", "\"check_name\": \"check/broken\""),
        ("junit", "<testcase name=\"check/broken\" classname=\"src/new.ts\" line=\"1\""),
        ("json", "\"verdict\": \"broken\""),
    ] {
        let output = project.run(&["check", "--format", format]);
        assert_eq!(output.code, Some(1), "{format}: {output}");
        assert!(output.stdout.contains(expected), "{format}: {output}");
    }
}

/// Every format of rules may have a check.
#[test]
fn checks_of_all_formats_are_in_force() {
    let check = "check:\n  forbid: { text: NAME }\nid: NAME\n";
    let rule = |more: &str, name: &str| {
        format!("---\n{more}{}---\nA rule.\n", check.replace("NAME", name))
    };
    let project = project()
        .with_file(".context/a.md", rule("trigger: always\n", "context"))
        .with_file(".agents/rules/b.md", rule("", "task"))
        .with_file(".cursor/rules/c.mdc", rule("globs: src/**\n", "cursor"))
        .with_file(".claude/rules/d.md", rule("paths: ['src/**']\n", "claude"))
        .with_file(".github/instructions/e.instructions.md", rule("applyTo: 'src/**'\n", "copilot"))
        .with_file("CLAUDE.md", "# Testing\n\nText.\n")
        .with_file(
            "brief.toml",
            "[[checks]]\nfor = \"CLAUDE.md#testing\"\nid = \"toml\"\nforbid = { text = \"toml\" }\n",
        )
        .with_file("sub/AGENTS.yaml", "context:\n  - {content: x, id: sub, check: {forbid: {text: sub}}}\n");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    let words = "context task cursor claude copilot toml sub\n";
    project.write("src/a.ts", words);
    project.write("sub/b.ts", "sub toml\n");
    let output = project.run(&["check", "--json"]);
    let mut found = verdicts(&output);
    found.sort_by_key(ToString::to_string);
    assert_eq!(
        found,
        [
            json!(["claude", "broken", ["src/a.ts:1"]]),
            json!(["context", "broken", ["src/a.ts:1"]]),
            json!(["copilot", "broken", ["src/a.ts:1"]]),
            json!(["cursor", "broken", ["src/a.ts:1"]]),
            json!(["sub", "broken", ["sub/b.ts:1"]]),
            json!(["task", "broken", ["src/a.ts:1"]]),
            json!(["toml", "broken", ["src/a.ts:1", "sub/b.ts:1"]]),
        ]
    );
    // Nothing in these files is a problem for the check of clients' files.
    let lint = project.run(&["lint", "--only", "mistakes"]);
    assert_eq!((lint.code, lint.stdout.as_str()), (Some(0), ""), "{lint}");
}

/// Files that are no text, that are gone, or that cannot be compared are told apart.
#[test]
fn strange_changes_are_judged() {
    let project = repository();
    let before = project.run(&["check", "--json"]);
    assert_eq!(report(&before)["files"], 0);
    project.write("src/binary", b"\0\x01from 'antd'".as_slice());
    project.write("src/crlf.ts", "a\r\nimport y from 'antd'\r\n");
    git(&project, &["rm", "--quiet", "gen/a.ts"]);
    brief_testkit::make_link(Path::new("/etc/passwd"), &project.path().join("src/link"));
    let found = verdicts(&project.run(&["check", "--json"]));
    assert_eq!(found[0][1], "broken");
    assert_eq!(found[0][2], json!(["src/crlf.ts:2"]));
    assert_eq!(found[1], json!(["generated", "broken", ["gen/a.ts"]]));
    let outside = crate::project().with_file("AGENTS.yaml", RULES).run(&["check"]);
    assert!(outside.stderr.contains("not a git repository"), "{outside}");
    let bad = project.run(&["check", "../elsewhere"]);
    assert!(bad.stderr.contains("is outside"), "{bad}");
}

/// A repository without commits, and one without checks.
#[test]
fn a_new_repository_is_checked() {
    let project = project().with_file("AGENTS.yaml", RULES).with_file("src/a.ts", "from 'antd'\n");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    let output = project.run(&["check"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("src/a.ts:1:"), "{output}");
    project.write("AGENTS.yaml", "context:\n  - content: x\n");
    let output = project.run(&["check"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("No rule has a check"), "{output}");
}

/// A check with an error is told, and the others stay in force.
#[test]
fn a_broken_check_leaves_the_others_in_force() {
    let project = repository();
    let more = "  - content: x\n    check:\n      forbid: { text: '/a(/' }\n";
    project.write("AGENTS.yaml", format!("{RULES}{more}"));
    project.write("src/new.ts", "import y from 'antd'\n");
    let output = project.run(&["check"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("check/bad-pattern"), "{output}");
    assert!(output.stdout.contains("no-antd"), "{output}");
}

#[test]
fn a_check_is_proposed() {
    let project = project();
    insta::assert_snapshot!(project.run(&["check", "--propose", "Use pnpm, not npm."]), @r#"
    check:
      forbid: { command: "npm" }
      instead: "pnpm"
    enforce: warn
    examples:
      broken: ["npm"]
      kept: ["pnpm"]

    ------- stderr -------
    hint: add it to the rule, and run `brief lint` to try its examples
    [EOF]
    "#);
    let none = project.run(&["check", "--propose", "Keep functions small."]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""), "{none}");
}

/// A change of 1,000 files and 200 rules is judged as a whole.
#[test]
fn a_large_change_is_checked() {
    let project = project();
    let rules = (0..200)
        .map(|number| {
            format!("  - {{content: r{number}, id: r{number}, check: {{forbid: {{text: word{number}x}}}}}}\n")
        })
        .collect::<Vec<_>>()
        .concat();
    project.write("AGENTS.yaml", format!("context:\n{rules}"));
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    let text = "some line of code that is long enough\n".repeat(40);
    for number in 0..1_000 {
        project.write(&format!("src/d{}/f{number}.ts", number % 20), &text);
    }
    commit(&project);
    for number in 0..1_000 {
        let added = if number == 500 { "word7x\n" } else { "another line\n" };
        project.write(&format!("src/d{}/f{number}.ts", number % 20), format!("{text}{added}"));
    }
    let output = project.run(&["check", "--json"]);
    assert_eq!(report(&output)["files"], 1_000);
    assert_eq!(verdicts(&output)[7], json!(["r7", "broken", ["src/d0/f500.ts:41"]]));
}
