//! Agents in conversation with a scripted server, over a real connection.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail here")]

mod calls;
mod endings;
mod failures;
mod gates;
mod harness;
mod server;
mod talk;
