//! `brief doctor`: what goes wrong in silence.

use std::fs;

use brief_testkit::{Output, Sandbox};

use crate::install::{Remote, consumer, guidance, item, run, write_all};

fn installed() -> (Sandbox, Remote) {
    let project = consumer().with_file("brief.toml", "[install]\nclients = [\"claude\"]\n");
    let remote = guidance(&project);
    run(&project, &["add", "acme/guidance", "money", "review"]);
    (project, remote)
}

fn assert_finds(output: &Output, line: &str) {
    assert!(output.stdout.lines().any(|found| found == line), "{line}\n{output}");
}

/// A sound project has nothing to correct, and nothing is fetched or written to find that out.
#[test]
fn a_sound_project_has_no_findings() {
    let (project, remote) = installed();
    remote.vanish();
    let before = crate::install::files(&project.path());
    let output = run(&project, &["doctor"]);
    assert_eq!(output.stdout, "");
    assert_eq!(output.stderr, "no problems\n");
    assert_eq!(crate::install::files(&project.path()), before);
    let empty = run(&consumer(), &["doctor"]);
    assert_eq!(empty.stdout, "");
}

/// Outputs that are gone, changed or older than the lock; entries that the user took out.
#[test]
fn drift_is_found() {
    let (project, remote) = installed();
    project.write(".claude/rules/money.md", "mine\n");
    fs::remove_file(project.path().join(".claude/skills/review/SKILL.md")).unwrap();
    let output = project.run(&["doctor"]);
    assert_eq!(output.code, Some(1));
    assert_finds(&output, "warning[drift]: .claude/rules/money.md: the file was edited");
    assert_finds(&output, "warning[drift]: .claude/skills/review/SKILL.md: the file is missing");
    assert!(output.stdout.contains("  run `brief sync` to restore it\n"), "{output}");
    assert!(output.stderr.ends_with("2 problems\n"), "{output}");

    let (project, _) = (consumer(), remote);
    guidance(&project);
    run(&project, &["add", "acme/guidance", "money"]);
    project.write("opencode.json", "{}\n");
    let output = project.run(&["doctor"]);
    assert_finds(
        &output,
        "warning[drift]: opencode.json: instructions[.agents/rules/**/RULE.md] was changed or removed",
    );
}

/// A lock that came without the outputs it speaks of.
#[test]
fn outputs_older_than_the_lock_are_found() {
    let (project, remote) = installed();
    let old = project.read(".claude/rules/money.md");
    remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    let record = project.read(".brief/installed.json");
    run(&project, &["update"]);
    project.write(".claude/rules/money.md", old);
    project.write(".brief/installed.json", record);
    let output = project.run(&["doctor"]);
    assert_finds(
        &output,
        "warning[drift]: .claude/rules/money.md: the file is older than brief.lock",
    );
}

