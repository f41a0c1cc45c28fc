//! MCP servers elsewhere: streamable HTTP, the older event stream, and servers that do harm.

mod stub;

use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use brief_mcp_client::{
    ConfiguredServers, McpConnection, RemoteProtocol, RemoteServer, ServerAddress,
};
use brief_system::{Interruption, Machine as _, OsSystem, System};
use brief_testkit::wait_until;
use serde_json::{Value as Json, json};

use stub::{Received, Stub, event, events, head, plain};

const LONG: Duration = brief_testkit::PATIENCE;

/// Keeps a connection open until the client leaves.
fn hold(stream: &mut std::net::TcpStream) -> std::io::Result<()> {
    std::io::copy(stream, &mut std::io::sink()).map(drop)
}

fn remote(url: &str, protocol: RemoteProtocol) -> ServerAddress {
    let headers = vec![
        ("Authorization".to_owned(), "Bearer t".to_owned()),
        ("Content-Type".to_owned(), "text/plain".to_owned()),
    ];
    ServerAddress::Remote(RemoteServer { url: url.to_owned(), headers, protocol })
}

fn connect(stub: &Stub, protocol: RemoteProtocol) -> Result<McpConnection, String> {
    connect_for(stub, protocol, LONG)
}

fn connect_for(
    stub: &Stub,
    protocol: RemoteProtocol,
    patience: Duration,
) -> Result<McpConnection, String> {
    let system: Arc<dyn System> = Arc::new(OsSystem);
    let address = remote(&stub.url, protocol);
    let stop = Interruption::default();
    McpConnection::start(&system, Path::new("/"), ("far", &address), patience, &stop)
}

fn call(server: &mut McpConnection, arguments: &Json, patience: Duration) -> Result<Json, String> {
    let params = json!({"name": "echo", "arguments": arguments});
    server.send_request("tools/call", &params, OsSystem.elapsed() + patience)?
}

/// 2025-06-18, transports: the session and the revision go with every later request, and a client that leaves ends its
/// session. The operator's fields are sent, but for those of the protocol.
#[test]
fn a_session_over_http() {
    let stub = Stub::start(|request, stream| match request.asks() {
        "initialize" => plain(request, stream, &["mcp-session-id: s-1"]),
        _ => plain(request, stream, &[]),
    });
    let mut server = connect(&stub, RemoteProtocol::Http).unwrap();
    let tools = server.read_list("tools/list", "tools", LONG).unwrap();
    assert_eq!(tools[0]["name"], "echo");
    let result = call(&mut server, &json!({"a": 1}), LONG).unwrap();
    assert_eq!(result["content"][0]["text"], "{\"a\":1}");
    drop(server);
    let received = stub.received();
    let asked: Vec<&str> = received.iter().map(Received::asks).collect();
    assert_eq!(
        asked,
        [
            "server/discover",
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/call",
            "DELETE"
        ]
    );
    for (index, request) in received.iter().enumerate() {
        assert_eq!(request.header("authorization"), Some("Bearer t"));
        let (session, revision) = match index {
            // The question for the newest revision, and the introduction of older ones.
            0 => (None, Some("2026-07-28")),
            1 => (None, None),
            _ => (Some("s-1"), Some("2025-06-18")),
        };
        assert_eq!(request.header("mcp-session-id"), session, "{index}");
        assert_eq!(request.header("mcp-protocol-version"), revision, "{index}");
    }
    for request in &received[..5] {
        assert_eq!(request.header("content-type"), Some("application/json"));
        let accepted = request.header("accept").unwrap();
        assert!(accepted.contains("application/json") && accepted.contains("text/event-stream"));
    }
    assert_eq!(received[4].header("mcp-name"), Some("echo"));
}

/// An answer may be a stream, with other messages before it. A request of the server is refused.
#[test]
fn answers_come_as_events() {
    let stub = Stub::start(|request, stream| {
        if request.asks() != "tools/call" {
            return plain(request, stream, &[]);
        }
        events(stream)?;
        event(stream, "message", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}")?;
        event(stream, "message", "{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"roots/list\"}")?;
        event(stream, "message", "not JSON")?;
        event(stream, "message", &request.answer().to_string())?;
        // It stays open: a client does not wait for its end.
        hold(stream)
    });
    let mut server = connect(&stub, RemoteProtocol::Http).unwrap();
    let result = call(&mut server, &json!({}), LONG).unwrap();
    assert_eq!(result["content"][0]["text"], "{}");
    let refused = stub.received().into_iter().find(|request| request.message["id"] == 77).unwrap();
    assert_eq!(refused.message["error"]["code"], -32601);
}

