//! The promises of writing: a killed run is finished, nothing of it is left, and the same input comes to the
//! same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, ExitCode, Stdio};

use brief_system::STAGED;
use brief_testkit::{Fault, Faulty, Sandbox};

use crate::kill_matrix::{in_process, in_process_with};
use crate::project;
use brief_testkit::snapshot::{render_item, write_files};

/// A source beside the project with some skills.
fn with_skills(count: usize) -> Sandbox {
    let project = project().with_file(".claude/settings.json", "{}\n");
    for number in 0..count {
        let name = format!("skill-{number}");
        let below = format!("skills/{name}");
        write_files(
            &project.outside_directory().join("source"),
            &[
                (&format!("{below}/SKILL.md"), &render_item(&name, "text")),
                (&format!("{below}/notes.txt"), "notes\n"),
            ],
        );
    }
    project
}

/// The amount of work of a test: what the variable says, or as much as fits into every run of the tests.
fn amount(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |amount| amount.parse().expect("a number"))
}

fn run(project: &Sandbox, args: &[&str]) -> String {
    let output = project.run(args);
    assert_eq!(output.code, Some(0), "{output}");
    output.stderr
}

/// X08: `remove` finishes a killed `remove`, whatever step it was killed at, and says so.
#[test]
fn a_killed_remove_is_finished_by_the_next_remove() {
    let project = with_skills(2);
    run(&project, &["add", "../outside/source"]);
    let journal = project.path().join(".brief/journal.json");
    let mut finished = 0;
    for at in 0.. {
        run(&project, &["sync"]);
        let killed = in_process(&project, &["remove", "skill-1"], Fault::Dies { at });
        if !killed.has_failed {
            break;
        }
        if !journal.exists() {
            continue;
        }
        finished += 1;
        // It is called by its name or by its full name.
        let name = if at % 2 == 0 { "skill-1" } else { "skill/skill-1" };
        let said = run(&project, &["remove", name]);
        let step = &killed.steps[at];
        assert!(said.contains("finished an interrupted run"), "{at}, {step}: {said}");
        assert!(!project.path().join(".claude/skills/skill-1").exists(), "{at}, {step}");
        assert!(project.path().join(".claude/skills/skill-0").exists(), "{at}, {step}");
        // A name that nothing had is still a mistake.
        assert_eq!(project.run(&["remove", name]).code, Some(1));
        fs::remove_file(project.path().join("brief.toml")).unwrap();
        run(&project, &["add", "../outside/source"]);
    }
    assert!(finished > 5, "{finished}");
}

/// X08: what a command reads first is finished first.
#[test]
fn every_command_that_writes_finishes_a_killed_run_first() {
    let commands: [&[&str]; 5] = [
        &["add", "../outside/source", "skill-0"],
        &["update", "source"],
        &["sync"],
        &["remove", "skill-0"],
        &["remove", "--all"],
    ];
    for args in commands {
        let project = with_skills(2);
        run(&project, &["add", "../outside/source", "skill-1"]);
        let journal = project.path().join(".brief/journal.json");
        for at in 0.. {
            in_process(&project, &["add", "../outside/source", "skill-0"], Fault::Dies { at });
            if journal.exists() {
                break;
            }
        }
        // A command that only asks is told, and leaves it.
        let checked = project.run(&["sync", "--dry-run"]);
        assert!(checked.stderr.contains("a run was interrupted"), "{checked}");
        assert!(journal.exists());
        let said = run(&project, args);
        assert!(said.contains("finished an interrupted run"), "{args:?}: {said}");
        assert!(!journal.exists() && !project.path().join(".brief/staged").exists(), "{args:?}");
    }
}

/// X09: what a killed writer has left in a skill is for no client, and no command speaks of it.
#[test]
fn what_a_killed_writer_has_left_is_no_guidance() {
    let project = with_skills(1);
    let skill = project.outside_directory().join("source/skills/skill-0");
    fs::write(skill.join(STAGED), "half a fi").unwrap();
    project.write(STAGED, "half a fi");
    run(&project, &["add", "../outside/source"]);
    run(&project, &["registry", "build", "../outside/source", "--out", "built"]);
    for args in
        [&["lint"][..], &["tokens", "--tree"], &["coverage", "--json"], &["list"], &["doctor"]]
    {
        let said = project.run(args);
        assert!(!format!("{said}").contains(STAGED), "{args:?}: {said}");
    }
    let mut written = crate::build::read_tree(&project, "");
    written.remove(STAGED);
    assert!(written.keys().all(|path| !path.contains(STAGED)), "{:?}", written.keys());
    assert!(written.contains_key(".claude/skills/skill-0/notes.txt"));
    // The next writer in that directory removes it.
    fs::write(skill.join("SKILL.md"), render_item("skill-0", "* not\n* laid out")).unwrap();
    let formatted = project.run(&["-C", "../outside/source", "registry", "fmt"]);
    assert_eq!(formatted.code, Some(0), "{formatted}");
    assert!(!skill.join(STAGED).exists());
}

