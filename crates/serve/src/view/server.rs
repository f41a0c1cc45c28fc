//! The server of pages: on loopback, behind a token, read-only.
//!
//! The token is the first part of every path, and all links are relative. So a page bears no token in its text, no
//! cookie has to be kept apart for each viewer, and an exported page is the same page.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use brief_system::Interruption;
use http_body_util::BodyExt;
use http_body_util::channel::Channel;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, HOST, HeaderName, HeaderValue, LOCATION, ORIGIN};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::oneshot;

use super::{ProjectView, SCRIPT, STYLE};
use crate::http::{self, Answer, Gate, accept_connections, create_answer, create_text_answer};

/// The interval of checks for an interruption.
const TICK: Duration = Duration::from_millis(50);

/// The interval of signs of life to a page that waits for changes.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The headers of every answer. No page loads anything from elsewhere, none can be framed, and no text of a file can
/// run.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// The place where pages are served.
#[derive(Debug)]
pub struct ViewAddress {
    pub listener: TcpListener,
    /// The token that every address begins with.
    pub token: String,
}

impl ViewAddress {
    /// Returns the address of the first page.
    pub fn url(&self) -> io::Result<String> {
        Ok(format!("http://{}/{}/", self.listener.local_addr()?, self.token))
    }

    /// Returns whether only this machine can reach it.
    pub fn is_loopback(&self) -> bool {
        self.listener.local_addr().is_ok_and(|address| address.ip().is_loopback())
    }
}

/// A server of pages that cannot serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The system cannot start a thread.
    #[error("cannot serve the pages: {0}")]
    Start(#[source] io::Error),
    /// The server ended unexpectedly, by a defect of ours.
    #[error("the server stopped unexpectedly")]
    Died,
}

/// Serves the pages of a project until the user ends it.
pub fn serve_view(
    view: ProjectView,
    address: ViewAddress,
    interruption: &Interruption,
) -> Result<(), ViewError> {
    let view = Arc::new(view);
    let ended = Interruption::default();
    let (followed, followed_until) = (Arc::clone(&view), ended.clone());
    let following = thread::Builder::new().name("view-files".to_owned());
    following.spawn(move || followed.follow_files(&followed_until)).map_err(ViewError::Start)?;
    let (stop, stopped) = oneshot::channel();
    let serving = thread::Builder::new()
        .name("view".to_owned())
        .spawn(move || serve_pages(&view, address, stopped))
        .map_err(ViewError::Start)?;
    while !serving.is_finished() && !interruption.is_raised() {
        thread::sleep(TICK);
    }
    // It may have ended by itself just now.
    let _ = stop.send(());
    ended.raise();
    serving.join().unwrap_or(Err(ViewError::Died))
}

fn serve_pages(
    view: &Arc<ProjectView>,
    address: ViewAddress,
    stopped: oneshot::Receiver<()>,
) -> Result<(), ViewError> {
    let runtime = http::create_runtime().map_err(ViewError::Start)?;
    let served = runtime.block_on(async {
        let ViewAddress { listener, token } = address;
        let at = listener.local_addr().map_err(ViewError::Start)?;
        listener.set_nonblocking(true).map_err(ViewError::Start)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(ViewError::Start)?;
        let door = Arc::new(Door { gate: Gate::new(&token), at });
        let view = Arc::clone(view);
        let answer = move |request| {
            let (view, door) = (Arc::clone(&view), Arc::clone(&door));
            async move { add_headers(answer_request(&view, &door, &request).await) }
        };
        tokio::select! {
            () = accept_connections(listener, answer) => Err(ViewError::Died),
            _ = stopped => Ok(()),
        }
    });
    runtime.shutdown_background();
    served
}

/// Decides which requests are answered.
struct Door {
    gate: Gate,
    at: SocketAddr,
}

