//! The status for people.

use std::path::Path;

use brief_engine::sees::MissingCause;
use brief_engine::tokens::Counter;
use brief_profiles::BUILTIN;
use brief_syntax::Diagnostic;
use brief_syntax::text::{format_count, visible_line};

use super::{ClientStatus, NextCommand, OwnGuidance, State, Status, worst_problems};
use crate::error::Result;
use crate::ui::Ui;

/// The number of files of the user that are listed.
const OWN_FILES: usize = 10;

/// The clients whose files the text names.
const NAMED_CLIENTS: usize = 3;

/// The blanks between two columns.
const GAP: &str = "  ";

pub(super) fn print_status(ui: &mut Ui, status: &Status, root: &Path) -> Result {
    if let Some(remark) = &status.remark {
        print_words(ui, "", remark)?;
        ui.print_line("")?;
    }
    match status.state {
        State::Guidance => print_guidance(ui, status, root)?,
        State::NoGuidance => {
            print_words(ui, "", &format!("No guidance found in {}.", status.name))?;
            ui.print_line("")?;
            print_problems(ui, status, root)?;
            let others = BUILTIN.clients.len().saturating_sub(NAMED_CLIENTS);
            let text = format!(
                "brief reads CLAUDE.md, AGENTS.md, .cursor/rules, .github/instructions, skills and \
                 the files of {others} other clients."
            );
            print_words(ui, "", &text)?;
            ui.print_line("")?;
        }
        State::Outside => print_own(ui, status.own.as_ref())?,
    }
    print_next(ui, &status.next)
}

fn print_guidance(ui: &mut Ui, status: &Status, root: &Path) -> Result {
    let counter = Counter::estimate();
    let clients = match status.clients.len() {
        0 => "no clients detected".to_owned(),
        count => format!("{} detected", format_count(count, "client")),
    };
    let (items, tokens) =
        (format_count(status.items, "item"), counter.render_tokens(status.tokens));
    let head = match status.items {
        0 => format!("{}  no items, {clients}", status.name),
        _ => format!("{}  {items}, {tokens} tokens, {clients}", status.name),
    };
    ui.print_heading(&head)?;
    ui.print_line("")?;
    if !status.clients.is_empty() {
        let head = ["client", "hook", "loads", "brief delivers"].map(str::to_owned);
        let rows = status.clients.iter().map(|client| {
            let loads = if client.loads == 0 {
                "nothing".to_owned()
            } else {
                counter.render_tokens(client.loads)
            };
            [
                client.client.clone(),
                render_hook_state(client.cause).to_owned(),
                loads,
                render_delivery(client, &counter),
            ]
        });
        let rows: Vec<[String; 4]> = std::iter::once(head).chain(rows).collect();
        for (index, line) in align_columns(&rows).iter().enumerate() {
            if index == 0 { ui.print_heading(line)? } else { ui.print_line(visible_line(line))? }
        }
        ui.print_line("")?;
    }
    print_problems(ui, status, root)
}

/// Returns the state of a hook in a table.
fn render_hook_state(cause: Option<MissingCause>) -> &'static str {
    match cause {
        None => "installed",
        Some(MissingCause::NoHook) => "not installed",
        Some(cause) => cause.label(),
    }
}

fn render_delivery(client: &ClientStatus, counter: &Counter<'_>) -> String {
    match (client.delivers, client.missing) {
        (0, 0) => "nothing is missing".to_owned(),
        (0, missing) => format!("{} missing", format_count(missing, "item")),
        (delivers, _) => counter.render_tokens(delivers),
    }
}

