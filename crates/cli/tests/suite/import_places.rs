//! The places that `brief import` writes to, the files that it names, and the fate of another tool's outputs.

use std::fs;
use std::os::unix::fs::symlink;

use brief_testkit::Sandbox;
use serde_json::Value;

use crate::import::{json, names, texts};
use crate::install::{files, item, run};
use crate::project;

const API: &str = "---\npaths: [src/**]\n---\nValidate.\n";
const SKILL: &str = "---\nname: ship\ndescription: Ships it\n---\nShip.\n";

fn target(project: &Sandbox) -> String {
    json(project, &["import", "--dry-run"])["to"].as_str().unwrap().to_owned()
}

fn skipped(report: &Value) -> Vec<(&str, &str)> {
    let all = report["skipped"].as_array().unwrap().iter();
    all.map(|one| (one["path"].as_str().unwrap(), one["reason"].as_str().unwrap())).collect()
}

/// R01: a skill of the product, a fixture, an ignored directory, an example and a directory that is something else are no
/// registry.
#[test]
fn items_are_written_where_a_person_would_put_them() {
    let own = || project().with_file(".claude/rules/api.md", API);
    let rule = item("old", "Old.");
    for (files, expected) in [
        (&[("packages/app/test/fixture/skills/a/SKILL.md", SKILL)][..], "guidance"),
        (&[("packages/server/skills/a/SKILL.md", SKILL)], "guidance"),
        (
            &[("src/core/skills/a/SKILL.md", SKILL), ("src/core/skills/b/SKILL.md", SKILL)],
            "guidance",
        ),
        (&[("tests/data/rules/old/RULE.md", &rule)], "guidance"),
        (&[("examples/shop/rules/old/RULE.md", &rule)], "guidance"),
        (&[(".gitignore", "kept/\n"), ("kept/rules/old/RULE.md", &rule)], "guidance"),
        // The items are committed, and a new one would not be.
        (&[("kept/.gitignore", "/skills/\n"), ("kept/rules/old/RULE.md", &rule)], "guidance"),
        (&[(".gitignore", "/guidance/\n")], "agent-guidance"),
        (&[("guidance/model.py", "class Guidance: ...\n")], "agent-guidance"),
        (&[("guidance/skills/a/SKILL.md", SKILL)], "guidance"),
        (&[("ai/rules/old/RULE.md", &rule)], "ai"),
        (&[("rules/old/RULE.md", &rule)], "."),
        (
            &[
                ("ai/rules/old/RULE.md", &rule),
                ("brief.toml", "[sources.own]\ndirectory = \"./shared\"\nall = true\n"),
                ("shared/skills/a/SKILL.md", SKILL),
            ],
            "shared",
        ),
    ] {
        let project =
            files.iter().fold(own(), |project, (path, text)| project.with_file(path, text));
        assert_eq!(target(&project), expected, "{files:?}");
    }
    // The top of the project has a name in the report.
    let project = own().with_file("rules/old/RULE.md", &rule);
    let output = run(&project, &["import", "--dry-run"]);
    assert!(output.stderr.contains("1 new item would be written to . from 1 file"), "{output}");
    // An ignored directory that the user names is written, with a warning.
    let project = own().with_file(".gitignore", "mine/\n");
    let output = run(&project, &["import", "--to", "mine"]);
    assert!(output.stderr.contains("version control ignores `mine`"), "{output}");
}

/// R02: what clients read by a link is imported, and nothing is written where a client would read it.
#[test]
fn linked_directories_are_imported_and_stay_free() {
    let project = project()
        .with_file("agents/rules/api.md", API)
        .with_file("agents/rules/old/RULE.md", item("old", "Old."))
        .with_file("agents/skills/ship/SKILL.md", SKILL)
        .with_file("AGENTS.md", "Be brief.\n");
    fs::create_dir(project.path().join(".claude")).unwrap();
    symlink("../agents/rules", project.path().join(".claude/rules")).unwrap();
    symlink("../agents/skills", project.path().join(".claude/skills")).unwrap();
    let tokens = |project: &Sandbox| {
        let rows = project.run(&["tokens", "src/a.rs", "--client", "claude", "--json"]).json();
        rows.to_string()
    };
    let before = tokens(&project);
    let report = json(&project, &["import"]);
    assert_eq!(report["to"], "guidance");
    assert_eq!(names(&report), ["rule/agents", "rule/api", "rule/rule", "skill/ship"]);
    assert_eq!(texts(&report["items"][1]["from"]), [".claude/rules/api.md"]);
    assert!(project.path().join("guidance/rules/api/RULE.md").is_file());
    // Claude Code gets what it got: nothing that was written is one of its files.
    assert_eq!(tokens(&project), before);
    let named = json(&project, &["import", ".claude/rules", "--dry-run"]);
    assert_eq!(names(&named), ["rule/api", "rule/rule"], "{named:#}");
}

