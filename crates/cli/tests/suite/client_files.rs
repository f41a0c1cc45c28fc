//! Clients' own files: settings, hooks, MCP servers, agents, skills, commands, plugins.
//!
//! Expected values come from the clients themselves: each wrong file was refused, dropped or ignored by the client of that
//! version, and each right one was taken (`cargo xtask oracles`).

use std::path::Path;
use std::sync::Arc;

use brief_checks::lint::Lint;
use brief_engine::Project;
use brief_system::Buffers;
use brief_testkit::{RealSystem, Sandbox};

use crate::project;

/// Returns the findings about clients' files, as `severity code path:line`.
fn findings(project: &Sandbox) -> Vec<String> {
    let json = project.run(&["lint", "--format", "json"]).json();
    let found = json["diagnostics"].as_array().unwrap().iter().map(|found| {
        let text = |key: &str| found[key].as_str().unwrap();
        let place = format!("{}:{}", text("path"), found["line"]);
        format!("{} {} {place}", text("severity"), text("code"))
    });
    found.collect()
}

/// Returns the codes of the errors and warnings about one file with this text.
fn codes(path: &str, text: &str) -> Vec<String> {
    let found = findings(&project().with_file(path, text));
    let prefix = format!(" {path}");
    assert!(found.iter().all(|one| one.contains(&prefix)), "{path}: {found:?}");
    found.iter().map(|one| one.split(&prefix).next().unwrap().to_owned()).collect()
}

/// The project of the field report: one mistake in each of its files, and each is found at its place.
fn broken() -> Sandbox {
    project()
        .with_file("src/a.ts", "")
        .with_file("CLAUDE.md", "See @docs/gone.md for the style.\n")
        .with_file(
            ".claude/skills/review/SKILL.md",
            "---\nname: Code Review\ndescription: Use when a change is ready\nmodel: sonet\n\
             allowed-tools: Raed, Grep\n---\nRead [the list](list.md).\n",
        )
        .with_file(".claude/agents/tester.md", "---\nname: tester\n---\nYou test.\n")
        .with_file(
            ".cursor/rules/ts.mdc",
            "---\ndescription: Types\nglobs: lib/**\nalwaysApply: \"false\"\n---\nNo `any`.\n",
        )
        .with_file(
            ".claude/settings.json",
            "{\n  \"hooks\": {\n    \"PreToolUze\": [\n      { \"hooks\": [{ \"type\": \"command\", \
             \"command\": \"./scripts/check.sh\" }] }\n    ]\n  }\n}\n",
        )
        .with_file(".mcp.json", "{\n  \"mcpServers\": {\n    \"docs\": { \"args\": [] }\n  }\n}\n")
        .with_file(".github/instructions/api.instructions.md", "---\napplyTo: 5\n---\nApi.\n")
}

#[test]
fn everything_in_the_broken_project_is_found() {
    let found = findings(&broken());
    for expected in [
        "warning client/import-missing CLAUDE.md:1",
        "warning client/skill-standard .claude/skills/review/SKILL.md:2",
        "warning client/unknown-model .claude/skills/review/SKILL.md:4",
        "warning client/unknown-tool .claude/skills/review/SKILL.md:5",
        "warning client/broken-link .claude/skills/review/SKILL.md:7",
        "warning client/agent-field-missing .claude/agents/tester.md:2",
        "warning client/unused-pattern .cursor/rules/ts.mdc:3",
        "warning client/wrong-type .cursor/rules/ts.mdc:4",
        "error client/unknown-event .claude/settings.json:3",
        "error client/missing-field .mcp.json:3",
        "warning client/wrong-type .github/instructions/api.instructions.md:2",
    ] {
        assert!(found.contains(&expected.to_owned()), "{expected}: {found:#?}");
    }
    assert_eq!(found.len(), 11, "{found:#?}");
}

