//! Collections as people publish them: items in one file for one client, plugins, marketplaces.

use std::collections::BTreeMap;
use std::fs;

use brief_testkit::Sandbox;
use serde_json::{Value, json};

use crate::install::{Remote, consumer, item, run};

pub(crate) const REVIEWER: &str = "---\nname: code-reviewer\ndescription: Reviews code\ntools: Read, Grep\nmodel: sonnet # cheap\n---\n\n# Reviewer\n\nYou review.\n";
const SHARP: &str =
    "---\nname: 'C# Expert'\ndescription: Knows C#\ntools: ['read', 'search']\n---\nYou know C#.\n";
const REACT: &str =
    "---\ndescription: React\nglobs: **/*.tsx,**/*.jsx\nalwaysApply: false\n---\nUse hooks.\n";
const GO: &str = "---\napplyTo: '**/*.go'\n---\nUse gofmt.\n";
const SHIP: &str =
    "---\ndescription: Ships it\nargument-hint: [version]\n---\nShip $ARGUMENTS now.\n";
const PLAN: &str = "---\nmode: agent\ndescription: Plans\n---\nPlan ${input:what}.\n";
const PDF: &str = "---\nname: pdf\ndescription: Use for PDF files\n---\n\nRead it.\n";

/// A collection with one file of each kind, and pages that are none.
fn collection(project: &Sandbox) -> Remote {
    let remote = Remote::new(project, "github/acme/collection");
    remote.commit(&[
        ("agents/reviewer.md", REVIEWER),
        ("agents/CSharpExpert.agent.md", SHARP),
        (
            "categories/web/frontend.md",
            "---\nname: frontend\ndescription: Web\nmodel: opus\n---\nYou do web.\n",
        ),
        ("rules/react.mdc", REACT),
        ("instructions/go.instructions.md", GO),
        ("commands/ship.md", SHIP),
        ("prompts/plan.prompt.md", PLAN),
        (".claude/skills/pdf/SKILL.md", PDF),
        // Pages, templates and notes are no items.
        ("README.md", "---\nname: x\ndescription: y\nmodel: opus\n---\nWelcome.\n"),
        ("agents/README.md", "# Agents\n"),
        ("CONTRIBUTING.md", "# How to contribute\n"),
        ("docs/commands/init.md", "---\ntitle: init\ndescription: The command init\n---\n# init\n"),
        (
            "docs/agents/writing.md",
            "---\nname: Writing\ndescription: How to write agents\n---\n# Agents\n",
        ),
        (
            "templates/agent.md",
            "---\nname: your-agent\ndescription: What it does\nmodel: opus\n---\nText.\n",
        ),
        ("agents/new.md", "---\nname: {{name}}\ndescription: What it does\n---\nText.\n"),
        ("agents/notes.md", "Some notes about agents.\n"),
        ("notes/idea.md", "---\ntags: [a]\n---\nAn idea.\n"),
    ]);
    remote
}

pub(crate) fn available(project: &Sandbox, source: &str) -> Value {
    run(project, &["list", source, "--json"]).json()
}

pub(crate) fn names(json: &Value) -> Vec<String> {
    let items = json["items"].as_array().unwrap().iter();
    items
        .map(|item| {
            format!("{}/{}", item["kind"].as_str().unwrap(), item["name"].as_str().unwrap())
        })
        .collect()
}

/// A rule may be a text without fields, and a category of commands may be called `documentation`; a directory of rules that stands
/// alone could hold anything.
#[test]
fn files_without_fields_are_items_beside_others() {
    let project = consumer();
    let remote = Remote::new(&project, "github/acme/plain");
    remote.commit(&[
        ("kit/agents/reviewer.md", REVIEWER),
        ("kit/commands/ship.md", SHIP),
        ("kit/commands/documentation/api.md", "Write the API down.\n"),
        ("kit/commands/templates/new.md", "Write a new command.\n"),
        ("kit/rules/testing.md", "# Testing\n\nTest first.\n"),
        ("kit/rules/named.md", "---\ndescription: Names\n---\nName things.\n"),
        ("kit/rules/page.md", "---\ntitle: Rules\n---\nThese are rules.\n"),
        ("linter/rules/no-var.md", "# no-var\n\nDisallows `var`.\n"),
        ("kit/docs/rules/no-let.md", "# no-let\n\nDisallows `let`.\n"),
    ]);
    let json = available(&project, "acme/plain");
    assert_eq!(
        names(&json),
        ["rule/named", "rule/testing", "agent/code-reviewer", "command/api", "command/ship"]
    );
}

