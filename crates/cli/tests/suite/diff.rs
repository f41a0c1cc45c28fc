//! `brief diff`: what changes for whom, from git's objects alone.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use brief_testkit::{Output, Sandbox, make_link};
use serde_json::{Value, json};

use crate::project;

/// Runs git in a directory, with nothing from outside; returns what it prints.
fn git_in(directory: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(args).current_dir(directory).env_clear().env("PATH", "/usr/bin:/bin");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("GIT_ALLOW_PROTOCOL", "file");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Name");
        command.env(format!("GIT_{who}_EMAIL"), "name@example.com");
        command.env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

pub(crate) fn git(project: &Sandbox, args: &[&str]) -> String {
    git_in(&project.path(), args)
}

pub(crate) fn commit(project: &Sandbox) {
    git(project, &["add", "--all"]);
    git(project, &["commit", "--quiet", "--allow-empty", "-m", "message"]);
}

const BEFORE: &str = "context:
  - content: Prices are integers in cents.
    match: ['src/**']
  - content: Speak plainly.
";

const AFTER: &str = "context:
  - content: Write tests first.
    match: ['**/*.py']
  - content: Prices are integers in euros.
    match: ['src/**']
  - content: Speak plainly.
";

/// A repository with two commits.
fn repository() -> Sandbox {
    let project = project()
        .with_file("AGENTS.yaml", BEFORE)
        .with_file("src/a.py", "")
        .with_file("src/b.ts", "")
        .with_file("docs/c.md", "");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    project.write("AGENTS.yaml", AFTER);
    commit(&project);
    project
}

/// The changes: kind, name, files.
fn changes(output: &Output) -> Vec<Value> {
    let json = output.json();
    let changes = json["changes"].as_array().unwrap().iter();
    changes.map(|change| json!([change["kind"], change["name"], change["files"]])).collect()
}

fn diff(project: &Sandbox, args: &[&str]) -> Vec<Value> {
    let output = project.run(&[&["diff", "--json"], args].concat());
    assert_eq!((output.stderr.as_str(), output.code), ("", Some(0)), "{output}");
    changes(&output)
}

/// Text for people, with the files and both texts.
#[test]
fn two_revisions_are_compared() {
    insta::assert_snapshot!(repository().run(&["diff", "HEAD~1", "HEAD"]), @"
    added     AGENTS.yaml:2  context[0] (agents-yaml), 0 -> 4 tokens
      1 file: src/a.py
        +Write tests first.

    changed   AGENTS.yaml:4  context[1] (agents-yaml), 6 tokens
      2 files: src/
        -Prices are integers in cents.
        +Prices are integers in euros.
    ------- stderr -------
    2 changes for 2 of 4 files, between HEAD~1 (9254f550003e) and HEAD (2eb36d23ce36)
    [EOF]
    ");
}

/// One line for each change.
#[test]
fn a_short_form() {
    insta::assert_snapshot!(repository().run(&["diff", "--stat", "HEAD~1..HEAD"]), @"
    added     AGENTS.yaml:2  context[0] (agents-yaml), 0 -> 4 tokens, +1 -0, 1 file: src/a.py
    changed   AGENTS.yaml:4  context[1] (agents-yaml), 6 tokens, +1 -1, 2 files: src/
    ------- stderr -------
    2 changes for 2 of 4 files, between HEAD~1 (9254f550003e) and HEAD (2eb36d23ce36)
    [EOF]
    ");
}

/// The documented shape, field by field.
#[test]
fn the_shape_is_fixed() {
    let project = repository();
    let commits = [git(&project, &["rev-parse", "HEAD~1"]), git(&project, &["rev-parse", "HEAD"])];
    let output = project.run(&["diff", "--json", "--on", "edit", "HEAD~1", "main", "--", "src"]);
    let piece = |line: usize, text: &str| {
        json!({"source": {"path": "AGENTS.yaml", "line": line}, "state": "active",
            "description": "", "text": text, "tokens": 6})
    };
    assert_eq!(
        output.json(),
        json!({
            "kind": "diff",
            "version": 2,
            "root": "$PROJECT",
            "diagnostics": [],
            "from": {"revision": "HEAD~1", "commit": commits[0], "diagnostics": []},
            "to": {"revision": "main", "commit": commits[1], "diagnostics": []},
            "on": "edit",
            "when": "all",
            "client": null,
            "changes": [
                {
                    "kind": "added", "format": "agents-yaml", "item_kind": "context",
                    "name": "context[0]", "before": null,
                    "after": {"source": {"path": "AGENTS.yaml", "line": 2}, "state": "active",
                        "description": "", "text": "Write tests first.", "tokens": 4},
                    "file_count": 1, "files": ["src/a.py"], "files_left_out": 0
                },
                {
                    "kind": "text", "format": "agents-yaml", "item_kind": "context",
                    "name": "context[1]", "before": piece(2, "Prices are integers in cents."),
                    "after": piece(4, "Prices are integers in euros."),
                    "file_count": 2, "files": ["src/"], "files_left_out": 0
                }
            ],
            "skill_files": [],
            "changed_files": 2,
            "files": 4
        }),
        "{output}"
    );
}

/// All spellings of git; the exit code only on request.
#[test]
fn ranges_and_exit_codes() {
    let project = repository();
    git(&project, &["switch", "--quiet", "--create", "side", "HEAD~1"]);
    project.write("docs/AGENTS.yaml", "context:\n  - content: In English.\n");
    commit(&project);
    let docs = [json!(["added", "context[0]", ["docs/"]])];
    let both =
        [json!(["added", "context[0]", ["src/a.py"]]), json!(["text", "context[1]", ["src/"]])];
    assert_eq!(diff(&project, &["main...side"]), docs);
    assert_eq!(diff(&project, &["main...", "--", "."]), docs);
    assert_eq!(diff(&project, &["side...main"]), both);
    assert_eq!(diff(&project, &["main..side"]).len(), 3);
    assert_eq!(diff(&project, &["..main"]).len(), 3);
    assert_eq!(diff(&project, &["main", "main"]), Vec::<Value>::new());
    for (args, code) in [
        (&["diff", "--exit-code", "main", "side"][..], 1),
        (&["diff", "--exit-code", "main", "main"], 0),
        // N19: an error is no change.
        (&["diff", "--exit-code", "nope"], 2),
        (&["diff", "nope"], 1),
        (&["diff", "main", "side"], 0),
        (&["diff", "--exit-code", "--only", "context-dir", "main", "side"], 0),
    ] {
        assert_eq!(project.run(args).code, Some(code), "{args:?}");
    }
}

/// New untracked files count, ignored ones do not, and removed ones are gone.
#[test]
fn the_working_tree_is_what_git_would_see() {
    let project = repository();
    project.write(".gitignore", "ignored/\n/kept/AGENTS.yaml\n");
    project.write("kept/AGENTS.yaml", "context:\n  - content: Kept.\n");
    git(&project, &["add", "--force", "--all"]);
    git(&project, &["commit", "--quiet", "-m", "message"]);
    fs::write(project.path().join(".git/info/exclude"), "private/\n").unwrap();
    assert_eq!(diff(&project, &["HEAD"]), Vec::<Value>::new());
    for directory in ["ignored", "private", "docs"] {
        project.write(&format!("{directory}/AGENTS.yaml"), "context:\n  - content: New.\n");
    }
    assert_eq!(diff(&project, &[]), [json!(["added", "context[0]", ["docs/"]])]);
    fs::remove_file(project.path().join("docs/AGENTS.yaml")).unwrap();
    fs::remove_file(project.path().join("AGENTS.yaml")).unwrap();
    let all = json!(["./"]);
    let found = diff(&project, &["HEAD"]);
    assert_eq!(found.len(), 3);
    assert_eq!(found[2], json!(["removed", "context[2]", all]));
    // Line breaks of another system are no change.
    project.write("AGENTS.yaml", AFTER.replace('\n', "\r\n"));
    assert_eq!(diff(&project, &["HEAD"]), Vec::<Value>::new());
}

/// Files that a sparse checkout leaves out are not a change, whatever else is.
#[test]
fn a_sparse_checkout_is_whole() {
    let project = repository();
    project.write("docs/AGENTS.yaml", "context:\n  - content: In English.\n");
    make_link("../docs/AGENTS.yaml".as_ref(), &project.path().join("src/AGENTS.yaml"));
    commit(&project);
    git(&project, &["sparse-checkout", "set", "--no-cone", "/AGENTS.yaml", "/other/"]);
    assert!(!project.path().join("docs").exists());
    assert_eq!(diff(&project, &["HEAD"]), Vec::<Value>::new());
    assert_eq!(diff(&project, &["HEAD~1"]).len(), 2);
}

/// A path that is not there is said to be none.
#[test]
fn a_path_with_a_typing_error_is_named() {
    let output = repository().run(&["diff", "HEAD~1", "HEAD", "--", "scr"]);
    assert!(output.stderr.contains("file not found in the newer revision: `scr`"), "{output}");
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)));
}

