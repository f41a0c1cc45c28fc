//! Ruling P2: what we wrote is ours by record; everything else stays, and is reported.

use brief_testkit::Sandbox;

use crate::install::{Remote, consumer, files, guidance, item, run, summary};

const FILE: &str = ".claude/rules/money.md";

fn installed() -> (Sandbox, Remote) {
    let project = consumer();
    let remote = guidance(&project);
    run(&project, &["add", "acme/guidance", "money", "review"]);
    (project, remote)
}

/// A file without a record stays; nothing of its item is written, and the other items are.
#[test]
fn a_file_in_the_way_is_kept() {
    let project = consumer().with_file(FILE, "mine\n");
    guidance(&project);
    let output = project.run(&["add", "acme/guidance", "money", "review"]);
    insta::assert_snapshot!(output.stdout, @"
    error[item/output-in-the-way]: brief does not write the rule `money`: the file was not written by brief
    --> .claude/rules/money.md
     = help: move it away, or run `brief sync --adopt FILE` to replace it and keep a backup
    ");
    assert_eq!(output.code, Some(1));
    assert_eq!(summary(&output), "1 of 2 items: 2 created, 1 kept");
    assert_eq!(project.read(FILE), "mine\n");
    assert!(!project.path().join(".github/instructions").exists());
    assert!(project.path().join(".claude/skills/review/SKILL.md").is_file());
    let forced = project.run(&["sync", "--force", FILE]);
    assert_eq!(forced.code, Some(1), "`--force` is for our own files: {forced}");
    assert_eq!(project.read(FILE), "mine\n");
}

/// Of a file that has the very content, no work could be lost.
#[test]
fn a_file_with_the_same_content_becomes_ours() {
    let (project, _) = installed();
    let text = project.read(FILE);
    run(&project, &["remove", "guidance"]);
    project.write(FILE, text);
    let output = run(&project, &["add", "acme/guidance", "money"]);
    assert_eq!(summary(&output), "1 item: already up to date");
    run(&project, &["remove", "money"]);
    assert!(!project.path().join(FILE).exists());
}

/// `--adopt` takes the place of a file that was named, and keeps a copy; a removal brings it back.
#[test]
fn an_adopted_file_comes_back() {
    let project = consumer().with_file(FILE, "mine\n").with_file(".claude/rules/own.md", "own\n");
    let before = files(&project.path());
    guidance(&project);
    let dry = run(&project, &["add", "acme/guidance", "money", "--adopt", FILE, "--dry-run"]);
    assert!(dry.stdout.contains(&format!("{FILE}: out of date\n")), "{dry}");
    let output = run(&project, &["add", "acme/guidance", "money", "--adopt", FILE]);
    assert!(
        output
            .stderr
            .contains(&format!("  replaced {FILE}; the backup is .brief/backups/{FILE}\n")),
        "{output}"
    );
    assert!(project.read(FILE).contains("Prices are integers."));
    assert_eq!(project.read(&format!(".brief/backups/{FILE}")), "mine\n");
    run(&project, &["sync", "--frozen"]);
    run(&project, &["remove", "money"]);
    assert_eq!(files(&project.path()), before);
}

/// A directory means everything below it, also from another directory.
#[test]
fn a_directory_of_files_is_adopted() {
    let project = consumer().with_file(FILE, "mine\n").with_dir("src");
    guidance(&project);
    let args = ["add", "acme/guidance", "money", "--adopt", "../.claude"];
    let output = project.run_in("src", &args, "");
    assert_eq!(output.code, Some(0), "{output}");
    run(&project, &["remove", "--all"]);
    assert_eq!(project.read(FILE), "mine\n");
}

/// An output that was changed stays; its neighbors are brought up to date; `--force` replaces it alone,
/// with a copy.
#[test]
fn a_changed_output_is_kept_unless_forced() {
    let (project, remote) = installed();
    let other = ".claude/skills/review/SKILL.md";
    project.write(FILE, "mine\n");
    project.write(other, "also mine\n");
    remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    let output = project.run(&["update"]);
    assert_eq!(output.code, Some(1));
    assert!(
        output.stdout.contains(
            "error[item/output-edited]: brief keeps the file: changed since brief wrote it\n\
             --> .claude/rules/money.md\n"
        ),
        "{output}"
    );
    assert!(output.stdout.contains("`brief sync --force FILE` to replace the file"), "{output}");
    assert_eq!(summary(&output), "2 items: 1 updated, 2 unchanged, 2 kept");
    assert!(project.read(".agents/rules/money/RULE.md").contains("Newer."));
    let check = project.run(&["sync", "--check"]);
    assert_eq!(check.code, Some(1), "{check}");

    let adopted = project.run(&["sync", "--adopt", FILE]);
    assert_eq!(adopted.code, Some(1), "`--adopt` is for files of others: {adopted}");
    let forced = project.run(&["sync", "--force", FILE]);
    assert_eq!(forced.code, Some(1), "the other one stays: {forced}");
    assert!(project.read(FILE).contains("Newer."));
    assert_eq!(project.read(&format!(".brief/backups/{FILE}")), "mine\n");
    assert_eq!(project.read(other), "also mine\n");
    run(&project, &["sync", "--force", other]);
    run(&project, &["sync", "--check"]);
}

/// Copies do not replace each other.
#[test]
fn every_copy_is_kept() {
    let (project, _) = installed();
    for text in ["one\n", "two\n", "one\n"] {
        project.write(FILE, text);
        run(&project, &["sync", "--force", FILE]);
    }
    assert_eq!(project.read(&format!(".brief/backups/{FILE}")), "one\n");
    assert_eq!(project.read(&format!(".brief/backups/{FILE}.2")), "two\n");
    assert!(!project.path().join(format!(".brief/backups/{FILE}.3")).exists());
}

/// A changed file that is no longer wanted stays, by `remove` and by `clean`, until it is forced.
#[test]
fn a_changed_output_outlives_its_item() {
    for command in [&["remove", "money"][..], &["remove", "--all"]] {
        let (project, _) = installed();
        project.write(FILE, "mine\n");
        let output = project.run(command);
        assert_eq!(output.code, Some(0), "{command:?}: {output}");
        assert!(output.stdout.contains("warning[item/output-outdated]"), "{output}");
        assert!(summary(&output).ends_with("1 kept"), "{output}");
        assert_eq!(project.read(FILE), "mine\n");
        assert!(!project.path().join(".github/instructions").exists());
        let forced: Vec<&str> = match command {
            ["remove", "--all"] => vec!["remove", "--all", "--force", FILE],
            _ => vec!["sync", "--force", FILE],
        };
        run(&project, &forced);
        assert!(!project.path().join(FILE).exists(), "{command:?}");
    }
}

/// A directory or a link where a file should go is left alone.
#[test]
fn what_is_no_file_is_left_alone() {
    let project = consumer().with_file(".claude/rules/money.md/inside.txt", "mine\n");
    guidance(&project);
    let output = project.run(&["add", "acme/guidance", "money", "--adopt", FILE]);
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.contains("the file is a directory"), "{output}");
    assert_eq!(project.read(".claude/rules/money.md/inside.txt"), "mine\n");

    let project = consumer().with_link(".claude", project.outside_directory());
    guidance(&project);
    let output = project.run(&["add", "acme/guidance", "money"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.contains("the file is behind a link or a file"), "{output}");
}

/// U66: removing does what it was asked for; a file that keeps another item away is told, and is no failure.
#[test]
fn removing_does_not_fail_for_another_item() {
    let project = consumer().with_file(FILE, "mine\n");
    guidance(&project);
    let output = project.run(&["add", "acme/guidance", "money", "review"]);
    assert_eq!(output.code, Some(1), "{output}");
    let output = run(&project, &["remove", "review"]);
    assert!(output.stderr.contains("  - skill/review\n"), "{output}");
    assert!(output.stdout.starts_with("note[item/output-in-the-way]"), "{output}");
    assert_eq!(project.read(FILE), "mine\n");
    assert_eq!(project.run(&["sync"]).code, Some(1), "whoever asks for it is told that it failed");
}

/// U66: what was adopted once is adopted again after `clean`, and given back after it; a file that was
/// changed in the meantime is the user's.
#[test]
fn what_was_adopted_is_adopted_again_after_clean() {
    let project = consumer().with_file(FILE, "mine\n");
    guidance(&project);
    let added = project.run(&["add", "acme/guidance", "money"]);
    assert_eq!(added.code, Some(1), "the file is in the way: {added}");
    run(&project, &["sync", "--adopt", FILE]);
    let installed = files(&project.path());
    for _ in 0..2 {
        run(&project, &["remove", "--all"]);
        assert_eq!(project.read(FILE), "mine\n");
        run(&project, &["remove", "--all"]);
        run(&project, &["sync"]);
        assert_eq!(files(&project.path()), installed);
    }
    run(&project, &["remove", "--all"]);
    project.write(FILE, "mine, and changed\n");
    let output = project.run(&["sync"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(project.read(FILE), "mine, and changed\n");
    project.write(FILE, "mine\n");
    run(&project, &["sync"]);
    run(&project, &["remove", "money"]);
    assert_eq!(project.read(FILE), "mine\n");
    let output = project.run(&["add", "acme/guidance", "money"]);
    assert_eq!(output.code, Some(1), "removed is forgotten: {output}");
}
