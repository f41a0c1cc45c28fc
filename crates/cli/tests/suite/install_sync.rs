//! `brief sync`: what brief.toml and brief.lock say, on another day and on another machine.

use std::fs;
use std::path::Path;

use brief_testkit::Sandbox;

use crate::install::{consumer, files, git, guidance, item, names, run, summary};

fn installed() -> (Sandbox, crate::install::Remote) {
    let project = consumer();
    let remote = guidance(&project);
    run(&project, &["add", "acme/guidance@main", "money", "review"]);
    (project, remote)
}

fn remove(project: &Sandbox, path: &str) {
    let path = project.path().join(path);
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
}

/// Sources stay at the commits of brief.lock, wherever their branches are by now.
#[test]
fn sources_stay_at_their_commits() {
    let (project, remote) = installed();
    let before = files(&project.path());
    remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    for args in [&["sync"][..], &["install"], &["sync", "--frozen"], &["sync", "--check"]] {
        let output = run(&project, args);
        assert!(summary(&output).contains("up to date"), "{args:?}: {output}");
        assert_eq!(files(&project.path()), before, "{args:?}");
    }
}

/// A missing output comes back, byte for byte; `--frozen` and `--offline` are no hindrance.
#[test]
fn what_is_missing_is_restored() {
    for args in [&["sync"][..], &["sync", "--frozen"], &["sync", "--frozen", "--offline"]] {
        let (project, _) = installed();
        let before = files(&project.path());
        remove(&project, ".claude");
        remove(&project, "opencode.json");
        let check = project.run(&["sync", "--check"]);
        assert_eq!(check.code, Some(1), "{check}");
        assert!(check.stdout.contains(".claude/rules/money.md: missing\n"), "{check}");
        assert!(check.stdout.contains("opencode.json: missing\n"), "{check}");
        let output = run(&project, args);
        assert!(summary(&output).contains("4 created, 1 unchanged"), "{output}");
        assert_eq!(files(&project.path()), before, "{args:?}");
    }
}

/// A clone of a project that keeps the outputs in version control is complete: nothing is to be done,
/// although this machine has never written any of it.
#[test]
fn a_clone_with_outputs_is_complete() {
    let (project, _) = installed();
    let before = files(&project.path());
    remove(&project, ".brief");
    remove_cache(&project);
    let check = run(&project, &["sync", "--check"]);
    assert_eq!(summary(&check), "2 items: up to date");
    for args in [&["sync", "--frozen"][..], &["sync"]] {
        let output = run(&project, args);
        assert!(summary(&output).starts_with("2 items: already up to date"), "{output}");
    }
    assert_eq!(files(&project.path()), before);
    // And it is ours: what is no longer wanted goes.
    run(&project, &["remove", "money"]);
    assert!(!project.path().join(".claude/rules").exists());
}

fn remove_cache(project: &Sandbox) {
    fs::remove_dir_all(project.home().join(".cache")).unwrap();
}

/// A clone of a project that ignores the outputs gets exactly those of brief.lock.
#[test]
fn a_clone_without_outputs_is_filled() {
    let (project, remote) = installed();
    let before = files(&project.path());
    for name in [".brief", ".claude", ".agents", "opencode.json"] {
        remove(&project, name);
    }
    remove_cache(&project);
    remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    run(&project, &["sync", "--frozen"]);
    assert_eq!(files(&project.path()), before);
}

/// The lock of a colleague comes by `git pull`, the outputs do not: those on the disk are ours by what
/// this machine remembers, and follow.
#[test]
fn outputs_follow_the_lock_of_a_colleague() {
    let (project, remote) = installed();
    run(&project, &["add", "acme/guidance", "judge"]);
    // What the colleague does, in a clone of their own.
    let theirs = crate::install::consumer();
    for name in ["brief.toml", "brief.lock"] {
        theirs.write(name, project.read(name));
    }
    let settings = fs::read_to_string(project.home().join(".gitconfig")).unwrap();
    fs::write(theirs.home().join(".gitconfig"), settings).unwrap();
    remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    run(&theirs, &["update"]);
    run(&theirs, &["remove", "judge"]);
    for name in ["brief.toml", "brief.lock"] {
        project.write(name, theirs.read(name));
    }
    let check = project.run(&["sync", "--check"]);
    assert_eq!(check.code, Some(1), "{check}");
    assert!(check.stdout.contains(".claude/rules/money.md: out of date\n"), "{check}");
    assert!(check.stdout.contains(".claude/agents/judge.md: no longer needed\n"), "{check}");
    assert!(!check.stdout.contains("brief.lock"), "the lock is right: {check}");
    let output = run(&project, &["sync", "--frozen"]);
    assert_eq!(summary(&output), "2 items: 2 updated, 3 unchanged, 3 removed");
    assert_eq!(files(&project.path()), files(&theirs.path()));
}

