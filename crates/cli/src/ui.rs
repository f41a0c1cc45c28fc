//! All output of the program.
//!
//! Standard output is data, standard error is for people. Text from a file is escaped before a
//! person sees it ([`brief_syntax::text`]); only JSON and help texts are printed unchanged.

mod prompts;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use brief_engine::CandidateState;
use brief_syntax::render::{Color, Envelope, ErrorEnvelope, Terminal};
use brief_syntax::text::{visible_json, visible_line, visible_text, wrap_lines};
use brief_syntax::{Diagnostic, Severity};
use brief_system::System;
use serde::Serialize;

use crate::directory_names::DirectoryNames;
use crate::error::Result;
use crate::json_buffer::JsonBuffer;
use crate::output_options::{ColorArg, OutputOptions};
use crate::paging::PagedAnswer;
use crate::styles::{candidate_style, compared_style};

/// The terminal, or its replacement in a test.
pub struct Ui {
    stdin: Option<Box<dyn Read + Send>>,
    input: Peer,
    stdout: Box<dyn Write>,
    output: Peer,
    stderr: Box<dyn Write>,
    /// The reader of standard error.
    watcher: Peer,
    /// True while a progress line is shown, which the next output overwrites.
    has_progress: bool,
    color: Color,
    width: usize,
    /// The messages held for the end of a JSON answer; `None` for an answer in text.
    json: Option<HeldMessages>,
    names: DirectoryNames,
    amount: Verbosity,
    /// The remarks about files, printed after the answer; `None` if they are printed at once.
    remarks: Option<Vec<(Severity, String)>>,
    paged: Option<PagedAnswer>,
}

/// The verbosity besides the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verbosity {
    Quiet,
    /// The first few remarks, and their number.
    Usual,
    Verbose,
}

/// The messages of a command that prints JSON. After an answer they go to standard error as usual;
/// without one they become the single error object.
#[derive(Default)]
struct HeldMessages {
    is_answered: bool,
    errors: Vec<String>,
    hints: Vec<String>,
    /// All messages in order, formatted.
    text: Vec<u8>,
}

/// The other end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Peer {
    /// A terminal, and so probably a person.
    Terminal,
    /// A pipe, a file, or nothing.
    Other,
}

/// The default width of diagnostics.
const WIDTH: usize = 100;

/// The size of the output buffer in bytes, enough for most answers.
const BUFFER: usize = 32 * 1024;

/// The number of remarks about files after an answer.
const REMARKS: usize = 5;

const NARROWEST: usize = 40;

/// The indentation of what follows a break in a line.
const HANGING: usize = 2;

/// The number of diagnostics with their source lines; the rest is listed.
const EXCERPTS: usize = 100;

impl Ui {
    /// Uses the process's own streams. Colors appear on a terminal, unless `NO_COLOR` is set, and
    /// elsewhere if `CLICOLOR_FORCE` is.
    pub fn of_process() -> Ui {
        let has_color = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        let peer = |is_terminal| if is_terminal { Peer::Terminal } else { Peer::Other };
        let stdout = BufWriter::with_capacity(BUFFER, io::stdout());
        let mut ui = Ui::new(Box::new(io::stdin()), Box::new(stdout), Box::new(io::stderr()));
        ui.input = peer(io::stdin().is_terminal());
        ui.output = peer(io::stdout().is_terminal());
        ui.watcher = peer(io::stderr().is_terminal());
        ui.color = if has_color { Color::Always } else { Color::Never };
        ui
    }

    /// Uses the given streams, without colors and without a person to answer questions.
    pub fn new(stdin: Box<dyn Read + Send>, stdout: Box<dyn Write>, stderr: Box<dyn Write>) -> Ui {
        Ui {
            stdin: Some(stdin),
            input: Peer::Other,
            stdout,
            output: Peer::Other,
            stderr,
            watcher: Peer::Other,
            has_progress: false,
            color: Color::Never,
            width: WIDTH,
            json: None,
            names: DirectoryNames::default(),
            amount: Verbosity::Usual,
            remarks: None,
            paged: None,
        }
    }

