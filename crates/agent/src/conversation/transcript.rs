//! The transcript of a conversation: one line of JSON for each message, written immediately.
//!
//! It contains no times, so that two runs can be compared. The key of the server is removed from all texts.

use std::io;
use std::path::{Path, PathBuf};

use brief_system::{System, render_io_error};
use serde::Serialize;

use super::assembly::{ModelReply, Usage};
use super::endpoint::{ApiKey, Endpoint};
use super::message::ModelCall;

/// A transcript that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the transcript `{}`: {}", .path.display(), render_io_error(.source))]
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
        transcript.append_bytes(b"")?;
        Ok(transcript)
    }

    fn append_bytes(&self, bytes: &[u8]) -> Result<(), TranscriptError> {
        self.system.append(&self.path, bytes).map_err(|source| self.to_error(source))
    }

    fn to_error(&self, source: io::Error) -> TranscriptError {
        TranscriptError { path: self.path.clone(), source }
    }

    /// Removes the key from a text.
    fn hide_key(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.hide_key(text).into_owned())
    }

    fn create_line(&self, role: &'static str, content: &str) -> TranscriptLine {
        TranscriptLine { role, content: self.hide_key(content), ..TranscriptLine::default() }
    }

    fn write_line(&self, line: &TranscriptLine) -> Result<(), TranscriptError> {
        let mut json = serde_json::to_string(line).map_err(|error| self.to_error(error.into()))?;
        json.push('\n');
        self.append_bytes(json.as_bytes())
    }

    /// Records a message of the agent or the user, or the end of a turn (`note`).
    pub(super) fn record_message(
        &self,
        role: &'static str,
        content: &str,
    ) -> Result<(), TranscriptError> {
        self.write_line(&self.create_line(role, content))
    }

    /// Records a reply of the model.
    pub(super) fn record_reply(
        &self,
        reply: &ModelReply,
        extent: ReplyExtent,
    ) -> Result<(), TranscriptError> {
        let calls = reply.calls.iter().map(|call| ModelCall {
            id: self.hide_key(&call.id),
            name: self.hide_key(&call.name),
            arguments: self.hide_key(&call.arguments),
        });
        let finish = reply.finish.as_ref().map(|finish| self.hide_key(finish.as_str()));
        self.write_line(&TranscriptLine {
            tool_calls: calls.collect(),
            finish_reason: finish,
            usage: reply.usage,
            partial: extent == ReplyExtent::Partial,
            ..self.create_line("assistant", &reply.text)
        })
    }

    /// Records the answer of a tool.
    pub(super) fn record_answer(
        &self,
        id: &str,
        name: &str,
        result: Result<&str, &str>,
    ) -> Result<(), TranscriptError> {
        let content = result.unwrap_or_else(|error| error);
        self.write_line(&TranscriptLine {
            tool_call_id: Some(self.hide_key(id)),
            name: Some(self.hide_key(name)),
            is_error: result.is_err(),
            ..self.create_line("tool", content)
        })
    }
}
