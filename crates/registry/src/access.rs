//! Git settings for one address: credentials, and the protocols that may carry them.
//!
//! Git gets credentials from a helper for that one host. A header would be unsafe: git repeats it when the
//! server redirects to another host.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::address::{Address, percent_decoded};

/// Protocols that are always allowed.
const PROTOCOLS: &str = "https:ssh:file";

/// The same, with the one that is allowed for the machine itself.
const PROTOCOLS_HERE: &str = "https:ssh:file:http";

/// The variables from which the helper reads its answer.
const USER: &str = "BRIEF_GIT_USER";
const PASSWORD: &str = "BRIEF_GIT_PASSWORD";

/// A credential helper that answers from its environment and stores nothing.
const HELPER: &str = r#"!f() { test "$1" != get || printf 'username=%s\npassword=%s\n' "$BRIEF_GIT_USER" "$BRIEF_GIT_PASSWORD"; }; f"#;

/// The settings and variables with which git reaches an address. All of them go through the environment,
/// which other users of the machine cannot read.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct GitAccess {
    pub(crate) protocols: &'static str,
    /// Git settings, each a key and a value.
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) env: Vec<(&'static str, String)>,
}

impl GitAccess {
    /// Returns the access to a checked address.
    pub(crate) fn from_address(address: &Address) -> GitAccess {
        let mut access = GitAccess { protocols: PROTOCOLS, settings: Vec::new(), env: Vec::new() };
        let Address::Url { scheme, credentials, host, .. } = address else { return access };
        if scheme == "http" {
            access.protocols = PROTOCOLS_HERE;
            // A proxy is another machine, and a redirect may lead to one.
            access.env.extend([("no_proxy", "*".to_owned()), ("NO_PROXY", "*".to_owned())]);
            access.add_setting(format!("http.{}.followRedirects", address.bare_address()), "false");
        }
        if let (Some(credentials), "http" | "https") = (credentials, scheme.as_str()) {
            access.add_credentials(&format!("{scheme}://{host}"), credentials);
        }
        access
    }

    /// Returns the access without repositories of this machine.
    pub(crate) fn limit_to_servers(mut self) -> GitAccess {
        self.protocols = if self.is_open() { "https:ssh:http" } else { "https:ssh" };
        self
    }

    /// Returns the access to repositories of this machine alone.
    pub(crate) fn limit_to_files(mut self) -> GitAccess {
        self.protocols = "file";
        self
    }

    fn add_credentials(&mut self, server: &str, credentials: &str) {
        let (user, password) = match credentials.split_once(':') {
            Some((user, password)) => (user, percent_decoded(password)),
            None => (credentials, None),
        };
        let user = percent_decoded(user).unwrap_or_default();
        match password {
            Some(password) => {
                // An empty entry first: no other helper is asked, or stores the password.
                self.add_setting(format!("credential.{server}.helper"), "");
                self.add_setting(format!("credential.{server}.helper"), HELPER);
                self.env.extend([(USER, user), (PASSWORD, password)]);
            }
            // The user's own credential helper knows the password.
            None => self.add_setting(format!("credential.{server}.username"), &user),
        }
    }

    fn add_setting(&mut self, key: String, value: &str) {
        self.settings.push((key, value.to_owned()));
    }

    /// Returns whether the connection is unencrypted, so that it must stay on this machine.
    pub(crate) fn is_open(&self) -> bool {
        self.protocols == PROTOCOLS_HERE
    }
}

/// Returns whether a host, with or without a port, is this machine.
pub(crate) fn is_here(host: &str) -> bool {
    if let Some((name, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return name.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    }
    let name = host.split_once(':').map_or(host, |(name, _)| name);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(text: &str) -> GitAccess {
        GitAccess::from_address(&Address::parse(text).ok().unwrap())
    }

    #[test]
    fn git_gets_the_credentials_beside_the_address() {
        let to = access("https://us%40er:pa%3Ass@host:8443/r.git");
        let keys: Vec<&str> = to.settings.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["credential.https://host:8443.helper"; 2]);
        assert_eq!(to.settings[0].1, "");
        assert_eq!(to.env, [(USER, "us@er".to_owned()), (PASSWORD, "pa:ss".to_owned())]);
        assert_eq!(to.protocols, "https:ssh:file");
        assert!(HELPER.contains(USER) && HELPER.contains(PASSWORD));

        let to = access("https://user@host/r.git");
        let setting = &to.settings[0];
        assert_eq!(
            (setting.0.as_str(), setting.1.as_str(), to.env.len()),
            ("credential.https://host.username", "user", 0)
        );
    }

    #[test]
    fn only_the_machine_itself_is_reached_in_the_open() {
        for (host, expected) in [
            ("127.0.0.1", true),
            ("127.8.9.10:8080", true),
            ("localhost", true),
            ("LocalHost:80", true),
            ("[::1]", true),
            ("[::1]:80", true),
            ("[::2]", false),
            ("127.1", false),
            ("128.0.0.1", false),
            ("localhost.example.com", false),
            ("127.0.0.1.example.com", false),
            ("", false),
        ] {
            assert_eq!(is_here(host), expected, "{host}");
        }
        assert!(access("http://127.0.0.1/r").is_open());
        assert!(!access("https://127.0.0.1/r").is_open());
    }
}
