//! Sources, fetched with the installed git from repositories that the tests create, and installations for clients
//! of the tests' own. No network.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail here")]
#![expect(clippy::disallowed_methods, reason = "the repositories are laid out in a real directory")]

mod added;
mod checkout;
mod compiler;
mod hostile;
mod kill;
mod large;
mod private;
mod scene;
mod server;
mod support;
