//! A project answers the same whether all of it was read or only what is on the way to a path.

use brief_syntax::Diagnostic;
use std::path::Path;

use arbtest::arbitrary::{self, Unstructured};
use brief_engine::{
    Catalog, CatalogScope, Dialects, Moment, Resolution, Root, Strangers, Target, TargetKind,
    native,
};
use brief_profiles::BUILTIN;
use brief_syntax::walk::Ignored;
use brief_system::{Files, MemorySystem};

const DIRECTORIES: [&str; 5] = ["", "a/", "a/b/", "c/", ".claude/"];
const PATHS: [&str; 8] =
    ["x.ts", "a/x.ts", "a/b/x.py", "a/b/", "c/new/x.ts", "./", ".claude/rules/r.md", ".claude/x"];
const PLACES: [&str; 16] = [
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "GEMINI.md",
    ".claude/rules/r.md",
    ".claude/rules/deep/s.md",
    ".cursor/rules/c.mdc",
    ".cursor/rules/ignored.md",
    ".github/instructions/i.instructions.md",
    ".clinerules/l.md",
    ".clinerules",
    ".windsurf/rules/w.md",
    ".claude/skills/k/SKILL.md",
    ".agents/skills/k/SKILL.md",
];
const TEXTS: [&str; 12] = [
    "One text.\n",
    "Another.\n",
    "@AGENTS.md\n",
    "Text @../AGENTS.md and @docs.md\n",
    "See @a/b/AGENTS.md @none.md @~/out.md\n",
    "---\npaths: **/*.ts\nglobs: **/*.ts\napplyTo: **/*.ts\n---\nScoped.\n",
    "---\npaths: [a, '!a/b']\nglobs: [a/**, '*.py']\napplyTo: a/*\n---\nOther scope.\n",
    "---\ndescription: d\ntrigger: model_decision\n---\nDescribed.\n",
    "---\nalwaysApply: true\ntrigger: always_on\n---\nAlways.\n",
    "---\ntrigger: manual\n---\nManual.\n",
    "---\nbad: [a, {b\n---\nBroken.\n",
    "",
];

fn native_only() -> Dialects {
    Dialects::Only(vec![native::NAME])
}

fn project(bytes: &mut Unstructured<'_>) -> arbitrary::Result<MemorySystem> {
    let mut system = MemorySystem::new("/p").with_env("HOME", "/home").with_dir("/home");
    system = system.with_file("docs.md", "Docs.\n");
    // What version control ignores is read, too.
    if bytes.ratio(1, 2)? {
        system = system.with_file(".gitignore", "CLAUDE.local.md\n.cursor/\n");
    }
    for directory in DIRECTORIES.into_iter().chain(["/home/"]) {
        for place in PLACES {
            let is_in_file = place == ".clinerules"
                && system.resolve(Path::new(&format!("/p/{directory}{place}"))).is_ok();
            if bytes.ratio(1, 4)? && !is_in_file {
                system = system.with_file(&format!("{directory}{place}"), bytes.choose(&TEXTS)?);
            }
        }
    }
    if bytes.ratio(1, 3)? {
        system = system.with_link("c/CLAUDE.md", "../docs.md").with_link("c/.cursor", "../.cursor");
    }
    Ok(system)
}

fn in_words(answer: &Resolution<'_>) -> Vec<String> {
    let items = answer.items.iter().map(|applied| {
        let item = &applied.item;
        let (path, reason) = (item.path.display(), applied.reason.display_with_path(""));
        format!(
            "in {path}:{} {} {} {:?} {} {reason} {:?} {:?}",
            item.line,
            item.name,
            item.scope,
            item.trigger,
            item.state.as_str(),
            item.level,
            item.content
        )
    });
    let left_out = answer.left_out.iter().map(|out| {
        let (path, reason) = (out.path.display(), out.reason.display_with_path(""));
        format!("out {path}:{} {} {reason} {:?} {:?}", out.line, out.name, out.level, out.content)
    });
    items.chain(left_out).collect()
}

#[test]
fn the_whole_project_answers_as_the_way_to_a_path_does() {
    arbtest::arbtest(|bytes| {
        let system = project(bytes)?;
        let root = Root::open(&system, Path::new("/p")).unwrap();
        let top = Target::from_slashed("", TargetKind::Directory);
        let ignored = Ignored::Skip;
        let whole = Catalog::read_project(
            &system,
            &root,
            CatalogScope {
                start: &top,
                ignored,
                dialects: native_only(),
                strangers: Strangers::LeftOut,
            },
        );
        let client = bytes.choose(&[None, Some("nobody")])?;
        let client = client.or(Some(*bytes.choose(&BUILTIN.names())?));
        let mentions: &[String] = &["c".to_owned()];
        for path in PATHS {
            let moment = Moment {
                client: client.map(str::to_owned),
                mentions: mentions.to_vec(),
                dialects: native_only(),
                ..Moment::from_path(&system, root.clone(), root.path(), Path::new(path))
            };
            let about = Catalog::read_for_moment(&system, &moment);
            let expected = in_words(&about.resolve_moment(&moment));
            assert_eq!(in_words(&whole.resolve_moment(&moment)), expected, "{path} for {client:?}");
        }
        Ok(())
    });
}

/// Two dialects that read one file report its front matter once.
#[test]
fn a_repair_is_reported_once() {
    let system = MemorySystem::new("/p")
        .with_file(".claude/rules/r.md", "---\nabout: Use when: x\npaths: [lib/**]\n---\nText.\n");
    let root = Root::open(&system, Path::new("/p")).unwrap();
    let top = Target::from_slashed("", TargetKind::Directory);
    let scope = CatalogScope {
        start: &top,
        ignored: Ignored::Skip,
        dialects: Dialects::All,
        strangers: Strangers::LeftOut,
    };
    let found = Catalog::read_project(&system, &root, scope).check_project();
    let codes: Vec<_> = found.iter().map(Diagnostic::code).collect();
    assert_eq!(codes, ["frontmatter-repaired", "client/unused-pattern"]);
}

/// Without a path, a client has loaded what it loads when it starts.
#[test]
fn without_a_path_only_the_start_is_loaded() {
    let system = MemorySystem::new("/p")
        .with_env("HOME", "/home")
        .with_file("/home/.claude/CLAUDE.md", "User.\n")
        .with_file("CLAUDE.md", "Top.\n")
        .with_file("a/CLAUDE.md", "Nested.\n")
        .with_file(".claude/rules/r.md", "---\npaths: a\n---\nScoped.\n");
    let root = Root::open(&system, Path::new("/p")).unwrap();
    let top = Target::from_slashed("", TargetKind::Directory);
    let scope = CatalogScope {
        start: &top,
        ignored: Ignored::Skip,
        dialects: native_only(),
        strangers: Strangers::LeftOut,
    };
    let catalog = Catalog::read_project(&system, &root, scope);
    let moment = Moment { client: Some("claude".to_owned()), ..Moment::default() };
    let answer = catalog.resolve_moment(&moment);
    let loaded: Vec<_> = answer.left_out.iter().map(|out| out.content).collect();
    assert_eq!(loaded, ["User.\n", "Top.\n"]);
    assert_eq!(answer.items.len(), 2);
    // The user's own files belong to no project.
    let moment = Moment::default();
    assert_eq!(catalog.resolve_moment(&moment).items.len(), 3);
}
