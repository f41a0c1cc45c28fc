//! A container registry over HTTP: the distribution specification, as far as artifacts need it.
//!
//! An account goes to its own host only: to the registry, and over an encrypted connection to the server of
//! tokens that the registry names. A redirect of anything but the content of a layer is followed to the same
//! host alone. The content of a layer may lie elsewhere: it is fetched from there without an account, and its
//! digest is checked.

use std::io::Read;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use brief_outgoing::{Route, is_own_machine};
use brief_syntax::limits;
use brief_system::System;
use ureq::http::uri::Authority;
use ureq::http::{Method, Request, Response, Uri};

use super::challenge::{Challenge, token_of};
use super::credentials::{self, Credentials};
use super::error::OciError;
use super::model::{Descriptor, Document, INDEX, MANIFEST, MANIFEST_BYTES};
use super::reference::{check_tag, is_digest};
use super::store::{Fetched, Purpose, Store, fallback_tag, verify_digest};
use super::wire::{
    Failure, describe_answer, find_header, is_about_trust, next_page, retry_delay, send_request,
};
use crate::address::one_line;

/// The beginning of the message about a broken connection.
const ENDED: &str = "the connection ended";

/// The attempts for one request.
const ATTEMPTS: u32 = 4;

/// The limit for redirects of one layer.
const MOST_REDIRECTS: usize = 3;

/// The limit for pages of a list of tags.
const MOST_PAGES: usize = 20;

/// The variable with the seconds that one request may take.
const SECONDS: &str = "BRIEF_REGISTRY_SECONDS";

/// One repository of a registry.
pub(crate) struct RegistryClient<'s> {
    system: &'s dyn System,
    host: String,
    path: String,
    shown: String,
    purpose: Purpose,
    patience: Duration,
    /// The way to the registry; of one on this machine only an answer tells whether it is encrypted.
    way: Mutex<Option<Way>>,
    /// The account of the user, asked for once.
    account: OnceLock<Result<Option<Credentials>, String>>,
    /// The header field that the registry accepts.
    authorization: Mutex<Option<String>>,
}

#[derive(Clone)]
struct Way {
    agent: ureq::Agent,
    scheme: &'static str,
}

/// A request, which may be sent several times.
#[derive(Clone)]
struct Message<'m> {
    method: Method,
    /// The path on the registry, or a whole address.
    target: String,
    accept: &'static str,
    body: Option<(&'m [u8], &'static str)>,
}

/// The media types of everything but manifests.
const ANYTHING: &str = "*/*";

/// The media types of manifests that are understood.
const MANIFESTS: &str =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json";

