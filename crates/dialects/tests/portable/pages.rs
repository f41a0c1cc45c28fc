//! `docs/diagnostics/portable/`: a page for each code, with examples that are what they say.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use brief_syntax::Severity;
use brief_syntax::system::MemorySystem;

use crate::support::{empty, read, workspace};

fn pages() -> Vec<(String, String)> {
    let directory = workspace().join("docs/diagnostics/portable");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort_unstable();
    let page = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    paths.into_iter().map(page).collect()
}

/// The part of a page below a heading.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let start = page.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let rest = &page[start + 1..];
    let mut end = rest.len();
    let mut in_fence = false;
    let mut offset = 0;
    for line in rest.split_inclusive('\n') {
        if line.starts_with("````") {
            in_fence = !in_fence;
        } else if offset > 0 && !in_fence && line.starts_with("## ") {
            end = offset;
            break;
        }
        offset += line.len();
    }
    &rest[..end]
}

/// Lays out the examples of a section: fences of four backticks whose info string names the file.
fn registry(section: &str) -> MemorySystem {
    let mut system = empty();
    let mut lines = section.lines();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("````") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "````").collect();
        let (language, path) = info.split_once(' ').expect("an example names its file");
        let (path, times) = path.split_once(" last-line=").unwrap_or((path, "1"));
        let path = format!("/p/{path}");
        system = match language {
            // A link to what its text says, and a file of as many bytes as its text says.
            "link" => system.with_link(&path, body[0]),
            "bytes" => system.with_file(&path, "x".repeat(body[0].parse().unwrap())),
            _ => {
                let (last, first) = body.split_last().map_or(("", [].as_slice()), |(l, f)| (*l, f));
                let first: String = first.iter().flat_map(|line| [*line, "\n"]).collect();
                let last = format!("{last}\n").repeat(times.parse().unwrap());
                system.with_file(&path, format!("{first}{last}"))
            }
        };
        count += 1;
    }
    assert!(count > 0, "there is no example in {section}");
    system
}

/// The codes that the section says are found as well.
fn also_found(section: &str) -> BTreeSet<String> {
    let lines = section.lines().filter_map(|line| line.strip_prefix("Found as well: "));
    lines.flat_map(|line| line.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

/// The bad example gives the code and nothing else; the good one has no error, and not the code.
#[test]
fn the_examples_of_every_page_are_what_they_say() {
    for (name, page) in pages() {
        let code = format!("portable/{name}");
        let bad = section(&page, "Bad");
        let found = read(&registry(bad));
        let codes: BTreeSet<String> =
            found.all_diagnostics().map(|found| found.code().to_owned()).collect();
        let mut expected = also_found(bad);
        expected.insert(code.clone());
        assert_eq!(codes, expected, "the bad example of {name}");
        let good = read(&registry(section(&page, "Good")));
        for found in good.all_diagnostics() {
            assert_ne!(found.code(), code, "the good example of {name}: {}", found.message);
            assert_ne!(
                found.severity,
                Severity::Error,
                "the good example of {name}: {}",
                found.message
            );
        }
    }
}

/// A page says what its row says, and is made like the others.
#[test]
fn every_page_has_its_parts() {
    for (name, page) in pages() {
        assert!(page.starts_with(&format!("# portable/{name}\n\n**")), "{name}");
        for heading in ["Why it matters", "Bad", "Good", "Way out"] {
            assert!(section(&page, heading).lines().count() > 2, "{name}: {heading}");
        }
    }
}

/// The word at the top of a page is what is reported.
#[test]
fn every_page_tells_how_bad_it_is() {
    for (name, page) in pages() {
        let found = read(&registry(section(&page, "Bad")));
        let code = format!("portable/{name}");
        let of_it = found.all_diagnostics().find(|found| found.code() == code).unwrap();
        let word = match of_it.severity {
            Severity::Error => "**Error",
            Severity::Warning => "**Warning",
            Severity::Note => "**Note",
        };
        assert!(page.lines().nth(2).unwrap().starts_with(word), "{name}");
    }
}

/// Every code that the check reports has a page, and every page a code.
#[test]
fn every_code_has_a_page() {
    let sources = workspace().join("crates/dialects/src/portable");
    let mut codes = BTreeSet::new();
    for entry in fs::read_dir(sources).unwrap() {
        let path = entry.unwrap().path();
        // What is wrong with a `brief.toml` is told by the commands that read it, not by the check.
        if path.ends_with("toml.rs") {
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        let literals = text.split('"').filter_map(|text| text.strip_prefix("portable/"));
        let is_name = |name: &&str| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        codes.extend(literals.filter(is_name).map(str::to_owned));
    }
    let names: BTreeSet<String> = pages().into_iter().map(|(name, _)| name).collect();
    assert!(names.len() > 40);
    assert_eq!(names, codes);
}

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
