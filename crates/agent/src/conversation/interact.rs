//! A conversation with a user at a terminal.

use std::io;

use super::failure::TurnError;
use super::input::{Input, read_line};
use super::turn::{Conversation, OnEvent, Turn, TurnEnding, TurnEvent};

/// A source of lines. The front end implements it for the terminal.
pub trait LineSource {
    /// Returns the next line; `None` when the user is done, also after ^C.
    fn next_line(&mut self) -> io::Result<Option<String>>;

    /// Reports the end of a turn.
    fn turn_over(&mut self, _turn: &Result<Turn, TurnError>) {}
}

/// Handles lines until the user is done: [`TurnEnding::Answered`], or [`TurnEnding::Interrupted`] after ^C during a
/// turn. A failed turn does not end the conversation; [`LineSource::turn_over`] reports it.
pub fn run_interactive(
    conversation: &mut Conversation<'_>,
    lines: &mut dyn LineSource,
    on: OnEvent<'_>,
) -> io::Result<TurnEnding> {
    while let Some(line) = lines.next_line()? {
        if conversation.is_interrupted() {
            return Ok(TurnEnding::Interrupted);
        }
        match read_line(conversation.agent(), &line) {
            Ok(Input::Nothing) => {}
            Ok(Input::Quit) => break,
            Ok(Input::Help) => on(TurnEvent::Notice(&render_help(conversation))),
            Ok(Input::Say(text)) => {
                let turn = conversation.send_message(&text, on);
                lines.turn_over(&turn);
                if conversation.is_interrupted() {
                    return Ok(TurnEnding::Interrupted);
                }
            }
            Err(error) => on(TurnEvent::Notice(&format!("{error}; {}", error.help()))),
        }
    }
    Ok(TurnEnding::Answered)
}

/// Returns the list of commands.
fn render_help(conversation: &Conversation<'_>) -> String {
    let mut lines = vec!["commands:".to_owned()];
    for command in &conversation.agent().commands {
        let hints: Vec<String> =
            command.hint.argument_names().iter().map(|name| format!(" [{name}]")).collect();
        let description = command.description.lines().next().unwrap_or_default();
        lines.push(format!("  /{}{}  {description}", command.name, hints.concat()));
    }
    lines.push("  /help  show this list".to_owned());
    lines.push("  /quit  exit".to_owned());
    lines.join("\n")
}