/// One root, wherever you are: a directory limits the answer to what concerns it, also before it was there.
#[test]
fn a_directory_limits_what_is_compared() {
    let project = repository();
    let run = |args: &[&str]| project.run_in("src", &[&["diff", "--json"], args].concat(), "");
    let named = diff(&project, &["HEAD~1", "HEAD", "--", "src"]);
    assert!(!named.is_empty());
    assert_eq!(changes(&run(&["HEAD~1", "HEAD"])), named);
    assert_eq!(changes(&run(&["HEAD~1", "HEAD", "--", ".."])), diff(&project, &["HEAD~1", "HEAD"]));
    project.write("src/AGENTS.yaml", "context:\n  - content: Here.\n");
    assert_eq!(changes(&run(&["HEAD"])), [json!(["added", "context[0]", ["src/"]])]);
    project.write("new/AGENTS.yaml", "context:\n  - content: There.\n");
    commit(&project);
    let output = project.run_in("new", &["diff", "--json", "HEAD~1"], "");
    assert_eq!(changes(&output), [json!(["added", "context[0]", ["new/AGENTS.yaml"]])]);
}

/// No checkout is needed, and none of the usual ways to keep a repository is in the way.
#[test]
fn bare_and_shallow_repositories_and_worktrees() {
    let project = repository();
    let outside = project.outside_directory();
    let place = |name: &str| outside.join(name).to_str().unwrap().to_owned();
    let source = format!("file://{}", project.path().display());
    let expected = diff(&project, &["HEAD~1", "HEAD"]);

    git(&project, &["clone", "--quiet", "--bare", &source, &place("bare.git")]);
    let output = project.run(&["-C", &place("bare.git"), "diff", "--json", "main~1", "main"]);
    assert_eq!(changes(&output), expected, "{output}");
    let output = project.run(&["-C", &place("bare.git/refs"), "diff", "main~1", "main"]);
    assert_eq!(output.code, Some(0), "{output}");
    let output = project.run(&["-C", &place("bare.git"), "diff", "main~1"]);
    assert!(output.stderr.contains("name two revisions"), "{output}");
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{output}");

    git(&project, &["worktree", "add", "--quiet", &place("linked"), "HEAD~1"]);
    let output = project.run(&["-C", &place("linked"), "diff", "--json", "main"]);
    assert_eq!(changes(&output).len(), 2, "{output}");

    git(&project, &["clone", "--quiet", "--depth=1", &source, &place("shallow")]);
    let output = project.run(&["-C", &place("shallow"), "diff", "HEAD"]);
    assert_eq!(output.code, Some(0), "{output}");
    let output = project.run(&["-C", &place("shallow"), "diff", "HEAD~1"]);
    assert!(output.stderr.contains("git fetch --unshallow"), "{output}");
    assert_eq!(output.code, Some(1));
}