/// G15, U72: content and place tell what is an item, of which kind, and for which client.
#[test]
fn files_for_one_client_are_items() {
    let project = consumer();
    collection(&project);
    let json = available(&project, "acme/collection");
    assert_eq!(
        names(&json),
        [
            "rule/go",
            "rule/react",
            "skill/pdf",
            "agent/code-reviewer",
            "agent/csharpexpert",
            "agent/frontend",
            "command/plan",
            "command/ship",
        ]
    );
    let items = json["items"].as_array().unwrap().iter();
    let written: BTreeMap<&str, &str> = items
        .filter_map(|item| Some((item["name"].as_str()?, item["written_for"].as_str()?)))
        .collect();
    let expected = [
        ("code-reviewer", "claude"),
        ("csharpexpert", "copilot"),
        ("frontend", "claude"),
        ("go", "copilot"),
        ("plan", "copilot-vscode"),
        ("react", "cursor"),
        ("ship", "claude"),
    ];
    assert_eq!(written.into_iter().collect::<Vec<_>>(), expected);
    let left_out = json["skipped"].as_array().unwrap().iter();
    let left_out: Vec<&str> = left_out.map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(left_out, ["agents/new.md", "agents/notes.md"]);
}

/// Rules in the directories of clients are for those clients, with or without a header.
#[test]
fn rules_in_directories_of_clients_are_items() {
    let project = consumer();
    let remote = Remote::new(&project, "github/acme/house");
    remote.commit(&[
        (".claude/rules/tests.md", "Write tests.\n"),
        (".windsurf/rules/names.md", "---\ntrigger: always_on\n---\nName things.\n"),
        (".clinerules/style.md", "Be brief.\n"),
        (".kiro/steering/tech.md", "---\ninclusion: always\n---\nUse Rust.\n"),
        ("rules/api.md", "---\npaths: ['src/api/**']\n---\nVersion it.\n"),
        // A page about rules, a file of rulesync, and a workflow of the build server.
        ("rules/about.md", "# About our rules\n"),
        (
            ".rulesync/rules/all.md",
            "---\nroot: true\ntargets: ['*']\nglobs: ['**/*']\n---\nText.\n",
        ),
        (".github/workflows/triage.md", "---\ndescription: Triage\ntools: x\n---\nText.\n"),
    ]);
    let json = available(&project, "acme/house");
    let items = json["items"].as_array().unwrap().iter();
    let items: Vec<String> = items
        .map(|item| {
            format!("{} {} {}", item["kind"], item["name"], item["written_for"]).replace('"', "")
        })
        .collect();
    assert_eq!(
        items,
        [
            "rule api claude",
            "rule names windsurf",
            "rule style cline",
            "rule tech kiro",
            "rule tests claude"
        ]
    );
    let left_out = json["skipped"].as_array().unwrap().iter();
    let left_out: Vec<&str> = left_out.map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(left_out, [".rulesync/rules/all.md", "rules/about.md"]);
}

/// The list of a commit is made once: the second time no file of it is read. Another commit has another list.
#[test]
fn the_list_of_a_commit_is_kept() {
    let project = consumer();
    let remote = collection(&project);
    let first = available(&project, "acme/collection");
    let slots = fs::read_dir(project.home().join(".cache/brief/git")).unwrap();
    for slot in slots.map(|slot| slot.unwrap().path()) {
        for tree in fs::read_dir(slot.join("trees")).unwrap().map(|tree| tree.unwrap().path()) {
            fs::remove_dir_all(tree.join("tree/agents")).unwrap();
        }
    }
    assert_eq!(available(&project, "acme/collection"), first);
    remote.commit(&[("agents/more.md", "---\nname: more\ndescription: More\n---\nText.\n")]);
    assert_eq!(available(&project, "acme/collection")["items"].as_array().unwrap().len(), 9);
}

