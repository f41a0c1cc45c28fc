//! Patterns of clients, and the files that they cover.

use super::*;
use crate::ProjectFiles;
use crate::name_index::NameIndex;

fn read(semantics: Semantics, values: &[&str]) -> Option<Globs> {
    let mut problems = Vec::new();
    let globs = Globs::parse(
        semantics,
        values.iter().map(|&value| (value, Span::empty_at(0))),
        &mut problems,
    );
    assert_eq!(problems, []);
    globs
}

fn covers(semantics: Semantics, values: &[&str], path: &str) -> bool {
    let kind = if path.ends_with('/') { TargetKind::Directory } else { TargetKind::File };
    let globs = read(semantics, values).expect("they say something");
    globs.find_covering_pattern(path.trim_end_matches('/'), kind).is_some()
}

/// Patterns that are left out for a directory decide the same about all files in it.
#[test]
fn a_directory_is_decided_only_if_all_its_files_are() {
    let patterns = "src src/** src/api/** src/api/*.py **/*.py *.py SRC/Api src/a* api /src src/api/x.py \
                    !src/api/x.py src/**/x.py {src,lib}/** s src/apis/**";
    let pairs = patterns.split(' ').flat_map(|one| patterns.split(' ').map(move |two| [one, two]));
    let kinds = [Semantics::Claude, Semantics::Workspace];
    let mut decided = 0;
    for (pair, semantics) in pairs.flat_map(|pair| kinds.map(|kind| (pair, kind))) {
        let Some(globs) = read(semantics, &pair) else { continue };
        for directory in ["", "src", "src/api", "src/api/deep", "lib", "s", "SRC/API"] {
            let covers = ["x.py", "y.py", "x.md", "api", "src", "X.PY"].map(|name| {
                let path = format!("{directory}/{name}");
                globs
                    .find_covering_pattern(path.trim_start_matches('/'), TargetKind::File)
                    .is_some()
            });
            if globs.is_same_in(directory) {
                decided += 1;
                assert_eq!(covers, [covers[0]; 6], "{semantics:?} {pair:?} {directory}");
            }
        }
    }
    assert!(decided > 500, "{decided}");
}

#[test]
fn commas_and_braces() {
    let split = |value| split_at_commas(value).collect::<Vec<_>>();
    assert_eq!(split("a, b,,{c,d}/e , f"), ["a", "b", "{c,d}/e", "f"]);
    assert_eq!(split("a{b,{c,d}},e"), ["a{b,{c,d}}", "e"]);
    let expand = |pattern| expand_braces(pattern, 1_000).0;
    assert_eq!(expand("src/*.{ts,tsx}"), ["src/*.ts", "src/*.tsx"]);
    assert_eq!(expand("{a,b}/{c, d}"), ["a/c", "a/d", "b/c", "b/d"]);
    assert_eq!(expand("{a,{b,c}}x"), ["ax", "bx", "cx"]);
    assert_eq!(expand("{}a{b"), ["{}a{b"]);
    assert_eq!(expand("{a}"), ["a"]);
}

/// Claude Code, by its code; where its documentation says otherwise, the code counts.
#[test]
fn patterns_of_claude_are_lines_of_a_gitignore() {
    for (values, path, expected) in [
        (&["*.md"][..], "a/b.md", true),
        (&["/*.md"], "a/b.md", false),
        (&["/*.md"], "b.md", true),
        (&["**/*.md"], "a/b.md", true),
        (&["src"], "src/a/b.ts", true),
        (&["src/**"], "src/a/b.ts", true),
        // The `/**` is cut off, and what is left has no `/`.
        (&["src/**"], "packages/x/src/b.ts", true),
        (&["src/api/**"], "packages/src/api/b.ts", false),
        (&["src/api/**"], "src/api/b.ts", true),
        (&["src/**/*.{ts,tsx}"], "src/a/b.tsx", true),
        (&["src/**/*.{ts,tsx}"], "src/b.ts", true),
        (&["src/*.ts"], "src/a/b.ts", false),
        (&["a.ts, b.ts"], "x/b.ts", true),
        (&["**/*.ts", "!*.test.ts"], "a/b.test.ts", false),
        (&["**/*.ts", "!*.test.ts"], "a/b.ts", true),
        (&["src", "!src/a.ts"], "src/a.ts", true),
        (&["\\[id\\].ts"], "app/[id].ts", true),
        (&["[id].ts"], "app/i.ts", true),
        (&["docs/"], "docs/a.md", true),
        (&["docs/"], "docs", false),
        (&["./src"], "src/a", false),
        (&["**/*"], "a", true),
        (&["src/api"], "src/", true),
        (&["src/api"], "docs/", false),
        (&["src/api"], "src/api/v1/", true),
        (&["*.ts"], "anything/", true),
    ] {
        assert_eq!(covers(Semantics::Claude, values, path), expected, "{values:?} {path}");
    }
    for everything in [&["**"][..], &["**", "**"], &["/**"], &[], &["**, **"]] {
        assert!(read(Semantics::Claude, everything).is_none(), "{everything:?}");
    }
}

