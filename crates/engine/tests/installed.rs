//! An installed item is one item with a variant for each client (ruling G14).

use std::path::Path;

use brief_engine::{
    Catalog, CatalogScope, Dialects, Moment, Resolution, Root, Strangers, Target, TargetKind,
};
use brief_syntax::walk::Ignored;
use brief_system::MemorySystem;

/// A lock for some items, in the form that `brief sync` writes.
fn lock(items: &[(&str, &str, &[&str])]) -> String {
    let mut lock = "version = 1\n".to_owned();
    for (kind, name, files) in items {
        lock.push_str(&format!("\n[[item]]\nkind = \"{kind}\"\nname = \"{name}\"\nfiles = [\n"));
        files.iter().for_each(|file| lock.push_str(&format!("  \"{file} 0a\",\n")));
        lock.push_str("]\n");
    }
    lock
}

/// A rule with a block for Copilot and a supporting file, one for Claude alone, a skill and an agent.
fn project() -> MemorySystem {
    let lock = lock(&[
        (
            "rule",
            "api",
            &[
                ".agents/rules/api/RULE.md",
                ".agents/rules/api/more.md",
                ".claude/rules/api.md",
                ".github/instructions/api.instructions.md",
            ],
        ),
        ("rule", "only-claude", &[".claude/rules/only-claude.md"]),
        (
            "skill",
            "pdf",
            &[
                ".agents/skills/pdf/SKILL.md",
                ".claude/skills/pdf/SKILL.md",
                ".github/skills/pdf/SKILL.md",
            ],
        ),
        (
            "agent",
            "judge",
            &[
                ".claude/agents/judge.md",
                ".github/agents/judge.agent.md",
                ".opencode/agents/judge.md",
            ],
        ),
    ]);
    let skill = |client: &str| format!("---\nname: pdf\ndescription: d\n---\nPdf {client}.\n");
    let agent = |client: &str| format!("---\nname: judge\ndescription: d\n---\nYou {client}.\n");
    MemorySystem::new("/p")
        .with_env("HOME", "/h")
        .with_dir("/h")
        .with_file("brief.lock", lock)
        .with_file(".agents/rules/api/RULE.md", "---\nname: api\n---\nApi opencode.\n")
        .with_file(".agents/rules/api/more.md", "More.\n")
        .with_file(".claude/rules/api.md", "---\npaths: [\"src/**\"]\n---\nApi claude.\n")
        .with_file(".claude/rules/only-claude.md", "Only claude.\n")
        .with_file(
            ".github/instructions/api.instructions.md",
            "---\napplyTo: src/**\n---\nApi copilot.\n",
        )
        .with_file(".agents/skills/pdf/SKILL.md", skill("opencode"))
        .with_file(".claude/skills/pdf/SKILL.md", skill("claude"))
        .with_file(".github/skills/pdf/SKILL.md", skill("copilot"))
        .with_file(".claude/agents/judge.md", agent("claude"))
        .with_file(".github/agents/judge.agent.md", agent("copilot"))
        .with_file(".opencode/agents/judge.md", agent("opencode"))
        .with_file("src/a.ts", "")
        .with_file("README.md", "")
}

