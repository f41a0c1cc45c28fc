//! One request to the server, with retries.
//!
//! The transport works on its own thread and hands over pieces, so that ^C and the clock are checked whatever
//! the server does. An abandoned thread ends with its connection.
//!
//! Text that the user has seen cannot be taken back: once text has come, the request is not retried.

use std::io::Read;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use brief_outgoing::sse::{Events, ServerEvent};
use brief_syntax::limits;
use serde_json::Value as Json;

use super::assembly::{Assembly, ModelReply, extract_error_message};
use super::failure::TurnError;
use super::message::TokenCounting;
use super::transport::{ModelAnswer, ModelTransport, Post, TransportError, TransportProblem};
use super::turn::{Connections, OnEvent, TurnEnding, TurnEvent};

/// The interval of checks of ^C and the clock.
const TICK: Duration = Duration::from_millis(50);

/// The first pause before a retry; each pause is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The size of the read buffer, and the number of queued pieces.
const PIECE: usize = 8 * 1024;
const WAITING: usize = 16;

/// The limit for the bytes of an error message from the server, and for the characters of it that are shown.
const COMPLAINT_BYTES: usize = 64 * 1024;
const COMPLAINT_SHOWN: usize = 500;

/// The cause of an incomplete reply.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ExchangeFailure {
    Stopped(TurnEnding),
    Failed(TurnError),
}

impl From<TurnEnding> for ExchangeFailure {
    fn from(ending: TurnEnding) -> Self {
        ExchangeFailure::Stopped(ending)
    }
}

impl From<TurnError> for ExchangeFailure {
    fn from(error: TurnError) -> Self {
        ExchangeFailure::Failed(error)
    }
}

/// The inputs of a request.
pub(super) struct Exchange<'e> {
    pub(super) connections: &'e Connections<'e>,
    /// The end of the turn's time.
    pub(super) deadline: Duration,
    /// The bytes that the model may still write.
    pub(super) bytes: usize,
}

