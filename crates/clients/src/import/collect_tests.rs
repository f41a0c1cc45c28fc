//! Every file that a client finds is imported or named as left out, whatever it holds and whichever links lead to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use brief_profiles::{BUILTIN, PlaceShape};
use brief_syntax::Root;
use brief_system::MemorySystem;

use crate::profile::Profiles;

use super::{Collection, ImportSearch, collect_project_files};

fn collected(system: &MemorySystem) -> Collection {
    let root = Root::open(system, Path::new("/p")).unwrap();
    let profiles = Profiles::builtin();
    collect_project_files(
        system,
        &root,
        profiles,
        ImportSearch::AtPlaces,
        &|_| true,
        &BTreeMap::new(),
    )
}

/// Returns the paths that a report has, of items and of what was left out.
fn reported(collection: &Collection) -> BTreeSet<String> {
    let items = collection.items.iter().flat_map(|item| item.originals.iter().cloned());
    items.chain(collection.skipped.iter().map(|skipped| skipped.path.clone())).collect()
}

/// A place of a client with a file in it: the directory that may be a link, and the file below it.
fn places() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for place in BUILTIN.project.iter().filter(|place| !place.path.contains("PLUGIN")) {
        match &place.shape {
            PlaceShape::File => all.push((String::new(), place.path.to_string())),
            PlaceShape::Skills => all.push((place.path.to_string(), "one/SKILL.md".to_owned())),
            PlaceShape::Tree(names) => {
                let ending = names.endings.first().map_or(".md", |ending| ending);
                all.push((place.path.to_string(), format!("one{ending}")));
            }
        }
    }
    assert!(all.len() > 40, "{all:?}");
    all
}

const CONTENTS: [&[u8]; 5] = [
    b"---\nname: one\ndescription: d\n---\n\nA rule.\n",
    b"",
    b"---\npaths: [a]\n---\n",
    b"\xff\xfea\0",
    b"<!-- @client:claude -->\nx\n",
];

#[test]
fn whatever_a_client_finds_is_imported_or_named() {
    let places = places();
    arbtest::arbtest(|input| {
        let mut system =
            MemorySystem::new("/p").with_file("/p/src/a.rs", "").with_file("/o/out.md", "Out.\n");
        let mut expected = BTreeSet::new();
        // Two places may be one path: what is there first stays.
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for number in 0..input.int_in_range(1..=8_usize)? {
            let (directory, file) = input.choose(&places)?;
            let about = *input.choose(&["", "web/"])?;
            let directory = format!("{about}{directory}");
            let path = match directory.trim_end_matches('/') {
                "" => file.clone(),
                above => format!("{above}/{file}"),
            };
            let above: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).collect();
            let below = format!("{path}/");
            if above.iter().any(|own| taken.contains(*own))
                || taken.contains(&path)
                || taken.iter().any(|own| own.starts_with(&below))
            {
                continue;
            }
            let content = *input.choose(&CONTENTS)?;
            let shared = format!("shared/{number}");
            let is_tree = !directory.is_empty() && !directory.ends_with('/');
            let has_room =
                is_tree && !taken.iter().any(|own| own.starts_with(&format!("{directory}/")));
            let way = input.int_in_range(0..=5)?;
            let up = "../".repeat(path.matches('/').count());
            system = match way {
                // A file at the end of a link, one that is gone, and one outside.
                1 => system
                    .with_file(&format!("/p/{shared}.md"), content)
                    .with_link(&format!("/p/{path}"), &format!("{up}{shared}.md")),
                2 => system.with_link(&format!("/p/{path}"), &format!("{up}nowhere.md")),
                3 => system.with_link(&format!("/p/{path}"), "/o/out.md"),
                4 if has_room => {
                    taken.insert(directory.clone());
                    let up = "../".repeat(directory.matches('/').count());
                    system
                        .with_file(&format!("/p/{shared}/{file}"), content)
                        .with_link(&format!("/p/{directory}"), &format!("{up}{shared}"))
                }
                _ => system.with_file(&format!("/p/{path}"), content),
            };
            taken.insert(path.clone());
            expected.insert(path);
        }
        let collection = collected(&system);
        let reported = reported(&collection);
        let lost: Vec<&String> = expected.difference(&reported).collect();
        assert!(lost.is_empty(), "{lost:?} of {expected:?}: {:?}", collection.skipped);
        // Nothing is both.
        let items: BTreeSet<&String> =
            collection.items.iter().flat_map(|item| &item.originals).collect();
        let both: Vec<_> =
            collection.skipped.iter().filter(|skipped| items.contains(&skipped.path)).collect();
        assert!(both.is_empty(), "{both:?}");
        Ok(())
    });
}

