//! Texts that `brief lint` and `brief stale` leave alone: texts that are right, inputs of tests, and what is for other projects.

use brief_testkit::Sandbox;
use serde_json::Value;

use crate::diff::{commit, git};
use crate::project;

/// The findings: code, path, number of places.
fn lint(project: &Sandbox) -> Vec<(String, String, u64)> {
    let json = project.run(&["lint", "--json"]).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let found = json["diagnostics"].as_array().unwrap().iter();
    found
        .map(|one| (text(&one["code"]), text(&one["path"]), one["count"].as_u64().unwrap_or(1)))
        .collect()
}

fn codes(project: &Sandbox) -> Vec<String> {
    lint(project).into_iter().map(|(code, ..)| code).collect()
}

/// R05, R07: what a test reads may be wrong on purpose, and a copy from before a change stays as it is. The project's own
/// files beside tests are checked.
#[test]
fn inputs_of_tests_and_backups_are_left_alone() {
    let broken = "---\nname: x\n---\nText.\n";
    let quiet = project()
        .with_file("tests/fixtures/plugin/skills/one/SKILL.md", broken)
        .with_file("tests/fixtures/servers/.mcp.json", "{\"remote\": {\"type\": \"sse\"}}")
        .with_file("packages/a/__tests__/skills/x/SKILL.md", broken)
        .with_file("tests/plugin/.mcp.json", "[]")
        .with_file("backups/2025/skills/one/SKILL.md", broken)
        .with_file("src/a.rs", "");
    assert_eq!(lint(&quiet), []);
    let loud = quiet
        .with_file("skills/fixtures/SKILL.md", broken)
        .with_file("tests/AGENTS.md", "Read [the page](gone.md).\n");
    let paths: Vec<String> = lint(&loud).into_iter().map(|(_, path, _)| path).collect();
    assert!(paths.contains(&"skills/fixtures/SKILL.md".to_owned()), "{paths:?}");
    assert!(paths.contains(&"tests/AGENTS.md".to_owned()), "{paths:?}");
}

