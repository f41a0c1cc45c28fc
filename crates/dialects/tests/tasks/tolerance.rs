//! Front matter as people write it (ruling G1), and files that help no one (G2).
#![expect(clippy::disallowed_methods, reason = "the ugly files lie in a folder")]

use brief_syntax::Diagnostic;
use std::collections::BTreeSet;
use std::path::Path;

use brief_dialects::tasks::{PromptLayout, RenderedPart};
use brief_system::MemorySystem;

use super::support::{codes, output, project, rules, run, shown, task_text, warnings};

/// 35 ugly files, one in each directory.
const TORTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../syntax/tests/data/torture");

fn with_rule(name: &str, text: impl AsRef<[u8]>) -> MemorySystem {
    project()
        .with_file(".agents/tasks/t.md", "T\n")
        .with_file(&format!(".cursor/rules/{name}"), text)
        .with_file("CLAUDE.md", "OTHER\n")
}

/// Names and texts.
type Fields = &'static [(&'static str, &'static str)];

/// Rules of Cursor: the header, fields in it, and how often it is to be repaired.
const CURSOR: [(&str, Fields, usize); 12] = [
    ("globs: **/*.ts\n", &[("globs", "**/*.ts")], 1),
    ("globs: *.ts\n", &[("globs", "*.ts")], 1),
    ("globs: **/*.ts,**/*.tsx\nalwaysApply: false\n", &[("globs", "**/*.ts,**/*.tsx")], 1),
    ("globs: **/*.{ts,tsx}, src/**\n", &[("globs", "**/*.{ts,tsx}, src/**")], 1),
    ("globs: \"**/*.ts\"\n", &[("globs", "**/*.ts")], 0),
    ("globs: [\"**/*.ts\", \"b\"]\nalwaysApply: true\n", &[("alwaysApply", "true")], 0),
    ("globs:\n  - \"**/*.ts\"\n  - 'b'\n", &[], 0),
    ("description: \nglobs: \nalwaysApply: true\n", &[("alwaysApply", "true")], 0),
    ("description: Use when: asked\n", &[("description", "Use when: asked")], 1),
    ("description: @mention first\n", &[("description", "@mention first")], 1),
    ("argument-hint: [a] [b]\n", &[("argument-hint", "[a] [b]")], 1),
    ("description: \"quoted\" and more\n", &[("description", "\"quoted\" and more")], 1),
];

/// G1: "repair line by line (quote the offending value), warn with code `frontmatter-repaired`, and
/// go on". The body is right, the other rules stand.
#[test]
fn rules_of_cursor_are_read_and_repairs_are_reported() {
    for (header, fields, repairs) in CURSOR {
        let system = with_rule("r.mdc", format!("---\n{header}---\n\n# Body\n"));
        let prompt = run(&system, &["t"]);
        assert_eq!(output(&prompt), "\n# Body\n\nOTHER\n\nT\n\n", "{header}");
        let rule = &prompt.rules[0].document;
        for (name, value) in fields {
            assert_eq!(rule.text(name), Some(*value), "{header}");
        }
        let expected = vec!["frontmatter-repaired"; repairs];
        let found: Vec<&str> = prompt.diagnostics.iter().map(Diagnostic::code).collect();
        assert_eq!(found, expected, "{header}");
        assert!(prompt.diagnostics.iter().all(|note| note.fix.is_some()), "{header}");
    }
}

/// A repaired field is selected by like any other.
#[test]
fn what_was_repaired_can_be_selected_by() {
    let system = with_rule("r.mdc", "---\nglobs: **/*.ts\nstage: testing\n---\nR\n");
    assert_eq!(rules(&run(&system, &["-s", "stage=other", "t"])), ["CLAUDE.md"]);
    assert_eq!(rules(&run(&system, &["-s", "globs=**/*.ts", "t"])).len(), 2);
    assert_eq!(rules(&run(&system, &["-s", "globs=x", "t"])), ["CLAUDE.md"]);
}

