//! The parser for messages of MCP servers, open to the targets in `fuzz/` only.

use std::io;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use brief_system::{Companion, Ending, Interruption, MemorySystem, System};
use serde_json::json;

use crate::McpConnection;
use crate::program::{MessageLines, PIECE};
use crate::servers::extract_content;

/// A server that sends its text, in pieces, whatever the request.
struct Recital {
    text: Vec<u8>,
    at: usize,
}

impl Companion for Recital {
    fn send(&mut self, bytes: &[u8], _: Duration) -> io::Result<()> {
        assert!(bytes.ends_with(b"\n") && !bytes[..bytes.len() - 1].contains(&b'\n'));
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], _: Duration) -> io::Result<usize> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let count = rest.len().min(buffer.len()).min(PIECE / 100);
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }

    fn id(&self) -> u32 {
        0
    }

    fn wait(&mut self, _: Duration) -> io::Result<Ending> {
        Ok(Ending::Exited(0))
    }

    fn end(&mut self) {}
}

static SYSTEM: LazyLock<Arc<MemorySystem>> = LazyLock::new(|| Arc::new(MemorySystem::new("/p")));

/// Parses bytes as the output of an MCP server: sends requests until the text is used up.
pub fn fuzz_answers(text: &[u8]) {
    let recital = Recital { text: text.to_vec(), at: 0 };
    let system: Arc<dyn System> = Arc::clone(&*SYSTEM) as Arc<dyn System>;
    let until = system.elapsed() + Duration::from_mins(1);
    let lines = MessageLines::new(Box::new(recital), Arc::clone(&system));
    let mut running = McpConnection::new(Box::new(lines), system, &Interruption::default());
    let params = json!({});
    // The text is used up in the end: each request takes at least a line of it.
    for _ in 0..=text.len() {
        match running.send_request("tools/call", &params, until).and_then(|answer| answer) {
            Ok(result) => drop(extract_content(&result)),
            Err(message) if message == "the server has ended" => return,
            Err(_) => {}
        }
    }
    panic!("a server that has ended is asked again");
}
