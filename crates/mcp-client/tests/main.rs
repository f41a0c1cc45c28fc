//! MCP servers elsewhere, through the library's public face.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail here")]
#![expect(clippy::disallowed_methods, reason = "tests look at real files and clocks")]

mod servers;
