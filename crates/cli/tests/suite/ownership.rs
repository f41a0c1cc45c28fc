//! Owners and reviews of guidance: in every format, in `CODEOWNERS`, in lint, in the log and in a fleet.

use brief_testkit::Sandbox;
use serde_json::json;

use crate::fleet_update::{member, with_two_versions};
use crate::install::{git, run, write_all};
use crate::project;
use crate::sees::with_brief_on_path;

/// Guidance of every format with an owner, overdue; and some without.
fn owned() -> Sandbox {
    const META: &str = "metadata:\n  owner: \"@acme/web\"\n  review_by: 2020-01-31\n";
    project()
        .with_dir(".git")
        .with_file(
            "AGENTS.yaml",
            "context:\n  - {content: Use integers., owner: \"@acme/money\", review_by: 2020-02-29}\n  - {content: Be brief.}\n",
        )
        .with_file(".cursor/rules/a.mdc", format!("---\nalwaysApply: true\n{META}---\nTest first.\n"))
        .with_file(".claude/rules/b.md", format!("---\npaths: [\"**\"]\n{META}---\nTest last.\n"))
        .with_file(".github/instructions/c.instructions.md", format!("---\napplyTo: \"**\"\n{META}---\nTest well.\n"))
        .with_file(".agents/rules/d.md", format!("---\nlanguages: [go]\n{META}---\nFormat Go.\n"))
        .with_file(".context/e.md", format!("---\ntrigger: always\n{META}---\nStay calm.\n"))
        .with_file("a.py", "")
}

/// No format complains about the fields, no rule is lost, and each overdue review has one line with its owner.
#[test]
fn every_format_has_owners_and_reviews() {
    let project = owned();
    let lint = project.run(&["lint", "--only", "stale", "--json"]).json();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let mut found: Vec<(String, String)> = Vec::new();
    for one in lint["diagnostics"].as_array().unwrap() {
        assert_eq!(one["code"], "guidance/overdue-review", "{lint:#}");
        // The same words about several files are one finding.
        let others = one["also"].as_array().into_iter().flatten();
        found.extend(
            std::iter::once(one)
                .chain(others)
                .map(|one| (text(&one["path"]), text(&one["message"]))),
        );
    }
    let mut expected = vec![(
        "AGENTS.yaml".to_owned(),
        "the review of this guidance is overdue since 2020-02-29 (owner: @acme/money)".to_owned(),
    )];
    for path in [
        ".agents/rules/d.md",
        ".claude/rules/b.md",
        ".context/e.md",
        ".cursor/rules/a.mdc",
        ".github/instructions/c.instructions.md",
    ] {
        let message = "the review of this guidance is overdue since 2020-01-31 (owner: @acme/web)";
        expected.push((path.to_owned(), message.to_owned()));
    }
    expected.sort();
    found.sort();
    assert_eq!(found, expected, "{lint:#}");
    let mistakes = project.run(&["lint", "--only", "mistakes"]);
    assert!(
        !mistakes.stdout.contains("metadata") && !mistakes.stdout.contains("owner"),
        "{mistakes}"
    );
    let context = project.run(&["context", "a.py", "-s", "languages=go"]);
    for text in
        ["Use integers.", "Test first.", "Test last.", "Test well.", "Format Go.", "Stay calm."]
    {
        assert!(context.stdout.contains(text), "{text}: {context}");
    }
}

/// `CODEOWNERS` counts where an item names nobody; the first of its places counts.
#[test]
fn code_owners_are_read() {
    let project = project()
        .with_dir(".git")
        .with_file("docs/CODEOWNERS", "* @wrong\n")
        .with_file(".github/CODEOWNERS", "* @acme/all\n/.cursor/ @acme/editors\n")
        .with_file(
            ".cursor/rules/a.mdc",
            "---\nalwaysApply: true\nmetadata:\n  review_by: 2020-01-31\n---\nTest.\n",
        );
    let lint = project.run(&["lint", "--only", "stale"]);
    assert!(lint.stdout.contains("overdue since 2020-01-31 (owner: @acme/editors)"), "{lint}");
}

#[test]
fn the_log_groups_by_owner() {
    let project = with_brief_on_path(owned()).with_file("CODEOWNERS", "/.context @acme/ops\n");
    run(&project, &["hook", "install", "claude"]);
    let path = project.path();
    let payload = json!({
        "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Read", "cwd": path,
        "tool_input": {"file_path": path.join("a.py")}, "tool_response": {}, "tool_use_id": "t",
    });
    let told = project.run_with_input(&["hook", "claude"], payload.to_string());
    assert_eq!(told.code, Some(0), "{told}");
    let log = run(&project, &["log", "--by", "owner", "--json"]).json();
    let owners: Vec<&str> = log["owners"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["owner"].as_str().unwrap())
        .collect();
    assert!(owners.contains(&"@acme/money") && owners.contains(&"@acme/web"), "{log:#}");
    assert_eq!(owners.last(), Some(&""), "{log:#}");
    let text = run(&project, &["log", "--by", "owner"]).stdout;
    assert!(
        text.contains("@acme/money  1 delivery, ") && text.contains("no owner  1 delivery, "),
        "{text}"
    );
}

#[test]
fn a_fleet_groups_by_owner() {
    let (project, _remote) = with_two_versions();
    for (name, owners) in
        [("one", "* @acme/shop\n"), ("two", "* @acme/shop\n"), ("three", "*.md @acme/docs\n")]
    {
        let path = member(&project, name);
        write_all(&path, &[(".github/CODEOWNERS", owners)]);
        git(&path, &["add", "--all"]);
        git(&path, &["commit", "--quiet", "-m", "message"]);
    }
    // The second run reads what the first has remembered.
    for _ in 0..2 {
        let output = run(&project, &["fleet", "status", "fleet", "--by", "owner"]);
        insta::allow_duplicates! {
            insta::assert_snapshot!(output.stdout, @"
            @acme/shop  2 repositories
              fleet/one  up to date
              fleet/two  up to date

            no owner  1 repository
              fleet/three  up to date
            ");
        }
    }
    let json = run(&project, &["fleet", "status", "fleet", "--json"]).json();
    assert_eq!(json["repositories"][0]["owners"], json!(["@acme/shop"]));
}
