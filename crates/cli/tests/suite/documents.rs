//! The documents keep up with the program: the map from rules to tests.

use std::fs;

use crate::architecture::all_sources;
use crate::workspace;

fn document(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap()
}

/// A test that the conformance map or the table of security goals names exists where the page says.
#[test]
fn every_test_in_the_conformance_map_exists() {
    let map =
        [document("docs/dev/conformance.md"), document("docs/dev/security-goals.md")].concat();
    let sources: Vec<(String, String)> = all_sources()
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(workspace()).unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    let mut checked = 0;
    for reference in map.split('`').skip(1).step_by(2).filter(|text| text.contains(".rs::")) {
        let (path, test) = reference.split_once("::").unwrap();
        let source = sources.iter().find(|(name, _)| name == path);
        let (_, content) = source.unwrap_or_else(|| panic!("`{path}` does not exist"));
        assert!(content.contains(&format!("fn {test}()")), "`{path}` has no test called `{test}`");
        checked += 1;
    }
    assert!(checked > 60, "the map names only {checked} tests");
}

/// Every rule of the document and every ruling that concerns what exists is in the map.
#[test]
fn every_rule_is_in_the_conformance_map() {
    let map = document("docs/dev/conformance.md");
    let rows: Vec<&str> = map.lines().filter(|line| line.starts_with("| ")).collect();
    for rule in [
        "G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10", "G11", "G12", "S1", "S2",
        "S3", "S4", "S5", "S6", "S7", "S8", "T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9",
        "T10", "T11",
    ] {
        let rows: Vec<_> =
            rows.iter().filter(|row| row.starts_with(&format!("| {rule} "))).collect();
        assert!(!rows.is_empty(), "{rule} is not in docs/dev/conformance.md");
        assert!(rows.iter().all(|row| row.contains(".rs::")), "{rule} is held by no test");
    }
}

/// Every line of the portable format is in the map, and every ruling about it is written down.
#[test]
fn every_line_of_the_portable_format_is_in_the_conformance_map() {
    let (map, rulings) = (document("docs/dev/conformance.md"), document("docs/dev/rulings.md"));
    let row = |line: &str| map.lines().find(|row| row.starts_with(&format!("| {line} |")));
    let lines = (1..=82).map(|number| format!("N{number:02}"));
    for line in lines.chain((1..=17).map(|number| format!("I{number:02}"))) {
        let row = row(&line).unwrap_or_else(|| panic!("{line} is not in docs/dev/conformance.md"));
        // One asks for clients that run, two are about the document itself.
        let is_held = row.contains(".rs::") || ["N70", "N79", "N80"].contains(&line.as_str());
        assert!(is_held, "{line} is held by no test");
    }
    for ruling in (4..=38).map(|number| format!("R{number:02}")) {
        assert!(rulings.contains(&format!("\n- **{ruling}** ")), "{ruling} is not written down");
        let is_held = row(&ruling).is_some_and(|row| row.contains(".rs::"));
        assert!(is_held, "{ruling} is held by no test");
    }
}

/// Every line of client-hosted context, and every choice where it leaves room, is in the map and held by a test.
#[test]
fn every_line_of_client_hosted_context_is_in_the_conformance_map() {
    let (map, rulings) = (document("docs/dev/conformance.md"), document("docs/dev/rulings.md"));
    let lines =
        [1..=16, 20..=31, 40..=59, 60..=73, 80..=83, 90..=93, 100..=105, 110..=127, 130..=131];
    let lines = lines.into_iter().flatten().map(|number| format!("H{number}"));
    let choices = (1..=40).map(|number| format!("X{number}"));
    let more = ["X2b", "X2c", "X2d", "X6b", "X6c", "X16b", "X16c", "X17b", "X34b"];
    let choices: Vec<String> = choices.chain(more.map(str::to_owned)).collect();
    for line in lines.chain(choices.iter().cloned()) {
        let row = map.lines().find(|row| row.starts_with(&format!("| {line} |")));
        let row = row.unwrap_or_else(|| panic!("{line} is not in docs/dev/conformance.md"));
        assert!(row.contains(".rs::"), "{line} is held by no test");
    }
    for choice in choices {
        assert!(rulings.contains(&format!("\n- **{choice}** ")), "{choice} is not written down");
    }
}

/// Every line of the agent format is in the map, and every ruling about it is written down.
#[test]
fn every_line_of_the_agent_format_is_in_the_conformance_map() {
    let (map, rulings) = (document("docs/dev/conformance.md"), document("docs/dev/rulings.md"));
    let lines = [1..=7, 10..=20, 30..=38, 40..=44, 50..=56, 60..=65, 70..=74, 80..=83];
    let lines = lines.into_iter().flatten().map(|number| format!("A{number}"));
    let choices: Vec<String> = (1..=52).map(|number| format!("Y{number}")).collect();
    for line in lines.chain(choices.iter().cloned()) {
        let row = map.lines().find(|row| row.starts_with(&format!("| {line} |")));
        let row = row.unwrap_or_else(|| panic!("{line} is not in docs/dev/conformance.md"));
        assert!(row.contains(".rs::"), "{line} is held by no test");
    }
    for choice in choices {
        assert!(rulings.contains(&format!("\n- **{choice}** ")), "{choice} is not written down");
    }
}