/// U36: the client that a file was written for gets it byte for byte.
#[test]
fn the_own_client_gets_every_byte() {
    let project = consumer();
    collection(&project);
    run(
        &project,
        &[
            "add",
            "acme/collection",
            "code-reviewer",
            "csharpexpert",
            "ship",
            "--client",
            "claude",
            "--client",
            "copilot",
        ],
    );
    for (path, text) in [
        (".claude/agents/code-reviewer.md", REVIEWER),
        (".github/agents/csharpexpert.agent.md", SHARP),
        (".claude/commands/ship.md", SHIP),
    ] {
        assert_eq!(project.read(path), text, "{path}");
    }
    let lock = project.read("brief.lock");
    assert!(lock.contains("path = \"agents/reviewer.md\""), "{lock}");
    // Nothing changes in a second run, and everything goes again.
    assert!(run(&project, &["sync", "--check"]).stdout.is_empty());
    run(&project, &["remove", "collection"]);
    assert!(!project.path().join(".claude/agents").exists());
}

/// An item is found by the name of its author and by that of its file; a wrong one is answered with those near it.
#[test]
fn both_names_find_an_item() {
    for name in [
        "C# Expert",
        "CSharpExpert",
        "agent/CSharpExpert.agent.md",
        "csharpexpert",
        "agents/CSharpExpert.agent.md",
    ] {
        let project = consumer();
        collection(&project);
        run(&project, &["add", "acme/collection", name, "--client", "copilot"]);
        assert_eq!(project.read(".github/agents/csharpexpert.agent.md"), SHARP, "{name}");
        assert!(project.read("brief.toml").contains("agents = [\"csharpexpert\"]"), "{name}");
    }
    let project = consumer();
    collection(&project);
    let output = project.run(&["add", "acme/collection", "code-revewer"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("did you mean `code-reviewer`?"), "{output}");
    assert!(!project.path().join("brief.toml").exists());
}

/// Files of one name with different texts get the names of the directories around them; the bare one is ambiguous.
#[test]
fn names_that_collide_are_told_apart() {
    let project = consumer();
    let remote = Remote::new(&project, "github/acme/twins");
    let agent = |name: &str, text: &str| {
        format!("---\nname: {name}\ndescription: D\nmodel: opus\n---\n{text}\n")
    };
    remote.commit(&[
        ("plugins/api/agents/tester.md", &agent("tester", "For APIs.")),
        ("plugins/web/agents/tester.md", &agent("tester", "For the web.")),
        ("plugins/app/agents/tester.md", &agent("tester", "For the web.")),
        // They differ in case and punctuation alone.
        ("agents/Go_Pro.md", &agent("Go Pro", "One.")),
        ("agents/go-pro.md", &agent("Go Pro!", "Two.")),
    ]);
    let json = available(&project, "acme/twins");
    assert_eq!(
        names(&json),
        ["agent/api-tester", "agent/app-tester", "agent/go-pro", "agent/go-pro-2"]
    );
    let output = project.run(&["add", "acme/twins", "tester"]);
    assert_eq!(output.code, Some(1));
    assert!(
        output.stderr.contains("`tester` is ambiguous: agent/api-tester or agent/app-tester"),
        "{output}"
    );
    run(&project, &["add", "acme/twins", "--client", "claude"]);
    let mut texts: Vec<String> = ["api-tester", "app-tester", "go-pro", "go-pro-2"]
        .map(|name| project.read(&format!(".claude/agents/{name}.md")))
        .into_iter()
        .map(|text| text.lines().last().unwrap().to_owned())
        .collect();
    texts.sort();
    assert_eq!(texts, ["For APIs.", "For the web.", "One.", "Two."]);
}

/// §2: a registry of the portable format says itself where its items are; client directories hold its outputs.
#[test]
fn client_directories_of_a_portable_registry_hold_outputs() {
    let project = consumer();
    let remote = Remote::new(&project, "github/acme/own");
    remote.commit(&[
        ("rules/money/RULE.md", &item("money", "Cents.")),
        (".claude/rules/money.md", "Cents.\n"),
        (".claude/agents/dev.md", REVIEWER),
    ]);
    assert_eq!(names(&available(&project, "acme/own")), ["rule/money"]);
}

/// Outputs of the project itself are not its items, also when it is its own source.
#[test]
fn a_project_is_not_its_own_collection() {
    let project = consumer().with_file("agents/reviewer.md", REVIEWER);
    run(&project, &["add", ".", "--client", "claude"]);
    assert_eq!(project.read(".claude/agents/code-reviewer.md"), REVIEWER);
    let output = run(&project, &["sync"]);
    assert!(output.stderr.contains("1 item: already up to date"), "{output}");
}

const MARKETPLACE: &str = r#"{
  "name": "market", "owner": {"name": "Acme"},
  "plugins": [
    {"name": "shipping", "source": "./plugins/shipping", "description": "Ships things", "version": "1.1.0"},
    {"name": "bundle-only", "source": "./", "strict": false, "skills": ["./skills/pdf"]},
    {"name": "far", "source": {"source": "github", "repo": "acme/far", "ref": "v2"}},
    {"name": "above", "source": "../above"},
    {"name": "absolute", "source": "/etc"}
  ]
}"#;

