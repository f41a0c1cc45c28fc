//! Tools: sections 4 and 5 of the checklist, as far as they need no JavaScript.

use brief_dialects::agents::{Agent, Evaluated, Scheme, check_tools};
use serde_json::{Value, json};

use super::support::{agent, errors, loaded};

const BARE: &str = "# T\n\n## Tools\n\nreturn {\n  a: 1\n};\n\n## Notes\nn\n";

fn code(text: &str) -> String {
    agent(text).tools.unwrap().code
}

/// A50: only the heading of level 2 begins tools.
#[test]
fn tools_stand_under_their_heading() {
    assert_eq!(code(BARE), "return {\n  a: 1\n};");
    assert_eq!(code("# T\n\n## TOOLS\nreturn {};\n"), "return {};");
    for text in
        ["# T\n\n### Tools\nreturn {};\n", "# T\n\n```js\nreturn {};\n```\n", "# T\n\n## Tools\n"]
    {
        assert_eq!(agent(text).tools, None, "{text}");
    }
}

/// A50, Y50: never in the header, whatever the case.
#[test]
fn tools_in_the_header_are_an_error() {
    for field in ["tools: []", "TOOLS:", "tools: {a: b}"] {
        assert_eq!(errors(&format!("---\n{field}\n---\n# T\n")).len(), 1, "{field}");
    }
}

/// Y25: one fence with JavaScript in it, with prose around, or no fence at all.
#[test]
fn code_is_fenced_or_bare() {
    for info in ["js", "JavaScript", "mjs", "js title=\"x\""] {
        let text = format!(
            "# T\n\n## Tools\n\nHere:\n\n```{info}\nreturn {{}};\n```\n\n```json\n{{}}\n```\n"
        );
        assert_eq!(code(&text), "return {};\n", "{info}");
    }
    let tools = agent("# T\n\n## Tools\n~~~js\nreturn {};\n~~~\n").tools.unwrap();
    let source = agent("# T\n\n## Tools\n~~~js\nreturn {};\n~~~\n").source;
    assert_eq!(source.slice(tools.span), "return {};\n");
    assert_eq!(source.slice(tools.heading).trim(), "## Tools");
}

/// A51, Y26: several fences, another language, or a fence that says nothing.
#[test]
fn unclear_code_is_an_error() {
    for (fences, line) in [
        ("```ts\nreturn {};\n```\n", 4),
        ("```\nreturn {};\n```\n", 4),
        ("```json\n{}\n```\n", 4),
        ("```js\nreturn {};\n```\n\n```js\nreturn {};\n```\n", 8),
        ("- list\n\n  ```js\n  return {};\n  ```\n", 4),
        ("const text = `\na\n---\n`;\n", 3),
    ] {
        let text = format!("# T\n\n## Tools\n{fences}");
        assert_eq!(errors(&text), [format!("{line} tools-code")], "{fences}");
    }
}

/// A40: a startup tool without any code is found before anything runs.
#[test]
fn startup_needs_code() {
    let text = "---\nrequired:\n  startup: init\n---\n# T\n";
    assert_eq!(errors(text), ["3 startup-missing"]);
    assert!(loaded(text).diagnostics()[0].message.contains("`init`"));
}

fn tool(key: &str, scheme: Value) -> Evaluated {
    let fields = vec!["fn".to_owned(), "scheme".to_owned()];
    Evaluated { key: key.to_owned(), has_function: true, scheme: Some(scheme), fields }
}

fn scheme(name: &str) -> Value {
    json!({"name": name, "description": "d", "parameters": {"type": "object", "properties": {}}})
}

fn with_startup(name: &str) -> Agent {
    agent(&format!("---\nrequired:\n  startup: {name}\n---\n# T\n\n## Tools\nreturn {{}};\n"))
}

/// The tools, and the messages of what is wrong.
fn checked(agent: &Agent, tools: &[Evaluated]) -> (Vec<Scheme>, Vec<String>) {
    let (schemes, problems) = check_tools(agent, tools);
    let shown = problems.iter().map(|problem| {
        format!("{} {} {}", problem.rule.severity(), problem.rule.code(), problem.message)
    });
    (schemes, shown.collect())
}

