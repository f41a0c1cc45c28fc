//! An agent file's statements about itself hold in every command that runs it.

use brief_testkit::{ModelServer, Sandbox};
use serde_json::{Value, json};

use crate::project;

const FILE: &str = "agents/dev_writer.agent.md";

/// An agent whose tool leaves a trace.
fn writer(header: &str) -> Sandbox {
    let text = format!(
        "---\nabilities:\n  allow: [fs, tool]\n{header}---\n# Writer\n\nWrites.\n\n## Tools\n\n```js\nreturn {{\n  write: {{\n    fn: async (args, ctx, host) => {{ await host.fs.writeText(\"trace.txt\", \"x\"); return \"written\"; }},\n    scheme: {{ name: \"write\", description: \"Writes\", parameters: {{ type: \"object\", properties: {{}} }} }},\n  }},\n  fails: {{\n    fn: () => false,\n    scheme: {{ name: \"fails\", description: \"Fails\", parameters: {{ type: \"object\", properties: {{}} }} }},\n  }},\n}};\n```\n"
    );
    project().with_file(FILE, text)
}

/// U40, A2. "If the tool fails: The agent must not start" and "If validation fails, the agent must not
/// run": `agent call` passes the gates of `run` and `serve`.
#[test]
fn a_call_passes_every_gate() {
    let denied = writer("").read(FILE).replace("allow: [fs, tool]", "allow: [fs]\n  deny: [tool]");
    for (name, project, words) in [
        ("disabled", writer("status: disabled\n"), "disabled"),
        ("environment", writer("required:\n  env: [NOT_SET_HERE]\n"), "NOT_SET_HERE"),
        ("startup", writer("required:\n  startup: fails\n"), "startup tool `fails`"),
        ("deny", project().with_file(FILE, denied), "not allowed to call its tools"),
        (
            "allow",
            writer("").with_file(FILE, writer("").read(FILE).replace(", tool]", "]")),
            "not allowed",
        ),
        ("texts", writer("system: 'Say {{ input.missing }}'\n"), "missing"),
    ] {
        let args = ["debug", "call", FILE, "write", "{}", "--grant", "fs"];
        let output = project.run(&args);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{name}: {output}");
        assert!(output.stderr.contains(words), "{name}: {output}");
        let output = project.run(&[&args[..], &["--json"]].concat());
        assert_eq!(output.code, Some(1), "{name}: {output}");
        assert_eq!(output.json()["ok"], false, "{name}: {output}");
        assert!(output.json()["error"].as_str().unwrap().contains(words), "{name}: {output}");
        assert!(!project.path().join("trace.txt").exists(), "{name}");
    }
    let open = writer("required:\n  startup: write\n");
    let output = open.run(&["debug", "call", FILE, "write", "{}", "--grant", "fs"]);
    assert_eq!((output.stdout.as_str(), output.code), ("written\n", Some(0)), "{output}");
}

const GREETER: &str = "---\nrecommended:\n  models: [small]\ninput: Ada\n---\n# Greeter\n\nGreets.\n\n## System\n\nYou greet {{ input }}.\n";

fn greeted(agent: &str, args: &[&str], stdin: &str) -> (Option<i32>, Vec<String>) {
    let answer = json!({"finish": "stop", "deltas": [{"content": "Hello."}]});
    let server = ModelServer::start(vec![answer]);
    let project = project()
        .with_file(FILE, agent)
        .with_env("OPENAI_BASE_URL", &server.url)
        .with_env("OPENAI_API_KEY", "sk-0123456789secret");
    let args = [&["run", FILE][..], args].concat();
    let code = project.run_with_input(&args, stdin).code;
    let asked = server.request_bodies();
    let messages = asked.first().and_then(|body| body["messages"].as_array().cloned());
    let texts = messages.unwrap_or_default();
    (code, texts.iter().map(|said| said["content"].as_str().unwrap().to_owned()).collect())
}

