//! JSON on its way out.

use std::io::{self, Write};

/// Bytes of JSON put together before they are handed on.
const PIECES: usize = 16 * 1024;

/// Puts many small pieces together before they go through a `dyn Write`, which JSON's are.
pub(crate) struct Pieces<'o> {
    held: Vec<u8>,
    output: &'o mut dyn Write,
}

impl<'o> Pieces<'o> {
    pub(crate) fn before(output: &'o mut dyn Write) -> Pieces<'o> {
        Pieces { held: Vec::with_capacity(PIECES), output }
    }
}

impl Write for Pieces<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.write_all(piece).map(|()| piece.len())
    }

    #[inline]
    fn write_all(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.held.len() + piece.len() > PIECES {
            self.flush()?;
        }
        self.held.extend_from_slice(piece);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.write_all(&self.held)?;
        self.held.clear();
        Ok(())
    }
}
