//! The clients that a project is written for when the user names none: those that its files tell of.

use std::fs;

use brief_testkit::Sandbox;

use crate::install::{consumer, files, guidance, item, names, run, summary};

fn added(project: Sandbox) -> Sandbox {
    guidance(&project);
    run(&project, &["add", "acme/guidance"]);
    project
}

/// U37: the files of a project tell which clients it uses; `brief.toml` says so, and why.
#[test]
fn clients_are_found_by_their_files() {
    for (sign, clients, places) in [
        ("CLAUDE.md", "claude", &[".claude"][..]),
        (".claude/settings.json", "claude", &[".claude"]),
        (".github/copilot-instructions.md", "copilot", &[".github"]),
        (".github/instructions/own.instructions.md", "copilot", &[".github"]),
        ("opencode.jsonc", "opencode", &[".agents", ".opencode"]),
    ] {
        let project = added(consumer().with_file(sign, "{}\n"));
        let manifest = project.read("brief.toml");
        let line = format!("[install]\nclients = [\"{clients}\"] # found: ");
        assert!(manifest.starts_with(&line), "{sign}: {manifest}");
        let own = names(&project).into_iter().filter(|name| name.starts_with('.'));
        for name in own {
            assert!(places.iter().any(|place| name.starts_with(place)), "{sign}: {name}");
        }
        // Nothing else is asked on the next run, here or on another machine.
        let again = run(&project, &["sync", "--frozen"]);
        assert!(summary(&again).contains("already up to date"), "{sign}: {again}");
    }
}

/// Workflows of GitHub and an AGENTS.md tell of no client: everybody gets everything.
#[test]
fn what_many_projects_have_tells_nothing() {
    let project = consumer()
        .with_file(".github/workflows/ci.yml", "on: push\n")
        .with_file("AGENTS.md", "# Agents\n");
    let project = added(project);
    let names = names(&project);
    for place in [".claude/rules/money.md", ".agents/rules/money/RULE.md", "opencode.json"] {
        assert!(names.iter().any(|name| name == place), "{place}: {names:?}");
    }
    assert!(!project.read("brief.toml").contains("[install]"));
}

/// The project's or the user's choice wins over what files tell.
#[test]
fn what_is_said_wins() {
    let said = consumer()
        .with_file("CLAUDE.md", "# Mine\n")
        .with_file("brief.toml", "[install]\nclients = [\"opencode\"]\n");
    let project = added(said);
    assert!(!project.path().join(".claude").exists());
    assert!(!project.read("brief.toml").contains("# found"));

    let project = consumer().with_file("CLAUDE.md", "# Mine\n");
    guidance(&project);
    run(&project, &["add", "acme/guidance", "--client", "copilot"]);
    assert!(!project.path().join(".claude").exists());
    assert!(!project.read("brief.toml").contains("[install]"));
}

/// Clients that were found go with the last source; those that the user wrote stay.
#[test]
fn found_clients_go_with_the_sources() {
    let project = consumer().with_file("CLAUDE.md", "# Mine\n");
    let before = files(&project.path());
    let project = added(project);
    run(&project, &["remove", "guidance"]);
    assert_eq!(files(&project.path()), before);

    let written = "[install]\nclients = [\"claude\"] # all that we use\n";
    let project = added(consumer().with_file("brief.toml", written));
    run(&project, &["remove", "guidance"]);
    assert_eq!(project.read("brief.toml"), written);
}

/// U37: a skill that all clients can read in one place is written there alone, and nothing is wrong then.
#[test]
fn a_skill_is_written_once() {
    let project = consumer();
    guidance(&project);
    run(&project, &["add", "acme/guidance", "review", "judge"]);
    let skills: Vec<String> =
        names(&project).into_iter().filter(|name| name.ends_with("SKILL.md")).collect();
    assert_eq!(skills, [".claude/skills/review/SKILL.md"]);
    assert_eq!(run(&project, &["doctor"]).stderr, "no problems\n");

    // Without Claude Code, the others have a place in common, too.
    let project =
        consumer().with_file("brief.toml", "[install]\nclients = [\"copilot\", \"opencode\"]\n");
    guidance(&project);
    run(&project, &["add", "acme/guidance", "review"]);
    let skills: Vec<String> =
        names(&project).into_iter().filter(|name| name.ends_with("SKILL.md")).collect();
    assert_eq!(skills, [".agents/skills/review/SKILL.md"]);
}

/// A skill that is not the same for all clients is written for each of those that it differs for.
#[test]
fn a_skill_that_differs_is_written_where_it_differs() {
    let project = consumer();
    let remote = guidance(&project);
    let text = "One.\n\n<!-- @client:copilot -->\n\nTwo.\n\n<!-- @endclient -->\n";
    remote.commit(&[("skills/review/SKILL.md", &item("review", text))]);
    run(&project, &["add", "acme/guidance", "review"]);
    let skills: Vec<String> =
        names(&project).into_iter().filter(|name| name.ends_with("SKILL.md")).collect();
    assert_eq!(skills, [".claude/skills/review/SKILL.md", ".github/skills/review/SKILL.md"]);
    let before = files(&project.path());
    run(&project, &["sync", "--frozen"]);
    assert_eq!(files(&project.path()), before, "two texts are not two copies");
}

/// U37: what was installed when each client got its own copy stays as it is, byte for byte, on every
/// machine, until the project chooses a layout; then copies go, and no client loses a skill.
#[test]
fn an_older_installation_is_kept() {
    let project = consumer().with_file("brief.toml", "[install]\nlayout = \"separate\"\n");
    let project = added(project);
    // As an older version has written it.
    let older = project.read("brief.toml").replace("[install]\nlayout = \"separate\"\n\n", "");
    project.write("brief.toml", &older);
    let before = files(&project.path());
    for args in [&["sync", "--frozen"][..], &["sync", "--check"], &["update"], &["sync"]] {
        run(&project, args);
        assert_eq!(files(&project.path()), before, "{args:?}");
    }
    fs::remove_dir_all(project.path().join(".brief")).unwrap();
    run(&project, &["sync", "--frozen"]);
    assert_eq!(files(&project.path()), before, "on another machine");

    project.write("brief.toml", format!("[install]\nlayout = \"shared\"\n\n{older}"));
    let output = run(&project, &["sync"]);
    assert!(summary(&output).ends_with("5 removed"), "{output}");
    assert!(project.path().join(".claude/skills/review/SKILL.md").is_file());
}

/// The user's own places are told by the home directory.
#[test]
fn clients_of_a_user_are_found_at_home() {
    let project = consumer();
    guidance(&project);
    fs::create_dir_all(project.home().join(".copilot")).unwrap();
    run(&project, &["add", "--global", "acme/guidance", "money"]);
    assert!(project.home().join(".copilot/instructions/money.instructions.md").is_file());
    assert!(!project.home().join(".claude").exists());
}