/// A submodule is another repository: neither side looks into it.
#[test]
fn submodules_are_passed_by() {
    let project = repository();
    let library = project.outside_directory().join("library");
    fs::create_dir_all(&library).unwrap();
    fs::write(library.join("AGENTS.yaml"), BEFORE).unwrap();
    git_in(&library, &["init", "--quiet", "--initial-branch=main"]);
    git_in(&library, &["add", "--all"]);
    git_in(&library, &["commit", "--quiet", "-m", "message"]);
    let address = format!("file://{}", library.display());
    git(&project, &["submodule", "--quiet", "add", &address, "library"]);
    // One that has the name of a guidance file.
    git(&project, &["submodule", "--quiet", "add", &address, "docs/AGENTS.yaml"]);
    commit(&project);
    assert_eq!(diff(&project, &["HEAD~1"]), Vec::<Value>::new());
    assert_eq!(diff(&project, &["HEAD~1", "HEAD"]), Vec::<Value>::new());
}

/// A link inside the root is followed on both sides, and one that leaves it on none.
#[test]
fn links_lead_where_they_lead_in_their_revision() {
    let project = repository();
    project.write("shared/rules.yaml", "context:\n  - content: Shared.\n");
    make_link("../shared/rules.yaml".as_ref(), &project.path().join("src/AGENTS.yaml"));
    make_link("/etc/hostname".as_ref(), &project.path().join("docs/AGENTS.yaml"));
    commit(&project);
    let added = [json!(["added", "context[0]", ["src/"]])];
    assert_eq!(diff(&project, &["HEAD~1", "HEAD", "--only", "agents-yaml"]), added);
    project.write("shared/rules.yaml", "context:\n  - content: Shared by all.\n");
    let text = [json!(["text", "context[0]", ["src/"]])];
    assert_eq!(diff(&project, &["HEAD"]), text);
    commit(&project);
    assert_eq!(diff(&project, &["HEAD~1", "HEAD"]), text);
    let output = project.run(&["diff", "HEAD~2", "HEAD"]);
    assert!(
        output.stderr.contains("a symbolic link that points outside the repository"),
        "{output}"
    );
}