/// Links are followed as clients follow them, and each that is not has a reason that is true.
#[test]
fn links_are_followed_inside_the_project() {
    let rule = "A rule.\n";
    let system = MemorySystem::new("/p")
        .with_file("/p/agents/rules/a.md", rule)
        .with_file("/p/agents/rules/deep/b.md", "Another one.\n")
        .with_file("/p/agents/skills/one/SKILL.md", "---\nname: one\ndescription: d\n---\nOne.\n")
        .with_file("/p/agents/skills/one/run.sh", "#!/bin/sh\n")
        .with_file("/p/agents/skills/one/AGENTS.md", "A page of the skill.\n")
        .with_link("/p/agents/skills/one/shared.md", "../../rules/a.md")
        .with_link("/p/.claude/rules", "../agents/rules")
        .with_link("/p/.claude/skills", "../agents/skills")
        .with_link("/p/agents/rules/loop", "..")
        .with_file("/p/.mine/commands/go.md", "Go.\n")
        .with_link("/p/.claude/commands/go.md", "../../.mine/commands/go.md")
        .with_link("/p/CLAUDE.md", "agents.md")
        .with_file("/p/.env", "SECRET=1\n")
        .with_link("/p/GEMINI.md", ".env")
        .with_file("/p/.gitignore", "built/\n")
        .with_file("/p/built/c.md", "Built.\n")
        .with_link("/p/.opencode/commands", "../built");
    let collection = collected(&system);
    let items: BTreeMap<String, Vec<String>> = collection
        .items
        .iter()
        .map(|item| (format!("{}/{}", item.kind, item.name), item.originals.clone()))
        .collect();
    let expected = [
        ("rule/a", ".claude/rules/a.md"),
        ("rule/b", ".claude/rules/deep/b.md"),
        ("command/go", ".claude/commands/go.md"),
        ("skill/one", ".claude/skills/one/SKILL.md"),
    ];
    let expected = expected.map(|(name, path)| (name.to_owned(), vec![path.to_owned()]));
    assert_eq!(items, BTreeMap::from(expected));
    let skill = collection.items.iter().find(|item| item.name == "one").unwrap();
    let files: BTreeSet<&str> = skill.files.iter().map(|file| file.path.as_str()).collect();
    let own = ["one/SKILL.md", "one/run.sh", "one/AGENTS.md", "one/shared.md"];
    assert_eq!(files, BTreeSet::from(own));
    let reasons: BTreeMap<&str, &str> =
        collection.skipped.iter().map(|own| (own.path.as_str(), own.reason.as_str())).collect();
    for (path, reason) in [
        ("CLAUDE.md", "is a broken link"),
        ("GEMINI.md", "points to `.env`, whose name suggests secrets"),
        (".opencode/commands", "points to `built`, which version control ignores"),
        (".claude/rules/loop", "points back to its parent directory `agents`"),
        ("agents/skills/one/AGENTS.md", "belongs to the skill beside it"),
    ] {
        let found = reasons.get(path).unwrap_or_else(|| panic!("{path}: {reasons:#?}"));
        assert!(found.starts_with(reason), "{path}: {found}");
    }
    assert_eq!(reasons.len(), 5, "{reasons:#?}");
    assert_eq!(collection.linked, ["agents/rules", "agents/skills"]);
}

