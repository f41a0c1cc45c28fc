//! The formats of AI clients: hook payloads, settings files, MCP servers and compiled items.
//!
//! This crate translates between a client's formats and our types. [`client_file`] is its only way to a disk.

pub mod client_file;
pub mod compile;
pub mod hook;
pub mod import;
mod json_text;
pub mod mcp;
pub mod permissions;
pub mod places;
pub mod profile;
pub mod shared;
pub mod transcript;
