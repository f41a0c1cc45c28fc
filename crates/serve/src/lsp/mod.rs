//! The language server: problems, fixes and reach of guidance in an editor, on unsaved text.
//!
//! ```text
//! reader thread ──messages──▶ server ──newest texts──▶ checker thread
//!                               ▲  └──answers──▶ editor       │
//!                               └──────────results────────────┘
//! ```
//!
//! The server thread never waits for a file tree: it answers from the last result of the checker, and checks a changed
//! file alone while the checker works. Nothing is executed and nothing is written: the editor makes the edits.

mod checker;
mod complete;
mod features;
pub(crate) mod fuzzing;
mod rename;
mod sees;
mod server;
mod text;
mod uri;

#[cfg(test)]
mod tests;

use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use brief_syntax::rpc::{
    HeadedFrame, RpcError, RpcErrorCode, build_response, frame_with_headers, read_headed_frame,
};
use brief_system::System;
use serde_json::Value as Json;

use checker::{CheckedFolders, Checker};
use server::LanguageServer;

/// The end of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LspEnding {
    /// The editor said goodbye, as the protocol asks for.
    Orderly,
    /// The editor left or sent bytes that cannot be read.
    Abrupt,
}

/// Something that happens to a server.
enum Event {
    Message(Json),
    /// A message that is not JSON.
    Wrong(String),
    Checked(Box<CheckedFolders>),
    End,
}

/// Serves until the editor leaves. `directory` is the folder of an editor that names none. `write` gets whole messages.
pub fn serve_lsp(
    system: &Arc<dyn System>,
    directory: &Path,
    input: Box<dyn Read + Send>,
    write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<LspEnding> {
    let (events, inbox) = channel();
    let results = events.clone();
    let checker = Checker::start(Arc::clone(system), move |checked| {
        // The server has ended, and needs no result.
        let _ = results.send(Event::Checked(Box::new(checked)));
    })?;
    thread::Builder::new()
        .name("lsp-read".to_owned())
        .spawn(move || read_all(BufReader::new(input), &events))?;
    let mut server = LanguageServer::new(Arc::clone(system), directory.to_owned(), checker);
    for event in inbox {
        let answers = match event {
            Event::Message(message) => match server.answer_message(message) {
                server::Reply::Messages(answers) => answers,
                server::Reply::End(ending) => return Ok(ending),
            },
            Event::Wrong(problem) => {
                let message = format!("the message is not JSON: {problem}");
                vec![build_response(&Json::Null, Err(RpcError::new(RpcErrorCode::Parse, message)))]
            }
            Event::Checked(result) => server.apply_checked(*result),
            Event::End => break,
        };
        for answer in answers {
            write(&frame_with_headers(&answer))?;
        }
    }
    Ok(LspEnding::Abrupt)
}

fn read_all(mut reader: impl io::BufRead, events: &Sender<Event>) {
    loop {
        let event = match read_headed_frame(&mut reader) {
            Ok(Some(HeadedFrame::Message(message))) => Event::Message(message),
            Ok(Some(HeadedFrame::Wrong(problem))) => Event::Wrong(problem),
            Ok(None) | Err(_) => Event::End,
        };
        let is_end = matches!(event, Event::End);
        if events.send(event).is_err() || is_end {
            return;
        }
    }
}
