//! Portable items through the library's public face.
#![expect(clippy::disallowed_methods, reason = "tests read the project's documents and the clock")]

mod agents;
mod bodies;
mod bundles;
mod commands;
mod directives;
mod fields;
mod front_matter;
mod hostile;
mod layout;
mod markdownlint;
mod overrides;
mod properties;
mod support;
mod versions;
