//! `@path` in client files.

use super::support::{ask, ask_with, loaded, project};

#[test]
fn an_import_is_an_item_of_its_own() {
    let system = project(&[
        ("CLAUDE.md", "# Us\n\nSee @docs/style.md for style.\n"),
        ("docs/style.md", "Tabs. @more.md\n"),
        ("docs/more.md", "More.\n"),
    ]);
    let words = ask(&system, "src/x");
    assert_eq!(
        words.items,
        [
            "CLAUDE.md: active: CLAUDE.md applies to everything below it",
            "docs/style.md: active: imported by CLAUDE.md:3",
            "docs/more.md: active: imported by docs/style.md:1",
        ]
    );
    assert_eq!(words.diagnostics, [""; 0]);
    let (loaded, delivered) = loaded(&system, "src/x", "claude");
    assert_eq!((loaded.len(), delivered.len()), (3, 0));
}

#[test]
fn a_file_that_only_imports_stands_for_what_it_imports() {
    let system = project(&[("CLAUDE.md", "@AGENTS.md\n"), ("AGENTS.md", "Text.\n")]);
    let words = ask(&system, "x");
    assert_eq!(words.items, ["AGENTS.md: active: AGENTS.md applies to everything below it"]);
    assert_eq!(words.left_out, ["CLAUDE.md: only imports AGENTS.md"]);
    // The import brings it to Claude Code, which would not read it beside a CLAUDE.md.
    let words = ask_with(&system, "x", Some("claude"), &[]);
    assert_eq!(
        words.left_out,
        ["AGENTS.md: claude loads it by itself", "CLAUDE.md: claude loads it by itself"]
    );
    // Who does not follow imports has the text from its own place or from us.
    assert_eq!(loaded(&system, "x", "codex").0, ["AGENTS.md"]);
    assert_eq!(loaded(&system, "x", "gemini").1, ["AGENTS.md"]);
}

#[test]
fn who_does_not_follow_imports_is_told() {
    let system = project(&[("AGENTS.md", "Text. @docs/a.md\n"), ("docs/a.md", "A.\n")]);
    assert_eq!(loaded(&system, "x", "codex").1, ["docs/a.md"]);
    assert_eq!(loaded(&system, "x", "copilot").0, ["AGENTS.md", "docs/a.md"]);
}

#[test]
fn imports_stay_in_the_project() {
    let system = project(&[
        ("CLAUDE.md", "@../out.md @~/.claude/me.md @/etc/passwd.txt @link.md @.env @none.md\n"),
        ("/out.md", "secret"),
        ("/home/.claude/me.md", "secret"),
        ("/etc/passwd.txt", "secret"),
        (".env", "secret"),
    ])
    .with_link("link.md", "/out.md");
    let words = ask(&system, "x");
    assert_eq!(words.items.len(), 1, "{words:?}");
    assert_eq!(
        words.diagnostics,
        [
            "CLAUDE.md:1 client/import-outside",
            "CLAUDE.md:1 client/import-outside",
            "CLAUDE.md:1 client/import-outside",
            "CLAUDE.md:1 client/import-outside",
            "CLAUDE.md:1 client/unreadable",
            "CLAUDE.md:1 client/import-missing",
        ]
    );
}

#[test]
fn a_user_imports_from_beside_the_file() {
    let system = project(&[
        ("/home/.claude/CLAUDE.md", "Me. @mine.md @~/.claude/too.md @~/notes.md\n"),
        ("/home/.claude/mine.md", "Mine.\n"),
        ("/home/.claude/too.md", "Too.\n"),
        ("/home/notes.md", "Private.\n"),
    ]);
    let words = ask(&system, "x");
    assert_eq!(words.items.len(), 3, "{words:?}");
    assert_eq!(words.diagnostics, ["/home/.claude/CLAUDE.md:1 client/import-outside"]);
}

#[test]
fn what_no_client_reads_is_read_when_it_is_imported() {
    let system = project(&[
        ("CLAUDE.md", "Us. @.cursor/rules/style.md\n"),
        (".cursor/rules/style.md", "Tabs.\n"),
    ]);
    let words = ask(&system, "x");
    assert_eq!(words.items[1], ".cursor/rules/style.md: active: imported by CLAUDE.md:1");
    assert_eq!(words.left_out, [""; 0]);
}

#[test]
fn circles_end_and_so_do_long_ways() {
    let system = project(&[
        ("CLAUDE.md", "A @a.md\n"),
        ("a.md", "B @b.md @a.md @CLAUDE.md\n"),
        ("b.md", "C @c.md @a.md\n"),
        ("c.md", "D @d.md\n"),
        ("d.md", "E @e.md\n"),
        ("e.md", "never\n"),
    ]);
    let words = ask(&system, "x");
    assert_eq!(words.items.len(), 5, "{words:?}");
    assert_eq!(words.diagnostics, ["d.md:1 client/limit"]);
}