/// The lock is the same on every machine, also where an output was changed by hand: that file stays, and
/// what the others get does not depend on it.
#[test]
fn the_lock_does_not_depend_on_the_machine() {
    let (project, remote) = installed();
    remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    project.write(".claude/rules/money.md", "mine\n");
    assert_eq!(project.run(&["update"]).code, Some(1));
    let lock = project.read("brief.lock");
    assert_eq!(project.read(".claude/rules/money.md"), "mine\n");
    remove(&project, ".claude");
    remove(&project, ".brief");
    run(&project, &["sync", "--frozen"]);
    assert_eq!(project.read("brief.lock"), lock);
    assert!(project.read(".claude/rules/money.md").contains("Newer."));
}

/// A user who takes a change back gets the file of today, not the one from before the update.
#[test]
fn a_change_that_is_taken_back_is_brought_up_to_date() {
    let (project, remote) = installed();
    let old = project.read(".claude/rules/money.md");
    project.write(".claude/rules/money.md", "mine\n");
    remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    assert_eq!(project.run(&["update"]).code, Some(1));
    project.write(".claude/rules/money.md", &old);
    run(&project, &["sync"]);
    assert!(project.read(".claude/rules/money.md").contains("Newer."));
}

/// `--frozen` refuses what brief.lock does not say, names it, and writes nothing.
#[test]
fn frozen_refuses_what_is_not_locked() {
    let money = "rules = [\"money\"]";
    for (from, to, words) in [
        (money, "rules = [\"money\"]\nagents = [\"judge\"]", "the agent `judge` is not locked"),
        (money, "", "the rule `money` is locked but no longer requested"),
        (
            "ref = \"main\"",
            "ref = \"v1.0.0\"",
            "the source `guidance` is locked with another address or version",
        ),
        ("[sources.guidance]", "[sources.other]", "the source `other` is not locked"),
        (
            "[sources",
            "[install]\nclients = [\"claude\"]\n[sources",
            "compiles to other files than locked",
        ),
    ] {
        let (project, _) = installed();
        edit(&project, from, to);
        assert_frozen_refuses(&project, words);
    }
    let (project, _) = installed();
    let lock = project.read("brief.lock");
    let line = lock.lines().find(|line| line.starts_with("sha256")).unwrap();
    let other = format!("sha256 = \"{}\"", "0".repeat(64));
    project.write("brief.lock", lock.replace(line, &other));
    assert_frozen_refuses(
        &project,
        "differs from the locked content, although the commit is the same",
    );
    remove(&project, "brief.lock");
    assert_frozen_refuses(&project, "no `brief.lock`");
}

