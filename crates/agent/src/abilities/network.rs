//! `network`: one request to the public network, and its redirects.
//!
//! The address of a host is looked up once and checked, and the connection goes to that very address: a name
//! that changes its meaning a moment later gains nothing. Each redirect is a request of its own, checked in
//! the same way. There are no cookies, and no proxy of the environment.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use brief_outgoing::Names;
use brief_syntax::limits;
use brief_system::System;
use serde_json::{Map, Value, json};
use ureq::http::{self, Method, Uri};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

use super::address::is_public;
use super::{AbilityRefusal, AbilityResult, create_failure, create_refusal, text_argument};

const METHODS: [Method; 6] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Header fields that the program itself sets.
const OURS: &str = "host connection content-length transfer-encoding upgrade te trailer proxy-authorization expect";

/// Header fields that may follow a redirect to another host.
const HARMLESS: [&str; 4] = ["accept", "accept-language", "content-type", "user-agent"];

/// The limit for the bytes of all header fields of a response.
const HEADER_BYTES: usize = 64 * 1024;

/// The hosts that tools may reach besides the public network over `https`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NetworkPolicy {
    /// Private hosts (`localhost`, `localhost:8080`, `10.0.0.5`) that may be reached. Only the written name
    /// counts, not other names of the same address.
    pub private_hosts: BTreeSet<String>,
    /// Allows `http` for every host. For [`NetworkPolicy::private_hosts`] it is always allowed.
    pub plain_http: bool,
}

impl NetworkPolicy {
    fn is_private_host(&self, uri: &Uri) -> bool {
        let (Some(host), Some(authority)) = (uri.host(), uri.authority()) else { return false };
        let host = host.to_lowercase();
        self.private_hosts.contains(&host)
            || self.private_hosts.contains(&authority.as_str().to_lowercase())
    }
}

/// A request that a tool wants to send.
pub(super) struct HttpRequest {
    uri: Uri,
    method: Method,
    headers: Vec<(String, String)>,
    body: Option<String>,
}

impl HttpRequest {
    pub(super) fn from_arguments(args: &[Value]) -> AbilityResult<HttpRequest> {
        let uri = read_uri(text_argument(args, 0, "an address")?)?;
        let empty = Map::new();
        let options = args.get(1).and_then(Value::as_object).unwrap_or(&empty);
        let method = options.get("method").and_then(Value::as_str).unwrap_or("GET");
        let method = method.to_uppercase();
        let method = METHODS
            .into_iter()
            .find(|known| known.as_str() == method)
            .ok_or_else(|| create_refusal(format!("the method `{method}` is not allowed")))?;
        let mut headers = Vec::new();
        for (name, value) in options.get("headers").and_then(Value::as_object).unwrap_or(&empty) {
            let Some(value) = value.as_str() else {
                return Err(create_refusal(format!("the header `{name}` is not a string")));
            };
            if OURS.split(' ').any(|ours| ours.eq_ignore_ascii_case(name)) {
                return Err(create_refusal(format!("the header `{name}` cannot be set")));
            }
            headers.push((name.clone(), value.to_owned()));
        }
        let body = match options.get("body") {
            None | Some(Value::Null) => None,
            Some(Value::String(body)) => Some(body.clone()),
            Some(_) => {
                return Err(create_refusal(
                    "the body must be a string: `JSON.stringify(…)`".to_owned(),
                ));
            }
        };
        if body.is_some() && !matches!(method, Method::POST | Method::PUT | Method::PATCH) {
            return Err(create_refusal(format!("a `{method}` request cannot have a body")));
        }
        Ok(HttpRequest { uri, method, headers, body })
    }
}

fn read_uri(text: &str) -> AbilityResult<Uri> {
    let address = text.split('#').next().unwrap_or_default();
    let uri: Uri = address.parse().map_err(|error| {
        create_refusal(format!("invalid URL `{}`: {error}", render_request_target(text, None)))
    })?;
    if uri.scheme().is_none() || uri.host().is_none_or(str::is_empty) {
        return Err(create_refusal(format!("`{text}` is not a complete URL, such as `https://…`")));
    }
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(create_refusal("the URL must not contain a user or password"));
    }
    Ok(uri)
}

