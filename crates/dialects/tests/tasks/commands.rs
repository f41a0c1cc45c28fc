//! Slash commands (ruling T8).

use brief_dialects::tasks::PromptReason;
use brief_system::MemorySystem;

use super::support::{codes, left_out, project, run, task_text, warnings};

/// A project whose commands are `/c` and one that shows each argument.
fn task(text: &str) -> MemorySystem {
    project()
        .with_file(".agents/tasks/t.md", text)
        .with_file(".agents/commands/c.md", "C\n")
        .with_file(".agents/commands/show.md", "<${ARGUMENTS}|${1}|${2}|${key}>\n")
        .with_file(".agents/commands/bare.md", "BARE")
}

fn text_of(text: &str) -> String {
    task_text(&run(&task(text), &["t"])).to_owned()
}

/// T8: "A slash command is a line that begins with `/name`".
#[test]
fn a_command_is_a_line_of_its_own() {
    for (text, expected) in [
        ("/c", "C\n"),
        ("/c\n", "C\n"),
        ("/c\r\n", "C\r\n"),
        ("a\n/c\nb\n", "a\nC\nb\n"),
        ("/c\n/c\n", "C\nC\n"),
        ("/bare\n/bare", "BARE\nBARE"),
        ("/c trailing words\n", "C\n"),
        ("# Heading\n/c\n", "# Heading\nC\n"),
        ("a\r\n/c\r\nb\r\n", "a\r\nC\r\nb\r\n"),
        ("\u{feff}/c\n", "\u{feff}C\n"),
    ] {
        assert_eq!(text_of(text), expected, "{text:?}");
    }
}

/// T8: "Blank lines around a command stay."
#[test]
fn blank_lines_around_a_command_stay() {
    for (text, expected) in [
        ("\n/c\n", "\nC\n"),
        ("\n\n\n/c\n\n\n", "\n\n\nC\n\n\n"),
        ("a\n\n/c\n\n\n\nb\n", "a\n\nC\n\n\n\nb\n"),
        ("/c\n\n/c\n\n", "C\n\nC\n\n"),
    ] {
        assert_eq!(text_of(text), expected, "{text:?}");
    }
}

/// T8: "outside code and HTML"; a line that does not begin with it is text.
#[test]
fn inside_code_and_html_and_lines_it_is_text() {
    for text in [
        "```\n/c\n```\n",
        "```sh\n/c\n",
        "~~~~\n/c\n~~~\n/c\n~~~~\n",
        "<!--\n/c\n-->\n",
        "<div>\n/c\n</div>\n",
        "<pre>\n\n/c\n\n</pre>\n",
        "a /c\n",
        " /c\n",
        "\t/c\n",
        "    /c\n",
        "- /c\n",
        "> /c\n",
        "`/c`\n",
        "`one\n/c\ntwo`\n",
    ] {
        assert_eq!(text_of(text), text);
    }
    assert_eq!(text_of("```\n/c\n```\n/c\n"), "```\n/c\n```\nC\n", "after the fence it is one");
}

/// T8: "An unknown command … stays verbatim, byte for byte, with a warning".
#[test]
fn an_unknown_command_stays_with_a_warning() {
    let text = "a\n\n/shwo  two   blanks \"quoted\"\t\n\n/c\n";
    let prompt = run(&task(text), &["t"]);
    assert_eq!(task_text(&prompt), "a\n\n/shwo  two   blanks \"quoted\"\t\n\nC\n");
    assert_eq!(
        warnings(&prompt),
        [".agents/tasks/t.md:3 tasks/unknown-command `/shwo` stays as written: unknown command"]
    );
    assert_eq!(prompt.diagnostics[0].help.as_deref(), Some("did you mean `/show`?"));
}

/// T8: "a path, a comment line `//` stays verbatim, byte for byte, with a warning only for the
/// unknown command". No text is ever lost.
#[test]
fn paths_and_comments_stay_without_a_warning() {
    for text in [
        "// a comment\n",
        "//c\n",
        "/ c\n",
        "/\n",
        "/home/coder/.config is a directory\n",
        "/c/d\n",
        "/usr/bin/env bash\n",
        "/^c$/\n",
        "/c=d\n",
        "/\"c\"\n",
        "an odd \" quote\n",
        "it's\n// and \"\n/ x\n",
    ] {
        let prompt = run(&task(text), &["t"]);
        assert_eq!(task_text(&prompt), text);
        assert_eq!(warnings(&prompt), [""; 0], "{text:?}");
    }
}

/// An unknown command is not expanded either: it is verbatim.
#[test]
fn an_unknown_command_is_verbatim() {
    let system = task("/unknown ${a} @a.txt\n").with_file("a.txt", "FILE");
    assert_eq!(task_text(&run(&system, &["-p", "a=V", "t"])), "/unknown ${a} @a.txt\n");
}

/// T8: "Arguments: `key=\"v\"`, `key=v`, bare words, quotes with `\\\"`; they fill `${key}`,
/// `${1}`, `${ARGUMENTS}`".
#[test]
fn arguments_fill_placeholders() {
    for (call, expected) in [
        ("/show one two", "<one two|one|two|${key}>\n"),
        ("/show \"one two\" three", "<\"one two\" three|one two|three|${key}>\n"),
        ("/show a key=v", "<a key=v|a|key=v|v>\n"),
        ("/show key=\"a b\" x", "<key=\"a b\" x|key=\"a b\"|x|a b>\n"),
        (
            r#"/show key="say \"hi\"" x"#,
            "<key=\"say \\\"hi\\\"\" x|key=\"say \\\"hi\\\"\"|x|say \"hi\">\n",
        ),
        ("/show key=src/main.go x", "<key=src/main.go x|key=src/main.go|x|src/main.go>\n"),
        ("/show it's key=1", "<it's key=1|it's|key=1|1>\n"),
        ("/show key=a=b x", "<key=a=b x|key=a=b|x|a=b>\n"),
        ("/show key=\"\" x", "<key=\"\" x|key=\"\"|x|>\n"),
        ("/show   a   b  ", "<a   b|a|b|${key}>\n"),
        ("/show key=1 key=2", "<key=1 key=2|key=1|key=2|2>\n"),
        ("/show KEY=1 x", "<KEY=1 x|KEY=1|x|1>\n"),
    ] {
        assert_eq!(text_of(call), expected, "{call}");
    }
}

