//! A conversation with a person at a terminal.

use std::io;

use super::failure::TurnError;
use super::input::{Input, read_line};
use super::turn::{Conversation, Ending, Event, Turn};

/// Where lines come from. The terminal itself is the front end's.
pub trait Lines {
    /// Returns the next line; `None` when the user is done, also with ^C.
    fn next_line(&mut self) -> io::Result<Option<String>>;

    /// Learns that a turn is over, and how it ended.
    fn turn_over(&mut self, _turn: &Result<Turn, TurnError>) {}
}

/// Takes lines until the user is done: [`Ending::Answered`], or [`Ending::Interrupted`] after ^C in the
/// middle of a turn. A turn that fails does not end the conversation; [`Lines::turn_over`] is told.
pub fn interact(
    conversation: &mut Conversation<'_>,
    lines: &mut dyn Lines,
    on: &mut dyn FnMut(Event<'_>),
) -> io::Result<Ending> {
    while let Some(line) = lines.next_line()? {
        if conversation.is_interrupted() {
            return Ok(Ending::Interrupted);
        }
        match read_line(conversation.agent(), &line) {
            Ok(Input::Nothing) => {}
            Ok(Input::Quit) => break,
            Ok(Input::Help) => on(Event::Notice(&help(conversation))),
            Ok(Input::Say(text)) => {
                let turn = conversation.say(&text, on);
                lines.turn_over(&turn);
                if conversation.is_interrupted() {
                    return Ok(Ending::Interrupted);
                }
            }
            Err(error) => on(Event::Notice(&format!("{error}; {}", error.help()))),
        }
    }
    Ok(Ending::Answered)
}

/// Lists what can be typed.
fn help(conversation: &Conversation<'_>) -> String {
    let mut lines = vec!["commands:".to_owned()];
    for command in &conversation.agent().commands {
        let hints: Vec<String> =
            command.hint.names().iter().map(|name| format!(" [{name}]")).collect();
        let description = command.description.lines().next().unwrap_or_default();
        lines.push(format!("  /{}{}  {description}", command.name, hints.concat()));
    }
    lines.push("  /help  this list".to_owned());
    lines.push("  /quit  leave".to_owned());
    lines.join("\n")
}
