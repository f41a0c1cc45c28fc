//! `brief lsp`, as an editor uses it.

use std::io::Write;
use std::process::{Command, Stdio};

use brief_testkit::{needs, wait_for};
use serde_json::json;

use crate::project;

const BROKEN: &str = "context:\n  - contant: Ünïcode 🦀\n    match: ['**/*.py']\n";

/// Neovim opens, shows, fixes, hovers and types; nothing of it touches the disk.
#[test]
fn neovim_shows_and_fixes() {
    needs!(Neovim);
    let skill = "---\nname: pdf\ndescription: Fills in forms of PDF files on request\n---\nx\n";
    let project = project()
        .with_file("AGENTS.yaml", BROKEN)
        .with_file("src/a.py", "")
        .with_file("b.py", "")
        .with_file("CLAUDE.md", "[forms](.claude/skills/pdf/SKILL.md)\n")
        .with_file(".claude/skills/pdf/SKILL.md", skill);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/editor/neovim.lua");
    let ran = Command::new("nvim")
        .args(["--headless", "--clean", "-u", "NONE", "-c", &format!("luafile {script}")])
        .current_dir(project.path())
        .env("BRIEF", project.program())
        .env("HOME", project.home())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stdout);
    let found: serde_json::Value = serde_json::from_str(text.trim())
        .unwrap_or_else(|error| panic!("{error}: {text}{}", String::from_utf8_lossy(&ran.stderr)));
    assert_eq!(found["failed"], json!(null), "{found:#}");
    // Columns are bytes here: Neovim counts so, and translates.
    assert_eq!(
        found["opened"],
        json!(["1:4-1:11 agents-yaml/unknown-field", "1:4-1:27 agents-yaml/missing-field"])
    );
    assert_eq!(found["actions"], json!(["write `content`"]));
    assert_eq!(found["fixed"], "  - content: Ünïcode 🦀");
    let hover = found["hover"].as_str().unwrap();
    assert!(hover.contains("applies to 2 files") && hover.contains("`**/*.py`"), "{hover}");
    assert!(found["lens"].as_str().unwrap().starts_with("applies to 2 files · about"), "{found}");
    assert_eq!(found["typed"], json!(["2:12-2:18 agents-yaml/unused-pattern"]));
    assert_eq!(found["disk"], BROKEN.trim_end(), "the disk is untouched");
    assert_eq!(found["placeholder"], "pdf");
    assert_eq!(found["renames"], 3, "{found:#}");
    assert_eq!(found["header"], "name: forms");
    assert_eq!(found["link"], "[forms](.claude/skills/forms/SKILL.md)");
    assert!(found["sees"].as_u64().unwrap() >= 2, "{found:#}");
}

/// An editor that dies takes the server with it.
#[test]
fn the_server_ends_with_its_editor() {
    let project = project().with_file("AGENTS.yaml", BROKEN);
    let mut server = Command::new(project.program())
        .arg("lsp")
        .current_dir(project.path())
        .env("HOME", project.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let request =
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}});
    let text = request.to_string();
    let mut input = server.stdin.take().unwrap();
    write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    drop(input);
    let status = wait_for("the server ends", || server.try_wait().unwrap());
    assert_eq!(status.code(), Some(1), "the editor did not say goodbye");
}
