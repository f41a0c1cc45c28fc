//! Settings of a client that change what it loads, and files that a client passes over.
//!
//! Each expectation was seen in recorded requests of the client on 2026-11-19.

use brief_dialects::{Action, Moment, MomentTool};
use brief_system::MemorySystem;

use super::support::{ask_with, loaded, loaded_at, project};

/// A project with both files at the top and below, as the user's settings of Claude Code say.
fn both(options: &str) -> MemorySystem {
    let settings = format!(
        "{{\"pluginConfigs\": {{\"cc-plugin-agents-md@builtin\": {{\"options\": {options}}}}}}}"
    );
    project(&[
        ("/home/.claude/CLAUDE.md", "User.\n"),
        ("/home/.claude/settings.json", &settings),
        ("AGENTS.md", "Agents.\n"),
        ("CLAUDE.md", "Claude.\n"),
        (".claude/rules/always.md", "Always.\n"),
        (".claude/rules/py.md", "---\npaths: '**/*.py'\n---\nPython.\n"),
        ("src/AGENTS.md", "Agents below.\n"),
        ("src/CLAUDE.md", "Claude below.\n"),
        ("lib/AGENTS.md", "Agents alone.\n"),
    ])
}

fn loaded_in(options: &str, path: &str) -> Vec<String> {
    let mut found = loaded(&both(options), path, "claude").0;
    found.sort();
    found
}

const USUAL: [&str; 6] = [
    ".claude/rules/always.md",
    ".claude/rules/py.md",
    "/home/.claude/CLAUDE.md",
    "CLAUDE.md",
    "src/CLAUDE.md",
    "",
];