/// Pads the columns of a table to the same width.
fn align_columns<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn print_problems(ui: &mut Ui, status: &Status, root: &Path) -> Result {
    let kinds = [(status.errors, "error"), (status.warnings, "warning")];
    let kinds = kinds.iter().filter(|(count, _)| *count > 0);
    let kinds: Vec<String> = kinds.map(|(count, word)| format_count(*count, word)).collect();
    if kinds.is_empty() {
        return match status.state {
            State::Guidance => {
                ui.print_line(format!("No problems in {}", format_count(status.files, "file")))?;
                ui.print_line("")
            }
            State::NoGuidance | State::Outside => Ok(()),
        };
    }
    ui.print_heading(&kinds.join(", "))?;
    let shown = worst_problems(&status.problems);
    let rows: Vec<[String; 3]> = shown.iter().map(|problem| problem_row(problem, root)).collect();
    let lines = align_columns(&rows);
    let is_wide = |line: &String| {
        ui.terminal_width().is_some_and(|width| line.chars().count() + GAP.len() > width)
    };
    let is_split = lines.iter().any(is_wide);
    for ([severity, place, message], line) in rows.iter().zip(&lines) {
        if is_split {
            // A place is never cut, because people paste it.
            ui.print_line(visible_line(&format!("{GAP}{severity}  {place}")))?;
            print_words(ui, "      ", message)?;
        } else {
            ui.print_line(visible_line(&format!("{GAP}{line}")))?;
        }
    }
    if status.problems.len() > shown.len() {
        ui.print_line(format!("{GAP}…"))?;
    }
    ui.print_line("")
}

fn problem_row(problem: &Diagnostic, root: &Path) -> [String; 3] {
    let path = problem.shown_path(root).into_owned();
    let is_text = !problem.source.text().is_empty();
    let place = if is_text { format!("{path}:{}", problem.position().line) } else { path };
    [problem.severity.to_string(), place, problem.message.clone()]
}

fn print_own(ui: &mut Ui, own: Option<&OwnGuidance>) -> Result {
    let Some(own) = own.filter(|own| own.items > 0) else {
        ui.print_line("You have no guidance of your own for all projects.")?;
        return ui.print_line("");
    };
    let (items, tokens) =
        (format_count(own.items, "item"), Counter::estimate().render_tokens(own.tokens));
    ui.print_line(format!("Your own guidance, for every project: {items}, {tokens} tokens"))?;
    for file in own.files.iter().take(OWN_FILES) {
        ui.print_line(visible_line(&format!("{GAP}{file}")))?;
    }
    if let Some(more) = own.files.len().checked_sub(OWN_FILES).filter(|more| *more > 0) {
        ui.print_line(format!("{GAP}and {}", format_count(more, "more file")))?;
    }
    ui.print_line("")
}

fn print_next(ui: &mut Ui, next: &[NextCommand]) -> Result {
    let rows: Vec<[String; 2]> =
        next.iter().map(|next| [next.command.clone(), next.effect.clone()]).collect();
    let lines = align_columns(&rows);
    let is_wide = |line: &String| {
        ui.terminal_width().is_some_and(|width| line.chars().count() + GAP.len() > width)
    };
    let is_split = lines.iter().any(is_wide);
    for ([command, effect], line) in rows.iter().zip(&lines) {
        if is_split {
            ui.print_line(visible_line(&format!("{GAP}{command}")))?;
            print_words(ui, "      ", effect)?;
        } else {
            ui.print_line(visible_line(&format!("{GAP}{line}")))?;
        }
    }
    Ok(())
}

/// Prints a sentence. At a terminal it is broken between words.
fn print_words(ui: &mut Ui, indent: &str, text: &str) -> Result {
    let text = visible_line(text);
    let Some(width) = ui.terminal_width() else {
        return ui.print_line(format!("{indent}{text}"));
    };
    for line in wrap_text(&text, width.saturating_sub(indent.len())) {
        ui.print_line(format!("{indent}{line}"))?;
    }
    Ok(())
}

/// Breaks a text between words; a word that is too long has a line of its own.
fn wrap_text(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_paths_stay_whole() {
        assert_eq!(wrap_text("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap_text("a src/very/long/path.rs b", 8), ["a", "src/very/long/path.rs", "b"]);
        assert_eq!(wrap_text("", 8), [""]);
    }
}