    /// Applies the user's output options, for commands that no client calls.
    pub(crate) fn apply_options(&mut self, showing: &OutputOptions) {
        self.choose_color(showing.color);
        self.remarks = Some(Vec::new());
        self.amount = match (showing.quiet, showing.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Usual,
        };
        if (self.output == Peer::Terminal || self.watcher == Peer::Terminal)
            && let Some((terminal_size::Width(width), _)) = terminal_size::terminal_size()
        {
            self.width = usize::from(width).max(NARROWEST);
        }
    }

    pub(crate) fn choose_color(&mut self, choice: ColorArg) {
        match choice {
            ColorArg::Auto => {}
            ColorArg::Always => self.color = Color::Always,
            ColorArg::Never => self.color = Color::Never,
        }
    }

    /// Holds the answer until its length is known: at a terminal, a long one goes to the pager.
    pub(crate) fn page_with(&mut self, pager: OsString) {
        if self.output == Peer::Terminal && self.paged.is_none() {
            let (held, answer) = PagedAnswer::new(pager);
            let screen = std::mem::replace(&mut self.stdout, Box::new(answer));
            self.paged = Some(held.instead_of(screen));
        }
    }

    /// Prints the held output. It is called once, at the end of a command.
    pub(crate) fn finish(&mut self, system: &dyn System, has_failed: bool) -> Result {
        self.tell_remarks()?;
        self.remarks = None;
        if let Some(mut paged) = self.paged.take() {
            self.stdout = paged.show_answer(system)?;
            self.stdout.flush()?;
            self.stderr.write_all(&paged.words)?;
        }
        self.end_json(has_failed)
    }

    /// Prints the held remarks about files now, for a command that does not end soon.
    pub fn tell_remarks(&mut self) -> Result {
        let Some(mut remarks) = self.remarks.replace(Vec::new()).filter(|all| !all.is_empty())
        else {
            return Ok(());
        };
        self.stdout.flush()?;
        if self.amount == Verbosity::Quiet {
            remarks.retain(|(severity, _)| *severity == Severity::Error);
        }
        // Errors first, so that the cut hides none of them.
        remarks.sort_by_key(|(severity, _)| *severity != Severity::Error);
        let shown = if self.amount == Verbosity::Verbose { remarks.len() } else { REMARKS };
        // Cutting one line would save nothing.
        let shown = if remarks.len() == shown + 1 { shown + 1 } else { shown };
        for (_, line) in remarks.iter().take(shown) {
            writeln!(self.message_writer(), "{line}")?;
        }
        if let Some(more) = remarks.len().checked_sub(shown).filter(|&more| more > 0) {
            writeln!(self.message_writer(), "and {more} more; pass -v to show all")?;
        }
        Ok(())
    }

    /// Promises one JSON object or nothing on standard output, and one error object on standard
    /// error if the command fails without an answer.
    pub(crate) fn promise_json(&mut self) {
        self.json = Some(HeldMessages::default());
    }

    /// Returns whether the caller waits for JSON.
    pub fn has_promised_json(&self) -> bool {
        self.json.is_some()
    }

    /// Keeps the promise of [`Ui::promise_json`] at the end of a command.
    fn end_json(&mut self, has_failed: bool) -> Result {
        let Some(held) = self.json.take() else { return Ok(()) };
        self.stdout.flush()?;
        if !has_failed || held.is_answered {
            return Ok(self.stderr.write_all(&held.text)?);
        }
        let (first, more) = match held.errors.split_first() {
            Some((first, more)) => (first.as_str(), more),
            None => ("the command failed", &[][..]),
        };
        let hints: Vec<String> = more.iter().chain(&held.hints).cloned().collect();
        let error = ErrorEnvelope { message: first, hints: &hints };
        let error = serde_json::to_string_pretty(&error).map_err(io::Error::from)?;
        Ok(writeln!(self.stderr, "{}", visible_json(&error))?)
    }

    pub(crate) fn silent() -> Ui {
        Ui::new(Box::new(io::empty()), Box::new(io::sink()), Box::new(io::sink()))
    }

    /// Names a directory in all further messages for people; the name ends in `:`.
    pub(crate) fn name_directory(&mut self, directory: &Path, name: &str) {
        self.names.add(directory, name);
    }

    /// Returns the width of help texts: that of the terminal, else of `COLUMNS`, up to the usual width.
    pub(crate) fn help_width(&self, system: &dyn System) -> usize {
        let is_at_terminal = [self.input, self.output, self.watcher].contains(&Peer::Terminal);
        let screen = is_at_terminal.then(terminal_size::terminal_size).flatten();
        let columns = || system.env("COLUMNS")?.to_str()?.parse().ok();
        let width = screen.map(|(width, _)| usize::from(width.0)).or_else(columns);
        width.map_or(WIDTH, |width| width.min(WIDTH))
    }

