//! Import of what several clients, or lists of one, have in common: one item, or the reason why there are more.

use serde_json::Value;

use crate::import::{json, names, texts};
use crate::project;

/// Returns the notes of all items.
fn notes(report: &Value) -> String {
    let items = report["items"].as_array().unwrap().iter();
    let notes = items.flat_map(|item| item["notes"].as_array().unwrap());
    notes.map(|note| note["message"].as_str().unwrap()).collect::<Vec<&str>>().join("\n")
}

/// `src/**` is at any depth for Claude Code and at the root for Cursor. One item, if no file of the project tells them
/// apart; two with the reason, if one does.
#[test]
fn one_rule_of_two_clients_is_one_item_where_the_same_files_are_meant() {
    let money = || {
        project()
            .with_file(".claude/rules/money.md", "---\npaths:\n  - src/**\n---\n\nCents.\n")
            .with_file(".cursor/rules/money.mdc", "---\nglobs: src/**\n---\n\nCents.\n")
            .with_file("src/pay.ts", "export {};\n")
    };
    let project = money();
    let report = json(&project, &["import"]);
    assert_eq!(names(&report), ["rule/money"], "{report:#}");
    let rule = project.read("guidance/rules/money/RULE.md");
    assert!(rule.contains("  paths:\n    - src/**\n"), "{rule}");
    let built = project
        .run(&["registry", "build", "--out", "out", "--client", "claude", "--client", "cursor"]);
    assert_eq!(built.code, Some(0), "{built}");
    assert!(project.read("out/.claude/rules/money.md").contains("  - /src/**\n"));
    assert!(project.read("out/.cursor/rules/money.mdc").contains("globs: src/**\n"));

    let project = money().with_file("packages/a/src/x.ts", "export {};\n");
    let report = json(&project, &["import"]);
    assert_eq!(names(&report), ["rule/cursor-money", "rule/money"], "{report:#}");
    let notes = notes(&report);
    let reason = "repeats much of `.claude/rules/money.md`, but is a separate item: `.claude/rules/money.md` applies to \
                  `packages/a/src/x.ts`, `.cursor/rules/money.mdc` does not";
    assert!(notes.contains(reason), "{notes}");
    // Other words for the same files.
    let project = crate::project()
        .with_file(".claude/rules/a.md", "---\npaths: src/api/*.ts\n---\nCents.\n")
        .with_file(".cursor/rules/a.mdc", "---\nglobs: src/**\n---\nCents.\n")
        .with_file("src/api/pay.ts", "export {};\n");
    assert_eq!(names(&json(&project, &["import"])), ["rule/a"]);
}

/// A client that cannot say a scope or tools has no other item for that; one that can say them has.
#[test]
fn scopes_and_tools_keep_items_apart_only_where_a_client_has_them() {
    let project = project()
        .with_file(".cursor/rules/api.mdc", "---\nglobs: src/**\n---\n\nCents.\n")
        .with_file(".roo/rules/api.md", "Cents.\n")
        .with_file(
            ".github/instructions/db.instructions.md",
            "---\napplyTo: \"db/**\"\n---\nTables.\n",
        )
        .with_file(".claude/rules/db.md", "Tables.\n")
        .with_file(
            ".claude/agents/judge.md",
            "---\nname: judge\ndescription: d\ntools: Read, Grep\n---\nYou judge.\n",
        )
        .with_file(".cursor/agents/judge.md", "---\nname: judge\ndescription: d\n---\nYou judge.\n")
        .with_file(
            ".claude/agents/writer.md",
            "---\nname: writer\ndescription: d\ntools: Read\n---\nYou write.\n",
        )
        .with_file(
            ".github/agents/writer.agent.md",
            "---\nname: writer\ndescription: d\n---\nYou write.\n",
        );
    let report = json(&project, &["import"]);
    assert_eq!(
        names(&report),
        [
            "rule/api",
            "rule/copilot-db",
            "rule/db",
            "agent/copilot-writer",
            "agent/judge",
            "agent/writer"
        ],
        "{report:#}"
    );
    let notes = notes(&report);
    assert!(notes.contains("one applies to all files, the other to some"), "{notes}");
    assert!(notes.contains("their tools differ: `read` and all"), "{notes}");
    let built = project.run(&[
        "registry", "build", "--out", "out", "--client", "roo", "--client", "cursor", "--client",
        "claude",
    ]);
    assert_eq!(built.code, Some(0), "{built}");
    assert_eq!(project.read("out/.roo/rules/api.md").trim(), "Cents.");
    assert!(project.read("out/.claude/agents/judge.md").contains("tools: Read, Grep\n"));
    assert!(!project.read("out/.cursor/agents/judge.md").contains("tools"));
}