/// A broken file has no entries; the answer says so.
#[test]
fn a_broken_file_is_an_answer_with_a_remark() {
    let project = repository();
    project.write("AGENTS.yaml", "context:\n  - content: [\n");
    insta::assert_snapshot!(project.run(&["diff", "--stat", "HEAD"]), @"
    removed   AGENTS.yaml:2  context[0] (agents-yaml), 4 -> 0 tokens, +0 -1, 1 file: src/a.py
    removed   AGENTS.yaml:4  context[1] (agents-yaml), 6 -> 0 tokens, +0 -1, 2 files: src/
    removed   AGENTS.yaml:6  context[2] (agents-yaml), 3 -> 0 tokens, +0 -1, all 4 files
    ------- stderr -------
    warning: in the working tree, AGENTS.yaml:2: the file is not valid YAML: unclosed bracket '[' [agents-yaml/invalid-yaml]
    3 changes for 4 of 4 files, between HEAD (2eb36d23ce36) and the working tree
    [EOF]
    ");
    commit(&project);
    project.write("AGENTS.yaml", AFTER);
    let output = project.run(&["diff", "--json"]);
    assert_eq!(changes(&output).len(), 3, "{output}");
    let json = output.json();
    assert_eq!(json["from"]["diagnostics"][0]["severity"], "error");
    assert_eq!(json["to"]["diagnostics"], json!([]));
}

/// Names need not be text.
#[test]
fn names_that_are_no_text() {
    let project = repository();
    let name = OsStr::from_bytes(b"src/\xff\xfe.py");
    fs::write(project.path().join(name), "").unwrap();
    project.write("src/line\nbreak.py", "");
    project.write("src/tab\tquote\".py", "");
    commit(&project);
    let output = project.run(&["diff", "--json", "HEAD~2", "HEAD"]);
    assert_eq!((output.stderr.as_str(), output.code), ("", Some(0)), "{output}");
    assert_eq!(output.json()["changes"][1]["file_count"], 5);
    let output = project.run(&["diff", "HEAD~2", "HEAD"]);
    assert!(output.stdout.contains("src/line\\nbreak.py"), "{output}");
}

/// Whatever is not a revision is refused, and git never takes it for an option.
#[test]
fn bad_revisions_are_refused_with_a_way_out() {
    let project = repository();
    for (args, words, code) in [
        (&["nosuch"][..], "unknown revision `nosuch`; run `git log`", 1),
        (&["nosuch..main"], "unknown revision `nosuch`", 1),
        (&["main..--upload-pack=x"], "`--upload-pack=x` is not a revision; name", 2),
        (&["main", "a\nb"], "is not a revision", 2),
        (&["main", ""], "`` is not a revision", 2),
        (&["HEAD:AGENTS.yaml"], "unknown revision `HEAD:AGENTS.yaml`", 1),
        (&["--upload-pack=x"], "unexpected argument", 2),
        (&["-x"], "unexpected argument", 2),
        (&["main", "main", "main"], "unexpected argument", 2),
        (&["main", "--", "../x"], "is outside the repository", 2),
        (&["main", "--", "/etc"], "is outside the repository", 2),
    ] {
        let output = project.run(&[&["diff"], args].concat());
        assert!(output.stderr.contains(words), "{args:?}: {output}");
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(code)), "{args:?}");
    }
    let empty = crate::project();
    let output = empty.run(&["diff"]);
    assert!(output.stderr.contains("not a git repository: `$PROJECT`; use `-C DIR`"), "{output}");
    assert_eq!(output.code, Some(1));
    git(&empty, &["init", "--quiet", "--initial-branch=main"]);
    for args in [&["diff"][..], &["diff", "main"]] {
        let output = empty.run(args);
        assert!(
            output.stderr.contains("the repository has no commits to compare with"),
            "{output}"
        );
        assert_eq!(output.code, Some(1));
    }
}

