//! One root, wherever you are: whoever asks about a directory gets the findings of the whole run for it.
//!
//! Four front ends ask the program itself about random projects: `lint DIR`, `lint` in DIR, the script of the Action in DIR, and an editor
//! that has DIR open.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use brief_testkit::{Output, Sandbox};
use serde_json::{Value, json};

use crate::project;

/// Files with findings that depend on what lies elsewhere in the project, or on where they lie themselves.
const PIECES: [(&str, &str); 15] = [
    ("CLAUDE.md", "See [a](docs/a.md), [b](../docs/b.md) and `npm run dev:web`.\n"),
    ("AGENTS.md", "See [a](docs/a.md), [b](../docs/b.md) and `npm run dev:web`.\n"),
    ("AGENTS.yaml", "context:\n  - content: A\n    mach: [x]\n    match: ['src/**', 'none/**']\n"),
    (".cursor/rules/a.mdc", "---\nglobs: \"web/**/*.ts\"\n---\nSee [x](../../docs/a.md).\n"),
    (".cursor/b.mdc", "---\nalwaysApply: true\n---\nText.\n"),
    (".github/instructions/t.instructions.md", "---\napplyTo: lib/**\n---\nText.\n"),
    (".claude/settings.json", "{\"permisions\": {}, \"hooks\": {\"Stop\": 1}}\n"),
    (".claude/skills/s/SKILL.md", "---\nname: t\n---\nSee [a](../../../docs/a.md).\n"),
    (".context/css.md", "---\ntrigger: auto\nglobs: **/*.css\n---\nText.\n"),
    (
        "skills/k/SKILL.md",
        "---\nschema: 1\nname: k\ndescription: Use it for keys of the shop.\n---\nSee [a](../../docs/a.md).\n",
    ),
    // Only an installation reads it.
    ("skills/k/notes.md", "Hidden\u{e0041}\u{e0042} words.\n"),
    ("rules/r/RULE.md", "---\nschema: 1\nname: wrong\n---\nText.\n"),
    ("brief.toml", "[sources.a]\ngit = 1\n"),
    ("package.json", "{\"scripts\": {\"dev:web\": \"vite\"}}\n"),
    ("docs/a.md", "Text.\n"),
];

const DIRECTORIES: [&str; 4] = ["", "web/", "web/app/", "docs/"];

const PROJECTS: u64 = 8;

/// Puts some of the files into some of the directories of a repository (xorshift, the same in each run).
fn random_project(seed: u64) -> Sandbox {
    let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut chance = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 40
    };
    let mut project = project();
    for directory in DIRECTORIES {
        project = project.with_file(&format!("{directory}keep.txt"), "");
        for (name, text) in PIECES {
            if chance() % 3 == 0 {
                project = project.with_file(&format!("{directory}{name}"), text);
            }
        }
    }
    fs::create_dir(project.path().join(".git")).unwrap();
    project
}

/// A finding as each front end shows it: path, line, column, code, message.
type Shown = (String, u64, u64, String, String);

/// Returns the findings in an answer of `lint --json`, each at its own place.
fn findings(output: &Output) -> BTreeSet<Shown> {
    let mut shown = BTreeSet::new();
    for found in output.json()["diagnostics"].as_array().unwrap() {
        for place in std::iter::once(found).chain(found["also"].as_array().into_iter().flatten()) {
            let text = |of: &Value, key: &str| of[key].as_str().unwrap_or_default().to_owned();
            let number = |key: &str| place[key].as_u64().unwrap_or_default();
            shown.insert((
                text(place, "path"),
                number("line"),
                number("column"),
                text(found, "code"),
                text(place, "message"),
            ));
        }
    }
    shown
}

/// Runs the script of the Action in a directory.
fn check_script(project: &Sandbox, directory: &str) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/ci/check.sh");
    // The program is called `brief` on the PATH.
    let bin = project.home().join("bin");
    if !bin.exists() {
        fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(project.program(), bin.join("brief")).unwrap();
    }
    let output = Command::new("bash")
        .arg(&script)
        .current_dir(project.path().join(directory))
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("HOME", project.home())
        .env("BRIEF_FORMAT", "json")
        .output()
        .unwrap();
    Output {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}

fn read_message(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).unwrap();
    Some(serde_json::from_slice(&body).unwrap())
}

/// Opens a directory in an editor, and returns what it shows when the check is over.
fn edit(project: &Sandbox, directory: &str) -> BTreeSet<Shown> {
    let top = format!("file://{}/", project.path().display());
    let mut server = project.prepare_command("", &["lsp"]);
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut tell = |message: Value| {
        let text = message.to_string();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    };
    let folder = format!("{top}{directory}");
    let folders = json!([{"uri": folder.trim_end_matches('/'), "name": "folder"}]);
    let params = json!({"workspaceFolders": folders, "capabilities": {}});
    tell(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
    tell(json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    // The answer waits for the check.
    let params = json!({"textDocument": {"uri": format!("{top}keep.txt")}});
    tell(json!({"jsonrpc": "2.0", "id": 2, "method": "textDocument/codeLens", "params": params}));
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut shown = BTreeSet::new();
    while let Some(message) = read_message(&mut output) {
        if message["id"] == 2 {
            tell(json!({"jsonrpc": "2.0", "id": 3, "method": "shutdown"}));
            tell(json!({"jsonrpc": "2.0", "method": "exit"}));
        }
        if message["method"] != "textDocument/publishDiagnostics" {
            continue;
        }
        let params = &message["params"];
        let path = params["uri"].as_str().unwrap().strip_prefix(&top).unwrap().to_owned();
        for found in params["diagnostics"].as_array().unwrap() {
            let start = &found["range"]["start"];
            let message = found["message"].as_str().unwrap().lines().next().unwrap();
            shown.insert((
                path.clone(),
                start["line"].as_u64().unwrap() + 1,
                start["character"].as_u64().unwrap() + 1,
                found["code"].as_str().unwrap().to_owned(),
                message.to_owned(),
            ));
        }
    }
    assert_eq!(server.wait().unwrap().code(), Some(0));
    shown
}

/// Issue 35: "`lint DIR`, `cd DIR; lint`, the Action's script, and the editor must report the same findings as the whole run, filtered to
/// those in DIR."
#[test]
fn everyone_reports_the_findings_of_the_whole_run() {
    let mut compared = 0;
    let mut codes = BTreeSet::new();
    for seed in 0..PROJECTS {
        let project = random_project(seed);
        let whole = findings(&project.run(&["lint", "--json"]));
        codes.extend(whole.iter().map(|found| found.3.clone()));
        for directory in DIRECTORIES {
            let expected: BTreeSet<Shown> =
                whole.iter().filter(|found| found.0.starts_with(directory)).cloned().collect();
            compared += expected.len();
            let place = format!("project {seed}, {directory:?}");
            let named = if directory.is_empty() { "." } else { directory };
            let named = project.run(&["lint", named, "--json"]);
            assert_eq!(findings(&named), expected, "{place}: lint DIR");
            let inside = project.run_in(directory, &["lint", "--json"], "");
            assert_eq!(findings(&inside), expected, "{place}: cd DIR; lint");
            let script = check_script(&project, directory);
            assert_eq!(findings(&script), expected, "{place}: check.sh");
            assert_eq!(edit(&project, directory), expected, "{place}: the editor");
        }
    }
    assert!(compared > 150, "{compared} findings are too few to prove anything");
    assert!(codes.len() > 12, "{codes:?}");
}
