//! Walks over projects in memory.

use super::*;
use crate::project::TargetKind;
use brief_system::{Files, MemorySystem};

fn root(system: &MemorySystem) -> Root {
    Root::open(system, Path::new("/p")).unwrap()
}

fn visited(system: &MemorySystem, ignored: Ignored) -> Vec<String> {
    let mut seen = Vec::new();
    let top = Target::from_slashed("", TargetKind::Directory);
    let gaps = walk_whole(system, &root(system), &top, ignored, &mut |visit| {
        seen.push(visit.slashed().to_owned());
    });
    assert_eq!(gaps, []);
    seen
}

/// X18: past the limit the walk ends, and says so once, however many directories follow.
#[test]
fn x18_a_walk_ends_at_its_limit() {
    let mut system = MemorySystem::new("/p");
    for number in 0..100 {
        system = system
            .with_file(&format!("d{number:03}/a"), "")
            .with_file(&format!("d{number:03}/b"), "");
    }
    let root = root(&system);
    let mut seen = Vec::new();
    let mut visitor = |visit: &Visit<'_>| seen.push(visit.slashed().to_owned());
    let top = system.open_dir(root.path()).unwrap();
    let walk = WholeWalk {
        system: &system,
        root: &root,
        top: top.as_ref(),
        ignored: Ignored::Skip,
        is_shallow: false,
        skipped: &|_| false,
        visitor: &mut visitor,
        rules: Vec::new(),
        tracked: OnceCell::new(),
        only_tracked: false,
        left: Some(105),
        gaps: Vec::new(),
    };
    let gaps = walk.from(&Target::from_slashed("", TargetKind::Directory));
    let reason = GapReason::TooMany { limit: limits::WALK_ENTRIES };
    assert_eq!(gaps, [Gap { path: "/p/d002".into(), reason }]);
    assert_eq!(seen, ["", "d000", "d001"]);
}

/// N33: the whole file system, a home directory and one above it are no projects; a repository there is one.
#[test]
fn n33_a_directory_that_is_no_project_is_not_entered() {
    let system = MemorySystem::new("/home/me")
        .with_env("HOME", "/home/me")
        .with_file("shop/a/f", "")
        .with_file(".agents/tasks/f", "")
        .with_file("agents/deep/f", "")
        .with_file("/etc/f", "");
    let walked = |system: &MemorySystem, root: &str, start: &str| {
        let root = Root::open(system, Path::new(root)).unwrap();
        let start = Target::from_slashed(start, TargetKind::Directory);
        let mut seen = Vec::new();
        let gaps = walk_whole(system, &root, &start, Ignored::Skip, &mut |visit| {
            seen.push(visit.slashed().to_owned());
        });
        (seen.join(" "), gaps)
    };
    let gap =
        |path: &str, wide| vec![Gap { path: path.into(), reason: GapReason::NoProject(wide) }];
    let wide = [
        ("/", "", "", "/", WideDirectory::FileSystem),
        ("/", "home", "home", "/home", WideDirectory::AboveHome),
        ("/home/me", "", " .agents .agents/tasks agents", "/home/me", WideDirectory::Home),
    ];
    for (root, start, seen, path, kind) in wide {
        assert_eq!(walked(&system, root, start), (seen.to_owned(), gap(path, kind)), "{path}");
    }
    assert_eq!(walked(&system, "/", "etc"), ("etc".to_owned(), vec![]));
    assert_eq!(walked(&system, "/home/me/shop", ""), (" a".to_owned(), vec![]));
    let dotfiles = system.with_dir("/home/.git");
    let (seen, gaps) = walked(&dotfiles, "/home/me", "");
    assert_eq!((seen.contains("shop/a"), gaps), (true, vec![]), "{seen}");
}

#[test]
fn one_path_is_walked_from_the_top_and_may_end_early() {
    let system = MemorySystem::new("/p").with_file("a/b/f", "").with_file("a/other/f", "");
    let target = Target::from_slashed("a/b/new/deep/f", TargetKind::File);
    let mut seen = Vec::new();
    let gaps = walk_along(&system, &root(&system), &target, &mut |visit| {
        seen.push(visit.slashed().to_owned());
    });
    assert_eq!((seen, gaps), (vec![String::new(), "a".into(), "a/b".into()], vec![]));
}

#[test]
fn a_linked_directory_is_not_entered() {
    let system = MemorySystem::new("/p").with_file("/out/f", "").with_link("in", "/out");
    assert_eq!(visited(&system, Ignored::Visit), [""]);
}

