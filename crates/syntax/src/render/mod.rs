//! Renderings of diagnostics: for people and for programs.

mod json;
mod terminal;

pub use json::{Envelope, ErrorEnvelope, JsonDiagnostic, JsonDiagnostics, path_below};
pub use terminal::{Color, Terminal};
