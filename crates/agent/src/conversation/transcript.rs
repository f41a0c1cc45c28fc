//! The transcript of a conversation: one line of JSON for each message, written immediately.
//!
//! It contains no times, so that two runs can be compared. The key of the server is removed from all texts.

use std::io;
use std::path::{Path, PathBuf};

use brief_system::{System, words};
use serde::Serialize;

use super::assembly::{ModelReply, Usage};
use super::endpoint::{ApiKey, Endpoint};
use super::message::ModelCall;

/// A transcript that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("the transcript `{}` cannot be written: {}", .path.display(), words(.source))]
pub struct TranscriptError {
    path: PathBuf,
    source: io::Error,
}

/// A file to which a conversation is appended.
pub struct Transcript<'t> {
    system: &'t dyn System,
    path: PathBuf,
    key: Option<ApiKey>,
}

/// A line of the transcript. Every line has every field.
#[derive(Default, Serialize)]
struct TranscriptLine {
    role: &'static str,
    content: String,
    tool_calls: Vec<ModelCall>,
    tool_call_id: Option<String>,
    name: Option<String>,
    is_error: bool,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    partial: bool,
}

/// The completeness of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyExtent {
    Whole,
    Partial,
}

impl<'t> Transcript<'t> {
    /// Opens a file for appending. Creates it if needed.
    pub fn open(
        system: &'t dyn System,
        path: &Path,
        endpoint: &Endpoint,
    ) -> Result<Transcript<'t>, TranscriptError> {
        let path = match system.current_dir() {
            Ok(directory) => directory.join(path),
            Err(_) => path.to_owned(),
        };
        let transcript = Transcript { system, path, key: endpoint.key().cloned() };
        transcript.append(b"")?;
        Ok(transcript)
    }

    fn append(&self, bytes: &[u8]) -> Result<(), TranscriptError> {
        self.system.append(&self.path, bytes).map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> TranscriptError {
        TranscriptError { path: self.path.clone(), source }
    }

    /// Removes the key from a text.
    fn clean(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.hide(text).into_owned())
    }

    fn line(&self, role: &'static str, content: &str) -> TranscriptLine {
        TranscriptLine { role, content: self.clean(content), ..TranscriptLine::default() }
    }

    fn write(&self, line: &TranscriptLine) -> Result<(), TranscriptError> {
        let mut json = serde_json::to_string(line).map_err(|error| self.error(error.into()))?;
        json.push('\n');
        self.append(json.as_bytes())
    }

    /// Records a message of the agent or the user, or the end of a turn (`note`).
    pub(super) fn said(&self, role: &'static str, content: &str) -> Result<(), TranscriptError> {
        self.write(&self.line(role, content))
    }

    /// Records a reply of the model.
    pub(super) fn replied(
        &self,
        reply: &ModelReply,
        extent: ReplyExtent,
    ) -> Result<(), TranscriptError> {
        let calls = reply.calls.iter().map(|call| ModelCall {
            id: self.clean(&call.id),
            name: self.clean(&call.name),
            arguments: self.clean(&call.arguments),
        });
        let finish = reply.finish.as_ref().map(|finish| self.clean(finish.as_str()));
        self.write(&TranscriptLine {
            tool_calls: calls.collect(),
            finish_reason: finish,
            usage: reply.usage,
            partial: extent == ReplyExtent::Partial,
            ..self.line("assistant", &reply.text)
        })
    }

    /// Records the answer of a tool.
    pub(super) fn answered(
        &self,
        id: &str,
        name: &str,
        result: Result<&str, &str>,
    ) -> Result<(), TranscriptError> {
        let content = result.unwrap_or_else(|error| error);
        self.write(&TranscriptLine {
            tool_call_id: Some(self.clean(id)),
            name: Some(self.clean(name)),
            is_error: result.is_err(),
            ..self.line("tool", content)
        })
    }
}
