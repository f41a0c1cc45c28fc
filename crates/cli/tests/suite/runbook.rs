//! `docs/how-to/runbook.md`: each failure is caused on purpose, shows as the page says, and its line ends it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use brief_testkit::snapshot::{render_item, write_files};
use brief_testkit::{Fault, Output, Sandbox};
use serde_json::json;

use crate::fleet_update::with_two_versions;
use crate::install::{git, run};
use crate::sees::with_brief_on_path;
use crate::{project, workspace};

/// The text of the page.
static PAGE: LazyLock<String> =
    LazyLock::new(|| fs::read_to_string(workspace().join("docs/how-to/runbook.md")).unwrap());

/// Returns the line that ends a failure, as the page has it.
fn page_line(number: usize) -> String {
    let begin = format!("| {number} |");
    let row = PAGE.lines().find(|line| line.starts_with(&begin)).expect("the page has the row");
    let cell = row.trim_end_matches('|').trim_end().rsplit_once(" | ").unwrap().1;
    cell.trim().trim_matches('`').to_owned()
}

/// Types the line of a failure into a shell, as a user would.
fn type_line(project: &Sandbox, number: usize) -> std::process::Output {
    let program = project.program().parent().unwrap().display().to_string();
    let output = Command::new("/bin/sh")
        .args(["-c", &page_line(number)])
        .current_dir(project.path())
        .env_clear()
        .env("HOME", project.home())
        .env("PATH", format!("{program}:/usr/bin:/bin"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{number}: {output:?}");
    output
}

/// A project whose hook brings one item.
fn delivering() -> Sandbox {
    let project = with_brief_on_path(project().with_dir(".git"))
        .with_file("AGENTS.yaml", "context:\n  - {content: Use integers.}\n")
        .with_file("a.py", "");
    run(&project, &["hook", "install", "claude"]);
    project
}

fn call(project: &Sandbox, session: &str) -> Output {
    let path = project.path();
    let payload = json!({
        "session_id": session, "hook_event_name": "PostToolUse", "tool_name": "Read", "cwd": path,
        "tool_input": {"file_path": path.join("a.py")}, "tool_response": {}, "tool_use_id": "t",
    });
    project.run_with_input(&["hook", "claude"], payload.to_string())
}

fn is_told(project: &Sandbox, session: &str) -> bool {
    call(project, session).stdout.contains("Use integers.")
}

/// A project with one rule from a directory.
fn installed() -> (Sandbox, PathBuf) {
    let project = project().with_dir(".git").with_file(
        "brief.toml",
        "[install]\nclients = [\"claude\"]\n\n[sources.guidance]\ndirectory = \"../outside/source\"\nall = true\n",
    );
    let source = project.outside_directory().join("source");
    write_files(&source, &[("rules/money/RULE.md", &render_item("money", "## One"))]);
    run(&project, &["sync"]);
    let rule = project.path().join(".claude/rules/money.md");
    (project, rule)
}

fn says(output: &Output, words: &str) {
    let all = format!("{}{}", output.stdout, output.stderr);
    assert!(all.contains(words), "{words}: {output}");
    assert!(PAGE.contains(words), "the page does not say `{words}`");
}

#[test]
fn one_deliveries_are_stopped() {
    let project = delivering();
    assert!(is_told(&project, "one"));
    assert!(run(&project, &["log"]).stdout.contains("AGENTS.yaml"));
    fs::create_dir_all(project.home().join(".config/brief")).unwrap();
    type_line(&project, 1);
    assert!(!is_told(&project, "two"));
    fs::remove_file(project.home().join(".config/brief/settings.toml")).unwrap();
    assert!(is_told(&project, "three"));
}

#[test]
fn two_an_old_hook_is_guarded() {
    let project = delivering();
    let old = json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "brief hook claude"}]}]}});
    project.write(".claude/settings.local.json", old.to_string());
    says(&project.run(&["hook", "status", "claude"]), "can stop working where `brief` is missing");
    type_line(&project, 2);
    let text = project.read(".claude/settings.local.json");
    assert!(text.contains("|| exit 0"), "{text}");
}

#[test]
fn three_a_bad_update_is_taken_back() {
    let (project, _remote) = with_two_versions();
    run(&project, &["add", "acme/guidance@v1.0.0", "base", "--client", "claude"]);
    let rule = || project.read(".claude/rules/money.md");
    let before = rule();
    run(&project, &["update", "guidance@v1.1.0"]);
    assert_ne!(rule(), before);
    // The line names the source and the version.
    let line = page_line(3);
    let words: Vec<&str> = line.split(' ').collect();
    run(&project, &words[1..]);
    assert_eq!(rule(), before);
}

#[test]
fn four_a_killed_run_is_finished() {
    let (project, rule) = installed();
    let before = fs::read(&rule).unwrap();
    let is_interrupted = || project.path().join(".brief/journal.json").exists();
    for at in 0.. {
        let ran =
            crate::kill_matrix::in_process(&project, &["remove", "--all"], Fault::Dies { at });
        assert!(!ran.stderr.contains("removed"), "never killed halfway: {}", ran.stderr);
        if is_interrupted() {
            break;
        }
    }
    says(&project.run(&["lint", "--only", "setup"]), "the last run was interrupted");
    type_line(&project, 4);
    assert_eq!(fs::read(&rule).unwrap(), before);
    let lint = project.run(&["lint", "--only", "setup"]);
    assert!(!lint.stdout.contains("interrupted"), "{lint}");
}