/// Notifications come by a stream of their own.
#[test]
fn changes_are_heard() {
    let (change, changes) = channel::<()>();
    let changes = Mutex::new(changes);
    let stub = Stub::start(move |request, stream| {
        if request.method != "GET" {
            return plain(request, stream, &[]);
        }
        events(stream)?;
        let _ = changes.lock().unwrap().recv_timeout(LONG);
        event(
            stream,
            "message",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}",
        )?;
        hold(stream)
    });
    let mut server = connect(&stub, RemoteProtocol::Http).unwrap();
    assert!(server.collect_notifications(Duration::from_millis(10)).unwrap().is_empty());
    change.send(()).unwrap();
    wait_until("the change is heard", || {
        server.collect_notifications(Duration::from_millis(20)).unwrap()
            == ["notifications/tools/list_changed"]
    });
}

/// A server with the event stream of 2024-11-05: messages go where it says, answers come by the stream.
fn event_stream(endpoint: &'static str) -> Stub {
    let stream_to: Mutex<Option<Sender<String>>> = Mutex::new(None);
    Stub::start(move |request, stream| {
        if request.method == "GET" {
            let (sender, answers) = channel();
            *stream_to.lock().unwrap() = Some(sender);
            events(stream)?;
            event(stream, "endpoint", endpoint)?;
            while let Ok(answer) = answers.recv_timeout(LONG) {
                event(stream, "message", &answer)?;
            }
            return Ok(());
        }
        if request.path == "/mcp" {
            return head(stream, 405, &[]);
        }
        if request.message.get("id").is_some() {
            let to = stream_to.lock().unwrap();
            to.as_ref().unwrap().send(request.answer().to_string()).unwrap();
        }
        head(stream, 202, &[])
    })
}

#[test]
fn the_older_event_stream_works() {
    for protocol in [RemoteProtocol::Sse, RemoteProtocol::Either] {
        let stub = event_stream("/messages?session=1");
        let mut server = connect(&stub, protocol).unwrap();
        assert_eq!(server.read_list("tools/list", "tools", LONG).unwrap()[0]["name"], "echo");
        let result = call(&mut server, &json!({"b": 2}), LONG).unwrap();
        assert_eq!(result["content"][0]["text"], "{\"b\":2}");
        let asked = stub.received();
        assert!(asked.iter().all(|request| request.header("authorization") == Some("Bearer t")));
    }
    let stub = event_stream("http://localhost.example/messages");
    let refused = connect(&stub, RemoteProtocol::Sse).err().unwrap();
    assert!(refused.contains("an address on another host"), "{refused}");
}

