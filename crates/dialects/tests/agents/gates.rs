//! The conditions of an agent's start: A14, A20, A81 to A83, Y9, Y34.

use brief_dialects::agents::{AgentRefusal, collect_refusals, missing_environment};

use super::support::{agent, headed, loaded, project, with_header};

/// A20, Y9: every name that has no value is told at once, and no value ever.
#[test]
fn missing_variables_are_told_at_once() {
    let agent = with_header("required: {env: [ONE, TWO, THREE, FOUR]}");
    let system = project().with_env("TWO", "secret").with_env("THREE", "");
    assert_eq!(missing_environment(&system, &agent), ["ONE", "THREE", "FOUR"]);
    let refusals = collect_refusals(&system, &agent);
    assert_eq!(refusals.len(), 1);
    assert_eq!(refusals[0].to_string(), "the environment has no value for `ONE`, `THREE`, `FOUR`");
}

/// Y34: a disabled agent is refused, a deprecated one is not.
#[test]
fn a_disabled_agent_does_not_start() {
    assert_eq!(
        collect_refusals(&project(), &with_header("status: disabled")),
        [AgentRefusal::Disabled]
    );
    assert_eq!(collect_refusals(&project(), &with_header("status: deprecated")), []);
    assert_eq!(collect_refusals(&project(), &agent("# T\n")), []);
}

/// A81, A82: an agent with an error is not handed out.
#[test]
fn an_agent_with_an_error_is_not_handed_out() {
    for header in ["status: x", "allow: [x]", "commands: [./nope.md]", "tools: []", "title: Other"]
    {
        let loaded = loaded(&headed(header));
        assert!(loaded.agent().is_none() && !loaded.is_valid(), "{header}");
    }
}

/// A83, G3: the same bytes give the same result, in any directory and locale.
#[test]
fn loading_is_deterministic() {
    let text = headed("input: {b: 1, a: 2}\nallow: [sh, fs]\nrequired: {env: [B, A]}");
    let first = loaded(&text);
    let system =
        project().with_file("/elsewhere/agents/dev_x.agent.md", &text).with_env("LANG", "tr_TR");
    let second = super::support::loaded_from(&system, "/elsewhere/agents/dev_x.agent.md");
    let shown = |loaded: &brief_dialects::agents::Loaded| {
        let agent = loaded.agent().unwrap();
        serde_json::to_string(&brief_dialects::agents::AgentView::new(agent, &[])).unwrap()
    };
    assert_eq!(shown(&first), shown(&second));
}
