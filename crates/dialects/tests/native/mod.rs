//! The files that clients read by themselves.

mod clients;
mod forms;
mod hostile;
mod imports;
mod lint;
mod modes;
mod places;
mod plugins;
mod started;
mod support;
