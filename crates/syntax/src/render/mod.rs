//! The three renderings of a diagnostic.

mod github;
mod json;
mod sarif;
mod terminal;

pub use github::github;
pub use json::{Envelope, ErrorEnvelope, JsonDiagnostic, JsonDiagnostics, path_below};
pub use sarif::sarif;
pub use terminal::{Colour, Terminal};
