//! Single requests and answers of a registry.

use std::io::Read;
use std::time::Duration;

use ureq::http::Response;

use super::error::OciError;
use crate::address::one_line;

/// The pause before the second attempt; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The longest pause that a registry may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The limit for the bytes of an error's body, which is shown in part.
const ANSWER_BYTES: u64 = 64 * 1024;

/// A request that was not answered.
pub(super) enum Failure {
    Wire(ureq::Error),
    Own(Box<OciError>),
}

impl From<ureq::Error> for Failure {
    fn from(error: ureq::Error) -> Failure {
        Failure::Wire(error)
    }
}

impl From<OciError> for Failure {
    fn from(error: OciError) -> Failure {
        Failure::Own(Box::new(error))
    }
}

pub(super) fn send_request(
    agent: &ureq::Agent,
    request: ureq::http::request::Builder,
    body: Option<(&[u8], &str)>,
    patience: Duration,
) -> Result<Response<ureq::Body>, ureq::Error> {
    match body {
        Some((bytes, media_type)) => {
            let request = request.header("content-type", media_type).body(bytes)?;
            let request = agent.configure_request(request).timeout_global(Some(patience)).build();
            agent.run(request)
        }
        None => {
            let request = request.body(())?;
            let request = agent.configure_request(request).timeout_global(Some(patience)).build();
            agent.run(request)
        }
    }
}

pub(super) fn find_header<'r>(response: &'r Response<ureq::Body>, name: &str) -> Option<&'r str> {
    response.headers().get(name)?.to_str().ok()
}

/// Returns the status of an answer, and the registry's own words.
pub(super) fn describe_answer(response: Response<ureq::Body>) -> String {
    let status = response.status();
    let mut bytes = Vec::new();
    let _ = response.into_body().into_reader().take(ANSWER_BYTES).read_to_end(&mut bytes);
    let said: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
    let said = said.as_ref().and_then(|said| said["errors"][0]["message"].as_str());
    match said {
        Some(said) => {
            format!("{status} ({})", one_line(&said.chars().take(200).collect::<String>()))
        }
        None => status.to_string(),
    }
}

/// Returns the pause before an attempt: longer each time, or what the registry asks for.
pub(super) fn retry_delay(attempt: u32, said: &str) -> Duration {
    let own = FIRST_PAUSE * 2u32.pow(attempt.min(8) - 1);
    let asked = said.rsplit_once("retry after ").and_then(|(_, text)| text.trim().parse().ok());
    asked.map_or(own, |seconds| Duration::from_secs(seconds).max(own)).min(LONGEST_PAUSE)
}

/// Returns the path of the next page from a `Link` field: `</v2/…>; rel="next"`.
pub(super) fn next_page(field: &str) -> Option<String> {
    let (target, rest) = field.strip_prefix('<')?.split_once('>')?;
    (rest.contains("next") && target.starts_with("/v2/")).then(|| target.to_owned())
}

pub(super) fn is_about_trust(error: &ureq::Error) -> bool {
    matches!(error, ureq::Error::Rustls(_) | ureq::Error::Tls(_))
        || error.to_string().contains("certificate")
}
