//! The model's server, from the operator's environment.
//!
//! The operator names the server, so any host is allowed, with or without TLS. A key that would cross the
//! network unencrypted is worth a warning.

use std::borrow::Cow;
use std::fmt;

use brief_outgoing::{Route, is_own_machine};
use brief_system::System;

/// The variable that names the server.
const BASE_URL: &str = "OPENAI_BASE_URL";

/// The variable that holds the key.
const API_KEY: &str = "OPENAI_API_KEY";

const DEFAULT_BASE: &str = "https://api.openai.com/v1";

/// The path below the base address.
const ROUTE: &str = "/chat/completions";

/// The shortest key that counts as a secret. Shorter ones are words such as `ollama`, which occur in texts.
const SECRET_BYTES: usize = 12;

/// A secret key: its text form and its debug form are an ellipsis.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Returns the value of the header that carries it. Only the transport may use it.
    pub fn to_header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Removes the key from untrusted text, such as a server's error message.
    pub fn hide_key<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.0.len() < SECRET_BYTES || !text.contains(&self.0) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.replace(&self.0, "…"))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

/// A server that speaks chat completions.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    base: String,
    host: String,
    key: Option<ApiKey>,
    route: Route,
}

/// Shows neither the key nor the password of a proxy.
impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Endpoint").field("base", &self.base).finish_non_exhaustive()
    }
}

/// An environment that names no usable server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The address is not valid. It is not repeated, because it may hold a password.
    #[error("`OPENAI_BASE_URL` {0}")]
    Address(&'static str),
    /// The key has invalid characters.
    #[error("`OPENAI_API_KEY` contains invalid characters")]
    Key,
    /// The certificate file cannot be read.
    #[error("cannot read `SSL_CERT_FILE`: {0}")]
    Certificates(String),
    /// The default server requires a key.
    #[error("`OPENAI_API_KEY` is not set")]
    NoKey,
}

impl EndpointError {
    /// Returns advice for the operator.
    pub fn help(&self) -> &'static str {
        match self {
            EndpointError::Address(_) => "write it as `http://localhost:11434/v1`",
            EndpointError::Key => "write only the key, without quotes or line breaks",
            EndpointError::Certificates(_) => "set it to a file with PEM certificates",
            EndpointError::NoKey => {
                "set it, or set `OPENAI_BASE_URL` to another server, such as \
                 `http://localhost:11434/v1`"
            }
        }
    }
}

impl Endpoint {
    /// Reads `OPENAI_BASE_URL` and `OPENAI_API_KEY`, and the usual variables for a proxy and for custom
    /// certificates.
    pub fn from_environment(system: &dyn System) -> Result<Endpoint, EndpointError> {
        let variable = |name: &str| {
            let text = system.env(name)?.to_string_lossy().trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        let given = variable(BASE_URL);
        let base = given.as_deref().unwrap_or(DEFAULT_BASE);
        let (base, host) = take_apart(base).map_err(EndpointError::Address)?;
        let key = match variable(API_KEY) {
            Some(key) if key.bytes().all(|byte| byte.is_ascii_graphic()) => Some(ApiKey(key)),
            Some(_) => return Err(EndpointError::Key),
            None if given.is_none() => return Err(EndpointError::NoKey),
            None => None,
        };
        let route = Route::from_environment(system, base.starts_with("https:"), &host)
            .map_err(EndpointError::Certificates)?;
        Ok(Endpoint { base, host, key, route })
    }

    /// Returns the address for chat completions.
    pub fn url(&self) -> String {
        format!("{}{ROUTE}", self.base)
    }

    pub fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    /// Returns the way to this server.
    pub(super) fn route(&self) -> &Route {
        &self.route
    }

    /// Removes the key from untrusted text.
    pub(super) fn hide_key<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.key.as_ref().map_or(Cow::Borrowed(text), |key| key.hide_key(text))
    }

    /// Returns a warning for the operator, if the connection is not safe.
    pub fn warning(&self) -> Option<String> {
        let is_open = self.base.starts_with("http:") && !is_own_machine(&self.host);
        let is_told = self.key.is_some() && is_open;
        is_told.then(|| {
            format!(
                "the key is sent to `{}` unencrypted, so others on the network can read it",
                self.host
            )
        })
    }
}

