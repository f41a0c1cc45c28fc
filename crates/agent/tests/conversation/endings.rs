//! Turns that end early: time, output, ^C.

use std::time::Duration;

use brief_agent::conversation::{ConversationLimits, SystemClock, TurnEnding};
use brief_system::{Interruption, OsSystem};
use serde_json::json;

use super::harness::Trial;
use super::server::{Part, Script, calls, delta, send, stream_head, text};

fn limits(time: u64) -> ConversationLimits {
    ConversationLimits { time: Duration::from_millis(time), ..ConversationLimits::default() }
}

#[test]
fn a_server_that_says_nothing_has_its_time() {
    let clock = SystemClock(&OsSystem);
    for script in [vec![Part::Hold], vec![stream_head(), Part::Hold]] {
        let trial = Trial::new(vec![script]);
        let trial = Trial { limits: limits(300), clock: Some(&clock), ..trial };
        let outcome = trial.run();
        assert_eq!(outcome.result.unwrap().ending, TurnEnding::Time);
        assert_eq!(outcome.transcript.last().unwrap()["content"], "stopped: time limit reached");
    }
}

#[test]
fn a_server_that_drips_has_its_time_too() {
    let clock = SystemClock(&OsSystem);
    let mut script: Script = vec![stream_head()];
    for _ in 0..400 {
        script.push(delta(&json!({"content": "."})));
        script.push(Part::Wait(Duration::from_millis(50)));
    }
    let trial = Trial { limits: limits(3_000), clock: Some(&clock), ..Trial::new(vec![script]) };
    let outcome = trial.run();
    let turn = outcome.result.unwrap();
    assert_eq!(turn.ending, TurnEnding::Time);
    assert!(turn.text.starts_with('.') && turn.text == outcome.seen);
    let line = &outcome.transcript[2];
    assert_eq!((&line["content"], &line["partial"]), (&json!(turn.text), &json!(true)));
}

#[test]
fn a_model_that_never_stops_is_stopped() {
    let piece = |json: &serde_json::Value| {
        let Part::Send(bytes) = delta(json) else { panic!() };
        bytes
    };
    let limits = ConversationLimits { output: 50_000, ..ConversationLimits::default() };
    let endless = vec![stream_head(), Part::Forever(piece(&json!({"content": "la "})))];
    let outcome = Trial { limits, ..Trial::new(vec![endless]) }.run();
    let turn = outcome.result.unwrap();
    assert_eq!((turn.ending, turn.text.len()), (TurnEnding::Output, 50_000));
    assert_eq!(outcome.seen, turn.text);

    let call = json!({"tool_calls": [{"index": 0, "function": {"name": "add", "arguments": ""}}]});
    let more = json!({"tool_calls": [{"index": 0, "function": {"arguments": "xxxxxxxx"}}]});
    let endless = vec![stream_head(), delta(&call), Part::Forever(piece(&more))];
    let outcome = Trial { limits, ..Trial::new(vec![endless]) }.run();
    assert_eq!(outcome.result.unwrap().ending, TurnEnding::Output);
    assert!(outcome.calls.is_empty());

    // A line without an end, and JSON without an end.
    for start in ["data: ", "{\"choices\": ["] {
        let endless = vec![stream_head(), send(start), Part::Forever(vec![b' '; 4_096])];
        let outcome = Trial { limits, ..Trial::new(vec![endless]) }.run();
        assert_eq!(outcome.result.unwrap().ending, TurnEnding::Output);
    }
}

/// The output limit covers the whole turn, not each round.
#[test]
fn rounds_share_their_output() {
    let arguments = format!("{{\"a\": \"{}\"}}", "x".repeat(600));
    let limits = ConversationLimits { output: 1_000, ..ConversationLimits::default() };
    let script = vec![calls(&[("add", &arguments)])];
    let outcome = Trial { limits, ..Trial::new(script) }.run();
    let turn = outcome.result.unwrap();
    assert_eq!((turn.ending, turn.rounds), (TurnEnding::Output, 2));
}

#[test]
fn an_interruption_keeps_what_was_said() {
    let script = vec![stream_head(), delta(&json!({"content": "Once upon"})), Part::Hold];
    let trial = Trial { interrupt_at: Some("upon"), ..Trial::new(vec![script]) };
    let outcome = trial.run();
    let turn = outcome.result.unwrap();
    assert_eq!((turn.ending, turn.text.as_str()), (TurnEnding::Interrupted, "Once upon"));
    let [.., said, note] = outcome.transcript.as_slice() else { panic!() };
    assert_eq!((&said["content"], &said["partial"]), (&json!("Once upon"), &json!(true)));
    assert_eq!((&note["role"], &note["content"]), (&json!("note"), &json!("interrupted")));
}

#[test]
fn an_interruption_is_noticed_while_nothing_comes() {
    let interruption = Interruption::default();
    let script = vec![Part::Interrupt(interruption.clone()), Part::Hold];
    let trial = Trial { interruption, ..Trial::new(vec![script]) };
    let outcome = trial.run();
    assert_eq!(outcome.result.unwrap().ending, TurnEnding::Interrupted);
}

#[test]
fn nothing_is_called_after_an_interruption() {
    let script = vec![calls(&[("add", "{}"), ("boom", "{}")]), text("never")];
    let trial = Trial { interrupt_at: Some("[= 0]"), ..Trial::new(script) };
    let outcome = trial.run();
    assert_eq!(outcome.result.unwrap().ending, TurnEnding::Interrupted);
    assert_eq!((outcome.calls.len(), outcome.requests.len()), (1, 1));
    assert!(outcome.seen.ends_with("[! not called: interrupted]"), "{}", outcome.seen);
}
