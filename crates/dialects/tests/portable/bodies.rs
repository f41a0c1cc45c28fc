//! Bodies (§4, §5).

use brief_dialects::portable::ItemKind;

use super::support::{NONE, body_findings, files, findings, findings_of, good, read, the, with};

const PATH: &str = "rules/a/RULE.md";

/// §5.5: each construct, and the client that understands it.
const CONSTRUCTS: [(&str, &str); 10] = [
    ("$ARGUMENTS", "claude"),
    ("$0", "claude"),
    ("$1", "claude"),
    ("${workspaceFolder}", "copilot"),
    ("${file}", "copilot"),
    ("!`git status`", "claude"),
    ("@docs/notes.md", "claude"),
    ("#tool:read", "copilot"),
    ("#file:src/main.rs", "copilot"),
    ("ultrathink", "claude"),
];

fn block(list: &str, inner: &str) -> String {
    format!("## T\n\n<!-- @client:{list} -->\n\nSee {inner} now.\n\n<!-- @endclient -->\n")
}

/// N53: outside code and comments, however it is written.
#[test]
fn a_heading_of_the_first_level_is_an_error() {
    for body in
        ["# One\n", "   # One\n", "One\n===\n", "- # One\n", "> # One\n", "## T\n\n# One #\n"]
    {
        let found = body_findings(body);
        assert!(
            found.iter().any(|found| found.ends_with(" first-level-heading")),
            "{body:?} {found:?}"
        );
    }
    for body in [
        "## T\n\n```sh\n# comment\n```\n",
        "## T\n\n~~~sh\n# comment\n~~~\n",
        "## T\n\n    # indented\n",
        "## T\n\n<!--\n# hidden\n-->\n",
        "## T\n\n- a\n\n  ```sh\n  # in a list\n  ```\n",
        "## T\n\n#no heading, \\# neither\n",
        "No headings at all.\n",
        "",
    ] {
        assert_eq!(body_findings(body), NONE, "{body:?}");
    }
}

/// N55.
#[test]
fn the_first_heading_is_of_the_second_level() {
    for (body, line) in [("### T\n", 8), ("Text.\n\n###### T\n", 10)] {
        assert_eq!(body_findings(body), [format!("{PATH}:{line} first-heading")]);
    }
    assert_eq!(body_findings("Text.\n\nT\n---\n"), NONE);
}

/// N56.
#[test]
fn no_heading_skips_a_level() {
    assert_eq!(body_findings("## A\n\n#### B\n"), [format!("{PATH}:10 heading-skip")]);
    assert_eq!(body_findings("## A\n\n### B\n\n##### C\n"), [format!("{PATH}:12 heading-skip")]);
    assert_eq!(body_findings("## A\n\n### B\n\n#### C\n\n## D\n\n### E\n"), NONE);
}

/// N57: both fences, in lists too.
#[test]
fn every_fence_names_its_language() {
    for (body, line) in [
        ("## T\n\n```\nx\n```\n", 10),
        ("## T\n\n~~~\nx\n~~~\n", 10),
        ("## T\n\n````  \nx\n````\n", 10),
        ("## T\n\n- a\n\n  ```\n  x\n  ```\n", 12),
        ("## T\n\n> ```\n> x\n> ```\n", 10),
    ] {
        let registry = read(&files(&[(PATH, &with("a", "", body))]));
        assert_eq!(findings(&registry), [format!("{PATH}:{line} fence-language")], "{body:?}");
        assert!(the(&registry, "fence-language").fix.is_some());
    }
    for body in ["```text\nx\n```\n", "~~~js run\n```\n~~~\n", "    indented\n"] {
        assert_eq!(body_findings(body), NONE, "{body:?}");
    }
}

/// N58: tools by what is to be done. N49: the portable form of an MCP tool is fine.
#[test]
fn tools_of_one_client_are_warned_of() {
    for body in ["Use the `Read` tool to open it.\n", "Use the Bash tool.\n"] {
        assert_eq!(body_findings(body), [format!("{PATH}:8 client-tool-name")], "{body}");
    }
    assert_eq!(
        body_findings("Use `#tool:read` here: #tool:read\n"),
        [format!("{PATH}:8 client-construct"), format!("{PATH}:8 client-tool-name")]
    );
    for body in [
        "Search the codebase for occurrences of the deprecated function.\n",
        "Use `GitHub:create_issue` to file a tracking issue.\n",
        "Read the file, then edit it.\n",
    ] {
        assert_eq!(body_findings(body), NONE, "{body}");
    }
}

/// N50.
#[test]
fn an_internal_name_of_an_mcp_tool_is_warned_of() {
    let body = "Call mcp__github__create_issue then.\n";
    assert_eq!(body_findings(body), [format!("{PATH}:8 mcp-internal-name")]);
    assert_eq!(body_findings(&block("claude", "mcp__github__create_issue")), NONE);
}

/// N60, N61, R22: in what every client reads, each construct is an error.
#[test]
fn constructs_of_one_client_reach_no_other() {
    for (construct, client) in CONSTRUCTS {
        let body = format!("## T\n\nSee {construct} now.\n");
        let registry = read(&files(&[(PATH, &with("a", "", &body))]));
        assert_eq!(findings(&registry), [format!("{PATH}:10 client-construct")], "{construct}");
        let found = the(&registry, "client-construct");
        assert_eq!(found.source.slice(found.span), construct);
        assert!(found.message.contains(client), "{}", found.message);
        assert!(found.help.as_ref().unwrap().contains(&format!("@client:{client}")));
    }
}