fn asked<T>(
    system: &MemorySystem,
    path: &str,
    client: Option<&str>,
    dialects: Dialects,
    tell: impl FnOnce(&Catalog, Resolution<'_>) -> T,
) -> T {
    let root = Root::open(system, Path::new("/p")).expect("the project is there");
    let target = Target::from_slashed(path, TargetKind::File);
    let moment = Moment {
        path: root.path().join(path),
        root,
        target: Some(target),
        client: client.map(str::to_owned),
        dialects,
        ..Moment::default()
    };
    let catalog = Catalog::read_for_moment(system, &moment);
    tell(&catalog, catalog.resolve_moment(&moment))
}

/// The texts of an answer, and those left out with their reasons.
fn texts(system: &MemorySystem, path: &str, client: Option<&str>) -> (Vec<String>, Vec<String>) {
    asked(system, path, client, Dialects::All, |_, answer| {
        let items = answer.items.iter().map(|applied| {
            let item = &applied.item;
            format!("{} {} {}: {}", item.dialect, item.kind, item.name, item.content.trim())
        });
        let left_out = answer
            .left_out
            .iter()
            .map(|out| format!("{}: {}", out.path.display(), out.reason.display_with_path(path)));
        (items.collect(), left_out.collect())
    })
}

/// U20: with no client, every item is there once; what lies beside one is no item.
#[test]
fn without_a_client_every_item_is_there_once() {
    let (items, out) = texts(&project(), "src/a.ts", None);
    assert_eq!(
        items,
        [
            "items rule only-claude: Only claude.",
            "items skill pdf: Pdf claude.",
            "items agent judge: You claude.",
            "items rule api: Api claude.",
        ]
    );
    for line in [
        "/p/.agents/rules/api/RULE.md: is the copy for opencode",
        "/p/.agents/rules/api/more.md: is a supporting file of the rule `api`",
        "/p/.github/instructions/api.instructions.md: is the copy for copilot",
    ] {
        assert!(out.iter().any(|out| out == line), "{line}: {out:#?}");
    }
}

/// U20: the canonical copy knows which files a rule is for, and the others follow it.
#[test]
fn a_copy_that_knows_no_files_follows_the_one_that_does() {
    let (items, _) = texts(&project(), "README.md", None);
    assert!(!items.iter().any(|item| item.contains("Api")), "{items:#?}");
}

/// U20: a client gets nothing that was compiled for another one, and nothing that it has.
#[test]
fn a_client_gets_its_own_variant_or_nothing() {
    for client in ["claude", "copilot", "opencode"] {
        for path in ["src/a.ts", "README.md"] {
            let (items, _) = texts(&project(), path, Some(client));
            assert_eq!(items, [""; 0], "{client} has it all by itself");
        }
    }
    let (items, out) = texts(&project(), "src/a.ts", Some("goose"));
    assert_eq!(items, [""; 0], "no copy is for goose but the skill, which it reads");
    let listed =
        "/p/.agents/skills/pdf/SKILL.md: goose loads it by itself, by name and description";
    assert!(out.contains(&listed.to_owned()));
    assert!(out.contains(&"/p/.claude/rules/api.md: is the copy for claude".to_owned()));
}

/// U20: one that was removed by hand is replaced by the next for everybody, never for a client.
#[test]
fn a_missing_copy_is_not_chosen() {
    let system = MemorySystem::new("/p")
        .with_env("HOME", "/h")
        .with_file(
            "brief.lock",
            lock(&[("rule", "api", &[".claude/rules/api.md", ".agents/rules/api/RULE.md"])]),
        )
        .with_file(".agents/rules/api/RULE.md", "Api opencode.\n");
    let (items, _) = texts(&system, "src/a.ts", None);
    assert_eq!(items, ["items rule api: Api opencode."]);
    assert_eq!(texts(&system, "src/a.ts", Some("claude")).0, [""; 0]);
}

/// U20: the same for what is installed for the user.
#[test]
fn items_at_home_are_one_item_too() {
    let files: &[&str] = &[".claude/rules/me.md", ".agents/rules/me/RULE.md"];
    let system = MemorySystem::new("/p")
        .with_env("HOME", "/h")
        .with_file("/h/.config/brief/brief.lock", lock(&[("rule", "me", files)]))
        .with_file("/h/.claude/rules/me.md", "Me claude.\n")
        .with_file("/h/.agents/rules/me/RULE.md", "Me opencode.\n")
        .with_file("a.ts", "");
    let (items, _) = texts(&system, "a.ts", None);
    assert_eq!(items, ["items rule me: Me claude."]);
    assert_eq!(texts(&system, "a.ts", Some("claude")).0, [""; 0]);
    assert_eq!(texts(&system, "a.ts", Some("opencode")).0, [""; 0]);
}

/// An installed file is not one of the dialect whose place it lies in, whichever is asked.
#[test]
fn asking_one_dialect_finds_no_installed_item_of_another() {
    for (dialect, count) in [("tasks", 0), ("client-files", 0), ("items", 4)] {
        let only = [dialect];
        asked(&project(), "src/a.ts", None, Dialects::Only(only.to_vec()), |_, answer| {
            assert_eq!(answer.items.len(), count, "{dialect}: {:#?}", answer.items);
        });
    }
}

/// The whole project answers as the way to a path does, and the survey counts each item once.
#[test]
fn the_whole_project_knows_one_item_too() {
    let system = project();
    let root = Root::open(&system, Path::new("/p")).unwrap();
    let top = Target::from_slashed("", TargetKind::Directory);
    let scope = CatalogScope {
        start: &top,
        ignored: Ignored::Skip,
        dialects: Dialects::All,
        strangers: Strangers::LeftOut,
    };
    let whole = Catalog::read_project(&system, &root, scope);
    for client in [None, Some("claude"), Some("opencode"), Some("goose")] {
        for path in ["src/a.ts", "README.md"] {
            let moment = Moment {
                target: Some(Target::from_slashed(path, TargetKind::File)),
                client: client.map(str::to_owned),
                ..Moment::default()
            };
            let answer = whole.resolve_moment(&moment);
            let names: Vec<_> = answer.items.iter().map(|applied| applied.item.path).collect();
            asked(&system, path, client, Dialects::All, |_, about| {
                let about: Vec<_> = about.items.iter().map(|applied| applied.item.path).collect();
                assert_eq!(names, about, "{path} for {client:?}");
            });
        }
    }
    let mut reached = Vec::new();
    whole.collect_reach(&Moment::default(), &mut |found| {
        let mut candidate = found.candidate;
        reached.push(candidate.identity_mut().3.to_owned());
    });
    reached.sort_unstable();
    let expected = [
        "/p/.claude/agents/judge.md",
        "/p/.claude/rules/api.md",
        "/p/.claude/rules/only-claude.md",
        "/p/.claude/skills/pdf/SKILL.md",
    ];
    assert_eq!(reached, expected.map(Path::new));
}

/// U11: a lock from a newer version is told, and the rest of the answer is there.
#[test]
fn a_lock_of_a_newer_version_is_told_once() {
    let newer = lock(&[("rule", "api", &[".claude/rules/api.md"])]).replace("= 1", "= 3");
    let system = MemorySystem::new("/p")
        .with_env("HOME", "/h")
        .with_file("brief.lock", newer)
        .with_file(".claude/rules/api.md", "Api.\n")
        .with_file("AGENTS.yaml", "context:\n  - content: Here.\n");
    asked(&system, "a.ts", None, Dialects::All, |catalog, answer| {
        assert_eq!(answer.items.len(), 2);
        let found = catalog.diagnostics();
        let [found] = &found[..] else { panic!("{found:#?}") };
        assert_eq!(found.code(), "project/unreadable-lock");
        assert!(found.message.contains("has version 3, but this version of brief supports 2"));
    });
}
