//! Conversations between an editor and the server.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use brief_syntax::rpc::{HeadedFrame, frame_with_headers, read_headed_frame};
use brief_system::{MemorySystem, System};
use serde_json::{Value as Json, json};

use super::{LspEnding, serve_lsp};

/// An editor with a project in memory, at `/p`.
struct Editor {
    to: Option<std::io::PipeWriter>,
    from: Receiver<Json>,
    server: Option<JoinHandle<LspEnding>>,
    next: u64,
    told: Vec<Json>,
}

impl Editor {
    fn open(files: &[(&str, &str)]) -> Editor {
        let mut system = MemorySystem::new("/p");
        for (path, text) in files {
            system = system.with_file(&format!("/p/{path}"), text);
        }
        let mut editor = Editor::start(Arc::new(system));
        let answer = editor.ask("initialize", &json!({"rootUri": "file:///p", "capabilities": {}}));
        assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
        editor.tell("initialized", &json!({}));
        editor
    }

    fn start(system: Arc<dyn System>) -> Editor {
        let (input, to) = std::io::pipe().unwrap();
        let (said, from) = channel();
        let server = std::thread::spawn(move || {
            let input: Box<dyn Read + Send> = Box::new(input);
            serve_lsp(&system, &PathBuf::from("/p"), input, &mut |bytes| {
                let mut bytes = bytes;
                let Some(HeadedFrame::Message(message)) = read_headed_frame(&mut bytes)? else {
                    panic!()
                };
                let _ = said.send(message);
                Ok(())
            })
            .unwrap()
        });
        Editor { to: Some(to), from, server: Some(server), next: 0, told: Vec::new() }
    }

    fn send(&mut self, message: &Json) {
        self.to.as_mut().unwrap().write_all(&frame_with_headers(message)).unwrap();
    }

    fn tell(&mut self, method: &str, params: &Json) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn receive(&mut self) -> Json {
        self.from.recv_timeout(Duration::from_mins(2)).expect("the server says nothing")
    }

    /// Asks, and returns the result or the error.
    fn ask(&mut self, method: &str, params: &Json) -> Json {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut message = self.receive();
            if message["id"] == id {
                let error = message["error"].take();
                return if error.is_null() { message["result"].take() } else { error };
            }
            self.told.push(message);
        }
    }

    /// Waits for the problems of a file that fit.
    fn problems(&mut self, uri: &str, fits: impl Fn(&[Json]) -> bool) -> Vec<Json> {
        loop {
            let message = if self.told.is_empty() { self.receive() } else { self.told.remove(0) };
            let params = &message["params"];
            if message["method"] == "textDocument/publishDiagnostics" && params["uri"] == uri {
                let problems = params["diagnostics"].as_array().unwrap();
                if fits(problems) {
                    return problems.clone();
                }
            }
        }
    }

    fn open_text(&mut self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": text});
        self.tell("textDocument/didOpen", &json!({"textDocument": document}));
    }

    fn end(mut self) -> LspEnding {
        self.ask("shutdown", &Json::Null);
        self.tell("exit", &Json::Null);
        self.server.take().unwrap().join().unwrap()
    }
}

const YAML: &str = "context:\n  - content: One\n    match: ['**/*.py']\n";
const URI: &str = "file:///p/AGENTS.yaml";

fn at(line: usize, character: usize) -> Json {
    json!({"line": line, "character": character})
}

fn document() -> Json {
    json!({"uri": URI})
}

