//! Work that commands and front ends share: two revisions compared, a fleet judged, what is installed for clients, and
//! pictures of it.
//!
//! Everything here needs crates that do not see each other: the engine, the clients, and the registry.

pub mod configuration;
pub mod delivery;
pub mod fleet;
pub mod history;
pub mod picture;
pub mod revisions;
pub mod schemas;
