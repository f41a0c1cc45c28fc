//! Which client loads what by itself, and what is delivered to it instead.

use brief_profiles::BUILTIN;

use super::support::{ask_with, loaded, project};

/// `files` with a word of text each.
fn with(files: &[&str]) -> brief_system::MemorySystem {
    let texts: Vec<String> = files.iter().map(|path| format!("Text of {path}.\n")).collect();
    let pairs: Vec<_> =
        files.iter().zip(&texts).map(|(&path, text)| (path, text.as_str())).collect();
    project(&pairs)
}

#[track_caller]
fn check(files: &[&str], path: &str, client: &str, expected: &[&str]) {
    let (loaded, delivered) = loaded(&with(files), path, client);
    assert_eq!(loaded, expected, "{client} with {files:?}");
    assert_eq!(loaded.len() + delivered.len(), files.len(), "{client}: {delivered:?}");
}

#[test]
fn claude_reads_agents_md_only_without_a_claude_md() {
    check(&["AGENTS.md"], "x", "claude", &["AGENTS.md"]);
    check(&[".claude/AGENTS.md"], "x", "claude", &[".claude/AGENTS.md"]);
    check(&["AGENTS.md", "CLAUDE.md"], "x", "claude", &["CLAUDE.md"]);
    check(&["AGENTS.md", ".claude/CLAUDE.md"], "x", "claude", &[".claude/CLAUDE.md"]);
    check(
        &["CLAUDE.md", "CLAUDE.local.md", "a/CLAUDE.md", "a/AGENTS.md", "GEMINI.md"],
        "a/x",
        "claude",
        &["CLAUDE.md", "CLAUDE.local.md", "a/CLAUDE.md"],
    );
    check(
        &["/home/.claude/CLAUDE.md", "/home/.codex/AGENTS.md", "CLAUDE.md"],
        "x",
        "claude",
        &["/home/.claude/CLAUDE.md", "CLAUDE.md"],
    );
}

#[test]
fn copilot_reads_nearly_everything_at_every_depth() {
    let all =
        &["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md", "a/AGENTS.md"];
    check(all, "a/x", "copilot", all);
    check(&[".claude/rules/r.md", ".clinerules"], "x", "copilot", &[".claude/rules/r.md"]);
}

#[test]
fn opencode_reads_claude_md_only_without_an_agents_md_beside_it() {
    check(&["AGENTS.md", "CLAUDE.md"], "x", "opencode", &["AGENTS.md"]);
    check(&["CLAUDE.md"], "x", "opencode", &["CLAUDE.md"]);
    check(&["AGENTS.md", "a/CLAUDE.md"], "a/x", "opencode", &["AGENTS.md", "a/CLAUDE.md"]);
    check(
        &["/home/.config/opencode/AGENTS.md", "/home/.claude/CLAUDE.md"],
        "x",
        "opencode",
        &["/home/.config/opencode/AGENTS.md"],
    );
    check(&["/home/.claude/CLAUDE.md"], "x", "opencode", &["/home/.claude/CLAUDE.md"]);
}

/// L11: Kilo 7.7.7, run on 2026-11-18.
#[test]
fn kilo_reads_the_users_claude_md_without_an_agents_md_of_its_own() {
    check(&["/home/.claude/CLAUDE.md"], "x", "kilo", &["/home/.claude/CLAUDE.md"]);
    let own = "/home/.config/kilo/AGENTS.md";
    check(&[own, "/home/.claude/CLAUDE.md"], "x", "kilo", &[own]);
}

#[test]
fn cursor_reads_nested_agents_md_and_the_top_claude_md() {
    check(
        &["AGENTS.md", "CLAUDE.md", ".cursorrules", "a/AGENTS.md", "a/CLAUDE.md"],
        "a/x",
        "cursor",
        &["AGENTS.md", "CLAUDE.md", ".cursorrules", "a/AGENTS.md"],
    );
}

#[test]
fn codex_reads_the_override_instead() {
    check(&["AGENTS.md", "a/AGENTS.md", "CLAUDE.md"], "a/x", "codex", &["AGENTS.md"]);
    let words = ask_with(&with(&["AGENTS.md", "AGENTS.override.md"]), "x", Some("codex"), &[]);
    assert_eq!(words.items, [""; 0]);
    assert_eq!(
        words.left_out,
        [
            "AGENTS.md: codex reads AGENTS.override.md instead",
            "AGENTS.override.md: codex loads it by itself"
        ]
    );
}

