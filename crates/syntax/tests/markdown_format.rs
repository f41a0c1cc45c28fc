//! The Markdown formatter through its public face: what it keeps, what it refuses, and that it comes
//! to an end.

use brief_syntax::markdown::{FormatRefusal, format_markdown};

/// Formats, and checks that formatting again changes nothing.
fn formatted(text: &str) -> String {
    let once = format_markdown(text);
    assert_eq!(once.refused, None, "{text:?}");
    let twice = format_markdown(&once.text);
    assert_eq!(once, twice, "{text:?}");
    once.text
}

fn is_kept(text: &str) {
    assert_eq!(formatted(text), text);
}

#[test]
fn nothing_is_nothing() {
    for text in ["", "\n", " \n\t\n", "\u{feff}", "\r\n"] {
        assert_eq!(formatted(text), "", "{text:?}");
    }
}

#[test]
fn code_is_kept_to_the_byte() {
    is_kept("```text\na\n\n\n\tb  \n   c\n```\n");
    is_kept("```text\n\n\n\n```\n");
    is_kept("````md\n```\nx\n```\n````\n");
    is_kept("- a\n\n  ```sh\n  x\n\n\n    y\n  ```\n\n- b\n");
    is_kept("    indented\n\n\n      code\n");
    assert_eq!(formatted("~~~js run\nx\n~~~\n"), "```js run\nx\n```\n");
}

#[test]
fn a_fence_in_a_tight_list_gets_air() {
    assert_eq!(
        formatted("1. a\n   ```sh\n   x\n   ```\n   b\n2. c\n"),
        "1. a\n\n   ```sh\n   x\n   ```\n\n   b\n2. c\n"
    );
    assert_eq!(
        formatted("> - a\n>   ```sh\n>   x\n>   ```\n> - b\n"),
        "> - a\n>\n>   ```sh\n>   x\n>   ```\n>\n> - b\n"
    );
    assert_eq!(formatted("- > ```sh\n  > x\n  > ```\n- b\n"), "- > ```sh\n  > x\n  > ```\n\n- b\n");
}

#[test]
fn comments_stay_on_their_own_lines() {
    is_kept("<!-- @client:claude -->\n\ntext\n\n<!-- @endclient -->\n");
    assert_eq!(
        formatted("a\n<!-- @client:claude,copilot -->\nb\n<!-- @endclient -->\nc\n"),
        "a\n\n<!-- @client:claude,copilot -->\n\nb\n\n<!-- @endclient -->\n\nc\n"
    );
    assert_eq!(
        formatted("- a\n<!-- @client:!opencode -->\n- b\n<!-- @endclient -->\n- c\n"),
        "- a\n\n<!-- @client:!opencode -->\n\n- b\n\n<!-- @endclient -->\n\n- c\n"
    );
    is_kept("- a\n  <!-- @client:claude -->\n  b\n  <!-- @endclient -->\n- c\n");
    assert_eq!(formatted("  <!-- @client:claude -->  \n\na\n"), "<!-- @client:claude -->\n\na\n");
    is_kept("<!--\nseveral\n\n  lines\n-->\n");
    // MD012 counts blank lines in a comment as well.
    assert_eq!(formatted("<!--\na\n\n\n  b\n-->\n"), "<!--\na\n\n  b\n-->\n");
}

#[test]
fn html_is_kept() {
    is_kept("<details>\n<summary>x</summary>\n\n- a\n\n</details>\n");
    is_kept("<pre>\n\ta   b\n\n\n  c\n</pre>\n");
    is_kept("a <kbd>x</kbd> b\n");
}

#[test]
fn breaks_and_lines_are_kept() {
    assert_eq!(formatted("a  \nb\\\nc\nd \ne\n"), "a\\\nb\\\nc\nd\ne\n");
    let long = format!("{}\n", "word ".repeat(1_000).trim());
    is_kept(&long);
}

