//! MCP over streamable HTTP: who may ask, how much, and for how long.
//!
//! The SDK speaks the protocol, and checks the headers `Host` and `Origin`, so that no page in a browser reaches the
//! server under another name. We listen, ask every request for the token, and bound connections, bodies and
//! the time for a request.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HOST, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Request, StatusCode};
use rmcp::handler::server::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::oneshot;

use super::{ServeError, Served, create_runtime};
use crate::http::{Answer, Gate, PATIENCE, accept_connections, create_text_answer};

/// The path of the endpoint.
const PATH: &str = "/mcp";

/// The limit for the bytes of a request.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The limit for sessions at one time.
const MOST_SESSIONS: usize = 256;

/// The header of a request that belongs to a session.
const SESSION: &str = "mcp-session-id";

/// The origins of pages on this machine. A page from elsewhere is refused.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// The options of an HTTP server.
#[derive(Debug)]
pub struct HttpOptions {
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

/// Returns whether a header bears the token.
fn allows_header(gate: &Gate, header: Option<&HeaderValue>) -> bool {
    let words = header.and_then(|header| header.to_str().ok()).unwrap_or_default();
    let Some((scheme, token)) = words.split_once(' ') else { return false };
    scheme.eq_ignore_ascii_case("bearer") && gate.matches_token(token.trim())
}

/// Serves until it is stopped. `handler` makes one for each session.
pub(super) fn speak_http<H: ServerHandler>(
    options: HttpOptions,
    handler: impl Fn() -> H + Send + Sync + 'static,
    stopped: oneshot::Receiver<()>,
) -> Result<Served, ServeError> {
    let runtime = create_runtime()?;
    let served = runtime.block_on(async {
        let HttpOptions { listener, token } = options;
        let address = listener.local_addr().map_err(ServeError::Start)?;
        listener.set_nonblocking(true).map_err(ServeError::Start)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(ServeError::Start)?;
        let gate = Arc::new(Gate::new(&token));
        let sessions = Arc::new(LocalSessionManager::default());
        let kept = Arc::clone(&sessions);
        let service = StreamableHttpService::new(
            move || Ok(handler()),
            kept,
            create_http_configuration(address),
        );
        let answer = move |request: Request<Incoming>| {
            let (service, gate) = (service.clone(), Arc::clone(&gate));
            let sessions = Arc::clone(&sessions);
            async move {
                let is_new = !request.headers().contains_key(SESSION);
                let is_admitted = allows_header(&gate, request.headers().get(AUTHORIZATION));
                if is_new && is_admitted && sessions.sessions.read().await.len() >= MOST_SESSIONS {
                    let text = "too many sessions; end one with DELETE\n";
                    return create_text_answer(StatusCode::SERVICE_UNAVAILABLE, text);
                }
                answer_request(&service, &gate, request).await
            }
        };
        tokio::select! {
            () = accept_connections(listener, answer) => Err(ServeError::Died),
            _ = stopped => Ok(Served::Interrupted),
        }
    });
    runtime.shutdown_background();
    served
}

fn create_http_configuration(address: SocketAddr) -> StreamableHttpServerConfig {
    let configuration = StreamableHttpServerConfig::default()
        .with_allowed_origins(ORIGINS)
        // One answer is one piece; only what comes later is a stream.
        .with_json_response(true)
        .with_max_request_body_bytes(MOST_BYTES);
    // From elsewhere the machine has names that we do not know; the token counts there.
    if !address.ip().is_loopback() {
        return configuration.disable_allowed_hosts();
    }
    let port = address.port();
    let hosts = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("{host}:{port}"));
    configuration.with_allowed_hosts(hosts)
}

type McpService<H> = StreamableHttpService<H, LocalSessionManager>;

async fn answer_request<H: ServerHandler>(
    service: &McpService<H>,
    gate: &Gate,
    request: Request<Incoming>,
) -> Answer {
    if request.uri().path() != PATH {
        return create_text_answer(StatusCode::NOT_FOUND, "the endpoint is /mcp\n");
    }
    let names = || request.headers().get_all(HOST).iter();
    let authority = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    // Of two names, another program on the way may take the other one.
    if names().count() > 1
        || authority.is_some_and(|whole| names().any(|name| name.as_bytes() != whole))
    {
        return create_text_answer(
            StatusCode::BAD_REQUEST,
            "the request names more than one host\n",
        );
    }
    if !allows_header(gate, request.headers().get(AUTHORIZATION)) {
        let mut answer =
            create_text_answer(StatusCode::UNAUTHORIZED, "the token is missing or wrong\n");
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
            create_text_answer(StatusCode::PAYLOAD_TOO_LARGE, "the request is larger than 4 MiB\n")
        }
        Ok(Err(_)) => create_text_answer(StatusCode::BAD_REQUEST, "cannot read the request body\n"),
        Err(_) => create_text_answer(
            StatusCode::REQUEST_TIMEOUT,
            "timed out while reading the request body\n",
        ),
    }
}
