//! Everything that can be wrong with guidance, found in a project that the engine has read.
//!
//! [`lint::Lint`] is the entry point: it asks the formats for what their parsers found, adds what shows only in the
//! whole project (links, references, statements that contradict each other, reach), and removes what comments
//! suppress. [`render`] writes findings for services, and [`baseline`] accepts those of today.

mod audience;
pub mod baseline;
mod causes;
mod client_files;
pub mod coverage;
#[doc(hidden)]
pub mod fuzzing;
mod illustrations;
pub mod links;
pub mod lint;
pub mod references;
pub mod render;
pub mod reviews;
pub mod rules;
mod statements;
mod suppression;
mod texts;
pub mod uses;
mod words;