/// G1: "BOM, CRLF, trailing blanks after `---`, a closing `---` at end of file without newline,
/// `...` as closer are all accepted."
#[test]
fn dashes_are_accepted_in_every_form() {
    for (text, body) in [
        ("\u{feff}---\nstage: testing\n---\nR\n", "R\n"),
        ("---\r\nstage: testing\r\n---\r\nR\r\n", "R\r\n"),
        ("\u{feff}---\r\nstage: testing\r\n---\r\nR\r\n", "R\r\n"),
        ("---  \nstage: testing\n---\t \nR\n", "R\n"),
        ("---\nstage: testing\n---", ""),
        ("---\nstage: testing\n...\nR\n", "R\n"),
        ("---\nstage: testing\n...", ""),
    ] {
        let system = with_rule("r.md", text);
        let prompt = run(&system, &["-s", "stage=testing", "t"]);
        assert_eq!(prompt.rules[0].text, body.as_bytes(), "{text:?}");
        assert_eq!(warnings(&prompt), [""; 0], "{text:?}");
        let excluded = run(&system, &["-s", "stage=other", "t"]);
        assert_eq!(rules(&excluded), ["CLAUDE.md"], "{text:?}");
    }
}

/// T3: a task's front matter is written as it is, whatever its form, and the body follows.
#[test]
fn front_matter_of_a_task_is_written_as_it_is() {
    for (text, expected) in [
        (
            "---\n# why\nb:   2 # two\na: [ 1,2 ]\n---\nT\n",
            "---\n# why\nb:   2 # two\na: [ 1,2 ]\n---\nT\n\n",
        ),
        ("---\ndescription: Use when: x\n---\nT\n", "---\ndescription: Use when: x\n---\nT\n\n"),
        ("---\na: b\n---", "---\na: b\n---\n\n"),
        ("---  \na: b\n...\nT\n", "---\na: b\n---\nT\n\n"),
        ("\u{feff}---\na: b\n---\nT\n", "---\na: b\n---\nT\n\n"),
        ("---\na: b\n\n---\n\n---\nT\n", "---\na: b\n\n---\n\n---\nT\n\n"),
    ] {
        let system = project().with_file(".agents/tasks/t.md", text);
        assert_eq!(output(&run(&system, &["t"])), expected, "{text:?}");
    }
}

/// T3, T8: what is no front matter is text, and no text is ever lost.
#[test]
fn what_is_no_front_matter_is_text() {
    for text in [
        "",
        "\n",
        "---",
        "---\n",
        "---\nno end\n",
        "---\nfield: without end\n",
        "\n---\na: b\n---\nT\n",
        "# T\n\n---\n\nAFTER\n",
        "----\na: b\n----\n",
        "---x\na: b\n---\n",
        " ---\na: b\n---\n",
        "---\njust a sentence\n---\nT\n",
        "---\n- a\n- list\n---\nT\n",
        "+++\na = 1\n+++\nT\n",
        "\u{feff}",
        "\u{feff}T\n",
    ] {
        let system = project().with_file(".agents/tasks/t.md", text);
        assert_eq!(output(&run(&system, &["t"])), format!("{text}\n"), "{text:?}");
    }
}

/// G2: a field that cannot be read at all is reported and skipped; the others count.
#[test]
fn a_field_that_cannot_be_read_spares_the_others() {
    let text = "---\nstage: testing\nbroken: [a, {b\nteam: backend\n---\nR\n";
    let system = with_rule("r.md", text);
    let prompt = run(&system, &["t"]);
    assert_eq!(prompt.rules[0].text, b"R\n");
    assert!(!prompt.diagnostics.is_empty());
    assert_eq!(rules(&run(&system, &["-s", "stage=other", "t"])), ["CLAUDE.md"]);
}

/// G1: the same repair is reported once, however often the file is looked at.
#[test]
fn a_repair_is_reported_once() {
    let header = "---\ndescription: Use when: x\n---\n";
    let system = project()
        .with_file(".agents/tasks/t.md", format!("{header}/c\n/c\n/both\n/unknown\n"))
        .with_file(".agents/commands/c.md", format!("{header}C\n"))
        .with_file(".cursor/commands/both.md", format!("{header}B\n"))
        .with_file(".agents/rules/r.md", format!("{header}R\n"))
        .with_program(".agents/rules/r-bootstrap", "");
    let mut repaired: Vec<String> = codes(&run(&system, &["t"]));
    repaired.retain(|code| code.ends_with("frontmatter-repaired"));
    repaired.sort();
    assert_eq!(
        repaired,
        [
            ".agents/commands/c.md:2 frontmatter-repaired",
            ".agents/rules/r.md:2 frontmatter-repaired",
            ".agents/tasks/t.md:2 frontmatter-repaired",
            ".cursor/commands/both.md:2 frontmatter-repaired",
        ]
    );
}

