//! The forms of the code of tools, and the objects that it must return.

use serde_json::json;

use super::{call, load, tool, tools};

fn error(code: &str) -> String {
    load(code).unwrap_err().to_string()
}

/// A52, Y27: a function's body that returns, or one expression.
#[test]
fn a_body_or_an_expression() {
    let object =
        "{ ping: { fn: () => 1, scheme: { name: 'ping', description: 'd', parameters: {} } } }";
    for code in [
        format!("return {object};"),
        format!("const tools = {object};\nreturn tools"),
        format!("const tools = await Promise.resolve({object}); return tools;"),
        format!("return Promise.resolve({object})"),
        format!("({object})"),
        format!("({object});\n"),
        object.to_owned(),
        format!("// what it is\n({object}) // and that was it"),
        format!("(() => ({object}))()"),
    ] {
        let mut tools = load(&code).unwrap_or_else(|error| panic!("{code}: {error}"));
        assert_eq!(tools.call_tool("PING", &json!({}), &json!({})).unwrap(), json!(1), "{code}");
    }
    assert_eq!(load("return {};").unwrap().tools().len(), 0);
}

/// A51, A52.
#[test]
fn what_is_no_object_of_tools() {
    for (code, message) in [
        ("", "the code returns nothing, not an object of tools"),
        ("const a = 1;", "the code returns nothing, not an object of tools"),
        ("return [1];", "the code returns an array, not an object of tools"),
        ("return () => ({})", "the code returns a function, not an object of tools"),
        ("return null", "the code returns a null, not an object of tools"),
        ("return 'text'", "the code returns a string, not an object of tools"),
    ] {
        assert_eq!(error(code), message, "{code}");
    }
    let unfinished = load("return { a: ;").unwrap_err().to_string();
    assert!(unfinished.starts_with("the code is not valid JavaScript: "), "{unfinished}");
    let second = error("const a = 1;\nreturn { a: ;");
    assert!(second.contains("(line 2, "), "{second}");
    let thrown = error("const a = 1;\n\nthrow new TypeError('no luck');");
    assert!(thrown.contains("TypeError: no luck (line 3, "), "{thrown}");
    let export = load("export default {};").unwrap_err();
    assert!(export.help().unwrap().contains("`export default`"), "{export}");
}

/// A53, A54, Y28 to Y30.
#[test]
fn what_is_no_tool() {
    let scheme = "{ name: 'x', description: 'd', parameters: {} }";
    for (code, message) in [
        ("return { x: 1 };", "the tool `x` has no `fn` and no `scheme`"),
        (
            "return { x: { description: 'd', run() {} } };",
            "the tool `x` has no `fn` and no `scheme`",
        ),
        ("return { x: { fn() {} } };", "the tool `x` has no `scheme`"),
        ("return { x: { fn() {}, schema: {} } };", "the tool `x` has no `scheme`"),
        ("return { x: { fn: 1, scheme: SCHEME } };", "the tool `x` has no `fn`"),
        (
            "const scheme = {}; scheme.self = scheme; return { x: { fn() {}, scheme } };",
            "the tool `x` has no `scheme` that is JSON",
        ),
        (
            "return { x: { fn() {}, scheme: { name: 'x', description: 'd' } } };",
            "the scheme of the tool `x` has no `parameters`",
        ),
        (
            "return { x: { fn() {}, scheme: { description: 'd', parameters: {} } } };",
            "the scheme of the tool `x` has no `name`",
        ),
        (
            "return { y: { fn() {}, scheme: SCHEME } };",
            "the tool `y` calls itself `x` in its scheme",
        ),
        (
            "return { x: { fn() {}, scheme: SCHEME }, X: { fn() {}, scheme: SCHEME } };",
            "the tools `x` and `X` have the same name",
        ),
        (
            "return { x: { fn() {}, scheme: { name: 'x', description: 'd', parameters: { type: 1 } } } };",
            "`parameters` of the tool `x` is not a valid JSON Schema: has an unknown `type`",
        ),
        (
            "return { x: { fn() {}, scheme: { name: 'x', description: 'd', \
             parameters: { properties: { a: { type: 1 } } } } } };",
            "`parameters` of the tool `x` is not a valid JSON Schema: `/properties/a/type` is not a known type",
        ),
    ] {
        assert_eq!(error(&code.replace("SCHEME", scheme)), message, "{code}");
    }
    let help = |code: &str| load(code).unwrap_err().help().unwrap().to_owned();
    assert_eq!(help("return { x: { fn() {}, schema: {} } };"), "the field is called `scheme`");
    assert_eq!(help("return { x: { run() {} } };"), "the function is called `fn`");
    let name = "a b".to_owned();
    assert!(error(&format!(
        "return {{ '{name}': {{ fn() {{}}, scheme: {{ name: '{name}', description: 'd', parameters: {{}} }} }} }};"
    ))
    .contains("invalid characters"));
}

