//! Parts of bodies for some clients (§6).

use brief_dialects::portable::{CLIENTS, ItemKind, directives};

use super::support::{NONE, body_findings, files, findings, findings_of, item, read, the, with};

const PATH: &str = "rules/a/RULE.md";

/// A body as each client gets it.
fn rendered(body: &str) -> [String; 3] {
    CLIENTS.map(|client| directives::render_client_body(body, client, &CLIENTS))
}

/// N63, I12: one name, several, or all but some, between two lines.
#[test]
fn a_block_is_for_the_clients_that_it_names() {
    for (list, readers) in [
        ("claude", [true, false, false]),
        ("copilot", [false, true, false]),
        ("opencode", [false, false, true]),
        ("claude,copilot", [true, true, false]),
        ("claude, copilot", [true, true, false]),
        ("!opencode", [true, true, false]),
        ("!claude,copilot", [false, false, true]),
        ("!claude,!copilot", [false, false, true]),
    ] {
        let body = format!("## T\n\n<!-- @client:{list} -->\nx\n<!-- @endclient -->\n");
        assert_eq!(body_findings(&body), NONE, "{list}");
        let expected = readers.map(|reads| if reads { "## T\n\nx\n" } else { "## T\n" });
        assert_eq!(rendered(&body), expected, "{list}");
    }
}

/// N64: no two blank lines are left, at the start and the end of the body neither.
#[test]
fn a_block_for_others_leaves_no_gap() {
    let block = "<!-- @client:claude -->\n\nx\n\n<!-- @endclient -->\n";
    for (body, left) in [
        (format!("a\n\n{block}\nb\n"), "a\n\nb\n"),
        (format!("a\n{block}b\n"), "a\nb\n"),
        (format!("a\n\n{block}b\n"), "a\n\nb\n"),
        (format!("a\n{block}\nb\n"), "a\n\nb\n"),
        (format!("a\n \t\n{block}\nb\n"), "a\n \t\nb\n"),
        (format!("\n{block}\na\n"), "a\n"),
        (format!("{block}\na\n"), "a\n"),
        (format!("a\n\n{block}"), "a\n"),
        (format!("a\n\n{block}\n{block}\n{block}\nb\n"), "a\n\nb\n"),
        (block.to_owned(), ""),
    ] {
        let [_, copilot, opencode] = rendered(&body);
        assert_eq!(copilot, left, "{body:?}");
        assert_eq!(opencode, left, "{body:?}");
    }
}

/// N64, R24: only blank lines around what was taken out are ours; those in code are not.
#[test]
fn blank_lines_in_code_stay() {
    let code = "```py\na\n\n\nb\n```\n";
    let body = format!("{code}\n<!-- @client:claude -->\n\n{code}\n<!-- @endclient -->\n\n{code}");
    let [claude, copilot, _] = rendered(&body);
    assert_eq!(claude, format!("{code}\n{code}\n{code}"));
    assert_eq!(copilot, format!("{code}\n{code}"));
}

/// N65: for its readers, only the two lines vanish.
#[test]
fn a_block_for_a_client_keeps_its_bytes() {
    let inner = "  two  blanks  \n\n\n\ttab\r\n<!-- a comment -->\n* list\n";
    let body = format!("a\n<!-- @client:claude -->\n{inner}<!-- @endclient -->\nb\n");
    assert_eq!(rendered(&body)[0], format!("a\n{inner}b\n"));
}

/// N65, R24: delimiters with blank lines around them leave one.
#[test]
fn padded_delimiters_leave_one_blank_line() {
    let body = "a\n\n<!-- @client:claude -->\n\nx\n\n<!-- @endclient -->\n\nb\n";
    assert_eq!(rendered(body)[0], "a\n\nx\n\nb\n");
}

/// N66: each with its line.
#[test]
fn blocks_are_balanced() {
    assert_eq!(
        body_findings("a\n\n<!-- @client:claude -->\nx\n"),
        [format!("{PATH}:10 directive-unbalanced")]
    );
    assert_eq!(
        body_findings("a\n\n<!-- @endclient -->\n"),
        [format!("{PATH}:10 directive-unbalanced")]
    );
    assert_eq!(
        body_findings("<!-- @client:claude -->\nx\n<!-- @endclient -->\n<!-- @endclient -->\n"),
        [format!("{PATH}:11 directive-unbalanced")]
    );
}

/// N67: known names only, also where the block would be taken out.
#[test]
fn blocks_name_known_clients() {
    let body = "<!-- @client:cursor -->\nx\n<!-- @endclient -->\n";
    let registry = read(&files(&[(PATH, &with("a", "", body))]));
    assert_eq!(findings(&registry), [format!("{PATH}:8 unknown-client")]);
    let help = the(&registry, "unknown-client").help.as_ref().unwrap();
    assert!(help.contains("claude, copilot, opencode"), "{help}");
    assert_eq!(
        body_findings("<!-- @client:!cursr,claude -->\nx\n<!-- @endclient -->\n"),
        [format!("{PATH}:8 unknown-client")]
    );
}

/// N68: both lines are named.
#[test]
fn blocks_do_not_nest() {
    let body = "<!-- @client:claude -->\nx\n<!-- @client:!copilot -->\ny\n<!-- @endclient -->\n<!-- @endclient -->\n";
    let registry = read(&files(&[(PATH, &with("a", "", body))]));
    assert_eq!(
        findings(&registry),
        [format!("{PATH}:10 directive-nested"), format!("{PATH}:13 directive-unbalanced")]
    );
    assert!(the(&registry, "directive-nested").message.contains("line 8"));
}

