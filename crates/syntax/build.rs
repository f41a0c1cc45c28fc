//! Turns the pages in `rules/` into constants and one text.
//!
//! The path of a page is its code: `rules/agents-yaml/invalid-on.md` becomes
//! `rules::agents_yaml::INVALID_ON`. A constant holds the code and the severity only; the pages
//! are joined to one text, which needs no table of addresses at the start of the program.
#![expect(clippy::disallowed_methods, reason = "a build script reads and writes real files")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=rules");
    let rules = PathBuf::from(read_variable("CARGO_MANIFEST_DIR")).join("rules");
    let mut areas: BTreeMap<String, String> = BTreeMap::new();
    let mut pages = String::new();
    for path in collect_pages(&rules) {
        let name = path.strip_prefix(&rules).expect("the page is below `rules`");
        let code = name.with_extension("").to_string_lossy().replace('\\', "/");
        let page = fs::read_to_string(&path).expect("a page is readable text").replace('\r', "");
        let (area, name) = code.rsplit_once('/').unwrap_or(("", &code));
        let constant = name.to_uppercase().replace('-', "_");
        let severity = match field_value(&page, "severity") {
            "error" => "Error",
            "warning" => "Warning",
            "note" => "Note",
            other => panic!("{code}: `severity: {other}` is not error, warning or note"),
        };
        let summary = field_value(&page, "summary").trim_matches('"').replace("\\\"", "\"");
        let _ = writeln!(
            areas.entry(area.to_owned()).or_default(),
            "#[doc = {summary:?}]\n\
             pub const {constant}: Rule = Rule {{ code: {code:?}, severity: Severity::{severity} }};"
        );
        let _ = write!(pages, "\0{code}\n{page}");
    }
    let mut constants = String::new();
    for (area, rules) in areas {
        let _ = match area.as_str() {
            "" => write!(constants, "{rules}"),
            _ => writeln!(
                constants,
                "#[doc = \"Rules whose codes begin with `{area}/`.\"]\n\
                 pub mod {} {{\nuse super::{{Rule, Severity}};\n{rules}}}",
                area.replace('-', "_")
            ),
        };
    }
    let out = PathBuf::from(read_variable("OUT_DIR"));
    fs::write(out.join("rules.rs"), constants).expect("cargo's output directory is writable");
    fs::write(out.join("pages"), pages).expect("cargo's output directory is writable");
}

fn read_variable(name: &str) -> String {
    env::var(name).expect("cargo sets the variable")
}

/// Returns the pages below a directory, in the order of their paths.
fn collect_pages(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("the directory is readable") {
        let path = entry.expect("the directory is readable").path();
        if path.is_dir() {
            found.extend(collect_pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort_unstable();
    found
}

/// Returns the value of a field of the front matter, which stands on one line.
fn field_value<'p>(page: &'p str, name: &str) -> &'p str {
    let mut lines = page.lines().skip(1).take_while(|line| *line != "---");
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default()
}
