//! The files that clients load by themselves, from where they were started and at which action: as recorded in
//! requests of Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0, opencode 1.18.33, Kilo 7.7.7, Copilot
//! CLI 1.0.102, Qwen Code 0.24.4, pi 0.87.1, Cline 3.0.65 and Droid 0.215.0 on 2026-11-16.

use std::path::PathBuf;

use brief_dialects::{Action, Moment, MomentTool};
use brief_system::MemorySystem;

use super::support::{ask_at, loaded_at, project};

/// Files with a text each; a text that is given as `path = text` is that one.
fn with(files: &[&str]) -> MemorySystem {
    let pairs: Vec<(&str, String)> = files
        .iter()
        .map(|file| match file.split_once(" = ") {
            Some((path, text)) => (path, text.to_owned()),
            None if file.ends_with("SKILL.md") => {
                (*file, format!("---\nname: s\ndescription: About {file}\n---\nT.\n"))
            }
            None => (*file, format!("Text of {file}.\n")),
        })
        .collect();
    let pairs: Vec<_> = pairs.iter().map(|(path, text)| (*path, text.as_str())).collect();
    project(&pairs)
}

fn moment(client: &str, started: &str) -> Moment {
    let started = Some(PathBuf::from("/p").join(started));
    Moment { client: Some(client.to_owned()), started, ..Moment::default() }
}

/// Asks for a client that was started in a directory of the project.
#[track_caller]
fn check(client: &str, started: &str, files: &[&str], path: &str, expected: &[&str]) {
    let (mut loaded, delivered) = loaded_at(&with(files), path, &moment(client, started));
    let mut expected: Vec<&str> =
        expected.iter().map(|path| path.split(" = ").next().unwrap_or(path)).collect();
    loaded.sort();
    expected.sort_unstable();
    assert_eq!(loaded, expected, "{client} in {started:?} with {files:?}; delivered {delivered:?}");
}

/// K20: a `CLAUDE.md` of any kind between the root and the start keeps Claude Code from every `AGENTS.md`;
/// one in a directory below keeps it from that directory's only.
#[test]
fn claude_reads_agents_md_where_it_starts_without_a_claude_md() {
    let all = ["AGENTS.md", "src/AGENTS.md", "src/api/AGENTS.md", "src/api/.claude/AGENTS.md"];
    check("claude", "", &all, "src/api/a.py", &all);
    check("claude", "src", &all, "src/api/a.py", &all);
    check(
        "claude",
        "",
        &["AGENTS.md", "src/AGENTS.md", "src/CLAUDE.md", "src/api/AGENTS.md"],
        "src/api/a.py",
        &["AGENTS.md", "src/CLAUDE.md", "src/api/AGENTS.md"],
    );
    check("claude", "", &["AGENTS.md", "CLAUDE.local.md"], "a.py", &["CLAUDE.local.md"]);
    check(
        "claude",
        "",
        &["CLAUDE.md", "src/AGENTS.md", "src/api/AGENTS.md"],
        "src/api/a.py",
        &["CLAUDE.md"],
    );
    check("claude", "src", &["CLAUDE.md", "src/AGENTS.md"], "src/a.py", &["CLAUDE.md"]);
    check(
        "claude",
        "src/api",
        &["AGENTS.md", "src/CLAUDE.md", "src/api/AGENTS.md"],
        "src/api/a.py",
        &["src/CLAUDE.md"],
    );
    // The user's own file decides nothing.
    let own = ["/home/.claude/CLAUDE.md", "AGENTS.md"];
    check("claude", "", &own, "a.py", &own);
}

/// K20: started in a subdirectory, Claude Code follows a project's imports only to files below it.
#[test]
fn claude_follows_imports_below_the_start_directory() {
    let files = [
        "CLAUDE.md = Text.\n@src/in.md\n@docs/out.md\n",
        "src/in.md",
        "docs/out.md",
        "src/CLAUDE.md = More.\n@../docs/out2.md\n@in2.md\n",
        "docs/out2.md",
        "src/in2.md",
        "/home/.claude/CLAUDE.md = Mine.\n@own.md\n",
        "/home/.claude/own.md",
    ];
    let own = ["/home/.claude/CLAUDE.md", "/home/.claude/own.md", "CLAUDE.md", "src/CLAUDE.md"];
    let near = ["src/in.md", "src/in2.md"];
    let all = [&own[..], &near, &["docs/out.md", "docs/out2.md"]].concat();
    check("claude", "", &files, "src/a.py", &all);
    check("claude", "src", &files, "src/a.py", &[&own[..], &near].concat());
}

