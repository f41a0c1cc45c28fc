//! What each AI client says and reads.
//!
//! Knowledge about clients is kept apart from what we do with it: this crate turns a client's words
//! into ours and ours into the client's. It reads and writes no file.

pub mod compile;
pub mod hook;
pub mod mcp;
pub mod places;
pub mod profile;
pub mod settings;
pub mod shared;
