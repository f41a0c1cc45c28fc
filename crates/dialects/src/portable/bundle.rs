//! What a bundle comes to: its items and those of all bundles that it needs (§3.7 of the document).

use std::collections::BTreeSet;

use brief_syntax::Span;

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
    let Some(start) = registry.bundle_index(name) else {
        let (bundle, name) = (name.to_owned(), name.to_owned());
        return Err(vec![BundleError::Missing { bundle, name }]);
    };
    let mut closure = Closure::default();
    let mut errors = Vec::new();
    let mut walk = Walk::new(registry);
    while let Some(step) = walk.next(start) {
        match step {
            Step::Edge { from, required, to: Some(to) } => {
                errors.extend(version_problem(from, required, to));
            }
            Step::Edge { from, required, to: None } => errors.push(BundleError::Missing {
                bundle: from.name().to_owned(),
                name: required.name.clone(),
            }),
            Step::Back { .. } => {
                let chain = walk.circle().into_iter().map(str::to_owned).collect();
                errors.push(BundleError::Circle { chain });
            }
            Step::Done(bundle) => {
                for id in bundle.items() {
                    if registry.item(id).is_none() {
                        let (bundle, item) = (bundle.name().to_owned(), id.clone());
                        errors.push(BundleError::Unresolved { bundle, item });
                    }
                    closure.items.insert(id.clone());
                }
                closure.bundles.push(bundle.name().to_owned());
            }
        }
    }
    if errors.is_empty() { Ok(closure) } else { Err(errors) }
}

/// Bundles that need each other, as the bundle says that closes the circle.
pub(super) struct Circle {
    /// Where the bundle stands in the registry.
    pub(super) bundle: usize,
    /// Where it names the one that begins the circle.
    pub(super) span: Span,
    /// The bundles of the circle, or the first and last of many.
    pub(super) message: String,
}

/// Names of a circle that are shown.
const SHOWN: usize = 16;

/// Returns the circles among all bundles, one for each bundle that closes any.
pub(super) fn circles(registry: &Registry) -> Vec<Circle> {
    let mut circles: Vec<Circle> = Vec::new();
    let mut walk = Walk::new(registry);
    for start in 0..registry.bundles.len() {
        while let Some(step) = walk.next(start) {
            let Step::Back { from, required } = step else { continue };
            if circles.last().is_some_and(|last| last.bundle == from) {
                continue;
            }
            let mut names = walk.circle();
            if names.len() > SHOWN {
                let last = names.len() - SHOWN / 2;
                names.splice(SHOWN / 2..last, ["…"]);
            }
            let chain = names.into_iter().map(str::to_owned).collect();
            let message = BundleError::Circle { chain }.to_string();
            circles.push(Circle { bundle: from, span: required.span, message });
        }
    }
    circles
}

/// A walk along `requires`, depth first and without recursion: a registry may be anyone's.
struct Walk<'w> {
    registry: &'w Registry,
    states: Vec<State>,
    /// The bundles on the way to this one, each with the number of the next that it needs.
    chain: Vec<(usize, usize)>,
    /// Where on the way the circle begins that was found last.
    circle: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// It stands at this place of the way.
    On(usize),
    Done,
}

enum Step<'w> {
    /// A bundle names another, which may not be there.
    Edge { from: &'w Bundle, required: &'w Required, to: Option<&'w Bundle> },
    /// A bundle names one that it is needed by.
    Back { from: usize, required: &'w Required },
    /// All that a bundle needs has been walked.
    Done(&'w Bundle),
}

impl<'w> Walk<'w> {
    fn new(registry: &'w Registry) -> Self {
        let states = vec![State::New; registry.bundles.len()];
        Walk { registry, states, chain: Vec::new(), circle: 0 }
    }

    /// Takes the next step of the walk that begins at a bundle.
    fn next(&mut self, start: usize) -> Option<Step<'w>> {
        if self.chain.is_empty() && !self.enter(start) {
            return None;
        }
        loop {
            let place = self.chain.len() - 1;
            let (index, number) = self.chain[place];
            let bundle = &self.registry.bundles[index];
            // Every requirement is looked at twice: for itself, then for what lies behind it.
            let Some(required) = bundle.requires().get(number / 2) else {
                self.chain.pop();
                self.states[index] = State::Done;
                return Some(Step::Done(bundle));
            };
            self.chain[place].1 += 1;
            let to = self.registry.bundle_index(&required.name);
            if number % 2 == 0 {
                let to = to.map(|to| &self.registry.bundles[to]);
                return Some(Step::Edge { from: bundle, required, to });
            }
            let Some(to) = to else { continue };
            if let State::On(place) = self.states[to] {
                self.circle = place;
                return Some(Step::Back { from: index, required });
            }
            self.enter(to);
        }
    }

    fn enter(&mut self, index: usize) -> bool {
        let is_new = self.states[index] == State::New;
        if is_new {
            self.states[index] = State::On(self.chain.len());
            self.chain.push((index, 0));
        }
        is_new
    }

    /// Returns the names of the circle that was found last, the first one again at the end.
    fn circle(&self) -> Vec<&'w str> {
        let name = |&(index, _): &(usize, usize)| self.registry.bundles[index].name();
        let around = &self.chain[self.circle..];
        around.iter().chain(around.first()).map(name).collect()
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
