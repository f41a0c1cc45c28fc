//! The file and its header: sections 1 and Y2 to Y10 of the checklist.

use brief_dialects::agents::AgentStatus;
use brief_syntax::Diagnostic;
use brief_syntax::diagnostic::apply_safe_fixes;

use super::support::{agent, errors, headed, help, loaded, warnings, with_header};

/// A2, A6: without fields, every default holds.
#[test]
fn a_header_is_optional() {
    for text in [
        "# T\nD\n",
        "---\n---\n# T\nD\n",
        "---\n# a comment\n---\n# T\nD\n",
        "\u{feff}# T\r\nD\r\n",
    ] {
        let agent = agent(text);
        assert_eq!((agent.title.as_str(), agent.description.as_str()), ("T", "D"), "{text:?}");
        assert_eq!((agent.version.as_str(), agent.icon.as_str()), ("0.1.0", "🤖"), "{text:?}");
        assert_eq!(warnings(text), [""; 0], "{text:?}");
    }
}

/// A3, Y2: blank lines are no block; losing `disabled` would be unsafe.
#[test]
fn blank_lines_before_the_header_are_warned_of() {
    let text = "\n  \n---\nstatus: disabled\n---\n# T\n";
    assert_eq!(agent(text).status, AgentStatus::Disabled);
    assert_eq!(warnings(text), ["1 header-leading-blank"]);
}

/// A3, Y2: a header after other text is text to everybody, so it is an error.
#[test]
fn a_header_further_down_is_an_error() {
    for text in [
        "text\n\n---\nstatus: disabled\n---\n# T\n",
        "# T\nD\n\n---\nDeny: [sh]\n---\n",
        "# T\n---\nstatus: disabled\n\ncommands:\n  - ./x\n...\n",
        "---\ntitle: T\n---\n---\nstatus: disabled\n---\n# T\n",
    ] {
        assert_eq!(errors(text).len(), 1, "{text}");
        assert!(errors(text)[0].ends_with(" header-misplaced"), "{text}");
    }
}

/// A7, A80: lines and fences of the body are the body's.
#[test]
fn lines_of_dashes_in_the_body_are_markdown() {
    for text in [
        "# T\nD\n\n---\n\nmore text\n\n---\n",
        "# T\nD\n\n---\ncolor: red\n---\n",
        "# T\nD\n\n```md\n---\nstatus: disabled\n---\n```\n",
        "# T\nD\n\n---\nstatus: disabled\n",
    ] {
        assert_eq!(agent(text).status, AgentStatus::Active, "{text}");
    }
}

/// A4: keys in any case, nested ones too.
#[test]
fn keys_are_read_in_any_case() {
    let agent = with_header(
        "VeRsIoN: 9.9.9\nTEMPLATEENGINE: \"\"\nReQuIrEd:\n  EnV: [A]\nReCoMmEnDeD:\n  Models: [m]\n\
         Commands:\n  - {NAME: c, Description: d, BODY: b, Argument-Hint: h}\nAbilities: {ALLOW: [fs]}",
    );
    assert_eq!(agent.version, "9.9.9");
    assert_eq!(agent.template_engine.as_str(), "");
    assert_eq!(agent.required.env, ["A"]);
    assert_eq!(agent.recommended.models, ["m"]);
    assert_eq!(agent.commands[0].hint.argument_names(), ["h"]);
    assert_eq!(agent.abilities.allow.unwrap().len(), 1);
}

/// A5, Y3, Y4: what is no header is an error, not an empty one.
#[test]
fn a_broken_header_stops_the_agent() {
    for (text, expected) in [
        ("---\ntitle: [x\n---\n# T\n", "invalid-yaml"),
        ("---\ntitle: a: b\n---\n# T\n", "invalid-yaml"),
        ("---\ndescription: *x\n---\n# T\n", "invalid-yaml"),
        ("---\ntitle: !x\n---\n# T\n", "invalid-yaml"),
        ("---\n- a\n---\n# T\n", "header-not-a-mapping"),
        ("---\njust text\n---\n# T\n", "header-not-a-mapping"),
        ("---\ntitle: X\n\n# X\n", "header-unclosed"),
        ("---\n\n# X\n", "header-unclosed"),
        ("\n---\n- a\n# X\n", "header-unclosed"),
    ] {
        let found = errors(text);
        assert!(found.iter().any(|found| found.ends_with(expected)), "{text}: {found:?}");
    }
}