    /// Returns the width of a line in characters.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Returns the width of the terminal that the output goes to; `None` where it goes elsewhere.
    pub(crate) fn terminal_width(&self) -> Option<usize> {
        (self.output == Peer::Terminal).then_some(self.width)
    }

    pub(crate) fn has_color(&self) -> bool {
        self.color == Color::Always
    }

    /// Takes standard input; empty the second time.
    pub fn take_stdin(&mut self) -> Box<dyn Read + Send> {
        self.stdin.take().unwrap_or_else(|| Box::new(io::empty()))
    }

    /// Shows text from a file to people, with a mark on each line.
    pub(crate) fn print_quote(&mut self, text: &str) -> Result {
        let text = visible_text(text);
        for line in text.trim_end_matches('\n').split('\n') {
            writeln!(self.stderr, "{}", format!("    | {line}").trim_end())?;
        }
        Ok(())
    }

    /// Prints text for people or pipes, escaped, with a line break.
    pub fn print_line(&mut self, text: impl fmt::Display) -> Result {
        let text = text.to_string();
        let names = self.names.replace_paths(&text);
        let text = visible_text(&names);
        match self.terminal_width() {
            Some(width) => Ok(writeln!(self.stdout, "{}", wrap_lines(&text, width, HANGING))?),
            None => Ok(writeln!(self.stdout, "{text}")?),
        }
    }

    /// Prints a heading, escaped, with a line break.
    pub fn print_heading(&mut self, text: &str) -> Result {
        let style = self.style(Style::new().bold());
        Ok(writeln!(
            self.stdout,
            "{style}{}{style:#}",
            visible_line(&self.names.replace_paths(text))
        )?)
    }

    /// Prints the heading of a candidate, escaped, with a line break.
    pub(crate) fn print_candidate(&mut self, state: CandidateState, text: &str) -> Result {
        let style = self.style(candidate_style(state));
        Ok(writeln!(
            self.stdout,
            "{style}{}{style:#}",
            visible_line(&self.names.replace_paths(text))
        )?)
    }

    /// Prints a line of a comparison, escaped: `+` marks a new line, `-` a removed one.
    pub(crate) fn print_compared(&mut self, indent: &str, line: &str) -> Result {
        let style = self.style(compared_style(line));
        Ok(writeln!(self.stdout, "{indent}{style}{}{style:#}", visible_line(line))?)
    }

    /// Prints data unchanged, with a line break. At a terminal, hidden characters are escaped as in JSON.
    pub(crate) fn print_data(&mut self, text: &str) -> Result {
        if self.output == Peer::Terminal {
            return Ok(writeln!(self.stdout, "{}", visible_json(text))?);
        }
        Ok(writeln!(self.stdout, "{text}")?)
    }

    /// Prints our own text unchanged.
    pub(crate) fn print_raw(&mut self, text: &str) -> Result {
        Ok(self.stdout.write_all(text.as_bytes())?)
    }

    /// Sends a message to a program that waits for it.
    pub(crate) fn print_message(&mut self, message: &[u8]) -> io::Result<()> {
        self.stdout.write_all(message)?;
        self.stdout.flush()
    }

    /// Prints a text for another program, byte for byte. At a terminal it is escaped.
    pub fn print_text(&mut self, text: &[u8]) -> Result {
        if self.output == Peer::Other {
            return Ok(self.stdout.write_all(text)?);
        }
        // The line breaks of other systems need no escape.
        let text = String::from_utf8_lossy(text).replace("\r\n", "\n");
        Ok(self.stdout.write_all(visible_text(&text).as_bytes())?)
    }

    /// Passes on a program's output for people.
    pub(crate) fn pass_on(&mut self, piece: &[u8]) -> Result {
        if self.watcher == Peer::Terminal {
            let text = String::from_utf8_lossy(piece).replace("\r\n", "\n");
            return Ok(self.stderr.write_all(visible_text(&text).as_bytes())?);
        }
        Ok(self.stderr.write_all(piece)?)
    }

