//! Redirections and here-documents.

use super::reader::Reader;
use super::word::read_here_text;
use super::wrapper::reads_its_input;
use super::{HereText, RedirectKind, ShellOrigin, ShellRedirect};
use crate::Span;

/// A here-document whose text begins on the next line.
pub(super) struct HereDocument {
    end: String,
    removes_tabs: bool,
    is_literal: bool,
    /// The place of its command, once that is complete.
    pub(super) command: Option<usize>,
}

impl Reader<'_> {
    pub(super) fn read_redirection(&mut self) {
        if self.level.command.is_empty() {
            self.level.command.span.start = self.at;
        }
        if self.eat_prefix("<<<") {
            self.skip_blanks();
            let word = self.read_word();
            let is_literal = word.literal().is_some();
            self.level.command.input = Some(HereText { text: word.text, is_literal });
        } else if self.eat_prefix("<<") {
            self.open_here_document();
        } else {
            self.read_file_redirection();
        }
        self.level.end = self.at;
    }

    /// Reads the end mark of a here-document.
    fn open_here_document(&mut self) {
        let removes_tabs = self.eat_prefix("-");
        self.skip_blanks();
        let start = self.at;
        let word = self.read_word();
        if self.at > start {
            let (end, is_literal) = (word.text, word.is_quoted);
            self.level.here.push(HereDocument { end, removes_tabs, is_literal, command: None });
            // The command is there, even if it has nothing else.
            self.level.command.input = Some(HereText { text: String::new(), is_literal });
        }
    }

    /// Reads `>file` and its like.
    fn read_file_redirection(&mut self) {
        let has_both = self.eat_prefix("&");
        let kind = match self.rest().as_bytes() {
            [b'>', b'>', ..] => RedirectKind::Append,
            [b'>', ..] => RedirectKind::Write,
            [b'<', b'>', ..] => RedirectKind::ReadWrite,
            _ => RedirectKind::Read,
        };
        self.at += match kind {
            RedirectKind::Append | RedirectKind::ReadWrite => 2,
            RedirectKind::Write if self.peek_at(1) == Some(b'|') => 2,
            RedirectKind::Write | RedirectKind::Read => 1,
        };
        let is_descriptor = !has_both && self.eat_prefix("&");
        self.skip_blanks();
        let start = self.at;
        let target = self.read_word();
        // `2>&1`, `>&-` and `>&3-` name no file.
        let names_none =
            |text: &str| text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        if self.at > start && !(is_descriptor && target.literal().is_some_and(names_none)) {
            self.level.command.redirects.push(ShellRedirect { kind, target });
        }
    }

    /// Takes the texts of the here-documents of the line that has ended.
    pub(super) fn here_documents(&mut self) {
        for here in std::mem::take(&mut self.level.here) {
            let start = self.at;
            let mut text = String::new();
            let mut end = start;
            loop {
                let rest = self.rest();
                if rest.is_empty() {
                    self.is_complete = false;
                    break;
                }
                let length = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
                let line = &rest[..length];
                self.at += length;
                let line = if here.removes_tabs { line.trim_start_matches('\t') } else { line };
                if line.trim_end_matches(['\r', '\n']) == here.end {
                    break;
                }
                text.push_str(line);
                end = self.at;
            }
            let whole = &self.text[start..end];
            let is_verbatim = whole.len() == text.len();
            let mut is_literal = here.is_literal;
            if !is_literal {
                let spans = self.spans.shifted_by(start);
                is_literal = self.read_inside(whole, spans, read_here_text).unwrap_or(false);
            }
            let Some(command) = here.command.and_then(|place| self.commands.get_mut(place)) else {
                continue;
            };
            command.input = Some(HereText { text: text.clone(), is_literal });
            if reads_its_input(command) {
                let spans = if is_verbatim {
                    self.spans.shifted_by(start)
                } else {
                    self.spans.with_whole_span(Span::new(start, end))
                };
                let directory = command.directory.clone();
                let now = std::mem::replace(&mut self.directory, directory);
                self.inner_line(&text, spans, ShellOrigin::InnerLine);
                self.directory = now;
            }
        }
    }
}
