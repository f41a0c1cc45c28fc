//! Templates: A15 to A17, Y11 to Y14.

use std::fmt::Write;

use brief_dialects::agents::{AgentValue, load_text};
use brief_syntax::{Severity, Source};

use super::support::{agent, errors, findings, loaded, of_severity, project, warnings};

/// Renders a system message with an input, in YAML.
fn rendered(input: &str, system: &str) -> Result<String, String> {
    let agent = agent(&format!("---\ninput: {input}\n---\n# T\n\n## System\n{system}\n"));
    match agent.render(None) {
        Ok(rendered) => Ok(rendered.system),
        Err(problems) => Err(format!("{} {}", problems[0].position().line, problems[0].message)),
    }
}

fn text(input: &str, system: &str) -> String {
    rendered(input, system).unwrap_or_else(|problem| panic!("{system}: {problem}"))
}

/// A16, A17, Y12, Y14: `input` and `ctx.input`, without HTML escaping.
#[test]
fn the_input_is_in_the_context() {
    assert_eq!(
        text("\"<b> & co\"", "{{input}} / {{ctx.input}} / {{{input}}} / {{&input}}"),
        ["<b> & co"; 4].join(" / ")
    );
    assert_eq!(
        text("x", "{{this.input}} {{./input}} {{@root.input}} {{ctx.ctx.input}} {{this/input}}"),
        ["x"; 5].join(" ")
    );
    assert_eq!(
        text(
            "{n: 1.10, d: {e: [a, b]}}",
            "{{input.n}} {{input.d.e}} {{input.d.e.[0]}} {{input.d.e.1}} {{input.d.e.length}}"
        ),
        "1.10 a,b a b 2"
    );
}

/// A17: what the user gives takes the place of the agent's own input.
#[test]
fn an_input_can_be_given() {
    let agent =
        agent("---\ninput: own\n---\n# T\n\n## System\n{{input}}\n\n## Rules\n{{ctx.input}}!\n");
    let given = AgentValue::Text("given {{input}}".to_owned());
    let rendered = agent.render(Some(&given)).unwrap();
    assert_eq!(
        (rendered.system.as_str(), rendered.rules.as_str()),
        ("given {{input}}", "given {{input}}!")
    );
}

/// A15: without an engine, the text is untouched, even one that is no template.
#[test]
fn templates_can_be_turned_off() {
    let agent = agent(
        "---\ntemplateEngine: \"\"\ninput: x\n---\n# T\n\n## System\nRaw {{input}} {{#if}}\n",
    );
    assert_eq!(agent.render(None).unwrap().system, "Raw {{input}} {{#if}}");
}

/// Y11: system message and rules, and nothing else.
#[test]
fn only_system_and_rules_are_rendered() {
    let agent = agent(
        "---\ninput: x\nsystem: S {{input}}\n---\n# T {{input}}\n\nD {{input}}\n\n## Tools\n{{input}}\n",
    );
    assert_eq!(agent.render(None).unwrap().system, "S x");
    assert_eq!((agent.title.as_str(), agent.description.as_str()), ("T {{input}}", "D {{input}}"));
    assert_eq!(agent.tools.unwrap().code, "{{input}}");
    let fallback = super::support::agent("# T\n\nD {{input}}\n");
    assert_eq!(fallback.render(None).unwrap().system, "D {{input}}");
}

/// Y13: a name that stands for nothing is an error that names it, with its line.
#[test]
fn an_unknown_name_is_an_error() {
    for (system, name) in [
        ("a\n{{nope}}", "nope"),
        ("a\n{{input.nope}}", "input.nope"),
        ("a\n{{ctx.nope.x}}", "ctx.nope.x"),
        ("a\n{{#if nope}}x{{/if}}", "nope"),
        ("a\n{{#each input.nope}}x{{/each}}", "input.nope"),
        ("a\n{{#nope}}x{{/nope}}", "nope"),
        ("a\n{{../input}}", "../input"),
        ("a\n{{@index}}", "@index"),
        ("a\n{{lookup input 'nope'}}", "nope"),
    ] {
        assert_eq!(
            rendered("{a: b}", system),
            Err(format!("8 `{name}` is not defined")),
            "{system}"
        );
    }
    assert_eq!(
        rendered("{a: b}", "{{input}}"),
        Err("7 `input` is a mapping, which cannot be printed".to_owned())
    );
    let both = agent("# T\n\n## System\n{{one}}\n\n## Rules\n{{two}}\n");
    let problems = both.render(None).unwrap_err();
    assert_eq!(problems.len(), 2);
    assert!(problems.iter().all(|problem| problem.severity == Severity::Error));
}

