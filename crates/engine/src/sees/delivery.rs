//! The installed ways in which guidance gets to a client besides what the client loads by itself.
//!
//! This is plain data: the engine knows no client's settings. A front end finds it on the machine and passes it in.

use std::fmt;

use serde::Serialize;

/// The installed ways to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its hook.
    pub hook: HookState,
    /// The file with an entry that starts the MCP server of `brief`. The agent can ask it; it delivers nothing unasked.
    pub server: Option<String>,
    /// The command that would set up the server, where the client has a file for servers and no such entry.
    pub server_command: Option<String>,
}

/// The state of a client's hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookState {
    /// The client runs it.
    Works {
        /// The file that sets it up.
        file: String,
    },
    /// The client does not run it.
    Missing(MissingHook),
}

/// A hook that the client does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingHook {
    /// The cause.
    pub cause: MissingCause,
    /// The sentence that says so.
    pub reason: String,
    /// The command or step that changes it, as a hint says it.
    pub fix: Option<String>,
}

/// The cause why guidance does not get to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingCause {
    /// No hook is installed.
    NoHook,
    /// The client's settings switch hooks off.
    SwitchedOff,
    /// The program of the hook is not found.
    ProgramNotFound,
    /// The user has not approved the hook.
    NotApproved,
    /// The client has no hook that carries guidance.
    NotSupported,
}

impl MissingCause {
    /// Returns the words for it in a table.
    pub fn label(self) -> &'static str {
        match self {
            MissingCause::NoHook => "no hook",
            MissingCause::SwitchedOff => "switched off",
            MissingCause::ProgramNotFound => "program not found",
            MissingCause::NotApproved => "not approved",
            MissingCause::NotSupported => "not supported",
        }
    }

    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            MissingCause::NoHook => "no-hook",
            MissingCause::SwitchedOff => "switched-off",
            MissingCause::ProgramNotFound => "program-not-found",
            MissingCause::NotApproved => "not-approved",
            MissingCause::NotSupported => "not-supported",
        }
    }
}

impl fmt::Display for MissingCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.label())
    }
}

impl Delivery {
    /// Returns a hook that works, set up in `file`.
    pub fn by_hook(file: impl Into<String>) -> Delivery {
        let hook = HookState::Works { file: file.into() };
        Delivery { hook, server: None, server_command: None }
    }

    /// Returns a client that nothing is delivered to.
    pub fn with_missing_hook(
        cause: MissingCause,
        reason: impl Into<String>,
        fix: Option<String>,
    ) -> Delivery {
        let missing = MissingHook { cause, reason: reason.into(), fix };
        Delivery { hook: HookState::Missing(missing), server: None, server_command: None }
    }

    /// Returns why nothing is delivered; `None` if the hook works.
    pub fn missing_hook(&self) -> Option<&MissingHook> {
        match &self.hook {
            HookState::Works { .. } => None,
            HookState::Missing(missing) => Some(missing),
        }
    }

    /// Returns why an item does not get to the client, in a sentence; `None` if the hook works.
    pub fn missing_reason(&self) -> Option<String> {
        let missing = self.missing_hook()?;
        let asks = self.server.as_ref().map(|file| {
            format!("; the agent can query brief's MCP server, which is set up in {file}")
        });
        Some(format!("{}{}", missing.reason, asks.unwrap_or_default()))
    }

    /// Returns the step that makes guidance get to the client, as a hint says it.
    pub fn fix(&self) -> Option<String> {
        let missing = self.missing_hook()?;
        if let Some(fix) = &missing.fix {
            return Some(fix.clone());
        }
        let command = self.server_command.as_ref()?;
        Some(format!("run `{command}` so that the agent can request it"))
    }
}

impl Serialize for Delivery {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let (state, file) = match &self.hook {
            HookState::Works { file } => ("works", Some(file)),
            HookState::Missing(missing) => (missing.cause.as_str(), None),
        };
        let mut report = serializer.serialize_struct("Delivery", 5)?;
        report.serialize_field("hook", state)?;
        report.serialize_field("file", &file)?;
        report.serialize_field("server", &self.server)?;
        report.serialize_field("reason", &self.missing_reason())?;
        report.serialize_field("fix", &self.fix())?;
        report.end()
    }
}
