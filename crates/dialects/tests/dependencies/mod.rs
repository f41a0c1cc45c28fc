//! Guidance of installed packages: who ships what, what is offered, and what is never looked at.

mod found;
mod offered;
mod support;
