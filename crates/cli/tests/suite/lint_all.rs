//! `brief lint` is the one command for everything that can be wrong with guidance.

use brief_testkit::{Output, Sandbox};
use serde_json::Value;

use crate::diff::{commit, git};
use crate::project;

/// The codes of the findings, sorted.
fn codes(output: &Output) -> Vec<String> {
    let json = output.json();
    let found = json["diagnostics"].as_array().unwrap().iter();
    let mut codes: Vec<String> =
        found.map(|one| one["code"].as_str().unwrap().to_owned()).collect();
    codes.sort();
    codes
}

fn lint(project: &Sandbox, args: &[&str]) -> Vec<String> {
    codes(&project.run(&[&["lint", "--json"], args].concat()))
}

const UNCLOSED: &str = "frontmatter-unclosed";
const MISSING_PATH: &str = "guidance/missing-path";
const UNUSED_ITEM: &str = "guidance/unused-item";
const UNREAD_FILE: &str = "setup/unread-file";

/// One problem of each part.
fn one_of_each() -> Sandbox {
    let project = project()
        .with_file("CLAUDE.md", "Prices are in `src/shop/pricing.py`.\n")
        .with_file("src/shop/core/pricing.py", "")
        .with_file(".windsurf/rules/api.md", "---\ntrigger: always_on\n\nValidate.\n")
        .with_file(
            "AGENTS.yaml",
            "context: [{content: A, match: ['src/**'], exclude: ['src/**']}]\n",
        )
        .with_file(".claude/skills/loose.md", "Use integers.\n");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    project
}

/// All parts are checked, and `--only` restricts them.
#[test]
fn every_part_is_checked_unless_one_is_named() {
    let project = one_of_each();
    assert_eq!(lint(&project, &[]), [UNCLOSED, MISSING_PATH, UNUSED_ITEM, UNREAD_FILE]);
    for (part, code) in [
        ("mistakes", UNCLOSED),
        ("stale", MISSING_PATH),
        ("unused", UNUSED_ITEM),
        ("setup", UNREAD_FILE),
    ] {
        assert_eq!(lint(&project, &["--only", part]), [code], "{part}");
    }
    assert_eq!(lint(&project, &["--only", "stale,setup"]), [MISSING_PATH, UNREAD_FILE]);
    assert_eq!(
        lint(&project, &["--only", "stale", "--only", "unused"]),
        [MISSING_PATH, UNUSED_ITEM]
    );
    assert_eq!(project.run(&["lint", "--only", "nope"]).code, Some(2));
}

/// The summary says what was not checked.
#[test]
fn the_summary_says_what_was_not_checked() {
    let project = one_of_each();
    let said = |args: &[&str]| project.run(&[&["lint"], args].concat()).stderr.trim().to_owned();
    assert!(said(&[]).starts_with("4 warnings in "), "{}", said(&[]));
    assert!(!said(&[]).contains("not checked"), "{}", said(&[]));
    assert!(
        said(&["--only", "stale"]).ends_with("; not checked: mistakes, unused, setup"),
        "{}",
        said(&["--only", "stale"])
    );
    // The setup is the whole project's.
    assert!(said(&["src"]).contains("; not checked: setup\n"), "{}", said(&["src"]));
    project.write("brief.toml", "[sources.x]\nnope = 1\n");
    assert!(
        said(&[])
            .ends_with("; not checked: setup (brief.toml or a file in .brief/clients has errors)"),
        "{}",
        said(&[])
    );
    let json = project.run(&["lint", "--only", "stale,unused", "--json"]).json();
    assert_eq!(json["checked"], serde_json::json!(["stale", "unused"]));
}

/// A clean project gets one line.
#[test]
fn a_clean_project_gets_one_line() {
    let project = project()
        .with_dir(".git")
        .with_file("CLAUDE.md", "Prices are integers in cents.\n")
        .with_file("AGENTS.yaml", "context: [{content: A}]\n")
        .with_file("src/a.py", "");
    let output = project.run(&["lint"]);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)), "{output}");
    assert_eq!(output.stderr, "No problems in 2 files\n");
}