/// K20: case does not count in `paths`, and a header that Claude Code cannot read has none.
#[test]
fn claude_ignores_case_and_broken_headers() {
    let files = [
        ".claude/rules/case.md = ---\npaths: \"SRC/API/**\"\n---\nT.",
        ".claude/rules/open.md = ---\npaths: \"a\n---\nT.",
        ".claude/rules/text.md = ---\njust text\n---\nT.",
        ".claude/rules/list.md = ---\n- x\npaths: y\n---\nT.",
        ".claude/rules/bare.md = ---\npaths: **/*.ts\n---\nT.",
    ];
    let expected =
        ["case.md", "open.md", "text.md", "list.md"].map(|name| format!(".claude/rules/{name}"));
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check("claude", "", &files, "src/Api/a.py", &expected);
}

/// Claude Code takes a file outside of the start directory for none of its own.
#[test]
fn claude_attaches_nothing_to_files_outside_of_the_start_directory() {
    let files = [
        "CLAUDE.md",
        "docs/CLAUDE.md",
        ".claude/rules/all.md",
        ".claude/rules/py.md = ---\npaths: '**/*.py'\n---\nT.",
    ];
    check("claude", "src", &files, "docs/a.py", &["CLAUDE.md", ".claude/rules/all.md"]);
    check(
        "claude",
        "",
        &files,
        "docs/a.py",
        &["CLAUDE.md", "docs/CLAUDE.md", ".claude/rules/all.md", ".claude/rules/py.md"],
    );
}

/// K21: Codex reads from the root to the start directory, and nothing below.
#[test]
fn codex_reads_from_the_root_to_the_start_directory() {
    let files = [
        "AGENTS.override.md",
        "src/AGENTS.md",
        "src/api/AGENTS.md",
        "src/.codex/skills/s/SKILL.md",
        "/home/.codex/skills/u/SKILL.md",
    ];
    let user = "/home/.codex/skills/u/SKILL.md";
    check("codex", "", &files, "src/api/a.py", &["AGENTS.override.md", user]);
    let of_src = ["AGENTS.override.md", "src/AGENTS.md", "src/.codex/skills/s/SKILL.md", user];
    check("codex", "src", &files, "src/api/a.py", &of_src);
    check("codex", "src", &files, "docs/a.py", &["AGENTS.override.md", user]);
}

/// K21: Codex cuts at 32 KiB in all; what does not fit as a whole is delivered.
#[test]
fn codex_loads_at_most_32_kib() {
    let half = format!("{}\n", "x".repeat(20_000));
    let (first, second) = (format!("AGENTS.md = {half}"), format!("src/AGENTS.md = y{half}"));
    let files = [first.as_str(), second.as_str(), "src/api/AGENTS.md", "/home/.codex/AGENTS.md"];
    check("codex", "src/api", &files, "src/api/a.py", &["/home/.codex/AGENTS.md", "AGENTS.md"]);
    let huge = format!("AGENTS.md = {half}{half}");
    check("codex", "", &[&huge], "a.py", &[]);
}

/// K21: `project_doc_fallback_filenames`, of the project from the root to the start, and of the user.
#[test]
fn codex_reads_the_names_in_its_settings() {
    let names = "project_doc_fallback_filenames = [\"CLAUDE.md\"]\n";
    for path in [".codex/config.toml", "/home/.codex/config.toml"] {
        let settings = format!("{path} = {names}");
        let files = [settings.as_str(), "CLAUDE.md", "src/CLAUDE.md", "src/AGENTS.md"];
        check("codex", "", &files, "src/a.py", &["CLAUDE.md"]);
        check("codex", "src", &files, "src/a.py", &["CLAUDE.md", "src/AGENTS.md"]);
    }
    check("codex", "", &[".codex/config.toml = [broken", "CLAUDE.md"], "a.py", &[]);
}

/// K22: `context.fileName` counts in the start directory and of the user, beside `GEMINI.md`; skills are
/// those of the start directory.
#[test]
fn gemini_reads_the_names_in_its_settings() {
    let files = [
        ".gemini/settings.json = {\"context\": {\"fileName\": [\"AGENTS.md\"]}}",
        "AGENTS.md = Text.\n@docs/imp.md\n",
        "docs/imp.md",
        "GEMINI.md",
        "src/AGENTS.md",
        "src/GEMINI.md",
    ];
    check(
        "gemini",
        "",
        &files,
        "src/a.py",
        &["AGENTS.md", "docs/imp.md", "GEMINI.md", "src/AGENTS.md", "src/GEMINI.md"],
    );
    check("gemini", "src", &files, "src/a.py", &["GEMINI.md", "src/GEMINI.md"]);
    let user = ["/home/.gemini/settings.json = {\"contextFileName\": \"AGENTS.md\"}", "AGENTS.md"];
    check("gemini", "", &user, "a.py", &["AGENTS.md"]);
    let skills = [".agents/skills/a/SKILL.md", "src/.gemini/skills/b/SKILL.md"];
    check("gemini", "", &skills, "src/a.py", &skills[..1]);
    check("gemini", "src", &skills, "src/a.py", &skills[1..]);
}

