//! Answers for programs: one shape, documented in `docs/schemas`, for every command that prints data.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use brief_testkit::Sandbox;
use brief_testkit::schema::{JsonSchema, Unnamed};
use serde_json::Value;

use crate::{project, workspace};

/// Commands without `--json`, with the reason.
const WITHOUT: [(&str, &str); 17] = [
    ("allow", "prints no data"),
    ("schema", "prints a JSON Schema, which has its own shape"),
    ("completions", "prints a script"),
    ("hook claude", "speaks the client's protocol"),
    ("hook install", "prints no data"),
    ("hook uninstall", "prints no data"),
    ("agent run", "is a conversation"),
    ("agent serve", "speaks MCP"),
    ("lsp", "speaks the language server protocol"),
    ("view", "serves pages; its numbers are those of the other commands"),
    ("mcp serve", "speaks MCP"),
    ("log enable", "prints no data"),
    ("log disable", "prints no data"),
    ("log clear", "prints no data"),
    ("mcp install", "prints no data"),
    ("mcp uninstall", "prints no data"),
    ("help", "prints help"),
];

/// The commands of the program that have none below them, with whether they take `--json`.
fn leaves() -> Vec<(String, bool)> {
    fn collect(command: &clap::Command, above: &str, leaves: &mut Vec<(String, bool)>) {
        for command in command.get_subcommands().filter(|own| !own.is_hide_set()) {
            let name = format!("{above} {}", command.get_name()).trim_start().to_owned();
            let has_json = command.get_arguments().any(|arg| arg.get_long() == Some("json"));
            let is_leaf = command.get_subcommands().next().is_none();
            if is_leaf || has_json {
                leaves.push((name.clone(), has_json));
            }
            collect(command, &name, leaves);
        }
    }
    let mut leaves = Vec::new();
    collect(&brief_cli::build_command_line(), "", &mut leaves);
    leaves
}

/// One run of each command, several where a command has several shapes. They build on each other.
const RUNS: &[(&str, &str)] = &[
    ("status", "status"),
    ("context", "context src/a.py"),
    ("context", "context --all"),
    ("context", "context src/a.py --client claude --budget 10"),
    ("why", "why src/a.py"),
    ("context", "context src/a.py --decisions"),
    ("show", "show src/a.py"),
    ("tokens", "tokens"),
    ("tokens", "tokens src/a.py"),
    ("tokens tree", "tokens --tree"),
    ("coverage", "coverage"),
    ("diff", "diff"),
    ("stale", "stale"),
    ("mcp servers", "mcp servers src/a.py"),
    ("task", "task fix --no-exec"),
    ("task list", "task list"),
    ("agent list", "agent list"),
    ("agent show", "agent show agents/dev_helper.agent.md"),
    ("agent show", "agent show agents/dev_broken.agent.md"),
    ("agent check", "agent check agents/dev_broken.agent.md"),
    ("agent debug command", "agent debug command agents/dev_helper.agent.md hello World"),
    ("agent debug call", "agent debug call agents/dev_helper.agent.md echo {\"text\":\"hi\"}"),
    ("agent debug call", "agent debug call agents/dev_helper.agent.md echo {}"),
    ("agent debug abilities", "agent debug abilities agents/dev_helper.agent.md"),
    ("agent new", "-C ../outside agent new dev_other"),
    ("agent check preflight", "agent check --preflight agents/dev_helper.agent.md"),
    ("list packages", "list --packages"),
    ("list packages", "list --packages --all"),
    ("context", "context src/a.py --dependencies"),
    ("lint", "lint"),
    ("audit", "audit"),
    ("audit", "audit ../outside/guidance"),
    ("trust", "trust --list"),
    ("add", "add ../outside/guidance"),
    ("hook status", "hook status claude"),
    ("hook test", "hook test claude src/a.py --on edit"),
    ("log", "log"),
    ("check", "check"),
    ("replay", "replay"),
    ("list", "list"),
    ("list", "list ../outside/guidance"),
    ("search", "search money ../outside/guidance"),
    ("search", "search money"),
    ("sync", "sync"),
    ("update check", "update --check"),
    ("update", "update"),
    ("doctor", "doctor"),
    ("remove", "remove rule/money"),
    ("remove", "remove --all"),
    ("setup", "setup --dry-run"),
    ("eject", "eject --all --dry-run"),
    ("registry build", "-C ../outside/guidance registry build"),
    ("registry fmt", "-C ../outside/guidance registry fmt --check"),
    ("registry new", "-C ../outside/guidance registry new rule names"),
    ("import as", "import --from claude --as copilot"),
    ("import", "import --dry-run"),
    ("import", "import CLAUDE.md --to items"),
    ("init", "-C ../outside init"),
    ("man", "man ../outside/man"),
    ("trust policy", "trust --policy"),
    ("version", "version"),
    ("fleet status", "fleet status ."),
    ("fleet status", "fleet status . --update money --budget 10"),
    ("fleet branch", "fleet branch . --update money --dry-run"),
    (
        "registry publish",
        "registry publish oci-layout:../outside/kept:v1 --from ../outside/guidance",
    ),
    (
        "registry tag",
        "registry tag oci-layout:../outside/kept@sha256:3a464cd3b90027398f5707362823d0b79dbe329fc2374bde531ad1de13690bff stable",
    ),
];

