//! Links of guidance that lead nowhere (U76).
#![expect(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

use std::path::Path;

use brief_checks::links::find_broken_links;
use brief_engine::{Catalog, CatalogScope, Dialects, Root, Strangers, Target, TargetKind};
use brief_syntax::walk::Ignored;
use brief_system::MemorySystem;

fn broken(system: &MemorySystem) -> Vec<String> {
    let root = Root::open(system, Path::new("/p")).unwrap();
    let top = Target::from_slashed("", TargetKind::Directory);
    let scope = CatalogScope {
        start: &top,
        ignored: Ignored::Skip,
        dialects: Dialects::All,
        strangers: Strangers::LeftOut,
    };
    let catalog = Catalog::read_project(system, &root, scope);
    let found = find_broken_links(&catalog, system, &root);
    let shown = found.iter().map(|found| {
        let path = found.path().strip_prefix("/p").unwrap().display();
        let help = found.help.as_deref().unwrap_or_default();
        format!("{} {path}:{} {} | {help}", found.code(), found.position().line, found.message)
    });
    shown.collect()
}

/// U76: a link to a file that is not there is found, with the file that was probably meant.
#[test]
fn a_link_that_leads_nowhere_is_found() {
    let system = MemorySystem::new("/p")
        .with_file("docs/guide/setup.md", "")
        .with_file("AGENTS.md", "See [a](docs/setup.md) and [b](docs/gone.md).\n");
    assert_eq!(
        broken(&system),
        [
            "client/broken-link AGENTS.md:1 file not found: `docs/setup.md` | did you mean \
             `docs/guide/setup.md`?",
            "client/broken-link AGENTS.md:1 file not found: `docs/gone.md` | correct the path, or \
             remove the link",
        ]
    );
}

/// U76: paths from the file and from any directory above it are fine, and so is what is made later.
#[test]
fn what_leads_somewhere_or_is_made_later_is_not_reported() {
    let text = "[a](src/a.py) [b](../docs/b.md#x) [c](/docs/nowhere) [d](https://x.example/d.md)\n\
                [e](dist/e.md) [f](path/to/file.md) [g](docs/{name}.md) `[h](gone.md)` [i](a.py:12)\n\
                [j](mdc:docs/b.md) [k](docs/) [l](docs/b)\n";
    let system = MemorySystem::new("/p")
        .with_file(".gitignore", "dist/\n")
        .with_file("src/a.py", "")
        .with_file("docs/b.md", "")
        .with_file("src/AGENTS.md", text)
        .with_file("templates/AGENTS.md", "[x](gone.md)\n");
    assert_eq!(broken(&system), [""; 0]);
}

/// U76: what leaves a skill's directory is said to do so; a copy of the skill says nothing new.
#[test]
fn a_link_out_of_a_skill_is_found_once() {
    let skill = "---\nname: s\ndescription: d\n---\n[a](../other/SKILL.md) [b](references/b.md)\n";
    let system = MemorySystem::new("/p")
        .with_file(".claude/skills/s/SKILL.md", skill)
        .with_file(".agents/skills/s/SKILL.md", skill);
    let found = broken(&system);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("points outside the skill's directory"), "{found:?}");
    assert!(found[1].contains("file not found: `references/b.md`"), "{found:?}");
}

/// U76: a skill in a collection, and a rule of a task, have links, too.
#[test]
fn skills_of_a_collection_and_rules_of_tasks_are_looked_at() {
    let system = MemorySystem::new("/p")
        .with_file("skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\n[a](gone.md)\n")
        .with_file(".agents/rules/r.md", "[b](gone.md)\n");
    let codes = broken(&system);
    let codes: Vec<&str> = codes.iter().map(|found| found.split(' ').next().unwrap()).collect();
    assert_eq!(codes, ["tasks/broken-link", "client/broken-link"]);
}