/// `context.includeDirectories` of the start directory's or the user's settings: Gemini CLI looks for its files there as if it had been
/// started there, too, and finds no skills there (0.61.0, run on 2026-11-20).
#[test]
fn gemini_looks_in_the_directories_that_it_includes() {
    let texts = ["GEMINI.md", "web/GEMINI.md", "services/GEMINI.md", "services/billing/GEMINI.md"];
    let skill = "services/billing/.gemini/skills/s/SKILL.md";
    let including = |path: &str, list: &str| {
        let settings = format!("{path} = {{\"context\": {{\"includeDirectories\": [{list}]}}}}");
        [&[settings], &[texts.map(str::to_owned).as_slice(), &[skill.to_owned()]].concat()[..]]
            .concat()
    };
    let check = |started: &str, files: &[String], path: &str, expected: &[&str]| {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        check("gemini", started, &files, path, expected);
    };
    let file = "services/billing/a.py";
    let own = ".gemini/settings.json";
    // Elsewhere it reads nothing, and with a directory that it includes what is in it and above it.
    let all = [texts[0], texts[2], texts[3]];
    check("web", &including("other.json", "\"../services\""), file, &all[..1]);
    for list in ["\"../services\"", "\"..\"", "\"../web/../services/billing\"", "\"/p/services\""] {
        check("web", &including("web/.gemini/settings.json", list), file, &all);
        check("web", &including("/home/.gemini/settings.json", list), file, &all);
    }
    check("web", &including("/home/.gemini/settings.json", "\"~/x\", \"~\""), file, &all[..1]);
    // Settings between the root and the start directory say nothing.
    check("web", &including(own, "\"../services\""), file, &all[..1]);
    check("web", &including("services/.gemini/settings.json", "\"../services\""), file, &all[..1]);
    check("web", &including("web/.gemini/settings.json", "\"../lib\""), file, &all[..1]);
    // What is in it comes at the start, and so with every tool.
    let at_shell = |files: &[String]| {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let shell = Moment { tool: MomentTool::Shell, ..moment("gemini", "") };
        let (mut loaded, _) = loaded_at(&with(&files), file, &shell);
        loaded.sort();
        loaded
    };
    assert_eq!(at_shell(&including("other.json", "")), ["GEMINI.md"]);
    assert_eq!(at_shell(&including(own, "\"services\"")), ["GEMINI.md", "services/GEMINI.md"]);
    assert_eq!(
        at_shell(&including(own, "\"services/billing\"")),
        ["GEMINI.md", "services/GEMINI.md", "services/billing/GEMINI.md"]
    );
}

/// K23: what the command line and VS Code read is not the same; `copilot` is the command line.
#[test]
fn copilot_is_two_clients() {
    let files = [
        "/home/.claude/CLAUDE.md",
        "/home/.claude/skills/u/SKILL.md",
        ".claude/CLAUDE.md",
        "CLAUDE.local.md",
        ".github/instructions/none.instructions.md",
        "src/.claude/CLAUDE.md",
        "src/.github/copilot-instructions.md",
        "src/CLAUDE.md = Text.\n@imported.md\n",
        "src/imported.md",
    ];
    for client in ["copilot", "copilot-cli"] {
        check(client, "", &files, "src/a.py", &files[4..]);
    }
    check("copilot-vscode", "", &files, "src/a.py", &files[..4]);
    // Of the start directory it does not read what it reads of those above and below.
    let own = ["src/.claude/CLAUDE.md", "src/api/.claude/CLAUDE.md"];
    check("copilot", "src", &own, "src/api/a.py", &own[1..]);
    check("copilot", "src/api", &own, "src/api/a.py", &own[..1]);
}