/// Unsaved text is checked, a fix is listed, and the disk is not touched.
#[test]
fn problems_and_fixes_follow_the_text_of_the_editor() {
    let mut editor = Editor::open(&[("AGENTS.yaml", YAML), ("src/a.py", "")]);
    editor.open_text(URI, YAML);
    editor.problems(URI, <[Json]>::is_empty);
    // A misspelled key on the second line.
    let change = json!({"range": {"start": at(1, 4), "end": at(1, 11)}, "text": "contant"});
    let params = json!({"textDocument": {"uri": URI, "version": 2}, "contentChanges": [change]});
    editor.tell("textDocument/didChange", &params);
    let problems = editor.problems(URI, |problems| !problems.is_empty());
    assert!(problems.iter().all(|problem| problem["range"]["start"]["line"] == 1), "{problems:?}");
    assert!(problems.iter().all(|problem| problem["source"] == "brief"));
    let range = json!({"start": at(1, 0), "end": at(1, 20)});
    let params =
        json!({"textDocument": document(), "range": range, "context": {"diagnostics": []}});
    let mut actions = editor.ask("textDocument/codeAction", &params);
    // The fix is the checker's, which may still be at work.
    for _ in 0..12_000 {
        if actions.as_array().is_some_and(|actions| !actions.is_empty()) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
        actions = editor.ask("textDocument/codeAction", &params);
    }
    let edit = &actions[0]["edit"]["changes"][URI][0];
    assert_eq!(edit["newText"], "content", "{actions}");
    assert_eq!(edit["range"], json!({"start": at(1, 4), "end": at(1, 11)}));
    assert_eq!(editor.end(), LspEnding::Orderly);
}

#[test]
fn the_reach_of_an_item_is_shown() {
    let files = [("AGENTS.yaml", YAML), ("src/a.py", ""), ("src/b.py", ""), ("CLAUDE.md", "Hi.\n")];
    let mut editor = Editor::open(&files);
    editor.open_text(URI, YAML);
    let params = json!({"textDocument": document(), "position": at(1, 6)});
    let hover = editor.ask("textDocument/hover", &params);
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("applies to 2 files") && text.contains("`**/*.py`"), "{text}");
    assert!(text.contains("- `src/a.py`\n- `src/b.py`"), "{text}");
    let lenses = editor.ask("textDocument/codeLens", &json!({"textDocument": document()}));
    assert_eq!(lenses[0]["range"]["start"], at(1, 0), "{lenses}");
    assert!(lenses[0]["command"]["title"].as_str().unwrap().starts_with("applies to 2 files"));
    let symbols = editor.ask("textDocument/documentSymbol", &json!({"textDocument": document()}));
    assert_eq!(symbols[0]["name"], "context[0]", "{symbols}");
    let claude = "file:///p/CLAUDE.md";
    editor.open_text(claude, "Hi.\n");
    let params = json!({"textDocument": {"uri": claude}, "position": at(0, 0)});
    let hover = editor.ask("textDocument/hover", &params);
    assert!(hover["contents"]["value"].as_str().unwrap().contains("Claude Code"), "{hover}");
}

#[test]
fn a_named_file_is_found_inside_the_folder_only() {
    let text = "See @docs/style.md and [the guide](docs/guide.md#a), never ../../etc/passwd.\n";
    let files = [("CLAUDE.md", text), ("docs/style.md", ""), ("docs/guide.md", "")];
    let mut editor = Editor::open(&files);
    let uri = "file:///p/CLAUDE.md";
    editor.open_text(uri, text);
    for (column, expected) in [
        (8, json!("file:///p/docs/style.md")),
        (40, json!("file:///p/docs/guide.md")),
        (65, Json::Null),
        (1, Json::Null),
    ] {
        let params = json!({"textDocument": {"uri": uri}, "position": at(0, column)});
        let found = editor.ask("textDocument/definition", &params);
        assert_eq!(found["uri"], expected, "column {column}");
    }
    for (column, named) in [(8, at(0, 5)), (40, at(0, 35))] {
        let params = json!({"textDocument": {"uri": uri}, "position": at(0, column)});
        let found = editor.ask("textDocument/references", &params);
        assert_eq!((&found[0]["uri"], &found[0]["range"]["start"]), (&json!(uri), &named));
        assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    }
}