/// `if` asks whether something is there, so the author's own data may lack it.
#[test]
fn data_may_be_asked_for() {
    assert_eq!(text("{a: b}", "{{#if input.c}}x{{else}}y{{/if}}"), "y");
    assert_eq!(text("{a: b}", "{{#unless input.c.d}}x{{/unless}}"), "x");
    assert_eq!(text("''", "{{#if input.c}}x{{/if}}y"), "y");
    assert_eq!(text("[{d: 1}, {}]", "{{#each input}}{{#if d}}+{{else}}-{{/if}}{{/each}}"), "+-");
}

/// The blocks of Handlebars.
#[test]
fn blocks_are_those_of_handlebars() {
    for (input, system, expected) in [
        ("x", "{{#if input}}a{{else}}b{{/if}}", "a"),
        ("''", "{{#if input}}a{{else}}b{{/if}}", "b"),
        ("2", "{{#if false}}a{{else if input}}b{{else}}c{{/if}}", "b"),
        ("0", "{{#if input}}a{{else if input}}b{{else}}c{{/if}}", "c"),
        ("0", "{{#if input includeZero=true}}a{{/if}}", "a"),
        ("[]", "{{#unless input}}a{{/unless}}", "a"),
        (
            "[a, b]",
            "{{#each input}}{{@index}}{{this}}{{#unless @last}},{{/unless}}{{/each}}",
            "0a,1b",
        ),
        ("[a, b]", "{{#each input}}{{@first}};{{/each}}", "true;false;"),
        ("{z: 1, a: 2}", "{{#each input}}{{@key}}={{this}};{{/each}}", "z=1;a=2;"),
        ("{z: 1, a: 2}", "{{#each input}}{{@index}}{{/each}}", "01"),
        ("0", "{{#with input}}{{this}}{{/with}}{{#input}}{{this}}{{/input}}", "00"),
        ("[a]", "{{^input}}none{{else}}{{this}}{{/input}}", "a"),
        ("x", "\\{{input}}  {{~input}}", "{{input}}x"),
        ("[]", "{{#each input}}a{{else}}none{{/each}}", "none"),
        ("text", "{{#each input}}a{{else}}none{{/each}}", "none"),
        ("[{n: a}, {n: b}]", "{{#each input as |item at|}}{{at}}{{item.n}}{{/each}}", "0a1b"),
        ("[{n: a}]", "{{#each input}}{{n}}{{../input.length}}{{/each}}", "a1"),
        ("{a: {b: c}}", "{{#with input.a}}{{b}}{{/with}}", "c"),
        ("{a: {b: c}}", "{{#with input.a as |x|}}{{x.b}}{{/with}}", "c"),
        ("''", "{{#with input}}a{{else}}b{{/with}}", "b"),
        ("[a, b]", "{{#input}}{{this}}{{/input}}", "ab"),
        ("{a: b}", "{{#input}}{{a}}{{/input}}", "b"),
        ("[]", "{{^input}}none{{/input}}{{#input}}some{{^}}none{{/input}}", "nonenone"),
        ("''", "{{^input}}none{{/input}}{{#input}}some{{/input}}", "some"),
        ("{k: [a, b], i: 1}", "{{lookup input.k input.i}} {{lookup (lookup input 'k') 0}}", "b a"),
        ("x", "{{! comment }}{{!-- with }} in it --}}{{input}}", "x"),
        ("x", "a  {{~input~}}  b", "axb"),
        ("x", "\\{{input}} {{input}} \\\\{{input}}", "{{input}} x \\x"),
        ("x", "{{\"text\"}} {{1}} {{true}}", "text 1 true"),
    ] {
        assert_eq!(text(input, system), expected, "{system}");
    }
}

/// A tag of a block alone on its line takes the line with it.
#[test]
fn tags_alone_on_a_line_leave_none() {
    let system = "start\n{{#each input}}\n- {{this}}\n{{else}}\nnone\n{{/each}}\n  {{! note }}\nend {{#if input}}x{{/if}}\n";
    assert_eq!(text("[a, b]", system), "start\n- a\n- b\nend x");
}

/// An invalid template is an error when the file is read, with its place.
#[test]
fn a_broken_template_is_an_error() {
    for system in [
        "{{",
        "{{input",
        "{{}}",
        "{{#if input}}",
        "{{/if}}",
        "{{#if input}}{{/each}}",
        "{{else}}",
        "{{#if input}}{{else}}{{else}}{{/if}}",
        "{{#if}}x{{/if}}",
        "{{#nosuch input}}x{{/nosuch}}",
        "{{log input}}",
        "{{> partial}}",
        "{{#> layout}}x{{/layout}}",
        "{{#*inline \"a\"}}{{> a}}{{/inline}}",
        "{{{{raw}}}}x{{{{/raw}}}}",
        "{{a b=c}}",
        "{{in..put}}",
        "{{input.}}",
        "{{lookup (nosuch input) 1}}",
        "{{\"open}}",
    ] {
        let text = format!("# T\n\n## System\nline\n{system}\n");
        assert_eq!(errors(&text), ["5 template-invalid"], "{system}");
    }
}

