//! Front ends that a client talks to, rather than a person.

pub mod fuzzing;
pub mod hook;
pub mod mcp;