/// "Fixes where there is exactly one right answer."
#[test]
fn what_has_one_right_answer_is_mended() {
    let project = broken();
    let mended = project.run(&["lint", "--fix"]);
    assert!(mended.stderr.contains(" fixed"), "{mended}");
    let settings = project.read(".claude/settings.json");
    assert!(settings.contains("\"PreToolUse\": ["), "{settings}");
    let skill = project.read(".claude/skills/review/SKILL.md");
    assert!(skill.contains("model: sonnet\nallowed-tools: Read, Grep\n"), "{skill}");
    let rule = project.read(".cursor/rules/ts.mdc");
    assert!(rule.contains("alwaysApply: false\n"), "{rule}");

    let text = "{\n  \"mcpServers\": {\n    \"docs\": {\n      \"url\": \"https://example.com\"\n    }\n  }\n}\n";
    let project = crate::project().with_file(".mcp.json", text);
    let mended = project.run(&["lint", "--fix"]);
    assert_eq!(mended.code, Some(0), "{mended}");
    let added =
        "    \"docs\": {\n      \"type\": \"http\",\n      \"url\": \"https://example.com\"\n";
    assert!(project.read(".mcp.json").contains(added), "{}", project.read(".mcp.json"));
}

/// A plugin that was put away, and one of those that the names are reserved for.
#[test]
fn what_is_put_away_or_the_makers_own_is_left_alone() {
    let plugin = |name: &str, author: &str| {
        format!("{{ \"name\": \"{name}\", \"author\": {{ \"name\": \"{author}\" }} }}\n")
    };
    let wrong = "{ \"name\": \"a\", \"commands\": [\"a.md\"] }\n";
    let project = project()
        .with_file("backups/2026/a/.claude-plugin/plugin.json", wrong)
        .with_file("plugins/a/.claude-plugin/plugin.json", plugin("claude-setup", "Anthropic"))
        .with_file("plugins/b/.claude-plugin/plugin.json", plugin("claude-setup", "A"));
    assert_eq!(findings(&project), [""; 0]);
    // The client takes a reserved name and warns.
    let pedantic = project.run(&["lint", "--pedantic"]).stdout;
    assert!(pedantic.contains("warning[client/reserved-name]"), "{pedantic}");
    assert!(pedantic.contains("plugins/b/.claude-plugin/plugin.json"), "{pedantic}");
}

/// Names with a prefix of their own in all skills are a decision, and one finding.
#[test]
fn a_habit_of_many_skills_is_one_finding() {
    let with_skills = |names: &[&str]| {
        names.iter().fold(project(), |project, name| {
            let text = format!(
                "---\nname: Shop {name}\ndescription: Use when {name} changes\n---\nText.\n"
            );
            project.with_file(&format!(".claude/skills/{name}/SKILL.md"), &text)
        })
    };
    let namespaced = project().with_file(
        ".claude/skills/cart/SKILL.md",
        "---\nname: shop:cart\ndescription: Use when the cart changes\n---\nText.\n",
    );
    assert_eq!(findings(&namespaced), [""; 0]);
    let few = findings(&with_skills(&["cart", "mail", "stock"]));
    assert_eq!(few.len(), 3, "{few:?}");
    let many = with_skills(&["cart", "mail", "stock", "tax"]);
    assert_eq!(findings(&many), ["warning client/skill-standard .claude/skills/cart/SKILL.md:2"]);
    assert!(
        many.run(&["lint"]).stdout.contains("; 3 more skills do the same"),
        "{}",
        many.run(&["lint"])
    );
}

