//! Findings for services of continuous integration.

mod github;
mod gitlab;
mod junit;
mod sarif;

pub use github::github;
pub use gitlab::gitlab;
pub use junit::junit;
pub use sarif::sarif;
