//! Findings that are accepted: by a comment with a reason, or by a baseline.

use serde_json::json;

use crate::project;

const DEAD: &str = "context:\n  - content: One\n    match: ['*.zig']\n";

/// "Suppression by comment with a reason": on the line, above it, for the file; one without a reason does nothing.
#[test]
fn a_comment_with_a_reason_takes_a_finding_back() {
    let code = "agents-yaml/unused-pattern";
    let pattern = "    match: ['*.zig']";
    for (text, is_taken_back) in [
        (DEAD.replace(pattern, &format!("{pattern} # brief-ignore {code}: generated later")), true),
        (DEAD.replace(pattern, &format!("    # brief-ignore {code}: later\n{pattern}")), true),
        (format!("# brief-ignore-file capability/hosts, {code}: later\n{DEAD}"), true),
        (DEAD.replace(pattern, &format!("{pattern} # brief-ignore {code}")), false),
        (DEAD.replace(pattern, &format!("{pattern} # brief-ignore x/y: another")), false),
        (format!("# brief-ignore {code}: too far away\n{DEAD}"), false),
    ] {
        let project = project().with_file("AGENTS.yaml", &text);
        let found = project.run(&["lint", "--strict", "--json"]);
        assert_eq!(found.code, Some(i32::from(!is_taken_back)), "{text}{found}");
        assert_eq!(found.json()["ignored"], json!(usize::from(is_taken_back)), "{text}");
    }
    let without = DEAD.replace(pattern, &format!("{pattern} # brief-ignore {code}"));
    let found = project().with_file("AGENTS.yaml", without).run(&["lint"]);
    assert!(found.stdout.contains("brief-ignore agents-yaml/unused-pattern: REASON"), "{found}");
}

/// A comment of another file does not count where one file is checked.
#[test]
fn only_the_comments_of_the_checked_file_count() {
    let ignoring = format!("# brief-ignore-file agents-yaml/unused-pattern: later\n{DEAD}");
    let project = project().with_file("AGENTS.yaml", &ignoring).with_file("CLAUDE.md", "Hi.\n");
    assert_eq!(project.run(&["lint", "--json"]).json()["ignored"], 1);
    assert_eq!(project.run(&["lint", "CLAUDE.md", "--json"]).json()["ignored"], 0);
}

/// A text that hides something cannot also hide the finding.
#[test]
fn hidden_text_is_always_reported() {
    let text = "<!-- brief-ignore-file client/hidden-character: trust me -->\na\u{200b}b \u{e0041}\u{e0042}\n";
    let found = project().with_file("CLAUDE.md", text).run(&["lint", "--json"]).json();
    assert_eq!(found["ignored"], 0, "{found}");
    assert!(found["diagnostics"].to_string().contains("hidden-character"), "{found}");
}

/// "A baseline file, so that a team can start today": what is known passes, also when lines move; what is new does not.
#[test]
fn a_baseline_leaves_out_what_it_records() {
    let project = project().with_file("AGENTS.yaml", DEAD);
    let missing = project.run(&["lint", "--baseline"]);
    assert_eq!(missing.code, Some(1), "{missing}");
    assert!(missing.stderr.contains("--update-baseline"), "{missing}");

    let written = project.run(&["lint", "--strict", "--baseline", "--update-baseline"]);
    assert_eq!(written.code, Some(0), "{written}");
    assert!(written.stderr.contains("1 in the baseline"), "{written}");
    project.write("AGENTS.yaml", format!("# moved\n{DEAD}"));
    let moved = project.run(&["lint", "--strict", "--baseline", "--json"]);
    assert_eq!((moved.code, &moved.json()["known"]), (Some(0), &json!(1)), "{moved}");

    // The same once more is new.
    project.write("AGENTS.yaml", format!("{DEAD}  - content: Two\n    match: ['*.zig']\n"));
    let more = project.run(&["lint", "--strict", "--baseline"]);
    assert_eq!(more.code, Some(1), "{more}");
    assert!(more.stdout.contains("AGENTS.yaml:5"), "{more}");

    project.write("other.json", "{\"version\": 9, \"files\": {}}");
    let newer = project.run(&["lint", "--baseline", "other.json"]);
    assert!(newer.code == Some(1) && newer.stderr.contains("has version 9"), "{newer}");
    project.write("other.json", "[]");
    let other = project.run(&["lint", "--baseline", "other.json"]);
    assert!(other.code == Some(1) && other.stderr.contains("not a baseline"), "{other}");
}

/// "GitHub annotations": a command for each finding, at its place.
#[test]
fn annotations_name_the_place() {
    let found = project().with_file("AGENTS.yaml", DEAD).run(&["lint", "--format", "github"]);
    assert!(
        found.stdout.starts_with(
            "::warning file=AGENTS.yaml,line=3,col=13,endColumn=20,title=agents-yaml/unused-pattern::"
        ),
        "{found}"
    );
    assert_eq!(found.stdout.lines().count(), 1);
}
