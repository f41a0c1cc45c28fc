//! Work that commands and front ends share: two revisions compared, a fleet judged, what is installed and added, and
//! pictures of it.
//!
//! Everything here needs crates that do not see each other: the engine, the clients, and the registry.

pub mod add;
pub mod change_check;
pub mod configuration;
pub mod delivery;
pub mod eject;
pub mod fleet;
pub mod history;
pub mod installation;
pub mod ownership;
pub mod picture;
pub mod refusal;
pub mod replay;
pub mod revisions;
pub mod schemas;
