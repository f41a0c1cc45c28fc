//! HTTP to servers that the user has named: that of a model, MCP servers elsewhere, container registries.
//!
//! The proxy and the certificates are those of the user's environment. Redirects are not followed: keys
//! are for one server alone.

mod names;
pub mod sse;

use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use brief_system::System;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::transport::DefaultConnector;

pub use names::Names;

/// The limit for the bytes of a certificate file; that of a whole system has a quarter of a million.
const CERTIFICATE_BYTES: u64 = 4 * 1024 * 1024;

/// The time limit for a connection. A reachable server needs far less.
const CONNECT: Duration = Duration::from_secs(10);

/// The connections to one server that stay open for the next request; a container registry is asked over as many.
pub const CONNECTIONS: usize = 8;

/// The way to a server.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Route {
    /// The proxy. It may hold a password.
    pub proxy: Option<String>,
    /// Certificates to trust instead of the usual ones, in PEM.
    pub certificates: Option<Vec<u8>>,
}

impl Route {
    /// Reads the usual variables for a proxy and for custom certificates. The error says why the certificates
    /// cannot be read.
    pub fn from_environment(
        system: &dyn System,
        is_encrypted: bool,
        host: &str,
    ) -> Result<Route, String> {
        let variable = |name: &str| {
            let text = system.env(name)?.to_string_lossy().trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        let names: [&str; 4] = if is_encrypted {
            ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
        } else {
            ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"]
        };
        let exceptions = variable("NO_PROXY").or_else(|| variable("no_proxy")).unwrap_or_default();
        let proxy = names.into_iter().find_map(variable);
        let proxy = proxy.filter(|_| !is_own_machine(host) && !is_excepted(host, &exceptions));
        let certificates = match variable("SSL_CERT_FILE").filter(|_| is_encrypted) {
            Some(path) => {
                let bytes = system.read(Path::new(&path), CERTIFICATE_BYTES);
                Some(bytes.map_err(|error| error.to_string())?)
            }
            None => None,
        };
        Ok(Route { proxy, certificates })
    }

    /// Prepares requests by this way. Sends nothing yet. The error is a message.
    pub fn create_agent(&self) -> Result<ureq::Agent, &'static str> {
        let proxy = match &self.proxy {
            // The address may hold a password.
            Some(address) => Some(
                ureq::Proxy::new(address)
                    .map_err(|_| "invalid proxy address in the environment")?,
            ),
            None => None,
        };
        let mut tls = TlsConfig::builder();
        if let Some(pem) = &self.certificates {
            // Everything else in such a file is a comment, or a key that we do not need.
            let found = parse_pem(pem).filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            });
            tls = tls.root_certs(RootCerts::from(found));
        }
        let config = ureq::Agent::config_builder()
            .tls_config(tls.build())
            .proxy(proxy)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .max_idle_connections(2 * CONNECTIONS)
            .max_idle_connections_per_host(CONNECTIONS)
            .user_agent(concat!("brief/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(ureq::Agent::with_parts(config, DefaultConnector::default(), Names::default()))
    }
}

/// Returns whether a host is this machine.
pub fn is_own_machine(host: &str) -> bool {
    let is_own = |address: IpAddr| {
        let address = address.to_canonical();
        address.is_loopback() || address.is_unspecified()
    };
    host == "localhost" || host.ends_with(".localhost") || host.parse().is_ok_and(is_own)
}

/// Returns whether `NO_PROXY` names a host, or a domain that contains it.
fn is_excepted(host: &str, exceptions: &str) -> bool {
    exceptions.split([',', ' ']).map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        let domain = entry.trim_start_matches('*').trim_start_matches('.').to_ascii_lowercase();
        let is_below = host.strip_suffix(&domain).is_some_and(|front| front.ends_with('.'));
        entry == "*" || host == domain || (!domain.is_empty() && is_below)
    })
}