/// R21: "28 files" where 56 were checked. Every file with a finding or without one is counted.
#[test]
fn every_file_that_is_checked_is_counted() {
    let agent = "---\nname: NAME\ndescription: Use it after each change of the code.\n---\nText.\n";
    let mut project = project()
        .with_file(".claude-plugin/marketplace.json", r#"{"name": "m", "owner": {"name": "x"}, "plugins": [{"name": "p", "source": "./plugins/p"}]}"#)
        .with_file("plugins/p/.claude-plugin/plugin.json", r#"{"name": "p"}"#)
        .with_file("plugins/p/skills/s/SKILL.md", agent.replace("NAME", "s"));
    for name in ["one", "two", "three"] {
        project = project
            .with_file(&format!("plugins/p/agents/{name}.md"), agent.replace("NAME", name))
            .with_file(
                &format!("plugins/p/commands/{name}.md"),
                "---\ndescription: x\n---\nText.\n",
            );
    }
    let count = || project.run(&["lint", "--json"]).json()["files"].clone();
    assert_eq!(count(), 9);
    for name in ["one", "two", "three"] {
        project.write(&format!("plugins/p/agents/{name}.md"), "---\nname: x\n---\nText.\n");
    }
    assert!(!lint(&project).is_empty());
    assert_eq!(count(), 9);
}

/// Codex takes the name and the description of an agent from its settings, where they declare the agent's file.
#[test]
fn a_declared_agent_of_codex_needs_no_description() {
    let agent = "developer_instructions = \"Check names.\"\nmodel = \"x\"\n";
    let settings =
        "[agents.checker]\ndescription = \"Checks.\"\nconfig_file = \"agents/checker.toml\"\n";
    let declared = project()
        .with_file(".codex/agents/checker.toml", agent)
        .with_file(".codex/config.toml", settings);
    assert_eq!(lint(&declared), []);
    let alone = project().with_file(".codex/agents/checker.toml", agent);
    assert_eq!(codes(&alone), ["client/missing-field"; 2]);
}

/// R05: a page of a documentation that is called `SKILL.md` and has no fields is a translation, and no skill.
#[test]
fn translated_pages_of_skills_are_no_skills() {
    let page = "# Texte\n\nUne page.\n";
    let pages = project().with_file("docs/fr/skills/one/SKILL.md", page);
    assert_eq!(lint(&pages), []);
    let skill = project().with_file("skills/one/SKILL.md", page);
    assert_eq!(codes(&skill), ["item/missing-field"]);
}

/// R05: an archetype is a template: its `AGENTS.md` is about the project that is made from it.
#[test]
fn templates_are_not_hidden_by_a_file_above() {
    let archetype = "archetypes/one/src/main/resources/archetype-resources/AGENTS.md";
    let project = project().with_file("CLAUDE.md", "Rules.\n").with_file(archetype, "Yours.\n");
    assert_eq!(lint(&project), []);
    let project = project.with_file("part/AGENTS.md", "Ours.\n");
    assert_eq!(codes(&project), ["client/hidden-file"]);
}

/// R03: a sentence about the past is right, whatever has become of the file.
#[test]
fn a_sentence_about_the_past_is_not_stale() {
    let project = project()
        .with_file(
            "AGENTS.md",
            "`tests/shop/large_orders.rs` was 4,564 lines long; it is now five files.\n\n\
             Previously `tests/shop/large_orders.rs` had all of it.\n",
        )
        .with_file("tests/shop/large_orders.rs", "a\nb\nc\n");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    git(&project, &["rm", "--quiet", "tests/shop/large_orders.rs"]);
    commit(&project);
    assert_eq!(project.run(&["stale", "--json"]).json()["found"], serde_json::json!([]));
    project.write("AGENTS.md", "Orders are tested in `tests/shop/large_orders.rs`.\n");
    let found = project.run(&["stale", "--json"]).json();
    assert_eq!(found["found"][0]["likelihood"], "certain", "{found}");
}

/// A link that a text calls planned is no mistake, nor one that is right where the skill is installed.
#[test]
fn links_that_will_be_right_are_left_alone() {
    let header = "---\nname: one\ndescription: Use it when a change is ready to be sent.\n---\n";
    let text = format!(
        "{header}- [two](../two.md) (planned)\n\nRead [the rules](../../../CONTRIBUTING.md) first.\n"
    );
    let project = project()
        .with_file("CONTRIBUTING.md", "Rules.\n")
        .with_file("skills-own/one/SKILL.md", &text);
    assert_eq!(lint(&project), []);
    let text = format!("{header}Read [two](../two.md) and [the rules](../../../RULES.md).\n");
    project.write("skills-own/one/SKILL.md", &text);
    assert_eq!(codes(&project), ["client/broken-link"; 2]);
}

/// N31, N32: a command is given in the directory that its sentence names, also where version control ignores what is there.
#[test]
fn a_sentence_names_the_directory_of_its_command() {
    let text =
        "The server is `npm run dev` in `ui/board`.\n\nInside `old/`, run `npm run compile`.\n";
    let project = project()
        .with_file("AGENTS.md", text)
        .with_file("package.json", "{\"scripts\": {\"test\": \"x\"}}")
        .with_file(".gitignore", "ui/board/package.json\n")
        .with_file("ui/board/package.json", "{\"scripts\": {\"dev\": \"x\"}}")
        .with_file("ui/board/a.ts", "");
    assert_eq!(lint(&project), []);
    project.write("AGENTS.md", "Run `npm run dev` for the board.\n");
    assert_eq!(lint(&project), []);
    project.write("AGENTS.md", "Run `npm run develop` for the board.\n");
    assert_eq!(codes(&project), ["guidance/missing-target"]);
}

/// R05: the agents and commands of a plugin for other clients speak of the projects that use it, and what a client keeps
/// beside them defines nothing for the project.
#[test]
fn editions_of_a_plugin_are_for_other_projects() {
    let text = "---\ndescription: Use it for tests.\n---\nRun `npm run test:all`.\n";
    let agent = "---\nname: tester\ndescription: Use it after each change of the code.\n---\nRun `npm run test:all`.\n";
    let plugin = project()
        .with_file("package.json", "{\"scripts\": {\"test\": \"x\"}}")
        .with_file("agents/tester.md", agent)
        .with_file(".kiro/agents/tester.md", agent)
        .with_file(".opencode/package.json", "{\"dependencies\": {}}")
        .with_file(".opencode/commands/verify.md", text)
        .with_file(".claude-plugin/plugin.json", "{\"name\": \"x\"}");
    assert_eq!(codes(&plugin), [""; 0]);
    let own = project()
        .with_file("package.json", "{\"scripts\": {\"test:all\": \"x\"}}")
        .with_file(".opencode/package.json", "{\"dependencies\": {}}")
        .with_file(".opencode/commands/verify.md", text);
    assert_eq!(codes(&own), [""; 0]);
    own.write("package.json", "{\"scripts\": {\"test\": \"x\"}}");
    let json = own.run(&["lint", "--json"]).json();
    let message = "unknown script `test:all`: not defined in `package.json`";
    assert_eq!(json["diagnostics"][0]["message"], message, "{json}");
}

/// R07: copies of skills for several clients that drifted, and descriptions that say nothing, are one finding each. What only
/// one client reads makes no difference between copies.
#[test]
fn habits_of_a_collection_are_one_finding() {
    let skill = |name: &str, more: &str| {
        format!(
            "---\nname: {name}\ndescription: Use it when {name} is asked for by the user.\n---\n\
             Read the whole text first.\nThen do what it says.\n{more}"
        )
    };
    let names = ["audit", "build", "check", "draft"];
    let alike = names.iter().fold(project(), |project, name| {
        project
            .with_file(&format!(".agents/skills/{name}/SKILL.md"), skill(name, ""))
            .with_file(&format!(".agents/skills/{name}/agents/openai.yaml"), "a: 1\n")
            .with_file(&format!(".cursor/skills/{name}/SKILL.md"), skill(name, ""))
    });
    assert_eq!(lint(&alike), []);
    for name in names {
        alike.write(&format!(".cursor/skills/{name}/SKILL.md"), skill(name, "Stop there.\n"));
    }
    let found = lint(&alike);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0.as_str(), found[0].2), ("guidance/copies-differ", 4));
    let vague = names.iter().fold(project(), |project, name| {
        let text = format!("---\nname: {name}\ndescription: {name}\n---\nText of {name}.\n");
        project.with_file(&format!(".claude/skills/{name}/SKILL.md"), text)
    });
    let found = lint(&vague);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0.as_str(), found[0].2), ("guidance/vague-description", 4));
}

