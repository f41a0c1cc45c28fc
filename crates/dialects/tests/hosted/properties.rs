//! Properties that hold for any bytes.

use std::path::Path;

use arbtest::arbitrary::{Result, Unstructured};
use brief_dialects::hosted::HostedContext;
use brief_safety::sensitive;
use brief_system::MemorySystem;
use serde_json::json;

use super::support::{ALWAYS, ask, files, project};

/// Parts that patterns are made of, the dangerous ones among them.
const PARTS: [&str; 24] = [
    "..",
    ".",
    "~",
    "",
    "**",
    "*",
    ".*",
    "docs",
    "DOCS",
    "out",
    "secret",
    "home",
    "u",
    "p",
    "{a,..}",
    "{..|docs}",
    "[.][.]",
    "\\..",
    "..\\..",
    "*.md",
    "[",
    "{",
    "link",
    ".context",
];

/// Beginnings of patterns that try to get out, and endings of patterns that match something.
const STARTS: [&str; 10] =
    ["..", "../..", "~", "..\\..", "link", "docs/../..", "{a,..}", "*/..", "docs", "."];
const ENDS: [&str; 6] = ["**", "*.md", "**/*.md", "s.md", "docs/*", "secret/*"];

/// Half of the patterns are made so that they would get out if they were not stopped.
fn pattern(bytes: &mut Unstructured<'_>) -> Result<String> {
    let lead = if bytes.ratio(1, 4)? { "/" } else { "" };
    if bytes.ratio(1, 2)? {
        return Ok(format!("{lead}{}/{}", bytes.choose(&STARTS)?, bytes.choose(&ENDS)?));
    }
    let count = bytes.int_in_range(1..=6)?;
    let parts: Result<Vec<&str>> = (0..count).map(|_| bytes.choose(&PARTS).copied()).collect();
    Ok(format!("{lead}{}", parts?.join("/")))
}

/// A project with neighbors that it must not reach, and links to them.
fn neighborhood() -> MemorySystem {
    project()
        .with_file("/secret/s.md", ALWAYS)
        .with_file("/home/u/private.md", ALWAYS)
        .with_file("/home/u/docs/h.md", ALWAYS)
        .with_file("/p2/docs/x.md", ALWAYS)
        .with_file("docs/a.md", ALWAYS)
        .with_file("docs/.hidden.md", ALWAYS)
        .with_file("docs/credentials.md", ALWAYS)
        .with_file("docs/.env", ALWAYS)
        .with_file("src/docs/deep/b.txt", "b")
        .with_link("link", "/secret")
        .with_link("docs/out", "/secret/s.md")
        .with_link("src/.context", "/secret")
}

fn assert_inside(answer: &HostedContext) {
    for item in &answer.items {
        let path = item.path();
        let is_inside = path.starts_with("/p") || path.starts_with("/home/u/.context");
        assert!(is_inside, "{} is read for a project", path.display());
        let inside = path.strip_prefix("/p").unwrap_or(path);
        assert_eq!(
            sensitive::find_sensitive_pattern(inside.to_str().unwrap()),
            None,
            "{}",
            path.display()
        );
    }
}

#[test]
fn no_pattern_of_a_project_leads_out_of_it() {
    arbtest::arbtest(|bytes| {
        let patterns = [pattern(bytes)?, pattern(bytes)?, pattern(bytes)?];
        let config = json!({"clientContext": {
            "includeFiles": patterns, "excludeFiles": [pattern(bytes)?],
        }});
        let system = neighborhood()
            .with_file("src/.context-other/x.md", ALWAYS)
            .with_file(".context/context-config.json", config.to_string());
        for path in ["/p", "/p/src/a.ts", "/p/src/docs/new/b.ts"] {
            assert_inside(&ask(&system, path));
        }
        Ok(())
    });
}

#[test]
fn any_bytes_are_a_configuration() {
    arbtest::arbtest(|bytes| {
        let config: Vec<u8> = bytes.arbitrary()?;
        let system = neighborhood()
            .with_file(".context/context-config.json", config)
            .with_file(".context/a.md", ALWAYS);
        let answer = ask(&system, "/p/src/a.ts");
        assert_inside(&answer);
        assert!(
            answer.diagnostics.iter().all(|problem| problem.code().starts_with("context-dir/"))
        );
        Ok(())
    });
}

#[test]
fn any_json_is_a_configuration() {
    const WORDS: [&str; 20] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"clientContext\"",
        "\"includeFiles\"",
        "\"excludeFiles\"",
        "\"ignoreGlobalContext\"",
        "\"mcpServers\"",
        "\"command\"",
        "\"url\"",
        "\"disabled\"",
        "true",
        "null",
        "1",
        "\"docs/**\"",
        "\"..\"",
        "\"x\"",
    ];
    arbtest::arbtest(|bytes| {
        let count = bytes.int_in_range(0..=30)?;
        let words: Result<Vec<&str>> = (0..count).map(|_| bytes.choose(&WORDS).copied()).collect();
        let system = neighborhood()
            .with_file(".context/context-config.json", words?.concat())
            .with_file(".context/a.md", ALWAYS);
        assert_inside(&ask(&system, "/p/src/a.ts"));
        Ok(())
    });
}

#[test]
fn any_bytes_are_a_context_file() {
    arbtest::arbtest(|bytes| {
        let content: Vec<u8> = bytes.arbitrary()?;
        let header = [b"---\n".as_slice(), &content, b"\n---\nbody"].concat();
        let system = project()
            .with_file(".context/a.md", &content)
            .with_file(".context/b.mdc", &header)
            .with_file(".context/c.txt", &content);
        let answer = ask(&system, "/p/a.ts");
        assert_eq!(answer.items.len() + answer.left_out.len(), 3);
        for item in &answer.items {
            assert!(item.file.source.text().ends_with(item.content()));
            assert!(item.line >= 1);
        }
        for problem in &answer.diagnostics {
            assert!(problem.code().starts_with("context-dir/"), "{}", problem.code());
            assert!(problem.source.text().get(problem.span.range()).is_some());
        }
        Ok(())
    });
}

#[test]
fn a_sensitive_name_never_appears_wherever_it_stands() {
    let matrix = include_str!("../../../../conformance/hosted/exclusion-matrix.json");
    let matrix: serde_json::Value = serde_json::from_str(matrix).unwrap();
    let rows = matrix["rows"].as_array().unwrap();
    let names: Vec<&str> = rows
        .iter()
        .filter(|row| row["expect"] == "excluded" && row["symlink_to"].is_null())
        .filter_map(|row| row["path"].as_str())
        .filter(|path| !path.contains(".."))
        .collect();
    let places = ["/p/.context", "/p/src/.context", "/p/docs", "/home/u/.context", "/p"];
    arbtest::arbtest(|bytes| {
        let config = json!({"clientContext": {
            "includeFiles": [pattern(bytes)?, "**", "**/.*"],
            "excludeFiles": [],
        }});
        let mut system =
            project().with_dir("src").with_file(".context/context-config.json", config.to_string());
        for _ in 0..5 {
            let place = bytes.choose(&places)?;
            let name = Path::new(bytes.choose(&names)?).to_str().unwrap().replace("./", "");
            system = system.with_file(&format!("{place}/{name}"), ALWAYS);
        }
        assert_eq!(files(&ask(&system, "/p/src/x.ts")), [""; 0]);
        Ok(())
    });
}
