//! Accounts of registries, from the configuration of container tools.
//!
//! The files are those of docker and podman; a helper that they name is a program of the user's
//! (`docker-credential-NAME`). Nothing is stored, and no message shows a secret.

use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use brief_syntax::limits;
use brief_system::{Call, Ending, Stream, System, home_directory};
use serde_json::Value;

use crate::outputs::if_there;

/// The time limit of a helper, which may ask a key ring.
const HELPER_TIME: Duration = Duration::from_secs(20);

/// The limit for the output of a helper.
const HELPER_BYTES: usize = 64 * 1024;

/// The names under which docker keeps its own registry.
const HUB: [&str; 3] = ["https://index.docker.io/v1/", "index.docker.io", "docker.io"];

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// A user and a password.
    Basic { user: String, password: String },
    /// A token that is exchanged for others.
    Identity(String),
}

impl Credentials {
    /// Returns the header field for a user and password.
    pub(crate) fn basic_header(&self) -> Option<String> {
        match self {
            Credentials::Basic { user, password } => {
                Some(format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
            }
            Credentials::Identity(_) => None,
        }
    }
}

/// Returns the account for a host, if the user's configuration has one. The error is a message.
pub(crate) fn find_credentials(
    system: &dyn System,
    host: &str,
) -> Result<Option<Credentials>, String> {
    for path in credential_files(system) {
        let bytes = if_there(system.read(&path, limits::FILE_BYTES))
            .map_err(|error| format!("`{}`: {error}", path.display()))?;
        let Some(bytes) = bytes else { continue };
        // The text holds passwords, so the message of the parser is not shown.
        let config: Value = serde_json::from_slice(&bytes)
            .map_err(|_| format!("`{}` is not valid JSON", path.display()))?;
        if let Some(found) = of_config(system, &config, host)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns the files that may hold accounts, in the order in which they count.
fn credential_files(system: &dyn System) -> Vec<PathBuf> {
    let variable = |name: &str| {
        let value = system.env(name).filter(|value| !value.is_empty())?;
        Some(PathBuf::from(value))
    };
    if let Some(file) = variable("REGISTRY_AUTH_FILE") {
        return vec![file];
    }
    let home = home_directory(system);
    let docker = variable("DOCKER_CONFIG")
        .or_else(|| Some(home.as_ref()?.join(".docker")))
        .map(|directory| directory.join("config.json"));
    let podman =
        variable("XDG_RUNTIME_DIR").map(|directory| directory.join("containers/auth.json"));
    let own = variable("XDG_CONFIG_HOME")
        .or_else(|| Some(home?.join(".config")))
        .map(|directory| directory.join("containers/auth.json"));
    [docker, podman, own].into_iter().flatten().collect()
}

fn of_config(
    system: &dyn System,
    config: &Value,
    host: &str,
) -> Result<Option<Credentials>, String> {
    let is_hub = HUB.contains(&host) || host == "registry-1.docker.io";
    let keys: Vec<&str> = if is_hub { HUB.to_vec() } else { vec![host] };
    for key in &keys {
        if let Some(helper) = config["credHelpers"][key].as_str() {
            return run_credential_helper(system, helper, key);
        }
    }
    if let Some(auths) = config["auths"].as_object() {
        let entry = auths.iter().find(|(name, _)| keys.iter().any(|key| is_host(name, key)));
        if let Some(found) = entry.and_then(|(_, entry)| of_entry(entry)) {
            return Ok(Some(found));
        }
    }
    match config["credsStore"].as_str() {
        Some(helper) => run_credential_helper(system, helper, keys[0]),
        None => Ok(None),
    }
}

/// Returns whether a key of the file names a host; older tools wrote an address.
fn is_host(name: &str, key: &str) -> bool {
    let bare = name.split_once("://").map_or(name, |(_, rest)| rest);
    name == key || bare.split('/').next().is_some_and(|host| host.eq_ignore_ascii_case(key))
}

fn of_entry(entry: &Value) -> Option<Credentials> {
    if let Some(token) = entry["identitytoken"].as_str().filter(|token| !token.is_empty()) {
        return Some(Credentials::Identity(token.to_owned()));
    }
    let decoded = STANDARD.decode(entry["auth"].as_str()?.trim()).ok()?;
    let decoded = String::from_utf8(decoded).ok()?;
    let (user, password) = decoded.split_once(':')?;
    let password = password.trim_end_matches('\0');
    Some(Credentials::Basic { user: user.to_owned(), password: password.to_owned() })
}

/// Asks a helper of the user's.
fn run_credential_helper(
    system: &dyn System,
    helper: &str,
    key: &str,
) -> Result<Option<Credentials>, String> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    if !is_name(helper) {
        return Err("invalid credential helper name".to_owned());
    }
    let program = format!("docker-credential-{helper}");
    let mut call = Call::new(program.as_str(), "/", HELPER_TIME, HELPER_BYTES).arg("get");
    call.input = key.as_bytes().to_vec();
    let mut output = Vec::new();
    let ending = system.run_program(&call, &mut |stream, bytes| {
        if stream == Stream::Stdout {
            output.extend_from_slice(bytes);
        }
    });
    match ending {
        Ok(Ending::Exited(0)) => {}
        // A helper fails when it has nothing, and says so on standard output.
        Ok(Ending::Exited(_)) => {
            let is_missing = String::from_utf8_lossy(&output).contains("credentials not found");
            return if is_missing { Ok(None) } else { Err(format!("`{program}` failed")) };
        }
        Ok(_) => return Err(format!("`{program}` did not exit in time")),
        Err(error) => return Err(format!("`{program}`: {error}")),
    }
    let answer: Value =
        serde_json::from_slice(&output).map_err(|_| format!("unexpected output of `{program}`"))?;
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    Ok(Some(match text("Username").as_str() {
        "<token>" => Credentials::Identity(text("Secret")),
        user => Credentials::Basic { user: user.to_owned(), password: text("Secret") },
    }))
}

#[cfg(test)]
mod tests {
    use brief_system::MemorySystem;

    use super::*;

    fn found(config: &str, host: &str) -> Option<Credentials> {
        of_config(&MemorySystem::default(), &serde_json::from_str(config).unwrap(), host).unwrap()
    }

    fn basic(user: &str, password: &str) -> Credentials {
        Credentials::Basic { user: user.to_owned(), password: password.to_owned() }
    }

    /// The forms of docker's `config.json` and podman's `auth.json`.
    #[test]
    fn accounts_as_container_tools_write_them() {
        // `user:pa:ss` and `other:word`.
        let config = r#"{"auths": {
            "registry.example:5000": {"auth": "dXNlcjpwYTpzcw=="},
            "https://old.example/v1/": {"auth": "b3RoZXI6d29yZA=="},
            "token.example": {"auth": "b3RoZXI6d29yZA==", "identitytoken": "secret"},
            "empty.example": {},
            "https://index.docker.io/v1/": {"auth": "b3RoZXI6d29yZA=="}
        }}"#;
        assert!(found(config, "registry.example:5000") == Some(basic("user", "pa:ss")));
        assert!(found(config, "registry.example").is_none());
        assert!(found(config, "old.example") == Some(basic("other", "word")));
        assert!(found(config, "docker.io") == Some(basic("other", "word")));
        assert!(found(config, "token.example") == Some(Credentials::Identity("secret".to_owned())));
        assert!(found(config, "empty.example").is_none());
        assert!(found("[]", "a.example").is_none());
        let header = basic("user", "pa:ss").basic_header();
        assert_eq!(header.as_deref(), Some("Basic dXNlcjpwYTpzcw=="));
    }

    #[test]
    fn a_helper_is_a_name() {
        let config = serde_json::json!({"credHelpers": {"a.example": "../evil"}});
        let refused = of_config(&MemorySystem::default(), &config, "a.example");
        let problem = "invalid credential helper name";
        assert_eq!(refused.err().as_deref(), Some(problem));
    }
}
