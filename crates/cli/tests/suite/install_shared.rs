//! Files that belong to the user and in which something of ours has to stand: `opencode.json`,
//! `CLAUDE.md`, `.mcp.json`.

use brief_testkit::Sandbox;

use crate::install::{consumer, files, guidance, run, summary};

const RULES: &str = "\".agents/rules/**/RULE.md\"";

fn installed(project: Sandbox) -> Sandbox {
    guidance(&project);
    run(&project, &["add", "acme/guidance", "money"]);
    project
}

/// R37: opencode reads rules because its file says so; a new one has the address of its schema.
#[test]
fn opencode_is_told_where_rules_are() {
    let project = installed(consumer());
    let json: serde_json::Value = serde_json::from_str(&project.read("opencode.json")).unwrap();
    assert_eq!(json["$schema"], "https://opencode.ai/config.json");
    assert_eq!(json["instructions"], serde_json::json!([".agents/rules/**/RULE.md"]));
    run(&project, &["remove", "money"]);
    assert!(!project.path().join("opencode.json").exists(), "we made it, and need it no more");
}

/// A file of the user keeps every byte that is not ours, comments too, before and after.
#[test]
fn a_file_of_the_user_is_given_back_as_it_was() {
    let mine =
        "{\n  // my theme\n  \"theme\": \"dark\",\n  \"instructions\": [\"docs/*.md\"],\n}\n";
    let project = consumer()
        .with_file("opencode.jsonc", mine)
        .with_file("AGENTS.md", "# Agents\n")
        .with_file("CLAUDE.md", "# Mine\r\n\r\nText without an end");
    let before = files(&project.path());
    let project = installed(project);
    let text = project.read("opencode.jsonc");
    assert!(text.contains("// my theme") && text.contains(RULES), "{text}");
    assert!(text.contains("\"docs/*.md\""), "{text}");
    assert!(!project.path().join("opencode.json").exists(), "the spelling that is there is used");
    run(&project, &["remove", "guidance"]);
    assert_eq!(files(&project.path()), before);
}

/// Claude Code gets `AGENTS.md` through an import between markers, once, and only if the user has not written
/// one.
#[test]
fn claude_md_leads_to_agents_md() {
    let project =
        consumer().with_file("AGENTS.md", "# Agents\n").with_file("CLAUDE.md", "# Mine\n");
    let project = installed(project);
    let bridged = "# Mine\n\n<!-- brief:import -->\n@AGENTS.md\n<!-- /brief:import -->\n";
    assert_eq!(project.read("CLAUDE.md"), bridged);
    run(&project, &["sync"]);
    assert_eq!(project.read("CLAUDE.md"), bridged);

    let own = "Read @AGENTS.md first.\n";
    let project = consumer().with_file("AGENTS.md", "# Agents\n").with_file("CLAUDE.md", own);
    assert_eq!(installed(project).read("CLAUDE.md"), own);

    let project = consumer().with_file("AGENTS.md", "# Agents\n");
    let project = project.with_link("CLAUDE.md", "AGENTS.md");
    assert_eq!(installed(project).read("AGENTS.md"), "# Agents\n", "a link says it already");

    let project = consumer();
    assert!(!installed(project).path().join("CLAUDE.md").exists(), "nothing to lead to");
}

/// `[install]` turns that off.
#[test]
fn shared_files_can_be_left_alone() {
    let settings = "[install]\nopencode-json = \"leave\"\nclaude-md = \"leave\"\n";
    let project = consumer().with_file("AGENTS.md", "# Agents\n").with_file("brief.toml", settings);
    let project = installed(project);
    assert!(!project.path().join("opencode.json").exists());
    assert!(!project.path().join("CLAUDE.md").exists());
}

const SERVER: &str = "[mcp.files]\ncommand = \"npx\"\nargs = [\"files\"]\n";
const OWN: &str = "{\n  \"mcpServers\": {\n    \"own\": {\"command\": \"own\"}\n  }\n}\n";

/// Servers of brief.toml stand in the files of the clients, by key, beside those of the user; without any
/// source, too.
#[test]
fn servers_are_merged_by_key() {
    let project = consumer().with_file("brief.toml", SERVER).with_file(".mcp.json", OWN);
    run(&project, &["sync"]);
    let json: serde_json::Value = serde_json::from_str(&project.read(".mcp.json")).unwrap();
    assert_eq!(json["mcpServers"]["own"]["command"], "own");
    assert_eq!(json["mcpServers"]["files"]["command"], "npx");
    assert!(project.read("opencode.json").contains("\"files\""));
    let again = run(&project, &["sync", "--frozen"]);
    assert!(summary(&again).contains("already up to date"), "{again}");
    project.write("brief.toml", "[install]\nclients = [\"claude\"]\n");
    run(&project, &["sync"]);
    assert_eq!(project.read(".mcp.json"), OWN, "and are taken out again");
    assert!(!project.path().join("opencode.json").exists());
}

/// A server that the user has written or changed stays, and is named; `--force` replaces it with a copy.
#[test]
fn a_server_of_the_user_is_kept() {
    for own in ["{\"mcpServers\": {\"files\": {\"command\": \"mine\"}}}\n", ""] {
        let project = consumer().with_file("brief.toml", SERVER);
        if own.is_empty() {
            run(&project, &["sync"]);
            let text = project.read(".mcp.json");
            project.write(".mcp.json", text.replace("npx", "mine"));
        } else {
            project.write(".mcp.json", own);
        }
        let before = project.read(".mcp.json");
        let output = run(&project, &["sync"]);
        let why = if own.is_empty() { "was changed by hand" } else { "was not written by `brief`" };
        let words = format!("brief keeps `mcpServers.files`: {why}");
        assert!(output.stdout.contains(&words), "{output}");
        assert!(summary(&output).ends_with("1 kept"), "{output}");
        assert_eq!(project.read(".mcp.json"), before);
        let output = run(&project, &["sync", "--force", ".mcp.json"]);
        assert!(output.stderr.contains("the backup is .brief/backups/.mcp.json"), "{output}");
        assert_eq!(project.read(".brief/backups/.mcp.json"), before);
        assert!(project.read(".mcp.json").contains("npx"));
    }
}

/// A file that cannot be understood is left alone, and what it lacks is named.
#[test]
fn a_file_that_is_not_json_is_left_alone() {
    let project = consumer().with_file("opencode.json", "not json\n");
    let project = installed(project);
    let output = run(&project, &["sync"]);
    assert!(output.stdout.contains("warning[item/shared-file]: is not JSON"), "{output}");
    assert!(
        output.stdout.contains("did not add instructions[.agents/rules/**/RULE.md]"),
        "{output}"
    );
    assert_eq!(project.read("opencode.json"), "not json\n");
}

/// Our entries in a shared file are still known when the lock was lost, and when it came from
/// a colleague who needs it no more.
#[test]
fn our_entries_are_known_without_the_lock() {
    let project = consumer().with_file("opencode.json", "{\n  \"theme\": \"dark\"\n}\n");
    let project = installed(project);
    let lock = project.read("brief.lock");
    std::fs::remove_file(project.path().join("brief.lock")).unwrap();
    run(&project, &["sync"]);
    assert_eq!(project.read("brief.lock"), lock);
    std::fs::remove_file(project.path().join("brief.lock")).unwrap();
    project.write("brief.toml", "");
    run(&project, &["sync"]);
    assert_eq!(project.read("opencode.json"), "{\n  \"theme\": \"dark\"\n}\n");
}