/// Ruling G8: asking takes no step that changes anything, in the project or elsewhere.
#[test]
fn asking_writes_nothing() {
    let project = with_skills(2);
    project.write("AGENTS.yaml", "context:\n  - match: [\"**\"]\n    content: Use types.\n");
    project.write(".agents/tasks/t.md", "Task.\n");
    project.write("agents/dev_t.agent.md", "# T\n\nd\n");
    run(&project, &["add", "../outside/source"]);
    let questions: [&[&str]; 33] = [
        &["context", "src/a.py"],
        &["context", "--client", "claude", "src/a.py"],
        &["why", "src/a.py"],
        &["show", "src/a.py"],
        &["tokens", "--tree"],
        &["coverage"],
        &["tokens"],
        &["context", "--decisions"],
        &["lint"],
        &["registry", "fmt", "--check"],
        &["list"],
        &["list", "../outside/source"],
        &["list", "-g"],
        &["update", "--check"],
        &["stale"],
        &["doctor"],
        &["diff"],
        &["mcp", "servers"],
        &["sync", "--check"],
        &["sync", "--dry-run"],
        &["sync", "--diff"],
        &["add", "--dry-run", "../outside/source"],
        &["remove", "--dry-run", "skill-0"],
        &["update", "--dry-run"],
        &["remove", "--all", "--dry-run"],
        &["registry", "build", "--check", "../outside/source", "--out", "built"],
        &["task", "list"],
        &["task", "t"],
        &["trust", "--list"],
        &["schema", "agents-yaml"],
        &["man"],
        &["completions", "bash"],
        &["version"],
    ];
    for args in questions {
        let ran = in_process(&project, args, Fault::None);
        // Only `git` is asked where a command compares commits.
        let changes = ran.steps.iter().filter(|step| !step.starts_with("run "));
        assert_eq!(changes.count(), 0, "{args:?}: {:?}", ran.steps);
    }
}

/// Everything outside the directory that is only for us.
fn outputs(project: &Sandbox) -> BTreeMap<String, Vec<u8>> {
    let mut tree = crate::build::read_tree(project, "");
    tree.retain(|path, _| !path.starts_with(".brief/"));
    tree
}

/// R3: additions, removals and updates at once end in a state that some order of them has.
/// `BRIEF_TEST_ROUNDS=20 BRIEF_TEST_AT_ONCE=100` is the whole goal.
#[test]
fn mixed_operations_at_once_end_as_some_order_of_them() {
    let at_once = amount("BRIEF_TEST_AT_ONCE", 20);
    for _ in 0..amount("BRIEF_TEST_ROUNDS", 1) {
        mixed_operations(at_once);
    }
}

fn mixed_operations(at_once: u64) {
    let project = with_skills(6);
    run(&project, &["add", "../outside/source", "skill-0", "skill-1", "skill-2"]);
    let commands: [&[&str]; 5] = [
        &["add", "../outside/source", "skill-4"],
        &["remove", "skill-1"],
        &["update"],
        &["sync"],
        &["add", "../outside/source", "skill-5"],
    ];
    let start = |command: &&[&str]| {
        let mut command = project.prepare_command("", command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let chosen = commands.iter().cycle().zip(0..at_once);
    let runs: Vec<_> = chosen.map(|(command, _)| start(command)).collect();
    for (number, run) in runs.into_iter().enumerate() {
        let output = run.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        // Of several that remove one item, the others find nothing.
        let is_late = number % commands.len() == 1 && stderr.contains("`skill-1` is not installed");
        assert!(output.status.success() || is_late, "{number}: {stderr}");
    }
    let has = |name: &str| project.path().join(format!(".claude/skills/{name}/SKILL.md")).exists();
    let found: Vec<bool> = (0..6).map(|number| has(&format!("skill-{number}"))).collect();
    assert_eq!(found, [true, false, true, false, true, true]);
    run(&project, &["sync", "--check"]);
}

/// R7: another directory, another order of names, other words for the same language and another mask of
/// permissions come to the same bytes. `BRIEF_TEST_ORDERS=1000` is the whole goal.
#[test]
fn the_same_input_comes_to_the_same_bytes() {
    let act = |change: &dyn Fn(&Sandbox, &[&str])| {
        let project = with_skills(7);
        write_files(
            &project.outside_directory().join("source"),
            &[
                ("rules/api/RULE.md", &render_item("api", "text")),
                ("rules/zeta/RULE.md", &render_item("zeta", "t")),
            ],
        );
        for args in [
            &["add", "../outside/source", "skill-3", "skill-1", "--client", "claude"][..],
            &["add", "../outside/source", "api", "zeta"],
            &["registry", "build", "../outside/source", "--out", "built"],
        ] {
            change(&project, args);
        }
        outputs(&project)
    };
    let expected = act(&|project, args| drop(run(project, args)));
    assert!(expected.contains_key("brief.lock") && expected.len() > 20, "{:?}", expected.keys());
    for order in 1..=amount("BRIEF_TEST_ORDERS", 19) {
        let found = act(&|project, args| {
            let ran = in_process_with(project, args, |real| {
                Faulty::new(real, Fault::None).in_order(order)
            });
            assert_eq!(ran.code, ExitCode::SUCCESS, "{}", ran.stderr);
        });
        assert!(found == expected, "order {order}");
    }
    for (mask, locale) in [("000", "C"), ("077", "tr_TR.UTF-8"), ("022", "de_DE.ISO-8859-1")] {
        let found = act(&|project, args| {
            let program = project.prepare_command("", &[]);
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", &format!("umask {mask}; exec \"$0\" \"$@\"")]);
            shell.arg(program.get_program()).args(args).current_dir(project.path());
            shell.env_clear().env("HOME", project.home()).env("PATH", "/usr/bin:/bin");
            shell.env("LC_ALL", locale).env("TZ", "Pacific/Apia");
            let output = shell.stdin(Stdio::null()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        });
        assert!(found == expected, "umask {mask}, {locale}");
    }
}