#[test]
fn patterns_of_others_start_at_the_workspace() {
    for (values, path, expected) in [
        (&["*.py"][..], "a.py", true),
        (&["*.py"], "a/b.py", false),
        (&["**/*.py"], "a/b.py", true),
        (&["**/*.py"], "b.py", true),
        (&["**"], "a/b", true),
        (&["**/*"], "a", true),
        (&["*"], "a/b", false),
        (&["src/**, docs/*.md"], "docs/a.md", true),
        (&["src/{a,b}/*.ts"], "src/b/x.ts", true),
        (&["/src/*.ts"], "src/x.ts", true),
        (&["./src/"], "src/a/x.ts", true),
        (&["src/**"], "src/api/", true),
        (&["src/**"], "docs/", false),
        (&["*.py"], "a/", false),
        (&["[ab].ts"], "a.ts", true),
    ] {
        assert_eq!(covers(Semantics::Workspace, values, path), expected, "{values:?} {path}");
    }
}

#[test]
fn a_bomb_of_braces_is_cut() {
    let bomb = "{a,b}".repeat(40);
    let mut problems = Vec::new();
    let globs =
        Globs::parse(Semantics::Claude, [(bomb.as_str(), Span::empty_at(0))], &mut problems)
            .unwrap();
    assert!(globs.rules.len() <= limits::NATIVE_PATTERNS);
    assert_eq!(problems, [GlobsProblem::TooMany { span: Span::empty_at(0) }]);
    let deep = "{".repeat(2_000) + &"}".repeat(2_000);
    assert_eq!(expand_braces(&deep, 1_000).0.len(), 1);
}

/// In git no class admits a separator. The crate `ignore` lets one that is negated do so.
#[test]
fn no_class_of_claude_admits_a_separator() {
    assert!(covers(Semantics::Claude, &["/a[!x]b"], "a-b"));
    assert!(!covers(Semantics::Claude, &["/a[!x]b"], "a/b"));
    assert!(covers(Semantics::Claude, &["/a[]x]b"], "a]b"));
}

/// Every list of lines answers as the crate `ignore` does, asked from the top down.
#[test]
fn the_crate_ignore_answers_the_same() {
    const PIECES: [&str; 14] =
        ["a", "b", "/", "/", "*", "**", "**/", "/**", "?", "[ab]", "\\*", "!", ".", "c/"];
    const PATHS: [&str; 12] =
        ["a", "b", "a/b", "b/a", "a/b/c", "c/a", "c/b/a", "aa", "ab/a", "a/.b", "a/*", "c"];
    arbtest::arbtest(|bytes| {
        let mut lines: Vec<String> = Vec::new();
        for _ in 0..bytes.int_in_range(1..=3)? {
            let mut line = String::new();
            for _ in 0..bytes.int_in_range(1..=5)? {
                line.push_str(bytes.choose(&PIECES)?);
            }
            // Runs of three stars and of separators are in no real pattern, and a mark that says
            // nothing is read as everything there.
            let is_empty = matches!(line.trim_start_matches('!'), "" | "/");
            if !line.contains("***") && !line.contains("//") && !is_empty {
                lines.push(line);
            }
        }
        let mut builder = ignore::gitignore::GitignoreBuilder::new("");
        let mut rules = Vec::new();
        for line in &lines {
            let theirs = builder.add_line(None, line);
            match parse_gitignore_rule(line, 0) {
                Ok(rule) if theirs.is_ok() => rules.extend(rule),
                _ => return Ok(()),
            }
        }
        let Ok(theirs) = builder.build() else { return Ok(()) };
        let globs = Globs {
            written: vec![String::new()],
            spans: vec![Span::empty_at(0)],
            rules,
            ..Globs::empty(Semantics::Claude)
        };
        for path in PATHS {
            let ends = path.match_indices('/').map(|(at, _)| (at, true));
            let expected = ends
                .chain([(path.len(), false)])
                .any(|(end, is_dir)| theirs.matched(&path[..end], is_dir).is_ignore());
            let found = globs.find_covering_pattern(path, TargetKind::File).is_some();
            assert_eq!(found, expected, "{lines:?} {path}");
        }
        Ok(())
    });
}

/// A pattern is looked for among the files that begin as it does, and elsewhere where case does not count.
#[test]
fn a_dead_pattern_covers_no_file() {
    let files = ["Docs/a.md", "lib/x.py", "src-old/b.py", "src/api/a.py"].map(str::to_owned);
    let project = ProjectFiles { files: files.to_vec(), directories: Vec::new() };
    for (semantics, expected) in [
        (Semantics::Claude, &["none/**", "src/web"][..]),
        (Semantics::Workspace, &["docs/**", "none/**", "src/web"]),
    ] {
        let patterns = ["docs/**", "none/**", "src/web", "src/**", "**/*.py", "src-old/*"];
        let globs = read(semantics, &patterns).unwrap();
        let index = NameIndex::new(&project, globs.compiled_globs());
        let dead = globs.dead_patterns(&index.files_below(""));
        let dead: Vec<&str> = dead.into_iter().map(|(dead, _)| dead).collect();
        assert_eq!(dead, expected, "{semantics:?}");
    }
}
