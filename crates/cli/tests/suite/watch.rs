//! `brief sync --watch` and `brief build --watch`: again after each change, until ^C.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use brief_testkit::Sandbox;

use crate::install::{consumer, item};
use crate::project;

/// A program that watches. It is ended with the test.
struct Watching(Child);

impl Watching {
    fn start(project: &Sandbox, args: &[&str]) -> Watching {
        Watching(project.command("", args).spawn().unwrap())
    }

    /// Sends ^C and returns the exit code.
    fn interrupt(mut self) -> Option<i32> {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let mut code = None;
        assert!(soon(|| {
            code = self.0.try_wait().unwrap();
            code.is_some()
        }));
        code.unwrap().code()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn soon(mut is_so: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

fn has(project: &Sandbox, path: &str, text: &str) -> bool {
    std::fs::read_to_string(project.path().join(path)).is_ok_and(|found| found.contains(text))
}

/// An edit, a wrong state in between, and a new item arrive; ^C ends it.
#[test]
fn a_build_follows_its_registry() {
    let project = project().with_file("rules/money/RULE.md", item("money", "Cents."));
    let watching = Watching::start(&project, &["build", "--watch", "--client", "claude"]);
    let output = "dist/.claude/rules/money.md";
    assert!(soon(|| has(&project, output, "Cents.")));
    project.write("rules/money/RULE.md", item("money", "Whole cents."));
    assert!(soon(|| has(&project, output, "Whole cents.")));
    project.write("rules/money/RULE.md", "---\nschema: 1\nname: money\n---\n");
    project.write("rules/time/RULE.md", item("time", "UTC."));
    assert!(soon(|| has(&project, "dist/.claude/rules/time.md", "UTC.")));
    assert!(has(&project, output, "Whole cents."));
    project.write("rules/money/RULE.md", item("money", "Cents again."));
    assert!(soon(|| has(&project, output, "Cents again.")));
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
    assert!(soon(|| has(&project, output, "Cents.")));
    let manifest = project.read("brief.toml");
    project.write("brief.toml", "[sources");
    project.write("source/rules/money/RULE.md", item("money", "Whole cents."));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!has(&project, output, "Whole"));
    project.write("brief.toml", manifest);
    assert!(soon(|| has(&project, output, "Whole cents.")));
    assert_eq!(watching.interrupt(), Some(0));
}