/// R14: links to files are followed, however many, and the report says nothing that is not so.
#[test]
fn links_to_commands_are_imported() {
    let project = project()
        .with_file(".mine/commands/fix.md", "Fix it.\n")
        .with_file(".mine/commands/ship.md", "Ship it.\n");
    for directory in [".claude/commands", ".opencode/commands"] {
        fs::create_dir_all(project.path().join(directory)).unwrap();
        for name in ["fix.md", "ship.md"] {
            let link = project.path().join(directory).join(name);
            symlink(format!("../../.mine/commands/{name}"), link).unwrap();
        }
    }
    let report = json(&project, &["import"]);
    assert_eq!(names(&report), ["command/fix", "command/ship"]);
    let from = [".claude/commands/fix.md", ".opencode/commands/fix.md"];
    assert_eq!(texts(&report["items"][0]["from"]), from);
    assert_eq!(skipped(&report), []);
}

/// A project of rulesync as its users have it: sources, outputs, and a file by hand.
fn of_rulesync() -> Sandbox {
    project()
        .with_file("rulesync.jsonc", "{\"targets\": [\"claudecode\", \"cursor\"]}\n")
        .with_file(
            ".rulesync/rules/overview.md",
            "---\nroot: true\ntargets: ['*']\n---\n# Shop\n\nBe brief.\n",
        )
        .with_file(
            ".rulesync/rules/api.md",
            "---\ntargets: ['*']\nglobs: ['src/**']\n---\nValidate.\n",
        )
        .with_file(".rulesync/commands/deploy.md", "---\ntargets: ['*']\n---\nDeploy.\n")
        .with_file(
            ".rulesync/subagents/planner.md",
            "---\nname: planner\ntargets: ['*']\ndescription: Plans\n---\nPlan.\n",
        )
        .with_file(".rulesync/skills/ship/SKILL.md", SKILL)
        .with_file("CLAUDE.md", "# Shop\n\nBe brief.\n")
        .with_file(".claude/rules/api.md", "---\npaths:\n  - src/**\n---\nValidate.\n")
        .with_file(".claude/commands/deploy.md", "Deploy.\n")
        .with_file(
            ".claude/agents/planner.md",
            "---\nname: planner\ndescription: Plans\n---\nPlan.\n",
        )
        .with_file(".claude/skills/ship/SKILL.md", SKILL)
        .with_file(
            ".cursor/rules/overview.mdc",
            "---\nalwaysApply: true\n---\n# Shop\n\nBe brief.\n",
        )
        .with_file(".cursor/rules/api.mdc", "---\nglobs: src/**\n---\nValidate.\n")
}

/// N23: five sources are five items; their outputs are adopted, and what is left of the tool is named.
#[test]
fn outputs_of_rulesync_are_adopted() {
    let project = of_rulesync();
    let report = json(&project, &["import"]);
    let five = ["rule/api", "rule/overview", "skill/ship", "agent/planner", "command/deploy"];
    assert_eq!(names(&report), five, "{report:#}");
    assert_eq!(skipped(&report).len(), 7, "{report:#}");
    assert!(skipped(&report).iter().all(|(_, reason)| reason.contains("rulesync")));
    let manifest = project.read("brief.toml");
    assert!(manifest.contains("clients = [\"claude\", \"cursor\"]"), "{manifest}");

    let output = run(&project, &["add", "./guidance"]);
    assert!(output.stderr.contains("5 items: "), "{output}");
    let warning = "warning: clients also read `CLAUDE.md`, written by rulesync";
    assert!(output.stderr.contains(warning), "{output}");
    assert!(output.stderr.contains("hint: run `rm -r CLAUDE.md` to remove it"), "{output}");
    assert_eq!(output.stderr.matches("warning: ").count(), 1, "{output}");
    let lock = project.read("brief.lock");
    for path in [".claude/rules/api.md", ".claude/rules/overview.md", ".cursor/rules/api.mdc"] {
        assert!(lock.contains(path), "{path} {lock}");
    }
    fs::remove_file(project.path().join("CLAUDE.md")).unwrap();
    // Each text once, for each client.
    for directory in [".claude", ".cursor"] {
        let all = files(&project.path().join(directory));
        for text in ["Be brief.", "Validate."] {
            let count = all.values().filter(|content| content.contains(text)).count();
            assert_eq!(count, 1, "{directory} {text} {all:#?}");
        }
    }
    // Again, nothing is adopted or named.
    let output = run(&project, &["add", "./guidance"]);
    assert!(!output.stderr.contains("warning"), "{output}");
    assert_eq!(names(&json(&project, &["import", "--dry-run"])), five);
    // The files of before come back.
    run(&project, &["remove", "--all"]);
    assert_eq!(project.read(".cursor/rules/api.mdc"), "---\nglobs: src/**\n---\nValidate.\n");
}

