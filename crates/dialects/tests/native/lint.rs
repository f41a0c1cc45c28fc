//! Findings of `lint` in client files: what their client does not read as it was meant, and nothing else.

use std::path::Path;

use brief_dialects::native::Native;
use brief_dialects::{Dialect, ProjectFiles};
use brief_syntax::project::{Root, Target, TargetKind};
use brief_syntax::walk::{self, Ignored};
use brief_syntax::{Diagnostic, Severity};
use brief_system::{FileKind, MemorySystem};

use super::support::project;

fn lint(system: &MemorySystem) -> Vec<Diagnostic> {
    lint_at(system, "/p")
}

fn lint_at(system: &MemorySystem, root: &str) -> Vec<Diagnostic> {
    let mut reader = Native.whole_reader().expect("it reads whole projects");
    let root = Root::open(system, Path::new(root)).expect("it is there");
    let top = Target::from_slashed("", TargetKind::Directory);
    let mut files = ProjectFiles::default();
    walk::walk_whole(system, &root, &top, Ignored::Skip, &mut |visit| {
        reader.visit_directory(visit);
        for entry in visit.entries().unwrap_or_default() {
            let below = Path::new(visit.slashed()).join(&entry.name);
            let below = below.to_string_lossy().into_owned();
            match entry.kind {
                FileKind::Directory => files.directories.push(below),
                _ => files.files.push(below),
            }
        }
    });
    files.files.sort_unstable();
    files.directories.sort_unstable();
    let guidance = reader.finish();
    let mut found = guidance.diagnostics().to_vec();
    found.extend(guidance.check_against(&files));
    found
}

fn findings(files: &[(&str, &str)]) -> Vec<String> {
    let found = lint(&project(files));
    let shown = found.iter().map(|found| {
        let path = found.path().strip_prefix("/p").unwrap_or(found.path());
        format!("{}:{} {}", path.display(), found.position().line, found.code())
    });
    shown.collect()
}

fn help_of(files: &[(&str, &str)]) -> String {
    let found = lint(&project(files));
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].help.clone().unwrap_or_default()
}

const NONE: [&str; 0] = [];

/// U30: bare `globs` are what Cursor reads; quotes are what it does not. How it reads a list is not known.
#[test]
fn globs_of_cursor_are_bare() {
    let rule =
        |globs: &str| format!("---\ndescription: d\nglobs: {globs}\nalwaysApply: false\n---\nT.\n");
    let path = ".cursor/rules/r.mdc";
    for bare in ["src/*.ts", "src/**,docs/**", "", "\"\"", "[]", "[src/*.ts]"] {
        let found = findings(&[(path, &rule(bare)), ("src/a.ts", "")]);
        let found: Vec<_> = found.iter().filter(|found| found.contains("cursor-globs")).collect();
        assert!(found.is_empty(), "{bare}: {found:?}");
    }
    for quoted in ["\"src/*.ts\"", "'src/**'"] {
        let files = [(path, &*rule(quoted)), ("src/a.ts", "")];
        assert_eq!(findings(&files), [".cursor/rules/r.mdc:3 client/cursor-globs"], "{quoted}");
        assert!(help_of(&files).starts_with("write `globs: src/"), "{quoted}");
    }
    let always = "---\nglobs: \"src/**\"\nalwaysApply: true\n---\nT.\n";
    assert_eq!(findings(&[(path, always)]), NONE, "the patterns are not used");
}

/// U33: a field in the wrong case, or almost right, is not read; the repair is one word.
#[test]
fn a_field_that_is_almost_right_is_found() {
    for (path, text, meant) in [
        (".github/instructions/a.instructions.md", "---\napplyto: '**'\n---\nT.\n", "applyTo"),
        (".github/instructions/a.instructions.md", "---\napply_to: '**'\n---\nT.\n", "applyTo"),
        (".claude/rules/a.md", "---\npath: src/**\n---\nT.\n", "paths"),
        (".cursor/rules/a.mdc", "---\nglob: src/**\n---\nT.\n", "globs"),
        (".cursor/rules/a.mdc", "---\nalwaysapply: true\n---\nT.\n", "alwaysApply"),
    ] {
        let files = [(path, text), ("src/a.ts", "")];
        assert_eq!(findings(&files), [format!("{path}:2 client/unknown-field")], "{text}");
        assert_eq!(help_of(&files), format!("did you mean `{meant}`?"));
    }
    let own = "---\nname: s\ndescription: d\ncapability: x\nmode: y\n---\nT.\n";
    assert_eq!(
        findings(&[(".agents/skills/s/SKILL.md", own)]),
        NONE,
        "others are the author's own"
    );
}

/// U33: instructions without `applyTo` and agents without a header are passed by.
#[test]
fn what_a_client_passes_by_is_found() {
    let instructions = ".github/instructions/a.instructions.md";
    assert_eq!(
        findings(&[(instructions, "Text.\n")]),
        [format!("{instructions}:1 client/no-apply-to")]
    );
    assert_eq!(findings(&[(instructions, "---\napplyTo: '**'\n---\nText.\n")]), NONE);
    for (path, text) in [
        (".github/agents/a.agent.md", "You are.\n"),
        (".claude/agents/a.md", "---\nname: a\n---\nYou are.\n"),
        ("agents/a.agent.md", "---\nname: a\ntools: [read]\n---\nYou are.\n"),
    ] {
        let found = findings(&[(path, text)]);
        assert_eq!(found.len(), 1, "{path}: {found:?}");
        assert!(found[0].ends_with("client/agent-field-missing"), "{found:?}");
    }
    assert_eq!(findings(&[(".claude/agents/README.md", "About these agents.\n")]), NONE);
}

