//! The answer of a registry to a request without an account, and the token that it asks for.

use std::io::Read;
use std::time::Duration;

use brief_outgoing::is_own_machine;
use ureq::http::{Method, Request, Uri};

use super::credentials::Credentials;
use super::wire::send_request;

/// The limit for the bytes of a token's answer.
const TOKEN_BYTES: u64 = 256 * 1024;

/// The kind of account that a registry asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    Basic,
    Bearer(TokenServer),
}

/// The server of tokens that a registry names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TokenServer {
    realm: String,
    service: Option<String>,
}

impl Challenge {
    pub(super) fn parse(field: &str) -> Option<Challenge> {
        let (scheme, rest) = field.trim().split_once(' ').unwrap_or((field.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Challenge::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let (mut realm, mut service) = (None, None);
        let mut rest = rest.trim_start();
        while let Some((key, after)) = rest.split_once('=') {
            let (value, after) = match after.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"')?,
                None => after.split_once(',').unwrap_or((after, "")),
            };
            match key.trim().to_ascii_lowercase().as_str() {
                "realm" => realm = Some(value.trim().to_owned()),
                "service" => service = Some(value.trim().to_owned()),
                _ => {}
            }
            rest = after.trim_start().trim_start_matches(',').trim_start();
        }
        Some(Challenge::Bearer(TokenServer { realm: realm?, service }))
    }
}

impl TokenServer {
    /// Returns the address to ask. The error is a message.
    pub(super) fn build_address(&self, is_plain: bool, scope: &str) -> Result<Uri, String> {
        let refused = || "invalid token server URL".to_owned();
        let sign = if self.realm.contains('?') { '&' } else { '?' };
        let service = self.service.as_deref().map(escape_query);
        let service = service.map_or(String::new(), |service| format!("service={service}&"));
        let text = format!("{}{sign}{service}scope={}", self.realm, escape_query(scope));
        let uri: Uri = text.parse().map_err(|_| refused())?;
        let host = uri.host().ok_or_else(refused)?.trim_matches(['[', ']']);
        // A password is sent there.
        match uri.scheme_str() {
            Some("https") => Ok(uri),
            Some("http") if is_plain && is_own_machine(host) => Ok(uri),
            _ => Err("the token server does not use HTTPS".to_owned()),
        }
    }
}

/// Asks for a token. The error is a message, without the account.
pub(super) fn token_of(
    agent: &ureq::Agent,
    uri: &Uri,
    realm: &TokenServer,
    scope: &str,
    account: Option<&Credentials>,
    patience: Duration,
) -> Result<String, String> {
    let outcome = match account {
        Some(Credentials::Identity(token)) => {
            let service = realm.service.as_deref().unwrap_or_default();
            let form = format!(
                "grant_type=refresh_token&service={}&client_id=brief&scope={}&refresh_token={}",
                escape_query(service),
                escape_query(scope),
                escape_query(token)
            );
            let request = Request::builder().method(Method::POST).uri(realm.realm.as_str());
            let media_type = "application/x-www-form-urlencoded";
            send_request(agent, request, Some((form.as_bytes(), media_type)), patience)
        }
        account => {
            let mut request = Request::builder().method(Method::GET).uri(uri.clone());
            if let Some(field) = account.and_then(Credentials::basic_header) {
                request = request.header("authorization", field);
            }
            send_request(agent, request, None, patience)
        }
    };
    let response = outcome.map_err(|error| format!("token server: {error}"))?;
    let status = response.status();
    if status != 200 {
        let known =
            if account.is_some() { "with the configured account" } else { "without an account" };
        return Err(format!("the token server answered {status} {known}"));
    }
    let mut bytes = Vec::new();
    let mut reader = response.into_body().into_reader().take(TOKEN_BYTES);
    reader.read_to_end(&mut bytes).map_err(|error| format!("token server: {error}"))?;
    let answer: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let token = answer["token"].as_str().or_else(|| answer["access_token"].as_str());
    let is_field =
        |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    let token = token.filter(is_field).map(str::to_owned);
    token.ok_or_else(|| "the token server returned no token".to_owned())
}

/// Escapes a text for the query of an address.
fn escape_query(text: &str) -> String {
    let mut result = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            result.push(char::from(byte));
        } else {
            result.push_str(&format!("%{byte:02X}"));
        }
    }
    result
}

/// Reads any text as a field. An address that comes of it is encrypted.
pub(super) fn fuzz_challenge(text: &str) {
    if let Some(Challenge::Bearer(realm)) = Challenge::parse(text)
        && let Ok(uri) = realm.build_address(false, "repository:a:pull")
    {
        assert_eq!(uri.scheme_str(), Some("https"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the distribution project's page about token authentication.
    #[test]
    fn fields_of_registries() {
        let field = r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:samalba/my-app:pull,push""#;
        let Some(Challenge::Bearer(realm)) = Challenge::parse(field) else { panic!("{field}") };
        assert_eq!(
            realm.build_address(false, "repository:a/b:pull").unwrap().to_string(),
            "https://auth.docker.io/token?service=registry.docker.io&scope=repository%3Aa%2Fb%3Apull"
        );
        assert_eq!(Challenge::parse("Basic realm=\"x\""), Some(Challenge::Basic));
        assert_eq!(Challenge::parse("Negotiate"), None);
        assert_eq!(Challenge::parse("Bearer service=x"), None);
        assert_eq!(Challenge::parse("Bearer realm=\"open"), None);
    }

    #[test]
    fn a_password_goes_over_no_open_line() {
        let realm = |realm: &str| TokenServer { realm: realm.to_owned(), service: None };
        assert!(realm("http://auth.example/token").build_address(true, "s").is_err());
        assert!(realm("http://127.0.0.1:1/token").build_address(false, "s").is_err());
        assert!(realm("http://127.0.0.1:1/token").build_address(true, "s").is_ok());
        assert!(realm("ftp://auth.example/token").build_address(true, "s").is_err());
        assert!(realm("/token").build_address(true, "s").is_err());
    }
}
