//! Properties that hold for any bytes.

use std::path::Path;

use arbtest::arbitrary::{Result, Unstructured};
use brief_dialects::agents::{Ability, AgentOptions, AgentValue, AgentView, Loaded, load_agent};
use brief_syntax::Severity;

use super::support::{PATH, project};

/// Parts that agent files are made of.
const PARTS: [&str; 48] = [
    "---\n",
    "---\n",
    "...\n",
    "\n",
    "# T\n",
    "# Avatar\n",
    "## System\n",
    "## Rules\n",
    "## Tools\n",
    "## Commands\n",
    "### Tools\n",
    "D\n",
    "```js\n",
    "```\n",
    "return {};\n",
    "![a](b)\n",
    "> ",
    "- ",
    "title: T\n",
    "Title: X\n",
    "status: disabled\n",
    "status: x\n",
    "templateEngine: \"\"\n",
    "input: {a: [1, 2]}\n",
    "required:\n  env: [A]\n  startup: s\n",
    "commands:\n",
    "  - ./c.md\n",
    "  - /etc/passwd\n",
    "  - https://x.example/\n",
    "  - name: c\n",
    "    body: $1 $2\n",
    "    description: d\n",
    "    argument-hint: [a] [b]\n",
    "allow: [sh, fs]\n",
    "deny: [sh:rm]\n",
    "abilities: {allow: [x]}\n",
    "tools: []\n",
    "{{input}}",
    "{{#each input}}",
    "{{/each}}",
    "{{else}}",
    "{{#if input.a}}",
    "{{/if}}",
    "{{~",
    "~}}",
    "\\{{",
    "é",
    "\u{feff}",
];

fn text(bytes: &mut Unstructured<'_>) -> Result<String> {
    let count = bytes.int_in_range(0..=40)?;
    let parts: Result<Vec<&str>> = (0..count).map(|_| bytes.choose(&PARTS).copied()).collect();
    Ok(parts?.concat())
}

fn read(content: &[u8]) -> Loaded {
    let system = project()
        .with_file(PATH, content)
        .with_file("agents/c.md", "C $1")
        .with_file("/etc/passwd", "secret");
    load_agent(
        &system,
        Path::new(PATH),
        &AgentOptions { root: Some(Path::new("/p")), fetched: &[] },
    )
}

/// Checks the invariants of anything that was read.
fn assert_sound(loaded: &Loaded) {
    for found in loaded.diagnostics() {
        assert!(found.code().starts_with("agent-file/"), "{}", found.code());
        assert!(found.help.is_some(), "{} has no help", found.code());
        assert!(found.source.text().get(found.span.range()).is_some(), "{found:?}");
    }
    let has_error = loaded.diagnostics().iter().any(|found| found.severity == Severity::Error);
    assert_eq!(loaded.agent().is_none(), has_error);
    let Some(agent) = loaded.agent() else { return };
    assert!(!agent.title.is_empty() && !agent.system.text.is_empty());
    for command in &agent.commands {
        assert!(!command.body.contains("secret"));
        let _ = command.invoke(&["$1".to_owned()]);
        let _ = command.hint.argument_names();
    }
    for text in [&agent.system, &agent.rules] {
        if let Some(span) = text.origin.span() {
            assert!(agent.source.text().get(span.range()).is_some());
        }
    }
    if let Some(tools) = &agent.tools {
        assert_eq!(agent.source.slice(tools.span), tools.code);
    }
    let _ = agent.render(Some(&AgentValue::Text("{{input}}".to_owned())));
    assert!(serde_json::to_string(&AgentView::new(agent, &[])).is_ok());
}

#[test]
fn any_bytes_are_read() {
    arbtest::arbtest(|bytes| {
        let content: Vec<u8> = bytes.arbitrary()?;
        assert_sound(&read(&content));
        Ok(())
    });
}

#[test]
fn any_header_and_body_are_read() {
    arbtest::arbtest(|bytes| {
        let text = text(bytes)?;
        assert_sound(&read(text.as_bytes()));
        Ok(())
    });
}

/// Any text is a template or a problem with a place in it.
#[test]
fn any_text_is_rendered_or_refused() {
    const WORDS: [&str; 24] = [
        "{{", "}}", "{{{", "}}}", "#", "/", "^", "if", "each", "with", "lookup", "else", "input",
        "ctx", " ", "\n", "~", "!--", "--", "(", ")", "as |x|", "'", "../",
    ];
    arbtest::arbtest(|bytes| {
        let count = bytes.int_in_range(0..=60)?;
        let words: Result<Vec<&str>> = (0..count).map(|_| bytes.choose(&WORDS).copied()).collect();
        let text =
            format!("---\ninput: [a, {{b: c}}]\n---\n# T\n\n## System\nx {}\n", words?.concat());
        assert_sound(&read(text.as_bytes()));
        Ok(())
    });
}

/// The same file gives the same problems in the same order, sorted by place.
#[test]
fn the_order_of_problems_is_stable() {
    arbtest::arbtest(|bytes| {
        let text = text(bytes)?;
        let (one, two) = (read(text.as_bytes()), read(text.as_bytes()));
        assert_eq!(one.diagnostics(), two.diagnostics());
        let own = one.diagnostics().iter().filter(|found| found.path() == Path::new(PATH));
        assert!(own.map(|found| found.span).is_sorted(), "{text}");
        Ok(())
    });
}

/// An ability that is printed is read as the same.
#[test]
fn abilities_are_printed_as_they_are_read() {
    arbtest::arbtest(|bytes| {
        let text: String = bytes.arbitrary()?;
        for text in [text.clone(), format!("sh:{text}")] {
            if let Ok(ability) = text.parse::<Ability>() {
                assert_eq!(ability.to_string().parse::<Ability>().as_ref(), Ok(&ability));
            }
        }
        Ok(())
    });
}

/// A large file costs little, whatever it is made of: nothing here grows with the square of it.
#[test]
fn hostile_files_are_read_quickly() {
    let fill = |part: &str| part.repeat(200_000 / part.len());
    let section = |text: String| format!("# T\n\n## System\n{text}\n");
    let long = "x".repeat(400_000);
    for text in [
        section(fill("{{! a }}")),
        section(fill("{{!-- a --}}")),
        section(fill("{{input}}")),
        section(fill("\\{{")),
        section(fill("{{~ ") + "x"),
        section(fill("  {{#if input}}  {{/if}}")),
        fill("## System\n"),
        fill("---\na: b\n"),
        format!("---\nallow: [{}]\n---\n# T\n", fill("zz, ")),
        format!("---\nenv: &a {long}\nallow: [{}]\n---\n# T\n", "*a, ".repeat(100_000)),
        format!("---\ninput: [&a {long}, {}]\n---\n# T\n", "*a, ".repeat(90_000)),
        format!("---\nrequired: {{env: [{}]}}\n---\n# T\n", fill("A, ")),
        format!("---\n{}---\n# T\n", fill("a: b\n")),
        fill("> "),
        fill("- "),
        fill("[a]("),
    ] {
        let start: String = text.chars().take(60).collect();
        let loaded = read(text.as_bytes());
        assert!(loaded.diagnostics().len() <= 1_001, "{start}");
        if let Some(agent) = loaded.agent() {
            let _ = agent.render(None);
        }
    }
}
