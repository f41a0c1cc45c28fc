//! Answers for `brief`: what it asks instead of having a JavaScript engine.

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;

use brief_agent::agent::{fences_here, parse_code as parse_text};
use brief_cli::agent_program::ParsedCode;
use brief_syntax::limits;
use brief_system::System;
use serde::Serialize;

use crate::error::{CommandError, Result};
use crate::ui::Ui;

/// The limit for the bytes of a question: a few hundred agents with the longest code.
const QUESTION_BYTES: u64 = 512 * limits::TOOL_CODE_BYTES as u64;

/// Prints an error and returns its exit code.
pub(crate) fn print_error(error: CommandError, ui: &mut Ui) -> ExitCode {
    error.print_error(ui)
}

/// Parses the texts on standard input. Nothing of them runs.
pub(crate) fn parse_code(ui: &mut Ui, system: &Arc<dyn System>) -> ExitCode {
    let mut question = Vec::new();
    let read = ui.take_stdin().take(QUESTION_BYTES).read_to_end(&mut question);
    let texts = read.ok().and_then(|_| serde_json::from_slice::<Vec<String>>(&question).ok());
    let Some(texts) = texts else {
        return print_error(
            CommandError::usage("standard input is not a JSON list of strings"),
            ui,
        );
    };
    let parse = |text: &String| match parse_text(Arc::clone(system), text) {
        Ok(None) => ParsedCode::Valid,
        Ok(Some(problem)) => ParsedCode::Invalid(problem),
        Err(error) => ParsedCode::Unparsed(error.to_string()),
    };
    print_answer(ui, &texts.iter().map(parse).collect::<Vec<_>>())
}

/// Prints the isolation features that this system lacks.
pub(crate) fn list_missing_fences(ui: &mut Ui, system: Arc<dyn System>) -> ExitCode {
    match fences_here(system) {
        Ok(fences) => print_answer(ui, &fences.missing_fences()),
        Err(error) => print_error(CommandError::refused(error.to_string()), ui),
    }
}

pub(crate) fn print_version(ui: &mut Ui) -> ExitCode {
    let printed = ui.print_line(format!("brief-agent {}", env!("CARGO_PKG_VERSION")));
    to_exit_code(printed, ui)
}

fn print_answer(ui: &mut Ui, body: &impl Serialize) -> ExitCode {
    let printed = ui.print_document(body);
    to_exit_code(printed, ui)
}

fn to_exit_code(outcome: Result, ui: &mut Ui) -> ExitCode {
    let outcome = outcome.and_then(|()| ui.flush());
    outcome.map_or_else(|error| print_error(error, ui), |()| ExitCode::SUCCESS)
}