/// Every finding is treated alike: `--strict`, SARIF, the other formats, the baseline, comments, and a page.
#[test]
fn every_part_counts_alike() {
    let project = one_of_each();
    for (part, code, file) in [
        ("mistakes", UNCLOSED, ".windsurf/rules/api.md"),
        ("stale", MISSING_PATH, "CLAUDE.md"),
        ("unused", UNUSED_ITEM, "AGENTS.yaml"),
        ("setup", UNREAD_FILE, ".claude/skills/loose.md"),
    ] {
        let run = |args: &[&str]| project.run(&[&["lint", "--only", part], args].concat());
        assert_eq!(run(&[]).code, Some(0), "{part}");
        assert_eq!(run(&["--strict"]).code, Some(1), "{part}");
        let sarif: Value = serde_json::from_str(&run(&["--format", "sarif"]).stdout).unwrap();
        assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], code, "{sarif}");
        for format in ["github", "gitlab", "junit"] {
            let text = run(&["--format", format]).stdout;
            assert!(text.contains(code) && text.contains(file), "{text}");
        }
        assert_eq!(project.run(&["lint", "--explain", code]).code, Some(0), "{code}");
        // A comment in the file, with a reason.
        let text = project.read(file);
        let comment = format!("brief-ignore-file {code}: on purpose");
        let is_yaml = std::path::Path::new(file).extension().is_some_and(|name| name == "yaml");
        let comment = if is_yaml { format!("# {comment}") } else { format!("<!-- {comment} -->") };
        project.write(file, format!("{text}\n{comment}\n"));
        let ignored = run(&[]);
        assert!(
            ignored.stderr.contains("No problems in ") && ignored.stderr.contains(", 1 suppressed"),
            "{ignored}"
        );
        project.write(file, text);
    }
    let recorded = project.run(&["lint", "--baseline", "--update-baseline"]);
    assert_eq!(recorded.code, Some(0), "{recorded}");
    assert_eq!(lint(&project, &["--baseline", "--strict"]), [""; 0]);
}

/// Confidence: certain with the commit, likely, and possible only on request.
#[test]
fn references_have_a_confidence() {
    let project = project()
        .with_file("CLAUDE.md", "Read `docs/style.md` first.\n\nSee `src/never/was.py`.\n")
        .with_file("docs/style.md", "Names.\n")
        .with_file("src/a.py", "");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    assert_eq!(lint(&project, &[]), [""; 0]);
    git(&project, &["rm", "--quiet", "docs/style.md"]);
    commit(&project);
    let head = git(&project, &["rev-parse", "HEAD"]);
    let output = project.run(&["lint", "--json"]);
    let found = output.json()["diagnostics"].clone();
    assert_eq!(found.as_array().unwrap().len(), 1, "{output}");
    assert!(found[0]["message"].as_str().unwrap().ends_with("(certain)"), "{output}");
    let help = found[0]["help"].as_str().unwrap();
    assert!(help.ends_with(&format!("; removed in {} (2026-01-01)", &head[..7])), "{help}");
    assert_eq!(project.run(&["lint", "--strict"]).code, Some(1));
    let pedantic = project.run(&["lint", "--pedantic", "--only", "stale", "--json"]).json();
    let notes = pedantic["diagnostics"].as_array().unwrap().iter();
    let notes: Vec<&Value> = notes.filter(|one| one["severity"] == "note").collect();
    assert_eq!(notes.len(), 1, "{pedantic}");
    assert!(notes[0]["message"].as_str().unwrap().ends_with("(possible)"), "{pedantic}");
}

/// What only `coverage` and `doctor` showed can be asked for.
#[test]
fn nothing_is_out_of_reach() {
    let project = project()
        .with_dir(".git")
        .with_file(
            "AGENTS.yaml",
            "context: [{content: A long text about types, match: ['*.py']}]\n",
        )
        .with_file("main.py", "")
        .with_file("web/main.ts", "")
        .with_file(
            ".cursor/rules/b.mdc",
            "---\nglobs: '*.py'\n---\nPrices are integers in cents.\n",
        )
        .with_file(
            ".claude/rules/b.md",
            "---\npaths: '*.py'\n---\nPrices are integers in cents.\n",
        );
    let only = |part, more: &[&str]| lint(&project, &[&["--only", part], more].concat());
    assert_eq!(only("unused", &[]), [""; 0]);
    assert_eq!(only("unused", &["--complete"]), ["guidance/uncovered-files"]);
    assert!(only("setup", &["--pedantic"]).contains(&"setup/same-text".to_owned()));
    assert_eq!(only("setup", &[]), [""; 0]);
    let global = project.run(&["lint", "-g"]);
    assert_eq!((global.stderr.as_str(), global.code), ("No problems\n", Some(0)), "{global}");
}

