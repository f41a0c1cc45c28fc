//! Renderings of diagnostics: for people, for programs, and for services of continuous integration.

mod github;
mod gitlab;
mod json;
mod junit;
mod sarif;
mod terminal;

pub use github::github;
pub use gitlab::gitlab;
pub use json::{Envelope, ErrorEnvelope, JsonDiagnostic, JsonDiagnostics, path_below};
pub use junit::junit;
pub use sarif::sarif;
pub use terminal::{Color, Terminal};
