//! Nothing that a repository holds acts on a terminal (Y06): every command, in a project that was written to.

use std::process::Command;

use brief_testkit::Sandbox;

use crate::project_on_disk as project;
use crate::security::without_colors;

/// Characters that a name of a file can have, and a text.
const HOSTILE: &str = "n\u{202e}\u{1b}[31mx\u{7}\u{9b}\u{200b}";

/// A project whose names, texts, settings and history are written to act on a terminal.
fn hostile_on_a_screen() -> Sandbox {
    let text =
        format!("{HOSTILE} \u{1b}]0;title\u{7} \u{2066}m\u{ad} o\rp \u{85}q\u{2028}r\u{feff}\n");
    let quoted = serde_json::to_string(text.trim()).unwrap();
    let item = format!("---\nname: a{HOSTILE}\ndescription: {text}globs: \"**\"\n---\n{text}");
    let server = serde_json::json!({"mcpServers": {HOSTILE: {"command": HOSTILE, "args": [text]}}});
    let hooks = serde_json::json!({"hooks": {HOSTILE: [{"hooks": [{"type": "command", "command": text}]}]}});
    let mut project = project();
    for (path, content) in [
        (
            "CLAUDE.md",
            format!("{text}@gone{HOSTILE}.md [x](gone{HOSTILE}.md) `src/{HOSTILE}.py`\n"),
        ),
        ("AGENTS.md", text.clone()),
        (".claude/rules/N.md", item.clone()),
        (".cursor/rules/N.mdc", item.clone()),
        (".claude/agents/N.md", item.clone()),
        (".claude/skills/N/SKILL.md", item.clone()),
        (".claude/commands/N.md", item.clone()),
        (".claude/settings.json", hooks.to_string()),
        (".mcp.json", server.to_string()),
        (".context/N.md", format!("---\ntrigger: always\n---\n{text}")),
        (".context/broken.md", format!("---\ntrigger: {quoted}\n---\n{text}")),
        (".context/context-config.json", server.to_string()),
        (".agents/tasks/N.md", format!("---\ndescription: {text}---\n{text}!`echo {HOSTILE}`\n")),
        (
            ".agents/tasks/t.md",
            format!("---\ndescription: {text}---\n{text} ${{N}} !`echo {HOSTILE}`\n"),
        ),
        (".agents/rules/N-bootstrap", "#!/bin/sh\n".to_owned()),
        ("agents/N.agent.md", item.clone()),
        (
            "agents/t.agent.md",
            format!("---\nversion: 1.0.0\n---\n# {text}\n{text}\n## System\n\n{text}"),
        ),
        (
            "AGENTS.yaml",
            format!(
                "context:\n  - {{content: {quoted}, match: [{quoted}]}}\n  - {{content: {quoted}}}\ndecisions:\n  - {{decision: {quoted}, rationale: {quoted}}}\n"
            ),
        ),
        ("sub/AGENTS.yaml", format!("context:\n  - {{contents: {quoted}}}\n")),
        (".brief/clients/N.toml", format!("id = {quoted}\n")),
        ("package.json", format!("{{\"name\": {quoted}, \"dependencies\": {{{quoted}: \"1\"}}}}")),
        (
            "registry/rules/r/RULE.md",
            format!("---\nschema: 1\nname: r\ndescription: {quoted}\n---\n\n{text}"),
        ),
        ("registry/skills/N/SKILL.md", item.clone()),
        (
            "registry/b.bundle.md",
            format!(
                "---\nschema: 1\nname: b\ndescription: {quoted}\nitems: {{rules: [{quoted}]}}\n---\n"
            ),
        ),
        ("src/N/a.rs", String::new()),
    ] {
        project = project.with_file(&path.replace('N', HOSTILE), content);
    }
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A", "-f"],
        &[
            "-c",
            &format!("user.name={}", HOSTILE.trim()),
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            &text,
        ],
        &["remote", "add", "origin", &format!("ext::{HOSTILE}")],
    ] {
        let status = Command::new("git").args(args).current_dir(project.path()).status().unwrap();
        assert!(status.success(), "{args:?}");
    }
    std::fs::write(project.path().join("CLAUDE.md"), "changed\n").unwrap();
    project
}