#[test]
fn version_control_and_ignored_directories_are_left_out_unless_asked() {
    let system = MemorySystem::new("/p")
        .with_file(".git/config", "")
        .with_file(".gitignore", "node_modules\n/build/\n*.tmp\n")
        .with_file("node_modules/x/f", "")
        .with_file("build/f", "")
        .with_file("src/.gitignore", "!keep.tmp\n")
        .with_file("src/build/f", "");
    assert_eq!(visited(&system, Ignored::Skip), ["", "src", "src/build"]);
    assert_eq!(
        visited(&system, Ignored::Visit),
        ["", ".git", "build", "node_modules", "node_modules/x", "src", "src/build"]
    );
}

/// Git ignores nothing that is in its index, and beside it everything that its rules name.
#[test]
fn tracked_guidance_in_an_ignored_directory_is_visited() {
    let index =
        crate::tracked::tests::build_index(2, &[".claude/commands/pr.md", "made/AGENTS.md"]);
    let system = MemorySystem::new("/p")
        .with_file(".git/index", index)
        .with_file(".gitignore", ".claude\nmade\n.tmp\n")
        .with_file(".claude/commands/pr.md", "")
        .with_file(".claude/settings.local.json", "")
        .with_file(".claude/plans/mine.md", "")
        .with_file("made/AGENTS.md", "")
        .with_file("made/a/f", "")
        .with_file(".tmp/f", "");
    let mut seen = Vec::new();
    let top = Target::from_slashed("", TargetKind::Directory);
    walk_whole(&system, &root(&system), &top, Ignored::Skip, &mut |visit| {
        let names = visit.entries().unwrap_or_default().iter();
        let names = names.map(|entry| entry.name.to_string_lossy().into_owned());
        seen.push(format!("{}: {}", visit.slashed(), names.collect::<Vec<_>>().join(" ")));
    });
    let expected = [
        ": .claude .gitignore made",
        ".claude: commands",
        ".claude/commands: pr.md",
        "made: AGENTS.md",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn what_the_caller_skips_is_not_entered() {
    let system = MemorySystem::new("/p").with_file("a/out/f", "").with_file("out/f", "");
    let top = Target::from_slashed("", TargetKind::Directory);
    let mut seen = Vec::new();
    let is_out = |slashed: &str| slashed == "out";
    whole_except(&system, &root(&system), &top, Ignored::Skip, &is_out, &mut |visit| {
        seen.push(visit.slashed().to_owned());
    });
    assert_eq!(seen, ["", "a", "a/out"]);
}

#[test]
fn a_root_inside_a_repository_obeys_its_rules() {
    let system = MemorySystem::new("/p")
        .with_dir("/.git")
        .with_file("/.gitignore", "vendor/\n")
        .with_file("vendor/f", "")
        .with_file("src/f", "");
    assert_eq!(visited(&system, Ignored::Skip), ["", "src"]);
}

#[test]
fn an_ignored_directory_is_read_when_the_walk_starts_there() {
    let system = MemorySystem::new("/p")
        .with_dir(".git")
        .with_file("made/.gitignore", "*\n")
        .with_file("made/a/.gitignore", "tmp/\n")
        .with_file("made/a/tmp/f", "")
        .with_file("made/a/b/f", "");
    let start = Target::from_slashed("made/a", TargetKind::Directory);
    let mut seen = Vec::new();
    walk_whole(&system, &root(&system), &start, Ignored::Skip, &mut |visit| {
        let listed = visit.entries().map_or(0, <[DirEntry]>::len);
        seen.push((visit.slashed().to_owned(), listed));
    });
    // Rules inside of it still count: `tmp` is left out.
    assert_eq!(seen, [("made/a".to_owned(), 2), ("made/a/b".to_owned(), 1)]);
}

#[test]
fn a_very_deep_path_keeps_the_directories_nearest_to_the_target() {
    let depth = limits::PATH_DEPTH + 10;
    let mut system = MemorySystem::new("/p");
    let deep = vec!["d"; depth].join("/");
    system = system.with_dir(&deep);
    let target = Target::from_slashed(&deep, TargetKind::Directory);
    let mut first = None;
    let mut count = 0;
    let gaps = walk_along(&system, &root(&system), &target, &mut |visit| {
        first.get_or_insert_with(|| visit.slashed().len());
        count += 1;
    });
    assert_eq!(count, limits::PATH_DEPTH);
    assert!(first > Some(0));
    assert_eq!(gaps[0].reason, GapReason::TooDeep { limit: limits::PATH_DEPTH });
}
