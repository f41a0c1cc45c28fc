//! The document of structured context, sentence by sentence, and rulings S1 to S3.
//!
//! Each test quotes what it holds to. Everything happens in memory, through the engine, so the
//! order of merging and the walk are part of what is tested.

mod ask;
mod validation;

use std::path::Path;

use brief_engine::{
    Action, Catalog, CatalogScope, Dialects, Moment, Root, Strangers, Target, TargetKind, Timing,
};
use brief_syntax::walk::Ignored;

use self::ask::{NONE, ask, project, yaml};

const CLEAN: [(&str, usize, bool); 0] = [];

/// "Recognized filenames: AGENTS.yaml, AGENTS.yml." Nothing else is one, case included.
#[test]
fn two_names_are_recognized() {
    for name in ["AGENTS.yaml", "AGENTS.yml"] {
        let system = project().with_file(name, "context: [{content: X}]\n");
        assert_eq!(ask(&system, "a").contents(), ["X"], "{name}");
    }
    for name in ["agents.yaml", "AGENTS.YAML", "AGENTS.md", "AGENTS.yaml.bak", "CONTEXT.yaml"] {
        let system = project().with_file(name, "context: [{content: X}]\n");
        assert_eq!(ask(&system, "a").contents(), NONE, "{name}");
    }
}

/// "If multiple context files exist in the same directory, all are loaded and their contents
/// merged."
#[test]
fn both_names_in_one_directory_are_merged() {
    let system = project()
        .with_file("AGENTS.yml", "context: [{content: second}]\n")
        .with_file("AGENTS.yaml", "context: [{content: first}]\n");
    assert_eq!(ask(&system, "a").contents(), ["first", "second"]);
}

/// "Context files can appear in any directory. Tools discover them by walking up from the target
/// file to the project root, collecting every context file found along the way."
#[test]
fn every_file_on_the_way_counts_and_no_other() {
    let system = yaml("context: [{content: top}]\n")
        .with_file("a/b/AGENTS.yaml", "context: [{content: deep}]\n")
        .with_file("a/b/c/AGENTS.yaml", "context: [{content: below}]\n")
        .with_file("other/AGENTS.yaml", "context: [{content: aside}]\n");
    assert_eq!(ask(&system, "a/b/x").contents(), ["top", "deep"]);
    assert_eq!(ask(&system, "a/x").contents(), ["top"]);
    assert_eq!(ask(&system, "a/b/not/yet/there/x").contents(), ["top", "deep"]);
}

/// "The project root is the working directory where the tool was launched. Not detected via file
/// markers." "Only AGENTS.yaml files at or below the root are considered. Files above the root are
/// never seen."
#[test]
fn files_above_the_root_are_never_seen() {
    let system = yaml("context: [{content: mine}]\n")
        .with_file("/AGENTS.yaml", "context: [{content: above}]\n")
        .with_dir("/.git")
        .with_file("sub/.git/config", "")
        .with_file("sub/pyproject.toml", "");
    assert_eq!(ask(&system, "sub/a").contents(), ["mine"]);
    let root = Root::open(&system, Path::new("/p")).unwrap();
    for outside in ["../a", "/a", "sub/../../a", "/p2/a"] {
        assert!(
            root.locate_target(&system, root.path(), Path::new(outside)).is_none(),
            "{outside}"
        );
    }
}

/// "If no context files exist in the project, tools should emit a warning and return gracefully.
/// Missing files are not errors."
#[test]
fn missing_files_are_not_errors() {
    let system = project();
    ask(&system, "a").answer(|catalog, answer| {
        assert!(catalog.is_empty(), "so that a front end can warn");
        assert!(answer.items.is_empty() && answer.decisions.is_empty());
        assert_eq!(catalog.diagnostics(), []);
    });
    // A broken file is there all the same.
    let system = yaml("context: [");
    ask(&system, "a").answer(|catalog, _| assert!(!catalog.is_empty()));
}