/// A page in a directory that a client skips is no rule, and a workflow is a command.
#[test]
fn what_a_client_skips_is_no_rule() {
    let system = MemorySystem::new("/p")
        .with_file("/p/.clinerules/general.md", "Be brief.\n")
        .with_file("/p/.clinerules/workflows/release.md", "Release it.\n")
        .with_file("/p/.clinerules/hooks/README.md", "About hooks.\n")
        .with_file("/p/.cursor/rules/old.md", "No `.mdc`.\n")
        .with_file("/p/.claude/skills/README.md", "About skills.\n")
        .with_file("/p/test/fixtures/app/CLAUDE.md", "Made up.\n");
    let collection = collected(&system);
    let names: Vec<String> =
        collection.items.iter().map(|item| format!("{}/{}", item.kind, item.name)).collect();
    assert_eq!(names, ["rule/general", "command/release"]);
    let reasons: Vec<(&str, &str)> =
        collection.skipped.iter().map(|own| (own.path.as_str(), own.reason.as_str())).collect();
    assert_eq!(
        reasons,
        [
            (".claude/skills/README.md", "does not belong to a skill in `.claude/skills`"),
            (
                ".clinerules/hooks/README.md",
                "is not a rule: clients ignore `hooks` in `.clinerules`"
            ),
            (".cursor/rules/old.md", "no client reads a file with this name in `.cursor/rules`"),
            ("test/fixtures/app/CLAUDE.md", "is test data or a template; name it to import it"),
        ]
    );
}

/// The sources of another tool are imported, what it has written from them is not, and the clients that it writes for are known.
#[test]
fn another_tools_outputs_are_no_originals() {
    let system = MemorySystem::new("/p")
        .with_file("/p/rulesync.jsonc", "{\"targets\": [\"claudecode\", \"cursor\"]}")
        .with_file(
            "/p/.rulesync/rules/overview.md",
            "---\nroot: true\ntargets: ['*']\n---\n# Shop\n\nBe brief.\n",
        )
        .with_file(
            "/p/.rulesync/rules/api.md",
            "---\ntargets: ['*']\nglobs: ['src/**']\n---\nValidate.\n",
        )
        .with_file("/p/.rulesync/commands/go.md", "---\ntargets: ['*']\n---\nGo.\n")
        .with_file(
            "/p/.rulesync/skills/ship/SKILL.md",
            "---\nname: ship\ndescription: d\n---\nShip.\n",
        )
        .with_file("/p/CLAUDE.md", "# Shop\n\nBe brief.\n")
        .with_file(
            "/p/.claude/rules/api.md",
            "---\npaths:\n  - src/**\n---\nValidate it, an older text.\n",
        )
        .with_file(
            "/p/.cursor/rules/overview.mdc",
            "---\nalwaysApply: true\n---\n# Shop\n\nBe brief.\n",
        )
        .with_file("/p/.claude/commands/go.md", "Go.\n")
        .with_file(
            "/p/.claude/skills/ship/SKILL.md",
            "---\nname: ship\ndescription: d\n---\nShip.\n",
        )
        .with_file("/p/.claude/rules/mine.md", "By hand.\n")
        .with_file("/p/GEMINI.md", "Also by hand, and of no tool.\n");
    let collection = collected(&system);
    let names: Vec<String> =
        collection.items.iter().map(|item| format!("{}/{}", item.kind, item.name)).collect();
    assert_eq!(
        names,
        ["rule/api", "rule/gemini", "rule/mine", "rule/overview", "skill/ship", "command/go"]
    );
    let generated: BTreeSet<&str> =
        collection.generated.iter().map(|file| file.path.as_str()).collect();
    let expected = [
        "CLAUDE.md",
        ".claude/rules/api.md",
        ".claude/commands/go.md",
        ".claude/skills/ship",
        ".cursor/rules/overview.mdc",
    ];
    assert_eq!(generated, BTreeSet::from(expected));
    assert!(collection.generated.iter().all(|file| file.tool == "rulesync"));
    assert_eq!(collection.clients, ["claude", "cursor"]);
    assert_eq!(collection.clients_from, ["rulesync.jsonc"]);
    assert_eq!(collection.skipped.len(), 5, "{:#?}", collection.skipped);
}

/// A rule whose ending no client reads in its directory is named, although other rules beside it are imported.
#[test]
fn a_rule_with_another_ending_is_named() {
    let system = MemorySystem::new("/p")
        .with_file("/p/.agents/rules/money.md", "Cents.\n")
        .with_file("/p/.agents/rules/layout.mdc", "---\nalwaysApply: true\n---\nLayout.\n");
    let collection = collected(&system);
    let paths: Vec<&str> = collection.skipped.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((collection.items.len(), paths), (1, vec![".agents/rules/layout.mdc"]));
}
