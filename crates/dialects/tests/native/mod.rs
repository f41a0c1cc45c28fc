//! The files that clients read by themselves.

mod clients;
mod forms;
mod hostile;
mod imports;
mod lint;
mod places;
mod plugins;
mod started;
mod support;