/// Returns an address for the log, without user and query.
pub(super) fn render_request_target(address: &str, options: Option<&Value>) -> String {
    let (address, query) = match address.split_once(['?', '#']) {
        Some((address, _)) => (address, "?…"),
        None => (address, ""),
    };
    let address = match (address.find("://"), address.rfind('@')) {
        (Some(scheme), Some(user)) if scheme < user => {
            format!("{}{}", &address[..scheme + 3], &address[user + 1..])
        }
        _ => address.to_owned(),
    };
    let method = options.and_then(|options| options.get("method")?.as_str()).unwrap_or("GET");
    format!("{} {address}{query}", method.to_uppercase())
}

/// A text that was fetched for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedDocument {
    /// The address that it came from in the end.
    pub url: String,
    pub text: String,
}

/// Fetches a text for the operator, under the same rules as for a tool. It stays with the host that was named.
pub fn fetch_document(
    system: &dyn System,
    policy: &NetworkPolicy,
    address: &str,
) -> Result<FetchedDocument, String> {
    let said = |refusal: AbilityRefusal| refusal.to_string();
    let request = HttpRequest::from_arguments(&[Value::from(address)]).map_err(said)?;
    let time = Duration::from_secs(limits::TOOL_FETCH_SECONDS);
    let mut answer =
        follow_redirects(system, policy, request, time, Redirects::SameHost).map_err(said)?;
    let url = answer["url"].as_str().unwrap_or_default().to_owned();
    match (answer["status"].as_u64(), answer["body"].take()) {
        (Some(200), Value::String(text)) => Ok(FetchedDocument { url, text }),
        (Some(status), _) => Err(format!("the server answered {status}")),
        (None, _) => Err("the server did not answer".to_owned()),
    }
}

/// The hosts that a redirect may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Redirects {
    Anywhere,
    SameHost,
}

/// Sends a request and follows its redirects.
pub(super) fn fetch_url(
    system: &dyn System,
    policy: &NetworkPolicy,
    request: HttpRequest,
    time_left: Duration,
) -> AbilityResult {
    follow_redirects(system, policy, request, time_left, Redirects::Anywhere)
}

fn follow_redirects(
    system: &dyn System,
    policy: &NetworkPolicy,
    mut request: HttpRequest,
    time_left: Duration,
    redirects: Redirects,
) -> AbilityResult {
    let patience = time_left.min(Duration::from_secs(limits::TOOL_FETCH_SECONDS));
    let deadline = system.elapsed() + patience;
    for _ in 0..=limits::TOOL_REDIRECTS {
        let patience = deadline.saturating_sub(system.elapsed());
        let mut response = send_request(policy, &request, patience)?;
        let status = response.status().as_u16();
        let location = response.headers().get(http::header::LOCATION);
        let next = match (status, location.and_then(|place| place.to_str().ok())) {
            (301 | 302 | 303 | 307 | 308, Some(location)) => {
                Some(resolve_redirect(&request.uri, location)?)
            }
            _ => None,
        };
        let Some(next) = next else { return read_answer(&request.uri, &mut response) };
        let is_elsewhere =
            next.scheme() != request.uri.scheme() || next.authority() != request.uri.authority();
        if is_elsewhere && redirects == Redirects::SameHost {
            let host = next.authority().map_or("", http::uri::Authority::as_str);
            return Err(create_refusal(format!("the server redirects to another host, `{host}`")));
        }
        if is_elsewhere {
            // Any header field may be a key, which is meant for one host only.
            request.headers.retain(|(name, _)| HARMLESS.contains(&name.to_lowercase().as_str()));
        }
        let becomes_get = status == 303 || (status <= 302 && request.method == Method::POST);
        if becomes_get && request.method != Method::HEAD {
            request.method = Method::GET;
            request.body = None;
        } else if is_elsewhere && request.body.is_some() {
            return Err(create_refusal(
                "the server redirects to another host, and the body is not sent there",
            ));
        }
        request.uri = next;
    }
    Err(create_refusal(format!("the server redirects more than {} times", limits::TOOL_REDIRECTS)))
}