/// A call of each command, with `N` for a hostile name. Servers end with their input.
const CALLS: [&str; 89] = [
    "status",
    "context src/N/a.rs",
    "context --all",
    "context . --mention N",
    "context . --client N",
    "why src/N/a.rs",
    "why .",
    "show src/N/a.rs",
    "show . N",
    "context --decisions .",
    "tokens",
    "tokens src/N",
    "tokens --tree",
    "coverage",
    "diff",
    "diff HEAD --stat",
    "diff N",
    "log",
    "log N",
    "check",
    "replay",
    "replay N",
    "view --export out",
    "view N",
    "init --dry-run",
    "init N",
    "registry new rule N",
    "registry new N",
    "import --dry-run",
    "import --from claude --as cursor",
    "import N --as N",
    "lint",
    "lint --format sarif",
    "lint --format github",
    "lint --format gitlab",
    "lint --format junit",
    "lint --format json",
    "lint --explain N",
    "lint N",
    "lint registry",
    "registry fmt registry --check",
    "registry fmt N",
    "stale",
    "stale --since N",
    "lsp N",
    "lsp",
    "schema N",
    "add ./registry --dry-run",
    "add ./registry --client claude",
    "add N",
    "remove N",
    "remove r",
    "update",
    "update N",
    "update --check",
    "registry publish N",
    "registry tag N N",
    "fleet status .",
    "fleet status . --csv",
    "fleet status . --jsonl",
    "fleet branch . --update N",
    "list",
    "list ./registry",
    "search n",
    "search N",
    "sync",
    "sync --frozen",
    "registry build",
    "registry build --dry-run",
    "audit",
    "audit registry",
    "audit --format sarif",
    "audit --format github",
    "list --packages",
    "remove --all --dry-run",
    "hook status",
    "hook test claude src/N/a.rs",
    "hook N",
    "mcp install claude --dry-run",
    "mcp N",
    "mcp servers",
    "task list",
    "task t -p N=N",
    "agent check agents/N.agent.md",
    "allow no-npm",
    "trust .",
    "doctor",
    "version N",
    "man N",
];

/// More calls, so that every command has one.
const MORE_CALLS: [&str; 11] = [
    "setup --dry-run",
    "eject --all --dry-run",
    "agent show agents/t.agent.md",
    "agent list",
    "agent N",
    "task N",
    "completions N",
    "help N",
    "N",
    "--N",
    "-C N lint",
];

/// Y06: no command sends a control or hidden character to a terminal, on standard output, as JSON, or on standard error. A new
/// command without a call fails.
#[test]
fn y06_no_command_acts_on_a_terminal() {
    let project = hostile_on_a_screen().with_env("BRIEF_PAGER", "cat");
    let calls: Vec<&str> = CALLS.into_iter().chain(MORE_CALLS).collect();
    let help = project.run(&["help", "--all"]).stdout;
    let commands: Vec<&str> = help
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once("  ").map(|(name, _)| name))
        .filter(|name| {
            name.starts_with(|first: char| first.is_ascii_lowercase()) && !name.contains(' ')
        })
        .collect();
    assert!(commands.len() > 25, "{commands:?}");
    for name in commands {
        assert!(
            calls.iter().any(|call| call.split(' ').next() == Some(name)),
            "`{name}` has no call"
        );
    }
    for call in calls {
        let args: Vec<String> = call.split(' ').map(|word| word.replace('N', HOSTILE)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let as_json = [&args[..], &["--json"]].concat();
        for shown in [
            project.run_on_screen(&args),
            project.run_on_screen(&as_json),
            project.run_watched(&args),
        ] {
            // The line that shows progress is erased by us.
            let shown = shown.replace("\r\n", "\n").replace("\r\u{1b}[2K", "");
            let found = brief_syntax::hidden::hidden_characters(&without_colors(&shown)).next();
            assert!(found.is_none(), "{call}: {found:?} in {shown:?}");
            assert!(!shown.contains("n\u{1b}[31mx"), "{call}: {shown:?}");
        }
    }
}
