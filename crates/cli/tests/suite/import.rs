//! `brief import` and `brief import --as`: clients' own files become items, and come back as they were.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use brief_clients::import::split_paragraphs;
use brief_testkit::snapshot::{self, Snapshot};
use brief_testkit::{Fault, Sandbox};
use serde_json::Value;

use crate::kill_matrix::in_process;
use crate::project;

const RULES: &str = "# Shop\n\n- Prices are integers in cents.\n- Never log tokens.\n\n## Tests\n\nRun `make test` before every commit.\n\n```sh\nmake test\n\nmake lint\n```\n";
const API: &str = "\n# API\n\n- Validate every request.\n";

pub(crate) fn json(project: &Sandbox, args: &[&str]) -> Value {
    let output = project.run(&[args, &["--json"]].concat());
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

pub(crate) fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the items of a report.
pub(crate) fn names(report: &Value) -> Vec<&str> {
    let items = report["items"].as_array().unwrap().iter();
    items.map(|item| item["item"].as_str().unwrap()).collect()
}

/// Six clients' files that say nearly the same, as people have them.
fn six_clients() -> Sandbox {
    project()
        .with_file("CLAUDE.md", format!("{RULES}\nUse the Task tool for searches.\n"))
        .with_file("AGENTS.md", RULES)
        .with_file("GEMINI.md", RULES)
        .with_file(".cursorrules", format!("{RULES}\n## Cursor\n\nUse the composer.\n"))
        .with_file(".github/copilot-instructions.md", RULES.replace('\n', "\r\n"))
        .with_file(".claude/rules/api.md", format!("---\npaths:\n  - src/api/**/*.ts\n---\n{API}"))
        .with_file(
            ".cursor/rules/api.mdc",
            format!("---\ndescription: The API\nglobs: src/api/**/*.ts\nalwaysApply: false\n---\n{API}"),
        )
        .with_file(".github/instructions/api.instructions.md", format!("---\napplyTo: \"src/api/**/*.ts\"\n---\n{API}"))
        .with_file(".clinerules/api.md", format!("---\npaths: [\"src/api/**/*.ts\"]\n---\n{API}\n- Cline only.\n"))
        .with_file(".claude/agents/reviewer.md", "---\nname: reviewer\ndescription: Reviews\ntools: Read, Grep, Task\n---\n\nYou review.\n")
        .with_file(".claude/skills/ship/SKILL.md", "---\nname: ship\ndescription: Ships it\n---\n\n# Ship\n")
        .with_file(".agents/skills/ship/SKILL.md", "---\nname: ship\ndescription: Ships it\n---\n\n# Ship\n")
}

/// As few items as a person would write, and every paragraph of the originals is in some output.
#[test]
fn six_clients_become_a_few_items_and_no_text_is_lost() {
    let project = six_clients();
    let report = json(&project, &["import"]);
    let items = names(&report);
    assert_eq!(items.iter().filter(|item| item.starts_with("skill/")).count(), 1, "{items:?}");
    assert!(items.len() <= 6, "{items:?}");
    let from: usize =
        report["items"].as_array().unwrap().iter().map(|item| texts(&item["from"]).len()).sum();
    assert_eq!(from, 12, "{report:#}");
    // The clients of the items, as the hint of the import has them.
    let clients = ["claude", "cline", "copilot", "cursor", "opencode"];
    let clients = clients.iter().flat_map(|client| ["--client", client]);
    let args: Vec<&str> =
        ["registry", "build", "--out", "built"].into_iter().chain(clients).collect();
    let output = project.run(&args);
    assert_eq!(output.code, Some(0), "{output}");
    let mut built = BTreeSet::new();
    let mut open = vec![project.path().join("built")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else if let Ok(text) = fs::read_to_string(entry.path()) {
                built.extend(split_paragraphs(&text).into_iter().map(|own| own.trim().to_owned()));
            }
        }
    }
    for item in report["items"].as_array().unwrap() {
        for path in texts(&item["from"]) {
            let text = project.read(path);
            let body = text.rsplit("\n---\n").next().unwrap();
            for paragraph in split_paragraphs(body) {
                assert!(built.contains(paragraph.trim()), "{path} loses {paragraph:?}");
            }
        }
    }
}

