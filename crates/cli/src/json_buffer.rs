//! Buffered JSON output.

use std::io::{self, Write};

const BUFFER_BYTES: usize = 16 * 1024;

/// Collects the many small pieces of JSON before they go through a `dyn Write`.
pub(crate) struct JsonBuffer<'o> {
    held: Vec<u8>,
    output: &'o mut dyn Write,
}

impl<'o> JsonBuffer<'o> {
    pub(crate) fn new(output: &'o mut dyn Write) -> JsonBuffer<'o> {
        JsonBuffer { held: Vec::with_capacity(BUFFER_BYTES), output }
    }
}

impl Write for JsonBuffer<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.write_all(piece).map(|()| piece.len())
    }

    #[inline]
    fn write_all(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.held.len() + piece.len() > BUFFER_BYTES {
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