/// Nothing that a repository configures or holds is run.
#[test]
fn nothing_of_the_repository_is_executed() {
    let project = repository();
    let mark = project.outside_directory().join("mark");
    let script = project.path().join("evil.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\ncat\n", mark.display())).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&script, mode).unwrap();
    let script = script.to_str().unwrap();
    project.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
    commit(&project);
    for key in [
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "alias.cat-file",
    ] {
        git(&project, &["config", key, script]);
    }
    git(&project, &["config", "core.hooksPath", project.path().to_str().unwrap()]);
    project.write("src/AGENTS.yaml", "context:\n  - content: New.\n");
    for args in [&["HEAD"][..], &["HEAD~1", "HEAD"], &["HEAD~2...HEAD"]] {
        let output = project.run(&[&["diff"], args].concat());
        assert_eq!(output.code, Some(0), "{output}");
    }
    assert!(!mark.exists());
}

/// Nothing is written, not even where git would refresh what it knows.
#[test]
fn nothing_is_written() {
    let project = repository();
    let index = || fs::metadata(project.path().join(".git/index")).unwrap().modified().unwrap();
    let before = (git(&project, &["count-objects", "--verbose"]), index());
    project.write("src/a.py", "changed");
    assert_eq!(project.run(&["diff"]).code, Some(0));
    assert_eq!((git(&project, &["count-objects", "--verbose"]), index()), before);
}

/// U73: in a source registry the items are what changes.
#[test]
fn items_of_a_registry_are_compared() {
    let rule = "---\nschema: 1\nname: money\ndescription: Money\n---\n\nPrices are integers.\n";
    let project = project().with_file("rules/money/RULE.md", rule).with_file("README.md", "x\n");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    project.write("rules/money/RULE.md", format!("{rule}In cents.\n"));
    let skill = "---\nschema: 1\nname: ship\ndescription: Ship\n---\n\nShip it.\n";
    project.write("skills/ship/SKILL.md", skill);
    let output = project.run(&["diff", "--stat"]);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{output}");
    assert!(lines[0].starts_with("changed   rules/money/RULE.md:1  money (items), "), "{output}");
    assert!(lines[0].contains("+1 -0, 1 file: rules/money/RULE.md"), "{output}");
    assert!(lines[1].starts_with("added     skills/ship/SKILL.md:1  ship (items), "), "{output}");
}

/// R22: the text of a skill concerns agents that open it, and its other files are shown.
#[test]
fn a_skill_changes_for_agents_that_open_it() {
    let skill = |text: &str| format!("---\nname: ship\ndescription: Ship it\n---\n{text}\n");
    let project = project()
        .with_file(".claude/skills/ship/SKILL.md", skill("Push."))
        .with_file(".claude/skills/ship/references/steps.md", "Tag.\n")
        .with_file(".claude/skills/ship/old.md", "Old.\n")
        .with_file("src/a.py", "");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    project.write(".claude/skills/ship/SKILL.md", skill("Push twice."));
    project.write(".claude/skills/ship/references/steps.md", "Tag twice.\n");
    project.write(".claude/skills/ship/new.md", "New.\n");
    fs::remove_file(project.path().join(".claude/skills/ship/old.md")).unwrap();
    let json = project.run(&["diff", "--json"]).json();
    assert_eq!(json["changed_files"], 0, "{json}");
    assert_eq!(
        (&json["changes"][0]["kind"], &json["changes"][0]["file_count"]),
        (&json!("text"), &json!(0))
    );
    let files = json["skill_files"].as_array().unwrap().iter();
    let files: Vec<(&str, &str)> = files
        .map(|file| (file["kind"].as_str().unwrap(), file["path"].as_str().unwrap()))
        .collect();
    assert_eq!(
        files,
        [
            ("added", ".claude/skills/ship/new.md"),
            ("removed", ".claude/skills/ship/old.md"),
            ("changed", ".claude/skills/ship/references/steps.md"),
        ]
    );
    let shown = project.run(&["diff"]);
    assert!(shown.stdout.contains("agents that open it"), "{shown}");
    assert!(shown.stdout.contains("+Tag twice."), "{shown}");
    assert!(shown.stderr.contains("4 changes for agents that open a skill or an agent"), "{shown}");
    // A new description is what every agent sees.
    project
        .write(".claude/skills/ship/SKILL.md", skill("Push.").replace("Ship it", "Ship them all"));
    let json = project.run(&["diff", "--json"]).json();
    assert!(json["changed_files"].as_u64().unwrap() > 0, "{json}");
    commit(&project);
    assert_eq!(project.run(&["diff", "--exit-code"]).code, Some(0));
}
