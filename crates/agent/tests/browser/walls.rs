//! Addresses that are not granted, by every way that a page knows.

use std::sync::Arc;
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use brief_testkit::{needs, wait_until};
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;

use super::site::{Answer, Site};
use super::{Run, hosts};

#[test]
fn addresses_obey_the_rules_of_the_network() {
    needs!(Chromium);
    let site = Site::page("here");
    let run = Run::at(&site);
    let body = format!(
        "const errors = [];
         for (const address of ['http://127.0.0.1:{port}/', 'http://[::1]:{port}/', 'http://localhost:1/',
           'https://169.254.169.254/latest', 'file:///etc/passwd', 'chrome://version', 'about:blank', 'data:text/html,x',
           'javascript:1', 'view-source:{base}/', 'no address', 'http://user:pass@localhost:{port}/']) {{
           errors.push(await host.browser.open(address).then(() => 'opened', (error) => error.name));
           errors.push(await page.goto(address).then(() => 'opened', (error) => error.name));
         }}
         return [...new Set(errors)];",
        port = site.port,
        base = site.base(),
    );
    assert_eq!(run.on(&site, &body), json!(["Refused"]));
    assert_eq!(
        site.seen().iter().filter(|request| !request.contains("favicon")).count(),
        1,
        "{:?}",
        site.seen()
    );
}

#[test]
fn a_redirect_to_this_machine_is_refused() {
    needs!(Chromium);
    let other = Site::page("secret");
    let redirect = |target: &str| {
        Answer::Raw(format!(
            "HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n"
        ))
    };
    let site = Site::serve(&[
        ("/", Answer::Page("<a id=a href=/away>away</a>".to_owned())),
        ("/away", redirect(&format!("http://localhost:{}/", other.port))),
        ("/file", redirect("file:///etc/passwd")),
    ]);
    let run = Run::at(&site);
    let seen = run.on(
        &site,
        "const opened = await host.browser.open(base + '/away').catch(String);
         const clicked = await page.click('#a').catch(String);
         const file = await host.browser.open(base + '/file').catch(String);
         return [opened, clicked, file];",
    );
    let said = |place: usize| seen[place].as_str().unwrap().to_owned();
    let reason = "requests to `localhost` must use `https`";
    assert_eq!(said(0), format!("Refused: `{}/away` does not load: {reason}", site.base()));
    assert_eq!(said(1), format!("Error: the next page does not load: {reason}"));
    assert_eq!(
        said(2),
        format!("Error: `{}/file` does not load: ERR_UNSAFE_REDIRECT", site.base())
    );
    assert_eq!(other.seen(), Vec::<String>::new());
    let log = run.log();
    // The browser itself asks for nothing.
    let (granted, refused) =
        (format!("localhost:{}", site.port), format!("localhost:{}", other.port));
    let found = hosts(&log);
    assert!(found.iter().all(|(host, _)| *host == granted || *host == refused), "{log}");
    assert_eq!(found.iter().filter(|(_, verdict)| verdict == "refused").count(), 2, "{log}");
    let line = format!(
        "{{\"seq\":2,\"event\":\"connection\",\"target\":\"{refused}\",\"verdict\":\"refused\",\"count\":1,\"message\":\"{reason}\"}}"
    );
    assert!(log.contains(&line), "{log}");
}

