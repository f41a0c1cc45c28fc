//! The places of outputs, their companions, and links between the two: §2.4 and §7 of the document.

use std::collections::BTreeSet;

use brief_clients::compile::OutputContent;
use brief_dialects::portable::links::{LinkTarget, file_links};

use crate::{RULE, Shop, agent, document, rule, skill};

/// I13, I14, I15.
#[test]
fn each_kind_has_its_place_for_each_client() {
    assert_eq!(
        rule("", "## A\n").paths(),
        [RULE, ".github/instructions/x.instructions.md", ".agents/rules/x/RULE.md"]
    );
    assert_eq!(
        skill("", "## A\n").paths(),
        [".claude/skills/x/SKILL.md", ".github/skills/x/SKILL.md", ".agents/skills/x/SKILL.md"]
    );
    assert_eq!(
        agent("").paths(),
        [".claude/agents/x.md", ".github/agents/x.agent.md", ".opencode/agents/x.md"]
    );
}

fn with_files(kind: &str, entrypoint: &str, body: &str) -> Shop {
    let at = |path: &str| format!("{kind}/x/{path}");
    Shop::new(&[
        (&at(&format!("{entrypoint}.md")), &document("", body)),
        (&at(&format!("{entrypoint}.claude.md")), body),
        (&at("a.txt"), "a"),
        (&at("img/b c.png"), "\u{0}"),
        (&at("img/(d).png"), ""),
        (&at("deep/er/e.md"), "# E\n"),
    ])
}

/// N14, N15, R28: files beside a skill stay beside it; those of rules and agents are in one store, where
/// no client takes them for rules or agents.
#[test]
fn supporting_files_go_with_the_item() {
    let names = ["a.txt", "deep/er/e.md", "img/(d).png", "img/b c.png"];
    for (kind, entrypoint, directories) in [
        ("rules", "RULE", &[".agents/rules/x"][..]),
        ("skills", "SKILL", &[".claude/skills/x", ".github/skills/x", ".agents/skills/x"]),
        ("agents", "AGENT", &[".agents/agents/x"]),
    ] {
        let compiled = with_files(kind, entrypoint, "## A\n").compile();
        let copies: BTreeSet<(String, String)> = compiled
            .files
            .into_iter()
            .filter_map(|file| match file.content {
                OutputContent::Copy(from) => Some((file.path, from)),
                OutputContent::Text(_) => None,
            })
            .collect();
        let expected: BTreeSet<(String, String)> = directories
            .iter()
            .flat_map(|directory| {
                names.map(|name| (format!("{directory}/{name}"), name.to_owned()))
            })
            .collect();
        assert_eq!(copies, expected);
    }
}

const LINKS: &str = "## A\n\n[a](./a.txt) ![b](img/b%20c.png \"title\") [c](<img/b c.png>) [d](img/%28d%29.png)\n\
                     [e](deep/er/e.md#part) [dir](deep/) [here](.) [ref] [x](deep/../a.txt?q=1)\n\
                     [web](https://example.com/a.txt) [top](#a) `[code](a.txt)` [gone](gone.txt)\n\n\
                     ```text\n[code](a.txt)\n```\n\n[ref]: a.txt \"A\"\n";

/// N59, R28: every relative link that led somewhere leads there from the output.
#[test]
fn every_link_of_an_output_leads_to_a_file() {
    for (kind, entrypoint) in [("rules", "RULE"), ("skills", "SKILL"), ("agents", "AGENT")] {
        let body = format!("{LINKS}\n[self]({entrypoint}.md#a)\n");
        let shop = with_files(kind, entrypoint, &body);
        let compiled = shop.compile();
        let paths: Vec<&str> = compiled.files.iter().map(|file| file.path.as_str()).collect();
        let mut checked = 0;
        for file in &compiled.files {
            let OutputContent::Text(text) = &file.content else { continue };
            for link in file_links(text) {
                let written = &text[link.span.range()];
                let path = written.split(['#', '?']).next().unwrap();
                let target = resolve(&file.path, &decoded(path));
                let is_there = paths
                    .iter()
                    .any(|path| *path == target || path.starts_with(&format!("{target}/")));
                let led_nowhere = written == "gone.txt";
                assert_eq!(is_there, !led_nowhere, "{}: {written} is {target}", file.path);
                checked += 1;
            }
        }
        assert_eq!(checked, 3 * 11, "{kind}");
    }
}

/// A text that is not a relative link, or leads nowhere, keeps its letters.
#[test]
fn other_links_stay_as_they_are() {
    let body = with_files("rules", "RULE", LINKS).body(RULE);
    for kept in [
        "(https://example.com/a.txt)",
        "(#a)",
        "`[code](a.txt)`",
        "(gone.txt)",
        "```text\n[code](a.txt)\n```",
    ] {
        assert!(body.contains(kept), "{kept} in {body}");
    }
    let store = "../../.agents/rules/x";
    for changed in [
        format!("[a]({store}/a.txt)"),
        format!("![b]({store}/img/b%20c.png \"title\")"),
        format!("[d]({store}/img/%28d%29.png)"),
        format!("[e]({store}/deep/er/e.md#part)"),
        format!("[x]({store}/a.txt?q=1)"),
        format!("[ref]: {store}/a.txt \"A\""),
    ] {
        assert!(body.contains(&changed), "{changed} in {body}");
    }
}

/// A link to the entrypoint itself leads to the output.
#[test]
fn a_link_to_the_entrypoint_leads_to_the_output() {
    let shop = rule("", "## A\n\n[up](RULE.md#a)\n");
    assert!(shop.body(RULE).contains("[up](x.md#a)"));
    assert!(shop.body(".agents/rules/x/RULE.md").contains("[up](RULE.md#a)"));
}

fn resolve(file: &str, link: &str) -> String {
    let mut names: Vec<&str> = file.split('/').collect();
    names.pop();
    for name in link.split('/') {
        match name {
            "" | "." => {}
            ".." => assert!(names.pop().is_some(), "{link} leads out of the output directory"),
            name => names.push(name),
        }
    }
    names.join("/")
}

fn decoded(path: &str) -> String {
    path.replace("%20", " ").replace("%28", "(").replace("%29", ")")
}

/// The span of a link that `file_links` finds is what is replaced, also next to other text.
#[test]
fn targets_are_read_as_lint_reads_them() {
    let inside: Vec<LinkTarget> =
        file_links("[a](x/../b.md)").into_iter().map(|l| l.target).collect();
    assert_eq!(inside, [LinkTarget::Inside("b.md".to_owned())]);
}
