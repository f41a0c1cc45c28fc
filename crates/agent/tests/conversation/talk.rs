//! The messages on the wire, and the history of a conversation.

use std::path::Path;
use std::sync::Arc;

use brief_agent::conversation::{
    Connections, Conversation, ConversationLimits, ConversationSettings, Endpoint, Http,
    LineSource, ModelAnswer, ModelTransport, Post, Transcript, TransportError, Turn, TurnEnding,
    TurnError, TurnEvent, run_interactive,
};
use brief_system::Interruption;
use serde_json::{Value as Json, json};

use super::harness::{Fake, KEY, TestClock, Trial, agent, lines, pass, show, system};
use super::server::{
    Part, Server, delta, done, event, finish, json_answer, send, stream_head, text,
};

#[test]
fn a_streamed_answer() {
    let outcome = Trial::new(vec![text("Hello, you there! ünïcödé 🤖")]).run();
    let turn = outcome.result.unwrap();
    assert_eq!(turn.text, "Hello, you there! ünïcödé 🤖");
    assert_eq!((turn.ending, turn.rounds), (TurnEnding::Answered, 1));
    assert_eq!(outcome.seen, turn.text);
    let [request] = outcome.requests.as_slice() else { panic!("{:?}", outcome.requests) };
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.body["model"], "small");
    assert_eq!(request.body["stream"], true);
    assert_eq!(request.body["tools"][0]["type"], "function");
    assert_eq!(request.body["tools"][0]["function"]["name"], "add");
    assert_eq!(
        request.messages(),
        [
            json!({"role": "system", "content": "You help.\n\n## Rules\n\nBe brief."}),
            json!({"role": "user", "content": "hi"}),
        ]
    );
}

#[test]
fn bytes_arrive_in_any_pieces() {
    let whole: Vec<u8> = text("Grüße 🤖")
        .into_iter()
        .skip(1)
        .flat_map(|part| if let Part::Send(bytes) = part { bytes } else { Vec::new() })
        .collect();
    let mut script = vec![stream_head()];
    script.extend(whole.chunks(1).map(|byte| Part::Send(byte.to_vec())));
    assert_eq!(Trial::new(vec![script]).run().result.unwrap().text, "Grüße 🤖");
}

#[test]
fn an_answer_without_a_stream() {
    let answer = json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6},
    });
    let outcome = Trial::new(vec![json_answer("200 OK", &[], &answer)]).run();
    let turn = outcome.result.unwrap();
    assert_eq!((turn.text.as_str(), turn.ending), ("Hello", TurnEnding::Answered));
    assert_eq!((turn.usage.prompt_tokens, turn.usage.completion_tokens), (5, 1));
    assert_eq!(outcome.seen, "Hello");
}

#[test]
fn a_stream_without_a_last_word_ends_with_its_reason() {
    let script = vec![stream_head(), delta(&json!({"content": "Hello"})), finish("stop")];
    assert_eq!(Trial::new(vec![script]).run().result.unwrap().ending, TurnEnding::Answered);
}

#[test]
fn an_answer_in_chunks() {
    let chunk = |text: &str| send(&format!("{:x}\r\n{text}\r\n", text.len()));
    let script = vec![
        send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"),
        chunk("data: {\"choices\":[{\"delta\""),
        chunk(":{\"content\":\"Hello\"}}]}\n"),
        chunk("\ndata: [DONE]\n\n"),
        send("0\r\n\r\n"),
    ];
    let outcome = Trial::new(vec![script]).run();
    assert_eq!(outcome.result.unwrap().text, "Hello");
}

#[test]
fn what_ends_an_answer_is_told() {
    for (reason, ending) in [("length", TurnEnding::Cut), ("content_filter", TurnEnding::Filtered)]
    {
        let script = vec![stream_head(), delta(&json!({"content": "He"})), finish(reason), done()];
        let outcome = Trial::new(vec![script]).run();
        assert_eq!(outcome.result.unwrap().ending, ending);
        assert_eq!(outcome.transcript.last().unwrap()["role"], "note");
    }
    let outcome = Trial::new(vec![vec![stream_head(), finish("stop"), done()]]).run();
    assert_eq!(outcome.seen, "[note: the model returned no text]");
}

/// Some servers refuse a request with an unknown field.
#[test]
fn a_server_that_does_not_count_is_not_asked_to() {
    let refusal = json!({"detail": [{"loc": ["body", "stream_options"], "msg": "extra"}]});
    let script = vec![json_answer("422 Unprocessable", &[], &refusal), text("fine")];
    let outcome = Trial::new(script).run();
    assert_eq!(outcome.result.unwrap().text, "fine");
    assert_eq!(outcome.requests[0].body["stream_options"], json!({"include_usage": true}));
    assert_eq!(outcome.requests[1].body.get("stream_options"), None);
}

#[test]
fn the_transcript_holds_what_was_said() {
    let usage =
        event(&json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}));
    let script =
        vec![stream_head(), delta(&json!({"content": "Hello"})), finish("stop"), usage, done()];
    let outcome = Trial::new(vec![script]).run();
    let line = |role: &str, content: &str| {
        json!({"role": role, "content": content, "tool_calls": [], "tool_call_id": null, "name": null,
               "is_error": false, "finish_reason": null, "usage": null, "partial": false})
    };
    let mut answer = line("assistant", "Hello");
    answer["finish_reason"] = json!("stop");
    answer["usage"] = json!({"prompt_tokens": 7, "completion_tokens": 2});
    let system = line("system", "You help.\n\n## Rules\n\nBe brief.");
    assert_eq!(outcome.transcript, [system, line("user", "hi"), answer]);
}