/// An error names the Handlebars construct that agent files do not support.
#[test]
fn a_construct_that_is_not_there_is_named() {
    for (system, message) in [
        ("{{> header}}", "`{{> header}}` is a partial, which templates do not support"),
        ("{{>header}}", "`{{>header}}` is a partial, which templates do not support"),
        (
            "{{> (lookup . 'x') a=1}}",
            "`{{> (lookup}}` is a partial, which templates do not support",
        ),
        (
            "{{#> layout}}x{{/layout}}",
            "`{{#> layout}}` is a block with a partial, which templates do not support",
        ),
        (
            "{{#*inline \"a\"}}x{{/inline}}",
            "`{{#*inline \"a\"}}` is an inline partial, which templates do not support",
        ),
        ("{{* decorate}}", "`{{* decorate}}` is a decorator, which templates do not support"),
        (
            "{{{{raw}}}}x{{{{/raw}}}}",
            "`{{{{raw}}}}` is a raw block, which templates do not support",
        ),
        (
            "{{log input}}",
            "unknown helper `log`; known helpers: `if`, `unless`, `each`, `with` and `lookup`",
        ),
        (
            "{{#repeat 3 input}}x{{/repeat}}",
            "unknown helper `repeat`; known helpers: `if`, `unless`, `each`, `with` and `lookup`",
        ),
        (
            "{{#if (eq input 1)}}x{{/if}}",
            "unknown helper `eq`; known helpers: `if`, `unless`, `each`, `with` and `lookup`",
        ),
        ("{{#each input key=id}}x{{/each}}", "`each` has no option `key`"),
        ("{{#with input input}}x{{/with}}", "`with` takes one value"),
    ] {
        let found = findings(&loaded(&format!("# T\n\n## System\nline\n{system}\n")));
        assert_eq!(found, [format!("5 template-invalid {message}")], "{system}");
    }
}

#[test]
fn an_unknown_name_is_a_warning_before_it_is_rendered() {
    assert_eq!(warnings("# T\n\n## Rules\n{{customer}}\n"), ["4 template-undefined"]);
}

/// Nothing that a file says costs more than the limits: steps, bytes, depth.
#[test]
fn templates_are_bounded() {
    let list = format!("[{}]", vec!["x"; 1_000].join(", "));
    let loops = "{{#each ctx.input}}".to_owned()
        + &"{{#each @root.input}}".repeat(5)
        + &"{{/each}}".repeat(6);
    let limit = rendered(&list, &loops).unwrap_err();
    assert!(limit.contains("steps"), "{limit}");
    let long = format!("{{{{#each input}}}}{}{{{{/each}}}}", "x".repeat(2_000));
    let limit = rendered(&list, &long).unwrap_err();
    assert!(limit.contains("bytes"), "{limit}");
    let deep = "{{#if input}}".repeat(10_000) + &"{{/if}}".repeat(10_000);
    assert_eq!(errors(&format!("# T\n\n## System\n{deep}\n")), ["4 template-invalid"]);
    let nested = format!("{{{{{}input{}}}}}", "(lookup ".repeat(1_000), " 1)".repeat(1_000));
    assert_eq!(errors(&format!("# T\n\n## System\n{nested}\n")), ["4 template-invalid"]);
    let mut fields = String::new();
    for number in 0..5_000 {
        write!(fields, "k{number}: v, ").unwrap();
    }
    let input = format!("{{l: {list}, {fields} last: v}}");
    let limit = rendered(&input, "{{#each input.l}}{{@root.input.last}}{{/each}}").unwrap_err();
    assert!(limit.contains("steps"), "{limit}");
}

/// An unsaved text is read like a file.
#[test]
fn a_text_that_is_not_saved_is_read() {
    let source =
        std::sync::Arc::new(Source::new(super::support::PATH, "# T\n\n## System\n{{x}}\n"));
    let buffer = load_text(&project(), &source, &brief_dialects::agents::AgentOptions::default());
    let saved = loaded("# T\n\n## System\n{{x}}\n");
    assert_eq!(of_severity(&buffer, Severity::Warning), of_severity(&saved, Severity::Warning));
}

/// R1: a comment ends with as many braces as it began with; the fuzzer found one with fewer at the end of a text.
#[test]
fn a_comment_ends_with_the_braces_that_it_began_with() {
    assert_eq!(text("x", "a{{!-- }} --}}b{{{!-- }} --}}}c"), "abc");
    for system in ["{{{!--{--}}", "{{{!----}}é", "{{{!-- x --}} y"] {
        let text = format!("# T\n\n## System\n{system}\n");
        assert_eq!(errors(&text), ["4 template-invalid"], "{system}");
    }
}
