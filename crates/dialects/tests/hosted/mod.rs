//! Client-hosted context through the library's public face.

mod cases;
mod configuration;
mod context_files;
mod exclusions;
mod names;
mod properties;

mod scopes;
mod support;