impl<'s> RegistryClient<'s> {
    pub(crate) fn new(
        system: &'s dyn System,
        host: &str,
        path: &str,
        purpose: Purpose,
    ) -> RegistryClient<'s> {
        let shown = format!("{}{host}/{path}", super::reference::SCHEME);
        let seconds = system.env(SECONDS).and_then(|value| value.to_str()?.parse().ok());
        let seconds: u64 = seconds.filter(|seconds| *seconds > 0).unwrap_or(limits::REMOTE_SECONDS);
        RegistryClient {
            system,
            // The registry of docker has another name than its images.
            host: if host == "docker.io" { "registry-1.docker.io" } else { host }.to_owned(),
            path: path.to_owned(),
            shown,
            purpose,
            patience: Duration::from_secs(seconds),
            way: Mutex::default(),
            account: OnceLock::new(),
            authorization: Mutex::default(),
        }
    }

    fn bare_host(&self) -> &str {
        let end = match self.host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => name.len(),
            _ => self.host.len(),
        };
        self.host[..end].trim_matches(['[', ']'])
    }

    fn unreachable_error(&self, said: impl Into<String>) -> OciError {
        OciError::Unreachable { repository: self.shown.clone(), said: said.into() }
    }

    fn create_agent(&self, is_encrypted: bool, host: &str) -> Result<ureq::Agent, OciError> {
        let route = Route::from_environment(self.system, is_encrypted, host).map_err(|error| {
            self.unreachable_error(format!("cannot read `SSL_CERT_FILE`: {error}"))
        })?;
        route.create_agent().map_err(|problem| self.unreachable_error(problem))
    }

    /// Sends a request once, by one way.
    fn send_by(
        &self,
        way: &Way,
        message: &Message<'_>,
    ) -> Result<Response<ureq::Body>, ureq::Error> {
        let url = if message.target.starts_with('/') {
            format!("{}://{}{}", way.scheme, self.host, message.target)
        } else {
            message.target.clone()
        };
        let mut request =
            Request::builder().method(&message.method).uri(url).header("accept", message.accept);
        if let Some(field) = lock_mutex(&self.authorization).as_deref() {
            request = request.header("authorization", field);
        }
        send_request(&way.agent, request, message.body, self.patience)
    }

    /// Sends a request once. On this machine a registry may speak plain HTTP: that is tried first, then TLS.
    fn send_message(&self, message: &Message<'_>) -> Result<Response<ureq::Body>, Failure> {
        let known = lock_mutex(&self.way).clone();
        if let Some(way) = known {
            return Ok(self.send_by(&way, message)?);
        }
        if is_own_machine(self.bare_host()) {
            let way = Way { agent: self.create_agent(false, self.bare_host())?, scheme: "http" };
            let response = self.send_by(&way, message)?;
            // A server with TLS says so in this way.
            if response.status() != 400 {
                *lock_mutex(&self.way) = Some(way);
                return Ok(response);
            }
        }
        let way = Way { agent: self.create_agent(true, self.bare_host())?, scheme: "https" };
        let response = self.send_by(&way, message)?;
        *lock_mutex(&self.way) = Some(way);
        Ok(response)
    }

    /// Sends a request until it is answered, with the account that the registry asks for.
    fn send_with_retries(&self, message: &Message<'_>) -> Result<Response<ureq::Body>, OciError> {
        let mut said = String::new();
        let mut has_token = false;
        let mut attempt = 0;
        while attempt < ATTEMPTS {
            if attempt > 0 {
                std::thread::sleep(retry_delay(attempt, &said));
            }
            match self.send_message(message) {
                Ok(response) => {
                    let status = response.status().as_u16();
                    match status {
                        401 if !has_token => {
                            has_token = true;
                            self.fetch_authorization(&response)?;
                        }
                        401 | 403 => {
                            let said = format!("status {}", describe_answer(response));
                            let repository = self.shown.clone();
                            return Err(OciError::Denied { repository, said });
                        }
                        429 | 500 | 502 | 503 | 504 => {
                            let later = find_header(&response, "retry-after").map(str::to_owned);
                            said = format!("status {}", describe_answer(response));
                            if let Some(later) = later {
                                said = format!("{said}, retry after {later}");
                            }
                            attempt += 1;
                        }
                        300..=399 => match self.find_redirect_target(message, &response)? {
                            Some(target) => {
                                let message = Message { target, ..message.clone() };
                                return self.send_message(&message).map_err(
                                    |failure| match failure {
                                        Failure::Wire(error) => {
                                            self.unreachable_error(error.to_string())
                                        }
                                        Failure::Own(error) => *error,
                                    },
                                );
                            }
                            None => return Ok(response),
                        },
                        _ => return Ok(response),
                    }
                }
                Err(Failure::Own(error)) => return Err(*error),
                Err(Failure::Wire(ureq::Error::Timeout(_))) => {
                    let seconds = self.patience.as_secs();
                    return Err(
                        self.unreachable_error(format!("no answer within {seconds} seconds"))
                    );
                }
                Err(Failure::Wire(error)) if is_about_trust(&error) => {
                    return Err(self.unreachable_error(format!(
                        "{error}; set `SSL_CERT_FILE` to trust your own certificate authority"
                    )));
                }
                Err(Failure::Wire(error)) => {
                    said = error.to_string();
                    attempt += 1;
                }
            }
        }
        Err(self.unreachable_error(format!("{said} (after {ATTEMPTS} attempts)")))
    }

    /// Returns the target of a redirect on the same host. `None` for the content of a layer, whose caller
    /// decides; an error for everything else.
    fn find_redirect_target(
        &self,
        message: &Message<'_>,
        response: &Response<ureq::Body>,
    ) -> Result<Option<String>, OciError> {
        if message.method == Method::GET && message.target.contains("/blobs/") {
            return Ok(None);
        }
        let target = find_header(response, "location").unwrap_or_default();
        let uri: Option<Uri> = target.parse().ok();
        let authority = uri.as_ref().and_then(Uri::authority).map(Authority::as_str);
        let scheme = lock_mutex(&self.way).as_ref().map_or("https", |way| way.scheme);
        match authority {
            None if target.starts_with('/') => Ok(Some(target.to_owned())),
            Some(host) if host == self.host && target.starts_with(&format!("{scheme}://")) => {
                Ok(Some(target.to_owned()))
            }
            _ => Err(OciError::Redirected {
                repository: self.shown.clone(),
                target: one_line(authority.unwrap_or(target)),
            }),
        }
    }

    /// Gets the header field that a refused request lacks.
    fn fetch_authorization(&self, response: &Response<ureq::Body>) -> Result<(), OciError> {
        let account =
            self.account.get_or_init(|| credentials::find_credentials(self.system, &self.host));
        let account = account.as_ref().map_err(|problem| OciError::Account {
            host: self.host.clone(),
            problem: problem.clone(),
        })?;
        let challenges = response.headers().get_all("www-authenticate");
        let challenges: Vec<Challenge> =
            challenges.iter().filter_map(|field| Challenge::parse(field.to_str().ok()?)).collect();
        let denied =
            |said: &str| OciError::Denied { repository: self.shown.clone(), said: said.to_owned() };
        if let Some(Challenge::Bearer(realm)) =
            challenges.iter().find(|one| matches!(one, Challenge::Bearer(_)))
        {
            let is_plain = lock_mutex(&self.way).as_ref().is_some_and(|way| way.scheme == "http");
            let rights = if self.purpose == Purpose::Write { "pull,push" } else { "pull" };
            let scope = format!("repository:{}:{rights}", self.path);
            let uri = realm.build_address(is_plain, &scope).map_err(|said| denied(&said))?;
            let host = uri.host().unwrap_or_default().to_owned();
            let agent = self.create_agent(uri.scheme_str() == Some("https"), &host)?;
            let token = token_of(&agent, &uri, realm, &scope, account.as_ref(), self.patience)
                .map_err(|said| denied(&said))?;
            *lock_mutex(&self.authorization) = Some(format!("Bearer {token}"));
            return Ok(());
        }
        if challenges.iter().any(|one| matches!(one, Challenge::Basic)) {
            let field = account.as_ref().and_then(Credentials::basic_header);
            let field = field.ok_or_else(|| denied("login required, and no credentials found"))?;
            *lock_mutex(&self.authorization) = Some(field);
            return Ok(());
        }
        Err(denied("unsupported authentication scheme"))
    }

    fn target_path(&self, rest: &str) -> String {
        format!("/v2/{}/{rest}", self.path)
    }

    /// Asks for something of the repository, at a path below it.
    fn request_path(
        &self,
        method: Method,
        rest: &str,
        accept: &'static str,
    ) -> Result<Response<ureq::Body>, OciError> {
        self.send_with_retries(&Message {
            method,
            target: self.target_path(rest),
            accept,
            body: None,
        })
    }

    /// Sends content to a path on the registry.
    fn send_content(
        &self,
        method: Method,
        target: String,
        body: (&[u8], &'static str),
    ) -> Result<Response<ureq::Body>, OciError> {
        self.send_with_retries(&Message { method, target, accept: ANYTHING, body: Some(body) })
    }

    /// Returns the answer, or the error that it stands for.
    fn check_response(
        &self,
        reference: &str,
        response: Response<ureq::Body>,
    ) -> Result<Response<ureq::Body>, OciError> {
        match response.status().as_u16() {
            200 => Ok(response),
            404 => Err(OciError::Missing {
                repository: self.shown.clone(),
                reference: reference.to_owned(),
            }),
            _ => Err(self.unreachable_error(format!("status {}", describe_answer(response)))),
        }
    }

    fn read_body(
        &self,
        response: Response<ureq::Body>,
        what: &'static str,
        limit: u64,
    ) -> Result<Vec<u8>, OciError> {
        let mut bytes = Vec::new();
        let mut reader = response.into_body().into_reader().take(limit + 1);
        reader
            .read_to_end(&mut bytes)
            .map_err(|error| self.unreachable_error(format!("{ENDED} early: {error}")))?;
        if bytes.len() as u64 > limit {
            return Err(OciError::too_large(&self.shown, what, limit));
        }
        Ok(bytes)
    }

    /// Follows redirects of a layer's content, without the account.
    fn follow_redirects(
        &self,
        mut response: Response<ureq::Body>,
    ) -> Result<Response<ureq::Body>, OciError> {
        let mut base: Uri = {
            let way = lock_mutex(&self.way);
            let scheme = way.as_ref().map_or("https", |way| way.scheme);
            format!("{scheme}://{}/", self.host).parse().unwrap_or_default()
        };
        for _ in 0..MOST_REDIRECTS {
            if !response.status().is_redirection() {
                return Ok(response);
            }
            let refused = |target: &str| OciError::Redirected {
                repository: self.shown.clone(),
                target: one_line(target.split('?').next().unwrap_or_default()),
            };
            let target = find_header(&response, "location").unwrap_or_default();
            let whole = if target.starts_with('/') {
                let scheme = base.scheme_str().unwrap_or("https");
                format!("{scheme}://{}{target}", base.authority().map_or("", |host| host.as_str()))
            } else {
                target.to_owned()
            };
            let uri: Uri = whole.parse().map_err(|_| refused(target))?;
            let host = uri.host().unwrap_or_default().to_owned();
            let is_encrypted = uri.scheme_str() == Some("https");
            // A registry elsewhere must not send us to servers of this machine.
            let is_here = is_own_machine(host.trim_matches(['[', ']']));
            let from_here = is_own_machine(self.bare_host());
            if (is_here && !from_here) || (!is_encrypted && !is_here) {
                return Err(refused(target));
            }
            let agent = self.create_agent(is_encrypted, &host)?;
            let request = Request::builder().method(Method::GET).uri(uri.clone());
            response = send_request(&agent, request, None, self.patience)
                .map_err(|error| self.unreachable_error(error.to_string()))?;
            base = uri;
        }
        Err(self.unreachable_error("too many redirects for a layer"))
    }

    fn fetch_manifest(&self, reference: &str) -> Result<Fetched, OciError> {
        let response =
            self.request_path(Method::GET, &format!("manifests/{reference}"), MANIFESTS)?;
        let response = self.check_response(reference, response)?;
        let said = find_header(&response, "docker-content-digest").map(str::to_owned);
        let bytes = self.read_body(response, "the manifest", MANIFEST_BYTES)?;
        let expected = if is_digest(reference) { Some(reference.to_owned()) } else { said };
        let bytes = match expected.filter(|digest| is_digest(digest)) {
            Some(digest) => verify_digest(&self.shown, &digest, bytes)?,
            None => bytes,
        };
        Fetched::new(&self.shown, bytes)
    }

    fn fetch_blob(&self, descriptor: &Descriptor, limit: u64) -> Result<Vec<u8>, OciError> {
        let digest = &descriptor.digest;
        let response = self.request_path(Method::GET, &format!("blobs/{digest}"), ANYTHING)?;
        let response = self.check_response(digest, self.follow_redirects(response)?)?;
        let bytes = self.read_body(response, "a layer", limit.min(descriptor.size))?;
        verify_digest(&self.shown, digest, bytes)
    }
}