/// A path is short for one below a directory that the text names, also from the directory that the text is about.
#[test]
fn a_text_may_name_the_directory_of_its_paths_in_short() {
    let below = ["Inference", "Validation", "Optimization"];
    let base = "compiler/packages/shop-compiler";
    let tree = below
        .iter()
        .fold(project(), |project, name| project.with_file(&format!("{base}/src/{name}/a.ts"), ""));
    let list = below.map(|name| format!("- `src/{name}/` has passes.\n")).concat();
    let header = "---\nname: check\ndescription: Use it for errors of the compiler.\n---\n";
    let named = tree.with_file(
        "compiler/.claude/agents/check.md",
        format!("{header}Look into `packages/shop-compiler/src/`:\n\n{list}"),
    );
    assert_eq!(lint(&named), []);
    named.write("compiler/.claude/agents/check.md", format!("{header}{list}"));
    assert_eq!(codes(&named), ["guidance/missing-path"]);
}

/// A link of Cursor begins at the top of the project, and so does its repair.
#[test]
fn a_link_of_cursor_is_repaired_in_its_own_form() {
    let project = project()
        .with_file(
            ".cursor/rules/a.mdc",
            "---\nalwaysApply: true\n---\nSee [orders](mdc:src/shop/order_lines.ts).\n",
        )
        .with_file("src/shop/order_lines.ts", "a\nb\nc\n");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    project.write("packages/shop/keep.ts", "");
    git(&project, &["mv", "src/shop/order_lines.ts", "packages/shop/order_lines.ts"]);
    commit(&project);
    let json = project.run(&["lint", "--json"]).json();
    let help = json["diagnostics"][0]["help"].as_str().unwrap();
    assert!(help.starts_with("write `mdc:packages/shop/order_lines.ts`, its new name; "), "{json}");
    let json = project.run(&["stale", "--json"]).json();
    assert_eq!(json["found"][0]["replacement"], "mdc:packages/shop/order_lines.ts", "{json}");
}

