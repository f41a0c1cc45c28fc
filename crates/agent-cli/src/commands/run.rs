//! `brief agent run`

use std::cell::RefCell;
use std::io::{self, Read};
use std::sync::Arc;

use brief_agent::conversation::{
    Connections, Conversation, ConversationLimits, ConversationSettings, Endpoint, Http, Input,
    LineSource, SystemClock, Transcript, TurnEnding, TurnEvent, choose_model, read_line,
    run_interactive,
};
use brief_engine::agents::{AgentValue, Effective};
use brief_syntax::limits;

use super::executing::{
    ExecutedTools, input_of, load_tools, offered_by, refuse_closed, through_gates,
};
use super::{ensure_usable, read_agent};
use crate::agent::AgentRunArgs;
use crate::error::{CommandError, ErrorKind, Result};
use crate::line_editor::TypedLines;
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session, args: &AgentRunArgs) -> Result {
    let grant = args.executing.granted_abilities()?;
    let loaded = read_agent(ui, session, &args.file)?;
    let agent = ensure_usable(ui, session, &loaded)?;
    // The gates come before the first question about a server.
    refuse_closed(session, agent)?;
    let is_conversation = args.input.is_none() && ui.can_ask();
    let typed = match &args.input {
        Some(text) => Some(text.clone()),
        None if is_conversation => None,
        None => Some(read_piped_input(ui)?),
    };
    let typed = typed.filter(|text| !text.trim().is_empty());
    let own = opening_of(&agent.input);
    // The user's text is for the model and does not replace the author's input.
    let input: AgentValue = match &own {
        Some(_) => agent.input.clone(),
        None => input_of(agent, typed.as_deref()),
    };
    let said = typed.or_else(|| own.filter(|_| !is_conversation));
    let ExecutedTools { mut tools, servers } =
        load_tools(&args.executing, ui, session, agent, &input, &grant)?;
    let system = session.system();
    let mut ready = through_gates(session, agent, &input, &grant, &mut tools)?;
    // No server starts before the agent is ready.
    if let Some(servers) = &servers {
        let effective = Effective::new(&grant, &agent.abilities);
        ready.add_server_tools(offered_by(ui, servers, &effective)?);
    }
    ui.tell_remarks()?;
    let model = choose_model(agent, args.model.as_deref()).ok_or_else(|| {
        CommandError::usage("no model selected")
            .with_hint("pass `--model NAME`, or add a model to `recommended` in the agent file")
    })?;
    let endpoint = Endpoint::from_environment(system)
        .map_err(|error| CommandError::usage(error.to_string()).with_hint(error.help()))?;
    if let Some(warning) = endpoint.warning() {
        ui.print_warning(&warning)?;
    }
    let http = Http::new(&endpoint).map_err(|error| CommandError::refused(error.to_string()))?;
    let transcript = match &args.transcript {
        Some(path) => {
            let opened = Transcript::open(system, &session.directory().join(path), &endpoint);
            Some(opened.map_err(|error| CommandError::refused(error.to_string()))?)
        }
        None => None,
    };
    let clock = SystemClock(system);
    let interruption = system.interruption()?;
    let means = Connections { transport: Arc::new(http), endpoint, clock: &clock, interruption };
    let settings = ConversationSettings { model, limits: ConversationLimits::default() };
    let mut conversation = Conversation::new(ready, means, settings, transcript)
        .map_err(|error| CommandError::refused(error.to_string()))?;
    if is_conversation {
        return run_conversation(ui, &mut conversation);
    }
    one_turn(ui, &mut conversation, &said.unwrap_or_default())
}

/// Returns the first message of an agent with an input of its own: a string as it is, other values
/// as JSON.
fn opening_of(input: &AgentValue) -> Option<String> {
    match input {
        AgentValue::Null => None,
        AgentValue::Text(text) | AgentValue::Plain(text) => {
            Some(text.clone()).filter(|text| !text.trim().is_empty())
        }
        other => serde_json::to_string(other).ok(),
    }
}

fn read_piped_input(ui: &mut Ui) -> Result<String> {
    let mut text = String::new();
    let limit = u64::try_from(limits::PROMPT_BYTES).unwrap_or(u64::MAX);
    ui.take_stdin()
        .take(limit)
        .read_to_string(&mut text)
        .map_err(|error| CommandError::refused(format!("cannot read standard input: {error}")))?;
    Ok(text.trim_end_matches('\n').to_owned())
}

/// Sends one message and prints the answer.
fn one_turn(ui: &mut Ui, conversation: &mut Conversation<'_>, text: &str) -> Result {
    let said = match read_line(conversation.agent(), text) {
        Ok(Input::Say(said)) => said,
        Ok(_) => {
            return Err(CommandError::usage("no input for the agent")
                .with_hint("pass `--input TEXT`, pipe in text, or add `input` to the agent file"));
        }
        Err(error) => return Err(CommandError::usage(error.to_string()).with_hint(error.help())),
    };
    let mut printer = TurnPrinter::new(ui);
    let turn = conversation.send_message(&said, &mut |event| printer.print_event(&event));
    printer.end_line();
    let turn = turn.map_err(|error| {
        let refused = CommandError::refused(error.to_string());
        match error.help() {
            Some(help) => refused.with_hint(help),
            None => refused,
        }
    })?;
    finish_run(ui, turn.ending)
}