/// U31, K23, K26: `applyTo` and `paths` as the command line matches them, seen from the root.
#[test]
fn the_command_line_of_copilot_matches_by_path_or_name() {
    let files = |directory: &str, field: &str, ending: &str, pattern: &str| {
        format!("{directory}/r{ending} = ---\n{field}: {pattern}\n---\nT.")
    };
    let loads = |file: &str| {
        let (loaded, _) = loaded_at(&with(&[file]), "src/api/a.py", &moment("copilot", ""));
        !loaded.is_empty()
    };
    for (pattern, expected) in [
        ("'*'", true),
        ("'**'", true),
        ("'**.py'", true),
        ("'*.py'", true),
        ("'api/**'", false),
        ("'src/api/**'", true),
        ("'/src/**'", false),
        ("'x.py'", false),
        ("'a.py'", true),
        ("'**/*.PY'", false),
        ("'!x'", true),
        ("'!a.py'", true),
        ("'!**/*.py'", false),
        ("'src/*.py'", false),
        ("'src/api/'", false),
        ("'./src/**'", true),
        ("'SRC/**'", false),
        ("'src/**/*.{ts,py}'", true),
        ("'*.ts, *.py'", true),
        ("['**/*.ts', '**/*.py']", true),
        ("'api/*.py'", false),
        ("'{src,lib}/**'", true),
        ("''", true),
    ] {
        let rule = files(".github/instructions", "applyTo", ".instructions.md", pattern);
        assert_eq!(loads(&rule), expected, "{rule}");
        let rule = files(".claude/rules", "paths", ".md", pattern);
        assert_eq!(loads(&rule), expected, "{rule}");
    }
    assert!(loads("src/.claude/rules/r.md = ---\npaths: '*.py'\n---\nT."));
    assert!(!loads("src/.claude/rules/r.md = ---\npaths: 'api/**'\n---\nT."));
}

/// U31: for everybody else `applyTo` is what VS Code takes it for.
#[test]
fn apply_to_matches_at_any_depth() {
    for (pattern, expected) in [
        ("*", true),
        ("**.py", true),
        ("*.py", true),
        ("api/**", true),
        ("x.py", true),
        ("**/*.PY", true),
        ("SRC/**", true),
        ("/src/**", false),
        ("!y.py", false),
        ("*.ts", false),
        ("**/*.ts, api/*.py", true),
    ] {
        let rule = format!("---\napplyTo: '{pattern}'\n---\nT.");
        let system = project(&[(".github/instructions/r.instructions.md", &rule)]);
        let words = ask_at(&system, "src/api/x.py", &Moment::default());
        assert_eq!(!words.items.is_empty(), expected, "{pattern}: {words:?}");
    }
}

/// K09: what comes with a read does not come with a creation, and must be delivered then.
#[test]
fn nested_files_load_on_read_only_in_some_clients() {
    let loaded = |client: &str, action: Option<Action>, files: &[&str]| {
        let moment = Moment { action, ..moment(client, "") };
        loaded_at(&with(files), "src/a.py", &moment).0.len()
    };
    let files = ["AGENTS.md", "src/AGENTS.md"];
    for client in ["opencode", "kilo", "copilot", "droid"] {
        for action in [None, Some(Action::Read)] {
            assert_eq!(loaded(client, action, &files), 2, "{client} {action:?}");
        }
        // Their edits need no read before.
        for action in [Some(Action::Edit), Some(Action::Create)] {
            assert_eq!(loaded(client, action, &files), 1, "{client} {action:?}");
        }
    }
    for action in [Action::Read, Action::Edit, Action::Create] {
        assert_eq!(
            loaded("claude", Some(action), &["CLAUDE.md", "src/CLAUDE.md"]),
            2,
            "{action:?}"
        );
        assert_eq!(
            loaded("gemini", Some(action), &["GEMINI.md", "src/GEMINI.md"]),
            2,
            "{action:?}"
        );
    }
    // What has a scope comes with a read, too.
    let rule = [".github/instructions/r.instructions.md = ---\napplyTo: '*.py'\n---\nT."];
    assert_eq!(loaded("copilot", Some(Action::Read), &rule), 1);
    assert_eq!(loaded("copilot", Some(Action::Create), &rule), 0);
    let rule = [".github/instructions/r.instructions.md = ---\napplyTo: '**'\n---\nT."];
    assert_eq!(loaded("copilot", Some(Action::Create), &rule), 1);
}

/// K24: Cline takes its rules whatever their `paths` say, from the start directory alone.
#[test]
fn cline_reads_rules_of_the_start_directory() {
    let files = [
        ".clinerules/ts.md = ---\npaths: ['**/*.ts']\n---\nT.",
        ".agents/skills/s/SKILL.md",
        ".claude/skills/c/SKILL.md",
        ".cursorrules",
        "/home/.agents/AGENTS.md",
        "AGENTS.md",
        "src/AGENTS.md",
    ];
    let always = [".agents/skills/s/SKILL.md", "/home/.agents/AGENTS.md"];
    check(
        "cline",
        "",
        &files,
        "src/a.py",
        &[&always[..], &[".clinerules/ts.md", "AGENTS.md"]].concat(),
    );
    check("cline", "src", &files, "src/a.py", &[&always[..], &["src/AGENTS.md"]].concat());
}