/// A message names the client, its version and what it does.
#[test]
fn a_message_names_the_client() {
    let project = project().with_file(".claude/settings.json", "{ \"hooks\": { \"Stpo\": [] } }\n");
    insta::assert_snapshot!(project.run(&["lint"]), @r#"
    error[client/unknown-event]: unknown event `Stpo`: Claude Code 2.1.325 ignores it
     --> .claude/settings.json:1:14
      |
    1 | { "hooks": { "Stpo": [] } }
      |              ^^^^^^
      |
      = help: did you mean `Stop`?

    ------- stderr -------
    1 error in 1 file; 1 fixable with `--fix`
    [exit status: 1]
    [EOF]
    "#);
}

/// A key that may be new is left alone; a typing error of a known one is not.
#[test]
fn an_unknown_key_may_be_new() {
    let settings = ".claude/settings.json";
    assert_eq!(codes(settings, "{ \"somethingNew\": 1 }"), [""; 0]);
    assert_eq!(codes(settings, "{ \"permisions\": {} }"), ["warning client/unknown-key"]);
    assert_eq!(codes(".codex/config.toml", "something_new = 1\n"), [""; 0]);
    assert_eq!(codes(".codex/config.toml", "aproval_policy = 1\n"), ["warning client/unknown-key"]);
    // Both spellings: the one that is known counts.
    assert_eq!(codes(settings, "{ \"hook\": {}, \"hooks\": {} }"), [""; 0]);
}

/// A skill that waits to be installed is held to the standard: a slip of a field that it lacks is found.
#[test]
fn a_slip_in_a_skill_for_others_is_found() {
    let skill = |field: &str| {
        let text = format!(
            "---\n{field}: pdf\ndescription: Reads PDF files. Use it when a user names one.\n---\nRead.\n"
        );
        codes("skills/pdf/SKILL.md", &text)
    };
    assert_eq!(skill("nmae"), ["warning client/unknown-field"]);
    assert_eq!(skill("name"), [""; 0]);
}

/// Files as their clients take them.
#[test]
fn right_files_have_no_findings() {
    for (path, text) in [
        (
            ".claude/settings.json",
            r#"{ "$schema": "https://json.schemastore.org/claude-code-settings.json",
                "permissions": { "allow": ["Bash(git:*)", "mcp__docs", "Read(./src/**)", "WebFetch(domain:a.org)"],
                                 "deny": ["Read(.env)"], "defaultMode": "plan" },
                "env": { "A": "1" }, "model": "claude-opus-5-20260101",
                "hooks": { "PreToolUse": [{ "matcher": "Edit|Write", "hooks": [{ "type": "command", "command": "make x", "timeout": 5 }] }],
                           "SessionStart": [{ "hooks": [{ "type": "command", "command": "date" }] }] } }"#,
        ),
        (
            ".mcp.json",
            r#"{ "mcpServers": { "a": { "command": "a", "args": ["x"], "env": { "K": "${K}" } },
                                 "b": { "type": "http", "url": "https://b.org", "headers": { "X": "y" } } } }"#,
        ),
        (
            ".codex/config.toml",
            "model = \"gpt-5\"\napproval_policy = \"on-failure\"\nmodel_reasoning_effort = \"galactic\"\n\
             [mcp_servers.a]\ncommand = \"a\"\nstartup_timeout_sec = 1.5\n[mcp_servers.b]\nurl = \"https://b.org\"\n\
             [[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"x\"\n",
        ),
        (
            ".gemini/settings.json",
            "{ // Ours.\n \"mcpServers\": { \"a\": { \"command\": \"a\" } }, \"tools\": { \"core\": [] },\n\
             \"hooks\": { \"BeforeTool\": [{ \"matcher\": \"write_.*\", \"hooks\": [{ \"type\": \"command\", \"command\": \"x\" }] }] } }",
        ),
        (
            "opencode.jsonc",
            "{ // Ours.\n \"mcp\": { \"a\": { \"type\": \"local\", \"command\": [\"a\"] }, },\n \"share\": \"manual\",\n\
             \"permission\": { \"edit\": \"ask\", \"bash\": { \"git *\": \"allow\" } }, }",
        ),
        (
            ".github/hooks/a.json",
            r#"{ "version": 1, "hooks": { "preToolUse": [{ "type": "command", "bash": "make x", "timeoutSec": 5 }] } }"#,
        ),
        (
            ".github/mcp.json",
            r#"{ "mcpServers": { "a": { "type": "local", "command": "a", "args": [], "tools": ["*"] },
                                 "b": { "command": "b" }, "c": { "type": "sse", "url": "https://c.org" } } }"#,
        ),
        (
            ".github/skills/a/SKILL.md",
            "---\ndescription: Reads PDF files. Use it when a user names one.\nname: a\nallowed-tools: [view]\nuser-invocable: false\n---\nDo it.\n",
        ),
        (
            ".github/agents/a.agent.md",
            "---\ndescription: Use it.\nmcp-servers:\n  a: { type: local, command: a, args: [] }\n---\nDo it.\n",
        ),
        (
            ".cursor/hooks.json",
            r#"{ "version": 1, "hooks": { "afterFileEdit": [{ "command": "make x" }] } }"#,
        ),
        (".clinerules/hooks/PreToolUse", "#!/bin/sh\n"),
        (
            ".vscode/mcp.json",
            "{ \"servers\": { \"a\": { \"command\": \"a\", }, }, \"inputs\": [] }",
        ),
    ] {
        assert_eq!(codes(path, text), [""; 0], "{path}");
    }
}