/// Problems of files that the prompt does not use are not reported: that is what lint is for.
#[test]
fn other_commands_and_tasks_are_not_reported() {
    let header = "---\ndescription: Use when: x\n---\n";
    let system = project()
        .with_file(".agents/tasks/t.md", "/unknown\n")
        .with_file(".agents/tasks/other.md", header)
        .with_file(".agents/commands/c.md", header);
    assert_eq!(codes(&run(&system, &["t"])), [".agents/tasks/t.md:1 tasks/unknown-command"]);
}

/// G1: aliases are bounded; a bomb is a diagnostic, and the others stand.
#[test]
fn a_bomb_of_aliases_is_a_diagnostic() {
    let mut text = String::from("---\na: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (name, from) in [("b", "a"), ("c", "b"), ("d", "c"), ("e", "d"), ("f", "e"), ("g", "f")] {
        text.push_str(&format!("{name}: &{name} [{}]\n", vec![format!("*{from}"); 10].join(", ")));
    }
    text.push_str("---\nR\n");
    let prompt = run(&with_rule("r.md", text), &["-s", "g=x", "t"]);
    assert!(rules(&prompt).contains(&"CLAUDE.md"));
    assert!(prompt.diagnostics.iter().any(|note| note.code() == "yaml/alias-bomb"));
}

/// The 35 ugly files, as rules and as skills: each is in or out or reported, none hides another.
#[test]
fn ugly_files_hide_nothing() {
    let mut system = project()
        .with_file(".agents/tasks/t.md", "T\n")
        .with_file(".agents/rules/zz-last.md", "LAST\n")
        .with_file(".agents/skills/zz-last/SKILL.md", "---\nname: zz\ndescription: d\n---\n");
    let mut expected = BTreeSet::from(["zz-last".to_owned()]);
    for entry in Path::new(TORTURE).read_dir().unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_str().unwrap().to_owned();
        let text = std::fs::read(entry.path().join("SKILL.md")).unwrap();
        system = system
            .with_file(&format!(".agents/rules/{name}.md"), &text)
            .with_file(&format!(".agents/skills/{name}/SKILL.md"), &text);
        expected.insert(name);
    }
    assert_eq!(expected.len(), 36);
    let prompt = run(&system, &["t"]);
    let stems = prompt.rules.iter().map(|rule| rule.document.stem.clone());
    assert_eq!(stems.collect::<BTreeSet<_>>(), expected, "every file is a rule");
    let listed = prompt.skills.iter().map(|skill| &skill.document);
    let left_out = prompt.left_out.iter().map(|left| &left.document);
    let skills: Vec<_> = listed.chain(left_out).map(|skill| skill.stem.clone()).collect();
    assert_eq!(skills.len(), expected.len(), "every skill is listed or left out, once");
    assert_eq!(skills.into_iter().collect::<BTreeSet<_>>(), expected);
    let reported: BTreeSet<&str> =
        prompt.diagnostics.iter().map(|note| shown(note.path())).collect();
    for left in &prompt.left_out {
        assert!(reported.contains(shown(left.document.path())), "{:?}", left.document.path());
    }
    assert!(prompt.skills.iter().any(|skill| skill.name == "zz"));
    assert!(prompt.skills.len() > 25, "{}", prompt.skills.len());
}

/// Each of the ugly files as a task: it runs, and nothing of its text is lost.
#[test]
fn ugly_files_run_as_tasks() {
    for entry in Path::new(TORTURE).read_dir().unwrap() {
        let path = entry.unwrap().path().join("SKILL.md");
        let text = std::fs::read(&path).unwrap();
        let system = project().with_file(".agents/tasks/t.md", &text);
        let prompt = run(&system, &["t"]);
        assert!(text.ends_with(&prompt.task.text), "{}", path.display());
    }
}

/// A task with bytes that are no text comes out as it went in.
#[test]
fn bytes_that_are_no_text_stay() {
    let body = b"caf\xe9 \xff\xfe\x00 \xf0\x28\x8c\x28\n";
    let text = [b"---\na: caf\xe9\n---\n".as_slice(), body].concat();
    let prompt = run(&project().with_file(".agents/tasks/t.md", text), &["t"]);
    assert_eq!(prompt.task.text, body);
    let layout = PromptLayout {
        front_matter: RenderedPart::Written,
        rules: RenderedPart::Written,
        skills: RenderedPart::Written,
    };
    let expected = [b"---\na: caf\xe9\n---\n".as_slice(), body, b"\n"].concat();
    assert_eq!(prompt.render(layout), expected, "its front matter too");
    let text = task_text(&run(&project().with_file(".agents/tasks/t.md", "é\0\n"), &["t"])).len();
    assert_eq!(text, 4);
}
