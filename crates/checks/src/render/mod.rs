//! Findings for services of continuous integration.

mod github;
mod gitlab;
mod junit;
mod sarif;

pub use github::render_github;
pub use gitlab::render_gitlab;
pub use junit::render_junit;
pub use sarif::render_sarif;