/// A user at a terminal, with prepared lines.
struct Typed {
    lines: std::vec::IntoIter<&'static str>,
    turns: Vec<Result<Turn, TurnError>>,
}

impl LineSource for Typed {
    fn next_line(&mut self) -> std::io::Result<Option<String>> {
        Ok(self.lines.next().map(str::to_owned))
    }

    fn turn_over(&mut self, turn: &Result<Turn, TurnError>) {
        self.turns.push(turn.clone());
    }
}

#[test]
fn a_conversation_goes_on() {
    let server = Server::start(vec![
        text("one"),
        json_answer("400 Bad Request", &[], &json!({"error": {"message": "no"}})),
        text("two"),
        text("three"),
    ]);
    let system = system(&server.base);
    let agent = agent(
        "---\ncommands:\n  - name: test\n    description: Writes tests\n    argument-hint: \"[a] [b]\"\n    \
         body: Test $1 with $2.\n---\n# A\n\nHelps.\n",
    );
    let mut tools = Fake::new(&[]);
    let ready = pass(&system, &agent, &[], &mut tools).unwrap();
    let endpoint = Endpoint::from_environment(&system).unwrap();
    let transcript = Transcript::open(&system, Path::new("t.jsonl"), &endpoint).unwrap();
    let clock = TestClock::default();
    let means = Connections {
        transport: Arc::new(Http::new(&endpoint).unwrap()),
        endpoint,
        clock: &clock,
        interruption: Interruption::default(),
    };
    let settings =
        ConversationSettings { model: "m".to_owned(), limits: ConversationLimits::default() };
    let mut conversation = Conversation::new(ready, means, settings, Some(transcript)).unwrap();
    let lines_typed = vec![
        "hello",
        "",
        "/help",
        "bad",
        "/test parse",
        "/test parse jest",
        "bye",
        "/quit",
        "never",
    ];
    let mut typed = Typed { lines: lines_typed.into_iter(), turns: Vec::new() };
    let mut seen = String::new();
    let ending =
        run_interactive(&mut conversation, &mut typed, &mut |event| show(&mut seen, event));
    assert_eq!(ending.unwrap(), TurnEnding::Answered);
    assert!(seen.contains("/test [a] [b]  Writes tests"), "{seen}");
    assert!(seen.contains("the command `test` needs `$2`"), "{seen}");
    assert_eq!(typed.turns.iter().filter(|turn| turn.is_ok()).count(), 3);
    let requests = server.requests();
    assert_eq!(requests[0].body.get("tools"), None);
    // The failed message is dropped: two messages of the user never follow each other.
    let said: Vec<&str> =
        requests[3].messages().iter().filter_map(|message| message["content"].as_str()).collect();
    assert_eq!(said, ["Helps.", "hello", "one", "Test parse with jest.", "two", "bye"]);
    drop(conversation);
    let roles: Vec<Json> = lines(&system).into_iter().map(|line| line["role"].clone()).collect();
    let expected =
        ["system", "user", "assistant", "user", "note", "user", "assistant", "user", "assistant"];
    assert_eq!(roles, expected);
}

/// A server in memory that answers every request with the same bytes.
struct Same(Vec<u8>, u16);

impl ModelTransport for Same {
    fn post(&self, _: &Post) -> Result<ModelAnswer, TransportError> {
        Ok(ModelAnswer {
            status: self.1,
            content_type: String::new(),
            retry_after: None,
            body: Box::new(std::io::Cursor::new(self.0.clone())),
        })
    }
}

/// For any answer of a server, a turn ends, and the user has seen the model's text.
#[test]
fn any_answer_comes_to_an_end() {
    let agent = agent("# A\n\nHelps.\n");
    let system = system("http://localhost/v1");
    arbtest::arbtest(|u| {
        let words: [&[u8]; 12] = [
            b"data: ", b"\n\n", b"\n", b"[DONE]", b"{\"choices\":[{\"delta\":", b"{\"content\":\"x\"}",
            b"}]}", b"{\"error\":\"no\"}", b"{", b"}",
            b"{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"add\",\"arguments\":\"{}\"}}]}",
            b",\"finish_reason\":\"stop\"",
        ];
        let mut bytes = Vec::new();
        while !u.is_empty() && bytes.len() < 400 {
            if u.ratio(9, 10)? {
                bytes.extend_from_slice(u.choose(&words)?);
            } else {
                bytes.push(u.arbitrary()?);
            }
        }
        let status = *u.choose(&[200, 200, 200, 400, 500])?;
        let mut tools = Fake::new(&["add"]);
        let ready = pass(&system, &agent, &[], &mut tools).unwrap();
        let clock = TestClock::default();
        let means = Connections {
            transport: Arc::new(Same(bytes, status)),
            endpoint: Endpoint::from_environment(&system).unwrap(),
            clock: &clock,
            interruption: Interruption::default(),
        };
        let limits = ConversationLimits { rounds: 3, ..ConversationLimits::default() };
        let settings = ConversationSettings { model: "m".to_owned(), limits };
        let mut conversation = Conversation::new(ready, means, settings, None).unwrap();
        let mut seen = String::new();
        let turn = conversation.send_message("hi", &mut |event| {
            if let TurnEvent::Text(text) = event {
                seen.push_str(text);
            }
        });
        if let Ok(turn) = turn {
            assert!(seen.ends_with(&turn.text));
        }
        Ok(())
    })
    .budget_ms(2_000);
}