/// T8: arguments "win over `-p`"; what has no argument is filled by `-p`.
#[test]
fn arguments_win_over_parameters() {
    let system = task("/show x key=argument\n/show x y\n${key}\n");
    let prompt = run(&system, &["-p", "key=parameter", "t"]);
    assert_eq!(
        task_text(&prompt),
        "<x key=argument|x|key=argument|argument>\n<x y|x|y|parameter>\nparameter\n",
        "and they are gone after the call"
    );
}

/// A call without arguments: `${ARGUMENTS}` is empty, positions are missing.
#[test]
fn without_arguments_positions_are_missing() {
    let prompt = run(&task("/show\n"), &["t"]);
    assert_eq!(task_text(&prompt), "<|${1}|${2}|${key}>\n");
    assert_eq!(codes(&prompt), [".agents/commands/show.md:1 tasks/missing-parameter"; 3]);
}

/// The document, single pass: arguments are text; nothing in them is expanded.
#[test]
fn arguments_are_not_expanded() {
    let system = task("/show key=${a} !`a` @a.txt\n").with_file("a.txt", "FILE");
    let prompt = run(&system, &["-p", "a=VALUE", "t"]);
    assert_eq!(task_text(&prompt), "<key=${a} !`a` @a.txt|key=${a}|!`a`|${a}>\n");
}

/// Reference 1.8: "Command bodies are not re-parsed for slash commands (no nesting)".
#[test]
fn commands_do_not_nest() {
    let system = task("/outer\n").with_file(".agents/commands/outer.md", "/c\n");
    let prompt = run(&system, &["t"]);
    assert_eq!(task_text(&prompt), "/c\n");
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// An inserted text cannot become a call: neither a value nor a file at the start of a line.
#[test]
fn what_is_put_in_is_no_call() {
    let system = task("${v}\n@f.txt\n").with_file("f.txt", "/c");
    assert_eq!(task_text(&run(&system, &["-p", "v=/c", "t"])), "/c\n/c\n");
}

/// T6 for commands: the first place wins, and the others are told.
#[test]
fn the_first_command_of_a_name_wins() {
    let system = project()
        .with_file(".agents/tasks/t.md", "/d\n/d\n")
        .with_file(".opencode/command/d.md", "3\n")
        .with_file(".cursor/commands/d.md", "2\n")
        .with_file("/h/.agents/commands/d.md", "4\n")
        .with_file(".agents/commands/deep/d.md", "1\n");
    let prompt = run(&system, &["t"]);
    assert_eq!(task_text(&prompt), "1\n1\n");
    let by = "is overridden by /p/.agents/commands/deep/d.md, which has the same name";
    assert_eq!(
        left_out(&prompt),
        [
            (".cursor/commands/d.md", by.to_owned()),
            (".opencode/command/d.md", by.to_owned()),
            ("/h/.agents/commands/d.md", by.to_owned()),
        ]
    );
}

/// Each call is told with its line.
#[test]
fn each_call_is_in_the_answer() {
    let prompt = run(&task("---\na: b\n---\n/c\n\n/c x\n"), &["t"]);
    let reasons: Vec<&PromptReason> =
        prompt.commands.iter().map(|command| &command.reason).collect();
    assert_eq!(
        reasons,
        [
            &PromptReason::Called { line: 4, call: "/c".to_owned() },
            &PromptReason::Called { line: 6, call: "/c x".to_owned() },
        ]
    );
}

/// A file in `.cursor/commands` is a task and a command (the document lists it for both).
#[test]
fn a_task_may_be_called_as_a_command() {
    let system = project()
        .with_file(".agents/tasks/t.md", "/both\n")
        .with_file(".cursor/commands/both.md", "BOTH\n");
    assert_eq!(task_text(&run(&system, &["t"])), "BOTH\n");
    assert_eq!(task_text(&run(&system, &["both"])), "BOTH\n");
}

/// A command file without text leaves its line empty, and nothing else goes.
#[test]
fn an_empty_command_leaves_an_empty_line() {
    let system = task("a\n/empty\nb\n").with_file(".agents/commands/empty.md", "");
    assert_eq!(task_text(&run(&system, &["t"])), "a\n\nb\n");
}

/// G5: a text that calls one command, or none, ten thousand times is put together all the same.
#[test]
fn ten_thousand_calls_are_no_burden() {
    let calls = "/show x\n/unknown\n".repeat(10_000);
    let prompt = run(&task(&calls), &["t"]);
    assert_eq!(prompt.commands.len(), 10_000);
    assert_eq!(task_text(&prompt), "<x|x|${2}|${key}>\n/unknown\n".repeat(10_000));
    assert!(warnings(&prompt)[0].ends_with("(9999 more times below)"));
    let unknown: String =
        (0..10_000).fold(String::new(), |text, number| text + &format!("/unknown{number}\n"));
    let prompt = run(&task(&unknown), &["t"]);
    assert_eq!(task_text(&prompt), unknown);
    assert_eq!(prompt.diagnostics.len(), 10_000);
}

/// The name is matched exactly (G12).
#[test]
fn names_of_commands_have_case() {
    assert_eq!(text_of("/C\n"), "/C\n");
}
