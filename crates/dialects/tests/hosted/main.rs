//! Client-hosted context through the library's public face.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail here")]

mod cases;
mod configuration;
mod context_files;
mod exclusions;
mod names;
mod properties;

mod scopes;
mod support;