/// An import takes neither its own items nor the files of a build or a conversion for originals.
#[test]
fn a_second_import_finds_nothing_new() {
    let project = project()
        .with_file(
            ".claude/agents/rev.md",
            "---\nname: rev\ndescription: Reviews\n---\n\nYou review.\n",
        )
        .with_file(".cursor/rules/ts.mdc", "---\nalwaysApply: true\n---\n\nStrict types.\n");
    assert_eq!(
        project.run(&["import", "--from", "claude", "--as", "codex", "--out", "out"]).code,
        Some(0)
    );
    let first = json(&project, &["import"]);
    assert_eq!(first["items"].as_array().unwrap().len(), 2, "{first:#}");
    assert_eq!(project.run(&["registry", "build", "guidance", "--out", "built"]).code, Some(0));
    let again = json(&project, &["import"]);
    assert_eq!(again["items"].as_array().unwrap().len(), 2, "{again:#}");
    assert!(!project.path().join("guidance/rules/agent").exists());
    // A file of Codex has the name of its agent.
    let codex = project.path().join("out/.codex/agents/rev.toml");
    project.write(".codex/agents/rev.toml", fs::read_to_string(codex).unwrap());
    let third = json(&project, &["import", "--dry-run"]);
    let names = names(&third);
    assert!(names.iter().all(|name| !name.contains("toml")), "{names:?}");
}

/// Whatever the other client has no words for is named.
#[test]
fn a_conversion_loses_nothing_in_silence() {
    let project = project()
        .with_file(
            ".claude/agents/rev.md",
            "---\nname: rev\ndescription: d\ntools: Read\n---\n\nYou review.\n",
        )
        .with_file(".claude/rules/api.md", "---\npaths: src/**\n---\n\nNo floats.\n");
    let output = project.run(&["import", "--from", "claude", "--as", "codex"]);
    assert!(output.stderr.contains("the agent `rev` loses its `tools`"), "{output}");
    assert!(output.stderr.contains("the path and patterns of the rule `api`"), "{output}");
    assert!(output.stderr.contains("Codex finds it only if `AGENTS.md` lists it"), "{output}");
}

/// The law, through the program: the same body bytes, and the same fields.
#[test]
fn what_is_imported_and_built_is_what_it_was() {
    let files = [
        (".claude/rules/deep/naming.md", "---\npaths: src/**\n---\nNames.\n"),
        (
            ".claude/commands/fix.md",
            "---\nallowed-tools: Bash(git:*)\n---\nFix $ARGUMENTS in $1.\n",
        ),
        (
            ".github/agents/CSharp.agent.md",
            "---\nname: C# Expert\ndescription: d\ntools: ['edit', 'github/*']\n---\r\n# Expert\r\n\r\nText.\r\n",
        ),
        (".github/prompts/ask.prompt.md", "---\nmode: ask\n---\nAsk ${input:topic}.\n"),
        (
            ".opencode/agents/plan.md",
            "---\ndescription: Plans\nmode: primary\ntemperature: 0.1\npermission:\n  bash: ask\n---\nPlan.\n",
        ),
    ];
    let project =
        files.into_iter().fold(project(), |project, (path, text)| project.with_file(path, text));
    let report = json(&project, &["import"]);
    assert_eq!(report["skipped"], Value::Array(Vec::new()), "{report:#}");
    assert_eq!(project.run(&["registry", "build", "--out", "built"]).code, Some(0));
    for (path, text) in files {
        let name = path.rsplit('/').next().unwrap();
        let (above, _) = path.rsplit_once('/').unwrap();
        let above = above.strip_suffix("/deep").unwrap_or(above);
        let again = project.read(&format!("built/{above}/{}", name.replace("CSharp", "csharp")));
        let body = |text: &str| {
            let (_, rest) = text.split_once("\n---").unwrap();
            rest.split_once('\n').unwrap().1.to_owned()
        };
        assert_eq!(body(&again), body(text), "{path}\n{again}");
    }
    let agent = project.read("built/.github/agents/csharp.agent.md");
    assert!(
        agent.contains("name: 'C# Expert'")
            || agent.contains("name: \"C# Expert\"")
            || agent.contains("name: C# Expert"),
        "{agent}"
    );
    assert!(agent.contains("github/*"), "{agent}");
}

