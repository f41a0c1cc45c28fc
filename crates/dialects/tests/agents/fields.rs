//! The fields: section 2 of the checklist.

use brief_dialects::agents::{AgentStatus, AgentValue, TemplateEngine};

use super::support::{agent, errors, headed, help, warnings, with_header};

/// A10 to A19: every default of the document.
#[test]
fn every_field_has_its_default() {
    let agent = agent("# My Agent\nThis is a test agent.\n");
    assert_eq!(agent.version, "0.1.0");
    assert_eq!(agent.icon, "🤖");
    assert_eq!(agent.title, "My Agent");
    assert_eq!(agent.description, "This is a test agent.");
    assert_eq!(agent.status, AgentStatus::Active);
    assert_eq!(agent.template_engine, TemplateEngine::Handlebars);
    assert_eq!(agent.input, AgentValue::Text(String::new()));
    assert!(agent.recommended.models.is_empty() && agent.recommended.capabilities.is_empty());
    assert!(agent.required.env.is_empty() && agent.required.startup.is_none());
    assert!(agent.commands.is_empty() && agent.tools.is_none());
    assert_eq!(
        (agent.system.text.as_str(), agent.rules.text.as_str()),
        ("This is a test agent.", "")
    );
    assert_eq!(agent.abilities.allow, None);
}

/// Y8, Y15: nothing, and an empty text, are no value.
#[test]
fn an_empty_value_is_no_value() {
    let agent = agent(
        "---\nversion:\nicon: ''\ntitle: ~\ndescription: \"  \"\nstatus: ''\ntemplateEngine:\nrequired:\nrecommended:\ncommands:\nallow:\n---\n# T\nD\n",
    );
    assert_eq!((agent.version.as_str(), agent.icon.as_str()), ("0.1.0", "🤖"));
    assert_eq!((agent.title.as_str(), agent.description.as_str()), ("T", "D"));
    assert_eq!(agent.template_engine, TemplateEngine::Handlebars);
    assert_eq!(agent.abilities.allow, None);
}

/// A11, Y51: an icon is one emoji, and only a warning.
#[test]
fn an_icon_is_one_emoji() {
    assert_eq!(warnings(&headed("icon: 🚀")), [""; 0]);
    assert_eq!(warnings(&headed("icon: 🚀🚀")), ["2 icon"]);
    assert_eq!(with_header("icon: bot").icon, "bot");
}

/// A14: three words in any case.
#[test]
fn a_status_is_one_of_three() {
    assert_eq!(with_header("status: Disabled").status, AgentStatus::Disabled);
    assert_eq!(with_header("status: ACTIVE").status, AgentStatus::Active);
    assert_eq!(warnings(&headed("status: deprecated")), ["2 deprecated"]);
    assert_eq!(errors(&headed("status: nope")), ["2 status"]);
    assert_eq!(help(&headed("status: disable")), "did you mean `disabled`?");
    assert_eq!(errors(&headed("status: [active]")), ["2 wrong-type"]);
}

/// A15: `hbs`, or nothing at all.
#[test]
fn a_template_engine_is_handlebars_or_none() {
    assert_eq!(with_header("templateEngine: \"\"").template_engine, TemplateEngine::Off);
    assert_eq!(with_header("templateEngine: HBS").template_engine, TemplateEngine::Handlebars);
    for engine in ["jinja", "handlebars", "[hbs]", "false"] {
        let text = headed(&format!("templateEngine: {engine}"));
        assert_eq!(errors(&text), ["2 template-engine"], "{engine}");
    }
}

/// A17, Y8: any YAML value is an input.
#[test]
fn an_input_is_any_value() {
    assert_eq!(with_header("input: x").input, AgentValue::Plain("x".to_owned()));
    let AgentValue::Fields(fields) = with_header("input:\n  repo: x\n  n: 2").input else {
        panic!("fields")
    };
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["repo", "n"]);
}

/// A18: guidance is never a reason to fail.
#[test]
fn recommendations_never_fail() {
    let agent = with_header("recommended:\n  models: gpt-4o, other\n  capabilities: [tools]");
    assert_eq!(agent.recommended.models, ["gpt-4o", "other"]);
    assert_eq!(agent.recommended.capabilities, ["tools"]);
    for header in ["recommended: x", "recommended: [x]", "recommended: {models: {a: b}}"] {
        assert_eq!(warnings(&headed(header)), ["2 recommended"], "{header}");
    }
}

/// A19, Y8: a list of names, or a text that is one.
#[test]
fn required_variables_are_names() {
    assert_eq!(with_header("required: {env: 'A, B'}").required.env, ["A", "B"]);
    assert_eq!(with_header("required: {env: [A, B, A]}").required.env, ["A", "B"]);
    for header in ["required: [A]", "required: {env: {A: b}}", "required: {env: [A=secret]}"] {
        assert_eq!(errors(&headed(header)), ["2 wrong-type"], "{header}");
    }
}

/// Y49: one tool is run first, not several.
#[test]
fn startup_is_one_name() {
    let text = "---\nrequired:\n  startup: [a, b]\n---\n# T\n\n## Tools\nreturn {};\n";
    assert_eq!(errors(text), ["3 wrong-type"]);
}

/// Y16: without a title there is no system message either.
#[test]
fn an_agent_has_a_title() {
    for text in ["Just text.\n", "", "## System\nx\n", "# Avatar\n![a](a.png)\n", "#\n\nx\n"] {
        assert_eq!(errors(text), ["1 title-missing"], "{text:?}");
    }
    assert_eq!(agent("#\n\n# T\n").title, "T");
}

/// Style rule: the first error hides no other.
#[test]
fn all_problems_are_told_at_once() {
    let text = "---\nstatus: x\ntemplateEngine: y\nallow: [z]\ncommands: w\ntools: []\n---\n## System\na\n## System\nb\n";
    assert_eq!(
        errors(text),
        [
            "1 title-missing",
            "2 status",
            "3 template-engine",
            "4 ability",
            "5 wrong-type",
            "6 tools-in-yaml",
            "10 duplicate-heading"
        ]
    );
}

/// A model reads text that people do not see.
#[test]
fn hidden_characters_are_warned_of() {
    assert_eq!(warnings("# T\n\nD\u{200b}x\n"), ["3 hidden-character"]);
}
