//! Bodies: §2.3, §5 and §6 of the document.

use crate::{RULE, Shop, document, rule};

/// N54, P1, R06: the heading is the name, as it is.
#[test]
fn a_body_begins_with_the_name() {
    assert_eq!(rule("", "## A\n\nText.\n").body(RULE), "\n# x\n\n## A\n\nText.\n");
    assert_eq!(rule("", "").body(RULE), "\n# x\n");
}

/// R06: and without it when that is asked for.
#[test]
fn the_heading_can_be_turned_off() {
    let never = "[build]\nh1 = \"never\"\n";
    let shop = Shop::configured(never, &[("rules/x/RULE.md", &document("", "\n\n## A\n"))]);
    assert_eq!(shop.body(RULE), "\n## A\n");
    let shop = Shop::configured(never, &[("rules/x/RULE.md", &document("", ""))]);
    assert_eq!(shop.body(RULE), "");
}

/// N11, I03, I04, R23: an override is the body; its directives are text, its heading is ours.
#[test]
fn a_body_for_one_client_replaces_the_canonical_one() {
    let own =
        "## Own\n\n```text\n<!-- @client:copilot -->\n```\n\n<!-- @client:claude -->\n\nKept.\n";
    for (kind, entrypoint, paths) in [
        (
            "rules",
            "RULE",
            [RULE, ".github/instructions/x.instructions.md", ".agents/rules/x/RULE.md"],
        ),
        (
            "skills",
            "SKILL",
            [".claude/skills/x/SKILL.md", ".github/skills/x/SKILL.md", ".agents/skills/x/SKILL.md"],
        ),
        (
            "agents",
            "AGENT",
            [".claude/agents/x.md", ".github/agents/x.agent.md", ".opencode/agents/x.md"],
        ),
    ] {
        for (client, path) in ["claude", "copilot", "opencode"].into_iter().zip(paths) {
            let shop = Shop::new(&[
                (&format!("{kind}/x/{entrypoint}.md"), &document("", "## Canonical\n")),
                (&format!("{kind}/x/{entrypoint}.{client}.md"), own),
            ]);
            assert_eq!(shop.body(path), format!("\n# x\n\n{own}"));
            for other in paths.iter().filter(|other| **other != path) {
                assert_eq!(shop.body(other), "\n# x\n\n## Canonical\n");
            }
        }
    }
}

/// N64, N65, R24: gaps close, and code keeps its blank lines.
#[test]
fn directives_leave_no_gaps() {
    let body = "## A\n\n```text\na\n\n\nb\n```\n\n<!-- @client:claude -->\n\nOwn.\n\n<!-- @endclient -->\n\nB\n";
    let shop = rule("", body);
    assert_eq!(shop.body(RULE), "\n# x\n\n## A\n\n```text\na\n\n\nb\n```\n\nOwn.\n\nB\n");
    let copilot = shop.body(".github/instructions/x.instructions.md");
    assert_eq!(copilot, "\n# x\n\n## A\n\n```text\na\n\n\nb\n```\n\nB\n");
}

/// Windows line ends do not mix with ours.
#[test]
fn line_ends_are_one_kind() {
    let source = document("", "## A\n\nText.\n").replace('\n', "\r\n");
    let shop = Shop::new(&[("rules/x/RULE.md", &source)]);
    assert_eq!(shop.body(RULE), "\n# x\n\n## A\n\nText.\n");
    assert!(!shop.text(RULE).contains('\r'));
}

/// The limit of a client is told, and the file is written all the same.
#[test]
fn a_body_over_a_clients_limit_is_told() {
    let body = format!("## A\n\n{}", "Some words.\n\n".repeat(3000));
    let shop = Shop::new(&[("agents/x/AGENT.md", &document("", &body))]);
    let losses = shop.losses();
    assert_eq!(losses.len(), 1, "{losses:?}");
    assert_eq!(losses[0].0, "item/body-too-long");
    assert!(losses[0].1.contains("GitHub Copilot allows 30000"), "{}", losses[0].1);
}