/// A lock that does not know what brief.toml wants.
#[test]
fn a_stale_lock_is_found() {
    let (project, _) = installed();
    let manifest = project.read("brief.toml");
    let finds = |text: String, words: &str| {
        project.write("brief.toml", text);
        let output = project.run(&["doctor"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert_finds(&output, &format!("warning[stale-lock]: brief.lock: {words}"));
    };
    finds(manifest.replace("\"money\"", "\"money\", \"other\""), "the rule `other` is not locked");
    finds(format!("{manifest}bundles = [\"base\"]\n"), "the bundle `base` is not locked");
    finds(
        format!("{manifest}ref = \"v1.0.0\"\n"),
        "the source `guidance` is locked at another location or version",
    );
    finds(String::new(), "the source `guidance` is locked, but not in brief.toml");
    fs::remove_file(project.path().join("brief.lock")).unwrap();
    finds(manifest, "the lockfile is missing");
}

/// Sources that cannot be read here, and items of them that cannot be used.
#[test]
fn unreadable_sources_are_found() {
    let (project, _) = installed();
    let place = project.outside_directory().join("plain");
    write_all(
        &place,
        &[("rules/x/RULE.md", &item("x", "X.")), ("rules/bad/RULE.md", "---\n---\n")],
    );
    run(&project, &["add", "../outside/plain", "x"]);
    let output = run(&project, &["doctor"]);
    assert_finds(&output, "note[invalid-item]: cannot use the rule `bad` of `plain`");
    fs::remove_dir_all(place).unwrap();
    fs::remove_dir_all(project.home().join(".cache")).unwrap();
    let output = project.run(&["doctor"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.contains("warning[unreadable-source]: the source `plain`: "), "{output}");
    assert!(
        output.stdout.contains("warning[unreadable-source]: the source `guidance`: "),
        "{output}"
    );
}

/// R36, U37: a rule that one client reads twice is told once for all of them, and so are copies of skills
/// that clients could share.
#[test]
fn doubles_are_found() {
    let project = consumer().with_file("brief.toml", "[install]\nlayout = \"separate\"\n");
    let remote = guidance(&project);
    remote.commit(&[("rules/time/RULE.md", &item("time", "Seconds."))]);
    run(&project, &["add", "acme/guidance"]);
    let output = run(&project, &["doctor"]);
    assert_finds(
        &output,
        "note[double]: copilot reads 2 rules from several locations, such as \
         .github/instructions/money.instructions.md, .claude/rules/money.md",
    );
    assert_finds(
        &output,
        "note[double]: several clients have their own copies of 1 skill: \
         .github/skills/review/SKILL.md, .claude/skills/review/SKILL.md, \
         .agents/skills/review/SKILL.md",
    );
    assert!(output.stderr.ends_with("2 notes\n"), "{output}");
    let manifest = project.read("brief.toml");
    project.write("brief.toml", manifest.replace("separate", "shared"));
    run(&project, &["sync"]);
    let output = run(&project, &["doctor"]);
    assert_eq!(output.stderr, "no problems\n", "K33: Copilot reads each rule once");
}

/// Files in directories of clients that no client reads, written by any author.
#[test]
fn files_that_nobody_reads_are_found() {
    let (project, _) = installed();
    project.write(".claude/skills/loose.md", "x\n");
    project.write(".github/instructions/style.md", "x\n");
    let output = project.run(&["doctor", "--json"]);
    assert_eq!(output.code, Some(1));
    let found = output.json();
    let paths: Vec<&str> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["check"] == "unread" && finding["severity"] == "warning")
        .filter_map(|finding| finding["path"].as_str())
        .collect();
    assert_eq!(paths, [".claude/skills/loose.md", ".github/instructions/style.md"]);
}

/// N34: guidance that cannot be read is a problem, wherever it lies.
#[test]
fn unreadable_guidance_is_a_problem() {
    let project = crate::project().with_dir(".git").with_link("CLAUDE.md", "AGENTS.md");
    project.write("src/keep", "");
    brief_testkit::make_fifo(&project.path().join("src/CLAUDE.md"));
    let output = project.run(&["doctor"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("warning[unreadable]: CLAUDE.md: "), "{output}");
    assert!(output.stdout.contains("warning[unreadable]: src/CLAUDE.md: "), "{output}");
}

/// R12: a file that another guidance file names is no stray; R23: nor is one that a client reads by another link.
#[test]
fn a_file_that_is_used_is_no_stray() {
    let command = "prompt = \"\"\"!{cat .gemini/commands/strict-rules.md}\"\"\"\n";
    let project = crate::project()
        .with_dir(".git")
        .with_file(".gemini/commands/strict-rules.md", "Be strict.\n")
        .with_file(".gemini/commands/stray.md", "Alone.\n")
        .with_file(".gemini/commands/review.toml", command)
        .with_file("agents/rules/money.md", "Cents.\n")
        .with_link(".claude/rules", "../agents/rules")
        .with_link(".cursor/rules", "../agents/rules");
    let output = project.run(&["doctor"]);
    assert!(!output.stdout.contains("strict-rules.md"), "{output}");
    assert!(output.stdout.contains(".gemini/commands/stray.md"), "{output}");
    assert!(!output.stdout.contains("money.md"), "{output}");
    let lint = project.run(&["lint"]);
    assert_eq!(lint.stdout.matches("no client reads this file").count(), 1, "{lint}");
    assert!(lint.stdout.contains(".gemini/commands/stray.md"), "{lint}");
}