impl Door {
    /// Returns whether a request was made under our own name, and by our own pages or the user. A page from elsewhere
    /// that reaches us under another name is refused.
    fn allows_request(&self, request: &Request<Incoming>) -> bool {
        let text = |name: HeaderName| request.headers().get(name).map(|value| value.to_str().ok());
        // Of two names, another program on the way may take the other one.
        let is_twice = |name: HeaderName| request.headers().get_all(name).iter().count() > 1;
        if is_twice(HOST) || is_twice(ORIGIN) {
            return false;
        }
        let Some(Some(host)) = text(HOST) else { return false };
        // The whole form of an address names a host of its own, which counts more than the header.
        if request.uri().authority().is_some_and(|authority| authority.as_str() != host) {
            return false;
        }
        let port = self.at.port();
        let names = [
            format!("127.0.0.1:{port}"),
            format!("localhost:{port}"),
            format!("[::1]:{port}"),
            self.at.to_string(),
        ];
        // From elsewhere the machine has names that we do not know; the token counts there.
        let is_ours = !self.at.ip().is_loopback() || names.iter().any(|name| name == host);
        let is_same_origin = match text(ORIGIN) {
            None => true,
            Some(origin) => origin.is_some_and(|origin| origin == format!("http://{host}")),
        };
        is_ours && is_same_origin
    }
}

/// Adds the headers of every answer.
fn add_headers(mut answer: Answer) -> Answer {
    for (name, value) in HEADERS {
        let (name, value) = (HeaderName::from_static(name), HeaderValue::from_static(value));
        answer.headers_mut().insert(name, value);
    }
    answer
}

async fn answer_request(
    view: &Arc<ProjectView>,
    door: &Door,
    request: &Request<Incoming>,
) -> Answer {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut refused =
            create_text_answer(StatusCode::METHOD_NOT_ALLOWED, "pages are read-only\n");
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    if !door.allows_request(request) {
        return create_text_answer(
            StatusCode::FORBIDDEN,
            "request refused: it comes from another page or host name\n",
        );
    }
    let path = request.uri().path().strip_prefix('/').unwrap_or_default();
    let (token, page) = path.split_once('/').unwrap_or((path, ""));
    if !door.gate.matches_token(token) {
        let help = "incomplete address: use the one that `brief view` prints, with its token\n";
        return create_text_answer(StatusCode::FORBIDDEN, help);
    }
    if !path.contains('/') {
        let mut moved = create_text_answer(StatusCode::PERMANENT_REDIRECT, "");
        if let Ok(way) = HeaderValue::from_str(&format!("/{token}/")) {
            moved.headers_mut().insert(LOCATION, way);
        }
        return moved;
    }
    let query = request.uri().query().unwrap_or_default();
    match page {
        "style.css" => create_answer(StatusCode::OK, "text/css; charset=utf-8", STYLE),
        "script.js" => create_answer(StatusCode::OK, "text/javascript; charset=utf-8", SCRIPT),
        "events" => answer_events(view, query),
        page => answer_page(view, page.to_owned(), query.to_owned()).await,
    }
}

/// Makes a page on a thread of its own: it may read files.
async fn answer_page(view: &Arc<ProjectView>, path: String, query: String) -> Answer {
    let mut news = view.newest.subscribe();
    let Ok(newest) = news.wait_for(|newest| newest.number > 0).await.map(|newest| newest.clone())
    else {
        return create_text_answer(StatusCode::SERVICE_UNAVAILABLE, "cannot read the project\n");
    };
    let view = Arc::clone(view);
    let made = tokio::task::spawn_blocking(move || view.render_page(&newest, &path, &query)).await;
    match made {
        Ok((is_found, page)) => {
            let status = if is_found { StatusCode::OK } else { StatusCode::NOT_FOUND };
            create_answer(status, "text/html; charset=utf-8", page)
        }
        Err(_) => create_text_answer(StatusCode::INTERNAL_SERVER_ERROR, "cannot create the page\n"),
    }
}

/// Tells a page of every change since the state that it shows.
fn answer_events(view: &Arc<ProjectView>, query: &str) -> Answer {
    let since = query.strip_prefix("since=").and_then(|number| number.parse().ok());
    let mut known: u64 = since.unwrap_or_default();
    let mut news = view.newest.subscribe();
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(4);
    tokio::spawn(async move {
        let mut line = Bytes::from_static(b"retry: 1000\n\n");
        loop {
            if sender.send_data(line).await.is_err() {
                return;
            }
            line = tokio::select! {
                newest = news.wait_for(|newest| newest.number > known) => match newest {
                    Ok(newest) => {
                        known = newest.number;
                        Bytes::from(format!("event: change\ndata: {known}\n\n"))
                    }
                    Err(_) => return,
                },
                // A page that has left is noticed by writing to it.
                () = tokio::time::sleep(HEARTBEAT) => Bytes::from_static(b": here\n\n"),
            };
        }
    });
    let mut answer = Response::new(body.boxed());
    answer
        .headers_mut()
        .insert(hyper::header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    answer
}
