//! Guidance of installed packages: who ships what, what is listed, and what is never looked at.

mod found;
mod listed;
mod support;
