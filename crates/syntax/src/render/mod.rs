//! One diagnostic, three renderings.

mod json;
mod sarif;
mod terminal;

pub use json::JsonDiagnostic;
pub use sarif::sarif;
pub use terminal::{Colour, Terminal};