/// Splits a base address: returns it without a final slash, and its host.
fn take_apart(address: &str) -> Result<(String, String), &'static str> {
    if !address.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("contains invalid characters");
    }
    let scheme_end = address.find("://").ok_or("must start with `https://` or `http://`")?;
    let scheme = address[..scheme_end].to_ascii_lowercase();
    if scheme != "http" && scheme != "https" {
        return Err("must start with `https://` or `http://`");
    }
    let rest = &address[scheme_end + 3..];
    if rest.contains(['?', '#']) {
        return Err("must not contain `?` or `#`");
    }
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if authority.contains('@') {
        return Err("contains a password; put the key into `OPENAI_API_KEY`");
    }
    let host = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    if host.is_empty() {
        return Err("has no host");
    }
    // Some documentation names the full path.
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(ROUTE).unwrap_or(path);
    Ok((format!("{scheme}://{authority}{path}"), host.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use brief_system::MemorySystem;

    fn endpoint(env: &[(&str, &str)]) -> Result<Endpoint, EndpointError> {
        let system = MemorySystem::new("/p");
        let system = env.iter().fold(system, |system, (name, value)| system.with_env(name, value));
        Endpoint::from_environment(&system)
    }

    #[test]
    fn the_environment_names_the_server() {
        let url = |base: &str| endpoint(&[(BASE_URL, base)]).map(|endpoint| endpoint.url());
        for (base, expected) in [
            ("http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
            ("http://localhost:11434/v1/", "http://localhost:11434/v1/chat/completions"),
            ("HTTPS://h/v1/chat/completions", "https://h/v1/chat/completions"),
            ("http://[::1]:8080", "http://[::1]:8080/chat/completions"),
        ] {
            assert_eq!(url(base).as_deref(), Ok(expected));
        }
        for base in [
            "localhost:11434",
            "ftp://h",
            "https://",
            "https://u:p@h",
            "http://h/?a=b",
            "http://h\t",
        ] {
            let error = endpoint(&[(BASE_URL, base), (API_KEY, "k")]);
            assert_eq!(error.is_ok(), base == "http://h\t", "{base}");
        }
        let default = endpoint(&[(API_KEY, "k")]).unwrap();
        assert_eq!(default.url(), "https://api.openai.com/v1/chat/completions");
        assert_eq!(endpoint(&[]), Err(EndpointError::NoKey));
        assert_eq!(endpoint(&[(API_KEY, "a\nb")]), Err(EndpointError::Key));
    }

    #[test]
    fn a_key_in_the_open_is_warned_about() {
        let warning = |base: &str, key: &str| {
            endpoint(&[(BASE_URL, base), (API_KEY, key)]).unwrap().warning().is_some()
        };
        assert!(warning("http://models.example/v1", "k"));
        assert!(warning("http://10.0.0.5/v1", "k"));
        for base in [
            "https://models.example/v1",
            "http://localhost/v1",
            "http://127.0.0.2:1/v1",
            "http://[::1]/v1",
            "http://[::ffff:127.0.0.1]/v1",
            "http://a.localhost/v1",
        ] {
            assert!(!warning(base, "k"), "{base}");
        }
        assert!(!warning("http://models.example/v1", ""));
    }

    #[test]
    fn a_key_is_never_shown() {
        let endpoint = endpoint(&[(API_KEY, "sk-0123456789abcdef")]).unwrap();
        let shown = format!("{endpoint:?}");
        assert!(!shown.contains("sk-0123"), "{shown}");
        assert_eq!(endpoint.hide_key("bad key sk-0123456789abcdef!"), "bad key …!");
        let word = ApiKey("ollama".to_owned());
        assert_eq!(word.hide_key("ask ollama"), "ask ollama");
    }

    #[test]
    fn certificates_of_ones_own_are_read() {
        let system = MemorySystem::new("/p")
            .with_env(BASE_URL, "https://models.example/v1")
            .with_env("SSL_CERT_FILE", "/p/ca.pem");
        let missing = Endpoint::from_environment(&system);
        assert_eq!(missing, Err(EndpointError::Certificates("no such file".to_owned())));
        let found = Endpoint::from_environment(&system.with_file("ca.pem", "pem")).unwrap();
        assert_eq!(found.route.certificates.as_deref(), Some(b"pem".as_slice()));
    }

    #[test]
    fn a_proxy_is_used_for_what_lies_elsewhere() {
        let proxy = |base: &str, except: &str| {
            let env = [(BASE_URL, base), ("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", except)];
            endpoint(&env).unwrap().route.proxy.is_some()
        };
        assert!(proxy("https://models.example/v1", "other.example, .test"));
        assert!(!proxy("https://models.example/v1", "example"));
        assert!(!proxy("https://models.example/v1", "*.example"));
        assert!(!proxy("https://models.example/v1", "*"));
        assert!(proxy("https://badexample/v1", "example"));
        assert!(!proxy("https://localhost/v1", ""));
        assert!(!proxy("http://models.example/v1", ""));
    }
}