/// Refuses a scheme that the policy does not allow for a host.
pub(super) fn check_scheme(policy: &NetworkPolicy, uri: &Uri, scheme: &str) -> AbilityResult<()> {
    let host = uri.host().unwrap_or_default();
    match scheme {
        "https" => Ok(()),
        "http" if policy.is_private_host(uri) || policy.plain_http => Ok(()),
        "http" => Err(create_refusal(format!("requests to `{host}` must use `https`"))),
        other => Err(create_refusal(format!("`{other}` is neither `https` nor `http`"))),
    }
}

/// Returns the addresses of a host, if a connection to all of them is allowed.
pub(super) fn resolve_addresses(
    policy: &NetworkPolicy,
    uri: &Uri,
    patience: Duration,
) -> AbilityResult<Vec<SocketAddr>> {
    let guard = Guard { resolver: Names::default(), is_private: policy.is_private_host(uri) };
    let timeout = NextTimeout { after: patience.into(), ..NextTimeout::default() };
    let found = guard.resolve(uri, &ureq::config::Config::default(), timeout);
    let host = uri.host().unwrap_or_default();
    found.map(|found| found.iter().copied().collect()).map_err(|error| explain_error(host, &error))
}

/// Reads and checks an address that is about to be opened: its scheme, and where it leads.
pub(super) fn check_address(
    policy: &NetworkPolicy,
    address: &str,
    patience: Duration,
) -> AbilityResult<()> {
    let uri = read_uri(address)?;
    check_scheme(policy, &uri, uri.scheme_str().unwrap_or_default())?;
    resolve_addresses(policy, &uri, patience).map(drop)
}

fn send_request(
    policy: &NetworkPolicy,
    request: &HttpRequest,
    patience: Duration,
) -> AbilityResult<http::Response<ureq::Body>> {
    let uri = &request.uri;
    let is_private = policy.is_private_host(uri);
    let host = uri.host().unwrap_or_default();
    check_scheme(policy, uri, uri.scheme_str().unwrap_or_default())?;
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .max_idle_connections(0)
        .max_response_header_size(HEADER_BYTES)
        .user_agent("brief")
        .timeout_global(Some(patience))
        .build();
    let agent = ureq::Agent::with_parts(
        config,
        DefaultConnector::default(),
        Guard { resolver: Names::default(), is_private },
    );
    let mut builder = http::Request::builder().method(&request.method).uri(uri);
    for (name, value) in &request.headers {
        builder = builder.header(name, value);
    }
    let wrong = |error: http::Error| create_refusal(format!("invalid request: {error}"));
    let response = match &request.body {
        Some(body) => agent.run(builder.body(body.as_str()).map_err(wrong)?),
        None => agent.run(builder.body(()).map_err(wrong)?),
    };
    response.map_err(|error| explain_error(host, &error))
}

fn read_answer(uri: &Uri, response: &mut http::Response<ureq::Body>) -> AbilityResult {
    let host = uri.host().unwrap_or_default();
    let mut headers = Map::new();
    for (name, value) in response.headers() {
        // Cookies are neither kept nor handed to tools.
        if name != "set-cookie" {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            headers.insert(name.as_str().to_owned(), json!(value));
        }
    }
    let body = response.body_mut().with_config().limit(limits::TOOL_FETCH_BYTES).read_to_vec();
    let body = body.map_err(|error| explain_error(host, &error))?;
    Ok(json!({
        "status": response.status().as_u16(),
        "url": uri.to_string(),
        "headers": headers,
        "body": String::from_utf8_lossy(&body),
    }))
}

