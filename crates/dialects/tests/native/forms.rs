//! The conditions of each form of file.

use super::support::{ask, ask_with, project};

/// Returns what becomes of one file for `src/a.ts`.
#[track_caller]
fn check(path: &str, text: &str, expected: &str) {
    let words = ask(&project(&[(path, text)]), "src/a.ts");
    let found = words.items.iter().chain(&words.left_out).next();
    assert_eq!(found.map(String::as_str), Some(format!("{path}: {expected}").as_str()), "{text}");
}

#[test]
fn instructions_apply_to_everything_below() {
    for path in ["CLAUDE.md", "AGENTS.md", "GEMINI.md", "CLAUDE.local.md", "AGENTS.override.md"] {
        check(path, "Text.", &format!("active: {path} applies to everything below it"));
    }
    check(".claude/CLAUDE.md", "Text.", "active: CLAUDE.md applies to everything below it");
    check("src/AGENTS.md", "Text.", "active: AGENTS.md applies to everything below it");
    assert_eq!(ask(&project(&[("docs/AGENTS.md", "Text.")]), "src/a.ts").items, [""; 0]);
    check("CLAUDE.md", " \n", "is empty");
    // Dashes that are no front matter are text.
    check("AGENTS.md", "---\nText\n---\nMore", "active: AGENTS.md applies to everything below it");
}

#[test]
fn rules_of_claude() {
    let path = ".claude/rules/deep/r.md";
    check(path, "Text.", "active: has no `paths`");
    check(path, "---\npaths: '**'\n---\nText.", "active: has `paths` that match every file");
    check(path, "---\npaths: src/**\n---\nT.", "active: paths `src/**` covers src/a.ts");
    check(path, "---\npaths: **/*.ts\n---\nT.", "active: paths `**/*.ts` covers src/a.ts");
    check(
        path,
        "---\npaths: ['*.py', \"lib/{a,b}/**\"]\n---\nT.",
        "paths `*.py`, `lib/{a,b}/**` do not cover src/a.ts",
    );
    check(
        "src/.claude/rules/r.md",
        "---\npaths: /a.ts\n---\nT.",
        "active: paths `/a.ts` covers src/a.ts",
    );
    check(
        "/home/.claude/rules/r.md",
        "---\npaths: /src\n---\nT.",
        "active: paths `/src` covers src/a.ts",
    );
}

#[test]
fn rules_of_cursor() {
    let path = ".cursor/rules/r.mdc";
    check(path, "---\nalwaysApply: true\nglobs: x\n---\nT.", "active: `alwaysApply` is true");
    check(
        path,
        "---\nglobs: **/*.ts\nalwaysApply: false\n---\nT.",
        "active: globs `**/*.ts` covers src/a.ts",
    );
    check(path, "---\nglobs: *.js, src/*.ts\n---\nT.", "active: globs `src/*.ts` covers src/a.ts");
    check(path, "---\nglobs:\n  - src/**\n---\nT.", "active: globs `src/**` covers src/a.ts");
    check(path, "---\nglobs: *.ts\n---\nT.", "globs `*.ts` does not cover src/a.ts");
    check(path, "---\ndescription: d\nglobs:\n---\nT.", "listed: listed by its description");
    check(path, "---\ndescription:\n---\nT.", "manual: only when mentioned");
    check(path, "T.", "manual: only when mentioned");
    check(".cursor/rules/r.md", "T.", "Cursor reads only `.mdc` files here");
    check(".cursorrules", "T.", "active: .cursorrules applies to everything below it");
}

#[test]
fn rules_of_copilot() {
    let path = ".github/instructions/deep/r.instructions.md";
    check(path, "---\napplyTo: '**'\n---\nT.", "active: applyTo `**` covers src/a.ts");
    check(
        path,
        "---\napplyTo: **/*.js, **/*.ts\n---\nT.",
        "active: applyTo `**/*.ts` covers src/a.ts",
    );
    check(path, "---\napplyTo: '*.js'\n---\nT.", "applyTo `*.js` does not cover src/a.ts");
    check(path, "---\ndescription: d\n---\nT.", "manual: only when mentioned");
    let copilot = ".github/copilot-instructions.md";
    check(copilot, "T.", "active: copilot-instructions.md applies to everything below it");
    let other = project(&[(".github/instructions/readme.md", "T.")]);
    assert_eq!(ask(&other, "x").items, [""; 0]);
}

