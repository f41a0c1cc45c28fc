//! An installed item is one item: who asks gets the copy of its client (ruling G14).

use brief_testkit::Sandbox;

use crate::install::{item, write_all};
use crate::project;

const CONDITIONAL: &str = "## Api\n\nFor all.\n\n<!-- @client:claude -->\n\nFor claude.\n\n\
    <!-- @endclient -->\n\n<!-- @client:copilot -->\n\nFor copilot.\n\n<!-- @endclient -->\n\n\
    <!-- @client:opencode -->\n\nFor opencode.\n\n<!-- @endclient -->\n\nSee [more](more.md).";

/// A project with a rule that says something else to each client, one for Claude alone, a skill and an
/// agent, all from a registry.
fn installed() -> Sandbox {
    let project = project();
    let registry = project.outside_directory().join("registry");
    let only = item("only-claude", "## Only\n\nOnly claude.");
    let only = only.replace("schema: 1\n", "schema: 1\naudience: [claude]\n");
    write_all(
        &registry,
        &[
            ("rules/api/RULE.md", &item("api", CONDITIONAL)),
            ("rules/api/more.md", "## More\n\nSupporting text.\n"),
            ("rules/only-claude/RULE.md", &only),
            (
                "skills/ship/SKILL.md",
                &item("ship", CONDITIONAL.trim_end_matches("See [more](more.md).")),
            ),
            ("agents/judge/AGENT.md", &item("judge", "## Judge\n\nYou judge.")),
        ],
    );
    let output = project.run(&["add", registry.to_str().unwrap()]);
    assert_eq!(output.code, Some(0), "{output}");
    project.write(".agents/tasks/go.md", "Go.\n");
    project.write("src/a.ts", "");
    project
}

/// U36: a skill of the open standard is added by the name of its front matter or of its directory, and
/// arrives byte for byte.
#[test]
fn a_foreign_skill_is_added_by_either_name() {
    let skill = "---\n# Kept.\nname: pdf\ndescription: 'Use: always'\n---\n# PDF\n\n\n*  odd\n";
    for name in ["pdf", "pdf-tools", "skill/pdf-tools"] {
        let project = project();
        let registry = project.outside_directory().join("registry");
        write_all(&registry, &[("skills/pdf-tools/SKILL.md", skill)]);
        let registry = registry.to_str().unwrap();
        let output = project.run(&["add", registry, name, "--client", "claude"]);
        assert_eq!(output.code, Some(0), "{name}: {output}");
        assert_eq!(project.read(".claude/skills/pdf/SKILL.md"), skill, "{name}");
        assert_eq!(project.run(&["sync", "--check"]).code, Some(0), "{name}");
    }
}

fn count(text: &str, needle: &str) -> usize {
    text.matches(needle).count()
}

/// U21: each installed rule once, in the words of the agent; no persona, no supporting file.
#[test]
fn a_prompt_has_each_installed_rule_once_in_the_words_of_its_agent() {
    let project = installed();
    for agent in ["claude", "copilot", "opencode"] {
        let output = project.run(&["task", "go", "-a", agent]);
        assert_eq!(output.code, Some(0), "{output}");
        let text = &output.stdout;
        assert_eq!(count(text, "For all."), 1, "{agent}: {output}");
        for other in ["claude", "copilot", "opencode"] {
            let line = format!("For {other}.");
            assert_eq!(count(text, &line), usize::from(other == agent), "{agent}: {output}");
        }
        assert_eq!(count(text, "Only claude."), usize::from(agent == "claude"), "{output}");
        assert!(!text.contains("You judge"), "{agent}: {output}");
        assert!(!text.contains("Supporting text"), "{agent}: {output}");
        assert_eq!(count(text, "<name>ship</name>"), 1, "{agent}: {output}");
    }
    let output = project.run(&["task", "go", "-a", "cursor"]);
    assert!(!output.stdout.contains("For "), "no copy is for cursor: {output}");
}