/// "A context file has two optional top-level keys: context, decisions. Both are lists. Both are
/// optional."
#[test]
fn both_lists_are_optional() {
    for text in [
        "",
        "# nothing\n",
        "---\n",
        "{}\n",
        "context:\n",
        "decisions: []\n",
        "context: []\ndecisions: ~\n",
    ] {
        let system = yaml(text);
        assert_eq!(ask(&system, "a").problems(), CLEAN, "{text:?}");
        assert_eq!(ask(&system, "a").contents(), NONE, "{text:?}");
    }
    for text in ["context: text\n", "decisions: {a: b}\n", "[]\n", "text\n"] {
        let system = yaml(text);
        assert_eq!(ask(&system, "a").problems(), [("agents-yaml/wrong-type", 1, true)], "{text}");
    }
}

/// "match: list of globs, default `["**"]`: File or directory patterns this applies to."
#[test]
fn match_defaults_to_everything() {
    for text in ["{content: X}", "{content: X, match: }", "{content: X, match: []}"] {
        let system = yaml(&format!("context: [{text}]\n"));
        for path in ["a", "a/b/c.py", ".hidden", "..odd", "dir/"] {
            assert_eq!(ask(&system, path).contents(), ["X"], "{text} {path}");
        }
    }
    let system = yaml("context: [{content: X, match: ['*.md', 'src/**']}]\n");
    assert_eq!(ask(&system, "a.md").contents(), ["X"]);
    assert_eq!(ask(&system, "src/a/b").contents(), ["X"]);
    assert_eq!(ask(&system, "docs/a.md").contents(), NONE);
}

/// "exclude: list of globs, default `[]`: File or directory patterns to skip."
#[test]
fn exclude_skips() {
    let system =
        yaml("context: [{content: X, match: ['src/**'], exclude: ['**/*.gen.py', 'src/v/**']}]\n");
    assert_eq!(ask(&system, "src/a.py").contents(), ["X"]);
    assert_eq!(ask(&system, "src/a.gen.py").contents(), NONE);
    assert_eq!(ask(&system, "src/v/a.py").contents(), NONE);
}

/// "on: string or list, default all. Action filter: read, edit, create, all." "Filter by action:
/// Keep entries where `on` includes the requested action (or is `all`)."
#[test]
fn on_filters_by_action() {
    let system = yaml(
        "context:
- content: default
- {content: every, on: all}
- {content: read, on: read}
- {content: list, on: [edit, create]}
- {content: mixed, on: [read, all]}
",
    );
    let on = |action| ask(&system, "a").on(action).contents();
    assert_eq!(on(Action::Read), ["default", "every", "read", "mixed"]);
    assert_eq!(on(Action::Edit), ["default", "every", "list", "mixed"]);
    assert_eq!(on(Action::Create), ["default", "every", "list", "mixed"]);
    assert_eq!(ask(&system, "a").contents(), ["default", "every", "read", "list", "mixed"]);
}

/// "when: string, default before. Prompt positioning: before, after, all." "Filter by timing: Keep
/// entries where `when` matches the requested timing."
#[test]
fn when_filters_by_timing() {
    let system = yaml(
        "context: [{content: default}, {content: before, when: before}, \
         {content: after, when: after}, {content: all, when: all}]\n",
    );
    let when = |timing| ask(&system, "a").when(timing).contents();
    assert_eq!(when(Timing::Before), ["default", "before", "all"]);
    assert_eq!(when(Timing::After), ["after", "all"]);
    assert_eq!(ask(&system, "a").contents(), ["default", "before", "after", "all"]);
}

/// "Decision entry fields: decision, rationale, alternatives, `revisit_when`, date, match." The
/// default of `match` is `["**"]`.
#[test]
fn decisions_have_their_fields() {
    let system = yaml(
        "decisions:
- decision: D
  rationale: R
  alternatives:
  - {option: O, reason_rejected: X}
  - {option: P, reason_rejected: Y}
  revisit_when: W
  date: 2024-02-29
- {decision: E, rationale: S, match: ['src/**']}
",
    );
    ask(&system, "a").answer(|catalog, answer| {
        assert_eq!(catalog.diagnostics(), []);
        let [bound] = answer.decisions.as_slice() else { panic!("one decision binds `a`") };
        let found = bound.decision;
        assert_eq!((found.decision.as_str(), found.rationale.as_str()), ("D", "R"));
        let alternatives: Vec<_> = found
            .alternatives
            .iter()
            .map(|found| (found.option.as_str(), found.reason_rejected.as_str()))
            .collect();
        assert_eq!(alternatives, [("O", "X"), ("P", "Y")]);
        assert_eq!(found.revisit_when.as_deref(), Some("W"));
        assert_eq!(found.date.as_deref(), Some("2024-02-29"));
    });
    assert_eq!(ask(&system, "src/a").decisions(), ["D", "E"]);
}

