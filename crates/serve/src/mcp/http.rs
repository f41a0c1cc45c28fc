//! MCP over streamable HTTP: who may ask, how much, and for how long.
//!
//! The SDK speaks the protocol, and checks the headers `Host` and `Origin`, so that no page in a browser reaches the
//! server under another name. We listen, ask every request for the token, and bound connections, bodies and
//! the time for a request.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use brief_syntax::hash::sha256;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::handler::server::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{Semaphore, oneshot};

use super::{ServeError, Served, runtime};

/// The path of the endpoint.
const PATH: &str = "/mcp";

/// The limit for connections at one time; more wait.
const CONNECTIONS: usize = 128;

/// The limit for the bytes of a request.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The time for the headers of a request, and for its body.
const PATIENCE: Duration = Duration::from_secs(10);

/// The origins of pages on this machine. A page from elsewhere is refused.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// The options of an HTTP server.
#[derive(Debug)]
pub struct HttpOptions {
    /// The socket that listens.
    pub listener: TcpListener,
    /// The token that every request has to bear.
    pub token: String,
}

impl HttpOptions {
    /// Returns the address of the endpoint, for people.
    pub fn url(&self) -> io::Result<String> {
        Ok(format!("http://{}{PATH}", self.listener.local_addr()?))
    }
}

/// Decides who may ask. The token is kept as a hash, so that no comparison tells how much of it was right.
struct Gate {
    token: String,
}

impl Gate {
    fn admits(&self, header: Option<&HeaderValue>) -> bool {
        let words = header.and_then(|header| header.to_str().ok()).unwrap_or_default();
        let Some((scheme, token)) = words.split_once(' ') else { return false };
        scheme.eq_ignore_ascii_case("bearer") && sha256(token.trim().as_bytes()) == self.token
    }
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    answer
}

/// Serves until it is stopped. `handler` makes one for each session.
pub(super) fn speak_http<H: ServerHandler>(
    options: HttpOptions,
    handler: impl Fn() -> H + Send + Sync + 'static,
    stopped: oneshot::Receiver<()>,
) -> Result<Served, ServeError> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let HttpOptions { listener, token } = options;
        let address = listener.local_addr().map_err(ServeError::Start)?;
        listener.set_nonblocking(true).map_err(ServeError::Start)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(ServeError::Start)?;
        let gate = Arc::new(Gate { token: sha256(token.as_bytes()) });
        let sessions = Arc::new(LocalSessionManager::default());
        let service =
            StreamableHttpService::new(move || Ok(handler()), sessions, configuration(address));
        tokio::select! {
            () = listen(listener, service, gate) => Err(ServeError::Died),
            _ = stopped => Ok(Served::Interrupted),
        }
    });
    runtime.shutdown_background();
    served
}

fn configuration(address: SocketAddr) -> StreamableHttpServerConfig {
    let configuration = StreamableHttpServerConfig::default()
        .with_allowed_origins(ORIGINS)
        // One answer is one piece; only what comes later is a stream.
        .with_json_response(true)
        .with_max_request_body_bytes(MOST_BYTES);
    // From elsewhere the machine has names that we do not know; the token counts there.
    if address.ip().is_loopback() { configuration } else { configuration.disable_allowed_hosts() }
}

type McpService<H> = StreamableHttpService<H, LocalSessionManager>;

async fn listen<H: ServerHandler>(
    listener: tokio::net::TcpListener,
    service: McpService<H>,
    gate: Arc<Gate>,
) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // The system has no more descriptors; some come back.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // An answer goes out in several small pieces, which would wait 40 ms for each other.
        let _ = stream.set_nodelay(true);
        let (service, gate) = (service.clone(), Arc::clone(&gate));
        let answer = service_fn(move |request| {
            let (service, gate) = (service.clone(), Arc::clone(&gate));
            async move { Ok::<_, Infallible>(answer(&service, &gate, request).await) }
        });
        tokio::spawn(async move {
            let _permit = permit;
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .serve_connection(TokioIo::new(stream), answer);
            // A client that leaves is no error.
            let _ = connection.await;
        });
    }
}

async fn answer<H: ServerHandler>(
    service: &McpService<H>,
    gate: &Gate,
    request: Request<Incoming>,
) -> Answer {
    if request.uri().path() != PATH {
        return plain(StatusCode::NOT_FOUND, "the endpoint is /mcp\n");
    }
    if !gate.admits(request.headers().get(AUTHORIZATION)) {
        let mut answer = plain(StatusCode::UNAUTHORIZED, "the token is missing or wrong\n");
        answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return answer;
    }
    let (parts, body) = request.into_parts();
    let body = tokio::time::timeout(PATIENCE, Limited::new(body, MOST_BYTES).collect()).await;
    let is_farewell = parts.method == Method::DELETE;
    match body {
        Ok(Ok(body)) => {
            let request = Request::from_parts(parts, Full::new(body.to_bytes()));
            let mut answer = service.handle(request).await;
            // The session has ended, which the SDK only promises; clients take that for a failure.
            if is_farewell && answer.status() == StatusCode::ACCEPTED {
                *answer.status_mut() = StatusCode::NO_CONTENT;
            }
            answer
        }
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            plain(StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 4 MiB\n")
        }
        Ok(Err(_)) => plain(StatusCode::BAD_REQUEST, "the body cannot be read\n"),
        Err(_) => plain(StatusCode::REQUEST_TIMEOUT, "the body took too long\n"),
    }
}
