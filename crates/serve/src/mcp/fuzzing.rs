//! A client that sends any bytes, for [`crate::fuzzing`].

use std::sync::Arc;

use brief_system::Interruption;
use rmcp::transport::Transport;
use serde_json::Value as Json;
use tokio::runtime::{Builder, Runtime};

use super::frames::Frames;

thread_local! {
    /// One runtime for all inputs: creating it takes longer than reading a message.
    static RUNTIME: Runtime =
        Builder::new_current_thread().build().expect("a runtime without drivers needs nothing");
}

/// Receives until the client has disconnected. Every answer has to be one line of JSON-RPC.
pub(crate) fn fuzz_frames(bytes: &[u8]) {
    let left = Interruption::default();
    let mut frames = Frames::new((bytes, Vec::new()), left.clone());
    let writer = frames.writer();
    let lines = bytes.split(|&byte| byte == b'\n').count();
    RUNTIME.with(|runtime| {
        runtime.block_on(async {
            let mut messages = 0;
            while frames.receive().await.is_some() {
                messages += 1;
            }
            assert!(messages <= lines, "{messages} messages in {lines} lines");
        });
    });
    assert!(left.is_raised(), "the end of a client is told");
    drop(frames);
    let written = Arc::into_inner(writer).expect("all answers are written").into_inner();
    for answer in written.split_inclusive(|&byte| byte == b'\n') {
        assert!(answer.ends_with(b"\n"));
        let answer: Json = serde_json::from_slice(answer).expect("an answer is JSON");
        assert!(answer["error"]["code"].is_i64() && answer["jsonrpc"] == "2.0", "{answer}");
    }
}
