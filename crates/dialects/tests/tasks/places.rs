//! The places of files, and their order (rulings T1, T6, G6).

use brief_dialects::tasks::{HandEdits, Placed, update_managed_block};
use brief_syntax::limits;
use brief_system::MemorySystem;

use super::support::{codes, failure, output, project, rules, run, skills, task_text, warnings};

fn with_task() -> MemorySystem {
    project().with_file(".agents/tasks/t.md", "T\n")
}

/// Every place of rules, in the order of the reference, 1.2: `.agents/rules` first, then the fixed
/// order of the agents' own.
const RULES: [&str; 18] = [
    ".agents/rules/a.md",
    ".cursor/rules/a.mdc",
    ".augment/rules/a.md",
    ".windsurf/rules/a.md",
    ".opencode/agent/a.md",
    ".opencode/rules/a.md",
    ".github/copilot-instructions.md",
    ".gemini/styleguide.md",
    ".github/agents/a.md",
    ".augment/guidelines.md",
    "AGENTS.md",
    ".claude/a.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".gemini/a.md",
    "GEMINI.md",
    ".cursorrules",
    ".windsurfrules",
];

/// T6: every place, in the fixed order, in the project and at home.
#[test]
fn rules_come_from_every_place_in_order() {
    let mut system = with_task();
    for path in RULES {
        system = system.with_file(path, path).with_file(&format!("/h/{path}"), path);
    }
    let at_home: Vec<String> = RULES.iter().map(|path| format!("/h/{path}")).collect();
    let expected: Vec<&str> = RULES.into_iter().chain(at_home.iter().map(String::as_str)).collect();
    assert_eq!(rules(&run(&system, &["t"])), expected);
}

/// Reference 1.2: `.codex` is a place of rules too.
#[test]
fn rules_of_codex_are_found() {
    let system = with_task().with_file(".codex/AGENTS.md", "A").with_file(".codex/deep/b.md", "B");
    assert_eq!(rules(&run(&system, &["t"])), [".codex/AGENTS.md", ".codex/deep/b.md"]);
}

/// T6: "search roots in the order `-d` (as given), project, home, `-D`".
#[test]
fn roots_are_searched_in_order() {
    let mut system = with_task();
    for root in ["/p", "/h", "/d1", "/d2", "/f1", "/f2"] {
        system = system.with_file(&format!("{root}/.agents/rules/r.md"), root);
    }
    let arguments = ["-D", "/f2", "-d", "/d2", "-D", "/f1", "-d", "/d1", "t"];
    assert_eq!(output(&run(&system, &arguments)), "/d2\n/d1\n/p\n/h\n/f2\n/f1\nT\n\n");
}

/// T6: "inside a directory by path"; reference 1.2: "lexical by path component, recursive".
#[test]
fn inside_a_directory_the_path_orders() {
    let mut system = with_task();
    let expected = ["10.md", "9.md", "A.md", "a/z.md", "a-b.md", "a.md", "b.md", "é.md"];
    for name in expected.iter().rev() {
        system = system.with_file(&format!(".agents/rules/{name}"), "");
    }
    let expected: Vec<String> =
        expected.iter().map(|name| format!(".agents/rules/{name}")).collect();
    assert_eq!(rules(&run(&system, &["t"])), expected);
}

/// T6: "A file reached twice counts once", where it stands first.
#[test]
fn a_file_reached_twice_counts_once() {
    let system = with_task()
        .with_file("AGENTS.md", "A")
        .with_link("CLAUDE.md", "AGENTS.md")
        .with_file(".gemini/styleguide.md", "S")
        .with_link(".agents/rules/again.md", "../../AGENTS.md");
    assert_eq!(rules(&run(&system, &["t"])), [".agents/rules/again.md", ".gemini/styleguide.md"]);
}

