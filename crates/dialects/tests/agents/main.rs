//! Agent files through the library's public face.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail here")]

mod abilities;
mod cases;
mod commands;
mod fields;
mod gates;
mod header;
mod places;
mod properties;
mod sections;
mod support;
mod templates;
mod tools;
mod view;
