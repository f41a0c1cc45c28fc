//! The network itself. Nothing else in this crate knows the library that speaks HTTP.

use std::io;
use std::time::Duration;

use super::endpoint::Endpoint;
use super::transport::{Answer, Post, Transport, TransportError, TransportProblem};

/// How long to wait for a connection. A server that is there takes far less.
const CONNECT: Duration = Duration::from_secs(10);

/// HTTP, with TLS where the address says so.
pub struct Http {
    agent: ureq::Agent,
}

impl Http {
    /// Gets ready for a server. Nothing is sent yet.
    pub fn new(endpoint: &Endpoint) -> Result<Http, TransportError> {
        let proxy = match endpoint.proxy() {
            Some(address) => Some(ureq::Proxy::new(address).map_err(|_| {
                // The address may hold a password.
                let message = "the address of the proxy in the environment cannot be used";
                TransportError::new(TransportProblem::Hopeless, message)
            })?),
            None => None,
        };
        let config = ureq::Agent::config_builder()
            .proxy(proxy)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .user_agent(concat!("brief/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Http { agent: config.new_agent() })
    }
}

impl Transport for Http {
    fn post(&self, post: &Post) -> Result<Answer, TransportError> {
        let mut request = self
            .agent
            .post(&post.url)
            .header("content-type", "application/json")
            .header("accept", "text/event-stream, application/json");
        if let Some(key) = &post.key {
            request = request.header("authorization", key.to_header());
        }
        let request = request.config().timeout_global(Some(post.time)).build();
        let response = request.send(post.body.as_str()).map_err(|error| told(&error))?;
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        Ok(Answer {
            status: response.status().as_u16(),
            content_type: header("content-type").unwrap_or_default(),
            retry_after: header("retry-after"),
            body: Box::new(response.into_body().into_reader()),
        })
    }
}

/// Says what went wrong before there was an answer.
fn told(error: &ureq::Error) -> TransportError {
    use ureq::{Error, Timeout};

    let problem = match error {
        Error::HostNotFound
        | Error::ConnectionFailed
        | Error::Timeout(Timeout::Connect | Timeout::Resolve) => TransportProblem::Unreachable,
        Error::Timeout(_) => TransportProblem::TooSlow,
        Error::Io(error) => match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => TransportProblem::Broken,
            // What a certificate is refused with arrives like this.
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => TransportProblem::Hopeless,
            _ => TransportProblem::Unreachable,
        },
        Error::Protocol(_) => TransportProblem::Broken,
        _ => TransportProblem::Hopeless,
    };
    TransportError::new(problem, error.to_string())
}
