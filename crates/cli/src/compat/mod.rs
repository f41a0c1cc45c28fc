//! Other tools' command lines, for users who switch by making a link.
//!
//! The outputs and exit codes are those tools' own; `docs/dev/compatibility.md` lists every deliberate
//! difference.

pub(crate) mod coding_context;
pub(crate) mod sctx;