/// Nothing is written with `--dry-run`, nothing is replaced, and a second run changes nothing.
#[test]
fn nothing_is_overwritten() {
    let project = project()
        .with_file(".claude/rules/api.md", API)
        .with_file(".claude/rules/log.md", "Log.\n");
    assert_eq!(json(&project, &["import", "--dry-run"])["written"], 0);
    assert!(!project.path().join("guidance").exists() && !project.path().join(".brief").exists());
    project.write("guidance/rules/api/RULE.md", "mine\n");
    let output = project.run(&["import", "--to", "guidance"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(
        output.stderr.contains(
            "skipped `.claude/rules/api.md`: `guidance/rules/api` already exists with other content"
        ),
        "{output}"
    );
    assert_eq!(project.read("guidance/rules/api/RULE.md"), "mine\n");
    let log = project.read("guidance/rules/log/RULE.md");
    assert_eq!(json(&project, &["import", "--to", "guidance"])["written"], 0);
    assert_eq!(project.read("guidance/rules/log/RULE.md"), log);
    for place in [".agents", "../nowhere"] {
        assert_eq!(project.run(&["import", "--to", place]).code, Some(2), "{place}");
    }
}

/// Two encodings, a header alone, a link out of the project, names that are one on some disks, a scope that contradicts.
#[test]
fn bad_files_are_named_and_the_rest_is_imported() {
    let project = project()
        .with_file(".claude/rules/wide.md", [0xff, 0xfe, b'a', 0])
        .with_file(".claude/rules/latin.md", b"caf\xe9\n")
        .with_file(".claude/rules/mark.md", "\u{feff}---\npaths: [a]\n---\nMarked.\n")
        .with_file(".claude/rules/header.md", "---\npaths: [a]\n---\n")
        .with_file(".claude/rules/API.md", "One.\n")
        .with_file(".claude/rules/deep/api.md", "Two.\n")
        .with_file(".claude/rules/directive.md", "<!-- @client:claude -->\nx\n")
        .with_file(".claude/rules/taking.md", "---\npaths: [src/**, '!src/x/**']\n---\nText.\n");
    fs::write(project.outside_directory().join("secret.md"), "secret\n").unwrap();
    symlink(
        project.outside_directory().join("secret.md"),
        project.path().join(".claude/rules/away.md"),
    )
    .unwrap();
    let report = json(&project, &["import"]);
    let items = names(&report);
    assert_eq!(items, ["rule/api", "rule/claude-api", "rule/mark", "rule/taking"], "{report:#}");
    let skipped: BTreeSet<&str> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    let expected = ["away", "directive", "header", "latin", "wide"]
        .map(|name| format!(".claude/rules/{name}.md"));
    assert_eq!(skipped, expected.iter().map(String::as_str).collect());
    let taking = project.read("guidance/rules/taking/RULE.md");
    assert!(taking.contains("claude:\n  paths:\n    - src/**\n    - \"!src/x/**\"\n"), "{taking}");
    assert!(!taking.contains("scope:"), "{taking}");
    assert_eq!(
        project.run(&["registry", "build", "--client", "claude", "--out", "built"]).code,
        Some(0)
    );
}

/// `--replace`: the originals are outputs, recorded, with copies; `clean` puts them back.
#[test]
fn originals_become_outputs_and_come_back() {
    let text = format!("---\npaths:\n  - \"src/**/*.ts\"\n---\n{API}");
    let project = project()
        .with_file(".claude/rules/api.md", &text)
        .with_file(".claude/skills/ship/SKILL.md", "---\nname: ship\ndescription: d\n---\nShip.\n")
        .with_file(".claude/skills/ship/run.sh", "#!/bin/sh\n")
        .with_file("CLAUDE.md", "Be brief.\n");
    let script = project.path().join(".claude/skills/ship/run.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let report = json(&project, &["import", "--replace"]);
    assert_eq!(texts(&report["left"]), ["CLAUDE.md"], "{report:#}");
    assert!(texts(&report["replaced"]).contains(&".claude/rules/api.md"), "{report:#}");
    assert!(project.read("brief.lock").contains(".claude/rules/api.md"));
    // The item is the source now.
    let item = project.read("guidance/rules/api/RULE.md");
    project.write("guidance/rules/api/RULE.md", item.replace("every request", "each request"));
    let output = project.run(&["sync"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(project.read(".claude/rules/api.md").ends_with("- Validate each request.\n"));
    assert_eq!(project.run(&["import", "--dry-run"]).code, Some(0));
    let output = project.run(&["remove", "--all"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(project.read(".claude/rules/api.md"), text);
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o111, 0o111);
}

/// Files of rulesync, ruler and apm.
#[test]
fn other_tools_files_are_imported() {
    let project = project()
        .with_file(".rulesync/rules/api.md", format!("---\nroot: false\ntargets: [claudecode, copilot, nobody]\ndescription: The API\nglobs: [\"src/api/**/*.ts\"]\n---\n{API}"))
        .with_file(".rulesync/subagents/planner.md", "---\nname: planner\ntargets: ['*']\ndescription: Plans\nclaudecode:\n  model: opus\n---\nPlan.\n")
        .with_file(".ruler/AGENTS.md", "Ruler.\n")
        .with_file(".apm/instructions/python.instructions.md", "---\napplyTo: \"**/*.py\"\n---\nTypes.\n");
    let report = json(&project, &["import"]);
    assert_eq!(report["skipped"], Value::Array(Vec::new()), "{report:#}");
    let api = project.read("guidance/rules/api/RULE.md");
    assert!(
        api.contains("audience:\n  - claude\n  - copilot\n") && api.contains("- src/api/**/*.ts"),
        "{api}"
    );
    assert!(project.read("guidance/agents/planner/AGENT.md").contains("claude:\n  model: opus\n"));
    let python = project.read("guidance/rules/python/RULE.md");
    assert!(python.contains("- \"**/*.py\"") && !python.contains("audience"), "{python}");
    assert!(project.read("guidance/rules/agents/RULE.md").ends_with("Ruler.\n"));
    assert_eq!(project.run(&["registry", "build", "--out", "built"]).code, Some(0));
}

/// Short scoped rules become entries of `AGENTS.yaml`.
#[test]
fn short_rules_become_entries() {
    let project = project()
        .with_file(".claude/rules/api.md", format!("---\npaths: [src/api/**]\n---\n{API}"))
        .with_file(".claude/rules/all.md", "For all.\n");
    let output = project.run(&["import", "--agents-yaml"]);
    assert_eq!(output.code, Some(0), "{output}");
    let answer = project.run(&["context", "src/api/a.ts", "--only", "agents-yaml"]);
    assert!(answer.stdout.contains("Validate every request."), "{answer}");
    assert!(
        !project.run(&["context", "lib/a.ts", "--only", "agents-yaml"]).stdout.contains("Validate")
    );
    assert_eq!(project.run(&["import", "--agents-yaml"]).code, Some(0), "the same file is there");
    project.write("AGENTS.yaml", "context: []\n");
    assert_eq!(project.run(&["import", "--agents-yaml"]).code, Some(1));
    assert_eq!(project.read("AGENTS.yaml"), "context: []\n");
}

/// From client to client: written once, never over a file.
#[test]
fn files_are_converted() {
    let project = project()
        .with_file(".claude/rules/api.md", format!("---\npaths: [src/**]\nmine: 1\n---\n{API}"));
    let output = project.run(&["import", "--from", "claude", "--as", "copilot"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(
        output.stdout.contains("applyTo: \"**/src/**\"") && output.stdout.ends_with(API),
        "{output}"
    );
    assert!(output.stderr.contains("`mine`: omitted: only claude has this field"), "{output}");
    assert!(!project.path().join(".github").exists());
    assert_eq!(
        project.run(&["import", "--from", "claude", "--as", "copilot", "--out", "."]).code,
        Some(0)
    );
    assert!(project.read(".github/instructions/api.instructions.md").ends_with(API));
    project.write(".github/instructions/api.instructions.md", "mine\n");
    let output =
        project.run(&["import", "--from", "claude", "--as", "copilot", ".claude", "--out", "."]);
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(project.read(".github/instructions/api.instructions.md"), "mine\n");
    assert_eq!(project.run(&["import", "--from", "claude", "--as", "cluade"]).code, Some(2));
}

/// Hand-written duplicates are told, with the way out.
#[test]
fn doctor_finds_the_same_text() {
    let project = project().with_file("CLAUDE.md", RULES).with_file("AGENTS.md", RULES);
    let output = project.run(&["doctor"]);
    assert!(
        output.stdout.contains("note[same-text]: same or similar text in AGENTS.md, CLAUDE.md"),
        "{output}"
    );
    assert!(
        output
            .stdout
            .contains("run `brief import AGENTS.md CLAUDE.md` to merge them into one rule"),
        "{output}"
    );
}

/// A link to another file is how a project shares one text: nothing is to be done.
#[cfg(unix)]
#[test]
fn doctor_takes_links_for_one_file() {
    let project = project().with_file("AGENTS.md", RULES).with_link("CLAUDE.md", "AGENTS.md");
    let output = project.run(&["doctor"]);
    assert!(!output.stdout.contains("same-text"), "{output}");
    let project = project.with_file("GEMINI.md", RULES);
    let output = project.run(&["doctor"]);
    assert!(output.stdout.contains("same or similar text in AGENTS.md, GEMINI.md"), "{output}");
}

/// Items and outputs come to be together: whatever runs after a kill finds all of them or none.
#[test]
fn a_replacement_is_one_step() {
    let original = || {
        project()
            .with_file(".claude/rules/api.md", "---\npaths: [src/**]\n---\nText.\n")
            .with_file(".mcp.json", "{\"mcpServers\": {\"docs\": {\"command\": \"docs\"}}}\n")
    };
    let state = |project: &Sandbox| {
        let mut found = Snapshot::new();
        snapshot::collect_snapshot(&project.path(), "", &mut found);
        found.retain(|path, _| !path.starts_with(".brief"));
        snapshot::files_only(&found)
    };
    let args = ["import", "--replace"];
    let whole = original();
    let old = state(&whole);
    let steps = in_process(&whole, &args, Fault::None).steps.len();
    let new = state(&whole);
    // The manifest names no directory of this machine.
    let manifest = whole.read("brief.toml");
    assert!(manifest.contains("directory = \"./guidance\""), "{manifest}");
    let mut reached = [0, 0];
    for at in 0..steps {
        let project = original();
        in_process(&project, &args, Fault::Dies { at });
        // Another command that finishes an interrupted run, and finds nothing to do without one.
        in_process(&project, &["sync"], Fault::None);
        let found = state(&project);
        let why = || snapshot::describe_differences(&found, &new);
        assert!(found == old || found == new, "step {at}: {:#?}", why());
        reached[usize::from(found == new)] += 1;
    }
    assert!(reached[0] > 0 && reached[1] > 0, "{reached:?}");
}

/// Files that name what a client leaves alone have no portable form: they are named, they stay, and nothing has failed.
#[test]
fn ignore_files_are_named_and_stay() {
    let project = project()
        .with_file(".cursor/rules/a.mdc", "---\nalwaysApply: true\n---\n\nText.\n")
        .with_file(".cursorignore", "secrets/\n")
        .with_file("docs/.geminiignore", "nobody reads this one\n");
    let output = project.run(&["import", "--dry-run"]);
    assert_eq!(output.code, Some(0), "{output}");
    let said = "`.cursorignore`: lists files for Cursor to ignore; brief does not import it\n";
    assert!(output.stderr.contains(said), "{output}");
    assert!(!output.stderr.contains("geminiignore"), "{output}");
    let json = project.run(&["import", "--replace", "--json"]).json();
    assert_eq!(json["skipped"][0]["path"], ".cursorignore", "{json:#}");
    assert_eq!(project.read(".cursorignore"), "secrets/\n");
}

/// Servers of clients are declared once, for the clients that have them; hooks and sources of other tools are named.
#[test]
fn servers_are_declared_and_the_rest_is_named() {
    let docs = "{\"command\": \"npx\", \"args\": [\"docs\"]}";
    let servers = format!("{{\"mcpServers\": {{\"docs\": {docs}}}}}\n");
    let project = project()
        .with_file(".mcp.json", &servers)
        .with_file(".cursor/mcp.json", &servers)
        .with_file(".vscode/mcp.json", format!("{{\"servers\": {{\"code\": {docs}}}}}\n"))
        .with_file(
            ".codex/config.toml",
            "model = \"m\"\n[mcp_servers.more]\ncommand = \"more\"\ncwd = \".\"\n",
        )
        .with_file(".claude/settings.json", "{\"hooks\": {\"Stop\": [{\"hooks\": []}]}}\n")
        .with_file(
            "skills-lock.json",
            "{\"version\": 1, \"skills\": {\"pdf\": {\"source\": \"o/r\"}}}\n",
        )
        .with_file("brief.toml", "# Mine.\n");
    let report = json(&project, &["import"]);
    assert_eq!(report["servers"][0]["name"], "docs");
    assert_eq!(texts(&report["servers"][0]["from"]), [".mcp.json", ".cursor/mcp.json"]);
    assert_eq!(report["servers"].as_array().unwrap().len(), 1);
    let mut named: Vec<&str> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|named| named["path"].as_str().unwrap())
        .collect();
    named.sort_unstable();
    assert_eq!(
        named,
        [".claude/settings.json", ".codex/config.toml", ".vscode/mcp.json", "skills-lock.json"]
    );
    let manifest = project.read("brief.toml");
    let declared =
        "[mcp.docs]\ncommand = \"npx\"\nargs = [\"docs\"]\nclients = [\"claude\", \"cursor\"]\n";
    assert_eq!(manifest, format!("# Mine.\n\n{declared}"));
    // Once is enough.
    assert_eq!(json(&project, &["import"])["servers"].as_array().unwrap().len(), 0);
    assert_eq!(project.read("brief.toml"), manifest);
    // The clients have what they had.
    let synced = project.run(&["sync"]);
    assert_eq!(synced.code, Some(0), "{synced}");
    assert_eq!(project.read(".cursor/mcp.json"), servers);
}

/// Two agents of one client with one text and other fields are two: each has to come back as it was.
#[test]
fn fields_of_the_same_text_are_not_lost() {
    let agent = |name: &str, model: &str| {
        format!("---\nname: {name}\ndescription: d\nmodel: {model}\n---\n\nReview it.\n")
    };
    let files = [("a", agent("review-a", "opus")), ("b", agent("review-b", "haiku"))];
    let mut project = project();
    for (plugin, text) in &files {
        project = project.with_file(&format!("plugins/{plugin}/agents/review.md"), text);
    }
    let report = json(&project, &["import", "plugins"]);
    assert_eq!(report["items"].as_array().unwrap().len(), 2, "{report:#}");
    let built =
        project.run(&["registry", "build", "guidance", "--client", "claude", "--out", "out"]);
    assert_eq!(built.code, Some(0), "{built}");
    let names = names(&report);
    let outputs: BTreeSet<String> = names
        .iter()
        .map(|name| project.read(&format!("out/.claude/agents/{}.md", &name["agent/".len()..])))
        .collect();
    for (_, text) in &files {
        let fields: Vec<&str> = text.lines().filter(|line| line.contains(": ")).collect();
        let has_all = |output: &String| fields.iter().all(|field| output.contains(field));
        assert!(outputs.iter().any(has_all), "{text}: {outputs:#?}");
    }
}

/// The directory of a skill has the name that its header says; in a collection it often has another one.
#[test]
fn a_skill_is_called_as_its_header_says() {
    let text = "---\nname: template-skill\ndescription: d\n---\n\nSteps.\n";
    let project = project().with_file("template/SKILL.md", text);
    assert_eq!(names(&json(&project, &["import", "template"])), ["skill/template-skill"]);
    let built =
        project.run(&["registry", "build", "guidance", "--client", "claude", "--out", "out"]);
    assert_eq!(built.code, Some(0), "{built}");
    assert_eq!(project.read("out/.claude/skills/template-skill/SKILL.md"), text);
}
