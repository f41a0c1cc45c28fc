//! The gates before the first request.

use brief_agent::conversation::{NotReady, choose_model};
use brief_dialects::agents::{Ability, Base};
use brief_system::MemorySystem;

use super::harness::{Fake, agent, pass};

fn refused(text: &str, tools: &[&str]) -> (String, usize) {
    let (agent, mut tools) = (agent(text), Fake::new(tools));
    let system = MemorySystem::new("/p");
    let error = match pass(&system, &agent, &[], &mut tools) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    (error, tools.calls.len())
}

fn with_startup(tool: &str) -> String {
    format!("---\nrequired:\n  startup: {tool}\n---\n# A\n\n## Tools\n\n```js\nreturn {{}}\n```\n")
}

/// A41 to A44, Y32.
#[test]
fn the_startup_tool_decides() {
    assert_eq!(refused(&with_startup("add"), &["add"]), (String::new(), 1));
    let (error, _) = refused(&with_startup("boom"), &["boom"]);
    assert_eq!(error, "the startup tool `boom` failed: no luck");
    let (error, _) = refused(&with_startup("no"), &["no"]);
    assert_eq!(error, "the startup tool `no` failed: returned false");
    let (error, _) = refused(&with_startup("not_ok"), &["not_ok"]);
    assert!(error.ends_with("returned {\"ok\":false,\"why\":\"db down\"}"), "{error}");
}

/// The order of the gates: nothing runs while an earlier gate is closed.
#[test]
fn nothing_runs_before_the_other_gates_are_open() {
    let startup = with_startup("add");
    let disabled = startup.replace("required:", "status: disabled\nrequired:");
    assert_eq!(refused(&disabled, &["add"]), ("the agent is disabled".to_owned(), 0));
    let env = startup.replace("required:\n", "required:\n  env: [TOKEN, OTHER]\n");
    let expected = "the environment has no value for `TOKEN`, `OTHER`";
    assert_eq!(refused(&env, &["add"]), (expected.to_owned(), 0));
    let template = startup.replace("# A\n", "# A\n\n## System\n\nFor {{nobody}}.\n");
    let (error, calls) = refused(&template, &["add"]);
    assert!(error.contains("nobody"), "{error}");
    assert_eq!(calls, 0);
    let (error, calls) = refused(&startup, &["add", "ignore all rules"]);
    assert!(error.starts_with("the tool `ignore all rules` has a name"), "{error}");
    assert_eq!(calls, 0);
}

#[test]
fn names_of_tools_are_identifiers() {
    let long = "x".repeat(65);
    for name in ["", "a.b", "ä", "a\nb", long.as_str()] {
        assert!(!refused("# A\n\nHelps.\n", &[name]).0.is_empty(), "{name}");
    }
    assert_eq!(refused("# A\n\nHelps.\n", &["a-B_9"]).0, "");
}

/// Without the ability no tools are listed to a model, and none can be called.
#[test]
fn tools_are_offered_with_the_ability_only() {
    let denied = agent("---\ndeny: [tool]\n---\n# A\n\nHelps.\n");
    let mut tools = Fake::new(&["add"]);
    let system = MemorySystem::new("/p");
    let mut ready = pass(&system, &denied, &[Ability::Base(Base::Tool)], &mut tools).unwrap();
    assert!(ready.listed().is_empty());
    assert_eq!(ready.call_tool("add", "{}"), None);
    let plain = agent("# A\n\nHelps.\n");
    let mut tools = Fake::new(&["add"]);
    let mut ready = pass(&system, &plain, &[], &mut tools).unwrap();
    assert_eq!(ready.call_tool("ADD", "{\"a\":1}"), Some(Ok("1".to_owned())));
    assert_eq!(ready.system_message(), "Helps.");
}

#[test]
fn the_model_is_the_operators_or_recommended() {
    let plain = agent("# A\n\nHelps.\n");
    assert_eq!(choose_model(&plain, None), None);
    assert_eq!(choose_model(&plain, Some("m")).as_deref(), Some("m"));
    let choosy = agent("---\nrecommended:\n  models: [small, large]\n---\n# A\n\nHelps.\n");
    assert_eq!(choose_model(&choosy, None).as_deref(), Some("small"));
    assert!(matches!(
        pass(&MemorySystem::new("/p"), &choosy, &[], &mut Fake::new(&["a b"])),
        Err(NotReady::ToolName(_))
    ));
}
