//! The places of files, and the conditions under which they are not found.

use super::support::{ask, project, with_guidance};

#[test]
fn the_more_general_comes_first() {
    let system = project(&[
        ("a/CLAUDE.md", "A."),
        ("a/b/AGENTS.md", "B."),
        (".claude/rules/scoped.md", "---\npaths: a\n---\nS."),
        ("CLAUDE.md", "Top."),
        ("/home/.claude/CLAUDE.md", "User."),
        ("/home/.claude/rules/r.md", "User too."),
    ]);
    let words = ask(&system, "a/b/x");
    let paths: Vec<_> = words.items.iter().filter_map(|item| item.split(':').next()).collect();
    assert_eq!(
        paths,
        [
            "/home/.claude/CLAUDE.md",
            "/home/.claude/rules/r.md",
            "CLAUDE.md",
            ".claude/rules/scoped.md",
            "a/CLAUDE.md",
            "a/b/AGENTS.md",
        ]
    );
}

#[test]
fn what_is_at_home_is_found() {
    for path in [
        ".claude/CLAUDE.md",
        ".claude/rules/deep/r.md",
        ".codex/AGENTS.md",
        ".gemini/GEMINI.md",
        ".copilot/copilot-instructions.md",
        ".config/opencode/AGENTS.md",
        ".cline/rules/r.md",
        ".codeium/windsurf/memories/global_rules.md",
    ] {
        let words = ask(&project(&[(&format!("/home/{path}"), "T.")]), "x");
        assert_eq!(words.items.len(), 1, "{path}");
    }
    let copilot = ("/home/.copilot/instructions/a.instructions.md", "---\napplyTo: '**'\n---\nT.");
    assert_eq!(ask(&project(&[copilot]), "x").items.len(), 1);
}

#[test]
fn a_home_that_is_the_project_is_read_once() {
    let system = project(&[(".claude/CLAUDE.md", "T.")]).with_env("HOME", "/p");
    with_guidance(&system, "x", |guidance, _| assert_eq!(guidance.file_count(), 1));
    let system = project(&[("sub/.claude/CLAUDE.md", "T.")]).with_env("HOME", "/p/sub");
    assert_eq!(ask(&system, "sub/x").items.len(), 1);
}

#[test]
fn what_belongs_to_others_is_not_read() {
    let system =
        project(&[(".agents/rules/r.md", "T."), ("README.md", "T."), ("rules/r.md", "T.")]);
    with_guidance(&system, "x", |guidance, _| assert_eq!(guidance.file_count(), 0));
}

#[test]
fn links_are_followed_inside_only() {
    let system = project(&[("AGENTS.md", "T."), ("shared/r.md", "R."), ("/out/CLAUDE.md", "Out.")])
        .with_link("CLAUDE.md", "AGENTS.md")
        .with_link(".claude/rules", "../shared")
        .with_link("GEMINI.md", "/out/CLAUDE.md")
        .with_link(".cursor/rules", "/out");
    let words = ask(&system, "x");
    assert_eq!(
        words.items,
        [
            "AGENTS.md: active: AGENTS.md applies to everything below it",
            ".claude/rules/r.md: active: has no `paths`",
        ]
    );
    assert_eq!(words.left_out, ["CLAUDE.md: has the same text as AGENTS.md:1"]);
    assert_eq!(
        words.diagnostics,
        ["GEMINI.md:1 client/unreadable", ".cursor/rules:1 client/unreadable"]
    );
}