/// Each file holds one thing that its client refuses, drops or ignores.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn wrong_files_are_found() {
    let hooks = |event: &str, entry: &str| {
        format!("{{ \"hooks\": {{ \"{event}\": [{{ \"hooks\": [{entry}] }}] }} }}")
    };
    for (path, text, expected) in [
        // Claude Code 2.1.325.
        (
            ".claude/settings.json",
            "{ \"model\": \"opus\", }".to_owned(),
            "error client/invalid-file",
        ),
        (".claude/settings.json", "{ \"model\": 3 }".to_owned(), "error client/wrong-type"),
        (
            ".claude/settings.json",
            "{ \"effortLevel\": \"huge\" }".to_owned(),
            "warning client/wrong-value",
        ),
        (
            ".claude/settings.json",
            "{ \"permissions\": { \"allow\": [\"Bash()\"] } }".to_owned(),
            "error client/no-effect",
        ),
        (
            ".claude/settings.json",
            "{ \"permissions\": { \"deny\": [\"Raed\"] } }".to_owned(),
            "warning client/unknown-tool",
        ),
        (
            ".claude/settings.json",
            hooks("Stop", "{ \"command\": \"x\" }"),
            "error client/missing-field",
        ),
        (
            ".claude/settings.json",
            hooks("Stop", "{ \"type\": \"command\" }"),
            "error client/missing-field",
        ),
        (
            ".claude/settings.json",
            hooks("Stop", "{ \"type\": \"shell\" }"),
            "error client/wrong-value",
        ),
        (
            ".claude/settings.json",
            hooks("Stop", "{ \"type\": \"prompt\", \"prompt\": \"x\", \"async\": true }"),
            "warning client/no-effect",
        ),
        (
            ".claude/settings.json",
            hooks("Stop", "{ \"type\": \"command\", \"command\": \"./gone.sh\" }"),
            "warning client/missing-file",
        ),
        (
            ".claude/settings.json",
            "{ \"hooks\": { \"PreToolUse\": [{ \"matcher\": \"mcp__memory\", \"hooks\": [] }] } }"
                .to_owned(),
            "warning client/no-effect",
        ),
        (
            ".claude/settings.json",
            "{ \"hooks\": { \"PreToolUse\": [{ \"matcher\": \"*.py\", \"hooks\": [] }] } }"
                .to_owned(),
            "warning client/wrong-value",
        ),
        (
            ".mcp.json",
            "{ \"mcpServers\": { \"a\": { \"url\": \"https://a.org\" } } }".to_owned(),
            "error client/missing-field",
        ),
        (
            ".mcp.json",
            "{ \"mcpServers\": { \"workspace\": { \"command\": \"a\" } } }".to_owned(),
            "error client/reserved-name",
        ),
        (
            ".mcp.json",
            "{ \"mcpServers\": { \"a\": { \"command\": \"a\", \"cwd\": \".\" } } }".to_owned(),
            "warning client/no-effect",
        ),
        (
            ".claude/commands/a.md",
            "---\nshell: zsh\n---\nA.\n".to_owned(),
            "error client/wrong-value",
        ),
        (
            ".claude-plugin/plugin.json",
            "{ \"name\": \"a b\" }".to_owned(),
            "error client/wrong-value",
        ),
        (
            ".claude-plugin/plugin.json",
            "{ \"name\": \"a\", \"agents\": [\"./agents\"] }".to_owned(),
            "error client/wrong-value",
        ),
        (
            ".claude-plugin/plugin.json",
            "{ \"name\": \"a\", \"commands\": \"x\" }".to_owned(),
            "error client/wrong-value",
        ),
        (
            ".claude-plugin/plugin.json",
            "{ \"name\": \"a\", \"commands\": \"./x\" }".to_owned(),
            "error client/missing-file",
        ),
        (
            ".claude-plugin/marketplace.json",
            "{ \"name\": \"a\", \"plugins\": [] }".to_owned(),
            "error client/missing-field",
        ),
        (
            ".claude/settings.json",
            hooks("Stop", "{ \"type\": \"http\", \"timeout\": 3 }"),
            "error client/missing-field",
        ),
        (
            ".claude/settings.json",
            hooks("Stop", "{ \"type\": \"mcp_tool\", \"server\": \"a\" }"),
            "error client/missing-field",
        ),
        (
            ".claude/agents/a.md",
            "---\nname: a\ndescription: d\npermissionMode: yolo\n---\nA.\n".to_owned(),
            "warning client/wrong-value",
        ),
        // Codex 0.166.0.
        (".codex/config.toml", "model = \n".to_owned(), "error client/invalid-file"),
        (".codex/config.toml", "sandbox_mode = \"open\"\n".to_owned(), "error client/wrong-value"),
        (
            ".codex/config.toml",
            "[mcp_servers.a]\ncommand = \"a\"\nurl = \"b\"\n".to_owned(),
            "error client/conflicting-fields",
        ),
        (
            ".codex/config.toml",
            "[mcp_servers.a]\nurl = \"b\"\nbearer_token = \"c\"\n".to_owned(),
            "error client/no-effect",
        ),
        (
            ".codex/config.toml",
            "[agents]\nmax_threads = 0\n".to_owned(),
            "error client/wrong-value",
        ),
        (
            ".codex/hooks.json",
            "{ \"hooks\": { \"Stpo\": [] } }".to_owned(),
            "warning client/unknown-event",
        ),
        (
            ".codex/hooks.json",
            "{ \"hooks\": {}, \"Stop\": [] }".to_owned(),
            "error client/unknown-key",
        ),
        (
            ".codex/agents/a.toml",
            "name = \"a\"\ndescription = \"d\"\n".to_owned(),
            "error client/missing-field",
        ),
        // Gemini CLI 0.61.0.
        (
            ".gemini/settings.json",
            "{ \"mcpServers\": { \"a\": { \"command\": \"a\", \"disabled\": true } } }".to_owned(),
            "error client/unknown-key",
        ),
        (
            ".gemini/settings.json",
            hooks("PreToolUse", "{ \"type\": \"command\", \"command\": \"x\" }"),
            "error client/unknown-event",
        ),
        (
            ".gemini/agents/a.md",
            "---\nname: a\ndescription: d\ntools: [Read]\n---\nA.\n".to_owned(),
            "error client/unknown-tool",
        ),
        (
            ".gemini/commands/a.toml",
            "description = \"d\"\n".to_owned(),
            "error client/missing-field",
        ),
        // opencode 1.18.33.
        ("opencode.json", "{ \"share\": \"always\" }".to_owned(), "error client/wrong-value"),
        (
            "opencode.json",
            "{ \"mcp\": { \"a\": { \"type\": \"local\", \"command\": \"a\" } } }".to_owned(),
            "error client/wrong-type",
        ),
        (
            "opencode.json",
            "{ \"mcp\": { \"a\": { \"type\": \"local\", \"command\": [\"a\"], \"env\": {} } } }"
                .to_owned(),
            "warning client/no-effect",
        ),
        (
            ".opencode/agent/a.md",
            "---\nmode: main\n---\nA.\n".to_owned(),
            "error client/wrong-value",
        ),
        (
            "opencode.json",
            "{ \"experimental\": { \"policies\": [{ \"action\": \"a\", \"resource\": \"b\", \"effect\": \"ask\" }] } }"
                .to_owned(),
            "error client/wrong-value",
        ),
        (
            "gemini-extension.json",
            "{ \"name\": \"a\", \"version\": \"1.0.0\", \"contextFileName\": \"../A.md\" }".to_owned(),
            "error client/wrong-value",
        ),
        // Copilot CLI 1.0.102.
        // Copilot CLI 1.0.102.
        (
            ".github/hooks/a.json",
            "{ \"version\": 1, \"hooks\": { \"agentStop\": [{ \"type\": \"command\", \"bash\": \"date\", \"matcher\": \"(\" }] } }"
                .to_owned(),
            "error client/wrong-value",
        ),
        (
            ".github/hooks/a.json",
            "{ \"version\": 1, \"hooks\": { \"agentStop\": [{ \"type\": \"command\", \"bash\": \"date\", \"matcher\": 5 }] } }"
                .to_owned(),
            "warning client/wrong-type",
        ),
        (
            ".github/mcp.json",
            "{ \"mcpServers\": { \"a\": { \"type\": \"http\" } } }".to_owned(),
            "error client/missing-field",
        ),
        (
            ".github/mcp.json",
            "{ \"mcpServers\": { \"a\": { \"command\": \"a\", \"tools\": \"*\" } } }".to_owned(),
            "error client/wrong-type",
        ),
        (
            ".github/skills/a/SKILL.md",
            "---\nname: a\ndescription: Reads PDF files. Use it when a user names one.\nuser-invocable: x\n---\nDo it.\n".to_owned(),
            "error client/wrong-type",
        ),
        (
            ".github/agents/a.agent.md",
            "---\ndescription: Use it.\nmcp-servers:\n  a: { type: local, command: a }\n---\nDo it.\n".to_owned(),
            "error client/missing-field",
        ),
        (
            ".github/hooks/a.json",
            "{ \"version\": 1, \"hooks\": { \"preToolUse\": [{ \"type\": \"command\" }] } }"
                .to_owned(),
            "error client/missing-field",
        ),
        (
            ".github/hooks/a.json",
            "{ \"version\": 2, \"hooks\": {} }".to_owned(),
            "error client/wrong-value",
        ),
        // Cline 3.0.65.
        (".clinerules/hooks/PreToolUze", "#!/bin/sh\n".to_owned(), "warning client/unknown-event"),
        // By documentation alone: a warning.
        (
            ".cursor/hooks.json",
            "{ \"version\": 1, \"hooks\": { \"onSave\": [] } }".to_owned(),
            "warning client/unknown-event",
        ),
        (
            ".windsurf/rules/a.md",
            "---\ntrigger: always\n---\nA.\n".to_owned(),
            "warning client/wrong-value",
        ),
        (
            ".kiro/settings/mcp.json",
            "{ \"mcpServers\": { \"a\": {} } }".to_owned(),
            "warning client/missing-field",
        ),
        (
            ".junie/mcp/mcp.json",
            "{ \"mcpServers\": { \"a\": { \"command\": 5 } } }".to_owned(),
            "warning client/wrong-type",
        ),
        (
            ".junie/agents/a.md",
            "---\nname: a\ndescription: Use for a\nreasoningLevel: max\n---\nA.\n".to_owned(),
            "warning client/wrong-value",
        ),
    ] {
        assert_eq!(codes(path, &text), [expected], "{path}: {text}");
    }
}