fn marketplace(project: &Sandbox) -> Remote {
    let remote = Remote::new(project, "github/acme/market");
    remote.commit(&[
        (".claude-plugin/marketplace.json", MARKETPLACE),
        ("plugins/shipping/.claude-plugin/plugin.json", r#"{"name": "shipping", "version": "1.2.0"}"#),
        ("plugins/shipping/agents/shipper.md", "---\nname: shipper\ndescription: Ships\n---\nYou ship.\n"),
        ("plugins/shipping/commands/ship.md", "Ship it.\n"),
        (
            "plugins/shipping/hooks/hooks.json",
            r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "npx guard"}]}]}}"#,
        ),
        ("plugins/shipping/.mcp.json", r#"{"tracker": {"type": "http", "url": "https://mcp.example.com/"}}"#),
        ("skills/pdf/SKILL.md", PDF),
    ]);
    remote
}

/// A plugin is a bundle. Its hooks and servers are listed, and nothing of them is installed.
#[test]
fn a_plugin_is_a_bundle_without_its_hooks() {
    let project = consumer();
    marketplace(&project);
    let json = available(&project, "acme/market");
    let shipping = &json["bundles"][1];
    assert_eq!(
        (&shipping["name"], &shipping["version"], &shipping["description"], &shipping["plugin"]),
        (&json!("shipping"), &json!("1.2.0"), &json!("Ships things"), &json!("plugins/shipping"))
    );
    assert_eq!(shipping["items"], json!(["agent/shipper", "command/ship"]));
    let capabilities = shipping["capabilities"].to_string();
    assert!(
        capabilities.contains("hooks PreToolUse") && capabilities.contains("npx guard"),
        "{capabilities}"
    );
    assert!(capabilities.contains("mcp-servers tracker"), "{capabilities}");
    assert_eq!(json["bundles"][0]["items"], json!(["skill/pdf"]));
    let shown = run(&project, &["list", "acme/market"]);
    assert!(
        shown.stdout.contains("bundle/shipping 1.2.0 (also 1 hook, 1 MCP server): Ships things\n"),
        "{shown}"
    );

    let output = run(&project, &["add", "acme/market", "shipping", "--client", "claude"]);
    assert!(
        output.stderr.contains("not installed from the plugin `shipping`: hooks PreToolUse"),
        "{output}"
    );
    assert!(
        output.stderr.contains("not installed from the plugin `shipping`: mcp-servers tracker"),
        "{output}"
    );
    assert_eq!(project.read(".claude/commands/ship.md"), "Ship it.\n");
    assert!(project.path().join(".claude/agents/shipper.md").is_file());
    for path in [".mcp.json", ".claude/settings.json", ".claude/hooks", ".claude/skills"] {
        assert!(!project.path().join(path).exists(), "{path}");
    }
}