/// A5: bytes that are no text are no header either.
#[test]
fn a_file_that_is_not_utf8_does_not_run() {
    let system = super::support::project().with_file(super::support::PATH, b"# T\n\nD \xff\n");
    let loaded = super::support::loaded_from(&system, super::support::PATH);
    assert!(loaded.agent().is_none());
    assert_eq!(loaded.diagnostics()[0].code(), "agent-file/not-utf8");
}

/// Y5: a field in two spellings is not guessed at, and neither is one that stands twice.
#[test]
fn a_key_stands_once() {
    for header in
        ["Version: 1\nversion: 2", "version: 1\nversion: 2", "required: {env: [A], ENV: [B]}"]
    {
        let found = errors(&headed(header));
        assert_eq!(found.len(), 1, "{header}: {found:?}");
        assert!(found[0].ends_with("duplicate-key"), "{header}");
    }
}

/// Y6: an unknown key is a warning with the nearest name.
#[test]
fn unknown_keys_are_warned_of() {
    assert_eq!(warnings(&headed("statsu: disabled")), ["2 unknown-key"]);
    assert_eq!(help(&headed("statsu: disabled")), "did you mean `status`?");
    assert_eq!(help(&headed("color: red")), "remove it; it has no effect");
    assert_eq!(warnings(&headed("required:\n  evn: [A]")), ["3 unknown-key"]);
    assert_eq!(help(&headed("required:\n  evn: [A]")), "did you mean `env`?");
}

/// Y7: a scalar is the text that is written there.
#[test]
fn scalars_keep_their_text() {
    assert_eq!(with_header("version: 1.10").version, "1.10");
    assert_eq!(with_header("version: 1").version, "1");
    assert_eq!(agent("---\ntitle: 123\n---\n").title, "123");
    assert_eq!(errors(&headed("version: [1]")), ["2 wrong-type"]);
}

/// Y10, A38: the document's own example is not YAML, and loads.
#[test]
fn the_documents_example_of_commands_loads() {
    let text = "---\ncommands:\n  - ./commands\n  - ./commands/more/test2.md\n  - https://example.com/commands/\n  - https://example.com/commands/test.md\n  - name: test\n    description: Generates unit tests for a specific function or file.\n    argument-hint: [target-name] [framework]\n    body: |\n      Create unit tests for $1 using the $2 framework.\n      Ensure the tests cover edge cases and follow our project style.\n---\n# T\n";
    let system = super::support::with_agent(text)
        .with_file("agents/commands/one.md", "Do one.")
        .with_file("agents/commands/more/test2.md", "Do two.");
    let loaded = super::support::loaded_from(&system, super::support::PATH);
    let agent = loaded.agent().unwrap();
    let names: Vec<&str> = agent.commands.iter().map(|command| command.name.as_str()).collect();
    assert_eq!(names, ["one", "test2", "test"]);
    assert_eq!(agent.commands[2].hint.argument_names(), ["target-name", "framework"]);
    let codes: Vec<&str> = loaded.diagnostics().iter().map(Diagnostic::code).collect();
    let remote = "agent-file/command-remote-unresolved";
    assert_eq!(codes, [remote, remote, "agent-file/frontmatter-repaired"]);
    let fixed = apply_safe_fixes(text, loaded.diagnostics()).text;
    assert!(fixed.contains("argument-hint: '[target-name] [framework]'"), "{fixed}");
}

/// Y10: nothing but that field is repaired.
#[test]
fn only_argument_hints_are_repaired() {
    let text = "---\ncommands:\n  - name: c\n    description: when: asked\n    argument-hint: [a] [b]\n    body: b\n---\n# T\n";
    assert!(loaded(text).agent().is_none());
    let body = "---\ncommands:\n  - name: c\n    description: d\n    argument-hint: [a] [b]\n    body: |\n      x:y\n      argument-hint: [c] [d]\n---\n# T\n";
    assert_eq!(agent(body).commands[0].body, "x:y\nargument-hint: [c] [d]\n");
}
