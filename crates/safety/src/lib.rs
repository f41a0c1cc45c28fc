//! What guidance may do to its readers: the capabilities of a text, the policies that forbid them, the switches of hooks,
//! and the names of files with secrets.
//!
//! No format is known here. Formats read texts, and ask.

pub mod capability;
#[doc(hidden)]
pub mod fuzzing;
pub mod policy;
pub mod sensitive;
pub mod settings;