/// Claude Code 2.1.327: the four modes of `instructionFiles`, and the earlier name of the option.
#[test]
fn claude_loads_by_its_mode() {
    let usual = &USUAL[..5];
    for options in [
        "{}",
        r#"{"instructionFiles": "claude-md-or-agents-md"}"#,
        r#"{"instructionFiles": "claude-md"}"#,
        r#"{"instructionFiles": "nonsense"}"#,
        r#"{"projectInstructions": "claude"}"#,
        r#"{"projectInstructions": "agents-fallback"}"#,
    ] {
        assert_eq!(loaded_in(options, "src/a.py"), usual, "{options}");
    }
    for options in
        [r#"{"instructionFiles": "claude-md-and-agents-md"}"#, r#"{"projectInstructions": "both"}"#]
    {
        let mut all = usual.to_vec();
        all.extend(["AGENTS.md", "src/AGENTS.md"]);
        all.sort_unstable();
        assert_eq!(loaded_in(options, "src/a.py"), all, "{options}");
        assert!(loaded_in(options, "lib/b.py").contains(&"lib/AGENTS.md".to_owned()));
    }
    // What is nested or scoped still comes with a file.
    for options in [r#"{"instructionFiles": "managed-only"}"#, r#"{"projectInstructions": "none"}"#]
    {
        assert_eq!(loaded_in(options, "src/a.py"), [".claude/rules/py.md", "src/CLAUDE.md"]);
        let words = ask_with(&both(options), "src/a.py", Some("claude"), &[]);
        assert!(words.items.is_empty(), "its user has said so: {:?}", words.items);
        let dropped = "AGENTS.md: is turned off by the settings of claude: `managed-only`";
        assert!(words.left_out.iter().any(|left| left == dropped), "{:?}", words.left_out);
    }
}

/// The mode without a `CLAUDE.md`, the switch of a project, and settings of a project, which do not count.
#[test]
fn claude_reads_agents_md_unless_that_is_switched_off() {
    let with = |path: &str, text: &str| {
        let system = project(&[("AGENTS.md", "Agents.\n"), (path, text)]);
        loaded(&system, "a.py", "claude").0.contains(&"AGENTS.md".to_owned())
    };
    let off = r#"{"enabledPlugins": {"cc-plugin-agents-md@builtin": false}}"#;
    let mode = r#"{"pluginConfigs": {"cc-plugin-agents-md@builtin": {"options": {"instructionFiles": "claude-md"}}}}"#;
    assert!(with("/home/.claude/settings.json", "{}"));
    assert!(with("/home/.claude/settings.json", "{ broken"));
    assert!(!with("/home/.claude/settings.json", off));
    assert!(!with(".claude/settings.json", off));
    assert!(!with(".claude/settings.local.json", off));
    assert!(!with("/home/.claude/settings.json", mode));
    assert!(with(".claude/settings.json", mode), "a project's settings are not read for it");
    // A nearer file counts before a farther one.
    let on = off.replace("false", "true");
    let system = project(&[
        ("AGENTS.md", "Agents.\n"),
        ("/home/.claude/settings.json", off),
        (".claude/settings.json", &on),
    ]);
    assert_eq!(loaded(&system, "a.py", "claude").0, ["AGENTS.md"]);
}

/// Claude Code 2.1.325 and 2.1.327: a nested `AGENTS.md` comes with its own read tool alone, a nested `CLAUDE.md` with
/// every tool and with `cat`.
#[test]
fn claude_attaches_a_nested_agents_md_to_its_own_read_alone() {
    let system = project(&[("lib/AGENTS.md", "Agents.\n"), ("src/CLAUDE.md", "Claude.\n")]);
    for (action, tool, agents) in [
        (Action::Read, MomentTool::Own, true),
        (Action::Read, MomentTool::ShellRead, false),
        (Action::Edit, MomentTool::Own, false),
        (Action::Create, MomentTool::Own, false),
        (Action::Edit, MomentTool::Shell, false),
    ] {
        let moment = |path: &str| {
            let moment = Moment {
                client: Some("claude".to_owned()),
                action: Some(action),
                tool,
                ..Moment::default()
            };
            loaded_at(&system, path, &moment).0
        };
        assert_eq!(!moment("lib/a.py").is_empty(), agents, "{action:?} {tool:?}");
        assert_eq!(
            !moment("src/a.py").is_empty(),
            tool != MomentTool::Shell,
            "{action:?} {tool:?}"
        );
    }
}

#[track_caller]
fn check(client: &str, files: &[(&str, &str)], expected: &[&str]) {
    let (mut loaded, delivered) = loaded(&project(files), "a.py", client);
    loaded.sort();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(loaded, expected, "{client}");
    let names: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    let others = names.iter().filter(|path| !loaded.iter().any(|loaded| loaded == *path));
    let empty = ["sk-empty", "agents/none"];
    for other in others.filter(|path| !empty.iter().any(|part| path.contains(part))) {
        assert!(delivered.iter().any(|found| found == other), "{client}: {other} in {delivered:?}");
    }
}

/// L12: a rule of Kilo, and one of Cline, hides another one of its name. Cline's command line reads no directories in them.
#[test]
fn a_rule_hides_one_of_its_name() {
    check(
        "kilo",
        &[
            (".kilo/rules/N.md", "Kilo N.\n"),
            (".kilocode/rules/N.md", "Kilocode N.\n"),
            (".kilocode/rules/n.md", "Kilocode n.\n"),
            (".kilocode/rules/M.md", "Kilocode M.\n"),
        ],
        &[".kilo/rules/N.md", ".kilocode/rules/n.md", ".kilocode/rules/M.md"],
    );
    check(
        "cline",
        &[
            (".cline/rules/N.md", "Cline N.\n"),
            (".clinerules/n.txt", "Clinerules N.\n"),
            (".clinerules/M.md", "Clinerules M.\n"),
            (".clinerules/sub/Z.md", "Clinerules Z.\n"),
            (".cline/rules/sub/Y.md", "Cline Y.\n"),
        ],
        &[".cline/rules/N.md", ".clinerules/M.md"],
    );
}

/// L13: what a client refuses or drops is not loaded, and so it is delivered.
#[test]
fn what_a_client_passes_over_is_not_loaded() {
    let body = "A longer body of the agent.";
    let agent = |fields: &str, body: &str| format!("---\n{fields}---\n\n{body}\n");
    let named = agent("name: a\ndescription: An agent.\n", body);
    let short = agent("name: b\ndescription: An agent.\n", "body");
    let blank = agent("name: with blank\ndescription: An agent.\n", body);
    check(
        "qwen",
        &[
            (".qwen/agents/a.md", &named),
            (".qwen/agents/b.md", &short),
            (".qwen/agents/c.md", &blank),
        ],
        &[".qwen/agents/a.md"],
    );
    let mode = agent("name: m\ndescription: An agent.\nmode: subagent\n", body);
    check(
        "gemini",
        &[(".gemini/agents/a.md", &named), (".gemini/agents/m.md", &mode)],
        &[".gemini/agents/a.md"],
    );
    let nameless = agent("description: An agent.\n", body);
    check(
        "claude",
        &[
            (".claude/agents/a.md", &named),
            (".claude/agents/n.md", &nameless),
            (".claude/agents/s.md", &short),
        ],
        &[".claude/agents/a.md", ".claude/agents/s.md"],
    );
}

/// Skills without a name, a description or front matter: run in each client with the six of them.
#[test]
fn each_client_wants_other_fields_of_a_skill() {
    for (client, place, expected) in [
        ("claude", ".claude/skills", &["ok", "noname", "nodesc", "none"][..]),
        ("codex", ".agents/skills", &["ok", "noname"]),
        ("gemini", ".agents/skills", &["ok"]),
        ("opencode", ".agents/skills", &["ok"]),
        ("kilo", ".agents/skills", &["ok"]),
        ("copilot", ".agents/skills", &["ok", "noname", "nodesc"]),
        ("qwen", ".agents/skills", &["ok"]),
        ("pi", ".agents/skills", &["ok", "noname"]),
        ("droid", ".agents/skills", &["ok"]),
    ] {
        let skills = [
            ("ok", "---\nname: ok\ndescription: Does it.\n---\nOk.\n"),
            ("noname", "---\ndescription: Does that.\n---\nNo name.\n"),
            ("nodesc", "---\nname: nodesc\n---\nNo description.\n"),
            ("none", "Nothing.\n"),
        ];
        let paths: Vec<String> =
            skills.iter().map(|(name, _)| format!("{place}/{name}/SKILL.md")).collect();
        let files: Vec<(&str, &str)> =
            paths.iter().map(String::as_str).zip(skills.iter().map(|(_, text)| *text)).collect();
        let expected: Vec<String> =
            expected.iter().map(|name| format!("{place}/{name}/SKILL.md")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        let (mut found, _) = loaded(&project(&files), "a.py", client);
        found.sort();
        let mut sorted = expected.clone();
        sorted.sort_unstable();
        assert_eq!(found, sorted, "{client}");
    }
}