/// N69: directives are lines of the raw text: what stands around them does not matter.
#[test]
fn directives_are_lines_of_the_raw_text() {
    let body = "- a\n  <!-- @client:claude -->\n  - b\n  <!-- @endclient -->\n- c\n";
    assert_eq!(rendered(body), ["- a\n  - b\n- c\n", "- a\n- c\n", "- a\n- c\n"]);
    let body = "| a |\n| - |\n<!-- @client:claude -->\n| b |\n<!-- @endclient -->\n| c |\n";
    assert_eq!(rendered(body)[0], "| a |\n| - |\n| b |\n| c |\n");
    let body = "a\r\n\r\n<!-- @client:claude -->\r\nb\r\n<!-- @endclient -->\r\n\r\nc\r\n";
    assert_eq!(rendered(body)[1], "a\r\n\r\nc\r\n");
}

/// R25: code shows directives.
#[test]
fn a_directive_in_code_is_text() {
    for body in [
        "## T\n\n```md\n<!-- @client:claude -->\nx\n<!-- @endclient -->\n```\n",
        "## T\n\n~~~md\n<!-- @client:nobody -->\n~~~\n",
        "## T\n\n    <!-- @client:claude -->\n",
        "## T\n\n- a\n\n  ```md\n  <!-- @endclient -->\n  ```\n",
        "## T\n\nWrite `<!-- @client:claude -->` on a line of its own.\n",
    ] {
        assert_eq!(body_findings(body), NONE, "{body:?}");
        assert_eq!(rendered(body), [body, body, body], "{body:?}");
    }
}

/// R26: lists that say nothing clear.
#[test]
fn a_list_is_clear() {
    for list in [
        "",
        "!",
        "claude,",
        ",claude",
        "claude,claude",
        "claude,!copilot",
        "!claude,copilot,!opencode",
    ] {
        let body = format!("<!-- @client:{list} -->\nx\n<!-- @endclient -->\n");
        assert_eq!(body_findings(&body), [format!("{PATH}:8 directive-malformed")], "{list:?}");
    }
}

/// R27: what is almost a directive would reach every client.
#[test]
fn what_is_almost_a_directive_is_an_error() {
    for line in [
        "<!-- @Client:claude -->",
        "<!-- @CLIENT:claude -->",
        "<!-- @client claude -->",
        "<!-- @end-client -->",
        "<!-- @endClient -->",
        "<!-- @end_client -->",
        "<!-- @client:claude -->           Include only in Claude Code output",
        "For some: <!-- @client:claude -->",
        "<!-- note --> <!-- @client:claude -->",
        "<!-- @client:claude",
        "<!-- client:claude -->",
    ] {
        let body = format!("## T\n\n{line}\n");
        assert_eq!(body_findings(&body), [format!("{PATH}:10 directive-malformed")], "{line}");
    }
    assert_eq!(
        body_findings("## T\n\n<!--\n@client:claude\n-->\n"),
        [format!("{PATH}:11 directive-malformed")]
    );
    for line in ["<!-- Clients are listed below -->", "<!-- @clientele -->x"] {
        let body = format!("## T\n\n{line}\n");
        assert!(body_findings(&body).len() <= 1, "{line}");
    }
    assert_eq!(body_findings("## T\n\n<!-- Clients are listed below -->\n"), NONE);
}

/// §6.3: the body of an item goes through all of this.
#[test]
fn an_item_gives_each_client_its_body() {
    let body = "## T\n\n<!-- @client:claude -->\n\nc\n\n<!-- @endclient -->\n\nAll.\n";
    let registry = read(&files(&[(PATH, &with("a", "", body))]));
    let rule = item(&registry, ItemKind::Rule, "a");
    assert_eq!(rule.body_for("claude", &CLIENTS), "## T\n\nc\n\nAll.\n");
    assert_eq!(rule.body_for("copilot", &CLIENTS), "## T\n\nAll.\n");
}

/// U41, ruling P3: headings are those of each client's body after its blocks are chosen.
#[test]
fn levels_of_headings_count_in_each_clients_body() {
    let block = |client: &str, text: &str| {
        format!("<!-- @client:{client} -->\n\n{text}\n\n<!-- @endclient -->\n\n")
    };
    // Claude gets 2, 3, 4; the others 2, 4.
    let body = format!("## A\n\n{}#### C\n", block("claude", "### B"));
    let registry = read(&files(&[("rules/a/RULE.md", &with("a", "", &body))]));
    let found = the(&registry, "heading-skip");
    assert_eq!(found.message, "level 4 follows level 2 in what copilot, opencode gets");
    // No client gets a body that skips a level, though the file does.
    let body =
        format!("## A\n\n{}### B\n\n{}", block("claude", "### X"), block("copilot", "#### Y"));
    assert_eq!(findings_of(&[("rules/a/RULE.md", &with("a", "", &body))]), NONE);
    let first = format!("{}{}## C\n", block("claude", "## A\n\n### B"), block("copilot", "## B"));
    assert_eq!(findings_of(&[("rules/a/RULE.md", &with("a", "", &first))]), NONE);
    // Who does not read the file does not count.
    let body = format!("## A\n\n{}#### C\n", block("claude", "### B"));
    let only = with("a", "audience: [claude]\n", &body);
    assert_eq!(findings_of(&[("rules/a/RULE.md", &only)]), NONE);
}
