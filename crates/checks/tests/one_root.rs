//! One root, wherever you are: a part of a project has the findings of the whole, limited to that part.

use std::collections::BTreeSet;
use std::path::Path;

use arbtest::arbitrary::{self, Unstructured};
use brief_checks::lint::{Findings, Lint};
use brief_engine::Project;
use brief_system::MemorySystem;

/// Files with findings that depend on what lies elsewhere in the project, or on where they lie themselves.
const PIECES: [(&str, &str); 19] = [
    ("CLAUDE.md", "See [a](docs/a.md), [b](../docs/b.md) and `npm run dev:web`.\n"),
    ("AGENTS.md", "See [a](docs/a.md), [b](../docs/b.md) and `npm run dev:web`.\n"),
    ("AGENTS.yaml", "context:\n  - content: A\n    mach: [x]\n    match: ['src/**', 'none/**']\n"),
    (".cursor/rules/a.mdc", "---\nglobs: \"web/**/*.ts\"\n---\nSee [x](../../docs/a.md).\n"),
    (".cursor/b.mdc", "---\nalwaysApply: true\n---\nText.\n"),
    (".github/instructions/t.instructions.md", "---\napplyTo: lib/**\n---\nText.\n"),
    (".github/instructions/plain.md", "Text.\n"),
    (".claude/settings.json", "{\"permisions\": {}, \"hooks\": {\"Stop\": 1}}\n"),
    (".claude/skills/s/SKILL.md", "---\nname: t\n---\nSee [a](../../../docs/a.md).\n"),
    (".claude/commands/c.md", "---\nallowed-tool: Bash\n---\nSee [a](docs/none.md).\n"),
    (".context/css.md", "---\ntrigger: auto\nglobs: **/*.css\n---\nText.\n"),
    (".agents/rules/r.md", "---\nlanguages: 1\n---\nSee [a](../../docs/a.md).\n"),
    ("skills/k/SKILL.md", "---\nname: other\n---\nSee [a](../../docs/a.md).\n"),
    ("rules/r/RULE.md", "---\nschema: 1\nname: wrong\n---\nText.\n"),
    ("b.bundle.md", "---\nschema: 1\nname: b\ndescription: x\nitems:\n  rules: [r, s]\n---\n"),
    ("agents/a_x.agent.md", "---\ntitel: x\ncommands: [c.md]\n---\nText.\n"),
    ("package.json", "{\"scripts\": {\"dev:web\": \"vite\"}}\n"),
    ("docs/a.md", "Text.\n"),
    (".gitignore", "made/\n"),
];

const DIRECTORIES: [&str; 6] = ["", "web/", "web/app/", "docs/", "made/", "node_modules/p/"];

/// Puts some of the files into some of the directories of a repository.
fn project(bytes: &mut Unstructured<'_>) -> arbitrary::Result<(MemorySystem, BTreeSet<String>)> {
    let mut system = MemorySystem::new("/p").with_dir("/p/.git");
    let mut paths = BTreeSet::new();
    for directory in DIRECTORIES {
        for (name, text) in PIECES {
            if bytes.ratio(1, 3)? {
                let path = format!("{directory}{name}");
                system = system.with_file(&path, text);
                paths.insert(path);
            }
        }
    }
    Ok((system, paths))
}

/// The number of projects that are made.
const PROJECTS: u64 = 20;

/// Of so many parts of a project, one is compared.
const STEP: u64 = 6;

/// Returns bytes that look like chance and are the same in each run (xorshift).
fn noise(seed: u64) -> Vec<u8> {
    let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(next).take(64).flatten().collect()
}

fn lint(system: &MemorySystem, started: &str, path: &str) -> Findings {
    let project = Project::open(system, Path::new("/p").join(started)).expect("it is there");
    Lint::new(&project, Path::new(path)).expect("it is there").pedantic().check()
}

/// Returns what a user reads of each finding.
fn shown(found: &Findings, part: &Path) -> Vec<String> {
    let below = found.diagnostics.iter().filter(|found| found.path().starts_with(part));
    let line = |found: &brief_syntax::Diagnostic| {
        let (path, position, help) = (found.path().display(), found.position(), &found.help);
        format!("{path}:{position:?} {} {} {help:?}", found.code(), found.message)
    };
    below.map(line).collect()
}

/// Returns whether the check of the whole project reads a directory.
fn is_read(path: &str, paths: &BTreeSet<String>) -> bool {
    let ignores = |above: &str| paths.contains(&format!("{above}.gitignore"));
    !(path.starts_with("node_modules/") || path.starts_with("made") && ignores(""))
}

/// Issue 35: `lint DIR` and `cd DIR; lint` report what the whole run does, limited to DIR. So does a file.
#[test]
fn a_part_has_the_findings_of_the_whole() {
    let mut compared = 0;
    for seed in 0..PROJECTS {
        let (system, paths) = project(&mut Unstructured::new(&noise(seed))).unwrap();
        let whole = lint(&system, "", ".");
        let mut parts: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
        for path in &paths {
            parts.extend(path.match_indices('/').map(|(end, _)| &path[..end]));
        }
        let first = usize::try_from(seed % STEP).unwrap();
        let some = parts.into_iter().skip(first).step_by(usize::try_from(STEP).unwrap());
        for part in some.filter(|part| is_read(part, &paths)) {
            let expected = shown(&whole, &Path::new("/p").join(part));
            compared += expected.len();
            assert_eq!(shown(&lint(&system, "", part), Path::new("/")), expected, "lint {part}");
            let (above, name) = part.rsplit_once('/').unwrap_or(("", part));
            let nearer = lint(&system, above, name);
            assert_eq!(shown(&nearer, Path::new("/")), expected, "cd {above}; lint {name}");
            if !paths.contains(part) {
                let inside = lint(&system, part, ".");
                assert_eq!(shown(&inside, Path::new("/")), expected, "cd {part}; lint");
                assert_eq!(inside.files, nearer.files, "{part}");
            }
        }
    }
    assert!(compared > 300, "{compared} findings are too few to prove anything");
}

/// A part that the whole run leaves out is checked by itself if it is named.
#[test]
fn a_part_that_is_left_out_is_checked_when_it_is_named() {
    let yaml = "context:\n  - content: A\n    mach: [x]\n";
    let system = MemorySystem::new("/p")
        .with_dir("/p/.git")
        .with_file(".gitignore", "made/\n")
        .with_file("made/AGENTS.yaml", yaml)
        .with_file("node_modules/p/AGENTS.yaml", yaml);
    assert!(lint(&system, "", ".").diagnostics.is_empty());
    for part in ["made", "node_modules/p", "made/AGENTS.yaml"] {
        let found = lint(&system, "", part);
        assert_eq!((found.diagnostics.len(), found.files), (1, 1), "{part}");
    }
}
