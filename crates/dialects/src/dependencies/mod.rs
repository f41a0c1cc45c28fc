//! Guidance that installed packages ship: `AGENTS.md`, `AGENTS.yaml`, `.context`, skills and `llms.txt` in
//! `node_modules`, Python environments, Rust crates and Go modules.
//!
//! A package is a stranger that could speak to every agent of every project that uses it. So nothing of
//! it is active, and nothing is listed before the project names the package (ruling X34). [`survey_dependencies`] lists
//! the packages that ship guidance; [`find_named_packages`] reads one package and no other. Both look for a few known names and
//! never walk a package.

mod cargo;
mod go;
mod guidance;
pub mod manifests;
mod members;
mod model;
mod npm;
mod package_base;
mod python;
mod recorded;
mod search;
mod shipping;
mod text;

pub use guidance::{Dependencies, PackageGuidance};
pub use model::{
    DependencyChoice, Ecosystem, LockedDependency, Package, PackageId, PackageName, ShippedFile,
    ShippedKind,
};
pub use search::{DependencyExtent, DependencySurvey, find_named_packages, survey_dependencies};
pub use text::{PackageContent, ShippedText};

/// The name of the dialect.
pub const NAME: &str = "dependencies";

/// The scope of an item of a package.
pub const SCOPE: &str = "dependency";