/// A text of an editor is checked as it stands there, saved or not.
#[test]
fn unsaved_text_is_checked() {
    let sandbox = project().with_file(".claude/settings.json", "{}\n");
    let path = sandbox.path().join(".claude/settings.json").canonicalize().unwrap();
    let text = b"{ \"hooks\": { \"Stpo\": [] } }".to_vec();
    let system = Arc::new(RealSystem::new(sandbox.path()));
    let buffers = Buffers::new(system, [(path.clone(), text)]).unwrap();
    let project = Project::open_directory(&buffers, sandbox.path()).unwrap();
    let found = Lint::new(&project, Path::new(".")).unwrap().check();
    let [found] = &found.diagnostics[..] else { panic!("{found:?}") };
    assert_eq!((found.code(), found.path()), ("client/unknown-event", &*path));
}

/// One file can be checked alone, from the directory that it belongs to.
#[test]
fn one_file_is_checked_alone() {
    let project = project()
        .with_file("app/.claude/settings.json", "{ \"hooks\": { \"Stpo\": [] } }\n")
        .with_file("app/.gemini/settings.json", "{,}\n")
        .with_file("CLAUDE.md", "Hi.\n");
    for path in ["app/.claude/settings.json", "app/.gemini/settings.json"] {
        let json = project.run(&["lint", path, "--format", "json"]).json();
        assert_eq!(json["errors"], 1, "{path}: {json}");
        assert_eq!(json["files"], 1, "{path}: {json}");
    }
}