/// Y30: the wrapped form is understood.
#[test]
fn a_wrapped_scheme_is_unwrapped() {
    let tools = load(
        "return { x: { fn() {}, scheme: { type: 'function', function: \
         { name: 'x', description: 'd', parameters: {} } } } };",
    )
    .unwrap();
    assert_eq!(tools.tools()[0].scheme.description, "d");
}

/// A55, A56.
#[test]
fn names_in_any_case_and_schemes_for_models() {
    let mut tools = load(&tools(&[("Add", "({ a, b }) => a + b")])).unwrap();
    assert_eq!(tools.call_tool("aDD", &json!({"a": 2, "b": 3}), &json!({})).unwrap(), json!(5));
    assert_eq!(
        tools.tools().iter().map(|tool| tool.scheme.to_function()).collect::<Vec<_>>(),
        [json!({"type": "function", "function": {
            "name": "Add", "description": "d", "parameters": {"type": "object"},
        }})]
    );
    let error = tools.call_tool("Ad", &json!({}), &json!({})).unwrap_err();
    assert_eq!(error.to_string(), "unknown tool `Ad`; did you mean `Add`?");
}

/// Y31: the function is not called when the arguments do not fit.
#[test]
fn arguments_are_checked_before_the_call() {
    let mut tools = load(
        "let calls = 0; return { t: { fn: () => ++calls, scheme: { name: 't', description: 'd', \
         parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } } } };",
    )
    .unwrap();
    for (args, problem) in [
        (json!({}), "invalid arguments for `t`: `/` must have `n`"),
        (json!({"n": "1"}), "invalid arguments for `t`: `/n` must be integer, not string"),
        (json!([]), "invalid arguments for `t`: `/` must be object, not array"),
    ] {
        assert_eq!(tools.call_tool("t", &args, &json!({})).unwrap_err().to_string(), problem);
    }
    assert_eq!(tools.call_tool("t", &json!({"n": 1}), &json!({})).unwrap(), json!(1));
}

/// A tool's later changes to its schema have no effect.
#[test]
fn schemes_are_copied_once() {
    let mut tools = load(
        "const scheme = { name: 't', description: 'd', parameters: { type: 'object', required: ['n'] } }; \
         return { t: { fn: () => { scheme.parameters.required = []; return 1 }, scheme } };",
    )
    .unwrap();
    tools.call_tool("t", &json!({"n": 1}), &json!({})).unwrap();
    assert!(tools.call_tool("t", &json!({}), &json!({})).is_err());
}

/// No ability is available while the tools are defined, whatever is granted.
#[test]
fn code_sees_only_its_language() {
    let seen = call(
        "() => ['fetch', 'process', 'require', 'setTimeout', 'std', 'os', 'host', 'Deno', 'WebAssembly'] \
         .filter(name => name in globalThis)",
    );
    assert_eq!(seen.unwrap(), json!([]));
    assert_eq!(call("(args, ctx) => ctx.input").unwrap(), json!(null));
    let mut tools =
        load(&tool("(args, ctx, host) => [ctx.input, Object.keys(host).sort()]")).unwrap();
    assert_eq!(
        tools.call_tool("t", &json!({}), &json!({"input": "in"})).unwrap(),
        json!(["in", ["browser", "env", "exec", "fetch", "fs", "mcp", "tool"]])
    );
}

/// Neither a tool's own state nor its arguments reach the next call.
#[test]
fn calls_share_nothing() {
    let mut tools =
        load("let kept = 0; return { t: { fn: (args, ctx) => { ctx.n = 1; args.x = 1; return [++kept, ctx] }, \
              scheme: { name: 't', description: 'd', parameters: {} } } };")
        .unwrap();
    let ctx = json!({"input": 1});
    assert_eq!(tools.call_tool("t", &json!({}), &ctx).unwrap(), json!([1, {"input": 1, "n": 1}]));
    assert_eq!(tools.call_tool("t", &json!({}), &ctx).unwrap(), json!([1, {"input": 1, "n": 1}]));
}