/// U44. "Optional initial runtime input for the agent. This value is provided to ctx.input at start":
/// what the user says does not replace it, and without a text it is what the agent begins with.
#[test]
fn an_agent_keeps_its_own_input() {
    let said = |args: &[&str], stdin: &str| greeted(GREETER, args, stdin);
    let expected = |user: &str| (Some(0), vec!["You greet Ada.".to_owned(), user.to_owned()]);
    assert_eq!(said(&["--input", "Be brief."], ""), expected("Be brief."));
    assert_eq!(said(&[], "Be brief.\n"), expected("Be brief."));
    assert_eq!(said(&[], ""), expected("Ada"));
    // Data is said as JSON, in the author's order.
    let data = GREETER.replace("input: Ada", "input: { name: Ada, age: 36 }");
    let data = data.replace("{{ input }}", "{{ input.name }}");
    let expected_data =
        vec!["You greet Ada.".to_owned(), "{\"name\":\"Ada\",\"age\":36}".to_owned()];
    assert_eq!(greeted(&data, &[], ""), (Some(0), expected_data));
    // Without an input of its own, what is said is the input.
    let open = GREETER.replace("input: Ada\n", "");
    let expected_open = vec!["You greet Bo.".to_owned(), "Bo".to_owned()];
    assert_eq!(greeted(&open, &["--input", "Bo"], ""), (Some(0), expected_open));
    assert_eq!(greeted(&open, &[], ""), (Some(2), Vec::new()));
}

/// A16: the texts of an agent are the same for all who ask: `show --render`, a model in `run`, a client of `serve`.
#[test]
fn texts_are_rendered_the_same_everywhere() {
    let agent = "---\nrecommended:\n  models: [small]\ninput:\n  name: Ada <b>\n  list: [1, two]\n---\n# T\n\nD.\n\n\
        ## System\n\nYou greet {{ input.name }}.\n{{#each ctx.input.list}}\n- {{@index}}: {{this}}\n{{/each}}\n\n\
        ## Rules\n\n{{#if input.none}}Never.{{else}}Be brief, {{ lookup input 'name' }}.{{/if}}\n";
    let (system, rules) = ("You greet Ada <b>.\n- 0: 1\n- 1: two\n", "Be brief, Ada <b>.");
    let project = project().with_file(FILE, agent);
    let shown = project.run(&["show", FILE, "--render", "--json"]);
    let view = shown.json()["agent"].clone();
    assert_eq!(
        (view["system"].as_str(), view["rules"].as_str()),
        (Some(system), Some(rules)),
        "{shown}"
    );
    let told = format!("{system}\n\n## Rules\n\n{rules}");
    let (code, texts) = greeted(agent, &["--input", "Hi"], "");
    assert_eq!((code, texts.first()), (Some(0), Some(&told)));
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let served = project.spawn_with_input(&["serve", FILE], format!("{hello}\n"));
    let answer: Value =
        serde_json::from_str(served.stdout.lines().next().unwrap_or_default()).unwrap();
    assert_eq!(answer["result"]["instructions"], told, "{served}");
}

/// A70, A73: a browser is an ability like the others, and `deny` wins.
#[test]
fn a_browser_is_granted_and_denied_like_the_others() {
    let file = |list: &str| format!("---\n{list}\n---\n# B\n\nBrowses.\n");
    let granted = |list: &str, grants: &[&str]| {
        let project = project().with_file(FILE, file(list));
        let mut args = vec!["debug", "abilities", FILE, "--json"];
        args.extend(grants.iter().flat_map(|grant| ["--grant", *grant]));
        let output = project.run(&args);
        assert_eq!(output.code, Some(0), "{output}");
        output.json()["granted"]["browser"].clone()
    };
    assert_eq!(granted("allow: [Browser]", &["browser"]), true);
    assert_eq!(granted("allow: [browser]", &[]), false);
    assert_eq!(granted("allow: [fs]\ndeny: [browser]", &["browser"]), false);
    let project = project().with_file(FILE, file("allow: [browser:example.com]"));
    let output = project.run(&["check", FILE]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.to_string().contains("only `sh:<command>` can have one"), "{output}");
}

