//! What a bundle comes to: its items and those of all bundles that it needs (§3.7 of the document).

use std::collections::BTreeSet;

use super::model::{Bundle, ItemId, Required};
use super::registry::Registry;

/// What a bundle comes to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Closure {
    /// The bundles, each after those that it needs.
    pub bundles: Vec<String>,
    /// The items of all of them, sorted.
    pub items: BTreeSet<ItemId>,
}

/// Why a bundle comes to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// A bundle lists an item that is not there.
    #[error("the bundle `{bundle}` lists the {item}, which does not exist")]
    Unresolved {
        /// The bundle.
        bundle: String,
        /// The item.
        item: ItemId,
    },
    /// A bundle needs one that is not there.
    #[error("the bundle `{bundle}` needs the bundle `{name}`, which does not exist")]
    Missing {
        /// The bundle.
        bundle: String,
        /// The one that it needs.
        name: String,
    },
    /// Bundles need each other.
    #[error("bundles need each other: {}", chain.join(" -> "))]
    Circle {
        /// The bundles, the first one again at the end.
        chain: Vec<String>,
    },
    /// A bundle needs another version.
    #[error("the bundle `{bundle}` needs `{name}` {wanted}, which is {found}")]
    Version {
        /// The bundle.
        bundle: String,
        /// The one that it needs.
        name: String,
        /// The versions that would do.
        wanted: String,
        /// The version that there is, or why there is none.
        found: String,
    },
}

/// Walks from a bundle to everything that it needs.
pub fn resolve(registry: &Registry, name: &str) -> Result<Closure, Vec<BundleError>> {
    let mut walk =
        Walk { registry, chain: Vec::new(), closure: Closure::default(), errors: Vec::new() };
    match registry.bundle(name) {
        Some(bundle) => walk.bundle(bundle),
        None => walk
            .errors
            .push(BundleError::Missing { bundle: name.to_owned(), name: name.to_owned() }),
    }
    if walk.errors.is_empty() { Ok(walk.closure) } else { Err(walk.errors) }
}

struct Walk<'w> {
    registry: &'w Registry,
    /// The bundles on the way to this one.
    chain: Vec<&'w str>,
    closure: Closure,
    errors: Vec<BundleError>,
}

impl<'w> Walk<'w> {
    fn bundle(&mut self, bundle: &'w Bundle) {
        if let Some(start) = self.chain.iter().position(|name| *name == bundle.name()) {
            let mut chain: Vec<String> =
                self.chain[start..].iter().map(|&name| name.to_owned()).collect();
            chain.push(bundle.name().to_owned());
            self.errors.push(BundleError::Circle { chain });
            return;
        }
        if self.closure.bundles.iter().any(|known| known == bundle.name()) {
            return;
        }
        self.chain.push(bundle.name());
        for required in bundle.requires() {
            match self.registry.bundle(&required.name) {
                Some(other) => {
                    self.errors.extend(version_problem(bundle, required, other));
                    self.bundle(other);
                }
                None => self.errors.push(BundleError::Missing {
                    bundle: bundle.name().to_owned(),
                    name: required.name.clone(),
                }),
            }
        }
        for id in bundle.items() {
            if self.registry.item(id).is_none() {
                let (bundle, item) = (bundle.name().to_owned(), id.clone());
                self.errors.push(BundleError::Unresolved { bundle, item });
            }
            self.closure.items.insert(id.clone());
        }
        self.chain.pop();
        self.closure.bundles.push(bundle.name().to_owned());
    }
}

/// Returns why a bundle is not the version that another one needs.
pub(super) fn version_problem(
    bundle: &Bundle,
    required: &Required,
    other: &Bundle,
) -> Option<BundleError> {
    let wanted = required.version.as_deref()?;
    let problem = |found: String| {
        let (bundle, name) = (bundle.name().to_owned(), other.name().to_owned());
        Some(BundleError::Version { bundle, name, wanted: wanted.to_owned(), found })
    };
    let Ok(range) = semver::VersionReq::parse(wanted) else {
        return problem("no range of versions".to_owned());
    };
    match other.version() {
        None => problem("without a version".to_owned()),
        Some(version) => match semver::Version::parse(version) {
            Ok(found) if range.matches(&found) => None,
            Ok(_) => problem(version.to_owned()),
            Err(_) => problem(format!("`{version}`, no version")),
        },
    }
}