/// Pictures, frames, scripts, workers, sockets, forms, prefetching and calls between pages.
#[test]
fn no_page_reaches_what_is_not_granted() {
    needs!(Chromium);
    let other = Site::page("secret");
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let html = "<link rel=prefetch href='http://127.0.0.1:OTHER/prefetch'>
        <link rel=preconnect href='http://127.0.0.1:OTHER'><link rel=dns-prefetch href='//127.0.0.1:OTHER'>
        <img src='http://127.0.0.1:OTHER/img'><script src='http://127.0.0.1:OTHER/script'></script>
        <iframe src='http://127.0.0.1:OTHER/frame'></iframe><iframe src='file:///etc/passwd'></iframe>
        <form id=f action='http://127.0.0.1:OTHER/form' target=_blank></form>
        <style>body { background: url('http://127.0.0.1:OTHER/css') }</style><p id=end></p>
        <script>
        const base = 'http://127.0.0.1:OTHER';
        const tries = [];
        const tried = (name, work) => tries.push(Promise.resolve().then(work).then(() => name + ' worked', () => null));
        tried('fetch', () => fetch(base + '/fetch', { mode: 'no-cors' }));
        tried('localhost', () => fetch('http://localhost:OTHER/fetch', { mode: 'no-cors' }));
        tried('six', () => fetch('http://[::1]:OTHER/fetch', { mode: 'no-cors' }));
        tried('metadata', () => fetch('http://169.254.169.254/latest', { mode: 'no-cors' }));
        tried('file', () => fetch('file:///etc/passwd'));
        tried('socket', () => new Promise((yes, no) => { const s = new WebSocket('ws://127.0.0.1:OTHER/ws'); s.onopen = yes; s.onerror = no; }));
        tried('events', () => new Promise((yes, no) => { const s = new EventSource(base + '/events'); s.onopen = yes; s.onerror = no; }));
        tried('worker', () => new Promise((yes, no) => {
          const code = `fetch('${base}/worker', { mode: 'no-cors' }).then(() => postMessage(1), () => postMessage(0))`;
          const worker = new Worker(URL.createObjectURL(new Blob([code])));
          worker.onmessage = (event) => (event.data ? yes() : no()); }));
        tried('shared', () => new Promise((yes, no) => {
          const code = `onconnect = (e) => fetch('${base}/shared', { mode: 'no-cors' }).then(() => e.ports[0].postMessage(1), () => e.ports[0].postMessage(0))`;
          const worker = new SharedWorker(URL.createObjectURL(new Blob([code])));
          worker.port.onmessage = (event) => (event.data ? yes() : no()); }));
        tried('service', async () => {
          const worker = await navigator.serviceWorker.register('/worker.js');
          const active = worker.installing ?? worker.waiting ?? worker.active;
          await new Promise((yes, no) => { const channel = new MessageChannel();
            channel.port1.onmessage = (event) => (event.data ? yes() : no()); active.postMessage(0, [channel.port2]); }); });
        navigator.sendBeacon(base + '/beacon', 'x');
        tried('transport', async () => { const t = new WebTransport('https://127.0.0.1:UDP/'); await t.ready; });
        try { const call = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:UDP' }] });
          call.createDataChannel('x'); call.createOffer().then((offer) => call.setLocalDescription(offer)); } catch {}
        const popup = open(base + '/popup'); f.submit();
        Promise.all(tries).then((all) => setTimeout(() => { end.textContent = 'tried: ' + all.filter(Boolean).join(); }, 1500));
        </script>";
    let html = html
        .replace("OTHER", &other.port.to_string())
        .replace("UDP", &udp.local_addr().unwrap().port().to_string());
    let worker =
        "onmessage = (event) => fetch('http://127.0.0.1:OTHER/service', { mode: 'no-cors' })
        .then(() => event.ports[0].postMessage(1), () => event.ports[0].postMessage(0))"
            .replace("OTHER", &other.port.to_string());
    let worker = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/javascript\r\ncontent-length: {}\r\n\r\n{worker}",
        worker.len()
    );
    let site = Site::serve(&[("/", Answer::Page(html)), ("/worker.js", Answer::Raw(worker))]);
    let run = Run::at(&site);
    let seen = run.on(
        &site,
        "await page.wait({ text: 'tried:', timeout: 100000 }); return await page.text('#end')",
    );
    assert_eq!(seen, json!("tried:"));
    assert_eq!(other.seen(), Vec::<String>::new());
    assert!(udp.recv(&mut [0; 64]).is_err(), "a packet has come past the gate");
    assert!(
        run.log().contains(&format!("\"target\":\"127.0.0.1:{}\"", other.port)),
        "{}",
        run.log()
    );
}

