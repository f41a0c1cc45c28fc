//! An editor that sends any bytes, for [`crate::fuzzing`].

use std::sync::Arc;

use brief_syntax::rpc::{HeadedFrame, read_headed_frame};
use brief_system::{MemorySystem, System};
use serde_json::{Value as Json, json};

use super::checker::Checker;
use super::server::{LanguageServer, Reply};

/// Answers messages until the end. Each line is one, so that an input needs no headers. A request gets one answer at most, and
/// an answer names its request or reports an error.
pub(crate) fn fuzz_session(bytes: &[u8]) {
    let mut framed = bytes;
    while let Ok(Some(_)) = read_headed_frame(&mut framed) {}
    let system = MemorySystem::new("/p")
        .with_file("/p/AGENTS.yaml", "context:\n  - content: x\n    match: ['*.py']\n")
        .with_file("/p/a.py", "");
    let system: Arc<dyn System> = Arc::new(system);
    // Its results are not taken: an input has to give the same run each time.
    let Ok(checker) = Checker::start(Arc::clone(&system), |_| {}) else { return };
    let mut server = LanguageServer::new(system, "/p".into(), checker);
    let first =
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}});
    let Reply::Messages(answers) = server.answer_message(first) else { return };
    assert_eq!(answers.len(), 1);
    for line in bytes.split(|&byte| byte == b'\n') {
        let mut frame = format!("Content-Length: {}\r\n\r\n", line.len()).into_bytes();
        frame.extend_from_slice(line);
        let Ok(Some(HeadedFrame::Message(message))) = read_headed_frame(&mut frame.as_slice())
        else {
            continue;
        };
        let id = message.get("id").cloned().unwrap_or(Json::Null);
        let Reply::Messages(messages) = server.answer_message(message) else { return };
        let answers = messages.iter().filter(|message| message.get("method").is_none());
        let answers: Vec<&Json> = answers.collect();
        assert!(answers.len() <= 1, "{answers:?}");
        for answer in answers {
            assert_eq!(answer["jsonrpc"], "2.0");
            let is_cancelled = answer["error"]["code"] == -32800;
            assert!(answer["id"] == id || is_cancelled, "{answer}");
        }
    }
}
