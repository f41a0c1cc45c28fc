//! Hostile files.

use brief_syntax::limits;

use super::support::{ask, project, with_guidance};

#[test]
fn secrets_are_never_read() {
    let system = project(&[
        (".claude/rules/credentials.md", "secret"),
        (".claude/rules/.env.md", "secret"),
        (".env", "secret"),
    ])
    .with_link(".claude/rules/innocent.md", "../../.env");
    let words = ask(&system, "x");
    assert_eq!(words.items, [""; 0]);
    assert_eq!(words.diagnostics.len(), 3, "{words:?}");
}

#[test]
fn what_is_no_text_is_reported_or_passed_by() {
    let system = project(&[("AGENTS.md", "Good.")])
        .with_fifo("CLAUDE.md")
        .with_dir("GEMINI.md")
        .with_file(".cursorrules", vec![b'x'; 2 * 1024 * 1024])
        .with_file(".windsurfrules", b"caf\xe9");
    let words = ask(&system, "x");
    assert_eq!(words.items.len(), 2);
    assert_eq!(
        words.diagnostics,
        [
            "CLAUDE.md:1 client/unreadable",
            ".cursorrules:1 client/unreadable",
            ".windsurfrules:1 text/not-utf8",
        ]
    );
}

#[test]
fn circles_of_links_end() {
    let system = project(&[(".claude/rules/a.md", "A."), (".claude/rules/d/b.md", "B.")])
        .with_link(".claude/rules/d/up", "..")
        .with_link(".claude/rules/e", "d")
        .with_link(".claude/rules/self.md", "self.md")
        .with_link(".claude/rules/round", "round");
    let words = ask(&system, "x");
    assert_eq!(words.items.len(), 2, "{words:?}");
}

#[test]
fn bad_yaml_costs_only_what_is_bad() {
    let system = project(&[
        (".claude/rules/a.md", "---\npaths: [a,\n  {b\n---\nT."),
        (".claude/rules/b.md", "---\npaths:\n  - \"src/[\"\n  - \"*.ts\"\n---\nT."),
        (".claude/rules/c.md", "---\npaths: {a: b}\n---\nT."),
        (".claude/rules/d.md", "---\npaths: never closed\n"),
        (".claude/skills/s/SKILL.md", "---\ndescription: it's: bad [\n---\nT."),
    ]);
    let words = ask(&system, "src/a.ts");
    assert_eq!(words.items.len(), 5, "{words:?}");
    assert!(words.diagnostics.iter().any(|found| found == ".claude/rules/b.md:3 client/bad-glob"));
}

#[test]
fn many_rules_and_deep_directories_are_bounded() {
    let mut system = project(&[]);
    for number in 0..limits::NATIVE_FILES + 50 {
        system = system.with_file(&format!(".claude/rules/r{number:05}.md"), "T.");
    }
    let deep = format!(".claude/rules/{}", "d/".repeat(limits::NATIVE_DEPTH + 1));
    let system = system.with_file(&format!("{deep}x.md"), "deep");
    let words = ask(&system, "x");
    assert_eq!(words.items.len(), limits::NATIVE_FILES);
    assert_eq!(words.diagnostics.len(), 2);
    assert!(words.diagnostics.iter().all(|found| found.ends_with("client/limit")), "{words:?}");
}

/// U10: guidance at a shallow depth is not lost, and the limit is said.
#[test]
fn a_very_deep_path_keeps_what_is_at_the_top_and_what_is_nearest() {
    let deep = "d/".repeat(limits::NATIVE_LEVELS + 5);
    let middle = "d/".repeat(limits::NATIVE_LEVELS / 2 + 1);
    let system = project(&[("AGENTS.md", "Top."), ("d/d/d/AGENTS.md", "Third.")])
        .with_file(&format!("{middle}AGENTS.md"), "Middle.")
        .with_file(&format!("{deep}AGENTS.md"), "Near.");
    let words = ask(&system, &format!("{deep}x"));
    let paths: Vec<&str> = words.items.iter().filter_map(|item| item.split(':').next()).collect();
    assert_eq!(paths, ["AGENTS.md", "d/d/d/AGENTS.md", &format!("{deep}AGENTS.md")]);
    assert_eq!(words.diagnostics, [".:1 client/limit"]);
}

#[test]
fn any_bytes_are_a_client_file() {
    const PLACES: [&str; 8] = [
        "CLAUDE.md",
        ".claude/rules/r.md",
        ".cursor/rules/r.mdc",
        ".github/instructions/r.instructions.md",
        ".clinerules",
        ".windsurf/rules/r.md",
        ".claude/skills/s/SKILL.md",
        ".claude/agents/a.md",
    ];
    #[rustfmt::skip]
    const PIECES: [&str; 30] = [
        "---\n", "paths: ", "globs: ", "applyTo: ", "trigger: ", "alwaysApply: ", "description: ",
        "true", "glob", "manual", "\n", "\n  - ", "[", "]", "{a,b}", "{", "}", ",", "**", "/", "*.ts",
        "!", "\\", "@a.md ", "`", "é\u{200b}", "\r\n", "\u{feff}", "\"", "src",
    ];
    arbtest::arbtest(|bytes| {
        let mut text = String::from("---\n");
        for _ in 0..bytes.int_in_range(0..=40)? {
            text.push_str(bytes.choose(&PIECES)?);
        }
        let path = bytes.choose(&PLACES)?;
        let raw = bytes.bytes(bytes.len())?;
        let content = [text.as_bytes(), raw].concat();
        let system = project(&[("AGENTS.md", "GOOD")]).with_file(path, content);
        for about in ["src/a.ts", "src/"] {
            let words = ask(&system, about);
            assert!(words.items.iter().any(|item| item.starts_with("AGENTS.md: active")));
            with_guidance(&system, about, |guidance, _| {
                for found in guidance.diagnostics() {
                    let text = found.source.text();
                    assert!(text.get(found.span.range()).is_some(), "{found:?}");
                }
            });
        }
        Ok(())
    });
}
