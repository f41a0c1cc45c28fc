//! Where guidance comes from: a directory, or a git repository that is cached by commit.
//!
//! [`Source`] reads what a user typed. [`Cache`] turns a git source into a directory of plain files
//! with the installed `git`, which knows the user's credentials and shorthands. What was fetched is
//! data of a stranger: nothing of it is run, git does not check it out, and no file of it can land
//! outside the cache.

mod access;
mod address;
mod admission;
pub mod build;
mod cache;
mod error;
mod extract;
mod git;
mod guidance;
pub mod history;
pub mod install;
mod latest;
pub mod lock;
pub mod manifest;
mod outputs;
mod place;
mod shorthand;
mod source;

pub use cache::{Cache, Checkout, Event, Network};
pub use error::FetchError;
pub use latest::{Latest, newer_tag};
pub use outputs::plan::Difference;
pub use outputs::{Change, ChangeKind};
pub use source::{GitSource, Source, SourceError};