fn assert_frozen_refuses(project: &Sandbox, words: &str) {
    let _ = fs::remove_dir_all(project.path().join(".claude"));
    let before = files(&project.path());
    let output = project.run(&["sync", "--frozen"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains(words), "{words}: {output}");
    assert!(output.stderr.contains("hint: "), "{words}: {output}");
    assert_eq!(files(&project.path()), before, "{words}");
}

fn edit(project: &Sandbox, from: &str, to: &str) {
    let text = project.read("brief.toml");
    assert!(text.contains(from), "{text}");
    project.write("brief.toml", text.replace(from, to));
}

/// Without `--frozen` the lock follows brief.toml.
#[test]
fn the_lock_follows_the_manifest() {
    let (project, _) = installed();
    edit(&project, "rules = [\"money\"]", "agents = [\"judge\"]");
    let check = project.run(&["sync", "--check"]);
    assert_eq!(check.code, Some(1));
    assert!(check.stdout.contains("brief.lock: out of date\n"), "{check}");
    let output = run(&project, &["sync"]);
    assert!(output.stderr.contains("  - rule/money\n"), "{output}");
    assert!(output.stderr.contains("  + agent/judge\n"), "{output}");
    run(&project, &["sync", "--frozen"]);
}

/// `--dry-run` tells and exits with 0; `--diff` shows how each file would change; neither writes.
#[test]
fn a_difference_is_shown_before_it_is_made() {
    let (project, _) = installed();
    edit(&project, "rules = [\"money\"]", "agents = [\"judge\"]");
    project.write(".claude/skills/review/SKILL.md", "mine\n");
    let before = files(&project.path());
    let diff = project.run(&["sync", "--diff", "--force", ".claude/skills"]);
    for line in [
        "--- a/.claude/rules/money.md\n+++ /dev/null\n",
        "--- /dev/null\n+++ b/.claude/agents/judge.md\n",
        "--- a/.claude/skills/review/SKILL.md\n+++ b/.claude/skills/review/SKILL.md\n",
        "\n-mine\n",
        "\n+You judge.\n",
    ] {
        assert!(diff.stdout.contains(line), "{line}: {diff}");
    }
    assert_eq!(project.run(&["sync", "--dry-run"]).code, Some(1), "a change by hand is an error");
    assert_eq!(run(&project, &["sync", "--dry-run", "--force", ".claude"]).code, Some(0));
    assert_eq!(files(&project.path()), before);
    assert!(!project.path().join(".brief/backups").exists());
}

/// A directory is read as it is now, and its changes are no update of anything.
#[test]
fn a_directory_is_read_as_it_is() {
    let project = consumer();
    let place = project.outside_directory().join("plain");
    crate::install::write_all(&place, &[("rules/money/RULE.md", &item("money", "One."))]);
    run(&project, &["add", "../outside/plain"]);
    crate::install::write_all(&place, &[("rules/money/RULE.md", &item("money", "Two."))]);
    let frozen = project.run(&["sync", "--frozen"]);
    assert_eq!(frozen.code, Some(1));
    assert!(frozen.stderr.contains("`money` differs from the locked content"), "{frozen}");
    run(&project, &["sync"]);
    assert!(project.read(".claude/rules/money.md").contains("Two."));
}

/// Merge marks in the lock are told as such; either side will do.
#[test]
fn a_lock_with_merge_marks_is_settled_by_either_side() {
    let (project, _) = installed();
    let lock = project.read("brief.lock");
    let marked = lock.replace("[[source]]", "<<<<<<< ours\n=======\n>>>>>>> theirs\n[[source]]");
    project.write("brief.lock", marked);
    let output = project.run(&["sync"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("`$PROJECT/brief.lock`, line 4: "), "{output}");
    assert!(output.stderr.contains("hint: keep either side, then run `brief sync`"), "{output}");
    // One side knew less than brief.toml wants.
    let short = lock.split("[[item]]").next().unwrap();
    project.write("brief.lock", short);
    run(&project, &["sync"]);
    assert_eq!(project.read("brief.lock"), lock);
}

/// Two branches that add different things merge without a conflict, both files.
#[test]
fn branches_that_add_different_things_merge() {
    let project = consumer();
    let remote = guidance(&project);
    remote.commit(&[("agents/clerk/AGENT.md", &item("clerk", "You write."))]);
    run(&project, &["add", "acme/guidance", "money"]);
    let top = project.path();
    let git = |args: &[&str]| git(&top, args);
    let keep = |branch: &str| {
        git(&["add", "brief.toml", "brief.lock"]);
        git(&["commit", "--quiet", "-m", branch]);
    };
    keep("start");
    git(&["checkout", "--quiet", "-b", "other"]);
    run(&project, &["add", "acme/guidance", "judge"]);
    keep("other");
    git(&["checkout", "--quiet", "main"]);
    run(&project, &["sync"]);
    project.write(
        "brief.toml",
        format!("[install]\nlayout = \"shared\"\n\n{}", project.read("brief.toml")),
    );
    run(&project, &["sync"]);
    keep("main");
    git(&["merge", "--quiet", "other", "-m", "merge"]);
    run(&project, &["sync", "--frozen"]);
    assert!(names(&project).contains(&".claude/agents/judge.md".to_owned()));
}

/// Without anything to go by, the way to start is named.
#[test]
fn without_a_manifest_the_first_step_is_named() {
    let project = consumer();
    for command in ["sync", "update"] {
        let output = project.run(&[command]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("no `brief.toml` in `$PROJECT`"), "{output}");
        assert!(output.stderr.contains("hint: run `brief add SOURCE`"), "{output}");
    }
    assert!(!Path::new(&project.path()).join(".brief").join("installed.json").exists());
    project.write("brief.toml", "[sources.guidance]\ngit = \"acme/guidance\"\nall = true\n");
    let output = run(&project, &["list"]);
    assert!(
        output.stderr.contains("run `brief sync` to install the items of brief.toml"),
        "{output}"
    );
}