impl Store for RegistryClient<'_> {
    fn resolve_tag(&self, tag: &str) -> Result<String, OciError> {
        let response = self.request_path(Method::HEAD, &format!("manifests/{tag}"), MANIFESTS)?;
        let response = self.check_response(tag, response)?;
        let digest = find_header(&response, "docker-content-digest").map(str::to_owned);
        match digest.filter(|digest| is_digest(digest)) {
            Some(digest) => Ok(digest),
            // The field is optional.
            None => Ok(self.read_manifest(tag)?.digest),
        }
    }

    fn read_manifest(&self, reference: &str) -> Result<Fetched, OciError> {
        retry_interrupted(|| self.fetch_manifest(reference))
    }

    fn read_blob(&self, descriptor: &Descriptor, limit: u64) -> Result<Vec<u8>, OciError> {
        if descriptor.size > limit {
            return Err(OciError::too_large(&self.shown, "a layer", limit));
        }
        retry_interrupted(|| self.fetch_blob(descriptor, limit))
    }

    fn list_tags(&self) -> Result<Vec<String>, OciError> {
        let mut found = Vec::new();
        let mut target = self.target_path("tags/list?n=1000");
        for _ in 0..MOST_PAGES {
            let (method, accept) = (Method::GET, ANYTHING);
            let response =
                self.send_with_retries(&Message { method, target, accept, body: None })?;
            let response = self.check_response("tags", response)?;
            let next = find_header(&response, "link").and_then(next_page);
            let bytes = self.read_body(response, "the tag list", MANIFEST_BYTES)?;
            let page: serde_json::Value = serde_json::from_slice(&bytes)
                .map_err(|_| self.unreachable_error("invalid tag list"))?;
            let tags = page["tags"].as_array().into_iter().flatten();
            let tags = tags.filter_map(|tag| tag.as_str()).filter(|tag| check_tag(tag).is_ok());
            found.extend(tags.map(str::to_owned));
            match next {
                Some(next) => target = next,
                None => break,
            }
        }
        Ok(found)
    }

    fn list_referrers(&self, digest: &str) -> Result<Vec<Descriptor>, OciError> {
        let response = self.request_path(Method::GET, &format!("referrers/{digest}"), INDEX)?;
        let Some(response) = OciError::if_present(self.check_response(digest, response))? else {
            return self.listed_by_tag(digest);
        };
        let bytes = self.read_body(response, "the signature list", MANIFEST_BYTES)?;
        Ok(Fetched::new(&self.shown, bytes)?.document.manifests.unwrap_or_default())
    }

    fn put_blob(&self, digest: &str, bytes: &[u8]) -> Result<(), OciError> {
        let known = self.request_path(Method::HEAD, &format!("blobs/{digest}"), ANYTHING)?;
        if known.status() == 200 {
            return Ok(());
        }
        let not_taken = |response| OciError::NotTaken {
            repository: self.shown.clone(),
            what: "a layer",
            said: describe_answer(response),
        };
        let media_type = "application/octet-stream";
        let uploads = self.target_path("blobs/uploads/");
        let started = self.send_content(Method::POST, uploads, (&[], media_type))?;
        if started.status() != 202 {
            return Err(not_taken(started));
        }
        let place = find_header(&started, "location").unwrap_or_default().to_owned();
        let place = self.own_place(&place)?;
        let sign = if place.contains('?') { '&' } else { '?' };
        let target = format!("{place}{sign}digest={digest}");
        let done = self.send_content(Method::PUT, target, (bytes, media_type))?;
        if done.status() == 201 { Ok(()) } else { Err(not_taken(done)) }
    }

    fn put_manifest(&self, manifest: &Fetched, tag: Option<&str>) -> Result<(), OciError> {
        let document = &manifest.document;
        let reference = tag.unwrap_or(&manifest.digest);
        let target = self.target_path(&format!("manifests/{reference}"));
        let media_type = if document.is_index() { INDEX } else { MANIFEST };
        let done = self.send_content(Method::PUT, target, (&manifest.bytes, media_type))?;
        if done.status() != 201 {
            let (repository, what) = (self.shown.clone(), "the manifest");
            return Err(OciError::NotTaken { repository, what, said: describe_answer(done) });
        }
        let is_listed = find_header(&done, "oci-subject").is_some();
        if let (Some(subject), false) = (&document.subject, is_listed) {
            self.list_by_tag(&subject.digest, manifest)?;
        }
        Ok(())
    }
}

