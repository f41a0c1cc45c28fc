//! The audit log: a record of every request of a tool.
//!
//! It consists of JSON lines: one before anything is done, so that a run that ends early leaves a trace, and
//! one with the same number after it. Neither contains data that was read, written, sent or received, or the
//! value of a variable that a tool has asked for.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use brief_system::System;
use serde_json::{Value, json};

use super::browser::PageConnection;
use super::{AbilityRefusal, AbilityRequest, AbilityResult, request_subject};

/// The replacement for a secret value.
const HIDDEN: &str = "***";

/// The shortest value that is replaced; a shorter one would hide letters everywhere.
const SHORTEST_SECRET: usize = 4;

/// The limit for the bytes of one target in the log.
const MOST: usize = 4 * 1024;

/// The audit log of a host.
pub struct AbilityAudit {
    place: LogTarget,
    number: u64,
    secrets: Vec<String>,
}

enum LogTarget {
    Nowhere,
    File { system: Arc<dyn System>, path: PathBuf },
    Memory(Arc<Mutex<Vec<String>>>),
}

impl AbilityAudit {
    /// Creates a log that writes nothing.
    pub fn none() -> AbilityAudit {
        AbilityAudit { place: LogTarget::Nowhere, number: 0, secrets: Vec::new() }
    }

    /// Creates a log that appends lines to a file, each in one write.
    pub fn to_file(system: Arc<dyn System>, path: PathBuf) -> AbilityAudit {
        AbilityAudit { place: LogTarget::File { system, path }, ..AbilityAudit::none() }
    }

    /// Creates a log in memory, shared with `lines`.
    pub fn to_memory(lines: Arc<Mutex<Vec<String>>>) -> AbilityAudit {
        AbilityAudit { place: LogTarget::Memory(lines), ..AbilityAudit::none() }
    }

    /// Keeps a value out of the log from now on.
    pub(super) fn hide_secret(&mut self, secret: &str) {
        if secret.len() >= SHORTEST_SECRET && !self.secrets.iter().any(|known| known == secret) {
            self.secrets.push(secret.to_owned());
        }
    }

    /// Writes a request and the decision about it. Returns its number.
    pub(super) fn write_request(
        &mut self,
        asked: &AbilityRequest<'_>,
        granted: &AbilityResult<()>,
    ) -> io::Result<u64> {
        self.number += 1;
        let AbilityRequest { tool, ability, call, .. } = asked;
        let verdict = granted.as_ref().map_or_else(AbilityRefusal::verdict, |()| "allowed");
        self.write_line(&json!({
            "seq": self.number, "event": "ask", "tool": tool, "ability": ability, "call": call,
            "target": self.clean_value(&request_subject(asked)), "verdict": verdict,
        }))?;
        Ok(self.number)
    }

    /// Writes the end of a request.
    pub(super) fn write_end(&self, number: u64, outcome: &AbilityResult) -> io::Result<()> {
        let refusal = outcome.as_ref().err();
        self.write_line(&json!({
            "seq": number, "event": "end", "verdict": refusal.map_or("done", AbilityRefusal::verdict),
            "message": self.clean_message(refusal),
        }))
    }

    /// Writes a connection that pages have asked for during a call, or since the one before it.
    pub(super) fn write_connection(&self, number: u64, found: &PageConnection) -> io::Result<()> {
        let refusal = found.refusal.as_ref();
        self.write_line(&json!({
            "seq": number, "event": "connection", "target": self.clean_value(&json!(found.target)),
            "verdict": refusal.map_or("allowed", AbilityRefusal::verdict), "count": found.count,
            "message": self.clean_message(refusal),
        }))
    }

    fn clean_message(&self, refusal: Option<&AbilityRefusal>) -> Value {
        self.clean_value(&json!(refusal.map(ToString::to_string)))
    }

    /// Returns the number of the last request.
    pub(super) fn last_number(&self) -> u64 {
        self.number
    }

    /// Removes secrets from a value and cuts it to the limit.
    fn clean_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let mut text = text.clone();
                for secret in &self.secrets {
                    text = text.replace(secret.as_str(), HIDDEN);
                }
                if text.len() > MOST {
                    text.truncate(text.floor_char_boundary(MOST));
                    text.push('…');
                }
                Value::String(text)
            }
            Value::Array(values) => {
                Value::Array(values.iter().take(256).map(|value| self.clean_value(value)).collect())
            }
            value => value.clone(),
        }
    }

    fn write_line(&self, line: &Value) -> io::Result<()> {
        match &self.place {
            LogTarget::Nowhere => Ok(()),
            LogTarget::File { system, path } => system.append(path, format!("{line}\n").as_bytes()),
            LogTarget::Memory(lines) => {
                lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_string());
                Ok(())
            }
        }
    }
}
