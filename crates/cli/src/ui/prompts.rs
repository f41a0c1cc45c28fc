//! Questions to a person at a terminal.

use std::io::{Read, Write};

use brief_syntax::text::visible_line;

use super::{Peer, Ui};
use crate::error::Result;

/// The number of bytes read from a reply.
const ANSWER: u64 = 64;

impl Ui {
    /// Returns whether a person can answer a question. Only standard input decides: no variable
    /// replaces a person.
    pub fn can_ask(&self) -> bool {
        self.input == Peer::Terminal
    }

    /// Asks a question to which only `y` or `yes` is a yes. Without a terminal the answer is no.
    pub(crate) fn confirm(&mut self, question: &str) -> Result<bool> {
        Ok(self
            .ask_question(question, "[y/N]")?
            .is_some_and(|answer| matches!(&*answer, "y" | "yes")))
    }

    /// Asks about what the user has just requested: an empty line is a yes, too. Without a terminal the answer is no.
    pub(crate) fn confirm_request(&mut self, question: &str) -> Result<bool> {
        let answer = self.ask_question(question, "[Y/n]")?;
        Ok(answer.is_some_and(|answer| matches!(&*answer, "" | "y" | "yes")))
    }

    /// Asks a question; returns the answer in lower case, or `None` without a terminal or at the end of the input.
    fn ask_question(&mut self, question: &str, choices: &str) -> Result<Option<String>> {
        if !self.can_ask() {
            return Ok(None);
        }
        self.stdout.flush()?;
        write!(self.stderr, "{} {choices} ", visible_line(question))?;
        self.stderr.flush()?;
        let mut answer = Vec::new();
        let mut input = self.take_stdin().take(ANSWER);
        let mut byte = [0];
        let mut is_line = false;
        while input.read(&mut byte)? == 1 {
            is_line = true;
            if byte == *b"\n" {
                break;
            }
            answer.extend(byte);
        }
        let answer = answer.trim_ascii().to_ascii_lowercase();
        Ok(is_line.then(|| String::from_utf8_lossy(&answer).into_owned()))
    }
}
