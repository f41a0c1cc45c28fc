//! `docs/reference/privacy.md`: what the page says about the network and about stored data, compared with the sources and tried.

use std::fs;

use crate::architecture::all_sources;
use crate::security::without_network;
use crate::{project_on_disk, workspace};

const PAGE: &str = include_str!("../../../../docs/reference/privacy.md");

/// The crates that may open a connection: agents and their models, MCP servers, container registries.
const CONNECTING: [&str; 3] = ["agent", "mcp-client", "registry"];

/// One crate knows the way to servers, three use it, and no other has a client of HTTP.
#[test]
fn three_crates_connect_to_servers() {
    let mut found = Vec::new();
    for entry in fs::read_dir(workspace().join("crates")).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).unwrap_or_default();
        let normal = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        let names = |crate_name: &str| {
            normal.lines().any(|line| line.starts_with(&format!("{crate_name}.workspace")))
                || normal.lines().any(|line| line.starts_with(&format!("{crate_name} =")))
        };
        for client in ["brief-outgoing", "ureq", "reqwest", "curl", "isahc", "attohttpc", "minreq"]
        {
            if names(client) && name != "outgoing" {
                found.push(name.clone());
            }
        }
    }
    found.sort();
    found.dedup();
    assert_eq!(found, CONNECTING);
}

/// git is told to fetch and to push in the registry alone, which `add` and its like use.
#[test]
fn one_crate_has_git_fetch_and_push() {
    for path in all_sources() {
        let name = path.strip_prefix(workspace()).unwrap().to_string_lossy().into_owned();
        let is_program = name.starts_with("crates/") && name.contains("/src/");
        if !is_program || name.contains("test") || name.starts_with("crates/registry/") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for word in ["\"fetch\"", "\"clone\"", "\"push\"", "\"pull\""] {
            let asks_git = text.contains(word) && text.contains("GitRequest");
            assert!(!asks_git, "{name}: {word}");
        }
    }
}

/// The commands that the page names work where there is no network.
#[test]
fn the_commands_without_a_network_need_none() {
    let list = PAGE.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let commands: Vec<&str> = list
        .lines()
        .flat_map(|line| line.split("  "))
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect();
    assert!(commands.len() >= 14, "{commands:?}");
    let project = project_on_disk()
        .with_file("AGENTS.yaml", "context:\n  - content: HERE\n")
        .with_file("src/a.rs", "")
        .with_file("brief.toml", "[install]\nclients = [\"claude\"]\n");
    let made = project.run(&["sync"]);
    assert_eq!(made.code, Some(0), "{made}");
    for command in commands {
        let mut words: Vec<&str> = command.split(' ').collect();
        if ["context", "why", "show"].contains(&words[0]) {
            words.push("src/a.rs");
        }
        let output = without_network(&project, &words);
        let (code, text) = match &output {
            Some(output) => {
                (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
            }
            None => {
                let ran = project.run(&words);
                (ran.code, ran.stderr)
            }
        };
        assert_eq!(code, Some(0), "{command}: {text}");
    }
}

/// Every directory of the state and of the cache that the sources name is on the page.
#[test]
fn every_stored_thing_is_on_the_page() {
    let mut found = 0;
    for path in all_sources() {
        let name = path.strip_prefix(workspace()).unwrap().to_string_lossy().into_owned();
        if !name.starts_with("crates/") || !name.contains("/src/") || name.contains("test") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for function in ["state_directory(", "cache_directory("] {
            for rest in text.split(function).skip(1) {
                // The name is joined right behind the call.
                let near: String = rest.chars().take(120).collect();
                let Some(joined) = near.split(".join(\"").nth(1) else { continue };
                let joined = joined.split('"').next().unwrap_or_default();
                assert!(
                    PAGE.contains(joined),
                    "{name} stores `{joined}`, which the page does not name"
                );
                found += 1;
            }
        }
    }
    assert!(found >= 6, "only {found} directories were found");
}
