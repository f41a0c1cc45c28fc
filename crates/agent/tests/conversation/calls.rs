//! Tools that a model calls.

use brief_agent::conversation::{ConversationLimits, TurnEnding};
use serde_json::{Value as Json, json};

use super::harness::Trial;
use super::server::{calls, json_answer, text};

/// One call in other letter case, one that fails, one of an unknown tool.
#[test]
fn three_calls_in_one_turn() {
    let script = vec![
        calls(&[
            ("ADD", "{\"a\": 2, \"b\": 3}"),
            ("boom", "{}"),
            ("teleport", "{\"to\": \"moon\"}"),
        ]),
        text("five"),
    ];
    let outcome = Trial::new(script).run();
    let turn = outcome.result.unwrap();
    assert_eq!((turn.text.as_str(), turn.rounds), ("five", 2));
    let expected = [("add", "{\"a\": 2, \"b\": 3}"), ("boom", "{}")];
    assert_eq!(outcome.calls, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    let messages = outcome.requests[1].messages();
    let unknown = "unknown tool `teleport`; available tools: `add`, `boom`, `much`, `leak`";
    assert_eq!(
        messages[2..],
        [
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "id0", "type": "function", "function": {"name": "ADD", "arguments": "{\"a\": 2, \"b\": 3}"}},
                {"id": "id1", "type": "function", "function": {"name": "boom", "arguments": "{}"}},
                {"id": "id2", "type": "function", "function": {"name": "teleport", "arguments": "{\"to\": \"moon\"}"}},
            ]}),
            json!({"role": "tool", "tool_call_id": "id0", "content": "5"}),
            json!({"role": "tool", "tool_call_id": "id1", "content": "{\"error\":\"no luck\"}"}),
            json!({"role": "tool", "tool_call_id": "id2", "content": json!({"error": unknown}).to_string()}),
        ]
    );
    let expected = format!(
        "[ADD {{\"a\": 2, \"b\": 3}}][= 5][boom {{}}][! no luck][teleport {{\"to\": \"moon\"}}][! {unknown}]five"
    );
    assert_eq!(outcome.seen, expected);
    let answers: Vec<&Json> =
        outcome.transcript.iter().filter(|line| line["role"] == "tool").collect();
    assert_eq!(answers[0]["content"], "5");
    assert_eq!((&answers[1]["is_error"], &answers[1]["name"]), (&json!(true), &json!("boom")));
    assert_eq!(answers[2]["tool_call_id"], "id2");
}

#[test]
fn calls_in_an_answer_without_a_stream() {
    let call =
        json!({"type": "function", "function": {"name": "add", "arguments": {"a": 1, "b": 1}}});
    let answer = json!({"choices": [{"message": {"content": "", "tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let outcome = Trial::new(vec![json_answer("200 OK", &[], &answer), text("two")]).run();
    assert_eq!(outcome.result.unwrap().text, "two");
    assert_eq!(outcome.requests[1].messages()[3]["tool_call_id"], "call_0");
    assert_eq!(outcome.requests[1].messages()[3]["content"], "2");
}

#[test]
fn arguments_that_are_left_out_are_none() {
    let outcome = Trial::new(vec![calls(&[("add", "")]), text("zero")]).run();
    assert_eq!(outcome.calls, [("add".to_owned(), "{}".to_owned())]);
}

#[test]
fn arguments_that_are_no_json_are_the_tools_business() {
    let outcome = Trial::new(vec![calls(&[("add", "{\"a\":")]), text("sorry")]).run();
    let content = outcome.requests[1].messages()[3]["content"].as_str().unwrap().to_owned();
    assert!(content.starts_with("{\"error\":"), "{content}");
}

#[test]
fn a_long_result_is_cut() {
    let outcome = Trial::new(vec![calls(&[("much", "{}")]), text("much")]).run();
    let content = outcome.requests[1].messages()[3]["content"].as_str().unwrap().to_owned();
    assert!(content.ends_with("x\n[truncated: more than 65536 bytes]"));
    assert!(content.len() < 65_600);
}

/// The harness asserts that the key is in no transcript.
#[test]
fn a_key_that_a_tool_says_goes_nowhere() {
    let outcome = Trial::new(vec![calls(&[("leak", "{}")]), text("ok")]).run();
    let answer = outcome.transcript.iter().find(|line| line["role"] == "tool").unwrap();
    assert_eq!(answer["content"], "the key is …");
    assert_eq!(outcome.requests[1].messages()[3]["content"], "the key is …");
    assert!(outcome.seen.contains("[= the key is …]"), "{}", outcome.seen);
}

#[test]
fn the_same_call_is_made_three_times_at_most() {
    let same = || calls(&[("add", "{\"a\": 1}")]);
    let outcome = Trial::new(vec![same(), same(), same(), same(), text("enough")]).run();
    assert_eq!(outcome.result.unwrap().text, "enough");
    assert_eq!(outcome.calls.len(), 3);
    let told =
        outcome.requests[4].messages().last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(told.contains("not called: you already made this call 3 times"), "{told}");

    let outcome = Trial::new(vec![same()]).run();
    let turn = outcome.result.unwrap();
    assert_eq!((turn.ending, turn.rounds), (TurnEnding::Repeating, 5));
    assert_eq!(outcome.calls.len(), 3);
    assert_eq!(outcome.requests.len(), 5);
    let note = outcome.transcript.last().unwrap();
    assert_eq!(note["content"], "stopped: the model kept repeating the same call");
}

#[test]
fn rounds_have_a_limit_and_the_last_calls_are_not_made() {
    let script = (0..20).map(|round| calls(&[("add", &format!("{{\"a\": {round}}}"))])).collect();
    let limits = ConversationLimits { rounds: 4, ..ConversationLimits::default() };
    let outcome = Trial { limits, ..Trial::new(script) }.run();
    let turn = outcome.result.unwrap();
    assert_eq!((turn.ending, turn.rounds), (TurnEnding::Rounds, 4));
    assert_eq!((outcome.requests.len(), outcome.calls.len()), (4, 3));
    assert!(outcome.seen.ends_with("[! not called: stopped: too many rounds of tool calls]"));
}