/// A repository that every command has something to say about.
fn everything() -> Sandbox {
    let tools = "---\ncommands:\n  - name: hello\n    description: Greets\n    body: Hello $1\n---\n# Helper\nHelps.\n\n## Tools\n\n```js\nreturn { echo: { fn: (args) => args.text, scheme: { name: \"echo\", description: \"Says it\", parameters: { type: \"object\", properties: { text: { type: \"string\" } }, required: [\"text\"] } } } };\n```\n";
    let project = project()
        .with_file(
            "AGENTS.yaml",
            "context:\n  - content: Integers.\n    match: ['**/*.py']\n  - content: Never.\n    match: ['none/**']\n    mach: x\n\
             decisions:\n  - {decision: D, rationale: R, alternatives: [{option: O, reason_rejected: P}]}\n",
        )
        .with_file("src/AGENTS.yaml", "context: [{content: Integers.}]\n")
        .with_file("src/a.py", "")
        .with_file("package.json", "{\"dependencies\": {\"ui\": \"1\"}}")
        .with_file("node_modules/ui/package.json", "{\"name\": \"ui\", \"version\": \"1.0.0\"}")
        .with_file("node_modules/ui/llms.txt", "# UI\n\nSee https://example.com.\n")
        .with_file("brief.toml", "[dependencies]\noffer = [\"ui\"]\n")
        .with_file("CLAUDE.md", "# Shop\n\nBe brief.\n")
        .with_file(".context/always.md", "---\ntrigger: always\n---\nHello\n")
        .with_file(
            ".context/context-config.json",
            "{\"mcpServers\": {\"db\": {\"command\": \"db\", \"args\": [\"x\"]}, \"far\": {\"url\": \"https://example.com\"}}}",
        )
        .with_file(".agents/tasks/fix.md", "---\nselectors: {languages: go}\n---\nFix it. !`date`\n")
        .with_file(".agents/rules/go.md", "---\nlanguages: go\n---\nTabs.\n")
        .with_file(".agents/rules/py.md", "---\nlanguages: python\n---\nSpaces.\n")
        .with_file("agents/dev_helper.agent.md", tools)
        .with_file("agents/dev_broken.agent.md", "---\nversion: 1\nstatus: maybe\n---\n# Broken\n");
    let guidance = project.outside_directory().join("guidance");
    let rule = "---\nschema: 1\nkind: rule\nname: money\ndescription: Money is an integer\nmetadata:\n  version: \"1.0.0\"\n---\n\nMoney is integers.\n";
    fs::create_dir_all(guidance.join("rules/money")).unwrap();
    fs::write(guidance.join("rules/money/RULE.md"), rule).unwrap();
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "one"]] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=T", "-c", "user.email=t@example.com"]).args(args);
        assert!(git.current_dir(project.path()).status().unwrap().success());
    }
    project.write("AGENTS.yaml", "context:\n  - {content: Cents., match: ['**/*.py']}\n");
    super::replay::record_session(&project);
    project
}