/// Modes of Roo Code are agents of the other clients, and servers of rulesync and ruler are declared.
#[test]
fn agents_of_a_list_and_servers_of_other_tools_are_imported() {
    let modes = "customModes:\n  - slug: docs\n    name: Docs\n    roleDefinition: You write docs.\n    groups: [read, edit, command]\n";
    let project = project()
        .with_file(".roomodes", modes)
        .with_file(".roo/rules-code/style.md", "Be brief.\n")
        .with_file(
            ".rulesync/mcp.json",
            r#"{"mcpServers": {"docs": {"command": "npx", "args": ["docs"]}}}"#,
        )
        .with_file(".ruler/ruler.toml", "[mcp_servers.git]\ncommand = \"uvx\"\n");
    let report = json(&project, &["import"]);
    assert_eq!(names(&report), ["agent/docs"], "{report:#}");
    assert_eq!(texts(&report["items"][0]["from"]), [".roomodes"]);
    let skipped = report["skipped"].as_array().unwrap().iter();
    let skipped: Vec<&str> = skipped.map(|own| own["path"].as_str().unwrap()).collect();
    assert_eq!(skipped, [".roo/rules-code/style.md"]);
    let manifest = project.read("brief.toml");
    assert!(manifest.contains("[mcp.docs]") && manifest.contains("[mcp.git]"), "{manifest}");
    assert!(!manifest.contains("clients = []"), "{manifest}");
    let built = project.run(&[
        "registry", "build", "guidance", "--out", "out", "--client", "roo", "--client", "claude",
    ]);
    assert_eq!(built.code, Some(0), "{built}");
    assert_eq!(project.read("out/.roo/rules-docs/AGENT.md").trim(), "You write docs.");
    // A list that is broken is named.
    let project = crate::project().with_file(".roomodes", "customModes: 5\n");
    let output = project.run(&["import"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("skipped `.roomodes`: has no `customModes` list"), "{output}");
}

/// Scopes that contradict each other come back as they were, and names that some disk takes for one are told apart.
#[test]
fn contradictions_come_back_and_names_are_told_apart() {
    let files = [
        (".cursor/rules/both.mdc", "---\nalwaysApply: true\nglobs: src/**\n---\nBoth.\n"),
        (".claude/rules/words.md", "---\nglobs: b/**\npaths:\n  - a/**\n---\nTwo words.\n"),
        (
            ".github/instructions/two.instructions.md",
            "---\napplyTo: \"a/**\"\nglobs: b/**\n---\nTwo.\n",
        ),
    ];
    let mut project = project()
        .with_file(".claude/skills/Ship/SKILL.md", "---\nname: ship\ndescription: d\n---\nA\n")
        .with_file(".agents/skills/ship/SKILL.md", "---\nname: SHIP\ndescription: d\n---\nB\n")
        .with_file(".claude/agents/C# Expert.md", "---\nname: x\ndescription: d\n---\nOne\n")
        .with_file(".claude/agents/csharp-expert.md", "---\nname: y\ndescription: d\n---\nTwo\n");
    for (path, text) in files {
        project = project.with_file(path, text);
    }
    let report = json(&project, &["import"]);
    assert_eq!(report["skipped"].as_array().unwrap().len(), 0, "{report:#}");
    let mut lower: Vec<String> = names(&report).iter().map(|name| name.to_lowercase()).collect();
    assert_eq!(lower.len(), 7, "{report:#}");
    lower.dedup();
    assert_eq!(lower.len(), 7, "{report:#}");
    let built = ["claude", "cursor", "copilot"].iter().flat_map(|client| ["--client", client]);
    let args: Vec<&str> =
        ["registry", "build", "guidance", "--out", "out"].into_iter().chain(built).collect();
    let built = project.run(&args);
    assert_eq!(built.code, Some(0), "{built}");
    for (path, text) in files {
        let again = project.read(&format!("out/{path}"));
        let lines = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(|line| line.replace('"', "")).collect();
            lines.sort_unstable();
            lines
        };
        assert_eq!(lines(&again), lines(text), "{path}");
    }
}

/// Skills of one name that differ are each for the clients that read them; no client gets two for one.
#[test]
fn skills_that_differ_between_clients_stay_with_them() {
    let skill = |text: &str| format!("---\nname: ui\ndescription: Design the UI.\n---\n{text}\n");
    let differing = project()
        .with_file(".claude/skills/ui/SKILL.md", skill("For claude."))
        .with_file(".codex/skills/ui/SKILL.md", skill("For codex."));
    let report = json(&differing, &["import"]);
    assert_eq!(names(&report), ["skill/codex-ui", "skill/ui"], "{report:#}");
    let own = differing.read("guidance/skills/codex-ui/SKILL.md");
    assert!(own.contains("name: codex-ui\n") && own.contains("audience: [codex]\n"), "{own}");
    let built = differing
        .run(&["registry", "build", "--out", "out", "--client", "claude", "--client", "codex"]);
    assert_eq!(built.code, Some(0), "{built}");
    assert!(differing.read("out/.claude/skills/ui/SKILL.md").contains("For claude."));
    assert!(!differing.path().join("out/.claude/skills/codex-ui").exists(), "claude has one skill");
    // In a directory that several clients read, it is for all of them.
    let shared = project()
        .with_file(".claude/skills/ui/SKILL.md", skill("For claude."))
        .with_file(".agents/skills/ui/SKILL.md", skill("For others."));
    let report = json(&shared, &["import"]);
    assert!(
        report["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|item| item["clients"] == serde_json::json!([])),
        "{report:#}"
    );
}

/// What lies where a client may have guidance, and has none that is known, is named.
#[test]
fn guidance_of_unknown_places_is_named() {
    let project = project()
        .with_file("AGENTS.md", "Rules.\n")
        .with_file(".continue/agents/review.md", "Review.\n")
        .with_file(".continue/checks/style.md", "Style.\n")
        .with_file(".continue/prompts/x.prompt", "X\n");
    let report = json(&project, &["import"]).to_string();
    for path in
        [".continue/agents/review.md", ".continue/checks/style.md", ".continue/prompts/x.prompt"]
    {
        assert!(report.contains(path), "{path} {report}");
    }
}