#[test]
fn five_a_conflict_in_the_lock_is_resolved() {
    let (project, rule) = installed();
    let path = project.path();
    fs::remove_dir(path.join(".git")).unwrap();
    git(&path, &["init", "--quiet", "--initial-branch=main"]);
    let commit = |what: &str| {
        git(&path, &["add", "--all"]);
        git(&path, &["commit", "--quiet", "-m", what]);
    };
    commit("base");
    let source = project.outside_directory().join("source");
    let mut texts = Vec::new();
    for branch in ["theirs", "main"] {
        git(&path, &["checkout", "--quiet", "-B", branch, "HEAD"]);
        write_files(
            &source,
            &[("rules/money/RULE.md", &render_item("money", &format!("## {branch}")))],
        );
        run(&project, &["update"]);
        texts.push(fs::read_to_string(&rule).unwrap());
        commit(branch);
        if branch == "theirs" {
            git(&path, &["checkout", "--quiet", "-B", "main", "HEAD~1"]);
        }
    }
    let merged = Command::new("git")
        .args(["merge", "--quiet", "theirs"])
        .current_dir(&path)
        .env("GIT_AUTHOR_NAME", "Name")
        .env("GIT_AUTHOR_EMAIL", "name@example.com")
        .env("GIT_COMMITTER_NAME", "Name")
        .env("GIT_COMMITTER_EMAIL", "name@example.com")
        .output()
        .unwrap();
    assert!(!merged.status.success(), "{merged:?}");
    says(&project.run(&["sync"]), "has an unresolved merge conflict");
    git(&path, &["checkout", "--ours", ".claude"]);
    type_line(&project, 5);
    assert!(fs::read_to_string(&rule).unwrap().contains("## main"));
}

#[test]
fn six_an_edited_output_is_written_again() {
    let (project, rule) = installed();
    let before = fs::read(&rule).unwrap();
    fs::write(&rule, "edited\n").unwrap();
    says(&project.run(&["lint", "--only", "setup"]), "the file was edited");
    type_line(&project, 6);
    assert_eq!(fs::read(&rule).unwrap(), before);
}

#[test]
fn seven_a_source_that_is_away_is_in_the_cache() {
    let (project, remote) = with_two_versions();
    run(&project, &["add", "acme/guidance@v1.0.0", "base", "--client", "claude"]);
    let rule = project.path().join(".claude/rules/money.md");
    let before = fs::read(&rule).unwrap();
    remote.vanish();
    fs::remove_file(&rule).unwrap();
    let away = project.run(&["update"]);
    assert_ne!(away.code, Some(0), "{away}");
    let line = page_line(7);
    let words: Vec<&str> = line.split(' ').collect();
    run(&project, &words[1..]);
    assert_eq!(fs::read(&rule).unwrap(), before);
}

#[test]
fn eight_a_broken_file_is_named() {
    let project = delivering();
    let path = project.path();
    fs::remove_dir(path.join(".git")).unwrap();
    git(&path, &["init", "--quiet", "--initial-branch=main"]);
    git(&path, &["add", "--all"]);
    git(&path, &["commit", "--quiet", "-m", "message"]);
    project.write("AGENTS.yaml", "context:\n  - {content: [\n");
    assert!(!is_told(&project, "one"));
    let lint = project.run(&["lint", "--only", "mistakes"]);
    assert_eq!(lint.code, Some(1), "{lint}");
    assert!(lint.stdout.contains("AGENTS.yaml:"), "{lint}");
    type_line(&project, 8);
    assert!(is_told(&project, "two"));
}

#[test]
fn nine_a_broken_policy_is_named() {
    let (project, _) = installed();
    let directory = project.home().join(".config/brief");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("policy.toml"), "[sources\n").unwrap();
    let stopped = project.run(&["sync"]);
    assert_eq!(stopped.code, Some(2), "{stopped}");
    assert!(stopped.stderr.contains("policy.toml:1`"), "{stopped}");
    type_line(&project, 9);
    run(&project, &["sync"]);
}

#[test]
fn ten_a_damaged_memory_is_removed() {
    let project = delivering();
    assert!(is_told(&project, "one"));
    // The same conversation knows it now, whatever has become of it.
    assert!(!is_told(&project, "one"));
    assert!(Path::new(&project.home().join(".local/state/brief/sessions")).exists());
    type_line(&project, 10);
    assert!(is_told(&project, "one"));
}

/// The page has ten rows, and a test for each.
#[test]
fn the_page_has_ten_failures() {
    let rows = PAGE.lines().filter(|line| {
        line.strip_prefix("| ")
            .and_then(|rest| rest.split(' ').next())
            .is_some_and(|number| number.parse::<u8>().is_ok())
    });
    assert_eq!(rows.count(), 10);
    assert!((1..=10).all(|number| !page_line(number).is_empty()));
}
