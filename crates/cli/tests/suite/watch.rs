//! `brief sync --watch` and `brief registry build --watch`: again after each change, until ^C.

use std::fs::OpenOptions;
use std::process::Child;

use brief_testkit::{Sandbox, send_signal, wait_for, wait_until};

use crate::install::{consumer, item};
use crate::project;

/// A program that watches. It is ended with the test.
struct Watching(Child);

impl Watching {
    fn start(project: &Sandbox, args: &[&str]) -> Watching {
        let said = project.outside_directory().join("said");
        let open = || OpenOptions::new().create(true).append(true).open(&said).unwrap();
        Watching(project.prepare_command("", args).stdout(open()).stderr(open()).spawn().unwrap())
    }

    /// Sends ^C and returns the exit code.
    fn interrupt(mut self) -> Option<i32> {
        send_signal("INT", self.0.id());
        wait_for("the program ends", || self.0.try_wait().unwrap()).code()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn has(project: &Sandbox, path: &str, text: &str) -> bool {
    std::fs::read_to_string(project.path().join(path)).is_ok_and(|found| found.contains(text))
}

/// An edit, a wrong state in between, and a new item arrive; ^C ends it.
#[test]
fn a_build_follows_its_registry() {
    let project = project().with_file("rules/money/RULE.md", item("money", "Cents."));
    let watching =
        Watching::start(&project, &["registry", "build", "--watch", "--client", "claude"]);
    let output = "dist/.claude/rules/money.md";
    wait_until("Cents.", || has(&project, output, "Cents."));
    project.write("rules/money/RULE.md", item("money", "Whole cents."));
    wait_until("Whole cents.", || has(&project, output, "Whole cents."));
    project.write("rules/money/RULE.md", "---\nschema: 1\nname: money\n---\n");
    project.write("rules/time/RULE.md", item("time", "UTC."));
    wait_until("UTC.", || has(&project, "dist/.claude/rules/time.md", "UTC."));
    assert!(has(&project, output, "Whole cents."));
    project.write("rules/money/RULE.md", item("money", "Cents again."));
    wait_until("Cents again.", || has(&project, output, "Cents again."));
    assert_eq!(watching.interrupt(), Some(0));
}

/// A source that is a directory is followed, and so is brief.toml, which may be wrong for a while.
#[test]
fn a_sync_follows_its_directories() {
    let project = consumer()
        .with_file("source/rules/money/RULE.md", item("money", "Cents."))
        .with_file("brief.toml", "[sources.ours]\ndirectory = \"source\"\nall = true\n\n[install]\nclients = [\"claude\"]\n");
    let watching = Watching::start(&project, &["sync", "--watch"]);
    let output = ".claude/rules/money.md";
    wait_until("Cents.", || has(&project, output, "Cents."));
    let manifest = project.read("brief.toml");
    project.write("brief.toml", "[sources");
    project.write("source/rules/money/RULE.md", item("money", "Whole cents."));
    // It has seen the wrong file when it says so.
    wait_until("a wrong brief.toml is reported", || has(&project, "../outside/said", "brief.toml"));
    assert!(!has(&project, output, "Whole"));
    project.write("brief.toml", manifest);
    wait_until("Whole cents.", || has(&project, output, "Whole cents."));
    assert_eq!(watching.interrupt(), Some(0));
}