/// A form has gaps to be filled in, and its links are examples. A script that a build makes is not in the tree.
#[test]
fn forms_and_what_a_build_makes_are_left_alone() {
    let gaps = "- **Name**: [Component name]\n- **Type**: [Component type]\n- **Purpose**: [What it is for]\n\
                - **Owner**: [Responsible team]\n- [Feature one]: [Description]\n";
    let header = "---\nname: form\ndescription: Use it to describe a component of the shop.\n---\n";
    let form =
        format!("{header}{gaps}\n- [component-one.md](./component-one.md) - [Description]\n");
    let hooks = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "node ${CLAUDE_PLUGIN_ROOT}/bundle/stop.cjs"}]}]}}"#;
    let project = project()
        .with_file("skills/form/SKILL.md", &form)
        .with_file(".gitignore", "bundle/\n")
        .with_file("plugin/.claude-plugin/plugin.json", "{\"name\": \"x\"}")
        .with_file("plugin/hooks/hooks.json", hooks);
    assert_eq!(lint(&project), []);
    project.write("skills/form/SKILL.md", form.replace(gaps, ""));
    project.write(".gitignore", "");
    assert_eq!(codes(&project), ["client/missing-file", "client/broken-link"]);
}

/// A workflow or a script that reads a file by its name would break if the file were renamed for a client.
#[test]
fn a_file_that_the_project_itself_uses_is_not_unread() {
    let unused = project()
        .with_file(".github/prompts/notes-for-users.md", "Write the notes.\n")
        .with_file(".cursor/rules/house-style.md", "Two spaces.\n");
    assert_eq!(codes(&unused), ["client/unread-file", "setup/unread-file"]);
    let used = unused
        .with_file(".github/workflows/release.yml", "run: cat .github/prompts/notes-for-users.md\n")
        .with_file("scripts/style.py", "open(RULES / 'house-style.md')\n");
    assert_eq!(lint(&used), []);
}

/// A translation in the documentation has the links of its original, and is read by no client.
#[test]
fn translations_in_the_documentation_are_left_alone() {
    let text =
        "---\nname: one\ndescription: Use it: always.\n---\nRead [it](references/gone.md).\n";
    let translated = project().with_file("docs/ja-JP/skills/one/SKILL.md", text);
    assert_eq!(lint(&translated), []);
    let own = project().with_file("docs/ui/skills/one/SKILL.md", text);
    assert_eq!(codes(&own), ["frontmatter-repaired", "client/broken-link"]);
}

/// What stands before the fields is the mistake, not the fields.
#[test]
fn fields_behind_a_comment_are_said_to_be_late() {
    let agent = "---\nname: tester\ndescription: Use it after each change.\n---\nRun the tests.\n";
    let late = project()
        .with_file("agents/tester.md", format!("<!-- by someone -->\n\n{agent}"))
        .with_file(".claude-plugin/plugin.json", "{\"name\": \"x\"}");
    let json = late.run(&["lint", "--json"]).json();
    let message = json["diagnostics"][0]["message"].as_str().unwrap();
    assert!(message.contains("is not at the start of the file"), "{json}");
    late.write("agents/tester.md", agent);
    assert_eq!(lint(&late), []);
}

