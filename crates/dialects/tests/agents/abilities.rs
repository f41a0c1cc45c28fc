//! Abilities: section 7 of the checklist and ruling A1.

use brief_dialects::agents::{Ability, Effective};

use super::support::{agent, errors, headed, help, warnings, with_header};

fn parsed(names: &str) -> Vec<Ability> {
    names.split_whitespace().map(|name| name.parse().unwrap()).collect()
}

/// Returns the part of `wanted` that an agent with this header has under a grant.
fn has(header: &str, grant: &str, wanted: &str) -> String {
    let agent = if header.is_empty() { agent("# T\n") } else { with_header(header) };
    let grant = parsed(grant);
    let effective = Effective::new(&grant, &agent.abilities);
    let wanted = parsed(wanted);
    let there: Vec<String> = wanted
        .iter()
        .filter(|ability| effective.has_ability(ability))
        .map(ToString::to_string)
        .collect();
    there.join(" ")
}

const ALL: &str = "fs network sh tool mcp browser env";

/// A70, A71, A72: seven names and `sh:<command>`, in any case, each once.
#[test]
fn abilities_are_validated() {
    let shown = |header: &str| {
        let allow = with_header(header).abilities.allow.unwrap();
        allow.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown("abilities: [FS, sh:git, Tool, fs, SH:Git]"), "fs sh:git tool sh:Git");
    assert_eq!(shown(&format!("allow: [{}]", ALL.replace(' ', ","))), ALL);
    assert_eq!(shown("allow: fs, sh:git"), "fs sh:git");
    for header in ["allow: [filesystem]", "abilities: ['fs:read']", "deny: [x]", "allow: [1]"] {
        assert_eq!(errors(&headed(header)), ["2 ability"], "{header}");
    }
    assert_eq!(help(&headed("allow: [netwrok]")), "did you mean `network`?");
    assert_eq!(help(&headed("allow: ['fs:read']")), "write `fs`");
}

/// Y47: a program is a bare name, and a mapping is a slip of the space.
#[test]
fn a_program_is_a_bare_name() {
    for name in
        ["'sh:'", "'sh:git commit'", "'sh:/bin/sh'", "'sh:..'", "'sh: git'", "'sh:é'", "'sh:a:b'"]
    {
        assert_eq!(errors(&headed(&format!("allow: [{name}]"))), ["2 ability"], "{name}");
    }
    for name in ["sh:g++", "sh:python3.12", "sh:apt-get", "sh:a_b"] {
        assert_eq!(errors(&headed(&format!("allow: ['{name}']"))), [""; 0], "{name}");
    }
    assert_eq!(help(&headed("allow:\n  - sh: git")), "write `sh:git` without a space");
}

/// Y42: both spellings are read, and never one of them alone.
#[test]
fn both_spellings_count_but_not_together() {
    for header in ["abilities: {allow: [fs], deny: [sh]}", "allow: [fs]\ndeny: [sh]"] {
        let abilities = with_header(header).abilities;
        assert_eq!((abilities.allow.unwrap(), abilities.deny), (parsed("fs"), parsed("sh")));
    }
    for header in ["abilities: [fs]\ndeny: [sh]", "abilities: {deny: [sh]}\nallow: [fs]"] {
        assert_eq!(errors(&headed(header)), ["2 abilities-twice"], "{header}");
    }
    assert_eq!(errors(&headed("abilities: {allow: [fs], dney: [sh]}")), ["2 unknown-key"]);
}

/// Y43: a file that says nothing has `tool` and nothing else, whatever is granted.
#[test]
fn without_a_word_only_tools_are_there() {
    assert_eq!(has("", ALL, "tool fs network sh:ls env"), "tool");
    assert_eq!(has("", "", ALL), "tool");
}

/// Y44, ruling A1: the file asks, the operator grants, and both must agree.
#[test]
fn what_is_there_is_asked_for_and_granted() {
    let header = "allow: [fs, network, sh:git, tool]";
    assert_eq!(has(header, ALL, "fs network sh sh:git sh:ls env tool"), "fs network sh:git tool");
    assert_eq!(has(header, "fs env", "fs network sh:git env tool"), "fs tool");
    assert_eq!(has(header, "", "fs network sh:git env tool"), "tool");
    assert_eq!(has("allow: [sh, tool]", "sh:git", "sh sh:git sh:ls"), "sh:git");
    assert_eq!(has("allow: [fs]", "fs tool", "fs tool"), "fs");
}

/// Y45: nothing is allowed, and a star is no ability.
#[test]
fn an_empty_list_allows_nothing() {
    for header in ["allow: []", "allow: ''", "allow: false", "abilities: []"] {
        assert_eq!(has(header, ALL, ALL), "", "{header}");
    }
    assert_eq!(errors(&headed("allow: '*'")), ["2 ability"]);
    assert_eq!(errors(&headed("allow: true")), ["2 ability"]);
    assert_eq!(has("deny: []", ALL, ALL), "tool");
}

/// A73, A74, Y46: equal names contradict; otherwise the denial wins.
#[test]
fn a_denial_wins() {
    for header in ["allow: [fs]\ndeny: [FS]", "allow: ['sh:git']\ndeny: ['sh:GIT']"] {
        assert_eq!(errors(&headed(header)), ["2 ability-overlap"], "{header}");
    }
    assert_eq!(has("allow: [sh]\ndeny: ['sh:rm']", "sh", "sh sh:ls sh:rm"), "sh sh:ls");
    assert_eq!(has("allow: ['sh:git']\ndeny: [sh]", "sh", "sh sh:git"), "");
    assert_eq!(warnings(&headed("allow: ['sh:git']\ndeny: [sh]")), ["2 unused-ability"]);
    assert_eq!(has("deny: [tool]", ALL, ALL), "");
}

/// Y48: each in the safe direction.
#[test]
fn the_case_of_a_program_counts_where_it_is_safe() {
    assert_eq!(has("allow: ['sh:Git']", "sh", "sh:git sh:Git"), "sh:Git");
    assert_eq!(has("allow: [sh]\ndeny: ['sh:RM']", "sh", "sh:rm sh:Rm sh:ls"), "sh:ls");
}

/// The abilities can be listed.
#[test]
fn what_is_there_is_a_list() {
    let listed = |header: &str, grant: &str| {
        let agent = with_header(header);
        let grant = parsed(grant);
        let list = Effective::new(&grant, &agent.abilities).list_abilities();
        list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(listed("allow: [env, tool, fs, sh]", ALL), "fs sh tool env");
    assert_eq!(listed("allow: [sh, tool]", "sh:b sh:a fs"), "tool sh:a sh:b");
    assert_eq!(listed("allow: ['sh:a', 'sh:b']", "sh"), "sh:a sh:b");
}

/// Tools that no model is listed are probably meant to be.
#[test]
fn tools_without_the_ability_are_warned_of() {
    let text = |header: &str| format!("---\n{header}\n---\n# T\n\n## Tools\nreturn {{}};\n");
    assert_eq!(warnings(&text("allow: [fs]")), ["2 tools-not-allowed"]);
    assert_eq!(warnings(&text("deny: [tool]")), ["2 tools-not-allowed"]);
    assert_eq!(warnings(&text("allow: [fs, tool]")), [""; 0]);
    assert_eq!(warnings(&text("version: 1")), [""; 0]);
}