#[test]
fn rules_of_cline() {
    for path in [".clinerules/r.md", ".clinerules/r.txt", ".cline/rules/r.md", ".clinerules"] {
        check(path, "T.", "active: has no `paths`");
        check(path, "---\npaths: ['src/**']\n---\nT.", "active: paths `src/**` covers src/a.ts");
        check(path, "---\npaths: ['*.ts']\n---\nT.", "paths `*.ts` does not cover src/a.ts");
        check(path, "---\npaths: []\n---\nT.", "has empty `paths`");
    }
    for path in [".clinerules/workflows/w.md", ".clinerules/hooks/h.md", ".clinerules/r.json"] {
        assert_eq!(ask(&project(&[(path, "T.")]), "x").items, [""; 0], "{path}");
    }
    let broken = "---\npaths:\n  - **/*.py\n---\nT.";
    let system = project(&[(".clinerules/r.md", broken)]);
    let words = ask(&system, "src/a.ts");
    assert_eq!(
        words.items,
        [".clinerules/r.md: active: has invalid frontmatter, so Cline reads all of it as text"]
    );
    assert_eq!(words.diagnostics, [".clinerules/r.md:3 frontmatter-repaired"]);
}

#[test]
fn rules_of_windsurf() {
    for path in [".windsurf/rules/r.md", ".devin/rules/r.md"] {
        check(path, "---\ntrigger: always_on\n---\nT.", "active: `trigger` is always_on");
        check(
            path,
            "---\ntrigger: glob\nglobs: src/**\n---\nT.",
            "active: globs `src/**` covers src/a.ts",
        );
        check(
            path,
            "---\ntrigger: glob\nglobs: *.ts\n---\nT.",
            "globs `*.ts` does not cover src/a.ts",
        );
        check(path, "---\ntrigger: glob\n---\nT.", "`trigger` is glob, but `globs` is missing");
        check(
            path,
            "---\ntrigger: model_decision\ndescription: d\n---\nT.",
            "listed: listed by its description",
        );
        check(path, "---\ntrigger: manual\n---\nT.", "manual: only when mentioned");
        check(path, "T.", "active: has no `trigger`");
    }
}

#[test]
fn skills_and_agents_are_offered() {
    for root in [
        ".claude/skills",
        ".agents/skills",
        ".github/skills",
        ".cursor/skills",
        ".opencode/skills",
        ".opencode/skill",
        ".codex/skills",
        ".gemini/skills",
        ".cline/skills",
        ".windsurf/skills",
        ".devin/skills",
        "/home/.claude/skills",
        "/home/.agents/skills",
        "/home/.copilot/skills",
        "/home/.config/opencode/skills",
        "/home/.cursor/skills",
        "/home/.gemini/skills",
    ] {
        check(
            &format!("{root}/x/SKILL.md"),
            "---\ndescription: Use when: asked\n---\nT.",
            "listed: listed by its description",
        );
    }
    let path = ".claude/skills/x/SKILL.md";
    check(path, "---\ndisable-model-invocation: true\n---\nT.", "manual: only when mentioned");
    check(path, "---\npaths: src\n---\nT.", "listed: paths `src` covers src/a.ts");
    check(path, "---\npaths: docs\n---\nT.", "paths `docs` does not cover src/a.ts");
    for path in [
        ".claude/agents/deep/a.md",
        ".github/agents/a.agent.md",
        ".cursor/agents/a.md",
        ".opencode/agents/a.md",
    ] {
        check(path, "---\ndescription: d\n---\nT.", "listed: listed by its description");
        check(path, "T.", "manual: only when mentioned");
    }
}

#[test]
fn a_manual_file_is_in_when_it_is_mentioned() {
    let system = project(&[(".cursor/rules/style.mdc", "T.")]);
    for name in ["style", "@style", "style.mdc", ".cursor/rules/style.mdc"] {
        let words = ask_with(&system, "x", None, &[name]);
        let key = name.trim_start_matches('@');
        assert_eq!(words.items, [format!(".cursor/rules/style.mdc: active: mentioned as `{key}`")]);
    }
    let words = ask_with(&system, "x", None, &["other"]);
    assert_eq!(words.items, [".cursor/rules/style.mdc: manual: only when mentioned"]);
}

#[test]
fn a_directory_asks_what_could_match_inside() {
    let system = project(&[
        (".cursor/rules/a.mdc", "---\nglobs: src/api/**/*.ts\n---\nT."),
        (".claude/rules/b.md", "---\npaths: src/api/*.ts\n---\nT."),
    ]);
    assert_eq!(ask(&system, "src/").items.len(), 2);
    assert_eq!(ask(&system, "./").items.len(), 2);
    assert_eq!(ask(&system, "docs/").items, [""; 0]);
}
