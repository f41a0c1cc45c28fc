//! Agents through the library's public face: their tools in the sandbox and with a browser, and conversations with a model.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail here")]
#![expect(clippy::disallowed_methods, reason = "tests look at real files and clocks")]

mod browser;
mod conversation;
mod sandbox;
