//! Long answers at a terminal: held until their length is known, then shown by the user's pager.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::rc::Rc;

use brief_system::System;

/// The height of a terminal that does not report it, in lines.
const HEIGHT: usize = 24;

pub(crate) struct PagedAnswer {
    pager: OsString,
    answer: HeldAnswer,
    screen: Box<dyn Write>,
    /// Messages for people in the meantime; they follow the answer.
    pub(crate) words: Vec<u8>,
}

#[derive(Clone, Default)]
pub(crate) struct HeldAnswer(Rc<RefCell<Vec<u8>>>);

impl Write for HeldAnswer {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PagedAnswer {
    pub(crate) fn new(pager: OsString) -> (PagedAnswer, HeldAnswer) {
        let answer = HeldAnswer::default();
        let screen = Box::new(io::sink());
        (PagedAnswer { pager, answer: answer.clone(), screen, words: Vec::new() }, answer)
    }

    /// Keeps the writer that the answer belongs to.
    pub(crate) fn instead_of(self, screen: Box<dyn Write>) -> PagedAnswer {
        PagedAnswer { screen, ..self }
    }

    /// Shows the answer, and returns its writer. If the pager cannot be started, the answer is
    /// written directly.
    pub(crate) fn show_answer(&mut self, system: &dyn System) -> io::Result<Box<dyn Write>> {
        let answer = self.answer.0.take();
        let height = terminal_size::terminal_size()
            .map_or(HEIGHT, |(_, terminal_size::Height(height))| usize::from(height).max(2));
        let lines = answer.split(|&byte| byte == b'\n').count();
        if lines < height || system.show_in_pager(&self.pager, &answer).is_err() {
            self.screen.write_all(&answer)?;
        }
        Ok(std::mem::replace(&mut self.screen, Box::new(io::sink())))
    }
}
