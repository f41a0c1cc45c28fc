//! The promises of a page, checked after its commands: an item is installed, a text is delivered.
//!
//! A comment on a line of its own, which no reader sees, says it where the page promises it:
//!
//! | comment | meaning |
//! | --- | --- |
//! | `<!-- test: has PATH => TEXT -->` | the file contains the text; `~/` is the home directory |
//! | `<!-- test: lacks PATH -->` | there is no such file |
//! | `<!-- test: says COMMAND => TEXT -->` | the command works and prints the text |
//! | `<!-- test: told PATH => TEXT -->` | Claude Code, which edits the file, gets the text from the hook that is installed |

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use brief_testkit::Sandbox;
use serde_json::{Value, json};

use crate::workspace;

/// Words that begin the comment of an outcome.
const WORDS: [&str; 4] = ["has ", "lacks ", "says ", "told "];

pub(crate) fn is_outcome(mark: &str) -> bool {
    WORDS.iter().any(|word| mark.starts_with(word))
}

/// Checks one outcome. `shell` prepares a command line as the page's own are run.
pub(crate) fn check(project: &Sandbox, mark: &str, place: &str, shell: &dyn Fn(&str) -> Command) {
    let (asked, text) = mark.split_once(" => ").unwrap_or((mark, ""));
    let (word, subject) = asked.split_once(' ').expect("an outcome has a word and a subject");
    let path = match subject.strip_prefix("~/") {
        Some(path) => project.home().join(path),
        None => project.path().join(subject),
    };
    let found = match word {
        "has" => fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{place}: `{subject}` is promised: {error}")),
        "lacks" => {
            assert!(!path.exists(), "{place}: `{subject}` is there");
            return;
        }
        "says" => {
            let output = shell(subject).output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{place}: `{subject}` fails:\n{printed}");
            printed
        }
        "told" => tell(project, subject, place, shell),
        _ => panic!("{place}: `{mark}` means nothing"),
    };
    assert!(found.contains(text), "{place}: {text:?} is not in `{subject}`:\n{found}");
    assert!(!text.is_empty() || word == "has", "{place}: which text?");
}

/// Does what Claude Code does before an edit: it starts the commands of its settings, and takes their answers.
fn tell(project: &Sandbox, path: &str, place: &str, shell: &dyn Fn(&str) -> Command) -> String {
    let event = json!({
        "session_id": format!("{place} {path}"),
        "cwd": project.path(),
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": project.path().join(path), "old_string": "a", "new_string": "b"},
    });
    let mut told = String::new();
    for file in [".claude/settings.json", ".claude/settings.local.json"] {
        let Ok(text) = fs::read_to_string(project.path().join(file)) else { continue };
        let settings: Value = serde_json::from_str(&text).unwrap();
        let groups = settings["hooks"]["PreToolUse"].as_array().into_iter().flatten();
        for hook in groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten()) {
            let mut command = shell(hook["command"].as_str().unwrap());
            command.env("BRIEF_HOOK_DEADLINE", "60000");
            let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(event.to_string().as_bytes()).unwrap();
            drop(stdin);
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{place}: {file} {output:?}");
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            told += answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
        }
    }
    told
}

/// The page about editors names what the server offers, and its settings start the server.
#[test]
fn the_guide_to_editors_names_what_the_server_offers() {
    let page = fs::read_to_string(workspace().join("docs/how-to/editors.md")).unwrap();
    let request =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"capabilities\":{}}}";
    let input = format!("Content-Length: {}\r\n\r\n{request}", request.len());
    let ran = crate::project().run_with_input(&["lsp"], input);
    let body = ran.stdout.split_once("\r\n\r\n").unwrap().1;
    let answer: serde_json::Value =
        serde_json::Deserializer::from_str(body).into_iter().next().unwrap().unwrap();
    let listed = answer["result"]["capabilities"].as_object().unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
    for (capability, row) in [
        ("textDocumentSync", "| problems |"),
        ("codeActionProvider", "| quick fixes |"),
        ("hoverProvider", "| hover, code lens |"),
        ("codeLensProvider", "| hover, code lens |"),
        ("completionProvider", "| completion |"),
        ("documentSymbolProvider", "| symbols |"),
        ("definitionProvider", "| go to definition |"),
        ("referencesProvider", "| references |"),
        ("documentFormattingProvider", "| formatting |"),
        ("renameProvider", "| rename |"),
    ] {
        assert!(listed.contains_key(capability), "{capability} is not listed");
        assert!(rows.iter().any(|line| line.starts_with(row)), "{row} is not there");
    }
    // The rest is no feature of its own.
    let others = ["positionEncoding", "workspace", "experimental"];
    let features = listed.keys().filter(|name| !others.contains(&name.as_str()));
    assert_eq!(features.count(), 10, "{listed:?}");
    let helix = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let helix: toml_edit::DocumentMut = helix.parse().unwrap();
    assert_eq!(helix["language-server"]["brief"]["command"].as_str(), Some("brief"));
    assert_eq!(helix["language-server"]["brief"]["args"][0].as_str(), Some("lsp"));
}