/// Requests of every kind have the credential of the gate, and are in the log, also those that come after the last call.
#[test]
fn what_is_granted_is_reached_from_everywhere() {
    needs!(Chromium);
    let other = Site::serve(&[
        ("/frame", Answer::Page("frame".to_owned())),
        ("/late", Answer::Page("late".to_owned())),
    ]);
    let html = "<iframe src='http://127.0.0.1:OTHER/frame'></iframe><img src='http://127.0.0.1:OTHER/img'><p id=end></p>
        <script>
        const base = 'http://127.0.0.1:OTHER', ends = [];
        const call = (work) => ends.push(new Promise((end) => work(end)));
        call((end) => fetch(base + '/fetch', { mode: 'no-cors' }).then(end, end));
        call((end) => { const socket = new WebSocket('ws://127.0.0.1:OTHER/socket'); socket.onopen = socket.onerror = end; });
        call((end) => { const code = `fetch('${base}/worker', { mode: 'no-cors' }).then(() => postMessage(1), () => postMessage(0))`;
          new Worker(URL.createObjectURL(new Blob([code]))).onmessage = end; });
        call((end) => { const code = `onconnect = (e) => fetch('${base}/shared', { mode: 'no-cors' }).then(() => e.ports[0].postMessage(1), () => e.ports[0].postMessage(0))`;
          new SharedWorker(URL.createObjectURL(new Blob([code]))).port.onmessage = end; });
        call(async (end) => { const worker = await navigator.serviceWorker.register('/worker.js');
          const active = worker.installing ?? worker.waiting ?? worker.active; const channel = new MessageChannel();
          channel.port1.onmessage = end; active.postMessage(0, [channel.port2]); });
        Promise.all(ends).then(() => { end.textContent = 'tried'; let late = 0; setInterval(() => fetch(`${base}/late?${++late}`, { mode: 'no-cors' }), 300); });
        </script>";
    let with_port = |text: &str| text.replace("OTHER", &other.port.to_string());
    let worker = with_port(
        "onmessage = (event) => fetch('http://127.0.0.1:OTHER/service', { mode: 'no-cors' })
         .then(() => event.ports[0].postMessage(1), () => event.ports[0].postMessage(0))",
    );
    let worker = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/javascript\r\ncontent-length: {}\r\n\r\n{worker}",
        worker.len()
    );
    let site =
        Site::serve(&[("/", Answer::Page(with_port(html))), ("/worker.js", Answer::Raw(worker))]);
    let mut run = Run::at(&site);
    run.hosts.push(format!("127.0.0.1:{}", other.port));
    let body = format!(
        "const page = await host.browser.open('{}/'); await page.wait({{ text: 'tried', timeout: 100000 }})",
        site.base()
    );
    let mut tools = run.tools(&["browser"], &[("t", &body)]);
    tools.call_tool("t", &json!({}), &json!({})).unwrap();
    for path in ["frame", "img", "fetch", "socket", "worker", "shared", "service"] {
        wait_until(path, || other.was_asked(&format!("GET /{path} ")));
    }
    let count = || other.seen().iter().filter(|asked| asked.contains(" /late?")).count();
    let (before, asked) = (run.log(), count());
    // The second one began after the look at the log.
    wait_until("a request after the call", || count() > asked + 1);
    drop(tools);
    let log = run.log();
    let target = format!("127.0.0.1:{}", other.port);
    assert!(hosts(&log).iter().all(|(_, verdict)| verdict == "allowed"), "{log}");
    let last = log.strip_prefix(&before).unwrap();
    // A browser may open one more connection than it needs.
    assert!(hosts(last).contains(&(target.clone(), "allowed".to_owned())), "{log}");
    // Each of them is counted.
    let counts =
        log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let counts = counts.filter(|line| line["target"] == target.as_str());
    assert!(counts.filter_map(|line| line["count"].as_u64()).sum::<u64>() >= 8, "{log}");
}

/// A key and a certificate for `localhost` that no browser knows, and no server uses.
const KEY: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgoXj+I9Ma4DVstiQVZMYXCU2L84bRvBr15j2Q4LSRu/\
    ihRANCAATHa2dj/z1Zu0Y94Rod/hpPnHwwOMnaT7BNQeKvNxHz7Pa0WeDOCEAKKSd4K2zxQEgBY88at4e4XvcEcy1xai4p";
const CERTIFICATE: &str = "MIIBlTCCATugAwIBAgIUCW2f2lCdr9gcCSiRPZD1Zegfvf8wCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJbG9jYWxob3\
    N0MCAXDTI2MTExNzEyMzcwMFoYDzIxMjYxMDI0MTIzNzAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjO\
    PQIBBggqhkjOPQMBBwNCAATHa2dj/z1Zu0Y94Rod/hpPnHwwOMnaT7BNQeKvNxHz7Pa0WeDOCEAKKSd4K2zxQEgBY8\
    8at4e4XvcEcy1xai4po2kwZzAdBgNVHQ4EFgQUB0Zs6dQ2EarNiHRt9yPgS4ML8rwwHwYDVR0jBBgwFoAUB0Zs6dQ2\
    EarNiHRt9yPgS4ML8rwwDwYDVR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwIDSA\
    AwRQIhAJg45/KCTq2ypsRi01v94W1C7TG7Dqv0gxicSElxSooEAiBsLRUO5gedzvBMFrq+WuUlj2sktMImmFmdkx1L\
    K/f6IA==";

#[test]
fn an_unknown_certificate_is_an_error() {
    needs!(Chromium);
    let decode = |text: &str| BASE64.decode(text).unwrap();
    let key = PrivateKeyDer::Pkcs8(decode(KEY).into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![decode(CERTIFICATE).into()], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let Ok(mut session) = rustls::ServerConnection::new(Arc::clone(&config)) else {
                continue;
            };
            let _ = session.complete_io(&mut stream);
        }
    });
    let site = Site::page("plain");
    let mut run = Run::at(&site);
    run.hosts.push(format!("localhost:{port}"));
    let error = run.error(&site, &format!("await host.browser.open('https://localhost:{port}/')"));
    let expected = format!("`https://localhost:{port}/` does not load: ERR_CERT_AUTHORITY_INVALID");
    assert_eq!(error.lines().next().unwrap().split(" (line").next().unwrap(), expected);
}