/// N24: `default_agents` are the clients, and the entry that ruler wrote into `.mcp.json` is taken over.
#[test]
fn outputs_of_ruler_are_adopted() {
    let project = project()
        .with_file(".ruler/style.md", "# Style\n\nUse tabs.\n")
        .with_file(
            ".ruler/ruler.toml",
            "default_agents = [\"claude\", \"cursor\"]\n[mcp_servers.db]\ncommand = \"db-server\"\n",
        )
        .with_file("CLAUDE.md", "<!-- Source: .ruler/style.md -->\n\n# Style\n\nUse tabs.\n")
        .with_file(".mcp.json", "{\"mcpServers\": {\"db\": {\"command\": \"db-server\"}}}\n");
    let report = json(&project, &["import"]);
    assert_eq!(names(&report), ["rule/style"], "{report:#}");
    let manifest = project.read("brief.toml");
    assert!(manifest.contains("clients = [\"claude\", \"cursor\"]"), "{manifest}");
    assert!(manifest.contains("[mcp.db]"), "{manifest}");
    let output = run(&project, &["add", "./guidance"]);
    assert!(output.stderr.contains("`CLAUDE.md`, written by ruler"), "{output}");
    assert!(!output.stderr.contains("`db`"), "{output}");
    assert!(project.read(".mcp.json").contains("db-server"));
}

/// R02, R14: a `CLAUDE.md` that only imports the file beside it is the same text, as a link is: no item holds an import that
/// leads nowhere from where it is written.
#[test]
fn a_file_that_only_imports_another_is_the_same_text() {
    let project = project()
        .with_file("AGENTS.md", "# Rules\n\nUse tabs.\n")
        .with_file("CLAUDE.md", "@AGENTS.md\n")
        .with_file("web/AGENTS.md", "Web rules are stricter.\n")
        .with_file("web/CLAUDE.md", "@./AGENTS.md\n");
    let report = project.run(&["import", "--json"]).json();
    let items = report["items"].as_array().unwrap();
    let originals: Vec<&Value> = items.iter().map(|item| &item["from"]).collect();
    assert_eq!(
        originals,
        [
            &serde_json::json!(["AGENTS.md", "CLAUDE.md"]),
            &serde_json::json!(["web/AGENTS.md", "web/CLAUDE.md"])
        ],
        "{report}"
    );
    let text = project.read("guidance/rules/agents/RULE.md");
    assert!(text.contains("Use tabs.") && !text.contains('@'), "{text}");
    let doctor = project.run(&["doctor"]);
    assert!(!doctor.stdout.contains("CLAUDE.md"), "{doctor}");
    // Beside other words, the import of what is an item itself is left out, and another one is named.
    let project = crate::project()
        .with_file("AGENTS.md", "# Rules\n\nUse tabs.\n")
        .with_file("docs/style.md", "Style.\n")
        .with_file("CLAUDE.md", "@AGENTS.md\n\nPlan first. See @docs/style.md.\n");
    let output = project.run(&["import"]);
    let text = project.read("guidance/rules/claude/RULE.md");
    assert!(text.contains("Plan first.") && !text.contains("@AGENTS.md"), "{text}");
    let note = "`@docs/style.md` is relative to the directory of the file";
    assert!(output.stdout.contains(note), "{output}");
}