/// N61, R22: in a block for the client that understands it, a construct is fine; in another, not.
#[test]
fn constructs_are_fine_in_a_block_for_their_client() {
    for (construct, client) in CONSTRUCTS {
        let other = if client == "claude" { "copilot" } else { "claude" };
        assert_eq!(body_findings(&block(client, construct)), NONE, "{construct}");
        assert_eq!(
            body_findings(&block(&format!("!{other},opencode"), construct)),
            NONE,
            "{construct}"
        );
        for list in [
            other.to_owned(),
            "claude,copilot".to_owned(),
            format!("!{client}"),
            "!opencode".to_owned(),
        ] {
            let found = body_findings(&block(&list, construct));
            assert_eq!(found, [format!("{PATH}:12 client-construct")], "{construct} in {list}");
        }
    }
}

/// N61: in a file for the client that understands it, a construct is fine; in another, not.
#[test]
fn constructs_are_fine_in_a_file_for_their_client() {
    for (construct, client) in CONSTRUCTS {
        for suffix in ["claude", "copilot", "opencode"] {
            let path = format!("rules/a/RULE.{suffix}.md");
            let text = format!("## T\n\nSee {construct} now.\n");
            let found = findings_of(&[(PATH, &good("a")), (&path, &text)]);
            if suffix == client {
                assert_eq!(found, NONE, "{construct} in {suffix}");
            } else {
                assert_eq!(
                    found,
                    [format!("{path}:3 client-construct")],
                    "{construct} in {suffix}"
                );
            }
        }
    }
}

/// N62: an item for one client may hold that client's constructs, and no other's.
#[test]
fn constructs_are_fine_in_an_item_for_their_client() {
    for (construct, client) in CONSTRUCTS {
        let body = format!("## T\n\nSee {construct} now.\n");
        let other = if client == "claude" { "copilot" } else { "claude" };
        let found = |audience: &str| {
            findings_of(&[(PATH, &with("a", &format!("audience: [{audience}]\n"), &body))])
        };
        assert_eq!(found(client), NONE, "{construct}");
        assert_eq!(found(other), [format!("{PATH}:11 client-construct")], "{construct}");
        assert_eq!(
            found("claude, copilot"),
            [format!("{PATH}:11 client-construct")],
            "{construct}"
        );
    }
}

/// N61: who has a file of its own never reads the canonical body.
#[test]
fn clients_with_a_file_of_their_own_do_not_count() {
    let body = "## T\n\nUse $ARGUMENTS.\n";
    let own = "## T\n";
    let system = files(&[
        (PATH, &with("a", "", body)),
        ("rules/a/RULE.copilot.md", own),
        ("rules/a/RULE.opencode.md", own),
    ]);
    assert_eq!(findings(&read(&system)), NONE);
}

/// N51: no check; natural language is never a finding.
#[test]
fn prose_is_never_a_finding() {
    for body in [
        "Ask the user; run the tests with the shell; it costs $100, or $1.50.\n",
        "Mail a@b.example or ping @alice.\n",
        "Wow! `code` and C# and issue #12.\n",
    ] {
        assert_eq!(body_findings(body), NONE, "{body}");
    }
}

/// Appendix A.1 to A.3.
#[test]
fn the_documents_examples_are_well() {
    let rule = "## Licensing rules\n\n- Never paste code from external sources without verifying the license.\n\
                - See [approved licenses](./allowed-licenses.txt) for the canonical SPDX list.\n";
    let scoped = "scope:\n  paths:\n    - \"src/api/**/*.ts\"\n    - \"src/handlers/**/*.ts\"\ncopilot:\n  \
                  excludeAgent: code-review\nmetadata:\n  version: \"2.1.0\"\n  author: platform-api\n";
    let skill = "## Create a new API endpoint\n\n1. Create the handler file at `src/api/handlers/{resource}.ts`.\n\n\
                 <!-- @client:claude -->\nWhen creating files, use the Write tool for new files rather than Edit.\n\
                 <!-- @endclient -->\n\n## Validation pattern\n\n\
                 See [validation patterns](./references/validation-patterns.md) for examples.\n";
    let registry = read(&files(&[
        ("rules/license-awareness/RULE.md", &with("license-awareness", "", rule)),
        ("rules/license-awareness/allowed-licenses.txt", "MIT\n"),
        ("rules/api-conventions/RULE.md", &with("api-conventions", scoped, "## API\n")),
        ("skills/create-api-endpoint/SKILL.md", &with("create-api-endpoint", "", skill)),
        ("skills/create-api-endpoint/references/validation-patterns.md", "# Any\n"),
    ]));
    assert_eq!(findings(&registry), NONE);
    let kinds: Vec<ItemKind> =
        registry.items.iter().map(brief_dialects::portable::PortableItem::kind).collect();
    assert_eq!(kinds, [ItemKind::Rule, ItemKind::Rule, ItemKind::Skill]);
}