/// 2026-07-28 has no introduction: a server of that revision alone is asked who it is, and each request carries ours.
#[test]
fn a_server_of_the_newest_revision_alone() {
    let refused = std::sync::atomic::AtomicBool::new(false);
    let stub = Stub::start(move |request, stream| {
        let version = "io.modelcontextprotocol/protocolVersion";
        assert_eq!(request.message["params"]["_meta"][version], "2026-07-28");
        assert_eq!(request.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(request.header("mcp-method"), Some(request.asks()));
        let answer = |key: &str, value: Json| {
            json!({"jsonrpc": "2.0", "id": request.message["id"], key: value}).to_string()
        };
        // A server that refuses and names the revision itself is asked again.
        if !refused.swap(true, std::sync::atomic::Ordering::Relaxed) {
            let error = json!({"code": -32022, "message": "unsupported version",
                "data": {"supported": ["2026-07-28"]}});
            head(stream, 400, &["content-type: application/json"])?;
            return stream.write_all(answer("error", error).as_bytes());
        }
        if request.asks() == "server/discover" {
            head(stream, 200, &["content-type: application/json"])?;
            return stream.write_all(
                answer("result", json!({"supportedVersions": ["2026-07-28"]})).as_bytes(),
            );
        }
        plain(request, stream, &[])
    });
    let mut server = connect(&stub, RemoteProtocol::Http).unwrap();
    let result = call(&mut server, &json!({}), LONG).unwrap();
    assert_eq!(result["content"][0]["text"], "{}");
    let asked: Vec<String> =
        stub.received().iter().map(|request| request.asks().to_owned()).collect();
    assert_eq!(asked, ["server/discover", "server/discover", "tools/call"]);
}

/// SEP-1699: a server may end a stream before its answer; the client waits as long as `retry` says, and goes on after
/// the last event.
#[test]
fn a_stream_is_resumed() {
    let stub = Stub::start(|request, stream| match request.asks() {
        "tools/call" => {
            events(stream)?;
            write!(stream, "id: e-1\nretry: 300\ndata: \n\n")
        }
        "GET" => {
            events(stream)?;
            if request.header("last-event-id") == Some("e-1") {
                // Once more, now with a notification.
                return write!(
                    stream,
                    "id: e-2\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"x\"}}\n\n"
                );
            }
            let result = json!({"content": [{"type": "text", "text": "resumed"}]});
            let answer = json!({"jsonrpc": "2.0", "id": 3, "result": result});
            event(stream, "message", &answer.to_string())
        }
        _ => plain(request, stream, &[]),
    });
    let mut server = connect(&stub, RemoteProtocol::Http).unwrap();
    let started = Instant::now();
    let result = call(&mut server, &json!({}), LONG).unwrap();
    assert_eq!(result["content"][0]["text"], "resumed");
    let elapsed = started.elapsed();
    // Two pauses that the server asked for.
    assert!(elapsed >= Duration::from_millis(600), "{elapsed:?}");
    let asked = stub.received();
    let resumed: Vec<Option<&str>> = asked
        .iter()
        .filter(|request| request.method == "GET")
        .map(|request| request.header("last-event-id"))
        .collect();
    assert_eq!(resumed, [Some("e-1"), Some("e-2")]);
    // One that never answers costs the time of its call.
    let stub = Stub::start(|request, stream| match request.asks() {
        "tools/call" | "GET" => {
            events(stream)?;
            write!(stream, "id: e\nretry: 0\ndata: \n\n")
        }
        _ => plain(request, stream, &[]),
    });
    let mut server = connect(&stub, RemoteProtocol::Http).unwrap();
    let problem = call(&mut server, &json!({}), Duration::from_secs(2)).unwrap_err();
    assert!(problem.contains("did not answer in time"), "{problem}");
    // A pause of its own keeps it from asking without end.
    let streams = stub.received().iter().filter(|request| request.method == "GET").count();
    assert!(streams <= 20, "{streams}");
}

/// Threads that listen to a server end with the connection, whatever the server does.
#[test]
fn streams_end_with_their_connection() {
    for protocol in [RemoteProtocol::Http, RemoteProtocol::Sse] {
        let (left, leaving) = channel::<()>();
        let left = Mutex::new(left);
        let answers: Mutex<Option<Sender<String>>> = Mutex::new(None);
        let stub = Stub::start(move |request, stream| {
            if request.method == "GET" {
                let (sender, to_send) = channel();
                *answers.lock().unwrap() = Some(sender);
                events(stream)?;
                event(stream, "endpoint", "/messages")?;
                // The client has gone when nothing more can be read.
                let (mut reading, left) = (stream.try_clone()?, left.lock().unwrap().clone());
                std::thread::spawn(move || {
                    let _ = hold(&mut reading);
                    let _ = left.send(());
                });
                while let Ok(answer) = to_send.recv() {
                    event(stream, "message", &answer)?;
                }
                return Ok(());
            }
            if protocol == RemoteProtocol::Sse {
                if request.message.get("id").is_some() {
                    let to = answers.lock().unwrap();
                    to.as_ref().unwrap().send(request.answer().to_string()).unwrap();
                }
                return head(stream, 202, &[]);
            }
            plain(request, stream, &[])
        });
        let mut server = connect(&stub, protocol).unwrap();
        wait_until("the stream is open", || {
            assert!(server.collect_notifications(Duration::from_millis(10)).unwrap().is_empty());
            stub.received().iter().any(|request| request.method == "GET")
        });
        assert!(leaving.try_recv().is_err());
        drop(server);
        leaving.recv_timeout(LONG).unwrap();
    }
}

/// The operator's fields are for one server: no redirect to another host is followed.
#[test]
fn a_refusal_has_a_reason() {
    for (status, fields, words) in [
        (
            302,
            &["location: http://127.0.0.1:1/"][..],
            "brief does not follow redirects to another host",
        ),
        (401, &[], "check its `headers`"),
        (500, &[], "the server answered 500"),
        (200, &["content-type: text/html"], "an invalid message"),
    ] {
        let stub = Stub::start(move |_, stream| head(stream, status, fields));
        let problem = connect(&stub, RemoteProtocol::Http).err().unwrap();
        assert!(problem.contains(words), "{problem}");
        assert!(problem.starts_with("cannot reach the server `far`: "), "{problem}");
        // The question for the newest revision, and the introduction.
        assert_eq!(stub.received().len(), 2);
    }
    let gone = ServerAddress::Remote(RemoteServer {
        url: "http://127.0.0.1:1/mcp".to_owned(),
        headers: Vec::new(),
        protocol: RemoteProtocol::Either,
    });
    let system: Arc<dyn System> = Arc::new(OsSystem);
    let stop = Interruption::default();
    let refused =
        McpConnection::start(&system, Path::new("/"), ("gone", &gone), LONG, &stop).err().unwrap();
    assert!(refused.contains("cannot reach the server `gone`"), "{refused}");
}

/// A redirect on the same host is followed, if it keeps the message; one that never ends is not.
#[test]
fn a_redirect_stays_on_its_host() {
    let stub = Stub::start(|request, stream| match request.path.as_str() {
        "/mcp" => head(stream, 307, &["location: /mcp/", "content-length: 0"]),
        _ => plain(request, stream, &[]),
    });
    let mut server = connect(&stub, RemoteProtocol::Http).unwrap();
    assert_eq!(server.read_list("tools/list", "tools", LONG).unwrap()[0]["name"], "echo");
    let stub = Stub::start(|_, stream| head(stream, 307, &["location: /mcp", "content-length: 0"]));
    let problem = connect(&stub, RemoteProtocol::Http).err().unwrap();
    assert!(problem.contains("too many redirects") && stub.received().len() < 20, "{problem}");
}

/// A server that hangs, floods or never ends its message costs the time of its own call, and no more.
#[test]
fn a_call_ends_in_time() {
    type Harm = fn(&mut std::net::TcpStream) -> std::io::Result<()>;
    let harms: [(&str, Harm, &str); 5] = [
        ("silent", hold, "did not answer in time"),
        (
            "silent stream",
            |stream| {
                events(stream)?;
                hold(stream)
            },
            "did not answer in time",
        ),
        (
            "flood of notifications",
            |stream| {
                events(stream)?;
                loop {
                    event(
                        stream,
                        "message",
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}",
                    )?;
                }
            },
            "did not answer in time",
        ),
        (
            "a message without an end",
            |stream| {
                events(stream)?;
                loop {
                    stream.write_all(&[b'x'; 8_192])?;
                }
            },
            "too large",
        ),
        ("an early end", |stream| events(stream), "ended its answer early"),
    ];
    for (name, harm, words) in harms {
        let stub = Stub::start(move |request, stream| match request.asks() {
            "tools/call" => harm(stream),
            _ => plain(request, stream, &[]),
        });
        let mut server = connect(&stub, RemoteProtocol::Http).unwrap();
        let is_late = words == "did not answer in time";
        let patience = if is_late { Duration::from_millis(300) } else { LONG };
        let problem = call(&mut server, &json!({}), patience).unwrap_err();
        assert!(problem.contains(words), "{name}: {problem}");
    }
    // Nor does one hang that never answers the introduction.
    let stub = Stub::start(|_, stream| hold(stream));
    for protocol in [RemoteProtocol::Http, RemoteProtocol::Sse, RemoteProtocol::Either] {
        assert!(connect_for(&stub, protocol, Duration::from_millis(150)).is_err());
    }
}