    /// Prints the answer of the command `kind` as JSON, in the envelope that all commands share.
    pub fn print_json(
        &mut self,
        kind: &'static str,
        root: &Path,
        diagnostics: &[Diagnostic],
        body: impl Serialize,
    ) -> Result {
        self.print_document(&Envelope { kind, root, diagnostics, body })
    }

    /// Prints JSON in another shape: SARIF, or that of another tool.
    pub fn print_document(&mut self, value: &impl Serialize) -> Result {
        if let Some(held) = &mut self.json {
            held.is_answered = true;
        }
        if self.output == Peer::Terminal {
            let json = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
            return Ok(writeln!(self.stdout, "{}", visible_json(&json))?);
        }
        let mut json = JsonBuffer::new(&mut *self.stdout);
        serde_json::to_writer_pretty(&mut json, value).map_err(io::Error::from)?;
        json.write_all(b"\n")?;
        Ok(json.flush()?)
    }

    /// Prints our own text to standard error unchanged.
    pub(crate) fn warn_raw(&mut self, text: &str) -> Result {
        Ok(self.stderr.write_all(text.as_bytes())?)
    }

    pub fn print_error(&mut self, message: &str) -> Result {
        if let Some(held) = &mut self.json {
            held.errors.push(self.names.replace_paths(message).into_owned());
        }
        self.print_labeled("error", AnsiColor::Red, message)
    }

    pub fn print_warning(&mut self, message: &str) -> Result {
        if self.amount == Verbosity::Quiet {
            return Ok(());
        }
        self.print_labeled("warning", AnsiColor::Yellow, message)
    }

    pub(crate) fn print_note(&mut self, message: &str) -> Result {
        if self.amount == Verbosity::Quiet {
            return Ok(());
        }
        self.print_labeled("note", AnsiColor::Green, message)
    }

    /// Prints what the user can do.
    pub fn print_hint(&mut self, message: &str) -> Result {
        if let Some(held) = &mut self.json {
            held.hints.push(self.names.replace_paths(message).into_owned());
        }
        if self.amount == Verbosity::Quiet {
            return Ok(());
        }
        self.print_labeled("hint", AnsiColor::Cyan, message)
    }

    /// Prints a message about finished work, for people only, after all earlier output.
    pub fn print_status(&mut self, message: &str) -> Result {
        if self.amount == Verbosity::Quiet {
            return Ok(());
        }
        self.stdout.flush()?;
        let message = self.names.replace_paths(message).into_owned();
        let message = self.wrap_message(&visible_line(&message), 0);
        Ok(writeln!(self.message_writer(), "{message}")?)
    }

    /// Prints the current work: one changing line on a terminal, otherwise one line each.
    pub(crate) fn print_progress(&mut self, message: &str) -> Result {
        match self.watcher {
            _ if self.amount == Verbosity::Quiet => Ok(()),
            Peer::Terminal => self.print_detail(message),
            // A program that waits for JSON does not read progress.
            Peer::Other if self.json.is_some() => Ok(()),
            Peer::Other => self.print_status(message),
        }
    }

    /// Prints details of the progress, on a terminal only.
    pub(crate) fn print_detail(&mut self, message: &str) -> Result {
        if self.watcher == Peer::Other || self.amount == Verbosity::Quiet {
            return Ok(());
        }
        self.has_progress = true;
        let line: String = visible_line(message).chars().take(self.width).collect();
        write!(self.stderr, "\r\x1b[2K{line}")?;
        Ok(self.stderr.flush()?)
    }

    /// Returns whether the user sees progress.
    pub(crate) fn shows_progress(&self) -> bool {
        self.watcher == Peer::Terminal && self.amount != Verbosity::Quiet
    }

    pub(crate) fn end_progress(&mut self) -> Result {
        if !std::mem::take(&mut self.has_progress) {
            return Ok(());
        }
        write!(self.stderr, "\r\x1b[2K")?;
        Ok(self.stderr.flush()?)
    }

    fn print_labeled(&mut self, label: &str, color: AnsiColor, message: &str) -> Result {
        let line = self.render_labeled(label, color, message);
        Ok(writeln!(self.message_writer(), "{line}")?)
    }

    fn render_labeled(&self, label: &str, color: AnsiColor, message: &str) -> String {
        let style = self.style(color.on_default().bold());
        let message = self.names.replace_paths(message).into_owned();
        let message = self.wrap_message(&visible_line(&message), label.len() + ": ".len());
        format!("{style}{label}{style:#}: {message}")
    }

