//! `brief replay`: recorded sessions beside guidance and receipts.

use std::fs;

use brief_testkit::Sandbox;
use serde_json::{Value, json};

use crate::hook_clients::{hook, payload, tool};
use crate::project;

const RULES: &str = "context:
  - content: Use pnpm here.
    id: pnpm
    check:
      forbid: {command: [npm, yarn]}
      instead: pnpm
  - content: Do not import antd.
    id: antd
    match: ['**/*.ts']
    check:
      forbid: {text: \"from 'antd'\"}
  - content: Prices are cents.
    match: ['**/*.py']
";

/// A session of Claude Code: its records so far.
struct Record {
    project: String,
    session: String,
    lines: Vec<Value>,
}

impl Record {
    fn new(project: &Sandbox, session: &str) -> Record {
        let project = project.path().display().to_string();
        let mut record = Record { project, session: session.to_owned(), lines: Vec::new() };
        let prompt = json!({"content": "please"});
        record.add("user", json!({"message": prompt, "promptId": "p"}));
        record
    }

    fn add(&mut self, kind: &str, mut body: Value) {
        let number = self.lines.len();
        body["type"] = kind.into();
        body["uuid"] = format!("{}-{number}", self.session).into();
        body["sessionId"] = self.session.as_str().into();
        body["cwd"] = self.project.as_str().into();
        body["version"] = "2.1.328".into();
        body["gitBranch"] = "main".into();
        // Any week has it: a record that is newer than today is not too old.
        body["timestamp"] =
            format!("2099-01-01T00:{:02}:{:02}.000Z", number / 60, number % 60).into();
        self.lines.push(body);
    }

    /// Adds a call that succeeds, in an answer of its own.
    fn call(mut self, tool: &str, input: &Value, result: &Value) -> Record {
        let id = format!("toolu_{}_{}", self.session, self.lines.len());
        let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        self.add("assistant", json!({"message": {"id": format!("m-{id}"), "content": [block]}}));
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
        self.add("user", json!({"message": {"content": [block]}, "toolUseResult": result}));
        self
    }

    fn shell(self, command: &str) -> Record {
        self.call("Bash", &json!({"command": command}), &json!({"stdout": ""}))
    }

    fn create(self, path: &str, content: &str) -> Record {
        let path = format!("{}/{path}", self.project);
        let result = json!({"type": "create", "filePath": path, "originalFile": null});
        self.call("Write", &json!({"file_path": path, "content": content}), &result)
    }

    fn write(self, sandbox: &Sandbox) {
        let directory = sandbox.home().join(".claude/projects/-any");
        fs::create_dir_all(&directory).unwrap();
        let text = self.lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
        fs::write(directory.join(format!("{}.jsonl", self.session)), text).unwrap();
    }
}

/// Writes a session with something to say about each part of an answer.
pub(crate) fn record_session(sandbox: &Sandbox) {
    let record = Record::new(sandbox, "one").create("src/b.py", "x = 1\n").shell("npm test");
    record.write(sandbox);
}

fn replay(sandbox: &Sandbox, args: &[&str]) -> Value {
    sandbox.run(&[&["replay", "--json"], args].concat()).json()
}

fn rule<'r>(answer: &'r Value, check: &str) -> &'r Value {
    let rules = answer["rules"].as_array().unwrap();
    rules.iter().find(|rule| rule["check"] == check).unwrap_or_else(|| panic!("{answer:#}"))
}

fn verdicts(rule: &Value) -> Vec<String> {
    let counts = rule["verdicts"].as_array().unwrap();
    let word =
        |count: &Value| format!("{} {}", count["sessions"], count["verdict"].as_str().unwrap());
    counts.iter().map(word).collect()
}

/// Without any hook: which rules an agent never had, which it broke, and the command that changes that.
#[test]
fn a_project_without_a_hook_has_an_answer() {
    let sandbox = project().with_file("AGENTS.yaml", RULES);
    Record::new(&sandbox, "one")
        .shell("npm install left-pad")
        .create("src/a.py", "price = 1.5\n")
        .create("src/a.ts", "import { Button } from 'antd'\n")
        .write(&sandbox);
    let answer = replay(&sandbox, &[]);
    let pnpm = rule(&answer, "pnpm");
    assert_eq!(verdicts(pnpm), ["1 broken"]);
    let proof = &pnpm["evidence"][0];
    assert_eq!(
        (&proof["place"], &proof["told"]),
        (&json!("`npm install left-pad`"), &json!(false))
    );
    assert_eq!(proof["tool"], "Bash");
    let antd = rule(&answer, "antd");
    assert_eq!(verdicts(antd), ["1 broken"]);
    assert_eq!(antd["evidence"][0]["place"], "src/a.ts:1");
    let cents = answer["rules"]
        .as_array()
        .unwrap()
        .iter()
        .find(|rule| rule["title"] == "Prices are cents.");
    let cents = cents.unwrap();
    assert_eq!(cents["arrival"], json!({"loaded": 0, "delivered": 0, "late": 0, "missing": 1}));
    assert!(cents["check"].is_null() && cents["verdicts"] == json!([]));
    let advice = cents["advice"].as_str().unwrap();
    assert!(advice.contains("brief hook install claude"), "{advice}");
    // No share of one occasion.
    assert!(pnpm["rate"].is_null());
    let shown = sandbox.run(&["replay"]);
    assert!(
        shown.stdout.contains("`npm install left-pad` runs `npm`; the agent did not have the rule"),
        "{shown}"
    );
    assert!(shown.stdout.contains("applied in 1 call: 1 missing"), "{shown}");
    assert!(shown.stderr.contains("1 session, 3 calls (claude 1)"), "{shown}");
    let session = sandbox.run(&["replay", "one"]);
    assert!(session.stdout.contains("Bash `npm install left-pad`"), "{session}");
    assert!(session.stdout.contains("missing AGENTS.yaml:12"), "{session}");
    let file = sandbox.run(&["replay", "src/a.ts"]);
    assert!(file.stdout.contains("src/a.ts:1"), "{file}");
    let one = sandbox.run(&["replay", "antd"]);
    assert!(one.stdout.contains("src/a.ts:1") && !one.stdout.contains("left-pad"), "{one}");
    let none = sandbox.run(&["replay", "nothing-of-it"]);
    assert_eq!(none.code, Some(1), "{none}");
}