const ORDERED: &str = "---\ncommands:\n  - name: first\n    description: The first\n    body: One.\n  - https://example.com/commands/second.md\n  - name: third\n    description: The third\n    body: Three.\n---\n# Ordered\n\nHas an order.\n\n## Tools\n\n```js\nreturn {\n  sort: {\n    fn: () => 1,\n    scheme: { name: \"sort\", description: \"Sorts\", parameters: { type: \"object\", properties: { zeta: { type: \"string\", description: \"z\" }, alpha: { type: \"number\" } }, required: [\"zeta\"] } },\n  },\n};\n```\n";

/// U49: tool parameters and commands come in the order of the author.
#[test]
fn parameters_and_commands_keep_the_order_of_the_author() {
    let project = project().with_file(FILE, ORDERED);
    let output = project.run(&["show", FILE, "--json"]);
    let commands = output.json()["agent"]["commands"].clone();
    let called = |command: &Value| match command["name"].as_str() {
        Some(name) => name.to_owned(),
        None => command["source"].as_str().unwrap().to_owned(),
    };
    let names: Vec<String> = commands.as_array().unwrap().iter().map(called).collect();
    assert_eq!(names, ["first", "https://example.com/commands/second.md", "third"]);
    let words =
        ["\"type\"", "\"properties\"", "\"zeta\"", "\"description\"", "\"alpha\"", "\"required\""];
    let tool = &output.stdout[output.stdout.find("\"parameters\"").unwrap()..];
    let mut from = 0;
    for word in words {
        let at =
            tool[from..].find(word).unwrap_or_else(|| panic!("{word} comes too early: {tool}"));
        from += at;
    }
}

/// U49: a problem in the code of tools has the line and the column of the file.
#[test]
fn a_problem_in_code_has_its_place_in_the_file() {
    for (code, place) in [
        ("return { a: ;", "12:13"),
        ("const a = 1;\n  return { a: ;", "13:15"),
        ("const a = {}; a.b.c; return {};", "12:1"),
        ("const a = 1;\n\n  throw new Error(\"no\");", "14:"),
    ] {
        let text = format!(
            "---\nversion: 1.0.0\n---\n# T\n\nTries.\n\n## Tools\n\nWords.\n```js\n{code}\n```\n"
        );
        let output = project().with_file(FILE, text).run(&["show", FILE, "--json"]);
        let found = &output.json()["diagnostics"][0];
        let seen = format!("{}:{}", found["line"], found["column"]);
        assert!(seen.starts_with(place), "{code}: {seen} {output}");
        assert!(!found["message"].as_str().unwrap().contains("(line"), "{output}");
    }
}

/// U50: a schema is judged when an agent is shown, not when a tool is called.
#[test]
fn a_schema_is_judged_before_a_call() {
    let agent = |parameters: &str| {
        format!(
            "# T\n\nTries.\n\n## Tools\n\nreturn {{ t: {{ fn: () => 1, scheme: {{ name: \"t\", description: \"d\", parameters: {parameters} }} }} }};\n"
        )
    };
    let show = |parameters: &str| {
        let output = project().with_file(FILE, agent(parameters)).run(&["show", FILE, "--json"]);
        (output.code, output.json()["diagnostics"].to_string())
    };
    let (code, found) = show("{ type: \"object\", properties: { n: { nullable: true } } }");
    assert_eq!(code, Some(0), "{found}");
    assert!(found.contains("agent-file/schema-unchecked") && found.contains("nullable"), "{found}");
    let (code, found) = show("{ type: \"object\", properties: { n: { multipleOf: 0 } } }");
    assert_eq!(code, Some(1), "{found}");
    assert!(found.contains("/properties/n/multipleOf"), "{found}");
    let step = "{ type: \"object\", properties: { n: { multipleOf: 5 } } }";
    let project = project().with_file(FILE, agent(step));
    let output = project.run(&["debug", "call", FILE, "t", "{\"n\": 7}"]);
    assert!(output.stderr.contains("`/n` must be a multiple of 5"), "{output}");
}
