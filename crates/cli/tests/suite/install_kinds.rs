//! Files of collections whose names could mean something else: topics that are also pages, recipes among other YAML.

use serde_json::json;

use crate::install::{Remote, consumer, run};
use crate::install_collections::{REVIEWER, available, names};

/// A name of a page can be the topic of an item: in the directory of a kind, written in small letters, it is one like others.
#[test]
fn a_topic_is_no_page() {
    let project = consumer();
    let remote = Remote::new(&project, "github/acme/topics");
    let note = "# A page\n";
    remote.commit(&[
        ("agents/reviewer.md", REVIEWER),
        (
            "agents/security.md",
            "---\nname: security\ndescription: Audits\nmodel: opus\n---\nYou audit.\n",
        ),
        ("agents/index.md", note),
        ("commands/todo.md", "---\ndescription: Todos\nallowed-tools: Read\n---\nKeep todos.\n"),
        ("commands/CHANGELOG.md", note),
        ("rules/agents.md", "# Agents\n\nUse one for one thing.\n"),
        ("rules/AGENTS.md", note),
        ("notes/todo.md", "---\ndescription: Todos\nallowed-tools: Read\n---\nA note.\n"),
        ("docs/commands/security.md", "---\ndescription: S\nallowed-tools: Read\n---\nA page.\n"),
    ]);
    let json = available(&project, "acme/topics");
    assert_eq!(
        names(&json),
        ["rule/agents", "agent/code-reviewer", "agent/security", "command/todo"]
    );
}

/// Recipes of Goose are commands. The servers that one starts and the commands that it runs are told.
#[test]
fn recipes_are_commands() {
    let project = consumer();
    let remote = Remote::new(&project, "github/acme/recipes");
    let recipe = "version: 1.0.0\ntitle: Release Notes\ndescription: Writes notes\nextensions:\n  - type: stdio\n    name: jira\n    \
                  cmd: uvx\n    args: [jira-mcp]\nretry:\n  max_retries: 3\n  checks:\n    - type: shell\n      command: make check\n\
                  prompt: Write the notes for {{ tag }}.\nparameters:\n  - key: tag\n    input_type: string\n    requirement: required\n    description: t\n";
    remote.commit(&[
        ("recipes/release-notes.yaml", recipe),
        ("recipes/values.yaml", "title: x\nreplicas: 3\n"),
        ("recipes/role.yaml", "title: x\ndescription: y\ninstructions: You are.\n"),
        ("deploy/job.yaml", recipe),
    ]);
    let json = available(&project, "acme/recipes");
    assert_eq!(names(&json), ["command/release-notes"]);
    assert_eq!(json["items"][0]["written_for"], "goose");
    let reason = "is a recipe without a prompt, which every command needs";
    assert_eq!(json["skipped"], json!([{"path": "recipes/role.yaml", "reason": reason}]));
    let clients = ["--client", "goose", "--client", "claude"];
    let added = run(&project, &[&["add", "acme/recipes", "--json"], &clients[..]].concat()).json();
    assert_eq!(project.read(".goose/recipes/release-notes.yaml"), recipe);
    let command = project.read(".claude/commands/release-notes.md");
    assert!(command.ends_with("\nWrite the notes for $ARGUMENTS[0]."), "{command}");
    let told = added.to_string();
    assert!(told.contains("mcp-servers jira: uvx jira-mcp"), "{told}");
    assert!(told.contains("commands checks: make check"), "{told}");
}
