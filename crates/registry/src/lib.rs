//! The sources of guidance, and the installation of their items.
//!
//! [`SourceAddress`] parses what a user typed: a directory, a git repository, or an artifact of a registry. [`Cache`] turns a git source into a
//! directory of plain files, one per commit, with the installed `git`, which knows the user's credentials and
//! shorthands. Fetched files are untrusted data: none of them is run, git does not check them out, and none
//! of them can land outside the cache.

mod access;
mod address;
mod admission;
pub mod build;
mod cache;
mod cache_slot;
pub mod elsewhere;
mod error;
mod extract;
pub mod fleet;
#[doc(hidden)]
pub mod fuzzing;
mod git;
mod guidance;
pub mod history;
pub mod install;
mod latest;
pub mod lock;
pub mod manifest;
pub mod oci;
mod outputs;
mod parallel;
mod remote;
mod shorthand;
mod sigstore;
mod source;
mod staged;
mod watched;

pub use cache::{Cache, Checkout, Event, Network};
pub use error::FetchError;
pub use latest::{Latest, find_newer_tag};
pub use outputs::{Change, ChangeKind, Difference, Durability};
pub use sigstore::TrustRootError;
pub use source::{GitSource, SourceAddress, SourceError};
pub use watched::WatchedFiles;
