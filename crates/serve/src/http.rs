//! The HTTP of front ends: connections, their limits, and who may ask.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use brief_system::hash::sha256;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// The limit for connections at one time; more wait.
const CONNECTIONS: usize = 128;

/// The time for the headers of a request, and for its body.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The limit for threads that wait for input or answer questions.
const BLOCKING_THREADS: usize = 16;

pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Decides who may ask. The token is kept as a hash, so that no comparison tells how much of it was right.
pub(crate) struct Gate {
    token: String,
}

impl Gate {
    pub(crate) fn new(token: &str) -> Gate {
        Gate { token: sha256(token.as_bytes()) }
    }

    pub(crate) fn matches_token(&self, token: &str) -> bool {
        sha256(token.as_bytes()) == self.token
    }
}

/// Makes the runtime of a server.
pub(crate) fn create_runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()
}

pub(crate) fn create_answer(
    status: StatusCode,
    kind: &'static str,
    body: impl Into<Bytes>,
) -> Answer {
    let mut answer = Response::new(Full::new(body.into()).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// Makes an answer of a few words.
pub(crate) fn create_text_answer(status: StatusCode, text: &'static str) -> Answer {
    create_answer(status, "text/plain", text.as_bytes())
}

/// Accepts connections for ever, and gives each request to `answer`.
pub(crate) async fn accept_connections<F, R>(listener: tokio::net::TcpListener, answer: F)
where
    F: Fn(Request<Incoming>) -> R + Clone + Send + 'static,
    R: Future<Output = Answer> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut silent: VecDeque<SilentConnection> = VecDeque::new();
    loop {
        silent.retain(|connection| !connection.is_over());
        if room.available_permits() == 0
            && let Some(oldest) = silent.pop_front()
        {
            oldest.task.abort();
        }
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // The system has no more descriptors; some come back.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // An answer goes out in several small pieces, which would wait 40 ms for each other.
        let _ = stream.set_nodelay(true);
        let answer = answer.clone();
        let has_asked = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&has_asked);
        let service = service_fn(move |request| {
            let (answered, asked) = (answer(request), Arc::clone(&asked));
            async move {
                let answer = answered.await;
                let is_refused =
                    matches!(answer.status(), StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED);
                asked.fetch_or(!is_refused, Ordering::Relaxed);
                Ok::<_, Infallible>(answer)
            }
        });
        let task = tokio::spawn(async move {
            let _permit = permit;
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .serve_connection(TokioIo::new(stream), service);
            // A client that leaves is no error.
            let _ = connection.await;
        });
        silent.push_back(SilentConnection { task: task.abort_handle(), has_asked });
    }
}

/// A connection that has not asked anything with a token. The oldest one makes room, so that connections which only stay open keep no other out.
struct SilentConnection {
    task: AbortHandle,
    has_asked: Arc<AtomicBool>,
}

impl SilentConnection {
    fn is_over(&self) -> bool {
        self.task.is_finished() || self.has_asked.load(Ordering::Relaxed)
    }
}