/// U22: every field that Copilot has is right in an agent of its own.
#[test]
fn fields_of_copilots_agents_are_known() {
    let agent = "---\nname: a\ndescription: d\ntools: [read]\nmodel: x\nmcp-servers: {}\nhandoffs: []\n\
                 target: vscode\nuser-invocable: true\nargument-hint: x\n---\nYou are.\n";
    assert_eq!(
        findings(&[(".github/agents/a.agent.md", agent), ("agents/b.agent.md", agent)]),
        NONE
    );
}

/// U07: what is said of a skill is what clients do: most leave one without a description out.
#[test]
fn a_skill_says_what_it_is_for() {
    let path = ".agents/skills/s/SKILL.md";
    assert_eq!(findings(&[(path, "# S\n")]), [format!("{path}:1 client/skill-field-missing")]);
    let long = format!("---\nname: s\ndescription: {}\n---\nT.\n", "x".repeat(1025));
    assert_eq!(findings(&[(path, &long)]), [format!("{path}:3 client/skill-too-long")]);
    let claudes = ".claude/skills/s/SKILL.md";
    assert_eq!(findings(&[(claudes, "---\ndescription: d\n---\nT.\n")]), NONE);
}

/// Another client's field leaves a rule without its scope.
#[test]
fn the_scope_of_another_client_is_found() {
    let files = [(".claude/rules/a.md", "---\nglobs: src/**\n---\nT.\n"), ("src/a.ts", "")];
    assert_eq!(findings(&files), [".claude/rules/a.md:2 client/other-clients-field"]);
    assert_eq!(help_of(&files), "write `paths`");
    let both = "---\nglobs: src/**\npaths: src/**\n---\nT.\n";
    assert_eq!(findings(&[(".claude/rules/a.md", both), ("src/a.ts", "")]), NONE);
}

/// U33: `.mdc` files elsewhere are a collection for others; one beside the directory that Cursor reads is misplaced.
#[test]
fn rules_where_no_client_looks_are_found() {
    let rule = "---\ndescription: d\n---\nT.\n";
    assert_eq!(findings(&[("rules/a.mdc", rule), ("rules/b.mdc", rule)]), NONE);
    assert_eq!(findings(&[(".cursor/a.mdc", rule)]), [".cursor/a.mdc:1 client/unread-file"]);
    let two = [(".cursor/rules/a.md", "A.\n"), (".cursor/rules/b.md", "B.\n")];
    assert_eq!(findings(&two), [".cursor/rules/a.md:1 client/unread-file"]);
    assert_eq!(findings(&[(".cursor/rules/README.md", "About.\n")]), NONE);
    let unnamed = ".github/instructions/style.md";
    assert_eq!(findings(&[(unnamed, "Text.\n")]), [format!("{unnamed}:1 client/unread-file")]);
}

/// A rule that has lost its directory is found; one for a kind of file that is still to come is not.
#[test]
fn patterns_that_cover_nothing_are_found_where_somebody_would_act() {
    let rule = |paths: &str| format!("---\npaths: {paths}\n---\nT.\n");
    let path = ".claude/rules/a.md";
    let lost = [(path, &*rule("[lib/**]")), ("src/a.ts", "")];
    assert_eq!(findings(&lost), [".claude/rules/a.md:2 client/unused-pattern"]);
    for fine in ["['**/*.go']", "[src/**, lib/**]", "['**/*.{ts,go}']"] {
        assert_eq!(findings(&[(path, &rule(fine)), ("src/a.ts", "")]), NONE, "{fine}");
    }
    let text = rule("[src/**, Docs/**]");
    let cased = |path| [(path, text.as_str()), ("src/a.ts", ""), ("docs/b.md", "")];
    assert_eq!(findings(&cased(path)), NONE, "case does not count for Claude Code");
    assert_eq!(help_of(&cased(".qwen/rules/a.md")), "did you mean `docs/**`?");
}

/// Rules that mostly match nothing are a collection for other projects: one note.
#[test]
fn a_collection_of_rules_is_noted_once() {
    let files: Vec<(String, String)> = (0..6)
        .map(|number| {
            let text = format!("---\npaths: [lib{number}/**]\n---\nRule {number}.\n");
            (format!(".claude/rules/r{number}.md"), text)
        })
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let found = lint(&project(&files));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].code(), found[0].severity), ("client/unused-pattern", Severity::Note));
}

/// A link to a file that is not there loads nothing.
#[test]
fn a_link_to_nothing_is_found() {
    let system = project(&[("AGENTS.md", "Text.\n")]).with_link("CLAUDE.md", "agents.md");
    let found: Vec<&str> = lint(&system).iter().map(Diagnostic::code).collect();
    assert_eq!(found, ["client/unreadable"]);
}

/// Copies of one file have their mistakes once.
#[test]
fn copies_are_reported_once() {
    let skill = "# S\n";
    let found =
        findings(&[(".agents/skills/s/SKILL.md", skill), (".cursor/skills/s/SKILL.md", skill)]);
    assert_eq!(found.len(), 1, "{found:?}");
}

/// U22: an organization's agents lie in `agents` of the repository `.github-private`.
#[test]
fn agents_of_an_organization_are_checked_as_copilots() {
    let at = |root: &str| {
        let system = MemorySystem::new(root).with_file("agents/a.md", "You are.\n");
        lint_at(&system, root).iter().map(Diagnostic::code).collect::<Vec<_>>()
    };
    assert_eq!(at("/.github-private"), ["client/agent-field-missing"]);
    assert_eq!(at("/other"), NONE);
}