    /// Breaks a message for people between words, if a person looks at it. It follows a label of this length.
    fn wrap_message(&self, message: &str, label: usize) -> String {
        if self.watcher == Peer::Other {
            return message.to_owned();
        }
        wrap_lines(message, self.width.saturating_sub(label), HANGING).into_owned()
    }

    /// Returns the writer for people: standard error, or its held buffer.
    fn message_writer(&mut self) -> &mut dyn Write {
        match &mut self.json {
            Some(held) => &mut held.text,
            None => match &mut self.paged {
                Some(paged) => &mut paged.words,
                None => &mut *self.stderr,
            },
        }
    }

    fn style(&self, style: Style) -> Style {
        if self.has_color() { style } else { Style::new() }
    }

    /// Prints the problems of the files that were read, one line each. Notes are for `lint`.
    pub fn print_diagnostic_lines(&mut self, diagnostics: &[Diagnostic], root: &Path) -> Result {
        for diagnostic in diagnostics {
            // One line each, also for a file name with a line break.
            let message = format!("{}: {}", render_position(diagnostic, root), diagnostic.message);
            if let Some(held) = &mut self.json {
                held.add_diagnostic(diagnostic, &message);
            }
            let (label, color) = match diagnostic.severity {
                Severity::Error => ("error", AnsiColor::Red),
                Severity::Warning => ("warning", AnsiColor::Yellow),
                Severity::Note => continue,
            };
            let line =
                self.render_labeled(&format!("{label}[{}]", diagnostic.code()), color, &message);
            match &mut self.remarks {
                Some(remarks) => remarks.push((diagnostic.severity, line)),
                None => writeln!(self.message_writer(), "{line}")?,
            }
        }
        Ok(())
    }

    /// Prints advice about the last remark, next to it.
    pub(crate) fn print_advice(&mut self, message: &str) -> Result {
        let line = self.render_labeled("hint", AnsiColor::Cyan, message);
        match self.remarks.as_mut().and_then(|remarks| remarks.last_mut()) {
            Some((_, remark)) => {
                remark.push('\n');
                remark.push_str(&line);
                Ok(())
            }
            None => self.print_hint(message),
        }
    }

    /// Prints diagnostics to standard output: the first ones with their source lines, the rest in
    /// one line each.
    pub fn print_diagnostics(&mut self, diagnostics: &[Diagnostic], root: &Path) -> Result {
        if self.json.is_some() {
            return self.print_diagnostic_lines(diagnostics, root);
        }
        let terminal =
            Terminal::new(root, self.color, self.width).with_wrap_width(self.terminal_width());
        let (shown, listed) = diagnostics.split_at(diagnostics.len().min(EXCERPTS));
        for diagnostic in shown {
            let text = terminal.render(diagnostic);
            writeln!(self.stdout, "{}\n", self.names.replace_paths(&text))?;
        }
        for diagnostic in listed {
            let (severity, code) = (diagnostic.severity, diagnostic.code());
            let place = render_position(diagnostic, root);
            let (place, message) = (visible_line(&place), visible_line(&diagnostic.message));
            writeln!(self.stdout, "{place}: {severity}[{code}]: {message}")?;
            if let Some(others) = diagnostic.other_places(root) {
                writeln!(self.stdout, "  {}", visible_line(&others))?;
            }
        }
        Ok(())
    }

    pub fn flush(&mut self) -> Result {
        Ok(self.stdout.flush()?)
    }
}

impl HeldMessages {
    fn add_diagnostic(&mut self, diagnostic: &Diagnostic, message: &str) {
        if diagnostic.severity == Severity::Error {
            self.errors.push(message.to_owned());
            self.hints.extend(diagnostic.help.clone());
        }
    }
}

/// A failed flush was reported before, or has no reader.
impl Drop for Ui {
    fn drop(&mut self) {
        let _ = self.stdout.flush();
    }
}

fn render_position(diagnostic: &Diagnostic, root: &Path) -> String {
    let path = diagnostic.shown_path(root);
    if diagnostic.source.text().is_empty() {
        return path.into_owned();
    }
    let position = diagnostic.position();
    format!("{path}:{}:{}", position.line, position.column)
}
