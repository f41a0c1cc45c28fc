//! Commands and scripts of guidance: how they run, and what the user has trusted.
//!
//! [`assembly`] puts a prompt together.
//!
//! The user's own explicit command decides *that* something runs. This crate decides *how*, with limits on
//! time, output and number, and it keeps the record of trust. It never runs anything on behalf of a hook,
//! lint or an editor.

pub mod allowance;
pub mod assembly;
pub mod consent;
pub mod execution;
mod prompt;
pub mod review;
mod shell;
pub mod trust;

pub use allowance::{Allowance, AllowedRule};
pub use assembly::{AssembledPrompt, AssemblyError, AssemblyEvent, PromptAssembly, PromptOptions};
pub use consent::{Consent, ProjectRefusal};
pub use execution::{Execution, OffReason, Wish};
pub use prompt::{AskedKind, ExecutionRequest, RequestOutcome};
pub use review::Review;
pub use trust::{
    ContentHash, RuleEntry, Standing, TrustError, TrustProject, TrustStore, project_of,
    project_root,
};
