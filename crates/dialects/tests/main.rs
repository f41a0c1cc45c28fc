//! The dialects through the library's public face, a folder for each. One program: linking takes longer than
//! compiling here.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail here")]

mod agents;
mod dependencies;
mod hosted;
mod native;
mod portable;
mod tasks;