/// Decisions have neither action nor timing.
#[test]
fn decisions_bind_at_every_moment() {
    let system = yaml("decisions: [{decision: D, rationale: R}]\n");
    for action in Action::ALL {
        for timing in Timing::ALL {
            assert_eq!(ask(&system, "a").on(action).when(timing).decisions(), ["D"]);
        }
    }
}

/// "Parse each file. Emit warnings for invalid files but continue processing valid ones."
#[test]
fn a_broken_file_spares_the_others() {
    let system = yaml("context: [\n")
        .with_file("AGENTS.yml", "context: [{content: beside}]\n")
        .with_file("a/AGENTS.yaml", "context: [{content: below}]\n");
    assert_eq!(ask(&system, "a/x").contents(), ["beside", "below"]);
    let problems = ask(&system, "a/x").problems();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].0, "agents-yaml/invalid-yaml");
}

/// "Globs are relative to the context file's directory."
#[test]
fn globs_are_relative_to_their_file() {
    let file = |pattern: &str| {
        let text = format!("context: [{{content: X, match: [{pattern}]}}]\n");
        project().with_file("a/AGENTS.yaml", text)
    };
    let system = file("'b/*.py', 'c.py'");
    assert_eq!(ask(&system, "a/b/x.py").contents(), ["X"]);
    assert_eq!(ask(&system, "a/c.py").contents(), ["X"]);
    assert_eq!(ask(&system, "a/a/b/x.py").contents(), NONE);
    assert_eq!(ask(&file("'a/b/*.py'"), "a/b/x.py").contents(), NONE);
}

/// "Directory patterns (trailing /) are skipped during file queries."
#[test]
fn directory_patterns_do_not_match_files() {
    let system = yaml(
        "context:
- {content: only-directory, match: [src/]}
- {content: either, match: [src/, src/a]}
- {content: not-excluded, exclude: [src/, '**/']}
",
    );
    assert_eq!(ask(&system, "src/a").contents(), ["either", "not-excluded"]);
}

/// "Merge: Combine all matching entries. Parent directory entries come first, child directory
/// entries come last." "Return: The ordered list of matching context entries and decisions."
#[test]
fn parents_come_before_children() {
    let entry = |name: &str| {
        format!(
            "decisions: [{{decision: d-{name}, rationale: R}}]
context: [{{content: {name}-1}}, {{content: {name}-2}}]
"
        )
    };
    let system = yaml(&entry("top"))
        .with_file("a/AGENTS.yaml", entry("middle"))
        .with_file("a/b/AGENTS.yaml", entry("deep"));
    assert_eq!(
        ask(&system, "a/b/x").contents(),
        ["top-1", "top-2", "middle-1", "middle-2", "deep-1", "deep-2"]
    );
    assert_eq!(ask(&system, "a/b/x").decisions(), ["d-top", "d-middle", "d-deep"]);
}

/// "Discovery starts from the directory itself, not its parent. This ensures entries in the queried
/// directory's own AGENTS.yaml are included."
#[test]
fn a_directory_sees_its_own_file() {
    let system = yaml("context: [{content: top}]\n")
        .with_file("src/AGENTS.yaml", "context: [{content: own}]\n");
    assert_eq!(ask(&system, "src").contents(), ["top", "own"]);
    assert_eq!(ask(&system, "src/").contents(), ["top", "own"]);
    assert_eq!(ask(&system, ".").contents(), ["top"]);
}

/// "Directory patterns (trailing /) match if the queried directory matches the pattern exactly."
#[test]
fn directory_patterns_match_exactly() {
    let system = yaml("context: [{content: X, match: [src/, '**/api/', 'lib/*/']}]\n");
    for path in ["src/", "api/", "v1/api/", "lib/a/"] {
        assert_eq!(ask(&system, path).contents(), ["X"], "{path}");
    }
    for path in ["src/a/", "lib/", "lib/a/b/", "source/", "./"] {
        assert_eq!(ask(&system, path).contents(), NONE, "{path}");
    }
}