/// A52, A53, A54, A56, Y29, Y31: a function and a scheme with three fields, told in the form of functions.
#[test]
fn a_tool_has_a_function_and_a_scheme() {
    let (schemes, problems) = checked(&agent(BARE), &[tool("ping", scheme("PING"))]);
    assert_eq!(problems, [""; 0]);
    assert_eq!(schemes[0].name, "ping");
    assert!(schemes[0].is_called("Ping"));
    assert_eq!(schemes[0].to_function()["function"]["name"], "ping");
    for (broken, words) in [
        (json!({}), "has no `name`"),
        (json!({"name": "x", "parameters": {}}), "has no `description`"),
        (json!({"name": "x", "description": "d"}), "has no `parameters`"),
        (json!({"name": "y", "description": "d", "parameters": {}}), "calls itself `y`"),
        (json!({"name": "x", "description": "d", "parameters": []}), "is not an object"),
        (
            json!({"name": "x", "description": "d", "parameters": {"type": "objekt"}}),
            "has an unknown `type`",
        ),
        (
            json!({"name": "x", "description": "d", "parameters": {"type": "string"}}),
            "always an object",
        ),
        (
            json!({"name": "x", "description": "d", "parameters": {"properties": [1]}}),
            "`properties`",
        ),
        (json!({"name": "x", "description": "d", "parameters": {"required": "x"}}), "`required`"),
    ] {
        let (schemes, problems) = checked(&agent(BARE), &[tool("x", broken.clone())]);
        assert!(schemes.is_empty(), "{broken}");
        assert!(problems[0].starts_with("error agent-file/tool-shape"), "{broken}: {problems:?}");
        assert!(problems[0].contains(words), "{broken}: {problems:?}");
    }
}

/// A54: names are told to models, which take only some letters.
#[test]
fn names_of_tools_are_such_that_models_take_them() {
    for name in ["a b", "é", "a.b", &"a".repeat(65)] {
        let (schemes, problems) = checked(&agent(BARE), &[tool(name, scheme(name))]);
        assert!(schemes.is_empty(), "{name}");
        assert!(problems[0].contains("invalid characters, or is too long"), "{problems:?}");
    }
    let longest = "a".repeat(64);
    assert_eq!(checked(&agent(BARE), &[tool(&longest, scheme(&longest))]).1, [""; 0]);
}

/// Y28, Y30: the forms that the author's own examples have, with a hint.
#[test]
fn other_forms_of_a_tool_are_explained() {
    let fields = ["description", "run", "schema"].map(str::to_owned).to_vec();
    let old = Evaluated { key: "x".to_owned(), has_function: false, scheme: None, fields };
    let (_, problems) = check_tools(&agent(BARE), std::slice::from_ref(&old));
    assert_eq!(problems[0].message, "the tool `x` has no `fn` and no `scheme`");
    assert_eq!(problems[0].help.as_deref(), Some("the field is called `scheme`"));
    let wrapped = json!({"type": "function", "function": scheme("x")});
    let (schemes, problems) = checked(&agent(BARE), &[tool("x", wrapped)]);
    assert_eq!(schemes.len(), 1);
    assert_eq!(
        problems,
        ["warning agent-file/scheme-wrapped the scheme of the tool `x` is wrapped in `function`"]
    );
}

/// A55: two names that differ in case only are one.
#[test]
fn names_of_tools_have_no_case() {
    let tools = [tool("ping", scheme("ping")), tool("PING", scheme("PING"))];
    let (_, problems) = checked(&agent(BARE), &tools);
    assert_eq!(
        problems,
        ["error agent-file/tool-duplicate the tools `ping` and `PING` have the same name"]
    );
}

/// A40, Y33: the startup tool exists in any case, and needs no arguments.
#[test]
fn the_startup_tool_exists_and_needs_nothing() {
    assert_eq!(checked(&with_startup("PING"), &[tool("ping", scheme("ping"))]).1, [""; 0]);
    let (_, problems) = checked(&with_startup("pong"), &[tool("ping", scheme("ping"))]);
    assert_eq!(problems, ["error agent-file/startup-missing unknown tool `pong`"]);
    let mut needy = scheme("ping");
    needy["parameters"]["required"] = json!(["x"]);
    let (_, problems) = checked(&with_startup("ping"), &[tool("ping", needy)]);
    assert_eq!(
        problems,
        [
            "error agent-file/startup-arguments the startup tool `ping` requires `x`, but is called without arguments"
        ]
    );
}