/// A marketplace that leads out of its source is named and not followed.
#[test]
fn a_plugin_outside_is_named_and_refused() {
    let project = consumer();
    marketplace(&project);
    let json = available(&project, "acme/market");
    assert_eq!(
        json["outside"],
        json!([
            {"name": "above", "place": "../above", "address": null},
            {"name": "absolute", "place": "/etc", "address": null},
            {"name": "far", "place": "acme/far", "address": "acme/far@v2"},
        ])
    );
    for (name, hint) in
        [("far", "run `brief add acme/far@v2` to add it from there"), ("above", "at `../above`")]
    {
        let output = project.run(&["add", "acme/market", name]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(
            output.stderr.contains(&format!("the plugin `{name}` is not in this source")),
            "{output}"
        );
        assert!(output.stderr.contains(hint), "{output}");
    }
    assert!(!project.path().join("brief.toml").exists());
}

/// Cursor's, Codex', Copilot's and Gemini's manifests are plugins, too; those of one plugin are one bundle.
#[test]
fn every_client_has_plugins() {
    let project = consumer();
    let remote = Remote::new(&project, "github/acme/plugins");
    let agent = |name: &str| format!("---\nname: {name}\ndescription: D\n---\nText of {name}.\n");
    remote.commit(&[
        ("a/.cursor-plugin/plugin.json", r#"{"name": "a"}"#),
        ("a/.codex-plugin/plugin.json", r#"{"name": "a", "version": "2.0.0", "skills": "./skills/"}"#),
        ("a/agents/one.md", &agent("one")),
        ("b/.github/plugin/plugin.json", r#"{"name": "b", "agents": ["./agents/two.md"]}"#),
        ("b/agents/two.md", &agent("two")),
        (
            "c/gemini-extension.json",
            r#"{"name": "c", "version": "0.1.0", "mcpServers": {"db": {"command": "node", "args": ["x.js"]}}}"#,
        ),
        ("c/commands/db/check.toml", "description = \"Checks\"\nprompt = \"\"\"Check {{args}}.\"\"\"\n"),
        ("c/commands/settings.toml", "[tool]\nname = \"x\"\n"),
        ("d/plugin.json", r#"{"$schema": "https://example.org/plugin.schema.json", "name": "d", "extensions": {"org.example": {"agents": ["./agents/three.md"]}}}"#),
        ("agents/three.agent.md", &agent("three")),
    ]);
    let json = available(&project, "acme/plugins");
    let bundles = json["bundles"].as_array().unwrap().iter();
    let bundles: Vec<String> = bundles
        .map(|bundle| {
            format!(
                "{} {} {} {}",
                bundle["name"], bundle["version"], bundle["items"], bundle["capabilities"]
            )
        })
        .collect();
    assert_eq!(
        bundles,
        [
            r#""a" "2.0.0" ["agent/one"] []"#,
            r#""b" null ["agent/two"] []"#,
            r#""c" "0.1.0" ["command/check"] ["mcp-servers db: node x.js"]"#,
            r#""d" null ["agent/three"] []"#,
        ]
    );
}

/// A bad manifest, a large file, a link out: what is sound is installed, and the rest is named.
#[test]
fn what_is_wrong_is_named_and_the_rest_installed() {
    let project = consumer();
    let remote = Remote::new(&project, "github/acme/broken");
    let large = "x".repeat(1024 * 1024 + 1);
    remote.commit(&[
        (".claude-plugin/marketplace.json", "{ \"plugins\": [ "),
        ("p/.claude-plugin/plugin.json", "[1]"),
        ("q/.claude-plugin/plugin.json", r#"{"name": "q", "agents": ["../../x.md", "./gone.md"]}"#),
        ("agents/good.md", REVIEWER),
        ("agents/unclosed.md", "---\nname: unclosed\ndescription: [a\nmodel: opus\n---\nText.\n"),
        ("agents/large.md", &large),
    ]);
    std::os::unix::fs::symlink("../../outside.md", remote.path.join("agents/link.md")).unwrap();
    remote.commit(&[]);
    let json = available(&project, "acme/broken");
    assert_eq!(names(&json), ["agent/code-reviewer", "agent/unclosed"]);
    assert_eq!(
        json["skipped"],
        json!([{"path": "agents/large.md", "reason": "is larger than 1 MiB"}])
    );
    let messages: Vec<&str> = json["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["message"].as_str().unwrap())
        .collect();
    for part in [
        "the manifest is not JSON",
        "the manifest is not an object",
        "`../../x.md`, which points outside it",
        "`./gone.md`, which contains no item",
    ] {
        assert!(messages.iter().any(|message| message.contains(part)), "{part}: {messages:?}");
    }
    run(&project, &["add", "acme/broken", "--client", "claude"]);
    assert_eq!(project.read(".claude/agents/code-reviewer.md"), REVIEWER);
    assert!(project.read(".claude/agents/unclosed.md").starts_with("---\nname: unclosed\n"));
}

/// A plugin with a thousand files works.
#[test]
fn a_large_plugin_works() {
    let project = consumer();
    let remote = Remote::new(&project, "github/acme/large");
    let mut files =
        vec![(".claude-plugin/plugin.json".to_owned(), r#"{"name": "large"}"#.to_owned())];
    for number in 0..500 {
        files.push((
            format!("agents/a{number}.md"),
            format!("---\nname: a{number}\ndescription: D\n---\nText {number}.\n"),
        ));
        files.push((format!("skills/s/references/r{number}.md"), format!("Page {number}.\n")));
    }
    files.push(("skills/s/SKILL.md".to_owned(), PDF.replace("name: pdf", "name: s")));
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    remote.commit(&files);
    run(&project, &["add", "acme/large", "bundle/large", "--client", "claude"]);
    let count = |path: &str| fs::read_dir(project.path().join(path)).unwrap().count();
    assert_eq!((count(".claude/agents"), count(".claude/skills/s/references")), (500, 500));
}

/// U72: a line for each item, cut to the width, and a word when there is nothing.
#[test]
fn search_finds_items_of_sources() {
    let project = consumer();
    collection(&project);
    let found = run(&project, &["search", "hooks", "acme/collection"]);
    assert_eq!(found.stdout, "rule/react: React\n");
    let found = run(&project, &["search", "C#", "acme/collection", "--kind", "agent"]);
    assert!(found.stdout.starts_with("agent/csharpexpert: Knows C#\n"), "{found}");
    let json = run(&project, &["search", "reviews", "acme/collection", "--json"]).json();
    let first = &json["items"][0];
    assert_eq!(
        (&first["kind"], &first["name"], &first["source"]["path"]),
        (&json!("agent"), &json!("code-reviewer"), &json!("agents/reviewer.md"))
    );
    let none = project.run(&["search", "zebra", "acme/collection"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""));
    assert!(none.stderr.contains("no match for `zebra` in 8 items"), "{none}");
    let none = project.run(&["search", "zebra"]);
    assert_eq!(none.code, Some(1));
    assert!(none.stderr.contains("no sources in brief.toml"), "{none}");
    // Sources of brief.toml are searched as they are locked.
    run(&project, &["add", "acme/collection", "ship", "--client", "claude"]);
    let found = run(&project, &["search", "ship"]);
    assert!(found.stdout.starts_with("command/ship: Ships it\n"), "{found}");
}

/// A file for one client says more than the others can have; `add` says what they do not get, once.
#[test]
fn what_other_clients_do_not_get_is_said() {
    let agent = |name: &str| {
        format!(
            "---\nname: {name}\ndescription: d\ntools: Read, Bash(git:*)\ncolor: blue\n---\nDo it.\n"
        )
    };
    let add = |count: usize| {
        let mut project = crate::project();
        for number in 0..count {
            let name = format!("a{number}");
            project = project.with_file(&format!("source/agents/{name}.md"), agent(&name));
        }
        project.run(&["add", "./source", "--client", "claude", "--client", "opencode"]).stderr
    };
    let few = add(1);
    assert!(few.contains("agent/a0: `color`: only claude has this field"), "{few}");
    assert!(few.contains("agent/a0: `tools`: the format cannot express `Bash(git:*)`"), "{few}");
    let many = add(20);
    assert!(many.contains("20 items: `color`: only claude has this field"), "{many}");
    assert!(!many.contains("agent/a3: `color`"), "{many}");
}