#[test]
fn headings_have_one_form() {
    assert_eq!(
        formatted("One\n===\nTwo\n---\n  ## Three ##\ntext\n"),
        "# One\n\n## Two\n\n## Three\n\ntext\n"
    );
}

#[test]
fn dashes_at_the_start_are_no_front_matter() {
    assert_eq!(formatted("---\n*  a\n\n\n* b\n---\n"), "---\n\n- a\n\n- b\n\n---\n");
    assert_eq!(formatted("---\nname:  x\n---\ntext\n"), "---\n\n## name: x\n\ntext\n");
    assert_eq!(formatted("+++\na  b\n+++\n"), "+++\na b\n+++\n");
}

#[test]
fn line_ends_and_marks_are_plain() {
    assert_eq!(formatted("\u{feff}# A\r\n\r\nb\rc"), "# A\n\nb\nc\n");
    assert_eq!(formatted("```text\r\na\r\n\r\n\r\nb\r\n```\r\n"), "```text\na\n\n\nb\n```\n");
}

#[test]
fn tables_are_aligned_and_keep_pipes_in_code() {
    assert_eq!(
        formatted("a\n\n|x|long name|\n|-|:-:|\n|`a\\|b`|漢字|\ntext\n"),
        "a\n\n| x      | long name |\n| ------ | :-------: |\n| `a\\|b` |   漢字    |\n| text   |           |\n"
    );
}

#[test]
fn lists_have_one_form() {
    assert_eq!(formatted("*   a\n    + b\n\n*   c\n"), "- a\n  - b\n\n- c\n");
    assert_eq!(formatted("- [ ] a\n- [x]  b\n"), "- [ ] a\n- [x] b\n");
    is_kept("0. a\n1. b\n");
    is_kept("3. a\n4. b\n");
    assert_eq!(formatted("text\n- a\n- b\nlazy\n# H\n"), "text\n\n- a\n- b\n  lazy\n\n# H\n");
}

#[test]
fn inline_marks_have_one_form() {
    assert_eq!(
        formatted("_a_ __b__ snake_case_name in*tra*word ***c***\n"),
        "*a* **b** snake_case_name in*tra*word ***c***\n"
    );
    assert_eq!(formatted("a\tb   c `x\ty`\n"), "a b c `x\ty`\n");
}

#[test]
fn references_are_kept() {
    is_kept(
        "a[^1] and [b][c] and [d]\n\n[^1]: note\n\n[c]: https://example.com \"title\"\n[d]: <a b>\n",
    );
    is_kept("- [x]\n\n[x]: y\n[unused]: z\n");
}

#[test]
fn quotes_are_kept() {
    assert_eq!(
        formatted(">  a\n>\n>   b\nlazy\n>## c\n> text\n"),
        "> a\n>\n> b\n> lazy\n>\n> ## c\n>\n> text\n"
    );
    is_kept("> [!NOTE]\n> text\n");
}

#[test]
fn a_text_that_would_say_something_else_is_left_alone() {
    // The second line is text, not a list; a formatter can only keep that by joining the two.
    let text = "Written in a word processor:\n\t1.\tone\n\t2.\ttwo  \n\n\n\n# Next\nend";
    let left = format_markdown(text);
    assert_eq!(left.refused, Some(FormatRefusal::Meaning { line: 1 }));
    let blanks = left.text.replace(' ', "");
    assert_eq!(blanks, "Writteninawordprocessor:\n1.one\n2.two\n\n#Next\n\nend\n");
    assert_eq!(format_markdown(&left.text), left);
}