/// Continues until the user quits.
fn run_conversation(ui: &mut Ui, conversation: &mut Conversation<'_>) -> Result {
    let names: Vec<String> =
        conversation.agent().commands.iter().map(|command| command.name.clone()).collect();
    let agent = conversation.agent();
    ui.print_status(&format!(
        "{} {}: type /help for commands, /quit to exit",
        agent.icon, agent.title
    ))?;
    let lines = TypedLines::new(names).map_err(|error| {
        CommandError::refused(format!("cannot read from the terminal: {error}"))
    })?;
    let printer = RefCell::new(TurnPrinter::new(ui));
    let mut lines = PromptedLines { lines, printer: &printer };
    let ending = run_interactive(conversation, &mut lines, &mut |event| {
        printer.borrow_mut().print_event(&event);
    })
    .map_err(|error| CommandError::refused(error.to_string()))?;
    finish_run(printer.into_inner().ui, ending)
}

/// The lines of a person, each asked for on a line of its own: the prompt erases the line that it is on.
struct PromptedLines<'l, 'u, L> {
    lines: L,
    printer: &'l RefCell<TurnPrinter<'u>>,
}

impl<L: LineSource> LineSource for PromptedLines<'_, '_, L> {
    fn next_line(&mut self) -> io::Result<Option<String>> {
        self.printer.borrow_mut().end_line();
        self.lines.next_line()
    }
}

/// Prints the events of turns.
struct TurnPrinter<'u> {
    ui: &'u mut Ui,
    /// True after text that does not end its line.
    is_in_line: bool,
}

impl<'u> TurnPrinter<'u> {
    fn new(ui: &'u mut Ui) -> TurnPrinter<'u> {
        TurnPrinter { ui, is_in_line: false }
    }

    /// Prints an event: the model's words are the output, everything else goes to standard error.
    fn print_event(&mut self, event: &TurnEvent<'_>) {
        if !matches!(event, TurnEvent::Text(_)) {
            self.end_line();
        }
        let ui = &mut *self.ui;
        // A closed output is noticed at the end.
        let _ = match event {
            TurnEvent::Text(text) => {
                if let Some(last) = text.chars().last() {
                    self.is_in_line = last != '\n';
                }
                ui.print_text(text.as_bytes()).and_then(|()| ui.flush())
            }
            TurnEvent::Called { name, arguments } => {
                ui.print_status(&format!("-> {name} {arguments}"))
            }
            TurnEvent::Answered { name, result: Ok(_) } => ui.print_status(&format!("<- {name}")),
            TurnEvent::Answered { name, result: Err(error) } => {
                ui.print_warning(&format!("`{name}` failed: {error}"))
            }
            // One call per line, because a line break inside a line would be escaped.
            TurnEvent::Notice(text) => text.lines().try_for_each(|line| ui.print_status(line)),
        };
    }

    /// Ends the line of the model's text, so that nothing is written over it.
    fn end_line(&mut self) {
        if std::mem::take(&mut self.is_in_line) {
            let ui = &mut *self.ui;
            let _ = ui.print_text(b"\n").and_then(|()| ui.flush());
        }
    }
}

fn finish_run(ui: &mut Ui, ending: TurnEnding) -> Result {
    ui.flush()?;
    match ending {
        TurnEnding::Answered => Ok(()),
        TurnEnding::Interrupted => Err(CommandError::interrupted()),
        other => {
            ui.print_warning(&other.to_string())?;
            Err(CommandError::reported(ErrorKind::Refused))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer whose clones share one buffer, so that a test can read the output.
    #[derive(Clone, Default)]
    struct SharedBuffer(Arc<std::sync::Mutex<Vec<u8>>>);

    impl io::Write for SharedBuffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().map_err(|_| io::Error::other("poisoned"))?.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// U65: `/help` is a list of lines, and each line is still escaped.
    #[test]
    fn a_notice_has_lines() {
        let stderr = SharedBuffer::default();
        let shown = stderr.clone();
        let mut ui = Ui::new(Box::new(io::empty()), Box::new(io::sink()), Box::new(stderr));
        TurnPrinter::new(&mut ui)
            .print_event(&TurnEvent::Notice("commands:\n  /sum  adds\u{1b}[2J"));
        ui.flush().unwrap();
        let shown = String::from_utf8(shown.0.lock().unwrap().clone()).unwrap();
        assert_eq!(shown, "commands:\n  /sum  adds\\u{1b}[2J\n");
    }

    struct Asked(SharedBuffer, Vec<String>);

    impl LineSource for Asked {
        fn next_line(&mut self) -> io::Result<Option<String>> {
            let shown = self.0.0.lock().map_err(|_| io::Error::other("poisoned"))?.clone();
            self.1.push(String::from_utf8_lossy(&shown).into_owned());
            Ok(None)
        }
    }

    /// An answer stays on the screen: the prompt, which erases its line, begins on a new one.
    #[test]
    fn a_prompt_begins_on_a_line_of_its_own() {
        for (texts, shown) in [
            (&["Short answer."][..], "Short answer.\n"),
            (&["One\n", "two"], "One\ntwo\n"),
            (&["Ends.\n"], "Ends.\n"),
            (&["Mid", ""], "Mid\n"),
            (&[], ""),
        ] {
            let stdout = SharedBuffer::default();
            let mut ui =
                Ui::new(Box::new(io::empty()), Box::new(stdout.clone()), Box::new(io::sink()));
            let printer = RefCell::new(TurnPrinter::new(&mut ui));
            for text in texts {
                printer.borrow_mut().print_event(&TurnEvent::Text(text));
            }
            let lines = Asked(stdout, Vec::new());
            let mut lines = PromptedLines { lines, printer: &printer };
            lines.next_line().unwrap();
            assert_eq!(lines.lines.1, [shown]);
        }
    }
}