/// A user who stops does not wait for a server.
#[test]
fn a_call_ends_when_it_is_stopped() {
    let stop = Interruption::default();
    let raised = stop.clone();
    let stub = Stub::start(move |request, stream| {
        if request.asks() == "tools/call" {
            raised.raise();
            return hold(stream);
        }
        plain(request, stream, &[])
    });
    let system: Arc<dyn System> = Arc::new(OsSystem);
    let address = remote(&stub.url, RemoteProtocol::Http);
    let mut server =
        McpConnection::start(&system, Path::new("/"), ("far", &address), LONG, &stop).unwrap();
    let problem = call(&mut server, &json!({}), LONG).unwrap_err();
    assert!(problem.contains("interrupted"), "{problem}");
}

/// The ability `mcp` reaches remote servers, and starts one again that has failed.
#[test]
fn an_agents_servers_are_started_again() {
    let stub = Stub::start(|request, stream| {
        if request.asks() == "tools/call" && request.message["params"]["arguments"]["fail"] == true
        {
            return head(stream, 500, &[]);
        }
        plain(request, stream, &[])
    });
    let text = json!({"mcpServers": {
        "far": {"url": stub.url, "type": "http", "headers": {"X": "y"}},
        "off": {"command": "no-such-program", "disabled": true},
    }});
    let servers = ConfiguredServers::parse_configuration(text.to_string().as_bytes()).unwrap();
    let mut servers = ConfiguredServers::new(Arc::new(OsSystem), Path::new("/"), servers);
    assert_eq!(servers.names().collect::<Vec<_>>(), ["far"]);
    assert_eq!(servers.call_tool("far", "echo", &json!({"a": 1}), LONG), Ok(json!("{\"a\":1}")));
    assert!(servers.call_tool("far", "echo", &json!({"fail": true}), LONG).is_err());
    assert_eq!(servers.call_tool("far", "echo", &json!({"b": 1}), LONG), Ok(json!("{\"b\":1}")));
    let introductions = stub.received().iter().filter(|asked| asked.asks() == "initialize").count();
    assert_eq!(introductions, 2);
    assert!(ConfiguredServers::parse_configuration(b"{\"mcpServers\": {\"x\": {}}}").is_err());
    assert!(ConfiguredServers::parse_configuration(b"3").is_err());
}
