//! The way to a server, and the variables in it.

use std::path::Path;

use brief_system::System;

/// The way to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerAddress {
    Program(ServerProgram),
    Remote(RemoteServer),
}

/// A program that is a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerProgram {
    pub command: String,
    pub args: Vec<String>,
    /// Variables for its environment, besides a few of ours.
    pub env: Vec<(String, String)>,
}

/// A server that runs elsewhere, and is asked over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteServer {
    /// The address: `https`, or `http` to this machine.
    pub url: String,
    /// Header fields for every request.
    pub headers: Vec<(String, String)>,
    /// The protocol of the connection.
    pub protocol: RemoteProtocol,
}

/// The protocol of a connection to a server elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteProtocol {
    Http,
    Sse,
    /// Streamable HTTP, and the event stream if the server does not know that.
    Either,
}

impl ServerAddress {
    /// Replaces variables, as clients do in their own files: `${NAME}`, `${NAME:-default}`, `${env:NAME}` and
    /// `${workspaceFolder}`. The error names a variable without a value.
    pub(crate) fn expand_variables(
        &self,
        system: &dyn System,
        directory: &Path,
    ) -> Result<ServerAddress, String> {
        let fill = |text: &String| expand_text(system, directory, text);
        let pair = |(name, value): &(String, String)| Ok::<_, String>((name.clone(), fill(value)?));
        Ok(match self {
            ServerAddress::Program(ServerProgram { command, args, env }) => {
                ServerAddress::Program(ServerProgram {
                    command: fill(command)?,
                    args: args.iter().map(fill).collect::<Result<_, _>>()?,
                    env: env.iter().map(pair).collect::<Result<_, _>>()?,
                })
            }
            ServerAddress::Remote(RemoteServer { url, headers, protocol }) => {
                ServerAddress::Remote(RemoteServer {
                    url: fill(url)?,
                    headers: headers.iter().map(pair).collect::<Result<_, _>>()?,
                    protocol: *protocol,
                })
            }
        })
    }
}

/// Replaces the variables of one text. Values are not looked at again; anything else in `${…}` stays as it is.
fn expand_text(system: &dyn System, directory: &Path, text: &str) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else { break };
        let inside = &rest[start + 2..start + length];
        filled.push_str(&rest[..start]);
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside.strip_prefix("env:").unwrap_or(inside), None),
        };
        if name == "workspaceFolder" && default.is_none() {
            filled.push_str(&directory.to_string_lossy());
        } else if is_name(name) {
            let value = system.env(name).map(|value| value.to_string_lossy().into_owned());
            let value = value.or_else(|| default.map(str::to_owned));
            filled.push_str(&value.ok_or_else(|| format!("the variable `{name}` has no value"))?);
        } else if inside.starts_with("input:") {
            return Err(format!("only its client can prompt for `${{{inside}}}`"));
        } else {
            filled.push_str(&rest[start..=start + length]);
        }
        rest = &rest[start + length + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Returns whether a text can be the name of a variable.
fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_letter) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use brief_system::MemorySystem;

    use super::*;

    /// Ruling M6: the forms that clients fill in, and nothing else.
    #[test]
    fn variables_are_filled_in() {
        let system = MemorySystem::new("/p").with_env("TOKEN", "t${TOKEN}");
        let fill = |text: &str| expand_text(&system, Path::new("/p/x"), text);
        for (text, expected) in [
            ("plain $TOKEN", "plain $TOKEN"),
            ("Bearer ${TOKEN}!", "Bearer t${TOKEN}!"),
            ("${env:TOKEN}${EMPTY:-}", "t${TOKEN}"),
            ("${NONE:-a:-b}${TOKEN:-c}", "a:-bt${TOKEN}"),
            ("${workspaceFolder}/bin", "/p/x/bin"),
            ("${x##*/} ${} ${1} ${", "${x##*/} ${} ${1} ${"),
        ] {
            assert_eq!(fill(text).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(fill("a ${NONE}"), Err("the variable `NONE` has no value".to_owned()));
        assert_eq!(fill("${env:NONE}"), Err("the variable `NONE` has no value".to_owned()));
        assert!(fill("${input:key}").unwrap_err().contains("`${input:key}`"));
    }
}
