//! The reference about registries, held against the program.

use std::collections::BTreeSet;
use std::fs;

use crate::install::{consumer, guidance, run};
use crate::{project, workspace};

fn document(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap()
}

/// Returns the first fenced block after a heading.
fn block(page: &str, heading: &str) -> String {
    let start = page.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let block = page[start..].split("\n```").nth(1).unwrap();
    block.split_once('\n').unwrap().1.to_owned()
}

/// `docs/reference/registries.md`: the manifest and the lock that it shows are ones.
#[test]
fn the_documented_files_are_understood() {
    let page = document("docs/reference/registries.md");
    let project = project()
        .with_file("brief.toml", block(&page, "`brief.toml`"))
        .with_file("brief.lock", block(&page, "`brief.lock`"));
    let tree = run(&project, &["list", "--tree"]).stdout;
    assert!(tree.contains("rule/money 1.0.0 (platform-baseline)"), "{tree}");
    // What it says is what would be written: nothing of it is lost on the way.
    let listed = run(&project, &["list", "--json"]).json();
    assert_eq!(listed["items"][0]["path"], "rules/money");
}

/// Every field that a real lock has is in the table, and every key of a source.
#[test]
fn every_field_is_documented() {
    let page = document("docs/reference/registries.md");
    let settings = "[mcp.files]\ncommand = \"npx\"\n";
    let project = consumer().with_file("brief.toml", settings).with_file("AGENTS.md", "# Agents\n");
    guidance(&project);
    run(&project, &["add", "acme/guidance@v1.0.0", "base"]);
    let lock = project.read("brief.lock");
    let mut table = "";
    let mut fields = BTreeSet::new();
    for line in lock.lines() {
        if let Some(name) = line.strip_prefix("[[") {
            table = name.trim_end_matches(']');
        } else if let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with(' ')) {
            fields.insert((table, key));
        }
    }
    assert!(fields.len() > 12, "{fields:?}");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    for (table, key) in fields {
        let is_row = |row: &&str| {
            let about = if table.is_empty() { "| `version`" } else { &format!("| `{table}.") };
            let names = row.split('|').nth(1).unwrap_or_default();
            row.starts_with(about) && (names.contains(&format!(".{key}`")) || table.is_empty())
        };
        assert!(rows.iter().any(is_row), "`{table}.{key}` is not documented");
    }
    let unknown = project.path().join("brief.toml");
    fs::write(unknown, "[sources.x]\nzzzzzzzzzzzz = 1\n").unwrap();
    let output = project.run(&["sync"]).stdout;
    let keys = output.split("known keys: ").nth(1).unwrap().lines().next().unwrap();
    for key in keys.split(", ") {
        assert!(
            rows.iter().any(|row| row.contains(&format!("`{key}`"))),
            "`{key}` is not documented"
        );
    }
}

/// Every check of `brief doctor` has a row, with its severity.
#[test]
fn every_check_of_the_doctor_is_documented() {
    let page = document("docs/reference/registries.md");
    let source = document("crates/cli/src/commands/doctor.rs");
    let mut count = 0;
    for (call, severity) in [("self.report_problem(", "warning"), ("self.report_note(", "note")] {
        for part in source.split(call).skip(1) {
            let Some(check) = part.trim_start().strip_prefix('"') else { continue };
            let check = check.split('"').next().unwrap();
            // `lint` reports what cannot be read with the mistakes, each in its own file.
            let rule = match check {
                "unreadable" => continue,
                "unread" => "unread-file",
                "double" => "duplicate-item",
                "fence" => "no-isolation",
                other => other,
            };
            let row = format!("| `setup/{rule}` | {severity} | ");
            assert!(page.contains(&row), "{row}");
            count += 1;
        }
    }
    assert!(count >= 8, "{count}");
}
