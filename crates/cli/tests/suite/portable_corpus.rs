//! `conformance/portable/`: every case, through the program.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::Source;
use brief_syntax::front_matter::FrontMatter;
use brief_testkit::Sandbox;
use serde_json::{Value, json};

use crate::{project, workspace};

const CLIENTS: [&str; 3] = ["claude", "copilot", "opencode"];

fn corpus() -> PathBuf {
    workspace().join("conformance/portable")
}

fn cases() -> Vec<String> {
    let entries = fs::read_dir(corpus()).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

/// The files of a tree: their path with `/`, and where they are.
fn tree(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut files = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let below = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                files.insert(below, path);
            }
        }
    }
    files
}

fn lay_out(case: &str) -> Sandbox {
    let sandbox = project();
    for (below, path) in tree(&corpus().join(case).join("input")) {
        let target = sandbox.path().join(below);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(path, target).unwrap();
    }
    sandbox
}

/// A check finds what is expected, and nothing else.
#[test]
fn every_case_has_the_expected_findings() {
    for case in cases() {
        let path = corpus().join(&case).join("expected/diagnostics.json");
        let mut expected: Vec<Value> =
            serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let sandbox = lay_out(&case);
        let output = sandbox.run(&["lint", "--format", "json"]);
        let found = output.json()["diagnostics"].as_array().unwrap().clone();
        let mut found: Vec<Value> = found
            .iter()
            // The document allows a bundle without items.
            .filter(|found| found["code"] != "item/empty-bundle")
            .map(|found| {
                let path = found["path"].as_str().unwrap().replace('\\', "/");
                json!({"severity": found["severity"], "code": found["code"], "path": path, "line": found["line"]})
            })
            .collect();
        for list in [&mut expected, &mut found] {
            list.sort_by_key(Value::to_string);
        }
        assert_eq!(found, expected, "{case}");
        let errors = expected.iter().any(|found| found["severity"] == "error");
        assert_eq!(output.code, Some(i32::from(errors)), "{case}");
    }
}

/// A file in two parts: its fields, and its text without the heading of the name.
fn taken_apart(path: &Path) -> (Value, String) {
    let text = fs::read_to_string(path).unwrap();
    let source = Arc::new(Source::new(path, text));
    let front = FrontMatter::from_source(&source);
    let fields = front.header.as_ref().and_then(|header| header.yaml.root());
    let fields = serde_json::to_value(fields).unwrap();
    let body = source.text()[front.body_start..].trim_start_matches('\n');
    let heading = format!("# {}\n\n", fields["name"].as_str().unwrap());
    (fields, body.strip_prefix(heading.as_str()).unwrap_or(body).to_owned())
}

/// Two values are the same, but for the text `*`, which stands for any.
fn is_same(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::String(any), Value::String(_)) if any == "*" => true,
        (Value::Object(expected), Value::Object(found)) => {
            expected.len() == found.len()
                && expected
                    .iter()
                    .all(|(key, value)| found.get(key).is_some_and(|found| is_same(value, found)))
        }
        _ => expected == found,
    }
}