/// U68: every command that prints data takes `--json`, and prints the one envelope with the shape that its
/// schema says, to the last key.
#[cfg(unix)]
#[test]
fn every_command_answers_in_the_documented_shape() {
    let known: BTreeSet<&str> = RUNS.iter().map(|(kind, _)| *kind).collect();
    for (name, has_json) in leaves() {
        if WITHOUT.iter().any(|(without, _)| *without == name) {
            assert!(!has_json, "`{name}` takes `--json` and is listed as one that does not");
            continue;
        }
        assert!(has_json, "`brief {name}` takes no `--json`");
        let name = if name == "task run" { "task" } else { &name };
        assert!(known.contains(name), "`brief {name} --json` is not tried here");
    }
    let project = everything();
    let schemas = workspace().join("docs/schemas");
    for (kind, line) in RUNS {
        let mut args: Vec<&str> = line.split(' ').collect();
        // What follows the name of an agent's command belongs to that.
        let place = if *kind == "agent debug command" { 3 } else { args.len() };
        args.insert(place, "--json");
        // `brief` becomes `brief-agent`, which a test does not survive.
        let is_agent = kind.starts_with("agent ");
        if is_agent && !crate::has_brief_agent() {
            continue;
        }
        let output = if is_agent { project.spawn(&args) } else { project.run(&args) };
        let answer = output.json();
        assert_eq!(answer["kind"], *kind, "{line}");
        let version = if matches!(*kind, "show" | "tokens") { 3 } else { 2 };
        assert_eq!(answer["version"], version, "{line}");
        let root = answer["root"].as_str().unwrap_or_default();
        assert!(root.starts_with('/') || root.starts_with("$PROJECT"), "{line}: {root}");
        assert!(answer["diagnostics"].is_array(), "{line}");
        let name = format!("{}.json", kind.replace(' ', "-"));
        let problems = JsonSchema::read(&schemas, &name, Unnamed::Forbidden).find_problems(&answer);
        assert!(problems.is_empty(), "{line}: {problems:#?}\n{output}");
        no_path_below_root(kind, &answer, root, line);
    }
    let mut names: BTreeSet<String> =
        known.iter().map(|kind| format!("{}.json", kind.replace(' ', "-"))).collect();
    names.extend(["README.md", "common.json", "error.json"].map(str::to_owned));
    for entry in fs::read_dir(&schemas).unwrap() {
        let entry = entry.unwrap();
        // Those of files that people write are in a directory of their own.
        if entry.file_type().unwrap().is_dir() {
            continue;
        }
        let name = entry.file_name().into_string().unwrap();
        assert!(names.remove(&name), "`docs/schemas/{name}` is for no command");
    }
    assert!(names.is_empty(), "no schema: {names:?}");
}

/// Paths are relative to the root, which is given once; `context` has absolute ones in `source.path`.
fn no_path_below_root(kind: &str, answer: &Value, root: &str, line: &str) {
    const ABSOLUTE: [&str; 2] = ["context", "why"];
    fn paths(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    if let ("path" | "out" | "copy", Value::String(path)) = (key.as_str(), value) {
                        found.push(path.clone());
                    }
                    paths(value, found);
                }
            }
            Value::Array(list) => list.iter().for_each(|value| paths(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    let answer = if ABSOLUTE.contains(&kind) { &answer["diagnostics"] } else { answer };
    paths(answer, &mut found);
    for path in found {
        assert!(!path.starts_with(&format!("{root}/")), "{line}: {path}");
    }
}

/// U68: an error under `--json` is one object on standard error, whatever it is about, and standard output
/// stays empty.
#[test]
fn an_error_is_one_object() {
    let schemas = workspace().join("docs/schemas");
    let schema = JsonSchema::read(&schemas, "error.json", Unnamed::Forbidden);
    let project = project()
        .with_file("brief.toml", "clients = 3\n")
        .with_file("x.agent.md", "---\nstatus: maybe\n---\n# X\n");
    for (args, code) in [
        (&["lint", "nope", "--json"][..], 1),
        (&["lint", "nope", "--format", "json"], 1),
        (&["lint", "nope", "--format=json"], 1),
        (&["task", "nope", "--json"], 1),
        (&["sync", "--json"], 2),
        (&["list", "--json"], 2),
        (&["contxt", "a", "--json"], 2),
        (&["context", "--json"], 2),
        (&["tokens", "--client", "nobody", "--json"], 2),
        (&["-C", "nope", "context", "a", "--json"], 2),
        (&["diff", "--json"], 1),
    ] {
        let output = project.run(args);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(code)), "{args:?} {output}");
        let error: Value = serde_json::from_str(&output.stderr)
            .unwrap_or_else(|error| panic!("{args:?}: {error}\n{output}"));
        assert_eq!(schema.find_problems(&error), Vec::<String>::new(), "{args:?}");
        assert!(error["error"]["message"].as_str().is_some_and(|text| text.len() > 4), "{output}");
    }
    insta::assert_snapshot!(project.run(&["contxt", "a", "--json"]), @r#"
    ------- stderr -------
    {
      "kind": "error",
      "version": 1,
      "error": {
        "message": "unrecognized subcommand 'contxt'",
        "hints": [
          "a similar subcommand exists: 'context'",
          "Usage: brief [OPTIONS] [COMMAND]",
          "For more information, try '--help'."
        ]
      }
    }
    [exit status: 2]
    [EOF]
    "#);
    insta::assert_snapshot!(project.run(&["sync", "--json"]), @r#"
    ------- stderr -------
    {
      "kind": "error",
      "version": 1,
      "error": {
        "message": "brief.toml:1:11: `clients` must be a table",
        "hints": []
      }
    }
    [exit status: 2]
    [EOF]
    "#);
    // After `--`, it is a name.
    let output = project.run(&["context", "--bogus", "--", "--json"]);
    assert!(output.stderr.starts_with("error: "), "{output}");
}
