//! The JSON that other programs rely on.

use brief_dialects::agents::{AgentValue, AgentView, Scheme};
use serde_json::json;

use super::support::{agent, with_agent};

/// The interface: fields in a fixed order, none missing.
#[test]
fn every_field_is_there_in_its_order() {
    let json = serde_json::to_string(&AgentView::new(&agent("# T\nD\n"), &[])).unwrap();
    assert_eq!(
        json,
        r#"{"version":"0.1.0","icon":"🤖","title":"T","description":"D","status":"active","templateEngine":"hbs","input":"","recommended":{"models":[],"capabilities":[]},"required":{"env":[],"startup":null},"commands":[],"system":"D","rules":"","avatar":"","abilities":{"allow":[],"deny":[]},"tools":{}}"#
    );
}

/// Commands are shown with where they come from; what was not fetched is an address alone.
#[test]
fn commands_and_tools_are_shown() {
    let text = "---\ninput: {b: 1, a: x}\ncommands:\n  - {name: c, description: d, body: b, argument-hint: [x]}\n  - f.md\n  - https://example.com/x.md\nrequired: {startup: Ping}\nallow: [Tool, sh:Git]\ndeny: [FS]\n---\n# T\n\n## Tools\nreturn {};\n";
    let system = with_agent(text).with_file("agents/f.md", "F");
    let loaded = super::support::loaded_from(&system, super::support::PATH);
    let agent = loaded.agent().unwrap();
    let tools = [Scheme {
        name: "ping".to_owned(),
        description: "d".to_owned(),
        parameters: json!({"type": "object"}),
    }];
    let value = serde_json::to_value(AgentView::new(agent, &tools)).unwrap();
    assert_eq!(value["input"], json!({"b": 1, "a": "x"}));
    assert_eq!(value["required"]["startup"], "Ping");
    assert_eq!(value["abilities"], json!({"allow": ["tool", "sh:Git"], "deny": ["fs"]}));
    assert_eq!(
        value["commands"],
        json!([
            {"name": "c", "description": "d", "argument-hint": ["x"], "body": "b", "source": null, "state": null},
            {"name": "f", "description": "F", "argument-hint": null, "body": "F", "source": "/p/agents/f.md", "state": null},
            {"name": null, "description": null, "argument-hint": null, "body": null, "source": "https://example.com/x.md", "state": "unresolved"},
        ])
    );
    assert_eq!(
        value["tools"],
        json!({"ping": {"name": "ping", "description": "d", "parameters": {"type": "object"}}})
    );
}

/// `--render` shows what a model would be told, with the input that was given.
#[test]
fn rendered_texts_can_be_shown() {
    let agent =
        agent("---\ninput: own\n---\n# T\n\n## System\nS {{input}}\n\n## Rules\nR {{input}}\n");
    let input = AgentValue::Text("given".to_owned());
    let rendered = agent.render(Some(&input)).unwrap();
    let view = AgentView::new(&agent, &[]).with_rendered(&rendered, Some(&input));
    let value = serde_json::to_value(view).unwrap();
    assert_eq!(
        (&value["system"], &value["rules"], &value["input"]),
        (&json!("S given"), &json!("R given"), &json!("given"))
    );
}
