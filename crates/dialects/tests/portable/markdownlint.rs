//! The configuration of markdownlint that outputs pass.

use std::collections::BTreeSet;
use std::fs;

use super::support::workspace;

/// U42: the configuration that outputs pass is one file, the page lists what it turns off, and no rule about
/// layout is among that but the one that two lists in a row can break.
#[test]
fn the_pinned_markdownlint_configuration_is_what_the_page_says() {
    let text = fs::read_to_string(workspace().join("docs/reference/markdownlint.json")).unwrap();
    let pinned: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(pinned.get("default"), Some(&true.into()));
    let off: BTreeSet<&str> =
        pinned.iter().filter(|(_, on)| **on == false).map(|(rule, _)| rule.as_str()).collect();
    let page = fs::read_to_string(workspace().join("docs/reference/portable.md")).unwrap();
    let start = page.find("Generated files pass markdownlint").unwrap();
    let end = start + page[start..].find("\n\n").unwrap();
    let is_rule = |word: &&str| word.starts_with("MD") && word.len() == 5;
    let listed = page[start..end].split(|c: char| !c.is_ascii_alphanumeric()).filter(is_rule);
    assert_eq!(listed.collect::<BTreeSet<_>>(), off);
    for layout in ["MD009", "MD010", "MD012", "MD022", "MD031", "MD032", "MD040", "MD041", "MD047"]
    {
        assert!(!off.contains(layout), "{layout}");
    }
}