fn is_entrypoint(below: &str, expected: &Path) -> bool {
    let kinds = ["rules/", "skills/", "agents/", "instructions/"];
    let depth = if below.ends_with("/SKILL.md") || below.ends_with("/RULE.md") { 3 } else { 2 };
    kinds.iter().any(|kind| below.contains(kind))
        && below.matches('/').count() == depth
        && fs::read(expected).unwrap().starts_with(b"---\n")
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_program(_: &Path) -> bool {
    false
}

/// The files for each client are the expected ones, and stay when they are written again.
#[test]
fn every_case_has_the_expected_outputs() {
    let mut compiled = 0;
    for case in cases() {
        let expected = corpus().join(&case).join("expected");
        if !CLIENTS.iter().any(|client| expected.join(client).is_dir()) {
            continue;
        }
        for client in CLIENTS {
            let sandbox = lay_out(&case);
            // The cases are the document's, and so are their values (ruling G13).
            assert!(!sandbox.path().join("brief.toml").exists(), "{case}");
            sandbox.write("brief.toml", "[build]\nprofile = \"format\"\n");
            let args = ["registry", "build", "--client", client, "--out", "../outside"];
            let out = sandbox.outside_directory();
            let output = sandbox.run(&args);
            assert_eq!(output.code, Some(0), "{case} {client}\n{output}");
            let wanted = tree(&expected.join(client));
            let mut found = tree(&out);
            found.retain(|below, _| !below.starts_with(".brief/"));
            let names = |files: &BTreeMap<String, PathBuf>| -> Vec<String> {
                files.keys().cloned().collect()
            };
            assert_eq!(names(&found), names(&wanted), "{case} {client}");
            for (below, path) in &wanted {
                let of = &found[below];
                if is_entrypoint(below, path) {
                    let (wanted, found) = (taken_apart(path), taken_apart(of));
                    assert!(
                        is_same(&wanted.0, &found.0),
                        "{case} {below}: {} is not {}",
                        found.0,
                        wanted.0
                    );
                    assert_eq!(found.1, wanted.1, "{case} {below}");
                } else {
                    assert_eq!(fs::read(of).unwrap(), fs::read(path).unwrap(), "{case} {below}");
                    assert_eq!(is_program(of), is_program(path), "{case} {below}");
                }
                compiled += 1;
            }
            let again = sandbox.run(&[args.as_slice(), &["--check"]].concat());
            assert_eq!(again.code, Some(0), "{case} {client}\n{again}");
        }
    }
    assert!(compiled > 50, "only {compiled} files were compared");
}

/// N71, N72, §7.4: what is written is as our formatter leaves it.
#[test]
fn outputs_are_formatted() {
    let mut checked = 0;
    for case in cases() {
        let sandbox = lay_out(&case);
        let out = sandbox.outside_directory();
        let output = sandbox.run(&["registry", "build", "--out", "../outside", "--json"]);
        if output.stdout.is_empty() {
            assert!(output.stderr.contains("no items"), "{case}\n{output}");
            continue;
        }
        let files = tree(&out);
        let written = output.json()["created"].as_array().unwrap().clone();
        let top = format!("{}/", out.display());
        for path in written.iter().map(|path| path.as_str().unwrap()) {
            let below = path.strip_prefix(&top).unwrap();
            if !is_entrypoint(below, &files[below]) {
                continue;
            }
            let text = fs::read_to_string(&files[below]).unwrap();
            let source = Arc::new(Source::new(below, text.clone()));
            let body = &text[FrontMatter::from_source(&source).body_start..];
            let body = body.strip_prefix('\n').unwrap_or(body);
            assert_eq!(brief_syntax::markdown::format_markdown(body).text, body, "{case} {below}");
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked} files were checked");
}

/// The README lists every case, and all seven statements of §9 have some.
#[test]
fn the_readme_lists_every_case() {
    let readme = fs::read_to_string(corpus().join("README.md")).unwrap();
    let rows: Vec<Vec<&str>> = readme
        .lines()
        .filter(|line| line.starts_with("| `") && line.matches('|').count() == 5)
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let mut listed: Vec<String> =
        rows.iter().map(|row| row[1].trim_matches('`').to_owned()).collect();
    listed.sort_unstable();
    assert_eq!(listed, cases());
    assert!(listed.len() >= 25);
    for statement in 1..=7 {
        let count = rows.iter().filter(|row| row[2].contains(&statement.to_string())).count();
        assert!(count >= 2, "statement {statement}");
    }
    for row in rows {
        let expected = corpus().join(row[1].trim_matches('`')).join("expected");
        let has_outputs = CLIENTS.iter().any(|client| expected.join(client).is_dir());
        assert_eq!(row[3] == "yes", has_outputs, "{}", row[1]);
    }
    assert!(readme.contains(&format!("{} cases", cases().len())));
}