impl Exchange<'_> {
    /// Sends the request. Returns the reply so far, and the cause if it is incomplete.
    pub(super) fn send_request(
        &self,
        body: &dyn Fn(TokenCounting) -> String,
        counting: &mut TokenCounting,
        on: OnEvent<'_>,
    ) -> (ModelReply, Result<(), ExchangeFailure>) {
        let mut pause = FIRST_PAUSE;
        let mut tries = 1;
        loop {
            let mut assembly = Assembly::new(self.bytes);
            let result = self.ask_once(body(*counting), &mut assembly, on);
            let reply = assembly.into_reply();
            let error = match result {
                Err(ExchangeFailure::Failed(error)) if reply.text.is_empty() => error,
                result => return (reply, result),
            };
            if *counting == TokenCounting::Asked && is_about_counting(&error) {
                *counting = TokenCounting::Left;
                continue;
            }
            let wait = error.retry_after().unwrap_or(pause);
            let is_too_long = wait > Duration::from_secs(limits::AGENT_RETRY_SECONDS)
                || self.connections.clock.now() + wait >= self.deadline;
            if !error.is_passing() || tries >= limits::AGENT_TRIES || is_too_long {
                return (reply, Err(error.into()));
            }
            on(TurnEvent::Notice(&format!("{error}; retrying in {} s", wait.as_secs_f64())));
            if let Err(stopped) = self.wait_to_retry(wait) {
                return (reply, Err(stopped.into()));
            }
            tries += 1;
            pause *= 2;
        }
    }

    fn check_stopped(&self) -> Result<(), TurnEnding> {
        self.connections.find_ending(self.deadline).map_or(Ok(()), Err)
    }

    fn wait_to_retry(&self, wait: Duration) -> Result<(), TurnEnding> {
        let end = self.connections.clock.now() + wait;
        while self.connections.clock.now() < end {
            self.check_stopped()?;
            self.connections
                .clock
                .sleep(TICK.min(end.saturating_sub(self.connections.clock.now())));
        }
        self.check_stopped()
    }

    fn ask_once(
        &self,
        body: String,
        assembly: &mut Assembly,
        on: OnEvent<'_>,
    ) -> Result<(), ExchangeFailure> {
        self.check_stopped()?;
        let post = Post {
            url: self.connections.endpoint.url(),
            key: self.connections.endpoint.key().cloned(),
            body,
            time: self.deadline.saturating_sub(self.connections.clock.now()),
        };
        let pieces = self.start_request(post)?;
        let Some(AnswerPiece::Head(head)) = self.next(&pieces)? else {
            return Err(broken_error("no data received"));
        };
        if !(200..300).contains(&head.status) {
            return Err(self.read_refusal(&head, &pieces)?.into());
        }
        if head.content_type.to_ascii_lowercase().contains("/html") {
            return Err(strange_error("got a web page"));
        }
        let mut form = AnswerForm::Unknown;
        while let Some(piece) = self.next(&pieces)? {
            let AnswerPiece::Body(bytes) = piece else { continue };
            if self.add_bytes(&mut form, &bytes, assembly, on)? == Progress::Done {
                return Ok(());
            }
        }
        self.finish_reply(form, assembly, on)
    }

    /// Adds a piece of the body. A body that begins with a brace is one JSON answer, whatever its content
    /// type.
    fn add_bytes(
        &self,
        form: &mut AnswerForm,
        bytes: &[u8],
        assembly: &mut Assembly,
        on: OnEvent<'_>,
    ) -> Result<Progress, ExchangeFailure> {
        if matches!(form, AnswerForm::Unknown) {
            match bytes.trim_ascii_start().first() {
                Some(b'{') => *form = AnswerForm::Whole(Vec::new()),
                Some(_) => *form = AnswerForm::Events(Events::new(self.raw_limit())),
                None => return Ok(Progress::More),
            }
        }
        let mut events = Vec::new();
        match form {
            AnswerForm::Events(reader) => {
                reader.feed(bytes, &mut events).map_err(|_| TurnEnding::Output)?;
            }
            AnswerForm::Whole(whole) if whole.len() + bytes.len() > self.raw_limit() => {
                return Err(TurnEnding::Output.into());
            }
            AnswerForm::Whole(whole) => whole.extend_from_slice(bytes),
            AnswerForm::Unknown => {}
        }
        for event in events {
            if self.take_event(&event, assembly, on)? == Progress::Done {
                return Ok(Progress::Done);
            }
        }
        Ok(Progress::More)
    }

    /// Returns the limit for the bytes on the wire: JSON needs more bytes than its content.
    fn raw_limit(&self) -> usize {
        self.bytes.saturating_mul(2).saturating_add(COMPLAINT_BYTES)
    }

    fn take_event(
        &self,
        event: &ServerEvent,
        assembly: &mut Assembly,
        on: OnEvent<'_>,
    ) -> Result<Progress, ExchangeFailure> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return Ok(Progress::Done);
        }
        if data.is_empty() {
            return Ok(Progress::More);
        }
        let Ok(json) = serde_json::from_str::<Json>(data) else {
            return Err(strange_error(&format!(
                "an event is not JSON: {}",
                self.shorten_text(data)
            )));
        };
        if event.kind == "error" {
            let message =
                self.shorten_text(&extract_error_message(json.get("error").unwrap_or(&json)));
            return Err(TurnError::Reported(message).into());
        }
        self.take_json(&json, assembly, on)?;
        Ok(Progress::More)
    }

    fn take_json(
        &self,
        json: &Json,
        assembly: &mut Assembly,
        on: OnEvent<'_>,
    ) -> Result<(), ExchangeFailure> {
        let taken = assembly.add_piece(json, &mut |text| on(TurnEvent::Text(text)));
        taken.map_err(|failure| match failure {
            ExchangeFailure::Failed(TurnError::Reported(message)) => {
                TurnError::Reported(self.shorten_text(&message)).into()
            }
            failure => failure,
        })
    }

    /// Checks the reply when the body has ended.
    fn finish_reply(
        &self,
        form: AnswerForm,
        assembly: &mut Assembly,
        on: OnEvent<'_>,
    ) -> Result<(), ExchangeFailure> {
        match form {
            AnswerForm::Unknown => return Err(broken_error("no data received")),
            AnswerForm::Whole(bytes) => {
                let json = serde_json::from_slice::<Json>(&bytes);
                let json = json.map_err(|_| broken_error("incomplete JSON"))?;
                if json.get("choices").is_none() && json.get("error").is_none() {
                    return Err(strange_error("missing `choices`"));
                }
                return self.take_json(&json, assembly, on);
            }
            AnswerForm::Events(reader) => {
                let last = reader.finish().map(|event| event.data).unwrap_or_default();
                if last == "[DONE]" {
                    return Ok(());
                }
                if let Ok(json) = serde_json::from_str::<Json>(&last) {
                    self.take_json(&json, assembly, on)?;
                }
            }
        }
        // Some servers send no end mark, only a finish reason.
        if assembly.is_finished() {
            Ok(())
        } else {
            Err(broken_error("the connection closed before the end of the reply"))
        }
    }

    /// Reads the server's error message.
    fn read_refusal(
        &self,
        head: &ModelAnswer,
        pieces: &Receiver<Carried>,
    ) -> Result<TurnError, ExchangeFailure> {
        let mut bytes = Vec::new();
        while bytes.len() < COMPLAINT_BYTES {
            match self.next(pieces) {
                Ok(Some(AnswerPiece::Body(piece))) => bytes.extend_from_slice(&piece),
                Ok(Some(AnswerPiece::Head(_))) => {}
                // The status alone is enough.
                Ok(None) | Err(ExchangeFailure::Failed(_)) => break,
                Err(stopped) => return Err(stopped),
            }
        }
        let json = serde_json::from_slice::<Json>(&bytes).ok();
        let message = match &json {
            Some(json) => extract_error_message(json.get("error").unwrap_or(json)),
            None => String::from_utf8_lossy(&bytes).into_owned(),
        };
        let message = match message.trim() {
            "" => "no reason given".to_owned(),
            text => self.shorten_text(text),
        };
        let code = json.as_ref().and_then(|json| json.pointer("/error/code")?.as_str());
        // An exhausted quota does not recover within the time of a turn.
        let is_passing = matches!(head.status, 408 | 429 | 500..=599)
            && code != Some("insufficient_quota")
            && head.status != 501;
        let seconds = head.retry_after.as_deref().and_then(|text| text.trim().parse::<f64>().ok());
        let retry_after = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Ok(TurnError::Status { status: head.status, message, retry_after, is_passing })
    }

    /// Cuts untrusted text and removes the key from it.
    fn shorten_text(&self, text: &str) -> String {
        let text = self.connections.endpoint.hide_key(text);
        let mut shown: String = text.chars().take(COMPLAINT_SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        shown
    }

    fn start_request(&self, post: Post) -> Result<Receiver<Carried>, TurnError> {
        let (sender, receiver) = sync_channel(WAITING);
        let transport = Arc::clone(&self.connections.transport);
        let carry = move || carry_answer(transport.as_ref(), &post, &sender);
        match thread::Builder::new().name("model".to_owned()).spawn(carry) {
            Ok(_) => Ok(receiver),
            Err(error) => Err(TurnError::Hopeless(error.to_string())),
        }
    }

    /// Waits for the next piece; `None` after the last one.
    fn next(&self, pieces: &Receiver<Carried>) -> Result<Option<AnswerPiece>, ExchangeFailure> {
        loop {
            self.check_stopped()?;
            match pieces.recv_timeout(TICK) {
                Ok(Ok(piece)) => return Ok(Some(piece)),
                Ok(Err(error)) => return Err(self.to_failure(&error)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    fn to_failure(&self, error: &TransportError) -> ExchangeFailure {
        let message = self.shorten_text(&error.message);
        match error.problem {
            TransportProblem::Unreachable => TurnError::Unreachable(message).into(),
            TransportProblem::Broken => TurnError::Broken(message).into(),
            TransportProblem::Hopeless => TurnError::Hopeless(message).into(),
            TransportProblem::TooSlow => TurnEnding::Time.into(),
        }
    }
}

fn broken_error(message: &str) -> ExchangeFailure {
    TurnError::Broken(message.to_owned()).into()
}

fn strange_error(message: &str) -> ExchangeFailure {
    TurnError::Strange(message.to_owned()).into()
}

/// Returns whether the server refused the request for token counts.
fn is_about_counting(error: &TurnError) -> bool {
    matches!(error, TurnError::Status { status: 400 | 422, message, .. } if message.contains("stream_options"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    More,
    Done,
}

/// The form of a server's answer.
enum AnswerForm {
    Unknown,
    Whole(Vec<u8>),
    Events(Events),
}

enum AnswerPiece {
    /// The answer, without its body.
    Head(ModelAnswer),
    Body(Vec<u8>),
}

/// A message of the transport's thread.
type Carried = Result<AnswerPiece, TransportError>;

/// Sends a request and hands the answer back, piece by piece, while a receiver exists.
fn carry_answer(transport: &dyn ModelTransport, post: &Post, sender: &SyncSender<Carried>) {
    let mut answer = match transport.post(post) {
        Ok(answer) => answer,
        Err(error) => return drop(sender.send(Err(error))),
    };
    let mut body = std::mem::replace(&mut answer.body, Box::new(std::io::empty()));
    if sender.send(Ok(AnswerPiece::Head(answer))).is_err() {
        return;
    }
    let mut buffer = vec![0; PIECE];
    loop {
        let piece = match body.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => AnswerPiece::Body(buffer.get(..count).unwrap_or_default().to_vec()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let problem = match error.kind() {
                    std::io::ErrorKind::TimedOut => TransportProblem::TooSlow,
                    _ => TransportProblem::Broken,
                };
                return drop(sender.send(Err(TransportError::new(problem, error.to_string()))));
            }
        };
        if sender.send(Ok(piece)).is_err() {
            return;
        }
    }
}