impl RegistryClient<'_> {
    /// Returns the entries of the index that stands for a list of artifacts about another one.
    fn listed_by_tag(&self, subject: &str) -> Result<Vec<Descriptor>, OciError> {
        let index = OciError::if_present(self.read_manifest(&fallback_tag(subject)))?;
        Ok(index.and_then(|index| index.document.manifests).unwrap_or_default())
    }

    /// Adds an artifact about another one to the index that stands for a list of them.
    fn list_by_tag(&self, subject: &str, manifest: &Fetched) -> Result<(), OciError> {
        let mut entries = self.listed_by_tag(subject)?;
        let mut entry = manifest.descriptor();
        entry.annotations.clone_from(&manifest.document.annotations);
        if entries.iter().all(|known| known.digest != entry.digest) {
            entries.push(entry);
            entries.sort_by(|one, other| one.digest.cmp(&other.digest));
            let index = Fetched::from_document(Document::new_index(None, entries));
            self.put_manifest(&index, Some(&fallback_tag(subject)))?;
        }
        Ok(())
    }

    /// Returns the path of an upload, which must be on the same host.
    fn own_place(&self, location: &str) -> Result<String, OciError> {
        if location.starts_with('/') {
            return Ok(location.to_owned());
        }
        let uri: Option<Uri> = location.parse().ok();
        let host = uri.as_ref().and_then(Uri::authority).map_or("", |host| host.as_str());
        match uri.as_ref().and_then(Uri::path_and_query) {
            Some(rest) if host == self.host => Ok(rest.to_string()),
            _ => {
                Err(OciError::Redirected { repository: self.shown.clone(), target: one_line(host) })
            }
        }
    }
}

fn lock_mutex<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks again when a connection breaks in the middle of an answer.
fn retry_interrupted<T>(work: impl Fn() -> Result<T, OciError>) -> Result<T, OciError> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        match work() {
            Err(OciError::Unreachable { said, .. })
                if attempt < ATTEMPTS && said.starts_with(ENDED) =>
            {
                std::thread::sleep(retry_delay(attempt, ""));
            }
            other => return other,
        }
    }
}
