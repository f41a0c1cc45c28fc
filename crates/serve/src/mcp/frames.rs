//! The framing of the protocol: one JSON-RPC message per line.
//!
//! A line that is not a message gets an error as its answer: invalid JSON, too deep nesting, or too many
//! bytes, of which only as many as a message may have are kept. The connection to a client that sends many
//! such lines in a row is closed.

use std::io;
use std::sync::Arc;

use brief_syntax::limits;
use brief_system::Interruption;
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// The limit for the bytes of a message.
const MOST_BYTES: usize = limits::TOOL_MESSAGE_BYTES;

/// The limit for invalid lines in a row. A client that echoes our answers would otherwise never end.
const MOST_WRONG: usize = 100;

pub(super) struct Frames<R, W> {
    reader: BufReader<R>,
    writer: Arc<Mutex<W>>,
    /// The bytes of the current line.
    line: Vec<u8>,
    /// True while the rest of a line above the limit is skipped.
    is_discarding: bool,
    wrong: usize,
    /// Raised when the client has disconnected.
    left: Interruption,
}

/// The state of a line.
enum FrameLine {
    /// A complete line, in [`Frames::line`].
    Whole,
    TooLarge,
    End,
}

impl<R: AsyncRead + Unpin, W> Frames<R, W> {
    pub(super) fn new((reader, writer): (R, W), left: Interruption) -> Frames<R, W> {
        let (reader, writer) = (BufReader::new(reader), Arc::new(Mutex::new(writer)));
        Frames { reader, writer, line: Vec::new(), is_discarding: false, wrong: 0, left }
    }

    /// Returns the writer for answers.
    pub(super) fn writer(&self) -> Arc<Mutex<W>> {
        Arc::clone(&self.writer)
    }

    /// Reads a line. It can be cancelled at any time, and the next call continues.
    async fn read_line(&mut self) -> FrameLine {
        loop {
            let Ok(piece) = self.reader.fill_buf().await else { return FrameLine::End };
            if piece.is_empty() {
                // Bytes before the end without a line break are a line, too.
                return if self.line.is_empty() { FrameLine::End } else { FrameLine::Whole };
            }
            let end = piece.iter().position(|&byte| byte == b'\n');
            let length = end.map_or(piece.len(), |end| end + 1);
            if !self.is_discarding {
                self.line.extend_from_slice(&piece[..length]);
            }
            self.reader.consume(length);
            if self.line.len() > MOST_BYTES {
                self.line = Vec::new();
                self.is_discarding = true;
            }
            if end.is_some() {
                let is_too_large = std::mem::take(&mut self.is_discarding);
                return if is_too_large { FrameLine::TooLarge } else { FrameLine::Whole };
            }
        }
    }
}

/// Returns the answer to an invalid line.
fn create_error_answer(code: ErrorCode, message: String, id: &Json) -> Json {
    json!({"jsonrpc": "2.0", "id": id, "error": ErrorData::new(code, message, None)})
}

/// Returns the message of a line, `None` for one that needs no answer, or the error to answer with.
fn parse_message(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Json> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let value: Json = serde_json::from_slice(line).map_err(|error| {
        create_error_answer(
            ErrorCode::PARSE_ERROR,
            format!("the message is not JSON: {error}"),
            &Json::Null,
        )
    })?;
    let id = match value.get("id") {
        Some(id @ (Json::String(_) | Json::Number(_))) => id.clone(),
        _ => Json::Null,
    };
    let method = value.get("method").and_then(Json::as_str);
    let is_notification = method.is_some() && value.get("id").is_none();
    match serde_json::from_value(value) {
        Ok(message) => Ok(Some(message)),
        // A notification gets no answer, and a client may be newer than we are.
        Err(_) if is_notification => Ok(None),
        Err(error) => {
            let message = format!("the message is not a request: {error}");
            Err(create_error_answer(ErrorCode::INVALID_REQUEST, message, &id))
        }
    }
}

async fn write_message<W: AsyncWrite + Unpin>(
    writer: &Mutex<W>,
    message: &impl Serialize,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    writer.write_all(&line).await?;
    writer.flush().await
}

impl<R, W> Transport<RoleServer> for Frames<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        async move { write_message(&writer, &message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        while self.wrong < MOST_WRONG {
            let answer = match self.read_line().await {
                FrameLine::End => break,
                FrameLine::TooLarge => {
                    let message = format!("the message is larger than {MOST_BYTES} bytes");
                    create_error_answer(ErrorCode::INVALID_REQUEST, message, &Json::Null)
                }
                FrameLine::Whole => match parse_message(&std::mem::take(&mut self.line)) {
                    Ok(None) => continue,
                    Ok(Some(message)) => {
                        self.wrong = 0;
                        return Some(message);
                    }
                    Err(answer) => answer,
                },
            };
            self.wrong += 1;
            // This may be cancelled at any time, and an answer must not be cut off.
            let writer = Arc::clone(&self.writer);
            let written = tokio::spawn(async move { write_message(&writer, &answer).await });
            if !matches!(written.await, Ok(Ok(()))) {
                break;
            }
        }
        self.left.raise();
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.left.raise();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R1: any line is a message, needs no answer, or gets an error as its answer.
    #[test]
    fn any_line_has_an_answer() {
        let pieces: [&[u8]; 14] = [
            b"{",
            b"}",
            b"[",
            b"]",
            b"\"jsonrpc\":\"2.0\"",
            b",",
            b"\"id\":",
            b"1",
            b"null",
            b"\"method\":",
            b"\"tools/call\"",
            b"\"params\":",
            b"\xff",
            b"1e999",
        ];
        arbtest::arbtest(|unstructured| {
            let mut line = Vec::new();
            for _ in 0..unstructured.int_in_range(0..=30)? {
                if unstructured.ratio(1, 8)? {
                    line.push(unstructured.arbitrary()?);
                } else {
                    line.extend_from_slice(unstructured.choose(&pieces)?);
                }
            }
            if let Err(answer) = parse_message(&line) {
                assert_eq!(answer["jsonrpc"], "2.0");
                assert!(answer["error"]["code"].is_i64() && answer["error"]["message"].is_string());
            }
            Ok(())
        })
        .budget_ms(1_000);
    }
}