#[test]
fn keys_and_values_are_completed() {
    let yaml = "context:\n  - content: One\n    \n    on: \n";
    let mdc = "---\n\n---\nText.\n";
    let mut editor = Editor::open(&[]);
    let mut labels = |uri: &str, text: &str, line: usize, character: usize| {
        editor.open_text(uri, text);
        let params = json!({"textDocument": {"uri": uri}, "position": at(line, character)});
        let found = editor.ask("textDocument/completion", &params);
        let found = found.as_array().cloned().unwrap_or_default();
        found.iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(labels(URI, yaml, 0, 0), ["context", "decisions"]);
    let keys = labels(URI, yaml, 2, 4);
    assert!(keys.contains(&"match".to_owned()) && keys.contains(&"when".to_owned()), "{keys:?}");
    assert_eq!(labels(URI, yaml, 3, 8), ["read", "edit", "create", "all"]);
    let cursor = labels("file:///p/.cursor/rules/money.mdc", mdc, 1, 0);
    assert_eq!(cursor, ["description", "globs", "alwaysApply"]);
    let rule = labels("file:///p/rules/money/RULE.md", mdc, 1, 0);
    assert!(rule.contains(&"audience".to_owned()), "{rule:?}");
    assert!(labels("file:///p/.cursor/rules/money.mdc", mdc, 3, 0).is_empty(), "the body");
    assert!(labels("file:///p/README.md", mdc, 1, 0).is_empty());
}

/// A file of another folder is checked when the folder is added, and its problems go with it.
#[test]
fn folders_come_and_go() {
    let broken = "context:\n  - contant: x\n";
    let mut editor = Editor::open(&[("a/AGENTS.yaml", YAML), ("a/x.py", "")]);
    editor.tell(
        "workspace/didChangeWorkspaceFolders",
        &json!({"event": {"added": [], "removed": [{"uri": "file:///p", "name": "p"}]}}),
    );
    let uri = "file:///p/a/AGENTS.yaml";
    editor.open_text(uri, broken);
    editor.tell(
        "workspace/didChangeWorkspaceFolders",
        &json!({"event": {"added": [{"uri": "file:///p/a", "name": "a"}], "removed": []}}),
    );
    editor.problems(uri, |problems| !problems.is_empty());
    editor.tell("textDocument/didClose", &json!({"textDocument": {"uri": uri}}));
    editor.problems(uri, <[Json]>::is_empty);
}

/// "A client that sends nonsense or dies": an answer for each request, and the end when the input ends.
#[test]
fn nonsense_gets_an_error_and_a_dead_editor_ends_the_server() {
    let mut editor = Editor::start(Arc::new(MemorySystem::new("/p")));
    let error = editor.ask("textDocument/hover", &json!({}));
    assert_eq!(error["code"], -32002);
    editor
        .ask("initialize", &json!({"capabilities": {}, "rootUri": null, "workspaceFolders": null}));
    assert_eq!(editor.ask("no/such", &json!({}))["code"], -32601);
    assert_eq!(editor.ask("textDocument/codeAction", &json!(7))["code"], -32602);
    let unknown = json!({"textDocument": {"uri": "untitled:1"}, "position": at(0, 0)});
    assert_eq!(editor.ask("textDocument/definition", &unknown), Json::Null);
    for message in [
        json!(1),
        json!({}),
        json!({"id": 5}),
        json!({"method": 3, "id": 6}),
        json!({"method": "textDocument/didChange"}),
    ] {
        editor.send(&message);
    }
    editor.to.as_mut().unwrap().write_all(b"Content-Length: 3\r\n\r\n{]}").unwrap();
    let codes: Vec<Json> = std::iter::repeat_with(|| editor.receive())
        .filter(|message| message["method"].is_null())
        .map(|message| message["error"]["code"].clone())
        .take(4)
        .collect();
    assert_eq!(codes, [-32600, -32600, -32600, -32700]);
    editor.to = None;
    assert_eq!(editor.server.take().unwrap().join().unwrap(), LspEnding::Abrupt);
}

const SKILL: &str = "---\nname: pdf\ndescription: Fills in forms of PDF files on request\n---\nSee [style](style.md).\n";

/// An editor that can rename files, with a registry.
fn renaming(files: &[(&str, &str)]) -> Editor {
    let mut system = MemorySystem::new("/p");
    for (path, text) in files {
        system = system.with_file(&format!("/p/{path}"), text);
    }
    let mut editor = Editor::start(Arc::new(system));
    let edit = json!({"documentChanges": true, "resourceOperations": ["rename"]});
    let capabilities = json!({"workspace": {"workspaceEdit": edit}});
    editor.ask("initialize", &json!({"rootUri": "file:///p", "capabilities": capabilities}));
    editor.tell("initialized", &json!({}));
    editor
}

/// The edits of an answer as `path line:column new`, then the renamed files.
fn shown_edits(answer: &Json) -> Vec<String> {
    let mut shown = Vec::new();
    for change in answer["documentChanges"].as_array().unwrap_or_else(|| panic!("{answer}")) {
        if change["kind"] == "rename" {
            let name = |key: &str| change[key].as_str().unwrap().replace("file:///p/", "");
            shown.push(format!("{} -> {}", name("oldUri"), name("newUri")));
            continue;
        }
        let path = change["textDocument"]["uri"].as_str().unwrap().replace("file:///p/", "");
        for edit in change["edits"].as_array().unwrap() {
            let start = &edit["range"]["start"];
            let new = edit["newText"].as_str().unwrap();
            shown.push(format!("{path} {}:{} {new}", start["line"], start["character"]));
        }
    }
    shown
}

/// A skill is renamed with its directory, its header, bundles, agents, links and imports.
#[test]
fn an_item_is_renamed_everywhere() {
    let bundle = "---\nschema: 1\nname: base\ndescription: Use for tests\nitems:\n  skills: [pdf, other]\n  rules: [pdf]\n---\n";
    let agent = "---\nname: clerk\ndescription: Use for bills\npreload-skills: [\"pdf\"]\n---\n";
    let files = [
        ("skills/pdf/SKILL.md", SKILL),
        ("skills/pdf/style.md", "x\n"),
        ("rules/pdf/RULE.md", "---\nname: pdf\ndescription: x\n---\nx\n"),
        ("base.bundle.md", bundle),
        ("agents/clerk/AGENT.md", agent),
        ("CLAUDE.md", "é [pdf](skills/pdf/SKILL.md#part), @skills/pdf/style.md\n"),
        ("docs/AGENTS.md", "[pdf](../skills/pdf/SKILL.md) and [pdf](skills/pdf/style.md)\n"),
    ];
    let mut editor = renaming(&files);
    let uri = "file:///p/skills/pdf/SKILL.md";
    editor.tell(
        "textDocument/didOpen",
        &json!({"textDocument": {"uri": uri, "version": 1, "text": SKILL}}),
    );
    let place = json!({"textDocument": {"uri": uri}, "position": {"line": 1, "character": 7}});
    let prepared = editor.ask("textDocument/prepareRename", &place);
    assert_eq!(prepared["placeholder"], "pdf");
    assert_eq!(prepared["range"]["start"], json!({"line": 1, "character": 6}));
    let mut asked = place.clone();
    asked["newName"] = json!("forms");
    let answer = editor.ask("textDocument/rename", &asked);
    assert_eq!(
        shown_edits(&answer),
        [
            "CLAUDE.md 0:8 skills/forms/SKILL.md#part",
            "CLAUDE.md 0:36 skills/forms/style.md",
            "agents/clerk/AGENT.md 3:18 forms",
            "base.bundle.md 5:11 forms",
            "docs/AGENTS.md 0:6 ../skills/forms/SKILL.md",
            "docs/AGENTS.md 0:40 skills/forms/style.md",
            "skills/pdf/SKILL.md 1:6 forms",
            "skills/pdf -> skills/forms",
        ]
    );
    for wrong in ["", "../x", "a b", ".x", "pdf/../../x", "x\u{0}"] {
        asked["newName"] = json!(wrong);
        let answer = editor.ask("textDocument/rename", &asked);
        assert!(answer["code"].is_i64(), "{wrong}: {answer}");
    }
    // Another position has no name.
    let nowhere = json!({"textDocument": {"uri": uri}, "position": {"line": 2, "character": 3}});
    assert_eq!(editor.ask("textDocument/prepareRename", &nowhere), Json::Null);
}

/// A name that is taken is refused, and so is an editor that cannot rename files.
#[test]
fn a_rename_that_cannot_be_is_refused() {
    let files = [("skills/pdf/SKILL.md", SKILL), ("skills/forms/SKILL.md", SKILL)];
    let uri = "file:///p/skills/pdf/SKILL.md";
    let asked = json!({"textDocument": {"uri": uri}, "position": {"line": 1, "character": 7}, "newName": "forms"});
    for (mut editor, word) in
        [(renaming(&files), "already exists"), (Editor::open(&files), "cannot rename")]
    {
        editor.tell(
            "textDocument/didOpen",
            &json!({"textDocument": {"uri": uri, "version": 1, "text": SKILL}}),
        );
        let answer = editor.ask("textDocument/rename", &asked);
        assert!(answer["message"].as_str().unwrap().contains(word), "{answer}");
    }
}

/// Files that the editor moves by itself take their links along.
#[test]
fn links_follow_files_that_are_moved() {
    let files = [
        ("CLAUDE.md", "[a](docs/a.md) [b](./docs/b.md)\n"),
        ("docs/a.md", "x"),
        ("docs/b.md", "y"),
    ];
    let mut editor = renaming(&files);
    let moved = json!({"files": [{"oldUri": "file:///p/docs", "newUri": "file:///p/guide"}]});
    let answer = editor.ask("workspace/willRenameFiles", &moved);
    assert_eq!(shown_edits(&answer), ["CLAUDE.md 0:4 guide/a.md", "CLAUDE.md 0:19 ./guide/b.md"]);
    let moved = json!({"files": [{"oldUri": "file:///p/none", "newUri": "file:///p/guide"}]});
    assert_eq!(editor.ask("workspace/willRenameFiles", &moved), Json::Null);
}

/// `brief/sees` has the shape of `brief show --json`, on text that is not saved.
#[test]
fn an_editor_asks_what_clients_see() {
    let mut editor = Editor::open(&[("CLAUDE.md", "old\n"), ("a.py", "")]);
    let text =
        json!({"uri": "file:///p/CLAUDE.md", "version": 1, "text": "One two three four five.\n"});
    editor.tell("textDocument/didOpen", &json!({"textDocument": text}));
    let asked = json!({"textDocument": {"uri": "file:///p/a.py"}, "clients": ["claude", "codex"]});
    let answer = editor.ask("brief/sees", &asked);
    assert_eq!(answer["path"], "a.py");
    assert_eq!(answer["clients"], json!(["claude", "codex"]));
    assert_eq!(answer["items"][0]["seen"]["claude"]["how"], "loaded");
    assert_eq!(answer["items"][0]["seen"]["codex"]["how"], "missing");
    assert!(answer["items"][0]["tokens"].as_u64().unwrap() > 3, "{answer}");
    let answer =
        editor.ask("brief/sees", &json!({"textDocument": {"uri": "file:///elsewhere/a.py"}}));
    assert!(answer["message"].as_str().unwrap().contains("outside the workspace"), "{answer}");
    let answer = editor.ask("brief/sees", &json!({}));
    assert_eq!(answer["code"], -32602);
}

/// One root, wherever you are: a folder inside a repository has the findings that the whole repository has for it, and
/// no others.
#[test]
fn a_folder_of_a_repository_is_checked_against_all_of_it() {
    let text = "See [skill](../.agents/skills/s/SKILL.md) and [gone](none.md).\n";
    let system = MemorySystem::new("/p")
        .with_dir("/p/.git")
        .with_file("/p/CLAUDE.md", "See [lost](lost.md).\n")
        .with_file("/p/.agents/skills/s/SKILL.md", "---\nname: s\ndescription: x\n---\nText.\n")
        .with_file("/p/web/AGENTS.md", text)
        .with_file("/p/web/app/AGENTS.md", "See [none](none.md).\n");
    let mut editor = Editor::start(Arc::new(system));
    let folders = ["web", "web/app"];
    let folders = folders.map(|name| json!({"uri": format!("file:///p/{name}"), "name": name}));
    editor.ask("initialize", &json!({"workspaceFolders": folders, "capabilities": {}}));
    editor.tell("initialized", &json!({}));
    let problems = editor.problems("file:///p/web/AGENTS.md", |problems| !problems.is_empty());
    let messages: Vec<&str> =
        problems.iter().map(|problem| problem["message"].as_str().unwrap()).collect();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].contains("`none.md`"), "{messages:?}");
    let below = editor.problems("file:///p/web/app/AGENTS.md", |problems| !problems.is_empty());
    assert_eq!(below.len(), 1, "{below:?}");
    // The result is there: what lies outside of the folders is not shown.
    editor.ask("textDocument/codeLens", &json!({"textDocument": {"uri": "file:///p/CLAUDE.md"}}));
    let shown =
        editor.told.iter().filter(|told| told["method"] == "textDocument/publishDiagnostics");
    assert!(shown.into_iter().all(|told| told["params"]["uri"] != "file:///p/CLAUDE.md"));
}