#[test]
fn what_is_too_large_is_refused_with_the_reason() {
    let mebibyte = 1 << 20;
    let tables = format!("{}\n{}\n{}", "|a".repeat(2_000), "|-".repeat(2_000), "a\n".repeat(2_000));
    let wide = format!("|a|\n|-|\n|{}|\n{}", "x".repeat(30_000), "|b|\n".repeat(10_000));
    let nested = format!("{}b{}\n", "*a ".repeat(10_000), " c*".repeat(10_000));
    let deep = format!("{}a\n", "> ".repeat(9));
    for (text, message) in [
        ("[".repeat(mebibyte), "line 1 is too long to format"),
        ("> ".repeat(mebibyte / 2), "line 1 is too long to format"),
        ("*".repeat(mebibyte), "line 1 is too long to format"),
        ("a\n".repeat(mebibyte / 2), "the paragraph at line 1025 is too large to format"),
        ("[a](".repeat(4_000), "the paragraph at line 1 is too large to format"),
        (nested, "line 1 is too long to format"),
        (deep, "line 1 is nested too deeply to format"),
        (tables, "the tables are too large to format"),
        (wide, "the tables are too large to format"),
    ] {
        let left = format_markdown(&text);
        assert_eq!(
            left.refused.clone().map(|refusal| refusal.to_string()).as_deref(),
            Some(message)
        );
        assert_eq!(left.text.trim_end_matches('\n'), text.trim_end_matches('\n'), "{message}");
        assert_eq!(format_markdown(&left.text), left);
    }
}

/// Just below the limits, on the small stack that a test runs on.
#[test]
fn hostile_texts_end() {
    let lines = |unit: &str, length: usize| {
        let line = unit.repeat(length / unit.len());
        format!("{line}\n\n").repeat((1 << 16) / (line.len() + 2))
    };
    for text in [
        lines("[", 2_000),
        lines("*", 2_000),
        lines("*_", 2_000),
        lines("[a](", 2_000),
        lines("| ", 30_000),
        lines("![", 2_000),
        lines("`a", 2_000),
        lines("<a ", 2_000),
        lines("> ", 16),
        lines("1. ", 60),
        "*".repeat(30_000),
        "> a\n".repeat(1_000),
        "- a\n".repeat(1 << 14),
        format!("{}b{}\n\n", "*a ".repeat(40), " c*".repeat(40)).repeat(200),
    ] {
        let once = format_markdown(&text);
        let start: String = text.chars().take(20).collect();
        assert_eq!(format_markdown(&once.text).text, once.text, "{start:?}");
    }
}

#[test]
fn any_text_is_formatted_once_and_for_all() {
    const WORDS: [&str; 48] = [
        "a",
        "b c",
        " ",
        "  ",
        "\t",
        "\n",
        "\n\n",
        "\n\n\n",
        "\r\n",
        "\r",
        "# ",
        "## ",
        "===",
        "---",
        "- ",
        "* ",
        "+ ",
        "1. ",
        "0) ",
        "[ ] ",
        "> ",
        "```",
        "~~~",
        "`",
        "|",
        "|-|-|",
        "*",
        "**",
        "_",
        "__",
        "~~",
        "[",
        "]",
        "](",
        ")",
        "]: ",
        "[^1]",
        "[^1]: ",
        "<!-- x -->",
        "<div>",
        "</div>",
        "<b>",
        "\\",
        "&amp;",
        "é",
        "漢",
        "\u{feff}",
        "    ",
    ];
    arbtest::arbtest(|bytes| {
        let mut text = String::new();
        for _ in 0..bytes.int_in_range(0..=60)? {
            text.push_str(bytes.choose(&WORDS)?);
        }
        let once = format_markdown(&text);
        let twice = format_markdown(&once.text);
        assert_eq!(once.text, twice.text, "{text:?}");
        assert!(once.text.is_empty() || once.text.ends_with('\n'));
        assert!(!once.text.contains('\r') && !once.text.starts_with('\u{feff}'));
        Ok(())
    })
    .budget_ms(2_000);
    arbtest::arbtest(|bytes| {
        let text: String = bytes.arbitrary()?;
        let once = format_markdown(&text);
        assert_eq!(format_markdown(&once.text).text, once.text, "{text:?}");
        Ok(())
    });
}