/// A description with examples on lines of their own is one mistake, and a repaired value is not printed in full.
#[test]
fn a_header_that_breaks_twice_is_one_finding() {
    let agent = "---\nname: helper\ndescription: Use it for questions: always.\n\n<example>\nuser: \"How?\"\n</example>\n---\nHelp.\n";
    let broken = project().with_file(".claude/agents/helper.md", agent);
    assert_eq!(codes(&broken), ["frontmatter-invalid"]);
    let long = format!("Use it for questions: {}", "and more ".repeat(60));
    let agent = format!("---\nname: helper\ndescription: {long}\n---\nHelp.\n");
    let json =
        project().with_file(".claude/agents/helper.md", agent).run(&["lint", "--json"]).json();
    assert_eq!(json["diagnostics"][0]["help"], "put the value in quotes", "{json}");
}

/// Generic commands of a skill are those of the project that it is used in; a command of its own scripts is its own.
#[test]
fn commands_of_another_project_are_not_held_against_a_skill() {
    let header = "---\nname: train\ndescription: Use it to train a model on new data.\n---\n";
    let skill = |block: &str| {
        project()
            .with_file("skills/train/SKILL.md", format!("{header}```bash\n{block}\n```\n"))
            .with_file("skills/train/scripts/plan.py", "")
    };
    let generic = "python -m pytest tests/\npython scripts/train.py --config prod.yaml";
    assert_eq!(lint(&skill(generic)), []);
    assert_eq!(codes(&skill("python scripts/train.py")), ["guidance/missing-path"]);
    let beside = "pip install torch\npython scripts/plan.py\npython scripts/train.py";
    assert_eq!(codes(&skill(beside)), ["guidance/missing-path"]);
}

/// `@/mocks` is an alias of a bundler, a list of clients is no slip of `agent`, and one path is one finding however it is written.
#[test]
fn names_that_only_look_like_mistakes_are_left_alone() {
    let alias =
        project().with_file("CLAUDE.md", "Mock data comes from @/mocks and nowhere else.\n");
    assert_eq!(lint(&alias), []);
    let machine = project().with_file("CLAUDE.md", "Read @/home/ada/style first.\n");
    assert_eq!(codes(&machine), ["client/import-outside"]);
    let header = "---\nname: one\ndescription: Use it when a change is ready to be sent.\nagents:\n  - codex\n---\nText.\n";
    assert_eq!(lint(&project().with_file(".claude/skills/one/SKILL.md", header)), []);
    let twice = project()
        .with_file(
            "shop/AGENTS.md",
            "Read `docs/orders_list.md`.\n\nIt is `../docs/orders_list.md`.\n",
        )
        .with_file("docs/orders_list.md", "a\nb\nc\n");
    git(&twice, &["init", "--quiet", "--initial-branch=main"]);
    commit(&twice);
    git(&twice, &["rm", "--quiet", "docs/orders_list.md"]);
    commit(&twice);
    let found = lint(&twice);
    assert_eq!(found.len(), 1, "{found:?}");
}

/// The main texts of two clients say the same on purpose.
#[test]
fn main_texts_of_two_clients_may_repeat_each_other() {
    let words =
        ["Prices", "Orders", "Handlers", "Errors", "Migrations", "Tests", "Schemas", "Queues"];
    let paragraphs: Vec<String> = words
        .iter()
        .map(|word| {
            format!("{word} have a module of their own, with {word} in its name, and nobody else writes to the tables below it.\n\n")
        })
        .collect();
    let text = paragraphs.concat();
    let mains = project()
        .with_file("a.ts", "")
        .with_file("GEMINI.md", &text)
        .with_file("CLAUDE.md", format!("{text}More.\n"));
    assert_eq!(lint(&mains), []);
}