/// "Kept" needs proof, and nothing that a record hides counts as kept.
#[test]
fn kept_needs_a_proof() {
    let sandbox = project().with_file("AGENTS.yaml", RULES);
    Record::new(&sandbox, "kept")
        .shell("pnpm install")
        .create("src/a.ts", "import { Button } from './ui'\n")
        .write(&sandbox);
    // The command fails after it has written: the record does not show what.
    let mut hidden = Record::new(&sandbox, "hidden").create("src/b.ts", "let a = 1\n");
    let block =
        json!({"type": "tool_use", "id": "h", "name": "Bash", "input": {"command": "./gen.sh"}});
    hidden.add("assistant", json!({"message": {"id": "h", "content": [block]}}));
    let block = json!({"type": "tool_result", "tool_use_id": "h", "is_error": true, "content": "Exit code 1"});
    hidden.add(
        "user",
        json!({"message": {"content": [block]}, "toolUseResult": "Error: Exit code 1"}),
    );
    hidden.write(&sandbox);
    let answer = replay(&sandbox, &[]);
    let session = |id: &str, place: &str| -> Value {
        let sessions = answer["sessions"].as_array().unwrap();
        let session = sessions.iter().find(|session| session["id"] == id).unwrap();
        let rules = session["rules"].as_array().unwrap();
        rules.iter().find(|rule| rule["place"] == place).unwrap()["verdict"].clone()
    };
    // Nobody told the agent, so that it is no credit to the rule.
    assert_eq!(session("kept", "AGENTS.yaml:2"), "not_delivered");
    assert_eq!(session("kept", "AGENTS.yaml:7"), "not_delivered");
    assert_eq!(rule(&answer, "antd")["occasions"]["kept"], 2);
    let hidden = replay(&sandbox, &["hidden"]);
    assert_eq!(hidden["sessions"].as_array().unwrap().len(), 1);
}

/// A delivery counts from the answer that could see it: a receipt with the id of a call is seen by the next one.
#[test]
fn a_delivery_counts_from_the_next_answer() {
    let sandbox = project().with_file("AGENTS.yaml", RULES).with_file("src/a.py", "x = 1\n");
    hook(&sandbox, &["claude"], &payload(&sandbox, "SessionStart", &json!({"source": "startup"})));
    let mut read = tool(&sandbox, "PreToolUse", "Read", "src/a.py");
    read["tool_use_id"] = "toolu_one_1".into();
    hook(&sandbox, &["claude"], &read);
    let path = format!("{}/src/a.py", sandbox.path().display());
    let edit = json!({"file_path": path, "old_string": "x = 1", "new_string": "x = 2"});
    let result = json!({"filePath": path, "oldString": "x = 1", "newString": "x = 2", "originalFile": "x = 1\n",
        "structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": ["-x = 1", "+x = 2"]}]});
    Record::new(&sandbox, "one")
        .call("Read", &json!({"file_path": path}), &json!({"type": "text"}))
        .call("Edit", &edit, &result)
        .write(&sandbox);
    let answer = replay(&sandbox, &[]);
    let rules = answer["rules"].as_array().unwrap();
    let cents = rules.iter().find(|rule| rule["title"] == "Prices are cents.").unwrap();
    // The read came before the text, the edit after it.
    assert_eq!(
        cents["arrival"],
        json!({"loaded": 0, "delivered": 1, "late": 1, "missing": 0}),
        "{answer:#}"
    );
    let timeline = answer["sessions"][0]["timeline"].as_array().unwrap();
    let kinds: Vec<&str> = timeline.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"delivered"), "{kinds:?}");
}

/// What is no session has one sentence each.
#[test]
fn nothing_to_replay_is_said() {
    let sandbox = project().with_file("AGENTS.yaml", RULES);
    let none = sandbox.run(&["replay"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""), "{none}");
    assert!(
        none.stderr.contains("no recorded sessions in this project in the last 7 days"),
        "{none}"
    );
    let unread = sandbox.run(&["replay", "--client", "aider"]);
    assert!(unread.stderr.contains("brief cannot read the sessions of aider"), "{unread}");
    let other = sandbox.home().join(".claude/projects/-other");
    fs::create_dir_all(&other).unwrap();
    fs::write(
        other.join("a.jsonl"),
        "{\"type\":\"user\",\"cwd\":\"/elsewhere\",\"sessionId\":\"s\"}\n",
    )
    .unwrap();
    let foreign = sandbox.run(&["replay"]);
    assert!(foreign.stderr.contains("1 session file of other projects"), "{foreign}");
    sandbox.write("x.jsonl", "{\"a\": 1}\n");
    let unknown = sandbox.run(&["replay", "x.jsonl"]);
    assert!(unknown.stderr.contains("not a session file of a known client"), "{unknown}");
    let wrong = sandbox.run(&["replay", "--since", "soon"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
}
