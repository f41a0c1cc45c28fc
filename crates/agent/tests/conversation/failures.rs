//! Failing servers, and the retries.

use std::net::TcpListener;
use std::time::Duration;

use brief_agent::conversation::{TurnEnding, TurnError};
use serde_json::json;

use super::harness::{KEY, Trial};
use super::server::{Script, delta, done, head, json_answer, send, stream_head, text};

fn refusal(status: &str, headers: &[&str]) -> Script {
    json_answer(status, headers, &json!({"error": {"message": "slow down"}}))
}

#[test]
fn too_many_requests_wait_as_long_as_the_server_asks() {
    let script = vec![
        refusal("429 Too Many Requests", &["retry-after: 7"]),
        refusal("503 Busy", &[]),
        text("ok"),
    ];
    let outcome = Trial::new(script).run();
    assert_eq!(outcome.result.unwrap().text, "ok");
    assert_eq!(outcome.slept, Duration::from_secs(7 + 2));
    assert_eq!(outcome.requests.len(), 3);
    assert_eq!(
        outcome.seen,
        "[note: the server answered with status 429: slow down; retrying in 7 s]\
         [note: the server answered with status 503: slow down; retrying in 2 s]ok"
    );
}

#[test]
fn tries_have_an_end() {
    let outcome = Trial::new(vec![refusal("500 Oh", &[])]).run();
    let error = outcome.result.unwrap_err();
    assert_eq!(error.to_string(), "the server answered with status 500: slow down");
    assert_eq!(outcome.requests.len(), 5);
    assert_eq!(outcome.slept, Duration::from_secs(1 + 2 + 4 + 8));
    assert_eq!(outcome.transcript.last().unwrap()["content"], error.to_string());
}

#[test]
fn what_does_not_pass_is_not_tried_again() {
    let quota = json!({"error": {"message": "no money", "code": "insufficient_quota"}});
    for script in [
        json_answer("429 Too Many Requests", &[], &quota),
        refusal("429 Too Many Requests", &["retry-after: 3600"]),
        refusal("401 Unauthorized", &[]),
        refusal("404 Not Found", &[]),
    ] {
        let outcome = Trial::new(vec![script]).run();
        assert!(matches!(outcome.result, Err(TurnError::Status { .. })));
        assert_eq!((outcome.requests.len(), outcome.slept), (1, Duration::ZERO));
    }
}

#[test]
fn a_server_that_repeats_the_key_does_not_make_us_repeat_it() {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}.")}});
    let outcome = Trial::new(vec![json_answer("401 Unauthorized", &[], &body)]).run();
    let error = outcome.result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server answered with status 401: Incorrect API key provided: …."
    );
    assert_eq!(error.help(), Some("check `OPENAI_API_KEY`"));
}

#[test]
fn complaints_come_in_many_forms() {
    for (body, expected) in [
        ("{\"error\":\"model not found\"}", "model not found"),
        ("{\"detail\":\"Not Found\"}", "Not Found"),
        ("{\"message\":\"bad\"}", "bad"),
        ("upstream is gone", "upstream is gone"),
        ("", "no reason given"),
    ] {
        let outcome = Trial::new(vec![vec![head("400 Bad", &[]), send(body)]]).run();
        let message = outcome.result.unwrap_err().to_string();
        assert_eq!(message, format!("the server answered with status 400: {expected}"));
    }
}

#[test]
fn a_stream_that_breaks_after_text_is_an_error() {
    let cut = vec![stream_head(), delta(&json!({"content": "Half an ans"}))];
    let outcome = Trial::new(vec![cut, text("never")]).run();
    let error = outcome.result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the answer was cut off: the connection closed before the end of the reply"
    );
    assert_eq!((outcome.requests.len(), outcome.seen.as_str()), (1, "Half an ans"));
    assert_eq!(outcome.transcript[2]["partial"], true);
}

#[test]
fn a_stream_that_breaks_before_text_is_tried_again() {
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "add", "arguments": "{"}}]});
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\ndata: {\"cho";
    for cut in [
        vec![],
        vec![stream_head()],
        vec![stream_head(), delta(&json!({"role": "assistant"}))],
        vec![stream_head(), delta(&call)],
        vec![stream_head(), send("data: {\"choi")],
        vec![send(chunked)],
        vec![head("200 OK", &["content-type: application/json"]), send("{\"choices\": [")],
    ] {
        let outcome = Trial::new(vec![cut.clone(), text("ok")]).run();
        let turn = outcome.result.unwrap_or_else(|error| panic!("{error} {cut:?}"));
        assert_eq!((turn.text.as_str(), turn.ending), ("ok", TurnEnding::Answered));
        assert_eq!(outcome.requests.len(), 2);
        assert!(outcome.calls.is_empty());
    }
}

#[test]
fn garbage_is_no_chat_completion() {
    for (script, expected) in [
        (vec![stream_head(), send("data: {bad\n\n"), done()], "an event is not JSON: {bad"),
        (vec![stream_head(), send("data: [1]\n\n"), done()], "an event is not an object"),
        (
            vec![head("200 OK", &["content-type: text/html; charset=utf-8"]), send("<html>")],
            "got a web page",
        ),
        (json_answer("200 OK", &[], &json!({"hello": "world"})), "missing `choices`"),
    ] {
        let outcome = Trial::new(vec![script]).run();
        let message = outcome.result.unwrap_err().to_string();
        assert_eq!(message, format!("the answer is not a chat completion: {expected}"));
        assert_eq!(outcome.requests.len(), 1);
    }
}

#[test]
fn failures_inside_a_stream_are_reported() {
    let inside = json!({"error": {"message": format!("out of memory near {KEY}"), "code": 500}});
    for event in [format!("data: {inside}\n\n"), format!("event: error\ndata: {inside}\n\n")] {
        let script = vec![stream_head(), delta(&json!({"content": "He"})), send(&event)];
        let outcome = Trial::new(vec![script]).run();
        let message = outcome.result.unwrap_err().to_string();
        assert_eq!(message, "the server reported an error: out of memory near …");
    }
}

#[test]
fn nobody_there() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let outcome = Trial::new(vec![]).run_at(&base);
    let error = outcome.result.unwrap_err();
    assert!(matches!(error, TurnError::Unreachable(_)), "{error:?}");
    assert_eq!(outcome.slept, Duration::from_secs(15));
    // An unanswered message is not part of the conversation, but of its transcript.
    assert_eq!(outcome.transcript[1]["content"], "hi");
}

/// The key is for the server that the operator named.
#[test]
fn nothing_is_followed_elsewhere() {
    let elsewhere = super::server::Server::start(vec![text("stolen")]);
    let location = format!("location: {}/chat/completions", elsewhere.base);
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let outcome = Trial::new(vec![vec![head(status, &[&location])]]).run();
        let error = outcome.result.unwrap_err();
        assert!(matches!(error, TurnError::Status { .. }), "{error:?}");
    }
    assert!(elsewhere.requests().is_empty());
}