#[test]
fn gemini_reads_its_own_files_at_every_depth() {
    check(
        &["GEMINI.md", "AGENTS.md", "a/GEMINI.md", "/home/.gemini/GEMINI.md"],
        "a/x",
        "gemini",
        &["/home/.gemini/GEMINI.md", "GEMINI.md", "a/GEMINI.md"],
    );
}

#[test]
fn cline_reads_its_own_rules_and_agents_md() {
    check(
        &["AGENTS.md", ".cursorrules", ".windsurfrules", ".clinerules/a.md", ".cline/rules/b.md"],
        "x",
        "cline",
        &["AGENTS.md", ".clinerules/a.md", ".cline/rules/b.md"],
    );
    check(&["CLAUDE.md", "a/AGENTS.md"], "a/x", "cline", &[]);
}

#[test]
fn windsurf_reads_agents_md_everywhere() {
    check(
        &[
            "AGENTS.md",
            ".windsurfrules",
            ".devin/rules/d.md",
            ".windsurf/rules/w.md",
            "a/AGENTS.md",
        ],
        "a/x",
        "windsurf",
        &[
            "AGENTS.md",
            ".windsurfrules",
            ".windsurf/rules/w.md",
            ".devin/rules/d.md",
            "a/AGENTS.md",
        ],
    );
}

#[test]
fn zed_reads_the_first_that_there_is() {
    let order = [
        ".rules",
        ".cursorrules",
        ".windsurfrules",
        ".clinerules",
        ".github/copilot-instructions.md",
        "AGENT.md",
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
    ];
    for first in 0..order.len() {
        check(&order[first..], "x", "zed", &[order[first]]);
    }
    // A directory of that name is no such file.
    check(&[".clinerules/a.md", "AGENTS.md"], "x", "zed", &["AGENTS.md"]);
}

#[test]
fn a_scoped_rule_is_loaded_when_it_matches() {
    let system = project(&[
        (".cursor/rules/ts.mdc", "---\nglobs: **/*.ts\n---\nTS.\n"),
        (".claude/rules/ts.md", "---\npaths: '**/*.ts'\n---\nTypes.\n"),
    ]);
    assert_eq!(
        loaded(&system, "a.ts", "claude"),
        (vec![".claude/rules/ts.md".to_owned()], vec![".cursor/rules/ts.mdc".to_owned()])
    );
    assert_eq!(
        loaded(&system, "a.ts", "cursor"),
        (vec![".cursor/rules/ts.mdc".to_owned()], vec![".claude/rules/ts.md".to_owned()])
    );
    assert_eq!(loaded(&system, "a.py", "claude"), (vec![], vec![]));
}

#[test]
fn an_unknown_client_loads_nothing() {
    check(&["AGENTS.md", "CLAUDE.md"], "x", "nobody", &[]);
}

#[test]
fn the_same_skill_is_offered_once_and_not_to_who_has_it() {
    let skill = "---\nname: deploy\ndescription: Deploys.\n---\nSteps.\n";
    let system = project(&[(".agents/skills/deploy/SKILL.md", skill)])
        .with_link(".claude/skills/deploy", "../../.agents/skills/deploy")
        .with_file(".cursor/skills/other/SKILL.md", "---\ndescription: Other.\n---\nX.\n");
    let words = ask_with(&system, "x", Some("claude"), &[]);
    assert_eq!(words.items, [".cursor/skills/other/SKILL.md: listed: listed by its description"]);
    assert_eq!(
        words.left_out,
        [
            ".agents/skills/deploy/SKILL.md: claude loads the same text from \
             .claude/skills/deploy/SKILL.md:5",
            ".claude/skills/deploy/SKILL.md: claude loads it by itself, by name and description",
        ]
    );
    let words = ask_with(&system, "x", None, &[]);
    assert_eq!(words.items.len(), 2);
    assert_eq!(
        words.left_out,
        [".claude/skills/deploy/SKILL.md: has the same text as .agents/skills/deploy/SKILL.md:5"]
    );
}

#[test]
fn the_clients_of_the_documentation_are_known() {
    for client in ["claude", "copilot", "opencode", "cursor", "codex", "gemini", "cline", "zed"] {
        assert!(BUILTIN.find_client(client).is_some(), "{client}");
    }
}
