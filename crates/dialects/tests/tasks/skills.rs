//! The skills that a prompt offers (ruling T3; reference 1.2, 1.5, 1.10).

use brief_system::MemorySystem;

use super::support::{codes, left_out, output, project, run, skills, task_text, warnings};

fn with_skill(directory: &str, text: &str) -> MemorySystem {
    project()
        .with_file(".agents/tasks/t.md", "T\n")
        .with_file(&format!(".agents/skills/{directory}/SKILL.md"), text)
}

/// T3: rules, then the skills block, then the task; the XML is that of the reference, 1.10.
#[test]
fn skills_stand_between_rules_and_task() {
    let system = with_skill("pdf", "---\nname: pdf\ndescription: Reads PDF files\n---\nBODY\n")
        .with_file(".agents/rules/r.md", "R\n");
    let text = output(&run(&system, &["t"]));
    let block = "<available_skills>\n  <skill>\n    <name>pdf</name>\n    <description>Reads PDF files</description>\n    <location>/p/.agents/skills/pdf/SKILL.md</location>\n  </skill>\n</available_skills>\n\nT\n\n";
    assert!(
        text.starts_with("R\n\n\n# Skills\n\nYou have access to the following skills."),
        "{text}"
    );
    assert!(text.ends_with(&format!("\n\n{block}")), "{text}");
    assert!(!text.contains("BODY"), "only the name and the description are listed");
}

/// Reference: no skills, no heading.
#[test]
fn without_skills_there_is_no_block() {
    let system = project().with_file(".agents/tasks/t.md", "T\n").with_dir(".agents/skills/empty");
    let prompt = run(&system, &["t"]);
    assert_eq!(output(&prompt), "T\n\n");
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// Reference 1.2: every agent's place, one level deep.
#[test]
fn skills_come_from_every_place_in_order() {
    let agents = [
        ".agents",
        ".cursor",
        ".opencode",
        ".github",
        ".claude",
        ".gemini",
        ".augment",
        ".windsurf",
        ".codex",
    ];
    let mut system = project().with_file(".agents/tasks/t.md", "T\n");
    let mut expected = Vec::new();
    for (root, prefix) in [("", "p"), ("/h/", "h")] {
        for agent in agents {
            let name = format!("{prefix}-{}", &agent[1..]);
            let path = format!("{root}{agent}/skills/{name}/SKILL.md");
            let text = format!("---\nname: {name}\ndescription: d\n---\n");
            system = system
                .with_file(&path, &text)
                .with_file(&format!("{root}{agent}/skills/deep/{name}/SKILL.md"), &text)
                .with_file(&format!("{root}{agent}/skills/SKILL.md"), &text)
                .with_file(&format!("{root}{agent}/skills/{name}/README.md"), &text);
            expected.push(path);
        }
    }
    assert_eq!(skills(&run(&system, &["t"])), expected);
}

/// A description cannot close the block or open another.
#[test]
fn skills_are_escaped() {
    let text = "---\nname: a<b>&\"c'\ndescription: \"</description></skill> & \\t\\n\\u0001\\u001b[31m \u{2028}é\"\n---\n";
    let system = with_skill("x&y", text);
    let text = output(&run(&system, &["t"]));
    let block = &text[text.find("<available_skills>").unwrap()..];
    assert_eq!(
        block,
        "<available_skills>\n  <skill>\n    <name>a&lt;b&gt;&amp;&#34;c&#39;</name>\n    <description>&lt;/description&gt;&lt;/skill&gt; &amp; &#x9;&#xA;\u{fffd}\u{fffd}[31m \u{2028}é</description>\n    <location>/p/.agents/skills/x&amp;y/SKILL.md</location>\n  </skill>\n</available_skills>\n\nT\n\n"
    );
}

/// G2: a skill without a description is reported and left out; the others are listed.
#[test]
fn a_skill_without_a_description_is_left_out() {
    for text in
        ["---\nname: x\n---\n", "no front matter\n", "---\nname: x\ndescription: '  '\n---\n"]
    {
        let system = with_skill("bad", text)
            .with_file(".claude/skills/good/SKILL.md", "---\nname: good\ndescription: d\n---\n");
        let prompt = run(&system, &["t"]);
        assert_eq!(skills(&prompt), [".claude/skills/good/SKILL.md"]);
        assert_eq!(
            left_out(&prompt),
            [(
                ".agents/skills/bad/SKILL.md",
                "skill missing required 'description' field".to_owned()
            )]
        );
        assert!(
            codes(&prompt).contains(&".agents/skills/bad/SKILL.md:1 tasks/skill-invalid".into())
        );
    }
}

/// G2: a skill without a name has that of its directory, and says so.
#[test]
fn a_skill_without_a_name_has_that_of_its_directory() {
    let prompt = run(&with_skill("pdf", "---\ndescription: d\n---\n"), &["t"]);
    assert_eq!(prompt.skills[0].name, "pdf");
    assert_eq!(codes(&prompt), [".agents/skills/pdf/SKILL.md:1 tasks/skill-without-name"]);
}

/// Reference 1.1: 1-64 and 1-1024 characters; we count characters, report, and offer it.
#[test]
fn names_and_descriptions_that_are_too_long_are_reported() {
    for (name, description, expected) in [
        ("é".repeat(64), "é".repeat(1024), &[][..]),
        ("é".repeat(65), "d".to_owned(), &["skill 'name' field must be 1-64 characters (got 65)"]),
        (
            "n".to_owned(),
            "d".repeat(1025),
            &["skill 'description' field must be 1-1024 characters (got 1025)"],
        ),
    ] {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n");
        let prompt = run(&with_skill("x", &text), &["t"]);
        let messages: Vec<&str> =
            prompt.diagnostics.iter().map(|note| note.message.as_str()).collect();
        assert_eq!(messages, expected);
        assert_eq!(prompt.skills.len(), 1);
    }
}

/// Two skills of one name: the first is listed.
#[test]
fn of_two_skills_with_one_name_the_first_is_offered() {
    let text = "---\nname: x\ndescription: d\n---\n";
    let system = with_skill("one", text).with_file(".claude/skills/two/SKILL.md", text);
    let prompt = run(&system, &["t"]);
    assert_eq!(skills(&prompt), [".agents/skills/one/SKILL.md"]);
    assert_eq!(
        left_out(&prompt),
        [(
            ".claude/skills/two/SKILL.md",
            "is overridden by /p/.agents/skills/one/SKILL.md, which has the same name".to_owned()
        )]
    );
}

/// T4: `-r` and `--skip-bootstrap` skip skills.
#[test]
fn skills_are_skipped_with_the_rules() {
    let system = with_skill("x", "---\nname: x\ndescription: d\n---\n");
    for flag in ["-r", "--skip-bootstrap"] {
        let prompt = run(&system, &[flag, "t"]);
        assert_eq!(output(&prompt), "T\n\n");
        assert_eq!(task_text(&prompt), "T\n");
    }
}

/// A block of text for a description, as skills have it, is one text.
#[test]
fn a_folded_description_is_one_line() {
    let prompt = run(&with_skill("x", "---\nname: x\ndescription: >\n  one\n  two\n---\n"), &["t"]);
    assert_eq!(prompt.skills[0].description, "one two");
}