/// Reference 1.2: "If project == home every rule is emitted twice"; T6: it counts once.
#[test]
fn a_project_that_is_home_is_searched_once() {
    let system = MemorySystem::new("/p")
        .with_env("HOME", "/p")
        .with_link("/h", "/p")
        .with_file(".agents/tasks/t.md", "T\n")
        .with_file(".agents/rules/r.md", "R\n")
        .with_file(".agents/skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\n");
    let prompt = run(&system, &["-d", "/p", "t"]);
    assert_eq!(rules(&prompt), [".agents/rules/r.md"]);
    assert_eq!(skills(&prompt).len(), 1);
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// T6: "Skills, commands and agents under `.claude/` and the like are not rules."
#[test]
fn what_else_agents_keep_is_no_rule() {
    let mut system = with_task().with_file(".claude/rules/deep/r.md", "R");
    for agent in [".claude", ".gemini", ".codex"] {
        for folder in ["skills/s", "commands", "agents", "agents/deep", "projects/x", "todos"] {
            system = system.with_file(&format!("{agent}/{folder}/SKILL.md"), "no rule");
        }
    }
    for path in [".opencode/command/c.md", ".cursor/commands/c.md", ".agents/commands/c.md"] {
        system = system.with_file(path, "no rule");
    }
    assert_eq!(rules(&run(&system, &["t"])), [".claude/rules/deep/r.md"]);
}

/// T6: "`.cursorrules` and `.windsurfrules` are rules", with front matter like any other.
#[test]
fn cursorrules_and_windsurfrules_are_rules() {
    let system = with_task()
        .with_file(".cursorrules", "---\nstage: testing\n---\nCURSOR ${v}\n")
        .with_file(".windsurfrules", "WINDSURF\n");
    assert_eq!(output(&run(&system, &["-p", "v=1", "t"])), "CURSOR 1\n\nWINDSURF\n\nT\n\n");
    assert_eq!(rules(&run(&system, &["-s", "stage=x", "t"])), [".windsurfrules"]);
    assert_eq!(rules(&run(&system, &["-s", "rule_name=.cursorrules", "t"])), [".cursorrules"]);
}

/// Our ruling T10: "What we wrote there is never read back as a rule"; the user's own text is.
#[test]
fn what_we_wrote_for_an_agent_is_no_rule() {
    let Placed::New(file) = update_managed_block(b"# Mine\n", b"WRITTEN\n", HandEdits::Keep) else {
        panic!("an empty file takes the block")
    };
    let system = with_task().with_file("/h/.claude/CLAUDE.md", file);
    let text = output(&run(&system, &["t"]));
    assert!(text.contains("# Mine\n") && !text.contains("WRITTEN"), "{text}");
}

/// Reference 1.2: "No parent-directory traversal".
#[test]
fn directories_above_the_project_are_not_searched() {
    let system = with_task().with_file("/AGENTS.md", "UP").with_file("/.agents/rules/r.md", "UP");
    assert_eq!(rules(&run(&system, &["t"])), [""; 0]);
}

/// T1: tasks are found recursively, `.md` and `.mdc`.
#[test]
fn tasks_are_found_at_any_depth() {
    for path in [
        ".agents/tasks/a/b/c/x.md",
        ".agents/tasks/x.mdc",
        ".cursor/commands/deep/x.md",
        ".opencode/command/deep/x.mdc",
        "/h/.agents/tasks/deep/x.md",
    ] {
        assert_eq!(task_text(&run(&project().with_file(path, "X\n"), &["x"])), "X\n", "{path}");
    }
}

/// T1: of the home directory only `.agents/tasks/` holds tasks, and only `.agents/commands/`
/// commands (the document, "File Locations").
#[test]
fn other_tools_commands_at_home_are_no_tasks() {
    let system = project()
        .with_file("/h/.cursor/commands/x.md", "X\n")
        .with_file("/h/.opencode/command/x.md", "X\n")
        .with_file(".agents/tasks/t.md", "/x\n");
    assert_eq!(failure(&system, &["x"]).to_string(), "no task found: x");
    assert_eq!(task_text(&run(&system, &["t"])), "/x\n");
}

/// A task is a Markdown file of its name, nothing else.
#[test]
fn other_files_are_no_tasks() {
    for path in [
        ".agents/tasks/x.txt",
        ".agents/tasks/x",
        ".agents/tasks/X.md",
        ".agents/tasks/x.md.bak",
        ".agents/x.md",
        "x.md",
        ".agents/commands/x.md",
        ".claude/commands/x.md",
    ] {
        let system = project().with_file(path, "X\n");
        assert_eq!(failure(&system, &["x"]).to_string(), "no task found: x", "{path}");
    }
}

/// G6: "a link that stays inside the root is followed": to files and to directories.
#[test]
fn links_inside_the_root_are_followed() {
    let system = with_task()
        .with_file("shared/rules/a.md", "A")
        .with_file("shared/deep/b.md", "B")
        .with_file("shared/task.md", "LINKED\n")
        .with_file("shared/skill/SKILL.md", "---\nname: s\ndescription: d\n---\n")
        .with_link(".agents/rules", "../shared/rules")
        .with_link("shared/rules/more", "../deep")
        .with_link(".agents/tasks/linked.md", "../../shared/task.md")
        .with_link(".agents/skills/s", "../../shared/skill");
    let prompt = run(&system, &["linked"]);
    assert_eq!(rules(&prompt), [".agents/rules/a.md", ".agents/rules/more/b.md"]);
    assert_eq!(task_text(&prompt), "LINKED\n");
    assert_eq!(skills(&prompt), [".agents/skills/s/SKILL.md"]);
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// G6: "a link that leaves the root never is", and says so.
#[test]
fn links_that_leave_the_root_are_not_followed() {
    let system = with_task()
        .with_file("/outside/a.md", "A")
        .with_file("/outside/SKILL.md", "---\nname: s\ndescription: d\n---\n")
        .with_link(".agents/rules/a.md", "/outside/a.md")
        .with_link(".agents/rules/more", "/outside")
        .with_link("CLAUDE.md", "../outside/a.md")
        .with_link(".cursor/rules", "/outside")
        .with_link(".agents/skills/s", "/outside");
    let prompt = run(&system, &["t"]);
    assert_eq!(output(&prompt), "T\n\n");
    assert_eq!(
        codes(&prompt),
        [
            ".agents/rules/a.md:1 tasks/link-outside",
            ".agents/rules/more:1 tasks/link-outside",
            ".cursor/rules:1 tasks/link-outside",
            "CLAUDE.md:1 tasks/link-outside",
            ".agents/skills/s:1 tasks/link-outside",
        ]
    );
}

/// G6: a task that is a link out of the project is no task.
#[test]
fn a_task_outside_the_root_is_not_found() {
    let system =
        project().with_file("/outside/x.md", "X").with_link(".agents/tasks/x.md", "/outside/x.md");
    assert_eq!(failure(&system, &["x"]).to_string(), "no task found: x");
}

/// A circle of links ends.
#[test]
fn a_circle_of_links_ends() {
    let system = with_task()
        .with_file(".agents/rules/a.md", "A")
        .with_link(".agents/rules/self", ".")
        .with_link(".agents/rules/up", "..")
        .with_link(".agents/rules/x", "y")
        .with_link(".agents/rules/y", "x");
    let prompt = run(&system, &["t"]);
    let texts: Vec<&[u8]> = prompt.rules.iter().map(|rule| rule.text.as_slice()).collect();
    assert_eq!(texts.iter().filter(|text| **text == b"A").count(), 1);
}

/// G5: regular files only, and none above the limit; each reported, the others stand (G2).
#[test]
fn what_is_no_file_or_too_large_is_reported_and_skipped() {
    let large = "x".repeat(usize::try_from(limits::FILE_BYTES).unwrap() + 1);
    let system = with_task()
        .with_fifo(".agents/rules/a.md")
        .with_file(".agents/rules/b.md", large)
        .with_dir(".agents/rules/c.md")
        .with_file(".agents/rules/d.md", "D")
        .with_dir("AGENTS.md")
        .with_file("CLAUDE.md", "C");
    let prompt = run(&system, &["t"]);
    assert_eq!(rules(&prompt), [".agents/rules/d.md", "CLAUDE.md"]);
    assert_eq!(
        warnings(&prompt),
        [
            ".agents/rules/a.md:1 tasks/unreadable the file was not read: is not a regular file",
            ".agents/rules/b.md:1 tasks/unreadable the file was not read: is larger than 1048576 bytes",
            "AGENTS.md:1 tasks/unreadable the file was not read: is a directory",
        ]
    );
}

/// G5: depth 64.
#[test]
fn depth_is_limited_aloud() {
    let deep = "d/".repeat(limits::TASK_DEPTH + 1);
    let system = with_task()
        .with_file(&format!(".agents/rules/{deep}a.md"), "A")
        .with_file(".agents/rules/z.md", "Z");
    let prompt = run(&system, &["t"]);
    assert_eq!(rules(&prompt), [".agents/rules/z.md"]);
    assert_eq!(prompt.diagnostics.len(), 1);
    assert_eq!(prompt.diagnostics[0].code(), "tasks/too-deep");
}

/// Ruling T10: a root that is not there says so.
#[test]
fn a_root_that_is_missing_is_reported() {
    let prompt = run(&with_task(), &["-D", "/nowhere", "t"]);
    assert_eq!(output(&prompt), "T\n\n");
    assert_eq!(
        warnings(&prompt),
        ["/nowhere:1 tasks/unreadable the file was not read: does not exist"]
    );
}
