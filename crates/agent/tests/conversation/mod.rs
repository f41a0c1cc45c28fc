//! Agents in conversation with a scripted server, over a real connection.

mod calls;
mod endings;
mod failures;
mod gates;
mod harness;
mod server;
mod talk;