fn explain_error(host: &str, error: &ureq::Error) -> AbilityRefusal {
    match error {
        ureq::Error::Other(inner) if inner.is::<NotPublic>() => create_refusal(format!(
            "`{host}` is not on the public network: the operator must allow it by name"
        )),
        ureq::Error::BodyExceedsLimit(most) => {
            create_refusal(format!("the answer of `{host}` is larger than {most} bytes"))
        }
        ureq::Error::Timeout(_) => create_failure(format!("`{host}` did not answer in time")),
        error => create_failure(format!("`{host}`: {error}")),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the address is not public")]
struct NotPublic;

/// A resolver that returns only addresses to which a connection is allowed.
#[derive(Debug)]
struct Guard {
    resolver: Names,
    is_private: bool,
}

impl Resolver for Guard {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.resolver.resolve(uri, config, timeout)?;
        if self.is_private {
            return Ok(found);
        }
        // A private address among public ones is suspicious, so the host is refused.
        if found.iter().all(|address: &SocketAddr| is_public(address.ip())) {
            Ok(found)
        } else {
            Err(ureq::Error::Other(Box::new(NotPublic)))
        }
    }
}

/// Returns the target of a redirect.
fn resolve_redirect(base: &Uri, location: &str) -> AbilityResult<Uri> {
    let location = location.split('#').next().unwrap_or_default();
    let scheme = base.scheme_str().unwrap_or("https");
    let authority = base.authority().map_or("", http::uri::Authority::as_str);
    let path = base.path();
    let is_whole = location.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let address = if is_whole {
        location.to_owned()
    } else if let Some(rest) = location.strip_prefix("//") {
        format!("{scheme}://{rest}")
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}")
    } else if location.is_empty() || location.starts_with('?') {
        format!("{scheme}://{authority}{path}{location}")
    } else {
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        format!("{scheme}://{authority}{above}/{location}")
    };
    read_uri(&address)
}

#[cfg(test)]
mod tests {
    use brief_system::OsSystem;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    #[test]
    fn a_redirect_leads_to_a_whole_address() {
        let base: Uri = "https://a.example:444/x/y?q=1".parse().unwrap();
        for (location, whole) in [
            ("https://b.example/z#f", "https://b.example/z"),
            ("//b.example/z", "https://b.example/z"),
            ("/z", "https://a.example:444/z"),
            ("z", "https://a.example:444/x/z"),
            ("?q=2", "https://a.example:444/x/y?q=2"),
        ] {
            assert_eq!(resolve_redirect(&base, location).unwrap().to_string(), whole, "{location}");
        }
        for location in ["file:///etc/passwd", "javascript:alert(1)", "https://u:p@b.example/"] {
            assert!(resolve_redirect(&base, location).is_err(), "{location}");
        }
    }

    #[test]
    fn the_log_shows_neither_users_nor_queries() {
        assert_eq!(
            render_request_target("https://u:p@a.example/x?key=1", None),
            "GET https://a.example/x?…"
        );
        let options = json!({"method": "post"});
        assert_eq!(
            render_request_target("https://a.example/x", Some(&options)),
            "POST https://a.example/x"
        );
    }

    #[test]
    fn requests_that_are_none_are_refused() {
        let read = |args: Value| HttpRequest::from_arguments(args.as_array().unwrap()).map(|_| ());
        assert!(read(json!(["https://a.example", {"method": "post", "body": "x"}])).is_ok());
        for args in [
            json!([]),
            json!(["a.example"]),
            json!(["https://u:p@a.example/"]),
            json!(["https://a.example", {"method": "CONNECT"}]),
            json!(["https://a.example", {"headers": {"Host": "b"}}]),
            json!(["https://a.example", {"headers": {"X": 1}}]),
            json!(["https://a.example", {"body": "x"}]),
            json!(["https://a.example", {"method": "POST", "body": {}}]),
        ] {
            assert!(read(args.clone()).is_err(), "{args}");
        }
    }

    fn refusal(address: &str) -> String {
        let request = HttpRequest::from_arguments(&[json!(address)]).unwrap();
        let policy = NetworkPolicy { plain_http: true, ..NetworkPolicy::default() };
        fetch_url(&OsSystem, &policy, request, PATIENCE).unwrap_err().to_string()
    }

    /// Every spelling of an address of this machine.
    #[test]
    fn this_machine_is_not_the_public_network() {
        for address in [
            "http://127.0.0.1:1/",
            "http://127.1:1/",
            "http://2130706433:1/",
            "http://0x7f000001:1/",
            "http://localhost:1/",
            "http://[::1]:1/",
            "http://[::ffff:127.0.0.1]:1/",
            "http://0.0.0.0:1/",
            "https://169.254.169.254/latest",
        ] {
            assert!(refusal(address).contains("not on the public network"), "{address}");
        }
    }

    #[test]
    fn plain_http_has_to_be_allowed() {
        let request = HttpRequest::from_arguments(&[json!("http://example.com/")]).unwrap();
        let policy = NetworkPolicy::default();
        let error = fetch_url(&OsSystem, &policy, request, PATIENCE).unwrap_err();
        assert!(error.to_string().contains("must use `https`"), "{error}");
    }
}