/// An item that costs much everywhere is a problem where a bound is given, and a note with `--pedantic`.
#[test]
fn costly_items_are_reported_on_request() {
    let text = "Every price is an integer number of cents. ".repeat(80);
    let project = project().with_dir(".git").with_file("CLAUDE.md", text).with_file("src/a.py", "");
    let severity = |args: &[&str]| {
        let json = project.run(&[&["lint", "--only", "unused", "--json"], args].concat()).json();
        json["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["severity"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(severity(&[]), [""; 0]);
    assert_eq!(severity(&["--pedantic"]), ["note"]);
    assert_eq!(severity(&["--heavy", "100"]), ["warning"]);
    assert_eq!(severity(&["--heavy", "100000"]), [""; 0]);
}

/// `--since`: what commits after the revision, or the working tree, have changed.
#[test]
fn since_limits_to_what_changed() {
    let project = project()
        .with_file("CLAUDE.md", "Read `docs/style.md` first.\n")
        .with_file("old/CLAUDE.md", "See [it](gone.md).\n")
        .with_file("docs/style.md", "Names.\n")
        .with_file("docs/CLAUDE.md", "Fine.\n");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    let since = |project: &Sandbox| -> Vec<String> {
        let json = project.run(&["lint", "--since", "main", "--json"]).json();
        let found = json["diagnostics"].as_array().unwrap().iter();
        found.map(|one| one["path"].as_str().unwrap().to_owned()).collect()
    };
    git(&project, &["switch", "--quiet", "--create", "work"]);
    assert_eq!(since(&project), [""; 0]);
    // A change in the working tree counts, and so does a new file.
    project.write("docs/CLAUDE.md", "See [it](nowhere.md).\n");
    project.write("new/CLAUDE.md", "Read [that](elsewhere.md).\n");
    assert_eq!(since(&project), ["docs/CLAUDE.md", "new/CLAUDE.md"]);
    // A text that did not change names what was removed since.
    git(&project, &["rm", "--quiet", "docs/style.md"]);
    commit(&project);
    assert_eq!(since(&project), ["CLAUDE.md", "docs/CLAUDE.md", "new/CLAUDE.md"]);
    // What happens on the other branch is not what changed here.
    git(&project, &["switch", "--quiet", "main"]);
    project.write("old/CLAUDE.md", "See [it](gone.md), now.\n");
    commit(&project);
    git(&project, &["switch", "--quiet", "work"]);
    assert_eq!(since(&project), ["CLAUDE.md", "docs/CLAUDE.md", "new/CLAUDE.md"]);
    let said = project.run(&["lint", "--since", "main"]).stderr;
    assert!(said.contains("since `main` in "), "{said}");
    let unknown = project.run(&["lint", "--since", "nope"]);
    assert_ne!(unknown.code, Some(0), "{unknown}");
    assert!(unknown.stderr.contains("nope"), "{unknown}");
}

/// N17: `--fix` says what is left, and which files it did not write.
#[test]
fn fix_says_what_it_could_not_fix() {
    let project = project()
        .with_dir(".git")
        .with_file("AGENTS.yaml", "context:\n  - content: A\n    macth: [\"*.py\"]\n")
        .with_file("CLAUDE.md", "See [it](gone.md).\n")
        .with_file("a.py", "");
    let output = project.run(&["lint", "--fix"]);
    assert!(
        output.stderr.contains("; 0 fixed; 1 more with `--fix=suggested`; 1 to fix by hand"),
        "{output}"
    );
}

/// One problem is one finding: a pattern that matches nothing is not also an item that is never used.
#[test]
fn a_dead_pattern_is_reported_once() {
    let project = project()
        .with_dir(".git")
        .with_file(
            "AGENTS.yaml",
            "context:\n  - content: A\n  - content: B\n    match: ['lib/**']\n",
        )
        .with_file("src/a.py", "");
    let found = lint(&project, &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("/unused-pattern"), "{found:?}");
}

/// Rules for another project are a collection, which is one note and no list of unused items.
#[test]
fn a_collection_is_one_note() {
    let mut project = project().with_dir(".git").with_file("src/a.py", "");
    for number in 1..=6 {
        let text = format!("---\nglobs: lib{number}/**\nalwaysApply: false\n---\nRule {number}.\n");
        project = project.with_file(&format!(".cursor/rules/r{number}.mdc"), text);
    }
    assert_eq!(lint(&project, &[]).len(), 1);
    assert_eq!(project.run(&["lint", "--strict"]).code, Some(0));
}

/// A file that no client reads is reported once, although two parts find it.
#[test]
fn an_unread_file_is_reported_once() {
    let project =
        project().with_dir(".git").with_file(".github/instructions/style.md", "Use integers.\n");
    let found = lint(&project, &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("/unread-file"), "{found:?}");
}
