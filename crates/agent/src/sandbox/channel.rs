//! The worker's end of the two pipes.

use std::io::{self, Read};

use super::frame::{self, Order, WorkerMessage};

/// Reads orders and writes messages.
pub(super) struct Channel {
    input: io::StdinLock<'static>,
    /// The bytes of the last order, from which the parsed order borrows.
    order: Vec<u8>,
}

impl Channel {
    pub(super) fn open() -> Channel {
        Channel { input: io::stdin().lock(), order: Vec::new() }
    }

    /// Waits for an order; `None` when the parent has ended.
    pub(super) fn receive_order(&mut self) -> io::Result<Option<Order<'_>>> {
        let mut header = [0; frame::HEADER];
        match self.input.read_exact(&mut header) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            outcome => outcome?,
        }
        let length = frame::message_length(header);
        if length > frame::MOST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.order.resize(length, 0);
        self.input.read_exact(&mut self.order)?;
        Ok(Some(serde_json::from_slice(&self.order)?))
    }

    /// Sends a message in one piece.
    #[expect(clippy::unused_self, reason = "the speaking side has the channel to itself")]
    pub(super) fn send_message(&mut self, word: &WorkerMessage<'_>) -> io::Result<()> {
        let bytes = frame::frame_message(word)?;
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match rustix::io::write(rustix::stdio::stdout(), rest) {
                Ok(count) => rest = &rest[count..],
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
