//! `brief agent`: every published case through the program, and what a user meets besides.

use serde_json::Value;

use crate::project;

/// The cases of `conformance/agents`, as data: files, a question, and what has to come out.
#[test]
fn every_case_of_the_format_holds() {
    let path = crate::workspace().join("conformance/agents/cases.json");
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut failed = Vec::new();
    for case in &cases {
        if let Err(problem) = run_case(case) {
            failed.push(format!("{} {}: {problem}", case["id"], case["title"]));
        }
    }
    assert!(cases.len() >= 58);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned)).collect()
}

/// Returns whether the wanted value is there; an empty value counts as none.
fn covers(want: &Value, got: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    match (want, got) {
        (Value::Object(want), Value::Object(got)) => {
            want.iter().all(|(key, value)| got.get(key).is_some_and(|got| covers(value, got)))
        }
        _ => want == got || (is_empty(want) && is_empty(got)),
    }
}

fn run_case(case: &Value) -> Result<(), String> {
    let mut project = project();
    for (name, value) in case["env"].as_object().into_iter().flatten() {
        project = project.with_env(name, value.as_str().unwrap());
    }
    for (path, text) in case["files"].as_object().into_iter().flatten() {
        project.write(path, text.as_str().unwrap());
    }
    let (query, expect) = (&case["query"], &case["expect"]);
    let file = query["agent"].as_str().unwrap().to_owned();
    let text = |key: &str| query[key].as_str().unwrap_or_default().to_owned();
    let operation = case["op"].as_str().unwrap();
    let mut args: Vec<String> = Vec::new();
    let mut add = |more: &[&str]| args.extend(more.iter().map(|&one| one.to_owned()));
    match operation {
        "load" | "tools" => add(&["show", &file, "--json"]),
        "render" => add(&["show", &file, "--json", "--render"]),
        "invoke" => {
            add(&["command", &file, &text("command")]);
            args.extend(texts(&query["args"]));
        }
        "start" => add(&["ready", &file, "--json"]),
        "call" => {
            let given =
                if query["args"].is_null() { "{}".to_owned() } else { query["args"].to_string() };
            add(&["call", &file, &text("tool"), &given, "--json"]);
        }
        "ability" => add(&["abilities", &file, "--json"]),
        other => return Err(format!("an operation that nobody knows: {other}")),
    }
    for (option, key) in [("--grant", "operator"), ("--want", "want")] {
        for name in texts(&query[key]) {
            args.extend([option.to_owned(), name]);
        }
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let output = project.run(&args);
    let all = format!("{}{}", output.stdout, output.stderr);
    let check = |is_so: bool, problem: &str| {
        if is_so { Ok(()) } else { Err(format!("{problem}\n{output}")) }
    };
    let is_ok = output.code == Some(0);
    match expect["tool_error"].as_str() {
        Some(error) => return check(all.contains(error), "another error"),
        None => check(Some(is_ok) == expect["ok"].as_bool(), "another outcome")?,
    }
    if let Some(words) = expect["message_contains"].as_str() {
        check(all.contains(words), words)?;
    }
    if operation == "invoke" {
        let text = expect["text"].as_str().filter(|_| is_ok);
        return check(text.is_none_or(|text| output.stdout.trim_end() == text.trim_end()), "text");
    }
    if !is_ok {
        return Ok(());
    }
    let answer = output.json();
    let agent = &answer["agent"];
    if !expect["agent"].is_null() {
        check(covers(&expect["agent"], agent), "another agent")?;
    }
    if let Some(names) = expect["tools"].as_array() {
        let lower = |text: &str| text.to_lowercase();
        let mut want: Vec<String> = names.iter().filter_map(Value::as_str).map(lower).collect();
        let mut got: Vec<String> =
            agent["tools"].as_object().into_iter().flatten().map(|(name, _)| lower(name)).collect();
        want.sort();
        got.sort();
        check(want == got, "other tools")?;
    }
    for key in ["system", "rules"] {
        check(expect[key].is_null() || expect[key] == agent[key], key)?;
    }
    for key in ["result", "granted"] {
        check(expect[key].is_null() || expect[key] == answer[key], key)?;
    }
    let codes = answer["diagnostics"].to_string();
    for warning in texts(&expect["warnings"]) {
        check(codes.contains(&warning), &warning)?;
    }
    Ok(())
}

const TOOLS: &str = "# Helper\nHelps.\n\n## Tools\n\n```js\nreturn {\n  echo: {\n    fn: (args) => args.text.toUpperCase(),\n    scheme: { name: \"echo\", description: \"Says it loudly\", parameters: { type: \"object\", properties: { text: { type: \"string\" } }, required: [\"text\"] } },\n  },\n  read: {\n    fn: async (args, ctx, host) => host.fs.readText(args.path),\n    scheme: { name: \"read\", description: \"Reads a file\", parameters: { type: \"object\", properties: { path: { type: \"string\" } } } },\n  },\n};\n```\n";

/// A tool is called with what its scheme asks for, and with nothing else.
#[test]
fn a_tool_is_called_by_its_scheme() {
    let project = project().with_file("agents/dev_helper.agent.md", TOOLS);
    let file = "agents/dev_helper.agent.md";
    let output = project.run(&["debug", "call", file, "ECHO", "{\"text\": \"hi\"}"]);
    assert_eq!((output.stdout.as_str(), output.code), ("HI\n", Some(0)), "{output}");
    let output = project.run(&["debug", "call", file, "echo", "{\"text\": 1}"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("invalid arguments for `echo`"), "{output}");
    let output = project.run(&["debug", "call", file, "echo", "text"]);
    assert_eq!(output.code, Some(2), "{output}");
    let output = project.run(&["debug", "call", file, "ecoh", "{}"]);
    assert!(output.stderr.contains("did you mean `echo`"), "{output}");
}

/// An ability is there when the operator grants it and the file allows it; every question is logged.
#[test]
fn an_ability_has_to_be_granted_and_allowed() {
    let allowed = format!("---\nabilities:\n  allow: [fs, tool]\n---\n{TOOLS}");
    let project = project()
        .with_file("agents/dev_helper.agent.md", allowed)
        .with_file("agents/dev_closed.agent.md", TOOLS)
        .with_file("notes.txt", "the note\n")
        .with_file(".env", "SECRET=1\n");
    let call = |file: &str, path: &str, more: &[&str]| {
        let path = format!("{{\"path\": \"{path}\"}}");
        project.run(&[&["debug", "call", file, "read", &path][..], more].concat())
    };
    let grant = ["--grant", "fs", "--audit", "audit.jsonl"];
    let output = call("agents/dev_helper.agent.md", "notes.txt", &grant);
    assert_eq!(output.stdout.trim_end(), "the note", "{output}");
    for (file, path, more) in [
        ("agents/dev_helper.agent.md", "notes.txt", &[][..]),
        ("agents/dev_closed.agent.md", "notes.txt", &grant),
        ("agents/dev_helper.agent.md", ".env", &grant),
        ("agents/dev_helper.agent.md", "../outside/x", &grant),
    ] {
        let output = call(file, path, more);
        assert_eq!(output.code, Some(1), "{file} {path}: {output}");
        assert!(!output.to_string().contains("the note"), "{output}");
        assert!(!output.to_string().contains("SECRET=1"), "{output}");
    }
    let audit = project.read("audit.jsonl");
    assert!(audit.contains("notes.txt") && audit.contains(".env"), "{audit}");
}

/// With execution off, no code is looked at, and an agent with tools does not start.
#[test]
fn nothing_runs_when_execution_is_off() {
    let project =
        project().with_file("agents/dev_helper.agent.md", TOOLS).with_env("BRIEF_EXEC", "never");
    let file = "agents/dev_helper.agent.md";
    for args in [&["debug", "call", file, "echo", "{}"][..], &["check", "--preflight", file]] {
        let output = project.run(args);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("BRIEF_EXEC"), "{output}");
    }
    let output = project.run(&["show", file, "--json"]);
    assert_eq!(output.json()["agent"]["tools"], serde_json::json!({}), "{output}");
}

/// Agents are listed with what keeps them from loading, and checked all at once.
#[test]
fn agents_are_listed_and_checked() {
    let project = project()
        .with_file("agents/dev_good.agent.md", "# Good\nDoes it.\n")
        .with_file("agents/dev_bad.agent.md", "---\nstatus: gone\n---\n# Bad\nDoes not.\n");
    let output = project.run(&["list"]);
    assert!(output.stdout.contains("dev_good.agent.md: 🤖 Good (active)"), "{output}");
    assert!(output.stdout.contains("dev_bad.agent.md: invalid"), "{output}");
    let all = ["agents/dev_good.agent.md", "agents/dev_bad.agent.md"];
    let output = project.run(&[&["check"][..], &all].concat());
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("agents/dev_bad.agent.md:2"), "{output}");
    assert!(output.stderr.contains("2 files checked: 1 error, 0 warnings"), "{output}");
    assert_eq!(project.run(&["check", all[0]]).code, Some(0));
}
