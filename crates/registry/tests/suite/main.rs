//! Sources, fetched with the installed git from repositories that the tests create. No network.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail here")]
#![expect(clippy::disallowed_methods, reason = "the repositories are laid out in a real directory")]

mod added;
mod checkout;
mod hostile;
mod private;
mod server;
mod support;
