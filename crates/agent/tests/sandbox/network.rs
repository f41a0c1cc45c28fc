//! The network, with servers on this machine that the operator has named.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use brief_agent::{AbilityAudit, CallError, Grants, Host, NetworkPolicy};
use serde_json::{Value, json};

use super::{Lines, load_with, short, system, tool};

/// Answers each request with the result of `respond`, and returns the port.
fn serve(respond: impl Fn(&str) -> String + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { break };
            let request = request(&mut stream);
            let _ = stream.write_all(respond(&request).as_bytes());
        }
    });
    port
}

/// Reads a request with its body, which may come in pieces.
fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4_096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return text,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    }
}

fn ok(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nx-a: b\r\nset-cookie: c=1\r\n\r\n{body}",
        body.len()
    )
}

fn redirect(location: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
}

/// Fetches from `localhost:<port>`, which the operator has named.
fn fetch(port: u16, function: &str) -> (Result<Value, CallError>, String) {
    let lines = Lines::default();
    let policy = NetworkPolicy {
        private_hosts: BTreeSet::from([format!("localhost:{port}")]),
        ..NetworkPolicy::default()
    };
    let host = Host::new(system(), Grants::new(["network"], []).unwrap())
        .with_network(policy)
        .with_audit(AbilityAudit::to_memory(lines.0.clone()));
    let limits = brief_agent::Limits { cpu: Duration::from_secs(2), ..short() };
    let mut tools = load_with(&tool(function), limits, host).unwrap();
    let result = tools.call_tool("t", &json!({"port": port}), &json!({}));
    (result, lines.text())
}

#[test]
fn an_answer_has_status_headers_and_text() {
    let port = serve(|request| {
        assert!(request.starts_with("POST /a?key=1 HTTP/1.1"), "{request}");
        assert!(request.contains("x-mine: 1") && request.ends_with("{\"q\":1}"), "{request}");
        ok("{\"a\": [1]}")
    });
    let (result, log) = fetch(
        port,
        "async ({ port }, ctx, host) => { const r = await host.fetch(`http://localhost:${port}/a?key=1`, \
         { method: 'POST', headers: { 'x-mine': '1' }, body: JSON.stringify({ q: 1 }) }); \
         return [r.status, r.ok, r.headers['x-a'], r.headers['set-cookie'] ?? null, await r.json(), await r.text()] }",
    );
    assert_eq!(result.unwrap(), json!([200, true, "b", null, {"a": [1]}, "{\"a\": [1]}"]));
    assert!(log.contains(&format!("\"target\":\"POST http://localhost:{port}/a?…\"")), "{log}");
    assert!(log.contains("\"verdict\":\"done\"") && !log.contains("key=1"), "{log}");
}

/// A redirect to this machine by another name is a request of its own, and the operator has not named that
/// host.
#[test]
fn a_redirect_is_checked_again() {
    for location in
        ["http://127.0.0.1:PORT/", "http://[::1]:PORT/", "//127.0.0.1:PORT/", "http://localhost:1/"]
    {
        let port = serve({
            let location = location.to_owned();
            move |request| {
                let host =
                    request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or("");
                assert!(host.starts_with("localhost:"), "{host}");
                redirect(&location.replace("PORT", host.rsplit(':').next().unwrap_or("")))
            }
        });
        let (result, log) =
            fetch(port, "async ({ port }, ctx, host) => host.fetch(`http://localhost:${port}/`)");
        let error = result.unwrap_err().to_string();
        let is_refused =
            error.contains("is not on the public network") || error.contains("must use `https`");
        assert!(is_refused && error.starts_with("Refused: "), "{location}: {error}");
        assert!(log.contains("\"verdict\":\"refused\""), "{log}");
    }
}

#[test]
fn redirects_have_an_end_and_may_stay() {
    let port =
        serve(
            |request| {
                if request.starts_with("GET /there") { ok("there") } else { redirect("/there") }
            },
        );
    let function = "async ({ port }, ctx, host) => { const r = await host.fetch(`http://localhost:${port}/here`); \
                    return [r.url.endsWith('/there'), await r.text()] }";
    assert_eq!(fetch(port, function).0.unwrap(), json!([true, "there"]));
    let port = serve(|_| redirect("/again"));
    let error = fetch(port, function).0.unwrap_err().to_string();
    assert!(error.contains("redirects more than 5 times"), "{error}");
}

#[test]
fn answers_have_a_size() {
    let port = serve(|_| ok(&"x".repeat(5 << 20)));
    let (result, _) =
        fetch(port, "async ({ port }, ctx, host) => host.fetch(`http://localhost:${port}/`)");
    let error = result.unwrap_err().to_string();
    assert!(error.contains("is larger than 4194304 bytes"), "{error}");
}

#[test]
fn without_a_grant_nothing_is_sent() {
    let lines = Lines::default();
    let host =
        Host::new(system(), Grants::none()).with_audit(AbilityAudit::to_memory(lines.0.clone()));
    let code = tool("async (a, c, host) => host.fetch('https://example.com/?key=1')");
    let mut tools = load_with(&code, short(), host).unwrap();
    let error = tools.call_tool("t", &json!({}), &json!({})).unwrap_err().to_string();
    assert!(error.starts_with("AbilityDenied: ability 'network' is not granted ("), "{error}");
    assert_eq!(tools.last_call().denied, ["network"]);
    assert_eq!(lines.text().lines().count(), 1);
    assert!(lines.text().contains("\"verdict\":\"denied\""), "{}", lines.text());
}