/// K24: Kilo, and `instructions` of opencode's settings.
#[test]
fn kilo_and_the_instructions_of_opencode() {
    let files = [
        "AGENTS.md",
        "src/AGENTS.md",
        ".kilo/rules/r.md",
        ".kilocode/rules/old.md",
        ".claude/skills/c/SKILL.md",
        "/home/.agents/skills/a/SKILL.md",
    ];
    // Both directories of rules are read (7.7.7, run).
    check("kilo", "", &files, "src/a.py", &files);
    check("kilo", "", &[".kilocode/rules/old.md"], "a.py", &[".kilocode/rules/old.md"]);
    let named = [
        "opencode.json = {\"instructions\": [\"./.cursor/rules/*.mdc\"]}",
        ".cursor/rules/r.mdc = ---\nalwaysApply: true\n---\nT.",
        ".cursorrules",
    ];
    for client in ["opencode", "kilo"] {
        check(client, "", &named, "src/a.py", &[".cursor/rules/r.mdc"]);
        check(client, "src", &named, "src/a.py", &[".cursor/rules/r.mdc"]);
    }
    check("claude", "", &named, "a.py", &[]);
    // The first name that there is on the way decides for the start.
    let both = ["CLAUDE.md", "src/AGENTS.md"];
    check("opencode", "src", &both, "src/a.py", &both[1..]);
    check("opencode", "", &both, "src/a.py", &both);
}

/// K24, K26: Qwen follows imports of `AGENTS.md`, and has rules, skills and local instructions.
#[test]
fn qwen_reads_its_own_directory() {
    let files = [
        "AGENTS.md = Text.\n@docs/imp.md\n",
        "docs/imp.md",
        ".qwen/QWEN.local.md",
        ".qwen/rules/py.md = ---\npaths: ['**/*.py']\n---\nT.",
        ".qwen/rules/commas.md = ---\npaths: '**/*.ts, **/*.py'\n---\nT.",
        ".agents/skills/a/SKILL.md",
        "src/.qwen/skills/b/SKILL.md",
        "src/.qwen/rules/no.md",
        "src/QWEN.md",
        "/home/.qwen/QWEN.md",
    ];
    let always = [
        "AGENTS.md",
        "docs/imp.md",
        ".qwen/QWEN.local.md",
        ".qwen/rules/py.md",
        "/home/.qwen/QWEN.md",
    ];
    check("qwen", "", &files, "src/a.py", &[&always[..], &[".agents/skills/a/SKILL.md"]].concat());
    let of_src = ["src/.qwen/skills/b/SKILL.md", "src/QWEN.md"];
    check("qwen", "src", &files, "src/a.py", &[&always[..], &of_src].concat());
}

/// K25: pi reads one file of each directory down to the start, and `.pi` of the start directory.
#[test]
fn pi_reads_one_file_of_each_directory() {
    let files =
        ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md", "src/CLAUDE.md", ".pi/APPEND_SYSTEM.md"];
    check("pi", "", &files, "src/a.py", &["AGENTS.override.md", ".pi/APPEND_SYSTEM.md"]);
    check("pi", "src", &files, "src/a.py", &["AGENTS.override.md", "src/CLAUDE.md"]);
    check("pi", "", &files[1..], "src/a.py", &["AGENTS.md", ".pi/APPEND_SYSTEM.md"]);
}

/// K25: Droid reads both names at every depth, also of a file outside of the start directory.
#[test]
fn droid_reads_nested_files_wherever_the_file_lies() {
    let files = ["AGENTS.md", "CLAUDE.md", ".agents/AGENTS.md", "docs/AGENTS.md", "docs/CLAUDE.md"];
    check("droid", "", &files, "docs/a.py", &files);
    check("droid", "src", &files, "docs/a.py", &files);
    check("droid", "", &[".claude/rules/r.md", ".cursorrules"], "a.py", &[]);
}

/// A client that was started above the repository sees all of it as nested.
#[test]
fn a_client_may_be_started_above_the_root() {
    let system = with(&["AGENTS.md", "GEMINI.md"]);
    let started = |client: &str| Moment { started: Some("/".into()), ..moment(client, "") };
    assert_eq!(loaded_at(&system, "a.py", &started("codex")).0, [""; 0]);
    assert_eq!(loaded_at(&system, "a.py", &started("gemini")).0, ["GEMINI.md"]);
}