/// U21: without an agent each rule is there once, too.
#[test]
fn a_prompt_without_an_agent_has_each_installed_rule_once() {
    let project = installed();
    let output = project.run(&["task", "go"]);
    assert_eq!(count(&output.stdout, "For all."), 1, "{output}");
    assert_eq!(count(&output.stdout, "Only claude."), 1, "{output}");
    assert!(!output.stdout.contains("You judge"), "{output}");
    assert!(!output.stdout.contains("Supporting text"), "{output}");
}

/// K33: Copilot reads Claude Code's rules, too, so one that says the same to both is there once; `-a copilot`
/// gets that copy, and none of a rule for Claude alone (U20, U21).
#[test]
fn a_rule_that_two_clients_share_is_written_once() {
    let project = project();
    let registry = project.outside_directory().join("registry");
    let only = item("only-claude", "## Only\n\nOnly claude.");
    let only = only.replace("schema: 1\n", "schema: 1\naudience: [claude]\n");
    let own = item("own", "## Own\n\nOwn.")
        .replace("schema: 1\n", "schema: 1\ncopilot: {excludeAgent: x}\n");
    write_all(
        &registry,
        &[
            ("rules/same/RULE.md", &item("same", "## Same\n\nThe same.")),
            ("rules/own/RULE.md", &own),
            ("rules/only-claude/RULE.md", &only),
        ],
    );
    let registry = registry.to_str().unwrap();
    let output = project.run(&["add", registry, "--client", "claude", "--client", "copilot"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(project.path().join(".claude/rules/same.md").is_file());
    assert!(!project.path().join(".github/instructions/same.instructions.md").exists());
    assert!(project.path().join(".github/instructions/own.instructions.md").is_file());
    project.write(".agents/tasks/go.md", "Go.\n");
    let output = project.run(&["task", "go", "-a", "copilot"]);
    assert_eq!(count(&output.stdout, "The same."), 1, "{output}");
    assert_eq!(count(&output.stdout, "Only claude."), 0, "{output}");
}

/// U20: `context` for a client has neither the words for others nor what the client has loaded.
#[test]
fn context_for_a_client_has_no_words_for_others() {
    let project = installed();
    for client in ["claude", "copilot", "opencode"] {
        let output = project.run(&["context", "src/a.ts", "--client", client]);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(!output.stdout.contains("For "), "{client} has its copy: {output}");
        assert!(!output.stdout.contains("Only claude"), "{client}: {output}");
    }
    let output = project.run(&["context", "src/a.ts"]);
    assert_eq!(count(&output.stdout, "For all."), 1, "{output}");
    assert!(!output.stdout.contains("For copilot."), "{output}");
    assert!(!output.stdout.contains("Supporting text"), "{output}");
}

/// U11: the lists of a lock may stand on one line; every command reads the same.
#[test]
fn a_lock_with_lists_on_one_line_says_the_same() {
    let project = installed();
    let before = project.run(&["context", "src/a.ts", "--only", "items"]);
    assert!(before.stdout.contains("For all."), "{before}");
    let lock = project.read("brief.lock");
    let joined = lock.replace("[\n  ", "[").replace(",\n  ", ", ").replace(",\n]", "]");
    assert_ne!(joined, lock);
    project.write("brief.lock", joined);
    let after = project.run(&["context", "src/a.ts", "--only", "items"]);
    assert_eq!(after.stdout, before.stdout);
    let task = project.run(&["task", "go", "-a", "claude"]);
    assert_eq!(count(&task.stdout, "For all."), 1, "{task}");
}

/// U11: a lock from a newer version takes nothing else away, and is told.
#[test]
fn a_lock_from_a_newer_version_is_told_and_the_answer_is_there() {
    let project = installed();
    project.write("AGENTS.yaml", "context:\n  - content: Here.\n");
    let lock = project.read("brief.lock");
    project.write("brief.lock", lock.replace("version = 2\n", "version = 9\nnews = true\n"));
    let output = project.run(&["context", "src/a.ts", "--client", "claude"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("Here."), "{output}");
    assert_eq!(
        count(&output.stderr, "has version 9, but this version of brief supports 2"),
        1,
        "{output}"
    );
}
