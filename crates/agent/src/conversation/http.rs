//! HTTP to the model's server. No other module of the conversation knows the HTTP library.

use std::io::{self, Read};

use super::endpoint::Endpoint;
use super::transport::{ModelAnswer, ModelTransport, Post, TransportError, TransportProblem};

/// HTTP, with TLS where the address says so.
pub struct Http {
    agent: ureq::Agent,
}

impl Http {
    /// Prepares for a server. Sends nothing yet. `SSL_CERT_FILE` replaces the built-in certificates.
    pub fn new(endpoint: &Endpoint) -> Result<Http, TransportError> {
        let agent = endpoint.route().create_agent();
        let agent =
            agent.map_err(|error| TransportError::new(TransportProblem::Hopeless, error))?;
        Ok(Http { agent })
    }
}

impl ModelTransport for Http {
    fn post(&self, post: &Post) -> Result<ModelAnswer, TransportError> {
        let mut request = self
            .agent
            .post(&post.url)
            .header("content-type", "application/json")
            .header("accept", "text/event-stream, application/json");
        if let Some(key) = &post.key {
            request = request.header("authorization", key.to_header());
        }
        let request = request.config().timeout_global(Some(post.time)).build();
        let response =
            request.send(post.body.as_str()).map_err(|error| to_transport_error(&error))?;
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        Ok(ModelAnswer {
            status: response.status().as_u16(),
            content_type: header("content-type").unwrap_or_default(),
            retry_after: header("retry-after"),
            body: Box::new(TimedBody(response.into_body().into_reader())),
        })
    }
}

/// A body whose errors distinguish a timeout.
struct TimedBody(ureq::BodyReader<'static>);

impl Read for TimedBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match ureq::Error::from(error) {
            ureq::Error::Timeout(_) => io::ErrorKind::TimedOut.into(),
            error => error.into_io(),
        })
    }
}

/// Describes a failure before the answer.
fn to_transport_error(error: &ureq::Error) -> TransportError {
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
            // A refused certificate arrives with this kind.
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => TransportProblem::Hopeless,
            _ => TransportProblem::Unreachable,
        },
        Error::Protocol(_) => TransportProblem::Broken,
        _ => TransportProblem::Hopeless,
    };
    let message = match error {
        Error::Io(error) => error.to_string(),
        error => error.to_string(),
    };
    TransportError::new(problem, message)
}