/// "File-glob patterns match if they could produce hits inside the queried directory (e.g. src/**
/// matches a query for src/ but not for tests/)."
#[test]
fn file_globs_match_directories_that_could_hold_a_hit() {
    for (pattern, path, could) in [
        ("src/**", "src/", true),
        ("src/**", "tests/", false),
        ("src/**", "src/deep/er/", true),
        ("src/**", "./", true),
        ("src/*.py", "src/", true),
        ("src/*.py", "src/api/", false),
        ("src/a/b.py", "src/a/", true),
        ("src/a/b.py", "src/b/", false),
        ("*.py", "./", true),
        ("*.py", "src/", false),
        ("**/*.py", "any/where/", true),
        ("**/api/*.py", "src/", true),
    ] {
        let system = yaml(&format!("context: [{{content: X, match: ['{pattern}']}}]\n"));
        assert_eq!(ask(&system, path).contents() == ["X"], could, "{pattern} for {path}");
    }
}

/// "The algorithm is the same": directory queries filter by action and timing too.
#[test]
fn directory_queries_filter_too() {
    let system = yaml("context: [{content: X, on: read, when: after}, {content: Y}]\n");
    let read_after = ask(&system, "src/").on(Action::Read).when(Timing::After);
    assert_eq!(read_after.contents(), ["X"]);
    assert_eq!(ask(&system, "src/").on(Action::Edit).contents(), ["Y"]);
}

/// Ruling S1: doublestar v4, case-sensitive. (Thousands of rows are in `brief-syntax`.)
#[test]
fn globs_are_doublestars() {
    for (pattern, path, matches) in [
        ("*.py", "a.py", true),
        ("*.py", "b/a.py", false),
        ("**/*.py", "a.py", true),
        ("**/*.py", "b/c/a.py", true),
        ("a/**/z", "a/z", true),
        ("a/**/z", "a/b/c/z", true),
        ("src/**", "src", true),
        ("a**", "abc", true),
        ("a**", "a/b", false),
        ("?.py", "é.py", true),
        ("?.py", "ab.py", false),
        ("[a-c].py", "b.py", true),
        ("[!a-c].py", "d.py", true),
        ("[^a-c].py", "b.py", false),
        ("*.{js,ts}", "a.ts", true),
        ("{src/{a,b},lib}/**", "src/b/x", true),
        ("{,x}a", "a", true),
        ("*", ".hidden", true),
        ("**", ".git/config", true),
        ("README.md", "readme.md", false),
        ("a.py", "b/a.py", false),
        (r"\*.py", "*.py", true),
        (r"\*.py", "a.py", false),
    ] {
        let system = yaml(&format!("context: [{{content: X, match: ['{pattern}']}}]\n"));
        assert_eq!(ask(&system, path).contents() == ["X"], matches, "{pattern} for {path}");
    }
}

/// Ruling S1: "a leading `./` is ignored".
#[test]
fn a_leading_dot_slash_is_ignored() {
    let system = yaml("context: [{content: X, match: ['./src/**'], exclude: ['./src/no.py']}]\n");
    assert_eq!(ask(&system, "src/a.py").contents(), ["X"]);
    assert_eq!(ask(&system, "src/no.py").contents(), NONE);
    assert_eq!(ask(&system, "src/").contents(), ["X"]);
    assert_eq!(ask(&system, "lib/").contents(), NONE);
    let own = yaml("context: [{content: X, match: ['./']}]\n");
    assert_eq!(ask(&own, ".").contents(), ["X"]);
    assert_eq!(ask(&own, "src/").contents(), NONE);
}

/// Ruling S2: "A directory query asks \"could this glob match something inside?\" exactly, braces
/// and `./` included".
#[test]
fn directory_queries_are_exact() {
    for (pattern, path, could) in [
        ("{src/api,lib}/**", "lib/", true),
        ("{src/api,lib}/**", "src/api/", true),
        ("{src/api,lib}/**", "src/", true),
        ("{src/api,lib}/**", "src/web/", false),
        ("./src/*.py", "src/", true),
        ("src/{a,b}/x.py", "src/b/", true),
        ("src/{a,b}/x.py", "src/c/", false),
        ("[ab]/x", "a/", true),
        ("[ab]/x", "c/", false),
        ("**/x/y", "x/", true),
        ("a", "a/", false),
    ] {
        let system = yaml(&format!("context: [{{content: X, match: ['{pattern}']}}]\n"));
        assert_eq!(ask(&system, path).contents() == ["X"], could, "{pattern} for {path}");
    }
}

