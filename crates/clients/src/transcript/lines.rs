//! Reads a file line by line. A file may have gigabytes, and one line of it a hundred megabytes: neither is ever held.

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;

use brief_system::{Dir, ReadError};

/// The longest line that is held. The longest that clients were seen to write are results of 165 kB; pictures are longer.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// A line of a file.
pub(super) enum Line<'l> {
    Whole(&'l [u8]),
    /// The file ends within it.
    Unfinished(&'l [u8]),
    TooLong,
}

/// Gives `each` line with its number, from 1, until it breaks.
pub(super) fn read_lines(
    directory: &dyn Dir,
    name: &OsStr,
    each: &mut dyn FnMut(u32, Line<'_>) -> ControlFlow<()>,
) -> Result<(), ReadError> {
    let mut lines = Lines { held: Vec::new(), number: 0, is_too_long: false, has_ended: false };
    let result = directory.read_pieces(name, u64::MAX, &mut |piece| {
        if lines.add_piece(piece, each).is_break() {
            lines.has_ended = true;
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(())
    });
    if lines.has_ended {
        return Ok(());
    }
    result?;
    if !lines.held.is_empty() {
        let _ = each(lines.number + 1, Line::Unfinished(&lines.held));
    }
    Ok(())
}

struct Lines {
    /// The beginning of a line.
    held: Vec<u8>,
    number: u32,
    is_too_long: bool,
    has_ended: bool,
}

impl Lines {
    fn add_piece(
        &mut self,
        mut piece: &[u8],
        each: &mut dyn FnMut(u32, Line<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while let Some(end) = memchr::memchr(b'\n', piece) {
            let (line, rest) = (&piece[..end], &piece[end + 1..]);
            piece = rest;
            self.number = self.number.saturating_add(1);
            if std::mem::take(&mut self.is_too_long) || self.held.len() + line.len() > LONGEST_LINE
            {
                self.held = Vec::new();
                each(self.number, Line::TooLong)?;
            } else if self.held.is_empty() {
                each(self.number, Line::Whole(line))?;
            } else {
                self.held.extend_from_slice(line);
                each(self.number, Line::Whole(&self.held))?;
                self.held.clear();
            }
        }
        if self.is_too_long || self.held.len() + piece.len() > LONGEST_LINE {
            self.held = Vec::new();
            self.is_too_long = true;
        } else {
            self.held.extend_from_slice(piece);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<(u32, String)> {
        let mut lines = Lines { held: Vec::new(), number: 0, is_too_long: false, has_ended: false };
        let mut found = Vec::new();
        for piece in pieces {
            let _ = lines.add_piece(piece, &mut |number, line| {
                let text = match line {
                    Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                    Line::Unfinished(_) => "unfinished".to_owned(),
                    Line::TooLong => "too long".to_owned(),
                };
                found.push((number, text));
                ControlFlow::Continue(())
            });
        }
        found
    }

    #[test]
    fn lines_are_put_together_from_pieces() {
        let found = read(&[b"a\nb", b"c\n", b"\nd"]);
        let expected = [(1, "a"), (2, "bc"), (3, "")].map(|(n, text)| (n, text.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_line_without_end_is_not_held() {
        let large = vec![b'x'; LONGEST_LINE];
        let found = read(&[b"a\n", &large, &large, b"x\nb\n"]);
        let expected = [(1, "a"), (2, "too long"), (3, "b")].map(|(n, text)| (n, text.to_owned()));
        assert_eq!(found, expected);
    }
}