/// Ruling S2: "`exclude` hides an entry from a directory query only if it excludes everything
/// inside".
#[test]
fn exclude_hides_a_directory_only_as_a_whole() {
    for (exclude, path, hidden) in [
        ("'**'", "src/", true),
        ("'src/**'", "src/", true),
        ("'src/**'", "src/deep/", true),
        ("'src/**'", "./", false),
        ("'src/*'", "src/", false),
        ("'src/api/*.py'", "src/", false),
        ("'**/*.py'", "src/", false),
        ("src/", "src/", true),
        ("src/", "src/api/", false),
        ("'src/*', 'src/*/**'", "src/", true),
        ("'src/{a*,[!a]*}', 'src/*/**'", "src/", true),
    ] {
        let system = yaml(&format!("context: [{{content: X, exclude: [{exclude}]}}]\n"));
        assert_eq!(ask(&system, path).contents() == NONE, hidden, "{exclude} for {path}");
    }
}

/// "Both are standard YAML extensions": anchors, aliases and merge keys are standard YAML.
#[test]
fn anchors_and_merge_keys_work() {
    let system = yaml(
        "x-python: &python {match: ['**/*.py'], on: edit}
context:
- {<<: *python, content: A}
- {<<: *python, content: B, on: read}
",
    );
    assert_eq!(ask(&system, "a.py").on(Action::Edit).contents(), ["A"]);
    assert_eq!(ask(&system, "a.py").on(Action::Read).contents(), ["B"]);
    assert_eq!(ask(&system, "a.md").contents(), NONE);
    assert_eq!(ask(&system, "a.py").problems(), CLEAN);
}

/// Ruling G1, for context files: BOM, CRLF, no last line break; `yes` and `on` are text.
#[test]
fn spellings_of_yaml_are_accepted() {
    for text in [
        "\u{feff}context:\n- content: yes\n",
        "context:\r\n- content: yes\r\n",
        "context:\n- content: yes",
        "---\ncontext:\n- content: yes\n...\n",
        "{\"context\": [{\"content\": \"yes\"}]}",
    ] {
        let system = yaml(text);
        assert_eq!(ask(&system, "a").contents(), ["yes"], "{text:?}");
        assert_eq!(ask(&system, "a").problems(), CLEAN, "{text:?}");
    }
    // `on` is a key here, not a boolean.
    let system = yaml("context:\n- content: 5\n  on: read\n");
    assert_eq!(ask(&system, "a").on(Action::Read).contents(), ["5"]);
    assert_eq!(ask(&system, "a").on(Action::Edit).contents(), NONE);
}

/// The whole project, whatever the patterns; filters hold, and parents come first.
#[test]
fn without_a_path_everything_is_listed() {
    let system = yaml("context: [{content: top, match: [nope]}, {content: after, when: after}]\n")
        .with_file("b/AGENTS.yaml", "context: [{content: b}]\n")
        .with_file("a/x/AGENTS.yaml", "context: [{content: a-x}]\n")
        .with_file("a/AGENTS.yaml", "context: [{content: a}]\n");
    let root = Root::open(&system, Path::new("/p")).unwrap();
    let top = Target::from_slashed("", TargetKind::Directory);
    let catalog = Catalog::read_project(
        &system,
        &root,
        CatalogScope {
            start: &top,
            ignored: Ignored::Skip,
            dialects: Dialects::All,
            strangers: Strangers::LeftOut,
        },
    );
    let listed = |timing| {
        let moment = Moment { target: None, action: None, timing, ..Moment::default() };
        let answer = catalog.resolve_moment(&moment);
        answer.items.iter().map(|applied| applied.item.content.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(None), ["top", "after", "a", "a-x", "b"]);
    assert_eq!(listed(Some(Timing::Before)), ["top", "a", "a-x", "b"]);
}
